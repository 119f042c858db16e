"""Elementwise functions, with and without derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine import laziness
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.operations.primitive import PLAIN_VALUES
from tapemagic.engine.operations.tails import (
    USUAL,
    exp2_slope,
    exp2_suffices,
)
from tapemagic.engine.recording import CONSTANT, NO_PARAMS, live, note
from tapemagic.engine.registry import (
    NO_SLOPE,
    chooses,
    composite,
    lean,
    not_differentiable,
    operation,
    pointwise,
    vjp,
)
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.tensor import Tensor, Traced, as_operand, unwrap, wrap
from tapemagic.errors import ImmutableError, OptionError

DEGREE = math.pi / 180
LN2 = math.log(2)
LN10 = math.log(10)
NUMBERS = frozenset({bool, int, float})
"""The types of real Python numbers; a NumPy number may be the value of a tensor."""


def zeros(g: Any) -> Any:
    """Return a gradient of zeros in the shape of g; 0 * g would be nan for an infinite g."""
    return laziness.zeros(g.shape, g.dtype)


def inverse(h: Any) -> Any:
    """Return 1 / h, or 0 where h is 0; derivatives of that 0 are nan."""
    # Adding the condition avoids a division by 0, and its warning, without np.where.
    return first_order_only((h != 0) / (h + (h == 0)), h)


def ratio(x: Any, h: Any) -> Any:
    """Return x / h, or 0 where h is 0; derivatives of that 0 are nan. Unlike x * (1 / h), it can't overflow."""
    return first_order_only((h != 0) * x / (h + (h == 0)), h)


def no_change(gradient: Any, _x: Any, _points: Any) -> Any:
    """Return a gradient. The rule makes its derivatives nan where x is at the points."""
    return gradient


def _no_derivative(g: Any, _y: Any, _gradient: Any, x: Any, points: Any) -> Any:
    """nan at the points, whatever g is: 0 * nan is nan. So are the derivatives of this nan."""
    return first_order_only(np.where(points, np.nan, zeros(g)), x, lambda _x: points)


vjp(no_change, lambda g, _y, _gradient, _x, _points: g, _no_derivative, None, name=NO_SLOPE)
pointwise(no_change)
chooses(no_change, inputs=[1])


def first_order_only(gradient: Any, x: Any, points: Callable[[Any], Any] | None = None) -> Any:
    """Return a gradient that is a convention at some points, so that its own derivatives there are nan.

    A convention is a number that no branch of the function has, such as 0 for the norm of a vector at 0. It is one of
    the subgradients, but it doesn't say how the gradient changes. If its derivative were computed from the number,
    ``norm(v)**2`` would have the second derivative 0 at 0 instead of 2.

    - `gradient`: The gradient that a rule returns, or a factor of it.
    - `x`: The value that decides: it is broadcast to the gradient, and the nan reaches all that x depends on.
    - `points`: Returns a mask of the points in the values of x, by default where x is 0.

    Only an outer tape needs this. Without one, x is a plain array, and nothing is computed.
    """
    if not isinstance(x, Traced):
        return gradient
    values = unwrap(x)
    mask = values == 0 if points is None else points(values)
    # A lazy mask isn't known yet. In a trace, the condition becomes a check of the program.
    if not is_lazy(mask) and not mask.any():
        return gradient
    return apply(operation(no_change), (gradient, x, mask), {})


def as_complex_like(z: Any, x: Any) -> Any:
    """Convert x to complex if the result z is, as for a real x with ``dtype=complex``."""
    return x + z.dtype.type(0) if z.dtype.kind == "c" and not np.iscomplexobj(x) else x


# -- arithmetic ------------------------------------------------------------------------------------

