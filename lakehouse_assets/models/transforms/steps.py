"""A list of steps as one query: a chain of common table expressions, each over the one before."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.problems import first_problem
from lakehouse_assets.models.transforms import columns, keys, rows, sets, texts, times, windows
from lakehouse_assets.models.transforms.base import Query, Relation, Tables, Transform, TransformError
from lakehouse_assets.models.transforms.expressions import quoted

Step = Annotated[
    columns.Select
    | columns.Drop
    | columns.Rename
    | columns.Cast
    | columns.Derive
    | columns.Coalesce
    | columns.Concat
    | columns.Replace
    | columns.Fill
    | columns.FillForward
    | columns.Bucket
    | rows.Filter
    | rows.Distinct
    | rows.Deduplicate
    | rows.Top
    | rows.Sample
    | rows.Explode
    | rows.Flag
    | rows.Validate
    | texts.Normalize
    | texts.Extract
    | texts.Split
    | texts.ParseJson
    | times.ParseTime
    | times.TruncateTime
    | times.TimeParts
    | times.Resample
    | sets.Join
    | sets.Exists
    | sets.NotExists
    | sets.Union
    | sets.Aggregate
    | sets.Pivot
    | sets.Unpivot
    | windows.Window
    | windows.Rank
    | windows.Previous
    | windows.Difference
    | windows.Running
    | windows.Share
    | keys.Hash
    | keys.Redact
    | keys.SurrogateKey
    | keys.History,
    Field(discriminator="do"),
]

STEPS: TypeAdapter[tuple[Step, ...]] = TypeAdapter(tuple[Step, ...])
"""Reads steps from what YAML gives, and tells their JSON schema."""


def read_steps(said: Any, *, subject: str) -> tuple[Transform, ...]:
    """The steps that a file names; what is wrong is told with its place."""
    try:
        return STEPS.validate_python(said)
    except ValidationError as error:
        way, problem = first_problem(error, Step)
        place, *rest = [*way, ""]
        where = f"step {place + 1}" if isinstance(place, int) else "steps"
        field = ".".join(str(each) for each in rest if each != "")
        raise _refused(subject, f"{where}{field and f' ({field})'}: {problem}") from None


def compile_steps(source: Relation, steps: Sequence[Transform], tables: Tables, *, subject: str) -> Query:
    """The query that takes `source` through the steps. `tables` has the columns of what else they name."""
    current, parts = source, []
    for place, step in enumerate(steps, start=1):
        try:
            done = step.query(current, tables)
        except TransformError as error:
            raise _refused(subject, f"step {place} ({getattr(step, 'do', '')}): {error}") from None
        current = Relation(name=f"step_{place}", columns=done.columns)
        parts.append(f"{current.name} AS (\n  {done.sql}\n)")
    listed = ", ".join(map(quoted, current.columns))
    opening = f"WITH {', '.join(parts)}\n" if parts else ""
    return Query(sql=f"{opening}SELECT {listed} FROM {quoted(current.name)}", columns=current.columns)


def relations_of(steps: Sequence[Transform]) -> tuple[str, ...]:
    """What the steps read beside the rows they are given."""
    return tuple(dict.fromkeys(name for step in steps for name in step.relations()))


def _refused(subject: str, seen: str) -> BadInputError:
    return BadInputError(
        subject=subject,
        seen=seen,
        why="the steps cannot be turned into a query; nothing was run",
        remedy="mend the step; docs/transforms.md lists the transforms with their fields",
    )
