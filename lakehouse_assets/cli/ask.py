"""`lakehouse definitions`, `callers`, `callees`, `importers`, `references`: questions about a symbol."""

from typing import TYPE_CHECKING

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json, print_notes, print_rows
from lakehouse_assets.core.settings import load_settings

if TYPE_CHECKING:
    from lakehouse_assets.lake.questions import Question


def _question(name: "Question", summary: str) -> click.Command:
    @click.command(
        name, help=f"{summary}\n\nSYMBOL is a dotted name or the end of one: `Flask.run`, `flask.app.Flask`."
    )
    @click.argument("symbol")
    @click.option("--repo", shell_complete=repository_names, help="Only definitions of this repository.")
    @json_option
    def ask(symbol: str, repo: str | None, as_json: bool) -> None:
        from lakehouse_assets.lake.questions import questions
        from lakehouse_assets.lake.tables import Lake

        with questions(Lake(load_settings().lake)) as graph:
            rows = graph.ask(name, symbol, repo=repo)
            print_notes(graph.notes)
        if as_json:
            print_json(rows)
            return
        shown = ["where", "target" if name == "callees" else "source", "kind", "method", "confidence"]
        print_rows([{**row, "where": f"{row['repo']}:{row['path']}:{row['line']}"} for row in rows], shown)
        click.echo(f"{len(rows)} found", err=True)

    return ask


callers = _question("callers", "Who calls SYMBOL, in every repository.")
callees = _question("callees", "What SYMBOL calls, inside and outside the repositories.")
importers = _question("importers", "Who imports SYMBOL: a module, or a name in one.")
references = _question("references", "Who refers to SYMBOL in any way: by name, call, import or as a base.")


@click.command()
@click.argument("symbol")
@click.option("--repo", shell_complete=repository_names, help="Only this repository.")
@json_option
def definitions(symbol: str, repo: str | None, as_json: bool) -> None:
    """Where SYMBOL is defined, with its signature, in every repository.

    SYMBOL is a dotted name or the end of one: `Flask.run`, `flask.app.Flask`.
    """
    from lakehouse_assets.lake.questions import questions
    from lakehouse_assets.lake.tables import Lake

    with questions(Lake(load_settings().lake)) as graph:
        rows = graph.definitions(symbol, repo=repo)
        print_notes(() if repo else graph.notes)
    if as_json:
        print_json(rows)
        return
    shown = [{**row, "where": f"{row['repo']}:{row['path']}:{row['line']}"} for row in rows]
    print_rows(shown, ["where", "kind", "qualified_name", "signature"])
