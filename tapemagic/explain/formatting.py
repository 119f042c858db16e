"""Format numbers, arrays, shapes, source lines and symbols of derivatives as short text for people."""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import count
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
"""Maximum size of an array whose elements are all written out."""

MIN_WITH_COMMAS = 10_000
"""Minimum length of an axis that is written with commas."""

NOISE = 64
"""The size of rounding errors, in units of the precision of a number, that its text needn't show."""

ARITHMETIC = re.compile(r"-?[0-9.]+(e[+-]?[0-9]+)?")
"""A number as it is written."""

POWER = re.compile("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
FROM_POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "ln": math.log,
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "exp", "sqrt", "tanh")},
}
"""The functions that a calculator has, by the names that formulas use."""
BEGINNING = re.compile(rf"[-(]*([0-9.]|({'|'.join(FUNCTIONS)})\()")
"""The beginning of an expression of numbers. Most others begin with a name, and needn't be parsed."""

NOT_COMPUTED = "not computed"
ONE_CHUNK = "1 chunk"

MACRON, OVERLINE = "\u0304", "\u0305"
BARRED = re.compile(rf"[A-Za-z]{MACRON}[0-9₀-₉]*|([^{OVERLINE}]{OVERLINE}+)+")
"""A name with a bar, as `barred` writes it."""

MAX_LINE = 60
"""Maximum number of characters shown of a line."""

DIFFERENTIAL = re.compile(r"d+[^\W\d]?[\d₀-₉]*|d[^\W_]+_d\w+")
"""Names that would look like another derivative after a d: d, dy, dw1, dy_dx."""

MAX_TERMS = 3
"""Maximum number of terms of a sum that are written with plus signs."""

MAX_VALUE = 2000
"""Maximum number of characters shown of a cell's value."""


@contextmanager
def significant_digits(count: int) -> Iterator[None]:
    """Format numbers with `count` significant digits inside this ``with`` block.

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
    """Format a number with its significant digits. Real numbers have a decimal point or an exponent."""
    if value is np.ma.masked:
        return "masked"
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(value)
    if isinstance(value, (complex, np.complexfloating)):
        # A negative zero has the sign "-" too, but doesn't compare as less than 0.
        sign = "-" if value.imag < 0 or (value.imag == 0 and np.signbit(value.imag)) else "+"
        return f"{format_number(value.real)}{sign}{format_number(abs(value.imag))}j"
    # Adding 0.0 turns -0.0 into 0.0.
    number, digits = float(value) + 0.0, _digits.get()
    text = f"{number:.{digits}g}"
    # The letters are those of an exponent, of inf and of nan.
    if any(mark in text for mark in ".enia"):
        return text
    # What is rounded to an integer gets the digits that show it: 94299.0359 is 94299.04, and 2.0000001 is 2.00000.
    if abs(number - float(text)) > NOISE * _precision(value) * abs(number):
        return f"{number:.{max(2, digits - len(text.lstrip('-')))}f}"
    return text + ".0"


def _precision(value: Any) -> float:
    """Return the relative distance between neighboring numbers of the type of a number."""
    dtype = getattr(value, "dtype", None)
    return float(np.finfo(dtype if dtype is not None and dtype.kind == "f" else float).eps)


def relation(expression: str, result: str) -> str:
    """Return the sign between an expression of rounded numbers and its result, as written: '=' or '≈'.

    It is '=' if a calculator gets the result from the numbers in the expression, or if it has other symbols.

    Examples
    --------
    >>> relation("2.5 · (-0.5)", "-1.25"), relation("0.333333 · 3.0", "1.0"), relation("a · b", "6.0")
    ('=', '≈', '=')
    """
    return _relation(expression, result, _digits.get())


# Each equation is shown several times: as text, as HTML, as LaTeX, and in the words of a step.
@lru_cache(4096)
def _relation(expression: str, result: str, digits: int) -> str:
    if not ARITHMETIC.fullmatch(result) or not BEGINNING.match(expression):
        return "="
    text = expression.replace("·", "*").replace("−", "-")
    text = POWER.sub(lambda match: f"**{match[0].translate(FROM_POWERS)}", text)
    try:
        value = _calculated(ast.parse(text, mode="eval").body)
        return "=" if float(f"{value:.{digits}g}") == float(f"{float(result):.{digits}g}") else "≈"
    except (SyntaxError, ValueError, ArithmeticError, RecursionError):
        return "="


def _calculated(node: ast.expr) -> float:
    """Compute an expression of numbers, or raise ValueError if it has anything else."""
    match node:
        case ast.Constant(float() | int() as value):
            return float(value)
        case ast.UnaryOp(ast.USub(), operand):
            return -_calculated(operand)
        case ast.BinOp(left, op, right) if type(op) in OPERATIONS:
            return OPERATIONS[type(op)](_calculated(left), _calculated(right))
        case ast.Call(ast.Name(name), [operand], []) if name in FUNCTIONS:
            return FUNCTIONS[name](_calculated(operand))
    raise ValueError("not an expression of numbers")


def format_value(value: Any) -> str:
    """Format a value on one line: a number, all elements of a small array, or shape and range of a large array.

    A lazy array that isn't computed has its shape and its chunks instead.
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
    """Format a value on one line: a number, all elements of a small array, or the range of a large array."""
    value = with_numbers(value)
    if isinstance(value, (bool, int, float, complex)):
        return format_number(value)
    if is_lazy(value):
        return format_lazy(value)
    if not value.shape:
        return format_number(value[()])
    if isinstance(
        value, np.matrix
    ):  # a row of a matrix is a matrix again, so the recursion below wouldn't end
        value = value.view(np.ndarray)
    if value.size <= SHOWN:
        return "[" + ", ".join(map(format_entries, value)) + "]"
    if isinstance(value, Absent) or value.dtype.kind not in "iuf":
        return ""
    numbers = value[value == value]  # noqa: PLR0124 (nan differs from itself)
    missing = value.size - numbers.size
    if not numbers.size:
        return "all nan"
    low, high = format_number(numbers.min()), format_number(numbers.max())
    if missing:
        return f"{low} to {high}, {missing:,} nan"
    return f"all {low}" if numbers.min() == numbers.max() else f"{low} to {high}"


