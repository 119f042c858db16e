"""Numbers known beforehand: constants, arrays of one number throughout, and single numbers that are broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapemagic.replay.program import Constant, Kind, Node

if TYPE_CHECKING:
    from tapemagic.replay.passes.rewriting import Rewriting

PYTHON = (bool, int, float, complex)
EXACT = frozenset({np.add, np.subtract, np.multiply, np.divide, np.negative})
"""Elementwise functions that give the same bits for a number as for an array of it."""


def fill_of(x: Any) -> Any:
    """The number of which a constant consists, as a NumPy scalar; None if there is no such.

    Examples
    --------
    >>> fill_of(Constant(np.ones((2, 3))))
    np.float64(1.0)
    >>> fill_of(Constant(np.array([0.0, -0.0]))) is None
    True
    """
    if not isinstance(x, Constant) or x.by_reference or x.value.dtype.hasobject:
        return None
    value = x.value
    if not isinstance(value, np.ndarray):
        return value
    if value.size == 0:
        return None
    if value.size > 1 and not is_uniform(value):
        return None
    return value[(0,) * value.ndim]


def is_uniform(value: Any) -> bool:
    """Whether all numbers of an array have the same bits."""
    value = value[tuple(slice(0, 1) if step == 0 else slice(None) for step in value.strides)]
    first, last = value[(0,) * value.ndim], value[(-1,) * value.ndim]
    if first.tobytes() != last.tobytes():
        return False
    size = value.dtype.itemsize
    if size not in {1, 2, 4, 8, 16}:
        return False
    words = np.ascontiguousarray(value).reshape(-1).view(np.uint64 if size >= 8 else f"u{size}")
    words = words.reshape(-1, max(1, size // 8))
    return bool((words == words[0]).all())


def number(x: Any) -> Any:
    """The number that an argument is known to be, throughout: of Python's or NumPy's; None if there is no such."""
    return x if x.__class__ in PYTHON else fill_of(x)


def as_scalar(x: Any, rewriting: Rewriting, depth: int = 8) -> Any:
    """A single number that is what an argument is throughout; None if it is not known to be one.

    Returns
    -------
    Python number, Node or None
    """
    if x.__class__ in PYTHON:
        return x
    if isinstance(x, Constant):
        value = fill_of(x)
        return None if value is None else x if x.value is value else Constant(value, name=x.name)
    if not isinstance(x, Node) or x.kind.__class__ is not Kind:
        return None
    if not x.kind.is_array:
        return x
    if x.function in {np.broadcast_to, np.asarray} and depth:
        return as_scalar(x.args[0], rewriting, depth - 1)
    if x.function in EXACT and depth and not x.kwargs and x.kind.dtype.kind == "f":
        parts = [as_scalar(part, rewriting, depth - 1) for part in x.args]
        if all(part is not None for part in parts):
            kind = Kind((), x.kind.dtype, False)
            return rewriting.call(x.function, tuple(parts), kind, x)
    return None
