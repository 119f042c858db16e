"""Symbols of the values in a recording, and their values as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.explain.formatting import SHOWN, format_size, format_value
from tapemagic.explain.lazy_values import has_numbers, is_pending
from tapemagic.explain.nonfinite import is_finite
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary, summarise
from tapemagic.report.tabs.graph.boxes import ConstantNames
from tapemagic.report.tabs.trace.notation import Symbol, escaped, symbol_of

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
