"""The formulas of operations and of their adjoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from tapemagic.engine.operations.scatter import selects_once
from tapemagic.engine.recording import Record
from tapemagic.engine.registry import operation
from tapemagic.engine.tensor.tensor import getitem
from tapemagic.explain.formatting import SHOWN, format_entries, format_size
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.trace.notation import (
    ATOM,
    CHOICE,
    Piece,
    Reduction,
    Symbol,
    Symbols,
    call,
    escaped,
    number_symbols,
    rendered,
    several,
    total,
)
from tapemagic.report.verdict.source_operands import constants_in_text

INDEX = operation(getitem)
INPUTS = "abc"
MAX_FORMULA_INPUTS = 6
"""The number of inputs that a formula writes out."""


@dataclass(frozen=True)
class Formula:
    """The formula of an operation, and the formula of the adjoint of each input.

    - `value`: None for a call: the name of the operation with its arguments.
    """

    value: str | None
    adjoints: tuple[str | None, ...]


def _row(value: str | None, *adjoints: str | None) -> Formula:
    return Formula(value, adjoints)


_ABSOLUTE = _row("abs(a)", "g * sign(a)")
_DEGREES = _row(None, "g * pi / 180")
_RADIANS = _row(None, "g * 180 / pi")
_SAME = _row(None, "g")

# fmt: off
FORMULAS: Mapping[str, Formula] = {
    "add":         _row("a + b", "g", "g"),
    "subtract":    _row("a - b", "g", "-g"),
    "multiply":    _row("a * b", "g * b", "g * a"),
    "divide":      _row("a / b", "g / b", "-(g * a / b**2)"),
    "negative":    _row("-a", "-g"),
    "positive":    _row("a", "g"),
    "absolute":    _ABSOLUTE,
    "fabs":        _ABSOLUTE,
    "square":      _row("a**2", "g * 2 * a"),
    "sqrt":        _row("sqrt(a)", "g / (2 * y)"),
    "cbrt":        _row(None, "g / (3 * y**2)"),
    "reciprocal":  _row("1 / a", "-(g / a**2)"),
    "exp":         _row("exp(a)", "g * y"),
    "exp2":        _row("2**a", "g * y * ln(2)"),
    "expm1":       _row("exp(a) - 1", "g * exp(a)"),
    "log":         _row("ln(a)", "g / a"),
    "log2":        _row(None, "g / (a * ln(2))"),
    "log10":       _row(None, "g / (a * ln(10))"),
    "log1p":       _row("ln(1 + a)", "g / (1 + a)"),
    "logaddexp":   _row("ln(exp(a) + exp(b))", "g * exp(a - y)", "g * exp(b - y)"),
    "sin":         _row(None, "g * cos(a)"),
    "cos":         _row(None, "-(g * sin(a))"),
    "tan":         _row(None, "g * (1 + y**2)"),
    "arcsin":      _row(None, "g / sqrt(1 - a**2)"),
    "arccos":      _row(None, "-(g / sqrt(1 - a**2))"),
    "arctan":      _row(None, "g / (1 + a**2)"),
    "sinh":        _row(None, "g * cosh(a)"),
    "cosh":        _row(None, "g * sinh(a)"),
    "tanh":        _row(None, "g * (1 - y**2)"),
    "arcsinh":     _row(None, "g / sqrt(a**2 + 1)"),
    "arccosh":     _row(None, "g / sqrt(a**2 - 1)"),
    "arctanh":     _row(None, "g / (1 - a**2)"),
    "deg2rad":     _DEGREES,
    "radians":     _DEGREES,
    "rad2deg":     _RADIANS,
    "degrees":     _RADIANS,
    "hypot":       _row("sqrt(a**2 + b**2)", "g * a / y", "g * b / y"),
    "arctan2":     _row(None, "g * b / (a**2 + b**2)", "-(g * a / (a**2 + b**2))"),
    "maximum":     _row("max(a, b)", "g if a >= b else 0", "g if a < b else 0"),
    "minimum":     _row("min(a, b)", "g if a <= b else 0", "g if a > b else 0"),
    "where":       _row("b if a else c", None, "g if a else 0", "0 if a else g"),
    "relu":        _row("max(0, a)", "g if a > 0 else 0"),
    "relu6":       _row("min(max(0, a), 6)", "g if 0 < a < 6 else 0"),
    "hard_sigmoid": _row(None, "g / 6 if -3 < a < 3 else 0"),
    "leaky_relu":  _row("a if a > 0 else b * a", "g if a > 0 else g * b"),
    "elu":         _row("a if a > 0 else b * (exp(a) - 1)", "g if a > 0 else g * b * exp(a)"),
    "sigmoid":     _row("sigmoid(a)", "g * y * (1 - y)"),
    "one_minus_sigmoid": _row("1 - a", "-g"),
    "exp2_slope":  _row("a * ln(2)", "g * ln(2)"),
    "log_sigmoid": _row("ln(sigmoid(a))", "g * (1 - exp(y))"),
    "softplus":    _row("ln(1 + exp(a))", "g * sigmoid(a)"),
    "silu":        _row("a * sigmoid(a)", "g * (sigmoid(a) + y * (1 - sigmoid(a)))"),
    "softsign":    _row("a / (1 + abs(a))", "g / (1 + abs(a))**2"),
    "erf":         _row(None, "g * 2 / sqrt(pi) * exp(-a**2)"),
    "erfc":        _row(None, "-(g * 2 / sqrt(pi) * exp(-a**2))"),
    "softmax":     _row(None, "y * (g - total(g * y))"),
    "log_softmax": _row(None, "g - exp(y) * total(g)"),
    "softmax_cross_entropy": _row(None, "-(spread(g) * log_softmax(b))", "spread(g) * (softmax(b) * total(a) - a)"),
    "sparse_softmax_cross_entropy": _row(None, None, "spread(g) * (softmax(b) - one_hot(a))"),
    "sigmoid_cross_entropy": _row(None, "-(g * b)", "g * (sigmoid(b) - a)"),
    "mean":        _row("mean(a)", "spread(g) / n"),
    "read":        _row("a", "g"),
    "copy":        _SAME,
    "astype":      _SAME,
    "broadcast_to": _SAME,
}
"""The formulas of operations by their names."""

MATRIX_PRODUCTS: Mapping[tuple[int, ...], Formula] = {
    (0, 0): FORMULAS["multiply"],
    (1, 1): _row("a @ b", "g * b", "g * a"),
    (2, 1): _row("a @ b", "outer(g, b)", "a.T @ g"),
    (1, 2): _row("a @ b", "b @ g", "outer(a, g)"),
    (2, 2): _row("a @ b", "g @ b.T", "a.T @ g"),
}
"""The formulas of products by the numbers of axes."""
# fmt: on

OURS = {"numpy", "scipy", "tapemagic"}
LAST_AXIS = {
    "softmax",
    "log_softmax",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
}
"""Operations whose default axis is the last one."""


def is_known(record: Record) -> bool:
    """Return True for an operation of NumPy, SciPy or this package with its true derivative."""
    function = record.operation.function
    module = getattr(function, "__module__", None) or type(function).__module__
    return module.partition(".")[0] in OURS and "call" not in (record.params or {})


def is_chain(record: Record) -> bool:
    """Return True if an operation on real numbers passes on its true derivative."""
    values = (*record.values, *several(record.output))
    return is_known(record) and not any(
        getattr(x, "dtype", np.dtype(float)).kind == "c" for x in values
    )


def formula_of(record: Record) -> Formula | None:
    """Return the formula of a recorded operation, or None if no formula fits."""
    # With `where=`, elements are skipped, which no formula here says.
    if not is_known(record) or "where" in (record.params or {}):
        return None
    name = record.name
    chosen = CHOSEN.get(name)
    return chosen(record) if chosen else FORMULAS.get(name)


def repeats(record: Record, position: int) -> bool:
    """Return True if an operation passes the same number on to all elements that it adds up."""
    formula = formula_of(record)
    adjoint = formula.adjoints[position] if formula and position < len(formula.adjoints) else None
    # The gradient of a scalar is the same for all elements of its sum or mean.
    if adjoint not in {"spread(g)", "spread(g) / n"}:
        return False
    return not np.ndim(record.output) and np.size(record.values[position]) > 1


def _power(record: Record) -> Formula:
    """Return the formula of a power; for a constant exponent, the textbook's."""
    a, b = record.values
    exponent = None
    if not np.ndim(b) and has_numbers(b) and not isinstance(b, (complex, np.complexfloating)):
        exponent = float(b)
    # The logarithm of a base that isn't positive is nan or complex: the exponent has no derivative there.
    above = "g * y * ln(a)" if _all_positive(a) else None
    # A small integer exponent is written out, as 3 · x². It is also valid where x isn't positive.
    if exponent in {1.0, 2.0} or (exponent and exponent.is_integer() and 2 < exponent < 10):
        power = int(exponent)
        slope = {1: "g", 2: "g * 2 * a"}.get(power, f"g * {power} * a**{power - 1}")
        return Formula("a**b", (slope, above))
    return Formula("a**b", ("g * b * a**(b - 1)" if _all_positive(a) else None, above))


