"""--check runs the cell again with nudged inputs, decides what its gradients lack, and leaves everything as it was."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import tapemagic as tm
from tapemagic.ipython import nudged_runs
from tests.ipython.conftest import Run
from tests.ipython.kernels import VIEW, Kernel
from tests.ipython.lost_and_healthy import HEALTHY, LOST
from tests.shares import each

NUDGED = re.compile(
    r"^Nudging x gives dy/dx = (\S+); the tape's (\S+) lacks (\S+?)[,.]?\s", re.MULTILINE
)
WHOLE = "The gradient matches finite differences. Nudging the inputs agrees: nothing is missing."
ONLY = "Only the recorded operations were compared; the cell itself wasn't checked: "
START = "import math\nx = 1.3\nold = []"


def slope(source: str) -> float:
    """The derivative of a cell's y by x, from runs of the cell without a tape."""

    def y(x: float) -> float:
        names: dict[str, Any] = {"x": x, "np": np, "math": math, "tm": tm, "__name__": "__main__"}
        with redirect_stdout(StringIO()):
            exec(source.replace("x.item()", "float(x)"), names)  # noqa: S102 -- the cells of this test
        return float(names["y"])

    h = 1e-4
    return (8 * (y(1.3 + h) - y(1.3 - h)) - (y(1.3 + 2 * h) - y(1.3 - 2 * h))) / (12 * h)


@pytest.mark.parametrize("name", [*LOST][:: each(1)])
def test_a_part_that_is_lost(run: Run, name: str) -> None:
    """The verdict has the right derivative, the tape's, and where the difference left the tape."""
    run(START)

    words = repr(run(f"%%tape x --check\n{LOST[name]}"))

    found = NUDGED.search(words)
    assert found is not None, words
    there, here = float(found[1]), float(found[2])
    assert there == pytest.approx(slope(LOST[name]), rel=1e-5)
    lacking = here if found[3] == "half" else float(found[3])
    assert here + lacking == pytest.approx(there, rel=1e-5)
    assert " may " not in words
    # Where a Variable is assigned, nothing is converted.
    assert "which left through " in words or "assign" in name
    assert "✓" not in words


