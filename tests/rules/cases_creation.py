"""Cases of grids, of arrays made of lists, and of the parts of numbers."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import numpy as np

from tapemagic import Tensor
from tapemagic.errors import ImmutableError, NoDerivativeError, UnsupportedArgumentError
from tests.rules.harness import case, normal, plain, positive, refused, special

A, X, NUMBER = normal(2, 3), normal(3, seed=1), normal()
PLANE = normal(2, 3) + 1j * normal(2, 3, seed=1)
TURNED = positive(3) + 1j * normal(3, seed=2)
INF, NAN = np.inf, np.nan

PAIRS = ((NUMBER, normal(seed=1)), (X, NUMBER), (NUMBER, X), (A, X), (normal(2, 1), normal(1, 3)), (normal(0), NUMBER))
POSITIVE_PAIRS = (
    (positive(), positive(seed=1)),
    (positive(3), positive()),
    (positive(), positive(3)),
    (positive(2, 3), positive(3, seed=1)),
    (positive(2, 1), positive(1, 3, seed=1)),
    (positive(0), positive()),
)
FORMS: tuple[dict[str, Any], ...] = (
    {}, {"num": 1}, {"num": 0}, {"num": 4}, {"num": 4, "endpoint": False}, {"num": 1, "endpoint": False},
)  # fmt: skip


def shapes(function: Any, pairs: Any) -> list[Any]:
    """A function of two ends that are numbers and arrays, with the points along the first and the last axis."""
    return [
        case(function, partial(function, num=3, axis=axis), *ends, label=f"axis {axis}")
        for ends in pairs
        for axis in (0, -1)
    ]


def forms(function: Any, *ends: Any) -> list[Any]:
    """A function of two ends with few points and many, with the last one and without it."""
    return [case(function, partial(function, **form), *ends, label=f"{form}") for form in FORMS]


def made(function: Any, value: Any, *inputs: Any, **options: Any) -> Any:
    """A function that makes an array of values, asked with ``like`` to make a tensor."""

    def call(*xs: Any) -> Any:
        like = {"like": xs[0]} if isinstance(xs[0], Tensor) else {}
        return function(value(*xs), **options, **like)

    label = ", ".join(options)
    return case(getattr(function, "func", function), call, *inputs, label=label)


def saved(function: Any) -> Any:
    """The array that is read from what `function` has written."""

    def call(x: Any) -> Any:
        file = io.BytesIO()
        function(file, x)
        file.seek(0)
        return np.load(file)

    return call


def first(file: Any) -> Any:
    """The only array of an archive."""
    return file["arr_0"] if hasattr(file, "files") else file


CASES = [
    *shapes(np.linspace, PAIRS),
    *forms(np.linspace, NUMBER, normal(seed=1)),
    *forms(np.linspace, A, X),
    case(np.linspace, partial(np.linspace, num=5, axis=1), A, X, label="axis 1"),
    case(np.linspace, lambda a, b: np.linspace(a, b, 4, True, True), A, X, label="step"),
    case(
        np.linspace,
        lambda a, b: np.linspace(a, b, 4, endpoint=False, retstep=True, axis=-1),
        X,
        NUMBER,
        label="step, without the end",
    ),
    case(np.linspace, lambda b: np.linspace(0, b, 4, dtype=np.complex128), X, label="dtype"),
    case(np.linspace, lambda b: np.linspace([0.0, 1.0, 2.0], b, 4), X, label="from a list"),
    case(np.linspace, lambda b: np.linspace(b, [b, 1.0], 4), NUMBER, label="to a list"),
    case(np.linspace, lambda b: np.linspace(1, b, np.int64(4)), NUMBER, label="from a number"),
    case(np.linspace, lambda b: np.linspace(1, b, 4, device="cpu"), NUMBER, label="device"),
    case(np.linspace, partial(np.linspace, num=4), PLANE, TURNED, label="complex"),
    *shapes(np.geomspace, POSITIVE_PAIRS),
    *forms(np.geomspace, positive(), positive(seed=1)),
    *forms(np.geomspace, positive(2, 3), positive(3, seed=1)),
    case(np.geomspace, partial(np.geomspace, num=4), -positive(3), -positive(), label="negative"),
    case(np.geomspace, partial(np.geomspace, num=4), PLANE, TURNED, label="complex"),
    case(np.geomspace, lambda b: np.geomspace(1, b, 4, True, np.complex128), TURNED, label="dtype"),
    case(np.geomspace, lambda b: np.geomspace([1.0, 2.0, 3.0], b, 4), positive(3), label="list"),
    *shapes(np.logspace, PAIRS),
    *forms(np.logspace, NUMBER, normal(seed=1)),
    case(np.logspace, lambda a, b: np.logspace(a, b, 4, base=2.0), A, X, label="base"),
    *(
        case(
            np.logspace,
            lambda a, b, base, axis=axis: np.logspace(a, b, 4, base=base, axis=axis),
            *inputs,
            label=f"bases, axis {axis}",
        )
        for inputs in (
            (NUMBER, normal(seed=1), positive()),
            (NUMBER, normal(seed=1), positive(3)),
            (X, NUMBER, positive(2, 3)),
            (A, X, positive(3)),
        )
        for axis in (0, -1)
    ),
    case(np.logspace, lambda a: np.logspace(0, 1, 4, base=a), positive(3), label="base alone"),
    case(np.logspace, lambda a: np.logspace(a, 1, 4, dtype=np.complex128), X, label="dtype"),
    made(np.array, lambda x, y: [x, y, [1.0, 2.0, 3.0]], X, NUMBER * X),
    made(np.array, lambda x: [[x, 1.0], (2.0, x)], NUMBER),
    made(np.array, lambda x: x, A, dtype=np.complex128, ndmin=3),
    made(np.array, lambda x: x, A, copy=True, order="F", subok=True),
    made(np.asarray, lambda x: [x, x * x], A),
    made(np.asarray, lambda x: x, A, dtype=np.complex128, order="F", copy=True),
    made(np.asanyarray, lambda x: (x, 1.0), NUMBER),
    made(partial(np.full, (2, 3)), lambda x: x, X),
    made(partial(np.full, 4), lambda x: x, NUMBER, dtype=np.complex128, order="F", device="cpu"),
    made(partial(np.full, (2, 3)), lambda x: [x, 2.0, x], NUMBER),
    *(case(np.modf, None, x) for x in (NUMBER, 3 * A, normal(0))),
    case(np.modf, partial(np.modf, dtype=np.float64), 3 * A, label="dtype"),
    *(case(np.frexp, lambda x: np.frexp(x)[0], x) for x in (NUMBER, 9 * A, normal(0))),
    case(np.frexp, lambda x: np.ldexp(*np.frexp(x * x)) * x, 9 * A, label="and back"),
    *(case(np.nextafter, None, *ends) for ends in PAIRS),
]

SPECIAL = [
    special(np.linspace, lambda a, b: np.linspace(a, b, 1, retstep=True)[0], [2.0, 3.0], [1, 0], label="one"),
    special(np.linspace, lambda a, b: np.linspace(a, b, 3), [2.0, 2.0], [1.5, 1.5], label="equal"),
    special(np.linspace, lambda a, b: np.linspace(a, b, 3), [np.float32(1), 2.0], [1.5, 1.5], label="float32"),
    special(np.linspace, lambda a: np.linspace(a, 9.0, 3, dtype=int), [2.5], [None], label="int"),
    special(np.geomspace, lambda a, b: np.geomspace(a, b, 3), [1.0, 4.0], [2, 1.25]),
    special(np.modf, lambda x: np.modf(x)[0], [[1.5, -2.5, INF, -0.0]], [[1, 1, 1, 1]]),
    special(np.modf, lambda x: np.modf(x)[1], [[1.5, -2.5]], [None], label="the whole"),
    special(np.frexp, lambda x: np.frexp(x)[0], [[8.0, 0.0, -0.25]], [[1 / 16, 1, 2]]),
    special(np.frexp, lambda x: np.frexp(x)[0], [[1e-300]], [[2.0**996]], label="small"),
    special(np.nextafter, None, [1.0, 1.0], [1, 0]),
]

PLAIN = [
    plain(np.may_share_memory, lambda x: np.may_share_memory(x, np.ones(2)), A),
    plain(np.shares_memory, lambda x: np.shares_memory(x, np.ones(2)), A),
    plain(np.packbits, None, np.array([1, 0, 1], np.uint8)),
    plain(np.unpackbits, None, np.array([7, 9], np.uint8)),
    plain(np.save, saved(np.save), A),
    plain(np.savez, lambda x: first(saved(np.savez)(x)), A),
    plain(np.savez_compressed, lambda x: first(saved(np.savez_compressed)(x)), A),
    plain(np.savetxt, lambda x: np.savetxt(io.StringIO(), x), A),
]

REFUSED = [
    refused(np.geomspace, lambda x: np.geomspace(x, 1.0), [0.0], ValueError, "cannot include zero"),
    refused(np.linspace, lambda x: np.linspace(x, 1.0, -1), [0.0], ValueError, "non-negative"),
    refused(np.linspace, lambda x: np.linspace(x, 1.0, 2.5), [0.0], TypeError, "integer"),
    refused(np.modf, lambda x: np.modf(x, where=[True, False]), [[1.5, 2.5]], UnsupportedArgumentError, "np.modf"),
    refused(np.frexp, lambda x: np.frexp(x, np.zeros(1)), [[1.5]], ImmutableError, "frexp"),
    refused(np.full, lambda x: np.full(x, 1.0, like=x), [1.5], UnsupportedArgumentError, "shape"),
    refused(np.asfortranarray, lambda x: np.asfortranarray(x, like=x), [A], NoDerivativeError, "as"),
]
