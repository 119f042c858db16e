"""Square brackets, loops and unpacking on a tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.operations.scatter import scatter_add
from tapemagic.errors import ImmutableError

ROW = [1.0, 2.0, 3.0]
GRID = [[1.0, 2.0], [3.0, 4.0]]


def gradient(function: Callable[[Any], Any], value: Any) -> Any:
    """The gradient of a function of one tensor, as nested lists."""
    x = tm.constant(value)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).tolist()


def test_last_element() -> None:
    """``t[-1]`` passes its gradient to the last element alone."""
    assert [0.0, 0.0, 6.0] == gradient(lambda t: t[-1] ** 2, ROW)


def test_mask() -> None:
    """``x[x > 0]`` passes gradients to the elements that it selects."""
    assert [0.0, 4.0, 0.0, 10.0] == gradient(lambda x: x[x > 0] ** 2, [-1.0, 2.0, -3.0, 5.0])


def test_repeated_index() -> None:
    """An element that is read twice gets the gradients of both readings."""
    assert [1.0, 0.0, 110.0] == gradient(lambda x: x[[0, 2, 2]] * [1.0, 10.0, 100.0], ROW)


def test_iteration() -> None:
    """A loop over a tensor gives its rows, on the tape."""

    def alternating(t: Any) -> Any:
        total = 0.0
        for sign, row in zip([1.0, -1.0], t, strict=True):
            total = total + sign * np.sum(row**2)
        return total

    assert [[2.0, 4.0], [-6.0, -8.0]] == gradient(alternating, GRID)


def test_unpacking() -> None:
    """``a, b = t`` keeps both parts on the tape."""

    def product(t: Any) -> Any:
        a, b = t
        return a * b

    assert [5.0, 3.0] == gradient(product, [3.0, 5.0])
    assert [[3.0, 4.0], [1.0, 2.0]] == gradient(product, GRID)


def test_starred_unpacking() -> None:
    """A starred name takes the rest of the elements, on the tape."""

    def first_against_rest(t: Any) -> Any:
        first, *rest = t
        return first * sum(rest)

    assert [5.0, 1.0, 1.0] == gradient(first_against_rest, ROW)


def test_length() -> None:
    """``len`` is that of the first axis, and a single number has none."""
    assert 3 == len(tm.constant(ROW))
    assert 2 == len(tm.Variable(GRID))
    with pytest.raises(TypeError, match="one number"):
        len(tm.constant(1.0))
    with pytest.raises(TypeError, match="one number"):
        iter(tm.constant(1.0))


def test_loop_over_indices() -> None:
    """A loop that reads one element after the other gives the gradient of the whole."""

    def squares(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total = total + x[i] ** 2
        return total

    values = np.linspace(-1.0, 1.0, 2000)

    assert (2.0 * values).tolist() == gradient(squares, values)


def test_tensor_as_index() -> None:
    """Tensors and variables of whole numbers can be an index, or part of one."""
    i = tm.constant([1, 1])
    k = tm.Variable(1)

    assert [0.0, 2.0, 0.0] == gradient(lambda x: x[i], ROW)
    assert [0.0, 1.0, 0.0] == gradient(lambda x: x[k], ROW)
    assert [0.0, 1.0, 1.0] == gradient(lambda x: x[k:], ROW)
    assert [[0.0, 0.0], [1.0, 0.0]] == gradient(lambda x: x[k, 0], GRID)


def test_index_changed_afterwards() -> None:
    """Writing into an index, a list or a mask after it was used changes nothing."""
    x = tm.constant(ROW)
    index, numbers, k = np.array([0, 1, 1]), [2, 2], tm.Variable(2)
    mask = np.array([True, False, False])
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = {
            (1.0, 2.0, 0.0): [x[index], np.take(x, index), np.take_along_axis(x, index, 0)],
            (0.0, 0.0, 2.0): [x[numbers], np.take(x, numbers)],
            (1.0, 0.0, 0.0): [x[mask], np.compress(mask, x), np.extract(mask, x)],
            (0.0, 0.0, 1.0): [x[k:]],
            (1.0, 3.0, 3.0): [scatter_add(x, index, (2,)) * [1.0, 3.0], np.choose(index, [x, 3 * x])],
        }  # fmt: skip
        index[:], numbers[:], mask[:] = 2, [1, 1], True
        k.assign(0)

    for expected, found in results.items():
        assert [expected] * len(found) == [tuple(tape.gradient(y, x).tolist()) for y in found]


def test_variable() -> None:
    """A variable is indexed like a tensor."""
    v = tm.Variable(GRID)
    with tm.GradientTape() as tape:
        y = v[0] * v[:, 1]

    assert [[2.0, 5.0], [0.0, 2.0]] == tape.gradient(y, v).tolist()


def test_second_order() -> None:
    """The gradient of an index is itself on the tapes that listen."""
    x = tm.constant(ROW)
    with tm.GradientTape() as outer:
        outer.watch(x)
        with tm.GradientTape() as inner:
            inner.watch(x)
            y = x[[0, 2, 2]] ** 3
        first = inner.gradient(y, x)

    assert [3.0, 0.0, 54.0] == first.tolist()
    assert [6.0, 0.0, 36.0] == outer.gradient(first, x).tolist()


def test_part_as_source() -> None:
    """A part that was taken on the tape is a source of its own."""
    x = tm.constant(ROW)
    with tm.GradientTape() as tape:
        tape.watch(x)
        part = x[1:]
        y = part**2
    found = tape.gradient(y, [part, x])

    assert [[4.0, 6.0], [0.0, 4.0, 6.0]] == [g.tolist() for g in found]


def test_part_taken_afterwards() -> None:
    """A part that was taken off the tape has no gradient, as a source or as a target."""
    x = tm.constant(ROW)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**2

    assert tape.gradient(y, x[0]) is None
    assert tape.gradient(y[0], x) is None


def test_writing_is_refused() -> None:
    """Neither a tensor nor a part of it can be written into."""
    x = tm.constant(ROW)
    with pytest.raises(ImmutableError, match="build a new one"):
        x[0] = 1.0
    with pytest.raises(ImmutableError, match="writes into an array"):
        np.put(x, 0, 1.0)


def test_scatter_add_on_arrays() -> None:
    """`scatter_add` adds up what belongs to the same place, and copies the rest."""
    values = np.array([1.0, 2.0, 3.0], np.float32)
    total = scatter_add(values, [0, 2, 2], (4,))

    assert [1.0, 0.0, 5.0, 0.0] == total.tolist()
    assert np.float32 == total.dtype
    assert [1.0, 0.0, 5.0, 0.0] == scatter_add(values, tm.constant([0, 2, 2]), (4,)).tolist()
    assert [0.0, 1.0, 2.0, 3.0] == scatter_add(values, slice(1, None), (4,)).tolist()
    with pytest.raises(IndexError):
        scatter_add(values, [0, 2, 4], (4,))
    with pytest.raises(ValueError, match="shape"):
        scatter_add(values, slice(0, 2), (4,))
