"""What the faces of a report say of loops, and of values with unusual names."""

from __future__ import annotations

import pytest

from tapemagic.drawing.inserts import PLOT, captions, developments
from tapemagic.report.tabs.graph.graph import Step
from tests.ipython.conftest import Run

pytestmark = pytest.mark.usefixtures("any_size")


def loops(report: object) -> list[Step]:
    """The folded loops of a report's graph, with the values that they carry."""
    return [step for step in report.graph.steps if step.carried]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("y = 0.5\nfor k in range(100):\n    y = x * y * (1 - y)", {"y": (0.625, 0.6)}),
        (
            "t = 0.0\nfor i in range(1, 5):\n    p = 1.0\n    for j in range(i):\n        p = p * x\n    t = t + p / i",
            {"t": (2.5, 10.833333), "p": (2.5, 15.625)},
        ),
    ],
)
def test_iterations_that_differ(
    run: Run, cell: str, expected: dict[str, tuple[float, float]]
) -> None:
    """A result is followed by its name: the first iteration computes with constants, or each has an inner loop."""
    run("x = 2.5")

    outermost = max(loops(run(f"%%tape x\n{cell}")), key=lambda step: step.elided)

    ends = {entry.name: entry.values.values for entry in outermost.carried}
    assert expected.keys() == ends.keys()
    for name, (first, last) in expected.items():
        assert (first, last) == pytest.approx((ends[name][0], ends[name][-1]))


def test_captions_do_not_overlap(run: Run) -> None:
    """The columns of plots are as wide as what is written above them."""
    run("x = 0.5")
    [step] = loops(run("%%tape x\ny = x\nfor k in range(10):\n    y = 1.1 * np.sin(y) + x"))

    longest = max(len(words) for entry in step.carried for words in captions(entry))

    assert longest * 4.5 > PLOT[0]
    assert developments(step).width > 2 * longest * 4.5


def test_the_range_of_the_target(run: Run) -> None:
    """Of the iterations that a trace leaves out, the target is told, and not what comes last."""
    cell = "for k in range(9):\n    with tm.GradientTape() as t:\n        loss = w * w\n"
    run("w = tm.Variable(2.0)")

    report = run(f"%%tape\n{cell}    w.assign_sub(0.1 * t.gradient(loss, w))")

    assert "7 more iterations: loss between 0.175922 and 2.56" in repr(report)


@pytest.mark.parametrize(
    "name",
    ["long " * 2000, "-" * 9999 + "1", "x[" * 90, "x" + ".a" * 9000, "<script>&\n\u202e$%{}]]>"],
    ids=["words", "minus", "brackets", "dots", "signs"],
)
def test_a_hostile_name(run: Run, name: str) -> None:
    """Whatever a Variable is called, its row is there, on one line that is not too long."""
    run(f"evil = [tm.Variable(3.0, name={name!r}), tm.Variable(2.0)]")

    report = run("%%tape\ny = evil[0] * evil[1]")

    assert {"3.0", "2.0"} == {entry.text for entry in report.findings.derivatives}
    assert max(map(len, repr(report).splitlines())) < 400
    assert len(report._repr_mimebundle_()["text/html"]) < 25_000


def test_a_variable_called_v(run: Run) -> None:
    """Its earlier values are v₁ and v₂, so that results without a name are not v1 and v2."""
    run("v = tm.Variable(2.0)")

    text = repr(run("%%tape\na = v ** 2\nv.assign(5.0)\ny = a + 3 * v"))

    assert "v₂ = 5.0" in text
    assert "t1 = 3 · v₂ = 3 · 5.0 = 15.0" in text


def test_complex_edges(run: Run) -> None:
    """What goes back through an operation on complex numbers is no plain product, so that no slope is beside it."""
    run("z = 1.0 + 2.0j")

    report = run("%%tape z\nw = z ** 2\ny = np.abs(w) ** 2")

    assert [2] == [k for k, step in enumerate(report.graph.steps) if step.slopes or step.formulas]


def test_a_training_that_goes_wrong(run: Run) -> None:
    """The verdict says so."""
    run("w = tm.Variable(1.0)")

    report = run(
        "%%tape\nfor k in range(20):\n    with tm.GradientTape() as t:\n        loss = w * w\n"
        "    w.assign_sub(1.5 * t.gradient(loss, w))"
    )

    said = [x for x in report.findings.verdict if x.topic == "training"]
    assert ["Training"] == [x.tab for x in said]
    assert said[0].text.startswith("loss has been growing since step 1")
