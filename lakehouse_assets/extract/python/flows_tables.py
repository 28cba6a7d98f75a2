"""The tables of a file's flow program: strings, constants, references, annotations, and the operations themselves.

Everything refers to everything by small integers, so that a program of thousands of operations is one short list of
numbers in JSON.
"""

import ast
from typing import Any

from lakehouse_assets.extract.python.scopes import Scope, Scopes

LONGEST_CONSTANT = 60
"""Longer strings serve no one as a key or an attribute's name: only their type is kept."""


class Op:
    """What an operation does, and its operands. `at` is d, n: the node that an edge starts from.

    Plain numbers: there are some hundred thousand of them in a large repository.
    """

    COPY = 0  # to, from
    DEFINE = 1  # to, d
    IMPORT = 2  # to, import
    UNBOUND = 3  # to, name: a built-in, or from a star import
    GET = 4  # to, object, name, at
    SET = 5  # object, name, from, at
    ITEM = 6  # to, object, constant, key, at
    SET_ITEM = 7  # object, constant, key, from, at
    CALL = 8  # to, function, at, arguments
    METHOD = 9  # to, object, name, at, arguments
    BUILD = 10  # to, kind, at, count, (constant, from)...
    ITERATE = 11  # to, from, at
    UNPACK = 12  # to, from, index, rest, at
    ENTER = 13  # to, from, at
    BINARY = 14  # to, left, right, name, at
    UNARY = 15  # to, from, name, at
    CONSTANT = 16  # to, constant
    ANNOTATE = 17  # to, annotation
    DECORATE = 18  # to, result, function, decorator
    RAISE = 19  # from, at
    SLICE = 20  # to, object, low, high, at
    DELETE = 21  # object, at
    FRAME = 22  # d: what follows is run by this definition, wherever it is written
    INSTANCE = 23  # to, class


# Arguments: count, values..., count, (name, value)...; a starred value v is -(v + 2), a name of -1 is `**`.

NOTHING = -1
"""A variable that never holds anything worth following."""
SPREAD = -2
"""In BUILD, instead of a constant: the elements of what follows."""


class Fun:
    """Flags of a function."""

    GENERATOR = 1
    ASYNC = 2
    PROPERTY = 4
    STATIC = 8
    CLASS = 16
    ACCESSOR = 32
    """Setter or deleter of a property."""
    LAMBDA = 64
    METHOD = 128
    OVERLOAD = 256
    REPLACED = 512
    """Has a decorator that may put something else in its place."""
    FIXTURE = 1024
    """What pytest hands to parameters of its name."""
    FORWARDS = 2048
    """Gives back what a function gives that the definition around it was handed: what decorators put in its place."""


class Imp:
    """Flags of an import."""

    STAR = 1
    TYPE_CHECKING = 2
    OPTIONAL = 4
    """In a `try` that expects it to fail, or in the handler that makes up for it."""
    CONDITIONAL = 8


KINDS = ("list", "tuple", "set", "dict", "generator")

Reference = list[Any]
"""[0, name, attribute...] from a name of the module or a built-in; [1, d, attribute...] from a definition."""


