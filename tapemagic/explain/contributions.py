"""Split a gradient into the contributions of the program's lines, and describe how gradients change along a loop."""

from __future__ import annotations

import dis
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.events import Place
from tapemagic.engine.operations.scatter import dense
from tapemagic.engine.recording import Record, silence
from tapemagic.engine.tape.careful_sweep import spoiled_to_zero
from tapemagic.engine.tape.gradient_steps import size_of
from tapemagic.engine.tape.observer import Site
from tapemagic.engine.tape.sweep import Gradients, fit, reachable
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.chain_rule import Edge
from tapemagic.explain.formatting import format_line, format_number
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.observed_sweep import observe_sweep
from tapemagic.explain.snapshot import Snapshot

MAX_LINES = 12
"""Maximum number of lines to show: those with the largest contributions."""

DOMINANT_SHARE = 0.95
"""The share of a line's contributions that counts as dominant, if the first or the last runs make it."""

EQUAL_RTOL = 1e-6
"""The relative tolerance for calling contributions equal."""

MAX_SINGLE_VALUE_READS = 8
"""Maximum number of operations that read a source which goes through a loop as a single value."""

MIN_RUNS = 3
"""Minimum number of runs of an instruction for describing how the gradient changes along it."""


@dataclass(frozen=True)
class LineContribution:
    """The contribution of the operations on one line that read the source.

    - `place`: The line with its text, or the name of the operation if the line isn't known.
    - `times`: The number of times that the line ran, if its operations show it.
    - `each`: The unit of `times`: 'times', or 'operations' if the instructions didn't run in regular iterations.
    - `total`: Float, complex or None. The sum of the contributions, if the source is a scalar.
    - `size`: The sum of the absolute values of scalars, or of the Euclidean norms of arrays.
    - `share`: The fraction of the gradient, or of the sum of all sizes if contributions differ in sign. None if there
      is only one line, or a nan or infinity.
    - `words`: How the contributions are distributed over the times.
    """

    place: str
    line: int | None
    times: int
    each: str
    total: complex | None
    size: float
    share: float | None
    words: str

    def __str__(self) -> str:
        often = f", {self.times:,} {self.each}" if self.times > 1 else ""
        parts = [] if self.total is None else [format_number(self.total)]
        parts += [f"norm {format_number(self.size)}"] * (self.total is None and self.times == 1)
        parts += [] if self.share is None else [percentage(self.share)]
        text = f"{self.place}{often}: {', '.join(parts)}"
        return f"{text}{'; ' * bool(parts)}{self.words}" if self.words else text


@dataclass(frozen=True)
class Contributions:
    """The contributions to a gradient, line by line.

    - `lines`: In the order of the program. At most `MAX_LINES`.
    - `more`: The number of other lines.
    - `signed`: True if all contributions have the same sign, so that shares are shares of the gradient.
    - `development`: A sentence on how the gradient changes along a loop. Empty if the source is read in every
      iteration.
    """

    lines: tuple[LineContribution, ...] = ()
    more: int = 0
    signed: bool = True
    development: str = ""


Instruction = tuple[CodeType | str, int]
"""Code object and offset of an instruction, or the name of the operation and 0 if its place isn't known."""


class _Use(NamedTuple):
    """The contribution of one execution of an instruction."""

    instruction: Instruction
    run: tuple[int, int]
    value: Any  # a scalar, or None for an array
    size: float


