"""The documentation of the transforms, from their types: `python -m lakehouse_assets.models.transforms.docs`."""

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from lakehouse_assets.models.transforms.base import Transform
from lakehouse_assets.models.transforms.steps import Step

_HEAD = """# Transforms

Steps that a model in YAML may name. They run one after the other, each over the rows of the one before, and compile to
one query of Spark SQL. This page is written by `make docs` from the types; an editor gets the same from the schemas
that `lakehouse new schemas` writes.
"""


def kinds() -> tuple[type[Transform], ...]:
    return get_args(get_args(Step)[0])


def name_of(kind: type[Transform]) -> str:
    return get_args(kind.model_fields["do"].annotation)[0]


def page() -> str:
    return "\n".join([_HEAD, *(_section(kind) for kind in kinds())])


def _section(kind: type[Transform]) -> str:
    said = " ".join((kind.__doc__ or "").split())
    fields = [_field(name, field) for name, field in kind.model_fields.items() if name != "do"]
    table = ["", "| field | type | default | meaning |", "|---|---|---|---|", *fields] if fields else []
    return "\n".join([f"## {name_of(kind)}", "", said, "", f"    - {kind.example}", *table, ""])


def _field(name: str, field: Any) -> str:
    default = "required" if field.is_required() else f"`{_yaml(field.get_default(call_default_factory=True))}`"
    return f"| `{name}` | {_words(field.annotation)} | {default} | {field.description or ''} |"


def _yaml(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case tuple():
            return f"[{', '.join(map(_yaml, value))}]"
        case dict():
            return "{}"
        case _:
            return str(value) or "''"


def _words(annotation: Any) -> str:
    """A type as a reader of YAML would say it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _words(inner[0])
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inner)
    if origin in (Union, UnionType):
        return " or ".join(_words(each) for each in inner if each is not NoneType)
    if origin is tuple:
        return f"list: {_words(inner[0])}"
    if origin is dict:
        return f"by name: {_words(inner[1])}"
    return {str: "text", int: "whole number", float: "number", bool: "`true` or `false`"}.get(annotation, "value")


if __name__ == "__main__":
    print(page(), end="")
