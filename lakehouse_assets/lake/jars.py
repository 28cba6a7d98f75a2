"""JARs, resolved once by Spark's own Ivy and kept: asking Ivy again at each session start costs seconds.

Invariant: the folder of a set of JARs is whole or not there. It is filled under another name inside the
cache and renamed when every JAR in it opens; of two processes that do so at once, the first one's folder stays.
"""

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from lakehouse_assets.core.errors import EnvironmentNotReadyError, LakehouseError
from lakehouse_assets.core.java import find_java
from lakehouse_assets.core.overlays import read_overlay
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.jar_sets import JarSet, delta_set, store_set

_MANIFEST = "manifest.json"
_PARTIAL = ".resolving-"
_TIMEOUT_SECONDS = 600
_ABANDONED_AFTER_SECONDS = 24 * 3600
_TAIL_LINES = 15


def cache_directory(environ: dict[str, str] | None = None) -> Path:
    """`LAKEHOUSE_CACHE`, else `lakehouse_assets` in the user's cache folder."""
    given = dict(os.environ) if environ is None else environ
    env = read_overlay(given).under(given)
    if env.get("LAKEHOUSE_CACHE"):
        return Path(env["LAKEHOUSE_CACHE"]).expanduser().absolute()
    if env.get("XDG_CACHE_HOME"):
        return Path(env["XDG_CACHE_HOME"]).expanduser().absolute() / "lakehouse_assets"
    return Path("~/.cache/lakehouse_assets").expanduser()


def jar_directory(environ: dict[str, str] | None = None, jars: JarSet | None = None) -> Path:
    return cache_directory(environ) / "jars" / (jars or delta_set()).coordinates.replace(":", "_")


def lake_jars(settings: Settings) -> list[Path]:
    """What Spark needs for this lake. What a store takes, some of it large, comes when it is first needed."""
    store = store_set(settings)
    return [*delta_jars(), *(resolve_jars(jars=store) if store else ())]


def delta_jars(environ: dict[str, str] | None = None) -> list[Path]:
    """Delta's JARs from the cache; refused when one is missing or cut short."""
    return kept_jars(environ, delta_set())


def kept_jars(environ: dict[str, str] | None, jars: JarSet) -> list[Path]:
    """JARs from the cache; refused when one is missing or cut short."""
    folder = jar_directory(environ, jars)
    fault = _fault(folder, jars)
    if fault is None:
        return [folder / name for name in jars.names]
    raise EnvironmentNotReadyError(
        subject=f"{jars.title} in {folder}",
        seen=fault,
        why=f"{jars.serves} without all of them",
        remedy="run `make setup`",
    )


def resolve_jars(environ: dict[str, str] | None = None, jars: JarSet | None = None) -> list[Path]:
    """Download JARs unless the cache has them, and return them; by default Delta's."""
    jars = jars or delta_set()
    env = dict(os.environ) if environ is None else environ
    folder = jar_directory(env, jars)
    if _fault(folder, jars) is None:
        return kept_jars(env, jars)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _drop_abandoned(folder.parent)
        with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=folder.parent) as partial:
            finished = _collect(_ask_ivy(Path(partial), env, jars), Path(partial) / "finished", jars)
            _put_in_place(finished, folder, jars)
    except OSError as error:
        raise EnvironmentNotReadyError(
            subject=f"cache {folder.parent}",
            seen=str(error),
            why=f"{jars.title} are kept there",
            remedy="make room or make it writable, or set LAKEHOUSE_CACHE to another folder, then run `make setup`",
        ) from error
    return kept_jars(env, jars)


def _fault(folder: Path, jars: JarSet) -> str | None:
    """What keeps the folder from being used; None if nothing does."""
    manifest = folder / _MANIFEST
    if not manifest.is_file():
        return "they were not resolved yet"
    try:
        sizes: dict[str, int] = json.loads(manifest.read_text())
    except ValueError:
        return f"{_MANIFEST} cannot be read"
    for name in jars.names:
        jar = folder / name
        if name not in sizes or not jar.is_file():
            return f"{name} is missing"
        if jar.stat().st_size != sizes[name]:
            return f"{name} has {jar.stat().st_size} bytes instead of {sizes[name]}"
    return None


