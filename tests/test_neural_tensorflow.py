"""The functions of neural networks agree with TensorFlow: its numbers, in double precision, are written down here.

They were measured once with TensorFlow 2.21.0: values, and the gradients of the weighted sum of the values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import GradientTape, constant
from tapemagic.engine.operations.activations import elu, gelu, leaky_relu, relu, relu6, selu, silu
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
from tapemagic.engine.operations.losses import sigmoid_cross_entropy, softmax_cross_entropy
from tapemagic.engine.operations.normalization import batch_norm, layer_norm
from tapemagic.engine.operations.norms import clip_by_global_norm, clip_by_norm, l2_normalize
from tapemagic.engine.operations.selection import one_hot, top_k
from tapemagic.engine.operations.sparse_losses import sparse_softmax_cross_entropy

X = [-3.0, -1.0, 0.5, 2.0]
MATRIX = [[0.5, -1.0, 2.0], [0.0, 3.0, 1.0]]
LABELS = [[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]]
COLUMNS = [[0.2, 0.3, 0.5], [0.8, 0.7, 0.5]]
PAIRS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
WEIGHTS = [[1, 2, 3], [4, 5, 6]]
EACH = [1, -2, 3, 4]

# Of X, with the weights EACH: the value, and the gradient.
OF_X: dict[str, tuple[Callable[..., Any], list[float], list[float]]] = {
    "relu": (relu, [0, 0, 0.5, 2], [0, 0, 3, 4]),
    "relu6": (relu6, [0, 0, 0.5, 2], [0, 0, 3, 4]),
    "leaky_relu": (lambda x: leaky_relu(x, 0.25), [-0.75, -0.25, 0.5, 2], [0.25, -0.5, 3, 4]),
    "elu": (elu, [-0.9502129316, -0.6321205588, 0.5, 2], [0.04978706837, -0.7357588823, 3, 4]),
    "selu": (
        selu,
        [-1.670568729, -1.111330738, 0.5253504937, 2.101401975],
        [0.08753061208, -1.293537206, 3.152102962, 4.202803949],
    ),
    "gelu": (
        gelu,
        [-0.004049694778, -0.1586552581, 0.3457312291, 1.954499732],
        [-0.0119456488, 0.1666309329, 2.602485358, 4.340927219],
    ),
    "gelu approximate": (
        lambda x: gelu(x, approximate=True),
        [-0.003637392324, -0.1588080097, 0.3457140098, 1.954597693],
        [-0.01158416716, 0.1659281659, 2.60210971, 4.344397028],
    ),
    "silu": (
        silu,
        [-0.1422776195, -0.2689414214, 0.3112296656, 1.761594156],
        [-0.08810410602, -0.1446589763, 2.219883562, 4.363136995],
    ),
    "sigmoid": (
        sigmoid,
        [0.04742587318, 0.2689414214, 0.6224593312, 0.880797078],
        [0.04517665973, -0.3932238665, 0.7050111366, 0.4199743416],
    ),
    "log_sigmoid": (
        log_sigmoid,
        [-3.048587352, -1.313261688, -0.4740769842, -0.126928011],
        [0.9525741268, -1.462117157, 1.132622006, 0.4768116881],
    ),
    "softplus": (
        softplus,
        [0.04858735157, 0.3132616875, 0.9740769842, 2.126928011],
        [0.04742587318, -0.5378828427, 1.867377994, 3.523188312],
    ),
    "softsign": (softsign, [-0.75, -0.5, 0.3333333333, 0.6666666667], [0.0625, -0.5, 1.333333333, 0.4444444444]),
    "hard_sigmoid": (
        hard_sigmoid,
        [0, 0.3333333333, 0.5833333333, 0.8333333333],
        [0, -0.3333333333, 0.5, 0.6666666667],
    ),
    "erf": (
        erf,
        [-0.9999779095, -0.8427007929, 0.5204998778, 0.995322265],
        [0.0001392530519, -0.8302149948, 2.636347737, 0.08266794142],
    ),
    "erfc": (
        erfc,
        [1.99997791, 1.842700793, 0.4795001222, 0.004677734981],
        [-0.0001392530519, 0.8302149948, -2.636347737, -0.08266794142],
    ),
    "softmax": (
        softmax,
        [0.005265439572, 0.03890662838, 0.1743674112, 0.7814605209],
        [-0.01356586008, -0.2169587863, -0.1005047655, 0.3310294119],
    ),
    "log_softmax": (
        log_softmax,
        [-5.246590648, -3.246590648, -1.746590648, -0.2465906475],
        [0.9684073626, -2.23343977, 1.953795533, -0.6887631253],
    ),
}  # fmt: skip

# The call, its inputs, the weights; the value, and the gradients in all inputs.
MORE: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any, Any, tuple[Any, ...]]] = {
    "logsumexp": (logsumexp, (X,), 1, 2.246590648, ([0.005265439572, 0.03890662838, 0.1743674112, 0.7814605209],)),
    "softmax_cross_entropy": (
        softmax_cross_entropy,
        (LABELS, MATRIX),
        [2, -1],
        [1.441311297, 0.1698460196],
        (
            [[3.482622593, 6.482622593, 0.4826225933], [-3.16984602, -0.1698460196, -2.16984602]],
            [[-0.04941921572, -0.5217748535, 0.5711940692], [-0.04201006613, 0.1562052655, -0.1141951994]],
        ),
    ),
    "softmax_cross_entropy of columns": (
        lambda labels, x: softmax_cross_entropy(labels, x, axis=0),
        (COLUMNS, MATRIX),
        [2, -1, 3],
        [0.8740769842, 1.218149928, 0.8132616875],
        (
            [[0.9481539684, -4.018149928, 0.9397850626], [1.948153968, -0.01814992792, 3.939785063]],
            [[0.8449186624, 0.28201379, 0.6931757359], [-0.8449186624, -0.28201379, -0.6931757359]],
        ),
    ),
    "sparse_softmax_cross_entropy": (
        lambda x: sparse_softmax_cross_entropy([2, 0], x),
        (MATRIX,),
        [2, -1],
        [0.2413112967, 3.16984602],
        ([[0.3505807843, 0.07822514654, -0.4288059308], [0.9579899339, -0.8437947345, -0.1141951994]],),
    ),
    "sigmoid_cross_entropy": (
        sigmoid_cross_entropy,
        (LABELS, MATRIX),
        WEIGHTS,
        [[0.8740769842, 0.6132616875, 1.126928011], [0.6931471806, 0.04858735157, 1.313261688]],
        ([[-0.5, 2, -6], [0, -15, -6]], [[0.4224593312, -0.06211715726, 1.142391234], [2, -0.2371293659, 4.386351472]]),
    ),
    "batch_norm": (
        batch_norm,
        (MATRIX, [0.1, 0.2, 0.3], [1.0, 2.0, 0.5], [0.1, 0.0, -0.1], [1.0, 2.0, 3.0]),
        WEIGHTS,
        [[0.4998001499, -1.69663217, 7.10528748], [4.996253122e-05, 3.958808396, 2.86688308]],
        (
            [[0.9995003747, 2.827720283, 12.7152132], [3.998001499, 7.069300708, 25.4304264]],
            [-4.997501873, -9.897020991, -38.1456396],
            [0, -4.098145338, -39.33848395],
            [5, 7, 9],
            [0, 8.200388821, 13.13905364],
        ),
    ),
    "layer_norm": (
        layer_norm,
        (MATRIX,),
        WEIGHTS,
        [[0, -1.224740789, 1.224740789], [-1.069041531, 1.336301914, -0.2672603829]],
        ([[-0.8164938593, 0.408244208, 0.4082496513], [-0.5727022931, -0.2863485694, 0.8590508625]],),
    ),
    "layer_norm of all": (
        lambda x: layer_norm(x, axis=(0, 1)),
        (MATRIX,),
        WEIGHTS,
        [[-0.3194373437, -1.469411781, 0.8305370937], [-0.7027621562, 1.597186719, 0.06388746875]],
        ([[-1.721051328, -0.2503398591, -0.891813922], [0.8135848283, 0.1721107653, 1.877509516]],),
    ),
    "l2_normalize": (
        lambda x: l2_normalize(x, axis=1),
        (MATRIX,),
        WEIGHTS,
        [[0.2182178902, -0.4364357805, 0.8728715609], [0, 0.9486832981, 0.316227766]],
        ([[0.2493918746, 1.246959373, 0.5611317177], [1.264911064, -0.4110960958, 1.233288287]],),
    ),
    "l2_normalize of all": (
        l2_normalize,
        (MATRIX,),
        WEIGHTS,
        [[0.1280368799, -0.2560737599, 0.5121475197], [0, 0.7682212796, 0.2560737599]],
        ([[0.0419793049, 0.9403364297, -0.08815654028], [1.024295039, -0.00419793049, 1.108253649]],),
    ),
    "clip_by_norm": (
        clip_by_norm,
        (MATRIX, 2.0),
        WEIGHTS,
        [[0.2560737599, -0.5121475197, 1.024295039], [0, 1.536442559, 0.5121475197]],
        ([[0.08395860979, 1.880672859, -0.1763130806], [2.048590079, -0.008395860979, 2.216507299]], 6.529880877),
    ),
    "clip_by_norm of rows": (
        lambda x, c: clip_by_norm(x, c, axes=[1]),
        (MATRIX, 2.5),
        WEIGHTS,
        [[0.5, -1, 2], [0, 2.371708245, 0.790569415]],
        ([[1, 2, 3], [3.16227766, -1.02774024, 3.083220719]], 6.640783086),
    ),
    "clip_by_norm at the norm": (lambda x: clip_by_norm(x, 5.0), ([3.0, 4.0],), [1, 1], [3, 4], ([0.16, -0.12],)),
    "clip_by_norm of nothing": (lambda x: clip_by_norm(x, 7.0), ([0.0, 0.0],), [1, 1], [0, 0], ([1, 1],)),
    "clip_by_global_norm": (
        lambda a, b, c: clip_by_global_norm([a, None, b], c)[0][0],
        ([3.0, 4.0], [12.0], 2.0),
        [1, 2],
        [0.4615384615, 0.6153846154],
        ([0.1238051889, 0.2676376878], [-0.1201638598], 0.8461538462),
    ),
    "global norm": (
        lambda a, b: clip_by_global_norm([a, b], 1.0)[1],
        ([3.0, 4.0], [12.0]),
        1,
        13,
        ([0.2307692308, 0.3076923077], [0.9230769231]),
    ),
    "top_k": (
        lambda x: top_k(x, 2).values,
        ([[1.0, 3.0, 2.0, 3.0], [5.0, 5.0, 5.0, 6.0]],),
        [[1, 2], [3, 4]],
        [[3, 3], [6, 5]],
        ([[0, 1, 0, 2], [4, 0, 0, 3]],),
    ),
    "gather": (
        lambda x: gather(x, [[2, 0], [1, 2]], axis=1),
        (MATRIX,),
        np.arange(8).reshape(2, 2, 2),
        [[[2, 0.5], [-1, 2]], [[1, 0], [3, 1]]],
        ([[1, 2, 3], [5, 6, 11]],),
    ),
    "gather_nd": (
        lambda x: gather_nd(x, [[0, 1], [1, 2], [0, 1]]),
        (MATRIX,),
        [1, 2, 4],
        [-1, 1, -1],
        ([[0, 5, 0], [0, 0, 2]],),
    ),
    "gather_nd of rows": (
        lambda x: gather_nd(x, [[1], [1]]),
        (MATRIX,),
        WEIGHTS,
        [[0, 3, 1], [0, 3, 1]],
        ([[0, 0, 0], [5, 7, 9]],),
    ),
    "gather_nd in a batch": (
        lambda x: gather_nd(x, [[[2], [0]], [[1], [1]]], batch_dims=1),
        (MATRIX,),
        [[1, 2], [3, 4]],
        [[2, 0.5], [3, 3]],
        ([[2, 0, 1], [0, 7, 0]],),
    ),
    "scatter_nd": (
        lambda u: scatter_nd([[0, 1], [1, 2], [0, 1]], u, (2, 3)),
        ([1.0, 2.0, 4.0],),
        WEIGHTS,
        [[0, 5, 0], [0, 0, 2]],
        ([2, 6, 2],),
    ),
    "scatter_nd of rows": (
        lambda u: scatter_nd([[2], [0]], u, [3, 3]),
        (MATRIX,),
        np.arange(9).reshape(3, 3),
        [[0, 3, 1], [0, 0, 0], [0.5, -1, 2]],
        ([[6, 7, 8], [0, 1, 2]],),
    ),
    "segment_sum": (
        lambda d: segment_sum(d, [0, 0, 2]),
        (PAIRS,),
        PAIRS,
        [[4, 6], [0, 0], [5, 6]],
        ([[1, 2], [1, 2], [5, 6]],),
    ),
    "segment_sum, unsorted": (
        lambda d: segment_sum(d, [[2, 0], [0, 2], [1, 2]], 4),
        (PAIRS,),
        [1, 2, 3, 4],
        [5, 5, 11, 0],
        ([[3, 1], [1, 3], [2, 3]],),
    ),
}  # fmt: skip

ROUGH = {"gelu": 1e-6, "gelu approximate": 1e-6}
"""Here TensorFlow's own constants are in single precision."""

