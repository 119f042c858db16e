"""TensorFlow's contract: a function is traced once for each signature; its Python side effects aren't repeated."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tapemagic.engine.effects import Noted, Outcome, has_effect
from tapemagic.engine.runtime import without_garbage_collection
from tapemagic.engine.tensor.variable import Variable, exchange, living, value_of
from tapemagic.programs.compiling import Compiled, path_of
from tapemagic.programs.entries import reference
from tapemagic.programs.function import Function, P, T
from tapemagic.programs.guards import Guards
from tapemagic.programs.miss import Miss
from tapemagic.programs.object_kinds import (
    GENERATORS,
    is_user_class,
    is_user_code,
    is_user_module,
)
from tapemagic.programs.program import Program
from tapemagic.programs.program_cache import (
    INTERNAL_ERROR,
    ProgramCache,
    SignatureEntry,
    is_own,
    trace_lock,
)
from tapemagic.programs.reasons import DRAWS_AT_EACH_CALL, in_words, line_of
from tapemagic.programs.side_effects import DRAWS, random_states, state_of
from tapemagic.programs.signature import Call
from tapemagic.programs.text.naming import argument_names, identifier
from tapemagic.programs.tracing.call_tracing import TracedCall
from tapemagic.programs.tracing.calls import way_of_error
from tapemagic.programs.tracing.trace import Trace, tracing

LATE = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only "
    "created once or created outside tf.function. See https://www.tensorflow.org/guide/function#creating_tfvariables "
    "for more information."
)
"""TensorFlow's message for Variables that a later trace makes."""

MAX_TRACES = 1000
"""Maximum number of programs of a function. TensorFlow has no limit; a call with another number needs another one."""


class Captured:
    """The Variables that a trace reads: the only objects besides the arguments that its program reads again.

    It has the interface of `Guards`, without anything to check: all else is constant.
    """

    lines: tuple[str, ...] = ()
    places: tuple[Any, ...] = ()
    entries: tuple[Any, ...] = ()
    refusal = ""

    def __init__(self, function: Any, call: Call) -> None:
        self.function = function
        self.arguments = [(reference(x), type(x).__name__) for x in call.objects]
        self.namespace: dict[str, Any] = {}
        self.objects: dict[int, Any] = {}
        # Another Variable may be passed in place of an argument, unless the function reads it by a name as well.
        passed = {id(x) for x in call.leaves if isinstance(x, Variable)}
        if passed:
            guards = Guards(function, call.objects)
            passed = set() if guards.refusal else passed - guards.data.keys()
        variables = [x for x in living() if id(x) not in passed]
        self.data = {id(x): (f"q_w{k}", x.name) for k, x in enumerate(variables)}

    def keep(self, program: Program) -> None:
        """Keep the Variables of a program for its driver."""
        names = {name for how, name in program.notes["leaves"] if how == "reached"}
        used = [x.origin for x in program.inputs] + [variable for variable, _ in program.assigned]
        ids = {id(x) for x in used if isinstance(x, Variable)}
        for variable in living():
            name = self.data.get(id(variable), ("", ""))[0]
            if name and (id(variable) in ids or name in names):
                self.namespace[name] = self.objects[id(variable)] = variable
        self.data = {i: each for i, each in self.data.items() if i in self.objects}

    def is_reachable(self, x: Any) -> bool:  # noqa: ARG002 (as of Guards)
        """Return False: what is reachable is constant."""
        return False

    def local(self, x: Any) -> str:
        """Return the name of a Variable in the driver."""
        return self.data[id(x)][0]

    def forget(self) -> None:
        """Let go of the function."""
        self.function = None
        self.objects = {}

    def is_dead(self) -> bool:
        """Return False: a program keeps its Variables."""
        return False


class OnceTrace(Trace):
    """A trace that is not repeated: constants need no proof that they stay.

    - `created`: The Variables that were made.
    - `traced`: The traced call.
    - `drawn`: Whether Python drew random numbers, which would be constants.
    """

    def __init__(self, function: Any, call: Call) -> None:
        super().__init__()
        self.created: list[Any] = []
        self.traced: Any = None
        self.drawn = False
        self._words = argument_names(function, call.args, call.kwargs)

    def record_creation(self, variable: Any) -> None:
        """Record that the function has made a Variable."""
        if self.is_recording:
            self.created.append(variable)

    def name_of(self, symbol: Any) -> str:
        """Return TensorFlow's name for a value: the parameter, or the operation."""
        node = symbol._node
        if isinstance(node.origin if hasattr(node, "origin") else None, int):
            k = node.origin
            return identifier(self._words[k]) if k < len(self._words) else f"args_{k}"
        if node.function is None:
            return "ReadVariableOp" if hasattr(node, "origin") else "Const"
        word = operation_name(node.function)
        before = 0
        for entry in self.body:
            if entry is node:
                break
            function = getattr(entry, "function", None)
            before += function is not None and operation_name(function) == word
        return f"{word}_{before}" if before else word


