"""Full matrices of derivatives: the Jacobians of the targets, and their Hessians, the Jacobians of gradients.

They leave no records on the observer. Those of Dask arrays are built without computing them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import silence
from tapemagic.engine.tape.base_tape import contents_of
from tapemagic.engine.tape.tape import Tape, tape_of
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.errors import NotComputedError, UnsupportedArgumentError
from tapemagic.explain.formatting import NOT_COMPUTED, derivative_symbol, mixed_derivative_symbol
from tapemagic.explain.snapshot import Named
from tapemagic.report.derivatives import failure_reason
from tapemagic.report.tabs.gradients.check_result import Check
from tapemagic.report.tabs.gradients.derivative_checks import Checker
from tapemagic.report.tabs.gradients.matrices import (
    MAX_SHOWN,
    Block,
    Matrix,
    MatrixAxis,
    PendingMatrix,
    axis_of,
    drafted,
    with_notes,
)
from tapemagic.report.tabs.gradients.numeric_check import Claim

MAX_ENTRIES = 10**6
"""The entries of the largest matrix that is computed for a report."""
MAX_WORK = 10**9
"""The largest number of elements that its reverse sweep may compute."""
MAX_BLOCK_SOURCES = 4
"""The largest number of variables whose Hessian is shown in blocks; that of more is one matrix."""

OF_GRADIENT = "of a gradient that was taken in the cell, with -p"
JACOBIAN_OF_GRADIENT = f"tape.jacobian computes it {OF_GRADIENT}"
LAZILY = "gives it, to compute, or says why not"

Reasons = Mapping[tuple[int, int], str | None]
"""The reasons for gradients that are None, by the indices of target and source."""


def jacobians(
    tape: Tape,
    targets: Sequence[Named],
    sources: Sequence[Named],
    reasons: Reasons,
    checker: Checker | None = None,
) -> list[PendingMatrix]:
    """The Jacobian of every target with respect to every source."""
    compare = partial(_compared, checker, len(targets) * len(sources)) if checker else None
    return [
        _jacobian(tape, target, source, reasons[t, s], compare)
        for t, target in enumerate(targets)
        for s, source in enumerate(sources)
    ]


def _compared(
    checker: Checker,
    count: int,
    target: Any,
    chain: Sequence[Sequence[Any]],
    axes: tuple[MatrixAxis, MatrixAxis],
    sources: Sequence[Any],
    table: Any,
) -> Check:
    """Compare a matrix, one of `count`, with finite differences."""
    down, across = axes
    claim = Claim([target], chain, sources, table, True, (down.label, across.label))
    return checker.check(claim, count)


def _jacobian(
    tape: Tape, down: Named, across: Named, reason: str | None, compare: Callable[..., Check] | None
) -> PendingMatrix:
    (y, target), (x, source) = down, across
    blank = Matrix("jacobian", y, (x,), target.shape + source.shape, reason=reason)
    if reason:
        return PendingMatrix(blank)
    lazy = is_lazy(unwrap(target))
    elsewhere = f"tape.jacobian({y}, {x}) {LAZILY}" if lazy else "tape.jacobian computes it"
    work = 0 if lazy and target.size == 1 else _work(tape, target)  # a gradient is taken anyway
    if problem := _too_large(target.size * source.size, work):
        return PendingMatrix(with_notes(blank, f"{problem}; {elsewhere}"))
    try:
        block = Block(_derivatives(tape, target, source), (target.size, source.size))
        axes = axis_of(down), axis_of(across)
        check = compare and partial(compare, target, (), axes, [source])
        return drafted(PendingMatrix(blank, [[block]], *axes), elsewhere, check)
    except Exception as error:  # noqa: BLE001 -- a rule may call anything
        return PendingMatrix(_failed(blank, error, target))


def hessians(
    tape: Tape,
    targets: Sequence[Named],
    sources: Sequence[Named],
    reasons: Reasons,
    checker: Checker | None = None,
) -> list[PendingMatrix]:
    """The Hessian of every target, or of its sum if it is an array, with respect to all sources.

    A small Hessian is one matrix; a larger one has a block for every two sources.
    """
    matrices = []
    count = len(targets) * len(sources) * (len(sources) + 1) // 2
    compare = partial(_compared, checker, count) if checker else None
    for t, target in enumerate(targets):
        why = [reasons[t, s] or _complex_reason(x, source) for s, (x, source) in enumerate(sources)]
        # Sources without a gradient have no second derivatives: each gets a matrix with its reason.
        connected = [source for source, reason in zip(sources, why, strict=True) if not reason]
        if connected:
            # A copy, because recording the gradients must add no records to the observer.
            matrices += _hessian(tape_of(contents_of(tape)), target, connected, compare)
        matrices += [
            PendingMatrix(Matrix("hessian", target[0], (x, x), source.shape * 2, reason=reason))
            for (x, source), reason in zip(sources, why, strict=True)
            if reason
        ]
    return matrices


def _complex_reason(x: str, source: Any) -> str:
    if source.dtype.kind != "c":
        return ""
    return (
        f"{x} holds complex numbers, whose second derivatives are not one matrix: watch its real part and its "
        "imaginary part, each by its own name"
    )


def _hessian(
    tape: Tape, target: Named, sources: Sequence[Named], compare: Callable[..., Check] | None
) -> list[PendingMatrix]:
    """The Hessian of a target as one matrix or as blocks; the tape records the gradients."""
    y, goal = target
    names = ", ".join(x for x, _ in sources)
    notes = (f"of the sum of the {goal.size:,} elements of {y}",) if goal.shape else ()
    entries = sum(x.size for _, x in sources)
    blank = Matrix("hessian", y, (names, names), (entries, entries), notes=notes)
    try:
        # `silence` stops all tapes that are open; this one is opened inside it.
        with silence(), tape:
            gradients = tape.gradient(goal, [x for _, x in sources])
        lazily = f"tape.jacobian {OF_GRADIENT}, {LAZILY}"
        elsewhere = lazily if is_lazy(unwrap(goal)) else JACOBIAN_OF_GRADIENT
        compare = compare and partial(compare, goal)
        second = _HessianBlocks(tape, sources, gradients, elsewhere, compare)
        if axis_of(*sources).size <= MAX_SHOWN or len(sources) > MAX_BLOCK_SOURCES:
            return [second.one_matrix(blank)]
        first, *rest = combinations_with_replacement(range(len(sources)), 2)
        return [
            second.block(blank, *first),
            *(second.block(replace(blank, notes=()), i, j) for i, j in rest),
        ]
    except Exception as error:  # noqa: BLE001 -- a rule may call anything
        return [PendingMatrix(_failed(blank, error, goal))]


@dataclass
class _HessianBlocks:
    """The Hessian of a target: the Jacobians of its gradients, which a tape has recorded.

    `elsewhere` says where to find what is too large, and `compare` checks a matrix.
    """

    tape: Tape
    sources: Sequence[Named]
    gradients: Sequence[Any]
    elsewhere: str
    compare: Callable[..., Check] | None

    def one_matrix(self, blank: Matrix) -> PendingMatrix:
        """The Hessian as one matrix, with the elements of all sources."""
        every, count = axis_of(*self.sources), len(self.sources)
        if problem := _too_large(every.size**2, sum(map(self._work, range(count)))):
            return PendingMatrix(with_notes(blank, f"{problem}; {self.elsewhere}"))
        upper = {
            (i, j): self._block(i, j) for i, j in combinations_with_replacement(range(count), 2)
        }
        linear = [x for i, (x, _) in enumerate(self.sources) if upper[i, i] is None]
        notes = [_linear_note(blank.target, *linear)] if linear else []
        starts = [axis_of(source).label(0) for source in self.sources if source[1].size]
        if len(starts) > 1:
            mixed = mixed_derivative_symbol(blank.target, starts[0], starts[1])
            notes.append(f"row {starts[0]}, column {starts[1]}: {mixed}")
        dense = {pair: block or self._zeros(*pair) for pair, block in upper.items()}
        blocks = [
            [dense[i, j] if i <= j else dense[j, i].transposed() for j in range(count)]
            for i in range(count)
        ]
        xs = [x for _, x in self.sources]
        check = self.compare and partial(self.compare, [xs], (every, every), xs)
        draft = PendingMatrix(blank, blocks, every, every, tuple(notes))
        return drafted(draft, self.elsewhere, check)

    def block(self, blank: Matrix, i: int, j: int) -> PendingMatrix:
        """The block of the Hessian with the elements of one source as rows, and of another as columns."""
        (x, down), (w, across) = self.sources[i], self.sources[j]
        blank = replace(blank, sources=(x, w), shape=down.shape + across.shape)
        work = self._work(self._shorter(i, j))
        if problem := _too_large(down.size * across.size, work):
            return PendingMatrix(with_notes(blank, f"{problem}; {self.elsewhere}"))
        try:
            block = self._block(i, j)
        except Exception as error:  # noqa: BLE001 -- a rule may call anything
            return PendingMatrix(_failed(blank, error, self.gradients[i]))
        y, notes = blank.target, []
        if block is None:
            rest = f"{derivative_symbol(y, x, 1)} does not depend on {w} around here"
            notes.append(_linear_note(y, x) if i == j else rest)
        if i != j:
            notes.append(f"{mixed_derivative_symbol(y, w, x)} is its transpose")
        rows, columns = axis_of(self.sources[i]), axis_of(self.sources[j])
        blocks = [[block or self._zeros(i, j)]]
        check = self.compare and partial(self.compare, [[down]], (rows, columns), [across])
        draft = PendingMatrix(blank, blocks, rows, columns, tuple(notes))
        return drafted(draft, self.elsewhere, check)

    def _block(self, i: int, j: int) -> Block | None:
        """The second derivatives, a row for each element of source i, or None for unconnected sources.

        The Hessian is symmetric, so that the source with fewer elements is used for the rows.
        """
        short = self._shorter(i, j)
        down, across = self.gradients[short], self.sources[i + j - short][1]
        values = _derivatives(self.tape, down, across)
        if values is None:
            return None
        block = Block(values, (down.size, across.size))
        return block if short == i else block.transposed()

    def _shorter(self, i: int, j: int) -> int:
        return min(i, j, key=lambda k: self.sources[k][1].size)

    def _zeros(self, i: int, j: int) -> Block:
        shape = self.sources[i][1].size, self.sources[j][1].size
        return Block(np.zeros(shape), shape)

    def _work(self, i: int) -> int:
        return _work(self.tape, self.gradients[i])


def _derivatives(tape: Tape, target: Any, source: Any) -> Any:
    """A Jacobian as an array, which may be lazy, or None if target and source are not connected."""
    with silence():
        jacobian = tape.jacobian(target, source)
    return None if jacobian is None else unwrap(jacobian)


def _failed(matrix: Matrix, error: Exception, target: Any) -> Matrix:
    """A matrix that a rule cannot give; that of a Dask array may only be too long a graph, or need numbers."""
    if is_lazy(unwrap(target)) and isinstance(error, (NotComputedError, UnsupportedArgumentError)):
        return with_notes(matrix, NOT_COMPUTED, str(error))
    return replace(matrix, reason=failure_reason(error))


def _work(tape: Tape, target: Any) -> int:
    """The number of elements that the reverse sweep of a Jacobian computes."""
    # Only operations that lead to the target are swept, once for each row of the Jacobian.
    needed, count = {id_of(target)}, 0
    for _, _, ids, _, output, output_id in reversed(tape.records):
        several = isinstance(output_id, tuple)
        if needed.isdisjoint(output_id if several else (output_id,)):
            continue
        needed.update(ids)
        count += sum(y.size for y in (output if several else (output,)))
    return count * int(target.size)


def _too_large(entries: int, work: int) -> str:
    """Return the reason why a matrix is too large to compute, or '' if it isn't."""
    if entries > MAX_ENTRIES:
        limit = f"{MAX_ENTRIES:,}"
        return f"not computed, since it has {entries:,} entries, and a report takes on {limit}"
    if work > MAX_WORK:
        return f"not computed, since its sweep would pass {work:,} numbers, and a report takes on {MAX_WORK:,}"
    return ""


def _linear_note(y: str, *sources: str) -> str:
    return f"{y} is linear in {' and in '.join(sources)} around here"
