"""--what-if: sliders that run a cell again, and change its report in place."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ipywidgets.widgets import widget

from tapemagic.engine.tape.tape import Tape
from tapemagic.report.bundle import TapeReport
from tapemagic.report.live.content import Content
from tapemagic.report.live.packing import unpacked
from tests.ipython.conftest import Run

pytestmark = pytest.mark.thorough

Refused = Callable[[str], str]


class Shown:
    """A report in a notebook, and the messages of its front end."""

    def __init__(self, report: TapeReport) -> None:
        self.report = report
        self.bundle = report._repr_mimebundle_()
        self.widget = report._view

    def move(self, **values: Any) -> Content:
        """Move sliders; all that the report shows then."""
        self.send({"what_if": values, "number": 1})
        return self.content

    def send(self, message: Any) -> None:
        """Send any message."""
        self.widget._handle_custom_msg(message, [])

    @property
    def content(self) -> Content:
        """All that the report shows."""
        content: Content = unpacked(self.widget.content)
        return content

    def entries(self, name: str) -> list[float]:
        """The entries at a slider."""
        [control] = [x for x in self.content["controls"] if x["name"] == name]
        return control["entries"]


@pytest.fixture
def show(run: Run) -> Callable[[str], Shown]:
    """Runs a cell and shows its report."""
    return lambda source: Shown(run(source))


Show = Callable[[str], Shown]


def test_a_name_that_the_cell_assigns(show: Show, variables: dict[str, Any]) -> None:
    """It gets the value of the slider where it is assigned; every face and the notebook follow."""
    shown = show("%%tape x --what-if x\nx = 1.0\ny = x**2")
    count = dict.fromkeys(variables)

    content = shown.move(x=3.0)

    assert "y = 9.0; dy/dx = 6.0" in content["head"]
    assert 1 == content["number"]
    assert [3.0] == shown.entries("x")
    assert any("6.0" in face["html"] for face in content["faces"])
    assert 9.0 == float(variables["y"])
    assert count.keys() == variables.keys()
    assert "9.0" == shown.report.findings.graph.values[-1].text


def test_a_name_of_the_notebook(run: Run, show: Show, variables: dict[str, Any]) -> None:
    """It is bound to the value of the slider before the cell, also if it is watched, or the cell goes on from it."""
    run("x, a = 1.0, np.float32(2.0)")
    shown = show("%%tape x --what-if x a\nx = x * a\ny = x**2")

    shown.move(x=3.0, a=0.5)

    assert 2.25 == float(variables["y"])
    assert type(variables["a"]) is np.float32
    assert "dy/dx₁ = 1.5" in shown.content["head"]


def test_types_are_kept(run: Run, show: Show, variables: dict[str, Any]) -> None:
    """A float stays a float, an array has its dtype and shape, a Variable is the same one."""
    run("w = tm.Variable([1.0, 2.0], name='w', dtype='float32')\nc = tm.constant(2.0)\nheld = w")
    shown = show(
        "%%tape --what-if a m w c z\na = 1.0\nm = np.ones((2, 2), np.float32)\nz = np.array(1.0)\n"
        "y = np.sum(w * a) * np.sum(m) * c * z"
    )

    shown.move(a=2.0, m=[1, 2, 3, 0.1], w=[0.0, 1.0], c=1.0, z=0.5)

    assert float is type(variables["a"])
    assert (np.float32, (2, 2)) == (variables["m"].dtype, variables["m"].shape)
    assert np.float32(0.1) == variables["m"][1, 1]
    assert variables["w"] is variables["held"]
    assert [0.0, 1.0] == variables["w"].numpy().tolist()
    assert "Tensor" == type(variables["c"]).__name__
    assert () == variables["z"].shape
    assert [2, 2] == next(x for x in shown.content["controls"] if x["name"] == "m")["shape"]


def test_a_slider_that_is_not_moved_follows_the_program(show: Show) -> None:
    """``b = 2 * a`` follows the slider of a, until its own is moved; without a value, it follows again."""
    shown = show("%%tape --what-if a b=-9:9\na = 1.0\nb = 2 * a\ny = tm.Variable(1.0) * b")

    shown.move(a=2.0)
    assert [4.0] == shown.entries("b")
    shown.move(a=2.5, b=-1.0)
    assert [-1.0] == shown.entries("b")
    assert [True, True] == [x["moved"] for x in shown.content["controls"]]
    shown.move()
    assert ([1.0], [2.0]) == (shown.entries("a"), shown.entries("b"))


STATE = """
import random
from collections import deque
class Model:
    def __init__(self):
        self.steps, self.log = 0, []
