"""Which top-level statements of a module give each of its names, and which other names they lead to.

Names are resolved by the text alone, and rather too widely than too narrowly: a local variable that is called like a
function of the module counts as a use of it. Where the text does not tell (a module passed around as a value,
`globals()`, a name that nothing in sight binds) the whole module counts.

What the text cannot tell is not followed: code of other modules that is handed in as an argument, or that registers
itself with a module without being named by it.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lakehouse_assets.plan.source_text import Chain, Meaning, chain_of, is_description, meaning_of

EFFECTS = ""
"""The name of what a module does when it is loaded, beside binding names."""

_LOOKS_UP_NAMES = frozenset({"globals", "eval", "exec", "__import__", "import_module"})
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, kw_only=True)
class Link:
    """A name that an import binds: a module, or a name of one."""

    module: str
    name: str | None


@dataclass(kw_only=True)
class ModuleIndex:
    """A module's names with the statements and imports that bind them, in the order of the text."""

    name: str
    is_package: bool
    statements: dict[str, list[ast.stmt]] = field(default_factory=dict[str, list[ast.stmt]])
    links: dict[str, list[Link]] = field(default_factory=dict[str, list[Link]])
    stars: list[str] = field(default_factory=list[str])
    """Modules that it imports everything from."""

    @property
    def names(self) -> Iterable[str]:
        return {**self.statements, **self.links}


def index_module(name: str, source: str, *, is_package: bool) -> ModuleIndex:
    index = ModuleIndex(name=name, is_package=is_package)
    # What a module does when it is loaded can never be told away, so the name is always there.
    index.statements[EFFECTS] = []
    has_globals = "global " in source  # the walk for them would take as long as the parse
    for statement in ast.parse(source).body:
        if is_description(statement):
            continue
        _add(index, statement)
        if has_globals and isinstance(statement, _DEFINITIONS):
            # Whoever reads such a name sees what this function leaves in it.
            _bind(index, statement, _declared_global(statement))
    return index


def links_of(index: ModuleIndex, statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Link]]:
    """The names that an import binds."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            bound = alias.asname or alias.name.partition(".")[0]
            yield bound, Link(module=alias.name if alias.asname else bound, name=None)
        return
    module = _absolute(index, statement)
    for alias in statement.names:
        yield alias.asname or alias.name, Link(module=module, name=alias.name)


def _absolute(index: ModuleIndex, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parts = index.name.split(".")
    package = parts[: len(parts) - statement.level + index.is_package]
    return ".".join([*package, *filter(None, [statement.module])])


def _add(index: ModuleIndex, statement: ast.stmt) -> None:
    match statement:
        case ast.Import() | ast.ImportFrom():
            _add_import(index, statement)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            _bind(index, statement, {statement.name, *_registries(index, statement)})
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            _bind(index, statement, _assigned(index, statement))
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            pass  # what the module does as a program is not what it gives to others
        case ast.If() if (chain := chain_of(statement.test)) and chain[-1] == "TYPE_CHECKING":
            for each in statement.body:
                _add(index, each)
        case _:
            _add_compound(index, statement)


def _add_compound(index: ModuleIndex, statement: ast.stmt) -> None:
    """A statement with others inside, or one that binds nothing: it may do anything when the module is loaded."""
    names = {EFFECTS}
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Import() | ast.ImportFrom():
                _add_import(index, node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
                continue  # what it binds inside is its own
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            case _:
                pass
        waiting.extend(ast.iter_child_nodes(node))
    _bind(index, statement, names)


def _add_import(index: ModuleIndex, statement: ast.Import | ast.ImportFrom) -> None:
    for bound, link in links_of(index, statement):
        if bound == "*":
            index.stars.append(link.module)
        else:
            index.links.setdefault(bound, []).append(link)


def _bind(index: ModuleIndex, statement: ast.stmt, names: Iterable[str]) -> None:
    for name in names:
        index.statements.setdefault(name, []).append(statement)


def _declared_global(definition: ast.stmt) -> set[str]:
    return {name for node in ast.walk(definition) if isinstance(node, ast.Global) for name in node.names}


def _registries(index: ModuleIndex, definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> set[str]:
    """Names of this module that the definition adds itself to, as in `@render.register`."""
    found: set[str] = set()
    for decorator in definition.decorator_list:
        expression = decorator.func if isinstance(decorator, ast.Call) else decorator
        chain = chain_of(expression)
        if chain is not None and len(chain) > 1 and chain[0] in index.statements:
            found.add(chain[0])
    return found


def _assigned(index: ModuleIndex, statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    """The names it binds or whose value it changes; where that is not one of this module, it is an effect."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    found: set[str] = set()
    while targets:
        target, *targets = targets
        match target:
            case ast.Name():
                found.add(target.id)
            case ast.Tuple() | ast.List():
                targets = [*target.elts, *targets]
            case ast.Starred() | ast.Subscript() | ast.Attribute():
                base = target.value
                while isinstance(base, ast.Subscript | ast.Attribute):
                    base = base.value
                known = isinstance(base, ast.Name) and (base.id in index.statements or isinstance(target, ast.Starred))
                found.add(base.id if known and isinstance(base, ast.Name) else EFFECTS)
            case _:
                found.add(EFFECTS)
    return found


