"""Data for a model, cut into batches: arrays, and whatever gives batches when it is iterated."""

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

_LISTED = 6
"""The most arrays that a message names."""

Rows = Any
"""The numbers of the examples in a batch: a slice, an array, or None if they have none."""


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """Inputs, targets and weights of a batch, None for what is missing.

    Parameters
    ----------
    data : object
        Inputs alone, or a tuple of inputs, targets and perhaps weights.

    Raises
    ------
    OptionError
        If it is a tuple of more than three.

    Examples
    --------
    >>> unpack_x_y_sample_weight(("x", "y"))
    ('x', 'y', None)
    """
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise OptionError(
            f"a batch is (x, y) or (x, y, sample_weight), and not a tuple of {len(data)}: put several inputs into a "
            "list, ([a, b], y)"
        )
    x, y, weight = (*data, None, None)[:3]
    return x, y, weight


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """A batch as a tuple of inputs, targets and weights, as many as there are; inputs alone are no tuple."""
    if sample_weight is not None:
        return x, y, sample_weight
    if y is not None:
        return x, y
    return (x,) if isinstance(x, list | tuple | dict) else x


def is_iterable_data(x: Any) -> bool:
    """Whether data are to be iterated, each item being a batch: anything that is no array, list, tuple or dict."""
    if isinstance(x, Traced | PandasData | list | tuple | Mapping | str) or hasattr(x, "__array__"):
        return False
    if is_lazy(x):
        return False
    return isinstance(x, Iterable) or (hasattr(x, "__getitem__") and hasattr(x, "__len__"))


def arrays_in(structure: Any, what: str, dtype: Any = None) -> Any:
    """A structure of arrays, with numbers in nested lists as arrays.

    Parameters
    ----------
    structure : array_like, or list, tuple or dict of array_likes
    what : str
        The name for messages, such as "y".
    dtype : dtype, optional
        That floating-point arrays are cast to.

    Raises
    ------
    NotNumbersError
        If there is text, or other objects.
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
    """Whether something is a number, text, or a nested list of nothing else."""
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
        record_exit(value, "model.fit(), evaluate() or predict()")
    array = np.asarray(unwrap(value))
    if array.dtype.kind == "O":
        array = _from_objects(array)
    if array.dtype.kind not in "fiubc":
        non_numbers = (
            x for x in array.ravel().tolist() if not isinstance(x, int | float | np.number)
        )
        first = next(non_numbers, None)
        text = isinstance(first, str | bytes)
        raise NotNumbersError(
            f"{what} holds {'text' if text else 'objects'} such as {shown(first)}, of the dtype {array.dtype}: "
            "give numbers"
            + (", such as those of np.unique(values, return_inverse=True)[1]" if text else "")
        )
    if not array.ndim:
        raise RankError(
            f"{what} is the single number {shown(value)}: give an array whose first axis counts examples"
        )
    return _cast(array, dtype)


def _cast(array: Any, dtype: Any) -> Any:
    cast = dtype is not None and array.dtype.kind == "f" and array.dtype != dtype
    return array.astype(dtype) if cast else array


def _from_objects(array: Any) -> Any:
    """The numbers in an array of objects, as a table with columns of different dtypes gives it."""
    plain = all(isinstance(x, int | float | np.number | np.bool_) for x in array.flat)
    return array.astype(float) if plain and array.size else array


def count_of(**data: Any) -> int:
    """The number of examples in structures of arrays, which are given by their names.

    Raises
    ------
    ShapeError
        If they differ, or there are none.
    """
    counts = {
        (name if len(arrays) == 1 else f"{name} (array {k})"): len(array)
        for name, structure in data.items()
        if structure is not None
        for arrays in [leaves(structure)]
        for k, array in enumerate(arrays)
    }
    if len(set(counts.values())) > 1:
        first = list(counts.items())[:_LISTED]
        listed = ", ".join(f"{name} has {count}" for name, count in first)
        if len(counts) > _LISTED:
            listed += ", and so on: a list is taken as several inputs; for one, write np.array(x)"
        raise ShapeError(f"all data have as many examples, along the first axis: {listed}")
    if not counts or not max(counts.values()):
        raise ShapeError("there are no examples: the data are empty")
    return max(counts.values())


def rows_of(structure: Any, rows: Rows) -> Any:
    """A batch of tensors: some rows of each array in a structure."""
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
        Whether the order is a new one each time, drawn from the generator of `nn.random`.
    steps : int, optional
        The number of batches in an epoch, after which the next one goes on; all of them if left out.

    Attributes
    ----------
    steps : int
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
        self.steps = -(-self.count // batch_size) if steps is None else steps
        self._rows: Iterator[Rows] = iter(())

    def epoch(self) -> Generator[tuple[Any, Rows]]:
        """The batches of an epoch, each as `train_step` takes it, with the numbers of its examples."""
        if not self.endless:
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
    """The rows of each batch: slices, or parts of an array with the numbers of all rows."""
    for k in range(0, count, size):
        yield slice(k, min(k + size, count)) if order is None else order[k : k + size]


class ChunkedBatches:
    """Batches of Dask arrays, the last of which may be smaller, with the chunk that is read in memory alone.

    Parameters
    ----------
    x, y, sample_weight : structure of arrays, or None
        At least one of them Dask's.
    batch_size : int
    shuffle : bool
        Whether the chunks, and the examples of each, are in a new order each time.
    steps : int, optional
        As of `ArrayBatches`.
    class_weight : mapping of int to float, optional

    Attributes
    ----------
    steps : int
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

    def epoch(self) -> Generator[tuple[Any, Rows]]:
        """The batches of an epoch, each as `train_step` takes it, with the numbers of its examples."""
        if not self.endless:
            self._batches = self._chunks.batches()
        for _ in range(self.steps):
            batch = next(self._batches, None)
            if batch is None:
                self._batches = self._chunks.batches()
                batch = next(self._batches)
            yield batch


