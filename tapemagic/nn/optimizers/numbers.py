"""Numbers of an optimizer's step, which stay in the program where a step is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.tracing import tracer


def cast(x: Any, dtype: Any) -> Any:
    """A number in the dtype of a class of NumPy numbers.

    Examples
    --------
    >>> cast(2, np.float32)
    np.float32(2.0)
    """
    if tracer() is not None and isinstance(x, np.generic):
        return x.astype(dtype)
    return dtype(x)
