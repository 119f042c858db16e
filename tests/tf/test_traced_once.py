"""The contract of tf.function where TensorFlow leaves room, or where a program could be wrong: never a frozen draw."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import tf
from tapemagic.errors import EagerWarning, TapeError

X = tf.constant([1.0, 2.0, 3.0])
RNG = np.random.default_rng(0)


class WithGenerator:
    """An object that holds a generator."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __call__(self, x: Any) -> Any:
        """Draw by Python."""
        return x * self.rng.random()

    @tf.function
    def method(self, x: Any) -> Any:
        """Draw by Python."""
        return x * self.rng.random()


def noise() -> Any:
    """Draw where another function is called."""
    return RNG.random()


TABLE = {"rng": [RNG]}


DRAWING_BY_PYTHON: list[Callable[[Any], Any]] = [
    lambda x: x * np.random.rand(),  # noqa: NPY002
    lambda x: x * random.random(),  # noqa: S311
    lambda x: x * RNG.random(),
    lambda x, rng=RNG: x * rng.random(),
    lambda x: x * noise(),
    lambda x: x * TABLE["rng"][0].random(),
    lambda x: x * np.random.default_rng().random(),
    lambda x: x * random.SystemRandom().random(),
    lambda x: tf.add_n([x * noise() for _ in range(2)]),
    lambda x: x if np.random.rand() < 2 else -x,  # noqa: NPY002
]


@pytest.mark.parametrize("f", DRAWING_BY_PYTHON)
def test_what_python_draws_is_no_constant(f: Any) -> None:
    """TensorFlow would draw once; here the function stays eager and says so."""
    g = tf.function(f)
    with pytest.warns(EagerWarning, match="draws random numbers"):
        found = [float(g(X)[0]) for _ in range(4)]
    assert len(set(found)) == (1 if f is DRAWING_BY_PYTHON[-1] else 4)
    assert not g.programs


def test_a_generator_in_an_object_is_no_constant() -> None:
    """Neither in that of a method."""
    with pytest.warns(EagerWarning, match="it draws random numbers"):
        found = [float(WithGenerator.method(WithGenerator(), X)[0]), *self_drawn()]
    assert len(set(found[1:])) == 4


def self_drawn() -> list[float]:
    """The draws of one object."""
    one = WithGenerator()
    return [float(one.method(X)[0]) for _ in range(4)]


def test_a_generator_that_does_not_draw_is_no_reason() -> None:
    """Or one whose draws are those of a layer."""
    held = WithGenerator()
    f = tf.function(lambda x: x * 2 if held.rng else x)
    drop = tf.keras.layers.Dropout(0.5, seed=np.random.default_rng(0))
    g = tf.function(lambda x: drop(x, training=True))
    for h in (f, g):
        found = [h(tf.ones(50)).numpy().tolist() for _ in range(3)]
        assert (len(h.programs), h.why_eager) == (1, "")
    assert found[0] != found[1] != found[2]


def test_seeds_and_new_generators_keep_a_function_eager() -> None:
    """A seed that is set in the function begins the numbers again at each call."""

    def seeded() -> Any:
        tf.random.set_seed(1)
        return tf.random.normal([])

    def fresh() -> Any:
        return tf.random.Generator.from_seed(1).normal([])

    for f in (seeded, fresh):
        with pytest.warns(EagerWarning):
            assert len({float(g()) for g in [tf.function(f)] * 4}) == 1


def variables() -> tuple[Any, Any, Any]:
    """Three Variables."""
    return tf.Variable(2.0), tf.Variable(10.0), tf.Variable(5.0)


@pytest.mark.parametrize("order", ["wbwcbw", "bcwbw", "cbwwc"])
def test_variables_as_arguments_that_the_function_also_reads(order: str) -> None:
    """One of them may be an argument and be read by its name."""
    found = []
    for wrap in (tf.function, lambda f: f):
        w, b, c = variables()

        def f(v: Any, w: Any = w) -> Any:
            v.assign_add(1.0)
            return v * w

        g = wrap(lambda v, f=f: f(v))
        named = {"w": w, "b": b, "c": c}
        found.append([float(g(named[name])) for name in order] + [float(v) for v in (w, b, c)])
    assert found[0] == found[1]


