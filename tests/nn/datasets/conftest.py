"""Requests to this machine go to this machine."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the network would answer in the place of the test's server."""
    monkeypatch.setenv("no_proxy", "*")
