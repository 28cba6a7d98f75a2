"""A Python file that is known by names only, in the form in which other files read Python files.

So imports of it still lead to its definitions, though nothing flows through it.
"""

from typing import Any

from lakehouse_assets.extract.python.flows_tables import NOTHING, Fun
from lakehouse_assets.link.units import CLASS, FUNCTION, LAMBDA, MODULE

_KINDS = {"class": CLASS, "lambda": LAMBDA}


def as_flows(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary of names as one of flows, with an empty program."""
    descriptors: list[str] = summary["descriptors"]
    number = {descriptor: d for d, descriptor in enumerate(descriptors)}
    kinds = [MODULE] + [_KINDS.get(kind, FUNCTION) for _, _, kind, _ in summary["definitions"]]
    parents = [-1]
    members: dict[int, dict[str, list[Any]]] = {}
    variables = 0
    for d, name, _, _ in summary["definitions"]:
        parent = number[_around(descriptors[d], number)]
        parents.append(parent)
        bound = members.setdefault(parent, {}).setdefault(name, [variables, [], [], [], 0])
        bound[1].append(d)
        variables += 1
    strings: dict[str, int] = {}
    imports: list[list[int]] = []
    for d, n, module, names, alias, _ in summary["imports"]:
        plain = module.lstrip(".")
        source = strings.setdefault(plain, len(strings)) if plain else NOTHING
        for name, shown in names or [(None, alias)]:
            said = NOTHING if name is None else strings.setdefault(name, len(strings))
            asname = NOTHING if shown is None else strings.setdefault(shown, len(strings))
            bound_name = shown or name or plain.partition(".")[0]
            imports.append([d, n, len(module) - len(plain), source, said, asname, int(name == "*")])
            if name != "*" and d == 0:
                bound = members.setdefault(0, {}).setdefault(bound_name, [variables, [], [], [], 0])
                bound[2].append(len(imports) - 1)
                variables += 1
    bases: dict[int, list[Any]] = {}
    for d, name in summary["bases"]:
        bases.setdefault(d, []).append([0, *name.split(".")])
    return {
        "form": "flows",
        "descriptors": descriptors,
        "definitions": [kinds, parents],
        "strings": list(strings),
        "constants": [],
        "annotations": [],
        "imports": imports,
        "uses": [],
        "names": members.get(0, {}),
        "all": None,
        "classes": [[d, bases.get(d, []), None, members.get(d, {})] for d, k in enumerate(kinds) if k == CLASS],
        "functions": [
            [d, Fun.METHOD if kinds[parents[d]] == CLASS else 0, NOTHING, NOTHING]
            for d, kind in enumerate(kinds)
            if kind in (FUNCTION, LAMBDA)
        ],
        "variables": variables,
        "ops": [],
    }


def _around(descriptor: str, number: dict[str, int]) -> str:
    """The longest descriptor that this one continues."""
    return max((other for other in number if other != descriptor and descriptor.startswith(other)), key=len)
