"""Statements as operations: what binds names, what branches, and what defines."""

import ast
from typing import Any

from lakehouse_assets.extract.python.flows_expressions import DEFINITIONS, IMPORTS, REFERENCES, Expressions
from lakehouse_assets.extract.python.flows_tables import NOTHING, Fun, Imp, Op
from lakehouse_assets.extract.python.scopes import Scopes

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_IMPORT_FAILURES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException", "AttributeError"}
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


def _last_name(node: Any) -> str:
    return node.attr if node.__class__ is ast.Attribute else node.id if node.__class__ is ast.Name else ""


class Statements(Expressions):
    """Reads bodies; what functions hold is put off until the body around them is done."""

    def __init__(self, scopes: Scopes) -> None:
        super().__init__(scopes)
        self.flags: dict[int, int] = {}
        self.forwards: dict[int, bool] = {}
        self.imports: list[list[int]] = []
        self.all_names: dict[str, Any] | None = None
        self._conditions = 0

    def body(self, statements: list[Any]) -> None:
        for statement in statements:
            handler = _HANDLERS.get(statement.__class__)
            if handler is not None:
                handler(self, statement)

    def _expr(self, node: Any) -> None:
        value = node.value
        if value.__class__ is ast.Constant:
            return
        if (
            value.__class__ is ast.Call
            and value.func.__class__ is ast.Attribute
            and value.func.value.__class__ is ast.Name
            and value.func.value.id == "__all__"
            and self.scope.kind == "module"
        ):
            self._extend_all(value)
        self.value(value)

    def _assign(self, node: Any) -> None:
        if node.__class__ is ast.AnnAssign:
            self._annotated(node)
            return
        targets = node.targets
        first = targets[0]
        if self.scope.kind == "module" and first.__class__ is ast.Name and first.id == "__all__":
            self.all_names = {"names": [], "modules": [], "unknown": False}
            self._add_all(node.value)
        if node.value.__class__ in (ast.Tuple, ast.List) and all(self._matches(t, node.value) for t in targets):
            values = self._parts(node.value)
            for target in targets:
                self._store_parts(target, values)
            return
        source = self.value(node.value)
        for target in targets:
            if target.__class__ is ast.Name:
                self.bind(self.scopes.all[target.s], target.id, source, self._reference_to(node.value))
            else:
                self.store(target, source)

    def _reference_to(self, value: Any) -> tuple[int, Any] | None:
        if value.__class__ is ast.Name or value.__class__ is ast.Attribute:
            reference = self.reference(value, self.scope)
            if reference is not None:
                return REFERENCES, reference
        return None

    def _matches(self, target: Any, value: Any) -> bool:
        """Whether a tuple is taken apart as it was put together, so that no container need be followed."""
        if value.__class__ not in (ast.Tuple, ast.List):
            return target.__class__ not in (ast.Tuple, ast.List)
        if target.__class__ not in (ast.Tuple, ast.List) or len(target.elts) != len(value.elts):
            return False
        return all(
            part.__class__ is not ast.Starred and given.__class__ is not ast.Starred and self._matches(part, given)
            for part, given in zip(target.elts, value.elts, strict=True)
        )

    def _parts(self, value: Any) -> Any:
        if value.__class__ in (ast.Tuple, ast.List):
            return [self._parts(part) for part in value.elts]
        return self.value(value)

    def _store_parts(self, target: Any, values: Any) -> None:
        if isinstance(values, list):
            for part, value in zip(target.elts, values, strict=True):
                self._store_parts(part, value)
        else:
            self.store(target, values)

    def _annotated(self, node: Any) -> None:
        said = self.annotation(node.annotation, self.scope)
        source = self.value(node.value) if node.value is not None else NOTHING
        if said != NOTHING:
            number = self.new()
            self.ops += (Op.ANNOTATE, number, said)
            if source != NOTHING:
                self.ops += (Op.COPY, number, source)
            source = number
        if node.value is not None or said != NOTHING:
            self.store(node.target, source)

    def _augmented(self, node: Any) -> None:
        target = node.target
        if self.scope.kind == "module" and target.__class__ is ast.Name and target.id == "__all__":
            self._add_all(node.value)
        before = self.value(target)
        value = self.binary(before, self.value(node.value), node.op.__class__, node)
        self.store(target, value)

    def _add_all(self, value: Any) -> None:
        found = self.all_names
        if found is None:
            found = self.all_names = {"names": [], "modules": [], "unknown": False}
        match value:
            case ast.List() | ast.Tuple():
                for element in value.elts:
                    if isinstance(element, ast.Constant) and isinstance(element.value, str):
                        found["names"].append(element.value)
                    elif isinstance(element, ast.Starred):
                        self._add_all(element.value)
                    else:
                        found["unknown"] = True
            case ast.BinOp(op=ast.Add()):
                self._add_all(value.left)
                self._add_all(value.right)
            case ast.Attribute(attr="__all__"):
                reference = self.reference(value.value, self.scope)
                if reference is None:
                    found["unknown"] = True
                else:
                    found["modules"].append(reference)
            case _:
                found["unknown"] = True

    def _extend_all(self, call: Any) -> None:
        argument: Any = call.args[0] if len(call.args) == 1 else None
        match call.func.attr:
            case "extend":
                self._add_all(argument)
            case "append":
                self._add_all(ast.List(elts=[argument]))
            case _ if self.all_names is not None:
                self.all_names["unknown"] = True

    def _return(self, node: Any) -> None:
        if node.value is not None:
            d = self.scope.d
            self.forwards[d] = self.forwards.get(d, True) and self._is_forwarded(node.value)
            value = self.value(node.value)
            if value != NOTHING:
                self.ops += (Op.COPY, self.result(self.returns), value)

    def _is_forwarded(self, value: Any) -> bool:
        """Whether a value is that of a call of a parameter of a function around this one."""
        call = value.value if value.__class__ is ast.Await else value
        if call.__class__ is not ast.Call or call.func.__class__ is not ast.Name:
            return False
        owner = self.owner(self.scope, call.func.id)
        return (
            owner is not None
            and owner is not self.scope
            and owner.kind == "function"
            and owner.bindings[call.func.id][0].__class__ is ast.arg
        )

    def _raise(self, node: Any) -> None:
        if node.cause is not None:
            self.value(node.cause)
        if node.exc is not None:
            value = self.value(node.exc)
            if value != NOTHING and node.exc.__class__ not in (ast.Call, ast.Constant):
                self.ops += (Op.RAISE, value, node.exc.d, node.exc.n)

    def _delete(self, node: Any) -> None:
        for target in node.targets:
            if target.__class__ is ast.Subscript:
                holder = self.value(target.value)
                self.value(target.slice)
                if holder != NOTHING:
                    self.ops += (Op.DELETE, holder, target.d, target.n)

    def _branches(self, bodies: list[list[Any]]) -> None:
        """What was last assigned holds behind a branch only if every way through agrees on it."""
        before = self.latest
        self.stored.clear()
        after: dict[str, int] | None = None
        for body in bodies:
            self.latest = dict(before)
            self.body(body)
            self.stored.clear()
            if body and isinstance(body[-1], _ENDS):
                continue
            if after is None:
                after = self.latest
            else:
                latest = self.latest
                after = {name: number for name, number in after.items() if latest.get(name) == number}
        self.latest = after if after is not None else {}

    def _if(self, node: Any) -> None:
        self.value(node.test)
        before = self._conditions
        self._conditions |= Imp.TYPE_CHECKING if _last_name(node.test) == "TYPE_CHECKING" else Imp.CONDITIONAL
        self._branches([node.body, node.orelse])
        self._conditions = before

    def _loop(self, node: Any) -> None:
        self.latest = {}
        self.stored.clear()
        if node.__class__ is ast.While:
            self.value(node.test)
        else:
            self.iterate(node.iter, node.target)
        self.body(node.body)
        self.latest = {}
        self.stored.clear()
        self.body(node.orelse)

    def _try(self, node: Any) -> None:
        before = self._conditions
        expected = {_last_name(part) for handler in node.handlers for part in _alternatives(handler.type)}
        if "" in expected or expected & _IMPORT_FAILURES:
            self._conditions |= Imp.OPTIONAL
        self.stored.clear()
        self.body(node.body)
        for handler in node.handlers:
            self.latest = {}
            self.stored.clear()
            self._handler(handler)
        self.latest = {}
        self.stored.clear()
        self.body(node.orelse)
        self._conditions = before
        self.body(node.finalbody)
        self.latest = {}

    def _handler(self, handler: Any) -> None:
        values = [self.value(part) for part in _alternatives(handler.type) if part is not None]
        if handler.name is not None:
            number = self.new()
            for value in values:
                if value != NOTHING:
                    self.ops += (Op.INSTANCE, number, value)
            self.bind(self.scopes.all[handler.s], handler.name, number)
        self.body(handler.body)

    def _with(self, node: Any) -> None:
        for item in node.items:
            source = NOTHING if item.context_expr.__class__ is ast.Constant else self.value(item.context_expr)
            number = NOTHING
            if source != NOTHING:
                number = self.new()
                self.ops += (Op.ENTER, number, source, item.context_expr.d, item.context_expr.n)
            if item.optional_vars is not None:
                self.store(item.optional_vars, number)
        self.body(node.body)

    def _match(self, node: Any) -> None:
        subject = self.value(node.subject)
        for case in node.cases:
            self.latest = {}
            self._pattern(case.pattern, subject)
            if case.guard is not None:
                self.value(case.guard)
            self.body(case.body)
        self.latest = {}
        self.stored.clear()

    def _pattern(self, pattern: Any, subject: int) -> None:
        match pattern:
            case ast.MatchAs():
                if pattern.pattern is not None:
                    self._pattern(pattern.pattern, subject)
                if pattern.name is not None:
                    self.bind(self.scopes.of(pattern), pattern.name, subject)
            case ast.MatchStar():
                if pattern.name is not None:
                    self.bind(self.scopes.of(pattern), pattern.name, NOTHING)
            case ast.MatchOr():
                for part in pattern.patterns:
                    self._pattern(part, subject)
            case ast.MatchSequence():
                for i, part in enumerate(pattern.patterns):
                    number = self.new()
                    if subject != NOTHING:
                        self.ops += (Op.UNPACK, number, subject, i, NOTHING, part.d, part.n)  # pyright: ignore[reportAttributeAccessIssue]
                    self._pattern(part, number)
            case ast.MatchMapping():
                for key, part in zip(pattern.keys, pattern.patterns, strict=True):
                    number = self.new()
                    constant = self.constant(key.value) if isinstance(key, ast.Constant) else NOTHING
                    if subject != NOTHING:
                        self.ops += (Op.ITEM, number, subject, constant, NOTHING, part.d, part.n)  # pyright: ignore[reportAttributeAccessIssue]
                    self._pattern(part, number)
                if pattern.rest is not None:
                    self.bind(self.scopes.of(pattern), pattern.rest, NOTHING)
            case ast.MatchClass():
                self._class_pattern(pattern)
            case ast.MatchValue():
                self.value(pattern.value)

    def _class_pattern(self, pattern: ast.MatchClass) -> None:
        """What matched is an instance of the class, whatever else it may be."""
        cls = self.value(pattern.cls)
        subject = self.new()
        if cls != NOTHING:
            self.ops += (Op.INSTANCE, subject, cls)
        for part in pattern.patterns:
            self._pattern(part, NOTHING)
        for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            number = self.new()
            self.ops += (Op.GET, number, subject, self.string(name), part.d, part.n)  # pyright: ignore[reportAttributeAccessIssue]
            self._pattern(part, number)

    def _import(self, node: Any) -> None:
        plain = node.__class__ is ast.Import
        module = NOTHING if plain or node.module is None else self.string(node.module)
        level = 0 if plain else node.level or 0
        for alias in node.names:
            index = len(self.imports)
            flags = self._conditions | (Imp.STAR if alias.name == "*" else 0)
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

    def _function(self, node: Any) -> None:
        value = self.new()
        self.ops += (Op.DEFINE, value, node.d)
        flags = 0
        for decorator in reversed(node.decorator_list):
            called = decorator.func if decorator.__class__ is ast.Call else decorator
            kind = _KINDS_OF_DECORATOR.get(_last_name(called), 0)
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

    def _class(self, node: Any) -> None:
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


def _alternatives(kind: Any) -> list[Any]:
    return list(kind.elts) if kind.__class__ is ast.Tuple else [kind]


_HANDLERS: dict[type, Any] = {
    ast.Expr: Statements._expr,
    ast.Assign: Statements._assign,
    ast.AnnAssign: Statements._assign,
    ast.AugAssign: Statements._augmented,
    ast.Return: Statements._return,
    ast.Raise: Statements._raise,
    ast.Delete: Statements._delete,
    ast.If: Statements._if,
    ast.For: Statements._loop,
    ast.AsyncFor: Statements._loop,
    ast.While: Statements._loop,
    ast.Try: Statements._try,
    ast.TryStar: Statements._try,
    ast.With: Statements._with,
    ast.AsyncWith: Statements._with,
    ast.Match: Statements._match,
    ast.Import: Statements._import,
    ast.ImportFrom: Statements._import,
    ast.FunctionDef: Statements._function,
    ast.AsyncFunctionDef: Statements._function,
    ast.ClassDef: Statements._class,
    ast.Assert: lambda self, node: [self.value(part) for part in (node.test, node.msg) if part is not None],
}
