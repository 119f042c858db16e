"""The reverse sweep step by step: the shares that operations add to the gradients of their inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from tapemagic.engine.operations.scatter import dense
from tapemagic.engine.recording import SMALL, Record, silence
from tapemagic.engine.registry import no_derivative
from tapemagic.engine.tape.careful_sweep import spoiled_to_zero
from tapemagic.engine.tape.cotangents import seeds
from tapemagic.engine.tape.sweep import fit
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.formatting import relation
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.report.adjoints import goals_of
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary, summarise
from tapemagic.report.tabs.graph.drawn_graph import DrawnGraph
from tapemagic.report.tabs.trace.formulas import RowFormula, adjoint_formula, is_chain
from tapemagic.report.tabs.trace.notation import (
    CHOICE,
    PRODUCT,
    SUM,
    Piece,
    Symbol,
    bar,
    brief,
    escaped,
    is_good,
    number_symbol,
    several,
    text_of,
)

MAX_READERS = 200
"""The largest number of shares of one gradient that are all computed."""

Place = tuple[int, int]
"""The position of an operation in the recording, and the position of one of its inputs."""


# A value that a long loop reads has a share for each iteration, and a tuple is made in a third of the time.
class Share(NamedTuple):
    """The array that an operation passes on to the gradient of one of its inputs.

    - `value`: None if it is too large to compute.
    - `before`, `after`: The sum of the shares before it, and including it; None if a share is missing.
    - `is_first`, `is_last`: Whether nothing was added before, and whether nothing is added after.
    """

    value: Any
    before: Any
    after: Any
    is_first: bool
    is_last: bool

    @property
    def known_fields(self) -> tuple[bool, ...]:
        """Flags of the known fields: shares of one place are equal if their flags are, which makes them a cache key."""
        arrays = (self.value, self.before, self.after)
        return *(array is not None for array in arrays), self.is_first, self.is_last


NOTHING = object()
"""Marks an operation whose rule returned no gradient."""


def compute_shares(
    subject: Subject, ids: Collection[int], shown: Collection[int]
) -> dict[int, dict[Place, Share]]:
    """Compute the shares of the gradients of values, by id, in the order of the reverse sweep.

    The gradient of a target begins with its seed, which isn't a share.

    - `ids`: The ids of the values.
    - `shown`: The positions of the operations in the table: their shares are always computed.
    """
    begun = starts(subject)
    with silence(), np.errstate(all="ignore"):
        return {
            i: _added_up(subject, i, places, begun.get(i), shown)
            for i, places in _readers(subject, ids).items()
            if i in subject.adjoints
        }


def starts(subject: Subject) -> Mapping[int, Any]:
    """Return the seeds of the reverse sweeps, by the ids of the targets and their derivatives."""
    targets = [x for _, x in subject.targets]
    gradients: dict[int, Any] = {}
    for level, goal in enumerate(goals_of(targets, subject.derivatives, subject.order)):
        tracked = [x for x in goal if subject.snapshot.tracks(id_of(x))]
        gradients |= {
            i: g
            for i, g in seeds(tracked, None, False).items()
            if subject.levels.get(i, 0) == level
        }
    return gradients


def _readers(subject: Subject, values: Collection[int]) -> dict[int, list[Place]]:
    """Return the operations through which each value gets a gradient, in the order of the reverse sweep."""
    adjoints, levels = subject.adjoints, subject.levels
    readers: dict[int, list[Place]] = {i: [] for i in values}
    records, tracked = subject.snapshot.records, subject.snapshot.tracked
    for position in range(len(records) - 1, -1, -1):
        _, _, ids, _, _, output_ids = records[position]
        if readers.keys().isdisjoint(ids):
            continue
        outputs = output_ids if isinstance(output_ids, tuple) else (output_ids,)
        reached = outputs[0] if outputs[0] in adjoints else None
        if reached is None and len(outputs) > 1:
            reached = next((i for i in outputs if i in adjoints), None)
        if reached is None:
            continue
        for k, i in enumerate(ids):
            same = i in readers and levels.get(i, 0) == levels.get(reached, 0)
            # An operation of a higher order reads the value too, but belongs to another sweep.
            if same and tracked[i] <= outputs[0]:
                readers[i].append((position, k))
    return readers


def _added_up(
    subject: Subject, i: int, places: Sequence[Place], start: Any, shown: Collection[int]
) -> dict[Place, Share]:
    """Return the shares of one gradient with their partial sums."""
    adjoint, records = subject.adjoints[i], subject.records
    # An operation may have no derivative, or none with respect to this input.
    kinds = {(records[position].number, k): (position, k) for position, k in places}
    without = {kind for kind, place in kinds.items() if not _rule(records[place[0]], place[1])}
    if without:
        places = [place for place in places if (records[place[0]].number, place[1]) not in without]
    all_computed, is_small = (
        len(places) <= MAX_READERS,
        has_numbers(adjoint) and not isinstance(adjoint, Summary),
    )
    parts: list[tuple[Place, Any]] = []
    for place in places:
        is_computed = is_small and (all_computed or place[0] in shown)
        part = (
            subject.once(("part", *place), partial(_passed_on, subject, place))
            if is_computed
            else None
        )
        if part is not NOTHING:
            parts.append((place, part if part is None else spoiled_to_zero(part, adjoint)))
    shares: dict[Place, Share] = {}
    before, is_first = start, start is None
    for k, (place, part) in enumerate(parts):
        # The last sum is the adjoint itself: a sum in another order could differ in its last digit.
        is_last = k == len(parts) - 1
        after = part if is_first else None
        if not is_first and before is not None and part is not None:
            after = before + part
        shares[place] = Share(part, before, adjoint if is_last else after, is_first, is_last)
        before, is_first = after, False
    return shares


def _rule(record: Record, position: int) -> Any:
    """Look up the rule of an operation for the gradient of an input."""
    operation = record.operation
    return None if operation.joint_rule is no_derivative else operation.rule_for(position)


def _passed_on(subject: Subject, place: Place) -> Any:
    """Return the share that an operation passes on, or None if it isn't computed."""
    record, position = subject.records[place[0]], place[1]
    incoming = _incoming(record, subject.adjoints)
    return None if incoming is None else passed_on(record, position, incoming)


