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
def test_value(entry: harness.Case) -> None:
    """A call on tensors gives what it gives on arrays."""
    checks.check_value(entry)


@over("CASES")
def test_recorded(entry: harness.Case) -> None:
    """A call reaches the entry of the table that it is a case of."""
    checks.check_recorded(entry)


@over("CASES")
def test_derivatives(entry: harness.Case) -> None:
    """First and second derivatives agree with difference quotients."""
    checks.check_derivatives(entry)


@over("CASES")
def test_nested(entry: harness.Case) -> None:
    """An outer tape that listens does not change a gradient."""
    checks.check_nested(entry)


@over("CASES")
def test_slim(entry: harness.Case) -> None:
    """No rule reads what its signature says that it does not."""
    checks.check_slim(entry)


@over("CASES")
def test_single(entry: harness.Case) -> None:
    """Single precision stays single precision, forwards and backwards."""
    checks.check_single(entry)


@over("CASES")
def test_batch(entry: harness.Case) -> None:
    """Rules take a batch of cotangents."""
    checks.check_batch(entry)


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
