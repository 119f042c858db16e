"""All slices of a tensor at once, for `vectorized_map`: a stand-in for a slice, on which few operations are known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.tf import math as tf_math
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.ops import elementwise, products

Function = Callable[..., Any]

_ELEMENTWISE = (
    "abs acos acosh add asin asinh atan atan2 atanh ceil cos cosh divide equal erf erfc exp expm1 floor greater "
    "greater_equal less less_equal log log1p log_sigmoid logical_and logical_not logical_or maximum minimum multiply "
    "multiply_no_nan negative not_equal pow reciprocal round rsqrt sigmoid sign sin sinh softplus sqrt square "
    "squared_difference subtract tan tanh"
)
_OVER_AXES = "all any max mean min prod std sum variance"

POINTWISE = frozenset(getattr(tf_math, name) for name in _ELEMENTWISE.split()) | {
    elementwise.relu,
    elementwise.elu,
    elementwise.selu,
}
"""Functions of elements at the same places."""

REDUCTIONS = frozenset(getattr(tf_math, f"reduce_{name}") for name in _OVER_AXES.split())
"""Functions ``f(x, axis, keepdims)``."""


class NotKnownError(ValueError):
    """An operation that is only known for single slices."""


def _refused(*_args: Any, **_kwargs: Any) -> Any:
    raise NotKnownError


def _pointwise(function: Function) -> Function:
    def of_both(x: Any, y: Any) -> Any:
        return applied(function, x, y)

    return of_both


def _turned(function: Function) -> Function:
    def of_both(x: Any, y: Any) -> Any:
        return applied(function, y, x)

    return of_both


class AllSlices:
    """A slice of a tensor that stands for all of them, along the first axis.

    Anything that needs the values of one slice, or isn't known here, raises NotKnownError.
    """

    __array_ufunc__ = None  # so that operators of tensors leave the operation to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, every: Any) -> None:
        self.every = every

    @property
    def shape(self) -> TensorShape:
        """The shape of a slice."""
        return TensorShape(self.every.shape[1:])

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.every.dtype

    @property
    def ndim(self) -> int:
        """The number of axes of a slice."""
        return len(self.every.shape) - 1

    def __tape_function__(self, function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
        if function in POINTWISE and not kwargs:
            return applied(function, *args)
        if function in REDUCTIONS and isinstance(args[0], AllSlices):
            return _reduced(function, *args, **kwargs)
        if function is products.matmul and len(args) == 2 and not kwargs:
            return _product(*args)
        raise NotKnownError

    def __getitem__(self, index: Any) -> AllSlices:
        parts = index if isinstance(index, tuple) else (index,)
        if not all(x is None or x is ... or isinstance(x, int | slice) for x in parts):
            raise NotKnownError
        return AllSlices(self.every[(slice(None), *parts)])

    __add__, __sub__, __mul__, __truediv__, __pow__ = map(
        _pointwise, (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
    )
    __radd__, __rsub__, __rmul__, __rtruediv__, __rpow__ = map(
        _turned, (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
    )
    __lt__, __le__, __gt__, __ge__, __eq__, __ne__ = map(
        _pointwise,
        (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    )

    def __neg__(self) -> AllSlices:
        return AllSlices(-self.every)

    def __matmul__(self, other: Any) -> AllSlices:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> AllSlices:
        return _product(other, self)

    __array__ = __bool__ = __float__ = __int__ = __index__ = __iter__ = __len__ = _refused
    __array_function__ = _refused


def applied(function: Function, *args: Any) -> AllSlices:
    """Apply a function of elements at the same places to all slices."""
    if not all(isinstance(x, AllSlices | Traced | int | float | bool) for x in args):
        raise NotKnownError
    rank = max(x.ndim if isinstance(x, AllSlices) else np.ndim(unwrap(x)) for x in args)
    return AllSlices(function(*(_aligned(x, rank) for x in args)))


def _aligned(x: Any, rank: int) -> Any:
    """Insert axes after that of the slices, so that slices broadcast against each other as alone."""
    if not isinstance(x, AllSlices) or x.ndim == rank:
        return x.every if isinstance(x, AllSlices) else x
    return x.every[(slice(None), *[None] * (rank - x.ndim))]


def _reduced(function: Function, x: AllSlices, axis: Any = None, keepdims: bool = False) -> Any:
    if axis is None:
        axis = list(range(x.ndim))
    places = axis if isinstance(axis, list | tuple) else [axis]
    if not all(isinstance(place, int) and -x.ndim <= place < x.ndim for place in places):
        raise NotKnownError
    shifted = [place + 1 if place >= 0 else place for place in places]
    # A sum over no axes would be one over all for an empty list.
    return AllSlices(function(x.every, shifted, keepdims)) if shifted else x


def _product(x: Any, y: Any) -> AllSlices:
    """Multiply matrices; a matrix that is the same for all slices broadcasts."""
    ranks = [a.ndim if isinstance(a, AllSlices) else np.ndim(unwrap(a)) for a in (x, y)]
    if ranks != [2, 2] or not all(isinstance(a, AllSlices | Traced) for a in (x, y)):
        raise NotKnownError
    return AllSlices(products.matmul(*(a.every if isinstance(a, AllSlices) else a for a in (x, y))))