def _all_positive(x: Any) -> bool:
    return has_numbers(x) and np.asarray(x).dtype.kind != "c" and bool(np.all(x > 0))


def _product(record: Record) -> Formula | None:
    return MATRIX_PRODUCTS.get(tuple(np.ndim(x) for x in record.values))


def _vector_product(record: Record) -> Formula | None:
    return _product(record) if all(np.ndim(x) < 2 for x in record.values) else None


def _outer(record: Record) -> Formula | None:
    vectors = all(np.ndim(x) == 1 for x in record.values)
    return _row(None, "g @ b", "g.T @ a") if vectors else None


def _solve(record: Record) -> Formula | None:
    # From A y = b: dA y + A dy = db.
    formulas: dict[tuple[int, ...], Formula] = {
        (2, 1): _row(None, "-outer(solve(a.T, g), y)", "solve(a.T, g)"),
        (2, 2): _row(None, "-(solve(a.T, g) @ y.T)", "solve(a.T, g)"),
    }
    return formulas.get(tuple(np.ndim(x) for x in record.values))


def _determinant(record: Record) -> Formula | None:
    # Jacobi's formula, which needs an inverse.
    regular = record.values[0].ndim == 2 and has_numbers(record.output) and record.output != 0
    return _row(None, "g * y * inv(a).T") if regular else None


