"""Drafts: matrices of derivatives before their entries are known, which of Dask arrays are computed later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tapemagic.engine.laziness import MAX_KEPT_BYTES, is_lazy
from tapemagic.explain.formatting import NOT_COMPUTED
from tapemagic.explain.lazy_values import is_pending, with_numbers
from tapemagic.report.tabs.gradients.derivatives import failure_reason
from tapemagic.report.tabs.gradients.matrices import Matrix, MatrixAxis, with_entries

LARGE = f"since it holds more than {MAX_KEPT_BYTES >> 20} MB"
ASKING = "%%tape --compute computes it"
NO_AXIS = MatrixAxis(())


@dataclass(frozen=True)
class Block:
    """A block of a matrix: an array of derivatives in memory, or a lazy one.

    Attributes
    ----------
    values : array
        Of any shape.
    shape : (int, int)
        The rows and columns that it is reshaped to.
    is_transposed : bool
        Whether they change places then.
    """

    values: Any
    shape: tuple[int, int]
    is_transposed: bool = False

    def transposed(self) -> Self:
        """The transpose."""
        return replace(self, is_transposed=not self.is_transposed)

    def table(self) -> Any:
        """The numbers, in rows and columns."""
        table = np.reshape(with_numbers(self.values), self.shape)
        return table.T if self.is_transposed else table


@dataclass(frozen=True)
class Draft:
    """A matrix that is finished as soon as the numbers in its blocks are there.

    Attributes
    ----------
    matrix : Matrix
        It has everything but entries; without blocks it is finished.
    blocks : sequence of sequence of Block
        Rows of blocks: a single one, or as many rows as columns.
    down, across : MatrixAxis
        The rows and columns of them all.
    notes : tuple of str
        Remarks on the entries.
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
        """The matrix with its entries, all of which are known."""
        if not self.blocks:
            return self.matrix
        matrix = replace(self.matrix, notes=(*self.matrix.notes, *self.notes))
        tables = [[block.table() for block in row] for row in self.blocks]
        table = np.block(tables) if len(tables) > 1 else tables[0][0]
        return with_entries(matrix, table, self.down, self.across)

    def finished(self, hint: str = "") -> Matrix:
        """The matrix with its entries, or a note that they are not computed, with a hint."""
        if self.pending:
            return with_notes(self.matrix, *filter(None, [NOT_COMPUTED, hint]))
        try:
            return self.filled()
        except Exception as error:  # noqa: BLE001 -- the numbers are those of any program's functions
            return replace(self.matrix, reason=failure_reason(error))


def drafted(draft: Draft, elsewhere: str) -> Draft:
    """A draft, filled at once if its entries are in memory, or refused if they would be too large to be kept.

    `elsewhere` says where those are to be had.
    """
    lazy = [block.values for row in draft.blocks for block in row if is_lazy(block.values)]
    if not lazy:
        return Draft(draft.filled())
    if any(x.size * x.dtype.itemsize > MAX_KEPT_BYTES for x in lazy):
        return Draft(with_notes(draft.matrix, f"{NOT_COMPUTED}, {LARGE}; {elsewhere}"))
    return draft


def with_notes(matrix: Matrix, *notes: str) -> Matrix:
    """A matrix with further notes."""
    return replace(matrix, notes=(*matrix.notes, *notes))
