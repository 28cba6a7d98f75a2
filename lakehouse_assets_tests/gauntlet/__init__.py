"""Whole projects as a newcomer makes them: begun by `lakehouse new`, run twice, then with changed input."""
