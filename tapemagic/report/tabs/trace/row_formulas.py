"""Operations as tables write them: symbols, formulas and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tapemagic.engine.recording import Record
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.trace.formulas import value_formula
from tapemagic.report.tabs.trace.notation import Piece, Symbol
from tapemagic.report.tabs.trace.symbols import Symbols, number_symbols, several


@dataclass(frozen=True)
class Written:
    """An operation with the symbols of its values.

    Attributes
    ----------
    position : int
        In the recording.
    record : Record
    inputs, made : sequence of Symbol
    numbers : sequence of Symbol
        The values of the inputs; empty unless they are few numbers.
    formula : Piece
        That of its result.
    """

    position: int
    record: Record
    inputs: Sequence[Symbol]
    made: Sequence[Symbol]
    numbers: Sequence[Symbol]
    formula: Piece


def written(subject: Subject, symbols: Symbols, position: int) -> Written:
    """An operation of a recording, by its position; written once for all tables and graphs."""
    return subject.once(("operation", position), lambda: _written(subject, symbols, position))


def _written(subject: Subject, symbols: Symbols, position: int) -> Written:
    record = subject.records[position]
    made = zip(several(record.output), several(record.output_id), strict=True)
    inputs = [symbols.of(x, i) for x, i in zip(record.values, record.ids, strict=True)]
    return Written(
        position,
        record,
        inputs,
        [symbols.of(x, i) for x, i in made],
        number_symbols(record.values),
        value_formula(record, inputs),
    )
