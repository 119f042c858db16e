"""Clipping of gradients: by value, by their own norm, or by the norm of all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.tracing import tracer


def clip_by_value(gradient: Any, limit: float, out: Any) -> Any:
    """A gradient with every element between two numbers of opposite sign.

    Examples
    --------
    >>> clip_by_value(np.array([3.0, -4.0]), 3.5, out=np.empty(2))
    array([ 3. , -3.5])
    """
    return np.clip(gradient, -limit, limit, out=out)


def clip_by_norm(gradient: Any, limit: float, out: Any) -> Any:
    """A gradient, made shorter if its Euclidean norm is above a limit.

    Examples
    --------
    >>> clip_by_norm(np.array([3.0, -4.0]), 1.0, out=np.empty(2))
    array([ 0.6, -0.8])
    """
    norm = np.sqrt(np.sum(np.square(gradient, out=out)))
    np.multiply(gradient, limit, out=out)
    return np.divide(out, np.maximum(norm, norm.dtype.type(limit)), out=out)


def global_scale(gradients: Sequence[Any], limit: float, out: Iterable[Any]) -> Any:
    """The factor that brings the Euclidean norm of all gradients together down to a limit; nan if they are not finite.

    Examples
    --------
    >>> gradients = [np.array([3.0]), np.array([-4.0])]
    >>> float(global_scale(gradients, 1.0, out=[np.empty(1), np.empty(1)]))
    0.2
    """
    pairs = zip(gradients, out, strict=True)
    norm = np.sqrt(np.sum(np.stack([np.sum(np.square(g, out=space)) for g, space in pairs])))
    number = norm.dtype.type
    if not np.isfinite(norm):
        return number(np.nan)
    full = number(1 / limit)
    return limit * (np.minimum(1 / norm, full) if norm else full)


def average(mean: Any, new: Any, rho: float) -> None:
    """Move an exponential average towards new values, which are overwritten: ``rho * mean + (1 - rho) * new``.

    Examples
    --------
    >>> mean = np.array([1.0])
    >>> average(mean, np.array([2.0]), 0.5)
    >>> mean
    array([1.5])
    """
    np.multiply(mean, rho, out=mean)
    np.multiply(new, 1 - rho, out=new)
    np.add(mean, new, out=mean)


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
