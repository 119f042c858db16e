"""Convert notebook values to tensors that a tape can watch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from IPython.core.error import UsageError

from tapemagic.engine.nest import leaves
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.explain.lazy_values import is_lazy_array


def is_number(value: Any) -> bool:
    """Return True for a tensor, a number or an array of numbers."""
    if isinstance(value, Traced):
        return True
    if is_lazy_array(value):
        # Dask marks lengths that it does not know with nan.
        return value.dtype.kind in "biufc" and all(n == n for n in value.shape)  # noqa: PLR0124 -- an unknown one is nan
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, int | float | complex | np.number | np.bool_)


def maker(namespace: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return the function that makes tensors of a notebook's numbers: that of `tapemagic.tf` if imported."""
    # Only if the notebook itself has the module under some name: another library may have imported it.
    tensorflow = sys.modules.get("tapemagic.tf")
    if tensorflow is None or not any(value is tensorflow for value in list(namespace.values())):
        return constant
    return lambda value: (constant if isinstance(value, np.ndarray) else tensorflow.constant)(value)


def watchable(name: str, value: Any, make: Callable[[Any], Any] = constant) -> Any:
    """Return the tensor to watch instead of a value.

    Raises UsageError if it does not consist of numbers.
    """
    if isinstance(value, Traced):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(x, Traced) for x in leaves(value)):
        raise UsageError(
            f"%%tape cannot watch {name!r} as one, because there are tensors in this {type(value).__name__}: "
            f"name each of them, as in w, b = {name} and %%tape w b"
        )
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
        raise UsageError(
            f"%%tape cannot watch {name!r}, which is a {type(value).__name__}: it would become a Tensor, for which * "
            f"works entry by entry, and nothing is masked. If that is meant, write {name} = np.array({name})"
        )
    try:
        return make(value)
    except (TypeError, ValueError):
        raise UsageError(
            f"%%tape cannot watch {name!r}, which is {_kind_of(value)}: a watched variable is a real number, an "
            f"array of numbers or a Tensor, such as {name} = 3.0"
        ) from None


def _kind_of(value: Any) -> str:
    """Describe the type or dtype of a value that cannot be watched."""
    if isinstance(value, np.ndarray):
        return f"an array of dtype {value.dtype}"
    if isinstance(value, int):
        return "a whole number too large for int64, of dtype object in NumPy"
    return f"a {type(value).__name__}"


def is_watchable(value: Any) -> bool:
    """Return True if a tape can watch a value."""
    try:
        watchable("", value)
    except UsageError:
        return False
    return True
