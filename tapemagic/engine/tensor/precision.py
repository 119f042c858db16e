"""Sums in double precision of numbers of lower precision, where NumPy's own would lose digits or stand still."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tracing import one_call

FLOAT64 = np.dtype(np.float64)
_DOUBLE = {"e": FLOAT64, "f": FLOAT64, "F": np.dtype(np.complex128)}

ROWS = 512
"""The number of rows that are added up in single precision by one matrix product."""

FEW = {"e": 1, "f": ROWS, "F": ROWS}
"""The number of terms up to which a sum one after the other keeps all but the last digits of a dtype."""


_reduce: Any = np.add.reduce


def wider(dtype: Any) -> Any:
    """The dtype in which to add up numbers of a dtype: double precision for half and single, else itself."""
    return _DOUBLE.get(dtype.char, dtype)


@one_call
def sum_of_rows(rows: Any) -> Any:
    """The sum of many rows in single precision: of some at a time by matrix products, which are fast, then of these."""
    ones = np.ones(ROWS, rows.dtype)
    blocks, rest = divmod(len(rows), ROWS)
    whole = blocks * ROWS
    with np.errstate(over="ignore", invalid="ignore"):
        sums = ones @ rows[:whole].reshape((blocks, ROWS, -1))
        total = np.sum(sums, axis=0, dtype=FLOAT64) + ones[:rest] @ rows[whole:]
        if not np.isfinite(total).all():  # parts may overflow where the sum does not
            total = np.sum(rows, axis=0, dtype=FLOAT64)
        return total.astype(rows.dtype)


def precise_sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.sum`` of an array or a tensor, in its dtype, added up in double precision if it is a long one.

    Along leading axes NumPy adds one row after the other, so that a sum of ones in float32 ends at 16,777,216.
    """
    bare = x.__class__ is np.ndarray
    char = x.dtype.char
    if char in FEW:
        bare = bare and not is_lazy(x)
        shape = x.shape
        axes = range(len(shape)) if axis is None else axis if axis.__class__ is tuple else (axis,)
        terms = 1
        for k in axes:
            terms *= shape[k]
        pairwise = axis is None and bare and char != "e" and x.flags.c_contiguous
        if terms > FEW[char] and not pairwise:
            leads = bare and char == "f" and not keepdims and axis == tuple(range(len(axes)))
            if leads and x.size > terms and x.flags.c_contiguous:
                return sum_of_rows(x.reshape((terms, -1))).reshape(shape[len(axes) :])
            total = np.sum(x, axis=axis, dtype=_DOUBLE[char], keepdims=keepdims)
            with np.errstate(over="ignore"):  # as where NumPy adds in half precision
                return total.astype(x.dtype)
    if bare:
        return _reduce(x, axis=axis, keepdims=keepdims)
    return np.sum(x, axis=axis, keepdims=keepdims)
