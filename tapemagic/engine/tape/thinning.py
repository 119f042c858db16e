"""Thinning: a recorded cell lets go of what nothing alive can reach, except for a few turns of each loop.

A result is dead if nothing but its record and the table of the observer refers to its id, as in `memory`. The record of
a dead result is kept in turns of loops that a report shows, with new int objects as ids, so that it keeps nothing else
alive.
"""

from __future__ import annotations

import cmath
import math
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import setitem
from typing import Any
from weakref import ref

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import FOREIGN, Absent, outputs_of
from tapemagic.engine.tape.gradient_steps import size_of
from tapemagic.engine.tape.memory import (
    COUNT_IN_TABLE,
    bytes_held,
    reference_count,
    without_unread,
)
from tapemagic.engine.tape.turns import FEW_TURNS, Turn, Turns

# A collection looks at every record since the last one. 16 MB are six steps of a small network on batches of 128, and
# 2,048 records take about 5 ms.
COLLECT_AFTER_BYTES, COLLECT_AFTER_RECORDS = 1 << 24, 1 << 11
"""The bytes of large results, and the number of records, after which dead results are looked for."""

RECORD_BYTES = 700
"""About the size of a record of small values, with its place and the entries in tables."""

RESERVED_BYTES = 1 << 22
"""The memory that is set aside for letting go of the recording when the memory is full."""

KEPT_BYTES = 1 << 24
"""The size of the arrays in the kept turns above which fewer turns are kept."""


SLIM, RENEWED = 1, 2
"""The states of a record besides 0: without the values that no rule reads; with new int objects as ids."""


