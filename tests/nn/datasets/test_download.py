"""Downloads from servers that break off, lie, stall, redirect and refuse: a whole file or none."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapemagic.errors import DownloadError, OptionError
from tapemagic.nn.datasets.download import download_file
from tapemagic.nn.datasets.source import Download
from tests.nn.datasets.server import Handler, Server, names, running, wait_for

pytestmark = pytest.mark.thorough

CONTENT = bytes(range(256)) * 1000
FILE = Download("data.bin", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers as it should, until a test says otherwise."""
    with running() as server:
        server.respond = lambda handler: handler.send_part(CONTENT)
        yield server


def fetch(server: Server, folder: Path, timeout: float = 10.0) -> Path:
    """Download the file to a folder."""
    target = folder / FILE.name
    download_file(f"{server.url}/data.bin", target, FILE, progress=False, timeout=timeout)
    return target


def test_a_file_is_downloaded(server: Server, tmp_path: Path) -> None:
    """Its folder is made, its bytes are those of the server, and nothing else is left there."""
    target = fetch(server, tmp_path / "a" / "b")

    assert CONTENT == target.read_bytes()
    assert [target] == list(target.parent.iterdir())
    assert [None] == server.ranges


def test_a_server_that_breaks_off_is_asked_for_the_rest(server: Server, tmp_path: Path) -> None:
    """Every further attempt begins where the last one ended."""
    server.respond = lambda handler: handler.send_part(CONTENT, handler.asked_from() + 100_000)

    assert CONTENT == fetch(server, tmp_path).read_bytes()
    assert [None, "bytes=100000-", "bytes=200000-"] == server.ranges


