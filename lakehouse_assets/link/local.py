"""Links a folder of files in this process, without a lake: for single questions, for tests and for measurements."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.extract.extractor import LANGUAGES, extract
from lakehouse_assets.extract.languages import classify
from lakehouse_assets.extract.symbols import def_ids
from lakehouse_assets.link.callgraph import call_graph, dotted
from lakehouse_assets.link.modules import ModuleIndex
from lakehouse_assets.link.repository import LinkResult, link_repository
from lakehouse_assets.link.state import LinkState
from lakehouse_assets.link.world import Neighbours


class Sources:
    """Texts by path, extracted when asked for, each content once."""

    def __init__(self, texts: Mapping[str, str | bytes]) -> None:
        self._languages = {path: _language(path, text) for path, text in texts.items()}
        self.texts = {path: text for path, text in texts.items() if self._languages[path] in LANGUAGES}
        self.blobs = {path: fingerprint([text]) for path, text in self.texts.items()}
        self._summaries: dict[tuple[str, str], dict[str, Any]] = {}
        self.loaded: list[str] = []
        """Paths in the order in which they were asked for."""

    def load(self, paths: Sequence[str]) -> dict[str, dict[str, Any]]:
        self.loaded += paths
        return {path: self.summary(path) for path in paths if path in self.texts}

    def summary(self, path: str) -> dict[str, Any]:
        key = (self.blobs[path], self._languages[path] or "")
        if key not in self._summaries:
            self._summaries[key] = extract(self.texts[path], key[1]).summary
        return self._summaries[key]


def _language(path: str, text: str | bytes) -> str | None:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return classify(path, len(data), "file", lambda: data).language


def sources_in(folder: Path) -> Sources:
    """All files below a folder that can be read."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
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
