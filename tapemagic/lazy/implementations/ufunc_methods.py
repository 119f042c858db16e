"""``reduce``, ``accumulate`` and ``reduceat`` of ufuncs that have no NumPy function such as ``np.sum``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.lazy.implementations.blocks import Labels, axes_of, blockwise, is_lazy, right
from tapemagic.lazy.implementations.reductions import is_cut, reduce_in_tree

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
"""Associative ufuncs, whose reduction may start in each chunk, besides those with a NumPy function for it."""


METHODS = frozenset({"reduce", "accumulate", "reduceat"})


def is_method(function: Any) -> bool:
    """Return True if a function is a ufunc method that works along an axis."""
    return (
        isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ in METHODS
    )


def method(function: Any, args: Any, kwargs: Any) -> Any:
    """Run a method of a ufunc, along axis 0 by default."""
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
            # A trial on a single 1: hypot and logaddexp of integers are floats.
            dtype = function(np.ones(1, x.dtype)).dtype
            return reduce_in_tree(
                function.__self__, x, axes, bool(kwargs.get("keepdims", False)), dtype
            )
    # reduceat takes its indices between the array and the axis.
    position = 2 if function.__name__ == "reduceat" else 1
    axis = kwargs.get("axis", args[position] if len(args) > position else 0)

    def labelled(arrays: list[Any]) -> list[Labels]:
        main = arrays[0].ndim
        core = tuple(k - main for k in axes_of(axis, main))
        is_aligned = function.__name__ == "reduce"  # a mask
        return [
            right(x.ndim, core) if is_aligned or not k else (None,) * x.ndim
            for k, x in enumerate(arrays)
        ]

    return blockwise(function, args, kwargs, labelled)
