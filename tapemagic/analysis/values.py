"""Numbers as people read them: six significant digits, and arrays in one line."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.tensor import Traced

DIGITS = 6
SHOWN = 6


def number(value: Any) -> str:
    """One number, with a point if it is a real one."""
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(value)
    if isinstance(value, (complex, np.complexfloating)):
        sign = "-" if value.imag < 0 or (value.imag == 0 and np.signbit(value.imag)) else "+"
        return f"{number(value.real)}{sign}{number(abs(value.imag))}j"
    text = f"{float(value) + 0.0:.{DIGITS}g}"
    return text if any(mark in text for mark in ".enia") else text + ".0"


def brief(value: Any) -> str:
    """A value in one line: a number, a small array whole, of a larger one its shape and range."""
    if isinstance(value, (bool, int, float, complex)) or not value.shape:
        return number(value if isinstance(value, (bool, int, float, complex)) else value[()])
    if value.size == 0:
        return f"empty {dimensions(value.shape)}"
    if value.size <= SHOWN:
        return _nested(value)
    if value.dtype.kind not in "iuf":
        return dimensions(value.shape)
    return f"{dimensions(value.shape)}, {number(value.min())} to {number(value.max())}"


def _nested(value: Any) -> str:
    if not value.shape:
        return number(value[()])
    return "[" + ", ".join(_nested(part) for part in value) + "]"


def dimensions(shape: tuple[int, ...]) -> str:
    """A shape as it is said: 3×2."""
    return "×".join(map(str, shape)) if shape else "number"


def aside(value: Any, differentiated: bool) -> str | None:
    """The value of a cell in words: if it is made of numbers or text, and not in the report's tables already."""
    if isinstance(value, Traced):
        return None if differentiated else repr(value)
    if isinstance(value, (np.ndarray, np.generic, int, float, complex, str)):
        return repr(value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(x, Traced) for x in value):
        return repr(value)
    return None
