"""Every test has to leave the library as it found it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from tapemagic.engine import recording, registry

registry.complete()
with suppress(ImportError):  # now, and not in the midst of a test, since the rule table grows by it
    import scipy.special  # noqa: F401


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """After a test no tape is live, and the rule table has its entries."""
    before = _table()

    yield

    left = recording.live()
    recording._live.set(())
    assert left == ()
    assert before == _table()


def _table() -> tuple[int, int, int]:
    """How many operations with rules, composites and plain functions there are."""
    operations = registry.OPERATIONS.values()
    with_rules = sum(1 for entry in operations if entry.rules or entry.each)
    return with_rules, len(registry.COMPOSITES), len(registry.PLAIN)