class Thinning:
    """Lets go of the dead records of an `Observer`.

    - `omitted`: The number of records that are gone.
    - `turns`: For each record, the innermost turn of a loop that it belongs to, or None.
    - `omitted_runs`: How often instructions ran whose records are all gone, by the line of the cell and the offset.
    - `collections`: The number of collections so far.
    """

    def __init__(self, observer: Any, budget: float = math.inf) -> None:
        self._observer = observer
        self._turns = Turns(observer._calls)
        self.turns: list[Turn | None] = []
        self._states = bytearray()
        self._sweep_ends: set[int] = set()
        self._samples = FEW_TURNS
        self._settled = 0
        self._full_at = COLLECT_AFTER_RECORDS
        self._full_at_bytes = KEPT_BYTES
        self._kept_bytes = 0
        self._held = 0
        self.budget = self._full_at_held = budget
        self._is_finite_so_far = True
        self._first_gap = -1
        self._reserve = bytes(RESERVED_BYTES)
        self.omitted_runs: dict[tuple[int | None, int], int] = {}
        self.omitted = self.collections = self.cut = 0

    def is_due(self) -> bool:
        """Return True if there are many new records."""
        return len(self._observer._records) - self._settled > 2 * COLLECT_AFTER_RECORDS

    def sweep_ended(self) -> None:
        """Note that the next record is the first one after a reverse sweep."""
        self._sweep_ends.add(len(self._observer._records))

    def collect(self, everything: bool = False) -> None:
        """Let go of dead records among the new ones, or among all if their number or size has doubled."""
        # An interrupt may have come before the gaps of the last collection were closed.
        self.close_gaps()
        records = self._observer._records
        self.place_new()
        self.collections += 1
        if not everything and len(records) <= self._full_at:
            first = self._settled
            self._drop(first)
            self._settle()
            self._held += held_by(records[first : self._settled])
            everything = self._kept_bytes > self._full_at_bytes or self._held > self._full_at_held
        else:
            everything = True
        if everything:
            self._collect_all()
            self._settle()

    def _collect_all(self) -> None:
        records, everything = self._observer._records, True
        while everything:
            self._kept_bytes = 0
            self._drop(0)
            everything = self._kept_bytes > KEPT_BYTES and self._samples > 0
            self._samples //= 1 + everything
            self._full_at = max(COLLECT_AFTER_RECORDS, 2 * len(records))
            self._full_at_bytes = max(KEPT_BYTES, 2 * self._kept_bytes)
        self._held = held_by(records)
        if self._held > self.budget:
            self._cut()
            self._held = held_by(records)
        # Where nothing can be cut, the next look at all records waits until they have grown by half.
        self._full_at_held = max(self.budget, 1.5 * self._held)

    def _settle(self) -> None:
        records = self._observer._records
        self._settled = max(self._first_recent(), len(records) - COLLECT_AFTER_RECORDS)

    def _first_recent(self) -> int:
        """Return the position after which records belong to the last turns of loops, and may die soon."""
        position = len(self.turns)
        while position:
            turn = self.turns[position - 1]
            if turn is not None and not turn.is_recent():
                break
            position -= 1
        return position

    # -- the turns of new records -------------------------------------------------------------------

    @np.errstate(all="ignore")
    def place_new(self) -> None:
        """Find the turns of the new records, and pin the one in which a value first became nan or infinite."""
        observer, turns, ends = self._observer, self.turns, self._sweep_ends
        observer._complete()
        records, sites, orders = observer._records, observer._sites, observer._orders
        self._states.extend(bytes(len(records) - len(self._states)))
        place, site, turn = self._turns.place, None, None
        for position in range(len(turns), len(records)):
            record = records[position]
            # All records of a sweep have one site, the very same object.
            if sites[position] is not site or position in ends:
                site = sites[position]
                turn = place(site, record[0], position in ends)
                if turn is not None and orders[position]:
                    turn.swept()
            turns.append(turn)
            if turn is not None:
                turn.added()
            if self._is_finite_so_far and not orders[position]:
                self._check(record, turn)
        # Positions change, but a sweep that has just ended has no record after it yet.
        self._sweep_ends = {end for end in ends if end == len(records)}

    def _check(self, record: Any, turn: Turn | None) -> None:
        output = record[4]
        for value in output if output.__class__ is tuple else (output,):
            if not _is_finite(value):
                self._is_finite_so_far = False
                # The turn before may have assigned the value.
                for each in turn.chain() if turn is not None else ():
                    each.is_pinned = True
                    if each.before is not None:
                        each.before.is_pinned = True

    # -- letting go -----------------------------------------------------------------------------------

    def _drop(self, first: int) -> None:
        """Let go of the dead records from a position on."""
        self._first_gap = first
        # An interrupt must not leave a list with gaps.
        try:
            self._drop_from(first)
        finally:
            self.close_gaps()

    def _drop_from(self, first: int) -> None:
        # Newest first: a record that is gone no longer refers to its inputs when the records of these are checked. No
        # variable may hold an id, because each would count as a reference. A record is replaced before the tables
        # change, so that an interrupt leaves at most entries without a record.
        observer = self._observer
        records, tracked = observer._records, observer._tracked
        states, turns, orders = self._states, self.turns, observer._orders
        last_turn: Turn | None = None
        is_kept = True
        for position in range(len(turns) - 1, first - 1, -1):
            record = records[position]
            turn = turns[position]
            if turn is not last_turn:
                last_turn, is_kept = turn, turn is None or self._is_kept(turn)
            if not _is_dead(record, tracked):
                # A report doesn't show its values, but a gradient may still need some of them.
                if not is_kept and not states[position]:
                    states[position] = SLIM
                    if np.ndarray in map(type, record[1]):
                        records[position] = slimmed(record, tracked)
                continue
            if turn is not None and not is_kept:
                records[position] = None
                if record[-1].__class__ is not tuple:
                    del tracked[record[-1]]
                else:
                    for i in record[-1]:
                        del tracked[i]
                    i = 0
                turn.dropped()
                self.omitted += 1
                if not orders[position]:
                    self._count_run(position)
                continue
            self._kept_bytes += _size(record)
            if states[position] != RENEWED:
                states[position] = RENEWED
                self._renew(position)

    def _cut(self) -> None:
        """Let go of the oldest steps whose gradients were taken, though something alive refers to their results.

        What has to be given up is half of the budget, so that this doesn't happen again at once.
        """
        observer = self._observer
        self._settle()
        excess = self._held - self.budget / 2
        last = 0
        chosen: list[int] = []
        while last < self._settled and excess > 0:
            turn = self.turns[last]
            if (
                turn is not None
                and turn.is_swept
                and self._states[last] != RENEWED
                and not self._is_kept(turn)
            ):
                chosen.append(last)
                excess -= RECORD_BYTES + _size(observer._records[last])
            last += 1
        self._first_gap = 0
        try:
            self._cut_at(chosen)
        finally:
            self.close_gaps()
        observer._cut = frozenset(i for i in observer._cut if i in observer._tracked)

    def _cut_at(self, chosen: Sequence[int]) -> None:
        observer, tracked = self._observer, self._observer._tracked
        cut = set(observer._cut)
        for position in reversed(chosen):
            record = observer._records[position]
            observer._records[position] = None
            is_dead = _is_dead(record, tracked)
            for i in outputs_of(record):
                if is_dead:
                    del tracked[i]
                else:
                    cut.add(i + 0)
            turn = self.turns[position]
            if turn is not None:
                turn.dropped()
            self.omitted += 1
            if not observer._orders[position]:
                self._count_run(position)
            self.cut += 1
        observer._cut = frozenset(cut)

    def let_go(self) -> None:
        """Let go of all records, because the memory is full; note the values that are still alive."""
        self._reserve = b""
        observer = self._observer
        self.close_gaps()
        cut = set(observer._cut)
        records, tracked = observer._records, observer._tracked
        self.omitted += len(records)
        self.cut += len(records)
        # The last first, one by one: a list of what to do would need memory.
        while records:
            record = records.pop()
            is_dead = _is_dead(record, tracked)
            for i in outputs_of(record):
                if is_dead:
                    del tracked[i]
                else:
                    cut.add(i + 0)
        for items in (observer._sites, observer._orders, observer._seeds, observer._sweeps):
            items.clear()
        self.turns, self._states = [], bytearray()
        self._settled = 0
        observer._cut = frozenset(cut)

    def _is_kept(self, turn: Turn) -> bool:
        """Return True if a report keeps a turn: if it is a sample in its loop, and the turns around it are kept."""
        at_edge = True
        for each in reversed(turn.chain()):
            if not each.is_sample(self._samples, at_edge):
                return False
            at_edge = at_edge and (each.index == 0 or each.index == each.run.count - 1)
        return True

    def _renew(self, position: int) -> None:
        """Give a record int objects of its own as ids, so that it keeps no other record alive."""
        observer = self._observer
        tracked = observer._tracked
        number, values, ids, params, output, output_id = observer._records[position]
        new_ids = tuple([i + 0 for i in ids])
        is_tuple = output_id.__class__ is tuple
        new_output = tuple([i + 0 for i in output_id]) if is_tuple else output_id + 0
        observer._records[position] = (number, values, new_ids, params, output, new_output)
        for i in new_output if is_tuple else (new_output,):
            since = tracked.pop(i)
            tracked[i] = i if since == i else since

    def _count_run(self, position: int) -> None:
        """Count a run of an instruction if a record that is gone was the first of the run's."""
        sites = self._observer._sites
        site = sites[position]
        if position == 0 or sites[position - 1] != site:
            key = site[0], site[2]
            self.omitted_runs[key] = self.omitted_runs.get(key, 0) + 1

    def close_gaps(self) -> None:
        """Remove what was let go from the lists of the observer."""
        if self._first_gap < 0:
            return
        try:
            self._close_gaps()
        except KeyboardInterrupt:
            # Everything else would fail on lists with gaps; each step can be repeated.
            self._close_gaps()
            raise

    def _close_gaps(self) -> None:
        observer, first = self._observer, self._first_gap
        records, tracked = observer._records, observer._tracked
        observer._seeds[:] = [seed for seed in observer._seeds if seed[1] in tracked]
        observer._sweeps[:] = [
            sweep for sweep in observer._sweeps if any(i in tracked for i in sweep[1])
        ]
        # Another thread may add records that have no turn yet.
        end = len(self.turns)
        kept = [p for p in range(first, end) if records[p] is not None]
        if len(kept) < end - first:
            lists = records, observer._sites, observer._orders, self.turns, self._states
            new = [[items[p] for p in kept] for items in lists[:-1]]
            flags = bytes([self._states[p] for p in kept])
            # All at once, in C: an interrupt comes before or afterwards.
            deque(map(setitem, lists, repeat(slice(first, end)), [*new, flags]), 0)
        # Of the sweeps whose end is noted, only one that has just ended has no record after it yet.
        if self._sweep_ends:
            self._sweep_ends = {len(records)}
        self._first_gap = -1


