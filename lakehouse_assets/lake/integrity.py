"""Whether tables fit each other: what a contract cannot say of its own rows alone.

Invariant: a rule that holds for all rows of a repository and for those that an update wrote holds after it, as far as
the update can break it. So an update checks what it wrote, and a nightly run checks everything.

Cost: the files of the tables that hold the rows asked for; a whole repository only where all of it was made.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.props import PROPS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import PATH, REPO, TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.hashing import json_fingerprint
from lakehouse_assets.extract.extractor import LANGUAGES
from lakehouse_assets.lake.bookkeeping import settle
from lakehouse_assets.lake.integrity_steps import (
    CONTENTS_MISSING,
    ENDS_MISSING,
    FILES_WITHOUT_ROWS,
    OWNERS_GONE,
    STARTS_MISSING,
)
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.scan import files_relation, relation
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.pruning import touched_files
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.sql_text import in_list, literal, name

OWNED = (DEFINITIONS, NODES, EDGES, PROPS)
_SHOWN = 50
_MANY_PATHS = 2_000
_LONGEST_RUN = timedelta(days=1)

_answers: dict[tuple[str, ...], list[dict[str, Any]]] = {}
"""Of the run under way: its steps check after all that they check was written."""

Places = Mapping[str, Sequence[str] | None]
"""By repository the files to look at; None for all of them."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A promise of `contract`'s table, and the rows that break it, as repo, path, what is wrong, and how many."""

    name: str
    contract: TableContract
    description: str
    find: Callable[[Lake, TableContract, Places], pa.Table]


def written_by(lake: Lake, run_id: str, repos: Iterable[str]) -> Places:
    """What a run has written of the graph: nothing of a repository that came out as it was."""
    settle(lake)
    since = datetime.now(UTC) - _LONGEST_RUN  # by time most files of the table are passed over
    names = in_list("asset", [contract.name for contract in OWNED], "datafusion")
    where = f"run_id = {literal(run_id, 'datafusion')} AND {names} AND written_at >= {literal(since, 'datafusion')}"
    columns = ["partitions", "owners", "owners_made", "rows_inserted", "rows_updated", "rows_deleted"]
    wanted = set(repos)
    places: dict[str, set[str] | None] = {}
    for row in lake.read(WRITES, columns=columns, where=where).to_pylist():
        if not row["rows_inserted"] + row["rows_updated"] + row["rows_deleted"]:
            continue
        owners = None if row["owners"] is None else set(json.loads(row["owners"]))
        for repo in wanted & set(row["partitions"]):
            before = places.get(repo, set())
            whole = owners is None or before is None or len(owners) < row["owners_made"]
            places[repo] = None if whole or owners is None or before is None else before | owners
    return {
        repo: None if paths is None or len(paths) > _MANY_PATHS else sorted(paths) for repo, paths in places.items()
    }


def broken(lake: Lake, rule: Rule, places: Places, *, run_id: str) -> list[dict[str, Any]]:
    """The first rows that break the rule in these places, found once a run, however many steps ask."""
    key = (str(lake.root), run_id, rule.contract.name, rule.name, json_fingerprint(dict(places)))
    if key not in _answers:
        for old in [each for each in _answers if each[1] != run_id]:
            del _answers[old]
        _answers[key] = rule.find(lake, rule.contract, places).to_pylist() if places else []
    return _answers[key]


def _predicate(places: Places, repo: str = "repo", path: str = "path") -> str:
    whole = [name for name, paths in places.items() if paths is None]
    parts = [in_list(repo, whole, "duckdb")] if whole else []
    parts += [
        f"({repo} = {literal(name, 'duckdb')} AND {in_list(path, list(paths), 'duckdb')})"
        for name, paths in places.items()
        if paths
    ]
    return f"({' OR '.join(parts)})" if parts else "FALSE"


def _found(query: str) -> pa.Table:
    with local_sql() as connection:
        return connection.sql(f"{query} ORDER BY repo, path LIMIT {_SHOWN}").to_arrow_table()


def _rows(lake: Lake, contract: TableContract, places: Places) -> str:
    """SQL for a table's rows of these places, from the files alone that may hold them by what the log says."""
    known = table_facts(lake.present(contract), contract).files if lake.exists(contract) else ()
    whole = [repo for repo, paths in places.items() if paths is None or contract.owner != PATH.name]
    touched = touched_files(known, equal_scopes(REPO.name, whole), None) if whole else []
    for repo, paths in places.items():
        if paths is not None and contract.owner == PATH.name:
            touched += touched_files(known, equal_scopes(REPO.name, [repo]), paths)
    files = dict.fromkeys(str(lake.path(contract) / unquote(file.path)) for file in touched)
    return f"(FROM {files_relation(contract, list(files))} WHERE {_predicate(places)})"


def _keys_twice(lake: Lake, contract: TableContract, places: Places) -> pa.Table:
    key, told = _key(contract)
    rows = _rows(lake, contract, places)
    if not _may_be_doubled(rows, key):
        return pa.table({})
    return _found(
        f"SELECT repo, path, {told} AS broken, count(*) AS rows "
        f"FROM {rows} GROUP BY {key}, repo, path HAVING count(*) > 1"
    )


def _key(contract: TableContract) -> tuple[str, str]:
    """SQL for the key's columns, and for what is said of a key that is there twice."""
    columns = [name(each, "duckdb") for each in contract.key]
    shown = " || ' ' || ".join(f"CAST({each} AS VARCHAR)" for each in columns)
    return ", ".join(columns), f"'key ' || {shown} || ' is there more than once'"


