"""Functions sent to other processes, or computed later: with the values that what they refer to has now."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
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


def pickled(function: Callable[..., Any], content: Any) -> bytes:
    """A function, with what belongs to it, as bytes.

    Raises
    ------
    FunctionError
        If it refers to something that cannot be pickled.
    """
    try:
        with silence():
            return cloudpickle.dumps(content)  # type: ignore[no-any-return]
    except Exception as error:  # noqa: BLE001 (whatever the user's objects raise)
        raise FunctionError(
            f"{name_of(function)} cannot be pickled with all that it refers to, and so not be sent to workers: "
            f"{error}. Open files, locks and the like inside of it"
        ) from None


def unpickled(content: bytes) -> tuple[Any, Variable]:
    """The content of bytes, and a variable that is older than those in it, and younger than all others here."""
    arrival = Variable(0.0)
    with silence():
        return cloudpickle.loads(content), arrival


@contextmanager
def only_sent_variables(function: Callable[..., Any], arrival: Variable | None) -> Iterator[None]:
    """Refuse variables that a function reads inside the block and that were not sent with it.

    They are those of an imported module, of which each process has its own, with values of its own.
    """
    with recorded_reads() as reads:
        yield
    if arrival is None:
        return
    for variable, _ in reads.values():
        if oldest_first([variable, arrival])[0] is variable:
            raise UnsupportedArgumentError(
                f"{name_of(function)} reads the variable {variable.name!r} of an imported module, and workers may "
                "have another one with another value: give it as an argument"
            )
