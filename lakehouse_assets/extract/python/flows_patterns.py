"""Patterns of `match`: what they bind, and what they say about it."""

import ast
from typing import Any

from lakehouse_assets.extract.python.flows_expressions import Expressions
from lakehouse_assets.extract.python.flows_tables import NOTHING, Op


class Patterns(Expressions):
    """Binds the names of a pattern to the parts of what is matched."""

    def pattern(self, pattern: Any, subject: int) -> None:
        match pattern:
            case ast.MatchAs():
                if pattern.pattern is not None:
                    self.pattern(pattern.pattern, subject)
                if pattern.name is not None:
                    self.bind(self.scopes.of(pattern), pattern.name, subject)
            case ast.MatchStar():
                if pattern.name is not None:
                    self.bind(self.scopes.of(pattern), pattern.name, NOTHING)
            case ast.MatchOr():
                for part in pattern.patterns:
                    self.pattern(part, subject)
            case ast.MatchSequence():
                for i, part in enumerate(pattern.patterns):
                    number = self.new()
                    if subject != NOTHING:
                        self.ops += (Op.UNPACK, number, subject, i, NOTHING, part.d, part.n)  # pyright: ignore[reportAttributeAccessIssue]
                    self.pattern(part, number)
            case ast.MatchMapping():
                for key, part in zip(pattern.keys, pattern.patterns, strict=True):
                    number = self.new()
                    constant = self.constant(key.value) if isinstance(key, ast.Constant) else NOTHING
                    if subject != NOTHING:
                        self.ops += (Op.ITEM, number, subject, constant, NOTHING, part.d, part.n)  # pyright: ignore[reportAttributeAccessIssue]
                    self.pattern(part, number)
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
            self.pattern(part, NOTHING)
        for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            number = self.new()
            self.ops += (Op.GET, number, subject, self.string(name), part.d, part.n)  # pyright: ignore[reportAttributeAccessIssue]
            self.pattern(part, number)
