"""What each content says by itself: made once, whoever has the content and wherever it lies."""

from lakehouse_assets.contracts.table import Column, TableContract

EXTRACTS = TableContract(
    name="extracts",
    description="One row per content, language and version of the extractor: the local facts of the content.",
    columns=(
        Column(name="blob_sha", type="string", description="Id of the content."),
        Column(name="language", type="string", description="Language it was read as."),
        Column(name="extractor", type="string", description="Fingerprint of the code and the libraries that read it."),
        Column(
            name="parser",
            type="string",
            one_of=("ast", "tree-sitter", "none"),
            description="Who parsed it; tree-sitter where the interpreter's own parser does not know the syntax.",
        ),
        Column(
            name="status",
            type="string",
            one_of=("ok", "partial", "failed", "cut_off"),
            description="partial: errors were skipped; failed: nothing was recovered; cut_off: too long or too much.",
        ),
        Column(name="diagnostics", type="array<string>", description="What went wrong, each as line:column: message."),
        Column(name="line_count", type="int", description="Lines of the text."),
        Column(name="def_count", type="int", description="Definitions in it, the file itself included."),
        Column(name="node_count", type="int", description="Nodes in it."),
        Column(name="edge_count", type="int", description="Local edges in it."),
        Column(name="summary", type="string", description="What linking needs of it, as JSON."),
        Column(name="payload", type="binary", description="Definitions, nodes, edges and props as Arrow streams."),
    ),
    key=("blob_sha", "language", "extractor"),
    strategy="append_new",
    without_statistics=("diagnostics", "summary", "payload"),
)
