"""A matrix of derivatives as plain data: labelled numbers where they can be read, else colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tapemagic.analysis.formatting import (
    bracketed,
    derivative_symbol,
    format_entries,
    format_number,
    mixed_derivative_symbol,
)

Kind = Literal["jacobian", "hessian"]

SHOWN = 8
"""How many rows and columns are written out."""
CELLS = 64
"""How many rows and columns of colours there are."""
GAP = "…"


@dataclass(frozen=True)
class Heat:
    """A matrix that is too large to be read.

    Attributes
    ----------
    cells : tuple of tuple of float
        Its entries, or the means of blocks of them, to six significant digits; of complex ones the absolute values.
    block : (int, int)
        How many rows and columns of the matrix a cell stands for; those at the end may stand for fewer.
    absolute : bool
        Whether the cells are absolute values.
    """

    cells: tuple[tuple[float, ...], ...]
    block: tuple[int, int] = (1, 1)
    absolute: bool = False


@dataclass(frozen=True)
class Matrix:
    """A full matrix of derivatives, or the reason why there is none.

    Attributes
    ----------
    kind : {'jacobian', 'hessian'}
    target : str
    sources : tuple of str
        With respect to what: one name for a Jacobian, and for a Hessian those of its rows and of its columns.
    shape : tuple of int
        That of the array of derivatives, of which the matrix may be a reshaped view.
    rows, columns : tuple of str
        What the rows and columns are called; a gap stands for those that are not written out.
    cells : tuple of tuple of str
        The entries of those rows and columns.
    extent : str
        From where to where the entries go, if not all of them are written out.
    heat : Heat or None
        The picture of a matrix that is not written out in full.
    notes : tuple of str
        What there is to say about it; if there are no cells, why they were not computed.
    reason : str or None
        Why it is None.
    """

    kind: Kind
    target: str
    sources: tuple[str, ...]
    shape: tuple[int, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    extent: str = ""
    heat: Heat | None = None
    notes: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def symbol(self) -> str:
        """The derivative as it is written: dy/dx, d²y/dx², d²y/dx dw."""
        if self.kind == "jacobian":
            return derivative_symbol(self.target, self.sources[0], 1)
        rows, columns = self.sources
        if rows == columns:
            return derivative_symbol(self.target, rows, 2)
        return mixed_derivative_symbol(self.target, rows, columns)


@dataclass(frozen=True)
class Side:
    """What the rows of a matrix stand for, or its columns: the elements of one array after the other."""

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
        """What an element is called: x[1,2]."""
        for name, shape in self.parts:
            size = math.prod(shape)
            if position < size:
                index = ",".join(map(str, np.unravel_index(position, shape))) if shape else ""
                return f"{bracketed(name)}[{index}]" if shape else name
            position -= size
        raise IndexError(position)


def side(*named: tuple[str, Any]) -> Side:
    """The elements of named tensors."""
    return Side(tuple((name, tuple(value.shape)) for name, value in named))


def fill(matrix: Matrix, table: Any, down: Side, across: Side) -> Matrix:
    """The matrix with its entries, in which a zero has no sign."""
    rows, columns = _written(down.size), _written(across.size)
    whole = None not in rows and None not in columns
    cells = tuple(
        tuple(GAP if i is None or j is None else format_number(table[i, j] + 0) for j in columns)
        for i in rows
    )
    return replace(
        matrix,
        rows=_labels(down, rows),
        columns=_labels(across, columns),
        cells=cells if table.size else (),
        extent="" if whole else format_entries(table),
        heat=None if whole or not table.size else _heat(table),
    )


def _written(size: int) -> list[int | None]:
    """The rows or columns that are written out: all, or the first and the last of them, and a gap."""
    if size <= SHOWN:
        return list(range(size))
    half = SHOWN // 2
    return [*range(half), None, *range(size - half + 1, size)]


def _labels(names: Side, positions: Sequence[int | None]) -> tuple[str, ...]:
    return tuple(GAP if i is None else names.label(i) for i in positions)


def _heat(table: Any) -> Heat:
    """The entries, or means of blocks of them, so that there are at most `CELLS` rows and columns."""
    absolute = table.dtype.kind == "c"
    cells = np.abs(table) if absolute else table
    cells = cells.astype(float)
    block = [1, 1]
    with np.errstate(all="ignore"):
        for axis in (0, 1):
            size = table.shape[axis]
            block[axis] = -(-size // CELLS)
            starts = np.arange(0, size, block[axis])
            counts = np.diff(starts, append=size)
            cells = np.add.reduceat(cells, starts, axis) / (counts if axis else counts[:, None])
    rounded = tuple(tuple(float(f"{x:.6g}") for x in row) for row in cells.tolist())
    return Heat(rounded, (block[0], block[1]), absolute)
