"""Initial gradients of the reverse sweep: the gradient of each target with respect to itself."""

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
"""The tracking start of a result of stop_gradient: not tracked until it is watched."""


def mark_stopped(
    records: Iterable[Any], tracked: dict[int, int], rewatched: Mapping[int, int]
) -> None:
    """Turn results that depend on watched values only through stop_gradient into constants.

    Their time in `tracked` becomes `NEVER`, or the time at which they were watched themselves, according to
    `rewatched`.
    """
    # A result is connected if an input was tracked when the operation was recorded: by its id, that
    # is a comparison of times.
    since = tracked.get
    for _, _, ids, _, _, output_id in records:
        outputs = output_id if output_id.__class__ is tuple else (output_id,)
        if not any(since(i, NEVER) <= outputs[0] for i in ids):
            for out in outputs:
                if since(out) == out:
                    tracked[out] = rewatched.get(out, NEVER)


def key_of(x: Traced) -> int:
    """Return the key of a tensor in a reverse sweep: its id, or ``-id(x)`` for a tensor without id."""
    i = x._id
    return i if i > 0 else -id(x)


def identify(x: Traced) -> int:
    """Return the id of a tensor, assigning a new id if necessary."""
    if x._id <= 0:
        x._id = new_id()  # type: ignore[misc] # a Variable has its id from the start
    return x._id


def seeds(
    targets: Sequence[Traced], cotangents: list[Tensor] | None, nested: bool
) -> dict[int, Any]:
    """Return the initial gradients of a sweep, by the id of the target: `cotangents`, or ones by default.

    Complex gradients are conjugated, as the sweep requires. They are tensors if `nested`, else arrays.
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
    """Return an array of ones that takes the memory of a single element."""
    one = value.dtype.type(1)
    if not value.ndim:
        return one
    if is_lazy(value):
        return gates[0].filled(one, value.shape)
    # All strides are 0: each element is the same memory. NumPy only reads it, and the sweep never
    # adds into it.
    return np.ndarray(value.shape, value.dtype, one, 0, (0,) * value.ndim)


def matched_cotangents(
    output_gradients: Any, structure: Any, targets: Sequence[Traced]
) -> list[Tensor]:
    """Convert output_gradients to a cotangent per target, in the target's shape and dtype.

    Raises NotATensorError if an entry is None or not numeric. Raises ShapeError if the number of entries is wrong, or
    an entry doesn't match its target.
    """
    entries = matched(output_gradients, structure, targets)
    return [_cotangent(g, target) for g, target in zip(entries, targets, strict=True)]


def _cotangent(g: Any, target: Traced) -> Any:
    """Convert an entry of output_gradients to its target's shape and dtype."""
    if g is None:
        raise NotATensorError(
            "an entry of output_gradients is None: write ones for the plain gradient of that target, "
            "zeros to drop it"
        )
    try:
        g = plain(g) if isinstance(g, Traced) else wrap(private_array(g))
    except (TypeError, ValueError):
        raise NotATensorError(f"output_gradients must contain numbers, not {describe(g)}") from None
    if g.shape not in ((), target.shape):
        raise ShapeError(
            f"output_gradients has shape {g.shape} for a target of shape {target.shape}: "
            "the shapes must be equal"
        )
    if g.dtype.kind == "c" and target.dtype.kind != "c":
        raise ShapeError(
            f"output_gradients is {g.dtype} for a target that is {target.dtype}: pass real weights"
        )
    if g.dtype != target.dtype:
        g = g.astype(target.dtype)
    return broadcast(g, target._value.shape)
