"""Jacobians in one reverse sweep: every gradient has an extra leading axis, a row for each unit cotangent.

The unit cotangents form a diagonal matrix, and many operations leave the gradients with few nonzero elements: the
first part of the sweep passes on only these. Where it ends, the rows are written out and passed on together, as many
at a time as fit into `BUDGET`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.recording import Record
from tapemagic.engine.tape.careful_sweep import Zeros, careful_sweep
from tapemagic.engine.tape.nonzeros import Nonzeros, Term, write_rows
from tapemagic.engine.tape.structured_sweep import StructuredSweep
from tapemagic.engine.tape.sweep import Gradients, sweep
from tapemagic.engine.tensor.tensor import broadcast, unwrap, wrap
from tapemagic.errors import UnsupportedArgumentError

MAX_BATCH_BYTES = 1 << 26
"""The maximum size of a batch of gradients of the largest value, in bytes. A sweep holds a few such batches at once."""


MAX_LAZY_ELEMENTS = 256
"""The maximum number of elements of a lazy target whose Jacobian can be computed."""

TASKS_PER_CHUNK = 4
"""Approximate number of Dask tasks of a sweep per recorded chunk."""

MAX_TASKS = 100_000
"""The maximum number of Dask tasks of a Jacobian: ten seconds of a scheduler on one machine."""


class Basis(NamedTuple):
    """The unit cotangents of a target: a basis of its elements, or of the elements of an example.

    - `shape`: The target's shape.
    - `examples`: The length of the target's first axis if it counts examples, else 1.
    - `size`: The number of unit cotangents.
    """

    shape: tuple[int, ...]
    examples: int
    size: int


def basis_of(target: Any, by_example: bool) -> Basis:
    """Return the basis of a target, or of each of its examples."""
    if not by_example:
        return Basis(target.shape, 1, target.size)
    examples, *rest = target.shape
    return Basis(target.shape, examples, int(np.prod(rest)))


def lazy_units(target: Any, basis: Basis, records: Iterable[Any]) -> list[Any]:
    """Return the unit cotangents of a lazy target, whose gradients pass through `records`.

    Raises UnsupportedArgumentError if the graph, which has a part per unit cotangent, would be too large for a
    scheduler.
    """
    if basis.size > MAX_LAZY_ELEMENTS:
        raise UnsupportedArgumentError(
            "the Jacobian of a target that isn't computed has a part of the graph for each of its elements, here "
            f"{basis.size}, and the limit is {MAX_LAZY_ELEMENTS}: take the Jacobian of a few sums, "
            "or of each partition in tapemagic.distributed.map_blocks"
        )
    outputs = chain.from_iterable(Record(*record).outputs for record in records)
    tasks = TASKS_PER_CHUNK * basis.size * sum(getattr(y, "npartitions", 0) for y in outputs)
    if tasks > MAX_TASKS:
        raise UnsupportedArgumentError(
            f"the Jacobian of {basis.size} elements that aren't computed takes a sweep through all chunks for each of "
            f"them, about {tasks:,} tasks, and the limit is {MAX_TASKS:,}: write x.rechunk(...) for fewer and "
            "longer chunks, take the Jacobian of a few sums, or of each partition in "
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
    source_ids: AbstractSet[int],
    kept: AbstractSet[int],
    basis: Basis,
    nested: bool,
) -> tuple[Gradients, bool]:
    """Sweep from all unit cotangents of a target at once.

    `diagonals` are ones in the shape of the target, by its id; they are changed. Of the sources `wanted`, those in
    `kept` are intermediate values; for the other arguments, see `sweep`. The result has, for each connected source,
    its gradients along a new first axis, one for each unit cotangent; and whether whole rows were passed on, with
    the zeros of the unit cotangents.
    """
    values = {i: _diagonal(seed) for i, seed in diagonals.items()}
    structured = StructuredSweep(tracked, kept, nested, basis.size, MAX_BATCH_BYTES)
    pending = structured.run(records, values)
    jacobians: Gradients = {}
    if pending:
        chunks = list(_chunks(records, basis))
        parts = (
            (rows, _dense(records, tracked, pending, kept, basis, nested, rows)) for rows in chunks
        )
        jacobians = _joined(parts, source_ids, basis.size, nested or len(chunks) == 1)
    for i in source_ids & values.keys():
        rows = _write_rows(values[i], basis, range(basis.size), nested)
        jacobians[i] = jacobians[i] + rows if i in jacobians else rows
    return jacobians, bool(pending)


def careful_batched_sweep(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    diagonals: Gradients,
    source_ids: AbstractSet[int],
    kept: AbstractSet[int],
    basis: Basis,
    nested: bool,
    zeros: Zeros | None = None,
    scratch: Any = None,
) -> Gradients:
    """Like `batched_sweep`, but with whole rows from the beginning, and exact zeros where no operation uses a value.

    For `zeros` and `scratch`, see `careful_sweep`.
    """

    def swept(rows: range) -> Gradients:
        """Sweep with rows of unit cotangents, which select one element each."""
        grads = {
            i: _write_rows(_diagonal(seed), basis, rows, nested) for i, seed in diagonals.items()
        }
        unused = {i: unwrap(g) == 0 for i, g in grads.items()}
        lead = (len(rows),)
        return careful_sweep(records, tracked, grads, unused, kept, nested, lead, zeros, scratch)

    parts = ((rows, swept(rows)) for rows in _chunks(records, basis))
    return _joined(parts, source_ids, basis.size, nested)


def _diagonal(seed: Any) -> Nonzeros:
    """Return all unit cotangents of a target as nonzero elements."""
    return Nonzeros(seed, [Term(range(seed.size), range(seed.size), seed)])


def _write_rows(nonzeros: Nonzeros, basis: Basis, rows: range, nested: bool) -> Any:
    """Write out rows of a Jacobian, with their zeros."""
    return write_rows(nonzeros.collected(), nonzeros.value.shape, basis.size, rows, nested)


def _dense(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    pending: Mapping[int, Nonzeros],
    kept: AbstractSet[int],
    basis: Basis,
    nested: bool,
    rows: range,
) -> Gradients:
    """Sweep with given rows written out."""
    grads = {i: _write_rows(nonzeros, basis, rows, nested) for i, nonzeros in pending.items()}
    return sweep(records, tracked, grads, kept, nested, (len(rows),))


def _chunks(records: Sequence[Any], basis: Basis) -> Iterator[range]:
    """Yield ranges of rows that fit into the budget; a Jacobian without rows is one empty range."""
    count = basis.size
    outputs = [record[4] for record in records]
    sizes = [y.nbytes if y.__class__ is not tuple else max(map(_bytes, y)) for y in outputs]
    largest = max(1, *sizes)
    size = max(1, MAX_BATCH_BYTES // largest)
    yield from (range(k, min(k + size, count)) for k in range(0, max(count, 1), size))


def _bytes(value: Any) -> int:
    return value.nbytes  # type: ignore[no-any-return]


def _joined(
    parts: Iterator[tuple[range, Gradients]],
    source_ids: AbstractSet[int],
    count: int,
    together: bool,
) -> Gradients:
    """Put the rows of each source one after another, by one concatenation (`together`) or chunk by chunk."""
    # Tapes record a concatenation. Writing chunks into an array needs less memory, as no two copies exist at the end.
    if together:
        per_chunk = [{i: part[i] for i in source_ids & part.keys()} for _, part in parts]
        return {i: _concatenated([part[i] for part in per_chunk]) for i in per_chunk[0]}
    jacobians: Gradients = {}
    for rows, part in parts:
        for i in source_ids & part.keys():
            g = part[i]
            if i not in jacobians:
                jacobians[i] = np.empty((count, *g.shape[1:]), g.dtype)
            jacobians[i][rows.start : rows.stop] = g
    return jacobians


def _concatenated(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
