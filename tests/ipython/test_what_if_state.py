"""--what-if: each run of a slider begins as the first run began, loses nothing that others changed, or says so."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from tapemagic.report.bundle import TapeReport
from tapemagic.report.live.packing import unpacked
from tests.ipython.conftest import Run

pytestmark = pytest.mark.thorough

UNSTEADY = "more than the sliders changes this report"


def moved(report: TapeReport, **values: Any) -> str:
    """The head of a report after sliders were moved."""
    report._repr_mimebundle_()
    report._view._handle_custom_msg({"what_if": values, "number": 1}, [])
    head: str = unpacked(report._view.content)["head"]
    return head


STATES = {
    "class attribute": ("class C:\n    n = 0", "C.n += 1; C.new = 1", "C.n"),
    "slots": ("class C:\n    __slots__ = ('n',)\n    def __init__(self): self.n = 0\nc = C()", "c.n += 1", "c.n"),
    "property": (
        "class C:\n    n = 0\n    @property\n    def next(self):\n        C.n += 1\n        return C.n\nc = C()",
        "k = c.next",
        "k",
    ),
    "lru_cache": ("import functools\n@functools.lru_cache\ndef f(x): return x * a", "k = f(2.0)", "k"),
    "partial": (
        "import functools\nlog = []\ndef f(log): log.append(1); return len(log)\nf = functools.partial(f, log)",
        "k = f()",
        "k",
    ),
    "bound method": ("log = []\nadd = log.append", "add(1)", "len(add.__self__)"),
    "bit generator": ("bits = np.random.PCG64(0)", "k = np.random.Generator(bits).normal()", "k"),
    "DataFrame": (
        "import pandas as pd\ntable = pd.DataFrame({'u': [1.0, 2.0]})",
        "table.loc[len(table)] = 1.0; table[f'v{len(table)}'] = a; table.loc[0, 'u'] += 1",
        "table.size + table.loc[0, 'u']",
    ),
    "Series": ("import pandas as pd\ns = pd.Series([1.0, 2.0])", "s[0] += 1", "s[0]"),
    "array.array": ("import array\nnumbers = array.array('d', [1.0])", "numbers[0] += 1", "numbers[0]"),
    "UserDict": ("from collections import UserDict\nd = UserDict(n=0)", "d['n'] += 1", "d['n']"),
    "queue": ("import queue\nq = queue.Queue()\nfor k in range(3): q.put(k)", "k = q.get()", "k"),
    "function of another namespace": (
        "held = {'log': []}\nexec('def f(): log.append(1); return len(log)', held)\nf = held['f']",
        "k = f()",
        "k",
    ),
    "path of modules": ("import sys", "sys.path.append('/nowhere')", "sys.path.count('/nowhere')"),
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_state_is_set_back(run: Run, variables: dict[str, Any], state: str) -> None:
    """After moves, the notebook is as if the first run had had the last number."""
    setup, change, seen = STATES[state]
    if "pandas" in setup:
        pytest.importorskip("pandas")
    results = []
    for first, moves in ((2.0, ()), (1.0, (0.5, 3.0, 2.0))):
        run(setup)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.path", [*__import__("sys").path])
            report = run(
                f"%%tape --what-if a=-9:9\na = {first}\n{change}\ny = tm.Variable(1.0) * a * ({seen})"
            )
            for number in moves:
                assert UNSTEADY not in moved(report, a=number)
            results.append((float(variables["y"]), run(seen)))

    assert results[0] == results[1]


MODEL = """from tapemagic import nn
nn.module.clear_names()
nn.set_random_seed(0)
x = np.linspace(-1, 1, 8)[:, None]
model = nn.Sequential([nn.Dense(3), nn.BatchNormalization(), nn.Dropout(0.5), nn.Dense(1)], name="m")
model.compile("adam", "mse")
history = model.fit(x, x, verbose=0)"""

STEPS = {
    "an own step": "with tm.GradientTape() as inner:\n    loss = a * np.mean((model(x, training=True) - x) ** 2)\n"
    "v = model.trainable_variables\nmodel.optimizer.apply_gradients(zip(inner.gradient(loss, v), v))",
    "fit": "history = model.fit(a * x, x, batch_size=4, verbose=0)",
    "a new layer": "model.add(nn.Dense(1))\nmodel.compile('sgd', 'mse')\nmodel.fit(a * x, x, verbose=0)",
    "a seed": "nn.set_random_seed(3)\nmodel.fit(a * x, x, verbose=0)",
}


@pytest.mark.parametrize("step", STEPS)
def test_models_and_optimizers_are_set_back(run: Run, step: str) -> None:
    """Weights, averages, slots, steps made, dropout masks and automatic names are those of a first run."""
    seen = (
        "([float(np.sum(np.abs(v.numpy()))) for v in [*model.variables, *model.optimizer.variables]], "
        "[v.name for v in model.variables], nn.random.generator().random())"
    )
    results = []
    for first, moves in ((2.0, ()), (1.0, (0.5, 3.0, 2.0))):
        run(MODEL)
        report = run(f"%%tape --what-if a=-9:9\na = {first}\n{STEPS[step]}")
        for number in moves:
            assert UNSTEADY not in moved(report, a=number)
        results.append(run(seen))

    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("setup", "number"),
    [
        ("numbers = iter([1.0, 2.0, 3.0, 4.0])", "next(numbers)"),
        ("numbers = (k for k in [1.0, 2.0, 3.0, 4.0])", "next(numbers)"),
        ("", "np.random.default_rng().normal()"),
        ("import time", "time.perf_counter()"),
        ("import io\nfile = io.StringIO()", "float(file.write('x') + file.tell())"),
        ("numbers = iter([1.0])", "next(numbers)"),
    ],
)
def test_a_cell_that_cannot_be_repeated(run: Run, setup: str, number: str) -> None:
    """The verdict says that not all comes from the sliders; a run that fails says so, too."""
    run(setup)
    report = run(f"%%tape --what-if a\na = 1.0\ny = tm.Variable(1.0) * a * {number}")

    head = moved(report, a=2.0)

    assert UNSTEADY in head or "With a = 2.0 the cell stops: StopIteration" in head


CHANGES = {
    "items": ("log = [0]", "log.append(1)", "log.append(2)", "log", [0, 1, 2, 1]),
    "entries": ("w = np.zeros(2)", "w += 1", "w[0] = 5.0", "w.tolist()", [6.0, 2.0]),
    "a Variable": ("v = tm.Variable(1.0)", "v.assign_add(1.0)", "v.assign(7.0)", "float(v)", 8.0),
    "a name": ("n = 0", "n = n + 1", "n = 10", "n", 11),
    "a name that is only read": ("data = 1.0", "z = data * a", "data = 5.0", "data", 5.0),
    "a container that is only read": ("data = [1.0]", "z = data[0] * a", "data[0] = 5.0", "data", [5.0]),
    "an attribute": ("class C: n = 0", "C.n += 1", "C.n = 10", "C.n", 11),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_other_cells_change_is_kept(run: Run, change: str) -> None:
    """Runs of sliders begin with what other cells made of a value since, and the verdict names it."""
    setup, line, later, seen, expected = CHANGES[change]
    run(setup)
    report = run(f"%%tape --what-if a\na = 1.0\n{line}\ny = tm.Variable(1.0) * a")
    name = setup.replace("class ", "").split()[0].strip(":")
    assert "changed outside of this cell" not in moved(report, a=0.5)
    run(later)

    for number in (2.0, 3.0, 1.0):
        head = moved(report, a=number)

        assert f"changed outside of this cell since its first run: {name}. " in head
        assert UNSTEADY not in head
        assert expected == run(seen)


def test_what_is_deleted_stays_deleted(run: Run, variables: dict[str, Any]) -> None:
    """A run that needs it fails, and says so."""
    run("data = [1.0]")
    report = run("%%tape --what-if a\na = 1.0\ny = tm.Variable(1.0) * a * data[0]")
    run("del data")

    assert "NameError" in moved(report, a=2.0)
    assert "data" not in variables


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("w = np.ones(3)", "w has another shape now: run the cell again for its sliders"),
        ("w = 1.0", "w has another shape now"),
        ("w = 7", "w = 7 is an integer"),
        ("del w", "w was deleted: give it a value"),
        ("%reset -f", "w was deleted"),
    ],
)
def test_a_slider_whose_value_became_another(run: Run, line: str, words: str) -> None:
    """The report stays, and says why; what others made of the value stays, too."""
    run("w = np.ones(2)")
    report = run("%%tape --what-if w a\na = 1.0\ny = tm.Variable(1.0) * a * w")
    run(line)

    for numbers in ({"a": 2.0}, {"w": [1.0, 2.0]}):
        assert f"there is no report: {words}" in moved(report, **numbers)
    assert [(1, []), (2, [2])] == [
        (len(x["entries"]), x["shape"]) for x in report.content()["controls"][::-1]
    ]


def test_a_run_that_fails_keeps_what_others_changed(run: Run, variables: dict[str, Any]) -> None:
    """Names and contents are those from before the move."""
    run("log, n = [], 0")
    report = run(
        "%%tape --what-if a\na = 1.0\nlog.append(a); n = n + 1\ny = tm.Variable(1.0) * a / (a - 2.0)"
    )
    run("log.append('mine'); n = 10; other = 3")

    assert "stops" in moved(report, a=2.0)
    assert [1.0, "mine"] == variables["log"]
    assert (10, 3) == (variables["n"], variables["other"])


def test_random_numbers_of_other_cells_go_on(run: Run, variables: dict[str, Any]) -> None:
    """A run draws what the first run drew, and other cells never get the same numbers twice."""
    run("rng = np.random.default_rng(0)")
    report = run(
        "%%tape --what-if a\na = 1.0\nnoise = rng.normal()\ny = tm.Variable(1.0) * a * noise"
    )
    drawn = [variables["noise"], run("rng.normal()")]

    head = moved(report, a=2.0)

    drawn += [run("rng.normal()") for _ in range(2)]
    assert variables["noise"] == drawn[0]
    assert UNSTEADY not in head
    assert "changed outside" not in head
    assert np.random.default_rng(0).normal(size=4).tolist() == drawn


def test_two_cells_that_train_one_variable(run: Run, variables: dict[str, Any]) -> None:
    """The sliders of one begin where the other has left it."""
    run("v = tm.Variable(1.0)")
    cell = "%%tape --what-if {0}\n{0} = 1.0\nv.assign_add({0})\nloss = v * 1.0"
    first, second = run(cell.format("a")), run(cell.format("b"))

    head = moved(first, a=0.5)
    assert 3.5 == float(variables["v"])
    assert "since its first run: v. " in head
    assert "since its first run: v. " in moved(second, b=2.0)
    assert 5.5 == float(variables["v"])


def test_a_closed_report_holds_nothing_of_its_runs(run: Run) -> None:
    """When a cell ran again, its earlier report lets go of tapes and of the contents that it kept, sliders included."""
    run("data = np.ones(1000)")
    report = run("%%tape --what-if a\na = 1.0\ny = tm.Variable(1.0) * a * data")
    moved(report, a=2.0)
    what_if = weakref.ref(report.on_move.__self__)

    report.close()
    gc.collect()

    assert what_if() is None
    assert [] == report.content()["controls"]
    assert report.on_move is None


def test_one_line_for_several_names(refused: Any) -> None:
    """A slider of one of them would leave the others behind."""
    line = refused("%%tape --what-if a\nb = a = 1.0\ny = tm.Variable(1.0) * a * b")

    assert "one line gives several names the value of a" in line
