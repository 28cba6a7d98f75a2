"""`lakehouse plan-write`: what a write would do, without doing it."""

from pathlib import Path

import click

from lakehouse_assets.cli.completed import table_names
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import load_settings


@click.command("plan-write")
@click.argument("table", shell_complete=table_names)
@click.argument("rows", type=click.Path(path_type=Path), metavar="PARQUET_FILE")
@click.option("--partition", "partitions", multiple=True, metavar="NAME", help="Partition to write; may be repeated.")
@click.option("--owner", "owners", multiple=True, help="Owner that the rows are complete for; may be repeated.")
@click.option(
    "--strategy",
    type=click.Choice(["upsert", "replace_partitions", "append_new", "delete_matching"]),
    help="Default: the contract's.",
)
@json_option
def plan_write(
    table: str,
    rows: Path,
    partitions: tuple[str, ...],
    owners: tuple[str, ...],
    strategy: str | None,
    as_json: bool,
) -> None:
    """Print the plan for writing the rows of a Parquet file into TABLE, or why it would be refused."""
    from lakehouse_assets.contracts.catalog import CATALOG

    if table not in CATALOG:
        raise BadInputError(
            subject=f"table {table!r}",
            seen=f"there is no contract of that name; there are {', '.join(CATALOG)}",
            why="a write is planned from the contract",
            remedy="name one of these",
        )
    contract = CATALOG[table]
    plan = _plan(table, rows, partitions, owners or None, strategy)
    if as_json:
        print_json(
            {
                "table": contract.name,
                "strategy": plan.request.strategy,
                "action": plan.action,
                "executor": plan.executor,
                "executor_reason": plan.executor_reason,
                "predicate": plan.predicate,
                "files": {"total": plan.pruning.total, "touched": plan.pruning.touched, "pruned": plan.pruning.pruned},
                "new_columns": [list(pair) for pair in plan.add_columns],
                "statement": plan.statement,
            }
        )
    else:
        click.echo(str(plan))


def _plan(table: str, rows: Path, partitions: tuple[str, ...], owners: tuple[str, ...] | None, strategy: str | None):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from lakehouse_assets.contracts.catalog import CATALOG
    from lakehouse_assets.lake.batch import Batch
    from lakehouse_assets.lake.run_engine import writer_for
    from lakehouse_assets.lake.session import runtime_for
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.lake.upsert import UpsertService
    from lakehouse_assets.plan.scope import Equals

    contract = CATALOG[table]
    try:
        batch = pq.read_table(rows)
    except (OSError, pa.ArrowInvalid) as error:
        raise BadInputError(
            subject=str(rows),
            seen=f"it cannot be read as Parquet: {error}",
            why="its rows are what the plan is for",
            remedy="give a Parquet file with the table's columns",
        ) from error
    settings = load_settings()
    executor, because = writer_for(None, settings.engine)
    service = UpsertService(
        Lake(settings.lake), spark=lambda: runtime_for(settings).session, executor=executor, because=because
    )
    names = partitions or ("",)
    scopes = {
        name: (Equals(column=contract.partition_by[0], value=name),) if contract.partition_by and name else ()
        for name in names
    }
    asked = Batch(rows=batch, keys=(), owners=owners, strategy=strategy)  # pyright: ignore[reportArgumentType]
    return service.plan(contract, asked, scopes, run_id="plan")
