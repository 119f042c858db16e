"""Dataset: a sequence of elements, with methods that derive other datasets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tapemagic.engine.effects import keep_out_of_programs
from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import OptionError, ShapeError
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.data.cardinality import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    of_groups,
    of_repeated,
    of_shortest,
)
from tapemagic.tf.data.elements import arrays_in, arrays_of, each, padded, stacked
from tapemagic.tf.data.user_functions import called, handed_out, result_of
from tapemagic.tf.random import numpy_generator

# Python's own `range`, `zip`, `map`, `filter` and `enumerate` stay reachable in the methods below: a class body is not
# an enclosing scope of its methods.
AUTOTUNE = -1

Elements = Callable[[], Iterator[Any]]


_INSTEAD = {
    "interleave": "write flat_map, which takes one dataset after the other",
    "save": "write np.savez of arrays",
    "make_one_shot_iterator": "write iter(dataset)",
    "scan": "keep the state in a generator function, and write from_generator",
    "rejection_resample": "choose the rows with NumPy, before from_tensor_slices",
    "": "dir(tf.data.Dataset) lists what there is; from_generator takes any elements that Python computes",
}
"""Advice for TensorFlow's methods that are missing here."""


def _window(elements: list[Any]) -> Any:
    """Return a dataset of elements, or for tuples and dicts the structure of datasets of their parts."""

    def of(*parts: Any) -> Dataset:
        return Dataset(lambda: iter(parts), len(parts))

    return each(of, *elements)


