"""What may be registered, what is refused, and that no password reaches a message."""

import os
from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.sources.location import locate, redact_url
from lakehouse_assets_tests.support.repos import RepoBuilder, git


def test_a_work_tree_is_read_in_place(tmp_path: Path) -> None:
    RepoBuilder(tmp_path / "r")
    assert locate(str(tmp_path / "r")) == (str(tmp_path / "r"), "local_git")


def test_a_bare_repository_is_read_in_place(tmp_path: Path) -> None:
    RepoBuilder(tmp_path / "r.git", bare=True)
    assert locate(str(tmp_path / "r.git")) == (str(tmp_path / "r.git"), "local_git")


def test_a_linked_work_tree_is_read_in_place(tmp_path: Path) -> None:
    RepoBuilder(tmp_path / "r").commit({"a": "1"})
    git(tmp_path / "r", "worktree", "add", "-q", str(tmp_path / "linked"))
    assert locate(str(tmp_path / "linked"))[1] == "local_git"


@pytest.mark.parametrize("name", ["plain", "with space", 'it\'s "quoted"', "100%", "a=b", "git@host:path", "a::b"])
def test_a_directory_without_git_is_a_plain_one_whatever_its_name(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert locate(name) == (str(tmp_path / name), "directory")


def test_a_path_with_two_dots_means_what_the_system_means(tmp_path: Path) -> None:
    (tmp_path / "far" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "inner")
    assert locate(f"{tmp_path}/link/..") == (str((tmp_path / "far").resolve()), "directory")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/team/repo.git",
        "ssh://git@example.org:2222/repo",
        "git://example.org/repo",
        "file:///srv/repo.git",
        "git@example.org:team/repo.git",
        "git@[::1]:repo",
    ],
)
def test_a_git_url_is_fetched(url: str) -> None:
    assert locate(url) == (url, "remote_git")


def test_a_scheme_in_capitals_is_the_same_scheme() -> None:
    assert locate("HTTPS://example.org/r") == ("https://example.org/r", "remote_git")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", "empty"),
        ("--upload-pack=touch x", "like an option"),
        ("ext::sh -c touch% x", "transport helper"),
        ("fd::17", "transport helper"),
        ("ftp://example.org/r", "ftp:// is not"),
        ("http://example.org/r", "http:// is not"),
        ("ssh://-oProxyCommand=x/r", "no valid host"),
        ("git@-oProxyCommand=x:r", "nothing at this path"),
        ("https:///r", "no valid host"),
        ("https://example.org/a\nb", "control characters"),
        ("file://", "no path"),
        ("no/such/place", "nothing at this path"),
        ("host:path", "nothing at this path"),
        ("nul\x00byte", "nothing at this path"),
    ],
)
def test_anything_else_is_refused_and_says_what_was_seen(text: str, seen: str) -> None:
    with pytest.raises(BadInputError) as refused:
        locate(text)
    assert seen in refused.value.seen


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(BadInputError, match="it is a file"):
        locate(str(tmp_path / "f"))


def test_a_broken_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to("nowhere")
    with pytest.raises(BadInputError, match="not a directory"):
        locate(str(tmp_path / "l"))


def test_a_path_that_is_not_utf8_is_refused_because_it_cannot_be_stored(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"caf\xe9")  # noqa: PTH118 - bytes
    os.mkdir(path)  # noqa: PTH102 - bytes
    with pytest.raises(BadInputError, match="not UTF-8"):
        locate(os.fsdecode(path))


def test_a_repository_that_cannot_be_opened_is_not_taken_for_a_plain_directory(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /gone\n")
    with pytest.raises(BadInputError, match="marks of a git repository"):
        locate(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:secret@example.org/r", "https://***@example.org/r"),
        ("https://secret@example.org/r", "https://***@example.org/r"),
        ("ssh://git:secret@example.org/r", "ssh://git:***@example.org/r"),
        ("ssh://git@example.org/r", "ssh://git@example.org/r"),
        ("https://me:se@cret@example.org/r", "https://***@example.org/r"),
        ("fatal: unable to access 'https://me:secret@h/r': no", "fatal: unable to access 'https://***@h/r': no"),
        ("https://example.org/@scope/r", "https://example.org/@scope/r"),
    ],
)
def test_credentials_are_taken_out_of_whatever_is_shown(text: str, shown: str) -> None:
    assert redact_url(text) == shown


@pytest.mark.parametrize("url", ["ftp://me:secret@h/r", "https://me:sec/ret@h/r", "https://me:secret@[bad/r"])
def test_a_refused_url_keeps_its_password_to_itself(url: str) -> None:
    with pytest.raises(BadInputError) as refused:
        locate(url)
    assert "secret" not in str(refused.value)
    assert "ret@" not in str(refused.value)
