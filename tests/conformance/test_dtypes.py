"""SEMANTICS section 10: dtypes and complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.programs import agrees, differs, raises, recorded, refused


@differs(
    tensorflow=["float32", "int32", "complex128", "bool"],
    tapemagic=["float64", "int64", "complex128", "bool"],
)
def test_defaults(tf: Any) -> Any:
    """default float32/int32 from python literals: float64 and int64 here, NumPy's own."""
    return [tf.literal(value).dtype.name for value in (1.0, 1, 1j, True)]


@agrees
def test_arrays_keep_their_dtype(tf: Any) -> Any:
    """ndarray dtype kept (float64 stays)."""
    kinds = [
        "float16", "float32", "float64", "int8", "int32", "int64", "complex64", "complex128", "bool",
    ]  # fmt: skip
    return [tf.literal(np.ones(1, kind)).dtype.name for kind in kinds]


@differs(tensorflow=raises("InvalidArgumentError"), tapemagic=[{"float32": [9.0]}, [4.0]])
def test_mixed_tensors(tf: Any) -> Any:
    """mixing two tensor dtypes: NumPy's promotion (InvalidArgumentError in TensorFlow)."""
    a, b = tf.constant([2.0], "float32"), tf.constant([3.0], "float64")
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a * b * b + b - b
    ga, gb = tape.gradient(y, [a, b])
    return [ga, gb - 8.0]


@agrees
def test_python_scalars(tf: Any) -> Any:
    """python scalars adopt the tensor's dtype."""
    x = tf.constant([1.0, 2.0], "float32")
    return [x * 2.0, 2 * x, x + 1, x / 2, x**2, x - 0.5]


@differs(
    tensorflow=[{"float32": [3.0]}, {"float32": [3.0]}, {"float32": [3.0]}],
    tapemagic=[[3.0], [3.0], {"float32": [3.0]}],
)
def test_numpy_scalars(tf: Any) -> Any:
    """NumPy scalars and ndarrays promote by NEP 50 (TensorFlow: adopt the tensor's dtype)."""
    x = tf.constant([1.0], "float32")
    return [x * np.float64(3), x * np.array([3.0]), x * np.float32(3)]


@agrees
def test_division_of_whole_numbers(tf: Any) -> Any:
    """int/int → float64."""
    return [tf.constant([7, -7]) / tf.constant([2, 2]), tf.constant(7) / 2]


@agrees
def test_floor_semantics(tf: Any) -> Any:
    """int //, % floor semantics."""
    a, b = tf.constant([7, -7, 7, -7]), tf.constant([2, 2, -2, -2])
    results = [a // b, a % b]
    return [np.asarray(result) for result in results]


@refused(ValueError, "negative", tensorflow=raises("InvalidArgumentError"))
def test_negative_power_of_whole_numbers(tf: Any) -> Any:
    """int ** negative → error."""
    return tf.constant([2, 3]) ** tf.constant([-1, 1])


@agrees
def test_gradients_keep_the_dtype(tf: Any) -> Any:
    """float16/32/64 gradients keep the source dtype."""
    results = []
    for kind in ("float16", "float32", "float64"):
        x, v = tf.constant([1.0, 2.0], kind), tf.Variable(3.0, dtype=kind)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x * v) / 2.0
        results.append(tape.gradient(y, [x, v]))
    return results


@agrees
def test_complex(tf: Any) -> Any:
    """Complex: the conjugate of the holomorphic derivative (z*z → 2 conj(z))."""
    z = tf.constant(1.0 + 2.0j)
    functions = [
        lambda: z * z,
        lambda: z * z * z,
        lambda: tf.exp(z),
        lambda: tf.sin(z),
        lambda: 1.0 / z,
        lambda: z - 3j,
    ]
    results = []
    for function in functions:
        with tf.GradientTape() as tape:
            tape.watch(z)
            y = function()
        results.append(tape.gradient(y, z))
    return results


@agrees
def test_complex_to_real(tf: Any) -> Any:
    """Complex: |z|² → 2z, real → 1, imag → 1j, |z| → z/|z|, conj → 1."""
    z = tf.constant([1.0 + 2.0j, -3.0 + 4.0j])
    functions = [
        lambda: tf.square(tf.abs(z)),
        lambda: tf.math.real(z),
        lambda: tf.math.imag(z),
        lambda: tf.abs(z),
        lambda: tf.math.conj(z),
        lambda: tf.math.real(z * tf.math.conj(z)),
    ]
    results = []
    for function in functions:
        with tf.GradientTape() as tape:
            tape.watch(z)
            y = function()
        results.append(tape.gradient(y, z))
    return results


@agrees
def test_complex_from_real(tf: Any) -> Any:
    """Complex: a real source of a complex calculation gets a real gradient."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.cast(x, "complex128") * tf.constant([1.0 + 1.0j, 2.0 - 1.0j])
        y = tf.square(tf.math.real(z)) + tf.math.imag(z * z)
    return tape.gradient(y, x)


@agrees
def test_complex_output_gradients(tf: Any) -> Any:
    """Complex: output_gradients weigh a complex target."""
    tape, z, y = recorded(tf, lambda z: z * z, tf.constant([1.0 + 2.0j, -3.0 + 4.0j]))
    return tape.gradient(y, z, output_gradients=tf.constant([2.0 + 1.0j, 1j]))


@agrees
def test_complex_second_order(tf: Any) -> Any:
    """Complex: second order follows the same convention."""
    z = tf.constant(1.0 + 2.0j)
    with tf.GradientTape() as outer:
        outer.watch(z)
        with tf.GradientTape() as inner:
            inner.watch(z)
            y = z * z * z
        g = inner.gradient(y, z)
    return [g, outer.gradient(g, z)]
