"""Why a gradient is None, or along which paths it came about: the chain rule, written out."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from tapemagic.analysis.explain.causes import why_none, why_without_records
from tapemagic.analysis.explain.chain_rule import Path, counted, paths
from tapemagic.analysis.explain.incomplete import missing
from tapemagic.analysis.explain.query import Question, Reason
from tapemagic.analysis.formatting import derivative_symbol, format_value
from tapemagic.analysis.snapshot import Snapshot
from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap

RELEASED = (
    "the tape released its records after its one gradient: to see the paths, make it with persistent=True, "
    "which is -p in the line of %%tape"
)


@dataclass(frozen=True, repr=False)
class Explanation:
    """The reason for a gradient that is None, or the chain rule for one that is not.

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
        The number of ways, exact to 28 digits.
    missing : str
        What the gradient may lack, since it left the tape; empty if there is no sign of anything.
    """

    target: str
    source: str
    cause: str = ""
    reason: str = ""
    gradient: str = ""
    paths: tuple[Path, ...] = ()
    count: int = 0
    missing: str = ""

    @property
    def symbol(self) -> str:
        """The derivative as it is written."""
        return derivative_symbol(self.target, self.source, 1)

    def __repr__(self) -> str:
        if self.cause:
            return _wrapped(f"{self.symbol} is None: {self.reason}")
        if not self.paths:
            return _wrapped(f"{self.symbol}: {self.reason}")
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        """The chain rule: a line for each path, with the product of the local derivatives along it."""
        ways = "1 path" if self.count == 1 else f"the sum over {counted(self.count)} paths"
        lines = [f"{self.symbol} = {self.gradient}, {ways}"]
        lines += [f"  {path}" for path in self.paths]
        if self.count > len(self.paths):
            lines.append(f"  … and {counted(self.count - len(self.paths))} more")
        if self.missing:
            lines.append(_wrapped(f"But {self.missing}"))
        return lines


def _wrapped(text: str) -> str:
    """Text in lines that fit into a notebook's output."""
    return textwrap.fill(
        text, 88, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def explain(question: Question) -> Explanation:
    """Explain a gradient by a recording, which is not consumed."""
    y, x, evidence = question.y, question.x, question.evidence
    target, source = question.target, question.source
    if evidence.is_released:
        known = why_without_records(question)
        return _none(question, known) if known else Explanation(y, x, reason=RELEASED)
    if not _connected(question):
        return _none(question, why_none(question))
    if not evidence.has_values and target is not source:
        return Explanation(y, x, reason=f"{y} depends on {x}, but {RELEASED}")
    found, count = paths(
        evidence, target, source, {**question.names, id_of(source): x, id_of(target): y}
    )
    if not count:
        text = f"between {x} and {y} stands a function with a gradient of its own, which returns None for this input"
        return Explanation(y, x, "no derivative", text)
    gradient = _gradient(evidence, target, source)
    return Explanation(y, x, "", "", gradient, found, count, missing(question))


def _none(question: Question, reason: Reason) -> Explanation:
    return Explanation(question.y, question.x, reason.cause, reason.text)


def _connected(question: Question) -> bool:
    """Whether there is a gradient."""
    target, source = question.target, question.source
    real = all(isinstance(x, Traced) and x.dtype.kind in "fc" for x in (target, source))
    tracked = question.evidence.tracked
    return real and (
        target is source or (id_of(source) in tracked and id_of(source) in question.above)
    )


def _gradient(snapshot: Snapshot, target: Any, source: Any) -> str:
    """The gradient, in one line."""
    with silence():
        gradient = snapshot.tape().gradient(target, source)
    return "None" if gradient is None else format_value(unwrap(gradient))
