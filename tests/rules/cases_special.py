"""Cases of SciPy's special functions, where SciPy is installed."""

from __future__ import annotations

import importlib
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from tapemagic import GradientTape, constant
from tapemagic.engine import registry
from tapemagic.errors import NoDerivativeError, UnsupportedArgumentError
from tests.rules.harness import between, case, complexes, normal, plain, positive, refused, special

INF, NAN, PI = np.inf, np.nan, np.pi
PAIRS = (((), ()), ((3,), (3,)), ((3,), ()), ((), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)))
ORDERS = (0, 1, 2.5, -1.5, np.array([1, 2, 0]), np.array([[1], [2]]), [0, 1, 2])

sp: Any = None
if find_spec("scipy"):
    sp = importlib.import_module("scipy.special")
    registry.complete()


def inside(*shape: int, seed: int = 0) -> Any:
    """Numbers between -0.9 and 0.9."""
    return between(-0.9, 0.9, *shape, seed=seed)


def unit(*shape: int, seed: int = 0) -> Any:
    """Numbers between 0.1 and 0.9."""
    return between(0.1, 0.9, *shape, seed=seed)


def negative(*shape: int, seed: int = 0) -> Any:
    """Numbers between -2 and -1/2."""
    return -positive(*shape, seed=seed)


def above_one(*shape: int, seed: int = 0) -> Any:
    """Numbers between 1.2 and 3."""
    return between(1.2, 3.0, *shape, seed=seed)


def several(*shape: int, seed: int = 0) -> Any:
    """Numbers between 3 and 5."""
    return between(3.0, 5.0, *shape, seed=seed)


def off_zero(*shape: int, seed: int = 0) -> Any:
    """Numbers of both signs, away from 0."""
    sign = np.where(normal(*shape, seed=seed + 100) < 0, -1.0, 1.0)[()]
    return positive(*shape, seed=seed) * sign


def right(*shape: int, seed: int = 0) -> Any:
    """Complex numbers with a positive real part."""
    return positive(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 100)


def smooth() -> list[Any]:
    """All calls that are smooth around their inputs."""
    return [*unary(), *binary(), *parametrised()]


