"""Every test has to leave the library as it found it."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import tapemagic
from tapemagic.engine import recording, registry

THRESHOLDS = gc.get_threshold()
gc.set_threshold(0)  # while tests are collected; not gc.disable(), which libraries remember


def pytest_configure() -> None:
    """Let Ctrl-C interrupt here, as tests of it need: a shell has the processes that it starts with & ignore it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Load everything now, and not in the midst of a test, since the rule table grows by it.

    The process of pytest-xdist that only hands out the tests needs none of it.
    """
    if session.config.getoption("dist", "no") != "no":
        return
    for name in tapemagic.__all__:
        getattr(tapemagic, name)
    with suppress(ImportError):
        import scipy.special  # noqa: F401
    with suppress(ImportError):
        from tapemagic.distributed import blocks  # noqa: F401
    registry.complete()


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays until the end: each IPython session has it look at everything."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test no tape is live, the rule table has its entries, and the garbage collector is on.

    Random numbers do not depend on the order of tests.
    """
    before = _table()
    generator = getattr(request.module, "RNG", None)
    if isinstance(generator, np.random.Generator):
        state = _STATES.setdefault(request.module.__name__, generator.bit_generator.state)
        generator.bit_generator.state = state

    yield

    left = recording.live()
    recording._live.set(())
    assert left == ()
    assert before == _table()
    assert gc.isenabled()


_STATES: dict[str, Any] = {}
"""The states of the generators of modules, by name, before the first of their tests."""

_RULES, _NO_RULES = attrgetter("rules", "joint_rule"), ((), None)


def _table() -> tuple[int, int, int]:
    """How many operations with rules, composites and plain functions there are."""
    rules = [*map(_RULES, registry.OPERATIONS.values())]
    return len(rules) - rules.count(_NO_RULES), len(registry.COMPOSITES), len(registry.PLAIN)
