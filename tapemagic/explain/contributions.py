"""The parts of a gradient that each line of a program contributes, and how gradients develop along a loop."""

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
"""The number of lines that are written out: those with the largest contributions."""

DOMINANT_SHARE = 0.95
"""The share of a line's contributions that the last, or the first, of them are said to make."""

EQUAL_RTOL = 1e-6
"""The relative difference up to which contributions are said to be equal."""

MAX_SINGLE_VALUE_READS = 8
"""The number of operations that read the source up to which it may be said to go through a loop as one value."""

MIN_RUNS = 3
"""The number of times that an instruction runs from which on it is said how gradients develop along it."""


@dataclass(frozen=True)
class LineContribution:
    """The part of a gradient that comes from the operations of one line that read the source.

    Attributes
    ----------
    place : str
        The line with its text; the name of the operation where the line is not known.
    line : int or None
    times : int
        The number of times that the line ran, as far as its operations tell.
    each : str
        The unit of `times`: 'times', or 'operations' of a line whose instructions ran in no regular turns.
    total : float, complex or None
        The sum of the contributions of a source that is a number.
    size : float
        The sum of the sizes of the contributions: of numbers, or the Euclidean norms of arrays.
    share : float or None
        The part of the gradient, or of the sum of all sizes where contributions have several signs; None if that
        means nothing.
    words : str
        The distribution over the times.
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
    """The parts of a gradient, line by line.

    Attributes
    ----------
    lines : tuple of LineContribution
        In the order of the program; at most `MAX_LINES`.
    more : int
        The number of other lines.
    signed : bool
        Whether shares are those of the gradient, whose contributions have all the same sign.
    development : str
        A sentence on the gradient along a loop, of a source that is not read time and again; empty otherwise.
    """

    lines: tuple[LineContribution, ...] = ()
    more: int = 0
    signed: bool = True
    development: str = ""


Instruction = tuple[CodeType | str, int]
"""The code object and the offset of an instruction; the name of an operation whose place is not known, and 0."""


class _Use(NamedTuple):
    """The contribution of one execution of an instruction."""

    instruction: Instruction
    run: tuple[int, int]
    value: Any  # a number; None where the source is an array
    size: float


def percentage(share: float) -> str:
    """A share in percent, not rounded to all or to nothing.

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
    """The parts of the gradient of a target that arrive at a source, line by line.

    The gradient is their sum: that of what each operation passes on which reads the source itself.
    """
    start = id_of(source)
    with silence():
        tracked = reachable(snapshot.records, snapshot.tracked, [start])
    uses: list[tuple[int, Any]] = []
    goes_through = sum(start in record[2] for record in snapshot.records) <= MAX_SINGLE_VALUE_READS
    along: list[tuple[int, float]] = []

    def hear(position: int, gradients: Gradients) -> None:
        record = snapshot.records[position]
        if start in record[2]:
            value = _passed(Record._make(record), start, tracked, gradients)
            if value is not None:
                uses.append((position, value))
        if goes_through and record[-1] in gradients:
            along.append((position, size_of(gradients[record[-1]])))

    observe_sweep(snapshot.records, tracked, [target], hear)
    if not all(has_numbers(value) for _, value in uses):
        return Contributions()
    lines: defaultdict[Any, list[_Use]] = defaultdict(list)
    for position, value in reversed(uses):
        site, instruction = _instruction(snapshot, position)
        place = Record._make(snapshot.records[position]).name if site.line is None else site.line
        number = None if np.ndim(value) else value.item()
        _add(lines[place], _Use(instruction, (site.call, site.run), number, size_of(value)))
    found = _summed(lines, _file(snapshot))
    if goes_through and all(line.times == 1 for line in found.lines):
        return replace(found, development=_development(snapshot, along[::-1]))
    return found