def _incoming(record: Record, adjoints: Mapping[int, Any]) -> Any:
    """Return the gradient of a result (or a tuple for several) as a rule receives it; None if it is too large."""
    if not isinstance(record.output_id, tuple):
        return _conjugated(adjoints.get(record.output_id))
    gradients = [
        # A rule with several results needs the gradients of all, also of unused ones.
        _conjugated(adjoints[i]) if i in adjoints else np.zeros(y.shape, y.dtype)[()]
        for i, y in zip(record.output_id, record.output, strict=True)
    ]
    return None if any(g is None for g in gradients) else tuple(gradients)


def _conjugated(g: Any) -> Any:
    if g is None or isinstance(g, Summary) or not has_numbers(g):
        return None
    # Rules work with the conjugate of the gradient that a tape returns (TensorFlow's convention).
    return np.conjugate(g) if g.dtype.kind == "c" else g


def passed_on(record: Record, position: int, incoming: Any) -> Any:
    """Apply the rule of an operation to the gradient of its result.

    - `position`: The position of the input.
    - `incoming`: The gradient of the result, or a tuple with the gradients of several results.

    Returns
    -------
    array, None or `NOTHING`
        The gradient of the input. None if it can't be computed, `NOTHING` if the rule returns None.
    """
    x = record.values[position]
    # A report must be fast: the shares of large and lazy arrays aren't computed.
    if not has_numbers(x) or x.nbytes > SMALL:
        return None
    try:
        part = _rule(record, position)(
            incoming, record.output, *record.values, **(record.params or {})
        )
        if part is None:
            return NOTHING
        part = fit(dense(part), x, record.name, position)
    except Exception:  # noqa: BLE001 -- a rule may call anything; the Gradients tab reports its error
        return None
    # Adding 0 turns the -0.0 of a conjugated real number into 0.0.
    return np.conjugate(part) + part.dtype.type(0) if part.dtype.kind == "c" else part


MAX_ROW_STEPS = 6
"""The number of steps in one row."""

MAX_RESULTS = 3
"""The number of results of one operation in a formula."""


