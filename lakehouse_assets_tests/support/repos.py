"""Real git repositories for tests, with everything in them that git allows and people rarely make."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pygit2
from pygit2.enums import ObjectType

from lakehouse_assets.core.repository import Repository, RepositoryKind

FIRST_COMMIT_AT = 1_700_000_000

_FILE, _EXECUTABLE, _LINK, _SUBMODULE = b"100644", b"100755", b"120000", b"160000"


@dataclass(frozen=True)
class Executable:
    content: bytes


@dataclass(frozen=True)
class Link:
    target: bytes


@dataclass(frozen=True)
class Submodule:
    commit_sha: str


Change = str | bytes | Executable | Link | Submodule | None
"""A file's new content; None deletes it."""


def git(path: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    """Run the git command there, untouched by the machine's configuration; its output."""
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    people = {f"GIT_{who}_{what}": "test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    command = ["git", "-C", str(path), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=True, env=os.environ | own | people).stdout


def registered(
    location: Path | str, *, kind: RepositoryKind = "local_git", name: str = "repo", **settings
) -> Repository:
    return Repository(name=name, location=str(location), kind=kind, **settings)


class RepoBuilder:
    """A repository at `path`. Commits are made object by object: no index, no checkout, no rule against odd names."""

    def __init__(self, path: Path, *, bare: bool = False) -> None:
        self.path = path
        self.repository = pygit2.init_repository(str(path), bare=bare, initial_head="main")
        self._commits = 0

    def commit(
        self,
        changes: Mapping[str | bytes, Change],
        *,
        message: str | bytes = "change",
        branch: str | None = "main",
        parents: Sequence[str] | None = None,
        author: bytes = b"Ann <ann@example.org>",
        time: int | bytes | None = None,
        encoding: bytes | None = None,
    ) -> str:
        """Commit `changes` to the files of the first parent (default: the branch's tip) and move the branch."""
        before = self._tip(branch) if parents is None else list(parents)
        files = self._files(before[0]) if before else {}
        for path, change in changes.items():
            raw = path.encode() if isinstance(path, str) else path
            if change is None:
                del files[raw]
            else:
                files[raw] = self._entry(change)
        when = FIRST_COMMIT_AT + 60 * self._commits if time is None else time
        self._commits += 1
        stamp = b"%s +0100" % (when if isinstance(when, bytes) else str(when).encode())
        lines = [b"tree " + self.write_tree(files).encode(), *(b"parent " + parent.encode() for parent in before)]
        lines += [b"author %s %s" % (author, stamp), b"committer %s %s" % (author, stamp)]
        lines += [b"encoding " + encoding] if encoding else []
        text = message.encode() if isinstance(message, str) else message
        sha = str(self.repository.write(ObjectType.COMMIT, b"\n".join(lines) + b"\n\n" + text))
        if branch is not None:
            self.repository.references.create(f"refs/heads/{branch}", sha, force=True)
        return sha

    def merge(self, first: str, *others: str, branch: str = "main") -> str:
        return self.commit({}, message="merge", branch=branch, parents=[first, *others])

    def tag(self, name: str, sha: str, *, annotated: bool = False) -> None:
        target = sha
        if annotated:
            kind = pygit2.Repository(str(self.path))[sha].type_str
            body = f"object {sha}\ntype {kind}\ntag {name}\ntagger Ann <ann@example.org> 1700000000 +0000\n\ntagged\n"
            target = str(self.repository.write(ObjectType.TAG, body.encode()))
        self.repository.references.create(f"refs/tags/{name}", target)

    def detach(self, sha: str) -> None:
        (Path(self.repository.path) / "HEAD").write_text(f"{sha}\n")

    def tree_of(self, commit: str) -> str:
        return git(self.path, "rev-parse", f"{commit}^{{tree}}").decode().strip()

    def blob_of(self, commit: str, path: str) -> str:
        return git(self.path, "rev-parse", f"{commit}:{path}").decode().strip()

    def corrupt(self, sha: str) -> None:
        """Overwrite an object with what it is not."""
        stored = self._object_file(sha)
        stored.chmod(0o644)
        stored.write_bytes(b"not an object")

    @contextmanager
    def broken(self, sha: str) -> Iterator[None]:
        """The object is what it is not, until the scope ends."""
        stored = self._object_file(sha)
        whole = stored.read_bytes()
        self.corrupt(sha)
        yield
        stored.write_bytes(whole)

    def remove(self, sha: str) -> None:
        self._object_file(sha).unlink()

    def write_tree(self, files: Mapping[bytes, tuple[bytes, bytes]]) -> str:
        """Write the tree of `files`: path to mode and raw id."""
        entries: dict[bytes, tuple[bytes, bytes]] = {}
        below: dict[bytes, dict[bytes, tuple[bytes, bytes]]] = {}
        for path, entry in files.items():
            name, slash, rest = path.partition(b"/")
            if slash:
                below.setdefault(name, {})[rest] = entry
            else:
                entries[name] = entry
        for name, inner in below.items():
            entries[name] = (b"40000", bytes.fromhex(self.write_tree(inner)))
        return self.write_raw_tree([(mode, name, oid) for name, (mode, oid) in entries.items()])

    def write_raw_tree(self, entries: Sequence[tuple[bytes, bytes, bytes]]) -> str:
        """Write one tree of (mode, name, raw id), whatever the names are."""
        ordered = sorted(entries, key=lambda entry: entry[1] + b"/" if entry[0] == b"40000" else entry[1])
        data = b"".join(b"%s %s\x00%s" % entry for entry in ordered)
        return str(self.repository.write(ObjectType.TREE, data))

    def _entry(self, change: str | bytes | Executable | Link | Submodule) -> tuple[bytes, bytes]:
        match change:
            case Executable(content):
                return _EXECUTABLE, self.repository.create_blob(content).raw
            case Link(target):
                return _LINK, self.repository.create_blob(target).raw
            case Submodule(commit_sha):
                return _SUBMODULE, bytes.fromhex(commit_sha)
            case str():
                return _FILE, self.repository.create_blob(change.encode()).raw
            case bytes():
                return _FILE, self.repository.create_blob(change).raw

    def _tip(self, branch: str | None) -> list[str]:
        reference = self.repository.references.get(f"refs/heads/{branch}") if branch else None
        return [str(reference.target)] if reference else []

    def _files(self, commit: str) -> dict[bytes, tuple[bytes, bytes]]:
        files: dict[bytes, tuple[bytes, bytes]] = {}
        for line in git(self.path, "ls-tree", "-r", "-z", commit).split(b"\x00")[:-1]:
            facts, _, path = line.partition(b"\t")
            mode, _, sha = facts.split(b" ")
            files[path] = (mode, bytes.fromhex(sha.decode()))
        return files

    def _object_file(self, sha: str) -> Path:
        return Path(self.repository.path) / "objects" / sha[:2] / sha[2:]
