"""Running of a %%tape cell again with other values, as the sliders of --what-if want it."""

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
from tapemagic.ipython.first_use import begins_anew, chained_on, first_use, overwritten_on
from tapemagic.ipython.runcell import Cell
from tapemagic.ipython.session import Session
from tapemagic.ipython.sliders import Parameter, Wanted
from tapemagic.ipython.starting_state import Start
from tapemagic.ipython.watchable import is_number
from tapemagic.report.bundle import TapeReport
from tapemagic.report.failure.find import Failure, message_of
from tapemagic.report.live.content import Content, Control
from tapemagic.report.live.remarks import Remarks
from tapemagic.report.verdict.statement import Statement

PREFIX = "%%tape --what-if: "
LONGEST_MESSAGE = 300
"""The number of characters of an error that the head of a report shows."""

LAZY = (
    "there are no sliders, since the cell computes with Dask arrays, and every move would need their numbers: give the "
    "cell a sample in memory, such as X[:1000].compute()"
)
UNSTEADY = (
    "more than the sliders changes this report: the cell ran again with the same numbers, and its result was another. "
    "It uses what no run sets back, such as an iterator, a file, the clock or random numbers without a seed"
)
SINCE = "changed outside of this cell since its first run: {}. The runs of the sliders begin with what is there now"

Report = Callable[[Session, Any], TapeReport]
Begin = Callable[[], Session]


