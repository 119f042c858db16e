"""Functions whose results have a shape or dtype that depends on numbers, and functions for which it doesn't."""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from numpy.lib import scimath

STATIC = frozenset(
    {np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast}
    | {np.min_scalar_type, np.common_type}
)
"""Functions whose results depend only on shapes and dtypes."""

MEMORY = frozenset({np.may_share_memory, np.shares_memory})
"""Functions whose results depend on memory addresses."""

BY_NUMBERS = frozenset(
    {np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.trim_zeros, np.union1d}
    | {np.intersect1d, np.setdiff1d, np.setxor1d, np.unique_all, np.unique_counts}
    | {np.unique_inverse, np.unique_values, np.histogram_bin_edges, np.ix_, np.mask_indices}
)
"""Functions whose results have a different shape for most other numbers."""

VARYING = frozenset(
    {np.roots, np.poly, np.polydiv, np.polymul, np.linalg.lstsq, np.linalg.eig}
    | {np.linalg.eigvals, np.real_if_close, np.bincount}
    | {getattr(scimath, name) for name in scimath.__all__}
)
"""Functions whose results have a different shape, or are complex, for some numbers."""

SELECTING = frozenset({np.compress, np.extract})
"""Functions whose results have a shape that depends on their first argument."""

WRITING = frozenset({np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis})
"""Functions that write into an argument."""

SHAPING = frozenset(
    {"N", "axes", "axis", "axis1", "axis2", "axisa", "axisb", "axisc", "bins", "deg"}
    | {"indices_or_sections", "k", "keepdims", "minlength", "n", "newshape", "num", "obj"}
    | {"offset", "pad_width", "reps", "repeats", "s", "shape", "source", "destination"}
)
"""The parameters of NumPy's functions on whose values a shape depends."""


def depends_on_numbers(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return True if the shape of a result depends on the numbers.

    Examples
    --------
    >>> depends_on_numbers(np.nonzero, (np.ones(3),), {}), depends_on_numbers(np.sin, (1.0,), {})
    (True, False)
    """
    if function in BY_NUMBERS or (function is np.where and len(args) == 1):
        return True
    return function is np.histogram and isinstance(bound(function, args, kwargs).get("bins"), str)


def bound(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by parameter; only keyword arguments if the function is written in C."""
    return dict(zip(_parameters(function), args, strict=False)) | kwargs


@cache
def _parameters(function: Any) -> tuple[str, ...]:
    try:
        return tuple(signature(function).parameters)
    except (TypeError, ValueError):
        return ()
