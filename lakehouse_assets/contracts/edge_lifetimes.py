"""When each relationship between definitions came and went.

Only those that linking finds: calls, imports, bases, overrides and references. What holds inside one definition
(syntax, control and data flow) lives and dies with its body, and is told by that body's changes. What the two ends are
called is in `definition_lifetimes`: a name can change while no line of the file that owns the relationship does.
"""

from lakehouse_assets.contracts.definition_lifetimes import LIFE, SPAN
from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

EDGE_LIFETIMES = TableContract(
    name="edge_lifetimes",
    description="One row per life of a relationship between two definitions, however often it stands in the code.",
    columns=(
        REPO,
        PATH,
        Column(name="kind", type="string", description="Which relationship it is: CALL, IMPORT, INHERITS and so on."),
        Column(name="src_def", type="bigint", description="Definition that it starts from."),
        Column(name="dst_repo", type="string", description="Repository of the definition it leads to."),
        Column(name="dst_path", type="string", description="File of the definition it leads to."),
        Column(name="dst_def", type="bigint", description="Definition it leads to."),
        *LIFE,
        Column(
            name="external",
            type="string",
            nullable=True,
            description="Dotted name of what it leads to outside the lake.",
        ),
        *SPAN,
    ),
    key=("repo", "path", "kind", "src_def", "dst_repo", "dst_path", "dst_def", "life"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=(
        "src_def",
        "dst_path",
        "dst_def",
        "external",
        "first_commit",
        "after_commit",
        "last_commit",
        "removed_in",
    ),
)
