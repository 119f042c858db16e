"""Graphs of real cells in which folds are opened and closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from tapemagic.ipython import magics
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.graph import find_graph as graph
from tapemagic.report.tabs.graph.drawn_graph import Drawer, DrawnGraph
from tools.gallery_cells import CELLS, Cell

pytestmark = pytest.mark.thorough

NODES = 60
Subjects = Callable[..., Subject]


@pytest.fixture
def subject(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> Subjects:
    """The recording of the last of some cells, drawn as for a screen of any size."""
    # Nothing but the number of nodes closes a part then, so that these tests say what is open at first.
    monkeypatch.setattr(magics, "_screens", None)
    found: list[Subject] = []

    def drawer(subject: Subject, *options: Any) -> Drawer:
        found.append(subject)
        return Drawer(subject, *options)

    def run(*cells: str) -> Subject:
        shell.run_cell("%config TapeMagics.engine = 'none'")
        with capture_output():
            for source in cells:
                shell.run_cell(source)
        return found[-1]

    monkeypatch.setattr(graph, "Drawer", drawer)
    return run


def keys(drawn: DrawnGraph) -> set[str]:
    """The keys of all that can be opened and closed."""
    folds = {step.fold for step in drawn.graph.steps}
    return (folds | {frame.fold for frame in drawn.graph.frames}) - {""}


def records(drawn: DrawnGraph) -> list[int]:
    """The records that a graph shows; each of its steps is an item of its plan, with equally many of them."""
    found = []
    for item, step in zip(drawn.plan.items, drawn.graph.steps, strict=True):
        what = item.what
        inside = [what] if isinstance(what, int) else list(what.positions)
        key, kind = ("", "operation") if isinstance(what, int) else (what.key, what.kind)
        assert (key, kind, item.frame) == (step.fold, step.kind, step.frame)
        assert (0 if kind == "operation" else len(inside)) == step.elided
        found += inside
    return sorted(found)


def outside(drawn: DrawnGraph, key: str) -> list[Any]:
    """The operations and folds that do not belong to a part."""
    frames = drawn.graph.frames

    def is_in(frame: int | None) -> bool:
        if frame is None:
            return False
        return frames[frame].fold == key or is_in(frames[frame].parent)

    shown = zip(drawn.plan.items, drawn.graph.steps, strict=True)
    return [item.what for item, step in shown if not is_in(item.frame) and step.fold != key]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_every_fold(subject: Subjects, cell: Cell) -> None:
    """Opened and closed once, and those inside of it: nothing else changes, and the picture stays legible."""
    drawer = Drawer(subject(*cell.before, cell.source), NODES)
    first = drawer.draw()
    everything = records(first)

    seen: set[str] = set()
    found: list[tuple[str, dict[str, int]]] = [(key, {}) for key in sorted(keys(first))]
    while found:
        key, opened = found.pop()
        if key in seen:
            continue
        seen.add(key)
        before = drawer.draw(opened)
        for number in (0, 1, 2):
            after = drawer.draw({**opened, key: number})
            assert everything == records(after)
            assert outside(before, key) == outside(after, key)
            assert after.graph.nodes <= NODES * (2 + len(opened))
            found += [(inner, {**opened, key: number}) for inner in sorted(keys(after) - seen)]


CODE = """%%tape x{options}
def f(x):
    for i in range({turns}):
        x = np.sin(x)
        for j in range(3):
            x = x * x
    return x

