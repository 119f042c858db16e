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
    SHOWN,
    SUBSCRIPTS,
    clipped,
    format_size,
    format_value,
    printable,
    without_subscript,
)
from tapemagic.explain.lazy_values import has_numbers, is_pending
from tapemagic.explain.nonfinite import is_finite
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary, summarise
from tapemagic.report.tabs.graph.constants import ConstantNames

CHOICE, SUM, SIGN, PRODUCT, POWER, ATOM = range(6)
"""The precedence of the parts of a formula: those of a lower one stand in brackets."""

LONGEST_NAME = 60
"""The number of characters shown of a name."""

MACRON, OVERLINE = "\u0304", "\u0305"
"""Marks above the letter before them: a short line, and one that joins with that above the next letter."""
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ATOMIC = re.compile(r"bar\(.*\)|[^\W\d][\w.₀-₉]*(\[[\w'\".]*\])*|\d[\d.]*|\[.*\]|nan|inf")
SCIENTIFIC = re.compile(r"\d[\d.]*e[+-]?\d+")
NEGATIVE = re.compile(r"-[\d.]+(e[+-]?\d+)?|-inf")
WHOLE = re.compile(r"(\d+)(\.0)?")
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
SPELLED = {"lamda": "lambda", "final sigma": "varsigma"}
ESCAPED = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{char: f"\\{char}" for char in "{}$#%&_"},
}


class Symbol(NamedTuple):
    """The sign for a value in a formula, as text and as LaTeX."""

    text: str
    latex: str


class Piece(NamedTuple):
    """A part of a formula as text and as LaTeX, and how tightly it holds together."""

    text: str
    latex: str
    binding: int

    def inside(self, binding: int) -> Piece:
        """The same, in brackets if it holds less tightly."""
        if self.binding >= binding:
            return self
        return Piece(f"({self.text})", rf"\left({self.latex}\right)", ATOM)


@dataclass(frozen=True)
class Reduction:
    """The sum in a formula: over an axis, or over everything where that is None."""

    axis: object = None


def symbol_of(name: str) -> Symbol:
    r"""The symbol of a named value.

    Examples
    --------
    >>> symbol_of("w₁₂"), symbol_of("loss")
    (Symbol(text='w₁₂', latex='w_{12}'), Symbol(text='loss', latex='\\mathrm{loss}'))
    """
    name = clipped(printable(name), LONGEST_NAME)
    stem = name.rstrip(SUBSCRIPTS + "0123456789")
    index = name[len(stem) :].translate({ord(s): str(k) for k, s in enumerate(SUBSCRIPTS)})
    letter = _letter(stem)
    if not letter:
        stem, index = (stem, index) if stem.isidentifier() else (name, "")
        letter = rf"\mathrm{{{escaped(stem)}}}" if stem.isascii() else rf"\text{{{escaped(stem)}}}"
    return Symbol(name, f"{letter}_{{{index}}}" if index else letter)


def _letter(stem: str) -> str:
    """The LaTeX of a Latin or Greek letter; empty for anything else."""
    if len(stem) != 1:
        return ""
    if stem.isascii() and stem.isalpha():
        return stem
    kind, _, name = unicodedata.name(stem, "").partition(" LETTER ")
    name = SPELLED.get(name.lower(), name.lower())
    name = name.capitalize() if kind == "GREEK CAPITAL" else name
    return f"\\{name}" if kind.startswith("GREEK") and name in GREEK else ""


def escaped(text: str) -> str:
    """Text for LaTeX, in which no character has a meaning of its own."""
    return "".join(ESCAPED.get(char, char) for char in text)


def bar(symbol: Symbol) -> Symbol:
    r"""The symbol of the adjoint of a value: that of the value with a bar above it.

    Examples
    --------
    >>> bar(symbol_of("x1"))
    Symbol(text='x̄1', latex='\\bar{x}_{1}')
    >>> bar(symbol_of("loss")).text
    'l̅o̅s̅s̅'
    """
    text = f"bar({symbol.text})"
    stem = without_subscript(symbol.text)
    if stem.isidentifier():
        letters = stem.rstrip("0123456789")
        rest = symbol.text[len(letters) :]
        text = unicodedata.normalize("NFC", f"{letters}{MACRON}") + rest
        if len(letters) > 1:
            text = "".join(f"{letter}{OVERLINE}" for letter in letters) + rest
    letter, mark, index = symbol.latex.partition("_{")
    if len(letter) == 1 or letter[1:] in GREEK:
        return Symbol(text, rf"\bar{{{letter}}}{mark}{index}")
    return Symbol(text, rf"\overline{{{symbol.latex}}}")


