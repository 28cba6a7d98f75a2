"""Which paths the settings keep."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.sources.globs import glob_regex, path_filter
from lakehouse_assets_tests.support.repos import git


@pytest.mark.parametrize(
    ("pattern", "matched", "not_matched"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py", "d.py/x"], ["a.pyc", "apy"]),
        ("a.py", ["a.py", "x/a.py"], ["ba.py", "a.pyx"]),
        ("docs/", ["docs/a", "x/docs/y/z"], ["docs", "mydocs/a"]),
        ("docs", ["docs", "docs/a", "x/docs/y"], ["docs2/a"]),
        ("/docs", ["docs/a", "docs"], ["x/docs/a"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "y/src/a.py"]),
        ("src/**/t.py", ["src/t.py", "src/a/t.py", "src/a/b/t.py"], ["t.py", "xsrc/t.py"]),
        ("**/t.py", ["t.py", "a/b/t.py"], ["xt.py"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "xsrc/a"]),
        ("a?c", ["abc"], ["a/c", "ac"]),
        ("[ab].py", ["a.py"], ["c.py"]),
        ("[!ab].py", ["c.py"], ["a.py"]),
        ("[]x].py", ["].py", "x.py"], ["y.py"]),
        ("[.py", ["[.py"], ["a.py"]),
        (r"\*.py", ["*.py"], ["a.py"]),
        ("a.b+(c)", ["a.b+(c)"], ["axb+(c)"]),
        ("line*", ["line\nbreak"], []),
    ],
)
def test_globs_mean_what_they_mean_in_gitignore(pattern: str, matched: list[str], not_matched: list[str]) -> None:
    regex = re.compile(glob_regex(pattern), re.DOTALL)
    assert [path for path in matched + not_matched if regex.fullmatch(path)] == matched


@pytest.mark.parametrize(
    "pattern", ["*.py", "docs/", "docs", "/docs", "src/*.py", "src/**/t.py", "**/t", "a/**", "a?c", "[!a]b"]
)
def test_git_itself_agrees(tmp_path: Path, pattern: str) -> None:
    paths = [
        "a.py",
        "docs/a",
        "x/docs/b",
        "src/a.py",
        "src/x/t.py",
        "src/t.py",
        "t",
        "x/t",
        "a/b/c",
        "abc",
        "bb",
        "docs2/a",
    ]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    git(tmp_path, "init", "-q")
    (tmp_path / ".git" / "info" / "exclude").write_text(f"{pattern}\n")
    kept = git(tmp_path, "ls-files", "--others", "--exclude-standard").decode().split()
    keeps = path_filter((), (pattern,))
    assert sorted(path for path in paths if keeps(path)) == sorted(kept)


def test_without_globs_every_path_is_kept() -> None:
    assert path_filter((), ())("anything")


def test_exclude_wins_over_include() -> None:
    keeps = path_filter(("src/", "*.md"), ("test_*",))
    assert [p for p in ("src/a.py", "src/test_a.py", "README.md", "b.py") if keeps(p)] == ["src/a.py", "README.md"]


@pytest.mark.parametrize("pattern", ["", "/", "!a.py", "[z-a]"])
def test_a_pattern_without_a_meaning_is_refused(pattern: str) -> None:
    with pytest.raises(BadInputError):
        path_filter((pattern,), ())


@given(st.text(alphabet="ab/*?[]!^-\\.&~|(", max_size=12), st.text(alphabet="ab/.[]", max_size=12))
def test_any_text_is_a_pattern_or_is_refused(pattern: str, path: str) -> None:
    try:
        keeps = path_filter((pattern,), ())
    except BadInputError:
        return
    assert keeps(path) in (True, False)
