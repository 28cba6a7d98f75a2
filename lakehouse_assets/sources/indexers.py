"""The indexers of others that write SCIP, run on a checkout of a commit where they are installed.

Nothing of the repository is run: indexers parse it. The checkout holds regular files only, no links and nothing that
git would read, in a folder that is gone afterwards. What the machine has installed has no part in the result, so that
it is the same everywhere.
"""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lakehouse_assets.core.diagnostics import phase, report
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.sources.objects import Objects
from lakehouse_assets.sources.paths import raw_path
from lakehouse_assets.sources.reads import Reading
from lakehouse_assets.sources.snapshot import read_snapshot

_LINES_TOLD = 5
_TOO_LONG_SECONDS = 3600


@dataclass(frozen=True, kw_only=True)
class Indexer:
    """A program that writes an index of the files of some languages."""

    name: str
    languages: frozenset[str]
    package: str
    arguments: Callable[[Reading, Path, Path], Sequence[str]]
    """From what is read, the index to write, and a folder for files of its own."""

    @property
    def program(self) -> str | None:
        """Where it is installed, if it is."""
        return shutil.which(self.name)

    @property
    def remedy(self) -> str:
        return f"install it with `npm install --global {self.package}`"


def _python_arguments(reading: Reading, output: Path, own: Path) -> list[str]:
    # Without this list of installed packages it would ask pip for the machine's.
    packages = own / "packages.json"
    packages.write_text("[]")
    # The version is part of every symbol: with the commit in it, each commit would change every document.
    return [
        *("index", ".", "--project-name", reading.repository.name, "--project-version", "."),
        *("--environment", str(packages), "--output", str(output), "--quiet"),
    ]


def _typescript_arguments(reading: Reading, output: Path, own: Path) -> list[str]:
    return ["index", "--infer-tsconfig", "--no-progress-bar", "--output", str(output)]


INDEXERS = (
    Indexer(
        name="scip-python",
        languages=frozenset({"Python"}),
        package="@sourcegraph/scip-python",
        arguments=_python_arguments,
    ),
    Indexer(
        name="scip-typescript",
        languages=frozenset({"TypeScript", "TSX", "JavaScript"}),
        package="@sourcegraph/scip-typescript",
        arguments=_typescript_arguments,
    ),
)


def check_out(reading: Reading, folder: Path) -> Counter[str]:
    """Write the regular files that the repository's settings keep; gives how many there are of each language."""
    objects = Objects(reading.git_dir, reading.repository.name)
    languages: Counter[str] = Counter()
    root = os.fsencode(folder.resolve())
    for batch in read_snapshot(reading.git_dir, reading.repository, reading.head):
        columns = (batch.column(name).to_pylist() for name in ("path", "blob_sha", "kind", "language"))
        for path, sha, kind, language in zip(*columns, strict=True):
            parts = raw_path(path).split(b"/")
            if kind not in ("file", "executable") or not all(map(_is_safe, parts)):
                continue
            place = os.path.join(root, *parts)  # noqa: PTH118  # names are bytes, which Path does not take
            os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
            with open(place, "wb") as file:  # noqa: PTH123
                file.write(objects.read(sha, "blob"))
            languages[language or ""] += 1
    return languages


def _is_safe(part: bytes) -> bool:
    """A tree's names are anyone's choice: some lead out of the folder, some mean something to git."""
    return part not in (b"", b".", b"..") and b"\x00" not in part and part.lower().rstrip(b". ") != b".git"


def run_indexer(indexer: Indexer, program: str, reading: Reading, checkout: Path, output: Path, own: Path) -> None:
    """Have the index of `checkout` written to `output`; refused with the indexer's own words if it fails."""
    command = [program, *indexer.arguments(reading, output, own)]
    log = own / f"{indexer.name}.log"
    with phase("indexers", reading.repository.name, indexer.name), log.open("wb") as out:
        try:
            done = subprocess.run(
                command,
                cwd=checkout,
                env=_environment(own),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=_TOO_LONG_SECONDS,
                check=False,
            )
            ended = f"it ended with code {done.returncode}"
        except subprocess.TimeoutExpired:
            ended = f"it was stopped after {_TOO_LONG_SECONDS} s"
            output.unlink(missing_ok=True)
    said = log.read_text(errors="replace").split("\n")
    report("indexers", reading.repository.name, ended, indexer=indexer.name)
    if ended != "it ended with code 0" or not output.exists():
        told = " / ".join([line.strip() for line in said if line.strip()][-_LINES_TOLD:])
        raise SourceError(
            subject=f"{indexer.name} on repository {reading.repository.name}",
            seen=f"{ended} and said: {told or 'nothing'}",
            why="without an index the scip tables stay as they were",
            remedy=f"try `{indexer.name} index` in a checkout of {reading.head.commit_sha[:12]} to see more",
        )


def _environment(own: Path) -> Mapping[str, str]:
    """What programs need to be found, and no more. Python must not import modules from the folder it is started in:
    scip-python asks it for its paths, in the checkout."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "NODE_OPTIONS") if name in os.environ}
    return {**kept, "HOME": str(own), "PYTHONSAFEPATH": "1"}
