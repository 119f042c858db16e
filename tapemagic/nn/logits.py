"""Logits of probabilities: a loss computes from the input of a softmax or sigmoid, which isn't rounded to 0 or 1."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import ref

from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap

_kept: dict[int, tuple[ref[Any], int, str, Any, Any]] = {}
"""For the id of an array of probabilities: a weak reference to it, its tensor's id, the activation, axis and logits."""


def keeping_logits(activation: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate an activation so that it remembers the logits of each result while the result exists."""
    kind = activation.__name__

    @wraps(activation)
    def kept(x: Any, *args: Any, **kwargs: Any) -> Any:
        result = activation(x, *args, **kwargs)
        if isinstance(x, Traced) and isinstance(result, Traced):
            array = unwrap(result)
            if array.ndim:
                _keep(array, (id_of(result), kind, args[0] if args else kwargs.get("axis", -1), x))
        return result

    return kept


def _keep(array: Any, entry: tuple[int, str, Any, Any]) -> None:
    # Arrays can't be keys of a WeakKeyDictionary (they aren't hashable), so the key is the id. The weak reference's
    # callback removes the entry before CPython can give the id to another array.
    key = id(array)
    _kept[key] = (ref(array, lambda _: _kept.pop(key, None)), *entry)


def logits_of(probabilities: Any, kind: str, axis: int = -1) -> Any:
    """Return the logits from which a softmax or sigmoid computed probabilities, or None if unknown.

    Only the tensor that the activation returned has known logits, not a tensor computed from it.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> shares = nn.activations.softmax(tm.constant([1.0, 2.0]))
    >>> logits_of(shares, "softmax")
    Tensor([1., 2.])
    >>> logits_of(shares * 1, "softmax") is None
    True
    """
    array = unwrap(probabilities)
    entry = _kept.get(id(array))
    if entry is None:
        return None
    weak, number, activation, along, logits = entry
    is_match = weak() is array and number == id_of(probabilities) and activation == kind
    if not is_match or (kind == "softmax" and _place(along, array.ndim) != axis % array.ndim):
        return None
    return logits


def _place(axis: Any, ndim: int) -> Any:
    """Return a single axis as a non-negative number, or None for several axes."""
    single = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    return single % ndim if isinstance(single, int) else None
