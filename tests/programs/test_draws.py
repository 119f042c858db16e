"""Effects as calls of programs: draws, output and checks happen at each call, in order, and once."""

from __future__ import annotations

import linecache
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn, tf
from tapemagic.engine.effects import has_effect
from tapemagic.programs.program import Loop, Node

X = tf.constant([1.0, 2.0, 3.0])


def outcomes(f: Callable[..., Any], capsys: Any, calls: int = 8, x: Any = X) -> Any:
    """The results and errors of several calls, what they printed, and the next random numbers of each stream."""
    tf.random.set_seed(3)
    found: list[Any] = []
    for _ in range(calls):
        try:
            found.append([np.asarray(part).tolist() for part in tf.nest.flatten(f(x))])
        except tf.errors.InvalidArgumentError as error:
            found.append(str(error))
    after = tf.random.uniform([]), tf.random.uniform([], seed=3), nn.random.draw("random")
    return found, [float(part) for part in after], capsys.readouterr().err


def two_draws(x: Any) -> Any:
    """Two draws differ."""
    return x * tf.random.normal([3]), x * tf.random.normal([3])


def moments(x: Any) -> Any:
    """Draws with moments that are computed."""
    return tf.random.normal([3], x, tf.abs(x)), tf.random.truncated_normal([3], x)


def bounds(x: Any) -> Any:
    """Draws between bounds that are computed."""
    n = tf.cast(x[2], tf.int32)
    return tf.random.uniform([3], x, 5.0), tf.random.uniform([2], 0, n, tf.int32)


def seeds(x: Any) -> Any:
    """Operations with a seed have their own numbers."""
    return tf.random.uniform([3], seed=3) + tf.random.normal([3]) * x


def distributions(x: Any) -> Any:
    """Other distributions."""
    return (
        tf.random.gamma([2], x), tf.random.poisson([2], x), tf.random.shuffle(x),
        tf.random.categorical([x], 4), tf.random.categorical(tf.stack([x, x]), 2),
    )  # fmt: skip


def of_keras(x: Any) -> Any:
    """Keras's functions."""
    draws = tf.keras.random
    return (
        draws.normal((2,)), draws.uniform((2,)), draws.truncated_normal((2,)), draws.gamma((3,), x),
        draws.randint((2,), 0, 9), draws.shuffle(x), draws.dropout(x, 0.5), draws.categorical([x], 3),
    )  # fmt: skip


def unused(x: Any) -> Any:
    """A draw that nothing reads."""
    tf.random.normal([3])
    return x * tf.random.normal([3])


def dropped(x: Any) -> Any:
    """Dropout as a function."""
    return tf.nn.dropout(x, 0.5), tf.nn.dropout(tf.ones((2, 3)), 0.5, noise_shape=(2, 1))


def in_a_branch(x: Any) -> Any:
    """A draw decides whether there is another one."""
    a = tf.random.normal([])
    tf.print("a =", a)
    if a > 0:
        return a * x
    tf.print("again")
    return tf.random.normal([3])


def in_a_loop(x: Any) -> Any:
    """Draws until one is large."""
    while True:
        step = tf.random.uniform([])
        tf.print("step", step)
        if step > 0.4:
            return x * step


def failing(x: Any) -> Any:
    """A check that fails for some draws."""
    a = tf.random.normal([3])
    tf.print("a =", a)
    tf.debugging.assert_less(a, 0.8)
    return a * x


def checked(x: Any) -> Any:
    """Checks that hold."""
    noise = tf.random.uniform([3])
    tf.debugging.assert_near(x, x)
    tf.debugging.assert_positive(x)
    tf.debugging.assert_equal(x, x)
    return tf.debugging.check_numerics(noise, "noise") + x


def asserted(x: Any) -> Any:
    """A condition that fails for some draws, with data."""
    a = tf.random.uniform([])
    tf.debugging.Assert(a < 0.7, [a, "is large", x])
    return a * x


def printed(x: Any) -> Any:
    """Output of all kinds."""
    y = x * tf.random.uniform([3])
    tf.print("y =", y, {"a": [y[0], "b"]}, (x, 1.5), x.shape, tf.float32, None, sep="|")
    tf.print(tf.random.uniform([8]), summarize=1, end="!")
    return y


