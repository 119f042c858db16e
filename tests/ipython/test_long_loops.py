"""Long loops in a %%tape cell: what nothing can reach is let go, gradients stay exact, and the report says so."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.engine.recording import Absent, new_id
from tapemagic.engine.tape import observer, thinning
from tapemagic.errors import ConsumedTapeError
from tests.ipython.conftest import Run
from tests.ipython.kernels import kernel

SETUP = """
rng = np.random.default_rng(0)
A = rng.normal(size=(20, 200))
V = tm.Variable(rng.normal(size=200) * 0.1, name="V")
w = tm.Variable(0.5, name="w")
kept = []
"""
STEP = """
    with tm.GradientTape() as t:
        h = np.tanh(A @ V * w)
        loss = np.mean((h - 0.3) ** 2)
    g = t.gradient(loss, [V, w])
    V.assign_sub(0.1 * g[0])
    w.assign_sub(0.1 * g[1])
"""
NEW_LINE = "\n"
LOOP = f"for k in range(90):{STEP}"
LOOPS = {
    "losses kept now and then": (
        f"{LOOP}    if k % 17 == 0:\n        kept.append(loss)",
        "[tape.gradient(loss, [V, w]) for loss in kept]",
    ),
    "all losses kept": (
        f"{LOOP}    kept.append(loss)",
        "[tape.gradient(loss, [V, w]) for loss in kept]",
    ),
    "second derivatives": (
        f"{LOOP}    if k % 17 == 0:\n        kept.append(g[1])",
        "[tape.gradient(slope, [V, w]) for slope in kept]",
    ),
    "a recurrence": (
        "y = w\nfor k in range(300):\n    y = np.tanh(0.9 * y + 0.1 * w * V)\nz = np.sum(y)",
        "[tape.gradient(z, [V, w])]",
    ),
    "a truncated recurrence": (
        """
y = V * 1.0
for k in range(300):
    y = 0.9 * y + 0.1 * w
    if k % 50 == 40:
        y = tm.stop_gradient(y)
z = np.sum(y)""",
        "[tape.gradient(z, [V, w])]",
    ),
    "loops in loops": (
        "for epoch in range(9):\n    for k in range(12):"
        + STEP.replace("\n    ", "\n        ")
        + "    kept.append(loss)",
        "[tape.gradient(loss, [V, w]) for loss in kept]",
    ),
    "a function": (
        f"""
def train(steps):
    for k in range(steps):{STEP.replace(NEW_LINE, NEW_LINE + "    ")}
        if k % 17 == 0:
            kept.append(loss)

train(90)""",
        "[tape.gradient(loss, [V, w]) for loss in kept]",
    ),
}


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Collections come after a few steps, so that loops can be short."""
    monkeypatch.setattr(observer, "COLLECT_AFTER_BYTES", 1 << 14)
    monkeypatch.setattr(thinning, "COLLECT_AFTER_RECORDS", 64)


@pytest.fixture
def magics(shell: InteractiveShell) -> Any:
    """The magics, with the last recording."""
    return shell.find_cell_magic("tape").__self__  # type: ignore[union-attr]


def arrays(structure: Any) -> list[Any]:
    """The gradients in a nested list, None included."""
    if isinstance(structure, list):
        return [array for part in structure for array in arrays(part)]
    return [None if structure is None else structure.numpy()]


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("name", LOOPS)
def test_gradients_after_the_cell_are_exact(name: str, run: Run, magics: Any) -> None:
    """What is alive keeps its gradients, equal to those of a plain tape to the last digit."""
    cell, question = LOOPS[name]
    run(SETUP)
    run(f"%%tape -p\n{cell};")
    ours = arrays(run(question))
    dropped = magics.last.observer.omitted
    run(SETUP)
    body = "\n".join(f"    {line}" for line in cell.splitlines())
    run(f"with tm.GradientTape(persistent=True) as tape:\n{body}")
    plain = arrays(run(question))

    assert "recurrence" in name or dropped > 100
    assert len(ours) == len(plain) > 0
    for one, other in zip(ours, plain, strict=True):
        assert (one is None) == (other is None)
        assert one is None or np.array_equal(one, other)


@pytest.mark.usefixtures("often")
def test_values_that_no_rule_reads_go(run: Run, magics: Any) -> None:
    """Of steps whose losses are kept, arrays that no gradient needs are let go; curves still have their norms."""
    run(SETUP)
    report = run(f"%%tape\n{LOOP}    kept.append(loss)")
    values = [x for record in magics.last.observer.records for x in record.values]
    slim = [x for x in values if isinstance(x, Absent)]

    assert len(slim) > 60
    assert all(x.norm > 0 for x in slim)
    curves = [x for step in report.graph.steps for x in step.carried if x.name == "V"]
    assert [90] == [x.values.count for x in curves]
    assert not any(np.isnan(x.values.values).any() for x in curves)


