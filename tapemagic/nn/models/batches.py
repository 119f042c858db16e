"""Data for a model, cut into batches: arrays, Dask arrays, and iterables of batches."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.events import record_exit
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.tensor.coercion import PandasData, require_plain
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Traced, unwrap, wrap
from tapemagic.errors import NotNumbersError, OptionError, RankError, ShapeError
from tapemagic.nn.random import generator

MAX_LISTED_ARRAYS = 6
"""Maximum number of arrays that a message names."""

Rows = Any
"""The numbers of the examples in a batch: a slice, an array, or None for batches of an iterable."""


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """Return the inputs, targets and weights of a batch, with None for missing parts.

    Raises OptionError if the batch is a tuple of more than three.

    - `data`: Only inputs, or a tuple of inputs, targets and optionally weights.

    Examples
    --------
    >>> unpack_x_y_sample_weight(("x", "y"))
    ('x', 'y', None)
    """
    # Keras treats a list as a tuple here: generators often yield [x, y].
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise OptionError(
            f"a batch must be (x, y) or (x, y, sample_weight), not a tuple of {len(data)}: put several inputs into a "
            "list, ([a, b], y)"
        )
    x, y, weight = (*data, None, None)[:3]
    return x, y, weight


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Return a batch as a tuple of inputs, targets and weights, or only the inputs without targets."""
    if sample_weight is not None:
        return x, y, sample_weight
    if y is not None:
        return x, y
    return (x,) if isinstance(x, list | tuple | dict) else x


def is_iterable_data(x: Any) -> bool:
    """Return True if `x` is an iterable of batches, and not an array or a list, tuple or dict of arrays."""
    if isinstance(x, Traced | PandasData | list | tuple | Mapping | str) or hasattr(x, "__array__"):
        return False
    if is_lazy(x):
        return False
    return isinstance(x, Iterable) or (hasattr(x, "__getitem__") and hasattr(x, "__len__"))


def arrays_in(structure: Any, what: str, dtype: Any = None) -> Any:
    """Convert the leaves of a structure, and nested lists of numbers in it, to arrays.

    Floating-point arrays are cast to `dtype`. Raises NotNumbersError for text and other objects; messages name the
    data `what`, such as "y".
    """
    if isinstance(structure, Mapping):
        return {
            name: arrays_in(part, f"{what}[{name!r}]", dtype) for name, part in structure.items()
        }
    if isinstance(structure, list | tuple) and not _is_numbers(structure):
        parts = [arrays_in(part, f"{what}[{k}]", dtype) for k, part in enumerate(structure)]
        return parts if isinstance(structure, list) else tuple(parts)
    return _array(structure, what, dtype)


def _is_numbers(x: Any) -> bool:
    """Return True if `x` is a number or a string, or a nested list of numbers and strings."""
    if isinstance(x, list | tuple):
        return bool(x) and all(map(_is_numbers, x))
    return isinstance(x, int | float | str | bytes | np.generic) or (
        isinstance(x, Traced) and not x.ndim
    )


def _array(value: Any, what: str, dtype: Any) -> Any:
    require_plain(type(value))
    if is_lazy(unwrap(value)):
        from tapemagic.distributed.partitions import rows_array

        return _cast(rows_array(value, what), dtype)
    if isinstance(value, Traced):
        # A tape around fit() can't follow the data into batches: `record_exit` lets reports say so.
        record_exit(value, "model.fit(), evaluate() or predict()")
    array = np.asarray(unwrap(value))
    if array.dtype.kind == "O":
        array = _from_objects(array)
    if array.dtype.kind not in "fiubc":
        # tolist() yields Python objects, whose class is more telling in a message than a NumPy string's.
        non_numbers = (
            x for x in array.ravel().tolist() if not isinstance(x, int | float | np.number)
        )
        first = next(non_numbers, None)
        text = isinstance(first, str | bytes)
        raise NotNumbersError(
            f"{what} holds {'text' if text else 'objects'} such as {shown(first)}, of the dtype {array.dtype}: "
            "pass numbers"
            + (", such as those of np.unique(values, return_inverse=True)[1]" if text else "")
        )
    if not array.ndim:
        raise RankError(
            f"{what} is the single number {shown(value)}: pass an array whose first axis counts examples"
        )
    return _cast(array, dtype)


