"""Derivatives of a report, checked by the recorded operations, and by further runs of the cell with nudged inputs.

The recorded operations, repeated, show that a derivative is that of the recording. Only a further run of the cell shows
whether the recording is the cell: whether a value left the tape and came back as a plain number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from tapemagic.engine.gradcheck.finite_differences import (
    CENTRAL,
    STEP,
    WeightedSum,
    entry_size,
    flat,
)
from tapemagic.engine.recording import silence, time_of
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.missing_parts import held_back, left_through, ways_out
from tapemagic.explain.query import Question
from tapemagic.report.derivatives import Key, failure_reason
from tapemagic.report.request import RerunError, Reruns, Run
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.gradients.check_result import LOWER, Check
from tapemagic.report.tabs.gradients.numeric_check import (
    WORK,
    Claim,
    Comparison,
    check_replayed,
    chosen_entries,
)
from tapemagic.report.tabs.gradients.replaying import double

RERUN_WORK = WORK / 3
"""The number of elements to compute in further runs of the cell; beyond, fewer entries are nudged."""
RECORD, START = 10_000, 300_000
"""The number of elements that could be computed in the time of recording an operation, and of starting a run."""
COARSE = 1e-10
"""The rounding error of a dtype from which on steps are longer, and tolerances rougher."""
STEPS = 1.0, 1e-2, 1e-4
"""The factors of the steps that are tried one after another where the cell stops or takes another branch."""
LONGER, ROUGH, DIGITS = (10.0, 1.0), 1e-2, 3
"""For such a dtype: these factors, the tolerance, and the digits of a finite difference."""
SHORTENED = 0.3, 0.1
"""The factors of yet shorter steps, where rounding is not far below."""
SIMPLEST = {1: 0.5, -1: -0.5}
"""The formula with the fewest runs."""
TOLERANCE = 1e-6
"""The relative difference between the tape and further runs that counts as none, in double precision."""
SAME = 1e-12
"""The relative difference between two runs with the same inputs that counts as none."""

OUT_OF_TIME = "checking the other gradients took too long; {} checks them all"
DASK = "it computes with Dask arrays"
BY_OPTION = "%%tape --check runs it again with nudged inputs"
OTHER_RESULT = (
    "with the same inputs, another run gave another result (it uses the clock, for instance, or random numbers "
    "without a seed)"
)
CHANGES = "{} is assigned in the cell, so nudging the value that it has before decides nothing"
UNKNOWN = "{} can't be found in another run"


@dataclass
class Checker:
    """Compares derivatives with finite differences of a recording, and of the cell, and counts the work.

    - `max_work`: The number of elements to compute after which no further check begins. It counts work, not seconds,
      so that a page has the same contents on every machine.
    - `may_run`: Whether the cell may run again.
    """

    subject: Subject
    max_work: float = inf
    may_run: bool = True
    _done: float = field(default=0.0, init=False)
    _known: dict[Any, tuple[Any, Check]] = field(default_factory=dict, init=False)

    def check(self, claim: Claim, count: int) -> Check:
        """Compare a derivative, one of `count`, in as many entries as its part of the work allows."""
        # Programs often take the gradients that the report takes, too.
        parts = (claim.targets, *claim.chain, claim.sources)
        key = (claim.is_matrix, *(tuple(map(id_of, xs)) for xs in parts))
        if key in self._known:
            value, result = self._known[key]
            if np.array_equal(value, claim.value):
                return result
        if self._done >= self.max_work:
            option = "%%tape --check" if self.subject.context.program.in_cell else "check=True"
            return Check("not checked", note=OUT_OF_TIME.format(option))
        result, used = check_replayed(self.subject.whole, claim, WORK / count)
        self._done += used
        result = self._decided(claim, result, count)
        self._known[key] = claim.value, result
        return result

    def _decided(self, claim: Claim, replayed: Check, count: int) -> Check:
        """Complete the result of the repeated operations by what further runs of the cell give."""
        subject, runs = self.subject, self.subject.request.reruns
        if runs is None or not self.may_run:
            left = self._left(claim)
            hint = BY_OPTION if left and subject.context.program.in_cell else ""
            return replace(replayed, left=left, not_rerun=hint)
        if self._lower_lacks(claim):
            return Check("not checked", note=LOWER)
        try:
            if not _can_compare(claim):
                return replayed
            problem = DASK if subject.has_lazy_values else runs.problem
            if problem:
                raise RerunError(problem)
            with runs.isolated():
                return _Nudging(subject, runs, claim, replayed, RERUN_WORK / count).result()
        except RerunError as error:
            return replace(replayed, left=self._left(claim), not_rerun=str(error))
        except Exception as error:  # noqa: BLE001 -- rules and objects of the cell may raise anything
            return replace(replayed, left=self._left(claim), not_rerun=failure_reason(error))

    def _left(self, claim: Claim) -> str:
        """Say through which calls values left the tape, or ''."""
        subject = self.subject
        for y in claim.targets:
            for x in claim.sources:
                if words := ways_out(_question(subject, y, x)):
                    return words
        return ""

    def _lower_lacks(self, claim: Claim) -> bool:
        """Check the derivatives of first order, of which this is a derivative; return True if one lacks a part."""
        for x in claim.chain[0] if claim.chain else ():
            for y in claim.targets:
                gradient = self._first_order.get((id_of(y), id_of(x)))
                if gradient is not None:
                    first = Claim([y], [], [x], unwrap(gradient))
                    if self.check(first, len(self._first_order)).outcome == "lacks":
                        return True
        return False

    @cached_property
    def _first_order(self) -> Mapping[tuple[int, int], Any]:
        """The gradients of the report by the ids of target and source."""
        subject = self.subject
        return {
            (id_of(subject.targets[t][1]), id_of(subject.sources[s][1])): gradient
            for (t, s, level), gradient in subject.derivatives.gradients.items()
            if level == 1
        }


def checks_of(checker: Checker) -> Mapping[Key, Check]:
    """Compare the derivatives of the table of gradients; return the results by target, source and order."""
    subject = checker.subject
    table = subject.derivatives
    claims: dict[Key, Claim] = {}
    for (t, s, level), gradient in table.gradients.items():
        if gradient is None:
            below = table.gradients.get((t, s, level - 1))
            # Where a derivative does not depend on the source, the next one is zero, and that is checked.
            if below is None or (t, s, level) in table.problems:
                continue
        x = subject.sources[s][1]
        value = np.zeros(x.shape, x.dtype) if gradient is None else unwrap(gradient)
        claims[t, s, level] = Claim([subject.targets[t][1]], [[x]] * (level - 1), [x], value)
    return {key: checker.check(claim, len(claims)) for key, claim in claims.items()}


def _question(subject: Subject, y: Any, x: Any) -> Question:
    names = subject.known_names
    target, source = names.get(id_of(y), "the target"), names.get(id_of(x), "the input")
    return Question(subject.whole, y, x, target, source, names, (), subject.context.program)


def _can_compare(claim: Claim) -> bool:
    """Return True if finite differences of a further run can be compared with a derivative."""
    known = [claim.value, *map(unwrap, claim.targets), *map(unwrap, claim.sources)]
    if not all(has_numbers(x) and np.all(np.isfinite(x)) for x in known):
        return False
    is_complex = any(x.dtype.kind == "c" for x in known)
    return bool(claim.value.size) and not (claim.is_matrix and is_complex)


@dataclass(frozen=True)
class _Scaled(WeightedSum):
    """A sum with steps that are longer or shorter by a factor."""

    factor: float = 1.0

    @cached_property
    def strides(self) -> Any:
        return self.factor * super().strides


@dataclass
class _Nudging:
    """The comparison of a derivative with runs of the cell in which the sources are nudged.

    - `replayed`: What the repeated operations gave.
    - `work`: The number of elements that may be computed.
    """

    subject: Subject
    runs: Reruns
    claim: Claim
    replayed: Check
    work: float
    _problem: str = field(default="", init=False)

    def result(self) -> Check:
        """Compare; raise RerunError if the runs decide nothing."""
        claim, runs = self.claim, self.runs
        for x in claim.sources:
            self._require_nudging(x)
        inputs, base = self._base()
        weights = flat([np.ones_like(y) for y in base])
        for factor in LONGER if self._is_coarse else STEPS:
            self._problem = ""
            compared = self._compare(_Scaled(self._lower, inputs, base, weights, factor))
            # An assertion, an edge or a branch may be further away than a shorter step.
            if not self._problem:
                break
        if compared.outcome == "agrees":
            return self._agreeing(compared)
        if self._problem:
            raise RerunError(runs.problem or self._problem)
        # The clock may have gone on only now.
        if not _is_same(self._run(inputs), base, self._same):
            raise RerunError(OTHER_RESULT)
        if compared.outcome == "not checked":
            raise RerunError(compared.note)
        if compared.note or self.replayed.outcome == "differs":
            # A kink, or a derivative that isn't even that of the recording.
            return self.replayed
        return self._lacking(compared)

    def _agreeing(self, compared: Check) -> Check:
        # The repeated operations are compared more exactly; but if they can't be, this is what is known.
        nudged = ""
        if compared.checked < compared.size:
            together = "" if self.claim.is_matrix else ", and all together"
            nudged = f"{compared.checked:,} of {compared.size:,} {compared.unit}{together}"
        if self.replayed.outcome == "not checked":
            return replace(compared, is_rerun=True, nudged=nudged)
        is_rerun = self.replayed.outcome == "agrees"
        return replace(self.replayed, is_rerun=is_rerun, nudged=nudged)

    def _lacking(self, compared: Check) -> Check:
        """The result where the runs differ from the tape, and the recorded operations don't."""
        for y in self.claim.targets:
            for x in self.claim.sources:
                question = _question(self.subject, y, x)
                if why := held_back(question, self.subject.after_gradients):
                    raise RerunError(why)
        causes = [
            left_through(_question(self.subject, y, x))
            for y in self.claim.targets
            for x in self.claim.sources
        ]
        note = next((cause for cause in causes if cause != "."), ".")
        return replace(compared, outcome="lacks", note=note, is_rerun=True)

    def _require_nudging(self, x: Any) -> None:
        """Raise a RerunError if the runs can't nudge a source as the tape differentiates by it."""
        name = self.subject.known_names.get(id_of(x), "a source")
        if not self.runs.can_nudge(x):
            raise RerunError(UNKNOWN.format(name))
        end = max(time_of(id_of(y)) for y in self.claim.targets)
        if any(time <= end for time in self._changes(x)):
            raise RerunError(CHANGES.format(name))

    def _changes(self, x: Any) -> list[int]:
        """Return the times at which a source was assigned a value."""
        changes = self.subject.whole.events_of("assigned", "changed")
        is_variable = isinstance(x, Variable)
        return [event.time for event in changes if is_variable and event.number == id_of(x)]

    @cached_property
    def _dtypes(self) -> list[Any]:
        """The dtypes of the numbers that the cell computes with."""
        records = self.subject.whole.records[: self.subject.operations]
        outputs = (record[4] for record in records)
        arrays = [y for ys in outputs for y in (ys if isinstance(ys, tuple) else (ys,))]
        both = [*arrays, *map(unwrap, (*self.claim.sources, *self.claim.targets))]
        kinds = {x.dtype for x in both if isinstance(x, np.ndarray | np.generic)}
        return [kind for kind in kinds if kind.kind in "fc"]

    @cached_property
    def _rounding(self) -> float:
        return max((float(np.finfo(kind).eps) for kind in self._dtypes), default=0.0)

    @property
    def _is_coarse(self) -> bool:
        return self._rounding > COARSE

    @property
    def _same(self) -> float:
        return max(SAME, 100 * self._rounding) if self._is_coarse else SAME

    def _compare(self, at: _Scaled) -> Check:
        """Compare entries that are spread evenly, and all entries together."""
        size = at.point.size // entry_size(at.inputs[0])
        records = self.subject.whole.records[: self.subject.operations]
        cost = START + RECORD * len(records) + 10 * sum(y.size for y in at.outputs) + 10 * size
        chosen = chosen_entries(size, self.work, cost)
        scale = float(np.sum(np.abs(flat(at.outputs))))
        if self._is_coarse:
            scale *= self._rounding / np.finfo(float).eps
        # A step that is shorter by 100 has a rounding error that is larger by 100.
        tolerance, digits = (ROUGH, DIGITS) if self._is_coarse else (TOLERANCE / at.factor**0.5, 9)
        comparison = Comparison(at, self.claim, tolerance, scale, (), digits)
        if self._is_coarse or at.factor < 1:
            scale /= min(at.factor, 1)
            comparison = replace(
                comparison, scale=scale, shorter=SHORTENED[0], shortest=SHORTENED[1]
            )
        check = comparison.result(chosen)
        if check.outcome != "agrees" or len(chosen) == size or self.claim.is_matrix:
            return check
        where = self._differing_entry(at, tolerance)
        return check if where is None else comparison.result([where])

    def _differing_entry(self, at: WeightedSum, tolerance: float) -> int | None:
        """Nudge all entries together; if the tape differs, halve them until one is left, and return it."""
        rng = np.random.default_rng(0)
        v = at.strides * rng.choice([-1.0, 1.0], at.point.size) * rng.uniform(0.5, 1, at.point.size)
        gradient = flat([double(self.claim.value)])

        def gap(start: int, stop: int, formula: Mapping[int, float]) -> float:
            direction = np.zeros(v.size)
            direction[start:stop] = v[start:stop]
            slope = sum(c / STEP * at.at(STEP * steps * direction) for steps, c in formula.items())
            tape, quotient = gradient @ direction, float(at.weights @ slope)
            size = max(float(np.abs(gradient * direction).sum()), abs(quotient))
            found = abs(tape - quotient)
            return found if np.isfinite(found) and found > 10 * tolerance * size else 0.0

        start, stop = 0, v.size
        if not gap(start, stop, CENTRAL):
            return None
        while stop - start > 1:
            middle = (start + stop) // 2
            # The simplest formula is enough to find the entry, which is compared by itself afterwards.
            start, stop = (start, middle) if gap(start, middle, SIMPLEST) else (middle, stop)
        return start // entry_size(at.inputs[0])

    def _base(self) -> tuple[list[Any], list[Any]]:
        """Run the cell with the same inputs; return these and the differentiated quantity.

        Raises RerunError if the result is another.
        """
        run = self.runs.run({})
        for x in self.claim.sources:
            # A source that changes after the target was computed had another value before.
            if not self._changes(x) and not _is_same([run.start(x)], [unwrap(x)], self._same):
                raise RerunError(OTHER_RESULT)
        inputs = [double(np.asarray(run.start(x))[()]) for x in self.claim.sources]
        pairs = [(unwrap(run.find(y)), unwrap(y)) for y in self.claim.targets]
        if not _is_same([a for a, _ in pairs], [b for _, b in pairs], self._same):
            raise RerunError(OTHER_RESULT)
        return inputs, self._quantity(run)

    def _by_id(self, values: Sequence[Any]) -> dict[int, Any]:
        """The sources' values by id, with the dtypes of the cell."""
        pairs = zip(self.claim.sources, values, strict=True)
        return {id_of(x): np.asarray(value).astype(x.dtype)[()] for x, value in pairs}

    def _run(self, values: Sequence[Any]) -> list[Any]:
        return self._quantity(self.runs.run(self._by_id(values)))

    def _quantity(self, run: Run) -> list[Any]:
        """Return what is one order lower, in a run."""
        goals = [run.find(y) for y in self.claim.targets]
        if not self.claim.chain:
            return [double(np.asarray(unwrap(y))[()]) for y in goals]
        tape = run.tape()
        with silence():
            for k, below in enumerate(self.claim.chain, 1):
                xs = [run.find(x) for x in below]
                with tape if k < len(self.claim.chain) else nullcontext():
                    goals = tape.gradient(goals, xs, unconnected_gradients="zero")
        return [double(np.asarray(unwrap(y))[()]) for y in goals]

    def _lower(self, *values: Any) -> list[Any]:
        """The differentiated quantity for other values of the sources; nan where a run doesn't give it."""
        try:
            return self._run(list(map(unwrap, values)))
        except RerunError as error:
            self._problem = str(error)
            if self.runs.problem:
                raise
            shapes = self._shapes
            return [np.full(shape, np.nan)[()] for shape in shapes]

    @cached_property
    def _shapes(self) -> list[tuple[int, ...]]:
        last = self.claim.chain[-1] if self.claim.chain else self.claim.targets
        return [tuple(x.shape) for x in last]


def _is_same(xs: Sequence[Any], ys: Sequence[Any], tolerance: float) -> bool:
    """Return True if two runs gave the same numbers."""
    return len(xs) == len(ys) and all(
        np.shape(x) == np.shape(y)
        and float(np.max(np.abs(np.subtract(x, y)), initial=0.0))
        <= tolerance * float(np.max(np.abs(y), initial=0.0))
        for x, y in zip(xs, ys, strict=True)
    )


def lacking_text(check: Check, symbol: str, source: str) -> str:
    """Say what nudging a source gives, and what the tape's gradient lacks.

    Examples
    --------
    >>> check = Check("lacks", here="1.3", there="2.6", lacking="half", note=", which left through float() on line 3.")
    >>> lacking_text(check, "dy/dx", "x")
    "Nudging x gives dy/dx = 2.6; the tape's 1.3 lacks half, which left through float() on line 3."
    """
    entry = f" {check.entry}" if check.entry.startswith("(") else check.entry
    return (
        f"Nudging {source}{entry} gives {symbol}{entry} = {check.there}; "
        f"the tape's {check.here} lacks {check.lacking}{check.note}"
    )
