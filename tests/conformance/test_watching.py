"""SEMANTICS section 3: watch and automatic watching."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.errors import NotWatchableError, TapeStateError
from tests.conformance.programs import (
    TAPEMAGIC,
    agrees,
    differs,
    logged,
    raised_by,
    raises,
    recorded,
    refused,
)


@agrees
def test_trainable_variable(tf: Any) -> Any:
    """A trainable variable that is read is watched, unless watch_accessed_variables=False."""
    v = tf.Variable(3.0)
    results = []
    for automatic in (True, False):
        with tf.GradientTape(watch_accessed_variables=automatic) as tape:
            y = v * v
        results.append([len(tape.watched_variables()), tape.gradient(y, v)])
    return results


@agrees
def test_every_read_is_noticed(tf: Any) -> Any:
    """A variable is read by operators on both sides, functions, indexing and read_value."""
    v, w = tf.Variable([3.0, 4.0]), tf.Variable([5.0, 6.0])
    reads = [
        lambda: 2.0 * v,
        lambda: np.array([1.0, 2.0]) * v,
        lambda: v - 1.0,
        lambda: -v,
        lambda: v**2,
        lambda: tf.sin(v),
        lambda: v[0],
        lambda: v * w,
        v.read_value,
        v.value,
        lambda: tf.constant([[1.0, 2.0]]) @ v[:, None],
        lambda: tf.reduce_sum(v),
    ]
    results = []
    for read in reads:
        with tf.GradientTape() as tape:
            y = read()
        watched = [any(u is x for x in tape.watched_variables()) for u in (v, w)]
        results.append([watched, tape.gradient(y, v)])
    return results


@agrees
def test_untrainable_variable(tf: Any) -> Any:
    """A trainable=False variable is not auto-watched; explicit watch works and lists it."""
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as unwatched:
        y = v * v
    with tf.GradientTape() as watched:
        watched.watch(v)
        z = v * v
    counts = [len(unwatched.watched_variables()), len(watched.watched_variables())]
    return [counts, unwatched.gradient(y, v), watched.gradient(z, v)]


@agrees
def test_constants(tf: Any) -> Any:
    """Constants are never auto-watched."""
    c = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = c * c
    return tape.gradient(y, c)


@refused(
    TapeStateError,
    "with GradientTape() as tape",
    "tape.watch(x)",
    tensorflow=raises("AttributeError"),
)
def test_watch_before_enter(tf: Any) -> Any:
    """watch before the first `with`: a clear error (AttributeError in TensorFlow)."""
    tf.GradientTape().watch(tf.constant(1.0))


@agrees
def test_watch_after_exit(tf: Any) -> Any:
    """watch after exit, no tape active: silently does nothing."""
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with tape:
        pass
    tape.watch(x)
    with tape:
        y = x * x
    return tape.gradient(y, x)


@differs(tensorflow=[None, 6.0], tapemagic=[6.0, 6.0])
def test_watch_inside_stop_recording(tf: Any) -> Any:
    """watch inside own stop_recording: honoured (in TensorFlow only if another tape is active)."""
    x = tf.constant(3.0)
    with tf.GradientTape() as alone:
        with alone.stop_recording():
            alone.watch(x)
        y = x * x
    with tf.GradientTape(), tf.GradientTape() as accompanied:
        with accompanied.stop_recording():
            accompanied.watch(x)
        z = x * x
    return [alone.gradient(y, x), accompanied.gradient(z, x)]


@agrees
def test_watch_after_the_op(tf: Any) -> Any:
    """watch after the op: too late, the op is not recorded."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
    return tape.gradient(y, x)


@differs(tensorflow=[24.0, 9.0], tapemagic=[12.0, 9.0])
def test_watch_after_an_op_of_another_source(tf: Any) -> Any:
    """watch after the op: too late, even if recorded for another source (TensorFlow: not)."""
    x, w = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = x * w
        tape.watch(x)
        z = y * x
    return tape.gradient(z, [x, w])


@agrees
def test_watch_twice(tf: Any) -> Any:
    """watch twice, or duplicates in a list: no effect on the value."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.watch([x, x])
        z = y * x
    return tape.gradient(z, x)


@agrees
def test_watch_an_intermediate(tf: Any) -> Any:
    """watch an intermediate: does not sever the chain to earlier sources."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.watch(y)
        z = y * y
    return tape.gradient(z, [x, y])


@agrees
def test_watch_a_structure(tf: Any) -> Any:
    """watch a structure: nested list, tuple and dict are flattened."""
    a, b, c, d = (tf.constant(float(i)) for i in range(4))
    with tf.GradientTape() as tape:
        tape.watch([a, (b, {"c": c, "d": [d]})])
        y = a + b * b + c * c * c + d * a
    return tape.gradient(y, [a, b, c, d])


