"""SEMANTICS section 6: nesting and higher order."""

from __future__ import annotations

from typing import Any

from tests.conformance.programs import agrees


@agrees
def test_all_tapes_record(tf: Any) -> Any:
    """all active tapes record every op they have a stake in; cross sources None."""
    x, z = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape(persistent=True) as a, tf.GradientTape(persistent=True) as b:
        a.watch(x)
        b.watch(z)
        y = x * x * z
    return [tape.gradient(y, [x, z]) for tape in (a, b)]


@agrees
def test_gradient_in_inner_block(tf: Any) -> Any:
    """inner gradient in the inner block: recorded by outer ⇒ second order."""
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            g = inner.gradient(x * x * x, x)
    return [g, outer.gradient(g, x)]


@agrees
def test_gradient_after_inner_block(tf: Any) -> Any:
    """inner gradient after the inner block: recorded by outer ⇒ second order."""
    v = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(v * v * v)
        g = inner.gradient(y, v)
        weighed = g * v
    return [g, outer.gradient(weighed, v)]


@agrees
def test_gradient_after_outer_block(tf: Any) -> Any:
    """inner gradient after the outer block closed: outer returns None."""
    x = tf.constant(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        outer.watch(x)
        inner.watch(x)
        y = x * x * x
    g = inner.gradient(y, x)
    return [g, outer.gradient(g, x)]


@agrees
def test_outer_watch_missing(tf: Any) -> Any:
    """constants must be watched by both tapes: missing outer watch → None at second order."""
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        g = inner.gradient(y, x)
    return [g, outer.gradient(g, x)]


@agrees
def test_outer_watch_is_enough_for_the_outer(tf: Any) -> Any:
    """constants must be watched by both tapes: missing inner watch → None at first order."""
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            y = x * x * x
        g = inner.gradient(y, x)
    return [g, outer.gradient(y, x)]


@agrees
def test_older_tape_under_newer(tf: Any) -> Any:
    """differentiating an older tape: the newer sees saved values, not its sources, as constants."""
    x = tf.constant(3.0)
    results = []
    for power in (lambda: x * x, lambda: x * x * x):
        with tf.GradientTape() as a:
            a.watch(x)
            y = power()
        with tf.GradientTape() as b:
            b.watch(x)
            g = a.gradient(y, x)
        results.append([g, b.gradient(g, x)])
    return results


@agrees
def test_older_tape_under_newer_elementwise(tf: Any) -> Any:
    """differentiating an older tape: the same through functions and several sources."""
    x, w = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape(persistent=True) as a:
        a.watch([x, w])
        y = tf.reduce_sum(tf.sin(x * w) * x)
    with tf.GradientTape(persistent=True) as b:
        b.watch([x, w])
        gx, gw = a.gradient(y, [x, w])
    return [gx, gw, b.gradient(gx, [x, w]), b.gradient(gw, [x, w])]


@agrees
def test_linear(tf: Any) -> Any:
    """linear function: second gradient None (zero only with ZERO)."""
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = 5.0 * x
        g = inner.gradient(y, x)
    return [g, outer.gradient(g, x), outer.gradient(g, x, unconnected_gradients="zero")]


@agrees
def test_order_four_by_nesting(tf: Any) -> Any:
    """order ≥ 4 by nesting works."""
    x = tf.constant(0.7)
    with tf.GradientTape() as t5:
        t5.watch(x)
        with tf.GradientTape() as t4:
            t4.watch(x)
            with tf.GradientTape() as t3:
                t3.watch(x)
                with tf.GradientTape() as t2:
                    t2.watch(x)
                    with tf.GradientTape() as t1:
                        t1.watch(x)
                        y = tf.sin(x) * tf.exp(x * x)
                    d1 = t1.gradient(y, x)
                d2 = t2.gradient(d1, x)
            d3 = t3.gradient(d2, x)
        d4 = t4.gradient(d3, x)
    return [d1, d2, d3, d4, t5.gradient(d4, x)]


@agrees
def test_order_four_by_one_tape(tf: Any) -> Any:
    """order ≥ 4 by one persistent tape used inside its block works."""
    x = tf.constant([0.7, -1.1])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        orders = [tf.sin(x) * tf.exp(x * x)]
        for _ in range(5):
            orders.append(tape.gradient(orders[-1], x))
    return orders


@agrees
def test_mixed_derivatives(tf: Any) -> Any:
    """Second order across sources: ∂²/∂x∂y both ways."""
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch([x, y])
            z = x * x * y + tf.sin(x * y)
        gx, gy = inner.gradient(z, [x, y])
    return [outer.gradient(gx, [x, y]), outer.gradient(gy, [x, y])]


@agrees
def test_matrix_second_order(tf: Any) -> Any:
    """Second order through matmul, broadcasting and reductions."""
    w, x = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[0.5], [-1.5]])
    with tf.GradientTape() as outer:
        outer.watch([w, x])
        with tf.GradientTape() as inner:
            inner.watch([w, x])
            y = tf.reduce_mean(tf.square(tf.matmul(w, x) + tf.reduce_sum(x)))
        gw, gx = inner.gradient(y, [w, x])
        s = tf.reduce_sum(gw * gw) + tf.reduce_sum(gx)
    return outer.gradient(s, [w, x])


@agrees
def test_gradient_in_the_loss(tf: Any) -> Any:
    """An inner gradient used as part of the outer's target (gradient penalty)."""
    v = tf.Variable([1.0, 2.0])
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(x)
            y = tf.reduce_sum(v * v * tf.sin(x))
        g = inner.gradient(y, x)
        loss = y + tf.reduce_sum(g * g)
    return [loss, outer.gradient(loss, v)]


@agrees
def test_outer_pause_in_inner(tf: Any) -> Any:
    """outer paused around an operation of the inner: its result is a constant for outer, its operands aren't."""
    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = x * x * x
            with outer.stop_recording():
                z = y * x
            w = z * x + x * x
        g = inner.gradient(w, x)
    return [g, outer.gradient(g, x)]