def percentage(share: float) -> str:
    """Format a share in percent, without rounding a part to 0 % or 100 %.

    Examples
    --------
    >>> percentage(0.981), percentage(0.99999), percentage(1.0), percentage(0.0001)
    ('98 %', 'over 99 %', '100 %', 'under 1 %')
    """
    if 0 < share < 0.01:
        return "under 1 %"
    if 0.99 < share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def contributions(snapshot: Snapshot, target: Any, source: Any) -> Contributions:
    """Split the gradient of a target with respect to a source into contributions of lines.

    Each operation that reads the source contributes what its rule passes to the source. The gradient is the sum.
    """
    start = id_of(source)
    with silence():
        tracked = reachable(snapshot.records, snapshot.tracked, [start])
    uses: list[tuple[int, Any]] = []
    goes_through = sum(start in record[2] for record in snapshot.records) <= MAX_SINGLE_VALUE_READS
    along: list[tuple[int, float]] = []

    def hear(position: int, gradients: Gradients) -> None:
        if position == len(snapshot.records) - 1:  # a sweep begins, perhaps for the second time
            uses.clear()
            along.clear()
        record = snapshot.records[position]
        if start in record[2]:
            value = _passed(Record._make(record), start, tracked, gradients)
            if value is not None:
                uses.append((position, value))
        if goes_through and record[-1] in gradients:
            along.append((position, size_of(gradients[record[-1]])))

    gradient = observe_sweep(snapshot.records, tracked, [target], hear).get(start)
    if not all(has_numbers(value) for _, value in uses):
        return Contributions()
    if gradient is not None:
        uses = [(position, spoiled_to_zero(value, gradient)) for position, value in uses]
    lines: defaultdict[Any, list[_Use]] = defaultdict(list)
    # The sweep runs backwards, the lines appear in the order of the program.
    for position, value in reversed(uses):
        site, instruction = _instruction(snapshot, position)
        place = Record._make(snapshot.records[position]).name if site.line is None else site.line
        number = None if np.ndim(value) else value.item()
        _add(lines[place], _Use(instruction, (site.call, site.run), number, size_of(value)))
    summary = _summed(lines, _file(snapshot))
    if goes_through and all(line.times == 1 for line in summary.lines):
        return replace(summary, development=_development(snapshot, along[::-1]))
    return summary


def _passed(record: Record, start: int, tracked: Mapping[int, int], gradients: Gradients) -> Any:
    """Return the gradient that a record passes to a source, or None if it passes nothing."""
    numbers, output = record.output_id, record.output
    g: Any
    if isinstance(numbers, tuple):
        cotangents = [gradients.get(i) for i in numbers]
        if all(g_part is None for g_part in cotangents):
            return None
        zeros = (np.zeros(y.shape, y.dtype) for y in output)
        g = tuple(
            zero if g_part is None else g_part
            for g_part, zero in zip(cotangents, zeros, strict=True)
        )
        newest = numbers[0]
    else:
        g, newest = gradients.get(numbers), numbers
        if g is None:
            return None
        # As in the sweep: rules receive gradients of the dtype of the result.
        if g.dtype != output.dtype:
            g = g.astype(output.dtype)
    # Then the source was watched only after this operation, or not at all.
    if tracked.get(start, newest + 1) > newest:
        return None
    total = None
    for position, i in enumerate(record.ids):
        rule = Edge(start, record, position, newest).rule if i == start else None
        passed = rule and dense(rule(g, output, *record.values, **(record.params or {})))
        if passed is not None:
            passed = fit(passed, record.values[position], record.name, position)
            total = passed if total is None else total + passed
    # The sweep works with conjugates (see `sweep`), a tape returns the gradient.
    return np.conjugate(total) if total is not None and total.dtype.kind == "c" else total


def _instruction(snapshot: Snapshot, position: int) -> tuple[Site, Instruction]:
    """Find the place and the instruction that recorded an operation."""
    origins = snapshot.origins
    site = Site._make(origins.sites[position]) if origins.sites else Site()
    code = origins.calls[site.call].code
    if code is None:
        return site._replace(run=position), (Record._make(snapshot.records[position]).name, 0)
    return site, (code, site.offset)


def _file(snapshot: Snapshot) -> str:
    """Return the file of the recorded lines, or '' if it isn't known."""
    code = snapshot.origins.calls[0].code
    return "" if code is None else code.co_filename


