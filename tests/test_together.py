"""Tests of many cases try all of them, and name those that fail."""

from __future__ import annotations

import pytest

from tests.together import check_each


def test_all_are_tried_and_those_that_fail_are_named() -> None:
    """An error has one error for each case that failed, in their order."""
    tried = []

    def check(number: int) -> None:
        tried.append(number)
        assert number % 2 == 0

    with pytest.raises(ExceptionGroup, match="2 of 4 cases") as caught:
        check_each({"one": 1, "two": 2, "three": 3, "four": 4}, check)

    assert [1, 2, 3, 4] == tried
    notes = [error.__notes__ for error in caught.value.exceptions]
    assert [["in the case one"], ["in the case three"]] == notes


def test_nothing_is_raised_where_all_hold() -> None:
    """Cases that hold say nothing."""
    check_each({"two": 2, "four": 4}, lambda _: None)
