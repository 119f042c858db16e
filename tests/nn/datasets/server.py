"""A server on the loopback interface that misbehaves as it is told."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    """Answers with what the test's function says for a request."""

    server: Server

    def do_GET(self) -> None:
        """Note the request, and answer it."""
        self.server.ranges.append(self.headers.get("Range"))
        self.server.paths.append(self.path)
        self.server.respond(self)

    def log_message(self, *_: object) -> None:
        """Keep the terminal quiet."""

    def asked_from(self) -> int:
        """The first byte of the range that is asked for."""
        match = re.match(r"bytes=(\d+)-", self.headers.get("Range") or "")
        return int(match[1]) if match else 0

    def send(
        self,
        content: bytes,
        *,
        status: int = 200,
        length: int | None = -1,
        content_range: str | None = None,
        location: str | None = None,
    ) -> None:
        """A whole answer; ``length=None`` states none, and closes the connection at the end."""
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(len(content) if length < 0 else length))
        if content_range:
            self.send_header("Content-Range", content_range)
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = True

    def send_part(self, content: bytes, upto: int | None = None) -> None:
        """What a good server sends for the range that is asked for, or only its beginning."""
        start = self.asked_from()
        if start >= len(content):
            self.send(b"", status=416)
            return
        whole = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.send(
            content[start:upto],
            status=206 if start else 200,
            length=len(content) - start,
            content_range=whole if start else None,
        )


class Server(ThreadingHTTPServer):
    """The server, what it was asked, and the function that answers."""

    daemon_threads = True
    respond: Callable[[Handler], None]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ranges: list[str | None] = []
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        """The address of its root."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Say nothing of a client that has gone."""


@contextmanager
def running() -> Iterator[Server]:
    """A server in a thread, until the test ends."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def wait_for(condition: Callable[[], bool]) -> None:
    """Return when something has become true, within seconds."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def names(folder: Path) -> list[str]:
    """The names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())
