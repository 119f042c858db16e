"""Regularizers: functions of a variable that add a penalty to the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapemagic.nn.identifiers import find

_TABLE: dict[str, Any] = {}


def get(identifier: Any) -> Callable[[Any], Any]:
    """The regularizer for a name, a class, an object or a function.

    Raises
    ------
    OptionError
        If there is none of that name.
    """
    found: Callable[[Any], Any] = find(identifier, _TABLE, "a regularizer")
    return found
