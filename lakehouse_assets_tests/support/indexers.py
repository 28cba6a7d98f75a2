"""Programs that stand in for the indexers: they write a prepared index, or fail."""

from pathlib import Path

import pytest


def install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, programs: dict[str, Path | str], *, beside: str = "/usr/bin:/bin"
) -> None:
    """Make these the only indexers on PATH: each copies the index it is given, or complains in these words."""
    folder.mkdir(exist_ok=True)
    for name, what in programs.items():
        program = folder / name
        if isinstance(what, Path):
            body = f"""
            for argument in "$@"; do
                [ "$before" = --output ] && cp '{what}' "$argument"
                before=$argument
            done
            find . -type f > '{folder}/{name}.files'
            """
        else:
            body = f"echo '{what}' >&2; exit 3"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{beside}")


def files_seen(folder: Path, name: str) -> set[str]:
    """The files that the program found where it was started."""
    return set((folder / f"{name}.files").read_text().split("\n")) - {""}
