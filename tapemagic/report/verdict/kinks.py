"""Find kinks: operations that were differentiated where they have no derivative, and the slopes that the tape used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tapemagic.engine.recording import Record, silence
from tapemagic.engine.registry import NUMBERED, Operation
from tapemagic.engine.tensor.tensor import unwrap, wrap
from tapemagic.explain.chain_rule import Edge
from tapemagic.explain.formatting import format_number
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.report.subject import Subject
from tapemagic.report.summary import Summary
from tapemagic.report.verdict.statement import Statement

BETWEEN = "The tape used slope {}; any slope from {} to {} is valid."
NONE_THERE = "The tape used slope 0."
JUMP = "The function jumps here, so it has no slope; the tape used 0."
SHARED = "Tied values share the gradient equally; other splits are valid too."


LEFT_OUT = "Higher derivatives leave the kink out."
UNKNOWN = "It holds only for the first derivative; higher ones are nan."

Kind = Literal["branch", "first order"]
"""The orders of derivatives for which the slope at a kink is right.

- "branch": It is the derivative of one branch, or the mean of several. Every order is of that branch, too.
- "first order": No branch has it, such as 0 for a norm at 0. Higher orders are nan, or the true value.
"""


@dataclass(frozen=True)
class Kink:
    """The points at which an operation has no derivative, and the slope that its rule uses.

    - `name`: The operation as programs write it.
    - `at`: Description of the points, such as ``"at 0"``.
    - `is_there`: Returns a mask of the elements of the result, or of the first input, that are at such a point.
    - `chosen_slope`: A sentence on the slope. A callable receives the record and the positions of its tracked inputs.
    - `kind`: The orders for which the slope is right.
    - `complex_kind`: The same for complex inputs.
    - `instead`: What to write if higher derivatives are needed, if something else has them.
    - `argument`: The position of the only input with this kink, or None for all.
    """

    name: str
    at: str
    is_there: Callable[[Record], Any]
    chosen_slope: str | Callable[[Record, list[int]], str]
    kind: Kind = "branch"
    complex_kind: Kind = "first order"
    instead: str = ""
    argument: int | None = None

    def kind_of(self, record: Record) -> Kind:
        """Return the orders for which the slope is right, for the inputs of a record."""
        is_complex = getattr(record.values[0], "dtype", np.dtype(float)).kind == "c"
        return self.complex_kind if is_complex else self.kind


def _at(*points: float) -> Callable[[Record], Any]:
    """Return a function that tests whether the first input is at one of the points."""

    def is_there(record: Record) -> Any:
        x = record.values[0]
        mask = x == points[0]
        for point in points[1:]:
            mask = mask | (x == point)
        return mask

    return is_there


def _at_origin(record: Record) -> Any:
    return np.equal(record.values[0], 0) & np.equal(record.values[1], 0)


def _at_origin_of_log1p(record: Record) -> Any:
    return np.equal(record.values[0], 0) & np.equal(record.values[1], -1)


def _at_infinities(record: Record) -> Any:
    x, y = record.values
    return np.isinf(x) & np.equal(x, y)


def _at_several_infinities(record: Record) -> Any:
    """Return True where the result is infinite, unless it is of a single element."""
    return np.isinf(record.output) & (np.size(record.values[0]) > np.size(record.output))


def _without_logarithm(record: Record) -> Any:
    """Return True where the base of a power has no logarithm, and the power isn't 0 for all exponents nearby."""
    x, y = record.values
    if np.asarray(record.output).dtype.kind == "c":
        return np.equal(x, 0) & (np.real(y) <= 0)
    return np.less(x, 0) | (np.equal(x, 0) & np.less_equal(y, 0))


def _at_chosen_points(record: Record) -> Any:
    return record.values[1]


def _at_zero_of_result(record: Record) -> Any:
    return record.output == 0


def _without_spread(record: Record) -> Any:
    """Return True where a standard deviation is that of several equal values."""
    return (record.output == 0) & (np.size(record.values[0]) > np.size(record.output))


def _tied(record: Record) -> Any:
    x, y = record.values
    # maximum(x, x) of one tensor is x, which is smooth. Two constants (ids up to 0) may be equal, too.
    return np.equal(x, y) if record.ids[0] != record.ids[1] or record.ids[0] <= 0 else False