def _add(uses: list[_Use], use: _Use) -> None:
    """Add the contribution of an operation. All operations of one execution of an instruction form one contribution."""
    if uses and (uses[-1].instruction, uses[-1].run) == (use.instruction, use.run):
        last = uses[-1]
        both = None if last.value is None or use.value is None else last.value + use.value
        size = last.size + use.size if both is None else abs(both)
        uses[-1] = use._replace(value=both, size=size)
    else:
        uses.append(use)


def _summed(lines: Mapping[Any, list[_Use]], file: str) -> Contributions:
    """Add up the contributions of each line."""
    by_line = {place: _iterations(uses) for place, uses in lines.items()}
    every = [use for _, lines_found in by_line.values() for use in lines_found]
    signed = _have_one_sign(every)
    total_size = math.fsum(use.size for use in every) if _are_finite(every) else 0.0
    lines_found = []
    for place, (each, uses) in by_line.items():
        values = [use.value for use in uses if use.value is not None]
        total = sum(values) if len(values) == len(uses) else None
        size = sum(use.size for use in uses)
        share = size / total_size if len(by_line) > 1 and 0 < total_size < math.inf else None
        is_line = isinstance(place, int)
        text = format_line(Place(file, place, "")) if is_line else place
        words = _words(uses, each)
        line = place if is_line else None
        lines_found.append(LineContribution(text, line, len(uses), each, total, size, share, words))
    largest = sorted(lines_found, key=_size, reverse=True)[:MAX_LINES]
    shown = tuple(line for line in lines_found if line in largest)
    return Contributions(shown, len(lines_found) - len(shown), signed)


def _size(line: LineContribution) -> float:
    return math.inf if math.isnan(line.size) else line.size


def _iterations(uses: Sequence[_Use]) -> tuple[str, list[_Use]]:
    """Group the contributions of a line by its runs, or by operation if the runs can't be separated."""
    steps = [use.instruction for use in uses]
    one_run = list(dict.fromkeys(steps))
    # Runs are regular if the same instructions repeat in the same order, and no jump between them can skip one.
    count, rest = divmod(len(steps), len(one_run))
    if rest or steps != one_run * count or not _run_together(one_run):
        return "operations", list(uses)
    size = len(one_run)
    return "times", [_together(uses[k : k + size]) for k in range(0, len(uses), size)]


def _run_together(instructions: Sequence[Instruction]) -> bool:
    """Return True if no jump between instructions can skip some of the group."""
    if len(instructions) == 1:
        return True
    codes = {code for code, _ in instructions}
    code = codes.pop()
    offsets = [offset for _, offset in instructions]
    if codes or isinstance(code, str):
        return False
    return not any(min(offsets) < jump < max(offsets) for jump in _jumps(code))


@cache
def _jumps(code: CodeType) -> tuple[int, ...]:
    """Return the offsets of all jumps in a code object."""
    return tuple(step.offset for step in dis.get_instructions(code) if "JUMP" in step.opname)


def _together(uses: Sequence[_Use]) -> _Use:
    values = [use.value for use in uses]
    total = None if None in values else sum(value for value in values if value is not None)
    size = sum(use.size for use in uses) if total is None or len(uses) == 1 else abs(total)
    return uses[0]._replace(value=total, size=size)


def _are_finite(uses: Iterable[_Use]) -> bool:
    return all(math.isfinite(use.size) for use in uses)


def _have_one_sign(uses: Sequence[_Use]) -> bool:
    """Return True if all contributions are real numbers of one sign. Zeros fit both signs."""
    values = [use.value for use in uses if isinstance(use.value, float)]
    up, down = (value >= 0 for value in values), (value <= 0 for value in values)
    return len(values) == len(uses) and (all(up) or all(down))


