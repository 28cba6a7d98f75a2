"""Which table of the lake a delivery sends, and which version of it.

A table of the lake is sent as it is now. A model is sent as its environment shows it: the table that holds that version
of the model, at the version of that table's log that the environment has, whatever others build on meanwhile.
"""

from dataclasses import dataclass

from lakehouse_assets.contracts.ingest import Delivery, SqlProject
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.text import nearest
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.ingested import table_contract

DEFAULT_ENVIRONMENT = "prod"


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """The table that is sent, at one version of its log; the newest where there is none."""

    contract: TableContract
    version: int | None = None
    environment: str | None = None
    """What shows it so; None for a table as it is now."""


def delivered_table(lake: Lake, project: SqlProject, delivery: Delivery) -> Delivered:
    """What there is to send now."""
    if delivery.environment is None and project.has_table(delivery.asset):
        contract = table_contract(lake, project, delivery.asset)
        if contract is None or not lake.exists(contract):
            raise _not_there(
                delivery,
                seen=f"the lake has no table {delivery.asset} yet",
                remedy="make it first: `lakehouse ingest`, `lakehouse stream`, or `lakehouse sync` for the graph's",
            )
        return Delivered(contract=contract)
    return _shown(lake, delivery, delivery.environment or DEFAULT_ENVIRONMENT)


def _shown(lake: Lake, delivery: Delivery, environment: str) -> Delivered:
    """The table as the environment shows it."""
    # Reading what models mean loads a library that other deliveries need not wait for.
    from lakehouse_assets.lake.environment_reads import environment_relations
    from lakehouse_assets.lake.model_inputs import Stored

    relations = environment_relations(lake, environment)
    match relations.get(delivery.asset):
        case None:
            near = nearest(delivery.asset, list(relations))
            raise _not_there(
                delivery,
                seen=f"the environment {environment} has no {delivery.asset}{near and f'; {near}'}",
                remedy=f"`lakehouse apply {environment}` makes it, if there is such a model",
            )
        case Stored(contract=contract, version=version):
            return Delivered(contract=contract, version=version, environment=environment)
        case _:
            raise _not_there(
                delivery,
                seen=f"{delivery.asset} is a view in {environment}: its rows are stored nowhere, so nothing tells "
                "which of them changed",
                remedy="store the model: set its materialization to full, with a key",
            )


def _not_there(delivery: Delivery, *, seen: str, remedy: str) -> BadInputError:
    return BadInputError(
        subject=f"delivery of {delivery.name}", seen=seen, why="there is nothing to send", remedy=remedy
    )
