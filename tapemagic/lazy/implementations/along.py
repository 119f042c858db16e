"""Functions along some axes, which have to be in one piece; along the others they run in every chunk."""

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
from tapemagic.lazy.implementations.table import way

Labelled = Callable[[list[Any], Any, Any], list[Labels]]

ALONG: dict[Any, Labelled] = {}
"""For functions along axes, what labels the axes of the arrays among the arguments."""


@cache
def _signature(function: Any) -> Any:
    try:
        return inspect.signature(function)
    except ValueError:
        return None


def argument(function: Any, name: str, args: Any, kwargs: Any, default: Any) -> Any:
    """An argument of a call, which may be given by position."""
    if name in kwargs:
        return kwargs[name]
    known = _signature(function)
    if known is None or name not in known.parameters:
        return default
    place = list(known.parameters).index(name)
    if place < len(args):
        return args[place]
    found = known.parameters[name].default
    return default if found is inspect.Parameter.empty else found


def _label(labelled: Labelled, *functions: Any) -> None:
    """Enter functions; typed loosely, since joining the types of NumPy's overloads takes mypy half a minute."""
    ALONG.update(dict.fromkeys(functions, labelled))


def on_axis(*functions: Any, name: str = "axis", default: Any = -1, aligned: bool = False) -> None:
    """Name functions with a parameter `axis`, or another of its kind: one axis, several, or None for all.

    The other arrays among the arguments lie beside the first one, if `aligned`; else each chunk needs them as a whole.
    """

    def register(function: Any) -> None:
        def labelled(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
            axis = argument(function, name, args, kwargs, default)
            main = arrays[0].ndim
            if axis is None:
                return [(None,) * x.ndim for x in arrays]
            core = tuple(one - main for one in axes_of(axis, main))
            beside = len(arrays) if aligned else 1
            return [
                right(x.ndim, core) if k < beside else (None,) * x.ndim
                for k, x in enumerate(arrays)
            ]

        ALONG[function] = labelled

    for function in functions:
        register(function)


def on_last(count: int | tuple[int, ...], *functions: Any) -> None:
    """Name functions of the last `count` axes of each argument, for stacks of which they do the same."""

    def labelled(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
        counts = (count,) * len(arrays) if isinstance(count, int) else count
        return [leading(x.ndim, n) for x, n in zip(arrays, counts, strict=False)]

    _label(labelled, *functions)


def on_examples(*functions: Any) -> None:
    """Name functions that do the same for each example along the first axis of their first array."""

    def labelled(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
        main = arrays[0].ndim
        return [
            (-main, *(None,) * (x.ndim - 1)) if not k else (None,) * x.ndim
            for k, x in enumerate(arrays)
        ]

    _label(labelled, *functions)


def along(function: Any, args: Any, kwargs: Any) -> Any:
    """The result of a function along axes; none writes into a chunk, which others may read."""
    if kwargs.get("weights") is not None:  # for a trial they are not to be 0
        weights = kwargs["weights"]
        known = is_lazy(weights)
        weights = pointwise(_inexact, (weights,), {}) if known else _inexact(np.asarray(weights))
        kwargs = kwargs | {"weights": weights}
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
    """Matrices, and a number for each."""
    return [leading(x.ndim, 0 if k else 2) for k, x in enumerate(arrays)]


_label(_matrices_and_limits, np.linalg.pinv, np.linalg.matrix_rank)


def _solve(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """A vector is one for all matrices; NumPy takes an array of one axis alone for one."""
    return [leading(x.ndim, 2 if x.ndim > 1 else 1) for x in arrays]


ALONG[np.linalg.solve] = _solve


def _beside_all(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """The first argument element by element, each beside the whole of the others."""
    return [right(x.ndim) if x is args[0] else (None,) * x.ndim for x in arrays]


def _second_beside_all(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """The second argument element by element, each beside the whole of the first."""
    return [right(x.ndim) if x is args[1] else (None,) * x.ndim for x in arrays]


def _quantile(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """Weights lie beside the elements."""
    a, weights = args[0], kwargs.get("weights")
    axis = argument(np.quantile, "axis", args, kwargs, None)
    if axis is None or (weights is not None and np.ndim(weights) != a.ndim):
        return [(None,) * x.ndim for x in arrays]
    core = tuple(one - a.ndim for one in axes_of(axis, a.ndim))
    return [right(x.ndim, core) if x is a or x is weights else (None,) * x.ndim for x in arrays]


_label(_quantile, np.quantile, np.percentile, np.nanquantile, np.nanpercentile)


def _all_beside(arrays: list[Any], args: Any, kwargs: Any) -> list[Labels]:
    """All arrays element by element, and a new axis in the result."""
    return [right(x.ndim) for x in arrays]


_label(_beside_all, np.interp, np.isin, np.digitize)
_label(_second_beside_all, np.searchsorted, np.polyval)
_label(_all_beside, np.linspace, np.geomspace, np.logspace, np.unravel_index)


@way(np.geomspace)
def geomspace(start: Any, stop: Any, *args: Any, **kwargs: Any) -> Any:
    """``np.geomspace``, of whole numbers as of others: a trial with zeros would be refused."""
    ends = [pointwise(_inexact, (x,), {}) if is_lazy(x) else x for x in (start, stop)]
    return along(np.geomspace, (*ends, *args), kwargs)


def _inexact(x: Any) -> Any:
    return x.astype(float) if x.dtype.kind in "biu" else x


@way(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """``np.vander``."""
    columns = x.shape[0] if N is None else N
    return blockwise(np.vander, (x, columns, increasing), {}, lambda arrays: [(-1,)])