@dataclass(frozen=True)
class AdjointStep:
    """A step of the reverse sweep: what an operation adds to the adjoint of one of its inputs.

    - `symbol`: The adjoint: x̄1.
    - `formula`, `latex`: The share, without the sum before it.
    - `numbers`: The formula with numbers, or '' for arrays.
    - `added`: The value of the share, in brackets if it is a negative or complex term of a sum; '' if it wasn't
      computed.
    - `before`: The sum before this share; '' if it wasn't computed, None for the first share.
    - `after`: The sum including this share; '' if it wasn't computed.
    - `is_finite`: Whether the adjoint is finite with it.
    - `kind`: {'share', 'seed', 'whole', 'more'}. A share; the seed of a target; the entire adjoint of a value whose
      shares are in other rows; or words for inputs that aren't shown.
    - `value`: The id of the value whose adjoint it is. It differs between runs, so it isn't compared.
    - `operand`: The position of the value among the inputs of the operation, for a share.
    - `is_last`: Whether nothing is added to the adjoint after it.
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
            words += f" {relation(words.rpartition(' = ')[2], self.after)} {self.after}"
        elif self.added:
            words += f", which adds {self.added}"
        return words


def equation(*parts: str) -> str:
    """Join the parts of an equation, but skip empty and repeated parts.

    Examples
    --------
    >>> equation("y", "2 · 3", "2 · 3", "6")
    'y = 2 · 3 = 6'
    """
    words = last = ""
    for part in filter(None, parts):
        if part != last:
            words += f" {relation(last, part)} {part}" if words else part
            last = part
    return words


class ReverseSweep:
    """The steps of the reverse sweep at the operations of a table.

    - `shown`: The positions of the operations.
    - `ids`: The ids of other values whose adjoints are shown.
    """

    def __init__(self, subject: Subject, shown: Sequence[int], ids: Iterable[int]) -> None:
        self._subject = subject
        self._shown = shown
        values = set(ids)
        for position in shown:
            record = subject.records[position]
            values.update(several(record.output_id))
            values.update(record.ids[:MAX_ROW_STEPS])
        self._shares = compute_shares(subject, values & subject.adjoints.keys(), set(shown))
        self._starts = starts(subject)

    def steps(self, written: RowFormula) -> Iterator[AdjointStep]:
        """Yield the steps at an operation: the seeds of its results, and a share for each input."""
        # The sweep meets the readers of a result before the operation that made it, so the seed of a result with
        # readers is shown where the first of them adds to it.
        record = written.record
        for symbol, i in zip(written.results, several(record.output_id), strict=True):
            if (begun := self.seed(i)) is not None:
                yield adjoint_step(symbol, i, begun, "seed")
        count = 0
        for k, i in enumerate(record.ids):
            place = (written.position, k)
            places = self._shares.get(i, {})
            if place not in places:
                continue
            count += 1
            # A sum of a thousand terms would have a thousand steps.
            if count > MAX_ROW_STEPS:
                continue
            if i in self._starts and place == next(iter(places)):
                yield adjoint_step(written.inputs[k], i, self._starts[i], "seed")
            yield self._step(written, k, places[place])
        reached = self._reached(record)
        if reached > MAX_ROW_STEPS >= count:
            yield AdjointStep(f"… {reached - count:,} more inputs", "", "", kind="more")

    @property
    def shares(self) -> Mapping[int, Mapping[Place, Share]]:
        """The shares of the adjoints in the table, by the ids of their values, in the order of the sweep."""
        return self._shares

    def _reached(self, record: Record) -> int:
        """Count the inputs of an operation that have adjoints; 0 if the sweep doesn't reach the operation."""
        adjoints = self._subject.adjoints
        reached = not adjoints.keys().isdisjoint(several(record.output_id))
        return sum(i in adjoints for i in record.ids) if reached else 0

    def _step(self, written: RowFormula, k: int, share: Share) -> AdjointStep:
        key = ("share", written.position, k, share.known_fields)
        return self._subject.once(key, lambda: self._written_step(written, k, share))

    def _written_step(self, written: RowFormula, k: int, share: Share) -> AdjointStep:
        formula, put_in = self._formulas(written, k)
        name = bar(written.inputs[k])
        latex = f"{name.latex} = {'' if share.is_first else f'{name.latex} + '}{formula.latex}"
        # Later shares are terms of a sum, and need brackets.
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

    def _formulas(self, written: RowFormula, k: int) -> tuple[Piece, Piece | None]:
        """Return the formula of a share, and the formula with numbers."""
        record, results, x = written.record, written.results, written.inputs[k]
        if not is_chain(record):
            return _through(bar(results[0]), record.name), None
        if not isinstance(record.output, tuple):
            return self._of_one(written, k)
        place = _input_number(record, k)
        reached = [
            _chain(bar(y), y, x, place)
            for y, i in zip(results, several(record.output_id), strict=True)
            if i in self._subject.adjoints
        ]
        # Each result passes on a share of its own adjoint, and an operation may have hundreds (np.split).
        more = len(reached) > MAX_RESULTS
        text = " + ".join(piece.text for piece in reached[:MAX_RESULTS]) + " + …" * more
        latex = "+".join(piece.latex for piece in reached[:MAX_RESULTS]) + r"+\dots" * more
        return Piece(text, latex, SUM if len(reached) > 1 else PRODUCT), None

    def _of_one(self, written: RowFormula, k: int) -> tuple[Piece, Piece | None]:
        """Return both formulas for an operation with one result."""
        record, inputs, [y] = written.record, written.inputs, written.results
        g = self._subject.adjoints.get(written.record.output_id)  # type: ignore[arg-type]
        numbers = written.numbers if g is not None and not g.shape else ()
        piece = adjoint_formula(record, k, inputs, y, bar(y))
        if piece is None:
            slope = _slope(record, k) if numbers else ""
            product = f"{_bracketed(text_of(g))} · {_bracketed(slope)}"
            return _chain(bar(y), y, inputs[k], _input_number(record, k)), Piece(
                product, "", PRODUCT
            ) if slope else None
        if not numbers:
            return piece, None
        result, adjoint = number_symbol(record.output), number_symbol(g)
        return piece, adjoint_formula(record, k, numbers, result, adjoint)

    def seed(self, i: int) -> Any:
        """Look up the seed of a value that no operation reads."""
        if self._shares.get(i) or i not in self._starts:
            return None
        return self._subject.adjoints.get(i, self._starts[i])

    def finished_in(self, hidden: set[int], more: Mapping[int, Any]) -> dict[int, Any]:
        """Return the values, by id, whose last share comes from a hidden operation."""
        values = dict(more)
        for position in self._shown:
            record = self._subject.records[position]
            values.update(zip(several(record.output_id), several(record.output), strict=True))
        return {
            i: value
            for i, value in values.items()
            if (places := self._shares.get(i)) and next(reversed(places))[0] in hidden
        }


