"""Convert values to tensors with TensorFlow's dtypes: float32 and int32 for Python numbers, else NumPy's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapemagic.engine.tensor.coercion import cast_exactly, private_array
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Traced, plain, tensors_in, unwrap, wrap
from tapemagic.errors import DtypeError
from tapemagic.tf.core.dtype import as_dtype, numpy_dtype
from tapemagic.tf.core.shape import TensorShape, listed
from tapemagic.tf.errors import InvalidArgumentError, MixedDtypesError, invalid_argument

# bool is a subclass of int, so dtypes are looked up by the exact class (value.__class__), never by isinstance.
PYTHON_NUMBERS = (bool, int, float, complex)

_INT32 = np.iinfo(np.int32)
# TensorFlow infers float32 and int32 for Python numbers, where NumPy takes float64 and int64. Arrays and NumPy scalars
# keep their dtype in both.
_DEFAULTS = {"f": np.dtype(np.float32), "i": np.dtype(np.int32)}
# Like NEP 50, but stricter: NumPy would promote an int32 array plus 1.5 to float64; TensorFlow raises an error.
_KINDS = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}
"""Kinds of dtypes that a Python number of each type may adopt."""


def tensor(value: Any, dtype: Any = None) -> Any:
    """Convert a value to an engine tensor; a tensor stays on its tapes.

    Parameters
    ----------
    value : array_like, Tensor or Variable
        Nested lists may contain tensors, which are then stacked.
    dtype : dtype, optional
        A tensor must have this dtype already.

    Raises
    ------
    DtypeError
        If a value does not fit into `dtype`.
    MixedDtypesError
        If a tensor has another dtype.
    NotNumbersError
        If the value does not consist of numbers.
    """
    if isinstance(value, Traced):
        x = plain(value)
        if dtype is not None and x.dtype != numpy_dtype(dtype):
            raise InvalidArgumentError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype {x.dtype}: "
                f"write tf.cast(x, tf.{as_dtype(dtype).name})"
            )
        return x
    value = listed(value)
    if isinstance(value, (list, tuple)) and (tensors := tensors_in(value)):
        return _stacked(value, tensors[0].dtype if dtype is None else dtype)
    return wrap(array(value, dtype))


def _stacked(values: Iterable[Any], dtype: Any) -> Any:
    """Stack nested lists that contain tensors."""
    parts = [tensor(x, dtype) for x in values]
    try:
        return np.stack(parts)
    except ValueError as error:
        raise invalid_argument(error) from None


def array(value: Any, dtype: Any = None) -> Any:
    """Convert a value without tensors to an array or a NumPy scalar."""
    kind = value.__class__
    target = numpy_dtype(dtype)
    # The common case first: a Python scalar needs no array in between.
    if target is not None and kind in _KINDS:
        return number(value, target)
    # A copy: a tensor must not change if the program later writes into its array.
    value_array = private_array(list(value) if isinstance(value, range) else value)
    if target is not None:
        if value_array.dtype == target:
            return value_array
        if (
            # An empty list is float64 to NumPy although it holds no fractions; hence the size test.
            target.kind in "biu"
            and value_array.dtype.kind in "fc"
            and is_python(value)
            and value_array.size
        ):
            raise DtypeError(
                f"Cannot convert {shown(value)} to EagerTensor of dtype {target}: {CAST}"
            )
        with np.errstate(over="ignore"):
            return cast_exactly(value_array, target)
    return value_array.astype(default) if (default := _default(value, value_array)) else value_array


CAST = "write tf.cast(x, dtype) to change the dtype"


def _default(value: Any, value_array: Any) -> Any:
    """Return the dtype that TensorFlow infers for Python numbers, or None to keep NumPy's."""
    first = first_of(value)
    if isinstance(value, (list, tuple)) and isinstance(first, np.generic):
        # NumPy promotes [np.float32(1), 2.0] to float64, because np.array counts a Python float as float64. The first
        # NumPy scalar decides instead.
        return first.dtype if first.dtype.kind == value_array.dtype.kind else None
    default = _DEFAULTS.get(value_array.dtype.kind)
    if default is None or not _is_plain(first):
        return None
    # TensorFlow infers int32, and int64 only for numbers that need it.
    if (
        # np.array([]) has neither minimum nor maximum.
        default.kind == "i"
        and value_array.size
        and (value_array.min() < _INT32.min or value_array.max() > _INT32.max)
    ):
        return None
    return default


