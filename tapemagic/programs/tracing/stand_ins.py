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
"""Count the references to an object; nan, which equals no count, if Python does not count them."""


def survivors(stand_ins: dict[int, tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Empty a dict of stand-ins, and return the pairs whose stand-in is still referred to elsewhere.

    - `stand_ins`: Dict of int to (object, object). Pairs of original and stand-in by the identity of the stand-in;
      parts before the lists that contain them.
    """
    remaining: list[tuple[Any, Any]] = []
    # A fresh object has the count of one that nothing else refers to, in any version of Python.
    x, stand_in = None, object()
    own = references(stand_in)
    while stand_ins:
        _, (x, stand_in) = stand_ins.popitem()
        if references(stand_in) != own:
            remaining.append((x, stand_in))
    return remaining


def put_values(trace: Any, stand_ins: list[tuple[Any, Any]]) -> None:
    """Replace the symbols of a closed trace by their values, and stand-ins by the original objects.

    Elsewhere, such as in a suspended generator, a symbol stays, which computes like its value.
    """
    old: list[Any] = [x for x in gc.get_referrers(trace) if type(x) is Symbol]
    replacements: list[Any] = [concrete(x) for x in old]
    while stand_ins:
        x, stand_in = stand_ins.pop()
        old.append(stand_in)
        replacements.append(x)
    for _ in range(MAX_DEPTH):
        if not old:
            return
        values = dict(zip(map(id, old), replacements, strict=True))
        next_old: list[Any] = []
        next_replacements: list[Any] = []
        # The lists of this function refer to the objects as well.
        ours = {id(old), id(replacements), id(values), id(next_old), id(next_replacements)}
        for holder in gc.get_referrers(*old):
            if id(holder) in ours:
                continue
            if isinstance(holder, tuple):
                # A tuple can't be changed: in the next round, its holders get the new one.
                parts = [values.get(id(x), x) for x in tuple.__iter__(holder)]
                next_old.append(holder)
                next_replacements.append(tuple.__new__(type(holder), parts))
            else:
                # The class of a holder may raise any error, and another thread may change it meanwhile.
                with suppress(Exception):
                    _replace_in(holder, values)
        old, replacements = next_old, next_replacements


def _replace_in(holder: Any, values: dict[int, Any]) -> None:
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
        _replace_in_dict(holder, values)
    else:
        # The attributes of an object may be stored without a dict, until code reads it.
        with suppress(AttributeError):
            _replace_in_dict(object.__getattribute__(holder, "__dict__"), values)
        for base in kind.__mro__:
            for name in slots_of(base):
                if id(x := getattr(holder, name, None)) in values:
                    object.__setattr__(holder, name, values[id(x)])


def _replace_in_dict(holder: dict[Any, Any], values: dict[int, Any]) -> None:
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
