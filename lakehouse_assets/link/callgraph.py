"""Calls as a map from dotted names to dotted names: the shape that PyCG's tools read.

Code of a module counts as the module, a lambda is `<lambda1>` of what it stands in, built-ins are `<builtin>.name`.
A class that is called without an `__init__` of its own is no function, so no call leads to it.
"""

from collections.abc import Iterable, Mapping, Sequence

_BUILT_IN_TYPES = {
    "str": "PyStr",
    "dict": "PyDict",
    "list": "PyList",
    "int": "PyNum",
    "set": "PySet",
    "tuple": "PyTuple",
}


def dotted(module: str, descriptor: str) -> str:
    """`pkg.mod` and `Class#method().` as `pkg.mod.Class.method`."""
    parts = [module]
    rest = descriptor
    while rest:
        ends = [rest.find(mark) for mark in ("#", ".") if mark in rest]
        if not ends:
            break
        at = min(ends)
        name = rest[:at].partition("(")[0].strip("`")
        parts.append(name)
        rest = rest[at + 1 :]
    return ".".join(parts)


def outside(name: str) -> str:
    """A method of a built-in type, as PyCG names it: `<**PyStr**>.join`."""
    if name.startswith("<builtin>."):
        kind, _, method = name.removeprefix("<builtin>.").partition(".")
        if method and kind in _BUILT_IN_TYPES:
            return f"<**{_BUILT_IN_TYPES[kind]}**>.{method}"
    return name


def call_graph(
    definitions: Iterable[tuple[int, int | None, str, str]], links: Mapping[str, Sequence[object]]
) -> dict[str, list[str]]:
    """Every module and function with what it calls.

    `definitions` are (id, id of the one around, dotted name, kind); `links` has the columns of `links`.
    """
    names: dict[int, str] = {}
    around: dict[int, int | None] = {}
    graph: dict[str, dict[str, None]] = {}
    functions: set[int] = set()
    for number, parent, name, kind in definitions:
        names[number] = name
        around[number] = parent
        if kind != "class":
            functions.add(number)
            graph.setdefault(name, {})
    columns = (links["kind"], links["caller_def"], links["dst_def"], links["external"])
    for kind, runs, target, external in zip(*columns, strict=True):
        if kind != "CALL" or not isinstance(runs, int) or not isinstance(target, int):
            continue
        caller: int | None = runs
        # What a class's body runs, its surroundings run.
        while caller is not None and caller not in functions:
            caller = around.get(caller)
        callee = outside(str(external)) if external is not None else names.get(target)
        if caller is None or callee is None or (external is None and target not in functions):
            continue
        graph.setdefault(callee, {})
        graph.setdefault(names[caller], {})[callee] = None
    return {name: list(callees) for name, callees in sorted(graph.items())}
