"""Cases of functions with gradients of their own, and of stop_gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.engine.functions.pullback import called
from tapemagic.engine.functions.stop_gradient import _stopped
from tests.rules.harness import case, normal, positive, special


@tm.custom_gradient
def _log1pexp(x: Any) -> Any:
    e = np.exp(x)
    return np.log1p(e), lambda g: g * (e / (1 + e))


@tm.custom_gradient
def _product(x: Any, y: Any) -> Any:
    return x @ y, lambda g: (g @ y.mT, x.mT @ g)


@tm.custom_gradient
def _polar(r: Any, angle: Any) -> Any:
    def grad(gx: Any, gy: Any) -> Any:
        return (gx * np.cos(angle) + gy * np.sin(angle), r * (gy * np.cos(angle) - gx * np.sin(angle)))

    return (r * np.cos(angle), r * np.sin(angle)), grad


@tm.custom_gradient
def _square(z: Any) -> Any:
    return z * z, lambda g: 2 * np.conj(z) * g


@tm.custom_gradient
def _scaled(x: Any, factor: Any) -> Any:
    return x * factor, lambda g: (g * factor, None)


_block = tm.recompute_grad(lambda x, y: np.sin(x * y) * x)

Z = normal(3, seed=1) + 1j * normal(3, seed=2)

CASES = [
    case(called, _log1pexp, normal()),
    case(called, _log1pexp, normal(3)),
    case(called, _log1pexp, normal(2, 3)),
    case(called, _log1pexp, normal(0, 3), label="empty"),
    case(called, lambda x: _log1pexp(_log1pexp(x) * x), normal(3), label="twice"),
    case(called, _product, normal(2, 3), normal(3, 4, seed=1)),
    case(called, _product, normal(5, 2, 3), normal(5, 3, 4, seed=1), label="batched"),
    case(called, lambda x: _product(x, np.ones((3, 2))), normal(2, 3), label="plain"),
    case(called, lambda x: _product(x, x), normal(3, 3), label="same"),
    case(called, _polar, positive(), normal(), label="scalars"),
    case(called, _polar, positive(3), normal(3), label="several"),
    case(called, lambda r, a: _polar(r, a)[1], positive(3), normal(3), label="unused"),
    case(called, _square, Z, label="complex"),
    case(called, lambda z: np.real(_square(z)), Z, label="complex-to-real"),
    case(called, lambda x: _square(x + 0j), normal(3), label="real-to-complex"),
    case(called, lambda x: _scaled(x, 3.0), normal(3), label="none"),
    case(called, _block, normal(3), normal(3, seed=1), label="recomputed"),
    case(called, lambda x: _block(x, x), normal(2, 2), label="recomputed-same"),
    case(called, lambda x: _block(_block(x, 2.0), x), normal(3), label="recomputed-twice"),
    case(called, _block, Z, normal(3), label="recomputed-complex"),
]

SPECIAL = [
    special(_stopped, tm.stop_gradient, (normal(3),), (None,)),
    special(_stopped, tm.stop_gradient, (normal(),), (None,), label="scalar"),
    special(_stopped, lambda x: x * tm.stop_gradient(x), (positive(3),), (positive(3),), label="a"),
]
