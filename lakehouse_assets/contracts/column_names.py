"""Names that no column of a table in the lake can have, whatever its source calls it."""

from collections import Counter
from collections.abc import Sequence

RESERVED = frozenset({"_change_type", "_commit_version", "_commit_timestamp", "lakehouse_operation"})
"""What the change feed, and a delivery's staging table, tell of a row beside its values."""


def name_problem(names: Sequence[str]) -> str:
    """What is wrong with the first name that will not do; empty if all will."""
    counted = Counter(name.lower() for name in names)
    for name in names:
        if counted[name.lower()] > 1:
            alike = [each for each in names if each.lower() == name.lower()]
            return f"{' and '.join(alike)} are one name to a Delta table: it does not tell small letters from capitals"
        if not name or "`" in name:
            return f"{name!r} is no name that Spark can write to"
        if name.lower() in RESERVED:
            return f"{name} is a name that the change feed or a delivery has for itself"
    return ""