def trained(wrap: Callable[[Any], Any], optimizer: Any, changes: bool) -> Any:
    """The losses and all variables of a model with batch normalization, Dropout and a metric."""
    tf.random.set_seed(0)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dense(4), layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(1)]
    )
    mean = tf.keras.metrics.Mean()
    x = tf.random.normal([8, 3])

    @wrap
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        mean.update_state(loss)
        return loss

    found = [float(step(x)) for _ in range(4)]
    if changes:
        optimizer.learning_rate = 0.001
    found += [float(mean.result()), *(float(step(x)) for _ in range(3))]
    mean.reset_state()
    found += [float(step(x)), float(mean.result()), float(tf.random.normal([]))]
    return found, [v.numpy().tolist() for v in model.variables], step


DECAY = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
OPTIMIZERS: list[tuple[Callable[[], Any], bool]] = [
    (lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9), True),
    (lambda: tf.keras.optimizers.Adam(0.01), True),
    (lambda: tf.keras.optimizers.Adam(DECAY), False),
]


@pytest.mark.parametrize(("optimizer", "changes"), OPTIMIZERS)
def test_a_step_that_builds_its_model_and_optimizer(optimizer: Any, changes: bool) -> None:
    """Traced twice in the first call, as in TensorFlow, without a second effect."""
    *found, step = trained(tf.function, optimizer(), changes)
    *expected, _ = trained(lambda f: f, optimizer(), changes)
    assert found == expected
    assert step.experimental_get_tracing_count() == 2
    assert len(step.programs) == 1
    assert step.why_eager == ""


def test_effects_of_a_call_that_makes_variables_happen_once(capsys: Any) -> None:
    """Its second trace takes them over."""
    made: list[Any] = []
    calls: list[float] = []

    def log(x: Any) -> Any:
        calls.append(float(x))
        return x

    @tf.function
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(1.0))
        tf.print("x =", x)
        made[0].assign_add(x)
        return made[0] + tf.random.uniform([])

    @tf.function
    def g(x: Any) -> Any:
        if len(made) < 2:
            made.append(tf.Variable(1.0))
        return tf.py_function(log, [x], tf.float32)

    tf.random.set_seed(1)
    found = [float(f(tf.constant(1.0))) for _ in range(3)]
    tf.random.set_seed(1)
    draws = [float(tf.random.uniform([])) for _ in range(3)]
    assert found == pytest.approx([2 + draws[0], 3 + draws[1], 4 + draws[2]])
    assert capsys.readouterr().err == "x = 1\n" * 3
    assert [float(g(tf.constant(k))) for k in (1.0, 2.0, 3.0)] == calls == [1.0, 2.0, 3.0]


def test_python_functions_in_programs() -> None:
    """They are called each time; with Variables, or with a gradient, the function is what it was."""
    v = tf.Variable(1.0)

    def assigns(x: Any) -> Any:
        v.assign(2 * x)
        return x

    def adds(x: Any) -> Any:
        v.assign_add(1.0)
        return x

    alone = tf.function(lambda x: tf.py_function(assigns, [x], tf.float32) + 1.0)
    with pytest.warns(EagerWarning, match="assigns a Variable"):
        assert [float(alone(tf.constant(float(k)))) for k in range(4)] == [1.0, 2.0, 3.0, 4.0]
    assert float(v) == 6.0
    both = tf.function(lambda x: tf.py_function(adds, [x], tf.float32) + v)
    with pytest.warns(EagerWarning, match="reads or assigns more than its arguments"):
        assert [float(both(tf.constant(1.0))) for _ in range(3)] == [8.0, 9.0, 10.0]
    late = tf.function(lambda x: tf.py_function(assigns, [x], tf.float32) + v)
    with pytest.warns(EagerWarning):
        assert [float(late(tf.constant(k))) for k in (1.0, 2.0)] == [3.0, 6.0]

    @tf.function
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: a**3, [x], tf.float32)
        return tape.gradient(y, x)

    assert [float(slope(tf.constant(k))) for k in (1.0, 2.0, 3.0)] == [3.0, 12.0, 27.0]
    lengths = tf.function(
        lambda n: tf.reduce_sum(
            tf.numpy_function(lambda n: np.ones(int(n), "float32"), [n], tf.float32)
        )
    )
    assert [float(lengths(tf.constant(n))) for n in (2, 3, 2, 5, 3)] == [2.0, 3.0, 2.0, 5.0, 3.0]


