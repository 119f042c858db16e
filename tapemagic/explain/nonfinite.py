"""Find the first nan or infinity in a recording: the operation, its line, and its inputs."""

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
"""Operations that divide, with the positions of their divisors."""

POLES = {"log": 0, "log2": 0, "log10": 0, "log1p": -1, "power": 0, "float_power": 0}
"""Operations with a pole, and the value of their first input there."""


MIN_EXTREME = 1e30
"""Minimum size of a value, or of its reciprocal, that explains an overflow."""


@dataclass(frozen=True)
class NonFinite:
    """The place in a recording where a nan or an infinity first appeared.

    Attributes
    ----------
    way : {'forward', 'backward'}
        'forward' for a value, 'backward' for a gradient.
    kind : {'nan', 'inf'}
    cause : {'input', '0/0', 'division by zero', 'overflow', 'outside the domain', 'infinite derivative', 'undefined'}
        'input' if an operand was already nan or infinite, 'infinite derivative' for an operation such as a square root
        at 0, 'undefined' for all other cases, such as the derivative 0 * inf.
    operation : str
        The operation that computed the value, or whose derivative rule computed the gradient.
    record : int
        The position of the operation in the recording.
    line : int or None
        The line of the cell, if it's known.
    index : tuple of int
        The first element that is nan or infinite. Empty for scalars.
    operands : tuple of str
        The inputs of the operation, at this element if it computes element by element.
    result : str
        The value, or the gradient with respect to the input, at this element.
    incoming : str
        The finite gradient that the derivative rule received. Empty for values.
    operand : int or None
        The position of the input that was already nan or infinite, or whose gradient is.
    slope : str
        The local derivative, if the gradient is nan although the rule received 0.
    unchosen : int or None
        The position in the recording of the `where` that chose the other branch, in that case.
    branch : int
        The position of the branch that this `where` didn't choose, among its arguments.
    target : int
        The id of the target that this leads to, or 0.
    order : int
        The order of the derivative that is nan or infinite.
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
    """Find the first value in a recording that is nan or infinite.

    - `within`: The ids of the results to check. By default, all.

    Returns NonFinite or None: None if all values are finite or weren't kept, or if the inputs of the first one are lazy
    and not computed.

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
        # Operations with an order belong to derivatives that the program took itself.
        if orders and orders[position]:
            continue
        if within is not None and not any(result_id in within for result_id in record.output_ids):
            continue
        for place, operand in enumerate(record.values):
            if not is_finite(operand):
                index = _where(operand)
                bad = _element(operand, np.shape(operand), index)
                origin = _fact(snapshot, position, index, "input", (format_value(bad),), bad)
                return replace(origin, operand=place)
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
    """Find the first nan or infinity that an operation on a line computed from finite values."""
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


def first_nonfinite_gradient(
    snapshot: Snapshot, target: Any, careful: bool = True
) -> NonFinite | None:
    """Find the first gradient in the backward pass from a target that became nan or infinite.

    Without `careful`, this includes gradients that are 0 only because no selection uses them.

    Returns NonFinite or None: None if all gradients are finite, or the values that they need weren't kept.

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
        # A tape finds sources by id, so a dummy value with the id of each recorded value gets its gradient.
        results = snapshot.tape(careful).gradient(target, [wrap(np.float64(0), i) for i in ids])
        gradients = {
            i: np.conjugate(unwrap(g)) for i, g in zip(ids, results, strict=True) if g is not None
        }
        bad = {i for i, g in gradients.items() if not is_finite(g)}
        # Gradients are computed from the target back, so the latest operation comes first.
        for position in range(len(records) - 1, -1, -1) if bad else ():
            record = records[position]
            if bad.isdisjoint(record.ids):
                continue
            for result_id in record.output_ids:
                if result_id in gradients and result_id not in bad:
                    origin = _first_passed_on(snapshot, position, record, result_id, gradients)
                    if origin is not None:
                        return origin
    return None


def _records(snapshot: Snapshot) -> list[Record]:
    return list(map(_with_numbers, snapshot.records)) if snapshot.has_values else []


def _with_numbers(plain: Any) -> Record:
    """Replace the lazy values in a record by their numbers, if those are computed."""
    record = Record._make(plain)
    output = record.output
    computed = (
        tuple(map(with_numbers, output)) if isinstance(output, tuple) else with_numbers(output)
    )
    return record._replace(values=tuple(map(with_numbers, record.values)), output=computed)


def is_finite(value: Any) -> bool:
    """Return True unless a value has a nan or infinity. Values without available numbers count as finite."""
    if isinstance(
        value, float
    ):  # also np.float64, a subclass of float; math.isfinite is faster than NumPy's
        return isfinite(value)
    value = with_numbers(value)
    if not has_numbers(value) or not isinstance(value, (np.ndarray, np.generic, complex)):
        return True
    return np.asarray(value).dtype.kind not in "fc" or bool(np.all(np.isfinite(value)))


def _where(value: Any) -> tuple[int, ...]:
    """Return the index of the first element that is nan or infinite."""
    return tuple(int(k[0]) for k in np.nonzero(~np.isfinite(value))) if np.ndim(value) else ()


def _element(value: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    """Return the element of an operand that one element of the result uses, or the operand if shapes don't match."""
    if not has_numbers(value) or not isinstance(value, np.ndarray):
        return value
    try:
        return np.broadcast_to(value, shape)[index]
    except ValueError:
        return value


