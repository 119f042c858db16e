"""The places in a program that record operations."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tapemagic as tm
from tapemagic.engine.tape.observer import Call, Observer, Site
from tapemagic.ipython.callsites import TRAILING_EXPRESSION_OFFSET, CallSites

CELL = "<cell>"


class Program:
    """A program on a tape, whose operations are multiplications by x."""

    def __init__(self, *parts: str, **names: Any) -> None:
        self.places = CallSites(CELL)
        self.observer = Observer(self.places.here, calls=self.places.calls)
        self.names = {"x": tm.constant(2.0), "run": self.run, **names}
        with self.observer:
            self.observer.watch(self.names["x"])
            for part in parts:
                self.run(part, CELL)

    def run(self, source: str, filename: str) -> None:
        """Run a part of the program, which is the cell, or a function's text in another file."""
        exec(compile(source, filename, "exec"), self.names)  # noqa: S102 -- a program of a test

    @property
    def sites(self) -> list[Site]:
        """The place of each operation."""
        return [Site(*site) for site in self.observer.origins().sites]

    @property
    def lines(self) -> list[int | None]:
        """The line of the cell of each operation."""
        return [site.line for site in self.sites]

    @property
    def calls(self) -> list[str]:
        """For each operation the calls around it, the outermost first, each with its number."""
        return [" ".join(self._around(site.call)) for site in self.sites]

    def _around(self, number: int) -> list[str]:
        call: Call = self.places.calls[number]
        return [*self._around(call.site.call), f"{call.name}{number}"] if number else []


def test_calls_of_functions() -> None:
    """Each call has a number of its own, and the place that called it; the line is the innermost of the cell."""
    program = Program(
        "def f(a):\n    return a * x\n\ndef g(a):\n    return f(f(a)) * x\n\ny = g(x) * x"
    )

    assert [2, 2, 5, 7] == program.lines
    assert ["g1 f2", "g1 f3", "g1", ""] == program.calls
    assert [7, 5, 5] == [call.site.line for call in program.places.calls[1:]]


def test_functions_of_a_file(tmp_path: Path) -> None:
    """What is not in the cell has the line of the cell that called it, and its own call."""
    file = str(tmp_path / "helpers.py")

    program = Program(f"run('def f(a):\\n    return a * x', {file!r})\n\ny = f(x)\nz = f(y) * x")

    assert [3, 4, 4] == program.lines
    assert ["f1", "f2", ""] == program.calls


def test_a_function_whose_text_is_executed() -> None:
    """A function without a file is the user's own, too."""
    program = Program("run('def f(a):\\n    return a * x', '<string>')\n\ny = f(x)")

    assert [3] == program.lines
    assert ["f1"] == program.calls


def test_recursion() -> None:
    """Each call is inside of the one that made it."""
    program = Program("def f(n):\n    return x * f(n - 1) if n else x * x\n\ny = f(2)")

    assert ["f1 f2 f3", "f1 f2", "f1"] == program.calls


def test_a_loop() -> None:
    """Its iterations run the same instruction, each time anew."""
    program = Program("y = x\nfor i in range(3):\n    y = y * x")

    assert 1 == len({site.offset for site in program.sites})
    assert 3 == len({site.run for site in program.sites})


def test_two_on_a_line() -> None:
    """They have an instruction each."""
    program = Program("y = x * x * x")

    first, second = program.sites
    assert first.offset < second.offset


def test_several_by_one_instruction() -> None:
    """The operations of a reverse sweep are those of one execution of a call."""
    source = (
        "for i in range(2):\n"
        "    with tm.GradientTape() as t:\n"
        "        t.watch(x)\n"
        "        y = x * x * x\n"
        "    g = t.gradient(y, x)"
    )

    program = Program(source, tm=tm)

    runs = [site.run for site in program.sites if site.line == 5]
    half = len(runs) // 2
    assert half > 1
    assert [runs[0]] * half + [runs[-1]] * half == runs
    assert runs[0] != runs[-1]


def test_the_expression_at_the_end() -> None:
    """It has a code object of its own, and stands behind all that is before it."""
    program = Program("y = x * x\nfor i in range(2):\n    y = y * x", "\n\n\ny * x")

    *before, last = program.sites
    assert all(site.offset < TRAILING_EXPRESSION_OFFSET for site in before)
    assert (4, 0) == (last.line, last.call)
    assert last.offset >= TRAILING_EXPRESSION_OFFSET


def test_a_generator() -> None:
    """What it computes belongs to a call of it, and what is computed between is not in that call."""
    program = Program(
        "def g():\n    for k in range(2):\n        yield k * x\n\ny = x\nfor z in g():\n    y = y * z"
    )

    assert [3, 7, 3, 7] == program.lines
    first, between, second, last = program.calls
    assert (first[0], second[0]) == ("g", "g")
    assert (between, last) == ("", "")


def test_a_thread() -> None:
    """A function that another thread runs is a call that no line of the cell made."""

    def in_thread(function: Callable[[], Any]) -> None:
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(function,))
        thread.start()
        thread.join()

    source = "def f():\n    return x * x\n\ny = x * x\nin_thread(f)\nz = x * x"

    program = Program(source, in_thread=in_thread)

    assert [4, 2, 6] == program.lines
    assert ["", "f1", ""] == program.calls
    assert None is program.places.calls[1].site.line


def test_what_runs_outside_of_the_cell() -> None:
    """An operation that no part of the cell made has no line."""
    program = Program("y = x * x")
    with program.observer:
        program.run("z = x * x", "<elsewhere>")

    assert [1, None] == program.lines
