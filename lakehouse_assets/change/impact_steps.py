"""The SQL of impact, step by step, in words that DuckDB and Spark share.

Ways are followed breadth first, one step per distance and from the newest finds only, so that circles end and each one
is reached by a shortest way. Of equally short ways the first by reason and names is told, so that the answer is the
same on every engine.
"""

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.impacted_callers import IMPACTED_CALLERS
from lakehouse_assets.contracts.impacted_files import IMPACTED_FILES
from lakehouse_assets.contracts.impacted_importers import IMPACTED_IMPORTERS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.plan.relational_step import RelationalStep, over

_FILES = (IMPACTED_FILES.name,)
_CALLERS = (IMPACTED_CALLERS.name, *_FILES)
_IMPORTERS = (IMPACTED_IMPORTERS.name, *_FILES)
_ALL = (IMPACTED_CALLERS.name, *_IMPORTERS)

# Under their present ids and those that they had: whoever relied on what is gone knows the old one.
CHANGED = RelationalStep(
    name="changed",
    sql="""
        SELECT repo, path, def_id, kind, min(symbol) AS symbol FROM (
          SELECT repo, path, def_id, kind, symbol FROM {diffs}
          UNION ALL
          SELECT repo, old_path AS path, old_def_id AS def_id, kind, old_symbol AS symbol
          FROM {diffs} WHERE old_def_id IS NOT NULL
        ) AS every_id GROUP BY repo, path, def_id, kind
    """,
    inputs=over(DIFFS),
    assets=_ALL,
)

SYMBOLS = RelationalStep(
    name="symbols",
    sql="""
        SELECT repo, def_id, min(symbol) AS symbol, min(kind) AS kind FROM (
          SELECT repo, def_id, symbol, kind FROM {definitions}
          UNION ALL
          SELECT repo, def_id, symbol, kind FROM {changed}
        ) AS every_symbol GROUP BY repo, def_id
    """,
    inputs=over(DEFINITIONS, CHANGED),
    assets=_CALLERS,
)

# A definition inside a function, or without a name, is used by what is around it.
DEPENDENCIES = RelationalStep(
    name="dependencies",
    sql="""
        SELECT DISTINCT repo, path, src_def AS def_id, dst_repo AS on_repo, dst_def AS on_def,
          CASE kind WHEN 'CALL' THEN 'calls' WHEN 'INHERITS' THEN 'inherits' WHEN 'OVERRIDES' THEN 'overrides'
            ELSE 'refers' END AS reason
        FROM {links} WHERE kind IN ('CALL', 'INHERITS', 'OVERRIDES', 'REF') AND dst_n = 0
        UNION
        SELECT inner_one.repo, inner_one.path, inner_one.parent_id AS def_id, inner_one.repo AS on_repo,
          inner_one.def_id AS on_def, 'holds' AS reason
        FROM {definitions} AS inner_one
        JOIN {symbols} AS outer_one ON outer_one.repo = inner_one.repo AND outer_one.def_id = inner_one.parent_id
        WHERE inner_one.kind = 'lambda' OR outer_one.kind IN ('function', 'lambda')
    """,
    inputs=over(LINKS, DEFINITIONS, SYMBOLS),
    assets=_CALLERS,
)

CALLERS_0 = RelationalStep(
    name="callers_0",
    sql="""
        SELECT repo, path, def_id, 0 AS distance, 'changed' AS reason, symbol AS via_symbol,
          symbol AS changed_symbol
        FROM {changed} WHERE kind <> 'module'
    """,
    inputs=over(CHANGED),
    assets=_CALLERS,
)

# A module's own code calls, but nobody calls a module: its importers are another question.
CALLERS_NEXT = RelationalStep(
    name="callers_next",
    sql="""
        SELECT repo, path, def_id, distance, reason, via_symbol, changed_symbol FROM (
          SELECT d.repo, d.path, d.def_id, f.distance + 1 AS distance, d.reason, s.symbol AS via_symbol,
            f.changed_symbol,
            row_number() OVER (PARTITION BY d.repo, d.def_id
              ORDER BY d.reason, s.symbol, f.changed_symbol, d.path) AS place
          FROM {frontier} AS f
          JOIN {symbols} AS s ON s.repo = f.repo AND s.def_id = f.def_id AND s.kind <> 'module'
          JOIN {dependencies} AS d ON d.on_repo = f.repo AND d.on_def = f.def_id
          WHERE NOT EXISTS (SELECT 1 FROM {reached} AS r WHERE r.repo = d.repo AND r.def_id = d.def_id)
        ) AS ways WHERE place = 1
    """,
    inputs=over(SYMBOLS, DEPENDENCIES, frontier=CALLERS_0, reached=CALLERS_0),
    assets=_CALLERS,
)

