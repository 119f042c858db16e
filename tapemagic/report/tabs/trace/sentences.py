"""The sentences of the steps through a trace."""

from __future__ import annotations

from collections.abc import Sequence

from tapemagic.explain.formatting import clipped, format_lines, format_size, printable
from tapemagic.report.tabs.trace.reverse_sweep import AdjointStep, equation
from tapemagic.report.tabs.trace.trace_rows import TraceRow

LONGEST = 200
"""The number of characters of a sentence."""


def first_that_fits(*sentences: str, before: str = "") -> str:
    """The first of some sentences that is short enough, or else the last one, cut; all begin with the words `before`.

    Examples
    --------
    >>> first_that_fits("v1 = a + b = 3.0", "v1 = 3.0", before="line 2: ")
    'line 2: v1 = a + b = 3.0'
    """
    full = [printable(before + sentence) for sentence in sentences]
    return clipped(next((words for words in full if len(words) <= LONGEST), full[-1]), LONGEST)


def where(row: TraceRow) -> str:
    """The lines of a row, to begin its sentence with; empty if they are not known, or its words tell them."""
    lines = format_lines(row.lines)
    return f"{lines}: " if row.lines and lines not in row.words else ""


def operation(row: TraceRow, before: str) -> str:
    """The sentence of an operation, forward."""
    formula, numbers = _choice(row.formula), _choice(row.numbers)
    return first_that_fits(
        equation(row.symbol, formula, numbers, row.value),
        equation(row.symbol, formula, row.value),
        equation(row.symbol, row.value),
        before=before + where(row),
    )


def _choice(formula: str) -> str:
    """A formula, in brackets if it is a choice: an equals sign behind it would belong to its last case.

    Examples
    --------
    >>> _choice("x if x > 0, else 0"), _choice("max(0, x)")
    ('(x if x > 0, else 0)', 'max(0, x)')
    """
    depth = 0
    for k, letter in enumerate(formula):
        depth += (letter in "([") - (letter in ")]")
        if not depth and formula.startswith(", else ", k):
            return f"({formula})"
    return formula


def seed(entry: AdjointStep, symbol: str, goal: str, among: str, before: str) -> str:
    """The sentence for the gradient with which the sweep begins at a target."""
    if goal == symbol:
        words = f"{entry.equation}: the gradient of {symbol} with respect to itself"
    elif goal == f"the sum of {symbol}":
        words = f"{entry.equation}: the gradient of {goal} with respect to {symbol}"
    else:
        words = f"{symbol} is one of the {among}: {entry.symbol} begins with {entry.after}"
    return first_that_fits(words, entry.equation, before=before)


def share(entry: AdjointStep, symbol: str, shape: tuple[int, ...], before: str) -> str:
    """The sentence for what an operation passes back to one of its inputs; of an unknown array with the shape."""
    size = f"; shape {format_size(shape)}" if shape and not (entry.added or entry.after) else ""
    if entry.before is None:
        formula, numbers = _choice(entry.formula), _choice(entry.numbers)
        return first_that_fits(
            equation(entry.symbol, formula, numbers, entry.after) + size,
            equation(entry.symbol, formula, entry.after),
            equation(entry.symbol, entry.after),
            before=before,
        )
    has = f"added to what {symbol} has"
    if entry.before and entry.added and entry.after:
        end = f"{has}: {entry.before} + {entry.added} = {entry.after}"
    elif entry.after:
        end = f"{has}; {'in all' if entry.is_last else 'so far'} {entry.symbol} = {entry.after}"
    else:
        end = has + size
    formula, numbers = (_choice(_bare(x)) for x in (entry.formula, entry.numbers))
    added = _bare(entry.added)
    return first_that_fits(
        f"{equation(formula, numbers, added)}, {end}",
        f"{equation(formula, added)}, {end}",
        end,
        before=before,
    )


def _bare(formula: str) -> str:
    """A formula without the brackets around the whole of it."""
    depth = 0
    for k, letter in enumerate(formula):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return formula[1:-1] if k and k == len(formula) - 1 else formula
    return formula


def whole(entry: AdjointStep, symbol: str, goal: str, before: str) -> str:
    """The sentence for the complete gradient of a watched value."""
    if entry.after == "None":
        return first_that_fits(f"no gradient reaches {symbol}: None", before=before)
    return first_that_fits(
        f"the gradient of {goal} with respect to {symbol} is complete: {entry.equation}",
        f"the gradient with respect to {symbol} is complete: {entry.equation}",
        entry.equation,
        before=before,
    )


def derivative(symbol: str, value: str, goal: str, source: str, before: str) -> str:
    """The sentence for a derivative of the next order, for which a sweep is done."""
    return first_that_fits(
        f"the gradient of {goal} with respect to {source} is complete: {equation(symbol, value)}",
        equation(symbol, value),
        before=before,
    )


def none_of(symbols: Sequence[str], before: str) -> str:
    """The sentence for values that no gradient reaches."""
    return first_that_fits(
        f"no gradient reaches {', '.join(symbols)}: None",
        f"no gradient reaches {len(symbols):,} values: None",
        before=before,
    )


def listed(
    words: str, equations: Sequence[str], most: int = 3, before: str = "", joint: str = ": "
) -> str:
    """The sentence for several values at once: as many of them as there is room for.

    Examples
    --------
    >>> listed("line 4, iteration 2 of 9", ["w = 0.5", "loss = 0.3"])
    'line 4, iteration 2 of 9: w = 0.5, loss = 0.3'
    """
    sentences = []
    for count in range(min(most, len(equations)), 0, -1):
        more = ", …" * (count < len(equations))
        sentences.append(f"{words}{joint}{', '.join(equations[:count])}{more}")
    return first_that_fits(*sentences, words, before=before)
