"""Cells of the kind in TensorFlow's guide on tf.function: what is traced, when, and what Python does meanwhile."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def traced_once_for_tensors_of_a_kind(tf: Any) -> Any:
    """Three calls with one shape and dtype print once."""

    @tf.function
    def halve(x: Any) -> Any:
        print("Tracing halve")
        return x / 2

    return [halve(tf.constant(float(k))) for k in range(3)], halve.experimental_get_tracing_count()


def traced_again_for_other_shapes_and_dtypes(tf: Any) -> Any:
    """Another shape or dtype is another trace; an earlier one is found again."""

    @tf.function
    def twice(x: Any) -> Any:
        print("Tracing for", x)
        return x + x

    calls = (1.0, 2.0, [1.0, 2.0], 3, [4.0, 5.0], 6.0)
    return [twice(tf.constant(x)) for x in calls], twice.experimental_get_tracing_count()


def a_traced_tensor_prints_as_one(tf: Any) -> None:
    """Arguments have their names, and results those of their operations."""

    @tf.function
    def show(left: Any, right: Any) -> Any:
        print(left)
        print("right is", right)
        print([left, right])
        print(f"{left}")
        return left + right

    show(tf.constant(1), tf.constant([2, 3]))
    show(tf.constant(5), tf.constant([6, 7]))


def the_results_of_operations_print_with_their_names(tf: Any) -> None:
    """Operators and functions."""

    @tf.function
    def show(x: Any) -> Any:
        a = x + 1.0
        b = a * x
        print(a, b)
        print(b - x)
        return b

    show(tf.constant(2.0))


def python_numbers_are_constants(tf: Any) -> Any:
    """A new number is another trace, and a known one is found again."""

    @tf.function
    def scaled(x: Any, factor: Any) -> Any:
        print("Tracing with", factor)
        return x * factor

    x = tf.constant(3.0)
    found = [scaled(x, 2), scaled(x, 3), scaled(x, 2), scaled(x, 4.0)]
    return found, scaled.experimental_get_tracing_count()


def a_python_loop_is_unrolled_by_a_number(tf: Any) -> Any:
    """Steps as a Python number retrace, as a tensor they do not."""

    @tf.function
    def train(steps: Any) -> Any:
        print("Tracing with", steps if isinstance(steps, int) else "a tensor")
        total = tf.constant(0)
        for k in range(3):
            total += steps * k
        return total

    found = [train(10), train(20), train(tf.constant(10)), train(tf.constant(20))]
    return found, train.experimental_get_tracing_count()


def a_list_grows_when_traced(tf: Any) -> Any:
    """What Python appends is appended by the trace alone."""
    notes = []

    @tf.function
    def noted(x: Any) -> Any:
        notes.append("called")
        return x + 1

    found = [noted(tf.constant(k)) for k in range(4)]
    return found, len(notes)


def a_counter_counts_traces(tf: Any) -> Any:
    """An attribute that Python changes."""

    class Counter:
        calls = 0

        @tf.function
        def step(self, x: Any) -> Any:
            self.calls += 1
            return x * 2 + self.calls

    counter = Counter()
    found = [counter.step(tf.constant(k)) for k in range(3)]
    return found, counter.calls


def a_number_outside_is_read_once(tf: Any) -> Any:
    """A changed number is not seen by a trace that exists, and is by a new one."""
    rate = 10.0

    def change(value: float) -> None:
        nonlocal rate
        rate = value

    @tf.function
    def scaled(x: Any) -> Any:
        return x * rate

    found = [scaled(tf.constant(1.0))]
    change(100.0)
    return [*found, scaled(tf.constant(1.0)), scaled(tf.constant([1.0, 2.0]))]


def a_dict_of_settings_is_read_once(tf: Any) -> Any:
    """The same for what is inside of a dict."""
    settings = {"rate": 2.0}

    @tf.function
    def scaled(x: Any) -> Any:
        return x * settings["rate"]

    found = [scaled(tf.constant(3.0))]
    settings["rate"] = 5.0
    return [*found, scaled(tf.constant(3.0))]


def an_array_outside_is_read_once(tf: Any) -> Any:
    """The numbers of a NumPy array are constants of the trace."""
    weights = np.array([1.0, 2.0], "float32")

    @tf.function
    def weighed(x: Any) -> Any:
        return x * weights

    found = [weighed(tf.constant([1.0, 1.0]))]
    weights[0] = 100.0
    return [*found, weighed(tf.constant([1.0, 1.0]))]


def a_variable_outside_is_read_at_each_call(tf: Any) -> Any:
    """Variables are not constants."""
    rate = tf.Variable(10.0)

    @tf.function
    def scaled(x: Any) -> Any:
        print("Tracing scaled")
        return x * rate

    found = [scaled(tf.constant(1.0))]
    rate.assign(100.0)
    return [*found, scaled(tf.constant(1.0))]


def a_variable_is_assigned_in_order(tf: Any) -> Any:
    """Reads before and after an assignment."""
    v = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        before = v * 1.0
        v.assign_add(x)
        middle = v + 0.0
        v.assign(v * 2.0)
        return before, middle, v.read_value()

    return [step(tf.constant(1.0)) for _ in range(3)], v.numpy()


def objects_are_told_by_identity(tf: Any) -> Any:
    """Another object is another trace; what it holds is read once."""

    class Setting:
        def __init__(self, rate: float) -> None:
            self.rate = rate

    @tf.function
    def scaled(setting: Any, x: Any) -> Any:
        print("Tracing scaled")
        return x * setting.rate

    a, b = Setting(2.0), Setting(3.0)
    found = [scaled(a, tf.constant(1.0)), scaled(b, tf.constant(1.0))]
    a.rate = 50.0
    return [*found, scaled(a, tf.constant(1.0))]


def signatures_with_fixed_shapes(tf: Any) -> Any:
    """An input_signature converts what it is given."""

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.float32)])
    def line(x: Any, a: Any) -> Any:
        print("Tracing line")
        return a * x + 1.0

    return (
        line(tf.constant([1.0, 2.0]), 2.0),
        line([3.0, 4.0], 5.0),
        line.experimental_get_tracing_count(),
    )


def signatures_with_unknown_lengths(tf: Any) -> Any:
    """None in a signature takes every length."""

    @tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
    def next_collatz(x: Any) -> Any:
        return tf.where(x % 2 == 0, x // 2, 3 * x + 1)

    return next_collatz(tf.constant([1, 2])), next_collatz(tf.constant([1, 2, 3, 4, 5]))


def a_signature_refuses_another_rank(tf: Any) -> Any:
    """A matrix is not a vector."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def f(x: Any) -> Any:
        return x + 1

    try:
        f(tf.constant([[1, 2], [3, 4]]))
    except (TypeError, ValueError) as error:
        return isinstance(error, (TypeError, ValueError)), f(tf.constant([1]))


