"""A model whose query is a list of steps: `NAME.model.yaml` with the header's fields, `from` and `steps`.

It is worth the SQL that its steps compile to, once the columns of what it reads are known: from there on it is a model
like any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import json_fingerprint
from lakehouse_assets.models.header import STEPPED, Header, header_of
from lakehouse_assets.models.model import Model, parse_model, place
from lakehouse_assets.models.transforms.base import Relation, Transform
from lakehouse_assets.models.transforms.steps import compile_steps, read_steps, relations_of

_OWN = ("from", "steps")


@dataclass(frozen=True, kw_only=True)
class SteppedModel:
    """`said` is what its file says of it beside the steps."""

    header: Header
    path: Path
    said: Mapping[str, Any]
    source: str
    steps: tuple[Transform, ...]

    @property
    def name(self) -> str:
        return self.header.name

    @property
    def inputs(self) -> dict[str, int]:
        return dict.fromkeys((self.source, *relations_of(self.steps)), 1)

    @property
    def version(self) -> str:
        """Fingerprint of what its file says of the rows; known without the columns of what it reads."""
        return json_fingerprint([self.source, [each.model_dump(mode="json") for each in self.steps]])

    def as_sql(self, columns: Mapping[str, Sequence[str]]) -> Model:
        """The model in SQL, over inputs with these columns."""
        subject = place(self.path, 1)
        _refuse_unknown(self, columns)
        source = Relation(name=self.source, columns=tuple(columns[self.source]))
        query = compile_steps(source, self.steps, columns, subject=subject)
        header = yaml.safe_dump(dict(self.said), sort_keys=False, allow_unicode=True).replace("*/", "* /")
        return parse_model(self.path, f"/* model\n{header}*/\n{query.sql}\n")


def parse_stepped(path: Path, text: str) -> SteppedModel:
    try:
        said = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _wrong(path, line, f"it is no YAML: {error.problem}") from error
    if not isinstance(said, dict) or not all(name in said for name in _OWN):
        raise _wrong(path, 1, "it does not say both `from`, a table or model, and `steps`, a list")
    header = {"name": path.name.removesuffix(STEPPED)} | {k: v for k, v in said.items() if k not in _OWN}
    return SteppedModel(
        header=header_of(path, header),
        path=path,
        said=header,
        source=str(said["from"]),
        steps=read_steps(said["steps"] or [], subject=place(path, 1)),
    )


def _refuse_unknown(model: SteppedModel, columns: Mapping[str, Sequence[str]]) -> None:
    from difflib import get_close_matches

    for name in model.inputs:
        if name not in columns:
            near = get_close_matches(name, list(columns), n=1)
            raise BadInputError(
                subject=place(model.path, 1),
                seen=f"there is no table {name!r}",
                why="there is nothing for the steps to read",
                remedy=f"did you mean {near[0]!r}?" if near else "name a table of the lake or a model",
            )


def _wrong(path: Path, line: int, seen: str) -> BadInputError:
    return BadInputError(
        subject=place(path, line),
        seen=seen,
        why="a model in YAML is its header, what it reads and the steps that it takes",
        remedy="mend the file; docs/transforms.md lists the steps",
    )
