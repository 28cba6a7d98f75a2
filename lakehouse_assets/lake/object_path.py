"""A place in an object store, in the words that `pathlib` has for a place on a disk.

Invariant: an object is there whole or not at all. Folders are only the common beginnings of names. Where to look, and
by which right, is told by the environment alone (`AWS_…`, `AZURE_…`, `GOOGLE_…`, as delta-rs reads it): neither a path
nor an error has a credential in it.

Cost: one request a look; what a listing has told of an object is not asked again.
"""

import io
import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.core.places import Address, Provider, provider_of
from lakehouse_assets.core.store_errors import no_such_bucket, store_error

if TYPE_CHECKING:
    from obstore.store import ObjectStore, RetryConfig

_RETRY: "RetryConfig" = {"max_retries": 5, "retry_timeout": timedelta(seconds=30)}
"""How long a store that does not answer is asked again."""
_READ_AHEAD = 1024 * 1024
_AT_ONCE = 1000
"""Objects that one request removes."""


class ObjectFacts(NamedTuple):
    """What a store tells of an object, under the names that the system's `stat` has."""

    st_size: int
    st_mtime_ns: int
    st_ino: int
    """A number made of its ETag: another content in its place has another one."""


@dataclass(frozen=True)
class ObjectPath:
    """`s3://bucket/a/b`, or one of another store; an object's place, or a folder's."""

    url: str
    machine: Path = field(compare=False)
    """A folder of this machine for what the store does not keep, such as locks."""
    facts: ObjectFacts | None = field(default=None, compare=False, repr=False)
    """From the listing that told of it."""

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> "ObjectPath":
        return ObjectPath(f"{self.url}/{name}", self.machine)

    def __lt__(self, other: "ObjectPath") -> bool:
        return self.url < other.url

    @property
    def store(self) -> str:
        """The address of the whole bucket."""
        return "/".join(self.url.split("/", 3)[:3])

    @property
    def key(self) -> str:
        """The name in the bucket."""
        return self.url[len(self.store) + 1 :]

    @property
    def _pure(self) -> PurePosixPath:
        return PurePosixPath(self.key)

    @property
    def name(self) -> str:
        return self._pure.name

    @property
    def stem(self) -> str:
        return self._pure.stem

    @property
    def suffix(self) -> str:
        return self._pure.suffix

    @property
    def parent(self) -> "ObjectPath":
        return ObjectPath(self.url.rpartition("/")[0], self.machine)

    def is_relative_to(self, other: "ObjectPath") -> bool:
        return self.url == other.url or self.url.startswith(f"{other.url}/")

    def relative_to(self, other: "ObjectPath") -> PurePosixPath:
        if not self.is_relative_to(other):
            raise ValueError(f"{self} is not below {other}")
        return PurePosixPath(self.url[len(other.url) + 1 :])

    def stat(self) -> ObjectFacts:
        if self.facts is not None:
            return self.facts
        import obstore

        with self._asked():
            return _facts(obstore.head(_store(self.store), self.key))

    def exists(self) -> bool:
        """Whether there is an object; a folder is not one."""
        try:
            self.stat()
        except FileNotFoundError:
            return False
        return True

    def is_file(self) -> bool:
        return self.facts is not None or self.exists()

    def is_dir(self) -> bool:
        return any(True for _ in self._below())

    def iterdir(self) -> Iterator["ObjectPath"]:
        """What is directly below: objects and folders."""
        import obstore

        with self._asked():
            found = obstore.list_with_delimiter(_store(self.store), f"{self.key}/")
        for each in found["common_prefixes"]:
            yield self._at(each)
        for each in found["objects"]:
            yield self._at(each["path"], _facts(each))

    def rglob(self, pattern: str) -> Iterator["ObjectPath"]:
        """All objects below whose names fit, as the store tells them: whoever takes the first asks for no more."""
        return (each for each in self._below() if fnmatchcase(each.name, pattern))

    def _below(self) -> Iterator["ObjectPath"]:
        import obstore

        pages = obstore.list(_store(self.store), f"{self.key}/")
        while True:
            with self._asked():
                page: Any = next(pages, None)
            if page is None:
                return
            for each in page:
                yield self._at(each["path"], _facts(each))

    def read_bytes(self) -> bytes:
        import obstore

        with self._asked():
            return bytes(obstore.get(_store(self.store), self.key).bytes())

    def read_text(self) -> str:
        return self.read_bytes().decode()

    def open(self) -> io.StringIO:
        """The lines of a small object."""
        return io.StringIO(self.read_text())

    def reader(self) -> io.BufferedReader:
        """A file to read parts of."""
        return io.BufferedReader(_Ranges(self), _READ_AHEAD)

    def part(self, start: int, end: int) -> bytes:
        import obstore

        with self._asked():
            return bytes(obstore.get_range(_store(self.store), self.key, start=start, end=end))

    def write_bytes(self, data: bytes) -> int:
        import obstore

        with self._asked():
            obstore.put(_store(self.store), self.key, data)
        return len(data)

    def unlink(self, missing_ok: bool = False) -> None:
        if not missing_ok:
            self.stat()
        self.remove_below([""])

    def remove_below(self, names: Iterable[str]) -> None:
        """Remove objects by their names below this place, many in one request; one that is gone is no error."""
        import obstore

        keys = [f"{self.key}/{name}" if name else self.key for name in names]
        for first in range(0, len(keys), _AT_ONCE):
            some = keys[first : first + _AT_ONCE]
            try:
                with self._asked():
                    obstore.delete(_store(self.store), some)
            except FileNotFoundError:  # Amazon removes what is gone as well; others end there
                self._remove_each(some)

    def _remove_each(self, keys: Sequence[str]) -> None:
        import obstore

        for key in keys:
            with suppress(FileNotFoundError), self._asked():
                obstore.delete(_store(self.store), key)

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Nothing: a folder is there when something is in it."""

    def _at(self, key: str, facts: ObjectFacts | None = None) -> "ObjectPath":
        return ObjectPath(f"{self.store}/{key}", self.machine, facts)

    @contextmanager
    def _asked(self) -> Generator[None, None, None]:
        """Errors of the store as `pathlib` would raise them, or as people read them."""
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError as error:
            if no_such_bucket(str(error)):
                raise store_error(self.url, str(error)) from None
            raise FileNotFoundError(str(self)) from None
        except FileExistsError:
            raise
        except (BaseError, OSError) as error:
            raise store_error(self.url, str(error)) from None


LakePath = Path | ObjectPath
"""Where tables, and what is in them, are."""


class _Ranges(io.RawIOBase):
    """An object as a file: each reading is a request for a range."""

    def __init__(self, path: ObjectPath) -> None:
        self._path, self._size, self._place = path, path.stat().st_size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: Any) -> int:
        end = min(self._place + len(buffer), self._size)
        if end <= self._place:
            return 0
        data = self._path.part(self._place, end)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


def _facts(told: Any) -> ObjectFacts:
    changed = told["last_modified"]
    tag = (told["e_tag"] or told["version"] or "").strip('"')  # some stores leave the quotes out where they list
    return ObjectFacts(
        st_size=told["size"],
        st_mtime_ns=int(changed.timestamp() * 1_000_000) * 1_000,
        st_ino=int(fingerprint([tag]), 16) % (1 << 63),
    )


_VARIABLES: dict[Provider, tuple[str, ...]] = {"s3": ("AWS_",), "azure": ("AZURE_", "AZURITE_"), "gcs": ("GOOGLE_",)}
"""How the variables of a store begin."""


def _store(url: str) -> "ObjectStore":
    """The store as the environment tells of it now: another endpoint, or other credentials, are another one."""
    known = _VARIABLES[provider_of(url)]
    return _opened(url, frozenset((name, value) for name, value in os.environ.items() if name.startswith(known)))


@lru_cache(maxsize=8)
def _opened(url: str, _environ: frozenset[tuple[str, str]]) -> "ObjectStore":
    from obstore.store import AzureStore, GCSStore, S3Store

    address = Address.of(url)
    match provider_of(url):
        case "s3":
            return S3Store(address.bucket, retry_config=_RETRY)
        case "azure":
            return AzureStore(address.bucket, account_name=address.account, retry_config=_RETRY)
        case "gcs":
            return GCSStore(address.bucket, retry_config=_RETRY)
