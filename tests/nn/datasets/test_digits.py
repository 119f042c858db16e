"""The digits that come with the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapemagic.errors import OptionError
from tapemagic.nn.datasets import digits


@pytest.mark.thorough
def test_they_are_those_of_scikit_learn() -> None:
    """Every image and label, in its order."""
    theirs = pytest.importorskip("sklearn.datasets").load_digits()
    (x_train, y_train), (x_test, y_test) = digits(shuffle=False)

    np.testing.assert_array_equal(theirs.images, np.concatenate([x_train, x_test]))
    np.testing.assert_array_equal(theirs.target, np.concatenate([y_train, y_test]))


def test_the_split_is_the_same_everywhere() -> None:
    """The order follows from the seed, by numbers which NumPy guarantees."""
    (x_train, y_train), (x_test, y_test) = digits()

    assert [1438, 1438, 359, 359] == [len(x) for x in (x_train, y_train, x_test, y_test)]
    assert [0, 6, 3, 8, 1, 8, 4, 1, 5, 8, 9, 7] == y_train[:12].tolist()
    assert [38, 42, 41, 32, 45, 29, 34, 39, 27, 32] == np.bincount(y_test).tolist()


def test_seeds_and_fractions() -> None:
    """Another seed shuffles otherwise, another fraction splits otherwise; no digit is lost."""
    whole = np.sort(np.concatenate([x.reshape(-1, 64) for x, _ in digits(shuffle=False)]), axis=0)
    for options in ({"seed": 1}, {"seed": 2**200}, {"test_fraction": 0.5}, {"seed": np.int64(3)}):
        (x_train, _), (x_test, _) = digits(**options)
        found = np.concatenate([x_train, x_test]).reshape(-1, 64)

        assert round(1797 * options.get("test_fraction", 0.2)) == len(x_test)
        np.testing.assert_array_equal(whole, np.sort(found, axis=0))
    assert digits(seed=1)[0][1].tolist() != digits(seed=2)[0][1].tolist()


def test_normalized() -> None:
    """From 0 to 1 in float32."""
    (x, _), _ = digits(normalize=True)

    assert np.float32 == x.dtype
    np.testing.assert_array_equal(digits()[0][0], x * 16)


def test_the_arrays_are_the_users() -> None:
    """Writing into them changes nothing for the next call."""
    (x, y), _ = digits()
    x[:] = 99
    y[:] = 99

    assert 16 == digits()[0][0].max()


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 1.5, 1e-9, float("nan"), float("inf"), None, "a"])
def test_fractions_that_leave_a_part_empty(fraction: Any) -> None:
    """Both parts have digits."""
    with pytest.raises(OptionError, match="must be a number between 0 and 1"):
        digits(test_fraction=fraction)


@pytest.mark.parametrize("seed", [-1, 0.5, None, "a", np.random.default_rng(0)])
def test_seeds_that_are_none(seed: Any) -> None:
    """A seed is a whole number."""
    with pytest.raises(OptionError, match="must be an integer of at least 0"):
        digits(seed=seed)
