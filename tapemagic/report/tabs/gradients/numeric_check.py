"""Derivatives of every order, checked by finite differences of the recorded operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.gradcheck.finite_differences import (
    CENTRAL,
    STEP,
    WeightedSum,
    entry_of,
    entry_size,
    flat,
)
from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.errors import NotComputedError
from tapemagic.explain.formatting import format_number
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.snapshot import Snapshot
from tapemagic.report.derivatives import failure_reason
from tapemagic.report.tabs.gradients.check_result import Check
from tapemagic.report.tabs.gradients.replaying import (
    Replay,
    ReplayError,
    double,
    replay_of,
    several,
)

MAX_COMPARED = 50
"""The largest number of entries of a source that are compared."""
WORK = 3e8
"""Maximum number of elements to compute; beyond, fewer entries are compared: roughly a second's work."""
MAX_WORK = 5 * WORK
"""The number of elements after which a saved page, or a report on request, begins no further check."""
OVERHEAD = 3000
"""The number of elements that could be computed in the time that it takes to call a function."""
COPIES = 12
"""The number of copies of a source in one comparison."""
SWEEPS = 3
"""The cost of a repeated derivative, in that of the operations that it records: recording, sweeping and checking."""

# With step 1e-3, the formula of 6th order is exact to about 2e-13 of the function's values: their rounding, 2e-16,
# divided by the step. The recorded gradient carries the rounding of its own dtype, hence the coarser limits below.
# tests/report/test_checks.py checks right and wrong gradients of every dtype against these limits.
TOLERANCE = 1e-7
TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}
"""The relative difference that counts as none, in double precision and below."""
# Where a function bends strongly within the step, one that is shorter by 100 has a truncation error smaller by 1e12,
# but a rounding error larger by 100: hence the rougher tolerance.
SHORTER, ROUGHER = 1e-2, 1e-5
"""The factor of the shorter step that is tried where a gradient differs, and the tolerance for it."""
SHORTEST = 1e-4
"""The factor of the step that shows whether the differences settle: they don't where a derivative jumps nearby."""
SLIGHT = 1e-3
"""Entries smaller than this, relative to the largest, are only as exact as one of this size."""
SHORTENED = (1e-2, 1e-3, 1e-4)
"""The factors of the steps by which the slopes on both sides are computed."""
KINK = 1e-2
"""The relative difference of the slopes on both sides of a kink."""
# At a kink the slopes on both sides differ by the same for every step. For a smooth function the difference shrinks
# with the step, by 10 each time.
KINKED = 2.0
"""The factor within which these differences agree for all steps, if there is a kink."""
# Double precision rounds the target to 2e-16 of its size, and the quotient divides that by the step of 1e-3.
ROUNDING = 5e-12
"""A difference smaller than this, relative to the target's values, may be due to their rounding."""
HALF = 1e-4
"""The relative difference up to which one number is called half of another."""
NOISE = 1e-8
"""A finite difference smaller than this, relative to what it is compared with, is shown as zero."""

OUT_OF_TIME = "checking the other gradients took too long; {} checks them all"
TOO_LONG = "repeating its operations would take too long"
UNCOMPUTED = "this cell uses Dask arrays: check the gradient on a sample in memory"
LOST = "it is lost in the rounding error of {}, which {} much larger"
UNSTEADY = "the {} jumps or bends sharply near this point, so finite differences don't settle"


class Claim(NamedTuple):
    """A derivative that a report shows, as a question to finite differences.

    It is the derivative of something one order lower: of the targets, or of their derivatives with respect to `chain`.

    - `targets`: Tensors; the derivatives are those of their sum.
    - `chain`: For each lower order, the tensors with respect to which it was taken: one, except for the last.
    - `sources`: The tensors that are changed.
    - `value`: The gradient of the sum of what is one order lower, or all derivatives as a matrix, with a column for
      each element of the sources.
    - `is_matrix`: Whether `value` is such a matrix.
    - `labels`: For a matrix, the names of its rows and of its columns by their numbers.
    """

    targets: Sequence[Any]
    chain: Sequence[Sequence[Any]]
    sources: Sequence[Any]
    value: Any
    is_matrix: bool = False
    labels: tuple[Callable[[int], str], Callable[[int], str]] = (str, str)

    @property
    def lost(self) -> str:
        """The reason why rounding hides the derivative."""
        if self.chain:
            return LOST.format("the numbers that it was computed from", "are")
        return LOST.format("the target", "is")

    @property
    def below(self) -> str:
        """The differentiated quantity: the target, or its derivative one order lower."""
        return f"derivative of order {len(self.chain)}" if self.chain else "target"


