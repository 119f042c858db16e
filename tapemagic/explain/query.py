"""Question and Reason: a gradient to explain with the evidence about it, and the explanation."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
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
    """The program whose gradient is explained."""

    place: Place | None = None  # the asking line, or a line of the cell in question
    namespace: Mapping[str, Any] = field(default_factory=dict)
    tape: str = "tape"  # the program's name for the tape
    in_cell: bool = False  # a %%tape line, not a call of watch(), names the watched values
    variables: AbstractSet[int] = frozenset()  # ids of the Variables that a %%tape cell used


@dataclass(frozen=True, eq=False)
class Question:
    """A gradient to explain, and all evidence."""

    snapshot: Snapshot
    target: Any
    source: Any
    target_name: str  # the program's name for the target
    source_name: str  # the program's name for the source
    names: Names = field(default_factory=dict)  # names of other values
    bindings: Sequence[tuple[int, int | None]] = ()  # ids of values of x, with lines, oldest first
    program: Program = Program()

    @property
    def in_cell(self) -> bool:
        """True if a ``%%tape`` line names the watched values."""
        return self.program.in_cell

    @property
    def block(self) -> str:
        """The recorded part of the program, as text."""
        return "cell" if self.in_cell else "tape's 'with' block"

    @property
    def ancestors(self) -> Mapping[int, None]:
        """The values that the target depends on through operations with a derivative."""
        return self.snapshot.ancestors(id_of(self.target), blocked=False)

    @property
    def ancestry(self) -> Ancestry:
        """The inputs of all operations that the target was computed by."""
        return self.snapshot.ancestry(id_of(self.target))

    @property
    def constants(self) -> list[int]:
        """The stamps of the target's inputs that are results of unrecorded operations."""
        return [link.number for link in self.ancestry.inputs if is_stamp(link.number)]

    @property
    def time(self) -> float:
        """The time at which the target was computed, infinite if it has no stamp."""
        i = id_of(self.target) if isinstance(self.target, Traced) else 0
        return time_of(i) if i else inf

    @property
    def watched_at(self) -> int:
        """The time at which a tensor was watched, 0 for a Variable, which is watched when it is read."""
        is_tensor = not isinstance(self.source, Variable)
        return self.snapshot.tracked.get(id_of(self.source), 0) if is_tensor else 0


def with_pause_note(q: Question, text: str) -> Reason:
    """Return a reason with a note, if recording was stopped for a while, that this may be why."""
    for pause in q.snapshot.events_of("paused"):
        text = f"{text}. Recording was stopped{at(pause)}, so values computed there are constants."
        return Reason("recording stopped", text)
    return Reason("not connected", f"{text}{branch_note(q)}.")


def branch_note(q: Question) -> str:
    """Return the end of a sentence that names the only branch that computes the target from the source, or ''."""
    test = only_branch(q.program.place, q.target_name, q.source_name)
    if test is None:
        return ""
    return (
        f". {q.target_name} is computed from {q.source_name} only if {ast.unparse(test)} (line {test.lineno}), "
        f"and that branch may not "
        "have run"
    )


def dependency_note(q: Question) -> str:
    """Return the end of a sentence that names the watched values that the target depends on, or ''."""
    leaves = sorted(q.snapshot.leaves & q.ancestors.keys() & q.names.keys())
    return f"; {q.target_name} depends on {listed([q.names[i] for i in leaves])}" if leaves else ""
