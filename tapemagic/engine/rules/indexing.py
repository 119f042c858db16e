"""Indexing, choosing, sorting and diagonals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.laziness import gates, is_lazy
from tapemagic.engine.operations.scatter import (
    Scattered,
    add_at_places,
    add_scattered,
    dense,
    scatter_add,
)
from tapemagic.engine.registry import (
    chooses,
    composite,
    not_differentiable,
    operation,
    selects,
    spreads,
    vjp,
    vjp_argnums,
)
from tapemagic.engine.rules.axes import leading_shape, negative_axis
from tapemagic.engine.rules.shaping import cast, refuse_out
from tapemagic.engine.tensor.conversions import refuse_within_numpy
from tapemagic.engine.tensor.dispatch import apply, constant_result, writes_plain_numbers
from tapemagic.engine.tensor.precision import precise_sum
from tapemagic.engine.tensor.tensor import as_operand, getitem, unwrap
from tapemagic.engine.tracing import element
from tapemagic.errors import ImmutableError, UnsupportedArgumentError

# -- square brackets ------------------------------------------------------------------------------


Shape = tuple[int, ...]


def with_leading_axes(lead: int, index: Any, shape: tuple[int, ...]) -> Any:
    """Extend an index for arrays of a `shape` to arrays with `lead` additional leading axes."""
    if not lead:
        return index
    parts = index if isinstance(index, tuple) else (index,)
    # NumPy moves the axes of separated index arrays to the front, where the leading axes are now: the elements are
    # listed one by one instead.
    if _has_separated_arrays(parts):
        parts = np.unravel_index(np.arange(math.prod(shape)).reshape(shape)[index], shape)
    return (slice(None),) * lead + parts


def _has_separated_arrays(parts: tuple[Any, ...]) -> bool:
    """Return True if slices are between index arrays; NumPy then puts the axes of these arrays first."""
    basic = (slice, type(None), type(...))
    return " " in "".join(" " if isinstance(part, basic) else "x" for part in parts).strip()


def _getitem(g, _y, _x, index):
    """The gradient at the index; elements that were read several times get the sum."""
    return _scattered(g, index, leading_shape(g, _y), _x.shape)


def _scattered(g: Any, index: Any, lead: Shape, shape: Shape) -> Any:
    """Place the gradient `g`, with leading axes, at an index of an array of a shape; dense for single numbers."""
    part = Scattered(g, with_leading_axes(len(lead), index, shape), lead + shape)
    lazily = gates and gates[0].reads((index,))
    return part if part.shape and not lazily else dense(part)


def _scatter_add(g, _y, _values, index, shape):
    """The gradient at the places to which values were added."""
    return element(g, with_leading_axes(g.ndim - len(shape), index, shape))


def _add_scattered(argnums, g, _y, *_values, indices, shape):
    """The gradient at the places of each value."""
    return [_scatter_add(g, _y, _values[k], indices[k], shape) for k in argnums]


def _add_at_places(argnums, g, _y, *_values, places, shape):
    """The gradient at the places of each value."""
    lead = g.shape[: g.ndim - len(shape)]
    elements = g.reshape((*lead, math.prod(shape)))
    return [elements[..., places[k]] for k in argnums]


vjp(getitem, _getitem, name="index")
vjp(scatter_add, _scatter_add)
vjp_argnums(add_scattered, _add_scattered, name="scatter_add")
vjp_argnums(add_at_places, _add_at_places, name="scatter_add", ignores="disjoint")

selects(getitem)
spreads(scatter_add, add_scattered, add_at_places)


# -- taking along an axis -------------------------------------------------------------------------


def take_gradient(g: Any, y: Any, a: Any, places: Any, axis: int | None) -> Any:
    """Return the gradient in `a`, from which the `places` on an axis, or among all elements, were taken."""
    lead = leading_shape(g, y)
    if not a.ndim:
        return precise_sum(g, tuple(range(-y.ndim, 0)))
    if axis is None:
        index = np.unravel_index(places % a.size, a.shape) if a.size else (places,) * a.ndim
    else:
        index = (*(slice(None),) * (axis % a.ndim), places[()])
    return _scattered(g, index, lead, a.shape)


def _take(g, _y, _a, indices, axis=None, mode="raise"):
    """Add the gradient of each taken element to the element it was taken from."""
    length = _a.size if axis is None else _a.shape[axis]
    if not isinstance(indices, np.ndarray | np.generic):
        indices = np.asarray(indices)
    places = indices.astype(np.intp, copy=False)  # like NumPy, for which True is 1
    if mode == "wrap":
        places = places % length
    elif mode == "clip":
        places = np.clip(places, 0, length - 1)
    return take_gradient(g, _y, _a, places, axis)


def along_axis_gradient(g, _y, _arr, indices, axis=-1):
    """Add the gradient of each taken element to the element it was taken from, axis by axis."""
    places = unwrap(indices)
    if axis is None:
        return take_gradient(g, _y, _arr, places, None)
    grid = list(np.ix_(*map(np.arange, _arr.shape)))
    grid[axis] = places
    return _scattered(g, tuple(grid), leading_shape(g, _y), _arr.shape)


def _compress(g, _y, condition, _a, axis=None):
    """The gradient where the condition is true, with zeros elsewhere."""
    return take_gradient(g, _y, _a, np.flatnonzero(condition), axis)


def _extract(g, _y, condition, _arr):
    """The gradient where the condition is true, among all elements, with zeros elsewhere."""
    return take_gradient(g, _y, _arr, np.flatnonzero(condition), None)


vjp(np.take, _take)
vjp(np.take_along_axis, along_axis_gradient, None)
vjp(np.compress, None, _compress)
vjp(np.extract, None, _extract)

selects(np.take, np.take_along_axis, np.compress, np.extract)
chooses(np.compress, np.extract)


# -- choosing among arrays ------------------------------------------------------------------------


def choose_(which: Any, *options: Any) -> Any:
    """Select, at each place, the element of the option whose number is in `which`."""
    return np.choose(which, options)


def select_(which: Any, *options: Any) -> Any:
    """Select like `choose_`, with the shape and dtype of ``np.select``; the last option is the default."""
    *choices, default = options
    return np.select([np.equal(which, i) for i in range(len(choices))], choices, default)


def _chosen(argnums, g, _y, which, *_options):
    """The gradient where each option was chosen, 0 elsewhere."""
    return [np.where(np.equal(which, k - 1), g, 0) for k in argnums]


vjp_argnums(choose_, _chosen, name="choose")
vjp_argnums(select_, _chosen, name="select")
chooses(choose_, select_)


@composite(np.choose)
def _choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    refuse_out(out)
    # Which option is chosen is constant almost everywhere.
    which, options = np.asarray(unwrap(a)), tuple(map(as_operand, choices))
    if mode == "wrap":
        which = which % len(options)
    elif mode == "clip":
        which = np.clip(which, 0, len(options) - 1)
    return apply(operation(choose_), (which, *options), {})


@composite(np.select)
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    options = (*map(as_operand, choicelist), as_operand(default))
    last = len(options) - 1
    which = np.select([unwrap(condition) for condition in condlist], range(last), last)
    return apply(operation(select_), (which, *options), {})


@composite(np.piecewise)
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    x, conditions = as_operand(x), unwrap(condlist)
    if any(map(is_lazy, conditions if isinstance(conditions, (list, tuple)) else [conditions])):
        raise UnsupportedArgumentError(
            "np.piecewise calls each function with the elements for which a condition is true, but the conditions "
            "aren't computed: write np.where(condition, f(x), g(x))"
        )
    if np.isscalar(conditions) or (
        not isinstance(conditions[0], (list, np.ndarray)) and np.ndim(x) != 0
    ):
        conditions = [conditions]
    conditions = np.asarray(conditions, dtype=bool)
    if len(conditions) == len(funclist) - 1:
        otherwise = ~np.any(conditions, axis=0, keepdims=True)
        conditions = np.concatenate([conditions, otherwise])
    if len(conditions) != len(funclist):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    y = np.zeros_like(unwrap(x))
    for condition, function in zip(conditions, funclist, strict=True):
        values = x[condition] if callable(function) else unwrap(x)[condition]
        part = function
        if callable(function):
            if not values.size:
                continue
            part = function(values, *args, **kw)
        part = as_operand(part)
        if np.ndim(part):
            part = cast(np.broadcast_to(part, values.shape), x.dtype)
            part = scatter_add(part, condition, x.shape)
        rest = (1,) * (np.ndim(x) - condition.ndim)
        y = np.where(condition.reshape(condition.shape + rest), part, y)
    return constant_result(cast(y, x.dtype))


# -- sorting: ties keep their order --------------------------------------------------------------------


def _ranks(a: Any, axis: int | None) -> Any:
    """Return the position of each element among the sorted elements."""
    # The inverse of a permutation is its argsort.
    return np.argsort(np.argsort(a, axis, kind="stable"), axis)


def sort_gradient(g: Any, y: Any, a: Any, places: Any, axis: int | None) -> Any:
    """Return the gradient in `a`, whose elements moved to `places` in y."""
    lead = leading_shape(g, y)
    places = places.reshape((1,) * len(lead) + places.shape)
    if axis is None:
        return np.take_along_axis(g, places, -1).reshape(lead + a.shape)
    return np.take_along_axis(g, places, negative_axis(axis, a.ndim))


def _sort(g, _y, a, axis=-1):
    """The gradient in the order before sorting."""
    return sort_gradient(g, _y, a, _ranks(a, axis), axis)


def _partition(g, y, a, axis=-1):
    """The gradient in the order before the partition; equal elements keep their order."""
    # np.partition doesn't say where elements went: equal ranks in `a` and `y` identify them.
    places = np.take_along_axis(np.argsort(y, axis, kind="stable"), _ranks(a, axis), axis)
    return sort_gradient(g, y, a, places, axis)


@composite(np.sort_complex)
def _sort_complex(a: Any) -> Any:
    return cast(np.sort(a), np.result_type(a, np.sort_complex(np.zeros(0, a.dtype))))


vjp(np.sort, _sort, ignores="kind stable")
vjp(np.partition, _partition, ignores="kth kind")

spreads(np.sort, np.partition)
chooses(np.sort, np.partition)


# -- diagonals and triangles ----------------------------------------------------------------------


def _diag(g, _y, _v, k=0):
    """Read the diagonal if a matrix was built, or build a matrix if a diagonal was read."""
    return np.diagonal(g, k, -2, -1) if _v.ndim == 1 else _diagonal(g, _y, _v, k)


def _diagflat(g, _y, _v, k=0):
    """The diagonal, in the original shape."""
    return np.diagonal(g, k, -2, -1).reshape(g.shape[:-2] + _v.shape)


def _diagonal(g, _y, _a, offset=0, axis1=0, axis2=1):
    """The gradient at the positions of the diagonals."""
    lead, axes = leading_shape(g, _y), (axis1 % _a.ndim, axis2 % _a.ndim)
    steps = np.arange(g.shape[-1])
    index: list[Any] = [slice(None)] * _a.ndim
    index[axes[0]], index[axes[1]] = steps + max(-offset, 0), steps + max(offset, 0)
    position = (
        min(axes) if abs(axes[0] - axes[1]) == 1 else 0
    )  # where NumPy puts the axis of the diagonal
    return _scattered(np.moveaxis(g, -1, len(lead) + position), tuple(index), lead, _a.shape)


def _trace(g, _y, _a, offset=0, axis1=0, axis2=1):
    """The gradient at all positions of the diagonals, with zeros elsewhere."""
    matrices = g[..., None, None]
    if is_lazy(unwrap(g)):
        shape = g.shape + _a.shape[axis1:][:1] + _a.shape[axis2:][:1]
        matrices = np.triu(np.tril(np.broadcast_to(matrices, shape), offset), offset)
    else:
        # A product with the identity would give nan for an infinite gradient: 0 * inf.
        diagonal = np.eye(_a.shape[axis1], _a.shape[axis2], offset, dtype=bool)
        matrices = np.where(diagonal, matrices, 0)
    places = negative_axis(axis1, _a.ndim), negative_axis(axis2, _a.ndim)
    return np.moveaxis(matrices, (-2, -1), places)


vjp(np.diag, _diag)
vjp(np.diagflat, _diagflat)
vjp(np.diagonal, _diagonal)
vjp(np.trace, _trace)
vjp(np.tril, lambda g, _y, _m, k=0: np.tril(g, k))
vjp(np.triu, lambda g, _y, _m, k=0: np.triu(g, k))

selects(np.diag, np.diagflat, np.diagonal, np.tril, np.triu)
spreads(np.trace)


# -- counting and finding -------------------------------------------------------------------------


def bincount_(x: Any, weights: Any, minlength: int) -> Any:
    """Sum the weights in each bin."""
    return np.bincount(x, weights, minlength)


vjp(bincount_, None, lambda g, _y, x, _w: g[..., x], ignores="minlength", name="bincount")


@composite(np.bincount)
def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    if weights is None:
        return np.bincount(unwrap(x), minlength=minlength)
    x = np.asarray(unwrap(x))
    x = x.astype(np.intp) if x.dtype == bool or not x.size else x
    inputs = x, as_operand(weights)
    return apply(operation(bincount_), inputs, {"minlength": minlength})


# fmt: off
not_differentiable(
    np.argsort, np.argpartition, np.lexsort, np.nonzero, np.flatnonzero, np.argwhere,
    np.searchsorted, np.digitize, np.isin, np.unravel_index, np.ravel_multi_index, np.ix_,
    np.tril_indices_from, np.triu_indices_from, np.diag_indices_from,
)
# fmt: on


if hasattr(np, "in1d"):  # before NumPy 2.4
    not_differentiable(np.in1d)  # noqa: NPY201


# -- in-place functions are rejected -------------------------------------------------------------------

INSTEAD: dict[Callable[..., Any], str] = {
    np.put: "write np.where(mask, values, x)",
    np.place: "write np.where(mask, values, x)",
    np.putmask: "write np.where(mask, values, x)",
    np.copyto: "bind the result to a name, or write np.where(mask, new, x)",
    np.fill_diagonal: "write np.where(np.eye(n, dtype=bool), value, x)",
    np.put_along_axis: "write np.where(mask, values, x)",
}


def _refuse(function: Callable[..., Any], advice: str) -> None:
    @composite(function)
    def refuse(*args: Any, **kwargs: Any) -> Any:
        if args and writes_plain_numbers(args[0], (*args, *kwargs.values())):
            return function(*unwrap(args), **unwrap(kwargs))
        refuse_within_numpy()
        raise ImmutableError(
            f"np.{function.__name__} writes into an array, which no tape can track, "
            f"and tensors are immutable: {advice}"
        )


for _function, _advice in INSTEAD.items():
    _refuse(_function, _advice)
