"""The values that tensors hold: how they are taken in, and how they are written."""

from __future__ import annotations

from abc import ABC
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.errors import DtypeError, NotNumbersError, OptionError, UnsupportedArgumentError

NUMBERS = "biufc"
"""The kinds of dtypes that a tensor can have."""

PLAIN_ARRAYS = frozenset({np.ndarray, np.memmap})
"""The kinds of arrays that compute as arrays do."""

FLAGS = (int, float, np.bool_, np.number, type(None))
"""What may be given for True or False."""


class PandasData(ABC):  # noqa: B024 (it only stands in isinstance)
    """Stands in ``isinstance`` for what pandas holds data in: Series, DataFrame, Index and its own kinds of arrays.

    They have in common the attribute by which pandas decides whose operator computes a result, as tensors have, and
    a method ``to_numpy``.
    """

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        return hasattr(other, "__pandas_priority__") and hasattr(other, "to_numpy")


def own(value: Any, dtype: DTypeLike | None = None) -> Any:
    """A private copy of anything that NumPy can make an array of; one number becomes a NumPy scalar.

    Raises
    ------
    DtypeError
        If the dtype is unknown, or none of numbers, or the value does not fit into it.
    NotNumbersError
        If the value is not made of numbers, or of lists of different lengths.
    UnsupportedArgumentError
        If the value is a matrix, a masked array, or another kind of array with an arithmetic of its own.
    """
    require_plain(type(value))
    given = getattr(value, "_value", value)
    wanted = None if dtype is None else of_numbers(dtype)
    kind = "c" if wanted is None else wanted.kind
    whole = kind in "iu"
    try:
        cut = kind != "c" and np.iscomplexobj(given)
        array = np.array(given, dtype=None if whole or cut else dtype)
    except (TypeError, ValueError, OverflowError):
        raise _refusal(value, dtype) from None
    if value is None or cut or array.dtype.kind not in NUMBERS:
        raise _refusal(value, dtype)
    if wanted is not None and whole:
        array = fitting(array, wanted)
    return array if array.ndim else array[()]


def fitting(value: Any, dtype: DTypeLike) -> Any:
    """An array of numbers in another dtype; as whole numbers only if it holds such, and they are not too large.

    Raises
    ------
    DtypeError
        If it does not fit.
    """
    dtype = of_numbers(dtype)
    if value.dtype.kind == "c" != dtype.kind:
        raise _refusal(value, dtype)
    if dtype.kind not in "iu":
        return value.astype(dtype)
    with np.errstate(invalid="ignore"):
        cast = value.astype(dtype)
    lost = np.not_equal(cast, value)
    if np.any(lost):
        raise _too_fine_or_large(value[lost].ravel()[0], np.iinfo(dtype))
    return cast


def _too_fine_or_large(number: Any, limits: Any) -> DtypeError:
    """The error for a number that would be cut off, or wrap around."""
    how = f"that holds whole numbers from {limits.min} to {limits.max}"
    if np.isfinite(number) and number % 1:
        how = "round it first, with np.round"
    return DtypeError(f"{number} does not fit into {limits.dtype}: {how}; or take another dtype")


OPERANDS = (np.ndarray, np.generic, float, int, bool, complex, list, tuple, PandasData)
"""The types that may stand beside a tensor in an operation; other types may define it themselves."""


def is_plain_operand(x: Any) -> bool:
    """Whether something that is no tensor may stand beside one.

    Raises
    ------
    NotNumbersError
        If it is a number for which NumPy has no dtype, such as a fraction.
    """
    if isinstance(x, OPERANDS):
        return True
    if isinstance(x, Number):
        raise NotNumbersError(
            f"a tensor computes with floating-point numbers, not with {shown(x)} of type {type(x).__name__}: write "
            "float(...) around it"
        )
    return False


def require_plain(kind: type) -> None:
    """Refuse a kind of array with an arithmetic of its own, which no derivative here knows.

    Raises
    ------
    UnsupportedArgumentError
        If `kind` is derived from NumPy's array, and is not known to be as harmless.
    """
    if not issubclass(kind, np.ndarray) or kind in PLAIN_ARRAYS:
        return
    if issubclass(kind, np.matrix):
        what, advice = "np.matrix", "write np.asarray(m), and @ for products"
    elif issubclass(kind, np.ma.MaskedArray):
        what = "masked arrays"
        advice = "fill the gaps first, with ma.filled(0.0), and multiply by a mask of your own"
    else:
        what, advice = f"arrays of the kind {kind.__name__}", "write np.asarray(x)"
    raise UnsupportedArgumentError(
        f"a tensor does not compute with {what}, whose arithmetic is not that of arrays: {advice}"
    )


def _refusal(value: Any, dtype: DTypeLike | None) -> Exception:
    """What is wrong with something of which no tensor can be made."""
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


def of_numbers(dtype: DTypeLike) -> np.dtype[Any]:
    """A dtype that a tensor can have.

    Raises
    ------
    DtypeError
        If it is unknown, or none of numbers, or something that has a dtype rather than being one.
    """
    try:
        found = None if isinstance(getattr(dtype, "dtype", None), np.dtype) else np.dtype(dtype)
    except (TypeError, ValueError, RecursionError):
        found = None
    if found is None or found.kind not in NUMBERS:
        raise DtypeError(
            f"a tensor cannot have the dtype {shown(dtype)}: write one of numbers, such as dtype='float64'"
        )
    return found


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


def is_true(value: Any) -> bool:
    """Whether a value is a single True, of Python or of NumPy."""
    if isinstance(value, (np.bool_, np.ndarray)):
        return value.dtype.kind == "b" and not value.ndim and bool(value)
    return value is True


def shown(value: Any) -> str:
    """A value as an error message shows it: on one line, and not all of a long one."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 (that of the user's type may raise anything)
        text = f"<{type(value).__name__}>"
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
