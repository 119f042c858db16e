"""Activations: functions of a tensor, element by element or along the last axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapemagic.engine.operations.activations import relu
from tapemagic.engine.operations.exponentials import softmax
from tapemagic.nn.identifiers import find


def linear(x: Any) -> Any:
    """The input itself."""
    return x


_TABLE: dict[str, Any] = {"linear": linear, "relu": relu, "softmax": softmax}


def get(identifier: Any) -> Callable[[Any], Any]:
    """The activation for a name or a function; `linear` for None.

    Raises
    ------
    OptionError
        If there is none of that name.
    """
    if identifier is None:
        return linear
    found: Callable[[Any], Any] = find(identifier, _TABLE, "an activation")
    return found
