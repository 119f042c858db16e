"""TensorArray: ``tf.TensorArray``, a list of tensors that a loop writes one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.tf.core.adapter import lengths
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import as_dtype
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.core.tensor import eager
from tapemagic.tf.errors import InvalidArgumentError, OutOfRangeError
from tapemagic.tf.ops.arrays import concat, split, stack, unstack


class TensorArray:
    """A list of tensors of one dtype, which a loop writes, and `stack` joins.

    Parameters
    ----------
    dtype : dtype
        The dtype of the tensors.
    size : int, optional
        The number of tensors, by default 0.
    dynamic_size : bool, optional
        Let `write` append tensors.
    clear_after_read : bool, optional
        Whether each tensor can be read only once, as in TensorFlow: True by default.
    element_shape : shape, optional
        The shape of the tensors, which `write` checks.
    infer_shape : bool, optional
        Whether the shape of the first tensor is that of all.
    tensor_array_name, handle, flow, colocate_with_first_write_call, name : optional
        Accepted and ignored: there are no graphs.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    >>> for n in range(3):
    ...     array = array.write(n, tf.square(float(n)))
    >>> array.stack()
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0., 1., 4.], dtype=float32)>
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self.dtype = as_dtype(dtype)
        self.dynamic_size = bool(dynamic_size)
        self.element_shape = TensorShape(element_shape)
        self._infers_shape = bool(infer_shape)
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._tensors: list[Any] = [None] * (0 if size is None else int(size))
        self._cleared: set[int] = set()

    def size(self, name: str | None = None) -> Any:
        """Return the number of tensors."""
        return eager(tensor(np.int32(len(self._tensors))))

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write a tensor at an index, and return the array."""
        number, value = int(index), tensor(value, self.dtype)
        if number < 0:
            raise OutOfRangeError(f"Writing to negative indices (index {number}) is not allowed.")
        if number >= len(self._tensors):
            if not self.dynamic_size:
                raise OutOfRangeError(
                    f"Tried to write to index {number} but array is not resizeable and size is: {len(self._tensors)}: "
                    "write dynamic_size=True"
                )
            self._tensors += [None] * (number + 1 - len(self._tensors))
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Incompatible shape for value ({tuple(value.shape)}), expected ({self.element_shape})"
            )
        # As in TensorFlow, the first tensor determines the shape of all.
        if self._infers_shape:
            self.element_shape = self.element_shape.merge_with(value.shape)
        self._tensors[number] = value
        return self

    def read(self, index: Any, name: str | None = None) -> Any:
        """Return the tensor at an index."""
        number = int(index)
        if not 0 <= number < len(self._tensors):
            raise OutOfRangeError(
                f"Tried to read from index {number} but array size is: {len(self._tensors)}"
            )
        if number in self._cleared and self._tensors[number] is None:
            raise InvalidArgumentError(
                f"Could not read index {number} twice because it was cleared after a previous read (perhaps try "
                "setting clear_after_read = false?)"
            )
        value = self._written(number)
        if self._clears:
            self._tensors[number] = None
            self._cleared.add(number)
        return eager(value)

    def _written(self, number: int) -> Any:
        """Return a tensor, and zeros for one that was never written."""
        value = self._tensors[number]
        if value is None:
            if not self.element_shape.is_fully_defined():
                raise InvalidArgumentError(
                    f"TensorArray has no tensor at index {number}, and no element_shape for zeros in its place"
                )
            value = tensor(np.zeros(self.element_shape.as_list(), self.dtype.as_numpy_dtype))
        return value

    def _all(self) -> list[Any]:
        return [self._written(number) for number in range(len(self._tensors))]

    def stack(self, name: str | None = None) -> Any:
        """Return all tensors as one, with a new first axis."""
        if not self._tensors:
            shape = self.element_shape.as_list() if self.element_shape.rank is not None else []
            return eager(tensor(np.zeros((0, *(n or 0 for n in shape)), self.dtype.as_numpy_dtype)))
        return stack(self._all())

    def concat(self, name: str | None = None) -> Any:
        """Return all tensors, joined along their first axis."""
        return concat(self._all(), 0)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Return the tensors at some indices as one, with a new first axis."""
        return stack([self._written(number) for number in lengths(indices)])

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Replace all tensors by the parts of a tensor along its first axis, and return the array."""
        parts = unstack(tensor(value, self.dtype))
        if len(parts) > len(self._tensors) and not self.dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(parts)} tensors into a TensorArray of static size {len(self._tensors)} "
            )
        self._tensors, self._cleared = list(parts), set()
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the parts of a tensor along its first axis at some indices, and return the array."""
        for number, part in zip(lengths(indices), unstack(tensor(value, self.dtype)), strict=True):
            self.write(number, part)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Write parts of given lengths of a tensor along its first axis, and return the array."""
        counts = list(map(int, lengths))
        if not self.dynamic_size and len(counts) != len(self._tensors):
            raise InvalidArgumentError(
                f"TensorArray's size is not equal to the size of lengths ({len(self._tensors)} vs. {len(counts)}), and "
                "the TensorArray is not marked as dynamically resizeable."
            )
        self._tensors, self._cleared = list(split(tensor(value, self.dtype), counts)), set()
        return self

    def identity(self) -> TensorArray:
        """Return the array."""
        return self

    def close(self, name: str | None = None) -> None:
        """Forget all tensors."""
        self._tensors = []
