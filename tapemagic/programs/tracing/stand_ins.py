"""Replace the symbols and stand-ins that a traced call has stored in lists, dicts, attributes and variables."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from types import CellType
from typing import Any

from tapemagic.engine.tensor.tensor import Tensor, put_value, unwrap
from tapemagic.programs.entries import slots_of
from tapemagic.programs.tracing.symbol import Symbol, concrete

MAX_DEPTH = 5
"""The maximum depth of nested tuples that are rebuilt."""

references: Callable[[Any], float] = getattr(sys, "getrefcount", lambda _: float("nan"))
"""The number of references to an object: nan where Python does not count them, so that any may be left."""


def survivors(stand_ins: dict[int, tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The stand-ins to which something else still refers, each after what it represents; empties the dict.

    Parameters
    ----------
    stand_ins : dict of int to (object, object)
        What each represents, and the stand-in, by its identity: those in lists and tuples before these.
    """
    found: list[tuple[Any, Any]] = []
    x, made = None, object()
    own = references(made)
    while stand_ins:
        _, (x, made) = stand_ins.popitem()
        if references(made) != own:
            found.append((x, made))
    return found


def put_values(trace: Any, stand_ins: list[tuple[Any, Any]]) -> None:
    """Replace the symbols of a closed trace by their values, and stand-ins by what they represent.

    Elsewhere, such as in a suspended generator, a symbol stays, which computes like its value.
    """
    olds: list[Any] = [x for x in gc.get_referrers(trace) if type(x) is Symbol]
    news: list[Any] = [concrete(x) for x in olds]
    while stand_ins:
        x, made = stand_ins.pop()
        olds.append(made)
        news.append(x)
    for _ in range(MAX_DEPTH):
        if not olds:
            return
        values = dict(zip(map(id, olds), news, strict=True))
        next_olds: list[Any] = []
        next_news: list[Any] = []
        ours = {id(olds), id(news), id(values), id(next_olds), id(next_news)}
        for holder in gc.get_referrers(*olds):
            if id(holder) in ours:
                continue
            if isinstance(holder, tuple):
                parts = [values.get(id(x), x) for x in tuple.__iter__(holder)]
                next_olds.append(holder)
                next_news.append(tuple.__new__(type(holder), parts))
            else:
                # The class of a holder may raise any error, and another thread may change it meanwhile.
                with suppress(Exception):
                    _put(holder, values)
        olds, news = next_olds, next_news


def _put(holder: Any, values: dict[int, Any]) -> None:
    """Replace objects in one holder: a list, dict, cell, tensor or object."""
    kind: Any = type(holder)
    if kind is Symbol:
        return
    if issubclass(kind, Tensor):
        if id(unwrap(holder)) in values:
            put_value(holder, values[id(unwrap(holder))])
    elif kind is CellType:
        holder.cell_contents = values.get(id(holder.cell_contents), holder.cell_contents)
    elif issubclass(kind, list):
        for k, x in enumerate([*list.__iter__(holder)]):
            if id(x) in values:
                list.__setitem__(holder, k, values[id(x)])
    elif issubclass(kind, dict):
        _put_in_dict(holder, values)
    else:
        # The attributes of an object may be stored without a dict, until code reads it.
        with suppress(AttributeError):
            _put_in_dict(object.__getattribute__(holder, "__dict__"), values)
        for base in kind.__mro__:
            for name in slots_of(base):
                if id(x := getattr(holder, name, None)) in values:
                    object.__setattr__(holder, name, values[id(x)])


def _put_in_dict(holder: dict[Any, Any], values: dict[int, Any]) -> None:
    items = [(key, values[id(x)]) for key, x in dict.items(holder) if id(x) in values]
    if not items:
        return
    # Python caches what it finds in the dict of a class, so only the class may change it.
    owners = (x for x in gc.get_referrers(holder) if isinstance(x, type))
    owner = next((x for x in owners if vars(x).get(items[0][0]) is holder[items[0][0]]), None)
    for key, value in items:
        if owner is not None:
            type.__setattr__(owner, key, value)
        else:
            dict.__setitem__(holder, key, value)
