"""Call the functions that users pass to datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.recording import silence
from tapemagic.errors import OptionError
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.data.elements import arrays_of, each


def handed_out(array: Any) -> Any:
    """Return a copy of an array as a tensor, safe to keep, and a window, which is a dataset, unchanged."""
    if not isinstance(array, np.ndarray | np.generic):
        return array
    # np.array copies, np.asarray would not: elements are views of arrays in the program or in a cache.
    return eager(np.array(array))


def result_of(function: Callable[..., Any], element: Any) -> Any:
    """Call a user function with an element, hidden from all tapes."""
    arguments = each(handed_out, element)
    with silence():
        # TensorFlow unpacks tuples, as in map(lambda x, y: ...), and passes dicts and single tensors as they come.
        return function(*arguments) if isinstance(arguments, tuple) else function(arguments)


def called(function: Callable[..., Any], element: Any) -> Any:
    """Call a user function and convert its result to arrays; None is an error."""
    result = result_of(function, element)
    if result is None:
        name = getattr(function, "__name__", "the function")
        raise OptionError(f"{name} returned None for an element: return the new element")
    return arrays_of(result)
