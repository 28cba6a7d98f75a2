"""What leaves the lake for readers of other formats."""
