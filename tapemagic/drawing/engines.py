"""Graphviz: DOT made into an SVG document by the ``dot`` program, else by the Graphviz inside pygraphviz."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

LIMIT = 5.0
"""The time in seconds after which the ``dot`` program is stopped."""
LARGEST = 60_000
"""The longest source that is given to pygraphviz, which cannot be stopped."""


class UnavailableError(Exception):
    """One way of drawing does not work on this machine, or not with this source."""


class TooLongError(Exception):
    """A drawing that takes longer than anybody would wait."""


def by_dot(source: str) -> str:
    """Draw with the ``dot`` program, which is stopped after `LIMIT` seconds."""
    try:
        drawn, status = _run(["dot", "-Tsvg"], source.encode())
    except FileNotFoundError:
        raise UnavailableError("there is no 'dot' program on the PATH") from None
    except OSError as error:
        raise UnavailableError(
            f"'dot' cannot be started here ({error.strerror or error})"
        ) from None
    except subprocess.TimeoutExpired:
        raise TooLongError(f"Graphviz was stopped after {LIMIT:g} seconds") from None
    if status:
        raise UnavailableError(f"'dot' failed (exit status {status})")
    return drawn.decode(errors="replace")


def _run(command: list[str], given: bytes) -> tuple[bytes, int]:
    """The output and exit status of a program, which does not outlive this call whatever happens."""
    with subprocess.Popen(  # noqa: S603 -- Graphviz is where the PATH says
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    ) as process:
        try:
            drawn, _ = process.communicate(given, timeout=LIMIT)
        except BaseException:
            if hasattr(os, "killpg"):  # the program may be a script that started others
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
            raise
    return drawn, process.returncode


def by_pygraphviz(source: str) -> str:
    """Draw with the Graphviz inside pygraphviz, unless the source is longer than `LARGEST`."""
    try:
        import pygraphviz
    except ImportError:
        raise UnavailableError(
            "pygraphviz, which brings its own Graphviz, is not installed"
        ) from None
    if len(source) > LARGEST:
        raise UnavailableError("the graph is too large for pygraphviz, which cannot be interrupted")
    try:
        with _quiet():
            drawn: bytes = pygraphviz.AGraph(string=source).draw(format="svg", prog="dot")
    except (OSError, ValueError) as error:
        raise UnavailableError(f"pygraphviz failed ({error})") from None
    return drawn.decode()


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard what C libraries print to the error stream, such as font warnings."""
    saved = os.dup(2)
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
