"""Names, numbers and formulas in mathematical notation, as text and as LaTeX."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tapemagic.explain.formatting import (
    BARRED,
    SHOWN,
    SUBSCRIPTS,
    barred,
    clipped,
    format_size,
    format_value,
    printable,
)
from tapemagic.explain.lazy_values import has_numbers, is_pending
from tapemagic.explain.nonfinite import is_finite
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary, summarise
from tapemagic.report.tabs.graph.boxes import ConstantNames

CHOICE, SUM, SIGN, PRODUCT, POWER, ATOM = range(6)
"""The precedence of the parts of a formula; a part of lower precedence gets brackets."""

MAX_NAME_LENGTH = 60
"""The number of characters of a name."""

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# A name with an index or in a call, a number, a shape: these need no brackets in a product or power.
ATOMIC = re.compile(r"[^\W\d][\w.₀-₉]*(\[[^\[\]]*\]|\([^()]*\))*|\d[\d.]*|\[.*\]|nan|inf")
SCIENTIFIC = re.compile(r"\d[\d.]*e[+-]?\d+")
NEGATIVE = re.compile(r"-[\d.]+(e[+-]?\d+)?|-inf")
INTEGER = re.compile(r"(\d+)(\.0)?")
RELATIONS: Mapping[type, tuple[str, str]] = {
    ast.Lt: ("<", "<"),
    ast.Gt: (">", ">"),
    ast.LtE: ("≤", r"\le"),
    ast.GtE: ("≥", r"\ge"),
    ast.Eq: ("=", "="),
}
CALLED = {"sigmoid": "σ"}
FUNCTIONS = "ln sin cos tan sinh cosh tanh arcsin arccos arctan max min det"
LATEX_FUNCTIONS = frozenset(FUNCTIONS.split())
SMALL_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega varsigma"
)
CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
GREEK = frozenset(f"{SMALL_LETTERS} {CAPITALS}".split())
# Unicode spells some names unlike LaTeX.
SPELLED = {"lamda": "lambda", "final sigma": "varsigma"}
ESCAPED = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{char: f"\\{char}" for char in "{}$#%&_"},
}


class Symbol(NamedTuple):
    """The symbol of a value, as text and as LaTeX."""

    text: str
    latex: str


class Piece(NamedTuple):
    """A part of a formula as text and as LaTeX, with its precedence."""

    text: str
    latex: str
    binding: int

    def inside(self, binding: int) -> Piece:
        """Put this part in brackets if its precedence is lower."""
        if self.binding >= binding:
            return self
        return Piece(f"({self.text})", rf"\left({self.latex}\right)", ATOM)


@dataclass(frozen=True)
class Reduction:
    """The axis of a sum in a formula; None means all elements."""

    axis: object = None


def symbol_of(name: str) -> Symbol:
    r"""Return the symbol of a named value.

    Examples
    --------
    >>> symbol_of("w₁₂"), symbol_of("loss")
    (Symbol(text='w₁₂', latex='w_{12}'), Symbol(text='loss', latex='\\mathrm{loss}'))
    """
    name = clipped(printable(name), MAX_NAME_LENGTH)
    stem = name.rstrip(SUBSCRIPTS + "0123456789")
    index = name[len(stem) :].translate({ord(s): str(k) for k, s in enumerate(SUBSCRIPTS)})
    letter = _letter(stem)
    if not letter:
        stem, index = (stem, index) if stem.isidentifier() else (name, "")
        letter = rf"\mathrm{{{escaped(stem)}}}" if stem.isascii() else rf"\text{{{escaped(stem)}}}"
    return Symbol(name, f"{letter}_{{{index}}}" if index else letter)


def _letter(stem: str) -> str:
    """Return the LaTeX of a Latin or Greek letter, or '' for other characters."""
    if len(stem) != 1:
        return ""
    if stem.isascii() and stem.isalpha():
        return stem
    kind, _, name = unicodedata.name(stem, "").partition(" LETTER ")
    name = SPELLED.get(name.lower(), name.lower())
    name = name.capitalize() if kind == "GREEK CAPITAL" else name
    return f"\\{name}" if kind.startswith("GREEK") and name in GREEK else ""


def escaped(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(ESCAPED.get(char, char) for char in text)


def bar(symbol: Symbol) -> Symbol:
    r"""Return the symbol of an adjoint: the symbol of its value with a bar.

    Examples
    --------
    >>> bar(symbol_of("x1"))
    Symbol(text='x̄1', latex='\\bar{x}_{1}')
    >>> bar(symbol_of("loss")).latex
    '\\overline{\\mathrm{loss}}'
    """
    text = barred(symbol.text)
    letter, mark, index = symbol.latex.partition("_{")
    if len(letter) == 1 or letter[1:] in GREEK:
        return Symbol(text, rf"\bar{{{letter}}}{mark}{index}")
    return Symbol(text, rf"\overline{{{symbol.latex}}}")


def rendered(
    expression: str, symbols: Mapping[str, Symbol], reduction: Reduction | None = None
) -> Piece:
    """Write a formula with symbols instead of names.

    - `expression`: A Python expression.
    - `symbols`: The symbols for the names in it.
    - `reduction`: How ``total``, ``spread`` and their like go along axes.

    Raises KeyError if a name has no symbol.

    Examples
    --------
    >>> x, g = symbol_of("x"), bar(symbol_of("v1"))
    >>> rendered("g * (1 - cos(a)**2) / a", {"a": x, "g": g}).text
    'v̄1 · (1 - cos(x)²) / x'
    """
    return _Writer(symbols, reduction or Reduction()).write(_parsed(expression))


@lru_cache(1024)
def _parsed(expression: str) -> ast.expr:
    return ast.parse(expression, mode="eval").body


class _Writer:
    """Writes one formula."""

    def __init__(self, symbols: Mapping[str, Symbol], reduction: Reduction) -> None:
        self.symbols = symbols
        self.axis = reduction.axis

    def write(self, node: ast.expr) -> Piece:
        """Write a part of the formula."""
        match node:
            case ast.Name(name):
                return self.operand(self.symbols[name])
            case ast.Constant(value):
                return Piece(str(value), str(value), ATOM)
            case ast.Tuple():
                return Piece(ast.unparse(node), ast.unparse(node), ATOM)
            case ast.BinOp(left, op, right):
                return self.binary(left, op, right)
            case ast.UnaryOp(ast.USub(), inner):
                x = self.write(inner).inside(PRODUCT)
                return Piece(f"-{x.text}", f"-{x.latex}", SIGN)
            case ast.Compare(left, ops, operands):
                return self.compared(left, ops, operands)
            case ast.IfExp(test, then, otherwise):
                t, x, z = self.write(test), self.write(then), self.write(otherwise)
                latex = rf"\begin{{cases}}{x.latex}&\text{{if }}{t.latex}\\{z.latex}&\text{{else}}\end{{cases}}"
                return Piece(f"{x.text} if {t.text}, else {z.text}", latex, CHOICE)
            case ast.Attribute(inner, "T"):
                x = self.write(inner).inside(ATOM)
                return Piece(f"{x.text}ᵀ", rf"{{{x.latex}}}^{{\top}}", ATOM)
            case ast.Subscript(inner, index):
                x, place = self.write(inner).inside(ATOM), ast.unparse(index)
                return Piece(f"{x.text}[{place}]", rf"{x.latex}\left[{escaped(place)}\right]", ATOM)
            case ast.Call(ast.Name(name), arguments):
                return self.called(name, [self.write(x) for x in arguments])
        raise NotImplementedError(ast.dump(node))

    @staticmethod
    def operand(symbol: Symbol) -> Piece:
        """Write the symbol of a value."""
        text, latex = symbol
        if NEGATIVE.fullmatch(text):
            return Piece(text, latex, SIGN)
        if SCIENTIFIC.fullmatch(text):
            return Piece(text, latex, POWER)
        is_atom = ATOMIC.fullmatch(text) or BARRED.fullmatch(text)
        return Piece(text, latex, ATOM if is_atom else CHOICE)

    def binary(self, left: ast.expr, op: ast.operator, right: ast.expr) -> Piece:
        """Write a sum, difference, product, quotient or power."""
        x, z = self.write(left), self.write(right)
        if isinstance(op, ast.Pow):
            return self.power(x.inside(ATOM), z)
        if isinstance(op, ast.Add | ast.Sub):
            sign = "+" if isinstance(op, ast.Add) else "-"
            x, z = x.inside(SUM), z.inside(PRODUCT)
            return Piece(f"{x.text} {sign} {z.text}", f"{x.latex}{sign}{z.latex}", SUM)
        # -2.0 · x needs no brackets, unlike the negation of a formula.
        is_number = x.binding == SIGN and isinstance(left, ast.Name)
        binding = SIGN if is_number else PRODUCT
        if isinstance(op, ast.Div):
            over = Piece("", rf"\frac{{{x.latex}}}{{{z.latex}}}", PRODUCT)
            x, z = x.inside(binding), z.inside(POWER)
            return Piece(f"{x.text} / {z.text}", over.latex, binding)
        # a · (b · c) is written without brackets, but a / (b / c) and a - (b - c) keep them.
        tight = PRODUCT if isinstance(right, ast.BinOp) and type(right.op) is type(op) else POWER
        x, z = x.inside(binding), z.inside(tight)
        mark, latex = ("@", r"\,") if isinstance(op, ast.MatMult) else ("·", r" \cdot ")
        return Piece(f"{x.text} {mark} {z.text}", f"{x.latex}{latex}{z.latex}", binding)

    @staticmethod
    def power(x: Piece, z: Piece) -> Piece:
        """Write a power; an integer exponent is superscript."""
        latex = rf"{{{x.latex}}}^{{{z.latex}}}"
        if integer := INTEGER.fullmatch(z.text):
            return Piece(x.text + integer[1].translate(SUPERSCRIPTS), latex, POWER)
        return Piece(f"{x.text}^{z.inside(ATOM).text}", latex, POWER)

    def compared(self, left: ast.expr, ops: list[ast.cmpop], operands: list[ast.expr]) -> Piece:
        """Write a comparison of two values."""
        text, latex, _ = self.write(left)
        for op, operand in zip(ops, operands, strict=True):
            words, command = RELATIONS[type(op)]
            x = self.write(operand)
            text, latex = f"{text} {words} {x.text}", f"{latex} {command} {x.latex}"
        return Piece(text, latex, CHOICE)

    def called(self, name: str, arguments: list[Piece]) -> Piece:
        """Write a function call."""
        if name in NOTATIONS:
            return NOTATIONS[name](arguments[0], self.axis)
        return call(name, [Symbol(x.text, x.latex) for x in arguments])


def call(name: str, arguments: list[Symbol]) -> Piece:
    """Write a function call with the plain name of the function."""
    texts, latexes = ", ".join(x.text for x in arguments), ", ".join(x.latex for x in arguments)
    command = f"\\{name}" if name in LATEX_FUNCTIONS else rf"\operatorname{{{escaped(name)}}}"
    # Textbooks write σ(x).
    command = r"\sigma" if name == "sigmoid" else command
    return Piece(f"{CALLED.get(name, name)}({texts})", rf"{command}\left({latexes}\right)", ATOM)


def _root(x: Piece, _axis: object) -> Piece:
    return Piece(f"√{x.inside(ATOM).text}", rf"\sqrt{{{x.latex}}}", ATOM)


def _absolute(x: Piece, _axis: object) -> Piece:
    return Piece(f"|{x.text}|", rf"\left|{x.latex}\right|", ATOM)


def _exponential(x: Piece, _axis: object) -> Piece:
    return Piece(f"exp({x.text})", rf"e^{{{x.latex}}}", ATOM)


def total(x: Piece, axis: object) -> Piece:
    """Write the sum of the elements of a value, along an axis or over all."""
    inner = x.inside(PRODUCT)
    if axis is not None:
        latex = rf"\operatorname{{sum}}\left({x.latex},\,\mathrm{{axis}}={axis}\right)"
        return Piece(f"sum({x.text}, axis={axis})", latex, ATOM)
    text = f"Σ {x.text}" if x.binding >= ATOM else f"Σ({x.text})"
    return Piece(text, rf"\sum {inner.latex}", PRODUCT)


def _mean(x: Piece, axis: object) -> Piece:
    end = "" if axis is None else f", axis={axis}"
    return Piece(f"mean({x.text}{end})", rf"\operatorname{{mean}}\left({x.latex}{end}\right)", ATOM)


def _spread(x: Piece, axis: object) -> Piece:
    """Write a value that is repeated for each element of a sum."""
    return x if axis is None else _called("repeat", x, f", axis={axis}")


def _called(name: str, x: Piece, end: str) -> Piece:
    latex = rf"\operatorname{{{name}}}\left({x.latex}{end}\right)"
    return Piece(f"{name}({x.text}{end})", latex, ATOM)


NOTATIONS: Mapping[str, Callable[[Piece, object], Piece]] = {
    "sqrt": _root,
    "abs": _absolute,
    "exp": _exponential,
    "total": total,
    "mean": _mean,
    "spread": _spread,
}
"""Functions with a mathematical notation."""


MAX_NUMBERS = 3
"""The largest number of inputs of an operation that is also written with numbers."""

SHORT = 24
"""The number of characters of an array in a formula."""


class Symbols:
    """The symbols of the values in a recording."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._constants = ConstantNames(subject)
        self._constant_names: dict[int, str] = {}

    def of(self, value: Any, i: int, written: str = "") -> Symbol:
        """Return the symbol of a value: its name, the expression in the program, its number, or its shape.

        - `written`: The expression that the program writes for a constant.
        """
        if self._subject.snapshot.tracks(i):
            return symbol_of(self._subject.symbols.get(i, "?"))
        if value is None:
            return Symbol("None", r"\text{None}")
        # Constants have no id on the tape. They live as long as the recording, so `id` is unique.
        if id(value) not in self._constant_names:
            self._constant_names[id(value)] = self._constants.of(value)[0]
        name = self._constant_names[id(value)] or written
        return symbol_of(name) if name else number_symbol(value)


