"""The tensors in lists, tuples, dicts and objects, each with the expression that leads to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tapemagic.display.report import TapeReport
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Traced

DEPTH = 4
"""How deep a tensor may be: ``model.layers[0].w`` is three levels down."""

WIDTH = 200
"""How many parts of one list, dict or object are looked at."""

MOST = 10_000
"""How many values are looked at in all."""

CLOSED = (
    type,
    ModuleType,
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    np.ndarray,
    Tape,
    TapeReport,
)
"""What is not looked into."""

Named = tuple[str, Any]


def tensors(held: Iterable[Named]) -> Iterator[Named]:
    """The tensors in values, the nearest first: ``ys[0]``, ``d['y']``, ``model.w``; no property is evaluated.

    Examples
    --------
    >>> import tapemagic as tm
    >>> w, b = tm.Variable(1.0), tm.Variable(2.0)
    >>> [name for name, _ in tensors([("params", {"w": w, "more": [3, b]})])]
    ["params['w']", "params['more'][1]"]
    """
    waiting = deque((name, value, 0) for name, value in held)
    seen: set[int] = set()
    for _ in range(MOST):
        if not waiting:
            return
        name, value, depth = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Traced):
            yield name, value
        elif depth < DEPTH:
            waiting += [
                (name + step, part, depth + 1) for step, part in islice(_parts(value), WIDTH)
            ]


def _parts(value: Any) -> Iterator[Named]:
    """What a value holds, and how one gets there from it."""
    if isinstance(value, (list, tuple)):
        fields = getattr(type(value), "_fields", ())
        steps = [f".{field}" for field in fields] or (f"[{i}]" for i in range(len(value)))
        return zip(steps, value, strict=False)
    if isinstance(value, dict):
        return ((f"[{key!r}]", part) for key, part in value.items() if _is_plain(key))
    return ((f".{name}", part) for name, part in _attributes(value).items())


def _is_plain(key: Any) -> bool:
    return isinstance(key, (str, int, float, type(None)))


def _attributes(value: Any) -> Mapping[str, Any]:
    """The attributes that an object itself holds."""
    if isinstance(value, CLOSED):
        return {}
    try:
        held: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return held