class Tables:
    """Interns what operations refer to."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.ops: list[int] = []
        self.variables = 0
        self.strings: dict[str, int] = {}
        self.constants: dict[str, int] = {}
        self.annotations: list[list[Any]] = []
        self._annotation_index: dict[str, int] = {}
        self._owners: dict[tuple[int, str], Scope | None] = {}

    def new(self) -> int:
        number = self.variables
        self.variables = number + 1
        return number

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def constant(self, value: Any) -> int:
        """Index of a constant: `s:text`, `i:number`, or `t:type` where the value itself serves no one."""
        kind = value.__class__
        if kind is str and len(value) <= LONGEST_CONSTANT and "\0" not in value:  # which separates parts of keys
            text = "s:" + value
        elif kind is int and -10_000 < value < 10_000:
            text = f"i:{value}"
        else:
            text = "t:" + kind.__name__
        return self.constants.setdefault(text, len(self.constants))

    def owner(self, scope: Scope, name: str) -> Scope | None:
        key = (scope.index, name)
        if key not in self._owners:
            self._owners[key] = self.scopes.lookup(scope, name)
        return self._owners[key]

    def reference(self, node: Any, scope: Scope) -> Reference | None:
        """A dotted expression as something that can be resolved without following flows; None if it is not one."""
        attributes: list[str] = []
        while node.__class__ is ast.Attribute:
            attributes.append(node.attr)
            node = node.value
        if node.__class__ is not ast.Name:
            return None
        attributes.reverse()
        owner = self.owner(scope, node.id)
        if owner is None or owner.kind == "module":
            return [0, node.id, *attributes]
        bound = [found for found in owner.bindings[node.id] if isinstance(found, ast.ClassDef | ast.alias)]
        if len(bound) == 1 and isinstance(bound[0], ast.ClassDef):
            return [1, bound[0].d, *attributes]  # pyright: ignore[reportAttributeAccessIssue]
        return None

    def annotation(self, node: Any, scope: Scope) -> int:
        """Index of what an annotation says a value is; NOTHING if it says nothing that can be followed."""
        said = self._said(node, scope, 0)
        if not said:
            return NOTHING
        text = repr(said)
        index = self._annotation_index.get(text)
        if index is None:
            index = self._annotation_index[text] = len(self.annotations)
            self.annotations.append(said)
        return index

    def _said(self, node: Any, scope: Scope, depth: int) -> list[Any]:
        """Alternatives: ["i", reference]: an instance, ["c", reference]: a class, or [container, alternatives]."""
        if depth > 6:
            return []
        match node:
            case ast.Constant(value=str() as text):
                try:
                    parsed = ast.parse(text, mode="eval").body
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return []
                return self._said(parsed, scope, depth + 1)
            case ast.BinOp(op=ast.BitOr()):
                return self._said(node.left, scope, depth + 1) + self._said(node.right, scope, depth + 1)
            case ast.Subscript():
                return self._generic(node, scope, depth)
            case ast.Name() | ast.Attribute():
                reference = self.reference(node, scope)
                return [["i", reference]] if reference else []
        return []

    def _generic(self, node: ast.Subscript, scope: Scope, depth: int) -> list[Any]:
        head = node.value
        name = head.attr if isinstance(head, ast.Attribute) else head.id if isinstance(head, ast.Name) else ""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        first = parts[0] if parts else None
        match name:
            case "Optional" | "Union" | "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" | "ReadOnly":
                taken = parts[:1] if name == "Annotated" else parts
                return [said for part in taken for said in self._said(part, scope, depth + 1)]
            case "type" | "Type":
                return [["c", said[1]] for said in self._said(first, scope, depth + 1) if said[0] == "i"]
            case "list" | "List" | "Sequence" | "MutableSequence":
                return self._container("list", first, scope, depth)
            case "set" | "Set" | "frozenset" | "FrozenSet" | "AbstractSet" | "MutableSet":
                return self._container("set", first, scope, depth)
            case "tuple" | "Tuple":
                elements = [said for part in parts for said in self._said(part, scope, depth + 1)]
                return [["tuple", elements]] if elements else []
            case "ContextVar":
                return self._container("dict", first, scope, depth)
            case "dict" | "Dict" | "Mapping" | "MutableMapping" | "defaultdict" | "DefaultDict" | "OrderedDict":
                return self._container("dict", parts[-1] if len(parts) == 2 else None, scope, depth)
            case (
                "Iterator"
                | "Iterable"
                | "Generator"
                | "AsyncIterator"
                | "AsyncIterable"
                | "AsyncGenerator"
                | "Collection"
            ):
                return self._container("generator", first, scope, depth)
            case "Awaitable" | "Coroutine":
                return self._said(parts[-1] if parts else None, scope, depth + 1)
        reference = self.reference(head, scope)
        return [["i", reference]] if reference else []

    def _container(self, kind: str, element: Any, scope: Scope, depth: int) -> list[Any]:
        said = self._said(element, scope, depth + 1) if element is not None else []
        return [[kind, said]] if said else []
