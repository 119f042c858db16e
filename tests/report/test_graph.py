"""A recording as a graph of plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tape.observer import Observer
from tapemagic.report.context import Context
from tapemagic.report.drawn_records import first_and_last
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.graph.graph import Graph, Step, Value
from tests.report.recordings import chain, findings_of, product, record, regression, square


def test_the_square() -> None:
    """Nodes and operations are numbered in the order of the tape."""
    assert (
        Graph(
            (
                Value(0, "a", "watched", (), "float64", "3.0", "6.0"),
                Value(1, "", "constant", (), "int", "2"),
                Value(2, "y", "target", (), "float64", "9.0", "1.0", 2),
            ),
            (Step(0, "power", (0, 1), (2,), 2, slopes=((0, "6.0"),), formulas=((0, "2 · a"),)),),
        )
        == square().graph
    )


def test_constants_by_name() -> None:
    """A constant array is known by the name of an array that is the same."""
    named = {value.name: value.role for value in regression().graph.values if value.name}

    assert {
        "x": "constant",
        "a": "variable",
        "b": "variable",
        "t": "constant",
        "y": "target",
    } == named


def test_a_named_constant_is_one_node() -> None:
    """However often it is read."""
    data = np.array([1.0, 2.0])

    values = record(
        lambda a: np.sum(a * data + data) * np.sum(data * a), 2.0, data=data
    ).graph.values

    assert 1 == sum(value.name == "data" for value in values)


def test_numbers_are_not_called_after_variables() -> None:
    """A literal 2 is not a variable that happens to be 2, and each has its own node."""
    values = record(lambda a: 2 * a**2, 3.0, n=2).graph.values

    assert ["", ""] == [value.name for value in values if value.text == "2"]


def test_a_large_constant_that_no_rule_reads() -> None:
    """It has a shape, and a name if there is only one such array."""
    data, other = np.arange(1000.0), np.arange(1000.0)

    one = record(lambda a: np.sum(a + data), 2.0, data=data).graph.values[1]
    two = record(lambda a: np.sum(a + data), 2.0, data=data, other=other).graph.values[1]

    assert ("data", "1,000", "constant") == (one.name, one.text.partition(" ")[0], one.role)
    assert "" == two.name


def test_constants_that_are_equal() -> None:
    """They have no name if it could be another's, and each has its own box."""
    first, second = np.ones(2), np.ones(2)

    def compute(a: Any) -> Any:
        return a * first + a * second + a * np.ones(2)

    graph = record(compute, [1.0, 2.0], first=first, second=second).graph

    constants = [value for value in graph.values if value.role == "constant"]
    assert [("", "[1.0, 1.0]")] * 3 == [(value.name, value.text) for value in constants]


def test_constants_that_are_the_same() -> None:
    """One array may have two names, and holes in it; numbers that several names stand for have none."""
    half, data = 0.5, np.array([1.0, np.nan])

    array = record(lambda a: a * data, [1.0, 2.0], data=data, copy=data).graph.values[1]
    one = record(lambda a: a * half, 1.0, half=half).graph.values[1]
    two = record(lambda a: a * half, 1.0, half=half, other=half).graph.values[1]

    assert ["data", "half", ""] == [value.name for value in (array, one, two)]


def test_a_watched_whole_number_is_one_box() -> None:
    """It is not on the tape, and a watched variable all the same."""
    graph = record(lambda a, b: a * b, 3, 2.0).graph

    assert [("a", "watched", "3"), ("b", "watched", "2.0"), ("y", "target", "6.0")] == [
        (value.name, value.role, value.text) for value in graph.values
    ]
    assert (0, 1) == graph.steps[0].inputs


def test_orders() -> None:
    """The operations of a derivative belong to its order; the seed is called dy/dy, and is one node."""
    graph = product().graph

    assert [0] * 3 + [1] * 7 == [step.order for step in graph.steps]
    assert {"dy/dy": "1.0", "dy/da": "0.231011", "dy/db": "1.81859"} == {
        value.name: value.text for value in graph.values if value.name.startswith("dy")
    }
    assert all(value.order == 0 for value in graph.values if value.name in "aby" and value.name)


