"""Find operations that combine a column with a row by mistake: shapes such as (4, 1) and (4,)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapemagic.engine.recording import Record
from tapemagic.engine.registry import NUMBERED
from tapemagic.explain.program_text import operation_at
from tapemagic.report.subject import Subject
from tapemagic.report.verdict.source_operands import LONGEST, operands_at
from tapemagic.report.verdict.statement import Statement

ADDING_AXES = {"None", "newaxis", "expand_dims", "reshape", "keepdims", "atleast_2d"}
"""Words of a program that adds an axis on purpose."""
WORD = re.compile(r"\w+")


def broadcasting(subject: Subject) -> Iterator[Statement]:
    """Yield a statement for each line that combines every element of an array with every element of another one.

    The axis of length 1 that causes it must not have been added on purpose, as in ``x[:, None] - x``.
    """
    origins, seen = subject.whole.origins, set[tuple[Any, ...]]()
    records = subject.snapshot.records[: subject.operations]
    for position, (number, values, _, _, output, _) in enumerate(records):
        # A quick test, since most operations of a long recording fail it.
        if getattr(output, "ndim", 0) < 2 or len(values) != 2 or not NUMBERED[number].pointwise:
            continue
        shapes = (np.shape(values[0]), np.shape(values[1]))
        column = _column(*shapes)
        if column is None or not origins.sites or origins.orders[position]:
            continue
        line, call, offset, _ = origins.sites[position]
        code, name = origins.calls[call].code, NUMBERED[number].name
        # Once for each line: the operands may have been computed by a long chain of operations.
        if (line, code, offset, shapes) in seen:
            continue
        seen.add((line, code, offset, shapes))
        # Operations inside of layers and other libraries aren't written in the program.
        written = operands_at(code, offset, name)
        if len(written) != 2 or code is None:
            continue
        if _has_added_axis(subject, position, column, written[column]):
            continue
        node = operation_at(code, offset)
        formula = "" if node is None else ast.unparse(node)
        formula = formula if len(formula) <= LONGEST else name
        text = _sentence(formula, written[column], shapes, output.shape, line)
        yield Statement("warning", text, line)


def _column(first: tuple[int, ...], second: tuple[int, ...]) -> int | None:
    """Return which of two shapes is that of the other with an axis of length 1 that broadcasting doesn't ignore.

    Examples
    --------
    >>> _column((4, 1), (4,)), _column((4,), (4, 1)), _column((1, 4), (4,)), _column((4, 1), (3,))
    (0, 1, None, None)
    """
    column = int(len(second) > len(first))
    wide, flat = (second, first) if column else (first, second)
    is_same = tuple(n for n in wide if n != 1) == flat
    return column if is_same and wide[len(wide) - len(flat) :] != flat else None


def _has_added_axis(subject: Subject, position: int, column: int, written: str) -> bool:
    """Return True if the program added the axis of length 1, here or where the operand was computed."""
    record = Record._make(subject.snapshot.records[position])
    # Whole words: an array called reshaped may have its axis by mistake.
    if not ADDING_AXES.isdisjoint(WORD.findall(written)):
        return True
    shape = np.shape(record.values[column])
    made = subject.place(record.ids[column])
    # Elementwise operations keep the axis; the operation before them has made it.
    while made is not None:
        record = Record._make(subject.snapshot.records[made[0]])
        params = record.params or {}
        index = params.get("index")
        index = index if isinstance(index, tuple) else (index,)
        if record.name == "index":
            return any(x is None for x in index)
        if record.name in ADDING_AXES or params.get("keepdims"):
            return True
        if not record.operation.pointwise:
            return False
        same = (i for i, x in zip(record.ids, record.values, strict=True) if np.shape(x) == shape)
        made = subject.place(next(same, 0))
    return False


def _sentence(
    formula: str,
    written: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    result: tuple[int, ...],
    line: int | None,
) -> str:
    """Write the statement on an operation.

    - `written`: The operand with the axis of length 1 in the program, or '' if it is long.
    """
    at = "" if line is None else f" on line {line}"
    instead = (
        f"write np.squeeze({written})"
        if written
        else f"apply np.squeeze to the one of {max(shapes, key=len)}"
    )
    return (
        f"{formula}{at} has the shape {result}: of shapes {shapes[0]} and {shapes[1]}, NumPy combines every element of "
        f"one with every element of the other. To combine one with one, {instead}."
    )
