"""Random tensors: TensorFlow's distributions from NumPy's generators (the numbers differ from TensorFlow's)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tapemagic.engine.effects import SEED, draws, keep_out_of_programs, note_draw
from tapemagic.engine.runtime import register_global_state
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tracing import tracer
from tapemagic.errors import OptionError
from tapemagic.tf.core.adapter import adapter, lengths, plain
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import as_dtype, float32, int32, int64
from tapemagic.tf.core.missing import missing

DRAW = "a random number: draw it before the call, and pass it as an argument"
"""The reason if a generator leaves this module, whose draws a program would not repeat."""

__all__ = [
    "Generator", "categorical", "gamma", "get_global_generator", "normal", "poisson",
    "set_global_generator", "set_seed", "shuffle", "stateless_normal", "stateless_truncated_normal",
    "stateless_uniform", "truncated_normal", "uniform",
]  # fmt: skip


class _State:
    """Seed of `set_seed`, and the generators of operations derived from this seed."""

    def __init__(self) -> None:
        self.reset(None)

    def reset(self, seed: int | None) -> None:
        """Restart all generators from a seed."""
        self.seed = seed
        self.common = np.random.default_rng(seed)
        self.own: dict[int, np.random.Generator] = {}
        self.default: Generator | None = None

    def generator(self, seed: Any) -> np.random.Generator:
        """Return an operation's generator: each operation seed has its own."""
        if seed is None:
            # Without an operation seed, all operations draw from one stream: two calls in a row differ.
            return self.common
        number = int(seed)
        if number not in self.own:
            # As in TensorFlow: with a global seed, an operation seed means another stream for each global seed.
            words = (number,) if self.seed is None else (self.seed, number)
            self.own[number] = np.random.default_rng([w % 2**64 for w in words])
        return self.own[number]


@draws
def draw(method: str, *args: Any, seed: Any = None, source: Any = None) -> Any:
    """Draw an array from an operation's generator, or from a `Generator`; see `engine.effects`.

    Examples
    --------
    >>> draw("random", (2,), seed=1).shape
    (2,)
    """
    rng = note_draw(_state.generator(seed) if source is None else source._own)
    how: Any = OWN_METHODS.get(method)
    return np.asarray(getattr(rng, method)(*args) if how is None else how(rng, *args))


def _standard_truncated(rng: np.random.Generator, size: Any) -> Any:
    """Draw normal samples; redraw those farther than two standard deviations from the mean."""
    drawn = np.asarray(rng.standard_normal(size))
    # Rejection: 4.6 % are drawn again per round, so a few rounds are enough.
    while (far := np.abs(drawn) > 2).any():
        drawn[far] = rng.standard_normal(np.count_nonzero(far))
    return drawn


def _integers_below(rng: np.random.Generator, low: Any, high: Any, size: Any, dtype: Any) -> Any:
    if np.any(low >= high):
        raise OptionError(
            f"uniform draws integers from minval {low} up to maxval {high}, which must be larger"
        )
    return rng.integers(low, high, size, dtype)


OWN_METHODS = {"truncated": _standard_truncated, "integers_below": _integers_below}
"""Draws that aren't methods of NumPy's generators."""


def set_seed(seed: int) -> None:
    """Seed all random operations, Keras included, so that the same program draws the same numbers.

    The numbers differ from TensorFlow's for the same seed.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.random.set_seed(1)
    >>> first = tf.random.uniform([2])
    >>> tf.random.set_seed(1)
    >>> bool(tf.reduce_all(first == tf.random.uniform([2])))
    True
    """
    # default_rng also takes None, with which the draws could not be repeated.
    if not isinstance(seed, (int, np.integer)):
        raise OptionError(f"a seed is an integer, not {seed!r}")
    from tapemagic.nn.random import (
        set_random_seed,
    )  # imported here, because few programs need the layers

    keep_out_of_programs(SEED)
    # default_rng refuses negative seeds, which TensorFlow accepts.
    _state.reset(int(seed) % 2**64)
    set_random_seed(int(seed) % 2**64)


def _real(dtype: Any, called: str) -> Any:
    target = as_dtype(dtype)
    if target.kind != "f":
        raise OptionError(
            f"{called} draws real numbers, not {target.name}: write tf.cast around it"
        )
    return target.dtype


