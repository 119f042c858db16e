"""Table of implementations, which the other modules of this folder fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import dask.array as da
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

IMPLEMENTATIONS: dict[Any, Callable[..., Any]] = {}
"""For each function, its implementation on Dask arrays, if it has one."""

STEPWISE: dict[Any, Callable[..., Any]] = {}
"""For each function that reads its data several times, an implementation that calls other functions on lazy arrays.

Data can be read again between these calls. The implementation returns NotImplemented if one read is enough.
"""

POINTWISE: set[Any] = set()
"""Element-wise functions that are not ufuncs."""


def implements(*functions: Any) -> Callable[[F], F]:
    """Register the decorated function as the implementation of `functions` on Dask arrays."""

    def register(computes: F) -> F:
        IMPLEMENTATIONS.update(dict.fromkeys(functions, computes))
        return computes

    return register


def implements_in_steps(*functions: Any) -> Callable[[F], F]:
    """Register the decorated function as the implementation of `functions` by calls on lazy arrays."""

    def register(computes: F) -> F:
        STEPWISE.update(dict.fromkeys(functions, computes))
        return computes

    return register


def implements_itself(function: F) -> F:
    """Register a step on Dask arrays that implementations in steps call directly."""
    IMPLEMENTATIONS[function] = function
    return function


def computes_by_element(function: F) -> F:
    """Register an element-wise function."""
    POINTWISE.add(function)
    return function


def delegate_to_dask(*names: str) -> None:
    """Use Dask's function of the same name for NumPy functions, if it is lazy and means the same."""
    for name in names:
        IMPLEMENTATIONS[getattr(np, name)] = getattr(da, name)
