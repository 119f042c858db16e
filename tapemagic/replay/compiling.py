"""Programs made ready to run: passes, text, Python's compiler, and the way of arguments in and of results out."""

from __future__ import annotations

import linecache
from itertools import count
from typing import Any

from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.tensor.tensor import Traced, computed
from tapemagic.engine.tensor.variable import Variable, exchange
from tapemagic.replay.closure import Closure
from tapemagic.replay.passes import simplified
from tapemagic.replay.program import Loop, Program
from tapemagic.replay.source import Retrace, Text
from tapemagic.replay.warned_once import warning_once

_number = count(1).__next__


class Compiled:
    """A program that can be called with the leaves of arguments."""

    def __init__(self, program: Program, closure: Closure) -> None:
        self.program = simplified(program)
        self.closure = closure
        text = self._source = Text(self.program)
        self.text = str(text)
        file = f"<tapemagic program {_number()} of {program.name}>"
        linecache.cache[file] = len(self.text), None, self.text.splitlines(True), file
        run = text.function(file)
        has_loops = any(isinstance(entry, Loop) for entry in self.program.body)
        self._run = warning_once(run) if has_loops else run
        self._single = text.single
        self._structure = program.notes["structure"]
        self._kinds = program.notes["kinds"]

    def __call__(self, given: list[Any]) -> Any:
        """Run the program; raise `Retrace` if it does not hold for these arguments."""
        if not self.closure.holds():
            raise Retrace
        values = [self._value(node.origin, given) for node in self.program.inputs]
        try:
            found = self._run(*values)
        except Retrace:
            raise
        except Exception as error:
            self._source.point_at_user(error)
            raise
        if self._single:
            found = (found,)
        count = len(self._kinds)
        for (variable, _), value in zip(self.program.assigned, found[count:], strict=True):
            exchange(variable, value)
        results = [
            x if kind is None else computed(x)
            for x, kind in zip(found[:count], self._kinds, strict=True)
        ]
        return pack(self._structure, results)

    @staticmethod
    def _value(origin: Any, given: list[Any]) -> Any:
        if isinstance(origin, Variable):
            return origin._value
        x = given[origin]
        return x._value if isinstance(x, Traced) else x


def compiled(program: Program, closure: Closure) -> Compiled:
    """A program made ready to run."""
    return Compiled(program, closure)


__all__ = ["Compiled", "Retrace", "compiled", "leaves"]