def _passed(record: Record, start: int, tracked: Mapping[int, int], gradients: Gradients) -> Any:
    """The gradient that a record passes to a source; None if none."""
    numbers, output = record.output_id, record.output
    g: Any
    if isinstance(numbers, tuple):
        found = [gradients.get(i) for i in numbers]
        if all(one is None for one in found):
            return None
        zeros = (np.zeros(y.shape, y.dtype) for y in output)
        g = tuple(zero if one is None else one for one, zero in zip(found, zeros, strict=True))
        newest = numbers[0]
    else:
        g, newest = gradients.get(numbers), numbers
        if g is None:
            return None
        if g.dtype != output.dtype:
            g = g.astype(output.dtype)
    if tracked.get(start, newest + 1) > newest:
        return None
    total = None
    for position, i in enumerate(record.ids):
        rule = Edge(start, record, position, newest).rule if i == start else None
        passed = rule and dense(rule(g, output, *record.values, **(record.params or {})))
        if passed is not None:
            passed = fit(passed, record.values[position], record.name, position)
            total = passed if total is None else total + passed
    return np.conjugate(total) if total is not None and total.dtype.kind == "c" else total


def _instruction(snapshot: Snapshot, position: int) -> tuple[Site, Instruction]:
    """The place that recorded an operation, and the instruction there."""
    origins = snapshot.origins
    site = Site._make(origins.sites[position]) if origins.sites else Site()
    code = origins.calls[site.call].code
    if code is None:
        return site._replace(run=position), (Record._make(snapshot.records[position]).name, 0)
    return site, (code, site.offset)


def _file(snapshot: Snapshot) -> str:
    """The file of the lines in a recording; empty if it is not known."""
    code = snapshot.origins.calls[0].code
    return "" if code is None else code.co_filename


def _add(uses: list[_Use], use: _Use) -> None:
    """Add what an operation contributes; operations of one execution contribute together."""
    if uses and (uses[-1].instruction, uses[-1].run) == (use.instruction, use.run):
        last = uses[-1]
        both = None if last.value is None or use.value is None else last.value + use.value
        size = last.size + use.size if both is None else abs(both)
        uses[-1] = use._replace(value=both, size=size)
    else:
        uses.append(use)


def _summed(lines: Mapping[Any, list[_Use]], file: str) -> Contributions:
    """The contributions of each line, added up."""
    turns = {place: _iterations(uses) for place, uses in lines.items()}
    every = [turn for _, found in turns.values() for turn in found]
    signed = _have_one_sign(every)
    whole = math.fsum(turn.size for turn in every) if _are_finite(every) else 0.0
    found = []
    for place, (each, uses) in turns.items():
        known = [use.value for use in uses if use.value is not None]
        total = sum(known) if len(known) == len(uses) else None
        size = sum(use.size for use in uses)
        share = size / whole if len(turns) > 1 and 0 < whole < math.inf else None
        is_line = isinstance(place, int)
        text = format_line(Place(file, place, "")) if is_line else place
        words = _words(uses, each)
        line = place if is_line else None
        found.append(LineContribution(text, line, len(uses), each, total, size, share, words))
    largest = sorted(found, key=_size, reverse=True)[:MAX_LINES]
    shown = tuple(line for line in found if line in largest)
    return Contributions(shown, len(found) - len(shown), signed)


def _size(line: LineContribution) -> float:
    return math.inf if math.isnan(line.size) else line.size


def _iterations(uses: Sequence[_Use]) -> tuple[str, list[_Use]]:
    """The contributions of a line, each time that it ran; of each operation, if that cannot be told."""
    steps = [use.instruction for use in uses]
    turn = list(dict.fromkeys(steps))
    count, rest = divmod(len(steps), len(turn))
    if rest or steps != turn * count or not _run_together(turn):
        return "operations", list(uses)
    size = len(turn)
    return "times", [_together(uses[k : k + size]) for k in range(0, len(uses), size)]


def _run_together(turn: Sequence[Instruction]) -> bool:
    """Whether instructions always run one after the other: no jump stands between them."""
    if len(turn) == 1:
        return True
    codes = {code for code, _ in turn}
    code = codes.pop()
    offsets = [offset for _, offset in turn]
    if codes or isinstance(code, str):
        return False
    return not any(min(offsets) < jump < max(offsets) for jump in _jumps(code))


