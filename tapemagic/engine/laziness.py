"""Lazy arrays: arrays that another library computes later, piece by piece, as the engine meets them.

The engine computes with them as with NumPy's arrays, since they follow NumPy's protocols. What those protocols do not
reach goes through the gate: functions of this package, and the shapes of new arrays.
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
    """The one place that decides how a function is computed on lazy arrays."""

    def reads(self, args: Any) -> bool:
        """Whether a lazy array is among nested arguments."""

    def call(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """The lazy result of a function on arguments with a lazy array among them."""

    def gradient(
        self, operation: Any, position: int, arguments: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        """The gradient of an input by a rule which runs in each chunk, on numbers.

        The arguments are those of the rule. They may be tensors, for live tapes to record it.
        """

    def keep(self, value: Any, dtype: Any) -> Any:
        """The lazy array of a value of the other library, cast to a dtype unless that is None."""

    def filled(self, value: Any, shape: tuple[int, ...]) -> Any:
        """One number in every place of a new array; it is cut as the array was from which the shape comes."""


MOST_KEPT = 1 << 20
"""The bytes of the largest numbers that a lazy array keeps once they are computed, for what shows it."""

gates: list[Gate] = []
"""The gate, once the program has made a lazy tensor; until then nothing looks for one."""

LAZY = "a Dask array: Dask computes it later, and by itself"
"""The reason why a lazy array is no part of a program."""

LOAD: list[Callable[[], Gate]] = []
"""Loads the gate."""


@cache
def _may_be_lazy(kind: type) -> bool:
    return hasattr(kind, "__dask_graph__")


@cache
def _is_always_lazy(kind: type) -> bool:
    """Whether a class is of Dask's own; arrays of others, such as xarray's, may hold either kind of values."""
    return kind.__module__.partition(".")[0] == "dask"


def is_lazy(x: Any) -> bool:
    """Whether a value will be computed later."""
    kind: Any = type(x)
    return _may_be_lazy(kind) and (_is_always_lazy(kind) or x.__dask_graph__() is not None)


def kept(value: Any, dtype: Any = None) -> Any:
    """The lazy array of a value for which `is_lazy` holds."""
    if not gates:
        gates.append(LOAD[0]())
    return gates[0].keep(value, dtype)


COMPUTE = "write x.compute() first, or dask.compute(x, y) for several at once"
"""The advice where numbers are needed."""

IN_PARTS = "give the loss to tapemagic.distributed.value_and_grad, which has the numbers of each partition in turn"
"""The advice where numbers are needed of all data."""


PROTOCOLS = frozenset(
    [
        *("if, or bool(),", "np.asarray()", "float()", "int()", "complex()", "an index"),
        *(".item()", ".tolist()", "x[i] = ..."),
    ]
)
"""The uses that Python or NumPy makes of a value, where a program may not have written them itself."""


def require_computed(value: Any, how: str, instead: str = COMPUTE) -> None:
    """Raise an error for a use that needs the numbers of a value, if that is lazy.

    Raises
    ------
    NotComputedError
    """
    if is_lazy(value):
        raise not_computed(value.shape, how, instead)


def not_computed(shape: tuple[int, ...], how: str, instead: str = COMPUTE) -> NotComputedError:
    """The error for a use that needs the numbers of a lazy array."""
    error = NotComputedError(
        f"{how} needs numbers, and this value of shape {tuple(shape)} is not computed: {instead}"
    )
    error.wanted_by = how
    return error


def refusal(name: str, text: str) -> UnsupportedArgumentError:
    """The error for a function that cannot do with a lazy value; the text names it."""
    error = UnsupportedArgumentError(text)
    error.wanted_by = name
    return error


def refuse_lazy_parts(parts: Any) -> None:
    """Refuse a list that holds lazy arrays, of which NumPy would make an array by computing them.

    Raises
    ------
    UnsupportedArgumentError
    """
    if "dask" not in sys.modules:
        return
    with suppress(RecursionError):  # of a list that holds itself, which is no array in any case
        _refuse_lazy(parts)


def _refuse_lazy(parts: Any) -> None:
    for kind in set(map(type, parts)):
        if kind is list or kind is tuple:
            for part in parts:
                if type(part) is kind:
                    _refuse_lazy(part)
        elif _may_be_lazy(kind) and any(type(part) is kind and is_lazy(part) for part in parts):
            raise UnsupportedArgumentError(
                "a list that holds Dask arrays would be computed to make an array of it: write np.stack([...]) with "
                "tensors in the list, or dask.array.stack([...]) before they become one"
            )


def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """``np.zeros``, lazy where the shape is that of a lazy array, and cut as that is."""
    if gates and hasattr(shape, "chunks"):
        return gates[0].filled(np.dtype(dtype).type(0), shape)
    return np.zeros(shape, dtype)[()]


def reader(args: Any, kwargs: Any) -> Gate | None:
    """The gate, if a lazy array is among the arguments of a call."""
    if gates and (gates[0].reads(args) or (kwargs and gates[0].reads(kwargs))):
        return gates[0]
    return None
