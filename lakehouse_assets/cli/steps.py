"""`lakehouse steps`: the relational steps, what they mean, and since when."""

from typing import Any

import click

from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.core.settings import load_settings


@click.command()
@click.argument("step", required=False)
@json_option
def steps(step: str | None, as_json: bool) -> None:
    """List the relational steps, or show one: canonical SQL, column lineage, and the runs it changed in.

    No JVM, and no lake is needed; a step that no run has recorded yet is told without a run.
    """
    from lakehouse_assets.lake.plan_log import recorded
    from lakehouse_assets.lake.steps import STEPS, step_named
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.plan.step_analysis import analysis_of, lineage_of
    from lakehouse_assets.plan.step_page import step_page

    chosen = [step_named(step)] if step is not None else list(STEPS.values())
    runs: dict[str, list[Any]] = {}
    for each in recorded(Lake(load_settings().lake), step):
        runs.setdefault(each.step, []).append(each)
    rows: list[dict[str, Any]] = []
    for each in chosen:
        analysis = analysis_of(each)
        newest = runs[each.name][-1] if each.name in runs else None
        known = newest if newest is not None and newest.fingerprint == analysis.fingerprint else None
        rows.append(
            {
                "step": each.name,
                "fingerprint": analysis.fingerprint,
                "assets": list(each.assets),
                "reads": list(analysis.relations),
                "since": known.since if known else None,
                "run": known.run_id if known else None,
            }
        )
        if step is not None:
            rows[-1] |= {
                "sql": analysis.canonical,
                "lineage": {name: [".".join(s) for s in sources] for name, sources in lineage_of(each).items()},
                "tree": analysis.tree,
                "history": [
                    {"since": past.since, "run": past.run_id, "fingerprint": past.fingerprint}
                    for past in runs.get(each.name, [])
                ],
            }
    if as_json:
        print_json(rows if step is None else rows[0])
    elif step is None:
        shown = [{**row, "assets": ", ".join(row["assets"]), "reads": ", ".join(row["reads"])} for row in rows]
        print_rows(shown, list(shown[0]))
    else:
        click.echo(step_page(chosen[0]))
        if rows[0]["history"]:
            print_rows(rows[0]["history"], ["since", "run", "fingerprint"])
