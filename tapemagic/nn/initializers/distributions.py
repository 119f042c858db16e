"""Initializers of random numbers with a fixed mean and width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.errors import OptionError
from tapemagic.nn.arguments import number
from tapemagic.nn.config import float_name
from tapemagic.nn.initializers.initializer import Initializer, lengths
from tapemagic.nn.random import generator


class RandomInitializer(Initializer):
    """Base class of initializers that draw random numbers.

    Parameters
    ----------
    seed : int or numpy.random.Generator, optional
        With an integer, each call returns the same numbers. A generator continues from call to call. By default the
        global generator, which `nn.set_random_seed` seeds.
    """

    def __init__(self, seed: Any = None) -> None:
        generator(seed)
        self.seed = seed

    def __call__(self, shape: Sequence[int], dtype: DTypeLike | None = None) -> Any:
        """Return random numbers of a shape and a dtype."""
        # Drawn in double precision and then cast, so that one seed yields the same weights in every dtype.
        numbers = self.draw(generator(self.seed), lengths(shape))
        return np.asarray(numbers).astype(float_name(dtype))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Draw numbers in double precision."""
        raise NotImplementedError


class RandomNormal(RandomInitializer):
    """Random numbers from a normal distribution.

    Parameters
    ----------
    mean : float, optional
    stddev : float, optional
        The standard deviation, not negative.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.initializers.RandomNormal(seed=1)((2, 3)).shape
    (2, 3)
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.mean = number(mean, "mean")
        self.stddev = number(stddev, "stddev", 0)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Draw numbers in double precision."""
        return rng.normal(self.mean, self.stddev, shape)


class TruncatedNormal(RandomInitializer):
    """Random numbers from a normal distribution, without values further than 2 standard deviations from the mean.

    Parameters
    ----------
    mean : float, optional
    stddev : float, optional
        The standard deviation before truncation, not negative.

    Examples
    --------
    >>> from tapemagic import nn
    >>> bool(abs(nn.initializers.TruncatedNormal(stddev=1.0)((100,))).max() <= 2)
    True
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.mean = number(mean, "mean")
        self.stddev = number(stddev, "stddev", 0)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Draw numbers in double precision."""
        return self.mean + self.stddev * truncated_normal(rng, shape)


class RandomUniform(RandomInitializer):
    """Random numbers from a uniform distribution between two limits.

    Parameters
    ----------
    minval, maxval : float, optional

    Examples
    --------
    >>> from tapemagic import nn
    >>> bool(abs(nn.initializers.RandomUniform(-1.0, 1.0)((100,))).max() <= 1)
    True
    """

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        if number(minval, "minval") > number(maxval, "maxval"):
            raise OptionError(
                f"minval must not exceed maxval: got minval={minval!r} and maxval={maxval!r}"
            )
        self.minval = minval
        self.maxval = maxval

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Draw numbers in double precision."""
        return rng.uniform(self.minval, self.maxval, shape)


def truncated_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw standard normal numbers between -2 and 2, by rejection.

    Examples
    --------
    >>> import numpy as np
    >>> truncated_normal(np.random.default_rng(1), (3,)).round(3)
    array([0.346, 0.822, 0.33 ])
    """
    numbers = np.asarray(rng.standard_normal(shape))
    beyond = np.abs(numbers) > 2
    # 4.6 % of normal numbers are outside; rejection is exact, and needs few rounds.
    while count := np.count_nonzero(beyond):
        numbers[beyond] = rng.standard_normal(count)
        beyond = np.abs(numbers) > 2
    return numbers
