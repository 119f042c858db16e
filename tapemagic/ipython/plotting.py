"""Run a %%tape cell for the curves of --plot: each run starts like the ordinary one, with another number."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from types import CodeType
from typing import Any

import numpy as np
from IPython.core.error import UsageError

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.engine.tensor.variable import Variable, reset
from tapemagic.explain.formatting import clipped, format_shape, printable
from tapemagic.explain.snapshot import Named
from tapemagic.ipython.first_use import first_use
from tapemagic.ipython.line_arguments import is_name, normalize
from tapemagic.ipython.runcell import Cell
from tapemagic.ipython.session import Session
from tapemagic.ipython.starting_state import Contents, bind, changed
from tapemagic.ipython.watchable import is_number
from tapemagic.ipython.what_if import WhatIf, captured
from tapemagic.report.tabs.plot.plot import Plot
from tapemagic.report.tabs.plot.plotting import (
    MAX_DRAWN,
    Numbers,
    Plotted,
    failed,
    numbers,
    plot_of,
)
from tapemagic.report.tabs.plot.sampling import REDRAW_SECONDS, SECONDS

EXAMPLE = "write --plot x=-6:6"
RANGE = re.compile(r"([^=:]*)=([^:=]*):([^:=]*)")
MIN_RELATIVE_WIDTH = 1e-9
"""Minimum width of a range, relative to its larger end: rounding would dominate a narrower curve."""

Choice = Callable[[Session, Any], Sequence[Named]]


@dataclass(frozen=True)
class Range:
    """The variable of a plot, and the ends of its range."""

    name: str
    low: float
    high: float


def parse_range(text: str) -> Range:
    """Parse the variable and the range in the value of --plot.

    Raises UsageError if it is malformed, reversed or empty.

    Examples
    --------
    >>> parse_range("x=-6:6")
    Range(name='x', low=-6.0, high=6.0)
    """
    shown = clipped(printable(text), 60)
    match = RANGE.fullmatch(text)
    name = normalize(match[1]) if match else ""
    if match is None or not is_name(name):
        raise _error(f"{shown!r} isn't a name with a range: write it without spaces, as in x=-6:6")
    try:
        low, high = float(match[2]), float(match[3])
    except ValueError:
        raise _error(f"{shown!r} has no two numbers for a range: write {name}=-6:6") from None
    if not (isfinite(low) and isfinite(high) and max(abs(low), abs(high)) <= MAX_DRAWN):
        raise _error(
            f"the range in {shown!r} has no end: write two finite numbers, as in {name}=-6:6"
        )
    if low > high:
        raise _error(f"the range in {shown!r} is reversed: write {name}={match[3]}:{match[2]}")
    if high - low <= MIN_RELATIVE_WIDTH * max(abs(low), abs(high)):
        raise _error(f"the range in {shown!r} is too narrow: write one such as {name}=-6:6")
    return Range(name, low, high)


class PlotRuns:
    """The runs of a cell for a plot; created before its ordinary run.

    - `begin`: Makes a session for a run of the cell.

    - `what_if`: The sliders of the cell; its runs use their values.

    Raises UsageError if the variable's value in the notebook is not a real number.
    """

    def __init__(self, cell: Cell, plot_range: Range, begin: Callable[[], Session]) -> None:
        self._cell = cell
        self._range = plot_range
        self._begin = begin
        self.what_if: WhatIf | None = None
        name, namespace = plot_range.name, cell.namespace
        if name in cell.looped:
            raise _error(
                f"the loop assigns {name} in every iteration: give what the plot changes a name of its own in front "
                "of the loop"
            )
        # A name that the cell assigns before it reads it gets its number at that assignment, else before the run.
        self._is_at_start = name in namespace and (
            name not in cell.assigned or first_use(cell.source, name) != "assigned"
        )
        if self._is_at_start and (problem := _problem(name, namespace[name])):
            raise _error(problem)
        self._mentioned = {*cell.read, *cell.assigned, name}
        self._before = namespace.copy()
        self._contents = Contents(namespace, self._mentioned)
        self._originals: dict[str, Any] | None = None
        self._last: Plotted | None = None
        # Compared by identity: an equal but new array may have been changed since.
        self._start_values: list[Any] = []

    def plot(self, ordinary: Session, targets: Sequence[Named], order: int, choice: Choice) -> Plot:
        """Plot the targets of an ordinary run; the notebook is unchanged afterwards.

        Parameters
        ----------
        ordinary : Session
        targets : sequence of (name, value)
        order : int
        choice : callable
            Returns the targets of another run, given its session and the value of the cell.
        """
        name, ends = self._range.name, (self._range.low, self._range.high)
        source = ordinary.sources.get(name)
        problem = "there is nothing to differentiate" if not targets else ""
        if source is None:
            problem = f"the line that assigns {name} did not run"
        elif reason := _problem(name, source):
            problem = reason
        elif lazy := [y for y, target in targets if is_lazy(unwrap(target))]:
            problem = (
                f"{lazy[0]} is computed from Dask arrays, and nothing runs those without being asked: a plot needs "
                "numbers, so give the cell a sample in memory, such as X[:1000].compute()"
            )
        if source is None or problem:
            return Plot(name, *ends, notes=(f"Not drawn: {problem}.",))
        # A copy of the recording, so that the derivatives taken here are not part of the cell's own tape.
        here, _ = numbers(ordinary.recording(), [value for _, value in targets], source, order)
        shown = ordinary.value_names().get(id_of(source), name)
        if self._originals is None:
            self._originals, self._before = changed(self._before, self._cell.namespace), {}
        with self._isolated():
            last = self._last if self._update_start_values() else None
            self._last = plot_of(
                lambda x: self._numbers(x, [target for target, _ in targets], order, choice),
                shown,
                ends,
                targets,
                order,
                (float(unwrap(source).item()), here),
                last,
                SECONDS if self._last is None else REDRAW_SECONDS,
            )
        return self._last.plot

    def _update_start_values(self) -> bool:
        """Record the values that the cell starts with; return True if they equal the last plot's."""
        self._begin_again()
        namespace, moved = self._cell.namespace, self.what_if.moved if self.what_if else {}
        other_moves = {name: value for name, value in moved.items() if name != self._range.name}
        names = sorted(self._mentioned - moved.keys() - {self._range.name})
        previous, self._start_values = (
            self._start_values,
            [other_moves, *(namespace.get(name) for name in names)],
        )
        pairs = zip(previous[1:], self._start_values[1:], strict=False)
        return (
            len(previous) == len(self._start_values)
            and previous[0] == other_moves
            and all(before is after for before, after in pairs)
        )

    @contextmanager
    def _isolated(self) -> Iterator[None]:
        """Undo afterwards what runs of the cell change, and hide what they display."""
        namespace = self._cell.namespace
        names, contents = namespace.copy(), Contents(namespace, self._mentioned)
        try:
            # Warnings too: at the edge of a range nearly every function warns.
            with captured(), isolated_figures(), warnings.catch_warnings(action="ignore"):
                yield
        finally:
            bind(namespace, changed(names, namespace))
            contents.restore()

    def _numbers(self, x: float, targets: Sequence[str], order: int, choice: Choice) -> Numbers:
        """Run the cell with another number for the variable; return the numbers for the curves."""
        self._begin_again()
        namespace, name = self._cell.namespace, self._range.name
        start = namespace.copy()
        try:
            if self._is_at_start:
                namespace[name] = like(namespace[name], x)
            session = self._begin()
            with session:
                value = self._cell.run(self._hook(session, x))
            targets_by_name = dict(choice(session, value))
            values = [targets_by_name.get(y, self._untracked(y, value)) for y in targets]
            return numbers(session.observer, values, session.sources[name], order)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 -- any error in the cell, also SystemExit, becomes a gap in the curves
            return failed(error, len(targets) * (order + 1))
        finally:
            bind(namespace, changed(start, namespace))

    def _begin_again(self) -> None:
        """Restore the state in which the ordinary run started."""
        if self.what_if is not None:
            self.what_if.rewind()
        else:
            bind(self._cell.namespace, self._originals or {})
            self._contents.restore()

    def _hook(self, session: Session, x: float) -> Callable[[str, Any, int], Any]:
        """Return the hook for assignments: the first assignment of the variable gets another number."""
        place: tuple[CodeType, int] | None = None
        rest = self.what_if.hook(session, self._range.name) if self.what_if else session.named

        def named(name: str, value: Any, line: int) -> Any:
            nonlocal place
            if name == self._range.name and not self._is_at_start:
                here = self._cell.instruction()
                # By instruction, not by line: x = 1; x = 2 on one line are two assignments.
                place = place or here
                if (
                    here == place
                    and not session.observer.tracks(value)
                    and not _problem(name, value)
                ):
                    value = like(value, x)
            return rest(name, value, line)

        return named

    def _untracked(self, target: str, value: Any) -> Any:
        """Return a target that is not on the tape, such as a constant assigned in a branch."""
        written = self._cell.last
        values = list(value) if isinstance(value, (list, tuple)) and len(written) > 1 else [value]
        number = self._cell.namespace.get(target)
        if target in written and len(values) == len(written):
            number = values[written.index(target)]
        return number if is_number(number) else None


