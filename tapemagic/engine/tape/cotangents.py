"""Initial gradients of the reverse sweep: that of each target with respect to itself."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.laziness import gates, is_lazy
from tapemagic.engine.nest import matched
from tapemagic.engine.recording import new_id
from tapemagic.engine.tensor.coercion import private_array
from tapemagic.engine.tensor.messages import describe
from tapemagic.engine.tensor.tensor import Tensor, Traced, broadcast, plain, wrap
from tapemagic.errors import NotATensorError, ShapeError

NEVER = sys.maxsize
"""The time from which a tape tracks a result of stop_gradient: none, until it is watched."""


def mark_stopped(
    records: Iterable[Any], tracked: dict[int, int], rewatched: Mapping[int, int]
) -> None:
    """Make constants of the results that depend on watched values through stop_gradient alone.

    In `tracked` they get `NEVER`, or the time at which they were watched themselves, according to `rewatched`.
    """
    since = tracked.get
    for _, _, ids, _, _, output_id in records:
        outputs = output_id if output_id.__class__ is tuple else (output_id,)
        if not any(since(i, NEVER) <= outputs[0] for i in ids):
            for out in outputs:
                if since(out) == out:
                    tracked[out] = rewatched.get(out, NEVER)


def key_of(x: Traced) -> int:
    """Key of a tensor in one reverse sweep: its id, or ``-id(x)`` if it has none."""
    i = x._id
    return i if i > 0 else -id(x)


def identify(x: Traced) -> int:
    """The id of a tensor, given now if it has none yet."""
    if x._id <= 0:
        x._id = new_id()  # type: ignore[misc] # a Variable has its id from the start
    return x._id


def seeds(
    targets: Sequence[Traced], cotangents: list[Tensor] | None, nested: bool
) -> dict[int, Any]:
    """The gradients from which a sweep begins, by the id of the target: ones where nothing is given.

    Complex ones are conjugated, as the sweep wants them. They are tensors if `nested`, else bare arrays.
    """
    grads: dict[int, Any] = {}
    for position, target in enumerate(targets):
        value = target._value
        kind = value.dtype.kind
        if kind not in "fc":
            continue
        if cotangents is not None:
            seed = cotangents[position] if nested else cotangents[position]._value
            if kind == "c":
                seed = np.conjugate(seed)
        else:
            seed = wrap(ones(value)) if nested else ones(value)
        i = target._id
        if i <= 0:
            i = key_of(target)
        grads[i] = grads[i] + seed if i in grads else seed
    return grads


def ones(value: Any) -> Any:
    """A one for every element, without the memory."""
    one = value.dtype.type(1)
    if not value.ndim:
        return one
    if is_lazy(value):
        return gates[0].filled(one, value.shape)
    return np.ndarray(value.shape, value.dtype, one, 0, (0,) * value.ndim)


def matched_cotangents(
    output_gradients: Any, structure: Any, targets: Sequence[Traced]
) -> list[Tensor]:
    """One cotangent for each target, in its shape and dtype.

    Raises
    ------
    NotATensorError
        If one of them is None, or not made of numbers.
    ShapeError
        If there are too many or too few, or if one does not match its target.
    """
    given = matched(output_gradients, structure, targets)
    return [_cotangent(g, target) for g, target in zip(given, targets, strict=True)]


def _cotangent(g: Any, target: Traced) -> Any:
    """One entry of output_gradients, in its target's shape and dtype."""
    if g is None:
        raise NotATensorError(
            "an entry of output_gradients is None: write ones for the plain gradient of that target, "
            "zeros to drop it"
        )
    try:
        g = plain(g) if isinstance(g, Traced) else wrap(private_array(g))
    except (TypeError, ValueError):
        raise NotATensorError(f"output_gradients has to hold numbers, not {describe(g)}") from None
    if g.shape not in ((), target.shape):
        raise ShapeError(
            f"output_gradients has shape {g.shape} for a target of shape {target.shape}: "
            "they have to be the same"
        )
    if g.dtype.kind == "c" and target.dtype.kind != "c":
        raise ShapeError(
            f"output_gradients is {g.dtype} for a target that is {target.dtype}: give real weights"
        )
    if g.dtype != target.dtype:
        g = g.astype(target.dtype)
    return broadcast(g, target._value.shape)