def test_one_tensor_for_two_arguments() -> None:
    """Each is its own, also for a tape inside; a tape around knows that they are one."""

    @tf.function
    def f(a: Any, b: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * b
        return y, tape.gradient(y, a)

    c = tf.constant(2.0)
    assert [float(x) for x in f(c, c)] == [4.0, 2.0]
    assert [float(x) for x in f(tf.constant(4.0), tf.constant(5.0))] == [20.0, 5.0]
    assert f.experimental_get_tracing_count() == 1
    g = tf.function(lambda a, b: a * b)
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = g(c, c)
    assert float(tape.gradient(y, c)) == 4.0


def test_a_tape_around_sees_the_operations() -> None:
    """So the function runs as Python then, and gradients of all orders are right."""
    x = tf.constant(1.5)
    f = tf.function(lambda x: tf.stop_gradient(x) * x**2)
    for _ in range(3):
        f(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        slope = tape.gradient(y, x)
    assert float(slope) == 2 * 1.5**2
    assert float(outer.gradient(slope, x)) == 2 * 1.5


def test_errors_leave_nothing_behind(capsys: Any) -> None:
    """In a check, in NumPy, and in Python."""
    v = tf.Variable(1.0)
    runs: list[int] = []

    @tf.function
    def inverse(x: Any) -> Any:
        runs.append(1)
        tf.print("inverse")
        return tf.linalg.inv(x)

    assert [inverse(tf.eye(2)).shape for _ in range(3)] == [(2, 2)] * 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        inverse(tf.zeros((2, 2)))
    assert capsys.readouterr().err == "inverse\n" * 4

    @tf.function
    def checked(x: Any) -> Any:
        runs.append(2)
        v.assign_add(1.0)
        tf.debugging.assert_positive(x)
        return x + v

    assert [float(checked(tf.constant(1.0))) for _ in range(3)] == [3.0, 4.0, 5.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        checked(tf.constant(-1.0))
    assert float(checked(tf.constant(1.0))) == 6.0
    assert runs.count(2) == 1


def test_values_that_are_kept_are_plain_afterwards() -> None:
    """A tensor in an attribute or a list holds the numbers of the traced call."""
    kept: Any = WithGenerator()
    seen: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        kept.last = 2 * x
        seen.append(x)
        return x

    kept.rng = None
    f(X), f(X + 1)
    assert kept.last.numpy().tolist() == [2.0, 4.0, 6.0]
    assert [x.numpy().tolist() for x in seen] == [[1.0, 2.0, 3.0]]


def test_threads_lose_no_update() -> None:
    """Programs of tf.function assign like those of tm.function."""
    v = tf.Variable(0.0)
    f = tf.function(lambda: v.assign_add(1.0))
    f(), f()
    threads = [threading.Thread(target=lambda: [f() for _ in range(100)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert float(v) == 402.0


def test_a_model_dies_with_its_function() -> None:
    """The programs keep Variables, and nothing else keeps the programs."""
    layer = tf.keras.layers.Dense(1)
    f = tf.function(lambda x, layer=layer: layer(x))
    f(tf.ones((2, 3))), f(tf.ones((2, 3)))
    gone = weakref.ref(layer)
    del layer, f
    gc.collect()
    assert gone() is None


def doubled(x: Any) -> Any:
    """A function that can be pickled."""
    return 2 * x


def test_copies_trace_again() -> None:
    """Copies, pickles and functions of functions."""
    f = tf.function(doubled)
    f(X)
    for other in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f)), tf.function(f)):  # noqa: S301
        assert other(X).numpy().tolist() == [2.0, 4.0, 6.0]
        assert other.experimental_get_tracing_count() >= 1


def test_a_branch_on_a_tensor_is_traced_for_each_path(capsys: Any) -> None:
    """As documented: TensorFlow's autograph traces both at once."""

    @tf.function
    def f(x: Any) -> Any:
        print("Tracing")  # noqa: T201
        if tf.reduce_sum(x) > 10:
            return x
        return -x

    found = [f(tf.constant([k, k])).numpy()[0] for k in (1.0, 9.0, 2.0, 8.0, 3.0)]
    assert found == [-1.0, 9.0, -2.0, 8.0, -3.0]
    assert capsys.readouterr().out == "Tracing\n" * 2


def test_a_new_number_after_many() -> None:
    """A Python number is a constant of its trace, also if it is the same as another one to ==."""
    f = tf.function(lambda x, n: x * n if isinstance(n, int) else x + n)
    assert [float(f(tf.constant(3.0), n)) for n in (2, 2.0, True, 2, -0.0, 0.0)] == [
        6.0, 5.0, 3.0, 6.0, 3.0, 3.0,
    ]  # fmt: skip
    assert [float(f(tf.constant(1.0), n)) for n in range(20)] == [float(n) for n in range(20)]


def test_a_scope_outside_after_an_assignment() -> None:
    """It is eager: TensorFlow's scope would see the value before the call."""
    v = tf.Variable(1.0)

    @tf.function
    def f() -> Any:
        v.assign_add(1.0)
        with tf.init_scope():
            v.assign_add(10.0)
        return v + 0.0

    with pytest.warns(EagerWarning, match=r"tf\.init_scope"):
        assert [float(f()), float(f())] == [12.0, 23.0]


def test_variables_that_are_made_outside_of_the_trace() -> None:
    """They are read at each call, also if a later call makes them."""
    made: dict[str, Any] = {}

    @tf.function
    def f(x: Any, name: str) -> Any:
        with tf.init_scope():
            if name not in made:
                made[name] = tf.Variable(1.0)
        return made[name].assign_add(x) + 0.0

    for name in ("a", "b"):
        assert [float(f(tf.constant(1.0), name)) for _ in range(3)] == [2.0, 3.0, 4.0]
    assert len(f.programs) == 2

    @tf.function
    def g(x: Any) -> Any:
        with tf.init_scope():
            v = tf.Variable(1.0)
        return v.assign_add(x) + 0.0

    with pytest.warns(EagerWarning, match="makes Variables in tf.init_scope"):
        assert [float(g(tf.constant(1.0))) for _ in range(3)] == [2.0] * 3


def test_the_elements_of_a_dataset_are_no_constants() -> None:
    """A shuffled dataset has another order in each epoch, and an iterator goes on."""
    numbers = tf.data.Dataset.range(6).shuffle(6).batch(2)
    rest = iter(tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0]))

    @tf.function
    def epoch(dataset: Any) -> Any:
        return tf.concat([batch * 1 for batch in dataset], 0)

    @tf.function
    def following() -> Any:
        return next(rest) * 2

    with pytest.warns(EagerWarning, match="an element of a dataset"):
        orders = [tuple(epoch(numbers).numpy().tolist()) for _ in range(8)]
    assert len(set(orders)) > 1
    assert {tuple(sorted(order)) for order in orders} == {(0, 1, 2, 3, 4, 5)}
    with pytest.warns(EagerWarning, match="an element of a dataset"):
        assert [float(following()) for _ in range(4)] == [2.0, 4.0, 6.0, 8.0]


def test_a_file_is_read_at_each_call(tmp_path: Any) -> None:
    """Restored Variables are no constants."""
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(str(tmp_path / "checkpoint"))

    @tf.function
    def restored() -> Any:
        checkpoint.read(path)
        return v + 0.0

    found = []
    with warnings.catch_warnings(action="ignore"):
        for value in (1.0, 2.0, 3.0):
            v.assign(value)
            checkpoint.write(path)
            found.append(float(restored()))
    assert found == [1.0, 2.0, 3.0]
    assert "a file that is read" in restored.why_eager


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9),
        lambda: tf.keras.optimizers.Adam(0.1, clipnorm=1.0),
        lambda: tf.keras.optimizers.Adagrad(0.1),
    ],
)
def test_a_constant_gradient_is_part_of_a_step(make: Any) -> None:
    """The gradient of a last bias, as in the loss of a Wasserstein critic, reads nothing that the trace follows."""
    found = []
    for wrap in (tf.function, lambda f: f):
        bias, w, optimizer = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0]), make()

        def step(x: Any, bias: Any = bias, w: Any = w, optimizer: Any = optimizer) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(bias) * 2.0 + tf.reduce_sum(w * x)
            optimizer.apply_gradients(zip(tape.gradient(loss, [bias, w]), [bias, w], strict=True))
            return loss

        f = wrap(lambda x, step=step: step(x))
        found.append([float(f(X[:2])) for _ in range(5)] + bias.numpy().tolist())
    assert found[0] == found[1]


