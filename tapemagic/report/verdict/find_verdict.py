"""The verdict: the results of a recording in sentences, problems first."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.explain.contributions import percentage
from tapemagic.explain.formatting import NOT_COMPUTED, derivative_symbol
from tapemagic.explain.nonfinite import NonFinite, first_nonfinite_gradient, is_finite
from tapemagic.report.subject import Subject
from tapemagic.report.summary import summarise
from tapemagic.report.tabs.gradients.check_result import Checked, outcome
from tapemagic.report.tabs.gradients.find_gradients import Derivative
from tapemagic.report.tabs.gradients.own_gradients import OwnGradient
from tapemagic.report.tabs.paths.find_paths import find as find_paths
from tapemagic.report.verdict.broadcasting import broadcasting
from tapemagic.report.verdict.earlier_steps import earlier_step
from tapemagic.report.verdict.kinks import kinks
from tapemagic.report.verdict.nonfinite_text import describe, describe_spared, describe_warning
from tapemagic.report.verdict.statement import Statement, Topic, by_severity

MAX_SENTENCES = 8
"""Maximum number of sentences in a verdict."""

MAX_PER_TOPIC = 3
"""Maximum number of sentences on one topic."""

SHOWN = 4
"""Maximum number of gradients to list for one target."""

MAX_REASON = 320
"""Maximum number of characters in a reason."""

MAX_SENTENCE = 500
"""Maximum number of characters in a sentence."""

LAZY = "This cell uses Dask arrays that haven't been computed yet. Add --compute to the %%tape line to see the numbers."
GRADIENTS, TRAINING, PATHS = "Gradients", "Training", "Paths"
KINDS = {"overflow": "overflow", "division by zero": "divide by zero"}
"""NumPy's kinds of warnings, by the cause of a nan or infinity."""
MORE_PHRASES: Mapping[Topic, tuple[str, str]] = {
    "nonfinite": ("other place", "other places"),
    "warning": ("other line", "other lines"),
    "none": (f"more, in {GRADIENTS}", f"more, in {GRADIENTS}"),
    "missing": (f"more, in {GRADIENTS}", f"more, in {GRADIENTS}"),
    "result": ("more target", "more targets"),
    "kink": ("other place", "other places"),
}
"""The words for one omitted statement, and for several."""


def verdict(
    subject: Subject,
    derivatives: Sequence[Derivative],
    nonfinite: Sequence[NonFinite],
    own: Sequence[OwnGradient] = (),
    flags: Sequence[str] = (),
    remarks: Sequence[Statement] | None = None,
    checks: Sequence[Checked] = (),
) -> tuple[Statement, ...]:
    """State the results of a recording in at most `MAX_SENTENCES` sentences.

    - `derivatives`: The rows of the table of gradients.
    - `nonfinite`: The operations where a nan or an infinity began.
    - `own`: The gradients that the program computed itself.
    - `flags`: Sentences on problems of a training.
    - `remarks`: Statements on lazy values. By default, how to compute them.
    - `checks`: The derivatives that were compared with finite differences.

    Returns
    -------
    tuple of Statement
        Problems first, then the results, then remarks.
    """
    facts = list(dict.fromkeys(_nonfinite(subject, nonfinite)))
    statements = [
        *facts,
        *_warnings(subject, nonfinite),
        *broadcasting(subject),
        *subject.context.notes,
        *_missing(derivatives),
        *_own_nones(own),
        *_asked(own),
        *_results(subject, derivatives, {row.name for row in own if row.higher}),
        *(_uncomputed(subject, derivatives) if remarks is None else remarks),
        *_training(flags),
        *_largest_part(subject),
        *_checks(checks),
        *_spared(subject),
        *kinks(subject),
    ]
    return shortened(sorted(statements, key=by_severity))


def shortened(
    statements: Sequence[Statement], max_count: int = MAX_SENTENCES
) -> tuple[Statement, ...]:
    """At most `most` of the statements, which are sorted by topic; the last of a topic counts those left out.

    Examples
    --------
    >>> found = [Statement("kink", f"abs has no derivative at 0 (line {k}).") for k in range(1, 5)]
    >>> [statement.text for statement in shortened(found, 2)]
    ['abs has no derivative at 0 (line 1).', 'abs has no derivative at 0 (line 2); and 2 other places']
    """
    topics = [list(group) for _, group in groupby(statements, lambda group: group.topic)]
    limit = MAX_PER_TOPIC
    # Shorten all topics equally, so that no topic disappears because another one has many statements.
    while limit > 1 and sum(min(len(group), limit) for group in topics) > max_count:
        limit -= 1
    shown = [statement for group in topics for statement in _first(group, limit)]
    return tuple(
        replace(statement, text=truncate(statement.text, MAX_SENTENCE))
        for statement in shown[:max_count]
    )


