"""Jacobians in one sweep: the numbers of one gradient a row, whatever is recorded, and the memory they take."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tape import batched_sweep as batching
from tests.conformance.programs import raised_by

pytestmark = pytest.mark.thorough

Program = Callable[..., Any]

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=4), RNG.normal(size=4)
M, N = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 4))
Z = RNG.normal(size=4) + 1j * RNG.normal(size=4)
S = N @ N.T + 4 * np.eye(4)
B = RNG.normal(size=(5, 3))


@tm.custom_gradient
def tripled_square(x: Any) -> Any:
    """A square whose gradient is three times too large."""
    return x * x, lambda u: 6 * u * x


@tm.recompute_grad
def block(x: Any) -> Any:
    """Several steps, computed again when they are differentiated."""
    return np.tanh(np.sin(x) @ N) * x


def chain(x: Any) -> Any:
    """Elementwise steps alone, with an intermediate source among them."""
    h = np.exp(np.sin(x))
    return h * x + 1 / (2 + x**2), [h]


def prefix(x: Any) -> Any:
    """Elementwise steps, and then others."""
    h = np.sin(x) * x
    return M @ h, [h]


def suffix(x: Any) -> Any:
    """Other steps, and then elementwise ones."""
    h = M @ x
    return np.tanh(h) ** 2 - h, [h]


def between(x: Any) -> Any:
    """Elementwise steps on both sides of others, with a source at every step."""
    a = np.sin(x)
    b = M @ a
    c = np.cumsum(b)
    d = np.exp(-c)
    return d * d, [a, b, c, d]


def both_ways(x: Any) -> Any:
    """A source, and an intermediate one, that are used elementwise and otherwise."""
    h = np.sin(x)
    return h * x + N @ h + np.sum(x) + h[::-1], [h]


def late_branch(x: Any) -> Any:
    """What is used otherwise last, when its diagonal came first."""
    h = np.cos(x)
    k = h * 2.0
    return np.roll(h, 1) * 3.0 + k * h, [k, h]


def dense_first(x: Any) -> Any:
    """A diagonal that joins rows which are already written out."""
    h = x * x
    k = np.sort(h)
    return h * 2.0 + k, [k, h]


def kept_dense(x: Any) -> Any:
    """An intermediate source in the dense part, which is the result of an elementwise operation."""
    h = N @ x
    k = h * h
    y = N @ k
    return y + k, [h, k, y]


def broadcast(x: Any, s: Any) -> Any:
    """Elementwise functions that repeat an operand are not diagonal in it."""
    return np.sin(x) * s + x / s, []


def broadcast_rows(w: Any, x: Any) -> Any:
    """The same for a row and a column."""
    return np.exp(w * x) + np.reshape(np.sum(w, 1), (3, 1)), []


def broadcast_later(s: Any) -> Any:
    """A scalar that is repeated and summed up again."""
    h = s * s
    return np.sum(h * X) * h, [h]


def choices(x: Any) -> Any:
    """Choices are elementwise, conditions constant."""
    return np.where(x > 0, np.maximum(x, 0.5) ** 2, np.clip(x, -1.0, 1.0) * x) + np.abs(x), []


def with_parameters(x: Any) -> Any:
    """A target with an elementwise operation that has parameters, and NumPy's casts."""
    return np.round(x, 1) + np.nan_to_num(x * x) + np.clip(x, -0.5, 0.5), []


def one_target(x: Any) -> Any:
    """A single number."""
    return np.sum(np.sin(x) * x), []


def one_element(x: Any) -> Any:
    """A single number in an array."""
    return np.reshape(np.sum(x**3), (1, 1)), []


def one_source(s: Any) -> Any:
    """A single number as the source."""
    return np.sin(s * X), []


def numbers(s: Any) -> Any:
    """A number of a number."""
    h = np.sin(s)
    return h * s, [h]


