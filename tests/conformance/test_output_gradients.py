"""SEMANTICS section 4: output_gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.errors import NotATensorError, ShapeError
from tests.conformance.programs import (
    TAPEMAGIC,
    agrees,
    differs,
    encode,
    raised_by,
    raises,
    refused,
)


def recorded(tf: Any) -> tuple[Any, Any, Any, Any]:
    """A persistent tape, its source [1, 2], and the targets y = x*x and the number s = sum(x)."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        s = tf.reduce_sum(x)
    return tape, x, y, s


@agrees
def test_kinds(tf: Any) -> Any:
    """shape: ndarray, Variable and python scalars are converted."""
    tape, x, y, s = recorded(tf)
    arrays = [np.array([10.0, 20.0]), tf.Variable([10.0, 20.0]), tf.constant([10.0, 20.0])]
    scalars = [np.float64(5.0), tf.constant(5.0), tf.Variable(5.0)]
    return [
        *(tape.gradient(y, x, output_gradients=weight) for weight in arrays),
        *(tape.gradient(s, x, output_gradients=weight) for weight in scalars),
    ]


@differs(tensorflow={"float32": [5.0, 5.0]}, tapemagic=[5.0, 5.0])
def test_python_scalar(tf: Any) -> Any:
    """shape: python scalars are converted, to the target's dtype (TensorFlow: float32)."""
    tape, x, _, s = recorded(tf)
    return tape.gradient(s, x, output_gradients=5.0)


@agrees
def test_structures(tf: Any) -> Any:
    """shape: one per flattened target; list, tuple or dict, flattened like target."""
    tape, x, y, s = recorded(tf)
    a, b = tf.constant([10.0, 20.0]), tf.constant(100.0)
    return [
        tape.gradient([y, s], x, output_gradients=[a, b]),
        tape.gradient((y, s), x, output_gradients=(a, b)),
        tape.gradient({"y": y, "s": s}, x, output_gradients={"y": a, "s": b}),
        tape.gradient({"s": s, "y": y}, x, output_gradients={"y": a, "s": b}),
        tape.gradient([y, [s, {"y": y}]], x, output_gradients=[a, [b, {"y": a}]]),
        tape.gradient([y, (s,)], x, output_gradients=[a, b]),
        tape.gradient(y, x, output_gradients=[a]),
        tape.gradient([y], x, output_gradients=a),
        tape.gradient([y, y], x, output_gradients=[a, a]),
    ]


@agrees
def test_dicts_by_sorted_keys(tf: Any) -> Any:
    """structure: dicts are flattened in the order of their sorted keys, as targets and as weights."""
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, x * x * x
    ten, one = tf.constant(10.0), tf.constant(1.0)
    return [
        tape.gradient({"z": y, "a": z}, x, output_gradients=[ten, one]),
        tape.gradient([y, z], x, output_gradients={"z": ten, "a": one}),
        tape.gradient({"z": y, "a": z}, x, output_gradients={"a": ten, "z": one}),
        tape.gradient({"z": [y], "a": {2: z, 1: y}}, x, output_gradients=[ten, one, ten]),
    ]


@agrees
def test_one_number_in_a_structure(tf: Any) -> Any:
    """structure: one number in a list, a tuple or a dict weighs one number."""
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
    two = np.float64(2.0)
    weights = [[two], (two,), [np.array(2.0)], {"a": two}, [[two]]]
    return [tape.gradient(y, x, output_gradients=weight) for weight in weights]


@refused(
    ShapeError,
    "output_gradients is [[np.float64(1.0), np.float64(1.0)]], which can't be assigned",
    "can't be assigned to 2 targets",
    tensorflow=[4.0, 8.0],
)
def test_one_vector_for_two(tf: Any) -> Any:
    """structure: one vector for two targets is refused (two numbers to TensorFlow)."""
    tape, x, y, _ = recorded(tf)
    one = np.float64(1.0)
    return tape.gradient([y, [y]], x, output_gradients=[[one, one]])


