"""Entry point: the verbs by name, and errors as people read them."""

import importlib
import json
import os
import sys
from typing import Any

import click

from lakehouse_assets import __version__
from lakehouse_assets.cli.verb_groups import GROUPS, epilog
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.text import visible_lines

_VERBS = {
    "repo": "lakehouse_assets.cli.repo:repo",
    "sync": "lakehouse_assets.cli.sync:sync",
    "backfill": "lakehouse_assets.cli.backfill:backfill",
    "activity": "lakehouse_assets.cli.activity:activity",
    "status": "lakehouse_assets.cli.status:status",
    "story": "lakehouse_assets.cli.story:story",
    "run-diff": "lakehouse_assets.cli.compare:run_diff",
    "delta-diff": "lakehouse_assets.cli.compare:delta_diff",
    "verify": "lakehouse_assets.cli.verify:verify",
    "replay": "lakehouse_assets.cli.replay:replay",
    "definitions": "lakehouse_assets.cli.ask:definitions",
    "callers": "lakehouse_assets.cli.ask:callers",
    "callees": "lakehouse_assets.cli.ask:callees",
    "importers": "lakehouse_assets.cli.ask:importers",
    "references": "lakehouse_assets.cli.ask:references",
    "explore": "lakehouse_assets.cli.explore:explore",
    "mcp": "lakehouse_assets.cli.mcp:mcp",
    "diff": "lakehouse_assets.cli.diff:diff",
    "history": "lakehouse_assets.cli.history:history",
    "impact": "lakehouse_assets.cli.impact:impact",
    "env": "lakehouse_assets.cli.env:env",
    "plan": "lakehouse_assets.cli.apply:plan",
    "apply": "lakehouse_assets.cli.apply:apply",
    "promote": "lakehouse_assets.cli.apply:promote",
    "rollback": "lakehouse_assets.cli.apply:rollback",
    "models": "lakehouse_assets.cli.models:models",
    "table-diff": "lakehouse_assets.cli.table_diff:table_diff",
    "sql": "lakehouse_assets.cli.sql:sql",
    "tables": "lakehouse_assets.cli.tables:tables",
    "versions": "lakehouse_assets.cli.pin:versions",
    "pin": "lakehouse_assets.cli.pin:pin",
    "unpin": "lakehouse_assets.cli.pin:unpin",
    "optimize": "lakehouse_assets.cli.optimize:optimize",
    "vacuum": "lakehouse_assets.cli.vacuum:vacuum",
    "gc": "lakehouse_assets.cli.gc:gc",
    "steps": "lakehouse_assets.cli.steps:steps",
    "plan-write": "lakehouse_assets.cli.plan_write:plan_write",
    "new": "lakehouse_assets.cli.new:new",
    "ingest": "lakehouse_assets.cli.ingest:ingest",
    "deliver": "lakehouse_assets.cli.ingest:deliver",
    "marks": "lakehouse_assets.cli.marks:marks",
    "stream": "lakehouse_assets.cli.stream:stream",
    "scip": "lakehouse_assets.cli.scip:scip",
    "export": "lakehouse_assets.cli.export:export",
    "publish": "lakehouse_assets.cli.publish:publish",
    "up": "lakehouse_assets.cli.up:up",
    "completion": "lakehouse_assets.cli.completion:completion",
    "server": "lakehouse_assets.cli.server:server",
    "doctor": "lakehouse_assets.cli.doctor:doctor",
    "demo": "lakehouse_assets.cli.demo:demo",
}


class _LazyGroup(click.Group):
    """Loads a verb's module only when that verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        module, _, attribute = _VERBS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        _add_examples(cmd_name, command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs by purpose, without loading any."""
        widest = max(map(len, _VERBS))
        for title, verbs in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), told) for name, told in verbs.items()])


def _add_examples(name: str, command: click.Command) -> None:
    command.epilog = command.epilog or epilog(name)
    for child, inner in command.commands.items() if isinstance(command, click.Group) else ():
        _add_examples(f"{name} {child}", inner)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lakehouse")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Keep a code property graph of git repositories in Delta Lake tables, always fresh.

    The lake lives in LAKEHOUSE_HOME (default: .lakehouse in the project). Results go to standard output, progress and
    errors to standard error. Exit codes: 0 done, 1 refused or failed, 2 wrong command line.

    \b
    Examples:
      lakehouse repo add flask https://github.com/pallets/flask
      lakehouse sync --all
      lakehouse callers url_for
      lakehouse up
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main() -> None:
    """Run the command; an error of ours is told without a traceback unless --debug asks for it."""
    try:
        cli(standalone_mode=True)
    except LakehouseError as error:
        if "--debug" in sys.argv:
            raise
        print_error(error, as_json="--json" in sys.argv)
        sys.exit(1)
    except Exception as error:
        from lakehouse_assets.lake.causes import cause_of

        # Dagster's storage, DuckDB and others raise errors of many kinds for a disk that is full or may not be written.
        ours = cause_of(str(getattr(error, "filename", None) or "the lake"), str(error))
        if ours is None or "--debug" in sys.argv:
            raise
        print_error(ours, as_json="--json" in sys.argv)
        sys.exit(1)


def print_error(error: LakehouseError, *, as_json: bool) -> None:
    if as_json:
        parts: dict[str, Any] = {
            "subject": error.subject,
            "seen": error.seen,
            "why": error.why,
            "remedy": error.remedy,
        }
        click.echo(json.dumps({"error": parts}), err=True)
        return
    # It may name files of a repository, and those may steer a terminal.
    click.secho(visible_lines(f"{error.subject}: {error.seen}."), err=True, fg="red")
    click.echo(visible_lines(f"  why it matters: {error.why}"), err=True)
    click.echo(visible_lines(f"  what to do:     {error.remedy}"), err=True)