def dtype_name(value: Any) -> str:
    """Return the dtype of an array, or the type of a Python number."""
    return str(getattr(value, "dtype", type(value).__name__))


def format_shape(shape: tuple[int, ...]) -> str:
    """Format a shape: 3×2."""
    return _lengths(shape) if shape else "number"


def _lengths(shape: Iterable[int]) -> str:
    """Format the lengths of axes, with commas in long numbers."""
    return "×".join(f"{n:,}" if n >= MIN_WITH_COMMAS else str(n) for n in shape)


def format_size(shape: tuple[int, ...]) -> str:
    """Format a shape that precedes the numbers of an array, where a single length would look like an element.

    Examples
    --------
    >>> format_size((1000,)), format_size((3, 2))
    ('1,000 elements', '3×2')
    """
    return (
        f"{shape[0]:,} element{'s' * (shape[0] != 1)}" if len(shape) == 1 else format_shape(shape)
    )


def format_chunks(value: Any) -> str:
    """Format the number and size of the chunks of a lazy array as Dask does, or return '' for a single number.

    If chunks differ in size, "up to" precedes the largest size, unless only the last chunk of an axis is smaller.
    """
    if not value.shape:
        return ""
    count = math.prod(map(len, value.chunks))
    if count == 1:
        return ONE_CHUNK
    even = all(len({*cut[:-1]}) < 2 and cut[-1] <= cut[0] for cut in value.chunks)
    return f"{count:,} chunks of {'' if even else 'up to '}{_lengths(map(max, value.chunks))}"


def format_state(value: Any) -> str:
    """Format the state of a lazy array whose numbers aren't shown: not computed, or where its chunks are stored."""
    return getattr(value, "location", "") or NOT_COMPUTED


def format_lazy(value: Any) -> str:
    """Format the chunks and the state of a lazy array."""
    return ", ".join(filter(None, [format_chunks(value), format_state(value)]))


def printable(text: str) -> str:
    """Replace all characters that aren't printable, such as line breaks, by spaces."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text)


def clipped(text: str, limit: int) -> str:
    """Cut text to at most `limit` characters, the last of which is then an ellipsis.

    Examples
    --------
    >>> clipped("gradient", 8), clipped("gradient", 5)
    ('gradient', 'grad…')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def label(name: str) -> str:
    r"""Format the name of a Variable, which may be any string, on one short line.

    Examples
    --------
    >>> label("two\nlines"), label("x" * 1000)[-4:]
    ('two lines', 'xxx…')
    """
    return clipped(printable(name), MAX_LINE)


def own_name(variable: Any) -> str:
    """Return the name that a Variable was created with, without the ``:0`` that TensorFlow appends."""
    name: str = getattr(variable, "name", "unnamed")
    return name.removesuffix(":0")


def format_cell_value(value: Any, is_target: bool) -> str | None:
    """Return the repr of a cell's value, or None if the report shows it already or it may differ between runs."""
    if value is None or is_target or not _has_stable_repr(value):
        return None
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 (a user class may raise anything)
        return f"a {type(value).__name__}, whose repr() raises {type(error).__name__}"
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]} …"


def _has_stable_repr(value: Any) -> bool:
    """Return True if the repr of a value is the same in every run, because it contains no address."""
    if type(value) in (list, tuple):
        return all(map(_has_stable_repr, value))
    if type(value) is dict:
        return all(map(_has_stable_repr, value)) and all(map(_has_stable_repr, value.values()))
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind != "O")
    return value is None or isinstance(value, Traced | np.generic | int | float | complex | str)


