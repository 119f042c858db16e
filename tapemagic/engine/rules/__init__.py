"""The table: the derivative of every operation, one row each."""

from tapemagic.engine.rules import (
    differences,
    einsum,
    elementwise,
    indexing,
    joining,
    padding,
    products,
    reductions,
    shaping,
)

__all__ = [
    "differences",
    "einsum",
    "elementwise",
    "indexing",
    "joining",
    "padding",
    "products",
    "reductions",
    "shaping",
]