def _inverse(record: Record) -> Formula | None:
    # From A y = 1: dA y + A dy = 0.
    return _row(None, "-(y.T @ g @ y.T)") if record.values[0].ndim == 2 else None


def _sum(record: Record) -> Formula:
    """Return the formula of a sum, or of one that starts with a number (`initial`)."""
    plain = (record.params or {}).get("initial") is None
    return _row("total(a)" if plain else None, "spread(g)")


def _transpose(record: Record) -> Formula | None:
    plain = record.values[0].ndim == 2 and not (record.params or {}).get("axes")
    return _row("a.T", "g.T") if plain else None


def _shaped(record: Record) -> Formula | None:
    shape = record.values[0].shape
    # Another order permutes the elements, which `reshape` doesn't say.
    plain = (record.params or {}).get("order", "C") == "C"
    return _row(None, f"reshape(g, {shape})") if plain else None


def _clip(record: Record) -> Formula | None:
    limits = record.values[1:]
    has_limits = all(x is not None and has_numbers(x) for x in limits)
    # NumPy returns the upper limit if the limits are crossed: then the input has no influence.
    if len(limits) == 2 and has_limits and np.all(limits[0] <= limits[1]):
        return _row("min(max(a, b), c)", "g if b <= a <= c else 0")
    return None


def _extreme(record: Record) -> Formula | None:
    """Return the formula of an extreme element, if exactly one element has that value."""
    axis = (record.params or {}).get("axis")
    x, y = record.values[0], record.output
    is_comparable = axis is None and has_numbers(x) and has_numbers(y)
    # Equal elements share the gradient.
    unique = is_comparable and np.count_nonzero(x == y) == 1
    return _row(None, "g if a == y else 0") if unique and not record.output.ndim else None


def _norm(record: Record) -> Formula | None:
    params = {key: x for key, x in (record.params or {}).items() if x is not None}
    # Only the Euclidean norm of a vector; at 0 it has no derivative.
    plain = set(params) <= {"ord"} and params.get("ord", 2) == 2 and record.values[0].ndim == 1
    return (
        _row(None, "g * a / y") if plain and has_numbers(record.output) and record.output else None
    )


