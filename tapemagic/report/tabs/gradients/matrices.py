"""Matrices of derivatives as frozen data: labeled numbers; for a large matrix, the cells of a heat map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tapemagic.engine.laziness import MAX_KEPT_BYTES, is_lazy
from tapemagic.explain.formatting import (
    NOT_COMPUTED,
    bracketed,
    derivative_symbol,
    format_entries,
    format_number,
    format_shape,
    mixed_derivative_symbol,
)
from tapemagic.explain.lazy_values import is_pending, with_numbers
from tapemagic.report.cells import Cells, block_means, rounded
from tapemagic.report.derivatives import failure_reason
from tapemagic.report.request import Kind
from tapemagic.report.tabs.gradients.check_result import Check

MAX_SHOWN = 8
"""The number of rows and columns that are written out."""
MAX_CELLS = 64
"""The number of rows and columns of a heat map."""
GAP = "…"
Compare = Callable[[Any], Check]
"""Checks a table of derivatives."""


@dataclass(frozen=True)
class HeatMap:
    """The cells of a heat map of a large matrix.

    - `cells`: Entries, or means of blocks of entries, to six significant digits; absolute values of complex ones.
    - `block`: (int, int). The rows and columns of the matrix in one cell; the last cells may have fewer.
    - `absolute`: Whether the cells are absolute values.
    """

    cells: Cells
    block: tuple[int, int] = (1, 1)
    absolute: bool = False


@dataclass(frozen=True)
class Matrix:
    """A full matrix of derivatives; without one, the reason.

    Attributes
    ----------
    kind : {'jacobian', 'hessian'}
    target : str
    sources : tuple of str
        One name for a Jacobian; for a Hessian those of its rows and of its columns.
    shape : tuple of int
        The shape of the array of derivatives, which is reshaped to a matrix.
    rows, columns : tuple of str
        The labels of rows and columns, with a gap for those that are not written out.
    cells : tuple of tuple of str
        The entries of those rows and columns.
    extent : str
        The range of the entries, if not all of them are written out.
    heat : Heat or None
        The heat map of a matrix that is not written out in full.
    notes : tuple of str
        Remarks; if there are no cells, the reason why they were not computed.
    reason : str or None
        The reason for a None.
    check : Check or None
        The check by finite differences.
    """

    kind: Kind
    target: str
    sources: tuple[str, ...]
    shape: tuple[int, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    extent: str = ""
    heat: HeatMap | None = None
    notes: tuple[str, ...] = ()
    reason: str | None = None
    check: Check | None = None

    @property
    def text(self) -> str | None:
        """The size of the matrix, or None if there is no derivative."""
        return None if self.reason else format_shape(self.shape)

    @property
    def symbol(self) -> str:
        """The symbol of the derivative: dy/dx, d²y/dx², d²y/dx dw."""
        if self.kind == "jacobian":
            return derivative_symbol(self.target, self.sources[0], 1)
        rows, columns = self.sources
        if rows == columns:
            return derivative_symbol(self.target, rows, 2)
        return mixed_derivative_symbol(self.target, rows, columns)


@dataclass(frozen=True)
class MatrixAxis:
    """The elements of arrays, one array after the other, along the rows or the columns of a matrix."""

    parts: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def name(self) -> str:
        """The names of all parts."""
        return ", ".join(name for name, _ in self.parts)

    @property
    def size(self) -> int:
        """The number of elements."""
        return sum(math.prod(shape) for _, shape in self.parts)

    def label(self, position: int) -> str:
        """The label of an element: x[1,2]."""
        for name, shape in self.parts:
            size = math.prod(shape)
            if position < size:
                index = ",".join(map(str, np.unravel_index(position, shape))) if shape else ""
                return f"{bracketed(name)}[{index}]" if shape else name
            position -= size
        raise IndexError(position)


def axis_of(*named: tuple[str, Any]) -> MatrixAxis:
    """The axis with the elements of named tensors."""
    return MatrixAxis(tuple((name, tuple(value.shape)) for name, value in named))


def with_entries(matrix: Matrix, table: Any, down: MatrixAxis, across: MatrixAxis) -> Matrix:
    """The matrix with its entries as text, and a heat map if it is large; a zero has no sign."""
    rows, columns = _shown_positions(down.size), _shown_positions(across.size)
    is_complete = None not in rows and None not in columns
    # Adding 0 turns -0.0 into 0.0.
    cells = tuple(
        tuple(GAP if i is None or j is None else format_number(table[i, j] + 0) for j in columns)
        for i in rows
    )
    return replace(
        matrix,
        rows=_labels(down, rows),
        columns=_labels(across, columns),
        cells=cells if table.size else (),
        extent="" if is_complete else format_entries(table),
        heat=None if is_complete or not table.size else _heat(table),
    )


def _shown_positions(size: int) -> list[int | None]:
    """Return the positions that are written out: all, or the first and the last with None for the gap."""
    if size <= MAX_SHOWN:
        return list(range(size))
    half = MAX_SHOWN // 2
    return [*range(half), None, *range(size - half + 1, size)]


def _labels(names: MatrixAxis, positions: Sequence[int | None]) -> tuple[str, ...]:
    return tuple(GAP if i is None else names.label(i) for i in positions)


def _heat(table: Any) -> HeatMap:
    """The heat map of a matrix, with means of blocks where it has more than `MAX_CELLS` rows or columns."""
    # -(-a // b) rounds up, as in `block_means`.
    block = tuple(-(-size // MAX_CELLS) for size in table.shape)
    with np.errstate(all="ignore"):
        cells = rounded(block_means(table, (MAX_CELLS, MAX_CELLS)))
    return HeatMap(cells, (block[0], block[1]), table.dtype.kind == "c")


LARGE = f"since it holds more than {MAX_KEPT_BYTES >> 20} MB"
ASKING = "%%tape --compute computes it"
NO_AXIS = MatrixAxis(())


@dataclass(frozen=True)
class Block:
    """A block of a matrix: an array of derivatives, which may be lazy.

    - `values`: Of any shape.
    - `shape`: (int, int). The rows and columns that it is reshaped to.
    - `is_transposed`: Whether they change places then.
    """

    values: Any
    shape: tuple[int, int]
    is_transposed: bool = False

    def transposed(self) -> Self:
        """Return the transposed block."""
        return replace(self, is_transposed=not self.is_transposed)

    def table(self) -> Any:
        """The numbers, in rows and columns."""
        table = np.reshape(with_numbers(self.values), self.shape)
        return table.T if self.is_transposed else table


@dataclass(frozen=True)
class PendingMatrix:
    """A matrix whose numbers may be computed later.

    - `matrix`: It has everything but entries; without blocks it is finished.
    - `blocks`: Rows of blocks: a single one, or as many rows as columns.
    - `down`, `across`: The rows and columns of them all.
    - `notes`: Remarks on the entries.
    """

    matrix: Matrix
    blocks: Sequence[Sequence[Block]] = ()
    down: MatrixAxis = NO_AXIS
    across: MatrixAxis = NO_AXIS
    notes: tuple[str, ...] = ()

    @property
    def pending(self) -> list[Any]:
        """The lazy arrays in it that are not computed."""
        return [block.values for row in self.blocks for block in row if is_pending(block.values)]

    def filled(self) -> Matrix:
        """Return the matrix with its entries; none of them may be pending."""
        if not self.blocks:
            return self.matrix
        matrix = replace(self.matrix, notes=(*self.matrix.notes, *self.notes))
        return with_entries(matrix, self.table(), self.down, self.across)

    def table(self) -> Any:
        """Return the entries, in rows and columns; none of them may be pending."""
        tables = [[block.table() for block in row] for row in self.blocks]
        return np.block(tables) if len(tables) > 1 else tables[0][0]

    def finished(self, hint: str = "") -> Matrix:
        """The matrix with its entries, or a note that they are not computed, with a hint."""
        if self.pending:
            return with_notes(self.matrix, *filter(None, [NOT_COMPUTED, hint]))
        try:
            return self.filled()
        except Exception as error:  # noqa: BLE001 -- the numbers are those of any program's functions
            return replace(self.matrix, reason=failure_reason(error))


def drafted(draft: PendingMatrix, elsewhere: str, compare: Compare | None) -> PendingMatrix:
    """A draft, filled at once if its entries are in memory, or refused if they would be too large to be kept.

    `elsewhere` says where to find those. `compare` checks the entries.
    """
    lazy = [block.values for row in draft.blocks for block in row if is_lazy(block.values)]
    # Filled at once, so that the report keeps labels and texts, and the array of entries is freed.
    if not lazy:
        check = compare(draft.table()) if compare else None
        return PendingMatrix(replace(draft.filled(), check=check))
    if any(x.size * x.dtype.itemsize > MAX_KEPT_BYTES for x in lazy):
        return PendingMatrix(with_notes(draft.matrix, f"{NOT_COMPUTED}, {LARGE}; {elsewhere}"))
    return draft


def with_notes(matrix: Matrix, *notes: str) -> Matrix:
    """A matrix with further notes."""
    return replace(matrix, notes=(*matrix.notes, *notes))