def flipped(x: Any) -> Any:
    """A picture, flipped or not."""
    return tf.image.random_flip_left_right(tf.reshape(x, (1, 3, 1)))


def differentiated(x: Any) -> Any:
    """Draws in both orders, and a persistent tape."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.random.normal([3]) * x**3)
            z = tf.nn.dropout(x * x, 0.5)
        dy = tape.gradient(y, x)
        dz = tape.gradient(z, x)
    return y, dy, dz, outer.gradient(dy, x)


def reparameterized(x: Any) -> Any:
    """Gradients flow through the moments."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.random.normal([3], x, tf.exp(0.1 * x))
        loss = tf.reduce_sum(z**2)
    return loss, tape.gradient(loss, x)


PROGRAMS: dict[Callable[..., Any], int] = {
    two_draws: 1, moments: 1, bounds: 1, seeds: 1, distributions: 1, of_keras: 1, unused: 1,
    dropped: 1, in_a_branch: 2, failing: 1, asserted: 1, checked: 1, printed: 1, flipped: 2, differentiated: 1,
    reparameterized: 1,
}  # fmt: skip


@pytest.mark.parametrize("wrap", [tm.function, tf.function], ids=["tm", "tf"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_does_what_the_function_does(
    f: Callable[..., Any], wrap: Callable[[Any], Any], capsys: Any
) -> None:
    """The same numbers, output and errors, and the same numbers afterwards."""
    expected = outcomes(f, capsys, 16)
    g = wrap(f)
    assert outcomes(g, capsys, 16) == expected
    assert len(g.programs) == PROGRAMS[f], g.why_eager
    assert g.why_eager == ""
    assert outcomes(g, capsys, 16) == expected  # by programs alone


@pytest.mark.parametrize("wrap", [tm.function, tf.function], ids=["tm", "tf"])
def test_a_loop_until_a_draw_is_large(wrap: Callable[[Any], Any], capsys: Any) -> None:
    """A branch for each number of draws; whatever has no program yet is traced, and draws once."""
    expected = outcomes(in_a_loop, capsys, 40)
    g = wrap(in_a_loop)
    assert outcomes(g, capsys, 40) == expected
    assert outcomes(g, capsys, 40) == expected
    assert len(g.programs) > 2


def test_what_begins_its_numbers_again_stays_eager(capsys: Any) -> None:
    """A seed that is set, or a generator that is made in the function, with the line."""

    def seeded(x: Any) -> Any:
        tf.random.set_seed(1)
        return x * tf.random.normal([3])

    def fresh(x: Any) -> Any:
        return x[:2] * tf.random.Generator.from_seed(1).normal([2])

    def layer(x: Any) -> Any:
        return nn.Dropout(0.5, seed=1)(x, training=True)

    def seed_source(x: Any) -> Any:
        source = tf.keras.random.SeedGenerator(1)
        return x * tf.keras.random.normal((3,), seed=source)

    def reset(x: Any) -> Any:
        source.reset_from_seed(1)
        return x * source.normal([3])

    source = tf.random.Generator.from_seed(1)
    for f in (seeded, fresh, layer, seed_source, reset):
        expected = outcomes(f, capsys)
        g = tm.function(f)
        with pytest.warns(tm.errors.EagerWarning, match=r"\(line \d+ of test_draws.py\)"):
            assert outcomes(g, capsys) == expected
        assert not g.programs


def test_generators_draw_on(capsys: Any) -> None:
    """A generator of TensorFlow's and a source of seeds, which are the same objects at each call."""
    found = []
    for wrap in (lambda f: f, tm.function):
        source, seeds = tf.random.Generator.from_seed(1), tf.keras.random.SeedGenerator(1)

        def f(x: Any, source: Any = source, seeds: Any = seeds) -> Any:
            more = source.normal([3]) + source.uniform([3]), source.uniform_full_int([2], tf.int64)
            return x * source.truncated_normal([3]), *more, tf.keras.random.normal((2,), seed=seeds)

        g = wrap(f)
        found.append(outcomes(g, capsys))
    assert found[0] == found[1]
    assert len(g.programs) == 1


@pytest.mark.parametrize("wrap", [tm.function, tf.function], ids=["tm", "tf"])
def test_the_global_generator_may_be_replaced(wrap: Callable[[Any], Any]) -> None:
    """By another one, by a seed, and by its own new seed."""

    def f(x: Any) -> Any:
        return tf.random.get_global_generator().normal([3]) * x

    found = []
    for call in (f, g := wrap(f)):
        tf.random.set_seed(3)
        for k in range(8):
            if k == 3:
                tf.random.set_seed(5)
            if k == 5:
                tf.random.set_global_generator(tf.random.Generator.from_seed(9))
            if k == 7:
                tf.random.get_global_generator().reset_from_seed(2)
            found.append(call(X).numpy().tolist())
    assert found[:8] == found[8:]
    assert len(g.programs) == 1


@pytest.mark.filterwarnings("ignore::tapemagic.errors.EagerWarning")
@pytest.mark.parametrize("wrap", [tm.function, tf.function], ids=["tm", "tf"])
def test_a_draw_that_is_repeated_for_a_gradient(wrap: Callable[[Any], Any]) -> None:
    """It may be the same by chance while the function is traced; at later calls it still has to be."""
    drop = nn.Dropout(0.5, seed=3)
    square = tm.recompute_grad(lambda x: drop(x, training=True) * x)
    errors = 0
    for _ in range(6):  # other traces

        @wrap
        def f(x: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = square(x)
            return y, tape.gradient(y, x)

        for _ in range(4):
            try:
                y, dy = f(tf.constant([1.0]))
                assert float(dy[0]) == 2 * float(y[0])
            except tm.errors.FunctionError:
                errors += 1
    assert 0 < errors < 24


def test_effects_keep_their_order_around_loops_over_blocks() -> None:
    """A large chain is cut into blocks; draws before, between and after stay in order."""
    n = 300_000

    def f(x: Any) -> Any:
        a = tf.random.uniform([n])
        y = tf.exp(-a * x) * tf.sin(a)
        tf.debugging.assert_less(tf.reduce_max(y), 100.0)
        b = tf.random.uniform([n])
        z = tf.exp(-b * y) + tf.sin(a * b) * y
        return z, tf.random.uniform([2]), tf.cos(y) * tf.sqrt(b)

    x = tf.random.uniform([n])
    g = tm.function(f)
    found = []
    for call in (f, g):
        tf.random.set_seed(1)
        found.append([part.numpy() for _ in range(4) for part in call(x)])
    assert all(map(np.array_equal, *found))
    (program,) = g.programs
    assert any(isinstance(entry, Loop) for entry in program.body)
    effects = [e for e in program.body if isinstance(e, Node) and has_effect(e.function)]
    assert [e.args[:2] for e in effects if e.kind] == [
        ("random", (n,)),
        ("random", (n,)),
        ("random", (2,)),
    ]
    assert [bool(e.kind) for e in effects] == [True, False, True, True]


def test_variables_that_a_training_step_assigns_and_a_failing_check(capsys: Any) -> None:
    """An error after draws leaves the variables and the numbers as the function leaves them."""
    found = []
    for wrap in (lambda f: f, tm.function):
        v = tf.Variable([1.0, 1.0, 1.0])

        def step(x: Any, v: Any = v) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * tf.nn.dropout(x, 0.5) * tf.random.normal([3]))
            tf.print("loss", loss)
            tf.debugging.assert_less(loss, 3.0)
            v.assign_sub(0.1 * tape.gradient(loss, v))
            return loss

        g = wrap(step)
        found.append((outcomes(g, capsys, 20), v.numpy().tolist()))
    assert found[0] == found[1]
    assert len(g.programs) == 1


def test_the_source_draws_by_itself() -> None:
    """Run as a module, it draws the numbers that the function draws."""
    g = tm.function(two_draws)
    for _ in range(3):
        g(X)
    text = g.source()
    assert "from tapemagic.tf.random import draw" in text
    namespace: dict[str, Any] = {}
    exec(text, namespace)  # noqa: S102
    tf.random.set_seed(5)
    expected = [part.numpy().tolist() for part in two_draws(X)]
    tf.random.set_seed(5)
    assert [part.tolist() for part in namespace["two_draws"](X.numpy())] == expected


def test_a_lost_race_draws_again() -> None:
    """A Variable that another thread assigned meanwhile: the program computes again, with new numbers."""
    v = tf.Variable(0.0)

    def add(x: Any) -> Any:
        v.assign_add(tf.reduce_sum(x) * tf.random.uniform([]))
        return v + 0.0

    g = tm.function(add)
    for _ in range(4):
        g(X)
    assert len(g.programs) == 1
    assert len({float(g(X)) for _ in range(5)}) == 5


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937])
@pytest.mark.parametrize("wrap", [tm.function, tf.function], ids=["tm", "tf"])
def test_threads_draw_different_numbers(wrap: Callable[[Any], Any], bits: Any) -> None:
    """Also if a program gives up at a branch, and another thread has drawn since."""
    source = tf.random.Generator(np.random.Generator(bits(0)))

    @wrap
    def f() -> Any:
        a = source.uniform([], dtype=tf.float64)
        if a > 0.5:
            return a, source.uniform([], dtype=tf.float64)
        return a, a

    found = [f() for _ in range(12)]

    def run() -> None:
        found.extend(f() for _ in range(100))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({float(a) for a, _ in found}) == len(found) == 412
    assert len(f.programs) == 2


