"""The tensors in lists, tuples, dicts and objects, each with the expression that evaluates to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tapemagic.analysis.snapshot import Named
from tapemagic.display.report import TapeReport
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Traced

MAX_DEPTH = 4
"""The deepest level of a tensor: ``model.layers[0].w`` is three levels down."""

MAX_ITEMS = 200
"""The number of items of one list, dict or object that are searched."""

MAX_VALUES = 10_000
"""The number of values that are searched in all."""

OPAQUE = (
    type,
    ModuleType,
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    np.ndarray,
    Tape,
    TapeReport,
)
"""Types whose attributes are not searched."""


def tensors(held: Iterable[Named]) -> Iterator[Named]:
    """The tensors in named values, by breadth first: ``ys[0]``, ``d['y']``, ``model.w``; evaluates no property.

    Examples
    --------
    >>> import tapemagic as tm
    >>> w, b = tm.Variable(1.0), tm.Variable(2.0)
    >>> [name for name, _ in tensors([("params", {"w": w, "more": [3, b]})])]
    ["params['w']", "params['more'][1]"]
    """
    waiting = deque((name, value, 0) for name, value in held)
    seen: set[int] = set()
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
            waiting += [
                (name + step, part, depth + 1) for step, part in islice(_items(value), MAX_ITEMS)
            ]


def _items(value: Any) -> Iterator[Named]:
    """The items or attributes of a value, each with the end of the expression for it."""
    if isinstance(value, (list, tuple)):
        fields = getattr(type(value), "_fields", ())
        steps = [f".{field}" for field in fields] or (f"[{i}]" for i in range(len(value)))
        return zip(steps, value, strict=False)
    if isinstance(value, dict):
        return ((f"[{key!r}]", part) for key, part in value.items() if _is_plain_key(key))
    return ((f".{name}", part) for name, part in _attributes(value).items())


def _is_plain_key(key: Any) -> bool:
    return isinstance(key, (str, int, float, type(None)))


def _attributes(value: Any) -> Mapping[str, Any]:
    """The attributes in the ``__dict__`` of an object."""
    if isinstance(value, OPAQUE):
        return {}
    try:
        held: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return held
