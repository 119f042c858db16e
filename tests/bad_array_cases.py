"""What users ask wrongly of NumPy's functions, and of ours of neural networks: more of the table of bad_input_cases.py.

Where NumPy itself refuses, its own error comes through: ``NUMPY_REFUSES`` has calls that raise the same of an array and
of a tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.errors import (
    DtypeError,
    ImmutableError,
    NoDerivativeError,
    NotNumbersError,
    OptionError,
    ShapeError,
    UnsupportedArgumentError,
)
from tests.bad_input_cases import NO_ARRAY, OBJECTS, RAGGED, Case, Table, generated

TEXTS, WITH_NONE = ["a", "b", "c"], [None, 1.0, 2.0]
WORDS = np.array(TEXTS)
MASK = np.array([True, False, True])
RNG = np.random.default_rng
IN_PLACE = "writes into an array, which no tape can track, and tensors are immutable: "
KNOWINGLY = "but tensors hold numbers: convert it with .astype(float), or write x.numpy() if you need no gradient"
OUT = "would write into an array, which no tape can track: omit 'out', and assign the result to a name"

WRITING: dict[str, Case] = {
    "out": (lambda u: np.sin(u.c, out=u.a), ImmutableError, f"sin(..., out=...) {OUT}"),
    "out by position": (
        lambda u: np.add(u.c, 1.0, u.a),
        ImmutableError,
        f"add(..., out=...) {OUT}",
    ),
    "out of a reduction": (lambda u: np.cumsum(u.w, out=u.a), ImmutableError, f"out=...) {OUT}"),
    "out of a method": (
        lambda u: u.w.cumsum(out=u.a),
        ImmutableError,
        f"cumsum(..., out=...) {OUT}",
    ),
    "out of a product": (lambda u: np.matmul(u.m, u.c, out=u.a), ImmutableError, OUT),
    "out of einsum": (lambda u: np.einsum("i->i", u.c, out=u.a), ImmutableError, OUT),
    "adding to an array in place": (lambda u: u.a.__iadd__(u.c), ImmutableError, OUT),
    "ufunc.at of an array": (lambda u: np.add.at(u.a, 0, u.s), ImmutableError, "np.add.at writes"),
    "copyto": (
        lambda u: np.copyto(u.a, u.c),
        ImmutableError,
        f"np.copyto {IN_PLACE}bind the result",
    ),
}
"""Calls that would write into arrays what a live tape tracks; without one, they write it."""

NUMPY: dict[str, Case] = {
    "a tensor as out": (lambda u: np.sin(u.a, out=u.c), ImmutableError, OUT),
    "where": (
        lambda u: np.sin(u.c, where=MASK),
        UnsupportedArgumentError,
        "sin(..., where=...) leaves gaps that have no derivative: write np.where(condition, np.sin(x), otherwise)",
    ),
    "ufunc.at": (
        lambda u: np.add.at(u.c, 0, 1.0),
        ImmutableError,
        "np.add.at writes in place, and a tensor is immutable: to add up at indices, write",
    ),
    "put": (lambda u: np.put(u.c, 0, 1.0), ImmutableError, f"np.put {IN_PLACE}write np.where"),
    "place": (lambda u: np.place(u.c, MASK, 1.0), ImmutableError, f"np.place {IN_PLACE}"),
    "putmask": (lambda u: np.putmask(u.c, MASK, 1.0), ImmutableError, f"np.putmask {IN_PLACE}"),
    "fill_diagonal": (
        lambda u: np.fill_diagonal(u.m, 0.0),
        ImmutableError,
        f"np.fill_diagonal {IN_PLACE}write np.where(np.eye(n, dtype=bool), value, x)",
    ),
    "reduceat": (
        lambda u: np.multiply.reduceat(u.w, [0, 1]),
        NoDerivativeError,
        "np.multiply.reduceat has no derivative rule: write np.stack([functools.reduce(np.multiply, x[i:j])",
    ),
    "objects on the right": (
        lambda u: u.c + OBJECTS,
        NotNumbersError,
        f"add received array([1.0, None, 3.0], dtype=object) of dtype object, {KNOWINGLY}",
    ),
    "objects on the left": (lambda u: OBJECTS + u.c, NotNumbersError, "add received array("),
    "objects that are numbers": (
        lambda u: u.c * u.a.astype(object),
        NotNumbersError,
        f"multiply gave array([0.5, 2.0, 6.0], dtype=object) of dtype object, {KNOWINGLY}",
    ),
    "objects to a function": (
        lambda u: np.arctan2(u.c, OBJECTS),
        NotNumbersError,
        "arctan2 received array([1.0, None, 3.0], dtype=object)",
    ),
    "text on the right": (
        lambda u: u.c + WORDS,
        NotNumbersError,
        f"add received array(['a', 'b', 'c'], dtype='<U1') of dtype <U1, {KNOWINGLY}",
    ),
    "text on the left": (lambda u: WORDS * u.c, NotNumbersError, "multiply received array(['a'"),
    "a list of text": (lambda u: u.c + TEXTS, NotNumbersError, "add received array(['a"),
    "None in a list": (lambda u: u.c + WITH_NONE, NotNumbersError, "array([None, 1.0, 2.0]"),
    "a ragged list": (lambda u: u.c + RAGGED, NotNumbersError, NO_ARRAY),
    "a ragged list of tensors": (
        lambda u: u.c * [[u.s], [u.s, u.s]],
        NotNumbersError,
        "isn't an array, because its rows differ in length or depth: pad them to one length",
    ),
    "a date": (
        lambda u: u.c + np.datetime64("2020"),
        NotNumbersError,
        "add received np.datetime64('2020') of dtype datetime64[Y]",
    ),
    "text to a function": (
        lambda u: np.add(u.c, "abc"),
        NotNumbersError,
        "np.add takes tensors, arrays and numbers, not 'abc' of type str",
    ),
    "None to a function": (lambda u: np.add(u.c, None), NotNumbersError, "not None of type NoneT"),
    "an object to a function": (
        lambda u: np.multiply({1.0}, u.c),
        NotNumbersError,
        "np.multiply takes tensors, arrays and numbers, not {1.0} of type set",
    ),
    "concatenation with text": (lambda u: np.concatenate([u.c, WORDS]), NotNumbersError, f"of dtype <U32, {KNOWINGLY}"),
    "concatenation with objects": (
        lambda u: np.concatenate([u.c, OBJECTS]),
        NotNumbersError,
        "concatenate gave array([0.5, 1.0, 2.0, 1.0, None,",
    ),
    "text or numbers": (
        lambda u: np.where(MASK, u.c, "a"),
        NotNumbersError,
        "where gave array(['0.5', 'a', '2.0'], dtype='<U32')",
    ),
    "None or numbers": (lambda u: np.where(MASK, u.c, None), NotNumbersError, "of dtype object"),
    "cast to text": (lambda u: u.c.astype(str), NotNumbersError, "astype gave array(['0.5', '1.0'"),
    "cast to objects": (lambda u: u.c.astype(object), NotNumbersError, "astype gave array([0.5"),
    "added up as objects": (
        lambda u: np.sum(u.c, dtype=object),
        NotNumbersError,
        f"sum gave 3.5 of dtype object, {KNOWINGLY}",
    ),
    "None added": (lambda u: u.c + None, TypeError, "for +: 'Tensor' and 'NoneType'"),
    "text taken away": (lambda u: "a" - u.c, TypeError, "for -: 'str' and 'Tensor'"),
    "a set as a factor": (lambda u: u.w * {1.0}, TypeError, "for *: 'Variable' and 'set'"),
    "compared with text": (lambda u: u.c < "a", TypeError, "not supported between instances"),
    "an unknown keyword": (lambda u: np.sum(u.c, axes=0), TypeError, "argument 'axes'"),
    "an unknown keyword of a method": (lambda u: u.c.sum(axes=0), TypeError, "argument 'axes'"),
}  # fmt: skip
NUMPY_REFUSES: dict[str, Callable[[Any], Any]] = {
    "an axis too far": lambda u: np.sum(u.x, axis=3),
    "an axis too far of a method": lambda u: u.x.mean(axis=-4),
    "an axis twice": lambda u: np.sum(u.m, axis=(0, 0)),
    "a fraction as axis": lambda u: np.sum(u.x, axis=0.5),
    "text as axis": lambda u: np.max(u.x, axis="a"),
    "an axis to sort": lambda u: np.sort(u.x, axis=2),
    "an axis to add up": lambda u: np.cumsum(u.x, axis=2),
    "an axis to roll": lambda u: np.roll(u.x, 1, axis=3),
    "an axis to put in": lambda u: np.expand_dims(u.x, 5),
    "an axis to squeeze": lambda u: np.squeeze(u.x, axis=0),
    "axes to swap": lambda u: np.swapaxes(u.x, 0, 1),
    "axes to permute": lambda u: np.transpose(u.x, (0, 1)),
    "shapes that do not broadcast": lambda u: u.x + np.ones(2),
    "shapes that do not broadcast, from the left": lambda u: np.ones(2) - u.x,
    "a list that does not broadcast": lambda u: u.x * [1.0, 2.0],
    "shapes of a function": lambda u: np.arctan2(u.x, np.ones(2)),
    "shapes of where": lambda u: np.where(np.ones(2, bool), u.x, 0.0),
    "shapes of clip": lambda u: np.clip(u.x, np.zeros(2), 1.0),
    "shapes of a product": lambda u: u.m @ np.ones((2, 2)),
    "a product with a number": lambda u: u.m @ u.s,
    "shapes of dot": lambda u: np.dot(u.x, np.ones(2)),
    "shapes of tensordot": lambda u: np.tensordot(u.m, np.ones((2, 2)), axes=1),
    "axes of einsum": lambda u: np.einsum("ij,j", u.x, u.x),
    "letters of einsum": lambda u: np.einsum("i,i->z", u.x, u.x),
    "a shape of another size": lambda u: np.reshape(u.x, (2, 2)),
    "a shape of another size, of a method": lambda u: u.m.reshape(4, 2),
    "two unknown lengths": lambda u: u.x.reshape(-1, -1),
    "a shape to broadcast to": lambda u: np.broadcast_to(u.x, (2, 2)),
    "shapes to stack": lambda u: np.stack([u.x, np.ones(2)]),
    "ranks to concatenate": lambda u: np.concatenate([u.x, np.ones((2, 2))]),
    "numbers to concatenate": lambda u: np.concatenate([u.s, u.s]),
    "parts of unequal length": lambda u: np.split(u.x, 2),
    "an index too large": lambda u: u.x[7],
    "an index too small": lambda u: u.m[0, -4],
    "an index too many": lambda u: u.x[0, 0],
    "an index of text": lambda u: u.x["a"],
    "a fraction as index": lambda u: u.x[1.0],
    "fractions as indices": lambda u: u.x[[0.0, 1.0]],
    "an array of fractions as index": lambda u: u.x[np.array([0.5])],
    "indices too large": lambda u: u.x[np.array([0, 9])],
    "a fraction as the end of a slice": lambda u: u.x[0:1.5],
    "a step of zero": lambda u: u.x[::0],
    "a mask of another length": lambda u: u.x[np.array([True, False])],
    "a mask of another shape": lambda u: u.m[np.ones((3, 2), bool)],
    "a mask of more axes": lambda u: u.x[np.ones((3, 3), bool)],
    "an index into one number": lambda u: u.s[0],
    "places to take": lambda u: np.take(u.x, [0, 9]),
    "fractions to take": lambda u: np.take(u.x, np.array([0.5])),
    "places along an axis": lambda u: np.take_along_axis(u.x, np.array([[0]]), 0),
    "an unknown dtype": lambda u: np.sum(u.x, dtype="flot"),
    "an unknown dtype to cast to": lambda u: u.x.astype("flot"),
    "whole powers of whole numbers": lambda u: np.argsort(u.x) ** -1,
    "bits of fractions": lambda u: u.x & 1,
    "the largest of nothing": lambda u: np.max(u.x[:0]),
    "the smallest of nothing, of a method": lambda u: u.m[:0].min(axis=0),
    "the place of the largest of nothing": lambda u: np.argmax(u.x[:0]),
    "a percentage of more than 100": lambda u: np.percentile(u.x, 120),
    "negative repetition": lambda u: np.repeat(u.x, -1),
    "repetitions of another length": lambda u: np.repeat(u.x, [1, 2]),
    "a diagonal of many axes": lambda u: np.diag(u.m[None, None]),
    "negative differences": lambda u: np.diff(u.x, n=-1),
    "conditions without choices": lambda u: np.select([u.x > 1.0], [u.x, u.x]),
    "an inverse of a vector": lambda u: np.linalg.inv(u.x),
    "an inverse of an oblong": lambda u: np.linalg.inv(u.m),
    "an inverse of a singular matrix": lambda u: np.linalg.inv(u.s * np.zeros((2, 2))),
    "a root of a negative matrix": lambda u: np.linalg.cholesky(u.s * -np.eye(2)),
    "a system of another size": lambda u: np.linalg.solve(u.s * np.eye(2), np.ones(3)),
    "no Fourier transform": lambda u: np.fft.fft(u.x, n=0),
}
"""Calls with a vector x, a matrix m and a number s, of which NumPy says what is wrong."""


def _of_numbers(f: Any) -> dict[str, Case]:
    """What the functions that are one operation refuse, by the name of the function."""
    name = f.__name__
    reals = f"{name} takes real numbers, not"
    return {
        "text": (lambda _: f("abc"), UnsupportedArgumentError, f"{reals} <U3"),
        "None": (lambda _: f(None), UnsupportedArgumentError, f"{reals} object"),
        "objects": (lambda _: f(OBJECTS), UnsupportedArgumentError, f"{reals} object"),
        "a set": (lambda _: f({1.0}), UnsupportedArgumentError, f"{reals} object"),
        "a generator": (lambda _: f(generated(1.0)), UnsupportedArgumentError, f"{reals} object"),
        "complex": (
            lambda u: f(u.c * 1j),
            UnsupportedArgumentError,
            f"{reals} complex128: pass np.real(x) or np.abs(x)",
        ),
        **_in_lists(f),
        "an unknown keyword": (
            lambda u: f(u.c, beta=1.0),
            UnsupportedArgumentError,
            f"{name}() has no argument 'beta': it takes x",
        ),
    }


def _in_lists(f: Any) -> dict[str, Case]:
    return {
        "ragged": (lambda _: f(RAGGED), NotNumbersError, NO_ARRAY),
        "ragged tensors": (lambda u: f([[u.s], [u.s, u.s]]), NotNumbersError, "isn't an array"),
        "None beside a tensor": (lambda u: f([u.s, None]), NotNumbersError, "stack gave array([2."),
    }


GIVEN_HERE = "expected numbers, an array or a tensor, not"


def _of_arrays(f: Any, but: str = "") -> dict[str, Case]:
    """What the functions that are made of others refuse."""
    cases = {
        "text": (lambda _: f("abc"), NotNumbersError, f"{GIVEN_HERE} <U3 such as 'abc'"),
        "None": (lambda _: f(None), NotNumbersError, f"{GIVEN_HERE} object such as None"),
        "objects": (lambda _: f(OBJECTS), NotNumbersError, f"{GIVEN_HERE} object such as array("),
        "a set": (lambda _: f({1.0}), NotNumbersError, f"{GIVEN_HERE} object such as {{1.0}}"),
        "a date": (lambda _: f(np.datetime64("2020")), NotNumbersError, f"{GIVEN_HERE} datetime64"),
        **_in_lists(f),
    }
    return {what: case for what, case in cases.items() if what not in but.split(", ")}


def _axis(f: Any) -> dict[str, Case]:
    return {
        "an axis too far": (
            lambda u: f(u.c, axis=3),
            np.exceptions.AxisError,
            "axis 3 is out of bounds for array of dimension 1",
        ),
        "no axis": (
            lambda u: f(u.s, axis=-1),
            np.exceptions.AxisError,
            "axis -1 is out of bounds for array of dimension 0",
        ),
    }


ONE_OPERATION = (
    "relu relu6 leaky_relu elu selu gelu silu sigmoid log_sigmoid softplus softsign hard_sigmoid "
    "erf erfc softmax log_softmax logsumexp"
)

NEURAL: Table = {name: _of_numbers(getattr(tm, name)) for name in ONE_OPERATION.split()}
NEURAL["swish"] = _of_numbers(tm.swish)
for _name in ("softmax", "log_softmax", "logsumexp"):
    NEURAL[_name] |= _axis(getattr(tm, _name))
NEURAL["leaky_relu"] |= {
    "a complex slope": (
        lambda u: tm.leaky_relu(u.c, 1j),
        UnsupportedArgumentError,
        "leaky_relu takes real numbers, not complex128",
    ),
    "a slope of text": (
        lambda u: tm.leaky_relu(u.c, "a"),
        UnsupportedArgumentError,
        "leaky_relu takes real numbers, not <U1",
    ),
}
CLIP_NORM = "needs a clip_norm that is one positive number, not"

NEURAL |= {
    "l2_normalize": _of_arrays(tm.l2_normalize)
    | {
        "an axis too far": (
            lambda u: tm.l2_normalize(u.c, axis=3),
            np.exceptions.AxisError,
            "axis 3 is out of bounds",
        ),
        "epsilon text": (
            lambda u: tm.l2_normalize(u.c, epsilon="a"),
            OptionError,
            "the epsilon of l2_normalize must be a small number, not 'a': write epsilon=1e-12",
        ),
    },
    "layer_norm": _of_arrays(tm.layer_norm)
    | _axis(tm.layer_norm)
    | {
        "a scale of another length": (
            lambda u: tm.layer_norm(u.c, np.ones(2)),
            ShapeError,
            "layer_norm: scale of shape (2,) does not broadcast to the shape of x, (3,)",
        ),
        "an offset of text": (
            lambda u: tm.layer_norm(u.c, offset="a"),
            NotNumbersError,
            "such as 'a'",
        ),
        "epsilon None": (
            lambda u: tm.layer_norm(u.c, epsilon=None),  # type: ignore[arg-type]
            OptionError,
            "the epsilon of layer_norm must be a small number, not None",
        ),
    },
    "batch_norm": _of_arrays(lambda x: tm.batch_norm(x, 0.0, 1.0))
    | {
        "a mean of another length": (
            lambda u: tm.batch_norm(u.c, np.ones(2), 1.0),
            ShapeError,
            "batch_norm: mean of shape (2,) does not broadcast to the shape of x, (3,)",
        ),
        "a variance of more axes": (
            lambda u: tm.batch_norm(u.c, 0.0, np.ones((2, 3))),
            ShapeError,
            "batch_norm: variance of shape (2, 3) does not broadcast",
        ),
        "mean None": (lambda u: tm.batch_norm(u.c, None, 1.0), NotNumbersError, "such as None"),
        "a scale of objects": (
            lambda u: tm.batch_norm(u.c, 0.0, 1.0, scale=OBJECTS),
            NotNumbersError,
            f"{GIVEN_HERE} object such as array(",
        ),
        "epsilon text": (
            lambda u: tm.batch_norm(u.c, 0.0, 1.0, epsilon="a"),  # type: ignore[arg-type]
            OptionError,
            "the epsilon of batch_norm must be a small number, not 'a'",
        ),
    },
    "dropout": _of_arrays(lambda x: tm.dropout(x, 0.5, RNG(0)))
    | {
        "a rate of more than 1": (
            lambda u: tm.dropout(u.c, 1.5, RNG(0)),
            OptionError,
            "dropout needs a rate that is a plain number, at least 0 and less than 1, not 1.5",
        ),
        "a variable as rate": (
            lambda u: tm.dropout(u.c, u.s, RNG(0)),
            OptionError,
            "not Variable(",
        ),
        "a seed as generator": (
            lambda u: tm.dropout(u.c, 0.5, 0),
            UnsupportedArgumentError,
            "dropout needs a random generator, such as np.random.default_rng(0), not 0",
        ),
        "complex": (
            lambda u: tm.dropout(u.c * 1j, 0.5, RNG(0)),
            UnsupportedArgumentError,
            "dropout takes real numbers, not complex128",
        ),
    },
    "clip_by_norm": _of_arrays(lambda x: tm.clip_by_norm(x, 1.0))
    | {
        "a negative length": (
            lambda u: tm.clip_by_norm(u.c, -1.0),
            OptionError,
            f"clip_by_norm {CLIP_NORM} -1.0",
        ),
        "a length of NaN": (
            lambda u: tm.clip_by_norm(u.c, np.nan),
            OptionError,
            f"{CLIP_NORM} nan",
        ),
        "a length None": (lambda u: tm.clip_by_norm(u.c, None), OptionError, f"{CLIP_NORM} None"),
        "a length of text": (lambda u: tm.clip_by_norm(u.c, "a"), OptionError, f"{CLIP_NORM} a"),
        "a complex length": (lambda u: tm.clip_by_norm(u.c, 1j), OptionError, f"{CLIP_NORM} 1j"),
        "several lengths": (lambda u: tm.clip_by_norm(u.c, u.c), OptionError, f"{CLIP_NORM} [0.5"),
        "axes too far": (
            lambda u: tm.clip_by_norm(u.c, 1.0, axes=2),
            np.exceptions.AxisError,
            "axis 2 is out of bounds",
        ),
    },
    "clip_by_global_norm": _of_arrays(lambda x: tm.clip_by_global_norm([x], 1.0), but="None")
    | {
        "one tensor": (
            lambda u: tm.clip_by_global_norm(u.c, 1.0),
            UnsupportedArgumentError,
            "clip_by_global_norm takes a list or a tuple of tensors, not Tensor: write clip_by_global_norm([x]",
        ),
        "a generator": (
            lambda u: tm.clip_by_global_norm(generated(u.c), 1.0),  # type: ignore[arg-type]
            UnsupportedArgumentError,
            "a list or a tuple of tensors, not generator",
        ),
        "no length": (
            lambda u: tm.clip_by_global_norm([u.c], None),
            OptionError,
            f"clip_by_global_norm {CLIP_NORM} None",
        ),
    },
    "cast": _of_arrays(lambda x: tm.cast(x, float))
    | {
        "to an unknown dtype": (
            lambda u: tm.cast(u.c, "flot"),
            DtypeError,
            "data type 'flot' not understood: write a numeric dtype, such as 'float64'",
        ),
        "to text": (lambda u: tm.cast(u.c, str), DtypeError, "a tensor can't have the dtype <U0"),
        "to objects": (lambda u: tm.cast(u.c, object), DtypeError, "can't have the dtype object"),
    },
    "top_k": _of_arrays(tm.top_k)
    | {
        "more than there are": (
            lambda u: tm.top_k(u.c, 9),
            OptionError,
            "top_k cannot choose k = 9 of 3 elements",
        ),
        "k text": (
            lambda u: tm.top_k(u.c, "a"),  # type: ignore[arg-type]
            OptionError,
            "the k of top_k must be a non-negative integer, not 'a'",
        ),
        "k a fraction": (lambda u: tm.top_k(u.c, 1.5), OptionError, "not 1.5"),  # type: ignore[arg-type]
        "one number": (lambda u: tm.top_k(u.s), ShapeError, "along the last axis, but a single"),
        "complex": (lambda u: tm.top_k(u.c * 1j), UnsupportedArgumentError, "that have an order"),
    },
    "one_hot": {
        "fractions": (
            lambda u: tm.one_hot(u.c, 3),
            UnsupportedArgumentError,
            "indices of one_hot must be integers, not float64",
        ),
        "None": (lambda _: tm.one_hot(None, 3), UnsupportedArgumentError, "not object"),
        "ragged": (
            lambda _: tm.one_hot([[0], [0, 1]], 3),
            NotNumbersError,
            "[[0], [0, 1]] isn't an array",
        ),
        "a negative depth": (
            lambda u: tm.one_hot(u.n, -2),
            OptionError,
            "the depth of one_hot must be a non-negative integer, not -2",
        ),
        "depth None": (lambda u: tm.one_hot(u.n, None), OptionError, "not None"),  # type: ignore[arg-type]
        "an axis too far": (
            lambda u: tm.one_hot(u.n, 3, axis=4),
            np.exceptions.AxisError,
            "axis 4 is out of bounds",
        ),
        "text where it is on": (
            lambda u: tm.one_hot(u.n, 3, on_value="a"),
            NotNumbersError,
            f"{GIVEN_HERE} <U1 such as 'a'",
        ),
        "a dtype of text": (lambda u: tm.one_hot(u.n, 3, dtype=str), DtypeError, "the dtype <U0"),
    },
    "gather": _of_arrays(lambda x: tm.gather(x, [0]))
    | {
        "an index too large": (
            lambda u: tm.gather(u.c, [0, 3]),
            OptionError,
            "indices[1] = 3 is not in [0, 3)",
        ),
        "fractions": (
            lambda u: tm.gather(u.c, u.c),
            UnsupportedArgumentError,
            "indices of gather must be integers, not float64",
        ),
        "ragged indices": (
            lambda u: tm.gather(u.c, [[0], [0, 1]]),
            NotNumbersError,
            "isn't an array",
        ),
        "an axis too far": (
            lambda u: tm.gather(u.c, [0], axis=1),
            np.exceptions.AxisError,
            "axis 1 is out of bounds",
        ),
    },
    "gather_nd": _of_arrays(lambda x: tm.gather_nd(x, [[0]]))
    | {
        "an index too large": (
            lambda u: tm.gather_nd(u.c, [[5]]),
            OptionError,
            "indices[0] = [5] is not inside shape (3,)",
        ),
        "indices None": (
            lambda u: tm.gather_nd(u.c, None),
            UnsupportedArgumentError,
            "indices of gather_nd must be integers, not object",
        ),
        "ragged indices": (
            lambda u: tm.gather_nd(u.c, [[0], [0, 1]]),
            NotNumbersError,
            "isn't an array",
        ),
        "rows too long": (
            lambda u: tm.gather_nd(u.c, [[0, 0]]),
            ShapeError,
            "gather_nd has indices of 2 numbers each, and only 1 axes to index, of shape (3,)",
        ),
        "batch_dims text": (
            lambda u: tm.gather_nd(u.c, [[0]], batch_dims="a"),  # type: ignore[arg-type]
            OptionError,
            "the batch_dims of gather_nd must be a non-negative integer, not 'a'",
        ),
    },
    "scatter_nd": _of_arrays(lambda x: tm.scatter_nd([[0]], x, (3,)))
    | {
        "updates of another shape": (
            lambda u: tm.scatter_nd([[0]], u.c, (3,)),
            ShapeError,
            "needs updates of shape (1,), not (3,)",
        ),
        "shape None": (
            lambda u: tm.scatter_nd([[0]], u.c[:1], None),
            OptionError,
            "each length in the shape of scatter_nd must be a non-negative integer, not None",
        ),
        "a negative length": (
            lambda u: tm.scatter_nd([[0]], u.c[:1], (-3,)),
            OptionError,
            "not -3",
        ),
        "an index too large": (
            lambda u: tm.scatter_nd([[4]], u.c[:1], (3,)),
            OptionError,
            "indices[0] = [4] is not inside shape (3,)",
        ),
    },
    "scatter_add": _of_arrays(lambda x: tm.scatter_add(x, [0], (3,)), but="objects, a date")
    | {
        "an index too large": (
            lambda u: tm.scatter_add(u.c, [0, 1, 7], (3,)),
            IndexError,
            "index 7 is out of bounds for axis 0 with size 3",
        ),
        "fractions": (
            lambda u: tm.scatter_add(u.c, [0.0, 1.0, 2.0], (3,)),
            IndexError,
            "only integers, slices",
        ),
        "values of another shape": (
            lambda u: tm.scatter_add(u.c, [0, 1], (3,)),
            ValueError,
            "not broadcastable to correct shape",
        ),
    },
    "segment_sum": _of_arrays(lambda x: tm.segment_sum(x, [0]))
    | {
        "too few numbers": (
            lambda u: tm.segment_sum(u.c, [0, 1]),
            ShapeError,
            "segment_sum of data of shape (3,) with segment_ids of shape (2,): pass one number for each slice",
        ),
        "a negative number": (
            lambda u: tm.segment_sum(u.c, [0, -1, 1]),
            OptionError,
            "segment_ids[1] = -1 is not in [0, 2)",
        ),
        "numbers None": (
            lambda u: tm.segment_sum(u.c, None),
            UnsupportedArgumentError,
            "segment_ids must be integers, not object",
        ),
        "how many as text": (
            lambda u: tm.segment_sum(u.c, u.n, "a"),  # type: ignore[arg-type]
            OptionError,
            "the num_segments of segment_sum must be a non-negative integer",
        ),
    },
    "softmax_cross_entropy": {
        "labels of another shape": (
            lambda u: tm.softmax_cross_entropy(np.ones(2), u.c),
            ShapeError,
            "softmax_cross_entropy of labels of shape (2,) and logits of shape (3,): pass one label for each logit",
        ),
        "labels and logits exchanged": (
            lambda u: tm.softmax_cross_entropy(u.c, u.n),
            UnsupportedArgumentError,
            "takes real numbers as logits, not int64: write 1.0 for 1, and pass the labels first",
        ),
        "an axis too far": (
            lambda u: tm.softmax_cross_entropy(u.c, u.c, axis=2),
            np.exceptions.AxisError,
            "axis 2 is out of bounds",
        ),
        "labels None": (
            lambda u: tm.softmax_cross_entropy(None, u.c),
            UnsupportedArgumentError,
            "softmax_cross_entropy takes real numbers, not object",
        ),
        "ragged": (lambda u: tm.softmax_cross_entropy(RAGGED, u.c), NotNumbersError, NO_ARRAY),
    },
    "sparse_softmax_cross_entropy": {
        "a label too large": (
            lambda u: tm.sparse_softmax_cross_entropy([0, 3], u.m),
            OptionError,
            "labels[1] = 3 is not in [0, 3)",
        ),
        "a negative label": (
            lambda u: tm.sparse_softmax_cross_entropy(-1, u.c),
            OptionError,
            "labels = -1 is not in [0, 3)",
        ),
        "labels of another shape": (
            lambda u: tm.sparse_softmax_cross_entropy([1, 1, 1], u.m),
            ShapeError,
            "the labels must have the shape of the logits without the last axis, which counts the classes",
        ),
        "probabilities": (
            lambda u: tm.sparse_softmax_cross_entropy(u.m, u.m),
            UnsupportedArgumentError,
            "labels of sparse_softmax_cross_entropy must be integers, not float64",
        ),
    },
    "sigmoid_cross_entropy": {
        "labels of another shape": (
            lambda u: tm.sigmoid_cross_entropy(np.ones(2), u.c),
            ShapeError,
            "sigmoid_cross_entropy of labels of shape (2,) and logits of shape (3,)",
        ),
        "labels None": (
            lambda u: tm.sigmoid_cross_entropy(None, u.c),
            UnsupportedArgumentError,
            "sigmoid_cross_entropy takes real numbers, not object",
        ),
        "complex logits": (
            lambda u: tm.sigmoid_cross_entropy(u.c, u.c * 1j),
            UnsupportedArgumentError,
            "sigmoid_cross_entropy takes real numbers, not complex128",
        ),
    },
}

CASES: Table = {"numpy": NUMPY, **NEURAL}
