"""Details of a recording, which are computed when a reader asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapemagic.engine.recording import Absent
from tapemagic.engine.tape.memory import bytes_held
from tapemagic.engine.tensor.tensor import Tensor, has_id, id_of, unwrap
from tapemagic.explain.formatting import clipped
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.nonfinite import NonFinite
from tapemagic.report.adjoints import full_adjoints
from tapemagic.report.entries import Entries, entries_of
from tapemagic.report.subject import Subject
from tapemagic.report.summary import shared_summaries
from tapemagic.report.tabs.gradients.derivatives import Derivative
from tapemagic.report.tabs.gradients.gradient_rows import gradient_rows
from tapemagic.report.tabs.graph.drawn_graph import Drawer
from tapemagic.report.tabs.graph.graph_view import GraphView, Keyed, KeyMaker, keyed_values, view_of
from tapemagic.report.tabs.trace.trace import goal_of
from tapemagic.report.tabs.trace.trace_steps import steps_of

if TYPE_CHECKING:
    from tapemagic.report.tabs.code.find import Code

MOST_KEPT = 64 << 20
"""The most bytes of a recording that a report keeps to answer questions."""
SECONDS = 5.0
"""The seconds after which no further gradient is compared with difference quotients."""
RECORD = 1000
"""The bytes of a record and what is known of it, beside the arrays."""


@dataclass(frozen=True)
class ValueDetails:
    """A value in full.

    Attributes
    ----------
    name : str
        Its name or symbol; empty for a constant without one.
    value : Entries or None
        None if the recording did not keep it.
    gradient : Entries or None
        None if there is none.
    goal : str
        What the gradient is one of; empty if nothing was differentiated.
    is_tracked : bool
        Whether it was on the tape: constants are not.
    """

    name: str
    value: Entries | None
    gradient: Entries | None
    goal: str
    is_tracked: bool


class NotKeptError(Exception):
    """The recording was not kept, so that nothing can be asked of it any more."""


class Details:
    """The answers of a recording to what is asked after its report was made.

    It keeps the recording until `close`, or `keep_if_small` where the recording holds more than `MOST_KEPT` bytes.

    Parameters
    ----------
    subject : Subject
    nonfinite : tuple of NonFinite
        The places that graphs mark.
    max_nodes : int
        The number of nodes for which a graph has room.
    iteration : int, optional
        The number of the iteration that the graph shows at first of outermost loops.

    Attributes
    ----------
    first : GraphView
        The layout that is shown at first.
    """

    def __init__(
        self,
        subject: Subject,
        nonfinite: tuple[NonFinite, ...],
        max_nodes: int,
        iteration: int | None = None,
    ) -> None:
        self._nonfinite = nonfinite
        self._drawer: Drawer | None = Drawer(subject, max_nodes, iteration)
        self._keys: KeyMaker | None = KeyMaker(subject)
        self._keyed: dict[str, Keyed] = {}
        self._why_gone = ""
        self._source: Any = None
        self.first = self.view()

    def keep_if_small(self) -> None:
        """Let go of a recording that is too large to be kept."""
        drawer, _ = self._kept()
        size = _weight(drawer.subject)
        if size > MOST_KEPT:
            self.close(
                f"The recording of this cell holds {_megabytes(size)}, too much to be kept for questions: reports "
                f"keep up to {_megabytes(MOST_KEPT)}. To see more of the graph of the last %%tape cell, write "
                "%tape_graph, or %tape_graph --iteration 5 for iteration 5 of its loops; to see a value, print it."
            )

    def close(self, why: str) -> None:
        """Let go of the recording, for a reason in words that later questions are answered with."""
        if self._drawer is None:
            return
        self._drawer = self._keys = None
        self._keyed = {}
        self._source = None
        self._why_gone = why

    @property
    def drawn(self) -> int:
        """The number of the cell's operations that graphs show, those in folds included."""
        drawer, _ = self._kept()
        operations = drawer.subject.operations
        return sum(position < operations for position in drawer.draw().positions)

    @property
    def is_kept(self) -> bool:
        """Whether the recording is there."""
        return self._drawer is not None

    @property
    def why_gone(self) -> str:
        """The reason why the recording is not there; empty if it is."""
        return self._why_gone

    def code(self, opened: Mapping[str, int] = MappingProxyType({})) -> Code:
        """The derivatives as a program, with the steps through a layout to which its lines belong.

        Raises
        ------
        ValueError
            If something in `opened` is no key, or no whole number.
        NotKeptError
        """
        from tapemagic.report.tabs.code.find import (  # it loads tapemagic.programs
            source_of,
            with_steps,
        )

        drawer, _ = self._kept()
        if self._source is None:
            self._source = source_of(drawer.subject)
        steps = steps_of(drawer.subject, drawer.draw(opened)) if opened else self.first.steps
        return with_steps(self._source, steps.steps)

    def _kept(self) -> tuple[Drawer, KeyMaker]:
        if self._drawer is None or self._keys is None:
            raise NotKeptError(self._why_gone)
        return self._drawer, self._keys

    def view(self, opened: Mapping[str, int] = MappingProxyType({})) -> GraphView:
        """The layout in which some parts are open or closed otherwise than at first, by their keys.

        Raises
        ------
        ValueError
            If something in `opened` is no key, or no whole number.
        NotKeptError
        """
        drawer, keys = self._kept()
        with shared_summaries(), np.errstate(all="ignore"):
            drawn = drawer.draw(opened)
            keyed = keyed_values(drawer.subject, drawn, keys)
            self._keyed.update((value.key, value) for value in keyed if value.key)
            return view_of(drawer.subject, drawn, self._nonfinite, keyed, opened)

    def value(self, key: str) -> ValueDetails:
        """A value in full, by its key in a layout that was made.

        Raises
        ------
        KeyError
            If there is no such key.
        NotKeptError
        """
        return self.values([key])[key]

    def values(self, keys: Iterable[str]) -> dict[str, ValueDetails]:
        """Values in full, by their keys in layouts that were made; all gradients are computed at once.

        Raises
        ------
        KeyError
            If there is no such key.
        NotKeptError
        """
        drawer, maker = self._kept()
        subject = drawer.subject
        found = []
        for key in keys:
            if key not in self._keyed:
                raise KeyError(f"there is no value {clipped(key, 40)!r} in this recording")
            found.append(self._keyed[key])
        with np.errstate(all="ignore"):
            numbers = {one.number for one in found if one.number is not None}
            arrays = _arrays(subject, numbers, maker)
            gradients = _gradients(subject, numbers)
            return {
                one.key: ValueDetails(
                    one.name,
                    _entries(one.value if one.number is None else arrays.get(one.number)),
                    None if one.number is None else gradients.get(one.number),
                    goal_of(subject, subject.levels.get(one.number or 0, 0)),
                    one.number is not None,
                )
                for one in found
            }

    def check(self) -> tuple[Derivative, ...]:
        """The rows of the table of gradients, with those of first order compared with difference quotients.

        Raises
        ------
        NotKeptError
        """
        drawer, _ = self._kept()
        with shared_summaries(), np.errstate(all="ignore"):
            return tuple(gradient_rows(drawer.subject, True, SECONDS).values())


