"""Cases of the rule table on Dask arrays, examined and explained under a scheduler that never computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import tapemagic as tm
from tapemagic.drawing.dot import dot
from tapemagic.drawing.svg import Drawing
from tapemagic.engine.tape.observer import Observer
from tapemagic.report import html
from tapemagic.report.analysis import analyze
from tapemagic.report.request import ReportRequest
from tapemagic.report.text import text
from tests.lazy.lazy_cases import REFUSALS, quiet, raising, rows
from tests.rules import harness
from tests.shares import each

CASES = list(harness.collect("CASES").items())


def lazy_inputs(entry: harness.Case) -> list[Any]:
    """The inputs as lazy tensors; whole numbers and truth values as they are."""
    arrays = map(np.asarray, entry.inputs)
    return [
        tm.constant(da.from_array(x, chunks=rows(x.shape))) if x.dtype.kind in "fc" else x
        for x in arrays
    ]


def show(entry: harness.Case, order: int) -> Sequence[Any]:
    """Show all that is found of a case, and explain its gradients; the rows of its gradients."""
    inputs = lazy_inputs(entry)
    with Observer() as observer:
        observer.watch([x for x in inputs if isinstance(x, tm.Tensor)])
        try:
            result = entry.call(*inputs)
        except (*REFUSALS, ValueError, IndexError):
            return ()
    results = result if isinstance(result, (tuple, list)) else [result]
    targets = [(f"y{i}", y) for i, y in enumerate(results) if isinstance(y, tm.Tensor)]
    sources = [(f"x{i}", x) for i, x in enumerate(inputs) if isinstance(x, tm.Tensor)]
    request = ReportRequest(targets, sources, order, matrices=("jacobian", "hessian"), check=True)
    found, details = analyze(observer, request)
    assert text(found)
    assert html.page(found, Drawing(None, ""), None)
    assert dot(found.graph)
    assert details.code()
    return found.derivatives


def shown_without_computing(cases: Sequence[Any], order: int = 1) -> None:
    """Show some cases; a gradient may be refused, but not fail otherwise."""
    with quiet(), dask.config.set(scheduler=raising):
        for name, entry in cases:
            reasons = [d.reason or "" for d in show(entry, order)]
            failed = [reason for reason in reasons if "failed with" in reason]
            allowed = ("NotComputedError", "UnsupportedArgumentError")
            assert all(any(word in reason for word in allowed) for reason in failed), (name, failed)


@pytest.mark.thorough
def test_second_order() -> None:
    """Every three hundredth, or a third of them, with their second derivatives."""
    shown_without_computing(CASES[7 :: each(300)], order=2)


@pytest.mark.thorough
def test_many_cases() -> None:
    """Every sixteenth, or a quarter of them."""
    shown_without_computing(CASES[3 :: each(16)])


def test_paths_and_lines() -> None:
    """The explanation of a gradient that is not None: paths without numbers, and no shares of lines."""
    x = tm.Variable(2.0)
    data = tm.constant(da.ones((6, 3), chunks=2))
    with dask.config.set(scheduler=raising):
        with tm.GradientTape(persistent=True) as tape:
            y = np.sum(data) * x
            for _ in range(3):
                y = y * x
        words = str(tape.explain(y, x))

    assert "not computed" in words
    assert "4 paths" in words
    assert "%" not in words
