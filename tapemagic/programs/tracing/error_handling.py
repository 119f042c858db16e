"""NumPy's handling of floating-point errors, asked for at each call that a trace writes down."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any

import numpy as np


def _reader() -> Callable[[], Any]:
    """A function that gives one object as long as the handling stays as it is, sooner than np.geterr tells of it.

    NumPy keeps it in a context variable: that which np.errstate changes. Without one, it may change at any time.
    """
    before = copy_context()
    with np.errstate(all="ignore"):
        inside = copy_context()
    changed = [variable for variable, value in inside.items() if before.get(variable) is not value]
    return partial(changed[0].get, None) if len(changed) == 1 else object


handling = _reader()
"""Gives another object after each change."""
