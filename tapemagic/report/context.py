"""Context: the names and lines of the program that made a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tapemagic.explain.query import Program
from tapemagic.explain.snapshot import Named
from tapemagic.report.failure.find_failure import Failure
from tapemagic.report.verdict.numeric_warning import NumericWarning
from tapemagic.report.verdict.statement import Statement

Bindings = Sequence[tuple[int, int | None]]

CELL = Program(in_cell=True)
"""The program of a recording without a known text."""


@dataclass(frozen=True)
class Context:
    """The names and lines of the program that made a recording.

    - `named`: Sequence of (name, value). Tensors, variables and constants with their names, oldest first.
    - `earlier`: Names, by id, of tensors that no longer have a name.
    - `assigned`: The lines on which the cell assigned names.
    - `lines`: The lines of the cell.
    - `notes`: Sentences that the verdict adds to the results, such as the line at which the cell stopped.
    - `bindings`: Mapping of str to sequence of (int, int or None). The ids of the values that each name was bound to,
      with the lines, oldest first.
    - `program`: The program, for explanations.
    - `failure`: The line at which the cell stopped, if it did.
    - `warnings`: The floating-point warnings of NumPy while the program ran.
    """

    named: Sequence[Named] = ()
    earlier: Mapping[int, str] = field(default_factory=dict)
    assigned: Mapping[str, int] = field(default_factory=dict)
    lines: Sequence[str] = ()
    notes: Sequence[Statement] = ()
    bindings: Mapping[str, Bindings] = field(default_factory=dict)
    program: Program = CELL
    failure: Failure | None = None
    warnings: Sequence[NumericWarning] = ()

    @property
    def stopped(self) -> int | None:
        """The line at which the cell stopped with an error."""
        return self.failure.line if self.failure else None
