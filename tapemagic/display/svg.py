"""DOT drawn as SVG: by the ``dot`` program, else by the Graphviz inside pygraphviz, else not at all."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import graphviz

INSTALL = (
    "install Graphviz (apt install graphviz, brew install graphviz, or conda install graphviz)"
)


@dataclass(frozen=True)
class Drawing:
    """An SVG picture, or the reason why there is none."""

    svg: str | None
    reason: str = ""


def draw(source: str) -> Drawing:
    """Draw DOT source.

    Parameters
    ----------
    source : str
        DOT.

    Returns
    -------
    Drawing
        With the SVG element alone, or with the reason why nothing could be drawn.
    """
    problems = []
    for drawer in (_by_dot, _by_pygraphviz):
        try:
            return Drawing(_element(drawer(source)))
        except UnavailableError as problem:
            problems.append(str(problem))
    return Drawing(None, f"no picture: {'; '.join(problems)}. To see it, {INSTALL}")


class UnavailableError(Exception):
    """A way of drawing that does not work on this machine."""


def _by_dot(source: str) -> str:
    try:
        return str(graphviz.Source(source).pipe("svg", encoding="utf-8", quiet=True))
    except graphviz.ExecutableNotFound:
        raise UnavailableError("there is no 'dot' program on the PATH") from None
    except OSError as error:
        raise UnavailableError(
            f"'dot' cannot be started here ({error.strerror or error})"
        ) from None
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"'dot' failed ({str(error).splitlines()[0]})") from None


def _by_pygraphviz(source: str) -> str:
    try:
        import pygraphviz
    except ImportError:
        raise UnavailableError(
            "pygraphviz, which brings its own Graphviz, is not installed"
        ) from None
    try:
        with _quiet():
            drawn: bytes = pygraphviz.AGraph(string=source).draw(format="svg", prog="dot")
    except (OSError, ValueError) as error:
        raise UnavailableError(f"pygraphviz failed ({error})") from None
    return drawn.decode()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what C libraries print on the error stream, such as font warnings, out of the notebook."""
    saved = os.dup(2)
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _element(document: str) -> str:
    """The svg element alone, with a title where Graphviz made a link of a tooltip."""
    start = document.find("<svg")
    if start < 0:
        raise UnavailableError("Graphviz did not answer with an SVG")
    element = re.sub(r"<!--.*?-->\s*|<title>.*?</title>\s*", "", document[start:], flags=re.DOTALL)
    titled = re.sub(r'<a xlink:title="([^"]*)">', r"<g><title>\1</title>", element)
    return titled.replace("</a>", "</g>").strip()
