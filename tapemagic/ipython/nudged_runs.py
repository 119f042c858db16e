"""Run a %%tape cell again with nudged inputs, by which --check finds the parts that a gradient lacks."""

from __future__ import annotations

import dis
import gc
import logging
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

import numpy as np
from IPython.core.getipython import get_ipython

from tapemagic.engine.events import EVALUATED, is_generated, origin_of
from tapemagic.engine.recording import time_of
from tapemagic.engine.tape.observer import GradientCall
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Traced, id_of, plain, put_value, unwrap
from tapemagic.engine.tensor.variable import Variable, reset
from tapemagic.explain.formatting import clipped, printable
from tapemagic.explain.snapshot import Named
from tapemagic.ipython.failure import read_failure
from tapemagic.ipython.first_use import assigns_before_use
from tapemagic.ipython.not_repeated import NotRepeatedError, nothing_twice, unrepeatable
from tapemagic.ipython.object_state import MISSING
from tapemagic.ipython.plotting import isolated_figures
from tapemagic.ipython.runcell import Cell
from tapemagic.ipython.session import Session
from tapemagic.ipython.starting_state import LIMITS, CellStart, Contents, Limits, bind, changed
from tapemagic.ipython.watchable import is_number
from tapemagic.ipython.what_if import captured
from tapemagic.report.request import RerunError

SECONDS = 20.0
"""The time after which no further run of a cell begins, and a run ends."""
MIN_RUNS = 8
"""The number of runs for the check of one entry."""
MAX_STEPS = 100_000
"""The number of steps of a run that are compared with those of another."""
KEPT = Limits(2_000, 2**24)
"""The limits for the state of a cell that wasn't asked to be checked, but may be, by a button."""
MAX_MESSAGE = 120

TOO_LARGE = "its data are too large to be copied"
TOO_LARGE_TO_KEEP = "its data are too large to be kept for that: write %%tape --check"
TOO_LONG = "its runs would take too long"
SLIDERS = "it has sliders; leave out --what-if"
AWAITS = "it awaits, and so runs only once; await in a cell before it"

Choice = Callable[[Session, Any], Sequence[Named]]
Place = tuple[str, Any]
"""The place where a source gets its value.

It is ``("object", id(x))`` for a tensor of an earlier cell, ``("initial", name)`` for a number of one,
``("bound", (name, k))`` for the k-th tensor that the cell binds to a name, and ``("made", k)`` for the k-th Variable
that it makes and reads.
"""


@dataclass(frozen=True)
class Run:
    """A run of the cell.

    - `found`: Its values by the ids that they have in the ordinary run.
    - `starts`: The sources as the run began to use them, before they were nudged, by the same ids.
    """

    session: Session
    found: Mapping[int, Any]
    starts: Mapping[int, Any]

    def find(self, x: Any) -> Any:
        """Return the value in this run for a tensor of the ordinary run."""
        if id_of(x) not in self.found:
            raise RerunError("another run has no such value")
        return self.found[id_of(x)]

    def start(self, x: Any) -> Any:
        """Return the value with which this run began to use a source, before it was nudged."""
        if id_of(x) not in self.starts:
            raise RerunError("another run does not use it")
        return unwrap(self.starts[id_of(x)])

    def tape(self) -> Tape:
        """Return a tape with the recording of this run."""
        return self.session.recording()


