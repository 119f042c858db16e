"""Download of a file with known size and checksum: resumable, verified, and atomic."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from tapemagic.errors import DownloadError, OptionError
from tapemagic.nn.datasets.source import Download

CHUNK = 1 << 16
CONTENT_RANGE = re.compile(r"bytes (\d{1,19})-")


def download_file(
    url: str, target: Path, expected: Download, *, progress: bool = True, timeout: float = 30.0
) -> None:
    """Download a file to `target`, or raise `DownloadError`.

    The file is written under a temporary name, and renamed when its length and checksum are right. Several processes
    may download at once: each writes its own file, and renaming replaces equal bytes. An interrupted download is kept,
    and the next call resumes it.
    """
    _check_options(url, timeout)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _partial_file(target, stale_after=2 * timeout) as partial:
            with _progress_bar(expected, progress) as report:
                _fill(partial, url, expected, timeout, report)
            partial.replace(target)
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(
            f"{target} can't be written: {error}. Choose a writable folder on a disk with "
            f"{expected.size:,} free bytes."
        ) from error


def _check_options(url: Any, timeout: Any) -> None:
    if not isinstance(url, str) or not url.startswith(("https://", "http://")):
        raise OptionError(
            f"the address must begin with https:// or http://, not {url!r}; for a folder on this "
            "machine, write path=."
        )
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise OptionError(f"timeout must be a number of seconds above 0, not {timeout!r}.")


@contextmanager
def _partial_file(target: Path, stale_after: float) -> Iterator[Path]:
    """Provide a temporary file next to the target, for this call only, with the bytes of an interrupted download."""
    # A rename is atomic, so only one process can claim the file of an interrupted download. At the end the file gets
    # the name that the next call looks for. A killed process can't rename its file, so that is claimed when nothing
    # was written to it for longer than a server may be silent.
    released = target.with_name(f"{target.name}.part")
    own = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
    left = [x for x in target.parent.glob(f"{target.name}.*.part") if _age(x) > stale_after]
    for candidate in (released, *left):
        with suppress(OSError):
            candidate.rename(own)
            os.utime(own)
            break
    try:
        yield own
    finally:
        with suppress(OSError):
            if _size(own):
                own.replace(released)
            else:
                own.unlink()


def _age(path: Path) -> float:
    """Return the seconds since the last change of a file, or 0 if it's gone."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


@contextmanager
def _progress_bar(expected: Download, shown: bool) -> Iterator[Callable[[int], None]]:
    """Provide a function to call with the number of bytes so far."""
    if not shown:
        yield lambda _: None
        return
    from tqdm.auto import tqdm

    with tqdm(
        desc=expected.name, total=expected.size, unit="B", unit_scale=True, unit_divisor=1024
    ) as bar:

        def report(there: int) -> None:
            bar.update(there - bar.n)

        yield report


def _fill(
    partial: Path, url: str, expected: Download, timeout: float, report: Callable[[int], None]
) -> None:
    """Download until the file is complete, and resume as long as every attempt yields bytes."""
    # A wrong checksum after a resumed download may come from two different versions of the file: it's then downloaded
    # again from the start, once.
    resumed = _size(partial) > 0
    while True:
        before = _size(partial)
        if before < expected.size:
            failure = _attempt(partial, url, expected, timeout, report)
            after = _size(partial)
            if failure and after > before:
                resumed = True
                continue
            if failure:
                raise failure
        if (digest := _sha256(partial)) == expected.sha256:
            return
        beginning = partial.read_bytes()[:40]
        partial.unlink()
        if not resumed:
            raise DownloadError(
                f"{url} has unexpected content: its SHA-256 sum is {digest} and must be "
                f"{expected.sha256}; it begins with {beginning!r}. The file was deleted. A proxy or "
                "a sign-in page may have answered instead; write url= for another copy."
            )
        resumed = False


def _attempt(
    partial: Path, url: str, expected: Download, timeout: float, report: Callable[[int], None]
) -> DownloadError | None:
    """Request and append the missing bytes; return the failure, or None after success."""
    there = _size(partial)
    # Without "identity" a server may compress the file, and ranges and lengths would be those of compressed bytes.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={there}-"} if there else {})
    try:
        request = urllib.request.Request(url, headers=headers)  # noqa: S310
        answer = urllib.request.urlopen(request, timeout=timeout)  # noqa: S310
    except urllib.error.HTTPError as error:
        with error:
            return _refused_error(partial, url, error)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _interrupted_error(
            url, there, expected, str(getattr(error, "reason", error)), timeout
        )
    try:
        with answer:
            start = _start(answer, there)
            with partial.open("r+b" if start else "wb") as file:
                file.seek(start)
                there = _copy(answer, file, start, expected, report)
    except http.client.HTTPException as error:
        return _interrupted_error(url, _size(partial), expected, str(error), timeout)
    if there > expected.size:
        partial.unlink()
        raise DownloadError(
            f"{url} is longer than the {expected.size:,} bytes of {expected.name}, so it's another file. "
            "It was deleted; write url= for another copy."
        )
    if there < expected.size:
        return _interrupted_error(url, there, expected, "the connection was closed", timeout)
    return None


def _start(answer: Any, there: int) -> int:
    """Return the position in the file at which the answer begins: a server may ignore the requested range."""
    if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0
    match = CONTENT_RANGE.match(answer.headers.get("Content-Range", ""))
    if not match or int(match[1]) != there:
        raise http.client.HTTPException(
            f"the server sent a different range than the requested bytes after {there:,} "
            f"({answer.headers.get('Content-Range', 'without a Content-Range')})"
        )
    return there


def _copy(
    answer: Any, file: BinaryIO, there: int, expected: Download, report: Callable[[int], None]
) -> int:
    """Append an answer to a file, up to one chunk more than expected, and return the file's length."""
    while there <= expected.size and (chunk := _chunk(answer)):
        file.write(chunk)
        there += len(chunk)
        report(min(there, expected.size))
    return there


def _chunk(answer: Any) -> bytes:
    """Read bytes from the server, and convert OSError, which would be mistaken for an error of the disk."""
    try:
        return bytes(answer.read1(CHUNK))
    except OSError as error:
        raise http.client.HTTPException(str(error)) from error


def _refused_error(partial: Path, url: str, error: urllib.error.HTTPError) -> DownloadError:
    # The partial file is longer than the server's file, so it belongs to another version.
    if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        partial.unlink()
    return DownloadError(
        f"{url}: the server answered {error.code} {error.reason}. Check the address; write url= for "
        "another address, or path= for a file that you have."
    )


def _interrupted_error(
    url: str, there: int, expected: Download, reason: str, timeout: float
) -> DownloadError:
    if "timed out" in reason:
        reason = f"the server was silent for {timeout:g} seconds"
    kept = "The same call resumes the download. " if there else ""
    return DownloadError(
        f"{url}: {there:,} of {expected.size:,} bytes arrived, then: {reason}. {kept}Check the "
        "connection of this machine; write url= for another address, or path= for a file that you have."
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