def _at_limits(record: Record) -> Any:
    x, low, high = record.values
    # With equal limits, clip is constant, and its slope 0 is right.
    if low is not None and high is not None:
        return ((x == low) | (x == high)) & np.less(low, high)
    return (x == low) if high is None else (x == high)


def _at_slope_change(record: Record) -> Any:
    """Return True where an activation with slope alpha below 0 is at 0, unless alpha is 1."""
    return (record.values[0] == 0) & (np.asarray(_alpha(record)) != 1)


def _alpha(record: Record) -> Any:
    # The defaults of tapemagic.leaky_relu and tapemagic.elu: a record has only the arguments that were passed.
    default = 0.2 if record.name == "leaky_relu" else 1.0
    return (
        record.values[1] if len(record.values) > 1 else (record.params or {}).get("alpha", default)
    )


def _slope_of_alpha(record: Record, _tracked: list[int]) -> str:
    alpha = _alpha(record)
    if np.ndim(alpha):
        return "The tape used slope alpha; any slope between alpha and 1 is valid."
    low, high = sorted([float(alpha), 1.0])
    return BETWEEN.format(*map(format_number, (alpha, low, high)))


def _absolute(record: Record, _tracked: list[int]) -> str:
    is_complex = np.asarray(record.values[0]).dtype.kind == "c"
    return NONE_THERE if is_complex else BETWEEN.format(0, -1, 1)


def _of_two(_record: Record, tracked: list[int]) -> str:
    """Describe the slopes of np.maximum and similar functions at equal arguments."""
    if tracked == [0]:
        return "The tape used slope 1 for the first; any slope from 0 to 1 is valid."
    if tracked == [1]:
        return "The tape used slope 0 for the second; any slope from 0 to 1 is valid."
    return "The tape used slope 1 for the first and 0 for the second; any two slopes with the sum 1 are valid."


def _of_clip(_record: Record, tracked: list[int]) -> str:
    if 0 in tracked:
        return BETWEEN.format(1, 0, 1)
    return "The tape used slope 0 for the limit; any slope from 0 to 1 is valid."


FIRST_ORDER: Kind = "first order"

SUM_OF_SQUARES = "For a squared norm, write np.sum(v * v)."
VARIANCE = "For its square, write np.var."
HALVES = "The tape used slope 0.5 for both."