class NudgedRuns:
    """The runs of a cell for a check; created before its ordinary run.

    - `begin`: Makes a session for a run of the cell.
    - `limits`: How large a state is kept for these runs.
    """

    def __init__(
        self,
        cell: Cell,
        watch: Sequence[str],
        begin: Callable[[], Session],
        tape_name: str,
        limits: Limits,
    ) -> None:
        self._cell = cell
        self._begin = begin
        namespace = cell.namespace
        # Without the tape, each run makes its own; that of the cell before would keep its recording alive.
        self._names = {*cell.read, *cell.assigned, *watch} - {tape_name}
        self._start = CellStart(namespace, self._used(), limits)
        # Other cells may bind these names before a button asks for a check.
        self._given = {name: namespace.get(name, MISSING) for name in self._names}
        self._tensors = {id(x): x for x in namespace.copy().values() if isinstance(x, Traced)}
        # Reports compute with neither NumPy's warnings nor the garbage collector of the notebook.
        self._errors, self._collects = np.geterr(), gc.isenabled()
        self._objects: dict[int, Any] = {}
        self._path: _Path | None = None
        self._after: Contents | None = None
        self._deadline = 0.0
        self._left = SECONDS
        self._problem: str | None = None
        if not self._start.contents.is_complete:
            self._problem = TOO_LARGE if limits is LIMITS else TOO_LARGE_TO_KEEP
            # Nothing is kept that no run can use.
            del self._start, self._given
            self._tensors = {}

    def _used(self) -> set[str]:
        """The names whose values the cell may use, without those that it surely assigns first, as in its second run."""
        held = {name: self._cell.namespace.get(name) for name in self._cell.assigned}
        objects = (x for x, value in held.items() if not is_number(value) and value is not None)
        source = self._cell.source
        return self._names - {name for name in objects if assigns_before_use(source, name)}

    @property
    def problem(self) -> str:
        """The reason why the cell isn't run again, or ''."""
        # Found when it is asked for: few reports are checked.
        if self._problem is None:
            self._problem = unrepeatable(self._start.contents.objects)
        return self._problem

    def refuse(self, problem: str) -> None:
        """Say why the cell isn't run again."""
        self._problem = problem

    def begin_check(
        self,
        session: Session,
        targets: Sequence[Named],
        sources: Sequence[Named],
        choice: Choice,
    ) -> None:
        """Prepare the runs for a report on the ordinary run, with its targets and sources."""
        if self._problem:
            return
        self._start.ran(but=session.tape_name)
        self._targets, self._sources = targets, sources
        # Not the session itself, which would keep the whole recording alive until the report is closed.
        self._began, self._initial, self._bindings = (
            session.began,
            session.initial,
            session.bindings,
        )
        self._first_reads = session.observer.first_reads()
        self._choice = choice
        self._calls: Sequence[GradientCall] = session.observer.gradient_calls()
        # The others would be kept alive for nothing.
        self._tensors = {id(x): x for _, x in sources if id(x) in self._tensors}

    @cached_property
    def _places(self) -> dict[int, Place]:
        """The places of the sources, by id."""
        found = ((id_of(x), self._place(x)) for _, x in self._sources)
        return {i: place for i, place in found if place}

    def _place(self, x: Any) -> Place | None:
        """Return where a source gets its value, or None if no run of the cell can change it."""
        if isinstance(x, Variable):
            if time_of(id_of(x)) <= self._began:
                return self._older(x)
        elif id(x) in self._tensors:
            return self._older(x)
        for name, value in self._initial.items():
            if value is x:
                return "initial", name
        made = [v for v in self._first_reads if id_of(v) > self._began]
        for name, bindings in self._bindings.items():
            lines = (i for i, line in bindings if line)
            for count, i in enumerate(lines, 1):
                if i == id_of(x):
                    return "bound", (name, count)
        numbers = (k for k, variable in enumerate(made, 1) if variable is x)
        return next((("made", k) for k in numbers), None)

    def _older(self, x: Any) -> Place:
        """Return the place of a source that an earlier cell made, which is kept."""
        self._objects[id(x)] = x
        return "object", id(x)

    def can_nudge(self, x: Any) -> bool:
        """Return True if a run can have another value for a source."""
        return id_of(x) in self._places

    @contextmanager
    def isolated(self) -> Iterator[None]:
        """Undo afterwards what runs of the cell change, and hide what they display."""
        namespace = self._cell.namespace
        names = namespace.copy()
        self._after = Contents(namespace, self._names, also=self._start.contents)
        collected, disabled = gc.isenabled(), logging.root.manager.disable
        try:
            with ExitStack() as stack:
                for context in (
                    captured(),
                    isolated_figures(),
                    without_pictures(),
                    np.errstate(**self._errors),
                ):
                    stack.enter_context(context)
                stack.enter_context(warnings.catch_warnings(action="ignore"))
                # A handler of logging writes to the stream that it was made with, which nothing captures.
                logging.disable(logging.CRITICAL)
                if self._collects:
                    gc.enable()
                yield
        finally:
            logging.disable(disabled)
            if not collected:
                gc.disable()
            bind(namespace, changed(names, namespace))
            self._after.restore()
            self._after = None

    def run(self, values: Mapping[int, Any]) -> Run:
        """Run the cell from its starting state, with other values for some sources, given by id; inside `isolated`.

        Raises RerunError if the cell can't be run again, stops, or takes other branches than at first.
        """
        if self.problem:
            raise RerunError(self.problem)
        started = time.perf_counter()
        first = self._path is None
        if self._left <= 0:
            raise RerunError(TOO_LONG)
        try:
            run, path = self._run(values)
        except NotRepeatedError as error:
            self.refuse(str(error))
        except RerunError as error:
            if first or str(error) == TOO_LONG:
                self.refuse(str(error))
            raise
        finally:
            self._left -= time.perf_counter() - started
        if self.problem:
            raise RerunError(self.problem)
        if self._path is None:
            self._path = path
            if MIN_RUNS * (SECONDS - self._left) > SECONDS:
                self.refuse(TOO_LONG)
                raise RerunError(TOO_LONG)
        elif line := self._path.differs_on(path):
            raise RerunError(f"nudging changes a condition on line {line}")
        return run

    def _run(self, values: Mapping[int, Any]) -> tuple[Run, _Path]:
        self._start.rewind()
        bind(self._cell.namespace, self._given)
        path = _Path(time.perf_counter() + self._left)
        met: dict[Place, Any] = {}
        starts: dict[Place, Any] = {}
        nudged = {self._places[i]: value for i, value in values.items()}

        def meet(place: Place, x: Any) -> None:
            """Note a source as the run begins to use it, and nudge it."""
            met[place], starts[place] = x, plain(x)
            if place in nudged:
                _change(x, nudged[place])

        with ExitStack() as stack:
            # A tensor of an earlier cell gets another id in each run; the report asks by that of the ordinary run.
            if self._after is not None:
                stack.callback(self._after.restore)
            for number, x in self._objects.items():
                stack.callback(_change, x, unwrap(x))
                meet(("object", number), x)
            session = self._begin()
            for place in self._places.values():
                if place[0] == "initial":
                    meet(place, session.initial[place[1]])
            _on_first_reads(session, meet)
            try:
                with nothing_twice(self._cell.namespace) as repeated, path, session:
                    result = self._cell.run(_hook(session, meet))
            except (KeyboardInterrupt, NotRepeatedError, RerunError):
                raise
            except BaseException as error:  # noqa: BLE001 -- a user cell may raise anything, SystemExit as well
                raise RerunError(_stopped(error, session)) from None
            # The cell may have caught the error.
            if repeated:
                raise NotRepeatedError(repeated[0])
            targets = dict(self._choice(session, result))
            found = self._found(session, met, targets)
        started = {i: starts[place] for i, place in self._places.items() if place in starts}
        return Run(session, found, started), path

    def _found(
        self,
        session: Session,
        met: Mapping[Place, Any],
        targets: Mapping[str, Any],
    ) -> dict[int, Any]:
        """Return the values of a run by the ids that they have in the ordinary run."""
        found: dict[int, Any] = {}
        calls = session.observer.gradient_calls()
        if len(calls) == len(self._calls):
            for call, again in zip(self._calls, calls, strict=True):
                for a, b in ((call.targets, again.targets), (call.sources, again.sources)):
                    found |= {id_of(x): y for x, y in zip(a, b, strict=False)}
        found |= {id_of(x): targets[name] for name, x in self._targets if name in targets}
        found |= {i: met[place] for i, place in self._places.items() if place in met}
        return {i: plain(x) for i, x in found.items()}


