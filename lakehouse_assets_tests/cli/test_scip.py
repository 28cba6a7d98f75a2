"""`lakehouse scip`, as a user runs it."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.extract.scip.model import Document, Occurrence
from lakehouse_assets_tests.support import scip
from lakehouse_assets_tests.support.command import java_was_started, lakehouse, lakehouse_json, spawn, without_java
from lakehouse_assets_tests.support.repos import RepoBuilder


@pytest.fixture
def repository(settings: Settings, tmp_path: Path) -> str:
    RepoBuilder(tmp_path / "a").commit({"a.py": "1"})
    lakehouse("repo", "add", "a", str(tmp_path / "a"))
    return "a"


def test_an_index_is_imported_without_a_jvm_and_can_be_asked(settings: Settings, repository: str, tmp_path: Path):
    index = scip.written(tmp_path / "i.scip", [scip.document("a.py", "x", "y")])
    done = spawn(settings, "scip", "import", repository, str(index), **without_java(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "1 documents added, 0 changed, 0 removed, 0 unchanged (tester 1)" in done.stdout
    assert not java_was_started(tmp_path)
    again = lakehouse_json("scip", "import", repository, str(index))
    assert again["documents"] == {"added": 0, "changed": 0, "removed": 0, "unchanged": 1}
    asked = lakehouse_json("sql", "SELECT count(*) AS n FROM scip_occurrences WHERE roles & 1 > 0")
    assert asked == [{"n": 2}]


def test_what_cannot_be_imported_is_refused(settings: Settings, repository: str, tmp_path: Path):
    index = scip.written(tmp_path / "i.scip", [scip.document("a.py", "x")])
    with pytest.raises(BadInputError, match="no repository of that name"):
        lakehouse("scip", "import", "nobody", str(index))
    with pytest.raises(BadInputError, match="cannot be opened"):
        lakehouse("scip", "import", repository, str(tmp_path / "none"))
    index.write_bytes(index.read_bytes()[:-1])
    with pytest.raises(BadInputError, match="stops being a SCIP index at byte"):
        lakehouse("scip", "import", repository, str(index))


def test_a_check_tells_what_is_wrong_and_exits_with_one(tmp_path: Path):
    good = scip.written(tmp_path / "good", [scip.document("a.py", "x")])
    assert lakehouse("scip", "check", str(good)).stdout == "1 documents, 0 problems\n"
    bad = scip.written(tmp_path / "bad", [Document(path="a", occurrences=[Occurrence((0, 0, 0, 1), "local 1")])])
    told = lakehouse("scip", "check", str(bad))
    assert (told.exit_code, told.stdout) == (1, "symbol unknown: 1 problems\n  a: local 1\n1 documents, 1 problems\n")
    as_json = lakehouse_json("scip", "check", str(bad))
    assert as_json["rules_broken"]["symbol unknown"]["problems"] == 1