# fmt: off
# z / y is computed as -(g / y) * z: y * y could overflow or underflow where the result is an ordinary number.
# x mod y = x - y * floor(x / y), where the floor is constant almost everywhere; fmod truncates instead.
vjp(np.add,       lambda g, _z, _x, _y: g,     lambda g, _z, _x, _y: g)
vjp(np.subtract,  lambda g, _z, _x, _y: g,     lambda g, _z, _x, _y: -g)
vjp(np.multiply,  lambda g, _z, _x, y: g * y,  lambda g, _z, x, _y: g * x)
vjp(np.divide,    lambda g, _z, _x, y: g / y,  lambda g, z, _x, y: -(g / y) * z)
vjp(np.negative,  lambda g, _y, _x: -g)
vjp(np.positive,  lambda g, _y, _x: g)
vjp(np.remainder, lambda g, _z, _x, _y: g,     lambda g, _z, x, y: -g * np.floor_divide(x, y))
vjp(np.fmod,      lambda g, _z, _x, _y: g,     lambda g, z, x, y: -g * np.rint((x - z) / y))
vjp(np.ldexp,     lambda g, _z, _x, n: np.ldexp(g, n), None)
# fmt: on


@composite(np.divmod)
def _divmod(x: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    return np.floor_divide(x, y, **options), np.remainder(x, y, **options)


def _absolute(g: Any, _y: Any, x: Any) -> Any:
    """g * conj(x) / |x|, or 0 at 0, as in TensorFlow."""
    return g * direction(x)


def direction(x: Any) -> Any:
    """Return the sign of x, or conj(x) / |x| for complex x.

    At 0 it is 0, and so are its derivatives if x is real, as in TensorFlow: they belong to both branches of |x|. The
    modulus of a complex x has no branches.
    """
    if x.dtype.kind != "c":
        return np.sign(x)
    return first_order_only(np.conjugate(np.sign(x)), x)


def _sign(g: Any, y: Any, x: Any) -> Any:
    """0, except for complex numbers, whose sign x / |x| rotates with x."""
    if x.dtype.kind != "c":
        return zeros(g)
    return ratio(g - np.real(g * y) * np.conjugate(y), np.abs(x))


# fmt: off
vjp(np.absolute,  _absolute)
vjp(np.fabs,      _absolute)
vjp(np.sign,      _sign)
vjp(np.copysign,  lambda g, z, x, _y: g * (np.sign(x) * np.sign(z)),
                  lambda g, _z, _x, _y: zeros(g))
vjp(np.heaviside, lambda g, _z, _x, _y: zeros(g),
                  lambda g, _z, x, _y: np.where(x == 0, g, 0))
# fmt: on


# -- powers and roots ------------------------------------------------------------------------------


def _square(g: Any, _y: Any, x: Any) -> Any:
    """2 * g * x. If g has leading axes, as in a Jacobian, 2 * x is computed first, on the smaller array."""
    return 2 * g * x if g.ndim == x.ndim else g * (2 * x)


def _base(g: Any, _z: Any, x: Any, y: Any) -> Any:
    """y * x**(y-1), which is 0 for y = 0 even at x = 0, where TensorFlow returns nan."""
    x = as_complex_like(_z, x)
    if type(y) in NUMBERS:
        # On a tape, x**1 and x**0 aren't simplified: their records keep higher orders connected.
        if y in {1, 2} and not isinstance(x, Tensor):
            return _square(g, _z, x) if y == 2 else g
        return g * (y * x ** (y - 1 if y else y))
    dx = g * (y * np.where((x == 0) & (y == 0), 1, x) ** (y - 1.0))
    # Its derivative in y needs log(x), too. It is 0 for x = 0 and y > 1, and the power's rule finds this 0.
    return first_order_only(dx, y, lambda y: lacks_log(_z, x, y <= 1))


def has_log(z: Any, x: Any) -> Any:
    """Return True where the base x of a power z has a logarithm."""
    return x != 0 if z.dtype.kind == "c" else x > 0


def lacks_log(z: Any, x: Any, at_zero: Any) -> Any:
    """Return True where the base x of a power z has no logarithm; for x = 0 only where `at_zero` is true."""
    x = unwrap(x)
    return (x == 0) & at_zero if z.dtype.kind == "c" else (x < 0) | (x == 0) & at_zero


def _exponent(g: Any, z: Any, x: Any, y: Any) -> Any:
    """z * log(x), or 0 where x has no logarithm, as in TensorFlow. This 0 is right only for x = 0 and y > 0."""
    dy = g * z * np.log(np.where(has_log(z, x), x, z.dtype.type(1)))
    dy = first_order_only(dy, y, lambda y: lacks_log(z, x, y <= 0))
    return first_order_only(dy, x, lambda x: lacks_log(z, x, True))


# fmt: off
vjp(np.power,       _base, _exponent)
vjp(np.float_power, _base, _exponent)
vjp(np.square,      _square)
vjp(np.sqrt,        lambda g, y, _x: g * (0.5 / y))  # at 0: inf, as in TensorFlow
vjp(np.cbrt,        lambda g, y, _x: g / (3 * y * y))
vjp(np.reciprocal,  lambda g, y, _x: -g * y * y)
# fmt: on


# -- exponentials and logarithms -------------------------------------------------------------------


def difference(x: Any, y: Any) -> Any:
    """Return x - y, or 0 for equal infinities, which then share the gradient of logaddexp equally."""
    level = np.isinf(x) & (x == y)
    result = np.where(level, 0, x) - np.where(level, 0, y)
    return first_order_only(first_order_only(result, x, lambda _x: level), y, lambda _y: level)


def flat_slope(function: Any, y: Any, x: Any, *others: Any) -> Any:
    """Apply a function of `operations.tails` to the result y of an operation, its argument x, and other values.

    Derivatives don't go through x, which just helps to compute the digits.
    """
    if type(y) in PLAIN_VALUES:
        return function.on_values(y, x, *others)
    # A Dask array x may have to be read and computed again, where y is kept.
    if is_lazy(unwrap(y)):
        return USUAL[function](y, *others)
    if y.__class__ is not Tensor:
        return function(y, x, *others)
    values = (y._value, *map(unwrap, (x, *others)))
    z, tapes = function(*values), live()
    ids = (
        y._id,
        CONSTANT,
        *(other._id if other.__class__ is Tensor else CONSTANT for other in others),
    )
    return wrap(z, note(operation(function), values, ids, NO_PARAMS, z, tapes, z.nbytes))


# d logaddexp / dx = exp(x) / (exp(x) + exp(y)) = 1 / (1 + exp(y - x)), computed as exp(-logaddexp(0, y - x)): exp(y -
# x) itself could overflow, and exp(x - z) loses digits for large x.
# fmt: off
vjp(np.exp,        lambda g, y, _x: g * y)
vjp(np.exp2,       lambda g, y, x: g * flat_slope(exp2_slope, y, x))
vjp(exp2_slope,    lambda g, _z, _y, _x: g * LN2, None)
vjp(np.expm1,      lambda g, _y, x: g * np.exp(x))
vjp(np.log,        lambda g, _y, x: g / x)
vjp(np.log2,       lambda g, _y, x: g / (x * LN2))
vjp(np.log10,      lambda g, _y, x: g / (x * LN10))
vjp(np.log1p,      lambda g, _y, x: g / (1 + x))
vjp(np.logaddexp,  lambda g, _z, x, y: g * np.exp(-np.logaddexp(0, difference(y, x))),
                   lambda g, _z, x, y: g * np.exp(-np.logaddexp(0, difference(x, y))))
vjp(np.logaddexp2, lambda g, _z, x, y: g * np.exp2(-np.logaddexp2(0, difference(y, x))),
                   lambda g, _z, x, y: g * np.exp2(-np.logaddexp2(0, difference(x, y))))
# fmt: on


# -- angles and hyperbolas -------------------------------------------------------------------------

SINC = [(-1) ** k * 2 * k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(1, 12)]
"""Coefficients of x, x**3, x**5, ... in the derivative of sinc."""


def arcsin_slope(y: Any, x: Any) -> Any:
    """1 / sqrt(1 - x**2), for complex x on its side of the branch cut (DLMF 4.24.7, 4.23.19)."""
    if y.dtype.kind != "c":
        return 1 / np.sqrt(1 - x * x)
    x = as_complex_like(
        y, x
    )  # unlike 1 - x and 1 + x, x - 1 and x - -1 keep the sign of a zero imaginary part
    return 1 / (np.sqrt(-(x - 1)) * np.sqrt(x - -1))


def arccosh_slope(y: Any, x: Any) -> Any:
    """1 / (sqrt(x - 1) sqrt(x + 1)), for complex x on its side of the branch cut."""
    x = as_complex_like(y, x)
    return 1 / (np.sqrt(x - 1) * np.sqrt(x - -1))


def sinc_slope(x: Any) -> Any:
    """The derivative of sinc: (cos(pi x) - sinc(x)) / x, or its power series for small x, for all orders."""
    # The difference cancels near 0. np.where needs harmless values for both branches: 0 * inf would be nan in a
    # second
    # derivative, hence `small` and `far`.
    near = np.abs(x) < 0.3
    small = np.where(near, x, 0)
    square = small * small
    series: Any = SINC[-1]
    for coefficient in SINC[-2::-1]:
        series = series * square + coefficient
    far = np.where(near, 1, x)
    return np.where(near, small * series, (np.cos(math.pi * far) - np.sinc(far)) / far)


# fmt: off
vjp(np.sin,     lambda g, _y, x: g * np.cos(x))
vjp(np.cos,     lambda g, _y, x: -g * np.sin(x))
vjp(np.tan,     lambda g, y, _x: g * (1 + y * y))
vjp(np.arcsin,  lambda g, _y, x: g * arcsin_slope(_y, x))
vjp(np.arccos,  lambda g, _y, x: -g * arcsin_slope(_y, x))
vjp(np.arctan,  lambda g, _y, x: g / (1 + x * x))
vjp(np.sinh,    lambda g, _y, x: g * np.cosh(x))
vjp(np.cosh,    lambda g, _y, x: g * np.sinh(x))
vjp(np.tanh,    lambda g, y, _x: g * (1 - y * y))
vjp(np.arcsinh, lambda g, _y, x: g / (np.sqrt(x * x + 1) if x.dtype.kind == "c" else np.hypot(x, 1)))
vjp(np.arccosh, lambda g, _y, x: g * arccosh_slope(_y, x))
vjp(np.arctanh, lambda g, _y, x: g / (1 - x * x))
vjp(np.sinc,    lambda g, _y, x: g * sinc_slope(x))
vjp(np.deg2rad, lambda g, _y, _x: g * DEGREE)
vjp(np.radians, lambda g, _y, _x: g * DEGREE)
vjp(np.rad2deg, lambda g, _y, _x: g / DEGREE)
vjp(np.degrees, lambda g, _y, _x: g / DEGREE)
pointwise(exp2_slope)
lean(np.exp2, exp2_suffices)
# At the origin, both rules of hypot and of arctan2 are 0.
vjp(np.hypot,   lambda g, z, x, _y: g * ratio(x, z),
                lambda g, z, _x, y: g * ratio(y, z))


def _arctan2(g: Any, x: Any, y: Any, opposite: Any) -> Any:
    """`opposite` over the squared distance from the origin, divided twice because the square could overflow."""
    h = np.hypot(x, y)
    return g * ratio(ratio(opposite, h), h)


vjp(np.arctan2, lambda g, _z, y, x: _arctan2(g, x, y, x),
                lambda g, _z, y, x: _arctan2(-g, x, y, y))
# fmt: on


# -- choices: np.where, not a product with the condition, because 0 * inf is NaN -------------------

# fmt: off
# For a tie, the first argument gets the whole gradient, as in TensorFlow.
vjp(np.maximum, lambda g, _z, x, y: np.where(x >= y, g, 0),
                lambda g, _z, x, y: np.where(x >= y, 0, g))
vjp(np.minimum, lambda g, _z, x, y: np.where(x <= y, g, 0),
                lambda g, _z, x, y: np.where(x <= y, 0, g))
vjp(np.fmax,    lambda g, _z, x, y: np.where((x >= y) | np.isnan(y), g, 0),
                lambda g, _z, x, y: np.where((x >= y) | np.isnan(y), 0, g))
vjp(np.fmin,    lambda g, _z, x, y: np.where((x <= y) | np.isnan(y), g, 0),
                lambda g, _z, x, y: np.where((x <= y) | np.isnan(y), 0, g))
# fmt: on


def where_(condition: Any, x: Any, y: Any) -> Any:
    """``np.where`` with three arguments; a single number is a NumPy scalar."""
    return np.where(condition, x, y)[()]


@composite(np.where)
def _where(*arguments: Any) -> Any:
    # np.where(condition) returns indices, which have no derivative.
    if len(arguments) != 3:
        return np.where(*unwrap(arguments))
    return apply(operation(where_), tuple(map(as_operand, arguments)), {})


def clip_(x: Any, low: Any, high: Any, **options: Any) -> Any:
    """``np.clip`` with its limits, which may be None, as positional arguments."""
    return np.clip(x, low, high, **options)


@composite(np.clip)
def _clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: None = None,
    *,
    min: Any = None,  # noqa: A002 (NumPy's name)
    max: Any = None,  # noqa: A002 (NumPy's name)
    **options: Any,
) -> Any:
    if not (a_min is None and a_max is None) and not (min is None and max is None):
        raise OptionError(
            "np.clip received its limits twice: write a_min and a_max, or min= and max="
        )
    low = a_min if min is None else min
    high = a_max if max is None else max
    return apply(operation(clip_), (a, as_operand(low), as_operand(high)), options)


