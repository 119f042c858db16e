"""Lazy arrays: arrays that another library computes later, piece by piece, as the engine meets them.

The engine computes with them as with NumPy's arrays, since they follow NumPy's protocols. What those protocols do not
reach goes through the gate: functions of this package, and the shapes of new arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Protocol

from tapemagic.errors import NotComputedError


class Gate(Protocol):
    """The one place that decides how a function is computed on lazy arrays."""

    def reads(self, args: Any) -> bool:
        """Whether a lazy array is among nested arguments."""

    def call(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """The lazy result of a function on arguments with a lazy array among them."""

    def keep(self, value: Any, dtype: Any) -> Any:
        """The lazy array of a value of the other library, cast to a dtype unless that is None."""

    def filled(self, value: Any, shape: tuple[int, ...]) -> Any:
        """One number in every place of a new array; it is cut as the array was from which the shape comes."""

    def rows(self, dtype: Any, shape: tuple[int, ...], count: int) -> Any:
        """The unit cotangents of a lazy target, or those of each of its examples, along a new first axis."""

    def sweep(self, records: Any, grads: dict[int, Any]) -> Iterator[Any]:
        """The records of a reverse sweep, backwards."""


gates: list[Gate] = []
"""The gate, once the program has made a lazy tensor; until then nothing looks for one."""

LOAD: list[Callable[[], Gate]] = []
"""Loads the gate."""


@cache
def _is_lazy_class(kind: type) -> bool:
    return hasattr(kind, "__dask_graph__")


def is_lazy(x: Any) -> bool:
    """Whether a value, which is no tensor, will be computed later."""
    return _is_lazy_class(type(x))


def kept(value: Any, dtype: Any = None) -> Any:
    """The lazy array of a value for which `is_lazy` holds."""
    if not gates:
        gates.append(LOAD[0]())
    return gates[0].keep(value, dtype)


def require_computed(value: Any, how: str) -> None:
    """Raise an error for the use of a lazy array that needs its numbers.

    Raises
    ------
    NotComputedError
    """
    if is_lazy(value):
        raise not_computed(value.shape, how)


def not_computed(shape: tuple[int, ...], how: str) -> NotComputedError:
    """The error for a use that needs the numbers of a lazy array."""
    return NotComputedError(
        f"{how} needs numbers, and this value of shape {tuple(shape)} is not computed: write x.compute() first, or "
        "dask.compute(x, y) for several at once"
    )


def reader(args: Any, kwargs: Any) -> Gate | None:
    """The gate, if a lazy array is among the arguments of a call."""
    if gates and (gates[0].reads(args) or (kwargs and gates[0].reads(kwargs))):
        return gates[0]
    return None