def _cause(name: str, operands: Sequence[Any], result: Any) -> Cause:
    """Return the reason why the result of finite operands is nan or infinite."""
    if name in DIVISORS and not np.any(operands[DIVISORS[name]]):
        return "0/0" if np.isnan(result) else "division by zero"
    if name in POLES and np.any(np.asarray(operands[0]) == POLES[name]):
        return "division by zero"
    # `_element` picks scalars only if the operation works element by element. Otherwise the cause isn't one element.
    if np.isnan(result):
        return (
            "outside the domain" if len(operands) < 3 and np.ndim(operands[0]) == 0 else "undefined"
        )
    return "overflow"


def _cause_of_gradient(values: Sequence[Any], result: Any) -> Cause:
    """Return the reason why a derivative rule turns finite values into a nan or infinite gradient."""
    sizes = np.abs(np.concatenate([np.ravel(x) for x in values]))
    if np.isnan(result):
        return "undefined"
    extreme = np.any(sizes > MIN_EXTREME) or np.any((sizes > 0) & (sizes < 1 / MIN_EXTREME))
    return "overflow" if extreme else "infinite derivative"


def _first_passed_on(
    snapshot: Snapshot, position: int, record: Record, result_id: int, gradients: Mapping[int, Any]
) -> NonFinite | None:
    """Find the first nan or infinite gradient that an operation passes to an input from a finite gradient."""
    for place, i in enumerate(record.ids):
        edge = Edge(i, record, place, result_id)
        known_all = all(map(has_numbers, (*record.values, edge.y, gradients[result_id])))
        if not known_all or is_finite(gradients.get(i)) or not edge.has_derivative():
            continue
        g = gradients[result_id]
        passed = np.asarray(edge.pull_back(g))
        if not is_finite(passed):
            index = _where(passed)
            operands = [_element(x, passed.shape, index) for x in record.values]
            result, incoming = (_element(x, passed.shape, index) for x in (edge.y, g))
            cause = _cause_of_gradient([*operands, result, incoming], passed[index])
            origin = _fact(
                snapshot, position, index, cause, map(format_value, operands), passed[index]
            )
            origin = replace(origin, way="backward", incoming=format_value(incoming), operand=place)
            return origin if incoming != 0 else _of_zero(snapshot, origin, edge, passed.shape)
    return None


def _of_zero(
    snapshot: Snapshot, origin: NonFinite, edge: Edge, shape: tuple[int, ...]
) -> NonFinite:
    """Explain a gradient that is nan although its rule received 0: add the local derivative and the `where`."""
    slope = np.asarray(edge.pull_back(np.ones(edge.y.shape, edge.y.dtype)[()]))
    value = slope[origin.index] if slope.shape == shape else slope
    origin = replace(origin, slope=format_value(value))
    return (
        _not_chosen(snapshot, origin, edge.result_id, edge.y.shape)
        if edge.y.shape == shape
        else origin
    )


def _not_chosen(
    snapshot: Snapshot, origin: NonFinite, result_id: int, shape: tuple[int, ...]
) -> NonFinite:
    """Add the `where` that didn't choose a value, if the gradient of 0 comes from there."""
    # Follow the value forward through operations that keep its shape, so that the index stays valid.
    reached = {result_id}
    for position, plain in enumerate(snapshot.records[origin.record + 1 :], origin.record + 1):
        record = Record._make(plain)
        places = [place for place, i in enumerate(record.ids) if i in reached]
        if not places or np.shape(record.output) != shape or isinstance(record.output, tuple):
            continue
        if record.name == "where" and np.shape(record.values[places[0]]) == shape:
            chosen = bool(np.broadcast_to(record.values[0], shape)[origin.index])
            if places == [2 if chosen else 1]:
                return replace(origin, unchosen=position, branch=places[0])
        reached.update(record.output_ids)
    return origin


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
