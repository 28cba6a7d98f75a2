"""Audits asked of tables: each a query that must give no rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakehouse_assets.core.settings import Executor
from lakehouse_assets.lake.model_engine import Question, answer, choose_engine
from lakehouse_assets.lake.model_inputs import Relations, Stored
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.audits import THIS
from lakehouse_assets.models.meaning import Meaning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EXAMPLES = 3
REDACTED = "(redacted)"


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """How many rows broke a rule, and the first of them, without what is sensitive."""

    model: str
    audit: str
    rows: int
    examples: tuple[dict[str, Any], ...]

    @property
    def passed(self) -> bool:
        return self.rows == 0


def ask_audits(
    lake: Lake,
    meaning: Meaning,
    this: Stored,
    relations: Relations,
    *,
    executor: Executor,
    spark: "Callable[[], SparkSession]",
) -> list[AuditResult]:
    """The results of all audits of a model, asked of `this`; their own SQL may read the other relations as well."""
    sensitive = meaning.sensitive
    results: list[AuditResult] = []
    for audit in meaning.header.audits:
        sql = audit.query
        subject = f"audit {audit.label} of {meaning.name}"
        known = {**relations, THIS: this}
        engine, _ = choose_engine(subject, sql, known, None, executor)
        question = Question(subject=subject, sql=sql, relations=known)
        with answer(lake, question, engine, spark) as rows:
            count, first = _first(rows)
        shown = [{name: REDACTED if name in sensitive else value for name, value in row.items()} for row in first]
        results.append(AuditResult(model=meaning.name, audit=audit.label, rows=count, examples=tuple(shown)))
    return results


def _first(rows: Any) -> tuple[int, list[dict[str, Any]]]:
    if isinstance(rows, pa.Table):
        here: pa.Table = rows
        return here.num_rows, here.slice(0, _EXAMPLES).to_pylist()
    return rows.count(), rows.limit(_EXAMPLES).toArrow().to_pylist()