def _may_be_doubled(rows: str, key: str) -> bool:
    """Whether a key's hash is there more than once. Hashes of millions of keys fit into memory, the keys do not."""
    with local_sql() as connection:
        query = f"SELECT hash({key}) FROM {rows} GROUP BY ALL HAVING count(*) > 1 LIMIT 1"
        return bool(connection.sql(query).fetchall())


def doubled_keys(lake: Lake, contract: TableContract) -> list[dict[str, Any]]:
    """The first keys of the table that are there more than once, as partition, what is wrong, and how many.

    Cost: the key's columns of all rows.
    """
    key, told = _key(contract)
    rows = relation(lake, contract)
    if not _may_be_doubled(rows, key):
        return []
    # A key is unique in the whole table, and its partition is shown where it has one.
    place = f"min(CAST({name(contract.partition_by[0], 'duckdb')} AS VARCHAR))" if contract.partition_by else "''"
    query = (
        f"SELECT {place} AS partition, {told} AS broken, count(*) AS rows "
        f"FROM {rows} GROUP BY {key} HAVING count(*) > 1 ORDER BY ALL LIMIT {_SHOWN}"
    )
    with local_sql() as connection:
        return connection.sql(query).to_arrow_table().to_pylist()


def _owners_gone(lake: Lake, contract: TableContract, places: Places) -> pa.Table:
    files, rows = (_rows(lake, each, places) for each in (SNAPSHOTS, contract))
    return _found(OWNERS_GONE.text({SNAPSHOTS.name: files, "rows": rows}))


def _files_without_rows(lake: Lake, contract: TableContract, places: Places) -> pa.Table:
    there = f"(SELECT DISTINCT repo, path FROM {_rows(lake, contract, places)})"
    languages = in_list("language", sorted(LANGUAGES), "duckdb")
    files = f"(FROM {_rows(lake, SNAPSHOTS, places)} WHERE {languages})"
    return _found(FILES_WITHOUT_ROWS.text({SNAPSHOTS.name: files, "rows": there}))


def _contents_missing(lake: Lake, contract: TableContract, places: Places) -> pa.Table:
    files = f"FROM {_rows(lake, contract, places)} WHERE kind IN ('file', 'executable')"
    with local_sql() as connection:
        rows = connection.sql(f"SELECT DISTINCT blob_sha {files} LIMIT {_MANY_PATHS + 1}").fetchall()
    shas = [row[0] for row in rows]
    some = in_list("blob_sha", shas, "duckdb") if 0 < len(shas) <= _MANY_PATHS else "TRUE"
    stored = f"(SELECT blob_sha FROM {relation(lake, BLOBS)} WHERE {some})"
    return _found(CONTENTS_MISSING.text({SNAPSHOTS.name: f"({files})", BLOBS.name: stored}))


def _ends_missing(lake: Lake, contract: TableContract, places: Places) -> pa.Table:
    """Find edges that lack an end. One in another repository counts once the nodes there are of the extracted files.

    A neighbour that is being synced, or was killed on its way, has older nodes than the extracts that were linked.
    """
    edges = _rows(lake, contract, places)
    with local_sql() as connection:
        found = connection.sql(f"SELECT DISTINCT dst_repo, dst_path FROM {edges}").fetchall()
    settled = {*places, *_settled(lake, {repo for repo, _ in found} - {*places})}
    ends = [(repo, path) for repo, path in found if repo in settled]
    far: dict[str, list[str] | None] = {repo: None for repo, paths in places.items() if paths is None}
    for repo, path in ends:
        paths = far.setdefault(repo, [])
        if paths is not None:
            paths.append(path)
    near = {repo: None if paths is None or len(paths) > _MANY_PATHS else paths for repo, paths in far.items()}
    leading = f"(FROM {edges} WHERE {in_list('dst_repo', sorted(settled), 'duckdb')})"
    broken = [
        _found(step.text({EDGES.name: rows, NODES.name: _rows(lake, NODES, each)}))
        for step, rows, each in ((STARTS_MISSING, edges, places), (ENDS_MISSING, leading, near))
    ]
    return pa.concat_tables(broken).sort_by([("repo", "ascending"), ("path", "ascending")]).slice(0, _SHOWN)


def _settled(lake: Lake, repos: Collection[str]) -> set[str]:
    """Those of the repositories whose nodes are of the files that were extracted last."""
    if not repos:
        return set()
    latest = Ledger(lake).latest([EXTRACTS, NODES])

    def files(contract: TableContract, repo: str) -> str | None:
        entry = latest.get((contract.name, repo))
        return None if entry is None else json.loads(entry.input_versions).get(SNAPSHOTS.name)

    return {repo for repo in repos if files(NODES, repo) is not None and files(NODES, repo) == files(EXTRACTS, repo)}


RULES: tuple[Rule, ...] = (
    Rule(
        name="contents_exist",
        contract=SNAPSHOTS,
        description="Every file's content is in blobs.",
        find=_contents_missing,
    ),
    Rule(
        name="files_have_rows",
        contract=DEFINITIONS,
        description="Every file of the snapshot in a language with an extractor has a definition: itself.",
        find=_files_without_rows,
    ),
    Rule(name="ends_exist", contract=EDGES, description="Both ends of every edge are nodes.", find=_ends_missing),
    *(
        Rule(
            name="owners_exist",
            contract=contract,
            description="Every row belongs to a file of the snapshot.",
            find=_owners_gone,
        )
        for contract in OWNED
    ),
    *(
        Rule(name="keys_unique", contract=contract, description="No key is there twice.", find=_keys_twice)
        for contract in (SNAPSHOTS, *OWNED)
    ),
)