def _weight(subject: Subject) -> int:
    """The bytes that a recording holds; about, and no more than it needs to know that they are too many."""
    records = subject.whole.records
    size = RECORD * len(records)
    if size > MOST_KEPT:
        return size
    named = [unwrap(x) if isinstance(x, Tensor) else x for _, x in subject.context.named]
    arrays = {id(x): x.nbytes for x in named if isinstance(x, np.ndarray) and has_numbers(x)}
    return size + bytes_held(records) + sum(arrays.values())


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MB"


def _entries(array: Any) -> Entries | None:
    return None if array is None or isinstance(array, Absent) else entries_of(array)


def _arrays(subject: Subject, numbers: set[int], keys: KeyMaker) -> dict[int, Any]:
    """The arrays of values on the tape that were kept, by id: in a record, or under a name."""
    found: dict[int, Any] = {}
    for i in numbers:
        if place := keys.place(i):
            position, slot = place
            found[i] = subject.records[position].outputs[slot]
    left = {i for i in numbers if isinstance(found.get(i), Absent | None)}
    if left:
        both = [*subject.context.named, *subject.sources, *subject.targets]
        for _, x in both:
            if isinstance(x, Tensor) and has_id(x) and id_of(x) in left:
                found[id_of(x)] = unwrap(x)
    left = {i for i in left if isinstance(found.get(i), Absent | None)}
    for record in subject.snapshot.records if left else ():
        for value, i in zip(record[1], record[2], strict=True):
            if i in left and not isinstance(value, Absent):
                found[i] = value
                left.discard(i)
    return found


def _gradients(subject: Subject, numbers: set[int]) -> dict[int, Entries]:
    """The gradients with respect to values on the tape in full, by id."""
    known = subject.adjoints
    found = {i: entries_of(known[i]) for i in numbers if isinstance(known.get(i), np.ndarray)}
    found |= {i: entries_of(known[i]) for i in numbers if isinstance(known.get(i), np.generic)}
    left = {i for i in numbers if i in known} - found.keys()
    if left:
        targets = [x for _, x in subject.targets]
        found |= full_adjoints(
            subject.snapshot, targets, subject.found, subject.order, entries_of, left
        )
    return found
