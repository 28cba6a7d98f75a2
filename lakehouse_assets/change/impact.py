"""Who may be touched by changed definitions: callers, importers, files, each with the shortest way to it.

This is the wide set, for people: what to review and test. What has to be relinked is decided elsewhere, from what
linking read.

Each step is SQL over relations by name, in words that DuckDB and Spark share. Ways are followed breadth first, one
step per distance and from the newest finds only, so that circles end and each one is reached by a shortest way. Of
equally short ways the first by reason and names is told, so that the answer is the same on every engine.

Relations asked of the engine, with the columns of their contracts: `diffs` and `file_changes` (of one update),
`links`, `imports_resolved` and `definitions` (of all repositories, before the update and after it: what is gone was
relied on only before).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

DISTANCE_LIMIT = 4
"""Steps that are followed. Far ones touch nearly everything and say little; that there are more is told."""

INPUTS = ("diffs", "file_changes", "links", "imports_resolved", "definitions")

STEPS: Mapping[str, str] = MappingProxyType(
    {
        # Under their present ids and those that they had: whoever relied on what is gone knows the old one.
        "changed": """
            SELECT repo, path, def_id, kind, min(symbol) AS symbol FROM (
              SELECT repo, path, def_id, kind, symbol FROM {diffs}
              UNION ALL
              SELECT repo, old_path AS path, old_def_id AS def_id, kind, old_symbol AS symbol
              FROM {diffs} WHERE old_def_id IS NOT NULL
            ) AS every_id GROUP BY repo, path, def_id, kind""",
        "symbols": """
            SELECT repo, def_id, min(symbol) AS symbol, min(kind) AS kind FROM (
              SELECT repo, def_id, symbol, kind FROM {definitions}
              UNION ALL
              SELECT repo, def_id, symbol, kind FROM {changed}
            ) AS every_symbol GROUP BY repo, def_id""",
        # A definition inside a function, or without a name, is used by what is around it.
        "dependencies": """
            SELECT DISTINCT repo, path, src_def AS def_id, dst_repo AS on_repo, dst_def AS on_def,
              CASE kind WHEN 'CALL' THEN 'calls' WHEN 'INHERITS' THEN 'inherits' WHEN 'OVERRIDES' THEN 'overrides'
                ELSE 'refers' END AS reason
            FROM {links} WHERE kind IN ('CALL', 'INHERITS', 'OVERRIDES', 'REF') AND dst_n = 0
            UNION
            SELECT inner_one.repo, inner_one.path, inner_one.parent_id AS def_id, inner_one.repo AS on_repo,
              inner_one.def_id AS on_def, 'holds' AS reason
            FROM {definitions} AS inner_one
            JOIN {symbols} AS outer_one ON outer_one.repo = inner_one.repo AND outer_one.def_id = inner_one.parent_id
            WHERE inner_one.kind = 'lambda' OR outer_one.kind IN ('function', 'lambda')""",
        "callers_0": """
            SELECT repo, path, def_id, 0 AS distance, 'changed' AS reason, symbol AS via_symbol,
              symbol AS changed_symbol
            FROM {changed} WHERE kind <> 'module'""",
        # A module's own code calls, but nobody calls a module: its importers are another question.
        "callers_next": """
            SELECT repo, path, def_id, distance, reason, via_symbol, changed_symbol FROM (
              SELECT d.repo, d.path, d.def_id, f.distance + 1 AS distance, d.reason, s.symbol AS via_symbol,
                f.changed_symbol,
                row_number() OVER (PARTITION BY d.repo, d.def_id
                  ORDER BY d.reason, s.symbol, f.changed_symbol, d.path) AS place
              FROM {frontier} AS f
              JOIN {symbols} AS s ON s.repo = f.repo AND s.def_id = f.def_id AND s.kind <> 'module'
              JOIN {dependencies} AS d ON d.on_repo = f.repo AND d.on_def = f.def_id
              WHERE NOT EXISTS (SELECT 1 FROM {reached} AS r WHERE r.repo = d.repo AND r.def_id = d.def_id)
            ) AS ways WHERE place = 1""",
        "importers_0": """
            SELECT repo, path, 0 AS distance, 'changed' AS reason, min(symbol) AS via_symbol,
              min(symbol) AS changed_symbol
            FROM {changed} GROUP BY repo, path""",
        "importers_1": """
            SELECT repo, path, distance, reason, via_symbol, changed_symbol FROM (
              SELECT *, row_number() OVER (PARTITION BY repo, path ORDER BY reason, via_symbol, changed_symbol) AS place
              FROM (
                SELECT i.repo, i.path, 1 AS distance,
                  CASE WHEN i.target_def = c.def_id AND c.kind <> 'module' THEN 'imports_definition'
                    WHEN i.name IN ('', '*') THEN 'imports_module' ELSE 'imports_file' END AS reason,
                  CASE WHEN i.target_def = c.def_id THEN c.symbol ELSE i.module END AS via_symbol,
                  c.symbol AS changed_symbol
                FROM {imports_resolved} AS i
                JOIN {changed} AS c ON c.repo = i.target_repo AND c.path = i.target_path
                WHERE (i.target_def = c.def_id OR i.name IN ('', '*') OR c.kind = 'module')
                  AND NOT EXISTS (SELECT 1 FROM {reached} AS r WHERE r.repo = i.repo AND r.path = i.path)
              ) AS found
            ) AS ways WHERE place = 1""",
        "importers_next": """
            SELECT repo, path, distance, reason, via_symbol, changed_symbol FROM (
              SELECT i.repo, i.path, f.distance + 1 AS distance, 'imports_importer' AS reason,
                f.path AS via_symbol, f.changed_symbol,
                row_number() OVER (PARTITION BY i.repo, i.path ORDER BY f.path, f.changed_symbol) AS place
              FROM {frontier} AS f
              JOIN {imports_resolved} AS i ON i.target_repo = f.repo AND i.target_path = f.path
              WHERE NOT EXISTS (SELECT 1 FROM {reached} AS r WHERE r.repo = i.repo AND r.path = i.path)
            ) AS ways WHERE place = 1""",
        "files": """
            SELECT repo, path, distance, reason, via_symbol, changed_symbol FROM (
              SELECT *, row_number() OVER (PARTITION BY repo, path
                ORDER BY distance, reason, via_symbol, changed_symbol) AS place
              FROM (
                SELECT repo, path, 0 AS distance, 'changed' AS reason, path AS via_symbol, path AS changed_symbol
                FROM {file_changes}
                UNION ALL
                SELECT repo, path, distance, reason, via_symbol, changed_symbol FROM {callers} WHERE distance > 0
                UNION ALL
                SELECT repo, path, distance, reason, via_symbol, changed_symbol FROM {importers} WHERE distance > 0
              ) AS found
            ) AS ways WHERE place = 1""",
    }
)
"""The SQL of each step; names in braces are relations."""


class Engine(Protocol):
    """Something that runs the steps. What it keeps is there until it is closed."""

    def keep(self, label: str, query: str) -> tuple[str, int]:
        """Keep the result of a query; gives the name it can be asked for by, and its rows."""
        ...


@dataclass(frozen=True, kw_only=True)
class Impact:
    """Names of the kept results; and whether somebody is reached only beyond the limit."""

    callers: str
    importers: str
    files: str
    symbols: str
    limit: int
    more_callers: bool
    more_importers: bool


def find_impact(engine: Engine, inputs: Mapping[str, str], *, limit: int = DISTANCE_LIMIT) -> Impact:
    """Run the steps on the inputs, by the names that the engine knows them by."""
    names = dict(inputs)
    for step in ("changed", "symbols", "dependencies"):
        names[step], _ = engine.keep(step, STEPS[step].format(**names))
    names["callers"], more_callers = _spread(engine, names, "callers", ["callers_next"] * limit)
    importers = ["importers_1", *["importers_next"] * (limit - 1)]
    names["importers"], more_importers = _spread(engine, names, "importers", importers)
    names["files"], _ = engine.keep("files", STEPS["files"].format(**names))
    return Impact(
        callers=names["callers"],
        importers=names["importers"],
        files=names["files"],
        symbols=names["symbols"],
        limit=limit,
        more_callers=more_callers,
        more_importers=more_importers,
    )


def _spread(engine: Engine, names: Mapping[str, str], what: str, steps: Sequence[str]) -> tuple[str, bool]:
    """Follow the ways step by step; the kept union of all finds, and whether a further step would find more."""
    frontier, rows = engine.keep(f"{what}_0", STEPS[f"{what}_0"].format(**names))
    finds = [frontier]
    for number, step in enumerate([*steps, f"{what}_next"], start=1):
        if not rows:
            break
        query = STEPS[step].format(**names, frontier=frontier, reached=_union(finds))
        frontier, rows = engine.keep(f"{what}_{number}", query)
        if number > len(steps):
            return _kept(engine, what, finds), bool(rows)
        finds.append(frontier)
    return _kept(engine, what, finds), False


def _kept(engine: Engine, what: str, finds: Sequence[str]) -> str:
    return engine.keep(what, f"SELECT * FROM {_union(finds)} AS finds")[0]


def _union(names: Sequence[str]) -> str:
    return "(" + " UNION ALL ".join(f"SELECT * FROM {name}" for name in names) + ")"