@pytest.mark.parametrize("name", HEALTHY)
def test_a_cell_that_only_shows_values(
    run: Run, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Nothing is missing, and nothing is printed or logged twice."""
    run(START)
    with caplog.at_level(logging.INFO):
        capsys.readouterr()
        plain = run(f"%%tape x\n{HEALTHY[name]}")
        printed, logged = capsys.readouterr(), len(caplog.records)
        run(START)
        capsys.readouterr()

        words = repr(run(f"%%tape x --check\n{HEALTHY[name]}"))

        assert WHOLE in words
        assert "lost track" not in words
        assert len(caplog.records) == 2 * logged
    after = capsys.readouterr()
    before_report = [text.split("%%tape: ")[0] for text in (printed.out, after.out)]
    assert before_report[0] == before_report[1]
    assert printed.err == after.err
    assert plain is not None


def test_every_order_and_matrix(run: Run) -> None:
    """A first derivative that is wrong is said once, with the derivatives that weren't checked for it."""
    words = repr(
        run(
            "%%tape x --check -o 3 --jacobian --hessian\nx = np.array([3.0, 4.0])\n"
            "n = float(np.sum(x**2))\ny = np.sum(x**3) / n"
        )
    )

    # In the verdict, and in the tab with its row.
    assert 2 == words.count("Nudging x[")
    assert "were not checked: the first derivative lacks a part already" in words
    # y = S3 / S2, so dy/dx1 = 3 x1² / S2 - 2 x1 S3 / S2²; here and there are both shown.
    right = 3 * 16 / 25 - 2 * 4 * (27 + 64) / 625
    assert (
        f"Nudging x[1] gives dy/dx[1] = {right:g}; the tape's 1.92 lacks {right - 1.92:g}" in words
    )


def test_a_higher_order_alone_is_wrong(run: Run) -> None:
    """The first derivative agrees; the second one is compared with nudged first ones of the cell."""
    run(
        "@tm.custom_gradient\ndef f(u):\n    v = float(u)\n    return u**3, lambda g: g * 3 * v * u"
    )

    words = repr(run("%%tape x --check -o 2\nx = 2.0\ny = f(x)"))

    assert "d²y/dx² differs from finite differences: f has a custom gradient" in words
    assert (
        "dy/dx matches finite differences. Nudging the inputs agrees: nothing is missing in these"
        in words
    )


def test_the_program_s_own_gradients(run: Run) -> None:
    """The gradient that the cell took lacks the same part."""
    words = repr(
        run(
            "%%tape x --check\nx = 2.0\nwith tm.GradientTape() as t:\n    t.watch(x)\n    z = x * float(x)\n"
            "g = t.gradient(z, x)"
        )
    )

    assert "Nudging x gives dz/dx = 4.0; the tape's 2.0 lacks half" in words
    assert (
        "lacks a part: 2.0 on the tape, 4.0 by nudging, which left through float() on line 5"
        in words
    )


@pytest.mark.parametrize(
    ("cell", "gives"),
    [
        ("w = tm.Variable(1.3)\nk = float(w)\ny = k * w", "dy/dw = 2.6; the tape's 1.3 lacks half"),
        ("k = float(v)\ny = k * v", "dy/dv = 4.0; the tape's 2.0 lacks half"),
        ("y = c * float(c)", "dy/dc = 3.0; the tape's 1.5 lacks half"),
        (
            "p = tm.constant(2.5)\ntape.watch(p)\ny = p * float(p)",
            "dy/dp = 5.0; the tape's 2.5 lacks half",
        ),
    ],
)
def test_inputs_of_every_kind(run: Run, cell: str, gives: str) -> None:
    """Variables of this cell and of an earlier one, and tensors that were watched, are nudged and set back."""
    run("v = tm.Variable(2.0)\nc = tm.constant(1.5)")

    words = repr(run(f"%%tape c --check\n{cell}"))

    assert gives in words
    assert run("float(v) == 2.0 and float(c) == 1.5")


def test_arrays(run: Run) -> None:
    """Of many entries some are nudged, and all together; the entry that differs is found."""
    run("x = np.linspace(0.0, 1.0, 1001)")

    words = repr(run("%%tape x --check\ny = np.sum(x**2) * float(x[337])"))

    # The entry 337 alone gets the missing part: the sum of squares.
    total = float(np.sum(np.linspace(0, 1, 1001) ** 2))
    found = re.search(r"Nudging x\[337\] gives dy/dx\[337\] = (\S+); ", words)
    assert found is not None, words
    assert float(found[1]) == pytest.approx(total + 2 * 0.337**2, rel=1e-5)


def test_a_million_entries(run: Run) -> None:
    """A check of a large array takes few runs, and finds what all entries have in common."""
    run("x = np.random.default_rng(0).normal(size=10**6)")

    healthy = repr(run("%%tape x --check\nprint(float(x[0]))\ny = np.mean(x**2)"))
    lost = repr(run("%%tape x --check\ny = np.mean(x**2) * float(np.mean(x**2))"))

    assert WHOLE in healthy
    assert re.search(r"Nudged were \d+ of 1,000,000 entries, and all together\.", healthy)
    assert "lacks half, which left through float()" in lost


def test_single_precision(run: Run) -> None:
    """Steps are longer, and the number has the digits that are right."""
    run("x = np.array([3.0, 4.0], np.float32)")

    lost = repr(run("%%tape x --check\nn = float(np.sqrt(np.sum(x**2)))\ny = np.sum(x / n)"))
    healthy = repr(run("%%tape x --check\nprint(float(x[0]))\ny = np.sum(np.sin(x) * x)"))

    assert "Nudging x[1] gives dy/dx[1] = -0.024; the tape's 0.2 lacks -0.224" in lost
    assert WHOLE in healthy


def test_complex_numbers(run: Run) -> None:
    """Both parts of an entry are nudged."""
    words = repr(run("%%tape x --check\nx = 1 + 2j\ny = np.abs(x) ** 2 * float(np.real(x))"))

    assert "Nudging x (real part) gives dy/dx (real part) = 7.0; the tape's 2.0 lacks 5.0" in words


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (
            "import time\ny = x * time.perf_counter()",
            "with the same inputs, another run gave another result",
        ),
        (
            "y = x * np.random.default_rng().random()",
            "with the same inputs, another run gave another result",
        ),
        (
            "y = x * next(numbers)",
            "it uses an iterator (list_iterator), which runs cannot set back",
        ),
        ("y = x**2 if float(x) >= 2 else x", "nudging changes a condition on line 2"),
        ("y = x**2\nif x > 2 or x == 2:\n    y = y * 2", "nudging changes a condition on line 3"),
        ("y = x * int(x)", "the target jumps or bends sharply near this point"),
        ("y = x * math.sqrt(float(x) - 2)", "it stops with ValueError: math domain error (line 2)"),
        ("assert float(x) == 2\ny = x**2", "it stops with AssertionError (line 2)"),
        ("y = x * tm.stop_gradient(x)", "y was computed through stop_gradient"),
        (
            "with tape.stop_recording():\n    k = x * 1\ny = k * x",
            "part of y was computed inside stop_recording()",
        ),
        (
            "import subprocess\nsubprocess.run(['true'])\ny = x**2",
            "it runs another program (line 3)",
        ),
        (
            "import os\nos.makedirs('made', exist_ok=True)\ny = x**2",
            "it changes the file 'made' (line 3)",
        ),
        ("np.save('saved.npy', np.ones(2))\ny = x**2", "it writes the file 'saved.npy' (line 2)"),
        (
            "try:\n    with open('a.txt', 'a') as f:\n        f.write('a')\nexcept OSError:\n    pass\ny = x**2",
            "it writes the file 'a.txt'",
        ),
        (
            "from pathlib import Path\nPath('p.txt').write_text('p')\ny = x**2",
            "it writes the file 'p.txt'",
        ),
        (
            "file.write('more')\ny = x**2",
            "it uses an open file (TextIOWrapper), which runs cannot set back",
        ),
        ("import time\ntime.sleep(0.3)\ny = x**2", "its runs would take too long"),
    ],
)
def test_cells_that_decide_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str, why: str
) -> None:
    """The verdict says why the cell itself wasn't checked, and nothing is done twice that cannot be undone."""
    monkeypatch.chdir(tmp_path)
    if "sleep" in cell:
        monkeypatch.setattr(nudged_runs, "SECONDS", 2.0)
    run("import math\nnumbers = iter([1.0, 2.0, 3.0, 4.0])\nx = 2.0\nfile = open('log.txt', 'w')")

    words = repr(run(f"%%tape x --check\n{cell}"))

    assert f"The gradient matches finite differences. {ONLY}{why}" in words
    assert "nothing is missing" not in words
    run("file.close()")
    contents = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert contents.get("a.txt", b"a") == b"a"
    assert contents["log.txt"] in {b"", b"more"}
    if "next" in cell:
        assert run("list(numbers)") == [2.0, 3.0, 4.0]


