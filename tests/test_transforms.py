"""grad, value_and_grad, jacobian, hessian, hvp, jvp and vjp: their numbers, structures, and errors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.nest import leaves
from tapemagic.errors import FunctionError, NotATensorError, OptionError, ShapeError
from tests.conformance.programs import raised_by

X = np.array([0.5, -1.0, 2.0])
V = np.array([1.0, 0.25, -0.5])
A = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])


class Layer(NamedTuple):
    """A weight and a bias."""

    w: Any
    b: Any


def energy(x: Any) -> Any:
    """Smooth, and neither a sum of functions of one number nor quadratic."""
    return np.sum(np.sin(x) * x[::-1] ** 2) + np.prod(x) * np.exp(x[0])


def curve(x: Any) -> Any:
    """Two numbers from three."""
    return np.tanh(A @ x) * x[0]


def close(actual: Any, expected: Any) -> None:
    """Equal but for rounding."""
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-10, atol=1e-12)


# -- against calculus, and against each other -----------------------------------------------------


def test_grad() -> None:
    """The gradient of a function of an array is an array."""
    close(tm.grad(energy)(X), tm.jacobian(energy)(X))
    close(tm.grad(lambda x: np.sum(x**3))(X), 3 * X**2)


def test_grad_of_grad() -> None:
    """Gradients of gradients, of any order."""
    derivative = np.sin
    for expected in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin):
        derivative = tm.grad(derivative)
        close(derivative(0.7), expected(0.7))


def test_value_and_grad() -> None:
    """The value comes with the gradient, both once."""
    calls = []

    def counted(x: Any) -> Any:
        calls.append(1)
        return energy(x)

    value, gradient = tm.value_and_grad(counted)(X)

    close(value, energy(X))
    close(gradient, tm.grad(energy)(X))
    assert len(calls) == 1


def test_value_of_value_and_grad_can_be_differentiated() -> None:
    """Both parts of value_and_grad are on the tapes around it."""

    def product(x: Any) -> Any:
        value, slope = tm.value_and_grad(lambda x: x**3)(x)
        return value * slope

    close(tm.grad(product)(2.0), 15 * 2.0**4)


def test_jacobian() -> None:
    """Its rows are gradients."""
    rows = [tm.grad(lambda x, k=k: curve(x)[k])(X) for k in range(2)]

    close(tm.jacobian(curve)(X), np.stack(rows))


def test_jacobian_of_jacobian() -> None:
    """The Jacobian of a Jacobian is the Hessian of each result, and a third one is symmetric as well."""
    second = tm.jacobian(tm.jacobian(curve))(X)
    third = tm.jacobian(tm.jacobian(tm.jacobian(curve)))(X)

    close(second, np.stack([tm.hessian(lambda x, k=k: curve(x)[k])(X) for k in range(2)]))
    close(second, np.swapaxes(second, 1, 2))
    close(third, np.moveaxis(third, 1, 3))
    close(third @ V @ V @ V, third_derivative(V))


def third_derivative(v: Any) -> Any:
    """The third derivative of `curve` along a line, by functions of one number."""

    def along(k: int) -> Any:
        return tm.grad(tm.grad(tm.grad(lambda t: curve(X + t * v)[k])))(0.0)

    return np.stack([along(k) for k in range(2)])


def test_hessian() -> None:
    """The Hessian is symmetric, and the gradient's Jacobian."""
    found = tm.hessian(energy)(X)

    close(found, found.T)
    close(found, tm.jacobian(tm.grad(energy))(X))


def test_hessian_of_several_arguments() -> None:
    """With several argnums there is a block for each pair, its transpose opposite."""

    def function(x: Any, c: float, y: Any) -> Any:
        return c * np.sum(np.outer(x**2, np.sin(y))) + np.sum(y) ** 3

    y = np.array([0.3, 0.6])
    (xx, xy), (yx, yy) = tm.hessian(function, argnums=(0, 2))(X, 2.0, y)

    close(xx, np.diag(4.0 * np.sum(np.sin(y)) * np.ones(3)))
    close(xy, 4.0 * np.outer(X, np.cos(y)))
    close(yx, xy.T)
    close(yy, np.diag(-2.0 * np.sum(X**2) * np.sin(y)) + 6 * np.sum(y))


