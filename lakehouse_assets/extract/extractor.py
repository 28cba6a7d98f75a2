"""Which extractor reads which language, and the version of what it makes."""

import functools
import sys
import tomllib

from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.packing import pack
from lakehouse_assets.extract.python.extractor import LANGUAGE as PYTHON
from lakehouse_assets.extract.python.extractor import extract_python
from lakehouse_assets.extract.treesitter.extractor import SUPPORTED, extract_with_tree_sitter
from lakehouse_assets.extract.treesitter.grammars import GRAMMARS_FILE, QUERIES
from lakehouse_assets.plan.code_version import code_version

LANGUAGES = SUPPORTED | {PYTHON}
"""Languages that facts can be extracted from, by their names in `languages.toml`."""


def extract(source: bytes | str, language: str) -> Facts:
    """The local facts of a content, read as `language`, one of `LANGUAGES`. Raises nothing, whatever the source."""
    return extract_python(source) if language == PYTHON else extract_with_tree_sitter(source, language)


@functools.cache
def extractor_version(language: str) -> str:
    """Changes when facts of the language could, and not when only another language's do.

    By code, by the grammar and the queries of the language, and for Python by the interpreter, whose parser is used.
    """
    grammar = tomllib.loads(GRAMMARS_FILE.read_text("utf-8"))[language]
    interpreter = f"Python {sys.version_info.major}.{sys.version_info.minor}" if language == PYTHON else ""
    return code_version(
        extract_python if language == PYTHON else extract_with_tree_sitter,
        pack,
        libraries=("tree-sitter", grammar["wheel"]),
        data_files=[QUERIES / f"{name}.scm" for name in grammar["queries"]],
        parameters=(json_text(grammar), interpreter),
    )