def test_rules_that_are_no_products_have_no_slopes() -> None:
    """Neither a rule of the user's own nor one on complex numbers is a product with a derivative."""

    @tm.custom_gradient
    def clipped(x: Any) -> Any:
        return x * x, lambda g: np.clip(g, -1.0, 1.0)

    for function in (clipped, lambda a: np.abs(a * (1 + 2j))):
        steps = record(function, 2.0).graph.steps
        assert [step.slopes or step.formulas for step in steps] == [()] * len(steps)


def test_slopes() -> None:
    """An operation on numbers has a local derivative for each input; one on arrays has none."""
    graph = record(lambda a, b: np.arctan2(a * a, b), 3.0, 9.0).graph

    assert [((0, "3.0"), (1, "3.0")), ((0, "0.0555556"), (1, "-0.0555556"))] == [
        step.slopes for step in graph.steps
    ]
    assert [(), ()] == [
        step.slopes for step in record(lambda a: np.sum(a * a), [1.0, 2.0]).graph.steps
    ]


def test_not_computed_is_not_zero() -> None:
    """A value on which the target does not depend has no gradient; one that cancels out has 0."""
    graph = record(lambda a, b: (a * 0.0, b * 3.0)[0], 2.0, 5.0).graph
    both = record(lambda a: (a - a) * np.sin(a), 2.0).graph

    assert {"a": "0.0", "y": "1.0"} == {v.name: v.gradient for v in graph.values if v.gradient}
    assert None is next(v for v in graph.values if v.name == "b").gradient
    assert "0.909297" == both.values[1].gradient


def boxes(found: Findings) -> list[tuple[str, str, str | None]]:
    """The names of the watched values with what they hold, and their gradients."""
    return [
        (value.name, value.text, value.gradient)
        for value in found.graph.values
        if value.role in ("watched", "variable")
    ]


def test_a_variable_that_changes() -> None:
    """It has a box for every value that was read, with the gradient through that box."""

    def compute(v: Any) -> Any:
        first = v * 2
        v.assign(5.0)
        return first + v * 3 + v**2

    found = record(compute, tm.Variable(1.0))

    assert [("a₁", "1.0", "2.0"), ("a₂", "5.0", "13.0")] == boxes(found)
    assert (("a", 2),) == found.tabs["graph"].changed
    assert ["15.0"] == [entry.text for entry in found.derivatives]
    assert connected(found.graph)


def test_a_variable_in_a_loop() -> None:
    """The value that nothing read has no box; one on which the target does not depend has no gradient."""

    def compute(w: Any) -> Any:
        for _ in range(3):
            loss = (w - 1.0) ** 2
            w.assign_sub([0.5, 0.5])
        return loss

    found = record(compute, tm.Variable([5.0, 3.0]))

    assert [("a₁", "[5.0, 3.0]", None), ("a₂", "[4.5, 2.5]", None)] == boxes(found)[:2]
    assert ("a₃", "[4.0, 2.0]", "[6.0, 2.0]") == boxes(found)[2]


def test_a_variable_that_changes_in_two_orders() -> None:
    """Derivatives read the values that the computation had read."""

    def compute(v: Any) -> Any:
        first = v**2
        v.assign(5.0)
        return first * v

    graph = record(compute, tm.Variable(2.0), order=2).graph

    named = {value.name: value for value in graph.values}
    assert ("2.0", "20.0") == (named["a₁"].text, named["a₁"].gradient)
    assert ("5.0", "4.0") == (named["a₂"].text, named["a₂"].gradient)
    assert "24.0" == named["dy/da"].text
    assert connected(graph)


@pytest.mark.parametrize("value", [1.0, [1.0, 2.0], np.ones((20, 20))])
def test_a_variable_that_does_not_change(value: Any) -> None:
    """However it is read, it has one box."""
    found = record(
        lambda v: np.sum(v * v + v.read_value() + v[...] + np.sin(v)), tm.Variable(value), order=2
    )

    assert ["a"] == [value.name for value in found.graph.values if value.role == "variable"]
    assert () == found.tabs["graph"].changed


