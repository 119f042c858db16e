"""Padding an array with constants, with copies of its elements, or with statistics of these elements."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.registry import composite, operation, selects, vjp
from tapemagic.engine.rules.shaping import at, cast, gathered, relaid
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.precision import precise_sum
from tapemagic.engine.tensor.tensor import as_operand, unwrap
from tapemagic.errors import UnsupportedArgumentError

Widths = tuple[tuple[int, int], ...]

COPIES = frozenset({"edge", "reflect", "symmetric", "wrap"})
STATISTICS: dict[str, Any] = {
    "mean": np.mean,
    "maximum": np.max,
    "minimum": np.min,
    "median": np.median,
}
COMPUTED = frozenset({"linear_ramp", *STATISTICS})


def pad_constant(array: Any, constant_values: Any, widths: Widths) -> Any:
    """``np.pad`` with constants."""
    return np.pad(array, widths, constant_values=constant_values)


def pad_copy(array: Any, widths: Widths, mode: str) -> Any:
    """``np.pad`` with copies of elements of the array."""
    return np.pad(array, widths, mode)  # type: ignore[call-overload]


def _inside(widths: Widths, lengths: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the index of the array in the padded array."""
    return tuple(slice(width[0], width[0] + n) for width, n in zip(widths, lengths, strict=True))


def _pad_constant(g, _y, _array, _constant_values, widths):
    """The gradient without the padding."""
    return g[(..., *_inside(widths, _array.shape))]


def _pad_constant_values(g, _y, _array, _constant_values, widths):
    """The sum over each strip of padding; the strips of later axes cover the corners."""
    inside = _inside(widths, _array.shape)
    axes = tuple(range(-_array.ndim, 0))
    sums: list[Any] = []
    for axis, (before, _) in zip(axes, widths, strict=True):
        # Each corner belongs to the strip of its last axis, as NumPy fills axis by axis.
        for strip in (slice(before), slice(inside[axis].stop, None)):
            index = (
                *(slice(None),) * (axis + _array.ndim),
                strip,
                *inside[axis + 1 or _array.ndim :],
            )
            sums.append(precise_sum(g[(..., *index)], axes))
    return relaid(np.stack(sums, axis=-1), 1, (_array.ndim, 2))


def _pad_copy(g, _y, _array, widths, mode):
    """Add the gradient of every copy to the original element, one axis after another."""
    for axis, width in zip(range(-_array.ndim, 0), widths, strict=True):
        if any(width):
            length = _array.shape[axis]
            g = gathered(g, np.pad(np.arange(length), width, mode), length, axis)
    return g


vjp(pad_constant, _pad_constant, _pad_constant_values, name="pad")
vjp(pad_copy, _pad_copy, name="pad")

selects(pad_copy)


def _pairs(value: Any, ndim: int) -> Any:
    """Return a value for each end of each axis, from NumPy's shorter forms."""
    return np.broadcast_to(as_operand(value), (ndim, 2))


def _widths(pad_width: Any, ndim: int) -> Widths:
    """Return the lengths of the padding at both ends of each axis."""
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = tuple(np.broadcast_to(unwrap(width), 2).tolist())
    else:
        pairs = np.broadcast_to(unwrap(pad_width), (ndim, 2)).tolist()
    widths = tuple((operator.index(before), operator.index(after)) for before, after in pairs)
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError(f"pad_width cannot be negative: {pad_width!r}")
    return widths


def _require_entries(array: Any, widths: Widths) -> None:
    """Raise NumPy's error if there is nothing to pad with."""
    for axis, (length, width) in enumerate(zip(array.shape, widths, strict=True)):
        if not length and any(width):
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant'")


def _grown(array: Any, widths: Widths, strip: Callable[[Any, int, int, int], Any]) -> Any:
    """Add a ``strip(array, axis, end, width)`` at both ends of each axis, one axis after another."""
    _require_entries(array, widths)
    for axis, (before, after) in zip(range(-array.ndim, 0), widths, strict=True):
        if before or after:
            ends = strip(array, axis, 0, before), strip(array, axis, 1, after)
            array = np.concatenate([ends[0], array, ends[1]], axis=axis)
    return array


