"""Programs in the manner of TensorFlow's guide on tensors, without text, ragged and sparse ones."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def ranks(tf: Any) -> Any:
    print(tf.constant(4))
    print(tf.constant([2.0, 3.0, 4.0]))
    print(tf.constant([[1, 2], [3, 4], [5, 6]], dtype=tf.float16))
    print(
        tf.constant(
            [[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], [[10, 11, 12, 13, 14], [15, 16, 17, 18, 19]]]
        )
    )


def to_numpy(tf: Any) -> Any:
    t = tf.constant([[1, 2], [3, 4]], dtype=tf.float16)
    return [np.array(t), t.numpy()]


def arithmetic(tf: Any) -> Any:
    a = tf.constant([[1, 2], [3, 4]])
    b = tf.ones([2, 2], dtype=tf.int32)
    print(tf.add(a, b), "\n")
    print(tf.multiply(a, b), "\n")
    print(tf.matmul(a, b), "\n")
    print(a + b, "\n")
    print(a * b, "\n")
    print(a @ b, "\n")


def reductions(tf: Any) -> Any:
    c = tf.constant([[4.0, 5.0], [10.0, 1.0]])
    print(tf.reduce_max(c))
    print(tf.math.argmax(c))
    print(tf.nn.softmax(c))
    return [
        tf.convert_to_tensor([1, 2, 3]),
        tf.reduce_max([1, 2, 3]),
        tf.reduce_max(np.array([1, 2, 3])),
    ]


def shapes(tf: Any) -> Any:
    t = tf.zeros([3, 2, 4, 5])
    print("Type of every element:", t.dtype)
    print("Number of axes:", t.ndim)
    print("Shape of tensor:", t.shape)
    print("Elements along axis 0 of tensor:", t.shape[0])
    print("Elements along the last axis of tensor:", t.shape[-1])
    print("Total number of elements (3*2*4*5): ", tf.size(t).numpy())
    print(tf.rank(t), tf.shape(t))
    print(repr(t.shape), t.shape.as_list())


def one_axis(tf: Any) -> Any:
    t = tf.constant([0, 1, 1, 2, 3, 5, 8, 13, 21, 34])
    print(t.numpy())
    print("First:", t[0].numpy())
    print("Last:", t[-1].numpy())
    print("From 2, before 7:", t[2:7].numpy())
    print("Every other item:", t[::2].numpy())
    print("Reversed:", t[::-1].numpy())


def more_axes(tf: Any) -> Any:
    t = tf.constant([[1, 2], [3, 4], [5, 6]], dtype=tf.float16)
    print(t[1, 1].numpy())
    print("Second row:", t[1, :].numpy())
    print("Second column:", t[:, 1].numpy())
    print("First item in last column:", t[0, -1].numpy())
    print("Skip the first row:")
    print(t[1:, :].numpy(), "\n")
    return [t[..., tf.newaxis], t[None], t[:, None, 1]]


def reshaping(tf: Any) -> Any:
    x = tf.constant([[1], [2], [3]])
    print(x.shape, x.shape.as_list())
    print(tf.reshape(x, [1, 3]).shape)
    t = tf.reshape(tf.range(30), (3, 2, 5))
    print(tf.reshape(t, [-1]))
    print(tf.reshape(t, [3 * 2, 5]), "\n")
    print(tf.reshape(t, [3, -1]))
    try:
        tf.reshape(t, [7, -1])
    except Exception as e:
        print(type(e).__name__)
    return tf.transpose(t, [2, 0, 1])


def dtypes(tf: Any) -> Any:
    a = tf.constant([2.2, 3.3, 4.4], dtype=tf.float64)
    b = tf.cast(a, dtype=tf.float16)
    print(tf.cast(b, dtype=tf.uint8))
    print(a.dtype, b.dtype, repr(a.dtype), a.dtype.name)
    return [
        tf.constant(1).dtype.name,
        tf.constant(1.0).dtype.name,
        tf.constant(True).dtype.name,
        tf.constant(1j).dtype.name,
    ]


def mixed_dtypes(tf: Any) -> Any:
    out = []
    for make in (
        lambda: tf.constant(1.0) + tf.constant(1),
        lambda: tf.constant(1.0) * tf.constant(1.0, tf.float64),
        lambda: tf.add(tf.constant(1.0), tf.constant(1)),
        lambda: tf.matmul(tf.ones((1, 1)), tf.ones((1, 1), tf.float64)),
        lambda: tf.concat([tf.constant([1.0]), tf.constant([1])], 0),
    ):
        try:
            make()
        except tf.errors.InvalidArgumentError as e:
            out.append(type(e).__mro__[-3].__name__)
    return len(out)


def broadcasting(tf: Any) -> Any:
    x = tf.constant([1, 2, 3])
    y = tf.constant(2)
    z = tf.constant([2, 2, 2])
    print(tf.multiply(x, 2))
    print(x * y)
    print(x * z)
    x = tf.reshape(x, [3, 1])
    y = tf.range(1, 5)
    print(x, "\n")
    print(y, "\n")
    print(tf.multiply(x, y))
    print(tf.broadcast_to(tf.constant([1, 2, 3]), [3, 3]))


def eager_errors(tf: Any) -> Any:
    out = []
    for make in (
        lambda: tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0]),
        lambda: tf.matmul(tf.ones((2, 3)), tf.ones((2, 3))),
        lambda: tf.constant([1.0, 2.0, 3.0])[7],
        lambda: tf.gather([1, 2, 3], [5]),
        lambda: tf.reshape(tf.zeros(3), (2, 2)),
        lambda: tf.constant(1) // tf.constant(0),
        lambda: tf.sqrt(4),
    ):
        try:
            make()
            out.append("no error")
        except tf.errors.InvalidArgumentError:
            out.append("InvalidArgumentError")
    return out


def slices(tf: Any) -> Any:
    t1 = tf.constant([0, 1, 2, 3, 4, 5, 6, 7])
    print(tf.slice(t1, begin=[1], size=[3]))
    print(t1[1:4], t1[-3:])
    t2 = tf.constant([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 16, 17, 18, 19]])
    print(t2[:-1, 1:3])
    print(tf.gather(t1, indices=[0, 3, 6]))
    print(tf.gather_nd(t2, indices=[[2], [3], [0]]))
    print(tf.gather_nd(t2, indices=[[2, 1], [0, 0]]))


def scattered(tf: Any) -> Any:
    t6 = tf.constant([10])
    indices = tf.constant([[1], [3], [5], [7], [9]])
    data = tf.constant([2, 4, 6, 8, 10])
    print(tf.scatter_nd(indices=indices, updates=data, shape=t6))
    t11 = tf.constant([[2, 7, 0], [9, 0, 1], [0, 3, 8]])
    t12 = tf.tensor_scatter_nd_add(t11, indices=[[0, 2], [1, 1], [2, 0]], updates=[6, 5, 4])
    print(t12)
    print(tf.tensor_scatter_nd_sub(t11, indices=[[0, 0], [0, 1]], updates=[1, 1]))
    print(tf.tensor_scatter_nd_min(t11, indices=[[0, 1], [1, 0]], updates=[6, 6]))
    print(tf.tensor_scatter_nd_max(t11, indices=[[0, 2], [1, 1]], updates=[6, 5]))
    return tf.tensor_scatter_nd_update(t11, [[1]], [[7, 7, 7]])


def iteration(tf: Any) -> Any:
    t = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    a, b = t
    print(a, b, len(t), float(t[0, 0]), int(t[1, 1]), bool(t[0, 1] > 1))
    print(f"{t[0, 1]:.2f} {t[0]}")
    return [row for row in t] + [sum(t), max(t[0])]


def printing(tf: Any) -> Any:
    print(tf.zeros((2, 0)), tf.constant([]), tf.zeros((100, 100))[:, 0])
    print(tf.constant([1e-10, 1.0, 1e10]), tf.constant([float("nan"), float("inf")]))
    print(tf.constant([[True], [False]]), tf.constant(1 + 2j), tf.constant(1e-10))
    print(repr(tf.ones((20, 70))))
    print([tf.constant(1.0), tf.constant([2])], {"a": tf.constant(1, tf.int64)})


def own_print(tf: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "printed.txt"
        out = f"file://{path}"
        tf.print(
            "x", tf.constant([[1.0, 2.5], [3.0, 4.0]]), tf.range(10), 3, None, output_stream=out
        )
        tf.print(tf.constant(0.1), tf.constant(1e-7), tf.constant(123456789.0), output_stream=out)
        tf.print(
            tf.constant([2 / 3, 1e30, 100000.0, 1e-5, 1e6, 1e7]),
            tf.constant([2 / 3, 0.1, 1e20], tf.float64),
            output_stream=out,
        )
        tf.print(tf.constant([2 / 3, 0.1], tf.float16), tf.constant([1.0, -0.0]), output_stream=out)
        tf.print(
            {"a": tf.constant(1.5)},
            [tf.constant([1, 2]), "b"],
            tf.Variable(2.0),
            tf.constant([True]),
            sep=" | ",
            output_stream=out,
        )
        tf.print(
            tf.zeros((7, 2, 2)),
            tf.constant([float("nan"), float("inf"), -float("inf")]),
            output_stream=out,
        )
        tf.print((tf.constant(1), 2.5), tf.zeros((0,)), 1.0, True, end="!\n", output_stream=out)
        tf.print(tf.range(10), summarize=-1, output_stream=out)
        return path.read_text().splitlines()