def unary() -> list[Any]:
    """Calls of functions of one argument."""
    makers: dict[Any, Any] = {
        normal: [
            sp.exp2, sp.exp10, sp.expm1, sp.cosm1, sp.sindg, sp.cosdg, sp.exprel, sp.expit, sp.log_expit,
            sp.erf, sp.erfc, sp.erfi, sp.erfcx, sp.dawsn, sp.ndtr, sp.log_ndtr,
            sp.j0, sp.j1, sp.i0, sp.i1, sp.airy, sp.fresnel, sp.wrightomega,
        ],
        positive: [
            sp.log1p, sp.entr, sp.gamma, sp.rgamma, sp.gammaln, sp.loggamma, sp.psi,
            sp.y0, sp.y1, sp.k0, sp.k1, sp.k0e, sp.k1e, sp.exp1, sp.spence, sp.sici, sp.shichi,
        ],
        inside: [sp.erfinv, sp.tandg, sp.ellipk, sp.ellipe],
        unit: [sp.logit, sp.erfcinv, sp.ndtri],
        negative: [sp.ndtri_exp, sp.gammaln, sp.rgamma, sp.ellipk, sp.ellipe],
        off_zero: [sp.cbrt, sp.cotdg, sp.i0e, sp.i1e, sp.expi],
        complexes: [
            sp.expm1, sp.erf, sp.erfc, sp.erfi, sp.erfcx, sp.dawsn, sp.wofz, sp.ndtr, sp.log_ndtr, sp.airy,
            sp.fresnel, sp.wrightomega,
        ],
        right: [sp.log1p, sp.exp1, sp.expi, sp.spence, sp.sici, sp.shichi],
    }  # fmt: skip
    shapes = ((), (3,), (2, 3))
    lambertw = sp._ufuncs._lambertw
    return [
        *(
            case(f, None, make(*shape), label=f"{make.__name__} {shape}")
            for make, functions in makers.items()
            for f in functions
            for shape in shapes
        ),
        *(case(f, None, normal(0), label="empty") for f in (sp.erf, sp.expit)),
        case(sp.wofz, None, normal(3), label="real"),
        *(case(lambertw, sp.lambertw, make(3), label=make.__name__) for make in (positive, complexes)),
        case(lambertw, lambda x: sp.lambertw(x, 1), positive(3), label="branch"),
        case(lambertw, lambda x: sp.lambertw(x, k=-1, tol=1e-10), complexes(3) + 3j, label="names"),
        case(sp.erfcx, None, np.array([9.9, 10.1, 30.0, 1e4, -2.0]), label="wide"),
        case(sp.dawsn, None, np.array([9.9, 10.1, -30.0, 1e4, -9.9]), label="wide"),
        case(sp.exprel, None, np.array([-800.0, -30.0, -1e-3, 1e-9, 0.0, 30.0]), label="wide"),
        case(sp.log_ndtr, None, np.array([-40.0, -5.0, -0.1, 0.0, 0.1, 5.0]), label="wide"),
        case(sp.ndtri_exp, None, np.array([-800.0, -30.0, -0.1]), label="wide"),
        case(sp.expit, None, np.array([-40.0, -5.0, 5.0, 30.0]), label="wide"),
        case(sp.log_expit, None, np.array([-40.0, -5.0, 5.0, 30.0]), label="wide"),
        case(sp.erfc, None, np.array([-5.0, 3.0, 10.0]), label="wide"),
        case(sp.spence, None, np.array([1.0, 0.999, 1.4, 1.6, 50.0]), label="near 1"),
        case(sp.gammaln, None, np.array([1e5, 1e-3, -0.5, -3.5]), label="wide"),
        case(sp.gamma, None, np.array([-0.5, -1.5, 20.0]), label="wide"),
        case(sp.rgamma, None, np.array([0.0, -1.0, -2.0, 0.49, 0.51, 8.0]), label="at poles"),
        case(sp.psi, None, np.array([-0.5, -1.5, 20.0]), label="wide"),
        case(sp.shichi, None, np.array([-1.0, 2.0]), label="both signs"),
        case(sp.sici, lambda x: sp.sici(x)[0], np.array([1e-3, 1e-9]), label="near 0"),
        case(sp.shichi, lambda x: sp.shichi(x)[0], np.array([1e-3, 1e-9]), label="near 0"),
        case(sp.airy, lambda x: sp.airy(x)[1], normal(3), label="one output"),
        case(sp.i1, None, np.array([0.0, 1e-8, -3.0, 30.0]), label="at 0"),
        case(sp.i0e, None, np.array([-30.0, 1e3]), label="wide"),
        case(np.logaddexp, lambda x: np.logaddexp(0, x), np.array([-40.0, 0.0, 40.0]), label="softplus"),
        case(np.sinc, sp.sinc, normal(3), label="from SciPy"),
    ]  # fmt: skip


def binary() -> list[Any]:
    """Calls of functions with a derivative in two arguments."""
    makers: list[tuple[Any, Any, Any]] = [
        (sp.xlogy, normal, positive), (sp.xlog1py, normal, positive), (sp.rel_entr, positive, positive),
        (sp.kl_div, positive, positive), (sp.huber, unit, above_one), (sp.huber, above_one, unit),
        (sp.pseudo_huber, positive, normal), (sp.beta, positive, positive), (sp.betaln, positive, positive),
        (sp.binom, several, positive), (sp.poch, positive, positive), (sp.powm1, positive, normal),
        (sp.boxcox, positive, normal), (sp.boxcox1p, positive, normal), (sp.inv_boxcox, positive, positive),
        (sp.inv_boxcox1p, positive, positive), (sp.owens_t, normal, normal),
    ]  # fmt: skip
    zero = np.array([1e-9, 1e-3, 0.0])
    return [
        *(
            case(f, None, first(*a), second(*b, seed=1), label=f"{first.__name__} {a} {b}")
            for f, first, second in makers
            for a, b in PAIRS
        ),
        *(case(f, None, complexes(3), right(3, seed=1), label="complex") for f in (sp.xlogy, sp.xlog1py)),
        case(sp.xlogy, lambda x: sp.xlogy(x, 2.0), np.array([0.0, 1.0]), label="number"),
        case(sp.xlogy, lambda y: sp.xlogy(2, y), positive(3), label="number first"),
        case(sp.huber, lambda r: sp.huber(1, r), np.array([-3.0, 0.0, 0.5, 3.0]), label="number"),
        case(sp.pseudo_huber, None, positive(4), np.array([0.0, 1e-5, -1.0, 50.0]), label="wide"),
        case(sp.boxcox, None, positive(3), zero, label="near 0"),
        case(sp.boxcox1p, None, positive(3), zero, label="near 0"),
        case(sp.inv_boxcox, None, normal(3), zero, label="near 0"),
        case(sp.inv_boxcox1p, None, normal(3), zero, label="near 0"),
        case(sp.betaln, None, np.array([1e3, 1e-2]), np.array([2.0, 1e-2]), label="wide"),
    ]  # fmt: skip


