"""Calls of the functions that users give to datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.recording import silence
from tapemagic.errors import OptionError
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.data.elements import arrays_of, each


def handed_out(array: Any) -> Any:
    """A copy of an array as a tensor, which its owner may keep."""
    return eager(np.array(array))


def result_of(function: Callable[..., Any], element: Any) -> Any:
    """The result of a user's function of an element, without any tape."""
    given = each(handed_out, element)
    with silence():
        return function(*given) if isinstance(given, tuple) else function(given)


def called(function: Callable[..., Any], element: Any) -> Any:
    """The same as arrays; it must not be None."""
    result = result_of(function, element)
    if result is None:
        name = getattr(function, "__name__", "the function")
        raise OptionError(f"{name} returned None for an element: it has to return the new one")
    return arrays_of(result)
