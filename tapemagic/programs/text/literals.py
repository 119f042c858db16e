"""Literals: arrays, NumPy scalars, dtypes and Python constants as text that evaluates to the same bits."""

from __future__ import annotations

import math
import struct
from functools import cache
from typing import Any

import numpy as np

MAX_LENGTH = 76
"""Maximum number of characters of an array literal."""

MAX_ELEMENTS = 16
"""Maximum number of elements of an array literal with a list of numbers."""

MAX_BITS = 200
"""Ints of this many bits or more have no literal."""

TYPES = {bool: "bool", int: "int", float: "float", complex: "complex", str: "str", bytes: "bytes"}


def literal(x: Any) -> str | None:
    """Return the text of a Python constant, a dtype, a NumPy scalar or an array, or None if no short text exists.

    Examples
    --------
    >>> literal(0.1), literal(np.float32(0.1)), literal(np.ones((2, 3))), literal(np.arange(50))
    ('0.1', 'np.float32(0.1)', 'np.ones((2, 3))', 'np.arange(50)')
    >>> literal(np.broadcast_to(np.ones((3, 1)), (2, 3, 4)))
    'np.broadcast_to(np.ones((3, 1)), (2, 3, 4))'
    """
    kind = type(x)
    if x is None or kind in (bool, range) or (kind is int and x.bit_length() < MAX_BITS):
        return repr(x)
    if kind is str or kind is bytes:
        return quoted(x)
    if x is Ellipsis:
        return "..."
    if kind is float:
        return _float(x)
    if kind is complex:
        return _complex(x)
    if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.generic)):
        return _dtype(x)
    if isinstance(x, type):
        return TYPES.get(x)
    if kind is np.ndarray:
        return next(
            (text for text in _array(x) if len(text) <= MAX_LENGTH and gives(text, x)), None
        )
    if isinstance(x, np.generic):
        return _scalar(x)
    return None


def gives(text: str, value: Any) -> bool:
    """Return True if a text evaluates to the same bits and strides as an array or a NumPy scalar."""
    # Strides count: the order in which NumPy adds up an array, and so the rounding, depends on its memory layout.
    try:
        result = eval(text, {"np": np})  # noqa: S307 (the text is our own)
    except (ValueError, TypeError, OverflowError, SyntaxError):
        return False
    return (
        type(result) is type(value)
        and result.dtype == value.dtype
        and result.shape == value.shape
        and result.strides == value.strides
        and result.tobytes() == value.tobytes()
    )


def quoted(x: str | bytes) -> str:
    """Return a string in double quotation marks, unless it contains double quotation marks."""
    text = repr(x)
    if text[-1] == '"' or '"' in text:
        return text
    return text.replace("'", '"')


def _float(x: float) -> str | None:
    if math.isfinite(x):
        return repr(x).replace("e+", "e")
    if math.isinf(x):
        return "np.inf" if x > 0 else "-np.inf"
    # A nan has 2**52 bit patterns (its payload), and only the usual pattern has a literal.
    same = struct.pack("d", x) == struct.pack("d", math.copysign(math.nan, x))
    return ("np.nan" if math.copysign(1, x) > 0 else "-np.nan") if same else None


def _complex(x: complex) -> str | None:
    parts = _float(x.real), _float(x.imag)
    if None in parts:
        return None
    # The literal 2.0j has the real part 0.0. A sum such as -0.0 + 2.0j is computed, and loses the sign of -0.0.
    if math.isfinite(x.imag) and struct.pack("d", x.real) == struct.pack("d", 0.0):
        return f"{parts[1]}j" if math.copysign(1, x.imag) > 0 else f"complex(0.0, {parts[1]})"
    return f"complex({parts[0]}, {parts[1]})"


def _dtype(x: Any) -> str | None:
    dtype = np.dtype(x)
    text = f"np.{dtype.type.__name__}"
    named = getattr(np, dtype.type.__name__, None)
    if named is not None and isinstance(x, type):
        return text if named is x else None
    if named is not None and np.dtype(named) == dtype:
        return text
    return f"np.dtype({quoted(dtype.str)})" if np.dtype(dtype.str) == dtype else None


def _scalar(x: np.generic) -> str | None:
    if isinstance(x, np.bool_):
        return "np.True_" if x else "np.False_"
    number = _number(x)
    name = _dtype(type(x))
    same = number and name and type(x)(_parsed(number)).tobytes() == x.tobytes()
    return f"{name}({number})" if same else None


def _number(x: Any) -> str | None:
    """Return the shortest number that casts to a NumPy scalar of the same bits."""
    kind = x.dtype.kind
    if kind in "iu":
        return str(int(x))
    if kind == "b":
        return str(bool(x))
    if kind == "c":
        return _complex(complex(x))
    if kind != "f":
        return None
    # str(x) is the shortest text that identifies a number of this dtype: 0.1 for np.float32(0.1).
    return str(x).replace("e+", "e") if np.isfinite(x) else _float(float(x))


