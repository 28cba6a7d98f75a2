"""A solved file as rows: of `links`, `imports_resolved` and `exported_defs`.

How sure a call is: certain if it can lead to one place only and what was called got there by plain bindings; likely
if there are several, if it came by way of flows, or if a class below may override it.
"""

from collections.abc import Sequence, Set
from typing import Any

from lakehouse_assets.extract.python.flows_tables import Imp
from lakehouse_assets.extract.symbols import external_symbol, symbol_id, symbol_of
from lakehouse_assets.link.by_name import NamedImport, Names
from lakehouse_assets.link.classes import Classes, Member
from lakehouse_assets.link.exports import exports
from lakehouse_assets.link.imports import Imports, Landing, Thing, split
from lakehouse_assets.link.modules import ModuleIndex
from lakehouse_assets.link.program import At, Program
from lakehouse_assets.link.solver import Solution
from lakehouse_assets.link.state import Columns, no_rows
from lakehouse_assets.link.units import FUNCTION, Unit

LINKS = (
    "repo",
    "path",
    "kind",
    "src_def",
    "src_n",
    "dst_repo",
    "dst_path",
    "dst_def",
    "dst_n",
    "label",
    "method",
    "confidence",
    "caller_def",
    "external",
)
IMPORTS = ("repo", "path", "def_id", "n", "name", "module", "kind", "target_repo", "target_path", "target_def")
EXPORTS = ("repo", "path", "name", "kind", "target_repo", "target_path", "target_def", "via", "is_public")
MODULES = ("repo", "path", "module", "root", "is_package", "is_own")

MODULE = "module"
"""Label of the import of a module itself, beside what the statement binds: a name in it, or the package around it."""
_UNSURE = frozenset({"annotation", "handed", "descriptor", "dunder"})


