"""SEMANTICS section 4: gradient(), its sources and what blocks a path.

The targets are in test_targets.py, named tuples and other structures in tests/test_structures.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.errors import NoDerivativeError, NotATensorError
from tests.conformance.programs import agrees, differs, raised_by, raises, recorded, refused


@agrees
def test_result_structure(tf: Any) -> Any:
    """result structure: exactly that of sources; empty ones stay empty."""
    a, b = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y = a * a * b
    structures = [a, [a], (a,), [a, b], (b, a), {"b": b, "a": a}, [a, {"k": (b, [a])}], [], {}, ()]
    return [tape.gradient(y, sources) for sources in structures]


@refused(NotATensorError, "generator", "list")
def test_generator_as_sources(tf: Any) -> Any:
    """sources may not be a generator."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.gradient(y, (source for source in [x]))


@refused(TypeError)
def test_set_as_sources(tf: Any) -> Any:
    """sources may not be a set: tensors are unhashable."""
    x = tf.constant(3.0)
    return {x}


@agrees
def test_duplicate_sources(tf: Any) -> Any:
    """duplicate sources: each gets the full gradient."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.gradient(y, [x, x, (x,)])


@agrees
def test_intermediate_as_source(tf: Any) -> Any:
    """intermediate as source: earlier sources still get the full gradient in the same call."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = tf.sin(y)
        w = z * y
    return tape.gradient(w, [z, y, x, w])


@agrees
def test_fresh_slice_as_source(tf: Any) -> Any:
    """fresh slice as source: one made outside is a new tensor; one taken inside works."""
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        part = x[0]
        y = part * part
    return [tape.gradient(y, x[0]), tape.gradient(y, part), tape.gradient(y, x)]


@agrees
def test_unconnected(tf: Any) -> Any:
    """unconnected: None; ZERO gives zeros of the source's shape and dtype, ints too."""
    x = tf.constant(3.0)
    others = [
        tf.constant([[1.0, 2.0]], "float32"),
        tf.constant([1, 2]),
        tf.constant(1j),
        tf.Variable([1.0]),
    ]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    return [tape.gradient(y, others), tape.gradient(y, others, unconnected_gradients="zero")]


@agrees
def test_connected_but_zero(tf: Any) -> Any:
    """connected but zero: zeros, never None."""
    x = tf.constant([-3.0, -4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        products = [0.0 * x, tf.nn.relu(x), tf.zeros_like(x) * x, tf.sign(x)]
    return [tape.gradient(y, x) for y in products]


@agrees
def test_unused_output(tf: Any) -> Any:
    """unused output of a multi-output op: None as a source."""
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        used, unused = tf.split(x, 2)
        y = used * used
    return [
        tape.gradient(y, unused),
        tape.gradient(y, used),
        tape.gradient(y, x),
        tape.gradient(unused, x),
    ]


@agrees
def test_several_outputs(tf: Any) -> Any:
    """A multi-output op collects the gradients of its outputs, which may be sources too."""
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = tf.split(x, 2)
        y = a * b * b
    return tape.gradient(y, [a, b, x])


@refused(NotATensorError, "None", "a source")
def test_no_sources(tf: Any) -> Any:
    """sources None: TypeError."""
    tape, _x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.gradient(y, None)


@refused(NotATensorError, "'x'", "str")
def test_string_as_source(tf: Any) -> Any:
    """sources str: TypeError."""
    tape, _x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.gradient(y, "x")


def test_objects_as_source() -> None:
    """sources object, float, int, ndarray: TypeError that says what to write."""
    x = tm.constant(3.0)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    bad = {
        "object": object(),
        "float": 3.0,
        "int": 3,
        "ndarray": np.array([3.0]),
        "float64": np.float64(3.0),
    }
    errors = {
        name: raised_by(lambda source=source: tape.gradient(y, [x, source]))
        for name, source in bad.items()
    }

    assert all(isinstance(error, NotATensorError) for error in errors.values())
    assert all(f"of type {name}" in str(error) for name, error in errors.items())
    assert all("tapemagic.Variable(x)" in str(error) for error in errors.values())


@refused(NotATensorError, "tapemagic.Variable(x)", tensorflow=raises("AttributeError"))
def test_float_as_source(tf: Any) -> Any:
    """float as source: TypeError (AttributeError in TensorFlow)."""
    tape, _x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.gradient(y, 3.0)


@agrees
def test_whole_numbers_on_the_path(tf: Any) -> Any:
    """int/bool anywhere on the path: blocked; float→int→float cast None."""
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        through_int = tf.cast(tf.cast(x, "int64"), "float64") * 2.0
        through_bool = tf.cast(tf.greater(x, 3.5), "float64") * tf.constant(2.0)
        masked = tf.cast(tf.greater(x, 3.5), "float64") * x
    return [tape.gradient(y, x) for y in (through_int, through_bool, masked)]


@agrees
def test_whole_number_source(tf: Any) -> Any:
    """int/bool anywhere on the path: an int source has None, the float beside it its own."""
    n, x = tf.constant(3), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x])
        y = tf.cast(n, "float64") * x
    return tape.gradient(y, [n, x])


@agrees
def test_index_operand(tf: Any) -> Any:
    """int index operand does not block the float operand."""
    x, index = tf.constant([3.0, 4.0, 5.0]), tf.constant([2, 0, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[index[0]] * x[index[1]] * x[index[2]]
    return tape.gradient(y, [x, index])


@agrees
def test_cast(tf: Any) -> Any:
    """cast f32→f64: differentiable; the gradient comes back in the source's dtype."""
    x = tf.constant([3.0, 4.0], "float32")
    with tf.GradientTape() as tape:
        tape.watch(x)
        wide = tf.cast(x, "float64")
        y = wide * wide
    return tape.gradient(y, [x, wide])


def test_no_rule() -> None:
    """op without registered gradient: LookupError that names the function, already at the call."""
    unheard_of = np.frompyfunc(float, 1, 1)
    x = tm.constant([3.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
        error = raised_by(lambda: unheard_of(x))

    assert isinstance(error, NoDerivativeError)
    assert isinstance(error, LookupError)
    assert "np.frompyfunc(float, ...) has no derivative rule" in str(error)
    assert "x.numpy()" in str(error)


@agrees
def test_registered_as_not_differentiable(tf: Any) -> Any:
    """registered non-differentiable: round, floor, floordiv, ... → None; sign → zeros."""
    x = tf.constant([1.3, 2.7])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = [
            tf.round(x),
            tf.floor(x),
            tf.math.ceil(x),
            x // 2.0,
            tf.cast(x, "int64"),
            tf.sign(x),
        ]
    return [tape.gradient(y, x) for y in results]


@refused(NotATensorError, "no derivative", "argmax", tensorflow=[None, None])
def test_comparisons_are_plain(tf: Any) -> Any:
    """registered non-differentiable: comparisons, argmax give plain arrays, no targets."""
    x = tf.constant([1.3, 2.7])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = [x > 2.0, tf.argmax(x)]
    return [tape.gradient(y, x) for y in results]


@differs(tensorflow=[{"int64": 1}, None], tapemagic=[None, None])
def test_whole_number_target_is_source(tf: Any) -> Any:
    """target is a source, int x: whole numbers have no gradient (int ones in TensorFlow)."""
    n = tf.constant(3)
    with tf.GradientTape(persistent=True) as tape:
        m = n * n
    return [tape.gradient(n, n), tape.gradient(m, n)]
