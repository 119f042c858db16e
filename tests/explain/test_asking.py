"""What explanations call things: the expressions of the line that asks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.explain.caller import Explanations, tape_name_at
from tapemagic.explain.explain import Explanation


class Params(NamedTuple):
    """Weights and bias."""

    w: Any
    b: Any


W, B, UNUSED = tm.Variable(2.0), tm.Variable(1.0), tm.Variable(5.0)


def recorded() -> tuple[tm.GradientTape, Any]:
    """A tape, and a loss that depends on W and B."""
    with tm.GradientTape(persistent=True) as tape:
        loss = W * 3.0 + B
    return tape, loss


def test_attributes_and_subscripts() -> None:
    """Source and target are called what stands in the brackets of the call."""
    tape, loss = recorded()
    model, params, p = SimpleNamespace(w=W, inner=[B]), {"b": B, ("a", 1): W}, Params(W, B)
    xs, k, losses = [W, B], 1, {"total": loss}

    assert tape.explain(loss, model.w).source == "model.w"
    assert tape.explain(loss, model.inner[0]).source == "model.inner[0]"
    assert tape.explain(loss, params["b"]).source == "params['b']"
    assert tape.explain(loss, p.b).source == "p.b"
    assert tape.explain(loss, xs[0]).source == "xs[0]"
    assert tape.explain(loss, xs[-1]).source == "xs[-1]"
    assert tape.explain(loss, xs[k]).source == "xs[k]"
    assert tape.explain(losses["total"], source=model.w).target == "losses['total']"
    assert tape.explain(source=model.w, target=loss).symbol == "dloss/d(model.w)"
    assert "model.w → multiply → add = loss" in repr(tape.explain(loss, model.w))


def test_a_call_on_several_lines() -> None:
    """However the call is laid out, and whatever stands around it: ä, say."""
    tape, loss = recorded()
    model = SimpleNamespace(w=W)

    found = [("ä", tape.explain(loss, model.w)), ("ö", tape.explain(
        loss,
        model
        .w,
    ))]  # fmt: skip
    broken = (
        tape
        .explain(loss, model.w)
    )  # fmt: skip

    assert [e.source for _, e in found] + [broken.source] == ["model.w"] * 3


def test_what_is_no_name() -> None:
    """Of another expression, the value's name is looked up; else it has none."""
    tape, loss = recorded()
    named = tm.Variable(1.0, name="bias")
    arguments = (loss, UNUSED)

    assert tape.explain(loss, max([W], key=float)).source == "W"
    assert tape.explain(loss * 1.0, W.read_value()).target == "the target"
    assert tape.explain(loss, tm.Variable(1.0)).source == "the source"
    assert tape.explain(loss, [named].pop()).source == "named"
    assert tape.explain(loss, tm.Variable(1.0, name="bias")).source == "bias"
    assert tape.explain(*arguments).source == "UNUSED"


def test_a_call_by_another_name() -> None:
    """Where the line does not call explain itself, what it says is not taken for names."""
    tape, loss = recorded()
    ask, xs = tape.explain, [W]
    [by_map] = map(tape.explain, [loss], xs)

    assert ask(loss, xs[0]).source == "W"
    assert (by_map.target, by_map.source) == ("loss", "W")


