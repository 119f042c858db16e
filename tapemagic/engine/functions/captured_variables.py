"""Which variables a function reads, and reading them again as they were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapemagic.engine.recording import go_live, go_quiet
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.engine.tensor.variable import Variable

Reads = dict[int, tuple[Variable, Tensor]]
"""Variables by their numbers, each with the value that was read of it first."""


class _Reader:
    """Hears which variables are read, and of nothing else."""

    def __init__(self) -> None:
        self.reads: Reads = {}
        self._tracked: dict[int, int] = {}

    def _notice(self, variable: Variable) -> None:
        self.reads.setdefault(variable._id, (variable, variable._handle))

    def _ignore(self, *_: Any) -> None:
        """Nothing is recorded here."""

    _recording, _rewatched = True, None
    _append = _prune = _gain = _hear = _sweep_begins = _sweep_ends = _ignore


@contextmanager
def reading() -> Iterator[Reads]:
    """The variables that are read inside the block."""
    reader: Any = _Reader()
    go_live(reader)
    try:
        yield reader.reads
    finally:
        go_quiet(reader)


def captured_by(reads: Reads, inputs: list[Any]) -> list[Variable]:
    """The trainable ones of the variables that were read, which are not among the inputs; the oldest first."""
    given = set(map(id, inputs))
    found = [v for v, _ in reads.values() if v.trainable and id(v) not in given]
    return sorted(found, key=lambda variable: variable._created)


@contextmanager
def as_they_were(reads: Reads) -> Iterator[None]:
    """Variables have the values that were read of them; what is assigned to them inside the block is undone."""
    now = [variable._handle for variable, _ in reads.values()]
    for variable, handle in reads.values():
        variable._handle = handle
    try:
        yield
    finally:
        for (variable, _), handle in zip(reads.values(), now, strict=True):
            variable._handle = handle
