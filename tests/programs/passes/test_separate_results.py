"""Results share memory with arguments as they do without a program, and are as much protected from changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

FOLD_POLICIES: list[Callable[[Any], Any]] = [
    lambda a: np.broadcast_to(a, (3,)),
    lambda a: np.broadcast_to(a, (2, 3)),
    lambda a: np.broadcast_to(a * 2, (3,)),
    lambda a: np.broadcast_to(a.reshape(3), (3,)).reshape(3),
    lambda a: np.broadcast_to(np.broadcast_to(a, (3,)), (3,))[::-1],
    lambda a: np.broadcast_to(a, (3,))[np.array([0, 1, 2])],
    lambda a: np.broadcast_to(a, (3,)).copy(),
    lambda a: np.broadcast_to(a, (3,)) * 1,
    lambda a: a.reshape(3),
    lambda a: np.reshape(a, -1),
    lambda a: a[()],
    lambda a: a[:],
    lambda a: a.T,
    lambda a: np.transpose(a),  # noqa: PLW0108 (its line)
    lambda a: a.swapaxes(0, 0),
    lambda a: np.squeeze(a),  # noqa: PLW0108 (its line)
    lambda a: np.ravel(a),  # noqa: PLW0108 (its line)
    lambda a: np.atleast_1d(a),  # noqa: PLW0108 (its line)
    lambda a: a,
]


@pytest.mark.parametrize("f", FOLD_POLICIES)
@pytest.mark.parametrize("step", [1, 2])
def test_a_result_shares_with_an_argument_what_it_shares_without_a_program(
    f: Callable[[Any], Any], step: int
) -> None:
    """A result stays the argument, a view of it, a read-only view, or a separate array."""
    traced = tm.function(f)

    def seen(g: Callable[[Any], Any], k: int) -> Any:
        a = np.array([1.0, 0.0, 2.0 + k, 0.0, 3.0, 0.0])[: 3 * step : step]
        r = g(a)
        return r is a, np.shares_memory(r, a), r.flags.writeable, r.tolist()

    for k in range(4):
        assert seen(f, k) == seen(traced, k)
    assert traced.programs