class Dataset:
    """Sequence of elements (tensors, or tuples or dicts of tensors) that are computed on demand.

    Create one with `from_tensor_slices`, `from_tensors`, `from_generator`, `range` or `zip`; every other method returns
    a new dataset.

    Notes
    -----
    Functions passed to `map` and `filter` are called with tensors, once per element and pass, and tapes do not record
    them. `prefetch`, `num_parallel_calls` and similar options are accepted and have no effect.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).map(lambda x: 10 * x).batch(2)
    >>> for batch in dataset:
    ...     print(batch)
    tf.Tensor([10. 20.], shape=(2,), dtype=float32)
    tf.Tensor([30.], shape=(1,), dtype=float32)
    """

    def __init__(
        self, elements: Elements, length: int = UNKNOWN_CARDINALITY, any_length: bool = False
    ) -> None:
        self._elements = elements
        self._length = length
        self._any_length = any_length

    # -- from data --------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """Return a dataset of the rows of an array, or of a tuple or dict of arrays of equal length.

        Raises
        ------
        ShapeError
            If an array has no axes, or two have different lengths.

        Examples
        --------
        >>> import tapemagic.tf as tf
        >>> pairs = tf.data.Dataset.from_tensor_slices(([1, 2], [3.0, 4.0]))
        >>> [(int(x), float(y)) for x, y in pairs]
        [(1, 3.0), (2, 4.0)]
        """
        columns = arrays_of(tensors)
        shapes = [array.shape for array in arrays_in(columns)]
        if not shapes or () in shapes:
            raise ShapeError(
                "from_tensor_slices takes arrays with at least one axis, along which it splits them: for a "
                "single element, write from_tensors(...)"
            )
        lengths = sorted({shape[0] for shape in shapes})
        if len(lengths) > 1:
            raise ShapeError(
                f"from_tensor_slices received arrays of {lengths[0]} and of {lengths[-1]} rows: all need the same "
                "number of rows"
            )
        # Row numbers instead of rows: shuffling moves integers, and a batch is read by one indexing operation.
        return Rows(columns, lambda: iter(range(lengths[0])), lengths[0])

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """Return a dataset with a single element."""
        element = arrays_of(tensors)
        return Dataset(lambda: iter([element]), 1)

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Iterable[Any] = (),
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of the elements that a generator function yields; each pass calls it again.

        Parameters
        ----------
        generator : callable
            Called with `args`; returns an iterable of elements.
        output_types : dtype, or structure of them, optional
            Dtypes that the parts of an element are cast to.
        output_signature : TensorSpec, or structure of them, optional
            Dtypes and shapes of an element.
        output_shapes, name : optional
            Accepted and ignored.
        """
        if not callable(generator):
            raise OptionError(
                f"from_generator takes a function that returns an iterable, not {shown(generator)}: write "
                "lambda: iter(...)"
            )
        del output_shapes, name
        kinds = output_types if output_signature is None else each(_dtype, output_signature)

        def elements() -> Iterator[Any]:
            for element in generator(*args):
                parts = tuple(element) if isinstance(kinds, tuple) else element
                if kinds is None:
                    yield arrays_of(parts)
                else:
                    yield each(lambda dtype, x: np.asarray(x, _numpy(dtype)), kinds, parts)

        return Dataset(elements)

    @staticmethod
    def range(*args: Any, output_type: Any = np.int64, name: str | None = None) -> Dataset:
        """Return a dataset of the integers in Python's ``range``."""
        numbers = range(*(int(n) for n in args))
        dtype = _numpy(output_type)
        # int64 by default, unlike tf.range, which infers int32.
        return Dataset(lambda: (np.asarray(n, dtype) for n in numbers), len(numbers))

    @staticmethod
    def zip(*datasets: Any, name: str | None = None) -> Dataset:
        """Return a dataset of tuples with one element of each dataset, as long as the shortest."""
        # TensorFlow takes both zip(a, b) and zip((a, b)).
        parts = datasets[0] if len(datasets) == 1 and isinstance(datasets[0], tuple) else datasets
        lengths = [len_of(part) for part in parts]
        return Dataset(
            lambda: zip(*(part._elements() for part in parts), strict=False), of_shortest(lengths)
        )

    # -- from another dataset ---------------------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Apply a function to each element; the parts of a tuple are passed as separate arguments."""
        return Dataset(
            lambda: (called(map_func, element) for element in self._elements()), self._length
        )

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Keep the elements for which a function returns True."""
        # How many elements remain is unknown until they are read.
        return Dataset(lambda: (x for x in self._elements() if bool(called(predicate, x))))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Chain the datasets that a function returns for each element."""

        def elements() -> Iterator[Any]:
            for element in self._elements():
                yield from result_of(map_func, element)._elements()

        return Dataset(elements)

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Stack consecutive elements along a new first axis.

        Parameters
        ----------
        batch_size : int
        drop_remainder : bool, optional
            Drop a last batch that is smaller.
        num_parallel_calls, deterministic, name : optional
            Accepted and ignored.

        Raises
        ------
        OptionError
            If `batch_size` is not a positive integer.
        ShapeError
            If shapes of elements differ; raised during iteration.
        """
        size = _positive(batch_size, "batch_size")
        return Dataset(
            lambda: map(self._together, _groups(self._items(), size, drop_remainder)),
            of_groups(self._length, size, drop_remainder),
            # The last batch may be shorter, so its length is None in element_spec.
            any_length=not drop_remainder,
        )

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Return a dataset of datasets, each with `size` elements; `flat_map` turns these into arrays.

        Parameters
        ----------
        size : int
            The number of elements in a window.
        shift : int, optional
            The distance of the windows, by default `size`.
        stride : int, optional
            The distance of the elements in a window.
        drop_remainder : bool, optional
            Drop windows at the end that have fewer elements.

        Examples
        --------
        >>> import tapemagic.tf as tf
        >>> windows = tf.data.Dataset.range(4).window(2, shift=1, drop_remainder=True)
        >>> [x.numpy().tolist() for x in windows.flat_map(lambda window: window.batch(2))]
        [[0, 1], [1, 2], [2, 3]]
        """
        count, step = _positive(size, "size"), _positive(stride, "stride")
        distance = count if shift is None else _positive(shift, "shift")
        extent = (count - 1) * step + 1

        def elements() -> Iterator[Any]:
            held: list[Any] = []
            skipped = 0
            for element in self._elements():
                # Windows that lie apart leave out elements between them.
                if skipped:
                    skipped -= 1
                    continue
                held.append(element)
                if len(held) == extent:
                    yield _window(held[::step])
                    skipped = max(0, distance - len(held))
                    del held[:distance]
            while held and not drop_remainder:
                yield _window(held[::step])
                del held[:distance]

        return Dataset(elements)

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batch elements of different lengths, padding them with zeros."""
        if padded_shapes is not None or padding_values is not None:
            raise OptionError(
                "padded_batch fills up with zeros to the longest element of each batch here: leave padded_shapes and "
                "padding_values out, and pad in map(...) for anything else"
            )
        size = _positive(batch_size, "batch_size")
        return Dataset(
            lambda: map(padded, _groups(self._elements(), size, drop_remainder)),
            of_groups(self._length, size, drop_remainder),
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """Split each element into its rows."""

        def elements() -> Iterator[Any]:
            for element in self._elements():
                for row in range(len(arrays_in(element)[0])):
                    yield each(lambda array, row=row: array[row], element)

        return Dataset(elements)

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Shuffle the elements.

        Parameters
        ----------
        buffer_size : int
            Number of elements among which the next one is drawn. If it is at least the number of elements, every order
            is equally likely.
        seed : int, optional
            Makes the order reproducible, as ``tf.random.set_seed`` does.
        reshuffle_each_iteration : bool, optional
            Whether each pass has a different order. Default: True.
        name : str, optional
            Accepted and ignored.

        Raises
        ------
        OptionError
            If `buffer_size` is not a positive integer, or `seed` is invalid.
        """
        size = _positive(buffer_size, "buffer_size")
        numbers = numpy_generator(seed)
        repeated = reshuffle_each_iteration in {None, True}
        # Without reshuffling, one seed is drawn now and used in every pass.
        once = None if repeated else int(numbers.integers(2**63))

        def shuffled(items: Iterator[Any]) -> Iterator[Any]:
            rng = numbers if once is None else np.random.default_rng(once)
            # TensorFlow's algorithm: draw from a buffer, and refill the slot with the next item.
            buffer = list(itertools.islice(items, size))
            for item in items:
                place = int(rng.integers(len(buffer)))
                yield buffer[place]
                buffer[place] = item
            for place in rng.permutation(len(buffer)):
                yield buffer[place]

        return self._reordered(shuffled, self._length)

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """Repeat the dataset `count` times; endlessly if `count` is None or -1."""
        endless = count is None or count == -1

        def repeated() -> Iterator[Any]:
            for _ in itertools.count() if endless else range(int(count or 0)):
                empty = True
                for item in self._items():
                    empty = False
                    yield item
                # Repeating nothing endlessly would never return.
                if empty:
                    return

        length = of_repeated(self._length, None if endless else int(count or 0))
        return self._like(repeated, length)

    def take(self, count: int, name: str | None = None) -> Dataset:
        """Keep the first `count` elements; all for -1."""
        if count == -1:
            return self
        length = of_shortest([self._length, int(count)])
        return self._reordered(lambda items: itertools.islice(items, int(count)), length)

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """Skip the first `count` elements; all for -1."""
        if count == -1:
            return self.take(0)
        length = max(0, self._length - int(count)) if self._length >= 0 else self._length
        return self._reordered(lambda items: itertools.islice(items, int(count), None), length)

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """Keep every `num_shards`-th element, starting at `index`."""
        step = _positive(num_shards, "num_shards")
        if not 0 <= index < step:
            raise OptionError(f"index is a number from 0 to {step - 1}, not {index}")
        length = len(range(index, self._length, step)) if self._length >= 0 else self._length
        return self._reordered(
            lambda items: itertools.islice(items, int(index), None, step), length
        )

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Stop before the first element for which a function returns False."""
        return Dataset(
            lambda: itertools.takewhile(lambda x: bool(called(predicate, x)), self._elements())
        )

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """Append the elements of another dataset."""
        lengths = [self._length, len_of(dataset)]
        total = min(lengths) if min(lengths) < 0 else sum(lengths)
        if INFINITE_CARDINALITY in lengths:
            total = INFINITE_CARDINALITY
        return Dataset(lambda: itertools.chain(self._elements(), dataset._elements()), total)

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pair each element with its number, starting at `start`."""
        return Dataset(
            lambda: ((np.asarray(n), x) for n, x in enumerate(self._elements(), int(start))),
            self._length,
        )

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """Cache the elements of the first complete pass in memory."""
        if filename:
            raise OptionError(
                "a cache in a file is not there: write cache(), which keeps it in memory"
            )
        cached: list[Any] = []
        complete = [False]

        def elements() -> Iterator[Any]:
            if complete[0]:
                yield from cached
                return
            elements_read = []
            for element in self._elements():
                elements_read.append(element)
                yield element
            # At the end only: an iteration that runs while another one is at work must not see half a list.
            cached[:] = elements_read
            # Only a complete pass is cached: a `break` must not shorten the dataset.
            complete[0] = True

        return Dataset(elements, self._length, self._any_length)

    def prefetch(self, buffer_size: Any = None, name: str | None = None) -> Dataset:
        """Return the dataset itself: nothing can be prefetched here."""
        return self

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        """Return the dataset itself: options have no effect here."""
        return self

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Return `transformation_func(dataset)`."""
        return transformation_func(self)

    # -- read -------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        return (each(handed_out, element) for element in self._read())

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Iterate over the elements as NumPy arrays and scalars."""
        # A copy, so that writing into an element does not change the dataset or its cache.
        return (each(lambda x: x.copy()[()], element) for element in self._read())

    def _read(self) -> Iterator[Any]:
        """Yield the elements for user code; a program would repeat those of the trace, so it ends a running trace."""
        for element in self._elements():
            keep_out_of_programs("an element of a dataset: pass it as an argument")
            yield element

    def reduce(
        self,
        initial_state: Any,
        reduce_func: Callable[..., Any],
        name: str | None = None,
    ) -> Any:
        """Fold the elements: ``state = reduce_func(state, element)``."""
        state = each(handed_out, arrays_of(initial_state))
        # Data preparation is not part of the model: a tape that records the training step would keep all of it.
        with silence():
            for element in self:
                state = eager(reduce_func(state, element))
        return state

    def get_single_element(self, name: str | None = None) -> Any:
        """Return the only element.

        Raises
        ------
        OptionError
            If the dataset does not have exactly one element.
        """
        # Two are enough to see that there are more than one; the dataset may be endless.
        elements_read = list(itertools.islice(iter(self), 2))
        if len(elements_read) != 1:
            raise OptionError(
                "get_single_element() takes a dataset of one element, and this one has "
                f"{'more' if elements_read else 'none'}"
            )
        return elements_read[0]

    def cardinality(self) -> Any:
        """Return the number of elements: -1 if infinite, -2 if unknown."""
        return eager(np.asarray(self._length))

    def __len__(self) -> int:
        if self._length < 0:
            how = "without end" if self._length == INFINITE_CARDINALITY else "of unknown length"
            raise _NoLengthError(
                f"The dataset is {how}: count its elements with reduce(0, lambda n, _: n + 1)"
            )
        return self._length

    def __bool__(self) -> bool:
        # Without this, `if dataset:` would call __len__, which may raise.
        return True

    @property
    def element_spec(self) -> Any:
        """Shapes and dtypes of an element, from computing the first; None is the length of a batch.

        Raises
        ------
        OptionError
            If the dataset is empty.
        """
        from tapemagic.tf.ops.creation import TensorSpec

        first = next(self._elements(), None)
        if first is None:
            raise OptionError("an empty dataset has no element to tell shapes and dtypes of")
        batch = (None,) if self._any_length else ()
        return each(lambda x: TensorSpec((*batch, *x.shape[len(batch) :]), x.dtype), first)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"a dataset has no method {name!r} here: {_INSTEAD.get(name, _INSTEAD[''])}",
            name=name,
            obj=self,
        )

    def __repr__(self) -> str:
        how = {INFINITE_CARDINALITY: "without end", UNKNOWN_CARDINALITY: "of unknown length"}
        return f"<Dataset {how.get(self._length, f'of {self._length} elements')}>"

    # -- overridden by Rows, whose items are row numbers ----------------------------------------------

    def _items(self) -> Iterator[Any]:
        """Return the items that are reordered: the elements themselves."""
        return self._elements()

    def _together(self, items: list[Any]) -> Any:
        """Batch several items."""
        return stacked(items)

    def _like(self, items: Elements, length: int) -> Dataset:
        """Return a dataset of selected items in another order."""
        return Dataset(items, length, self._any_length)

    def _reordered(self, order: Callable[[Iterator[Any]], Iterator[Any]], length: int) -> Dataset:
        return self._like(lambda: order(iter(self._items())), length)


