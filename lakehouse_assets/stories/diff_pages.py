"""Differences as pages: of two runs, and of two versions of a table."""

from lakehouse_assets.stories.html import Child, Markup, element, join
from lakehouse_assets.stories.page import badge, facts, folded, null_or, page, table
from lakehouse_assets.stories.records import Drift, RowDiff, RunDiff
from lakehouse_assets.stories.rows import changes_badges, sample_tables


def version_diff_page(diff: RowDiff) -> str:
    title = f"{diff.table}: version {diff.before} to {diff.after}"
    return page(title, element("header", element("h1", title)), row_diff(diff))


def run_diff_page(diff: RunDiff) -> str:
    """First what drifted and by which cause, then the assets that did, one by one."""
    title = f"Run {diff.first.run_id[:8]} against {diff.second.run_id[:8]}"
    drifted = [drift for drift in diff.drifts if drift.kinds != ("none",)]
    equal = len(diff.drifts) - len(drifted)
    return page(
        title,
        element("header", element("h1", title)),
        facts(
            ("logic changed", _named(drifted, "logic")),
            ("settings changed", _named(drifted, "settings")),
            ("inputs changed", _named(drifted, "inputs")),
            ("rows changed without a cause", _named(drifted, "rows")),
            ("new in the second run", _named(drifted, "new")),
            ("equal", f"{equal:,} of {len(diff.drifts):,}"),
        ),
        element("h2", "What differs"),
        [_drift(drift) for drift in drifted] or element("p", "Nothing differs."),
    )


def row_diff(diff: RowDiff) -> Markup:
    return join(element("p", changes_badges(diff.added, diff.changed, diff.removed)), sample_tables(diff.samples))


def _named(drifts: list[Drift], kind: str) -> str:
    return ", ".join(dict.fromkeys(drift.asset for drift in drifts if kind in drift.kinds)) or "none"


def _drift(drift: Drift) -> Markup:
    parts: list[list[Child]] = [
        [part.name, null_or(part.old), part.new] for part in drift.key.parts if part.changed and part.new
    ]
    return element(
        "section",
        element("h3", f"{drift.what} ", [join(badge(kind), " ") for kind in drift.kinds]),
        folded("Key", table("parts that differ", ["part", "first run", "second run"], parts)) if parts else None,
        row_diff(drift.rows)
        if drift.rows is not None
        else element("p", f"{drift.note[:1].upper()}{drift.note[1:]}." if drift.note else "The rows are equal."),
        class_="asset",
    )
