"""Pairs of calls that become one call of a kernel: a loss and its gradient, a loss and the softmax of its logits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.operations.exponentials import softmax
from tapemagic.engine.operations.losses import softmax_cross_entropy
from tapemagic.engine.operations.sparse_losses import (
    sparse_cross_entropy_slopes,
    sparse_softmax_cross_entropy,
)
from tapemagic.errors import OptionError
from tapemagic.programs.function import function
from tapemagic.programs.passes.pairs import in_pairs
from tests.programs.passes.small_programs import interpreted, passed, same_bits, traced
from tests.programs.running import in_driver

Y = np.array([0, 2, 1])
X = np.array([[0.5, -1.0, 2.0], [0.0, 0.25, -0.5], [3.0, 1.0, 1.5]])
G = np.array([0.5, 0.25, 2.0])
SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e300, -1.79e308, 1.79e308, 3e38, -3.4e38, 6e4, 1e19]


def joined(f: Callable[..., Any], **arrays: Any) -> list[str]:
    """The calls that the pass alone leaves of a function."""
    return passed(f, by=in_pairs, **arrays)


def test_a_loss_and_its_gradient() -> None:
    """They are one call in the place of the first; the functions by themselves stay."""

    def f(y: Any, x: Any) -> Any:
        losses = sparse_softmax_cross_entropy(y, x)
        return np.sin(losses), sparse_cross_entropy_slopes(G, y, x)

    assert joined(f, y=Y, x=X) == [
        f"a = sparse_cross_entropy_with_slopes(array({G.tolist()}), y, x)",
        "b = getitem(a, 0)",
        "c = getitem(a, 1)",
        "d = sin(b)",
        "return d, c",
    ]
    for alone in (
        sparse_softmax_cross_entropy,
        lambda y, x: sparse_cross_entropy_slopes(G, y, x),
    ):
        assert len(joined(alone, y=Y, x=X)) == 2


def test_what_the_gradient_is_multiplied_by_is_computed_before() -> None:
    """It may stand after the loss, if it can stand before: not if it needs the loss, or may raise an error."""

    def f(y: Any, x: Any, w: Any, change: Any) -> Any:
        losses = sparse_softmax_cross_entropy(y, x)
        total = np.sum(losses * w)
        return total, sparse_cross_entropy_slopes(change(w, total) * 2.0, y, x)

    assert joined(lambda y, x, w: f(y, x, w, lambda w, _: w * w), y=Y, x=X, w=G) == [
        "a = multiply(w, w)",
        "b = multiply(a, 2.0)",
        "c = sparse_cross_entropy_with_slopes(b, y, x)",
        "d = getitem(c, 0)",
        "e = getitem(c, 1)",
        "f = multiply(d, w)",
        "g = sum(f)",
        "return g, e",
    ]
    for change in (
        lambda w, total: w * total,
        lambda w, _: w[np.argmax(w)] * w,
        lambda w, _: np.linalg.inv(np.outer(w, w) + np.eye(3))[0],
    ):
        left = "\n".join(joined(lambda y, x, w, c=change: f(y, x, w, c), y=Y, x=X, w=G))
        assert "with_slopes" not in left
        assert "sparse_cross_entropy_slopes" in left


@pytest.mark.parametrize("way", ["labels", "logits", "guard", "errstate", "before"])
def test_what_is_not_joined(way: str) -> None:
    """Other labels or logits, a guard or another error state between the two, the gradient before the loss."""

    def f(y: Any, x: Any, other: Any) -> Any:
        if way == "before":
            return sparse_cross_entropy_slopes(G, y, x), sparse_softmax_cross_entropy(y, x)
        losses = sparse_softmax_cross_entropy(y, x)
        if way == "guard" and np.sum(x) > 1e3:
            return losses
        with np.errstate(**({"over": "raise"} if way == "errstate" else {})):
            slopes = sparse_cross_entropy_slopes(
                G, other if way == "labels" else y, x + 1.0 if way == "logits" else x
            )
        return losses, slopes

    assert not any("with_slopes" in line for line in joined(f, y=Y, x=X, other=Y[::-1]))


def test_each_loss_is_joined_once() -> None:
    """Of two gradients the first is; losses of other labels find their own."""

    def f(y: Any, z: Any, x: Any) -> Any:
        one, two = sparse_softmax_cross_entropy(y, x), sparse_softmax_cross_entropy(z, x)
        both = [sparse_cross_entropy_slopes(G, y, x), sparse_cross_entropy_slopes(2 * G, y, x)]
        return one, two, *both, sparse_cross_entropy_slopes(G, z, x)

    found = joined(f, y=Y, z=Y[::-1].copy(), x=X)

    assert [line.split(" = ")[1].split("(")[0] for line in found[:-1]] == [
        "sparse_cross_entropy_with_slopes",
        "getitem",
        "getitem",
        "sparse_cross_entropy_with_slopes",
        "getitem",
        "getitem",
        "sparse_cross_entropy_slopes",
    ]
    assert found[-1] == "return b, e, c, g, f"


def test_a_call_of_another_pair_stays_behind_its_own_first() -> None:
    """What is computed before a loss is none of the calls that are joined themselves."""

    def f(y: Any, p: Any, x: Any, z: Any) -> Any:
        losses = sparse_softmax_cross_entropy(y, x)
        others = softmax_cross_entropy(p, z)
        return losses, others, sparse_cross_entropy_slopes(softmax(z)[:, 0], y, x)

    given = Y, np.full((3, 3), 0.25), X, X[::-1].copy()
    program = in_pairs(traced(f, *given))

    assert [node.function.__name__ for node in program.body][:2] == [
        "sparse_softmax_cross_entropy",
        "softmax_cross_entropy_with_softmax",
    ]
    assert all(map(same_bits, interpreted(program, list(given)), f(*given)))


def test_a_loss_and_the_softmax_of_its_logits() -> None:
    """Along the same axis, however that is written."""
    p = np.full((3, 3), 0.25)

    def f(p: Any, x: Any, axis: Any, other: Any) -> Any:
        return softmax_cross_entropy(p, x, **axis), softmax(x, *other)

    for axis, other, number in (({}, (), -1), ({"axis": 1}, (-1,), 1), ({"axis": -2}, (0,), -2)):
        left = joined(lambda p, x, a=axis, b=other: f(p, x, a, b), p=p, x=X)
        assert left[0] == f"a = softmax_cross_entropy_with_softmax(p, x, {number})"
        assert left[1:] == ["b = getitem(a, 0)", "c = getitem(a, 1)", "return b, c"]
    for other in ((0,), (None,), ((1,),)):
        assert len(joined(lambda p, x, b=other: f(p, x, {}, b), p=p, x=X)) == 3


def test_names_and_text() -> None:
    """Both results have the user's names on one line; one that nobody reads has none."""
    w = tm.Variable(X.astype("f4"))

    def step(x: Any, y: Any, whole: bool) -> Any:
        with tm.GradientTape() as tape:
            logits = x @ w
            losses = tm.sparse_softmax_cross_entropy(y, logits)
            loss = np.mean(losses)
        gradient = tape.gradient(loss, w)
        return (loss, gradient) if whole else gradient

    x = tm.constant(X.astype("f4"))
    for whole, names in ((True, "losses, d_logits"), (False, "_, d_logits")):
        program = function(step)
        for _ in range(3):
            found = program(x, tm.constant(Y), whole)
        right = step(x, tm.constant(Y), whole)
        assert f"    {names} = sparse_cross_entropy_with_slopes(constant, y, logits)\n" in (
            program.source()
        )
        pairs = zip(found, right, strict=True) if whole else [(found, right)]
        assert all(same_bits(a.numpy(), b.numpy()) for a, b in pairs)
        with pytest.raises(OptionError, match=r"labels\[1\] = 3 is not in \[0, 3\)"):
            program(x, tm.constant(np.array([0, 3, 1])), whole)


