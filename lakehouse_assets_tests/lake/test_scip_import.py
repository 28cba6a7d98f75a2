"""SCIP indexes into tables: what changed is written, what is gone is deleted, and a broken index changes nothing."""

from typing import Any

import pytest

from lakehouse_assets.contracts.scip_diagnostics import SCIP_DIAGNOSTICS
from lakehouse_assets.contracts.scip_documents import SCIP_DOCUMENTS
from lakehouse_assets.contracts.scip_occurrences import SCIP_OCCURRENCES
from lakehouse_assets.contracts.scip_symbols import SCIP_SYMBOLS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.extract.scip.model import Diagnostic, Document, Metadata, Occurrence, Relationship, Symbol
from lakehouse_assets.extract.scip.rows import SCIP_TABLES
from lakehouse_assets.lake import scip_import
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.scip_import import ImportReport, import_index
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets_tests.support import scip
from lakehouse_assets_tests.support.repos import registered
from lakehouse_assets_tests.support.writes import rows_of

REPO = registered("/somewhere", name="r")


def imported(
    settings: Settings, *documents: Document, repo=REPO, metadata: Metadata = scip.TOOL, **more
) -> ImportReport:
    settings.home.mkdir(parents=True, exist_ok=True)
    path = scip.written(settings.home / "index.scip", documents, metadata=metadata, **more)
    return import_index(settings, repo, path)


def everything(lake: Lake) -> dict[str, list[dict[str, Any]]]:
    return {contract.name: rows_of(lake, contract) for contract in SCIP_TABLES}


def writes_to(lake: Lake, contract: TableContract) -> list[str]:
    return [row["action"] for row in lake.rows(WRITES) if row["asset"] == contract.name and row["action"] != "nothing"]


def test_all_that_an_index_says_becomes_rows(settings: Settings, lake: Lake):
    diagnostic = Diagnostic(2, "E1", "careful", "linter", (2,))
    document = Document(
        path="a.py",
        language="python",
        text="class A: ...",
        position_encoding=1,
        occurrences=[Occurrence((0, 6, 0, 7), "t . p . A#", 1, 3, ("doc",), (0, 0, 0, 12), (diagnostic,))],
        symbols=[
            Symbol(
                "t . p . A#",
                7,
                "A",
                ("An A.",),
                "class A",
                "python",
                "",
                (Relationship("t . p . B#", is_reference=True, is_implementation=True),),
            )
        ],
    )
    done = imported(settings, document, externals=[Symbol("t . q . B#")])
    assert (done.added, done.changed, done.removed, done.unchanged) == (2, 0, 0, 0)
    (occurrence,) = rows_of(lake, SCIP_OCCURRENCES)
    assert occurrence == {
        "repo": "r",
        "path": "a.py",
        "start_line": 0,
        "start_col": 6,
        "end_line": 0,
        "end_col": 7,
        "symbol": "t . p . A#",
        "n": 0,
        "roles": 1,
        "syntax_kind": 3,
        "documentation": ["doc"],
        "enclosing_range": "0:0-0:12",
    }
    external, symbol = rows_of(lake, SCIP_SYMBOLS)
    assert (external["path"], external["symbol"]) == ("<tester>", "t . q . B#")
    assert (symbol["kind"], symbol["signature"], symbol["display_name"]) == ("Class", "class A", "A")
    assert (symbol["implements"], symbol["referenced_with"], symbol["defined_by"]) == (
        ["t . p . B#"],
        ["t . p . B#"],
        [],
    )
    (told,) = rows_of(lake, SCIP_DIAGNOSTICS)
    assert (told["severity"], told["message"], told["tags"]) == ("warning", "careful", ["deprecated"])
    _, row = rows_of(lake, SCIP_DOCUMENTS)
    assert (row["occurrences"], row["symbols"], row["diagnostics"], row["text"]) == (1, 1, 1, "class A: ...")
    assert (row["language"], row["indexer"], row["position_encoding"]) == ("python", "tester", "utf-8")


def test_rows_of_one_key_are_counted(settings: Settings, lake: Lake):
    place = (0, 0, 0, 1)
    twice = Document(
        path="a",
        occurrences=[Occurrence(place, "x", 8), Occurrence(place, "x", 2), Occurrence(place, "x", 8)],
        symbols=[Symbol("x", display_name="b"), Symbol("x", display_name="a")],
    )
    imported(settings, twice)
    assert [(row["n"], row["roles"]) for row in rows_of(lake, SCIP_OCCURRENCES)] == [(0, 2), (1, 8), (2, 8)]
    assert [(row["n"], row["display_name"]) for row in rows_of(lake, SCIP_SYMBOLS)] == [(0, "a"), (1, "b")]


def test_an_index_that_says_the_same_in_another_order_writes_nothing(settings: Settings, lake: Lake):
    first, second = scip.document("a", "x", "y"), scip.document("b", "z")
    imported(settings, first, second)
    before = {contract.name: lake.open(contract).version() for contract in SCIP_TABLES}
    mixed = Document(path="a", occurrences=first.occurrences[::-1], symbols=first.symbols[::-1])
    done = imported(settings, second, mixed)
    assert (done.unchanged, sum(done.rows.values())) == (2, 0)
    assert {contract.name: lake.open(contract).version() for contract in SCIP_TABLES} == before


