"""Gradients of first order, checked by finite differences of the recorded operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from tapemagic.engine.gradcheck.finite_differences import (
    CENTRAL,
    STEP,
    Comparison,
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
from tapemagic.report.derivatives import Key
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.gradients.replaying import (
    Replay,
    ReplayError,
    double,
    replay_of,
    several,
)


@dataclass(frozen=True)
class Check:
    """The result of checking a gradient by finite differences.

    Attributes
    ----------
    outcome : {'agrees', 'differs', 'not checked'}
    tolerance : float
        The largest relative difference that counts as agreement.
    checked, size : int
        The number of entries that were compared, and of all entries.
    entry : str
        The entry with the largest difference: ``[3]``, or '' for a number.
    here, there : str
        The gradient in that entry, and the finite difference.
    note : str
        A possible reason for a difference, or the reason why nothing could be compared.
    """

    outcome: Literal["agrees", "differs", "not checked"]
    tolerance: float = 0.0
    checked: int = 0
    size: int = 0
    entry: str = ""
    here: str = ""
    there: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """The result as text.

        Examples
        --------
        >>> print(Check("agrees", 1e-7, 1, 1).text)
        matches finite differences (relative error < 1e-7)
        >>> print(Check("differs", 1e-7, 50, 784, "[3]", "1.25", "1.31", "it has a kink there").text)
        differs from finite differences among 50 of 784 entries, chosen evenly: entry [3] is 1.25 on the tape, \
1.31 by finite differences; it has a kink there
        """
        if self.outcome == "not checked":
            return f"not checked by finite differences: {self.note}"
        chosen = f"{self.checked:,} of {self.size:,} entries, chosen evenly"
        some = chosen if self.checked < self.size else ""
        if self.outcome == "agrees":
            where = f" in {some}" if some else ""
            return f"matches finite differences{where} (relative error < {small(self.tolerance)})"
        where = f" among {some}" if some else ""
        here = f"{self.here} on the tape, {self.there} by finite differences"
        what = f"entry {self.entry} is {here}" if self.entry else here
        note = f"; {self.note}" if self.note else ""
        return f"differs from finite differences{where}: {what}{note}"


def small(number: float) -> str:
    """A tolerance as one writes it: 1e-7."""
    return f"{number:g}".replace("e-0", "e-")


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
NOISE = 1e-8
"""A finite difference smaller than this, relative to what it is compared with, is shown as zero."""

OUT_OF_TIME = "checking the other gradients took too long; {} checks them all"
UNCOMPUTED = "this cell uses Dask arrays: check the gradient on a sample in memory"
LOST = "it is lost in the rounding error of the target, which is much larger"


def checks_of(subject: Subject, max_work: float = inf) -> Mapping[Key, Check]:
    """The comparison of every gradient of first order that is not None, by target, source and order.

    It is the recorded operations that are repeated, with changed sources. So the check is one of the derivative of
    the recording: branches and constants are those of the run.

    - `max_work`: The number of elements to compute after which no further check begins. It counts work, not seconds,
      so that a page has the same contents on every machine.
    """
    gradients = subject.derivatives.gradients
    keys = [key for key in gradients if key[2] == 1 and gradients[key] is not None]
    checks: dict[Key, Check] = {}
    done = 0.0
    for key in keys:
        if done >= max_work:
            option = "%%tape --check" if subject.context.program.in_cell else "check=True"
            checks[key] = Check("not checked", note=OUT_OF_TIME.format(option))
            continue
        checks[key], work = _check(subject, key, WORK / len(keys))
        done += work
    return checks


def _check(subject: Subject, key: Key, work: float) -> tuple[Check, float]:
    """Compare one gradient, in as many entries as an amount of work allows; return also the amount that it took."""
    target, source = subject.targets[key[0]][1], subject.sources[key[1]][1]
    gradient, y = unwrap(subject.derivatives.gradients[key]), unwrap(target)
    if not all(map(has_numbers, (gradient, y, unwrap(source)))):
        return Check("not checked", note=UNCOMPUTED), 0.0
    if not gradient.size:
        return Check("not checked", note="it has no entries"), 0.0
    if not all(np.all(np.isfinite(x)) for x in (gradient, y, unwrap(source))):
        return Check("not checked", note="some numbers are nan or infinite"), 0.0
    # Finding the operations takes as long as repeating them once.
    found = OVERHEAD * float(len(subject.whole.records))
    with silence(), np.errstate(all="ignore"):
        try:
            replay = replay_of(subject.whole, id_of(target), id_of(source), unwrap(source))
        except ReplayError as error:
            return Check("not checked", note=str(error)), found
        except NotComputedError:
            return Check("not checked", note=UNCOMPUTED), found
        weights = flat([np.ones_like(double(y))])
        at = _Recorded(lambda x: replay(unwrap(x)), [replay.point], [double(y)], weights, gradient)
        tolerance = TOLERANCES.get(str(gradient.dtype), TOLERANCE)
        cost = _cost(replay)
        chosen = _chosen(replay, work, cost)
        check = _Comparison(at, replay, tolerance).result(chosen)
        return check, found + len(CENTRAL) * len(chosen) * cost


@dataclass(frozen=True)
class _Recorded(WeightedSum):
    """A target as a function of a source, with the gradient that the tape gave."""

    tape_gradient: Any

    @property
    def gradient(self) -> Any:
        """The tape's gradient, as a vector."""
        return flat([self.tape_gradient])


