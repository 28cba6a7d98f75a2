"""Which model follows from which: order, cycles, selections."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeVar

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.models.model import Model, place
from lakehouse_assets.models.stepped import SteppedModel

_M = TypeVar("_M", bound=Model | SteppedModel)


def in_order(models: Mapping[str, _M]) -> list[_M]:
    """Each model after those it reads, otherwise by name; a cycle is refused, spelled out."""
    ordered: dict[str, _M] = {}
    for name in sorted(models):
        _visit(models, name, [], ordered)
    return list(ordered.values())


def _visit(models: Mapping[str, _M], name: str, way: list[str], ordered: dict[str, _M]) -> None:
    if name in ordered:
        return
    if name in way:
        cycle = [*way[way.index(name) :], name]
        last = models[way[-1]]
        raise BadInputError(
            subject=place(last.path, last.inputs[name]),
            seen=f"models follow from themselves: {' → '.join(reversed(cycle))}",
            why="none of them could be built first",
            remedy="take one of these steps out",
        )
    for parent in sorted(models[name].inputs):
        if parent in models:
            _visit(models, parent, [*way, name], ordered)
    ordered[name] = models[name]


def select(parents: Mapping[str, Iterable[str]], tags: Mapping[str, Iterable[str]], words: Iterable[str]) -> set[str]:
    """The models that the words choose: `name`, `+name` with what it follows from, `name+` with what follows from it,
    `tag:word`, which takes the signs as well. No words: all."""
    chosen: set[str] = set()
    children: dict[str, list[str]] = {}
    for child, its in parents.items():
        for parent in its:
            children.setdefault(parent, []).append(child)
    given = list(words)
    for word in given:
        core = word.removeprefix("+").removesuffix("+")
        if core.startswith("tag:"):
            names = {name for name, its in tags.items() if core.removeprefix("tag:") in its}
            known: Iterable[str] = sorted({f"tag:{tag}" for its in tags.values() for tag in its})
        else:
            names, known = {core} & set(parents), parents
        if not names:
            tagged = {name for name, its in tags.items() if core in its}
            raise _unknown(word, f"tag:{core}" if tagged else core, [f"tag:{core}"] if tagged else known)
        chosen |= names
        if word.startswith("+"):
            chosen |= _reached(parents, names)
        if word.endswith("+"):
            chosen |= _reached(children, names)
    return {name for name in chosen if name in parents} if given else set(parents)


def _reached(ways: Mapping[str, Iterable[str]], names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        for other in ways.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def _unknown(word: str, core: str, known: Iterable[str]) -> BadInputError:
    near = get_close_matches(core, list(known), n=1)
    return BadInputError(
        subject=f"selection {word!r}",
        seen=f"there is no {'tag' if 'tag:' in word else 'model'} of that name",
        why="nothing would be chosen by it",
        remedy=f"did you mean {near[0]!r}?" if near else "see `lakehouse models list`",
    )
