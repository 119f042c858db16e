"""Special functions: ``tf.math.special``, which SciPy computes."""

from __future__ import annotations

from typing import Any

from tapemagic.tf.core.adapter import adapter
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.missing import missing
from tapemagic.tf.ops.elementwise import checked
from tapemagic.tf.ops.special import (
    bessel_i0,
    bessel_i0e,
    bessel_i1,
    bessel_i1e,
    one,
    scipy_function,
)

__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "dawsn",
    "expint",
    "fresnel_cos",
    "fresnel_sin",
    "spence",
]

bessel_j0 = one("bessel_j0", "j0", "The Bessel function of the first kind of order 0.")
bessel_j1 = one("bessel_j1", "j1", "The Bessel function of the first kind of order 1.")
bessel_k0 = one("bessel_k0", "k0", "The modified Bessel function of the second kind of order 0.")
bessel_k0e = one("bessel_k0e", "k0e", "The same times exp(x).")
bessel_k1 = one("bessel_k1", "k1", "The modified Bessel function of the second kind of order 1.")
bessel_k1e = one("bessel_k1e", "k1e", "The same times exp(x).")
bessel_y0 = one("bessel_y0", "y0", "The Bessel function of the second kind of order 0.")
bessel_y1 = one("bessel_y1", "y1", "The Bessel function of the second kind of order 1.")
dawsn = one(
    "dawsn", "dawsn", "Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x."
)
expint = one("expint", "expi", "The exponential integral Ei, the integral of exp(t) / t up to x.")
spence = one("spence", "spence", "Spence's function, the integral of log(t) / (1 - t) from 1 to x.")


@adapter
def fresnel_sin(x: Any, name: str | None = None) -> Any:
    """The integral of sin(pi t**2 / 2) from 0 to x."""
    return scipy_function("fresnel", "fresnel_sin")(checked("fresnel_sin", tensor(x), "f"))[0]


@adapter
def fresnel_cos(x: Any, name: str | None = None) -> Any:
    """The integral of cos(pi t**2 / 2) from 0 to x."""
    return scipy_function("fresnel", "fresnel_cos")(checked("fresnel_cos", tensor(x), "f"))[1]


__getattr__ = missing(__name__, __all__)