def source_is_target(x: Any) -> Any:
    """The target among the sources, before and after other uses."""
    y = x * x
    np.sum(y)
    return y, [y]


def identity(x: Any) -> Any:
    """The source itself."""
    return x, []


def pieces(x: Any) -> Any:
    """Operations with several outputs, one of them unused, one a source."""
    a, b, c, d = np.split(np.sin(x), 4)
    return np.concatenate([a * d, np.sin(b), c]), [a, d, c]


def unpacked(w: Any) -> Any:
    """The target is one of several outputs."""
    _, b = np.split(w * w, 2, axis=1)
    return b, []


def decomposed(x: Any) -> Any:
    """Linear algebra: eigenvalues and vectors, a determinant and a solution."""
    a = S + np.outer(x, x)
    values, vectors = np.linalg.eigh(a)
    sign, logarithm = np.linalg.slogdet(a)
    return np.linalg.solve(a, x) * values + sign * logarithm * vectors[0] ** 2, [values]


def singular(w: Any) -> Any:
    """Singular values, batched."""
    return np.linalg.svd(np.stack([w, w**2]), compute_uv=False), []


def holomorphic(z: Any) -> Any:
    """Complex diagonals, and complex rows."""
    h = np.exp(z) * z
    return N @ h + h, [h]


def not_holomorphic(z: Any) -> Any:
    """Real and complex values in turn."""
    r = np.abs(z) * np.real(z)
    h = np.conj(z) * r
    return h * np.imag(z) + r[0], [r, h]


def complex_of_real(x: Any) -> Any:
    """A complex target of a real source."""
    h = np.exp(1j * x)
    return h * x + np.sum(h), [h]


def real_of_complex(z: Any) -> Any:
    """A real target of a complex source."""
    return np.angle(z) + np.abs(N @ z), []


def mixed_precision(x: Any) -> Any:
    """Single precision that is cast to double on the way."""
    h = np.sin(x) * x
    d = h.astype(np.float64)
    return d * X + N @ d, [h, d]


def custom(x: Any) -> Any:
    """A function with a gradient of its own, between elementwise steps and others."""
    h = tripled_square(np.sin(x))
    return N @ h + h * x, [h]


def recomputed(x: Any) -> Any:
    """A function that is computed again."""
    h = block(x)
    return block(h) + x, [h]


def stopped(x: Any) -> Any:
    """A path that ends."""
    return np.sin(x) * tm.stop_gradient(N @ x), []


def indexed(x: Any) -> Any:
    """Elements by slices, lists and masks, some of them twice."""
    h = x[[0, 2, 2]] * x[1:]
    return np.where(x[:3] > 0, h, x[::-1][:3]), [h]


def long_chain(x: Any) -> Any:
    """A hundred steps."""
    y = x
    for k in range(50):
        y = np.sin(y) + (N @ y) * 0.01 if k % 10 == 0 else np.sin(y) * 1.1 + x
    return y, []


