"""What the last update of each repository changed: files, then definitions."""
