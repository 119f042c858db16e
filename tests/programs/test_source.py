"""The source of programs: what it says, and that it computes the same when it is pasted into a script."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib.util import find_spec
from traceback import extract_tb
from typing import Any
from weakref import ref

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.nest import leaves
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable
from tapemagic.engine.tracebacks import keep_user_frames
from tapemagic.programs.function import function
from tapemagic.programs.text.literals import literal
from tapemagic.programs.text.source import Text
from tests.programs import source_cases as cases
from tests.programs.interpreting import plain, same_bits
from tests.programs.source_cases import CASES, regression, slope

NAMES = [case[0].__name__ for case in CASES]


def value(x):
    """Return a leaf in the form that a program takes as an argument."""
    return (
        np.array(x)
        if isinstance(x, Traced) and x.ndim
        else x.numpy()
        if isinstance(x, Traced)
        else x
    )


def concrete(variable):
    """A Variable of a program, which may refer to it weakly."""
    return variable() if isinstance(variable, ref) else variable


def traced(f, args, kwargs):
    """Return the function after the calls that trace it, with its program and the program's text."""
    variables = {
        id(x): x for x in (vars(sys.modules[f.__module__])).values() if isinstance(x, Variable)
    }
    before = {i: np.array(v) for i, v in variables.items()}
    made = function(f)
    for _ in range(2):
        for i, v in variables.items():
            v.assign(before[i])
        result = f(*args, **kwargs)
        for i, v in variables.items():
            v.assign(before[i])
        made(*args, **kwargs)
    after = {i: np.array(v) for i, v in variables.items()}
    for i, v in variables.items():
        v.assign(before[i])
    assert made.why_eager == "", f
    assert made.programs, f
    return made, result, after


def in_order(result):
    """Return the leaves of a result in the order of its dicts."""
    if isinstance(result, dict):
        return [leaf for part in result.values() for leaf in in_order(part)]
    if isinstance(result, list | tuple):
        return [leaf for part in result for leaf in in_order(part)]
    return [result]


@pytest.fixture(scope="module")
def written():
    """The text of each case, and what goes in and has to come out."""
    found = {}
    for f, args, kwargs in CASES:
        made, result, after = traced(f, args, kwargs)
        (program,) = made.programs
        given = [value(x) for x in leaves((args, kwargs))]
        text = Text(program)
        assert str(text) == made.source()
        inputs = [
            given[node.origin] if isinstance(node.origin, int) else value(getattr(cases, node.name))
            for node in program.inputs
        ]
        wanted = [value(x) for x in in_order(result)]
        wanted += [after.get(id(concrete(v)), np.array(concrete(v))) for v, _ in program.assigned]
        fixed = [node.value for node in text.fixed]
        found[f.__name__] = str(text), [*inputs, *fixed], wanted
    return found


