"""Programs made ready to run: passes, text, Python's compiler, and the driver around it."""

from __future__ import annotations

import linecache
import weakref
from itertools import count
from typing import Any

import numpy as np

from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.closure import Closure, same_closures
from tapemagic.programs.driver import Driver
from tapemagic.programs.driver_function import driver
from tapemagic.programs.miss import Miss
from tapemagic.programs.passes import simplified
from tapemagic.programs.passes.blocking import in_blocks
from tapemagic.programs.program import Guard, Program
from tapemagic.programs.signature import Call
from tapemagic.programs.text.derivatives import keep_meanings
from tapemagic.programs.text.writer import Writer
from tapemagic.programs.trace_comparison import GivenVariable

_number = count(1).__next__


class Compiled:
    """A program that can be called with arguments.

    Attributes
    ----------
    program : Program
        The program that runs.
    readable : Program
        The program that `source` shows: `program` before large arrays are computed in blocks.
    entry : Signature
        The signature for which it was made.
    closure : Closure
        What the function closed over, as it was when it was traced.
    path : tuple
        The ways at its guards.
    number : int
        How many programs were made until it was.
    driver : callable
        Called with the arguments; gives the result, or a `Miss`.
    """

    def __init__(self, program: Program, call: Call, closure: Closure, entry: Any) -> None:
        self.entry = entry
        self.readable = simplified(program)
        keep_meanings(self.readable, program)
        self.program = in_blocks(self.readable)
        self.closure = closure
        self.path = path_of(program)
        self._all_guards = path_of(self.program) == self.path
        self.number = _number()
        file = f"<tapemagic program {self.number} of {program.name}>"
        statements = Writer(self.program, bare=True)
        written = Driver(closure.function, call, closure, self.program, statements, self)
        shown = {line.text.strip() for line in statements.body}
        lines = [f"{line}\n" * (line.strip() in shown) or "\n" for line in written.text]
        linecache.cache[file] = 0, None, lines, file
        weakref.finalize(self, linecache.cache.pop, file, None)
        self._namespace = written.namespace
        self._code = written.code(file)
        self.driver = driver(self._code, self._namespace, None, _handed_back)
        closure.forget()
        release(self.program, self.readable)

    def driver_for(self, function: Any, miss: Any) -> Any:
        """A driver for calls of the user's function, which asks `miss` for the result if the program does not hold."""
        return driver(self._code, self._namespace, function, miss)

    def agrees(self, known: tuple[Any, ...]) -> bool:
        """Whether the program takes a way of which the beginning is known."""
        return self.path[: len(known)] == known

    def way_after(self, guard: int) -> tuple[Any, ...]:
        """The beginning of the way that a call takes after a guard failed; empty if that is not known."""
        if not self._all_guards:
            return ()
        before, failed = self.path[: guard - 1], self.path[guard - 1]
        return (*before, not failed) if isinstance(failed, bool) else before

    def adopts(self, now: Closure) -> bool:
        """Whether the program holds for what the function closes over now; it is checked for that from then on."""
        if same_closures(self.closure, now) is not None:
            return False
        for name, value in now.namespace.items():
            self._namespace[name] = value
        self.closure = now
        now.forget()
        return True

    def is_dead(self) -> bool:
        """Whether a variable or an object of the program does not exist any more."""
        return self.closure.is_dead()


def _handed_back(args: Any, kwargs: Any, missed: Miss) -> Miss:  # noqa: ARG001
    return missed


def path_of(program: Program) -> tuple[Any, ...]:
    """The ways that a program takes at its guards: truth values, and shapes that depend on numbers."""
    found: list[Any] = []
    for entry in [x for x in program.body if type(x) is Guard]:
        node = entry.condition
        by_shape = node.function is np.array_equal and type(node.args[1]) is tuple
        found.append((entry.expected, node.args[1]) if by_shape else entry.expected)
    return tuple(found)


def release(*programs: Program) -> None:
    """Let the forms of a program refer to its Variables weakly: they do not keep them alive."""
    given = programs[0].notes["given"]

    def released(variable: Any) -> Any:
        if not isinstance(variable, Variable):
            return variable
        place = given.get(id(variable))
        return weakref.ref(variable) if place is None else GivenVariable(place)

    for program in programs:
        for node in program.inputs:
            node.origin = released(node.origin)
        program.assigned = [(released(variable), node) for variable, node in program.assigned]
        program.notes["given"] = {}