OPERATIONS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow", "pow": "pow",
    "negative": "Neg", "matmul": "matmul", "floor_divide": "floordiv", "remainder": "mod",
    "getitem": "strided_slice", "sum": "Sum", "mean": "Mean", "exp": "Exp", "log": "Log", "sin": "Sin",
    "cos": "Cos", "tanh": "Tanh", "square": "Square", "sqrt": "Sqrt", "astype": "Cast",
    "maximum": "Maximum", "minimum": "Minimum", "absolute": "Abs", "greater": "Greater", "less": "Less",
    "where": "SelectV2", "reshape": "Reshape", "concatenate": "concat", "argmax": "ArgMax", "max": "Max",
    "min": "Min",
}  # fmt: skip
"""TensorFlow's names of operations."""


def operation_name(function: Any) -> str:
    """Return TensorFlow's name for an operation, or that of the function.

    Examples
    --------
    >>> import numpy as np
    >>> operation_name(np.multiply), operation_name(np.fft.fft)
    ('mul', 'fft')
    """
    name = getattr(function, "__name__", "Identity")
    if name == "reduce":
        name = {"add": "sum", "maximum": "max", "minimum": "min"}.get(
            function.__self__.__name__, name
        )
    return OPERATIONS.get(name, name)


class OnceCache(ProgramCache):
    """The programs of a function that is traced once for each signature.

    - `finish`: Converts the result of the function, as a part of the program.

    - `traces`: How often Python ran the function for a trace.
    - `signatures`: Descriptions of the traces, by the caller.
    - `captures`: The identities of the Variables that the last trace reads.
    """

    def __init__(self, max_programs: int, warns: bool, finish: Callable[[Any], Any]) -> None:
        super().__init__(max_programs, warns)
        self._finish = finish
        self.traces = 0
        self.signatures: list[Any] = []
        self.captures: list[int] = []
        self._is_first = True

    def reset(self) -> None:
        """Delete all programs and reasons, and count from 0."""
        super().reset()
        self.traces = 0
        self.signatures.clear()
        self._is_first = True

    def _traced(self, entry: SignatureEntry, function: Any, call: Call, full: bool) -> Any:
        with trace_lock:
            if entry.pending:
                # Compiling takes ten times as long as tracing, and a function may be called only once.
                pending, entry.pending = entry.pending, []
                for traced in pending:
                    self._compile(entry, *traced)
                branches, result = self._replayed(entry, function, call)
                if branches is None:
                    return result
            if not full:
                return self._traced_once(entry, function, call)
        return self._eager(function, call.args, call.kwargs)

    def _traced_once(self, entry: SignatureEntry, function: Any, call: Call) -> Any:
        noted = Noted()
        result, trace, program, captured = self._run_once(entry, function, call, noted)
        if trace is None:
            return result
        if trace.created and not self._is_first:
            raise ValueError(LATE)
        if trace.created or trace.traced.lifted:
            # As in TensorFlow, a second trace follows, for what the function does when its Variables exist.
            trace, program, captured = self._traced_again(entry, function, call, noted)
        self._is_first = False
        if trace is not None:
            reason = self._why_no_program(trace, program, call)
            if reason:
                self._mark_eager(entry, path_of(program), reason)
                self._warn(function)
            else:
                captured.keep(program)
                self.captures = [*captured.objects]
                entry.pending.append((program, captured, call))
        return result

    def _run_once(
        self, entry: SignatureEntry, function: Any, call: Call, noted: Noted
    ) -> tuple[Any, Any, Any, Any]:
        """Return the result of a call, and its trace, program and Variables, or None for these after a failure."""
        captured: Any = Captured(function, call)
        trace = OnceTrace(function, call)
        traced = trace.traced = TracedCall(trace, captured, call)
        references = traced.references()
        states, generators = random_states(), Generators(function, call.leaves)
        self.traces += 1
        self.captures = []
        try:
            with noted, tracing(trace):
                program, result = traced.run(function, self._finish)
        except BaseException as failure:
            self._remove_symbols(traced, captured, references)
            if not isinstance(failure, Exception) or failure is trace.raised or is_own(failure):
                raise
            # Code that works with numbers only, such as a function of another library.
            how, site = way_of_error(failure.__traceback__)
            noted.restart()
            result = self._run(function, call.args, call.kwargs)
            self._mark_eager(entry, (), in_words(how, line_of(site)))
            return result, None, None, None
        known = noted.journal.generators()
        trace.drawn = states != random_states() or generators.have_drawn(known)
        # In a list, because symbols that are left in the result are replaced where they are stored.
        results = [result]
        del result
        self._remove_symbols(traced, captured, references)
        return results[0], trace, program, captured

    def _traced_again(
        self, entry: SignatureEntry, function: Any, call: Call, noted: Noted
    ) -> tuple[Any, Any, Any]:
        """Trace a call again that has made Variables, without effects: these are taken over, and draws repeated."""
        before = [(variable, value_of(variable)) for variable in living()]
        states = [(rng, rng.bit_generator.state) for rng in noted.journal.generators()]
        noted.restart()
        try:
            _, trace, program, captured = self._run_once(
                entry, function, call, Noted(noted.journal)
            )
        finally:
            for variable, value in before:
                exchange(variable, value)
            for rng, state in states:
                rng.bit_generator.state = state
        if trace is not None and trace.created:
            raise ValueError(LATE)
        return trace, program, captured

    def _why_no_program(self, trace: OnceTrace, program: Program, call: Call) -> str:
        """Return the reason why a trace cannot become a program, or ''."""
        effects: dict[str, Any] = {}
        if trace.traced.lifted:
            return MADE_OUTSIDE
        if trace.drawn:
            effects[DRAWS] = None
        elif trace.first_draw_site is not None:
            effects[DRAWS_AT_EACH_CALL] = trace.first_draw_site
        reason = self._reason(trace, effects, trace.traced, program, call)
        if not reason and calls_python(program):
            reads = any(isinstance(x.origin, Variable) for x in program.inputs)
            # The function may assign a Variable that the program has read already.
            return WITH_VARIABLES if reads or program.assigned else ""
        return reason

    def _compile(self, entry: SignatureEntry, program: Program, captured: Any, call: Any) -> None:
        try:
            with without_garbage_collection():
                compiled = Compiled(program, call, captured, entry)
        except Exception as error:  # noqa: BLE001 (the call has its result already)
            what = f"{type(error).__name__}: {error}"
            self._mark_eager(entry, path_of(program), f"{INTERNAL_ERROR} ({what})")
            return
        entry.programs = [compiled, *entry.programs]
        self._set_driver(compiled)

    @classmethod
    def _restart(cls, missed: Miss) -> None:
        entries = missed.attempt.journal.entries if missed.attempt is not None else []
        last = entries[-1] if entries else None
        if (
            isinstance(last, Outcome)
            and last.error is not None
            and type(last.error) is missed.error
        ):
            raise last.error  # by a check, which needs no run of Python
        super()._restart(missed)


