"""Run functions along axes that are in one chunk; the other axes may be split."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tapemagic.lazy.implementations.blocks import (
    Labels,
    axes_of,
    blockwise,
    is_lazy,
    leading,
    pointwise,
    right,
)
from tapemagic.lazy.implementations.table import implements

Labelled = Callable[[list[Any], Any, Any], list[Labels]]

ALONG: dict[Any, Labelled] = {}
"""For each function along axes, the function that labels the axes of its array arguments."""


@cache
def _signature(function: Any) -> Any:
    try:
        return inspect.signature(function)
    # Some functions of NumPy that are written in C have no signature.
    except ValueError:
        return None


def argument(function: Any, name: str, args: Any, kwargs: Any, default: Any) -> Any:
    """Look up an argument of a call by name, whether it was passed by position or by name."""
    if name in kwargs:
        return kwargs[name]
    signature = _signature(function)
    if signature is None or name not in signature.parameters:
        return default
    place = list(signature.parameters).index(name)
    if place < len(args):
        return args[place]
    own = signature.parameters[name].default
    return default if own is inspect.Parameter.empty else own


def _label(labelled: Labelled, *functions: Any) -> None:
    """Enter functions; typed loosely, because mypy takes half a minute to join the overloads in NumPy's type stubs."""
    ALONG.update(dict.fromkeys(functions, labelled))


def on_axis(*functions: Any, name: str = "axis", default: Any = -1, aligned: bool = False) -> None:
    """Register functions with a parameter like `axis`: one axis, several, or None for all.

    If `aligned`, the other array arguments have the chunks of the first; else each chunk needs all of them.
    """

    def register(function: Any) -> None:
        def labelled(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
            axis = argument(function, name, args, kwargs, default)
            main = arrays[0].ndim
            if axis is None:
                return [(None,) * x.ndim for x in arrays]
            core = tuple(k - main for k in axes_of(axis, main))
            beside = len(arrays) if aligned else 1
            return [
                right(x.ndim, core) if k < beside else (None,) * x.ndim
                for k, x in enumerate(arrays)
            ]

        ALONG[function] = labelled

    for function in functions:
        register(function)


def on_last(count: int | tuple[int, ...], *functions: Any) -> None:
    """Register functions of the last `count` axes of each argument, such as those of stacks of matrices."""

    def labelled(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
        counts = (count,) * len(arrays) if isinstance(count, int) else count
        return [leading(x.ndim, n) for x, n in zip(arrays, counts, strict=False)]

    _label(labelled, *functions)


def on_examples(*functions: Any) -> None:
    """Register functions that treat each example along the first axis of their first array separately."""

    def labelled(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
        main = arrays[0].ndim
        return [
            (-main, *(None,) * (x.ndim - 1)) if not k else (None,) * x.ndim
            for k, x in enumerate(arrays)
        ]

    _label(labelled, *functions)


def along(function: Any, args: Any, kwargs: Any) -> Any:
    """Run a function along axes, without writing into a chunk that others may read."""
    if (
        kwargs.get("weights") is not None
    ):  # the trial uses zeros for integers, and weights must not sum to 0
        weights = kwargs["weights"]
        weights = (
            pointwise(_inexact, (weights,), {})
            if is_lazy(weights)
            else _inexact(np.asarray(weights))
        )
        kwargs = kwargs | {"weights": weights}
    # The chunk may belong to other tasks as well, so np.median must copy it.
    if argument(function, "overwrite_input", args, kwargs, False):
        bound = _signature(function).bind(*args, **kwargs)
        del bound.arguments["overwrite_input"]
        args, kwargs = bound.args, bound.kwargs
    return blockwise(function, args, kwargs, lambda arrays: ALONG[function](arrays, args, kwargs))


# fmt: off
on_axis(np.sort, np.argsort, np.partition, np.argpartition)
on_axis(np.unwrap, np.take_along_axis, aligned=True)
on_axis(np.median, np.nanmedian, np.nancumsum, np.nancumprod, default=None)
on_axis(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft)
on_axis(np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2, name="axes", default=(-2, -1))
on_axis(np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn, np.fft.fftshift, np.fft.ifftshift, name="axes",
        default=None)
on_last(2, np.linalg.inv, np.linalg.cholesky, np.linalg.det, np.linalg.slogdet, np.linalg.eig, np.linalg.eigh,
        np.linalg.eigvals, np.linalg.eigvalsh, np.linalg.svd, np.linalg.svdvals, np.linalg.qr,
        np.linalg.matrix_power, np.linalg.cond)
# fmt: on


def _matrices_and_limits(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """Label stacks of matrices, and one number for each matrix."""
    return [leading(x.ndim, 0 if k else 2) for k, x in enumerate(arrays)]


_label(_matrices_and_limits, np.linalg.pinv, np.linalg.matrix_rank)


def _solve(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """Label stacks of matrices and right-hand sides; a 1-d right-hand side serves all matrices."""
    return [leading(x.ndim, 2 if x.ndim > 1 else 1) for x in arrays]


ALONG[np.linalg.solve] = _solve


def _beside_all(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """Label the first argument element-wise; each element needs all other arguments."""
    return [right(x.ndim) if x is args[0] else (None,) * x.ndim for x in arrays]


def _second_beside_all(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """Label the second argument element-wise; each element needs the whole first argument."""
    return [right(x.ndim) if x is args[1] else (None,) * x.ndim for x in arrays]


def _quantile(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """Label the elements and their weights; the reduced axes must be in one chunk."""
    a, weights = args[0], kwargs.get("weights")
    axis = argument(np.quantile, "axis", args, kwargs, None)
    if axis is None or (weights is not None and np.ndim(weights) != a.ndim):
        return [(None,) * x.ndim for x in arrays]
    core = tuple(k - a.ndim for k in axes_of(axis, a.ndim))
    return [right(x.ndim, core) if x is a or x is weights else (None,) * x.ndim for x in arrays]


_label(_quantile, np.quantile, np.percentile, np.nanquantile, np.nanpercentile)


def _all_beside(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """Label the arrays element-wise; the result has a new axis."""
    return [right(x.ndim) for x in arrays]


_label(_beside_all, np.interp, np.isin, np.digitize)
_label(_second_beside_all, np.searchsorted, np.polyval)
_label(_all_beside, np.linspace, np.geomspace, np.logspace, np.unravel_index)


@implements(np.geomspace)
def geomspace(start: Any, stop: Any, *args: Any, **kwargs: Any) -> Any:
    """Implement ``np.geomspace``; integers become floats, because NumPy refuses a trial with zeros."""
    ends = [pointwise(_inexact, (x,), {}) if is_lazy(x) else x for x in (start, stop)]
    return along(np.geomspace, (*ends, *args), kwargs)


def _inexact(x: Any) -> Any:
    return x.astype(float) if x.dtype.kind in "biu" else x


@implements(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """Implement ``np.vander`` on Dask arrays."""
    columns = x.shape[0] if N is None else N
    return blockwise(np.vander, (x, columns, increasing), {}, lambda arrays: [(-1,)])
