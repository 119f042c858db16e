"""Find the tensors in lists, tuples, dicts and objects, each with its expression."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.explain.snapshot import Named

MAX_DEPTH = 4
"""Maximum depth of a tensor: ``model.layers[0].w`` is three levels down."""

MAX_ITEMS = 200
"""Maximum number of items to search in one list, dict or object."""

MAX_VALUES = 10_000
"""Maximum number of values to search in total."""

OPAQUE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, np.ndarray, Tape)
"""Types whose attributes are never searched."""


def tensors(named: Iterable[Named], *opaque: type) -> Iterator[Named]:
    """Yield the tensors in named values, breadth first: ``ys[0]``, ``d['y']``, ``model.w``. Runs no property.

    Parameters
    ----------
    named : iterable of (str, object)
    *opaque : type
        Further types whose attributes are not searched.

    Examples
    --------
    >>> import tapemagic as tm
    >>> w, b = tm.Variable(1.0), tm.Variable(2.0)
    >>> [name for name, _ in tensors([("params", {"w": w, "more": [3, b]})])]
    ["params['w']", "params['more'][1]"]
    """
    waiting = deque((name, value, 0) for name, value in named)
    seen: set[int] = set()  # structures may contain themselves
    for _ in range(MAX_VALUES):
        if not waiting:
            return
        name, value, depth = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Traced):
            yield name, value
        elif depth < MAX_DEPTH:
            inner = _searched(value, opaque)
            waiting += [(name + step, part, depth + 1) for step, part in islice(inner, MAX_ITEMS)]


def items(structure: Any) -> Iterator[Named]:
    """Return the items of a list, tuple or mapping, each with the end of its expression.

    Examples
    --------
    >>> [*items({"w": 1.0, 2: 3.0})]
    [("['w']", 1.0), ('[2]', 3.0)]
    """
    if isinstance(structure, Mapping):
        return ((f"[{key!r}]", part) for key, part in structure.items())
    fields = getattr(type(structure), "_fields", ())
    steps = [f".{field}" for field in fields] or (f"[{i}]" for i in range(len(structure)))
    return zip(steps, structure, strict=False)


def _searched(value: Any, opaque: tuple[type, ...]) -> Iterator[Named]:
    """Return the first items of a value, or the first attributes in its ``__dict__``."""
    if isinstance(value, dict):
        plain = (str, int, float, type(None))
        # dict.items runs no overridden method. Copying first: other threads may change the dict in the meantime.
        items_found = list(islice(dict.items(value), MAX_ITEMS))
        return ((f"[{key!r}]", part) for key, part in items_found if isinstance(key, plain))
    if isinstance(value, list | tuple):
        return items(value)
    if isinstance(value, (*OPAQUE, *opaque)) or is_lazy(value):
        return iter(())
    # vars() would run a user's __getattribute__ or a property called __dict__.
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return iter(())
    if not isinstance(attributes, dict):
        return iter(())
    return ((f".{name}", part) for name, part in list(islice(dict.items(attributes), MAX_ITEMS)))
