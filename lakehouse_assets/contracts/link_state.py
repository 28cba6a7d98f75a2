"""What linking keeps from one update to the next: what each file read of others, told them and offers them."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

PARTS = ("reads", "flows", "provided", "elsewhere")

LINK_STATE = TableContract(
    name="link_state",
    description="One row per fact that linking a file read (misses included), put into a shared variable, or offers.",
    columns=(
        REPO,
        PATH,
        Column(
            name="part",
            type="string",
            one_of=PARTS,
            description="reads: of other files; flows: values for shared variables; provided: facts that others can "
            "read; elsewhere: reads of other repositories.",
        ),
        Column(name="key", type="bigint", description="Hash of the fact's or variable's name."),
        Column(name="hash", type="bigint", description="Hash of what was there; 0 for nothing."),
        Column(name="name", type="string", description="The name, where it has to be asked again; else empty."),
        Column(name="value", type="string", description="Value of a flow; else empty."),
        Column(name="rounds", type="int", description="Bit i is set for round i of solving."),
        Column(name="owner", type="string", description="File whose variable a flow goes to; else empty."),
    ),
    key=("repo", "path", "part", "key", "hash", "name", "value"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("part", "key", "hash", "name", "value", "rounds", "owner"),
)