LINES = (
    "{n} = tf.random.normal([4])",
    "{n} = tf.random.uniform([4], seed=1) * {a}",
    "{n} = drop({a}, training=True)",
    "{n} = tf.nn.dropout({a}, 0.4)",
    "tf.print('{n}', {a}[0])",
    "tf.debugging.assert_less(tf.reduce_max({a}), 1e9)",
    "v.assign({a})",
    "{n} = v * {a}",
    "{n} = tf.sin({a}) + {b}",
    "{n} = tf.random.normal([4]) * {a} if tf.reduce_sum({b}) > 0.0 else {a} * 2.0",
    "{n} = slope_of(lambda x: tf.reduce_sum(x * tf.random.normal([4]) * x), {a})",
    "tf.random.uniform([2])",
    "{n} = source.normal([4]) - {a}",
    "{n} = tf.random.shuffle({a})",
    "{n} = inner({a})",
    "{n} = tf.cond(tf.reduce_sum({a}) > 0.0, lambda: {a} * tf.random.uniform([4]), lambda: {b} - v)",
    "{n} = tf.scan(lambda a, e: a * 0.5 + e * tf.random.normal([]), {a})",
    "_, {n} = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + tf.random.normal([4])), [0, {a}])",
    "v.assign_add(tf.tanh({a})); {n} = v + {b}",
)
"""Lines of random functions."""


