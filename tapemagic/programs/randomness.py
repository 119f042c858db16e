"""Random numbers: whether any were drawn, by the states of the generators that a function can reach."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tapemagic.engine.runtime import registered_states

GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)

DEPTH = 3
"""The depth inside of this package's state down to which generators are looked for."""


class RandomState:
    """The states of generators at one moment: NumPy's global one, Python's, this package's, and those given.

    Parameters
    ----------
    reached : iterable of object
        What a function can reach; generators among them are looked at, and what has one as its attribute.
    names : callable, optional
        The name of a generator in the function's code; empty if it has none.
    python : bool, optional
        Whether the generator of Python's module random is looked at, whose state takes long to read: NumPy and this
        package do not draw from it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> before = RandomState([rng])
    >>> before.drawn_since()
    ''
    >>> _ = rng.random()
    >>> before.drawn_since()
    'a generator of np.random'
    """

    def __init__(
        self,
        reached: Iterable[Any] = (),
        names: Callable[[Any], str] = lambda _: "",
        python: bool = True,
    ) -> None:
        self._reached = list(reached)
        self._names = names
        self._generators = self._found()
        self._python: Any = random.getstate() if python else None
        self._numpy = global_state()
        self._states = {i: state_of(x) for i, x in self._generators.items()}

    def _found(self) -> dict[int, Any]:
        """The generators that can be reached now, by identity."""
        own = registered_states()
        for _ in range(DEPTH - 1):
            own = [x for each in own for x in (each, *_parts(each))]
        held = [x for each in (*own, *self._reached) for x in (each, *_parts(each))]
        return {id(x): x for x in held if isinstance(x, GENERATORS)}

    def drawn_since(self) -> str:
        """From which generator numbers were drawn since then, in words; empty if from none."""
        if self._python is not None and self._python != random.getstate():
            return "the module random"
        if self._numpy != global_state():
            return "np.random"
        if self._found().keys() != self._generators.keys():
            return "a generator that is another one now"
        for i, generator in self._generators.items():
            if self._states[i] != state_of(generator):
                return self._names(generator) or f"a generator of {home_of(generator)}"
        return ""


def home_of(generator: Any) -> str:
    """The module of a generator."""
    return "random" if isinstance(generator, random.Random) else "np.random"


def global_state() -> Any:
    """The state of NumPy's global generator, without the second one of a pair of normal numbers that it may hold back.

    The Mersenne twister's is read from memory, its 624 words and its position: NumPy takes long to make an array of it.
    """
    generator = np.random.get_bit_generator()  # type: ignore[attr-defined]
    if isinstance(generator, np.random.MT19937):
        return ctypes.string_at(generator.ctypes.state_address, 4 * 625)
    return frozen(np.random.get_state(legacy=False))  # noqa: NPY002 (it is the global one)


def state_of(generator: Any) -> Any:
    """The state of a generator, which is another one after numbers were drawn.

    That of one which asks the system for its numbers is None: it has no state, and its calls are observed. What cannot
    be read is another one each time.

    Examples
    --------
    >>> state_of(random.SystemRandom())
    >>> rng = np.random.default_rng(0)
    >>> before = state_of(rng)
    >>> _ = rng.spawn(1)  # whose numbers are others at each call
    >>> before == state_of(rng)
    False
    """
    if isinstance(generator, random.SystemRandom):
        return None
    try:
        if isinstance(generator, random.Random):
            return generator.getstate()
        if isinstance(generator, np.random.RandomState):
            return frozen(generator.get_state())
        bits = getattr(generator, "bit_generator", generator)
        return frozen(bits.state), getattr(bits.seed_seq, "n_children_spawned", 0)
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return object()


def _parts(x: Any) -> list[Any]:
    """The elements of a list, tuple or dict; the values of any other object's attributes."""
    if isinstance(x, list | tuple):
        return list(x)
    if isinstance(x, dict):
        return list(x.values())
    if isinstance(x, GENERATORS):
        return []
    slots = [name for kind in type(x).__mro__ for name in getattr(kind, "__slots__", ())]
    return [*getattr(x, "__dict__", {}).values(), *(getattr(x, name, None) for name in slots)]


def frozen(state: Any) -> Any:
    """A state of dicts, tuples, arrays and numbers as a value that can be compared."""
    if isinstance(state, dict):
        return [(key, frozen(part)) for key, part in state.items()]
    if isinstance(state, tuple):
        return tuple(map(frozen, state))
    return state.tobytes() if isinstance(state, np.ndarray) else state
