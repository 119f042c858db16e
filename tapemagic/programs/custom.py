"""Symbols for what a custom gradient reads: the tensors that its function computed, wherever they are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.engine.tensor.variable import Variable, exchange

DEEPEST = 12
"""The depth to which functions, lists and dicts are searched for tensors."""

Find = Callable[[Any, str], Any]


@contextmanager
def symbols_in(pullback: Any, of_tensor: Find, of_array: Find) -> Iterator[None]:
    """Put symbols into the tensors, variables and arrays that a function refers to, inside the block.

    Parameters
    ----------
    pullback : callable
    of_tensor : callable
        Gives the symbol for a tensor or Variable of a name; None if that stays as it is.
    of_array : callable
        The same for an array.
    """
    undo: list[Callable[[], Any]] = []
    try:
        for holder, name in list(_holders(pullback, "", set(), DEEPEST)):
            _put(holder, name, of_tensor, of_array, undo)
        yield
    finally:
        for back in reversed(undo):
            back()


def _put(
    holder: Any, name: str, of_tensor: Find, of_array: Find, undo: list[Callable[[], Any]]
) -> None:
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
    """The tensors that something refers to, and the cells with arrays, each once, with their names."""
    if id(x) in seen or not depth:
        return
    seen.add(id(x))
    if isinstance(x, Tensor | Variable) or (isinstance(x, CellType) and _holds_array(x)):
        yield x, name
    else:
        for part, inner in _parts(x, name):
            yield from _holders(part, inner, seen, depth - 1)


def _holds_array(cell: CellType) -> bool:
    return any(isinstance(value, np.ndarray | np.generic) for value in _content(cell))


def _content(cell: CellType) -> tuple[Any, ...]:
    """The value in a cell; nothing if it was not assigned yet."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _parts(x: Any, name: str) -> Iterator[tuple[Any, str]]:
    """The values to which something refers, with their names."""
    if isinstance(x, FunctionType):
        yield from zip(x.__closure__ or (), x.__code__.co_freevars, strict=True)
        yield from ((part, name) for part in (x.__defaults__, x.__kwdefaults__))
        known = ((x.__globals__.get(word), word) for word in x.__code__.co_names)
        yield from (pair for pair in known if isinstance(pair[0], Tensor | Variable))
    elif isinstance(x, dict):
        yield from ((part, key if isinstance(key, str) else name) for key, part in x.items())
    else:
        found: Any = ()
        if isinstance(x, CellType):
            found = _content(x)
        elif isinstance(x, partial):
            found = x.func, x.args, x.keywords
        elif isinstance(x, MethodType):
            found = x.__func__, x.__self__
        elif isinstance(x, list | tuple):
            found = x
        yield from ((part, name) for part in found)
