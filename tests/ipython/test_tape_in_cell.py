"""The tape by its name, in the cell and after it: as any GradientTape tutorial writes it."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.lib.pretty import pretty

from tapemagic import GradientTape
from tapemagic.engine import recording, registry
from tapemagic.errors import ConsumedTapeError
from tapemagic.ipython import magics
from tests.ipython.conftest import Run
from tests.ipython.test_watching import gradients, role


@pytest.fixture(autouse=True)
def x(run: Run) -> None:
    """Every test here begins with two numbers and a Variable."""
    run("x = 3.0\nz = tm.constant(5.0)\nv = tm.Variable(2.0)")


@pytest.fixture
def last(shell: InteractiveShell) -> Callable[[], Any]:
    """Return the session of the last cell."""
    return lambda: shell.find_cell_magic("tape").__self__.last  # type: ignore[union-attr]


def test_after_the_cell(run: Run) -> None:
    """``tape`` gives gradients after the cell, once if it is not persistent."""
    report = run("%%tape x\ny = v * x**2")

    assert isinstance(run("tape"), GradientTape)
    assert [12.0, 9.0] == [float(g) for g in run("tape.gradient(y, [x, v])")]
    with pytest.raises(ConsumedTapeError, match=r"GradientTape\(persistent=True\)"):
        run("tape.gradient(y, x)")
    assert {"dy/dx": "12.0", "dy/dv": "9.0"} == gradients(report)


def test_persistent(run: Run) -> None:
    """With -p it gives gradients as often as one likes, inside the cell and after it."""
    run("%%tape x -p\ny = v * x**2\nw = y * 2\ng = tape.gradient(y, x), tape.gradient(w, x)")

    assert [12.0, 24.0] == [float(g) for g in run("g")]
    assert 12.0 == float(run("tape.gradient(y, x)"))
    assert 24.0 == float(run("tape.gradient(w, x)"))


def test_a_gradient_in_the_cell(run: Run) -> None:
    """A gradient in the cell uses up the tape, and leaves the report whole: before and after it."""
    report = run("%%tape x\ny = x**2\ng = tape.gradient(y, x)\nw = y * x")

    assert {"dw/dx": "27.0"} == gradients(report)
    assert "constant" == role(report, "g")
    with pytest.raises(ConsumedTapeError):
        run("tape.gradient(y, x)")


def test_a_persistent_gradient_in_the_cell_can_be_differentiated(run: Run) -> None:
    """As in TensorFlow, what a persistent tape computes inside its block is recorded."""
    report = run("%%tape x -p\ny = x**3\ng = tape.gradient(y, x)\ng")

    assert {"dg/dx": "18.0"} == gradients(report)
    assert {0, 1} == {step.order for step in report.graph.steps}


def test_showing_does_not_consume(run: Run) -> None:
    """However often and to whatever order a report is made, the tape is as it was."""
    report = run("%%tape x -o 3\ny = v * x**3")

    for _ in range(3):
        report._repr_mimebundle_()
        repr(report)

    assert 54.0 == float(run("tape.gradient(y, x)"))


def test_the_records_of_the_tape_are_the_cell_s(run: Run) -> None:
    """The higher derivatives of the report are not on the user's tape."""
    run("%%tape x -o 3\ny = v * x**3")

    assert ["power", "multiply"] == [record.operation.name for record in run("tape.records")]


def test_watch(run: Run) -> None:
    """``tape.watch`` in the cell adds a source to the report."""
    report = run("%%tape\ntape.watch(z)\ny = z**2")

    assert {"dy/dz": "10.0"} == gradients(report)
    assert "watched" == role(report, "z")
    assert 10.0 == float(run("tape.gradient(y, z)"))


def test_watching_a_nameless_tensor(run: Run) -> None:
    """What has no name is told of as such."""
    report = run("%%tape\nl = [tm.constant(2.0)]\ntape.watch(l[0])\ny = l[0]**2")

    assert {} == gradients(report)
    assert 4.0 == float(run("tape.gradient(y, l[0])"))


def test_stop_recording(run: Run) -> None:
    """What is computed while the tape does not record is a constant, also in the report."""
    report = run("%%tape x\nwith tape.stop_recording():\n    c = x * 2\ny = c * x")

    assert {"dy/dx": "6.0"} == gradients(report)
    assert "constant" == role(report, "c")
    assert 6.0 == float(run("tape.gradient(y, x)"))