def slimmed(record: Any, tracked: Mapping[int, int]) -> Any:
    """Return a record without the values that no rule reads.

    Their norms stay for the curves of loops, and weak references tell the values of a variable apart.
    """
    slim = without_unread(record, tracked)
    if slim is not record:
        for value, kept in zip((*record[1], record[4]), (*slim[1], slim[4]), strict=True):
            if kept is not value and kept.__class__ is Absent:
                kept.norm = size_of(value)
                kept.array = ref(value)
    return slim


def held_by(records: Sequence[Any]) -> int:
    """Return about the size of some records in bytes."""
    return RECORD_BYTES * len(records) + bytes_held(records)


def _size(record: Any) -> int:
    """Return the size of the arrays that only one record holds: its results, and copies of plain arrays."""
    _, values, ids, _, output, _ = record
    copies = [x for x, i in zip(values, ids, strict=True) if i == FOREIGN and x is not None]
    results = output if output.__class__ is tuple else (output,)
    return sum([getattr(x, "nbytes", 0) for x in (*results, *copies) if x.__class__ is not Absent])


def _is_dead(record: Any, tracked: Mapping[int, int]) -> bool:
    """Return True if nothing but an observer refers to the results of a record."""
    if record[-1].__class__ is not tuple:
        return reference_count(record[-1]) <= COUNT_IN_TABLE and tracked[record[-1]] is record[-1]
    for i in record[-1]:  # noqa: SIM110 -- all() takes three times as long
        # The variable is one more reference.
        if reference_count(i) > COUNT_IN_TABLE + 1 or tracked[i] is not i:
            return False
    return True


def _is_finite(value: Any) -> bool:
    """Return True unless a value has a nan or infinity."""
    if isinstance(value, float):  # also np.float64
        return math.isfinite(value)
    if value.dtype.kind not in "fc" or is_lazy(value):
        return True
    # A sum of finite numbers is finite, or overflows: only then every element is looked at.
    total = np.add.reduce(value, None)
    is_finite = math.isfinite(total) if value.dtype.kind == "f" else cmath.isfinite(total)
    return is_finite or bool(np.isfinite(value).all())