x = 0.5
y = f(x) + f(2 * x)"""


def test_keys_are_stable(subject: Subjects) -> None:
    """The same part has the same key in every view, and pieces of one loop have that of the loop."""
    recording = subject(CODE.format(turns=10, options=""))

    wide, narrow = Drawer(recording, 2000).draw(), Drawer(recording, 60).draw()
    opened = Drawer(recording, 60).draw({"0": 1, "0.0": 4, "0.0.3.1": 2})

    assert keys(narrow) <= keys(wide)
    loop = [step.iterations for step in opened.graph.steps if step.fold == "0.0"]
    assert [(1, 3, 10), (5, 10, 10)] == loop
    assert [("0", None), ("0.0", (4, 10)), ("0.0.3.1", (2, 3))] == [
        (frame.fold, frame.iteration) for frame in opened.graph.frames[:3]
    ]


def test_there_and_back(subject: Subjects) -> None:
    """What is opened and closed again gives the first graph; so does what is opened as it was."""
    drawer = Drawer(subject(CODE.format(turns=10, options="")), 60)
    first = drawer.draw()

    closed = drawer.draw({"0.0": 0})
    assert [frame.fold for frame in closed.graph.frames] != [f.fold for f in first.graph.frames]
    assert first.graph == drawer.draw({"0.0": 10}).graph == drawer.draw({}).graph
    assert closed.graph == drawer.draw({"0.0": -3}).graph
    assert first.graph == Drawer(drawer.subject, 60).draw().graph


def test_short_loops(subject: Subjects) -> None:
    """All iterations of a short loop are drawn; it can be closed, and one of them be opened alone."""
    drawer = Drawer(subject("%%tape x\nx = 0.5\nfor i in range(3):\n    x = np.sin(x)\ny = x * 2"))

    def shown(opened: dict[str, int]) -> list[tuple[int, int] | None]:
        return [frame.iteration for frame in drawer.draw(opened).graph.frames]

    assert [(1, 3), (2, 3), (3, 3)] == shown({})
    assert [] == shown({"0": 0})
    assert [(2, 3)] == shown({"0": 2})
    assert [(3, 3)] == shown({"0": 10**400})


def test_a_large_call(subject: Subjects) -> None:
    """It opens into its ends and a fold of its middle, which opens likewise, while the rest stays."""
    body = "    y = np.sin(y)\n" * 5000
    drawer = Drawer(subject(f"%%tape x\ndef f(y):\n{body}    return y\nx = 0.5\nz = f(x) * 2"))

    once, twice = drawer.draw({"0": 1}), drawer.draw({"0": 1, "0~": 1})

    assert once.graph.nodes <= 2 * NODES
    assert ["0"] == [frame.fold for frame in once.graph.frames]
    assert [("0~", 4988)] == [(s.fold, s.elided) for s in once.graph.steps if s.elided]
    assert ["call", "elided"] == [frame.kind for frame in twice.graph.frames]
    assert "4,988 operations" == twice.graph.frames[1].label
    assert [("0~~", 4976)] == [(s.fold, s.elided) for s in twice.graph.steps if s.elided]
    assert records(once) == records(twice) == list(range(5001))


def test_a_middle_that_fits(subject: Subjects) -> None:
    """It opens whole."""
    body = "    y = np.sin(y)\n" * 40
    drawer = Drawer(subject(f"%%tape x\ndef f(y):\n{body}    return y\nx = 0.5\nz = f(x) * 2"))

    assert [28, 0] == [drawer.draw(opened).graph.folded for opened in ({"0": 1}, {"0": 1, "0~": 1})]


def test_derivatives(subject: Subjects) -> None:
    """The report's own derivatives are closed and opened; around the computation is a frame without a key."""
    drawer = Drawer(subject("%%tape x -o 2\nx = 0.5\ny = x * np.sin(x)"))
    first = drawer.draw()

    [key] = keys(first)
    closed = drawer.draw({key: 0})

    assert [("computation", ""), ("derivative", key)] == [
        (frame.kind, frame.fold) for frame in first.graph.frames
    ]
    assert () == closed.graph.frames
    assert [key] == [step.fold for step in closed.graph.steps if step.fold]
    assert first.graph == drawer.draw({key: 1}).graph


def test_keys_of_nothing(subject: Subjects) -> None:
    """They have no effect, and very many openings do not make the picture grow without end."""
    drawer = Drawer(subject("%%tape x\nx = y = 0.5\n" + "y = np.sin(y)\n" * 3000 + "y"))

    assert drawer.draw().graph == drawer.draw({"7": 1, "0.0": 3, "~~": 1, "9" * 999: 1}).graph
    assert drawer.draw({"~" * k: 1 for k in range(1, 900)}).graph.nodes < 12 * NODES


@pytest.mark.parametrize(
    "opened",
    [
        {"a": 1},
        {"0.": 1},
        {".0": 1},
        {"٣": 1},
        {"0\n": 1},
        {"<script>": 1},
        {"0" * 1001: 1},
        {3: 1},
        {"0": "1"},
        {"0": 1.0},
        {"0": True},
        {"0": None},
        [],
        None,
        {str(k): 1 for k in range(1001)},
    ],
)
def test_bad_openings(subject: Subjects, opened: Any) -> None:
    """What is no key, or no whole number, is refused in a short sentence."""
    recording = subject("%%tape x\nx = 0.5\ny = np.sin(x)")

    with pytest.raises(ValueError, match=r"key|integer|mapping") as error:
        Drawer(recording).draw(opened)

    assert len(str(error.value)) < 150


def test_an_empty_recording(subject: Subjects) -> None:
    """There is nothing to open."""
    recording = subject("%%tape x\nx = 0.5\nx")

    assert Drawer(recording).draw().graph == Drawer(recording).draw({"~": 1, "0": 1}).graph
