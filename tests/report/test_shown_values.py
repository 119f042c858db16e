"""Values and gradients in the faces Variables and Gradients: the same in text and HTML, with small pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.drawing.styles import BAD
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.gradients import show_gradients as gradients
from tapemagic.report.tabs.variables import show_variables as variables
from tests.report.recordings import record, regression

RNG = np.random.default_rng(0)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)?")


def network() -> Findings:
    """A network with data, of which one source is not used."""
    data = RNG.normal(size=(30, 5))
    return record(
        lambda w, b, _unused: np.mean(np.maximum(data @ w + b, 0.0) ** 2),
        tm.Variable(RNG.normal(size=(5, 8))),
        np.zeros(8),
        1.0,
        check=True,
        data=data,
        grid=np.arange(9.0).reshape(3, 3),
        flags=np.arange(12) % 3 == 0,
    )


def broken() -> Findings:
    """A logarithm of a negative number."""
    with np.errstate(all="ignore"):
        return record(lambda a: np.sum(np.log(a) ** 2), [-1.0, 2.0], unused=np.nan)


def many() -> Findings:
    """Many targets, and many names."""
    names: dict[str, Any] = {f"k{k}": RNG.normal(size=(9, 9)) for k in range(100)}
    return record(lambda a: tuple(a * k for k in range(1, 90)), RNG.normal(size=(9, 9)), **names)


def words(html: str) -> str:
    """The words of HTML, without its pictures."""
    return re.sub(r"<[^>]*>", " ", html)


@pytest.mark.parametrize("make", [regression, network, broken, many])
def test_every_number_is_in_the_text(make: Callable[[], Findings]) -> None:
    """The HTML shows no number that the text does not have."""
    found = make()

    text, html = (
        getattr(variables, form)(found) + getattr(gradients, form)(found)
        for form in ("text", "html")
    )
    assert set(NUMBER.findall(words(html))) <= set(NUMBER.findall(text))


def test_values_and_gradients() -> None:
    """Arrays have pictures, small matrices are written out, None is None, and constants have no gradient."""
    found = network()
    text, html = variables.text(found), variables.html(found)

    assert re.search(r"c +watched +number +float64 +1\.0 +None", text)
    assert re.search(r"flags +constant +12 +bool +4 of 12 True\n", text)
    assert "[[0.0, 1.0, 2.0],\n" in text
    assert "gradient of y" in text
    assert 'alt="5×8 matrix, ' in html
    assert html.count("<img") == 6  # w, b and their gradients, data, flags
    assert "blue: negative" in html


def test_what_is_not_finite_is_red() -> None:
    """Constants, the first value on the way, and the last gradient on the way back."""
    html = variables.html(broken())

    red = re.findall(rf'<span style="{re.escape(BAD)}">([^<]*)</span>', html)
    assert ["[nan, 0.693147]", "nan", "nan"] == red


def test_without_a_target() -> None:
    """There is no column of gradients."""
    found = record(lambda a: (np.sin(a), ())[1], 1.0)

    assert "gradient" not in variables.text(found) + variables.html(found)


def test_rows_are_limited() -> None:
    """Of many names and gradients some are shown, and how many are not is said in both forms."""
    found = many()

    for shown in (variables.text(found), words(variables.html(found))):
        assert "and 130 more" in shown
        assert re.search(r"\by89\b|\by88\b", shown) is None
    for shown in (gradients.text(found), words(gradients.html(found))):
        assert "and 29 more" in shown
    assert len(variables.html(found)) + len(gradients.html(found)) < 90_000


def test_small_reports_are_small() -> None:
    """The faces of a report of ten operations."""
    found = regression()

    assert len(variables.html(found)) < 4000
    assert len(gradients.html(found)) < 2000


def test_higher_orders_of_none() -> None:
    """Where a derivative is None, those of higher order are not repeated."""
    found = record(lambda a, b: a**3 + 2 * b, 2.0, 3.0, order=3)

    text = gradients.text(found)
    assert 1 == text.count("None: ")
    assert "d²y/db² = None: it is zero, because y is linear in b near this point" in text
    assert text.endswith("Where a derivative is None, so are those of higher order.")


def test_comparisons() -> None:
    """The result stands behind each gradient, and what was compared below them."""
    found = network()

    for shown in (gradients.text(found), words(gradients.html(found))):
        assert re.search(r"matches finite differences \(relative error (<|&lt;) 1e-7\)", shown)
        assert "the recorded operations were repeated" in shown
    assert "finite differences" not in gradients.text(regression())
