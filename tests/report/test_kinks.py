"""Operations that are differentiated where they have no derivative."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.report.findings import Findings
from tests.report.recordings import record


def kinks(found: Findings) -> list[str]:
    """The statements on kinks."""
    return [said.text for said in found.verdict if said.topic == "kink"]


ONE = [
    (np.abs, 0.0, "abs at exactly 0 on line 2: 0 was taken as its slope; any from -1 to 1 would do"),
    (lambda x: np.arctan2(x, 0.0), 0.0, "arctan2 of 0 and 0 on line 2: 0 was taken as its slope, where it has none"),
    (np.fabs, -0.0, "fabs at exactly 0 on line 2: 0 was taken as its slope; any from -1 to 1"),
    (lambda x: np.copysign(x, 2.0), 0.0, "copysign at exactly 0 on line 2: 0 was taken"),
    (np.sign, 0.0, "sign at exactly 0 on line 2: 0 was taken as its slope, although it jumps there"),
    (lambda x: np.heaviside(x, 0.5), 0.0, "heaviside at exactly 0 on line 2: 0 was taken"),
    (tm.relu, 0.0, "relu at exactly 0 on line 2: 0 was taken as its slope; any from 0 to 1 would do"),
    (tm.relu6, 0.0, "relu6 at exactly 0 or 6 on line 2: 0 was taken"),
    (tm.relu6, 6.0, "relu6 at exactly 0 or 6 on line 2: 0 was taken"),
    (tm.hard_sigmoid, -3.0, "hard_sigmoid at exactly -3 or 3 on line 2: 0 was taken as its slope; any from 0 to 1/6"),
    (tm.hard_sigmoid, 3.0, "hard_sigmoid at exactly -3 or 3 on line 2: 0 was taken"),
    (tm.leaky_relu, 0.0, "leaky_relu at exactly 0 on line 2: 0.2 was taken as its slope; any from 0.2 to 1.0 would do"),
    (lambda x: tm.leaky_relu(x, 3.0), 0.0,
     "leaky_relu at exactly 0 on line 2: 3.0 was taken as its slope; any from 1.0 to 3.0"),
    (lambda x: tm.elu(x, 0.5), 0.0,
     "elu at exactly 0 on line 2: 0.5 was taken as its slope; any from 0.5 to 1.0 would do"),
    (tm.selu, 0.0, "selu at exactly 0 on line 2: 1.0507 was taken as its slope; any from 1.0507 to 1.7581 would do"),
    (lambda x: np.maximum(x, 0.0), 0.0,
     "maximum of two equal numbers on line 2: 1 was taken as the slope of the first;"),
    (lambda x: np.maximum(0.0, x), 0.0,
     "maximum of two equal numbers on line 2: 0 was taken as the slope of the second;"),
    (lambda x: np.minimum(x, 0.0), 0.0,
     "minimum of two equal numbers on line 2: 1 was taken as the slope of the first;"),
    (lambda x: np.fmax(0.0, x), 0.0, "fmax of two equal numbers on line 2: 0 was taken as the slope of the second;"),
    (lambda x: np.fmin(x, 0.0), 0.0, "fmin of two equal numbers on line 2: 1 was taken as the slope of the first;"),
    (lambda x: np.clip(x, -1.0, 1.0), 1.0,
     "clip exactly at a limit on line 2: 1 was taken as its slope; any from 0 to 1"),
    (lambda x: np.clip(x, -1.0, None), -1.0, "clip exactly at a limit on line 2: 1 was taken as its slope"),
    (lambda x: np.clip(0.5, x, 1.0), 0.5, "clip exactly at a limit on line 2: 0 was taken as the slope of the limit"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "x", "words"), ONE)
def test_the_slope_that_is_named_is_the_one_taken(
    function: Callable[..., Any], x: float, words: str
) -> None:
    """The statement names the slope that the rule gives."""
    found = record(function, x)

    [said] = kinks(found)
    assert said.startswith(words)
    [slope] = re.findall(r": (\S+) was taken", said)
    assert found.derivatives[0].text is not None
    assert float(slope) == pytest.approx(float(found.derivatives[0].text), rel=1e-4)


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (np.abs, 1e-300),
        (tm.elu, 0.0),
        (tm.softplus, 0.0),
        (lambda x: np.abs(x) * 0.0, 0.0),
        (lambda x: np.maximum(x, x), 1.0),
        (lambda x: np.maximum(x, np.nan), 1.0),
        (lambda x: np.clip(x, 2.0, 2.0), 2.0),
        (np.max, [1.0, 2.0]),
        (np.std, [1.0]),
        (lambda x: np.sum(np.abs(x)), np.zeros(0)),
    ],
)
def test_where_there_is_no_kink(function: Callable[..., Any], x: Any) -> None:
    """A smooth point, or one that no gradient passes, is no kink."""
    assert [] == kinks(record(function, x))


def test_what_leads_nowhere_is_no_kink() -> None:
    """An operation that the target does not depend on is left out."""

    def compute(x: Any) -> Any:
        np.abs(x)
        return x * 2.0

    assert [] == kinks(record(compute, 0.0))


@pytest.mark.parametrize(
    ("function", "x", "words"),
    [
        (lambda x: np.sum(np.abs(x)), [0.0, 1.0, 0.0], "abs at exactly 0 on line 2, for 2 of 3 elements: 0 was"),
        (lambda x: np.sum(np.abs(x)), np.zeros((200, 200)),
         "abs at exactly 0 on line 2, for 40,000 of 40,000 elements"),
        (lambda x: np.sum(np.abs(x) * np.array([0.0, 1.0])), [0.0, 0.0],
         "abs at exactly 0 on line 2, for 1 of 2 elements"),
        (np.max, [3.0, 1.0, 3.0], "max with ties on line 2, for 2 of 3 elements: equal numbers share its slope evenly"),
        (lambda x: np.sum(np.min(x, axis=1)), np.eye(3), "min with ties on line 2, for 6 of 9 elements"),
        (np.linalg.norm, [0.0, 0.0], "norm at exactly 0 on line 2: 0 was taken as its slope, where it has none"),
        (np.std, [2.0, 2.0], "std of equal numbers on line 2: 0 was taken as its slope, where it has none"),
        (np.abs, 0j, "abs at exactly 0 on line 2: 0 was taken as its slope, where it has none"),
    ],
)  # fmt: skip
def test_arrays(function: Callable[..., Any], x: Any, words: str) -> None:
    """Elements at a kink are counted, as far as a gradient passes there."""
    [said] = kinks(record(function, np.asarray(x)))

    assert said.startswith(words)


def test_both_of_a_tie() -> None:
    """Where both are differentiated, the slopes of both are named."""
    found = record(np.maximum, 2.0, 2.0)

    assert ["1.0", "0.0"] == [row.text for row in found.derivatives]
    assert "1 was taken as the slope of the first, and 0 of the second;" in kinks(found)[0]


def test_a_function_of_that_name_by_the_user() -> None:
    """What a user calls relu has a rule of the user's."""

    @tm.custom_gradient
    def relu(x: Any) -> Any:
        return np.maximum(x, 0.0), lambda g: g * 7.0

    assert [] == kinks(record(relu, 0.0))
