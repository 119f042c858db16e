"""Random numbers with Keras's arguments: ``tf.keras.random``; an integer seed repeats them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.engine.effects import draws, note_draw
from tapemagic.engine.operations.normalization import masked
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tracing import tracer
from tapemagic.nn.arguments import share
from tapemagic.nn.random import draw, generator
from tapemagic.tf.core.adapter import adapter, lengths
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.core.missing import missing
from tapemagic.tf.core.tensor import eager


class SeedGenerator:
    """A source of seeds: each call of a function with it draws other numbers.

    Parameters
    ----------
    seed : int, optional

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> seeds = tf.keras.random.SeedGenerator(1)
    >>> tf.keras.random.uniform((2,), seed=seeds).shape
    TensorShape([2])
    """

    def __init__(self, seed: int | None = None) -> None:
        self._seeds = np.random.default_rng(seed)
        trace = tracer()
        if trace is not None:
            trace.record_new_source(self)

    def next(self) -> int:
        """Return the next seed."""
        return int(draw("integers", 2**31, rng=self._seeds))


@draws
def numbers(method: str, *args: Any, seed: Any = None) -> Any:
    """Draw by a method of a generator: an integer seed gives the same numbers at each call; see `engine.effects`.

    Examples
    --------
    >>> bool(numbers("random", seed=3) == numbers("random", seed=3))
    True
    """
    if isinstance(seed, SeedGenerator):
        rng = np.random.default_rng(int(note_draw(seed._seeds).integers(2**31)))
    else:
        rng = note_draw(generator(seed))
    how: Any = {"truncated": _truncated}.get(method)
    return np.asarray(getattr(rng, method)(*args) if how is None else how(rng, *args))


def _truncated(rng: np.random.Generator, shape: Any) -> Any:
    drawn = rng.normal(size=shape)
    # 4.6 % are outside, and are drawn again.
    while (outside := np.abs(drawn) > 2).any():
        drawn[outside] = rng.normal(size=int(outside.sum()))
    return drawn


def _drawn(drawn: Any, dtype: Any = None) -> Any:
    return eager(tensor(drawn.astype(numpy_dtype(dtype or nn.config.floatx()))))


def normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Draw normal random numbers."""
    return _drawn(numbers("normal", mean, stddev, lengths(shape), seed=seed), dtype)


def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Draw normal random numbers within two standard deviations of the mean."""
    return _drawn(mean + stddev * numbers("truncated", lengths(shape), seed=seed), dtype)


def uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Draw uniform random numbers, `maxval` excluded."""
    return _drawn(numbers("uniform", minval, maxval, lengths(shape), seed=seed), dtype)


def randint(shape: Any, minval: int, maxval: int, dtype: Any = "int32", seed: Any = None) -> Any:
    """Draw random integers, `maxval` excluded."""
    return _drawn(numbers("integers", minval, maxval, lengths(shape), seed=seed), dtype)


def categorical(logits: Any, num_samples: int, dtype: Any = "int32", seed: Any = None) -> Any:
    """Draw classes with the probabilities ``softmax(logits)``, for each row."""
    rows = unwrap(tensor(logits))
    # The largest sum of a logit and a Gumbel number has the probabilities of a softmax.
    size = len(rows), int(num_samples), rows.shape[-1]
    noise = numbers("gumbel", 0.0, 1.0, size, seed=seed)
    return _drawn(np.argmax(rows[:, None] + noise, axis=-1), dtype)


def gamma(shape: Any, alpha: Any, dtype: Any = None, seed: Any = None) -> Any:
    """Draw random numbers of gamma distributions."""
    drawn = numbers("gamma", unwrap(tensor(alpha)), 1.0, lengths(shape), seed=seed)
    return _drawn(drawn, dtype)


@adapter
def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Any:
    """Return a tensor in random order along an axis."""
    x = tensor(x)
    return np.take(x, numbers("permutation", x.shape[axis], seed=seed), axis)


@adapter
def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """Set random elements to 0, and divide the others by 1 - rate."""
    x, rate = tensor(inputs), share(rate, "rate of dropout")
    shape = (
        x.shape
        if noise_shape is None
        else lengths([n if m is None else m for m, n in zip(noise_shape, x.shape, strict=True)])
    )
    kept = numbers("random", shape, seed=seed) >= rate
    return masked(x, mask=np.broadcast_to(kept, x.shape), factor=1 / (1 - rate))


__all__ = [
    "SeedGenerator", "categorical", "dropout", "gamma", "normal", "randint", "shuffle",
    "truncated_normal", "uniform",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
