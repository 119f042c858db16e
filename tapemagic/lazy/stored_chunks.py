"""Find Dask arrays whose chunks exist already: data in memory, and persisted arrays."""

from __future__ import annotations

from typing import Any, Literal

import dask.array as da
import numpy as np

ChunkLocation = Literal["", "in memory", "persisted"]
"""In this process; on a cluster, which may still be computing it; or nowhere."""


def chunk_location(array: da.Array) -> ChunkLocation:
    """Return where the chunks of an array are, or "" if they must be computed.

    Examples
    --------
    >>> chunk_location(da.from_array(np.arange(6), chunks=2)), chunk_location(da.arange(6, chunks=2))
    ('in memory', '')
    """
    layer = array.dask.layers.get(array.name)
    # Only a materialized layer holds its tasks: asking any other layer would build them all.
    if layer is None or not layer.is_materialized():
        return ""
    kinds = {type(chunk) for chunk in layer.values()}
    if all(issubclass(kind, (np.ndarray, np.generic)) for kind in kinds):
        return "in memory"
    # By name: importing distributed for its Future would take a second, and without a cluster nothing needs it.
    return "persisted" if all(kind.__name__ == "Future" for kind in kinds) else ""


def join_chunks(array: da.Array) -> Any:
    """Join the chunks of an array in memory, without a scheduler.

    Examples
    --------
    >>> join_chunks(da.from_array(np.arange(6), chunks=4))
    array([0, 1, 2, 3, 4, 5])
    """
    chunks = array.dask.layers[array.name]
    join, args = array.__dask_postcompute__()
    return np.asarray(join(_nested_chunks(array.__dask_keys__(), chunks), *args))[()]


def _nested_chunks(keys: Any, chunks: Any) -> Any:
    """Look up the chunks of nested lists of keys."""
    return [_nested_chunks(key, chunks) for key in keys] if type(keys) is list else chunks[keys]
