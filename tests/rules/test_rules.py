"""Every row of the rule table, against NumPy, difference quotients and written-down points."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules import checks, harness


def over(kind: str) -> Any:
    """Parametrise a test over all entries of a kind, under their names."""
    entries = harness.collect(kind)
    return pytest.mark.parametrize("entry", entries.values(), ids=entries.keys())


@pytest.mark.parametrize("word", harness.load())
def test_cases_load(word: str) -> None:
    """The module of cases can be imported."""
    module = harness.load()[word]
    if isinstance(module, Exception):
        raise module


@over("CASES")
def test_derivatives(entry: harness.Case) -> None:
    """First and second derivatives agree with difference quotients."""
    checks.check_derivatives(entry)


@over("CASES")
def test_recording(entry: harness.Case) -> None:
    """A call has NumPy's value, is on the tape, and its gradient is the same however one takes it."""
    checks.check_value(entry)
    checks.check_recorded(entry)
    checks.check_nested(entry)
    checks.check_slim(entry)
    checks.check_single(entry)
    checks.check_batch(entry)


@pytest.mark.thorough
@over("CASES")
def test_jacobian(entry: harness.Case) -> None:
    """Jacobians are made of gradients: all rows in one sweep."""
    checks.check_jacobian(entry)


@over("SPECIAL")
def test_special(entry: harness.Special) -> None:
    """The gradient at a special point is the one written down."""
    checks.check_special(entry)


@over("PLAIN")
def test_plain(entry: harness.Plain) -> None:
    """Functions without derivative give NumPy's values, off the tape."""
    checks.check_plain(entry)


@over("REFUSED")
def test_refused(entry: harness.Refused) -> None:
    """Calls without a derivative rule say so."""
    checks.check_refused(entry)