ROWS = MORE | {name: (f, (X,), EACH, y, (dx,)) for name, (f, y, dx) in OF_X.items()}


@pytest.mark.parametrize("name", ROWS)
def test_numbers(name: str) -> None:
    """Value and gradients are TensorFlow's."""
    call, inputs, weights, value, gradients = ROWS[name]
    tensors = [constant(x) for x in inputs]
    with GradientTape() as tape:
        tape.watch(tensors)
        y = call(*tensors)
    found = tape.gradient(y, tensors, output_gradients=constant(weights, float))

    tolerance = ROUGH.get(name, 2e-9)
    np.testing.assert_allclose(y.numpy(), value, rtol=tolerance, atol=1e-14)
    for dx, expected in zip(found, gradients, strict=True):
        np.testing.assert_allclose(dx.numpy(), expected, rtol=tolerance, atol=1e-14)


def test_places_of_top_k() -> None:
    """Of equal elements the first comes first."""
    assert [[1, 3], [3, 0]] == top_k(
        [[1.0, 3.0, 2.0, 3.0], [5.0, 5.0, 5.0, 6.0]], 2
    ).indices.tolist()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"depth": 3, "on_value": 5.0, "off_value": -1.0, "axis": 0},
            [[[5, -1], [-1, -1]], [[-1, -1], [-1, -1]], [[-1, 5], [-1, -1]]],
        ),
        (
            {"depth": 3, "on_value": 5.0, "off_value": -1.0, "axis": 1},
            [[[5, -1], [-1, -1], [-1, 5]], [[-1, -1], [-1, -1], [-1, -1]]],
        ),
        ({"depth": 2}, [[[1, 0], [0, 0]], [[0, 0], [0, 0]]]),
    ],
)
def test_one_hot(options: dict[str, Any], expected: Any) -> None:
    """Where an index is negative or too large, everything is off."""
    assert expected == one_hot([[0, 2], [-1, 3]], **options).tolist()
