"""Numerical helpers of optimizers: clipping of gradients, exponential averages, and casts of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.tracing import tracer


def clip_by_value(gradient: Any, limit: float, out: Any) -> Any:
    """Clip every element of a gradient to the interval from -limit to limit.

    Examples
    --------
    >>> import numpy as np
    >>> clip_by_value(np.array([3.0, -4.0]), 3.5, out=np.empty(2))
    array([ 3. , -3.5])
    """
    return np.clip(gradient, -limit, limit, out=out)


def clip_by_norm(gradient: Any, limit: float, out: Any) -> Any:
    """Scale a gradient down if its Euclidean norm exceeds a limit.

    Examples
    --------
    >>> import numpy as np
    >>> clip_by_norm(np.array([3.0, -4.0]), 1.0, out=np.empty(2))
    array([ 0.6, -0.8])
    """
    # gradient * limit / max(norm, limit), as tf.clip_by_norm: no branch, and no division by a norm of 0.
    norm = np.sqrt(np.sum(np.square(gradient, out=out)))
    np.multiply(gradient, limit, out=out)
    return np.divide(out, np.maximum(norm, norm.dtype.type(limit)), out=out)


def global_scale(gradients: Sequence[Any], limit: float, out: Iterable[Any]) -> Any:
    """Return the factor that limits the joint Euclidean norm of all gradients, or nan if the norm isn't finite.

    Examples
    --------
    >>> import numpy as np
    >>> gradients = [np.array([3.0]), np.array([-4.0])]
    >>> float(global_scale(gradients, 1.0, out=[np.empty(1), np.empty(1)]))
    0.2
    """
    pairs = zip(gradients, out, strict=True)
    norm = np.sqrt(np.sum(np.stack([np.sum(np.square(g, out=space)) for g, space in pairs])))
    number = norm.dtype.type
    # As tf.clip_by_global_norm: nan makes all gradients nan, so that the error isn't hidden in a scale of 0.
    if not np.isfinite(norm):
        return number(np.nan)
    full = number(1 / limit)
    return limit * (np.minimum(1 / norm, full) if norm else full)


def average(mean: Any, new: Any, rho: float) -> None:
    """Update an exponential average to ``rho * mean + (1 - rho) * new``; `new` is overwritten.

    Examples
    --------
    >>> import numpy as np
    >>> mean = np.array([1.0])
    >>> average(mean, np.array([2.0]), 0.5)
    >>> mean
    array([1.5])
    """
    np.multiply(mean, rho, out=mean)
    np.multiply(new, 1 - rho, out=new)
    np.add(mean, new, out=mean)


def cast(x: Any, dtype: Any) -> Any:
    """Convert a number to a NumPy scalar type.

    Examples
    --------
    >>> import numpy as np
    >>> cast(2, np.float32)
    np.float32(2.0)
    """
    if tracer() is not None and isinstance(x, np.generic):
        return x.astype(dtype)  # dtype(x) would turn a traced number into a constant of the program
    return dtype(x)
