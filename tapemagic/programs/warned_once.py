"""Floating-point warnings of loops over blocks: once per call of a program, as without blocks."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np


class _Once:
    """Receiver of NumPy's messages that warns once for each instruction of a program."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()

    def write(self, message: str) -> None:
        """Warn if an instruction sends a message for the first time."""
        # NumPy calls `write` from the frame of the ufunc call.
        frame = sys._getframe(1)
        warning = frame.f_code, frame.f_lasti, message
        if warning not in self._seen:
            self._seen.add(warning)
            text = message.removeprefix("Warning: ").rstrip()
            warnings.warn(text, RuntimeWarning, stacklevel=2)


def warned_once() -> Any:
    """Return a context in which each instruction gives each floating-point warning at most once.

    NumPy warns at each call of a ufunc, so in a loop once for each block. Errors that the user ignores, raises, logs or
    passes to a function aren't affected.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught, warned_once():
    ...     warnings.simplefilter("always")
    ...     for _ in range(3):
    ...         _ = np.log(np.zeros(2))
    >>> [str(each.message) for each in caught]
    ['divide by zero encountered in log']
    """
    # In the mode "log", NumPy calls `write` of the object that np.errstate got as `call`.
    modes = np.geterr()
    if "log" in modes.values() or "call" in modes.values():
        return np.errstate()
    changed: Any = {kind: "log" for kind, mode in modes.items() if mode == "warn"}
    return np.errstate(call=_Once(), **changed)
