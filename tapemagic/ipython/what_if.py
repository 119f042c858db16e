"""Run a %%tape cell again with other values, for the sliders of --what-if."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from hashlib import sha256
from types import CodeType
from typing import Any

import numpy as np
from IPython.core.error import UsageError
from IPython.utils.capture import capture_output

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.explain.advice import listed
from tapemagic.explain.formatting import clipped, format_number, printable
from tapemagic.explain.lazy_values import token
from tapemagic.ipython.failure import read_failure
from tapemagic.ipython.first_use import (
    assigns_before_use,
    chained_lines,
    first_use,
    overwriting_line,
)
from tapemagic.ipython.runcell import Cell
from tapemagic.ipython.session import Session
from tapemagic.ipython.sliders import Slider, SliderRequest
from tapemagic.ipython.starting_state import CellStart
from tapemagic.ipython.watchable import is_number
from tapemagic.report.bundle import TapeReport
from tapemagic.report.failure.find_failure import Failure, message_of
from tapemagic.report.live.content import Content, Control
from tapemagic.report.live.remarks import Remarks
from tapemagic.report.verdict.statement import Statement

PREFIX = "%%tape --what-if: "
MAX_MESSAGE = 300
"""Maximum length of an error message above a report."""

LAZY = (
    "there are no sliders, since the cell computes with Dask arrays, and every move would need their numbers: give the "
    "cell a sample in memory, such as X[:1000].compute()"
)
NOT_REPRODUCIBLE = (
    "more than the sliders changes this report: the cell ran again with the same numbers, and its result was another. "
    "It uses what no run sets back, such as an iterator, a file, the clock or random numbers without a seed"
)
CHANGED_ELSEWHERE = (
    "changed outside of this cell since its first run: {}. The runs of the sliders begin with what "
    "is there now"
)

Report = Callable[[Session, Any], TapeReport]
Begin = Callable[[], Session]


class WhatIf:
    """The sliders of a cell, and its runs with their values.

    - `requests`: The names with sliders and their ranges.
    - `begin`: Makes a session for a run of the cell; called after the notebook's values are set.
    - `report`: Makes the report on a session and the value of the cell's last expression.
    - `accept`: Called with the session of the run that is shown, which %gradient and %why refer to afterwards.

    - `refusal`: The error for a value that cannot have a slider, if only the first run revealed it.

    Raises UsageError if a value in the notebook cannot have a slider.
    """

    def __init__(
        self,
        cell: Cell,
        requests: Sequence[SliderRequest],
        begin: Begin,
        report: Report,
        accept: Callable[[Session], None],
    ) -> None:
        self._cell = cell
        self._requests = {item.name: item for item in requests}
        self._begin = begin
        self._report = report
        self._accept = accept
        namespace = cell.namespace
        self._at_start = [name for name in self._requests if self._is_set_before_cell(name)]
        # The code object and offset of the first assignment of each name: a line in a loop assigns it again and again,
        # and all of these assignments get the slider's value; other lines keep theirs.
        self._first_assignments: dict[str, tuple[CodeType, int]] = {}
        self._sliders = {
            name: Slider(self._requests[name], namespace[name]) for name in self._at_start
        }
        self._moved: dict[str, list[float]] = {}
        self.refusal: UsageError | None = None
        self._originals: dict[str, Any] = {}
        self._entries: dict[str, list[float]] = {}
        self._start = CellStart(namespace, {*cell.read, *cell.assigned, *self._requests})
        self._result: dict[str, Any] | None = None
        self._is_reproducible = True
        self._is_lazy = False

    def _is_set_before_cell(self, name: str) -> bool:
        """Return True if the value is set before the cell, not at the cell's own assignment of the name."""
        cell = self._cell
        if name in cell.looped:
            raise UsageError(
                f"%%tape --what-if: the loop assigns {name} in every iteration: give what the slider changes a name "
                "of its own in front of the loop"
            )
        has_value = name in cell.namespace
        return has_value and (
            name not in cell.assigned or first_use(cell.source, name) != "assigned"
        )

    def first_run(self, session: Session) -> Any:
        """Run the cell for the first time; return the value of its last expression.

        Raises UsageError if a value that the cell assigns cannot have a slider. The notebook is unchanged then.
        """
        __tracebackhide__ = True
        self._session = session
        try:
            value = self._cell.run(self.hook(session))
            if self.refusal is None:
                self._check_assigned()
        except BaseException:
            if self.refusal is None:
                raise
            self._start.undo()
            raise self.refusal from None
        if self.refusal is not None:
            self._start.undo()
            raise self.refusal
        self._start.ran()
        self._result = _result(session, value)
        self._is_lazy = session.computes_later()
        session.notes += [Statement("note", LAZY)] if self._is_lazy else self._notes()
        return value

    def _check_assigned(self) -> None:
        """Raise an error if the assignment of a name with a slider did not run."""
        for name in self._requests:
            if name not in self._at_start and name not in self._first_assignments:
                self.refusal = UsageError(
                    f"%%tape --what-if: the line that assigns {name} did not run: write {name} = 1.0 in front of the "
                    "lines that use it"
                )
                raise self.refusal

    def hook(self, session: Session, but: str = "") -> Callable[[str, Any, int], Any]:
        """Return the hook to call with every name and value that the cell assigns; the slider of `but` is skipped."""

        def named(name: str, value: Any, line: int) -> Any:
            if name in self._requests and name not in self._at_start and name != but:
                value = self._replace_value(name, value, line, session)
            return session.named(name, value, line)

        return named

    def _replace_value(self, name: str, value: Any, line: int, session: Session) -> Any:
        """Return the value to bind instead of an assigned one: the first assignment gets the slider's value."""
        place = self._cell.instruction()
        if name not in self._first_assignments and place is not None:
            self._first_assignments[name] = place
            if name not in self._sliders:
                self._sliders[name] = self._make_slider(name, value, line, session)
        if self._first_assignments.get(name) != place:
            return value
        if name in self._moved:
            return self._sliders[name].set_values(self._moved[name], value)
        self._originals.setdefault(name, copy(unwrap(value)))
        return value

    def _make_slider(self, name: str, value: Any, line: int, session: Session) -> Slider:
        """Make the slider of a name that the cell assigns.

        Raises UsageError if its value cannot have a slider; also stored as the refusal, because the cell may catch the
        error.
        """
        try:
            # In a = b = 1.0 the hook sees each name after both are bound, so replacing one would separate them.
            if line in chained_lines(self._cell.source, name):
                raise UsageError(
                    f"%%tape --what-if: one line gives several names the value of {name}, and a slider would change "
                    f"{name} alone: give {name} a line of its own, such as {name} = 1.0, and use {name} in the next"
                )
            if isinstance(value, Traced) and session.is_computed(value):
                raise UsageError(
                    f"%%tape --what-if: {name} is computed from what is watched, and a slider would cut it off: name "
                    "a value with which the cell begins"
                )
            return Slider(self._requests[name], value)
        except UsageError as error:
            self.refusal = self.refusal or error
            raise

    def _notes(self) -> list[Statement]:
        """Statements on sliders that cannot change anything, because the cell never reads the value."""
        notes = []
        if not self._is_reproducible:
            notes.append(Statement("note", NOT_REPRODUCIBLE))
        source, own = self._cell.source, {*self._requests, self._session.tape_name}
        names = [
            x for x in sorted(self._start.changed_since - own) if not assigns_before_use(source, x)
        ]
        if names:
            notes.append(Statement("note", CHANGED_ELSEWHERE.format(clipped(listed(names), 200))))
        for name in self._requests:
            line = None if name in self._at_start else overwriting_line(self._cell.source, name)
            if line is not None:
                text = f"the slider of {name} has no effect from line {line} on: that line gives {name} another value"
                notes.append(Statement("note", f"{text} before one reads the first", line))
            elif name not in self._cell.read and first_use(self._cell.source, name) is None:
                text = f"no line of this cell reads {name}: its slider changes nothing, unless a function reads it"
                notes.append(Statement("note", text))
        return notes

    def show_in(self, report: TapeReport) -> None:
        """Add the sliders to the first report, unless the cell computes with Dask arrays."""
        if self._is_lazy:
            return
        self._entries = {name: p.entries for name, p in self._sliders.items()}
        report.remarks = Remarks(controls=self._controls())
        report.on_move = self.move
        self._start.note_end()

    def _controls(self) -> list[Control]:
        """Describe the sliders in their current state, in the order of the line."""
        return [
            self._sliders[name].control(self._entries[name], name in self._moved)
            for name in self._requests
        ]

    def move(self, message: Any, report: TapeReport) -> Content | None:
        """Run the cell again with the values in a message, and show that run in its report.

        - `message`: ``{"what_if": {"a": 1.5, "w": [1.0, 2.0]}}``: all values that replace the program's. Other names
          keep the values of the program.
        - `report`: Modified in place. If the cell fails, report and notebook stay unchanged.

        Returns
        -------
        Content or None
            Everything that the report shows now, or None if the message is invalid.
        """
        moved = self._read(message)
        if moved is None:
            return None
        # Everything that can fail comes before the new report replaces the old one.
        earlier = self._moved, self._entries
        state = self._start.adopt()
        try:
            self._check_reproducible()
            self._moved = moved
            session = self._prepared()
            new = self._run(session)
            content = new.content()
        except BaseException as error:  # noqa: BLE001 -- a user cell may raise anything, and the notebook must continue
            self._moved, self._entries = earlier
            self._start.restore(state)
            self._accept(self._session)
            report.remarks = report.remarks.failed(self._failure_message(error, moved))
            return report.content()
        self._start.ran_later(state)
        self._session = session
        report.replace_contents(new)
        return content

    @property
    def moved(self) -> Mapping[str, Sequence[float]]:
        """Numbers that override the program's values, by name."""
        return self._moved

    def rewind(self) -> None:
        """Restore the state in which the first run started, with the sliders' values."""
        namespace = self._cell.namespace
        self._start.rewind()
        self._originals, self._first_assignments = {}, {}
        for name in self._at_start:
            if name not in namespace:
                raise UsageError(
                    f"%%tape --what-if: {name} was deleted: give it a value, such as {name} = 1.0"
                )
            self._sliders[name].read(namespace[name])
            if name in self._moved:
                namespace[name] = self._sliders[name].set_values(self._moved[name], namespace[name])
            else:
                # A copy, because the cell may change the array in place.
                self._originals[name] = copy(unwrap(namespace[name]))

    def _prepared(self) -> Session:
        """Return a session that starts like the first run, except for the moved values."""
        self.rewind()
        session = self._begin()
        self._accept(session)
        return session

    def _check_reproducible(self) -> None:
        """Run the cell once with the program's values, to see if the result is the same again."""
        if self._result is None or self._start.changed_since:
            return
        # Once is enough, before the first move: it costs a whole run.
        result, self._result = self._result, None
        session = self._prepared()
        try:
            with captured(), session:
                value = self._cell.run(self.hook(session))
            self._is_reproducible = _result(session, value) == result
        except KeyboardInterrupt:
            self._result = result
            raise
        except BaseException:  # noqa: BLE001 -- SystemExit as well
            self._is_reproducible = False

    def _run(self, session: Session) -> TapeReport:
        """Run the cell with the moved values; return its report."""
        with captured() as printed:
            try:
                with session:
                    value = self._cell.run(self.hook(session))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 -- SystemExit as well
                raise StoppedError(read_failure(error, session)) from None
        self._check_assigned()
        self._entries = self._entries | self._moved
        for name, original in self._originals.items():
            self._entries[name] = self._sliders[name].read(original)
        session.notes += self._notes()
        report = self._report(session, value)
        report.remarks = Remarks(self._controls(), "", printed.text, printed.displays)
        return report

    def _failure_message(self, error: BaseException, moved: Mapping[str, list[float]]) -> str:
        """Describe a run that failed, and which run the report shows instead."""
        names = [name for name in self._requests if moved.get(name) != self._moved.get(name)]
        names = names or list(self._requests)
        tried = self._values(names, {**self._entries, **moved})
        if isinstance(error, KeyboardInterrupt):
            what = f"The run with {tried} was interrupted."
        elif isinstance(error, StoppedError):
            failure = error.failure
            words = clipped(f"{failure.error}: {failure.message}".rstrip(": ."), MAX_MESSAGE)
            where = f", line {failure.line}" if failure.line else ""
            what = f"With {tried} the cell stops: {words}{where}."
        else:
            kind = "" if isinstance(error, UsageError) else f"{type(error).__name__}: "
            words = f"{kind}{printable(message_of(error))}".removeprefix(PREFIX).rstrip(": .")
            what = f"With {tried} there is no report: {clipped(words, MAX_MESSAGE)}."
        return f"{what} Shown is the report for {self._values(names, self._entries)}."

    def _values(self, names: Sequence[str], entries: Mapping[str, Sequence[float]]) -> str:
        """Format the values of names: "a = 0.5 and w = [1, 2]"."""
        parts = []
        for name in names:
            numbers = ", ".join(format_number(x) for x in entries[name])
            parts.append(
                f"{name} = [{numbers}]" if self._sliders[name].shape else f"{name} = {numbers}"
            )
        return listed(parts)

    def _read(self, message: Any) -> dict[str, list[float]] | None:
        """Read the numbers in a message, by name; return None if it is invalid."""
        requests = message.get("what_if") if isinstance(message, Mapping) else None
        if not isinstance(requests, Mapping):
            return None
        moved: dict[str, list[float]] = {}
        for name, entries in requests.items():
            slider = self._sliders.get(name)
            fitting = None if slider is None else slider.checked_entries(entries)
            if fitting is None:
                return None
            moved[name] = fitting
        return moved


