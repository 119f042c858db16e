"""Tapes of a %%tape cell: your tape, and an observer next to it that keeps every record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from types import CodeType
from typing import Any, NamedTuple

from tapemagic.engine.events import origin_of
from tapemagic.engine.recording import tick
from tapemagic.engine.scopes import Scope
from tapemagic.engine.tape.base_tape import contents_of
from tapemagic.engine.tape.gradient_steps import GradientStep, GradientSteps
from tapemagic.engine.tape.sweep import Gradients
from tapemagic.engine.tape.tape import Sweep, Tape, tape_of
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable


class Site(NamedTuple):
    """The position in a program that recorded an operation.

    - `line`: The line of the cell.
    - `call`: The index in `Origins.calls` of the call of a user function or a layer; 0 is the top level of the cell.
    - `offset`: The offset of the bytecode instruction in the code of that function.
    - `run`: The number of the execution of this instruction; an execution may record several operations.
    """

    line: int | None = None
    call: int = 0
    offset: int = 0
    run: int = 0


class Call(NamedTuple):
    """A call of a user function, or of a layer.

    - `name`: The function's name, or '' for the top level of the cell.
    - `code`: Code object or None. For a layer, the code of its method `call`.
    - `site`: The position of the call.
    - `scope`: For a layer, its name, class, inputs and outputs.
    """

    name: str = ""
    code: CodeType | None = None
    site: Site = Site()
    scope: Scope | None = None


class GradientCall(NamedTuple):
    """A call by which your program computed gradients, with any tape; in a loop, the last such call.

    - `method`: ``"gradient"``, ``"jacobian"`` or ``"batch_jacobian"``.
    - `targets`, `sources`, `results`: Sequence of Tensor or Variable. A result is None if there is no gradient.
    - `weighted`: Whether the call passed output gradients.
    - `tape`: The tape, if a result is None, because it can explain that.
    - `time`: The time of the call, by the clock that numbers values.
    - `code`, `offset`: Code object, int. The bytecode instruction that made the call.
    - `line`: The line of the cell.
    - `times`: How often the instruction was executed for these variables.
    """

    method: str
    targets: Sequence[Any]
    sources: Sequence[Any]
    results: Sequence[Any]
    weighted: bool
    tape: Any
    time: int
    code: CodeType
    offset: int
    line: int | None
    times: int


Where = Callable[[], tuple[int | None, int, int, int]]
"""Returns the position of the operation that is being recorded, as a tuple in the order of `Site`."""

TOP = Call()
"""The top level of a cell."""


class Origins(NamedTuple):
    """The positions, the orders of differentiation and the seeds of an observer's records.

    - `sites`: For each record, the position in the program that recorded it, as a plain tuple in the order of `Site`.
    - `calls`: The calls of user functions and layers in which operations were recorded; the first is the top level.
    - `sweeps`: Sequence of (int, tuple of int). For each reverse sweep, the number of records before it, and the ids of
      its targets.
    - `steps`: The training steps: calls by which the program took gradients of Variables, oldest first.
    - `orders`: For each record, 0 if your code computed it, or k if it belongs to a k-th derivative.
    - `order_of`: The order of results by id, without results of order 0.
    - `seeds`: Sequence of (array, int). The initial gradients of derivatives, with the ids of the targets.
    """

    sites: Sequence[tuple[int | None, int, int, int]] = ()
    orders: Sequence[int] = ()
    order_of: Mapping[int, int] = {}
    seeds: Sequence[tuple[Any, int]] = ()
    calls: Sequence[Call] = (TOP,)
    sweeps: Sequence[tuple[int, tuple[int, ...]]] = ()
    steps: Sequence[GradientStep] = ()

    @property
    def lines(self) -> Sequence[int | None]:
        """The line of the cell that recorded each operation."""
        return [site[0] for site in self.sites]

    def layer_around(self, call: int) -> str:
        """Return the path of the innermost layer around a call, given by its index in `calls`, or ''."""
        while call:
            _, _, site, scope = self.calls[call]
            if scope is not None:
                return scope.name
            call = site.call
        return ""


def nowhere() -> tuple[int | None, int, int, int]:
    """Return the position of an operation outside of any cell."""
    return Site()


class Observer(Tape):
    """A persistent tape that keeps all values, the position of every record, and the order of differentiation.

    - `where`: Called at each operation; returns its position in the program, in the order of `Site`.
    - `calls`: The calls to which positions refer; it may grow while the observer records.
    - `watch_accessed_variables`: Watch every trainable `Variable` at its first read.
    """

    def __init__(
        self,
        where: Where = nowhere,
        watch_accessed_variables: bool = True,
        calls: Sequence[Call] = (TOP,),
    ) -> None:
        self._where = where
        self._calls = calls
        self._sites: list[tuple[int | None, int, int, int]] = []
        self._orders: list[int] = []
        self._seeds: list[tuple[Any, int]] = []
        self._sweeps: list[tuple[int, tuple[int, ...]]] = []
        self._depths = [0]
        self._order_of: dict[int, int] = {}
        self._steps = GradientSteps()
        self._gradient_calls: dict[Any, GradientCall] = {}
        super().__init__(True, watch_accessed_variables)
        self._keeps = self._notes_scopes = True
        self._warned = True

    def _clear(self) -> None:
        self._sites.clear()
        self._orders.clear()
        self._seeds.clear()
        self._sweeps.clear()
        self._order_of.clear()
        self._steps.clear()
        super()._clear()

    def _taker(self) -> Callable[[Any], None]:
        return _storing(
            self._records, self._sites, self._orders, self._depths, self._order_of, self._where
        )

    def origins(self) -> Origins:
        """Return the origins of all records so far."""
        return Origins(
            tuple(self._sites),
            tuple(self._orders),
            dict(self._order_of),
            tuple(self._seeds),
            tuple(self._calls),
            tuple(self._sweeps),
            tuple(self._steps.steps),
        )

    def extent(self) -> tuple[int, ...]:
        """Return the numbers of records, events, times and tracked values, which grow with the contents."""
        return len(self._records), len(self._events), len(self._times), len(self._tracked)

    def tracks(self, value: Any) -> bool:
        """Return True for a tensor that this tape tracks: watched, or computed from watched values."""
        return isinstance(value, Traced) and value._id in self._tracked

    def watches(self, value: Traced) -> bool:
        """Return True if this tape watches a tensor."""
        return value._id in self._leaves

    def order_of(self, value: Traced) -> int:
        """Return the order of the derivative that a tensor belongs to, or 0 if your code computed the tensor."""
        return self._order_of.get(value._id, 0)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing inside this block, without recording a pause."""
        if not self._recording:
            yield
            return
        self._stop()
        try:
            yield
        finally:
            self._start()

    def copy(self, operations: int) -> Observer:
        """Return a new observer with the first `operations` records of this observer."""
        other = Observer(self._where, self._watch_accessed_variables, self._calls)
        other._records += self._records[:operations]
        other._sites += self._sites[:operations]
        other._orders += self._orders[:operations]
        other._seeds += self._seeds
        other._sweeps += [sweep for sweep in self._sweeps if sweep[0] < operations]
        other._order_of |= self._order_of
        other._tracked |= self._tracked
        other._leaves |= self._leaves
        other._variables |= self._variables
        other._events += self._events
        other._times += self._times
        other._entered = other._usable = True
        return other

    def fork(self) -> Tape:
        """Return a separate tape with the records so far."""
        return tape_of(contents_of(self))

    def _sweep_begins(self, targets: Mapping[int, Any]) -> None:
        super()._sweep_begins(targets)
        # A rule that computes gradients, such as that of recompute_grad, belongs to the derivative that applies it.
        order = self._depths[-1] or 1 + max((self._order_of.get(i, 0) for i in targets), default=0)
        self._depths.append(order)
        self._notes_scopes = False
        self._sweeps.append((len(self._records), tuple(targets)))
        self._seeds += [(seed._value, i) for i, seed in targets.items()]

    def _sweep_ends(self) -> None:
        super()._sweep_ends()
        self._depths.pop()
        self._notes_scopes = not self._depths[-1]

    def _gradient_taken(
        self,
        tape: Any,
        method: str,
        targets: Sequence[Any],
        sources: Sequence[Any],
        results: Sequence[Any],
        weighted: bool,
    ) -> None:
        if method == "gradient" and not weighted:
            self._steps.add(targets, sources, results, self._where()[0], len(self._records))
        frame = sys._getframe(3)  # the program's frame; two methods of the tape are in between
        code, offset = frame.f_code, frame.f_lasti
        if origin_of(code.co_filename) != "":
            return
        # Calls in a loop have the same instruction and variables; only the last is kept, with a
        # count.
        key = code, offset, tuple(x._id for x in sources if isinstance(x, Variable))
        before = self._gradient_calls.pop(key, None)
        self._gradient_calls[key] = GradientCall(
            method,
            tuple(targets),
            tuple(sources),
            tuple(results),
            weighted,
            tape if any(x is None for x in results) else None,
            tick(),
            code,
            offset,
            self._where()[0],
            1 + (before.times if before else 0),
        )

    def gradient_calls(self) -> Sequence[GradientCall]:
        """Return the calls by which the program computed gradients, the latest last."""
        return tuple(self._gradient_calls.values())


