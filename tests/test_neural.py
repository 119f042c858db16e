"""The functions of neural networks: their types, their derivatives, and what they choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import GradientTape, Tensor, Variable, check_gradients, constant
from tapemagic.engine.operations.activations import (
    elu,
    gelu,
    leaky_relu,
    relu,
    relu6,
    selu,
    silu,
    swish,
)
from tapemagic.engine.operations.errorfunction import erf, erfc
from tapemagic.engine.operations.exponentials import log_softmax, logsumexp, softmax
from tapemagic.engine.operations.gathering import gather, gather_nd, scatter_nd, segment_sum
from tapemagic.engine.operations.logistic import (
    hard_sigmoid,
    log_sigmoid,
    sigmoid,
    softplus,
    softsign,
)
from tapemagic.engine.operations.losses import softmax_cross_entropy
from tapemagic.engine.operations.normalization import batch_norm, dropout, layer_norm
from tapemagic.engine.operations.norms import clip_by_global_norm, clip_by_norm, l2_normalize
from tapemagic.engine.operations.selection import cast, one_hot, top_k

INF, NAN = np.inf, np.nan
ELEMENTWISE: list[Callable[..., Any]] = [
    relu, relu6, leaky_relu, elu, selu, gelu, silu, sigmoid, log_sigmoid, softplus, softsign,
    hard_sigmoid, erf, erfc,
]  # fmt: skip
ONE_NODE = [*ELEMENTWISE, softmax, log_softmax, logsumexp]
MATRIX = np.array([[0.5, -1.0, 2.0], [0.25, 3.0, 1.0]])
RNG = np.random.default_rng


# -- arrays, lists and tensors alike ---------------------------------------------------------------


@pytest.mark.parametrize("function", ONE_NODE)
def test_arrays_give_arrays_and_tensors_tensors(function: Any) -> None:
    """Lists and arrays give arrays, numbers give numbers, tensors and variables give tensors."""
    expected = function(MATRIX)

    assert isinstance(expected, (np.ndarray, np.float64))
    np.testing.assert_array_equal(function(MATRIX.tolist()), expected)
    for x in (constant(MATRIX), Variable(MATRIX), [constant(MATRIX[0]), Variable(MATRIX[1])]):
        y = function(x)
        assert isinstance(y, Tensor)
        np.testing.assert_array_equal(y.numpy(), expected)


@pytest.mark.parametrize("function", ELEMENTWISE)
def test_numbers_and_layouts(function: Any) -> None:
    """A Python number gives a NumPy number; arrays of any layout and size give the same."""
    x = RNG(0).normal(size=(40, 60)) * 3
    expected = np.array([[function(float(one)) for one in row] for row in x])

    assert isinstance(function(0.5), np.float64)
    for layout in (x, np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]):
        np.testing.assert_allclose(function(layout), expected, rtol=1e-14)


@pytest.mark.parametrize("function", ONE_NODE)
def test_one_node(function: Any) -> None:
    """Each is a single operation on the tape, under its own name."""
    x = constant(MATRIX)
    with GradientTape() as tape:
        tape.watch(x)
        function(x)

    assert [function.__name__] == [record.operation.name for record in tape.records]


@pytest.mark.parametrize("function", ONE_NODE)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_precision_is_kept(function: Any, dtype: Any) -> None:
    """Values and gradients have the dtype of what they are of."""
    x = constant(MATRIX, dtype)
    with GradientTape() as tape:
        tape.watch(x)
        y = function(x)

    assert y.dtype == dtype == tape.gradient(y, x).dtype
    np.testing.assert_allclose(y.numpy(), function(MATRIX), rtol=20 * np.finfo(np.float16).eps)


@pytest.mark.parametrize("function", ONE_NODE)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64])
def test_whole_numbers(function: Any, dtype: Any) -> None:
    """Whole numbers are computed with in double precision; the straight lines leave them whole."""
    x = np.array([0, 1, 3], dtype)
    y = function(x)

    whole = function in {relu, relu6} and dtype is not bool
    assert y.dtype == (dtype if whole else np.float64)
    np.testing.assert_array_equal(y, function(x.astype(float)))


def test_swish_is_another_name() -> None:
    """silu has two names."""
    assert swish is silu


@pytest.mark.parametrize("function", ELEMENTWISE)
def test_jacobians_are_diagonal(function: Any) -> None:
    """Each element depends on its own place alone, and the tape knows."""
    x = constant(MATRIX)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(x)

    slopes = tape.gradient(y, x).numpy().ravel()
    np.testing.assert_array_equal(tape.jacobian(y, x).numpy().reshape(6, 6), np.diag(slopes))


def test_jacobian_of_softmax() -> None:
    """diag(p) less the outer product of p with itself."""
    x = constant([0.5, -1.0, 2.0])
    with GradientTape() as tape:
        tape.watch(x)
        p = softmax(x)
    expected = np.diag(p.numpy()) - np.outer(p.numpy(), p.numpy())

    np.testing.assert_allclose(tape.jacobian(p, x).numpy(), expected, atol=1e-16)


# -- derivatives of what is made of NumPy's functions ----------------------------------------------

IDS = np.array([2, 0, 2])
COMPLEX = MATRIX + 1j * MATRIX[:, ::-1]


@pytest.mark.parametrize(
    ("call", "inputs"),
    [
        (batch_norm, (MATRIX, [0.1, 0.2, 0.3], [1.0, 2.0, 0.5], [0.1, 0.0, -0.1], [1.0, 2.0, 3.0])),
        (batch_norm, (MATRIX, 0.1, [[1.0], [2.0]])),
        (lambda x, v: batch_norm(x, 0.5, v, epsilon=0.5), (MATRIX, 1.0)),
        (lambda x, s: batch_norm(x, 0, 1, scale=s), (MATRIX, [[1.0], [2.0]])),
        (layer_norm, (MATRIX,)),
        (layer_norm, (MATRIX, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3])),
        (lambda x: layer_norm(x, axis=0, epsilon=0.1), (MATRIX,)),
        (lambda x: layer_norm(x, axis=[0, 1]), (MATRIX,)),
        (lambda x: layer_norm(x, axis=None, offset=2.0), (MATRIX,)),
        (l2_normalize, (MATRIX,)),
        (lambda x: l2_normalize(x, 1), (MATRIX,)),
        (lambda x: l2_normalize(x, [-1, 0], epsilon=0.5), (MATRIX,)),
        (lambda x: l2_normalize(x, 0, epsilon=30.0), (MATRIX,)),
        (l2_normalize, (COMPLEX,)),
        (l2_normalize, (1e200 * MATRIX,)),
        (clip_by_norm, (MATRIX, 2.0)),
        (clip_by_norm, (MATRIX, 20.0)),
        (lambda x, c: clip_by_norm(x, c, axes=1), (MATRIX, 2.5)),
        (lambda x, c: clip_by_norm(x, c, axes=[0, 1]), (COMPLEX, 2.5)),
        (lambda a, b, c: clip_by_global_norm([a, None, b], c), (MATRIX, 2.0, 1.5)),
        (lambda a, b, c: clip_by_global_norm((a, b), c), (COMPLEX, [2.0], 50.0)),
        (lambda x: cast(x, complex) * (1 + 2j), (MATRIX,)),
        (lambda z: cast(z, float), (COMPLEX,)),
        (lambda x: top_k(x, 2).values, (MATRIX,)),
        (lambda x: top_k(x, 0).values.sum() + x[0], (MATRIX[0],)),
        (lambda x: gather(x, 1), (MATRIX,)),
        (lambda x: gather(x, [[0, 2], [2, 2]], axis=-1), (MATRIX,)),
        (lambda x: gather(x, []), (MATRIX,)),
        (lambda x: gather_nd(x, [[0, 1], [1, 1], [0, 1]]), (MATRIX,)),
        (lambda x: gather_nd(x, [1]), (MATRIX,)),
        (lambda x: gather_nd(x, [1, 2]), (MATRIX,)),
        (lambda x: gather_nd(x, [[[2]], [[0]]], batch_dims=1), (MATRIX,)),
        (lambda x: gather_nd(x, np.zeros((4, 0), int)), (MATRIX,)),
        (lambda x: gather_nd(x, np.zeros((2, 4, 0), int), batch_dims=1), (MATRIX,)),
        (lambda u: scatter_nd([[0, 1], [1, 2], [0, 1]], u, (2, 3)), ([1.0, 2.0, 4.0],)),
        (lambda u: scatter_nd([[2], [2]], u, (4, 3)), (MATRIX,)),
        (lambda u: scatter_nd([2], u, 4), (1.5,)),
        (lambda u: scatter_nd(np.zeros((2, 0), int), u, (3,)), (MATRIX,)),
        (lambda d: segment_sum(d, IDS), (MATRIX.T,)),
        (lambda d: segment_sum(d, IDS, 5), (MATRIX.T,)),
        (lambda d: segment_sum(d, [[0, 1, 1], [2, 0, 1]]), (MATRIX,)),
        (lambda a, b: one_hot([0, 2, 5], 3, a, b), (2.0, -1.0)),
        (lambda x: dropout(x, 0.5, RNG(0)), (MATRIX,)),
    ],
)
def test_derivatives(call: Any, inputs: Any) -> None:
    """First and second derivatives agree with difference quotients."""
    check_gradients(call, *inputs, order=2)


@pytest.mark.parametrize("axis", [0, 1])
def test_derivatives_of_cross_entropy(axis: int) -> None:
    """All second derivatives are those of what it is short for, also in the labels."""
    labels, logits = constant(abs(MATRIX)), constant(MATRIX)

    def hessian(loss: Any) -> list[Any]:
        with GradientTape(persistent=True) as outer:
            outer.watch([labels, logits])
            with GradientTape() as inner:
                inner.watch([labels, logits])
                y = loss(labels, logits)
            first = inner.gradient(y, [labels, logits])
            total = [np.sum(g * np.arange(6.0).reshape(2, 3)) for g in first]
        return [outer.gradient(t, [labels, logits], unconnected_gradients="zero") for t in total]

    ours = hessian(lambda p, x: softmax_cross_entropy(p, x, axis))
    theirs = hessian(lambda p, x: -np.sum(p * log_softmax(x, axis), axis=axis))
    for row, expected in zip(ours, theirs, strict=True):
        for a, b in zip(row, expected, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), atol=1e-14)


def test_gradients_at_zero() -> None:
    """Finite where a length is 0, and where numbers are equal."""
    x = constant(np.zeros((2, 2)))
    calls: list[Callable[[Any], Any]] = [
        lambda x: clip_by_norm(x, 2.0),
        lambda x: clip_by_global_norm([x], 2.0)[0][0],
        lambda x: clip_by_global_norm([x], 2.0)[1],
        lambda x: l2_normalize(x, 1, epsilon=4.0),
        lambda x: layer_norm(x, axis=0, epsilon=0.25),
    ]
    for call, slope in zip(calls, [1, 1, 0, 0.5, 0], strict=True):
        with GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        assert [[slope] * 2] * 2 == tape.gradient(y, x).tolist()


def test_normalized_layers() -> None:
    """Mean 0 and variance 1 along the axis; single precision and bare numbers leave single precision."""
    y = layer_norm(MATRIX * 100, axis=1)
    single = constant(MATRIX, np.float32)

    np.testing.assert_allclose(y.mean(axis=1), 0, atol=1e-15)
    np.testing.assert_allclose(y.var(axis=1), 1, rtol=1e-6)
    for z in (
        layer_norm(single, 2.0, 1.0),
        batch_norm(single, 0.5, 1.0, 0.0, 2.0),
        l2_normalize(single),
        clip_by_norm(single, 1.0),
        clip_by_global_norm([single], 1.0)[0][0],
        dropout(single, 0.5, RNG(0)),
    ):
        assert z.dtype == np.float32


def test_clipping() -> None:
    """What is short enough stays exactly as it is; an infinite norm makes everything NaN."""
    clipped, norm = clip_by_global_norm([MATRIX, None, 3.0], 100.0)
    np.testing.assert_array_equal(clipped[0], MATRIX)
    assert [None, 3.0] == clipped[1:]
    assert norm == pytest.approx(np.sqrt(np.sum(MATRIX**2) + 9))
    np.testing.assert_array_equal(clip_by_norm(MATRIX, 100.0), MATRIX)

    (clipped,), norm = clip_by_global_norm([[1.0, INF]], 1.0)
    assert norm == INF
    assert np.isnan(clipped).all()
    assert ([], 0.0) == clip_by_global_norm([], 1.0)


# -- dropout ---------------------------------------------------------------------------------------


def test_dropout() -> None:
    """About the right part is 0, the others are scaled up; the generator decides which."""
    x = np.ones((100, 100))
    y = dropout(x, 0.25, RNG(1))

    assert {0.0, 4 / 3} == set(y.ravel().tolist())
    assert np.mean(y == 0) == pytest.approx(0.25, abs=0.02)
    np.testing.assert_array_equal(y, dropout(x, 0.25, RNG(1)))
    np.testing.assert_array_equal(x, dropout(x, 0, RNG(1)))
    rng = RNG(1)
    assert not np.array_equal(dropout(x, 0.25, rng), dropout(x, 0.25, rng))


def test_dropout_has_one_mask() -> None:
    """All derivatives of a recorded call leave out the same elements."""
    x = constant(np.arange(1.0, 9.0))
    rng = RNG(0)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = dropout(x, 0.5, rng) ** 3
        first = inner.gradient(y, x)
        np.testing.assert_array_equal(first.numpy(), inner.gradient(y, x).numpy())
    kept = 2.0 * (y.numpy() != 0)

    np.testing.assert_allclose(first.numpy(), 3 * kept**3 * x.numpy() ** 2)
    np.testing.assert_allclose(outer.gradient(first, x).numpy(), 6 * kept**3 * x.numpy())
    assert ["dropout", "power"] == [record.operation.name for record in inner.records]


# -- choosing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [float, np.float32, int, np.uint8, bool])
def test_top_k(dtype: Any) -> None:
    """As a stable descending sort, whatever the dtype."""
    x = RNG(0).integers(0, 4, size=(3, 10)).astype(dtype)
    for k in (0, 1, 4, 10):
        values, indices = top_k(x, k)
        places = [sorted(range(10), key=lambda i, row=row: (-int(row[i]), i))[:k] for row in x]

        assert places == indices.tolist()
        assert values.dtype == x.dtype
        np.testing.assert_array_equal(values, np.take_along_axis(x, indices, -1))
    assert [[9.0], [7.0]] == top_k([[1, 9.0], [7, 2.0]]).values.tolist()
    assert [1, 3, 0, 2] == top_k([1.0, NAN, -INF, INF], 4, sorted=False).indices.tolist()


def test_indices_leave_the_tape() -> None:
    """The places of the largest are a plain array; indices may be tensors."""
    x, where = constant(MATRIX), constant([1, 0])
    values, indices = top_k(x, 2)

    assert isinstance(values, Tensor)
    assert type(indices) is np.ndarray
    assert MATRIX[[1, 0]].tolist() == gather(x, where).tolist() == gather(MATRIX, where).tolist()
    assert isinstance(gather(MATRIX, where), np.ndarray)
    hot = one_hot(where, 2)
    assert isinstance(hot, Tensor)
    assert [[0.0, 1.0], [1.0, 0.0]] == hot.tolist() == one_hot([1, 0], 2).tolist()


def test_one_hot_shapes() -> None:
    """The new axis is where it is wanted, of the dtype that is wanted."""
    places = np.array([[0, 2], [-1, 3]])
    for axis, shape in ((0, (3, 2, 2)), (1, (2, 3, 2)), (2, (2, 2, 3)), (-2, (2, 3, 2))):
        hot = one_hot(places, 3, axis=axis, dtype=np.int8)
        assert hot.shape == shape
        assert hot.dtype == np.int8
        assert 2 == hot.sum()
    assert [0.0, 1.0] == one_hot(1, 2).tolist()
    assert (0, 3) == one_hot([], 3).shape
    assert (2, 0) == one_hot([0, 1], 0).shape


def test_cast() -> None:
    """Real and complex numbers stay on the tape, whole numbers and truth values leave it."""
    x = constant(MATRIX)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        single, whole = cast(x, np.float32), cast(x, "int32")
        z = cast(x, complex) * 1j

    assert (np.float32, np.int32, np.complex128) == (single.dtype, whole.dtype, z.dtype)
    g = tape.gradient(single, x)
    assert (np.float64, MATRIX.shape) == (g.dtype, g.shape)
    assert tape.gradient(whole, x) is None
    assert [1, -1] == cast([1 + 2j, -1.0], int).tolist()
    assert isinstance(cast(1.5, np.float32), np.float32)


def test_sums_of_segments() -> None:
    """Missing numbers give 0; numbers of the results are counted, or given."""
    assert [[5.0], [0.0], [1.0]] == segment_sum([[1.0], [2.0], [3.0]], [2, 0, 0]).tolist()
    assert (0, 2) == segment_sum(np.zeros((0, 2)), []).shape
    assert [3, 0, 0] == segment_sum([1, 2], [0, 0], 3).tolist()
    assert np.float32 == segment_sum(np.ones(3, np.float32), IDS).dtype
