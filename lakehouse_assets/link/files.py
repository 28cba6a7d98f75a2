"""Which files there are, asked for by path, by the end of a path, and by folder: a function of the list of paths."""

from collections.abc import Collection

from lakehouse_assets.link.modules import folder_of

GO_TEST = "_test.go"
"""How files end that are part of a package only while it is tested."""


class FileIndex:
    """Answers by path (`path`), by the last parts of a path (`suffix`), and by those of a folder (`folder`)."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = frozenset(paths)
        self._by_name: dict[str, list[str]] | None = None
        self._first: dict[str, dict[str, str]] | None = None

    def has(self, path: str) -> bool | None:
        return True if path in self._paths else None

    def ending_in(self, tail: str) -> tuple[str, ...] | None:
        if self._by_name is None:
            self._by_name = {}
            for path in sorted(self._paths):
                self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        named = self._by_name.get(tail.rpartition("/")[2], ())
        return tuple(path for path in named if path == tail or path.endswith(f"/{tail}")) or None

    def in_folder(self, tail: str) -> tuple[str, ...] | None:
        """The first file with the ending that is the last part of `tail`, of each folder that ends in the rest."""
        if self._first is None:
            self._first = {}
            for path in sorted((path for path in self._paths if not path.endswith(GO_TEST)), reverse=True):
                ending = f".{path.rpartition('.')[2]}"
                self._first.setdefault(ending, {})[folder_of(path)] = path
        wanted, _, ending = tail.rpartition("/")
        folders = self._first.get(ending, {})
        return tuple(folders[f] for f in sorted(folders) if f == wanted or f.endswith(f"/{wanted}")) or None


def questions_about(path: str) -> list[tuple[str, str]]:
    """All facts (kind and name) that the presence of a file can change."""
    parts = path.split("/")
    folder = parts[:-1]
    ending = f".{path.rpartition('.')[2]}"
    return [
        ("path", path),
        *(("suffix", "/".join(parts[i:])) for i in range(len(parts))),
        *(("folder", f"{'/'.join(folder[i:])}/{ending}") for i in range(len(folder) or 1)),
    ]