def _first(group: Sequence[Statement], limit: int) -> Sequence[Statement]:
    """Return the first statements on a topic. The last of them counts all omitted statements."""
    rest = len(group) - limit
    if rest <= 0:
        return group
    singular, plural = MORE_PHRASES.get(group[0].topic, ("more", "more"))
    last = group[limit - 1]
    # 40 characters are enough for the longest count in MORE_PHRASES.
    shown = truncate(last.text, MAX_SENTENCE - 40).removesuffix(".")
    text = f"{shown}; and {rest:,} {singular if rest == 1 else plural}"
    return [*group[: limit - 1], replace(last, text=text)]


def _warnings(subject: Subject, nonfinite: Sequence[NonFinite]) -> Iterator[Statement]:
    """Yield NumPy's warnings, except for those on operations that the statements on nan and infinity name."""
    forward = [fact for fact in nonfinite if fact.way == "forward"]
    reported = {(fact.line, fact.operation) for fact in forward}
    reported |= {(fact.line, KINDS.get(fact.cause, "invalid value")) for fact in forward}
    for warning in subject.context.warnings:
        # NumPy names a method such as reduce instead of the operation, so the kind on the same line counts too.
        at = {(warning.line, warning.operation), (warning.line, warning.kind)}
        if warning.is_backward or reported.isdisjoint(at):
            text = describe_warning(subject, warning)
            yield Statement("warning", text, warning.line)


def _nonfinite(subject: Subject, nonfinite: Sequence[NonFinite]) -> Iterator[Statement]:
    """Yield the origin of the nan or infinity of each target, or of its gradients."""
    for fact in nonfinite:
        yield Statement(
            "nonfinite", describe(subject, fact, earlier_step(subject, fact)), fact.line
        )
    reported = {fact.target for fact in nonfinite if fact.way == "forward"}
    for name, target in subject.targets:
        if id_of(target) not in reported and not is_finite(unwrap(target)):
            yield Statement(
                "nonfinite",
                f"{name} is {summarise(unwrap(target)).brief}, so its gradients are meaningless.",
            )


def _missing(derivatives: Sequence[Derivative]) -> Iterator[Statement]:
    """Yield each gradient that is None or incomplete, with the reason."""
    none = {(d.target, d.source, d.order) for d in derivatives if d.text is None}
    for derivative in derivatives:
        below = (derivative.target, derivative.source, derivative.order - 1)
        reason = truncate(derivative.reason or "")
        # The derivative of a None is None as well, so only the lowest order is worth a sentence.
        if derivative.text is None and derivative.check and derivative.check.is_lower_wrong:
            continue
        if derivative.text is None and below not in none:
            yield Statement("none", f"{derivative.symbol} is None: {reason}", tab=GRADIENTS)
        elif derivative.text is not None and reason:
            # What a check found is a sentence that names the derivative.
            is_found = derivative.check is not None and derivative.check.outcome == "lacks"
            text = reason if is_found else f"{derivative.symbol}: {reason}"
            yield Statement("missing", text, tab=GRADIENTS)


def _own_nones(own: Sequence[OwnGradient]) -> Iterator[Statement]:
    """Yield each None that the program's own call of a tape returned, with the reason."""
    for entry in own:
        if entry.text is None:
            name = f"{entry.name} = {entry.symbol}" if entry.name else entry.symbol
            text = f"{name}, {entry.origin}, is None: {truncate(entry.reason)}"
            yield Statement("none", text, entry.line, GRADIENTS)


def _asked(own: Sequence[OwnGradient]) -> Iterator[Statement]:
    """Yield the derivatives of higher orders that the program took by nesting tapes."""
    higher = [row for row in own if row.higher and row.text is not None]
    if higher:
        words = (
            f"{row.symbol} = {row.brief}{_in_brackets(row.name, row.remark)}" for row in higher
        )
        yield Statement("result", ", ".join(list(words)[-SHOWN:]), higher[-1].line, GRADIENTS)


