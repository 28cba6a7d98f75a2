"""The `lakehouse` command as a user runs it: in this process, or as one of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from lakehouse_assets.cli.main import cli
from lakehouse_assets.core.settings import Settings

LAKEHOUSE = Path(sys.executable).parent / "lakehouse"


def lakehouse(*arguments: str) -> Result:
    """Run the command in this process, so that it shares the suite's Spark session; an error of ours is raised."""
    return CliRunner().invoke(cli, list(arguments), catch_exceptions=False)


def lakehouse_json(*arguments: str) -> Any:
    result = lakehouse(*arguments, "--json")
    return json.loads(result.stdout)


def spawn(settings: Settings, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    env = os.environ | {"LAKEHOUSE_HOME": str(settings.home)} | environ
    command = [str(LAKEHOUSE), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=900, check=False)


def at_once(commands: Sequence[tuple[Sequence[str], Mapping[str, str]]]) -> list[subprocess.CompletedProcess[str]]:
    """Run commands at the same time, each with an environment of its own."""
    running = [
        subprocess.Popen(
            [str(LAKEHOUSE), *words],
            env=os.environ | dict(environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for words, environ in commands
    ]
    ends = [process.communicate(timeout=900) for process in running]
    return [
        subprocess.CompletedProcess(process.args, process.returncode, *said)
        for process, said in zip(running, ends, strict=True)
    ]


def without_java(tmp_path: Path) -> dict[str, str]:
    """An environment in which starting any Java leaves a trace at `tmp_path/java-was-started`, and fails."""
    bin_folder = tmp_path / "no-java" / "bin"
    bin_folder.mkdir(parents=True)
    java = bin_folder / "java"
    java.write_text(f"#!/bin/sh\necho started >> '{tmp_path}/java-was-started'\nexit 1\n")
    java.chmod(0o755)
    (bin_folder.parent / "release").write_text('JAVA_VERSION="17.0.1"\n')
    return {"JAVA_HOME": str(bin_folder.parent), "PATH": f"{bin_folder}:{os.environ['PATH']}"}


def java_was_started(tmp_path: Path) -> bool:
    return (tmp_path / "java-was-started").exists()
