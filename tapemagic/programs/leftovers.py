"""Symbols that a traced call leaves behind: whatever refers to one gets the value itself in its place."""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from functools import lru_cache, partial
from queue import Empty, SimpleQueue
from types import (
    CellType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
)
from typing import Any

import numpy as np

from tapemagic.programs.frames import FRAMES, put_in_variables
from tapemagic.programs.symbol import Symbol, held

MOST_ROUNDS = 20
"""The number of tuples inside each other up to which they are made anew."""

FEW = 200
"""The number of objects up to which Python's own search for what refers to them is the quicker one."""

CHUNK = 500
"""The number of objects that are looked at together where many are searched for."""

CACHED = type(lru_cache(len))
"""The class of functions that keep their results."""

ITERATORS = frozenset({type(iter(())), type(reversed(())), enumerate, filter, map, reversed, zip})
"""The classes of iterators that are made anew, as they cannot be changed; those of lists and dicts need not be."""

references: Callable[[Any], float] = getattr(sys, "getrefcount", lambda _: float("nan"))
"""The number of references to an object: not a number where Python does not count them, so that all may be left."""


def survivors(stand_ins: dict[int, tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The stand-ins to which something else refers still, each with what it stands for; the dict is empty then.

    Parameters
    ----------
    stand_ins : dict of int to (object, object)
        What each stands for, and it itself, by its identity: those in lists and tuples before these.
    """
    found: list[tuple[Any, Any]] = []
    x, made = None, object()
    own = references(made)
    while stand_ins:
        _, (x, made) = stand_ins.popitem()
        if references(made) != own:
            found.append((x, made))
    return found


def put_values(trace: Any, stand_ins: list[tuple[Any, Any]], further: bool = True) -> None:
    """Put values in the place of the symbols of a trace, and objects in that of their stand-ins, all over the program.

    Parameters
    ----------
    trace : Trace
        It is closed.
    stand_ins : list of (object, object)
        The user's objects, each with what stands for it. It is empty then.
    further : bool, optional
        Whether, if anything is left, it is looked for where that takes longer: among objects that are frozen, of which
        the collector tells nothing, and in arrays of objects.
    """
    olds, news = _known(trace, stand_ins)
    _replace_all(olds, news)
    if not further or not (olds := _referred_to(olds)):
        return
    # The identities of those that are gone may be those of new objects now.
    news = {id(x): news[id(x)] for x in olds}
    frozen = gc.get_freeze_count()
    if frozen:
        gc.unfreeze()
        _replace_all(olds, news)
    _replace_in_arrays(news)
    if frozen:
        gc.collect()  # what is frozen stays
        gc.freeze()


def _replace_all(olds: list[Any], news: dict[int, Any]) -> None:
    """Replace objects, and then what had to be made anew for that."""
    first = olds, news
    for _ in range(MOST_ROUNDS):
        if not olds:
            break
        olds, news = _replace(olds, news, [*first, olds, news])


def _known(trace: Any, stand_ins: list[tuple[Any, Any]]) -> tuple[list[Any], dict[int, Any]]:
    """The symbols and stand-ins that there are, and by their identities what is put in their place."""
    olds: list[Any] = [x for x in gc.get_referrers(trace) if type(x) is Symbol]
    news = {id(x): held(x) for x in olds}
    while stand_ins:
        x, made = stand_ins.pop()
        if id(made) not in news:
            olds.append(made)
        news[id(made)] = x
    return olds, news


def _referred_to(olds: list[Any]) -> list[Any]:
    """Those objects in a list to which something else refers still; the list is empty then."""
    found: list[Any] = []
    x: Any = object()
    own = references(x)
    while olds:
        x = olds.pop()
        if references(x) != own:
            found.append(x)
    return found[::-1]


def _replace(
    olds: list[Any], news: dict[int, Any], ours: list[Any]
) -> tuple[list[Any], dict[int, Any]]:
    """Replace objects in all that refers to them; what cannot be changed is made anew, and is to be replaced next."""
    skipped = {id(ours), *map(id, ours)}
    next_olds: list[Any] = []
    next_news: dict[int, Any] = {}
    classes: dict[int, type] = {}
    holders = _holders(olds, news)
    skipped |= {id(holders), id(next_olds), id(next_news)}
    for holder in holders:
        kind = type(holder)
        if id(holder) in skipped or kind is Symbol:
            continue
        if kind is dict and not classes:
            classes = _classes()
        if id(holder) in classes:
            _put_in_class(classes[id(holder)], news)
        elif kind is FrameType or kind in FRAMES:
            put_in_variables(holder, news)
        elif issubclass(kind, tuple | frozenset | slice) or kind in ITERATORS:
            with suppress(TypeError):
                next_news[id(holder)] = _made_anew(holder, news)
                next_olds.append(holder)
        else:
            # another thread may change it at the same time, or its class may raise whatever it likes
            with suppress(Exception):
                _put(holder, news)
    for variable, x in copy_context().items():
        if id(x) in news:
            variable.set(news[id(x)])
    return next_olds, next_news


def _holders(olds: list[Any], news: dict[int, Any]) -> list[Any]:
    """All objects that refer to one of some objects."""
    if len(olds) <= FEW:
        return gc.get_referrers(*olds)
    found, ids = [], news.keys()
    objects = gc.get_objects()
    for k in range(0, len(objects), CHUNK):
        chunk = objects[k : k + CHUNK]
        if not ids.isdisjoint(map(id, gc.get_referents(*chunk))):
            found += [x for x in chunk if not ids.isdisjoint(map(id, gc.get_referents(x)))]
    return found


def _classes() -> dict[int, type]:
    """All classes, by the identity of the dict with their attributes, which only they may change."""
    found: dict[int, type] = {}
    kinds: list[type] = [object]
    known = set(kinds)
    for kind in kinds:
        for dictionary in gc.get_referents(vars(kind)):
            found[id(dictionary)] = kind
        below: set[type] = {*type.__subclasses__(kind)} - known
        known |= below
        kinds += below
    return found


def _put_in_class(kind: type, news: dict[int, Any]) -> None:
    for name, x in [*vars(kind).items()]:
        if id(x) in news:
            type.__setattr__(kind, name, news[id(x)])


def _made_anew(x: Any, news: dict[int, Any]) -> Any:
    """A tuple, set or slice of the same class with other parts."""
    if type(x) in ITERATORS:
        return _iterator_anew(x, news)
    if isinstance(x, slice):
        return slice(*(news.get(id(part), part) for part in (x.start, x.stop, x.step)))
    base = tuple if isinstance(x, tuple) else frozenset
    made = base.__new__(type(x), [news.get(id(part), part) for part in base.__iter__(x)])
    if getattr(x, "__dict__", None):
        vars(made).update({name: news.get(id(part), part) for name, part in vars(x).items()})
    return made


def _iterator_anew(x: Any, news: dict[int, Any]) -> Any:
    """An iterator at the same place in another tuple, or one that is made of other iterators."""
    made, given, *state = x.__reduce__()
    if given == () and not state:
        raise TypeError  # it is at its end
    for part in gc.get_referents(x):  # among them the tuple of those that it is made of
        if type(part) is tuple and id(part) in news:
            news = {**news, **dict(zip(map(id, part), news[id(part)], strict=True))}
    anew = made(*(news.get(id(part), part) for part in given))
    if state:
        anew.__setstate__(*state)
    return anew


def _put(holder: Any, news: dict[int, Any]) -> None:
    """Replace objects in one that can be changed."""
    kind: Any = type(holder)
    if issubclass(kind, list | deque):
        base: Any = list if issubclass(kind, list) else deque
        for k, x in enumerate([*base.__iter__(holder)]):
            if id(x) in news:
                base.__setitem__(holder, k, news[id(x)])
    elif issubclass(kind, dict):
        _put_in_dict(holder, news)
    elif issubclass(kind, set):
        for x in [*set.__iter__(holder)]:
            if id(x) in news:
                set.discard(holder, x)
                set.add(holder, news[id(x)])
    elif kind is CellType:
        holder.cell_contents = news.get(id(holder.cell_contents), holder.cell_contents)
    elif kind is SimpleQueue:
        _put_in_queue(holder, news)
    elif issubclass(kind, partial):
        function, args, kwargs, attributes = holder.__reduce__()[2]
        args = tuple(news.get(id(x), x) for x in news.get(id(args), args))
        holder.__setstate__((news.get(id(function), function), args, kwargs, attributes))
    elif kind is CACHED:
        holder.cache_clear()  # its results cannot be replaced: they are computed anew
    _put_in_attributes(holder, news)


def _put_in_dict(holder: dict[Any, Any], news: dict[int, Any]) -> None:
    items = [*dict.items(holder)]
    if any(id(key) in news for key, _ in items):
        holder.clear()
        for key, x in items:
            holder[news.get(id(key), key)] = news.get(id(x), x)
        return
    for key, x in items:
        if id(x) in news:
            dict.__setitem__(holder, key, news[id(x)])


def _put_in_queue(queue: SimpleQueue[Any], news: dict[int, Any]) -> None:
    found = []
    with suppress(Empty):
        while True:
            found.append(queue.get_nowait())
    for x in found:
        queue.put(news.get(id(x), x))


def _put_in_attributes(holder: Any, news: dict[int, Any]) -> None:
    """Replace objects in the attributes of one, its slots among them."""
    kind = type(holder)
    if issubclass(kind, type):
        return
    with suppress(AttributeError):
        _put_in_dict(object.__getattribute__(holder, "__dict__"), news)
    for descriptor in _descriptors(kind):
        with suppress(AttributeError, TypeError, ValueError):  # a slot that is empty, or only read
            x = descriptor.__get__(holder, kind)
            if id(x) in news:
                descriptor.__set__(holder, news[id(x)])


def _descriptors(kind: type) -> Iterator[Any]:
    """The slots of a class, and what is like them in classes that are not written in Python."""
    seen = issubclass(kind, SEEN_BY_GETTERS)
    for base in kind.__mro__:
        for x in [*vars(base).values()]:
            if type(x) is MemberDescriptorType or (seen and type(x) is GetSetDescriptorType):
                yield x


SEEN_BY_GETTERS = (BaseException, FunctionType)
"""Classes of Python's own of which attributes may be any object: the arguments of errors, the defaults of functions."""


def _replace_in_arrays(news: dict[int, Any]) -> None:
    """Replace objects in arrays of objects, of which Python's collector knows only who refers to them."""
    objects = gc.get_objects()
    found: dict[int, Any] = {}
    for k in range(0, len(objects), CHUNK):
        for x in gc.get_referents(*objects[k : k + CHUNK]):
            if issubclass(type(x), np.ndarray) and x.dtype == object:
                found[id(x)] = x
    for array in found.values():
        for index in np.ndindex(array.shape):
            x = array[index]
            if id(x) in news:
                with suppress(ValueError, TypeError):  # nobody may write into it
                    array[index] = news[id(x)]
