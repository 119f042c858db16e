"""Keras's operations that reorder, count and decompose arrays, and that call functions on their parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.operations.selection import cast as engine_cast
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.tf.autodiff import ForwardAccumulator
from tapemagic.tf.core.adapter import adapter, axes, named_adapter
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.keras.keras_dtypes import alike, converted, floats, pair
from tapemagic.tf.ops import linear_algebra

Function = Callable[..., Any]


def _plain(x: Any) -> Any:
    return np.asarray(unwrap(tensor(x)))


def _int32(x: Any) -> Any:
    return engine_cast(x, "int32")


def empty(shape: Any, dtype: Any = None) -> Any:
    """Return zeros: no array is left without values."""
    return tensor(np.zeros(axes(shape), numpy_dtype(dtype or nn.config.floatx())))


def empty_like(x: Any, dtype: Any = None) -> Any:
    """Return zeros in the shape of a tensor."""
    x = converted(x)
    return np.zeros_like(x, x.dtype if dtype is None else numpy_dtype(dtype))


def get_item(x: Any, key: Any) -> Any:
    """Return ``x[key]``."""
    return converted(x)[key]


def view(x: Any, dtype: Any = None) -> Any:
    """Return the same bytes as numbers of another dtype, without a gradient."""
    values = np.ascontiguousarray(_plain(x))
    return tensor(values.view(values.dtype if dtype is None else numpy_dtype(dtype)))


def isin(x1: Any, x2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Return where elements of a tensor occur in another."""
    first, second = map(_plain, pair(x1, x2))
    return np.isin(first, second, invert=invert)


def ldexp(x1: Any, x2: Any) -> Any:
    """Return ``x1 * 2**x2`` for integers `x2`."""
    exponents = _plain(x2)
    if exponents.dtype.kind not in "iu":
        raise TypeError(f"ldexp takes integers as exponents, not {exponents.dtype}")
    return np.ldexp(floats(x1), exponents)


