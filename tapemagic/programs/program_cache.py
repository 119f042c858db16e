"""Programs of one function: for each signature, and for each way through it; and when to make another one."""

from __future__ import annotations

import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

from tapemagic.engine.collector import uncollected
from tapemagic.engine.events import user_line
from tapemagic.engine.tensor.variable import Variable, exchange, value_of
from tapemagic.errors import EagerWarning, FunctionError
from tapemagic.programs.call_tracing import TracedCall
from tapemagic.programs.calls import way_of_error
from tapemagic.programs.catching import errors_noted, is_unlike_own
from tapemagic.programs.changes import change_in_words
from tapemagic.programs.closure import Closure, same_closures
from tapemagic.programs.compiling import Compiled, path_of, release
from tapemagic.programs.effects import (
    DRAWS,
    clocks_in,
    is_suspect,
    may_do_more,
    observed_calls,
    shuffles,
)
from tapemagic.programs.miss import MISS, STALE, Miss
from tapemagic.programs.parameters import changed_parameter
from tapemagic.programs.program import Program
from tapemagic.programs.randomness import RandomState
from tapemagic.programs.reading import read_on
from tapemagic.programs.reasons import (
    DRAWN_BY_LAYER,
    PROFILED,
    a_or_an,
    in_words,
    line_of,
    with_place,
)
from tapemagic.programs.signature import Call, may_change, signature, without_identities
from tapemagic.programs.text.joint_source import joint_source
from tapemagic.programs.trace import Trace, is_followed, tracing
from tapemagic.programs.trace_comparison import difference

TRIES = 3
"""The number of calls that may change what the function closes over, as the first call of a model builds its layers."""

OFTEN = 100
"""The number of calls that stay eager after one guard without another look for a program."""

SMALL = 1 << 20
"""The bytes of all arrays in reach up to which they may be constants, whose numbers are compared at each call."""

_lock = threading.RLock()
"""Held by the thread that traces."""

DEFECT = "its program could not be written, which is a defect of tapemagic's: please report it"

Path = tuple[Any, ...]


class Signature:
    """The programs of calls with one signature, and whatever else is known of these.

    Attributes
    ----------
    programs : list of Compiled
        The one that held last is the first.
    pending : list of (Program, Closure, object)
        Traces that were not compared with a second one yet, and which arguments are objects in reach.
    eager_paths : list of Path
        Ways through the function that are no programs.
    tries : int
        The number of traces since the last program in which something in reach was changed.
    fixed : bool
        Whether arrays in reach are constants, since the function does something with them that is no program.
    full : bool
        Whether there are as many programs as there may be, and none of them is waited for.
    why_eager : str
        Why there is no program; empty if there is one, or may be one.
    why_ways : str
        Why some ways through the function are no programs.
    """

    def __init__(self) -> None:
        self.programs: list[Compiled] = []
        self.pending: list[tuple[Program, Closure, Any]] = []
        self.eager_paths: list[Path] = []
        self.tries = 0
        self.fixed = False
        self.full = False
        self.why_eager = ""
        self.why_ways = ""