def _cost(replay: Replay) -> float:
    """The number of elements that could be computed while the operations are repeated once."""
    operations = replay.operations
    elements = sum(y.size for record in operations for y in several(record.output))
    return float(elements + OVERHEAD * len(operations) + COPIES * replay.point.size)


def _chosen(replay: Replay, work: float, cost: float) -> list[int]:
    """Entries of the source, spread evenly: all, or as many as an amount of work allows."""
    size = replay.point.size
    count = int(min(max(work / (len(CENTRAL) * cost), 1), MAX_COMPARED, size))
    # Evenly spread, not random: a cell that runs again must give the same report, as nbval checks.
    return sorted(set(np.linspace(0, size - 1, count).round().astype(int).tolist()))


@dataclass
class _Comparison:
    """The check of a gradient by finite differences."""

    at: _Recorded
    replay: Replay
    tolerance: float

    def result(self, chosen: list[int]) -> Check:
        """Compare the chosen entries, of a complex one both parts."""
        # A complex entry has two directions to move in: its real and its imaginary part.
        parts = entry_size(self.replay.point)
        numbers = [parts * entry + part for entry in chosen for part in range(parts)]
        at = self.at
        comparisons = {k: at.compare(at.step(k)) for k in numbers}
        largest = max(abs(c.tape) for c in comparisons.values())
        limit, worst = self.tolerance, (0.0, -1)
        rounding = ROUNDING * float(np.sum(np.abs(flat(at.outputs))))
        for k, c in comparisons.items():
            if self._agrees(c, self.tolerance, largest) or (not c.tape and c.gap <= rounding):
                continue
            rough = max(ROUGHER, self.tolerance)
            # Only entries that disagree are tried again, since each trial repeats the whole recording six times.
            near = at.compare(SHORTER * at.step(k))
            if not np.isfinite(near.quotient):
                return Check("not checked", note="the target is nan or infinite near this point")
            if self._agrees(c, rough, largest) or self._agrees(near, rough, SHORTER * largest):
                limit = rough
            elif min(c.gap, near.gap) <= rounding:
                return Check("not checked", note=LOST)
            else:
                worst = max(worst, (near.gap, k))
        counts = (len(chosen), self.replay.point.size)
        return (
            self._differing(worst[1], counts) if worst[1] >= 0 else Check("agrees", limit, *counts)
        )

    @staticmethod
    def _agrees(c: Comparison, tolerance: float, largest: float) -> bool:
        """Return True if an entry agrees, relative to itself, or to a small part of the largest entry."""
        return c.gap <= tolerance * max(abs(c.tape), abs(c.quotient), SLIGHT * largest)

    def _differing(self, k: int, counts: tuple[int, int]) -> Check:
        """The result where an entry differs."""
        stride = SHORTER * float(self.at.strides[k])
        c = self.at.compare(SHORTER * self.at.step(k))
        _, index, part = entry_of([self.replay.point], k)
        name = str(list(index)) if index else ""
        if entry_size(self.replay.point) == 2:
            name = f"{name} ({('real', 'imaginary')[part]} part)".strip()
        here, there = c.tape / stride, _shown(c.quotient / stride, c.tape / stride)
        numbers = format_number(here), format_number(there)
        return Check("differs", self.tolerance, *counts, name, *numbers, self._note(k))

    def _note(self, k: int) -> str:
        """A possible reason for a difference: a kink, or a function with a custom gradient."""
        slopes = [(self._slope(k, -short), self._slope(k, short)) for short in SHORTENED]
        left, right = slopes[0]
        steeper = max(abs(left), abs(right))
        gaps = [abs(a - b) for a, b in slopes]
        if gaps[0] > KINK * steeper and max(gaps) <= KINKED * min(gaps):
            left, right = _shown(left, steeper), _shown(right, steeper)
            return (
                f"there is a kink: the slope is {left:.3g} on one side and {right:.3g} on the other"
            )
        own = self.replay.own_gradients
        return (
            f"{', '.join(own)} has a custom gradient, which may differ from the derivative"
            if own
            else ""
        )

    def _slope(self, k: int, short: float) -> float:
        """The slope on one side, between two points near by: `short` is the factor of the step."""
        near = STEP * short * self.at.step(k)
        rise = self.at.total(2 * near) - self.at.total(near)
        return rise / (STEP * short * float(self.at.strides[k]))


def _shown(x: float, beside: float) -> float:
    """Return a finite difference without the noise of rounding around zero."""
    return 0.0 if abs(x) <= NOISE * abs(beside) else x