def test_without_columns(tmp_path: Path) -> None:
    """Where Python keeps no columns (python -X no_debug_ranges), the line is read."""
    program = tmp_path / "program.py"
    program.write_text(
        "import types, tapemagic as tm\n"
        "model = types.SimpleNamespace(w=tm.Variable(1.0), b=tm.Variable(2.0))\n"
        "with tm.GradientTape(persistent=True) as tape:\n    loss = model.w * model.b\n"
        "one = tape.explain(loss, model.w)\ntwo = tape.explain(loss, model.w), tape.explain(loss, model.b)\n"
        "print(one.source, *(e.source for e in two), sep=',')\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", str(program)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "model.w,the source,the source"


def test_without_a_source_file() -> None:
    """Code of which nobody has the text still knows its names."""
    tape, loss = recorded()
    names: dict[str, Any] = {"tape": tape, "y": loss, "model": SimpleNamespace(w=W)}
    exec("a, b = tape.explain(y, model.w), tape.explain(y, y)", names)  # noqa: S102

    assert (names["a"].target, names["a"].source, names["b"].source) == ("y", "the source", "y")


class Named(tm.GradientTape):
    """A tape that tells what it is called."""

    def explain(self, target: Any, source: Any) -> str:  # noqa: ARG002
        """The tape's name where it is asked."""
        return tape_name_at(sys._getframe(1))


def test_the_name_of_the_tape() -> None:
    """The expression in front of the dot."""
    outer, held = Named(), SimpleNamespace(tapes=[Named()])
    ask = outer.explain

    assert outer.explain(1, 2) == "outer"
    assert held.tapes[0].explain(1, 2) == "held.tapes[0]"
    assert Named().explain(1, 2) == ""
    assert ask(1, 2) == ""


# -- structures of tensors ------------------------------------------------------------------------


def test_a_structure_of_one() -> None:
    """Stands for the tensor in it."""
    tape, loss = recorded()
    params = {"w": W}

    assert isinstance(tape.explain(loss, params), Explanation)
    assert tape.explain(loss, params).source == "params['w']"
    assert tape.explain(loss, {"w": W}).source == "W"
    assert tape.explain([loss], [params["w"]]).symbol == "dloss/d(params['w'])"


def test_structures_of_several() -> None:
    """Each tensor is explained, one below the other."""
    tape, loss = recorded()
    params = {"layer": [W, B], "rest": Params(UNUSED, W), "rate": 0.1}
    explanations = tape.explain(loss, params)

    assert isinstance(explanations, Explanations)
    assert [e.source for e in explanations] == [
        "params['layer'][0]",
        "params['layer'][1]",
        "params['rest'].w",
        "params['rest'].b",
    ]
    assert [e.gradient for e in explanations] == ["3.0", "1.0", "", "3.0"]
    assert explanations[2].cause
    assert repr(explanations) == "\n".join(map(repr, explanations))


def test_every_target_with_every_source() -> None:
    """Two targets and two sources make four questions."""
    with tm.GradientTape(persistent=True) as tape:
        y, z = W * B, W + B
    explanations = tape.explain((y, z), [W, B])

    assert [e.symbol for e in explanations] == ["dy/dW", "dy/dB", "dz/dW", "dz/dB"]


def test_structures_without_names() -> None:
    """What is unpacked into a structure, or returned by a function, goes by the names of its tensors."""
    tape, loss = recorded()
    rest, params = [B], {"w": W, "b": B}

    assert [e.source for e in tape.explain(loss, [W, *rest])] == ["W", "B"]
    assert [e.source for e in tape.explain(loss, {**params})] == ["W", "B"]
    assert [e.source for e in tape.explain(loss, list(params.values()))] == ["W", "B"]
    assert [e.source for e in tape.explain(loss, [W, params["b"]])] == ["W", "params['b']"]


def test_a_structure_without_tensors() -> None:
    """Is no source, and is explained as what it is."""
    tape, loss = recorded()
    numbers = [1.0, 2.0]
    explanation = tape.explain(loss, numbers)

    assert explanation.source == "numbers"
    assert "numbers is a plain list" in explanation.reason
    assert "list" in tape.explain(loss, []).reason


def test_the_others_of_a_structure_have_names() -> None:
    """A reason that speaks of the other sources calls them what they are called."""
    with tm.GradientTape() as tape:
        y = np.sin(B)
    params = {"w": UNUSED, "b": [B][0]}

    assert "y depends on params['b']" in tape.explain(y, params)[0].reason


def test_a_loop_over_sources() -> None:
    """The name of a loop stands for many, so that each goes by its own."""
    first, second = tm.Variable(1.0), tm.constant(2.0)
    with tm.GradientTape(persistent=True) as tape:
        y = first * second

    found = [tape.explain(y, x) for x in (first, second)]
    for x in (first, second):
        found.append(tape.explain(y, x))  # noqa: PERF401 (a loop, and no comprehension)

    assert [e.source for e in found] == ["first", "second"] * 2


# -- programs that ask elsewhere ------------------------------------------------------------------


def given(tape: tm.GradientTape, target: Any, source: Any) -> Any:
    """A function that is given what it asks about."""
    return tape.explain(target, source)


def given_on(tape: tm.GradientTape, target: Any, source: Any) -> Any:
    """A function that gives it on, by words."""
    return given(source=source, target=target, tape=tape)


def in_a_comprehension(tape: tm.GradientTape, target: Any, source: Any) -> Any:
    """A comprehension in a function."""
    [explanation] = [tape.explain(target, one) for one in [source]]
    return explanation


def in_a_lambda(tape: tm.GradientTape, target: Any, source: Any) -> Any:
    """A function without a name."""
    ask = {"": lambda one: tape.explain(target, one)}
    return ask[""](source)


@pytest.mark.parametrize("ask", [given, given_on, in_a_comprehension, in_a_lambda])
def test_the_program_that_computed_the_target_is_read(ask: Any) -> None:
    """Wherever explain is called from, the line that left the tape is found, and names are those of this function."""
    w = tm.Variable(3.0)
    with tm.GradientTape() as tape:
        size = float(w)
        total = size * B
    explanation = ask(tape, total, w)

    assert "not tracked" == explanation.cause
    assert "(size = float(w))" in explanation.reason
    assert "dtotal/dw" == explanation.symbol


def test_a_function_inside_of_the_program() -> None:
    """A function that reads the target from around itself asks about the program around it."""
    w = tm.Variable(3.0)
    with tm.GradientTape() as tape:
        size = float(w)

        def ask() -> Any:
            return tape.explain(total, w)

        total = size * B

    assert "(size = float(w))" in ask().reason
    assert all("not tracked" == one.cause for one in [tape.explain(total, x) for x in [w, w]])
