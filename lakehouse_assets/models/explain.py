"""A plan in words, before anything runs."""

from collections.abc import Iterable
from typing import Any

from lakehouse_assets.models.categories import Change
from lakehouse_assets.models.intervals import merged
from lakehouse_assets.models.meaning import ROWS
from lakehouse_assets.models.parts import WHOLE
from lakehouse_assets.models.planning import Plan, Step

_SHOWN = 6


def plan_rows(plan: Plan) -> list[dict[str, Any]]:
    """One row per model: what became of it, what will be done, for which parts, why, and what it will read."""
    return [
        {
            "model": step.name,
            "change": said_change(step.change),
            "action": step.action,
            "parts": said_parts(step),
            "reads": step.rows_to_read,
            "why": step.reason,
        }
        for step in plan.steps
    ]


def said_change(change: Change) -> str:
    parts = list(change.details)
    parts += [
        f"through {table}.{column}" if column != ROWS else f"through the rows of {table}"
        for table, column in change.through
    ]
    return f"{change.category}: {'; '.join(parts)}" if parts else change.category


def said_parts(step: Step) -> str:
    """The partitions or ranges that will be made; nothing for a model that is made as a whole."""
    if step.meaning is None or not step.runs or set(step.parts) <= {WHOLE}:
        return ""
    if step.meaning.header.materialization == "by_time":
        spans = merged(step.meaning.header.interval, step.parts)
        copied = merged(step.meaning.header.interval, step.copied)
        said = _listed(map(str, spans))
        return f"{said}, taken over: {_listed(map(str, copied))}" if copied else said
    return _listed(sorted(step.parts))


def _listed(words: Iterable[str]) -> str:
    all_of_them = list(words)
    more = f" and {len(all_of_them) - _SHOWN} more" if len(all_of_them) > _SHOWN else ""
    return ", ".join(all_of_them[:_SHOWN]) + more


def plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "plan": plan.id,
        "environment": plan.environment.name,
        "revision": plan.environment.revision,
        "moves": plan.moves,
        "models": [
            row
            | {
                "category": step.change.category,
                "details": list(step.change.details),
                "through": [list(read) for read in step.change.through],
                "version": step.meaning.data if step.meaning else None,
                "table": step.meaning.table if step.meaning else None,
                "parts": sorted(step.parts),
                "copied": list(step.copied),
                "closed": list(step.closed),
            }
            for row, step in zip(plan_rows(plan), plan.steps, strict=True)
        ],
        "sources": {name: member.table_version for name, member in plan.sources.items()},
    }
