"""What is found of a recording holds no large array."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tests.report.recordings import record

pytestmark = pytest.mark.thorough


def test_a_million_elements() -> None:
    """With arrays of 10⁶ elements, of all kinds, everything that is found takes less than 120 kB."""
    big = np.linspace(-1.0, 1.0, 10**6)
    image, square, whole = np.full((1000, 400, 3), 0.5), big.reshape(1000, 1000), np.arange(10**6)

    def compute(w: Any, b: Any) -> Any:
        h = np.tanh(square * w)
        for _ in range(5):
            h = h * h + b
        return np.sum(h) + np.sum(image * b[0, 0])

    found = record(
        compute,
        tm.Variable(square.copy()),
        np.ones((1000, 1000)),
        order=1,
        big=big,
        image=image,
        whole=whole,
        square=square,
        wave=np.exp(1j * big),
    )

    assert len(pickle.dumps(found)) < 120_000
