"""The first nan or inf in a recording: the operation that made it, its line, and the values that it was given."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Literal

import numpy as np

from tapemagic.engine.recording import Record, silence
from tapemagic.engine.tensor.tensor import unwrap, wrap
from tapemagic.explain.chain_rule import Edge
from tapemagic.explain.formatting import format_value
from tapemagic.explain.lazy_values import has_numbers, with_numbers
from tapemagic.explain.snapshot import Snapshot

Cause = Literal[
    "input",
    "0/0",
    "division by zero",
    "overflow",
    "outside the domain",
    "infinite derivative",
    "undefined",
]

DIVISORS = {"divide": 1, "true_divide": 1, "remainder": 1, "mod": 1, "fmod": 1, "reciprocal": 0}
"""Operations that divide, each with the position of the divisor."""

POLES = {"log": 0, "log2": 0, "log10": 0, "log1p": -1, "power": 0, "float_power": 0}
"""Operations that are infinite at one finite value of their first input."""


MIN_EXTREME = 1e30
"""The size from which a value, or its reciprocal, is taken for the reason of an overflow."""


@dataclass(frozen=True)
class NonFinite:
    """The place in a recording where a nan or an infinity first appeared.

    Attributes
    ----------
    way : {'forward', 'backward'}
        Whether it is in a value or in a gradient.
    kind : {'nan', 'inf'}
    cause : {'input', '0/0', 'division by zero', 'overflow', 'outside the domain', 'infinite derivative', 'undefined'}
        'input' if an operand was not finite to begin with; 'infinite derivative' where that of an operation is, as of
        a square root at 0; 'undefined' for what is none of the others, such as the derivative 0 * inf.
    operation : str
        Of a gradient, the operation whose derivative it is.
    record : int
        The position of the operation in the recording.
    line : int or None
        The line of the cell, if that is known.
    index : tuple of int
        The first element that is not finite; empty for numbers.
    operands : tuple of str
        The inputs of the operation, at this element where it computes element by element.
    result : str
        The value, or the gradient with respect to the input, at this element.
    incoming : str
        Of a gradient, the finite gradient that the operation was given; empty for values.
    operand : int or None
        The position of the input that was not finite to begin with, or, of a gradient, of that with respect to which it
        is.
    slope : str
        Of a gradient that is nan although the operation was given 0, the derivative that was multiplied by it.
    unchosen : int or None
        Of such a gradient, the position in the recording of the `where` that chose its other branch there.
    branch : int
        The position, among the arguments of that `where`, of the branch that it did not choose.
    target : int
        The id of the target to which this leads; 0 for that of nobody.
    order : int
        The order of the gradient that is not finite.
    """

    way: Literal["forward", "backward"]
    kind: Literal["nan", "inf"]
    cause: Cause
    operation: str
    record: int
    line: int | None
    index: tuple[int, ...]
    operands: tuple[str, ...]
    result: str
    incoming: str = ""
    operand: int | None = None
    slope: str = ""
    unchosen: int | None = None
    branch: int = 0
    target: int = 0
    order: int = 1


def first_nonfinite(snapshot: Snapshot, within: Container[int] | None = None) -> NonFinite | None:
    """The first value in a recording that is not finite.

    Parameters
    ----------
    snapshot : Snapshot
    within : container of int, optional
        The ids of the results that count; all if left out.

    Returns
    -------
    NonFinite or None
        None if all values are finite, or are not kept; or where the first cannot be told, since what it was computed
        from is not computed.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> from tapemagic.explain.snapshot import snapshot_of
    >>> x = tm.Variable(1000.0)
    >>> with tm.GradientTape(persistent=True) as tape, np.errstate(over="ignore"):
    ...     y = np.exp(x)
    >>> found = first_nonfinite(snapshot_of(tape))
    >>> found.operation, found.cause, found.operands, found.result
    ('exp', 'overflow', ('1000.0',), 'inf')
    """
    orders = snapshot.origins.orders
    for position, record in enumerate(_records(snapshot)):
        if orders and orders[position]:
            continue
        if within is not None and not any(made in within for made in record.output_ids):
            continue
        for place, operand in enumerate(record.values):
            if not is_finite(operand):
                index = _where(operand)
                bad = _element(operand, np.shape(operand), index)
                found = _fact(snapshot, position, index, "input", (format_value(bad),), bad)
                return replace(found, operand=place)
        for value in record.output if isinstance(record.output, tuple) else (record.output,):
            if not is_finite(value):
                if not all(map(has_numbers, record.values)):
                    return None
                index = _where(value)
                operands = [_element(x, value.shape, index) for x in record.values]
                cause = _cause(record.name, operands, value[index])
                return _fact(
                    snapshot, position, index, cause, map(format_value, operands), value[index]
                )
    return None


def nonfinite_on(
    snapshot: Snapshot, line: int, operation: str, kind: Literal["nan", "inf"]
) -> NonFinite | None:
    """The first nan, or infinity, that an operation on a line made of finite values; None if there is none."""
    find = np.isnan if kind == "nan" else np.isinf
    for position, (plain, at) in enumerate(
        zip(snapshot.records, snapshot.origins.lines, strict=True)
    ):
        if at != line or snapshot.origins.orders[position]:
            continue
        record = _with_numbers(plain)
        if record.name != operation or not all(map(is_finite, record.values)):
            continue
        for value in record.output if isinstance(record.output, tuple) else (record.output,):
            if not is_finite(value) and find(value).any():
                index = tuple(int(k[0]) for k in np.nonzero(find(value))) if value.ndim else ()
                operands = [_element(x, value.shape, index) for x in record.values]
                cause = _cause(record.name, operands, value[index])
                texts = map(format_value, operands)
                return _fact(snapshot, position, index, cause, texts, value[index])
    return None


def first_nonfinite_gradient(snapshot: Snapshot, target: Any) -> NonFinite | None:
    """The first gradient that is not finite on the way back from a target, although the one before it was.

    Parameters
    ----------
    snapshot : Snapshot
    target : Tensor or Variable

    Returns
    -------
    NonFinite or None
        None if all gradients are finite, or the values that they depend on are not kept.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> from tapemagic.explain.snapshot import snapshot_of
    >>> x = tm.Variable([0.0, 4.0])
    >>> with tm.GradientTape(persistent=True) as tape:
    ...     y = np.sum(np.log(x + 1e-320))
    >>> found = first_nonfinite_gradient(snapshot_of(tape), y)
    >>> found.operation, found.index, found.incoming, found.result
    ('log', (0,), '1.0', 'inf')
    """
    if not snapshot.has_values:
        return None
    records = _records(snapshot)
    ids = {
        i for record in records for i in (*record.ids, *record.output_ids) if i in snapshot.tracked
    }
    with silence(), np.errstate(all="ignore"):
        results = snapshot.tape().gradient(target, [wrap(np.float64(0), i) for i in ids])
        known = {
            i: np.conjugate(unwrap(g)) for i, g in zip(ids, results, strict=True) if g is not None
        }
        bad = {i for i, g in known.items() if not is_finite(g)}
        for position in range(len(records) - 1, -1, -1) if bad else ():
            record = records[position]
            if bad.isdisjoint(record.ids):
                continue
            for made in record.output_ids:
                if made in known and made not in bad:
                    found = _first_passed_on(snapshot, position, record, made, known)
                    if found is not None:
                        return found
    return None


def _records(snapshot: Snapshot) -> list[Record]:
    return list(map(_with_numbers, snapshot.records)) if snapshot.has_values else []


def _with_numbers(plain: Any) -> Record:
    """A record with the numbers of lazy values, as far as they were computed."""
    record = Record._make(plain)
    output = record.output
    made = tuple(map(with_numbers, output)) if isinstance(output, tuple) else with_numbers(output)
    return record._replace(values=tuple(map(with_numbers, record.values)), output=made)


def is_finite(value: Any) -> bool:
    """Whether a value is finite, or is none of numbers that are known."""
    if isinstance(value, float):  # np.float64 among them
        return isfinite(value)
    value = with_numbers(value)
    if not has_numbers(value) or not isinstance(value, (np.ndarray, np.generic, complex)):
        return True
    return np.asarray(value).dtype.kind not in "fc" or bool(np.all(np.isfinite(value)))


def _where(value: Any) -> tuple[int, ...]:
    """The index of the first element that is not finite."""
    return tuple(int(k[0]) for k in np.nonzero(~np.isfinite(value))) if np.ndim(value) else ()


def _element(value: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    """The element of an operand that goes into one of a result, if its shape tells; else the whole operand."""
    if not has_numbers(value) or not isinstance(value, np.ndarray):
        return value
    try:
        return np.broadcast_to(value, shape)[index]
    except ValueError:
        return value


def _cause(name: str, operands: Sequence[Any], result: Any) -> Cause:
    """The reason why finite operands have a result that is not finite."""
    if name in DIVISORS and not np.any(operands[DIVISORS[name]]):
        return "0/0" if np.isnan(result) else "division by zero"
    if name in POLES and np.any(np.asarray(operands[0]) == POLES[name]):
        return "division by zero"
    if np.isnan(result):
        return (
            "outside the domain" if len(operands) < 3 and np.ndim(operands[0]) == 0 else "undefined"
        )
    return "overflow"


def _cause_of_gradient(values: Sequence[Any], result: Any) -> Cause:
    """The reason why an operation passes on a gradient that is not finite, by the finite values that go into it."""
    sizes = np.abs(np.concatenate([np.ravel(x) for x in values]))
    if np.isnan(result):
        return "undefined"
    extreme = np.any(sizes > MIN_EXTREME) or np.any((sizes > 0) & (sizes < 1 / MIN_EXTREME))
    return "overflow" if extreme else "infinite derivative"


def _first_passed_on(
    snapshot: Snapshot, position: int, record: Record, made: int, known: Mapping[int, Any]
) -> NonFinite | None:
    """The first gradient that is not finite among those that an operation passes on from a finite one."""
    for place, i in enumerate(record.ids):
        edge = Edge(i, record, place, made)
        known_all = all(map(has_numbers, (*record.values, edge.y, known[made])))
        if not known_all or is_finite(known.get(i)) or not edge.has_derivative():
            continue
        g = known[made]
        passed = np.asarray(edge.pull_back(g))
        if not is_finite(passed):
            index = _where(passed)
            operands = [_element(x, passed.shape, index) for x in record.values]
            result, incoming = (_element(x, passed.shape, index) for x in (edge.y, g))
            cause = _cause_of_gradient([*operands, result, incoming], passed[index])
            found = _fact(
                snapshot, position, index, cause, map(format_value, operands), passed[index]
            )
            found = replace(found, way="backward", incoming=format_value(incoming), operand=place)
            return found if incoming != 0 else _of_zero(snapshot, found, edge, passed.shape)
    return None


def _of_zero(snapshot: Snapshot, fact: NonFinite, edge: Edge, shape: tuple[int, ...]) -> NonFinite:
    """A gradient that is nan although the operation was given 0, with the derivative, and what gave the 0."""
    slope = np.asarray(edge.pull_back(np.ones(edge.y.shape, edge.y.dtype)[()]))
    value = slope[fact.index] if slope.shape == shape else slope
    fact = replace(fact, slope=format_value(value))
    return (
        _not_chosen(snapshot, fact, edge.result_id, edge.y.shape) if edge.y.shape == shape else fact
    )


def _not_chosen(
    snapshot: Snapshot, fact: NonFinite, made: int, shape: tuple[int, ...]
) -> NonFinite:
    """The same with the `where` that did not choose a value, if that is what a gradient of 0 comes from."""
    reached = {made}
    for position, plain in enumerate(snapshot.records[fact.record + 1 :], fact.record + 1):
        record = Record._make(plain)
        places = [place for place, i in enumerate(record.ids) if i in reached]
        if not places or np.shape(record.output) != shape or isinstance(record.output, tuple):
            continue
        if record.name == "where" and np.shape(record.values[places[0]]) == shape:
            chosen = bool(np.broadcast_to(record.values[0], shape)[fact.index])
            if places == [2 if chosen else 1]:
                return replace(fact, unchosen=position, branch=places[0])
        reached.update(record.output_ids)
    return fact


def _fact(
    snapshot: Snapshot,
    position: int,
    index: tuple[int, ...],
    cause: Cause,
    operands: Iterable[str],
    bad: Any,
) -> NonFinite:
    lines = snapshot.origins.lines
    return NonFinite(
        "forward",
        "nan" if np.isnan(bad) else "inf",
        cause,
        Record._make(snapshot.records[position]).name,
        position,
        lines[position] if lines else None,
        index,
        tuple(operands),
        format_value(bad),
    )