def _words(uses: Sequence[_Use], each: str) -> str:
    """Describe how contributions are distributed over the runs of a line."""
    count = len(uses)
    bad = [k for k, use in enumerate(uses, 1) if not math.isfinite(use.size)]
    unit = "time" if each == "times" else "operation"
    if count == 1:
        return ""
    if bad:
        return f"nan or infinite in {len(bad):,} of them, the last of these {unit} {bad[-1]:,}"
    if not any(use.size for use in uses):
        return "0.0 each"
    values = [use.value for use in uses if use.value is not None]
    norm = "" if len(values) == count else "norm "
    shown = [use.size for use in uses] if norm else values
    if _are_equal(shown):
        return f"{norm}{format_number(shown[0])} each"
    of = "of it" if _have_one_sign(uses) else "of the sum of the sizes"
    sizes = [use.size for use in uses]
    for end, ordered in (("last", sizes[::-1]), ("first", sizes)):
        count_of_part, share = _dominant_part(ordered)
        if 2 * count_of_part <= count:
            ends = f"the {end} {count_of_part:,}" if count_of_part > 1 else f"the {end} {unit}"
            return f"{percentage(share)} {of} from {ends}"
    return (
        f"{norm}{format_number(shown[0])} from the first, {format_number(shown[-1])} from the last"
    )


def _are_equal(values: Sequence[complex]) -> bool:
    return all(abs(value - values[0]) <= EQUAL_RTOL * abs(values[0]) for value in values)


def _dominant_part(sizes: Sequence[float]) -> tuple[int, float]:
    """Return how many of the first sizes make up `DOMINANT_SHARE` of all, and their exact share."""
    # Relative to the largest size, a sum of huge sizes can't overflow.
    largest = max(sizes)
    parts = [size / largest for size in sizes]
    total_of_all = math.fsum(parts)
    total = 0.0
    for count, part in enumerate(parts, 1):
        total += part
        if total >= DOMINANT_SHARE * total_of_all:
            return count, min(total / total_of_all, 1.0)
    return len(sizes), 1.0


def _development(snapshot: Snapshot, along: Sequence[tuple[int, float]]) -> str:
    """Describe the gradient with respect to the results of the instruction that ran most often, from last to first.

    - `along`: Sequence of (int, float). The positions of the operations between source and target, with the sizes of
      the gradients of their results.
    """
    runs: defaultdict[Any, dict[Any, tuple[int, float]]] = defaultdict(dict)
    for position, size in along:
        site, instruction = _instruction(snapshot, position)
        runs[instruction][site.call, site.run] = position, size
    if not runs:
        return ""
    # If several instructions ran equally often, the one nearest to the target counts.
    longest = max(
        runs.values(), key=lambda executions: (len(executions), max(executions.values())[0])
    )
    if len(longest) < MIN_RUNS:
        return ""
    (position, first), *_, (_, last) = longest.values()
    record = Record._make(snapshot.records[position])
    line = _instruction(snapshot, position)[0].line
    where = "" if line is None else f" on {format_line(Place(_file(snapshot), line, ''))}"
    norm = "the norm of the gradient" if record.output.shape else "the size of the gradient"
    return (
        f"in the backward pass through {record.name}{where}, {len(longest):,} times, {norm} with respect to its result "
        f"{_trend([size for _, size in longest.values()], first, last)}"
    )


def _trend(sizes: Sequence[float], first: float, last: float) -> str:
    """Describe how sizes change from the last run to the first, in the order of the backward pass."""
    bad = [k for k, size in enumerate(sizes, 1) if not math.isfinite(size)]
    if bad:
        return f"is nan or infinite in {len(bad):,} of them, the last of these time {bad[-1]:,}"
    zero = [k for k, size in enumerate(sizes, 1) if not size]
    if zero:
        when = f"0.0 in {len(zero):,} of them, the last of these time {zero[-1]:,}"
        return f"is {format_number(last)} the last time, and {when}"
    if abs(first - last) <= EQUAL_RTOL * last:
        return f"is {format_number(last)} the last time and {format_number(first)} the first time"
    verb = "grows" if first > last else "shrinks"
    rate = math.exp((math.log(first) - math.log(last)) / (len(sizes) - 1))
    return (
        f"{verb} from {format_number(last)} the last time to {format_number(first)} the first time, "
        f"by a factor of {rate:.3g} each time on average"
    )
