"""The table of derivatives: a rule for every argument of every operation.

The rules that most programs need are loaded immediately; the others when a function isn't found in the table.
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
    "convolution_rules", "creation", "decompositions", "einsum", "fft", "linalg", "neural",
    "norm_rules", "padding", "polynomials", "recurrence_rules", "statistics", "ufunc_methods",
)  # fmt: skip

LATER.extend(partial(import_module, f"{__name__}.{name}") for name in REST)
OPTIONAL["scipy.special"] = partial(import_module, f"{__name__}.special")