def _cast(array: Any, dtype: Any) -> Any:
    cast = dtype is not None and array.dtype.kind == "f" and array.dtype != dtype
    return array.astype(dtype) if cast else array


def _from_objects(array: Any) -> Any:
    """Convert an object array of plain numbers, as a table with mixed column dtypes yields it, to floats."""
    plain = all(isinstance(x, int | float | np.number | np.bool_) for x in array.flat)
    return array.astype(float) if plain and array.size else array


def count_of(**data: Any) -> int:
    """Return the common number of examples in named structures of arrays, or raise ShapeError."""
    counts = {
        (name if len(arrays) == 1 else f"{name} (array {k})"): len(array)
        for name, structure in data.items()
        if structure is not None
        for arrays in [leaves(structure)]
        for k, array in enumerate(arrays)
    }
    if len(set(counts.values())) > 1:
        first = list(counts.items())[:MAX_LISTED_ARRAYS]
        listed = ", ".join(f"{name} has {count}" for name, count in first)
        if len(counts) > MAX_LISTED_ARRAYS:
            listed += ", and so on: a list is taken as several inputs; for one, write np.array(x)"
        raise ShapeError(
            f"all arrays must have the same number of examples along the first axis: {listed}"
        )
    if not counts or not max(counts.values()):
        raise ShapeError("there are no examples: the data is empty")
    return max(counts.values())


def rows_of(structure: Any, rows: Rows) -> Any:
    """Return a batch of tensors: the selected rows of each array in a structure."""
    # Copies, although a slice could be a view: tensors are immutable, and the user may change the array in place.
    if isinstance(structure, np.ndarray):
        if isinstance(rows, slice):
            return wrap(structure[rows].copy())
        return wrap(structure.take(rows, axis=0))
    parts = [rows_of(array, rows) for array in leaves(structure)]
    return pack(structure, parts)