@contextmanager
def without_pictures() -> Iterator[None]:
    """Display objects as text: nobody sees what these runs display, and a picture may take a second."""
    formatter: Any = getattr(get_ipython(), "display_formatter", None)
    if formatter is None:
        yield
        return
    shows = [*formatter.formatters.values(), formatter.ipython_display_formatter]
    enabled = [(each, each.enabled) for each in shows]
    for each in shows:
        each.enabled = each is formatter.formatters.get("text/plain")
    try:
        yield
    finally:
        for each, was_enabled in enabled:
            each.enabled = was_enabled


def _hook(session: Session, meet: Callable[[Place, Any], None]) -> Callable[[str, Any, int], Any]:
    """Return a hook for assignments that calls `meet` with each tensor, its name, and which of that name it is."""
    counts: Counter[str] = Counter()

    def named(name: str, value: Any, line: int) -> Any:
        value = session.named(name, value, line)
        if isinstance(value, Traced):
            counts[name] += 1
            meet(("bound", (name, counts[name])), value)
        return value

    return named


def _on_first_reads(session: Session, meet: Callable[[Place, Any], None]) -> None:
    """Call `meet` with each Variable that a run made, before it is read for the first time."""
    # Layers make their weights where no hook of a cell sees them.
    read = set[int]()

    def note(variable: Variable) -> None:
        i = id_of(variable)
        if i > session.began and variable.trainable and i not in read:
            read.add(i)
            meet(("made", len(read)), variable)

    session.observer.call_at_reads(note)


