"""A report keeps a summary of an array: numbers about it, and the cells of a small picture."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.recording import Absent
from tapemagic.explain.formatting import format_entries, format_value
from tapemagic.report.cells import block_means
from tapemagic.report.summary import shared_summaries, summarise

RNG = np.random.default_rng(0)
BIG = RNG.normal(size=(1000, 1000))

VALUES: list[Any] = [
    3,
    2.5,
    True,
    1 - 2j,
    10**400,
    np.float32(0.1),
    np.array(7.0),
    np.array([]),
    np.zeros((0, 3)),
    np.zeros((3, 0, 2)),
    np.array([1.0, np.nan]),
    np.arange(7),
    np.arange(9.0).reshape(3, 3),
    np.full(9, np.nan),
    np.full((5, 5), np.inf),
    np.array([np.inf, -np.inf, 1.0, 2.0, 3.0, 4.0, 5.0]),
    np.arange(12) % 2 == 0,
    RNG.normal(size=(9, 9)) * 1j,
    np.eye(9).view(np.matrix),
    np.ma.masked_array(np.arange(9.0), [True] + [False] * 8),
    np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False]),
    np.arange(9).astype(object),
    np.array(["a", "b"] * 5),
    RNG.normal(size=(3, 2, 9, 9)),
    RNG.integers(0, 255, (2, 20, 30, 3), dtype=np.uint8),
    RNG.normal(size=(64, 128)).astype(np.float16),
    BIG.T[::2],
    Absent((4, 5), np.dtype(float)),
]


@pytest.mark.parametrize(
    "value", VALUES, ids=lambda value: f"{type(value).__name__}{np.shape(value)}"
)
def test_every_value_has_a_summary(value: Any) -> None:
    """It says the same in words as before, is small, and is summarised once."""
    found = summarise(value)

    assert format_value(value) == found.text
    assert format_entries(value) == found.entries
    assert np.shape(value) == found.shape
    assert found is summarise(found)
    assert len(pickle.dumps(found)) < 8000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5.0, "5.0"),
        ([1.0, 2.0, 3.0], "[1.0, 2.0, 3.0]"),
        (np.arange(9.0).reshape(3, 3), "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]"),
        (np.arange(7), "7 elements, 0 to 6, mean 3.0"),
        (np.full((5, 5), 2.0), "5×5, all 2.0"),
        (1e6 + np.arange(9.0) / 9, "9 elements, all about 1e+06"),
        (np.array([np.nan, np.inf, -np.inf, 1.0, 2.0, 4.0, 5.0]), "7 elements, 1.0 to 5.0, mean 3.0, 1 nan, 2 inf"),
        (np.full((5, 5), np.nan), "5×5, all nan"),
        (np.full((5, 5), np.inf), "5×5, 25 inf"),
        (np.arange(12) % 3 == 0, "12 elements, 4 of 12 True"),
        (np.full((5, 5), 3 + 4j), "5×5, absolute values all 5.0"),
        (np.zeros((0, 3)), "empty 0×3"),
    ],
)  # fmt: skip
def test_in_words(value: Any, expected: str) -> None:
    """Range and mean are those of the finite entries; the others are counted."""
    assert expected == summarise(np.asarray(value)).described


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int16, np.complex128])
def test_statistics(dtype: Any) -> None:
    """They are those that NumPy computes of the whole array in double precision."""
    array = (BIG[:300] * 50).astype(dtype)
    wide = np.abs(array) if array.dtype.kind == "c" else array.astype(float)

    found = summarise(array)

    assert (wide.min(), wide.max()) == (found.low, found.high)
    assert wide.mean() == pytest.approx(found.mean, rel=1e-9)
    assert np.linalg.norm(wide) == pytest.approx(found.norm)


@pytest.mark.parametrize(
    ("array", "mean", "norm"),
    [
        (np.full(100, 1e308), 1e308, 1e308 * 10),
        (np.full(100, 1e-200), 1e-200, 1e-199),
        (np.array([1e308, -1e308] * 8), 0.0, 4e308),
        (np.full(100, 5e-324), 5e-324, 5e-323),
        (np.array([0.1, -0.1] * 99 + [1e-18]), 0.0, np.sqrt(1.98)),
        (np.full(64, 300, np.float16), 300.0, 2400.0),
        (np.full(16, 2e38, np.float32), 2e38, 8e38),
    ],
)
def test_no_overflow(array: Any, mean: float, norm: float) -> None:
    """Neither sums nor squares overflow or vanish; a mean of rounding errors is zero."""
    found = summarise(array)

    assert mean == pytest.approx(found.mean, rel=1e-6, abs=0.0)
    assert norm == pytest.approx(found.norm, rel=1e-6)


def test_nothing_is_known_of_what_was_not_kept() -> None:
    """Of a value that the tape let go, and of masked numbers, there is no picture and no range."""
    for value in (Absent((4, 5), np.dtype(float)), np.eye(5).view(np.ma.MaskedArray)):
        found = summarise(value)

        assert (None, None, 0, ()) == (found.low, found.norm, found.nan, found.cells)


@pytest.mark.parametrize(
    ("shape", "kind", "cells", "part"),
    [
        ((200,), "vector", (1, 40), ""),
        ((784, 1), "vector", (1, 47), ""),
        ((64, 128), "matrix", (16, 16), ""),
        ((5, 9), "matrix", (5, 9), ""),
        ((1, 5, 9), "matrix", (5, 9), ""),
        ((32, 8, 5, 5), "matrix", (5, 5), "[0, 0] of 32×8"),
        ((28, 28, 3), "matrix", (14, 14), "[:, :, 0] of 28×28×3"),
    ],
)
def test_cells(shape: tuple[int, ...], kind: str, cells: tuple[int, int], part: str) -> None:
    """A vector has up to 48 points, a matrix up to 16×16 cells; of more axes the last two are shown."""
    found = summarise(RNG.normal(size=shape))

    assert kind == found.kind
    assert cells == np.shape(found.cells)
    assert part == found.part


def test_means_of_blocks() -> None:
    """A cell is the mean of its block; one with a nan is nan, one with an infinity infinite."""
    array = BIG[:70, :33].copy()
    array[0, 0], array[69, 32] = np.nan, np.inf

    cells = block_means(array, (16, 16))

    assert (14, 11) == cells.shape
    assert math.isnan(cells[0, 0])
    assert np.inf == cells[-1, -1]
    np.testing.assert_allclose(cells[3, 2], array[15:20, 6:9].mean())


@pytest.mark.parametrize(
    ("array", "shape", "first", "part"),
    [
        (np.full((8, 9, 3), (1.0, 0.0, 0.5)), (8, 9), "#ff0080", ""),
        (np.full((64, 64, 1), 51, np.uint8), (22, 22), "#333333", ""),
        (np.zeros((5, 8, 8, 4), np.float32), (8, 8), "#ffffff", "[0] of 5"),
    ],
)
def test_images(array: Any, shape: tuple[int, int], first: str, part: str) -> None:
    """Bytes, or numbers from 0 to 1, in rows, columns and colours."""
    found = summarise(array)

    assert ("image", part, ()) == (found.kind, found.part, found.cells)
    assert shape == (len(found.colours), len(found.colours[0]))
    assert first == found.colours[0][0]


@pytest.mark.parametrize(
    "array", [np.full((8, 9, 3), 1.5), np.full((8, 9, 3), np.nan), np.ones((7, 9, 3))]
)
def test_no_images(array: Any) -> None:
    """Other numbers, and smaller pictures, are no images."""
    assert summarise(array).kind == "matrix"


def test_the_array_is_not_written_to() -> None:
    """Neither the values nor the object change."""
    array = np.array(BIG)
    array.flags.writeable = False

    summarise(array)
    summarise(tm.constant(array).numpy())

    assert np.array_equal(array, BIG)


def test_shared_summaries() -> None:
    """Inside the block an array is summarised once, outside of it each time; another array never has its summary."""
    array = np.arange(20.0)
    with shared_summaries():
        assert summarise(array) is summarise(array)
        assert all("all 1.0" not in summarise(np.arange(20.0) + k).text for k in range(100))
    assert summarise(array) is not summarise(array)


def test_coarser() -> None:
    """A smaller picture has fewer cells, of the same mean, and all else is the same."""
    found = summarise(np.arange(256.0).reshape(16, 16))

    small = found.coarser(4, 8)

    assert (4, 8) == np.shape(small.cells)
    assert 127.5 == np.mean(small.cells)
    assert found.statistics == small.statistics
    assert found is found.coarser(16, 16)
