"""The relational steps as they were last accepted: canonical SQL and column lineage, a file each.

A change of meaning shows here as a difference that somebody has to accept: `make golden`.
"""

import difflib
from pathlib import Path

from lakehouse_assets.lake.steps import STEPS
from lakehouse_assets.plan.step_page import step_page

FOLDER = Path(__file__).parent


def present_pages() -> dict[str, str]:
    """The pages of the steps as they are now, by file name."""
    return {f"{name}.sql": step_page(step) for name, step in STEPS.items()}


def accepted_pages(folder: Path = FOLDER) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("*.sql"))}


def difference(accepted: dict[str, str], present: dict[str, str]) -> str:
    """What accepting would change, as a unified diff; empty if nothing."""
    lines: list[str] = []
    for name in sorted({*accepted, *present}):
        old, new = (pages.get(name, "").splitlines() for pages in (accepted, present))
        before, after = (name if name in pages else "nothing" for pages in (accepted, present))
        lines += difflib.unified_diff(old, new, f"accepted: {before}", f"present: {after}", lineterm="")
    return "\n".join(lines)


def accept(present: dict[str, str], folder: Path = FOLDER) -> None:
    for name in accepted_pages(folder).keys() - present.keys():
        (folder / name).unlink()
    for name, page in present.items():
        (folder / name).write_text(page)
