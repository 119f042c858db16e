"""Lazy values, such as Dask arrays, and values that a tape did not keep: those whose numbers are not there."""

from __future__ import annotations

from typing import Any

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import Absent


def has_numbers(value: Any) -> bool:
    """Whether the numbers of an array are there: the tape kept them, and they are computed."""
    return not isinstance(value, Absent) and not is_lazy(value)


def is_lazy_array(value: Any) -> bool:
    """Whether a value, which is no tensor, is a lazy array such as a Dask array, and not a table or task."""
    return is_lazy(value) and hasattr(value, "chunks") and hasattr(value, "dtype")


def is_pending(value: Any) -> bool:
    """Whether a value is lazy, and nobody has computed its numbers yet."""
    return is_lazy(value) and getattr(value, "computed", None) is None


def with_numbers(value: Any) -> Any:
    """The numbers of a lazy value that was computed; anything else as it is."""
    return value if not is_lazy(value) or is_pending(value) else value.computed
