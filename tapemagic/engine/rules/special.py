"""SciPy's special functions: loaded if a function isn't in the table and scipy.special has been imported.

Formulas are from the NIST Digital Library of Mathematical Functions (DLMF), https://dlmf.nist.gov, unless they follow
from a definition. Orders and parameters without a closed derivative must be plain values; if a tape tracks one, the
call raises an error.

These functions are ufuncs, which find tensors among their arguments by NumPy's protocols; ``sp.zeta`` and
``sp.lambertw`` call other ufuncs. Most functions that SciPy implements in Python, such as ``sp.softmax``,
convert their arguments to plain arrays, so their results aren't on the tape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as sp

from tapemagic.engine.operations.tails import exp2_slope
from tapemagic.engine.registry import composite, not_differentiable, operation, pointwise, vjp
from tapemagic.engine.rules.elementwise import (
    DEGREE,
    LN10,
    as_complex_like,
    first_order_only,
    flat_slope,
    ratio,
)
from tapemagic.engine.tensor.dispatch import apply, call
from tapemagic.engine.tensor.tensor import as_operand
from tapemagic.errors import NoDerivativeError

Function = Callable[..., Any]

SQRT_2 = math.sqrt(2)
SQRT_PI = math.sqrt(math.pi)
SQRT_2PI = math.sqrt(2 * math.pi)


# -- helpers that add functions to the table ---------------------------------------------------------


def with_parameters(function: Function, names: str, rule: Function) -> None:
    """Give a function with these argument names a rule for its last argument: ``rule(g, y, x, **parameters)``."""
    *parameters, variable = names.split()

    def evaluated(variable: Any, /, **arguments: Any) -> Any:
        # The parameters are keywords of the record, and plain values: `call` raises an error for a
        # tracked tensor.
        values = [arguments.pop(name) for name in parameters]
        return function(*values, variable, **arguments)[()]

    @composite(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        arguments = {**dict(zip(names.split(), args, strict=False)), **kwargs}
        arguments |= {name: as_operand(arguments[name]) for name in parameters if name in arguments}
        # A real argument with dtype=complex gives a complex result, whose rule needs a complex
        # argument.
        if np.dtype(arguments.get("dtype")).kind == "c":
            arguments[variable] = arguments[variable] + np.dtype(arguments["dtype"]).type(0)
        return call(evaluated, (arguments.pop(variable, None),), arguments)

    vjp(evaluated, rule, name=function.__name__.strip("_"))
    pointwise(evaluated)


def inner_ufuncs(name: str) -> list[np.ufunc]:
    """Return the ufunc that a Python function of SciPy calls, as a list, which is empty if SciPy has no such ufunc."""
    ufunc = getattr(getattr(sp, "_ufuncs", None), name, None)
    return [ufunc] if isinstance(ufunc, np.ufunc) else []


def with_results(function: Function, rule: Function) -> None:
    """Give a function of one argument and several results its rule; `g` and `y` are tuples."""

    def evaluated(z: Any) -> Any:
        return function(z)

    composite(function)(lambda z, **options: apply(operation(evaluated), (z,), options))
    vjp(evaluated, rule, name=function.__name__)


# -- powers, exponentials, logistic functions -------------------------------------------------------

# fmt: off
vjp(sp.cbrt,      lambda g, y, _x: g / (3 * y * y))
vjp(sp.exp2,      lambda g, y, x: g * flat_slope(exp2_slope, y, x))
vjp(sp.exp10,     lambda g, y, _x: g * (y * LN10))
vjp(sp.expm1,     lambda g, _y, x: g * np.exp(x))
vjp(sp.log1p,     lambda g, _y, x: g / (1 + x))
vjp(sp.cosm1,     lambda g, _y, x: -g * np.sin(x))
vjp(sp.sindg,     lambda g, _y, x: g * (DEGREE * sp.cosdg(x)))
vjp(sp.cosdg,     lambda g, _y, x: -g * (DEGREE * sp.sindg(x)))
vjp(sp.tandg,     lambda g, y, _x: g * (DEGREE * (1 + y * y)))
vjp(sp.cotdg,     lambda g, y, _x: -g * (DEGREE * (1 + y * y)))
vjp(sp.exprel,    lambda g, _y, x: g * exprel_slope(x))
vjp(sp.expit,     lambda g, _y, x: g * (sp.expit(x) * sp.expit(-x)))
vjp(sp.log_expit, lambda g, _y, x: g * sp.expit(-x))
vjp(sp.logit,     lambda g, _y, x: g / (x * (1 - x)))
vjp(sp.powm1,     lambda g, _z, x, y: g * (y * x ** (y - 1.0)),
                  lambda g, _z, x, y: g * (x**y * np.log(x)))
# fmt: on


def exprel_slope(x: Any) -> Any:
    """The integral of t * exp(x t) over 0 < t < 1: Kummer's function, without cancellation (DLMF 13.4.1)."""
    return sp.hyp1f1(2.0, 3.0, x) / 2


