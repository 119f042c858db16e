"""``tf.keras.utils``: helpers."""

from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.nn.config import floatx
from tapemagic.nn.models.batches import pack_x_y_sample_weight, unpack_x_y_sample_weight
from tapemagic.nn.module import clear_names
from tapemagic.nn.symbolic import SymbolicTensor
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import as_dtype
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras.file_cache import get_file
from tapemagic.tf.keras.model_plot import plot_model
from tapemagic.tf.keras.pictures import array_to_img, img_to_array, load_img, save_img
from tapemagic.tf.keras.saving import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from tapemagic.tf.random import set_seed


def set_random_seed(seed: int) -> None:
    """Seed the random numbers of layers, initializers and ``tf.random``, as ``tf.random.set_seed`` does.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.keras.utils.set_random_seed(1)
    """
    set_seed(seed)


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Convert class numbers to one-hot rows.

    Parameters
    ----------
    x : array_like of int
        The classes, starting at 0.
    num_classes : int, optional
        Default: the largest class plus one.

    Returns
    -------
    numpy.ndarray of float64
        Shape of `x` (without a last axis of length 1) plus an axis of length `num_classes`.

    Raises
    ------
    OptionError
        If a class is negative, not an integer, or too large.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.keras.utils.to_categorical([0, 2])
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    # A NumPy array, as in Keras: labels are prepared before training, and have no gradient.
    numbers = np.asarray(unwrap(tensor(x)))
    classes = numbers.astype(np.int64)
    if np.any(classes != numbers):
        raise OptionError("classes are integers: pass the labels 0, 1, 2, ... to to_categorical")
    # Labels often come as a column, of shape (n, 1): Keras drops that axis.
    if classes.ndim > 1 and classes.shape[-1] == 1:
        classes = classes[..., 0]
    count = int(classes.max(initial=-1)) + 1 if num_classes is None else int(num_classes)
    wrong = classes[(classes < 0) | (classes >= count)]
    if wrong.size:
        raise OptionError(
            f"the class {wrong[0]} is not one of 0 to {count - 1}: pass num_classes={wrong[0] + 1} or more"
        )
    return np.eye(count)[classes]


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """Divide an array by its norm along an axis; where the norm is 0, leave it unchanged.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.keras.utils.normalize([[3.0, 4.0]], order=1).round(3)
    array([[0.429, 0.571]], dtype=float32)
    """
    values = np.asarray(unwrap(tensor(x)))
    # The norm of a vector is a scalar, into which the next line could not write.
    norms = np.atleast_1d(np.linalg.norm(values, order, axis))
    norms[norms == 0] = 1
    return values / np.expand_dims(norms, axis)


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Convert lists of different lengths to rows of one length, filled up with a value.

    Parameters
    ----------
    sequences : sequence of sequences
    maxlen : int, optional
        The length of the rows, by default that of the longest sequence.
    dtype : dtype, optional
    padding, truncating : {'pre', 'post'}, optional
        Whether to fill up, and to cut off, at the begin or at the end.
    value : float or str, optional
        The value that fills up.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.keras.utils.pad_sequences([[1, 2, 3], [4]], padding="post")
    array([[1, 2, 3],
           [4, 0, 0]], dtype=int32)
    """
    for name, side in (("padding", padding), ("truncating", truncating)):
        if side not in {"pre", "post"}:
            raise OptionError(f"{name} of pad_sequences must be 'pre' or 'post', not {side!r}")
    try:
        rows = [np.asarray(unwrap(row)) for row in sequences]
    except ValueError:
        rows = [np.empty(0)]
        sequences = [0]
    if any(not row.ndim for row in rows) or any(np.ndim(row) == 0 for row in sequences):
        raise OptionError(
            "pad_sequences takes a list of sequences, each a list of numbers: write [[1, 2], [3]]"
        )
    shapes = {row.shape[1:] for row in rows if len(row)}
    if len(shapes) > 1:
        raise OptionError(
            f"the elements of all sequences must have one shape, not {' and '.join(map(str, sorted(shapes)))}"
        )
    length = max(map(len, rows), default=0) if maxlen is None else int(maxlen)
    result = np.full((len(rows), length, *(shapes or [()]).pop()), value, dtype)
    for target, row in zip(result, rows, strict=True):
        count = min(len(row), length)
        if count:
            kept = row[-count:] if truncating == "pre" else row[:count]
            place = slice(length - count, None) if padding == "pre" else slice(count)
            target[place] = kept
    return result


class PyDataset:
    """Base class of data in batches: override ``__len__`` and ``__getitem__``, which returns a batch by its number.

    Parameters
    ----------
    workers, use_multiprocessing, max_queue_size
        Keras loads batches ahead of time with them; here each batch is loaded when it's needed.

    Examples
    --------
    >>> import numpy as np
    >>> import tapemagic.tf as tf
    >>> class Ones(tf.keras.utils.Sequence):
    ...     def __len__(self):
    ...         return 3
    ...
    ...     def __getitem__(self, index):
    ...         return np.ones((4, 2)), np.ones((4, 1))
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> model.fit(Ones(), verbose=0)
    <History of 1 epochs: loss>
    """

    def __init__(
        self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10
    ) -> None:
        self.workers = workers
        self.use_multiprocessing = use_multiprocessing
        self.max_queue_size = max_queue_size

    def __len__(self) -> int:
        return int(self.num_batches)

    @property
    def num_batches(self) -> Any:
        """The number of batches."""
        raise NotImplementedError(
            f"{type(self).__name__} has no length: write a method __len__(self) that returns the number of batches"
        )

    def __getitem__(self, index: int) -> Any:
        """Return a batch by its number."""
        raise NotImplementedError(
            f"{type(self).__name__} has no batches: write a method __getitem__(self, index) that returns x, y"
        )

    def on_epoch_begin(self) -> None:
        """Called before an epoch."""

    def on_epoch_end(self) -> None:
        """Called after an epoch."""


Sequence = PyDataset


def timeseries_dataset_from_array(
    data: Any,
    targets: Any,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: int | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
) -> Any:
    """Return a data set of windows of a series, with the targets at their first steps.

    Parameters
    ----------
    data : array_like
        The series; its first axis is the time.
    targets : array_like or None
        ``targets[i]`` belongs to the window that begins at step i.
    sequence_length : int
        The number of steps in a window.
    sequence_stride, sampling_rate : int, optional
        The distance of the windows, and of the steps in a window.
    batch_size : int or None, optional
        None returns single windows.
    shuffle : bool, optional
    seed : int, optional
    start_index, end_index : int, optional
        The part of the data from which windows are taken, without `end_index` itself.

    Returns
    -------
    tf.data.Dataset

    Examples
    --------
    >>> import numpy as np
    >>> import tapemagic.tf as tf
    >>> x = np.arange(6)
    >>> windows = tf.keras.utils.timeseries_dataset_from_array(x[:-2], x[2:], 2)
    >>> [[part.numpy().tolist() for part in batch] for batch in windows]
    [[[[0, 1], [1, 2], [2, 3]], [2, 3, 4]]]
    """
    # Imported here: programs with Keras seldom need data sets.
    from tapemagic.tf.data import Dataset

    first, end = start_index or 0, len(data) if end_index is None else end_index
    series = np.asarray(unwrap(data))[first:end]
    extent = (sequence_length - 1) * sampling_rate
    count = max(len(series) - extent, 0)
    if targets is not None:
        values = np.asarray(unwrap(targets))[first:end]
        count = min(count, len(values))
    starts = np.arange(0, count, sequence_stride)
    if not len(starts):
        raise OptionError(
            f"no window of {sequence_length} steps at a distance of {sampling_rate} fits into {len(series)} steps"
        )
    if shuffle:
        starts = np.random.default_rng(seed).permutation(starts)
    windows = series[starts[:, None] + np.arange(0, extent + 1, sampling_rate)]
    arrays = windows if targets is None else (windows, values[starts])
    dataset = Dataset.from_tensor_slices(arrays)
    return dataset if batch_size is None else dataset.batch(batch_size)


def split_dataset(
    dataset: Any,
    left_size: Any = None,
    right_size: Any = None,
    shuffle: bool = False,
    seed: int | None = None,
) -> Any:
    """Split a data set, arrays or a list into two data sets.

    Parameters
    ----------
    dataset : tf.data.Dataset, array_like or tuple of array_like
    left_size, right_size : int or float, optional
        The number of elements, or their share from 0 to 1; one of both is enough.
    shuffle : bool, optional
    seed : int, optional

    Returns
    -------
    (tf.data.Dataset, tf.data.Dataset)
    """
    from tapemagic.tf.data import Dataset

    if not isinstance(dataset, Dataset):
        dataset = Dataset.from_tensor_slices(dataset)
    elements = list(dataset)
    given, rest = (_part(size, len(elements)) for size in (left_size, right_size))
    if given is None and rest is None:
        raise OptionError("split_dataset needs left_size or right_size: write left_size=0.8")
    if shuffle:
        elements = [elements[k] for k in np.random.default_rng(seed).permutation(len(elements))]
    left = len(elements) - (rest or 0) if given is None else given
    right = len(elements) - left if rest is None else rest
    if min(left, right) < 1 or left + right > len(elements):
        raise OptionError(
            f"{len(elements)} elements can't be split into {left} and {right}: both parts need an element"
        )
    return tuple(_dataset(part) for part in (elements[:left], elements[len(elements) - right :]))


def _part(size: Any, count: int) -> int | None:
    if size is None:
        return None
    return round(size * count) if isinstance(size, float) else int(size)


def _dataset(elements: list[Any]) -> Any:
    from tapemagic.tf.data import Dataset

    if isinstance(elements[0], tuple):
        columns = tuple(np.stack([unwrap(x) for x in part]) for part in zip(*elements, strict=True))
        return Dataset.from_tensor_slices(columns)
    return Dataset.from_tensor_slices(np.stack([unwrap(x) for x in elements]))


def standardize_dtype(dtype: Any) -> str:
    """Return the name of a dtype, by default `floatx`."""
    if dtype is None:
        return floatx()
    return str(getattr(as_dtype(dtype), "name", dtype))


def is_keras_tensor(x: Any) -> bool:
    """Return True for a symbolic tensor of a model."""
    return isinstance(x, SymbolicTensor)


def clear_session(free_memory: bool = True) -> None:
    """Reset the automatic names of layers: the next Dense layer is called "dense" again."""
    clear_names()


def enable_interactive_logging() -> None:
    """Do nothing: `fit` shows its progress unless verbose=0."""


def is_interactive_logging_enabled() -> bool:
    """Return True, because `fit` shows its progress."""
    return True


__all__ = [
    "CustomObjectScope",
    "PyDataset",
    "Sequence",
    "array_to_img",
    "clear_session",
    "custom_object_scope",
    "deserialize_keras_object",
    "enable_interactive_logging",
    "get_custom_objects",
    "get_file",
    "get_registered_name",
    "get_registered_object",
    "img_to_array",
    "is_interactive_logging_enabled",
    "is_keras_tensor",
    "load_img",
    "normalize",
    "pack_x_y_sample_weight",
    "pad_sequences",
    "plot_model",
    "register_keras_serializable",
    "save_img",
    "serialize_keras_object",
    "set_random_seed",
    "split_dataset",
    "standardize_dtype",
    "timeseries_dataset_from_array",
    "to_categorical",
    "unpack_x_y_sample_weight",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
