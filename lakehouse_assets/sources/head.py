"""Which commit a repository stands at: the cursor of everything that is read from it.

Read with libgit2 alone, without starting a process, since it is all that an update without changes does.
"""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

import pygit2

from lakehouse_assets.core.errors import BadInputError, LakehouseError, SourceError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.sources.directory import TAKEN_TREES, TREE_REFERENCE
from lakehouse_assets.sources.mirror import git_directory
from lakehouse_assets.sources.objects import GIT_ERRORS, Objects, shallow_boundary, unreadable
from lakehouse_assets.sources.trees import tree_of_commit

_FULL_ID = re.compile(r"[0-9a-f]{40}")
_ABBREVIATION = re.compile(r"[0-9a-f]{4,39}")
_OBJECT_OF_TAG = re.compile(rb"object ([0-9a-f]{40})\n")
_PLACES = ("refs/heads/", "refs/tags/", "refs/remotes/")
_NAMES_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Head:
    """A commit, its root tree, and the name it was found by. For a plain directory both ids are the tree's."""

    commit_sha: str
    tree_sha: str
    ref: str
    boundary: str = ""
    """Fingerprint of where a shallow clone is cut off, which decides how much history there is; empty without one."""

    @property
    def is_directory(self) -> bool:
        """No commit's id is its tree's id, so equal ids mean a plain directory."""
        return self.commit_sha == self.tree_sha


def resolve_head(repository: Repository, mirrors: Path, to: str | None = None) -> Head:
    """The commit of `to`, of the ref the repository follows, or of its HEAD: the first that is given."""
    objects = Objects(git_directory(repository, mirrors), repository.name)
    if repository.kind == "directory":
        return _directory_head(repository, objects.git, to)
    wanted = repository.ref if to is None else to
    if wanted is None or wanted in ("HEAD", "@"):
        return _current(objects)
    # A name that is not text cannot be stored, so it is never one that is followed.
    sha = _named(repository.name, objects.git, wanted) if _shown(wanted) == wanted else None
    if sha is None:
        raise _missing(repository.name, objects.git, wanted, given=to is not None)
    return _head(objects, sha, wanted)


def _current(objects: Objects) -> Head:
    git = objects.git
    try:
        if git.head_is_unborn:
            raise _unborn(objects.name, git)
        sha = str(git.head.target)
        shown = "HEAD (detached)" if git.head_is_detached else _shown(git.head.shorthand)
    except GIT_ERRORS as error:
        raise unreadable(objects.name, "HEAD", error) from error
    return _head(objects, sha, shown)


def _named(name: str, git: pygit2.Repository, wanted: str) -> str | None:
    """Id of what a full or abbreviated id, a reference, or a revision such as `main~2` means; None if none does.

    A name that branches and tags use for different commits is refused: following either would be a guess.
    """
    try:
        if _FULL_ID.fullmatch(wanted) and wanted in git:
            return wanted
        targets = {
            reference.name: reference.resolve().target
            for place in ("", "refs/", *_PLACES)
            if (reference := _lookup(git, place + wanted)) is not None
        }
        if len(set(targets.values())) > 1:
            raise BadInputError(
                subject=f"ref {wanted!r} of repository {name}",
                seen=f"it names different commits: {', '.join(map(_shown, targets))}",
                why="following one of them would be a guess",
                remedy="write the full name of the one that is meant",
            )
        if targets:
            return str(next(iter(targets.values())))
        return str(git.expand_id(wanted) if _ABBREVIATION.fullmatch(wanted) else git.revparse_single(wanted).id)
    except pygit2.AmbiguousError as error:
        raise BadInputError(
            subject=f"ref {wanted!r} of repository {name}",
            seen="more than one object's id begins like this, or it has fewer than four digits",
            why="it does not say which commit is meant",
            remedy="give more digits of the commit's id",
        ) from error
    except (pygit2.NotFoundError, pygit2.InvalidSpecError):
        return None
    except GIT_ERRORS as error:
        raise unreadable(name, f"ref {wanted}", error) from error


