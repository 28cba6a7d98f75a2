"""Find a Java that Spark 4 runs on, without starting anything that stays."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lakehouse_assets.core.errors import EnvironmentNotReadyError

SUPPORTED_MAJORS = (17, 21)
_STANDARD_PLACES = ("/usr/lib/jvm", "/usr/java", "/opt/java", "/Library/Java/JavaVirtualMachines")


@dataclass(frozen=True, kw_only=True)
class Java:
    home: Path
    major: int

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"


def find_java(environ: dict[str, str] | None = None) -> Java:
    """The first Java of a supported version: `JAVA_HOME`, then `PATH`, then the standard places."""
    env = dict(os.environ) if environ is None else environ
    seen: list[str] = []
    for home in _candidates(env):
        major = java_major(home)
        if major in SUPPORTED_MAJORS:
            return Java(home=home, major=major)
        seen.append(f"{home} (version {major if major else 'unknown'})")
    wanted = " or ".join(map(str, SUPPORTED_MAJORS))
    looked_at = ", ".join(seen) or "JAVA_HOME, PATH and the standard places"
    raise EnvironmentNotReadyError(
        subject="Java",
        seen=f"no Java {wanted} found; looked at {looked_at}",
        why="Spark runs on the JVM, and this Spark runs on these versions only",
        remedy="run `make setup` as root on Debian or Ubuntu, or install a JDK 17 and set JAVA_HOME to its folder",
    )


def java_major(home: Path) -> int | None:
    """The major version of the Java at `home`; from its release file, or by asking it."""
    executable = home / "bin" / "java"
    if not os.access(executable, os.X_OK):
        return None
    release = home / "release"
    text = release.read_text(errors="replace") if release.is_file() else _version_text(executable)
    found = re.search(r'(?:JAVA_VERSION=|version )"(\d+)(?:\.(\d+))?', text)
    if not found:
        return None
    major = int(found.group(1))
    return int(found.group(2) or 0) if major == 1 else major


def _candidates(env: dict[str, str]) -> Iterator[Path]:
    if env.get("JAVA_HOME"):
        yield Path(env["JAVA_HOME"])
    on_path = shutil.which("java", path=env.get("PATH", ""))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for place in _STANDARD_PLACES:
        for found in sorted(Path(place).glob("*")):
            yield found / "Contents" / "Home" if (found / "Contents" / "Home").is_dir() else found


def _version_text(executable: Path) -> str:
    return subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
