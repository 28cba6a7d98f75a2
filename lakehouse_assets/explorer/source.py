"""Source text of definitions, line by line, and its highlighting."""

from collections.abc import Iterator
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType
from pygments.util import ClassNotFound

from lakehouse_assets.explorer.answers import Answers
from lakehouse_assets.explorer.texts import Texts
from lakehouse_assets.stories.html import Markup, element, join

LINES = 400
"""Lines that are shown at once."""
_LONGEST_LINE = 2_000
_HIGHLIGHTED = 200_000
"""Characters up to which text is highlighted: lexers are patterns, and some texts make them slow."""

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "com"),
    (String, "str"),
    (Keyword, "kw"),
    (Number, "num"),
    (Name.Function, "fn"),
    (Name.Class, "fn"),
    (Name.Decorator, "fn"),
)


class Sources:
    """Source of definitions."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._texts = Texts(answers.indexes.lake)

    def of_symbol(self, repo: str, symbol_id: str, *, at: str | None = None, offset: int = 0) -> dict[str, Any]:
        """The lines of a definition, from `offset` lines behind its first."""
        index = self._answers.index(repo, at)
        told = index.definition(self._answers.number(index, repo, symbol_id))
        blob, language = index.blobs.get((repo, told["path"]), ("", None))
        lines = self._texts.lines(blob) if blob else ()
        whole = lines[told["line"] - 1 : told["end_line"]] if told["kind"] != "module" else lines
        first = (told["line"] if told["kind"] != "module" else 1) + offset
        return {
            "repo": repo,
            "path": told["path"],
            "language": language,
            "first_line": first,
            "lines_total": len(whole),
            "lines": [_cut(line) for line in whole[offset : offset + LINES]],
        }


def highlighted(source: dict[str, Any]) -> Markup:
    """The lines with their numbers, each an element that can be linked to."""
    lines = [line.replace("\t", "    ") for line in source["lines"]]
    first: int = source["first_line"]
    shown = [
        element(
            "span",
            element("a", f"{number:>5} ", href=f"#L{number}", class_="line-number", aria_label=f"line {number}"),
            join(*parts),
            Markup("\n"),
            id=f"L{number}",
            class_="line",
        )
        for number, parts in enumerate(_lines(lines, source["language"]), start=first)
    ]
    return element("pre", shown, class_="source", tabindex=0, aria_label=f"Source of {source['path']}")


def _lines(lines: list[str], language: str | None) -> Iterator[list[Markup]]:
    text = "\n".join(lines)
    if language is None or len(text) > _HIGHLIGHTED:
        yield from ([join(line)] for line in lines)
        return
    try:
        lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        yield from ([join(line)] for line in lines)
        return
    line: list[Markup] = []
    made = 0
    for kind, value in lexer.get_tokens(text):
        for number, part in enumerate(value.split("\n")):
            if number:
                yield line
                made += 1
                line = []
            if part:
                line.append(_token(kind, part))
    if made < len(lines):
        yield line


def _token(kind: _TokenType, text: str) -> Markup:
    for wanted, name in _CLASSES:
        if kind in wanted:
            return element("span", text, class_=name)
    return join(text)


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}… ({len(line):,} characters)"