def test_only_what_changed_is_written_and_what_is_gone_is_deleted(settings: Settings, lake: Lake):
    imported(settings, scip.document("a", "x"), scip.document("b", "y"), scip.document("c", "z"))
    done = imported(settings, scip.document("a", "x"), scip.document("b", "y", "w"), scip.document("d", "v"))
    assert (done.added, done.changed, done.removed, done.unchanged) == (1, 1, 1, 1)
    # b gains a definition and a reference, and its old reference moves down a line; c loses two rows, d brings two.
    assert done.rows[SCIP_OCCURRENCES.name] == 2 + 2 + 2 + 2
    assert done.rows[SCIP_DOCUMENTS.name] == 3
    assert {row["path"] for row in rows_of(lake, SCIP_DOCUMENTS)} == {"a", "b", "d"}
    after = everything(lake)
    clean = settings.model_copy(update={"home": settings.home / "clean"})
    imported(clean, scip.document("a", "x"), scip.document("b", "y", "w"), scip.document("d", "v"))
    assert after == everything(Lake(clean.lake))


def test_an_index_speaks_for_the_documents_of_its_own_indexer(settings: Settings, lake: Lake):
    other = Metadata(tool="other", tool_version="2")
    imported(settings, scip.document("a.py", "x"), externals=[Symbol("t . q . e.")])
    imported(settings, scip.document("a.ts", "x"), externals=[Symbol("t . q . f.")], metadata=other)
    assert [row["path"] for row in rows_of(lake, SCIP_DOCUMENTS)] == ["<other>", "<tester>", "a.py", "a.ts"]
    done = imported(settings, metadata=other)
    assert done.removed == 2
    assert [row["path"] for row in rows_of(lake, SCIP_SYMBOLS)] == ["<tester>", "a.py"]


def test_repositories_are_kept_apart(settings: Settings, lake: Lake):
    imported(settings, scip.document("a", "x"))
    imported(settings, scip.document("a", "y"), repo=registered("/elsewhere", name="s"))
    assert [(row["repo"], row["symbol"]) for row in rows_of(lake, SCIP_SYMBOLS)] == [
        ("r", "t . p . x."),
        ("s", "t . p . y."),
    ]


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.99])
def test_a_truncated_index_is_refused_and_changes_nothing(settings: Settings, lake: Lake, kept: float):
    imported(settings, scip.document("a", "x"), scip.document("b", "y"))
    before = everything(lake)
    path = settings.home / "index.scip"
    scip.written(path, [scip.document("a", "x", "new"), scip.document("c", "y")])
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(BadInputError, match="at byte"):
        import_index(settings, REPO, path)
    assert everything(lake) == before


def test_a_document_that_cannot_be_decoded_keeps_all_others_from_being_written(
    settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(scip_import, "CHUNK_ROWS", 1)
    settings.home.mkdir(parents=True)
    path = scip.written(settings.home / "i", [scip.document("a", "x"), scip.document("b", "broken")])
    data = path.read_bytes()
    at = data.rindex(b"t . p . broken.")
    path.write_bytes(data[:at] + b"\xff" + data[at + 1 :])
    with pytest.raises(BadInputError, match=f"byte {at}: a text is not UTF-8"):
        import_index(settings, REPO, path)
    assert not any(lake.exists(contract) for contract in SCIP_TABLES)


def test_chunks_give_the_same_rows_as_one_write(settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch):
    documents = [scip.document(f"{i}.py", "x", "y") for i in range(7)]
    done = imported(settings, *documents)
    assert writes_to(lake, SCIP_OCCURRENCES) == ["append"]
    monkeypatch.setattr(scip_import, "CHUNK_ROWS", 10)
    small = settings.model_copy(update={"home": settings.home / "small"})
    assert imported(small, *documents).data_versions == done.data_versions
    assert len(writes_to(Lake(small.lake), SCIP_OCCURRENCES)) == 4
    assert everything(Lake(small.lake)) == everything(lake)


OLD = (scip.document("a", "x"), scip.document("b", "y"))
NEW = (scip.document("a", "x2"), scip.document("c", "z"))


@pytest.mark.parametrize("survived", [1, 3, 6])
@pytest.mark.parametrize("then", [OLD, (scip.document("d", "w"),)], ids=["old", "other"])
def test_an_import_that_was_killed_behind_any_write_is_taken_up_by_the_next(
    settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch, survived: int, then: tuple[Document, ...]
):
    monkeypatch.setattr(scip_import, "CHUNK_ROWS", 1)
    imported(settings, *OLD)
    write, done = UpsertService.write, []

    def killed(*arguments, **more):
        if len(done) == survived:
            raise KeyboardInterrupt
        done.append(1)
        return write(*arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(UpsertService, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            imported(settings, *NEW)
    cursors = {entry.cursor for entry in Ledger(lake).latest(SCIP_TABLES).values()}
    assert any(cursor.startswith("importing ") for cursor in cursors)
    imported(settings, *then)
    clean = settings.model_copy(update={"home": settings.home / "clean"})
    imported(clean, *then)
    assert everything(lake) == everything(Lake(clean.lake))


def test_other_code_makes_the_rows_anew(settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch):
    imported(settings, scip.document("a", "x"))
    monkeypatch.setattr(scip_import, "scip_code_version", lambda contract: "another")
    done = imported(settings, scip.document("a", "x"))
    assert (done.changed, done.unchanged) == (1, 0)
    entry = Ledger(lake).latest(SCIP_TABLES)[(SCIP_SYMBOLS.name, "r")]
    assert (entry.code_version, entry.cursor) == ("another", done.cursor)