def test_a_variable_that_is_the_target() -> None:
    """It is one box, and not cut to pieces."""
    v = tm.Variable(1.0)
    with Observer() as observer:
        v * 2
        v.assign(3.0)
        v * 2

    found = findings_of(observer, [("v", v)], [("v", v)])

    assert ["1.0"] == [entry.text for entry in found.derivatives]
    assert () == found.tabs["graph"].changed


def test_gradients_of_what_the_cell_differentiates() -> None:
    """In the frame of a derivative that the cell itself took, gradients are those of the target, too."""
    x = tm.constant(2.0)
    with Observer() as observer:
        observer.watch(x)
        y = x**3
        g = observer.gradient(y, x)
        h = g * x

    through = findings_of(observer, [("h", h)], [("x", x)], 1, Context([("g", g), ("y", y)])).graph
    itself = findings_of(observer, [("g", g)], [("x", x)], 2, Context([("y", y)])).graph

    assert {"x": "36.0", "y": None, "g": "2.0", "h": "1.0"} == {
        value.name: value.gradient for value in through.values if value.name in {*"xygh"}
    }
    assert {"x": "12.0", "g": "1.0", "dg/dx": "1.0"} == {
        value.name: value.gradient for value in itself.values if value.name in {"x", "g", "dg/dx"}
    }


def test_a_value_of_another_tape_is_a_constant() -> None:
    """What only another tape watches is not on this one."""
    x, z = tm.constant(2.0), tm.constant(3.0)
    with Observer() as observer, tm.GradientTape() as other:
        observer.watch(x)
        other.watch(z)
        y = x * z

    found = findings_of(observer, [("y", y)], [("x", x)], 1, Context([("z", z)]))

    assert ["watched", "constant", "target"] == [value.role for value in found.graph.values]


def test_several_outputs() -> None:
    """An operation with several results has an edge to each."""
    [step, *_] = record(lambda a: np.split(a, 2)[1] * 2, [1.0, 2.0, 3.0, 4.0]).graph.steps

    assert ("split", 2) == (step.name, len(step.outputs))


@pytest.mark.parametrize("length", [1, 2, 29, 30, 31, 45, 60, 100, 1000])
@pytest.mark.parametrize("max_nodes", [20, 60, 500])
def test_elision(length: int, max_nodes: int) -> None:
    """A graph has at most so many nodes; what is left out is counted, and nothing is lost."""
    graph = chain(length, max_nodes).graph

    assert graph.nodes <= max_nodes
    assert length == graph.folded + sum(not step.elided for step in graph.steps)
    assert (graph.folded == 0) == (2 * length + 1 <= max_nodes)
    assert all(value.gradient for value in graph.values)
    assert connected(graph)


def connected(graph: Graph) -> bool:
    """Whether every value but the leaves has one operation that made it, and all are reached."""
    made = [i for step in graph.steps for i in step.outputs]
    leaves = {value.index for value in graph.values} - set(made)
    roles = {graph.values[i].role for i in leaves}
    return len(made) == len(set(made)) and roles <= {"watched", "variable", "constant"}


def test_elision_in_the_middle() -> None:
    """The beginning and the end are drawn, with one gap between them that says how much is missing."""
    graph = chain(1000).graph

    [gap] = [step for step in graph.steps if step.elided]
    assert f"{gap.elided:,} more operations" == gap.name
    assert gap.elided == graph.folded == 1000 - (len(graph.steps) - 1)
    assert "a" == graph.values[0].name
    assert "y" == graph.values[-1].name
    [into], [out] = gap.inputs, gap.outputs
    assert into < out


def test_elision_of_derivatives() -> None:
    """Values keep their order of differentiation beyond the gap."""

    def compute(a: Any) -> Any:
        for _ in range(40):
            a = np.sin(a) * 1.1
        return a

    graph = record(compute, 0.5, order=2, max_nodes=60).graph

    assert graph.nodes <= 60
    assert {0, 1} == {value.order for value in graph.values}
    assert connected(graph)


