"""Random tensors: TensorFlow's distributions, drawn with NumPy's generators. The numbers are not TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.runtime import register_global_state
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.tf.core.adapter import adapter, lengths, plain
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import as_dtype, float32, int32, int64
from tapemagic.tf.core.missing import missing

__all__ = [
    "Generator",
    "categorical",
    "gamma",
    "get_global_generator",
    "normal",
    "poisson",
    "set_global_generator",
    "set_seed",
    "shuffle",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]


class _State:
    """The seed that `set_seed` gave, and the generators that operations have of it."""

    def __init__(self) -> None:
        self.reset(None)

    def reset(self, seed: int | None) -> None:
        """Begin anew from a seed."""
        self.seed = seed
        self.common = np.random.default_rng(seed)
        self.own: dict[int, np.random.Generator] = {}
        self.default: Generator | None = None

    def generator(self, seed: Any) -> np.random.Generator:
        """The generator of an operation: one of its own for each seed that was given to an operation."""
        if seed is None:
            return self.common
        number = int(seed)
        if number not in self.own:
            words = (number,) if self.seed is None else (self.seed, number)
            self.own[number] = np.random.default_rng([w % 2**64 for w in words])
        return self.own[number]


def set_seed(seed: int) -> None:
    """Seed all random operations, and those of Keras: from here on the same program draws the same numbers.

    They are others than TensorFlow's for the same seed.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.random.set_seed(1)
    >>> first = tf.random.uniform([2])
    >>> tf.random.set_seed(1)
    >>> bool(tf.reduce_all(first == tf.random.uniform([2])))
    True
    """
    if not isinstance(seed, (int, np.integer)):
        raise OptionError(f"a seed is a whole number, not {seed!r}")
    from tapemagic.nn.random import set_random_seed  # here, since few programs need the layers

    _state.reset(int(seed) % 2**64)
    set_random_seed(int(seed) % 2**64)


def _real(dtype: Any, called: str) -> Any:
    wanted = as_dtype(dtype)
    if wanted.kind != "f":
        raise OptionError(
            f"{called} draws real numbers, not {wanted.name}: write tf.cast around it"
        )
    return wanted.dtype


def _scaled(drawn: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    """Standard numbers, stretched and moved; gradients go to mean and stddev."""
    return drawn.astype(dtype) * tensor(stddev, dtype) + tensor(mean, dtype)


def _normal(rng: np.random.Generator, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    wanted = _real(dtype, "normal")
    return _scaled(np.asarray(rng.standard_normal(lengths(shape))), mean, stddev, wanted)


def _truncated(rng: np.random.Generator, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    """Normal numbers of which those farther than two deviations from the mean are drawn again."""
    wanted = _real(dtype, "truncated_normal")
    drawn = np.asarray(rng.standard_normal(lengths(shape)))
    while (far := np.abs(drawn) > 2).any():
        drawn[far] = rng.standard_normal(np.count_nonzero(far))
    return _scaled(drawn, mean, stddev, wanted)


def _uniform(rng: np.random.Generator, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    wanted, size = as_dtype(dtype), lengths(shape)
    if wanted.kind in "iu":
        if maxval is None:
            raise OptionError("whole numbers are drawn below a limit: give maxval")
        low, high = unwrap(tensor(minval)), unwrap(tensor(maxval))
        if np.any(low >= high):
            raise OptionError(
                f"uniform draws whole numbers from minval {low} up to maxval {high}, which has to be larger"
            )
        return np.asarray(rng.integers(low, high, size, wanted.dtype))
    real = _real(dtype, "uniform")
    top = tensor(1 if maxval is None else maxval, real)
    low = tensor(minval, real)
    drawn = rng.random(size, np.float32 if wanted == float32 else np.float64)
    return np.asarray(drawn).astype(real) * (top - low) + low


@adapter
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Numbers of a normal distribution.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.random.normal((3, 2)).shape
    TensorShape([3, 2])
    """
    return _normal(_state.generator(seed), shape, mean, stddev, dtype)


@adapter
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Numbers of a normal distribution, none farther than two deviations from the mean."""
    return _truncated(_state.generator(seed), shape, mean, stddev, dtype)


@adapter
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Evenly distributed numbers from `minval` up to `maxval`, 1 if left out, without it."""
    return _uniform(_state.generator(seed), shape, minval, maxval, dtype)


@adapter
def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """The slices along the first axis in a random order."""
    held = tensor(value)
    return held[_state.generator(seed).permutation(held.shape[0])]