def train(model):
    model.steps += 1
    model.log.append(step)
    table["loss"].append(counter())
def make():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count
counter = make()
step, lr = 3, 0.1
v, w, model, table, queue, seen = tm.Variable(1.0), np.ones(2), Model(), {"loss": []}, deque([1]), {1}
nested, rng = [[1.0]], np.random.default_rng(0)
np.random.seed(0); random.seed(0)
"""


def test_every_run_starts_as_the_first(run: Run, show: Show, variables: dict[str, Any]) -> None:
    """Names, Variables, containers, arrays, objects, closures and random generators get back what they had."""
    run(STATE)
    cell = """%%tape --what-if lr=0:1
with tm.GradientTape() as inner:
    loss = (v - 2.0) ** 2
v.assign_sub(lr * inner.gradient(loss, v))
w += 1.0
step = step + 1
new = 1
train(model)
queue.append(2); seen.add(2); nested[0].append(2.0); table["new"] = 1
drawn = [rng.random(), np.random.rand(), random.random()]
"""
    shown = show(cell)
    drawn = variables["drawn"]

    for _ in range(3):
        shown.move(lr=0.25)

    assert 1.5 == float(variables["v"])
    assert [2.0, 2.0] == variables["w"].tolist()
    assert (4, 1, 1) == (variables["step"], variables["new"], variables["model"].steps)
    assert [4] == variables["model"].log
    assert {"loss": [1], "new": 1} == variables["table"]
    assert ([1, 2], {1, 2}) == ([*variables["queue"]], variables["seen"])
    assert [[1.0, 2.0]] == variables["nested"]
    assert drawn == variables["drawn"]


def test_names_are_deleted_that_were_not_there(show: Show, variables: dict[str, Any]) -> None:
    """A branch that another value takes leaves no names behind."""
    show_it = show("%%tape a --what-if a=-1:1\na = 0.5\nif a < 0:\n    negative = a\ny = a**2")

    show_it.move(a=-0.5)
    assert "negative" in variables
    show_it.move(a=0.5)
    assert "negative" not in variables


def test_the_last_cell_is_the_newest_run(run: Run, show: Show) -> None:
    """%gradient, %why and the tape ask the run that is shown."""
    shown = show("%%tape x -p --what-if x\nx = 1.0\ny = x**2")

    shown.move(x=3.0)

    assert 6.0 == float(run("tape.gradient(y, x)"))
    assert 6.0 == float(run("%gradient y x"))
    assert "6.0" in str(run("%why y x"))


def test_magics_in_the_cell(run: Run, show: Show, variables: dict[str, Any]) -> None:
    """They ask the run in which they stand; after a run that failed, the run that is shown."""
    shown = show(
        "%%tape x --what-if x\nx = 1.0\ny = x**2\nslope = %gradient y x\nif x < 0: undefined"
    )

    shown.move(x=3.0)
    assert 6.0 == float(variables["slope"])
    shown.move(x=-1.0)
    assert 6.0 == float(run("%gradient y x"))


def test_containers_of_the_users_own(run: Run, show: Show, variables: dict[str, Any]) -> None:
    """Classes derived from list, dict and OrderedDict get back what they had, whatever their methods do."""
    run(
        "from collections import Counter, OrderedDict, defaultdict\n"
        "class Log(list):\n    def __iter__(self): raise RuntimeError\n    def clear(self): raise RuntimeError\n"
        "log, order, found, words = Log([1]), OrderedDict(a=1), defaultdict(list), Counter('ab')"
    )
    shown = show(
        "%%tape a --what-if a\na = 1.0\nlog.append(2); order['b'] = order.pop('a'); found['k'].append(1)\n"
        "words.update('a')\ny = a**2"
    )

    shown.move(a=2.0)
    shown.move(a=1.0)

    assert 2 == len(variables["log"])
    assert [("b", 1)] == [*variables["order"].items()]
    assert {"k": [1]} == variables["found"]
    assert {"a": 2, "b": 1} == variables["words"]


def test_a_run_that_fails(show: Show, variables: dict[str, Any]) -> None:
    """The head says so; report and notebook stay as they were in the last good run."""
    shown = show(
        "%%tape x --what-if a=-1:1\nlog = []\na = 0.5\nlog.append(1 / a)\nx = 2.0\ny = x * a"
    )
    shown.move(a=0.1)
    before = dict(variables)
    faces = shown.content["faces"]

    content = shown.move(a=0.0)

    words = (
        "With a = 0.0 the cell stops: ZeroDivisionError: float division by zero, line 4. "
        "Shown is the report for a = 0.1."
    )
    assert words in content["head"]
    assert "dy/dx = 0.1" in content["head"]
    assert faces == content["faces"]
    assert [0.1] == shown.entries("a")
    assert 2 == content["number"]
    assert [10.0] == variables["log"]
    assert all(variables[name] is value for name, value in before.items())
    assert "stops" not in shown.move(a=0.2)["head"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("input('?')", "EOFError: input() cannot ask while a slider runs the cell again"),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("raise ValueError('<b>&lt;' * 200)", "ValueError: &lt;b&gt;&amp;lt;&lt;b&gt;"),
        ("raise KeyboardInterrupt", "The run with a = -1.0 was interrupted. Shown is"),
    ],
)
def test_runs_that_end_otherwise(show: Show, line: str, words: str) -> None:
    """The head tells in one sentence, escaped and cut."""
    shown = show(f"%%tape a --what-if a h\na = 1.0\nh = 1.0\nif a < 0:\n    {line}\ny = a * h")

    head = shown.move(a=-1.0)["head"]

    assert words in head
    assert "<b>" not in head
    assert len(head) < 1500


def test_a_slider_that_gets_lost(show: Show) -> None:
    """A name that the program gives something without a slider in a later run is an error of that run."""
    shown = show("%%tape a --what-if a h\na = 1.0\nh = 1.0 if a > 0 else 2\ny = a * h")

    words = "With a = -1.0 there is no report: h = 2 is an integer: write h = 2.0. Shown is the report for a = 1.0."
    assert words in shown.move(a=-1.0)["head"]


def test_nan_is_shown(show: Show) -> None:
    """A value that makes nan is a report as any other: its verdict says it."""
    shown = show(
        "%%tape a --what-if a=-4:4\na = 1.0\nwith np.errstate(all='ignore'):\n    y = np.log(a)"
    )

    assert "nan" in shown.move(a=-1.0)["head"]


def test_what_a_run_prints(show: Show, capsys: pytest.CaptureFixture[str]) -> None:
    """It stands in the report, and nowhere else."""
    shown = show("%%tape a --what-if a\na = 1.0\nprint('<b>', a)\ndisplay(a)\ny = a**2")
    capsys.readouterr()

    head = shown.move(a=2.0)["head"]

    assert "Printed by this run:" in head
    assert "&lt;b&gt; 2.0" in head
    assert "A picture or another display of this run: not shown." in head
    printed = capsys.readouterr()
    assert ("", "") == (printed.out, printed.err)


def test_printed_text_is_cut(show: Show) -> None:
    """Its end is shown."""
    shown = show("%%tape a --what-if a\na = 1.0\nprint('x' * 100_000, 'end')\ny = a**2")

    head = shown.move(a=2.0)["head"]

    assert "… x" in head
    assert "xx end<" in head
    assert len(head) < 4000


def test_figures_are_closed(run: Run, show: Show) -> None:
    """A figure that a run opens does not appear under another cell."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    run("import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt")
    shown = show("%%tape a --what-if a\na = 1.0\nfigure = plt.figure()\ny = a**2")
    pyplot.close("all")

    head = shown.move(a=2.0)["head"]

    assert [] == pyplot.get_fignums()
    assert "not shown" in head


