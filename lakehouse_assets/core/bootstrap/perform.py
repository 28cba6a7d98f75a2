"""Do the steps of a plan. What programs print goes to a log; its end is shown when one of them fails."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from lakehouse_assets.core.bootstrap.machine import ENV_FILE, STAMP, VENV
from lakehouse_assets.core.bootstrap.plan import (
    INTERRUPTED,
    InstallPackages,
    InstallProject,
    MakeEnvironment,
    ResolveJars,
    Step,
    WriteEnvFile,
    dotted,
)
from lakehouse_assets.core.errors import EnvironmentNotReadyError

_TAIL_LINES = 20
_APT = ("apt-get", "-o", "DPkg::Lock::Timeout=300")
_APT_LISTS = Path("/var/lib/apt/lists")


@dataclass(frozen=True, kw_only=True)
class Performer:
    root: Path
    log: Path

    def perform(self, step: Step) -> None:
        match step:
            case InstallPackages():
                self._install_packages(step)
            case MakeEnvironment():
                self._make_environment(step)
            case InstallProject():
                self._install_project(step)
            case WriteEnvFile():
                replace_text(self.root / ENV_FILE, step.text)
            case ResolveJars():
                self._resolve_jars()
            case _:
                assert_never(step)

    @property
    def _python(self) -> str:
        return str(self.root / VENV / "bin" / "python")

    def _install_packages(self, step: InstallPackages) -> None:
        updated = not any(_APT_LISTS.glob("*_Packages*"))
        if updated:
            say("packages: reading the lists")
            self._run("the lists of packages", [*_APT, "update"])
        names = self._existing(step.wanted)
        say(f"packages: installing {', '.join(names)}")
        install = [*_APT, "install", "--yes", "--no-install-recommends", *names]
        if not updated and self._status(install) == 0:
            return
        if not updated:
            self._run("the lists of packages", [*_APT, "update"])
        self._run(f"packages {', '.join(names)}", install)

    def _existing(self, wanted: tuple[tuple[str, ...], ...]) -> list[str]:
        """Of each entry the first that the distribution has; the first of all if none, so that apt-get says so."""
        return [
            next((name for name in names if self._status(["apt-cache", "show", name]) == 0), names[0])
            for names in wanted
        ]

    def _make_environment(self, step: MakeEnvironment) -> None:
        interpreter = step.interpreter
        say(f"environment: making {VENV} with Python {dotted(interpreter.version)} ({step.reason})")
        folder = self.root / VENV
        if folder.is_symlink() and not folder.exists():
            folder.unlink()
        if folder.exists() and not folder.is_dir():
            folder.unlink()
        self._run(f"environment {folder}", [str(interpreter.executable), "-m", "venv", "--clear", str(folder)])

    def _install_project(self, step: InstallProject) -> None:
        say(f"environment: installing packages (minutes, the first time; {self.log} tells how far it is)")
        stamp = self.root / VENV / STAMP
        replace_text(stamp, INTERRUPTED)
        project = f"{self.root}[{','.join(step.extras)}]" if step.extras else str(self.root)
        pip = [self._python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
        self._run("the project's packages", [*pip, "-c", str(self.root / "constraints.txt"), "-e", project])
        # pip compiles what it installs, but not a project that stays where it is; where Python is told to keep no
        # compiled code, every start of the command would pay for that.
        self._run("the project's compiled code", [self._python, "-m", "compileall", "-q", "lakehouse_assets"])
        replace_text(stamp, step.stamp)

    def _resolve_jars(self) -> None:
        self._run("Delta's JARs", [self._python, "-m", "lakehouse_assets.lake.jars"])

    def _status(self, command: Sequence[str]) -> int:
        env = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "PYTHONUNBUFFERED": "1"}
        with self.log.open("ab") as log:
            log.write(f"\n$ {' '.join(command)}\n".encode())
            log.flush()
            done = subprocess.run(
                command, cwd=self.root, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
            )
        return done.returncode

    def _run(self, subject: str, command: Sequence[str]) -> None:
        start = self.log.stat().st_size if self.log.exists() else 0
        status = self._status(command)
        if status == 0:
            return
        with self.log.open("rb") as log:
            log.seek(start)
            output = log.read().decode(errors="replace")
        last = "\n".join(output.rstrip().splitlines()[-_TAIL_LINES:])
        raise EnvironmentNotReadyError(
            subject=subject,
            seen=f"{Path(command[0]).name} ended with status {status}. Its last words:\n{last}\n",
            why="set-up stopped there, and the next one goes on from there",
            remedy=f"see {self.log}, mend what it tells, and run `make setup` again",
        )


def say(line: str) -> None:
    print(line, flush=True)


def replace_text(path: Path, text: str) -> None:
    """Write as a whole or not at all."""
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    partial.write_text(text)
    partial.replace(path)
