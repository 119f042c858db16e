"""SEMANTICS section 9: Variable."""

from __future__ import annotations

import functools
import operator
import sys
from threading import Thread
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
import tapemagic.tf as tensorflow
from tapemagic.errors import DtypeError, ImmutableError, ImmutableVariableError, ShapeError
from tests.conformance.programs import agrees, differs, raised_by, raises, refused, signature


@agrees
def test_assign(tf: Any) -> Any:
    """assign/assign_add/assign_sub: in place, return a readable handle."""
    v = tf.Variable([1.0, 2.0])
    handles = [v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([10.0, 10.0])]
    return [h * 1.0 for h in (handles[-1], v)]


@differs(tensorflow=[[-6.0, -5.0]] * 3, tapemagic=[[3.0, 4.0], [4.0, 5.0], [-6.0, -5.0]])
def test_assign_handle(tf: Any) -> Any:
    """assign...: the handle keeps the value of its moment (TensorFlow's is the variable itself)."""
    v = tf.Variable([1.0, 2.0])
    return [
        h * 1.0
        for h in [v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([10.0, 10.0])]
    ]


@agrees
def test_assign_without_handle(tf: Any) -> Any:
    """assign...(read_value=False): None."""
    v = tf.Variable([1.0, 2.0])
    methods = [v.assign, v.assign_add, v.assign_sub]
    return [[method([3.0, 4.0], read_value=False) for method in methods], v.read_value()]


@agrees
def test_assign_keeps_dtype(tf: Any) -> Any:
    """assign...: keep dtype (ints and f64 ndarrays convert)."""
    v = tf.Variable([1.0, 2.0], dtype="float32")
    v.assign([3, 4])
    v.assign(np.array([5.0, 6.0]))
    v.assign_add(np.array([0.5, 0.5]))
    return v.read_value()


@differs(tensorflow=raises("ValueError"), tapemagic={"float32": [5.0, 6.0]})
def test_assign_wider_tensor(tf: Any) -> Any:
    """assign...: f64 tensors convert too (ValueError in TensorFlow; section 0)."""
    v = tf.Variable([1.0, 2.0], dtype="float32")
    v.assign(tf.constant([5.0, 6.0]))
    return v.read_value()


@agrees
def test_assign_options(tf: Any) -> Any:
    """assign...: TensorFlow's further arguments, and their order."""
    v = tf.Variable([1.0, 2.0])
    methods = [v.assign, v.assign_add, v.assign_sub]
    values = [
        *(method([3.0, 4.0], use_locking=True, name="a", read_value=False) for method in methods),
        *(method([3.0, 4.0], False) * 1.0 for method in methods),
        v[0].assign(5.0, name="a") * 1.0,
    ]
    return [values, *(signature(method) for method in methods)]


@refused(DtypeError, "2.7 does not fit into int64: round it first, with np.round")
def test_assign_fraction(tf: Any) -> Any:
    """assign: a Python float does not become a whole number."""
    tf.Variable(1).assign(2.7)


@refused(DtypeError, "0.9 does not fit into int64")
def test_assign_add_fraction(tf: Any) -> Any:
    """assign_add: neither."""
    tf.Variable(1).assign_add(0.9)


@refused(DtypeError, "nan does not fit into int64")
def test_assign_nan(tf: Any) -> Any:
    """assign: nor does NaN."""
    tf.Variable(1).assign(float("nan"))


@refused(
    DtypeError, "300 does not fit into int8: its range is -128 to 127", tensorflow={"int8": 44}
)
def test_assign_too_large(tf: Any) -> Any:
    """assign: too large a number is refused (TensorFlow wraps around)."""
    return tf.Variable(1, dtype="int8").assign(300) + 0


@refused(DtypeError, "2.7 does not fit into int64", tensorflow={"int64": 2})
def test_assign_array_of_fractions(tf: Any) -> Any:
    """assign: an ndarray with fractions is refused (TensorFlow cuts them off)."""
    v = tf.Variable(1)
    v.assign(np.array(2.7))
    return v.read_value()


@agrees
def test_assign_array_of_whole_floats(tf: Any) -> Any:
    """assign: floats in an ndarray that are whole numbers convert."""
    v = tf.Variable([1, 2])
    v.assign(np.array([3.0, 4.0]))
    v.assign_add(np.array([1.0, -9.0]))
    return v.read_value()


