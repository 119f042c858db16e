"""Comparisons under ``%%tape`` of values that would be Python numbers without it: they return Python's bools.

Without a tape, ``x > 2`` is Python's True for ``x = 3.0``, and NumPy's for ``x = np.float64(3.0)``. A tensor holds a
NumPy scalar in both cases, so ``(x > 2) is True`` and ``match x > 2`` would take another branch on a tape. It is known
which tensors replaced Python numbers, and the records of the cell show what Python's operators computed from them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.engine.recording import Record, live, outputs_of
from tapemagic.engine.tensor.tensor import Tensor, Traced, getitem

NUMBERS = frozenset({bool, int, float, complex})
"""The types of Python numbers."""

OPERATORS = frozenset({
    np.add, np.subtract, np.multiply, np.divide, np.power, np.remainder, np.floor_divide, np.negative, np.absolute,
    np.positive,
})  # fmt: skip
"""The functions that the operators of Python numbers record."""

MAX_REMEMBERED = 1 << 16
"""The number of answers above which those for values that the tape has dropped are forgotten."""

_replacements: set[int] = set()
"""The ids of tensors that replaced a Python number, or a list of them, in any cell: a cell may run again."""


def mark_replacement(tensor: Traced, value: Any) -> None:
    """Remember that a tensor replaced a Python number, or a list or tuple of Python numbers."""
    parts = value if type(value) in {list, tuple} else [value]
    if parts and type(tensor) is Tensor and all(type(part) in NUMBERS for part in parts):
        _replacements.add(tensor._id)


def like_python(result: Any, x: Any, y: Any) -> Any:
    """Return the result of a comparison as Python's bool if x and y would be Python numbers without the tape."""
    # A symbol of a trace has the class of its value, but not the type.
    if type(result) is not np.bool_:
        return result
    for tape in live():
        known = tape._python_numbers
        if known is not None and _look_up(x, tape, known) and _look_up(y, tape, known):
            return bool(result)
    return result


def _look_up(x: Any, tape: Any, known: dict[int, bool]) -> bool:
    """Return True if an operand would be a Python number, and remember the answer."""
    if type(x) is not Tensor:
        return type(x) in NUMBERS
    if len(known) > MAX_REMEMBERED:
        for i in known.keys() - tape._tracked.keys():
            del known[i]
    return _follow_back(x._id, tape._records, known)


def _follow_back(i: int, records: Sequence[Any], known: dict[int, bool]) -> bool:
    """Return True if a value is a replacement, or if operators computed it from replacements and Python numbers.

    - `known`: The answers so far, so that each record is looked at once.
    """
    waiting = [i]
    while waiting:
        i = waiting[-1]
        if i not in known:
            record = _record_of(i, records) if i not in _replacements else None
            before = () if record is None else _operands(record)
            if any(not known[k] if k in known else k <= 0 for k in before):
                known[i] = False
            elif missing := [k for k in before if k not in known]:
                waiting += missing
                continue
            else:
                known[i] = bool(before) or i in _replacements
        waiting.pop()
    return known[i]


def _operands(record: Record) -> tuple[int, ...]:
    """Return the ids of the tensors of an operator, with 0 for an operand of NumPy; empty for other operations."""
    function = record.operation.function
    if function is getitem and type((record.params or {}).get("index")) is int:
        return record.ids
    # NumPy's functions, called by name, record parameters, even if there are none.
    if function not in OPERATORS or record.params is not None:
        return ()
    pairs = zip(record.values, record.ids, strict=True)
    return tuple([max(0, k) for x, k in pairs if k > 0 or type(x) not in NUMBERS])


def _record_of(i: int, records: Sequence[Any]) -> Record | None:
    """Find the record of a result by bisection, because ids rise. Return None if the tape dropped the record."""

    def first_id(position: int) -> int:
        # Records that were dropped leave gaps for a while.
        while position >= 0 and records[position] is None:
            position -= 1
        return outputs_of(records[position])[0] if position >= 0 else 0

    position = bisect_right(range(len(records)), i, key=first_id) - 1
    if position < 0 or records[position] is None or records[position][-1] != i:
        return None
    return Record._make(records[position])
