"""SEMANTICS section 11: custom_gradient, stop_gradient, recompute_grad, grad_pass_through."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.errors import CustomGradientError, VariablesKeywordError
from tests.conformance.programs import agrees, differs, raises, recorded, refused

# -- custom_gradient ------------------------------------------------------------------------------


@agrees
def test_custom(tf: Any) -> Any:
    """custom_gradient: f(*args) -> (y, grad_fn); a single gradient need not be a list."""

    @tf.custom_gradient
    def log1pexp(x: Any) -> Any:
        e = tf.exp(x)
        return tf.math.log(1.0 + e), lambda upstream: upstream * (1.0 - 1.0 / (1.0 + e))

    x = tf.constant([1.0, 100.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = log1pexp(x)
        z = 3.0 * y
    return [y, tape.gradient(z, x)]


@agrees
def test_gradients_as_structures(tf: Any) -> Any:
    """custom_gradient: several gradients may be a tuple or a list, with None among them."""
    x, y = tf.constant(2.0), tf.constant(3.0)
    results = []
    for answer in (
        lambda u: (10.0 * u, 20.0 * u),
        lambda u: [10.0 * u, None],
        lambda _: (None,) * 2,
    ):
        function = tf.custom_gradient(lambda x, y, answer=answer: (x * y, answer))
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = function(x, y)
        results.append(tape.gradient(z, [x, y]))
    return results


@agrees
def test_arguments_as_structures(tf: Any) -> Any:
    """custom_gradient: one gradient per flattened arg."""

    @tf.custom_gradient
    def function(a: Any, pair: Any) -> Any:
        return a * pair[0] * pair[1], lambda u: (u, 10.0 * u, 100.0 * u)

    a, b, c = tf.constant(2.0), tf.constant(3.0), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b, c])
        y = function(a, (b, c))
    return tape.gradient(y, [a, b, c])


@agrees
def test_results_as_structures(tf: Any) -> Any:
    """custom_gradient: the result has the structure that the function returned."""

    @tf.custom_gradient
    def function(x: Any) -> Any:
        return {"b": x, "a": [x * x, (2.0 * x,)]}, lambda *us: sum(us)

    tape, x, y = recorded(tf, function, tf.constant(3.0), persistent=True)
    return [y, tape.gradient(y, x), tape.gradient(y["a"][1][0], x)]


@agrees
def test_dict_results_by_sorted_keys(tf: Any) -> Any:
    """grad_fn gets the upstreams of a dict in the order of its sorted keys."""
    function = tf.custom_gradient(
        lambda x: ({"b": x * x, "a": [x * 3.0]}, lambda p, q: p * 10.0 + q)
    )
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = function(x)
        y = result["b"] * 5.0 + result["a"][0] * 7.0
    return [list(result), tape.gradient(y, x)]


@agrees
def test_dict_arguments_by_sorted_keys(tf: Any) -> Any:
    """grad_fn gives the gradients of a dict in the order of its sorted keys."""
    function = tf.custom_gradient(lambda d: (d["a"] * d["b"], lambda u: (u, u * 10.0)))
    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = function({"b": b, "a": a})
    return tape.gradient(y, {"b": b, "a": a})


@agrees
def test_dict_gradients_by_sorted_keys(tf: Any) -> Any:
    """A dict that grad_fn returns is read in the order of its sorted keys."""
    function = tf.custom_gradient(lambda a, b: (a * b, lambda u: {"z": u * 1.0, "y": u * 10.0}))
    tape, a, b, y = recorded(tf, function, tf.constant(2.0), tf.constant(3.0))
    return tape.gradient(y, [a, b])


@agrees
def test_upstreams(tf: Any) -> Any:
    """custom_gradient: grad_fn gets one upstream per flattened output, zeros for unused outputs."""
    seen = []

    @tf.custom_gradient
    def function(x: Any) -> Any:
        def grad(u: Any, w: Any) -> Any:
            seen.append([u, w])
            return tf.reduce_sum(u) * 10.0 + w * 100.0

        return (tf.constant([1.0, 2.0]) * x, x * x), grad

    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        vector, scalar = function(x)
        y = 2.0 * scalar
    found = [tape.gradient(y, x), tape.gradient(vector, x), tape.gradient([vector, y], x)]
    return [found, seen]


@agrees
def test_inner_operations(tf: Any) -> Any:
    """custom_gradient: inner ops are not double counted, nor the function that returns its input."""
    x = tf.constant(3.0)
    results = []
    for function in (lambda x: (x * x, lambda _: 0.0 * x), lambda x: (x, lambda u: 7.0 * u)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.custom_gradient(function)(x)
            z = y * y
        results.append(tape.gradient(z, x))
    return results


@refused(CustomGradientError, "expected to return 2 gradients, but returned 1 instead", "function")
def test_too_few_gradients(tf: Any) -> Any:
    """wrong number of grads: ValueError at gradient time."""

    @tf.custom_gradient
    def function(x: Any, y: Any) -> Any:
        return x * y, lambda u: u

    tape, x, _y, z = recorded(tf, function, tf.constant(2.0), tf.constant(3.0))
    return tape.gradient(z, x)


@refused(CustomGradientError, "expected to return 1 gradients, but returned 2 instead")
def test_too_many_gradients(tf: Any) -> Any:
    """wrong number of grads: also if there are too many."""
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.custom_gradient(lambda x: (x * x, lambda u: (u, u)))(x)
    return tape.gradient(y, x)


@agrees
def test_variables(tf: Any) -> Any:
    """variables read inside, not passed as args: grad_fn returns (grads, [var grads])."""
    v = tf.Variable(5.0)

    @tf.custom_gradient
    def function(x: Any, y: Any) -> Any:
        def grad(u: Any, variables: Any = None) -> Any:
            return (u * 10.0, u * 20.0), [u * 100.0 * variables[0]]

        return x * y * v, grad

    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = function(x, y) * 2.0
    return tape.gradient(z, [x, y, v])


@agrees
def test_variables_by_any_keyword(tf: Any) -> Any:
    """variables read inside: `**kwargs` takes them, and so does a keyword-only argument."""
    v, x = tf.Variable(5.0), tf.constant(2.0)

    def by_mapping(u: Any, **others: Any) -> Any:
        return u, [u * float(len(others["variables"]))]

    def by_keyword(u: Any, *, variables: Any) -> Any:
        return u, [u * 10.0 * float(len(variables))]

    results = []
    for grad in (by_mapping, by_keyword):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.custom_gradient(lambda x, grad=grad: (x * v, grad))(x)
        results.append(tape.gradient(y, [x, v]))
    return results


@refused(
    VariablesKeywordError, "grad_fn must accept keyword argument 'variables'", "'weight", "def"
)
def test_variables_unexpected(tf: Any) -> Any:
    """variables read inside: otherwise TypeError at call time."""
    v = tf.Variable(5.0, name="weight")
    return tf.custom_gradient(lambda x: (x * v, lambda u: u))(tf.constant(2.0))


@refused(CustomGradientError, "1 gradients for 2 variables")
def test_variables_too_few_gradients(tf: Any) -> Any:
    """variables read inside: one gradient for each of them."""
    v, w = tf.Variable(5.0), tf.Variable(6.0)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.custom_gradient(lambda x: (x * v * w, lambda u, variables: (u, [u])))(x)  # noqa: ARG005
    return tape.gradient(y, [x, v])


@agrees
def test_variables_not_trainable(tf: Any) -> Any:
    """variables read inside: one that is not trainable does not count."""
    v, x = tf.Variable(5.0, trainable=False), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.custom_gradient(lambda x: (x * v, lambda u: u * 10.0))(x)
    return tape.gradient(y, [x, v])


@agrees
def test_variable_as_argument(tf: Any) -> Any:
    """Variable passed as arg: differentiated as an arg."""
    v = tf.Variable([5.0, 6.0])
    with tf.GradientTape() as tape:
        y = tf.custom_gradient(lambda v: (v * v, lambda u: u * 10.0))(v)
    return tape.gradient(y, v)


@refused(CustomGradientError, "b=...", "by keyword", "by position", tensorflow=30.0)
def test_keyword(tf: Any) -> Any:
    """kwargs: a tensor by keyword is refused; its gradient would be lost in silence."""

    @tf.custom_gradient
    def function(a: Any, b: Any = None) -> Any:
        return a * b, lambda u: u * b * 10.0

    tape, x, y = recorded(tf, lambda x: function(x, b=x * 1.0), tf.constant(3.0))
    return tape.gradient(y, x)


@refused(CustomGradientError, "a=...", "by keyword", tensorflow=6.0)
def test_keywords_only(tf: Any) -> Any:
    """kwargs: so is a call without positions, which in TensorFlow ignores grad_fn (#65839)."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.custom_gradient(lambda a: (a * a, lambda u: u * 1000.0))(a=x)
    return tape.gradient(y, x)


@agrees
def test_keyword_option(tf: Any) -> Any:
    """kwargs: what is no tensor may be given by keyword."""

    @tf.custom_gradient
    def function(a: Any, power: int = 1) -> Any:
        return a**power, lambda u: u * 10.0 * power

    tape, x, y = recorded(tf, lambda x: function(x, power=2), tf.constant(3.0))
    return [y, tape.gradient(y, x)]


@refused(CustomGradientError, "shape (3,)", "argument 0", "shape (2,)", tensorflow=[1.0, 1.0, 1.0])
def test_shape_of_gradient(tf: Any) -> Any:
    """wrong-shape grad: refused (returned as is in TensorFlow)."""
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.custom_gradient(lambda x: (x * x, lambda _: tf.constant([1.0, 1.0, 1.0])))(x)
    return tape.gradient(y, x)


@agrees
def test_gradient_is_a_number(tf: Any) -> Any:
    """non-tensor grad: a Python float is taken for what it is."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.custom_gradient(lambda x: (x * x, lambda _: 5.0))(x)
    return tape.gradient(y, x)


@refused(CustomGradientError, "'no'", "str", "is no gradient", tensorflow="no")
def test_gradient_is_no_number(tf: Any) -> Any:
    """non-tensor grad: what is no number is refused."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.custom_gradient(lambda x: (x * x, lambda _: "no"))(x)
    return tape.gradient(y, x)


@refused(
    CustomGradientError, "must return a pair", "return y, grad", tensorflow=raises("TypeError")
)
def test_no_pair(tf: Any) -> Any:
    """custom_gradient: a function that returns no pair is told so."""
    return tf.custom_gradient(lambda x: x * x)(tf.constant(3.0))


@agrees
def test_second_order(tf: Any) -> Any:
    """second order: differentiates through the ops of grad_fn."""

    @tf.custom_gradient
    def function(x: Any) -> Any:
        return x * x * x, lambda u: u * tf.sin(x) * 10.0

    x = tf.constant(0.5)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = function(x) * function(x)
            g = first.gradient(y, x)
        gg = second.gradient(g, x)
    return [y, g, gg, third.gradient(gg, x)]


@agrees
def test_second_order_in_the_upstream(tf: Any) -> Any:
    """second order: also in the upstream gradient."""
    x, w = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch([x, w])
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.custom_gradient(lambda x: (x * x, lambda u: u * u * x))(x)
        g = inner.gradient(y, x, output_gradients=w)
    return [g, outer.gradient(g, [x, w])]


@agrees
def test_override_second_order(tf: Any) -> Any:
    """second order: the nested custom_gradient pattern overrides it."""

    @tf.custom_gradient
    def function(x: Any) -> Any:
        def first_order(upstream: Any) -> Any:
            @tf.custom_gradient
            def derivative(x: Any) -> Any:
                return x**2 * 3.0 * upstream, lambda u: u * tf.constant(2.71)

            return derivative(x)

        return x * x * x, first_order

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        g = inner.gradient(y, x)
    return [y, g, outer.gradient(g, x)]


@agrees
def test_override_second_order_with_upstream(tf: Any) -> Any:
    """second order: the pattern of the docs, where the upstream is an argument."""

    @tf.custom_gradient
    def function(x: Any) -> Any:
        def first_order(upstream: Any) -> Any:
            @tf.custom_gradient
            def derivative(upstream: Any, x: Any) -> Any:
                return upstream * 3.0 * x**2, lambda u: (u * 3.0 * x**2, u * upstream * 100.0 * x)

            return derivative(upstream, x)

        return x * x * x, first_order

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x) ** 2
        g = inner.gradient(y, x)
    return [g, outer.gradient(g, x)]