def draws(count: int) -> Iterator[tuple[Any, ...]]:
    """Labels, logits with special numbers in some memory layout, gradients of the losses, and probabilities."""
    rng = np.random.default_rng(0)
    shapes = [(3,), (0,), (40,), (130,), (6, 7), (5, 0, 2), (2, 20, 5)]
    for _ in range(count):
        lead, classes = shapes[rng.integers(len(shapes))], int(rng.choice([1, 2, 10, 16, 17, 40]))
        kind = rng.choice(["f2", "f4", "f4", "f8", "f8", "g", ">f4"])
        x = rng.normal(size=(*lead, classes)) * 10.0 ** rng.integers(-2, 3)
        if rng.random() < 0.5:
            x = np.where(
                rng.random(x.shape) < rng.choice([0.02, 0.5]), rng.choice(SPECIAL, x.shape), x
            )
        with np.errstate(over="ignore"):
            x = x.astype(kind)
        way = rng.integers(6)
        x = np.asfortranarray(x) if way == 0 else x
        x = np.repeat(x, 2, -1)[..., ::2] if way == 1 else x
        x = x[::-1] if way == 2 else x
        y = rng.integers(0, classes, lead).astype(rng.choice(["i8", "i4", "u1", "u8", ">i2"]))
        y = np.repeat(y, 2, 0)[::2] if way == 3 else y
        g = rng.normal(size=((2, *lead) if way == 4 else lead)).astype(kind)
        g = np.broadcast_to(g.dtype.type(0.125), lead) if way == 5 else g
        yield y, x, g, rng.random(x.shape).astype(kind)


def found_by(f: Callable[..., Any], *args: Any) -> tuple[list[Any], set[str]]:
    """The results, and what NumPy warned of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        return f(*args), {str(each.message) for each in warned}


def all_four(y: Any, x: Any, g: Any, p: Any) -> Any:
    """Both pairs, of the same logits."""
    losses, slopes = sparse_softmax_cross_entropy(y, x), sparse_cross_entropy_slopes(g, y, x)
    return losses, slopes, softmax_cross_entropy(p, x), softmax(x, -1)


@pytest.mark.thorough
@pytest.mark.parametrize("state", [{}, {"all": "warn"}])
def test_no_bit_changes(state: dict[str, Any]) -> None:
    """Nor the order in memory, nor what NumPy warns of: for logits of any layout, kind and size."""
    warned = set()
    for given in list(draws(300)):
        with np.errstate(all="ignore"):
            before = traced(all_four, *given)
        after = in_pairs(before)
        assert len(after.body) == 6
        with np.errstate(**state):
            right, said = found_by(interpreted, before, list(given))
            for f, args in (
                (interpreted, (after, list(given))),
                (in_driver(after), given),
            ):
                results, messages = found_by(f, *args)
                assert messages == said
                for a, b in zip(results, right, strict=True):
                    assert (
                        same_bits(a, b) if b.dtype != "g" else np.array_equal(a, b, equal_nan=True)
                    )
                    assert a.strides == b.strides
        warned |= said
    assert warned
