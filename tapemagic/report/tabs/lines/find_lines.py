"""The lines of a cell, with the values and gradients that they made."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tapemagic.engine.recording import Absent
from tapemagic.engine.tensor.tensor import Traced, has_id, id_of, unwrap
from tapemagic.explain.formatting import clipped, format_value
from tapemagic.explain.lazy_values import with_numbers
from tapemagic.explain.nonfinite import is_finite
from tapemagic.report.context import Context
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.trace.notation import several, symbol_of, text_of
from tapemagic.report.variable_versions import format_reads

MAX_LINES = 120
MAX_LINE_LENGTH = 160
"""The number of characters shown of a line."""

MAX_NAMES = 12
"""The number of names shown of one line."""


@dataclass(frozen=True)
class LineValue:
    """A value that a line of the cell made.

    - `symbol`: The name that the line assigns, or the symbol of a value without a name.
    - `value`: The last value, where the line ran several times.
    - `gradient`: The gradient of the targets with respect to it, 'None' if they do not depend on it, or '' for a
      constant.
    - `runs`: How often the line made it.
    - `first`: The first value, where the line ran several times; else empty.
    """

    symbol: str
    shape: tuple[int, ...]
    value: str
    gradient: str = ""
    runs: int = 1
    first: str = ""
    is_finite: bool = True


@dataclass(frozen=True)
class SourceLine:
    """A line of the cell.

    - `stopped`: Whether the cell stopped here with an error.
    """

    number: int
    text: str
    values: tuple[LineValue, ...] = ()
    stopped: bool = False


def assigned_ids(context: Context) -> Iterator[tuple[int, str, int]]:
    """The line, name and id of each tensor that was assigned; a constant that was watched later has one since."""
    watched = {name: id_of(x) for name, x in context.named if has_id(x)}
    for name, bound in context.bindings.items():
        for place, (i, line) in enumerate(bound, start=1):
            is_last = place == len(bound)
            if line is not None:
                # A constant has an id of 0 or less until it is watched.
                yield line, name, watched.get(name, i) if is_last and i <= 0 else i


def find(subject: Subject) -> tuple[SourceLine, ...]:
    """The lines of a cell, with the values and gradients that they made; of a long cell the first and the last."""
    lines = subject.context.lines
    numbers = range(1, len(lines) + 1)
    # The beginning sets things up, and the end has the target; the middle of a long cell matters least.
    if len(lines) > MAX_LINES:
        half = MAX_LINES // 2
        numbers = [*numbers[:half], *numbers[-half:]]  # type: ignore[assignment]
    results = _LineValues(subject, set(numbers))
    return tuple(
        SourceLine(
            number,
            clipped(lines[number - 1], MAX_LINE_LENGTH),
            tuple(results.on(number)),
            number == subject.context.stopped,
        )
        for number in numbers
    )


@dataclass
class _Results:
    """The results of the operations of one line: the first and the last of its last instruction."""

    first: int
    last: int
    runs: int


@dataclass
class _LineValues:
    """The values that the lines of a cell made.

    - `numbers`: The numbers of the lines that are shown.
    """

    subject: Subject
    numbers: set[int]

    def on(self, number: int) -> Iterator[LineValue]:
        """The values that a line made: what it assigns, or else the result of its last operation."""
        names, constants = self._names.get(number, {}), self._constants.get(number, {})
        text = self.subject.context.lines[number - 1]
        assigned = sorted({**names, **constants}, key=text.find)
        for name in assigned[:MAX_NAMES]:
            ids = names.get(name, ())
            if ids and ids[-1] in self._values:
                first = ids[0] if ids[0] in self._values else ids[-1]
                yield self._value(symbol_of(name).text, ids[-1], len(ids), first)
            elif name in constants:
                yield _constant(symbol_of(name).text, constants[name])
        if not assigned and number in self._results:
            results, records = self._results[number], self.subject.records
            first, last = (several(records[k].output_id)[-1] for k in (results.first, results.last))
            # The values of iterations that a long loop doesn't keep may be gone.
            if last in self._values:
                symbol = symbol_of(self.subject.symbols.get(last, "value")).text
                first = first if first in self._values else last
                yield self._value(symbol, last, results.runs, first)

    def _value(self, symbol: str, i: int, runs: int, first: int) -> LineValue:
        value = self._values[i]
        text = format_value(value)
        read = "" if runs > 1 else format_reads(value, self.subject.reads.get(i, ()))
        if read:
            text = f"{read} when used, {text} now"
        start = text_of(self._values[first]) if runs > 1 and first != i else ""
        return LineValue(
            symbol, np.shape(value), text, self._gradient(i, value), runs, start, is_finite(value)
        )

    def _gradient(self, i: int, value: Any) -> str:
        subject = self.subject
        # Integers have no gradient, not even None.
        if not subject.targets or i in subject.levels or value.dtype.kind not in "fc":
            return ""
        if i in subject.split.versions:
            return self._of_versions(i)
        gradient = subject.adjoints.get(i)
        if gradient is not None:
            return text_of(gradient)
        is_meant = subject.snapshot.tracks(i) and i not in subject.after_gradients
        return "None" if is_meant else ""

    def _of_versions(self, i: int) -> str:
        """The gradient with respect to a variable that changed: the sum of those with respect to its values."""
        gradients = [self.subject.adjoints.get(j) for j in self.subject.split.versions[i]]
        numbers = [with_numbers(g) for g in gradients if g is not None]
        # Summaries of large gradients can't be added up.
        if any(isinstance(g, Summary) for g in numbers):
            return ""
        return text_of(sum(numbers[1:], numbers[0])) if numbers else "None"

    @cached_property
    def _names(self) -> Mapping[int, Mapping[str, Sequence[int]]]:
        """The ids of the tensors that each line assigned to names."""
        # Arrays of numbers: a loop may bind a name a hundred thousand times.
        names: dict[int, dict[str, array[int]]] = {}
        for line, name, i in assigned_ids(self.subject.context):
            if line in self.numbers:
                names.setdefault(line, {}).setdefault(name, array("q")).append(i)
        return names

    @cached_property
    def _constants(self) -> Mapping[int, Mapping[str, Any]]:
        """The numbers and arrays off the tape that each line assigned last."""
        context = self.subject.context
        constants: dict[int, dict[str, Any]] = {}
        for name, value in context.named:
            line = context.assigned.get(name)
            if line is None or line not in self.numbers:
                continue
            if not has_id(value):
                constants.setdefault(line, {})[name] = unwrap(value)
        return constants

    @cached_property
    def _results(self) -> Mapping[int, _Results]:
        """The operations of each line whose result is that of the line."""
        sites, orders = self.subject.snapshot.origins.sites, self.subject.snapshot.origins.orders
        runs: dict[tuple[int, int], _Results] = {}
        before: dict[tuple[int, int], Any] = {}
        last: dict[int, tuple[int, int]] = {}
        numbers, operations = self.numbers, self.subject.operations
        for position in self.subject.positions:
            site = sites[position]
            line, _, offset, _ = site
            if line is None or line not in numbers or orders[position] or position >= operations:
                continue
            key = last[line] = (line, offset)
            results = runs.get(key)
            if results is None:
                results = runs[key] = _Results(position, position, 0)
            # An instruction that makes several operations in one run, such as sum(), ran once.
            results.runs += before.get(key) != site
            if results.runs == 1:
                results.first = position
            results.last = position
            before[key] = site
        omitted = self.subject.snapshot.origins.omitted_runs
        for key, results in runs.items():
            results.runs += omitted.get(key, 0)
        return {line: runs[key] for line, key in last.items()}

    @cached_property
    def _shown_ids(self) -> set[int]:
        """The ids of the values that are shown: of each line the first and the last."""
        bound = [ids for names in self._names.values() for ids in names.values()]
        shown = {i for ids in bound for i in (ids[0], ids[-1]) if i > 0}
        records = self.subject.records
        for results in self._results.values():
            shown.update(several(records[results.first].output_id))
            shown.update(several(records[results.last].output_id))
        return shown

    @cached_property
    def _values(self) -> Mapping[int, Any]:
        """The values that are shown, by id."""
        values_by_id: dict[int, Any] = {}
        shown_ids, subject = self._shown_ids, self.subject
        for _, values, ids, _, output, output_ids in subject.whole.records[: subject.operations]:
            if not shown_ids.isdisjoint(ids):
                values_by_id.update(zip(ids, values, strict=True))
            if output_ids.__class__ is not tuple:
                if output_ids in shown_ids:
                    values_by_id[output_ids] = output
            elif not shown_ids.isdisjoint(output_ids):
                values_by_id.update(zip(output_ids, output, strict=True))
        for _, value in [*subject.context.named, *subject.sources, *subject.targets]:
            if isinstance(value, Traced):
                values_by_id[id_of(value)] = unwrap(value)
        return {
            i: x
            for i, x in values_by_id.items()
            if i > 0 and x is not None and not isinstance(x, Absent)
        }


def _constant(name: str, value: Any) -> LineValue:
    return LineValue(name, np.shape(value), format_value(value), is_finite=is_finite(value))
