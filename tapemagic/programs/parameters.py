"""Parameters of a function: to which of them an object is given, and which of the objects it changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tapemagic.engine.nest import is_leaf, ordered
from tapemagic.programs.signature import taken_apart


def parameter_of(function: Callable[..., Any], args: Any, kwargs: Any, x: Any) -> str:
    """The parameter to which an object is given, or one that it is a part of; empty if that is not known.

    Examples
    --------
    >>> part = []
    >>> parameter_of(lambda x, y: x, (1, {"k": part}), {}, part)
    'y'
    """
    given = _given(function, args, kwargs)
    return next((name for name, value in given.items() if _holds(value, x)), "")


def _holds(value: Any, x: Any) -> bool:
    parts = value.values() if isinstance(value, Mapping) else value
    return value is x or (not is_leaf(value) and any(_holds(part, x) for part in parts))


def changed_parameter(function: Callable[..., Any], args: Any, kwargs: Any, structure: Any) -> str:
    """The first parameter whose argument has another structure than it had before a call; empty if none has.

    Parameters
    ----------
    function : callable
    args, kwargs
        The arguments, as they are now.
    structure : object
        Of the arguments before, in the form of `Call`.

    Examples
    --------
    >>> from tapemagic.programs.signature import signature
    >>> args = 1.0, []
    >>> before = signature(args, {}).structure
    >>> args[1].append(2.0)
    >>> changed_parameter(lambda x, out: x, args, {}, before)
    'out'
    """
    positional = structure[0] if kwargs else structure
    before = list(positional[1:])
    if kwargs:
        before += structure[1][2:]
    now = [*args, *(kwargs[name] for name in ordered(kwargs))]
    found = (x for x, was in zip(now, before, strict=True) if taken_apart(x, []) != was)
    changed = next(found, None)
    return "" if changed is None else parameter_of(function, args, kwargs, changed)


def _given(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}
