"""Lazy arrays: arrays that another library computes later, chunk by chunk.

The engine computes with them as with NumPy arrays, because they implement NumPy's protocols. Everything outside these
protocols goes through the gate: functions of this package, and the shapes of new arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

import numpy as np

from tapemagic.errors import NotComputedError, UnsupportedArgumentError


class Gate(Protocol):
    """The interface that decides how a function is computed on lazy arrays."""

    def reads(self, args: Any) -> bool:
        """Return True if a lazy array is among nested arguments."""

    def call(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Return the lazy result of a function that has a lazy array among its arguments."""

    def gradient(
        self, operation: Any, position: int, arguments: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        """Compute the gradient of an input lazily, by a rule that runs on the numbers of each chunk.

        The arguments are those of the rule. They may be tensors, so that live tapes record it.
        """

    def keep(self, value: Any, dtype: Any) -> Any:
        """Convert a value of the other library to a lazy array, and cast it to the dtype, if any."""

    def filled(self, value: Any, shape: tuple[int, ...]) -> Any:
        """Fill a new array with one number; it gets the chunks of the array that the shape belongs to."""


MAX_KEPT_BYTES = 1 << 20
"""The maximum size of computed numbers that a lazy array keeps for display."""

gates: list[Gate] = []
"""The gate, once the program has created a lazy tensor. While the list is empty, nothing looks for lazy arrays."""

LAZY = "a Dask array, which Dask computes later"
"""The reason why a lazy array can't be part of a program."""

LOAD: list[Callable[[], Gate]] = []
"""The function that loads the gate."""


# The answer depends only on the class, and `is_lazy` is called for each value.
@cache
def _may_be_lazy(kind: type) -> bool:
    return hasattr(kind, "__dask_graph__")


@cache
def _is_always_lazy(kind: type) -> bool:
    """Return True if a class belongs to Dask itself; those of other libraries may hold NumPy arrays."""
    return kind.__module__.partition(".")[0] == "dask"


def is_lazy(x: Any) -> bool:
    """Return True if a value will be computed later."""
    kind: Any = type(x)
    return _may_be_lazy(kind) and (_is_always_lazy(kind) or x.__dask_graph__() is not None)


def as_lazy(value: Any, dtype: Any = None) -> Any:
    """Convert a lazy value of the other library to a lazy array of this package."""
    if not gates:
        gates.append(LOAD[0]())
    return gates[0].keep(value, dtype)


COMPUTE = "write x.compute() first, or dask.compute(x, y) for several at once"
"""Advice where a single value must be computed."""

IN_PARTS = "pass the loss to tapemagic.distributed.value_and_grad, which computes one partition after another"
"""Advice where all data would be computed at once."""


PROTOCOLS = frozenset(
    [
        *("if, or bool(),", "np.asarray()", "float()", "int()", "complex()", "an index"),
        *(".item()", ".tolist()", "x[i] = ..."),
    ]
)
"""Uses of a value by Python or NumPy that may be implicit, without a matching call in the source code."""


def require_computed(value: Any, how: str, instead: str = COMPUTE) -> None:
    """Raise an error if a use needs the numbers of a lazy value.

    Raises
    ------
    NotComputedError
    """
    if is_lazy(value):
        raise not_computed(value.shape, how, instead)


def not_computed(shape: tuple[int, ...], how: str, instead: str = COMPUTE) -> NotComputedError:
    """Return the error for a use that needs the numbers of a lazy array."""
    error = NotComputedError(
        f"{how} needs numbers, but this value of shape {tuple(shape)} isn't computed: {instead}"
    )
    error.wanted_by = how
    return error


def refusal(name: str, text: str) -> UnsupportedArgumentError:
    """Return the error for a function that doesn't accept a lazy value; `name` is its name in the message `text`."""
    error = UnsupportedArgumentError(text)
    error.wanted_by = name
    return error


def refuse_lazy_parts(parts: Any) -> None:
    """Reject a list that contains lazy arrays: NumPy would compute them to build an array.

    Raises
    ------
    UnsupportedArgumentError
    """
    if "dask" not in sys.modules:
        return
    with suppress(RecursionError):  # a list that contains itself isn't an array in any case
        _refuse_lazy(parts)


def _refuse_lazy(parts: Any) -> None:
    # A list of a million floats has one type: testing each type once is far cheaper than testing
    # each item.
    for kind in set(map(type, parts)):
        if kind is list or kind is tuple:
            for part in parts:
                if type(part) is kind:
                    _refuse_lazy(part)
        elif _may_be_lazy(kind) and any(type(part) is kind and is_lazy(part) for part in parts):
            raise UnsupportedArgumentError(
                "converting a list of Dask arrays to an array would compute them: write np.stack([...]) with "
                "tensors in the list, or dask.array.stack([...]) before they become one"
            )


def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return ``np.zeros``, lazy and with the same chunks if the shape belongs to a lazy array."""
    if gates and hasattr(shape, "chunks"):
        return gates[0].filled(np.dtype(dtype).type(0), shape)
    return np.zeros(shape, dtype)[()]


def reader(args: Any, kwargs: Any) -> Gate | None:
    """Return the gate if a lazy array is among the arguments of a call, else None, for a call that NumPy runs."""
    if gates and (gates[0].reads(args) or (kwargs and gates[0].reads(kwargs))):
        return gates[0]
    return None