def test_pasted_into_a_script_the_source_gives_what_the_eager_function_gives(written, tmp_path):
    """Run each text as a script, and compare the results to the bit."""
    for name, (text, inputs, _) in written.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        (tmp_path / f"{name}.in").write_bytes(pickle.dumps(inputs))
    script = (
        "import pathlib, pickle, runpy, sys\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).glob('*.py')):\n"
        "    given = pickle.loads(path.with_suffix('.in').read_bytes())\n"
        "    found = runpy.run_path(str(path))[path.stem](*given)\n"
        "    path.with_suffix('.out').write_bytes(pickle.dumps(found))\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, timeout=120)
    for name, (_, _, wanted) in written.items():
        found = pickle.loads((tmp_path / f"{name}.out").read_bytes())  # noqa: S301 (our own)
        found = found if isinstance(found, tuple) else (found,)
        assert len(found) == len(wanted), name
        for x, y in zip(found, wanted, strict=True):
            same = x is y or (not hasattr(y, "dtype") and x == y)
            if hasattr(y, "dtype"):
                same = (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
            assert same, (name, x, y)


@pytest.mark.skipif(find_spec("ruff") is None, reason="ruff is not installed")
def test_ruff_has_nothing_to_say(written, tmp_path):
    """The source is formatted, and free of what the linter of this project finds in scripts."""
    for name, (text, _, _) in written.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--no-cache", "--config", "line-length = 100"]
    for command in (["format", "--diff", *options], ["check", "--select", "E,F,W,I,B", *options]):
        done = subprocess.run(
            [*ruff, *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def body(text):
    """The lines of a program below its docstring."""
    return text.split('"""\n')[-1].rstrip("\n").split("\n")


def program_text(f, *args):
    """The text of a function's program."""
    made = function(f)
    for _ in range(2):
        made(*args)
    assert made.why_eager == ""
    return made.source()


def test_the_derivative_is_written_as_one_would_write_it_by_hand():
    """The user's names, his lines as comments, and nested expressions."""
    text = program_text(slope, tm.constant(1.5), tm.constant(2.0))
    assert body(text) == [
        "    # y = x1 * x2 * np.sin(x1)",
        "    u1 = x1 * x2",
        "    u2 = np.sin(x1)",
        "",
        "    # back through: y = x1 * x2 * np.sin(x1)",
        "    d_x1 = u1 * np.cos(x1) + u2 * x2",
        "    d_x2 = u2 * x1",
        "",
        "    return d_x1, d_x2",
    ]


def test_a_line_comes_out_as_the_user_wrote_it():
    """Values without a name stand where they are read."""

    def f(x1, x2):
        y = x1 * x2 * np.sin(x1)
        z = -(y - (x1 - x2)) / (x1 / x2) ** 3
        return y, z

    lines = body(program_text(f, tm.constant([1.5]), tm.constant([2.0])))

    assert "    y = x1 * x2 * np.sin(x1)" in lines
    assert "    z = -((y - (x1 - x2)) / (x1 / x2) ** 3)" in lines


def test_assignments_and_gradients_have_the_users_names():
    """What Variables get is named after them; a name of the user's for a gradient comes before d_w."""
    x, y = tm.constant(np.ones((3, 2))), tm.constant(np.zeros((3, 2)))
    text = program_text(regression, x, y, tm.constant(0.1))

    assert "    dw = x.T @ d_error" in body(text)
    assert body(text)[-7:-2] == [
        "",
        "    # w.assign_sub(rate * dw)",
        "    new_w = w - rate * dw",
        "    # b.assign_sub(rate * db)",
        "    new_b = b - rate * db",
    ]
    assert "    new_w : array of shape (2, 2), float64, the new value of w" in text


def of(x):
    """Return the inverse, in a function with a single statement."""
    return np.linalg.inv(x)


def test_errors_point_at_the_users_line():
    """The traceback shows the user's statement in the user's function, and none of the program."""

    @function
    def f(x):
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(of(x))
        return tape.gradient(y, x)

    for k in range(2):
        f(tm.constant(np.eye(2) + k))
    assert len(f.programs) == 1
    with pytest.raises(np.linalg.LinAlgError) as caught:
        f(tm.constant(np.zeros((2, 2))))

    places = extract_tb(caught.value.__traceback__)
    assert ("of", "return np.linalg.inv(x)") in [(place.name, place.line) for place in places]
    inside = [place for place in places if place.filename.startswith("<tapemagic program")]
    assert not any(place.line for place in inside)
    keep_user_frames(caught.value)
    names = [place.name for place in extract_tb(caught.value.__traceback__)]
    assert names == ["test_errors_point_at_the_users_line", "f", "of"]


def names_of(f, *args):
    """The user's names that a trace of a function finds, in their order."""
    made = function(f)
    for _ in range(2):
        made(*args)
    return [node.name for node in made.programs[0].body if node.name]


def test_names_are_those_that_statements_bind():
    """A statement's last value has its name only if it is bound to it, in each turn of a loop."""

    def f(x):
        count = len(x * 2)
        h = x
        for _ in range(2):
            h = np.tanh(h)
        (a, *rest), total = (np.sin(h), np.cos(h)), np.sum(h)
        if (limit := total * count) is None:
            return None
        return h, a, rest, total, limit

    assert names_of(f, tm.constant([1.0, 2.0])) == ["h", "h", "a", "rest_0", "total", "limit"]


def test_the_time_of_a_line_is_said():
    """(2 of 3): in a loop, and in a function that is called again; a comprehension is one line."""

    def square(x):
        return x * x

    def f(x):
        parts = [np.sin(x * k) for k in range(3)]
        for part in parts:
            x = x + square(part)
        return x

    text = program_text(f, tm.constant([1.0, 2.0]))

    assert "    # x = x + square(part) (2 of 3)" in text.split("\n")
    assert "    # return x * x (3 of 3)" in text.split("\n")
    assert "    # parts = [np.sin(x * k) for k in range(3)]" in text.split("\n")


class Hostile:
    """An object whose attributes and methods raise an error."""

    @property
    def __class__(self):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    __hash__ = None


def test_hostile_values_of_the_users_are_let_alone():
    """Only tensors, and plain lists, tuples and dicts, are looked at for names."""

    def f(x):
        other = Hostile()
        y = {"a": [x * 2, other], "b": other}["a"][0]
        kept, z = other, np.sin(y)
        assert kept is not None
        return y + z

    assert names_of(f, tm.constant([1.0, 2.0])) == ["y", "z", "result"]


def test_constants_lie_in_memory_as_they_did() -> None:
    """Products and sums round differently in another memory layout."""
    filled = np.broadcast_to(1.0, (5, 2))
    turned = np.arange(6.0).reshape(2, 3).T
    for array, text in (
        (filled, "np.broadcast_to(1.0, (5, 2))"),
        (np.broadcast_to(np.float32(0.5), 3), "np.broadcast_to(np.float32(0.5), 3)"),
        (turned, 'np.array([[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], np.float64, order="F")'),
        (np.arange(9.0)[::2], None),
        (np.arange(9.0)[::-1], None),
    ):
        assert literal(array) == text

    @tm.function
    def slope(x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = x @ np.array([1.0, 2.0, 3.0])
        return tape.gradient(y, x), np.arange(12.0).reshape(3, 4)[:, ::2] @ x[0, 0, :2]

    x = np.random.default_rng(0).normal(size=(5, 2, 3))
    for _ in range(3):
        found = slope(tm.constant(x))
        expected = slope.python_function(tm.constant(x))
        assert all(map(same_bits, map(plain, expected), map(plain, found)))


def test_values_without_a_name_never_have_one_of_the_users() -> None:
    """Such values are u1, u2, and so on. A later version of a value takes no user's name either."""

    def f(x: Any, u1: Any) -> Any:
        y = np.sin(x) * np.cos(x) + np.tan(np.sin(x)) * u1
        y_2 = y * 2
        z = y
        y = y + y_2 * z
        return y * y_2 * z

    text = program_text(f, tm.constant([1.0, 2.0]), tm.constant(3.0))

    assert body(text) == [
        "    # y = np.sin(x) * np.cos(x) + np.tan(np.sin(x)) * u1",
        "    u2 = np.sin(x)",
        "    y = u2 * np.cos(x) + np.tan(u2) * u1",
        "    y_2 = y * 2",
        "    # y = y + y_2 * z",
        "    y_3 = y + y_2 * y",
        "    # return y * y_2 * z",
        "    result = y_3 * y_2 * y",
        "",
        "    return result",
    ]


def test_the_parameters_are_the_arguments_then_variables_then_arrays() -> None:
    """Variables in the order in which they are read; their new values come in the same order."""
    first, second = tm.Variable(1.0, name="first"), tm.Variable(2.0, name="second")
    table = np.array([1.0, 2.0])

    def f(b: Any, a: Any) -> Any:
        total = np.sum(second * b + first * a * table)
        first.assign(total)
        second.assign_add(total)
        return total

    text = program_text(f, tm.constant([1.0, 2.0]), tm.constant(3.0))

    assert "def f(b, a, second, first, table):" in text.split("\n")
    assert body(text)[-1] == "    return total, new_second, total"


def test_results_of_dictionaries_have_their_keys_names() -> None:
    """Other results without a name are called result."""

    def f(x: Any) -> Any:
        return {"down": -x, "up": x + 1}, x * 2

    lines = body(program_text(f, tm.constant([1.0, 2.0])))

    assert "    return result_down, result_up, result" in lines


def test_results_of_dictionaries_come_in_the_order_of_their_keys() -> None:
    """The docstring tells which is which; the function itself gives the dict."""

    def f(t: Any) -> Any:
        return {"x": t, "v": {"b": [2 * t, 3 * t], "a": None}, "a": 4 * t}, {2: t, "k": t}

    made = function(f)
    for _ in range(3):
        found = made(tm.constant(1.5))
    text = made.source()
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 (the text is the package's own)

    assert [*found[0]] == ["x", "v", "a"]
    assert names["f"](1.5) == (1.5, 3.0, 4.5, None, 6.0, 1.5, 1.5)
    assert text.split("-------\n")[-1].split('    """')[0].split("\n")[:-1] == [
        "    t : float64, under the key 'x'",
        "    result_v_b, result_v_b_2 : float64, under the key 'b' of 'v'",
        "    None, the same at each call, under the key 'a' of 'v'",
        "    result_a : float64, under the key 'a'",
        "    t : float64, under the key 2",
        "    t : float64, under the key 'k'",
    ]


def test_imports_are_public() -> None:
    """A program that is pasted into a script needs nothing from inside of this package."""

    def f(x: Any, kernel: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch([x, kernel])
            y = np.sum(tm.max_pool2d(tm.conv2d(x, kernel)) ** 2) + x[0, 1, 1, 0] ** 2
        return tape.gradient(y, [x, kernel])

    text = program_text(f, tm.constant(np.ones((1, 6, 6, 1))), tm.constant(np.ones((3, 3, 1, 2))))
    modules = [line.split()[1] for line in text.split("\n") if line.startswith("from ")]

    assert set(modules) == {"tapemagic", "tapemagic.kernels"}


@pytest.mark.parametrize(
    ("f", "x", "line"),
    [
        (lambda x: np.negative(np.negative(x)), 2j, "-(-x)"),
        (lambda x: x * 10.0**300, 1.5, " 1e300"),
        (lambda x: (np.linalg.norm(x), x + 1)[1], 1.5, "_ = np.linalg.norm(x)"),
        (lambda x: -(np.abs(x) ** -2.0), 1.5, "-(np.abs(x) ** -2.0)"),
        (lambda x: -(x**3), 1.5, "-(x**3)"),
        (lambda x: x * 2 / x @ x * 3, 1.5, "(x * 2 / x) @ x * 3"),
    ],
)
def test_lines_are_as_the_linter_wants_them(f, x, line):
    """No sign is twice in a row, exponents have no plus, and no name is given that nobody reads."""
    lines = body(program_text(f, tm.constant(np.array([x, x]))))
    assert line in "\n".join(each for each in lines if "#" not in each)


def of_product(x: Any, w: Any) -> Any:
    """A gradient that is an argument, which the product kept."""
    with tm.GradientTape() as tape:
        tape.watch(w)
        y = np.sum(w * x)
    return tape.gradient(y, w)


def of_sum(x: Any, w: Any) -> Any:
    """A gradient that no call changes."""
    with tm.GradientTape() as tape:
        tape.watch(w)
        y = np.sum(w + x)
    return tape.gradient(y, w)


def of_sine(x: Any, w: Any) -> Any:
    """A gradient that is a value on the way to the result."""
    with tm.GradientTape() as tape:
        tape.watch(w)
        y = np.sum(w * np.sin(x))
    return tape.gradient(y, w)


@pytest.mark.parametrize("f", [of_product, of_sum, of_sine])
def test_gradients_that_passes_find_elsewhere_keep_their_names(f):
    """Gradients that a pass replaces by an equal value are named and described by their sources."""
    text = program_text(f, np.arange(3.0), tm.constant([1.0, 2.0, 3.0]))
    assert "    d_w = " in text
    assert "d_w : array of shape (3,), float64, the gradient with respect to w" in text
    assert "u1" not in text


def test_an_array_that_is_the_gradient_of_two_is_said_to_be_of_neither():
    """Values that share the array of ones cannot be told from each other."""

    def f(w, b):
        with tm.GradientTape() as tape:
            tape.watch([w, b])
            y = np.sum(w + b)
        return tape.gradient(y, [w, b])

    x = tm.constant([1.0, 2.0])
    assert "the gradient" not in program_text(f, x, tm.constant([3.0, 4.0]))


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (lambda w, b: (w + b) ** 2, {"d_w, d_w": "w and b"}),
        (lambda w, b: w * w * w + (w + b) ** 2, {"d_w": "w", "d_b": "b"}),
        (lambda w, b: b * b * b + (w + b) ** 2, {"d_w": "w", "d_b": "b"}),
    ],
)
def test_values_that_are_gradients_of_several_or_a_part_of_one(loss, said):
    """The whole adjoint of one input may be a part of another one's: it is said to be that of which it is the whole."""

    def f(w, b):
        with tm.GradientTape() as tape:
            tape.watch([w, b])
            y = np.sum(loss(w, b))
        return tape.gradient(y, [w, b])

    text = program_text(f, tm.constant([1.0, 2.0]), tm.constant([3.0, 4.0]))
    for names, sources in said.items():
        what = f"array of shape (2,), float64, the gradient with respect to {sources}"
        assert f"    {names} : {what}\n" in text


def written_eye(x):
    """An array that the user calls by the name of its function."""
    return x * np.eye(2)


def eye_by_chance(x):
    """An array that has the same numbers."""
    return x * np.array([[1.0, 0.0], [0.0, 1.0]])


def ones_by_rules(x):
    """The gradient of a sum."""
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize(
    ("f", "name"), [(written_eye, "eye"), (eye_by_chance, "constant"), (ones_by_rules, "ones")]
)
def test_constants_are_called_by_their_numbers_only_where_these_are_no_chance(f, name):
    """The user wrote so, or a rule makes such."""
    text = program_text(f, tm.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert f"\n{name} = np." in text


@pytest.mark.parametrize("fixed", [True, False])
def test_a_call_that_is_made_for_its_error_alone_says_so(fixed):
    """An index that is the same at each call is in bounds, as it was: the call is left out."""

    def f(x, k):
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(x[np.array([0, 1])] if fixed else x[k])
        return tape.gradient(y, x)

    text = program_text(f, tm.constant([1.0, 2.0]), np.array([0, 1]))
    comment = "    # nothing reads this value, but its call may raise an error\n    _ = x[k]\n"
    assert ("_ = " in text) is not fixed
    assert (comment in text) is not fixed


def test_the_number_of_a_condition_is_said():
    """Retrace has the number of its condition."""

    def f(x):
        return x if np.sum(x) > 0 else -x

    text = program_text(f, tm.constant([1.0, 2.0]))
    assert (
        '"""Raised where the function would take another branch, with the number of the condition."'
        in text
    )
    assert "raise Retrace(1)" in text


@tm.custom_gradient
def bounded(x):
    """A function whose gradient has lines of its own."""

    def grad(upstream):
        low = np.maximum(upstream, -1)
        return np.minimum(low, 1)

    return x * 1.5, grad


def test_lines_of_the_users_own_gradient_are_its_lines():
    """Statements of a custom gradient are comments above its values, and again above their derivatives."""

    def f(x):
        with tm.GradientTape() as outer:
            outer.watch(x)
            with tm.GradientTape() as tape:
                tape.watch(x)
                y = bounded(x) ** 2
            slope = tape.gradient(y, x)
        return slope, outer.gradient(slope, x)

    lines = body(program_text(f, tm.constant(0.25)))
    back = lines.index("    # back through: y = bounded(x) ** 2")
    assert lines[back + 2 : back + 6] == [
        "    # low = np.maximum(upstream, -1) (1 of 2)",
        "    low = np.maximum(d_u1, -1)",
        "    # return np.minimum(low, 1) (1 of 2)",
        "    slope = np.minimum(low, 1)",
    ]
    assert "    # second derivative, back through: low = np.maximum(upstream, -1) (1 of 2)" in lines
    assert "    # back through: return x * 1.5, grad" not in lines


def test_the_source_has_no_blocks_unless_the_program_that_runs_is_asked_for():
    """Without sums, both texts compute the same bits. With sums they may round differently."""

    @tm.function
    def bell(x):
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = x * np.exp(-x * x)
        return y, tape.gradient(y, x)

    @tm.function
    def total(x):
        return np.sum(x * np.exp(-x * x))

    x = np.linspace(-2.0, 3.0, 200_001)
    for f, compare in ((bell, np.testing.assert_array_equal), (total, np.testing.assert_allclose)):
        results = [f(tm.constant(x)) for _ in range(3)][-1]
        readable, as_run = f.source(), f.source(as_run=True)
        assert not any(word in readable for word in ("out=", "for ", "u1 *=", "empty"))
        assert "    for start in range(0, 200_001, 16_384):\n" in as_run
        texts = [f.source(tm.constant(x), as_run=k) for k in (False, True)]
        assert texts == [readable, as_run]
        for text in texts:
            names: dict[str, Any] = {}
            exec(text, names)  # noqa: S102 (the text is the package's own)
            for found, right in zip(leaves(names[f.__name__](x)), leaves(results), strict=True):
                compare(found, right, *([1e-13] if f is total else []))


def test_sources_of_several_programs_and_of_small_ones_as_they_run():
    """Without blocks, both sources are equal."""
    f = tm.function(lambda x: x * x)
    for size in (200_000, 3):
        for _ in range(2):
            f(tm.constant(np.ones(size)))
    small = tm.constant(np.ones(3))
    assert f.source(small) == f.source(small, as_run=True)
    assert f.source() == f.source(as_run=True)  # one product is no chain


def test_the_source_of_a_tape_has_no_blocks():
    """A tape's source is written for readers."""
    x = tm.Variable(np.linspace(-2.0, 3.0, 200_001))
    with tm.GradientTape() as tape:
        y = x * np.exp(-x * x)
    text = tape.source(y, x)
    assert not any(word in text for word in ("out=", "for ", "empty"))
