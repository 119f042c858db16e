"""Tracing: the calls that the engine makes are told to a tracer, so that a program can be made of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Protocol, TypeVar

import numpy as np

from tapemagic.engine.laziness import Gate, gates, reader

F = TypeVar("F", bound=Callable[..., Any])


class Tracer(Protocol):
    """A trace in the eyes of the engine: it writes down the calls that are made on its values."""

    def reads(self, args: Any) -> bool:
        """Whether one of the values is among nested arguments."""

    def call(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function, and write that down as one call."""

    def own(self, x: Any) -> Any:
        """An array with the same numbers, into which its owner may write; in the program it is the same value."""

    def assigns(self, variable: Any, value: Any) -> None:
        """Note that this thread has made a value that of a variable."""

    def leave(self, how: str) -> None:
        """Note that something cannot be written down, and what it was."""

    def draws(self) -> None:
        """Note that this package is about to draw random numbers."""

    def value(self, args: Any) -> Any:
        """Nested arguments with plain arrays in the place of the tracer's values, which stay its own."""

    def sweep(self, records: Any, grads: dict[int, Any]) -> Iterator[Any]:
        """The records of a reverse sweep, backwards."""


_tracer: ContextVar[Tracer | None] = ContextVar("tracer", default=None)
tracer = _tracer.get
"""The tracer to which the calls of this thread are told; None where there is none."""


@contextmanager
def told_to(one: Tracer | None) -> Iterator[None]:
    """Tell all calls inside the block to a tracer."""
    token = _tracer.set(one)
    try:
        yield
    finally:
        _tracer.reset(token)


def numbers(args: Any) -> Any:
    """Nested arguments for a check whose outcome is the same for all numbers: it is not written down."""
    one = tracer()
    return args if one is None else one.value(args)


def listener(args: Any, kwargs: Any = None) -> Tracer | Gate | None:
    """The tracer that is told of a call with these arguments, or the gate that makes it; None if neither is."""
    one = tracer()
    if one is not None and (one.reads(args) or (kwargs and one.reads(kwargs))):
        return one
    return reader(args, kwargs) if gates else None


def element(x: Any, index: Any) -> Any:
    """``x[index]``, at an index of which the array may not know: one that comes from a tracer, or is lazy."""
    one = listener((index,)) if issubclass(type(x), np.ndarray) else None
    return x[index] if one is None else one.call(operator.getitem, (x, index), {})


def one_call(function: F) -> F:
    """Make a function of arrays one call in programs, whatever it does inside.

    It is for functions that look at numbers to choose the quicker of two ways, or write into an array of their own.
    They must take and return arrays or NumPy scalars, no tensors, and may not write into their arguments.

    Examples
    --------
    >>> import numpy as np
    >>> @one_call
    ... def filled(shape, index, value):
    ...     array = np.zeros(shape)
    ...     array[index] = value
    ...     return array
    >>> filled((3,), 1, 5.0)
    array([0., 5., 0.])
    """

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        one = listener(args, kwargs)
        return function(*args, **kwargs) if one is None else one.call(called, args, kwargs)

    return called  # type: ignore[return-value]