def _result(session: Session, value: Any) -> dict[str, Any]:
    """Return digests of a run's results, for comparison: its last numbers by name, and its value."""
    numbers = {name: x for name, x in [*session.history, ("", value)] if is_number(x)}
    return {name: _digest(unwrap(x)) for name, x in numbers.items()}


def _digest(value: Any) -> Any:
    """Return a key that is equal for equal values; for a Dask array, the name of its graph."""
    # Hashing needs the bytes, which a Dask array does not have; Dask names a graph by its computation.
    if is_lazy(value):
        return token(value)
    array = np.asarray(value)
    return str(array.dtype), array.shape, sha256(np.ascontiguousarray(array).data).digest()


class StoppedError(Exception):
    """Raised when an error in the cell ends a run."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass
class Printed:
    """The text that a run printed, and how many other outputs it displayed."""

    text: str = ""
    displays: int = 0


@contextmanager
def captured() -> Iterator[Printed]:
    """Keep the output of a run out of the notebook.

    Figures that it opens are closed, and ``input()`` fails, because nothing could answer it.
    """
    printed = Printed()
    figures = _figures()
    # A front end waits for the answer to a move: input() would block the kernel with no prompt visible.
    ask: Any = builtins.input
    builtins.input = _not_asked
    try:
        with capture_output() as output:
            yield printed
    finally:
        builtins.input = ask
        opened = _figures() - figures
        for number in opened:
            sys.modules["matplotlib.pyplot"].close(number)
    printed.text = output.stdout + output.stderr
    printed.displays = len(output.outputs) + len(opened)


def _figures() -> set[int]:
    """Return the numbers of matplotlib's open figures."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set() if pyplot is None else set(pyplot.get_fignums())


def _not_asked(*_words: object) -> str:
    raise EOFError(
        "input() cannot ask while a slider runs the cell again: write a value in its place"
    )
