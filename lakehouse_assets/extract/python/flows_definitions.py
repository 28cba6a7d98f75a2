"""What defines: imports, functions, classes, and `__all__`."""

import ast
from abc import abstractmethod
from typing import Any

from lakehouse_assets.extract.python.flows_names import DEFINITIONS, IMPORTS
from lakehouse_assets.extract.python.flows_patterns import Patterns
from lakehouse_assets.extract.python.flows_tables import NOTHING, Fun, Imp, Op
from lakehouse_assets.extract.python.scopes import Scopes

_KINDS_OF_DECORATOR = {
    "property": Fun.PROPERTY,
    "cached_property": Fun.PROPERTY,
    "abstractproperty": Fun.PROPERTY,
    "classproperty": Fun.PROPERTY,
    "staticmethod": Fun.STATIC,
    "classmethod": Fun.CLASS,
    "abstractclassmethod": Fun.CLASS,
    "abstractstaticmethod": Fun.STATIC,
    "setter": Fun.ACCESSOR,
    "deleter": Fun.ACCESSOR,
    "getter": Fun.ACCESSOR,
    "overload": Fun.OVERLOAD,
    "fixture": Fun.FIXTURE,
}
_BUILT_IN_DECORATORS = {"property", "staticmethod", "classmethod"}


def last_name(node: Any) -> str:
    return node.attr if node.__class__ is ast.Attribute else node.id if node.__class__ is ast.Name else ""


class Definitions(Patterns):
    """Functions are bound here; their bodies are put off until the body around them is done."""

    def __init__(self, scopes: Scopes) -> None:
        super().__init__(scopes)
        self.flags: dict[int, int] = {}
        self.forwards: dict[int, bool] = {}
        self.imports: list[list[int]] = []
        self.all_names: dict[str, Any] | None = None
        self.conditions = 0

    @abstractmethod
    def body(self, statements: list[Any]) -> None:
        """Reads statements one after the other."""

    def import_statement(self, node: Any) -> None:
        plain = node.__class__ is ast.Import
        module = NOTHING if plain or node.module is None else self.string(node.module)
        level = 0 if plain else node.level or 0
        for alias in node.names:
            index = len(self.imports)
            flags = self.conditions | (Imp.STAR if alias.name == "*" else 0)
            asname = NOTHING if alias.asname is None else self.string(alias.asname)
            source = self.string(alias.name) if plain else module
            name = NOTHING if plain else self.string(alias.name)
            self.imports.append([alias.d, alias.n, level, source, name, asname, int(flags)])
            self.import_of[alias.d, alias.n] = index
            if alias.name == "*":
                continue
            number = self.new()
            self.ops += (Op.IMPORT, number, index)
            bound = alias.asname or (alias.name.partition(".")[0] if plain else alias.name)
            self.bind(self.scope, bound, number, (IMPORTS, index))

    def function_statement(self, node: Any) -> None:
        value = self.new()
        self.ops += (Op.DEFINE, value, node.d)
        flags = 0
        for decorator in reversed(node.decorator_list):
            called = decorator.func if decorator.__class__ is ast.Call else decorator
            kind = _KINDS_OF_DECORATOR.get(last_name(called), 0)
            flags |= kind
            if kind and decorator.__class__ is ast.Name and decorator.id in _BUILT_IN_DECORATORS:
                continue
            if kind == Fun.ACCESSOR or kind == Fun.OVERLOAD:
                continue
            decorated = self._decorated(decorator, value)
            if not kind:
                value = decorated
                flags |= Fun.REPLACED
        self.flags[node.d] = flags
        self.defaults(node)
        self.later.append(node)
        how = (DEFINITIONS, node.d) if not flags & Fun.REPLACED else None
        self.bind(self.scope, node.name, value, how)

    def _decorated(self, decorator: Any, value: int) -> int:
        function = NOTHING if decorator.__class__ is ast.Constant else self.value(decorator)
        result = self.new()
        if function == NOTHING:
            self.ops += (Op.COPY, result, value)
            return result
        called = self.new()
        self.ops += (Op.CALL, called, function, decorator.d, decorator.n, 1, value, 0)
        self.ops += (Op.DECORATE, result, called, value, function)
        return result

    def class_statement(self, node: Any) -> None:
        value = self.new()
        self.ops += (Op.DEFINE, value, node.d)
        for base in node.bases:
            self.value(base)
        for keyword in node.keywords:
            self.value(keyword.value)
        plain = value
        for decorator in reversed(node.decorator_list):
            plain = self._decorated(decorator, plain)
        outer, latest, stored = self.scope, self.latest, self.stored
        self.scope, self.latest, self.stored = self.scopes.opened_by(node), {}, {}
        self.ops += (Op.FRAME, node.d)
        self.body(node.body)
        self.scope, self.latest, self.stored = outer, latest, stored
        self.ops += (Op.FRAME, outer.d)
        # A decorator of a class nearly always gives back the class, and readers elsewhere must find it without flows.
        if plain != value:
            self.ops += (Op.COPY, plain, value)
        self.bind(self.scope, node.name, plain, (DEFINITIONS, node.d))

    def add_all(self, value: Any) -> None:
        found = self.all_names
        if found is None:
            found = self.all_names = {"names": [], "modules": [], "unknown": False}
        match value:
            case ast.List() | ast.Tuple():
                for element in value.elts:
                    if isinstance(element, ast.Constant) and isinstance(element.value, str):
                        found["names"].append(element.value)
                    elif isinstance(element, ast.Starred):
                        self.add_all(element.value)
                    else:
                        found["unknown"] = True
            case ast.BinOp(op=ast.Add()):
                self.add_all(value.left)
                self.add_all(value.right)
            case ast.Attribute(attr="__all__"):
                reference = self.reference(value.value, self.scope)
                if reference is None:
                    found["unknown"] = True
                else:
                    found["modules"].append(reference)
            case _:
                found["unknown"] = True

    def extend_all(self, call: Any) -> None:
        argument: Any = call.args[0] if len(call.args) == 1 else None
        match call.func.attr:
            case "extend":
                self.add_all(argument)
            case "append":
                self.add_all(ast.List(elts=[argument]))
            case _ if self.all_names is not None:
                self.all_names["unknown"] = True