class WhatIf:
    """The sliders of a cell, and its runs with the values that they have.

    Parameters
    ----------
    cell : Cell
    wanted : sequence of Wanted
        The names with sliders, and their ranges.
    begin : callable
        Makes a session for a run of the cell; called after the values from the notebook are in their places.
    report : callable
        Makes the report on a session, of the value of the cell's last expression.
    accept : callable
        Called with the session of a run, or of the run that is shown after one failed: what asks the last cell asks it
        from then on.

    Attributes
    ----------
    refusal : UsageError or None
        The error that a value cannot have a slider, if only the first run has shown it.

    Raises
    ------
    UsageError
        If a value of the notebook cannot have a slider.
    """

    def __init__(
        self,
        cell: Cell,
        wanted: Sequence[Wanted],
        begin: Begin,
        report: Report,
        accept: Callable[[Session], None],
    ) -> None:
        self._cell = cell
        self._wanted = {item.name: item for item in wanted}
        self._begin = begin
        self._report = report
        self._accept = accept
        namespace = cell.namespace
        self._at_start = [name for name in self._wanted if self._begins_with(name)]
        self._places: dict[str, tuple[CodeType, int]] = {}
        self._parameters = {
            name: Parameter(self._wanted[name], namespace[name]) for name in self._at_start
        }
        self._moved: dict[str, list[float]] = {}
        self.refusal: UsageError | None = None
        self._found: dict[str, Any] = {}
        self._entries: dict[str, list[float]] = {}
        self._start = Start(namespace, {*cell.read, *cell.assigned, *self._wanted})
        self._result: dict[str, Any] | None = None
        self._is_steady = True
        self._is_lazy = False

    def _begins_with(self, name: str) -> bool:
        """Whether a value is put in its place before the cell, and not where the cell assigns the name."""
        cell = self._cell
        if name in cell.looped:
            raise UsageError(
                f"%%tape --what-if: the loop gives {name} a value in every turn: give what the slider changes a name "
                "of its own in front of the loop"
            )
        is_held = name in cell.namespace
        return is_held and (name not in cell.assigned or first_use(cell.source, name) != "assigned")

    def first_run(self, session: Session) -> Any:
        """Run the cell for the first time; the value of its last expression.

        Raises
        ------
        UsageError
            If a value that the cell assigns cannot have a slider. The notebook is as it was before.
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
        """Raise an error if a line that assigns a name with a slider did not run."""
        for name in self._wanted:
            if name not in self._at_start and name not in self._places:
                self.refusal = UsageError(
                    f"%%tape --what-if: the line that assigns {name} did not run: write {name} = 1.0 in front of the "
                    "lines that use it"
                )
                raise self.refusal

    def hook(self, session: Session, but: str = "") -> Callable[[str, Any], Any]:
        """The function to call with every name that the cell assigns and its value; the slider of `but` is left out."""

        def named(name: str, value: Any) -> Any:
            if name in self._wanted and name not in self._at_start and name != but:
                value = self._put(name, value, session)
            return session.named(name, value)

        return named

    def _put(self, name: str, value: Any, session: Session) -> Any:
        """The value in the place of one that the cell assigns: another one for the first assignment."""
        place = self._cell.instruction()
        if name not in self._places and place is not None:
            self._places[name] = place
            if name not in self._parameters:
                self._parameters[name] = self._made(name, value, session)
        if self._places.get(name) != place:
            return value
        if name in self._moved:
            return self._parameters[name].put(self._moved[name], value)
        self._found.setdefault(name, copy(unwrap(value)))
        return value

    def _made(self, name: str, value: Any, session: Session) -> Parameter:
        """The parameter that a cell assigns.

        Raises
        ------
        UsageError
            If its value cannot have a slider; kept as the refusal, too, since the cell may catch it.
        """
        try:
            if self._cell.line() in chained_on(self._cell.source, name):
                raise UsageError(
                    f"%%tape --what-if: one line gives several names the value of {name}, and a slider would change "
                    f"{name} alone: give {name} a line of its own, such as {name} = 1.0, and use {name} in the next"
                )
            if isinstance(value, Traced) and session.is_computed(value):
                raise UsageError(
                    f"%%tape --what-if: {name} is computed from what is watched, and a slider would cut it off: name "
                    "a value with which the cell begins"
                )
            return Parameter(self._wanted[name], value)
        except UsageError as error:
            self.refusal = self.refusal or error
            raise

    def _notes(self) -> list[Statement]:
        """Statements on sliders that cannot change anything, because the cell never reads the value."""
        notes = []
        if not self._is_steady:
            notes.append(Statement("note", UNSTEADY))
        source, own = self._cell.source, {*self._wanted, self._session.tape_name}
        names = [x for x in sorted(self._start.changed_since - own) if not begins_anew(source, x)]
        if names:
            notes.append(Statement("note", SINCE.format(clipped(listed(names), 200))))
        for name in self._wanted:
            line = None if name in self._at_start else overwritten_on(self._cell.source, name)
            if line is not None:
                text = f"the slider of {name} has no effect from line {line} on: that line gives {name} another value"
                notes.append(Statement("note", f"{text} before one reads the first", line))
            elif name not in self._cell.read and first_use(self._cell.source, name) is None:
                text = f"no line of this cell reads {name}: its slider changes nothing, unless a function reads it"
                notes.append(Statement("note", text))
        return notes

    def show_in(self, report: TapeReport) -> None:
        """Give the report on the first run its sliders, unless the cell computes with lazy values."""
        if self._is_lazy:
            return
        self._entries = {name: p.entries for name, p in self._parameters.items()}
        report.remarks = Remarks(controls=self._controls())
        report.on_move = self.move
        self._start.leave()

    def _controls(self) -> list[Control]:
        """The sliders as they are, in the order of the line."""
        return [
            self._parameters[name].control(self._entries[name], name in self._moved)
            for name in self._wanted
        ]

    def move(self, message: Any, report: TapeReport) -> Content | None:
        """Run the cell again as a message from a front end says, and show that run in its report.

        Parameters
        ----------
        message : object
            ``{"what_if": {"a": 1.5, "w": [1.0, 2.0]}}``: all values in the place of the program's. Names that are not
            there get those of the program.
        report : TapeReport
            Changed in place. It stays as it was if the cell fails, and so does the notebook.

        Returns
        -------
        Content or None
            All that the report shows now; None if the message is invalid.
        """
        moved = self._read(message)
        if moved is None:
            return None
        earlier = self._moved, self._entries
        now = self._start.take_over()
        try:
            self._check_steady()
            self._moved = moved
            session = self._prepared()
            new = self._run(session)
            content = new.content()
        except BaseException as error:  # noqa: BLE001 -- whatever a cell raises, the notebook goes on
            self._moved, self._entries = earlier
            self._start.give_back(now)
            self._accept(self._session)
            report.remarks = report.remarks.failed(self._told(error, moved))
            return report.content()
        self._start.ran_again(now)
        self._session = session
        report.become(new)
        return content

    @property
    def moved(self) -> Mapping[str, Sequence[float]]:
        """The numbers that are in the place of the program's, by name."""
        return self._moved

    def begin_again(self) -> None:
        """Give the notebook the state in which the first run began, with the values of the sliders."""
        namespace = self._cell.namespace
        self._start.begin_again()
        self._found, self._places = {}, {}
        for name in self._at_start:
            if name not in namespace:
                raise UsageError(
                    f"%%tape --what-if: {name} was deleted: give it a value, such as {name} = 1.0"
                )
            self._parameters[name].read(namespace[name])
            if name in self._moved:
                namespace[name] = self._parameters[name].put(self._moved[name], namespace[name])
            else:
                self._found[name] = copy(unwrap(namespace[name]))

    def _prepared(self) -> Session:
        """A session that starts where the first run started, but for the values that were moved."""
        self.begin_again()
        session = self._begin()
        self._accept(session)
        return session

    def _check_steady(self) -> None:
        """Run the cell with the numbers of the program once, to see whether its result is the same again."""
        if self._result is None or self._start.changed_since:
            return
        result, self._result = self._result, None
        session = self._prepared()
        try:
            with captured(), session:
                value = self._cell.run(self.hook(session))
            self._is_steady = _result(session, value) == result
        except KeyboardInterrupt:
            self._result = result
            raise
        except BaseException:  # noqa: BLE001 -- an exit, too
            self._is_steady = False

    def _run(self, session: Session) -> TapeReport:
        """Run the cell with the values that were moved; its report."""
        with captured() as printed:
            try:
                with session:
                    value = self._cell.run(self.hook(session))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 -- an exit, too
                raise StoppedError(read_failure(error, session)) from None
        self._check_assigned()
        self._entries = self._entries | self._moved
        for name, found in self._found.items():
            self._entries[name] = self._parameters[name].read(found)
        session.notes += self._notes()
        report = self._report(session, value)
        report.remarks = Remarks(self._controls(), "", printed.text, printed.displays)
        return report

    def _told(self, error: BaseException, moved: Mapping[str, list[float]]) -> str:
        """A sentence on a run that failed, and one on the run that is shown."""
        names = [name for name in self._wanted if moved.get(name) != self._moved.get(name)]
        names = names or list(self._wanted)
        tried = self._values(names, {**self._entries, **moved})
        if isinstance(error, KeyboardInterrupt):
            what = f"The run with {tried} was interrupted."
        elif isinstance(error, StoppedError):
            failure = error.failure
            words = clipped(f"{failure.error}: {failure.message}".rstrip(": ."), LONGEST_MESSAGE)
            where = f", line {failure.line}" if failure.line else ""
            what = f"With {tried} the cell stops: {words}{where}."
        else:
            kind = "" if isinstance(error, UsageError) else f"{type(error).__name__}: "
            words = f"{kind}{printable(message_of(error))}".removeprefix(PREFIX).rstrip(": .")
            what = f"With {tried} there is no report: {clipped(words, LONGEST_MESSAGE)}."
        return f"{what} Shown is the report for {self._values(names, self._entries)}."

    def _values(self, names: Sequence[str], entries: Mapping[str, Sequence[float]]) -> str:
        """The values of names in words: "a = 0.5 and w = [1, 2]"."""
        parts = []
        for name in names:
            numbers = ", ".join(format_number(x) for x in entries[name])
            parts.append(
                f"{name} = [{numbers}]" if self._parameters[name].shape else f"{name} = {numbers}"
            )
        return listed(parts)

    def _read(self, message: Any) -> dict[str, list[float]] | None:
        """The numbers in a message, by name; None if it is invalid."""
        wanted = message.get("what_if") if isinstance(message, Mapping) else None
        if not isinstance(wanted, Mapping):
            return None
        moved: dict[str, list[float]] = {}
        for name, entries in wanted.items():
            parameter = self._parameters.get(name)
            fitting = None if parameter is None else parameter.fitting(entries)
            if fitting is None:
                return None
            moved[name] = fitting
        return moved


def _result(session: Session, value: Any) -> dict[str, Any]:
    """The results of a run, for comparison: its last numbers by name, and its value."""
    numbers = {name: x for name, x in [*session.history, ("", value)] if is_number(x)}
    return {name: _digest(unwrap(x)) for name, x in numbers.items()}


def _digest(value: Any) -> Any:
    """A key that is the same for the same value: of a lazy one the name of its graph."""
    if is_lazy(value):
        return token(value)
    array = np.asarray(value)
    return str(array.dtype), array.shape, sha256(np.ascontiguousarray(array).data).digest()


class StoppedError(Exception):
    """The end of a run by an error of the cell."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass
class Printed:
    """The text that a run printed, and the number of its other displays."""

    text: str = ""
    displays: int = 0


@contextmanager
def captured() -> Iterator[Printed]:
    """Keep what a run prints and shows out of the notebook.

    Figures that it opens are closed, and ``input()`` fails, since nobody would answer.
    """
    printed = Printed()
    figures = _figures()
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
    """The numbers of matplotlib's open figures."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set() if pyplot is None else set(pyplot.get_fignums())


def _not_asked(*_words: object) -> str:
    raise EOFError(
        "input() cannot ask while a slider runs the cell again: write a value in its place"
    )
