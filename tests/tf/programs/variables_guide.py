"""Programs in the manner of TensorFlow's guide on variables."""

from __future__ import annotations

from typing import Any


def creation(tf: Any) -> Any:
    my_tensor = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    my_variable = tf.Variable(my_tensor)
    bool_variable = tf.Variable([False, False, False, True])
    complex_variable = tf.Variable([5 + 4j, 6 + 1j])
    print("Shape:", my_variable.shape)
    print("DType:", my_variable.dtype)
    print("As NumPy:", my_variable.numpy())
    return [
        bool_variable,
        complex_variable,
        repr(my_variable),
        repr(bool_variable),
        repr(complex_variable),
    ]


def like_tensors(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    print("A variable:", v)
    print("\nViewed as a tensor:", tf.convert_to_tensor(v))
    print("\nIndex of highest value:", tf.math.argmax(v))
    print("\nCopying and reshaping: ", tf.reshape(v, [1, 4]))


def assigning(tf: Any) -> Any:
    a = tf.Variable([2.0, 3.0])
    a.assign([1, 2])
    try:
        a.assign([1.0, 2.0, 3.0])
    except Exception as e:
        print("ValueError", isinstance(e, ValueError))
    return a


def copies(tf: Any) -> Any:
    a = tf.Variable([2.0, 3.0])
    b = tf.Variable(a)
    a.assign([5, 6])
    print(a.numpy())
    print(b.numpy())
    print(a.assign_add([2, 3]).numpy())
    print(a.assign_sub([7, 9]).numpy())


def names(tf: Any) -> Any:
    my_tensor = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    a = tf.Variable(my_tensor, name="Mark")
    b = tf.Variable(my_tensor + 1, name="Mark")
    print(a == b)
    print(a.name, b.name)
    with tf.name_scope("outer"):
        c = tf.Variable(1.0, name="c")
        with tf.name_scope("inner"):
            d = tf.Variable(1.0)
    print(c.name, d.name)


def not_trainable(tf: Any) -> Any:
    step_counter = tf.Variable(1, trainable=False)
    print(step_counter.trainable, step_counter)
    return step_counter.assign_add(1)


def on_a_device(tf: Any) -> Any:
    with tf.device("CPU:0"):
        a = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        b = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        c = tf.matmul(a, b)
    print(c)
    print(a.device)


def parts(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0].assign([10.0, 20.0])
    v[1, 1].assign(40.0)
    v.scatter_nd_update([[1, 0]], [30.0])
    print(v)
    print(v[0])
    return v[:, 1]


def counters(tf: Any) -> Any:
    n = tf.Variable(0)
    for _ in range(3):
        n.assign_add(2)
    print(n)
    print(n.assign_sub(1))
    return [n + 1, n * 2, -n, n > 3, n // 2, n % 2, n / 2]


def a_function_as_value(tf: Any) -> Any:
    v = tf.Variable(lambda: tf.ones((2, 2)), dtype=tf.float32, name="init")
    print(v)