class RowMaker:
    """Collects rows of many files, column by column."""

    def __init__(self, repo: str, classes: Classes) -> None:
        self.repo = repo
        self.classes = classes
        self.imports: Imports = classes.imports
        self._links: list[tuple[Any, ...]] = []
        self._seen: set[tuple[Any, ...]] = set()
        self.resolved = no_rows(IMPORTS)
        self.exported = no_rows(EXPORTS)
        self._ids: dict[tuple[str, str], int] = {}

    def links(self) -> Columns:
        columns = zip(*self._links, strict=True) if self._links else [()] * len(LINKS)
        return {name: list(column) for name, column in zip(LINKS, columns, strict=True)}

    def def_id(self, path: str, descriptor: str) -> int:
        key = (path, descriptor)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = symbol_id(symbol_of(split(path)[1], descriptor))
        return found

    def add(self, unit: Unit, program: Program, solution: Solution) -> None:
        """All rows of a file."""
        self._path, self._descriptors = unit.path, unit.descriptors
        self._seen = set()
        self._landings(unit)
        self._inheritance(unit)
        self._calls(program, solution)
        self._references(solution)
        self._exports(unit)

    def add_named(self, path: str, descriptors: Sequence[str], found: Names) -> None:
        """All rows of a file that is known by names only."""
        self._path, self._descriptors = path, descriptors
        self._seen = set()
        seen: set[tuple[object, ...]] = set()
        for one in found.imports:
            if one.target is not None and (one.at, one.target) not in seen:
                self.link("IMPORT", one.at, one.target, "", "path", "likely")
            if one.source is not None and one.target != ("m", one.source):
                self.link("IMPORT", one.at, ("m", one.source), MODULE, "path", "likely")
            if (one.at, one.said) not in seen:
                self._named_import(one)
            seen.update(((one.at, one.target), (one.at, one.said)))
        for kind, rows in (("CALL", found.calls), ("INHERITS", found.bases)):
            for at, thing, method, confidence in dict.fromkeys(rows):
                self.link(kind, at, thing, "", method, confidence)

    def _named_import(self, one: NamedImport) -> None:
        repo = path = target = None
        if one.target is not None:
            there, path = split(one.target[1])
            repo = there or self.repo
            target = self.def_id(one.target[1], one.target[2] if len(one.target) > 2 else "")
        source = self.def_id(self._path, self._descriptors[one.at[0]])
        values = (self.repo, self._path, source, one.at[1], one.said, one.module, one.kind, repo, path, target)
        for column, value in zip(IMPORTS, values, strict=True):
            self.resolved[column].append(value)

    def link(
        self, kind: str, at: At, thing: Thing, label: str, method: str, confidence: str, *, caller: int | None = None
    ) -> None:
        """Once for each relationship, however many ways lead to it: the first one tells how it was found.

        `caller` is the definition that runs a call, if it is another than the one that has it.
        """
        key = (kind, at, thing, label)
        if key in self._seen:
            return
        self._seen.add(key)
        external = None
        if thing[0] == "x":
            external = thing[1]
            repo, path, target = self.repo, self._path, symbol_id(external_symbol(external))
        else:
            there, path = split(thing[1])
            repo = there or self.repo
            target = self.def_id(thing[1], thing[2] if len(thing) > 2 else "")
        row = (
            self.repo,
            self._path,
            kind,
            self.def_id(self._path, self._descriptors[at[0]]),
            at[1],
            repo,
            path,
            target,
            0,
            label,
            method,
            confidence,
            self.def_id(self._path, self._descriptors[at[0] if caller is None else caller]) if kind == "CALL" else None,
            external,
        )
        self._links.append(row)

    def _landings(self, unit: Unit) -> None:
        landed: list[Landing] = []
        for index, row in enumerate(unit.imports):
            said = unit.imported(index)
            landing = self.imports.landing(unit.path, said)
            landed.append(landing)
            at = (row[0], row[1])
            things = landing.found.things
            confidence = "certain" if len(things) < 2 and not row[6] & Imp.OPTIONAL else "likely"
            for thing in dict.fromkeys(things):
                if thing[0] != "n":
                    self.link("IMPORT", at, thing, "", "import", confidence)
            # A variable is part of its module; one that comes from further away is not an import of that module.
            source = None if things else landing.source
            if source is not None and source in (path for path, _ in landing.found.variables):
                self.link("IMPORT", at, ("m", source), "", "import", confidence)
            self._imported_module(at, landing, "likely" if row[6] & Imp.OPTIONAL else "certain")
            self._resolved(unit, row, said.name, landing)
        uses = unit.summary["uses"]
        for i in range(0, len(uses), 3):
            for thing in landed[uses[i]].found.things:
                if thing[0] in "fcm":
                    self.link("REF", (uses[i + 1], uses[i + 2]), thing, "", "import", "certain")

    def _imported_module(self, at: At, landing: Landing, confidence: str) -> None:
        """The module that a statement imports from, or imports below its package, if it does not bind the module."""
        source, found = landing.source, landing.found
        if source is None or ("m", source) in found.things:
            return
        if found.things or source not in (path for path, _ in found.variables):
            self.link("IMPORT", at, ("m", source), MODULE, "import", confidence)

    def _resolved(self, unit: Unit, row: list[int], name: str | None, landing: Landing) -> None:
        repo, path, target = self._target(landing)
        values = (
            self.repo,
            unit.path,
            self.def_id(unit.path, unit.descriptors[row[0]]),
            row[1],
            name or "",
            landing.module,
            landing.kind,
            repo,
            path,
            target,
        )
        for column, value in zip(IMPORTS, values, strict=True):
            self.resolved[column].append(value)

    def _target(self, landing: Landing) -> tuple[str | None, str | None, int | None]:
        if landing.kind not in ("first_party", "other_repository"):
            return None, None, None
        for thing in landing.found.things:
            if thing[0] in "fcm":
                there, path = split(thing[1])
                return there or self.repo, path, self.def_id(thing[1], thing[2] if len(thing) > 2 else "")
        for there, _ in landing.found.variables:
            repo, path = split(there)
            return repo or self.repo, path, None
        return None, None, None

    def _inheritance(self, unit: Unit) -> None:
        for d, row in sorted(unit.classes.items()):
            descriptor = unit.descriptors[d]
            order = self.classes.order(unit.path, descriptor)
            confidence = "certain" if order.is_consistent else "likely"
            method = "bases" if order.is_consistent else "inconsistent bases"
            for number, base in enumerate(self.classes.bases(unit.path, descriptor)):
                if base[0] in "cx":
                    self.link("INHERITS", (d, 0), base, str(number), method, confidence)
            for name, member in sorted(row[3].items()):
                self._overrides(unit, descriptor, name, member[1], confidence)

    def _overrides(self, unit: Unit, descriptor: str, name: str, own: Sequence[int], confidence: str) -> None:
        functions = [d for d in own if unit.kinds[d] == FUNCTION]
        if not functions:
            return
        found = self.classes.lookup(unit.path, descriptor, name, ("c", unit.path, descriptor))
        if isinstance(found, Member):
            for above in found.name.definitions:
                thing = self.imports.definition(found.path, above)
                if thing[0] == "f":
                    for d in functions:
                        self.link("OVERRIDES", (d, 0), thing, "", "mro", confidence)

    def _calls(self, program: Program, solution: Solution) -> None:
        for at in sorted(solution.calls):
            targets = solution.calls[at]
            count = sum(1 for thing in targets if thing[0] != "x")
            caller = program.elsewhere.get(at)
            is_soft = at in solution.soft
            for thing in sorted(targets):
                if thing[0] == "x":
                    sure = len(targets) == 1
                    self.link("CALL", at, thing, "", "outside", "certain" if sure else "likely", caller=caller)
                elif thing[0] in "fc":
                    method, variable = targets[thing]
                    if method == "direct":
                        method = "flow" if is_soft else "local" if thing[1] == self._path else "import"
                    elif method == "declared":
                        method = "self" if variable in program.receivers else "annotation"
                    # What is called without being named (an operator, a setter) was found in no variable.
                    plain = variable >= 0 and method not in _UNSURE and (not is_soft or method == "self")
                    sure = count == 1 and plain
                    self.link("CALL", at, thing, "", method, "certain" if sure else "likely", caller=caller)

    def _references(self, solution: Solution) -> None:
        for at in sorted(solution.references):
            targets = solution.references[at]
            for thing in sorted(targets):
                self.link("REF", at, thing, "", "attribute", "certain" if len(targets) == 1 else "likely")

    def _exports(self, unit: Unit) -> None:
        found = exports(self.imports, unit)
        for i, name in enumerate(found.name):
            target, descriptor = found.target[i], found.descriptor[i]
            there, path = split(target) if target is not None else ("", None)
            values: tuple[Any, ...] = (
                self.repo,
                unit.path,
                name,
                found.kind[i],
                None if target is None else there or self.repo,
                path,
                None if target is None or descriptor is None else self.def_id(target, descriptor),
                found.via[i],
                found.is_public[i],
            )
            for column, value in zip(EXPORTS, values, strict=True):
                self.exported[column].append(value)


def module_rows(repo: str, paths: Set[str] | None, index: ModuleIndex) -> Columns:
    """Rows of `module_index` for some files; None for all."""
    found = index.rows(paths)
    columns = (found.path, found.module, found.root, found.is_package, found.is_own)
    return dict(zip(MODULES, ([repo] * len(found.path), *columns), strict=True))
