"""%%tape on Dask arrays: what is shown computes nothing, and --compute computes it once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.explain.snapshot import snapshot_of
from tests.ipython.conftest import Run
from tests.ipython.kernels import kernel
from tests.ipython.live import asked, shown
from tests.lazy.lazy_cases import raising

pytestmark = pytest.mark.thorough

DATA = """
import dask, dask.array as da
numbers = np.linspace(-1.0, 1.0, 40).reshape(10, 4)
X = tm.constant(da.from_array(numbers, chunks=(4, 4)))
t = tm.constant(da.from_array(numbers[:, 0] * 2, chunks=4))
w, b = tm.Variable([0.5, -1.0, 2.0, 0.0], name='w'), tm.Variable(0.5, name='b')
V = tm.Variable(numbers[:4] + 0.1, name='V')
"""
LINE = "%%tape{}\ne = X @ w + b - t\nloss = np.mean(e**2)"
NETWORK = "%%tape{}\nh = np.tanh(X @ V)\nout = tm.relu(h @ w + b)\nloss = np.mean((out - t)**2)"
COUNTED = """
reads = []
def read(block, block_id):
    reads.append(block_id[0])
    return block
X = tm.constant(da.from_array(numbers, chunks=(4, 4)).map_blocks(read, dtype=float, meta=numbers[:0]))
"""
TRAINING = """%%tape
for step in range(3):
    with tm.GradientTape() as inner:
        loss = np.mean((X @ w + b - t)**2)
    dw, db = inner.gradient(loss, [w, b])
    value, dw, db = dask.compute(loss, dw, db)
    w.assign_sub(0.1 * dw)
    b.assign_sub(0.1 * db)
