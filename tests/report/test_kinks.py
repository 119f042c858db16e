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
    (np.abs, 0.0, "abs has no derivative at 0 (line 2). The tape used slope 0; any slope from -1 to 1 is valid."),
    (lambda x: np.arctan2(x, 0.0), 0.0, "arctan2 has no derivative at (0, 0) (line 2). The tape used slope 0."),
    (np.fabs, -0.0, "fabs has no derivative at 0 (line 2). The tape used slope 0; any slope from -1 to 1"),
    (lambda x: np.copysign(x, 2.0), 0.0, "copysign has no derivative at 0 (line 2). The tape used slope 0"),
    (np.sign, 0.0, ("sign has no derivative at 0 (line 2). The function jumps here, so it has no slope; the tape "
     "used 0.")),
    (lambda x: np.heaviside(x, 0.5), 0.0, "heaviside has no derivative at 0 (line 2). The "),
    (tm.relu, 0.0, "relu has no derivative at 0 (line 2). The tape used slope 0; any slope from 0 to 1 is valid."),
    (tm.relu6, 0.0, "relu6 has no derivative at 0 or 6 (line 2). The tape used slope 0"),
    (tm.relu6, 6.0, "relu6 has no derivative at 0 or 6 (line 2). The tape used slope 0"),
    (tm.hard_sigmoid, -3.0, ("hard_sigmoid has no derivative at -3 or 3 (line 2). The tape used slope 0; any "
     "slope from 0 to 1/6")),
    (tm.hard_sigmoid, 3.0, "hard_sigmoid has no derivative at -3 or 3 (line 2). The tape used slope 0"),
    (tm.leaky_relu, 0.0, ("leaky_relu has no derivative at 0 (line 2). The tape used slope 0.2; any slope from "
     "0.2 to 1.0 is valid.")),
    (lambda x: tm.leaky_relu(x, 3.0), 0.0,
     "leaky_relu has no derivative at 0 (line 2). The tape used slope 3.0; any slope from 1.0 to 3.0"),
    (lambda x: tm.elu(x, 0.5), 0.0,
     "elu has no derivative at 0 (line 2). The tape used slope 0.5; any slope from 0.5 to 1.0 is valid."),
    (tm.selu, 0.0, ("selu has no derivative at 0 (line 2). The tape used slope 1.0507; any slope from 1.0507 to "
     "1.7581 is valid.")),
    (lambda x: np.maximum(x, 0.0), 0.0,
     "maximum has no derivative where its arguments are equal (line 2). The tape used slope 1 for the first"),
    (lambda x: np.maximum(0.0, x), 0.0,
     "maximum has no derivative where its arguments are equal (line 2). The tape used slope 0 for the second"),
    (lambda x: np.minimum(x, 0.0), 0.0,
     "minimum has no derivative where its arguments are equal (line 2). The tape used slope 1 for the first"),
    (lambda x: np.fmax(0.0, x), 0.0, ("fmax has no derivative where its arguments are equal (line 2). The tape "
     "used slope 0 for the second")),
    (lambda x: np.fmin(x, 0.0), 0.0, ("fmin has no derivative where its arguments are equal (line 2). The tape "
     "used slope 1 for the first")),
    (lambda x: np.clip(x, -1.0, 1.0), 1.0,
     "clip has no derivative at its limits (line 2). The tape used slope 1; any slope from 0 to 1"),
    (lambda x: np.clip(x, -1.0, None), -1.0, "clip has no derivative at its limits (line 2). The tape used slope 1"),
    (lambda x: np.clip(0.5, x, 1.0), 0.5, ("clip has no derivative at its limits (line 2). The tape used slope 0 "
     "for the limit")),
]  # fmt: skip


@pytest.mark.parametrize(("function", "x", "words"), ONE)
def test_the_slope_that_is_named_is_the_one_taken(
    function: Callable[..., Any], x: float, words: str
) -> None:
    """The statement names the slope that the rule gives."""
    found = record(function, x)

    [said] = kinks(found)
    assert said.startswith(words)
    [slope] = re.findall(r"tape used (?:slope )?([\d.]*\d)", said)
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
        (lambda x: np.sum(np.abs(x)), [0.0, 1.0, 0.0], ("abs has no derivative at 0 (line 2, 2 of 3 elements). "
         "The tape used slope 0")),
        (lambda x: np.sum(np.abs(x)), np.zeros((200, 200)),
         "abs has no derivative at 0 (line 2, 40,000 of 40,000 elements)"),
        (lambda x: np.sum(np.abs(x) * np.array([0.0, 1.0])), [0.0, 0.0],
         "abs has no derivative at 0 (line 2, 1 of 2 elements)"),
        (np.max, [3.0, 1.0, 3.0], ("max has no derivative where values are tied (line 2, 2 of 3 elements). Tied "
         "values share the gradient equally")),
        (lambda x: np.sum(np.min(x, axis=1)), np.eye(3), ("min has no derivative where values are tied (line 2, "
         "6 of 9 elements)")),
        (np.linalg.norm, [0.0, 0.0], "norm has no derivative at 0 (line 2). The tape used slope 0."),
        (np.std, [2.0, 2.0], "std has no derivative where all values are equal (line 2). The tape used slope 0."),
        (np.abs, 0j, "abs has no derivative at 0 (line 2). The tape used slope 0."),
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
    assert "The tape used slope 1 for the first and 0 for the second;" in kinks(found)[0]