HOSTILE: list[Any] = [
    None,
    "what_if",
    {"what_if": None},
    {"what_if": {"a": "1"}},
    {"what_if": {"a": True}},
    {"what_if": {"a": None}},
    {"what_if": {"a": float("nan")}},
    {"what_if": {"a": 10**400}},
    {"what_if": {"a": [1.0, 2.0]}},
    {"what_if": {"a": []}},
    {"what_if": {"b": 1.0}},
    {"what_if": {"__class__": 1.0}},
    {"what_if": {1: 1.0}},
]


@pytest.mark.parametrize("message", HOSTILE)
def test_invalid_messages(show: Show, message: Any) -> None:
    """They change nothing, and raise nothing."""
    shown = show("%%tape a --what-if a\na = 1.0\ny = a**2")

    shown.send(message)

    assert 0 == shown.content["number"]


def test_values_are_cut_to_the_range(show: Show) -> None:
    """A browser cannot go beyond it; a whole number is as good as one with a point."""
    shown = show("%%tape a --what-if a=-2:2\na = 1.0\ny = a**2")

    shown.move(a=99)
    assert [2.0] == shown.entries("a")
    shown.move(a=-2)
    assert [-2.0] == shown.entries("a")


@pytest.mark.parametrize(
    ("value", "low", "high", "step"),
    [
        ("0.0", -1.0, 1.0, 0.01),
        ("1.0", -1.0, 3.0, 0.02),
        ("0.1", -0.1, 0.3, 0.002),
        ("-3.0", -9.0, 3.0, 0.05),
        ("0.37", -0.4, 1.2, 0.005),
        ("123456.0", -200000.0, 400000.0, 2000.0),
        ("np.array([1.0, -2.0])", -6.0, 5.0, 0.05),
        ("5e-324", -1.0, 1.0, 0.01),
        ("1.7e308", 0.0, 1.7976931348623157e308, 5e305),
    ],
)
def test_ranges(show: Show, value: str, low: float, high: float, step: float) -> None:
    """Without a range there is one around the value, with round ends."""
    [control] = show(f"%%tape --what-if a\na = {value}\ny = a * tm.Variable(1.0)").content[
        "controls"
    ]

    assert (low, high, step) == (control["low"], control["high"], control["step"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a", "a = 2 is an integer: write a = 2.0"),
        ("b", "b = True is True or False: a slider needs a number, such as b = 1.0"),
        ("c", "c is complex: give its real and imaginary part a name each, as in re, im = 1.0, 2.0"),
        ("empty", "empty is an array without entries: give it some"),
        ("big", "big has 25 entries, and sliders are for at most 24"),
        ("whole", "whole is an array of int64: sliders need real numbers"),
        ("text", "text is of type str: a slider needs a number"),
        ("items", "items is a list: write items = np.array([1.0, 2.0])"),
        ("lost", "lost holds nan or inf"),
        ("n", "n = 3 is an integer: write n = 3.0"),
        ("q", "there is no variable 'q' in the notebook, and the cell does not assign one"),
        ("tape", "'tape' is what the tape is called in the cell"),
        ("d=3:-3", "the range in 'd=3:-3' is reversed: write d=-3:3"),
        ("d=2:2", "the range in 'd=2:2' holds one number alone"),
        ("d=0:nan", "the range in 'd=0:nan' has no end: write two finite numbers, as in d=-3:3"),
        ("d=-inf:inf", "the range in 'd=-inf:inf' has no end"),
        ("d=2:3", "d has the value 0.5, which is outside of the range from 2.0 to 3.0"),
        ("d=3", "'d=3' isn't a name with a range: write it without spaces, as in a=-3:3"),
        ("d=:", "'d=:' has no two numbers for a range: write them as in d=-3:3"),
        ("d=1:2:3", "'d=1:2:3' isn't a name with a range"),
        ("d[0]", "'d[0]' isn't a name with a range"),
        ("d d", "'d' stands there twice: write it once, with its range"),
        ("d=0:1 d", "'d' stands there twice"),
        ("k", "the loop assigns k in every iteration"),
        ("y", "y is computed from what is watched, and a slider would cut it off"),
        ("never", "the line that assigns never did not run: write never = 1.0 in front"),
    ],
)  # fmt: skip
def test_bad_input(run: Run, refused: Refused, words: str, message: str) -> None:
    """One line says what to write; the notebook is as it was."""
    run(
        "a, b, c, d, empty, big, whole = 2, True, 1j, 0.5, np.ones(0), np.ones((5, 5)), np.arange(3)\n"
        "text, items, lost, x = 'a', [1.0], float('nan'), 2.0"
    )
    cell = f"%%tape x --what-if {words}\nn = 3\nfor k in [1.0]:\n    y = x * d\nif n < 0:\n    never = 1.0\nz = y"

    line = refused(cell)

    assert line.startswith("%%tape")
    assert message in line


