"""Rosenbrock's function, and its Hessian by hand."""

from __future__ import annotations

from typing import Any

import numpy as np


def rosenbrock(x: Any) -> Any:
    """The sum over i of 100 (x[i+1] - x[i]²)² + (1 - x[i])²."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def hessian_by_hand(x: Any) -> Any:
    """The Hessian of Rosenbrock's function: its closed form, written into zeros."""
    middle = np.full(len(x), 200.0)
    middle[0] = 0
    middle[:-1] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    beside = -400 * x[:-1]
    return np.diag(middle) + np.diag(beside, 1) + np.diag(beside, -1)