@agrees
def test_watch_nothing(tf: Any) -> Any:
    """watch a structure: an empty one is watched too."""
    with tf.GradientTape() as tape:
        return [tape.watch([]), tape.watch({}), tape.watch(())]


def test_watch_bad_objects() -> None:
    """watch bad object: ndarray, float, str, None, or such a leaf in a structure."""
    x = tm.constant(1.0)
    with tm.GradientTape() as tape:
        errors = {
            name: raised_by(lambda bad=bad: tape.watch(bad))  # type: ignore[misc]
            for name, bad in {
                "ndarray": np.array([1.0]),
                "float": 1.5,
                "str": "word",
                "NoneType": None,
                "int": [x, {"a": 3}],
            }.items()
        }
        assert tape._tracked == {}

    assert all(isinstance(error, NotWatchableError) for error in errors.values())
    assert issubclass(NotWatchableError, ValueError)
    assert [] == [name for name, error in errors.items() if name not in str(error)]
    assert "tapemagic.Variable(x)" in str(errors["float"])


@refused(NotWatchableError, "ndarray", "tapemagic.Variable(x)")
def test_watch_an_array(tf: Any) -> Any:
    """watch bad object: ValueError."""
    with tf.GradientTape() as tape:
        tape.watch(np.array([1.0]))


@agrees
def test_watch_whole_numbers(tf: Any) -> Any:
    """watch int/bool tensor: allowed, a log warning, gradient None."""
    results = []
    for value in (3, True):
        x = tf.constant(value)
        with logged(tf) as messages, tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cast(x, "float64") * 2.0
        expected_words = "dtype of the watched tensor must be floating" in messages[0]
        results.append([len(messages), expected_words, tape.gradient(y, x)])
    return results


@agrees
def test_watch_whole_numbers_repeatedly(tf: Any) -> Any:
    """watch int/bool tensor: the first five times are logged."""
    with logged(tf) as messages, tf.GradientTape() as tape:
        for i in range(5):
            tape.watch(tf.constant(i))
    return len(messages)


def test_watch_whole_numbers_names_the_dtype() -> None:
    """watch int/bool tensor: the warning names the dtype, one for each such tensor."""
    with logged(TAPEMAGIC) as messages, tm.GradientTape() as tape:
        tape.watch([tm.constant(3), tm.constant([True]), tm.constant(1.0)])

    assert len(messages) == 2
    assert "got int64" in messages[0]
    assert "got bool" in messages[1]


def test_no_string_tensors() -> None:
    """watch string tensor: there are none, constant refuses to make them."""
    error = raised_by(lambda: tm.constant("word"))

    assert isinstance(error, TypeError)
    assert "holds numbers" in str(error)
    assert "'word'" in str(error)


@agrees
def test_watching_is_per_tape(tf: Any) -> Any:
    """watching is per tape: inner watch is invisible to the outer tape."""
    x = tf.constant(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        inner.watch(x)
        y = x * x
    return [outer.gradient(y, x), inner.gradient(y, x)]


@agrees
def test_identity(tf: Any) -> Any:
    """identity, not value: two equal constants are different sources."""
    tape, a, b, y = recorded(tf, lambda a, b: a * a * b, tf.constant(3.0), tf.constant(3.0))
    return tape.gradient(y, [a, b])


@agrees
def test_variable_created_inside(tf: Any) -> Any:
    """variable created inside the block: auto-watched on first read."""
    with tf.GradientTape() as tape:
        v = tf.Variable(3.0)
        unread = len(tape.watched_variables())
        y = v * v
    return [unread, len(tape.watched_variables()), tape.gradient(y, v)]


@agrees
def test_watched_variables_order(tf: Any) -> Any:
    """watched_variables(): unique, in creation order, explicitly watched ones and ints too."""
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    c, d = tf.Variable(3.0, trainable=False), tf.Variable(4)
    with tf.GradientTape() as tape:
        d.read_value()
        b * a * b
        tape.watch(c)
    return [[i for i, v in enumerate((a, b, c, d)) if v is w] for w in tape.watched_variables()]


@agrees
def test_watched_variables_excludes(tf: Any) -> Any:
    """watched_variables(): excludes reads under stop_recording."""
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            v * v
        w * w
    return [u is w for u in tape.watched_variables()]


@agrees
def test_watched_variables_life(tf: Any) -> Any:
    """watched_variables(): () at first; survives a gradient; cleared by reset and a new tape."""
    v = tf.Variable(3.0)
    tape = tf.GradientTape()
    counts = [len(tape.watched_variables())]
    with tape:
        y = v * v
        counts.append(len(tape.watched_variables()))
        tape.reset()
        counts.append(len(tape.watched_variables()))
        y = v * v
    tape.gradient(y, v)
    counts.append(len(tape.watched_variables()))
    with tape:
        counts.append(len(tape.watched_variables()))
    return counts
