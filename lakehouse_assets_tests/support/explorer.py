"""The explorer, served for tests as `lakehouse explore` serves it."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import uvicorn

from lakehouse_assets.cli.explore import explorer_app
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.ports import free_port


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass(frozen=True, kw_only=True)
class Served:
    url: str

    def get(self, path: str, **headers: str) -> Reply:
        try:
            with urlopen(Request(self.url + path, headers=headers), timeout=60) as answer:
                return _reply(answer)
        except HTTPError as error:
            return Reply(status=error.code, headers={k.lower(): v for k, v in error.headers.items()}, body=error.read())

    def ask(self, path: str, **query: object) -> Any:
        """The JSON of an answer that has to be there."""
        tail = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        reply = self.get(f"/api{path}?{tail}" if tail else f"/api{path}")
        assert reply.status == 200, reply.text
        return json.loads(reply.body)

    def find(self, name: str) -> dict[str, Any]:
        """The one definition of this qualified name."""
        (found,) = [each for each in self.ask("/search", q=name)["items"] if each["qualified_name"] == name]
        return found


def _reply(answer: HTTPResponse) -> Reply:
    return Reply(status=answer.status, headers={k.lower(): v for k, v in answer.headers.items()}, body=answer.read())


@contextmanager
def serving(settings: Settings) -> Iterator[Served]:
    port = free_port()
    app = explorer_app(settings, "127.0.0.1")
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline, "the explorer did not start within 30 s"
        time.sleep(0.02)
    try:
        yield Served(url=f"http://127.0.0.1:{port}")
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        assert not thread.is_alive()
