"""Numbers as people read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapemagic.engine.recording import Absent
from tapemagic.explain.formatting import (
    format_entries,
    format_number,
    format_shape,
    format_value,
    numbered,
    printable,
    relation,
    significant_digits,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1.0"),
        (-0.0, "0.0"),
        (2 / 3, "0.666667"),
        (123456.0, "123456.0"),
        (1234567.0, "1.23457e+06"),
        (1e-9, "1e-09"),
        (np.inf, "inf"),
        (-np.inf, "-inf"),
        (np.nan, "nan"),
        (7, "7"),
        (10**20, "100000000000000000000"),
        (True, "True"),
        (np.int8(7), "7"),
        (np.bool_(False), "False"),
        (np.float32(0.1), "0.1"),
        (np.float16(2), "2.0"),
        (1 + 2j, "1.0+2.0j"),
        (complex(1.5, -0.0), "1.5-0.0j"),
        (np.complex64(-2j), "0.0-2.0j"),
    ],
)
def test_number(value: Any, expected: str) -> None:
    """Six significant digits, and a point in a real number."""
    assert expected == format_number(value)


@pytest.mark.parametrize(
    ("value", "expected", "gradient"),
    [
        (np.float64(2), "2.0", "2.0"),
        (np.array(2.0), "2.0", "2.0"),
        (np.array([1.0, 2.5]), "[1.0, 2.5]", "[1.0, 2.5]"),
        (np.arange(6.0).reshape(3, 2), "[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]", None),
        (np.arange(7.0), "7 elements, 0.0 to 6.0", "0.0 to 6.0"),
        (np.arange(8).reshape(2, 4), "2×4, 0 to 7", "0 to 7"),
        (np.full((3, 3), 2.0), "3×3, all 2.0", "all 2.0"),
        (np.full(9, np.nan), "9 elements, all nan", "all nan"),
        (np.where(np.arange(9) < 2, np.nan, np.arange(9.0)), "9 elements, 2.0 to 8.0, 2 nan", "2.0 to 8.0, 2 nan"),
        (np.array([np.nan, np.inf] + [1.0] * 7), "9 elements, 1.0 to inf, 1 nan", "1.0 to inf, 1 nan"),
        (np.ones(9, complex), "9 elements", ""),
        (np.ones(9, bool), "9 elements", ""),
        (np.ones((0, 3)), "empty 0×3", "[]"),
        (Absent((200,), np.dtype(float)), "200 elements", ""),
        (3, "3", "3"),
    ],
)  # fmt: skip
def test_brief(value: Any, expected: str, gradient: str | None) -> None:
    """A small array whole, of a larger one the shape and the range; a gradient without the shape."""
    assert expected == format_value(value)
    assert (expected if gradient is None else gradient) == format_entries(value)


def test_dimensions() -> None:
    """Shapes as they are said."""
    assert ["number", "3", "3×2"] == list(map(format_shape, [(), (3,), (3, 2)]))


def test_printable() -> None:
    """One line, whatever is in it."""
    assert "a b c é ×" == printable("a\nb\x00c é\udc80×".replace("é\udc80", "é\udc80"))


@pytest.mark.parametrize(
    ("expression", "result", "sign"),
    [
        ("2.5 · (-0.5)", "-1.25", "="),
        ("2.0³", "8.0", "="),
        ("2.0⁻²", "0.25", "="),
        ("-(2.0)²", "-4.0", "="),
        ("−3.0 + 1.0", "-2.0", "="),
        ("sin(1.0) · 2.0", "1.68294", "="),
        ("cos(2.0)", "-0.416147", "="),
        ("1e-09 · 2.0", "2e-09", "="),
        ("0.1 + 0.2", "0.3", "="),
        # Three of a third are 1, but not three of 0.333333.
        ("0.333333 · 3.0", "1.0", "≈"),
        ("0.271544²", "0.0737364", "≈"),
        ("exp(0.693147)", "2.0", "="),
        ("exp(0.69315)", "2.0", "≈"),
        ("sin(3.14159)", "0.0", "≈"),
        ("10.6931 - (-0.958924)", "11.6521", "≈"),
        ("1.0 · 2.0", "-2.0", "≈"),
        # What no calculator computes is written with =: symbols, shapes, words.
        ("a · b", "6.0", "="),
        ("2.0 · b", "6.0", "="),
        ("2.0 · [3 elements]", "6.0", "="),
        ("arctan(1.0)", "0.5", "="),
        ("1.0 if x > 0, else 0", "2.0", "="),
        ("(2.0", "6.0", "="),
        ("0.5 · 2.0", "[1.0, 1.0]", "="),
        ("0.5 · 2.0", "nan", "="),
        ("2.0 / 0.0", "6.0", "="),
        ("ln(-1.0)", "6.0", "="),
        ("exp(1000.0)", "6.0", "="),
        ("10.0^(10.0", "6.0", "="),
        (f"{'(' * 500}1.0{')' * 500}", "2.0", "="),
        ("1.0.real", "2.0", "="),
    ],
)
def test_relation(expression: str, result: str, sign: str) -> None:
    """A calculator gets the result from the numbers as written, or it says ≈."""
    assert sign == relation(expression, result)


def test_relation_of_fewer_digits() -> None:
    """As many digits count as are written."""
    assert ["≈", "="] == [relation("2.0 / 3.0", text) for text in ("0.667", "0.666667")]
    with significant_digits(3):
        assert "=" == relation("2.0 / 3.0", "0.667")
        assert "≈" == relation("2.0 / 3.0", "0.66")


def test_numbered() -> None:
    """The first number that is free."""
    assert "x₁" == numbered("x", {"x"})
    assert "x₁₁" == numbered("x", {"x", *(f"x{k}" for k in "₁₂₃₄₅₆₇₈₉"), "x₁₀"})
