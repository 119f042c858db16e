"""Questions to a recording after its report: other layouts, values and gradients in full, checks."""

from __future__ import annotations

import gc
import weakref
from ast import literal_eval
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.report import details as details_module
from tapemagic.report.details import NotKeptError
from tapemagic.report.entries import MAX_ENTRIES, MAX_PARTS, entries_of
from tapemagic.report.tabs.gradients import find_gradients
from tests.report.details import details_of, key_of


def loop(x: Any) -> Any:
    """Twelve iterations."""
    for k in range(12):
        x = np.sin(x) * 1.5 + k * 0.1
    return x


def test_a_number_in_full() -> None:
    """All digits, of the value and of its gradient."""
    found, details = details_of(lambda a: np.sin(a) ** 2, 0.1)

    shown = details.value(key_of(found, "a"))

    assert "0.1" == shown.value.number  # type: ignore[union-attr]
    assert str(2 * np.sin(0.1) * np.cos(0.1)) == shown.gradient.number  # type: ignore[union-attr]
    assert "y" == shown.goal


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.float16])
def test_other_dtypes_in_full(dtype: Any) -> None:
    """As many digits as make the same number again."""
    number = dtype(0.1)

    assert number == dtype(literal_eval(entries_of(number).number))


def test_an_array_in_full() -> None:
    """Every entry, in a table."""
    found, details = details_of(lambda a: np.sum(a**2), np.arange(6.0).reshape(2, 3))

    shown = details.value(key_of(found, "a"))

    [value], [gradient] = shown.value.parts, shown.gradient.parts  # type: ignore[union-attr]
    assert (("0.0", "1.0", "2.0"), ("3.0", "4.0", "5.0")) == value.cells
    assert (("0.0", "2.0", "4.0"), ("6.0", "8.0", "10.0")) == gradient.cells
    assert (("0", "1"), ("0", "1", "2")) == (value.rows, value.columns)


@pytest.mark.parametrize(
    "shape",
    [(0,), (1,), (10,), (11,), (1000,), (0, 3), (2, 3, 4), (2, 0, 4), (1, 1, 1, 1), (10, 100)],
)
def test_every_entry_is_there(shape: tuple[int, ...]) -> None:
    """Up to `MAX_ENTRIES` of them."""
    array = np.arange(np.prod(shape)).reshape(shape)

    found = entries_of(array)

    assert list(map(str, range(array.size))) == [
        cell for part in found.parts for row in part.cells for cell in row
    ]
    assert found.is_whole


@pytest.mark.parametrize(
    "shape", [(MAX_ENTRIES + 1,), (1000, 1000), (30, 40, 50), (3, 1000), (1000, 1, 1)]
)
def test_a_larger_array_has_its_ends(shape: tuple[int, ...]) -> None:
    """The first and the last entry, and a sign that more are between them."""
    array = np.arange(np.prod(shape)).reshape(shape)

    found = entries_of(array)

    cells = [cell for part in found.parts for row in part.cells for cell in row]
    assert not found.is_whole
    assert "0" == cells[0]
    assert len(cells) < 120
    assert str(array.size - 1) == cells[-1] or len(found.parts) == MAX_PARTS


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1 + 2j, True, 7])
def test_numbers_of_all_kinds(value: Any) -> None:
    """Each as NumPy writes it."""
    assert str(np.asarray(value)[()]) == entries_of(value).number


def test_a_masked_array() -> None:
    """Masked entries are no numbers."""
    [part] = entries_of(np.ma.masked_array([1.0, 2.0], [False, True])).parts

    assert (("1.0", "--"),) == part.cells


def test_the_gradient_of_a_larger_array_is_computed_again() -> None:
    """Reports keep only the summary of one with more than a kilobyte."""
    found, details = details_of(lambda a: np.sum(np.sin(a * 2.0)), np.arange(300.0))

    shown = details.value(key_of(found, "v1"))

    entries = [cell for row in shown.gradient.parts[0].cells for cell in row]  # type: ignore[union-attr]
    assert list(map(str, np.cos(np.arange(300.0) * 2.0))) == entries


