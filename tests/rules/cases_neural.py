"""Cases of the operations of our own that neural networks are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from tapemagic.engine.operations.activations import elu, gelu, leaky_relu, relu, relu6, selu, silu
from tapemagic.engine.operations.common import where_mask
from tapemagic.engine.operations.errorfunction import erf, erfc
from tapemagic.engine.operations.exponentials import log_softmax, logsumexp, softmax
from tapemagic.engine.operations.logistic import hard_sigmoid, log_sigmoid, sigmoid, softplus, softsign
from tapemagic.engine.operations.losses import sigmoid_cross_entropy, softmax_cross_entropy
from tapemagic.engine.operations.normalization import dropout, masked
from tapemagic.engine.operations.recurrence import gru_steps, lstm_steps
from tapemagic.engine.operations.sparse_losses import sparse_softmax_cross_entropy
from tapemagic.engine.operations.tails import exp2_slope, one_minus_sigmoid, sigmoid_error
from tapemagic.errors import OptionError, ShapeError, UnsupportedArgumentError
from tests.rules.harness import BROADCAST, Case, between, case, normal, positive, refused, special

INF, NAN = np.inf, np.nan
SHAPES = ((), (3,), (2, 3), (2, 1, 2), (0,), (2, 0))
MANY = (50, 100)
"""Of so many elements, masks multiply."""


def off_bends(*shape: int, seed: int = 0) -> Any:
    """Numbers between -5 and 8 that are not next to -3, 0, 3 or 6."""
    centres = np.random.default_rng(seed).choice([-4.5, -1.5, 1.5, 4.5, 7.5], size=shape or None)
    return centres + between(-1.0, 1.0, *shape, seed=seed)


def probabilities(*shape: int, seed: int = 0) -> Any:
    """Positive numbers; they do not add up to 1, so that the factor of the sum is seen."""
    return positive(*shape, seed=seed)


# -- activations -----------------------------------------------------------------------------------

STRAIGHT = [relu, relu6, hard_sigmoid, leaky_relu, elu, selu]
SMOOTH = [gelu, silu, sigmoid, log_sigmoid, softplus, erf, erfc]
PARAMETRIC = [leaky_relu, elu]

ACTIVATIONS = [
    *(case(f, None, off_bends(*shape), label=str(shape)) for f in STRAIGHT for shape in SHAPES),
    *(case(f, None, off_bends(*MANY), label="many") for f in (relu, relu6, hard_sigmoid)),
    *(case(f, None, 2 * normal(*shape), label=str(shape)) for f in SMOOTH for shape in SHAPES),
    *(case(softsign, None, off_bends(*shape), label=str(shape)) for shape in SHAPES),
    *(case(f, None, 6 * normal(3, 4), label="far out") for f in SMOOTH),
    *(case(gelu, lambda x: gelu(x, approximate=True), 2 * normal(*shape), label=f"tanh {shape}") for shape in SHAPES),
    case(gelu, lambda x: gelu(x, False), normal(3), label="by position"),
    *(
        case(f, None, off_bends(*x), normal(*alpha, seed=1), label=f"{x} {alpha}")
        for f in PARAMETRIC
        for x, alpha in BROADCAST
    ),
    *(case(f, lambda x, f=f: f(x, alpha=0.3), off_bends(2, 3), label="number by keyword") for f in PARAMETRIC),
    *(case(f, lambda x, f=f: f(x, np.array([0.1, 0.2, 0.3])), off_bends(2, 3), label="array") for f in PARAMETRIC),
    *(case(f, lambda x, f=f: f(x, 2), off_bends(3), label="whole number") for f in PARAMETRIC),
    *(case(f, lambda a, f=f: f(-1.5, a), normal(3), label="number first") for f in PARAMETRIC),
    *(case(f, lambda x, f=f: f([x[0], 2.0 * x[1]]), off_bends(2), label="list of tensors") for f in (relu, sigmoid)),
]

MASK = np.array([[True, False, True], [False, False, True]])

DROPOUT = [
    case(where_mask, lambda x: where_mask(x, MASK), normal(2, 3), label="by position"),
    case(where_mask, lambda x: where_mask(x, mask=MASK[0]), normal(3)),
    case(masked, lambda x: masked(x, MASK, 2.0), normal(2, 3), label="by position"),
    case(masked, lambda x: masked(x, mask=MASK[0], factor=1.25), normal(3)),
    case(masked, lambda x: masked(x, np.True_, 2.0), normal(), label="number"),
    *(
        case(masked, lambda x: dropout(x, 0.4, np.random.default_rng(0)), normal(*shape), label=f"dropout {shape}")
        for shape in (*SHAPES, MANY)
    ),
]

# -- softmax and its logarithms --------------------------------------------------------------------


def along(function: Any, shape: tuple[int, ...], **params: Any) -> Case:
    """A case with keyword arguments."""
    label = " ".join([str(shape), *(f"{name}={value}" for name, value in params.items())])
    return case(function, lambda x: function(x, **params), 2 * normal(*shape), label=label)


AXES: list[tuple[tuple[int, ...], Any]] = [
    ((3,), 0), ((3,), -1), ((2, 3), 0), ((2, 3), 1), ((2, 3), -2), ((2, 3), (0, 1)), ((2, 3), (-1, 0)),
    ((2, 3), None), ((2, 3), ()), ((2, 3, 4), 1), ((2, 3, 4), -3), ((2, 3, 4), [0, 2]), ((2, 1), -1),
    ((0, 3), -1), ((2, 0, 3), 2), ((), None),
]  # fmt: skip

EXPONENTIALS = [
    *(along(f, shape, axis=axis) for f in (softmax, log_softmax, logsumexp) for shape, axis in AXES),
    *(along(logsumexp, shape, axis=axis, keepdims=True) for shape, axis in AXES),
    *(along(f, shape) for f in (softmax, log_softmax, logsumexp) for shape in ((4,), (2, 3))),
    *(along(f, (2, 0), axis=-1) for f in (softmax, log_softmax)),
    case(softmax, lambda x: softmax(x, 0), normal(2, 3), label="by position"),
    case(softmax, None, 1e3 + normal(2, 3), label="large"),
    case(log_softmax, None, 1e3 + normal(2, 3), label="large"),
    case(logsumexp, None, normal(2, 3) - 1e3, label="large"),
    case(softmax, lambda x: softmax([x, 2.0 * x]), normal(3), label="list of tensors"),
]

# -- losses ----------------------------------------------------------------------------------------

CLASSES = np.array([[2, 0, 1], [1, 1, 0]])


def loss(function: Any, shape: tuple[int, ...], **params: Any) -> Case:
    """A case of labels and logits, both of the given shape, with keyword arguments."""
    label = " ".join([str(shape), *(f"{name}={value}" for name, value in params.items())])
    return case(
        function,
        lambda labels, logits: function(labels, logits, **params),
        probabilities(*shape),
        2 * normal(*shape, seed=1),
        label=label,
    )


def with_labels(function: Any, labels: Any, shape: tuple[int, ...], label: str) -> Case:
    """A case of logits alone."""
    return case(function, lambda x: function(labels, x), 2 * normal(*shape), label=label)


LOSSES = [
    *(loss(softmax_cross_entropy, shape) for shape in ((3,), (2, 3), (2, 3, 4), (0, 3), (2, 1))),
    *(loss(softmax_cross_entropy, (2, 3), axis=axis) for axis in (0, 1, -1, -2)),
    *(loss(softmax_cross_entropy, (2, 3, 4), axis=axis) for axis in (0, 1, -2)),
    *(loss(sigmoid_cross_entropy, shape) for shape in SHAPES),
    with_labels(softmax_cross_entropy, [[0, 1, 0], [1, 0, 0]], (2, 3), "lists of whole numbers"),
    with_labels(softmax_cross_entropy, np.eye(3), (3, 3), "array"),
    with_labels(softmax_cross_entropy, np.eye(3, dtype=bool), (3, 3), "truth values"),
    with_labels(softmax_cross_entropy, np.zeros((2, 3)), (2, 3), "no labels"),
    with_labels(sigmoid_cross_entropy, [0, 1, 1], (3,), "list of whole numbers"),
    with_labels(sigmoid_cross_entropy, np.array([False, True]), (2,), "truth values"),
    with_labels(sparse_softmax_cross_entropy, CLASSES, (2, 3, 4), "array"),
    with_labels(sparse_softmax_cross_entropy, CLASSES.astype(np.uint8), (2, 3, 3), "bytes"),
    with_labels(sparse_softmax_cross_entropy, [2, 0], (2, 3), "list"),
    with_labels(sparse_softmax_cross_entropy, 1, (3,), "number"),
    with_labels(sparse_softmax_cross_entropy, [], (0, 3), "no examples"),
    case(
        softmax_cross_entropy,
        lambda x: softmax_cross_entropy(logits=x, labels=np.eye(3), axis=0),
        normal(3, 3),
        label="keywords",
    ),
    case(
        softmax_cross_entropy,
        lambda p: softmax_cross_entropy(p, np.arange(6.0).reshape(2, 3)),
        probabilities(2, 3),
        label="labels alone",
    ),
    case(
        softmax_cross_entropy,
        lambda x: softmax_cross_entropy(softmax(x), 2.0 * x),
        normal(2, 3),
        label="labels of logits",
    ),
    case(
        sparse_softmax_cross_entropy,
        lambda x: sparse_softmax_cross_entropy(logits=x, labels=[1, 2]),
        normal(2, 3),
        label="keywords",
    ),
]

# -- slopes of results and operands, of which only the results count ---------------------------------

TAILS = [
    *(case(f, lambda y, f=f: f(y, np.zeros(3)), between(-0.9, 0.9, 3)) for f in (exp2_slope, one_minus_sigmoid)),
    case(
        sigmoid_error,
        lambda y, labels: sigmoid_error(y, np.zeros(3), labels),
        between(0.1, 0.9, 3),
        between(0.1, 0.9, 3, seed=1),
    ),
]


def of_steps(function: Callable[..., Any], gates: int, *others: tuple[int, ...]) -> list[Case]:
    """Cases of all steps of a recurrent layer with 2 units: 3 steps of 2 sequences, and a single step."""
    return [
        case(
            function,
            None,
            *(normal(*shape, seed=k) for k, shape in enumerate(((steps, 2, 2 * gates), (2, 2 * gates), *others))),
        )
        for steps in (3, 1)
    ]


STEPS = [
    *of_steps(lstm_steps, 4, (2, 2), (2, 2)),
    *of_steps(gru_steps, 3, (6,), (2, 2)),
]

CASES = ACTIVATIONS + DROPOUT + EXPONENTIALS + LOSSES + STEPS + TAILS

# -- bends, infinities, single precision -----------------------------------------------------------

SINGLE = np.float32
ENDS = np.array([-INF, -1e3, 0.0, 1e3, INF])


def ends(function: Callable[..., Any], *slopes: float) -> Any:
    """The derivatives at -inf, -1000, 0, 1000 and inf."""
    return special(function, None, (ENDS,), (slopes,), label="ends")


def at(function: Callable[..., Any], points: Any, slopes: Any, label: str = "") -> Any:
    """The derivatives at some points."""
    return special(function, None, (np.array(points),), (slopes,), label=label)


SPECIAL = [
    ends(relu, 0, 0, 0, 1, 1),
    ends(relu6, 0, 0, 0, 0, 0),
    ends(leaky_relu, 0.2, 0.2, 0.2, 1, 1),
    ends(elu, 0, 0, 1, 1, 1),
    ends(selu, 0, 0, *[1.0507009873554805] * 3),
    ends(gelu, 0, 0, 0.5, 1, 1),
    special(gelu, lambda x: gelu(x, approximate=True), (ENDS,), ([0, 0, 0.5, 1, 1],), label="tanh ends"),
    ends(silu, 0, 0, 0.5, 1, 1),
    ends(sigmoid, 0, 0, 0.25, 0, 0),
    ends(log_sigmoid, 1, 1, 0.5, 0, 0),
    ends(softplus, 0, 0, 0.5, 1, 1),
    ends(softsign, 0, 1001.0**-2, 1, 1001.0**-2, 0),
    ends(hard_sigmoid, 0, 0, 1 / 6, 0, 0),
    ends(erf, 0, 0, 2 / np.sqrt(np.pi), 0, 0),
    ends(erfc, 0, 0, -2 / np.sqrt(np.pi), 0, 0),
    at(relu6, [0.0, 6.0], [0, 0], "bends"),
    at(hard_sigmoid, [-3.0, 3.0], [0, 0], "bends"),
    special(elu, lambda x: elu(x, 2.0), (np.zeros(1),), ([2.0],), label="alpha at the bend"),
    special(leaky_relu, None, (-2.0, 0.5), (0.5, -2.0), label="number"),
    special(leaky_relu, None, (np.array([-2.0, 3.0], SINGLE), SINGLE(0.5)), ([0.5, 1.0], -2.0), label="single"),
    at(relu, [NAN, 1.0], [0, 1], "nan"),
    at(relu, np.array([1, -1, 0], SINGLE), [1, 0, 0], "single"),
    special(
        # where nothing comes through, an infinite gradient does not, either
        relu,
        lambda x: np.sqrt(relu(x)),
        (np.array([-1.0, 4.0]),),
        ([0, 0.25],),
        label="infinite behind",
        warns=True,
    ),
    at(log_sigmoid, [40.0], [4.248354255291589e-18], "small slope"),
    at(softplus, [-40.0], [4.248354255291589e-18], "small slope"),
    at(logsumexp, [-INF, -INF], [0.5, 0.5], "nothing"),
    at(logsumexp, [INF, 0.0, INF], [0.5, 0, 0.5], "infinite"),
    at(logsumexp, [-INF, 1.0], [0, 1], "one left"),
    at(logsumexp, [1e3, 1e3], [0.5, 0.5], "large"),
    at(logsumexp, np.zeros((0,)), np.zeros((0,)), "empty"),
    at(softmax, [INF, 0.0], [0, 0], "infinite"),
    at(softmax, [-INF, -INF], [0, 0], "nothing"),
    special(
        softmax,
        lambda x: softmax(x)[0],
        (np.array([-INF, -INF, -INF]),),
        ([2 / 9, -1 / 9, -1 / 9],),
        label="first of nothing",
    ),
    special(log_softmax, lambda x: log_softmax(x)[1], (np.array([-INF, 0.0]),), ([0, 0],), label="one left"),
    at(softmax, np.ones((2, 2), SINGLE), np.zeros((2, 2)), "single"),
    special(
        # the logit of -inf has the label 0
        softmax_cross_entropy,
        None,
        ([1.0, 0.0, 0.0], np.array([0.0, 0.0, -INF])),
        ([np.log(2), np.log(2), INF], [-0.5, 0.5, 0]),
        label="impossible class",
    ),
    special(
        softmax_cross_entropy,
        lambda x: softmax_cross_entropy([1, 0], x),
        ([INF, 0.0],),
        ([0, 0],),
        label="certain class",
    ),
    special(softmax_cross_entropy, None, ([[0.0, 1.0]], [[1e3, 0.0]]), ([[0, 1e3]], [[1, -1]]), label="large"),
    special(
        softmax_cross_entropy,
        lambda x: softmax_cross_entropy([0, 1], x),
        (np.zeros(2, SINGLE),),
        ([0.5, -0.5],),
        label="single",
    ),
    special(
        sparse_softmax_cross_entropy,
        None,
        (np.array([0, 1]), np.array([[INF, 0.0], [-INF, 0.0]])),
        (None, [[0, 0], [0, 0]]),
        label="certain classes",
    ),
    special(sparse_softmax_cross_entropy, None, (1, np.array([1e3, 0.0], SINGLE)), (None, [1, -1]), label="single"),
    special(
        sigmoid_cross_entropy,
        None,
        ([1.0, 1.0, 0.0, 0.0, 0.5], [1e3, -1e3, 1e3, -1e3, 0.0]),
        ([-1e3, 1e3, -1e3, 1e3, 0], [0, -1, 1, 0, 0]),
        label="large",
    ),
    special(
        sigmoid_cross_entropy,
        lambda x: sigmoid_cross_entropy([1, 0, 0.5], x),
        ([INF, -INF, INF],),
        ([0, 0, 0.5],),
        label="infinite",
    ),
    special(
        masked,
        lambda x: dropout(x, 0.5, np.random.default_rng(0)),
        (np.full(6, INF),),
        ([2, 0, 0, 0, 2, 2],),
        label="infinite",
    ),
    special(
        masked,
        lambda x: dropout(x, 0.0, np.random.default_rng(0)),
        (np.ones(3, SINGLE),),
        ([1, 1, 1],),
        label="nothing dropped",
    ),
]

# -- refused ---------------------------------------------------------------------------------------

COMPLEX = np.array([1 + 1j, 2.0])
ONES = np.ones((2, 3))

REFUSED = [
    *(
        refused(
            f,
            None,
            (COMPLEX,),
            UnsupportedArgumentError,
            rf"{f.__name__} takes real numbers, not complex128: pass np.real\(x\) or np.abs\(x\)",
        )
        for f in (*STRAIGHT, *SMOOTH, softsign, softmax, log_softmax, logsumexp)
    ),
    *(
        refused(f, None, (np.ones(2), COMPLEX), UnsupportedArgumentError, rf"{f.__name__} takes real")
        for f in PARAMETRIC
    ),
    refused(
        masked,
        lambda x: dropout(x, 0.5, np.random.default_rng(0)),
        (COMPLEX,),
        UnsupportedArgumentError,
        "dropout takes real numbers, not complex128",
    ),
    *(
        refused(f, lambda x, f=f: f(x, axis=2), (ONES,), AxisError, "axis 2 is out of bounds")
        for f in (softmax, log_softmax, logsumexp)
    ),
    refused(softmax, None, (3.0,), AxisError, "axis -1 is out of bounds for array of dimension 0"),
    refused(softmax, lambda x: softmax(x, (0, -2)), (ONES,), ValueError, "repeated axis"),
    *(
        refused(
            f,
            None,
            (np.ones(3), ONES),
            ShapeError,
            rf"{f.__name__} of labels of shape \(3,\) and logits of shape \(2, 3\): "
            "pass one label for each logit",
        )
        for f in (softmax_cross_entropy, sigmoid_cross_entropy)
    ),
    *(
        refused(
            f,
            None,
            (labels, np.array([[1, 2, 3]])),
            UnsupportedArgumentError,
            rf"{f.__name__} takes real numbers as logits, not int64: write 1.0 for 1",
        )
        for f, labels in (
            (softmax_cross_entropy, np.ones((1, 3))),
            (sigmoid_cross_entropy, np.ones((1, 3))),
            (sparse_softmax_cross_entropy, np.ones(1, int)),
        )
    ),
    *(
        refused(
            f, None, (np.ones(2), COMPLEX), UnsupportedArgumentError, f"{f.__name__} takes real numbers, not complex128"
        )
        for f in (softmax_cross_entropy, sigmoid_cross_entropy)
    ),
    refused(
        sigmoid_cross_entropy,
        None,
        (COMPLEX, np.ones(2)),
        UnsupportedArgumentError,
        "sigmoid_cross_entropy takes real numbers, not complex128",
    ),
    refused(
        softmax_cross_entropy,
        lambda p, x: softmax_cross_entropy(p, x, axis=2),
        (ONES, ONES),
        AxisError,
        "axis 2 is out of bounds",
    ),
    *(
        refused(
            sparse_softmax_cross_entropy,
            None,
            (np.array(labels), ONES),
            OptionError,
            rf"labels\[1\] = {wrong} is not in \[0, 3\)",
        )
        for labels, wrong in (([0, 3], 3), ([2, -1], -1))
    ),
    refused(sparse_softmax_cross_entropy, None, (4, np.ones(3)), OptionError, r"labels = 4 is not in \[0, 3\)"),
    refused(
        sparse_softmax_cross_entropy,
        None,
        (np.array([0.0, 1.0]), ONES),
        UnsupportedArgumentError,
        "labels of sparse_softmax_cross_entropy must be integers, not float64: "
        r"write np.astype\(x, int\)",
    ),
    *(
        refused(
            sparse_softmax_cross_entropy,
            None,
            (labels, logits),
            ShapeError,
            "the labels must have the shape of the logits without the last axis",
        )
        for labels, logits in ((np.array([0]), ONES), (np.zeros((2, 3), int), ONES), (0, 1.0))
    ),
]
