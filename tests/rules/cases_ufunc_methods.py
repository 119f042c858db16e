"""Cases of methods of ufuncs: outer, reduceat, and reduce where no function of NumPy's has a name for it."""

from __future__ import annotations

from functools import partial

import numpy as np

import tapemagic.engine.rules.ufunc_methods  # noqa: F401 (fills NAMED)
from tapemagic.engine.registry import NAMED
from tapemagic.errors import NoDerivativeError, UnsupportedArgumentError
from tests.rules.harness import case, normal, plain, positive, refused, special

INF = np.inf
A, B = positive(3), positive(2, seed=1)
BINARY = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.power, np.hypot, np.arctan2)
REDUCEAT = NAMED["reduceat", np.add]
LOGARITHMS = {f: NAMED["reduce", f] for f in (np.logaddexp, np.logaddexp2)}


CASES = [
    *(case(f, f.outer, A, B, label="outer") for f in BINARY),
    case(np.subtract, np.subtract.outer, normal(2, 3), normal(2), label="outer of a table"),
    case(np.subtract, np.subtract.outer, A, normal(), label="outer of a number"),
    case(np.multiply, lambda x: np.multiply.outer(x, x), A, label="outer with itself"),
    case(np.subtract, lambda x: np.subtract.outer([1.0, x[0]], x), A, label="outer of a list"),
    *(
        case(REDUCEAT, partial(np.add.reduceat, indices=i), normal(5), label=f"{i}")
        for i in ([0], [0, 2, 4], [1, 3], [3, 1, 1], [4, 0, 2, 2], np.array([2, 0]))
    ),
    *(
        case(REDUCEAT, lambda x, k=k: np.add.reduceat(x, indices=[0, 2], axis=k), normal(3, 3, 3), label=f"axis {k}")
        for k in (0, 1, -1)
    ),
    *(
        case(named, partial(f.reduce, axis=axis, keepdims=keep), normal(2, 3), label=f"{axis} {keep}")
        for f, named in LOGARITHMS.items()
        for axis in (0, 1, -1)
        for keep in (False, True)
    ),
    *(case(named, f.reduce, normal(3), label="default") for f, named in LOGARITHMS.items()),
]

SPECIAL = [
    special(named, f.reduce, [[point, point]], [[0.5, 0.5]], label=f"{point}")
    for f, named in LOGARITHMS.items()
    for point in (1000.0, -INF)
]

PLAIN = [
    plain(np.less, lambda x: np.less.outer(x, x), normal(3), label="outer"),
    plain(np.floor_divide, lambda x: np.floor_divide.outer(x, x), positive(3), label="outer"),
]

REFUSED = [
    refused(np.hypot, np.hypot.reduce, (normal(3),), NoDerivativeError, r"functools.reduce\(np.hypot, x\)"),
    refused(
        np.maximum, np.maximum.accumulate, (normal(3),), NoDerivativeError, r"itertools.accumulate\(x, np.maximum\)"
    ),
    refused(
        np.multiply,
        lambda x: np.multiply.reduceat(x, [0]),
        (normal(3),),
        NoDerivativeError,
        r"reduce\(np.multiply, x\[i:j\]\)",
    ),
    refused(
        LOGARITHMS[np.logaddexp],
        partial(np.logaddexp.reduce, initial=1.0),
        (normal(3),),
        UnsupportedArgumentError,
        "initial",
    ),
]
