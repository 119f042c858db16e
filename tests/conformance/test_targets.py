"""SEMANTICS section 4: the targets of gradient()."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.errors import NotATensorError, OptionError
from tests.conformance.programs import agrees, raised_by, raises, recorded, refused


@agrees
def test_non_scalar_target(tf: Any) -> Any:
    """non-scalar target: gradient of the sum."""
    tape, x, a, y = recorded(tf, lambda x, a: x * x * a, tf.constant([1.0, 2.0]), tf.constant(3.0))
    return tape.gradient(y, [x, a])


@agrees
def test_several_targets(tf: Any) -> Any:
    """several targets (any nesting, dict ok): sum of gradients; the same twice counts twice."""
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, tf.sin(x)
    targets = [[y, z], (y, [z, {"again": y}]), {"z": z, "y": y}, [y, y], [y, z, y, z]]
    return [tape.gradient(target, x) for target in targets]


@agrees
def test_target_is_source(tf: Any) -> Any:
    """target is a source: contributes ones, even if never watched or recorded."""
    x = tf.constant([3.0, 4.0])
    stranger = tf.constant([5.0, 6.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    return [
        tape.gradient(x, x),
        tape.gradient([x, y], x),
        tape.gradient([x, y], [x, y]),
        tape.gradient(stranger, stranger),
        tape.gradient([stranger, y], [x, stranger]),
    ]


@agrees
def test_target_feeds_another_target(tf: Any) -> Any:
    """several targets: one that the other was computed from gets both contributions."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return tape.gradient([y, z], [x, y, z])


@agrees
def test_variable_as_target(tf: Any) -> Any:
    """Variable as target: gradient(v, v) = ones, gradient(v, w) = None."""
    v, w = tf.Variable([3.0, 4.0]), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        v * w
    return [tape.gradient(v, v), tape.gradient(v, w), tape.gradient(v, [w, v])]


@agrees
def test_op_on_target_outside(tf: Any) -> Any:
    """op applied to target after the block: result unrecorded → None."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant([[3.0, 4.0]]), persistent=True)
    return [tape.gradient(z, x) for z in (-y, y[:, 0], tf.reduce_sum(y), y)]


@refused(OptionError, "'nonsense'", "write 'none' or 'zero'")
def test_unknown_unconnected(tf: Any) -> Any:
    """unknown unconnected_gradients: ValueError."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.gradient(y, x, unconnected_gradients="nonsense")


@refused(OptionError, "None", "write 'none' or 'zero'")
def test_none_unconnected(tf: Any) -> Any:
    """unknown unconnected_gradients: None is not 'none'."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.gradient(y, x, unconnected_gradients=None)


@refused(NotATensorError, "Argument `target`", "received None")
def test_no_target(tf: Any) -> Any:
    """target None: TypeError."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.gradient(None, x)


@refused(NotATensorError, "a target", "None")
def test_none_among_targets(tf: Any) -> Any:
    """None leaf in target: TypeError."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    return tape.gradient([y, None], x)


@refused(NotATensorError, "a target", "9.0", tensorflow=raises("AttributeError"))
def test_float_as_target(tf: Any) -> Any:
    """float as target: TypeError (AttributeError in TensorFlow)."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.gradient(9.0, x)


def test_objects_as_target() -> None:
    """float/int/ndarray/str/set/generator as target: TypeError that says what to write."""
    x = tm.constant(3.0)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    bad = {
        "int": (9, "aren't on the tape: compute the target from tensors"),
        "ndarray": (np.array([9.0]), "aren't on the tape"),
        "float64": (np.float64(9.0), "aren't on the tape"),
        "str": ("y", "without quotation marks: y"),
        "set": ({1, 2}, "a list"),
        "generator": ((z for z in [y]), "a list"),
    }
    errors = {
        name: raised_by(lambda target=target: tape.gradient([y, target], x))
        for name, (target, _) in bad.items()
    }

    assert all(isinstance(error, NotATensorError) for error in errors.values())
    assert all(f"of type {name}" in str(error) for name, error in errors.items())
    assert all(bad[name][1] in str(error) for name, error in errors.items())


@agrees
def test_empty_target(tf: Any) -> Any:
    """empty target list: None per source."""
    x = tf.constant([3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
    return [
        tape.gradient([], [x]),
        tape.gradient({}, x),
        tape.gradient([], x, unconnected_gradients="zero"),
    ]
