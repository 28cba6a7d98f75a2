"""Globs as in `.gitignore`, compiled once: which paths a repository's settings keep.

`*` and `?` stay within one name, `**` crosses `/`. A pattern without an inner `/` matches at any
depth, another from the root on. What matches a directory matches everything below it; a pattern that ends
in `/` matches directories only.
"""

import re
from collections.abc import Callable, Iterable

from lakehouse_assets.core.errors import BadInputError


def path_filter(include: Iterable[str], exclude: Iterable[str]) -> Callable[[str], bool]:
    """Whether a path is kept: it matches one of `include`, or that is empty, and none of `exclude`."""
    kept, left_out = _any_of(include), _any_of(exclude)

    def keeps(path: str) -> bool:
        return (kept is None or bool(kept.match(path))) and (left_out is None or not left_out.match(path))

    return keeps


def glob_regex(pattern: str) -> str:
    """The pattern as a regular expression for `fullmatch` on a path from the root."""
    body = pattern.removesuffix("/")
    anchored = "/" in body
    body = body.removeprefix("/")
    if not body or pattern.startswith("!"):
        raise _bad_pattern(pattern, "it is empty" if not body else "it begins with '!'")
    start = "" if anchored else "(?:.*/)?"
    end = "/.+" if pattern.endswith("/") else "(?:/.*)?"
    regex = start + _translated(body) + end
    try:
        re.compile(regex)
    except re.error as error:
        raise _bad_pattern(pattern, f"a range in its brackets is backwards or broken ({error.msg})") from error
    return regex


def _any_of(patterns: Iterable[str]) -> re.Pattern[str] | None:
    regexes = [glob_regex(pattern) for pattern in patterns]
    return re.compile(rf"(?:{'|'.join(regexes)})\Z", re.DOTALL) if regexes else None


def _translated(body: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(body):
        rest = body[at:]
        at_name_start = at == 0 or body[at - 1] == "/"
        if at_name_start and rest.startswith("**/"):
            out.append("(?:.*/)?")
            at += 3
        elif at_name_start and rest == "**":
            out.append(".+")
            at += 2
        elif rest[0] == "*":
            out.append("[^/]*")
            at += len(rest) - len(rest.lstrip("*"))
        elif rest[0] == "?":
            out.append("[^/]")
            at += 1
        elif found := re.match(r"\[([!^]?)(\]?[^\]]*)\]", rest):
            negated, members = found.groups()
            escaped = re.sub(r"([\\\[&~|])", r"\\\1", members)
            escaped = f"\\{escaped}" if escaped.startswith(("^", "]")) else escaped
            out.append(f"(?!/)[{'^' if negated else ''}{escaped}]")
            at += found.end()
        elif rest[0] == "\\" and len(rest) > 1:
            out.append(re.escape(rest[1]))
            at += 2
        else:
            out.append(re.escape(rest[0]))
            at += 1
    return "".join(out)


def _bad_pattern(pattern: str, seen: str) -> BadInputError:
    return BadInputError(
        subject=f"glob {pattern!r}",
        seen=seen,
        why="it would keep or leave out other files than meant",
        remedy="write patterns as `docs/`, `*.py` or `src/**/test_*.py`; to take files back, use include and exclude",
    )