def test_hessian_of_weights() -> None:
    """Of a dict of weights, a dict of dicts: the blocks are those of the weights in one row."""
    shapes = {"w": (2, 3), "b": (2,), "s": ()}
    weights = {
        name: np.random.default_rng(k).normal(size=s) for k, (name, s) in enumerate(shapes.items())
    }

    def loss(p: Any) -> Any:
        return np.sum(np.tanh(p["w"] @ X + p["b"]) ** 2) * p["s"]

    def flat(row: Any) -> Any:
        return loss({"w": row[:6].reshape(2, 3), "b": row[6:8], "s": row[8]})

    row = np.concatenate([np.ravel(x) for x in weights.values()])
    blocks = tm.hessian(loss)(weights)
    whole = tm.hessian(flat)(row)

    assert list(blocks) == list(blocks["w"]) == list(shapes)
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    joined = [
        [np.reshape(blocks[a][b], (m, n)) for b, n in zip(shapes, sizes, strict=True)]
        for a, m in zip(shapes, sizes, strict=True)
    ]
    assert blocks["w"]["b"].shape == (2, 3, 2)
    close(np.block(joined), whole)


def test_hvp() -> None:
    """It is the Hessian times the vector."""
    close(tm.hvp(energy)(X, V), tm.hessian(energy)(X) @ V)


def test_hvp_of_several_arguments() -> None:
    """With several argnums, of a tuple of vectors; with a negative one, of that argument."""

    def function(x: Any, y: Any) -> Any:
        return np.sum(np.outer(x**2, np.sin(y)))

    y, u = np.array([0.3, 0.6]), np.array([2.0, -1.0])
    (xx, xy), (yx, yy) = tm.hessian(function, (0, 1))(X, y)
    first, second = tm.hvp(function, (0, 1))(X, y, (V, u))

    close(first, xx @ V + xy @ u)
    close(second, yx @ V + yy @ u)
    close(tm.hvp(function, -1)(X, y, u), yy @ u)


def test_hvp_of_weights() -> None:
    """Of a dict of weights, the vector is a dict as well."""

    def loss(p: Any) -> Any:
        return np.sum(p["w"] ** 3) * p["s"]

    found = tm.hvp(loss)({"w": X, "s": 2.0}, {"s": 10.0, "w": V})

    close(found["w"], 12 * X * V + 30 * X**2)
    close(found["s"], np.sum(3 * X**2 * V))


def test_jvp() -> None:
    """It is the Jacobian times the tangent, beside the value."""
    value, tangent = tm.jvp(curve, (X,), (V,))

    close(value, curve(X))
    close(tangent, tm.jacobian(curve)(X) @ V)


def test_jvp_of_several_arguments() -> None:
    """The tangents of all arguments add up."""
    x, y, u, w = 2.0, X, 3.0, V
    _, tangent = tm.jvp(lambda x, y: np.sin(x * y), [x, y], [u, w])

    close(tangent, np.cos(x * y) * (u * y + x * w))


def test_vjp() -> None:
    """It is the cotangent times the Jacobian; it may be called again."""
    cotangent = np.array([2.0, -1.0])
    value, pullback = tm.vjp(curve, X)

    close(value, curve(X))
    close(pullback(cotangent)[0], cotangent @ tm.jacobian(curve)(X))
    close(pullback([1.0, 0.0])[0], tm.jacobian(curve)(X)[0])


def test_jvp_and_vjp_are_transposes() -> None:
    """u · (J v) = (u J) · v, for structures as well."""

    def function(p: Any, x: Any) -> Any:
        return {"a": np.outer(p["w"], x), "b": (np.sum(p["w"] ** 2), x * p["s"])}

    primals = ({"w": X, "s": 2.0}, np.array([1.0, -1.0]))
    tangents = ({"w": V, "s": 0.5}, np.array([3.0, 1.0]))
    cotangents = {"a": np.arange(6.0).reshape(3, 2), "b": (2.0, np.array([1.0, -2.0]))}

    _, pushed = tm.jvp(function, primals, tangents)
    _, pullback = tm.vjp(function, *primals)
    pulled = pullback(cotangents)

    close(dot(cotangents, pushed), dot(pulled, tangents))


