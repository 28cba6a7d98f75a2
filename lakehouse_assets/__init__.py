"""A code property graph of git repositories in Delta Lake tables, always fresh, at the cost of what changed."""

__version__ = "0.1.0"
