"""tm.function: a function that is traced once for each signature, and replayed as a program from then on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.recording import live
from tapemagic.engine.tensor.tensor import Tensor, Traced, computed, unwrap
from tapemagic.engine.tensor.variable import Variable, exchange
from tapemagic.replay.closure import Closure
from tapemagic.replay.compiling import Compiled, Retrace, compiled
from tapemagic.replay.naming import name_inputs
from tapemagic.replay.program import Program
from tapemagic.replay.same import same_programs
from tapemagic.replay.signature import signature
from tapemagic.replay.symbol import Symbol, held
from tapemagic.replay.trace import Trace, current, tracing

_lock = threading.RLock()


class Signature:
    """What is known of the calls with one signature.

    Attributes
    ----------
    programs : list of Compiled
        One for each way through the function.
    pending : list of Program
        Traces that were not compared with a second one yet.
    why_eager : str
        Why there is no program; empty if there is one, or may be one.
    """

    def __init__(self) -> None:
        self.programs: list[Compiled] = []
        self.pending: list[Program] = []
        self.why_eager = ""


class Function:
    """A function that is traced on its first two calls with a signature, and replayed as a program from then on.

    Made by `function`.

    Attributes
    ----------
    python_function : callable
        The function itself.
    """

    def __init__(self, function: Callable[..., Any], max_programs: int) -> None:
        self.python_function = function
        self.max_programs = max_programs
        self._signatures: dict[Any, Signature] = {}
        update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Replay the program for these arguments; trace the function if there is none yet."""
        if live() or current() is not None:
            return self.python_function(*args, **kwargs)
        key, given = signature(args, kwargs)
        entry = self._signatures.setdefault(key, Signature())
        if entry.why_eager:
            return self.python_function(*args, **kwargs)
        for program in entry.programs:
            try:
                return program(given)
            except Retrace:
                continue
        return self._trace(entry, args, kwargs, given)

    @property
    def programs(self) -> list[Program]:
        """The programs that calls so far have led to."""
        return [each.program for entry in self._signatures.values() for each in entry.programs]

    @property
    def why_eager(self) -> str:
        """Why calls run without a program, and on which line; empty if none does."""
        return "\n".join(entry.why_eager for entry in self._signatures.values() if entry.why_eager)

    def source(self, *args: Any, **kwargs: Any) -> str:
        """The program for arguments like these, as NumPy source; of the only one if there are none."""
        found = list(self._signatures.values())
        if args or kwargs:
            found = [self._signatures[signature(args, kwargs)[0]]]
        return "\n\n".join(each.text for entry in found for each in entry.programs)

    def reset(self) -> None:
        """Forget all programs."""
        self._signatures.clear()

    def _trace(self, entry: Signature, args: Any, kwargs: Any, given: list[Any]) -> Any:
        """Run the function, and write down what it computes."""
        with _lock:
            closure = Closure(self.python_function)
            with tracing() as trace:
                program, result = self._traced(trace, closure, args, kwargs, given)
            if trace.reasons:
                entry.why_eager = "; ".join(how for how, _ in trace.reasons)
            elif any(same_programs(program, other) for other in entry.pending):
                entry.programs.append(compiled(program, closure))
            else:
                entry.pending.append(program)
            return result

    def _traced(
        self, trace: Trace, closure: Closure, args: Any, kwargs: Any, given: list[Any]
    ) -> tuple[Program, Any]:
        """The program of one call, and its result."""
        variables = {id(v): (name, v) for name, v in closure.variables().items()}
        variables |= {
            id(x): (x.name, x) for x in given if isinstance(x, Variable) and id(x) not in variables
        }
        inputs = {i: trace.input(v, v._value, name) for i, (name, v) in variables.items()}
        stand_ins = [self._stand_in(trace, x, k) for k, x in enumerate(given)]
        call_args, call_kwargs = pack((args, kwargs), stand_ins)
        first = {i: symbol._node for i, symbol in inputs.items()}
        before = {i: exchange(v, inputs[i]) for i, (_, v) in variables.items()}
        try:
            result = self.python_function(*call_args, **call_kwargs)
            found = leaves(result)
        except BaseException:
            for i, (_, v) in variables.items():
                exchange(v, before[i])
            raise
        changed = []
        for i, (_, v) in variables.items():
            value = unwrap(v)
            exchange(v, held(value))
            if trace.node(value) is not first[i]:
                changed.append((v, trace.node(value)))
        results = [
            trace.node(x) if isinstance(x, Traced | np.ndarray | np.generic) else x for x in found
        ]
        program = Program(
            list(trace.inputs), trace.body, results, changed, self.python_function.__name__
        )
        trace.names.finish(trace.constant)
        name_inputs(program, self.python_function, args, kwargs)
        program.notes |= {"statements": trace.names.texts, "times": trace.names.times, "functions": trace.names.functions}
        program.notes["errstate"] = np.geterr()
        program.notes["structure"] = pack(result, [None] * len(found))
        program.notes["kinds"] = [type(x) if isinstance(x, Traced) else None for x in found]
        return program, pack(result, [_outside(x) for x in found])

    @staticmethod
    def _stand_in(trace: Trace, x: Any, place: int) -> Any:
        """The symbol for a leaf of the arguments."""
        if isinstance(x, Variable) or not isinstance(x, Traced | np.ndarray | np.generic):
            return x
        if isinstance(x, Tensor):
            held = computed(trace.input(place, x._value))
            held.__class__ = type(x)  # type: ignore[assignment]
            held._id = x._id
            return held
        return trace.input(place, x)


def _outside(x: Any) -> Any:
    """A result without symbols."""
    if type(x) is Symbol:
        return x._held
    if isinstance(x, Tensor) and type(x._value) is Symbol:
        x._value = x._value._held
    return x


def function(f: Callable[..., Any] | None = None, *, max_programs: int = 8) -> Any:
    """Trace a function once, and replay it as a program of NumPy calls from then on.

    Parameters
    ----------
    f : callable, optional
        Without it, a decorator is returned.
    max_programs : int, optional
        The number of programs above which calls of other signatures run eagerly.

    Returns
    -------
    Function

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> @tm.function
    ... def slope(x):
    ...     with tm.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = x * np.sin(x)
    ...     return tape.gradient(y, x)
    >>> [slope(tm.constant(k / 2)) for k in range(3)]
    [Tensor(0.0), Tensor(0.91821682), Tensor(1.3817733)]
    """
    if f is None:
        return lambda decorated: function(decorated, max_programs=max_programs)
    return Function(f, max_programs)
