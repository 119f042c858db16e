"""What a tape has recorded, and the thrift with which it keeps it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

from tapemagic.engine.recording import Record, recording_tapes
from tapemagic.engine.tape.cotangents import mark_stopped
from tapemagic.engine.tape.memory import drop_dead, slim, weight

LIGHT, HEAVY = 1 << 19, 1 << 24
"""The bytes that a tape records before it lets go of what no rule reads, and before it looks for dead results."""

MANY = 1 << 12
"""The records at which a tape first looks for dead results."""


Evidence = tuple[list[Any], dict[int, int], set[int]]


def ignore(_record: Any) -> None:
    """Drop a record that came while its tape was not recording, from a task or a thread that outlives its block."""
    recording_tapes()


class Memory:
    """The records of a tape, oldest first, and the values that it tracks."""

    _recording = False
    _rewatched: dict[int, int] | None = None
    _keeps = False
    _weight = 0
    _heavy = HEAVY
    _many = MANY
    _last_evidence: Evidence | None = None
    _last_leaves: AbstractSet[int] = frozenset()

    def _clear(self) -> None:
        """Forget all records, and everything that was watched."""
        self._tracked: dict[int, int] = {}
        self._leaves: set[int] = set()
        self._records: list[Any] = []
        self._take = self._taker()
        self._append = self._take if self._recording else ignore
        self._sorted = self._unsorted = self._settled = self._held = 0

    def _evidence(self) -> Evidence:
        """The records without their values, what is tracked, and what is watched: all that explains a None.

        In the place of a value stands the identity of its array, where the tape does not track it.
        """
        if self._last_evidence is not None and not self._records:
            return self._last_evidence
        if self._rewatched is not None:
            mark_stopped(self._records, self._tracked, self._rewatched)
        bare = [
            (number, tuple([id(x) for x in values]), ids, None, None, output_id)
            for number, values, ids, _, _, output_id in self._records
        ]
        return bare, dict(self._tracked), set(self._leaves)

    def _taker(self) -> Callable[[Any], None]:
        """What takes a new record in; it must not refer to the tape, which could then not be freed at once."""
        return self._records.append

    @property
    def records(self) -> tuple[Record, ...]:
        """What was recorded so far, oldest first."""
        return tuple(map(Record._make, self._records))

    def _gain(self, size: int) -> None:
        """Hear that a large result was recorded, of so many bytes."""
        self._unsorted += size
        if self._unsorted > LIGHT:
            self._sort_out()
            if self._weight > HEAVY:
                self._drop_new_dead()

    def _prune(self) -> None:
        """Drop what is dead when the records have become many."""
        if len(self._records) > self._many:
            self._drop_dead()

    def _sort_out(self) -> None:
        """Let go of the values in new records that no rule will read."""
        if self._keeps:
            return
        records = self._records
        for position in range(self._sorted, len(records)):
            records[position] = slim(records[position], self._tracked)
        self._sorted = len(records)
        self._weight += self._unsorted
        self._unsorted = 0

    def _drop_new_dead(self) -> None:
        """Drop the new records whose results nobody can reach any more; the old ones too when they weigh much more.

        So the cost of a long tape stays in proportion to its length.
        """
        if self._keeps:
            return
        drop_dead(self._records, self._tracked, self._settled)
        self._held += weight(self._records[self._settled :])
        self._sorted = self._settled = len(self._records)
        self._weight = 0
        if self._held > self._heavy:
            self._drop_dead()

    def _drop_dead(self) -> None:
        """Drop the records whose results nobody can reach any more."""
        if self._keeps:
            return
        if self._unsorted:
            self._sort_out()
        drop_dead(self._records, self._tracked)
        self._sorted = self._settled = len(self._records)
        self._weight = 0
        self._held = weight(self._records)
        self._heavy = max(HEAVY, 2 * self._held)
        self._many = max(MANY, 4 * len(self._records))
