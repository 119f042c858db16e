"""How hard the properties are tried: the same few examples each time, or ``HYPOTHESIS=long``."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.properties.laws")

BUSY = [HealthCheck.too_slow, HealthCheck.data_too_large]
"""A machine that has other things to do is no reason to fail."""

settings.register_profile(
    "short",
    max_examples=25,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=BUSY,
)
settings.register_profile(
    "long", max_examples=2000, database=None, deadline=None, suppress_health_check=BUSY
)
settings.load_profile(os.environ.get("HYPOTHESIS", "short"))
