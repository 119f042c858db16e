"""The functions of neural networks refuse bad input, and say what was wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapemagic import constant
from tapemagic.engine.operations.activations import relu
from tapemagic.engine.operations.gathering import gather, gather_nd, scatter_nd, segment_sum
from tapemagic.engine.operations.logistic import sigmoid
from tapemagic.engine.operations.normalization import batch_norm, dropout, layer_norm
from tapemagic.engine.operations.norms import clip_by_global_norm, clip_by_norm
from tapemagic.engine.operations.selection import cast, one_hot, top_k
from tapemagic.errors import OptionError, ShapeError, UnsupportedArgumentError

NAN = np.nan
MATRIX = np.array([[0.5, -1.0, 2.0], [0.25, 3.0, 1.0]])
COMPLEX = MATRIX + 1j
RNG = np.random.default_rng


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: relu("abc"), UnsupportedArgumentError, "relu takes real numbers, not <U3"),
        (lambda: sigmoid([None]), UnsupportedArgumentError, "sigmoid takes real numbers, not obj"),
        (
            lambda: batch_norm(MATRIX, [1.0, 2.0], 1.0),
            ShapeError,
            r"batch_norm: mean of shape \(2,\) does not broadcast to the shape of x, \(2, 3\)",
        ),
        (
            lambda: batch_norm(MATRIX, 0.0, np.ones((4, 2, 3))),
            ShapeError,
            r"batch_norm: variance of shape \(4, 2, 3\) does not broadcast",
        ),
        (lambda: batch_norm(MATRIX, 0.0, 1.0, np.ones(4)), ShapeError, r"batch_norm: offset of"),
        (lambda: batch_norm(MATRIX, 0.0, 1.0, 0.0, np.ones(4)), ShapeError, "batch_norm: scale of"),
        (
            lambda: layer_norm(MATRIX, constant([1.0, 2.0])),
            ShapeError,
            r"layer_norm: scale of shape \(2,\) does not broadcast to the shape of x, \(2, 3\)",
        ),
        (lambda: layer_norm(MATRIX, axis=2), np.exceptions.AxisError, "axis 2 is out of bounds"),
        (
            lambda: clip_by_norm(MATRIX, 0.0),
            OptionError,
            "clip_by_norm needs a clip_norm that is one positive number, not 0.0",
        ),
        (lambda: clip_by_norm(MATRIX, constant(-2.0)), OptionError, "positive number, not -2.0"),
        (lambda: clip_by_norm(MATRIX, NAN), OptionError, "positive number, not nan"),
        (lambda: clip_by_norm(MATRIX, [1.0, 2.0]), OptionError, r"positive number, not \[1.0, 2"),
        (
            lambda: clip_by_global_norm(constant(MATRIX), 1.0),
            UnsupportedArgumentError,
            r"takes a list or a tuple of tensors, not Tensor: write clip_by_global_norm\(\[x\]",
        ),
        (lambda: clip_by_global_norm([MATRIX], -1.0), OptionError, "clip_by_global_norm needs a"),
        *(
            (
                lambda rate=rate: dropout(MATRIX, rate, RNG(0)),
                OptionError,
                "dropout needs a rate that is a plain number, at least 0 and less than 1, not",
            )
            for rate in (1.0, -0.1, NAN, 25, 0.5j, "half", None, constant(0.5), [0.5])
        ),
        *(
            (
                lambda rng=rng: dropout(MATRIX, 0.5, rng),
                UnsupportedArgumentError,
                r"dropout needs a random generator, such as np.random.default_rng\(0\), not",
            )
            for rng in (None, 0, np.random, np.random.RandomState(0))
        ),
        (lambda: one_hot([0.0, 1.0], 2), UnsupportedArgumentError, "indices of one_hot must be integers, not float64"),
        (lambda: one_hot([0], -2), OptionError, "the depth of one_hot must be a non-negative int"),
        (lambda: one_hot([0], 2.5), OptionError, "must be a non-negative integer, not 2.5"),
        (lambda: one_hot([0], 2, axis=2), np.exceptions.AxisError, "axis 2 is out of bounds"),
        (lambda: cast(MATRIX, "float23"), TypeError, "float23"),
        (lambda: top_k(MATRIX, 4), OptionError, "top_k cannot choose k = 4 of 3 elements"),
        (lambda: top_k(MATRIX, -1), OptionError, "the k of top_k must be a non-negative integer, not"),
        (lambda: top_k(1.0), ShapeError, "along the last axis, but a single number has no axes"),
        (lambda: top_k(COMPLEX), UnsupportedArgumentError, "numbers that have an order, not comp"),
        (lambda: gather(MATRIX, [0, 2]), OptionError, r"indices\[1\] = 2 is not in \[0, 2\)"),
        (lambda: gather(MATRIX, [[0], [-1]], axis=1), OptionError, r"indices\[1, 0\] = -1 is not in \[0, 3\)"),
        (lambda: gather(MATRIX, 7), OptionError, r"indices = 7 is not in \[0, 2\)"),
        (lambda: gather(MATRIX, [True]), UnsupportedArgumentError, "integers, not bool"),
        (lambda: gather(MATRIX, 0, axis=2), np.exceptions.AxisError, "axis 2 is out of bounds"),
        (lambda: gather(3.0, 0), np.exceptions.AxisError, "axis 0 is out of bounds"),
        (
            lambda: gather_nd(MATRIX, [[0, 0], [0, 3]]),
            OptionError,
            r"indices\[1\] = \[0, 3\] is not inside shape \(2, 3\)",
        ),
        (lambda: gather_nd(MATRIX, [-1]), OptionError, r"indices = \[-1\] is not inside shape"),
        (
            lambda: gather_nd(MATRIX, [[0, 0, 0]]),
            ShapeError,
            r"gather_nd has indices of 3 numbers each, and only 2 axes to index, of shape \(2, 3\)",
        ),
        (lambda: gather_nd(MATRIX, 1), ShapeError, r"takes indices in rows: write \[\[1\]\] for"),
        (lambda: gather_nd(MATRIX, [[0]], batch_dims=1), ShapeError, "the first 1 axes, of the batch, must be equal"),
        (lambda: gather_nd(MATRIX, [[0]], batch_dims=2), OptionError, "there are fewer axes"),
        (lambda: gather_nd(MATRIX, [[0]], batch_dims=-1), OptionError, "the batch_dims of gather_n"),
        (
            lambda: gather_nd(MATRIX, [[[3]], [[0]]], batch_dims=1),
            OptionError,
            r"indices\[0, 0\] = \[3\] is not inside shape \(3,\)",
        ),
        (
            lambda: scatter_nd([[0], [4]], [1.0, 2.0], (4,)),
            OptionError,
            r"indices\[1\] = \[4\] is not inside shape \(4,\)",
        ),
        (
            lambda: scatter_nd([[0], [1]], [1.0, 2.0, 3.0], (4,)),
            ShapeError,
            r"of shape \(2, 1\) into shape \(4,\) needs updates of shape \(2,\), not \(3,\)",
        ),
        (lambda: scatter_nd([[0, 0]], [1.0], (4,)), ShapeError, "scatter_nd has indices of 2 numb"),
        (lambda: scatter_nd([[0]], [1.0], (-4,)), OptionError, "each length in the shape of scatt"),
        (lambda: scatter_nd([[0.5]], [1.0], (4,)), UnsupportedArgumentError, "indices of scatter_"),
        (
            lambda: segment_sum(MATRIX, [0, 1, 2]),
            ShapeError,
            r"segment_sum of data of shape \(2, 3\) with segment_ids of shape \(3,\): pass one num",
        ),
        (lambda: segment_sum(MATRIX, [0, -1]), OptionError, r"segment_ids\[1\] = -1 is not in \[0, 1\)"),
        (lambda: segment_sum(MATRIX, [0, 2], 2), OptionError, r"segment_ids\[1\] = 2 is not in \[0, 2\)"),
        (lambda: segment_sum(MATRIX, [0, 1], -1), OptionError, "the num_segments of segment_sum"),
        (
            lambda: segment_sum(MATRIX, [0.0, 1.0]),
            UnsupportedArgumentError,
            "segment_ids must be integers, not float64",
        ),
    ],
)  # fmt: skip
def test_bad_input(call: Any, error: type[Exception], match: str) -> None:
    """The message says what was wrong, and what to write instead."""
    with pytest.raises(error, match=match):
        call()
