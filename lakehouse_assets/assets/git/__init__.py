"""What git holds, as tables: commits, the files of the head, and their contents."""
