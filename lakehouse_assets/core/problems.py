"""What is wrong in a file, told by its place; a field that is not there with the one that was meant."""

from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from lakehouse_assets.core.text import nearest


def first_problem(error: ValidationError, root: Any) -> tuple[tuple[int | str, ...], str]:
    """Place and words of the first problem. The values are left out: one may be a password.

    `root` is the type that was asked for. A field that is not known comes before one that is missing: it may be that.
    """
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    first = next((each for each in problems if each["type"] == "extra_forbidden"), problems[0])
    place = tuple(first["loc"])
    if first["type"] != "extra_forbidden":
        return place, first["msg"].removeprefix("Value error, ")
    fields = _fields_at(root, place[:-1])
    meant = nearest(str(place[-1]), fields) or "there are " + ", ".join(fields)
    return place, f"there is no such field; {meant}"


def _fields_at(root: Any, place: Sequence[int | str]) -> list[str]:
    """The fields that may stand at a place. Numbers of list entries and tags of unions lead to no other type."""
    here = _models_in(root)
    for part in place:
        inside = [
            each.model_fields[part].annotation for each in here if isinstance(part, str) and part in each.model_fields
        ]
        tagged = [each for each in here if _tag(each) == part]
        if inside:
            here = [model for annotation in inside for model in _models_in(annotation)]
        elif tagged:
            here = tagged
    return list(dict.fromkeys(name for each in here for name in each.model_fields))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in get_args(annotation) for model in _models_in(each)]


def _tag(model: type[BaseModel]) -> Any:
    """The word by which a union tells the model from others: the first value of its first literal field."""
    for field in model.model_fields.values():
        values = get_args(field.annotation)
        if len(values) == 1 and isinstance(values[0], str):
            return values[0]
    return None
