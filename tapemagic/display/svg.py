"""Drawings of DOT as SVG, by the ``dot`` program, else by the Graphviz inside pygraphviz."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import graphviz

from tapemagic.display.appearance import Engine, Theme, themed_picture

INSTALL = (
    "install Graphviz (apt install graphviz, brew install graphviz, or conda install graphviz)"
)
ANY_ENGINE = '%config TapeMagics.engine = "auto"'

ROOM = 900
"""The largest width and height of a picture in pixels; a larger one is scaled down."""
LEAST = 0.55
"""The smallest scale at which a picture can be read; one that is larger still is scrolled."""
SIZE = re.compile(r'<svg width="([\d.]+)pt" height="([\d.]+)pt"')


@dataclass(frozen=True)
class Drawing:
    """An SVG picture, or the reason why there is none."""

    svg: str | None
    reason: str = ""

    def in_theme(self, theme: Theme) -> Drawing:
        """The drawing with the colours of a theme."""
        return self if self.svg is None else Drawing(themed_picture(self.svg, theme))


def draw(source: str, engine: Engine = "auto") -> Drawing:
    """Draw DOT source.

    Parameters
    ----------
    source : str
        DOT.
    engine : {'auto', 'dot', 'pygraphviz', 'none'}, optional
        The ``dot`` program, the Graphviz inside pygraphviz, or nothing; by default the first of them that works.

    Returns
    -------
    Drawing
        With the SVG element alone, or with the reason why nothing could be drawn.
    """
    if engine == "none":
        return Drawing(None, "no picture, because TapeMagics.engine is 'none'")
    drawers = {"dot": _by_dot, "pygraphviz": _by_pygraphviz}
    problems = []
    for drawer in drawers.values() if engine == "auto" else [drawers[engine]]:
        try:
            return Drawing(_element(drawer(source)))
        except UnavailableError as problem:
            problems.append(str(problem))
    advice = INSTALL if engine == "auto" else f"{INSTALL}, or write {ANY_ENGINE}"
    return Drawing(None, f"no picture: {'; '.join(problems)}. To see it, {advice}")


class UnavailableError(Exception):
    """One way of drawing does not work on this machine."""


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


def _element(document: str) -> str:
    """The svg element of a document, with tooltips as titles in place of links."""
    start = document.find("<svg")
    if start < 0:
        raise UnavailableError("Graphviz did not answer with an SVG")
    element = re.sub(r"<!--.*?-->\s*|<title>.*?</title>\s*", "", document[start:], flags=re.DOTALL)
    titled = re.sub(r'<a xlink:title="([^"]*)">', r"<g><title>\1</title>", element)
    return titled.replace("</a>", "</g>").strip()


def fitted(svg: str, live: bool = False) -> tuple[str, str]:
    """Scale a picture down to be seen whole, as far as it stays legible, and give the style in which to show it.

    The style of what is not `live`, and stored in notebooks, has no lengths: they differ from one Graphviz to the next.
    """
    if (size := SIZE.match(svg)) is None:
        return svg, ""
    width, height = (float(points) * 96 / 72 for points in size.groups())
    is_wide = width * LEAST > ROOM
    scale = LEAST if is_wide else max(LEAST, min(1.0, ROOM / height))
    sized = f'<svg width="{width * scale:.0f}" height="{height * scale:.0f}"{svg[size.end() :]}'
    if is_wide:
        return sized, "max-width:none"
    return sized, "max-width:100%;height:auto" + live * f";min-width:{width * LEAST:.0f}px"
