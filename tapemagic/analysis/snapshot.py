"""What is left of a recording from which a None can be explained: who was computed from whom, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tapemagic.engine.events import Event
from tapemagic.engine.registry import NUMBERED, no_derivative
from tapemagic.engine.tape.tape import GradientTape

Names = Mapping[int, str]


class Link(NamedTuple):
    """An input of an operation.

    Attributes
    ----------
    operation : str
    number : int
        The number or stamp of the input.
    key : int
        The identity of the array, where the tape did not track it.
    made : int
        When the result was computed.
    blocked : bool
        Whether the operation has no derivative in it.
    late : bool
        Whether the tape began to track it only afterwards.
    """

    operation: str
    number: int
    key: int
    made: int
    blocked: bool
    late: bool


@dataclass(frozen=True)
class Evidence:
    """A recording without its values.

    Attributes
    ----------
    links : dict of int to list of Link
        For every result, what it was computed from.
    tracked : mapping of int to int
        What the tape tracked, and since when.
    leaves : set of int
        What it watched.
    events : sequence of Event
    times : sequence of int
        When the tape began and stopped recording, in turns.
    """

    links: Mapping[int, list[Link]]
    tracked: Mapping[int, int]
    leaves: frozenset[int]
    events: tuple[Event, ...] = ()
    times: tuple[int, ...] = ()
    reader: Mapping[int, list[int]] = field(default_factory=dict)

    def above(self, number: int, blocked: bool) -> dict[int, None]:
        """The values from which one was computed, itself first; through what has no derivative, too, if `blocked`."""

        def inputs(i: int) -> Iterator[int]:
            for link in self.links.get(i, ()):
                if blocked or not (link.blocked or link.late):
                    yield link.number

        return _closure([number], inputs)

    def below(self, number: int) -> dict[int, None]:
        """The values that were computed from one, itself first, by whatever operations."""
        return _closure([number], lambda i: self.reader.get(i, ()))

    def heard(self, *kinds: str) -> list[Event]:
        """The events of some kinds, oldest first."""
        return [event for event in self.events if event.kind in kinds]

    def recording_at(self, time: int) -> bool:
        """Whether the tape was recording at a time."""
        began = sum(1 for k, t in enumerate(self.times) if t <= time and k % 2 == 0)
        ended = sum(1 for k, t in enumerate(self.times) if t <= time and k % 2 == 1)
        return began > ended

    def paused_at(self, time: int) -> Event | None:
        """The pause into which a time falls."""
        pauses = self.heard("paused")
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


def evidence_of(tape: GradientTape) -> Evidence:
    """What a tape knows, or knew when its last gradient released its records; of the links, if that was None."""
    if tape._consumed and tape._last_evidence is None:
        watched = tape._last_leaves
        return Evidence(
            {},
            dict.fromkeys(watched, 0),
            frozenset(watched),
            tuple(tape._events),
            tuple(tape._times),
        )
    records, tracked, leaves = tape._evidence()
    links: dict[int, list[Link]] = {}
    reader: dict[int, list[int]] = {}
    for number, keys, ids, _, _, output_id in records:
        outputs = output_id if type(output_id) is tuple else (output_id,)
        operation = NUMBERED[number]
        rules = operation.rules or (operation.joint_rule,) * len(ids)
        inputs = [
            Link(
                operation.name,
                i,
                key,
                outputs[0],
                rule is None or rule is no_derivative,
                tracked.get(i, 0) > outputs[0],
            )
            for i, key, rule in zip(ids, keys, rules, strict=False)
        ]
        for out in outputs:
            links[out] = inputs
        for i in ids:
            if i > 0:
                reader.setdefault(i, []).extend(outputs)
    return Evidence(
        links, tracked, frozenset(leaves), tuple(tape._events), tuple(tape._times), reader
    )
