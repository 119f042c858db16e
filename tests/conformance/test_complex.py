"""SEMANTICS section 10, complex numbers: a gradient is dL/da + i dL/db for z = a + ib.

For a holomorphic function that is the conjugate of its derivative. JAX gives dL/da - i dL/db: the
numbers that it computed, once, with version 0.10.2 in double precision, stand here conjugated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

Function = Callable[..., Any]

Z = np.array([0.5 + 0.25j, -1.0 + 0.75j, 0.25 - 0.5j])
W = np.array([1.0 - 0.5j, 0.25 + 2.0j, -0.75 + 1.0j])
X = np.array([0.3, -0.7, 1.1])
A = np.array([[1.0 + 0.5j, -0.25j, 0.75], [0.5 - 1.0j, 0.25 + 0.25j, -0.5 + 1.5j]])
B = np.array([0.5 + 0.5j, -1.0 + 0.25j])
TINY = 1e-200
"""The step of complex differentiation, which subtracts nothing, so that it can be this small."""


def gradients(function: Function, points: Any, cotangent: Any = None) -> list[Any]:
    """The gradients of a function in all its inputs."""
    inputs = [tm.constant(point) if isinstance(point, np.ndarray) else point for point in points]
    with tm.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
    found: list[Any] = tape.gradient(y, inputs, cotangent, "zero")
    return found


def gradient(function: Function, point: Any, cotangent: Any = None) -> Any:
    """The gradient of a function of one input."""
    return gradients(function, [np.asarray(point)], cotangent)[0].numpy()


def second(
    function: Function, points: list[Any], position: int, cotangent: Any, weights: Any
) -> list[Any]:
    """The gradients of a gradient, which is weighed with `weights`."""
    inputs = [tm.constant(point) for point in points]
    with tm.GradientTape() as outer:
        outer.watch(inputs)
        found = gradients(function, inputs, cotangent)[position]
    return [dx.numpy() for dx in outer.gradient(found, inputs, weights, "zero")]


def jacobian(function: Function, point: Any) -> Any:
    """The Jacobian of a function of one input."""
    z = tm.constant(point)
    with tm.GradientTape() as tape:
        tape.watch(z)
        y = function(z)
    return tape.jacobian(y, z).numpy()


def assert_near(expected: Any, actual: Any) -> None:
    """Equal to double precision, and of the same kind."""
    expected, actual = np.asarray(expected), np.asarray(actual)

    assert (expected.shape, expected.dtype) == (actual.shape, actual.dtype)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-14)


# -- holomorphic functions: the conjugate of the derivative -----------------------------------------

HOLOMORPHIC: list[tuple[str, Function, Function]] = [
    ("z * z", lambda z: z * z, lambda z: 2 * z),
    ("z ** 3", lambda z: z**3, lambda z: 3 * z**2),
    ("z ** 2.5", lambda z: z**2.5, lambda z: 2.5 * z**1.5),
    ("z ** z", lambda z: z**z, lambda z: z**z * (np.log(z) + 1)),
    ("2 ** z", lambda z: 2.0**z, lambda z: np.log(2) * 2.0**z),
    ("1 / z", lambda z: 1 / z, lambda z: -(z**-2.0)),
    ("z / (1 + z)", lambda z: z / (1 + z), lambda z: (1 + z) ** -2.0),
    ("square", np.square, lambda z: 2 * z),
    ("reciprocal", np.reciprocal, lambda z: -(z**-2.0)),
    ("sqrt", np.sqrt, lambda z: 0.5 / np.sqrt(z)),
    ("exp", np.exp, np.exp),
    ("exp2", np.exp2, lambda z: np.log(2) * np.exp(z * np.log(2))),
    ("expm1", np.expm1, np.exp),
    ("log", np.log, lambda z: 1 / z),
    ("log2", np.log2, lambda z: 1 / (z * np.log(2))),
    ("log10", np.log10, lambda z: 1 / (z * np.log(10))),
    ("log1p", np.log1p, lambda z: 1 / (1 + z)),
    ("sin", np.sin, np.cos),
    ("cos", np.cos, lambda z: -np.sin(z)),
    ("tan", np.tan, lambda z: np.cos(z) ** -2.0),
    ("sinh", np.sinh, np.cosh),
    ("cosh", np.cosh, np.sinh),
    ("tanh", np.tanh, lambda z: np.cosh(z) ** -2.0),
    ("arcsin", np.arcsin, lambda z: (1 - z * z) ** -0.5),
    ("arccos", np.arccos, lambda z: -((1 - z * z) ** -0.5)),
    ("arctan", np.arctan, lambda z: 1 / (1 + z * z)),
    ("arcsinh", np.arcsinh, lambda z: (1 + z * z) ** -0.5),
    ("arccosh", np.arccosh, lambda z: (z - 1) ** -0.5 * (z + 1) ** -0.5),
    ("arctanh", np.arctanh, lambda z: 1 / (1 - z * z)),
    ("sinc", np.sinc, lambda z: (np.cos(np.pi * z) - np.sinc(z)) / z),
    ("negative", np.negative, lambda z: -np.ones_like(z)),
    ("3j z - z", lambda z: 3j * z - z, lambda z: (3j - 1) * np.ones_like(z)),
]

holomorphic = pytest.mark.parametrize(
    ("function", "derivative"),
    [row[1:] for row in HOLOMORPHIC],
    ids=[row[0] for row in HOLOMORPHIC],
)


@holomorphic
def test_holomorphic(function: Function, derivative: Function) -> None:
    """A holomorphic function: the conjugate of its derivative, times the cotangent."""
    assert_near(np.conj(derivative(Z)), gradient(function, Z))
    assert_near(np.conj(derivative(Z)) * W, gradient(function, Z, W))


@holomorphic
def test_holomorphic_jacobian(function: Function, derivative: Function) -> None:
    """A holomorphic function of each element: conjugated derivatives on the diagonal."""
    assert_near(np.diag(np.conj(derivative(Z))), jacobian(function, Z))


@holomorphic
def test_holomorphic_second_order(function: Function, derivative: Function) -> None:
    """The gradient of conj(f'), weighed with w, is conj(f'' w)."""
    slope = gradient(derivative, Z)
    [found] = second(function, [Z], 0, np.ones(3, complex), W)

    assert_near(slope * np.conj(W), found)


def test_products() -> None:
    """A product's gradient in one factor is the cotangent times the other factor, conjugated."""
    g = A[0]

    assert_near(
        [g * np.conj(W), g * np.conj(Z)],
        [dx.numpy() for dx in gradients(lambda z, w: z * w, [Z, W], g)],
    )
    assert_near(g / np.conj(W), gradients(np.divide, [Z, W], g)[0].numpy())


@pytest.mark.parametrize(
    "product",
    [np.matmul, np.dot, lambda a, z: np.tensordot(a, z, 1), lambda a, z: np.einsum("ij,j", a, z)],
    ids=["matmul", "dot", "tensordot", "einsum"],
)
def test_matrix_products(product: Function) -> None:
    """A matrix product's gradients have the other factor conjugated and transposed."""
    in_a, in_z = gradients(product, [A, Z], B)

    assert_near(np.outer(B, np.conj(Z)), in_a.numpy())
    assert_near(np.conj(A.T) @ B, in_z.numpy())
    assert_near(np.conj(A), jacobian(lambda z: product(A, z), Z))


def test_linear_algebra() -> None:
    """Inverse, solution and determinant of a complex matrix."""
    matrix = A[:, :2] + 2.0 * np.eye(2)
    inverse = np.linalg.inv(matrix)
    adjoint = np.conj(inverse.T)
    solution = np.linalg.solve(matrix, B)
    g = W[:2]

    assert_near(-adjoint @ A[:, :2] @ adjoint, gradient(np.linalg.inv, matrix, A[:, :2]))
    assert_near(np.conj(np.linalg.det(matrix)) * adjoint, gradient(np.linalg.det, matrix))
    in_matrix, in_b = gradients(np.linalg.solve, [matrix, B], g)
    assert_near(adjoint @ g, in_b.numpy())
    assert_near(-np.outer(adjoint @ g, np.conj(solution)), in_matrix.numpy())


def test_fourier_transform() -> None:
    """The transform is a matrix: its gradient is that matrix, conjugated and transposed."""
    matrix = np.fft.fft(np.eye(3))

    assert_near(np.conj(matrix.T) @ W, gradient(np.fft.fft, Z, W))
    assert_near(np.conj(matrix), jacobian(np.fft.fft, Z))
    assert_near(np.real(np.conj(matrix.T) @ W), gradient(np.fft.fft, X, W))


# -- functions that are not holomorphic -------------------------------------------------------------

CURVED: list[tuple[str, Function, Function]] = [
    ("|z| ** 2", lambda z: np.abs(z) ** 2, lambda z: 2 * z),
    ("z conj(z)", lambda z: z * np.conj(z), lambda z: 2 * z),
    ("vdot", lambda z: np.vdot(z, z), lambda z: 2 * z),
    ("real", np.real, np.ones_like),
    ("imag", np.imag, lambda z: 1j * np.ones_like(z)),
    ("conj", np.conj, np.ones_like),
    ("1j conj", lambda z: 1j * np.conj(z), lambda z: 1j * np.ones_like(z)),
    ("abs", np.abs, lambda z: z / np.abs(z)),
    ("angle", np.angle, lambda z: 1j * z / np.abs(z) ** 2),
    ("degrees", lambda z: np.angle(z, deg=True), lambda z: 180j / np.pi * z / np.abs(z) ** 2),
    ("sign", np.sign, lambda z: 1j * z * z.imag / -(np.abs(z) ** 3)),
    ("log |z|", lambda z: np.log(np.abs(z)), lambda z: z / np.abs(z) ** 2),
    ("real * imag", lambda z: z.real * z.imag, lambda z: z.imag + 1j * z.real),
    ("arctan2", lambda z: np.arctan2(z.imag, z.real), lambda z: 1j * z / np.abs(z) ** 2),
    ("real of a square", lambda z: np.real(z * z), lambda z: 2 * np.conj(z)),
    ("imag of a square", lambda z: np.imag(z * z), lambda z: 2j * np.conj(z)),
    ("mean", np.mean, lambda z: np.ones_like(z) / 3),
    ("variance", np.var, lambda z: 2 / 3 * (z - np.mean(z))),
    ("cast", lambda z: z.astype("complex64").real * 1.0, np.ones_like),
]  # fmt: skip

curved = pytest.mark.parametrize(
    ("function", "expected"), [row[1:] for row in CURVED], ids=[row[0] for row in CURVED]
)


@curved
def test_not_holomorphic(function: Function, expected: Function) -> None:
    """dL/da + i dL/db, where L is the sum of the real parts."""
    assert_near(expected(Z), gradient(function, Z))


@curved
def test_not_holomorphic_rows(function: Function, expected: Function) -> None:
    """The rows of a Jacobian are the gradients of the elements' real parts."""
    assert_near(expected(Z), np.sum(np.atleast_2d(jacobian(function, Z)), axis=0))


def test_conjugate_second_order() -> None:
    """|z|² is 2 everywhere in second order; real and imaginary parts have none."""
    [found] = second(lambda z: np.abs(z) ** 2, [Z], 0, np.ones(3), W)

    assert_near(2 * W, found)
    assert_near(np.zeros(3, complex), second(np.real, [Z], 0, np.ones(3), W)[0])


def test_zero() -> None:
    """At 0, where |z|, its angle and its sign have no derivative, all give 0."""
    for function in (np.abs, np.angle, np.sign):
        assert_near(np.zeros(1, complex), gradient(function, np.zeros(1, complex)))


# -- from real numbers to complex ones, and back ----------------------------------------------------

REAL_ANALYTIC: list[tuple[str, Function]] = [
    ("exp sin", lambda x: np.exp(np.sin(x)) / (1.5 + np.cos(x))),
    ("logistic", lambda x: 1 / (1 + np.exp(-3 * x))),
    ("powers", lambda x: (x + 2.0) ** 1.5 * np.sqrt(2.0 + x * x) ** 3),
    ("logarithms", lambda x: np.log1p(x * x) + np.log(3.0 + x) * np.log2(x + 2.0)),
    ("inverse functions", lambda x: np.arctan(x) * np.arcsinh(x) + np.tanh(x)),
    ("products", lambda x: np.cumprod(x) * np.prod(x) + np.cumsum(x * x)),
    ("convolution", lambda x: np.convolve(np.sinh(x), x)),
    ("matrices", lambda x: np.tan(np.outer(x, x) @ x) @ np.tril(np.ones((3, 3)))),
    ("einsum", lambda x: np.einsum("i,j,k->ki", x, np.cosh(x), 1 / (x + 2))),
    ("pieces", lambda x: np.concatenate([x[::-1] * x, np.roll(x, 1)[[0, 0, 2]]]) ** 3),
    ("sinc", lambda x: np.sinc(x) * np.expm1(x)),
]

analytic = pytest.mark.parametrize(
    "function", [row[1] for row in REAL_ANALYTIC], ids=[row[0] for row in REAL_ANALYTIC]
)


@analytic
def test_complex_step(function: Function) -> None:
    """The derivative of what is analytic and real is Im f(x + ih) / h."""
    columns = [function(X + 1j * TINY * unit).imag / TINY for unit in np.eye(3)]

    assert_near(np.stack(columns, axis=-1), jacobian(function, X))
    assert_near([np.sum(column) for column in columns], gradient(function, X))


@analytic
def test_complex_step_second_order(function: Function) -> None:
    """The gradient at x + ih is a conjugate, so minus its imaginary part over h is the Hessian."""
    columns = [-gradient(function, X + 1j * TINY * unit).imag / TINY for unit in np.eye(3)]
    rows = [second(function, [X], 0, None, unit)[0] for unit in np.eye(3)]

    assert_near(np.stack(columns, axis=-1), np.stack(rows))


def test_real_sources_have_real_gradients() -> None:
    """A real source of complex numbers has the real part of what arrives, in its dtype and shape."""
    assert_near(np.real(W), gradient(lambda x: x * np.conj(W), X))
    assert_near(np.imag(W), gradient(lambda x: 1j * x, X, W))
    assert_near(np.sum(X * W.real), gradient(lambda s: s * X * np.conj(W), 2.0))
    assert np.dtype("float32") == gradient(lambda x: x * 1j, np.float32(1.0)).dtype


def test_complex_from_parts() -> None:
    """A complex number made of two real sources: dL/da and dL/db, each by itself."""
    in_a, in_b = gradients(lambda a, b: np.abs((a + 1j * b) ** 2), [Z.real, Z.imag])

    assert_near(2 * Z.real, in_a.numpy())
    assert_near(2 * Z.imag, in_b.numpy())


def test_real_cotangent_of_a_complex_target() -> None:
    """A target's cotangent takes the target's dtype; real ones weigh real parts."""
    assert_near(2 * np.conj(Z) * X, gradient(np.square, Z, X.astype(complex)))


def test_single_precision() -> None:
    """complex64 stays complex64, and float32 sources of it stay float32."""
    z, x = Z.astype(np.complex64), X.astype(np.float32)
    in_z, in_x = gradients(lambda z, x: np.abs(np.exp(z * x)), [z, x])

    assert (np.dtype("complex64"), np.dtype("float32")) == (in_z.dtype, in_x.dtype)


# -- programs that JAX computed ---------------------------------------------------------------------


def waves(z: Any) -> Any:
    """|sin(z) conj(z)|² + Im z², added up."""
    return np.sum(np.abs(np.sin(z) * np.conj(z)) ** 2) + np.sum(np.imag(z * z))


def phases(x: Any) -> Any:
    """The squared amplitude of waves with real phases."""
    return np.abs(np.sum(np.exp(1j * x) * W)) ** 2


def misfit(a: Any, z: Any, b: Any) -> Any:
    """The squared length of a z - b."""
    r = a @ z - b
    return np.sum(np.real(r * np.conj(r)))


def mixed(z: Any) -> Any:
    """A holomorphic part, and one that is not."""
    return np.exp(z) @ A.T + np.conj(z[:2]) * z[1:]


def polar(z: Any) -> Any:
    """Of angles, lengths and parts."""
    return np.sum(np.angle(z) * np.abs(z)) + np.sum(np.real(z) ** 2 * np.imag(z))


def spectrum(x: Any) -> Any:
    """Logarithms of a spectrum, weighed."""
    return np.sum(np.log(np.abs(np.fft.fft(x))) * np.arange(1.0, 4.0))


def solved(a: Any, z: Any) -> Any:
    """The lengths of the components of (A A* + 1)⁻¹ A z."""
    return np.sum(np.abs(np.linalg.solve(a @ np.conj(a.T) + np.eye(2), a @ z)))


def crossed(z: Any) -> Any:
    """Each element times another one, conjugated."""
    return z * np.conj(z[::-1]) + np.abs(z)


# fmt: off
FIRST: list[tuple[Function, list[Any], Any, list[Any]]] = [
    (waves, [Z], None, [
        [1.0566215124215883+1.3096731978013565j, -2.6893336812055186+3.4034164874284456j,
         -0.6838050009549688-0.1999994094761232j]]),
    (phases, [X], None, [
        [2.635984436586588, -0.8235009466437858, -1.8124834899428022]]),
    (misfit, [A, Z, B], None, [
        [[0.1875-0.25j, -0.6875-0.125j, 0.25+0.1875j],
         [1.65625-0.90625j, -3.46875-2.40625j, 0.90625+1.65625j]],
        [2.1875+2.8125j, 0.875-0.75j, -1.5-5.1875j],
        [-0.5+0.25j, -3.375+0.125j]]),
    (mixed, [Z], B, [
        [-0.3799376062989749-0.12341657444994536j, -0.2244087661335048+1.0086260922462222j,
         1.1437573836767152+1.7414602719623256j]]),
    (polar, [Z], None, [
        [0.21748543303246037+1.3517767052661251j, -4.098473235837207+1.6988549268779052j,
         0.14929523216205254+1.499977513175685j]]),
    (spectrum, [X], None, [
        [1.6334894613583133, -1.4402810304449645, 4.092505854800936]]),
    (spectrum, [Z], None, [
        [-0.7085009058962715-0.935956439601296j, -3.832682394661264+4.070591650278768j,
         2.141183300557536+1.6653647893225278j]]),
    (solved, [A, Z], None, [
        [[-0.11345657178819268+0.003734987236463946j, -0.2660048506064588-0.3966842920769326j,
          -0.08194219980206555+0.008050586028072515j],
         [-0.05725848075805977+0.010536368156423528j, -0.17986868892182042-0.23607235916766234j,
          -0.05010751089575492+0.018240104204647764j]],
        [0.45817544124762866+0.24603367352523892j, 0.03778076262937488+0.05221655824104402j,
         0.27463955352635977-0.26096249200326804j]]),
]

SECOND: list[tuple[Function, list[Any], int, Any, Any, list[Any]]] = [
    (waves, [Z], 0, None, W, [
        [1.1370391711727739+2.0352382013547072j, -5.9686882771354925+32.10972346681295j,
         -0.337085669959021+3.2805954585415775j]]),
    (phases, [X], 0, None, np.array([1.0, -2.0, 0.5]), [
        [-6.978163736397891, -2.2827910734462606, 9.26095480984415]]),
    (misfit, [A, Z, B], 1, None, W, [
        [[2.15625+0.09375j, -1.71875-4.21875j, -0.71875+1.21875j],
         [0.71875+0.03125j, 0.25+0.1875j, -1.125-6j]],
        [6.125-5.25j, -2.28125+0.21875j, -3.59375+8.03125j],
        [-2.375-1.375j, 3.125+4.625j]]),
    (mixed, [Z], 0, B, W, [
        [1.3692706809259978-0.25088537759943286j, 2.1486499929590686-0.5646509446714348j,
         1.7430172342047894-4.32485258764846j]]),
    (polar, [Z], 0, None, W, [
        [0.3317592228259345+0.33648155434813043j, -1.5266031023709326+2.29786253017209j,
         1.6461055670702913-0.17694721646485484j]]),
]

ROWS: list[tuple[Function, list[Any]]] = [
    (crossed, [
        [1.1444271909999157-0.05278640450004207j, 0j, 0.5+0.25j],
        [0j, -2.8+2.1j, 0j],
        [0.25-0.5j, 0j, 0.9472135954999579-0.6444271909999159j]]),
    (mixed, [
        [0.39351643408073267-0.4566334296383161j, 0.5626902215295447+0.3172933230481665j,
         0.845128736031886+0.46169593273275494j],
        [1.206633429638316+1.3935164340807327j, 0.25460310151862175-0.6299835445777112j,
         -0.6400272918890808-1.2480547605522754j]]),
]
# fmt: on


def named(rows: Any) -> dict[str, Any]:
    """The rows of a table, under the names of their functions."""
    return {"argvalues": rows, "ids": [row[0].__name__ for row in rows]}


@pytest.mark.parametrize(("function", "points", "cotangent", "expected"), **named(FIRST))
def test_against_jax(
    function: Function, points: list[Any], cotangent: Any, expected: list[Any]
) -> None:
    """First derivatives are JAX's, conjugated."""
    for dx, numbers in zip(gradients(function, points, cotangent), expected, strict=True):
        assert_near(numbers, dx.numpy())


@pytest.mark.parametrize(
    ("function", "points", "position", "cotangent", "weights", "expected"), **named(SECOND)
)
def test_second_order_against_jax(
    function: Function,
    points: list[Any],
    position: int,
    cotangent: Any,
    weights: Any,
    expected: list[Any],
) -> None:
    """Second derivatives are JAX's, conjugated: of a gradient that is conjugated before it is weighed."""
    for dx, numbers in zip(
        second(function, points, position, cotangent, weights), expected, strict=True
    ):
        assert_near(numbers, dx)


@pytest.mark.parametrize(("function", "expected"), **named(ROWS))
def test_rows_against_jax(function: Function, expected: list[Any]) -> None:
    """The Jacobian of what is not holomorphic has the gradients of real parts for its rows.

    TensorFlow gives the same numbers.
    """
    assert_near(expected, jacobian(function, Z))
