"""The laws notice what is wrong: a rule is damaged, and the check has to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from tapemagic.engine.registry import operation
from tapemagic.engine.tensor.tensor import getitem
from tapemagic.errors import GradientError
from tests.properties import laws
from tests.properties.strategies import apart, whole

pytestmark = pytest.mark.thorough

X = whole(np.empty((2, 3)))
Y = whole(np.empty(3), seed=1)


def assigned(g: Any, _y: Any, x: Any, index: Any) -> Any:
    """A gradient that forgets to add up where an index repeats."""
    dx = np.zeros(g.shape[:-1] + x.shape)
    dx[..., index] = g
    return dx


def not_batched(g: Any, _y: Any, _x: Any) -> Any:
    """A gradient that counts its axes from the front."""
    return np.flip(np.cumsum(np.flip(g, 0), axis=0), 0)


@pytest.mark.parametrize(
    ("function", "rules", "check"),
    [
        (getitem, [assigned], lambda: laws.check_linear(lambda v: v[[0, 2, 2]], Y)),
        (np.cumsum, [not_batched], lambda: laws.check_linear(np.cumsum, Y)),
        (
            np.matmul,
            [lambda g, _z, _x, y: g @ y.mT, lambda g, _z, x, _y: x.mT @ (2 * g)],
            lambda: laws.check_multilinear(np.matmul, X, X.T),
        ),
        (
            np.matmul,
            [lambda g, _z, _x, y: g @ np.array(y).T, lambda g, _z, x, _y: x.mT @ g],
            lambda: laws.check_multilinear(np.matmul, X, X.T),
        ),
        (
            np.prod,
            [lambda g, y, x: (g * y)[..., None] / np.where(x, x, 1)],
            lambda: laws.check_affine(np.prod, np.array([0.0, 2.0])),
        ),
        (np.sin, [lambda g, _y, x: g * np.array(np.cos(x))], lambda: laws.check_smooth(np.sin, apart((3,)))),
    ],
    ids=["repeated index", "batch", "factor", "second order", "zero", "curvature"],
)  # fmt: skip
def test_damage_is_noticed(
    function: Callable[..., Any], rules: list[Any], check: Callable[[], None]
) -> None:
    """A law holds for the right rules, and fails for damaged ones."""
    check()
    with (
        patch.object(operation(function), "rules", tuple(rules)),
        pytest.raises((AssertionError, GradientError, AttributeError, TypeError)),
    ):
        check()


def test_a_call_that_is_not_refused_is_noticed() -> None:
    """What NumPy refuses must not pass."""
    assert laws.refused_alike(lambda v: v[5], Y)
    assert not laws.refused_alike(lambda v: v[2], Y)
    with pytest.raises(pytest.fail.Exception):
        laws.refused_alike(lambda v: v[5] if isinstance(v, np.ndarray) else v, Y)
