"""Products of arrays: one partial product for each chunk, then their sum."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.implementations.blocks import blockwise, pointwise, right
from tapemagic.lazy.implementations.contraction import contraction
from tapemagic.lazy.implementations.joining import as_dask
from tapemagic.lazy.implementations.reductions import total
from tapemagic.lazy.implementations.shaping import astype, ravel, reshape
from tapemagic.lazy.implementations.table import implements


def _pair(x: Any, y: Any, dtype: Any = None, casting: Any = "same_kind") -> tuple[Any, Any]:
    """Convert two factors to Dask arrays of the dtype in which they are multiplied."""
    x, y = as_dask(x), as_dask(y)
    dtype = np.result_type(x.dtype, y.dtype) if dtype is None else np.dtype(dtype)
    return astype(x, dtype, casting), astype(y, dtype, casting)


def times(*factors: Any) -> Any:
    """Multiply element by element."""
    return pointwise(np.multiply, factors, {})


@implements(np.matmul)
def matmul(x1: Any, x2: Any, **options: Any) -> Any:
    """Implement ``np.matmul`` on Dask arrays."""
    x, y = _pair(x1, x2, **options)
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[max(y.ndim - 2, 0)]:
        return np.matmul(
            *(np.broadcast_to(np.int8(0), z.shape) for z in (x, y))
        )  # raises NumPy's error
    if x.ndim <= 2 and y.ndim <= 2:
        return contracted(x, y, (x.ndim - 1,), (0,))
    return da.matmul(x, y)


def contracted(x: Any, y: Any, left: tuple[int, ...], right_: tuple[int, ...]) -> Any:
    """Sum products over pairs of axes, also of booleans."""
    # A product of booleans is True if any term is: a sum of booleans would have another dtype in Dask.
    if x.dtype == bool:
        return astype(contracted(astype(x, int), astype(y, int), left, right_), bool)
    return contraction(x, y, left, right_)


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Implement ``np.tensordot`` on Dask arrays."""
    x, y = _pair(a, b)
    try:
        left, right_ = axes
    except TypeError:
        left, right_ = range(x.ndim - axes, x.ndim), range(axes)
    x_axes = [normalize_axis_index(int(axis), x.ndim) for axis in np.atleast_1d(left)]
    y_axes = [normalize_axis_index(int(axis), y.ndim) for axis in np.atleast_1d(right_)]
    if len(x_axes) != len(y_axes) or any(
        x.shape[i] != y.shape[j] for i, j in zip(x_axes, y_axes, strict=False)
    ):
        raise ValueError("shape-mismatch for sum")
    # No axes to sum over: an outer product.
    if not x_axes:
        return times(x[(..., *(None,) * y.ndim)], y)
    return contracted(x, y, tuple(x_axes), tuple(y_axes))


@implements(np.dot)
def dot(a: Any, b: Any, out: None = None) -> Any:
    """Implement ``np.dot`` on Dask arrays."""
    x, y = _pair(a, b)
    if not x.ndim or not y.ndim:
        return times(x, y)
    return tensordot(x, y, ((x.ndim - 1,), (max(y.ndim - 2, 0),)))


@implements(np.inner)
def inner(a: Any, b: Any) -> Any:
    """Implement ``np.inner`` on Dask arrays."""
    x, y = _pair(a, b)
    if not x.ndim or not y.ndim:
        return times(x, y)
    return tensordot(x, y, ((x.ndim - 1,), (y.ndim - 1,)))


@implements(np.outer)
def outer(a: Any, b: Any, out: None = None) -> Any:
    """Implement ``np.outer`` on Dask arrays."""
    return times(ravel(as_dask(a))[:, None], ravel(as_dask(b))[None, :])


@implements(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    """Implement ``np.vdot`` on Dask arrays."""
    x, y = _pair(a, b)
    # np.vdot flattens its arguments, unlike np.dot.
    x, y = ravel(x), ravel(y)
    return contracted(conj(x), y, (0,), (0,))


def conj(x: Any) -> Any:
    """Return the complex conjugate."""
    return pointwise(np.conjugate, (x,), {}) if x.dtype.kind == "c" else x


@implements(np.vecdot)
def vecdot(x1: Any, x2: Any, axis: int = -1, keepdims: bool = False, **options: Any) -> Any:
    """Implement ``np.vecdot`` on Dask arrays."""
    x, y = _pair(x1, x2, **options)
    x, y = (da.moveaxis(z, normalize_axis_index(axis, z.ndim), -1) for z in (x, y))
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"vecdot of vectors of lengths {x.shape[-1]} and {y.shape[-1]}")
    z = total(times(conj(x), y), axis=-1, keepdims=keepdims, dtype=x.dtype)
    return da.moveaxis(z, -1, axis) if keepdims else z


