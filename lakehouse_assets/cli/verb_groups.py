"""The verbs by purpose, and examples of each, as help shows them."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Start": ("demo", "new", "up", "doctor", "repo", "sync", "status"),
    "Ask the graph": (
        *("definitions", "callers", "callees", "importers", "references", "diff", "impact"),
        *("history", "explore", "mcp", "sql", "versions"),
    ),
    "See what happened": ("story", "run-diff", "delta-diff", "verify", "replay"),
    "Models and environments": ("models", "env", "plan", "apply", "promote", "rollback", "table-diff", "steps"),
    "Rows in and out": ("ingest", "deliver", "marks", "stream", "scip", "export", "publish"),
    "Operate": (
        *("server", "backfill", "activity", "tables", "plan-write", "pin", "unpin", "optimize", "vacuum"),
        *("gc", "completion"),
    ),
}
"""A verb that is in none of them is listed last."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("lakehouse demo", "lakehouse demo https://github.com/pallets/flask --name flask"),
    "doctor": ("lakehouse doctor", "lakehouse doctor --json"),
    "repo add": (
        "lakehouse repo add flask https://github.com/pallets/flask",
        "lakehouse repo add shop ../shop --ref main --exclude docs/ --language python",
    ),
    "repo list": ("lakehouse repo list",),
    "repo remove": ("lakehouse repo remove shop", "lakehouse repo remove shop --keep-rows"),
    "sync": ("lakehouse sync --all", "lakehouse sync flask --to 2ac89889", "lakehouse sync flask --dry-run"),
    "status": ("lakehouse status", "lakehouse status flask --json"),
    "verify": ("lakehouse verify flask",),
    "replay": ("lakehouse replay flask --last 10",),
    "definitions": ("lakehouse definitions Flask.run",),
    "callers": ("lakehouse callers url_for", "lakehouse callers Flask.run --repo flask --json"),
    "callees": ("lakehouse callees Flask.run",),
    "importers": ("lakehouse importers flask.helpers",),
    "references": ("lakehouse references flask.app.Flask",),
    "diff": ("lakehouse diff flask", "lakehouse diff flask main~5..main --edges --kind CALL"),
    "impact": ("lakehouse impact flask", "lakehouse impact flask main~1..main --limit 2"),
    "sql": (
        'lakehouse sql "SELECT language, count(*) FROM snapshots GROUP BY ALL"',
        'lakehouse sql "SELECT * FROM edges LIMIT 5" --format csv',
    ),
    "tables": ("lakehouse tables",),
    "plan-write": ("lakehouse plan-write snapshots rows.parquet --partition flask",),
    "scip import": ("lakehouse scip import flask index.scip",),
    "scip check": ("lakehouse scip check index.scip",),
    "export scip": ("lakehouse export scip flask -o flask.scip",),
    "export callgraph": ("lakehouse export callgraph flask -o calls.json",),
    "export graphml": ("lakehouse export graphml flask -o flask.graphml",),
    "export neo4j-csv": ("lakehouse export neo4j-csv flask -o neo4j/",),
    "server start": ("lakehouse server start",),
    "server stop": ("lakehouse server stop",),
    "server status": ("lakehouse server status --json",),
    "versions": ("lakehouse versions flask",),
    "pin": ("lakehouse pin flask@main",),
    "history": ("lakehouse history Flask.run",),
    "steps": ("lakehouse steps",),
    "publish": ("lakehouse publish definitions edges",),
    "unpin": ("lakehouse unpin flask@main",),
    "optimize": ("lakehouse optimize",),
    "vacuum": ("lakehouse vacuum --dry-run",),
    "backfill": ("lakehouse backfill --all",),
}
"""Of verbs whose own help has none."""


def epilog(verb: str) -> str | None:
    """The examples of a verb, as click shows them below its options."""
    lines = EXAMPLES.get(verb)
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines) if lines else None