@agrees
def test_numpy_forward(tf: Any) -> Any:
    """numpy forward (`.numpy()` inside f): works."""

    @tf.custom_gradient
    def function(x: Any) -> Any:
        value = x.numpy()
        return tf.constant(np.sinh(value)), lambda u: u * tf.constant(np.cosh(value))

    tape, x, y = recorded(tf, lambda x: function(x * 2.0), tf.constant([0.5, 1.0]))
    return [y, tape.gradient(y, x)]


@agrees
def test_decorators(tf: Any) -> Any:
    """usable as @custom_gradient or @custom_gradient(); name and docstring are the function's."""

    @tf.custom_gradient
    def bare(x: Any) -> Any:
        """Bare."""
        return x * x, lambda u: u * 10.0

    @tf.custom_gradient()
    def called(x: Any) -> Any:
        """Called."""
        return x * x, lambda u: u * 100.0

    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = [bare(x), called(x)]
    names = [bare.__name__, bare.__doc__, called.__name__, called.__doc__]
    return [names, [tape.gradient(y, x) for y in results]]


@agrees
def test_methods(tf: Any) -> Any:
    """usable on methods: of instances, of classes and static; self is no argument."""

    class Scale:
        factor = 3.0

        @tf.custom_gradient
        def bare(self, x: Any) -> Any:
            return self.factor * x, lambda u: u * 10.0

        @tf.custom_gradient()
        def called(self, x: Any, y: Any) -> Any:
            return self.factor * x * y, lambda u: (u * 20.0, u * 30.0)

        @classmethod
        @tf.custom_gradient
        def of_class(cls, x: Any) -> Any:
            return cls.factor * x, lambda u: u * 40.0

        @staticmethod
        @tf.custom_gradient
        def static(x: Any) -> Any:
            return x * x, lambda u: u * 50.0

    x = tf.constant(2.0)
    scale = Scale()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = [scale.bare(x), scale.called(x, 1.0), scale.of_class(x), scale.static(x)]
        results += [Scale.of_class(x), Scale.static(x)]
    return [results, [tape.gradient(y, x) for y in results]]


