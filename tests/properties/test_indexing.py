"""Square brackets, and what takes, sorts and chooses, for any index of any shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tapemagic.engine.operations.scatter import scatter_add
from tests.properties.laws import check_linear, check_smooth, gradient, refused_alike
from tests.properties.strategies import (
    apart,
    arrays,
    axis_of,
    indices,
    masks,
    shapes,
    smaller,
    whole,
)

pytestmark = pytest.mark.thorough


@given(st.data())
def test_index(data: st.DataObject) -> None:
    """``x[index]`` gives every element's gradient back to its place, added up where it repeats."""
    x = data.draw(arrays(shapes()))
    index = data.draw(indices(x.shape))

    check_linear(lambda v: v[index], x)


@given(st.data())
def test_index_of_an_index(data: st.DataObject) -> None:
    """One index after another, in a sum with the whole."""
    x = data.draw(arrays(shapes(least=1)))
    first = data.draw(indices(x.shape))
    second = data.draw(indices(x[first].shape))

    check_linear(lambda v: np.sum(v[first][second]) + 2 * v, x)


@given(st.data())
def test_index_of_something_curved(data: st.DataObject) -> None:
    """Second derivatives find their way through an index, too."""
    x = apart(data.draw(shapes(most=3)))
    index = data.draw(indices(x.shape))

    check_smooth(lambda v: np.sin(v[index]) * np.sum(v[index]), x)


@given(st.data())
def test_scatter_add(data: st.DataObject) -> None:
    """`scatter_add` is the adjoint of the index."""
    shape = data.draw(shapes(least=1))
    index = data.draw(indices(shape))
    values = data.draw(arrays(np.zeros(shape)[index].shape))

    check_linear(lambda v: scatter_add(v, index, shape), values)


@given(st.data())
def test_take(data: st.DataObject) -> None:
    """``np.take`` along an axis or among all elements, beyond the ends if its mode allows that."""
    x = data.draw(arrays(shapes(shortest=1)))
    axis = data.draw(st.none() | axis_of(x.ndim) if x.ndim else st.none())
    n = x.size if axis is None else x.shape[axis]
    mode = data.draw(st.sampled_from(["raise", "wrap", "clip"]))
    beyond = 0 if mode == "raise" else 3
    places = data.draw(
        hnp.arrays(
            np.intp, data.draw(shapes(most=2)), elements=st.integers(-n - beyond, n + beyond - 1)
        )
    )

    check_linear(lambda v: np.take(v, places, axis=axis, mode=mode), x)


@given(st.data())
def test_take_along_axis(data: st.DataObject) -> None:
    """``np.take_along_axis``, whose indices broadcast with the array beside the axis."""
    x = data.draw(arrays(shapes(least=1, most=3, shortest=1)))
    axis = data.draw(axis_of(x.ndim))
    shape = [data.draw(st.sampled_from([n, 1])) for n in x.shape]
    shape[axis] = data.draw(st.integers(0, 4))
    n = x.shape[axis]
    places = data.draw(hnp.arrays(np.intp, tuple(shape), elements=axis_of(n)))

    check_linear(lambda v: np.take_along_axis(v, places, axis), x)


@given(st.data())
def test_compress(data: st.DataObject) -> None:
    """``np.compress`` and ``np.extract``, also with conditions that are too short."""
    x = data.draw(arrays(shapes(least=1, most=3)))
    axis = data.draw(st.none() | axis_of(x.ndim))
    n = x.size if axis is None else x.shape[axis]
    condition = data.draw(masks((data.draw(st.integers(0, n)),)))
    everywhere = data.draw(masks(x.shape))

    check_linear(lambda v: np.compress(condition, v, axis), x)
    check_linear(lambda v: np.extract(everywhere, v), x)


@given(st.data())
def test_choose(data: st.DataObject) -> None:
    """``np.choose`` and ``np.select`` among arrays that broadcast."""
    shape = data.draw(shapes(most=3))
    options = [data.draw(arrays(data.draw(smaller(shape)), seed=k)) for k in range(3)]
    which = data.draw(hnp.arrays(np.intp, shape, elements=st.integers(0, 2)))
    conditions = [data.draw(masks(shape)) for _ in range(2)]
    kind = np.result_type(*options)
    options = [whole(np.empty(np.shape(x), kind), k) for k, x in enumerate(options)]

    check_linear(lambda *vs: np.choose(which, vs), *options)
    check_linear(lambda *vs: np.select(conditions, vs[:2], vs[2]), *options)


@pytest.mark.parametrize("function", [np.diagonal, np.trace])
@given(st.data())
def test_diagonals(function: Any, data: st.DataObject) -> None:
    """Diagonals of any two axes, on either side of the main one."""
    x = data.draw(arrays(shapes(least=2)))
    offset = data.draw(st.integers(-3, 3))
    one, two = data.draw(
        st.lists(axis_of(x.ndim), min_size=2, max_size=2, unique_by=lambda axis: axis % x.ndim)
    )

    check_linear(lambda v: function(v, offset, one, two), x)


@given(arrays(shapes(least=1, most=3)), st.integers(-3, 3))
def test_triangles(x: Any, k: int) -> None:
    """Triangles of stacks of matrices, and matrices made of a diagonal."""
    check_linear(lambda v: np.triu(v, k) - 2 * np.tril(v, k - 1), x)
    check_linear(lambda v: np.diagflat(v, k), x)
    if x.ndim < 3:
        check_linear(lambda v: np.diag(v, k), x)


@given(st.data())
def test_sort(data: st.DataObject) -> None:
    """``np.sort`` and ``np.partition`` along any axis, or of all elements."""
    x = apart(data.draw(shapes(least=1, most=3)))
    axis = data.draw(st.none() | axis_of(x.ndim))
    n = x.size if axis is None else x.shape[axis]

    check_smooth(lambda v: np.sort(v, axis=axis) ** 2, x)
    if n:
        kth = data.draw(st.integers(0, n - 1))
        check_smooth(lambda v: np.partition(v, kth, axis=axis) ** 2, x)


@given(st.data())
def test_sort_with_ties(data: st.DataObject) -> None:
    """Equal elements keep their order, so that a permutation of places is all there is."""
    x = data.draw(hnp.arrays(float, data.draw(shapes(least=1, most=3)), elements=st.integers(0, 2)))
    axis = data.draw(axis_of(x.ndim))
    order = np.argsort(x, axis, kind="stable")
    weights = whole(x)

    found = gradient(lambda v: np.sort(v, axis=axis, stable=True), x, weights).numpy()

    np.testing.assert_array_equal(np.take_along_axis(found, order, axis), weights)


@given(st.data())
def test_wrong_indices(data: st.DataObject) -> None:
    """What NumPy refuses as an index, a tensor refuses with the same kind of error."""
    shape = data.draw(shapes(most=2))
    beyond = st.integers(-6, 6)
    part = st.one_of(beyond, hnp.arrays(np.intp, (2,), elements=beyond), masks((2,)), st.just(0.5))
    index = data.draw(st.lists(part, min_size=1, max_size=3).map(tuple))
    x = whole(np.empty(shape))

    if not refused_alike(lambda v: v[index], x):
        check_linear(lambda v: v[index], x)