def number_symbol(value: Any) -> Symbol:
    """Return the symbol of a value without a name: a number, a small array, or a shape."""
    text = format_value(value)
    if is_pending(value):
        text = f"[{format_size(value.shape)}]"
    if not np.shape(value):
        return Symbol(text, escaped(text))
    if len(text) > SHORT:
        shape = np.shape(value)
        text = f"[{format_size(shape)}{' array' * (len(shape) > 1)}]"
    return Symbol(text, rf"\text{{{escaped(text)}}}")


def number_symbols(values: Sequence[Any]) -> list[Symbol]:
    """Return the numbers of the inputs of an operation as symbols; empty if they aren't a few numbers."""
    # Long formulas with numbers are hard to read, and arrays don't fit.
    several = len(values) > MAX_NUMBERS
    if several or any(x is None or not has_numbers(x) or np.shape(x) for x in values):
        return []
    return [number_symbol(x) for x in values]


def text_of(value: Any) -> str:
    """Write a value or its summary in one line, or '' if it is missing."""
    return "" if value is None else summarise(value).text


def brief(value: Any) -> str:
    """Write a value that is short enough for a sum, or return ''."""
    if value is None or isinstance(value, Summary) or is_pending(value) or np.size(value) > SHOWN:
        return ""
    text = text_of(value)
    return text if len(text) <= SHORT else ""


def is_good(value: Any) -> bool:
    """Return True if a value, or what its summary shows, is finite."""
    if isinstance(value, Summary):
        return not any(word in value.text for word in ("nan", "inf"))
    return is_finite(value)


def several(x: Any) -> tuple[Any, ...]:
    """Return results or their ids as a tuple; a record stores a single one without a tuple."""
    return x if isinstance(x, tuple) else (x,)
