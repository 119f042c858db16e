"""Functions sent to other processes, or computed later: with the values that what they refer to has now."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import uuid4

import cloudpickle

from tapemagic.engine.functions.arguments import name_of
from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.variable import Variable, oldest_first
from tapemagic.engine.tensor.variable_reads import recorded_reads
from tapemagic.errors import FunctionError, UnsupportedArgumentError

_STARTED = uuid4().hex


def this_process() -> tuple[str, int]:
    """The identity of this process, among those of all machines."""
    return _STARTED, os.getpid()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """A pickler that sets variables aside."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.variables: list[Variable] = []
        self._numbers: dict[int, int] = {}

    def persistent_id(self, x: Any) -> int | None:
        """The number of a variable."""
        if not isinstance(x, Variable):
            return None
        if id(x) not in self._numbers:
            self._numbers[id(x)] = len(self.variables)
            self.variables.append(x)
        return self._numbers[id(x)]


class _Unpickler(pickle.Unpickler):
    """Its opposite."""

    def __init__(self, file: Any, variables: list[Variable]) -> None:
        super().__init__(file)
        self._variables = variables

    def persistent_load(self, number: int) -> Variable:
        """The variable with a number."""
        return self._variables[number]


class Arrival(NamedTuple):
    """The variables that came with a function, and one that is younger than all that were there by then."""

    variables: list[Variable]
    last: Variable


def pickled(function: Callable[..., Any], content: Any) -> bytes:
    """A function, with what belongs to it, as bytes.

    Raises
    ------
    FunctionError
        If it refers to something that cannot be pickled.
    """
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        with silence():
            pickler.dump(content)
            return cloudpickle.dumps((pickler.variables, file.getvalue()))
    except Exception as error:  # noqa: BLE001 (whatever the user's objects raise)
        raise FunctionError(
            f"{name_of(function)} cannot be pickled with all that it refers to, and so not be sent to workers: "
            f"{error}. Open files, locks and the like inside of it"
        ) from None


def unpickled(content: bytes) -> tuple[Any, Arrival]:
    """The content of bytes, and what is known of its variables."""
    with silence():
        variables, rest = pickle.loads(content)  # noqa: S301 (our own bytes)
        value = _Unpickler(io.BytesIO(rest), variables).load()
    return value, Arrival(variables, Variable(0.0))


@contextmanager
def only_sent_variables(function: Callable[..., Any], arrival: Arrival | None) -> Iterator[None]:
    """Refuse variables that a function reads inside the block and that were neither sent with it nor made by it.

    They are those of an imported module, of which each process has its own, with values of its own.
    """
    with recorded_reads() as reads:
        yield
    if arrival is None:
        return
    sent = set(map(id, arrival.variables))
    for variable, _ in reads.values():
        if id(variable) not in sent and oldest_first([variable, arrival.last])[0] is variable:
            raise UnsupportedArgumentError(
                f"{name_of(function)} reads the variable {variable.name!r} of an imported module, and workers may "
                "have another one with another value: give it as an argument"
            )
