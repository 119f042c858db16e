"""Sliders of --what-if: their names and ranges, and the values that they set."""

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
from tapemagic.ipython.line_arguments import is_name, normalize
from tapemagic.report.live.content import Control

MAX_ENTRIES = 24
SLIDER_STEPS = 200
"""Approximate number of steps of a slider."""

WORD = re.compile(r"([^=:]*)(?:=([^:=]*):([^:=]*))?")
# Absorbs errors such as 0.3 / 0.1 = 2.9999999999999996.
ROUNDING = 1e-9
MIN_RANGE_CENTER = 1e-290
"""Minimum size of a value for a range relative to it: below, a step would be a subnormal number."""


@dataclass(frozen=True)
class SliderRequest:
    """Name after --what-if, with an optional range."""

    name: str
    bounds: tuple[float, float] | None = None


def parse_sliders(words: Sequence[str]) -> list[SliderRequest]:
    """Parse the names and ranges after --what-if, which may be separated by commas.

    Raises UsageError if a word is not a name with a range, a range is empty or reversed, or a name is repeated.

    Examples
    --------
    >>> parse_sliders(["a=-3:3,", "b"])
    [SliderRequest(name='a', bounds=(-3.0, 3.0)), SliderRequest(name='b', bounds=None)]
    """
    requests = [_parse_slider(word) for group in words for word in group.split(",") if word]
    names = [request.name for request in requests]
    for name in names:
        if names.count(name) > 1:
            raise _error(f"{name!r} stands there twice: write it once, with its range")
    return requests


def _parse_slider(word: str) -> SliderRequest:
    shown = clipped(printable(word), 60)
    match = WORD.fullmatch(word)
    name = normalize(match[1]) if match else ""
    if match is None or not is_name(name):
        raise _error(f"{shown!r} isn't a name with a range: write it without spaces, as in a=-3:3")
    if match[2] is None:
        return SliderRequest(name)
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
        raise _error(f"the range in {shown!r} is reversed: write {name}={match[3]}:{match[2]}")
    if low == high:
        raise _error(f"the range in {shown!r} holds one number alone: write two, as in {name}=-3:3")
    return SliderRequest(name, (low, high))


class Slider:
    """A value with a slider, or an array with one slider per entry.

    - `value`: The value that the cell starts with.

    - `entries`: The entries of this value, in C order.

    Raises UsageError if the value does not have 1 to 24 finite real entries, or lies outside the range.

    Examples
    --------
    >>> parameter = Slider(SliderRequest("a"), np.float32(2.0))
    >>> parameter.set_values([0.5], 2.0)
    np.float32(0.5)
    >>> control = parameter.control([0.5], moved=True)
    >>> control["low"], control["high"], control["step"]
    (-2.0, 6.0, 0.02)
    """

    def __init__(self, request: SliderRequest, value: Any) -> None:
        self.name = request.name
        self._like = value
        self.shape = np.shape(unwrap(value))
        self.entries = entries_of(request.name, value)
        self._dtype = np.asarray(unwrap(value)).dtype
        low, high = request.bounds or _range_around(self.entries, self._dtype)
        self._bounds = low, high
        outside = [
            # In the dtype of the value: 0.1 in float32 is slightly above 0.1.
            x
            for x in self.entries
            if not self._dtype.type(low) <= x <= self._dtype.type(high)
        ]
        if outside:
            raise _error(
                f"{self.name} has the value {format_number(outside[0])}, which is outside of the range from "
                f"{format_number(low)} to {format_number(high)}: write a range around it, or leave the range out"
            )

    def control(self, entries: Sequence[float], moved: bool) -> Control:
        """Describe the slider for the front end; `moved` says that it overrides the program's value."""
        low, high = self._bounds
        return Control(
            name=self.name,
            shape=list(self.shape),
            entries=list(entries),
            low=low,
            high=high,
            step=_round_step((high - low) / SLIDER_STEPS),
            moved=moved,
        )

    def read(self, value: Any) -> list[float]:
        """Return the entries of the name's value in a later run.

        Raises UsageError if its shape has changed, or it can't have a slider.
        """
        entries = entries_of(self.name, value)
        if np.shape(unwrap(value)) != self.shape:
            raise _error(f"{self.name} has another shape now: run the cell again for its sliders")
        return entries

    def checked_entries(self, entries: Any) -> list[float] | None:
        """Clip the entries in a message to the range; return None if they are invalid."""
        numbers = entries if isinstance(entries, list) else [entries]
        if len(numbers) != len(self.entries):
            return None
        # JSON's true arrives as a bool, which Python counts as an int.
        if any(isinstance(x, bool) or not isinstance(x, int | float) for x in numbers):
            return None
        low, high = self._bounds
        return (
            None
            if not all(map(_is_finite, numbers))
            else [min(max(float(x), low), high) for x in numbers]
        )

    def set_values(self, entries: Sequence[float], value: Any) -> Any:
        """Replace a value by these entries, with the same type, dtype and shape.

        A Variable stays the same object and is assigned the entries.
        """
        array = np.array(entries, self._dtype).reshape(self.shape)
        if isinstance(value, Variable):
            reset(value, array)
            return value
        if isinstance(self._like, Traced):
            return constant(array)
        return array if isinstance(self._like, np.ndarray) else type(self._like)(array[()])


