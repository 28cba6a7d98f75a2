"""The files of a folder of models, and what a picture of them needs: known without reading what has not changed.

Reading SQL loads a library that a small sync should not wait for; what was read of a file is kept beside the compiled
code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lakehouse_assets
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.variables import filled_text
from lakehouse_assets.models import header as header_module
from lakehouse_assets.models.header import STEPPED, Header, read_header
from lakehouse_assets.plan.canonical_sql import LIBRARY
from lakehouse_assets.plan.kept import Kept


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """A model from afar: its header, the tables it names, and the fingerprint of its canonical SQL."""

    header: Header
    inputs: tuple[str, ...]
    sql_version: str


def files_in(folder: Path, variables: Mapping[str, str] | None = None) -> dict[Path, str]:
    """The models' files and their texts, in the order of their paths, with `variables` for `${NAME}` in them.

    The process's environment does not count here: what a model means is kept, and shown to all who may read it.
    """
    if not folder.is_dir():
        raise BadInputError(
            subject=f"folder {folder}",
            seen="there is no such folder",
            why=f"models are the files in it that end in .sql or {STEPPED}",
            remedy="make it, or set LAKEHOUSE_MODELS to the folder that has them",
        )
    paths = sorted((*folder.rglob("*.sql"), *folder.rglob(f"*{STEPPED}")))
    return {path: filled_text(path.read_text(), variables or {}, subject=str(path)) for path in paths}


def look_at(folder: Path, variables: Mapping[str, str] | None = None) -> list[ModelFile]:
    """All models of a folder, as far as their files alone tell."""
    kept = _kept()
    found: list[ModelFile] = []
    for path, text in files_in(folder, variables).items():
        digest = sha256(text.encode()).digest()
        held: Any = kept.get(str(path), digest)
        if held is None:
            held = _read(path, text)
            kept.put(str(path), digest, held)
        inputs, sql_version = held
        found.append(ModelFile(header=_header(path, text), inputs=tuple(inputs), sql_version=sql_version))
    kept.save()
    return found


def _header(path: Path, text: str) -> Header:
    if not path.name.endswith(STEPPED):
        return read_header(path, text)
    from lakehouse_assets.models.stepped import parse_stepped

    return parse_stepped(path, text).header


def _read(path: Path, text: str) -> tuple[list[str], str]:
    if path.name.endswith(STEPPED):
        from lakehouse_assets.models.stepped import parse_stepped

        stepped = parse_stepped(path, text)
        return sorted(stepped.inputs), stepped.version
    from lakehouse_assets.models.model import DIALECT, parse_model
    from lakehouse_assets.plan.canonical_sql import canonical_sql

    model = parse_model(path, text)
    return sorted(model.inputs), canonical_sql(text, dialect=DIALECT, subject=str(path)).fingerprint


@cache
def _kept() -> Kept:
    makers = [Path(str(header_module.__file__)).with_name("model.py").read_bytes(), version(LIBRARY).encode()]
    return Kept(Path(lakehouse_assets.__path__[0]), ".models", makers)
