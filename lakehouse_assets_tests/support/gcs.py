"""A server of Google's storage of the tests' own: fake-gcs-server, built once from the Go module proxy.

delta-rs and obstore speak Google's XML interface, of which that server does not know how objects are put, and lists
them from the first one on, whatever it is asked. The front here says these requests in the words of its JSON interface;
the condition (`x-goog-if-generation-match`) is judged by the server, under its lock.
"""

import http.client
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit
from xml.sax.saxutils import escape

import pytest

from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets.lake.jars import cache_directory
from lakehouse_assets_tests.support.ports import free_port

MODULE = "github.com/fsouza/fake-gcs-server"
VERSION = "v1.56.1"
BUCKET = "lakes"
_HOST = "127.0.0.1"
_BUILD_SECONDS = 1200
_START_SECONDS = 60
_JSON = ("storage", "upload", "download", "batch")
_HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "host", "keep-alive"}


@dataclass(frozen=True, kw_only=True)
class GcsServer:
    """A running server with one bucket."""

    url: str
    folder: Path

    @property
    def key_file(self) -> Path:
        return self.folder / "key.json"

    @property
    def environ(self) -> dict[str, str]:
        """As a user sets it: the key file says where the server is, and that it asks for no signature."""
        return {"GOOGLE_SERVICE_ACCOUNT": str(self.key_file), "GOOGLE_ALLOW_HTTP": "true"}

    def lake(self, name: str) -> dict[str, str]:
        """The environment of a lake in the bucket."""
        return self.environ | {"LAKEHOUSE_LAKE": f"gs://{BUCKET}/{name}"}


def service_account(key: str) -> dict[str, str]:
    """The key file of an account that every request may be signed for; the front gives its tokens."""
    return {
        "type": "service_account",
        "project_id": "tests",
        "client_id": "1",
        "client_email": "tests@tests.iam.gserviceaccount.com",
        "private_key_id": "1",
        "private_key": key,
        "token_uri": "https://oauth2.googleapis.com/token",
    }


def server_program() -> Path:
    """The server, built if this machine has not got it yet."""
    program = cache_directory() / "tools" / f"fake-gcs-server-{VERSION}"
    if program.exists():
        return program
    if shutil.which("go") is None:
        pytest.fail(f"tests of Google's storage need a server: install Go, or put fake-gcs-server at {program}")
    place = program.parent / f".building-{os.getpid()}"
    environ = os.environ | {"GOBIN": str(place), "CGO_ENABLED": "0"}
    command = ["go", "install", "-trimpath", f"{MODULE}@{VERSION}"]
    built = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False)
    if built.returncode:
        pytest.fail(f"the server cannot be built: {' '.join(command)} said\n{built.stderr[-2000:]}")
    (place / "fake-gcs-server").replace(program)
    place.rmdir()
    return program


@contextmanager
def running_gcs(folder: Path) -> Generator[GcsServer, None, None]:
    """A server whose objects are in memory, and whose log and key file are in `folder`."""
    port, front = free_port(), free_port()
    options = ["-scheme", "http", "-host", _HOST, "-port", str(port), "-public-host", f"{_HOST}:{port}"]
    commands = (
        [str(server_program()), *options, "-backend", "memory"],
        [sys.executable, "-m", __name__, str(front), str(port)],  # delta-rs waits without letting this process run
    )
    with (folder / "log").open("wb") as log:
        processes = [subprocess.Popen(command, stdout=log, stderr=log, cwd=PROJECT_ROOT) for command in commands]
    try:
        server = GcsServer(url=f"http://{_HOST}:{front}", folder=folder)
        key = {"gcs_base_url": server.url, "disable_oauth": True, "client_email": "", "private_key": ""}
        server.key_file.write_text(json.dumps(key | {"private_key_id": ""}))
        _make_bucket(server, processes, front)
        yield server
    finally:
        for process in processes:
            process.terminate()
            process.wait(timeout=30)


def _make_bucket(server: GcsServer, processes: list[subprocess.Popen[bytes]], port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while all(each.poll() is None for each in processes) and time.monotonic() < deadline:
        try:
            made = http.client.HTTPConnection(_HOST, port, timeout=10)
            made.request("POST", "/storage/v1/b", json.dumps({"name": BUCKET}), {"Content-Type": "application/json"})
            if made.getresponse().status == http.HTTPStatus.OK:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.2)
    pytest.fail(f"the server did not come up:\n{(server.folder / 'log').read_text()[-2000:]}")


@dataclass
class _Upload:
    """Parts of an object that is put in several requests."""

    parts: dict[int, bytes] = field(default_factory=dict[int, bytes])


