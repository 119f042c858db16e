"""Errors for missing names that say what to write instead."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

PACKAGE = "tapemagic.tf"

NAMESPACES = (
    "math",
    "linalg",
    "nn",
    "random",
    "signal",
    "debugging",
    "dtypes",
    "nest",
    "bitwise",
    "compat.v1",
)
"""Modules that are searched for a name that is missing elsewhere."""

_NO_GRAPH = "there are no graphs here: every operation runs at once, so leave it out"
_NO_TEXT = "tensors hold numbers: keep text in Python's str and lists"
_RAGGED = (
    "tensors have rows of equal length: pad them, and keep a mask, as tf.sequence_mask makes one"
)
_SPARSE = (
    "tensors are dense here: keep zeros, or gather what you need with tf.gather and tf.scatter_nd"
)
_PICTURES = (
    "write np.asarray(PIL.Image.open(path)), or plt.imread(path) and plt.imsave(path, image)"
)
_STATELESS = "write the function without stateless_, and seed=1"
_FILES = "write Python's open(), or np.load and np.save"
_DOWNLOADS = "download the file with Python's urllib.request.urlretrieve"
_FROM_LINES = "write from_tensor_slices of an array, or from_generator with Python's open()"
_DEVICES = "there is one processor here: leave it out"

REFUSED: dict[str, str] = {
    "tf.xla": "nothing is compiled here: leave it out",
    "tf.distribute": _DEVICES,
    "tf.tpu": _DEVICES,
    "tf.dtensor": _DEVICES,
    "tf.saved_model": "models are saved as .keras files: write model.save('net.keras')",
    "tf.train.Example": _FILES,
    "tf.train.Features": _FILES,
    "tf.train.AdamOptimizer": "optimizers are in tf.keras.optimizers",
    "tf.train.GradientDescentOptimizer": "optimizers are in tf.keras.optimizers",
    "tf.train.Saver": "write tf.train.Checkpoint",
    "tf.summary": "logs for TensorBoard are not written: keep values in a list, and plot them with matplotlib",
    "tf.profiler": "use Python's cProfile",
    "tf.io": _FILES,
    "tf.gfile": _FILES,
    "tf.trainable_variables": "a model or layer has its own: write model.trainable_variables",
    "tf.variable_creator_scope": "variables are always created directly: leave it out",
    "tf.config.experimental": _DEVICES,
    "tf.sysconfig": _DEVICES,
    "tf.logging": "use the module logging of Python",
    "tf.image.decode_image": _PICTURES,
    "tf.image.decode_jpeg": _PICTURES,
    "tf.image.decode_png": _PICTURES,
    "tf.image.encode_jpeg": _PICTURES,
    "tf.image.encode_png": _PICTURES,
    "tf.image.stateless_random_flip_left_right": _STATELESS,
    "tf.image.stateless_random_crop": _STATELESS,
    "tf.image.stateless_random_brightness": _STATELESS,
    "tf.image.extract_patches": "write np.lib.stride_tricks.sliding_window_view, or tf.nn.conv2d",
    "tf.image.sobel_edges": "write tf.nn.depthwise_conv2d with the kernel",
    "tf.audio": "use the module wave of Python, or SciPy",
    "tf.lookup": "use a dict of Python",
    "tf.ragged": _RAGGED,
    "tf.RaggedTensor": _RAGGED,
    "tf.sparse": _SPARSE,
    "tf.SparseTensor": _SPARSE,
    "tf.IndexedSlices": "gradients are dense here: there are no slices with indices",
    "tf.strings": _NO_TEXT,
    "tf.text": _NO_TEXT,
    "tf.edit_distance": _NO_TEXT,
    "tf.string": _NO_TEXT,
    "tf.as_string": "write str(x.numpy())",
    "tf.bfloat16": "NumPy has no bfloat16: write tf.float16 or tf.float32",
    "tf.Graph": _NO_GRAPH,
    "tf.graph_util": _NO_GRAPH,
    "tf.gradients": "write with tf.GradientTape() as tape: ..., and tape.gradient(y, x)",
    "tf.hessians": "write a tape in a tape: outer.jacobian(inner.gradient(y, x), x)",
    "tf.Session": _NO_GRAPH,
    "tf.placeholder": "there are no graphs here: write a function of tensors",
    "tf.py_func": "write tf.py_function, or call the function",
    "tf.RegisterGradient": "write tf.custom_gradient, or tapemagic.register_vjp",
    "tf.feature_column": "prepare columns with NumPy or pandas",
    "tf.estimator": "write a loop with tf.GradientTape, or use tf.keras",
    "tf.autograph": "Python's if and for run directly: leave it out",
    "tf.lite": "models are not exported: leave it out",
    "tf.mlir": _NO_GRAPH,
    "tf.raw_ops": "write the function of the same name in tf or tf.math",
    "tf.quantization": "numbers are not quantized here",
    "tf.queue": "use the module queue of Python",
    "tf.sets": "use np.union1d, np.intersect1d and np.setdiff1d",
    "tf.experimental": "TensorFlow's experimental functions are missing here; NumPy's functions take tensors",
    "tf.flags": "use argparse",
    "tf.app": "call the function yourself",
    "tf.layers": "write tf.keras.layers",
    "tf.keras.utils.split_dataset": "write dataset.take(n) and dataset.skip(n)",
    "tf.keras.utils.get_file": _DOWNLOADS,
    "tf.keras.utils.image_dataset_from_directory": _FILES,
    "tf.keras.callbacks.TensorBoard": "the losses are in model.fit(...).history: plot them with matplotlib",
    "tf.keras.callbacks.CSVLogger": "the losses are in model.fit(...).history: write them with the module csv",
    "tf.keras.applications": "there are no trained networks here: train one, or load arrays with layer.set_weights",
    "tf.keras.preprocessing.image": "write Pillow's Image.open and resize, and np.asarray",
    "tf.keras.preprocessing.text": _NO_TEXT,
    "tf.keras.preprocessing.sequence": "write tf.keras.utils.pad_sequences, or slices of arrays",
    "tf.keras.mixed_precision": "give layers a dtype, as in Dense(3, dtype='float16')",
    "tf.data.TextLineDataset": _FROM_LINES,
    "tf.data.TFRecordDataset": _FILES,
    "tf.test": "compare tensors with tf.debugging.assert_near",
    "tf.debugging.set_log_device_placement": _DEVICES,
    "tf.keras.backend.gradients": "write with tf.GradientTape() as tape: ..., and tape.gradient(y, x)",
    "tf.keras.backend.function": "write keras.Model(inputs, outputs), and call it",
    "tf.keras.backend.placeholder": "write keras.Input(shape)",
    "tf.keras.backend.learning_phase": "write training=True or False in the call of the layer",
    "tf.keras.backend.set_learning_phase": "write training=True or False in the call of the layer",
    "tf.keras.backend.get_session": _NO_GRAPH,
    "tf.keras.backend.set_session": _NO_GRAPH,
    "tf.global_variables_initializer": "a variable has its value from the start: leave it out",
    "tf.linalg.LinearOperator": "write tf.linalg.matmul with a matrix",
}
"""TensorFlow names that are missing on purpose, with advice on what to write instead."""

_FALLBACKS: dict[str, str] = {
    "tf.keras.layers": "write a class derived from tf.keras.layers.Layer, with a method call(self, inputs)",
    "tf.keras.losses": "write a function of y_true and y_pred",
    "tf.keras.metrics": "write a function of y_true and y_pred",
    "tf.keras.callbacks": "write a class derived from tf.keras.callbacks.Callback",
    "tf.keras.datasets": "load the arrays with np.load, or those of scikit-learn's sklearn.datasets",
    "tf.keras.ops": "write NumPy's function, or that of tf or tf.math: both take tensors",
    "tf.keras": "tapemagic.nn lists what there is of Keras",
    "tf.image": "write NumPy's functions on the pixels, such as np.clip and np.mean",
    "tf.data": "a tf.data.Dataset is made by from_tensor_slices, from_generator or range",
}
"""Advice for any other missing name, by namespace prefix."""


MIN_SIMILARITY = 0.8
"""Minimum similarity for suggesting a name as a misspelling.