def test_a_critic_with_a_gradient_penalty(capsys: Any) -> None:
    """Draws, Dropout, nested tapes and output in one step: the same numbers as eagerly, and one program."""
    layers = tf.keras.layers
    generator = tf.keras.Sequential([layers.Dense(4, "relu"), layers.Dense(2)])
    critic = tf.keras.Sequential([layers.Dense(4, "tanh"), layers.Dropout(0.2), layers.Dense(1)])
    generator.build((None, 3)), critic.build((None, 2))
    start = [v.numpy() for v in critic.variables]

    def run(wrap: Callable[[Any], Any]) -> Any:
        for variable, value in zip(critic.variables, start, strict=True):
            variable.assign(value)
        optimizer = tf.keras.optimizers.Adam(0.01)
        optimizer.build(critic.trainable_variables)

        def step(real: Any) -> Any:
            noise = tf.random.normal([8, 3])
            with tf.GradientTape() as tape:
                fake = generator(noise, training=True)
                share = tf.random.uniform([8, 1])
                mixed = share * real + (1 - share) * fake
                with tf.GradientTape() as inner:
                    inner.watch(mixed)
                    score = critic(mixed, training=True)
                penalty = tf.reduce_mean((tf.norm(inner.gradient(score, mixed), axis=1) - 1) ** 2)
                loss = tf.reduce_mean(critic(fake, training=True) - critic(real, training=True))
                loss += 10 * penalty
            variables = critic.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            tf.print("loss", loss)
            return loss

        tf.random.set_seed(1)
        f = wrap(step)
        losses = [float(f(tf.ones((8, 2)))) for _ in range(5)]
        return losses, [v.numpy().tolist() for v in critic.variables], capsys.readouterr().err, f

    *found, step = run(tf.function)
    *expected, _ = run(lambda f: f)
    assert found == expected
    assert len(set(found[0])) == 5
    assert (step.experimental_get_tracing_count(), len(step.programs), step.why_eager) == (1, 1, "")


