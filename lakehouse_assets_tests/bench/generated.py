"""A repository made up for measurements: many Python files over a history of commits."""

import random
from pathlib import Path

import pygit2


def generated_repository(path: Path, *, files: int, commits: int, seed: int = 1) -> pygit2.Repository:
    """A repository with `files` files at its head, the same for the same arguments."""
    chance = random.Random(seed)
    repository = pygit2.init_repository(str(path), bare=True, initial_head="main")
    who = pygit2.Signature("Ann", "ann@example.org", 1_700_000_000, 0)
    contents = {f"pkg{number % 50:02}/module{number:05}.py": _module(chance, number) for number in range(files)}
    parents: list[pygit2.Oid] = []
    for number in range(commits):
        if number:
            name = chance.choice(list(contents))
            contents[name] += f"\n# revision {number}\n"
        tree = _tree(repository, contents)
        parents = [repository.create_commit("refs/heads/main", who, who, f"commit {number}", tree, parents)]
    return repository


def _module(chance: random.Random, number: int) -> str:
    functions = (
        f"def function_{number}_{index}(value):\n    total = value * {chance.randrange(1000)}\n    return total\n"
        for index in range(chance.randrange(5, 40))
    )
    return "\n\n".join(functions)


def _tree(repository: pygit2.Repository, contents: dict[str, str]) -> pygit2.Oid:
    folders: dict[str, pygit2.TreeBuilder] = {}
    for name, text in contents.items():
        folder, _, base = name.partition("/")
        builder = folders.setdefault(folder, repository.TreeBuilder())
        builder.insert(base, repository.create_blob(text.encode()), pygit2.enums.FileMode.BLOB)
    root = repository.TreeBuilder()
    for folder, builder in folders.items():
        root.insert(folder, builder.write(), pygit2.enums.FileMode.TREE)
    return root.write()