def subscript(number: int) -> str:
    """Write a number in subscript digits, as in w₂, the second value of a variable w."""
    return str(number).translate(AS_SUBSCRIPTS)


def numbered(name: str, taken: Container[str]) -> str:
    """Append the first number in subscript digits that makes a name different from those that are taken.

    Examples
    --------
    >>> numbered("w", {"w", "w₁"})
    'w₂'
    """
    return next(new for k in count(1) if (new := f"{name}{subscript(k)}") not in taken)


def unique_name(name: str, taken: Container[str]) -> str:
    """Append a number to a name if it is taken.

    Examples
    --------
    >>> unique_name("w", {"w"})
    'w (2)'
    """
    candidate, copy = name, 1
    while candidate in taken:
        copy += 1
        candidate = f"{name} ({copy})"
    return candidate


def without_subscript(name: str) -> str:
    """Remove the subscript digits at the end of a name."""
    return name.rstrip(SUBSCRIPTS)


def barred(name: str) -> str:
    """Put a bar over a name, the symbol of its gradient.

    HTML and LaTeX draw one line over all of a name that matches `BARRED`; `bars_as_text` is for plain text.

    Examples
    --------
    >>> barred("x1"), bars_as_text(f"{barred('loss')} = 1.0")
    ('x̄1', 'bar(loss) = 1.0')
    """
    letter = name[:1]
    # A letter with a combining macron is legible everywhere. Python composes the letters of names (ā), so that no
    # variable looks like it. Longer names get a mark after each character, which tells where the bar ends.
    if letter.isascii() and letter.isalpha() and not name[1:].strip(SUBSCRIPTS + "0123456789"):
        return f"{letter}{MACRON}{name[1:]}"
    return "".join(f"{char}{OVERLINE}" for char in name)


def bars_as_text(text: str) -> str:
    """Write the bars over names as plain text can show them: x̄1, but bar(loss)."""
    # Fonts draw the bar over l higher than that over o, or lack the mark (Liberation).
    return replace_bars(text, _bar_as_text)


def _bar_as_text(name: str) -> str:
    short = barred(name)
    return f"bar({name})" if OVERLINE in short else unicodedata.normalize("NFC", short)


def replace_bars(text: str, show: Callable[[str], str], other: Callable[[str], str] = str) -> str:
    """Join what `show` returns for each name with a bar, and what `other` returns for the text between."""
    if MACRON not in text and OVERLINE not in text:
        return other(text)
    parts, end = [], 0
    for match in BARRED.finditer(text):
        name = match[0].replace(MACRON, "").replace(OVERLINE, "")
        parts += [other(text[end : match.start()]), show(name)]
        end = match.end()
    return "".join([*parts, other(text[end:])])


def format_line(place: Place) -> str:
    """Format a line of a program: its number, the name of its file if it isn't a cell, and its text."""
    text = source_line(place).strip().removesuffix(":")
    # A statement over several lines continues after an open bracket.
    text = text.rstrip("([{") + "…" * text.endswith(("(", "[", "{"))
    short = clipped(text, MAX_LINE)
    name = (
        "" if CELL_FILE.search(place.file) or place.file.startswith("<") else Path(place.file).name
    )
    return f"line {place.line}" + (f" of {name}" if name else "") + (f" ({short})" if short else "")


def format_lines(lines: tuple[int, int] | None) -> str:
    """Format the lines of a loop: line 4, lines 4–5, or loop if they aren't known."""
    if lines is None:
        return "loop"
    first, last = lines
    return f"line {first}" if first == last else f"lines {first}–{last}"


def format_sum(names: Sequence[str], of_arrays: bool) -> str:
    """Name the sum of some numbers, or of the elements of arrays, which a tape differentiates.

    Examples
    --------
    >>> format_sum(["y"], False), format_sum(["fit", "penalty"], False), format_sum(["y"], True)
    ('y', 'fit + penalty', 'the sum of y')
    """
    if of_arrays or len(names) > MAX_TERMS:
        return f"the sum of {', '.join(names)}"
    return " + ".join(names)


def derivative_symbol(target: str, source: str, order: int) -> str:
    """Format the symbol of a derivative: d²y/dx²."""
    power = "" if order == 1 else "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(order))
    return f"d{power}{_operand(target)}/d{_operand(source)}{power}"


def mixed_derivative_symbol(target: str, first: str, second: str) -> str:
    """Format the symbol of a second derivative with respect to two variables: d²y/dx dw."""
    return f"d²{_operand(target)}/d{_operand(first)} d{_operand(second)}"


def _operand(name: str) -> str:
    """Format a name or expression that follows a d, in parentheses if it could be misread."""
    return f"({name})" if DIFFERENTIAL.fullmatch(name) else bracketed(name)


def bracketed(name: str) -> str:
    """Put parentheses around an expression that isn't a name."""
    return name if without_subscript(name).isidentifier() else f"({name})"
