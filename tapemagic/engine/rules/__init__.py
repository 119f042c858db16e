"""The table: the derivative of every operation, one row each.

The rules that most programs use are loaded at once; the rest when a function is not found.
"""

from functools import partial
from importlib import import_module

from tapemagic.engine.registry import LATER, OPTIONAL
from tapemagic.engine.rules import (
    differences,
    elementwise,
    indexing,
    joining,
    products,
    reductions,
    shaping,
)

__all__ = [
    "differences",
    "elementwise",
    "indexing",
    "joining",
    "products",
    "reductions",
    "shaping",
]

REST = (
    "convolution_rules",
    "creation",
    "decompositions",
    "einsum",
    "fft",
    "linalg",
    "neural",
    "norm_rules",
    "padding",
    "polynomials",
    "statistics",
    "ufunc_methods",
)

LATER.extend(partial(import_module, f"{__name__}.{name}") for name in REST)
OPTIONAL["scipy.special"] = partial(import_module, f"{__name__}.special")
