"""The steps through a trace: their sentences, what is known from each on, and gradients that fill in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.explain.formatting import bars_as_text
from tapemagic.report.tabs.graph.graph import Graph
from tapemagic.report.tabs.trace.steps import Steps
from tests.report.recordings import chain, record
from tests.report.steps import drawings, stepped
from tests.report.test_every_rule import found as examined
from tests.rules import harness
from tests.shares import each

CASES = harness.collect("CASES")


def steps(function: Callable[..., Any], *inputs: Any, **options: Any) -> tuple[Steps, Graph]:
    """The steps through the graph of ``y = function(a, b, ...)``."""
    with drawings() as found, np.errstate(all="ignore"):
        record(function, *inputs, **options)
    return stepped(found)


def words(function: Callable[..., Any], *inputs: Any, **options: Any) -> list[str]:
    """The sentences of the steps."""
    return [bars_as_text(step.words) for step in steps(function, *inputs, **options)[0].steps]


def test_the_textbook() -> None:
    """Forward values, then in reverse what each operation passes back, and sums at a shared value."""
    assert [
        "watched: a = 2.0",
        "watched: b = 5.0",
        "line 2: v1 = a · b = 2.0 · 5.0 = 10.0",
        "line 3: v2 = sin(a) = sin(2.0) = 0.909297",
        "line 4: y = v1 + v2 = 10.0 + 0.909297 = 10.9093",
        "ȳ = 1.0: the gradient of y with respect to itself",
        "add passes back to v1: v̄1 = ȳ = 1.0",
        "add passes back to v2: v̄2 = ȳ = 1.0",
        "sin passes back to a: ā = v̄2 · cos(a) = 1.0 · cos(2.0) = -0.416147",
        "multiply passes back to a: v̄1 · b = 1.0 · 5.0 = 5.0, added to what a has: -0.416147 + 5.0 = 4.58385",
        "multiply passes back to b: b̄ = v̄1 · a = 1.0 · 2.0 = 2.0",
        "the gradient of y with respect to b is complete: b̄ = 2.0",
        "the gradient of y with respect to a is complete: ā = 4.58385",
    ] == words(lambda a, b: a * b + np.sin(a), 2.0, 5.0)


def test_gradients_add_up() -> None:
    """The box of a shared value shows the sum so far."""
    found, graph = steps(lambda a, b: a * b + np.sin(a), 2.0, 5.0)
    [a] = [value.index for value in graph.values if value.name == "a"]

    assert ["-0.416147", "4.58385"] == [
        text for step in found.steps for k, text in step.gradients if k == a
    ]


def test_sums_that_are_not_known() -> None:
    """Of a large shared array an ellipsis stands in the box until its last share, and its shape in the sentence."""
    found, _ = steps(lambda a: np.sum(np.tanh(a) * a + a), np.ones((100, 100)))

    assert ["…", "…", "all 2.18157"] == [
        text for step in found.steps for k, text in step.gradients if k == 0
    ]
    said = bars_as_text("\n".join(step.words for step in found.steps))
    assert "multiply passes back to a: v̄2 · v1, added to what a has; shape 100×100" in said
    assert "added to what a has; in all ā = 100×100, all 2.18157" in said


def test_every_row_of_the_trace_is_an_operation_of_the_graph() -> None:
    """Rows and operations correspond, with their lines."""
    found, graph = steps(lambda a: np.sin(a) * a, 2.0)
    [part] = found.trace.parts

    assert [None, 0, 1] == [row.step for row in part.rows]
    assert [None, (2, 2), (3, 3)] == [row.lines for row in part.rows]
    assert len(graph.steps) == 2


def test_none() -> None:
    """That no gradient reaches a value is said at the end."""
    said = words(lambda a, b: [a * 2.0, np.floor(b)][0], 1.0, 2.5)

    assert "no gradient reaches b: None" in said[-3:]


def test_integers() -> None:
    """An integer is a row and a box like other watched values, and gets no gradient."""
    found, graph = steps(lambda a, b: a * b, 2.0, np.array(3))
    [b] = [value.index for value in graph.values if value.name == "b"]

    assert (b,) == found.steps[1].shown
    assert "no gradient reaches b: None" == found.steps[-1].words


def test_several_targets() -> None:
    """A seed to which other targets add is called a beginning."""
    said = words(lambda a: [b := a * 2.0, b * 3.0], 1.0)

    assert "y0 is one of the targets: ȳ0 begins with 1.0" in said
    assert (
        "multiply passes back to y0: ȳ1 · 3.0 = 1.0 · 3.0 = 3.0, added to what y0 has: 1.0 + 3.0 = 4.0"
        in said
    )


def test_array_targets() -> None:
    """The gradient of a target that is an array is that of its sum."""
    said = words(lambda a: a * 2.0, np.ones(2))

    assert "ȳ = [1.0, 1.0]: the gradient of the sum of y with respect to y" in said


def test_derivatives() -> None:
    """Each derivative that the report took has its way forward and back, after that of the cell."""
    found, _ = steps(lambda a: a**3, 2.0, order=2)

    ways = list(dict.fromkeys((step.part, step.way) for step in found.steps))
    assert [(0, "forward"), (0, "reverse"), (1, "forward"), (1, "reverse")] == ways
    assert any(
        "first derivative: bar(dy/da) = 1.0" in bars_as_text(step.words) for step in found.steps
    )


def test_rules_that_take_gradients() -> None:
    """What a rule computes to find a gradient belongs to the derivative for which it is needed."""

    def inner(a: Any) -> Any:
        return np.sin(a) * a

    function = tm.recompute_grad(inner)

    found, graph = steps(lambda a: function(a) * a, 2.0, order=3)

    assert ["", "First derivative", "Second derivative"] == [x.title for x in found.trace.parts]
    [words] = [step.words for step in found.steps if "dy/da =" in step.words]
    assert words.startswith("first derivative: ")
    none = [x.name for x in graph.values if x.name and x.gradient is None]
    assert ["dy/dy"] == none


def test_targets_that_are_derivatives() -> None:
    """The derivatives of a derivative of the cell's own have numbers of their own, and gradients reach them."""

    def both(a: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(a)
            y = a**3
        return [y, tape.gradient(y, a)]

    alone = words(lambda a: both(a)[1], 2.0, order=2)
    together = words(both, 2.0, order=2)

    assert (
        "first derivative: bar(dy/da) = 1.0: the gradient of dy/da with respect to itself" in alone
    )
    assert (
        "first derivative: dy0/da is one of the derivatives: bar(dy0/da) begins with 1.0"
        in together
    )
    assert not [said for said in together if "None" in said]


def test_the_next_derivative() -> None:
    """The sweep from a derivative ends with the derivative of the next order."""
    said = words(lambda a, b: a**2 * b, 2.0, 3.0, order=2)

    assert (
        "first derivative: the gradient of dy/da with respect to a is complete: d²y/da² = 6.0"
        == said[-1]
    )


def test_a_value_read_twice() -> None:
    """An operation that reads a value twice passes back to it twice, by one partial derivative each."""
    product = words(lambda a: a * a, 3.0)
    einsum = words(lambda a: np.einsum("i,i->", a, a), np.ones(2))

    assert "multiply passes back to a, its first input: ā = ȳ · a = 1.0 · 3.0 = 3.0" in product
    assert (
        "multiply passes back to a, its second input: ȳ · a = 1.0 · 3.0 = 3.0, added to what a has: 3.0 + 3.0 = 6.0"
        in product
    )
    assert "einsum passes back to a, its first input: ā = ȳ · ∂y/∂(input 1) = [1.0, 1.0]" in einsum


def test_one_number_for_many_elements() -> None:
    """One number that is passed back to many elements is said to be."""
    said = "\n".join(words(lambda a: np.mean(a) + np.sum(np.sum(a, axis=0)[0]), np.ones((1, 2))))

    assert "mean passes back to each element of a: v̄1 / 2 = [[0.5, 0.5]], added" in said
    assert "sum passes back to a: ā = repeat(v̄2, axis=0) = [[1.0, 0.0]]" in said
    assert "sum passes back to v3: v̄3 = v̄4 = 1.0" in said


def test_choices() -> None:
    """No equals sign stands behind a case of a choice as if it belonged to that alone."""
    said = words(lambda a: np.where(True, np.maximum(a, 0.0), a), 2.0)

    assert "line 3: y = (v1 if True, else a) = (2.0 if True, else 2.0) = 2.0" in said
    assert (
        "maximum passes back to a: (v̄1 if a ≥ 0.0, else 0) = (1.0 if 2.0 ≥ 0.0, else 0) = 1.0, "
        "added to what a has: 0.0 + 1.0 = 1.0"
    ) in said


def test_operations_left_out_of_the_graph() -> None:
    """What is one node in the middle of a graph has rows of its own, all of that one operation of the graph."""
    with drawings() as found:
        chain(1000)
    taken, graph = stepped(found)
    [middle] = [step.index for step in graph.steps if step.kind == "elided"]
    rows = [row for row in taken.trace.parts[0].rows if row.step == middle]

    assert 20 < len(rows) <= 60
    assert len(taken.trace.parts[0].rows) <= 61
    assert len(rows) == sum(step.step == middle and step.way == "forward" for step in taken.steps)
    said = "\n".join(step.words for step in taken.steps)
    assert re.search(r"lines \d+–\d+: [\d,]+ operations", said)
    assert re.search(r"lines \d+–\d+: back through [\d,]+ operations: v̄\d+ = ", said)


def test_operations_that_are_not_drawn() -> None:
    """A gradient is complete in the end although operations add to it that are not drawn."""
    steps(lambda a: np.sum(np.stack([np.sin(a * float(k)) for k in range(100)])), 0.5)


def test_many_watched_values() -> None:
    """Those without a row of their own become known together."""
    weights = [tm.Variable(float(k), name=f"w{k}") for k in range(30)]
    found, _ = steps(lambda: sum(w * 2.0 for w in weights))

    assert any(step.words.endswith(" more watched values") for step in found.steps)


def test_hostile_names() -> None:
    """A sentence is one line, whatever a name holds, and not too long."""
    names = ["two\nlines", "long " * 2000, "\u202eright to left", "</script>"]
    weights = [tm.Variable(2.0, name=name) for name in names]

    steps(lambda *ws: ws[0] * ws[1] * ws[2] * ws[3], *weights)


def test_nothing_recorded() -> None:
    """Without operations there is no step, and all is known."""
    assert ((), ()) == ((found := steps(lambda a: a, 2.0)[0]).steps, found.trace.parts)


def test_a_small_cell_is_small() -> None:
    """The sentences of ten operations take less than four kilobytes."""

    def ten(a: Any, b: Any) -> Any:
        for _ in range(3):
            a = np.sin(a * b) + b
        return a * 2.0

    assert sum(len(said.encode()) + 40 for said in words(ten, 0.5, 2.0)) < 4000


@pytest.mark.thorough
@pytest.mark.parametrize("module", sorted({name.partition("-")[0] for name in CASES}))
def test_every_rule(module: str) -> None:
    """Every fifth case of the rule table, or a third of these, to the second order."""
    for name, entry in list(CASES.items())[:: each(5)]:
        if name.partition("-")[0] == module:
            with drawings() as found:
                examined(entry)
            stepped(found)
