"""Random generators of layers and initializers: the global generator, and explicit generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.effects import SEED, draws, keep_out_of_programs, note_draw
from tapemagic.engine.operations.normalization import masked
from tapemagic.engine.runtime import register_global_state
from tapemagic.engine.tracing import tracer
from tapemagic.errors import OptionError

_global = register_global_state([np.random.default_rng()])


def set_random_seed(seed: int) -> None:
    """Seed the global generator, which layers and initializers without a seed use.

    Raises OptionError if `seed` isn't an integer, or is negative.

    Parameters
    ----------
    seed : int
        Not negative. The same seed gives the same weights, dropout masks and orders of batches.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.set_random_seed(1)
    >>> a = nn.initializers.GlorotUniform()((2, 2))
    >>> nn.set_random_seed(1)
    >>> b = nn.initializers.GlorotUniform()((2, 2))
    >>> bool((a == b).all())
    True
    """
    if seed is None:
        raise OptionError("a seed must be an integer, not None: write set_random_seed(0)")
    keep_out_of_programs(SEED)
    _global[0] = generator(seed)


@draws
def draw(method: str, *args: Any, rng: Any = None) -> Any:
    """Draw random numbers by a method of a generator, by default of the global generator; see `engine.effects`.

    Examples
    --------
    >>> set_random_seed(1)
    >>> draw("random", (2,)).shape
    (2,)
    """
    return getattr(note_draw(_global[0] if rng is None else rng), method)(*args)


def dropped(x: Any, rate: float, rng: Any) -> Any:
    """Set random elements to 0, and divide the others by 1 - rate, by numbers of `draw`."""
    return masked(x, mask=draw("random", x.shape, rng=rng) >= rate, factor=1 / (1 - rate))


def global_generator() -> np.random.Generator:
    """The global generator, for code that reads its state and draws no numbers."""
    return _global[0]


def generator(seed: Any = None) -> np.random.Generator:
    """Return a new generator for an integer, `seed` itself if it's a generator, or else the global generator.

    Examples
    --------
    >>> bool(generator(3).integers(10) == generator(3).integers(10))
    True
    >>> generator() is generator()
    True
    """
    trace = tracer()
    if trace is not None and (seed is None or isinstance(seed, np.random.Generator)):
        # Two equal traces don't show that a function is deterministic: `if uniform() < 0.5` may agree by chance.
        # So the trace records the draw, and the function stays eager. A new generator with a seed repeats its numbers.
        trace.record_draw()
    if seed is None:
        return _global[0]
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0:
        rng = np.random.default_rng(int(seed))
        if trace is not None:
            trace.record_new_source(rng)
        return rng
    raise OptionError(
        f"a seed must be an integer of at least 0, or a numpy.random.Generator, not {seed!r}: write seed=0"
    )
