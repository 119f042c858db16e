"""Download of a file that is known beforehand: resumed, checked, and complete or not there at all."""

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
    """Download a file to ``target``, or raise `DownloadError`.

    The file is written beside its place under another name, and gets its own when its length and
    sum are right. Several processes may do so at once: each writes a file of its own, and the last
    one puts the same bytes in place of the same bytes. An interrupted download is kept, and the
    next call goes on from there.
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
            f"{target} cannot be written: {error}. Give a folder in which you may write, and whose "
            f"disk has {expected.size:,} bytes left."
        ) from error


def _check_options(url: Any, timeout: Any) -> None:
    if not isinstance(url, str) or not url.startswith(("https://", "http://")):
        raise OptionError(
            f"the address is {url!r}: give one that begins with https:// or http://; a folder on "
            "this machine is given as path."
        )
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise OptionError(f"timeout is {timeout!r}: give a number of seconds above 0.")


@contextmanager
def _partial_file(target: Path, stale_after: float) -> Iterator[Path]:
    """A file beside the target, for this call alone, with what an interrupted one left.

    A rename claims such a left file, so one call gets it. It is given up for the next call by the
    same means; a process that was killed could not do that, so its file is taken when nothing was
    written to it for longer than a server may be silent.
    """
    given_up = target.with_name(f"{target.name}.part")
    own = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
    left = [x for x in target.parent.glob(f"{target.name}.*.part") if _age(x) > stale_after]
    for candidate in (given_up, *left):
        with suppress(OSError):
            candidate.rename(own)
            os.utime(own)
            break
    try:
        yield own
    finally:
        with suppress(OSError):
            if _size(own):
                own.replace(given_up)
            else:
                own.unlink()


def _age(path: Path) -> float:
    """The seconds since the last change of a file; none for one that is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


@contextmanager
def _progress_bar(expected: Download, shown: bool) -> Iterator[Callable[[int], None]]:
    """A function that is told how many bytes are there."""
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
    """Download until the file is whole, resuming as long as every attempt brings something."""
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
                f"{url} has another content than expected: its SHA-256 sum is {digest} and must be "
                f"{expected.sha256}; it begins with {beginning!r}. Nothing of it was kept. A proxy or "
                "a sign-in page may have answered in its place; another copy is given by url=."
            )
        resumed = False


def _attempt(
    partial: Path, url: str, expected: Download, timeout: float, report: Callable[[int], None]
) -> DownloadError | None:
    """Ask the server for what is missing and append it; the failure that ended this, if one did."""
    there = _size(partial)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={there}-"} if there else {})
    try:
        request = urllib.request.Request(url, headers=headers)  # noqa: S310
        answer = urllib.request.urlopen(request, timeout=timeout)  # noqa: S310
    except urllib.error.HTTPError as error:
        with error:
            return _refused(partial, url, error)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _broken_off(url, there, expected, str(getattr(error, "reason", error)), timeout)
    try:
        with answer:
            start = _start(answer, there)
            with partial.open("r+b" if start else "wb") as file:
                file.seek(start)
                there = _copy(answer, file, start, expected, report)
    except http.client.HTTPException as error:
        return _broken_off(url, _size(partial), expected, str(error), timeout)
    if there > expected.size:
        partial.unlink()
        raise DownloadError(
            f"{url} is longer than the {expected.size:,} bytes of {expected.name}: it is another file. "
            "Nothing of it was kept; another copy is given by url=."
        )
    if there < expected.size:
        return _broken_off(url, there, expected, "the connection was closed", timeout)
    return None


def _start(answer: Any, there: int) -> int:
    """The place in the file at which the answer begins: a server may send all of it, whatever it was asked for."""
    if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0
    match = CONTENT_RANGE.match(answer.headers.get("Content-Range", ""))
    if not match or int(match[1]) != there:
        raise http.client.HTTPException(
            f"the server was asked for the bytes from {there:,} on and sent others "
            f"({answer.headers.get('Content-Range', 'without a Content-Range')})"
        )
    return there


def _copy(
    answer: Any, file: BinaryIO, there: int, expected: Download, report: Callable[[int], None]
) -> int:
    """Append an answer to a file, up to one chunk more than is wanted; how long the file is then."""
    while there <= expected.size and (chunk := _chunk(answer)):
        file.write(chunk)
        there += len(chunk)
        report(min(there, expected.size))
    return there


def _chunk(answer: Any) -> bytes:
    """Bytes from the server; what goes wrong here is not to be taken for an error of the disk."""
    try:
        return bytes(answer.read1(CHUNK))
    except OSError as error:
        raise http.client.HTTPException(str(error)) from error


def _refused(partial: Path, url: str, error: urllib.error.HTTPError) -> DownloadError:
    if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        partial.unlink()
    return DownloadError(
        f"{url}: the server answered {error.code} {error.reason}. See whether the address is right; "
        "another place to download from is given by url=, and a file that you have by path."
    )


def _broken_off(
    url: str, there: int, expected: Download, reason: str, timeout: float
) -> DownloadError:
    if "timed out" in reason:
        reason = f"the server was silent for {timeout:g} seconds"
    kept = "What came is kept, and the same call goes on from there. " if there else ""
    return DownloadError(
        f"{url}: {there:,} of {expected.size:,} bytes came, then: {reason}. {kept}See whether this "
        "machine has a connection; another place to download from is given by url=, and a file that "
        "you have by path."
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
