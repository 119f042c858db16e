"""Runs Graphviz: the ``dot`` program, or the copy inside pygraphviz; front ends may run a third copy."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

TIMEOUT_SECONDS = 5.0
"""The time after which the ``dot`` program is stopped."""
# With Graphviz 2.43, 60 nodes take 0.08 s, and 1,000 nodes with 2,000 random edges take 3.5 s (November 2026). Readers
# can open a folded graph to any size; beyond this limit a report shows equations instead.
MAX_SOURCE = 60_000
"""The longest source, in characters, that pygraphviz or a front end draws."""
# pygraphviz runs Graphviz inside this process, and a front end inside its page, so no timeout and no KeyboardInterrupt
# can stop it. A node with its edges takes 200 to 270 characters, so this is a graph of about 250 nodes.
MAX_LAYOUTS, MAX_LAYOUT = 100, 1_000_000
"""The most drawings of front ends that are kept, and the most characters of one."""

_layouts: dict[str, str] = {}


class UnavailableError(Exception):
    """An engine doesn't work on this machine, or can't draw this source."""


class TooLongError(Exception):
    """A drawing takes longer than `TIMEOUT_SECONDS`."""


def by_dot(source: str) -> str:
    """Draw with the ``dot`` program, which is stopped after `TIMEOUT_SECONDS`."""
    return run_dot(source, "svg").decode(errors="replace")


def run_dot(source: str, kind: str) -> bytes:
    """Return a file of a kind, such as "png", that the ``dot`` program draws."""
    try:
        drawn, status = _run(["dot", f"-T{kind}"], source.encode())
    except FileNotFoundError:
        raise UnavailableError("there is no 'dot' program on the PATH") from None
    except OSError as error:
        raise UnavailableError(
            f"'dot' cannot be started here ({error.strerror or error})"
        ) from None
    except subprocess.TimeoutExpired:
        raise TooLongError(f"Graphviz was stopped after {TIMEOUT_SECONDS:g} seconds") from None
    if status:
        raise UnavailableError(f"'dot' failed (exit status {status})")
    return drawn


def _run(command: list[str], source: bytes) -> tuple[bytes, int]:
    """Run a program and return its output and exit status; it never outlives this call."""
    with subprocess.Popen(  # noqa: S603 -- Graphviz is where the PATH says
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Graphviz warns of each label that its own fonts don't fit into the fixed size of a node.
        stderr=subprocess.DEVNULL,
        # In a separate session, `dot` doesn't receive the Ctrl-C of a terminal, and can be killed as a group.
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    ) as process:
        try:
            drawn, _ = process.communicate(source, timeout=TIMEOUT_SECONDS)
        except BaseException:
            # `dot` may be a script that started others (conda, snap): they share its process group.
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
            raise
    return drawn, process.returncode


def by_pygraphviz(source: str) -> str:
    """Draw with the Graphviz inside pygraphviz, unless the source is longer than `MAX_SOURCE`."""
    try:
        import pygraphviz
    except ImportError:
        raise UnavailableError(
            "pygraphviz, which brings its own Graphviz, is not installed"
        ) from None
    if len(source) > MAX_SOURCE:
        raise UnavailableError("the graph is too large for pygraphviz, which cannot be interrupted")
    try:
        with _quiet():
            drawn: bytes = pygraphviz.AGraph(string=source).draw(format="svg", prog="dot")
    except (OSError, ValueError) as error:
        raise UnavailableError(f"pygraphviz failed ({error})") from None
    return drawn.decode()


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard the output of C libraries on the error stream, such as warnings about fonts."""
    # They write to file descriptor 2, past sys.stderr.
    saved = os.dup(2)
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def by_front_end(source: str) -> str:
    """Return the drawing that a front end has sent, if it has; it draws where nothing else can."""
    try:
        return _layouts[source]
    except KeyError:
        raise UnavailableError("no front end has drawn it") from None


def keep_layout(source: str, drawn: str) -> None:
    """Keep the drawing of a front end for `by_front_end`."""
    if len(drawn) > MAX_LAYOUT:
        return
    _layouts[source] = drawn
    while len(_layouts) > MAX_LAYOUTS:
        # Dicts keep the order of insertion, so this is the oldest.
        del _layouts[next(iter(_layouts))]
