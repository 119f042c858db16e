"""The paths from a source to a target: which ones count, what stands along them, and how long they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.explain.chain_rule import Path, format_count, paths
from tapemagic.explain.snapshot import snapshot_of


def found(tape: tm.GradientTape, y: Any, x: Any, **names: Any) -> tuple[tuple[Path, ...], int]:
    """The paths of a recording, with names for values."""
    called = {value._id: name for name, value in {"y": y, "x": x, **names}.items()}
    return paths(snapshot_of(tape), y, x, called)


@tm.custom_gradient
def first_only(a: Any, b: Any) -> Any:
    """A product whose gradient goes to the first factor alone."""
    return a * b, lambda g: (g * b, None)


W = tm.Variable(1.5)

FLAT: dict[str, Callable[[Any], Any]] = {
    "floor": lambda x: x - np.floor(x),
    "round": lambda x: x * np.round(x),
    "zeros_like": lambda x: x + np.zeros_like(x),
    "ones_like": lambda x: x * np.ones_like(x),
    "ceil": lambda x: x * np.ceil(x),
    "trunc": lambda x: x * np.trunc(x),
    "fix": lambda x: x * np.fix(x),
    "rint": lambda x: x * np.rint(x),
    "around": lambda x: x * np.around(x, 1),
    "floor_divide": lambda x: x * np.floor_divide(x, 1.5),
    "//": lambda x: x * (x // W),
    "divmod": lambda x: x * divmod(x, W)[0],
    "stop_gradient": lambda x: x * tm.stop_gradient(x),
    "custom_gradient": lambda x: first_only(x, x),
}


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("value", [2.3, [2.3, -0.7]])
def test_what_has_no_derivative_is_no_path(name: str, value: Any) -> None:
    """Of the two ways to the target only the one counts on which gradients pass."""
    x = tm.Variable(value)
    with tm.GradientTape(persistent=True) as tape:
        y = FLAT[name](x)
    gradient = tape.gradient(y, x)
    assert gradient is not None
    [path], count = found(tape, y, x)

    assert count == len(path.steps) == 1
    if path.product is not None:
        np.testing.assert_allclose(path.product, gradient.numpy())


def test_a_gradient_of_several_results_that_is_none() -> None:
    """A function of one's own is asked with a gradient for each of its results."""

    @tm.custom_gradient
    def both(a: Any, b: Any) -> Any:
        return (a * 2, a * b), lambda g, h: (2 * g + b * h, None)

    x = tm.Variable(3.0)
    with tm.GradientTape() as tape:
        p, q = both(x, x)
        y = p * q
    written, count = found(tape, y, x)

    assert count == 2
    assert [path.product for path in written] == [2 * 9.0, 3 * 6.0]
    assert str(written[0]) == "x → both → multiply = y:  9.0 · 2.0 = 18.0"


def test_nothing_passes() -> None:
    """Where no path is left, there is none."""
    x, w = tm.Variable(2.0), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = first_only(w, x)
    assert found(tape, y, x) == ((), 0)


def test_a_use_before_it_was_watched() -> None:
    """What was computed before the tape watched the source is no path, as in the sweep."""
    x, w = tm.constant(2.0), tm.Variable(3.0)
    with tm.GradientTape(persistent=True) as tape:
        h = x * w
        tape.watch(x)
        y = h * x
    [path], count = found(tape, y, x)

    assert count == 1
    assert path.product == tape.gradient(y, x).numpy() == 6.0


def test_asking_is_not_recorded() -> None:
    """A tape that still records hears nothing of the pullbacks that are asked."""
    x = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        y = first_only(x, x)
        before = len(tape._records)
        found(tape, y, x)
        assert len(tape._records) == before


# -- complex numbers ------------------------------------------------------------------------------