PROGRAMS: dict[str, tuple[Program, tuple[Any, ...]]] = {
    "chain": (chain, (X,)),
    "chain of matrices": (chain, (M,)),
    "prefix": (prefix, (X,)),
    "suffix": (suffix, (X,)),
    "between": (between, (X,)),
    "both ways": (both_ways, (X,)),
    "late branch": (late_branch, (X,)),
    "dense first": (dense_first, (X,)),
    "kept dense": (kept_dense, (X,)),
    "broadcast": (broadcast, (X, np.float64(1.5))),
    "broadcast to more": (broadcast, (np.float64(0.5), Y + 3)),
    "broadcast rows": (broadcast_rows, (M, X)),
    "broadcast later": (broadcast_later, (np.float64(0.7),)),
    "choices": (choices, (X,)),
    "with parameters": (with_parameters, (X,)),
    "one target": (one_target, (X,)),
    "one element": (one_element, (X,)),
    "one source": (one_source, (np.float64(0.7),)),
    "numbers": (numbers, (np.float64(0.7),)),
    "source is target": (source_is_target, (X,)),
    "identity": (identity, (M,)),
    "pieces": (pieces, (X,)),
    "unpacked": (unpacked, (M,)),
    "decomposed": (decomposed, (X,)),
    "singular": (singular, (M,)),
    "holomorphic": (holomorphic, (Z,)),
    "not holomorphic": (not_holomorphic, (Z,)),
    "complex of real": (complex_of_real, (X,)),
    "real of complex": (real_of_complex, (Z,)),
    "single precision": (between, (X.astype(np.float32),)),
    "mixed precision": (mixed_precision, (X.astype(np.float32),)),
    "custom": (custom, (X,)),
    "recomputed": (recomputed, (X,)),
    "stopped": (stopped, (X,)),
    "indexed": (indexed, (X,)),
    "long chain": (long_chain, (X,)),
    "two sources": (lambda x, y: (np.sin(x) * y + y[::-1], []), (X, Y)),
    "one tensor twice": (lambda x: (x * x, []), (X,)),
    "two alike": (lambda x, y: (x + y, []), (X, Y)),
    "two alike, then others": (lambda x, y: (np.cumsum(x + y), []), (X, Y)),
    "of several shapes": (lambda w, x: (np.outer(w @ x, x), []), (M, X)),
    "empty": (chain, (np.zeros(0),)),
    "empty matrix": (lambda w: (w @ np.ones((0, 2)), []), (np.zeros((3, 0)),)),
    "empty target": (lambda x: (np.sin(x)[:0] * 2.0, []), (X,)),
    "empty target of custom": (lambda x: (tripled_square(x)[:0] * 2.0, []), (X,)),
    "empty custom": (custom, (np.zeros(4),)),
}

every_program = pytest.mark.parametrize(
    ("program", "inputs"), PROGRAMS.values(), ids=PROGRAMS.keys()
)


DOUBLE = {
    name: entry
    for name, entry in PROGRAMS.items()
    if "empty" not in name and entry[1][0].dtype != np.float32
}
"""Those in double precision that have elements to differentiate."""


def recorded(
    program: Program, inputs: tuple[Any, ...], outer: tm.GradientTape | None = None
) -> tuple[tm.GradientTape, Any, list[Any]]:
    """A persistent tape, the target, and the sources: inputs and intermediates."""
    sources = list(map(tm.constant, inputs))
    if outer is not None:
        outer.watch(sources)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        y, intermediates = program(*sources)
    return tape, y, [*sources, *intermediates]


def row_by_row(tape: tm.GradientTape, y: Any, sources: list[Any]) -> list[Any]:
    """The Jacobians put together from one gradient for each element of the target."""
    units = np.reshape(np.eye(y.size), (y.size, *y.shape))
    rows = [tape.gradient(y, sources, unit, "zero") for unit in units]
    return [
        np.reshape([row[k].numpy() for row in rows], y.shape + x.shape)
        for k, x in enumerate(sources)
    ]


def assert_same(actual: list[Any], expected: list[Any], sources: list[Any]) -> None:
    """Equal numbers, in the dtypes of the sources."""
    for a, b, x in zip(actual, expected, sources, strict=True):
        single = x.dtype == np.float32
        assert a.dtype == x.dtype
        assert a.shape == b.shape
        np.testing.assert_allclose(
            a, b, rtol=1e-5 if single else 1e-10, atol=1e-6 if single else 1e-12
        )


