"""Where a derivative is wrong: in which entry of an input, in which number of the result, and why."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Any

import numpy as np

from tapemagic.engine.events import Event
from tapemagic.engine.gradcheck.finite_differences import STEP, Spot, only, stride

FEW = 32
"""Of so many entries, each is tried; more are halved before."""

COARSE = 1e-10
"""Numbers that are rounded more than this make no good difference quotients."""

Index = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """One number in the result of a function: of which output, and of a complex one which part."""

    output: int
    index: Index
    side: str


@dataclass(frozen=True)
class Located:
    """A derivative in one entry of an input.

    Attributes
    ----------
    index : tuple of int
        The entry.
    part : Part or None
        What is differentiated; None if it is all outputs, times their weights.
    tape, quotient : float or complex
        The derivative by the tape, and the difference quotient.
    error : float
        Their relative difference.
    spot, direction : Spot, array
        How they were found.
    """

    index: Index
    part: Part | None
    tape: Any
    quotient: Any
    error: float
    spot: Spot
    direction: Any


def suspects(spot: Spot, position: int, direction: Any) -> range:
    """A few entries of an input, of which one is wrong if the derivative in a direction is."""

    def gap(start: int, stop: int) -> float:
        return spot.compare(position, only([direction], start, stop)[0]).gap

    return range(*_halved(direction.size, FEW, gap))


def locate(spot: Spot, position: int, entries: Iterable[int], tolerance: float) -> Located:
    """Of some entries of an input, the wrongest, and the number of the result where it shows."""
    x = spot.points[position]
    tried = (
        (spot.compare(position, _step(x, entry, side)).error, entry, side)
        for entry in entries
        for side in _sides(x)
    )
    error, entry, side = max(tried, key=lambda found: round(found[0], 6))
    if error > tolerance:
        narrow, part = _narrowed(spot, position, _step(x, entry, side))
        found = _measured(narrow, position, entry, side, part)
        if found.error > tolerance:
            return found
    return _measured(spot, position, entry, side, None)


def likely_cause(spot: Spot, position: int, direction: Any) -> str:
    """Why a derivative differs from its difference quotient, if that can be seen; else nothing."""
    if not np.isfinite(spot.compare(position, direction).quotient):
        return (
            "the function is not finite on all sides of this point: "
            "choose one that is further inside of its domain"
        )
    coarse = [y.dtype for y in spot.weights if np.finfo(y.dtype).eps > COARSE]
    if coarse:
        return (
            f"the function computes in {coarse[0]}, which is too coarse for difference quotients: "
            "let it compute in float64"
        )
    if _is_edge(spot, position, direction):
        return (
            "the function has a kink or a jump at this point, and so no derivative: "
            "choose another point"
        )
    exits = spot.exits(position)
    if exits:
        return _of_exit(exits[-1])
    if not np.any(spot.gradients[position]):
        return (
            "the tape's gradient is zero in all of this input: "
            "did the function leave the tape, with .numpy(), float(x) or np.asarray(x)?"
        )
    return ""


def _of_exit(event: Event) -> str:
    """That a value left the tape, where, and what to write instead."""
    through = str(event.what)
    if event.place:
        library = f" in {event.place.library}" if event.place.library else ""
        line = shorten(linecache.getline(event.place.file, event.place.line), 60, placeholder="…")
        through += f"{library} on line {event.place.line}" + (f" ({line})" if line else "")
    return (
        f"this input left the tape through {through}, so the tape's number may lack a part: "
        "compute with the tensor itself, and with np.sin(x) for math.sin(x)"
    )


def _is_edge(spot: Spot, position: int, direction: Any) -> bool:
    """Whether difference quotients to both sides, or with other steps, are different."""
    at = {steps: spot.total(position, steps * direction) for steps in (-2, -1, 0, 1, 2)}
    bend, wider = (abs(at[s] + at[-s] - 2 * at[0]) for s in (1, 2))
    slope, wide = ((at[s] - at[-s]) / s for s in (1, 2))
    much = STEP * spot.compare(position, direction).gap / 2
    kink = bend > much and wider < 3 * bend
    jump = abs(wide - slope) > max(much / 2, 0.1 * abs(slope))
    return kink or jump


def _halved(count: int, few: int, gap: Callable[[int, int], float]) -> tuple[int, int]:
    """Halve the numbers below `count` until few are left: always keep those with the larger gap."""
    start, stop = 0, count
    while stop - start > few:
        middle = (start + stop) // 2
        start, stop = max((start, middle), (middle, stop), key=lambda span: gap(*span))
    return start, stop


def _index(x: Any, entry: int) -> Index:
    return tuple(int(i) for i in np.unravel_index(entry, x.shape))


def _sides(x: Any) -> tuple[complex, ...]:
    """The ways in which a number can go."""
    return (1.0, 1.0j) if x.dtype.kind == "c" else (1.0,)


def _unit(x: Any, entry: int, value: Any) -> Any:
    """Zeros like `x`, with a single entry that is something else."""
    unit = np.zeros_like(x)
    unit[_index(x, entry)] = value
    return unit[()]


def _step(x: Any, entry: int, side: complex) -> Any:
    """The direction in which a single entry goes, of the usual length."""
    return _unit(x, entry, side * stride(np.abs(x[_index(x, entry)])))


def _narrowed(spot: Spot, position: int, direction: Any) -> tuple[Spot, Part]:
    """The same where only one number of the result counts, the wrongest, and with a weight of one."""

    def gap(start: int, stop: int) -> float:
        return spot.only(start, stop).compare(position, direction).gap

    entry, _ = _halved(sum(w.size for w in spot.weights), 1, gap)
    output = 0
    while entry >= spot.weights[output].size:
        entry -= spot.weights[output].size
        output += 1
    w = spot.weights[output]
    zeros = [np.zeros_like(other)[()] for other in spot.weights]
    names = ("the real part of ", "the imaginary part of ") if w.dtype.kind == "c" else ("",)
    found = [
        (
            replace(spot, weights=[*zeros[:output], _unit(w, entry, side), *zeros[output + 1 :]]),
            Part(output, _index(w, entry), name),
        )
        for side, name in zip(_sides(w), names, strict=True)
    ]
    return max(found, key=lambda one: one[0].compare(position, direction).gap)


def _measured(spot: Spot, position: int, entry: int, side: complex, part: Part | None) -> Located:
    """The derivative in one entry: a complex number where the entry is one."""
    x = spot.points[position]
    found = {s: spot.compare(position, _step(x, entry, s)) for s in _sides(x)}
    index = _index(x, entry)
    size = float(stride(np.abs(x[index])))
    tape = sum(s * comparison.tape for s, comparison in found.items()) / size
    quotient = sum(s * comparison.quotient for s, comparison in found.items()) / size
    direction = _step(x, entry, side)
    return Located(index, part, tape, quotient, found[side].error, spot, direction)