def _power_slopes(logarithm: Function) -> tuple[Function, Function]:
    """Return the rules of a Box-Cox transform L * exprel(lmbda * L), where L is a logarithm with slope 1 / x."""
    return (
        lambda g, _z, x, lmbda: g * np.exp((lmbda - 1) * logarithm(x)),
        lambda g, _z, x, lmbda: g * (logarithm(x) ** 2 * exprel_slope(lmbda * logarithm(x))),
    )


def _inverse_power_slopes(logarithm: Function) -> tuple[Function, Function]:
    """Return the rules of the inverse transform, from the rules of the transform at its result z."""
    return (
        lambda g, z, _y, lmbda: g * np.exp((1 - lmbda) * logarithm(z)),
        lambda g, z, _y, lmbda: (
            -g
            * np.exp((1 - lmbda) * logarithm(z))
            * (logarithm(z) ** 2 * exprel_slope(lmbda * logarithm(z)))
        ),
    )


vjp(sp.boxcox, *_power_slopes(np.log))
vjp(sp.boxcox1p, *_power_slopes(np.log1p))
vjp(sp.inv_boxcox, *_inverse_power_slopes(np.log))
vjp(sp.inv_boxcox1p, *_inverse_power_slopes(np.log1p))


# -- entropies and robust losses --------------------------------------------------------------------


def conventional(value: Any, x: Any, y: Any, points: Any) -> Any:
    """Return a factor of a gradient that is a convention at some points of x and y: see `first_order_only`."""
    return first_order_only(first_order_only(value, x, lambda _x: points), y, lambda _y: points)


def safe_log(x: Any, y: Any) -> Any:
    """Return log(y), or 0 where x is 0 and y has no logarithm, because x * log(y) is defined as 0 in that case."""
    outside = (x == 0) & (y == 0 if np.iscomplexobj(y) else y <= 0)
    return first_order_only(np.log(np.where(outside, 1, y)), y, lambda _y: outside)


def safe_log1p(x: Any, y: Any) -> Any:
    """Return log(1 + y), or 0 where x is 0 and y is -1."""
    outside = (x == 0) & (y == -1)
    return first_order_only(np.log1p(np.where(outside, 0, y)), y, lambda _y: outside)


def safe_ratio(x: Any, y: Any) -> Any:
    """Return x / y, or 0 where both are 0."""
    both = (x == 0) & (y == 0)
    return conventional(x / np.where(both, 1, y), x, y, both)


# fmt: off
vjp(sp.xlogy,        lambda g, _z, x, y: g * safe_log(x, as_complex_like(_z, y)),
                     lambda g, _z, x, y: g * safe_ratio(x, y))
vjp(sp.xlog1py,      lambda g, _z, x, y: g * safe_log1p(x, as_complex_like(_z, y)),
                     lambda g, _z, x, y: g * safe_ratio(x, 1 + y))
vjp(sp.entr,         lambda g, _y, x: -g * (np.log(x) + 1))  # at 0: inf
vjp(sp.rel_entr,     lambda g, _z, x, y: g * (log_ratio(x, y) + 1),
                     lambda g, _z, x, y: -g * safe_ratio(x, y))
vjp(sp.kl_div,       lambda g, _z, x, y: g * log_ratio(x, y),
                     lambda g, _z, x, y: g * (1 - safe_ratio(x, y)))
vjp(sp.huber,        lambda g, _z, delta, r: g * np.maximum(np.abs(r) - delta, 0),
                     lambda g, _z, delta, r: g * np.clip(r, -delta, delta))
vjp(sp.pseudo_huber, lambda g, _z, delta, r: g * _pseudo_huber_delta(delta, r),
                     lambda g, _z, delta, r: g * (r * ratio(delta, np.hypot(delta, r))))
