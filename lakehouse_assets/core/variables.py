"""`${NAME}` in what a project's files say: values that differ from place to place, or that no file may hold."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.text import nearest

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def filled_text(text: str, values: Mapping[str, str], *, subject: str) -> str:
    """`text` with values in the place of `${NAME}`; one that is not there, or empty, is refused by its name."""

    def value(found: re.Match[str]) -> str:
        held = values.get(found[1])
        if not held:
            # Only names that were made for such files are proposed: the whole environment is nobody's vocabulary.
            meant = nearest(found[1], [name for name in values if name.isupper()])
            raise BadInputError(
                subject=subject,
                seen=f"the variable {found[1]} is not set",
                why="what it stands for is not known, and nothing was run",
                remedy=f"set it in the environment or under `variables` in lakehouse.toml{meant and f'; {meant}'}",
            )
        return held

    return _VARIABLE.sub(value, text)


def filled_known(text: str, values: Mapping[str, str]) -> str:
    """`text` with the values that there are; other variables stay as they stand."""
    return _VARIABLE.sub(lambda found: values.get(found[1]) or found[0], text)


def every_text(value: Any, change: Callable[[str], str]) -> Any:
    """What a YAML or TOML file says, with each of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [every_text(each, change) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: every_text(each, change) for name, each in cast("dict[Any, Any]", value).items()}
    return value