def a_signature_of_a_list(tf: Any) -> Any:
    """Structures in a signature."""
    spec = [tf.TensorSpec([], tf.float32), tf.TensorSpec([2], tf.float32)]

    @tf.function(input_signature=[spec])
    def f(parts: Any) -> Any:
        print("Tracing with", len(parts))
        return parts[0] * parts[1]

    return f([tf.constant(2.0), tf.constant([1.0, 3.0])]), f(
        [tf.constant(3.0), tf.constant([1.0, 3.0])]
    )


def options_that_only_change_tracing(tf: Any) -> Any:
    """reduce_retracing, jit_compile, autograph: the values stay."""

    @tf.function(reduce_retracing=True)
    def f(x: Any) -> Any:
        return tf.reduce_sum(x * x)

    @tf.function(autograph=False)
    def g(x: Any) -> Any:
        return x + 1

    return [f(tf.ones(n)) for n in (1, 2, 3, 2)], g(tf.constant(1))


def a_concrete_function(tf: Any) -> Any:
    """It is called with tensors, and traces no more."""

    @tf.function
    def power(x: Any, exponent: Any) -> Any:
        print("Tracing power")
        return x**exponent

    cube = power.get_concrete_function(tf.TensorSpec([], tf.float32), 3)
    return cube(tf.constant(2.0)), cube(x=tf.constant(3.0)), power(tf.constant(4.0), 3)


def a_concrete_function_of_tensors(tf: Any) -> Any:
    """From examples instead of specifications."""

    @tf.function
    def product(a: Any, b: Any) -> Any:
        print("Tracing product")
        return a * b

    concrete = product.get_concrete_function(tf.constant([1.0, 2.0]), tf.constant(3.0))
    return concrete(tf.constant([5.0, 6.0]), tf.constant(2.0)), product(
        tf.constant([1.0, 1.0]), tf.constant(1.0)
    )


