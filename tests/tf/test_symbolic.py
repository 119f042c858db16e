"""TensorFlow's functions on the symbolic inputs of a model."""

from __future__ import annotations

import pickle

import numpy as np

from tapemagic import tf


def test_functions_become_layers() -> None:
    """tf.* functions between Input and Model are computed when the model is called, also after pickling."""
    tf.keras.backend.clear_session()
    a, b = tf.keras.Input((4,)), tf.keras.Input((4,))
    hidden = tf.concat([tf.nn.relu(a), tf.square(b)], axis=-1)
    outputs = tf.reduce_mean(hidden, axis=-1, keepdims=True) * 2
    model = tf.keras.Model([a, b], outputs)
    x, y = np.float32([[-1, 2, 3, -4]]), np.float32([[1, 2, 3, 4]])

    expected = 2 * np.concatenate([np.maximum(x, 0), y * y], -1).mean(-1, keepdims=True)

    for called in (model, pickle.loads(pickle.dumps(model))):  # noqa: S301 (its own)
        found = called([tf.constant(x), y])
        assert type(found) is tf.Tensor
        np.testing.assert_allclose(found, expected)
    assert [layer.name for layer in model.operations] == [
        "relu",
        "square",
        "concat",
        "reduce_mean",
        "multiply",
    ]
