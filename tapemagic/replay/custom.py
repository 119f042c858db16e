"""Symbols for what a custom gradient reads: the tensors that its function computed, wherever the gradient keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.engine.tensor.variable import Variable, exchange

DEEPEST = 6
"""How deep functions, lists and dicts are searched for tensors."""

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
    if isinstance(x, Tensor | Variable):
        yield x, name
    elif isinstance(x, CellType):
        try:
            value = x.cell_contents
        except ValueError:  # not assigned yet
            return
        if isinstance(value, np.ndarray | np.generic):
            yield x, name
        yield from _holders(value, name, seen, depth)
    elif isinstance(x, partial):
        yield from _holders((x.func, x.args, x.keywords), name, seen, depth - 1)
    elif isinstance(x, MethodType):
        yield from _holders(x.__func__, name, seen, depth)
    elif isinstance(x, FunctionType):
        for variable, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True):
            yield from _holders(cell, variable, seen, depth - 1)
        yield from _holders((x.__defaults__, x.__kwdefaults__), name, seen, depth - 1)
        for variable in x.__code__.co_names:
            found = x.__globals__.get(variable)
            if isinstance(found, Tensor | Variable):
                yield from _holders(found, variable, seen, depth)
    elif isinstance(x, list | tuple):
        for part in x:
            yield from _holders(part, name, seen, depth - 1)
    elif isinstance(x, dict):
        for key, part in x.items():
            yield from _holders(part, key if isinstance(key, str) else name, seen, depth - 1)
