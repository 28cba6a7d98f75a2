"""The graph as a SCIP index: the right names at the right places, and every rule of the format kept."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.extract.scip.check import check_index
from lakehouse_assets.extract.scip.index import Index
from lakehouse_assets.extract.scip.model import Document, Symbol
from lakehouse_assets.lake.exports import graph as graph_module
from lakehouse_assets.lake.exports.scip import ScipExport, export_scip
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support import scip
from lakehouse_assets_tests.support.graphs import SmallGraph
from lakehouse_assets_tests.support.sample_graph import APP, BASE, USER

TEXTS = {"app.py": APP, "pkg/base.py": BASE, "use.py": USER}
OWN = "lakehouse python r . "


def exported(lake: Lake, folder: Path, repo: str = "r", texts=TEXTS) -> tuple[dict[str, Document], list[Symbol]]:
    """The documents of an export that keeps the rules, by path, and the external symbols."""
    path = folder / f"{repo}.scip"
    export_scip(lake, repo, path, tool_version="0")
    with path.open("rb") as file:
        assert not list(check_index(Index(file, str(path)), texts.get))
    _, documents, externals = scip.read(path)
    return {document.path: document for document in documents}, externals


def shown(document: Document, text: str, *, definitions: bool) -> set[tuple[str, str]]:
    """Line, from 1, with the words that stand there, and the symbol without its package."""
    found: set[tuple[str, str]] = set()
    lines = text.encode().split(b"\n")
    for occurrence in document.occurrences:
        line, start, _, end = occurrence.range
        if bool(occurrence.roles & 1) == definitions:
            symbol = occurrence.symbol.removeprefix(OWN)
            found.add((f"{line + 1}: {lines[line][start:end].decode()}", symbol))
    return found


def test_definitions_stand_at_their_names(graphs: Lake, tmp_path: Path):
    documents, _ = exported(graphs, tmp_path)
    assert shown(documents["pkg/base.py"], BASE, definitions=True) == {
        ("1: ", "`pkg/base.py`/"),
        ("2: LIMIT", "`pkg/base.py`/LIMIT."),
        ("5: Base", "`pkg/base.py`/Base#"),
        ("8: run", "`pkg/base.py`/Base#run()."),
        ("8: x", "local 0"),
    }


def test_references_stand_at_the_names_that_refer(graphs: Lake, tmp_path: Path):
    documents, _ = exported(graphs, tmp_path)
    assert shown(documents["app.py"], APP, definitions=False) == {
        ("1: os.path", "lakehouse python os . os/path."),
        ("2: Base", "`pkg/base.py`/Base#"),
        ("2: LIMIT", "`pkg/base.py`/LIMIT."),
        ("6: Base", "`pkg/base.py`/Base#"),
        ("8: L", "`pkg/base.py`/LIMIT."),
        ("8: y", "local 2"),
        ("9: super", "lakehouse python builtins . super."),
        ("9: run", "`pkg/base.py`/Base#run()."),
        ("9: x", "local 0"),
        ("9: größe", "local 1"),
        ("9: p", "lakehouse python os . os/path."),
        ("9: join", "lakehouse python os . os/path/join."),
        ("13: App", "`app.py`/App#"),
        ("13: run", "`app.py`/App#run()."),
        ("16: main", "`app.py`/main()."),
    }


def test_what_inherits_and_overrides_is_related(graphs: Lake, tmp_path: Path):
    documents, _ = exported(graphs, tmp_path)
    related = {
        symbol.symbol.removeprefix(OWN): [
            (each.symbol.removeprefix(OWN), each.is_implementation, each.is_reference) for each in symbol.relationships
        ]
        for document in documents.values()
        for symbol in document.symbols
        if symbol.relationships
    }
    assert related == {
        "`app.py`/App#": [("`pkg/base.py`/Base#", True, False)],
        "`app.py`/App#run().": [("`pkg/base.py`/Base#run().", True, True)],
        "`pkg/base.py`/Base#": [("lakehouse python builtins . object.", True, False)],
    }


def test_symbols_tell_kind_signature_and_documentation(graphs: Lake, tmp_path: Path):
    documents, _ = exported(graphs, tmp_path)
    symbols = {symbol.symbol.removeprefix(OWN): symbol for symbol in documents["pkg/base.py"].symbols}
    base, run = symbols["`pkg/base.py`/Base#"], symbols["`pkg/base.py`/Base#run()."]
    assert (base.kind, base.documentation, base.signature) == (7, ("A base.",), "Base(object)")
    assert (run.kind, run.display_name, run.signature) == (26, "run", "run(self, x: int = LIMIT) -> int")


def test_what_other_repositories_and_libraries_define_is_told_of_as_external(graphs: Lake, tmp_path: Path):
    documents, externals = exported(graphs, tmp_path, "u")
    assert [symbol.symbol.removeprefix(OWN) for symbol in externals] == [
        "`pkg/base.py`/Base#",
        "`pkg/base.py`/Base#run().",
    ]
    assert {word for word, _ in shown(documents["use.py"], USER, definitions=False)} == {"1: Base", "3: Base", "3: run"}


def test_the_same_graph_gives_the_same_bytes_however_it_is_cut(
    graphs: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = export_scip(graphs, "r", tmp_path / "a", tool_version="0")
    monkeypatch.setattr(graph_module, "GROUP_NODES", 1)
    assert export_scip(graphs, "r", tmp_path / "b", tool_version="0") == first
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert first == ScipExport(
        documents=2,
        occurrences=first.occurrences,
        symbols=first.symbols,
        external_symbols=5,
        bytes=(tmp_path / "a").stat().st_size,
    )


ODD = """class A:
    pass
