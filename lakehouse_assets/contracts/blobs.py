"""Source text, stored once per content, whoever has it."""

from lakehouse_assets.contracts.table import Column, TableContract

BLOBS = TableContract(
    name="blobs",
    description="One row per blob sha across all repositories, branches and forks.",
    columns=(
        Column(name="blob_sha", type="string", description="Git's id of the content."),
        Column(name="size", type="bigint", description="Bytes of the content."),
        Column(
            name="encoding",
            type="string",
            nullable=True,
            description="Encoding the text was read with, latin-1 where nothing else fits; NULL without text.",
        ),
        Column(name="text", type="string", nullable=True, description="The content; NULL with a reason."),
        Column(
            name="reason",
            type="string",
            nullable=True,
            one_of=("binary", "too_large"),
            description="Why there is no text; NULL where there is.",
        ),
    ),
    key=("blob_sha",),
    strategy="append_new",
    without_statistics=("text",),
)
