"""What the user may point at: a path or a git URL, told apart once, when a repository is registered."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from lakehouse_assets.core.errors import BadInputError, SourceError
from lakehouse_assets.core.repository import RepositoryKind
from lakehouse_assets.sources.objects import open_repository

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_TRANSPORT_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_SCP_LIKE = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9._+-]*@(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*):[^:].*", re.DOTALL
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_USER_INFO = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*)://([^\s/?#'\"]*)@")

_REMEDY = (
    "give the path of a git repository or of a directory, "
    "or a URL: https://…, ssh://…, git://…, file://…, user@host:path"
)


def locate(text: str) -> tuple[str, RepositoryKind]:
    """The absolute path or the URL that `text` means, and how it is read.

    URLs are told by their scheme; then what exists on disk wins over what looks like `user@host:path`.
    """
    if not text or text.startswith("-"):
        raise _refusal(text, "it is empty" if not text else "it begins with '-', like an option")
    scheme = _URL.match(text)
    if scheme:
        return _url(text, scheme.group(1).lower()), "remote_git"
    if _TRANSPORT_HELPER.match(text) and not _exists(text):
        raise _refusal(text, "it names a transport helper, a program that git would run")
    if _exists(text):
        return _path(text)
    if _SCP_LIKE.fullmatch(text) and not _CONTROL.search(text):
        return text, "remote_git"
    raise _refusal(text, "there is nothing at this path, and it is not a git URL")


def redact_url(text: str) -> str:
    """`text` with the credentials of every URL in it replaced.

    Over http(s) the user name is hidden too: it often is the token itself.
    """

    def redacted(found: re.Match[str]) -> str:
        scheme, user_info = found.groups()
        if scheme.lower() in ("http", "https"):
            return f"{scheme}://***@"
        user, colon, _ = user_info.partition(":")
        return f"{scheme}://{user}{':***' if colon else ''}@"

    return _USER_INFO.sub(redacted, text)


def _url(text: str, scheme: str) -> str:
    if _CONTROL.search(text):
        raise _refusal(f"{scheme}://…", "the URL has control characters")
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        # The text is kept out: where the host cannot be told from the password, no redaction is safe.
        raise _refusal(f"{scheme}://…", "the host or the port of this URL cannot be read") from error
    match scheme:
        case "file":
            if not parts.path or parts.path == "/":
                raise _refusal(text, "the URL has no path")
        case "https" | "ssh" | "git":
            if not host or host.startswith("-"):
                raise _refusal(text, "the URL has no valid host")
        case _:
            raise _refusal(text, f"{scheme}:// is not a protocol that repositories are fetched by")
    return scheme + text[len(scheme) :]


def _path(text: str) -> tuple[str, RepositoryKind]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _refusal(text, "the path has bytes that are not UTF-8, so the lake cannot store it as text") from error
    path = Path(text).absolute()
    if ".." in path.parts:  # resolved by the system, since "link/.." is not where the link lies
        path = path.resolve()
    if not path.is_dir():
        raise _refusal(text, "it is a file, not a directory" if path.is_file() else "it is not a directory")
    kind = _directory_kind(path)
    if kind == "local_git":
        try:
            open_repository(path, path.name)
        except SourceError as error:
            raise _refusal(text, f"it has the marks of a git repository, but {error.seen}") from error
    return str(path), kind


def _directory_kind(path: Path) -> RepositoryKind:
    """A work tree (also a linked one, whose `.git` is a file) or a bare repository by its marks; else plain."""
    bare = (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
    linked_git_dir = (path / "HEAD").is_file() and (path / "commondir").is_file()
    return "local_git" if os.path.lexists(path / ".git") or bare or linked_git_dir else "directory"


def _exists(text: str) -> bool:
    if "\x00" in text:
        return False
    try:
        return os.path.lexists(text)
    except UnicodeEncodeError:  # a surrogate that stands for no byte: no file can have this name
        return False


def _refusal(text: str, seen: str) -> BadInputError:
    return BadInputError(
        subject=f"repository location {redact_url(text)!r}",
        seen=seen,
        why="it can neither be read in place nor fetched",
        remedy=_REMEDY,
    )
