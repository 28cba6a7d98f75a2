"""Models written in tests: a short text each, read over one small table."""

from pathlib import Path
from textwrap import dedent

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.models.project import Project, load_project

FILES = TableContract(
    name="files",
    description="One row per file.",
    columns=(
        Column(name="repo", type="string", description="Repository."),
        Column(name="path", type="string", description="Path."),
        Column(name="size", type="bigint", nullable=True, description="Bytes."),
        Column(name="lines", type="int", nullable=True, description="Lines."),
        Column(name="day", type="date", nullable=True, description="When it came."),
        Column(name="words", type="array<string>", nullable=True, description="Words in it."),
    ),
    key=("repo", "path"),
    partition_by=("repo",),
    strategy="upsert",
)
TABLES = {FILES.name: FILES}


def model_text(sql: str, **header: object) -> str:
    """A model's file: by default stored as a whole, with `repo` and `path` as its key."""
    said = {"key": "[repo, path]", **header}
    lines = [f"{name}: {value}" for name, value in said.items() if value is not None]
    return "\n".join(["/* model", *lines, "*/", dedent(sql).strip(), ""])


def project(tables: dict[str, TableContract] | None = None, **texts: str) -> Project:
    """Models by name; a text without a header gets the usual one."""
    files = {
        Path(f"{name}.sql"): text if text.startswith("/* model") else model_text(text) for name, text in texts.items()
    }
    return load_project(files, TABLES if tables is None else tables)
