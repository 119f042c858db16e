"""Symbols that replace the tensors that a custom gradient reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.engine.tensor.variable import Variable, exchange

MAX_DEPTH = 12
"""Maximum depth of the search for tensors in functions, lists and dicts."""

Find = Callable[[Any, str], Any]


@contextmanager
def symbols_in(pullback: Any, of_tensor: Find, of_array: Find) -> Iterator[None]:
    """Replace the values of tensors, Variables and arrays that a function refers to by symbols, inside the block.

    Parameters
    ----------
    pullback : callable
    of_tensor : callable
        Returns the symbol for a tensor or Variable and its name, or None to keep its value.
    of_array : callable
        Like `of_tensor`, for an array.
    """
    undo: list[Callable[[], Any]] = []
    try:
        # A list, because replacing values changes what the search would find.
        for holder, name in list(_holders(pullback, "", set(), MAX_DEPTH)):
            _replace_value(holder, name, of_tensor, of_array, undo)
        yield
    finally:
        for back in reversed(undo):
            back()


def _replace_value(
    holder: Any, name: str, of_tensor: Find, of_array: Find, undo: list[Callable[[], Any]]
) -> None:
    # A Variable is a Tensor, but its value may be changed by other threads, hence `exchange`.
    if isinstance(holder, Variable):
        symbol = of_tensor(holder, name)
        if symbol is not None:
            undo.append(partial(exchange, holder, exchange(holder, symbol)))
    elif isinstance(holder, Tensor):
        before = holder._value
        symbol = of_tensor(holder, name)
        if symbol is not None:
            undo.append(partial(setattr, holder, "_value", before))
            holder._value = symbol
    else:
        before = holder.cell_contents
        symbol = of_array(before, name)
        if symbol is not None:
            undo.append(partial(setattr, holder, "cell_contents", before))
            holder.cell_contents = symbol


def _holders(x: Any, name: str, seen: set[int], depth: int) -> Iterator[tuple[Any, str]]:
    """Yield the tensors and the cells with arrays that an object refers to, each once, with their names."""
    if id(x) in seen or not depth:
        return
    seen.add(id(x))  # `pullback` keeps the objects alive, so their ids stay valid
    values = _content(x) if isinstance(x, CellType) else ()
    has_array = any(isinstance(value, np.ndarray | np.generic) for value in values)
    if isinstance(x, Tensor | Variable) or has_array:
        yield x, name
    else:
        for part, inner in _parts(x, name):
            yield from _holders(part, inner, seen, depth - 1)


def _content(cell: CellType) -> tuple[Any, ...]:
    """Return the value in a cell as a tuple, which is empty for a cell without a value."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _parts(x: Any, name: str) -> Iterator[tuple[Any, str]]:
    """Yield the objects to which an object refers, with their names."""
    if isinstance(x, FunctionType):
        yield from zip(x.__closure__ or (), x.__code__.co_freevars, strict=True)
        yield from ((part, name) for part in (x.__defaults__, x.__kwdefaults__))
        read = ((x.__globals__.get(word), word) for word in x.__code__.co_names)
        yield from (pair for pair in read if isinstance(pair[0], Tensor | Variable))
    elif isinstance(x, dict):
        yield from ((part, key if isinstance(key, str) else name) for key, part in x.items())
    else:
        parts: Any = ()
        if isinstance(x, CellType):
            parts = _content(x)
        elif isinstance(x, partial):
            parts = x.func, x.args, x.keywords
        elif isinstance(x, MethodType):
            parts = x.__func__, x.__self__
        elif isinstance(x, list | tuple):
            parts = x
        yield from ((part, name) for part in parts)
