"""Initializers: the first values of variables."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.nn.config import float_name
from tapemagic.nn.identifiers import find
from tapemagic.nn.random import generator


class Initializer:
    """Base class of initializers, which are called with a shape and a dtype."""

    def __call__(self, shape: tuple[int, ...], dtype: DTypeLike | None = None) -> Any:
        """Make an array of a shape and a dtype.

        Returns
        -------
        numpy.ndarray
        """
        raise NotImplementedError


class Zeros(Initializer):
    """Zeros."""

    def __call__(self, shape: tuple[int, ...], dtype: DTypeLike | None = None) -> Any:
        """Zeros of a shape and a dtype."""
        return np.zeros(shape, float_name(dtype))


class Ones(Initializer):
    """Ones."""

    def __call__(self, shape: tuple[int, ...], dtype: DTypeLike | None = None) -> Any:
        """Ones of a shape and a dtype."""
        return np.ones(shape, float_name(dtype))


class GlorotUniform(Initializer):
    """Uniform numbers between ±√(6 / (inputs + outputs)) [1]_.

    Parameters
    ----------
    seed : int or numpy.random.Generator, optional

    References
    ----------
    .. [1] X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks",
       AISTATS 2010, equation 16.
    """

    def __init__(self, seed: Any = None) -> None:
        self.seed = seed

    def __call__(self, shape: tuple[int, ...], dtype: DTypeLike | None = None) -> Any:
        """An array of a shape and a dtype."""
        limit = math.sqrt(6 / (shape[-2] + shape[-1]))
        numbers = generator(self.seed).uniform(-limit, limit, shape)
        return numbers.astype(float_name(dtype))


_TABLE: dict[str, Any] = {"zeros": Zeros, "ones": Ones, "glorot_uniform": GlorotUniform}


def get(identifier: Any) -> Callable[..., Any]:
    """The initializer for a name, a class, an object or a function.

    Raises
    ------
    OptionError
        If there is none of that name.
    """
    found: Callable[..., Any] = find(identifier, _TABLE, "an initializer")
    return found
