"""Which columns the columns of a table come from.

Of rows that SQL makes it is read from the steps. Of rows that Python makes it is declared here, as coarsely as it is
known: what is extracted from a text comes from the whole text. What is read from outside the lake (git, SCIP indexes)
comes from no column, and is left out.
"""

from collections.abc import Mapping
from functools import cache

from dagster import TableColumnDep, TableColumnLineage

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.steps import STEPS
from lakehouse_assets.plan.sql_lineage import Source
from lakehouse_assets.plan.step_analysis import Lineage, lineage_of, sources_in

_REST = "*"
"""Stands for the columns that are not named."""

_FILE = {"repo": "snapshots.repo", "path": "snapshots.path"}
_COMMITS = {"from_commit": "commits.commit_sha", "to_commit": "commits.commit_sha"}
_PLACED = "snapshots.path extracts.payload"
"""Symbols and their hashes are made of the file's path and the descriptors in it."""

_LINKED = {**_FILE, _REST: "snapshots.path extracts.summary"}

DECLARED: Mapping[str, Mapping[str, str]] = {
    "blobs": {"blob_sha": "snapshots.blob_sha"},
    "extracts": {"blob_sha": "blobs.blob_sha", "language": "snapshots.language", "extractor": "", _REST: "blobs.text"},
    "file_changes": _COMMITS,
    "diffs": {"from_commit": "file_changes.from_commit", "to_commit": "file_changes.to_commit"},
    "offered_modules": {**_FILE, _REST: "snapshots.path"},
    "module_index": {**_FILE, _REST: "snapshots.path"},
    "exported_defs": _LINKED,
    "imports_resolved": _LINKED,
    "links": _LINKED,
    "link_files": {**_FILE, "blob_sha": "snapshots.blob_sha", _REST: "snapshots.path extracts.summary"},
    "link_state": _LINKED,
    "neighbour_reads": {"repo": "snapshots.repo", _REST: "offered_modules.module extracts.summary"},
    "definitions": {
        **_FILE,
        "symbol": _PLACED,
        "def_id": _PLACED,
        "parent_id": _PLACED,
        "name": _PLACED,
        "qualified_name": "module_index.module extracts.payload",
        _REST: "extracts.payload",
    },
    "nodes": {
        **_FILE,
        "def_id": f"{_PLACED} links.dst_def",
        "name": "extracts.payload links.external",
        _REST: "extracts.payload",
    },
    "edges": {
        **_FILE,
        "dst_repo": "snapshots.repo",
        "dst_path": "snapshots.path",
        "src_def": _PLACED,
        "dst_def": _PLACED,
        _REST: "extracts.payload",
    },
    "props": {**_FILE, "def_id": _PLACED, _REST: "extracts.payload"},
    "graph_versions": {"repo": "commits.repo", "commit_sha": "commits.commit_sha"},
}


@cache
def lineage_into(contract: TableContract) -> Lineage:
    """By column of the table, in their order, what it comes from; columns that come from none are left out."""
    steps = [lineage_of(step) for step in STEPS.values() if step.output is contract]
    told = DECLARED.get(contract.name, {})
    found: dict[str, tuple[Source, ...]] = {}
    for name in contract.column_names:
        sources = set(sources_in(told.get(name, told.get(_REST, ""))))
        sources.update(source for step in steps for source in step.get(name, ()))
        if sources:
            found[name] = tuple(sorted(sources))
    return found


def dagster_lineage(lineage: Lineage) -> TableColumnLineage:
    return TableColumnLineage(
        deps_by_column={
            name: [TableColumnDep(asset_key=source.relation, column_name=source.column) for source in sources]
            for name, sources in lineage.items()
        }
    )


def lineage_page(lineage: Lineage) -> str:
    """The lineage as a Markdown table: the UI that is free draws none of it."""
    lines = [f"| `{name}` | {', '.join(f'`{r}.{c}`' for r, c in sources)} |" for name, sources in lineage.items()]
    return "\n".join(["| column | comes from |", "|---|---|", *lines])
