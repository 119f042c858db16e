"""The reverse sweep step by step: what operations pass on to the gradients of their inputs, and the sums of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from tapemagic.engine.operations.scatter import dense
from tapemagic.engine.recording import SMALL, Record, silence
from tapemagic.engine.registry import no_derivative
from tapemagic.engine.tape.cotangents import seeds
from tapemagic.engine.tape.sweep import fit
from tapemagic.engine.tensor.tensor import id_of
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
"""The number of operations up to which all that goes into one gradient is computed."""

Place = tuple[int, int]
"""The position of an operation in the recording, and that of one of its inputs."""


@dataclass(frozen=True)
class Share:
    """The array that an operation passes on to the gradient of one of its inputs.

    Attributes
    ----------
    value : array or None
        None if it was not computed, since it is large.
    before, after : array or None
        The sum of what was passed on until then, and with it; None if that is not known.
    is_first, is_last : bool
        Whether nothing was added before, and whether nothing is added after.
    """

    value: Any
    before: Any
    after: Any
    is_first: bool
    is_last: bool

    @property
    def known(self) -> tuple[bool, ...]:
        """The facts that are known of it: two compute_shares of one place of which the same is known are the same."""
        arrays = (self.value, self.before, self.after)
        return *(array is not None for array in arrays), self.is_first, self.is_last


NOTHING = object()
"""The share of an operation that passes nothing on after all."""


def compute_shares(
    subject: Subject, wanted: Collection[int], shown: Collection[int]
) -> dict[int, dict[Place, Share]]:
    """The compute_shares of the gradients of some values, by their ids, in the order of the reverse sweep.

    A value that is a target begins with its seed, which is no share.

    Parameters
    ----------
    subject : Subject
    wanted : collection of int
        The ids of the values.
    shown : collection of int
        The positions of the operations that are shown: what they pass on is computed in any case.
    """
    begun = starts(subject)
    with silence(), np.errstate(all="ignore"):
        return {
            i: _added_up(subject, i, places, begun.get(i), shown)
            for i, places in _readers(subject, wanted).items()
            if i in subject.adjoints
        }


def starts(subject: Subject) -> Mapping[int, Any]:
    """The gradients with which the reverse sweeps begin, by the ids of the targets and their derivatives."""
    targets = [x for _, x in subject.targets]
    found: dict[int, Any] = {}
    for level, goal in enumerate(goals_of(targets, subject.found, subject.order)):
        known = [x for x in goal if subject.snapshot.tracks(id_of(x))]
        found |= {
            i: g for i, g in seeds(known, None, False).items() if subject.levels.get(i, 0) == level
        }
    return found


def _readers(subject: Subject, wanted: Collection[int]) -> dict[int, list[Place]]:
    """The operations through which each value gets a gradient, in the order of the reverse sweep."""
    snapshot, adjoints = subject.snapshot, subject.adjoints
    levels = subject.levels
    found: dict[int, list[Place]] = {i: [] for i in wanted}
    records = snapshot.records
    for position in range(len(records) - 1, -1, -1):
        _, _, ids, *_, made = records[position]
        if found.keys().isdisjoint(ids):
            continue
        outputs = made if isinstance(made, tuple) else (made,)
        reached = next((i for i in outputs if i in adjoints), None)
        if reached is None:
            continue
        for k, i in enumerate(ids):
            same = i in found and levels.get(i, 0) == levels.get(reached, 0)
            if same and snapshot.tracked[i] <= outputs[0]:
                found[i].append((position, k))
    return found


def _added_up(
    subject: Subject, i: int, places: Sequence[Place], start: Any, shown: Collection[int]
) -> dict[Place, Share]:
    """The compute_shares of one gradient with the sums of those until then."""
    adjoint = subject.adjoints[i]
    places = [place for place in places if _rule(subject.records[place[0]], place[1])]
    all_known, is_small = (
        len(places) <= MAX_READERS,
        has_numbers(adjoint) and not isinstance(adjoint, Summary),
    )
    parts: list[tuple[Place, Any]] = []
    for place in places:
        known = is_small and (all_known or place[0] in shown)
        part = (
            subject.once(("part", *place), partial(_passed_on, subject, place)) if known else None
        )
        if part is not NOTHING:
            parts.append((place, part))
    found: dict[Place, Share] = {}
    before, is_first = start, start is None
    for k, (place, part) in enumerate(parts):
        is_last = k == len(parts) - 1
        after = part if is_first else None
        if not is_first and before is not None and part is not None:
            after = before + part
        found[place] = Share(part, before, adjoint if is_last else after, is_first, is_last)
        before, is_first = after, False
    return found


def _rule(record: Record, position: int) -> Any:
    """The rule of an operation for the gradient of one of its inputs; None if there is none."""
    operation = record.operation
    return None if operation.joint_rule is no_derivative else operation.rule_for(position)


def _passed_on(subject: Subject, place: Place) -> Any:
    """The array that an operation passes on, as the tape gives it; None if that is not computed."""
    record, position = subject.records[place[0]], place[1]
    given = _incoming(record, subject.adjoints)
    return None if given is None else passed_on(record, position, given)


def _incoming(record: Record, adjoints: Mapping[int, Any]) -> Any:
    """The gradient of a result, or of each of several, as a rule is given it; None if one is too large."""
    if not isinstance(record.output_id, tuple):
        return _conjugated(adjoints.get(record.output_id))
    known = [
        _conjugated(adjoints[i]) if i in adjoints else np.zeros(y.shape, y.dtype)[()]
        for i, y in zip(record.output_id, record.output, strict=True)
    ]
    return None if any(g is None for g in known) else tuple(known)


def _conjugated(g: Any) -> Any:
    if g is None or isinstance(g, Summary) or not has_numbers(g):
        return None
    return np.conjugate(g) if g.dtype.kind == "c" else g


def passed_on(record: Record, position: int, given: Any) -> Any:
    """The gradient of an input that the tape's rule makes of that of the result, as the tape gives it.

    Parameters
    ----------
    record : Record
    position : int
        Of the input.
    given : array
        The gradient of the result, or a tuple of those of all results, as the rule is given it.

    Returns
    -------
    array, None or `NOTHING`
        None if it cannot be computed, `NOTHING` if the rule gives none.
    """
    x = record.values[position]
    if not has_numbers(x) or x.nbytes > SMALL:
        return None
    try:
        part = _rule(record, position)(
            given, record.output, *record.values, **(record.params or {})
        )
        if part is None:
            return NOTHING
        part = fit(dense(part), x, record.name, position)
    except Exception:  # noqa: BLE001 -- a rule may call anything; the table of gradients tells of it
        return None
    return np.conjugate(part) + part.dtype.type(0) if part.dtype.kind == "c" else part


MAX_ROW_STEPS = 6
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
            wanted.update(record.ids[:MAX_ROW_STEPS])
        self._shares = compute_shares(subject, wanted & subject.adjoints.keys(), set(shown))
        self._starts = starts(subject)

    def steps(self, written: RowFormula) -> Iterator[AdjointStep]:
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
        """The shares of the adjoints that are shown, by the ids of their values, in the order of the sweep."""
        return self._shares

    def _reached(self, record: Record) -> int:
        """The number of inputs of an operation that have adjoints, if it passes on anything."""
        known = self._subject.adjoints
        reached = not known.keys().isdisjoint(several(record.output_id))
        return sum(i in known for i in record.ids) if reached else 0

    def _step(self, written: RowFormula, k: int, share: Share) -> AdjointStep:
        key = ("share", written.position, k, share.known)
        return self._subject.once(key, lambda: self._written_step(written, k, share))

    def _written_step(self, written: RowFormula, k: int, share: Share) -> AdjointStep:
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

    def _formulas(self, written: RowFormula, k: int) -> tuple[Piece, Piece | None]:
        """The formula of a share, and that with numbers put in."""
        record, made, x = written.record, written.made, written.inputs[k]
        if not is_chain(record):
            return _through(bar(made[0]), record.name), None
        if not isinstance(record.output, tuple):
            return self._of_one(written, k)
        place = _input_number(record, k)
        reached = [
            _chain(bar(y), y, x, place)
            for y, i in zip(made, several(record.output_id), strict=True)
            if i in self._subject.adjoints
        ]
        more = len(reached) > MAX_RESULTS
        text = " + ".join(piece.text for piece in reached[:MAX_RESULTS]) + " + …" * more
        latex = "+".join(piece.latex for piece in reached[:MAX_RESULTS]) + r"+\dots" * more
        return Piece(text, latex, SUM if len(reached) > 1 else PRODUCT), None

    def _of_one(self, written: RowFormula, k: int) -> tuple[Piece, Piece | None]:
        """The same of an operation with one result."""
        record, inputs, [y] = written.record, written.inputs, written.made
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


def _input_number(record: Record, k: int) -> str:
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


def _through(g: Symbol, name: str) -> Piece:
    """An adjoint that goes through an operation with a rule of its own."""
    return Piece(f"{g.text} through {name}", rf"{g.latex}\text{{ through {escaped(name)}}}", CHOICE)


UNKNOWN = "…"
"""A sign for a sum that is not known until it is complete."""


class PartialAdjoints:
    """The gradients in the boxes of a graph: begun, added to, and complete once every share has arrived.

    Parameters
    ----------
    drawn : DrawnGraph
    shares : mapping
        Those of the values that have boxes, in the order of the reverse sweep, by their ids.
    starts : mapping of int to array
        The gradients with which the sweeps begin, by the ids of the targets.
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
        known = {i for i, k in self._index.items() if self._values[k].gradient is not None}
        self._shares = {i: list(shares.get(i, {}).items()) for i in known}
        self._arrived = dict.fromkeys(known, 0)
        self._furthest = dict.fromkeys(known, 0)
        self._complete: set[int] = set()
        self.arriving: dict[int, list[tuple[Place, int, int]]] = {}
        """By the position of an operation, its shares: the place, the id of the value, and the number of the share."""
        for i, places in self._shares.items():
            for number, (place, _) in enumerate(places, 1):
                self.arriving.setdefault(place[0], []).append((place, i, number))

    def begin(self, i: int) -> dict[int, str]:
        """The gradient of a target, from its seed on; keys are indices of values in the graph."""
        if i not in self._shares or self.is_complete(self._index[i]):
            return {}
        if not self._shares[i]:
            return self.finish([i])
        return {self._index[i]: summarise(self._starts[i]).entries}

    def arrive(self, position: int, operand: int | None = None) -> dict[int, str]:
        """The gradients after an operation has passed back to one of its inputs, or to all that remain."""
        here = self.arriving.get(position, [])
        now = [x for x in here if operand is None or x[0][1] == operand]
        self.arriving[position] = [x for x in here if x not in now]
        found: dict[int, str] = {}
        for _, i, number in now:
            self._arrived[i] += 1
            self._furthest[i] = max(number, self._furthest[i])
            if not self.is_complete(self._index[i]):
                found[self._index[i]] = self._text(i)
        return found

    def _text(self, i: int) -> str:
        """The gradient of a value so far."""
        places, arrived = self._shares[i], self._arrived[i]
        if arrived == len(places):
            return self._finished(i)
        after = places[arrived - 1][1].after if self._furthest[i] == arrived else None
        return UNKNOWN if after is None else summarise(after).entries or UNKNOWN

    def finish(self, ids: Iterable[int]) -> dict[int, str]:
        """The gradients of those of some values that are not complete yet."""
        return {
            self._index[i]: self._finished(i)
            for i in ids
            if i in self._shares and not self.is_complete(self._index[i])
        }

    def _finished(self, i: int) -> str:
        self._complete.add(self._index[i])
        return str(self._values[self._index[i]].gradient)

    def rest(self) -> list[int]:
        """The ids of the values whose gradients are not complete."""
        return [i for i in self._shares if not self.is_complete(self._index[i])]

    def is_complete(self, index: int) -> bool:
        """Whether the gradient of a value of the graph is complete."""
        return index in self._complete
