"""Warnings of floating-point errors, each once a call of a program, as without loops over blocks."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np


class _Once:
    """Takes NumPy's messages, and warns of the first from each instruction of a program."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()

    def write(self, message: str) -> None:
        """Warn, if this is new: NumPy calls it from the frame in which the error occurred."""
        frame = sys._getframe(1)
        found = frame.f_code, frame.f_lasti, message
        if found not in self._seen:
            self._seen.add(found)
            text = message.removeprefix("Warning: ").rstrip()
            warnings.warn(text, RuntimeWarning, stacklevel=2)


def warned_once() -> Any:
    """A block in which each instruction warns at most once of each kind of floating-point error.

    NumPy warns at each call of a ufunc; in a loop over blocks that is once for each block. What is ignored, raised or
    given to a function of the user's stays so.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as found, warned_once():
    ...     warnings.simplefilter("always")
    ...     for _ in range(3):
    ...         _ = np.log(np.zeros(2))
    >>> [str(each.message) for each in found]
    ['divide by zero encountered in log']
    """
    modes = np.geterr()
    if "log" in modes.values() or "call" in modes.values():
        return np.errstate()
    changed: Any = {kind: "log" for kind, mode in modes.items() if mode == "warn"}
    return np.errstate(call=_Once(), **changed)