@agrees
def test_whole_number_outputs(tf: Any) -> Any:
    """outputs that are ints come back as they are; their upstream is zero."""
    seen = []

    @tf.custom_gradient
    def function(x: Any) -> Any:
        def grad(u: Any, w: Any) -> Any:
            seen.append([u, tf.cast(w, "float64")])
            return u * 10.0

        return (x * x, tf.constant([3, 4])), grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, n = function(x)
        z = y * tf.cast(n[0], "float64")
    return [n, tape.gradient(z, [x, n]), seen]


@agrees
def test_whole_number_argument(tf: Any) -> Any:
    """an int among the args has its place among the gradients, and none of its own."""
    x, n = tf.constant(3.0), tf.constant(2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.custom_gradient(lambda x, n: (x**2, lambda u: (u * 10.0, None)))(x, n)  # noqa: ARG005
    return tape.gradient(y, [x, n])


@agrees
def test_complex(tf: Any) -> Any:
    """Complex: upstream and gradients are in TensorFlow's convention."""
    z = tf.constant(1.0 + 2.0j)
    seen = []

    def square(z: Any) -> Any:
        def grad(u: Any) -> Any:
            seen.append(u)
            return u * tf.math.conj(2.0 * z)

        return z * z, grad

    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.custom_gradient(square)(z) * (3.0 + 1.0j)
    return [tape.gradient(y, z), seen]


@refused(
    CustomGradientError,
    "a complex128 gradient for argument 0, but argument and result are float64",
    "np.real(...)",
    tensorflow={"complex128": {"real": 1.0, "imag": 1.0}},
)
def test_complex_gradient_of_real(tf: Any) -> Any:
    """wrong-dtype grad: complex where all is real is refused (TensorFlow gives it back)."""
    function = tf.custom_gradient(lambda x: (x * x, lambda _: tf.literal(np.complex128(1 + 1j))))
    tape, x, y = recorded(tf, function, tf.constant(2.0))
    return tape.gradient(y, x)


@agrees
def test_without_a_tape(tf: Any) -> Any:
    """Without a tape the function gives its result."""
    return tf.custom_gradient(lambda x: (x * x, lambda u: u))(tf.constant(3.0))


@agrees
def test_jacobian(tf: Any) -> Any:
    """A Jacobian asks grad_fn for each row."""
    x, w = tf.constant([1.0, 2.0, 3.0]), tf.constant([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(w * tf.custom_gradient(lambda x: (x * x, lambda u: u * 10.0))(x), 1)
    return tape.jacobian(y, x)


# -- stop_gradient --------------------------------------------------------------------------------


@agrees
def test_stop(tf: Any) -> Any:
    """stop_gradient: identity with None gradient; partial products keep the other factor."""
    x, v = tf.constant(3.0), tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        stopped = tf.stop_gradient(x * x)
        partial = x * tf.stop_gradient(x)
        weights = tf.stop_gradient(v) * v
    return [
        stopped,
        tape.gradient(stopped, x),
        tape.gradient(partial, x),
        tape.gradient(weights, v),
        tape.jacobian(stopped, x),
        tape.gradient(stopped, x, unconnected_gradients="zero"),
    ]


@agrees
def test_stop_as_source(tf: Any) -> Any:
    """stop_gradient: the result is a constant, and no source."""
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        stopped = tf.stop_gradient(x * x)
        y = stopped * x
        alone = stopped * 2.0
    return [
        *(tape.gradient(y, [x, stopped]), tape.jacobian(y, stopped)),
        *(tape.gradient(alone, [x, stopped]), tape.gradient(stopped, stopped)),
    ]


@agrees
def test_stop_and_watch(tf: Any) -> Any:
    """stop_gradient: the result may be watched."""
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        stopped = tf.stop_gradient(x * x)
        tape.watch(stopped)
        y = stopped * x
        z = stopped * stopped
    return [
        *(tape.gradient(y, [x, stopped]), tape.jacobian(y, [stopped, x])),
        *(tape.gradient(z, [x, stopped]), tape.gradient([y, z], stopped)),
    ]


@agrees
def test_stop_second_order(tf: Any) -> Any:
    """stop_gradient: of a first derivative leaves no second one."""
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * tf.stop_gradient(x)
        g = inner.gradient(y, x)
        h = tf.stop_gradient(g) * x
    return [g, outer.gradient(g, x), outer.gradient(h, x)]


@agrees
def test_stop_of_anything(tf: Any) -> Any:
    """stop_gradient: of whole numbers and plain arrays, a tensor."""
    return [tf.stop_gradient(tf.constant([1, 2])), tf.stop_gradient(np.array([1.0, 2.0]))]


@differs(tensorflow=False, tapemagic=True)
def test_stop_of_structure(tf: Any) -> Any:
    """stop_gradient: of a list, a list (TensorFlow stacks it to a tensor)."""
    return isinstance(tf.stop_gradient([tf.constant(1.0), tf.constant(2.0)]), list)


# -- recompute_grad -------------------------------------------------------------------------------


@agrees
def test_recompute(tf: Any) -> Any:
    """recompute_grad: forward once, re-run once during backward (2 calls)."""
    calls = []

    @tf.recompute_grad
    def function(x: Any, y: Any) -> Any:
        calls.append(1)
        return tf.sin(x) * y

    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = function(x, y) * 2.0
    before = len(calls)
    found = tape.gradient(z, [x, y])
    return [z, before, found, len(calls)]


@agrees
def test_recompute_variables(tf: Any) -> Any:
    """recompute_grad: gradients reach args and captured variables."""
    v, w, x = tf.Variable([1.0, 2.0]), tf.Variable(3.0), tf.constant([0.5, 1.0])
    function = tf.recompute_grad(lambda x: tf.sin(x * v) * w)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(function(x))
    return tape.gradient(y, [x, v, w])


@agrees
def test_recompute_variable_as_argument(tf: Any) -> Any:
    """recompute_grad: a Variable as arg."""
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.recompute_grad(lambda v: v * v * v)(v)
    return tape.gradient(y, v)


@agrees
def test_recompute_second_order(tf: Any) -> Any:
    """recompute_grad: second order works, through arguments."""
    x = tf.constant([0.5, 2.0])
    function = tf.recompute_grad(lambda x: tf.sin(x) * x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        g = inner.gradient(y, x)
    return [g, outer.gradient(g, x)]


@differs(
    tensorflow=raises("NotImplementedError"), tapemagic=[54.0, 6.0, [270.0, 36.0], [36.0, 2.0]]
)
def test_recompute_second_order_everywhere(tf: Any) -> Any:
    """recompute_grad: and where upstream and variables depend on them (refused in TensorFlow)."""
    x, v = tf.constant(1.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.recompute_grad(lambda x: x * x * x * v)(x) ** 2
        gx, gv = inner.gradient(y, [x, v])
    return [gx, gv, outer.gradient(gx, [x, v]), outer.gradient(gv, [x, v])]


@agrees
def test_recompute_same_argument_twice(tf: Any) -> Any:
    """recompute_grad: the same tensor given twice counts once for each place."""
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(lambda a, b: a * b * b)(x, x)
    return tape.gradient(y, x)


@agrees
def test_recompute_dependent_arguments(tf: Any) -> Any:
    """recompute_grad: one argument may have been computed from another."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = x * x
        y = tf.recompute_grad(lambda a, b: a * b)(x, h)
    return tape.gradient(y, [x, h])


@agrees
def test_recompute_structures(tf: Any) -> Any:
    """recompute_grad: args and results may be structures."""
    a, b = tf.constant(3.0), tf.constant(4.0)
    function = tf.recompute_grad(lambda pair, c: {"y": pair[0] * pair[1], "z": [c * c]})
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        result = function([a, b], a)
    return [result, tape.gradient(result, [a, b]), tape.gradient(result["z"], [a, b])]


@agrees
def test_recompute_unconnected(tf: Any) -> Any:
    """recompute_grad: what does not depend on an argument has zeros for it."""
    x, y = tf.constant(3.0), tf.constant([4.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.recompute_grad(lambda x, y: x * 2.0)(x, y)  # noqa: ARG005
    return tape.gradient(z, [x, y])


@agrees
def test_recompute_whole_numbers(tf: Any) -> Any:
    """recompute_grad: whole numbers among the args are constants."""
    x, n = tf.constant([3.0, 4.0]), tf.constant([1, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(lambda x, n: x * tf.cast(n, "float64"))(x, n)
    return tape.gradient(y, [x, n])


@differs(tensorflow=3.0, tapemagic=6.0)
def test_recompute_keyword(tf: Any) -> Any:
    """recompute_grad: a tensor by keyword counts (it is lost in TensorFlow)."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(lambda a, b: a * b)(x, b=x * 1.0)
    return tape.gradient(y, x)


@differs(tensorflow=50.0, tapemagic=30.0)
def test_recompute_after_assign(tf: Any) -> Any:
    """recompute_grad: it computes with the values of then (of now in TensorFlow)."""
    v, x = tf.Variable(3.0), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(lambda x: x * x * v)(x)
        v.assign(5.0)
    return tape.gradient(y, x)


@agrees
def test_recompute_keeps_assigned(tf: Any) -> Any:
    """recompute_grad: what was assigned meanwhile is there afterwards."""
    v, x = tf.Variable(3.0), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(lambda x: x * v)(x)
    v.assign(7.0)
    tape.gradient(y, x)
    return v.read_value()


@agrees
def test_recompute_wraps(tf: Any) -> Any:
    """recompute_grad: `__wrapped__` is the function; without a tape it just computes."""

    def function(x: Any) -> Any:
        """Double."""
        return 2.0 * x

    recomputed = tf.recompute_grad(function)
    return [recomputed.__wrapped__ is function, recomputed.__doc__, recomputed(tf.constant(3.0))]


# -- grad_pass_through ----------------------------------------------------------------------------


@agrees
def test_pass_through(tf: Any) -> Any:
    """grad_pass_through(f): forward f, backward identity; works with round."""
    x = tf.constant([1.3, 2.7])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.round)(x * 2.0) * 10.0
    return [y, tape.gradient(y, x)]


@agrees
def test_pass_through_assign(tf: Any) -> Any:
    """grad_pass_through(f): works with v.assign."""
    v, z = tf.Variable(1.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(v.assign)(z * z)
    return [y, v.read_value(), tape.gradient(y, [z, v])]


@agrees
def test_pass_through_variables(tf: Any) -> Any:
    """grad_pass_through(f): variables inside get no gradient."""
    v, x = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(lambda x: x * v)(x)
    return [y, tape.gradient(y, [x, v])]


@agrees
def test_pass_through_several(tf: Any) -> Any:
    """grad_pass_through(f): several arguments, several results of their shapes."""
    x, y = tf.constant(3.4), tf.constant([1.2, 2.2])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        a, b = tf.grad_pass_through(lambda x, y: (tf.round(x), tf.round(y)))(x, y)
        z = a * b
    return [z, tape.gradient(z, [x, y])]


@agrees
def test_pass_through_keyword(tf: Any) -> Any:
    """grad_pass_through(f): options may be given by keyword."""
    x = tf.constant(3.4)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(lambda x, factor: tf.round(x) * factor)(x, factor=2.0)
    return [y, tape.gradient(y, x)]


@refused(CustomGradientError, "expected to return 2 gradients, but returned 1 instead")
def test_pass_through_of_one_for_two(tf: Any) -> Any:
    """grad_pass_through(f): there is no identity between two arguments and one result."""
    x, y = tf.constant(3.4), tf.constant(1.2)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.grad_pass_through(lambda x, y: tf.round(x * y))(x, y)
    return tape.gradient(z, [x, y])


@refused(CustomGradientError, "shape ()", "argument 0", "shape (2,)", tensorflow=1.0)
def test_pass_through_of_another_shape(tf: Any) -> Any:
    """grad_pass_through(f): nor between different shapes (TensorFlow gives one of the result's)."""
    x = tf.constant([3.4, 1.2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.reduce_sum)(x)
    return tape.gradient(y, x)
