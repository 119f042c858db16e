"""Snapshot: the contents of a tape at one moment, frozen, and questions about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from tapemagic.engine.events import Event
from tapemagic.engine.recording import Record, is_id
from tapemagic.engine.registry import NUMBERED, no_derivative
from tapemagic.engine.tape.observer import Observer, Origins
from tapemagic.engine.tape.recorder import Contents, contents_of
from tapemagic.engine.tape.tape import Tape, tape_of

Names = Mapping[int, str]
"""Names of values in the user's program, by their ids."""

Named = tuple[str, Any]
"""A value and its name in the user's program."""

MAX_PER_VALUE_SEARCHES = 8
"""The number of values up to which the sources of each are found, rather than the results of one source."""


class Link(NamedTuple):
    """An input of an operation.

    Attributes
    ----------
    operation : str
    number : int
        The id or stamp of the input.
    key : int
        The identity of the input's array.
    result_id : int
        The id of the operation's result.
    blocked : bool
        Whether the operation has no derivative in this input.
    watched_late : bool
        Whether the input was watched only after the operation.
    """

    operation: str
    number: int
    key: int
    result_id: int
    blocked: bool
    watched_late: bool


@dataclass(frozen=True, eq=False)
class Ancestry:
    """The operations from which a value was computed, all with a derivative.

    Attributes
    ----------
    values : mapping of int to None
        The ids of the value, and of all values from which it was computed.
    inputs : list of Link
    leaves : set of int
        The ids of watched values.
    """

    values: Mapping[int, None]
    inputs: list[Link]
    leaves: AbstractSet[int]

    @cached_property
    def numbers(self) -> set[int]:
        """The ids and stamps of the inputs."""
        return {link.number for link in self.inputs}

    @cached_property
    def late(self) -> set[int]:
        """The ids of the inputs that were watched only after an operation had read them."""
        return {link.number for link in self.inputs if link.watched_late}

    @cached_property
    def constants(self) -> set[int]:
        """The identities of the arrays of untracked inputs."""
        return {link.key for link in self.inputs if not is_id(link.number)}

    @cached_property
    def last_entry(self) -> int:
        """The last time at which a watched or untracked value went into it."""
        watched = [i for i in self.values if i in self.leaves]
        untracked = (link.result_id for link in self.inputs if not is_id(link.number))
        return max([*watched, *untracked], default=0)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The contents of a tape at one moment.

    Attributes
    ----------
    contents : Contents
        The records, what is tracked and watched, and events.
    origins : Origins
        The lines and orders of differentiation of the records, where an observer kept them.
    """

    contents: Contents
    origins: Origins

    @property
    def records(self) -> tuple[Record, ...]:
        """The operations, oldest first; plain tuples in the order of `Record`."""
        return self.contents.records

    @property
    def tracked(self) -> Mapping[int, int]:
        """The ids of tracked values, each with the time since when."""
        return self.contents.tracked

    @property
    def leaves(self) -> frozenset[int]:
        """The ids of watched values."""
        return self.contents.leaves  # type: ignore[return-value]

    @property
    def events(self) -> tuple[Event, ...]:
        """Exits from the tape, assignments, pauses and resets, oldest first."""
        return self.contents.events

    @property
    def times(self) -> tuple[int, ...]:
        """The times at which recording began and ended, in turns."""
        return self.contents.times

    @property
    def has_values(self) -> bool:
        """Whether the records hold values, from which gradients can be taken."""
        return self.contents.state == "whole"

    @property
    def is_consumed(self) -> bool:
        """Whether nothing but what was watched is known, since a gradient released the rest."""
        return self.contents.state == "released"

    def tracks(self, number: int) -> bool:
        """Whether a value was on the tape, by its id."""
        return number in self.contents.tracked

    def order_of(self, number: int) -> int:
        """The order of the derivative to which a value belongs, by its id; 0 if the user computed it."""
        return self.origins.order_of.get(number, 0)

    def tape(self) -> Tape:
        """A persistent tape with these contents; it shares nothing with the one that recorded them."""
        return tape_of(self.contents)

    def with_records(
        self, records: Iterable[Any], tracked: Mapping[int, int], leaves: Iterable[int]
    ) -> Snapshot:
        """The same with other records, tracked and watched values."""
        changed = self.contents._replace(
            records=tuple(records), tracked=tracked, leaves=frozenset(leaves)
        )
        return replace(self, contents=changed)

    @cached_property
    def links(self) -> dict[int, list[Link]]:
        """The inputs from which each result was computed, by its id."""
        found: dict[int, list[Link]] = {}
        tracked, whole = self.contents.tracked, self.has_values
        for number, values, ids, _, _, output_id in self.contents.records:
            made = output_id if output_id.__class__ is tuple else (output_id,)
            operation = NUMBERED[number]
            rules = operation.rules or (operation.joint_rule,) * len(ids)
            inputs = [
                Link(
                    operation.name,
                    i,
                    id(value) if whole else value,
                    made[0],
                    rule is None or rule is no_derivative,
                    tracked.get(i, 0) > made[0],
                )
                for i, value, rule in zip(ids, values, rules, strict=False)
            ]
            found.update((out, inputs) for out in made)
        return found

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """The results that were computed from each value, by its id."""
        found: dict[int, list[int]] = {}
        for _, _, ids, _, _, output_id in self.contents.records:
            made = output_id if output_id.__class__ is tuple else (output_id,)
            for i in ids:
                if is_id(i):
                    found.setdefault(i, []).extend(made)
        return found

    @cached_property
    def _ancestors(self) -> dict[tuple[int, bool], dict[int, None]]:
        return {}

    def ancestors(self, number: int, blocked: bool) -> Mapping[int, None]:
        """The values from which one was computed, itself first; through what has no derivative, too, if `blocked`."""
        found = self._ancestors.get((number, blocked))
        if found is None:
            found = self._ancestors[number, blocked] = self._find_ancestors(number, blocked)
        return found

    def _find_ancestors(self, number: int, blocked: bool) -> dict[int, None]:

        def inputs(i: int) -> Iterator[int]:
            for link in self.links.get(i, ()):
                if blocked or not (link.blocked or link.watched_late):
                    yield link.number

        return _closure([number], inputs)

    def descendants(self, number: int) -> dict[int, None]:
        """The values that were computed from one, itself first, by whatever operations."""
        return _closure([number], lambda i: self.readers.get(i, ()))

    def computed_from(self, source: int, numbers: Iterable[int]) -> set[int]:
        """Those of some values that were computed from a source, by whatever operations.

        The sources of a few values are found once, for all questions about them.
        """
        wanted = set(numbers)
        if len(wanted) > MAX_PER_VALUE_SEARCHES:
            return wanted & self.descendants(source).keys()
        return {number for number in wanted if source in self.ancestors(number, blocked=True)}

    @cached_property
    def _ancestries(self) -> dict[int, Ancestry]:
        return {}

    def ancestry(self, number: int) -> Ancestry:
        """The inputs of all operations from which a value was computed."""
        if number not in self._ancestries:
            above = self.ancestors(number, blocked=False)
            inputs = [link for i in above for link in self.links.get(i, ())]
            self._ancestries[number] = Ancestry(above, inputs, self.leaves)
        return self._ancestries[number]

    def events_of(self, *kinds: str) -> list[Event]:
        """The events of some kinds, oldest first."""
        return [event for event in self.events if event.kind in kinds]

    def recording_at(self, time: int) -> bool:
        """Whether the tape was recording at a time."""
        began = sum(1 for k, t in enumerate(self.times) if t <= time and k % 2 == 0)
        ended = sum(1 for k, t in enumerate(self.times) if t <= time and k % 2 == 1)
        return began > ended

    def paused_at(self, time: int) -> Event | None:
        """The pause into which a time falls."""
        pauses = self.events_of("paused")
        return next((pause for pause in pauses if pause.number <= time < pause.what), None)


def _closure(start: Iterable[int], following: Callable[[int], Iterable[int]]) -> dict[int, None]:
    found = dict.fromkeys(start)
    stack = list(found)
    while stack:
        for i in following(stack.pop()):
            if i not in found:
                found[i] = None
                stack.append(i)
    return found


def snapshot_of(tape: Tape) -> Snapshot:
    """The contents of a tape now, or what a released one kept to explain a None."""
    origins = tape.origins() if isinstance(tape, Observer) else Origins()
    return Snapshot(contents_of(tape), origins)
