"""SEMANTICS section 2: the lifecycle of a tape."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic.engine.registry import Operation
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.errors import (
    ConsumedTapeError,
    NotATensorError,
    NotRecordingError,
    OptionError,
    TapeStateError,
)
from tests.conformance.programs import agrees, differs, logged, raised_by, raises, recorded, refused


@agrees
def test_recording_rule(tf: Any) -> Any:
    """An op is recorded iff the tape is active and at least one input is on the tape."""
    x, c = tf.constant(3.0), tf.constant(2.0)
    before = x * x
    with tf.GradientTape() as tape:
        tape.watch(x)
        constant = c * c
        chained = tf.sin(x * c)
    after = x * x
    return tape.gradient([chained, constant], [x, c, before, constant]), after


@agrees
def test_recording_rule_outside(tf: Any) -> Any:
    """Operations before and after the block are not recorded."""
    x = tf.constant(3.0)
    before = x * x
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
    after = x * x
    return [tape.gradient(before, x), tape.gradient(after, x)]


@agrees
def test_recording_rule_dtype(tf: Any) -> Any:
    """An op is recorded only if the input on the tape has a float or complex dtype."""
    results = []
    for value in (3, 3.0, 3j):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        results.append(tape.gradient(y, x))
    return results


@refused(ConsumedTapeError, "one set of gradients", "persistent=True", "[a, b]")
def test_second_gradient(tf: Any) -> Any:
    """2nd gradient on a non-persistent tape: RuntimeError."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    tape.gradient(y, x)
    return tape.gradient(y, x)


@refused(ConsumedTapeError, "persistent=True")
def test_second_gradient_after_none(tf: Any) -> Any:
    """2nd gradient: raised even if the first call returned None."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None
    return tape.gradient(y, x)


@agrees
def test_gradient_inside(tf: Any) -> Any:
    """gradient inside own context, non-persistent: the rest of the block is not recorded."""
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            g = tape.gradient(x * x, x)
            rest = x * g
    return [g, outer.gradient(rest, x)]


@refused(TapeStateError, "a new tape", "persistent=True", tensorflow=raises("AttributeError"))
def test_gradient_inside_then_watch(tf: Any) -> Any:
    """gradient inside own context, non-persistent: after it, watch() raises a clear error."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.gradient(x * x, x)
        tape.watch(x)


@refused(TapeStateError, "not recording", "already used")
def test_gradient_inside_then_reset(tf: Any) -> Any:
    """gradient inside own context, non-persistent: after it, reset() raises ValueError."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.gradient(x * x, x)
        tape.reset()


@refused(NotRecordingError, "Trying to stop recording a tape", "already used", "persistent=True")
def test_gradient_inside_then_stop_recording(tf: Any) -> Any:
    """gradient inside own context, non-persistent: after it, stop_recording() -> RuntimeError."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.gradient(x * x, x)
        with tape.stop_recording():
            pass


@refused(NotRecordingError, "never entered", "enter it first, with 'with tape:'")
def test_gradient_of_a_tape_never_entered(tf: Any) -> Any:
    """A tape that was never entered: RuntimeError."""
    x = tf.constant(3.0)
    return tf.GradientTape().gradient(x, x)


@refused(NotRecordingError, "never entered", "enter it first, with 'with tape:'")
def test_jacobian_of_a_tape_never_entered(tf: Any) -> Any:
    """A tape that was never entered: RuntimeError, of a persistent one, too."""
    x = tf.constant([3.0])
    return tf.GradientTape(persistent=True).jacobian(x, x)


@agrees
def test_gradient_inside_persistent(tf: Any) -> Any:
    """gradient inside own context, persistent: recorded, so it can be differentiated again."""
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
    return [first, second, tape.gradient(second, x)]


@agrees
def test_gradient_inside_persistent_warns(tf: Any) -> Any:
    """gradient inside own context, persistent: one log warning, the first time only."""
    x = tf.constant(3.0)
    with logged(tf) as messages, tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        for _ in range(2):
            tape.gradient(y, x)
    return [len(messages), "persistent" in messages[0], "inside its context" in messages[0]]


@agrees
def test_gradient_outside_persistent(tf: Any) -> Any:
    """gradient outside, persistent: repeatable; results are constants."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0), persistent=True)
    g = tape.gradient(y, x)
    return [g, tape.gradient(y, x), tape.gradient(g, x)]


@refused(TapeStateError, "still recording", "second GradientTape")
def test_re_enter_active(tf: Any) -> Any:
    """re-enter an active tape: ValueError."""
    with tf.GradientTape() as tape, tape:
        pass


@agrees
def test_re_enter_active_exits_cleanly(tf: Any) -> Any:
    """re-enter an active tape: the outer `with` still exits cleanly."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        try:
            tape.__enter__()
        except ValueError:
            z = y * x
    return tape.gradient(z, [x, y])


@refused(TapeStateError, "Tape is still recording", "entered inside", "stop_recording()")
def test_enter_in_a_pause(tf: Any) -> Any:
    """re-enter while stop_recording pauses it, and stay: ValueError when the pause ends."""
    with tf.GradientTape() as tape, tape.stop_recording():
        tape.__enter__()


