"""Compile programs: run the passes, write the text of a program, and compile its driver."""

from __future__ import annotations

import linecache
import weakref
from itertools import count
from typing import Any

import numpy as np

from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.driver import Driver
from tapemagic.programs.driver_function import driver
from tapemagic.programs.guards import Guards, first_change
from tapemagic.programs.miss import Miss
from tapemagic.programs.passes import simplified
from tapemagic.programs.passes.blocking import in_blocks
from tapemagic.programs.passes.in_place import in_place
from tapemagic.programs.program import Guard, Program
from tapemagic.programs.signature import Call
from tapemagic.programs.text.derivatives import keep_meanings
from tapemagic.programs.text.writer import Writer
from tapemagic.programs.tracing.trace_comparison import ArgumentVariable

_number = count(1).__next__


class Compiled:
    """A compiled program, which can be called with arguments.

    - `program`: The program that runs.
    - `readable`: The program that `source` shows: `program` before large arrays are cut into blocks or overwritten.
    - `entry`: The signature for which it was made.
    - `guards`: Everything that the function could reach when it was traced.
    - `path`: The branches taken at its guards.
    - `number`: The number of this program: programs are counted in the order in which they are made.
    - `driver`: A function of the arguments that returns the result, or a `Miss`.
    """

    def __init__(self, program: Program, call: Call, guards: Guards, entry: Any) -> None:
        self.entry = entry
        self.readable = simplified(program)
        keep_meanings(self.readable, program)
        self.program = in_place(in_blocks(self.readable))
        self.guards = guards
        self.path = path_of(program)
        self._reached = reached_by(guards, call)
        # The passes drop guards on constants: then the number of a failed guard isn't its place in the
        # path.
        self._all_guards = path_of(self.program) == self.path
        self.number = _number()
        file = f"<tapemagic program {self.number} of {program.name}>"
        statements = Writer(self.program, bare=True)
        written = Driver(guards.function, call, guards, self.program, statements, self)
        # Tracebacks show the lines of the program. The checks around it are empty lines, so the numbers
        # match.
        shown = {line.text.strip() for line in statements.body}
        lines = [f"{line}\n" * (line.strip() in shown) or "\n" for line in written.text]
        # Without a modification time, linecache.checkcache keeps the entry.
        linecache.cache[file] = 0, None, lines, file
        weakref.finalize(self, linecache.cache.pop, file, None)
        self._namespace = written.namespace
        self._code = written.code(file)
        self.driver = driver(self._code, self._namespace, None, _handed_back)
        guards.forget()
        release(self.program, self.readable)

    def covers(self, program: Program, guards: Any, call: Call) -> bool:
        """Return True if this program does what another trace would be compiled to.

        That happens if a call was traced because of other numbers than those that its trace drew, since another thread
        drew as well.
        """
        same = self.path == path_of(program) and self._reached == reached_by(guards, call)
        return same and first_change(self.guards, guards) is None

    def driver_for(self, function: Any, miss: Any) -> Any:
        """Return a driver for calls of `function`, which calls `miss` if the program does not match."""
        return driver(self._code, self._namespace, function, miss)

    def starts_with(self, branches: tuple[Any, ...]) -> bool:
        """Return True if the program takes these branches first."""
        return self.path[: len(branches)] == branches

    def path_after(self, guard: int) -> tuple[Any, ...]:
        """Return the first branches of a call whose guard failed, or () if they are unknown."""
        if not self._all_guards:
            return ()
        before, failed = self.path[: guard - 1], self.path[guard - 1]
        return (*before, not failed) if isinstance(failed, bool) else before

    def rebind_if_unchanged(self, guards: Guards) -> bool:
        """Check the program against what the function reaches now; if nothing has changed, use these guards."""
        if first_change(self.guards, guards) is not None:
            return False
        # This dict is the globals of all drivers of the program, which see the new objects at once.
        for name, value in guards.namespace.items():
            self._namespace[name] = value
        self.guards = guards
        guards.forget()
        return True

    def is_dead(self) -> bool:
        """Return True if a variable or an object of the program no longer exists."""
        return self.guards.is_dead()


def _handed_back(args: Any, kwargs: Any, missed: Miss) -> Miss:  # noqa: ARG001
    return missed


def reached_by(guards: Any, call: Call) -> list[Any]:
    """Return how the function reaches each argument by names, if it does."""
    return [guards.data.get(id(x)) for x in call.leaves]


def path_of(program: Program) -> tuple[Any, ...]:
    """The branches of a program: bools at its guards, and shapes that depend on numbers."""
    branches: list[Any] = []
    for entry in [x for x in program.body if type(x) is Guard]:
        node = entry.condition
        by_shape = node.function is np.array_equal and type(node.args[1]) is tuple
        branches.append((entry.expected, node.args[1]) if by_shape else entry.expected)
    return tuple(branches)


def release(*programs: Program) -> None:
    """Replace the Variables of the forms of a program by weak references, which don't keep them alive."""
    argument_places = programs[0].notes["given"]

    def released(variable: Any) -> Any:
        if not isinstance(variable, Variable):
            return variable
        place = argument_places.get(id(variable))
        return weakref.ref(variable) if place is None else ArgumentVariable(place)

    for program in programs:
        for node in program.inputs:
            node.origin = released(node.origin)
        program.assigned = [(released(variable), node) for variable, node in program.assigned]
        program.notes["given"] = {}
