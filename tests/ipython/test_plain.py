"""%%tape --plain, and the line that says once that names are tensors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tapemagic import Tensor, Variable
from tests.ipython.conftest import Run
from tests.ipython.kernels import Kernel, kernel
from tests.ipython.live import content, shown

START = """a, v, t, n = [1.0, 2.0], np.array([1.0, 3.0]), (1.0, 2.0), 3
w, old, losses, table, alias = tm.Variable(2.0), tm.constant(5.0), [], {}, v"""
CELL = """%%tape x a v t n old --plain
x = 2.0
y = np.sum(v) * np.sum(a) * x * w * old * np.sum(t)
pair = (y, [y, {"y": y}], x)
losses.append(y)
table["loss"] = y
constant = tm.constant(1.0)
slope = tape.gradient(y, x)
y"""
NAMES = ("a", "v", "t", "n", "w", "old", "losses", "table")


def test_names_are_given_back(run: Run, variables: dict[str, Any]) -> None:
    """What is watched is what it was, and results are NumPy's, also in lists, tuples and dicts."""
    run(START)
    given = {name: variables[name] for name in NAMES}

    report = run(CELL)

    assert all(variables[name] is value for name, value in given.items())
    assert variables["v"] is variables["alias"]
    y, slope = variables["y"], variables["slope"]
    assert type(variables["x"]) is float
    assert type(y) is type(slope) is type(report.value) is np.float64
    assert y == report.value == 2 * slope == 4 * 3 * 2 * 2 * 5 * 3
    assert variables["pair"] == (y, [y, {"y": y}], 2.0)
    assert type(variables["pair"][1][1]["y"]) is np.float64
    assert json.loads(json.dumps([variables["losses"], variables["table"]])) == [[y], {"loss": y}]
    assert isinstance(variables["w"], Variable)
    assert isinstance(variables["old"], Tensor)
    assert isinstance(variables["constant"], Tensor)


def test_magics_still_know_the_names(run: Run, variables: dict[str, Any]) -> None:
    """The magics that ask the last cell find the tensors, until a name has another value."""
    run(START)
    run(CELL)

    slopes = run("%gradient y x a v")
    assert slopes[0] == variables["slope"]
    assert [type(x) for x in slopes] == [np.float64, np.ndarray, np.ndarray]
    assert "dy/dx = 360.0" in str(run("%why y x"))
    assert "dy/dn is None: n holds integers" in str(run("%why y n"))
    assert "agrees" in str(run("%check_gradient y / 2 y x"))
    assert "y = multiply" in str(run("%tape_graph y"))


def test_a_name_with_another_value(run: Run, refused: Any) -> None:
    """A name that was bound to something else since is that value."""
    run("%%tape x --plain\nx = 2.0\ny = x**2")
    run("x = 3.5")

    assert "'x' is of type float, and no Tensor or Variable" in refused("%gradient y x")


def test_a_failing_cell(shell: Any, run: Run, variables: dict[str, Any]) -> None:
    """Names are given back after an error, too."""
    run(START)

    assert not shell.run_cell(f"{CELL} / 0\nmissing").success

    assert [type(variables[name]) for name in ("x", "a", "y")] == [float, list, np.float64]


def test_a_list_in_itself(run: Run, variables: dict[str, Any]) -> None:
    """A list that contains itself is searched once."""
    run("%%tape x --plain\nx = 2.0\nloop = [x * x]\nloop.append(loop)\nx * x")

    assert variables["loop"][0] == 4.0
    assert variables["loop"][1] is variables["loop"]


