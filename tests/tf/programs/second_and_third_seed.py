"""The cells of the second and the third seed as they stand; of the second, as far as it goes."""

from __future__ import annotations

from typing import Any


def square(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as g:
        g.watch(x)
        y = x * x
    dy_dx = g.gradient(y, x)
    print(dy_dx)


def nested(tf: Any) -> Any:
    x = tf.constant(5.0)
    with tf.GradientTape() as g:
        g.watch(x)
        with tf.GradientTape() as gg:
            gg.watch(x)
            y = x * x
        dy_dx = gg.gradient(y, x)  # dy_dx = 2 * x
    d2y_dx2 = g.gradient(dy_dx, x)  # d2y_dx2 = 2
    print(dy_dx)
    print(d2y_dx2)


def persistent(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as g:
        g.watch(x)
        y = x * x
        z = y * y
    dz_dx = g.gradient(z, x)  # (4*x^3 at x = 3)
    print(dz_dx)
    dy_dx = g.gradient(y, x)
    print(dy_dx)


def a_first_simple_example(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
    dy_dx = t.gradient(y, x)  # Will compute to 6.0
    print(dy_dx)
    return dy_dx.numpy()


def not_watched(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as t:
        # t.watch(x)  # <-- we now omit this statement
        y = x * x
    dy_dx = t.gradient(y, x)  # Will compute to 6.0
    print(dy_dx)


def a_variable_watched(tf: Any) -> Any:
    x = tf.Variable(3.0)
    with tf.GradientTape() as t:
        # t.watch(x)  # <-- we now omit this statement
        y = x * x
    dy_dx = t.gradient(y, x)  # Will compute to 6.0
    print(dy_dx)
    return dy_dx.numpy()


def more_than_one(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x  # y=x^2
        z = y * y  # z=y^2=(x^2)^2=x^4

    dz_dx = t.gradient(z, x)  # 108.0 (4*x^3 at x=3 --> 4*27=108)
    dy_dx = t.gradient(y, x)  # 6.0 (2*x at x=3 --> 6)
    return [repr(dz_dx), repr(dy_dx)]


def an_intermediate_node(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x  # y=x^2
        z = y * y  # z=y^2=(x^2)^2=x^4

    dz_dy = t.gradient(z, y)
    print(dz_dy)


def the_function_from_the_lecture(tf: Any) -> Any:
    x1 = tf.constant(1.0)
    x2 = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as t:
        t.watch(x1)
        t.watch(x2)
        w3 = x1 * x2
        w4 = tf.math.sin(x1)
        w5 = w3 * w4

    dw5_dx1 = t.gradient(w5, x1)
    dw5_dx2 = t.gradient(w5, x2)
    return [dw5_dx1, dw5_dx2]


def fine_grained_control(tf: Any) -> Any:
    variable_a = tf.Variable(2.0)
    variable_b = tf.Variable(4.0)
    with tf.GradientTape(watch_accessed_variables=False, persistent=True) as t:
        t.watch(variable_a)
        y = variable_a**2  # Gradients will be available for `variable_a`.
        z = variable_b**3  # No gradients will be available since `variable_b` is
        # not being watched.
    print(t.gradient(y, variable_a))
    print(t.gradient(z, variable_b))


def programs(tf: Any) -> Any:
    def foo(x, y):
        if y >= 7:
            output = x + x + x
            return output
        output = 1.0
        for i in range(y):
            output = output * x
        return output

    def compute_gradient(x, y):
        with tf.GradientTape() as t:
            t.watch(x)
            out = foo(x, y)
        return t.gradient(out, x)

    x = tf.constant(2.0)
    return [
        compute_gradient(x, 3),  # x^3 derived is 3*x^2. With x=2.0, we get 3*4=12
        compute_gradient(x, 12),
        compute_gradient(x, 6),  # x^3 derived is 6*x^5. With x=2.0, we get 6*(2^5) = 6*32=192
        repr(compute_gradient(x, 3)),
    ]
