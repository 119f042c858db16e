"""Fixtures of the tests of tm.function."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture
def nothing_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in most programs, the collector knows all objects: where it does not, each search goes through all tests."""
    monkeypatch.setattr(gc, "get_freeze_count", lambda: 0)
