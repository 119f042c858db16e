"""Write sentences on operations where a nan or an infinity began, or that NumPy warned about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tapemagic.engine.events import Event, Place
from tapemagic.engine.recording import Record
from tapemagic.engine.registry import NO_SLOPE
from tapemagic.engine.tape.observer import Site
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.explain.advice import listed
from tapemagic.explain.formatting import derivative_symbol, format_value, label
from tapemagic.explain.lazy_values import has_numbers, with_numbers
from tapemagic.explain.nonfinite import NonFinite, is_finite, nonfinite_on
from tapemagic.report.subject import Subject
from tapemagic.report.verdict.numeric_warning import NumericWarning
from tapemagic.report.verdict.source_operands import OPERATORS, operands_at, operands_on

SAFE = {"arcsin": "0.0", "arccos": "0.0", "arctanh": "0.0", "arccosh": "2.0"}
"""Inputs with a finite derivative for functions that have none at 1.0."""

PARTS = {"divide": (1, "the divisor"), "power": (0, "the base")}
"""Operations written as operators: the position and the name of the operand that must not be 0."""

DIVIDING = {"divide", "true_divide", "floor_divide", "remainder", "fmod", "divmod", "reciprocal"}
"""NumPy's names of operations that divide."""

WORDS = {"divide by zero": "division by zero", "invalid value": "invalid value (nan)"}
"""Better words for NumPy's kinds of warnings."""

METHODS = {"reduce": "a sum or product", "accumulate": "a cumulative sum or product"}
"""Descriptions of ufunc methods, which NumPy's warnings name instead of the operation."""

ZERO_IN_TENSORFLOW = {"sqrt", "rsqrt", "reciprocal"}
"""Operations whose derivatives TensorFlow multiplies by 0 as 0, even where they are infinite."""

MOST_OPERANDS = 3
"""Maximum number of operands to name."""


def describe(subject: Subject, fact: NonFinite, earlier: str = "") -> str:
    """Write a sentence on the place where a nan or an infinity began.

    - `earlier`: Sentences on the step before, each after a space.
    """
    if fact.way == "forward":
        return f"{_of_value(subject, fact)}{earlier} Ignore its gradients."
    return f"{_of_gradient(subject, fact)}{earlier}"


def describe_spared(subject: Subject, symbols: Sequence[str], fact: NonFinite | None) -> str:
    """Write a sentence on gradients that are 0 where no selection uses a value, although the slope there isn't finite.

    - `fact`: The place where a sweep without regard to selections finds the first nan.
    """
    gradients = listed(list(symbols[:MOST_OPERANDS]))
    named = f"What np.where, an index or a mask leaves out adds 0 to {gradients}"
    others = "TensorFlow, PyTorch and JAX give nan here"
    if fact is None:
        return f"{named}. {others}."
    if fact.operation in ZERO_IN_TENSORFLOW:
        others = "PyTorch and JAX give nan here"
    slope = "infinite" if "inf" in (fact.slope or "") else "undefined"
    place = _place_of(subject, fact)
    return f"{named}, although the derivative of {fact.operation} is {slope} {place}. {others}."


def describe_warning(subject: Subject, warning: NumericWarning) -> str:
    """Write a warning: overflow in exp on line 3: x is 1000.0."""
    # NumPy warns of "divide by zero" in log(0) as well.
    words = WORDS.get(warning.kind, warning.kind)
    if warning.kind == "divide by zero" and warning.operation not in DIVIDING:
        words = "infinite result"
    called = f" (in {warning.function})" if warning.function else ""
    operation = METHODS.get(warning.operation, warning.operation)
    text = f"{words} in {operation} on line {warning.line}{called}"
    if warning.is_backward:
        return f"{words} in the backward pass of {operation} (line {warning.line}){called}"
    values = warning.values
    if not values:
        kind: Literal["nan", "inf"] = "nan" if warning.kind == "invalid value" else "inf"
        fact = nonfinite_on(subject.whole, warning.line, warning.operation, kind)
        values = "" if fact is None else operands_of(subject, fact)
    return f"{text}: {values}" if values else text


def bad_assignment(subject: Subject, fact: NonFinite) -> Event | None:
    """The assignment after which a variable, an operand that is the cause, was first read as nan or infinite."""
    if fact.cause != "input":
        return None
    records = list(map(Record._make, subject.whole.records[: fact.record + 1]))
    variable = records[-1].ids[fact.operand or 0]
    bad = next((x for x in subject.reads.get(variable, ()) if not is_finite(x)), None)
    first = next((r for r in records if any(x is bad for x in r.values)), None)
    if bad is None or first is None:
        return None
    assignments = [
        event
        for event in subject.whole.events_of("assigned", "changed")
        if event.number == variable and event.time <= first.output_ids[0]
    ]
    return assignments[-1] if assignments else None


