"""Recording of operations: the format of a record, the live tapes of a thread, and the function that records.

A record on a tape is a plain tuple in the order of `Record`. A tracked value is identified by its id, a positive
number. An untracked value has the number 0 if it was created as a constant, and the negated time of its computation
(its stamp) if it was computed; a plain array, which the program may still change, has -1. Ids and stamps come from one
counter, so comparing them gives the order of events.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol
from weakref import ref

import numpy as np

from tapemagic.engine.registry import NUMBERED, Operation

SMALL = 1024
"""Values of at most this many bytes are always kept: their shape and dtype would hardly take less memory."""

CONSTANT = 0
"""The number of a tensor that was created as a constant, and of a plain Python number."""

FOREIGN = -1
"""The number of a plain array: your program has a reference to it, and may write into it."""

# One small result in 4,096 triggers a check of the number of records. Checking at every result would slow recording
# down, and small results are only worth dropping by the thousands.
PRUNE_MASK = 0xFFF
"""A small result whose id & PRUNE_MASK is 0 makes the tape count its records."""

NO_PARAMS = None


class Record(NamedTuple):
    """The record of an operation on a tape."""

    number: int
    values: tuple[Any, ...]
    ids: tuple[int, ...]
    params: dict[str, Any] | None
    output: Any
    output_id: int | tuple[int, ...]

    @property
    def operation(self) -> Operation:
        """The operation that the record's number identifies."""
        return NUMBERED[self.number]

    @property
    def name(self) -> str:
        """The name of the operation, or of the function that has a custom gradient."""
        call = (self.params or {}).get("call")
        return call.name if call is not None else self.operation.name

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The results as a tuple, also of an operation with a single result."""
        return self.output if self.output.__class__ is tuple else (self.output,)

    @property
    def output_ids(self) -> tuple[int, ...]:
        """The ids of the results."""
        output_id = self.output_id
        return output_id if isinstance(output_id, tuple) else (output_id,)


def outputs_of(record: Any) -> tuple[int, ...]:
    """Return the ids of the results of a record."""
    output_id = record[-1]
    return output_id if output_id.__class__ is tuple else (output_id,)


class Absent:
    """Placeholder in a record for a value that no rule reads: its shape, its dtype and its node in a trace.

    - `norm`: Its Euclidean norm, or None if that isn't known.
    - `array`: A weak reference to it, or None. All placeholders for an array share one.
    """

    __slots__ = ("_node", "array", "dtype", "norm", "shape")

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        node: Any = None,
        norm: float | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.norm = norm
        self.array: ref[Any] | None = None
        self._node = node

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Return the size that the elements had, in bytes."""
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"<{self.dtype} of shape {self.shape}, not kept>"


class Recorder(Protocol):
    """The interface of a tape that the recording functions use."""

    _recording: bool
    _notes_scopes: bool
    _notes_sweeps: bool
    _nested_sweeps: list[Any]
    _rewatched: dict[int, int] | None
    _tracked: dict[int, int]
    _python_numbers: dict[int, bool] | None
    _records: list[Any]
    _append: Callable[[Any], None]

    def _variable_read(self, variable: Any) -> None: ...

    def _prune(self) -> None: ...

    def _sweep_begins(self, targets: Mapping[int, Any]) -> None: ...

    def _sweep_ends(self) -> None: ...

    def _rule_begins(self) -> None: ...

    def _rule_ends(self) -> None: ...

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
# Ids start at 2**20. Smaller positive numbers are free for made-up ids, such as those in `explain.sensitivity`, and
# CPython shares one object per integer up to 256, whereas `memory.drop_dead` counts the references to an id. Ids stay
# below 2**60 (GRADIENT): a billion operations per second would take 36 years to get there.
new_id = itertools.count(1 << 20).__next__

open_blocks: list[Callable[[], Recorder | None] | None] = []
"""Weak references to the recording tapes of all threads, and None for each open trace.

If it is empty, tapes of this thread needn't be looked up. A tape that a thread left open must not be kept alive, and
leaves the list when it is freed.
"""

clock = [-new_id()]
"""The stamp of results that are computed now while no tape records."""

# Stamps of results are in (-2**60, -2**20], stamps of gradients below -2**60: `time_of` recovers the time of both by
# `-i % GRADIENT`.
GRADIENT = 1 << 60
"""Offset of the stamps of gradients, which distinguishes them from other results."""


