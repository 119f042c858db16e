"""Conversion of values to the arrays that tensors hold, checks of them, and their text in a repr."""

from __future__ import annotations

from abc import ABC
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.laziness import is_lazy, kept, refuse_lazy_parts
from tapemagic.engine.registry import Operation
from tapemagic.engine.tensor.messages import not_numbers_error, ragged_error, shown
from tapemagic.errors import (
    DtypeError,
    NotNumbersError,
    OptionError,
    TapeError,
    UnsupportedArgumentError,
)

NUMBERS = "biufc"
"""The kinds of dtypes that a tensor can have."""

PLAIN_ARRAYS = frozenset({np.ndarray, np.memmap})
"""The types of arrays whose arithmetic is that of np.ndarray."""

_FLOAT = np.dtype(float)

BOOL_LIKE = (int, float, np.bool_, np.number, type(None))
"""The types that an option takes for True or False."""


class PandasData(ABC):  # noqa: B024 (for isinstance alone)
    """The data types of pandas, for ``isinstance``: Series, DataFrame, Index and its kinds of arrays.

    They have in common the attribute by which pandas decides whose operator computes a result, as tensors have, and
    a method ``to_numpy``.
    """

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        return hasattr(other, "__pandas_priority__") and hasattr(other, "to_numpy")


def private_array(value: Any, dtype: DTypeLike | None = None) -> Any:
    """A copy of an array_like as an array of numbers, or as a NumPy scalar if it is a single number.

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
    array: Any
    if is_lazy(given):
        return kept(given, wanted)
    if isinstance(given, (list, tuple)):
        refuse_lazy_parts(given)
    try:
        cut = kind != "c" and np.iscomplexobj(given)
        as_it_is = whole or cut or dtype is None
        if given.__class__ is not np.ndarray and not isinstance(given, np.generic):
            array = np.array(given, dtype=None if as_it_is else dtype)
        elif as_it_is or given.dtype == dtype:
            array = given.copy("K") if given.ndim else given
        else:
            array = given.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        raise _conversion_error(value, dtype) from None
    if value is None or cut or array.dtype.kind not in NUMBERS:
        raise _conversion_error(value, dtype)
    if wanted is not None and whole:
        array = cast_exactly(array, wanted)
    return array if array.ndim else array[()]


def cast_exactly(value: Any, dtype: DTypeLike) -> Any:
    """An array of numbers cast to another dtype; to an integer dtype only if no value changes.

    Raises
    ------
    DtypeError
        If it does not fit.
    """
    dtype = of_numbers(dtype)
    if is_lazy(value):
        return kept(value, dtype)
    if value.dtype.kind == "c" != dtype.kind:
        raise _conversion_error(value, dtype)
    if dtype.kind not in "iu":
        return value.astype(dtype)
    with np.errstate(invalid="ignore"):
        cast = value.astype(dtype)
    lost = np.not_equal(cast, value)
    if np.any(lost):
        raise _cast_error(value[lost].ravel()[0], np.iinfo(dtype))
    return cast


def _cast_error(number: Any, limits: Any) -> DtypeError:
    """The error for a number that a cast to an integer dtype would change."""
    how = f"that holds whole numbers from {limits.min} to {limits.max}"
    if np.isfinite(number) and number % 1:
        how = "round it first, with np.round"
    return DtypeError(f"{number} does not fit into {limits.dtype}: {how}; or take another dtype")


OPERANDS = (np.ndarray, np.generic, float, int, bool, complex, list, tuple, PandasData)
"""The types of operands that an operation on tensors converts to arrays; others may define it themselves."""


def is_plain_operand(x: Any) -> bool:
    """Whether something that is no tensor may stand beside one."""
    if isinstance(x, OPERANDS) or is_lazy(x):
        return True
    if isinstance(x, Number):
        raise NotNumbersError(
            f"a tensor computes with floating-point numbers, not with {shown(x)} of type {type(x).__name__}: write "
            "float(...) around it"
        )
    return False


def require_plain(kind: type) -> None:
    """Raise an error for a subclass of np.ndarray with an arithmetic of its own."""
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


def _conversion_error(value: Any, dtype: DTypeLike | None) -> Exception:
    """The error for a value that cannot become a tensor."""
    try:
        array = np.array(value)
    except ValueError:
        return ragged_error(value)
    if array.dtype.kind in NUMBERS:
        return DtypeError(
            f"{shown(value)} does not fit into the dtype {np.dtype(dtype)}: leave the dtype out, or convert the "
            "value first"
        )
    return NotNumbersError(
        f"a tensor holds numbers, not {array.dtype} such as {shown(value)}: give numbers, nested lists of them, or "
        "an array, with .astype(float) if need be"
    )


def require_numbers(operation: Operation, values: list[Any], error: Exception) -> None:
    """Raise an error for objects or text among the inputs of an operation that failed with `error`."""
    odd = [x for x in values if getattr(x, "dtype", _FLOAT).kind not in NUMBERS]
    if odd and not isinstance(error, TapeError):
        raise not_numbers_error(f"{operation.name} was given", odd[0]) from None


def of_numbers(dtype: DTypeLike) -> np.dtype[Any]:
    """The dtype that a tensor gets, as NumPy's dtype object."""
    try:
        found = (
            None if hasattr(dtype, "__array__") and not isinstance(dtype, type) else np.dtype(dtype)
        )
    except (TypeError, ValueError, RecursionError):
        found = None
    if found is None or found.kind not in NUMBERS:
        raise DtypeError(
            f"a tensor cannot have the dtype {shown(dtype)}: write one of numbers, such as dtype='float64'"
        )
    return found


def bool_option(value: Any, name: str) -> bool:
    """The value of an option that is on or off, as a bool."""
    if isinstance(value, BOOL_LIKE):
        return bool(value)
    raise OptionError(
        f"{name} is True or False, not {shown(value)}: write {name}=True, and other options by name"
    )


def is_true(value: Any) -> bool:
    """Whether a value is True, as a bool, a NumPy scalar or an array without axes."""
    if isinstance(value, (np.bool_, np.ndarray)):
        return value.dtype.kind == "b" and not value.ndim and bool(value)
    return value is True


def value_text(value: Any, indent: int = 0) -> str:
    """The text of an array in a repr: eight significant digits, and the dtype if it is not a default one."""
    if is_lazy(value):
        return repr(value)
    if value.ndim:
        text = np.array2string(value, separator=", ", prefix=" " * indent)
    elif value.dtype.kind == "f":
        text = f"{value:.8g}"
        text += ".0" if text.lstrip("-").isdigit() else ""
    else:
        text = str(value)
    usual = value.dtype in (np.float64, np.int64, np.bool_, np.complex128)
    return text if usual else f"{text}, dtype={value.dtype}"
