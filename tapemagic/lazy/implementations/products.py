"""Products of arrays: each chunk's part by itself, then the sum of these."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.implementations.blocks import blockwise, pointwise, right
from tapemagic.lazy.implementations.contraction import contraction
from tapemagic.lazy.implementations.joining import as_lazy
from tapemagic.lazy.implementations.reductions import total
from tapemagic.lazy.implementations.shaping import astype, ravel, reshape
from tapemagic.lazy.implementations.table import way


def _pair(x: Any, y: Any, dtype: Any = None, casting: Any = "same_kind") -> tuple[Any, Any]:
    """Two factors as Dask arrays of one dtype, in which they are multiplied."""
    x, y = as_lazy(x), as_lazy(y)
    dtype = np.result_type(x.dtype, y.dtype) if dtype is None else np.dtype(dtype)
    return astype(x, dtype, casting), astype(y, dtype, casting)


def times(*factors: Any) -> Any:
    """The product, element by element."""
    return pointwise(np.multiply, factors, {})


@way(np.matmul)
def matmul(x1: Any, x2: Any, **options: Any) -> Any:
    """``np.matmul``."""
    x, y = _pair(x1, x2, **options)
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[max(y.ndim - 2, 0)]:
        return np.matmul(*(np.broadcast_to(np.int8(0), z.shape) for z in (x, y)))  # NumPy's error
    if x.ndim <= 2 and y.ndim <= 2:
        return contracted(x, y, (x.ndim - 1,), (0,))
    return da.matmul(x, y)


def contracted(x: Any, y: Any, left: tuple[int, ...], right_: tuple[int, ...]) -> Any:
    """The sums of products over axes, in pairs."""
    if x.dtype == bool:
        return astype(contracted(astype(x, int), astype(y, int), left, right_), bool)
    return contraction(x, y, left, right_)


@way(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """``np.tensordot``."""
    x, y = _pair(a, b)
    try:
        left, right_ = axes
    except TypeError:
        left, right_ = range(x.ndim - axes, x.ndim), range(axes)
    mine = [normalize_axis_index(int(axis), x.ndim) for axis in np.atleast_1d(left)]
    theirs = [normalize_axis_index(int(axis), y.ndim) for axis in np.atleast_1d(right_)]
    if len(mine) != len(theirs) or any(
        x.shape[i] != y.shape[j] for i, j in zip(mine, theirs, strict=False)
    ):
        raise ValueError("shape-mismatch for sum")
    if not mine:
        return times(x[(..., *(None,) * y.ndim)], y)
    return contracted(x, y, tuple(mine), tuple(theirs))


@way(np.dot)
def dot(a: Any, b: Any, out: None = None) -> Any:
    """``np.dot``."""
    x, y = _pair(a, b)
    if not x.ndim or not y.ndim:
        return times(x, y)
    return tensordot(x, y, ((x.ndim - 1,), (max(y.ndim - 2, 0),)))


@way(np.inner)
def inner(a: Any, b: Any) -> Any:
    """``np.inner``."""
    x, y = _pair(a, b)
    if not x.ndim or not y.ndim:
        return times(x, y)
    return tensordot(x, y, ((x.ndim - 1,), (y.ndim - 1,)))


@way(np.outer)
def outer(a: Any, b: Any, out: None = None) -> Any:
    """``np.outer``."""
    return times(ravel(as_lazy(a))[:, None], ravel(as_lazy(b))[None, :])


@way(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    """``np.vdot``."""
    x, y = _pair(a, b)
    x, y = ravel(x), ravel(y)
    return contracted(conj(x), y, (0,), (0,))


def conj(x: Any) -> Any:
    """The complex conjugate."""
    return pointwise(np.conjugate, (x,), {}) if x.dtype.kind == "c" else x


@way(np.vecdot)
def vecdot(x1: Any, x2: Any, axis: int = -1, keepdims: bool = False, **options: Any) -> Any:
    """``np.vecdot``."""
    x, y = _pair(x1, x2, **options)
    x, y = (da.moveaxis(z, normalize_axis_index(axis, z.ndim), -1) for z in (x, y))
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"vecdot of vectors of lengths {x.shape[-1]} and {y.shape[-1]}")
    z = total(times(conj(x), y), axis=-1, keepdims=keepdims, dtype=x.dtype)
    return da.moveaxis(z, -1, axis) if keepdims else z


def matvec(x1: Any, x2: Any, **options: Any) -> Any:
    """``np.matvec``."""
    return matmul(x1, as_lazy(x2)[..., None], **options)[..., 0]


def vecmat(x1: Any, x2: Any, **options: Any) -> Any:
    """``np.vecmat``."""
    return matmul(conj(as_lazy(x1))[..., None, :], x2, **options)[..., 0, :]


if hasattr(np, "matvec"):  # from NumPy 2.2 on
    way(np.matvec)(matvec)
    way(np.vecmat)(vecmat)


@way(np.kron)
def kron(a: Any, b: Any) -> Any:
    """``np.kron``."""
    x, y = _pair(a, b)
    ndim = max(x.ndim, y.ndim)
    x, y = x[(None,) * (ndim - x.ndim)], y[(None,) * (ndim - y.ndim)]
    z = times(x[(slice(None), None) * ndim], y[(None, slice(None)) * ndim])
    return reshape(z, tuple(n * m for n, m in zip(x.shape, y.shape, strict=True)))


@way(np.cross)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """``np.cross``, of vectors of two or three components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = da.moveaxis(as_lazy(a), axisa, -1), da.moveaxis(as_lazy(b), axisb, -1)
    x, y = x.rechunk({-1: -1}), y.rechunk({-1: -1})
    z = blockwise(np.cross, (x, y), {}, lambda arrays: [right(v.ndim, (-1,)) for v in arrays])
    return z if x.shape[-1] == y.shape[-1] == 2 else da.moveaxis(z, -1, axisc)


@way(np.einsum)
def einsum(
    subscripts: str,
    *operands: Any,
    optimize: Any = False,
    dtype: Any = None,
    casting: Any = "safe",
    **options: Any,
) -> Any:
    """``np.einsum``, with subscripts in a string."""
    if not isinstance(subscripts, str):
        raise UnsupportedArgumentError(
            "np.einsum with lists of axes: write a string, as in 'ij->i'"
        )
    arrays = [as_lazy(x) for x in operands]
    subscripts, arrays = _without_repeats(subscripts, arrays)
    dtype = np.result_type(*(x.dtype for x in arrays)) if dtype is None else np.dtype(dtype)
    y = da.einsum(subscripts, *(astype(x, dtype, casting) for x in arrays))
    return astype(y, dtype)  # sums of small whole numbers are in larger ones


def _without_repeats(subscripts: str, arrays: list[Any]) -> tuple[str, list[Any]]:
    """Diagonals in the place of operands whose axes share a letter."""
    from tapemagic.lazy.implementations.diagonals import diagonal

    joined, arrow, output = subscripts.replace(" ", "").partition("->")
    terms, found = joined.split(","), []
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
        found.append(x)
    return ",".join(terms) + "->" + output, found


def _axis_of(term: str, place: int, ndim: int) -> int:
    """The axis of the letter at a place of a term, which may have dots before it."""
    dots = term.find("...")
    return place if dots < 0 or place < dots else place - len(term) + ndim
