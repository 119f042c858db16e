"""A gradient that is None, what is known of it, and the reason that is found."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from tapemagic.analysis.explain.advice import at, listed
from tapemagic.analysis.explain.program_text import only_branch
from tapemagic.analysis.snapshot import Ancestry, Link, Names, Snapshot
from tapemagic.engine.events import Place
from tapemagic.engine.recording import time_of
from tapemagic.engine.tensor.tensor import Traced, id_of


@dataclass(frozen=True)
class Reason:
    """Why there is no gradient.

    Attributes
    ----------
    cause : str
        One of the causes in a word or two, the same for all Nones of a kind, such as ``"not watched"``.
    text : str
        A sentence in the user's names, with what to write instead.
    """

    cause: str
    text: str


@dataclass(frozen=True)
class Program:
    """The program that asks.

    Attributes
    ----------
    place : Place or None
        The line that asks, or one of the cell that is asked about.
    held : mapping of str to object
        What its names stand for.
    tape : str
        What it calls the tape.
    in_cell : bool
        Whether a ``%%tape`` line says what is watched.
    """

    place: Place | None = None
    held: Mapping[str, Any] = field(default_factory=dict)
    tape: str = "tape"
    in_cell: bool = False


@dataclass(frozen=True, eq=False)
class Question:
    """A gradient that is None, and what is known of it.

    Attributes
    ----------
    evidence : Snapshot
    target, source : object
        What was to be differentiated, and with respect to what.
    y, x : str
        What the user calls them.
    names : mapping of int to str
        What the user calls other values, by their numbers.
    bindings : sequence of (int, int or None)
        The numbers of the values that the source's name was bound to, and the lines, oldest first.
    program : Program
    """

    evidence: Snapshot
    target: Any
    source: Any
    y: str
    x: str
    names: Names = field(default_factory=dict)
    bindings: Sequence[tuple[int, int | None]] = ()
    program: Program = Program()

    @property
    def in_cell(self) -> bool:
        """Whether a ``%%tape`` line says what is watched."""
        return self.program.in_cell

    @property
    def block(self) -> str:
        """Where to compute what is to be recorded."""
        return "cell" if self.in_cell else "tape's 'with' block"

    @property
    def above(self) -> Mapping[int, None]:
        """The values on which the target depends by operations that have a derivative."""
        return self.evidence.above(id_of(self.target), blocked=False)

    @property
    def ancestry(self) -> Ancestry:
        """The inputs of the operations that made the target."""
        return self.evidence.ancestry(id_of(self.target))

    def computed(self, numbers: Iterable[int]) -> set[int]:
        """Those of some values that were computed from the source by operations that the tape recorded."""
        return self.evidence.computed_from(id_of(self.source), numbers)

    @property
    def time(self) -> float:
        """When the target was computed; later than anything for what no tape took notice of."""
        i = id_of(self.target) if isinstance(self.target, Traced) else 0
        return time_of(i) if i else inf

    def inputs(self) -> list[Link]:
        """All inputs of the operations that made the target."""
        return self.ancestry.inputs


def perhaps_paused(q: Question, text: str) -> Reason:
    """No connection; if recording was stopped for a while, that may be why."""
    for pause in q.evidence.events_of("paused"):
        return Reason(
            "recording stopped",
            f"{text}. Recording was stopped{at(pause)}: what is computed there is a constant",
        )
    return Reason("not connected", text + untaken(q))


def untaken(q: Question) -> str:
    """The branch in which alone the program computes the target from the source, as the end of a sentence."""
    test = only_branch(q.program.place, q.y, q.x)
    if test is None:
        return ""
    condition = f"({ast.unparse(test)}, line {test.lineno})"
    return (
        f". By the program's text it is computed from {q.x} in one branch alone {condition}, which may not have been "
        "taken"
    )


def depends(q: Question) -> str:
    """The watched values on which the target depends, as the end of a sentence, if they have names."""
    above = q.above
    leaves = sorted(i for i in above if i in q.evidence.leaves)
    names = [q.names[i] for i in leaves if i in q.names]
    return f"; it depends on {listed(names)}" if names else ""