def _imported(index: ModuleIndex, meaning: Meaning) -> list[str]:
    """Where the names that a statement uses are imported from: the same call of another library is another thing."""
    used = sorted({chain[0] for chain in meaning.chains} & index.links.keys())
    return [f"{name} is {link.module}:{link.name or ''}" for name in used for link in index.links[name]]


class Project:
    """The modules of one package, read as they are asked for and kept for the life of the process.

    A process runs the code it has loaded, so a file that changes meanwhile is none of its business.
    """

    def __init__(self, package: str, folder: Path) -> None:
        self.package = package
        self._folder = folder
        self._indexes: dict[str, ModuleIndex | None] = {}
        self._uses: dict[tuple[str, str], tuple[str, frozenset[tuple[str, str]]]] = {}

    def index(self, module: str) -> ModuleIndex | None:
        """The module of this name; None if it is none of the project's."""
        if module not in self._indexes:
            self._indexes[module] = self._read(module)
        return self._indexes[module]

    def meaning(self, module: str, name: str) -> tuple[str, frozenset[tuple[str, str]]]:
        """What a module's name means by itself, and the names, with their modules, that it leads to."""
        key = (module, name)
        if key not in self._uses:
            index = self.index(module)
            if index is None:
                return "", frozenset()
            texts: list[str] = []
            found: set[tuple[str, str]] = set()
            for statement in index.statements.get(name, ()):
                meaning = meaning_of(statement)
                texts += [meaning.text, *_imported(index, meaning)]
                found |= self._used(index, meaning)
            for link in index.links.get(name, ()):
                found |= self._linked(link, ())
            self._uses[key] = ("\n".join(texts), frozenset(found))
        return self._uses[key]

    def whole(self, module: str) -> set[tuple[str, str]]:
        index = self.index(module)
        return set() if index is None else {(module, name) for name in index.names}

    def _read(self, module: str) -> ModuleIndex | None:
        first, *rest = module.split(".")
        if first != self.package:
            return None
        place = self._folder.joinpath(*rest)
        package = place / "__init__.py"
        if package.is_file():
            return index_module(module, package.read_text(), is_package=True)
        source = place.with_name(f"{place.name}.py")
        if rest and source.is_file():
            return index_module(module, source.read_text(), is_package=False)
        return None

    def _used(self, index: ModuleIndex, meaning: Meaning) -> set[tuple[str, str]]:
        inner: dict[str, list[Link]] = {}
        for statement in meaning.imports:
            for bound, link in links_of(index, statement):
                inner.setdefault(bound, []).append(link)
        found: set[tuple[str, str]] = set()
        for chain in meaning.chains:
            if chain[0] in _LOOKS_UP_NAMES or chain[-1] in _LOOKS_UP_NAMES:
                found |= self.whole(index.name)
            for link in inner.get(chain[0], ()):
                found |= self._linked(link, chain[1:])
            found |= self._named(index, chain)
        return found

    def _named(self, index: ModuleIndex, chain: Chain, seen: frozenset[str] = frozenset()) -> set[tuple[str, str]]:
        """What a chain of names means in a module; nothing if its first name is not bound there (a builtin)."""
        name = chain[0]
        found: set[tuple[str, str]] = {(index.name, name)} if name in index.statements else set()
        for link in index.links.get(name, ()):
            found |= self._linked(link, chain[1:])
        if not found and name not in index.links:
            for star in index.stars:
                starred = self.index(star)
                if starred is not None and star not in seen:
                    found |= self._named(starred, chain, seen | {index.name})
        return found

    def _linked(self, link: Link, rest: Chain) -> set[tuple[str, str]]:
        index = self.index(link.module)
        if index is None:
            return set()
        chain = rest if link.name is None else (link.name, *rest)
        if not chain:
            return self.whole(link.module)
        if chain[0] in index.statements or chain[0] in index.links:
            return self._named(index, chain)
        inner = f"{link.module}.{chain[0]}"
        if index.is_package and self.index(inner) is not None:
            return self._linked(Link(module=inner, name=None), chain[1:])
        if chain[0] in ("__name__", "__file__", "__doc__"):
            return {(link.module, EFFECTS)}
        return self._named(index, chain) or self.whole(link.module)
