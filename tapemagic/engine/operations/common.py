"""Checks and conversions of arguments that several operations share, and masks."""

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

LARGE = 4096
"""The number of elements from which a product with a mask is faster than np.where."""

CACHED = 1 << 22
"""The number of bytes up to which an array stays in a cache, so that two quick passes over it beat a slow one."""

BITS = {"e": np.int16, "f": np.int32, "d": np.int64}
"""Whole numbers of the length of floating-point ones."""


def real(x: Any, name: str) -> Any:
    """An array of real numbers: whole numbers and truth values become float64, others stay as they are."""
    x = array(x)
    if x.dtype.kind == "f":
        return x
    if x.dtype.kind in "biu":
        return x.astype(np.float64)
    advice = ": give it np.real(x) or np.abs(x)" if x.dtype.kind == "c" else ""
    raise UnsupportedArgumentError(f"{name} takes real numbers, not {x.dtype}{advice}")


def whole(x: Any, name: str) -> Any:
    """An array of whole numbers, taken out of a tensor if need be."""
    x = x if type(x) is np.ndarray else array(unwrap(x))
    if x.dtype.kind in "iu" or not x.size:
        return x.astype(np.intp, copy=False)
    raise UnsupportedArgumentError(
        f"{name} have to be whole numbers, not {x.dtype}: if they are meant as such, write np.astype(x, int)"
    )


def count(number: Any, what: str) -> int:
    """A whole number that is not negative."""
    try:
        size = operator.index(number)
    except TypeError:
        size = -1
    if size < 0:
        raise OptionError(f"{what} has to be a whole number, and not negative: {number!r} is not")
    return size


def inside(places: Any, length: int, name: str) -> None:
    """Raise an error for indices outside of an axis of the given length; they are an array of np.intp."""
    if is_lazy(places):
        require_computed(places, f"the check that all {name} are inside of the array", IN_PARTS)
    unsigned = places.view(np.uintp)  # in which a negative one is a large one
    if places.size and _largest(unsigned) >= length:
        wrong = unsigned >= length
        at = tuple(np.argwhere(wrong)[0].tolist())
        where = str(list(at)) if at else ""
        raise OptionError(f"{name}{where} = {places[at]} is not in [0, {length})")


def _largest(x: Any) -> Any:
    """The largest number, found by what takes half the time of a reduction of few."""
    return x.item(x.argmax()) if type(x) is np.ndarray else np.maximum.reduce(x, axis=None)


def operand(x: Any) -> Any:
    """A tensor as it is, anything else as an array; tensors inside of lists stay connected to the tape."""
    held = as_operand(x)
    if isinstance(held, Traced):
        return held
    if not isinstance(held, np.generic):
        held = held if held.__class__ is np.ndarray else np.asarray(held)
    if held.dtype.kind not in NUMBERS:
        raise NotNumbersError(
            f"numbers, an array or a tensor have to be given here, not {held.dtype} such as {shown(x)}"
        )
    return plain(held)


def array(x: Any) -> Any:
    """Nested lists as an array."""
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
    """A dtype that tensors can have."""
    try:
        known: np.dtype[Any] = np.dtype(dtype)
    except TypeError as error:
        raise DtypeError(f"{error}: write one of numbers, such as 'float64'") from None
    if known.kind not in NUMBERS:
        raise DtypeError(
            f"a tensor cannot have the dtype {known}: write one of numbers, such as 'float64'"
        )
    return known


def least(epsilon: Any, name: str) -> Any:
    """A small number that keeps a denominator from being 0."""
    if isinstance(epsilon, (int, float, np.number, np.ndarray, Traced)):
        return epsilon
    raise OptionError(
        f"the epsilon of {name} is a small number, not {shown(epsilon)}: write epsilon=1e-12"
    )


def plain(x: Any) -> Any:
    """An array as NumPy's functions return it: one without axes becomes a NumPy scalar."""
    return x if x.ndim else x[()]


def numpy_axis(axis: Any) -> Any:
    """An axis as NumPy's functions take it: a list of several becomes a tuple."""
    return tuple(axis) if isinstance(axis, list) else axis


def only_where(x: Any, mask: Any) -> Any:
    """`x` where a mask is true, and 0 elsewhere, in the way that is the quicker one for its size."""
    return where_mask(x, mask) if x.size > LARGE else np.where(mask, x, 0)


@primitive
def where_mask(x: Any, mask: Any) -> Any:
    """`x` where a mask is true, and 0 elsewhere.

    On large arrays a product takes a fraction of the time of np.where, which stumbles over masks that it cannot
    predict. But 0 * inf is NaN: so it is a product of the bits.
    """
    bits = BITS.get(x.dtype.char)
    if bits is None or mask.dtype.kind != "b":
        return np.where(mask, x, 0)
    x = np.asarray(x)
    alike = x.shape == mask.shape and x.flags.c_contiguous and mask.flags.c_contiguous
    if alike and x.ndim and x.nbytes <= CACHED:
        masked = mask.astype(bits)
        masked *= x.view(bits)
        return masked.view(x.dtype)
    return np.multiply(x.view(bits), mask, dtype=bits).view(x.dtype)
