"""Cardinality: the number of elements of a dataset, if known."""

from __future__ import annotations

# TensorFlow's values; both are negative, so `length < 0` tests for "no number".
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def of_groups(length: int, size: int, drop_remainder: bool) -> int:
    """Return the number of groups of a given size."""
    if length < 0:
        return length
    # -(-a // b) rounds up in integers; math.ceil(a / b) is wrong above 2**53.
    return length // size if drop_remainder else -(-length // size)


def of_shortest(lengths: list[int]) -> int:
    """Return the length of an iteration that ends with the shortest of several."""
    # Unknown wins over infinite: the unknown dataset may be the shorter one.
    if UNKNOWN_CARDINALITY in lengths:
        return UNKNOWN_CARDINALITY
    finite = [length for length in lengths if length >= 0]
    return min(finite) if finite else INFINITE_CARDINALITY


def of_repeated(length: int, count: int | None) -> int:
    """Return the length of a repeated dataset; a `count` of None repeats endlessly."""
    # Before the test for endless: an empty dataset stays empty however often it is repeated.
    if count == 0 or length == 0:
        return 0
    if count is None:
        return INFINITE_CARDINALITY
    return length if length < 0 else length * count
