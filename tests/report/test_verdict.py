"""The verdict of a report: the results in sentences, what is wrong first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.report.findings import Findings
from tapemagic.report.verdict.find_verdict import MAX_SENTENCES, shortened, truncate
from tapemagic.report.verdict.statement import Statement, by_severity
from tests.report.recordings import product, record, square


def texts(found: Findings, *topics: str) -> list[str]:
    """The sentences on some topics; on all if none are named."""
    return [said.text for said in found.verdict if said.topic in topics or not topics]


def test_a_good_result_is_one_sentence() -> None:
    """The target and its gradients."""
    assert ["y = 9.0; dy/da = 6.0"] == texts(square())


def test_a_none_comes_before_the_results() -> None:
    """With its reason; a None that follows from another is left out."""
    found = record(lambda a, b: a * b, 2.0, 3.0, order=3)

    assert ["none", "none", "result"] == [said.topic for said in found.verdict]
    assert found.verdict[0].text.startswith("d²y/da² is None: it is zero, because y is linear")
    assert product().verdict[0].text.startswith("d²y/db² is None: ")


def test_many_gradients_are_counted() -> None:
    """A target lists the first ones of many sources."""
    found = record(lambda *x: sum(x), *[float(k) for k in range(8)])

    [text] = texts(found)
    assert text.endswith("dy/d(d) = 1.0, and 4 more, in Gradients")


def test_an_array_is_differentiated_as_its_sum() -> None:
    """The sentence says so: the symbol alone would be that of a matrix."""
    [text] = texts(record(lambda x: x * x, np.array([1.0, 2.0])))

    assert "y = [1.0, 4.0]; of the sum of y: dy/da = [2.0, 4.0]" == text


def test_a_verdict_is_short() -> None:
    """However much there is to say."""
    topics = ("nonfinite", "warning", "none", "missing", "result", "kink")
    said = [Statement(topic, f"{topic} {k}") for topic in topics for k in range(50)]  # type: ignore[arg-type]

    short = shortened(sorted(said, key=by_severity))

    assert len(topics) == len(short) <= MAX_SENTENCES
    assert "none 0; and 49 more, in Gradients" in [one.text for one in short]
    assert ["nonfinite", "warning", "none", "missing", "result", "kink"] == [s.topic for s in short]


def test_a_long_reason_is_cut() -> None:
    """The table of gradients has it in full."""
    assert len(truncate("word " * 1000)) <= 320
    assert "short" == truncate("short")


@pytest.mark.parametrize(
    ("function", "xs", "begin"),
    [
        (lambda a, b: np.sqrt((a - b) ** 2), (1.0, 1.0), "dy/da is nan (and so is dy/db): "),
        (lambda a, b: np.sqrt(np.sum((a - b) ** 2)), ([1.0], [1.0]), "dy/da holds nan (and so does dy/db): "),
        (lambda a, b, c: np.sqrt((a - b) ** 2 + c**2), (1.0, 1.0, 0.0), "dy/da is nan (and so are 2 more): "),
    ],
)  # fmt: skip
def test_other_gradients_that_are_nan(function: Any, xs: Any, begin: str) -> None:
    """A single one is named, several are counted."""
    with np.errstate(all="ignore"):
        [text] = texts(record(function, *xs), "nonfinite")
    assert text.startswith(begin)


def quietly(function: Any, *inputs: Any) -> list[str]:
    """The sentences on what is not finite."""
    with np.errstate(all="ignore"):
        return texts(record(function, *inputs), "nonfinite")


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (np.log, -1.0, "y is nan because log(a) on line 2 is nan (a = -1.0). Ignore its gradients."),
        (np.log, 0.0, "y is -inf because log(a) on line 2 is -inf (a = 0.0). Ignore its gradients."),
        (lambda a: 1.0 / a, 0.0, "y is inf because divide on line 2 divides 1.0 by 0.0 (a = 0.0). Ignore its"),
        (lambda a: a / a, 0.0, "y is nan because divide on line 2 divides 0.0 by 0.0 (a = 0.0). Ignore its"),
        (np.exp, 1000.0, "y is inf because exp(a) on line 2 is too large for float64 (a = 1000.0). Ignore its"),
        (np.exp, np.float32(100.0), "y is inf because exp(a) on line 2 is too large for float32 (a = 100.0)."),
        (lambda a: np.sum(np.log(a)), [[1.0, 2.0], [3.0, -4.0]],
         "y is nan because log(a[1, 1]) on line 2 is nan (a[1, 1] = -4.0)."),
        (np.log, [1.0, -1.0], "y holds nan because log(a[1]) on line 2 is nan (a[1] = -1.0)."),
        (lambda a: a * 2.0, np.nan, "y is nan because a was already nan when multiply on line 2 used it."),
        (lambda a: np.sum(a * np.array([1.0, np.inf])), [1.0, 2.0],
         "y is inf because multiply on line 2 received an input that was already inf."),
        (np.sqrt, 0.0, "dy/da is inf: the derivative of sqrt is infinite at a = 0.0 (line 2)."),
        (lambda a: np.sqrt(a) * 0.0, 0.0,
         "dy/da is nan: the derivative of sqrt is infinite at a = 0.0 (line 2), and it is multiplied by 0."),
        (lambda a: np.sum(np.sqrt(a)), [1.0, 0.0],
         "dy/da holds inf: the derivative of sqrt is infinite at a[1] = 0.0 (line 2)."),
        (lambda a: np.sqrt(a - 1.0), 1.0, "dy/da is inf: the derivative of sqrt is infinite at 0.0 (line 3)."),
    ],
)  # fmt: skip
def test_where_it_began(function: Any, x: Any, expected: str) -> None:
    """The operation, the line, and the operand at that element."""
    [text] = quietly(function, x)

    assert text.startswith(expected)


def test_only_what_the_target_was_computed_from_counts() -> None:
    """A nan in another value is not its reason."""

    def compute(a: Any) -> Any:
        np.log(a - 5.0)
        return np.exp(a * 1000.0)

    [text] = quietly(compute, 2.0)

    assert text.startswith("y is inf because exp on line 5 is too large")


def test_the_trap_of_where() -> None:
    """A branch that was not chosen is differentiated all the same: the tape keeps its 0, and says who does not."""

    def compute(a: Any) -> Any:
        return np.sum(np.where(a > 0, np.log(a) / a, 0.0)) + np.sum(np.sqrt(a)[:1])

    with np.errstate(all="ignore"):
        found = record(compute, np.array([4.0, 0.0]))

    assert not texts(found, "nonfinite")
    assert (
        "What np.where, an index or a mask leaves out adds 0 to dy/da, although the derivative of sqrt is "
        "infinite at a[1] = 0.0 (line 6). PyTorch and JAX give nan here."
    ) in texts(found, "note")


def test_only_gradients_that_others_lose_are_named() -> None:
    """Not the gradients that are 0 anyway, and not those by sources that no selection concerns."""
    with np.errstate(all="ignore"):
        found = record(
            lambda a, b: np.sum(np.where(a > 0, np.log(a), 0.0)) + np.sum(b[1:]),
            np.array([4.0, 0.0]),
            np.array([0.0, 1.0]),
        )

    [text] = texts(found, "note")
    assert text.startswith("What np.where, an index or a mask leaves out adds 0 to dy/da, although")
    assert text.endswith(
        "infinite at a[1] = 0.0 (line 2). TensorFlow, PyTorch and JAX give nan here."
    )


def test_a_zero_that_no_where_made() -> None:
    """Advice on np.where is given only where that is what happened."""
    chosen = np.array([True])

    def compute(a: Any) -> Any:
        root = np.sqrt(a)
        return np.where(chosen, root * 0.0, a)

    [text] = quietly(compute, np.array([0.0]))

    assert text.endswith("and it is multiplied by 0.")


def test_none_is_never_called_anything_else() -> None:
    """A gradient that is None is written so."""
    found = record(lambda a, _: a * 2.0, 1.0, tm.Variable(2.0))

    assert texts(found, "none")[0].startswith("dy/db is None: ")
