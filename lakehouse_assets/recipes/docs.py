"""`docs/tables.md` and the README's graph, from contracts and recipes: `python -m lakehouse_assets.recipes.docs` prints
the page, and with `README.md` behind it that file with its graph."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.recipes.recipe import Recipe

_GRAPH = re.compile(r"(?<=```mermaid\n).*?(?=```)", re.DOTALL)
_BEFORE = ("registry[(repositories)] --> commits", "git[(git)] --> commits")
_BEHIND = (
    'linking & diffs & definitions & snapshots & nodes & commit_files --> models["SQL models, in environments"]',
    'graph_versions -. "each write" .-> artifacts[(materializations, writes, quarantine)]',
)
"""What is before and behind the steps that have recipes."""


def tables_page() -> str:
    """Every table with its key, partitions and columns, as Markdown."""
    parts = [
        "# Tables",
        "",
        "Written from contracts and recipes by `make docs`; edit `lakehouse_assets/contracts/` and "
        "`lakehouse_assets/recipes/`, not this page.",
        "",
        *(f"- [{contract.name}](#{contract.name}): {contract.description}" for contract in CATALOG.values()),
    ]
    for contract in CATALOG.values():
        parts += ["", *_section(contract)]
    return "\n".join(parts) + "\n"


def _section(contract: TableContract) -> list[str]:
    facts = [f"Key: {_names(contract.key)}."]
    if contract.owner:
        facts.append(f"Owner: `{contract.owner}`.")
    if contract.partition_by:
        facts.append(f"Partitioned by {_names(contract.partition_by)}.")
    return [
        f"## {contract.name}",
        "",
        contract.description,
        "",
        " ".join(facts),
        *(["", " ".join(_made(RECIPES[contract.name]))] if contract.name in RECIPES else []),
        "",
        "| column | type | description |",
        "|---|---|---|",
        *(f"| `{column.name}` | {_type(column)} | {_description(column)} |" for column in contract.columns),
    ]


def _made(recipe: Recipe) -> list[str]:
    """How the table is made."""
    where = ("on Spark in builds, in small updates " if recipe.on_spark else "") + "in the run's process"
    others = ", and what was read of other repositories" if recipe.neighbours else ""
    told = {
        "Stale when these differ": recipe.inputs,
        "Read as well, and has to be up to date": recipe.also,
        "Asked for its commit": recipe.at,
        "Read as it was before": recipe.past,
    }
    facts = [f"{each}: {_names(tuple(table.name for table in tables))}" for each, tables in told.items() if tables]
    if recipe.inputs:
        facts[0] += others
    return [f"Made by the step `{recipe.step}`, {where}.", *(f"{fact}." for fact in facts)]


def with_graph(readme: str) -> str:
    """The README with the graph of the present recipes."""
    drawn = _graph()
    return _GRAPH.sub(lambda _: drawn, readme, count=1)


def _graph() -> str:
    """The steps, and from which other steps each follows directly: what follows from these already is left out."""
    tables: dict[str, list[str]] = {}
    before: dict[str, set[str]] = {}
    for recipe in RECIPES.values():
        tables.setdefault(recipe.step, []).append(recipe.name)
        before.setdefault(recipe.step, set()).update(RECIPES[each.name].step for each in recipe.deps)
    lines = ["flowchart LR", *_BEFORE]
    lines += [f'{step}["{", ".join(names)}"]' for step, names in tables.items() if len(names) > 1]
    arrows: dict[str, list[str]] = {}
    for step in tables:
        far = {each for name in before[step] for each in _all_before(name, before)}
        if near := " & ".join(name for name in tables if name in before[step] - far):
            arrows.setdefault(near, []).append(step)
    lines += [f"{near} --> {' & '.join(behind)}" for near, behind in arrows.items()]
    return "\n    ".join([*lines, *_BEHIND]) + "\n"


def _all_before(step: str, before: Mapping[str, set[str]]) -> set[str]:
    return before[step] | {each for name in before[step] for each in _all_before(name, before)}


def _type(column: Column) -> str:
    return f"{column.type}, may be NULL" if column.nullable else column.type


def _description(column: Column) -> str:
    text = column.description
    if column.one_of:
        text += f" One of {_names(column.one_of)}."
    return text.replace("|", "\\|")


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    print(with_graph(Path(sys.argv[1]).read_text()) if sys.argv[1:] else tables_page(), end="")
