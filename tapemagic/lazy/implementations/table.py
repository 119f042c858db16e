"""The table of ways, which the modules beside this one fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import dask.array as da
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

WAYS: dict[Any, Callable[..., Any]] = {}
"""For each function that can be computed on lazy arrays in a way of its own, the function that does it."""

STEPS: dict[Any, Callable[..., Any]] = {}
"""For each function that goes through data several times, what calls other functions on lazy arrays for it.

Between these calls data can be read again. Where one call is enough it returns NotImplemented.
"""

POINTWISE: set[Any] = set()
"""Functions, no ufuncs, that compute each element by itself."""


def way(*functions: Any) -> Callable[[F], F]:
    """Decorate what computes each of the `functions` on Dask's arrays."""

    def register(computes: F) -> F:
        WAYS.update(dict.fromkeys(functions, computes))
        return computes

    return register


def in_steps(*functions: Any) -> Callable[[F], F]:
    """Decorate what computes each of the `functions` on lazy arrays, by calls of others."""

    def register(computes: F) -> F:
        STEPS.update(dict.fromkeys(functions, computes))
        return computes

    return register


def itself(function: F) -> F:
    """Decorate a step on Dask's arrays, which steps on lazy arrays call by its own name."""
    WAYS[function] = function
    return function


def by_element(function: F) -> F:
    """Decorate a function that computes each element by itself."""
    POINTWISE.add(function)
    return function


def as_dask_does(*names: str) -> None:
    """Name functions of NumPy's for which Dask has one of the same name and meaning, that does not compute."""
    for name in names:
        WAYS[getattr(np, name)] = getattr(da, name)