def parts(z: Any) -> Any:
    """A real number of the real and the imaginary parts."""
    return np.real(z) + 2 * np.imag(z)


def of_degrees(*parameters: Any) -> list[tuple[Any, ...]]:
    """Parameters of orthogonal polynomials of whole, fractional and negative degrees, alone and mixed."""
    mixed = (np.array([0, 1, 2]), np.array([2.0, 0.5, -1.5]))
    return [(n, *parameters) for n in (0, 1, 4, 0.5, 1.5, 2.5, -0.5, -2, -2.3, *mixed)]


def parametrised() -> list[Any]:
    """Calls of functions with a derivative in one argument, beside parameters."""
    bessel = (sp.jv, sp.yv, sp.iv, sp.kv, sp.kve, sp.ive, sp.jve, sp.yve)
    hankel = (sp.hankel1, sp.hankel2, sp.hankel1e, sp.hankel2e)
    parameters: list[tuple[Any, Any, list[tuple[Any, ...]]]] = [
        (sp.yn, positive, [(0,), (2,), (np.array([1, 2, 0]),)]),
        (sp.kn, positive, [(0,), (2,), (np.array([1, 2, 0]),)]),
        (sp._ufuncs._zeta, positive, [(2,), (3.5,), (np.array([2, 3, 4]),)]),
        (sp.gammainc, positive, [(0.5,), (3,), (np.array([1.0, 2.0, 3.5]),)]),
        (sp.gammaincc, positive, [(0.5,), (3,), (np.array([1.0, 2.0, 3.5]),)]),
        (sp.gammaincinv, unit, [(0.5,), (3,)]),
        (sp.gammainccinv, unit, [(0.5,), (3,)]),
        (sp.betainc, unit, [(0.5, 2), (3, 0.5), (np.array([1.0, 2.0, 3.5]), 2)]),
        (sp.betaincc, unit, [(0.5, 2), (3, 0.5), (np.array([1.0, 2.0, 3.5]), 2)]),
        (sp.betaincinv, unit, [(0.5, 2), (3, 2.5)]),
        (sp.betainccinv, unit, [(0.5, 2), (3, 2.5)]),
        (sp.expn, positive, [(0,), (1,), (3,), (np.array([0, 1, 2], np.uint8),)]),
        (sp.hyp0f1, normal, [(1.5,), (2,)]),
        (sp.hyp0f1, complexes, [(1.5,)]),
        (sp.hyp1f1, normal, [(1.5, 2), (1, 3), (np.array([1.0, 2.0, 3.5]), 2)]),
        (sp.hyp1f1, complexes, [(1.5, 2)]),
        (sp.hyp2f1, inside, [(1.5, 2, 3.5), (1, 1, 2), (1, np.array([1.0, 2.0, 3.5]), 2)]),
        (sp.hyp2f1, lambda *shape: complexes(*shape) / 4, [(1.5, 2, 3.5)]),
        (sp.hyperu, positive, [(1.5, 2.5), (1, 1)]),
        *((f, inside, of_degrees()) for f in (sp.eval_legendre, sp.eval_chebyt, sp.eval_chebyu)),
        (sp.eval_legendre, lambda *shape: complexes(*shape) / 4, [(2,), (0.5,), (-2.5,)]),
        (sp.eval_chebyt, lambda *shape: 1 + positive(*shape), [(0.5,), (20.5,), (3,)]),
        (sp.eval_chebyt, inside, [(20.5,), (np.array([0, 1, 2], np.uint8),)]),
        (sp.eval_hermite, normal, [(0,), (1,), (4,), (np.array([0, 1, 2]),)]),
        (sp.eval_hermitenorm, normal, [(0,), (1,), (4,), (np.array([0, 1, 2]),)]),
        (sp.eval_laguerre, normal, of_degrees()),
        (sp.eval_genlaguerre, normal, [*of_degrees(0.7), (0, 0.5), (1, 0.5), (4, 2)]),
        (sp.eval_gegenbauer, inside, [*of_degrees(1.7), (0, 0.5), (1, 0.5), (4, 2), (0.5, 0.5)]),
        (sp.eval_jacobi, inside, [*of_degrees(0.7, 1.2), (0, 0.5, 1), (4, 2, 0.5), (1.5, 2, 0.5)]),
    ]
    label = "{} {}".format
    return [
        *(
            case(f, partial(f, v), make(*shape), label=label(make.__name__, v))
            for f in bessel
            for make, shape in ((positive, (2, 3)), (right, (2, 3)))
            for v in ORDERS
        ),
        *(case(f, partial(f, 1), off_zero(3), label="both signs") for f in (sp.jv, sp.iv, sp.ive, sp.jve)),
        *(
            case(f, partial(f, v), make(3), label=label(make.__name__, v))
            for f in hankel
            for make in (positive, right)
            for v in (0, 1.5, np.array([1, 2, 0], np.uint8))
        ),
        *(
            case(f, partial(f, *values), make(*shape), label=label(make.__name__, values))
            for f, make, rows in parameters
            for values in rows
            for shape in ((3,), (2, 3))
        ),
        *(
            case(f, partial(f, 2), make(), label=f"number {make.__name__}")
            for f in (sp.jv, sp.iv, sp.expn, sp.gammainc, sp.eval_legendre)
            for make in (unit,)
        ),
        case(sp.jv, lambda x: sp.jv(constant([1, 2]), x), positive(), label="tensor of orders"),
        case(sp.jv, lambda x: sp.jv(1, x, casting="same_kind"), positive(3), label="option"),
        *(
            case(f, lambda x, f=f, v=v: parts(f(*v, x, dtype=complex)), -1 - positive(3), label="as complex")
            for f, v in (
                (sp.jv, (0.5,)), (sp.hyp2f1, (1, 0.5, 2.2)), (sp.xlogy, (2.0,)), (sp.xlog1py, (2.0,)), (sp.spence, ())
            )
        ),
        case(sp._ufuncs._zeta, lambda x: sp.zeta(2, q=x), positive(3), label="names"),
    ]  # fmt: skip