def entries_of(name: str, value: Any) -> list[float]:
    """Return the entries of a value that can have sliders, in C order.

    Raises UsageError if it does not have 1 to 24 finite real entries.
    """
    plain = unwrap(value)
    # bool first: to Python it is an int.
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
    # Masked arrays and matrices would lose their mask or their product.
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
    if array.size > MAX_ENTRIES:
        raise _error(
            f"{name} has {array.size:,} entries, and sliders are for at most {MAX_ENTRIES}: give the one that "
            f"matters a name of its own, such as a = {name}[{', '.join('0' * array.ndim)}], and use that"
        )
    if not np.isfinite(array).all():
        raise _error(
            f"{name} holds nan or inf: a slider needs a finite number, such as {name} = 1.0"
        )
    return [float(x) for x in array.flat]


def _range_around(entries: Sequence[float], dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return a range with round ends: from v - 2|v| to v + 2|v| around a number v, from -1 to 1 around 0."""
    # One range for all entries of an array, so that their sliders can be compared.
    size = max(map(abs, entries))
    if size < MIN_RANGE_CENTER:
        return -1.0, 1.0
    # Ends beyond the dtype would become inf in a float32 array.
    largest = float(min(np.finfo(dtype).max, np.finfo(float).max))
    # v + 2|v| would overflow, and so would the width of the range.
    if size > largest / 8:
        below, above = min(entries) < 0, max(entries) > 0
        return (
            (-largest / 2, largest / 2) if below and above else (-largest * below, largest * above)
        )
    low, high = min(entries) - 2 * size, max(entries) + 2 * size
    exponent = floor(log10((high - low) / 4))
    unit = 10.0**exponent
    # Through text, because 3 * 0.1 is 0.30000000000000004, and the front end shows the ends.
    ends = floor(low / unit + ROUNDING), ceil(high / unit - ROUNDING)
    return float(f"{ends[0]}e{exponent}"), float(f"{ends[1]}e{exponent}")


def _round_step(width: float) -> float:
    """Round a width down to 1, 2 or 5 times a power of ten, up to rounding errors."""
    exponent = floor(log10(width))
    digit = max(d for d in (1, 2, 5) if d <= width / 10.0**exponent + ROUNDING)
    return float(f"{digit}e{exponent}")


def _is_finite(number: float) -> bool:
    try:
        # JSON has integers of any size; isfinite converts them to float.
        return isfinite(number)
    except OverflowError:
        return False


def _error(words: str) -> UsageError:
    return UsageError(f"%%tape --what-if: {words}")
