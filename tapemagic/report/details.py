"""Details of a recording, computed on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapemagic.engine.recording import SMALL, Absent
from tapemagic.engine.tape.memory import bytes_held
from tapemagic.engine.tensor.tensor import Tensor, has_id, id_of, unwrap
from tapemagic.explain.formatting import clipped
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.report.adjoints import Adjoints, full_adjoints
from tapemagic.report.entries import Entries, entries_of
from tapemagic.report.subject import Subject
from tapemagic.report.summary import PLAIN, shared_summaries
from tapemagic.report.tabs.gradients.find_gradients import GradientFindings, checked
from tapemagic.report.tabs.graph.find_graph import (
    GraphView,
    Keyed,
    Layout,
    drawer_of,
    first_layout,
    layout_of,
)
from tapemagic.report.tabs.trace.find_trace import goal_of
from tapemagic.report.tabs.trace.steps import steps_of

if TYPE_CHECKING:
    from tapemagic.report.tabs.code.find_code import Code

MAX_KEPT = 64 << 20
"""The most bytes of a recording that a report keeps to answer questions."""
RECORD = 1000
"""The bytes of a record and its metadata, without the arrays."""


@dataclass(frozen=True)
class ValueDetails:
    """A value in full.

    - `name`: Its name or symbol, or '' for a constant without one.
    - `value`: None if the recording did not keep it.
    - `gradient`: None without a gradient.
    - `goal`: What the gradient is one of, or '' if nothing was differentiated.
    - `is_tracked`: Whether it was on the tape: constants are not.
    """

    name: str
    value: Entries | None
    gradient: Entries | None
    goal: str
    is_tracked: bool


class NotKeptError(Exception):
    """Raised if the recording wasn't kept, so that questions about it have no answer."""


class Details:
    """Answers questions about a recording after its report was made.

    It keeps the recording until `close`, or `keep_if_small` where the recording holds more than `MAX_KEPT` bytes.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject: Subject | None = subject
        self._keyed: dict[str, Keyed] = {}
        self._why_gone = ""
        self._remember(subject.shared(first_layout))

    def keep_if_small(self) -> None:
        """Let go of a recording that is too large to be kept."""
        size = _weight(self._kept())
        if size > MAX_KEPT:
            self.close(
                f"This recording is too large to explore ({_megabytes(size)}, limit {_megabytes(MAX_KEPT)}). Use "
                "%tape_graph to see more of the graph, or %tape_graph --iteration 5 for iteration 5 of its loops. To "
                "see a value, print it."
            )

    def close(self, why: str) -> None:
        """Let go of the recording; later questions are answered with the reason."""
        # The first reason stays: closing a report does not explain why its recording was too large.
        if self._subject is None:
            return
        # What is shared refers back to the recording, which would stay until Python looks for such cycles.
        self._subject.forget()
        self._subject = None
        self._keyed = {}
        self._why_gone = why

    @property
    def is_kept(self) -> bool:
        """Return True if the recording is kept."""
        return self._subject is not None

    @property
    def operations(self) -> int:
        """The number of operations in the recording, those of the report's derivatives included."""
        return len(self._kept().whole.records)

    @property
    def why_gone(self) -> str:
        """The reason why the recording is gone, or '' if it is kept."""
        return self._why_gone

    def code(self, opened: Mapping[str, int] = MappingProxyType({})) -> Code:
        """The derivatives as a program, with the steps through a layout to which its lines belong.

        Raises
        ------
        ValueError
            If something in `opened` isn't a key, or isn't an integer.
        NotKeptError
        """
        from tapemagic.report.tabs.code.find_code import find  # it loads tapemagic.programs

        subject = self._kept()
        drawn = subject.shared(drawer_of).draw(opened)
        return find(subject, steps_of(subject, drawn)) if opened else subject.shared(find)

    def _kept(self) -> Subject:
        if self._subject is None:
            raise NotKeptError(self._why_gone)
        return self._subject

    def _remember(self, layout: Layout) -> GraphView:
        """Remember the values of a layout by their keys, for later questions."""
        self._keyed.update((value.key, value) for value in layout.keyed if value.key)
        return layout.view

    def view(self, opened: Mapping[str, int] = MappingProxyType({})) -> GraphView:
        """The layout in which some parts are opened or closed, by their keys.

        Raises
        ------
        ValueError
            If something in `opened` isn't a key, or isn't an integer.
        NotKeptError
        """
        subject = self._kept()
        with shared_summaries(), np.errstate(all="ignore"):
            return self._remember(layout_of(subject, opened))

    def value(self, key: str) -> ValueDetails:
        """A value in full, by its key in a layout that was made.

        Raises
        ------
        KeyError
            If there is no such key.
        NotKeptError
        """
        return self.values([key])[key]

    def values(self, keys: Iterable[str], at_hand: bool = False) -> dict[str, ValueDetails]:
        """Values in full, by their keys in layouts that were made; all gradients are computed at once.

        With `at_hand`, only small values whose gradients are small, too: they take no other sweep.

        Raises
        ------
        KeyError
            If there is no such key.
        NotKeptError
        """
        subject = self._kept()
        requested = []
        for key in keys:
            # Keys come from a browser, so any string may arrive.
            if key not in self._keyed:
                raise KeyError(f"there is no value {clipped(key, 40)!r} in this recording")
            requested.append(self._keyed[key])
        with np.errstate(all="ignore"):
            numbers = {value.number for value in requested if value.number is not None}
            arrays = _arrays(subject, numbers)
            if at_hand:
                requested = [x for x in requested if _is_at_hand(x, arrays, subject.adjoints)]
                numbers = {value.number for value in requested if value.number is not None}
            gradients = _gradients(subject, numbers)
            return {
                value.key: ValueDetails(
                    value.name,
                    _entries(value.value if value.number is None else arrays.get(value.number)),
                    None if value.number is None else gradients.get(value.number),
                    goal_of(subject, subject.levels.get(value.number or 0, 0)),
                    value.number is not None,
                )
                for value in requested
            }

    def check(self, may_run: bool = True) -> GradientFindings:
        """The contents of the tab Gradients, with its derivatives checked by finite differences.

        - `may_run`: Whether the cell may run again for that.

        Raises
        ------
        NotKeptError
        """
        subject = self._kept()
        with shared_summaries(), np.errstate(all="ignore"):
            return checked(subject, may_run)


