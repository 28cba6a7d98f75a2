"""How nodes relate, within a file and across files and repositories."""

from lakehouse_assets.contracts.relationships import RELATIONSHIPS
from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

CONFIDENCES = ("certain", "likely", "guess")

EDGE_COLUMNS = (
    REPO,
    PATH,
    Column(name="kind", type="string", one_of=tuple(RELATIONSHIPS), description="Which relationship it is."),
    Column(name="src_def", type="bigint", description="Definition of the node it starts from."),
    Column(name="src_n", type="int", description="Number of that node in its definition."),
    Column(name="dst_repo", type="string", description="Repository of the node it leads to."),
    Column(name="dst_path", type="string", description="File of the node it leads to."),
    Column(name="dst_def", type="bigint", description="Definition of the node it leads to."),
    Column(name="dst_n", type="int", description="Number of that node in its definition."),
    Column(
        name="label",
        type="string",
        description="Which of several: field, branch or variable; empty if one. Of an IMPORT, `module` for the module "
        "that a statement imports beside what it binds.",
    ),
    Column(name="method", type="string", description="How it was found."),
    Column(name="confidence", type="string", one_of=CONFIDENCES, description="How sure it is."),
    Column(
        name="caller_def",
        type="bigint",
        nullable=True,
        description="Of a CALL, the definition whose code runs it: of what is in a definition's head (a decorator, a "
        "default value, a base) the one around. NULL for other kinds.",
    ),
)
EDGE_KEY = ("repo", "path", "kind", "src_def", "src_n", "dst_repo", "dst_path", "dst_def", "dst_n", "label")

EDGES = TableContract(
    name="edges",
    description="One row per relationship between two nodes; it belongs to the file that it starts in.",
    columns=EDGE_COLUMNS,
    key=EDGE_KEY,
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("src_def", "src_n", "dst_path", "dst_n", "label", "method", "caller_def"),
)
