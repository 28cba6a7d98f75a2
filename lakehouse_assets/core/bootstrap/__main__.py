"""The command behind `make setup`: make the environment, find Java, fetch Delta's JARs, write .env."""

import argparse
import fcntl
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from lakehouse_assets.core.bootstrap.machine import VENV, gather_facts, home_directory
from lakehouse_assets.core.bootstrap.perform import Performer, say
from lakehouse_assets.core.bootstrap.plan import plan_setup
from lakehouse_assets.core.errors import EnvironmentNotReadyError, LakehouseError
from lakehouse_assets.core.java import find_java


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m lakehouse_assets.core.bootstrap", description=__doc__)
    parser.add_argument("--dev", action="store_true", help="with the tools that `make test` needs")
    parser.add_argument("--browser", action="store_true", help="with a browser, for the tests of the UI")
    parser.add_argument("--dry-run", action="store_true", help="print the steps that are left, and do none")
    options = parser.parse_args(arguments)
    root = Path.cwd()
    try:
        if options.dry_run:
            for step in plan_setup(gather_facts(root, dev=options.dev, browser=options.browser)):
                say(str(step))
        else:
            set_up(root, dev=options.dev, browser=options.browser)
    except LakehouseError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    return 0


def set_up(root: Path, *, dev: bool, browser: bool) -> None:
    home = _made(home_directory(root, dict(os.environ)))
    with _alone(home / "setup.lock"):
        performer = Performer(root=root, log=home / "setup.log")
        performer.log.write_text("")
        for step in plan_setup(gather_facts(root, dev=dev, browser=browser)):
            performer.perform(step)
        java = find_java()
    say(f"environment: ready ({VENV}, Java {java.major} in {java.home}, state in {home})")


@contextmanager
def _alone(lock: Path) -> Generator[None, None, None]:
    """One set-up at a time; a second one waits, and then finds nothing left to do."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _made(home: Path) -> Path:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentNotReadyError(
            subject=f"LAKEHOUSE_HOME {home}",
            seen=str(error),
            why="the lake and Dagster's state live there",
            remedy="set LAKEHOUSE_HOME to a folder that can be written, and run `make setup` again",
        ) from error
    return home


if __name__ == "__main__":
    sys.exit(main())
