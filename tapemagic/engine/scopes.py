"""Scopes: the calls of layers and losses, whose operations a report folds into one box.

A scope isn't stored anywhere: it is a frame of `call_in_scope` on the stack, where an observer finds it. So it ends
with its call, also after an exception, and other threads can't see it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves
from tapemagic.engine.recording import FOREIGN, live
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import NotATensorError

Shape = tuple[int, ...]


class Scope:
    """A call of a layer, or of a loss.

    - `name`: The path of the layer: ``sequential/dense``.
    - `kind`: The name of its class, or '' for another function whose loops and calls should be visible in a report.

    - `inputs`, `outputs`: The shapes of the arrays that it received and returned, in the order of the structure; empty
      until it has returned.
    - `arguments`: Tuple of (int, array or None). For each tensor, variable or array that it received, the id (or
      `FOREIGN`) and a copy of the value, or None for a variable.
    - `parameters`: The number of elements of its variables. It is None for a loss, and until a layer has returned.
    """

    __slots__ = ("arguments", "inputs", "kind", "name", "outputs", "parameters")

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.inputs: tuple[Shape, ...] = ()
        self.outputs: tuple[Shape, ...] = ()
        self.arguments: tuple[tuple[int, Any], ...] = ()
        self.parameters: int | None = None


def is_observed() -> bool:
    """Return True if this thread's operations are recorded for a report, which is when scopes are needed.

    The operations of a reverse sweep don't count, even if it calls a layer again, as `recompute_grad` does.
    """
    for tape in live():  # noqa: SIM110 -- any() takes three times as long
        if tape._notes_scopes:
            return True
    return False


def call_in_scope(
    scope: Scope,
    call: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    parameters: Callable[[], int] | None = None,
) -> Any:
    """Call a layer or a loss in a scope; return its result.

    Parameters
    ----------
    scope : Scope
        A new scope.
    call : callable
    args, kwargs
        The arguments of `call`.
    parameters : callable, optional
        For a layer: returns the number of elements of its variables, once the layer has returned.
    """
    if not scope.kind:
        return call(*args, **kwargs)
    arguments = _arrays((args, kwargs))
    scope.inputs = tuple(x.shape for x in arguments)
    scope.arguments = tuple(map(_identified, arguments))
    outputs = call(*args, **kwargs)
    scope.outputs = tuple(x.shape for x in _arrays(outputs))
    scope.parameters = parameters() if parameters else None
    return outputs


def call_named(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of this package, or its replacement, whose loops and calls a report shows under a name."""
    if is_observed():
        return call_in_scope(Scope(name, ""), function, args, {})
    return function(*args)


def scope_called(frame: FrameType) -> Scope | None:
    """Return the scope whose call runs in a frame, or None if the frame isn't a layer call."""
    outer = frame.f_back
    if outer is None or outer.f_code is not SCOPE_CODE:
        return None
    # f_locals of a function's frame is a snapshot; `scope` is never rebound, so it's exact.
    return outer.f_locals["scope"]  # type: ignore[no-any-return]


SCOPE_CODE = call_in_scope.__code__
"""The code whose frames mark the calls of layers."""


def _arrays(structure: Any) -> list[Any]:
    """Return the tensors and arrays in a structure."""
    with suppress(NotATensorError):
        return [x for x in leaves(structure) if isinstance(x, Traced | np.ndarray | np.generic)]
    return []


def _identified(x: Any) -> tuple[int, Any]:
    """Return the id of a tensor, or `FOREIGN`, and its value."""
    if not isinstance(x, Traced):
        return FOREIGN, x.copy()
    # A new int object: a scope must not keep the record of a value.
    return id_of(x) + 0, None if isinstance(x, Variable) else unwrap(x)
