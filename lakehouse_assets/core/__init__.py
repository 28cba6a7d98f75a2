"""Words every other room uses: errors, hashes, settings, diagnostics.

Invariant: this room imports the standard library and pydantic, nothing else, so that
set-up can use it before anything is installed and Spark workers load it for free.
"""