IMPORTERS_0 = RelationalStep(
    name="importers_0",
    sql="""
        SELECT repo, path, 0 AS distance, 'changed' AS reason, min(symbol) AS via_symbol,
          min(symbol) AS changed_symbol
        FROM {changed} GROUP BY repo, path
    """,
    inputs=over(CHANGED),
    assets=_IMPORTERS,
)

IMPORTERS_1 = RelationalStep(
    name="importers_1",
    sql="""
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
        ) AS ways WHERE place = 1
    """,
    inputs=over(IMPORTS_RESOLVED, CHANGED, reached=IMPORTERS_0),
    assets=_IMPORTERS,
)

IMPORTERS_NEXT = RelationalStep(
    name="importers_next",
    sql="""
        SELECT repo, path, distance, reason, via_symbol, changed_symbol FROM (
          SELECT i.repo, i.path, f.distance + 1 AS distance, 'imports_importer' AS reason,
            f.path AS via_symbol, f.changed_symbol,
            row_number() OVER (PARTITION BY i.repo, i.path ORDER BY f.path, f.changed_symbol) AS place
          FROM {frontier} AS f
          JOIN {imports_resolved} AS i ON i.target_repo = f.repo AND i.target_path = f.path
          WHERE NOT EXISTS (SELECT 1 FROM {reached} AS r WHERE r.repo = i.repo AND r.path = i.path)
        ) AS ways WHERE place = 1
    """,
    inputs=over(IMPORTS_RESOLVED, frontier=IMPORTERS_1, reached=IMPORTERS_1),
    assets=_IMPORTERS,
)

FILES = RelationalStep(
    name="files",
    sql="""
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
        ) AS ways WHERE place = 1
    """,
    inputs=over(FILE_CHANGES, callers=(CALLERS_0, CALLERS_NEXT), importers=(IMPORTERS_0, IMPORTERS_1, IMPORTERS_NEXT)),
    assets=_FILES,
)

# The rows of the tables; $repo is the repository that was updated.
IMPACTED_CALLERS_ROWS = RelationalStep(
    name="impacted_callers",
    sql="""
        SELECT $repo AS repo, f.repo AS impacted_repo, f.path AS impacted_path, f.def_id, s.symbol,
          f.distance, f.reason, f.via_symbol, f.changed_symbol
        FROM {callers} AS f JOIN {symbols} AS s ON s.repo = f.repo AND s.def_id = f.def_id
        WHERE f.distance > 0
        ORDER BY distance, impacted_repo, impacted_path, symbol
    """,
    inputs=over(SYMBOLS, callers=(CALLERS_0, CALLERS_NEXT)),
    output=IMPACTED_CALLERS,
    assets=(IMPACTED_CALLERS.name,),
)

IMPACTED_IMPORTERS_ROWS = RelationalStep(
    name="impacted_importers",
    sql="""
        SELECT $repo AS repo, repo AS impacted_repo, path AS impacted_path,
          distance, reason, via_symbol, changed_symbol
        FROM {importers}
        WHERE distance > 0
        ORDER BY distance, impacted_repo, impacted_path
    """,
    inputs=over(importers=(IMPORTERS_0, IMPORTERS_1, IMPORTERS_NEXT)),
    output=IMPACTED_IMPORTERS,
    assets=(IMPACTED_IMPORTERS.name,),
)

IMPACTED_FILES_ROWS = RelationalStep(
    name="impacted_files",
    sql="""
        SELECT $repo AS repo, repo AS impacted_repo, path AS impacted_path,
          distance, reason, via_symbol, changed_symbol
        FROM {files}
        ORDER BY distance, impacted_repo, impacted_path
    """,
    inputs=over(FILES),
    output=IMPACTED_FILES,
    assets=_FILES,
)

IMPACT_STEPS = (
    CHANGED,
    SYMBOLS,
    DEPENDENCIES,
    CALLERS_0,
    CALLERS_NEXT,
    IMPORTERS_0,
    IMPORTERS_1,
    IMPORTERS_NEXT,
    FILES,
    IMPACTED_CALLERS_ROWS,
    IMPACTED_IMPORTERS_ROWS,
    IMPACTED_FILES_ROWS,
)
"""In the order that they are run in."""
