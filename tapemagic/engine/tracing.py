"""Tracing: the engine reports its calls to a tracer, which turns them into a program."""

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
    """The interface of a trace to the engine: it records the calls that are made on its values."""

    def reads(self, args: Any) -> bool:
        """Return True if a traced value is among nested arguments."""

    def call(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function, and record it as a single call."""

    def effect(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function that does more than return a result, and record it as a call that always happens."""

    def owned_copy(self, x: Any) -> Any:
        """Return a copy of an array, for a caller that writes into it; in the program, it is the same value."""

    def record_creation(self, variable: Any) -> None:
        """Record that this thread made a variable."""

    def record_assignment(self, variable: Any, value: Any) -> None:
        """Record that this thread assigned a value to a variable."""

    def mark_exit(self, how: str) -> None:
        """Record the name of an operation that can't be part of a program."""

    def record_draw(self) -> None:
        """Record that this package is about to draw random numbers."""

    def record_new_source(self, source: Any) -> None:
        """Record that the traced function has made a source of random numbers, which begins again at each call."""

    def value(self, args: Any) -> Any:
        """Replace traced values in nested arguments by their plain arrays, which still belong to the tracer."""

    def sweep(self, records: Any, grads: dict[int, Any]) -> Iterator[Any]:
        """Yield the records of a reverse sweep, newest first."""


_tracer: ContextVar[Tracer | None] = ContextVar("tracer", default=None)
tracer = _tracer.get
"""The tracer that records the calls of this thread, or None."""


@contextmanager
def trace_into(active: Tracer | None) -> Iterator[None]:
    """Report all calls inside the block to a tracer."""
    token = _tracer.set(active)
    try:
        yield
    finally:
        _tracer.reset(token)


def untraced() -> Any:
    """Return a context in which this thread reports no calls; traced values still record their computations."""
    return trace_into(None)


def numbers(args: Any) -> Any:
    """Return nested arguments as plain arrays, for a check that the program doesn't repeat.

    The outcome of the check must not depend on the numbers.
    """
    active = tracer()
    return args if active is None else active.value(args)


def listener(args: Any, kwargs: Any = None) -> Tracer | Gate | None:
    """Return the tracer that records a call, or the gate if one is lazy, or None if neither applies."""
    active = tracer()
    if active is not None and (active.reads(args) or (kwargs and active.reads(kwargs))):
        return active
    return reader(args, kwargs) if gates else None


def element(x: Any, index: Any) -> Any:
    """Return ``x[index]``, also if the index is traced or lazy and the array is not.

    NumPy would ask such an index for its numbers, because indexing has no protocol that the index could implement.
    """
    active = listener((index,)) if issubclass(type(x), np.ndarray) else None
    return x[index] if active is None else active.call(operator.getitem, (x, index), {})


def one_call(function: F) -> F:
    """Decorate a function of arrays that becomes a single call in programs, even if it branches or loops.

    Use it for functions whose branches depend on numbers, for example to choose the faster algorithm, or that write
    into an array they created. They must take and return arrays or NumPy scalars, not tensors, and mustn't write into
    their arguments.

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
        active = listener(args, kwargs)
        return function(*args, **kwargs) if active is None else active.call(called, args, kwargs)

    return called  # type: ignore[return-value]
