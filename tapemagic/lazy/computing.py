"""Computing of several lazy arrays at once, by Dask's current scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from dask.base import compute as compute_all
from dask.diagnostics.progress import ProgressBar


def compute(values: Sequence[Any], progress: bool = False) -> None:
    """Compute lazy arrays, all of them together, so that what they have in common is computed once.

    Each keeps its numbers, if they are few. With `progress`, Dask's bar is shown.
    """
    with ProgressBar() if progress else nullcontext():
        results = compute_all(*values)
    for value, numbers in zip(values, results, strict=True):
        value.keep(numbers)
