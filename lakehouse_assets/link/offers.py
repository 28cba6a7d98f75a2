"""What a repository offers to the others, as rows."""

from collections.abc import Iterable

from lakehouse_assets.link.modules import ModuleIndex
from lakehouse_assets.link.state import Columns


def offered_modules(repo: str, paths: Iterable[str]) -> Columns:
    """Give the rows of `offered_modules` for the files of a repository."""
    offers = ModuleIndex(paths).offers()
    return {"repo": [repo] * len(offers), "module": list(offers), "path": list(offers.values())}
