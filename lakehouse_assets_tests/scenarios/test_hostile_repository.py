"""A repository made to do harm is read like any other: as bytes. See docs/security.md."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import Executable, Link, RepoBuilder, git

SECRET = "a secret outside of the repository"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text(SECRET)
    return tmp_path


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What any code of the repository would leave behind."""
    return tmp_path / "it-ran"


@pytest.fixture
def hostile(outside: Path, marker: Path) -> RepoBuilder:
    repo = RepoBuilder(outside / "hostile")
    leave = f"open({str(marker)!r}, 'w')\n"
    shell = f"#!/bin/sh\ntouch '{marker}'\n"
    repo.commit(
        {
            "setup.py": leave,
            "conftest.py": leave,
            "sitecustomize.py": leave,
            "lakehouse_assets/__init__.py": leave,
            "lakehouse_assets/extract/__init__.py": leave,
            "pkg/__init__.py": leave + "from pkg.mod import f\n",
            "pkg/mod.py": "def f(): ...\n",
            "pkg/deep.py": "x = " + "(" * 5_000 + ")" * 5_000,
            "pkg/long.py": "x = '" + "a" * 1_000_000 + "'\n",
            "pkg/nul.py": b"x = 1\0\n",
            "evil.so": b"\x7fELF",
            "hook.sh": Executable(shell.encode()),
            ".gitattributes": "* filter=evil diff=evil merge=evil working-tree-encoding=UTF-16\n",
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% {marker}\n',
            "link.py": Link(str(outside / "secret.txt").encode()),
            "up.py": Link(b"../secret.txt"),
            b"../escape.py": "x = 1\n",
            "<script>alert(1)<": "",
            "a'; DROP TABLE nodes; --.py": "def g(): ...\n",
            "\u202egnp.py": "def h(): ...\n",
        }
    )
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change"):
        path = repo.path / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(shell)
        path.chmod(0o755)
    for name, value in {
        "core.fsmonitor": f"touch {marker}",
        "filter.evil.clean": f"touch {marker}",
        "filter.evil.smudge": f"touch {marker}",
        "filter.evil.process": f"touch {marker}",
        "diff.evil.textconv": f"touch {marker}",
        "core.pager": f"touch {marker}",
        "core.sshCommand": f"touch {marker}",
        "uploadpack.packObjectsHook": f"touch {marker}",
    }.items():
        git(repo.path, "config", name, value)
    marker.unlink(missing_ok=True)  # git itself runs some of these when it is asked for its configuration
    return repo


