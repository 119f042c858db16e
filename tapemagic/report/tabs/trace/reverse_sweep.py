"""The steps of the reverse sweep, as formulas and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tapemagic.engine.recording import Record, silence
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.trace.formulas import adjoint_formula, is_known
from tapemagic.report.tabs.trace.notation import (
    CHOICE,
    PRODUCT,
    SUM,
    Piece,
    Symbol,
    bar,
    escaped,
)
from tapemagic.report.tabs.trace.row_formulas import Written
from tapemagic.report.tabs.trace.shares import (
    NOTHING,
    Place,
    Share,
    passed_on,
    shares,
    starts,
)
from tapemagic.report.tabs.trace.symbols import brief, is_good, number_symbol, several, text_of

MAX_STEPS = 6
"""The number of steps in one row."""

MAX_RESULTS = 3
"""The number of results of one operation that stand in a formula."""


@dataclass(frozen=True)
class AdjointStep:
    """A step of the reverse sweep: what an operation adds to the adjoint of one of its inputs.

    Attributes
    ----------
    symbol : str
        The adjoint: x̄1.
    formula, latex : str
        What is added, without what was there before.
    numbers : str
        The formula with numbers put in; empty where they are not known, or are arrays.
    added : str
        What is added, as a value, in brackets where it stands in a sum and is negative or complex; empty if it is
        not known.
    before : str or None
        The value of the adjoint before; empty if it is not known; None if this is the first step.
    after : str
        The value of the adjoint with it; empty if it is not known.
    is_finite : bool
        Whether the adjoint is finite with it.
    kind : {'share', 'seed', 'whole', 'more'}
        What an operation adds; what the sweep begins with at a target; the whole adjoint of a value whose shares
        stand elsewhere; words for inputs that are not written out.
    value : int or None
        The id of the value whose adjoint it is. It is another one in every run, and is not compared.
    operand : int or None
        Of a share, the position of the value among the inputs of the operation.
    is_last : bool
        Whether nothing is added to the adjoint after it.
    """

    symbol: str
    formula: str
    latex: str
    numbers: str = ""
    added: str = ""
    before: str | None = None
    after: str = ""
    is_finite: bool = True
    kind: Literal["share", "seed", "whole", "more"] = "share"
    value: int | None = field(default=None, compare=False)
    operand: int | None = None
    is_last: bool = False

    @property
    def equation(self) -> str:
        """The step as an equation."""
        if self.before is None or not self.formula:
            return equation(self.symbol, self.formula, self.numbers, self.after)
        words = f"{self.symbol} = {self.symbol} + {self.formula}"
        if self.before and (numbers := self.numbers or self.added):
            words += f" = {self.before} + {numbers}"
        if self.after:
            words += f" = {self.after}"
        elif self.added:
            words += f", which adds {self.added}"
        return words


def equation(*parts: str) -> str:
    """An equation of several parts, of which those that are empty or repeat the one before are left out.

    Examples
    --------
    >>> equation("y", "2 · 3", "2 · 3", "6")
    'y = 2 · 3 = 6'
    """
    found: list[str] = []
    for part in filter(None, parts):
        if not found or part != found[-1]:
            found.append(part)
    return " = ".join(found)


class ReverseSweep:
    """The steps of the reverse sweep at the operations that are shown.

    Parameters
    ----------
    subject : Subject
    shown : sequence of int
        The positions of the operations.
    others : iterable of int
        The ids of other values whose adjoints are shown.
    """

    def __init__(self, subject: Subject, shown: Sequence[int], others: Iterable[int]) -> None:
        self._subject = subject
        self._shown = shown
        wanted = set(others)
        for position in shown:
            record = subject.records[position]
            wanted.update(several(record.output_id))
            wanted.update(record.ids[:MAX_STEPS])
        self._shares = shares(subject, wanted & subject.adjoints.keys(), set(shown))
        self._starts = starts(subject)

    def steps(self, written: Written) -> Iterator[AdjointStep]:
        """The steps at an operation: the seeds of its results, and a share for each input.

        The seed of a result that other operations read stands where the first of them adds to it.
        """
        record = written.record
        for symbol, i in zip(written.made, several(record.output_id), strict=True):
            if (begun := self.seed(i)) is not None:
                yield adjoint_step(symbol, i, begun, "seed")
        count = 0
        for k, i in enumerate(record.ids):
            place = (written.position, k)
            places = self._shares.get(i, {})
            if place not in places:
                continue
            count += 1
            if count > MAX_STEPS:
                continue
            if i in self._starts and place == next(iter(places)):
                yield adjoint_step(written.inputs[k], i, self._starts[i], "seed")
            yield self._step(written, k, places[place])
        reached = self._reached(record)
        if reached > MAX_STEPS >= count:
            yield AdjointStep(f"… {reached - count:,} more inputs", "", "", kind="more")

    @property
    def shares(self) -> Mapping[int, Mapping[Place, Share]]:
        """The shares of the adjoints that are shown, by the ids of their values, in the order of the sweep."""
        return self._shares

    def _reached(self, record: Record) -> int:
        """The number of inputs of an operation that have adjoints, if it passes on anything."""
        known = self._subject.adjoints
        reached = not known.keys().isdisjoint(several(record.output_id))
        return sum(i in known for i in record.ids) if reached else 0

    def _step(self, written: Written, k: int, share: Share) -> AdjointStep:
        key = ("share", written.position, k, share.known)
        return self._subject.once(key, lambda: self._written_step(written, k, share))

    def _written_step(self, written: Written, k: int, share: Share) -> AdjointStep:
        formula, put_in = self._formulas(written, k)
        name = bar(written.inputs[k])
        latex = f"{name.latex} = {'' if share.is_first else f'{name.latex} + '}{formula.latex}"
        if not share.is_first:
            formula, put_in = formula.inside(PRODUCT), put_in and put_in.inside(PRODUCT)
        return AdjointStep(
            name.text,
            formula.text,
            latex,
            put_in.text if put_in else "",
            text_of(share.value) if share.is_first else _bracketed(text_of(share.value)),
            None if share.is_first else brief(share.before),
            text_of(share.after),
            share.after is None or is_good(share.after),
            value=written.record.ids[k],
            operand=k,
            is_last=share.is_last,
        )

    def _formulas(self, written: Written, k: int) -> tuple[Piece, Piece | None]:
        """The formula of a share, and that with numbers put in."""
        record, made, x = written.record, written.made, written.inputs[k]
        if not is_chain(record):
            return _through(bar(made[0]), record.name), None
        if not isinstance(record.output, tuple):
            return self._of_one(written, k)
        place = _place(record, k)
        reached = [
            _chain(bar(y), y, x, place)
            for y, i in zip(made, several(record.output_id), strict=True)
            if i in self._subject.adjoints
        ]
        more = len(reached) > MAX_RESULTS
        text = " + ".join(piece.text for piece in reached[:MAX_RESULTS]) + " + …" * more
        latex = "+".join(piece.latex for piece in reached[:MAX_RESULTS]) + r"+\dots" * more
        return Piece(text, latex, SUM if len(reached) > 1 else PRODUCT), None

    def _of_one(self, written: Written, k: int) -> tuple[Piece, Piece | None]:
        """The same of an operation with one result."""
        record, inputs, [y] = written.record, written.inputs, written.made
        g = self._subject.adjoints.get(written.record.output_id)  # type: ignore[arg-type]
        numbers = written.numbers if g is not None and not g.shape else ()
        piece = adjoint_formula(record, k, inputs, y, bar(y))
        if piece is None:
            slope = _slope(record, k) if numbers else ""
            product = f"{_bracketed(text_of(g))} · {_bracketed(slope)}"
            return _chain(bar(y), y, inputs[k], _place(record, k)), Piece(
                product, "", PRODUCT
            ) if slope else None
        if not numbers:
            return piece, None
        result, adjoint = number_symbol(record.output), number_symbol(g)
        return piece, adjoint_formula(record, k, numbers, result, adjoint)

    def seed(self, i: int) -> Any:
        """The gradient with which the sweep begins at a value that no operation reads; None if there is none."""
        if self._shares.get(i) or i not in self._starts:
            return None
        return self._subject.adjoints.get(i, self._starts[i])

    def finished_in(self, hidden: set[int], others: Mapping[int, Any]) -> dict[int, Any]:
        """The results, by id, of shown operations whose adjoints are complete only with a share of a hidden one.

        So are those of some other values.
        """
        made = dict(others)
        for position in self._shown:
            record = self._subject.records[position]
            made.update(zip(several(record.output_id), several(record.output), strict=True))
        return {
            i: value
            for i, value in made.items()
            if (places := self._shares.get(i)) and next(reversed(places))[0] in hidden
        }


def adjoint_step(
    symbol: Symbol, i: int, adjoint: Any, kind: Literal["seed", "whole"] = "whole"
) -> AdjointStep:
    """A whole adjoint, or its beginning; None where the target does not depend on the value."""
    name = bar(symbol)
    text = "None" if adjoint is None else text_of(adjoint)
    good = is_good(adjoint)
    return AdjointStep(name.text, "", name.latex, after=text, is_finite=good, kind=kind, value=i)


def _slope(record: Record, k: int) -> str:
    """The local derivative of an operation on real numbers, as text; empty if it is not known."""
    if record.output.dtype.kind != "f":
        return ""
    with silence(), np.errstate(all="ignore"):
        slope = passed_on(record, k, record.output.dtype.type(1))
    return "" if slope is NOTHING else text_of(slope)


def _bracketed(number: str) -> str:
    return f"({number})" if number.startswith("-") or "j" in number else number


def _place(record: Record, k: int) -> str:
    """The number of an input in words, if the operation has the same value in several places; empty otherwise."""
    return f"input {k + 1}" if record.ids.count(record.ids[k]) > 1 else ""


def _chain(g: Symbol, y: Symbol, x: Symbol, place: str) -> Piece:
    """The chain rule, for an operation without a formula; with respect to the input in some place if one is given."""
    if place:
        x = Symbol(place, rf"\text{{{place}}}")
    names = [
        part.text if part.text.replace("_", "a").isalnum() else f"({part.text})" for part in (y, x)
    ]
    latex = rf"{g.latex} \cdot \frac{{\partial {y.latex}}}{{\partial {x.latex}}}"
    return Piece(f"{g.text} · ∂{names[0]}/∂{names[1]}", latex, PRODUCT)


def is_chain(record: Record) -> bool:
    """Whether an operation passes on its true derivative with respect to real numbers."""
    values = (*record.values, *several(record.output))
    return is_known(record) and not any(
        getattr(x, "dtype", np.dtype(float)).kind == "c" for x in values
    )


def _through(g: Symbol, name: str) -> Piece:
    """An adjoint that goes through an operation with a rule of its own."""
    return Piece(f"{g.text} through {name}", rf"{g.latex}\text{{ through {escaped(name)}}}", CHOICE)
