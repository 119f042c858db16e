"""Shapes: the same elements in another shape, order or dtype, or repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.scatter import scatter_add
from tapemagic.engine.registry import (
    composite,
    even_zeros,
    not_differentiable,
    operation,
    pointwise,
    selects,
    vjp,
)
from tapemagic.engine.rules.axes import leading_shape, negative_axes, negative_axis
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.precision import precise_sum
from tapemagic.engine.tensor.tensor import Traced, as_operand
from tapemagic.engine.tensor.variable import identity
from tapemagic.errors import ImmutableError, UnsupportedArgumentError


def relaid(g: Any, ndim: int, shape: tuple[int, ...]) -> Any:
    """Reshape the last `ndim` axes of `g` to `shape`."""
    return g.reshape(g.shape[: g.ndim - ndim] + shape)


def permuted(g: Any, order: Any) -> Any:
    """Permute the last ``len(order)`` axes of `g`."""
    lead = g.ndim - len(order)
    return g.transpose((*range(lead), *(lead + axis for axis in order)))


def at(axis: int, index: Any) -> tuple[Any, ...]:
    """Return the index that takes `index` on the negative `axis`, and everything on the other axes."""
    return (..., index, *(slice(None),) * (-axis - 1))


def from_end(axis: Any, ndim: int) -> Any:
    """Count one or several axes from the end, in the given order."""
    return tuple(negative_axis(each, ndim) for each in np.atleast_1d(axis))


# -- the same value -------------------------------------------------------------------------------


def astype(x: Any, dtype: Any) -> Any:
    """``x.astype(dtype)`` for arrays and single numbers."""
    return x.astype(dtype)


@composite(np.astype)
def _(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return apply(operation(astype), (x,), {"dtype": dtype})


def tensor_of(value: Any) -> Any:
    """Convert any value to a tensor, with the tensors in a list still on the tape; arrays are copied."""
    x = as_operand(value)
    return x if isinstance(x, Traced) else constant(x)


def as_array(value: Any) -> Any:
    """Convert any value to a tensor or an array, also a Python number, whose dtype then takes part in promotion."""
    x = as_operand(value)
    return x if hasattr(x, "dtype") else np.asarray(x)


def cast(x: Any, dtype: Any) -> Any:
    """Cast `x` to a dtype, unless it already has this dtype."""
    return x if x.dtype == dtype else x.astype(dtype)


def refuse_out(out: Any) -> None:
    """Raise an error if there is an array to write the result into."""
    if out is not None:
        raise ImmutableError(
            "out= would write into an array, which no tape can track: omit it, and assign the result to a name"
        )


# fmt: off
vjp(identity, lambda g, _y, _x: g, name="read")
vjp(np.copy,  lambda g, _y, _a: g, ignores="order")
vjp(astype,   lambda g, _y, _x: g)
# fmt: on

pointwise(identity, np.copy, astype)


# -- the same elements in another layout ---------------------------------------------------------------


def reshape(a: Any, shape: Any, order: str) -> Any:
    """``np.reshape`` in an order that doesn't depend on the memory layout of `a`."""
    return np.reshape(a, shape, order=order)  # type: ignore[call-overload]


def ravel(a: Any, order: str) -> Any:
    """``np.ravel`` in an order that doesn't depend on the memory layout of `a`."""
    return np.ravel(a, order=order)  # type: ignore[call-overload]


def _reshape(g, _y, _a, shape=None, order="C"):
    """The elements in their original shape, in the order in which they were read."""
    if order == "C":
        return relaid(g, _y.ndim, _a.shape)
    backwards = relaid(permuted(g, range(_y.ndim)[::-1]), _y.ndim, _a.shape[::-1])
    return permuted(backwards, range(_a.ndim)[::-1])


def _explicit(order: Any, a: Traced, layouts: str) -> Any:
    """Return the order, C or F, that an order among `layouts`, which depend on the memory layout, means for `a`."""
    order = order.upper() if isinstance(order, str) else "C"
    if order not in layouts:
        return order
    # Records don't keep the memory layout, so "A" and "K" are replaced by "C" or "F" before
    # recording.
    flags = a._value.flags
    if flags.c_contiguous or (order == "A" and not flags.fnc):
        return "C"
    if flags.fnc:
        return "F"
    raise UnsupportedArgumentError(
        "order='K' is the layout in memory, which is neither 'C' nor 'F' here: write one of them"
    )


@composite(np.reshape)
def _(
    a: Any, shape: Any = None, order: Any = "C", *, newshape: Any = None, copy: Any = None
) -> Any:
    shape = newshape if shape is None else shape
    shape = tuple(shape) if isinstance(shape, list) else shape
    return apply(operation(reshape), (a,), {"shape": shape, "order": _explicit(order, a, "A")})


@composite(np.ravel)
def _(a: Any, order: Any = "C") -> Any:
    return apply(operation(ravel), (a,), {"order": _explicit(order, a, "AK")})


# fmt: off
vjp(reshape,        _reshape)
vjp(ravel,          lambda g, _y, _a, order: _reshape(g, _y, _a, order=order))
vjp(np.expand_dims, lambda g, _y, _a, axis=None: relaid(g, _y.ndim, _a.shape))
vjp(np.squeeze,     lambda g, _y, _a, axis=None: relaid(g, _y.ndim, _a.shape))
# fmt: on

