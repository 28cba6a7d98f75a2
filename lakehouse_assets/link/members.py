"""What descriptors tell of definitions that are known by names only: which are members, and of which type."""

import re

from lakehouse_assets.link.imports import Thing

_LAST = re.compile(r"(?:`(?:[^`]|``)*`|[\w$+-]+)(?:\((?:\+\d+)?\)\.|#|!)$")
"""The last part of a descriptor: a name and what kind of definition has it."""


def is_callable(descriptor: str) -> bool:
    return descriptor.endswith((").", "#", "!"))


def fits(descriptor: str, types_only: bool) -> bool:
    return not types_only or descriptor.endswith("#")


def type_of(descriptor: str) -> str:
    """The descriptor of the type that something is a member of; empty for what is no member."""
    outer = _LAST.sub("", descriptor)
    return outer if outer.endswith(("#", "]")) else ""


def type_around(descriptor: str) -> str:
    """The descriptor of the innermost type that something stands in; empty if in none."""
    outer = type_of(descriptor)
    while not outer and (shorter := _LAST.sub("", descriptor)) != descriptor:
        descriptor = shorter
        outer = type_of(descriptor)
    return outer


def is_in(around: str, name: str) -> bool:
    """Whether a type is called so: `Name#`, or in Rust `impl#[Name]`."""
    return around.endswith((f"{name}#", f"[{name}]")) and around.rstrip("#]").replace("[", "#").split("#")[-1] == name


def distinct(found: list[Thing]) -> list[Thing]:
    """Without the constructors of a type that is among them and has their name."""
    types = {(thing[1], thing[2]) for thing in found if thing[0] == "c"}
    return [thing for thing in found if (thing[1], type_of(thing[2])) not in types]


def only(found: list[Thing], method: str, confidence: str) -> tuple[Thing, str, str] | None:
    left = distinct(found)
    return (left[0], method, confidence) if len(left) == 1 else None


def as_thing(path: str, descriptor: str) -> Thing:
    return ("c" if descriptor.endswith("#") else "f", path, descriptor)