COMPLEX: dict[str, Callable[[Any, Any], Any]] = {
    "abs": lambda z, _: np.abs(z * z),
    "twice": lambda z, _: np.abs(z) ** 2 + np.real(z * (3 - 1j)),
    "imag": lambda z, _: np.imag(np.exp(z)),
    "angle": lambda z, _: np.angle(z * 1j) * 2,
    "conj": lambda z, _: np.real(np.conj(z * (2 + 1j)) * (1 - 3j)),
    "real source": lambda z, x: np.real(x * z * (1 + 1j)) + x,
    "real between": lambda z, _: np.imag(np.exp(np.abs(z) * (1 + 2j))),
    "complex target": lambda z, x: z * z * x + z,
    "several": lambda z, _: np.abs(z) * np.sin(z),
}


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("of", ["z", "x"])
def test_products_add_up_to_the_gradient(name: str, of: str) -> None:
    """Along complex values, too, in the tape's own convention."""
    z, x = tm.Variable(1 + 2j), tm.Variable(0.7)
    with tm.GradientTape(persistent=True) as tape:
        y = COMPLEX[name](z, x)
    source = z if of == "z" else x
    gradient = tape.gradient(y, source)
    written, count = found(tape, y, source)

    if gradient is None:
        assert count == 0
    else:
        products = [path.product for path in written if path.product is not None]
        assert len(products) == count
        np.testing.assert_allclose(sum(products), gradient.numpy())


def test_complex_slopes_are_written() -> None:
    """In brackets, conjugated; the conjugate itself is no number, and a real source takes the real part."""
    z, x = tm.Variable(1 + 2j), tm.Variable(2.0)
    with tm.GradientTape(persistent=True) as tape:
        absolute = np.abs(z * z)
        turned = np.real(np.conj(z) * 1j)
        real = np.real(x * 3 * (1 + 2j))

    written, _ = found(tape, absolute, z)
    assert str(written[0]) == "x → multiply → absolute = y:  (-0.6+0.8j) · (1.0-2.0j) = 1.0+2.0j"
    [path], _ = found(tape, turned, z)
    assert str(path).endswith("y:  1.0 · (0.0-1.0j) · conj = 0.0+1.0j")
    [path], _ = found(tape, real, x)
    assert str(path).endswith("y:  1.0 · (1.0-2.0j) · 3.0, its real part = 3.0")


# -- length ---------------------------------------------------------------------------------------


def lines(path: Path) -> list[str]:
    """A path as it is printed, behind two spaces."""
    return f"  {path}".splitlines()


def test_a_long_path() -> None:
    """The middle is left out, and the product is that of all steps."""
    x = tm.Variable(np.float64(2.0))
    with tm.GradientTape(persistent=True) as tape:
        y = x
        for _ in range(2500):
            y = y * 0.999 + 0.001
    [path], count = found(tape, y, x)

    assert count == 1
    assert path.product is not None
    np.testing.assert_allclose(path.product, 0.999**2500, rtol=1e-9)
    assert len(path.steps) + path.hidden == 5000
    assert len(lines(path)) <= 3
    assert max(map(len, lines(path))) <= 88
    text = " ".join(str(path).split())
    assert text.startswith("x → multiply → add → ")
    assert " · … · " in text
    assert text.endswith(" · 0.999 = 0.0819824")
    shown = text[: text.index(":")].count("multiply") + text[: text.index(":")].count("add")
    assert f"→ … {5000 - shown:,} more operations … → " in text


def test_a_path_that_fits_is_whole() -> None:
    """Nothing is left out where there is room."""
    x = tm.Variable(1.0)
    with tm.GradientTape() as tape:
        y: Any = x
        for _ in range(12):
            y = np.sin(y)
    [path], _ = found(tape, y, x)

    assert "…" not in str(path)
    assert str(path).count("sin") == 12
    assert len(lines(path)) == 3


def test_a_recurrent_network() -> None:
    """Shapes are not torn apart by the ends of lines."""
    w: Any = tm.Variable(np.eye(3) / 2)
    with tm.GradientTape() as tape:
        h = np.ones(3)
        for _ in range(12):
            h = np.tanh(w @ h)
        y = np.sum(h)
    written, count = found(tape, y, w)

    assert (len(written), count) == (12, 12)
    for path in written:
        assert len(lines(path)) <= 3
        assert all(line.count("[") == line.count("]") for line in lines(path))
        assert path.product is None


def test_very_many_paths() -> None:
    """So many that Python would refuse to write their number down."""
    x = tm.Variable(1.0)
    with tm.GradientTape() as tape:
        y = x
        for _ in range(16_000):
            y = 0.5 * (y + y)
    written, count = found(tape, y, x)

    assert format_count(count) == "about 10^4816"
    assert written == ()


def test_counted() -> None:
    """Numbers that one can read are written as they are."""
    assert [format_count(n) for n in (1, 1234, 10**9 - 1, 10**12)] == [
        "1",
        "1,234",
        "999,999,999",
        "about 10^12",
    ]
