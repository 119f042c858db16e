"""Exponential averages in place."""

from __future__ import annotations

from typing import Any

import numpy as np


def average(mean: Any, new: Any, rho: float) -> None:
    """Move an exponential average towards new values, which are overwritten: ``rho * mean + (1 - rho) * new``.

    Examples
    --------
    >>> mean = np.array([1.0])
    >>> average(mean, np.array([2.0]), 0.5)
    >>> mean
    array([1.5])
    """
    np.multiply(mean, rho, out=mean)
    np.multiply(new, 1 - rho, out=new)
    np.add(mean, new, out=mean)
