"""Random numbers of layers and initializers: one global generator, or an explicit one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.runtime import register_global_state
from tapemagic.engine.tracing import tracer
from tapemagic.errors import OptionError

_global = register_global_state([np.random.default_rng()])


def set_random_seed(seed: int) -> None:
    """Seed the global generator, from which layers and initializers without a seed of their own draw.

    Parameters
    ----------
    seed : int
        Not negative. The same seed gives the same weights, dropout masks and orders of batches.

    Raises
    ------
    OptionError
        If `seed` is no whole number, or negative.

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
        raise OptionError("a seed is a whole number, not None: write set_random_seed(0)")
    _global[0] = generator(seed)


def generator(seed: Any = None) -> np.random.Generator:
    """The generator for a seed: a new one for a whole number, the given one, or the global one for None.

    Raises
    ------
    OptionError
        If `seed` is something else.

    Examples
    --------
    >>> bool(generator(3).integers(10) == generator(3).integers(10))
    True
    >>> generator() is generator()
    True
    """
    told = tracer()
    if told is not None:
        told.draws()
    if seed is None:
        return _global[0]
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0:
        return np.random.default_rng(int(seed))
    raise OptionError(
        f"a seed is a whole number from 0 on or a numpy.random.Generator, not {seed!r}: write seed=0"
    )
