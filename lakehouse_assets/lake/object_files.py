"""Objects as files of fsspec, which is what DuckDB asks for files that are not on a disk."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fsspec import AbstractFileSystem

from lakehouse_assets.lake.object_path import ObjectPath


class ObjectFiles(AbstractFileSystem):
    """Reads what it is named; lists nothing, for the log says which files there are."""

    protocol = ("s3", "abfss", "gs")
    cachable = False

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        """The address as it is: which store it is, only the whole of it tells."""
        return path

    def _open(self, path: str, mode: str = "rb", *_: Any, **__: Any) -> Any:
        if mode != "rb":
            raise NotImplementedError("a query writes nothing to the lake")
        return _at(path).reader()

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        facts = _at(path).stat()
        return {"name": path, "size": facts.st_size, "type": "file", "mtime": facts.st_mtime_ns / 1e9}

    def glob(self, path: str, maxdepth: int | None = None, **_: Any) -> list[str]:
        return [path]

    def modified(self, path: str) -> Any:
        return datetime.fromtimestamp(_at(path).stat().st_mtime_ns / 1e9, UTC)


def _at(path: str) -> ObjectPath:
    return ObjectPath(path, Path())
