"""Which dotted name is which file: a function of the list of paths alone.

A file answers to its name from every root above it: the top of the repository, folders that hold packages (`src`),
and folders of scripts. A folder without `__init__` is a namespace package. A target is a file's path, or a folder
with a slash behind it.
"""

import sys
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

SOURCE_FOLDERS = frozenset({"src", "lib", "Lib", "python", "source"})
"""Folders that are no part of the modules' names when they hold packages."""
STANDARD_LIBRARY = frozenset(sys.stdlib_module_names)
_SUFFIXES = (".py", ".pyi", ".pyw")

Rooted = tuple[str, str, bool]
"""What a top-level name may mean: the root that it is counted from, the target, and whether the root holds packages."""


def is_python(path: str) -> bool:
    return path.endswith(_SUFFIXES)


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _stem(path: str) -> str:
    """The path without suffix, and of a package's `__init__` the package's folder."""
    stem = path.rpartition(".")[0]
    if stem == "__init__":
        return ""
    return stem.removesuffix("/__init__")


def _is_init(path: str) -> bool:
    return path.rpartition("/")[2].rpartition(".")[0] == "__init__"


def _rank(target: str) -> tuple[int, str]:
    """Of several that share a name Python takes the package, then the module; stubs and mere folders come last."""
    if target.endswith("/"):
        return 3, target
    if target.endswith(".pyi"):
        return 2, target
    return (0 if _is_init(target) else 1), target


def _is_above(root: str, folder: str) -> bool:
    return root == "" or folder == root or folder.startswith(root + "/")


@dataclass(frozen=True, kw_only=True)
class ModuleRows:
    """Columns of `module_index`, one row per name that a file answers to."""

    path: list[str] = field(default_factory=list)
    module: list[str] = field(default_factory=list)
    root: list[str] = field(default_factory=list)
    is_package: list[bool] = field(default_factory=list)
    is_own: list[bool] = field(default_factory=list)
    """Whether it is the name that the file is called by, one of each file's names."""


class ModuleIndex:
    """`at` says which target a folder and name stand for, `top` which targets a top-level name may mean."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = sorted(path for path in paths if is_python(path))
        packages = {folder_of(path) for path in self.paths if _is_init(path)}
        folders = _folders(self.paths)
        self.package_roots = {folder_of(p) for p in packages if p and folder_of(p) not in packages}
        scripts = {folder_of(path) for path in self.paths} - packages
        self._roots = {""} | self.package_roots | scripts
        self.at: dict[str, str] = {}
        for target in [*self.paths, *(f"{folder}/" for folder in sorted(folders))]:
            stem = target[:-1] if target.endswith("/") else _stem(target)
            if stem and (stem not in self.at or _rank(target) < _rank(self.at[stem])):
                self.at[stem] = target
        self.top: dict[str, tuple[Rooted, ...]] = self._top_level()

    def _top_level(self) -> dict[str, tuple[Rooted, ...]]:
        found: dict[str, list[Rooted]] = {}
        for stem, target in self.at.items():
            folder, _, name = stem.rpartition("/")
            if folder in self._roots:
                found.setdefault(name, []).append((folder, target, folder in self.package_roots))
        return {name: tuple(sorted(targets)) for name, targets in found.items()}

    def offered(self, name: str) -> str | None:
        """The target of a top-level name for other repositories.

        Only what installing the repository would give them: modules below its top or a folder of sources.
        """
        for root, target, _ in self.top.get(name, ()):
            if not target.endswith("/") and (root == "" or root == self.root_of(target)):
                return target
        return None

    def offers(self) -> dict[str, str]:
        """All that `offered` gives, by name."""
        found = {name: self.offered(name) for name in sorted(self.top)}
        return {name: target for name, target in found.items() if target is not None}

    def root_of(self, path: str) -> str:
        """The root that a file's own name is counted from."""
        best = ""
        folder = folder_of(path)
        for root in self.package_roots:
            if len(root) > len(best) and root.rpartition("/")[2] in SOURCE_FOLDERS and _is_above(root, folder):
                best = root
        return best

    def name_of(self, path: str) -> str:
        """The file's own dotted name."""
        root = self.root_of(path)
        stem = _stem(path)
        if not stem:
            return "__init__"
        return (stem[len(root) + 1 :] if root else stem).replace("/", ".")

    def names(self) -> dict[str, str]:
        """The own dotted names of all files, by path."""
        return {path: self.name_of(path) for path in self.paths}

    def rows(self, only: Set[str] | None = None) -> ModuleRows:
        """Of all files, or only of some."""
        rows = ModuleRows()
        for path in self.paths if only is None else [path for path in self.paths if path in only]:
            own = self.root_of(path)
            folder = folder_of(path)
            stem = _stem(path)
            roots = sorted(root for root in self._roots_above(folder) if len(root) < len(stem))
            own_name = self.name_of(path)
            names = {own_name: own}
            for root in roots:
                names.setdefault((stem[len(root) + 1 :] if root else stem).replace("/", "."), root)
            for name in sorted(names):
                rows.path.append(path)
                rows.module.append(name)
                rows.root.append(names[name])
                rows.is_package.append(_is_init(path))
                rows.is_own.append(name == own_name)
        return rows

    def _roots_above(self, folder: str) -> list[str]:
        above = [""]
        at = folder
        while at:
            if at in self._roots:
                above.append(at)
            at = folder_of(at)
        return above


def candidates(name: str, rooted: Iterable[Rooted], importer: str) -> list[str]:
    """Targets that a top-level name may mean in a file, nearest root first; what cannot be seen is left out."""
    folder = folder_of(importer)
    standard = name in STANDARD_LIBRARY
    seen: list[tuple[int, int, str, str]] = []
    for root, target, has_packages in rooted:
        if standard and target.endswith("/"):
            continue
        if _is_above(root, folder):
            seen.append((0, -len(root), root, target))
        elif has_packages and not standard:
            seen.append((1, len(root), root, target))
    return [target for _, _, _, target in sorted(seen)]


def _folders(paths: Iterable[str]) -> set[str]:
    folders: set[str] = set()
    for path in paths:
        at = folder_of(path)
        while at and at not in folders:
            folders.add(at)
            at = folder_of(at)
    return folders


def relative_folder(importer: str, level: int) -> str | None:
    """The folder that a relative import starts from; None beyond the top of the repository."""
    folder = folder_of(importer)
    for _ in range(level - 1):
        if not folder:
            return None
        folder = folder_of(folder)
    return folder


def child(target: str, name: str) -> str | None:
    """Where a submodule of a target would be; None if the target can hold none."""
    if target.endswith("/"):
        return target + name
    if _is_init(target):
        folder = folder_of(target)
        return f"{folder}/{name}" if folder else name
    return None