# fmt: on


def log_ratio(x: Any, y: Any) -> Any:
    """Return log(x / y) without the quotient, which could overflow, or 0 where both are 0."""
    both = (x == 0) & (y == 0)
    ratio_of_logs = np.log(np.where(both, 1, x)) - np.log(np.where(both, 1, y))
    return conventional(ratio_of_logs, x, y, both)


def _pseudo_huber_delta(delta: Any, r: Any) -> Any:
    """Return (h - delta)**2 / h for h = hypot(delta, r), with a difference that doesn't cancel."""
    # h - delta = r**2 / (h + delta)
    h = np.hypot(delta, r)
    return ratio((r * ratio(r, h + delta)) ** 2, h)


# -- error functions and the normal distribution ----------------------------------------------------


def tail(u: Any) -> Any:
    """Return the asymptotic series u + 3 u**2 + 15 u**3 + ..., in double precision for abs(u) < 1/200."""
    # The coefficients are the double factorials 1, 3, 15, 105, ...; terms up to u**12 are below rounding here.
    series: Any = 1.0
    for odd in range(23, 1, -2):
        series = 1 + odd * u * series
    return u * series


def near_and_far(near: Function, far: Function, x: Any, is_far: Any) -> Any:
    """Apply one formula near 0, and another, of u = 1 / (2 x**2), where the first would cancel."""
    if x.dtype.kind == "c":
        return near(x)
    ends = np.where(is_far, x, 10)
    return np.where(is_far, far(0.5 / ends / ends), near(np.where(is_far, 0, x)))


def erfcx_slope(x: Any) -> Any:
    """2 x erfcx(x) - 2 / sqrt(pi), or its asymptotic series for large x (DLMF 7.12.1)."""
    near = lambda x: 2 * (x * sp.erfcx(x)) - 2 / SQRT_PI
    return near_and_far(near, lambda u: 2 / SQRT_PI * tail(-u), x, x > 10)


def dawsn_slope(x: Any) -> Any:
    """1 - 2 x dawsn(x), or its asymptotic series for large x (DLMF 7.12)."""
    return near_and_far(lambda x: 1 - 2 * (x * sp.dawsn(x)), lambda u: -tail(u), x, abs(x) > 10)


def log_ndtr_slope(y: Any, x: Any) -> Any:
    """The density divided by the probability, which may both underflow for negative x, unlike their ratio."""
    if x.dtype.kind == "c":
        return np.exp(-x * x / 2 - y) / SQRT_2PI
    # Below 0: ndtr(x) = exp(-x**2 / 2) * erfcx(-x / sqrt(2)) / 2, so the exponentials of the ratio cancel exactly.
    below = x < 0
    left = math.sqrt(2 / math.pi) / sp.erfcx(-np.where(below, x, 0) / SQRT_2)
    right = np.where(below, 0, x)
    return np.where(below, left, np.exp(-right * right / 2) / (SQRT_2PI * sp.ndtr(right)))


# fmt: off
vjp(sp.erf,       lambda g, _y, x: g * (2 / SQRT_PI * np.exp(-x * x)))
vjp(sp.erfc,      lambda g, _y, x: -g * (2 / SQRT_PI * np.exp(-x * x)))
vjp(sp.erfi,      lambda g, _y, x: g * (2 / SQRT_PI * np.exp(x * x)))
vjp(sp.erfcx,     lambda g, _y, x: g * erfcx_slope(x))
vjp(sp.dawsn,     lambda g, _y, x: g * dawsn_slope(x))
vjp(sp.wofz,      lambda g, y, z: g * (2j / SQRT_PI - 2 * (z * y)))
vjp(sp.erfinv,    lambda g, y, _x: g * (SQRT_PI / 2 * np.exp(y * y)))
vjp(sp.erfcinv,   lambda g, y, _x: -g * (SQRT_PI / 2 * np.exp(y * y)))
vjp(sp.ndtr,      lambda g, _y, x: g * (np.exp(-x * x / 2) / SQRT_2PI))
vjp(sp.ndtri,     lambda g, y, _x: g * (SQRT_2PI * np.exp(y * y / 2)))
vjp(sp.log_ndtr,  lambda g, y, x: g * log_ndtr_slope(y, x))
vjp(sp.ndtri_exp, lambda g, y, _x: g * (SQRT_2PI / 2 * sp.erfcx(-y / SQRT_2)))
vjp(sp.owens_t,   lambda g, _z, h, a: -g * (np.exp(-h * h / 2) * sp.erf(a * h / SQRT_2) / (2 * SQRT_2PI)),
                  lambda g, _z, h, a: g * (np.exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a))))
