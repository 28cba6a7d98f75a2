"""Rows before and after, as tables that people compare."""

from lakehouse_assets.stories.html import Child, Markup, element, join
from lakehouse_assets.stories.page import badge, null_or, table
from lakehouse_assets.stories.records import Samples

Row = tuple[str | None, ...]


def sample_tables(samples: Samples) -> Markup:
    """Rows added and removed, and changed rows with what they were beside what they are."""
    shown: list[Child] = [element("p", samples.note, class_="soft") if samples.note else None]
    for word, rows in (("added", samples.added), ("removed", samples.removed)):
        if rows:
            cells: list[list[Child]] = [[null_or(value) for value in row] for row in rows]
            shown.append(table(f"rows {word}: {len(rows)} shown", list(samples.columns), cells))
    if samples.changed:
        pairs = [_pair(samples, before, after) for before, after in samples.changed]
        heads = ["key", "column", "before", "after"]
        shown.append(
            table(f"rows changed: {len(pairs)} shown", heads, [line for pair in pairs for line in pair]),
        )
    return join(*shown)


def sample_lines(samples: Samples) -> list[str]:
    """The same as lines of text."""
    lines = [f"  {samples.note}"] if samples.note else []
    for sign, rows in (("+", samples.added), ("-", samples.removed)):
        lines += [f"  {sign} {_told(samples, row)}" for row in rows]
    for before, after in samples.changed:
        lines.append(f"  ~ {_key(samples, after)}")
        lines += [
            f"      {name}: {_plain(old)} → {_plain(new)}"
            for name, old, new in zip(samples.columns, before, after, strict=True)
            if old != new
        ]
    return lines


def _pair(samples: Samples, before: Row, after: Row) -> list[list[Child]]:
    """A line for each column that differs; the key stands in the first."""
    differing = [(name, old, new) for name, old, new in zip(samples.columns, before, after, strict=True) if old != new]
    return [
        [
            _key(samples, after) if number == 0 else "",
            name,
            element("del", null_or(old)),
            element("ins", null_or(new)),
        ]
        for number, (name, old, new) in enumerate(differing)
    ]


def _key(samples: Samples, row: Row) -> str:
    values = dict(zip(samples.columns, row, strict=True))
    return ", ".join(f"{name}={_plain(values[name])}" for name in samples.key)


def _told(samples: Samples, row: Row) -> str:
    return ", ".join(f"{name}={_plain(value)}" for name, value in zip(samples.columns, row, strict=True))


def _plain(value: str | None) -> str:
    return "NULL" if value is None else value


def changes_badges(inserted: int, updated: int, deleted: int) -> Markup:
    """Counts by operation; those that are zero are left out."""
    pairs = (("added", inserted), ("changed", updated), ("removed", deleted))
    told = [join(badge(word), f" {number:,} ") for word, number in pairs if number]
    return join(*told) if told else element("span", "no row changed", class_="soft")