"""


@pytest.fixture(autouse=True)
def _data(run: Run) -> None:
    run(DATA)


@contextmanager
def nothing_computed() -> Iterator[None]:
    """A block in which every scheduler raises."""
    with dask.config.set(scheduler=raising):
        yield


def said(report: Any) -> list[str]:
    """The sentences of a verdict."""
    return [one.text for one in report.findings.verdict]


# -- nothing is computed ------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", [LINE, NETWORK])
@pytest.mark.parametrize("options", ["", " --check --code", " -o 2", " --jacobian --hessian"])
def test_showing_computes_nothing(run: Run, cell: str, options: str) -> None:
    """Every form of a report, and every answer of its widget."""
    with nothing_computed():
        report = run(cell.format(options))
        bundle = report._repr_mimebundle_()
        page, widget = report._page(), shown(report)
        for question in ("value:0.0", "check", "code:{}", "view:{}"):
            asked(widget, question)

    texts = [bundle["text/plain"], bundle["text/html"], bundle["text/latex"], page]
    assert all("not computed" in text for text in texts)


def test_the_adjoint_of_a_computed_target(run: Run) -> None:
    """It is computed with the others, also where the target is an array."""
    assert "not computed" not in repr(run("%%tape --compute\nerror = X @ w - t"))


def test_the_shape_of_a_hessian(run: Run) -> None:
    """It is known of one that is not computed: five parameters, five rows."""
    report = run(LINE.format(" --hessian"))

    assert (5, 5) == report.findings.matrices[0].shape


@pytest.mark.parametrize(
    "line",
    ["%why loss w", "%gradient loss w b", "%tape_graph", "%tape np.sum(X @ w)", "loss", "tape"],
)
def test_asking_computes_nothing(run: Run, line: str) -> None:
    """The other magics, and reprs."""
    with nothing_computed():
        run(LINE.format(" -p"))
        assert repr(run(line))


def test_the_text_of_a_report(run: Run) -> None:
    """Shapes, chunks and dtypes; formulas as ever."""
    text = str(run(LINE.format(""))._repr_mimebundle_()["text/plain"])

    assert "not computed: loss, dloss/dw, dloss/db\n" in text
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "X constant 10×4 float64 -1.0 to 1.0, mean 0.0, 3 chunks of 4×4" in rows
    assert "e computed 10 float64 3 chunks of 4, not computed 3 chunks of 4, not computed 2" in rows
    assert "e = v2 - t = 10 elements, not computed v̄2 = ē = 10 elements, not computed" in rows
    assert "Add --compute to the %%tape line" in text


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        ("(4,)", "3 chunks of 4"),
        ("((2, 8),)", "2 chunks of up to 8"),
        ("((3, 4, 3),)", "3 chunks of up to 4"),
        ("(10,)", "1 chunk"),
        ("(1,)", "10 chunks of 1"),
    ],
)
def test_chunks(run: Run, chunks: str, words: str) -> None:
    """Uneven ones are "up to" the largest, unless the last alone is smaller."""
    run(f"c = da.zeros(10, chunks={chunks})")
    report = run("%%tape c\ns = np.sum(c * c)")

    [row] = [row for row in report.findings.variables if row.name == "c"]
    assert words == row.value.chunks
    assert f"{words}, not computed" == row.value.details


def test_long_axes(run: Run) -> None:
    """They are readable, and nothing is made of them."""
    with nothing_computed():
        run("c = da.zeros((2_000_000, 256), chunks=(31_250, 256))")
        report = run("%%tape c\ns = np.sum(c * c)")

    [row] = [row for row in report.findings.variables if row.name == "c"]
    expected = "2,000,000×256, float64, 64 chunks of 31,250×256, not computed"
    assert expected == row.value.described


def test_the_border_of_boxes(run: Run) -> None:
    """That of what is not computed is dotted, and the caption says so."""
    source = run("%%tape\ne = X @ w\nloss = np.sum(e)") and str(run("%tape_graph --dot"))
    lines = [line for line in source.splitlines() if line.lstrip().startswith("n")]

    dotted = [line for line in lines if "dotted" in line]
    assert 2 == len(dotted)
    assert not any("w (variable)" in line for line in dotted)
    page = run(LINE.format(""))._repr_mimebundle_()["text/html"]
    assert "Dotted border: Dask array, not computed yet" in page


def test_a_none_has_its_reason(run: Run) -> None:
    """It comes from the recording, and needs no numbers."""
    with nothing_computed():
        report = run("%%tape -t s\nu = tm.Variable(2.0)\ns = np.sum(np.floor(X * b)) + u")

    [reason] = [row.reason for row in report.findings.derivatives if row.source == "b"]
    assert reason
    assert "floor" in reason


def test_none_is_said_of_numbers(run: Run) -> None:
    """Kinks, dead units and places of nan are not guessed."""
    run("Z = tm.constant(da.from_array(numbers * np.nan, chunks=4))")
    report = run("%%tape\nloss = np.sum(tm.relu(np.abs(Z @ w)))")

    topics = {one.topic for one in report.findings.verdict}
    assert {"result", "note"} == topics


def test_sliders_and_curves_are_off(run: Run) -> None:
    """Each needs numbers for every run."""
    with nothing_computed():
        sliders = run("%%tape --what-if a\na = 1.0\ns = np.sum(X @ w) * a")
        plot = run("%%tape --plot a=-1:1\na = 1.0\ns = np.sum(X @ w) * a").findings.plot

    assert not sliders.remarks.controls
    assert any("there are no sliders" in text for text in said(sliders))
    assert "computed from Dask arrays" in plot.notes[0]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%tape --compute --plot b=-1:1\ns = X @ w * b", "--compute and --plot do not go together"),
        ("%%tape --compute --what-if b\ns = X @ w * b", "--compute and --what-if do not go together"),
        ("%%tape --what-if X\ns = X @ w", "X is not computed, and a slider needs a number"),
        ("%check_gradient w loss w", "compares numbers, and dloss/dw is not computed"),
        ("%check_gradient X loss w", "'X' is not computed: write (X).compute()"),
    ],
)  # fmt: skip
def test_refused(run: Run, refused: Callable[[str], str], cell: str, words: str) -> None:
    """What needs numbers says what to write."""
    run(LINE.format(" -p"))
    assert words in refused(cell)


# -- --compute -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", [LINE, NETWORK])
def test_computed(run: Run, cell: str) -> None:
    """The report has NumPy's numbers, and looks as that on arrays does."""
    lazy = run(cell.format(" --compute"))
    run("X, t = tm.constant(numbers), tm.constant(numbers[:, 0] * 2)")
    eager = run(cell.format(""))

    assert said(lazy) == said(eager)
    texts = [[row.text for row in y.findings.derivatives] for y in (lazy, eager)]
    assert texts[0] == texts[1]
    values = [
        [(x.name, x.text, x.gradient) for x in y.findings.graph.values] for y in (lazy, eager)
    ]
    assert values[0] == values[1]


