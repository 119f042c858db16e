"""The names behind --what-if: their ranges, and the values that sliders put in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np
from IPython.core.error import UsageError

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.engine.tensor.variable import Variable, reset
from tapemagic.explain.formatting import clipped, format_number, printable
from tapemagic.ipython.line_arguments import is_name, normalized
from tapemagic.report.live.content import Control

MOST_ENTRIES = 24
STEPS = 200
"""About how many steps a slider has."""

WORD = re.compile(r"([^=:]*)(?:=([^:=]*):([^:=]*))?")
ROUNDING = 1e-9
SMALLEST = 1e-290
"""The least number around which there is a range of its own."""


@dataclass(frozen=True)
class Wanted:
    """A name behind --what-if, and the range behind it; None if there is none."""

    name: str
    bounds: tuple[float, float] | None = None


def wanted_in(words: Sequence[str]) -> list[Wanted]:
    """The names and ranges in words, which may have commas between them.

    Raises
    ------
    UsageError
        If a word is no name with a range, a range is empty or turned round, or a name stands there twice.

    Examples
    --------
    >>> wanted_in(["a=-3:3,", "b"])
    [Wanted(name='a', bounds=(-3.0, 3.0)), Wanted(name='b', bounds=None)]
    """
    found = [_wanted(word) for group in words for word in group.split(",") if word]
    names = [wanted.name for wanted in found]
    for name in names:
        if names.count(name) > 1:
            raise _error(f"{name!r} stands there twice: write it once, with its range")
    return found


def _wanted(word: str) -> Wanted:
    shown = clipped(printable(word), 60)
    match = WORD.fullmatch(word)
    name = normalized(match[1]) if match else ""
    if match is None or not is_name(name):
        raise _error(f"{shown!r} is no name with a range: write it without spaces, as in a=-3:3")
    if match[2] is None:
        return Wanted(name)
    try:
        low, high = float(match[2]), float(match[3])
    except ValueError:
        raise _error(
            f"{shown!r} has no two numbers for a range: write them as in {name}=-3:3"
        ) from None
    if not (isfinite(low) and isfinite(high) and isfinite(high - low)):
        raise _error(
            f"the range in {shown!r} has no end: write two finite numbers, as in {name}=-3:3"
        )
    if low > high:
        raise _error(f"the range in {shown!r} is turned round: write {name}={match[3]}:{match[2]}")
    if low == high:
        raise _error(f"the range in {shown!r} holds one number alone: write two, as in {name}=-3:3")
    return Wanted(name, (low, high))


class Parameter:
    """A value with a slider, or an array with one for each entry.

    Parameters
    ----------
    wanted : Wanted
    value : object
        The value that the cell begins with.

    Attributes
    ----------
    name : str
    shape : tuple of int
    entries : list of float
        The entries of the first value, in C order.

    Raises
    ------
    UsageError
        If the value is not made of one to 24 finite real floating-point numbers, or is outside of the range.

    Examples
    --------
    >>> parameter = Parameter(Wanted("a"), np.float32(2.0))
    >>> parameter.put([0.5], 2.0)
    np.float32(0.5)
    >>> control = parameter.control([0.5], moved=True)
    >>> control["low"], control["high"], control["step"]
    (-2.0, 6.0, 0.02)
    """

    def __init__(self, wanted: Wanted, value: Any) -> None:
        self.name = wanted.name
        self._like = value
        self.shape = np.shape(unwrap(value))
        self.entries = entries_of(wanted.name, value)
        self._dtype = np.asarray(unwrap(value)).dtype
        low, high = wanted.bounds or _range_around(self.entries, self._dtype)
        self._bounds = low, high
        outside = [
            x for x in self.entries if not self._dtype.type(low) <= x <= self._dtype.type(high)
        ]
        if outside:
            raise _error(
                f"{self.name} has the value {format_number(outside[0])}, which is outside of the range from "
                f"{format_number(low)} to {format_number(high)}: write a range around it, or leave the range out"
            )

    def control(self, entries: Sequence[float], moved: bool) -> Control:
        """The slider with these entries; `moved` if they are in the place of what the program says."""
        low, high = self._bounds
        return Control(
            name=self.name,
            shape=list(self.shape),
            entries=list(entries),
            low=low,
            high=high,
            step=_nice((high - low) / STEPS),
            moved=moved,
        )

    def read(self, value: Any) -> list[float]:
        """The entries of the value that the name has in a later run.

        Raises
        ------
        UsageError
            If there are no sliders for it.
        """
        entries = entries_of(self.name, value)
        if np.shape(unwrap(value)) != self.shape:
            raise _error(f"{self.name} has another shape now: run the cell again for its sliders")
        return entries

    def fitting(self, entries: Any) -> list[float] | None:
        """Numbers within the range, as many as there are; None for anything else."""
        given = entries if isinstance(entries, list) else [entries]
        if len(given) != len(self.entries):
            return None
        if any(isinstance(x, bool) or not isinstance(x, int | float) for x in given):
            return None
        low, high = self._bounds
        return (
            None
            if not all(map(_is_finite, given))
            else [min(max(float(x), low), high) for x in given]
        )

    def put(self, entries: Sequence[float], value: Any) -> Any:
        """A value with these entries, of the same type, dtype and shape, in the place of a value.

        A Variable stays the same one, and is given them.
        """
        array = np.array(entries, self._dtype).reshape(self.shape)
        if isinstance(value, Variable):
            reset(value, array)
            return value
        if isinstance(self._like, Traced):
            return constant(array)
        return array if isinstance(self._like, np.ndarray) else type(self._like)(array[()])


def entries_of(name: str, value: Any) -> list[float]:
    """The entries of a value that can have sliders, in C order.

    Raises
    ------
    UsageError
        If it is not made of one to 24 finite real floating-point numbers.
    """
    plain = unwrap(value)
    if isinstance(plain, bool | np.bool_):
        raise _error(
            f"{name} = {plain} is True or False: a slider needs a number, such as {name} = 1.0"
        )
    if isinstance(plain, int | np.integer):
        raise _error(f"{name} = {plain} is an integer: write {name} = {plain}.0")
    if isinstance(plain, complex | np.complexfloating):
        raise _error(
            f"{name} is complex: give its real and imaginary part a name each, as in re, im = 1.0, 2.0"
        )
    if isinstance(plain, list | tuple):
        raise _error(f"{name} is a {type(plain).__name__}: write {name} = np.array([1.0, 2.0])")
    if not isinstance(plain, float | np.floating | np.ndarray):
        kind = printable(type(plain).__name__)
        raise _error(f"{name} is of type {kind}: a slider needs a number, such as {name} = 1.0")
    if is_lazy(plain):
        raise _error(
            f"{name} is not computed, and a slider needs a number: give it one, as in {name} = 1.0"
        )
    array = np.asarray(plain)
    if type(plain) is not np.ndarray and isinstance(plain, np.ndarray):
        raise _error(f"{name} is a {type(plain).__name__}: write {name} = np.array({name})")
    if array.dtype.kind != "f":
        raise _error(
            f"{name} is an array of {array.dtype}: sliders need real numbers, such as {name} = np.array([1.0, 2.0])"
        )
    if not array.size:
        raise _error(
            f"{name} is an array without entries: give it some, as in {name} = np.array([1.0, 2.0])"
        )
    if array.size > MOST_ENTRIES:
        raise _error(
            f"{name} has {array.size:,} entries, and sliders are for at most {MOST_ENTRIES}: give the one that "
            f"matters a name of its own, such as a = {name}[{', '.join('0' * array.ndim)}], and use that"
        )
    if not np.isfinite(array).all():
        raise _error(
            f"{name} holds nan or inf: a slider needs a finite number, such as {name} = 1.0"
        )
    return [float(x) for x in array.flat]


def _range_around(entries: Sequence[float], dtype: np.dtype[Any]) -> tuple[float, float]:
    """A range with round ends: around a number v from v - 2|v| to v + 2|v|, around 0 from -1 to 1."""
    size = max(map(abs, entries))
    if size < SMALLEST:
        return -1.0, 1.0
    most = float(min(np.finfo(dtype).max, np.finfo(float).max))
    if size > most / 8:
        below, above = min(entries) < 0, max(entries) > 0
        return (-most / 2, most / 2) if below and above else (-most * below, most * above)
    low, high = min(entries) - 2 * size, max(entries) + 2 * size
    exponent = floor(log10((high - low) / 4))
    unit = 10.0**exponent
    ends = floor(low / unit + ROUNDING), ceil(high / unit - ROUNDING)
    return float(f"{ends[0]}e{exponent}"), float(f"{ends[1]}e{exponent}")


def _nice(width: float) -> float:
    """The largest of 1, 2, 5, 10, ... times a power of ten that is not larger, but for rounding."""
    exponent = floor(log10(width))
    digit = max(d for d in (1, 2, 5) if d <= width / 10.0**exponent + ROUNDING)
    return float(f"{digit}e{exponent}")


def _is_finite(number: float) -> bool:
    try:
        return isfinite(number)
    except OverflowError:
        return False


def _error(words: str) -> UsageError:
    return UsageError(f"%%tape --what-if: {words}")
