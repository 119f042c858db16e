"""The tab Paths: the ways from each source to the target, and what they add to the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tape.observer import Observer
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.paths import find_paths as paths
from tapemagic.report.tabs.paths import show_paths
from tapemagic.report.tabs.paths.find_paths import GradientPaths, PathFindings
from tests.report.recordings import findings_of, record, with_contents
from tests.report.test_html import NASTY, Reader, page


def found(function: Any, *inputs: Any) -> PathFindings:
    """The paths of ``y = function(a, b, ...)``."""
    tab: PathFindings | None = record(function, *inputs).tabs["paths"]
    assert tab is not None
    return tab


def ways(gradient: GradientPaths) -> list[str]:
    """The paths of a gradient, by the results on them."""
    return [" ".join(step.result for step in path.steps) for path in gradient.paths]


def test_a_product() -> None:
    """The largest contribution comes first, and all add up to the gradient."""
    findings = record(lambda a: a * np.sin(a), 1.0)

    assert show_paths.text(findings).splitlines() == [
        "2 paths from a to y, which add up to dy/da = 1.38177",
        "  a → multiply → y             0.841471                   61 %",
        "  a → sin → v1 → multiply → y  0.540302 · 1.0 = 0.540302  39 %",
    ]


def test_an_operation_that_reads_a_value_twice() -> None:
    """Its paths are told apart by the input that they go through."""
    [one] = found(lambda a: np.sin(a * a), 2.0).gradients

    assert ["multiply (input 1)", "multiply (input 2)"] == [
        path.steps[0].operation for path in one.paths
    ]
    assert {"sin"} == {path.steps[1].operation for path in one.paths}


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a * b * np.sin(a) - np.exp(-b),
        lambda a, b: (a * b + a) * (a * b),
        lambda a, b: np.maximum(a, b) * a + b,
        lambda a, b: np.sum(np.modf(a * 1.7) * np.stack([a, b])),  # type: ignore[operator]
        lambda a, b: (a + 2j * b) * np.conj(a * 1j + b),
    ],
)
def test_the_sum_is_the_gradient(function: Any) -> None:
    """The contributions of all paths, also through operations with several results and complex numbers."""
    findings = record(function, 0.7, -1.3)
    tab = findings.tabs["paths"]

    gradients = {entry.source: float(entry.text) for entry in findings.derivatives}
    for one in tab.gradients:
        total = sum(float(path.contribution) for path in one.paths) + float(one.rest or 0)
        assert total == pytest.approx(gradients[one.source], rel=1e-5)
        assert one.count == len(one.paths)


def test_arrays() -> None:
    """The size of what a path adds is a norm, and its share is one of the sum of the norms."""
    x = np.arange(6.0).reshape(2, 3)
    [one] = found(lambda a: np.mean((x @ a) ** 2) + 0.1 * np.sum(a**2), [1.0, 2.0, -1.0]).gradients

    assert one.is_norm
    assert ["[2 by 3]", "[2 by 2]", "[1 by 2]", "1.0"] == [s.slope for s in one.paths[0].steps]
    assert ["42.4264", "0.489898"] == [path.contribution for path in one.paths]
    shares = [path.share for path in one.paths]
    assert shares == pytest.approx([0.98858, 0.01142], abs=1e-4)
    assert "norm of what it adds" in show_paths.html(record(lambda a: np.sum(a * a), np.ones(3)))


def test_broadcasting() -> None:
    """A path through a number that becomes an array adds a number."""
    [one] = found(lambda a: np.sum(a * np.arange(3.0)) + a, 2.0).gradients

    assert ["3.0", "1.0"] == [path.contribution for path in one.paths]


def test_signs() -> None:
    """Contributions that cancel are said to do so, and shares are those of their sizes."""
    findings = record(lambda a: a * a - 3 * a, 2.0)
    [one] = findings.tabs["paths"].gradients

    assert one.is_signed
    assert "their signs differ" in show_paths.text(findings)
    assert "share of the sizes" in show_paths.html(findings)
    assert [0.3, 0.3, 0.4] == pytest.approx(sorted(path.share or 0 for path in one.paths), abs=0.05)


def test_one_path_is_no_tab() -> None:
    """The chain rule alone stands in the trace; beside a source with several paths it is shown."""
    assert record(lambda a: np.sin(np.exp(a)), 0.5).tabs["paths"] is None
    assert record(lambda a: a, 0.5).tabs["paths"] is None

    both = found(lambda a, b: a * a + b, 1.0, 2.0)

    assert [2, 1] == [one.count for one in both.gradients]
    assert "1 path from b to y: dy/db = 1.0" == show_paths.title(both.gradients[1])


def doubling(times: int) -> Any:
    """A function with two to the power of so many paths."""

    def compute(a: Any) -> Any:
        for _ in range(times):
            a = a + a
        return a

    return compute


def test_many_paths_are_no_tab() -> None:
    """Those of a loop are not listed; beside a source with few paths, there is their number."""
    assert record(doubling(3), 1.0).tabs["paths"] is not None
    assert record(doubling(4), 1.0).tabs["paths"] is None
    assert record(doubling(150), 1.0).tabs["paths"] is None

    both = found(lambda a, b: doubling(40)(a) + b * b, 1.0, 2.0)

    words = "about 10^12 paths from a to y, too many to list: %why y a adds them up by line"
    assert words == show_paths.title(both.gradients[0])
    assert ["y", "y"] == [way.split()[-1] for way in ways(both.gradients[1])]


def test_the_smaller_ones_are_counted() -> None:
    """At most so many paths are written out; the others are counted and added up."""
    findings = record(doubling(3), 1.0)
    [one] = findings.tabs["paths"].gradients

    assert (8, paths.MAX_SHOWN, "2.0") == (one.count, len(one.paths), one.rest)
    assert show_paths.text(findings).splitlines()[-1].split() == [
        "…",
        "and",
        "2",
        "smaller",
        "paths,",
        "together",
        "2.0",
    ]
    assert "2 smaller paths" in Reader(show_paths.html(findings)).text


def test_more_gradients_are_counted() -> None:
    """At most so many gradients are shown."""
    tab = found(lambda *x: sum(a * a for a in x), *map(float, range(1, 9)))

    assert (paths.MAX_GRADIENTS, 2) == (len(tab.gradients), tab.more)


def test_the_middle_of_a_long_path_is_counted() -> None:
    """The operations at its ends are written out."""

    def compute(a: Any) -> Any:
        b = a
        for _ in range(20):
            b = np.sin(b)
        return a * b

    [one] = found(compute, 0.5).gradients

    assert "15 more operations" == one.paths[1].steps[paths.MAX_ENDS].operation
    assert 2 * paths.MAX_ENDS + 1 == len(one.paths[1].steps)


def test_little_work() -> None:
    """Neither long recordings nor large arrays are followed; and each operation is looked at once for all sources."""
    assert (
        record(lambda a: doubling(3)(doubling(paths.MAX_OPERATIONS)(a)), 1.0).tabs["paths"] is None
    )
    assert record(lambda a: np.sum(a * a), np.ones(paths.MAX_WORK)).tabs["paths"] is None


def test_rules_that_fail() -> None:
    """Without a gradient there are no paths, and the report is there."""

    @tm.custom_gradient
    def broken(x: Any) -> Any:
        def rule(_g: Any) -> Any:
            raise ValueError("no")

        return x * 1.0, rule

    assert record(lambda a: broken(a) * a, 2.0).tabs["paths"] is None


def test_single_precision() -> None:
    """Gradients pass in the dtype of the values."""
    tab = found(lambda a, b: a * b + a, np.float32(2.0), np.float32(3.0))

    assert [["v1 y", "y"], ["v1 y"]] == [ways(one) for one in tab.gradients]


def test_what_came_before_a_value_was_watched() -> None:
    """It is no path."""
    a, b = tm.constant(2.0), tm.constant(3.0)
    with Observer() as observer:
        observer.watch(b)
        early = a * b
        observer.watch(a)
        y = early + a * a

    [first, second] = (
        findings_of(observer, [("y", y)], [("a", a), ("b", b)]).tabs["paths"].gradients
    )

    assert (2, 1) == (first.count, second.count)


def test_dask_arrays_have_no_paths() -> None:
    """Nothing is computed for the tab."""
    array = pytest.importorskip("dask.array")

    assert record(lambda a: np.sum(a * a), array.ones(3)).tabs["paths"] is None


@pytest.mark.parametrize("name", NASTY)
def test_escaped(name: str) -> None:
    """Names are text, and nothing else."""
    findings = record(lambda a: a * a, 2.0)
    tab = findings.tabs["paths"]
    [one] = tab.gradients
    hostile = GradientPaths(name, name, name, 2, one.paths)
    read = page(with_contents(findings, paths=PathFindings((hostile,))))

    assert {tag for tag, _ in page(findings).tags} == {tag for tag, _ in read.tags}


def test_it_is_a_tab() -> None:
    """In the static page it stands behind the gradients."""
    findings: Findings = record(lambda a: a * a, 2.0)

    assert -1 < (words := page(findings).text).find("Gradients") < words.find("Paths")