def a_concrete_function_with_a_signature(tf: Any) -> Any:
    """Without arguments, for the input_signature."""

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def f(x: Any) -> Any:
        return {"twice": 2 * x, "sum": tf.reduce_sum(x)}

    return f.get_concrete_function()(tf.constant([1.0, 2.0]))


def a_concrete_function_refuses_another_dtype(tf: Any) -> Any:
    """It was traced for one kind of arguments."""

    @tf.function
    def f(x: Any) -> Any:
        return x + x

    concrete = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    try:
        concrete(tf.constant(1))
    except Exception as error:  # noqa: BLE001
        return type(error).__name__ in {"InvalidArgumentError", "TypeError", "ValueError"}


def the_signatures_are_printed(tf: Any) -> Any:
    """In the order of the traces."""

    @tf.function
    def double(a: Any) -> Any:
        return a + a

    double(tf.constant(1))
    double(tf.constant([1.1, 2.2]))
    print(double.pretty_printed_concrete_signatures())


def a_variable_is_made_on_the_first_call(tf: Any) -> Any:
    """And kept."""

    class Count(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = None

        @tf.function
        def __call__(self) -> Any:
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(1)

    c = Count()
    return c(), c(), c()


def a_variable_is_made_at_each_call(tf: Any) -> Any:
    """TensorFlow refuses it."""

    @tf.function
    def f(x: Any) -> Any:
        v = tf.Variable(1.0)
        return v * x

    try:
        f(tf.constant(1.0))
    except ValueError as error:
        return "singleton" in str(error) or "created on the first call" in str(error)


def a_variable_is_made_late(tf: Any) -> Any:
    """By the second trace."""
    made = []

    @tf.function
    def f(x: Any) -> Any:
        while len(made) < x.shape[0]:
            made.append(tf.Variable(1.0))
        return made[-1] + x

    found = f(tf.constant([1.0]))
    try:
        f(tf.constant([1.0, 2.0]))
    except ValueError as error:
        return found, "created on the first call" in str(error)


def a_scope_outside_of_the_trace(tf: Any) -> Any:
    """tf.init_scope computes now."""
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        with tf.init_scope():
            v.assign_add(10.0)
        return v + x

    return f(tf.constant(1.0)), f(tf.constant(1.0)), v.numpy()


def whether_it_executes_eagerly(tf: Any) -> Any:
    """It does outside, and does not inside."""
    inside = []

    @tf.function
    def f(x: Any) -> Any:
        inside.append(tf.executing_eagerly())
        return x

    f(tf.constant(1))
    return tf.executing_eagerly(), inside


def draws_differ(tf: Any) -> Any:
    """Two draws in a call, and the draws of two calls."""
    tf.random.set_seed(1)

    @tf.function
    def f() -> Any:
        print("Tracing f")
        return tf.random.normal([4]), tf.random.normal([4])

    (a, b), (c, d), (e, _) = f(), f(), f()
    return [bool(tf.reduce_any(x != y)) for x, y in ((a, b), (a, c), (b, d), (c, e))]


def a_draw_of_python_is_a_constant(tf: Any) -> Any:
    """np.random under tf.function is drawn when traced; a tensor of it may be passed instead."""

    @tf.function
    def f(x: Any) -> Any:
        return x + 1.0

    noise = np.random.default_rng(0).normal(size=2).astype("float32")
    return f(noise) - noise


def a_seed_repeats_the_draws(tf: Any) -> Any:
    """After the same seed, a function draws the same again."""

    @tf.function
    def f() -> Any:
        return tf.random.uniform([3])

    found = []
    for _ in range(2):
        source = tf.random.Generator.from_seed(5)
        g = tf.function(lambda source=source: source.normal([2]))
        found.append((g(), g()))
    f()
    same = [bool(tf.reduce_all(a == b)) for a, b in zip(*found, strict=True)]
    return same, bool(tf.reduce_any(found[0][0] != found[0][1]))


def dropout_in_a_step(tf: Any) -> Any:
    """Masks differ between calls, and the step is traced once."""
    x = tf.ones((2, 50))
    layer = tf.keras.layers.Dropout(0.5)

    @tf.function
    def f(x: Any, training: Any) -> Any:
        print("Tracing with", training)
        return layer(x, training=training)

    a, b, c = f(x, True), f(x, True), f(x, False)
    return bool(tf.reduce_any(a != b)), c, f.experimental_get_tracing_count()


def methods_are_traced_for_each_object(tf: Any) -> Any:
    """Each with its own state."""

    class Scale(tf.Module):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = tf.Variable(factor)

        @tf.function
        def __call__(self, x: Any) -> Any:
            print("Tracing a scale")
            return self.factor * x

    a, b = Scale(2.0), Scale(3.0)
    return [m(tf.constant(k)) for m in (a, b, a) for k in (1.0, 2.0)]


def two_functions_of_one(tf: Any) -> Any:
    """Each has its own traces."""

    def plus(x: Any) -> Any:
        print("Tracing plus")
        return x + 1

    f, g = tf.function(plus), tf.function(plus)
    return f(tf.constant(1)), g(tf.constant(1)), f(tf.constant(2))


def functions_in_functions(tf: Any) -> Any:
    """The inner one is traced within the outer one."""

    @tf.function
    def inner(x: Any) -> Any:
        print("Tracing inner")
        return tf.square(x)

    @tf.function
    def outer(x: Any) -> Any:
        print("Tracing outer")
        return inner(x) + 1

    return outer(tf.constant(2.0)), outer(tf.constant(3.0))


def keywords_and_defaults(tf: Any) -> Any:
    """However they are passed, the arguments are the same."""

    @tf.function
    def f(x: Any, scale: Any = 2, flag: bool = False) -> Any:
        print("Tracing with", scale, flag)
        return x * scale + (1 if flag else 0)

    x = tf.constant(3)
    found = [f(x), f(x, 2), f(x, scale=2), f(x=x), f(x, flag=True), f(x, 2, True), f(x, scale=3)]
    return found, f.experimental_get_tracing_count()


def structures_of_arguments(tf: Any) -> Any:
    """Lists, tuples and dicts of tensors."""

    @tf.function
    def f(parts: Any) -> Any:
        print("Tracing", type(parts).__name__, len(parts))
        values = parts.values() if isinstance(parts, dict) else parts
        return tf.add_n(list(values))

    one, two = tf.constant(1.0), tf.constant(2.0)
    return f([one, two]), f([two, two]), f((one, two)), f({"a": one, "b": two}), f([one, two, two])


def structures_of_results(tf: Any) -> Any:
    """Results keep their structure; numbers become tensors."""

    @tf.function
    def f(x: Any) -> Any:
        return {"pair": (x, x + 1), "list": [2 * x], "number": 5, "none": None}

    f(tf.constant(0))
    return f(tf.constant(1))


def nothing_is_returned(tf: Any) -> Any:
    """None stays None."""
    v = tf.Variable(0.0)

    @tf.function
    def f(x: Any) -> None:
        print("Tracing f")
        v.assign_add(x)

    return f(tf.constant(1.0)), f(tf.constant(2.0)), v.numpy()


def arrays_are_tensors(tf: Any) -> Any:
    """NumPy arrays of one kind share a trace."""

    @tf.function
    def f(x: Any) -> Any:
        print("Tracing", tf.is_tensor(x))
        return x * 2

    return (
        f(np.array([1.0, 2.0], "float32")),
        f(np.array([3.0, 4.0], "float32")),
        f(tf.constant([5.0, 6.0])),
    )


def variables_as_arguments(tf: Any) -> Any:
    """They may be assigned; another one of the same kind shares the trace."""

    @tf.function
    def add(v: Any, x: Any) -> Any:
        print("Tracing add")
        v.assign_add(x)
        return v * 2.0

    a, b = tf.Variable(1.0), tf.Variable(10.0)
    return add(a, 1.0), add(b, 1.0), add(a, 1.0), a.numpy(), b.numpy()


def partial_functions(tf: Any) -> Any:
    """functools.partial."""

    def power(x: Any, n: Any) -> Any:
        print("Tracing power", n)
        return x**n

    square = tf.function(functools.partial(power, n=2))
    return square(tf.constant(3.0)), square(tf.constant(4.0))


def gradients_inside(tf: Any) -> Any:
    """A tape in a traced function."""

    @tf.function
    def slope(x: Any) -> Any:
        print("Tracing slope")
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return tape.gradient(y, x)

    return slope(tf.constant(1.0)), slope(tf.constant(2.0))


def gradients_outside(tf: Any) -> Any:
    """A tape around a traced function, in both orders."""

    @tf.function
    def f(x: Any) -> Any:
        return tf.sin(x) * x

    x = tf.constant(1.5)
    f(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        dy = tape.gradient(y, x)
    return y, dy, outer.gradient(dy, x)


def branches_on_tensors(tf: Any) -> Any:
    """if on tensors."""

    @tf.function
    def relu(x: Any) -> Any:
        if tf.reduce_sum(x) >= 100:
            return x * 0 + 100
        else:
            return x

    return (
        relu(tf.constant([1.0, 2.0])),
        relu(tf.constant([100.0, 2.0])),
        relu(tf.constant([5.0, 6.0])),
    )


def loops_on_tensors(tf: Any) -> Any:
    """while on tensors, and for on tf.range."""

    @tf.function
    def f(x: Any) -> Any:
        while tf.reduce_sum(x) > 1:
            x = x / 2
        for k in tf.range(3):
            x += tf.cast(k, tf.float32)
        return x

    return f(tf.constant([3.0, 4.0])), f(tf.constant([30.0, 4.0])), f(tf.constant([3.0, 5.0]))


def conditions_as_functions(tf: Any) -> Any:
    """tf.cond and tf.while_loop."""

    @tf.function
    def f(x: Any) -> Any:
        y = tf.cond(x > 0, lambda: x * 2, lambda: -x)
        return tf.while_loop(lambda k, s: k < 3, lambda k, s: (k + 1, s + y), (0, y))[1]

    return f(tf.constant(2)), f(tf.constant(-3)), f(tf.constant(4))


def branches_on_python_values(tf: Any) -> Any:
    """They are taken when traced."""

    @tf.function
    def f(x: Any, kind: Any) -> Any:
        if kind == "square":
            print("Tracing the square")
            return x * x
        print("Tracing the rest")
        return x

    return f(tf.constant(3), "square"), f(tf.constant(4), "square"), f(tf.constant(3), None)


def python_functions_called_each_time(tf: Any) -> Any:
    """tf.py_function and tf.numpy_function."""
    calls = []

    def log(x: Any) -> Any:
        calls.append(float(x))
        return x * 2

    @tf.function
    def f(x: Any) -> Any:
        print("Tracing f")
        y = tf.py_function(log, [x], tf.float32)
        z = tf.numpy_function(lambda v: v + np.float32(1), [x], tf.float32)
        return y + z

    return [f(tf.constant(float(k))) for k in range(3)], calls


def checks_fail_at_each_call(tf: Any) -> Any:
    """tf.debugging in a traced function."""

    @tf.function
    def f(x: Any) -> Any:
        print("Tracing f")
        tf.debugging.assert_positive(x)
        return tf.sqrt(x)

    found = [f(tf.constant(4.0))]
    try:
        f(tf.constant(-1.0))
    except tf.errors.InvalidArgumentError:
        found.append("failed")
    return [*found, f(tf.constant(9.0))]


def an_error_while_tracing(tf: Any) -> Any:
    """It is raised, and the next call is traced again."""
    broken = [True]

    @tf.function
    def f(x: Any) -> Any:
        print("Tracing f")
        if broken[0]:
            raise RuntimeError("not yet")
        return x + 1

    found = []
    for _ in range(2):
        try:
            f(tf.constant(1))
        except RuntimeError as error:
            found.append("not yet" in str(error))
    broken[0] = False
    return [*found, f(tf.constant(1)), f(tf.constant(2))]


def run_eagerly_for_a_while(tf: Any) -> Any:
    """Then what Python does happens at each call."""

    @tf.function
    def f(x: Any) -> Any:
        print("running")
        return x + 1

    tf.config.run_functions_eagerly(True)
    found = [f(tf.constant(1)), f(tf.constant(2))]
    tf.config.run_functions_eagerly(False)
    return [*found, f(tf.constant(3)), f(tf.constant(4))]


def an_iterator_of_python_is_advanced_once(tf: Any) -> Any:
    """The guide's warning about iterators."""
    source = iter([1.0, 2.0, 3.0])

    @tf.function
    def f(x: Any) -> Any:
        return x + next(source)

    return f(tf.constant(0.0)), f(tf.constant(0.0)), f(tf.constant(0.0))


def a_model_is_trained(tf: Any) -> Any:
    """A custom loop whose step is traced, with an optimizer that makes its variables first."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.5)
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    y = tf.constant([[1.0], [0.5]])

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    losses = [step(x, y) for _ in range(4)]
    return losses, [v.numpy() for v in model.trainable_variables]


def a_built_model_is_traced_once(tf: Any) -> Any:
    """If nothing is made in the first call."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    model.build((None, 2))

    @tf.function
    def f(x: Any) -> Any:
        print("Tracing f")
        return model(x)

    return f(tf.ones((3, 2))), f(2 * tf.ones((3, 2))), f.experimental_get_tracing_count()


def a_model_of_another_is_found_again(tf: Any) -> Any:
    """A function keeps the model that it was traced with: make another function for another model."""
    models = [
        tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer=kind)])
        for kind in ("ones", "zeros")
    ]
    for model in models:
        model.build((None, 2))
    current = models[0]

    def evaluate(x: Any) -> Any:
        return current(x)

    f = tf.function(evaluate)
    found = [f(tf.ones((1, 2)))]
    current = models[1]
    return [*found, f(tf.ones((1, 2))), tf.function(evaluate)(tf.ones((1, 2)))]