class Programs:
    """The programs of one function, or of one method of one object.

    Attributes
    ----------
    driver : callable
        That of the program which held last.
    """

    def __init__(self, most: int, warns: bool = True) -> None:
        self.driver: Callable[..., Any] = _none
        self._served: Any = None
        self._most = most
        self._signatures: dict[Any, Signature] = {}
        self._why_all = ""
        self._why_more = ""
        self._why_now = ""
        self._changing = ""
        self._warned = False
        self.warns = warns
        self._eager_after: dict[tuple[Any, int], int] = {}

    def reset(self) -> None:
        """Forget everything."""
        self._begin_with(None)
        self._signatures = {}
        self._eager_after = {}
        self._why_all = self._why_more = self._why_now = self._changing = ""
        self._warned = False

    def serve(self, function: Any) -> None:
        """Let a `Function` call the driver of the program which held last, by its attribute ``__call__``."""
        self._served = weakref.ref(function)
        self._begin_with(None)

    def _begin_with(self, compiled: Compiled | None) -> None:
        """Let the next call begin with a program; without one, with a look for one."""
        self.driver = _none if compiled is None else compiled.driver
        served = self._served and self._served()
        if served is not None:
            function = served.python_function
            entry = _without_program if compiled is None else compiled.driver_for
            served.__call__ = entry(function, partial(self.call, function))

    def stays_eager(self, why: str) -> None:
        """Make no program of any call."""
        self._why_all = why

    def list(self) -> list[Program]:
        """All programs."""
        return [each.program for entry in [*self._signatures.values()] for each in entry.programs]

    @property
    def why_eager(self) -> str:
        """The reasons for which there are no programs, or not for all calls."""
        reasons = [self._why_all]
        for entry in [*self._signatures.values()]:
            reasons += [entry.why_eager, entry.why_ways]
        reasons += [self._why_more, self._why_now]
        return "\n".join(dict.fromkeys(filter(None, reasons)))

    def text(self, name: str) -> str:
        """A line about the programs."""
        count = len(self.list())
        found = f"{count} program{'s' * (count != 1)}"
        return f"<tapemagic.function {name}: {found}{', eager' * bool(self.why_eager)}>"

    def source(self, name: str, args: Any, kwargs: Any, as_run: bool = False) -> str:
        """The text of the programs for arguments like these; of all, if there are none."""
        entries = dict(self._signatures)
        key = signature(args, kwargs).key
        if key in entries:
            entries = {key: entries[key]}
        elif args or kwargs:
            entries = {}
        found = [(each, key[1:]) for key, entry in entries.items() for each in entry.programs]
        if found:
            return joint_source(sorted(found, key=lambda each: each[0].number), as_run)
        reasons = [self._why_all, *(x.why_eager for x in entries.values())]
        reasons += [self._why_more, self._why_now]
        why = next(filter(None, reasons), "")
        if why:
            raise FunctionError(f"{name} has no program for such arguments: {why}")
        raise FunctionError(
            f"{name} has no program for such arguments yet: call it twice with arguments of their shapes and dtypes"
        )

    def call(self, function: Any, args: Any, kwargs: Any, missed: Miss) -> Any:
        """Call the function by another program than the last one, or trace it."""
        if missed.program is not None:
            known = missed.program, missed.guard
            left = self._eager_after.get(known, 0)
            if left:
                self._eager_after[known] = left - 1
                return function(*args, **kwargs)
            other = self._other_way(missed, function, args, kwargs)
            if other.__class__ is not Miss:
                return other
            if self._stays_eager(missed.program.entry, other):
                self._eager_after[known] = OFTEN * (other is missed)
                return self._eager(function, args, kwargs)
        return self._without_program(function, args, kwargs)

    def _without_program(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call the function by any program that holds, or trace it."""
        if self._why_all:
            return self._eager(function, args, kwargs)
        call = signature(args, kwargs)
        entry = self._signatures.get(call.key) if not call.odd else None
        if entry is None:
            if call.odd:
                self._why_more = f"one of its arguments is {call.odd}"
            elif self._count() < self._most:
                entry = self._signatures.setdefault(call.key, Signature())
            else:
                self._is_full(call)
        if entry is None or entry.why_eager:
            return self._eager(function, args, kwargs)
        known, found = self._replayed(entry, function, args, kwargs, call)
        if known is None:
            return found
        if any(path[: len(known)] == known for path in entry.eager_paths if known):
            return function(*args, **kwargs)
        full = self._count() >= self._most
        if full and (entry.full or not self._is_pending(entry, known)):
            self._is_full(call)
            return self._eager(function, args, kwargs)
        return self._traced(entry, function, args, kwargs, call, full)

    def _other_way(self, missed: Miss, function: Any, args: Any, kwargs: Any) -> Any:
        """The result by a program for another way through the function; the last `Miss` if there is none."""
        if missed.error:
            return self._raising(missed, function, args, kwargs)
        tried = {missed.program}
        for each in list(missed.program.entry.programs):
            if each not in tried and each.agrees(missed.program.way_after(missed.guard)):
                tried.add(each)
                result = each.driver(*args, **kwargs)
                if result.__class__ is not Miss:
                    self._begin_with(each)
                    return result
                if result.error:
                    return self._raising(result, function, args, kwargs)
                missed = result if result.program is not None else missed
        return missed

    def _stays_eager(self, entry: Signature, missed: Miss) -> bool:
        """Whether the way that a call takes is known to be no program, or there are too many programs."""
        if entry.why_eager:
            return True
        known = missed.program.way_after(missed.guard)
        if known and any(path[: len(known)] == known for path in entry.eager_paths):
            return True
        full = self._count() >= self._most and not self._is_pending(entry, known)
        if full:
            self._is_full()
        return full

    @staticmethod
    def _is_pending(entry: Signature, known: Path) -> bool:
        return any(path_of(program)[: len(known)] == known for program, *_ in entry.pending)

    def _count(self) -> int:
        """The number of programs, and of those that wait for a second trace; dead ones are dropped."""
        count = 0
        for entry in [*self._signatures.values()]:
            if len(entry.programs) > 1 or len(self._signatures) >= self._most:
                entry.programs = [each for each in entry.programs if not each.is_dead()]
            count += len(entry.programs) + len(entry.pending)
        return count

    def _replayed(
        self, entry: Signature, function: Any, args: Any, kwargs: Any, call: Call
    ) -> tuple[Path | None, Any]:
        """The result by one of the programs; if none holds, what is known of the way through the function."""
        known: Path = ()
        now: Closure | None = None
        for each in list(entry.programs):
            if not each.agrees(known):
                continue
            result = each.driver(*args, **kwargs)
            if result is STALE:
                now = now or Closure(function, call.objects, entry.fixed)
                if not each.adopts(now):
                    continue
                result = each.driver(*args, **kwargs)
            if result.__class__ is Miss and result.error:
                return None, self._raising(result, function, args, kwargs)
            if result.__class__ is not Miss:
                self._begin_with(each)
                if entry.programs[0] is not each:
                    entry.programs = [each, *(x for x in entry.programs if x is not each)]
                return None, result
            if result.guard:
                known = each.way_after(result.guard)
        return known, None

    @staticmethod
    def _raising(missed: Miss, function: Any, args: Any, kwargs: Any) -> Any:
        """Run a function of which the program raised an error: it raises it again, or catches it and goes on."""
        call = signature(args, kwargs)
        reached = Closure(function, call.objects).objects.values()
        variables = {id(x): x for x in (*call.leaves, *reached) if isinstance(x, Variable)}
        before = [(x, value_of(x)) for x in variables.values()]
        try:
            result = function(*args, **kwargs)
        except BaseException:
            for variable, value in before:
                exchange(variable, value)
            raise
        missed.program.entry.why_ways = (
            f"it catches {a_or_an(getattr(missed.error, '__name__', 'error'))}"
        )
        return result

    def _eager(self, function: Any, args: Any, kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        self._warn(function)
        return result

    def _is_full(self, call: Call | None = None) -> None:
        """Note that there are as many programs as there may be, and what may have led to them."""
        found = f"; {self._changing}, which it reads, changes between calls" * bool(self._changing)
        instead = "give numbers that change as arrays or tensors, arrays of one shape, and what changes as an argument"
        kind = "" if call is None else self._other_object(call)
        if kind:
            found = (
                f"; an object of the class {kind} among its arguments is another one between calls"
            )
            instead = (
                "keep one object, or give its arrays and numbers as arguments, in a tuple or dict"
            )
        many = f"calls of it lead to more than {self._most} programs, which is the value of max_programs"
        self._why_more = f"{many}{found}: {instead}"

    def _other_object(self, call: Call) -> str:
        """The class of an argument that is known by its identity, and was another object at earlier calls."""
        kinds = [type(x).__name__ for x in call.objects]
        if self._changing in kinds:  # in the place of one that does not exist any more
            return self._changing
        wanted = without_identities(call.key)
        alike = sum(without_identities(key) == wanted for key in [*self._signatures])
        return kinds[0] if kinds and alike > 1 else ""

    def _warn(self, function: Any) -> None:
        """Warn once that calls stay eager."""
        if self._warned or not self.warns or not self.why_eager:
            return
        self._warned = True
        name = getattr(function, "__name__", None) or type(function).__name__
        place = user_line()
        text = f"{name} runs without a program: {self.why_eager.splitlines()[0]}"
        if place is None:
            warnings.warn(text, EagerWarning, stacklevel=2)
        else:
            warnings.warn_explicit(text, EagerWarning, place.file, place.line)

    # Traces.

    def _traced(
        self, entry: Signature, function: Any, args: Any, kwargs: Any, call: Call, full: bool
    ) -> Any:
        """Run the function, and write down what it computes."""
        with _lock:
            closure = Closure(function, call.objects, entry.fixed)
            shuffled = shuffles(closure.codes, closure.generators, call.leaves)
            why = closure.unseen or (with_place(DRAWS, line_of(shuffled)) if shuffled else "")
            hopeless = full and all(same_closures(known, closure) for _, known, _ in entry.pending)
            if not hopeless and not why:
                result = self._trace(entry, closure, function, args, kwargs, call)
        if hopeless:
            entry.full = True
            self._is_full(call)
            return self._eager(function, args, kwargs)
        if why:
            entry.why_eager = why
            entry.pending = []
            return self._eager(function, args, kwargs)
        if entry.why_eager or entry.why_ways:
            self._warn(function)
        return result

    def _trace(
        self, entry: Signature, closure: Closure, function: Any, args: Any, kwargs: Any, call: Call
    ) -> Any:
        does_more = closure.does_more or any(map(may_do_more, call.leaves))
        texts = closure.texts()
        suspect = does_more or texts or is_suspect(closure.codes.values())
        self._why_now = PROFILED if suspect and sys.getprofile() is not None else ""
        if self._why_now:
            return function(*args, **kwargs)
        before = RandomState(closure.generators, closure.path, python=does_more)
        effects: dict[str, Any] = clocks_in(closure.codes)
        observed = observed_calls(effects, texts) if suspect else nullcontext()
        trace = Trace(named=bool(entry.pending))
        one = TracedCall(trace, closure, call)
        known = one.references()
        failure: Exception | None = None
        try:
            with tracing(trace), observed, errors_noted(closure.codes) as noted:
                program, result = one.run(function, args, kwargs, noted)
        except BaseException as error:
            if not isinstance(error, Exception) or not (noted or is_unlike_own(error, trace)):
                self._clean(one, closure, known, done=False)
                raise
            failure = error
        acts = bool(effects)
        drawn = self._drawn(before, closure, trace)
        effects |= drawn
        after, changed = closure, None
        if not closure.holds():
            after = Closure(function, call.objects, entry.fixed)
            changed = same_closures(closure, after, strictly=True)
        unchanged = one.changed_nothing() and not (drawn or acts or changed)
        found = [] if failure is not None else [result]  # what is left in it is replaced there
        self._clean(one, after, known, keeps=after is closure, done=failure is None)
        is_left = failure is not None or (one.references() > known and not program.assigned)
        may_repeat = is_left and unchanged and same_arguments(call, signature(args, kwargs))
        if failure is not None:
            noted.append(way_of_error(failure.__traceback__))
            return self._failed(entry, failure, noted[0], may_repeat, function, args, kwargs)
        if may_repeat:
            found = [function(*args, **kwargs)]  # nothing can be replaced in an iterator that runs
        reason = self._reason(trace, effects, one, program, args, kwargs, call)
        if changed is not None and not acts and (not reason or entry.tries < TRIES - 1):
            entry.tries += 1
            if entry.tries >= TRIES:
                entry.why_eager = reason or change_in_words(
                    changed, closure, function, args, kwargs, call
                )
        elif trace.reasons and not entry.fixed and 0 < one.nbytes <= SMALL:
            entry.fixed = True
            entry.programs, entry.pending = [], []
        elif reason:
            self._is_eager(entry, path_of(program), reason)
        else:
            self._compare(entry, program, closure, call)
        return found[0]

    @staticmethod
    def _drawn(before: RandomState, closure: Closure, trace: Trace) -> dict[str, Any]:
        """The reason that random numbers were drawn, with its line; empty if none were."""
        drawn = before.drawn_since()
        if not drawn:
            return {}
        line = closure.site_of(drawn.split()[-1])
        if line is None and trace.drawn_on is not None:
            return {DRAWN_BY_LAYER: trace.drawn_on}
        return {f"it draws random numbers from {drawn}: give them as an argument": line}

    def _failed(
        self,
        entry: Signature,
        error: Any,
        way: Any,
        may_repeat: bool,
        function: Any,
        args: Any,
        kwargs: Any,
    ) -> Any:
        """The result of a call whose trace raised an error, if it can be made once more; it stays eager from then on.

        An error that the function raises without a trace, too, is its own, and says nothing about programs.
        """
        result = None
        if may_repeat:
            result = function(*args, **kwargs)
        how, site = way
        reason = in_words(how, line_of(site))
        self._is_eager(entry, (), reason)
        if not may_repeat:
            error.add_note(
                f"tapemagic.function: {reason}. Some of it is done already, so that it is not called again; the next "
                "call runs without a trace."
            )
            raise error
        return result

    @staticmethod
    def _clean(
        one: TracedCall, after: Closure, known: float, keeps: bool = True, done: bool = True
    ) -> None:
        """Leave nothing of a trace in the user's data; `known` is the number of references to it before the call."""
        one.clean(after)
        if not keeps:
            after.forget()
        one.put_values(known, further=done)

    @staticmethod
    def _reason(
        trace: Any, effects: Any, one: Any, program: Program, args: Any, kwargs: Any, call: Call
    ) -> str:
        """The reason why a trace is no program; empty if it is one."""
        if effects:
            why, site = next(iter(effects.items()))
            return with_place(why, line_of(site))
        if trace.reasons:
            how, site = trace.reasons[0]
            return in_words(how, line_of(site))
        if may_change(call) and signature(args, kwargs).key != call.key:
            name = changed_parameter(one.function, args, kwargs, call.structure)
            reason = f"it changes {name or 'its arguments'}, which it is given: return a new one"
            return with_place(reason, line_of(read_on(one.function, name)))
        variable = one.out_of_reach(program)
        if variable is not None:
            return f"it reads the Variable {variable.name!r} in a way that cannot be seen: give it as an argument"
        return ""

    @staticmethod
    def _is_eager(entry: Signature, path: Path, reason: str) -> None:
        """Note that a way through the function is no program; without guards, that there is no other way."""
        entry.eager_paths.append(path)
        entry.pending = [x for x in entry.pending if path_of(x[0]) != path]
        if not entry.programs or len(entry.eager_paths) > TRIES:
            entry.why_eager = reason
        else:
            entry.why_ways = reason

    def _compare(self, entry: Signature, program: Program, closure: Closure, call: Call) -> None:
        """Make a program of a trace that is the same as one before; wait for a second one if there is none."""
        path = path_of(program)
        known = [closure.data.get(id(x)) for x in call.leaves]
        for k, (other, earlier, as_known) in enumerate(entry.pending):
            if path_of(other) != path or known != as_known:
                continue
            changed = same_closures(earlier, closure)
            if changed is not None:
                self._changing = changed
                continue
            found = difference(other, program)
            del entry.pending[k]
            if found is None:
                try:
                    with uncollected():
                        compiled = Compiled(program, call, closure, entry)
                except Exception as error:  # noqa: BLE001 (the call has its result already)
                    what = f"{type(error).__name__}: {error}"
                    self._is_eager(entry, path, f"{DEFECT} ({what})")
                    return
                entry.programs = [compiled, *entry.programs]
                entry.tries = 0
                self._eager_after = {}
                self._begin_with(compiled)
            else:
                self._is_eager(entry, path, with_place(found.reason, line_of(found.site)))
            return
        closure.forget()
        release(program)
        entry.pending.append((program, closure, known))


def same_arguments(a: Call, b: Call) -> bool:
    """Whether the arguments of a call are what they were before, down to the objects in lists and dicts."""
    return a.key == b.key and all(x is y for x, y in zip(a.leaves, b.leaves, strict=True))


def _none(*args: Any, **kwargs: Any) -> Miss:  # noqa: ARG001 (as of a driver)
    return MISS


def _without_program(function: Any, miss: Any) -> Callable[..., Any]:
    """The driver of a function that has no program yet."""

    def driver(*args: Any, **kwargs: Any) -> Any:
        if is_followed():
            return function(*args, **kwargs)
        return miss(args, kwargs, MISS)

    return driver