def points() -> list[Any]:
    """The special points, and what is known of them."""
    at = special
    return [
        # far out: no overflow where the true value is finite
        at(sp.erf, None, [np.array([0.0, 30.0, -INF])], [np.array([2 / PI**0.5, 0.0, 0.0])], "far"),
        at(sp.erfc, None, [np.array([0.0, 30.0, INF])], [np.array([-2 / PI**0.5, 0.0, 0.0])], "far"),
        at(sp.erfcx, None, [np.array([1e8, 1e150])], [np.array([-1 / PI**0.5 * 1e-16, -1e-300 / PI**0.5])], "far"),
        at(sp.dawsn, None, [np.array([1e8, -1e150])], [np.array([-0.5e-16, -0.5e-300])], "far"),
        at(sp.ndtr, None, [np.array([-40.0, 0.0, 40.0])], [np.array([0.0, 1 / (2 * PI) ** 0.5, 0.0])], "far"),
        at(sp.log_ndtr, None, [np.array([-40.0, -1e100, 40.0, INF])],
           [np.array([40.024968847207555, 1e100, 0.0, 0.0])], "far"),
        at(sp.expit, None, [np.array([-800.0, 0.0, 800.0, 40.0])],
           [np.array([0.0, 0.25, 0.0, 4.248354255291589e-18])], "far"),
        at(sp.log_expit, None, [np.array([-800.0, 0.0, 800.0])], [np.array([1.0, 0.5, 0.0])], "far"),
        at(sp.gammaln, None, [np.array([1e300, 1e10])], [np.array([690.7755278982137, 23.02585092989046])], "far"),
        at(sp.exprel, None, [np.array([0.0, -1e5])], [np.array([0.5, 1e-10])], "at 0"),
        at(sp.erfinv, None, [np.array([-1.0, 0.0, 1.0])], [np.array([INF, PI**0.5 / 2, INF])], "ends"),
        at(sp.ndtri, None, [np.array([0.0, 0.5])], [np.array([INF, (2 * PI) ** 0.5])], "ends"),
        at(sp.logit, None, [np.array([0.0, 0.5, 1.0])], [np.array([INF, 4.0, INF])], "ends", warns=True),
        # nothing, times its logarithm, is nothing
        at(sp.xlogy, None, [np.array([0.0, 0.0, 2.0]), np.array([0.0, 2.0, 1.0])],
           [np.array([0.0, np.log(2), 0.0]), np.array([0.0, 0.0, 2.0])], "at 0"),
        at(sp.xlogy, None, [0.0, -1.0], [0.0, 0.0], "no logarithm"),
        at(sp.xlog1py, None, [np.array([0.0, 0.0]), np.array([-1.0, 0.0])],
           [np.array([0.0, 0.0]), np.array([0.0, 0.0])], "at 0"),
        at(sp.entr, None, [np.array([1.0, 0.0])], [np.array([-1.0, INF])], "at 0", warns=True),
        at(sp.rel_entr, None, [np.array([0.0, 1.0]), np.array([0.0, 1.0])],
           [np.array([1.0, 1.0]), np.array([0.0, -1.0])], "at 0"),
        at(sp.rel_entr, None, [0.0, 1.0], [-INF, 0.0], "at 0 of 1", warns=True),
        at(sp.kl_div, None, [np.array([0.0, 1.0, 1e300]), np.array([0.0, 1.0, 1e300])],
           [np.array([0.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])], "at 0"),
        # where a slope has a step
        at(sp.huber, None, [np.array([1.0, 1.0, 0.0]), np.array([1.0, -1.0, 0.0])],
           [np.zeros(3), np.array([1.0, -1.0, 0.0])], "at its ends"),
        at(sp.pseudo_huber, None, [np.array([0.0, 1.0]), np.array([0.0, 0.0])], [np.zeros(2), np.zeros(2)], "at 0"),
        at(sp.i0e, None, [0.0], [0.0], "at 0"),
        at(sp.i1e, None, [0.0], [0.5], "at 0"),
        at(sp.rgamma, None, [np.array([0.0, -1.0, -3.0])], [np.array([1.0, -1.0, -6.0])], "at poles"),
        at(sp.sici, lambda x: sp.sici(x)[0], [0.0], [1.0], "at 0"),
        at(sp.shichi, lambda x: sp.shichi(x)[0], [0.0], [1.0], "at 0"),
        at(sp._ufuncs._lambertw, sp.lambertw, [0.0], [1.0], "at 0"),
        at(sp.gammainc, lambda x: sp.gammainc(np.array([1.0, 2.0, 0.5]), x), [np.zeros(3)],
           [np.array([1.0, 0.0, INF])], "at 0"),
        at(sp.betainc, lambda x: sp.betainc(1, 2, x), [np.array([0.0, 1.0])], [np.array([2.0, 0.0])], "ends"),
        # complex numbers, where SciPy has only the first derivative
        *(
            at(f, None, [1 + 1j], [np.conj(expected)], "complex")
            for f, expected in (
                (sp.gamma, sp.gamma(1 + 1j) * sp.psi(1 + 1j)),
                (sp.rgamma, -sp.rgamma(1 + 1j) * sp.psi(1 + 1j)),
                (sp.loggamma, sp.psi(1 + 1j)),
            )
        ),
        at(sp.rgamma, None, [-1 + 0j], [-1.0], "complex, at a pole"),
        # infinite terms, or none
    ]  # fmt: skip


