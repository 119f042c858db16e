"""Values as tensors in TensorFlow's dtypes: float32 and int32 for Python's numbers, NumPy's own for its arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapemagic.engine.tensor.coercion import cast_exactly, private_array
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Traced, plain, tensors_in, unwrap, wrap
from tapemagic.errors import DtypeError
from tapemagic.tf.core.dtype import as_dtype, numpy_dtype
from tapemagic.tf.errors import InvalidArgumentError, MixedDtypesError, invalid_argument

PYTHON_NUMBERS = (bool, int, float, complex)

_INT32 = np.iinfo(np.int32)
_DEFAULTS = {"f": np.dtype(np.float32), "i": np.dtype(np.int32)}
_KINDS = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}
"""The kinds of dtypes that a Python number of each type may adopt."""


def tensor(value: Any, dtype: Any = None) -> Any:
    """A value as a tensor of the engine, still on its tapes.

    Parameters
    ----------
    value : array_like, Tensor or Variable
        Or nested lists with tensors among the numbers, which are then stacked.
    dtype : dtype, optional
        That of a tensor has to be this one already.

    Raises
    ------
    DtypeError
        If a value does not fit into `dtype`.
    MixedDtypesError
        If a tensor has another dtype.
    NotNumbersError
        If it is not made of numbers.
    """
    if isinstance(value, Traced):
        found = plain(value)
        if dtype is not None and found.dtype != numpy_dtype(dtype):
            raise InvalidArgumentError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype {found.dtype}: "
                f"write tf.cast(x, tf.{as_dtype(dtype).name})"
            )
        return found
    if isinstance(value, (list, tuple)) and (held := tensors_in(value)):
        return _stacked(value, held[0].dtype if dtype is None else dtype)
    return wrap(array(value, dtype))


def _stacked(values: Iterable[Any], dtype: Any) -> Any:
    """The tensor of nested lists that have tensors in them."""
    parts = [tensor(x, dtype) for x in values]
    try:
        return np.stack(parts)
    except ValueError as error:
        raise invalid_argument(error) from None


def array(value: Any, dtype: Any = None) -> Any:
    """A value without tensors as an array, or as a NumPy scalar."""
    kind = value.__class__
    wanted = numpy_dtype(dtype)
    if wanted is not None and kind in _KINDS:
        return number(value, wanted)
    found = private_array(list(value) if isinstance(value, range) else value)
    if wanted is not None:
        if found.dtype == wanted:
            return found
        if wanted.kind in "biu" and found.dtype.kind in "fc" and is_python(value) and found.size:
            raise DtypeError(
                f"Cannot convert {shown(value)} to EagerTensor of dtype {wanted}: {CAST}"
            )
        with np.errstate(over="ignore"):
            return cast_exactly(found, wanted)
    return found.astype(default) if (default := _default(value, found)) else found


CAST = "write tf.cast(x, dtype) to change the dtype"


def _default(value: Any, found: Any) -> Any:
    """TensorFlow's dtype for Python's numbers, if it is another one than NumPy's."""
    first = first_of(value)
    if isinstance(value, (list, tuple)) and isinstance(first, np.generic):
        return first.dtype if first.dtype.kind == found.dtype.kind else None
    default = _DEFAULTS.get(found.dtype.kind)
    if default is None or not _is_plain(first):
        return None
    if (
        default.kind == "i"
        and found.size
        and (found.min() < _INT32.min or found.max() > _INT32.max)
    ):
        return None
    return default


def first_of(value: Any) -> Any:
    """The first number of nested lists; 0.0 if there is none."""
    while isinstance(value, (list, tuple)):
        value = value[0] if value else 0.0
    return value


def is_python(value: Any) -> bool:
    """Whether a value is a Python number, or nested lists of them, judged by the first one."""
    return _is_plain(first_of(value))


def _is_plain(value: Any) -> bool:
    return isinstance(value, (*PYTHON_NUMBERS, range)) and not isinstance(value, np.generic)


def number(value: Any, dtype: Any) -> Any:
    """A Python number as a NumPy scalar of a dtype.

    Raises
    ------
    DtypeError
        If it does not fit, such as 1.5 into int32.
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
    """The operand beside a tensor of a dtype: a tensor of the same one, or numbers that adopt it.

    Raises
    ------
    MixedDtypesError
        If it is a tensor of another dtype, or has numbers that do not fit into this one.
    """
    kind = value.__class__
    if kind in _KINDS:
        if dtype.kind in _KINDS[kind]:
            return value
        raise _mixed(array(value).dtype, dtype, what)
    if isinstance(value, Traced):
        found = unwrap(value).dtype
        if found is not dtype and found != dtype:
            raise _mixed(found, dtype, what)
        return value
    if isinstance(value, (list, tuple)) and tensors_in(value):
        return tensor(value, dtype)
    found = array(value)
    if found.dtype == dtype:
        return found
    if is_python(value) and dtype.kind not in _KINDS[_PYTHON[found.dtype.kind]]:
        raise _mixed(found.dtype, dtype, what)
    try:
        with np.errstate(over="ignore"):
            return cast_exactly(found, dtype)
    except DtypeError:
        raise _mixed(found.dtype, dtype, what) from None


_PYTHON: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _mixed(found: Any, dtype: Any, what: str) -> MixedDtypesError:
    """The error for two dtypes; its advice is to cast whole numbers to real ones, and the second one otherwise."""
    low, high = (dtype, found) if _RANK[found.kind] > _RANK[dtype.kind] else (found, dtype)
    return MixedDtypesError(
        f"{what} takes tensors of one dtype, not {dtype} and {found}: write tf.cast(x, tf.{high}) for the one of {low}"
    )


_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def matched(what: str, *values: Any) -> list[Any]:
    """Values as tensors of the engine, all of one dtype: that of the tensors among them, which numbers adopt.

    Raises
    ------
    MixedDtypesError
        If there are tensors of two dtypes, or numbers that do not fit into theirs.
    """
    dtype = common_dtype(values)
    return [tensor(operand(x, dtype, what), dtype) for x in values]


def common_dtype(values: Iterable[Any]) -> Any:
    """The dtype of the first tensor among some values; or else of the first array; or else one for all numbers."""
    found = []
    for value in values:
        held = tensors_in((value,))
        if held:
            return unwrap(held[0]).dtype
        found.append((is_python(value), array(value).dtype))
    for is_number, dtype in found:
        if not is_number:
            return dtype
    return max((dtype for _, dtype in found), key=lambda dtype: "biufc".index(dtype.kind))
