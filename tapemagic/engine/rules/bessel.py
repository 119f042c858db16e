"""NumPy's only Bessel function, i0: its derivative, i1, is one that NumPy does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.registry import composite, operation, pointwise, vjp
from tapemagic.engine.tensor.dispatch import apply

POINTS = 64
COSINES = np.cos((np.arange(POINTS) + 0.5) * np.pi / (2 * POINTS)).tolist()
"""At the midpoints of equal parts of a quarter of the circle."""


def i1(x: Any) -> Any:
    """The mean of cos(t) * sinh(x * cos(t)) over a quarter of the circle (DLMF 10.32.3).

    On a periodic function the midpoint rule converges exponentially (Trefethen and Weideman, SIAM Review
    56, 2014); this one is off by exp(-8 * POINTS**2 / x), which rounding hides for all x at which
    i0 does not overflow. No two terms differ in sign, so that nothing cancels.
    """
    return sum(cosine / POINTS * np.sinh(cosine * x) for cosine in COSINES)


def i0_(x: Any) -> Any:
    """``np.i0``; a single number is no array."""
    return np.i0(x)[()]


@composite(np.i0)
def _i0(x: Any) -> Any:
    return apply(operation(i0_), (x,), {})


vjp(i0_, lambda g, _y, x: g * i1(x), name="i0")
pointwise(i0_)
