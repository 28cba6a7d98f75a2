"""Pages of JSON over HTTP: not faster than asked for, again where the server is busy, each by its address."""

import http.client as http_client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lakehouse_assets.contracts.connections import filled
from lakehouse_assets.contracts.files import HttpIngest
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.sources.files.nested import records_at

_LONGEST_WAIT_SECONDS = 60.0
_BUSY = (429, 500, 502, 503, 504)


@dataclass(frozen=True, kw_only=True)
class Page:
    address: str
    body: bytes
    rows: list[Mapping[str, Any]]
    next_page: str | None


def pages(http: HttpIngest, *, begin: str | None, sleep: Callable[[float], None] = time.sleep) -> Iterator[Page]:
    """The pages from `begin` on, or from the first."""
    address: str | None = begin or _numbered(http, http.first_page)
    last = 0.0
    seen: set[str] = set()
    while address is not None:
        if address in seen:
            raise _failed(address, "its pages lead back to it")
        seen.add(address)
        sleep(max(0.0, last + 1 / http.per_second - time.monotonic()))
        last = time.monotonic()
        body = _fetched(http, address, sleep)
        try:
            document = json.loads(body)
        except json.JSONDecodeError as error:
            raise _failed(address, f"its answer is no JSON: {error}") from None
        except UnicodeDecodeError:
            raise _failed(address, "its answer is no JSON: it is no UTF-8") from None
        rows = records_at(document, http.records, keep=http.keep, subject=address)
        follower = _next(http, address, document, rows)
        if rows or not http.page_parameter:
            yield Page(address=address, body=body, rows=rows, next_page=follower)
        address = follower


def _numbered(http: HttpIngest, number: int) -> str:
    if not http.page_parameter:
        return http.url
    return f"{http.url}{'&' if '?' in http.url else '?'}{http.page_parameter}={number}"


def _next(http: HttpIngest, address: str, document: Any, rows: list[Mapping[str, Any]]) -> str | None:
    if http.page_parameter:
        number = int(address.rpartition("=")[2])
        return _numbered(http, number + 1) if rows else None
    held = document
    for name in filter(None, http.next.split(".")):
        held = held.get(name) if isinstance(held, dict) else None
    return urllib.parse.urljoin(address, held) if http.next and isinstance(held, str) and held else None


def _fetched(http: HttpIngest, address: str, sleep: Callable[[float], None]) -> bytes:
    headers = {name: filled(value, subject=f"ingest {http.name}") for name, value in http.headers.items()}
    request = urllib.request.Request(address, headers={"Accept": "application/json", **headers})
    seen = ""
    for attempt in range(http.retries + 1):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            seen, waits = f"it answered {error.code}", error.headers.get("Retry-After", "")
            if error.code not in _BUSY:
                raise _failed(address, seen) from None
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            seen, waits = f"it does not answer: {getattr(error, 'reason', error)}", ""
        except http_client.HTTPException as error:
            seen, waits = f"its answer broke off: {type(error).__name__}", ""
        if attempt < http.retries:
            wait = float(waits) if waits.isdecimal() else 0.5 * 2**attempt
            report("http", http.name, "trying again", level="warning", attempt=attempt + 1, seen=seen)
            sleep(min(wait, _LONGEST_WAIT_SECONDS))
    raise _failed(address, f"{seen}, {http.retries + 1} times")


def _failed(address: str, seen: str) -> SourceError:
    return SourceError(
        subject=address,
        seen=seen,
        why="pages before it are landed, and none after it",
        remedy="see to the server or the settings, then run again: it goes on with this page",
    )
