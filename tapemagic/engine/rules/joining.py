"""Joining and splitting: several arrays into one, one into several, several side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.constants import constant
from tapemagic.engine.registry import Function, composite, operation, vjp, vjp_each
from tapemagic.engine.rules.axes import negative_axis
from tapemagic.engine.rules.shaping import at, relaid
from tapemagic.engine.tensor import Traced, apply, as_operand, unwrap
from tapemagic.errors import ImmutableError

Shape = tuple[int, ...]


def _joined(function: Function, arrays: Any, options: dict[str, Any], out: Any = None) -> Any:
    """Apply an operation of many arrays to a list of them, some of which may be lists."""
    if out is not None:
        raise ImmutableError(
            "out= cannot write where a tape is watching: leave it out, and name the result"
        )
    return apply(operation(function), tuple(map(as_operand, arrays)), options)


def _shape(x: Any) -> Shape:
    """The shape of an array, or of a bare Python number."""
    return getattr(x, "shape", ())


def _part(
    position: int, g: Any, y: Any, arrays: Any, axis: int, as_joined: Callable[[Shape], Shape]
) -> Any:
    """The slice of `g` for one of the `arrays`, joined along `axis` in the shapes `as_joined`."""
    lengths = [as_joined(_shape(x))[axis] for x in arrays]
    start = sum(lengths[:position])
    part = g[at(negative_axis(axis, y.ndim), slice(start, start + lengths[position]))]
    return relaid(part, y.ndim, _shape(arrays[position]))


# -- several into one -----------------------------------------------------------------------------


def concatenate(*arrays: Any, axis: int | None = 0, **options: Any) -> Any:
    """``np.concatenate`` of its arguments."""
    return np.concatenate(arrays, axis=axis, **options)


def stack(*arrays: Any, axis: int = 0, **options: Any) -> Any:
    """``np.stack`` of its arguments."""
    return np.stack(arrays, axis=axis, **options)


def _concatenate(position, g, _y, *_arrays, axis=0):
    """Cut the array's part out of `g`."""
    if axis is None:
        return _part(position, g, _y, _arrays, -1, lambda shape: (int(np.prod(shape)),))
    return _part(position, g, _y, _arrays, axis, lambda shape: shape)


def _stack(position, g, _y, *_arrays, axis=0):
    """Take the array's place out of `g`."""
    return g[at(negative_axis(axis, _y.ndim), position)]


vjp_each(concatenate, _concatenate)
vjp_each(stack, _stack)


@composite(np.concatenate)
def _(arrays: Any, axis: int | None = 0, out: Any = None, **options: Any) -> Any:
    return _joined(concatenate, arrays, options | {"axis": axis}, out)


@composite(np.stack)
def _(arrays: Any, axis: int = 0, out: Any = None, **options: Any) -> Any:
    return _joined(stack, arrays, options | {"axis": axis}, out)


def _joins(function: Function, axis: int, as_joined: Callable[[Shape], Shape]) -> None:
    """Make `function` an operation that joins along `axis`, or the last one, in new shapes."""

    def join(*arrays: Any, **options: Any) -> Any:
        return function(arrays, **options)

    def rule(position, g, _y, *_arrays):
        return _part(position, g, _y, _arrays, min(axis, _y.ndim - 1), as_joined)

    vjp_each(join, rule, name=function.__name__)
    composite(function)(lambda tup, **options: _joined(join, tup, options))


# fmt: off
_joins(np.vstack,       0, lambda shape: (1,) * (2 - len(shape)) + shape)
_joins(np.hstack,       1, lambda shape: shape or (1,))
_joins(np.dstack,       2, lambda shape: (1,) * (2 - len(shape)) + shape + (1,) * (len(shape) < 3))
_joins(np.column_stack, 1, lambda shape: shape if len(shape) > 1 else (*(shape or (1,)), 1))
# fmt: on


def block(*arrays: Any, layout: Any) -> Any:
    """``np.block`` of nested lists that hold the positions of the `arrays`."""
    return np.block(_filled(layout, arrays))