@pytest.mark.parametrize("address", ["{}", "file://{}"], ids=["a path", "a URL"])
def test_nothing_of_a_hostile_repository_is_run_and_nothing_outside_of_it_is_read(
    address: str, hostile: RepoBuilder, marker: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    monkeypatch.chdir(hostile.path)
    lakehouse("repo", "add", "hostile", address.format(hostile.path))
    done = lakehouse("sync", "hostile")
    assert done.exit_code == 0
    assert not marker.exists()
    texts = lakehouse_json("sql", "SELECT text FROM blobs")
    assert not any(SECRET in (row["text"] or "") for row in texts)
    assert not (hostile.path.parent / "escape.py").exists()
    kinds = {row["path"]: row["kind"] for row in lakehouse_json("sql", "SELECT path, kind FROM snapshots")}
    assert kinds["link.py"] == kinds["up.py"] == "symlink"
    found = {row["name"] for row in lakehouse_json("sql", "SELECT name FROM definitions WHERE kind = 'function'")}
    assert {"f", "g", "h"} <= found


DEEP = {
    "aliases.py": "def a0(): ...\n" + "".join(f"a{i} = a{i - 1}\n" for i in range(1, 1_500)) + "a1499()\n",
    "branches.py": "if a:\n  f()\n" + "elif b:\n  f()\n" * 5_000,
    "calls.py": "x = a" + ".b()" * 5_000,
    "sum.py": "x = " + "+".join("1" * 20_000),
    "lambdas.py": "x = " + "lambda: " * 1_000 + "1",
    "deep.js": "x = " + "(" * 5_000 + ")" * 5_000,
    "Deep.java": "class A {" * 2_000 + "}" * 2_000,
    "deep.go": "package a\nfunc f() " + "{" * 2_000 + "}" * 2_000,
    "deep.c": "int x = " + "+".join("1" * 20_000) + ";",
}


def test_a_file_that_is_nested_too_deeply_does_not_stop_its_repository(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    repo = RepoBuilder(tmp_path / "deep")
    repo.commit({**DEEP, "fine.py": "def f(): ...\nf()\n"})
    lakehouse("repo", "add", "deep", str(repo.path))
    assert lakehouse("sync", "deep").exit_code == 0
    question = "SELECT s.path, e.status FROM snapshots s JOIN extracts e USING (blob_sha)"
    statuses = {row["path"]: row["status"] for row in lakehouse_json("sql", question)}
    assert statuses.keys() == {*DEEP, "fine.py"}
    assert statuses["lambdas.py"] == "cut_off"
    question = "SELECT path FROM edges WHERE kind = 'CALL' AND dst_path = path AND path IN ('aliases.py', 'fine.py')"
    assert sorted(row["path"] for row in lakehouse_json("sql", question)) == ["aliases.py", "fine.py"]


NOT_LINE_ENDS = ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f"]
"""Characters that git takes in names, and that split lines in `str.splitlines` or stood between the parts of a key."""


def test_a_file_name_with_a_separator_in_it_harms_no_repository_of_the_lake(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    odd, plain = RepoBuilder(tmp_path / "odd"), RepoBuilder(tmp_path / "plain")
    text = "def f(): ...\ndef g(): f()\n"
    names = [f"{mark}.py" for mark in NOT_LINE_ENDS]
    odd.commit(dict.fromkeys([*names, "a\u2028b/c.py"], text), author="An\u2028 <a@example.org>".encode())
    plain.commit({"m.py": text})
    lakehouse("repo", "add", "odd", str(odd.path))
    lakehouse("repo", "add", "plain", str(plain.path))
    assert lakehouse("sync", "--all").exit_code == 0
    odd.commit(dict.fromkeys(names, text + "def h(): g()\n"))
    plain.commit({"m.py": text + "def h(): g()\n"})
    assert lakehouse("sync", "--all").exit_code == 0
    question = "SELECT repo, path, count(*) AS calls FROM edges WHERE kind = 'CALL' GROUP BY ALL"
    calls = {(row["repo"], row["path"]): row["calls"] for row in lakehouse_json("sql", question)}
    assert calls == {
        **{("odd", name): 2 for name in names},
        ("odd", "a\u2028b/c.py"): 1,
        ("plain", "m.py"): 2,
    }
    assert lakehouse("vacuum", "--dry-run").exit_code == 0
    assert lakehouse("delta-diff", "definitions", "0", "1").exit_code == 0
    assert lakehouse("story").exit_code == 0
    assert lakehouse("repo", "remove", "odd").exit_code == 0
    plain.commit({"m.py": text})
    assert lakehouse("sync", "plain").exit_code == 0
    assert lakehouse("vacuum").exit_code == 0


def test_questions_about_hostile_names_are_answered_as_text(
    hostile: RepoBuilder, marker: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    lakehouse("repo", "add", "hostile", str(hostile.path))
    lakehouse("sync", "hostile")
    (found,) = lakehouse_json("definitions", "g")
    assert found["path"] == "a'; DROP TABLE nodes; --.py"
    with pytest.raises(BadInputError, match="no definition has this name"):
        lakehouse("definitions", "'; DROP TABLE nodes; --")
    assert lakehouse_json("sql", "SELECT count(*) > 0 AS there FROM nodes") == [{"there": True}]
    assert not marker.exists()
