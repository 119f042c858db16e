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


THOROUGH = (
    "tests/report/test_formulas.py",
    "tests/report/test_size.py",
    "tests/report/test_trace_steps.py::test_every_rule",
    "tests/rules/test_checker.py",
    "tests/rules/test_fresh.py",
    "tests/test_growth.py",
    "tests/test_layers.py::test_a_heavy_import_is_found",
    "tests/test_long_tapes.py",
    "tests/test_nbval.py",
    "tests/test_registering.py",
    "tests/test_structured_sweep.py::test_random_programs",
    "tests/properties/",
    "tests/drawing/test_curves.py",
    "tests/report/test_every_rule.py",
    "tests/drawing/test_marks.py::test_hostile_names",
    "tests/report/test_stored_size.py",
    "tests/drawing/test_svg.py",
    "tests/ipython/test_bad_cells.py",
    "tests/ipython/test_check_gradient.py",
    "tests/ipython/test_dask_cells.py",
    "tests/ipython/test_failures.py",
    "tests/ipython/test_layers.py",
    "tests/ipython/test_live.py",
    "tests/ipython/test_names.py",
    "tests/ipython/test_openings.py",
    "tests/ipython/test_plot.py",
    "tests/ipython/test_steps.py",
    "tests/ipython/test_tape_graph.py",
    "tests/ipython/test_targets.py",
    "tests/ipython/test_verdict.py",
    "tests/ipython/test_watching.py",
    "tests/ipython/test_what_if",
    "tests/ipython/test_why.py",
    "tests/lazy/test_rule_table.py",
    "tests/lazy/test_ways.py::test_the_dtype_of_totals",
    "tests/nn/test_fit_programs.py",
    "tests/nn/test_programs.py",
    "tests/programs/test_constructs.py",
    "tests/programs/test_left_in_iterators.py",
    "tests/programs/test_leftovers.py::test_what_is_stored[an attribute of a module-number",
    "tests/programs/test_leftovers.py::test_what_is_stored[an array of objects that",
    "tests/programs/test_leftovers.py::test_what_is_stored[the arguments of an error that",
    "tests/programs/test_source_programs.py::test_twenty_thousand_calls",
    "tests/test_batching.py",
    "tests/test_other_libraries.py",
)
"""Where tests go through very many cases, start many processes, run many cells, or look at all objects there are."""


MANY = ("[special-", "[decompositions-", "[statistics-")
"""The rows of the rule table that take the longest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test-fast` leaves out."""
    for item in items:
        if item.nodeid.startswith(THOROUGH) or any(word in item.nodeid for word in MANY):
            item.add_marker(pytest.mark.thorough)


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
