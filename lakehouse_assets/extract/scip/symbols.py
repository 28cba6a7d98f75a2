"""The grammar of SCIP's symbols: `scheme manager package version descriptors`, or `local id`."""

import re

from lakehouse_assets.extract.symbols import symbol_of

_SIMPLE = "[A-Za-z0-9_+$-]"
_NAME = rf"(?:{_SIMPLE}+|`(?:[^`]|``)+`)"
_DESCRIPTOR = rf"(?:{_NAME}(?:[/#.:!]|\({_SIMPLE}*\)\.)|\[{_NAME}\]|\({_NAME}\))"
_SPACED = r"(?:[^ ]|  )+"
_GLOBAL = re.compile(rf"(?!local )(?:{_SPACED} ){{4}}(?P<descriptors>{_DESCRIPTOR}+)", re.DOTALL)
_LOCAL = re.compile(rf"local {_SIMPLE}+")
_SIMPLE_NAME = re.compile(rf"{_SIMPLE}+")
_QUOTED = re.compile(r"`((?:[^`]|``)+)`")
_OWN_NAME = r"([^`#.()/:!\[\]]+|`(?:[^`]|``)+`)"
_OWN_DESCRIPTOR = re.compile(rf"{_OWN_NAME}(?:\(([A-Za-z0-9_+$-]*)\))?([#./:!])|\[{_OWN_NAME}\]")

SCHEME = "lakehouse"


def fault(symbol: str) -> str | None:
    """What is wrong with a symbol by the grammar; None if nothing is."""
    if symbol.startswith("local "):
        return None if _LOCAL.fullmatch(symbol) else "its local id has other characters than letters, digits, _+-$"
    found = _GLOBAL.fullmatch(symbol)
    if found is None:
        return "it is not of the form `scheme manager package version descriptors`"
    for quoted in _QUOTED.findall(found["descriptors"]):
        if _SIMPLE_NAME.fullmatch(quoted):
            return f"`{quoted}` needs no backticks, and two spellings of one symbol are two symbols"
    return None


def is_local(symbol: str) -> bool:
    return symbol.startswith("local ")


def name(text: str) -> str:
    """A name as a descriptor has it, in backticks where it needs them."""
    return text if _SIMPLE_NAME.fullmatch(text) else "`{}`".format(text.replace("`", "``"))


def symbol_prefix(manager: str, package: str, version: str) -> str:
    """All of a symbol before its descriptors; what is empty becomes a point."""
    return " ".join([SCHEME, *(part.replace(" ", "  ") or "." for part in (manager, package, version)), ""])


def definition_descriptors(path: str, symbol: str) -> str:
    """Our symbol of a definition, path and descriptor, as descriptors of SCIP's grammar.

    Ours leaves names unquoted, and tells a second class of one name by a number as methods do, which SCIP does not
    know: there the number becomes part of the name. What cannot be taken apart becomes one name.
    """
    own = symbol.removeprefix(symbol_of(path, ""))
    parts = [name(path), "/"]
    at = 0
    while at < len(own):
        found = _OWN_DESCRIPTOR.match(own, at)
        if found is None:
            return "".join([*parts, name(own[at:]), "."])
        text, number, suffix, parameter = found.groups()
        text = _unquoted(text or parameter)
        if parameter:
            parts.append(f"[{name(text)}]")
        elif number is None:
            parts += [name(text), suffix]
        elif suffix == ".":
            parts += [name(text), f"({number})."]
        else:
            parts += [name(f"{text}({number})"), suffix]
        at = found.end()
    return "".join(parts)


def _unquoted(text: str) -> str:
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def external_descriptors(dotted: str) -> tuple[str, str]:
    """Package and descriptors of a dotted name from outside: all but the last part are namespaces."""
    *spaces, last = dotted.removeprefix("<builtin>.").split(".")
    package = "builtins" if dotted.startswith("<builtin>.") else (spaces or [last])[0]
    return package, "".join([*(f"{name(part)}/" for part in spaces if part), f"{name(last or dotted)}."])