def check_replayed(snapshot: Snapshot, claim: Claim, work: float) -> tuple[Check, float]:
    """Compare a derivative, in as many entries as an amount of work allows; return also the amount that it took."""
    points = {id_of(x): unwrap(x) for x in (*claim.sources, *(x for xs in claim.chain for x in xs))}
    known = (claim.value, *map(unwrap, claim.targets), *points.values())
    if not all(map(has_numbers, known)):
        return Check("not checked", note=UNCOMPUTED), 0.0
    if claim.is_matrix and any(x.dtype.kind == "c" for x in known):
        return Check("not checked", note="its numbers are complex"), 0.0
    if not claim.value.size:
        return Check("not checked", note="it has no entries"), 0.0
    if not all(np.all(np.isfinite(x)) for x in known):
        return Check("not checked", note="some numbers are nan or infinite"), 0.0
    # Finding the operations takes as long as repeating them once.
    found = OVERHEAD * float(len(snapshot.records))
    with silence(), np.errstate(all="ignore"):
        try:
            replay = replay_of(snapshot, list(map(id_of, claim.targets)), points)
            at, cost, scale = _lower(replay, claim)
            if claim.chain and len(CENTRAL) * cost > MAX_WORK:
                return Check("not checked", note=TOO_LONG), found + cost
            tolerance = TOLERANCES.get(str(claim.value.dtype), TOLERANCE)
            chosen = chosen_entries(at.point.size // entry_size(at.inputs[0]), work, cost)
            check = Comparison(at, claim, tolerance, scale, replay.own_gradients).result(chosen)
        except ReplayError as error:
            return Check("not checked", note=str(error)), found
        except NotComputedError:
            return Check("not checked", note=UNCOMPUTED), found
        except Exception as error:  # noqa: BLE001 -- rules and operations may be any function
            return Check("not checked", note=failure_reason(error)), found
        return check, found + len(CENTRAL) * len(chosen) * cost


def _lower(replay: Replay, claim: Claim) -> tuple[WeightedSum, float, float]:
    """Return what is one order lower as a function of the sources.

    The second value is the number of elements that a call computes, the third the size of the numbers whose rounding
    it carries.
    """
    numbers = [id_of(x) for x in claim.sources]
    inputs = [replay.points[i] for i in numbers]
    computed = [y for record in replay.operations for y in several(record.output)]

    def lower(*values: Any) -> list[Any]:
        changed = dict(zip(numbers, map(unwrap, values), strict=True))
        if not claim.chain:
            return replay(changed)
        tape, goals, sources = replay.tape(changed)
        for k, below in enumerate(claim.chain, 1):
            xs = [sources[id_of(x)] for x in below]
            # Nothing differentiates the last of them, so it isn't recorded.
            with tape if k < len(claim.chain) else nullcontext():
                goals = tape.gradient(goals, xs, unconnected_gradients="zero")
        computed[:] = [y for record in tape.records for y in record.outputs]
        return list(map(unwrap, goals))

    outputs = list(map(double, lower(*inputs)))
    weights = flat([np.ones_like(y) for y in outputs])
    size = sum(x.size for x in inputs)
    cost = float(sum(y.size for y in computed) + OVERHEAD * len(computed) + COPIES * size)
    scale = float(np.sum(np.abs(flat(outputs))))
    if claim.chain:
        cost *= SWEEPS
        # Where large numbers cancel, as in the gradient of a sum of softmax, the rounding is theirs.
        sizes = (float(np.max(np.abs(y), initial=0.0)) for y in computed)
        scale = max([scale, *sizes])
    return WeightedSum(lower, inputs, outputs, weights), cost, scale


def chosen_entries(size: int, work: float, cost: float) -> list[int]:
    """Entries of the sources, spread evenly: all, or as many as an amount of work allows."""
    count = int(min(max(work / (len(CENTRAL) * cost), 1), MAX_COMPARED, size))
    # Evenly spread, not random: a cell that runs again must give the same report, as nbval checks.
    return sorted(set(np.linspace(0, size - 1, count).round().astype(int).tolist()))


class _Column(NamedTuple):
    """The derivatives by one entry of the sources, times a step: by the tape, and by finite differences.

    - `bend`: How much the slopes between the points of the finite differences differ.
    """

    tape: Any
    quotient: Any
    least: float = 0.0
    bend: float = 0.0

    @property
    def gap(self) -> float:
        """The largest difference; infinite if there are no finite differences."""
        gap = float(np.max(np.abs(self.tape - self.quotient)))
        return gap if np.isfinite(gap) else inf

    @property
    def size(self) -> float:
        """The largest absolute value, or `least`."""
        sizes = np.max(np.abs(self.tape)), np.max(np.abs(self.quotient)), self.least
        return float(max(sizes))


@dataclass
class Comparison:
    """The check of a derivative by finite differences.

    - `tolerance`: The relative difference that counts as none.
    - `scale`: The size of the numbers whose rounding the differentiated quantity carries.
    - `own`: The functions with custom gradients that it was computed by.
    - `digits`: The significant digits of a finite difference.
    - `shorter`, `shortest`: The factors of the shorter steps.
    """

    at: WeightedSum
    claim: Claim
    tolerance: float
    scale: float
    own: Sequence[str] = ()
    digits: int = 17
    shorter: float = SHORTER
    shortest: float = SHORTEST

    def result(self, chosen: list[int]) -> Check:
        """Compare the chosen entries, of a complex one both parts."""
        # A complex entry has two directions to move in: its real and its imaginary part.
        parts = entry_size(self.at.inputs[0])
        numbers = [parts * entry + part for entry in chosen for part in range(parts)]
        columns = {k: self._column(k, 1.0) for k in numbers}
        largest = max(float(np.max(np.abs(c.tape))) for c in columns.values())
        limit, worst = self.tolerance, (0.0, -1)
        rounding = ROUNDING * self.scale
        for k, c in columns.items():
            if self._agrees(c, self.tolerance, largest) or (not c.tape.any() and c.gap <= rounding):
                continue
            rough = max(ROUGHER, self.tolerance)
            # Only entries that disagree are tried again, since each trial repeats the whole recording six times.
            near = self._column(k, self.shorter)
            if near.gap == inf:
                note = f"the {self.claim.below} is nan or infinite near this point"
                return Check("not checked", note=note)
            if self._agrees(c, rough, largest) or self._agrees(near, rough, self.shorter * largest):
                limit = rough
                continue
            if min(c.gap, near.gap) <= rounding:
                return Check("not checked", note=self.claim.lost)
            nearest = self._column(k, self.shortest)
            shrink = self.shortest / self.shorter
            both = (nearest, _extrapolated(near, nearest, shrink))
            if any(self._agrees(c, rough, self.shortest * largest) for c in both):
                limit = rough
            elif not _settles(near, nearest, rounding, shrink):
                return Check("not checked", note=UNSTEADY.format(self.claim.below))
            else:
                worst = max(worst, (near.gap, k))
        if worst[1] >= 0:
            return self._differing(worst[1], len(chosen))
        return self._outcome(Check("agrees", limit, len(chosen)))

    def _outcome(self, check: Check) -> Check:
        """Return the result with the number of all entries, or of the columns of a matrix."""
        size = self.at.point.size // entry_size(self.at.inputs[0])
        return replace(check, size=size, unit="columns" if self.claim.is_matrix else "entries")

    def _column(self, k: int, factor: float) -> _Column:
        """The derivatives by an entry, times a step that is shorter by a factor."""
        direction = factor * self.at.step(k)
        values = {n: self._values(STEP * n * direction) for n in CENTRAL}
        slope = sum(c / STEP * values[n] for n, c in CENTRAL.items())
        with np.errstate(invalid="ignore", over="ignore"):
            slopes = [
                (values[b] - values[a]) / (STEP * (b - a)) for a, b in pairwise(sorted(values))
            ]
            bend = float(np.max(np.ptp(slopes, axis=0)))
        bend = bend if np.isfinite(bend) else 0.0
        return _Column(factor * float(self.at.strides[k]) * self._table[:, k], slope, bend=bend)

    @cached_property
    def _table(self) -> Any:
        """The tape's derivatives, with a column for each real number in the sources."""
        value = self.claim.value
        return double(value) if self.claim.is_matrix else flat([value])[np.newaxis]

    def _values(self, direction: Any) -> Any:
        """Return the differentiated numbers at a point nearby, for a matrix all of them, otherwise their sum."""
        values = self.at.at(direction)
        return values if self.claim.is_matrix else np.array([self.at.weights @ values])

    @staticmethod
    def _agrees(c: _Column, tolerance: float, largest: float) -> bool:
        """Return True if a column agrees, relative to itself, to nearby slopes, or to a part of the largest entry."""
        # At a minimum, the slope is 0, and its difference is the rounding of the point: small against nearby slopes.
        return c.gap <= tolerance * max(c.size, c.bend, SLIGHT * largest)

    def _differing(self, k: int, checked: int) -> Check:
        """The result where an entry differs."""
        factor, c = self.shorter, self._column(k, self.shorter)
        whole = self._column(k, 1.0)
        # Where the longer step gives the same, it has more digits.
        if np.max(np.abs(self.shorter * whole.quotient - c.quotient)) <= KINK * c.size:
            factor, c = 1.0, whole
        stride = factor * float(self.at.strides[k])
        row = int(np.argmax(np.abs(c.tape - c.quotient)))
        name = self._name(row, k)
        here, there = c.tape[row] / stride, c.quotient[row] / stride
        there = float(f"{_shown(there, here):.{self.digits}g}")
        lacking = format_number(float(f"{there - here:.{min(self.digits, 9)}g}"))
        if abs(there - 2 * here) <= HALF * abs(there):
            lacking = "half"
        elif here == 0:
            lacking = "all of it"
        numbers = format_number(here), format_number(there)
        check = Check("differs", self.tolerance, checked, 0, name, *numbers, self._note(row, k))
        return self._outcome(replace(check, lacking=lacking))

    def _name(self, row: int, k: int) -> str:
        """The name of an entry."""
        if self.claim.is_matrix:
            down, across = self.claim.labels
            if self._table.size == 1:
                return ""
            return f"({down(row)}, {across(k)})"
        _, index, part = entry_of(self.at.inputs, k)
        name = str(list(index)) if index else ""
        if entry_size(self.at.inputs[0]) == 2:
            name = f"{name} ({('real', 'imaginary')[part]} part)".strip()
        return name

    def _note(self, row: int, k: int) -> str:
        """A possible reason for a difference: a kink, or a function with a custom gradient."""
        shortened = [short * self.shorter / SHORTER for short in SHORTENED]
        slopes = [(self._slope(row, k, -short), self._slope(row, k, short)) for short in shortened]
        left, right = slopes[0]
        steeper = max(abs(left), abs(right))
        gaps = [abs(a - b) for a, b in slopes]
        if gaps[0] > KINK * steeper and max(gaps) <= KINKED * min(gaps):
            left, right = _shown(left, steeper), _shown(right, steeper)
            return (
                f"there is a kink: the slope is {left:.3g} on one side and {right:.3g} on the other"
            )
        own = self.own
        return (
            f"{', '.join(own)} has a custom gradient, which may differ from the derivative"
            if own
            else ""
        )

    def _slope(self, row: int, k: int, short: float) -> float:
        """The slope on one side, between two points near by: `short` is the factor of the step."""
        near = STEP * short * self.at.step(k)
        rise = self._values(2 * near)[row] - self._values(near)[row]
        return float(rise) / (STEP * short * float(self.at.strides[k]))


def _extrapolated(near: _Column, nearest: _Column, shrink: float) -> _Column:
    """Return the column for a step that vanishes, if the error is proportional to the step.

    So it is where the second derivative jumps, as that of relu(x)**2 at 0.
    """
    limit = (nearest.quotient - shrink**2 * near.quotient) / (1 - shrink)
    return _Column(nearest.tape, limit, float(np.max(np.abs(nearest.quotient))))


def _settles(near: _Column, nearest: _Column, rounding: float, shrink: float) -> bool:
    """Return True if shorter steps give the same slopes, so that these are the derivative."""
    # Of noise alone, nothing can be said: then the longer step decides.
    if rounding >= KINK * nearest.size:
        return True
    expected = shrink * near.quotient
    gap = float(np.max(np.abs(nearest.quotient - expected)))
    return gap <= KINK * max(nearest.size, shrink * near.size)


def _shown(x: float, beside: float) -> float:
    """Return a finite difference without the noise of rounding around zero."""
    return 0.0 if abs(x) <= NOISE * abs(beside) else x
