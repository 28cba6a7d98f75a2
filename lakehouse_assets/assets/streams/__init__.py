"""Streams as assets: each run takes what has come."""
