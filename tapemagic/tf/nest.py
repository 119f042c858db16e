"""``tf.nest``: nested lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapemagic.engine import nest
from tapemagic.engine.nest import ordered, parts_of
from tapemagic.errors import OptionError
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.shape import TensorShape

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def is_leaf(structure: Any) -> bool:
    """Return True for anything but a list, tuple or dict; a TensorShape is a leaf as well."""
    # A TensorShape is a tuple in Python, but one value in TensorFlow's structures.
    return isinstance(structure, TensorShape) or nest.is_leaf(structure)


def leaves(structure: Any) -> list[Any]:
    """List the leaves of a structure."""
    return nest.leaves(structure, is_leaf=is_leaf)


def is_nested(structure: Any) -> bool:
    """Return True for a list, tuple or dict."""
    return not is_leaf(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """List the leaves of a structure; dict keys are sorted.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.nest.flatten({"b": [1, 2], "a": 3})
    [3, 1, 2]
    """
    return leaves(structure)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Rebuild a structure with other leaves."""
    count = len(leaves(structure))
    if len(flat_sequence) != count:
        raise OptionError(
            f"the structure has {count} leaves, not {len(flat_sequence)}: pass one value for each"
        )
    return nest.pack(structure, flat_sequence, is_leaf)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise an error unless two structures differ only in their leaves."""
    if is_leaf(nest1) != is_leaf(nest2):
        raise OptionError(f"the structures differ: {nest1!r} and {nest2!r}")
    if is_leaf(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(
            f"the structures differ in type: {type(nest1).__name__} and {type(nest2).__name__}"
        )
    # Sorted by key, as in TensorFlow: two dicts with the same keys match in any order.
    if isinstance(nest1, Mapping) and ordered(nest1) != ordered(nest2):
        raise OptionError(f"the structures differ in keys: {ordered(nest1)} and {ordered(nest2)}")
    first, second = parts_of(nest1), parts_of(nest2)
    if len(first) != len(second):
        raise OptionError(f"the structures differ in length: {len(first)} and {len(second)}")
    for a, b in zip(first, second, strict=True):
        assert_same_structure(a, b, check_types)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Apply a function to the leaves of a structure, or to corresponding leaves of several.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.nest.map_structure(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    if not structure:
        raise OptionError("map_structure takes one structure or more")
    for candidate in structure[1:]:
        assert_same_structure(structure[0], candidate, kwargs.get("check_types", True))
    return nest.pack(structure[0], list(map(func, *map(leaves, structure))), is_leaf)


__getattr__ = missing(__name__, __all__)
