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
_NO_TEXT = "tensors of strings are for constants and printing: keep text in Python's str and lists"
_RAGGED = (
    "tensors have rows of equal length: pad them, and keep a mask, as tf.sequence_mask makes one"
)
_SPARSE = (
    "tensors are dense here: keep zeros, or gather what you need with tf.gather and tf.scatter_nd"
)
_BY_PILLOW = "write np.asarray(PIL.Image.open(path))"
_STATELESS = "write the function without stateless_, and seed=1"
_FILES = "write Python's open(), or np.load and np.save"
_FROM_LINES = "write from_tensor_slices of an array, or from_generator with Python's open()"
_DEVICES = "there is one processor here: leave it out"

_NO_INTEGERS = "numbers are not quantized here"
_PICTURE_FILES = "nothing is unpickled here: download the binary version, and read it with np.fromfile(file, np.uint8)"
_PICKLED = "nothing is unpickled here: load the lists in Keras, and store them with json"
_SOUND = "use scipy.signal before training"
_SPEECH = "write the sum over paths with tapemagic.logsumexp"
_OTHER_OPTIMIZER = "write AdamW or Adam, or a class derived from tf.keras.optimizers.Optimizer"
_FROM_FOLDERS = "write tf.keras.utils.load_img and img_to_array for each file, and tf.data.Dataset.from_tensor_slices"

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
    "tf.gfile": _FILES,
    "tf.trainable_variables": "a model or layer has its own: write model.trainable_variables",
    "tf.variable_creator_scope": "variables are always created directly: leave it out",
    "tf.config.experimental": _DEVICES,
    "tf.sysconfig": _DEVICES,
    "tf.logging": "use the module logging of Python",
    "tf.image.stateless_random_flip_left_right": _STATELESS,
    "tf.image.stateless_random_crop": _STATELESS,
    "tf.image.stateless_random_brightness": _STATELESS,
    "tf.image.decode_gif": "write decode_image(contents, expand_animations=False) for the first frame",
    "tf.image.decode_jxl": _BY_PILLOW,
    "tf.image.decode_webp": _BY_PILLOW,
    "tf.io.decode_gif": "write decode_image(contents, expand_animations=False) for the first frame",
    "tf.io.decode_jxl": _BY_PILLOW,
    "tf.io.decode_webp": _BY_PILLOW,
    "tf.image.extract_patches": "write np.lib.stride_tricks.sliding_window_view, or tf.nn.conv2d",
    "tf.image.sobel_edges": "write tf.nn.depthwise_conv2d with the kernel",
    "tf.audio": "use the module wave of Python, or SciPy",
    "tf.lookup": "use a dict of Python",
    "tf.ragged": _RAGGED,
    "tf.RaggedTensor": _RAGGED,
    "tf.sparse": _SPARSE,
    "tf.SparseTensor": _SPARSE,
    "tf.IndexedSlices": "gradients are dense here: there are no slices with indices",
    "tf.text": _NO_TEXT,
    "tf.edit_distance": _NO_TEXT,
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
    "tf.keras.utils.image_dataset_from_directory": _FROM_FOLDERS,
    "tf.keras.applications": "there are no trained networks here: train one, or load arrays with layer.set_weights",
    "tf.keras.distribution": _DEVICES,
    "tf.keras.device": _DEVICES,
    "tf.keras.distillation": "write train_step in a class derived from tf.keras.Model",
    "tf.keras.export": "models are saved as .keras files: write model.save('net.keras')",
    "tf.keras.quantizers": _NO_INTEGERS,
    "tf.keras.Quantizer": _NO_INTEGERS,
    "tf.keras.wrappers": "fit and predict take arrays: scikit-learn's estimators need a class of your own around them",
    "tf.keras.visualization": "write matplotlib's imshow",
    "tf.keras.tree": "write tf.nest",
    "tf.keras.legacy": "write the function without legacy",
    "tf.keras.src": "write keras's public names",
    "tf.keras.dtype_policies": "write tf.keras.mixed_precision",
    "tf.keras.FloatDTypePolicy": "write tf.keras.DTypePolicy",
    "tf.keras.Function": "write keras.Model(inputs, outputs)",
    "tf.keras.Operation": "write a class derived from tf.keras.Layer",
    "tf.keras.RematScope": "write tf.recompute_grad(function)",
    "tf.keras.remat": "write tf.recompute_grad(function)",
    "tf.keras.StatelessScope": "write functions of arrays, as with tapemagic.grad",
    "tf.keras.SymbolicScope": "layers that are called on tf.keras.Input compute shapes",
    "tf.keras.version": "write tf.keras.__version__",
    "tf.keras.estimator": "write model.fit",
    "tf.keras.experimental": "write the name without experimental",
    "tf.keras.callbacks.BackupAndRestore": "write ModelCheckpoint, and load_model to go on",
    "tf.keras.callbacks.OrbaxCheckpoint": "write ModelCheckpoint",
    "tf.keras.callbacks.ProgbarLogger": "fit shows a progress bar unless verbose=0",
    "tf.keras.callbacks.RemoteMonitor": "write LambdaCallback with a function that sends the logs",
    "tf.keras.callbacks.SwapEMAWeights": "write a Callback that assigns the averages",
    "tf.keras.datasets.cifar10": _PICTURE_FILES,
    "tf.keras.datasets.cifar100": _PICTURE_FILES,
    "tf.keras.datasets.imdb": _PICKLED,
    "tf.keras.datasets.reuters": _PICKLED,
    "tf.keras.datasets.california_housing": "write sklearn.datasets.fetch_california_housing",
    "tf.keras.initializers.STFT": _SOUND,
    "tf.keras.initializers.STFTInitializer": _SOUND,
    "tf.keras.initializers.stft": _SOUND,
    "tf.keras.ops.ctc_decode": "write np.argmax(output, axis=-1), and drop repeated numbers and blanks in Python",
    "tf.keras.ops.ctc_loss": _SPEECH,
    "tf.keras.ops.lu_factor": "write keras.ops.solve or det, which factor the matrix themselves",
    "tf.keras.ops.vectorize": "write tf.vectorized_map: Keras's vectorize fails on TensorFlow too",
    "tf.keras.losses.CTC": _SPEECH,
    "tf.keras.losses.ctc": _SPEECH,
    "tf.keras.mixed_precision.LossScaleOptimizer": "float32 needs no scaled losses: use the optimizer itself",
    "tf.keras.optimizers.Adafactor": _OTHER_OPTIMIZER,
    "tf.keras.optimizers.Ftrl": _OTHER_OPTIMIZER,
    "tf.keras.optimizers.Lamb": _OTHER_OPTIMIZER,
    "tf.keras.optimizers.LossScaleOptimizer": "float32 needs no scaled losses: use the optimizer itself",
    "tf.keras.optimizers.MultiOptimizer": "write an optimizer for each group of variables, and apply each",
    "tf.keras.optimizers.Muon": _OTHER_OPTIMIZER,
    "tf.keras.optimizers.OptimizerMap": "write an optimizer for each group of variables, and apply each",
    "tf.keras.optimizers.ScheduleFreeAdamW": _OTHER_OPTIMIZER,
    "tf.keras.optimizers.legacy": "write the optimizer of the same name in tf.keras.optimizers",
    "tf.keras.preprocessing.image.ImageDataGenerator": _FROM_FOLDERS,
    "tf.keras.preprocessing.image.DirectoryIterator": _FROM_FOLDERS,
    "tf.keras.preprocessing.image.Iterator": _FROM_FOLDERS,
    "tf.keras.preprocessing.image.NumpyArrayIterator": _FROM_FOLDERS,
    "tf.keras.preprocessing.image_dataset_from_directory": _FROM_FOLDERS,
    "tf.keras.preprocessing.text_dataset_from_directory": _FILES,
    "tf.keras.utils.audio_dataset_from_directory": _FILES,
    "tf.keras.utils.text_dataset_from_directory": _FILES,
    "tf.keras.utils.FeatureSpace": "prepare columns with NumPy or pandas",
    "tf.keras.utils.Config": "use a dict of Python",
    "tf.keras.utils.Progbar": "use tqdm",
    "tf.keras.utils.bounding_boxes": "compute boxes with NumPy",
    "tf.keras.utils.disable_interactive_logging": "write verbose=2 in fit",
    "tf.keras.utils.get_source_inputs": "write model.inputs",
    "tf.keras.utils.legacy": "write the function without legacy",
    "tf.keras.utils.model_to_dot": "write tf.keras.utils.plot_model",
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
    "tf.io": _FILES,
    "tf.strings": "write Python's methods on x.numpy().decode()",
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


def refusal(path: str) -> str:
    """Return the advice for a name that is refused on purpose, itself or with its module, or '' for any other.

    Examples
    --------
    >>> refusal("tf.keras.applications.VGG16") == REFUSED["tf.keras.applications"]
    True
    """
    path = path.replace("tf.compat.v1.", "tf.")
    while path:
        if path in REFUSED:
            return REFUSED[path]
        path = path.rpartition(".")[0]
    return ""


def advice_for(namespace: str, name: str, offered: Sequence[str]) -> str:
    """Return advice on what to write instead of a missing name.

    Examples
    --------
    >>> advice_for("tf", "sparse", [])[:29]
    'tensors are dense here: keep '
    """
    full = f"{namespace}.{name}"
    # First, because a similar name would otherwise be suggested for something that is missing on purpose.
    refused = refusal(full)
    if refused:
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
