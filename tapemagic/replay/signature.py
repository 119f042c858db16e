"""Signatures of calls: what a program takes for granted of the arguments that it is given."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable


def signature(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Hashable, list[Any]]:
    """The key of a call, and the leaves of its arguments."""
    found = leaves((args, kwargs))
    places: dict[int, int] = {}
    structure = repr(pack((args, kwargs), ["."] * len(found)))
    return (structure, *(leaf_key(x, places, k) for k, x in enumerate(found))), found


def leaf_key(x: Any, places: dict[int, int], place: int) -> Hashable:
    """What a program takes for granted of one leaf of the arguments."""
    if isinstance(x, Variable):
        return type(x), x.shape, x.dtype, x.trainable, places.setdefault(id(x), place)
    if isinstance(x, Traced | np.ndarray | np.generic):
        value = x._read()._value if isinstance(x, Traced) else x
        return type(x), value.shape, value.dtype, isinstance(value, np.ndarray)
    try:
        hash(x)
    except TypeError:
        return type(x), id(x)
    return type(x), repr(x) if isinstance(x, float | complex) else x
