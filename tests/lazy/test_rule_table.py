"""Every row of the rule table on Dask arrays: NumPy's numbers, or a refusal, and nothing computed before its time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tapemagic.engine.laziness import gates
from tests.lazy import lazy_cases
from tests.lazy.lazy_cases import ASKED, CUTS, double, outcome, single
from tests.rules import harness
from tests.shares import ALL, PART

pytestmark = pytest.mark.thorough

Entries = dict[str, Any]

MOST_REFUSED = 0.22
"""The share of the cases, cut by rows, that may be refused."""

UNUSED = "elementwise-where-log"
"""The case in which np.where leaves a value out, whose slope is infinite."""

UNBOUNDED = (
    *("linalg", "products", "polynomials", "statistics-cov", "statistics-corrcoef"),
    *("neural-softmax_cross_entropy-labels alone", "reductions-sum-where", "reductions-mean-where"),
    *("custom-called-plain", "decompositions-cholesky-of a product"),
)
"""Where a result may have axes of the other factor alone, or is as large as an array in memory."""


def grouped(kind: str) -> list[Any]:
    """The entries of a kind, by the words of their modules."""
    groups: dict[str, Entries] = {}
    for name, entry in harness.collect(kind).items():
        groups.setdefault(name.partition("-")[0], {})[name] = entry
    return [pytest.param(entries, id=word) for word, entries in groups.items()]


def some_of(entries: Entries, place: int = 0) -> Entries:
    """One entry of each function, another one for each place; or all of them."""
    if ALL:
        return entries
    names: dict[Any, list[str]] = {}
    for name, entry in entries.items():
        names.setdefault(entry.function, []).append(name)
    return {
        found[place % len(found)]: entries[found[place % len(found)]] for found in names.values()
    }


def in_turn(entries: Entries, place: int) -> Entries:
    """The same of a third of the functions, other ones for each place."""
    chosen = some_of(entries, place)
    return chosen if ALL else {name: chosen[name] for name in [*chosen][place % PART :: PART]}


def check(
    entries: Entries, asked: str, cut: str, precision: Any = double, first: bool = False
) -> int:
    """Each entry is equal or refused; a failure says which one it was. The number of those refused."""
    refused = 0
    for name, entry in entries.items():
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                if getattr(entry, "warns", False) or precision is single:
                    warnings.simplefilter("ignore")
                warnings.simplefilter("ignore", DeprecationWarning)
                given = lazy_cases.inputs(entry, precision)
                rtol = 2e-2 if precision is single else 1e-9
                bound = not name.startswith(UNBOUNDED)
                result = outcome(ASKED[asked], entry.call, given, CUTS[cut], first, rtol, bound)
        except BaseException as error:
            error.add_note(f"in the case {name}")
            raise
        refused += result != "equal"
    return refused


@pytest.fixture(autouse=True)
def no_gate() -> Iterator[None]:
    """Other tests run without a gate."""
    yield
    gates.clear()


@pytest.mark.parametrize("entries", grouped("CASES"))
def test_by_rows(entries: Entries) -> None:
    """Values and gradients, cut along the first axis."""
    check(some_of(entries), "gradient", "rows")


@pytest.mark.parametrize(("asked", "place"), [("second", 1), ("jacobian", 2)])
@pytest.mark.parametrize("entries", grouped("CASES"))
def test_orders(entries: Entries, asked: str, place: int) -> None:
    """Second derivatives and Jacobians, cut along the first axis."""
    check(in_turn(entries, place), asked, "rows")


@pytest.mark.parametrize(("cut", "place"), [("columns", 3), ("everywhere", 4), ("whole", 5)])
@pytest.mark.parametrize("entries", grouped("CASES"))
def test_cuts(entries: Entries, cut: str, place: int) -> None:
    """Arrays cut along other axes, along all of them, and in one piece."""
    check(in_turn(entries, place), "gradient", cut)


@pytest.mark.parametrize("entries", grouped("CASES"))
def test_lazy_beside_arrays_in_memory(entries: Entries) -> None:
    """The first array alone is Dask's."""
    check(in_turn(entries, 6), "gradient", "rows", first=True)


@pytest.mark.parametrize("entries", grouped("CASES"))
def test_single_precision(entries: Entries) -> None:
    """float32 and complex64: NumPy's dtypes."""
    check(in_turn(entries, 7), "gradient", "rows", precision=single)


@pytest.mark.parametrize("entries", grouped("SPECIAL"))
def test_special_points(entries: Entries) -> None:
    """Infinities, NaN, ties, and empty arrays."""
    check({x: y for x, y in some_of(entries).items() if x != UNUSED}, "gradient", "rows")


def test_unused_entries_are_nan() -> None:
    """A nan isn't known before the numbers are computed, so no careful sweep removes it: see docs/scaling.md."""
    entry = harness.collect("SPECIAL")[UNUSED]

    with pytest.raises(AssertionError, match="nan location mismatch"):
        check({UNUSED: entry}, "gradient", "rows")


@pytest.mark.parametrize("entries", grouped("PLAIN"))
def test_without_derivative(entries: Entries) -> None:
    """Whole numbers and truth values stay lazy."""
    check(entries, "value", "rows")


def test_few_are_refused() -> None:
    """Most functions are computed in pieces."""
    entries = in_turn(harness.collect("CASES"), 8)
    assert check(entries, "gradient", "rows") <= MOST_REFUSED * len(entries)
