"""A code property graph of git repositories in Delta Lake tables, always fresh, at the cost of what changed."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakehouse_assets.explorer.opened import OpenLake, Rows, open_lake

__version__ = "0.1.0"

__all__ = ["OpenLake", "Rows", "__version__", "open_lake"]


def __getattr__(name: str) -> Any:
    """What notebooks use, loaded when it is asked for: workers import this package too."""
    if name in ("OpenLake", "Rows", "open_lake"):
        from lakehouse_assets.explorer import opened

        return getattr(opened, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
