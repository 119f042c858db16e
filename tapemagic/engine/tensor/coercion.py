"""Conversion of values to the arrays inside tensors, checks of such values, and their text in a repr."""

from __future__ import annotations

from abc import ABC
from numbers import Number, Rational
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.laziness import as_lazy, is_lazy, refuse_lazy_parts
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
"""The types of arrays with the arithmetic of np.ndarray."""

_FLOAT = np.dtype(float)

BOOL_LIKE = (int, float, np.bool_, np.number, type(None))
"""The types that an option accepts as True or False."""


class PandasData(ABC):  # noqa: B024 (only for isinstance)
    """Abstract base class of pandas data, for ``isinstance``: Series, DataFrame, Index and extension arrays.

    pandas isn't imported to recognize them. They share ``__pandas_priority__``, which decides whose operator computes a
    result and which tensors have as well, and a method ``to_numpy``.
    """

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        return hasattr(other, "__pandas_priority__") and hasattr(other, "to_numpy")


def private_array(value: Any, dtype: DTypeLike | None = None) -> Any:
    """Copy an array_like to an array of numbers, or to a NumPy scalar if it is a single number.

    Raises DtypeError if `dtype` is unknown or not numeric, or `value` doesn't fit into it. Raises NotNumbersError if
    `value` contains something other than numbers, or lists of different lengths. Raises UnsupportedArgumentError if
    `value` is a matrix, a masked array, or another subclass of np.ndarray with a different arithmetic.
    """
    require_plain(type(value))
    raw = getattr(value, "_value", value)
    target_dtype = None if dtype is None else of_numbers(dtype)
    kind = "c" if target_dtype is None else target_dtype.kind
    to_integers = kind in "iu"
    array: Any
    if is_lazy(raw):
        return as_lazy(raw, target_dtype)
    # NumPy makes an object of a fraction. Python's statistics.mean calls the class of its arguments with one.
    if isinstance(raw, Rational) and not isinstance(raw, (int, np.generic)):
        raw = float(raw)
    if isinstance(raw, (list, tuple)):
        refuse_lazy_parts(raw)
    # astype drops imaginary parts with a mere warning, and fractions silently: both casts are checked below.
    try:
        cut = kind != "c" and np.iscomplexobj(raw)
        keep_dtype = to_integers or cut or dtype is None
        if raw.__class__ is not np.ndarray and not isinstance(raw, np.generic):
            array = np.array(raw, dtype=None if keep_dtype else dtype)
        elif keep_dtype or raw.dtype == dtype:
            # A plain copy() would return a transposed array in C order, so another memory layout.
            array = raw.copy("K") if raw.ndim else raw
        else:
            array = raw.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        raise _conversion_error(value, dtype) from None
    if value is None or cut or array.dtype.kind not in NUMBERS:
        raise _conversion_error(value, dtype)
    if target_dtype is not None and to_integers:
        array = cast_exactly(array, target_dtype)
    return array if array.ndim else array[()]


def cast_exactly(value: Any, dtype: DTypeLike) -> Any:
    """Cast an array of numbers to another dtype, to an integer dtype only if no value changes.

    Raises DtypeError if a value would change.
    """
    dtype = of_numbers(dtype)
    if is_lazy(value):
        return as_lazy(value, dtype)
    if value.dtype.kind == "c" != dtype.kind:
        raise _conversion_error(value, dtype)
    if dtype.kind not in "iu":
        return value.astype(dtype)
    # Casting nan, inf or a number that is too large warns and gives an arbitrary integer, which the
    # comparison detects.
    with np.errstate(invalid="ignore"):
        cast = value.astype(dtype)
    lost = np.not_equal(cast, value)
    if np.any(lost):
        raise _cast_error(value[lost].ravel()[0], np.iinfo(dtype))
    return cast


def _cast_error(number: Any, limits: Any) -> DtypeError:
    """Return the error for a number that a cast to an integer dtype would change."""
    how = f"its range is {limits.min} to {limits.max}"
    if np.isfinite(number) and number % 1:
        how = "round it first, with np.round"
    return DtypeError(f"{number} does not fit into {limits.dtype}: {how}; or use another dtype")


