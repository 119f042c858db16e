"""Every row of the rule table on Dask arrays: NumPy's numbers, or a refusal, and nothing computed before its time."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tapemagic.engine.laziness import gates
from tests.lazy import lazy_cases
from tests.lazy.lazy_cases import ASKED, CUTS, double, outcome, single
from tests.rules import harness

Entries = dict[str, Any]

MOST_REFUSED = {"gradient": 0.35, "second": 0.40, "jacobian": 0.45, "plain": 0.30}
"""The share of the cases, cut by rows, that may be refused."""

PRODUCTS = ("linalg", "products", "polynomials", "statistics-cov", "statistics-corrcoef")
"""Where axes of the other factor may be all that a result has."""

counts: dict[str, Counter[str]] = {}


def grouped(kind: str) -> list[Any]:
    """The entries of a kind, by the words of their modules."""
    groups: dict[str, Entries] = {}
    for name, entry in harness.collect(kind).items():
        groups.setdefault(name.partition("-")[0], {})[name] = entry
    return [pytest.param(entries, id=word) for word, entries in groups.items()]


def first_of_each(entries: Entries) -> Entries:
    """The first entry of each function."""
    found: dict[Any, str] = {}
    for name, entry in entries.items():
        found.setdefault(entry.function, name)
    return {name: entries[name] for name in found.values()}


def check(
    entries: Entries,
    asked: str,
    cut: str,
    count: str = "",
    precision: Any = double,
    first: bool = False,
) -> None:
    """Each entry is equal or refused; a failure says which one it was."""
    for name, entry in entries.items():
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                if getattr(entry, "warns", False) or precision is single:
                    warnings.simplefilter("ignore")
                warnings.simplefilter("ignore", DeprecationWarning)
                given = lazy_cases.inputs(entry, precision)
                rtol = 2e-2 if precision is single else 1e-9
                bound = not name.startswith(PRODUCTS)
                result = outcome(ASKED[asked], entry.call, given, CUTS[cut], first, rtol, bound)
        except BaseException as error:
            error.add_note(f"in the case {name}")
            raise
        if count:
            counts.setdefault(count, Counter())["equal" if result == "equal" else "refused"] += 1


@pytest.fixture(autouse=True)
def no_gate() -> Iterator[None]:
    """Other tests run without a gate."""
    yield
    gates.clear()


@pytest.mark.parametrize("entries", grouped("CASES"))
def test_one_case_of_each_function(entries: Entries) -> None:
    """Values and gradients, cut along the first axis."""
    check(first_of_each(entries), "gradient", "rows")


@pytest.mark.thorough
@pytest.mark.parametrize("asked", ["gradient", "second", "jacobian"])
@pytest.mark.parametrize("entries", grouped("CASES"))
def test_all_cases_by_rows(entries: Entries, asked: str) -> None:
    """All orders of derivatives, cut along the first axis."""
    check(entries, asked, "rows", asked)


@pytest.mark.thorough
@pytest.mark.parametrize("cut", ["columns", "everywhere", "whole"])
@pytest.mark.parametrize("entries", grouped("CASES"))
def test_all_cuts(entries: Entries, cut: str) -> None:
    """Arrays cut along other axes, along all of them, and in one piece."""
    check(entries, "gradient", cut)


@pytest.mark.thorough
@pytest.mark.parametrize("entries", grouped("CASES"))
def test_lazy_beside_arrays_in_memory(entries: Entries) -> None:
    """The first array alone is Dask's."""
    check(entries, "gradient", "rows", first=True)


@pytest.mark.thorough
@pytest.mark.parametrize("entries", grouped("CASES"))
def test_single_precision(entries: Entries) -> None:
    """float32 and complex64: NumPy's dtypes."""
    check(entries, "gradient", "rows", precision=single)


@pytest.mark.thorough
@pytest.mark.parametrize("entries", grouped("SPECIAL"))
def test_special_points(entries: Entries) -> None:
    """Infinities, NaN, ties, and empty arrays."""
    check(entries, "gradient", "rows")


@pytest.mark.parametrize("entries", grouped("PLAIN"))
def test_without_derivative(entries: Entries) -> None:
    """Whole numbers and truth values stay lazy."""
    check(entries, "value", "rows", "plain")


@pytest.mark.thorough
@pytest.mark.parametrize("asked", MOST_REFUSED)
def test_few_are_refused(asked: str) -> None:
    """Lazy functions stay lazy: the shares of refusals, of the cases that the tests above ran."""
    ran = counts.get(asked)
    if not ran:
        pytest.skip("runs after the thorough tests above")
    assert ran["refused"] <= MOST_REFUSED[asked] * ran.total(), ran