class ArrayBatches:
    """Batches of arrays, the last of which may be smaller.

    Parameters
    ----------
    x, y, sample_weight : structure of arrays, or None
    batch_size : int
    shuffle : bool
        Draw a new order for each pass from the generator of `nn.random`.
    steps : int, optional
        The number of batches in an epoch; the next epoch continues with the next batch. By default all batches.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        sample_weight: Any,
        batch_size: int,
        shuffle: bool = False,
        steps: int | None = None,
    ) -> None:
        self.data = x, y, sample_weight
        self.count = count_of(x=x, y=y, sample_weight=sample_weight)
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.endless = steps is not None
        self.steps = -(-self.count // batch_size) if steps is None else steps  # rounded up
        self._rows: Iterator[Rows] = iter(())

    def epoch(self, restart: bool = False) -> Generator[tuple[Any, Rows]]:
        """Yield the batches of an epoch, as `train_step` receives them, with the numbers of their examples.

        With `restart`, an epoch of a fixed number of steps also starts at the beginning of the data.
        """
        if restart or not self.endless:
            self._rows = self._order()
        for _ in range(self.steps):
            rows = next(self._rows, None)
            if rows is None:
                self._rows = self._order()
                rows = next(self._rows)
            parts = [None if part is None else rows_of(part, rows) for part in self.data]
            yield pack_x_y_sample_weight(*parts), rows

    def _order(self) -> Iterator[Rows]:
        order = generator().permutation(self.count) if self.shuffle else None
        return rows_of_batches(self.count, self.batch_size, order)


def rows_of_batches(count: int, size: int, order: Any = None) -> Iterator[Rows]:
    """Yield the rows of each batch: slices, or parts of an array with the numbers of all rows."""
    for k in range(0, count, size):
        yield slice(k, min(k + size, count)) if order is None else order[k : k + size]


class ChunkedBatches:
    """Batches of Dask arrays, the last of which may be smaller; only the current chunk is in memory.

    Parameters
    ----------
    x, y, sample_weight : structure of arrays, or None
        At least one of them is a Dask array.
    batch_size : int
    shuffle : bool
        Draw a new order of the chunks, and of the examples in each, for each pass.
    steps : int, optional, see `ArrayBatches`
    class_weight : mapping of int to float, optional
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        sample_weight: Any,
        batch_size: int,
        shuffle: bool = False,
        steps: int | None = None,
        class_weight: Any = None,
    ) -> None:
        self.count = count_of(x=x, y=y, sample_weight=sample_weight)
        self.batch_size = batch_size
        self.endless = steps is not None
        self.steps = -(-self.count // batch_size) if steps is None else steps
        self._chunks = Chunks((x, y, sample_weight), batch_size, shuffle, class_weight)
        self._batches: Iterator[tuple[Any, Rows]] = iter(())

    def epoch(self, restart: bool = False) -> Generator[tuple[Any, Rows]]:
        """Yield the batches of an epoch, as `train_step` receives them, with the numbers of their examples."""
        if restart or not self.endless:
            self._batches = self._chunks.batches()
        for _ in range(self.steps):
            batch = next(self._batches, None)
            if batch is None:
                self._batches = self._chunks.batches()
                batch = next(self._batches)
            yield batch


class Chunks:
    """Reader of Dask arrays, chunk by chunk, into batches, which may span chunks.

    `data` is the tuple of `x`, `y` and `sample_weight`.
    """

    # A separate class, and not a part of ChunkedBatches: it keeps no batch, so a chunk is freed as soon as its
    # batches are, even where an epoch ends in the middle of the data.

    def __init__(self, data: Any, batch_size: int, shuffle: bool, class_weight: Any) -> None:
        self.data = data
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.class_weight = class_weight

    def batches(self) -> Iterator[tuple[Any, Rows]]:
        """Yield all batches; a batch that begins in one chunk continues in the next."""
        pending: list[tuple[list[Any], Rows]] = []
        missing = self.batch_size
        for arrays, rows in self._read():
            start = 0
            while start < len(rows):
                stop = min(start + missing, len(rows))
                pending.append(([array[start:stop] for array in arrays], rows[start:stop]))
                missing -= stop - start
                start = stop
                if not missing:
                    yield self._joined(pending)
                    pending, missing = [], self.batch_size
        if pending:
            yield self._joined(pending)

    def _read(self) -> Iterator[tuple[list[Any], Rows]]:
        """Read the chunks one by one, and yield them with the numbers of their rows."""
        from tapemagic.distributed.partitions import read_rows, row_ranges

        arrays = leaves(self._present())
        ranges = row_ranges(arrays)
        numbers = generator().permutation(len(ranges)) if self.shuffle else range(len(ranges))
        for k in numbers:
            start, stop = ranges[k]
            chunk = read_rows(arrays, start, stop)
            rows = np.arange(start, stop)
            if self.shuffle:
                order = generator().permutation(stop - start)
                chunk, rows = [array[order] for array in chunk], rows[order]
            yield chunk, rows

    def _present(self) -> list[Any]:
        return [part for part in self.data if part is not None]

    def _joined(self, pending: list[tuple[list[Any], Rows]]) -> tuple[Any, Rows]:
        """Join the pieces of a batch, and return them as tensors with the numbers of their rows."""
        parts = zip(*[arrays for arrays, _ in pending], strict=True)
        present = iter(pack(self._present(), [np.concatenate(pieces) for pieces in parts]))
        x, y, weight = [None if part is None else next(present) for part in self.data]
        if self.class_weight is not None:
            weight = weights_of_classes(y, self.class_weight)
        tensors = [None if part is None else rows_of(part, slice(None)) for part in (x, y, weight)]
        return pack_x_y_sample_weight(*tensors), np.concatenate([rows for _, rows in pending])


_END = object()


class IteratedBatches:
    """Batches from an iterable: a generator, or an object that can be iterated again for each epoch.

    Parameters
    ----------
    source : iterable
        Of `x`, ``(x, y)`` or ``(x, y, sample_weight)``.
    dtype : dtype, optional
        The dtype to which floating-point inputs are cast.
    steps : int, optional
        See `ArrayBatches`. The attribute `steps` is None until the number of batches is known.
    class_weight : mapping of int to float, optional
    """

    def __init__(
        self, source: Any, dtype: Any = None, steps: int | None = None, class_weight: Any = None
    ) -> None:
        self.source = source
        self.dtype = dtype
        self.endless = steps is not None
        self.steps = _length(source) if steps is None else steps
        self.class_weight = class_weight
        self.only_once = isinstance(source, Iterator)
        self._iterator: Iterator[Any] = iter(())
        self._epochs = 0

    def epoch(self, restart: bool = False) -> Generator[tuple[Any, Rows]]:
        """Yield the batches of an epoch, as `train_step` receives them, with None for the numbers of examples."""
        self._epochs += 1
        if restart or not self.endless or self._epochs == 1:
            self._iterator = _iterated(self.source)
        count = 0
        while not (self.endless and count == self.steps):
            batch = self._next()
            if batch is _END:
                break
            count += 1
            yield self._as_tensors(batch), None
        if not count or (self.endless and count != self.steps):
            requirement = f", which must have {self.steps}" if self.endless else ""
            raise OptionError(
                f"the data ended after {count} batches of epoch {self._epochs}{requirement}: pass data that can be "
                "iterated again for each epoch, or an endless generator and steps_per_epoch="
            )
        if not self.endless:
            self.steps = count
            if hasattr(self.source, "on_epoch_end"):
                self.source.on_epoch_end()

    def _next(self) -> Any:
        """Return the next batch, from the start of the source again if an epoch has a fixed number of steps."""
        batch = next(self._iterator, _END)
        if batch is _END and self.endless and not self.only_once:
            self._iterator = _iterated(self.source)
            batch = next(self._iterator, _END)
        return batch

    def _as_tensors(self, batch: Any) -> Any:
        x, y, weight = unpack_x_y_sample_weight(batch)
        x = arrays_in(x, "x", self.dtype)
        y = None if y is None else arrays_in(y, "y")
        weight = None if weight is None else arrays_in(weight, "sample_weight")
        if self.class_weight is not None:
            weight = weights_of_classes(y, self.class_weight)
        count_of(x=x, y=y, sample_weight=weight)
        parts = [None if part is None else rows_of(part, slice(None)) for part in (x, y, weight)]
        return pack_x_y_sample_weight(*parts)


Batches = ArrayBatches | ChunkedBatches | IteratedBatches


def _length(source: Any) -> int | None:
    try:
        return len(source)
    except TypeError:
        return None


def _iterated(source: Any) -> Iterator[Any]:
    if isinstance(source, Iterable):
        return iter(source)
    return (source[k] for k in range(len(source)))


def weights_of_classes(y: Any, class_weight: Mapping[int, float]) -> Any:
    """Return the weight of each example by its class, or 1 for classes without a weight.

    `y` holds class numbers of shape (n,) or (n, 1), or rows with a number for each class. Raises OptionError for any
    other structure of targets.

    Examples
    --------
    >>> import numpy as np
    >>> weights_of_classes(np.array([0, 1, 2]), {1: 5.0})
    array([1., 5., 1.])
    """
    if not isinstance(y, np.ndarray):
        raise OptionError(
            "class_weight is for models with one array of labels: pass sample_weight for others"
        )
    if y.ndim > 1:
        y = np.argmax(y, axis=-1) if y.shape[-1] > 1 else y[..., 0]
    classes = np.round(y).astype(int)
    if not isinstance(class_weight, Mapping):
        raise OptionError(
            f"class_weight must be a dict of weights by class number, not {shown(class_weight)}"
        )
    weights = np.ones(classes.shape)
    for number, weight in class_weight.items():
        weights[classes == number] = weight
    return weights


def split(data: Sequence[Any], fraction: float) -> tuple[list[Any], list[Any]]:
    """Split structures of arrays in two, where the second part has a fraction of the examples, from the end."""
    if not 0 < fraction < 1:
        raise OptionError(
            f"validation_split must be a number between 0 and 1, not {fraction!r}: write 0.2"
        )
    count = count_of(x=data[0], y=data[1], sample_weight=data[2])
    border = int(count * (1 - fraction))
    if border in {0, count}:
        raise OptionError(
            f"validation_split={fraction} of {count} examples leaves one part empty: pass "
            "validation_data, or more examples"
        )

    def part(structure: Any, rows: slice) -> Any:
        if structure is None:
            return None
        return pack(structure, [array[rows] for array in leaves(structure)])

    first = [part(x, slice(border)) for x in data]
    return first, [part(x, slice(border, None)) for x in data]
