"""Runs of a %%tape cell for the curves of --plot: each begins as the ordinary run did, with another number."""

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
from tapemagic.ipython.line_arguments import is_name, normalized
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
NARROW = 1e-9
"""The least width of a range, as a share of its larger end."""

Choice = Callable[[Session, Any], Sequence[Named]]


@dataclass(frozen=True)
class Range:
    """The variable of a plot, and the ends of its range."""

    name: str
    low: float
    high: float


def range_in(text: str) -> Range:
    """The variable and the range in the value of --plot.

    Raises
    ------
    UsageError
        If it is malformed, turned round or empty.

    Examples
    --------
    >>> range_in("x=-6:6")
    Range(name='x', low=-6.0, high=6.0)
    """
    shown = clipped(printable(text), 60)
    match = RANGE.fullmatch(text)
    name = normalized(match[1]) if match else ""
    if match is None or not is_name(name):
        raise _error(f"{shown!r} is no name with a range: write it without spaces, as in x=-6:6")
    try:
        low, high = float(match[2]), float(match[3])
    except ValueError:
        raise _error(f"{shown!r} has no two numbers for a range: write {name}=-6:6") from None
    if not (isfinite(low) and isfinite(high) and max(abs(low), abs(high)) <= MAX_DRAWN):
        raise _error(
            f"the range in {shown!r} has no end: write two finite numbers, as in {name}=-6:6"
        )
    if low > high:
        raise _error(f"the range in {shown!r} is turned round: write {name}={match[3]}:{match[2]}")
    if high - low <= NARROW * max(abs(low), abs(high)):
        raise _error(f"the range in {shown!r} is too narrow: write one such as {name}=-6:6")
    return Range(name, low, high)


class PlotRuns:
    """The runs of a cell for a plot; made before its ordinary run.

    Parameters
    ----------
    cell : Cell
    wanted : Range
    begin : callable
        Makes a session for a run of the cell.

    Attributes
    ----------
    what_if : WhatIf or None
        The sliders of the cell, whose values its runs have, too.

    Raises
    ------
    UsageError
        If the notebook's value of the variable is not a real floating-point number.
    """

    def __init__(self, cell: Cell, wanted: Range, begin: Callable[[], Session]) -> None:
        self._cell = cell
        self._wanted = wanted
        self._begin = begin
        self.what_if: WhatIf | None = None
        name, namespace = wanted.name, cell.namespace
        if name in cell.looped:
            raise _error(
                f"the loop gives {name} a value in every turn: give what the plot changes a name of its own in front "
                "of the loop"
            )
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
        self._known: list[Any] = []

    def plot(self, ordinary: Session, targets: Sequence[Named], order: int, choice: Choice) -> Plot:
        """The plot of the targets of an ordinary run, after which the notebook is as it was before.

        Parameters
        ----------
        ordinary : Session
        targets : sequence of (name, value)
        order : int
        choice : callable
            The targets of another run: a function of its session and the value of the cell.
        """
        name, ends = self._wanted.name, (self._wanted.low, self._wanted.high)
        source = ordinary.sources.get(name)
        problem = "there is nothing to differentiate" if not targets else ""
        if source is None:
            problem = f"the line that assigns {name} did not run"
        elif found := _problem(name, source):
            problem = found
        elif lazy := [y for y, target in targets if is_lazy(unwrap(target))]:
            problem = (
                f"{lazy[0]} is computed from Dask arrays, and nothing runs those without being asked: a plot needs "
                "numbers, so give the cell a sample in memory, such as X[:1000].compute()"
            )
        if source is None or problem:
            return Plot(name, *ends, notes=(f"Not drawn: {problem}.",))
        here, _ = numbers(ordinary.recording(), [value for _, value in targets], source, order)
        shown = ordinary.found_names().get(id_of(source), name)
        if self._originals is None:
            self._originals, self._before = changed(self._before, self._cell.namespace), {}
        with self._apart():
            last = self._last if self._is_as_before() else None
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

    def _is_as_before(self) -> bool:
        """Whether the cell starts with the values that it had for the last plot, as far as its names tell."""
        self._begin_again()
        namespace, moved = self._cell.namespace, self.what_if.moved if self.what_if else {}
        others = {name: value for name, value in moved.items() if name != self._wanted.name}
        names = sorted(self._mentioned - moved.keys() - {self._wanted.name})
        known, self._known = self._known, [others, *(namespace.get(name) for name in names)]
        pairs = zip(known[1:], self._known[1:], strict=False)
        return (
            len(known) == len(self._known)
            and known[0] == others
            and all(before is now for before, now in pairs)
        )

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Give everything back afterwards that runs of the cell change; show nothing of what they show."""
        namespace = self._cell.namespace
        names, contents = namespace.copy(), Contents(namespace, self._mentioned)
        try:
            with captured(), figure_apart(), warnings.catch_warnings(action="ignore"):
                yield
        finally:
            bind(namespace, changed(names, namespace))
            contents.restore()

    def _numbers(self, x: float, targets: Sequence[str], order: int, choice: Choice) -> Numbers:
        """The numbers of the curves in a run with a number in the place of the variable."""
        self._begin_again()
        namespace, name = self._cell.namespace, self._wanted.name
        start = namespace.copy()
        try:
            if self._is_at_start:
                namespace[name] = like(namespace[name], x)
            session = self._begin()
            with session:
                value = self._cell.run(self._hook(session, x))
            held = dict(choice(session, value))
            values = [held.get(y, self._untracked(y, value)) for y in targets]
            return numbers(session.observer, values, session.sources[name], order)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 -- whatever the cell raises, an exit too, is a gap of the curves
            return failed(error, len(targets) * (order + 1))
        finally:
            bind(namespace, changed(start, namespace))

    def _begin_again(self) -> None:
        """Give the notebook the state in which the ordinary run began."""
        if self.what_if is not None:
            self.what_if.begin_again()
        else:
            bind(self._cell.namespace, self._originals or {})
            self._contents.restore()

    def _hook(self, session: Session, x: float) -> Callable[[str, Any], Any]:
        """The function to call with every name that the cell assigns: the first assignment gets another number."""
        place: tuple[CodeType, int] | None = None
        rest = self.what_if.hook(session, self._wanted.name) if self.what_if else session.named

        def named(name: str, value: Any) -> Any:
            nonlocal place
            if name == self._wanted.name and not self._is_at_start:
                here = self._cell.instruction()
                place = place or here
                if (
                    here == place
                    and not session.observer.tracks(value)
                    and not _problem(name, value)
                ):
                    value = like(value, x)
            return rest(name, value)

        return named

    def _untracked(self, target: str, value: Any) -> Any:
        """A target that is not on the tape, such as a constant that a branch assigns; None if there is none."""
        written = self._cell.last
        values = list(value) if isinstance(value, (list, tuple)) and len(written) > 1 else [value]
        found = self._cell.namespace.get(target)
        if target in written and len(values) == len(written):
            found = values[written.index(target)]
        return found if is_number(found) else None


@contextmanager
def figure_apart() -> Iterator[None]:
    """Let what runs draw into a new figure of pyplot, and not into the current one of the user."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        yield
        return
    current = pyplot.gcf().number
    pyplot.figure()
    try:
        yield
    finally:
        if pyplot.fignum_exists(current):
            pyplot.figure(current)


def like(value: Any, x: float) -> Any:
    """A number as a value of the same type, dtype and shape; a Variable is given it.

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
    """The reason why a value cannot be plotted over; empty if it can."""
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