def tick() -> int:
    """Advance the clock, so that later results get a later stamp; return the time."""
    now = new_id()
    clock[0] = -now
    return now


def is_id(i: int) -> bool:
    """Return True if a number is the id of a value that a tape may track, not a stamp, CONSTANT or FOREIGN."""
    return i > 0


def is_stamp(i: int) -> bool:
    """Return True if a number is the stamp of a result that no tape recorded."""
    return i < FOREIGN


def is_gradient_stamp(i: int) -> bool:
    """Return True if a number is the stamp of a gradient that no tape recorded."""
    return i < -GRADIENT


def time_of(i: int) -> int:
    """Return the time at which a value was computed, from its id or stamp, or 0 for a constant."""
    return i if i >= 0 else -i % GRADIENT


def push_tape(tape: Recorder) -> int:
    """Start recording on this thread; return the time."""
    tapes = recording_tapes()
    _live.set((*tapes, tape) if tape not in tapes else tapes)
    open_blocks.append(ref(tape, open_blocks.remove))
    now = new_id()
    clock[0] = -now
    return now


def pop_tape(tape: Recorder) -> int:
    """Stop recording on this thread; return the time."""
    tapes = live()
    # Blocks are usually left in reverse order. They needn't be: generators and ExitStack may leave
    # an outer one first.
    if tapes and tapes[-1] is tape:
        _live.set(tapes[:-1])
    else:
        _live.set(tuple(other for other in tapes if other is not tape))
    # Not pop(): another thread may have appended its tape meanwhile.
    open_blocks.remove(ref(tape))
    now = new_id()
    clock[0] = -now
    return now


def recording_tapes() -> tuple[Recorder, ...]:
    """Return the tapes that record on this thread.

    Tapes whose block was left on another thread are removed: a context variable can only be set on its own thread.
    """
    tapes = live()
    for tape in tapes:
        if not tape._recording:
            _live.set(tuple(tape for tape in tapes if tape._recording))
            return live()
    return tapes


def tapes_of_threads() -> Sequence[Recorder]:
    """Return the tapes that record on other threads, if none does on this one."""
    if live() or _silenced.get():
        return ()
    tapes = [tape() for tape in [*open_blocks] if tape is not None]
    return [tape for tape in tapes if tape is not None and tape._recording]


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
    """Return True inside a `silence` block in which no other tape was entered."""
    return _silenced.get() and not live()


def is_here(tape: Recorder) -> bool:
    """Return True if a recording tape records this thread, or would without a `silence` block."""
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

    `size` is the size of the largest value in bytes, or of the output only, if that is a view of the input.
    """
    output_id = 0
    for tape in tapes:
        tracked = tape._tracked
        for i in ids:
            if i in tracked:
                break
        else:
            continue
        # All tapes share one record and one id: an outer tape must recognize the values that an
        # inner one differentiates.
        if not output_id:
            output_id = new_id()
            if FOREIGN in ids:
                # Once for all tapes: the copies are made only if a tape records.
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
    """Append a record of an operation with several outputs, like `note`; return the ids of all outputs."""
    tracking = [tape for tape in tapes if any(i in tape._tracked for i in ids)]
    if not tracking or not outputs:
        return (clock[0],) * len(outputs)
    # The ids of a record are in a row: a bisection by the first of them finds the record of any.
    output_ids = tuple(new_id() for _ in outputs)
    protected = protect(operation, values, ids)
    record = (operation.number, protected, ids, params, outputs, output_ids)
    for tape in tracking:
        tape._tracked.update(zip(output_ids, output_ids, strict=True))
        tape._append(record)
        tape._add_bytes(sum(output.nbytes for output in outputs))
    return output_ids


def protect(operation: Operation, values: tuple[Any, ...], ids: tuple[int, ...]) -> tuple[Any, ...]:
    """Copy the plain arrays among a record's inputs that rules read: your program may write into these arrays."""
    unread = frozenset(operation.unread((True,) * len(ids)))
    protected = list(values)
    for position, i in enumerate(ids):
        if i == FOREIGN:
            value = values[position]
            protected[position] = absent(value) if position in unread else value.copy()
    return tuple(protected)


def absent(value: Any) -> Any:
    """Replace a value by its shape and dtype, as an `Absent`, unless it is small."""
    if value.__class__ is tuple:
        return tuple(map(absent, value))
    if value.__class__ is not np.ndarray or value.nbytes <= SMALL:
        return value
    return Absent(value.shape, value.dtype, getattr(value, "_node", None))