# fmt: on


# -- gamma functions --------------------------------------------------------------------------------


def _rgamma(g: Any, y: Any, x: Any) -> Any:
    """-psi(x) / gamma(x), or for x < 1/2 the derivative of the reflection formula (DLMF 5.5.3), which has no poles."""
    left = np.real(x) < 0.5
    mirrored = 1 - np.where(left, x, 0)
    angle = math.pi * mirrored
    reflected = -np.cos(angle) - np.sin(angle) * sp.psi(mirrored) / math.pi
    right = np.where(left, 1, x)
    return g * np.where(left, sp.gamma(mirrored) * reflected, -sp.rgamma(right) * sp.psi(right))


def _psi(g: Any, _y: Any, x: Any) -> Any:
    """The trigamma function, which SciPy implements for real numbers."""
    if x.dtype.kind == "c":
        raise NoDerivativeError(
            "psi of complex numbers has no derivative here, because SciPy's zeta takes real numbers: "
            "stop at the first derivative of gamma and loggamma, or write x.numpy() if you need no gradient"
        )
    return g * sp.zeta(2, x)


def _zeta(g: Any, _y: Any, q: Any, x: Any) -> Any:
    """The derivative of Hurwitz's zeta function in its second argument (DLMF 25.11.17)."""
    return -g * (x * sp.zeta(x + 1.0, q))


# fmt: off
vjp(sp.gamma,    lambda g, y, x: g * (y * sp.psi(x)))
vjp(sp.rgamma,   _rgamma)
vjp(sp.gammaln,  lambda g, _y, x: g * sp.psi(x))
vjp(sp.loggamma, lambda g, _y, x: g * sp.psi(x))
vjp(sp.psi,      _psi)
vjp(sp.beta,     lambda g, z, a, b: g * (z * (sp.psi(a) - sp.psi(a + b))),
                 lambda g, z, a, b: g * (z * (sp.psi(b) - sp.psi(a + b))))
vjp(sp.betaln,   lambda g, _z, a, b: g * (sp.psi(a) - sp.psi(a + b)),
                 lambda g, _z, a, b: g * (sp.psi(b) - sp.psi(a + b)))
vjp(sp.binom,    lambda g, z, n, k: g * (z * (sp.psi(n + 1) - sp.psi(n - k + 1))),
                 lambda g, z, n, k: g * (z * (sp.psi(n - k + 1) - sp.psi(k + 1))))
vjp(sp.poch,     lambda g, y, z, m: g * (y * (sp.psi(z + m) - sp.psi(z))),
                 lambda g, y, z, m: g * (y * sp.psi(z + m)))
# fmt: on
for _zeta_ufunc in inner_ufuncs("_zeta"):
    with_parameters(_zeta_ufunc, "x q", _zeta)


# -- incomplete gamma and beta functions: distribution functions, by their densities ----------------


def gamma_density(a: Any, x: Any) -> Any:
    """x**(a - 1) exp(-x) / gamma(a), computed by logarithms, because the factors overflow."""
    return np.exp(sp.xlogy(a - 1.0, x) - x - sp.gammaln(a))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """x**(a - 1) (1 - x)**(b - 1) / beta(a, b), computed by logarithms, because the factors overflow."""
    return np.exp(sp.xlogy(a - 1.0, x) + sp.xlog1py(b - 1.0, -x) - sp.betaln(a, b))


# fmt: off
with_parameters(sp.gammainc,     "a x",   lambda g, _y, x, a: g * gamma_density(a, x))
with_parameters(sp.gammaincc,    "a x",   lambda g, _y, x, a: -g * gamma_density(a, x))
with_parameters(sp.gammaincinv,  "a p",   lambda g, y, _p, a: g / gamma_density(a, y))
with_parameters(sp.gammainccinv, "a p",   lambda g, y, _p, a: -g / gamma_density(a, y))
with_parameters(sp.betainc,      "a b x", lambda g, _y, x, a, b: g * beta_density(a, b, x))
with_parameters(sp.betaincc,     "a b x", lambda g, _y, x, a, b: -g * beta_density(a, b, x))
with_parameters(sp.betaincinv,   "a b p", lambda g, y, _p, a, b: g / beta_density(a, b, y))
with_parameters(sp.betainccinv,  "a b p", lambda g, y, _p, a, b: -g / beta_density(a, b, y))
# fmt: on


