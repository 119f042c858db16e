"""SEMANTICS sections 7 and 8: jacobian and batch_jacobian; their signatures of section 1."""

from __future__ import annotations

from typing import Any

from tapemagic.errors import ConsumedTapeError, NotATensorError, OptionError, ShapeError
from tests.conformance.programs import agrees, differs, logged, raises, recorded, refused, signature

# -- jacobian -------------------------------------------------------------------------------------


@agrees
def test_signatures(tf: Any) -> Any:
    """Section 1: jacobian(target, sources, ...) and batch_jacobian(target, source, ...)."""
    return [signature(tf.GradientTape.jacobian), signature(tf.GradientTape.batch_jacobian)]


@agrees
def test_shape(tf: Any) -> Any:
    """shape: target.shape + source.shape."""
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    w = tf.constant([[1.0, -1.0], [0.5, 2.0], [3.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.matmul(x * x, w)
    found = tape.jacobian(y, [x, w])
    return [[list(part.shape) for part in found], found]


@agrees
def test_structure(tf: Any) -> Any:
    """shape: per source, in sources' structure; duplicates each get theirs."""
    a, b = tf.constant([3.0, 4.0]), tf.constant([5.0, 6.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y = a * b
    structures = [a, [a], (b, a), {"b": b, "a": a}, [a, {"k": (b, [a])}], []]
    return [tape.jacobian(y, sources) for sources in structures]


@agrees
def test_scalar_source(tf: Any) -> Any:
    """shape: scalar source → target.shape."""
    x, c = tf.constant(3.0), tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * c
    return tape.jacobian(y, x)


@agrees
def test_scalar_target(tf: Any) -> Any:
    """shape: scalar target → the gradient."""
    x, z = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = tf.reduce_sum(x * x) * z
    return [tape.jacobian(y, [x, z]), tape.gradient(y, [x, z])]


@agrees
def test_intermediate_as_source(tf: Any) -> Any:
    """An intermediate as source: earlier sources still get the full Jacobian in the same call."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = x * x
        total = tf.reduce_sum(h)
        y = h * total
    return tape.jacobian(y, [x, h, total, y])


@agrees
def test_variable_as_target(tf: Any) -> Any:
    """target: exactly one tensor or Variable."""
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        v.read_value()
    return tape.jacobian(v, v)


@refused(
    NotATensorError, "jacobian takes one", "target", "list", tensorflow=raises("AttributeError")
)
def test_target_list(tf: Any) -> Any:
    """target: a list is a TypeError that says what to write (AttributeError in TensorFlow)."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.jacobian([y], x)


@refused(
    NotATensorError, "jacobian takes one", "target", "None", tensorflow=raises("AttributeError")
)
def test_target_none(tf: Any) -> Any:
    """target: None likewise."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.jacobian(None, x)


@refused(NotATensorError, "a source", "float", tensorflow=raises("AttributeError"))
def test_source_float(tf: Any) -> Any:
    """sources: a float is no source."""
    tape, _x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.jacobian(y, 3.0)


@agrees
def test_unconnected(tf: Any) -> Any:
    """unconnected: None, or zeros of the full Jacobian's shape with ZERO."""
    x = tf.constant([1.0, 2.0])
    others = [tf.constant([[1.0, 2.0, 3.0]], "float32"), tf.Variable(1.0), tf.constant(1j)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    sources = [x, *others]
    return [tape.jacobian(y, sources), tape.jacobian(y, sources, unconnected_gradients="zero")]


@refused(OptionError, "'nonsense'", "'none'", "'zero'")
def test_unconnected_unknown(tf: Any) -> Any:
    """unconnected: an unknown value is a ValueError."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([1.0, 2.0]))
    return tape.jacobian(y, x, unconnected_gradients="nonsense")


@agrees
def test_connected_but_zero(tf: Any) -> Any:
    """unconnected: what is connected by zeros is zeros, never None."""
    tape, x, y = recorded(tf, lambda x: tf.nn.relu(x) + 0.0 * x, tf.constant([-1.0, -2.0]))
    return tape.jacobian(y, x)


@agrees
def test_whole_numbers(tf: Any) -> Any:
    """int target/source: None."""
    x, n = tf.constant([1.0, 2.0]), tf.constant([3, 4])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.cast(x, "int64")
        z = x * tf.cast(n, "float64")
    return [tape.jacobian(y, x), tape.jacobian(z, n), tape.jacobian(n, n), tape.jacobian(z, [n, x])]


@agrees
def test_self(tf: Any) -> Any:
    """self: the identity."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = x * x
    return [tape.jacobian(x, x), tape.jacobian(z, z)]


@differs(tensorflow=[None, [1.0, 1.0]], tapemagic=[[[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0]])
def test_self_not_watched(tf: Any) -> Any:
    """self: also of what was never watched, as for gradient (None in TensorFlow)."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        pass
    return [tape.jacobian(x, x), tape.gradient(x, x)]


@agrees
def test_empty_target(tf: Any) -> Any:
    """empty target: shape (0,) + source.shape."""
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        empties = [x[3:] * 2.0, tf.reduce_sum(x) * x[:0]]
    found = [tape.jacobian(y, x) for y in empties]
    return [[list(part.shape) for part in found], found]


@refused(ConsumedTapeError, "one set of gradients (or jacobians)", "persistent=True")
def test_consumes(tf: Any) -> Any:
    """consumes a non-persistent tape: a gradient after a Jacobian is refused."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([1.0, 2.0]))
    tape.jacobian(y, x)
    return tape.gradient(y, x)


@refused(ConsumedTapeError, "one set of gradients (or jacobians)")
def test_consumes_twice(tf: Any) -> Any:
    """consumes a non-persistent tape: so is a second Jacobian."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([1.0, 2.0]))
    tape.jacobian(y, x)
    return tape.jacobian(y, x)


@refused(ConsumedTapeError, "one set of gradients (or jacobians)")
def test_consumed_by_gradient(tf: Any) -> Any:
    """consumes a non-persistent tape: and a Jacobian after a gradient."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([1.0, 2.0]))
    tape.gradient(y, x)
    return tape.jacobian(y, x)


@agrees
def test_failed_check_does_not_consume(tf: Any) -> Any:
    """A failed argument check does not consume a non-persistent tape."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([1.0, 2.0]))
    try:
        tape.jacobian([y], x)
    except (AttributeError, TypeError):
        return tape.jacobian(y, x)


@agrees
def test_inside_own_context(tf: Any) -> Any:
    """inside own context: works non-persistent, and ends the recording."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * x
        found = tape.jacobian(y, x)
        v = tf.Variable(1.0)
        v * v
    return [found, len(tape.watched_variables())]


@agrees
def test_inside_own_context_persistent(tf: Any) -> Any:
    """inside own context: works persistent; the result can be differentiated again."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape, logged(tf):
        tape.watch(x)
        y = x * x * x
        first = tape.jacobian(y, x)
        second = tape.jacobian(first, x)
    return [first, second, tape.jacobian(first, x), tape.gradient(second, x)]


@refused(ConsumedTapeError, "GradientTape must be created with persistent=True", "row by row")
def test_without_pfor(tf: Any) -> Any:
    """experimental_use_pfor=False: needs persistent=True."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([1.0, 2.0]))
    return tape.jacobian(y, x, experimental_use_pfor=False)


@agrees
def test_without_pfor_persistent(tf: Any) -> Any:
    """experimental_use_pfor=False: the same numbers."""
    x, w = tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = tf.reduce_sum(w * x, 1) * x
    return [tape.jacobian(y, [x, w], experimental_use_pfor=flag) for flag in (False, True)]


@agrees
def test_parallel_iterations(tf: Any) -> Any:
    """parallel_iterations: on a persistent tape it changes nothing."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([1.0, 2.0]), persistent=True)
    return tape.jacobian(y, x, parallel_iterations=2)


@differs(tensorflow=raises("ValueError"), tapemagic=[[2.0, 0.0], [0.0, 4.0]])
def test_parallel_iterations_not_persistent(tf: Any) -> Any:
    """parallel_iterations: not on any other in TensorFlow, by accident; accepted here."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([1.0, 2.0]))
    return tape.jacobian(y, x, parallel_iterations=2)


@agrees
def test_hessian(tf: Any) -> Any:
    """under an outer tape: differentiable (Hessian = outer.jacobian(inner.gradient))."""
    x, a = tf.constant([1.0, 2.0, -1.0]), tf.constant([3.0, 0.5, 2.0])
    with tf.GradientTape() as outer:
        outer.watch([x, a])
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x * x * x * a) + x[0] * x[1] * x[2]
        g = inner.gradient(y, x)
    return [g, outer.jacobian(g, [x, a])]


@agrees
def test_jacobian_of_jacobian(tf: Any) -> Any:
    """under an outer tape: the Jacobian of a Jacobian."""
    v = tf.Variable([[1.0, 2.0], [0.5, -1.0]])
    c = tf.constant([1.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(v * v * c, 1) * v[0, 0]
        first = inner.jacobian(y, v)
    return [first, outer.jacobian(first, v)]


@agrees
def test_gradient_of_jacobian(tf: Any) -> Any:
    """under an outer tape: a Jacobian as part of a loss."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        found = inner.jacobian(y, x)
        loss = tf.reduce_sum(found * found) + tf.reduce_sum(x)
    return outer.gradient(loss, x)


@agrees
def test_linear_under_outer(tf: Any) -> Any:
    """under an outer tape: the Jacobian of what is linear is a constant."""
    x, w = tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(w * x, 1)
        found = inner.jacobian(y, x)
    return [found, outer.jacobian(found, x, unconnected_gradients="zero")]


@agrees
def test_target_of_many_axes(tf: Any) -> Any:
    """target reshaped/gathered outside the block: the Jacobian does so itself, and works there."""
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reshape(x * x, [2, 1, 2])
    return tape.jacobian(y, x)


@agrees
def test_operation_outside(tf: Any) -> Any:
    """target reshaped/gathered outside the block: done by the user, it is no part of the record."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([1.0, 2.0, 3.0, 4.0]))
    return tape.jacobian(tf.reshape(y, [2, 2]), x)


@agrees
def test_several_outputs(tf: Any) -> Any:
    """One output of an operation that has several."""
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = tf.split(x * x, 2)
    return [tape.jacobian(b, [x, a, b]), tape.jacobian(a, x)]


@agrees
def test_single_precision(tf: Any) -> Any:
    """dtypes: a Jacobian has its source's dtype."""
    x, w = tf.constant([1.0, 2.0], "float32"), tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.cast(x * x, "float64") * w * w[0]
    return tape.jacobian(y, [x, w])


@agrees
def test_complex(tf: Any) -> Any:
    """Complex: each row is a gradient in TensorFlow's convention, the conjugate of the derivative."""
    z, x = tf.constant([1.0 + 2.0j, 3.0 - 1.0j]), tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([z, x])
        results = [z * z * z[0], tf.cast(x, "complex128") * z, tf.math.imag(z * z), tf.abs(z) * x]
    return [tape.jacobian(y, [z, x]) for y in results]


# -- batch_jacobian -------------------------------------------------------------------------------


@agrees
def test_batch(tf: Any) -> Any:
    """shape: [b, *target.shape[1:], *source.shape[1:]]."""
    x = tf.constant([[[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 1.0]], [[1.0, 1.0], [0.0, 3.0]]])
    w = tf.constant([[1.0, -1.0, 2.0], [0.5, 2.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.matmul(x * x, w)
    found = tape.batch_jacobian(y, x)
    return [list(found.shape), found]


@agrees
def test_batch_elementwise(tf: Any) -> Any:
    """shape: of an elementwise function, each example's diagonal."""
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        z = y * tf.reduce_sum(y, 1, keepdims=True)
    return [tape.batch_jacobian(y, v), tape.batch_jacobian(z, v), tape.batch_jacobian(z, y)]


@agrees
def test_batch_across_examples(tf: Any) -> Any:
    """definition: of functions that depend on other examples, it sums over the batch."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = [x * tf.reduce_sum(x), tf.matmul(x, x), x[::-1] * x]
    return [tape.batch_jacobian(y, x) for y in results]


@agrees
def test_batch_self(tf: Any) -> Any:
    """definition: of the source itself, an identity for each example."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.batch_jacobian(x, x)


@refused(NotATensorError, "batch_jacobian", "source", "list", tensorflow=raises("AttributeError"))
def test_batch_source_list(tf: Any) -> Any:
    """single source only: a list is a TypeError (AttributeError in TensorFlow)."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([[1.0, 2.0]]))
    return tape.batch_jacobian(y, [x])


@refused(NotATensorError, "batch_jacobian", "target", "list", tensorflow=raises("AttributeError"))
def test_batch_target_list(tf: Any) -> Any:
    """single target only: likewise."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([[1.0, 2.0]]))
    return tape.batch_jacobian([y], x)


@refused(ShapeError, "Shape (2,) must have rank at least 2", "target", "use jacobian")
def test_batch_rank_of_target(tf: Any) -> Any:
    """rank < 2 (either): ValueError, for the target."""
    tape, x, y = recorded(tf, lambda x: tf.reduce_sum(x, 1), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    return tape.batch_jacobian(y, x)


@refused(ShapeError, "Shape () must have rank at least 2", "source", "use jacobian")
def test_batch_rank_of_source(tf: Any) -> Any:
    """rank < 2 (either): ValueError, for the source."""
    x, c = tf.constant(2.0), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * c
    return tape.batch_jacobian(y, x)


@refused(ShapeError, "Need first dimension of target shape (3, 2) and source shape (2, 2) to match")
def test_batch_sizes(tf: Any) -> Any:
    """batch sizes differ: ValueError."""
    x, c = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = c * tf.reduce_sum(x, 0)
    return tape.batch_jacobian(y, x)


@agrees
def test_batch_unconnected(tf: Any) -> Any:
    """unconnected: zeros, never None, whatever unconnected_gradients."""
    x, z = tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = x * x
    return [tape.batch_jacobian(y, z, unconnected_gradients=option) for option in ("none", "zero")]


@refused(OptionError, "'nonsense'")
def test_batch_unconnected_unknown(tf: Any) -> Any:
    """unconnected: an unknown value is a ValueError nevertheless."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([[1.0, 2.0]]))
    return tape.batch_jacobian(y, x, unconnected_gradients="nonsense")


@differs(
    tensorflow=[[[[0.0, 0.0], [0.0, 0.0]]], {"int64": [[[0, 0], [0, 0]]]}],
    tapemagic=[{"float32": [[[0.0, 0.0], [0.0, 0.0]]]}, [[[0.0, 0.0], [0.0, 0.0]]]],
)
def test_batch_unconnected_dtype(tf: Any) -> Any:
    """unconnected: zeros of the source's dtype, as every Jacobian (the target's in TensorFlow)."""
    x, single = tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 2.0]], "float32")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, single])
        y = x * x
        n = tf.cast(x, "int64")
    return [tape.batch_jacobian(y, single), tape.batch_jacobian(n, x)]


@agrees
def test_batch_of_empty_examples(tf: Any) -> Any:
    """inner dim 0: [1, 0] → shape [1, 0, 0]."""
    tape, x, y = recorded(tf, lambda x: x[:, 2:] * 2.0, tf.constant([[1.0, 2.0]]), persistent=True)
    found = [tape.batch_jacobian(y, x), tape.batch_jacobian(y, y)]
    return [[list(part.shape) for part in found], found]


@differs(tensorflow=raises("ZeroDivisionError"), tapemagic=[0, 2, 2])
def test_batch_of_none(tf: Any) -> Any:
    """batch 0: an empty Jacobian (ZeroDivisionError in TensorFlow)."""
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        nobody = x[1:]
        y = nobody * nobody
    return list(tape.batch_jacobian(y, nobody).shape)


@differs(tensorflow=raises("RuntimeError"), tapemagic=[[[2.0, 0.0], [0.0, 4.0]]])
def test_batch_parallel_iterations(tf: Any) -> Any:
    """non-persistent + parallel_iterations: fails in TensorFlow by accident; accepted here."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([[1.0, 2.0]]))
    return tape.batch_jacobian(y, x, parallel_iterations=2)


@refused(ConsumedTapeError, "persistent=True", "row by row")
def test_batch_without_pfor(tf: Any) -> Any:
    """experimental_use_pfor=False non-persistent: RuntimeError."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([[1.0, 2.0]]))
    return tape.batch_jacobian(y, x, experimental_use_pfor=False)


@agrees
def test_batch_without_pfor_persistent(tf: Any) -> Any:
    """experimental_use_pfor=False: the same numbers on a persistent tape."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * tf.reduce_sum(x * x, 1, keepdims=True)
    return [tape.batch_jacobian(y, x, experimental_use_pfor=flag) for flag in (False, True)]


@refused(ConsumedTapeError, "one set of gradients (or jacobians)")
def test_batch_consumes(tf: Any) -> Any:
    """It consumes a non-persistent tape as jacobian does."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([[1.0, 2.0]]))
    tape.batch_jacobian(y, x)
    return tape.batch_jacobian(y, x)


@agrees
def test_batch_under_outer(tf: Any) -> Any:
    """Under an outer tape it is differentiable: a Hessian for each example."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x * tf.reduce_sum(x, 1, keepdims=True)
        first = inner.batch_jacobian(y, x)
    return [first, outer.batch_jacobian(first, x)]


@agrees
def test_batch_inside_own_context(tf: Any) -> Any:
    """Inside its own block it works, on a persistent tape too."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    found = []
    for persistent in (False, True):
        with tf.GradientTape(persistent=persistent) as tape, logged(tf):
            tape.watch(x)
            y = x * x * x
            found.append(tape.batch_jacobian(y, x))
    return [*found, tape.gradient(found[-1], x)]
