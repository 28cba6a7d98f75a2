"""Make a fresh machine ready: `python3 -m lakehouse_assets.core.bootstrap [--dev]`, from the project's root.

Invariant: it runs before anything is installed, so it uses the standard library and `core` alone.
`machine` gathers facts, `plan` decides on them without touching anything, `perform` does the steps.
The stamp in `.venv` is taken away before an install and written after it, so that an install cut short is
repeated from an empty environment. Cost: a fraction of a second when nothing changed, a few minutes on a bare machine.
"""
