"""Properties that definitions have by the whole graph."""

from lakehouse_assets.contracts.props import PROPERTY
from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

GLOBAL_PROPS = TableContract(
    name="global_props",
    description="One row per property that a definition has by the whole graph: callers, importers, overriders.",
    columns=(REPO, PATH, Column(name="def_id", type="bigint", description="The definition."), *PROPERTY),
    key=("repo", "path", "def_id", "name"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)
