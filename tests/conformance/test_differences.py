"""SEMANTICS section 0: where tapemagic differs on purpose; section 15's rows that belong to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.programs import agrees, differs, recorded


@differs(tensorflow=["nan", "nan"], tapemagic=[0.0, 0.0])
def test_std_of_equal_values(tf: Any) -> Any:
    """std of equal values: 0 (NaN in TensorFlow)."""
    tape, x, y = recorded(tf, tf.math.reduce_std, tf.constant([1.0, 1.0]))
    return tape.gradient(y, x)


@differs(tensorflow=["nan", 0.0], tapemagic=[0.0, 0.0])
def test_zero_to_the_zero(tf: Any) -> Any:
    """x**0 at 0: 0 (NaN in TensorFlow)."""
    tape, x, y, z = recorded(tf, lambda x, y: x**y, tf.constant(0.0), tf.constant(0.0))
    return tape.gradient(z, [x, y])


@differs(tensorflow=[["nan", 0.5], ["nan", 1.0]], tapemagic=[[0.0, 0.5], [0.0, 1.0]])
def test_what_a_selection_leaves_out(tf: Any) -> Any:
    """where(x>0, log x, 0) at 0, and log(x)[1:]: 0 for what isn't selected (NaN in TensorFlow)."""
    x = tf.constant([0.0, 2.0])
    y = tf.constant([0.0, 1.0])
    with np.errstate(all="ignore"), tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        chosen = tf.where(x > 0.0, tf.math.log(x), 0.0)
        sliced = tf.math.log(y)[1:]
    with np.errstate(all="ignore"):
        return [tape.gradient(chosen, x), tape.gradient(sliced, y)]


@agrees
def test_what_a_selection_leaves_out_of_a_root(tf: Any) -> Any:
    """where(x>0, sqrt x, 0) at 0: TensorFlow's rule multiplies by 0 as 0, too."""
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.where(x > 0.0, tf.sqrt(x), 0.0)
    with np.errstate(all="ignore"):
        return tape.gradient(y, x)


@differs(tensorflow=[1.0, 0.0, 0.0], tapemagic=[1.0, 8.0, 0.0])
def test_cumprod_with_zero(tf: Any) -> Any:
    """cumprod with a zero: the true values (wrong in TensorFlow)."""
    tape, x, y = recorded(tf, tf.math.cumprod, tf.constant([2.0, 0.0, 3.0]))
    return tape.gradient(y, x)


@differs(tensorflow=[7.0, 15.0], tapemagic=[7.0, 18.0])
def test_variable_in_a_pause(tf: Any) -> Any:
    """a Variable read while outer is paused: still this Variable for outer, as a tensor is (TensorFlow: not)."""
    x = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as inner:
            y = x * x * x
            with outer.stop_recording():
                z = y * x
            w = z * x + x * x
        g = inner.gradient(w, x)
    return [g, outer.gradient(g, x)]


@agrees
def test_ties(tf: Any) -> Any:
    """ties of maximum/minimum: all to the first argument, the same as TensorFlow."""
    x, y = tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        upper, lower = tf.maximum(x, y), tf.minimum(x, y)
    return [tape.gradient(upper, [x, y]), tape.gradient(lower, [x, y])]


@differs(tensorflow="IndexedSlices", tapemagic="Tensor")
def test_dense_gradients(tf: Any) -> Any:
    """IndexedSlices: never, gradients are dense."""
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [0, 2, 2])
    return type(tape.gradient(y, v)).__name__


@agrees
def test_smooth_conventions(tf: Any) -> Any:
    """Section 15: abs, relu, max, clip, powers at their special points, as in TensorFlow."""
    cases = [
        (tf.abs, [0.0, -2.0]),
        (tf.nn.relu, [-1.0, 2.0]),
        (tf.reduce_max, [1.0, 3.0, 3.0]),
        (lambda x: tf.clip_by_value(x, 0.0, 1.0), [-1.0, 0.0, 0.5, 1.0, 2.0]),
        (lambda x: x**2, [0.0]),
        (lambda x: x**1, [0.0]),
    ]
    results = []
    for function, point in cases:
        x = tf.constant(point)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        results.append(tape.gradient(y, x))
    return results