def _results(
    subject: Subject, derivatives: Sequence[Derivative], answers: Container[str]
) -> Iterator[Statement]:
    """Yield each target with its gradients; of `answers`, which are derivatives themselves, only the values."""
    for name, target in subject.targets:
        wanted = name not in answers or subject.request.target_names
        rows = [d for d in derivatives if wanted and d.target == name and d.text is not None]
        computed = [row for row in rows if row.value is None or row.value.is_computed]
        listed = ", ".join(
            f"{row.symbol} = {row.value.brief if row.value else row.text}{_of_sum(row, name)}"
            for row in computed[:SHOWN]
        )
        rest = len(computed) - SHOWN
        more = f", and {rest:,} more, in {GRADIENTS}" if rest > 0 else ""
        summary = summarise(unwrap(target))
        value = f"{name} = {summary.brief}"
        # The gradient of an array is that of its sum, but its symbol looks like the whole Jacobian.
        summed = f"of the sum of {name}: " if any(row.summed == name for row in rows) else ""
        later = [row.symbol for row in rows if row not in computed]
        parts = [f"{summed}{listed}{more}"] if computed else []
        if not summary.is_computed:
            later.insert(0, name)
        else:
            parts.insert(0, value)
        if later:
            rest = len(later) - SHOWN - 1
            more = f", and {rest:,} more, in {GRADIENTS}" if rest > 0 else ""
            parts.append(f"{NOT_COMPUTED}: {', '.join(later[: SHOWN + 1])}{more}")
        yield Statement("result", "; ".join(parts), tab=GRADIENTS)


def _of_sum(row: Derivative, target: str) -> str:
    """Return a remark that a higher derivative is that of a sum, and no diagonal of a Hessian, or ''."""
    return _in_brackets(row.note) if row.summed != target else ""


def _in_brackets(*remarks: str) -> str:
    return f" ({'; '.join(filter(None, remarks))})" if any(remarks) else ""


def _uncomputed(subject: Subject, derivatives: Sequence[Derivative]) -> Iterator[Statement]:
    """Yield a note if a target or a gradient is lazy and not computed."""
    pending = any(not summarise(unwrap(target)).is_computed for _, target in subject.targets)
    if pending or any(row.value and not row.value.is_computed for row in derivatives):
        yield Statement("note", LAZY)


def _training(flags: Sequence[str]) -> Iterator[Statement]:
    """Yield the first of the sentences on a training."""
    if flags:
        text = flags[0]
        if len(flags) > 1:
            text = f"{text.removesuffix('.')}; and {len(flags) - 1} more, in {TRAINING}"
        yield Statement("training", text, tab=TRAINING)


def _spared(subject: Subject) -> Iterator[Statement]:
    """Yield the gradients that are 0 where no selection uses a value, and nan in other libraries."""
    table = subject.derivatives
    for t, (name, target) in enumerate(subject.targets):
        symbols = [
            derivative_symbol(name, source, level)
            for s, (source, _) in enumerate(subject.sources)
            for level in (1, 2, 3)
            if (t, s, level) in table.spared
        ]
        if symbols:
            fact = first_nonfinite_gradient(subject.whole, target, careful=False)
            text = describe_spared(subject, symbols, fact)
            yield Statement("note", text, fact.line if fact else None)


def _largest_part(subject: Subject) -> Iterator[Statement]:
    """Yield which path adds the most to the first gradient that is a sum over several paths."""
    paths = subject.shared(find_paths)
    parts = ((entry, entry.largest) for entry in paths.gradients) if paths else ()
    for gradient, part in parts:
        if part is None:
            continue
        symbol, share = gradient.symbol, percentage(part.share)
        if gradient.is_norm:
            text = (
                f"{symbol} is the sum of {gradient.count} paths. By norm, the largest goes through {part.where}: "
                f"{part.contribution}, {share} of the sum of all norms."
            )
        elif gradient.is_signed:
            text = (
                f"{symbol} = {gradient.gradient} is a sum that partly cancels: {part.contribution} through "
                f"{part.where}, and {part.others} through the rest."
            )
        elif part.share == 1:
            text = f"All of {symbol} = {gradient.gradient} comes through {part.where}: other paths add 0."
        else:
            text = f"Of {symbol} = {gradient.gradient}, {part.contribution} ({share}) comes through {part.where}."
        yield Statement("path", text, tab=PATHS)
        return


def _checks(checks: Sequence[Checked]) -> Iterator[Statement]:
    """Yield how the derivatives compare with finite differences, and which were not compared."""
    # Sentences of their own say what the derivatives of the table lack.
    if any(entry.check.outcome != "lacks" for entry in checks):
        differs = any(entry.check.outcome == "differs" for entry in checks)
        yield Statement("differs" if differs else "note", outcome(checks), tab=GRADIENTS)


def truncate(text: str, max_length: int = MAX_REASON) -> str:
    """Cut a long text at the end of a word.

    Examples
    --------
    >>> truncate("one two three", 10)
    'one two…'
    """
    if len(text) <= max_length:
        return text
    return text[: max_length - 1].rsplit(" ", 1)[0].rstrip(" :;,.") + "…"