# -- Bessel functions: DLMF 10.6, 10.29 -------------------------------------------------------------


def by_adjacent_orders(function: Function, below: float, above: float) -> Function:
    """Return the slope of a Bessel function: a combination of the functions of the orders below and above."""
    return lambda z, v: below * function(v - 1.0, z) + above * function(v + 1.0, z)


BESSEL = {
    sp.jv: by_adjacent_orders(sp.jv, 0.5, -0.5),
    sp.yv: by_adjacent_orders(sp.yv, 0.5, -0.5),
    sp.yn: by_adjacent_orders(sp.yv, 0.5, -0.5),
    sp.iv: by_adjacent_orders(sp.iv, 0.5, 0.5),
    sp.kv: by_adjacent_orders(sp.kv, -0.5, -0.5),
    sp.kn: by_adjacent_orders(sp.kv, -0.5, -0.5),
    sp.hankel1: by_adjacent_orders(sp.hankel1, 0.5, -0.5),
    sp.hankel2: by_adjacent_orders(sp.hankel2, 0.5, -0.5),
}


def _bessel(function: Function, slope: Function) -> None:
    with_parameters(function, "v z", lambda g, _y, z, v: g * slope(z, v))


def _scaled(function: Function, slope: Function, factor: complex) -> None:
    """Add a function scaled by an exponential whose derivative is `factor` times itself."""
    with_parameters(function, "v z", lambda g, y, z, v: g * (slope(z, v) + factor * y))


def _scaled_by_real(function: Function, slope: Function) -> None:
    """Add a function scaled by exp(-abs(real(z)))."""
    with_parameters(
        function,
        "v z",
        lambda g, y, z, v: g * slope(z, v) - np.sign(np.real(z)) * np.real(g * y),
    )


def _scaled_by_imag(function: Function, slope: Function) -> None:
    """Add a function scaled by exp(-abs(imag(z)))."""

    def rule(g: Any, y: Any, z: Any, v: Any) -> Any:
        dz = g * slope(z, v)
        return dz + 1j * (np.sign(np.imag(z)) * np.real(g * y)) if z.dtype.kind == "c" else dz

    with_parameters(function, "v z", rule)


for _function, _slope in BESSEL.items():
    _bessel(_function, _slope)

_scaled(sp.kve, by_adjacent_orders(sp.kve, -0.5, -0.5), 1)
_scaled(sp.hankel1e, by_adjacent_orders(sp.hankel1e, 0.5, -0.5), -1j)
_scaled(sp.hankel2e, by_adjacent_orders(sp.hankel2e, 0.5, -0.5), 1j)
_scaled_by_real(sp.ive, by_adjacent_orders(sp.ive, 0.5, 0.5))
_scaled_by_imag(sp.jve, by_adjacent_orders(sp.jve, 0.5, -0.5))
_scaled_by_imag(sp.yve, by_adjacent_orders(sp.yve, 0.5, -0.5))

# fmt: off
vjp(sp.j0,  lambda g, _y, x: -g * sp.j1(x))
vjp(sp.j1,  lambda g, _y, x: g * BESSEL[sp.jv](x, 1))
vjp(sp.y0,  lambda g, _y, x: -g * sp.y1(x))
vjp(sp.y1,  lambda g, _y, x: g * BESSEL[sp.yv](x, 1))
vjp(sp.i0,  lambda g, _y, x: g * sp.i1(x))
vjp(sp.i1,  lambda g, _y, x: g * BESSEL[sp.iv](x, 1))
vjp(sp.k0,  lambda g, _y, x: -g * sp.k1(x))
vjp(sp.k1,  lambda g, _y, x: g * BESSEL[sp.kv](x, 1))
vjp(sp.i0e, lambda g, y, x: g * (sp.i1e(x) - np.sign(x) * y))
vjp(sp.i1e, lambda g, y, x: g * ((sp.i0e(x) + sp.ive(2.0, x)) / 2 - np.sign(x) * y))
vjp(sp.k0e, lambda g, y, x: g * (y - sp.k1e(x)))
vjp(sp.k1e, lambda g, y, x: g * (y - (sp.k0e(x) + sp.kve(2.0, x)) / 2))
with_results(sp.airy, lambda g, y, z: g[0] * y[1] + g[1] * (z * y[0]) + g[2] * y[3] + g[3] * (z * y[2]))
# fmt: on