def test_an_array_that_was_not_kept() -> None:
    """No rule reads the terms of a sum, and the program may write into an array of its own."""
    data = np.ones((400, 400))
    found, details = details_of(lambda a: np.sum(a + data), 1.0, data=data)

    shown = details.value(key_of(found, "data"))

    assert (None, None, False) == (shown.value, shown.gradient, shown.is_tracked)


def test_constants() -> None:
    """They have a value, and are not on the tape."""
    found, details = details_of(lambda a: a * 2.5, 3.0)
    [index] = [value.index for value in found.graph.values if value.role == "constant"]

    shown = details.value(found.view.keys[index])  # type: ignore[union-attr]

    assert "2.5" == shown.value.number  # type: ignore[union-attr]
    assert (None, False) == (shown.gradient, shown.is_tracked)


def test_formulas() -> None:
    """As the trace writes them; nothing for what no single operation made."""
    found, _ = details_of(lambda a, b: np.sin(a * b) + a, 2.0, 3.0)
    view = found.view
    assert view is not None

    named = {
        v.name or v.symbol or v.text: f
        for v, f in zip(found.graph.values, view.formulas, strict=True)
    }

    assert {"a": "", "b": "", "v1": "a · b", "v2": "sin(v1)", "y": "v2 + a"} == named


def test_a_variable_that_changed() -> None:
    """Each of its values has a key of its own."""
    w = tm.Variable(2.0, name="w")

    def step(a: Any) -> Any:
        y = a * w
        w.assign(5.0)
        return y + w * a

    found, details = details_of(step, 3.0, w=w)

    shown = [details.value(key_of(found, name)).value.number for name in ("w₁", "w₂")]  # type: ignore[union-attr]
    assert ["2.0", "5.0"] == shown


def test_checks() -> None:
    """Every gradient of first order is compared."""
    _, details = details_of(lambda a, b: np.sin(a) * b, 2.0, 3.0, order=2)

    outcomes = [row.check and row.check.outcome for row in details.check().rows if row.order == 1]

    assert ["agrees", "agrees"] == outcomes


def test_checks_that_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of the gradients are not compared, and say so: it is the work that counts, not the time."""
    monkeypatch.setattr(find_gradients, "MAX_WORK", 1.0)
    _, details = details_of(lambda a, b: np.sin(a) * b, 2.0, 3.0)

    checks = [row.check for row in details.check().rows if row.check]
    assert ["agrees", "not checked"] == [check.outcome for check in checks]
    assert "%%tape --check checks them all" in checks[1].text


def test_unknown_keys() -> None:
    """They are refused, whatever they are."""
    _, details = details_of(loop, 2.0)

    for key in ("", "w1", "0.7", "99.0", "-1.0", "x" * 1000):
        with pytest.raises(KeyError, match="there is no value"):
            details.value(key)


def test_nothing_to_ask() -> None:
    """No operation, no target."""
    found, details = details_of(lambda _: None, 2.0)

    assert [] == details.check().checks()
    assert found.view is not None


def test_a_large_recording_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and the first layout is there all the same."""
    monkeypatch.setattr(details_module, "MAX_KEPT", 500_000)

    found, details = details_of(lambda a: np.sum(np.sin(a)), np.ones(100_000))

    assert not details.is_kept
    assert found.view is not None
    for ask in (details.view, details.check, lambda: details.value("w0")):
        with pytest.raises(NotKeptError, match=r"too large to explore \(2 MB"):
            ask()


def test_closing_lets_go_of_the_arrays() -> None:
    """What the findings keep holds no array of the recording."""
    arrays = [np.ones(1000)]
    gone = weakref.ref(arrays[0])
    found, details = details_of(lambda a: np.sum(a * arrays[0]), np.ones(1000), array=arrays[0])
    arrays.clear()

    details.close("closed")
    gc.collect()

    assert gone() is None
    assert found.graph.values
