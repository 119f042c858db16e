"""A module that workers import, with a variable of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm

SCALE = tm.Variable(1.0, name="SCALE")


def scaled(w: Any, x: Any) -> Any:
    """A loss that reads the variable."""
    return np.mean(SCALE * w * x)
