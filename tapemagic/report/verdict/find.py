"""The verdict: the results of a recording in sentences, what is wrong first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.explain.formatting import NOT_COMPUTED, format_value
from tapemagic.explain.nonfinite import NonFinite, is_finite
from tapemagic.report.subject import Subject
from tapemagic.report.summary import summarise
from tapemagic.report.tabs.gradients.derivatives import Derivative
from tapemagic.report.tabs.gradients.own_gradients import OwnGradient
from tapemagic.report.verdict.kinks import kinks
from tapemagic.report.verdict.nonfinite_text import describe, describe_warning
from tapemagic.report.verdict.statement import Statement, Topic, by_severity

MAX_SENTENCES = 8
"""The number of sentences in a verdict."""

MAX_PER_TOPIC = 3
"""The number of sentences on one topic."""

SHOWN = 4
"""The number of gradients of one target that are listed."""

MAX_REASON = 200
"""The number of characters of a reason."""

MAX_SENTENCE = 500
"""The number of characters of a sentence."""

LAZY = "This cell uses Dask arrays that haven't been computed yet. Add --compute to the %%tape line to see the numbers."
GRADIENTS, TRAINING = "Gradients", "Training"
KINDS = {"overflow": "overflow", "division by zero": "divide by zero"}
"""The kinds of warnings about operations whose result is not finite, by the cause."""
MORE_PHRASES: Mapping[Topic, tuple[str, str]] = {
    "nonfinite": ("other place", "other places"),
    "warning": ("other line", "other lines"),
    "none": (f"more, in {GRADIENTS}", f"more, in {GRADIENTS}"),
    "missing": (f"more, in {GRADIENTS}", f"more, in {GRADIENTS}"),
    "result": ("more target", "more targets"),
    "kink": ("other place", "other places"),
}
"""The words for one statement that is left out, and for several."""


def verdict(
    subject: Subject,
    derivatives: Sequence[Derivative],
    nonfinite: Sequence[NonFinite],
    own: Sequence[OwnGradient] = (),
    flags: Sequence[str] = (),
    remarks: Sequence[Statement] | None = None,
) -> tuple[Statement, ...]:
    """The results of a recording in at most `MAX_SENTENCES` sentences.

    Parameters
    ----------
    subject : Subject
    derivatives : sequence of Derivative
        The rows of the table of gradients.
    nonfinite : sequence of NonFinite
        The operations where a nan or an infinity began.
    own : sequence of OwnGradient
        The gradients that the program took itself.
    flags : sequence of str
        What looks wrong in a training.
    remarks : sequence of Statement, optional
        Those on values that are not computed; by default how to compute them.

    Returns
    -------
    tuple of Statement
        What is wrong first, then the results, then remarks.
    """
    facts = list(dict.fromkeys(_nonfinite(subject, nonfinite)))
    found = [
        *facts,
        *_warnings(subject, nonfinite),
        *subject.context.notes,
        *_missing(derivatives),
        *_own_nones(own),
        *_results(subject, derivatives),
        *(_uncomputed(subject, derivatives) if remarks is None else remarks),
        *_training(flags),
        *kinks(subject),
    ]
    return shortened(sorted(found, key=by_severity))


def shortened(statements: Sequence[Statement], most: int = MAX_SENTENCES) -> tuple[Statement, ...]:
    """At most `most` of the statements, which are sorted by topic; the last of a topic counts those left out.

    Examples
    --------
    >>> found = [Statement("kink", f"abs has no derivative at 0 (line {k}).") for k in range(1, 5)]
    >>> [statement.text for statement in shortened(found, 2)]
    ['abs has no derivative at 0 (line 1).', 'abs has no derivative at 0 (line 2); and 2 other places']
    """
    topics = [list(group) for _, group in groupby(statements, lambda found: found.topic)]
    limit = MAX_PER_TOPIC
    while limit > 1 and sum(min(len(group), limit) for group in topics) > most:
        limit -= 1
    shown = [statement for group in topics for statement in _first(group, limit)]
    return tuple(replace(said, text=truncate(said.text, MAX_SENTENCE)) for said in shown[:most])


def _first(group: Sequence[Statement], limit: int) -> Sequence[Statement]:
    """The first statements on a topic; the last of them says how many there are besides."""
    rest = len(group) - limit
    if rest <= 0:
        return group
    one, several = MORE_PHRASES.get(group[0].topic, ("more", "more"))
    last = group[limit - 1]
    shown = truncate(last.text, MAX_SENTENCE - 40).removesuffix(".")
    text = f"{shown}; and {rest:,} {one if rest == 1 else several}"
    return [*group[: limit - 1], replace(last, text=text)]


def _warnings(subject: Subject, nonfinite: Sequence[NonFinite]) -> Iterator[Statement]:
    """The warnings of NumPy, but for those about the operations where a nan or an infinity began."""
    forward = [fact for fact in nonfinite if fact.way == "forward"]
    reported = {(fact.line, fact.operation) for fact in forward}
    reported |= {(fact.line, KINDS.get(fact.cause, "invalid value")) for fact in forward}
    for warning in subject.context.warnings:
        at = {(warning.line, warning.operation), (warning.line, warning.kind)}
        if warning.is_backward or reported.isdisjoint(at):
            text = describe_warning(subject, warning)
            yield Statement("warning", text, warning.line)


def _nonfinite(subject: Subject, nonfinite: Sequence[NonFinite]) -> Iterator[Statement]:
    """The origin of the nan or infinity of each target, or of its gradients."""
    for fact in nonfinite:
        yield Statement("nonfinite", describe(subject, fact), fact.line)
    reported = {fact.target for fact in nonfinite if fact.way == "forward"}
    for name, target in subject.targets:
        if id_of(target) not in reported and not is_finite(unwrap(target)):
            yield Statement(
                "nonfinite",
                f"{name} is {format_value(unwrap(target))}, so its gradients are meaningless.",
            )


def _missing(derivatives: Sequence[Derivative]) -> Iterator[Statement]:
    """Each gradient that is None or lacks a part, with the reason."""
    none = {(d.target, d.source, d.order) for d in derivatives if d.text is None}
    for derivative in derivatives:
        below = (derivative.target, derivative.source, derivative.order - 1)
        reason = truncate(derivative.reason or "")
        if derivative.text is None and below not in none:
            yield Statement("none", f"{derivative.symbol} is None: {reason}", tab=GRADIENTS)
        elif derivative.text is not None and reason:
            yield Statement("missing", f"{derivative.symbol}: {reason}", tab=GRADIENTS)


def _own_nones(own: Sequence[OwnGradient]) -> Iterator[Statement]:
    """Each gradient that the program took itself and that is None, with the reason."""
    for entry in own:
        if entry.text is None:
            name = f"{entry.name} = {entry.symbol}" if entry.name else entry.symbol
            text = f"{name}, {entry.origin}, is None: {truncate(entry.reason)}"
            yield Statement("none", text, entry.line, GRADIENTS)


def _results(subject: Subject, derivatives: Sequence[Derivative]) -> Iterator[Statement]:
    """Each target with its gradients."""
    for name, target in subject.targets:
        rows = [d for d in derivatives if d.target == name and d.text is not None]
        known = [row for row in rows if row.value is None or row.value.is_computed]
        listed = ", ".join(f"{row.symbol} = {row.text}" for row in known[:SHOWN])
        rest = len(known) - SHOWN
        more = f", and {rest:,} more, in {GRADIENTS}" if rest > 0 else ""
        value = f"{name} = {format_value(unwrap(target))}"
        summed = f"of the sum of {name}: " if any(row.summed == name for row in rows) else ""
        later = [row.symbol for row in rows if row not in known]
        parts = [f"{summed}{listed}{more}"] if known else []
        if not summarise(unwrap(target)).is_computed:
            later.insert(0, name)
        else:
            parts.insert(0, value)
        if later:
            rest = len(later) - SHOWN - 1
            more = f", and {rest:,} more, in {GRADIENTS}" if rest > 0 else ""
            parts.append(f"{NOT_COMPUTED}: {', '.join(later[: SHOWN + 1])}{more}")
        yield Statement("result", "; ".join(parts), tab=GRADIENTS)


def _uncomputed(subject: Subject, derivatives: Sequence[Derivative]) -> Iterator[Statement]:
    """A statement on what is not computed, if that is a target or a gradient."""
    pending = any(not summarise(unwrap(target)).is_computed for _, target in subject.targets)
    if pending or any(row.value and not row.value.is_computed for row in derivatives):
        yield Statement("note", LAZY)


def _training(flags: Sequence[str]) -> Iterator[Statement]:
    """The first of the sentences on a training."""
    if flags:
        text = flags[0]
        if len(flags) > 1:
            text = f"{text.removesuffix('.')}; and {len(flags) - 1} more, in {TRAINING}"
        yield Statement("training", text, tab=TRAINING)


def truncate(text: str, most: int = MAX_REASON) -> str:
    """A text in full if it is short; otherwise its beginning, up to the end of a word.

    Examples
    --------
    >>> truncate("one two three", 10)
    'one two…'
    """
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(" :;,.") + "…"
