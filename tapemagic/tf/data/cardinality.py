"""Cardinality: the number of elements of a dataset, where it is known."""

from __future__ import annotations

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def of_groups(length: int, size: int, drop_remainder: bool) -> int:
    """The number of groups of a size."""
    if length < 0:
        return length
    return length // size if drop_remainder else -(-length // size)


def of_shortest(lengths: list[int]) -> int:
    """The length of what ends with the first of several."""
    if UNKNOWN_CARDINALITY in lengths:
        return UNKNOWN_CARDINALITY
    known = [length for length in lengths if length >= 0]
    return min(known) if known else INFINITE_CARDINALITY


def of_repeated(length: int, count: int | None) -> int:
    """The length of what is repeated a number of times, or without end."""
    if count == 0 or length == 0:
        return 0
    if count is None:
        return INFINITE_CARDINALITY
    return length if length < 0 else length * count
