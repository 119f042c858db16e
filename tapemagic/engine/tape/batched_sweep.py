"""Jacobians in one reverse sweep: every gradient carries an extra leading axis, a row for each unit cotangent.

A batch of unit cotangents begins as a diagonal matrix, and elementwise operations leave it diagonal: that part of
the sweep passes on the diagonal alone. Where it ends, the rows are written out, and are passed on together, as many
at a time as fit into `BUDGET`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.registry import NUMBERED
from tapemagic.engine.tape.sweep import Gradients, sweep
from tapemagic.engine.tensor.tensor import Tensor

BUDGET = 1 << 26
"""The bytes that a batch of gradients of the largest value may take; a sweep holds a few such batches at once."""


class Basis(NamedTuple):
    """The unit cotangents of a target: one for each element, or for each element of an example.

    Attributes
    ----------
    shape : tuple of int
        The target's shape.
    examples : int
        How many examples the target's first axis counts; 1 if the target is a single one.
    size : int
        The number of unit cotangents.
    """

    shape: tuple[int, ...]
    examples: int
    size: int

    def rows(self, diagonal: Any, start: int, stop: int) -> Any:
        """The cotangents from `start` to `stop`, each element multiplied with that of the `diagonal`."""
        if isinstance(diagonal, Tensor):
            units = self._written(np.ones(self.shape, np.bool_), start, stop)
            return np.where(units, diagonal, diagonal.dtype.type(0))
        return self._written(diagonal, start, stop)

    def _written(self, diagonal: Any, start: int, stop: int) -> Any:
        rows = np.zeros((stop - start, self.examples, self.size), diagonal.dtype)
        one = diagonal.reshape(self.examples, self.size)[:, start:stop]
        np.einsum("kek->ek", rows[:, :, start:stop])[...] = one
        return rows.reshape(stop - start, *self.shape)


def basis_of(target: Any, by_example: bool) -> Basis:
    """The unit cotangents of a target, or those of each of its examples."""
    if not by_example:
        return Basis(target.shape, 1, target.size)
    examples, *rest = target.shape
    return Basis(target.shape, examples, int(np.prod(rest)))


def batched_sweep(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    diagonals: Gradients,
    wanted: AbstractSet[int],
    kept: AbstractSet[int],
    basis: Basis,
    nested: bool,
) -> Gradients:
    """Sweep back from each of a target's unit cotangents at once.

    The `diagonals` are ones, in the shape of the target, under its id; they are changed. Of the sources `wanted`, those
    in `kept` are intermediate values; the other arguments are those of `sweep`. The result holds, for each source that
    is connected, its gradients along a new first axis: one for each unit cotangent.
    """
    pending = _pass_diagonals(records, tracked, diagonals, kept, nested)
    found: Gradients = {}
    if pending:
        chunks = list(_chunks(records, basis))
        parts = (
            (rows, _dense(records, tracked, pending, kept, basis, nested, rows)) for rows in chunks
        )
        found = _joined(parts, wanted, basis.size, nested or len(chunks) == 1)
    for i in wanted & diagonals.keys():
        rows = basis.rows(diagonals[i], 0, basis.size)
        found[i] = found[i] + rows if i in found else rows
    return found


def _pass_diagonals(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    diagonals: Gradients,
    kept: AbstractSet[int],
    nested: bool,
) -> Gradients:
    """Pass diagonals on to the inputs of elementwise operations; what is left for rows to do.

    `diagonals` then holds the sources' alone.
    """
    pending: Gradients = {}
    dense: set[int] = set()
    for record in reversed(records):
        number, values, ids, _, output, output_id = record
        several = output_id.__class__ is tuple
        reached = [i for i in (output_id if several else (output_id,)) if i in diagonals]
        if not reached and dense.isdisjoint(output_id if several else (output_id,)):
            continue
        if (
            several
            or output_id in dense
            or not _keeps_diagonal(number, values, ids, output, tracked)
        ):
            pending.update((i, diagonals.pop(i)) for i in reached)
            dense.update(i for i in ids if i in tracked)
            continue
        diagonal = diagonals[output_id] if output_id in kept else diagonals.pop(output_id)
        passed = sweep((record,), tracked, {output_id: diagonal}, frozenset(), nested)
        for i, part in passed.items():
            diagonals[i] = diagonals[i] + part if i in diagonals else part
    return pending


def _keeps_diagonal(
    number: int,
    values: tuple[Any, ...],
    ids: tuple[int, ...],
    output: Any,
    tracked: Mapping[int, int],
) -> bool:
    """Whether each element of an operation's tracked inputs reaches the result at its own place alone."""
    return NUMBERED[number].pointwise and all(
        x.shape == output.shape for x, i in zip(values, ids, strict=True) if i in tracked
    )


def _dense(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    pending: Gradients,
    kept: AbstractSet[int],
    basis: Basis,
    nested: bool,
    rows: range,
) -> Gradients:
    """Sweep back with some of the rows written out."""
    different = {id(diagonal): diagonal for diagonal in pending.values()}
    written = {key: basis.rows(one, rows.start, rows.stop) for key, one in different.items()}
    grads = {i: written[id(diagonal)] for i, diagonal in pending.items()}
    return sweep(records, tracked, grads, kept, nested, (len(rows),))


def _chunks(records: Sequence[Any], basis: Basis) -> Iterator[range]:
    """The rows, as many at a time as fit into the budget; no row at all still makes one chunk."""
    count = basis.size
    outputs = [record[4] for record in records]
    sizes = [y.nbytes if y.__class__ is not tuple else max(map(_bytes, y)) for y in outputs]
    largest = max(1, *sizes)
    size = max(1, BUDGET // largest)
    yield from (range(k, min(k + size, count)) for k in range(0, max(count, 1), size))


def _bytes(value: Any) -> int:
    return value.nbytes  # type: ignore[no-any-return]


def _joined(
    parts: Iterator[tuple[range, Gradients]], wanted: AbstractSet[int], count: int, together: bool
) -> Gradients:
    """The rows of each source one after the other: put `together` at the end, or each at once in its place."""
    if together:
        held = [{i: part[i] for i in wanted & part.keys()} for _, part in parts]
        return {i: _concatenated([part[i] for part in held]) for i in held[0]}
    found: Gradients = {}
    for rows, part in parts:
        for i in wanted & part.keys():
            g = part[i]
            if i not in found:
                found[i] = np.empty((count, *g.shape[1:]), g.dtype)
            found[i][rows.start : rows.stop] = g
    return found


def _concatenated(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