def test_the_signatures_name_structures_defaults_and_captured_variables() -> None:
    """In TensorFlow's words, which were printed by TensorFlow 2.21."""
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any, n: Any = 2, *, flag: Any = True) -> Any:
        return {"a": [x * v, x]}, n if flag else 0

    f(tf.constant(1.0))
    spec = "TensorSpec(shape=(), dtype=tf.float32, name=None)"
    assert f.pretty_printed_concrete_signatures().splitlines() == [
        "Input Parameters:",
        f"  x (POSITIONAL_OR_KEYWORD): {spec}",
        "  n (POSITIONAL_OR_KEYWORD): Literal[2]",
        "  flag (KEYWORD_ONLY): Literal[True]",
        "Output Type:",
        f"  Tuple[Dict[['a', List[{spec}, {spec}]]], TensorSpec(shape=(), dtype=tf.int32, name=None)]",
        "Captures:",
        f"  {id(v)}: TensorSpec(shape=(), dtype=tf.resource, name=None)",
    ]


@pytest.mark.parametrize("shapes", [[2] * 7, [2, 2, 1, 1, 2, 1, 1]])
def test_variables_of_a_branch_that_is_taken_later(shapes: list[int]) -> None:
    """TensorFlow traces all branches at the first call, so one may build an optimizer: here that of each third call."""

    def run(wrap: Callable[[Any], Any]) -> tuple[list[Any], Any]:
        v, n = tf.Variable([1.0, 2.0]), tf.Variable(0)
        optimizer = tf.keras.optimizers.Adam(0.1)

        def step(x: Any) -> Any:
            n.assign_add(1)
            if n % 3 == 0:
                optimizer.apply_gradients([(v * tf.reduce_sum(x), v)])
            return v + x

        f = wrap(step)
        return [f(tf.ones(k)).numpy().tolist() for k in shapes], f

    found, step = run(tf.function)
    assert found == run(lambda f: f)[0]
    assert step.why_eager == ""


def appended(parts: Any) -> Any:
    """A list that grows."""
    parts.append(parts[0] * 2)
    return parts[-1]


