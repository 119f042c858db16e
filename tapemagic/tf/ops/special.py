"""Special functions computed by SciPy: gamma, Bessel and related functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.tf.core.adapter import adapter, axes
from tapemagic.tf.core.convert import matched, tensor
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.elementwise import checked


def scipy_function(name: str, needed: str) -> Callable[..., Any]:
    """Return a function of ``scipy.special``, importing it on first use."""
    try:
        # On first use, because SciPy is an optional dependency.
        from scipy import special
    except ImportError:
        raise UnsupportedArgumentError(
            f"{needed} is computed by SciPy, which is not installed: pip install scipy"
        ) from None
    function = getattr(special, name)

    def in_own_dtype(*args: Any) -> Any:
        # scipy.special has no half-precision loops: it returns float32 or float64 for float16.
        result, dtype = function(*args), unwrap(args[-1]).dtype
        return (
            np.astype(result, dtype)
            if dtype == np.float16 and not isinstance(result, tuple)
            else result
        )

    return in_own_dtype


def _of_x(called: str, of_scipy: str, doc: str) -> Any:
    """Adapt a function of one tensor."""

    def computed(x: Any, name: str | None = None) -> Any:
        return scipy_function(of_scipy, called)(checked(called, tensor(x), "f"))

    computed.__name__ = computed.__qualname__ = called
    computed.__doc__ = doc
    return adapter(computed)


def _of_two(called: str, of_scipy: str, doc: str) -> Any:
    """Adapt a function of two tensors."""

    def computed(x: Any, y: Any, name: str | None = None) -> Any:
        a, b = matched(called, x, y)
        return scipy_function(of_scipy, called)(checked(called, a, "f"), b)

    computed.__name__ = computed.__qualname__ = called
    computed.__doc__ = doc
    return adapter(computed)


bessel_i0 = _of_x("bessel_i0", "i0", "The modified Bessel function of order 0.")
bessel_i0e = _of_x(
    "bessel_i0e", "i0e", "The modified Bessel function of order 0 times exp(-abs(x))."
)
bessel_i1 = _of_x("bessel_i1", "i1", "The modified Bessel function of order 1.")
bessel_i1e = _of_x(
    "bessel_i1e", "i1e", "The modified Bessel function of order 1 times exp(-abs(x))."
)
digamma = _of_x("digamma", "digamma", "The derivative of lgamma.")
erfinv = _of_x("erfinv", "erfinv", "The inverse of the error function.")
erfcinv = _of_x("erfcinv", "erfcinv", "The inverse of the complementary error function.")


@adapter
def lgamma(x: Any, name: str | None = None) -> Any:
    """Return the logarithm of the absolute value of the gamma function."""
    x_tensor = checked("lgamma", tensor(x), "f")
    y = scipy_function("gammaln", "lgamma")(x_tensor)
    # SciPy returns -inf at -inf.
    return np.where(x_tensor == -np.inf, x_tensor.dtype.type(np.inf), y)


ndtri = _of_x("ndtri", "ndtri", "The quantile of the standard normal distribution.")
xlog1py = _of_two("xlog1py", "xlog1py", "x * log(1 + y), element-wise; 0 where x is 0.")
bessel_j0 = _of_x("bessel_j0", "j0", "The Bessel function of the first kind of order 0.")
bessel_j1 = _of_x("bessel_j1", "j1", "The Bessel function of the first kind of order 1.")
bessel_k0 = _of_x("bessel_k0", "k0", "The modified Bessel function of the second kind of order 0.")
bessel_k0e = _of_x("bessel_k0e", "k0e", "The Bessel function times exp(x).")
bessel_k1 = _of_x("bessel_k1", "k1", "The modified Bessel function of the second kind of order 1.")
bessel_k1e = _of_x("bessel_k1e", "k1e", "The Bessel function times exp(x).")
bessel_y0 = _of_x("bessel_y0", "y0", "The Bessel function of the second kind of order 0.")
bessel_y1 = _of_x("bessel_y1", "y1", "The Bessel function of the second kind of order 1.")
dawsn = _of_x(
    "dawsn", "dawsn", "Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x."
)
expint = _of_x("expint", "expi", "The exponential integral Ei, the integral of exp(t) / t up to x.")
spence = _of_x(
    "spence", "spence", "Spence's function, the integral of log(t) / (1 - t) from 1 to x."
)


@adapter
def fresnel_sin(x: Any, name: str | None = None) -> Any:
    """Compute the integral of sin(pi t**2 / 2) from 0 to x."""
    # SciPy returns the pair (S, C).
    return scipy_function("fresnel", "fresnel_sin")(checked("fresnel_sin", tensor(x), "f"))[0]


@adapter
def fresnel_cos(x: Any, name: str | None = None) -> Any:
    """Compute the integral of cos(pi t**2 / 2) from 0 to x."""
    return scipy_function("fresnel", "fresnel_cos")(checked("fresnel_cos", tensor(x), "f"))[1]


@adapter
def igamma(a: Any, x: Any, name: str | None = None) -> Any:
    """Compute the regularized lower incomplete gamma function."""
    a, x = matched("igamma", a, x)
    return scipy_function("gammainc", "igamma")(checked("igamma", a, "f"), x)


@adapter
def igammac(a: Any, x: Any, name: str | None = None) -> Any:
    """Compute the regularized upper incomplete gamma function."""
    a, x = matched("igammac", a, x)
    return scipy_function("gammaincc", "igammac")(checked("igammac", a, "f"), x)


@adapter
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Any:
    """Compute the regularized incomplete beta function."""
    a, b, x = matched("betainc", a, b, x)
    return scipy_function("betainc", "betainc")(checked("betainc", a, "f"), b, x)


@adapter
def polygamma(a: Any, x: Any, name: str | None = None) -> Any:
    """Compute the `a`-th derivative of digamma by the Hurwitz zeta function (DLMF 5.15, 25.11.12)."""
    a, x = matched("polygamma", a, x)
    checked("polygamma", x, "f")
    order = np.asarray(unwrap(a))
    if not np.all((order >= 0) & (order == np.round(order))):
        raise InvalidArgumentError("the order of polygamma must be a nonnegative integer")
    # Order 0 is digamma itself, which the formula does not cover: zeta(1, x) diverges.
    n = np.maximum(order, 1)
    # -cos(pi n) is (-1)**(n + 1), for arrays of n and without integer powers of a negative base.
    factor = -np.cos(np.pi * n) * scipy_function("gamma", "polygamma")(n + 1)
    higher = factor.astype(x.dtype) * scipy_function("zeta", "polygamma")(n + 1, x)
    return np.where(order == 0, scipy_function("digamma", "polygamma")(x), higher)


@adapter
def zeta(x: Any, q: Any, name: str | None = None) -> Any:
    """Compute the Hurwitz zeta function."""
    x, q = matched("zeta", x, q)
    return scipy_function("zeta", "zeta")(checked("zeta", x, "f"), q)


@adapter
def lbeta(x: Any, name: str | None = None) -> Any:
    """Compute log|B(x)| of the beta function along the last axis."""
    x_tensor = checked("lbeta", tensor(x), "f")
    lgamma_of = scipy_function("gammaln", "lbeta")
    # By logarithms: the gamma function overflows float32 above 35.
    return np.sum(lgamma_of(x_tensor), axis=-1) - lgamma_of(np.sum(x_tensor, axis=axes(-1)))
