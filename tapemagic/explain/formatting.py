"""Text for people: numbers, arrays and shapes in one line, lines of a program, symbols of derivatives."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from tapemagic.engine.events import CELL_FILE, Place, source_line
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import Absent
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.explain.lazy_values import is_pending, with_numbers

DIGITS = 6
"""Significant digits of a number, unless `significant_digits` says otherwise."""
_digits: ContextVar[int] = ContextVar("digits", default=DIGITS)

SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
AS_SUBSCRIPTS = str.maketrans("0123456789", SUBSCRIPTS)

SHOWN = 6
"""The size of the largest array whose elements are all written out."""

MIN_WITH_COMMAS = 10_000
"""The length of an axis from which on it is written with commas."""

NOT_COMPUTED = "not computed"
ONE_CHUNK = "1 chunk"

MAX_LINE = 60
"""The number of characters shown of a line."""

DIFFERENTIAL = re.compile(r"d+[^\W\d]?[\d₀-₉]*|d[^\W_]+_d\w+")
"""Names that behind a d would look like another derivative: d, dy, dw1, dy_dx."""

MAX_VALUE = 2000
"""The number of characters shown of a cell's value."""


@contextmanager
def significant_digits(count: int) -> Iterator[None]:
    """Write numbers with so many significant digits inside this block.

    Examples
    --------
    >>> with significant_digits(3):
    ...     format_number(3.14159265)
    '3.14'
    """
    token = _digits.set(count)
    try:
        yield
    finally:
        _digits.reset(token)


def format_number(value: Any) -> str:
    """A number with its significant digits; a real one has a decimal point or an exponent."""
    if value is np.ma.masked:
        return "masked"
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(value)
    if isinstance(value, (complex, np.complexfloating)):
        sign = "-" if value.imag < 0 or (value.imag == 0 and np.signbit(value.imag)) else "+"
        return f"{format_number(value.real)}{sign}{format_number(abs(value.imag))}j"
    text = f"{float(value) + 0.0:.{_digits.get()}g}"
    return text if any(mark in text for mark in ".enia") else text + ".0"


def format_value(value: Any) -> str:
    """A value in one line: a number, the elements of a small array, or the shape and range of a larger one.

    Of a lazy array that is not computed there are the shape and the chunks.
    """
    shape = np.shape(value)
    if is_pending(value):
        return ", ".join(filter(None, [format_size(shape) if shape else "", format_lazy(value)]))
    if not shape or 0 < np.size(value) <= SHOWN:
        return format_entries(value)
    if np.size(value) == 0:
        return f"empty {format_shape(shape)}"
    values = format_entries(value)
    return f"{format_size(shape)}, {values}" if values else format_size(shape)


def format_entries(value: Any) -> str:
    """A value in one line: a number, the elements of a small array, or the range of a larger one."""
    value = with_numbers(value)
    if isinstance(value, (bool, int, float, complex)):
        return format_number(value)
    if is_lazy(value):
        return format_lazy(value)
    if not value.shape:
        return format_number(value[()])
    if isinstance(value, np.matrix):  # whose rows are matrices again, without end
        value = value.view(np.ndarray)
    if value.size <= SHOWN:
        return "[" + ", ".join(map(format_entries, value)) + "]"
    if isinstance(value, Absent) or value.dtype.kind not in "iuf":
        return ""
    known = value[value == value]  # noqa: PLR0124 -- what is not a number is not equal to itself
    missing = value.size - known.size
    if not known.size:
        return "all nan"
    low, high = format_number(known.min()), format_number(known.max())
    if missing:
        return f"{low} to {high}, {missing:,} nan"
    return f"all {low}" if known.min() == known.max() else f"{low} to {high}"


def dtype_name(value: Any) -> str:
    """The dtype of an array; the type of a Python number."""
    return str(getattr(value, "dtype", type(value).__name__))


def format_shape(shape: tuple[int, ...]) -> str:
    """A shape such as 3×2."""
    return _lengths(shape) if shape else "number"


def _lengths(shape: Iterable[int]) -> str:
    """The lengths of axes; long ones with commas, since they are to be read and not counted."""
    return "×".join(f"{n:,}" if n >= MIN_WITH_COMMAS else str(n) for n in shape)


def format_size(shape: tuple[int, ...]) -> str:
    """A shape in front of the numbers of an array, where a single length would look like one of them.

    Examples
    --------
    >>> format_size((1000,)), format_size((3, 2))
    ('1,000 elements', '3×2')
    """
    return (
        f"{shape[0]:,} element{'s' * (shape[0] != 1)}" if len(shape) == 1 else format_shape(shape)
    )