def rendered(
    expression: str, symbols: Mapping[str, Symbol], reduction: Reduction | None = None
) -> Piece:
    """A formula with symbols in the place of its names.

    Parameters
    ----------
    expression : str
        A Python expression.
    symbols : mapping of str to Symbol
        The symbols for the names in it.
    reduction : Reduction, optional
        How ``total``, ``spread`` and their like go along axes.

    Raises
    ------
    KeyError
        If a name has no symbol.

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
    """A writer of one formula."""

    def __init__(self, symbols: Mapping[str, Symbol], reduction: Reduction) -> None:
        self.symbols = symbols
        self.axis = reduction.axis

    def write(self, node: ast.expr) -> Piece:
        """A part of the formula."""
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
            case ast.Compare(left, ops, others):
                return self.compared(left, ops, others)
            case ast.IfExp(test, one, other):
                t, x, z = self.write(test), self.write(one), self.write(other)
                latex = rf"\begin{{cases}}{x.latex}&\text{{if }}{t.latex}\\{z.latex}&\text{{else}}\end{{cases}}"
                return Piece(f"{x.text} if {t.text}, else {z.text}", latex, CHOICE)
            case ast.Attribute(inner, "T"):
                x = self.write(inner).inside(ATOM)
                return Piece(f"{x.text}ᵀ", rf"{{{x.latex}}}^{{\top}}", ATOM)
            case ast.Subscript(inner, index):
                x, place = self.write(inner).inside(ATOM), ast.unparse(index)
                return Piece(f"{x.text}[{place}]", rf"{x.latex}\left[{escaped(place)}\right]", ATOM)
            case ast.Call(ast.Name(name), given):
                return self.called(name, [self.write(x) for x in given])
        raise NotImplementedError(ast.dump(node))

    @staticmethod
    def operand(symbol: Symbol) -> Piece:
        """The symbol of a value."""
        text, latex = symbol
        if NEGATIVE.fullmatch(text):
            return Piece(text, latex, SIGN)
        if SCIENTIFIC.fullmatch(text):
            return Piece(text, latex, POWER)
        first = text[:1] + text[2:] if text[1:2] == "\u0304" else text
        return Piece(text, latex, ATOM if ATOMIC.fullmatch(first) else CHOICE)

    def binary(self, left: ast.expr, op: ast.operator, right: ast.expr) -> Piece:
        """A sum, a difference, a product, a quotient or a power."""
        x, z = self.write(left), self.write(right)
        if isinstance(op, ast.Pow):
            return self.power(x.inside(ATOM), z)
        if isinstance(op, ast.Add | ast.Sub):
            sign = "+" if isinstance(op, ast.Add) else "-"
            x, z = x.inside(SUM), z.inside(PRODUCT)
            return Piece(f"{x.text} {sign} {z.text}", f"{x.latex}{sign}{z.latex}", SUM)
        is_number = x.binding == SIGN and isinstance(left, ast.Name)
        binding = SIGN if is_number else PRODUCT
        if isinstance(op, ast.Div):
            over = Piece("", rf"\frac{{{x.latex}}}{{{z.latex}}}", PRODUCT)
            x, z = x.inside(binding), z.inside(POWER)
            return Piece(f"{x.text} / {z.text}", over.latex, binding)
        tight = PRODUCT if isinstance(right, ast.BinOp) and type(right.op) is type(op) else POWER
        x, z = x.inside(binding), z.inside(tight)
        mark, latex = ("@", r"\,") if isinstance(op, ast.MatMult) else ("·", r" \cdot ")
        return Piece(f"{x.text} {mark} {z.text}", f"{x.latex}{latex}{z.latex}", binding)

    @staticmethod
    def power(x: Piece, z: Piece) -> Piece:
        """A power; a whole number as exponent stands above the line."""
        latex = rf"{{{x.latex}}}^{{{z.latex}}}"
        if whole := WHOLE.fullmatch(z.text):
            return Piece(x.text + whole[1].translate(SUPERSCRIPTS), latex, POWER)
        return Piece(f"{x.text}^{z.inside(ATOM).text}", latex, POWER)

    def compared(self, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]) -> Piece:
        """A comparison."""
        text, latex, _ = self.write(left)
        for op, other in zip(ops, others, strict=True):
            words, command = RELATIONS[type(op)]
            x = self.write(other)
            text, latex = f"{text} {words} {x.text}", f"{latex} {command} {x.latex}"
        return Piece(text, latex, CHOICE)

    def called(self, name: str, given: list[Piece]) -> Piece:
        """A function of some values."""
        if name in NOTATIONS:
            return NOTATIONS[name](given[0], self.axis)
        return call(name, [Symbol(x.text, x.latex) for x in given])


def call(name: str, given: list[Symbol]) -> Piece:
    """A function of some values under its own name."""
    texts, latexes = ", ".join(x.text for x in given), ", ".join(x.latex for x in given)
    command = f"\\{name}" if name in LATEX_FUNCTIONS else rf"\operatorname{{{escaped(name)}}}"
    command = r"\sigma" if name == "sigmoid" else command
    return Piece(f"{CALLED.get(name, name)}({texts})", rf"{command}\left({latexes}\right)", ATOM)


def _root(x: Piece, _axis: object) -> Piece:
    return Piece(f"√{x.inside(ATOM).text}", rf"\sqrt{{{x.latex}}}", ATOM)


def _absolute(x: Piece, _axis: object) -> Piece:
    return Piece(f"|{x.text}|", rf"\left|{x.latex}\right|", ATOM)


def _exponential(x: Piece, _axis: object) -> Piece:
    return Piece(f"exp({x.text})", rf"e^{{{x.latex}}}", ATOM)


def total(x: Piece, axis: object) -> Piece:
    """The sum of the elements of a value, along an axis unless that is None."""
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
    """A value for each of the elements over which a sum went."""
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
"""Functions with a notation of their own."""


MAX_NUMBERS = 3
"""The number of inputs up to which an operation is written with numbers put in."""

SHORT = 24
"""The number of characters of an array that stands in a formula."""


class Symbols:
    """The symbols of the values in a recording.

    Parameters
    ----------
    subject : Subject
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._constants = ConstantNames(subject)
        self._known: dict[int, str] = {}

    def of(self, value: Any, i: int) -> Symbol:
        """The symbol of a value with an id or stamp: its name, or a number, or what is known of it."""
        if self._subject.snapshot.tracks(i):
            return symbol_of(self._subject.symbols.get(i, "?"))
        if value is None:
            return Symbol("None", r"\text{None}")
        if id(value) not in self._known:
            self._known[id(value)] = self._constants.of(value)[0]
        name = self._known[id(value)]
        return symbol_of(name) if name else number_symbol(value)


def number_symbol(value: Any) -> Symbol:
    """The symbol of a value without a name: a number, the elements of a small array, or the shape."""
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
    """The symbols of the inputs of an operation, to put numbers into its formula; empty unless they are few numbers."""
    several = len(values) > MAX_NUMBERS
    if several or any(x is None or not has_numbers(x) or np.shape(x) for x in values):
        return []
    return [number_symbol(x) for x in values]


def text_of(value: Any) -> str:
    """A value or its summary in one line; empty if it is not known."""
    return "" if value is None else summarise(value).text


def brief(value: Any) -> str:
    """A value that is short enough to stand in a sum; empty otherwise."""
    if value is None or isinstance(value, Summary) or is_pending(value) or np.size(value) > SHOWN:
        return ""
    text = text_of(value)
    return text if len(text) <= SHORT else ""


def is_good(value: Any) -> bool:
    """Whether a value, or what its summary tells of it, is finite."""
    if isinstance(value, Summary):
        return not any(word in value.text for word in ("nan", "inf"))
    return is_finite(value)


def several(x: Any) -> tuple[Any, ...]:
    """The results of an operation, or their ids, which are a tuple only if there are several."""
    return x if isinstance(x, tuple) else (x,)
