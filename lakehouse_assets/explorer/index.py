"""The definitions and links of the lake in memory: looked up by number, told as rows.

A definition's number is its place in the order of repository, path and line. Links are kept twice, in the order of
their source and of their target, so that either side of a definition is one stretch of an array.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.explorer.names import Names
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.published_graph import PublishedGraph

READ = (DEFINITIONS, LINKS, NODES, SNAPSHOTS)
"""The tables that the index is made of."""

_DEFINITIONS = """
CREATE TEMP TABLE numbered AS
SELECT (row_number() OVER (ORDER BY repo, path, line, col, def_id) - 1)::INTEGER AS number,
  repo, path, def_id, parent_id, symbol, kind, name, qualified_name, line, end_line, signature, docstring
FROM {definitions} AS d"""

_TOLD = """
SELECT d.*, coalesce(p.number, -1) AS parent FROM numbered d
LEFT JOIN numbered p ON p.repo = d.repo AND p.def_id = d.parent_id ORDER BY d.number"""

# A line counts from its anchor's, that from the definition's, and a file's own from 0.
_LINKS = """
SELECT l.kind, s.number AS source, coalesce(t.number, -1) AS target, l.external, l.method, l.confidence,
  (coalesce(n.line, 0) + coalesce(a.line, 0) + CASE WHEN h.parent_id IS NULL THEN 0 ELSE h.line END)::INTEGER AS line
FROM {links} AS l
JOIN numbered s ON s.repo = l.repo AND s.path = l.path AND s.def_id = coalesce(l.caller_def, l.src_def)
JOIN numbered h ON h.repo = l.repo AND h.path = l.path AND h.def_id = l.src_def
LEFT JOIN numbered t ON l.external IS NULL AND t.repo = l.dst_repo AND t.path = l.dst_path AND t.def_id = l.dst_def
LEFT JOIN {nodes} AS n ON n.repo = l.repo AND n.path = l.path AND n.def_id = l.src_def AND n.n = l.src_n
LEFT JOIN {nodes} AS a ON n.anchor > 0 AND a.repo = n.repo AND a.path = n.path AND a.def_id = n.def_id
  AND a.n = n.anchor"""


@dataclass(frozen=True, kw_only=True)
class Coded:
    """A column of few words as small numbers, so that it is compared quickly."""

    words: tuple[str, ...]
    codes: np.ndarray

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> "Coded":
        encoded = column.combine_chunks().dictionary_encode()
        return cls(words=tuple(encoded.dictionary.to_pylist()), codes=encoded.indices.to_numpy())

    def code(self, word: str) -> int:
        """-1, which nothing has, for a word that is not among them."""
        return self.words.index(word) if word in self.words else -1

    def codes_of(self, words: Sequence[str]) -> list[int]:
        return [self.code(word) for word in words]


@dataclass(frozen=True, kw_only=True)
class Index:
    """Columns of the definitions and links of one published graph."""

    graph: PublishedGraph
    definitions: pa.Table
    links: pa.Table
    """In the order of their source."""
    names: Names
    numbers: Mapping[tuple[str, int], int]
    """The definition of a repository by its id."""
    blobs: Mapping[tuple[str, str], tuple[str, str | None]]
    """Content and language of a file."""
    _kinds: Coded
    _confidences: Coded
    _parents: np.ndarray
    _by_source: np.ndarray
    _by_target: np.ndarray
    _order: np.ndarray
    """Places of the links in the order of their target."""

    def definition(self, number: int) -> dict[str, Any]:
        return self.definitions.take([number]).to_pylist()[0]

    def told(self, numbers: Sequence[int], columns: Sequence[str]) -> list[dict[str, Any]]:
        """Some columns of definitions, in the order of the numbers: taken column by column, not value by value."""
        return self.definitions.select(columns).take(pa.array(numbers, pa.int64())).to_pylist()

    def names_of(self, symbols: Collection[str]) -> dict[str, str]:
        """Qualified names by symbol, of those that are there."""
        wanted = pa.array(symbols, pa.string())
        found = self.definitions.select(["symbol", "qualified_name"]).filter(
            pc.is_in(self.definitions["symbol"], value_set=wanted)  # pyright: ignore[reportAttributeAccessIssue]
        )
        return dict(zip(found["symbol"].to_pylist(), found["qualified_name"].to_pylist(), strict=True))

    def links_at(self, places: Sequence[int]) -> list[dict[str, Any]]:
        return self.links.take(pa.array(places, pa.int64())).to_pylist()

    def outgoing(self, number: int, kinds: Sequence[str], confidence: str | None = None) -> np.ndarray:
        """Places of the links of some kinds that start in a definition, by line."""
        low, high = np.searchsorted(self._by_source, [number, number + 1])
        return self._of(np.arange(low, high), kinds, confidence)

    def incoming(self, number: int, kinds: Sequence[str], confidence: str | None = None) -> np.ndarray:
        """Places of the links of some kinds that lead to a definition, by source and line."""
        low, high = np.searchsorted(self._by_target, [number, number + 1])
        return self._of(self._order[low:high], kinds, confidence)

    def _of(self, places: np.ndarray, kinds: Sequence[str], confidence: str | None) -> np.ndarray:
        kept = np.isin(self._kinds.codes[places], self._kinds.codes_of(kinds))
        if confidence is not None:
            kept &= self._confidences.codes[places] == self._confidences.code(confidence)
        return places[kept]

    def members(self, number: int) -> list[int]:
        """The definitions directly inside a definition, in their order."""
        return np.nonzero(self._parents == number)[0].tolist()


def build_index(graph: PublishedGraph) -> Index:
    """Read the tables as they were published."""
    tables = {each.name: graph.relation(each) for each in READ}
    with local_sql() as connection:
        connection.execute(_DEFINITIONS.format(**tables))
        definitions = connection.sql(_TOLD).to_arrow_table().combine_chunks()
        links = connection.sql(_LINKS.format(**tables)).to_arrow_table()
        files = connection.execute(f"SELECT repo, path, blob_sha, language FROM {tables[SNAPSHOTS.name]}").fetchall()
    links = links.sort_by([("source", "ascending"), ("line", "ascending")]).combine_chunks()
    targets = links["target"].to_numpy()
    order = np.argsort(targets, kind="stable")
    numbers = zip(definitions["repo"].to_pylist(), definitions["def_id"].to_pylist(), strict=True)
    return Index(
        graph=graph,
        definitions=definitions,
        links=links,
        names=Names.of(definitions),
        numbers={key: number for number, key in enumerate(numbers)},
        blobs={(owner, path): (blob, language) for owner, path, blob, language in files},
        _kinds=Coded.of(links["kind"]),
        _confidences=Coded.of(links["confidence"]),
        _parents=definitions["parent"].to_numpy(),
        _by_source=links["source"].to_numpy(),
        _by_target=targets[order],
        _order=order,
    )