def replaced(parts: Any) -> Any:
    """An entry that is replaced."""
    parts["a"] = parts["a"] * 2
    return parts["a"]


def popped(parts: Any) -> Any:
    """An entry that is removed."""
    return parts.pop("a") * 2


def sorted_numbers(parts: Any) -> Any:
    """Plain numbers."""
    parts.sort()
    return parts[0] * X


CHANGING: list[tuple[Callable[[Any], Any], Any]] = [
    (appended, [X]), (replaced, {"a": X}), (popped, {"a": X, "b": X}), (sorted_numbers, [2.0, 1.0]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "parts"), CHANGING)
def test_a_changed_argument_is_an_error(f: Any, parts: Any) -> None:
    """A program would not change it again. A copy may be changed."""
    with pytest.raises(ValueError, match="should not modify its Python input arguments"):
        tf.function(f)(parts)
    copied = tf.function(lambda parts: f(parts.copy()))
    expected = np.asarray(f(parts.copy())).tolist()
    assert [copied(parts).numpy().tolist() for _ in range(3)] == [expected] * 3


def test_a_concrete_function_takes_its_fixed_values() -> None:
    """By position or name, with these values only; each wrong call is an error."""

    @tf.function
    def scaled(x: Any, factor: Any, *, shift: Any = 1.0) -> Any:
        return x * factor + shift

    f = scaled.get_concrete_function(tf.TensorSpec([None], tf.float32), 2.0, shift=5.0)
    calls = f(X), f(x=X), f(X, 2.0), f(X, factor=2.0, shift=5.0)
    assert [y.numpy().tolist() for y in calls] == [(2 * X + 5).numpy().tolist()] * 4
    for wrong in (lambda: f(X, 3.0), lambda: f(X, shift=1.0), lambda: f(X, X)):
        with pytest.raises(TypeError, match="was made for"):
            wrong()
    for wrong in (f, lambda: f(X, 2.0, 5.0), lambda: f(X, x=X), lambda: f(X, q=1.0)):
        with pytest.raises(TypeError, match="takes x"):
            wrong()
    for arguments in ((X,), (X, X, X)):
        with pytest.raises(TypeError, match=r"scaled\(\): (missing|too many)"):
            scaled.get_concrete_function(*arguments)
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        scaled.get_concrete_function(X, 2.0, q=1.0)
    assert f(X).numpy().tolist() == (2 * X + 5).numpy().tolist()
    total = tf.function(lambda *parts: sum(parts[1:], parts[0]))
    assert float(total.get_concrete_function(X[0], X[0])(X[0], X[0] * 2)) == 3 * float(X[0])


def test_a_concrete_function_assigns_a_variable() -> None:
    """That it is given: another one, too, of the same shape and dtype."""
    add = tf.function(lambda v, x: v.assign_add(x) + 0.0)
    v, w = tf.Variable(1.0), tf.Variable(10.0)
    f = add.get_concrete_function(v, tf.TensorSpec([], tf.float32))
    assert [float(f(v, tf.constant(2.0))) for _ in range(3)] == [3.0, 5.0, 7.0]
    assert [float(f(w, tf.constant(2.0))), float(w), float(v)] == [12.0, 12.0, 7.0]
    with pytest.raises(TypeError, match="no Variable"):
        f(tf.constant(1.0), tf.constant(2.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \(2,\)"):
        f(tf.Variable([1.0, 2.0]), tf.constant(2.0))


def test_errors_name_the_decorator() -> None:
    """Not the one of tapemagic itself."""
    with pytest.raises(TapeError, match=r"tf\.function takes no function that is a generator"):
        tf.function(lambda: (yield 1))
    with pytest.raises(TapeError, match=r"write @staticmethod above @tf\.function"):
        tf.function(staticmethod(lambda x: x))


def test_what_does_not_match_an_input_signature() -> None:
    """A TypeError as in TensorFlow, and an InvalidArgumentError as for a concrete function."""
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.int32)])
    for wrong in (tf.constant([[1, 2]]), tf.constant([1.0])):
        for error in (TypeError, tf.errors.InvalidArgumentError):
            with pytest.raises(error, match="and not TensorSpec"):
                f(wrong)
    for signature in (3, [3], tf.TensorSpec([None])):
        with pytest.raises(TypeError, match="write input_signature="):
            tf.function(lambda x: x, input_signature=signature)
