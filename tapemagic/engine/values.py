"""The values that tensors hold: how they are taken in, and how they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike


def own(value: Any, dtype: DTypeLike | None = None) -> Any:
    """A private copy of anything that NumPy can make an array of; one number becomes a NumPy scalar.

    Raises
    ------
    TypeError
        If the value is not made of numbers.
    """
    array = np.array(getattr(value, "_value", value), dtype=dtype)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"a tensor holds numbers, not {array.dtype} such as {value!r}")
    return array if array.ndim else array[()]


def value_text(value: Any, indent: int = 0) -> str:
    """A value as a repr shows it: eight significant digits, and the dtype where it is an unusual one."""
    if value.ndim:
        text = np.array2string(value, separator=", ", prefix=" " * indent)
    elif value.dtype.kind == "f":
        text = f"{value:.8g}"
        text += ".0" if text.lstrip("-").isdigit() else ""
    else:
        text = str(value)
    usual = value.dtype in (np.float64, np.int64, np.bool_, np.complex128)
    return text if usual else f"{text}, dtype={value.dtype}"
