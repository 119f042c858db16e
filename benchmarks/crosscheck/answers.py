"""What a library answers to a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.crosscheck.programs import Program

Arrays = list[np.ndarray]

LARGEST_JACOBIAN = 400
"""Elements of the Jacobians of a program's first output, together; larger ones are not computed."""

LARGEST_HESSIAN = 30
"""Elements of all inputs together."""


@dataclass
class Answers:
    """What a library found: arrays by the names of what they are.

    Attributes
    ----------
    found : dict of str to list of array
        "values", "gradients", "second", "jacobians" if they are small; and if the library can tell, "tangents",
        the derivatives of the outputs in the program's directions, and "middles", the gradients in values
        between inputs and outputs.
    again : dict of str to list of array
        The same numbers, found on other ways.
    warned : list of str
        The warnings on the way.
    """

    found: dict[str, Arrays]
    again: dict[str, Arrays] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)


def small(program: Program) -> bool:
    """Whether to compute Jacobians."""
    inputs = sum(point.size for point in program.points)
    return bool(program.weights[0].size * inputs <= LARGEST_JACOBIAN)


def plain(results: Any) -> Arrays:
    """Tensors of any library as arrays."""
    return [np.asarray(getattr(x, "numpy", lambda x=x: x)()) for x in results]
