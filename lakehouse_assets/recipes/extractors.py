"""The versions of the extractors, whose facts most tables of the graph are made of."""

from collections.abc import Mapping
from functools import cache

from lakehouse_assets.extract.extractor import LANGUAGES, extractor_version


@cache
def extractors() -> Mapping[str, str]:
    """The version of each language's extractor."""
    return {language: extractor_version(language) for language in sorted(LANGUAGES)}
