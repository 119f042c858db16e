"""The values that tensors hold: how they are taken in, and how they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.errors import DtypeError, NotNumbersError, OptionError

NUMBERS = "biufc"
"""The kinds of dtypes that a tensor can have."""

FLAGS = (int, float, np.bool_, np.number, type(None))
"""What may be given for True or False."""


def own(value: Any, dtype: DTypeLike | None = None) -> Any:
    """A private copy of anything that NumPy can make an array of; one number becomes a NumPy scalar.

    Raises
    ------
    DtypeError
        If the dtype is unknown, or none of numbers, or the value does not fit into it.
    NotNumbersError
        If the value is not made of numbers, or of lists of different lengths.
    """
    try:
        array = np.array(getattr(value, "_value", value), dtype=dtype)
    except (TypeError, ValueError):
        raise _refusal(value, dtype) from None
    if value is None or array.dtype.kind not in NUMBERS:
        raise _refusal(value, dtype)
    return array if array.ndim else array[()]


def _refusal(value: Any, dtype: DTypeLike | None) -> Exception:
    """What is wrong with something of which no tensor can be made."""
    if dtype is not None and not _is_of_numbers(dtype):
        return DtypeError(
            f"a tensor cannot have the dtype {dtype!r}: write one of numbers, such as dtype='float64'"
        )
    try:
        array = np.array(value)
    except ValueError:
        return ragged(value)
    if array.dtype.kind in NUMBERS:
        return DtypeError(
            f"{shown(value)} does not fit into the dtype {np.dtype(dtype)}: leave the dtype out, or convert the "
            "value first"
        )
    return NotNumbersError(
        f"a tensor holds numbers, not {array.dtype} such as {shown(value)}: give numbers, nested lists of them, or "
        "an array, with .astype(float) if need be"
    )


def _is_of_numbers(dtype: DTypeLike) -> bool:
    try:
        return np.dtype(dtype).kind in NUMBERS
    except TypeError:
        return False


def ragged(value: Any) -> NotNumbersError:
    """The error for nested lists that make no array."""
    return NotNumbersError(
        f"{shown(value)} is no array, since its rows differ in length or depth: pad them to one length, or make "
        "a tensor of each"
    )


def flag(value: Any, name: str) -> bool:
    """An option that is on or off.

    Raises
    ------
    OptionError
        If it is neither a truth value nor a number.
    """
    if isinstance(value, FLAGS):
        return bool(value)
    raise OptionError(
        f"{name} is True or False, not {shown(value)}: write {name}=True, and other options by name"
    )


def shown(value: Any) -> str:
    """A value as an error message shows it: on one line, and not all of a long one."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else text[:37] + "..."


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