def _parsed(number: str) -> Any:
    """Return the number that a literal denotes."""
    try:
        return float(number) if "." in number or "e" in number else int(number)
    except ValueError:
        return eval(number, {"np": np})  # noqa: S307 (the text is our own)


def _array(x: Any) -> Any:
    """Yield texts that may evaluate to an array, the shortest first."""
    if x.dtype.kind not in "biufc" or not x.dtype.isnative:
        return
    dtype = _dtype(x.dtype)
    shape = str(x.shape[0]) if x.ndim == 1 else repr(x.shape)
    # An array that repeats elements (stride 0) must stay one, see `gives`.
    if x.size and x.ndim and not any(x.strides):
        number = literal(x.flat[0].item() if x.dtype == np.float64 else x.flat[0])
        yield f"np.broadcast_to({number}, {shape})"
        return
    if x.size and x.ndim > 1 and 0 in x.strides:
        part = x[tuple(slice(None) if step else slice(0, 1) for step in x.strides)]
        while not x.strides[x.ndim - part.ndim]:
            part = part[0]
        yield from (f"np.broadcast_to({text}, {shape})" for text in _array(part.copy()))
        return
    if x.size and (x == x.flat[0]).all():
        kind = "" if x.dtype == np.float64 else f", {dtype}"
        yield f"np.zeros({shape}{kind})"
        yield f"np.ones({shape}{kind})"
        number = _number(x.flat[0])
        yield f"np.full({shape}, {number})"
        yield f"np.full({shape}, {number}, {dtype})"
    if not x.size:
        yield f"np.zeros({shape})"
        yield f"np.zeros({shape}, {dtype})"
    if x.ndim == 1 and x.size > 2:
        yield f"np.arange({x.size})"
        yield f"np.arange({float(x.size)})"
        yield f"np.arange({x.size}, dtype={dtype})"
    if x.ndim == 2 and x.shape[0] == x.shape[1] and x.shape[0] > 1:
        yield f"np.eye({x.shape[0]})"
        yield f"np.eye({x.shape[0]}, dtype={dtype})"
        diagonal = _items(np.diagonal(x)) if x.shape[0] <= MAX_ELEMENTS else None
        if x.shape[0] > 2 and diagonal is not None:
            yield f"np.diag({diagonal})"
    if x.size <= MAX_ELEMENTS:
        items = _items(x)
        if items is not None:
            yield f"np.array({items})"
            yield f"np.array({items}, {dtype})"
            if x.ndim > 1 and not x.flags.c_contiguous:
                yield f'np.array({items}, {dtype}, order="F")'


def _items(x: Any) -> str | None:
    if x.ndim == 0:
        return _number(x[()])
    parts = [_items(part) if x.ndim > 1 else _number(part) for part in x]
    return None if None in parts else f"[{', '.join(parts)}]"  # type: ignore[arg-type]


@cache
def _dtypes(ufunc: np.ufunc, operands: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the dtypes in which a ufunc computes, or None. A Python type as an operand is a Python number."""
    try:
        return ufunc.resolve_dtypes((*operands, *[None] * ufunc.nout))
    except TypeError:
        return None


def weak_literal(
    x: Any, ufunc: Any, operands: tuple[Any, ...], place: int, kind: Any = None
) -> str | None:
    """Return a Python number that can replace a NumPy scalar among the operands of a ufunc, if any.

    Parameters
    ----------
    x : NumPy scalar, or array without axes
    ufunc : numpy.ufunc
    operands : tuple of dtype or type
        The dtypes of the operands; int, float or complex for Python numbers.
    place : int
        The position of the scalar.
    kind : Kind, optional
        The kind of the result.

    Examples
    --------
    >>> f4, f8 = np.dtype("f4"), np.dtype("f8")
    >>> weak_literal(np.float32(0.1), np.multiply, (f4, f4), 1), weak_literal(np.float64(0.1), np.multiply, (f4, f8), 1)
    ('0.1', None)
    """
    # NEP 50: a Python number takes the dtype of the array that it meets; a NumPy scalar keeps its dtype.
    value = x[()]
    number_type = {"i": int, "u": int, "f": float, "c": complex}.get(value.dtype.kind)
    rest = [d for k, d in enumerate(operands) if k != place]
    if number_type is None or not any(isinstance(d, np.dtype) for d in rest):
        return None
    weak = (*operands[:place], number_type, *operands[place + 1 :])
    strong = _dtypes(ufunc, operands)
    if strong is None or _dtypes(ufunc, weak) != strong:
        return None
    if kind is not None and getattr(kind, "dtype", strong[-1]) != strong[-1]:
        return None
    number = _number(value)
    try:
        same = number is not None and (
            strong[place].type(_parsed(number)).tobytes() == value.astype(strong[place]).tobytes()
        )
    except (OverflowError, ValueError, TypeError):
        return None
    return number if same else None