@contextmanager
def isolated_figures() -> Iterator[None]:
    """Redirect pyplot to a new figure, so that runs don't draw into the current figure."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        yield
        return
    current = pyplot.gcf().number
    # pyplot draws into the current figure; a new one takes what the runs draw, and `captured` closes it.
    pyplot.figure()
    try:
        yield
    finally:
        if pyplot.fignum_exists(current):
            pyplot.figure(current)


def like(value: Any, x: float) -> Any:
    """Return a number as a value of the same type, dtype and shape; a Variable is updated in place.

    Examples
    --------
    >>> like(np.float32(2.0), 0.5), like(np.zeros(1), 0.5)
    (np.float32(0.5), array([0.5]))
    """
    plain = unwrap(value)
    array = np.full(np.shape(plain), x, np.asarray(plain).dtype)
    if isinstance(value, Variable):
        reset(value, array)
        return value
    if isinstance(value, Traced):
        return constant(array)
    return array if isinstance(value, np.ndarray) else type(value)(array[()])


def _problem(name: str, value: Any) -> str:
    """Explain why a variable with this value cannot be plotted over; return "" if it can."""
    plain = unwrap(value)
    if not isinstance(plain, np.ndarray | np.number | int | float | complex):
        return f"{name} is a {printable(type(value).__name__)}, and a plot needs a number, such as {name} = 1.0"
    if is_lazy(plain):
        return f"{name} is not computed, and a plot needs a number, such as {name} = 1.0"
    array = np.asarray(plain)
    if array.dtype.kind in "iu":
        number = f" = {array.item()}" if array.size == 1 else ""
        advice = f"{name} = {array.item()}.0" if array.size == 1 else f"{name} = 1.0"
        return (
            f"{name}{number} is an integer, and only real numbers have derivatives: write {advice}"
        )
    if array.dtype.kind != "f":
        return f"{name} is of dtype {array.dtype}, and a plot needs a real number, such as {name} = 1.0"
    if array.size != 1:
        return (
            f"{name} is an array of shape {format_shape(array.shape)}, and a plot needs one number: give the entry "
            f"that matters a name of its own"
        )
    return ""


def _error(words: str) -> UsageError:
    return UsageError(f"%%tape --plot: {words}")