class Rows(Dataset):
    """Dataset of rows of arrays, ordered by row numbers, so that a batch is one indexing operation."""

    def __init__(self, columns: Any, rows: Callable[[], Iterator[int]], length: int) -> None:
        super().__init__(lambda: (each(lambda x, n=n: x[n], columns) for n in rows()), length)
        self._columns = columns
        self._rows = rows

    def _items(self) -> Iterator[int]:
        return self._rows()

    def _together(self, items: list[int]) -> Any:
        return each(lambda array: array[items], self._columns)

    def _like(self, items: Elements, length: int) -> Dataset:
        return Rows(self._columns, items, length)


class _NoLengthError(OptionError, TypeError):
    """Raised by ``len(dataset)`` if the length is unknown."""


def len_of(dataset: Any) -> int:
    """Return a dataset's number of elements, or -1 or -2."""
    if not isinstance(dataset, Dataset):
        raise OptionError(
            f"this takes datasets, not {shown(dataset)}: write tf.data.Dataset.from_tensor_slices(...) around it"
        )
    return int(dataset.cardinality())


def _groups(items: Iterator[Any], size: int, drop_remainder: bool) -> Iterator[list[Any]]:
    # `items` must be an iterator: islice starts over with a list, and this loop would never end.
    while group := list(itertools.islice(items, size)):
        if len(group) == size or not drop_remainder:
            yield group


def _positive(number: Any, name: str) -> int:
    try:
        count = int(number)
    except (TypeError, ValueError):
        count = 0
    # int() truncates: 2.5 would pass as 2.
    if count < 1 or count != number:
        raise OptionError(f"{name} is a positive integer, not {shown(number)}: write {name}=32")
    return count


def _dtype(spec: Any) -> Any:
    return getattr(spec, "dtype", spec)


def _numpy(dtype: Any) -> Any:
    return np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
