"""SEMANTICS section 5: stop_recording and reset."""

from __future__ import annotations

from typing import Any

import tapemagic as tm
from tapemagic.engine.recording import live
from tapemagic.errors import ConsumedTapeError, NotRecordingError, TapeStateError
from tests.conformance.programs import agrees, logged, refused


@agrees
def test_stop_recording(tf: Any) -> Any:
    """stop_recording: results are constants for this tape."""
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        before = x * x
        with tape.stop_recording():
            constant = before * x
        after = constant * before
    return [tape.gradient(y, x) for y in (before, constant, after)]


@agrees
def test_stop_recording_is_of_one_tape(tf: Any) -> Any:
    """stop_recording: this tape only; other tapes keep recording."""
    x = tf.constant(3.0)
    with tf.GradientTape() as a, tf.GradientTape() as b:
        a.watch(x)
        b.watch(x)
        with a.stop_recording():
            y = x * x
    return [a.gradient(y, x), b.gradient(y, x)]


@agrees
def test_stop_recording_and_variables(tf: Any) -> Any:
    """stop_recording: variables read inside are not auto-watched."""
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape, tape.stop_recording():
        y = v * v
    return [len(tape.watched_variables()), tape.gradient(y, v)]


@refused(NotRecordingError, "not recording", "with tape:")
def test_stop_recording_never_entered(tf: Any) -> Any:
    """never entered: RuntimeError."""
    with tf.GradientTape().stop_recording():
        pass


@refused(TapeStateError, "Tape is not recording", "stop_recording()", "'with' block")
def test_stop_recording_after_exit(tf: Any) -> Any:
    """after exit: ValueError."""
    with tf.GradientTape() as tape:
        pass
    with tape.stop_recording():
        pass


@refused(TapeStateError, "Tape is not recording", "stop_recording()")
def test_stop_recording_nested_in_itself(tf: Any) -> Any:
    """nested in itself: ValueError."""
    with tf.GradientTape() as tape, tape.stop_recording(), tape.stop_recording():
        pass


@agrees
def test_stop_recording_nested_in_itself_resumes(tf: Any) -> Any:
    """nested in itself: after the error recording resumes where the outer block ends."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        try:
            with tape.stop_recording(), tape.stop_recording():
                pass
        except ValueError:
            y = x * x
    return tape.gradient(y, x)


@agrees
def test_exception_inside(tf: Any) -> Any:
    """exception inside: recording resumes."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        try:
            with tape.stop_recording():
                raise KeyError
        except KeyError:
            y = x * x
    return tape.gradient(y, x)


@agrees
def test_persistent_gradient_under_it(tf: Any) -> Any:
    """persistent gradient under it: fine; result not recorded, no warning."""
    x = tf.constant(3.0)
    with logged(tf) as messages, tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        with tape.stop_recording():
            g = tape.gradient(y, x)
    return [g, tape.gradient(g, x), messages]


@refused(ConsumedTapeError, "persistent=True", tensorflow=[6.0, None])
def test_gradient_under_it(tf: Any) -> Any:
    """non-persistent gradient under it: consumes; a later gradient raises (None in TensorFlow)."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            g = tape.gradient(y, x)
    return [g, tape.gradient(y, x)]


def test_rest_of_the_block_after_a_gradient_under_it() -> None:
    """non-persistent gradient under it: the rest of the block is not recorded."""
    v = tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            tape.gradient(y, v)
        live_tapes = live()
        v * v

    assert live_tapes == ()
    assert tape.records == ()


@agrees
def test_reset(tf: Any) -> Any:
    """reset: drops records and manual watches; values computed before become constants."""
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        before = x * x
        tape.reset()
        unwatched = x * x
        tape.watch(x)
        after = before * x
    return [tape.gradient(y, x) for y in (before, unwatched, after)]


@agrees
def test_reset_and_variables(tf: Any) -> Any:
    """reset: variables are auto-watched again on next read."""
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        before = v * w
        tape.reset()
        after = v * before
    return [[u is v for u in tape.watched_variables()], tape.gradient(after, [v, w])]


@agrees
def test_reset_of_one_tape(tf: Any) -> Any:
    """reset: this tape only."""
    x = tf.constant(3.0)
    with tf.GradientTape() as a, tf.GradientTape() as b:
        a.watch(x)
        b.watch(x)
        y = x * x
        a.reset()
    return [a.gradient(y, x), b.gradient(y, x)]


@refused(TapeStateError, "Tape is not recording", "reset()", "'with' block")
def test_reset_when_not_active(tf: Any) -> Any:
    """reset when not active: ValueError."""
    with tf.GradientTape() as tape:
        pass
    tape.reset()


@refused(TapeStateError, "Tape is not recording", "reset()")
def test_reset_before_enter(tf: Any) -> Any:
    """reset when not active: neither before the first `with`."""
    tf.GradientTape().reset()