@adapter
def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Numbers of gamma distributions, for each pair of a shape `alpha` and a rate `beta`; without gradient."""
    a = np.asarray(unwrap(tensor(alpha)))
    rate = np.asarray(1 if beta is None else unwrap(tensor(beta)))
    size = lengths(shape) + np.broadcast_shapes(a.shape, rate.shape)
    return np.asarray(_state.generator(seed).gamma(a, 1 / rate, size)).astype(_real(dtype, "gamma"))


@adapter
def poisson(
    shape: Any, lam: Any, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Any:
    """Numbers of Poisson distributions, for each mean `lam`."""
    mean = np.asarray(unwrap(tensor(lam)))
    drawn = _state.generator(seed).poisson(mean, lengths(shape) + mean.shape)
    return np.asarray(drawn).astype(as_dtype(dtype).dtype)


@adapter
def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Places drawn with probabilities of which the logarithms, up to a constant, are the rows of `logits`."""
    rows = np.asarray(unwrap(tensor(logits)), np.float64)
    noise = _state.generator(seed).gumbel(size=(rows.shape[0], int(num_samples), rows.shape[1]))
    return np.argmax(rows[:, None] + noise, axis=-1).astype(
        as_dtype(int64 if dtype is None else dtype).dtype
    )


def _of_seed(seed: Any) -> np.random.Generator:
    words = plain(seed).ravel()
    if words.shape != (2,):
        raise OptionError(
            f"the seed of a stateless operation is two whole numbers, such as [1, 2], not {words.tolist()}"
        )
    return np.random.default_rng([int(w) % 2**64 for w in words])


@adapter
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Numbers of a normal distribution; always the same for the same seed, a pair of whole numbers."""
    return _normal(_of_seed(seed), shape, mean, stddev, dtype)


@adapter
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Normal numbers within two deviations; always the same for the same seed."""
    return _truncated(_of_seed(seed), shape, mean, stddev, dtype)


@adapter
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Evenly distributed numbers; always the same for the same seed."""
    return _uniform(_of_seed(seed), shape, minval, maxval, dtype)


class Generator:
    """A source of random numbers with a state of its own.

    Parameters
    ----------
    rng : numpy.random.Generator

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> rng = tf.random.Generator.from_seed(1)
    >>> rng.normal([2]).shape
    TensorShape([2])
    """

    def __init__(self, rng: np.random.Generator) -> None:
        if not isinstance(rng, np.random.Generator):
            raise OptionError("make one with tf.random.Generator.from_seed(1)")
        self._rng = rng

    @classmethod
    def from_seed(cls, seed: int, alg: Any = None) -> Generator:
        """A generator that draws the same numbers for the same seed."""
        return cls(np.random.default_rng(int(seed) % 2**64))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that draws other numbers each time."""
        return cls(np.random.default_rng())

    def reset_from_seed(self, seed: int) -> None:
        """Begin anew from a seed."""
        self._rng = np.random.default_rng(int(seed) % 2**64)

    def split(self, count: int = 1) -> list[Generator]:
        """Generators that are independent of this one, and of each other."""
        return [Generator(rng) for rng in self._rng.spawn(count)]

    @adapter
    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Any:
        """Numbers of a normal distribution."""
        return _normal(self._rng, shape, mean, stddev, dtype)

    @adapter
    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Any:
        """Numbers of a normal distribution within two deviations."""
        return _truncated(self._rng, shape, mean, stddev, dtype)

    @adapter
    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Any:
        """Evenly distributed numbers."""
        return _uniform(self._rng, shape, minval, maxval, dtype)

    @adapter
    def uniform_full_int(self, shape: Any, dtype: Any = int32, name: str | None = None) -> Any:
        """Whole numbers from the whole range of a dtype."""
        limits = np.iinfo(as_dtype(dtype).dtype)
        return np.asarray(
            self._rng.integers(limits.min, limits.max, lengths(shape), limits.dtype, endpoint=True)
        )


_state = register_global_state(_State())


def numpy_generator(seed: int | None = None) -> np.random.Generator:
    """NumPy's generator for an operation with a seed, or for all those without one; `set_seed` renews both."""
    return _state.generator(seed)


def get_global_generator() -> Generator:
    """The generator of the whole program."""
    if _state.default is None:
        _state.default = Generator(np.random.default_rng(_state.seed))
    return _state.default


def set_global_generator(generator: Generator) -> None:
    """Take another generator for the whole program."""
    _state.default = generator


__getattr__ = missing(__name__, __all__)