def test_a_name_assigned_while_the_tape_pauses_is_watched(run: Run) -> None:
    """A name of the first line is watched wherever it is assigned."""
    report = run("%%tape a\nwith tape.stop_recording():\n    a = 4.0\ny = a**2")

    assert {"dy/da": "8.0"} == gradients(report)


def test_reset(run: Run) -> None:
    """After a reset the tape knows nothing of before, and says so in the report."""
    report = run("%%tape x\na = x * 2\ntape.reset()\ny = v * a")

    assert {"dy/dx": None, "dy/dv": "6.0"} == gradients(report)
    assert "before tape.reset() on line 3" in str(report.findings.derivatives[0].reason)
    assert "1 operation," in repr(report)


def test_another_name(run: Run, variables: dict[str, Any]) -> None:
    """-n calls the tape something else."""
    run("%%tape x -n t\ny = x**2\nt.watch(z)")

    assert 6.0 == float(run("t.gradient(y, x)"))
    assert "tape" not in variables


def test_nested_tapes(run: Run) -> None:
    """The user's own tapes in a cell work, and what they compute is on the cell's tape."""
    report = run(
        "%%tape x\n"
        "with tm.GradientTape() as inner:\n"
        "    inner.watch(x)\n"
        "    y = x**3\n"
        "dy = inner.gradient(y, x)\n"
        "dy"
    )

    assert {"d(dy)/dx": "18.0"} == gradients(report) or {"ddy/dx": "18.0"} == gradients(report)
    assert 18.0 == float(run("tape.gradient(dy, x)"))


def test_a_tensor_of_another_tape_is_a_constant(run: Run) -> None:
    """What only an inner tape watches is a constant of the cell's tape."""
    report = run(
        "%%tape x\nwith tm.GradientTape() as inner:\n    inner.watch(z)\n    y = x * z\n"
        "g = inner.gradient(y, z)\ny"
    )

    assert {"dy/dx": "5.0"} == gradients(report)
    assert "constant" == role(report, "z")
    watched = {"x", "z", "y"}
    assert watched | {"dy/dy"} == {x.name for x in report.graph.values if x.order == 0}


def test_going_on_after_the_cell(run: Run) -> None:
    """``with tape:`` after the cell goes on recording on the same tape."""
    run("%%tape x\ny = x**2")

    run("with tape:\n    w = y * 2")

    assert 12.0 == float(run("tape.gradient(w, x)"))


def test_entering_again_in_the_cell(shell: Any) -> None:
    """``with tape:`` in the cell is an error, since the tape records already; nothing stays live."""
    result = shell.run_cell("%%tape x\nwith tape:\n    pass")

    assert "Tape is still recording" in str(result.error_in_exec)
    assert () == recording.live()


def test_threads(run: Run) -> None:
    """A cell may use threads; what they compute is not recorded, and the report says where the path ends."""
    report = run(
        "%%tape x\n"
        "from threading import Thread\n"
        "found = []\n"
        "worker = Thread(target=lambda: found.append(x * 2))\n"
        "worker.start()\n"
        "worker.join()\n"
        "y = found[0]\n"
        "y"
    )

    assert {"dy/dx": None} == gradients(report)
    assert "1 watched" in repr(report)
    assert 6.0 == float(run("y"))


