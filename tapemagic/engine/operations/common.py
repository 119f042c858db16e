"""Argument checks and conversions that several operations share, and multiplication by masks."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapemagic.engine.laziness import (
    IN_PARTS,
    as_lazy,
    is_lazy,
    refuse_lazy_parts,
    require_computed,
)
from tapemagic.engine.operations.primitive import primitive
from tapemagic.engine.tensor.coercion import NUMBERS
from tapemagic.engine.tensor.messages import ragged_error, shown
from tapemagic.engine.tensor.tensor import Traced, as_operand, unwrap
from tapemagic.errors import DtypeError, NotNumbersError, OptionError, UnsupportedArgumentError

MIN_SIZE_FOR_BITS = 4096
"""The minimum size for which a product with a mask is faster than np.where."""

MAX_CACHED_BYTES = 1 << 22
"""The maximum size of an array that stays in a cache, so that two fast passes beat a slow one."""

INTEGERS_OF_SIZE = {"e": np.int16, "f": np.int32, "d": np.int64}
"""Integer dtypes with the size of floating-point dtypes."""


def real(x: Any, name: str) -> Any:
    """Convert `x` to an array of real numbers: integers and bools become float64."""
    x = array(x)
    if x.dtype.kind == "f":
        return x
    if x.dtype.kind in "biu":
        return x.astype(np.float64)
    advice = ": pass np.real(x) or np.abs(x)" if x.dtype.kind == "c" else ""
    raise UnsupportedArgumentError(f"{name} takes real numbers, not {x.dtype}{advice}")


def integers(x: Any, name: str) -> Any:
    """Convert `x` to an array of integers, without its tensor."""
    x = x if type(x) is np.ndarray else array(unwrap(x))
    # An empty list has the dtype float64 in NumPy, but is a valid list of indices.
    if x.dtype.kind in "iu" or not x.size:
        return x.astype(np.intp, copy=False)
    raise UnsupportedArgumentError(
        f"{name} must be integers, not {x.dtype}: write np.astype(x, int) to convert them"
    )


def count(number: Any, what: str) -> int:
    """Check that `number` is a non-negative integer, and return it as an int."""
    try:
        size = operator.index(number)
    except TypeError:
        size = -1
    if size < 0:
        raise OptionError(f"{what} must be a non-negative integer, not {number!r}")
    return size


def require_in_range(places: Any, length: int, name: str) -> None:
    """Raise an error for indices, an array of np.intp, outside of an axis of the given length."""
    if is_lazy(places):
        require_computed(places, f"the check that all {name} are inside of the array", IN_PARTS)
    unsigned = places.view(
        np.uintp
    )  # negative numbers become large ones, so one comparison is enough
    if places.size and _largest(unsigned) >= length:
        wrong = unsigned >= length
        at = tuple(np.argwhere(wrong)[0].tolist())
        where = str(list(at)) if at else ""
        raise OptionError(f"{name}{where} = {places[at]} is not in [0, {length})")


def _largest(x: Any) -> Any:
    """Return the maximum; argmax takes half the time of a reduction for small arrays."""
    return x.item(x.argmax()) if type(x) is np.ndarray else np.maximum.reduce(x, axis=None)


def operand(x: Any) -> Any:
    """Convert `x` to an array, unless it is a tensor; tensors inside lists stay on the tape."""
    converted = as_operand(x)
    if isinstance(converted, Traced):
        return converted
    if not isinstance(converted, np.generic):
        converted = converted if converted.__class__ is np.ndarray else np.asarray(converted)
    if converted.dtype.kind not in NUMBERS:
        raise NotNumbersError(
            f"expected numbers, an array or a tensor, not {converted.dtype} such as {shown(x)}"
        )
    return plain(converted)


def array(x: Any) -> Any:
    """Convert nested lists to an array."""
    if type(x) is np.ndarray:
        return x
    if is_lazy(x):
        return as_lazy(x)
    if isinstance(x, (list, tuple)):
        refuse_lazy_parts(x)
    try:
        return x if x.__class__ is np.ndarray else np.asarray(x)
    except ValueError:
        raise ragged_error(x) from None


def dtype_of_numbers(dtype: Any) -> np.dtype[Any]:
    """Convert a dtype to NumPy's dtype object, which must be numeric."""
    try:
        numpy_dtype: np.dtype[Any] = np.dtype(dtype)
    except TypeError as error:
        raise DtypeError(f"{error}: write a numeric dtype, such as 'float64'") from None
    if numpy_dtype.kind not in NUMBERS:
        raise DtypeError(
            f"a tensor can't have the dtype {numpy_dtype}: write a numeric dtype, such as 'float64'"
        )
    return numpy_dtype


def checked_epsilon(epsilon: Any, name: str) -> Any:
    """Check the type of a small number that keeps a denominator from being 0, and return the number."""
    if isinstance(epsilon, (int, float, np.number, np.ndarray, Traced)):
        return epsilon
    raise OptionError(
        f"the epsilon of {name} must be a small number, not {shown(epsilon)}: write epsilon=1e-12"
    )


def plain(x: Any) -> Any:
    """Convert an array without axes to a NumPy scalar, as NumPy functions do."""
    return x if x.ndim else x[()]


def numpy_axis(axis: Any) -> Any:
    """Convert a list of axes to a tuple, as NumPy functions require."""
    return tuple(axis) if isinstance(axis, list) else axis


def only_where(x: Any, mask: Any) -> Any:
    """Return `x` where a mask is true, and 0 elsewhere, by the faster method for its size."""
    return where_mask(x, mask) if x.size > MIN_SIZE_FOR_BITS else np.where(mask, x, 0)


@primitive
def where_mask(x: Any, mask: Any) -> Any:
    """Return `x` where a mask is true, and 0 elsewhere, as a product of bits.

    For large arrays, a product takes a fraction of the time of np.where, whose branches mispredict for irregular
    masks. A product of floats would give nan for 0 * inf, so the bit patterns are multiplied as integers.
    """
    # Complex numbers have no integers of their size; integer and bool arrays need no trick.
    bits = INTEGERS_OF_SIZE.get(x.dtype.char)
    if bits is None or mask.dtype.kind != "b":
        return np.where(mask, x, 0)
    x = np.asarray(x)
    is_same_layout = x.shape == mask.shape and x.flags.c_contiguous and mask.flags.c_contiguous
    if is_same_layout and x.ndim and x.nbytes <= MAX_CACHED_BYTES:
        masked = mask.astype(bits)
        masked *= x.view(bits)
        return masked.view(x.dtype)
    return np.multiply(x.view(bits), mask, dtype=bits).view(x.dtype)