def first_of(value: Any) -> Any:
    """Return the first number of nested lists, or 0.0 for an empty list."""
    while isinstance(value, (list, tuple, TensorShape)):
        value = value[0] if len(value) else 0.0
    return value


def is_python(value: Any) -> bool:
    """Return True for a Python number or nested lists of Python numbers, judging by the first number."""
    # TensorFlow also judges by the first element, and lists may be long.
    return _is_plain(first_of(value))


def _is_plain(value: Any) -> bool:
    return isinstance(value, (*PYTHON_NUMBERS, range)) and not isinstance(value, np.generic)


def number(value: Any, dtype: Any) -> Any:
    """Convert a Python number to a NumPy scalar.

    Raises
    ------
    DtypeError
        If the number does not fit, such as 1.5 into int32.
    """
    if dtype.kind not in _KINDS[value.__class__]:
        raise DtypeError(f"Cannot convert {value} to EagerTensor of dtype {dtype}: {CAST}")
    try:
        with np.errstate(over="ignore"):
            return dtype.type(value)
    except OverflowError:
        raise DtypeError(
            f"{value} does not fit into {dtype}: write tf.constant({value}, tf.int64)"
        ) from None


def operand(value: Any, dtype: Any, what: str = "an operation") -> Any:
    """Check the second operand of an operation in `dtype`, and convert plain numbers and arrays to this dtype.

    Raises
    ------
    MixedDtypesError
        If it is a tensor of another dtype, or contains numbers that do not fit.
    """
    kind = value.__class__
    # The hot path of every operator, as in x * 2: the number is passed on unconverted, and NEP 50 gives it the dtype of
    # x.
    if kind in _KINDS:
        if dtype.kind in _KINDS[kind]:
            return value
        raise _mixed(array(value).dtype, dtype, what)
    if isinstance(value, Traced):
        value_dtype = unwrap(value).dtype
        # `is` first: dtypes are mostly the same object, and comparing them is slow.
        if value_dtype is not dtype and value_dtype != dtype:
            raise _mixed(value_dtype, dtype, what)
        return value
    if isinstance(value, (list, tuple)) and tensors_in(value):
        return tensor(value, dtype)
    value_array = array(value)
    if value_array.dtype == dtype:
        return value_array
    # A list of floats never adopts an integer dtype, even if all of them are whole: [1.0] * int32 is an error in
    # TensorFlow.
    if is_python(value) and dtype.kind not in _KINDS[_PYTHON[value_array.dtype.kind]]:
        raise _mixed(value_array.dtype, dtype, what)
    try:
        with np.errstate(over="ignore"):
            return cast_exactly(value_array, dtype)
    except DtypeError:
        raise _mixed(value_array.dtype, dtype, what) from None


_PYTHON: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _mixed(value_dtype: Any, dtype: Any, what: str) -> MixedDtypesError:
    """Build the error for operands of two dtypes."""
    low, high = (
        (dtype, value_dtype)
        if _RANK[value_dtype.kind] > _RANK[dtype.kind]
        else (value_dtype, dtype)
    )
    return MixedDtypesError(
        f"{what} takes tensors of one dtype, not {dtype} and {value_dtype}: "
        f"write tf.cast(x, tf.{high}) for the one of {low}"
    )


# The message suggests a cast to the higher rank, because the other direction would lose fractions or imaginary parts.
_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def matched(what: str, *values: Any) -> list[Any]:
    """Convert values to engine tensors of one dtype; numbers adopt the dtype of the tensors.

    Raises
    ------
    MixedDtypesError
        If tensors differ in dtype, or numbers do not fit.
    """
    dtype = common_dtype(values)
    return [tensor(operand(x, dtype, what), dtype) for x in values]


def common_dtype(values: Iterable[Any]) -> Any:
    """Return the dtype of the first tensor, else of the first array, else one that fits all numbers."""
    candidates = []
    for value in values:
        # A tensor decides at once, even after arrays: numbers and arrays adopt its dtype, never the reverse.
        tensors = tensors_in((value,))
        if tensors:
            return unwrap(tensors[0]).dtype
        candidates.append((is_python(value), array(value).dtype))
    # An array has a dtype that someone chose; a Python number only has a default.
    for is_number, dtype in candidates:
        if not is_number:
            return dtype
    return max((dtype for _, dtype in candidates), key=lambda dtype: "biufc".index(dtype.kind))