def test_refused_although_the_cell_catches_it(refused: Refused) -> None:
    """A cell that catches every error is refused all the same."""
    line = refused("%%tape --what-if a\ntry:\n    a = 2\nexcept Exception:\n    a = 2.0\ny = a")

    assert "a = 2 is an integer: write a = 2.0" in line


def test_a_range_with_spaces(run: Run, refused: Refused) -> None:
    """It is told to be written without."""
    run("a = 1.0")

    assert "without spaces, as in --what-if a=-3:3" in refused("%%tape a --what-if a = -3:3\ny = a")


def test_names_assigned_twice(show: Show) -> None:
    """The first assignment is replaced; if its value is never read, the verdict says so."""
    shown = show(
        "%%tape --what-if a b\na = 1.0\nb = 2.0\nb = 3.0\na = a + 1\ny = tm.Variable(1.0) * a * b"
    )

    assert "the slider of b has no effect from line 4 on" in repr(shown.report)
    assert "slider of a" not in repr(shown.report)
    assert "12.0" not in shown.content["head"]
    assert "y = 12.0" in shown.move(a=3.0, b=5.0)["head"]


def test_a_name_that_the_cell_does_not_read(run: Run, show: Show) -> None:
    """The verdict says that its slider changes nothing."""
    run("a, b = 1.0, 2.0")

    assert "no line of this cell reads b" in repr(show("%%tape a --what-if a b\ny = a**2").report)


