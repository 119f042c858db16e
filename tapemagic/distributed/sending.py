"""Functions that are sent to other processes, or called later, with the current values of their variables."""

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

_PROCESS_TOKEN = uuid4().hex


def this_process() -> tuple[str, int]:
    """Return an identity of this process that is unique among all machines."""
    # The process id distinguishes forked processes, which share the token.
    return _PROCESS_TOKEN, os.getpid()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """A pickler that stores variables separately."""

    # A function and its parameters may refer to the same variable. With numbers as placeholders, both refer to one
    # variable again after unpickling, and the list of all variables is known.

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.variables: list[Variable] = []
        self._numbers: dict[int, int] = {}

    def persistent_id(self, x: Any) -> int | None:
        """Return the number of a variable, or None for other objects."""
        if not isinstance(x, Variable):
            return None
        if id(x) not in self._numbers:
            self._numbers[id(x)] = len(self.variables)
            self.variables.append(x)
        return self._numbers[id(x)]


class _Unpickler(pickle.Unpickler):
    """An unpickler that replaces numbers by the variables of `_Pickler`."""

    def __init__(self, file: Any, variables: list[Variable]) -> None:
        super().__init__(file)
        self._variables = variables

    def persistent_load(self, number: int) -> Variable:
        """Return the variable with a number."""
        return self._variables[number]


class Arrival(NamedTuple):
    """The variables that arrived with a function, and a variable that was created later than the others."""

    variables: list[Variable]
    last: Variable


def pickled(function: Callable[..., Any], content: Any) -> bytes:
    """Pickle the content of a function, or raise FunctionError, which names the function."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        with silence():
            pickler.dump(content)
            return cloudpickle.dumps((pickler.variables, file.getvalue()))
    except Exception as error:  # noqa: BLE001 (user objects may raise anything)
        raise FunctionError(
            f"{name_of(function)} can't be pickled with everything that it refers to, so it can't be sent to workers: "
            f"{error}. Create files, locks and similar objects inside the function"
        ) from None


def unpickled(content: bytes) -> tuple[Any, Arrival]:
    """Unpickle the content of a function, and return it with its variables."""
    with silence():
        variables, rest = pickle.loads(content)  # noqa: S301 (our own bytes)
        value = _Unpickler(io.BytesIO(rest), variables).load()
    return value, Arrival(variables, Variable(0.0))


@contextmanager
def only_sent_variables(function: Callable[..., Any], arrival: Arrival | None) -> Iterator[None]:
    """Refuse to read variables inside the block, unless they came with the function or the function created them."""
    # Other variables belong to an imported module. Each process has its own, with its own value, so the result would
    # silently be computed from the wrong number.
    with recorded_reads() as reads:
        yield
    if arrival is None:
        return
    sent = set(map(id, arrival.variables))
    for variable, _ in reads.values():
        if id(variable) not in sent and oldest_first([variable, arrival.last])[0] is variable:
            raise UnsupportedArgumentError(
                f"{name_of(function)} reads the variable {variable.name!r} of an imported module, which may have "
                "another value on a worker: pass it as an argument"
            )
