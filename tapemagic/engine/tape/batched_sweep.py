"""Jacobians in one reverse sweep: every gradient carries an extra leading axis, a row for each unit cotangent.

A batch of unit cotangents begins as a diagonal matrix, and many operations leave the gradients with few nonzero
elements: that part of the sweep passes on these alone. Where it ends, the rows are written out, and are passed on
together, as many at a time as fit into `BUDGET`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.recording import Record
from tapemagic.engine.tape.nonzeros import Nonzeros, Term, written
from tapemagic.engine.tape.structured_sweep import StructuredSweep
from tapemagic.engine.tape.sweep import Gradients, sweep
from tapemagic.engine.tensor.tensor import broadcast, wrap
from tapemagic.errors import UnsupportedArgumentError

BUDGET = 1 << 26
"""The bytes that a batch of gradients of the largest value may take; a sweep holds a few such batches at once."""


MOST_LAZY = 256
"""The number of elements of a lazy target up to which its Jacobian is taken."""

TASKS = 4
"""About how many tasks a sweep has for each chunk that was recorded."""

MOST_TASKS = 100_000
"""The number of tasks up to which the Jacobian of a lazy target is taken: ten seconds of a scheduler on one machine."""


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


def basis_of(target: Any, by_example: bool) -> Basis:
    """The unit cotangents of a target, or those of each of its examples."""
    if not by_example:
        return Basis(target.shape, 1, target.size)
    examples, *rest = target.shape
    return Basis(target.shape, examples, int(np.prod(rest)))


def lazy_units(target: Any, basis: Basis, records: Iterable[Any]) -> list[Any]:
    """The unit cotangents of a lazy target, of which the records lead back to the sources.

    Raises
    ------
    UnsupportedArgumentError
        If the graph, which has a part for each of them, would be too large for a scheduler.
    """
    if basis.size > MOST_LAZY:
        raise UnsupportedArgumentError(
            "the Jacobian of a target that is not computed has a part of the graph for each of its elements, here "
            f"{basis.size}, and {MOST_LAZY} are the most: take the Jacobian of a few sums, or that of each partition "
            "in tapemagic.distributed.map_blocks"
        )
    outputs = chain.from_iterable(Record(*record).outputs for record in records)
    tasks = TASKS * basis.size * sum(getattr(y, "npartitions", 0) for y in outputs)
    if tasks > MOST_TASKS:
        raise UnsupportedArgumentError(
            f"the Jacobian of {basis.size} elements that are not computed goes back through all chunks for each of "
            f"them, in about {tasks:,} tasks, and {MOST_TASKS:,} are the most: write x.rechunk(...) for fewer and "
            "longer chunks, take the Jacobian of a few sums, or that of each partition in "
            "tapemagic.distributed.map_blocks"
        )
    shape = target._value.shape
    rest = shape[1:] if basis.examples > 1 else shape
    units = np.eye(basis.size, dtype=target.dtype).reshape((basis.size, *rest))
    return [broadcast(wrap(unit), shape) for unit in units]


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
    values = {
        i: Nonzeros(seed, [Term(range(seed.size), range(seed.size), seed)])
        for i, seed in diagonals.items()
    }
    structured = StructuredSweep(tracked, kept, nested, basis.size, BUDGET)
    pending = structured.run(records, values)
    found: Gradients = {}
    if pending:
        chunks = list(_chunks(records, basis))
        parts = (
            (rows, _dense(records, tracked, pending, kept, basis, nested, rows)) for rows in chunks
        )
        found = _joined(parts, wanted, basis.size, nested or len(chunks) == 1)
    for i in wanted & values.keys():
        rows = _written(values[i], basis, range(basis.size), nested)
        found[i] = found[i] + rows if i in found else rows
    return found


def _written(nonzeros: Nonzeros, basis: Basis, rows: range, nested: bool) -> Any:
    """Some of the rows, with their zeros."""
    return written(nonzeros.collected(), nonzeros.value.shape, basis.size, rows, nested)


def _dense(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    pending: Mapping[int, Nonzeros],
    kept: AbstractSet[int],
    basis: Basis,
    nested: bool,
    rows: range,
) -> Gradients:
    """Sweep back with some of the rows written out."""
    grads = {i: _written(nonzeros, basis, rows, nested) for i, nonzeros in pending.items()}
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