# -- integrals, hypergeometric and elliptic functions -----------------------------------------------


def _expn(g: Any, y: Any, x: Any, n: Any) -> Any:
    """Minus the integral of order n - 1; for n = 0, the derivative of exp(-x) / x (DLMF 8.19.12, 8.19.13)."""
    below = sp.expn(np.maximum(n, 1) - 1, x)
    return -g * np.where(n == 0, (np.exp(-x) + y) / x, below)


def _spence(g: Any, _y: Any, z: Any) -> Any:
    """log(z) / (1 - z), or near 1 Gauss's hypergeometric function, which doesn't cancel (DLMF 15.4.1)."""
    z = as_complex_like(_y, z)
    near = abs(z - 1) < 0.5
    far = np.where(near, 3, z)
    close = sp.hyp2f1(1.0, 1.0, 2.0, 1 - np.where(near, z, 1))
    return g * np.where(near, -close, np.log(far) / (1 - far))


def over(function: Function, z: Any) -> Any:
    """Return sin(z) / z, or sinh(z) / z for sinh, by sinc, which is 1 at 0."""
    if function is np.sin:
        return np.sinc(z / math.pi)
    return (
        np.sinc(z * (1j / math.pi)) if z.dtype.kind == "c" else np.real(np.sinc(z * (1j / math.pi)))
    )


def unless_zero(g: Any, z: Any) -> Any:
    """Return g / z, or 0 where both are 0: a result that isn't used adds nothing in any order."""
    return g / np.where((g == 0) & (z == 0), 1, z)


# fmt: off
vjp(sp.exp1,        lambda g, _y, x: -g * (np.exp(-x) / x))
vjp(sp.expi,        lambda g, _y, x: g * (np.exp(x) / x))
vjp(sp.spence,      _spence)
vjp(sp.wrightomega, lambda g, y, _z: g * (y / (1 + y)))
vjp(sp.ellipk,      lambda g, _y, m: g * (math.pi / 8 * sp.hyp2f1(1.5, 1.5, 2.0, m)))  # DLMF 19.5.1
vjp(sp.ellipe,      lambda g, _y, m: -g * (math.pi / 8 * sp.hyp2f1(0.5, 1.5, 2.0, m)))  # DLMF 19.5.2
with_results(sp.sici,    lambda g, _y, z: g[0] * over(np.sin, z) + unless_zero(g[1] * np.cos(z), z))
with_results(sp.shichi,  lambda g, _y, z: g[0] * over(np.sinh, z) + unless_zero(g[1] * np.cosh(z), z))
with_results(sp.fresnel, lambda g, _y, z: g[0] * np.sin(math.pi / 2 * z * z) + g[1] * np.cos(math.pi / 2 * z * z))
with_parameters(sp.expn,   "n x",     _expn)
with_parameters(sp.hyp0f1, "v z",     lambda g, _y, z, v: g * (sp.hyp0f1(v + 1.0, z) / v))
with_parameters(sp.hyp1f1, "a b x",   lambda g, _y, x, a, b: g * (a / b * sp.hyp1f1(a + 1.0, b + 1.0, x)))
with_parameters(sp.hyp2f1, "a b c z", lambda g, _y, z, a, b, c: g * (
    a * b / c * sp.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)))
with_parameters(sp.hyperu, "a b x",   lambda g, _y, x, a, b: -g * (a * sp.hyperu(a + 1.0, b + 1.0, x)))
# fmt: on
for _lambertw in inner_ufuncs("_lambertw"):
    vjp(
        _lambertw,
        lambda g, y, _z, _k, _tol: g * (np.exp(-y) / (1 + y)),
        None,
        None,
        name="lambertw",
    )


# -- orthogonal polynomials: the derivative is a polynomial one degree below, DLMF 18.9 -------------
#
# For a degree that isn't a non-negative integer, they are hypergeometric functions, DLMF 18.5.


def one_less(n: Any) -> Any:
    """Return the degree of the derivative."""
    return np.maximum(n, 1) - 1