@pytest.mark.parametrize(
    "cell",
    [
        "y = x * 2\n1 / 0",
        "y = x * 2\nraise KeyboardInterrupt",
        "y = x * 2\nraise SystemExit",
        "y = x * 2\nwith tape.stop_recording():\n    1 / 0",
        "y = x * 2\nwith tm.GradientTape():\n    1 / 0",
    ],
)
@pytest.mark.filterwarnings("ignore:To exit")
def test_a_failing_cell_leaves_no_tape_live(
    run: Run, shell: Any, cell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever stops a cell, its tapes stop too, and the recording until then is shown and usable."""
    result = shell.run_cell(f"%%tape x\n{cell}")

    assert result.error_in_exec is not None
    assert () == recording.live()
    assert "dy/dx = 2.0" in capsys.readouterr().out
    assert 2.0 == float(run("tape.gradient(y, x)"))


def test_a_cell_in_a_cell(run: Run) -> None:
    """A %%tape cell may be run by code in another one."""
    report = run(
        "%%tape x\n"
        "inner = get_ipython().run_cell_magic('tape', 'z -n t', 'u = z**2')\n"
        "y = x**2\n"
        "w = y * u"
    )

    assert {"dw/dx": "150.0"} == gradients(report)
    assert {"du/dz": "10.0"} == gradients(run("inner"))
    assert ["x", "y", "w", "u"] == [row.name for row in report.findings.variables]


def test_an_error_of_the_library_shows_the_lines_of_the_user_alone(shell: InteractiveShell) -> None:
    """The last line of the traceback is the user's, also where a derivative of one's own fails."""
    error = shell.run_cell("%%tape x\ny = np.sum(x, out=np.zeros(()))").error_in_exec
    assert [2] == [frame.lineno for frame in frames_of_the_cell(error)][-1:]

    shell.run_cell(
        "@tm.custom_gradient\ndef f(a):\n    def grad(g):\n        return g / 0 + wrong\n    return a, grad"
    )
    error = shell.run_cell("%%tape x\ny = f(x)\ng = tape.gradient(y, x)").error_in_exec
    assert ["<module>", "grad"] == [frame.name for frame in frames_of_the_cell(error)]


def frames_of_the_cell(error: BaseException | None) -> list[traceback.FrameSummary]:
    """The frames of a traceback below those of IPython and of the magic."""
    assert error is not None
    frames = traceback.extract_tb(error.__traceback__)
    last = max(k for k, frame in enumerate(frames) if frame.filename == magics.__file__)
    return frames[last + 1 :]


def test_the_gradients_of_a_report_do_not_warn(run: Run) -> None:
    """The operations of the cell warn, as in any cell, and the derivatives of them do not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = run("%%tape x\ny = np.sqrt(x - 3.0)")

    assert {"dy/dx": "inf"} == gradients(report)
    assert [] == caught


def test_the_tape_goes_on_in_another_cell(run: Run, last: Callable[[], Any]) -> None:
    """It records there by itself: the recording of its own cell stays as it was."""
    run("%%tape x\ny = v * x**2")
    run("with tape:\n    u = y * x")

    assert [54.0, 27.0] == [float(g) for g in run("tape.gradient(u, [x, v])")]
    assert 2 == len(last().observer.records)


def test_a_used_tape_is_entered_again_in_its_cell(run: Run) -> None:
    """It begins anew, beside the recording of the cell, which goes on."""
    report = run("""%%tape
y = v**2
g = tape.gradient(y, v)
with tape:
    u = v**3
h = tape.gradient(u, v)
w = v**4
""")

    assert [4.0, 12.0] == [float(run("g")), float(run("h"))]
    assert {"dw/dv": "32.0"} == gradients(report)


def test_a_used_tape_watches_no_more(run: Run) -> None:
    """Only the report watches variables that the cell reads after the gradient."""
    report = run("""%%tape
y = v**2
g = tape.gradient(y, v)
u = tm.Variable(2.0)
z = u * v
""")

    assert 1 == len(run("tape.watched_variables()")) == len(run("tape._last_leaves"))
    assert {"dz/dv": "2.0", "dz/du": "2.0"} == gradients(report)


def test_reset_in_a_custom_gradient(run: Run) -> None:
    """The sweep goes on, and what comes after it is recorded."""
    report = run("""%%tape
@tm.custom_gradient
def f(a):
    def grad(g):
        tape.reset()
        return g * 2.0 * a
    return a * a, grad
with tm.GradientTape() as t:
    y = f(v)
g = t.gradient(y, v)
z = v * 3.0
""")

    assert 4.0 == float(run("g"))
    assert {"dz/dv": "3.0"} == gradients(report)


def test_reset_and_pause_are_those_of_the_cell(run: Run) -> None:
    """What the tape forgets or doesn't see, the report doesn't have either, and each is one event."""
    run("""%%tape x -p
y = x**2
tape.reset()
tape.watch(x)
with tape.stop_recording():
    c = x * 2
u = x * c
""")

    assert 6.0 == float(run("tape.gradient(u, x)"))
    assert run("tape.gradient(y, x)") is None
    assert ["reset", "paused"] == [event.kind for event in run("tape._events")]


def test_a_gradient_of_yours_has_its_own_lines(run: Run, last: Callable[[], Any]) -> None:
    """Operations of a sweep belong to the line that asked for the gradient, those of a custom gradient to its own."""
    run("""%%tape -p
@tm.custom_gradient
def cube(t):
    def grad(upstream):
        return upstream * 3 * t**2
    return t**3, grad
y = cube(v) * v
g = tape.gradient(y, v)
""")
    origins = last().recording().origins()
    places = list(zip(origins.lines, origins.orders, strict=True))

    assert {(7, 0), (5, 1), (8, 1)} == set(places) - {(6, 0)}
    calls = {origins.calls[call].name for line, call, *_ in origins.sites if line == 5}
    assert {"grad"} == calls


def test_a_registered_rule_that_pauses_the_tape(
    run: Run, last: Callable[[], Any], request: pytest.FixtureRequest
) -> None:
    """The operations before and after the pause keep their lines."""
    request.addfinalizer(lambda: registry.OPERATIONS.pop(run("twice")))
    run("""%%tape -p
def twice(t):
    return 2 * t
def slope(g, y, t):
    with tape.stop_recording():
        t * 5.0
    return g * 3
twice = tm.register_vjp(twice, slope)
y = twice(v**3) ** 2
g = tape.gradient(y, v)
z = v * 7.0
""")
    observer = last().recording()
    lines = observer.origins().lines
    [at_rule] = [record for record, line in zip(observer.records, lines, strict=True) if line == 7]

    assert (32.0, 3) == at_rule.values
    assert [9, 9, 9, 10, 10, 10, 7, 10, 10, 10, 11] == list(lines)
    assert 1152.0 == float(run("g"))


COMPARISONS = """
import json

def kind(value):
    match value:
        case True:
            return "true"
        case False:
            return "false"
        case _:
            return "other"

y = 2 * x - 1
z = x
for _ in range(300):
    z = z * 0.99 + 0.01
values = [
    x > 2, 2 < x, x == 3, x != 3, 1 < x < 5, not x, x > 2 and x < 2, y >= x, z > 0, -y < 0, +x > 0, abs(x) > 2,
    x % 2 > 0.5, x // 2 > 1, x**2 > 8, 1 / x > 0, divmod(x, 2)[0] > 0, xs[0] > 0, sum(xs) > 2, sum([x, y]) > 1,
    max(x, 2.0) > 1, (x > 1) + (x > 2), ~(n > 2), n > 2, n * x > 2, x > n, x > np.float64(2), np.sin(x) > 0,
    np.abs(x) > 2, np.add(x, 1) > 2, np.greater(x, 2), array[0] > 2, x + array[0] > 2, float(x) > 2,
]
found = [(type(value).__name__, type(value).__module__, kind(value), repr(value), f"{value}") for value in values]
order = sorted([1.0, 4.0, 2.0], key=lambda k: x > k)
text = json.dumps({"above": x > 2, "isinstance": isinstance(y > 2, bool), "is": (y > 2) is True})
x * y
"""


def test_comparisons_are_those_of_a_plain_cell(run: Run, variables: dict[str, Any]) -> None:
    """Python's where the values were Python's, and NumPy's elsewhere; also if the cell runs again."""
    run("xs, n, array = [1.0, 3.0], np.float64(3.0), np.array([3.0, 4.0])")
    run(COMPARISONS)
    plain = [variables[name] for name in ("found", "order", "text")]

    for _ in range(2):
        run(f"%%tape x xs n array{COMPARISONS}")
        assert [variables[name] for name in ("found", "order", "text")] == plain
    assert {kind for kind, *_ in plain[0]} == {"bool", "int"}
    assert {module for _, module, *_ in plain[0]} == {"builtins", "numpy"}


def test_a_comparison_with_python_s_result_is_an_exit(run: Run) -> None:
    """The tape knows where the path ends."""
    for cell in ("y = (x > 2) * 1.0", "passed = (x > 2) + (x > 1)\ny = 2.0 * passed"):
        assert "np.greater on line 2" in pretty(run(f"%%tape x\n{cell}"))


def test_comparisons_of_explicit_tensors(run: Run) -> None:
    """Constants, Variables and results outside of cells stay NumPy's."""
    assert ["np.True_"] * 3 == run("[repr(v > 1), repr(z > 1), repr(tm.constant(2.0) * 3 > 1)]")
    run("%%tape\nkinds = repr(v > 1), repr(v * 2 > 1)\nv * 2")
    assert ("np.True_", "np.True_") == run("kinds")
