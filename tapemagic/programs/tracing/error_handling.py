"""NumPy's handling of floating-point errors, checked at each recorded call."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any

import numpy as np


def _reader() -> Callable[[], Any]:
    """Return a function whose result changes with np.errstate, and which is faster than np.geterr.

    NumPy keeps it in a context variable: that which np.errstate changes. Without one, it may change at any time.
    """
    before = copy_context()
    with np.errstate(all="ignore"):
        inside = copy_context()
    changed = [variable for variable, value in inside.items() if before.get(variable) is not value]
    return partial(changed[0].get, None) if len(changed) == 1 else object


handling = _reader()
"""Returns a different object after each change."""
