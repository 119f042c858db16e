"""Reports on long loops, and their saved pages."""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event, Thread
from types import CodeType
from typing import Any

import pytest

from tapemagic.explain import program_text
from tapemagic.report.live import precomputed
from tapemagic.report.tabs.graph import drawn_graph
from tests.ipython.conftest import Run

LOOP = "%%tape w\ny = 0.0\nfor i in range({}):\n    y = 0.999 * y + 0.001 * w\ny"
Saved = Callable[[int], bytes]


@pytest.fixture
def saved(run: Run, tmp_path: Path) -> Saved:
    """Runs a loop of some iterations, and saves its report."""

    def save(iterations: int) -> bytes:
        run("w = 0.7")
        return run(LOOP.format(iterations)).save(tmp_path / "page.html").read_bytes()  # type: ignore[no-any-return]

    return save


@contextmanager
def clock(seconds: float) -> Iterator[None]:
    """A clock that goes on by some seconds whenever the report asks for the time."""
    ticks = count()
    modules = [m for name, m in sys.modules.items() if name.startswith("tapemagic.report")]
    with pytest.MonkeyPatch.context() as patch:
        for module in (time, *modules):
            for name in ("monotonic", "perf_counter", "process_time", "time"):
                if callable(getattr(module, name, None)):
                    patch.setattr(module, name, lambda: seconds * next(ticks))
        yield


@contextmanager
def work_beside() -> Iterator[None]:
    """A thread that keeps the processor busy."""
    ended = Event()
    thread = Thread(target=lambda: all(not ended.is_set() for _ in count()))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_page_does_not_depend_on_the_speed_of_the_machine(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the same to the byte, whether a second is short or long, and with other work beside it."""
    monkeypatch.setattr(precomputed, "MAX_VIEWS", 6)
    pages = [saved(300), saved(300)]
    for seconds in (0.0, 100.0):
        with clock(seconds):
            pages.append(saved(300))
    with work_beside():
        pages.append(saved(300))

    assert 1 == len(set(pages))
    assert b"view:{" in pages[0]


def test_a_page_of_a_long_loop_has_fewer_layouts(saved: Saved) -> None:
    """Their number depends on the number of operations, and the page says how many it omits."""
    short, long = saved(20), saved(6_000)

    layouts = [page.count(b"view:{") for page in (short, long)]
    assert 0 < layouts[1] < layouts[0] <= precomputed.MAX_VIEWS
    assert b"ways to open or close a part" in long


def test_long_cells_are_read_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of a cell of many lines looks up the statement of each operation once, in whichever views it has."""
    asked: list[tuple[int, bool]] = []
    find = drawn_graph.statement_at

    def counted(code: CodeType, offset: int, operands: bool = False) -> Any:
        asked.append((offset, operands))
        return find(code, offset, operands)

    monkeypatch.setattr(drawn_graph, "statement_at", counted)
    program_text._positions.cache_clear()
    lines = "\n".join(f"y = np.sin(y) * 0.{k + 1} + x" for k in range(300))
    run("x = 0.5")
    run(f"%%tape x\ny = x\n{lines}")

    assert len(asked) >= 900
    assert len(asked) == len(set(asked))
    # Decoding the positions of 900 operations from the first instruction, for each of them, took 20 seconds.
    assert program_text._positions.cache_info().misses < 10


def test_formulas_leave_alone_what_others_store_on_nodes() -> None:
    """IPython's tracebacks store the tree around a node on it, and all nodes share their contexts."""
    [statement] = ast.parse("y = np.sin(x) @ np.array([*x])").body
    context: Any = next(node for node in ast.walk(statement) if isinstance(node, ast.Load))
    context.parent = Uncopied()
    try:
        assert "y = sin(x) @ array([*x])" == program_text.formula_text(statement)
    finally:
        del context.parent


class Uncopied:
    """A tree that is too large to be copied."""

    def __deepcopy__(self, _memo: Any) -> None:
        raise AssertionError("copied")
