"""Every row of the rule table, against NumPy, difference quotients and written-down points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.rules import checks, harness
from tests.shares import share

Entries = dict[str, Any]
SLOW = ("special", "decompositions", "statistics")
"""The modules of cases whose rows take the longest."""


def over(kind: str) -> Any:
    """Parametrise a test over the functions of the table, each with all its entries of a kind, by their names."""
    groups: dict[str, Entries] = {}
    for name, entry in harness.collect(kind).items():
        word = name.partition("-")[0]
        groups.setdefault(f"{word}-{harness.name_of(entry.function)}", {})[name] = entry
    return pytest.mark.parametrize(
        "entries",
        [
            pytest.param(group, id=name, marks=[pytest.mark.thorough] if name.partition("-")[0] in SLOW else [])
            for name, group in groups.items()
        ],
    )


def each(entries: Entries, *asked: Callable[[Any], None]) -> None:
    """Check every entry; a failure says which one it was."""
    for name, entry in entries.items():
        try:
            for check in asked:
                check(entry)
        except BaseException as error:
            error.add_note(f"in the case {name}")
            raise


@pytest.mark.parametrize("word", harness.load())
def test_cases_load(word: str) -> None:
    """The module of cases can be imported."""
    module = harness.load()[word]
    if isinstance(module, Exception):
        raise module


@over("CASES")
def test_derivatives_of_one_case(entries: Entries) -> None:
    """First and second derivatives agree with difference quotients, in one case of each function."""
    name = min(entries)
    each({name: entries[name]}, checks.check_derivatives)


@pytest.mark.thorough
@over("CASES")
def test_derivatives(entries: Entries) -> None:
    """The same in all other cases."""
    others = {name: entry for name, entry in entries.items() if name != min(entries)}
    each(others, checks.check_derivatives)


@pytest.mark.thorough
@over("CASES")
def test_recording(entries: Entries) -> None:
    """A call has NumPy's value, and is on the tape."""
    each(entries, checks.check_value, checks.check_recorded)


@pytest.mark.thorough
@over("CASES")
def test_ways_to_a_gradient(entries: Entries) -> None:
    """The gradient is the same however one takes it, in a share of the cases."""
    each(share(entries, 1), checks.check_nested, checks.check_slim, checks.check_single, checks.check_batch)


@pytest.mark.thorough
@over("CASES")
def test_jacobian(entries: Entries) -> None:
    """Jacobians are made of gradients, all rows in one sweep, in a share of the cases."""
    each(share(entries, 2), checks.check_jacobian)


@over("SPECIAL")
def test_special(entries: Entries) -> None:
    """The gradient at a special point is the one written down."""
    each(entries, checks.check_special)


@over("PLAIN")
def test_plain(entries: Entries) -> None:
    """Functions without derivative give NumPy's values, off the tape."""
    each(entries, checks.check_plain)


@over("REFUSED")
def test_refused(entries: Entries) -> None:
    """Calls without a derivative rule say so."""
    each(entries, checks.check_refused)
