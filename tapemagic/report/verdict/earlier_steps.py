"""Find the step before a nan or infinity: where its operand became 0, and which stable function to write instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from tapemagic.engine.recording import Record
from tapemagic.explain.formatting import format_value
from tapemagic.explain.lazy_values import has_numbers, with_numbers
from tapemagic.explain.nonfinite import DIVISORS, NonFinite
from tapemagic.report.subject import Subject
from tapemagic.report.verdict.nonfinite_text import called, line_of, operands_of, values_of

LOGS = {"log", "log2", "log10"}
UNDERFLOWING = {
    "exp",
    "exp2",
    "sigmoid",
    "softmax",
    "power",
    "square",
    "multiply",
    "divide",
    "prod",
}
"""Operations whose results may be too small for a floating-point number, although no operand is 0."""

PASSING = {
    "multiply",
    "negative",
    "absolute",
    "sqrt",
    "power",
    "square",
    "divide",
    "sum",
    "mean",
    "prod",
    "where",
}
"""Operations whose result is 0 where an operand is."""

MAX_STEPS = 100
"""Maximum number of operations to follow back."""

LOGITS = "or give the logits to a loss with from_logits=True"

Kind = Literal["underflow", "rounding", "computed"]


class Step(NamedTuple):
    """The operation that computed the operand of another one.

    - `kind`: {'underflow', 'rounding', 'computed'}. Its result was too small, and became 0; a number was lost next to
      1; or neither.
    - `passed`: The names of the operations in between, from the last to the first.
    """

    position: int
    element: tuple[int, ...]
    kind: Kind
    passed: tuple[str, ...] = ()


def earlier_step(subject: Subject, fact: NonFinite) -> str:
    """Say where the operand of a nan or infinity was computed, and what to write instead, after a space, or ''."""
    if fact.cause == "input":
        return ""
    search = _Search(subject)
    record = search.records[fact.record]
    place = DIVISORS.get(fact.operation, 0) if fact.way == "forward" else fact.operand or 0
    if place >= len(record.ids):
        return ""
    step = search.began(record, place, fact.index)
    advice = _stable_overflow(search, fact) if fact.cause == "overflow" else ""
    if step is None:
        return advice and f" {advice}."
    operation = search.records[step.position]
    # Each element of a softmax or a product depends on all elements of its operand.
    element = () if operation.name in {"softmax", "prod", "sum"} else step.element
    values = [search.element(x, operation.output, element) for x in operation.values]
    shown = replace(
        fact,
        record=step.position,
        operation=operation.name,
        line=search.line(step.position),
        index=element,
        operands=tuple(map(format_value, values)),
        operand=None,
    )
    operands = operands_of(subject, shown)
    where = f"{called(operation.name, operands)}{line_of(subject, shown)}"
    advice = advice or _stable(search, record, step)
    tail = f" {advice}." if advice else ""
    result = operation.output
    before = replace(fact, operands=fact.operands[place : place + 1], operand=place)
    name = operands_of(subject, before).partition(" is ")[0]
    name = "It" if name.startswith("its input") else name
    if step.kind == "underflow":
        return (
            f" {name} is 0 because {where} underflowed: its value is too small for {result.dtype}"
            f"{values_of(operands)}.{tail}"
        )
    if step.kind == "rounding":
        rounded = format_value(search.element(result, result, step.element))
        return f" {name} is 0 because {where} was rounded to {rounded}{values_of(operands)}.{tail}"
    # On the same line, the reader sees the operation anyway.
    if shown.line is None or shown.line == fact.line or name == "It":
        return tail
    return f" {name} comes from {where}{values_of(operands)}.{tail}"


def _stable(search: _Search, record: Record, step: Step) -> str:
    """Return the advice for a function that computes the same without underflow or rounding, or ''."""
    began = search.records[step.position]
    argument = search.name(step.position)
    between = set(step.passed) - {"index", "reshape", "squeeze", "transpose", "take", "negative"}
    if step.kind == "rounding":
        if began.name == "sigmoid" and record.name == "log":
            instead = f"tapemagic.log_sigmoid(-{_bracketed(argument)})"
            return f"Write {instead} instead of log(1 - sigmoid({argument})), {LOGITS}"
        if "divide" in between:
            return _of_written_sigmoid(search, step) if record.name == "log" else ""
        if began.name == "add":
            return f"Write np.log1p({search.name(step.position, -1)}) instead of the log of the sum"
        if began.name == "exp":
            return f"Write np.expm1({argument}) instead of np.exp({argument}) - 1"
        return ""
    if step.kind != "underflow" or record.name not in LOGS:
        return ""
    if began.name in {"softmax", "sigmoid"} and not between and record.name == "log":
        return f"Write tapemagic.log_{began.name}({argument}) instead of the log of {began.name}, {LOGITS}"
    if began.name == "exp" and not between and record.name == "log":
        return f"log undoes exp: write {argument} instead of log(exp({argument}))"
    if began.name == "exp" and between == {"sum"} and record.name == "log":
        return f"Write tapemagic.logsumexp({argument})"
    if began.name == "prod" and not between:
        return f"Write np.sum(np.{record.name}({argument})) instead of the log of the product"
    return "Compute with logarithms: the log of a product is the sum of the logs"


def _of_written_sigmoid(search: _Search, step: Step) -> str:
    """Return the advice for the log of 1 - 1 / (1 + exp(-x)), or '' if the divisor is another sum."""
    sum_of_two = search.records[step.position]
    exponentials = [
        position
        for number in sum_of_two.ids
        if (position := search.positions.get(number)) is not None
        and search.records[position].name == "exp"
    ]
    # Of exp(a) + exp(b), one may be 1, too.
    if len(exponentials) == 1 and _is_one(sum_of_two):
        exponent = search.name(exponentials[0])
        instead = f"tapemagic.log_sigmoid({exponent})"
        return f"Write {instead} instead of log(1 - 1 / (1 + exp({exponent}))), {LOGITS}"
    return ""


def _stable_overflow(search: _Search, fact: NonFinite) -> str:
    """Return the advice for a function that computes the same without the overflow of an exp, or ''."""
    if fact.operation != "exp":
        return ""
    argument = search.name(fact.record)
    readers = search.readers(fact.record)
    names = {search.records[k].name for k in readers}
    after = {search.records[k].name: k for k in readers}
    for k in readers:
        record = search.records[k]
        following = {search.records[j].name for j in search.readers(k)}
        if record.name == "sum" and following & LOGS:
            return f"Write tapemagic.logsumexp({argument})"
        if record.name == "sum" and "divide" in following | names:
            return f"Write tapemagic.softmax({argument})"
        if record.name == "add" and _is_one(record) and following & LOGS:
            return f"Write np.logaddexp(0, {argument}) instead of np.log(1 + np.exp({argument}))"
        if record.name == "add" and _is_one(record) and "divide" in following:
            return f"Write tapemagic.sigmoid({_negated(argument)}) instead of 1 / (1 + np.exp({argument}))"
    # exp(z) / sum(exp(z)): the sum reads another exp of the same value.
    if "divide" in after and "sum" in {
        search.records[j].name for k in search.same(fact.record) for j in search.readers(k)
    }:
        return f"Write tapemagic.softmax({argument})"
    return ""


def _is_one(record: Record) -> bool:
    return any(np.ndim(x) == 0 and has_numbers(x) and x == 1 for x in record.values)


def _bracketed(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def _negated(text: str) -> str:
    """Write the negative of an expression: z for -z."""
    inner = text.removeprefix("-")
    return inner if inner != text and inner.isidentifier() else f"-{_bracketed(text)}"


class _Search:
    """Follows values back through the recorded operations, one element at a time."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    @cached_property
    def records(self) -> Sequence[Record]:
        """All operations."""
        return list(map(Record._make, self.subject.whole.records))

    @cached_property
    def positions(self) -> Mapping[int, int]:
        """The position of the operation that computed each value, by the id of the value."""
        return {i: k for k, record in enumerate(self.records) for i in record.output_ids}

    def line(self, position: int) -> int | None:
        """Return the line of an operation."""
        lines = self.subject.whole.origins.lines
        return lines[position] if lines else None

    def name(self, position: int, place: int = 0) -> str:
        """Return the name of an operand of an operation, or the expression that the program writes there, or "x"."""
        record = self.records[position]
        if known := self.subject.known_names.get(record.ids[place]):
            return known
        line = self.line(position)
        operation = NonFinite(
            "forward", "nan", "undefined", record.name, position, line, (), ("",), "", "", place
        )
        written = operands_of(self.subject, operation).partition(" is ")[0]
        return "x" if written.startswith("its input") else written

    def readers(self, position: int) -> list[int]:
        """Return the positions of the operations that read a result."""
        outputs = set(self.records[position].output_ids)
        return [k for k, record in enumerate(self.records) if outputs & {*record.ids}]

    def same(self, position: int) -> list[int]:
        """Return the positions of the operations that compute the same as another one."""
        record = self.records[position]
        return [
            k for k, r in enumerate(self.records) if (r.name, r.ids) == (record.name, record.ids)
        ]

    def element(self, value: Any, result: Any, index: tuple[int, ...]) -> Any:
        """Return the element of an operand that one element of the result uses, or the operand as a whole."""
        value = with_numbers(value)
        if not has_numbers(value) or not np.ndim(value):
            return value
        try:
            return np.broadcast_to(value, np.shape(result))[index]
        except (ValueError, IndexError):
            return value

    def began(self, record: Record, place: int, index: tuple[int, ...]) -> Step | None:
        """Find the operation that computed the operand of another one; of a 0, the one where it became 0."""
        passed: list[str] = []
        value, number = with_numbers(record.values[place]), record.ids[place]
        index = _fitted(value, index)
        for _ in range(MAX_STEPS):
            position = self.positions.get(number)
            if position is None:
                return None
            record = self.records[position]
            if isinstance(record.output, tuple) or not has_numbers(with_numbers(record.output)):
                return None
            found = self._step(record, position, index, tuple(passed))
            if isinstance(found, Step):
                return found
            passed.append(record.name)
            place, index = found
            number = record.ids[place]
        return None

    def _step(
        self, record: Record, position: int, index: tuple[int, ...], passed: tuple[str, ...]
    ) -> Step | tuple[int, tuple[int, ...]]:
        """Return the step that an operation is, or the operand, and its element, that its result of 0 comes from."""
        output = with_numbers(record.output)
        if len(index) != np.ndim(output):
            return Step(position, (), "computed", passed)
        if np.asarray(output)[index] != 0:
            return Step(position, index, "computed", passed)
        inputs = [with_numbers(x) for x in record.values]
        if record.name == "index" and np.size(inputs[0]):
            numbers = np.arange(np.size(inputs[0])).reshape(np.shape(inputs[0]))
            chosen = np.asarray(numbers[(record.params or {})["index"]])[index]
            return 0, tuple(map(int, np.unravel_index(int(chosen), np.shape(inputs[0]))))
        if record.name in {"reshape", "squeeze"}:
            flat = int(np.ravel_multi_index(index, np.shape(output))) if index else 0
            return 0, tuple(map(int, np.unravel_index(flat, np.shape(inputs[0]))))
        if record.name in {"subtract", "log", "log2", "log10"}:
            return self._rounded(record, position, index, passed)
        elements = [self.element(x, output, index) for x in inputs]
        for place, x in enumerate(elements) if record.name in PASSING else ():
            # The numerator of a quotient; the others are symmetric, or have one operand.
            if record.name in {"divide", "power"} and place:
                break
            zeros: Any = np.argwhere(np.equal(x, 0)) if has_numbers(x) else ()
            all_zero = len(zeros) == np.size(x) or record.name == "prod"
            if len(zeros) and all_zero and record.ids[place] in self.positions:
                return place, _fitted(inputs[place], index) if not np.ndim(x) else tuple(
                    zeros[0].tolist()
                )
            if len(zeros):
                return Step(position, index, "computed", passed)
        kind: Kind = "underflow" if record.name in UNDERFLOWING else "computed"
        return Step(position, index, kind, passed)

    def _rounded(
        self, record: Record, position: int, index: tuple[int, ...], passed: tuple[str, ...]
    ) -> Step:
        """Return the step of 1 - p or exp(x) - 1 that is 0, or of the log of 1 + x that is 0."""
        for number, x in zip(record.ids, record.values, strict=True):
            before = self.positions.get(number)
            if before is None or self.element(x, record.output, index) != 1:
                continue
            other = self.records[before]
            inner = _fitted(with_numbers(other.output), index)
            # The sigmoid, written out: 1 / (1 + exp(-x)) is 1 where the divisor is.
            quotient: tuple[str, ...] = ()
            if other.name == "divide" and other.ids[0] not in self.subject.whole.tracked:
                divisor = self.positions.get(other.ids[1], before)
                if self.records[divisor].name == "add":
                    before, other, quotient = divisor, self.records[divisor], ("divide",)
                    inner = _fitted(with_numbers(other.output), inner)
            operands = [self.element(y, other.output, inner) for y in other.values]
            lost = other.name == "add" and all(np.all(y != 0) for y in operands)
            if lost or (
                other.name in {"sigmoid", "softmax", "exp"}
                and record.name == "subtract"
                and np.all(operands[0] != 0)
            ):
                return Step(before, inner, "rounding", (*passed, record.name, *quotient))
        return Step(position, index, "computed", passed)


def _fitted(value: Any, index: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of the element of an operand that an element of the result uses, by broadcasting."""
    shape = np.shape(value)
    own = index[len(index) - len(shape) :] if len(index) >= len(shape) else ()
    own = tuple(0 if n == 1 else i for n, i in zip(shape, own, strict=False))
    # Of a product of matrices, for example, the element of the result isn't one of the operand.
    inside = len(own) == len(shape) and all(i < n for i, n in zip(own, shape, strict=True))
    return own if inside else ()