@agrees
def test_enter_and_leave_in_a_pause(tf: Any) -> Any:
    """re-enter while stop_recording pauses it: records for that long, and goes on after the pause."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            constant = x * x
            with tape:
                y = x * x
        z = y * x + constant
    return tape.gradient(z, x)


@agrees
def test_re_enter_after_exit(tf: Any) -> Any:
    """re-enter after exit: the same tape goes on; ops between the blocks are constants."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0), persistent=True)
    between = y * 2.0
    with tape:
        z = y * x
        w = between * x
    return [tape.gradient(z, x), tape.gradient(w, x), tape.gradient(between, x)]


@agrees
def test_re_enter_consumed(tf: Any) -> Any:
    """re-enter after being consumed: a fresh tape, old records and watches gone."""
    x, y = tf.constant(3.0), tf.constant(4.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
        old = x * x
    first = tape.gradient(old, x)
    with tape:
        tape.watch(y)
        z = x * y
    return [first, tape.gradient([z, old], [x, y])]


@agrees
def test_exception_inside(tf: Any) -> Any:
    """exception inside the block: the tape is left normally and stays usable for gradient."""
    x = tf.constant(3.0)
    try:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            raise KeyError
    except KeyError:
        after = x * x
    return [tape.gradient(y, x), tape.gradient(after, x)]


@agrees
def test_exit_order(tf: Any) -> Any:
    """exit order: tapes are a set, not a stack; each records until its own exit."""
    x = tf.constant(3.0)
    a, b = tf.GradientTape(persistent=True), tf.GradientTape(persistent=True)
    a.__enter__()
    a.watch(x)
    b.__enter__()
    b.watch(x)
    both = x * x
    a.__exit__(None, None, None)
    only_b = x * x
    b.__exit__(None, None, None)
    neither = x * x
    return [[tape.gradient(y, x) for y in (both, only_b, neither)] for tape in (a, b)]


@agrees
def test_threads(tf: Any) -> Any:
    """threads: the set of active tapes is thread-local; ops on another thread are not recorded."""
    x = tf.constant(3.0)
    results = []
    with tf.GradientTape() as tape:
        tape.watch(x)
        thread = Thread(target=lambda: results.append(x * x))
        thread.start()
        thread.join()
    return tape.gradient(results[0], x)


@agrees
def test_failed_argument_check(tf: Any) -> Any:
    """failed argument check: bad unconnected_gradients or target=None does not consume."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0))
    for target, option in ((y, "nonsense"), (None, "none")):
        try:
            tape.gradient(target, x, unconnected_gradients=option)
        except (ValueError, TypeError):
            continue
    return tape.gradient(y, x)


def test_failed_argument_checks_of_our_own() -> None:
    """failed argument check: no other refused argument consumes the tape either."""
    x = tm.constant(3.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    errors = [
        raised_by(lambda: tape.gradient(y, None)),
        raised_by(lambda: tape.gradient(1.0, x)),
        raised_by(lambda: tape.gradient(y, x, output_gradients=[1.0, 2.0, 3.0])),
        raised_by(lambda: tape.gradient(y, x, unconnected_gradients=None)),  # type: ignore[arg-type]
    ]

    assert [type(error) for error in errors[:2]] == [NotATensorError, NotATensorError]
    assert isinstance(errors[3], OptionError)
    assert float(tape.gradient(y, x)) == 6.0


def test_failure_in_the_backward_pass() -> None:
    """failure inside the backward pass: the tape stays whole (TensorFlow's is corrupted)."""
    failures = iter([ZeroDivisionError("once")])

    def fragile(g: Any, _y: Any, x: Any) -> Any:
        for failure in failures:
            raise failure
        return g * 2.0 * x

    operation = Operation(np.square)
    operation.rules = (fragile,)
    x = tm.constant(3.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = apply(operation, (x,), {})

    assert isinstance(raised_by(lambda: tape.gradient(y, x)), ZeroDivisionError)
    assert float(tape.gradient(y, x)) == 6.0


def test_failure_in_the_backward_pass_inside() -> None:
    """failure inside the backward pass, in the tape's own block: it goes on recording."""

    def hopeless(_g: Any, _y: Any, _x: Any) -> Any:
        raise ZeroDivisionError

    operation = Operation(np.square)
    operation.rules = (hopeless,)
    x = tm.constant(3.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = apply(operation, (x,), {})
        error = raised_by(lambda: tape.gradient(y, x))
        z = x * x

    assert isinstance(error, ZeroDivisionError)
    assert float(tape.gradient(z, x)) == 6.0


@differs(tensorflow=raises("InternalError"), tapemagic=[6.0, 6.0])
def test_truthy_persistent(tf: Any) -> Any:
    """persistent=1: any truthy value is accepted (in TensorFlow the second call fails)."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(3.0), persistent=1)
    return [tape.gradient(y, x), tape.gradient(y, x)]
