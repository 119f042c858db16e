"""Programs in the manner of TensorFlow's guide on advanced automatic differentiation, without Keras."""

from __future__ import annotations

from typing import Any


def stop_recording(tf: Any) -> Any:
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as t:
        x_sq = x * x
        with t.stop_recording():
            y_sq = y * y
        z = x_sq + y_sq
    grad = t.gradient(z, {"x": x, "y": y})
    print("dz/dx:", grad["x"])
    print("dz/dy:", grad["y"])


def reset(tf: Any) -> Any:
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    reset = True
    with tf.GradientTape() as t:
        y_sq = y * y
        if reset:
            t.reset()
        z = x * x + y_sq
    grad = t.gradient(z, {"x": x, "y": y})
    print("dz/dx:", grad["x"])
    print("dz/dy:", grad["y"])


def stop_gradient(tf: Any) -> Any:
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as t:
        y_sq = y**2
        z = x**2 + tf.stop_gradient(y_sq)
    grad = t.gradient(z, {"x": x, "y": y})
    print("dz/dx:", grad["x"])
    print("dz/dy:", grad["y"])


def clipped_by_hand(tf: Any) -> Any:
    @tf.custom_gradient
    def clip_gradients(y):
        def backward(dy):
            return tf.clip_by_norm(dy, 0.5)

        return y, backward

    v = tf.Variable(2.0)
    with tf.GradientTape() as t:
        output = clip_gradients(v * v)
    print(t.gradient(output, v))


def several_tapes(tf: Any) -> Any:
    x0, x1 = tf.constant(0.0), tf.constant(0.0)
    with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)
        y0 = tf.math.sin(x0)
        y1 = tf.nn.sigmoid(x1)
        ys = tf.reduce_sum(y0 + y1)
    print(tape0.gradient(ys, x0).numpy())
    print(tape1.gradient(ys, x1).numpy())


def higher_orders(tf: Any) -> Any:
    x = tf.Variable(1.0)
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = x * x * x
        dy_dx = t1.gradient(y, x)
    d2y_dx2 = t2.gradient(dy_dx, x)
    print("dy_dx:", dy_dx.numpy())
    print("d2y_dx2:", d2y_dx2.numpy())


def input_gradient_penalty(tf: Any) -> Any:
    x = tf.reshape(tf.range(10.0) / 10.0, (2, 5))
    kernel = tf.Variable(tf.reshape(tf.sin(tf.range(20.0)), (5, 4)), name="kernel")
    bias = tf.Variable(tf.zeros(4), name="bias")
    with tf.GradientTape() as t2:
        with tf.GradientTape(watch_accessed_variables=False) as t1:
            t1.watch(x)
            y = tf.nn.relu(x @ kernel + bias)
            out = tf.reduce_sum(y**2)
        g1 = t1.gradient(out, x)
        g1_mag = tf.norm(g1)
    dg1_mag = t2.gradient(g1_mag, [kernel, bias])
    print([g.shape for g in dg1_mag])
    return [g1_mag, dg1_mag]


def jacobian_of_a_scalar_source(tf: Any) -> Any:
    x = tf.linspace(-10.0, 10.0, 11)
    delta = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.nn.sigmoid(x + delta)
    dy_dx = tape.jacobian(y, delta)
    print(y.shape, dy_dx.shape)
    return [y, dy_dx]


def jacobian_of_a_layer(tf: Any) -> Any:
    x = tf.reshape(tf.cos(tf.range(35.0)), (7, 5))
    kernel = tf.Variable(tf.reshape(tf.sin(tf.range(50.0)), (5, 10)))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.nn.relu(x @ kernel)
    j = tape.jacobian(y, kernel)
    g = tape.gradient(y, kernel)
    j_sum = tf.reduce_sum(j, axis=[0, 1])
    delta = tf.reduce_max(abs(g - j_sum)).numpy()
    print(y.shape, j.shape, g.shape, delta < 1e-3)
    return [j[0, 0], j_sum]


def newton(tf: Any) -> Any:
    x = tf.reshape(tf.cos(tf.range(12.0)), (4, 3))
    w = tf.Variable(tf.reshape(tf.sin(tf.range(6.0)), (3, 2)))
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = tf.nn.softmax(x @ w)
            loss = tf.reduce_mean(y[:, 0] ** 2) + 0.1 * tf.reduce_sum(w**2)
        g = t1.gradient(loss, w)
    h = t2.jacobian(g, w)
    n_params = tf.reduce_prod(w.shape)
    g_vec = tf.reshape(g, [n_params, 1])
    h_mat = tf.reshape(h, [n_params, n_params])
    eye_eps = tf.eye(h_mat.shape[0]) * 1e-3
    update = tf.linalg.solve(h_mat + eye_eps, g_vec)
    _ = w.assign_sub(tf.reshape(update, w.shape))
    print(g.shape, h.shape)
    return [g, h, w]


def batch_jacobian(tf: Any) -> Any:
    x = tf.reshape(tf.cos(tf.range(35.0)), (7, 5))
    first = tf.Variable(tf.reshape(tf.sin(tf.range(20.0)), (5, 4)))
    second = tf.Variable(tf.reshape(tf.cos(tf.range(24.0)), (4, 6)))
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = tf.nn.elu(x @ first) @ second
    j = tape.jacobian(y, x)
    jb = tape.batch_jacobian(y, x)
    j_sum = tf.reduce_sum(j, axis=2)
    print(y.shape, j.shape, jb.shape)
    error = tf.reduce_max(abs(jb - j_sum))
    assert error < 1e-3
    return jb


def hessian_vector_product(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0, 3.0])
    v = tf.constant([1.0, 0.0, -1.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x**3) + tf.reduce_prod(x)
        g = inner.gradient(y, x)
        directional = tf.reduce_sum(g * v)
    return outer.gradient(directional, x)


def forward_mode(tf: Any) -> Any:
    x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
    targets = tf.constant([[1.0], [-1.0]])
    kernel = tf.Variable([[0.5], [-0.25]])
    with tf.autodiff.ForwardAccumulator(kernel, tf.constant([[1.0], [0.0]])) as acc:
        loss = tf.reduce_sum((tf.math.tanh(x @ kernel) - targets) ** 2.0)
    with tf.GradientTape() as tape:
        again = tf.reduce_sum((tf.math.tanh(x @ kernel) - targets) ** 2.0)
    return [acc.jvp(loss), tape.gradient(again, kernel)]
