"""What indexers of others say about the code, where they are installed."""
