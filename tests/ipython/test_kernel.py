"""%%tape in a real kernel, driven as JupyterLab and nbconvert do it."""

from __future__ import annotations

import re
from pathlib import Path

import IPython
import pytest

from tapemagic.nbval import DATA
from tests.ipython.kernels import VIEW, Kernel, kernel

pytestmark = [
    pytest.mark.kernel,
    # What the client does with its event loop and sockets is not ours to mend.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

# A cell magic is called by the first line of its cell: that frame, and its words, are the usual ones.
USUAL = re.compile(r"Cell In\[\d+\], line 1\n-*>? ?1 get_ipython\(\)\.run_cell_magic\('tape', .*\n")
if IPython.version_info < (9, 18):  # these show the frame above, too, which is their own
    USUAL = re.compile(
        rf"{USUAL.pattern}\nFile \S+interactiveshell\.py:\d+, in InteractiveShell\.run_cell_magic(.+\n)+"
    )
INTERNALS = (
    "tapemagic", "run_cell_magic", "interactiveshell", "exec(", "eval(", "magics.py", "runcell.py",
)  # fmt: skip


@pytest.fixture(autouse=True)
def x(notebook: Kernel) -> None:
    """Every test begins with a number and a list."""
    assert notebook.show("x, times = 3.0, []") == ""


def internals(error: str) -> list[str]:
    """What a traceback has of the machinery."""
    return [word for word in INTERNALS if word in USUAL.sub("", error)]


def test_a_cell_runs_once_and_its_assignments_stay(notebook: Kernel) -> None:
    """Side effects happen once; names are there in the next cell."""
    shown = notebook.show("%%tape x\ntimes.append('once')\ny = x**2")

    assert "dy/dx = 6.0" in shown
    assert "['once'] 9.0 3.0" in notebook.show("print(times, y, x)")
    assert "Tensor(6.0)" == notebook.show("tape.gradient(y, x)")


def test_the_bundle(notebook: Kernel) -> None:
    """A report has a widget, static HTML, LaTeX and text, and is the value of the cell."""
    ran = notebook.run("%%tape x\nx**2")

    [data] = ran.shown
    assert {"text/plain", "text/html", "text/latex", VIEW, DATA} == data.keys()
    assert "Tensor(9.0)" == notebook.show("_.value")


def test_a_cell_that_prints(notebook: Kernel) -> None:
    """What a cell prints comes as ever."""
    ran = notebook.run("%%tape x\nprint('begin')\ny = x**2\nprint('end')")

    assert "begin\nend\n" == ran.stdout
    assert "dy/dx = 6.0" in ran.text


def test_a_semicolon_silences(notebook: Kernel) -> None:
    """A cell that ends in ``;`` shows nothing."""
    assert [] == notebook.run("%%tape x\ny = x**2;").outputs
    assert "Tensor(9.0)" == notebook.show("y")


def test_running_again_gives_the_same(notebook: Kernel) -> None:
    """The same cell twice shows the same, to the byte, but for the number of its widget."""
    cell = "%%tape x -o 2\ny = x**3"

    [[first], [second]] = notebook.run(cell).shown, notebook.run(cell).shown

    assert first["text/plain"] == second["text/plain"]
    assert first["text/html"] == second["text/html"]


def test_an_error(notebook: Kernel) -> None:
    """It stops the notebook, with one traceback of the user's own lines, under the partial report."""
    notebook.show("def divide(a, b):\n    return a / b")
    cell = "%%tape x\n\ny = x * 2\ndef inner(u):\n    return divide(u, 1) + undefined\nz = inner(y)\nw = z"

    ran = notebook.run(cell)

    assert ran.stopped
    assert ["display_data", "error"] == [out.output_type for out in ran.outputs]
    assert "The cell stopped at line 6 with NameError: name 'undefined' is not defined" in ran.text
    assert "2 operations," in ran.text
    [error] = ran.errors
    assert ["1", "6", "5"] == re.findall(r"Cell In\[\d+\], line (\d+)", error)
    assert "----> 6 z = inner(y)" in error
    assert "----> 5     return divide(u, 1) + undefined" in error
    assert 1 == error.count("Traceback (most recent call last)")
    assert [] == internals(error)
    assert "" == ran.stderr
    assert "Tensor(6.0)" == notebook.show("y")
    assert "False" == notebook.show("'w' in globals()")


def test_an_error_in_the_last_expression(notebook: Kernel) -> None:
    """The same where the last line is an expression."""
    [error] = notebook.run("%%tape x\ny = x * 2\n\ny + 1 / 0").errors

    assert ["1", "4"] == re.findall(r"Cell In\[\d+\], line (\d+)", error)
    assert "----> 4 y + 1 / 0" in error
    assert [] == internals(error)


def test_an_error_of_tapemagic(notebook: Kernel) -> None:
    """An error that the library raises for the user's line has that line on top."""
    notebook.show("%%tape x\ny = x * 2")
    notebook.show("tape.gradient(y, x)")

    ran = notebook.run("tape.gradient(y, x)")

    assert ran.stopped
    assert "ConsumedTapeError: A non-persistent GradientTape can only be used" in ran.errors[0]


@pytest.mark.parametrize(
    ("cell", "line", "words"),
    [
        ("%%tape x\ny = x\nz = = 2", 3, "invalid syntax"),
        ("%%tape x\n\n\ny = (x", 4, "incomplete input"),
        ("%%tape x\ny = x * 2\nreturn y", 3, "'return' outside function"),
        ("%%tape x\ny = x * 2\nif y:\nz = 1", 4, "expected an indented block"),
    ],
)
def test_a_syntax_error(notebook: Kernel, cell: str, line: int, words: str) -> None:
    """It has the right line, and nothing of the cell was run or changed."""
    ran = notebook.run(cell)

    assert ran.stopped
    [error] = ran.errors
    assert re.match(rf"  Cell In\[\d+\], line {line}\n", error)
    assert words in error
    assert "SyntaxError" == ran.outputs[0].ename
    assert [] == internals(error)
    assert [] == ran.shown
    assert "3.0" == notebook.show("x")


@pytest.mark.parametrize("options", ["q", "x --wrong", "x -o 0", "times -o 2 np", "print"])
def test_a_usage_error(notebook: Kernel, options: str) -> None:
    """It is one line on the error stream, and stops the notebook; nothing was run."""
    notebook.show("times = 'text'")

    ran = notebook.run(f"%%tape {options}\ntimes = 'run'\nx = 1.0")

    assert ran.stopped
    assert re.fullmatch(r"UsageError: [^\n]+\n", ran.stderr)
    assert [] == ran.shown
    assert "('text', 3.0)" == notebook.show("times, x")


def test_await(notebook: Kernel) -> None:
    """A cell that awaits is recorded, while the event loop of the kernel goes on."""
    ran = notebook.run(
        "%%tape x\nimport asyncio\ntask = asyncio.ensure_future(asyncio.sleep(0.01, 5.0))\ny = x * await task"
    )

    assert not ran.stopped
    assert "dy/dx = 5" in ran.text


def test_an_interrupt(notebook: Kernel) -> None:
    """The square button stops the cell, shows what was recorded, and the kernel lives on."""
    notebook.interrupt_after(1.0)

    ran = notebook.run("%%tape x\ny = x * 2\nimport time\nwhile True:\n    time.sleep(0.01)\nz = 1")

    assert ran.stopped
    assert re.search(r"The cell stopped at line [45] with KeyboardInterrupt", ran.text)
    assert "dy/dx = 2.0" in ran.text
    assert "KeyboardInterrupt" in ran.errors[0]
    assert [] == internals(ran.errors[0])
    assert "Tensor(6.0)" == notebook.show("y")
    assert "Tensor(2.0)" == notebook.show("tape.gradient(y, x)")
    assert "dz/dx = 6.0" in notebook.show("%%tape x\nz = x**2")


def test_source_can_be_inspected(notebook: Kernel) -> None:
    """A function that a %%tape cell defines has its source, as from any cell."""
    notebook.show("%%tape x\n\ndef square(u):\n    return u * u\ny = square(x);")

    assert "def square(u):\n    return u * u\n" == notebook.show(
        "import inspect\nprint(inspect.getsource(square), end='')"
    )


def test_widgets_of_an_earlier_run_are_closed(notebook: Kernel) -> None:
    """Twenty runs of a cell leave as many live models as one, also where it fails."""
    count = "from ipywidgets.widgets import widget\nlen(widget._instances)"
    cell = "%%tape x\ny = x**2\nif times: 1 / 0"
    notebook.run(cell)
    before = int(notebook.show(count))

    for fails in (False, True):
        notebook.show(f"times = [1] * {fails:d}")
        for _ in range(10):
            notebook.run(cell)

    assert before > 0
    assert before == int(notebook.show(count))


HELD = """
import gc
from comm import get_comm_manager
from ipywidgets.widgets import widget
from tapemagic.report.subject import Subject
gc.collect()
len(widget._instances), len(get_comm_manager().comms), sum(isinstance(one, Subject) for one in gc.get_objects())
"""


def test_fifty_runs_leave_no_more_than_one(notebook: Kernel) -> None:
    """Neither models and comms nor recordings, also where a front end has asked for something."""
    cell = "%%tape x\ny = x**2\ny * 3.0"
    ask = "[w.hear({'ask': 'value:w0'}) for w in list(widget._instances.values()) if hasattr(w, 'hear')];"
    notebook.run(cell)
    before = notebook.show(HELD)

    for _ in range(49):
        notebook.run(cell)
        notebook.run(ask)

    # Out[n] has all of the reports, the last of which alone has its recording.
    assert before == notebook.show(HELD)


def test_a_report_is_two_models(notebook: Kernel) -> None:
    """Its own and its layout: a notebook stores the state of all."""
    count = "from ipywidgets.widgets import widget\nlen(widget._instances)"
    before = int(notebook.show(count))

    notebook.run("%%tape x\nmodels = x**2")

    assert 2 == int(notebook.show(count)) - before


def test_widgets_of_two_expressions_in_a_cell(notebook: Kernel) -> None:
    """Both are shown, those in a loop as well, and fifty runs of the cell leave as many live models as one."""
    count = "from ipywidgets.widgets import widget\nlen(widget._instances)"
    cell = "%tape x**2\nfor k in range(2):\n    %tape x**3\n%tape x**2"
    ran = notebook.run(cell)
    before = int(notebook.show(count))

    for _ in range(49):
        notebook.run(cell)

    kinds = [out.output_type for out in ran.outputs]
    assert ["display_data"] * 3 + ["execute_result"] == kinds
    assert 4 == len({data[VIEW]["model_id"] for data in ran.shown})
    assert before == int(notebook.show(count))


def test_completion(notebook: Kernel) -> None:
    """A front end is given options and names, and what the shell knows elsewhere."""
    assert ["--hessian"] == notebook.complete("%%tape x --he")
    assert "x" in notebook.complete("%%tape ")
    notebook.show("%%tape x\nloss = x**2;")
    assert ["loss"] == notebook.complete("%why lo")
    assert "tape_graph" in " ".join(notebook.complete("%tape_g"))


def test_a_report_shown_twice_is_one_widget(notebook: Kernel) -> None:
    """Showing a report again, in another cell, does not blank the first."""
    [first] = notebook.run("%%tape x\nagain = x**2").shown

    [second] = notebook.run("_").shown

    assert first[VIEW]["model_id"] == second[VIEW]["model_id"]


def test_many_operations(notebook: Kernel) -> None:
    """A hundred thousand operations are recorded, and the graph says how many of them one box stands for."""
    ran = notebook.run("%%tape x\ny = x\nfor i in range(50_000):\n    y = y * 0.999 + x")

    [data] = ran.shown
    assert "%%tape: 100,000 operations," in data["text/plain"]
    assert "Double border: 100,000 folded operations" in re.sub("<[^>]+>", "", data["text/html"])
    assert "" == ran.stderr


def test_line_magics(notebook: Kernel) -> None:
    """%tape and %gradient work in a kernel, and %tape leaves the variables alone."""
    assert "d(x**2)/dx = 6.0" in notebook.show("%tape x**2")
    assert "3.0" == notebook.show("x")
    notebook.show("%%tape x\ny = x**2;")
    assert "Tensor(6.0)" == notebook.show("%gradient y x")


def test_reloading(notebook: Kernel) -> None:
    """Unloading takes the magics away, loading and reloading bring them back."""
    assert "" == notebook.show("%unload_ext tapemagic")
    assert "UsageError: Cell magic `%%tape` not found" in notebook.run("%%tape x\nx").stderr
    assert "" == notebook.show("%load_ext tapemagic\n%reload_ext tapemagic")
    assert "dy/dx = 6.0" in notebook.show("%%tape x\ny = x**2")


COURSE = [
    "x, n = 2.0, 3\nw = tm.Variable(np.ones((2, 2)), name='<w>')\ndata = np.arange(1000.0)",
    "%%tape x -o 2\ny = np.sin(x) * x**n\ny",
    "%%tape\nloss = np.mean((w @ w) ** 2)\n(loss, w)",
    "%%tape x\nz = np.sum(x * data)\nfor i in range(40):\n    z = z * 0.5 + x",
    "%%tape x\nz = undefined",
]


def test_two_kernels_show_the_same(tmp_path: Path) -> None:
    """The text and the HTML of a notebook are the same bytes in every run."""
    runs = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        with kernel(folder) as started:
            ran = [started.run(source) for source in COURSE]
        runs.append(
            [(data["text/plain"], data["text/html"]) for part in ran for data in part.shown]
        )

    assert len(COURSE) - 1 == len(runs[0])
    assert runs[0] == runs[1]
    assert not [
        text
        for shown in runs[0]
        for text in shown
        if re.search(rf"0x[0-9a-f]{{6}}|/tmp|{re.escape(str(Path.cwd()))}", text)
    ]


def test_programs(notebook: Kernel) -> None:
    """A cell's derivative as a program, that of a traced function, and completion of both."""
    text = notebook.show("%%tape x --code\ny = np.sin(x) * x")
    assert "# y = np.sin(x) * x\n    u1 = np.sin(x)" in text
    assert "    d_x = u1 + x * np.cos(x)" in text

    notebook.show(
        "@tm.function\ndef double(x):\n    return np.sin(x) * 2\nfor _ in range(2): double(tm.constant(1.0))"
    )
    assert "np.sin(x) * 2" in notebook.show("%tape_function double")
    assert "--code" in notebook.complete("%%tape --co")
    assert "double" in notebook.complete("%tape_function dou")
