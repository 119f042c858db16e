"""Recording of the variables that a function reads, with their values at the first read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapemagic.engine.recording import pop_tape, push_tape
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.engine.tensor.variable import Variable, oldest_first

Reads = dict[int, tuple[Variable, Tensor]]
"""Variables by id, each with the value of its first read."""


class _ReadRecorder:
    """A live tape that records only reads of variables."""

    def __init__(self) -> None:
        self.reads: Reads = {}
        self._tracked: dict[int, int] = {}

    def _variable_read(self, variable: Variable) -> None:
        self.reads.setdefault(variable._id, (variable, variable._handle))

    def _ignore(self, *_: Any) -> None:
        """Ignore the call."""

    _recording, _rewatched, _notes_scopes, _notes_sweeps = True, None, False, False
    _append = _prune = _add_bytes = _record_event = _sweep_begins = _sweep_ends = _ignore
    _rule_begins = _rule_ends = _ignore
    _gradient_taken = _replace_output = _ignore


@contextmanager
def recorded_reads() -> Iterator[Reads]:
    """Collect the variables that are read inside the block."""
    recorder: Any = _ReadRecorder()
    push_tape(recorder)
    try:
        yield recorder.reads
    finally:
        pop_tape(recorder)


def captured_by(reads: Reads, inputs: list[Any]) -> list[Variable]:
    """Return the trainable variables among those that were read, except for the inputs, oldest first."""
    input_ids = set(map(id, inputs))
    return oldest_first(v for v, _ in reads.values() if v.trainable and id(v) not in input_ids)


@contextmanager
def restored(reads: Reads) -> Iterator[None]:
    """Restore the recorded values of variables inside the block; assignments inside it are undone afterwards."""
    handles_before = [variable._handle for variable, _ in reads.values()]
    for variable, handle in reads.values():
        variable._handle = handle
    try:
        yield
    finally:
        for (variable, _), handle in zip(reads.values(), handles_before, strict=True):
            variable._handle = handle
