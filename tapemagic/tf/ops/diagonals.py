"""Diagonals and bands of matrices."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tapemagic.errors import UnsupportedArgumentError
from tapemagic.tf.core.adapter import adapter
from tapemagic.tf.core.convert import matched, tensor
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.matrices import require_matrices


@adapter
def trace(x: Any, name: str | None = None) -> Any:
    """Sum the diagonal of each matrix."""
    matrix = tensor(x)
    require_matrices("trace", matrix)
    # np.trace widens int32 sums to int64.
    inside = {"dtype": matrix.dtype} if matrix.dtype.kind in "iu" else {}
    return np.trace(matrix, axis1=-2, axis2=-1, **inside)


@adapter
def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """Extract the k-th diagonal of each matrix; 0 is the main diagonal."""
    x = tensor(input)
    require_matrices("diag_part", x)
    return np.diagonal(x, _single(k), -2, -1)


def _single(k: Any) -> int:
    if np.ndim(k):
        raise UnsupportedArgumentError("one diagonal at a time: pass k as an integer")
    return int(k)


@adapter
def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """Create matrices with the given k-th diagonal and zeros elsewhere."""
    if (num_rows, num_cols, padding_value) != (-1, -1, 0):
        raise UnsupportedArgumentError(
            "tf.linalg.diag makes square matrices of zeros here: give the diagonal and k"
        )
    x = tensor(diagonal)
    shift = _single(k)
    size = x.shape[-1] + abs(shift)
    rows = np.arange(x.shape[-1]) + builtins.max(-shift, 0)
    # As a gather with a mask: the rules of indexing differentiate it, and batches need no loop.
    place = np.full((size, size), -1)
    place[rows, rows + shift] = np.arange(x.shape[-1])
    if not x.shape[-1]:
        return np.zeros((*x.shape[:-1], size, size), x.dtype)
    # -1 would read the last element; any valid index serves where the mask chooses 0.
    return np.where(place >= 0, x[..., np.maximum(place, 0)], x.dtype.type(0))


@adapter
def set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """Replace the k-th diagonal of each matrix."""
    x, new = matched("set_diag", input, diagonal)
    require_matrices("set_diag", x)
    shift = _single(k)
    rows, columns = x.shape[-2:]
    place = np.full((rows, columns), -1)
    count = builtins.min(rows + builtins.min(shift, 0), columns - builtins.max(shift, 0))
    if new.shape != (*x.shape[:-2], count):
        raise InvalidArgumentError(
            f"set_diag takes a diagonal of shape {(*x.shape[:-2], count)}, not {new.shape}"
        )
    at = np.arange(count)
    place[at + builtins.max(-shift, 0), at + builtins.max(shift, 0)] = at
    return np.where(place >= 0, new[..., np.maximum(place, 0)], x)


@adapter
def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """Create a tensor with twice as many axes and the given values on its diagonal."""
    x = tensor(diagonal)
    return np.reshape(np.diag(np.ravel(x)), x.shape * 2)


@adapter
def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """Extract the diagonal of a tensor whose second half of axes repeats the first."""
    x = tensor(input)
    half = x.shape[: x.ndim // 2]
    if x.ndim % 2 or half != x.shape[x.ndim // 2 :]:
        raise InvalidArgumentError(
            f"tensor_diag_part takes a shape such as (2, 3, 2, 3), not {x.shape}"
        )
    count = int(np.prod(half))
    return np.reshape(np.diagonal(np.reshape(x, (count, count))), half)


@adapter
def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """Keep a number of diagonals below and above the main one, all for -1; zero the rest."""
    x = tensor(input)
    require_matrices("band_part", x)
    low, high = int(num_lower), int(num_upper)
    # np.where, not a product with a 0/1 mask: nan outside the band must become 0.
    distance = np.arange(x.shape[-1]) - np.arange(x.shape[-2])[:, None]
    inside = ((low < 0) | (-distance <= low)) & ((high < 0) | (distance <= high))
    return np.where(inside, x, x.dtype.type(0))