selects(reshape, ravel, np.expand_dims, np.squeeze)
even_zeros(reshape, ravel, np.expand_dims, np.squeeze, uses_all=True)


def _atleast(function: Any) -> None:
    """Define ``np.atleast_1d`` or a similar function as a node per argument."""

    def single(x: Any) -> Any:
        return function(x)

    def several(*arys: Any) -> Any:
        results = [
            apply(operation(single), (x if isinstance(x, Traced) else constant(x),), {})
            for x in arys
        ]
        return results[0] if len(results) == 1 else tuple(results)

    composite(function)(several)
    vjp(single, lambda g, _y, _x: relaid(g, _y.ndim, _x.shape), name=function.__name__)
    selects(single)


_atleast(np.atleast_1d)
_atleast(np.atleast_2d)
_atleast(np.atleast_3d)


# -- axes permuted --------------------------------------------------------------------------------


def _transpose(g, _y, _a, axes=None):
    """Invert the permutation of the axes."""
    axes = range(_y.ndim)[::-1] if axes is None else np.atleast_1d(axes) % _y.ndim
    return permuted(g, sorted(range(_y.ndim), key=axes.__getitem__))


def _swapaxes(g, _y, _a, axis1, axis2):
    """Swap the axes back."""
    return np.swapaxes(g, negative_axis(axis1, _a.ndim), negative_axis(axis2, _a.ndim))


def _rollaxis(g, _y, _a, axis, start=0):
    """Move the axis back to its original position."""
    n = _a.ndim
    axis, start = axis % n, start + n if start < 0 else start
    return np.moveaxis(g, (start - 1 if axis < start else start) - n, axis - n)


def _moveaxis(g, _y, _a, source, destination):
    """Move the axes from the destination to the source."""
    return np.moveaxis(g, from_end(destination, _a.ndim), from_end(source, _a.ndim))


# fmt: off
vjp(np.transpose, _transpose)
vjp(np.swapaxes,  _swapaxes)
vjp(np.moveaxis,  _moveaxis)
vjp(np.rollaxis,  _rollaxis)
# fmt: on

selects(np.transpose, np.swapaxes, np.moveaxis, np.rollaxis)
even_zeros(np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, uses_all=True)


# -- the order along an axis ----------------------------------------------------------------------


def _roll(g, _y, _a, shift, axis=None):
    """Roll in the opposite direction."""
    back = -np.asarray(
        shift, dtype=int
    )  # the negative of an unsigned shift would be a large positive number
    if axis is None:
        return relaid(np.roll(relaid(g, _y.ndim, (_y.size,)), back, axis=-1), 1, _y.shape)
    return np.roll(g, back, axis=from_end(axis, _y.ndim))


# fmt: off
vjp(np.flip,   lambda g, _y, _m, axis=None: np.flip(g, negative_axes(axis, _y.ndim)))
vjp(np.fliplr, lambda g, _y, _m: np.flip(g, 1 - _y.ndim))
vjp(np.flipud, lambda g, _y, _m: np.flip(g, -_y.ndim))
vjp(np.rot90,  lambda g, _y, _m, k=1, axes=(0, 1): np.rot90(g, -k, from_end(axes, _y.ndim)))
vjp(np.roll,   _roll)
# fmt: on

selects(np.flip, np.fliplr, np.flipud, np.rot90, np.roll)


# -- elements repeated ----------------------------------------------------------------------------


def gathered(g: Any, places: Any, length: int, axis: int) -> Any:
    """Add each entry of `g` along a negative axis to its place among `length` zeros."""
    before, after = g.shape[: g.ndim + axis], g.shape[g.ndim + axis + 1 :]
    return scatter_add(g, at(axis, places), (*before, length, *after))


def _repeat(g, _y, _a, repeats, axis=None):
    """The sum over the repetitions."""
    flat = axis is None or not _a.ndim
    axis, length = (-1, _a.size) if flat else (negative_axis(axis, _a.ndim), _a.shape[axis])
    places = np.repeat(np.arange(length), repeats)
    return gathered(g, places, length, axis).reshape(leading_shape(g, _y) + _a.shape)


def _tile(g, _y, _a, reps):
    """The sum over the tiles."""
    lengths = (1,) * (_y.ndim - _a.ndim) + _a.shape
    # Each axis of the result is split into the number of tiles and the length of a tile.
    rows = [
        (long // short if short else 1, short)
        for long, short in zip(_y.shape, lengths, strict=True)
    ]
    tiles = relaid(g, _y.ndim, tuple(n for row in rows for n in row))
    return relaid(precise_sum(tiles, tuple(range(-2 * _y.ndim, 0, 2))), _y.ndim, _a.shape)


# fmt: off
vjp(np.broadcast_to, lambda g, _y, _x, shape: g)
vjp(np.repeat,       _repeat)
vjp(np.tile,         _tile)
vjp(np.full_like,    None, lambda g, _y, _a, _v: g, ignores="order shape device")
# fmt: on

selects(np.broadcast_to, np.repeat, np.tile)

not_differentiable(np.zeros_like, np.ones_like, np.empty_like)
