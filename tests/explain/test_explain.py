"""Each reason for a None is planted, and found; each gradient is the sum over its paths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.explain.explain import Explanation

Planted = Callable[[], Explanation]


def variables(*values: Any) -> list[Any]:
    """Variables with the given values."""
    return [tm.Variable(value) for value in values]


def never_watched() -> Explanation:
    """Never watched."""
    x, w = tm.constant(2.0), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = x * w
    return tape.explain(y, x)


def a_plain_number() -> Explanation:
    """A plain number."""
    x, w = 2.0, tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = x * w
    return tape.explain(y, x)


def not_trainable() -> Explanation:
    """Not trainable."""
    [w] = variables(3.0)
    x = tm.Variable(2.0, trainable=False)
    with tm.GradientTape() as tape:
        y = x * w
    return tape.explain(y, x)


def not_watching_by_itself() -> Explanation:
    """Not watching by itself."""
    x, w = variables(2.0, 3.0)
    with tm.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = x * w
    return tape.explain(y, x)


def watched_too_late() -> Explanation:
    """Watched too late."""
    x = tm.constant(2.0)
    with tm.GradientTape() as tape:
        y = x * x
        tape.watch(x)
    return tape.explain(y, x)


def watched_too_late_beside_another() -> Explanation:
    """Watched too late beside another."""
    x, w = tm.constant(2.0), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = x * w
        tape.watch(x)
    return tape.explain(y, x)


def whole_numbers() -> Explanation:
    """Whole numbers."""
    x = tm.Variable([2, 2])
    with tm.GradientTape() as tape:
        y = np.sum(x * 1.5)
    return tape.explain(y, x)


def whole_target() -> Explanation:
    """Whole target."""
    x = tm.Variable([2.0, 2.0])
    with tm.GradientTape() as tape:
        y = tm.constant(np.argmax(x))
    return tape.explain(y, x)


def cast_to_whole_numbers() -> Explanation:
    """Cast to whole numbers."""
    x = tm.Variable([2.0, 2.0])
    with tm.GradientTape() as tape:
        y = np.sum(x.astype(int) * 1.5)
    return tape.explain(y, x)


def through_math() -> Explanation:
    """Through math."""
    x, w = variables(2.0, 3.0)
    with tm.GradientTape() as tape:
        y = w * math.sin(x)
    return tape.explain(y, x)


def through_int() -> Explanation:
    """Through int."""
    x, w = variables(2.0, 3.0)
    with tm.GradientTape() as tape:
        y = w * int(x)
    return tape.explain(y, x)


def through_numpy() -> Explanation:
    """Through numpy."""
    x = tm.Variable([2.0, 3.0])
    with tm.GradientTape() as tape:
        squares = x**2
        y = tm.constant(np.mean(squares.numpy(), axis=0))
        y = y * 1.0
    return tape.explain(y, x)


def through_asarray() -> Explanation:
    """Through asarray."""
    x, w = tm.Variable([2.0, 3.0]), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = np.sum(w * np.asarray(x * 2))
    return tape.explain(y, x)


def through_a_list() -> Explanation:
    """Through a list."""
    x, w = variables(2.0, 3.0)
    with tm.GradientTape() as tape:
        y = w * np.sum([x, x])
    return tape.explain(y, x)


def through_another_library() -> Explanation:
    """Through another library."""
    from scipy.ndimage import gaussian_filter1d

    x, w = tm.Variable([1.0, 2.0, 4.0]), tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = np.sum(w * gaussian_filter1d(x, 1.0))
    return tape.explain(y, x)


def no_tensor_any_more() -> Explanation:
    """No tensor any more."""
    [x] = variables(2.0)
    with tm.GradientTape() as tape:
        y = float(x) ** 2
    return tape.explain(y, x)


def stopped() -> Explanation:
    """Stopped."""
    [x] = variables(2.0)
    with tm.GradientTape() as tape:
        z = x * 3
        with tape.stop_recording():
            y = z * z
    return tape.explain(y, x)


def stopped_on_the_way() -> Explanation:
    """Stopped on the way."""
    x, w = variables(2.0, 3.0)
    with tm.GradientTape() as tape:
        z = x * 3
        with tape.stop_recording():
            z = z * z
        y = z * w
    return tape.explain(y, x)


def stopped_reading() -> Explanation:
    """Stopped reading."""
    x, w = variables(2.0, 3.0)
    with tm.GradientTape() as tape:
        with tape.stop_recording():
            z = x * x
        y = z * w
    return tape.explain(y, x)


def reset() -> Explanation:
    """Reset."""
    [x] = variables(2.0)
    with tm.GradientTape() as tape:
        y = x * x
        tape.reset()
        z = x * 3
    assert float(z) == 6.0
    return tape.explain(y, x)


def computed_before() -> Explanation:
    """Computed before."""
    x, w = variables(2.0, 3.0)
    y = x * x
    with tm.GradientTape() as tape:
        z = x * w
    assert float(z) == 6.0
    return tape.explain(y, x)


def computed_before_on_the_way() -> Explanation:
    """Computed before on the way."""
    x, w = variables(2.0, 3.0)
    z = x * x
    with tm.GradientTape() as tape:
        y = z * w * x.trainable
        tape.watch(x)
    return tape.explain(y, x)


def computed_after() -> Explanation:
    """Computed after."""
    [x] = variables(2.0)
    with tm.GradientTape() as tape:
        z = x * x
    y = z * 2
    return tape.explain(y, x)


def steps() -> Explanation:
    """Steps."""
    x, w = variables(2.5, 3.0)
    with tm.GradientTape() as tape:
        y = np.floor(x) * w
    return tape.explain(y, x)


def chosen_by() -> Explanation:
    """Chosen by."""
    x, w = variables(2.5, 3.0)
    with tm.GradientTape() as tape:
        y = np.where(x, w, 0.0)
    return tape.explain(y, x)


def gradient_stopped() -> Explanation:
    """Gradient stopped."""
    x, w = variables(2.5, 3.0)
    with tm.GradientTape() as tape:
        y = tm.stop_gradient(x * x) * w
    return tape.explain(y, x)


def assigned() -> Explanation:
    """Assigned."""
    x, w = variables(3.0, 0.0)
    with tm.GradientTape() as tape:
        w.assign_add(x)
        y = w**2
    return tape.explain(y, x)


def part_assigned() -> Explanation:
    """Part assigned."""
    x, w = tm.Variable(3.0), tm.Variable([1.0, 2.0])
    with tm.GradientTape() as tape:
        w[0].assign(x * 2)
        y = np.sum(w**2)
    return tape.explain(y, x)


def not_connected() -> Explanation:
    """Not connected."""
    x, w = variables(2.0, 3.0)
    with tm.GradientTape() as tape:
        z = x * x
        y = w * w
    assert float(z) == 4.0
    return tape.explain(y, x)


def constant_target() -> Explanation:
    """Constant target."""
    [x] = variables(2.0)
    with tm.GradientTape() as tape:
        z = x * x
        y = tm.constant(7.0)
    assert float(z._value) == 4.0
    return tape.explain(y, x)


def linear() -> Explanation:
    """Linear."""
    [x] = variables(2.0)
    with tm.GradientTape() as outer:
        with tm.GradientTape() as inner:
            y = 3.0 * x
        g = inner.gradient(y, x)
    return outer.explain(g, x)


def taken_outside() -> Explanation:
    """Taken outside."""
    [x] = variables(2.0)
    with tm.GradientTape() as outer, tm.GradientTape() as inner:
        y = x**3
    g = inner.gradient(y, x)
    return outer.explain(g, x)


def replaced_by_a_tensor() -> Explanation:
    """Replaced by a tensor."""
    [x] = variables(2.0)
    for epoch in range(2):
        with tm.GradientTape() as tape:
            y = x + 1
        if epoch == 0:
            x = x + 1
    return tape.explain(y, x)


def a_slice_made_outside() -> Explanation:
    """A slice made outside."""
    x = tm.Variable([2.0, 3.0])
    with tm.GradientTape() as tape:
        y = np.sum(x * x)
    return tape.explain(y, x.read_value())


def never_entered() -> Explanation:
    """Never entered."""
    [x] = variables(2.0)
    y = x * x
    return tm.GradientTape().explain(y, x)


@pytest.mark.parametrize(
    ("planted", "cause", "words"),
    [
        (never_watched, "not watched", "x isn't watched. Call tape.watch(x) before you use it"),
        (a_plain_number, "not watched", "x is a plain float, so the tape can't track it. Write x = tapemagic"),
        (not_trainable, "not trainable", "trainable=False"),
        (not_watching_by_itself, "not watched", "watch_accessed_variables=False"),
        (watched_too_late, "watched too late", "Call tape.watch(x) first"),
        (watched_too_late_beside_another, "watched too late", "only after y was computed"),
        (whole_numbers, "integer dtype", "Write x = tapemagic.Variable(np.array([2.0, 2.0]))"),
        (whole_target, "integer dtype", "y holds integers"),
        (cast_to_whole_numbers, "not tracked", "astype"),
        (through_math, "not tracked", "lost track of it. Write np.sin(x)."),
        (through_int, "not tracked", "int() on line"),
        (through_numpy, "not tracked", ".numpy() on line"),
        (through_asarray, "not tracked", "np.asarray on line"),
        (through_a_list, "not tracked", "Write np.sum(np.stack([x, x])) instead of np.sum([x, x])"),
        (through_another_library, "not tracked", "scipy on line"),
        (no_tensor_any_more, "not tracked", "y is a float, not a tensor"),
        (stopped, "recording stopped", "with tape.stop_recording()"),
        (stopped_on_the_way, "recording stopped", "so the tape sees a constant. If it was computed from x"),
        (stopped_reading, "recording stopped", "was computed inside stop_recording() on line"),
        (reset, "reset", "computed before tape.reset() on line"),
        (computed_before, "computed before", "before the tape began to record"),
        (computed_before_on_the_way, "computed before", "If z was computed from x, move its computation into"),
        (computed_after, "computed after", "Move its computation into the tape's 'with' block"),
        (steps, "no derivative", "floor between x and y changes in steps"),
        (chosen_by, "no derivative", "where between x and y uses this argument only to choose"),
        (gradient_stopped, "stop_gradient", "stop_gradient between x and y passes values on"),
        (assigned, "assigned", "the Variable w, which was assigned a value computed from x on line"),
        (part_assigned, "assigned", "a tape doesn't record assignments"),
        (not_connected, "not connected", "Nothing recorded on the tape leads from x to y; y depends on w"),
        (constant_target, "constant", "y is a constant"),
        (linear, "linear", "so the second is zero"),
        (taken_outside, "gradient taken outside", "gradient(...) inside the 'with' block of outer"),
        (replaced_by_a_tensor, "not watched", "(x = x + 1), and this tape doesn't watch it"),
        (a_slice_made_outside, "not watched", "the result of an operation that this tape didn't"),
        (never_entered, "not recorded", "The tape never recorded"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ask_first", [False, True])
def test_planted(planted: Planted, cause: str, words: str, ask_first: bool) -> None:
    """The reason that was planted is the one that is found, whether or not the None was asked for before."""
    with pytest.MonkeyPatch.context() as patch:
        if ask_first:
            patch.setattr(tm.GradientTape, "explain", after_a_gradient(tm.GradientTape.explain))
        explanation = planted()

    assert (cause, "") == (explanation.cause, explanation.gradient)
    assert words in explanation.reason
    assert (
        " ".join(repr(explanation).split()) == f"{explanation.symbol} is None: {explanation.reason}"
    )


def after_a_gradient(explain: Any) -> Any:
    """An explain that takes the gradient first, which consumes the tape, and has to find a None."""
    from tapemagic.explain import caller

    def asked(tape: Any, target: Any, source: Any) -> Any:
        if tape._entered and all(isinstance(z, (tm.Tensor, tm.Variable)) for z in (target, source)):
            assert tape.gradient(target, source) is None
        return caller.explain_here(tape, target, source)

    assert callable(explain)
    return asked


# -- numbers ----------------------------------------------------------------------------------------


def test_the_chain_rule() -> None:
    """Along every path stands the product of the local derivatives; their sum is the gradient."""
    x, w = tm.Variable(2.0), tm.Variable(3.0)
    with tm.GradientTape(persistent=True) as tape:
        h = x * w
        y = np.exp(h) + h * x
    explanation = tape.explain(y, x)

    products = [path.product for path in explanation.paths]
    assert explanation.count == len(products) == 3
    assert None not in products
    np.testing.assert_allclose(sum(products), tape.gradient(y, x).numpy())  # type: ignore[arg-type]
    assert repr(explanation).splitlines() == [
        "dy/dx = 1222.29, the sum over 3 paths",
        "  x → multiply = h → exp → add = y:  1.0 · 403.429 · 3.0 = 1210.29",
        "  x → multiply = h → multiply → add = y:  1.0 · 2.0 · 3.0 = 6.0",
        "  x → multiply → add = y:  1.0 · 6.0 = 6.0",
    ]


def test_the_chain_rule_of_arrays() -> None:
    """Local derivatives of arrays are matrices, of which the shapes are said."""
    x = tm.Variable(np.ones((2, 3)))
    with tm.GradientTape(persistent=True) as tape:
        y = np.sum(np.tanh(x @ np.ones(3)))
    explanation = tape.explain(y, x)

    assert explanation.count == 1
    assert "[1 by 2] · [2 by 2] · [2 by 2×3]" in repr(explanation)


def test_many_paths_are_counted() -> None:
    """Of very many paths none is written out, and all are counted, at once."""
    [x] = variables(1.0)
    with tm.GradientTape(persistent=True) as tape:
        y = x
        for _ in range(200):
            y = y + y
    explanation = tape.explain(y, x)

    assert explanation.count == pytest.approx(2**200, rel=1e-12)
    assert explanation.paths == ()
    assert "the sum over about 10^60 paths" in repr(explanation)


def test_explaining_consumes_nothing() -> None:
    """A tape that was asked for explanations still gives its one gradient."""
    x, w = variables(2.0, 3.0)
    with tm.GradientTape() as tape:
        y = x * x
    tape.explain(y, x)
    tape.explain(y, w)

    assert tape.gradient(y, x).numpy() == 4.0
    assert "Use persistent=True" in tape.explain(y, x).reason.replace("make it with", "made with")


def test_a_target_that_is_its_own_source() -> None:
    """The derivative of a value in itself is one, along no operation."""
    [x] = variables(2.0)
    with tm.GradientTape(persistent=True) as tape:
        y = x * x
    assert repr(tape.explain(y, y)).splitlines() == ["dy/dy = 1.0, 1 path", "  y:  1 = 1.0"]


@pytest.mark.parametrize("persistent", [True, False])
def test_a_target_that_is_its_own_source_on_an_empty_tape(persistent: bool) -> None:
    """No record is needed for it, and none was released."""
    [x] = variables(2.0)
    with tm.GradientTape(persistent) as tape:
        tape.watch(x)
    assert tape.explain(x, x).gradient == "1.0"


def test_nothing_is_remembered_while_nothing_leaves() -> None:
    """Recording alone makes no event."""
    [x] = variables(2.0)
    with tm.GradientTape(persistent=True) as tape:
        y = np.sin(x) * x
        y = y + 1
    assert tape._events == []


def test_events_are_bounded() -> None:
    """A loop that converts a tensor at every turn does not fill the memory."""
    x, w = variables(2.0, 3.0)
    with tm.GradientTape() as tape:
        total = sum(float(x * k) for k in range(3000))
        y = w * math.sin(x)
    assert total > 0
    assert len(tape._events) < 100
    assert "math.sin" in tape.explain(y, x).reason
