"""What a tape has recorded, and the thrift with which it keeps it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

from tapemagic.engine.recording import Record
from tapemagic.engine.tape.memory import drop_dead, slim, weight

LIGHT, HEAVY = 1 << 19, 1 << 24
"""The bytes that a tape records before it lets go of what no rule reads, and before it looks for dead results."""

MANY = 1 << 12
"""The records at which a tape first looks for dead results."""


Evidence = tuple[list[Any], dict[int, int], set[int]]


def ignore(record: Any) -> None:
    """What a tape does with a record while it is not recording: a task that outlives its block may bring one."""


class Memory:
    """The records of a tape, oldest first, and the values that it tracks."""

    _recording = False
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
                self._drop_dead()

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

    def _drop_dead(self) -> None:
        """Drop the records whose results nobody can reach any more: among the new ones, or, as a tape grows, all.

        All are looked at only when they have become twice as heavy or four times as many as after the last time,
        so that the cost of a long tape stays in proportion to its length.
        """
        if self._keeps:
            return
        if self._unsorted:
            self._sort_out()
        records = self._records
        drop_dead(records, self._tracked, self._settled)
        self._held += weight(islice(records, self._settled, None))
        if self._held > self._heavy or len(records) > self._many:
            drop_dead(records, self._tracked)
            self._held = weight(records)
            self._heavy = max(HEAVY, 2 * self._held)
            self._many = max(MANY, 4 * len(records))
        self._sorted = self._settled = len(records)
        self._weight = 0
