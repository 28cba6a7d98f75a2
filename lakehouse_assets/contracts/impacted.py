"""Who may be touched by the last update of each repository, wherever they are."""

from lakehouse_assets.contracts.table import Column, TableContract

_CHANGED_REPO = Column(name="repo", type="string", description="Repository that was updated.")
_REPO = Column(name="impacted_repo", type="string", description="Repository of the one that is touched.")
_PATH = Column(name="impacted_path", type="string", description="File of the one that is touched.")
_DISTANCE = Column(name="distance", type="int", description="Steps from what changed; 0: it changed itself.")
_VIA = Column(name="via_symbol", type="string", description="What it was reached by: symbol, module or path.")
_CHANGED = Column(name="changed_symbol", type="string", description="What changed at the beginning of the way.")

IMPACTED_CALLERS = TableContract(
    name="impacted_callers",
    description="One row per definition that calls, inherits, overrides or refers to a changed one, also by others.",
    columns=(
        _CHANGED_REPO,
        _REPO,
        _PATH,
        Column(name="def_id", type="bigint", description="Definition that is touched."),
        Column(name="symbol", type="string", description="Its symbol."),
        _DISTANCE,
        Column(
            name="reason",
            type="string",
            one_of=("calls", "holds", "inherits", "overrides", "refers"),
            description="What it does with what it was reached by. holds: it is defined inside it.",
        ),
        _VIA,
        _CHANGED,
    ),
    key=("repo", "impacted_repo", "def_id"),
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("symbol", "via_symbol", "changed_symbol"),
)

IMPACTED_IMPORTERS = TableContract(
    name="impacted_importers",
    description="One row per file that imports from a changed one, also by others.",
    columns=(
        _CHANGED_REPO,
        _REPO,
        _PATH,
        _DISTANCE,
        Column(
            name="reason",
            type="string",
            one_of=("imports_definition", "imports_file", "imports_importer", "imports_module"),
            description="What it imports. imports_file: another name of a file whose own code changed.",
        ),
        _VIA,
        _CHANGED,
    ),
    key=("repo", "impacted_repo", "impacted_path"),
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("via_symbol", "changed_symbol"),
)

IMPACTED_FILES = TableContract(
    name="impacted_files",
    description="One row per file that an update changed or touched, by its shortest way.",
    columns=(
        _CHANGED_REPO,
        _REPO,
        _PATH,
        _DISTANCE,
        Column(name="reason", type="string", description="changed, or the reason of the importer or caller in it."),
        _VIA,
        _CHANGED,
    ),
    key=("repo", "impacted_repo", "impacted_path"),
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("via_symbol", "changed_symbol"),
)