@pytest.fixture(params=[None, 1, 100], ids=["at once", "one by one", "in chunks"])
def budget(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes for all rows, for one at a time, or for a few."""
    if request.param:
        monkeypatch.setattr(batching, "MAX_BATCH_BYTES", request.param)


@every_program
@pytest.mark.usefixtures("budget")
def test_rows_are_gradients(program: Program, inputs: tuple[Any, ...]) -> None:
    """A Jacobian is the stack of the gradients of its elements, in every source, whatever fits into memory."""
    tape, y, sources = recorded(program, inputs)

    assert_same(tape.jacobian(y, sources, "zero"), row_by_row(tape, y, sources), sources)


@every_program
@pytest.mark.usefixtures("budget")
def test_rows_are_gradients_to_another_tape(program: Program, inputs: tuple[Any, ...]) -> None:
    """The same numbers where another tape records the sweep."""
    tape, y, sources = recorded(program, inputs)
    expected = row_by_row(tape, y, sources)
    with tm.GradientTape() as outer:
        tape, y, sources = recorded(program, inputs, outer)
        actual = tape.jacobian(y, sources, "zero")

    assert_same(actual, expected, sources)


@every_program
def test_single_sources(program: Program, inputs: tuple[Any, ...]) -> None:
    """Each source alone has the Jacobian that it has among all of them."""
    tape, y, sources = recorded(program, inputs)
    together = tape.jacobian(y, sources)
    alone = [tape.jacobian(y, x) for x in sources]

    for a, b in zip(alone, together, strict=True):
        assert (a is None) == (b is None)
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize(("program", "inputs"), DOUBLE.values(), ids=DOUBLE.keys())
@pytest.mark.usefixtures("budget")
def test_second_order(program: Program, inputs: tuple[Any, ...]) -> None:
    """The Jacobian of a Jacobian is put together from the Hessians of single elements."""
    with tm.GradientTape(persistent=True) as outer:
        tape, y, sources = recorded(program, inputs, outer)
        x = sources[0]
        first = tape.jacobian(y, x, "zero")
        rows = [
            tape.gradient(y, x, unit, "zero") for unit in np.reshape(np.eye(y.size), (-1, *y.shape))
        ]
    second = outer.jacobian(first, x, "zero")
    expected = [row_by_row(outer, g, [x])[0] for g in rows]

    assert second.shape == y.shape + x.shape + x.shape
    shaped = np.reshape(np.array(expected), second.shape)
    np.testing.assert_allclose(second, shaped, rtol=1e-9, atol=1e-11)


BATCHED: dict[str, tuple[Program, tuple[Any, ...]]] = {
    "chain": (chain, (B,)),
    "matrix": (lambda x: (np.tanh(x @ M), []), (B,)),
    "rows": (lambda x: (x / np.sum(x * x, 1, keepdims=True), []), (B,)),
    "many axes": (lambda x: (x[:, None] * np.sin(x[:, :, None]), []), (B,)),
    "images": (lambda x: (np.sum(x, 2) @ M, []), (RNG.normal(size=(2, 3, 2)),)),
    "across examples": (lambda x: (x * np.sum(x), []), (B,)),
    "intermediate": (lambda x: ((h := np.sin(x)) @ M + np.sum(h, 1, keepdims=True), [h]), (B,)),
    "complex": (lambda z: (z * z[:, ::-1], []), (B + 1j * B[::-1],)),
    "single precision": (chain, (B.astype(np.float32),)),
    "custom": (lambda x: (tripled_square(x) @ M, []), (B,)),
    "one number each": (lambda x: (np.sum(x**2, 1, keepdims=True), []), (B,)),
    "one example": (lambda x: (np.cumsum(x, 1), []), (B[:1],)),
    "no example": (lambda x: (np.cumsum(x, 1), []), (B[:0],)),
    "empty examples": (lambda x: (x @ np.zeros((3, 0)), []), (B,)),
    "self": (lambda x: (x, []), (B,)),
}


@pytest.mark.parametrize(("program", "inputs"), BATCHED.values(), ids=BATCHED.keys())
@pytest.mark.usefixtures("budget")
@pytest.mark.parametrize("nested", [False, True])
def test_batches(program: Program, inputs: tuple[Any, ...], nested: bool) -> None:
    """Row k of a batch Jacobian is the gradient of element k of all examples, summed up."""
    with tm.GradientTape() if nested else nullcontext() as outer:
        tape, y, sources = recorded(program, inputs, outer)
        found = [tape.batch_jacobian(y, x) for x in sources]
    places = list(np.ndindex(y.shape[1:]))
    for x, actual in zip(sources, found, strict=True):
        expected = np.zeros((*y.shape, *x.shape[1:]), x.dtype)
        for place in places:
            unit = np.zeros(y.shape)
            unit[(slice(None), *place)] = 1.0
            expected[(slice(None), *place)] = tape.gradient(y, x, unit, "zero")
        assert_same([actual], [expected], [x])


# -- orders ---------------------------------------------------------------------------------------


def test_third_derivatives() -> None:
    """The Jacobian of a Jacobian of a Jacobian, by three tapes and by one."""
    x = tm.constant(X)
    with tm.GradientTape() as third:
        third.watch(x)
        with tm.GradientTape() as second:
            second.watch(x)
            with tm.GradientTape() as first:
                first.watch(x)
                y = x**4 * np.sum(x)
            jacobian = first.jacobian(y, x)
        hessian = second.jacobian(jacobian, x)
    actual = third.jacobian(hessian, x).numpy()

    assert actual.shape == (4, 4, 4, 4)
    np.testing.assert_allclose(actual, fourth_power_times_sum(X), rtol=1e-10, atol=1e-12)


def fourth_power_times_sum(x: Any) -> Any:
    """The third derivatives of x⁴ Σx, by hand."""
    e, one = np.eye(4), np.ones(4)
    cubic = np.einsum("i,ij,ik,il->ijkl", 24 * x * np.sum(x), e, e, e)
    square = 12 * x**2
    mixed = (
        np.einsum("i,ij,ik,l->ijkl", square, e, e, one)
        + np.einsum("i,ij,il,k->ijkl", square, e, e, one)
        + np.einsum("i,ik,il,j->ijkl", square, e, e, one)
    )
    return cubic + mixed


def test_orders_by_one_tape() -> None:
    """A persistent tape in its own block: each Jacobian can be differentiated by the same tape."""
    x = tm.constant(X)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        orders = [x**4 * np.sum(x)]
        for _ in range(3):
            orders.append(tape.jacobian(orders[-1], x))
        batches = tape.batch_jacobian(orders[1], orders[1])

    np.testing.assert_allclose(orders[3], fourth_power_times_sum(X), rtol=1e-10, atol=1e-12)
    assert batches.shape == (4, 4, 4)
    assert tape.jacobian(orders[3], x).shape == (4,) * 5


def test_mixed_orders() -> None:
    """A gradient of a Jacobian, and the Jacobian of a gradient in another source."""
    x, w = tm.constant(X), tm.constant(M)
    with tm.GradientTape(persistent=True) as outer:
        outer.watch([x, w])
        with tm.GradientTape(persistent=True) as inner:
            inner.watch([x, w])
            y = np.sin(w @ x)
        jw = inner.jacobian(y, w)
        gx = inner.gradient(y, x)

    a = M @ X
    eye = np.einsum("i,lj->lij", np.cos(a), np.eye(4))
    np.testing.assert_allclose(
        outer.jacobian(gx, w), eye - np.einsum("i,il,j->lij", np.sin(a), M, X), rtol=1e-10
    )
    np.testing.assert_allclose(
        outer.gradient(jw, x), np.sum(np.cos(a)) - np.sin(a) @ M * np.sum(X), rtol=1e-10
    )


def test_infinite_slopes() -> None:
    """An infinite derivative stays in its own place: zeros beside it are no NaN, under another tape neither."""
    x = tm.constant([0.0, 4.0])
    expected = np.diag([np.inf, 0.25])
    with np.errstate(divide="ignore"), tm.GradientTape() as outer:
        outer.watch(x)
        for nested in (False, True):
            with tm.GradientTape() as tape:
                tape.watch(x)
                y = np.sqrt(x)
            with nullcontext() if nested else outer.stop_recording():
                found = tape.jacobian(y, x)
            np.testing.assert_array_equal(found, expected)


def test_after_a_failure() -> None:
    """A Jacobian that fails leaves the tape as it was."""
    worked = []

    @tm.custom_gradient
    def moody(x: Any) -> Any:
        return x * x, lambda u: 2 * u * x if worked else None + u

    x = tm.constant(X)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = moody(x)
        error = raised_by(lambda: tape.jacobian(y, x))
        z = y * 3.0
    worked.append(True)

    assert isinstance(error, TypeError)
    np.testing.assert_allclose(tape.jacobian(z, x), np.diag(6 * X))


# -- functions with gradients of their own --------------------------------------------------------


def test_custom_gradients_are_asked_row_by_row() -> None:
    """The user's grad_fn sees one cotangent at a time, of its result's shape, once for all arguments."""
    seen = []

    @tm.custom_gradient
    def product(x: Any, w: Any) -> Any:
        def grad(u: Any) -> Any:
            seen.append(u.numpy())
            return w.mT @ u, np.outer(u, x)

        return w @ x, grad

    x, w = tm.constant(X), tm.constant(M)
    with tm.GradientTape() as tape:
        tape.watch([x, w])
        y = 2.0 * product(x, w)
    found = tape.jacobian(y, [x, w])

    np.testing.assert_array_equal(seen, 2 * np.eye(3))
    np.testing.assert_array_equal(found[0], 2 * M)
    np.testing.assert_array_equal(found[1], 2 * np.einsum("ik,j->ikj", np.eye(3), X))


def test_several_results_row_by_row() -> None:
    """The same for a function with several results; zeros stand for those that are not used."""
    seen = []

    @tm.custom_gradient
    def split(x: Any) -> Any:
        def grad(u: Any, v: Any) -> Any:
            seen.append((u.numpy(), v.numpy()))
            return np.concatenate([u, [v]])

        return (x[:3], x[3]), grad

    x = tm.constant(X)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = split(x)[0]
    found = tape.jacobian(y, x)

    np.testing.assert_array_equal([u for u, _ in seen], np.eye(3))
    assert [float(v) for _, v in seen] == [0.0] * 3
    np.testing.assert_array_equal(found, np.eye(4)[:3])


# -- memory ---------------------------------------------------------------------------------------


def peak(call: Callable[[], Any]) -> int:
    """The bytes that a call takes beside what was there before."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def wide(results: int = 500) -> tuple[tm.GradientTape, Any, Any]:
    """Results of 10 numbers by way of a hundred times as many: 500 by way of 50 000, which in a batch are 200 MB."""
    x, columns = tm.constant(np.linspace(0.1, 1.0, 10)), RNG.normal(size=(results * 100, 10))
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = np.sum(np.reshape(np.tanh(columns @ x), (results, 100)), axis=1)
    return tape, y, x


@pytest.mark.parametrize("megabytes", [2, 8])
def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, megabytes: int) -> None:
    """A sweep takes a few times the budget, not what all rows of the largest value would take."""
    tape, y, x = wide()
    expected = tape.jacobian(y, x).numpy()
    monkeypatch.setattr(batching, "MAX_BATCH_BYTES", megabytes << 20)

    assert peak(lambda: tape.jacobian(y, x)) < 4 * (megabytes << 20)
    np.testing.assert_allclose(tape.jacobian(y, x), expected, rtol=1e-12)


