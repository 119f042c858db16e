"""Full matrices of derivatives: the Jacobians of the targets, and their Hessians, the Jacobians of gradients.

Nothing is recorded on the observer for them: it may be asked, and drawn, as if they had not been computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from tapemagic.analysis.report.derivatives import Named, failure, mixed_symbol, symbol
from tapemagic.analysis.report.matrices import SHOWN, Matrix, fill, side
from tapemagic.engine.recording import silence
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tape.tape import Tape

MOST = 10**6
"""The entries of the largest matrix that is computed for a report."""
WORK = 10**9
"""How many numbers may pass through the sweep for it."""
MANY = 4
"""The Hessian of more variables is one matrix, however large: its blocks would be too many to look at."""

Reasons = Mapping[tuple[int, int], str | None]
"""Why a target has no gradient with respect to a source, by their indices."""


def jacobians(
    observer: Observer, targets: Sequence[Named], sources: Sequence[Named], reasons: Reasons
) -> list[Matrix]:
    """The Jacobian of every target with respect to every source."""
    return [
        _jacobian(observer, target, source, reasons[t, s])
        for t, target in enumerate(targets)
        for s, source in enumerate(sources)
    ]


def _jacobian(observer: Observer, down: Named, across: Named, reason: str | None) -> Matrix:
    (y, target), (x, source) = down, across
    blank = Matrix("jacobian", y, (x,), target.shape + source.shape, reason=reason)
    if reason:
        return blank
    refusal = _refusal(target.size * source.size, _work(observer, target))
    if refusal:
        return replace(blank, notes=(f"{refusal}; tape.jacobian computes it",))
    try:
        return fill(blank, _rows(observer, target, source), side(down), side(across))
    except Exception as error:  # noqa: BLE001 -- a rule may call anything
        return replace(blank, reason=failure(error))


def hessians(
    observer: Observer, targets: Sequence[Named], sources: Sequence[Named], reasons: Reasons
) -> list[Matrix]:
    """The second derivatives of every target, of its sum if it is an array, in every two sources.

    In few elements they are one matrix; in more, there is a block for every two sources.
    """
    matrices = []
    for t, target in enumerate(targets):
        why = [reasons[t, s] or _complex(x, source) for s, (x, source) in enumerate(sources)]
        connected = [source for source, reason in zip(sources, why, strict=True) if not reason]
        if connected:
            matrices += _hessian(observer.fork(), target, connected)
        matrices += [
            Matrix("hessian", target[0], (x, x), source.shape * 2, reason=reason)
            for (x, source), reason in zip(sources, why, strict=True)
            if reason
        ]
    return matrices


def _complex(x: str, source: Any) -> str:
    if source.dtype.kind != "c":
        return ""
    return (
        f"{x} holds complex numbers, whose second derivatives are not one matrix: watch its real part and its "
        "imaginary part, each by a name of its own"
    )


def _hessian(tape: Tape, target: Named, sources: Sequence[Named]) -> list[Matrix]:
    """The Hessian of a target, whose gradients are recorded on the tape."""
    y, goal = target
    names = ", ".join(x for x, _ in sources)
    notes = (f"of the sum of the {goal.size:,} elements of {y}",) if goal.shape else ()
    blank = Matrix("hessian", y, (names, names), notes=notes)
    try:
        with silence(), tape:
            gradients = tape.gradient(goal, [x for _, x in sources])
        second = _Second(tape, sources, gradients)
        if side(*sources).size <= SHOWN or len(sources) > MANY:
            return [second.whole(blank)]
        first, *others = combinations_with_replacement(range(len(sources)), 2)
        return [
            second.block(blank, *first),
            *(second.block(replace(blank, notes=()), i, j) for i, j in others),
        ]
    except Exception as error:  # noqa: BLE001 -- a rule may call anything
        return [replace(blank, reason=failure(error))]


@dataclass
class _Second:
    """Second derivatives of a target: the Jacobians of its gradients, which a tape has recorded."""

    tape: Tape
    sources: Sequence[Named]
    gradients: Sequence[Any]

    def whole(self, blank: Matrix) -> Matrix:
        """One matrix of the elements of all sources."""
        every, count = side(*self.sources), len(self.sources)
        blank = replace(blank, shape=(every.size, every.size))
        refusal = _refusal(every.size**2, sum(map(self._work, range(count))))
        if refusal:
            return _refused(blank, refusal)
        found = {
            (i, j): self._entries(i, j) for i, j in combinations_with_replacement(range(count), 2)
        }
        linear = [x for i, (x, _) in enumerate(self.sources) if found[i, i] is None]
        notes = [*blank.notes]
        if linear:
            notes.append(_linear(blank.target, *linear))
        starts = [side(source).label(0) for source in self.sources if source[1].size]
        if len(starts) > 1:
            mixed = mixed_symbol(blank.target, starts[0], starts[1])
            notes.append(f"row {starts[0]}, column {starts[1]}: {mixed}")
        upper = {pair: self._or_zeros(entries, *pair) for pair, entries in found.items()}
        entries = np.block(
            [[upper[i, j] if i <= j else upper[j, i].T for j in range(count)] for i in range(count)]
        )
        return fill(replace(blank, notes=tuple(notes)), entries, every, every)

    def block(self, blank: Matrix, i: int, j: int) -> Matrix:
        """The matrix of the elements of one source by those of another."""
        (x, down), (w, across) = self.sources[i], self.sources[j]
        blank = replace(blank, sources=(x, w), shape=down.shape + across.shape)
        refusal = _refusal(down.size * across.size, self._work(self._shorter(i, j)))
        if refusal:
            return _refused(blank, refusal)
        y, notes, entries = blank.target, [*blank.notes], self._entries(i, j)
        if entries is None:
            rest = f"{symbol(y, x, 1)} does not depend on {w} around here"
            notes.append(_linear(y, x) if i == j else rest)
        if i != j:
            notes.append(f"{mixed_symbol(y, w, x)} is its transpose")
        filled = replace(blank, notes=tuple(notes))
        return fill(
            filled, self._or_zeros(entries, i, j), side(self.sources[i]), side(self.sources[j])
        )

    def _entries(self, i: int, j: int) -> Any:
        """The second derivatives, a row for each element of source i, or None if they are not connected.

        The matrix is symmetric, so that it may be computed from its shorter side.
        """
        short = self._shorter(i, j)
        entries = _rows(self.tape, self.gradients[short], self.sources[i + j - short][1])
        return entries if entries is None or short == i else entries.T

    def _shorter(self, i: int, j: int) -> int:
        return min(i, j, key=lambda k: self.sources[k][1].size)

    def _or_zeros(self, entries: Any, i: int, j: int) -> Any:
        if entries is not None:
            return entries
        return np.zeros((self.sources[i][1].size, self.sources[j][1].size))

    def _work(self, i: int) -> int:
        return _work(self.tape, self.gradients[i])


def _rows(tape: Tape, target: Any, source: Any) -> Any:
    """A Jacobian as a matrix, or None if nothing is connected."""
    with silence():
        found = tape.jacobian(target, source)
    return None if found is None else found.numpy().reshape(target.size, source.size)


def _work(tape: Tape, target: Any) -> int:
    """How many numbers a Jacobian's sweep passes, if it is written out from the start."""
    needed, count = {target._id}, 0
    for _, _, ids, _, output, output_id in reversed(tape.records):
        several = output_id.__class__ is tuple
        if needed.isdisjoint(output_id if several else (output_id,)):
            continue
        needed.update(ids)
        count += sum(y.size for y in (output if several else (output,)))
    return count * int(target.size)


def _refusal(entries: int, work: int) -> str:
    """Why a matrix is not computed, if it is too much."""
    if entries > MOST:
        return f"not computed, since it has {entries:,} entries, and a report takes on {MOST:,}"
    if work > WORK:
        return f"not computed, since its sweep would pass {work:,} numbers, and a report takes on {WORK:,}"
    return ""


def _refused(blank: Matrix, refusal: str) -> Matrix:
    way = "tape.jacobian computes it of a gradient that was taken in the cell, with -p"
    return replace(blank, notes=(*blank.notes, f"{refusal}; {way}"))


def _linear(y: str, *sources: str) -> str:
    return f"{y} is linear in {' and in '.join(sources)} around here"