def test_an_interrupted_download_goes_on_in_the_next_call(server: Server, tmp_path: Path) -> None:
    """What came is kept beside the file, and not under its name."""

    def once(handler: Handler) -> None:
        if handler.asked_from():
            handler.send(b"", status=503)
        else:
            handler.send_part(CONTENT, 100_000)

    server.respond = once
    with pytest.raises(DownloadError, match="the server answered 503 Service Unavailable"):
        fetch(server, tmp_path)
    assert ["data.bin.part"] == names(tmp_path)

    server.respond = lambda handler: handler.send_part(CONTENT)
    assert CONTENT == fetch(server, tmp_path).read_bytes()
    assert ["data.bin"] == names(tmp_path)
    assert "bytes=100000-" == server.ranges[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_a_download_that_the_user_interrupts(server: Server, tmp_path: Path) -> None:
    """Ctrl-C ends it, and what came is kept."""
    stop = threading.Event()

    def interrupt(handler: Handler) -> None:
        handler.send(CONTENT[:100_000], length=len(CONTENT))
        wait_for(lambda: any(path.stat().st_size for path in tmp_path.iterdir()))
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        stop.wait(20)

    server.respond = interrupt
    try:
        with pytest.raises(KeyboardInterrupt):
            fetch(server, tmp_path)
    finally:
        stop.set()
    assert ["data.bin.part"] == names(tmp_path)

    server.respond = lambda handler: handler.send_part(CONTENT)
    assert CONTENT == fetch(server, tmp_path).read_bytes()
    assert str(server.ranges[-1]).startswith("bytes=")


def test_a_download_that_ends_where_it_began(server: Server, tmp_path: Path) -> None:
    """Without any progress there is no endless trying."""
    server.respond = lambda handler: handler.send(b"", length=len(CONTENT))

    with pytest.raises(
        DownloadError, match="0 of 256,000 bytes arrived, then: the connection was closed"
    ):
        fetch(server, tmp_path)
    assert [None] == server.ranges


@pytest.mark.parametrize("upto", [1, 100_000, len(CONTENT) - 1])
def test_a_server_that_ignores_ranges(server: Server, tmp_path: Path, upto: int) -> None:
    """All of the file comes again, and replaces what was there."""
    (tmp_path / "data.bin.part").write_bytes(b"?" * upto)
    server.respond = lambda handler: handler.send(CONTENT)

    assert CONTENT == fetch(server, tmp_path).read_bytes()
    assert [f"bytes={upto}-"] == server.ranges


def test_another_range_than_was_asked_for(server: Server, tmp_path: Path) -> None:
    """Bytes from elsewhere in the file are not appended."""
    (tmp_path / "data.bin.part").write_bytes(CONTENT[:1000])
    server.respond = lambda handler: handler.send(
        CONTENT[500:], status=206, content_range=f"bytes 500-{len(CONTENT) - 1}/{len(CONTENT)}"
    )

    with pytest.raises(
        DownloadError, match="a different range than the requested bytes after 1,000"
    ):
        fetch(server, tmp_path)
    assert CONTENT[:1000] == (tmp_path / "data.bin.part").read_bytes()


@pytest.mark.parametrize("left", [b"?" * 1000, b"?" * len(CONTENT), CONTENT + b"?"])
def test_a_wrong_beginning_is_thrown_away(server: Server, tmp_path: Path, left: bytes) -> None:
    """The rest of a file of which another version was there: it starts anew, once."""
    (tmp_path / "data.bin.part").write_bytes(left)

    assert CONTENT == fetch(server, tmp_path).read_bytes()


def test_a_whole_file_that_did_not_get_its_name(server: Server, tmp_path: Path) -> None:
    """A process that died between the last byte and the name leaves nothing to download."""
    (tmp_path / "data.bin.part").write_bytes(CONTENT)

    assert CONTENT == fetch(server, tmp_path).read_bytes()
    assert [] == server.ranges


@pytest.mark.parametrize("length", [-1, None])
def test_wrong_bytes(server: Server, tmp_path: Path, length: int | None) -> None:
    """A file of the right length and other content is named with both sums, and not kept."""
    page = b"<html>Sign in</html>".ljust(len(CONTENT))
    server.respond = lambda handler: handler.send(page, length=length)

    with pytest.raises(DownloadError) as caught:
        fetch(server, tmp_path)
    assert FILE.sha256 in str(caught.value)
    assert hashlib.sha256(page).hexdigest() in str(caught.value)
    assert "<html>Sign in</html>" in str(caught.value)
    assert [] == names(tmp_path)


def test_a_file_that_is_too_long(server: Server, tmp_path: Path) -> None:
    """It is not read to its end, and not kept."""

    def endless(handler: Handler) -> None:
        handler.send(b"x" * 1000, length=None)
        while True:
            handler.wfile.write(b"x" * 1000)

    server.respond = endless
    with pytest.raises(DownloadError, match=r"longer than the 256,000 bytes of data.bin"):
        fetch(server, tmp_path)
    assert [] == names(tmp_path)


@pytest.mark.parametrize("stated", [10, len(CONTENT) - 1])
def test_a_length_that_is_stated_too_short(server: Server, tmp_path: Path, stated: int) -> None:
    """The client stops there, as it must, and a server that says so for ever is given up."""
    server.respond = lambda handler: handler.send(CONTENT, length=stated)

    with pytest.raises(DownloadError, match=f"{stated:,} of 256,000 bytes arrived"):
        fetch(server, tmp_path)
    assert not (tmp_path / FILE.name).exists()


def test_a_length_that_is_stated_too_long(server: Server, tmp_path: Path) -> None:
    """A file that is whole is whole, though its server promised more; a shorter one never is."""
    server.respond = lambda handler: handler.send(CONTENT, length=len(CONTENT) + 10)
    assert CONTENT == fetch(server, tmp_path).read_bytes()

    server.respond = lambda handler: handler.send(CONTENT[:-1], length=len(CONTENT))
    with pytest.raises(DownloadError, match="255,999 of 256,000 bytes arrived"):
        fetch(server, tmp_path / "other")


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_refusal(server: Server, tmp_path: Path, status: int) -> None:
    """The answer of the server is told, with the address and what else can be done."""
    server.respond = lambda handler: handler.send(b"no such page", status=status)

    with pytest.raises(
        DownloadError, match=rf"data\.bin: the server answered {status} .*url=.*path"
    ):
        fetch(server, tmp_path)
    assert [] == names(tmp_path)


def test_a_redirection(server: Server, tmp_path: Path) -> None:
    """It is followed, also for a part of the file; a circle of them is an error."""

    def redirect(handler: Handler) -> None:
        if handler.path == "/data.bin":
            handler.send(b"", status=302, location="/elsewhere")
        else:
            handler.send_part(CONTENT)

    server.respond = redirect
    (tmp_path / "data.bin.part").write_bytes(CONTENT[:1000])
    assert CONTENT == fetch(server, tmp_path).read_bytes()
    assert ["bytes=1000-"] * 2 == server.ranges

    server.respond = lambda handler: handler.send(b"", status=302, location="/data.bin")
    with pytest.raises(DownloadError, match="302"):
        fetch(server, tmp_path / "other")


@pytest.mark.parametrize("sent", [None, 0, 1000])
def test_a_server_that_says_nothing_any_more(
    server: Server, tmp_path: Path, sent: int | None
) -> None:
    """It is left after the timeout, before its answer or in the midst of it."""
    stop = threading.Event()

    def stall(handler: Handler) -> None:
        if sent is not None and not handler.asked_from():
            handler.send(CONTENT[:sent], length=len(CONTENT))
        stop.wait(10)

    server.respond = stall
    try:
        with pytest.raises(DownloadError, match=r"the server was silent for 0\.2 seconds"):
            fetch(server, tmp_path, timeout=0.2)
    finally:
        stop.set()
    assert (["data.bin.part"] if sent else []) == names(tmp_path)


def test_nobody_answers(tmp_path: Path) -> None:
    """A port on which nothing listens."""
    with running() as server:
        pass

    with pytest.raises(DownloadError, match=r"refused.*Check the connection of this machine"):
        fetch(server, tmp_path)


@pytest.mark.parametrize("url", ["file:///etc/hosts", "data.bin", "", None, b"http://x"])
def test_an_address_that_is_none(tmp_path: Path, url: str) -> None:
    """Nothing but http and https is opened."""
    with pytest.raises(OptionError, match="must begin with https:// or http://"):
        download_file(url, tmp_path / "x", FILE)


@pytest.mark.parametrize(
    "url", ["http://", "http://[::1/x", "http://127.0.0.1:port/x", "http://a b/"]
)
def test_an_address_that_is_misspelt(tmp_path: Path, url: str) -> None:
    """It is named in the error."""
    with pytest.raises(DownloadError) as caught:
        download_file(url, tmp_path / "x", FILE, progress=False)
    assert str(caught.value).startswith(url)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), None, "10"])
