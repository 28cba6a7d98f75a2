"""Statements as operations: what assigns, what branches, and what gives back."""

import ast
from typing import Any

from lakehouse_assets.extract.python.flows_definitions import Definitions, last_name
from lakehouse_assets.extract.python.flows_names import REFERENCES
from lakehouse_assets.extract.python.flows_tables import NOTHING, Imp, Op

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_IMPORT_FAILURES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException", "AttributeError"}


class Statements(Definitions):
    """Reads bodies; what functions hold is put off until the body around them is done."""

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
            self.extend_all(value)
        self.value(value)

    def _assign(self, node: Any) -> None:
        if node.__class__ is ast.AnnAssign:
            self._annotated(node)
            return
        targets = node.targets
        first = targets[0]
        if self.scope.kind == "module" and first.__class__ is ast.Name and first.id == "__all__":
            self.all_names = {"names": [], "modules": [], "unknown": False}
            self.add_all(node.value)
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
            self.add_all(node.value)
        before = self.value(target)
        value = self.binary(before, self.value(node.value), node.op.__class__, node)
        self.store(target, value)

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
        before = self.conditions
        self.conditions |= Imp.TYPE_CHECKING if last_name(node.test) == "TYPE_CHECKING" else Imp.CONDITIONAL
        self._branches([node.body, node.orelse])
        self.conditions = before

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
        before = self.conditions
        expected = {last_name(part) for handler in node.handlers for part in _alternatives(handler.type)}
        if "" in expected or expected & _IMPORT_FAILURES:
            self.conditions |= Imp.OPTIONAL
        self.stored.clear()
        self.body(node.body)
        for handler in node.handlers:
            self.latest = {}
            self.stored.clear()
            self._handler(handler)
        self.latest = {}
        self.stored.clear()
        self.body(node.orelse)
        self.conditions = before
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
            self.pattern(case.pattern, subject)
            if case.guard is not None:
                self.value(case.guard)
            self.body(case.body)
        self.latest = {}
        self.stored.clear()


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
    ast.Import: Statements.import_statement,
    ast.ImportFrom: Statements.import_statement,
    ast.FunctionDef: Statements.function_statement,
    ast.AsyncFunctionDef: Statements.function_statement,
    ast.ClassDef: Statements.class_statement,
    ast.Assert: lambda self, node: [self.value(part) for part in (node.test, node.msg) if part is not None],
}