def _numbered(nested: Any, found: list[Any]) -> Any:
    """Nested lists with each array replaced by its position among those `found`."""
    if isinstance(nested, list):
        return [_numbered(part, found) for part in nested]
    if isinstance(nested, tuple):
        raise TypeError(
            "np.block arranges its arrays with lists: write a list in place of the tuple"
        )
    found.append(nested)
    return len(found) - 1


def _filled(layout: Any, arrays: Any) -> Any:
    """The nested lists again, with the arrays in their places."""
    if isinstance(layout, list):
        return [_filled(part, arrays) for part in layout]
    return arrays[layout]


def _block(position, g, _y, *_arrays, layout):
    """Cut the block out of `g`: it is a rectangle, so its elements are in their order."""
    owners = np.block(_filled(layout, [np.full(_shape(x), i) for i, x in enumerate(_arrays)]))
    return relaid(g[..., owners == position], 1, _shape(_arrays[position]))


vjp_each(block, _block)


@composite(np.block)
def _(arrays: Any) -> Any:
    found: list[Any] = []
    layout = _numbered(arrays, found)
    return apply(operation(block), tuple(found), {"layout": layout})


# -- one into several -----------------------------------------------------------------------------


def split(ary: Any, indices: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """``np.split`` before each of the ascending `indices`."""
    return tuple(np.split(ary, indices, axis))


vjp(split, lambda g, _y, _a, indices, axis: np.concatenate(g, negative_axis(axis, _a.ndim)))


def _splits(function: Function) -> None:
    """Make ``np.split`` or ``np.array_split`` an operation of several results."""

    def pieces(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
        numbers = np.arange(ary.shape[axis])
        found = function(numbers, unwrap(indices_or_sections))
        if not np.array_equal(np.concatenate(found), numbers):  # parts may overlap, or leave gaps
            return [np.take(ary, part, axis=axis) for part in found]
        indices = tuple(np.cumsum([len(part) for part in found])[:-1].tolist())
        return list(apply(operation(split), (ary,), {"indices": indices, "axis": axis}))

    composite(function)(pieces)


def _splits_along(function: Function, axis: int, least: int) -> None:
    """Make `function` split along `axis`, or the last one, what has at `least` so many axes."""

    def pieces(ary: Any, indices_or_sections: Any) -> Any:
        if ary.ndim < least:
            raise ValueError(
                f"{function.__name__} only works on arrays of {least} or more dimensions"
            )
        return np.split(ary, indices_or_sections, min(axis, ary.ndim - 1))

    composite(function)(pieces)


_splits(np.split)
_splits(np.array_split)
_splits_along(np.hsplit, 1, least=1)
_splits_along(np.vsplit, 0, least=2)
_splits_along(np.dsplit, 2, least=3)

if hasattr(np, "unstack"):  # from NumPy 2.1 on
    vjp(np.unstack, lambda g, _y, _x, axis=0: np.stack(g, negative_axis(axis, _x.ndim)))


# -- several side by side -------------------------------------------------------------------------


def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    """``np.broadcast_arrays``, as a tuple."""
    return tuple(np.broadcast_arrays(*args))


def meshgrid(*xi: Any, **options: Any) -> tuple[Any, ...]:
    """``np.meshgrid``, as a tuple."""
    return tuple(np.meshgrid(*xi, **options))


def _meshgrid(position, g, _y, *_xi, indexing="xy", sparse=False, copy=True):
    """Sum over the axes that belong to the other arrays."""
    n = len(_xi)
    swapped = indexing == "xy" and position < 2 <= n
    own = (1 - position if swapped else position) - n
    others = tuple(axis for axis in range(-n, 0) if axis != own)
    return relaid(np.sum(g[position], axis=others), 1, _shape(_xi[position]))


vjp_each(broadcast_arrays, lambda position, g, _y, *_args: g[position])
vjp_each(meshgrid, _meshgrid)


def _own(x: Any) -> Any:
    """Anything but a tensor as a constant, since results may be views of it."""
    x = as_operand(x)
    return x if isinstance(x, Traced) else constant(x)


@composite(np.broadcast_arrays)
def _(*args: Any, subok: bool = False) -> Any:
    return apply(operation(broadcast_arrays), tuple(map(_own, args)), {})


@composite(np.meshgrid)
def _(*xi: Any, **options: Any) -> Any:
    return apply(operation(meshgrid), tuple(map(_own, xi)), options)
