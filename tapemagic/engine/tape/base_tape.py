"""BaseTape: records operations on watched values, and stores events, while its block is active."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, NamedTuple, TypeVar

from tapemagic.engine.events import MAX_EVENTS_PER_LINE, Event, Kind, Place, outer_frame, user_line
from tapemagic.engine.nest import tensors
from tapemagic.engine.recording import (
    Record,
    clock,
    is_here,
    live,
    new_id,
    outputs_of,
    pop_tape,
    push_tape,
    recording_tapes,
    tick,
)
from tapemagic.engine.tape.cotangents import NEVER, identify, mark_stopped
from tapemagic.engine.tape.memory import (
    PRUNE_AFTER_BYTES,
    PRUNE_AFTER_RECORDS,
    SLIM_AFTER_BYTES,
    bytes_held,
    drop_dead,
    without_unread,
)
from tapemagic.engine.tensor.coercion import bool_option
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable, oldest_first
from tapemagic.errors import NotRecordingError, NotWatchableError, TapeStateError

Entered = TypeVar("Entered", bound="BaseTape")

ALREADY_USED = "already used. A non-persistent tape gives one set of gradients: use persistent=True or a new tape"
"""The reason why a non-persistent tape can't be used after its gradients, for error messages."""


class Contents(NamedTuple):
    """The contents of a tape as plain data.

    - `records`: Oldest first. After a gradient that was None has released the tape, they hold identities of arrays
      instead of values.
    - `tracked`: The ids of tracked values, each with the time since which it is tracked.
    - `leaves`: The ids of watched values.
    - `variables`: The watched variables, oldest first.
    - `times`: The times at which recording started and stopped, alternating.
    - `watches_variables`: Whether trainable variables are watched at their first read.
    - `cut`: The ids of values whose records were let go for lack of memory, though a gradient may still need them.
    - `state`: {'whole', 'bare', 'released'}. Whether the records still hold values, hold only connections, or were
      released.
    """

    records: tuple[Any, ...]
    tracked: Mapping[int, int]
    leaves: AbstractSet[int]
    variables: tuple[Variable, ...]
    events: tuple[Event, ...]
    times: tuple[int, ...]
    watches_variables: bool
    state: Literal["whole", "bare", "released"]
    cut: AbstractSet[int] = frozenset()


Connections = tuple[list[Any], dict[int, int], set[int]]
"""The records without values, the tracked ids with their times, and the watched ids."""


def ignore(_record: Any) -> None:
    """Ignore the record of a task or thread that still runs after the block of its tape has ended."""
    recording_tapes()


