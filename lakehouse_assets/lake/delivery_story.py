"""What a run delivered to databases, for its story: from the table `deliveries`, by the asset of the target's table."""

from collections.abc import Mapping
from typing import Any

from lakehouse_assets.contracts.deliveries import DELIVERIES
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import literal
from lakehouse_assets.stories.records import AssetStory, Step


def deliveries_of(lake: Lake, run_id: str) -> dict[str, Mapping[str, Any]]:
    """The run's rows by asset: `orders to reports.public.sales` is that of `reports/public/sales`."""
    rows = lake.rows(DELIVERIES, columns=_TOLD, where=f"run_id = {literal(run_id, 'datafusion')}")
    return {row["delivery"].rpartition(" to ")[2].replace(".", "/"): row for row in rows}


def said_compared(row: Mapping[str, Any]) -> str:
    """How many rows of the target were compared; of none it is not said that they are equal."""
    equal = ", equal" if row["rows_compared"] else ""
    return f"{row['rows_compared']:,} of the target's {row['target_rows']:,} rows compared{equal}"


def delivery_story(row: Mapping[str, Any], step: Step, name: str) -> AssetStory:
    """The target's table; its rows are in the database, and are not shown."""
    counts = [f"{row[f'rows_{word}']:,} {word}" for word in ("inserted", "updated", "deleted", "unchanged")]
    changed = sum(row[f"rows_{word}"] for word in ("inserted", "updated", "deleted"))
    return AssetStory(
        name=name,
        description=row["delivery"],
        step=step.name,
        outcome="written" if changed else "equal",
        why=f"Delivered by {row['way']}: {', '.join(counts)}; {said_compared(row)}.",
        writes=(),
        nulls=(),
        plans=(),
        checks=(),
    )


_TOLD = (
    "delivery",
    "way",
    "rows_inserted",
    "rows_updated",
    "rows_deleted",
    "rows_unchanged",
    "rows_compared",
    "target_rows",
)
