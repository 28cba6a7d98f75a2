"""A server of this machine under the real names of a cloud: Hadoop asks Microsoft and Google at no other address.

Clients are sent to a proxy that answers for every host with a certificate of its own, which they are told to trust.
What they say goes on to the server without encryption.
"""

import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lakehouse_assets.core.java import find_java
from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets_tests.support.ports import free_port

_HOST = "127.0.0.1"
_NAMES = ("*.googleapis.com", "*.blob.core.windows.net", "*.dfs.core.windows.net")
_PASSWORD = "changeit"
_START_SECONDS = 30
_BLOCK = 1 << 16


@contextmanager
def real_names(folder: Path, port: int) -> Generator[dict[str, str], None, None]:
    """The environment of those who find the server at `port` under the names of clouds; its files are in `folder`."""
    folder.mkdir()
    root, root_key, certificate, key, trusted = (
        folder / name for name in ("root.pem", "root-key.pem", "cert.pem", "key.pem", "trusted.p12")
    )
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    _do(*new, "-subj", "/CN=root of tests", "-keyout", str(root_key), "-out", str(root))
    config = folder / "openssl.cnf"
    names = ",".join(f"DNS:{name}" for name in _NAMES)
    config.write_text(
        "[req]\ndistinguished_name=dn\nx509_extensions=leaf\n[dn]\n"
        f"[leaf]\nbasicConstraints=critical,CA:FALSE\nsubjectAltName={names}\n"
    )
    signed = ["-CA", str(root), "-CAkey", str(root_key), "-config", str(config)]
    _do(*new, *signed, "-subj", "/CN=tests", "-keyout", str(key), "-out", str(certificate))
    keytool = find_java().home / "bin" / "keytool"
    into = ["-keystore", str(trusted), "-storetype", "PKCS12", "-storepass", _PASSWORD]
    _do(str(keytool), "-importcert", "-noprompt", "-alias", "tests", "-file", str(root), *into)
    proxy = free_port()
    command = [sys.executable, "-m", __name__, str(proxy), str(port), str(certificate), str(key)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=PROJECT_ROOT)
    try:
        _wait(proxy)
        java = {"https.proxyHost": _HOST, "https.proxyPort": proxy}
        java |= {"javax.net.ssl.trustStore": trusted, "javax.net.ssl.trustStorePassword": _PASSWORD}
        yield {
            "JAVA_TOOL_OPTIONS": " ".join(f"-D{name}={value}" for name, value in java.items()),
            "HTTPS_PROXY": f"http://{_HOST}:{proxy}",
            "SSL_CERT_FILE": str(root),
        }
    finally:
        process.terminate()
        process.wait(timeout=30)


def _do(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"})
    if done.returncode:
        pytest.fail(f"{' '.join(command[:3])} said\n{done.stdout}{done.stderr}")


def _wait(port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((_HOST, port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the proxy did not come up")


def _serve(client: socket.socket, behind: int, context: ssl.SSLContext) -> None:
    asked = b""
    while not asked.endswith(b"\r\n\r\n"):
        block = client.recv(_BLOCK)
        if not block:
            return
        asked += block
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    speaker = context.wrap_socket(client, server_side=True)
    server = socket.create_connection((_HOST, behind))
    for each in (speaker, server):
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=_pass_on, args=(server, speaker), daemon=True).start()
    _pass_on(speaker, server)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while block := source.recv(_BLOCK):
            target.sendall(block)
    except OSError:
        pass  # one of the two has gone; so does the other
    for each in (source, target):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue


def main() -> None:
    """Answer at the first port for what the second one serves, with a certificate and its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    with socket.create_server((_HOST, int(sys.argv[1]))) as listener:
        while True:
            client, _ = listener.accept()
            threading.Thread(target=_serve, args=(client, int(sys.argv[2]), context), daemon=True).start()


if __name__ == "__main__":
    main()
