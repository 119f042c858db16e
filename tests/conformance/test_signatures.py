"""SEMANTICS section 1: signatures."""

from __future__ import annotations

from typing import Any

from tapemagic.errors import OptionError
from tests.conformance.programs import agrees, recorded, refused, signature


@agrees
def test_constructor(tf: Any) -> Any:
    """ctor: GradientTape(persistent=False, watch_accessed_variables=True)."""
    return signature(tf.GradientTape)


@agrees
def test_constructor_takes_positions(tf: Any) -> Any:
    """ctor: both may be positional."""
    v, x = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape(True, False) as tape:
        tape.watch(x)
        y = v * x * x
    return [tape.gradient(y, [v, x]), tape.gradient(y, x)]


@agrees
def test_enter_returns_the_tape(tf: Any) -> Any:
    """`__enter__` returns the tape itself."""
    tape = tf.GradientTape()
    with tape as entered:
        pass
    return entered is tape


@agrees
def test_exit_swallows_nothing(tf: Any) -> Any:
    """`__exit__` never swallows exceptions."""
    try:
        with tf.GradientTape():
            raise KeyError("mine")
    except KeyError as error:
        return error.args[0]


@agrees
def test_watch(tf: Any) -> Any:
    """watch(tensor_or_nested_structure) -> None."""
    x, y = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape() as tape:
        returned = [tape.watch(x), tape.watch([{"y": y}])]
        z = x * y
    return [signature(tf.GradientTape.watch), returned, tape.gradient(z, [x, y])]


@agrees
def test_gradient(tf: Any) -> Any:
    """gradient(target, sources, output_gradients=None, unconnected_gradients=NONE)."""
    return signature(tf.GradientTape.gradient)


@agrees
def test_others(tf: Any) -> Any:
    """stop_recording() (context manager), reset(), watched_variables() -> tuple."""
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        with tape.stop_recording() as nothing:
            pass
        returned = tape.reset()
        y = v * v
    methods = [
        tf.GradientTape.stop_recording,
        tf.GradientTape.reset,
        tf.GradientTape.watched_variables,
    ]
    watched = tape.watched_variables()
    return [
        *map(signature, methods),
        nothing,
        returned,
        type(watched).__name__,
        watched[0] is v,
        tape.gradient(y, v),
    ]


@agrees
def test_enum(tf: Any) -> Any:
    """UnconnectedGradients.NONE = "none", .ZERO = "zero"."""
    return [(member.name, member.value) for member in tf.UnconnectedGradients]


@agrees
def test_enum_as_string(tf: Any) -> Any:
    """Strings are accepted for the enum."""
    x, y = tf.constant(1.0), tf.constant(2.0)
    options = ["none", "zero", tf.UnconnectedGradients.NONE, tf.UnconnectedGradients.ZERO]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = x * x
    return [tape.gradient(z, y, unconnected_gradients=option) for option in options]


@refused(OptionError, "'ZERO'", "'none'", "'zero'")
def test_enum_in_capitals(tf: Any) -> Any:
    """Strings are accepted in lower case only."""
    tape, x, y = recorded(tf, lambda x: x * x, tf.constant(1.0))
    return tape.gradient(y, x, unconnected_gradients="ZERO")
