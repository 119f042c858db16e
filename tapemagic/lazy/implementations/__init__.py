"""Implementations of functions on lazy arrays: one module for each group of functions.

An implementation takes and returns Dask arrays, and has the parameters of the function that it implements.
"""

from __future__ import annotations

from importlib import import_module

for _name in (
    "elementwise",
    "along",
    "reductions",
    "variances",
    "running_totals",
    "shaping",
    "joining",
    "unsupported",
    "indexing",
    "scattering",
    "products",
    "norms",
    "diagonals",
    "differences",
    "neural",
    "rules",
):
    import_module(f"{__name__}.{_name}")