def test_sliders_and_plots(run: Run, variables: dict[str, Any]) -> None:
    """Runs of sliders begin with the plain numbers and give back those of their run."""
    run("a = [1.0, 2.0]")
    report = run("%%tape x a --plain --what-if x=0:9 --code\nx = 2.0\ny = x**2 * np.sum(a)")
    shown(report)._handle_custom_msg({"what_if": {"x": [3.0]}, "number": 1}, [])

    assert [variables["x"], variables["a"], variables["y"]] == [3.0, [1.0, 2.0], 27.0]
    assert [type(variables[name]) for name in "xay"] == [float, list, np.float64]
    assert "changed outside" not in content(report._view)["head"]
    assert run("%gradient y x") == 18.0

    run("%%tape a --plain --plot x=0:9\nx = 2.0\ny = x**2 * np.sum(a)")
    assert [variables["x"], variables["a"], variables["y"]] == [2.0, [1.0, 2.0], 12.0]


def test_tensorflow(run: Run, variables: dict[str, Any]) -> None:
    """Tensors of tapemagic.tf become NumPy's numbers as well."""
    run("import tapemagic.tf as tf\nx = 2.0")
    run("%%tape x --plain\ny = tf.square(x)")

    assert type(variables["x"]) is float
    assert type(variables["y"]) is np.float32


def test_dask(run: Run, variables: dict[str, Any]) -> None:
    """Values that are not computed are Dask's arrays again."""
    da = pytest.importorskip("dask.array")
    run("import dask.array as da\nd, w = da.ones(4, chunks=2), tm.Variable(2.0)")
    run("%%tape d --plain\ny = np.sum(w * d)")

    assert isinstance(variables["d"], da.Array)
    assert isinstance(variables["y"], da.Array)
    assert variables["y"].compute() == 8.0


HINT = "From now on, x is a Tensor."


def test_the_hint(run: Run) -> None:
    """The first widget of a kernel says that names are tensors; text and HTML, which are stored, never do."""
    heads, bundles = [], []
    for cell in (
        "%%tape z --plain\nz = 2.0\nz * z",
        "%%tape x\nx = 2.0\ny = x**2",
        "%%tape x\nx = 2.0\ny = x**2",
    ):
        report = run(cell)
        heads.append(content(shown(report))["head"])
        bundles.append(report._repr_mimebundle_())

    assert [HINT in head for head in heads] == [False, True, False]
    assert "float(x) or x.numpy()" in heads[1]
    for kind in ("text/plain", "text/html", "text/latex"):
        assert bundles[1][kind] == bundles[2][kind]


def test_the_hint_names_what_an_array_has(run: Run) -> None:
    """An array has no float; a report that is not shown does not say it."""
    cell = "%%tape v\nv = np.ones(3)\ny = np.sum(v)"
    run(f"{cell};")

    head = content(shown(run(cell)))["head"]
    assert "v.numpy() or v.tolist() returns it" in head
    assert "float" not in head


def test_tensors_need_no_hint(run: Run) -> None:
    """A value that was a tensor before is no news."""
    run("x = tm.constant(2.0)")

    assert HINT not in content(shown(run("%%tape x\ny = x**2")))["head"]


@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_in_a_kernel(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A notebook goes on with numbers: in json, in a dict, in a duration, and in the next %%tape cell."""
    with kernel(tmp_path_factory.mktemp("kernel")) as notebook:
        _goes_on(notebook)


def _goes_on(notebook: Kernel) -> None:
    assert "dy/dx = 4.0" in notebook.show("%%tape x --plain\nx = 2.0\ny = x**2")
    later = "import json, datetime\nprint(json.dumps({'x': x, 'y': y}), {x: 1}, datetime.timedelta(seconds=y))"
    assert notebook.show(later) == '{"x": 2.0, "y": 4.0} {2.0: 1} 0:00:04\n'
    assert "4.0" in notebook.show("%gradient y x")
    assert "dy/dx = 4.0, 1 path" in notebook.show("%why y x")
    assert "dz/dx = 12.0" in notebook.show("%%tape x\nz = x**3")
    assert notebook.show("print(z, f'{x:.2f}', repr(x))") == "8.0 2.00 Tensor(2.0)\n"
    assert "--plain" in notebook.complete("%%tape x --pl")