class Chunks:
    """The chunks of Dask arrays, read one by one into batches: one that begins in a chunk may go on in the next.

    Parameters
    ----------
    data : tuple
        `x`, `y` and `sample_weight`.
    batch_size : int
    shuffle : bool
    class_weight : mapping of int to float, or None
    """

    def __init__(self, data: Any, batch_size: int, shuffle: bool, class_weight: Any) -> None:
        self.data = data
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.class_weight = class_weight

    def batches(self) -> Iterator[tuple[Any, Rows]]:
        """All batches; one that begins in a chunk goes on in the next."""
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
        """The chunks, read one by one, with the numbers of their rows."""
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
        """The pieces of a batch as one, of tensors."""
        parts = zip(*[arrays for arrays, _ in pending], strict=True)
        present = iter(pack(self._present(), [np.concatenate(pieces) for pieces in parts]))
        x, y, weight = [None if part is None else next(present) for part in self.data]
        if self.class_weight is not None:
            weight = weights_of_classes(y, self.class_weight)
        tensors = [None if part is None else rows_of(part, slice(None)) for part in (x, y, weight)]
        return pack_x_y_sample_weight(*tensors), np.concatenate([rows for _, rows in pending])


_END = object()


class IteratedBatches:
    """Batches that come from an iterable: a generator, or an object that can be iterated anew for each epoch.

    Parameters
    ----------
    source : iterable
        Of `x`, ``(x, y)`` or ``(x, y, sample_weight)``.
    dtype : dtype, optional
        That floating-point inputs are cast to.
    steps : int, optional
        The number of batches in an epoch, after which the next one goes on.
    class_weight : mapping of int to float, optional

    Attributes
    ----------
    steps : int or None
        None as long as it is not known.
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

    def epoch(self) -> Generator[tuple[Any, Rows]]:
        """The batches of an epoch, each as `train_step` takes it, with None for the numbers of its examples."""
        self._epochs += 1
        if not self.endless or self._epochs == 1:
            self._iterator = _iterated(self.source)
        count = 0
        while not (self.endless and count == self.steps):
            batch = self._next()
            if batch is _END:
                break
            count += 1
            yield self._as_tensors(batch), None
        if not count or (self.endless and count != self.steps):
            requirement = f", which is to have {self.steps}" if self.endless else ""
            raise OptionError(
                f"the data ended after {count} batches of epoch {self._epochs}{requirement}: give data that can be iterated "
                "anew for each epoch, or a generator that does not end, with steps_per_epoch="
            )
        if not self.endless:
            self.steps = count
            if hasattr(self.source, "on_epoch_end"):
                self.source.on_epoch_end()

    def _next(self) -> Any:
        """The next batch, of a source iterated anew where an epoch has a number of steps of its own."""
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
    """The weight of each example by its class; 1 for classes that are not named.

    Parameters
    ----------
    y : ndarray
        Numbers of classes, of the shape (n,) or (n, 1), or rows with a number for each class.
    class_weight : mapping of int to float

    Raises
    ------
    OptionError
        If the targets are several arrays, or none.

    Examples
    --------
    >>> weights_of_classes(np.array([0, 1, 2]), {1: 5.0})
    array([1., 5., 1.])
    """
    if not isinstance(y, np.ndarray):
        raise OptionError(
            "class_weight is for models with one array of labels: give sample_weight for others"
        )
    if y.ndim > 1:
        y = np.argmax(y, axis=-1) if y.shape[-1] > 1 else y[..., 0]
    classes = np.round(y).astype(int)
    if not isinstance(class_weight, Mapping):
        raise OptionError(
            f"class_weight is a dict of weights by the numbers of classes, not {shown(class_weight)}"
        )
    weights = np.ones(classes.shape)
    for number, weight in class_weight.items():
        weights[classes == number] = weight
    return weights


def split(data: Sequence[Any], fraction: float) -> tuple[list[Any], list[Any]]:
    """Structures of arrays in two parts, the second of which has a fraction of the examples, from the end.

    Raises
    ------
    OptionError
        If the fraction is not between 0 and 1, or leaves one part empty.
    """
    if not 0 < fraction < 1:
        raise OptionError(
            f"validation_split is a number between 0 and 1, not {fraction!r}: write 0.2"
        )
    count = count_of(x=data[0], y=data[1], sample_weight=data[2])
    border = int(count * (1 - fraction))
    if border in {0, count}:
        raise OptionError(
            f"validation_split={fraction} of {count} examples leaves one part empty: give "
            "validation_data, or more examples"
        )

    def part(structure: Any, rows: slice) -> Any:
        if structure is None:
            return None
        return pack(structure, [array[rows] for array in leaves(structure)])

    first = [part(x, slice(border)) for x in data]
    return first, [part(x, slice(border, None)) for x in data]
