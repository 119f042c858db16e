"""Texts of tensors and variables, as TensorFlow prints them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy


def text(value: Any) -> str:
    """The value of a tensor as ``print`` shows it."""
    return _own_lines(str(value))


def code(value: Any) -> str:
    """The value of a tensor as ``repr`` shows it."""
    return _own_lines(repr(value if value.ndim else value.item()))


def _own_lines(words: str) -> str:
    """A text of several lines below the line in which it stands."""
    return f"\n{words}" if "\n" in words else words


def tensor_text(value: Any) -> str:
    """``str`` of a tensor.

    Examples
    --------
    >>> tensor_text(np.float32(6))
    'tf.Tensor(6.0, shape=(), dtype=float32)'
    """
    return f"tf.Tensor({text(value)}, shape={value.shape}, dtype={value.dtype.name})"


def tensor_code(value: Any) -> str:
    """``repr`` of a tensor."""
    if is_lazy(value):
        return f"<tf.Tensor: {value!r}>"
    return f"<tf.Tensor: shape={value.shape}, dtype={value.dtype.name}, numpy={code(value)}>"


def variable_code(value: Any, name: str) -> str:
    """``repr`` of a variable."""
    return (
        f"<tf.Variable {name!r} shape={value.shape} dtype={value.dtype.name}, numpy={code(value)}>"
    )


def summary(value: Any, summarize: int = 3) -> str:
    """The value of a tensor as ``tf.print`` shows it: the first and last numbers of each axis.

    Examples
    --------
    >>> print(summary(np.arange(8.0)))
    [0 1 2 ... 5 6 7]
    """
    return repr(value) if is_lazy(value) else _summary(np.asarray(value), summarize, 1)


def _summary(value: Any, summarize: int, depth: int) -> str:
    if not value.ndim:
        return _number(value[()])
    count = len(value)
    if summarize >= 0 and count > 2 * summarize:
        first = [_summary(x, summarize, depth + 1) for x in value[:summarize]]
        last = [_summary(x, summarize, depth + 1) for x in value[count - summarize :]]
        parts = [*first, "...", *last]
    else:
        parts = [_summary(x, summarize, depth + 1) for x in value]
    separator = " " if value.ndim == 1 else "\n" * (value.ndim - 1) + " " * depth
    return f"[{separator.join(parts)}]"


def _number(x: Any) -> str:
    """One number, with as many digits as tell it from its neighbours of the same dtype."""
    if x.dtype.kind == "b":
        return str(int(x))
    if x.dtype.kind in "iu":
        return str(x)
    if x.dtype.kind == "c":
        return f"({_number(x.real)},{_number(x.imag)})"
    return _float(x)


def _float(x: Any) -> str:
    """As many digits as NumPy's dtype has for certain, or else as many as tell the number from all others."""
    if not np.isfinite(x):
        return str(float(x))
    x = np.float32(x) if x.dtype.itemsize == 2 else x
    few, many = (15, 17) if x.dtype.itemsize == 8 else (6, 9)
    words = f"{float(x):.{few}g}"
    return words if x.dtype.type(words) == x else f"{float(x):.{many}g}"