def _of_value(subject: Subject, fact: NonFinite) -> str:
    """Write the sentence on a value."""
    name, value = next((name, unwrap(x)) for name, x in subject.targets if id_of(x) == fact.target)
    operands = operands_of(subject, fact)
    place = f"{fact.operation}{line_of(subject, fact)}"
    if fact.cause != "input":
        place = f"{called(fact.operation, operands)}{line_of(subject, fact)}"
    if fact.cause == "input" and operands.startswith("its input"):
        cause = f"{place} received an input that was already {fact.result}"
    elif fact.cause == "input":
        became = "had become" if bad_assignment(subject, fact) else "was already"
        cause = f"{_name_of_operand(operands)} {became} {fact.result} when {place} used it"
    elif fact.cause in ("0/0", "division by zero") and fact.operation in ("divide", "remainder"):
        cause = f"{place} divides {fact.operands[0]} by {fact.operands[1]}{values_of(operands)}"
    elif fact.cause == "overflow":
        cause = f"{place} is too large for {value.dtype}{values_of(operands)}"
    else:
        cause = f"{place} is {fact.result}{values_of(operands)}"
    return f"{name} {_is(value)} because {cause}."


def called(operation: str, operands: str) -> str:
    """Return an operation with the name of its only operand: "log(s[0, 2])"."""
    name = _name_of_operand(operands)
    is_call = operation not in OPERATORS and not operands.startswith("its input")
    return f"{operation}({name})" if is_call and " and " not in operands else operation


def values_of(operands: str) -> str:
    """Return the values of operands in parentheses: " (x[2] = -1.0)"."""
    values = operands.replace(" is ", " = ").removeprefix("its input = ")
    return f" ({values.removeprefix('its inputs are ')})"


def _name_of_operand(operands: str) -> str:
    """Return the name of an operand whose value is given too: "x" of "x is nan"."""
    return operands.partition(" is ")[0]


def _of_gradient(subject: Subject, fact: NonFinite) -> str:
    """Write the sentence on a gradient."""
    if fact.operation == NO_SLOPE:
        reason = "the first derivative uses a slope that the tape chose at a kink, and this slope has no derivative"
        return f"{_gradients(subject, fact)}: {reason}."
    place = f"the derivative of {fact.operation}"
    at = _place_of(subject, fact)
    begin = f"{_gradients(subject, fact)}: {place}"
    if not fact.slope:
        state = {"overflow": "is too large", "infinite derivative": "is infinite"}
        return f"{begin} {state.get(fact.cause, 'is undefined')} {at}."
    # The rule received 0, and 0 * inf is nan.
    slope = "infinite" if "inf" in fact.slope else "undefined"
    text = f"{begin} is {slope} {at}"
    if fact.unchosen is None:
        return f"{text}, and it is multiplied by 0."
    reason = "np.where multiplies it by 0, because it differentiates both branches"
    return f"{text}, and {reason}. {_advice(subject, fact)}."


def _place_of(subject: Subject, fact: NonFinite) -> str:
    """Return the operands and the line of an operation: "at a[1] = 0.0 (line 2)"."""
    operands = operands_of(subject, fact).replace(" is ", " = ")
    operands = operands.removeprefix("its input = ").removeprefix("its inputs are ")
    where = line_of(subject, fact).strip().replace(" on line", ", line").removeprefix("on ")
    return f"at {operands}{f' ({where})' if where else ''}"


def _gradients(subject: Subject, fact: NonFinite) -> str:
    """Name the gradients of a target that are nan or infinite: dy/dx is nan."""
    gradients = subject.derivatives.gradients.items()
    bad = [
        (derivative_symbol(subject.targets[t][0], subject.sources[s][0], level), unwrap(g))
        for (t, s, level), g in gradients
        if level == fact.order and g is not None and id_of(subject.targets[t][1]) == fact.target
        if not is_finite(unwrap(g))
    ]
    symbol, value = bad[0]
    others = [symbol for symbol, _ in bad[1:]]
    # "is nan (and so is dy/dw)", but "holds nan (and so does dy/dw)".
    verbs = ("does", "do") if np.ndim(value) else ("is", "are")
    named = f"{len(others):,} more" if len(others) > 1 else "".join(others)
    more = f" (and so {verbs[len(others) > 1]} {named})" if others else ""
    return f"{symbol} {_is(value)}{more}"


def _is(value: Any) -> str:
    """Describe a value that is nan, or contains an infinity."""
    kind = "nan" if np.isnan(with_numbers(value)).any() else "inf"
    if np.ndim(value):
        return f"holds {kind}"
    return f"is {format_value(value) if kind == 'inf' else kind}"


