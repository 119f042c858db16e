"""Derivative rules that need the numbers of lazy values: they run chunk by chunk, or are rejected by name."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import Any

from tapemagic.engine.events import source_line
from tapemagic.engine.laziness import gates
from tapemagic.engine.registry import Operation
from tapemagic.engine.tensor.dispatch import REFUSALS
from tapemagic.engine.tensor.messages import public_name
from tapemagic.engine.tensor.tensor import Tensor, unwrap


def in_chunks(
    error: Exception,
    operation: Operation,
    positions: Sequence[int],
    arguments: tuple[Any, ...],
    params: dict[str, Any] | None,
) -> list[Any]:
    """Return gradients that a rule computes chunk by chunk, after it was rejected on whole lazy values.

    - `error`: The error that the rule raised.
    - `positions`: The inputs whose gradients are needed.
    - `arguments`: The gradient, the result and the inputs, as for the rule; tensors if other tapes record it.

    Raises NotComputedError or UnsupportedArgumentError if the rule can't run chunk by chunk either. The message names
    the operation and its line.
    """
    keywords = params or {}
    if not gates or not gates[0].reads(unwrap((arguments, keywords))):
        raise error
    try:
        return [gates[0].gradient(operation, k, arguments, keywords) for k in positions]
    except REFUSALS as refusal:
        where = _where(arguments[1])
        why = str(refusal)
        if refusal.wanted_by:
            why = why.replace(refusal.wanted_by, "its rule", 1)
        text = f"the gradient of {public_name(operation.function)}{where} cannot be computed in chunks: {why}"
        raise type(refusal)(text) from None


def _where(output: Any) -> str:
    """Return the line of the program that recorded a result, for a message."""
    first = output[0] if isinstance(output, tuple) else output
    place = getattr(first._value if isinstance(first, Tensor) else first, "place", None)
    if place is None:
        return ""
    line = shorten(source_line(place), 60, placeholder="…")
    return f", recorded on line {place.line}" + (f" ({line})," if line else ",")
