"""Describe changes of a traced call: the name and line of the changed object, and what to write instead."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import FunctionType, MethodType
from typing import Any

from tapemagic.engine.nest import is_leaf, ordered
from tapemagic.programs.code_names import names_in
from tapemagic.programs.guards import Guards
from tapemagic.programs.reasons import UNCHANGED, line_of, with_place
from tapemagic.programs.signature import Call, taken_apart


def why_changing(changed: str, guards: Guards, function: Any, call: Call) -> str:
    """Return the reason to stay eager for a function that changes the object at the path `changed`."""
    path = changed
    owner, dot, attribute = changed.rpartition(".")
    if dot and attribute.startswith("_"):
        # An attribute of a library's object, which user code sees only as one object.
        x = next((e.what() for e in guards.entries if e.role == "object" and e.path == owner), None)
        if type(x).__module__.partition(".")[0] == "tapemagic":
            path = owner
    name = name_of(path, function, call)
    return with_place(f"it changes {name}: {UNCHANGED}", line_of(guards.site_of(path)))


def name_of(path: str, function: Any, call: Call) -> str:
    """Return the name of a changed object in the function's code; an argument is named by its parameter.

    Examples
    --------
    >>> def step(x):
    ...     step.last = x
    >>> step.last = None
    >>> from tapemagic.programs.signature import signature
    >>> name_of("last", step, signature((), {}))
    'step.last'
    """
    head = path.partition(".")[0].partition("[")[0]
    for x in call.objects:
        if type(x).__name__ == head:
            return (parameter_of(function, call.args, call.kwargs, x) or head) + path[len(head) :]
    if head not in getattr(function, "__dict__", ()) or isinstance(function, MethodType):
        return path
    if isinstance(function, FunctionType):
        names = {*function.__code__.co_freevars, *names_in(function.__code__).globals}
        return path if head in names else f"{function.__name__}.{path}"
    return f"self.{path}"


def parameter_of(function: Any, args: Any, kwargs: Any, x: Any) -> str:
    """Return the parameter to which an object was passed, alone or inside another object, or ''.

    Examples
    --------
    >>> part = []
    >>> parameter_of(lambda x, y: x, (1, {"k": part}), {}, part)
    'y'
    """
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return ""
    return next((name for name, value in bound.items() if _contains(value, x)), "")


def changed_parameter(function: Any, call: Call) -> str:
    """Return the first parameter whose argument has another structure than before the call, or ''."""
    args, kwargs = call.args, call.kwargs
    positional = call.structure[0] if kwargs else call.structure
    before = [*positional[1:], *(call.structure[1][2:] if kwargs else ())]
    after = [*args, *(kwargs[name] for name in ordered(kwargs))]
    changed = (x for x, was in zip(after, before, strict=True) if taken_apart(x, []) != was)
    return next((parameter_of(function, args, kwargs, x) for x in changed), "")


def _contains(value: Any, x: Any) -> bool:
    parts = value.values() if isinstance(value, Mapping) else value
    return value is x or (not is_leaf(value) and any(_contains(part, x) for part in parts))