def trigamma(x: Any) -> Any:
    """The second derivative of loggamma."""
    with GradientTape() as tape:
        tape.watch(x)
        y = sp.psi(x)
    return tape.gradient(y, x)


def refusals() -> list[Any]:
    """Arguments without a derivative."""
    tracked = (UnsupportedArgumentError, r"has no derivative in '{}': pass it as a plain value".format)
    return [
        *(
            refused(f, None, inputs, tracked[0], tracked[1](name))
            for f, name, inputs in (
                (sp.jv, "v", (1.0, 2.0)),
                (sp.gammainc, "a", (1.0, 2.0)),
                (partial(sp.betainc, 1), "b", (2.0, 0.5)),
                (sp.zeta, "x", (2.0, 2.0)),
            )
        ),
        refused(sp.jv, lambda v, z: sp.jv([v, 1.0], z), (1.0, 2.0), tracked[0], tracked[1]("v"), label="list"),
        refused(sp.psi, trigamma, (1 + 1j,), NoDerivativeError, "SciPy's zeta takes real numbers"),
        refused(sp.zeta, None, (2.0,), NoDerivativeError, "_riemann_zeta has no derivative rule"),
        refused(sp.stdtr, None, (3.0, 1.0), NoDerivativeError, "stdtr has no derivative rule"),
    ]  # fmt: skip


CASES = smooth() if sp else []
SPECIAL = points() if sp else []
PLAIN = [plain(f, None, np.array([-1.5, 2.5])) for f in (sp.gammasgn, sp.round)] if sp else []
REFUSED = refusals() if sp else []
