"""Which extractor reads which language, and the version of what it makes."""

import functools
import sys

from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.packing import pack
from lakehouse_assets.extract.python.extractor import LANGUAGE as PYTHON
from lakehouse_assets.extract.python.extractor import extract_python
from lakehouse_assets.plan.code_version import code_version

LANGUAGES = frozenset({PYTHON})
"""Languages that facts can be extracted from, by their names in `languages.toml`."""


def extract(source: bytes | str, language: str) -> Facts:
    """The local facts of a content, read as `language`, one of `LANGUAGES`."""
    return extract_python(source)


@functools.cache
def extractor_version(language: str) -> str:
    """Changes when facts of the language could: by code, libraries, or the interpreter's own grammar."""
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    return code_version(extract_python, pack, libraries=(), parameters=(f"Python {minor}",))