def a_generator_and_a_discriminator(tf: Any) -> Any:
    """A step of a GAN, with noise drawn inside, is traced once and learns."""
    tf.random.set_seed(0)
    layers = tf.keras.layers
    generator = tf.keras.Sequential([layers.Dense(4, "relu"), layers.Dense(2)])
    critic = tf.keras.Sequential([layers.Dense(4, "relu"), layers.Dropout(0.3), layers.Dense(1)])
    generator.build((None, 3)), critic.build((None, 2))
    optimizers = [tf.keras.optimizers.Adam(0.01) for _ in range(2)]
    for optimizer, model in zip(optimizers, (generator, critic), strict=True):
        optimizer.build(model.trainable_variables)
    entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    count = [0]

    @tf.function
    def step(real: Any) -> Any:
        count[0] += 1
        noise = tf.random.normal([8, 3])
        with tf.GradientTape() as one, tf.GradientTape() as other:
            fake = generator(noise, training=True)
            yes, no = critic(real, training=True), critic(fake, training=True)
            loss = entropy(tf.ones_like(no), no)
            critic_loss = entropy(tf.ones_like(yes), yes) + entropy(tf.zeros_like(no), no)
        for optimizer, model, tape, value in zip(
            optimizers, (generator, critic), (one, other), (loss, critic_loss), strict=True
        ):
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))
        return noise[0, 0], loss

    results = [step(tf.ones((8, 2))) for _ in range(6)]
    return (
        len({float(noise) for noise, _ in results}),
        count,
        all(np.isfinite(float(x)) for _, x in results),
    )


def a_variational_autoencoder(tf: Any) -> Any:
    """The reparameterization trick in a traced step."""
    mean, spread = tf.Variable([0.5, -0.5]), tf.Variable([0.1, 0.2])
    count = [0]

    @tf.function
    def step() -> Any:
        count[0] += 1
        with tf.GradientTape() as tape:
            eps = tf.random.normal([2])
            z = mean + tf.exp(spread) * eps
            loss = tf.reduce_sum(z)
        slopes = tape.gradient(loss, [mean, spread])
        return eps, slopes[0], slopes[1] - tf.exp(spread) * eps

    results = [step() for _ in range(4)]
    return (
        len({tuple(r[0].numpy().tolist()) for r in results}),
        [r[1] for r in results],
        [r[2] for r in results],
        count,
    )


def the_loss_is_printed(tf: Any) -> Any:
    """tf.print and print in one function."""
    w = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        print("Tracing step")
        with tf.GradientTape() as tape:
            loss = (w * x - 1.0) ** 2
        w.assign_sub(0.1 * tape.gradient(loss, w))
        tf.print("loss", loss)
        return loss

    return [step(tf.constant(2.0)) for _ in range(3)], w.numpy()
