"""The table: the derivative of every operation, one row each.

What most programs use is here from the start; the rest follows when a function is not found.
"""

from importlib import import_module

from tapemagic.engine.registry import LATER
from tapemagic.engine.rules import (
    differences,
    elementwise,
    indexing,
    joining,
    poly1d,
    products,
    reductions,
    shaping,
)

__all__ = [
    "differences",
    "elementwise",
    "indexing",
    "joining",
    "poly1d",
    "products",
    "reductions",
    "shaping",
]

REST = (
    "bessel",
    "convolutions",
    "creation",
    "decompositions",
    "einsum",
    "fft",
    "linalg",
    "neural",
    "norms",
    "padding",
    "polynomials",
    "statistics",
)


def _follow() -> None:
    for name in REST:
        import_module(f"{__name__}.{name}")


LATER.append(_follow)
