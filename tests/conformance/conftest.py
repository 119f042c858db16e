"""Assertions inside the shared helpers explain themselves as those in the tests do."""

import pytest

pytest.register_assert_rewrite("tests.conformance.programs")
