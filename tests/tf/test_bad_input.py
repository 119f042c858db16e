"""Wrong values, dtypes, shapes and options get an error that says what was wrong and what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import tf
from tapemagic.errors import TapeError

F, D, N, B = (
    tf.constant([1.0, 2.0]),
    tf.constant([1.0], tf.float64),
    tf.constant([1, 2]),
    tf.constant([True]),
)
V = tf.Variable([1.0, 2.0])
U = tf.constant([1, 2], tf.uint8)
P = tf.ones((2, 3, 4))
Invalid = tf.errors.InvalidArgumentError

CASES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: F + N, Invalid, "not float32 and int32: write tf.cast(x, tf.float32)"),
    (lambda: F * D, Invalid, "float32 and float64"),
    (lambda: V - D, Invalid, "float32 and float64"),
    (lambda: N + 1.5, Invalid, "int32 and float32"),
    (lambda: N + np.array([0.5, 1.5]), Invalid, "int32 and float64"),
    (lambda: F + 1j, Invalid, "complex"),
    (lambda: F > N, Invalid, "tf.cast"),
    (lambda: B + B, Invalid, "booleans"),
    (lambda: tf.add(F, N), Invalid, "add takes tensors of one dtype"),
    (lambda: tf.concat([F, N], 0), Invalid, "concat takes tensors of one dtype"),
    (lambda: tf.matmul(tf.ones((1, 1)), tf.ones((1, 1), tf.float64)), Invalid, "matmul"),
    (lambda: tf.where([True, False], F, N), Invalid, "where"),
    (lambda: tf.sin(N), Invalid, "sin does not take integers, here of int32: write tf.cast(x, tf.float32)"),
    (lambda: tf.sqrt(4), Invalid, "sqrt"),
    (lambda: tf.reduce_sum(B), Invalid, "booleans"),
    (lambda: tf.reduce_all(F), Invalid, "reduce_all"),
    (lambda: F + tf.constant([1.0, 2.0, 3.0]), Invalid, "(2,) (3,)"),
    (lambda: tf.ones((2, 3)) @ tf.ones((2, 3)), Invalid, "mismatch"),
    (lambda: tf.matmul(F, F), Invalid, "two axes or more"),
    (lambda: F @ F, Invalid, "write tf.linalg.matvec(a, x), or tf.tensordot(x, y, 1)"),
    (lambda: F @ tf.ones((2, 3)), Invalid, "not of shapes (2,) and (2, 3)"),
    (lambda: V @ [1.0, 2.0], Invalid, "two axes or more"),
    (lambda: -U, Invalid, "- does not take unsigned integers"),
    (lambda: abs(U), Invalid, "abs does not take unsigned integers"),
    (lambda: U**U, Invalid, "** does not take unsigned integers"),
    (lambda: tf.negative(U), Invalid, "negative does not take integers, here of uint8"),
    (lambda: tf.abs(U), Invalid, "abs"),
    (lambda: tf.sign(U), Invalid, "sign"),
    (lambda: tf.pow(U, U), Invalid, "pow"),
    (lambda: -B, Invalid, "booleans"),
    (lambda: B < tf.constant([False]), Invalid, "< takes real numbers, not bool"),
    (lambda: tf.sort(B), Invalid, "sort does not take booleans"),
    (lambda: tf.sort(B, direction="DESCENDING"), Invalid, "sort does not take booleans"),
    (lambda: tf.argsort(B), Invalid, "argsort does not take booleans"),
    (lambda: tf.math.top_k(B), Invalid, "top_k does not take booleans"),
    (lambda: tf.pad(F, [[2, 0]], "REFLECT"), Invalid, "adds at most 1 elements on each side"),
    (lambda: tf.pad(F, [[0, 3]], "SYMMETRIC"), Invalid, "adds at most 2 elements on each side"),
    (lambda: tf.pad(F[:0], [[1, 0]], "REFLECT"), Invalid, "adds at most 0 elements"),
    (lambda: tf.gather(P, [[0]], batch_dims=1), Invalid, "first 1 axes must have equal lengths"),
    (lambda: tf.gather(P, [0], batch_dims=1), Invalid, "first 1 axes must have equal lengths"),
    (lambda: tf.gather(P, [[0, 1], [0, 1]], batch_dims=2), Invalid, "first 2 axes"),
    (lambda: tf.gather(P, [0, 1], batch_dims=-2), Invalid, "batch_dims between -1 and 1, not -2"),
    (lambda: tf.gather(P, [[0], [1]], axis=0, batch_dims=1), Invalid, "come before the axis"),
    (lambda: tf.math.bincount(N, maxlength=-1), Invalid, "maxlength of at least 0"),
    (lambda: tf.math.bincount([[1]], axis=1), ValueError, "axis=0, which counts all elements, or -1, not 1"),
    (lambda: tf.math.bincount([[[1]]], axis=-1), Invalid, "at most a matrix"),
    (lambda: tf.math.bincount([1], weights=[1.0], binary_output=True), ValueError, "not both"),
    (lambda: tf.math.bincount([[1, 2]], weights=[1.0, 2.0], axis=-1), Invalid, "a weight for each element"),
    (lambda: tf.math.bincount([1, 2], weights=[1.0, 2.0, 3.0]), Invalid, "a weight for each element"),
    (lambda: tf.math.bincount([-1, 2]), Invalid, "integers from 0, not -1"),
    (lambda: tf.while_loop(lambda i: i < 3, lambda i: (i + 1, i), [N[0]]), ValueError, "length: 1 and 2"),
    (lambda: tf.while_loop(lambda i, j: i < j, lambda i, j: i + j, [N[0], N[1]]), ValueError, "length"),
    (lambda: tf.while_loop(lambda d: d["i"] < 3, lambda d: [{"j": d["i"] + 1}], [{"i": N[0]}]), ValueError, "keys"),
    (lambda: tf.while_loop(lambda t: t[0] < 3, lambda t: [[t[0] + 1]], [(N[0],)]), TypeError, "tuple and list"),
    (lambda: F[5], Invalid, "out of bounds"),
    (lambda: F[5], IndexError, "out of bounds"),
    (lambda: tf.gather(F, [7]), Invalid, "not in [0, 2)"),
    (lambda: tf.reshape(F, (3, 3)), Invalid, "cannot reshape"),
    (lambda: tf.reduce_sum(F, axis=3), Invalid, "axis 3"),
    (lambda: tf.split(F, 3), Invalid, "equal parts"),
    (lambda: N // 0, Invalid, "division by zero"),
    (lambda: N**-1, Invalid, "negative"),
    (lambda: tf.linalg.inv(tf.zeros((2, 2))), Invalid, "not invertible"),
    (lambda: tf.add_n([F, tf.ones(3)]), Invalid, "one shape"),
    (lambda: tf.sqrt(tf.constant("text")), TapeError, "numbers"),
    (lambda: tf.constant(None), TapeError, "numbers"),
    (lambda: tf.constant([[1, 2], [3]]), TapeError, "rows differ"),
    (lambda: tf.constant(1.5, tf.int32), TypeError, "Cannot convert 1.5"),
    (lambda: tf.constant([1, 2, 3], shape=(2, 2)), Invalid, "3 elements"),
    (lambda: tf.constant(D, tf.float32), Invalid, "tf.cast(x, tf.float32)"),
    (lambda: tf.constant(1.0, "string"), TapeError, "not text"),
    (lambda: tf.cast(F, "bfloat16"), TypeError, "no bfloat16"),
    (tf.Variable, TapeError, "needs an initial value"),
    (lambda: tf.Variable(1.0, shape=(2,)), ValueError, "Shapes"),
    (lambda: V.assign([1.0, 2.0, 3.0]), ValueError, "keeps its shape"),
    (lambda: V.assign(D), Invalid, "float64"),
    (lambda: tf.Variable(2).assign(2.5), Invalid, "tf.cast"),
    (lambda: V.__iadd__(1), RuntimeError, "assign_add"),
    (lambda: F.__setitem__(0, 1.0), TypeError, "cannot be written into"),
    (lambda: hash(F), TypeError, "x.ref()"),
    (lambda: {V: 1}, TypeError, "x.ref()"),
    (lambda: F.name, AttributeError, "no name"),
    (lambda: bool(F), ValueError, "ambiguous"),
    (lambda: tf.function(lambda x: x).get_concrete_function(F).graph, TapeError, "there are no graphs"),
    (lambda: tf.function(lambda x: x).get_concrete_function(F)(F, F), TypeError, "takes x; received 2"),
    (lambda: tf.function(lambda x: x).get_concrete_function(F)(tf.constant(1)), Invalid, "dtype int32"),
    (lambda: tf.function(lambda x: x, input_signature=[tf.TensorSpec([3])])(F), Invalid, "not TensorSpec"),
    (lambda: tf.function(3), TapeError, "expected a function"),
    (lambda: tf.Module(name="a b"), ValueError, "not a valid module name"),
    (lambda: tf.nn.dropout(F, 1.0), TapeError, "rate"),
    (lambda: tf.nn.conv2d(tf.ones((1, 3, 3, 1)), tf.ones((2, 2, 1, 1)), 1, "VALID", "NCHW"), TapeError, "tf.transpose"),
    (lambda: tf.random.uniform([2], maxval=None, dtype=tf.int32), TapeError, "maxval"),
    (lambda: tf.random.stateless_normal([2], seed=1), TapeError, "two integers"),
    (lambda: tf.random.set_seed("a"), TapeError, "an integer"),
    (lambda: tf.sort(F, direction="UP"), TapeError, "DESCENDING"),
    (lambda: tf.pad(F, [[1, 1]], mode="WRAP"), TapeError, "SYMMETRIC"),
    (lambda: tf.debugging.assert_equal(F, [1.0, 3.0], "wrong"), Invalid, "wrong"),
    (lambda: tf.debugging.assert_near(F, [1.0, 2.1]), Invalid, "tolerance"),
    (lambda: tf.debugging.check_numerics([1.0, np.nan], "loss"), Invalid, "loss : Tensor had NaN"),
    (lambda: tf.debugging.assert_rank(F, 2), ValueError, "rank 2"),
    (lambda: tf.ensure_shape(F, [3]), Invalid, "not compatible"),
    (lambda: len(tf.TensorShape(None)), ValueError, "unknown rank"),
    (lambda: tf.zeros(tf.TensorShape([None, 2])), ValueError, "partially known"),
    (lambda: tf.TensorShape([-1]), ValueError, "-1"),
    (lambda: tf.TensorShape([2.5]), TypeError, "2.5"),
    (tf.compat.v1.disable_eager_execution, TapeError, "no graphs"),
    (lambda: tf.while_loop(lambda i: i < 3, lambda i: i, [0], back_prop=False), TapeError, "tf.stop_gradient"),
    (lambda: tf.custom_gradient(3), TapeError, "expected a function"),
    (lambda: tf.keras.ops.rearrange(P, "a b c -> a b"), ValueError, "names of all 3 axes"),
    (lambda: tf.keras.ops.rearrange(P, "a b (c d) -> a b c d"), ValueError, "needs the length of 'd': write d=2"),
    (lambda: tf.keras.ops.rearrange(P[0], "(a b) (c d) -> a b (c d)", a=1, b=2, c=3, d=2), ValueError,
     "can't split an axis of length 3 into [1, 2]"),
    (lambda: tf.keras.ops.psnr(F, P, 1.0), ValueError, "equal shapes, not (2,) and (2, 3, 4)"),
    (lambda: tf.keras.ops.ldexp(F, F), TypeError, "integers as exponents, not float32"),
    (lambda: tf.keras.ops.fft(F), ValueError, "a tuple of real and imaginary parts"),
    (lambda: tf.keras.ops.view_as_complex(P), ValueError, "a last axis of length 2, not the shape (2, 3, 4)"),
    (lambda: tf.keras.ops.dot_product_attention(P, P, P), ValueError, "(batch, length, heads, size), not (2, 3, 4)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), CASES, ids=[words for _, _, words in CASES])
def test_an_error_says_what_is_wrong(
    call: Callable[[], Any], error: type[Exception], words: str
) -> None:
    """With the class that TensorFlow raises, which is also one of `tapemagic.errors`."""
    with pytest.raises(error) as caught:
        call()

    assert words in str(caught.value)


def test_an_operation_that_fails_leaves_the_tape_usable() -> None:
    """And what was recorded before stays."""
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(V * V)
        with pytest.raises(Invalid):
            V + N

    np.testing.assert_array_equal([2.0, 4.0], tape.gradient(y, V).numpy())