def _lookup(git: pygit2.Repository, full_name: str) -> pygit2.Reference | None:
    try:
        return git.lookup_reference(full_name)
    except (pygit2.NotFoundError, pygit2.InvalidSpecError):
        return None


def _head(objects: Objects, sha: str, shown: str) -> Head:
    """The commit of this id, or that it tags, however many tags deep.

    Only the lines needed are parsed: libgit2 refuses commits with odd authors, which git reads.
    """
    kind, data = objects.read_any(sha)
    while kind == "tag" and (tagged := _OBJECT_OF_TAG.match(data)):
        sha = tagged.group(1).decode()
        kind, data = objects.read_any(sha)
    if kind != "commit":
        raise BadInputError(
            subject=f"ref {shown!r} of repository {objects.name}",
            seen=f"it leads to a {kind}, not to a commit",
            why="rows are read from a commit",
            remedy="name a branch, a tag of a commit, or a commit",
        )
    tree = tree_of_commit(data)
    if tree is None:
        raise unreadable(objects.name, f"commit {sha}", "it names no tree")
    return Head(commit_sha=sha, tree_sha=tree, ref=shown, boundary=_boundary_of(objects))


def _boundary_of(objects: Objects) -> str:
    boundary = shallow_boundary(objects)
    return fingerprint(sorted(boundary)) if boundary else ""


def _directory_head(repository: Repository, git: pygit2.Repository, to: str | None) -> Head:
    try:
        tree = str(git.lookup_reference(TREE_REFERENCE).target)
    except GIT_ERRORS as error:
        raise unreadable(repository.name, "the stored tree of the directory", error) from error
    wanted = repository.ref if to is None else to
    if wanted is not None and wanted != tree:
        if not _FULL_ID.fullmatch(wanted) or _lookup(git, f"{TAKEN_TREES}{wanted}") is None:
            raise BadInputError(
                subject=f"ref {wanted!r} of repository {repository.name}",
                seen=f"{repository.location} is a plain directory; its state is {tree}, and this one was never taken",
                why="a directory has no history to go to",
                remedy="leave the ref out, or make the directory a git repository",
            )
        tree = wanted
    return Head(commit_sha=tree, tree_sha=tree, ref="directory")


def _unborn(name: str, git: pygit2.Repository) -> SourceError:
    branches = [_shown(branch) for branch in git.listall_branches()]
    points_at = _shown(str(git.lookup_reference("HEAD").target))
    return SourceError(
        subject=f"repository {name}",
        seen=f"HEAD points at {points_at}, which does not exist"
        + (f"; the branches are {', '.join(branches[:_NAMES_SHOWN])}" if branches else ", and there are no branches"),
        why="without a commit there is nothing to read",
        remedy="follow one of the branches (`--ref`)" if branches else "commit something first",
    )


def _missing(name: str, git: pygit2.Repository, wanted: str, *, given: bool) -> LakehouseError:
    """Bad input where somebody just gave the ref; the source's fault where the ref was followed before."""
    names = sorted({_short(reference) for reference in git.listall_references()})
    near = difflib.get_close_matches(wanted, names, n=_NAMES_SHOWN, cutoff=0.5)
    near += [known for known in names if known.endswith(f"/{wanted}") and known not in near]
    kind = BadInputError if given else SourceError
    return kind(
        subject=f"ref {wanted!r} of repository {name}",
        seen="there is no branch, tag or commit of this name"
        + (f"; near it are {', '.join(near[: 2 * _NAMES_SHOWN])}" if near else ""),
        why="the commit to read is unknown",
        remedy="choose a name that `git branch --all` or `git tag` shows there, or a commit's id",
    )


def _short(reference: str) -> str:
    for place in _PLACES:
        if reference.startswith(place):
            return _shown(reference.removeprefix(place))
    return _shown(reference)


def _shown(name: str) -> str:
    """Git's names are bytes; those that are not UTF-8 arrive as lone surrogates, which nothing can print."""
    return name.encode("utf-8", "backslashreplace").decode()
