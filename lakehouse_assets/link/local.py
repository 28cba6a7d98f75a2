"""Links a folder of files in this process, without a lake: for single questions, for tests and for measurements."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.extract.python.extractor import extract_python
from lakehouse_assets.extract.symbols import def_ids
from lakehouse_assets.link.callgraph import call_graph, dotted
from lakehouse_assets.link.modules import ModuleIndex, is_python
from lakehouse_assets.link.repository import LinkResult, link_repository
from lakehouse_assets.link.state import LinkState
from lakehouse_assets.link.world import Neighbours


class Sources:
    """Texts by path, extracted when asked for, each content once."""

    def __init__(self, texts: Mapping[str, str | bytes]) -> None:
        self.texts = {path: text for path, text in texts.items() if is_python(path)}
        self.blobs = {path: fingerprint([text]) for path, text in self.texts.items()}
        self._summaries: dict[str, dict[str, Any]] = {}
        self.loaded: list[str] = []
        """Paths in the order in which they were asked for."""

    def load(self, paths: Sequence[str]) -> dict[str, dict[str, Any]]:
        self.loaded += paths
        return {path: self.summary(path) for path in paths if path in self.texts}

    def summary(self, path: str) -> dict[str, Any]:
        blob = self.blobs[path]
        if blob not in self._summaries:
            self._summaries[blob] = extract_python(self.texts[path]).summary
        return self._summaries[blob]


def sources_in(folder: Path) -> Sources:
    """All Python files below a folder."""
    found = sorted(path for path in folder.rglob("*.py*") if is_python(path.name) and path.is_file())
    return Sources({path.relative_to(folder).as_posix(): path.read_bytes() for path in found})


def link_sources(
    sources: Sources, repo: str = "local", previous: LinkState | None = None, neighbours: Neighbours | None = None
) -> LinkResult:
    return link_repository(repo=repo, files=sources.blobs, load=sources.load, previous=previous, neighbours=neighbours)


def call_graph_of(sources: Sources, result: LinkResult) -> dict[str, list[str]]:
    """The call graph of all files of a clean run."""
    index = ModuleIndex(sources.blobs)
    definitions: list[tuple[int, int | None, str, str]] = []
    for path in sources.texts:
        summary = sources.summary(path)
        if "ops" not in summary:
            continue
        ids = def_ids(path, summary["descriptors"])
        kinds, parents = summary["definitions"]
        module = index.name_of(path)
        for d, descriptor in enumerate(summary["descriptors"]):
            parent = ids[parents[d]] if parents[d] >= 0 else None
            kind = ("module", "class", "function", "lambda")[kinds[d]]
            definitions.append((ids[d], parent, dotted(module, descriptor), kind))
    return call_graph(definitions, result.links)
