"""A mirror has what its remote has, whatever happened to either in between."""

import shutil
from pathlib import Path

import pytest

from lakehouse_assets.core.diagnostics import collecting
from lakehouse_assets.core.errors import EnvironmentNotReadyError, SourceError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.sources import remote
from lakehouse_assets.sources.commits import read_commits
from lakehouse_assets.sources.head import resolve_head
from lakehouse_assets.sources.mirror import git_directory, refresh
from lakehouse_assets_tests.support.repos import RepoBuilder, git, registered


@pytest.fixture
def origin(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "origin with space's", bare=True)


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    return tmp_path / "home" / "git"


def _registered(origin: RepoBuilder) -> Repository:
    return registered(origin.path.as_uri(), kind="remote_git")


def _refreshed(origin: RepoBuilder, mirrors: Path, to: str | None = None) -> tuple[str, str]:
    refresh(_registered(origin), mirrors)
    head = resolve_head(_registered(origin), mirrors, to)
    return head.commit_sha, head.ref


def _references(path: Path) -> list[bytes]:
    return git(path, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags").splitlines()


def test_a_repository_in_place_needs_no_mirror(tmp_path: Path, mirrors: Path) -> None:
    repository = registered(tmp_path)
    refresh(repository, mirrors)
    assert git_directory(repository, mirrors) == tmp_path
    assert not mirrors.exists()


def test_the_mirror_has_the_branches_the_tags_and_the_head_of_its_remote(origin: RepoBuilder, mirrors: Path) -> None:
    sha = origin.commit({"a": "1"})
    origin.commit({"a": "2"}, branch="topic/x")
    origin.tag("v1", sha, annotated=True)
    assert _refreshed(origin, mirrors) == (sha, "main")
    assert _references(mirrors / "repo.git") == _references(origin.path)
    assert len(_references(origin.path)) == 3


def test_new_commits_and_branches_come_with_the_next_refresh(origin: RepoBuilder, mirrors: Path) -> None:
    origin.commit({"a": "1"})
    _refreshed(origin, mirrors)
    second = origin.commit({"a": "2"})
    origin.commit({"b": "1"}, branch="new", parents=[])
    assert _refreshed(origin, mirrors)[0] == second
    assert _references(mirrors / "repo.git") == _references(origin.path)


def test_what_was_deleted_or_moved_by_force_is_so_in_the_mirror(origin: RepoBuilder, mirrors: Path) -> None:
    first = origin.commit({"a": "1"})
    origin.commit({"a": "2"})
    origin.commit({"b": "1"}, branch="dir", parents=[])
    origin.tag("v1", first)
    _refreshed(origin, mirrors)
    forced = origin.commit({"a": "other"}, parents=[first])
    origin.repository.references.delete("refs/tags/v1")
    origin.repository.references.delete("refs/heads/dir")
    origin.commit({"b": "1"}, branch="dir/inner", parents=[])
    assert _refreshed(origin, mirrors)[0] == forced
    assert _references(mirrors / "repo.git") == _references(origin.path)


def test_the_head_follows_the_remotes_default_branch(origin: RepoBuilder, mirrors: Path) -> None:
    origin.commit({"a": "1"})
    trunk = origin.commit({"a": "2"}, branch="trunk", parents=[])
    _refreshed(origin, mirrors)
    origin.repository.set_head("refs/heads/trunk")
    assert _refreshed(origin, mirrors) == (trunk, "trunk")


def test_a_remote_with_a_detached_head_is_followed_there_and_back(origin: RepoBuilder, mirrors: Path) -> None:
    main = origin.commit({"a": "1"})
    loose = origin.commit({"a": "2"}, branch=None, parents=[main])
    origin.detach(loose)
    assert _refreshed(origin, mirrors) == (loose, "HEAD (detached)")
    origin.repository.set_head("refs/heads/main")
    assert _refreshed(origin, mirrors) == (main, "main")
    assert _references(mirrors / "repo.git") == _references(origin.path)


def test_an_empty_remote_is_mirrored_and_has_nothing_to_read_yet(origin: RepoBuilder, mirrors: Path) -> None:
    with pytest.raises(SourceError, match="no branches"):
        _refreshed(origin, mirrors)
    sha = origin.commit({"a": "1"})
    assert _refreshed(origin, mirrors)[0] == sha


def test_without_news_nothing_is_fetched(origin: RepoBuilder, mirrors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin.commit({"a": "1"})
    _refreshed(origin, mirrors)
    commands: list[str] = []
    run = remote._git
    monkeypatch.setattr(remote, "_git", lambda r, m, *arguments: commands.append(arguments[0]) or run(r, m, *arguments))
    _refreshed(origin, mirrors)
    origin.commit({"a": "2"})
    _refreshed(origin, mirrors)
    assert commands == ["ls-remote", "ls-remote", "fetch"]


def test_another_location_under_the_same_name_is_cloned_anew(
    origin: RepoBuilder, mirrors: Path, tmp_path: Path
) -> None:
    origin.commit({"a": "1"})
    origin.tag("only-in-the-first", origin.commit({"a": "2"}))
    _refreshed(origin, mirrors)
    other = RepoBuilder(tmp_path / "other", bare=True)
    sha = other.commit({"b": "1"})
    assert _refreshed(other, mirrors) == (sha, "main")
    assert _references(mirrors / "repo.git") == _references(other.path)


def test_a_failed_clone_leaves_nothing_behind(tmp_path: Path, mirrors: Path) -> None:
    repository = registered((tmp_path / "gone").as_uri(), kind="remote_git")
    with pytest.raises(SourceError, match="ls-remote of file://"):
        refresh(repository, mirrors)
    assert not (mirrors / "repo.git").exists()
    assert list((mirrors / ".making").iterdir()) == []


def test_a_killed_clone_is_swept_up_by_the_next(
    origin: RepoBuilder, mirrors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha = origin.commit({"a": "1"})

    class KilledError(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(remote, "_update", killed)
        patched.setattr(shutil, "rmtree", lambda *_, **__: None)  # a killed process cleans nothing up
        with pytest.raises(KilledError):
            refresh(_registered(origin), mirrors)
    assert not (mirrors / "repo.git").exists()
    assert list((mirrors / ".making" / "repo").iterdir())
    assert _refreshed(origin, mirrors)[0] == sha
    assert not (mirrors / ".making" / "repo").exists()


@pytest.mark.parametrize("damage", ["HEAD", "HEAD.lock", "config", "packed-refs.lock", "objects"])
def test_a_mirror_that_cannot_be_updated_is_made_anew(origin: RepoBuilder, mirrors: Path, damage: str) -> None:
    origin.commit({"a": "1"})
    _refreshed(origin, mirrors)
    second = origin.commit({"a": "2"})
    hurt = mirrors / "repo.git" / damage
    if damage == "objects":
        for stored in hurt.rglob("*"):
            if stored.is_file():
                stored.chmod(0o644)
                stored.write_bytes(b"damaged")
    else:
        hurt.write_text("" if damage.endswith(".lock") else "damaged")
    assert _refreshed(origin, mirrors)[0] == second
    head = resolve_head(_registered(origin), mirrors)
    assert sum(batch.num_rows for batch in read_commits(mirrors / "repo.git", "repo", head)) == 2


def test_making_a_mirror_anew_is_reported(origin: RepoBuilder, mirrors: Path) -> None:
    origin.commit({"a": "1"})
    _refreshed(origin, mirrors)
    origin.commit({"a": "2"})
    (mirrors / "repo.git" / "HEAD.lock").write_text("")
    with collecting() as said:
        refresh(_registered(origin), mirrors)
    assert [d.message.partition(":")[0] for d in said if d.level == "warning"] == ["the mirror is made anew"]


def test_a_remote_that_does_not_answer_leaves_the_mirror_as_it_was(origin: RepoBuilder, mirrors: Path) -> None:
    sha, _ = origin.commit({"a": "1"}), _refreshed(origin, mirrors)
    origin.path.rename(origin.path.with_name("moved"))
    with pytest.raises(SourceError, match="stays as it was"):
        refresh(_registered(origin), mirrors)
    assert resolve_head(_registered(origin), mirrors).commit_sha == sha


def test_without_the_git_command_it_says_what_to_install(
    origin: RepoBuilder, mirrors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EnvironmentNotReadyError, match="no `git` command"):
        refresh(_registered(origin), mirrors)


def test_a_password_in_the_url_reaches_no_message(mirrors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    repository = registered("https://me:secret@127.0.0.1:1/r.git", kind="remote_git")
    with pytest.raises(SourceError) as failed, collecting() as said:
        refresh(repository, mirrors)
    assert "secret" not in f"{failed.value} {said}"
    assert "https://***@127.0.0.1:1/r.git" in failed.value.seen


def test_variables_of_a_git_hook_do_not_lead_into_another_repository(
    origin: RepoBuilder, mirrors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha = origin.commit({"a": "1"})
    bystander = RepoBuilder(tmp_path / "bystander")
    monkeypatch.setenv("GIT_DIR", str(bystander.path / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(bystander.path / ".git" / "objects"))
    refresh(_registered(origin), mirrors)
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_OBJECT_DIRECTORY")
    assert resolve_head(_registered(origin), mirrors).commit_sha == sha
    assert _references(bystander.path) == []
