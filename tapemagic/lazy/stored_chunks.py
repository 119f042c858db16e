"""Dask arrays whose chunks are there already: data that was in memory, and what was persisted."""

from __future__ import annotations

from typing import Any, Literal

import dask.array as da
import numpy as np

Where = Literal["", "in memory", "persisted"]
"""In this process; by a cluster, which may still be at work on it; or nowhere."""


def whereabouts(array: da.Array) -> Where:
    """The place of the chunks of an array; empty if they have to be computed.

    Examples
    --------
    >>> whereabouts(da.from_array(np.arange(6), chunks=2)), whereabouts(da.arange(6, chunks=2))
    ('in memory', '')
    """
    layer = array.dask.layers.get(array.name)
    if layer is None or not layer.is_materialized():
        return ""
    kinds = {type(chunk) for chunk in layer.values()}
    if all(issubclass(kind, (np.ndarray, np.generic)) for kind in kinds):
        return "in memory"
    return "persisted" if all(kind.__name__ == "Future" for kind in kinds) else ""


def joined(array: da.Array) -> Any:
    """The numbers of an array whose chunks are in memory, without a scheduler.

    Examples
    --------
    >>> joined(da.from_array(np.arange(6), chunks=4))
    array([0, 1, 2, 3, 4, 5])
    """
    chunks = array.dask.layers[array.name]
    join, args = array.__dask_postcompute__()
    return np.asarray(join(_found(array.__dask_keys__(), chunks), *args))[()]


def _found(keys: Any, chunks: Any) -> Any:
    """The chunks of nested lists of keys."""
    return [_found(key, chunks) for key in keys] if type(keys) is list else chunks[keys]