@pytest.mark.parametrize("options", ["", " -o 2", " --jacobian --hessian"])
def test_computed_once(run: Run, variables: dict[str, Any], options: str) -> None:
    """One call of the scheduler, and none before or afterwards; each chunk of the data is read once."""
    calls = []
    run(COUNTED)

    def counting(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return dask.local.get_sync(*args, **kwargs)

    with dask.config.set(scheduler=counting):
        report = run(LINE.format(f" --compute{options}"))
        report._repr_mimebundle_()
        report._page()

    assert 1 == len(calls)
    assert [0, 1, 2] == sorted(variables["reads"])
    assert "not computed" not in repr(report)


# -- full matrices ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        LINE,
        NETWORK,
        "%%tape w{}\np = np.sum(np.tanh(X * w), axis=0)",
        "%%tape X w{}\ns = np.sum((X @ w)**2)",
        "%%tape w{}\nout = (X[:2] @ w)[:, None] * V[0]",
        "%%tape w b{}\ns = np.sum(X @ w) + 3 * b",
        "%%tape w b{}\ns = np.sum((X + 1) * b)**2 + w @ w",
        "%%tape{}\ns = np.sum(X + 1) * b, w @ w",
        "%%tape{}\nn = np.sum(np.floor(X @ w)) + b",
        "%%tape c{}\ns = np.sum((X + 1) * np.real(c))",
        "%%tape w{}\ns = np.mean(np.astype(X, np.float32) @ w)**2",
        "%%tape w{}\ns = np.sum(X[:0] @ w)**2, X[:0] * w",
    ],
)
def test_full_matrices(run: Run, cell: str) -> None:
    """They are those of NumPy's arrays, with their notes: whole or in blocks, of few or many elements."""
    run("c = 1 + 2j")
    lazy = run(cell.format(" --compute --jacobian --hessian"))
    run("X, t = tm.constant(numbers), tm.constant(numbers[:, 0] * 2)")
    eager = run(cell.format(" --jacobian --hessian"))

    assert lazy.findings.matrices
    assert lazy.findings.matrices == eager.findings.matrices


def notes(report: Any) -> dict[str, str]:
    """The remarks on matrices without entries."""
    matrices = report.findings.matrices
    return {m.symbol: "; ".join(m.notes) for m in matrices if not m.cells and m.reason is None}


def test_matrices_that_are_not_computed(run: Run) -> None:
    """They say how; what is known without computing is shown, also what the program computed."""
    with nothing_computed():
        report = run("%%tape --jacobian --hessian\nloss = np.sum(X @ w)**2 + b")
    computes = "not computed; %%tape --compute computes it"
    assert {"dloss/dw": computes, "d²loss/d(w, b)²": computes} == notes(report)

    report = run(
        "%%tape -p --jacobian\ny = X[:2] @ w\nj = tape.jacobian(y, w)\nvalue = dask.compute(y, j)"
    )
    assert not notes(report)
    assert "-1.0" == report.findings.matrices[0].cells[0][0]


def test_matrices_that_are_too_large(run: Run) -> None:
    """Each says why, and hides no other."""
    run("L, u = tm.constant(da.ones((600, 300), chunks=200)), tm.Variable(np.ones(300), name='u')")
    report = run(
        "%%tape u b --compute --jacobian --hessian\nh = L @ u * b\nloss = np.sum(h**2)\nh, loss"
    )

    said = notes(report)
    assert {"dh/du", "dh/db", "d²h/du²", "d²loss/du²"} == said.keys()
    assert "not computed; the Jacobian of a target that isn't computed has a part" in said["dh/du"]
    assert "here 300, and the limit is 256" in said["d²loss/du²"]
    [mixed] = [m for m in report.findings.matrices if "d²loss/du db" == m.symbol]
    assert "all 360000.0" == mixed.extent

    run("M = tm.constant(da.ones((4, 40_000), chunks=(4, 20_000)))")
    said = notes(run("%%tape M --compute --jacobian\np = np.sum(M, axis=1) * b"))
    why = "not computed, since it holds more than 1 MB; tape.jacobian(p, M) gives it, to compute, or says why not"
    assert why in said["dp/dM"]


