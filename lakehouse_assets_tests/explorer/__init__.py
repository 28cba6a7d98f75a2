"""The explorer: its answers, its API and its pages."""