def adjoint_step(
    symbol: Symbol, i: int, adjoint: Any, kind: Literal["seed", "whole"] = "whole"
) -> AdjointStep:
    """Return the step for an entire adjoint or a seed; None means that the target doesn't depend on the value."""
    name = bar(symbol)
    text = "None" if adjoint is None else text_of(adjoint)
    good = is_good(adjoint)
    return AdjointStep(name.text, "", name.latex, after=text, is_finite=good, kind=kind, value=i)


def _slope(record: Record, k: int) -> str:
    """Return the local derivative of an operation on real numbers as text, or '' if it can't be computed."""
    if record.output.dtype.kind != "f":
        return ""
    with silence(), np.errstate(all="ignore"):
        # The derivative is the share of an incoming gradient of 1.
        slope = passed_on(record, k, record.output.dtype.type(1))
    return "" if slope is NOTHING else text_of(slope)


def _bracketed(number: str) -> str:
    return f"({number})" if number.startswith("-") or "j" in number else number


def _input_number(record: Record, k: int) -> str:
    """Name an input by its number if the same value is also another input of the operation."""
    return f"input {k + 1}" if record.ids.count(record.ids[k]) > 1 else ""


def _chain(g: Symbol, y: Symbol, x: Symbol, place: str) -> Piece:
    """Write the chain rule for an operation without a formula; `place` names an input that occurs twice."""
    if place:
        x = Symbol(place, rf"\text{{{place}}}")
    # Only a plain name goes without brackets: ∂y/∂x, but ∂y/∂(a[0]).
    names = [
        part.text if part.text.replace("_", "a").isalnum() else f"({part.text})" for part in (y, x)
    ]
    latex = rf"{g.latex} \cdot \frac{{\partial {y.latex}}}{{\partial {x.latex}}}"
    return Piece(f"{g.text} · ∂{names[0]}/∂{names[1]}", latex, PRODUCT)