@agrees
def test_differentiable(tf: Any) -> Any:
    """An output gradient that an outer tape watches is differentiated through."""
    x, weight = tf.constant([1.0, 2.0]), tf.Variable([10.0, 20.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        g = tape.gradient(y, x, output_gradients=weight)
    return outer.gradient(g, weight)


@agrees
def test_scalar_for_vector(tf: Any) -> Any:
    """scalar for vector target: broadcasts."""
    tape, x, y, _ = recorded(tf)
    return tape.gradient(y, x, output_gradients=tf.constant(10.0))


@differs(tensorflow=[20.0, 40.0], tapemagic=[20.0, 80.0])
def test_list_of_floats(tf: Any) -> Any:
    """python list of floats for a vector target: the array (TensorFlow: the first of them)."""
    tape, x, y, _ = recorded(tf)
    weights = [10.0, 20.0] if tf.constant is tm.constant else [tf.constant(10.0), tf.constant(20.0)]
    return tape.gradient(y, x, output_gradients=weights)


@refused(ShapeError, "(3,)", "(2,)", tensorflow=raises("InvalidArgumentError"))
def test_wrong_shape(tf: Any) -> Any:
    """wrong shape: an error from gradient itself (from the backward op in TensorFlow)."""
    tape, x, y, _ = recorded(tf)
    return tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0, 3.0]))


@differs(tensorflow=raises("InvalidArgumentError"), tapemagic=[20.0, 80.0])
def test_wrong_float_dtype(tf: Any) -> Any:
    """wrong dtype: another float dtype is cast (mixed dtypes promote, section 0)."""
    tape, x, y, _ = recorded(tf)
    return tape.gradient(y, x, output_gradients=tf.constant([10.0, 20.0], "float32"))


@refused(ShapeError, "complex128", "float64", "real", tensorflow=raises("InvalidArgumentError"))
def test_complex_for_real(tf: Any) -> Any:
    """wrong dtype: complex weights for a real target are refused."""
    tape, x, y, _ = recorded(tf)
    return tape.gradient(y, x, output_gradients=tf.constant([1j, 2j]))


def test_no_numbers() -> None:
    """wrong dtype: something that holds no numbers is refused, and named."""
    tape, x, y, _ = recorded(TAPEMAGIC)
    errors = [
        raised_by(lambda bad=bad: tape.gradient(y, x, output_gradients=bad))
        for bad in ("word", object())
    ]

    assert all(isinstance(error, NotATensorError) for error in errors)
    assert "output_gradients must contain numbers, not 'word'" in str(errors[0])


@refused(ShapeError, "2 entries", "1 target", tensorflow=[20.0, 80.0])
def test_too_many(tf: Any) -> Any:
    """too many: refused (extras ignored in TensorFlow)."""
    tape, x, y, _ = recorded(tf)
    a = tf.constant([10.0, 20.0])
    return tape.gradient([y], x, output_gradients=[a, a])


def test_too_few() -> None:
    """too few: refused (TensorFlow reads past the end of its list)."""
    tape, x, y, s = recorded(TAPEMAGIC)
    error = raised_by(lambda: tape.gradient([y, s], x, output_gradients=[tm.constant([1.0, 2.0])]))

    assert isinstance(error, ShapeError)
    assert "for 2 targets: pass one for each" in str(error)


def test_wrong_keys() -> None:
    """too few: a dict with other keys than the target's is refused, naming both."""
    tape, x, y, s = recorded(TAPEMAGIC)
    error = raised_by(
        lambda: tape.gradient({"y": y, "s": s}, x, output_gradients={"y": [1.0, 2.0], "t": 1.0})
    )

    assert isinstance(error, ShapeError)
    assert "'t'" in str(error)
    assert "'s'" in str(error)


@refused(NotATensorError, "None", "write ones", tensorflow=raises("ValueError"))
def test_none_entry(tf: Any) -> Any:
    """None entry: refused, saying what to write (in TensorFlow it depends on the op)."""
    tape, x, y, _ = recorded(tf)
    return tape.gradient([y], x, output_gradients=[None])


@agrees
def test_target_is_source(tf: Any) -> Any:
    """target that is itself a source: added to the flowing gradient."""
    x, y = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        loss = x * y
    return tape.gradient([loss, x], [x], output_gradients=[tf.constant(1.0), tf.constant(2.0)])


def test_weights_are_copied() -> None:
    """The array given is not kept: writing into it, or into the result, changes neither."""
    x = tm.constant([1.0, 2.0])
    weight = np.array([10.0, 20.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
    g = tape.gradient(x, x, output_gradients=weight)
    weight[:] = 0.0

    assert encode(g) == [10.0, 20.0]
