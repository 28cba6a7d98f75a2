"""Real code to measure on: a repository that the environment names, or a pinned release from the package registry."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

RELEASES = {"django": "5.2.8", "flask": "3.1.2"}


def given(name: str) -> str | None:
    """The repository that the environment names. A release has a third of its files: the tests are not part of it."""
    return os.environ.get(f"LAKEHOUSE_BENCH_{name.upper()}")


def repository(name: str, folder: Path) -> Path:
    """A clone of LAKEHOUSE_BENCH_<NAME>, or a repository made of the release's wheel."""
    target = folder / name
    if source := given(name):
        subprocess.run(["git", "clone", "-q", source, str(target)], check=True)
    else:
        _from_release(name, folder / "wheels", target)
    for key, value in (("user.name", "bench"), ("user.email", "bench@example.org")):
        subprocess.run(["git", "-C", str(target), "config", key, value], check=True)
    return target


def commit(path: Path, message: str) -> None:
    """Commit what was changed; an edit that made its own commit leaves nothing to do."""
    subprocess.run(["git", "-C", str(path), "add", "--all"], check=True)
    if subprocess.run(["git", "-C", str(path), "diff", "--cached", "--quiet"], check=False).returncode:
        subprocess.run(["git", "-C", str(path), "commit", "-q", "-m", message], check=True)


def _from_release(name: str, wheels: Path, target: Path) -> None:
    wanted = f"{name}=={RELEASES[name]}"
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(wheels), wanted]
    subprocess.run(pip, check=True)
    target.mkdir()
    with zipfile.ZipFile(next(wheels.glob(f"{name}-*.whl"))) as wheel:
        wheel.extractall(target)
    subprocess.run(["git", "init", "-q", "-b", "main", str(target)], check=True)
    people = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run(["git", "-C", str(target), "add", "--all"], check=True)
    subprocess.run(["git", "-C", str(target), *people, "commit", "-q", "-m", wanted], check=True)
