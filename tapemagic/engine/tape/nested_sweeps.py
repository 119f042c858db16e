"""Careful sweeps below a careful sweep: the gradients that a tape has recorded, with their unused entries.

An inner gradient that is finite came from the usual sweep, so the outer tape has recorded products with zeros, but not
that a selection made them. If the outer gradient is nan, the inner sweep runs again as a careful sweep, which records
its selections, and its records replace those of the usual sweep.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from tapemagic.engine.recording import outputs_of
from tapemagic.engine.tape.batched_sweep import Basis, careful_batched_sweep
from tapemagic.engine.tape.careful_sweep import Zeros, careful_sweep
from tapemagic.engine.tape.cotangents import seeds
from tapemagic.engine.tape.sweep import Gradients
from tapemagic.engine.tensor.tensor import Tensor

NestedSweep = tuple[int, int, Sequence[Any], Mapping[int, int], set[int], Gradients, Any]
"""A sweep that a tape has recorded. A plain tuple, because each nested sweep makes one:

- times between which all ids of its records are;
- the records and the tracked values through which it swept, the ids of its sources, and its gradients by these ids;
- its start: the targets, their `output_gradients` and the ids of intermediate sources, or of a Jacobian the target's
  gradient, its basis and the ids of intermediate sources.
"""


def with_careful_sweeps(
    scratch: Any,
    records: Sequence[Any],
    tracked: Mapping[int, int],
    sweeps: Sequence[NestedSweep],
) -> tuple[Sequence[Any], Mapping[int, int], Zeros]:
    """Replace the records of nested sweeps by those of careful sweeps.

    Return also what is tracked then, and the operands of these records that are gradients with unused entries.
    `scratch` is a new tape that drops no records.
    """
    zeros: Zeros = {}
    if not sweeps:
        return records, tracked, zeros
    tracked = dict(tracked)
    begins = [begin for begin, *_ in sweeps]
    parts: list[list[Any]] = []

    def replaced(old: Sequence[Any]) -> list[Any]:
        """Return records with those of the sweeps so far replaced, each at the place of its first record."""
        new: list[Any] = []
        entered = set()
        for record in old:
            i = outputs_of(record)[0]
            k = bisect_right(begins, i) - 1
            if k < 0 or k >= len(parts) or i > sweeps[k][1]:
                new.append(record)
            elif k not in entered:
                entered.add(k)
                new += parts[k]
        return new

    for begin, end, swept, of_sweep, ids, results, start in sweeps:
        # What earlier careful sweeps made replaces values that this sweep tracked.
        added = {i: time for i, time in tracked.items() if i > end and time < i}
        # Other live tapes record it too: the sweep that needs these records may itself be recorded.
        with scratch:
            first = len(scratch._records)
            scratch._tracked.update(tracked)
            goals = {**of_sweep, **added}
            grads = _again(replaced(swept), goals, ids, start, zeros, scratch)
            made = scratch._records[first:]
        new_ids = {
            _id(grads[i]): _id(results[i])
            for i in ids
            if i in grads and begin < _id(results[i]) < end < _id(grads[i])
        }
        parts.append([_renamed(record, new_ids) for record in made])
        zeros.update((new_ids[i], zeros[i]) for i in new_ids.keys() & zeros.keys())
        # All of them count as tracked from the beginning: consumers with older ids read them now.
        for record in parts[-1]:
            tracked.update(dict.fromkeys(outputs_of(record), begin))
    return replaced(records), tracked, zeros


def _again(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    ids: set[int],
    start: Any,
    zeros: Zeros,
    scratch: Any,
) -> Gradients:
    """Run a recorded sweep as a careful sweep, on tensors."""
    goal, how, kept = start
    if isinstance(how, Basis):
        return careful_batched_sweep(records, tracked, goal, ids, kept, how, True, zeros, scratch)
    grads = seeds(goal, how, True)
    return careful_sweep(records, tracked, grads, {}, kept, True, (), zeros, scratch)


def _id(g: Any) -> int:
    """Return the id of a gradient; 0 for an array, which no tape tracks."""
    return g._id if isinstance(g, Tensor) else 0


def _renamed(record: Any, ids: Mapping[int, int]) -> Any:
    """Return a record with other ids for the final gradients: those that the later records know."""
    number, values, inputs, params, output, output_id = record
    inputs = tuple(ids.get(i, i) for i in inputs)
    if output_id.__class__ is tuple:
        return number, values, inputs, params, output, tuple(ids.get(i, i) for i in output_id)
    return number, values, inputs, params, output, ids.get(output_id, output_id)
