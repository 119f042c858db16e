"""The same elements in another shape or order, repeated, joined or cut: exact linear maps, all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.laws import check_linear, refused_alike
from tests.properties.strategies import (
    Shape,
    arrays,
    axes_of,
    axis_of,
    orders_of,
    shapes,
    smaller,
    whole,
)

pytestmark = pytest.mark.thorough


@st.composite
def layouts(draw: st.DrawFn, size: int) -> Shape:
    """A shape for so many elements."""
    if not size:
        return (*draw(shapes(most=2)), 0)
    shape: list[int] = []
    while size > 1 and draw(st.booleans()):
        divisors = [n for n in range(1, size + 1) if size % n == 0]
        shape.append(draw(st.sampled_from(divisors)))
        size //= shape[-1]
    return (*shape, size) if size > 1 or draw(st.booleans()) else tuple(shape)


def in_memory(data: st.DataObject, x: Any) -> Any:
    """The same array, laid out in memory by rows or by columns."""
    return data.draw(st.sampled_from([x, np.asfortranarray(x)])) if np.ndim(x) else x


@given(st.data())
def test_reshape(data: st.DataObject) -> None:
    """``np.reshape`` to any shape for as many elements, in any order, one length left open."""
    x = in_memory(data, data.draw(arrays(shapes())))
    shape: Any = list(data.draw(layouts(x.size)))
    if shape and data.draw(st.booleans()):
        k = data.draw(st.integers(0, len(shape) - 1))
        shape[k] = -1 if math.prod(shape[:k] + shape[k + 1 :]) else shape[k]
    order = data.draw(st.sampled_from(["C", "F", "A"]))

    check_linear(lambda v: np.reshape(v, tuple(shape), order=order), x)


@given(st.data())
def test_ravel(data: st.DataObject) -> None:
    """``np.ravel`` in any order that is laid down."""
    x = in_memory(data, data.draw(arrays(shapes())))
    order = data.draw(st.sampled_from(["C", "F", "A"]))

    check_linear(lambda v: np.ravel(v, order=order), x)


@given(st.data())
def test_axes_permuted(data: st.DataObject) -> None:
    """``np.transpose``, ``np.swapaxes``, ``np.moveaxis`` and ``np.rollaxis``."""
    x = data.draw(arrays(shapes(least=1)))
    order = data.draw(st.none() | orders_of(x.ndim))
    one, two = data.draw(axis_of(x.ndim)), data.draw(axis_of(x.ndim))
    source = data.draw(axes_of(x.ndim))
    target = data.draw(orders_of(x.ndim))[: len(source)]
    start = data.draw(st.integers(-x.ndim, x.ndim))

    check_linear(lambda v: np.transpose(v, order), x)
    check_linear(lambda v: np.swapaxes(v, one, two), x)
    check_linear(lambda v: np.moveaxis(v, source, target), x)
    check_linear(lambda v: np.rollaxis(v, one, start), x)


@given(st.data())
def test_axes_of_length_one(data: st.DataObject) -> None:
    """``np.expand_dims`` puts in what ``np.squeeze`` takes out."""
    x = data.draw(arrays(shapes(most=3)))
    count = data.draw(st.integers(0, 2))
    places = data.draw(orders_of(x.ndim + count))[:count]
    more = np.expand_dims(x, places)
    ones = [k for k, n in enumerate(more.shape) if n == 1]
    gone = data.draw(
        st.none() | st.lists(st.sampled_from(ones), unique=True) if ones else st.none()
    )
    gone = gone if gone is None else tuple(gone)

    check_linear(lambda v: np.expand_dims(v, places), x)
    check_linear(lambda v: np.squeeze(v, gone), more)


@pytest.mark.parametrize("function", [np.atleast_1d, np.atleast_2d, np.atleast_3d])
@given(arrays(shapes()))
def test_at_least(function: Any, x: Any) -> None:
    """``np.atleast_1d`` and its kin."""
    check_linear(function, x)


@given(st.data())
def test_broadcast_to(data: st.DataObject) -> None:
    """What broadcasting repeats, the gradient adds up."""
    shape = data.draw(shapes())
    x = data.draw(arrays(data.draw(smaller(shape))))

    check_linear(lambda v: np.broadcast_to(v, shape), x)


@given(st.data())
def test_tile(data: st.DataObject) -> None:
    """``np.tile`` with more or fewer repetitions than axes, zero among them."""
    x = data.draw(arrays(shapes(most=3)))
    counts = st.integers(0, 3)
    reps = data.draw(counts | st.lists(counts, max_size=4).map(tuple))

    check_linear(lambda v: np.tile(v, reps), x)


@given(st.data())
def test_repeat(data: st.DataObject) -> None:
    """``np.repeat`` of all elements alike, or each so many times."""
    x = data.draw(arrays(shapes(most=3)))
    axis = data.draw(st.none() | axis_of(x.ndim) if x.ndim else st.none())
    n = x.size if axis is None else x.shape[axis]
    counts = st.integers(0, 3)
    repeats = data.draw(counts | st.lists(counts, min_size=n, max_size=n))

    check_linear(lambda v: np.repeat(v, repeats, axis), x)


@given(st.data())
def test_roll_and_flip(data: st.DataObject) -> None:
    """``np.roll`` over any axes, the same one twice among them; ``np.flip`` and ``np.rot90``."""
    x = data.draw(arrays(shapes(least=1)))
    several = data.draw(st.lists(axis_of(x.ndim), max_size=3).map(tuple))
    axis = data.draw(st.sampled_from([None, data.draw(axis_of(x.ndim)), several]))
    shifts = st.integers(-5, 5)
    shift = data.draw(shifts)
    if isinstance(axis, tuple):
        shift = data.draw(st.sampled_from([shift, tuple(data.draw(shifts) for _ in axis)]))
    flipped = data.draw(st.none() | axes_of(x.ndim))
    turns = data.draw(shifts)

    check_linear(lambda v: np.roll(v, shift, axis), x)
    check_linear(lambda v: np.flip(v, flipped), x)
    if x.ndim > 1:
        plane = data.draw(orders_of(x.ndim))[:2]
        check_linear(lambda v: np.rot90(v, turns, plane), x)


@given(st.data())
def test_joined(data: st.DataObject) -> None:
    """Several arrays along an axis that they have, or along a new one."""
    x = data.draw(arrays(shapes(most=3)))
    count = data.draw(st.integers(1, 3))
    alike = [whole(x, seed=k) for k in range(count)]
    new = data.draw(axis_of(x.ndim + 1))

    check_linear(lambda *vs: np.stack(vs, axis=new), *alike)
    for function in (np.vstack, np.hstack, np.dstack, np.column_stack):
        check_linear(lambda *vs, function=function: function(vs), *alike)
    check_linear(lambda *vs: np.concatenate([np.ravel(v) for v in vs], axis=None), *alike)
    if x.ndim:
        axis = data.draw(axis_of(x.ndim))
        parts = [np.repeat(v, data.draw(st.integers(0, 2)), axis) for v in alike]
        check_linear(lambda *vs: np.concatenate(vs, axis=axis), *parts)


@given(st.data())
def test_edited(data: st.DataObject) -> None:
    """``np.append``, ``np.insert``, ``np.delete`` and ``np.resize``."""
    x = data.draw(arrays(shapes(least=1, most=3)))
    axis = data.draw(st.none() | axis_of(x.ndim))
    n = x.size if axis is None else x.shape[axis]
    more = whole(x, seed=1)
    places = data.draw(st.lists(st.integers(-n, n - 1), max_size=3) if n else st.just([]))
    spots = data.draw(st.lists(st.integers(-n, n), min_size=1, max_size=3))
    entry = whole(np.empty((), x.dtype), seed=2)
    shape = data.draw(shapes(most=3))

    check_linear(lambda v, w: np.append(v, w, axis=axis), x, more)
    check_linear(lambda v: np.delete(v, places, axis=axis), x)
    check_linear(lambda v, w: np.insert(v, spots, w, axis=axis), x, entry)
    if x.size:
        check_linear(lambda v: np.resize(v, shape), x)


@given(st.data())
def test_blocks(data: st.DataObject) -> None:
    """``np.block`` of rows of blocks, of any number of axes."""
    heights = data.draw(shapes(least=1, most=2))
    widths = data.draw(shapes(least=1, most=3))
    lead = data.draw(shapes(most=1))
    blocks = [whole(np.empty((*lead, h, w)), h + w) for h in heights for w in widths]

    def call(*vs: Any) -> Any:
        rows = [list(vs[k : k + len(widths)]) for k in range(0, len(vs), len(widths))]
        return np.block(rows)

    check_linear(call, *blocks)


@pytest.mark.parametrize("function", [np.split, np.array_split])
@given(st.data())
def test_cut(function: Any, data: st.DataObject) -> None:
    """Cut into equal parts, or at places, also such as overlap, repeat, or lie beyond the ends."""
    x = data.draw(arrays(shapes(least=1, most=3)))
    axis = data.draw(axis_of(x.ndim))
    places = st.lists(st.integers(-5, 5), max_size=3)
    cuts = data.draw(st.integers(1, 4) | places)

    if not refused_alike(lambda v: function(v, cuts, axis), x):
        check_linear(lambda v: function(v, cuts, axis)[::-1], x)
        check_linear(lambda v: function(v, cuts, axis)[-1], x)


@pytest.mark.parametrize("mode", ["constant", "edge", "wrap", "reflect", "symmetric"])
@given(st.data())
def test_pad(mode: str, data: st.DataObject) -> None:
    """``np.pad`` with zeros, or with the array's own elements."""
    x = data.draw(arrays(shapes(least=1, most=3, shortest=1)))
    widths = [tuple(data.draw(st.integers(0, 4)) for _ in range(2)) for _ in x.shape]

    if not refused_alike(lambda v: np.pad(v, widths, mode=mode), x):
        check_linear(lambda v: np.pad(v, widths, mode=mode), x)