def test_a_function_of_that_name_by_the_user() -> None:
    """What a user calls relu has a rule of the user's."""

    @tm.custom_gradient
    def relu(x: Any) -> Any:
        return np.maximum(x, 0.0), lambda g: g * 7.0

    assert [] == kinks(record(relu, 0.0))


HIGHER = [
    (lambda v: np.linalg.norm(v) ** 2, [0.0, 0.0], ("norm has no derivative at 0. The tape used slope 0. It "
     "holds only for the first derivative; higher ones are nan. For a squared norm, write np.sum(v * v).")),
    (np.linalg.norm, [0.0, 0.0], "norm has no derivative at 0. The tape used slope 0. It holds only for the first"),
    (lambda v: np.hypot(v[0], v[1]) ** 2, [0.0, 0.0], ("hypot has no derivative at 0. The tape used slope 0. "
     "It holds only for the first derivative; higher ones are nan. For its square, write x * x + y * y.")),
    (lambda v: np.abs(v[0] + 1j * v[1]) ** 2, [0.0, 0.0], ("abs has no derivative at 0. The tape used slope 0. "
     "It holds only for the first derivative; higher ones are nan. For its square, write np.real(z * np.conj(z)).")),
    (lambda v: np.std(v) ** 2, [2.0, 2.0], ("std has no derivative where all values are equal. The tape used "
     "slope 0. It holds only for the first derivative; higher ones are nan. For its square, write np.var.")),
    (lambda x: np.abs(x) ** 2, 0.0, ("abs has no derivative at 0. The tape used slope 0; any slope from -1 to "
     "1 is valid. Higher derivatives leave the kink out.")),
    (lambda x: tm.relu(x) ** 2, 0.0, ("relu has no derivative at 0. The tape used slope 0; any slope from 0 to "
     "1 is valid. Higher derivatives leave the kink out.")),
    (lambda v: np.max(v) ** 2, [1.0, 1.0], ("max has no derivative where values are tied (2 of 2 elements). "
     "Tied values share the gradient equally; other splits are valid too. Higher derivatives leave the kink out.")),
    (lambda v: v[0] ** v[1], [-2.0, 2.0], ("power has no derivative in its exponent where the base is negative or both "
     "are 0. The tape used slope 0. It holds only for the first derivative; higher ones are nan.")),
]  # fmt: skip


@pytest.mark.parametrize(("function", "x", "words"), HIGHER)
@pytest.mark.parametrize("options", [{"order": 2}, {"order": 3}, {"matrices": ["hessian"]}])
def test_the_statement_says_what_higher_derivatives_are(
    function: Callable[..., Any], x: Any, words: str, options: dict[str, Any]
) -> None:
    """A report of higher orders names the kink also where the first derivative doesn't depend on its slope."""
    with np.errstate(all="ignore"):
        found = record(function, x, **options)
    [said] = kinks(found)
    assert re.sub(r" \(line \d+\)|line \d+, ", "", said).startswith(words)


def test_a_nan_of_a_higher_order_names_the_kink() -> None:
    """The sentence on the nan says that it comes from a kink, without the names of rules."""
    found = record(lambda v: np.linalg.norm(v) ** 2, [0.0, 0.0], order=2)
    [said] = [said.text for said in found.verdict if said.topic == "nonfinite"]
    assert said.endswith(
        "holds nan: the first derivative uses a slope that the tape chose at a kink, and this slope has no derivative."
    )


def test_a_slope_without_influence_on_the_first_derivative_is_no_kink() -> None:
    """The gradient of a squared norm at 0 is right, so a report of the first order says nothing."""
    assert [] == kinks(record(lambda v: np.linalg.norm(v) ** 2, [0.0, 0.0]))
