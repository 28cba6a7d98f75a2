"""The version of code from what it means: comments, docstrings and layout don't count.

The version of a function is the fingerprint of the function and of every function, class and constant of this project
that it reaches, each as a normalized syntax tree, with the versions of the libraries and the data files that shape
the result. A change elsewhere in the same modules leaves it as it is.

Cost: a hash of each module reached, once per process; a module that changed is parsed, at some 60,000 lines a second.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import lakehouse_assets
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.plan.source_index import EFFECTS
from lakehouse_assets.plan.source_project import Name, Project

_PROJECT = Project(lakehouse_assets.__name__, Path(lakehouse_assets.__path__[0]))
_library_version = cache(version)


def code_version(
    *functions: Callable[..., Any],
    libraries: Sequence[str] = (),
    data_files: Sequence[Traversable] = (),
    parameters: Sequence[str] = (),
) -> str:
    """Fingerprint of what decides the functions' results, their input apart."""
    # A method's class counts as a whole, and so does the function around an inner one.
    roots = [(function.__module__, function.__qualname__.partition(".")[0]) for function in functions]
    parts = meaning_parts(_PROJECT, roots)
    parts += [text for name in libraries for text in (name, _library_version(name))]
    parts += [path.read_text() for path in data_files]
    return fingerprint([*parts, *parameters])


def meaning_parts(project: Project, roots: Iterable[Name]) -> list[str]:
    """Module, name and meaning of everything that the roots reach, in the order of the names."""
    parts = [text for key in sorted(reached(project, roots)) for text in (*key, project.meaning(*key))]
    project.keep()
    return parts


def reached(project: Project, roots: Iterable[Name]) -> set[Name]:
    """Every name that the roots lead to, themselves included, and what their modules do when loaded."""
    waiting = list(roots)
    for module, name in waiting:
        index = project.index(module)
        if index is None or name not in index.names:
            raise BadInputError(
                subject=f"code version of {module}.{name}",
                seen=f"it is not defined at the top of a module of {project.package}",
                why="its meaning cannot be read, and results of other code would pass for its own",
                remedy="give a function or class of the project itself",
            )
    found: set[Name] = set()
    while waiting:
        key = waiting.pop()
        if key in found:
            continue
        found.add(key)
        module, name = key
        waiting.extend(project.uses(module, name) - found)
        if name != EFFECTS:
            waiting.append((module, EFFECTS))
        elif "." in module:  # loading a module loads the packages around it first
            waiting.append((module.rpartition(".")[0], EFFECTS))
    return found