def _scaled(drawn: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    """Scale and shift standard samples; gradients flow to mean and stddev (the reparameterization trick)."""
    return drawn.astype(dtype) * tensor(stddev, dtype) + tensor(mean, dtype)


def _normal(drawn: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    target = _real(dtype, "normal")
    return _scaled(drawn("standard_normal", lengths(shape)), mean, stddev, target)


def _truncated(drawn: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    target = _real(dtype, "truncated_normal")
    return _scaled(drawn("truncated", lengths(shape)), mean, stddev, target)


def _uniform(drawn: Any, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    target, size = as_dtype(dtype), lengths(shape)
    if target.kind in "iu":
        # TensorFlow documents 1 as the default for floats only: integers in [0, 1) would all be 0.
        if maxval is None:
            raise OptionError("integers are drawn below a limit: pass maxval")
        low, high = unwrap(tensor(minval)), unwrap(tensor(maxval))
        return drawn("integers_below", low, high, size, target.dtype)
    real = _real(dtype, "uniform")
    top = tensor(1 if maxval is None else maxval, real)
    low = tensor(minval, real)
    # In float32 from the start: a float64 just below 1 rounds up to 1.0, which the half-open interval excludes.
    numbers = drawn("random", size, np.float32 if target == float32 else np.float64)
    return numbers.astype(real) * (top - low) + low


@adapter
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draw samples from a normal distribution.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.random.normal((3, 2)).shape
    TensorShape([3, 2])
    """
    return _normal(partial(draw, seed=seed), shape, mean, stddev, dtype)


@adapter
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draw samples from a normal distribution truncated at two standard deviations."""
    return _truncated(partial(draw, seed=seed), shape, mean, stddev, dtype)


@adapter
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draw uniform samples from [minval, maxval); `maxval` defaults to 1 for floats."""
    return _uniform(partial(draw, seed=seed), shape, minval, maxval, dtype)


@adapter
def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """Shuffle the slices along the first axis."""
    rows = tensor(value)
    # As indexing, so that gradients flow back to the rows.
    return rows[draw("permutation", rows.shape[0], seed=seed)]


@adapter
def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draw samples from gamma distributions with shape `alpha` and rate `beta`; without gradient."""
    a = unwrap(tensor(alpha))
    rate = 1 if beta is None else unwrap(tensor(beta))
    # TensorFlow draws `shape` samples for each parameter; NumPy's `size` is the shape of the whole result.
    size = lengths(shape) + np.broadcast_shapes(np.shape(a), np.shape(rate))
    return draw("gamma", a, 1 / rate, size, seed=seed).astype(_real(dtype, "gamma"))


@adapter
def poisson(
    shape: Any, lam: Any, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Any:
    """Draw samples from Poisson distributions with mean `lam`."""
    mean = unwrap(tensor(lam))
    drawn = draw("poisson", mean, lengths(shape) + np.shape(mean), seed=seed)
    return drawn.astype(as_dtype(dtype).dtype)


@adapter
def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draw class indices with the unnormalized log probabilities in the rows of `logits`."""
    rows = unwrap(tensor(logits)).astype(np.float64)
    # The Gumbel-max trick (Gumbel 1954): argmax(logits + Gumbel noise) has the softmax probabilities.
    size = rows.shape[0], int(num_samples), rows.shape[1]
    noise = draw("gumbel", 0.0, 1.0, size, seed=seed)
    return np.argmax(rows[:, None] + noise, axis=-1).astype(
        as_dtype(int64 if dtype is None else dtype).dtype
    )


def _of_seed(seed: Any) -> Any:
    """Return a function that draws like `draw`, from a new generator."""
    words = plain(seed).ravel()
    if words.shape != (2,):
        raise OptionError(
            f"the seed of a stateless operation is two integers, such as [1, 2], not {words.tolist()}"
        )
    source = Generator(np.random.default_rng([int(w) % 2**64 for w in words]))
    # Not traced: a new generator draws the same numbers at each call.
    return lambda *args: draw.__wrapped__(*args, source=source)  # type: ignore[attr-defined]


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
    """Draw normal samples determined by the seed, a pair of integers."""
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
    """Draw truncated normal samples determined by the seed, a pair of integers."""
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
    """Draw uniform samples determined by the seed, a pair of integers."""
    return _uniform(_of_seed(seed), shape, minval, maxval, dtype)


class Generator:
    """Source of random numbers with its own state.

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
            raise OptionError(
                "a Generator wraps a NumPy generator: write tf.random.Generator.from_seed(1)"
            )
        self._own = rng

    @property
    def _rng(self) -> np.random.Generator:
        keep_out_of_programs(DRAW)
        return self._own

    @classmethod
    def from_seed(cls, seed: int, alg: Any = None) -> Generator:
        """Return a generator that draws the same numbers for the same seed."""
        return _new(cls(np.random.default_rng(int(seed) % 2**64)))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Return a generator with an unpredictable seed."""
        return _new(cls(np.random.default_rng()))

    def reset_from_seed(self, seed: int) -> None:
        """Restart this generator from a seed."""
        keep_out_of_programs(SEED)
        self._own = np.random.default_rng(int(seed) % 2**64)

    def split(self, count: int = 1) -> list[Generator]:
        """Return generators that are independent of this one and of each other."""
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
        """Draw samples from a normal distribution."""
        return _normal(partial(draw, source=self), shape, mean, stddev, dtype)

    @adapter
    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Any:
        """Draw samples from a normal distribution truncated at two standard deviations."""
        return _truncated(partial(draw, source=self), shape, mean, stddev, dtype)

    @adapter
    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Any:
        """Draw uniform samples from [minval, maxval)."""
        return _uniform(partial(draw, source=self), shape, minval, maxval, dtype)

    @adapter
    def uniform_full_int(self, shape: Any, dtype: Any = int32, name: str | None = None) -> Any:
        """Draw integers from the whole range of a dtype."""
        limits = np.iinfo(as_dtype(dtype).dtype)
        # The last argument is `endpoint`: limits.max + 1 does not fit into the dtype.
        bounds = limits.min, limits.max, lengths(shape), limits.dtype, True
        return draw("integers", *bounds, source=self)


def _new(source: Generator) -> Generator:
    """Tell a running trace that the function makes a generator, which begins again at each call."""
    trace = tracer()
    if trace is not None:
        trace.record_new_source(source)
    return source


_state = register_global_state(_State())


def numpy_generator(seed: int | None = None) -> np.random.Generator:
    """Return the NumPy generator for an operation seed, or the common one; `set_seed` resets both."""
    keep_out_of_programs(DRAW)
    return _state.generator(seed)


def get_global_generator() -> Generator:
    """Return the global generator."""
    if _state.default is None:
        _state.default = Generator(np.random.default_rng(_state.seed))
    return _state.default


def set_global_generator(generator: Generator) -> None:
    """Replace the global generator."""
    keep_out_of_programs(SEED)
    _state.default = generator


__getattr__ = missing(__name__, __all__)