def test_matrices_where_dask_stops(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are not computed, like all else, and nobody is told to compute them that way."""
    shell.run_cell("def bad(x):\n    raise ZeroDivisionError")
    shell.run_cell("B = tm.constant(da.map_blocks(bad, da.ones(4, chunks=2), dtype=float))")
    capsys.readouterr()

    result = shell.run_cell("%%tape --compute --jacobian --hessian\ns = np.sum((B * b)**2)")

    assert isinstance(result.error_in_exec, ZeroDivisionError)
    printed = capsys.readouterr().out
    assert "Jacobian ds/db, number: not computed\n" in printed
    assert "Hessian d²s/db², 1×1: not computed\n" in printed


# -- other cases ----------------------------------------------------------------------------------------


def test_the_bar(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever watches sees Dask's bar."""
    monkeypatch.setattr("tapemagic.ipython.computing.is_interactive", lambda _stream: True)
    run(LINE.format(" --compute"))
    assert "100% Completed" in capsys.readouterr().out


def test_large_arrays_stay(run: Run) -> None:
    """What is more than 1 MB is not pulled into memory, and the verdict says so."""
    run("L = tm.constant(da.ones(200_000, chunks=50_000))")
    report = run("%%tape --compute\ny = L * b")

    target = next(row for row in report.findings.variables if row.name == "y")
    assert not target.value.is_computed
    assert ["not computed: y", "of the sum"] == [said(report)[0].split("; ")[1], "of the sum"]
    assert "leaves arrays of more than 1 MB as they are" in said(report)[1]
    assert "200000.0" in said(report)[0]


def test_nothing_to_compute(run: Run) -> None:
    """A cell without Dask arrays says so, and its report is the usual one."""
    report = run("%%tape --compute\ns = np.sum(w * 2)")
    assert any(
        "nothing to compute, since the cell computes with no Dask" in x for x in said(report)
    )
    assert "s = 3.0" in said(report)[0]


def test_the_programs_own_error(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is raised, once, behind a report of what is known; a hostile message is text."""
    shell.run_cell("def bad(x):\n    raise ZeroDivisionError('no <script>')")
    shell.run_cell("B = tm.constant(da.map_blocks(bad, da.ones(4, chunks=2), dtype=float))")
    capsys.readouterr()

    result = shell.run_cell("%%tape --compute\ns = np.sum(B * b)")

    assert isinstance(result.error_in_exec, ZeroDivisionError)
    printed = capsys.readouterr().out
    assert "nothing is computed, since Dask stopped with ZeroDivisionError: no <script>" in printed
    assert 1 == printed.count("%%tape: ")
    names = [frame.name for frame in frames(result.error_in_exec)]
    assert "bad" == names[-1]
    library = str(Path(dask.__file__).parent)
    assert not any(library in frame.filename for frame in frames(result.error_in_exec))


def frames(error: BaseException) -> Any:
    """The frames of a traceback."""
    from traceback import extract_tb

    return extract_tb(error.__traceback__)


def test_a_nan(run: Run) -> None:
    """Its origin is named, with the element, as with NumPy's arrays."""
    run("bad = np.where(numbers == numbers[2, 1], np.nan, numbers)")
    run("Z = tm.constant(da.from_array(bad, chunks=(4, 2)))")
    lazy = run("%%tape Z --compute\nloss = np.sum(Z * b)")
    run("Z = tm.constant(bad)")

    assert "Z[2, 1] was already nan when multiply on line 2 used it" in said(lazy)[0]
    assert said(lazy) == said(run("%%tape Z\nloss = np.sum(Z * b)"))


def test_a_nan_without_a_known_origin(run: Run) -> None:
    """The target is nan, and no operation is blamed that may have been given it."""
    run("Z = tm.constant(da.from_array(np.full(300_000, np.nan), chunks=100_000))")
    report = run("%%tape --compute\nloss = np.sum(np.sqrt(Z * b))")

    assert any(text.startswith("loss is nan") for text in said(report))
    assert not report.findings.nonfinite


# -- what the program computed ------------------------------------------------------------------------------


def test_numbers_that_the_program_computed(run: Run) -> None:
    """They stand in the report, that of the same gradient, too."""
    report = run(
        LINE.format("") + "\ng = tape.gradient(loss, [w, b])\nvalue = dask.compute(loss, g)"
    )
    [result] = [one.text for one in report.findings.verdict if one.topic == "result"]

    assert "not computed" not in result
    [row] = [row for row in report.findings.variables if row.name == "e"]
    assert not row.value.is_computed


def test_a_training_loop(run: Run, variables: dict[str, Any]) -> None:
    """Curves of computed losses; a step that Dask computed is not missing in the gradient."""
    report = run(TRAINING)

    assert not {"missing", "left", "none"} & {one.topic for one in report.findings.verdict}
    losses = report.findings.training.loss.values
    assert 3 == len(losses)
    assert np.isclose(losses[-1], float(variables["value"]))


def test_a_training_loop_that_computes_nothing(run: Run) -> None:
    """There are no curves without numbers, and no flags about nan."""
    with nothing_computed():
        report = run(TRAINING.replace("value, dw, db = dask", "0 and dask").split("    w.")[0])
    assert report.findings.training is None


def test_a_computed_part_is_missing(run: Run) -> None:
    """A number that Dask computed in the middle, and that goes into the target, is a lost part."""
    report = run("%%tape\ns = np.sum(X @ w)\nm = s.compute()\nloss = s * float(m)")
    [text] = [one.text for one in report.findings.verdict if one.topic == "missing"]

    assert ".compute() on line 3" in text
    assert "Compute with the lazy tensor itself" in text


def test_data_in_memory(run: Run) -> None:
    """Numbers that lie in this process are shown if they are few; others have their place in words."""
    with nothing_computed():
        run(
            "few, many = da.from_array(numbers, chunks=4), da.from_array(np.ones(300_000), chunks=100_000)"
        )
        rows = run("%%tape few many\ns = np.sum(few) + np.sum(many)").findings.variables

    details = {row.name: row.value.details for row in rows}
    assert "-1.0 to 1.0, mean 0.0, 3 chunks of 4×4" == details["few"]
    assert "3 chunks of 100,000, in memory" == details["many"]


def test_persisted(run: Run) -> None:
    """A value that the program persisted is computed, and stays on the tape."""
    report = run("%%tape\ns = np.sum(X @ w).persist()\nloss = s * b")
    rows = {row.name: row.value for row in report.findings.variables}

    assert rows["s"].is_computed
    assert not rows["loss"].is_computed
    assert all(row.text is not None for row in report.findings.derivatives)


def test_raw_dask_arrays_have_names(run: Run) -> None:
    """Data that is no tensor is a constant of the program all the same."""
    run(
        "D = da.from_array(numbers, chunks=(5, 4))\nunknown = D[D[:, 0] > 0]\ntask = dask.delayed(len)([1])"
    )
    run("table = {'rows': task}")
    report = run("%%tape\nloss = np.sum((D @ w)**2)")

    names = {value.name for value in report.findings.graph.values}
    assert "D" in names
    rows = {row.name: row.role for row in report.findings.variables}
    assert "constant" == rows["D"]
    report = run("%%tape\nD, unknown, task\nloss = np.sum((D @ w)**2)")
    assert not {"unknown", "task"} & {row.name for row in report.findings.variables}


def test_the_recording_is_kept(run: Run, variables: dict[str, Any]) -> None:
    """Large lazy arrays weigh nothing: questions are answered."""
    run("c = tm.constant(da.zeros((200_000, 1_000), chunks=(10_000, 1_000)))")
    report = run("%%tape\nu = tm.Variable(np.ones(1_000))\ns = np.sum(c @ u)")

    assert "float64" in asked(shown(report), "value:0.0")
    assert snapshot_of(variables["tape"]).has_values


# -- a real kernel --------------------------------------------------------------------------------------


@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_in_a_kernel(tmp_path: Path) -> None:
    """A run without a person in front leaves no bar in the output."""
    with kernel(tmp_path) as notebook:
        assert "" == notebook.show(DATA)
        ran = notebook.run(LINE.format(" --compute"))

    assert ("", "") == (ran.stdout, ran.stderr)
    assert "loss = " in ran.text
    assert "not computed" not in ran.text