def _logsumexp(record: Record) -> Formula | None:
    return _row(None, "g * softmax(a)") if record.values[0].ndim == 1 else None


def _stack(record: Record) -> Formula | None:
    if (record.params or {}).get("axis", 0) != 0:
        return None
    return Formula(None, tuple(f"g[{k}]" for k in range(len(record.values))))


def _concatenate(record: Record) -> Formula | None:
    if (record.params or {}).get("axis", 0) != 0:
        return None
    ends = list(accumulate(x.shape[0] for x in record.values))
    parts = zip([0, *ends], ends, strict=False)
    return Formula(None, tuple(f"g[{start}:{end}]" for start, end in parts))


CHOSEN: Mapping[str, Callable[[Record], Formula | None]] = {
    "power": _power,
    "float_power": _power,
    "matmul": _product,
    "dot": _product,
    "inner": _vector_product,
    "outer": _outer,
    "solve": _solve,
    "det": _determinant,
    "inv": _inverse,
    "sum": _sum,
    "transpose": _transpose,
    "clip": _clip,
    "reshape": _shaped,
    "ravel": _shaped,
    "squeeze": _shaped,
    "expand_dims": _shaped,
    "max": _extreme,
    "min": _extreme,
    "norm": _norm,
    "logsumexp": _logsumexp,
    "stack": _stack,
    "concatenate": _concatenate,
}
"""The operations whose formulas depend on shapes, parameters or values."""


def reduction_of(record: Record) -> Reduction:
    """Return the axis of a sum, or None for a vector."""
    default = -1 if record.name in LAST_AXIS else None
    axis = (record.params or {}).get("axis", default)
    axis = tuple(axis) if isinstance(axis, (list, np.ndarray)) and np.ndim(axis) else axis
    is_vector = max((np.ndim(x) for x in record.values), default=0) < 2
    return Reduction(None if is_vector else axis)


def value_formula(record: Record, inputs: Sequence[Symbol]) -> Piece:
    """Write the formula of a recorded operation with symbols.

    - `inputs`: The symbols of its inputs.
    """
    if record.operation is INDEX:
        place, x = index_text((record.params or {}).get("index")), rendered("a", {"a": inputs[0]})
        return Piece(
            f"{x.inside(ATOM).text}[{place}]", rf"{x.latex}\left[{escaped(place)}\right]", ATOM
        )
    formula = formula_of(record)
    if formula and formula.value:
        try:
            return rendered(
                formula.value, dict(zip(INPUTS, inputs, strict=False)), reduction_of(record)
            )
        # A formula may name an optional input that this call didn't pass.
        except KeyError:
            pass
    arguments = [*inputs]
    if len(arguments) < getattr(record.operation.function, "nin", 0):
        # The record of an operation without a derivative keeps only tracked operands, and not their positions.
        arguments = [Symbol(f"… {x.text} …", rf"\dots {x.latex} \dots") for x in arguments]
    if len(arguments) > MAX_FORMULA_INPUTS:
        arguments = [*arguments[: MAX_FORMULA_INPUTS - 2], Symbol("…", r"\dots"), arguments[-1]]
    return call(record.name, [*arguments, *_parameters(record)])


def _parameters(record: Record) -> list[Symbol]:
    """Return the parameters of an operation that were passed."""
    symbols = []
    for key, value in (record.params or {}).items():
        if key == "call" or value is None or value is False:
            continue
        text = f"{key}={parameter_text(value)}"
        symbols.append(Symbol(text, rf"\text{{{escaped(text)}}}"))
    return symbols


def parameter_text(value: Any) -> str:
    """Write a parameter in a few characters."""
    if isinstance(value, np.ndarray):
        if value.size <= SHOWN:
            return format_entries(value)
        return format_size(value.shape) + " array" * (value.ndim > 1)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return format_entries(value)
    if isinstance(value, str) and len(value) <= 30 and value.isprintable():
        return repr(value)
    if isinstance(value, (tuple, list)) and len(value) <= SHOWN:
        inner = ", ".join(map(parameter_text, value))
        comma = "," * (len(value) == 1)
        return f"({inner}{comma})" if isinstance(value, tuple) else f"[{inner}]"
    return "…"


