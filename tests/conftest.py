"""Every test must leave the library as it was."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapemagic
from tapemagic.engine import recording, registry
from tools.fonts import settings_environment

THRESHOLDS = gc.get_threshold()
# No collection while pytest collects tests: it would look at everything again and again, and find nothing. Not
# gc.disable(): a library that restores the state that it found would leave the collector off.
gc.set_threshold(0)


def pytest_configure(config: pytest.Config) -> None:
    """Make SIGINT raise KeyboardInterrupt, and keep the settings of Jupyter and IPython out of the home folder."""
    # A shell makes processes that it starts with & ignore SIGINT, and some tests send it.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):  # processes of pytest-xdist inherit the environment
        folder = tempfile.TemporaryDirectory(prefix="tapemagic-settings-")
        config.add_cleanup(folder.cleanup)
        os.environ.update(settings_environment(Path(folder.name)))
        os.environ.pop(
            "MPLBACKEND", None
        )  # where it is set, kernels do not show the plots of matplotlib


def pytest_sessionstart(session: pytest.Session) -> None:
    """Complete the rule table before the first test: each test asserts that it leaves the table unchanged."""
    # The main process of pytest-xdist only hands out tests, so it can skip this.
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
    """Exclude the objects that exist now from garbage collection."""
    gc.collect()
    # Each reset of an IPython shell runs a full collection, which would visit all tests and libraries.
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check after each test that no tape is live, that the rule table is unchanged, and that the collector is on."""
    before = _table()
    generator = getattr(request.module, "RNG", None)
    if isinstance(generator, np.random.Generator):
        # The numbers of a test must not depend on the tests before it, which differ from process to process.
        state = _STATES.setdefault(request.module.__name__, generator.bit_generator.state)
        generator.bit_generator.state = state

    yield

    left = recording.live()
    recording._live.set(())
    assert left == ()
    assert before == _table()
    assert gc.isenabled()


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Nothing is freed by the garbage collector."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


_STATES: dict[str, Any] = {}
"""The first state of the random generator of each module, by the name of the module."""

_RULES, _NO_RULES = attrgetter("rules", "joint_rule"), ((), None)


def _table() -> tuple[int, int, int]:
    """Count the operations with rules, the composites and the plain functions."""
    rules = [*map(_RULES, registry.OPERATIONS.values())]
    return len(rules) - rules.count(_NO_RULES), len(registry.COMPOSITES), len(registry.PLAIN)
