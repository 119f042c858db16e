"""Compute several lazy arrays at once with Dask's current scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from dask.base import compute as compute_all
from dask.diagnostics.progress import ProgressBar


def compute(values: Sequence[Any], progress: bool = False) -> None:
    """Compute lazy arrays together, so that shared parts are computed once.

    Each array caches its numbers if they are small. With `progress`, Dask's progress bar is shown.
    """
    with ProgressBar() if progress else nullcontext():
        results = compute_all(*values)
    for value, numbers in zip(values, results, strict=True):
        value.keep(numbers)