def matvec(x1: Any, x2: Any, **options: Any) -> Any:
    """Implement ``np.matvec`` on Dask arrays."""
    return matmul(x1, as_dask(x2)[..., None], **options)[..., 0]


def vecmat(x1: Any, x2: Any, **options: Any) -> Any:
    """Implement ``np.vecmat`` on Dask arrays."""
    return matmul(conj(as_dask(x1))[..., None, :], x2, **options)[..., 0, :]


if hasattr(np, "matvec"):  # new in NumPy 2.2
    implements(np.matvec)(matvec)
    implements(np.vecmat)(vecmat)


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Implement ``np.kron`` on Dask arrays."""
    x, y = _pair(a, b)
    ndim = max(x.ndim, y.ndim)
    x, y = x[(None,) * (ndim - x.ndim)], y[(None,) * (ndim - y.ndim)]
    z = times(x[(slice(None), None) * ndim], y[(None, slice(None)) * ndim])
    return reshape(z, tuple(n * m for n, m in zip(x.shape, y.shape, strict=True)))


@implements(np.cross)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """Implement ``np.cross`` of vectors with two or three components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = da.moveaxis(as_dask(a), axisa, -1), da.moveaxis(as_dask(b), axisb, -1)
    # The components are two or three numbers: one chunk costs nothing.
    x, y = x.rechunk({-1: -1}), y.rechunk({-1: -1})
    z = blockwise(np.cross, (x, y), {}, lambda arrays: [right(v.ndim, (-1,)) for v in arrays])
    return z if x.shape[-1] == y.shape[-1] == 2 else da.moveaxis(z, -1, axisc)


@implements(np.einsum)
def einsum(
    subscripts: str,
    *operands: Any,
    optimize: Any = False,
    dtype: Any = None,
    casting: Any = "safe",
    **options: Any,
) -> Any:
    """Implement ``np.einsum`` with subscripts in a string."""
    if not isinstance(subscripts, str):
        raise UnsupportedArgumentError(
            "np.einsum with lists of axes: write a string, as in 'ij->i'"
        )
    arrays = [as_dask(x) for x in operands]
    subscripts, arrays = _without_repeats(subscripts, arrays)
    dtype = np.result_type(*(x.dtype for x in arrays)) if dtype is None else np.dtype(dtype)
    y = da.einsum(subscripts, *(astype(x, dtype, casting) for x in arrays))
    return astype(y, dtype)  # Dask sums small integers in a larger dtype


def _without_repeats(subscripts: str, arrays: list[Any]) -> tuple[str, list[Any]]:
    """Replace operands whose axes share a letter by their diagonals."""
    from tapemagic.lazy.implementations.diagonals import diagonal

    joined, arrow, output = subscripts.replace(" ", "").partition("->")
    terms, diagonals = joined.split(","), []
    if not arrow:
        letters = joined.replace(",", "").replace(".", "")
        output = "..." * ("..." in joined) + "".join(
            x for x in sorted(set(letters)) if letters.count(x) == 1
        )
    for k, operand in enumerate(arrays):
        x, term = operand, terms[k]
        while twice := [letter for letter in term if letter != "." and term.count(letter) > 1]:
            first, second = term.index(twice[0]), term.rindex(twice[0])
            axes = [_axis_of(term, place, x.ndim) for place in (first, second)]
            if x.shape[axes[0]] != x.shape[axes[1]]:
                raise ValueError(
                    f"the axes {twice[0]!r} of an operand of shape {x.shape} differ in length"
                )
            x = diagonal(x, 0, *axes)
            term = (term[:first] + term[first + 1 : second] + term[second + 1 :]) + twice[0]
        terms[k] = term
        diagonals.append(x)
    return ",".join(terms) + "->" + output, diagonals


def _axis_of(term: str, place: int, ndim: int) -> int:
    """Return the axis of a letter in a term that may contain an ellipsis."""
    dots = term.find("...")
    return place if dots < 0 or place < dots else place - len(term) + ndim