def _place_beside_nan(name: str, compute: Function) -> Function:
    def place(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        values = _plain(converted(x))
        empty = np.isnan(values).all(axis=axis, keepdims=True)
        # NumPy refuses slices of nan only, for which Keras returns -1.
        places = compute(np.where(empty, 0, values), axis=axis, keepdims=True)
        places = np.where(empty, -1, places)
        return _int32(tensor(places if keepdims else np.squeeze(places, axis)))

    return named_adapter(
        name, place, f"Return `{name[3:]}` of all elements except nan, and -1 for nan."
    )


nanargmax, nanargmin = (
    _place_beside_nan(name, getattr(np, name)) for name in ("nanargmax", "nanargmin")
)


def argpartition(x: Any, kth: int, axis: Any = -1) -> Any:
    """Return indices that put the element `kth` of a sorted tensor in its place, smaller ones in front."""
    return _int32(tensor(np.argpartition(_plain(x), kth, axis)))


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Choose for each element from the tensor of the first condition that is true."""
    *choices, default = alike([*choicelist, default])
    compute: Function = np.select
    return compute([_plain(condition) for condition in condlist], choices, default)


def histogram(x: Any, bins: int = 10, range: Any = None) -> Any:
    """Return the number of elements in intervals of equal length, and the ends of these."""
    x = floats(x)
    counts, ends = np.histogram(x, bins, range)
    return tensor(counts.astype(x.dtype)), engine_cast(ends, x.dtype)


def unique(
    x: Any,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Return the distinct elements, or slices along an axis, and where and how often they occur."""
    x = converted(x)
    values = _plain(x)
    _, index, inverse, counts = np.unique(values, True, True, True, axis)
    if not sorted:
        order = np.argsort(index)
        index, counts, inverse = index[order], counts[order], np.argsort(order)[inverse]
    if size is not None:
        index, counts = index[:size], counts[:size]
    along = 0 if axis is None else axis
    found = np.take(np.reshape(x, (-1,)) if axis is None else x, index, along)
    missing = 0 if size is None else size - len(index)
    if missing > 0:
        shape = list(found.shape)
        shape[along] = missing
        rest = np.full(shape, 0 if fill_value is None else fill_value, found.dtype)
        found = np.concatenate([found, rest], along)
        index = np.pad(index, (0, missing), constant_values=1)  # as Keras has it
        counts = np.pad(counts, (0, missing))
    inverse = inverse.reshape(values.shape if axis is None else -1)
    asked = {"index": return_index, "inverse": return_inverse, "counts": return_counts}
    parts = {"index": index, "inverse": inverse, "counts": counts}
    more = [_int32(tensor(parts[name])) for name, wanted in asked.items() if wanted]
    return (found, *more) if more else found


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """Split, reorder and join axes by their names, such as "b (h s) c -> b s (h c)" with ``s=2``."""
    x = converted(tensor)
    before, arrow, after = pattern.partition("->")
    groups = [_names(side) for side in (before, after)]
    names, others = ([name for group in side for name in group] for side in groups)
    if (
        not arrow
        or len(groups[0]) != x.ndim
        or sorted(names) != sorted(others)
        or len(set(names)) < len(names)
    ):
        raise ValueError(
            f"rearrange needs on both sides the names of all {x.ndim} axes, such as 'b h w -> b (h w)', not {pattern!r}"
        )
    sizes = dict(axes_lengths)
    for group, length in zip(groups[0], x.shape, strict=True):
        unknown = [name for name in group if name not in sizes]
        if len(unknown) > 1:
            raise ValueError(f"rearrange needs the length of {unknown[1]!r}: write {unknown[1]}=2")
        known = prod(sizes[name] for name in group if name in sizes)
        sizes |= dict.fromkeys(unknown, length // known)
        if prod(sizes[name] for name in group) != length:
            raise ValueError(
                f"rearrange can't split an axis of length {length} into {[sizes[n] for n in group]}"
            )
    x = np.reshape(x, [sizes[name] for name in names])
    x = np.transpose(x, [names.index(name) for name in others])
    return np.reshape(x, [prod(sizes[name] for name in group) for group in groups[1]])


def _names(side: str) -> list[list[str]]:
    """Return the names of each axis of one side of a pattern."""
    return [re.findall(r"\w+", group) for group in re.findall(r"\(.*?\)|\w+", side)]


def associative_scan(f: Function, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Return ``f(f(x[0], x[1]), x[2])`` and so on for all beginnings of tensors along an axis."""
    columns = [np.split(x, x.shape[axis], axis) for x in map(converted, leaves(elems))]
    steps = [pack(elems, [eager(x) for x in parts]) for parts in zip(*columns, strict=True)]
    steps = steps[::-1] if reverse else steps
    results = steps[:1]
    for step in steps[1:]:
        results.append(f(results[-1], step))
    results = results[::-1] if reverse else results
    rows = [[tensor(x) for x in leaves(result)] for result in results]
    return pack(elems, [np.concatenate(parts, axis) for parts in zip(*rows, strict=True)])


def jvp(fun: Function, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Return the result of a function, and its derivative in a direction."""
    points = [tensor(x) for x in leaves(primals)]
    ways = [
        engine_cast(tensor(x), point.dtype)
        for x, point in zip(leaves(tangents), points, strict=True)
    ]
    points, ways = [eager(x) for x in points], [eager(x) for x in ways]
    with ForwardAccumulator(points, ways) as accumulator:
        found = fun(*pack(primals, points))
    result, *rest = found if has_aux else (found,)
    slopes = pack(result, [accumulator.jvp(x) for x in leaves(result)])
    return (result, slopes, *rest)


def eig(x: Any) -> Any:
    """Return complex eigenvalues and eigenvectors of matrices."""
    return linear_algebra.eig(floats(x))


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Return the `x` of the least squares of ``a @ x - b``."""
    compute: Function = np.linalg.lstsq
    return compute(*alike((floats(a), floats(b))), rcond)[0]


def matrix_rank(x: Any, tol: Any = None) -> Any:
    """Return the number of singular values above a limit."""
    return linear_algebra.matrix_rank(floats(x), tol)


def solve_triangular(a: Any, b: Any, lower: bool = False) -> Any:
    """Solve ``a @ x = b`` for a triangular matrix `a`."""
    a, b = alike((floats(a), floats(b)))
    columns = b[..., None] if b.ndim == a.ndim - 1 else b
    return np.reshape(linear_algebra.triangular_solve(a, columns, lower=lower), b.shape)


def cholesky_inverse(x: Any, upper: bool = False) -> Any:
    """Return the inverse of the matrix whose Cholesky factor is `x`."""
    x = floats(x)
    factor = np.swapaxes(x, -1, -2) if upper else x
    inverse = tensor(solve_triangular(factor, np.eye(x.shape[-1], dtype=x.dtype), lower=True))
    return np.swapaxes(inverse, -1, -2) @ inverse


OPERATIONS: dict[str, Function] = {
    function.__name__: adapter(function)
    for function in (
        argpartition, associative_scan, cholesky_inverse, eig, empty, empty_like, get_item,
        histogram, isin, jvp, ldexp, lstsq, matrix_rank, rearrange, select, solve_triangular,
        unique, view,
    )
} | {"nanargmax": nanargmax, "nanargmin": nanargmin}  # fmt: skip
"""The operations of this module by their names in `tf.keras.ops`."""
