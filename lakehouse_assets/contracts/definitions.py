"""Every definition of every file at the head: modules, classes, functions and whatever else a language defines."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

DEFINITIONS = TableContract(
    name="definitions",
    description="One row per definition in a file of the head, the file itself included.",
    columns=(
        REPO,
        PATH,
        Column(name="def_id", type="bigint", description="Hash of the symbol: what nodes and edges refer to."),
        Column(name="symbol", type="string", description="Stable name: path and descriptors, as SCIP writes them."),
        Column(name="parent_id", type="bigint", nullable=True, description="Definition around it; NULL for a file."),
        Column(
            name="kind",
            type="string",
            description="What it is: module, class, function, lambda or what its language has.",
        ),
        Column(name="name", type="string", description="Its own name; of a file its path."),
        Column(name="qualified_name", type="string", description="Dotted name from the module's root."),
        Column(name="line", type="int", description="First line, from 1."),
        Column(name="col", type="int", description="First column, in bytes from 0."),
        Column(name="end_line", type="int", description="Last line."),
        Column(name="end_col", type="int", description="Column behind its end."),
        Column(name="signature", type="string", nullable=True, description="Parameters, bases, as written."),
        Column(name="signature_hash", type="string", description="What users of the definition rely on."),
        Column(name="body_hash", type="string", description="What it does; comments and layout don't count."),
        Column(name="docstring", type="string", nullable=True, description="Its documentation."),
    ),
    key=("repo", "path", "def_id"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("symbol", "qualified_name", "signature", "docstring"),
)