class _Front(ThreadingHTTPServer):
    daemon_threads = True
    behind: int
    uploads: dict[str, _Upload] = {}  # noqa: RUF012  # one server at a time


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits for the client to acknowledge its head
    server: _Front  # pyright: ignore[reportIncompatibleVariableOverride]  # the only one that makes handlers

    def _any(self) -> None:
        path = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(path.query, keep_blank_values=True).items()}
        body = self._body()
        first, _, name = path.path.removeprefix("/").partition("/")
        if path.path == "/token":
            told = {"access_token": "any", "expires_in": 3600, "token_type": "Bearer"}
            self._answer(200, {"Content-Type": "application/json"}, json.dumps(told).encode())
        elif first not in (*_JSON, BUCKET):
            # As Google says it; the server behind does not.
            self._answer(404, {}, b"<Error><Code>NoSuchBucket</Code></Error>")
        elif first == BUCKET and not name and self.command == "GET":
            self._answer(200, {}, self._listed(query).encode())
        elif first in _JSON or self.command not in ("PUT", "POST"):
            self._answer(*self._behind(self.command, self.path, body, dict(self.headers.items())))
        elif "uploads" in query:
            made = uuid.uuid4().hex
            self.server.uploads[made] = _Upload()
            self._answer(200, {}, f"<R><UploadId>{made}</UploadId></R>".encode())
        elif "partNumber" in query:
            self.server.uploads[query["uploadId"]].parts[int(query["partNumber"])] = body
            self._answer(200, {"ETag": f'"{query["partNumber"]}"'}, b"")
        elif "uploadId" in query:
            parts = self.server.uploads.pop(query["uploadId"]).parts
            status, headers, said = self._put(first, name, b"".join(parts[number] for number in sorted(parts)))
            ok = b"<R><ETag>1</ETag></R>"
            self._answer(status, headers, ok if status == http.HTTPStatus.OK else said)
        else:
            self._answer(*self._put(first, name, body))

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PATCH = _any  # noqa: N815  # names of the base class

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = [b""]
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _listed(self, query: dict[str, str]) -> str:
        asked = {name: query[name] for name in ("prefix", "delimiter") if name in query}
        asked |= {"maxResults": "100000"} | ({"startOffset": query["start-after"]} if "start-after" in query else {})
        target = f"/storage/v1/b/{BUCKET}/o?{urlencode(asked)}"
        told = json.loads(self._behind("GET", target, b"", {})[2])
        after = query.get("start-after", "")
        objects = sorted(
            (each for each in told.get("items", ()) if each["name"] > after), key=lambda each: each["name"]
        )
        found = [
            f"<Contents><Key>{escape(each['name'])}</Key><Size>{each['size']}</Size>"
            f'<LastModified>{each["updated"]}</LastModified><ETag>"{each["etag"]}"</ETag></Contents>'
            for each in objects
        ]
        folders = [
            f"<CommonPrefixes><Prefix>{escape(each)}</Prefix></CommonPrefixes>" for each in told.get("prefixes", ())
        ]
        return f"<ListBucketResult>{''.join(found)}{''.join(folders)}</ListBucketResult>"

    def _put(self, bucket: str, name: str, data: bytes) -> tuple[int, dict[str, str], bytes]:
        condition = self.headers.get("x-goog-if-generation-match")
        only = "" if condition is None else f"&ifGenerationMatch={condition}"
        named = quote(unquote(name), safe="")
        target = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={named}{only}"
        status, _, said = self._behind("POST", target, data, {"Content-Type": "application/octet-stream"})
        if status != http.HTTPStatus.OK:
            return status, {}, said
        told = json.loads(said)
        return status, {"ETag": f'"{told["etag"]}"', "x-goog-generation": told["generation"]}, b""

    def _behind(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(_HOST, self.server.behind, timeout=60)
        try:
            kept = {name: value for name, value in headers.items() if name.lower() not in _HOP_BY_HOP}
            connection.request(method, path, body or None, kept)
            answer = connection.getresponse()
            told = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP_BY_HOP}
            if method == "HEAD":
                told["Content-Length"] = answer.getheader("Content-Length") or "0"
            return answer.status, told, answer.read()
        finally:
            connection.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers and status != http.HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # a name of the base class
        """Nothing: the server behind has a log."""


def main() -> None:
    """Serve at the first port what the second one has behind it."""
    front = _Front((_HOST, int(sys.argv[1])), _Handler)
    front.behind = int(sys.argv[2])
    front.serve_forever()


if __name__ == "__main__":
    main()
