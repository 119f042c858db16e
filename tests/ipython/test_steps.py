"""The steps through cells as they run in a notebook: all of the gallery, and loops, whose places are known."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.explain.formatting import bars_as_text
from tapemagic.report.tabs.graph.drawn_graph import Drawer, DrawnGraph
from tapemagic.report.tabs.trace.steps import MAX_STEPS, Steps
from tests.ipython.conftest import IMPORTS, Run
from tests.report.steps import drawings, stepped
from tools.gallery_cells import CELLS, Cell

pytestmark = pytest.mark.thorough

LOOP = "%%tape x\ny = x\nfor step in range({count}):\n    y = y * 0.5 + x"
CALL = "def half(z):\n    return np.sin(z) * 0.5"


def steps(run: Run, source: str) -> Steps:
    """The steps through a cell."""
    with drawings() as found:
        run(source)
    return stepped(found)[0]


def openings(drawn: DrawnGraph) -> set[tuple[str, int]]:
    """Another opening of each part of a graph."""
    graph = drawn.graph
    folds = {(step.fold, 1) for step in graph.steps if step.fold}
    return folds | {(frame.fold, 0) for frame in graph.frames if frame.fold}


@pytest.mark.parametrize("cell", CELLS, ids=[cell.name for cell in CELLS])
def test_the_gallery(shell: InteractiveShell, cell: Cell) -> None:
    """Each cell is stepped to the end: every value is known then, and every gradient complete."""
    for source in (IMPORTS, *cell.before):
        shell.run_cell(source).raise_error()
    with drawings() as found:
        shell.run_cell(cell.source)
    for subject, drawn in found:
        assert len(stepped([(subject, drawn)])[0].steps) <= MAX_STEPS
        for key, number in sorted(openings(drawn))[:4]:
            stepped([(subject, Drawer(subject).draw({key: number}))])


def test_an_iteration_is_a_step(run: Run) -> None:
    """Forward with what the loop carries, in reverse with the gradient of that and the gradients that add up."""
    run("x = 1.0")
    taken = steps(run, LOOP.format(count=10))
    said = [bars_as_text(step.words) for step in taken.steps]

    assert "line 4, iteration 2 of 10: y = 1.75" in said
    assert "line 4, back through iteration 9 of 10: in it ȳ = 0.5; x̄ = 1.5 so far" in said
    assert said[-1].endswith("is complete: x̄ = 1.99902")
    assert {(4, 4)} == {step.lines for step in taken.steps if "iteration" in step.words}


@pytest.mark.parametrize("count", [102, 1000, 5000])
def test_many_iterations_stand_together(run: Run, count: int) -> None:
    """A loop has at most a hundred steps each way, each of equally many iterations."""
    run("x = 1.0")
    taken = steps(run, LOOP.format(count=count))

    ways = [step.way for step in taken.steps if "iterations" in step.words]
    assert 50 <= ways.count("forward") <= 100
    assert 50 <= ways.count("reverse") <= 100
    assert sum(len(step.words.encode()) for step in taken.steps) < 25_000


def test_many_loops(run: Run) -> None:
    """Several large loops share the steps."""
    loops = "\n".join(f"for k in range(150):\n    y = y * 0.9 + {n} * x" for n in range(6))
    run("x = 1.0")
    taken = steps(run, f"%%tape x\ny = x\n{loops}")

    assert 100 < len(taken.steps) <= MAX_STEPS + 50


def test_a_call(run: Run) -> None:
    """Of a function that is open the operations are steps, below its name."""
    run(f"x = 1.0\n{CALL}")
    taken = steps(run, "%%tape x\ny = half(half(x))")
    rows = taken.trace.parts[0].rows

    assert ["half(), line 2", "half(), line 2"] == [
        row.words for row in rows if row.kind == "heading"
    ]
    assert {(2, 2)} == {step.lines for step in taken.steps if step.step is not None}


def test_folded_calls(run: Run) -> None:
    """A folded function is one step, with its results."""
    run(f"x = 1.0\n{CALL}")
    lines = "\n".join(f"y{k} = half(half({f'y{k - 1}' if k else 'x'}))" for k in range(12))
    taken = steps(run, f"%%tape x\n{lines}")
    said = [step.words for step in taken.steps]

    assert any(words.startswith("half(), line 2 (2 operations): ") for words in said)
    assert any(words.startswith("back through half(), line 2 (2 operations): ") for words in said)


def test_no_target(run: Run) -> None:
    """A cell without a target has only steps forward."""
    run("w = tm.Variable(2.0, name='w')")

    assert ["variable: w = 2.0", "line 2: v1 = exp(w) = exp(2.0) = 7.38906"] == [
        step.words for step in steps(run, "%%tape w\nprint(np.exp(w))").steps
    ]


def test_a_variable_that_changes(run: Run) -> None:
    """Its next value becomes known when it is read, not before."""
    run("v = tm.Variable(2.0, name='v')")
    taken = steps(run, "%%tape\na = v ** 2\nv.assign(5.0)\ny = a + 3 * v")

    assert [
        "variable: v₁ = 2.0",
        "line 2: a = v₁² = 2.0² = 4.0",
        "the variable v has changed: v₂ = 5.0",
    ] == [step.words for step in taken.steps[:3]]


def test_a_cell_that_stopped(shell: InteractiveShell) -> None:
    """What ran before the error is stepped through."""
    shell.run_cell("x = 2.0")
    with drawings() as found:
        shell.run_cell("%%tape x\ny = x * 3\nz = np.sin(y)\nraise ValueError('stop')")
    for drawn in found:
        taken, _ = stepped([drawn])
        assert any("z = sin(y)" in step.words for step in taken.steps)


def test_the_line_of_a_watched_value(run: Run) -> None:
    """Steps for a watched value belong to the line that gave it its name; an alias is no such line."""
    run("q = 2.0")
    taken = steps(run, "%%tape q x\nx = 3.0\ny = q\nz = y * x\nz")
    told = [(step.words, step.lines) for step in taken.steps if step.step is None]

    assert ("watched: q = 2.0", None) in told
    assert ("watched: x = 3.0", (2, 2)) in told
    assert ("the gradient of z with respect to x is complete: x̄ = 2.0", (2, 2)) in told
