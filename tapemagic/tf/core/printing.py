"""Format tensors and variables like TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tracing import tracer


def text(value: Any) -> str:
    """Format a tensor's value for ``str``."""
    return _own_lines(str(value))


def code(value: Any) -> str:
    """Format a tensor's value for ``repr``."""
    # As a Python number: NumPy 2 writes np.float32(6.0), TensorFlow 6.0.
    return _own_lines(repr(value if value.ndim else value.item()))


def _own_lines(words: str) -> str:
    """Start text of several lines on a new line."""
    return f"\n{words}" if "\n" in words else words


def traced_name(value: Any) -> str:
    """Return TensorFlow's name of a value while a function is traced for `tf.function`, or ''."""
    trace = tracer()
    name_of = getattr(trace, "name_of", None)
    return "" if trace is None or name_of is None or not trace.reads(value) else str(name_of(value))


def tensor_text(value: Any) -> str:
    """Return ``str`` of a tensor.

    Examples
    --------
    >>> tensor_text(np.float32(6))
    'tf.Tensor(6.0, shape=(), dtype=float32)'
    """
    name = traced_name(value)
    if name:
        return f'Tensor("{name}:0", shape={value.shape}, dtype={value.dtype.name})'
    return f"tf.Tensor({text(value)}, shape={value.shape}, dtype={value.dtype.name})"


def tensor_code(value: Any) -> str:
    """Return ``repr`` of a tensor."""
    name = traced_name(value)
    if name:
        return f"<tf.Tensor '{name}:0' shape={value.shape} dtype={value.dtype.name}>"
    # repr must not compute a Dask array.
    if is_lazy(value):
        return f"<tf.Tensor: {value!r}>"
    return f"<tf.Tensor: shape={value.shape}, dtype={value.dtype.name}, numpy={code(value)}>"


def variable_code(value: Any, name: str) -> str:
    """Return ``repr`` of a variable."""
    if traced_name(value):
        return f"<tf.Variable {name!r} shape={value.shape} dtype={value.dtype.name}>"
    return (
        f"<tf.Variable {name!r} shape={value.shape} dtype={value.dtype.name}, numpy={code(value)}>"
    )


def summary(value: Any, summarize: int = 3) -> str:
    """Format a tensor's value like ``tf.print``: the first and last numbers of each axis.

    Examples
    --------
    >>> print(summary(np.arange(8.0)))
    [0 1 2 ... 5 6 7]
    """
    return repr(value) if is_lazy(value) else _summary(np.asarray(value), summarize, 1)


def _summary(value: Any, summarize: int, depth: int) -> str:
    if not value.ndim:
        # [()] turns an array without axes into a scalar, which has the dtype but formats like a number.
        return _number(value[()])
    count = len(value)
    # -1 means all elements.
    if summarize >= 0 and count > 2 * summarize:
        first = [_summary(x, summarize, depth + 1) for x in value[:summarize]]
        last = [_summary(x, summarize, depth + 1) for x in value[count - summarize :]]
        parts = [*first, "...", *last]
    else:
        parts = [_summary(x, summarize, depth + 1) for x in value]
    # More line breaks between larger parts: one between rows, two between the matrices of a stack.
    separator = " " if value.ndim == 1 else "\n" * (value.ndim - 1) + " " * depth
    return f"[{separator.join(parts)}]"


def _number(x: Any) -> str:
    """Format a number with enough digits to distinguish it from others of its dtype."""
    if x.dtype.kind == "b":
        # tf.print shows booleans as 0 and 1.
        return str(int(x))
    if x.dtype.kind in "iu":
        return str(x)
    if x.dtype.kind == "c":
        return f"({_number(x.real)},{_number(x.imag)})"
    return _float(x)


def _float(x: Any) -> str:
    """Format a float with the digits its dtype guarantees, or with those that identify the number."""
    if not np.isfinite(x):
        return str(float(x))
    x = np.float32(x) if x.dtype.itemsize == 2 else x
    # FLT_DIG / DBL_DIG digits survive text -> float -> text; 9 / 17 survive float -> text -> float (IEEE 754).
    guaranteed_digits, exact_digits = (15, 17) if x.dtype.itemsize == 8 else (6, 9)
    words = f"{float(x):.{guaranteed_digits}g}"
    return words if x.dtype.type(words) == x else f"{float(x):.{exact_digits}g}"
