"""Expressions as operations over variables: each gives the variable that holds its value."""

import ast
from typing import Any

from lakehouse_assets.extract.python.flows_displays import Displays
from lakehouse_assets.extract.python.flows_tables import NOTHING, Op

BINARY_NAMES: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.BitAnd: "and",
    ast.FloorDiv: "floordiv",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.In: "contains",
    ast.NotIn: "contains",
}
UNARY_NAMES: dict[type, str] = {ast.UAdd: "pos", ast.USub: "neg", ast.Invert: "invert"}


class Expressions(Displays):
    """Each method takes a node and gives the variable that holds its value."""

    def value(self, node: Any) -> int:
        handler = _HANDLERS.get(node.__class__)
        return handler(self, node) if handler is not None else NOTHING

    def _name(self, node: Any) -> int:
        name = node.id
        scope = self.scopes.all[node.s]
        owner = self.owner(scope, name)
        if owner is None:
            number = self.unbound.get(name)
            if number is None:
                number = self.unbound[name] = self.new()
                self.ops += (Op.UNBOUND, number, self.string(name))
            return number
        first = owner.bindings[name][0]
        if first.__class__ is ast.alias:
            index = self.import_of.get((first.d, first.n))  # pyright: ignore[reportAttributeAccessIssue]
            if index is not None:
                self.uses += (index, node.d, node.n)
        if owner is self.scope:
            number = self.latest.get(name)
            if number is not None:
                return number
        return self.base(owner, name)

    def _constant(self, node: Any) -> int:
        value = node.value
        if value is None or value is True or value is False or value is Ellipsis:
            return NOTHING
        return self.constant_value(self.constant(value))

    def constant_value(self, index: int) -> int:
        number = self.new()
        self.ops += (Op.CONSTANT, number, index)
        return number

    def _attribute(self, node: Any) -> int:
        target = self.value(node.value)
        known = self._just_stored(node)
        if target == NOTHING:
            return NOTHING if known is None else known
        number = self.new()
        self.ops += (Op.GET, number, target, self.string(node.attr), node.d, node.n)
        return number if known is None else known

    def _subscript(self, node: Any) -> int:
        target = self.value(node.value)
        part = node.slice
        known = self._just_stored(node)
        if part.__class__ is ast.Slice:
            self._bounds(part)
            low = part.lower.value if isinstance(part.lower, ast.Constant) else 0 if part.lower is None else None
            high = part.upper.value if isinstance(part.upper, ast.Constant) else None
            if target == NOTHING:
                return NOTHING
            number = self.new()
            low = low if isinstance(low, int) and low >= 0 and part.step is None else NOTHING
            high = high if isinstance(high, int) and high >= 0 else NOTHING
            self.ops += (Op.SLICE, number, target, low, high, node.d, node.n)
            return number
        constant, key = self._key(part)
        if target == NOTHING:
            return NOTHING if known is None else known
        number = self.new()
        self.ops += (Op.ITEM, number, target, constant, key, node.d, node.n)
        return number if known is None else known

    def _call(self, node: Any) -> int:
        function = node.func
        if function.__class__ is ast.Attribute and self._just_stored(function) is None:
            target = self.value(function.value)
            arguments = self.arguments(node.args, node.keywords)
            if target == NOTHING:
                return NOTHING
            number = self.new()
            self.ops += (Op.METHOD, number, target, self.string(function.attr), node.d, node.n)
            self.ops += arguments
            self.stored.clear()
            self._updated(node, function)
            return number
        target = self.value(function)
        arguments = self.arguments(node.args, node.keywords)
        self.stored.clear()
        if target == NOTHING:
            return NOTHING
        number = self.new()
        self.ops += (Op.CALL, number, target, node.d, node.n)
        self.ops += arguments
        return number

    def _updated(self, node: Any, function: Any) -> None:
        """`d.update({"a": f})` stores under the path `d["a"]` as an assignment would."""
        if function.attr != "update" or len(node.args) != 1 or node.args[0].__class__ is not ast.Dict:
            return
        path = function.value.id if function.value.__class__ is ast.Name else self.path(function.value)
        if path is None:
            return
        for key, value in zip(node.args[0].keys, node.args[0].values, strict=True):
            if key.__class__ is ast.Constant and value.__class__ is ast.Name:
                self.stored[f"{path}[{key.value!r}]"] = self._name(value)

    def _binary(self, node: Any) -> int:
        # A chain of a thousand `+` is as deep as it is long: go down its left side without calling.
        chain = [node]
        while chain[-1].left.__class__ is ast.BinOp:
            chain.append(chain[-1].left)
        left = self._operand(chain[-1].left)
        for part in reversed(chain):
            left = self.binary(left, self._operand(part.right), part.op.__class__, part)
        return left

    def _operand(self, node: Any) -> int:
        """No operator of a constant's type calls anything in a repository."""
        return NOTHING if node.__class__ is ast.Constant else self.value(node)

    def binary(self, left: int, right: int, operator: type, node: Any) -> int:
        if left == NOTHING and right == NOTHING:
            return NOTHING
        number = self.new()
        self.ops += (Op.BINARY, number, left, right, self.string(BINARY_NAMES[operator]), node.d, node.n)
        return number

    def _unary(self, node: Any) -> int:
        value = self.value(node.operand)
        name = UNARY_NAMES.get(node.op.__class__)
        if value == NOTHING or name is None:
            return NOTHING
        number = self.new()
        self.ops += (Op.UNARY, number, value, self.string(name), node.d, node.n)
        return number

    def _either(self, node: Any) -> int:
        if node.__class__ is ast.IfExp:
            self.value(node.test)
            values = [self.value(node.body), self.value(node.orelse)]
        else:
            values = [self.value(part) for part in node.values]
        values = [value for value in values if value != NOTHING]
        if len(values) < 2:
            return values[0] if values else NOTHING
        number = self.new()
        for value in values:
            self.ops += (Op.COPY, number, value)
        return number

    def _compare(self, node: Any) -> int:
        left = self._operand(node.left)
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self._operand(comparator)
            cls = operator.__class__
            if cls is ast.In or cls is ast.NotIn:
                if right != NOTHING:
                    self.binary(right, left, cls, node)
            elif cls in BINARY_NAMES:
                self.binary(left, right, cls, node)
            left = right
        return NOTHING

    def _lambda(self, node: Any) -> int:
        number = self.new()
        self.ops += (Op.DEFINE, number, node.d)
        self.defaults(node)
        self.later.append(node)
        return number

    def defaults(self, node: Any) -> None:
        """Default values are computed where the function is defined; they flow into its parameters."""
        args = node.args
        scope = self.scopes.opened_by(node)
        positional = [*args.posonlyargs, *args.args]
        pairs = list(zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True))
        pairs += zip(args.kwonlyargs, args.kw_defaults, strict=True)
        for parameter, default in pairs:
            if default is not None:
                value = self.value(default)
                if value != NOTHING:
                    self.ops += (Op.COPY, self.base(scope, parameter.arg), value)

    def _walrus(self, node: Any) -> int:
        value = self.value(node.value)
        scope = self.scopes.all[node.target.s]
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        self.bind(scope, node.target.id, value)
        return value

    def _await(self, node: Any) -> int:
        return self.value(node.value)

    def _yield(self, node: Any) -> int:
        self.generators.add(self.scope.d)
        if node.value is not None:
            value = self.value(node.value)
            if value != NOTHING:
                self.ops += (Op.COPY, self.result(self.yields), value)
        return NOTHING

    def _yield_from(self, node: Any) -> int:
        self.generators.add(self.scope.d)
        value = self.value(node.value)
        if value != NOTHING:
            self.ops += (Op.ITERATE, self.result(self.yields), value, node.d, node.n)
        return NOTHING

    def result(self, table: dict[int, int]) -> int:
        """The variable of what the function that is being read gives back (or yields)."""
        d = self.scope.d
        number = table.get(d)
        if number is None:
            number = table[d] = self.new()
        return number

    def _starred(self, node: Any) -> int:
        return self.value(node.value)

    def _text(self, node: Any) -> int:
        if node.__class__ is ast.FormattedValue:
            value = self.value(node.value)
            if value != NOTHING:
                self.ops += (Op.UNARY, self.new(), value, self.string("str"), node.d, node.n)
            return NOTHING
        for part in node.values:
            if part.__class__ is ast.FormattedValue:
                self.value(part)
        return self.constant_value(self.constant("x" * 100))

    def _bounds(self, node: Any) -> int:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.value(part)
        return NOTHING


# On the module, not the object: methods bound to it would keep it alive in a cycle.
_HANDLERS: dict[type, Any] = {
    ast.Name: Expressions._name,
    ast.Constant: Expressions._constant,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions._call,
    ast.Subscript: Expressions._subscript,
    ast.List: Expressions._display,
    ast.Tuple: Expressions._display,
    ast.Set: Expressions._display,
    ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.BoolOp: Expressions._either,
    ast.IfExp: Expressions._either,
    ast.Compare: Expressions._compare,
    ast.Lambda: Expressions._lambda,
    ast.NamedExpr: Expressions._walrus,
    ast.Await: Expressions._await,
    ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yield_from,
    ast.Starred: Expressions._starred,
    ast.JoinedStr: Expressions._text,
    ast.FormattedValue: Expressions._text,
    ast.Slice: Expressions._bounds,
}