def _change(x: Any, value: Any) -> None:
    """Give a tensor or Variable another value, without an event on tapes."""
    if isinstance(x, Variable):
        reset(x, value)
    else:
        put_value(x, value)


def _stopped(error: BaseException, session: Session) -> str:
    """Say that the cell stops, with the error and its line."""
    failure = read_failure(error, session)
    words = clipped(f"{failure.error}: {printable(failure.message)}".rstrip(": ."), MAX_MESSAGE)
    return f"it stops with {words}" + (f" (line {failure.line})" if failure.line else "")


class _Path:
    """The steps that a run takes through user code, by which two runs with different branches are told apart.

    - `deadline`: The time at which the run ends.
    """

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._steps: list[tuple[CodeType, int, int]] = []
        self._count = 0
        # By identity, since the hash of a code takes long; the codes are kept alive for that.
        self._branches: dict[int, tuple[CodeType, frozenset[int]]] = {}

    def __enter__(self) -> None:
        # No other hook sees conditions before Python 3.12. A debugger sees nothing of these runs.
        self._outer = sys.gettrace()
        sys.settrace(self._called)

    def __exit__(self, *_error: object) -> None:
        sys.settrace(self._outer)

    def _called(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        code = frame.f_code
        # Named tuples are made by a lambda that Python compiles from text.
        is_text = code.co_filename == EVALUATED and code.co_name == "<lambda>"
        if is_text or origin_of(code.co_filename) != "" or is_generated(code):
            return None
        if id(code) not in self._branches:
            self._branches[id(code)] = code, _branches(code)
        if self._branches[id(code)][1]:
            frame.f_trace_opcodes = True
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, _arg: Any) -> Any:
        at = frame.f_lasti
        if event == "line" or (event == "opcode" and at in self._branches[id(frame.f_code)][1]):
            self._count += 1
            if self._count <= MAX_STEPS:
                self._steps.append((frame.f_code, at, frame.f_lineno))
            if not self._count % 256 and time.perf_counter() > self._deadline:
                raise RerunError(TOO_LONG)
        return self._stepped

    def differs_on(self, other: _Path) -> int:
        """Return the line after which another run went a different way, or 0."""
        line = 0
        for (code, at, here), (code_, at_, _) in zip(self._steps, other._steps, strict=False):
            # A cell may make the same code anew, as exec and dataclasses do.
            if at != at_ or (code is not code_ and code != code_):
                return line or here
            line = here
        return line if self._count != other._count else 0


def _branches(code: CodeType) -> frozenset[int]:
    """Return the instructions behind the conditions of a code whose branches are on the condition's own line.

    Other branches are seen by their lines, which takes less time.
    """
    instructions = list(dis.get_instructions(code))
    lines: dict[int, int | None] = {}
    line = None
    for instruction in instructions:
        line = instruction.positions.lineno if instruction.positions else line
        lines[instruction.offset] = line
    found: set[int] = set()
    for instruction, following in pairwise(instructions):
        if "JUMP" in instruction.opname and "_IF_" in instruction.opname:
            ends = {following.offset, instruction.argval}
            if any(lines.get(end) == lines[instruction.offset] for end in ends):
                found |= ends
    return frozenset(found)