0.8 keeps ``TensorArray`` from suggesting ``Tensor``. Names with the same prefix, such as ``reduce_average`` and
``reduce_mean``, need less.
"""


def _namespace(module: str) -> str:
    """Return the name by which programs refer to a module."""
    return f"tf{module.removeprefix(PACKAGE)}"


def _elsewhere(name: str) -> str | None:
    """Find a name in another namespace."""
    for namespace in NAMESPACES:
        # Not an import: this runs inside a failing attribute lookup, and hasattr() must not load further modules.
        module = sys.modules.get(f"{PACKAGE}.{namespace}")
        if name in getattr(module, "__all__", ()):
            return f"tf.{namespace}.{name}"
    top = sys.modules.get(PACKAGE)
    return f"tf.{name}" if name in getattr(top, "__all__", ()) else None


def advice_for(namespace: str, name: str, offered: Sequence[str]) -> str:
    """Return advice on what to write instead of a missing name.

    Examples
    --------
    >>> advice_for("tf", "sparse", [])[:29]
    'tensors are dense here: keep '
    """
    full = f"{namespace}.{name}"
    # First, because a similar name would otherwise be suggested for something that is missing on purpose.
    refused = REFUSED.get(full) or REFUSED.get(full.replace("tf.compat.v1.", "tf."))
    if refused is not None:
        return refused
    if namespace == "tf.keras.layers":
        # Loaded already, with the layers of the namespace that is asked.
        advice: str = sys.modules["tapemagic.nn.absent"].missing_layer(name)
        if advice:
            return advice
    if name.startswith("LinearOperator"):
        return REFUSED["tf.linalg.LinearOperator"]
    same = _elsewhere(name)
    if same is not None and not (namespace.startswith("tf.keras") and "compat" in same):
        return f"write {same}"
    # Names of one family, such as reduce_*, share too many letters for the threshold to tell them apart: within the
    # family, difflib's own default of 0.6 is enough.
    family = [x for x in offered if "_" in name and x.startswith(f"{name.partition('_')[0]}_")]
    near = difflib.get_close_matches(name, offered, 3, MIN_SIMILARITY)
    near = near or difflib.get_close_matches(name, family, 3)
    if near:
        return f"did you mean {', '.join(f'{namespace}.{x}' for x in near)}?"
    if not namespace.startswith("tf.keras") and callable(getattr(np, name, None)):
        return f"write np.{name}: NumPy's functions take tensors too, and stay on the tape"
    for place, advice in _FALLBACKS.items():
        if namespace.startswith(place):
            return advice
    return "NumPy's functions, such as np.convolve, take tensors too, and stay on the tape"


def missing(module: str, offered: Sequence[str]) -> Callable[[str], Any]:
    """Return a module's ``__getattr__``, which raises an AttributeError with advice."""

    def __getattr__(name: str) -> Any:
        namespace = _namespace(module)
        message = f"tapemagic has no {namespace}.{name}"
        # Python, copy and inspect ask every module for __path__, __wrapped__ and others: no search for similar names
        # then.
        if not name.startswith("__"):
            message += f": {advice_for(namespace, name, offered)}"
        raise AttributeError(message, name=name, obj=sys.modules.get(module))

    return __getattr__
