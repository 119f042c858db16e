"""Logits of probabilities: losses compute from what went into a softmax or sigmoid, where rounding loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import ref

from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap

_kept: dict[int, tuple[ref[Any], int, str, Any, Any]] = {}
"""By the address of an array of probabilities: itself, the id of its tensor, the activation, its axis, the logits."""


def keeping_logits(activation: Callable[..., Any]) -> Callable[..., Any]:
    """Make an activation remember what each of its results was computed from, as long as that result lives."""
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
    key = id(array)
    _kept[key] = (ref(array, lambda _: _kept.pop(key, None)), *entry)


def logits_of(probabilities: Any, kind: str, axis: int = -1) -> Any:
    """The logits that probabilities were computed from by a softmax along an axis, or a sigmoid; None if unknown.

    They are known of the very tensor that the activation gave, not of one that was computed from it.

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
    """A single axis, counted from the first; None for several."""
    alone = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    return alone % ndim if isinstance(alone, int) else None
