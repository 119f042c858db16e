"""Store the programs of a function by signature and branches, and decide when to trace again."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from tapemagic.engine.effects import Noted, for_good
from tapemagic.engine.events import user_line
from tapemagic.engine.runtime import without_garbage_collection
from tapemagic.engine.tensor.variable import Variable, exchange, value_of
from tapemagic.errors import EagerWarning, FunctionError
from tapemagic.programs.changes import changed_parameter, why_changing
from tapemagic.programs.code_names import site_of_parameter
from tapemagic.programs.compiling import Compiled, path_of, release
from tapemagic.programs.guards import Guards, first_change
from tapemagic.programs.miss import MISS, STALE, Miss
from tapemagic.programs.program import Program
from tapemagic.programs.reasons import DRAWS_AT_EACH_CALL, a_or_an, in_words, line_of, with_place
from tapemagic.programs.side_effects import DRAWS, output_noted, random_states
from tapemagic.programs.signature import Call, may_change, signature, without_identities
from tapemagic.programs.text.joint_source import joint_source
from tapemagic.programs.tracing.call_tracing import TracedCall
from tapemagic.programs.tracing.calls import is_raised_by_the_user, way_of_error
from tapemagic.programs.tracing.symbol import Symbol
from tapemagic.programs.tracing.trace import Trace, is_followed, tracing
from tapemagic.programs.tracing.trace_comparison import first_difference

MAX_STATEFUL_TRACES = 3
"""Maximum number of calls that may change a reachable object, as the first call of a model builds its layers."""

# A search runs the drivers of all programs, for nothing if the branch stays eager.
EAGER_CALLS_PER_MISS = 100
"""Number of eager calls after a failed guard before the programs are searched again."""

# The driver compares copies: 0.7 ms per MiB and call (measured in November 2026).
MAX_CONSTANT_BYTES = 1 << 20
"""Maximum bytes of all reachable arrays together whose numbers a driver compares at each call."""

# During a trace, symbols stand in objects that other threads may read: two traces at once would
# record each other's symbols.
trace_lock = threading.RLock()
"""The lock of the thread that traces."""

COMPUTING_FILES = frozenset(f.__code__.co_filename for f in (Trace.call, Symbol.__len__))
"""The files in which NumPy computes with the values of symbols."""

INTERNAL_ERROR = (
    "its program could not be written, which is a defect of tapemagic: please report it"
)

Path = tuple[Any, ...]


class SignatureEntry:
    """The programs of one signature, the traces that wait for a second one, and reasons to stay eager.

    - `programs`: The first one is the program that matched last.
    - `pending`: List of (Program, Guards, object). Traces without a second one yet, and which arguments are also
      reachable objects.
    - `eager_paths`: Branches through the function that cannot be programs.
    - `tries`: The number of traces since the last program that changed a reachable object.
    - `fixed`: Whether reachable arrays are constants, because the function needs their numbers while it is traced.
    - `full`: Whether the limit of programs is reached, and no trace waits for a second one.
    - `why_eager`: Why there can be no program; empty if a program exists or may follow.
    - `why_paths`: Why some branches through the function stay eager.
    """

    def __init__(self) -> None:
        self.programs: list[Compiled] = []
        self.pending: list[tuple[Program, Guards, Any]] = []
        self.eager_paths: list[Path] = []
        self.tries = 0
        self.fixed = False
        self.full = False
        self.why_eager = ""
        self.why_paths = ""


class ProgramCache:
    """The programs of one function, or of one method of one object.

    - `driver`: The driver of the program that matched last.
    """

    def __init__(self, max_programs: int, warns: bool = True) -> None:
        self.driver: Callable[..., Any] = _always_miss
        self._served: Any = None
        self._max_programs = max_programs
        self._signatures: dict[Any, SignatureEntry] = {}
        self._why_all = ""
        self._why_more = ""
        self._changing = ""
        self._warned = False
        self.warns = warns
        self._eager_after: dict[tuple[Any, int], int] = {}

    def reset(self) -> None:
        """Delete all programs, traces and reasons."""
        self._set_driver(None)
        self._signatures = {}
        self._eager_after = {}
        self._why_all = self._why_more = self._changing = ""
        self._warned = False

    def serve(self, function: Any) -> None:
        """Let a `Function` call the driver of the program that matched last, through its attribute ``__call__``."""
        self._served = weakref.ref(function)
        self._set_driver(None)

    def _set_driver(self, compiled: Compiled | None) -> None:
        """Let the next call try this program first; without one, it searches all programs."""
        self.driver = _always_miss if compiled is None else compiled.driver
        served = self._served and self._served()
        if served is not None:
            function = served.python_function
            entry = _without_program if compiled is None else compiled.driver_for
            served.__call__ = entry(function, partial(self.call, function))

    def disable(self, why: str) -> None:
        """Keep all calls eager for this reason."""
        self._why_all = why

    def list(self) -> list[Program]:
        """Return the programs of all signatures."""
        return [each.program for entry in [*self._signatures.values()] for each in entry.programs]

    @property
    def why_eager(self) -> str:
        """The reasons why all or some calls stay eager."""
        reasons = [self._why_all]
        for entry in [*self._signatures.values()]:
            reasons += [entry.why_eager, entry.why_paths]
        reasons += [self._why_more]
        return "\n".join(dict.fromkeys(filter(None, reasons)))

    def text(self, name: str) -> str:
        """Describe the programs in one line."""
        count = len(self.list())
        programs = f"{count} program{'s' * (count != 1)}"
        return f"<tapemagic.function {name}: {programs}{', eager' * bool(self.why_eager)}>"

    def source(self, name: str, args: Any, kwargs: Any, as_run: bool = False) -> str:
        """Return the source of the programs for these kinds of arguments, or of all without arguments."""
        entries = dict(self._signatures)
        key = signature(args, kwargs).key
        if key in entries:
            entries = {key: entries[key]}
        elif args or kwargs:
            entries = {}
        compiled = [(each, key[1:]) for key, entry in entries.items() for each in entry.programs]
        if compiled:
            return joint_source(sorted(compiled, key=lambda each: each[0].number), as_run)
        reasons = [self._why_all, *(x.why_eager for x in entries.values())]
        reasons += [self._why_more]
        why = next(filter(None, reasons), "")
        if why:
            raise FunctionError(f"{name} has no program for such arguments: {why}")
        raise FunctionError(
            f"{name} has no program for such arguments yet: call it twice with arguments of their shapes and dtypes"
        )

    def call(self, function: Any, args: Any, kwargs: Any, missed: Miss) -> Any:
        """Run another program than the last one, or trace the function."""
        self._restart(missed)
        with Noted(missed.attempt and missed.attempt.journal):
            return self._call(function, args, kwargs, missed)

    @classmethod
    def _restart(cls, missed: Miss) -> None:
        """Let the next attempt repeat the draws of a program that has ended early, and none of its other effects."""
        if missed.attempt is not None:
            missed.attempt.restart()

    def _call(self, function: Any, args: Any, kwargs: Any, missed: Miss) -> Any:
        if missed.program is not None:
            failed_guard = missed.program, missed.guard
            left = self._eager_after.get(failed_guard, 0)
            if left:
                self._eager_after[failed_guard] = left - 1
                for_good()
                return function(*args, **kwargs)
            outcome = self._try_other_programs(missed, function, args, kwargs)
            if outcome.__class__ is not Miss:
                return outcome
            is_eager = self._must_stay_eager(missed.program.entry, outcome)
            if not is_eager and self._is_at_limit(missed.program.entry, outcome):
                self._note_limit_reached()
                is_eager = True
            if is_eager:
                self._eager_after[failed_guard] = EAGER_CALLS_PER_MISS * (outcome is missed)
                return self._eager(function, args, kwargs)
        return self._without_program(function, args, kwargs)

    def _without_program(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Run any program that matches, or trace the function."""
        if self._why_all:
            return self._eager(function, args, kwargs)
        call = signature(args, kwargs)
        entry = self._signatures.get(call.key) if not call.odd else None
        if entry is None:
            if call.odd:
                self._why_more = f"one of its arguments is {call.odd}"
            elif self._count() < self._max_programs:
                entry = self._signatures.setdefault(call.key, SignatureEntry())
            else:
                self._note_limit_reached(call)
        if entry is None or entry.why_eager:
            return self._eager(function, args, kwargs)
        branches, result = self._replayed(entry, function, call)
        if branches is None:
            return result
        if any(path[: len(branches)] == branches for path in entry.eager_paths if branches):
            for_good()
            return function(*args, **kwargs)
        full = self._count() >= self._max_programs
        if full and (entry.full or not self._is_pending(entry, branches)):
            self._note_limit_reached(call)
            return self._eager(function, args, kwargs)
        return self._traced(entry, function, call, full)

    def _try_other_programs(self, missed: Miss, function: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of a program for other branches, or the last `Miss`."""
        if missed.error:
            return self._rerun_after_error(missed, function, args, kwargs)
        tried = {missed.program}
        for each in list(missed.program.entry.programs):
            if each not in tried and each.starts_with(missed.program.path_after(missed.guard)):
                tried.add(each)
                result = each.driver(*args, **kwargs)
                if result.__class__ is not Miss:
                    self._set_driver(each)
                    return result
                self._restart(result)
                if result.error:
                    return self._rerun_after_error(result, function, args, kwargs)
                missed = result if result.program is not None else missed
        return missed

    @staticmethod
    def _must_stay_eager(entry: SignatureEntry, missed: Miss) -> bool:
        """Return True if the branches of a call are known to stay eager."""
        branches = missed.program.path_after(missed.guard)
        is_eager = branches and any(path[: len(branches)] == branches for path in entry.eager_paths)
        return bool(entry.why_eager or is_eager)

    def _is_at_limit(self, entry: SignatureEntry, missed: Miss) -> bool:
        """Return True if no program can be added for the branches that a call takes."""
        branches = missed.program.path_after(missed.guard)
        return self._count() >= self._max_programs and not self._is_pending(entry, branches)

    @staticmethod
    def _is_pending(entry: SignatureEntry, branches: Path) -> bool:
        return any(path_of(program)[: len(branches)] == branches for program, *_ in entry.pending)

    def _count(self) -> int:
        """Count the programs and the traces that wait for a second one, and drop dead programs."""
        count = 0
        for entry in [*self._signatures.values()]:
            # `is_dead` reads each reference of a program, so only if this can make room.
            if len(entry.programs) > 1 or len(self._signatures) >= self._max_programs:
                entry.programs = [each for each in entry.programs if not each.is_dead()]
            count += len(entry.programs) + len(entry.pending)
        return count

    def _replayed(
        self, entry: SignatureEntry, function: Any, call: Call
    ) -> tuple[Path | None, Any]:
        """Return the result of a matching program, or the first branches that the call takes."""
        branches: Path = ()
        guards: Guards | None = None
        for each in list(entry.programs):
            if not each.starts_with(branches):
                continue
            result = each.driver(*call.args, **call.kwargs)
            # The driver compares identities. An object may have been replaced by an equal one, as when a
            # notebook cell runs again.
            if result is STALE:
                guards = guards or Guards(function, call.objects, entry.fixed)
                if not each.rebind_if_unchanged(guards):
                    continue
                result = each.driver(*call.args, **call.kwargs)
            if result.__class__ is Miss:
                self._restart(result)
            if result.__class__ is Miss and result.error:
                return None, self._rerun_after_error(result, function, call.args, call.kwargs)
            if result.__class__ is not Miss:
                self._set_driver(each)
                if entry.programs[0] is not each:
                    # A new list, because other threads read the old one without a lock.
                    entry.programs = [each, *(x for x in entry.programs if x is not each)]
                return None, result
            if result.guard:
                branches = each.path_after(result.guard)
        return branches, None

    @classmethod
    def _rerun_after_error(cls, missed: Miss, function: Any, args: Any, kwargs: Any) -> Any:
        """Run a function whose program raised an error, which the function itself raises or catches."""
        result = cls._run(function, args, kwargs)
        missed.program.entry.why_paths = (
            f"it catches {a_or_an(getattr(missed.error, '__name__', 'error'))}"
        )
        return result

    @staticmethod
    def _run(function: Any, args: Any, kwargs: Any) -> Any:
        """Run a function; if it raises an error, set its Variables back, as a program leaves them unchanged."""
        # A program assigns Variables after its last line, so an error leaves them unchanged. The function itself may
        # have assigned some before it failed.
        for_good()
        call = signature(args, kwargs)
        reached = Guards(function, call.objects).objects.values()
        variables = {id(x): x for x in (*call.leaves, *reached) if isinstance(x, Variable)}
        before = [(x, value_of(x)) for x in variables.values()]
        try:
            return function(*args, **kwargs)
        except BaseException:
            for variable, value in before:
                exchange(variable, value)
            raise

    def _eager(self, function: Any, args: Any, kwargs: Any) -> Any:
        for_good()
        result = function(*args, **kwargs)
        self._warn(function)
        return result

    def _note_limit_reached(self, call: Call | None = None) -> None:
        """Record why no further program is compiled: the function has reached `max_programs`."""
        detail = f"; {self._changing}, which it reads, changes between calls" * bool(self._changing)
        instead = "pass changing numbers as arrays of one shape, and everything that changes as an argument"
        kind = "" if call is None else self._other_object(call)
        if kind:
            detail = f"; its argument of the class {kind} is a different object at each call"
            instead = "pass the same object, or its arrays and numbers in a tuple or dict"
        limit = f"it needs more than max_programs={self._max_programs} programs"
        self._why_more = f"{limit}{detail}: {instead}"

    def _other_object(self, call: Call) -> str:
        """Return the class of an argument that was a different object at earlier calls, or ''."""
        kinds = [type(x).__name__ for x in call.objects]
        if self._changing in kinds:  # it replaced an object that no longer exists
            return self._changing
        # Signatures that differ only in the identity of an object tell that it was replaced.
        key = without_identities(call.key)
        count = sum(without_identities(x) == key for x in [*self._signatures])
        return kinds[0] if kinds and count > 1 else ""

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

    def _traced(self, entry: SignatureEntry, function: Any, call: Call, full: bool) -> Any:
        """Run the function and record what it computes."""
        with trace_lock:
            guards = Guards(function, call.objects, entry.fixed)
            why = guards.refusal
            hopeless = full and all(first_change(each, guards) for _, each, _ in entry.pending)
            if not hopeless and not why:
                result = self._trace(entry, guards, function, call)
        if hopeless:
            entry.full = True
            self._note_limit_reached(call)
            return self._eager(function, call.args, call.kwargs)
        if why:
            entry.why_eager = why
            entry.pending = []
            return self._eager(function, call.args, call.kwargs)
        if entry.why_eager or entry.why_paths:
            self._warn(function)
        return result

    def _trace(self, entry: SignatureEntry, guards: Guards, function: Any, call: Call) -> Any:
        # The order matters: random states and guards are read before the call and again after it, while symbols are
        # still where the function stored them, so that every change is seen. Only then are symbols replaced, and only
        # a call that changed nothing may be repeated.
        effects: dict[str, Any] = {}
        trace = Trace(named=bool(entry.pending))
        traced = TracedCall(trace, guards, call)
        references = traced.references()
        states = random_states()
        failure: Exception | None = None
        noted = Noted()
        try:
            with noted, tracing(trace), output_noted(effects):
                program, result = traced.run(function)
        except BaseException as error:
            if not isinstance(error, Exception):
                self._remove_symbols(traced, guards, references)
                raise
            failure = error
        # Two equal traces prove nothing here: `if uniform() < 0.5` is equal twice in half of all cases.
        if states != random_states():
            site = guards.site_of("random") or guards.site_of("normal")
            effects[DRAWS] = site
        acts = bool(effects)
        after = Guards(function, call.objects, entry.fixed)
        changed = first_change(guards, after, strictly=True)
        unchanged = traced.changed_nothing() and not (acts or changed or trace.first_draw_site)
        own = failure is not None and (failure is trace.raised or is_own(failure))
        # In a list, because symbols that are left in the result are replaced where they are stored.
        results = [] if failure is not None else [result]
        self._remove_symbols(traced, after, references)
        is_left = failure is not None or (traced.references() > references and not program.assigned)
        may_repeat = (
            is_left and unchanged and same_arguments(call, signature(call.args, call.kwargs))
        )
        noted.restart(if_needed=may_repeat)
        if failure is not None:
            if own and not may_repeat:
                raise failure
            return self._failed(entry, failure, may_repeat, function, call)
        if may_repeat:
            # A symbol is left where it can't be replaced, such as in a running iterator.
            results = [self._run(function, call.args, call.kwargs)]
        if trace.first_draw_site is not None and not changed:
            effects[DRAWS_AT_EACH_CALL] = trace.first_draw_site
        reason = self._reason(trace, effects, traced, program, call)
        may_settle = not reason or entry.tries < MAX_STATEFUL_TRACES - 1
        if changed is not None and not acts and may_settle:
            entry.tries += 1
            if entry.tries >= MAX_STATEFUL_TRACES:
                entry.why_eager = reason or why_changing(changed, guards, function, call)
        elif trace.reasons and not entry.fixed and 0 < traced.nbytes <= MAX_CONSTANT_BYTES:
            entry.fixed = True
            entry.programs, entry.pending = [], []
        elif reason:
            self._mark_eager(entry, path_of(program), reason)
        else:
            self._match_pending(entry, program, guards, call)
        return results[0]

    def _failed(
        self,
        entry: SignatureEntry,
        error: Any,
        may_repeat: bool,
        function: Any,
        call: Call,
    ) -> Any:
        """Repeat a call whose trace raised an error, if nothing was changed; later calls stay eager.

        If the function raises the error without a trace as well, it is the function's own error.
        """
        # Before the call is repeated: the traceback of an error that is raised again becomes longer.
        how, site = way_of_error(error.__traceback__)
        result = self._run(function, call.args, call.kwargs) if may_repeat else None
        reason = in_words(how, line_of(site))
        self._mark_eager(entry, (), reason)
        if not may_repeat:
            error.add_note(
                f"tapemagic.function: {reason}. Tracing failed after the function had already changed something, so "
                "this call isn't repeated. The next call runs eagerly."
            )
            raise error
        return result

    @staticmethod
    def _remove_symbols(traced: TracedCall, after: Guards, references: float) -> None:
        """Remove symbols from user data; `references` counts those to the trace before the call."""
        traced.remove_symbols(after)
        if after is not traced.guards:
            after.forget()
        traced.put_values(references)

    @staticmethod
    def _reason(trace: Any, effects: Any, traced: Any, program: Program, call: Call) -> str:
        """Return the reason why a trace cannot become a program, or ''."""
        if effects:
            why, site = next(iter(effects.items()))
            return with_place(why, line_of(site))
        if trace.reasons:
            how, site = trace.reasons[0]
            return in_words(how, line_of(site))
        if may_change(call) and signature(call.args, call.kwargs).key != call.key:
            name = changed_parameter(traced.function, call)
            reason = f"it changes its argument{f' {name}' if name else 's'}: return a new one"
            return with_place(reason, line_of(site_of_parameter(traced.function, name)))
        variable = traced.unreachable_variable(program)
        if variable is not None:
            return f"it reads the Variable {variable.name!r}, but not by a name in its code: pass it as an argument"
        return ""

    @staticmethod
    def _mark_eager(entry: SignatureEntry, path: Path, reason: str) -> None:
        """Record that these branches stay eager; without guards, that all calls of this signature do."""
        entry.eager_paths.append(path)
        entry.pending = [x for x in entry.pending if path_of(x[0]) != path]
        if not entry.programs or len(entry.eager_paths) > MAX_STATEFUL_TRACES:
            entry.why_eager = reason
        else:
            entry.why_paths = reason

    def _match_pending(
        self, entry: SignatureEntry, program: Program, guards: Guards, call: Call
    ) -> None:
        """Compile a trace that equals an earlier trace; otherwise keep it for the next call."""
        # One trace cannot tell a constant from a clock, a counter or a cached value: two equal ones are required.
        path = path_of(program)
        reached = [guards.data.get(id(x)) for x in call.leaves]
        for k, (pending_program, earlier, earlier_reached) in enumerate(entry.pending):
            if path_of(pending_program) != path or reached != earlier_reached:
                continue
            changed = first_change(earlier, guards)
            if changed is not None:
                self._changing = changed
                continue
            difference = first_difference(pending_program, program)
            del entry.pending[k]
            if difference is None:
                try:
                    # Compiling makes many objects that all stay: collecting in between finds nothing.
                    with without_garbage_collection():
                        compiled = Compiled(program, call, guards, entry)
                except Exception as error:  # noqa: BLE001 (the call has its result already)
                    what = f"{type(error).__name__}: {error}"
                    self._mark_eager(entry, path, f"{INTERNAL_ERROR} ({what})")
                    return
                entry.programs = [compiled, *entry.programs]
                entry.tries = 0
                self._eager_after = {}
                self._set_driver(compiled)
            else:
                reason, site = difference
                self._mark_eager(entry, path, with_place(reason, line_of(site)))
            return
        guards.forget()
        release(program)
        entry.pending.append((program, guards, reached))


def is_own(error: Exception) -> bool:
    """Return True if the function raises an error itself, or NumPy does for the values that symbols represent."""
    traceback: Any = error.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename in COMPUTING_FILES or is_raised_by_the_user(error)


def same_arguments(a: Call, b: Call) -> bool:
    """Return True if a call left its arguments unchanged, including the objects in lists and dicts."""
    return a.key == b.key and all(x is y for x, y in zip(a.leaves, b.leaves, strict=True))


def _always_miss(*args: Any, **kwargs: Any) -> Miss:  # noqa: ARG001 (as of a driver)
    return MISS


def _without_program(function: Any, miss: Any) -> Callable[..., Any]:
    """Return the driver of a function that has no program yet."""

    def driver(*args: Any, **kwargs: Any) -> Any:
        if is_followed():
            return function(*args, **kwargs)
        return miss(args, kwargs, MISS)

    return driver