@refused(ShapeError, "(3,)", "(2,)", "'w'")
def test_assign_shape(tf: Any) -> Any:
    """shape mismatch: assign: ValueError."""
    tf.Variable([1.0, 2.0], name="w").assign([1.0, 2.0, 3.0])


@refused(ShapeError, "()", "(2,)", "'w'")
def test_assign_number_to_vector(tf: Any) -> Any:
    """shape mismatch: assign of a scalar into a vector too."""
    tf.Variable([1.0, 2.0], name="w").assign(1.0)


@refused(ShapeError, "(3,)", "(2,)", "'w'", tensorflow=raises("InvalidArgumentError"))
def test_assign_add_shape(tf: Any) -> Any:
    """shape mismatch: assign_add: ShapeError (InvalidArgumentError in TensorFlow)."""
    tf.Variable([1.0, 2.0], name="w").assign_add([1.0, 2.0, 3.0])


@refused(ShapeError, "(2,)", "()", tensorflow=raises("InvalidArgumentError"))
def test_assign_add_may_not_grow(tf: Any) -> Any:
    """shape mismatch: assign_add may not broadcast the variable."""
    tf.Variable(1.0).assign_add([1.0, 2.0])


def test_refused_assignment_leaves_the_value() -> None:
    """shape mismatch: the variable keeps its value."""
    v = tm.Variable([1.0, 2.0])
    for method in (v.assign, v.assign_add, v.assign_sub):
        raised_by(lambda method=method: method([1.0, 2.0, 3.0]))  # type: ignore[misc]

    assert v.numpy().tolist() == [1.0, 2.0]


@agrees
def test_assignment_records_nothing(tf: Any) -> Any:
    """differentiability: assignment records nothing, reading afterwards starts a new path."""
    x, v = tf.constant(3.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        v.assign(x * x)
        y = v * v
    return tape.gradient(y, [x, v])


@agrees
def test_returned_value_is_a_read(tf: Any) -> Any:
    """differentiability: the value returned by assign_add is a read: its gradient is 1."""
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v.assign_add(1.0)
        z = y * 1.0
    return [z, tape.gradient(z, v)]


@agrees
def test_saved_values(tf: Any) -> Any:
    """saved values: gradients use values at the time of the read, even if assigned afterwards."""
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    v.assign(100.0)
    return tape.gradient(y, v)


@agrees
def test_read_assign_read(tf: Any) -> Any:
    """saved values: read–assign–read contributes both reads."""
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(5.0)
        z = y + v * v
    return [z, tape.gradient(z, v)]


@agrees
def test_isolation(tf: Any) -> Any:
    """isolation: constructor, constant and .numpy() copy; v.numpy() is writable, detached."""
    source = np.array([1.0, 2.0])
    v, c = tf.Variable(source), tf.constant(source)
    source[:] = 0.0
    taken = np.array(v.numpy())
    taken[:] = 0.0
    out = v.numpy()
    out[0] = 7.0
    return [v.read_value(), c, out]


def test_isolation_of_assigned_arrays() -> None:
    """isolation: assign copies what it is given."""
    source = np.array([1.0, 2.0])
    v = tm.Variable([0.0, 0.0])
    v.assign(source)
    source[:] = 9.0

    assert v.numpy().tolist() == [1.0, 2.0]


@refused(ImmutableVariableError, "assign_add")
def test_in_place_add(tf: Any) -> Any:
    """`v += 1`: RuntimeError (use assign_add)."""
    v = tf.Variable(1.0)
    v += 1.0


def test_all_in_place_operators() -> None:
    """`v += 1`: every in-place operator is refused, and says what to write."""
    v = tm.Variable([[1.0]], name="w")
    names = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul"]
    errors = [raised_by(functools.partial(getattr(operator, name), v, 1.0)) for name in names]

    assert all(isinstance(error, ImmutableVariableError) for error in errors)
    assert all(isinstance(error, TypeError) for error in errors)
    assert all(isinstance(error, RuntimeError) for error in errors)
    assert all("'w'" in str(error) and "v.assign_add(...)" in str(error) for error in errors)
    assert v.numpy().tolist() == [[1.0]]


@refused(ImmutableError, "assign()")
def test_set_item(tf: Any) -> Any:
    """`v[0] =`: TypeError."""
    tf.Variable([1.0, 2.0])[0] = 3.0


@agrees
def test_assign_a_part(tf: Any) -> Any:
    """`v[0].assign(x)` works."""
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0].assign([5.0, 6.0])
    v[:, 1].assign([7.0, 8.0])
    v[1, 0].assign(9.0)
    return v.read_value()