KINKS: Mapping[str, Kink] = {
    "absolute": Kink("abs", "at 0", _at(0), _absolute,
                     instead="For its square, write np.real(z * np.conj(z))."),
    "fabs": Kink("fabs", "at 0", _at(0), _absolute),
    "copysign": Kink("copysign", "at 0", _at(0), BETWEEN.format(0, -1, 1)),
    "sign": Kink("sign", "at 0", _at(0), JUMP),
    "heaviside": Kink("heaviside", "at 0", _at(0), JUMP),
    "relu": Kink("relu", "at 0", _at(0), BETWEEN.format(0, 0, 1)),
    "relu6": Kink("relu6", "at 0 or 6", _at(0, 6), BETWEEN.format(0, 0, 1)),
    "hard_sigmoid": Kink("hard_sigmoid", "at -3 or 3", _at(-3, 3), BETWEEN.format(0, 0, "1/6")),
    "leaky_relu": Kink("leaky_relu", "at 0", _at_slope_change, _slope_of_alpha),
    "elu": Kink("elu", "at 0", _at_slope_change, _slope_of_alpha),
    "selu": Kink("selu", "at 0", _at(0), BETWEEN.format("1.0507", "1.0507", "1.7581")),
    "maximum": Kink("maximum", "where its arguments are equal", _tied, _of_two),
    "minimum": Kink("minimum", "where its arguments are equal", _tied, _of_two),
    "fmax": Kink("fmax", "where its arguments are equal", _tied, _of_two),
    "fmin": Kink("fmin", "where its arguments are equal", _tied, _of_two),
    "clip": Kink("clip", "at its limits", _at_limits, _of_clip),
    "arctan2": Kink("arctan2", "at (0, 0)", _at_origin, NONE_THERE, FIRST_ORDER),
    "angle": Kink("angle", "at 0", _at(0), NONE_THERE, FIRST_ORDER),
    "norm": Kink("norm", "at 0", _at_zero_of_result, NONE_THERE, FIRST_ORDER, instead=SUM_OF_SQUARES),
    "vector_norm": Kink("vector_norm", "at 0", _at_zero_of_result, NONE_THERE, FIRST_ORDER,
                        instead=SUM_OF_SQUARES),
    "matrix_norm": Kink("matrix_norm", "at 0", _at_zero_of_result, NONE_THERE, FIRST_ORDER,
                        instead=SUM_OF_SQUARES),
    "svdvals": Kink("a singular value", "at 0", _at_chosen_points, NONE_THERE, FIRST_ORDER,
                    instead=SUM_OF_SQUARES),
    "hypot": Kink("hypot", "at 0", _at_zero_of_result, NONE_THERE, FIRST_ORDER,
                  instead="For its square, write x * x + y * y."),
    "std": Kink("std", "where all values are equal", _without_spread, NONE_THERE, FIRST_ORDER, instead=VARIANCE),
    "nanstd": Kink("nanstd", "where all values are equal", _without_spread, NONE_THERE, FIRST_ORDER,
                   instead=VARIANCE),
    "power": Kink("power", "in its exponent where the base is negative or both are 0", _without_logarithm,
                  NONE_THERE, FIRST_ORDER, argument=1),
    "float_power": Kink("float_power", "in its exponent where the base is negative or both are 0",
                        _without_logarithm, NONE_THERE, FIRST_ORDER, argument=1),
    "logaddexp": Kink("logaddexp", "where its arguments are the same infinity", _at_infinities, HALVES, FIRST_ORDER),
    "logaddexp2": Kink("logaddexp2", "where its arguments are the same infinity", _at_infinities, HALVES, FIRST_ORDER),
    "logsumexp": Kink("logsumexp", "where it is infinite", _at_several_infinities, SHARED, FIRST_ORDER),
    "pseudo_huber": Kink("pseudo_huber", "at (0, 0)", _at_origin, NONE_THERE, FIRST_ORDER),
    "xlogy": Kink("xlogy", "at (0, 0)", _at_origin, NONE_THERE, FIRST_ORDER),
    "xlog1py": Kink("xlog1py", "at (0, -1)", _at_origin_of_log1p, NONE_THERE, FIRST_ORDER),
    "rel_entr": Kink("rel_entr", "at (0, 0)", _at_origin, NONE_THERE, FIRST_ORDER),
    "kl_div": Kink("kl_div", "at (0, 0)", _at_origin, NONE_THERE, FIRST_ORDER),
}  # fmt: skip
"""Operations with kinks at fixed points, by name."""

EXTREMES = {"max", "min", "amax", "amin", "nanmax", "nanmin"}


KINKED_OPERATIONS = KINKS.keys() | EXTREMES
"""The names of all operations with kinks, including those at ties."""


@dataclass
class KinkSite:
    """The counted kinks of one operation on one line."""

    text: str
    chosen_slope: str
    line: int | None
    hits: int = 0
    size: int = 0
    times: int = 0
    higher: str = ""


def kinks(subject: Subject) -> Iterator[Statement]:
    """Yield a statement for each operation and line where a gradient passed a kink."""
    sites: dict[tuple[str, str, int | None], KinkSite] = {}
    lines, orders = subject.whole.origins.lines, subject.whole.origins.orders
    has_higher = subject.order > 1 or "hessian" in subject.request.matrices or any(orders)
    # Gradients are looked up only for operations that are at a kink, since most aren't.
    candidates: list[tuple[int, Record, Any, str, str, str]] = []
    tracked, records = subject.snapshot.tracked, subject.snapshot.records[: subject.operations]
    kinked = {i for i in {record[0] for record in records} if _has_kink(NUMBERED[i])}
    for position, plain in enumerate(records):
        if plain[0] not in kinked or (orders and orders[position]):
            continue
        record = Record._make(plain)
        inputs = [place for place, i in enumerate(record.ids) if i in tracked]
        for mask, name, taken, higher in _kinks_of(record, inputs):
            candidates.append((position, record, mask, name, taken, higher))
    cotangents = _cotangents(subject, [record for _, record, *_ in candidates])
    for position, record, mask, name, taken, higher in candidates:
        g = cotangents.get(record.output_id)  # type: ignore[arg-type]
        if g is None or not has_numbers(g):
            continue
        # Where the incoming gradient is 0, any slope gives the same result. But it may not stay 0 nearby: the gradient
        # of norm(v)**2 is 0 at 0, and the second derivative depends on the slopes around.
        passing = mask & (has_higher | (_incoming_gradient(record, g) != 0))
        hits = int(np.count_nonzero(passing)) if np.ndim(passing) else int(passing)
        if hits:
            line = lines[position] if lines else None
            place = sites.setdefault((name, taken, line), KinkSite(name, taken, line))
            place.hits += hits
            place.size += int(np.size(passing))
            place.times += 1
            place.higher = higher if has_higher else ""
    for place in sites.values():
        yield Statement("kink", _sentence(place), place.line)