class BaseTape:
    """A tape that records operations on watched values inside its block; `Tape` adds gradients.

    Values that no rule reads, and results that nothing refers to, are dropped: see `memory`.

    Parameters
    ----------
    persistent : bool, optional
        Keep the records after the first gradient, so that more gradients can be computed.
    watch_accessed_variables : bool, optional
        Watch every trainable `Variable` at its first read.
    """

    # Class attributes instead of assignments in __init__: creating a tape is part of each training step.
    _paused = _entered = _usable = _recording = _warned = _keeps = False
    _notes_scopes = False
    _event_counts: dict[Place | None, int] | None = None
    _sweeping: tuple[int, ...] = ()
    _last_connections: Connections | None = None
    _last_leaves: AbstractSet[int] = frozenset()
    _cut: AbstractSet[int] = frozenset()
    _careful = _notes_sweeps = True
    _spared: AbstractSet[int] = frozenset()
    _rewatched: dict[int, int] | None = None
    _weight = _sorted = _unsorted = _settled = _bytes_held = 0
    _heavy = PRUNE_AFTER_BYTES
    _many = PRUNE_AFTER_RECORDS

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent is not False and bool_option(persistent, "persistent")
        self._watch_accessed_variables = watch_accessed_variables is True or bool_option(
            watch_accessed_variables, "watch_accessed_variables"
        )
        self._variables: dict[int, Variable] = {}
        self._events: list[Event] = []
        self._times: list[int] = []
        self._clear()

    @property
    def _consumed(self) -> bool:
        """Whether a gradient has released the records."""
        return self._entered and not self._usable

    def __repr__(self) -> str:
        return f"GradientTape(persistent={self._persistent})"

    # Not Self, which jedi doesn't know: it completes `with GradientTape() as tape: tape.gra`.
    def __enter__(self: Entered) -> Entered:  # noqa: PYI019
        if self._recording:
            self._require_here("entering it")
            raise TapeStateError(
                "Tape is still recording: leave its first 'with' block before entering it again, "
                "or create a second GradientTape for a higher order"
            )
        if not self._usable and self._entered:
            self._clear()
            self._variables = {}
            self._events = []
            self._times = []
            self._event_counts = None
            self._last_connections = None
            self._last_leaves = frozenset()
        self._entered = self._usable = True
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._recording:
            self._stop()
        elif (
            self in live()
        ):  # the block was left on another thread, which can't change this context
            recording_tapes()

    def _start(self) -> None:
        self._recording = True
        self._append = self._take
        self._times.append(push_tape(self))

    def _stop(self) -> None:
        self._recording = False
        self._append = ignore
        self._times.append(pop_tape(self))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside this block; results computed in it are constants for this tape.

        Raises NotRecordingError if the tape was never entered, or its first gradient released its records;
        TapeStateError if the tape isn't recording, or if it was entered inside the block and still records at its end.
        """
        if not self._usable:
            how = f"it was {ALREADY_USED}" if self._entered else "enter it first, with 'with tape:'"
            raise NotRecordingError(
                f"Trying to stop recording a tape which is not recording: {how}"
            )
        self._require_recording("stop_recording")
        self._stop()
        self._paused = True
        try:
            yield
        finally:
            self._paused = False
            if self._recording:
                raise TapeStateError(
                    "Tape is still recording: it was entered inside the block of stop_recording(), and that 'with' "
                    "must be left before this one"
                )
            if self._usable:
                self._record_event("paused", self._times[-1], tick())
                self._start()

    def reset(self) -> None:
        """Drop all records and watched values; recording continues.

        Raises TapeStateError if the tape isn't recording.
        """
        self._require_recording("reset")
        watched = frozenset(self._leaves)
        self._clear()
        self._variables = {}
        self._record_event("reset", tick(), watched)

    def _record_event(self, kind: Kind, i: int, what: Any) -> None:
        """Store an event with its cause, a line of your program.

        Conversions by rules of this package in a reverse sweep aren't events of your program.
        """
        if kind == "exit" and self._sweeping and self._sweeping[-1] == outer_frame():
            return
        place = user_line()
        if self._event_counts is None:
            self._event_counts = {}
        count = self._event_counts[place] = self._event_counts.get(place, 0) + 1
        if count <= MAX_EVENTS_PER_LINE:
            # New int objects: an event must not keep the records of the values that it names.
            what = what + 0 if what.__class__ is int else what
            self._events.append(Event(kind, i + 0, what, place, tick()))

    def _require_recording(self, what: str) -> None:
        if not self._recording:
            why = (
                f"it was {ALREADY_USED}"
                if self._consumed
                else f"{what}() belongs inside its 'with' block"
            )
            raise TapeStateError(f"Tape is not recording: {why}")
        self._require_here(f"{what}()")

    def _require_here(self, what: str) -> None:
        """Raise an error for a call from a thread that isn't recorded."""
        if not is_here(self):
            raise TapeStateError(
                f"Tape is still recording on another thread: {what} must wait until its 'with' block is left; "
                "to record here, create a GradientTape on this thread"
            )

    def watch(self, tensor: Any) -> None:
        """Track a tensor, so that gradients with respect to it can be computed.

        Raises NotWatchableError if an entry is something else; TapeStateError if the tape was never entered, or was
        released by its first gradient.

        Parameters
        ----------
        tensor : Tensor, Variable, or nested structure of them
            Integers and bools may be watched, but have no gradient; a warning says so.
        """
        watched = tensors(tensor, "the argument of watch()", NotWatchableError)
        if not self._entered:
            raise TapeStateError(
                "watch() before the tape records: write 'with GradientTape() as tape:' first, "
                "and call tape.watch(x) inside that block"
            )
        if not self._usable:
            raise TapeStateError(f"watch() on a tape that was {ALREADY_USED}")
        # On a paused tape, the tensor is tracked for later. Without any live tape, there is nothing to track it for.
        if not live() and not self._paused:
            if self._recording:
                self._require_here("watch()")
            return
        for x in watched:
            if x.dtype.kind not in "fc":
                warn(
                    "The dtype of the watched tensor must be floating (e.g. float64), got %s: its gradient is None",
                    x.dtype,
                )
            if isinstance(x, Variable):
                self._variables.setdefault(x._id, x)
            self._track(x)
        tick()

    def _track(self, x: Traced) -> None:
        i = x._id
        if i <= 0:
            i = identify(x)
        if x._value.dtype.kind not in "fc":
            return
        tracked = self._tracked
        if i not in tracked:
            # A tensor is tracked from now on: operations recorded before have smaller ids, and
            # treat it as a constant.
            tracked[i] = now = new_id()
            clock[0] = -now
            self._leaves.add(i)
        # A result of stop_gradient becomes a source when it is watched.
        elif tracked[i] == NEVER:
            tracked[i] = tick()
        elif self._rewatched is not None:
            self._rewatched.setdefault(i, tick())

    def _sweep_begins(self, targets: Mapping[int, Any]) -> None:  # noqa: ARG002 (an observer reads it)
        """Note that the next records belong to a reverse sweep from `targets`, by their ids."""
        self._sweeping = *self._sweeping, outer_frame()

    def _sweep_ends(self) -> None:
        """Note that the reverse sweep has ended."""
        self._sweeping = self._sweeping[:-1]

    def _rule_begins(self) -> None:
        """Note that a sweep calls a function of your program, such as the gradient of a custom gradient."""

    def _rule_ends(self) -> None:
        """Note that the function of your program has returned."""

    def _gradient_taken(
        self,
        tape: Any,
        method: str,
        targets: Sequence[Any],
        sources: Sequence[Any],
        results: Sequence[Any],
        weighted: bool,
    ) -> None:
        """Note that a tape computed gradients."""

    def _variable_read(self, variable: Variable) -> None:
        """Watch a trainable variable that is being read."""
        i = variable._id
        if i in self._variables or not variable._trainable:
            return
        if self._watch_accessed_variables and self._recording:
            self._variables[i] = variable
            self._track(variable)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the watched variables, in the order of their creation."""
        return tuple(oldest_first(self._variables.values()))

    def _clear(self) -> None:
        """Drop all records and watched values."""
        self._tracked: dict[int, int] = {}
        self._python_numbers: dict[int, bool] | None = None
        self._leaves: set[int] = set()
        self._records: list[Any] = []
        self._nested_sweeps: list[Any] = []
        self._take = self._taker()
        self._append = self._take if self._recording else ignore
        if self._cut:
            self._cut = frozenset()
        if self._unsorted or self._sorted:
            self._sorted = self._unsorted = self._settled = self._bytes_held = 0

    def _release(self) -> None:
        """Drop all records and watched values of a tape that won't record until it is entered again."""
        self._tracked = {}
        self._leaves = set()
        self._records = []
        self._nested_sweeps = []
        self._take = self._append = ignore

    def _connections(self) -> Connections:
        """Return the records with identities of arrays instead of values, the tracked ids and the watched ids.

        These explain a gradient that is None.
        """
        if self._rewatched is not None:
            mark_stopped(self._records, self._tracked, self._rewatched)
        bare = [
            (number, tuple([id(x) for x in values]), ids, None, None, output_id)
            for number, values, ids, _, _, output_id in self._records
        ]
        return bare, dict(self._tracked), set(self._leaves)

    def _taker(self) -> Callable[[Any], None]:
        """Return the function that stores a new record. It doesn't refer to the tape, to avoid a reference cycle."""
        return self._records.append

    @property
    def records(self) -> tuple[Record, ...]:
        """The operations recorded so far, oldest first."""
        return tuple(map(Record._make, self._records))

    def _add_bytes(self, size: int) -> None:
        """Account for a large result of `size` bytes; from time to time, drop values that aren't needed."""
        self._unsorted += size
        if self._unsorted > SLIM_AFTER_BYTES:
            self._sort_out()
            if self._weight > PRUNE_AFTER_BYTES:
                self._drop_new_dead()

    def _prune(self) -> None:
        """Drop dead records if there are many records."""
        if len(self._records) > self._many:
            self._drop_dead()

    def _replace_output(self, i: int, value: Any) -> None:
        """Replace the array of a recorded lazy result by one with the same numbers."""
        records = self._records
        # Ids grow along the tape, so the record is found by bisection.
        at = bisect_right(records, i, key=lambda record: outputs_of(record)[0]) - 1
        if at < 0 or i not in outputs_of(records[at]):
            return
        *rest, output, output_id = records[at]
        if output_id.__class__ is tuple:
            parts = zip(output, output_id, strict=True)
            value = tuple([value if k == i else part for part, k in parts])
        records[at] = (*rest, value, output_id)

    def _sort_out(self) -> None:
        """Drop the values in new records that no rule will read."""
        if self._keeps:
            return
        records = self._records
        for position in range(self._sorted, len(records)):
            records[position] = without_unread(records[position], self._tracked)
        self._sorted = len(records)
        self._weight += self._unsorted
        self._unsorted = 0

    def _drop_new_dead(self) -> None:
        """Drop dead records among the new records; among all if the old ones have doubled in size.

        So the total time stays proportional to the length of the tape.
        """
        if self._keeps:
            return
        drop_dead(self._records, self._tracked, self._settled)
        self._bytes_held += bytes_held(self._records[self._settled :])
        self._sorted = self._settled = len(self._records)
        self._weight = 0
        if self._bytes_held > self._heavy:
            self._drop_dead()

    def _drop_dead(self) -> None:
        """Drop the records whose results nothing refers to anymore."""
        if self._keeps:
            return
        if self._unsorted:
            self._sort_out()
        drop_dead(self._records, self._tracked)
        self._sorted = self._settled = len(self._records)
        self._weight = 0
        self._bytes_held = bytes_held(self._records)
        self._heavy = max(PRUNE_AFTER_BYTES, 2 * self._bytes_held)
        self._many = max(PRUNE_AFTER_RECORDS, 4 * len(self._records))


def contents_of(tape: BaseTape) -> Contents:
    """Return the current contents of a tape; for a released tape, only the contents that explain missing gradients."""
    tracked: Mapping[int, int] = tape._tracked
    leaves: AbstractSet[int] = tape._leaves
    records: list[Any] = tape._records
    state: Literal["whole", "bare", "released"] = "whole"
    if tape._consumed and tape._last_connections is None:
        leaves = tape._last_leaves
        records, tracked, state = [], dict.fromkeys(leaves, 0), "released"
    elif tape._consumed and tape._last_connections is not None:
        records, tracked, leaves = tape._last_connections
        state = "bare"
    return Contents(
        tuple(records),
        dict(tracked),
        frozenset(leaves),
        tape.watched_variables(),
        tuple(tape._events),
        tuple(tape._times),
        tape._watch_accessed_variables,
        state,
        tape._cut,
    )


def warn(message: str, *args: Any) -> None:
    """Log a warning to the logger `tapemagic`, without a source path."""
    import logging

    logging.getLogger("tapemagic").warning(message, *args)