def by_degree(n: Any, integer_formula: Function, general_formula: Function) -> Any:
    """Return the slope by a formula for non-negative integer degrees, and a general formula for other degrees."""
    n = np.asarray(n)
    ordinary = (n >= 0) & (n == np.floor(n))
    if np.all(ordinary):
        return integer_formula(n)
    return np.where(
        ordinary,
        integer_formula(np.where(ordinary, n, 0)),
        general_formula(np.where(ordinary, 0.5, n)),
    )


def binomial_at_one(top: Any, n: Any) -> Any:
    """Return the binomial coefficient of `top` over n, or 0 for negative integers n, whose polynomials are 0."""
    return np.where(n == np.floor(n), 0, sp.binom(top, n))


def jacobi_slope(n: Any, a: Any, b: Any, x: Any) -> Any:
    """Return the derivative of Jacobi's polynomial, divided by the value of the polynomial at 1."""
    s = n + a + b + 1
    return n * s / (2 * (a + 1)) * sp.hyp2f1(1 - n, s + 1, a + 2, (1 - x) / 2)


def laguerre_slope(n: Any, alpha: Any, x: Any) -> Any:
    """Return the derivative of Laguerre's generalized polynomial."""
    return by_degree(
        n,
        lambda n: -((n != 0) * sp.eval_genlaguerre(one_less(n), alpha + 1.0, x)),
        lambda n: (
            -(n / (alpha + 1) * binomial_at_one(n + alpha, n) * sp.hyp1f1(1 - n, alpha + 2, x))
        ),
    )


def chebyt_slope(n: Any, x: Any) -> Any:
    """Return the derivative of T_n, which equals T_-n, in the form that SciPy computes best (DLMF 15.8.1)."""
    return by_degree(
        np.abs(n),
        lambda n: n * sp.eval_chebyu(one_less(n), x),
        lambda n: n * n * np.sqrt(2 / (1 + x)) * sp.hyp2f1(0.5 + n, 0.5 - n, 1.5, (1 - x) / 2),
    )


# fmt: off
with_parameters(sp.eval_legendre,    "n x",
    lambda g, _y, x, n: g * by_degree(n,
        lambda n: (n != 0) * sp.eval_gegenbauer(one_less(n), 1.5, x),
        lambda n: jacobi_slope(n, 0.0, 0.0, x)))
with_parameters(sp.eval_chebyt,      "n x",
    lambda g, _y, x, n: g * chebyt_slope(n, x))
with_parameters(sp.eval_chebyu,      "n x",
    lambda g, _y, x, n: g * by_degree(n,
        lambda n: (n != 0) * 2 * sp.eval_gegenbauer(one_less(n), 2.0, x),
        lambda n: (n + 1) * jacobi_slope(n, 0.5, 0.5, x)))
with_parameters(sp.eval_hermite,     "n x",
    lambda g, _y, x, n: g * (2 * n * sp.eval_hermite(one_less(n), x)))
with_parameters(sp.eval_hermitenorm, "n x",
    lambda g, _y, x, n: g * (n * sp.eval_hermitenorm(one_less(n), x)))
with_parameters(sp.eval_laguerre,    "n x",
    lambda g, _y, x, n: g * laguerre_slope(n, 0.0, x))
with_parameters(sp.eval_genlaguerre, "n alpha x",
    lambda g, _y, x, n, alpha: g * laguerre_slope(n, alpha, x))
with_parameters(sp.eval_gegenbauer,  "n alpha x",
    lambda g, _y, x, n, alpha: g * by_degree(n,
        lambda n: (n != 0) * (2 * alpha) * sp.eval_gegenbauer(one_less(n), alpha + 1.0, x),
        lambda n: binomial_at_one(n + 2 * alpha - 1, n) * jacobi_slope(n, alpha - 0.5, alpha - 0.5, x)))
with_parameters(sp.eval_jacobi,      "n alpha beta x",
    lambda g, _y, x, n, alpha, beta: g * by_degree(n,
        lambda n: (n != 0) * (n + alpha + beta + 1) / 2 * sp.eval_jacobi(one_less(n), alpha + 1.0, beta + 1.0, x),
        lambda n: binomial_at_one(n + alpha, n) * jacobi_slope(n, alpha, beta, x)))
# fmt: on


# -- without derivative -----------------------------------------------------------------------------

not_differentiable(sp.gammasgn, sp.round)
