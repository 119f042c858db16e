"""--what-if in a real kernel, with messages as a front end sends them."""

from __future__ import annotations

from typing import Any

import pytest

from tapemagic.report.live.content import Content
from tapemagic.report.live.packing import unpacked
from tests.ipython.kernels import VIEW, Kernel

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

COUNTS = (
    "import gc\nfrom ipywidgets.widgets import widget\nfrom tapemagic.engine.tape.tape import Tape\ngc.collect()\n"
    "(len(widget._instances), len(get_ipython().kernel.comm_manager.comms), "
    "sum(isinstance(x, Tape) for x in gc.get_objects()))"
)


def shown(notebook: Kernel, cell: str) -> str:
    """Run a cell; the model of its report."""
    *_, data = notebook.run(cell).shown
    model: str = data[VIEW]["model_id"]
    return model


def move(notebook: Kernel, model: str, interrupt: float = 0, **values: Any) -> Content:
    """Move sliders; all that the report shows then."""
    state = notebook.send(model, {"what_if": values, "number": 1}, interrupt)
    content: Content = unpacked(state["content"])
    assert {} == state.get("answers", {})
    return content


def test_a_move(notebook: Kernel) -> None:
    """The report changes, and nothing appears under another cell: no output, no number, no history."""
    model = shown(
        notebook, "%%tape x --what-if x\nx = 1.0\nprint('printed', x)\ndisplay(x)\ny = x**2"
    )
    count = notebook.show("len(In), len(Out)")

    content = move(notebook, model, x=2.5)

    assert "y = 6.25; dy/dx = 5.0" in content["head"]
    assert "printed 2.5" in content["head"]
    assert 1 == content["number"]
    assert [] == notebook.strays
    assert "True" == notebook.show(f"{count} == (len(In) - 1, len(Out) - 1)")
    assert "Tensor(6.25)" == notebook.show("y")


def test_an_error_and_input(notebook: Kernel) -> None:
    """Neither an error nor a question reaches the notebook."""
    model = shown(
        notebook,
        "%%tape x --what-if x\nx = 1.0\nif x > 2:\n    input('?')\nif x < 0:\n    undefined\ny = x**2",
    )

    words = "is not defined, line 6. Shown is the report for x = 1.0."
    assert words in move(notebook, model, x=-1.0)["head"]
    assert "input() cannot ask" in move(notebook, model, x=2.5)["head"]
    assert [] == notebook.strays
    assert "Tensor(1.0)" == notebook.show("y")


def test_an_interrupt(notebook: Kernel) -> None:
    """It stops the run, not the kernel; the report stays, and the next move is answered."""
    model = shown(
        notebook,
        "%%tape x --what-if x=0:99\nimport time\nx = 1.0\nif x > 50:\n    time.sleep(30)\ny = x**2",
    )

    content = move(notebook, model, interrupt=1.5, x=60.0)

    assert (
        "The run with x = 60.0 was interrupted. Shown is the report for x = 1.0." in content["head"]
    )
    assert [] == notebook.strays
    assert "Tensor(1.0)" == notebook.show("y")
    assert "y = 4.0" in move(notebook, model, x=2.0)["head"]


def test_invalid_messages(notebook: Kernel) -> None:
    """They are not answered, and leave nothing in the notebook."""
    model = shown(notebook, "%%tape x --what-if x\nx = 1.0\ny = x**2")

    for message in (None, [], "x", {"what_if": 3}, {"what_if": {"x": None}}, {"what_if": {"z": 1}}):
        assert notebook.send(model, message) is None
    assert [] == notebook.strays


def test_two_hundred_moves(notebook: Kernel) -> None:
    """They leave as many models, comms and tapes as one; so does running the cell again."""
    cell = "%%tape x --what-if x=-3:3\nx = 1.0\ny = np.sin(x) * np.exp(x)"
    model = shown(notebook, cell)
    move(notebook, model, x=2.0)
    before = notebook.show(COUNTS)

    for k in range(200):
        content = move(notebook, model, x=k / 100)

    assert 201 == content["number"]
    assert before == notebook.show(COUNTS)
    move(notebook, shown(notebook, cell), x=1.0)
    assert before.rpartition(",")[0] == notebook.show(COUNTS).rpartition(",")[0]
