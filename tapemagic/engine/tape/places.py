"""Positions of elements in an array: ranges if they are equally spaced, so that reading them needs no copy."""

from __future__ import annotations

from typing import Any

import numpy as np

Places = Any
"""Positions in a flat array: a range if they are equally spaced, else an array of integers."""


def as_places(positions: Any) -> Places:
    """Convert positions to a range if they are equally spaced; else return them unchanged.

    Examples
    --------
    >>> as_places(np.array([1, 3, 5])), as_places(np.array([1, 3, 4]))
    (range(1, 7, 2), array([1, 3, 4]))
    """
    n = len(positions)
    if not n:
        return range(0)
    first = int(positions[0])
    step = int(positions[1]) - first if n > 1 else 1
    # The cheap tests come first: the second and the last position rule out most arrays that aren't
    # equally spaced.
    stop = first + n * step
    if not step or int(positions[-1]) != stop - step:
        return positions
    equal = n < 3 or np.count_nonzero(positions == np.arange(first, stop, step)) == n
    return range(first, stop, step) if equal else positions


def index_of(places: Places) -> Any:
    """Convert places to an index: a slice for a range."""
    if places.__class__ is not range:
        return places
    # A descending range ends at -1, which a slice would read as the last element; None means the
    # start.
    return slice(places.start, places.stop if places.stop >= 0 else None, places.step)


def array_of(places: Places) -> Any:
    """Convert places to an array."""
    if places.__class__ is not range:
        return places
    return np.arange(places.start, places.stop, places.step)


def is_all(places: Places, size: int) -> bool:
    """Return True if the places are all positions of an array with `size` elements, in order."""
    return places.__class__ is range and places == range(size)


def picked(places: Places, entries: Places) -> Places:
    """Return the places at the given entries."""
    if places.__class__ is range:
        if entries.__class__ is range:
            return places[index_of(entries)]
        return entries * places.step + places.start
    return as_places(places[index_of(entries)])


def taken(values: Any, places: Places) -> Any:
    """Return the elements of an array at flat positions, or the array itself if these are all."""
    if is_all(places, values.size):
        return values
    return flat(values)[index_of(places)]


def shaped(values: Any, shape: tuple[int, ...]) -> Any:
    """Reshape the elements of an array; a single number becomes a NumPy scalar."""
    if values.shape == shape:
        return values
    return values.reshape(shape) if shape else flat(values)[0]


def flat(values: Any) -> Any:
    """Return the elements of an array, or a single number, as a flat array."""
    return values if values.ndim == 1 else values.reshape(-1)
