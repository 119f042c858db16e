"""Draws programs: the same ones from the same seeds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import tapemagic
from benchmarks.crosscheck import matrix_actions, reduction_actions, shape_actions  # noqa: F401 (they register actions)
from benchmarks.crosscheck.actions import ACTIONS, Action
from benchmarks.crosscheck.drafts import Draft, Impossible, stretches
from benchmarks.crosscheck.functions import NumpyLike
from benchmarks.crosscheck.programs import (
    Block,
    Library,
    Program,
    by_turns,
    by_value,
    count,
    pruned,
)

NUMPY = Library(NumpyLike(np, tapemagic), by_turns, by_value)
"""Computes the values, so that they can be kept in the domains of what comes next."""

LENGTHS = (1, 2, 3, 3, 4, 5)


def draw(seed: int, known: Callable[[str], bool] = lambda _: True) -> Program:
    """A program of 20 to 200 operations.

    Parameters
    ----------
    seed : int
    known : callable, optional
        Whether an operation may be used: those that the libraries do not have are left out.
    """
    rng = np.random.default_rng(seed)
    mixed = rng.random() < 0.25
    points = [_point(rng, mixed and rng.random() < 0.7) for _ in range(rng.integers(2, 5))]
    draft = Draft(rng, points, NUMPY)
    allowed = [one for one in ACTIONS if all(map(known, one.needs))]
    wanted = int(np.exp(rng.uniform(np.log(20), np.log(200))))
    while count(draft.block()) < wanted:
        _grow(draft, allowed)
    outputs = _ends(draft)
    weights = [_like(rng, draft.values[i]) for i in outputs]
    directions = [_like(rng, point) for point in points]
    block = pruned(draft.block(*outputs))
    return Program(seed, block, tuple(points), tuple(weights), tuple(directions))


def _point(rng: np.random.Generator, mixed: bool) -> np.ndarray:
    """An input."""
    shape = tuple(rng.choice(LENGTHS, rng.integers(0, 4)))
    return _like(rng, np.empty(shape, complex if mixed else float))


def _like(rng: np.random.Generator, value: np.ndarray) -> np.ndarray:
    """Normally distributed numbers of a value's shape and kind, with few digits."""
    numbers = rng.normal(size=value.shape)
    if value.dtype.kind == "c":
        numbers = numbers + 1j * rng.normal(size=value.shape)
    return np.asarray(np.round(numbers, 3))


def _grow(d: Draft, allowed: list[Action]) -> None:
    """Add an action, a loop or a branch."""
    chance = d.rng.random()
    with d.attempt():
        if chance < 0.02:
            _loop(d, [one for one in allowed if one.anywhere])
        elif chance < 0.04:
            _branch(d, allowed)
        else:
            d.tame(_drawn(d, allowed).act(d))


def _drawn(d: Draft, allowed: list[Action]) -> Action:
    weights = np.array([one.weight for one in allowed])
    return allowed[d.rng.choice(len(allowed), p=weights / weights.sum())]


def _free(d: Draft) -> list[int]:
    """A value for a block to work on, which is no constant, and one or two more for it to read."""
    varying = [i for i, v in enumerate(d.values) if i in d.varying and not isinstance(v, tuple)]
    return [d.one(varying), *(d.pick() for _ in range(int(d.rng.integers(1, 3))))]


def _loop(d: Draft, allowed: list[Action]) -> int:
    """A value run through the same steps several times."""
    args = _free(d)
    body = _body(d, args, allowed, repeated=True)
    return d.emit("loop", *args, times=int(d.rng.integers(2, 6)), body=body)


def _branch(d: Draft, allowed: list[Action]) -> int:
    """One of two blocks, as a number is positive or not."""
    test = d.emit("sum", d.real())
    if abs(d.values[test]) < 0.01:
        raise Impossible
    args = _free(d)
    yes, no = (_body(d, args, allowed, repeated=False) for _ in range(2))
    return d.tame(d.emit("branch", test, *args, yes=yes, no=no))


def _body(d: Draft, args: list[int], allowed: list[Action], repeated: bool) -> Block:
    """Steps that end in a value of the first argument's shape and kind, and no larger than 2."""
    inner = Draft(d.rng, [d.values[i] for i in args], d.library, repeated)
    for _ in range(int(d.rng.integers(2, 7))):
        with inner.attempt():
            inner.tame(_drawn(inner, allowed).act(inner))
    carried = inner.values[0]
    if carried.dtype.kind == "c":
        last = inner.pick(lambda v: v.shape == carried.shape and v.dtype == carried.dtype)
        bounded = inner.emit("times", inner.emit("+", 0, last), by=0.25)
    else:
        last = inner.real()
        if not stretches(inner.values[last].shape, carried.shape):
            last = inner.emit("mean", last)
        bounded = inner.emit("tanh", inner.emit("+", 0, last))
    return pruned(inner.block(bounded))


def _ends(d: Draft) -> list[int]:
    """The values that no step has read; or one that all of them are added to."""
    arrays = [i for i, v in enumerate(d.values) if not isinstance(v, tuple) and i >= d.inputs]
    read = {i for step in d.steps for i in step.args}
    ends = [i for i in arrays if i not in read and i in d.varying]
    if d.chance(0.5):
        return ends
    last = ends.pop()
    for i in ends:
        last = d.emit("+", d.emit("mean", i), last)
    return [last]
