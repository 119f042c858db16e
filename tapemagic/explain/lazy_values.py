"""Questions about values whose numbers may be missing: lazy values such as Dask arrays, and values not kept by a tape.

A tape keeps only the values that its derivative rules read, and an `Absent` with shape and dtype for each other value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import Absent
from tapemagic.engine.tensor.tensor import Traced


def has_numbers(value: Any) -> bool:
    """Return True if the numbers of an array are available: the tape kept them, and they are computed."""
    return not isinstance(value, Absent) and not is_lazy(value)


def is_lazy_array(value: Any) -> bool:
    """Return True if a value is a lazy array such as a Dask array, but not a tensor, a table or a task."""
    kind = type(
        value
    )  # a dask.delayed object answers hasattr() with True for every name, its type doesn't
    if isinstance(value, Traced) or not is_lazy(value):
        return False
    return hasattr(kind, "chunks") and hasattr(kind, "dtype")


def is_pending(value: Any) -> bool:
    """Return True if a value is lazy, and its numbers haven't been computed yet."""
    return is_lazy(value) and getattr(value, "computed", None) is None


def with_numbers(value: Any) -> Any:
    """Return the numbers of a computed lazy value, or any other value unchanged."""
    return value if not is_lazy(value) or is_pending(value) else value.computed


def has_lazy_values(records: Iterable[Any]) -> bool:
    """Return True if any input or result of the records is lazy."""
    for _, values, _, _, output, _ in records:
        for x in values:
            # Most values of a long loop are numbers.
            if x.__class__ is not np.float64 and is_lazy(x):
                return True
        if output.__class__ is not np.float64 and any(
            map(is_lazy, output if output.__class__ is tuple else (output,))
        ):
            return True
    return False


def token(value: Any) -> Any:
    """Return Dask's token of a lazy array. Arrays with equal tokens are results of the same computation."""
    return value.__dask_tokenize__()