def format_chunks(value: Any) -> str:
    """The number and size of the chunks of a lazy array, in Dask's words; empty for a single number.

    Chunks of different sizes are "up to" the largest, unless only the last ones along an axis are smaller.
    """
    if not value.shape:
        return ""
    count = math.prod(map(len, value.chunks))
    if count == 1:
        return ONE_CHUNK
    even = all(len({*cut[:-1]}) < 2 and cut[-1] <= cut[0] for cut in value.chunks)
    return f"{count:,} chunks of {'' if even else 'up to '}{_lengths(map(max, value.chunks))}"


def format_state(value: Any) -> str:
    """The state of a lazy array whose numbers are not shown: not computed, or where its chunks are."""
    return getattr(value, "held", "") or NOT_COMPUTED


def format_lazy(value: Any) -> str:
    """The chunks of a lazy array, and its state."""
    return ", ".join(filter(None, [format_chunks(value), format_state(value)]))


def printable(text: str) -> str:
    """Text in one line, without characters that cannot be shown."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text)


def clipped(text: str, most: int) -> str:
    """Text of at most so many characters; the last of what is cut off is an ellipsis.

    Examples
    --------
    >>> clipped("gradient", 8), clipped("gradient", 5)
    ('gradient', 'grad…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def label(name: str) -> str:
    r"""The name of a Variable, which may be any text, in one line that is not too long.

    Examples
    --------
    >>> label("two\nlines"), label("x" * 1000)[-4:]
    ('two lines', 'xxx…')
    """
    return clipped(printable(name), MAX_LINE)


def own_name(variable: Any) -> str:
    """The name that a Variable was made with, without the ``:0`` that TensorFlow puts behind it."""
    name: str = getattr(variable, "name", "unnamed")
    return name.removesuffix(":0")


def format_cell_value(value: Any, is_target: bool) -> str | None:
    """The repr of a cell's value; None if the report shows it already, or its repr may differ between runs."""
    if value is None or is_target or not _has_stable_repr(value):
        return None
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 -- a class of the user's own may raise anything
        return f"a {type(value).__name__}, whose repr() raises {type(error).__name__}"
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]} …"


def _has_stable_repr(value: Any) -> bool:
    """Whether the repr of a value is the same in every run: it holds no address."""
    if type(value) in (list, tuple):
        return all(map(_has_stable_repr, value))
    if type(value) is dict:
        return all(map(_has_stable_repr, value)) and all(map(_has_stable_repr, value.values()))
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind != "O")
    return value is None or isinstance(value, Traced | np.generic | int | float | complex | str)


def subscript(number: int) -> str:
    """A number in subscript digits, as in w₂, the second value of a variable w."""
    return str(number).translate(AS_SUBSCRIPTS)


def without_subscript(name: str) -> str:
    """A name without the subscript digits behind it."""
    return name.rstrip(SUBSCRIPTS)


def format_line(place: Place) -> str:
    """A line of a program: its number, the name of its file unless that is a cell, and its text."""
    text = source_line(place).strip().removesuffix(":")
    text = text.rstrip("([{") + "…" * text.endswith(("(", "[", "{"))
    short = clipped(text, MAX_LINE)
    name = (
        "" if CELL_FILE.search(place.file) or place.file.startswith("<") else Path(place.file).name
    )
    return f"line {place.line}" + (f" of {name}" if name else "") + (f" ({short})" if short else "")


def format_lines(lines: tuple[int, int] | None) -> str:
    """Lines of a cell: line 4, or lines 4–5; a loop where they are not known."""
    if lines is None:
        return "loop"
    first, last = lines
    return f"line {first}" if first == last else f"lines {first}–{last}"


def derivative_symbol(target: str, source: str, order: int) -> str:
    """The symbol of a derivative of some order: d²y/dx²."""
    power = "" if order == 1 else "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(order))
    return f"d{power}{_operand(target)}/d{_operand(source)}{power}"


def mixed_derivative_symbol(target: str, first: str, second: str) -> str:
    """The symbol of a second derivative with respect to two variables: d²y/dx dw."""
    return f"d²{_operand(target)}/d{_operand(first)} d{_operand(second)}"


def _operand(name: str) -> str:
    """A name or expression to stand behind a d, in brackets where it could be misread."""
    return f"({name})" if DIFFERENTIAL.fullmatch(name) else bracketed(name)


def bracketed(name: str) -> str:
    """A name as it is, any other expression in brackets."""
    return name if without_subscript(name).isidentifier() else f"({name})"
