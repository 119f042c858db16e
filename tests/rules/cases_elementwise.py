"""Cases of the elementwise functions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic import constant
from tapemagic.engine.rules.elementwise import clip_, nan_to_num_, where_
from tapemagic.errors import ImmutableError, NoDerivativeError, OptionError, UnsupportedArgumentError
from tests.rules.harness import (
    BROADCAST,
    between,
    case,
    complexes,
    derivative,
    normal,
    plain,
    positive,
    refused,
    special,
)

INF, NAN, PI = np.inf, np.nan, np.pi
SHAPES = ((), (3,), (2, 3), (0,))


def inside(*shape: int, seed: int = 0) -> Any:
    """Numbers between -0.9 and 0.9."""
    return between(-0.9, 0.9, *shape, seed=seed)


def beyond_one(*shape: int, seed: int = 0) -> Any:
    """Numbers between 1.2 and 3."""
    return between(1.2, 3.0, *shape, seed=seed)


def off_zero(*shape: int, seed: int = 0) -> Any:
    """Numbers of both signs, away from 0."""
    return positive(*shape, seed=seed) * np.where(normal(*shape, seed=seed + 100) < 0, -1.0, 1.0)[()]


def parts(z: Any) -> Any:
    """A real number of the real and the imaginary parts."""
    return np.real(z) + 2 * np.imag(z)


# -- smooth around their inputs --------------------------------------------------------------------

UNARY: list[tuple[Any, Callable[..., Any]]] = [
    (np.negative, normal), (np.positive, normal), (np.absolute, off_zero), (np.fabs, off_zero),
    (np.sign, off_zero), (np.square, normal), (np.sqrt, positive), (np.cbrt, off_zero),
    (np.reciprocal, off_zero), (np.exp, normal), (np.exp2, normal), (np.expm1, normal), (np.log, positive),
    (np.log2, positive), (np.log10, positive), (np.log1p, positive), (np.sin, normal), (np.cos, normal),
    (np.tan, inside), (np.arcsin, inside), (np.arccos, inside), (np.arctan, normal), (np.sinh, normal),
    (np.cosh, normal), (np.tanh, normal), (np.arcsinh, normal), (np.arccosh, beyond_one), (np.arctanh, inside),
    (np.deg2rad, normal), (np.rad2deg, normal), (np.degrees, normal), (np.radians, normal), (np.sinc, normal),
    (np.real, normal), (np.imag, normal), (np.conjugate, normal), (np.angle, off_zero),
    (np.real_if_close, normal), (np.nan_to_num, normal),
]  # fmt: skip

COMPLEX: list[Any] = [
    np.negative, np.positive, np.absolute, np.sign, np.square, np.sqrt, np.reciprocal,
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p,
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinc,
    np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh,
    np.real, np.imag, np.conjugate, np.angle, np.real_if_close, np.nan_to_num,
]  # fmt: skip

BINARY: list[tuple[Any, Callable[..., Any], Callable[..., Any]]] = [
    (np.add, normal, normal), (np.subtract, normal, normal), (np.multiply, normal, normal),
    (np.divide, normal, off_zero), (np.power, positive, normal), (np.float_power, positive, normal),
    (np.copysign, off_zero, off_zero), (np.heaviside, off_zero, normal), (np.logaddexp, normal, normal),
    (np.logaddexp2, normal, normal), (np.hypot, off_zero, normal), (np.arctan2, off_zero, off_zero),
]  # fmt: skip

ORDERED = [np.maximum, np.minimum, np.fmax, np.fmin]


CASES = [
    *(case(f, None, make(*shape), label=str(shape)) for f, make in UNARY for shape in SHAPES),
    *(case(f, None, complexes(*shape), label=f"complex {shape}") for f in COMPLEX for shape in ((), (2, 3))),
    *(
        case(f, None, first(*a), second(*b, seed=1), label=f"{a} {b}")
        for f, first, second in BINARY
        for a, b in BROADCAST
    ),
    *(case(f, None, inside(*a), 2 * off_zero(*b, seed=1), label=f"{a} {b}") for f in ORDERED for a, b in BROADCAST),
    *(
        case(f, None, np.full(a, 5.3)[()], off_zero(*b, seed=3), label=f"{a} {b}")
        for f in (np.remainder, np.fmod)
        for a, b in BROADCAST
    ),
    *(
        case(f, None, complexes(3), second(2, 3, seed=1), label=f"complex {second.__name__}")
        for f in (np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power)
        for second in (complexes, positive)
    ),
    case(np.power, None, off_zero(3), complexes(3, seed=1), label="real complex"),
    # operands that are Python numbers, NumPy numbers, or arrays that nobody watches
    case(np.add, lambda x: 2 + x + 3.0, normal(3), label="number"),
    case(np.subtract, lambda x: 2 - x - np.float64(3), normal(3), label="number"),
    case(np.multiply, lambda x: 2 * x * np.array([1, 2, 3]), normal(3), label="number"),
    case(np.divide, lambda x: 2 / x / 3, off_zero(3), label="number"),
    case(np.remainder, lambda x: x % 2, np.array([0.5, -0.5, 7.0]), label="number"),
    case(np.remainder, lambda x: 7.0 % x, np.array([2.0, -2.0]), label="number first"),
    case(np.fmod, lambda x: np.fmod(x, -2), np.array([0.5, -0.5, 7.0]), label="negative"),
    case(np.fmod, lambda x: np.fmod(-7.0, x), np.array([2.0, -2.0]), label="number first"),
    *(
        case(np.power, lambda x, n=n: x**n, off_zero(2, 3), label=f"constant {n!r}")
        for n in (0, 1, 2, 3, -1, -2, 3.0, True, np.float64(2), np.int64(3), np.float32(2))
    ),
    case(np.power, lambda x: x**0.5 + x**-1.5, positive(3), label="fraction"),
    case(np.power, lambda x: x ** np.array([0, 1, 2]), off_zero(2, 3), label="whole numbers"),
    case(np.power, lambda x: x ** np.array([0, 1, 2], np.uint8), off_zero(2, 3), label="unsigned"),
    case(np.power, lambda x: x ** np.array([False, True]), off_zero(3, 2), label="truth values"),
    case(np.power, lambda x: x**2, complexes(3), label="complex constant"),
    case(np.power, lambda x: x ** (2 + 1j), complexes(3), label="complex exponent"),
    case(np.power, lambda x: 2**x + 0.5**x, normal(3), label="number first"),
    case(np.power, lambda x: (1 + 2j) ** x, complexes(3), label="complex number first"),
    case(np.power, lambda x: np.array([1, 2, 3]) ** x, normal(3), label="whole numbers first"),
    case(np.power, None, positive(2), np.zeros(2), label="exponent 0"),
    case(np.float_power, lambda x: np.float_power(x, 2), off_zero(3), label="constant"),
    case(np.float_power, lambda x: np.float_power(2, x), normal(3), label="number first"),
    *(
        case(f, lambda x, f=f: parts(f(x, dtype=complex)), x, label="as complex")
        for f in (np.arcsin, np.arccos, np.arccosh)
        for x in (beyond_one(3), -beyond_one(3), inside(3))
    ),
    *(
        case(f, lambda x, y, f=f: parts(f(x, y, dtype=complex)), -positive(3), normal(3), label="as complex")
        for f in (np.power, np.float_power)
    ),
    case(np.power, lambda x: parts(np.power(x, 0.5, dtype=complex)), -2.0, label="as complex"),
    case(np.ldexp, lambda x: np.ldexp(x, np.array([1, -2, 3])), normal(2, 3)),
    case(np.ldexp, lambda x: np.ldexp(x, 2), normal(), label="number"),
    case(np.divmod, None, np.array([5.3, -5.3]), np.array([2.0, 3.0])),
    case(np.divmod, lambda x, y: np.divmod(x, y, casting="same_kind"), 5.3, 2.0, label="options"),
    case(np.copysign, lambda x: np.copysign(x, -1.0), off_zero(3), label="number"),
    case(np.heaviside, lambda h: np.heaviside(np.array([-1.0, 0.0, 1.0]), h), 0.5, label="at 0"),
    case(np.hypot, lambda x: np.hypot(3, x), normal(3), label="number"),
    case(np.arctan2, lambda y: np.arctan2(y, -1), off_zero(3), label="number"),
    case(np.arctan2, lambda x: np.arctan2(1, x), normal(3), label="number first"),
    case(np.logaddexp, lambda x: np.logaddexp(x, 0), normal(3), label="number"),
    case(np.logaddexp, None, normal(3), normal(3), label="equal"),
    case(np.logaddexp2, None, normal(3), normal(3), label="equal"),
    case(np.logaddexp, None, np.array([0.0, 700.0]), np.array([700.0, 0.0]), label="far apart"),
    case(np.sinc, None, np.array([0.0, 1e-8, 1e-3, 0.299, 0.301, 1.0, -2.0]), label="near 0"),
    case(np.expm1, None, np.array([-40.0, 1e-9, 20.0]), label="wide"),
    case(np.log1p, None, np.array([1e-9, 1e9]), label="wide"),
    case(np.absolute, abs, off_zero(3), label="builtin"),
    case(np.absolute, lambda x: np.absolute(np.sqrt(x)), -positive(3) + 0.5j, label="of complex"),
    case(np.angle, lambda x: np.angle(x, True), complexes(3), label="degrees"),
    case(np.angle, lambda x: np.angle(x, deg=True), off_zero(3), label="degrees real"),
    case(np.real_if_close, lambda x: np.real_if_close(x + 0j), normal(3), label="close"),
    case(np.real_if_close, lambda x: np.real_if_close(x, tol=1e18), complexes(3) / 100, label="tolerant"),
    # choices
    case(np.maximum, lambda x: np.maximum(x, 0), off_zero(2, 3), label="number"),
    case(np.minimum, lambda x: np.minimum(0, x), off_zero(2, 3), label="number first"),
    case(np.minimum, lambda x: np.array([1.0, 9.0]).clip(max=x), 5.0, label="clip of an array"),
    case(np.clip, lambda x: np.clip(x, -0.5, 0.5), np.array([-1.0, 0.1, 0.3, 2.0])),
    case(np.clip, lambda x: np.clip(x, None, 0.5), np.array([0.3, 2.0]), label="only above"),
    case(np.clip, lambda x: np.clip(x, -0.5, None), np.array([-2.0, 0.3]), label="only below"),
    case(np.clip, lambda x: np.clip(a=x, a_min=-0.5, a_max=0.5), np.array([-2.0, 0.3]), label="names"),
    case(np.clip, lambda x: np.clip(x, -0.5, 0.5, dtype=float), np.array([-2.0, 0.3]), label="dtype"),
    case(np.clip, None, *np.array([[-1.0, 0.5, 2.0], [0.0, 0.1, 0.2], [1.0, 1.1, 1.2]]), label="arrays"),
    case(np.clip, None, np.array([[-1.0], [0.5], [2.0]]), 0.0, np.array([1.0, 1.5]), label="broadcast"),
    case(np.clip, None, 0.5, np.array([0.0, 1.0]), np.array([2.0, 2.5]), label="broadcast up"),
    case(np.clip, None, np.array([-1.0, 1.5, 3.0]), 2.0, 1.0, label="crossed limits"),
    case(np.clip, lambda x, low: np.clip(x, low, [1.0, 1.5]), np.array([-1.0, 2.0]), 0.0, label="list"),
    case(np.clip, lambda x: x.clip(-0.5, 0.5), np.array([-1.0, 0.1, 2.0]), label="method"),
    case(clip_, None, np.array([-1.0, 0.5, 2.0]), 0.0, 1.0),
    *(
        case(np.where, lambda x, y: np.where(np.array([True, False, True]), x, y), *pair, label=label)
        for label, pair in {
            "both": (normal(3), normal(3, seed=1)),
            "broadcast": (normal(2, 3), normal()),
            "broadcast up": (normal(), normal(2, 1)),
            "complex": (complexes(3), normal(3)),
        }.items()
    ),
    case(np.where, lambda x: np.where(x > 0, x, 0), off_zero(2, 3), label="own condition"),
    case(np.where, lambda x: np.where([True, False], (1, 2), x), normal(2), label="lists"),
    case(np.where, lambda x: np.where([[True], [False]], x, 1), normal(), label="condition is larger"),
    case(np.where, lambda x: x * np.where(x)[0], off_zero(3), label="one argument"),
    case(where_, lambda x, y: where_(np.array([True, False]), x, y), normal(2), normal(2, seed=1)),
    case(np.nan_to_num, lambda x: np.nan_to_num(x + np.array([1, NAN, INF, NAN]), posinf=1), positive(4), label="all"),
    case(
        np.nan_to_num,
        lambda x, a, b, c: np.nan_to_num(x + np.array([1, NAN, INF, -INF]), True, a, b, c),
        positive(2, 4),
        1.0,
        np.array([1.0, 2.0, 3.0, 4.0]),
        3.0,
        label="replacements",
    ),
    case(
        np.nan_to_num,
        lambda x, a, b: np.nan_to_num(x + np.array([0, NAN, 1j * NAN, 1j * INF]), nan=a, posinf=b),
        complexes(4),
        2.0,
        3.0,
        label="parts",
    ),
    case(nan_to_num_, lambda x: nan_to_num_(x, 0.0, None, None), normal(3)),
]


# -- special points --------------------------------------------------------------------------------


def at(function: Any, points: Any, expected: Any, label: str = "", call: Any = None, warns: bool = False) -> Any:
    """A special point of a function of one argument."""
    return special(function, call, (np.array(points)[()],), (expected,), label, warns)


def between_two(function: Any, x: Any, y: Any, expected: Any, label: str = "", warns: bool = False) -> Any:
    """A special point of a function of two arguments."""
    return special(function, None, (np.array(x)[()], np.array(y)[()]), expected, label, warns)


def power(n: Any) -> Callable[..., Any]:
    """``x**n``, with a constant n."""
    return lambda x: x**n


POWERS_AT_0 = ((0, (0, 0, 0)), (0.0, (0, 0, 0)), (1, (1, 0, 0)), (2, (0, 2, 0)), (2.0, (0, 2, 0)), (3, (0, 0, 6)))

SPECIAL = [
    at(np.absolute, 0.0, 0.0),
    at(np.absolute, [0j, 3 + 4j], [0, 0.6 + 0.8j], "complex"),
    at(np.absolute, 0.0, 0.0, "order 2", derivative(np.absolute)),
    at(np.arcsinh, [1e200, -1e200], [1e-200, 1e-200], "large"),
    at(np.fabs, [-0.0, 0.0], [0.0, 0.0]),
    at(np.sign, [2.0, 0.0, -INF], [0.0, 0.0, 0.0]),
    at(np.sign, 0j, 0j, "complex"),
    at(np.sign, 0.0, 0.0, "under a root", lambda x: np.sqrt(np.sign(x)), warns=True),
    at(np.sqrt, 0.0, INF, warns=True),
    at(np.sqrt, np.zeros(0), np.zeros(0), "empty"),
    at(np.cbrt, 0.0, INF, warns=True),
    at(np.log, 0.0, INF, warns=True),
    at(np.exp, [-INF, 0.0], [0.0, 1.0]),
    at(np.tanh, [INF, -1000.0, 1000.0], [0.0, 0.0, 0.0]),
    at(np.arccosh, 1.0, INF, warns=True),
    at(np.arcsin, 1.0, INF, warns=True),
    at(np.arctan, INF, 0.0),
    between_two(np.maximum, 1.0, 1.0, (1.0, 0.0), "tie"),
    between_two(np.minimum, 1.0, 1.0, (1.0, 0.0), "tie"),
    between_two(np.fmax, 1.0, 1.0, (1.0, 0.0), "tie"),
    between_two(np.fmin, 1.0, 1.0, (1.0, 0.0), "tie"),
    between_two(np.maximum, [0.0, INF], [-0.0, INF], ([1.0, 1.0], [0.0, 0.0]), "signed zeros, infinities"),
    between_two(np.fmax, [NAN, 1.0, NAN], [1.0, NAN, NAN], ([0.0, 1.0, 1.0], [1.0, 0.0, 0.0]), "nan"),
    between_two(np.fmin, [NAN, 1.0, NAN], [1.0, NAN, NAN], ([0.0, 1.0, 1.0], [1.0, 0.0, 0.0]), "nan"),
    at(np.maximum, [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0], "tie with a number", lambda x: np.maximum(x, 0)),
    at(np.maximum, [-1.0, 4.0], [0.0, 0.25], "inside a root", lambda x: np.sqrt(np.maximum(x, 0)), True),
    at(np.clip, [0.0, 1.0, -1.0, 2.0], [1.0, 1.0, 0.0, 0.0], "ends", lambda x: np.clip(x, 0, 1)),
    at(np.clip, [0.0, 1.0, 2.0], [1.0, 1.0, 1.0], "no limits", lambda x: np.clip(x, -INF, INF)),
    at(np.clip, [0.0, 1.0], [0.0, 1.0], "min=", lambda x: x.clip(min=0.5)),
    at(np.clip, [0.0, 1.0], [1.0, 0.0], "max=", lambda x: x.clip(max=0.5)),
    special(np.clip, None, (0.5, 0.5, 0.5), (1.0, 0.0, 0.0), "ties"),
    special(np.clip, None, (0.0, 2.0, 1.0), (0.0, 0.0, 1.0), "crossed limits"),
    at(np.where, 0.0, 0.0, "log", lambda x: np.where(x > 0, np.log(x), 0), True),
    at(np.where, [-1.0, 4.0], [0.0, 0.25], "safe", lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1)), 0)),
    at(np.where, [1.0, 2.0], None, "condition only", lambda x: np.where(x > 1, 1.0, 0.0)),
    special(
        np.where, None, (np.array([True, False]), np.ones(2), np.ones(2)), (None, [1.0, 0.0], [0.0, 1.0]), "condition"
    ),
    at(np.nan_to_num, [1.0, NAN, INF, -INF], [1.0, 0.0, 0.0, 0.0]),
    at(np.nan_to_num, [complex(1, NAN), complex(INF, 1)], [1, -1j], "parts", lambda z: np.nan_to_num(z) * (1 + 1j)),
    # powers at 0
    *(
        at(np.power, 0.0, float(d), f"order {order} of x**{n!r}", derivative(power(n), order - 1))
        for n, slopes in POWERS_AT_0
        for order, d in enumerate(slopes, 1)
    ),
    at(np.power, [0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], "array", power(np.arange(4))),
    at(np.power, [0.0] * 4, [0.0, 0.0, 2.0, 0.0], "order 2, array", derivative(power(np.arange(4)))),
    at(np.power, [0.0] * 4, [0.0, 1.0, 0.0, 0.0], "unsigned", power(np.arange(4, dtype=np.uint8))),
    at(np.power, 0.0, INF, "root", power(0.5), True),
    at(np.power, 0j, 0j, "complex", power(2)),
    at(np.power, 0.0, 0.0, "exponent is a tensor", lambda x: x ** constant(0)),
    at(np.power, 2.0, 0.0, "0**x", lambda x: 0**x),
    at(np.power, 2.0, 0.0, "0.0**x", lambda x: np.zeros(()) ** x),
    at(np.power, 2.0, 0.0, "(-2)**x", lambda x: (-2) ** x),
    between_two(np.power, 0.0, 0.0, (0.0, 0.0), "(0, 0)"),
    between_two(np.power, 0.0, 1.0, (1.0, 0.0), "(0, 1)"),
    between_two(np.power, 0.0, 2.0, (0.0, 0.0), "(0, 2)"),
    between_two(np.power, -2.0, 3.0, (12.0, 0.0), "(-2, 3)"),
    between_two(np.power, [0.0, -2.0, 2.0], [2.0, 3.0, 0.0], ([0, 12, 0], [0, 0, np.log(2)]), "several"),
    between_two(np.power, 0j, 2 + 0j, (0j, 0j), "complex"),
    between_two(np.float_power, 0.0, 0.0, (0.0, 0.0), "(0, 0)"),
    between_two(np.float_power, -2.0, 3.0, (12.0, 0.0), "(-2, 3)"),
    # two arguments
    between_two(np.remainder, 7.0, 3.0, (1.0, -2.0)),
    between_two(np.remainder, -7.0, 3.0, (1.0, 3.0), "negative"),
    between_two(np.fmod, -7.0, 3.0, (1.0, 2.0), "negative"),
    between_two(np.fmod, 1.0, 0.1, (1.0, -9.0), "rounding"),
    between_two(np.remainder, 1.0, 0.1, (1.0, -9.0), "rounding"),
    between_two(np.divmod, 7.0, 3.0, (1.0, -2.0)),
    between_two(np.arctan2, 0.0, 0.0, (0.0, 0.0)),
    between_two(np.arctan2, [0.0, 1e-200, 1e200], [-1.0, 0.0, 0.0], ([-1, 0, 0], [0, -1e200, -1e-200]), "sizes"),
    between_two(np.hypot, 0.0, 0.0, (0.0, 0.0)),
    between_two(np.hypot, [3e200, 0.0], [4e200, -1.0], ([0.6, 0.0], [0.8, -1.0]), "sizes"),
    between_two(np.hypot, [5e-324, 0.0], [0.0, -5e-324], ([1.0, 0.0], [0.0, -1.0]), "smallest"),
    between_two(np.arctan2, [0.0, 0.0], [5e-324, -5e-324], ([INF, -INF], [0.0, 0.0]), "smallest", warns=True),
    *(
        special(f, None, [z], [slope], label=f"at the cut {z}")
        for z, sign in ((2 + 0j, 1j), (complex(2, -0.0), -1j), (complex(-2, 0), -1j), (complex(-2, -0.0), 1j))
        for f, slope in ((np.arcsin, -sign / 3**0.5), (np.arccos, sign / 3**0.5))
    ),
    special(np.arccosh, None, [complex(0.5, 0)], [2j / 3**0.5], label="on the cut"),
    special(np.arccosh, None, [complex(0.5, -0.0)], [-2j / 3**0.5], label="under the cut"),
    at(np.hypot, 0.0, NAN, "order 2", derivative(lambda x: np.hypot(x, 0))),
    at(np.arctan2, 0.0, NAN, "order 2", derivative(lambda x: np.arctan2(x, 0))),
    *(
        between_two(
            f,
            [INF, -INF, INF, -INF, 1.0],
            [INF, -INF, 1.0, 1.0, -INF],
            ([0.5, 0.5, 1.0, 0.0, 1.0], [0.5, 0.5, 0.0, 1.0, 0.0]),
            "infinities",
        )
        for f in (np.logaddexp, np.logaddexp2)
    ),
    between_two(np.logaddexp, [1e4, -1e4, 1e4], [1e4, -1e4, -1e4], ([0.5, 0.5, 1.0], [0.5, 0.5, 0.0]), "large"),
    between_two(np.copysign, 0.0, -1.0, (0.0, 0.0)),
    between_two(np.copysign, [-2.0, 2.0], [-0.0, -3.0], ([1.0, -1.0], [0.0, 0.0]), "signs"),
    between_two(np.heaviside, [0.0, 1.0], [0.5, 0.5], ([0.0, 0.0], [1.0, 0.0])),
    at(np.real, [1.0, 2.0], [1.0, 1.0]),
    at(np.real, 1 + 2j, 1, "complex"),
    at(np.imag, 1 + 2j, 1j, "complex"),
    at(np.imag, 1.0, 0.0),
    at(np.angle, 0j, 0j),
    at(np.angle, [-1.0, 0.0, 1.0], [0.0, 0.0, 0.0], "real"),
    at(np.multiply, 1 + 2j, 2 - 4j, "complex", lambda z: z * z),
    at(np.conjugate, 1 + 2j, 2 + 4j, "squared length", lambda z: np.real(z * np.conj(z))),
    at(np.conjugate, [1.0, 2.0], [1.0, 1.0]),
    *(
        at(np.sinc, 0.0, d, f"order {order}", derivative(np.sinc, order - 1))
        for order, d in enumerate((0.0, -(PI**2) / 3, 0.0, PI**4 / 5), 1)
    ),
    at(np.sinc, [1e-4, 0.0], [-(PI**2) / 3 * 1e-4 + PI**4 / 30 * 1e-12, 0.0], "near 0"),
    *(
        special(f, call, (np.array(1.5, np.float32)[()],), (expected,), "float32")
        for f, call, expected in (
            (np.multiply, lambda x: x * 2.0 * np.float64(3), 6.0),
            (np.power, lambda x: x**2, 3.0),
            (np.maximum, lambda x: np.maximum(x, 0.0), 1.0),
            (np.deg2rad, lambda x: np.rad2deg(np.deg2rad(x)), 1.0),
        )
    ),
]


# -- without derivative ----------------------------------------------------------------------------

NUMBERS = np.array([-1.5, 0.0, 0.5, 2.5, NAN, INF])
BITS = np.array([1, 2, 12])

OF_ONE: list[Any] = [
    np.logical_not, np.isnan, np.isinf, np.isfinite, np.isposinf, np.isneginf, np.signbit,
    np.isreal, np.iscomplex, np.isrealobj, np.iscomplexobj,
    np.floor, np.ceil, np.rint, np.trunc, np.fix, np.round, np.around,
    np.shape, np.ndim, np.size, np.array_repr, np.array_str, np.array2string,
]  # fmt: skip

OF_TWO: list[Any] = [
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.isclose, np.allclose, np.array_equal, np.array_equiv,
    np.logical_and, np.logical_or, np.logical_xor, np.result_type, np.common_type,
]  # fmt: skip

OF_TWO_WHOLE: list[Any] = [
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift, np.gcd, np.lcm,
]  # fmt: skip

OPERATORS: list[tuple[Any, Any]] = [
    (np.less, operator.lt), (np.less_equal, operator.le), (np.greater, operator.gt),
    (np.greater_equal, operator.ge), (np.equal, operator.eq), (np.not_equal, operator.ne),
    (np.floor_divide, operator.floordiv),
]  # fmt: skip

PLAIN = [
    *(plain(f, None, NUMBERS) for f in OF_ONE),
    *(plain(f, None, NUMBERS, np.array([-1.5, 1.0, -0.5, 2.5, 1.0, INF])) for f in OF_TWO),
    *(plain(f, None, BITS, np.array([1, 1, 3])) for f in OF_TWO_WHOLE),
    *(plain(f, call, normal(3), np.ones(3), label="operator") for f, call in OPERATORS),
    *(plain(f, None, BITS) for f in (np.invert, np.bitwise_count)),
    plain(np.spacing, None, NUMBERS[:4]),
    plain(np.min_scalar_type, None, np.float64(1.5)),
    plain(np.floor_divide, None, np.array([7.0, -7.0]), 2.0),
    plain(np.floor_divide, lambda x: 7 // x, np.array([2.0, -2.0]), label="reflected"),
    plain(np.round, lambda x: np.round(x, 1), np.array([1.25, -0.35]), label="decimals"),
    plain(np.around, lambda x: np.around(x, decimals=1), np.array([1.25, -0.35]), label="decimals"),
    plain(np.floor, None, np.float64(1.5), label="number"),
    plain(np.isclose, lambda x: np.isclose(x, 1, atol=1), NUMBERS, label="options"),
    plain(np.can_cast, lambda x: np.can_cast(x.dtype, np.float32), NUMBERS),
    plain(np.size, lambda x: np.size(x, 0), np.ones((2, 3)), label="axis"),
    plain(np.shape, None, np.float64(1.0), label="number"),
    plain(np.greater, lambda x: np.where(x > 0), NUMBERS, label="where"),
    plain(np.isrealobj, None, np.array([1j]), label="complex"),
    plain(np.iscomplex, None, np.array([1j, 1]), label="complex"),
]


# -- refused ---------------------------------------------------------------------------------------

UNKNOWN = np.frompyfunc(lambda x: x, 1, 1)
"""A ufunc that nobody has given a rule."""

REFUSED = [
    refused(np.clip, lambda x: np.clip(x, 0, 1, min=0), (normal(3),), OptionError, "twice"),
    refused(
        np.clip, lambda x: np.clip(x, 0, 1, where=np.ones(3, bool)), (normal(3),), UnsupportedArgumentError, "where"
    ),
    refused(np.clip, lambda x: np.clip(x, 0, 1, out=np.ones(3)), (normal(3),), ImmutableError, "out"),
    refused(np.nan_to_num, lambda x: np.nan_to_num(x, copy=False), (normal(3),), ImmutableError, "copy"),
    refused(np.add, lambda x: np.add(x, 1, out=np.ones(3)), (normal(3),), ImmutableError, "out"),
    refused(np.log, lambda x: np.log(x, where=np.ones(3, bool)), (positive(3),), UnsupportedArgumentError, "where"),
    refused(np.where, lambda x: np.where(x > 0, x), (normal(3),), ValueError, "both or neither"),
    refused(UNKNOWN, None, (normal(3),), NoDerivativeError, "has no derivative rule"),
]
