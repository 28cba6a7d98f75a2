"""What becomes of the tables when a process dies in a write, or when two write at once."""