def _updates() -> dict[str, tuple[Any, Any]]:
    """Every update that reads the value it changes: a variable of four numbers, and a step of the i-th thread."""
    v = tm.Variable(np.zeros(4))
    w = tensorflow.Variable(np.zeros(4))
    return {
        "assign_add": (v, lambda i: v.assign_add(np.eye(4)[i], use_locking=True)),
        "assign_sub": (v, lambda i: v.assign_sub(-np.eye(4)[i], read_value=False)),
        "part": (v, lambda i: v[i].assign(v.numpy()[i] + 1)),
        "tf assign_add": (w, lambda i: w.assign_add(np.eye(4)[i], use_locking=True)),
        "tf scatter_nd_add": (w, lambda i: w.scatter_nd_add([[i]], [1.0])),
        "tf scatter_nd_sub": (w, lambda i: w.scatter_nd_sub([[i]], [-1.0])),
        "tf scatter_nd_update": (w, lambda i: w.scatter_nd_update([[i]], [w.numpy()[i] + 1])),
    }


@pytest.mark.parametrize("how", _updates())
def test_updates_by_threads(how: str) -> None:
    """No update by one of several threads is lost."""
    variable, step = _updates()[how]

    def work(i: int) -> None:
        for _ in range(300):
            step(i)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)

    assert variable.numpy().tolist() == [300.0] * 4


@refused(ImmutableError, "np.where", "np.concatenate")
def test_set_item_of_tensor(tf: Any) -> Any:
    """tensor `t[0] =`: TypeError."""
    tf.constant([1.0, 2.0])[0] = 3.0


@agrees
def test_rebinding(tf: Any) -> Any:
    """`t += x` rebinding works."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        t = x * x
        first = t
        t += x
        t *= 2.0
    return [first, t, tape.gradient(t, x)]


@agrees
def test_attributes(tf: Any) -> Any:
    """attributes: .shape, .dtype, .trainable, .numpy(), .read_value(), .value()."""
    v = tf.Variable([1.0, 2.0], trainable=False)
    return [tuple(v.shape), v.dtype.name, v.trainable, v.numpy(), v.read_value(), v.value()]


@differs(tensorflow=["w:0", "Variable:0"], tapemagic=["w", "Variable"])
def test_name(tf: Any) -> Any:
    """attributes: .name has no ':0'."""
    return [tf.Variable(1.0, name="w").name, tf.Variable(1.0).name]


@refused(AttributeError)
def test_trainable_is_read_only(tf: Any) -> Any:
    """attributes: .trainable is read-only."""
    tf.Variable(1.0).trainable = False


@refused(TypeError)
def test_hash(tf: Any) -> Any:
    """hashing raises TypeError."""
    return hash(tf.Variable(1.0))


@refused(TypeError)
def test_hash_of_tensor(tf: Any) -> Any:
    """hashing raises TypeError for tensors too."""
    return hash(tf.constant(1.0))


@differs(tensorflow=[{"bool": [True, False]}] * 2, tapemagic=[{"numpy": [True, False]}] * 2)
def test_equality(tf: Any) -> Any:
    """`==` elementwise (plain NumPy truth values)."""
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 3.0])
    return [v == w, v == tf.constant([1.0, 3.0])]


@agrees
def test_conversions(tf: Any) -> Any:
    """float(v), bool(v), np.asarray(v) work."""
    v = tf.Variable(2.5)
    return [float(v), int(v), bool(v), bool(tf.Variable(0.0)), np.asarray(tf.Variable([1.0, 2.0]))]


@differs(tensorflow=raises("TypeError"), tapemagic=2)
def test_length(tf: Any) -> Any:
    """`len(v)` works (TypeError in TensorFlow)."""
    return len(tf.Variable([1.0, 2.0]))


@differs(tensorflow=raises("TypeError"), tapemagic="2.50")
def test_format(tf: Any) -> Any:
    """`format(v, '.2f')` works for a number (TypeError in TensorFlow)."""
    return f"{tf.Variable(2.5):.2f}"
