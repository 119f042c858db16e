"""Numbers as people read them: six significant digits, and arrays in one line."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.recording import Absent
from tapemagic.engine.tensor.tensor import Traced

DIGITS = 6
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"

SHOWN = 6
ASIDE = 2000
"""How many characters of a cell's value are shown."""


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
    shape = np.shape(value)
    if not shape or 0 < np.size(value) <= SHOWN:
        return span(value)
    if np.size(value) == 0:
        return f"empty {dimensions(shape)}"
    values = span(value)
    return f"{dimensions(shape)}, {values}" if values else dimensions(shape)


def span(value: Any) -> str:
    """A value in one line, as `brief`, but of a larger array the range alone."""
    if isinstance(value, (bool, int, float, complex)):
        return number(value)
    if not value.shape:
        return number(value[()])
    if isinstance(value, np.matrix):  # whose rows are matrices again, without end
        value = value.view(np.ndarray)
    if value.size <= SHOWN:
        return "[" + ", ".join(map(span, value)) + "]"
    if isinstance(value, Absent) or value.dtype.kind not in "iuf":
        return ""
    known = value[value == value]  # noqa: PLR0124 -- what is not a number is not equal to itself
    missing = value.size - known.size
    if not known.size:
        return "all nan"
    low, high = known.min(), known.max()
    if not missing:
        return f"all {number(low)}" if low == high else f"{number(low)} to {number(high)}"
    return f"{number(low)} to {number(high)}, {missing:,} nan"


def dtype_name(value: Any) -> str:
    """The dtype of an array; the type of a Python number."""
    return str(getattr(value, "dtype", type(value).__name__))


def dimensions(shape: tuple[int, ...]) -> str:
    """A shape as it is said: 3×2."""
    return "×".join(map(str, shape)) if shape else "number"


def printable(text: str) -> str:
    """Text in one line, without characters that cannot be shown."""
    return "".join(char if char.isprintable() else " " for char in text)


def aside(value: Any, is_target: bool) -> str | None:
    """The value of a cell in words: if it is made of numbers or text, and not in the report's tables already."""
    if value is None or is_target or not _plain(value):
        return None
    text = repr(value)
    return text if len(text) <= ASIDE else f"{text[:ASIDE]} …"


def _plain(value: Any) -> bool:
    """Whether a repr is certain to say the same in every run."""
    if type(value) in (list, tuple):
        return all(map(_plain, value))
    if type(value) is dict:
        return all(map(_plain, value)) and all(map(_plain, value.values()))
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind != "O")
    return value is None or isinstance(value, Traced | np.generic | int | float | complex | str)


def subscript(number: int) -> str:
    """A number as an index below the line: one behind a name tells the values apart that had this name."""
    return str(number).translate(str.maketrans("0123456789", SUBSCRIPTS))


def bare(name: str) -> str:
    """A name without the index behind it."""
    return name.rstrip(SUBSCRIPTS)
