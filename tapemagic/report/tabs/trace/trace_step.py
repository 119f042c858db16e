"""A step through a drawn graph and its trace, as frozen data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tapemagic.report.tabs.trace.trace import Trace


@dataclass(frozen=True)
class TraceStep:
    """A step through a recording.

    Attributes
    ----------
    way : {'forward', 'reverse'}
    part : int
        The index of the part of the trace: 0 for the cell's, then those of the derivatives that the report took.
    row : int or None
        The index of its row in that part.
    entry : int or None
        In reverse, the index of its equation in that row.
    step : int or None
        The index of the operation in the graph; None for a watched value.
    lines : (int, int) or None
        The lines of the cell that belong to it.
    words : str
        The sentence of this step.
    shown : tuple of int
        The values of the graph, by their indices, that are known from this step on.
    gradients : tuple of (int, str)
        The values of the graph with the texts of their gradients from this step on: sums that are not complete yet,
        an ellipsis where those are not known, and in the end `Value.gradient`.
    positions : sequence of int
        Those of the operations on the tape that it goes through.
    """

    way: Literal["forward", "reverse"]
    part: int
    row: int | None
    step: int | None
    lines: tuple[int, int] | None
    words: str
    shown: tuple[int, ...] = ()
    gradients: tuple[tuple[int, str], ...] = ()
    entry: int | None = None
    positions: Sequence[int] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Steps:
    """The steps through a recording, beside its trace.

    Attributes
    ----------
    trace : Trace
        Laid out as the graph is. It has no parts if no operation was recorded.
    steps : tuple of TraceStep
    known : tuple of int
        The values of the graph that are known before the first step: constants, and those without a row.
    """

    trace: Trace
    steps: tuple[TraceStep, ...]
    known: tuple[int, ...] = ()