def test_assignments_in_loops_and_branches(show: Show, variables: dict[str, Any]) -> None:
    """An assignment in a loop is replaced in every turn, and in a branch wherever it is the first."""
    shown = show(
        "%%tape --what-if a lr\na = 1.0\nfor k in range(3):\n    lr = 0.1\n    a = a - lr\n"
        "y = tm.Variable(1.0) * a"
    )

    shown.move(a=2.0, lr=0.2)

    assert np.isclose(1.4, variables["a"])


def test_static_outputs_are_those_without_sliders(run: Run, show: Show) -> None:
    """The text, and the page of the first run are as ever, but for the line of the magic."""
    plain = run("%%tape a -n tapename\na = 1.0\ny = a**2")._repr_mimebundle_()

    bundle = show("%%tape a --what-if a\na = 1.0\ny = a**2").bundle

    for kind in ("text/plain", "text/html"):
        assert plain[kind] == bundle[kind].replace("--what-if a", "-n tapename")


def test_many_moves_leave_nothing_behind(run: Run, show: Show) -> None:
    """After 200 moves there are as many widgets and tapes as after the first."""
    run("log = []")
    shown = show("%%tape a --what-if a\na = 1.0\nlog.append(a)\ny = np.sin(a)**2")

    def counted() -> tuple[int, int]:
        gc.collect()
        return len(widget._instances), sum(isinstance(x, Tape) for x in gc.get_objects())

    shown.move(a=0.5)
    before = counted()
    for k in range(200):
        shown.move(a=k / 100)

    assert before == counted()
    assert 201 == shown.content["number"]