@pytest.mark.usefixtures("often")
def test_interrupt_while_gaps_are_closed(
    run: Run, variables: dict[str, Any], magics: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a collection leaves a recording on which the cell can go on."""
    interrupts = iter([KeyboardInterrupt])

    def slice_of(*ends: Any) -> slice:
        for interrupt in interrupts:
            raise interrupt
        return slice(*ends)

    monkeypatch.setattr(thinning, "slice", slice_of, raising=False)
    run(SETUP)
    attempt = f"try:\n    {LOOP.replace(NEW_LINE, NEW_LINE + '    ')}\nexcept KeyboardInterrupt:\n    last = k"
    run(f"%%tape -p\n{attempt}\n{LOOP}    kept.append(loss)")

    assert variables["last"] < 89
    assert magics.last.observer.omitted > 100
    assert len(arrays(run("[tape.gradient(loss, [V, w]) for loss in kept]"))) == 180
    run("%tape_graph")


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("size", [1, 20_000])
def test_thread_that_records_during_a_collection(
    size: int, run: Run, variables: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another thread of the cell records meanwhile stays, and begins no second collection."""
    results: list[Any] = []
    threads: list[Thread] = []

    def record() -> None:
        results.append(variables["w"] * np.ones(size))

    def slice_of(*ends: Any) -> slice:
        if not threads:
            thread = Thread(target=copy_context().run, args=(record,))
            threads.append(thread)
            thread.start()
            thread.join()
        return slice(*ends)

    monkeypatch.setattr(thinning, "slice", slice_of, raising=False)
    run(SETUP)
    run(f"%%tape -p\n{LOOP};")
    variables["results"] = results

    assert float(size) == float(run("tape.gradient(results[0], w)"))


@pytest.mark.usefixtures("often")
def test_ends_of_sweeps_move(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection right after a sweep moves the place at which it ended."""
    ends: list[int] = []

    def collect(self: Any, everything: bool = False) -> None:
        original(self, everything)
        ends.extend(end - len(self._observer._records) for end in self._sweep_ends)

    original = thinning.Thinning.collect
    monkeypatch.setattr(thinning.Thinning, "collect", collect)
    run(SETUP)
    run(f"%%tape\n{LOOP};")

    assert {0} == set(ends)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("changes", ["", "\n    if k == 20:\n        V.assign(V * 2.0)"])
def test_versions_of_a_variable_without_its_values(
    changes: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable has as many values as it was assigned, though records of some have only their shapes."""
    cell = f"%%tape\nfor k in range(40):\n    kept.append(V * 2.0 * w){changes}\nloss = np.sum(kept[17] * kept[18])"
    run(SETUP)
    thinned = run(cell)
    monkeypatch.setattr(observer, "COLLECT_AFTER_BYTES", 1 << 40)
    monkeypatch.setattr(thinning, "COLLECT_AFTER_RECORDS", 1 << 40)
    run(SETUP)
    whole = run(cell)

    assert sections(thinned)[1] == sections(whole)[1]
    assert any("V" in x for x in sections(whole)[1].splitlines())


LOSS = "np.sum(A @ V * w)"


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize(
    ("cell", "words"),
    [
        # Training: the value of V, and a loss of many elements; Lines: a value of an iteration that isn't kept.
        (f"loss = {LOSS}\n    kept.append(loss)", "60 steps"),
        ("loss = V * 2.0 * w\n    kept.append(loss)", "steps"),
        (f"if k == 30:\n        kept.append(V * 2.0)\n    loss = {LOSS}", "if k == 30"),
    ],
)
def test_reports_without_values_that_no_rule_reads(
    cell: str, words: str, run: Run, magics: Any
) -> None:
    """Training and Lines do without the arrays of iterations that aren't kept."""
    run(SETUP)
    report = run(f"%%tape\nfor k in range(60):\n    {cell}\n    V.assign(0.99 * V)")
    records = magics.last.observer.records

    assert any(isinstance(x, Absent) for r in records for x in (*r.values, *r.outputs))
    assert words in str(report)


def sections(report: Any) -> list[str]:
    """The parts of a report's text."""
    return str(report).split("\n\n")


@pytest.mark.usefixtures("often")
def test_report_of_a_thinned_loop(run: Run, magics: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts what really ran, shows every step, and equals the report of the whole recording."""
    run(SETUP)
    thinned = sections(run(f"%%tape\n{LOOP}"))
    kept = len(magics.last.observer.records)
    monkeypatch.setattr(observer, "COLLECT_AFTER_BYTES", 1 << 40)
    monkeypatch.setattr(thinning, "COLLECT_AFTER_RECORDS", 1 << 40)
    run(SETUP)
    whole = sections(run(f"%%tape\n{LOOP}"))
    total = len(magics.last.observer.records)

    assert kept < total // 4
    text = "\n\n".join(thinned)
    assert f"%%tape: {total:,} operations, 2 watched variables" in text
    assert f"{kept:,} of {total:,} operations are kept" in text
    assert "iteration 90 of 90" in text
    assert "88 more iterations" in text
    assert "h: 90 times" in text
    # The table of steps is the last part of the text, and the verdict's results are in the first.
    assert thinned[-1] == whole[-1]
    results = [[x for x in part[0].splitlines() if " = " in x] for part in (thinned, whole)]
    assert results[0] == results[1]


@pytest.mark.usefixtures("often")
def test_lines_without_a_name_count_all_runs(run: Run) -> None:
    """A line whose result has no name says how often it really ran."""
    run(SETUP)
    report = run(f"%%tape\n{LOOP}")

    assert ": 90 times" in next(x for x in str(report).splitlines() if "V.assign_sub" in x)


@pytest.mark.usefixtures("often")
def test_iteration_that_was_let_go(run: Run, refused: Callable[[str], str]) -> None:
    """%tape_graph says which iterations are left."""
    run(SETUP)
    run(f"%%tape\n{LOOP};")

    run("%tape_graph --iteration 90")
    words = refused("%tape_graph --iteration 58")

    assert "iteration 58 of 90 was let go" in words
    assert words.endswith("90")


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("step", [3, 40, 80])
def test_origin_of_nan(step: int, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict names the step in which a nan began, wherever that was."""
    cell = (
        "%%tape\nfor k in range(90):\n    with tm.GradientTape() as t, np.errstate(all='ignore'):\n"
        f"        loss = np.mean(V**2) * w + np.log(w * ({step} - k) + 0.5) * 0.0\n"
        "    g = t.gradient(loss, w)\n    w.assign_sub(0.01 * g)\n    V.assign(0.99 * V)"
    )
    run(SETUP)
    thinned = str(run(cell))
    monkeypatch.setattr(observer, "COLLECT_AFTER_BYTES", 1 << 40)
    run(SETUP)
    whole = str(run(cell))

    def sentences(text: str) -> list[str]:
        return [
            x
            for x in text.split("\n\n", maxsplit=1)[0].splitlines()
            if "nan" in x and "kept" not in x
        ]

    assert sentences(thinned) == sentences(whole) != []


def test_budget_refuses_what_it_cut(
    run: Run,
    magics: Any,
    variables: dict[str, Any],
    often: None,  # noqa: ARG001
) -> None:
    """Beyond the budget, the oldest steps go; their gradients are refused, never wrong."""
    run("%config TapeMagics.memory = '2 MB'")
    run(SETUP)
    report = run(
        f"%%tape -p\n{LOOP.replace('90', '900')}    kept.append(loss)\nmean = sum(kept) / 900;\nloss"
    )
    loss, first, mean, tape = (variables[x] for x in ("loss", "kept", "mean", "tape"))
    sources = variables["V"], variables["w"]

    assert magics.last.observer.cut_records > 1000
    assert "more than the 2 MB that it may take" in str(report)
    assert tape.gradient(loss, sources[0]) is not None
    for target in (first[100], mean, [loss, first[100]]):
        for source in sources:
            with pytest.raises(ConsumedTapeError, match="let go while the cell ran"):
                tape.gradient(target, source)
    with pytest.raises(ConsumedTapeError, match="let go while the cell ran"):
        tape.jacobian(mean, sources[1])
    # No value that was cut can depend on the last loss.
    assert 1 / 900 == tape.gradient(mean, first[-1])
    why = run("%why mean w")
    assert "let go while the cell ran" in " ".join(str(why).split())
    assert "let go while" in str(
        run(f"%%tape\n{LOOP.replace('90', '900')}    kept.append(loss)\nsum(kept)")
    )


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ("0", "a size above 0"),
        ("-3", "a size above 0"),
        ("'-1 GB'", "a size above 0"),
        ("'much'", "a size above 0"),
        ("True", "a size above 0"),
        ("float('nan')", "a size above 0"),
        ("1000", "at least 1 MB"),
        ("'900 TB'", "in all: write less"),
    ],
)
def test_budget_that_makes_no_sense(
    size: str, words: str, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clear sentence, and the setting stays."""
    result = shell.run_cell(f"get_ipython().find_cell_magic('tape').__self__.memory = {size}")

    assert result.error_in_exec is not None
    assert words in str(result.error_in_exec)
    capsys.readouterr()
    assert shell.find_cell_magic("tape").__self__.memory is None  # type: ignore[union-attr]


@pytest.mark.parametrize("fails", [False, True])
def test_recording_goes_before_the_next(fails: bool, shell: InteractiveShell, magics: Any) -> None:
    """Neither the magics nor a traceback keep a recording when the next cell begins."""
    shell.run_cell("def f(x):\n    raise ValueError('no')\nx = tm.Variable(2.0)")
    gc.disable()
    try:
        shell.run_cell(f"%%tape\ny = x * x{chr(10) + 'f(y)' if fails else ';'}")
        recording = weakref.ref(magics.last.observer)
        shell.run_cell("%%tape\ny = (")
        assert recording() is not None
        shell.run_cell("%%tape\nnext = recording() if 0 else 1")
    finally:
        gc.enable()

    assert recording() is None


FOLDER = Path(__file__).parents[2]
NETWORK = """
import resource
X = np.random.default_rng(0).normal(size=(512, 784))
W = tm.Variable(np.random.default_rng(1).normal(size=(784, 64)) * 0.05, name="W")
U = tm.Variable(np.random.default_rng(2).normal(size=(64, 10)) * 0.05, name="U")
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""
TRAIN = """
for k in range(150):
    xb = X[k % 3 * 128 : (k % 3 + 1) * 128]
    with tm.GradientTape() as t:
        loss = np.mean((np.tanh(xb @ W) @ U - 1.0) ** 2)
    for v, g in zip([W, U], t.gradient(loss, [W, U])):
        v.assign_sub(0.1 * g)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_memory_of_a_training_loop() -> None:
    """A loop adds what a few steps take, and a second run no more than the first."""
    program = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def run(cell): shell.run_cell(cell).raise_error(); return shell.user_ns["peak"]()
shell.run_cell("import numpy as np, tapemagic as tm\\n%load_ext tapemagic\\n" + {NETWORK!r}).raise_error()
print(*map(run, [{TRAIN!r}, "%%tape\\n1;", "%%tape" + {TRAIN!r} + ";", "%%tape" + {TRAIN!r} + ";"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=FOLDER, capture_output=True, text=True, check=True
    )
    _, plain, first, second = map(float, done.stdout.split()[-4:])

    assert first < plain + 100
    assert second < 1.1 * first


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA limits arrays on Linux")
def test_kernel_without_memory(tmp_path: Path) -> None:
    """A cell that runs out of memory ends as any failing cell, and the kernel goes on."""
    with kernel(tmp_path) as started:
        started.run(NETWORK)
        started.run("%%tape\ny = W * W")
        started.run(
            "import resource, re\n"
            "now = int(re.search(r'VmData:\\s+(\\d+)', open('/proc/self/status').read())[1]) * 1024\n"
            "resource.setrlimit(resource.RLIMIT_DATA, (now + (200 << 20), -1))"
        )
        failed = started.run(
            "%%tape\nh = W\nfor k in range(2000):\n    h = np.tanh(h * W)\ny = np.sum(h)"
        )
        after = started.run("big = np.ones(2_000_000)\nprint(big.size)")
        asked = started.run("%why h W")
        again = started.run("%%tape\ny = np.sum(W * W)")

    assert failed.stopped
    assert "MemoryError" in str(failed.outputs)
    assert "the memory was full, so the recording of" in str(failed.outputs)
    assert "the cell has run" not in str(failed.outputs)
    assert after.stdout == "2000000\n"
    assert "let go while the" in str(asked.outputs)
    assert not again.stopped


@pytest.mark.parametrize("ids", [1, 1000, 2000])
def test_what_is_kept_does_not_depend_on_earlier_cells(run: Run, ids: int) -> None:
    """Whether a loop of about 4,500 operations was collected while it ran depends on its ids; its report doesn't."""
    run("v = tm.Variable(1.0)")
    for _ in range(ids):
        new_id()
    report = run(
        "%%tape\nfor _ in range(230):\n    with tm.GradientTape() as t: loss = np.sin(v) * v * v * v + v\n"
        "    v.assign_sub(0.001 * t.gradient(loss, v))"
    )

    assert "of 4,370 operations are kept" in str(report)
