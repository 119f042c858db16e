"""Recording of operations: the format of a record, the live tapes of a thread, and the function that records.

A record on a tape is a plain tuple in the order of `Record`. A value that a tape tracks is identified by its id, a
positive number. A value that no tape tracks has the number 0 if it was made as a constant, and the stamp of the clock,
which is negative, if it was computed. Ids and stamps come from one counter, so that they give the order of events.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol

import numpy as np

from tapemagic.engine.registry import NUMBERED, Operation

SMALL = 1024
"""The bytes up to which a value is always kept: its shape and dtype alone would hardly take less."""

CONSTANT = 0
"""The number of a tensor that was made as a constant, and of a plain number."""

FOREIGN = -1
"""The number of a plain array: the program has a reference to it, and may write into it."""

PRUNE_MASK = 0xFFF
"""Of small results, those whose id has none of these bits make the tape count its records."""

NO_PARAMS = None


class Record(NamedTuple):
    """One operation as a tape keeps it."""

    number: int
    values: tuple[Any, ...]
    ids: tuple[int, ...]
    params: dict[str, Any] | None
    output: Any
    output_id: int | tuple[int, ...]

    @property
    def operation(self) -> Operation:
        """The operation with the record's number."""
        return NUMBERED[self.number]

    @property
    def name(self) -> str:
        """The name of the operation; of a function with a custom gradient, the name of that function."""
        call = (self.params or {}).get("call")
        return call.name if call is not None else self.operation.name

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The results: one, or several."""
        return self.output if self.output.__class__ is tuple else (self.output,)

    @property
    def output_ids(self) -> tuple[int, ...]:
        """The ids of the results."""
        made = self.output_id
        return made if isinstance(made, tuple) else (made,)


def outputs_of(record: Any) -> tuple[int, ...]:
    """The ids of the results of a record."""
    made = record[-1]
    return made if made.__class__ is tuple else (made,)


class Absent:
    """Stands in a record for a value that no rule reads: its shape and dtype, and what a trace knows it by."""

    __slots__ = ("_node", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], node: Any = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self._node = node

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes that the elements took."""
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"<{self.dtype} of shape {self.shape}, not kept>"


class Recorder(Protocol):
    """The interface of a tape to the functions that record."""

    _recording: bool
    _notes_scopes: bool
    _rewatched: dict[int, int] | None
    _tracked: dict[int, int]
    _append: Callable[[Any], None]

    def _variable_read(self, variable: Any) -> None: ...

    def _prune(self) -> None: ...

    def _sweep_begins(self, targets: Mapping[int, Any]) -> None: ...

    def _sweep_ends(self) -> None: ...

    def _gradient_taken(
        self,
        tape: Any,
        method: str,
        targets: Sequence[Any],
        sources: Sequence[Any],
        results: Sequence[Any],
        weighted: bool,
    ) -> None: ...

    def _add_bytes(self, size: int) -> None: ...

    def _record_event(self, kind: Any, i: int, what: Any) -> None: ...

    def _replace_output(self, i: int, value: Any) -> None: ...


_live: ContextVar[tuple[Recorder, ...]] = ContextVar("live tapes", default=())
_silenced: ContextVar[bool] = ContextVar("in silence", default=False)
live = _live.get
new_id = itertools.count(1 << 20).__next__

open_blocks: list[None] = []
"""As many items as tapes record, and traces are open, on any thread: without one, nobody need ask for those of this."""

clock = [-new_id()]
"""The stamp for results computed now that no tape records."""

GRADIENT = 1 << 60
"""The offset of the stamps of gradients, which tells them from other results."""


def tick() -> int:
    """Advance the clock, so that results computed from now on have a later stamp; return the time."""
    now = new_id()
    clock[0] = -now
    return now


def is_id(i: int) -> bool:
    """Whether a number is the id of a value that a tape may track, and not a stamp, CONSTANT or FOREIGN."""
    return i > 0


def is_stamp(i: int) -> bool:
    """Whether a number is the stamp of a result that no tape recorded."""
    return i < FOREIGN


def is_gradient_stamp(i: int) -> bool:
    """Whether a number is the stamp of a gradient that no tape recorded."""
    return i < -GRADIENT