def line_of(subject: Subject, fact: NonFinite) -> str:
    """Return the layer and the line of an operation: " in dense on line 4"."""
    origins = subject.whole.origins
    layer = origins.layer_around(origins.sites[fact.record][1]) if origins.sites else ""
    where = [f"in {label(layer)}"] if layer else []
    where += [] if fact.line is None else [f"on line {fact.line}"]
    return " ".join(["", *where])


def operands_of(subject: Subject, fact: NonFinite) -> str:
    """Describe the inputs of an operation at the element: x[2] is -1.0."""
    record = Record._make(subject.whole.records[fact.record])
    places = range(len(record.values)) if len(fact.operands) > 1 else [fact.operand or 0]
    written = _operands_in_text(subject, fact.record, fact.operation)
    pairs = [
        (_name(subject, record, place, text, fact.index) or _written(written, place), text)
        for place, text in zip(places, fact.operands, strict=False)
    ]
    named = list(dict.fromkeys(f"{name} is {text}" for name, text in pairs if name))
    if named:
        return listed(named[:MOST_OPERANDS])
    texts = [text for _, text in pairs[:MOST_OPERANDS]]
    return f"its input{'s are' if len(texts) > 1 else ' is'} {listed(texts)}"


def _written(written: Sequence[str], place: int) -> str:
    """Return an operand as the program writes it, or '' for constants such as np.nan."""
    name = written[place] if place < len(written) else ""
    return "" if name.startswith(("np.nan", "np.inf")) else name


def _operands_in_text(subject: Subject, position: int, operation: str) -> Sequence[str]:
    """Return the operands of an operation as the cell writes them; empty if that isn't clear."""
    place = _place(subject, position)
    if place is None:
        return []
    origins = subject.whole.origins
    _, call, offset, _ = origins.sites[position]
    exact = operands_at(origins.calls[call].code, offset, operation)
    return exact or operands_on(place, operation)


def _place(subject: Subject, position: int) -> Place | None:
    """Return the line of the cell that recorded an operation, or None if a function from another file did."""
    origins, place = subject.whole.origins, subject.context.program.place
    line, call, *_ = origins.sites[position] if origins.sites else Site()
    code = origins.calls[call].code
    if line is None or place is None or (code and code.co_filename != place.file):
        return None
    return Place(place.file, line, "")


def _name(subject: Subject, record: Record, place: int, text: str, index: tuple[int, ...]) -> str:
    """Return the name of an input with the index of its element, or ''."""
    name = subject.known_names.get(record.ids[place], "")
    value = with_numbers(record.values[place])
    if not name or not has_numbers(value) or not np.ndim(value):
        return name
    # The index belongs to the result. Broadcasting prepends axes, and repeats axes of length 1.
    own = index[len(index) - value.ndim :]
    if len(own) == value.ndim:
        own = tuple(0 if n == 1 else i for n, i in zip(value.shape, own, strict=True))
        inside = all(i < n for i, n in zip(own, value.shape, strict=True))
        if inside and format_value(value[own]) == text:
            return f"{name}[{', '.join(map(str, own))}]"
    return name


def _advice(subject: Subject, fact: NonFinite) -> str:
    """Return the advice to replace an input, where a `where` doesn't choose it, by a safe value."""
    position = _origin_of(subject, fact.record)
    record = Record._make(subject.whole.records[position])
    operation = record.name
    safe = SAFE.get(operation, "1.0")
    place, part = PARTS.get(operation, (0, ""))
    written = _written(_operands_in_text(subject, position, operation), place)
    argument = written or subject.known_names.get(record.ids[place], "") or "x"
    chosen = _operands_in_text(subject, fact.unchosen or 0, "where")
    condition = (chosen[0] if len(chosen) == 3 else "") or "condition"
    branches = f"{argument}, {safe}" if fact.branch == 1 else f"{safe}, {argument}"
    inside = f"np.where({condition}, {branches})"
    if part:
        return f"Write {inside} instead of {part}, {argument}"
    if isinstance(getattr(np, operation, None), np.ufunc):
        return f"Write np.{operation}({inside}) instead"
    return f"Pass {operation} a safe input instead, such as {inside}"


def _origin_of(subject: Subject, position: int) -> int:
    """Find the first operation that made an operand nan or infinite. Return `position` if all were finite."""
    record = Record._make(subject.whole.records[position])
    bad = {i for i, x in zip(record.ids, record.values, strict=True) if not is_finite(x)}
    # A safe input must be passed to the first operation with a nan or infinity: later ones only pass it on.
    for before in range(position - 1, -1, -1):
        if not bad:
            break
        record = Record._make(subject.whole.records[before])
        if not bad.isdisjoint(record.output_ids):
            position = before
            bad = {i for i, x in zip(record.ids, record.values, strict=True) if not is_finite(x)}
    return position