def slope_of(f: Callable[[Any], Any], x: Any) -> Any:
    """The gradient of a function of one tensor."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def random_source(seed: int) -> str:
    """The source of a function with draws, output, checks, branches and assignments in random order."""
    choose = random.Random(seed)  # noqa: S311
    names, lines = ["x"], ["def f(x):"]
    for k in range(choose.randint(4, 14)):
        line = choose.choice(LINES)
        lines.append(
            "    " + line.format(n=f"t{k}", a=choose.choice(names), b=choose.choice(names))
        )
        if line.startswith("{n}"):
            names.append(f"t{k}")
    return "\n".join([*lines, f"    return {choose.choice(names)}, {choose.choice(names)}"])


@pytest.mark.parametrize("seed", range(12))
def test_random_functions(seed: int, capsys: Any, monkeypatch: Any) -> None:
    """The function, both kinds of programs, and what they leave behind."""
    text = random_source(seed)
    # The walk over names reads the lines of a function.
    monkeypatch.setitem(
        linecache.cache,
        "random_functions.py",
        (1, None, text.splitlines(True), "random_functions.py"),
    )
    found = []
    for wrap in (lambda f: f, tm.function, tf.function):
        v, source = tf.Variable([1.0, 2.0, 3.0, 4.0]), tf.random.Generator.from_seed(seed)
        namespace = {
            "tf": tf,
            "v": v,
            "source": source,
            "drop": nn.Dropout(0.3),
            "slope_of": slope_of,
            "inner": wrap(lambda x: x * tf.random.uniform([4])),
        }
        exec(compile(text, "random_functions.py", "exec"), namespace)  # noqa: S102
        f = wrap(namespace["f"])
        results = outcomes(f, capsys, 10, tf.constant([0.5, -1.0, 1.5, -0.2]))
        found.append((results, v.numpy().tolist(), float(source.normal([]))))
    assert found[0] == found[1] == found[2], text