def _ask_ivy(partial: Path, env: dict[str, str], jars: JarSet) -> Path:
    """Let `spark-submit` resolve the coordinates for an empty script; return the folder with what it retrieved."""
    spark = _spark_home()
    ivy = partial / "ivy"
    script = partial / "empty.py"
    script.write_text("")
    command = [
        *(str(spark / "bin" / "spark-submit"), "--master", "local[1]"),
        *("--conf", f"spark.jars.ivy={ivy}", "--conf", "spark.ui.enabled=false"),
        *("--packages", jars.coordinates, "--exclude-packages", ",".join(jars.excluded)),
        str(script),
    ]
    surroundings = env | {
        "JAVA_HOME": str(find_java(env).home),
        "SPARK_HOME": str(spark),
        "SPARK_LOCAL_IP": "127.0.0.1",  # a host whose own name does not resolve is no obstacle
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    code, output = _run(command, surroundings, jars)
    if code != 0:
        raise _unresolved(
            jars, f"Ivy did not resolve {jars.coordinates} (exit status {code}). Its last words:\n{_tail(output)}"
        )
    return ivy / "jars"


def _run(command: list[str], env: dict[str, str], jars: JarSet) -> tuple[int, str]:
    """Run in a process group of its own, and leave none of it behind."""
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise _unresolved(jars, f"Ivy did not resolve {jars.coordinates} within {_TIMEOUT_SECONDS} seconds") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode, output


def _collect(retrieved: Path, finished: Path, jars: JarSet) -> Path:
    """Move the needed JARs into `finished`, with a manifest of their sizes, if each of them opens."""
    finished.mkdir()
    sizes: dict[str, int] = {}
    for name in jars.names:
        jar = retrieved / name
        if not jar.is_file():
            raise _unresolved(jars, f"Ivy retrieved {jars.coordinates} without {name}")
        if not zipfile.is_zipfile(jar):
            raise _unresolved(jars, f"{name} as retrieved is not a JAR")
        sizes[name] = jar.stat().st_size
        jar.rename(finished / name)
    (finished / _MANIFEST).write_text(json.dumps(sizes, indent=1))
    return finished


def _put_in_place(finished: Path, folder: Path, jars: JarSet) -> None:
    """Rename into place. A whole folder that another process put there stays; a faulty one makes room."""
    if folder.exists() and _fault(folder, jars) is not None:
        folder.rename(finished.with_name("faulty"))
    try:
        finished.rename(folder)
    except OSError:
        if _fault(folder, jars) is not None:
            raise


def _drop_abandoned(parent: Path) -> None:
    """Remove what a killed process left behind, once nobody can be at work in it."""
    for leftover in parent.glob(f"{_PARTIAL}*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - leftover.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
                shutil.rmtree(leftover, ignore_errors=True)


def _spark_home() -> Path:
    """Where pyspark is, without importing it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise EnvironmentNotReadyError(
            subject="pyspark",
            seen=f"{sys.executable} does not have it",
            why="its Ivy resolves Delta's JARs",
            remedy="run `make setup`",
        )
    return Path(spec.origin).parent


def _unresolved(jars: JarSet, seen: str) -> EnvironmentNotReadyError:
    return EnvironmentNotReadyError(
        subject=jars.title,
        seen=seen,
        why=f"{jars.serves} without them, and nothing was kept",
        remedy="check that Maven Central can be reached (behind a mirror, set DEFAULT_ARTIFACT_REPOSITORY to it) "
        f"and run {'`make setup`' if jars is delta_set() else 'it'} again",
    )


def _tail(output: str) -> str:
    """The last lines that say something: neither empty nor a frame of Java's stack."""
    telling = [line for line in output.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    return "\n".join(telling[-_TAIL_LINES:])


def main() -> int:
    try:
        jars = resolve_jars()
    except LakehouseError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(jars)} JARs in {jars[0].parent}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