def below(x: Any, limit: Any) -> Any:
    """Return True where x is below the limit, if any."""
    return False if limit is None else x < limit


def above(x: Any, limit: Any) -> Any:
    """Return True where x is above the limit, if any."""
    return False if limit is None else x > limit


# fmt: off
vjp(where_, None, lambda g, _z, condition, _x, _y: np.where(condition, g, 0),
                  lambda g, _z, condition, _x, _y: np.where(condition, 0, g), name="where")
# At its limits, clip passes the gradient to x, as in TensorFlow. If the limits are crossed, the upper limit wins.
vjp(clip_, lambda g, _z, x, low, high: np.where(below(x, low) | above(x, high), 0, g),
           lambda g, _z, x, low, high: np.where(above(low, high), 0, np.where(x < low, g, 0)),
           lambda g, _z, x, low, high: np.where(above(x, high) | below(high, low), g, 0),
           name="clip")
# fmt: on


def nan_to_num_(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """``np.nan_to_num``, always with a copy."""
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@composite(np.nan_to_num)
def _nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    if not copy:
        raise ImmutableError(
            "nan_to_num(x, copy=False) would write into x, and a tensor is immutable: omit 'copy'"
        )
    return apply(operation(nan_to_num_), (as_operand(x), nan, posinf, neginf), {})


def _finite(g: Any, _y: Any, x: Any, _nan: Any, _posinf: Any, _neginf: Any) -> Any:
    """g where x wasn't replaced, separately for real and imaginary parts."""
    if x.dtype.kind != "c":
        return np.where(np.isfinite(x), g, 0)
    # g is dL/da - i dL/db, and the parts are replaced separately, so they are masked separately.
    real = np.where(np.isfinite(np.real(x)), np.real(g), 0)
    return real + 1j * np.where(np.isfinite(np.imag(x)), np.imag(g), 0)


def _replacing(test: Any) -> Any:
    """Return the rule of the number that replaces the real and imaginary parts for which a test is true."""

    def rule(g: Any, _y: Any, x: Any, _nan: Any, _posinf: Any, _neginf: Any) -> Any:
        real = np.where(test(np.real(x)), np.real(g), 0)
        return real - np.where(test(np.imag(x)), np.imag(g), 0)

    return rule


vjp(
    nan_to_num_,
    _finite,
    _replacing(np.isnan),
    _replacing(np.isposinf),
    _replacing(np.isneginf),
    name="nan_to_num",
)


# -- complex parts: g is dL/da - i dL/db for x = a + ib --------------------------------------------


def _angle(g: Any, _y: Any, z: Any, deg: bool = False) -> Any:
    """-i * conj(z) / |z|**2, or 0 at 0."""
    h = np.abs(z)
    rotated = g * -1j * ratio(ratio(np.conjugate(z), h), h)
    return rotated / DEGREE if deg else rotated


# fmt: off
vjp(np.real,      lambda g, _y, _x: g)
vjp(np.imag,      lambda g, _y, _x: g * -1j)
vjp(np.conjugate, lambda g, _y, _x: np.conjugate(g))
vjp(np.angle,     _angle)
# fmt: on

pointwise(where_, clip_, nan_to_num_, np.real, np.imag, np.angle)
chooses(np.maximum, np.minimum, np.fmax, np.fmin, where_, clip_, nan_to_num_)
chooses(np.heaviside, inputs=[1])


@composite(np.real_if_close)
def _real_if_close(a: Any, tol: float = 100) -> Any:
    # The type of the result depends on the values, as in NumPy.
    close = np.isrealobj(np.real_if_close(unwrap(a), tol))
    return np.real(a) if close else np.positive(a)


# -- the Bessel function i0, whose derivative i1 NumPy does not have -------------------------------

POINTS = 64
COSINES = np.cos((np.arange(POINTS) + 0.5) * np.pi / (2 * POINTS)).tolist()
"""The cosines of the midpoints of equal parts of a quarter circle."""


def i1(x: Any) -> Any:
    """The mean of cos(t) * sinh(x * cos(t)) over a quarter circle (DLMF 10.32.3).

    For a periodic function, the midpoint rule converges exponentially (Trefethen and Weideman, SIAM Review 56, 2014).
    Its error here is exp(-8 * POINTS**2 / x), less than rounding for all x for which i0 doesn't overflow. All terms
    have the same sign, so nothing cancels.
    """
    return sum(cosine / POINTS * np.sinh(cosine * x) for cosine in COSINES)


def i0_(x: Any) -> Any:
    """``np.i0``, with a NumPy scalar for a single number."""
    return np.i0(x)[()]


@composite(np.i0)
def _i0(x: Any) -> Any:
    return apply(operation(i0_), (x,), {})


vjp(i0_, lambda g, _y, x: g * i1(x), name="i0")
pointwise(i0_)


# -- without derivative ----------------------------------------------------------------------------

ROUNDINGS: set[Any] = {np.trunc, np.fix, np.round, np.around}
"""A set, because some of these names may refer to the same function."""

# fmt: off
not_differentiable(
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.isclose, np.allclose, np.array_equal, np.array_equiv,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.bitwise_count,
    np.left_shift, np.right_shift, np.gcd, np.lcm,
    np.isnan, np.isinf, np.isfinite, np.isposinf, np.isneginf, np.signbit,
    np.isreal, np.iscomplex, np.isrealobj, np.iscomplexobj,
    np.floor, np.ceil, np.rint, np.spacing, np.floor_divide,
    *ROUNDINGS,
    np.shape, np.ndim, np.size,
    np.result_type, np.can_cast, np.min_scalar_type, np.common_type,
    np.array_repr, np.array_str, np.array2string,
)
# fmt: on
