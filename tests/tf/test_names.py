"""The names that tapemagic.tf offers are TensorFlow's, and what is missing says what to write instead."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from tapemagic import tf
from tapemagic.tf.core.missing import REFUSED
from tests.tf.harness import load
from tools import keras_table

STORED = load("names")
TENSORFLOW = {name: names for name, names in STORED.items() if not name.startswith("keras")}
OLD = {"enable_eager_execution", "lin_space", "contrib"}
"""Names of TensorFlow 1, for the fourth seed."""

NOT_IN_NUMPY = {"approx_max_k", "approx_min_k", "sobol_sample"}
"""What tf.math has and this has not."""


def offered(namespace: str) -> set[str]:
    """The public names of a namespace here."""
    path = "tapemagic.tf" + ("" if namespace == "tf" else f".{namespace}")
    return set(importlib.import_module(path).__all__)


@pytest.mark.parametrize("namespace", [name for name in TENSORFLOW if name != "compat.v1"])
def test_every_name_is_one_of_tensorflow(namespace: str) -> None:
    """Nothing is offered that a program could not find in TensorFlow 2.21."""
    unknown = offered(namespace) - set(TENSORFLOW[namespace])

    assert unknown <= (OLD if namespace == "tf" else set())


def test_all_names_are_there() -> None:
    """Each name of each ``__all__`` can be read."""
    for namespace in TENSORFLOW:
        module = importlib.import_module(
            "tapemagic.tf" + ("" if namespace == "tf" else f".{namespace}")
        )
        for name in module.__all__:
            assert getattr(module, name) is not None or name == "newaxis"


def test_tf_math_is_whole() -> None:
    """Of the 132 names of tf.math three are missing, of those of tf.math.special none."""
    assert NOT_IN_NUMPY == set(TENSORFLOW["math"]) - offered("math")
    assert 132 == len(TENSORFLOW["math"])
    assert set(TENSORFLOW["math.special"]) == offered("math.special")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("reduce_summ", "did you mean tf.reduce_sum"),
        ("keras.layers.TextVectorization", "a dict of Python"),
        ("keras.metrics.Unheard", "write a function of y_true and y_pred"),
        ("rot90", "write np.rot90"),
        ("compat.v1.Session", "there are no graphs here"),
        ("config.experimental", "one processor"),
        ("trainable_variables", "model.trainable_variables"),
        ("log", "write tf.math.log"),
        ("distribute", "there is one processor here"),
        ("saved_model", "model.save("),
        ("xla", "nothing is compiled here"),
        ("summary", "matplotlib"),
        ("sparse", "dense"),
        ("ragged", "tf.sequence_mask"),
        ("text", "Python's str"),
        ("strings.unicode_split", "x.numpy().decode()"),
        ("image.non_max_suppression", "NumPy's functions on the pixels"),
        ("io.parse_example", "Python's open()"),
        ("lookup", "a dict of Python"),
        ("gradients", "tape.gradient(y, x)"),
        ("math.reduce_summ", "did you mean tf.math.reduce_sum"),
        ("math.matmul", "write tf.linalg.matmul"),
        ("linalg.LinearOperatorDiag", "tf.linalg.matmul with a matrix"),
        ("nn.reluu", "tf.nn.relu"),
        ("random.norma", "tf.random.normal"),
        ("debugging.assert_nearly", "tf.debugging.assert_near"),
        ("convolve_it", "NumPy's functions"),
        ("reduce_average", "did you mean tf.reduce_mean"),
        ("keras.layers.ConvLSTM3D", "RNN around a cell of your own"),
        ("keras.layers.Hashing", "np.digitize"),
        ("keras.layers.Unheard", "a class derived from tf.keras.layers.Layer"),
        ("keras.ops.unheard", "NumPy's function"),
        ("keras.layers.GRUCel", "did you mean tf.keras.layers.GRUCell"),
        ("keras.callbacks.RemoteMonitor", "LambdaCallback"),
        ("keras.datasets.cifar10", "np.fromfile"),
        ("keras.backend.gradients", "tape.gradient"),
        ("test", "tf.debugging.assert_near"),
        ("data.TextLineDataset", "from_generator"),
    ],
)
def test_a_missing_name_says_what_to_write(path: str, words: str) -> None:
    """An AttributeError, as for any module, with the words to write in its place."""
    *parents, name = path.split(".")
    module = tf
    for parent in parents:
        module = getattr(module, parent)
    with pytest.raises(AttributeError, match=f"tf.{path}") as caught:
        getattr(module, name)

    assert words in str(caught.value)
    assert not hasattr(module, name)


def test_every_name_of_keras_has_a_row() -> None:
    """The page on Keras says of each public name whether it's here; what is refused has advice of its own."""
    rows = keras_table.rows()

    assert {(namespace, name) for namespace, name, _, _ in rows} == {
        (namespace, name)
        for namespace in STORED
        if namespace.startswith("keras")
        for name in STORED[namespace]
    }
    assert all(advice for _, _, status, advice in rows if status != keras_table.HERE)
    assert keras_table.document() == keras_table.DOCUMENT.read_text(encoding="utf-8")


def test_every_refusal_is_raised() -> None:
    """The table of refusals has no name that is here, and its advice is what the error says."""
    for path, advice in REFUSED.items():
        module: object = tf
        *parents, name = path.removeprefix("tf.").split(".")
        for parent in parents:
            if parent in dir(module) or hasattr(module, parent):
                module = getattr(module, parent)
            else:
                break
        else:
            with pytest.raises(AttributeError) as caught:
                getattr(module, name)
            assert advice in str(caught.value)


def test_keras_at_the_top() -> None:
    """Parts of Keras that TensorFlow has under two names are the same modules."""
    for name in tf.OF_KERAS:
        assert getattr(tf, name) is getattr(tf.keras, name)
    for name, kind in tf.INITIALIZERS.items():
        assert getattr(tf, name) is getattr(tf.keras.initializers, kind)
    assert tf.random_normal_initializer()(shape=(2, 3)).shape == (2, 3)


def test_tapemagic_does_not_load_tf() -> None:
    """``import tapemagic`` is light; Keras and data sets are loaded when they are first used."""
    code = (
        "import sys, tapemagic\n"
        "assert 'tapemagic.tf' not in sys.modules\n"
        "import tapemagic.tf as tf\n"
        "assert 'tapemagic.tf.keras' not in sys.modules and 'tapemagic.tf.data' not in sys.modules\n"
        "assert 'tapemagic.nn' not in sys.modules and 'tqdm' not in sys.modules\n"
        "assert 'keras' in dir(tf) and 'scipy' not in sys.modules and 'IPython' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