def test_a_timeout_that_is_none(tmp_path: Path, timeout: float) -> None:
    """A timeout is a number of seconds."""
    with pytest.raises(OptionError, match="must be a number of seconds above 0"):
        download_file("http://127.0.0.1/x", tmp_path / "x", FILE, timeout=timeout)


def test_a_folder_that_cannot_be_made(server: Server, tmp_path: Path) -> None:
    """The error is of the disk, and says so."""
    (tmp_path / "file").write_text("")

    with pytest.raises(DownloadError, match=r"can't be written: .*Choose a writable folder"):
        fetch(server, tmp_path / "file" / "folder")


def test_two_at_once(server: Server, tmp_path: Path) -> None:
    """Both write a file of their own, and both get theirs whole."""
    together = threading.Barrier(2)

    def slow(handler: Handler) -> None:
        together.wait(10)
        handler.send_part(CONTENT)

    server.respond = slow
    other = threading.Thread(target=fetch, args=(server, tmp_path))
    other.start()
    target = fetch(server, tmp_path)
    other.join()

    assert CONTENT == target.read_bytes()
    assert [target] == list(tmp_path.iterdir())


PROGRAM = """
import sys
from pathlib import Path
from tapemagic.nn.datasets.download import download_file
from tapemagic.nn.datasets.source import Download
url, target, size, sha256 = sys.argv[1:]
download_file(url, Path(target), Download("data.bin", int(size), sha256), progress=False)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_a_process_that_was_killed(server: Server, tmp_path: Path) -> None:
    """Its file is left alone while it may be written to, and taken up when it has been still."""
    stop = threading.Event()

    def stall(handler: Handler) -> None:
        handler.send(CONTENT[:100_000], length=len(CONTENT))
        stop.wait(20)

    server.respond = stall
    arguments = [f"{server.url}/data.bin", tmp_path / FILE.name, str(FILE.size), FILE.sha256]
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *map(str, arguments)])
    wait_for(lambda: any(x.stat().st_size for x in tmp_path.iterdir()))
    process.send_signal(signal.SIGKILL)
    process.wait()
    stop.set()
    (left,) = tmp_path.iterdir()
    kept = left.stat().st_size
    server.respond = lambda handler: handler.send_part(CONTENT)

    fetch(server, tmp_path)
    assert None is server.ranges[-1]
    assert left.exists()

    (tmp_path / FILE.name).unlink()
    long_ago = time.time() - 3600
    os.utime(left, (long_ago, long_ago))
    assert CONTENT == fetch(server, tmp_path).read_bytes()
    assert f"bytes={kept}-" == server.ranges[-1]
    assert [FILE.name] == names(tmp_path)


def test_the_bar(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It counts the bytes that are there, those of an earlier call among them."""
    (tmp_path / "data.bin.part").write_bytes(CONTENT[:128_000])
    download_file(f"{server.url}/data.bin", tmp_path / FILE.name, FILE)

    assert "data.bin: 100%" in capsys.readouterr().err
