"""Why a gradient is None, or along which paths it came about: the chain rule, written out."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tapemagic.analysis.derivatives import symbol
from tapemagic.analysis.evidence import Names, evidence_of
from tapemagic.analysis.paths import Path, paths
from tapemagic.analysis.question import Question
from tapemagic.analysis.reasons import why_none
from tapemagic.analysis.values import brief
from tapemagic.engine.seeds import key_of
from tapemagic.engine.tape import GradientTape
from tapemagic.engine.tensor import Traced

Bindings = Sequence[tuple[int, int | None]]

RELEASED = (
    "the tape has let go of its records after its one gradient: to see the paths, make it with persistent=True, "
    "which is -p in the line of %%tape"
)


@dataclass(frozen=True, repr=False)
class Explanation:
    """What `explain` found.

    Attributes
    ----------
    target, source : str
        What they are called.
    cause : str
        Why there is no gradient, in a word or two; empty if there is one.
    reason : str
        The same in a sentence, with what to write instead.
    gradient : str
        The gradient, if there is one and the tape still knows it.
    paths : tuple of Path
        The ways from the source to the target; the first ones, if there are many.
    count : int
        How many ways there are.
    """

    target: str
    source: str
    cause: str = ""
    reason: str = ""
    gradient: str = ""
    paths: tuple[Path, ...] = ()
    count: int = 0

    @property
    def symbol(self) -> str:
        """The derivative as it is written."""
        return symbol(self.target, self.source, 1)

    def __repr__(self) -> str:
        if self.cause:
            return _wrapped(f"{self.symbol} is None: {self.reason}")
        if not self.paths:
            return _wrapped(f"{self.symbol}: {self.reason}")
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        """The chain rule: a line for each path, with the product of the local derivatives along it."""
        ways = "1 path" if self.count == 1 else f"the sum over {self.count:,} paths"
        lines = [f"{self.symbol} = {self.gradient}, {ways}"]
        lines += [f"  {path}" for path in self.paths]
        if self.count > len(self.paths):
            lines.append(f"  … and {self.count - len(self.paths):,} more")
        return lines


def _wrapped(text: str) -> str:
    """Text in lines that fit into a notebook's output."""
    return textwrap.fill(
        text, 88, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def explain(
    tape: GradientTape,
    target: Any,
    source: Any,
    y: str = "the target",
    x: str = "the source",
    names: Names | None = None,
    bindings: Bindings = (),
    in_cell: bool = False,
) -> Explanation:
    """Explain a gradient by a recording.

    Parameters
    ----------
    tape : GradientTape
        Not consumed.
    target, source : object
        What is differentiated, and with respect to what.
    y, x : str, optional
        What to call them.
    names : mapping of int to str, optional
        What to call other values, by their numbers.
    bindings : sequence of (int, int or None), optional
        The numbers of the values that the source's name was bound to, and on which lines.
    in_cell : bool, optional
        Whether a ``%%tape`` line says what is watched.

    Returns
    -------
    Explanation
    """
    if tape._consumed and tape._last_evidence is None:
        return Explanation(y, x, reason=RELEASED)
    evidence = evidence_of(tape)
    known = {**(names or {})}
    question = Question(tape, evidence, target, source, y, x, known, bindings, in_cell)
    connected = (
        isinstance(target, Traced)
        and isinstance(source, Traced)
        and target.dtype.kind in "fc"
        and source.dtype.kind in "fc"
        and (target is source or (source._id in evidence.tracked and source._id in question.above))
    )
    if not connected:
        reason = why_none(question)
        return Explanation(y, x, reason.cause, reason.text)
    if not tape._records:
        return Explanation(
            y,
            x,
            reason=f"{y} depends on {x}, but {RELEASED}",
        )
    known |= {source._id: x, target._id: y}
    found, count = paths(tape, target, source, known)
    return Explanation(y, x, gradient=_gradient(tape, target, source), paths=found, count=count)


def _gradient(tape: GradientTape, target: Any, source: Any) -> str:
    """The gradient, in one line."""
    gradients = tape._gradients({key_of(source)}, [target], None)
    value = gradients.get(key_of(source))
    return "None" if value is None else brief(getattr(value, "_value", value))