MADE_OUTSIDE = "it makes Variables in tf.init_scope() at each call: keep them"
"""The reason if the second trace of a call makes Variables outside of the trace as well."""

WITH_VARIABLES = (
    "it uses Variables, and calls a Python function by tf.py_function, which may assign them: call it "
    "outside of it"
)
"""The reason if a function uses both."""


def calls_python(program: Program) -> bool:
    """Return True if a program calls a function of the user's Python code."""
    functions = (getattr(entry, "function", None) for entry in program.body)
    return any(getattr(f, "__name__", "") == "call_python" and has_effect(f) for f in functions)


MAX_VISITED = 20_000
"""Maximum number of objects that are searched for generators."""

HOLDING_NOTHING = frozenset(
    {
        int,
        float,
        complex,
        bool,
        str,
        bytes,
        type(None),
        np.ndarray,
        np.dtype,
        np.float32,
        np.float64,
    }
)
"""Common classes of objects without generators."""


class Generators:
    """The generators of NumPy and Python that a function reaches, and their states now.

    - `makes`: Whether its code makes some, whose numbers would be constants of a trace.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = Generators(lambda: rng.normal(), [])
    >>> found.have_drawn([])
    False
    >>> _ = rng.normal()
    >>> found.have_drawn([])
    True
    """

    def __init__(self, function: Any, arguments: Sequence[Any]) -> None:
        self.makes = False
        self._states: list[tuple[Any, Any]] = []
        queue = deque([(function, frozenset[str]()), *((x, frozenset[str]()) for x in arguments)])
        seen: set[int] = set()
        while queue and len(seen) < MAX_VISITED:
            x, names = queue.popleft()
            if id(x) not in seen:
                seen.add(id(x))
                parts = self._parts(x, names)
                queue.extend(part for part in parts if type(part[0]) not in HOLDING_NOTHING)

    def have_drawn(self, known: Sequence[Any]) -> bool:
        """Return True if a generator has drawn, except those whose draws a program repeats."""
        return self.makes or any(
            state_of(x) != state
            for x, state in self._states
            if not any(x is each for each in known)
        )

    def _parts(self, x: Any, names: frozenset[str]) -> Iterator[tuple[Any, frozenset[str]]]:
        """Note a generator, or yield the objects that an object refers to, and the names in the code that reads it."""
        if isinstance(x, GENERATORS):
            self._states.append((x, state_of(x)))
        elif isinstance(x, MethodType):
            yield from ((x.__func__, names), (x.__self__, frozenset(code_names(x.__func__))))
        elif isinstance(x, FunctionType):
            yield from self._held(x)
        else:
            yield from ((part, names) for part in parts_of(x, names))

    def _held(self, x: FunctionType) -> Iterator[tuple[Any, frozenset[str]]]:
        """Yield the objects that a user function reads."""
        if not is_user_code(x.__code__):
            return
        read = frozenset(code_names(x))
        self.makes = self.makes or not read.isdisjoint(MAKING)
        held = [x.__globals__.get(name) for name in read]
        held += [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
        for cell in x.__closure__ or ():
            with suppress(ValueError):  # a name without a value yet
                held.append(cell.cell_contents)
        yield from ((part, read) for part in held)


def parts_of(x: Any, names: frozenset[str]) -> list[Any]:
    """Return the parts of a structure, module, class or object that code with these names may read.

    Examples
    --------
    >>> parts_of({"a": 1.0}, frozenset())
    [1.0]
    """
    if isinstance(x, list | tuple):
        return [*x]
    if isinstance(x, dict):
        return [*x.values()]
    if isinstance(x, functools.partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, ModuleType):
        return [vars(x)[name] for name in names & vars(x).keys()] if is_user_module(x) else []
    if isinstance(x, type):
        return [*vars(x).values()] if is_user_class(x) else []
    parts = [*(getattr(x, "__dict__", None) or {}).values()]
    for kind in filter(is_user_class, type(x).__mro__):
        # Its __init__ ran before the call.
        parts += [part for name, part in vars(kind).items() if name in names or name == "__call__"]
    return parts


MAKING = frozenset({"default_rng", "RandomState", "SeedSequence", "SystemRandom", "urandom"})
"""Names in code that makes generators."""


def code_names(function: Any) -> set[str]:
    """Return the names in the code of a function, and of the functions in it.

    Examples
    --------
    >>> code_names(lambda: [abs(x) for x in range(3)]) >= {"abs", "range"}
    True
    """
    codes = [getattr(function, "__code__", None)]
    names: set[str] = set()
    while codes:
        code = codes.pop()
        if isinstance(code, CodeType):
            names.update(code.co_names)
            codes += code.co_consts
    return names


class TracedOnce(Function[P, T]):
    """A `Function` with TensorFlow's contract, for `tf.function`.

    Parameters
    ----------
    python_function : callable
    finish : callable
        Converts the result of the function, as a part of the program.
    """

    __slots__ = ("_finish",)

    __tape_unwatched__ = Function.__tape_unwatched__ | {"_finish"}

    def __init__(self, python_function: Callable[P, T], finish: Callable[[Any], Any]) -> None:
        self._finish = finish
        super().__init__(python_function, MAX_TRACES)

    def new_cache(self, warns: bool) -> ProgramCache:
        """Return an empty store of programs."""
        return OnceCache(self.max_programs, warns, self._finish)

    def of(self, python_function: Callable[P, T]) -> Function[P, T]:
        """Return another function with the same options."""
        return TracedOnce(python_function, self._finish)

    def __reduce__(self) -> Any:
        named = super().__reduce__()
        return (
            named if isinstance(named, str) else (TracedOnce, (self.python_function, self._finish))
        )