class A:
    def f(self): return [i for i in self], (lambda q: q)
if 1:
    def g(): ...
else:
    def g(): ...
try:
    import a.b, c as d
except E as e:
    print(e, a, d)
match x:
    case {"k": v, **rest}: print(v, rest)
    case [first, *others] as whole: print(first, others, whole)
ü = 1; s = "ü" + ü
def deco(f): return f
@deco
async  def \\
    spaced(a: a): return a
z = [z for z in ü]
print(z)
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_odd_code_keeps_the_rules_as_well(lake: Lake, tmp_path: Path, end: str):
    text = ODD.replace("\n", end)
    SmallGraph(repo="r", files={"odd `name.py": text, "empty.py": ""}).save(lake)
    documents, _ = exported(lake, tmp_path, texts={"odd `name.py": text, "empty.py": ""})
    words = shown(documents["odd `name.py"], text.replace("\r\n", "\n").replace("\r", "\n"), definitions=True)
    path = "`odd ``name.py`/"
    assert {
        ("1: A", f"{path}A#"),
        ("3: A", f"{path}`A(+1)`#"),
        ("6: g", f"{path}g()."),
        ("8: g", f"{path}g(+1)."),
        ("10: a", f"{path}a."),
        ("10: d", f"{path}d."),
        ("11: e", f"{path}e."),
        ("16: ü", f"{path}`ü`."),
        ("20: spaced", f"{path}spaced()."),
    } <= words


def test_what_cannot_be_written_leaves_nothing_behind(graphs: Lake, tmp_path: Path):
    (tmp_path / "old").write_text("before")
    with pytest.raises(BadInputError, match="no repository of that name"):
        export_scip(graphs, "nobody", tmp_path / "old", tool_version="0")
    assert (tmp_path / "old").read_text() == "before"
    with pytest.raises(BadInputError, match="cannot be written"):
        export_scip(graphs, "r", tmp_path / "none" / "x", tool_version="0")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_lake_without_a_graph_is_told(lake: Lake, tmp_path: Path):
    Registry(lake).add([Repository(name="r", location="/r", kind="directory")])
    with pytest.raises(LakeStateError, match="lakehouse sync r"):
        export_scip(lake, "r", tmp_path / "x", tool_version="0")
