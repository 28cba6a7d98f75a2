"""The syntax of every file at the head, numbered within its definitions."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

NODES = TableContract(
    name="nodes",
    description="One row per node of a file's syntax, and per thing outside all repositories that the file refers to.",
    columns=(
        REPO,
        PATH,
        Column(name="def_id", type="bigint", description="Definition that the node lives in."),
        Column(name="n", type="int", description="Number within the definition; 0 is the definition itself."),
        Column(name="kind", type="string", description="Kind of syntax; EXTERNAL for what is outside."),
        Column(name="name", type="string", nullable=True, description="Name, operator or short value."),
        Column(name="anchor", type="int", description="Number of the node that lines are counted from."),
        Column(name="line", type="int", description="First line, counted from the anchor's."),
        Column(name="col", type="int", description="First column, in bytes from 0."),
        Column(name="end_line", type="int", description="Last line, counted from the anchor's."),
        Column(name="end_col", type="int", description="Column behind its end."),
    ),
    key=("repo", "path", "def_id", "n"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("name", "anchor", "line", "col", "end_line", "end_col"),
)