def _storing(
    records: list[Any],
    sites: list[tuple[int | None, int, int, int]],
    orders: list[int],
    depths: list[int],
    order_of: dict[int, int],
    where: Where,
) -> Callable[[Any], None]:
    """Return a function that stores a record with its position and order; it refers to the lists, not to the tape."""

    def append(record: Any) -> None:
        order = depths[-1]
        records.append(record)
        sites.append(where())
        orders.append(order)
        if order:
            number = record[-1]
            order_of.update((i, order) for i in (number if type(number) is tuple else (number,)))

    return append


class ObservedTape(Tape):
    """A tape with an observer, which records the same operations.

    The observer keeps its records when this tape computes a gradient. So showing a report never consumes the tape,
    and a gradient never empties the report.
    """

    def __init__(
        self, observer: Observer, persistent: bool, watch_accessed_variables: bool
    ) -> None:
        super().__init__(persistent, watch_accessed_variables)
        self.observer = observer
        self._warned = True

    def track(self, x: Traced) -> None:
        """Watch a tensor, also while this tape isn't recording."""
        self._track(x)

    def _track(self, x: Traced) -> None:
        super()._track(x)
        self.observer._track(x)
        if isinstance(x, Variable):
            self._variables.setdefault(x._id, x)
            self.observer._variables.setdefault(x._id, x)

    def reset(self) -> None:
        """Drop all records and watched values; recording continues."""
        super().reset()
        if self.observer._recording:
            self.observer.reset()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside this block; results computed in it are constants for this tape."""
        observer = self.observer
        stopped = observer.stop_recording() if observer._recording else nullcontext()
        with super().stop_recording(), stopped:
            yield

    def _differentiate(self, run: Sweep, ids: set[int], *of: Any) -> Gradients:
        if self._persistent:
            return super()._differentiate(run, ids, *of)
        with self.observer.paused():
            return super()._differentiate(run, ids, *of)
