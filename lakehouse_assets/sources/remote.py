"""A remote repository as a bare mirror of its branches, tags and HEAD, fetched with the `git` command.

The command and not libgit2, because it has the user's credentials, proxies and SSH set-up. The URL
is written into the mirror's configuration and never onto a command line, so it can neither be read
as an option nor be seen in a process list. A mirror is a cache: one that cannot be updated although
the remote answers (a stale lock, a damaged pack) is made anew.

Cost: one round trip when nothing moved, two when something did.
"""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pygit2

from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import EnvironmentNotReadyError, SourceError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.sources.location import redact_url
from lakehouse_assets.sources.objects import GIT_ERRORS, open_repository

_FOLLOWED = ("refs/heads/", "refs/tags/")
_DETACHED = "refs/lakehouse/head"
_STDERR_KEPT = 1000

_CONFIGURATION = (
    "core.hooksPath=/dev/null",  # a user's global hooks are not meant for our mirrors
    "gc.autoDetach=false",  # housekeeping ends before readers begin
    "maintenance.autoDetach=false",
    "http.lowSpeedLimit=1",  # a dead connection fails after two minutes instead of never
    "http.lowSpeedTime=120",
)
_LOCAL_VARIABLES = (  # set when we are called from a hook; they would point git at that repository
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)


@dataclass(frozen=True, kw_only=True)
class _Listing:
    """What the remote has: ids by reference, and where its HEAD points (a branch, or a commit when detached)."""

    references: dict[str, str]
    head_branch: str | None
    head_commit: str | None


def mirror_remote(repository: Repository, mirror: Path, *, making: Path) -> None:
    """Make `mirror` equal to the remote. New mirrors are built under `making`, on the same file system."""
    shutil.rmtree(making, ignore_errors=True)  # left by a killed run
    if _origin(mirror, repository.name) == repository.location:
        listing = _list_remote(repository, mirror)
        try:
            _update(repository, mirror, listing)
        except (SourceError, *GIT_ERRORS) as error:
            report("sources", repository.name, f"the mirror is made anew: {error}", level="warning")
        else:
            return
    making.mkdir(parents=True)
    try:
        fresh = Path(tempfile.mkdtemp(dir=making)) / mirror.name
        git = pygit2.init_repository(str(fresh), bare=True)
        git.config["remote.origin.url"] = repository.location
        _update(repository, fresh, _list_remote(repository, fresh))
        if mirror.exists():
            mirror.rename(making / "replaced")
        fresh.rename(mirror)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _origin(mirror: Path, name: str) -> str | None:
    """The URL a mirror was made from; None if there is none that can be used."""
    if not mirror.exists():
        return None
    try:
        config = open_repository(mirror, name).config
        return config["remote.origin.url"] if "remote.origin.url" in config else None  # noqa: SIM401 - no .get there
    except (SourceError, *GIT_ERRORS):
        return None


def _list_remote(repository: Repository, mirror: Path) -> _Listing:
    output = _git(repository, mirror, "ls-remote", "--symref", "origin", "HEAD", *(f"{p}*" for p in _FOLLOWED))
    references: dict[str, str] = {}
    head_branch = head_commit = None
    for line in output.split("\n"):
        value, _, reference = line.partition("\t")
        if reference == "HEAD":
            if value.startswith("ref: "):
                head_branch = value.removeprefix("ref: ")
            else:
                head_commit = value
        elif reference.startswith(_FOLLOWED) and not reference.endswith("^{}"):
            references[reference] = value
    return _Listing(references=references, head_branch=head_branch, head_commit=head_commit)


def _update(repository: Repository, mirror: Path, listing: _Listing) -> None:
    wanted = dict(listing.references)
    refspecs = [f"+{prefix}*:{prefix}*" for prefix in _FOLLOWED]
    if listing.head_commit and not listing.head_branch:
        wanted[_DETACHED] = listing.head_commit
        refspecs.append(f"+HEAD:{_DETACHED}")
    if _references(mirror, repository.name) != wanted:
        _git(repository, mirror, "fetch", "--quiet", "--prune", "--no-write-fetch-head", "--no-recurse-submodules",
             "origin", *refspecs)  # fmt: skip
    git = open_repository(mirror, repository.name)
    if listing.head_branch:
        git.set_head(listing.head_branch)
        if _DETACHED in git.references:
            git.references.delete(_DETACHED)
    elif _DETACHED in wanted:
        git.set_head(git.references[_DETACHED].target)


def _references(mirror: Path, name: str) -> dict[str, str]:
    git = open_repository(mirror, name)
    return {ref: str(git.references[ref].target) for ref in git.references if ref.startswith((*_FOLLOWED, _DETACHED))}


def _git(repository: Repository, mirror: Path, *arguments: str) -> str:
    """Run git in the mirror, where it can ask nobody anything; its output."""
    executable = shutil.which("git")
    if executable is None:
        raise EnvironmentNotReadyError(
            subject="git",
            seen="there is no `git` command on PATH",
            why=f"repository {repository.name} is fetched from {redact_url(repository.location)}",
            remedy="install git, or clone the repository elsewhere and register the path of the clone",
        )
    options = [part for setting in _CONFIGURATION for part in ("-c", setting)]
    environment = {key: value for key, value in os.environ.items() if key not in _LOCAL_VARIABLES}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh", "LC_ALL": "C"}
    done = subprocess.run(
        [executable, *options, f"--git-dir={mirror}", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        start_new_session=True,  # no terminal: ssh cannot ask for a passphrase or about a host key
        check=False,
    )
    if done.returncode != 0:
        said = redact_url(done.stderr.decode("utf-8", "replace").strip())
        raise SourceError(
            subject=f"repository {repository.name}",
            seen=f"git {arguments[0]} of {redact_url(repository.location)} failed ({done.returncode}): "
            + (said[-_STDERR_KEPT:] or "it said nothing"),
            why="the mirror stays as it was, and nothing newer can be read",
            remedy=f"see that `git ls-remote {redact_url(repository.location)}` works without asking for a password",
        )
    return done.stdout.decode("utf-8", "surrogateescape")