def test_what_left_the_tape_unchecked(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the cell can't run again, a match claims nothing about what left the tape."""
    monkeypatch.chdir(tmp_path)

    words = repr(
        run("%%tape x --check\nx = 2.0\nopen('a.txt', 'w').close()\nk = float(x)\ny = k * x")
    )

    assert "What left the tape through float() on line 4 (k = float(x)) was not checked." in words


def test_a_kink_and_an_edge(run: Run) -> None:
    """relu at 0 has no derivative; the logarithm at 0 has no finite one."""
    kink = repr(run("%%tape x --check\nx = 0.0\ny = tm.relu(x)"))
    edge = repr(
        run(
            "%%tape x --check\nx = np.array([0.0, 1.0])\nwith np.errstate(all='ignore'):\n    y = np.log(x)"
        )
    )
    integer = repr(run("%%tape x --check\nx = 3\ny = x * x"))

    assert "there is a kink: the slope is 0 on one side and 1 on the other" in kink
    assert "The gradient was not checked: some numbers are nan or infinite." in edge
    assert "dy/dx is None: x holds integers" in integer


def test_a_check_of_values_that_only_hold_here(run: Run) -> None:
    """Where a nudge violates an assertion, a shorter one may not."""
    words = repr(run("%%tape x --check\nx = 1.3\ny = x**2\nassert np.isclose(float(y), 1.69)"))

    assert WHOLE in words


def test_a_training_loop(run: Run) -> None:
    """Its Variables change, so nudging their first values is no check of the last gradient, and it says so."""
    run("w = tm.Variable([1.0, 2.0])")

    words = repr(
        run(
            "%%tape --check\nfor _ in range(5):\n    with tm.GradientTape() as t:\n"
            "        loss = np.sum((w * 3 - 1) ** 2)\n    g = t.gradient(loss, w)\n    w.assign_sub(0.01 * g)"
        )
    )

    assert (
        f"{ONLY}w is assigned in the cell, so nudging the value that it has before decides nothing"
        in words
    )


STATE = (
    "import random\nnp.random.seed(1)\nrandom.seed(1)\nx = np.array([1.0, 2.0])\nw = tm.Variable([0.5, 1.5])\n"
    "log, table = [], {'n': 0}\nbuffer = np.zeros(3)\nrng = np.random.default_rng(3)\n"
    "class Counter:\n    total = 0\ncounter = Counter()"
)
CHANGING = (
    "k = float(x[0])\nlog.append(k)\ntable['n'] += 1\nbuffer[0] += 1\nCounter.total += 1\ncounter.last = k\n"
    "noise = np.random.rand() + random.random() + rng.random()\nnew = [k]\n"
    "y = np.sum(x * w) * k * noise\nw2 = tm.Variable(float(y))\nw2.assign_add(1.0)"
)
NAMES = "log", "table", "buffer", "new", "k", "noise"


def test_everything_is_as_after_the_first_run(run: Run, variables: dict[str, Any]) -> None:
    """Names, contents, Variables, the tape and random generators are what one run leaves."""

    def left() -> Any:
        values = {name: np.array(variables[name]).tolist() for name in ("buffer", "k", "noise")}
        values |= {name: variables[name] for name in ("log", "table", "new")}
        values["w"] = variables["w"].numpy().tolist(), float(variables["w2"]), float(variables["y"])
        values["class"] = variables["Counter"].total, variables["counter"].last
        values["gradient"] = np.array(run("tape.gradient(y, x)")).tolist()
        values["draws"] = run("(np.random.rand(), random.random(), rng.random())")
        values["names"] = {name for name in variables if not name.startswith("_")}
        return values

    run(STATE)
    run(f"%%tape x -p -t y\n{CHANGING}")
    once = left()
    run(STATE)

    words = repr(run(f"%%tape x -p -t y --check\n{CHANGING}"))

    assert "Nudging x[0] gives dy/dx[0] = " in words
    assert once == left()


def test_python_is_left_as_it_was(run: Run) -> None:
    """The functions that are guarded, the trace, logging and the settings of NumPy are put back."""
    look = (
        "import builtins, io, os, sys, socket, subprocess, logging, gc\n"
        "(builtins.open, builtins.input, io.open, os.open, os.remove, subprocess.Popen.__init__, "
        "socket.socket.connect, sys.gettrace(), logging.root.manager.disable, gc.isenabled(), np.geterr(), "
        "'connect' in vars(socket.socket))"
    )
    before = run(look)

    run("%%tape x --check\nx = 2.0\ny = x * float(x)")
    run("%%tape x --check\nx = 2.0\ny = x * math.sqrt(float(x) - 2)" if run("import math") else "1")
    run("%%tape x --check\nx = 2.0\nimport subprocess\nsubprocess.run(['true'])\ny = x * float(x)")

    assert before == run(look)


def test_a_figure(run: Run) -> None:
    """One figure is open after the cell, with one line."""
    run(
        "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\nplt.close('all')"
    )

    words = repr(
        run(
            "%%tape x --check\nx = np.linspace(0.0, 1.0, 5)\nplt.plot(np.asarray(x))\ny = np.sum(x**2)"
        )
    )

    assert WHOLE in words
    assert run("len(plt.get_fignums()), len(plt.gca().lines)") == (1, 1)
    run("plt.close('all')")


def test_axes_of_an_earlier_cell(run: Run) -> None:
    """A picture that is there already cannot be set back, so the cell doesn't draw into it again."""
    run(
        "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\nfig, ax = plt.subplots()"
    )

    words = repr(run("%%tape x --check\nx = 2.0\nax.plot([0, float(x)])\ny = x**2"))

    assert f"{ONLY}it draws into a picture of another cell" in words
    assert run("len(ax.lines)") == 1
    run("plt.close('all')")


def test_sliders(run: Run) -> None:
    """A cell with sliders is not run again for a check, and says so."""
    words = repr(run("%%tape x --check --what-if x\nx = 2.0\ny = x**2"))

    assert f"{ONLY}it has sliders; leave out --what-if" in words


def test_a_plot_beside_it(run: Run) -> None:
    """The runs for a plot and those for a check don't disturb each other."""
    words = repr(run("%%tape x --check --plot x=0:4\nx = 2.0\nk = float(x)\ny = k * x"))

    assert "Nudging x gives dy/dx = 4.0; the tape's 2.0 lacks half" in words


def test_plain(run: Run) -> None:
    """With --plain, the names are plain numbers after the check as well."""
    words = repr(run("%%tape x --check --plain\nx = 2.0\nk = float(x)\ny = k * x"))

    assert "Nudging x gives dy/dx = 4.0" in words
    assert run("type(x) is float and type(y) is np.float64")


def test_models(run: Run) -> None:
    """The weights of a layer are nudged; they are Variables of an earlier cell."""
    run(
        "from tapemagic import nn\nnp.random.seed(0)\nlayer = nn.Dense(1)\n"
        "X = np.linspace(-1, 1, 12).reshape(4, 3)\nlayer(X)"
    )

    lost = repr(run("%%tape --check\nk = float(np.sum(layer(X)))\ny = np.sum(layer(X) ** 2) * k"))
    healthy = repr(run("%%tape --check\nprint(float(np.sum(layer(X))))\ny = np.sum(layer(X) ** 2)"))

    assert "lacks" in lost
    assert "Nudging the inputs agrees: nothing is missing." in healthy


def test_a_model_that_the_cell_makes(run: Run) -> None:
    """Its weights have no names in the cell, and are nudged as they are read for the first time."""
    make = "m = nn.Sequential([nn.Dense(1, activation='tanh'), nn.Dense(1)])\nX = np.ones((4, 1))"
    run("from tapemagic import nn\nnp.random.seed(0)")

    healthy = repr(run(f"%%tape --check\n{make}\nloss = np.mean(m(X) ** 2)"))
    lost = repr(run(f"%%tape --check\n{make}\nloss = np.mean(m(X) ** 2) * float(np.sum(m(X)))"))

    assert "All 4 derivatives match finite differences. Nudging the inputs agrees" in healthy
    assert 3 <= lost.count("which left through float() on line 4")


def test_a_step_after_the_target(run: Run) -> None:
    """A Variable that changes only afterwards is nudged at the value that the target was computed from."""
    run("w = tm.Variable(2.0)")

    words = repr(
        run(
            "%%tape --check\nwith tm.GradientTape() as t:\n    loss = (w - 3) ** 2 * float(w)\n"
            "g = t.gradient(loss, w)\nw.assign_sub(0.1 * g)"
        )
    )

    assert "Nudging w gives dloss/dw = -3.0; the tape's -4.0 lacks 1.0" in words
    assert run("float(w)") == pytest.approx(2.4)


def test_a_named_tuple_and_a_condition_in_a_library(run: Run) -> None:
    """Other branches in libraries, or equal code that is made anew, are no other way through the cell."""
    words = repr(
        run(
            "%%tape x --check\nx = 2.0\nfrom collections import namedtuple\nP = namedtuple('P', 'a')\n"
            "y = P(x).a ** 2 + sum(sorted([1.0, 0.5]))"
        )
    )

    assert WHOLE in words


@pytest.fixture
def report_of(shell: InteractiveShell) -> Callable[[str], Any]:
    """Returns the findings of a cell's report after the button *Check*."""

    def report_of(cell: str) -> Any:
        result = shell.run_cell(cell)
        result.raise_error()
        return result.result

    return report_of


def test_the_button(report_of: Callable[[str], Any], run: Run) -> None:
    """It runs the cell again, too, from the state in which it started, whatever other cells changed since."""
    run("log = []\nrate = 2.0")
    report = report_of("%%tape x\nx = 1.3\nlog.append(float(x))\ny = x * log[-1] * rate")
    run("kept = log\nlog = ['mine']\nkept.append('later')\nrate = 7.0\nx = 'text'")

    answer = report._answers.answer("check")

    assert answer["words"].startswith("✗ The gradient lacks a part")
    assert "Nudging x gives dy/dx = 5.2; the tape&#x27;s 2.6 lacks half" in answer["html"]
    assert run("(log, kept, rate, x)") == (["mine"], [1.3, "later"], 7.0, "text")


def test_saving_runs_nothing(report_of: Callable[[str], Any], run: Run, tmp_path: Path) -> None:
    """A page has the check of the recorded operations, which says what it did not check."""
    run("runs = [0]")
    report = report_of("%%tape x\nx = 1.3\nclass A:\n    n = runs[0] + 1\nk = float(x)\ny = k * x")

    answer = report.save(tmp_path / "page.html").read_text(encoding="utf-8")

    assert answer
    assert run("runs") == [0]


@pytest.mark.thorough
@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_in_a_kernel(notebook: Kernel) -> None:
    """Printed, displayed and logged once; asked once; figures shown once."""
    notebook.run(
        "import logging\nlogging.basicConfig(level='INFO')\n%matplotlib inline\nimport matplotlib.pyplot as plt"
    )

    ran = notebook.run(
        "%%tape x --check\nx = 1.3\nprint('printed', float(x))\ndisplay('displayed')\nlogging.info('logged')\n"
        "plt.plot([0, float(x)])\nplt.show()\ny = x * float(x)"
    )

    assert [] == ran.errors
    assert "printed 1.3\n" == ran.stdout
    assert 1 == ran.stderr.count("logged")
    assert 1 == sum(data.get("text/plain") == "'displayed'" for data in ran.shown)
    assert 1 == sum("image/png" in data for data in ran.shown)
    assert 1 == sum(VIEW in data for data in ran.shown)
    assert "Nudging x gives dy/dx = 2.6; the tape's 1.3 lacks half" in ran.text
