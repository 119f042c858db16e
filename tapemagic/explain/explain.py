"""Explanations of gradients: why one is None, or the paths that it adds up, as the chain rule has them."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap
from tapemagic.explain.causes import why_none, why_without_records
from tapemagic.explain.chain_rule import Path, format_count, paths
from tapemagic.explain.contributions import LineContribution, contributions
from tapemagic.explain.formatting import derivative_symbol, format_value, printable
from tapemagic.explain.missing_parts import missing
from tapemagic.explain.query import Question

RELEASED = (
    "this tape already gave its one gradient and deleted its records. Use persistent=True (%%tape -p) to see the "
    "paths."
)


@dataclass(frozen=True, repr=False)
class Explanation:
    """The reason for a gradient that is None, or the chain rule for one that is not.

    Attributes
    ----------
    target, source : str
        Their names in the program.
    cause : str
        The reason why there is no gradient, in a word or two; empty if there is one.
    reason : str
        The same in a sentence, with what to write instead.
    gradient : str
        The gradient, if there is one and the tape still knows it.
    paths : tuple of Path
        The paths from the source to the target, if they are few.
    count : int
        The number of paths, exact to 28 digits.
    missing : str
        The part that the gradient lacks, or may lack, in a sentence; empty if there is no sign of one.
    lines : tuple of LineContribution
        The parts of the gradient that each line contributes, if the paths are many; the largest ones.
    more_lines : int
        The number of other lines.
    signed : bool
        Whether the shares of the lines are those of the gradient, not of the sum of the sizes.
    development : str
        The gradient along a loop, in a sentence, if there are many paths and the source is not read time and again.
    """

    target: str
    source: str
    cause: str = ""
    reason: str = ""
    gradient: str = ""
    paths: tuple[Path, ...] = ()
    count: int = 0
    missing: str = ""
    lines: tuple[LineContribution, ...] = ()
    more_lines: int = 0
    signed: bool = True
    development: str = ""

    @property
    def symbol(self) -> str:
        """The derivative as it is written."""
        return derivative_symbol(self.target, self.source, 1)

    def __repr__(self) -> str:
        if not self.count:
            return _wrapped(f"{self.symbol}{' is None' * bool(self.cause)}: {self.reason}")
        ways = "1 path" if self.count == 1 else f"the sum over {format_count(self.count)} paths"
        if any(line.share is not None for line in self.lines):
            ways += (
                f"; by line, in percent of {self.symbol if self.signed else 'the sum of the sizes'}"
            )
        lines = [f"{self.symbol} = {self.gradient}, {ways}", *(f"  {path}" for path in self.paths)]
        lines += [_indented(str(line)) for line in self.lines]
        if self.more_lines:
            lines.append(f"  … and {self.more_lines:,} more lines")
        if self.development:
            lines.append(_indented(self.development))
        if self.missing:
            lines.append(_wrapped(f"But {self.missing}"))
        return "\n".join(lines)


def _wrapped(text: str) -> str:
    """Text in lines that fit into a notebook's output."""
    return textwrap.fill(
        text, 88, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _indented(text: str) -> str:
    """A line below the first, in lines that fit into a notebook's output."""
    return textwrap.fill(
        printable(text),
        88,
        initial_indent="  ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def explain(question: Question) -> Explanation:
    """Explain a gradient by a recording, which is not consumed."""
    y, x, evidence = question.target_name, question.source_name, question.snapshot
    target, source = question.target, question.source
    reason = why_without_records(question) if evidence.is_consumed else None
    if not evidence.is_consumed and not _connected(question):
        reason = why_none(question)
    if reason is not None:
        return Explanation(y, x, *reason)
    if not evidence.has_values and (evidence.is_consumed or target is not source):
        depends = f"{y} depends on {x}, but " * (not evidence.is_consumed)
        text = depends + RELEASED
        return Explanation(y, x, reason=text[0].upper() + text[1:] if not depends else text)
    names = {**question.names, id_of(source): x, id_of(target): y}
    found, count = paths(evidence, target, source, names)
    if not count:
        text = f"A function between {x} and {y} has a custom gradient that returns None for this input."
        return Explanation(y, x, "no derivative", text)
    with silence():
        gradient = evidence.tape().gradient(target, source)
    value = "None" if gradient is None else format_value(unwrap(gradient))
    lacks = missing(question)
    if found:
        return Explanation(y, x, "", "", value, found, count, lacks)
    parts = contributions(evidence, target, source)
    return Explanation(
        y,
        x,
        "",
        "",
        value,
        (),
        count,
        lacks,
        parts.lines,
        parts.more,
        parts.signed,
        parts.development,
    )


def _connected(question: Question) -> bool:
    target, source = question.target, question.source
    if not all(isinstance(x, Traced) and x.dtype.kind in "fc" for x in (target, source)):
        return False
    i = id_of(source)
    return target is source or (i in question.snapshot.tracked and i in question.ancestors)
