"""Arguments without derivative: refused, whether a tensor is watched or a Variable is read here for the first time."""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import NoDerivativeError, NotNumbersError, UnsupportedArgumentError
from tests.conformance.programs import raised_by

C = tm.constant(3.0)
ROW = tm.constant([1.0, 2.0])


Call = Callable[[Any], Any]
REFUSED: dict[str, tuple[type[Exception], Call]] = {
    "no rule": (NoDerivativeError, np.emath.sqrt),
    "no rule, by keyword": (NoDerivativeError, lambda v: np.emath.sqrt(x=v)),
    "parameter": (UnsupportedArgumentError, lambda v: np.sum(C, initial=v)),
    "parameter in a list": (UnsupportedArgumentError, lambda v: np.sum(C, initial=[v])),
    "parameter of a method": (UnsupportedArgumentError, lambda v: np.add.reduce(ROW, initial=v)),
    "parameter in a dict": (UnsupportedArgumentError, lambda v: tm.softmax(ROW, axis={"v": [v]})),
    "method of a ufunc": (NoDerivativeError, np.hypot.reduce),
    "one of our own": (UnsupportedArgumentError, lambda v: tm.softmax(ROW, axis=v)),
}


def outcome(call: Call, v: Any, **options: Any) -> Exception | None:
    """What a call raises on a tape; None if nothing."""
    with tm.GradientTape(**options) as tape:
        if isinstance(v, tm.Tensor):
            tape.watch(v)
        try:
            call(v)
        except Exception as error:  # noqa: BLE001 (whatever it is, the test looks at it)
            return error
    return None


@pytest.mark.parametrize("name", REFUSED)
def test_unread_variables_are_refused_as_watched_tensors_are(name: str) -> None:
    """What raises for a watched tensor raises the same for a trainable Variable which nothing has read yet."""
    error, call = REFUSED[name]

    watched = outcome(call, tm.constant([4.0]))
    unread = outcome(call, tm.Variable([4.0]))

    assert isinstance(watched, error)
    assert (type(watched), str(watched)) == (type(unread), str(unread))


def test_scipys_parameters_are_refused() -> None:
    """A parameter without derivative, and a function without rule, also among SciPy's."""
    sp = pytest.importorskip("scipy.special")

    assert isinstance(outcome(lambda v: sp.stdtr(2.0, v), tm.Variable(4.0)), NoDerivativeError)
    assert isinstance(outcome(lambda v: sp.jv(v, C), tm.Variable(4.0)), UnsupportedArgumentError)


@pytest.mark.parametrize("name", ["no rule", "no rule, by keyword"])
def test_what_no_tape_watches_is_not_refused(name: str) -> None:
    """A Variable that is not trainable, one that the tape does not watch by itself, and one beside all tapes."""
    call = REFUSED[name][1]

    assert outcome(call, tm.Variable([4.0], trainable=False)) is None
    assert outcome(call, tm.Variable([4.0]), watch_accessed_variables=False) is None
    assert np.all(call(tm.Variable([4.0])) == [2.0])


@pytest.mark.parametrize("call", [np.floor, lambda v: np.floor_divide(7.0, v)], ids=["floor", "//"])
def test_the_reason_is_not_that_a_variable_was_not_watched(call: Call) -> None:
    """Where a path knowingly ends, the tape has read the variable."""
    v = tm.Variable(4.5)
    with tm.GradientTape() as tape:
        y = call(v)

    assert tape.watched_variables() == (v,)
    assert tape.gradient(y, v) is None


def test_messages_name_the_module() -> None:
    """A message names a function as one writes it."""
    written = {
        "np.emath.sqrt(": np.emath.sqrt,
        "np.hypot.reduce ": np.hypot.reduce,
        "np.linalg.multi_dot(": lambda v: np.linalg.multi_dot([v, v], out=np.zeros(1)),
    }

    for name, call in written.items():
        assert name in str(outcome(call, tm.constant([4.0])))


# -- Python's exact numbers ------------------------------------------------------------------------


@pytest.mark.parametrize("number", [Fraction(1, 2), Decimal("0.5")], ids=["fraction", "decimal"])
@pytest.mark.parametrize(
    "function",
    [operator.add, operator.mul, operator.truediv, operator.floordiv, operator.lt, operator.eq],
)
def test_exact_numbers_are_refused(function: Any, number: Any) -> None:
    """Fractions and decimals beside a tensor say what to write, on either side, also in a comparison."""
    for call in (lambda: function(C, number), lambda: function(number, C)):
        error = raised_by(call)
        assert isinstance(error, NotNumbersError)
        assert "float(...)" in str(error)


def test_statistics() -> None:
    """Python's statistics of tensors that a tape tracks name NumPy's."""
    with tm.GradientTape() as tape:
        tape.watch(C)
        error = raised_by(lambda: statistics.mean([C, C]))

    assert isinstance(error, UnsupportedArgumentError)
    assert "np.mean(np.stack([x, y]))" in str(error)


def test_trunc() -> None:
    """math.trunc gives the whole number, as int does, and the tape knows."""
    v = tm.Variable(2.5)
    with tm.GradientTape() as tape:
        number = math.trunc(v)
        y = tm.constant(float(number))

    assert number == 2
    assert "int()" in str(tape.explain(y, v))
