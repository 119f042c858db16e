"""``%tape_graph``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ipython.conftest import Run

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("any_size")]

LOOP = "%%tape x\ny = x\nfor i in range(50):\n    y = np.sin(y) * 1.5\nz = y * 2.0;"


@pytest.fixture(autouse=True)
def x(run: Run) -> None:
    """Every test begins with a number."""
    run("x, n = 0.5, 3")


def test_gradients_of_the_cell_have_their_names(run: Run) -> None:
    """A reverse sweep is called after what it differentiated, as in the report."""
    run("w = tm.Variable(1.0)")
    report = run(
        "%%tape\nfor i in range(9):\n    with tm.GradientTape() as t:\n        loss = (w - 3.0) ** 2\n"
        "    w.assign_sub(0.1 * t.gradient(loss, w))\nloss"
    )

    names = [
        {*(step.name for step in graph.steps), *(frame.label for frame in graph.frames)}
        for graph in (report.graph, run("%tape_graph").findings.graph)
    ]

    assert any(name.startswith("gradient of loss") for name in names[0])
    assert names[0] == names[1]


def test_text_and_picture(run: Run) -> None:
    """The text has every operation, and every number of the picture."""
    run("%%tape x\ny = x * 2.0\nz = y + x")

    graph = run("%tape_graph")

    assert repr(graph) == (
        "%tape_graph: 2 operations recorded, target z\n\n"
        "y = multiply(x, 2.0)\nz = add(y, x)\n\n"
        "x = 0.5, gradient 3.0\ny = 1.0, gradient 1.0\nz = 1.5, gradient 1.0"
    )
    bundle = graph._repr_mimebundle_()
    assert {"text/plain", "text/html"} == bundle.keys()
    assert "data:image/svg+xml" in bundle["text/html"]


def test_names_of_intermediate_results(run: Run) -> None:
    """A result without a name has the same symbol in its equation and beside its value, which is that of the trace."""
    run("%%tape x\nz = np.sin(x * 2.0) + x")

    words = repr(run("%tape_graph"))

    assert "v1 = multiply(x, 2.0)\nv2 = sin(v1)\n" in words
    assert "\nv1 = 1.0, gradient 0.540302\nv2 = 0.841471, gradient 1.0\n" in words


def test_a_target_of_ones_own(run: Run) -> None:
    """Gradients are those of the target."""
    run("%%tape x\ny = x * 2.0\nz = y * y")

    assert "\nx = 0.5, gradient 2.0\ny = 1.0, gradient 1.0\n" in repr(run("%tape_graph y"))


@pytest.mark.parametrize("order", [1, 2])
def test_asking_again_gives_the_same(run: Run, order: int) -> None:
    """The graph is that of the report, how often ever it is asked for."""
    report = run(f"%%tape x -o {order}\ny = x**4 * np.sin(x)")

    first, second = run("%tape_graph"), run("%tape_graph")

    assert repr(first) == repr(second)
    assert report.findings.operations == first.findings.operations
    assert report.graph.frames == first.findings.graph.frames


def test_iteration(run: Run) -> None:
    """One iteration of a loop is open, the last if none is named."""
    run(LOOP)

    def opened(options: str) -> list[str]:
        frames = run(f"%tape_graph {options}").findings.graph.frames
        return [frame.label for frame in frames if frame.kind == "iteration"]

    assert ["line 4: iteration 50 of 50"] == opened("")
    assert ["line 4: iteration 1 of 50"] == opened("--iteration 1")
    assert ["line 4: iteration 17 of 50"] == opened("y --iteration 17")


def test_nodes(run: Run) -> None:
    """It has room for more than a report, or for as many as one likes."""
    run("%%tape x\n" + "\n".join(f"y{i} = np.sin(x) + {i}.0" for i in range(100)))

    def nodes(options: str) -> int:
        return int(run(f"%tape_graph {options}").findings.graph.nodes)

    assert nodes("--nodes 20") <= 20
    assert 60 < nodes("") <= 240 < nodes("--nodes 1000")


def test_dot(run: Run) -> None:
    """A string that is shown as it is written."""
    run("%%tape x\ny = x * 2.0")

    source = run("source = %tape_graph --dot\nsource")

    assert isinstance(source, str)
    assert source.startswith("digraph tape {\n")
    assert repr(source) == str(source)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("q", "'q' does not exist: name a Tensor or Variable of the last %%tape cell"),
        ("n", "'n' is of type int, and no Tensor or Variable"),
        ("foreign", "'foreign' is not on the tape of the last %%tape cell"),
        ("--iteration 51", "--iteration must be an integer from 1 to 50, not '51'"),
        ("--iteration 0", "--iteration must be an integer from 1 to 50, not '0'"),
        ("--iteration ²", "--iteration must be an integer from 1 to 50, not '²'"),
        ("--nodes 19", "--nodes must be an integer from 20 to 2000, not '19'"),
        ("--nodes " + "9" * 5000, "--nodes must be an integer from 20 to 2000, not '999"),
        ("'a", "No closing quotation"),
        ("y z", "one name is enough: leave 'z' out"),
        ("--nodse 30", "there is no option --nodse: the nearest is --nodes"),
    ],
)
def test_mistakes(run: Run, refused: Any, line: str, words: str) -> None:
    """Each is answered in one line."""
    run(LOOP)
    run("foreign = tm.constant(1.0)")

    assert words in refused(f"%tape_graph {line}")


def test_no_loop_and_no_cell(run: Run, refused: Any) -> None:
    """Where there is nothing to show, a sentence says so."""
    assert "none has run yet" in refused("%tape_graph")
    run("%%tape x\ny = x * 2")
    assert "there is no iteration to open" in refused("%tape_graph --iteration 1")
    run("%%tape x\ny = 1")
    assert "nothing was recorded" in repr(run("%tape_graph"))
    run("%tape_graph")._repr_mimebundle_()