def dot(a: Any, b: Any) -> Any:
    """The sum of all products, through structures of the same keys."""
    if isinstance(a, dict):
        return sum(dot(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return sum(dot(x, y) for x, y in zip(a, b, strict=True))
    return np.sum(np.asarray(a) * np.asarray(b))


def test_everything_can_be_differentiated_again() -> None:
    """Gradients of hvp, jvp and vjp, a jvp of a jvp and of a gradient."""
    third = tm.jacobian(tm.hessian(energy))(X)

    close(tm.jacobian(lambda x: tm.hvp(energy)(x, V))(X), third @ V)
    close(tm.grad(lambda x: tm.jvp(energy, (x,), (V,))[1])(X), tm.hvp(energy)(X, V))
    close(tm.jvp(tm.grad(energy), (X,), (V,))[1], tm.hvp(energy)(X, V))
    close(
        tm.jvp(lambda x: tm.jvp(energy, (x,), (V,))[1], (X,), (V,))[1],
        V @ tm.hvp(energy)(X, V),
    )
    close(tm.jacobian(lambda x: tm.vjp(energy, x)[1](1.0)[0])(X), tm.hessian(energy)(X))
    close(tm.hvp(lambda x: tm.grad(energy)(x) @ V)(X, V), third @ V @ V)


def test_derivative_in_the_cotangent() -> None:
    """What vjp, jvp and hvp give is linear in what they are given."""
    matrix = tm.jacobian(curve)(X)

    close(tm.jacobian(lambda c: tm.vjp(curve, X)[1](c)[0])(np.ones(2)), matrix.T)
    close(tm.jacobian(lambda v: tm.jvp(curve, (X,), (v,))[1])(V), matrix)
    close(tm.jacobian(lambda v: tm.hvp(energy)(X, v))(V), tm.hessian(energy)(X))


# -- with tapes, variables, and functions of the user's own ---------------------------------------


def test_grad_inside_a_tape() -> None:
    """A tape around grad differentiates it."""
    x = tm.constant(X)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        g = tm.grad(energy)(x)
        h = tm.hvp(energy)(x, V)

    close(tape.jacobian(g, x), tm.hessian(energy)(X))
    close(tape.gradient(h, x), tm.hessian(lambda x: np.sum(tm.grad(energy)(x)))(X) @ V)


def test_tape_inside_grad() -> None:
    """A tape inside the function that grad differentiates."""

    def slope(x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = energy(x)
        return np.sum(tape.gradient(y, x) * V)

    close(tm.grad(slope)(X), tm.hvp(energy)(X, V))


def test_variables_as_arguments() -> None:
    """A variable is an argument like any other, and stays on the tapes around."""
    v = tm.Variable(X)
    with tm.GradientTape() as tape:
        g = tm.grad(energy)(v)

    close(g, tm.grad(energy)(X))
    close(tape.jacobian(g, v), tm.hessian(energy)(X))
    close(tm.hessian(energy)(v), tm.hessian(energy)(X))


def test_variables_inside() -> None:
    """A variable that the function reads is a constant to grad, and none to a tape around it."""
    v = tm.Variable(3.0)
    with tm.GradientTape() as tape:
        g = tm.grad(lambda x: x * x * v * v)(2.0)

    close(g, 36.0)
    close(tape.gradient(g, v), 24.0)


def test_same_object_twice() -> None:
    """The same tensor, array or variable given twice is two arguments."""
    for x in (tm.constant(X), X, tm.Variable(X)):
        left, right = tm.grad(lambda a, b: np.sum(a * b * b), (0, 1))(x, x)
        (weights,) = tm.vjp(lambda p: p[0] * p[1] ** 2, [x, x])[1](np.ones(3))

        close(left, X**2)
        close(right, 2 * X**2)
        close(weights[0], X**2)
        close(weights[1], 2 * X**2)


def test_same_position_twice() -> None:
    """A position named twice gives its gradient twice."""
    first, second = tm.grad(energy, (0, -1))(X)

    close(first, tm.grad(energy)(X))
    close(second, first)


def test_custom_gradients_inside() -> None:
    """The derivative that a user's own function says is the one that counts."""
    tripled = tm.custom_gradient(lambda x: (x * x, lambda u: 3.0 * u * x))

    close(tm.grad(lambda x: np.sum(tripled(x)))(X), 3 * X)
    close(tm.hessian(lambda x: np.sum(tripled(x)))(X), 3 * np.eye(3))
    close(tm.jvp(tripled, (X,), (V,))[1], 3 * X * V)
    close(tm.hessian(tm.recompute_grad(energy))(X), tm.hessian(energy)(X))


def test_arguments_are_not_changed() -> None:
    """Structures that are given are read only, and what the function does to its own stays there."""
    weights = {"w": X, "layers": [(V, 1.0)]}

    def loss(p: Any) -> Any:
        p["more"] = p.pop("w") * 2.0
        return np.sum(p["more"] * p["layers"].pop()[0])

    found = tm.value_and_grad(loss)(weights)[0]

    close(found, 2 * X @ V)
    assert list(weights) == ["w", "layers"]
    assert weights["w"] is X
    assert len(weights["layers"]) == 1


# -- arguments ------------------------------------------------------------------------------------


def test_argnums() -> None:
    """A position gives a gradient, a tuple a tuple; negative ones count from the end."""

    def function(x: Any, y: Any, z: Any) -> Any:
        return x * y**2 * z**3

    point = (2.0, 3.0, 5.0)
    slopes = [9 * 125.0, 12 * 125.0, 18 * 75.0]

    for k in range(-3, 3):
        close(tm.grad(function, k)(*point), slopes[k])
    found = tm.grad(function, argnums=(2, 0, -2))(*point)
    assert type(found) is tuple
    close(found, [slopes[2], slopes[0], slopes[1]])
    assert len(tm.grad(function, (1,))(*point)) == 1


def test_keywords() -> None:
    """Keyword arguments are passed on; they are no arguments to differentiate."""

    def function(x: Any, power: int = 1, factor: Any = 1.0) -> Any:
        return np.sum(x**power) * factor

    close(tm.grad(function)(X, power=3, factor=2.0), 6 * X**2)
    close(tm.hessian(function)(X, power=2), 2 * np.eye(3))
    close(tm.hvp(function)(X, V, power=2), 2 * V)
    close(tm.value_and_grad(function)(X, power=2)[0], np.sum(X**2))


def test_other_arguments() -> None:
    """What is not differentiated is passed on as it is."""
    seen = []

    def function(x: Any, *others: Any) -> Any:
        seen.extend(others)
        return x * x

    others = ("name", None, [1, 2], X, np.sin)
    tm.grad(function)(2.0, *others)

    assert all(a is b for a, b in zip(others, seen, strict=True))


STRUCTURES = {
    "number": (3.0, 6.0),
    "whole array": (X, 2 * X),
    "list of numbers": ([1.0, 2.0], np.array([2.0, 4.0])),
    "list of lists of numbers": ([[1, 2.0], (3.0, 4)], np.array([[2.0, 4.0], [6.0, 8.0]])),
    "list of NumPy's numbers": ([np.float64(1.0), 2.0], np.array([2.0, 4.0])),
    "list of arrays": ([X, V], [2 * X, 2 * V]),
    "tuple": ((1.0, X), (2.0, 2 * X)),
    "tuple of lists": (([1.0, 2.0], 3.0), (np.array([2.0, 4.0]), 6.0)),
    "dict": ({"b": X, "a": 1.0}, {"b": 2 * X, "a": 2.0}),
    "OrderedDict": (OrderedDict(b=X, a=1.0), OrderedDict(b=2 * X, a=2.0)),
    "mapping": (MappingProxyType({"b": X}), MappingProxyType({"b": 2 * X})),
    "named tuple": (Layer(X, 1.0), Layer(2 * X, 2.0)),
    "layers": (
        [Layer(X, 1.0), {"w": V, "b": [1.0, 2.0]}],
        [Layer(2 * X, 2.0), {"w": 2 * V, "b": np.array([2.0, 4.0])}],
    ),
    "list of dicts of numbers": ([{"w": 1.0}, {"w": 2.0}], [{"w": 2.0}, {"w": 4.0}]),
    "list with a tensor": ([tm.constant(3.0), 2.0], [6.0, 4.0]),
    "empty list": ([], np.zeros(0)),
    "empty tuple": ((), ()),
}


@pytest.mark.parametrize(("argument", "expected"), STRUCTURES.values(), ids=STRUCTURES.keys())
def test_structures_of_arguments(argument: Any, expected: Any) -> None:
    """The gradient has the structure of the argument; a list of numbers is an array."""

    def squares(x: Any) -> Any:
        if isinstance(x, tm.Tensor):
            return np.sum(x * x)
        parts = x.values() if hasattr(x, "values") else x
        return sum(map(squares, parts), tm.constant(0.0))

    given_tensors = any(isinstance(x, tm.Tensor) for x in leaves(argument))
    same_structure(tm.grad(squares)(argument), expected, tm.Tensor if given_tensors else PLAIN)


PLAIN = (np.ndarray, np.generic)


def same_structure(actual: Any, expected: Any, kind: Any) -> None:
    """Equal in types, keys and their order, and numbers."""
    if isinstance(expected, (np.ndarray, float)):
        assert isinstance(actual, kind)
        assert actual.shape == np.shape(expected)
        return close(actual, expected)
    assert type(actual) is type(expected)
    if isinstance(expected, Mapping):
        assert list(actual) == list(expected)
        actual, expected = list(actual.values()), list(expected.values())
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        same_structure(a, b, kind)
    return None


def test_structures_of_results() -> None:
    """A Jacobian has the structure of the result, and inside of that, of the argument."""

    def function(p: Any, x: Any) -> Any:
        return {"y": p["w"] * x, "parts": (np.sum(p["w"]), [x])}

    found = tm.jacobian(function, (0, 1))({"w": X, "unused": 1.0}, 2.0)

    weights, x = found["y"]
    close(weights["w"], 2 * np.eye(3))
    close(weights["unused"], np.zeros(3))
    close(x, X)
    total, [same] = found["parts"]
    close(total[0]["w"], np.ones(3))
    close(total[1], 0.0)
    close(same[0]["w"], np.zeros(3))
    close(same[1], 1.0)
    assert isinstance(found["parts"], tuple)


def test_named_results() -> None:
    """jacobian, jvp and vjp keep the types of the result's parts."""

    def function(x: Any) -> Any:
        return Layer(x * x, [np.sum(x)])

    value, tangent = tm.jvp(function, (X,), (V,))
    result, pullback = tm.vjp(function, X)

    assert type(value) is type(tangent) is type(result) is type(tm.jacobian(function)(X)) is Layer
    close(tangent.w, 2 * X * V)
    close(tangent.b[0], np.sum(V))
    close(pullback(Layer(V, [10.0]))[0], 2 * X * V + 10.0)
    close(pullback((V, (10.0,)))[0], 2 * X * V + 10.0)


# -- values ---------------------------------------------------------------------------------------


def test_zeros_where_nothing_depends() -> None:
    """An argument on which nothing depends has zeros, in every transformation."""

    def function(x: Any, y: Any) -> Any:  # noqa: ARG001
        return np.sum(x)

    single = V.astype(np.float32)
    found = tm.grad(function, (0, 1))(X, single)[1]
    assert found.dtype == np.float32
    close(found, np.zeros(3))
    close(tm.jacobian(function, 1)(tm.constant(X), 2.0), 0.0)
    close(tm.hessian(function)(X, V), np.zeros((3, 3)))
    close(tm.hvp(function)(X, V, V), np.zeros(3))
    close(tm.jvp(function, (X, V), (np.zeros(3), V))[1], 0.0)
    close(tm.vjp(function, X, V)[1](2.0)[1], np.zeros(3))
    close(tm.grad(tm.grad(lambda x: 3.0 * x))(1.0), 0.0)


def test_single_precision() -> None:
    """Derivatives have the dtype of their argument."""
    x, v = X.astype(np.float32), V.astype(np.float32)
    found = [
        tm.grad(energy)(x),
        tm.hessian(energy)(x),
        tm.hvp(energy)(x, v),
        tm.hvp(energy)(x, V),
        tm.jvp(curve, (x,), (v,))[1].astype(np.float32),
        tm.vjp(curve, x)[1](np.ones(2))[0],
    ]

    assert {y.dtype for y in found} == {np.dtype(np.float32)}
    np.testing.assert_allclose(found[1], tm.hessian(energy)(X), rtol=1e-4)


def test_whole_number_results() -> None:
    """A result of whole numbers has no derivative: zeros."""

    def function(x: Any) -> Any:
        return x * x, np.floor(x).astype(int)

    value, (slope, steps) = tm.jvp(function, (X,), (V,))

    assert value[1].dtype == int
    close(slope, 2 * X * V)
    close(steps, np.zeros(3))
    close(tm.jacobian(function)(X)[1], np.zeros((3, 3)))


def test_complex() -> None:
    """Gradients of complex functions are the conjugates of their derivatives, as everywhere here."""
    z, u = np.array([1.0 + 2.0j, 0.5 - 1.0j]), np.array([1.0j, 2.0 - 1.0j])

    close(tm.grad(lambda z: np.sum(z**3))(z), np.conj(3 * z**2))
    close(tm.grad(lambda z: np.sum(np.abs(z) ** 2))(z), 2 * z)
    close(tm.jacobian(lambda z: z * z[0])(z), np.conj([[2 * z[0], 0], [z[1], z[0]]]))
    close(tm.jvp(lambda z: z**3, (z,), (u,))[1], 3 * z**2 * u)
    close(tm.jvp(np.conj, (z,), (u,))[1], np.conj(u))
    close(tm.jvp(np.abs, (z,), (u,))[1], np.real(np.conj(z) * u) / np.abs(z))
    close(tm.jvp(lambda x: np.exp(1j * x), (X,), (V,))[1], 1j * np.exp(1j * X) * V)
    close(tm.vjp(lambda z: z**2, z)[1](u)[0], np.conj(2 * z) * u)
    close(tm.vjp(lambda x: np.exp(1j * x), X)[1](V)[0], np.real(np.conj(1j * np.exp(1j * X)) * V))


def test_complex_second_order() -> None:
    """|z|² is a quadratic form of two real numbers: its Hessian doubles every vector."""
    z, u = np.array([1.0 + 2.0j, 0.5 - 1.0j]), np.array([1.0j, 2.0 - 1.0j])

    close(tm.hvp(lambda z: np.sum(np.abs(z) ** 2))(z, u), 2 * u)


def test_names() -> None:
    """What is returned carries the name and the docstring of the function."""
    for transform in (tm.grad, tm.value_and_grad, tm.jacobian, tm.hessian, tm.hvp):
        assert transform(energy).__name__ == "energy"
        assert transform(energy).__doc__ == energy.__doc__


# -- errors ---------------------------------------------------------------------------------------


def given(x: Any) -> Any:
    """Returns its argument."""
    return x


ERRORS = {
    "nothing returned": (
        lambda: tm.grad(lambda x: None)(1.0),  # noqa: ARG005
        FunctionError,
        ["returns None", "forget to return", "<lambda>"],
    ),
    "no tensor returned": (
        lambda: tm.grad(lambda x: float(x))(1.0),  # noqa: PLW0108
        NotATensorError,
        ["<lambda> returned 1.0 of type float", "without float() or .numpy()"],
    ),
    "no tensor in the result": (
        lambda: tm.jacobian(lambda x: (x, x.numpy()))(1.0),
        NotATensorError,
        ["returned", "of type float64", "without float() or .numpy()"],
    ),
    "vjp of no tensor": (lambda: tm.vjp(float, 1.0), NotATensorError, ["float returned 1.0"]),
    "jvp of no tensor": (lambda: tm.jvp(float, (1.0,), (1.0,)), NotATensorError, ["float returned 1.0"]),
    "hessian of no tensor": (lambda: tm.hessian(float)(1.0), NotATensorError, ["float returned"]),
    "array returned": (lambda: tm.grad(given)(X), ShapeError, ["given returned shape (3,)", "np.sum", "jacobian"]),
    "list returned": (lambda: tm.grad(lambda x: [x])(1.0), NotATensorError, ["of type list"]),
    "hvp of an array": (lambda: tm.hvp(given)(X, V), ShapeError, ["given returned shape (3,)"]),
    "whole number": (lambda: tm.grad(given)(3), NotATensorError, ["argument 0 of given holds int64", "write 3.0"]),
    "whole numbers": (
        lambda: tm.grad(given, 1)(1.0, np.array([1, 2])),
        NotATensorError,
        ["argument 1 of given holds int64", "x.astype(float)"],
    ),
    "whole number inside": (
        lambda: tm.grad(given)({"w": 1.0, "n": [1, 2]}),
        NotATensorError,
        ["argument 0 of given holds int64"],
    ),
    "truth value": (lambda: tm.grad(given)(True), NotATensorError, ["holds bool", "write 1.0"]),
    "string": (
        lambda: tm.grad(given)("x"),
        NotATensorError,
        ["argument 0 of given must be a number or an array, not 'x' of type str"],
    ),
    "None": (
        lambda: tm.grad(given)(None),
        NotATensorError,
        ["argument 0 of given must be a number or an array, not None"],
    ),
    "ragged list": (
        lambda: tm.grad(given)([[1.0], [2.0, 3.0]]),
        NotATensorError,
        ["argument 0 of given must be a number or an array, not [[1.0], [2.0, 3.0]]"],
    ),
    "argnums too large": (
        lambda: tm.grad(given, 1)(1.0),
        OptionError,
        ["argnums has the position 1, but given received 1 arguments by position"],
    ),
    "argnums too small": (lambda: tm.jacobian(given, -2)(1.0), OptionError, ["position -2"]),
    "argument by keyword": (lambda: tm.grad(given)(x=1.0), OptionError, ["received 0 arguments"]),
    "one of argnums": (lambda: tm.grad(given, (0, 7))(1.0), OptionError, ["position 7"]),
    "no argnums": (lambda: tm.grad(given, ())(1.0), OptionError, ["argnums is empty"]),
    "argnums a list": (
        lambda: tm.grad(given, [0])(1.0),
        OptionError,
        ["argnums must be a position, or a tuple of positions, not [0]", "a position, or a tuple of positions"],
    ),
    "argnums a name": (
        lambda: tm.hessian(given, "x")(1.0),
        OptionError,
        ["argnums must be a position, or a tuple of positions, not 'x'"],
    ),
    "argnums a truth value": (lambda: tm.hvp(given, True)(1.0, 1.0), OptionError, ["not True"]),
    "hvp without a vector": (
        lambda: tm.hvp(energy)(X),
        FunctionError,
        ["Hessian-vector product of energy", "followed by the vector"],
    ),
    "vector of another shape": (
        lambda: tm.hvp(energy)(X, np.ones(2)),
        ShapeError,
        ["the vector has shape (2,), but must have shape (3,)"],
    ),
    "a number as a vector": (lambda: tm.hvp(energy)(X, 1.0), ShapeError, ["shape (), but must have shape (3,)"]),
    "vector of another structure": (
        lambda: tm.hvp(lambda p: np.sum(p["w"]))({"w": X}, {"v": V}),
        ShapeError,
        ["does not have the structure of"],
    ),
    "vector without structure": (
        lambda: tm.hvp(lambda p: np.sum(p["w"]))({"w": X}, V),
        ShapeError,
        ["of type ndarray does not have the structure of", "of type dict"],
    ),
    "complex vector": (lambda: tm.hvp(energy)(X, V + 1j), ShapeError, ["complex128", "float64"]),
    "string as a vector": (lambda: tm.hvp(lambda x: x * x)(1.0, "v"), NotATensorError, ["'v'"]),
    "None as a vector": (lambda: tm.hvp(lambda x: x * x)(1.0, None), NotATensorError, ["None"]),
    "too few vectors": (
        lambda: tm.hvp(lambda x, y: x * y, (0, 1))(1.0, 2.0, (1.0,)),
        ShapeError,
        ["does not have the structure"],
    ),
    "primals not in a tuple": (
        lambda: tm.jvp(given, X, V),
        OptionError,
        ["primals and tangents as tuples", "jvp(f, (x,), (v,))"],
    ),
    "tangents not in a tuple": (lambda: tm.jvp(given, (1.0,), 1.0), OptionError, ["as tuples"]),
    "too many tangents": (
        lambda: tm.jvp(given, (1.0,), (1.0, 2.0)),
        ShapeError,
        ["(1.0, 2.0) of type tuple does not have the structure of"],
    ),
    "tangent of another shape": (lambda: tm.jvp(given, (X,), (1.0,)), ShapeError, ["(3,)"]),
    "no primals": (lambda: tm.jvp(lambda: 1.0, (), ()), OptionError, ["pass at least one argument"]),
    "cotangent of another shape": (lambda: tm.vjp(curve, X)[1](V), ShapeError, ["(2,)"]),
    "cotangent of another structure": (
        lambda: tm.vjp(lambda x: (x, x), X)[1](V),
        ShapeError,
        ["does not have the structure"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), ERRORS.values(), ids=ERRORS.keys())
def test_errors(call: Any, kind: type[Exception], words: list[str]) -> None:
    """Each mistake is named, with what was given and what to write."""
    error = raised_by(call)

    assert isinstance(error, kind)
    assert [] == [word for word in words if word not in str(error)], str(error)


def test_errors_of_the_function_pass_through() -> None:
    """What the function itself raises comes out as it is."""
    with pytest.raises(ZeroDivisionError):
        tm.grad(lambda x: x * (1 // 0))(1.0)
    with pytest.raises(np.linalg.LinAlgError):
        tm.jacobian(np.linalg.inv)(np.zeros((2, 2)))


# -- plain arrays of plain arrays, tensors of tensors ----------------------------------------------


DERIVATIVES = {
    "grad": lambda f, x: tm.grad(f)(x),
    "value_and_grad": lambda f, x: tm.value_and_grad(f)(x),
    "jacobian": lambda f, x: tm.jacobian(f)(x),
    "hessian": lambda f, x: tm.hessian(f)(x),
    "hvp": lambda f, x: tm.hvp(f)(x, V),
    "vjp": lambda f, x: (tm.vjp(f, x)[0], tm.vjp(f, x)[1](1.0)),
    "jvp": lambda f, x: tm.jvp(f, (x,), (V,)),
    "a program": lambda f, x: tm.function(tm.value_and_grad(f))(x),
    "grad of grad": lambda f, x: tm.grad(lambda x: np.sum(tm.grad(f)(x) * V))(x),
    "grad of hvp": lambda f, x: tm.grad(lambda x: np.sum(tm.hvp(f)(x, V)))(x),
    "recomputed": lambda f, x: tm.grad(tm.recompute_grad(f))(x),
}


def kinds(results: Any) -> set[type]:
    """The types of all results."""
    return {type(x) for x in leaves(results)}


@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_plain_of_plain(derivative: Any, dtype: Any) -> None:
    """Arrays that own their memory, scalars for single numbers, and the numbers and dtypes that tensors give."""
    x = X.astype(dtype)
    plain = derivative(energy, x)
    tensors = derivative(energy, tm.constant(x))

    assert kinds(plain) <= {np.ndarray, dtype}
    assert kinds(tensors) == {tm.Tensor}
    for a, b in zip(leaves(plain), leaves(tensors), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
        if a.ndim:
            a[...] = 0.0  # SciPy's Newton-CG writes into gradients
            assert not np.shares_memory(a, x)
    np.testing.assert_array_equal(x, X.astype(dtype))


@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
def test_a_variable_is_a_tensor(derivative: Any) -> None:
    """The derivatives in a Variable are tensors."""
    assert kinds(derivative(energy, tm.Variable(X))) == {tm.Tensor}


@pytest.mark.parametrize(
    "x", [2.0, np.float64(2.0), np.array(2.0), np.float32(2.0)], ids=lambda x: type(x).__name__
)
def test_single_numbers(x: Any) -> None:
    """A NumPy scalar, as NumPy's functions give."""
    found = tm.grad(lambda x: x * x)(x)

    assert type(found) is type(np.sin(x))
    assert found == 4.0


@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
@pytest.mark.parametrize("trainable", [True, False])
def test_a_live_tape_follows(derivative: Any, trainable: bool) -> None:
    """Of plain arrays, tensors if a tape around tracks what the function reads; plain if it does not."""
    factor = tm.Variable(3.0, trainable=trainable)
    with tm.GradientTape() as tape:
        found = derivative(lambda x: factor * energy(x), X)
        unrelated = derivative(energy, X)

    assert (tm.Tensor in kinds(found)) == trainable
    assert tm.Tensor not in kinds(unrelated)
    if trainable:
        got = tape.gradient(leaves(found), factor)
        close(got, sum(np.sum(y) for y in leaves(derivative(energy, X))))


def test_mixed_arguments() -> None:
    """The arguments that are differentiated decide, and directions; one tensor among them is enough."""

    def product(a: Any, b: Any) -> Any:
        return np.sum(a * b)

    x = tm.constant(X)
    assert kinds(tm.value_and_grad(product)(V, x)) == {np.ndarray, np.float64}
    assert kinds(tm.value_and_grad(product, (0, 1))(V, x)) == {tm.Tensor}
    assert kinds(tm.grad(lambda p: product(*p))([V, x])) == {tm.Tensor}
    assert kinds(tm.grad(lambda p: np.sum(p["w"] ** 2))(MappingProxyType({"w": x}))) == {tm.Tensor}
    assert kinds(tm.hvp(product)(V, X, x)) == {tm.Tensor}
    assert kinds(tm.jvp(product, (V, X), (x, V))) == {tm.Tensor}
    assert kinds(tm.vjp(np.sin, X)[1](x)) == {tm.Tensor}


def test_a_block_of_a_function_that_ignores_an_argument() -> None:
    """The inner gradient stays a tensor, so the outer one finds zeros, not an error."""
    block = tm.jacobian(tm.grad(lambda x, y: np.sum(y**2), 1), 0)  # noqa: ARG005 (that is the point)

    np.testing.assert_array_equal(block(X, V), np.zeros((3, 3)))


def test_an_argument_that_contains_itself() -> None:
    """It is passed on, also under a live tape, where it may contain a tensor that the tape tracks."""
    endless: list[Any] = []
    endless.append(endless)

    with tm.GradientTape():
        found = tm.grad(lambda x, _: x * x)(2.0, endless)

    close(found, 4.0)


def test_plain_inside_of_plain() -> None:
    """A derivative of a plain number inside of a function is a constant there."""
    found = tm.grad(lambda x: x * tm.grad(np.sin)(0.0))(3.0)

    assert found == 1.0


def test_inside_custom_gradients() -> None:
    """A gradient function that uses grad, under a second derivative."""

    @tm.custom_gradient
    def sine(x: Any) -> Any:
        return np.sin(x), lambda upstream: upstream * tm.grad(lambda v: np.sum(np.sin(v)))(x)

    close(tm.grad(tm.grad(sine))(0.7), -np.sin(0.7))
    close(
        tm.hessian(lambda x: np.sum(tm.grad(lambda v: np.sum(sine(v)))(x)))(X), np.diag(-np.cos(X))
    )
