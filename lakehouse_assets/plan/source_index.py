"""Which top-level statements of a module give each of its names, and which other names they lead to.

Names are resolved by the text alone, and rather too widely than too narrowly: a local variable that is called like a
function of the module counts as a use of it. Where the text does not tell (a module passed around as a value,
`globals()`, a name that nothing in sight binds) the whole module counts.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.plan.source_text import Chain, chain_of, is_description, meaning_of

EFFECTS = ""
"""The name of what a module does when it is loaded, beside binding names."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, kw_only=True)
class Link:
    """A name that an import binds: a module, or a name of one."""

    module: str
    name: str | None


@dataclass(frozen=True, kw_only=True)
class Binding:
    """What a name means by itself: the fingerprint of the statements that bind it, and what these use."""

    fingerprint: str
    chains: frozenset[Chain]
    inner: tuple[tuple[str, Link], ...] = ()
    """Names that imports inside the statements bind."""


@dataclass(frozen=True, kw_only=True)
class ModuleIndex:
    """A module's names: what its own statements bind, and what its imports do."""

    name: str
    is_package: bool
    bindings: Mapping[str, Binding]
    links: Mapping[str, tuple[Link, ...]]
    stars: tuple[str, ...]
    """Modules that it imports everything from."""

    @property
    def names(self) -> Iterable[str]:
        return {**self.bindings, **self.links}


@dataclass(kw_only=True)
class _Reading:
    """A module as it is read: its names with the statements and imports that bind them, in the order of the text."""

    name: str
    is_package: bool
    statements: dict[str, list[ast.stmt]] = field(default_factory=dict[str, list[ast.stmt]])
    links: dict[str, list[Link]] = field(default_factory=dict[str, list[Link]])
    stars: list[str] = field(default_factory=list[str])


def index_module(name: str, source: str, *, is_package: bool) -> ModuleIndex:
    index = _Reading(name=name, is_package=is_package)
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
    return ModuleIndex(
        name=name,
        is_package=is_package,
        bindings={bound: _binding(index, statements) for bound, statements in index.statements.items()},
        links={bound: tuple(links) for bound, links in index.links.items()},
        stars=tuple(index.stars),
    )


def _binding(index: _Reading, statements: Iterable[ast.stmt]) -> Binding:
    texts: list[str] = []
    chains: set[Chain] = set()
    inner: list[tuple[str, Link]] = []
    for statement in statements:
        meaning = meaning_of(statement)
        texts.append(meaning.text)
        chains |= meaning.chains
        for each in meaning.imports:
            inner += _links_of(index, each)
    # Where a name is imported from counts as well: the same call of another library is another thing.
    used = sorted({chain[0] for chain in chains} & index.links.keys())
    texts += [f"{name} is {link.module}:{link.name or ''}" for name in used for link in index.links[name]]
    return Binding(fingerprint=fingerprint(texts), chains=frozenset(chains), inner=tuple(inner))


def _links_of(index: _Reading, statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Link]]:
    """The names that an import binds."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            bound = alias.asname or alias.name.partition(".")[0]
            yield bound, Link(module=alias.name if alias.asname else bound, name=None)
        return
    module = _absolute(index, statement)
    for alias in statement.names:
        yield alias.asname or alias.name, Link(module=module, name=alias.name)


def _absolute(index: _Reading, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parts = index.name.split(".")
    package = parts[: len(parts) - statement.level + index.is_package]
    return ".".join([*package, *filter(None, [statement.module])])


def _add(index: _Reading, statement: ast.stmt) -> None:
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


def _add_compound(index: _Reading, statement: ast.stmt) -> None:
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


def _add_import(index: _Reading, statement: ast.Import | ast.ImportFrom) -> None:
    for bound, link in _links_of(index, statement):
        if bound == "*":
            index.stars.append(link.module)
        else:
            index.links.setdefault(bound, []).append(link)


def _bind(index: _Reading, statement: ast.stmt, names: Iterable[str]) -> None:
    for name in names:
        index.statements.setdefault(name, []).append(statement)


def _declared_global(definition: ast.stmt) -> set[str]:
    return {name for node in ast.walk(definition) if isinstance(node, ast.Global) for name in node.names}


def _registries(index: _Reading, definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> set[str]:
    """Names of this module that the definition adds itself to, as in `@render.register`."""
    found: set[str] = set()
    for decorator in definition.decorator_list:
        expression = decorator.func if isinstance(decorator, ast.Call) else decorator
        chain = chain_of(expression)
        if chain is not None and len(chain) > 1 and chain[0] in index.statements:
            found.add(chain[0])
    return found


def _assigned(index: _Reading, statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
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