def test_memory_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large Jacobian is put together in its place: it is not held twice."""
    x, matrix = tm.constant(RNG.normal(size=500)), RNG.normal(size=(1000, 500))
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = matrix @ x
    monkeypatch.setattr(batching, "MAX_BATCH_BYTES", 1 << 18)
    size = 8 * matrix.size

    assert size < peak(lambda: tape.jacobian(y, x)) < 1.25 * size
    np.testing.assert_array_equal(tape.jacobian(y, x), matrix)


def test_memory_of_diagonals() -> None:
    """An elementwise function takes little beside its Jacobian: the rows are written once, at the end."""
    x = tm.constant(np.linspace(0.0, 1.0, 1000))
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x
        for _ in range(20):
            y = np.sin(y) * x
    size = 8 * 1000 * 1000

    assert size < peak(lambda: tape.jacobian(y, x)) < 1.25 * size


def test_the_budget_is_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many rows at a time as the largest value allows, one at least."""
    tape, y, x = wide(50)
    asked = []
    sweep = batching.sweep

    def spy(*args: Any) -> Any:
        if len(args) == 6:
            asked.append(args[5])
        return sweep(*args)

    monkeypatch.setattr(batching, "sweep", spy)
    for budget in (40_000 * 20, 40_000, 1):
        asked.clear()
        monkeypatch.setattr(batching, "MAX_BATCH_BYTES", budget)
        tape.jacobian(y, x)
        rows = [lead for (lead,) in asked]
        assert sum(rows) == 50
        assert max(rows) == max(1, budget // 40_000)


def test_several_results_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest value may be one of several results of an operation."""
    asked = []

    @tm.custom_gradient
    def repeated(x: Any) -> Any:
        def grad(u: Any, v: Any) -> Any:
            asked.append(u.shape)
            return np.sum(u, axis=1) + v

        return (np.outer(x.numpy(), np.ones(5000)), x), grad

    x = tm.constant(np.arange(10.0))
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = np.sum(repeated(x)[0], axis=1)
    bytes_of_one = 10 * 5000 * 8
    monkeypatch.setattr(batching, "MAX_BATCH_BYTES", 3 * bytes_of_one)
    chunks = list(batching._chunks(tape.records, batching.basis_of(y, by_example=False)))

    assert [range(3), range(3, 6), range(6, 9), range(9, 10)] == chunks
    np.testing.assert_array_equal(tape.jacobian(y, x), 5000 * np.eye(10))
    assert asked == [(10, 5000)] * 10


# -- what is freed --------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_collector")
def test_no_cycles() -> None:
    """Tapes, Jacobians and intermediates are freed by reference counting alone."""

    def work() -> list[weakref.ref[object]]:
        x = tm.constant(X)
        with tm.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tm.GradientTape() as inner:
                inner.watch(x)
                y = custom(np.sin(x))[0]
            first = inner.jacobian(y, x)
        second = outer.jacobian(first, x)
        batches = outer.batch_jacobian(first, first)
        return [weakref.ref(thing) for thing in (x, outer, inner, y, first, second, batches)]

    assert [thing() for thing in work()] == [None] * 7


@pytest.mark.usefixtures("no_collector")
def test_no_cycles_in_transforms() -> None:
    """So are the tapes that transformations make, and what their functions saw."""
    seen: list[weakref.ref[object]] = []

    def watched(x: Any) -> Any:
        y = np.sum(np.sin(x) * x)
        seen.extend([weakref.ref(x), weakref.ref(y)])
        return y

    tm.grad(watched)(X)
    tm.hessian(watched)(X)
    tm.hvp(watched)(X, Y)
    tm.jvp(watched, (X,), (Y,))
    value, pullback = tm.vjp(watched, X)
    pullback(1.0)
    del value, pullback

    assert len(seen) == 10
    assert [thing() for thing in seen] == [None] * 10


@pytest.mark.usefixtures("no_collector")
def test_no_cycles_in_custom_gradients() -> None:
    """So are the closures of custom gradients, and what they hold, with the tape."""

    class Held:
        """Something that a closure holds."""

    def work() -> tuple[list[weakref.ref[object]], list[weakref.ref[object]]]:
        held, v = Held(), tm.Variable(2.0)

        @tm.custom_gradient
        def function(x: Any) -> Any:
            h = np.sin(x)

            def grad(u: Any, variables: Any = None) -> Any:
                return (u * h * bool(held), [np.sum(u) for _ in variables])

            return h * v, grad

        x = tm.constant(X)
        with tm.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = block(function(x)) + tm.grad_pass_through(np.round)(x)
            g = tape.gradient(y, [x, v])
            j = tape.jacobian(y, [x, v])
        living = [weakref.ref(thing) for thing in (held, function, tape)]
        return living, [weakref.ref(thing) for thing in (v, x, y, *g, *j)]

    living, others = work()

    assert [thing() for thing in [*living, *others]] == [None] * 10


@pytest.mark.usefixtures("no_collector")
def test_a_used_tape_lets_go_of_closures() -> None:
    """A tape that is used up does not hold the closure of a custom gradient, nor what was asked of it."""
    x = tm.constant(X)
    arrays = []

    @tm.custom_gradient
    def function(x: Any) -> Any:
        h = np.exp(x)
        arrays.append(weakref.ref(h._value))
        return h * 2.0, lambda u: u * h

    with tm.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    before = arrays[0]() is not None
    g = tape.gradient(y, x)

    assert [before, arrays[0]() is not None, g.shape] == [True, False, (4,)]


@pytest.mark.usefixtures("no_collector")
def test_a_persistent_tape_keeps_no_answers() -> None:
    """What a custom gradient answered is not kept by a persistent tape."""
    x = tm.constant(np.ones(1000))
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tripled_square(x)
    g = tape.gradient(y, x)
    answer = weakref.ref(g._value)
    del g

    assert answer() is None


# -- recompute_grad -------------------------------------------------------------------------------

WIDTH, DEPTH = 10_000, 20


def many_steps(x: Any) -> Any:
    """Ten operations, each of which keeps an array when it is recorded."""
    y = x
    for _ in range(5):
        y = np.sin(np.sin(y))
    return y


def deep(step: Program) -> tuple[tm.GradientTape, Any, Any]:
    """A chain of steps on a tape."""
    x = tm.constant(np.linspace(0.0, 1.0, WIDTH))
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(DEPTH):
            y = step(y)
    return tape, x, y


def kept(tape: tm.GradientTape) -> int:
    """The bytes of all arrays on a tape, each counted once."""
    values = [value for record in tape.records for value in (*record.values, record.output)]
    arrays = {id(value): value for value in values if isinstance(value, np.ndarray)}
    return sum(value.nbytes for value in arrays.values())


def test_recompute_keeps_arguments_and_results() -> None:
    """On a deep chain the tape has a record a step, and no array but those between the steps."""
    tape, x, y = deep(tm.recompute_grad(many_steps))
    plain, _, _ = deep(many_steps)

    assert [record.name for record in tape.records] == ["many_steps"] * DEPTH
    assert kept(tape) <= (DEPTH + 1) * x.nbytes
    assert kept(plain) > 9 * DEPTH * x.nbytes
    np.testing.assert_allclose(tape.gradient(y, x), slope_of_deep(), rtol=1e-12)


def slope_of_deep() -> Any:
    """The gradient without recomputation."""
    tape, x, y = deep(many_steps)
    return tape.gradient(y, x)


def test_recompute_takes_less_memory() -> None:
    """Recording takes the arrays between the steps; the sweep those of one step beside them."""
    size = 8 * WIDTH

    def held(step: Program) -> tuple[int, int]:
        tracemalloc.start()
        try:
            tape, x, y = deep(step)
            recorded = tracemalloc.get_traced_memory()[0]
            tape.gradient(y, x)
            return recorded, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    recorded, highest = held(tm.recompute_grad(many_steps))
    plain, _ = held(many_steps)

    assert recorded < (DEPTH + 3) * size
    assert highest < (DEPTH + 20) * size
    assert plain > 9 * DEPTH * size
