"""Tapes of a %%tape cell: your tape, and an observer next to it that keeps every record."""

from __future__ import annotations

import math
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from threading import Lock
from types import CodeType, TracebackType
from typing import Any, NamedTuple, Self

from tapemagic.engine.events import Kind, origin_of
from tapemagic.engine.recording import outputs_of, tick
from tapemagic.engine.scopes import Scope
from tapemagic.engine.tape.gradient_steps import GradientStep, GradientSteps
from tapemagic.engine.tape.sweep import Gradients
from tapemagic.engine.tape.tape import Sweep, Tape
from tapemagic.engine.tape.thinning import COLLECT_AFTER_BYTES, Thinning
from tapemagic.engine.tape.turns import Turn
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
    - `sweeps`: Sequence of (int, tuple of int). For each reverse sweep, the time at which it began, and the ids of its
      targets.
    - `steps`: The training steps: calls by which the program took gradients of Variables, oldest first.
    - `orders`: For each record, 0 if your code computed it, or k if it belongs to a k-th derivative.
    - `order_of`: The order of results by id, without results of order 0.
    - `omitted`: The number of records that the observer has let go.
    - `turns`: For each record, the innermost turn of a loop that it belongs to, or None; empty if all are kept.
    - `omitted_runs`: How often instructions ran whose records are gone, by the line of the cell and the offset.
    - `seeds`: Sequence of (array, int). The initial gradients of derivatives, with the ids of the targets.
    """

    sites: Sequence[tuple[int | None, int, int, int]] = ()
    orders: Sequence[int] = ()
    order_of: Mapping[int, int] = {}
    seeds: Sequence[tuple[Any, int]] = ()
    calls: Sequence[Call] = (TOP,)
    sweeps: Sequence[tuple[int, tuple[int, ...]]] = ()
    steps: Sequence[GradientStep] = ()
    omitted: int = 0
    turns: Sequence[Turn | None] = ()
    omitted_runs: Mapping[tuple[int | None, int], int] = {}

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


Thinned = tuple[int, Sequence[Turn | None], Mapping[tuple[int | None, int], int]]
"""The result of thinning: `omitted`, `turns` and `omitted_runs` of `Origins`."""


def nowhere() -> tuple[int | None, int, int, int]:
    """Return the position of an operation outside of any cell."""
    return Site()


class Observer(Tape):
    """A persistent tape that keeps all values, the position of every record, and the order of differentiation.

    - `where`: Called at each operation; returns its position in the program, in the order of `Site`.
    - `calls`: The calls to which positions refer; it may grow while the observer records.
    - `watch_accessed_variables`: Watch every trainable `Variable` at its first read.
    """

    _notes_sweeps = False

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
        self._orders_now = [0]
        self._sweep_sites: list[tuple[int | None, int, int, int]] = []
        self._spans = Spans()
        self._steps = GradientSteps()
        self._gradient_calls: dict[Any, GradientCall] = {}
        self._thinning: Thinning | None = None
        self._is_due = False
        self._collecting = Lock()
        self._omitted: Thinned = (0, (), {})
        self.cut_records = 0
        super().__init__(True, watch_accessed_variables)
        self._keeps = self._notes_scopes = True
        self._warned = True
        # Only in cells do values replace Python numbers: see `python_numbers`.
        self._python_numbers = {}

    def _clear(self) -> None:
        self._sites.clear()
        self._orders.clear()
        self._seeds.clear()
        self._sweeps.clear()
        # The spans stay: ids are never used again, and a custom gradient may reset the tape within a sweep.
        self._steps.clear()
        super()._clear()
        if self._thinning is not None:
            self._thinning = Thinning(self, self._thinning.budget)

    def _taker(self) -> Callable[[Any], None]:
        return _storing(self._records, self._sites, self._where)

    def _complete(self) -> None:
        """Add the sites of the records that the current sweep has made, and the orders of those since the last call.

        All records of a sweep have the site of the call that began it, so nothing is looked up for each of them.
        """
        missing = len(self._records) - len(self._sites)
        if missing:
            self._sites += [self._sweep_sites[-1] if self._sweep_sites else Site()] * missing
        self._orders += self._orders_now[-1:] * (len(self._records) - len(self._orders))

    def origins(self) -> Origins:
        """Return the origins of all records so far."""
        self._complete()
        order_of = {
            i: order
            for record, order in zip(self._records, self._orders, strict=True)
            if order
            for i in outputs_of(record)
        }
        return Origins(
            tuple(self._sites),
            tuple(self._orders),
            order_of,
            tuple(self._seeds),
            tuple(self._calls),
            tuple(self._sweeps),
            tuple(self._steps.steps),
            *self._thinned(),
        )

    def _thinned(self) -> Thinned:
        """Return the number of records that are gone, the turns of those that are left, and the runs that are gone."""
        thinning = self._thinning
        if thinning is None or not thinning.collections:
            return self._omitted
        thinning.place_new()
        return thinning.omitted, tuple(thinning.turns), dict(thinning.omitted_runs)

    def extent(self) -> tuple[int, ...]:
        """Return the numbers of records, events, times and tracked values, which grow with the contents."""
        collections = self._thinning.collections if self._thinning is not None else 0
        sizes = len(self._records), len(self._events), len(self._times), len(self._tracked)
        return *sizes, collections

    def known_ids(self) -> set[int]:
        """Return the ids of all values that this tape tracks, or that an event is about."""
        return self._tracked.keys() | {event.number for event in self._events}

    def tracks(self, value: Any) -> bool:
        """Return True for a tensor that this tape tracks: watched, or computed from watched values."""
        return isinstance(value, Traced) and value._id in self._tracked

    def watches(self, value: Traced) -> bool:
        """Return True if this tape watches a tensor."""
        return value._id in self._leaves

    def order_of(self, value: Traced) -> int:
        """Return the order of the derivative that a tensor belongs to, or 0 if your code computed the tensor."""
        return self._spans.order_at(value._id)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, traceback)
        # An interrupt may have come while a sweep began or ended.
        del self._orders_now[1:], self._sweep_sites[:]

    def _stop(self) -> None:
        # A rule may pause the tape in the middle of a sweep.
        self._complete()
        super()._stop()

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

    @property
    def omitted(self) -> int:
        """The number of records that are gone, because nothing alive could reach them."""
        return self._thinned()[0]

    def copy(self, operations: int) -> Observer:
        """Return a new observer with the first `operations` records of this observer."""
        self._complete()
        other = Observer(self._where, self._watch_accessed_variables, self._calls)
        other._records += self._records[:operations]
        other._sites += self._sites[:operations]
        other._orders += self._orders[:operations]
        other._seeds += self._seeds
        other._sweeps += self._sweeps
        other._spans = self._spans.copy()
        other._tracked |= self._tracked
        other._leaves |= self._leaves
        other._variables |= self._variables
        other._events += self._events
        other._times += self._times
        other._omitted = self._thinned()
        other._cut = self._cut
        other._entered = other._usable = True
        return other

    def thin(self, budget: float = math.inf) -> None:
        """Let go of what nothing alive can reach while recording.

        Beyond a budget in bytes, the oldest steps whose gradients were taken go, too.
        """
        self._thinning = Thinning(self, budget)

    def stop_thinning(self) -> None:
        """Let go of what nothing alive can reach for the last time: later derivatives are kept whole."""
        thinning = self._thinning
        if thinning is None:
            return
        # A small recording is kept whole, so that all its iterations can be looked at. Whether a large one was
        # collected before depends on the ids of its records, and so on earlier cells.
        if thinning.collections or thinning.is_due():
            thinning.collect(everything=True)
            self._omitted = self._thinned()
            self.cut_records = thinning.cut
        self._thinning = None

    def let_go(self) -> None:
        """Let go of the recording, because the memory is full."""
        thinning = self._thinning
        if thinning is not None:
            thinning.let_go()
            self._omitted = thinning.omitted, (), thinning.omitted_runs
            self.cut_records = thinning.cut
            self._thinning = None

    def _add_bytes(self, size: int) -> None:
        self._unsorted += size
        if self._unsorted > COLLECT_AFTER_BYTES and self._thinning is not None:
            self._collect()

    def _prune(self) -> None:
        if self._thinning is not None and self._thinning.is_due():
            self._collect()

    def _collect(self) -> None:
        # A sweep refers to the ids of gradients that are still to come.
        self._is_due = len(self._orders_now) > 1
        # Another thread of the cell may be collecting.
        if self._is_due or self._thinning is None or not self._collecting.acquire(blocking=False):
            return
        try:
            self._unsorted = 0
            self._thinning.collect()
        finally:
            self._collecting.release()

    def _sweep_begins(self, targets: Mapping[int, Any]) -> None:
        super()._sweep_begins(targets)
        self._complete()
        now = tick()
        # A rule that computes gradients, such as that of recompute_grad, belongs to the derivative that applies it.
        order = self._orders_now[-1]
        if not order:
            order = 1 + max(map(self._spans.order_at, targets), default=0)
            self._spans.begin(now, order)
        self._orders_now.append(order)
        self._sweep_sites.append(self._where())
        self._append = self._records.append
        self._notes_scopes = False
        # New int objects: the ids themselves would keep the records of the targets.
        ids = [i + 0 for i in targets]
        self._sweeps.append((now, tuple(ids)))
        self._seeds += [(seed._value, i) for i, seed in zip(ids, targets.values(), strict=True)]

    def _sweep_ends(self) -> None:
        super()._sweep_ends()
        self._complete()
        self._orders_now.pop()
        self._sweep_sites.pop()
        # A sweep in a sweep was begun by a rule of yours.
        if self._recording:
            self._append = self._take
        if len(self._orders_now) > 1:
            return
        self._notes_scopes = True
        self._spans.end(tick())
        if self._thinning is not None:
            self._thinning.sweep_ended()
            if self._is_due:
                self._collect()

    def _rule_begins(self) -> None:
        self._complete()
        if self._recording:
            self._append = self._take

    def _rule_ends(self) -> None:
        self._complete()
        if self._recording and self._sweep_sites:
            self._append = self._records.append

    def _gradient_taken(
        self,
        tape: Any,
        method: str,
        targets: Sequence[Any],
        sources: Sequence[Any],
        results: Sequence[Any],
        weighted: bool,
    ) -> None:
        line = self._where()[0]
        # The gradient of a gradient isn't a step of training.
        order_at = self._spans.order_at
        if method == "gradient" and not weighted and not any(order_at(x._id) for x in targets):
            self._steps.add(targets, sources, results, line)
        frame = sys._getframe(3)  # the program's frame; two methods of the tape are in between
        code, offset = frame.f_code, frame.f_lasti
        if origin_of(code.co_filename) != "":
            return
        # Calls in a loop have the same instruction and variables; only the last is kept, with a
        # count.
        # By the identity of the code, because hashing code takes long; the call keeps it alive.
        key = id(code), offset, *[x._id for x in sources if isinstance(x, Variable)]
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
            line,
            1 + (before.times if before else 0),
        )

    def call_at_reads(self, call: Callable[[Any], None]) -> None:
        """Call a function with each Variable that is read, just before it is read."""
        watch = self._variable_read

        def variable_read(variable: Any) -> None:
            watch(variable)
            call(variable)

        # On this observer, so that no other pays for it at each read.
        self._variable_read = variable_read  # type: ignore[method-assign]

    def first_reads(self) -> Sequence[Any]:
        """Return the watched variables in the order in which they were first read."""
        return tuple(self._variables.values())

    def gradient_calls(self) -> Sequence[GradientCall]:
        """Return the calls by which the program computed gradients, the latest last."""
        return tuple(self._gradient_calls.values())


def _storing(
    records: list[Any], sites: list[tuple[int | None, int, int, int]], where: Where
) -> Callable[[Any], None]:
    """Return a function that stores a record with its position; it refers to the lists, not to the tape."""

    def append(record: Any) -> None:
        records.append(record)
        sites.append(where())

    return append


class Spans:
    """The times in which a program computed derivatives, and their orders.

    A result belongs to the derivative during which it was computed, and its id is a time. So the orders of all results
    need no table of results, which would grow with every record.
    """

    def __init__(self) -> None:
        self._starts, self._ends, self._orders = array("q"), array("q"), array("l")

    def copy(self) -> Spans:
        """Return a copy."""
        other = Spans()
        other._starts, other._ends = self._starts[:], self._ends[:]
        other._orders = self._orders[:]
        return other

    def begin(self, time: int, order: int) -> None:
        """Note that the program begins to compute a derivative of an order."""
        self._starts.append(time)
        self._ends.append(sys.maxsize)
        self._orders.append(order)

    def end(self, time: int) -> None:
        """Note that the derivative that was begun last is complete."""
        self._ends[-1] = time

    def order_at(self, i: int) -> int:
        """Return the order of the result with an id, or 0 if it is part of no derivative."""
        # Most results are newer than the last derivative, or part of it.
        starts = self._starts
        k = len(starts) - 1 if starts and i > starts[-1] else bisect_right(starts, i) - 1
        return self._orders[k] if k >= 0 and i < self._ends[k] else 0


class ObservedTape(Tape):
    """A tape with an observer; as long as both record the same, it is a view of what the observer records.

    The observer keeps its records when this tape computes a gradient. So showing a report never consumes the tape,
    and a gradient never empties the report.
    """

    def __init__(
        self, observer: Observer, persistent: bool, watch_accessed_variables: bool
    ) -> None:
        self._is_view = False
        super().__init__(persistent, watch_accessed_variables)
        self.observer = observer
        self._warned = True

    def __enter__(self) -> Self:
        observer = self.observer
        if not self._entered and observer._recording and not observer._records:
            self._share()
        elif self._is_view and not self._recording and not observer._recording:
            self.part()
        return super().__enter__()

    def _share(self) -> None:
        """Become a view of what the observer records."""
        observer = self.observer
        self._is_view = True
        self._records, self._tracked = observer._records, observer._tracked
        self._leaves, self._variables = observer._leaves, observer._variables
        self._events = observer._events

    def part(self) -> None:
        """Go on separately, with copies of what the observer has recorded so far."""
        if not self._is_view:
            return
        self._is_view = False
        self._rewatched, self._cut = self.observer._rewatched, self.observer._cut
        self._records, self._tracked = self._records.copy(), self._tracked.copy()
        self._leaves, self._variables = self._leaves.copy(), self._variables.copy()
        self._events = self._events.copy()
        self._take = self._taker()

    def _start(self) -> None:
        if not self._is_view:
            super()._start()
            return
        self._recording = True
        self._times.append(tick())

    def _stop(self) -> None:
        if not self._is_view:
            super()._stop()
            return
        self._recording = False
        self._times.append(tick())

    def _release(self) -> None:
        # Copies, because the observer may go on.
        self.part()
        self._last_leaves = self._leaves
        super()._release()

    def _clear(self) -> None:
        super()._clear()
        self._is_view = False

    def _require_here(self, what: str) -> None:
        if not self._is_view:
            super()._require_here(what)
        elif self.observer._recording:
            self.observer._require_here(what)

    def _record_event(self, kind: Kind, i: int, what: Any) -> None:
        # The events of a view are its observer's.
        if not self._is_view:
            super()._record_event(kind, i, what)

    def track(self, x: Traced) -> None:
        """Watch a tensor, also while this tape isn't recording."""
        self._track(x)

    def _track(self, x: Traced) -> None:
        if not self._is_view:
            super()._track(x)
        self.observer._track(x)
        if isinstance(x, Variable):
            self._variables.setdefault(x._id, x)
            self.observer._variables.setdefault(x._id, x)

    def reset(self) -> None:
        """Drop all records and watched values; recording continues."""
        if self._is_view:
            self._require_recording("reset")
            self.observer.reset()
            self._share()
            return
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
        if self._is_view:
            self._rewatched, self._cut = self.observer._rewatched, self.observer._cut
        if self._persistent:
            return super()._differentiate(run, ids, *of)
        if self._recording:
            self._require_here("a gradient")
        with self.observer.paused():
            return super()._differentiate(run, ids, *of)
