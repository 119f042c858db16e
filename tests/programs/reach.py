"""A module of the user's, for tests of what functions read in others."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm

rate = 0.5
array = np.ones(3)
weight = tm.Variable(2.0)


class Settings:
    """A class with a number."""

    k = 2.0


def helper(x: Any) -> Any:
    """A function of this module's names."""
    return x * rate * array
