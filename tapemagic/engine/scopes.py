"""Scopes: the calls of layers and losses, as a report folds the operations of each call to a box.

A scope is no state: it is a frame of `call_in_scope` on the stack, by which an observer finds the layers around an
operation. So it ends with its call, whatever ends that, and is one of its own thread alone.
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
    """One call of a layer, or of a loss.

    Parameters
    ----------
    name : str
        The path of the layer: ``sequential/dense``.
    kind : str
        The name of its class; empty for another function of this package in which a report is to see loops and calls.

    Attributes
    ----------
    inputs, outputs : tuple of tuple of int
        The shapes of the arrays that it was given, and of those that it returned, in the order of the structure; none
        as long as it has not returned.
    given : tuple of (int, array or None)
        The ids of the tensors, variables and arrays that it was given, or the numbers in their place, with the values,
        which later changes do not affect; of a variable None.
    parameters : int or None
        The number of elements of its variables; None of a loss, and as long as a layer has not returned.
    """

    __slots__ = ("given", "inputs", "kind", "name", "outputs", "parameters")

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.inputs: tuple[Shape, ...] = ()
        self.outputs: tuple[Shape, ...] = ()
        self.given: tuple[tuple[int, Any], ...] = ()
        self.parameters: int | None = None


def is_observed() -> bool:
    """Whether operations of the program are recorded for a report on this thread, so that scopes are of use.

    Those of a reverse sweep are not of the program, even where it calls a layer again, as `recompute_grad` does.
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
    """Call a layer or a loss in a scope; return what it returns.

    Parameters
    ----------
    scope : Scope
        A new one.
    call : callable
    args, kwargs
        The arguments of `call`.
    parameters : callable, optional
        Of a layer: gives the number of elements of its variables, when it has returned.
    """
    if not scope.kind:
        return call(*args, **kwargs)
    given = _arrays((args, kwargs))
    scope.inputs = tuple(x.shape for x in given)
    scope.given = tuple(map(_identified, given))
    outputs = call(*args, **kwargs)
    scope.outputs = tuple(x.shape for x in _arrays(outputs))
    scope.parameters = parameters() if parameters else None
    return outputs


def call_named(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of this package, or one in its place, whose loops and calls a report is to show with a name."""
    if is_observed():
        return call_in_scope(Scope(name, ""), function, args, {})
    return function(*args)


def scope_called(frame: FrameType) -> Scope | None:
    """The scope whose call runs in a frame; None if it is no layer's."""
    outer = frame.f_back
    if outer is None or outer.f_code is not _CALL:
        return None
    return outer.f_locals["scope"]  # type: ignore[no-any-return]


_CALL = call_in_scope.__code__


def _arrays(structure: Any) -> list[Any]:
    """The tensors and arrays in a structure."""
    with suppress(NotATensorError):
        return [x for x in leaves(structure) if isinstance(x, Traced | np.ndarray | np.generic)]
    return []


def _identified(x: Any) -> tuple[int, Any]:
    """The id of a tensor, or the number in its place, and its value."""
    if not isinstance(x, Traced):
        return FOREIGN, x.copy()
    return id_of(x), None if isinstance(x, Variable) else unwrap(x)
