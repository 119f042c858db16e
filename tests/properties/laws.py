"""What holds for every function of its kind, whatever the shapes.

The numbers of linear maps are small and whole, so no sum is rounded and equations hold to the last
bit: the adjoint identity <g, A v> = <A* g, v>, and that the adjoint of the adjoint is the map itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import GradientTape, Tensor, check_gradients, constant
from tapemagic.engine.nest import leaves
from tests.properties.strategies import whole
from tests.rules.checks import check_batch, check_value
from tests.rules.harness import Case

Function = Callable[..., Any]

BIG = 10_000
"""Jacobians with more elements are left out."""


def check_linear(function: Function, *inputs: Any) -> None:
    """A function that is linear in all inputs together has its adjoint for its derivative, exactly."""
    _check_alike(function, inputs)
    _check_adjoint(function, inputs)
    _check_jacobian(function, inputs)


def check_multilinear(function: Function, *inputs: Any, order: int = 2) -> None:
    """A function that is linear in each of its inputs has their adjoints, and so have these."""
    _check_alike(function, inputs)
    _check_adjoints(function, inputs, order)


def check_smooth(function: Function, *inputs: Any, tolerance: float = 1e-7) -> None:
    """Derivatives of first and second order are difference quotients, in random directions."""
    _check_alike(function, inputs)
    _check_jacobian(function, inputs)
    check_gradients(function, *inputs, order=2, tolerance=tolerance)


def check_affine(function: Function, x: Any, order: int = 2) -> None:
    """A function that is affine in each element of x changes by its derivative when one grows by 1.

    So do its derivatives. The numbers are to be whole, so that nothing is rounded.
    """
    if order == 2:
        _check_alike(function, (x,))
    y = np.asarray(function(x))
    g = whole(y, seed=order)
    found = gradient(function, x, g).numpy()
    for place in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[place] = 1.0
        assert inner_product([g], [function(x + step) - y]) == found[place]
    if order > 1:
        check_affine(lambda v: gradient(function, v, g), x, order - 1)


def refused_alike(function: Function, *inputs: Any) -> bool:
    """Whether NumPy raises or warns, and then the call on tensors has to do likewise."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            function(*inputs)
        except (ValueError, TypeError, IndexError, RuntimeWarning) as error:
            kind = next(one for one in type(error).__mro__ if one.__module__ == "builtins")
            with pytest.raises(kind):
                function(*map(constant, inputs))
            return True
    return False


def _check_alike(function: Function, inputs: tuple[Any, ...]) -> None:
    """The value is NumPy's, and rules take several cotangents at once."""
    case = Case(function, function, inputs)
    check_value(case)
    check_batch(case)


def _check_adjoints(function: Function, inputs: tuple[Any, ...], order: int) -> None:
    """The adjoint identity in each input; of the gradients too, as functions of all the others."""
    for i in range(len(inputs)):
        alone = _in_one_input(function, inputs, i)
        _check_adjoint(alone, (inputs[i],))
        if order > 1:
            g = whole(alone(inputs[i]), seed=i)
            others = (*inputs[:i], *inputs[i + 1 :])
            _check_adjoints(_pullback(function, inputs[i], i), (g, *others), order - 1)


def _in_one_input(function: Function, inputs: tuple[Any, ...], i: int) -> Function:
    """The function with all inputs but one held fast."""
    return lambda x: function(*inputs[:i], x, *inputs[i + 1 :])


def _pullback(function: Function, x: Any, i: int) -> Function:
    """The gradient in one input, which stays as it is, as a function of cotangent and other inputs."""
    return lambda g, *others: gradient(lambda x: function(*others[:i], x, *others[i:]), x, g)


def gradient(function: Function, x: Any, g: Any) -> Any:
    """The gradient of a function of one input, to the cotangent g."""
    x = x if isinstance(x, Tensor) else constant(x)
    with GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x, g, "zero")


def _check_adjoint(function: Function, inputs: tuple[Any, ...]) -> None:
    """<g, A v> = <A* g, v>, in the shapes and dtypes of the inputs, and A** = A."""
    xs = list(map(constant, inputs))
    vs = [whole(x, seed=10 + k) for k, x in enumerate(inputs)]
    image = values(function(*vs))
    gs = [constant(whole(y, seed=20 + k)) for k, y in enumerate(image)]
    with GradientTape() as outer:
        outer.watch(gs)
        with GradientTape() as inner:
            inner.watch(xs)
            ys = leaves(function(*xs))
        found = inner.gradient(ys, xs, gs)
    again = values(outer.gradient(found, gs, vs))

    assert [(x.shape, x.dtype) for x in xs] == [(dx.shape, dx.dtype) for dx in found]
    assert inner_product(values(gs), image) == inner_product(values(found), vs)
    for y, z in zip(image, again, strict=True):
        np.testing.assert_array_equal(y, z)


def _check_jacobian(function: Function, inputs: tuple[Any, ...]) -> None:
    """The rows of a Jacobian are gradients: weighed with a cotangent they add up to its gradient."""
    xs = list(map(constant, inputs))
    with GradientTape(persistent=True) as tape:
        tape.watch(xs)
        ys = leaves(function(*xs))
    for y in ys:
        if y.size * max(x.size for x in xs) > BIG:
            continue
        g = whole(np.empty(y.shape))
        rows = tape.jacobian(y, xs, "zero")
        found = tape.gradient(y, xs, g.astype(y.dtype), "zero")
        for x, jacobian, dx in zip(xs, rows, found, strict=True):
            assert (jacobian.shape, jacobian.dtype) == (y.shape + x.shape, x.dtype)
            added = np.tensordot(g, jacobian.numpy(), axes=y.ndim)
            np.testing.assert_allclose(added, dx.numpy(), rtol=1e-10, atol=1e-10)


def values(results: Any) -> list[Any]:
    """The arrays in a result, out of their tensors."""
    return [np.asarray(y) for y in leaves(results)]


def inner_product(a: list[Any], b: list[Any]) -> float:
    """The real part of the sum of ``conj(a) * b``."""
    pairs = zip(a, b, strict=True)
    return float(sum(np.real(np.vdot(x, y)) for x, y in pairs))