def _through(g: Symbol, name: str) -> Piece:
    """Write an adjoint that goes through an operation with a custom gradient."""
    return Piece(f"{g.text} through {name}", rf"{g.latex}\text{{ through {escaped(name)}}}", CHOICE)


UNKNOWN = "…"
"""The text of a sum that isn't complete and wasn't computed."""


class PartialAdjoints:
    """The gradients in the boxes of a graph while the sweep adds their shares.

    - `shares`: The shares of values with boxes, by id, in the order of the reverse sweep.
    - `starts`: The seeds of the sweeps, by the ids of the targets.
    """

    def __init__(
        self,
        drawn: DrawnGraph,
        shares: Mapping[int, Mapping[Place, Share]],
        starts: Mapping[int, Any],
    ) -> None:
        self._index = drawn.values
        self._values = drawn.graph.values
        self._starts = starts
        # In the order of the boxes: that of a set would depend on the ids, which differ from run to run.
        with_gradients = [i for i, k in self._index.items() if self._values[k].gradient is not None]
        self._shares = {i: list(shares.get(i, {}).items()) for i in with_gradients}
        self._arrived = dict.fromkeys(with_gradients, 0)
        self._furthest = dict.fromkeys(with_gradients, 0)
        self._complete: set[int] = set()
        self.arriving: dict[int, list[tuple[Place, int, int]]] = {}
        """The shares of each operation by its position: place, id of the value, number of the share."""
        for i, places in self._shares.items():
            for number, (place, _) in enumerate(places, 1):
                self.arriving.setdefault(place[0], []).append((place, i, number))

    def begin(self, i: int) -> dict[int, str]:
        """Set the gradient of a target to its seed; keys of the result are indices of boxes."""
        if i not in self._shares or self.is_complete(self._index[i]):
            return {}
        if not self._shares[i]:
            return self.finish([i])
        return {self._index[i]: summarise(self._starts[i]).entries}

    def arrive(self, position: int, operand: int | None = None) -> dict[int, str]:
        """Add the share of an operation to one input, or to all remaining ones, and return the changed gradients."""
        arriving = self.arriving.get(position, [])
        rest: list[tuple[Place, int, int]] = []
        if operand is not None:
            rest = [x for x in arriving if x[0][1] != operand]
            arriving = [x for x in arriving if x[0][1] == operand]
        self.arriving[position] = rest
        changed: dict[int, str] = {}
        for _, i, number in arriving:
            self._arrived[i] += 1
            self._furthest[i] = max(number, self._furthest[i])
            # A fold may have completed it already.
            if not self.is_complete(self._index[i]):
                changed[self._index[i]] = self._text(i)
        return changed

    def _text(self, i: int) -> str:
        """Return the gradient of a value so far."""
        places, arrived = self._shares[i], self._arrived[i]
        if arrived == len(places):
            return self._finished(i)
        # Shares may arrive in another order than the sums were computed in; then the sum so far is unknown.
        after = places[arrived - 1][1].after if self._furthest[i] == arrived else None
        return UNKNOWN if after is None else summarise(after).entries or UNKNOWN

    def finish(self, ids: Iterable[int]) -> dict[int, str]:
        """Complete the gradients of values, and return the changed gradients."""
        return {
            self._index[i]: self._finished(i)
            for i in ids
            if i in self._shares and not self.is_complete(self._index[i])
        }

    def _finished(self, i: int) -> str:
        self._complete.add(self._index[i])
        return str(self._values[self._index[i]].gradient)

    def rest(self) -> list[int]:
        """Return the ids of the values whose gradients are incomplete."""
        return [i for i in self._shares if not self.is_complete(self._index[i])]

    def is_complete(self, index: int) -> bool:
        """Return True if the gradient of a box is complete."""
        return index in self._complete