def _has_kink(operation: Operation) -> bool:
    """Return True if an operation has kinks, and isn't a user function of the same name."""
    function = operation.function
    module = getattr(function, "__module__", None) or ""
    is_known = isinstance(function, np.ufunc) or module.split(".")[0] in ("numpy", "tapemagic")
    return is_known and operation.name in KINKED_OPERATIONS


def _kinks_of(record: Record, inputs: list[int]) -> Iterator[tuple[Any, str, str, str]]:
    """Yield a mask of the elements at a kink, and sentences: on the operation, the slope, and higher derivatives."""
    # Without tracked inputs nothing is differentiated, and without numbers no kink can be found.
    if not inputs or not all(map(has_numbers, (*record.values, record.output))):
        return
    name = record.name
    if (kink := KINKS.get(name)) is not None:
        if kink.argument is not None and kink.argument not in inputs:
            return
        mask = kink.is_there(record)
        if np.any(mask):
            taken = (
                kink.chosen_slope
                if isinstance(kink.chosen_slope, str)
                else kink.chosen_slope(record, inputs)
            )
            is_branch = kink.kind_of(record) == "branch"
            higher = LEFT_OUT if is_branch else f"{UNKNOWN} {kink.instead}".rstrip()
            yield mask, f"{kink.name} has no derivative {kink.at}", taken, higher
    elif name in EXTREMES:
        # The rule of max splits the gradient 1 among tied values, so a share between 0 and 1 means a tie.
        share = np.asarray(_edge(record).pull_back(np.ones_like(record.output)))
        mask = (share > 0) & (share < 1)
        if np.any(mask):
            yield mask, f"{name} has no derivative where values are tied", SHARED, LEFT_OUT


def _edge(record: Record) -> Edge:
    return Edge(record.ids[0], record, 0, record.output_id)  # type: ignore[arg-type]


def _incoming_gradient(record: Record, g: Any) -> Any:
    """Return the gradient at each element of the mask: of the input for np.max, of the result otherwise."""
    return np.asarray(_edge(record).pull_back(g)) if record.name in EXTREMES else g


def _cotangents(subject: Subject, records: list[Record]) -> dict[int, Any]:
    """Compute the gradients with respect to the results of operations."""
    gradients = {
        i: subject.adjoints.get(i) for record in records if isinstance(i := record.output_id, int)
    }
    # The report keeps only summaries of large gradients, so these are computed again.
    large = [i for i, g in gradients.items() if isinstance(g, Summary)]
    if large:
        targets = [value for _, value in subject.targets]
        with silence(), np.errstate(all="ignore"):
            sources = [wrap(np.float64(0), i) for i in large]
            full = subject.snapshot.tape().gradient(targets, sources)
        gradients |= {i: unwrap(g) for i, g in zip(large, full, strict=True) if g is not None}
    return {i: g for i, g in gradients.items() if g is not None}


def _sentence(place: KinkSite) -> str:
    """Write the statement on the kinks of one operation on one line."""
    where = [] if place.line is None else [f"line {place.line}"]
    if place.size > place.times:
        where.append(f"{place.hits:,} of {place.size:,} elements")
    elif place.times > 1:
        where.append(f"{place.times:,} times")
    at = f" ({', '.join(where)})" if where else ""
    return f"{place.text}{at}. {place.chosen_slope} {place.higher}".rstrip()
