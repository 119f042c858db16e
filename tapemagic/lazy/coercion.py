"""Convert Dask arrays to the lazy arrays that tensors hold, and refuse other collections."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array

from tapemagic.engine.laziness import LAZY
from tapemagic.engine.tensor.coercion import NUMBERS, require_plain
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tracing import Tracer, tracer
from tapemagic.errors import DtypeError, NotNumbersError, UnsupportedArgumentError
from tapemagic.lazy.array import LazyArray


def lazy_array(value: Any, dtype: np.dtype[Any] | None = None) -> LazyArray:
    """Wrap a Dask array as a lazy array, and cast it to `dtype` if given.

    Raises
    ------
    DtypeError
        If the cast might change numbers, which is unknown before they are computed.
    NotNumbersError
        If the value is not an array of numbers.
    UnsupportedArgumentError
        If its shape is unknown, or its chunks are not NumPy arrays.
    """
    if type(value) is LazyArray:
        return value.copy() if dtype is None else _cast(value, dtype)
    if not isinstance(value, da.Array):
        raise NotNumbersError(f"a tensor cannot hold {shown(value)}: {_instead(value)}")
    # Dask arrays with query planning carry an expression instead of a graph, which all of lazy/ works on.
    if hasattr(value, "expr"):
        raise UnsupportedArgumentError(
            "a tensor does not hold arrays of Dask's experimental query planning: set array.query-planning to False "
            "in Dask's configuration, before dask.array is imported"
        )
    # Dask marks lengths that depend on the numbers, such as those of x[mask], with nan.
    if any(map(math.isnan, chain.from_iterable(value.chunks))):
        raise UnsupportedArgumentError(
            "a tensor needs to know its shape, and the chunks of this Dask array have unknown lengths: write "
            "x.compute_chunk_sizes() before it becomes a tensor"
        )
    trace = tracer()
    if trace is not None:
        trace.mark_exit(LAZY)
    chunk = meta_from_array(value)
    if type(chunk) is not np.ndarray:
        value = _without_symbols(value, chunk, trace)
    if value.dtype.kind not in NUMBERS:
        raise NotNumbersError(
            f"a tensor holds numbers, and the dtype of this Dask array is {value.dtype}: write x.astype(float) if they "
            "are numbers"
        )
    return LazyArray(value if dtype is None else _cast(value, dtype))


def _without_symbols(value: Any, chunk: Any, trace: Tracer | None) -> Any:
    """Replace the symbols of a trace in the chunks of a Dask array by their numbers.

    Raises
    ------
    UnsupportedArgumentError
        If the chunks are neither NumPy arrays nor symbols.
    """
    if trace is None or not trace.reads((chunk,)):
        _refuse_chunks(type(chunk))
        return value
    return value.map_blocks(trace.value, dtype=value.dtype, meta=trace.value(chunk))


def _instead(value: Any) -> str:
    """Return advice on what to write instead of another Dask collection."""
    if type(value).__name__.startswith("Delayed"):  # which has every attribute
        return (
            "say which shape and dtype it will have, with dask.array.from_delayed(x, shape, dtype)"
        )
    # Dask's data frames; bags have to_delayed only, and xarray's objects hold a Dask array in `data`.
    if hasattr(value, "to_dask_array"):
        return "write tapemagic.constant(x.to_dask_array(lengths=True)), of columns of numbers"
    if hasattr(value, "to_delayed"):
        return "tapemagic.distributed.value_and_grad takes a bag as it is"
    if hasattr(value, "data"):
        return "give the Dask array in it, x.data"
    return "give a Dask array"


def _refuse_chunks(chunk: type) -> None:
    """Raise an error for chunks that are not plain NumPy arrays."""
    if issubclass(chunk, np.ma.MaskedArray):
        raise UnsupportedArgumentError(
            "a tensor does not compute with masked arrays, whose arithmetic is not that of arrays, and the chunks of "
            "this Dask array are such: fill the gaps first, with dask.array.ma.filled(x, 0.0), and multiply by a mask "
            "of your own"
        )
    require_plain(chunk)
    raise UnsupportedArgumentError(
        "a tensor computes with NumPy's arrays, and the chunks of this Dask array are of the kind "
        f"{chunk.__module__}.{chunk.__qualname__}: convert them, with x.map_blocks(np.asarray) or the function of "
        "their own library for that"
    )


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    """Cast a lazy or Dask array to a dtype that can hold its numbers."""
    if value.dtype == dtype:
        return value.copy()
    # The numbers are unknown, so only casts that can lose nothing but precision pass: to float or complex, and
    # never from complex to real.
    harmless = dtype.kind in "fc" and not value.dtype.kind == "c" != dtype.kind
    if not harmless and not np.can_cast(value.dtype, dtype, "safe"):
        raise DtypeError(
            f"whether numbers of {value.dtype} fit into {dtype} cannot be seen before they are computed: cast them "
            f"before they become a tensor, with x.astype({str(dtype)!r}), which cuts off what does not fit"
        )
    return value.astype(dtype)
