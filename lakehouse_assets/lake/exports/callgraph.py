"""Who calls whom, as JSON in PyCG's shape: an object of callers, each with the list of its callees."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.exports.atomic import atomic_file
from lakehouse_assets.lake.exports.graph import open_tables
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list


@dataclass(frozen=True, kw_only=True)
class CallgraphExport:
    callers: int
    calls: int


def export_callgraphs(lake: Lake, outputs: Mapping[str, Path]) -> dict[str, CallgraphExport]:
    """Write each repository's call graph to its file, all of them in one pass over the tables.

    A repository without definitions gets an empty object.
    """
    done: dict[str, CallgraphExport] = {}
    with ExitStack() as stack:
        tables = stack.enter_context(open_tables(lake))
        rows = tables.rows(_QUERY.format(among=in_list("repo", sorted(outputs), "duckdb"))) if outputs else iter(())
        for repo, of_repo in groupby(rows, key=itemgetter(0)):
            with atomic_file(outputs[repo]) as out:
                calls = callers = 0
                for piece, count in _pieces(of_repo):
                    out.write(piece)
                    callers += 1
                    calls += count
                out.write(b"\n}\n" if callers else b"{}\n")
            done[repo] = CallgraphExport(callers=callers, calls=calls)
            report("export", repo, "callgraph written", callers=callers, calls=calls)
    for repo in sorted(outputs.keys() - done.keys()):
        with atomic_file(outputs[repo]) as out:
            out.write(b"{}\n")
        done[repo] = CallgraphExport(callers=0, calls=0)
    return done


def _pieces(rows: Iterable[tuple[str, str, str | None]]) -> Iterator[tuple[bytes, int]]:
    """Each caller as a member of the object, with the number of its callees."""
    before = "{\n"
    for caller, of_caller in groupby(rows, key=itemgetter(1)):
        callees = [callee for _, _, callee in of_caller if callee is not None]
        member = f"{json.dumps(caller, ensure_ascii=False)}: {json.dumps(callees, ensure_ascii=False)}"
        yield f"{before}  {member}".encode(), len(callees)
        before = ",\n"


# Every definition that can call or be called is a caller, if only of nothing.
_QUERY = """
    WITH calls AS (
        SELECT e.repo, e.path, e.src_def, e.dst_repo, e.dst_path, e.dst_def, e.dst_n FROM edges e
        WHERE e.kind = 'CALL' AND e.confidence <> 'guess' AND {among}
    )
    SELECT c.repo, s.qualified_name AS caller, coalesce(t.qualified_name, x.name) AS callee
    FROM calls c
    JOIN definitions s ON s.repo = c.repo AND s.path = c.path AND s.def_id = c.src_def
    LEFT JOIN definitions t ON t.repo = c.dst_repo AND t.path = c.dst_path AND t.def_id = c.dst_def
    LEFT JOIN (SELECT * FROM nodes WHERE kind = 'EXTERNAL' AND {among}) x
        ON x.repo = c.repo AND x.path = c.path AND x.def_id = c.dst_def
    WHERE callee IS NOT NULL
    UNION
    SELECT repo, qualified_name, NULL FROM definitions WHERE {among} AND kind <> 'class'
    ORDER BY ALL
"""
