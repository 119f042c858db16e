"""The ways in which functions are computed on lazy arrays: one module for each group of functions.

A way is a function of Dask's arrays, with the parameters of the function that it computes, which gives Dask's arrays.
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