def _weight(subject: Subject) -> int:
    """Estimate the bytes that a recording holds, exactly enough to compare them with `MAX_KEPT`."""
    records = subject.whole.records
    size = RECORD * len(records)
    # The records may be too many without their arrays; counting the bytes of their arrays would take long.
    if size > MAX_KEPT:
        return size
    named = [unwrap(x) if isinstance(x, Tensor) else x for _, x in subject.context.named]
    arrays = {id(x): x.nbytes for x in named if isinstance(x, np.ndarray) and has_numbers(x)}
    return size + bytes_held(records) + sum(arrays.values())


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MB"


def _entries(array: Any) -> Entries | None:
    return None if array is None or isinstance(array, Absent) else entries_of(array)


def _is_at_hand(value: Keyed, arrays: Mapping[int, Any], adjoints: Adjoints) -> bool:
    """Return True if a value and its gradient are small, and both are known already."""
    array = value.value if value.number is None else arrays.get(value.number)
    gradient = None if value.number is None else adjoints.get(value.number)
    # None: it has no gradient; Absent: it was not kept, which is what there is to say of it.
    return all(
        isinstance(x, Absent | None) or (isinstance(x, PLAIN) and getattr(x, "nbytes", 0) <= SMALL)
        for x in (array, gradient)
    )


def _arrays(subject: Subject, numbers: set[int]) -> dict[int, Any]:
    """The arrays of values on the tape that were kept, by id: in a record, or under a name."""
    arrays: dict[int, Any] = {}
    for i in numbers:
        if place := subject.place(i):
            position, slot = place
            arrays[i] = subject.records[position].outputs[slot]
    # A record keeps only what its rules read. Other results may still be alive under a name, or as an input elsewhere.
    left = {i for i in numbers if isinstance(arrays.get(i), Absent | None)}
    if left:
        both = [*subject.context.named, *subject.sources, *subject.targets]
        for _, x in both:
            if isinstance(x, Tensor) and has_id(x) and id_of(x) in left:
                arrays[id_of(x)] = unwrap(x)
    left = {i for i in left if isinstance(arrays.get(i), Absent | None)}
    for record in subject.snapshot.records if left else ():
        for value, i in zip(record[1], record[2], strict=True):
            if i in left and not isinstance(value, Absent):
                arrays[i] = value
                left.discard(i)
    return arrays


def _gradients(subject: Subject, numbers: set[int]) -> dict[int, Entries]:
    """The gradients with respect to values on the tape in full, by id."""
    adjoints = subject.adjoints
    # Small gradients are kept as arrays; those kept as summaries take another sweep, once for all keys.
    gradients = {
        i: entries_of(adjoints[i]) for i in numbers if isinstance(adjoints.get(i), np.ndarray)
    }
    gradients |= {
        i: entries_of(adjoints[i]) for i in numbers if isinstance(adjoints.get(i), np.generic)
    }
    left = {i for i in numbers if i in adjoints} - gradients.keys()
    if left:
        targets = [x for _, x in subject.targets]
        gradients |= full_adjoints(
            subject.snapshot, targets, subject.derivatives, subject.order, entries_of, left
        )
    return gradients
