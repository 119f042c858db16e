"""Special functions: ``tf.math.special``, which SciPy computes."""

from __future__ import annotations

from tapemagic.tf.core.missing import missing
from tapemagic.tf.ops.special import (
    bessel_i0,
    bessel_i0e,
    bessel_i1,
    bessel_i1e,
    bessel_j0,
    bessel_j1,
    bessel_k0,
    bessel_k0e,
    bessel_k1,
    bessel_k1e,
    bessel_y0,
    bessel_y1,
    dawsn,
    expint,
    fresnel_cos,
    fresnel_sin,
    spence,
)

# Some of these are in tf.math as well, others only here, as in TensorFlow.
__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0",
    "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "expint",
    "fresnel_cos", "fresnel_sin", "spence",
]  # fmt: skip

__getattr__ = missing(__name__, __all__)
