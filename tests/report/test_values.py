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
    printable,
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