def index_text(index: Any) -> str:
    """Write an index as Python does between brackets."""
    if isinstance(index, tuple):
        return ", ".join(map(index_text, index)) or "()"
    if isinstance(index, slice):
        parts = ["" if x is None else parameter_text(x) for x in (index.start, index.stop)]
        return ":".join(parts) + ("" if index.step is None else f":{parameter_text(index.step)}")
    if index is None or index is Ellipsis:
        return "None" if index is None else "..."
    return parameter_text(index)


def adjoint_formula(
    record: Record, position: int, inputs: Sequence[Symbol], y: Symbol, g: Symbol
) -> Piece | None:
    """Write the formula of the share that an operation passes on to an input, or return None without a formula.

    - `record`: An operation with one result.
    - `position`: The position of the input.
    - `y`, `g`: The symbols of the result and of its adjoint.
    """
    x, result = record.values[position], record.output
    # The formulas lack the conjugations that complex numbers need.
    if any(_dtype(v).kind == "c" for v in (*record.values, result) if v is not None):
        return None
    if record.operation is INDEX:
        index = (record.params or {}).get("index")
        # An index may name an element several times, as in x[[0, 0]].
        words = "at" if selects_once(index) else "added up at"
        place = index_text(index)
        text = f"{g.text} {words} [{place}], else 0"
        latex = rf"{g.latex}\text{{ {words} [{escaped(place)}], else }}0"
        return Piece(text, latex, CHOICE)
    formula = formula_of(record)
    expression = (
        formula.adjoints[position] if formula and position < len(formula.adjoints) else None
    )
    if expression is None:
        return None
    names = dict(zip(INPUTS, inputs, strict=False)) | {"y": y, "g": g}
    names["pi"] = Symbol("π", r"\pi")
    if np.size(result):
        count = str(np.size(x) // np.size(result))
        names["n"] = Symbol(count, count)
    try:
        piece = rendered(expression, names, reduction_of(record))
    except KeyError:
        return None
    return _summed(piece, record, x, result)


def _dtype(value: Any) -> Any:
    return getattr(value, "dtype", None) or np.asarray(value).dtype


def _summed(piece: Piece, record: Record, x: Any, result: Any) -> Piece:
    """Sum a formula over the axes along which broadcasting repeated the input."""
    shape, full = np.shape(x), np.shape(result)
    repeats = record.operation.pointwise or record.name in {"where", "clip", "broadcast_to"}
    # Broadcasting repeats an input, so its gradient is the sum over the repetitions.
    if not repeats or shape == full:
        return piece
    lead = len(full) - len(shape)
    axes = [*range(lead)]
    axes += [k + lead for k, (a, b) in enumerate(zip(shape, full[lead:], strict=True)) if a != b]
    if not axes:
        return piece
    return total(
        piece, None if len(axes) == len(full) else axes[0] if len(axes) == 1 else tuple(axes)
    )


@dataclass(frozen=True)
class RowFormula:
    """An operation with the symbols of its values.

    - `position`: In the recording.
    - `numbers`: The values of the inputs; empty if they aren't a few numbers.
    - `formula`: The formula of its result.
    """

    position: int
    record: Record
    inputs: Sequence[Symbol]
    results: Sequence[Symbol]
    numbers: Sequence[Symbol]
    formula: Piece


def row_formula(subject: Subject, symbols: Symbols, position: int) -> RowFormula:
    """Write an operation of a recording, once for all tables and graphs."""
    return subject.once(("operation", position), lambda: _row_formula(subject, symbols, position))


def _row_formula(subject: Subject, symbols: Symbols, position: int) -> RowFormula:
    record = subject.records[position]
    results = zip(several(record.output), several(record.output_id), strict=True)
    operands = zip(record.values, record.ids, constants_in_text(subject, position), strict=True)
    inputs = [symbols.of(x, i, written) for x, i, written in operands]
    return RowFormula(
        position,
        record,
        inputs,
        [symbols.of(x, i) for x, i in results],
        number_symbols(record.values),
        value_formula(record, inputs),
    )