@pytest.mark.parametrize("max_nodes", [20, 60])
def test_an_operation_of_many_inputs(max_nodes: int) -> None:
    """Of a thousand inputs the first and the last are drawn, and the others counted."""
    graph = record(lambda a: np.stack([a * i for i in range(1000)]), 2.0, max_nodes=max_nodes).graph

    assert graph.nodes <= max_nodes
    stack = graph.steps[-1]
    assert ("stack", 1000) == (stack.name, stack.hidden + len(stack.inputs))
    assert connected(graph)
    assert not dead_ends(graph)


def dead_ends(graph: Graph) -> set[int]:
    """The values that nothing uses, but for the target."""
    used = {i for step in graph.steps for i in step.inputs}
    return {value.index for value in graph.values if value.role != "target"} - used


def test_an_operation_of_many_outputs() -> None:
    """The same of many outputs; one that is used later is drawn all the same."""
    graph = record(lambda a: np.split(a, 100)[50] * 2, np.arange(100.0)).graph

    [split, _] = graph.steps
    assert 100 == split.hidden + len(split.outputs)
    assert "50.0" in graph.values[graph.steps[1].inputs[0]].text
    assert connected(graph)


def test_few() -> None:
    """The first ones and the last."""
    assert [1, 2] == first_and_last([1, 2], 3)
    assert [1, 2, 9] == first_and_last([1, 2, 3, 4, 9], 3)


def test_what_is_not_connected_is_drawn_alone() -> None:
    """A watched value that nothing used, and a target that nothing watched led to, stand by themselves."""
    graph = record(lambda a, _b: (a * 2.0, np.zeros(2)[0] + tm.constant(1.0)), 3.0, 4.0).graph

    used = {i for step in graph.steps for i in (*step.inputs, *step.outputs)}
    alone = [(v.name, v.role, v.gradient) for v in graph.values if v.index not in used]
    assert [("b", "watched", None), ("y1", "target", None)] == alone


def bad(found: Findings) -> tuple[list[str], list[str]]:
    """The values and the operations that are marked."""
    names = [value.name or value.symbol or value.text for value in found.graph.values if value.bad]
    return names, [step.name for step in found.graph.steps if step.bad]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (lambda a: np.log(a) * 2.0 + a, -1.0, ["v1"]),
        (lambda a: np.exp(a * 1000.0) - 1.0, 1.0, ["v2"]),
        (lambda a: np.sum(np.log(a)), np.arange(100.0), ["v1"]),
        (lambda a: a * 2.0, np.nan, ["a"]),
        (lambda a: np.sum(a * np.array([1.0, np.inf])), 1.0, ["[1.0, inf]"]),
        (lambda a: np.sqrt(a * 3.0) + a, 0.0, ["v1"]),
        (lambda a: np.sum(np.where(a > 0, np.sqrt(a), a)), np.arange(-9.0, 9.0), []),
        (lambda a: np.sum(np.sqrt(a) ** 2), np.arange(-9.0, 9.0), ["v1"]),
        (lambda a: a / 2.0 + a, 1.0, []),
    ],
)
def test_the_first_that_is_not_finite_is_marked(function: Any, x: Any, expected: list[str]) -> None:
    """A value, or on the way back the value whose gradient it is; none that only follows from it."""
    assert (expected, []) == bad(record(function, x))


def test_nan_of_several_targets() -> None:
    """Each has its own mark."""
    with np.errstate(all="ignore"):
        found = record(lambda a: (np.log(a), np.sqrt(a)), -1.0)

    assert (["y0", "y1"], []) == bad(found)


def test_nan_inside_of_what_is_elided() -> None:
    """The box that stands for the operation is marked."""

    def compute(x: Any) -> Any:
        for k in range(100):
            x = np.log(x) if k == 50 else x - 0.1
        return x

    with np.errstate(all="ignore"):
        found = record(compute, 3.0)

    assert ([], ["82 more operations"]) == bad(found)
