"""Repositories made up for measurements, that are built like real ones: packages, imports, classes, calls.

A package has twenty modules, and one of them re-exports names of the others. A module imports from some that come
before it in its package, and from a few that everybody uses: so the number of imports grows with the files, and not
with their square, while some files have many importers.
"""

import random
from collections.abc import Mapping
from pathlib import Path

import pygit2

PACKAGE = 20
"""Modules of a package."""
COMMON = 5
"""Packages that everybody imports from."""


def generated_repository(path: Path, *, files: int, commits: int = 1, seed: int = 1) -> pygit2.Repository:
    """A repository with `files` files at its head, the same for the same arguments."""
    chance = random.Random(seed)
    repository = pygit2.init_repository(str(path), bare=True, initial_head="main")
    contents = dict(generated_contents(files, seed=seed))
    for number in range(commits):
        if number:
            name = chance.choice(list(contents))
            contents[name] += f"\n# revision {number}\n"
        commit_contents(repository, contents, f"commit {number}")
    return repository


def generated_contents(files: int, *, seed: int = 1) -> dict[str, str]:
    """Path and text of each file."""
    chance = random.Random(seed)
    return {path_of(number): _module(chance, number) for number in range(files)}


def path_of(number: int) -> str:
    package, place = divmod(number, PACKAGE)
    return f"pkg{package:03}/" + (f"module{number:05}.py" if place else "__init__.py")


def edited(text: str, revision: int) -> str:
    """The text with another number in the body of its first function, and nothing else."""
    head, mark, rest = text.partition("    total = value * ")
    return f"{head}{mark}{revision}{rest[rest.index(chr(10)) :]}"


def with_call(text: str, revision: int) -> str:
    """The text with one more function behind it, which calls the first: other definitions, links and edges."""
    name = text.partition("def function_")[2].partition("(")[0]
    return f"{text}\n\ndef added_{revision}(value):\n    return function_{name}(value)\n"


def commit_contents(repository: pygit2.Repository, contents: Mapping[str, str], message: str) -> str:
    """Commit the files as the whole of the main branch; gives the commit's id."""
    who = pygit2.Signature("Ann", "ann@example.org", 1_700_000_000, 0)
    parents = [] if repository.head_is_unborn else [repository.head.target]
    tree = _tree(repository, contents)
    return str(repository.create_commit("refs/heads/main", who, who, message, tree, parents))


def commit_file(repository: pygit2.Repository, path: str, text: str, message: str) -> str:
    """Commit one changed file on top of the head, at the cost of its folder; gives the commit's id."""
    who = pygit2.Signature("Ann", "ann@example.org", 1_700_000_000, 0)
    root = repository.head.peel(pygit2.Tree)
    folder, _, base = path.partition("/")
    inner = repository.TreeBuilder((root / folder).id)
    inner.insert(base, repository.create_blob(text.encode()), pygit2.enums.FileMode.BLOB)
    outer = repository.TreeBuilder(root)
    outer.insert(folder, inner.write(), pygit2.enums.FileMode.TREE)
    parents = [repository.head.target]
    return str(repository.create_commit("refs/heads/main", who, who, message, outer.write(), parents))


def _module(chance: random.Random, number: int) -> str:
    package, place = divmod(number, PACKAGE)
    if place == 0:
        return f'"""Package {package}."""\n\nVERSION = {package}\n\n\n{_function(chance, number, 0, [])}'
    near = [package * PACKAGE + before for before in range(1, place)]
    common = [before for before in range(1, min(number, COMMON * PACKAGE)) if before % PACKAGE]
    imported = sorted({*chance.sample(near, min(3, len(near))), *chance.sample(common, min(2, len(common)))})
    lines = [f"from pkg{each // PACKAGE:03}.module{each:05} import Thing{each}, function_{each}_0" for each in imported]
    functions = (_function(chance, number, index, imported) for index in range(chance.randrange(3, 15)))
    return "\n".join(["import os", *lines, "", "", _class(number, imported), "", *functions])


def _function(chance: random.Random, number: int, index: int, imported: list[int]) -> str:
    called = f"function_{chance.choice(imported)}_0(total)" if imported else "total"
    return (
        f"def function_{number}_{index}(value, names=()):\n"
        f"    total = value * {chance.randrange(1000)}\n"
        f"    for name in names:\n        if len(name) > {chance.randrange(9)}:\n            total += len(name)\n"
        f"    return {called}\n\n"
    )


def _class(number: int, imported: list[int]) -> str:
    base = f"(Thing{imported[0]})" if imported else ""
    called = f"function_{imported[-1]}_0(len(self.name))" if imported else "len(self.name)"
    return (
        f"class Thing{number}{base}:\n"
        f"    def __init__(self, name):\n        self.name = os.path.join(name, '{number}')\n\n"
        f"    def size(self):\n        return {called}\n"
    )


def _tree(repository: pygit2.Repository, contents: Mapping[str, str]) -> pygit2.Oid:
    folders: dict[str, pygit2.TreeBuilder] = {}
    for name, text in contents.items():
        folder, _, base = name.partition("/")
        builder = folders.setdefault(folder, repository.TreeBuilder())
        builder.insert(base, repository.create_blob(text.encode()), pygit2.enums.FileMode.BLOB)
    root = repository.TreeBuilder()
    for folder, builder in folders.items():
        root.insert(folder, builder.write(), pygit2.enums.FileMode.TREE)
    return root.write()
