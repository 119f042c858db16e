"""The size of what a notebook stores of a report, without the state of its widget."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.report import limits
from tapemagic.report.bundle import TapeReport
from tapemagic.report.findings import Findings
from tests.report.recordings import chain, record

pytestmark = pytest.mark.thorough

LONG = "<&'\"é" * 2_000


def stored(found: Findings, value: Any = None) -> dict[str, int]:
    """The bytes of each kind that a notebook stores of a report."""
    report = TapeReport(found, value)
    bundle = report._repr_mimebundle_()
    report.close()
    return {kind: len(data.encode()) for kind, data in bundle.items() if isinstance(data, str)}


def ten(x: Any) -> Any:
    """Ten operations on numbers."""
    a = np.sin(x)
    b = a * x
    d = np.exp(b) + x**2
    f = np.log(d) * b
    h = np.tanh(f) + d
    return h * h


def network(w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    """The loss of a network with one hidden layer: eight operations on arrays."""
    data, wanted = np.linspace(-1, 1, 128).reshape(32, 4), np.linspace(0, 1, 32)[:, None]
    return np.mean((np.tanh(data @ w1 + b1) @ w2 + b2 - wanted) ** 2)


def file_size(found: Findings) -> int:
    """The bytes of a report in a notebook file, in which quotation marks and backslashes take two."""
    report = TapeReport(found)
    bundle = report._repr_mimebundle_()
    report.close()
    return len(json.dumps({kind: data for kind, data in bundle.items() if isinstance(data, str)}))


def test_ten_operations() -> None:
    """All of it together is under 25 kB, with some to spare for names."""
    found = record(ten, 2.0)

    assert found.operations == 10
    assert file_size(found) < 24_000


def test_a_network() -> None:
    """Pictures of arrays are small as well."""
    weights = [
        np.sin(np.arange(64.0)).reshape(4, 16),
        np.zeros(16),
        np.cos(np.arange(16.0))[:, None],
        np.zeros(1),
    ]

    assert file_size(record(network, *weights)) < 45_000


def many_targets(*sources: Any) -> list[Any]:
    """Ten results of all sources."""
    total = sum(sources)
    return [total * i for i in range(1, 11)]


def hundred_variables() -> Findings:
    """A function of Variables with names as long as they are nasty."""
    variables = [tm.Variable(float(i), name=f"{LONG}{i}") for i in range(100)]
    return record(lambda *_: sum(v * v for v in variables), *variables[:8])


def loop(x: Any) -> Any:
    """Ten thousand operations."""
    for _ in range(5_000):
        x = np.sin(x) * 1.01
    return x


HUGE = {
    "chain": lambda: chain(10_000),
    "loop": lambda: record(loop, 0.5),
    "third order": lambda: record(ten, 1.5, order=3),
    "targets": lambda: record(many_targets, *np.arange(1.0, 9.0)),
    "variables": hundred_variables,
    "names": lambda: record(ten, 1.5, **{LONG: 2.0, f"{LONG}2": np.ones((30, 30))}),
    "matrices": lambda: record(lambda a: np.outer(a, a), np.linspace(-1, 1, 50), matrices=("jacobian", "hessian")),
}  # fmt: skip


@pytest.mark.parametrize("name", HUGE)
def test_any_report(name: str) -> None:
    """Whatever was recorded, it is under 150 kB."""
    sizes = stored(HUGE[name](), LONG)

    assert sum(sizes.values()) < 150_000, sizes


def test_what_is_left_out_is_named() -> None:
    """The least important part goes first, and a sentence stands in its place."""
    parts = {"Variables": "v" * 10, "Trace": "t" * 50, "Lines": "l" * 20}

    kept = limits.fits(parts, 60, ("Lines", "Trace", "Variables"))

    assert ["Variables", "Trace"] == kept
    assert "Lines: omitted, because" in limits.omission_note("Lines")
    assert ["Variables"] == limits.fits(parts, 10, ("Lines", "Trace", "Variables"))
    assert [] == limits.fits(parts, 9, ("Lines", "Trace", "Variables"))


def test_a_small_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the page, the text and the LaTeX alike."""
    found = chain(30)
    for name in ("PAGE", "WORDS", "PAPER"):
        monkeypatch.setattr(limits, name, limits.HEADLINE + 1_500)

    bundle = TapeReport(found)._repr_mimebundle_()

    for kind in ("text/plain", "text/html", "text/latex"):
        assert "omitted, because the report would be too large" in bundle[kind]
        assert "%%tape: 30 operations," in bundle[kind].replace("\\%", "%")
