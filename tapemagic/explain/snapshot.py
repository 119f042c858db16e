"""Snapshot: the contents of a tape at one moment, frozen, and the graph of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.events import Event
from tapemagic.engine.recording import Absent, Record, is_id, outputs_of
from tapemagic.engine.registry import NUMBERED, no_derivative
from tapemagic.engine.tape.base_tape import Contents, contents_of
from tapemagic.engine.tape.observer import Observer, Origins
from tapemagic.engine.tape.tape import Tape, tape_of

Names = Mapping[int, str]
"""Names of values in a user program, by the ids of the values."""

Named = tuple[str, Any]
"""The name of a value in a user program, and the value."""

REAL = float, complex, np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.complex128)
"""The types of parameters that may have been computed from a converted value."""

MAX_PER_VALUE_SEARCHES = 8
"""Maximum number of values for searching the ancestors of each. For more, the descendants of one source are found."""


class Link(NamedTuple):
    """An input of an operation.

    - `number`: The id or stamp of the input.
    - `key`: The identity of the input's array.
    - `result_id`: The id of the operation's result.
    - `blocked`: True if the operation has no derivative in this input.
    - `watched_late`: True if the input was watched only after the operation.
    """

    operation: str
    number: int
    key: int
    result_id: int
    blocked: bool
    watched_late: bool


@dataclass(frozen=True, eq=False)
class Ancestry:
    """The operations with a derivative that a value was computed by.

    - `values`: The ids of the value, and of all values that it was computed from.
    - `leaves`: The ids of watched values.
    - `parametrized`: The ids of the results of operations with real numbers as parameters, such as ``initial=``.
    """

    values: Mapping[int, None]
    inputs: list[Link]
    leaves: AbstractSet[int]
    parametrized: AbstractSet[int]

    @cached_property
    def numbers(self) -> set[int]:
        """The ids and stamps of the inputs."""
        return {link.number for link in self.inputs}

    @cached_property
    def late(self) -> set[int]:
        """The ids of the inputs that were watched only after an operation had read the value."""
        return {link.number for link in self.inputs if link.watched_late}

    @cached_property
    def constants(self) -> set[int]:
        """The identities of the arrays of untracked inputs."""
        return {link.key for link in self.inputs if not is_id(link.number)}

    @cached_property
    def last_entry(self) -> int:
        """The last time at which an operation used a watched or untracked value."""
        watched = [i for i in self.values if i in self.leaves]
        untracked = (link.result_id for link in self.inputs if not is_id(link.number))
        parametrized = self.values.keys() & self.parametrized
        return max([*watched, *untracked, *parametrized], default=0)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The contents of a tape at one moment.

    - `contents`: The records, the tracked and watched values, and events.
    - `origins`: The lines and orders of differentiation of the records, if an observer kept them.
    """

    contents: Contents
    origins: Origins

    @property
    def records(self) -> tuple[Record, ...]:
        """The operations, oldest first, as plain tuples in the order of `Record`."""
        return self.contents.records

    @property
    def tracked(self) -> Mapping[int, int]:
        """The ids of tracked values, each with the time at which it was tracked first."""
        return self.contents.tracked

    @property
    def leaves(self) -> frozenset[int]:
        """The ids of watched values."""
        return self.contents.leaves  # type: ignore[return-value]

    @property
    def events(self) -> tuple[Event, ...]:
        """Conversions to plain values, assignments, pauses and resets, oldest first."""
        return self.contents.events

    @property
    def times(self) -> tuple[int, ...]:
        """The times at which recording began and ended, alternating."""
        return self.contents.times

    @property
    def has_values(self) -> bool:
        """True if the records contain values, so that gradients can be computed."""
        return self.contents.state == "whole"

    @property
    def is_consumed(self) -> bool:
        """True if only the watched values are known, because a gradient deleted the records."""
        return self.contents.state == "released"

    def tracks(self, number: int) -> bool:
        """Return True if the tape tracks the value with an id."""
        return number in self.contents.tracked

    def order_of(self, number: int) -> int:
        """Return the order of the derivative that computed the value with an id, 0 for a value of user code."""
        return self.origins.order_of.get(number, 0)

    def tape(self, careful: bool = True) -> Tape:
        """Return a persistent tape with these contents, independent of the recording tape.

        Without `careful`, its gradients are nan at unused entries whose slope isn't finite, as in other libraries.
        """
        return tape_of(self.contents, careful)

    def with_records(
        self, records: Iterable[Any], tracked: Mapping[int, int], leaves: Iterable[int]
    ) -> Snapshot:
        """Return a copy with other records, tracked values and watched values."""
        changed = self.contents._replace(
            records=tuple(records), tracked=tracked, leaves=frozenset(leaves)
        )
        return replace(self, contents=changed)

    @cached_property
    def links(self) -> dict[int, list[Link]]:
        """The inputs that each result was computed from, by the id of the result."""
        by_result: dict[int, list[Link]] = {}
        tracked, has_values = self.contents.tracked, self.has_values
        for number, values, ids, _, _, output_id in self.contents.records:
            result_ids = output_id if isinstance(output_id, tuple) else (output_id,)
            operation = NUMBERED[number]
            rules = operation.rules or (operation.joint_rule,) * len(ids)
            # Without values, a record has the identities of the arrays in place of the arrays.
            inputs = [
                Link(
                    operation.name,
                    i,
                    id(value) if has_values else value,
                    result_ids[0],
                    rule is None or rule is no_derivative,
                    tracked.get(i, 0) > result_ids[0],
                )
                for i, value, rule in zip(ids, values, rules, strict=False)
            ]
            by_result.update((out, inputs) for out in result_ids)
        return by_result

    @cached_property
    def _parametrized(self) -> set[int]:
        """The ids of the results of operations with real numbers as parameters."""
        return {
            out
            for record in self.contents.records
            if record[3] and any(getattr(x, "dtype", type(x)) in REAL for x in record[3].values())
            for out in outputs_of(record)
        }

    @cached_property
    def results(self) -> dict[int, Any]:
        """The results that operations kept, by id."""
        records = self.contents.records if self.has_values else ()
        kept = (
            (out, x) for r in records for out, x in zip(outputs_of(r), _tuple(r[4]), strict=True)
        )
        return {i: x for i, x in kept if not isinstance(x, Absent)}

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """The results that were computed from each value, by the id of the value."""
        by_input: dict[int, list[int]] = {}
        for _, _, ids, _, _, output_id in self.contents.records:
            result_ids = output_id if isinstance(output_id, tuple) else (output_id,)
            for i in ids:
                if is_id(i):  # other numbers mark untracked inputs
                    by_input.setdefault(i, []).extend(result_ids)
        return by_input

    @cached_property
    def _ancestors(self) -> dict[tuple[int, bool], dict[int, None]]:
        return {}

    def ancestors(self, number: int, blocked: bool) -> Mapping[int, None]:
        """Return the values that a value was computed from, itself first.

        With `blocked`, operations without a derivative are followed too.
        """
        values = self._ancestors.get((number, blocked))
        if values is None:
            values = self._ancestors[number, blocked] = self._find_ancestors(number, blocked)
        return values

    def _find_ancestors(self, number: int, blocked: bool) -> dict[int, None]:

        def inputs(i: int) -> Iterator[int]:
            for link in self.links.get(i, ()):
                if blocked or not (link.blocked or link.watched_late):
                    yield link.number

        return _closure([number], inputs)

    def descendants(self, number: int) -> dict[int, None]:
        """Return the values that were computed from a value by any operations, itself first."""
        return _closure([number], lambda i: self.readers.get(i, ()))

    def computed_from(self, source: int, numbers: Iterable[int]) -> set[int]:
        """Select the values that were computed from a source by any operations.

        The ancestors of a few values are found once, and used for all questions about them.
        """
        candidates = set(numbers)
        if len(candidates) > MAX_PER_VALUE_SEARCHES:
            return candidates & self.descendants(source).keys()
        return {number for number in candidates if source in self.ancestors(number, blocked=True)}

    @cached_property
    def _ancestries(self) -> dict[int, Ancestry]:
        return {}

    def ancestry(self, number: int) -> Ancestry:
        """Return the inputs of all operations that a value was computed by."""
        if number not in self._ancestries:
            above = self.ancestors(number, blocked=False)
            inputs = [link for i in above for link in self.links.get(i, ())]
            self._ancestries[number] = Ancestry(above, inputs, self.leaves, self._parametrized)
        return self._ancestries[number]

    def events_of(self, *kinds: str) -> list[Event]:
        """Return the events of the given kinds, oldest first."""
        return [event for event in self.events if event.kind in kinds]

    def recording_at(self, time: int) -> bool:
        """Return True if the tape was recording at a time."""
        # Begins have even positions in `times`, ends odd ones.
        began = sum(1 for k, t in enumerate(self.times) if t <= time and k % 2 == 0)
        ended = sum(1 for k, t in enumerate(self.times) if t <= time and k % 2 == 1)
        return began > ended

    def paused_at(self, time: int) -> Event | None:
        """Return the pause of the recording that contains a time, or None while the tape recorded."""
        # Of a pause, `number` is the time at which it began, `what` the time at which it ended.
        pauses = self.events_of("paused")
        return next((pause for pause in pauses if pause.number <= time < pause.what), None)


def _tuple(output: Any) -> tuple[Any, ...]:
    return output if output.__class__ is tuple else (output,)


def _closure(start: Iterable[int], following: Callable[[int], Iterable[int]]) -> dict[int, None]:
    reached = dict.fromkeys(start)
    stack = list(reached)
    while stack:
        for i in following(stack.pop()):
            if i not in reached:
                reached[i] = None
                stack.append(i)
    return reached


def snapshot_of(tape: Tape) -> Snapshot:
    """Take a snapshot of a tape. A consumed tape has only what explains a missing gradient."""
    origins = tape.origins() if isinstance(tape, Observer) else Origins()
    return Snapshot(contents_of(tape), origins)
