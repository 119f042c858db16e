"""The table of ways, which the modules beside this one fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import dask.array as da
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

WAYS: dict[Any, Callable[..., Any]] = {}
"""For each function that can be computed on lazy arrays in a way of its own, the function that does it."""

POINTWISE: set[Any] = set()
"""Functions, no ufuncs, that compute each element by itself."""


def way(*functions: Any) -> Callable[[F], F]:
    """Decorate what computes each of the `functions` on Dask's arrays."""

    def register(computes: F) -> F:
        WAYS.update(dict.fromkeys(functions, computes))
        return computes

    return register


def as_dask_does(*names: str) -> None:
    """Name functions of NumPy's for which Dask has one of the same name and meaning, that does not compute."""
    for name in names:
        WAYS[getattr(np, name)] = getattr(da, name)
