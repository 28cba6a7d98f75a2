"""Which definitions the last update of each repository may touch, wherever they are."""

from lakehouse_assets.contracts.impacted import CHANGED, CHANGED_REPO, DISTANCE, IMPACTED_PATH, IMPACTED_REPO, VIA
from lakehouse_assets.contracts.table import Column, TableContract

IMPACTED_CALLERS = TableContract(
    name="impacted_callers",
    description="One row per definition that calls, inherits, overrides or refers to a changed one, also by others.",
    columns=(
        CHANGED_REPO,
        IMPACTED_REPO,
        IMPACTED_PATH,
        Column(name="def_id", type="bigint", description="Definition that is touched."),
        Column(name="symbol", type="string", description="Its symbol."),
        DISTANCE,
        Column(
            name="reason",
            type="string",
            one_of=("calls", "holds", "inherits", "overrides", "refers"),
            description="What it does with what it was reached by. holds: it is defined inside it.",
        ),
        VIA,
        CHANGED,
    ),
    key=("repo", "impacted_repo", "def_id"),
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("symbol", "via_symbol", "changed_symbol"),
)