def time_of(i: int) -> int:
    """The time at which a value was computed, by its id or stamp; 0 for a constant."""
    return i if i >= 0 else -i % GRADIENT


def push_tape(tape: Recorder) -> int:
    """Begin to record on this thread; return the time."""
    tapes = recording_tapes()
    _live.set((*tapes, tape) if tape not in tapes else tapes)
    open_blocks.append(None)
    now = new_id()
    clock[0] = -now
    return now


def pop_tape(tape: Recorder) -> int:
    """End recording on this thread; return the time."""
    tapes = live()
    if tapes and tapes[-1] is tape:
        _live.set(tapes[:-1])
    else:
        _live.set(tuple(other for other in tapes if other is not tape))
    open_blocks.pop()
    now = new_id()
    clock[0] = -now
    return now


def recording_tapes() -> tuple[Recorder, ...]:
    """The tapes that record on this thread, which forgets those whose block was left on another one."""
    tapes = live()
    for tape in tapes:
        if not tape._recording:
            _live.set(tuple(tape for tape in tapes if tape._recording))
            return live()
    return tapes


@contextmanager
def silence() -> Iterator[None]:
    """Record nothing on this thread inside the block, on any tape."""
    tapes, silenced = _live.set(()), _silenced.set(True)
    try:
        yield
    finally:
        _silenced.reset(silenced)
        _live.reset(tapes)


def is_silent() -> bool:
    """Whether this is inside of a `silence` block, and no tape was entered there."""
    return _silenced.get() and not live()


def is_here(tape: Recorder) -> bool:
    """Whether a recording tape records this thread, or would outside of a `silence` block."""
    return tape in live() or _silenced.get()


def note(
    operation: Operation,
    values: tuple[Any, ...],
    ids: tuple[int, ...],
    params: dict[str, Any] | None,
    output: Any,
    tapes: tuple[Recorder, ...],
    size: int,
) -> int:
    """Append a record to every tape that tracks an input; return the id of the output, or a stamp if no tape does.

    `size` is the number of bytes of the largest value, or of the output alone where it is a part of the input.
    """
    output_id = 0
    for tape in tapes:
        tracked = tape._tracked
        for i in ids:
            if i in tracked:
                break
        else:
            continue
        if not output_id:
            output_id = new_id()
            if FOREIGN in ids:
                values = protect(operation, values, ids)
            record = (operation.number, values, ids, params, output, output_id)
        tracked[output_id] = output_id
        tape._append(record)
        if size > SMALL:
            tape._add_bytes(size)
        elif not output_id & PRUNE_MASK:
            tape._prune()
    return output_id or clock[0]


def note_several(
    operation: Operation,
    values: tuple[Any, ...],
    ids: tuple[int, ...],
    params: dict[str, Any] | None,
    outputs: tuple[Any, ...],
    tapes: tuple[Recorder, ...],
) -> tuple[int, ...]:
    """Append a record of an operation with several outputs, as `note` does for one; return the ids of all outputs."""
    tracking = [tape for tape in tapes if any(i in tape._tracked for i in ids)]
    if not tracking or not outputs:
        return (clock[0],) * len(outputs)
    output_ids = tuple(new_id() for _ in outputs)
    kept = protect(operation, values, ids)
    record = (operation.number, kept, ids, params, outputs, output_ids)
    for tape in tracking:
        tape._tracked.update(zip(output_ids, output_ids, strict=True))
        tape._append(record)
        tape._add_bytes(sum(output.nbytes for output in outputs))
    return output_ids


def protect(operation: Operation, values: tuple[Any, ...], ids: tuple[int, ...]) -> tuple[Any, ...]:
    """The inputs of a record, with copies of those plain arrays that rules read: the program may write into them."""
    unread = frozenset(operation.unread((True,) * len(ids)))
    kept = list(values)
    for position, i in enumerate(ids):
        if i == FOREIGN:
            value = values[position]
            kept[position] = absent(value) if position in unread else value.copy()
    return tuple(kept)


def absent(value: Any) -> Any:
    """The shape and dtype of a value, in an `Absent`; the value itself if it is small."""
    if value.__class__ is tuple:
        return tuple(map(absent, value))
    if value.__class__ is not np.ndarray or value.nbytes <= SMALL:
        return value
    return Absent(value.shape, value.dtype, getattr(value, "_node", None))
