"""Cutting of arrays into blocks along one axis: which calls can run block by block, and on which axis."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tapemagic.engine import registry
from tapemagic.programs.program import Kind, Node, arguments_of
from tapemagic.programs.tracing.symbol import Method

MAX_BLOCK_BYTES = 2**17
"""Maximum bytes of the largest array in a block."""
# A few arrays of 128 KiB fit in the second-level cache of a core. x·exp(-x²) in benchmarks.programs, with 2 MB per core
# (Xeon, November 2026): 2.6 to 3.2 ms from 2**16 to 2**19, 4.1 ms for 2**14, 5.6 ms and more from 2**20.

NUMBERS = "biufc"
"""The kinds of dtypes that are computed in blocks, except float16."""
# For float16, NumPy's algorithms for log10 or the cube root depend on the memory layout, and a sum of sums would be
# rounded to float16 at each block.

FUNCTIONS = frozenset(
    {np.where, np.clip, np.real, np.imag, np.copy, np.nan_to_num, np.isclose, np.round}
    | {operator.pow}
)
"""Functions that compute element by element, besides the ufuncs."""

METHODS = frozenset({"astype", "clip", "conj", "conjugate", "copy", "round"})

OPTIONS = frozenset({"dtype", "casting", "decimals", "rtol", "atol", "equal_nan", "nan"})

REDUCTIONS: dict[Any, Any] = {
    np.sum: np.sum, np.mean: np.sum, np.max: np.max, np.min: np.min, np.all: np.all, np.any: np.any,
} | {
    u.reduce: u.reduce
    for u in (np.add, np.maximum, np.minimum, np.fmax, np.fmin, np.logical_and, np.logical_or)
}  # fmt: skip
"""Reductions, and the functions that reduce blocks and combine their results (for a mean, sums)."""

METHOD_REDUCTIONS = {f.__name__: f for f in (np.sum, np.mean, np.max, np.min, np.all, np.any)}


class Cut(NamedTuple):
    """The axis along which an array is cut.

    - `distance`: The distance of the axis from the end: 1 for the last axis. Broadcasting doesn't change it.
    """

    distance: int
    length: int

    def axis(self, shape: tuple[int, ...]) -> int | None:
        """Return the axis of an array with this shape that is cut, if any."""
        axis = len(shape) - self.distance
        return axis if axis >= 0 and shape[axis] == self.length else None


def cut_of(kind: Kind, least: int) -> Cut | None:
    """Return the cut along the first axis whose rows are small enough, if an array has `least` elements or more.

    Examples
    --------
    >>> cut_of(Kind((2, 500_000), np.dtype(float), True), 100_000)
    Cut(distance=1, length=500000)
    """
    size = kind.size
    if size < least:
        return None
    for axis, length in enumerate(kind.shape):
        if size // length * kind.dtype.itemsize <= MAX_BLOCK_BYTES // 4:
            return Cut(len(kind.shape) - axis, length)
    return None


def is_pointwise(node: Node) -> bool:
    """Return True if an element of the result only depends on the same element of the broadcast arguments."""
    function = node.function
    if not (_computes_numbers(node) and _has_plain_arguments(node)):
        return False
    if isinstance(function, np.ufunc):
        return function.signature is None and function.nout == 1
    if isinstance(function, Method):
        return function.__name__ in METHODS
    if function in FUNCTIONS:
        return function is not np.where or len(node.args) == 3
    operation = registry.OPERATIONS.get(function)
    shape = node.kind.shape
    return (
        operation is not None
        and operation.pointwise
        and all(x.kind.shape in ((), shape) for x in arguments_of(node))
    )


def _computes_numbers(node: Node) -> bool:
    kinds = [node.kind, *(x.kind for x in arguments_of(node))]
    return all(
        isinstance(kind, Kind) and kind.dtype.kind in NUMBERS and kind.dtype != np.float16
        for kind in kinds
    )


def _has_plain_arguments(node: Node) -> bool:
    return (
        node.kind.is_array
        and not any(isinstance(x, list | tuple | dict | slice) for x in node.args)
        and all(key in OPTIONS and not isinstance(x, Node) for key, x in node.kwargs.items())
    )


class Reduction(NamedTuple):
    """A reduction that can be made block by block.

    - `function`: A function of an array, `axis` and `keepdims`.
    """

    function: Any
    axes: tuple[int, ...]
    keepdims: bool

    @property
    def in_block(self) -> Any:
        """The function that reduces a block, and then the results of all blocks along a new first axis."""
        return REDUCTIONS[self.function]

    def cut(self, cut: Cut, ndim: int) -> Cut | None:
        """Return the cut of the result. It's None for a reduction over the axis of the blocks."""
        axis = ndim - cut.distance
        if axis in self.axes:
            return None
        gone = 0 if self.keepdims else sum(k > axis for k in self.axes)
        return Cut(cut.distance - gone, cut.length)


def reduction_of(node: Node) -> Reduction | None:
    """Return a call as a reduction that can run in blocks, if possible."""
    function = node.function
    if isinstance(function, Method):
        function = METHOD_REDUCTIONS.get(function.__name__)
    if function not in REDUCTIONS or not _computes_numbers(node) or not 1 <= len(node.args) <= 2:
        return None
    x, options = node.args[0], dict(node.kwargs)
    default = None if function in METHOD_REDUCTIONS.values() else 0
    axis = node.args[1] if len(node.args) == 2 else options.pop("axis", default)
    keepdims = options.pop("keepdims", False)
    if options.pop("dtype", None) is not None or options.pop("where", True) is not True or options:
        return None
    if not isinstance(x, Node) or not x.kind.shape or not isinstance(keepdims, bool):
        return None
    if function is np.mean and x.kind.dtype.kind not in "fc":  # it is cast first
        return None
    ndim = len(x.kind.shape)
    parts = axis if isinstance(axis, tuple) else range(ndim) if axis is None else (axis,)
    if not all(isinstance(part, int | np.integer) for part in parts):
        return None
    axes = normalize_axis_tuple(parts, ndim)
    return Reduction(function, axes, keepdims)


def rows_of_block(length: int, nbytes: int) -> int:
    """Return the number of rows of a block for the length and size of the largest array. Less than 2 means no blocks.

    Examples
    --------
    >>> rows_of_block(1000, 8_000_000), rows_of_block(1001, 8_000_000), rows_of_block(10, 8_000_000)
    (16, 16, 0)
    >>> rows_of_block(1025, 8_000_000)
    15
    """
    # No block has a single row, not even the last. The memory layout of one row may differ from that of several rows,
    # and with it NumPy's algorithm for functions such as the cube root.
    rows = MAX_BLOCK_BYTES * length // nbytes
    rows = 1 << (rows.bit_length() - 1) if rows else 0
    while rows > 1 and length % rows == 1:
        rows -= 1
    return rows
