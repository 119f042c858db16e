"""Lazy values, such as Dask arrays, and values that a tape did not keep: those whose numbers are not there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import Absent, Record
from tapemagic.engine.tensor.tensor import Traced


def has_numbers(value: Any) -> bool:
    """Whether the numbers of an array are there: the tape kept them, and they are computed."""
    return not isinstance(value, Absent) and not is_lazy(value)


def is_lazy_array(value: Any) -> bool:
    """Whether a value is a lazy array such as a Dask array, and not a tensor, a table or a task."""
    kind = type(value)  # an object that is computed later may have any attribute
    if isinstance(value, Traced) or not is_lazy(value):
        return False
    return hasattr(kind, "chunks") and hasattr(kind, "dtype")


def is_pending(value: Any) -> bool:
    """Whether a value is lazy, and nobody has computed its numbers yet."""
    return is_lazy(value) and getattr(value, "computed", None) is None


def with_numbers(value: Any) -> Any:
    """The numbers of a lazy value that was computed; anything else as it is."""
    return value if not is_lazy(value) or is_pending(value) else value.computed


def has_lazy_values(records: Iterable[Any]) -> bool:
    """Whether a lazy value is among the inputs and results of records."""
    found = map(Record._make, records)
    return any(is_lazy(x) for record in found for x in (*record.values, *record.outputs))


def token(value: Any) -> Any:
    """The name by which Dask knows a lazy array: arrays with the same are computed from the same in the same way."""
    return value.__dask_tokenize__()