@cache
def _jumps(code: CodeType) -> tuple[int, ...]:
    """The offsets of the jumps in a code object."""
    return tuple(step.offset for step in dis.get_instructions(code) if "JUMP" in step.opname)


def _together(uses: Sequence[_Use]) -> _Use:
    values = [use.value for use in uses]
    total = None if None in values else sum(value for value in values if value is not None)
    size = sum(use.size for use in uses) if total is None or len(uses) == 1 else abs(total)
    return uses[0]._replace(value=total, size=size)


def _are_finite(uses: Iterable[_Use]) -> bool:
    return all(math.isfinite(use.size) for use in uses)


def _have_one_sign(uses: Sequence[_Use]) -> bool:
    """Whether all contributions are real numbers, none of them negative or none of them positive."""
    values = [use.value for use in uses if isinstance(use.value, float)]
    up, down = (value >= 0 for value in values), (value <= 0 for value in values)
    return len(values) == len(uses) and (all(up) or all(down))


def _words(uses: Sequence[_Use], each: str) -> str:
    """The distribution of contributions over the times that a line ran."""
    count = len(uses)
    bad = [k for k, use in enumerate(uses, 1) if not math.isfinite(use.size)]
    one = "time" if each == "times" else "operation"
    if count == 1:
        return ""
    if bad:
        return f"not finite in {len(bad):,} of them, the last of these {one} {bad[-1]:,}"
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
        many, share = _dominant_part(ordered)
        if 2 * many <= count:
            ends = f"the {end} {many:,}" if many > 1 else f"the {end} {one}"
            return f"{percentage(share)} {of} from {ends}"
    return (
        f"{norm}{format_number(shown[0])} from the first, {format_number(shown[-1])} from the last"
    )


def _are_equal(values: Sequence[complex]) -> bool:
    return all(abs(value - values[0]) <= EQUAL_RTOL * abs(values[0]) for value in values)


def _dominant_part(sizes: Sequence[float]) -> tuple[int, float]:
    """The number of the first sizes that make up `DOMINANT_SHARE` of all, and the share that they make."""
    largest = max(sizes)
    parts = [size / largest for size in sizes]
    whole = math.fsum(parts)
    total = 0.0
    for many, part in enumerate(parts, 1):
        total += part
        if total >= DOMINANT_SHARE * whole:
            return many, min(total / whole, 1.0)
    return len(sizes), 1.0


def _development(snapshot: Snapshot, along: Sequence[tuple[int, float]]) -> str:
    """The gradient with respect to the results of the instruction that ran most often, from the last to the first.

    Parameters
    ----------
    snapshot : Snapshot
    along : sequence of (int, float)
        The positions of the operations between source and target, with the sizes of the gradients of their results.
    """
    runs: defaultdict[Any, dict[Any, tuple[int, float]]] = defaultdict(dict)
    for position, size in along:
        site, instruction = _instruction(snapshot, position)
        runs[instruction][site.call, site.run] = position, size
    if not runs:
        return ""
    most = max(runs.values(), key=lambda found: (len(found), max(found.values())[0]))
    if len(most) < MIN_RUNS:
        return ""
    (position, first), *_, (_, last) = most.values()
    record = Record._make(snapshot.records[position])
    line = _instruction(snapshot, position)[0].line
    where = "" if line is None else f" on {format_line(Place(_file(snapshot), line, ''))}"
    norm = "the norm of the gradient" if record.output.shape else "the size of the gradient"
    return (
        f"on the way back through {record.name}{where}, {len(most):,} times, {norm} with respect to its result "
        f"{_trend([size for _, size in most.values()], first, last)}"
    )


def _trend(sizes: Sequence[float], first: float, last: float) -> str:
    """The words on the way of sizes from the last to the first."""
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
