"""A program under construction, whose values at its point are known, so that they stay in their domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from benchmarks.crosscheck.programs import Block, Library, Step, perform

T = TypeVar("T")

LARGEST = 4.0
"""Values beyond this are scaled down."""

MOST = 60
"""Elements of an array."""

GAP = 1e-3
"""How far apart what is compared has to be, so that rounding does not decide."""


class Impossible(Exception):  # noqa: N818 (no error: another operation is drawn)
    """The operation that was drawn fits no value."""


class Draft:
    """The steps so far, and their values.

    Parameters
    ----------
    rng : numpy.random.Generator
    points : sequence of array
        The inputs.
    library : Library
        Computes the values, on bare arrays.
    repeated : bool, optional
        Whether the steps will be run on other values, too: then domains are kept whatever comes.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        points: Sequence[Any],
        library: Library,
        repeated: bool = False,
    ) -> None:
        self.rng = rng
        self.library = library
        self.repeated = repeated
        self.inputs = len(points)
        self.values: list[Any] = list(points)
        self.varying = set(range(len(points)))
        self.steps: list[Step] = []

    def block(self, *outputs: int) -> Block:
        """What was drawn so far."""
        return Block(self.inputs, tuple(self.steps), outputs)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Take the steps of this block back if one of them is impossible."""
        before = len(self.steps)
        try:
            yield
        except (Impossible, FloatingPointError, np.linalg.LinAlgError):
            del self.steps[before:]
            del self.values[self.inputs + before :]

    # -- drawing ----------------------------------------------------------------------------------

    def one(self, options: Sequence[T]) -> T:
        """One of several."""
        if not options:
            raise Impossible
        return options[int(self.rng.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        """True so often."""
        return bool(self.rng.random() < probability)

    def pick(self, test: Callable[[Any], bool] = lambda _: True) -> int:
        """A value that passes a test, and is not very large; those of the last steps more often."""
        arrays = [(i, v) for i, v in enumerate(self.values) if not isinstance(v, tuple)]
        fitting = [i for i, v in arrays if np.max(np.abs(v)) < 2 * LARGEST and test(v)]
        recent = [i for i in fitting if i >= len(self.values) - 5]
        return self.one(recent if recent and self.chance(0.6) else fitting)

    def real(self, least: int = 0, most: int = 4) -> int:
        """A real value of so many axes."""
        return self.pick(lambda v: v.dtype.kind == "f" and least <= v.ndim <= most)

    def axis(self, i: int) -> int:
        """An axis, counted from either end."""
        n = self.values[i].ndim
        return self.one(range(-n, n))

    def matching(self, i: int, kinds: str = "fc") -> int:
        """A value that broadcasts with another."""
        shape = self.values[i].shape
        return self.pick(lambda v: v.dtype.kind in kinds and broadcasts(v.shape, shape))

    # -- steps ------------------------------------------------------------------------------------

    def emit(self, op: str, *args: int, **params: Any) -> int:
        """Add a step; its number."""
        step = Step(op, args, params)
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            value = perform(step, self.library, [self.values[i] for i in args])
        value = tuple(map(np.asarray, value)) if isinstance(value, tuple) else np.asarray(value)
        for part in value if isinstance(value, tuple) else (value,):
            if not (0 < part.size <= MOST and part.ndim <= 4 and np.all(np.isfinite(part))):
                raise Impossible
        self.steps.append(step)
        self.values.append(value)
        number = len(self.values) - 1
        self.varying.discard(number)
        differentiable = args[2:] if op == "where_greater" else args
        if self.varying.intersection(differentiable):
            self.varying.add(number)
        return len(self.values) - 1

    def constant(self, value: Any) -> int:
        """An array that is no input."""
        return self.emit("constant", value=np.asarray(value))

    def normal(self, shape: tuple[int, ...]) -> int:
        """A constant array of random numbers."""
        return self.constant(np.round(self.rng.normal(size=shape), 3))

    def tame(self, i: int) -> int:
        """Scale a value down if it has become large."""
        if isinstance(self.values[i], tuple):
            return i
        size = float(np.max(np.abs(self.values[i])))
        if size <= LARGEST:
            return i
        return self.emit("times", i, by=float(f"{2.0 / size:.2g}"))

    def confine(self, i: int, low: float, high: float) -> int:
        """A real value inside an interval: itself, or an S-shaped function of it."""
        v = self.values[i]
        if not self.repeated and np.min(v) > low and np.max(v) < high:
            return i
        bounded = self.emit("tanh", i)
        return self.emit(
            "plus", self.emit("times", bounded, by=0.45 * (high - low)), by=0.5 * (low + high)
        )

    def within(self, i: int, radius: float) -> int:
        """A complex value inside a circle around 0."""
        size = float(np.max(np.abs(self.values[i])))
        return i if size < radius else self.emit("times", i, by=float(f"{0.9 * radius / size:.2g}"))

    def apart(self, *numbers: Any) -> None:
        """Give up unless these arrays are nowhere near zero."""
        if self.repeated or any(np.min(np.abs(n), initial=1.0) < GAP for n in numbers):
            raise Impossible

    def distinct(self, i: int, axis: Any = None) -> None:
        """Give up unless the elements along an axis, or several, all differ."""
        v = self.values[i]
        if axis is None or isinstance(axis, tuple):
            ordered = np.sort(v, axis=None)
        else:
            ordered = np.moveaxis(np.sort(v, axis=axis), axis, -1)
        self.apart(np.diff(ordered, axis=-1))


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes fit together, in an array that is not too large."""
    try:
        return bool(np.prod(np.broadcast_shapes(a, b)) <= MOST)
    except ValueError:
        return False


def stretches(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether the first shape broadcasts to the second one."""
    return broadcasts(a, b) and np.broadcast_shapes(a, b) == b