@given(st.data())
def test_differences(data: st.DataObject) -> None:
    """``np.diff`` of any order, with something put in front and behind."""
    x = data.draw(arrays(shapes(least=1, most=3, shortest=1)))
    axis = data.draw(axis_of(x.ndim))
    n = data.draw(st.integers(0, 2))
    ends = [whole(np.take(x, [0] * data.draw(st.integers(1, 2)), axis), seed=k) for k in (1, 2)]

    check_linear(lambda v: np.diff(v, n, axis), x)
    check_linear(lambda v, a, b: np.diff(v, n + 1, axis, prepend=a, append=b), x, *ends)


@given(st.data())
def test_side_by_side(data: st.DataObject) -> None:
    """``np.broadcast_arrays`` and ``np.meshgrid``, each of whose results counts."""
    shape = data.draw(shapes(most=3))
    xs = [whole(np.empty(data.draw(smaller(shape))), seed=k) for k in range(3)]
    rows = [whole(np.empty(data.draw(shapes(most=1))), seed=k) for k in range(3)]
    indexing = data.draw(st.sampled_from(["xy", "ij"]))
    sparse = data.draw(st.booleans())
    count = data.draw(st.integers(1, 3))

    check_linear(lambda *vs: list(np.broadcast_arrays(*vs)), *xs)
    check_linear(
        lambda *vs: list(np.meshgrid(*vs, indexing=indexing, sparse=sparse)), *rows[:count]
    )


@given(st.data())
def test_one_after_another(data: st.DataObject) -> None:
    """Chains of such maps, with the input used again at the end."""
    x = data.draw(arrays(shapes(least=1, most=3)))
    axis = data.draw(axis_of(x.ndim))
    order = data.draw(orders_of(x.ndim))
    step = data.draw(st.sampled_from([1, -1, 2, -2]))

    def call(v: Any) -> Any:
        turned = np.transpose(v, order)
        rolled = np.roll(np.repeat(turned, 2, axis=axis), 1, axis=axis)
        thinned = np.flip(rolled[..., ::step], axis)
        return np.concatenate([np.ravel(thinned), np.reshape(v, (-1,)) if v.size else np.ravel(v)])

    check_linear(call, x)
