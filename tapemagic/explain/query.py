"""A gradient that is None or lacks a part, the evidence about it, and the reason that is found."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from tapemagic.engine.events import Place
from tapemagic.engine.recording import is_stamp, time_of
from tapemagic.engine.tensor.tensor import Traced, id_of
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.advice import at, listed
from tapemagic.explain.program_text import only_branch
from tapemagic.explain.snapshot import Ancestry, Names, Snapshot


class Reason(NamedTuple):
    """The reason for a None: a cause in a word or two, such as ``"not watched"``, and a sentence with advice."""

    cause: str
    text: str


@dataclass(frozen=True)
class Program:
    """The program that asks."""

    place: Place | None = None  # the line that asks, or one of the cell that is asked about
    namespace: Mapping[str, Any] = field(default_factory=dict)
    tape: str = "tape"  # the program's name for the tape
    in_cell: bool = False  # whether a %%tape line says what is watched


@dataclass(frozen=True, eq=False)
class Question:
    """A gradient, and the evidence about it."""

    snapshot: Snapshot
    target: Any
    source: Any
    target_name: str  # the program's name for the target
    source_name: str  # the program's name for the source
    names: Names = field(default_factory=dict)  # those of other values
    bindings: Sequence[tuple[int, int | None]] = ()  # ids of values of x, with lines, oldest first
    program: Program = Program()

    @property
    def in_cell(self) -> bool:
        """Whether a ``%%tape`` line says what is watched."""
        return self.program.in_cell

    @property
    def block(self) -> str:
        """The part of the program that is recorded."""
        return "cell" if self.in_cell else "tape's 'with' block"

    @property
    def ancestors(self) -> Mapping[int, None]:
        """The values on which the target depends by operations that have a derivative."""
        return self.snapshot.ancestors(id_of(self.target), blocked=False)

    @property
    def ancestry(self) -> Ancestry:
        """The inputs of the operations that made the target."""
        return self.snapshot.ancestry(id_of(self.target))

    @property
    def constants(self) -> list[int]:
        """The stamps of the results, of operations that the tape did not record, in the target."""
        return [link.number for link in self.ancestry.inputs if is_stamp(link.number)]

    @property
    def time(self) -> float:
        """The time at which the target was computed; infinite for a value without a stamp."""
        i = id_of(self.target) if isinstance(self.target, Traced) else 0
        return time_of(i) if i else inf

    @property
    def watched_at(self) -> int:
        """The time since which a tensor is watched; 0 for a variable, which is watched when it is read."""
        known = not isinstance(self.source, Variable)
        return self.snapshot.tracked.get(id_of(self.source), 0) if known else 0


def with_pause_note(q: Question, text: str) -> Reason:
    """No connection; if recording was stopped for a while, that may be why."""
    for pause in q.snapshot.events_of("paused"):
        text = f"{text}. Recording was stopped{at(pause)}, so values computed there are constants."
        return Reason("recording stopped", text)
    return Reason("not connected", f"{text}{branch_note(q)}.")


def branch_note(q: Question) -> str:
    """The branch in which alone the program computes the target from the source, as the end of a sentence."""
    test = only_branch(q.program.place, q.target_name, q.source_name)
    if test is None:
        return ""
    return (
        f". {q.target_name} is computed from {q.source_name} only if {ast.unparse(test)} (line {test.lineno}), "
        f"and that branch may not "
        "have run"
    )


def dependency_note(q: Question) -> str:
    """The watched values on which the target depends, as the end of a sentence, if they have names."""
    leaves = sorted(q.snapshot.leaves & q.ancestors.keys() & q.names.keys())
    return f"; {q.target_name} depends on {listed([q.names[i] for i in leaves])}" if leaves else ""