OPERANDS = (np.ndarray, np.generic, float, int, bool, complex, list, tuple, PandasData)
"""Operands that operations on tensors convert to arrays. Other types may define the operation themselves."""


def is_plain_operand(x: Any) -> bool:
    """Return True if an object that isn't a tensor may be an operand together with a tensor."""
    if isinstance(x, OPERANDS) or is_lazy(x):
        return True
    if isinstance(x, Number):
        raise NotNumbersError(
            f"a tensor computes with floating-point numbers, not with {shown(x)} of type {type(x).__name__}: write "
            "float(...) around it"
        )
    return False


def require_plain(kind: type) -> None:
    """Raise an error for a subclass of np.ndarray whose operators compute something else, such as np.matrix."""
    if not issubclass(kind, np.ndarray) or kind in PLAIN_ARRAYS:
        return
    if issubclass(kind, np.matrix):
        what, advice = "np.matrix", "write np.asarray(m), and @ for products"
    elif issubclass(kind, np.ma.MaskedArray):
        what = "masked arrays"
        advice = "fill the gaps first, with ma.filled(0.0), and multiply by a separate mask"
    else:
        what, advice = f"arrays of the kind {kind.__name__}", "write np.asarray(x)"
    raise UnsupportedArgumentError(
        f"tensors can't compute with {what}, whose arithmetic differs from arrays: {advice}"
    )


def _conversion_error(value: Any, dtype: DTypeLike | None) -> Exception:
    """Return the error for a value that can't be converted to a tensor."""
    try:
        array = np.array(value)
    except ValueError:
        return ragged_error(value)
    if array.dtype.kind in NUMBERS:
        return DtypeError(
            f"{shown(value)} does not fit into the dtype {np.dtype(dtype)}: omit the dtype, or convert the "
            "value first"
        )
    return NotNumbersError(
        f"a tensor holds numbers, not {array.dtype} such as {shown(value)}: pass numbers, nested lists of numbers, or "
        "an array, if necessary with .astype(float)"
    )


def require_numbers(operation: Operation, values: list[Any], error: Exception) -> None:
    """Raise an error about objects or text among the inputs of an operation, if `error` isn't already a TapeError."""
    odd = [x for x in values if getattr(x, "dtype", _FLOAT).kind not in NUMBERS]
    if odd and not isinstance(error, TapeError):
        raise not_numbers_error(f"{operation.name} received", odd[0]) from None


def of_numbers(dtype: DTypeLike) -> np.dtype[Any]:
    """Return NumPy's dtype object of the dtype for a tensor, which must be numeric."""
    try:
        # np.dtype(x) accepts any object with an attribute `dtype`, hence also a tensor, which is a mistake here.
        numpy_dtype = (
            None if hasattr(dtype, "__array__") and not isinstance(dtype, type) else np.dtype(dtype)
        )
    except (TypeError, ValueError, RecursionError):
        numpy_dtype = None
    if numpy_dtype is None or numpy_dtype.kind not in NUMBERS:
        raise DtypeError(
            f"a tensor can't have the dtype {shown(dtype)}: write a numeric dtype, such as dtype='float64'"
        )
    return numpy_dtype


def bool_option(value: Any, name: str) -> bool:
    """Return the value of an on/off option as a bool."""
    if isinstance(value, BOOL_LIKE):
        return bool(value)
    raise OptionError(
        f"{name} must be True or False, not {shown(value)}: write {name}=True, and other options by name"
    )


def is_true(value: Any) -> bool:
    """Return True if a value is True, as a bool, a NumPy scalar or an array without axes."""
    if isinstance(value, (np.bool_, np.ndarray)):
        return value.dtype.kind == "b" and not value.ndim and bool(value)
    return value is True


def value_text(value: Any, indent: int = 0) -> str:
    """Return the text of an array in a repr: eight significant digits, and the dtype unless it is a default."""
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
