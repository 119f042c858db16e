"""Known numbers: constants, arrays whose elements are one number, and single numbers that are broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.programs.program import Constant, Kind, Node

PYTHON = (bool, int, float, complex)
EXACT = frozenset({np.add, np.subtract, np.multiply, np.divide, np.negative})
"""Elementwise functions that return the same bits for a number as for an array of the number."""

BROADCASTING = frozenset({np.broadcast_to, np.asarray})
"""Functions that create an array from a number."""


def fill_of(x: Any) -> Any:
    """Return the number that all elements of a constant are, as a NumPy scalar, or None if they differ.

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
    if x.uniform is None:
        x.uniform = is_uniform(value)
    return value[(0,) * value.ndim] if x.uniform else None


def is_uniform(value: Any) -> bool:
    """Return True if the elements of an array have the same bits."""
    # Axes with stride 0 repeat their first element. Comparing the last element first settles most arrays.
    value = value[tuple(slice(0, 1) if step == 0 else slice(None) for step in value.strides)]
    first, last = value[(0,) * value.ndim], value[(-1,) * value.ndim]
    if first.tobytes() != last.tobytes():
        return False
    size = value.dtype.itemsize
    if size not in {1, 2, 4, 8, 16}:
        return False
    flat = np.ascontiguousarray(value).reshape(-1)
    words = flat.view(np.uint64 if size >= 8 else f"u{size}").reshape(flat.size, -1)
    return bool((words == words[0]).all())


def number(x: Any) -> Any:
    """Return the number that all elements of an argument are known to be, if any."""
    return x if x.__class__ in PYTHON else fill_of(x)


class Uniform:
    """Set of the arrays of a program whose elements are known to be one number."""

    def __init__(self) -> None:
        self._nodes: set[Node] = set()

    def record(self, node: Node) -> None:
        """Add a node if its arguments, which were recorded before, show that its elements are one number."""
        if node.kind.__class__ is not Kind or not node.kind.is_array or not node.args:
            return
        if node.function in BROADCASTING:
            is_uniform = self.contains(node.args[0])
        else:
            exact = node.function in EXACT and not node.kwargs and node.kind.dtype.kind == "f"
            is_uniform = exact and all(map(self.contains, node.args))
        if is_uniform:
            self._nodes.add(node)

    def contains(self, x: Any) -> bool:
        """Return True if an argument is a number, or an array whose elements are known to be one number."""
        if x.__class__ in PYTHON:
            return True
        if isinstance(x, Constant):
            return fill_of(x) is not None
        if not isinstance(x, Node):
            return False  # such as a list, which has no hash
        return x in self._nodes or (x.kind.__class__ is Kind and not x.kind.is_array)


def as_scalar(x: Any, call: Callable[..., Node]) -> Any:
    """Return the number that all elements of an argument are, which `Uniform` must contain.

    - `call`: `Rewriting.call`, for the calls that compute the number.
    """
    if x.__class__ in PYTHON:
        return x
    if isinstance(x, Constant):
        value = fill_of(x)
        return x if x.value is value else Constant(value, name=x.name, from_user=x.from_user)
    if not x.kind.is_array:
        return x
    if x.function in BROADCASTING:
        return as_scalar(x.args[0], call)
    parts = tuple(as_scalar(part, call) for part in x.args)
    return call(x.function, parts, Kind((), x.kind.dtype, False), x)
