"""The methods ``reduce``, ``accumulate`` and ``reduceat`` of ufuncs that have no function of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.lazy.implementations.blocks import Labels, axes_of, blockwise, is_lazy, right
from tapemagic.lazy.implementations.reductions import folded, is_cut

ASSOCIATIVE = frozenset(
    [
        np.logaddexp,
        np.logaddexp2,
        np.hypot,
        np.fmax,
        np.fmin,
        np.bitwise_and,
        np.bitwise_or,
        np.bitwise_xor,
        np.gcd,
        np.lcm,
        np.logical_xor,
    ]
)
"""Ufuncs whose reductions may begin in each chunk, beside those that have a function of their own."""


METHODS = frozenset({"reduce", "accumulate", "reduceat"})


def is_method(function: Any) -> bool:
    """Whether a function is a method of a ufunc, along an axis."""
    return (
        isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ in METHODS
    )


def method(function: Any, args: Any, kwargs: Any) -> Any:
    """The result of a method of a ufunc, which goes along the first axis if none is named."""
    x = args[0]
    if (
        function.__name__ == "reduce"
        and function.__self__ in ASSOCIATIVE
        and not kwargs.keys() - {"axis", "keepdims"}
        and len(args) < 3
        and is_lazy(x)
        and x.size
    ):
        axes = axes_of(kwargs.get("axis", args[1] if len(args) > 1 else 0), x.ndim)
        if is_cut(x, axes):
            dtype = function(np.ones(1, x.dtype)).dtype
            return folded(function.__self__, x, axes, bool(kwargs.get("keepdims", False)), dtype)
    place = 2 if function.__name__ == "reduceat" else 1
    axis = kwargs.get("axis", args[place] if len(args) > place else 0)

    def labelled(arrays: list[Any]) -> list[Labels]:
        main = arrays[0].ndim
        core = tuple(one - main for one in axes_of(axis, main))
        beside = function.__name__ == "reduce"  # a mask
        return [
            right(x.ndim, core) if beside or not k else (None,) * x.ndim
            for k, x in enumerate(arrays)
        ]

    return blockwise(function, args, kwargs, labelled)