def _last(array: Any, axis: int, end: int, count: int) -> Any:
    """Return the `count` entries at one end of an axis."""
    length = array.shape[axis]
    return array[at(axis, slice(length - count, length) if end else slice(count))]


def _ramp(array: Any, widths: Widths, end_values: Any = 0) -> Any:
    """Pad the array with linear ramps to the `end_values`."""
    values = _pairs(end_values, array.ndim)

    def strip(array: Any, axis: int, end: int, width: int) -> Any:
        steps = np.arange(width).reshape(-1, *(1,) * (-axis - 1)) / max(width, 1)
        value, edge = values[axis, end], _last(array, axis, end, 1)
        ramp = value + (edge - value) * (np.flip(steps, 0) if end else steps)
        return cast(ramp, array.dtype)

    return _grown(array, widths, strip)


def _statistic(array: Any, widths: Widths, mode: str, stat_length: Any = None) -> Any:
    """Pad the array with a statistic of the `stat_length` entries at each end."""
    lengths = None if stat_length is None else _pairs(unwrap(stat_length), array.ndim)

    def strip(array: Any, axis: int, end: int, width: int) -> Any:
        length = array.shape[axis]
        count = length if lengths is None else min(int(lengths[axis, end]), length)
        statistic = STATISTICS[mode](_last(array, axis, end, count), axis=axis, keepdims=True)
        return np.repeat(statistic, width, axis=axis)

    return _grown(array, widths, strip)


def _odd(array: Any, widths: Widths, mode: str) -> Any:
    """Pad the array with odd reflections, which are mirrored at the value of the end."""
    _require_entries(array, widths)
    for axis, (before, after) in zip(range(-array.ndim, 0), widths, strict=True):
        array = _reflected(array, axis, before, after, 0 if mode == "symmetric" else 1)
    return array


def _reflected(array: Any, axis: int, before: int, after: int, skipped: int) -> Any:
    """Add odd reflections at the ends of an axis, without the `skipped` outermost entries."""
    # A reflection longer than the array is made of several: each one extends the array for the
    # next.
    period = array.shape[axis] - skipped
    if period < 1:
        ends = _last(array, axis, 0, 1), _last(array, axis, 1, 1)
        first, last = (np.repeat(x, n, axis) for x, n in zip(ends, (before, after), strict=True))
        return np.concatenate([first, array, last], axis=axis)
    while before or after:
        length = array.shape[axis]
        reach = (length - skipped) // period * period
        left, right = min(reach, before), min(reach, after)
        inner = array[at(axis, slice(skipped, skipped + left))]
        start = 2 * _last(array, axis, 0, 1) - np.flip(inner, axis)
        inner = array[at(axis, slice(length - skipped - right, length - skipped))]
        stop = 2 * _last(array, axis, 1, 1) - np.flip(inner, axis)
        array = np.concatenate([start, array, stop], axis=axis)
        before, after = before - left, after - right
    return array


@composite(np.pad)
def _(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    widths = _widths(pad_width, array.ndim)
    if not widths:
        return np.copy(array)
    if mode in {"constant", "empty"}:  # the values of "empty" are arbitrary, so zeros are allowed
        values = as_operand(options.pop("constant_values", 0))
        return apply(operation(pad_constant), (array, values), {"widths": widths, **options})
    if mode in COPIES and options.get("reflect_type", "even") == "even":
        options.pop("reflect_type", None)
        return apply(operation(pad_copy), (array,), {"widths": widths, "mode": mode, **options})
    if mode in {"reflect", "symmetric"} and options == {"reflect_type": "odd"}:
        return _odd(array, widths, mode)
    if mode in COMPUTED and array.dtype.kind not in "fc":
        return constant(np.pad(unwrap(array), widths, mode, **options))
    if mode == "linear_ramp":
        return _ramp(array, widths, **options)
    if mode in STATISTICS:
        return _statistic(array, widths, mode, **options)
    modes = ", ".join(map(repr, sorted(COPIES | COMPUTED | {"constant", "empty"})))
    if callable(mode):
        raise UnsupportedArgumentError(
            f"pad(..., mode={mode.__name__}) would let the function write into the array, which no tape can track: "
            f"use {modes}, or np.concatenate"
        )
    raise UnsupportedArgumentError(
        f"pad(..., mode={mode!r}) has no derivative here with the options {options}: use {modes}"
    )
