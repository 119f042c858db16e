"""Input: the symbolic tensor with which a model begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.operations.selection import cast
from tapemagic.engine.tensor.coercion import of_numbers
from tapemagic.errors import DtypeError, OptionError, ShapeError
from tapemagic.nn.config import floatx
from tapemagic.nn.layer import Layer
from tapemagic.nn.symbolic import Node, SymbolicTensor


class InputLayer(Layer):
    """The layer that represents an input of a model. `nn.Input` creates it, and returns its output.

    Parameters
    ----------
    shape, batch_size, dtype, name, batch_shape : optional, see `nn.Input`
    input_shape : sequence of int or None, optional
        The old name of `shape`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.layers.InputLayer((3,), name="pixels").output
    <SymbolicTensor name=pixels, shape=(None, 3), dtype=float32>
    """

    def __init__(
        self,
        shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        batch_shape: Sequence[int | None] | None = None,
        input_shape: Sequence[int | None] | None = None,
    ) -> None:
        super().__init__(name=name)
        shape = input_shape if shape is None else shape
        if (shape is None) == (batch_shape is None) or (
            batch_shape is not None and batch_size is not None
        ):
            raise OptionError(
                "an Input takes either shape=, without the batch axis, and optionally batch_size=, or batch_shape=: "
                "write nn.Input((3,)) for batches of 3 features"
            )
        full_shape = (
            (batch_size, *_lengths(shape)) if batch_shape is None else _lengths(batch_shape)
        )
        self.batch_shape = _lengths(full_shape)
        self._dtype = of_numbers(floatx() if dtype is None else dtype).name
        self.built = True
        self.begin()

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal layer."""
        return {"batch_shape": self.batch_shape, "dtype": self._dtype, "name": self.name}

    def begin(self) -> None:
        """Create the symbolic tensor."""
        self.node = Node(self, (), {}, SymbolicTensor(self.batch_shape, self._dtype, self.name))

    @property
    def output(self) -> Any:
        """The symbolic tensor of the input."""
        return self.node.outputs

    def __getstate__(self) -> dict[str, Any]:
        # The node belongs to this layer: a copy creates its own in __setstate__.
        return {name: value for name, value in vars(self).items() if name != "node"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.begin()

    def call(self, inputs: Any) -> Any:
        """Return the input unchanged."""
        return inputs

    def convert(self, x: Any) -> Any:
        """Convert an array or tensor to the shape and dtype of this input.

        Adds or removes a last axis of length 1, as Keras does. Raises DtypeError for unexpected complex numbers, and
        ShapeError for any other shape.
        """
        shape = x.shape
        rank = len(self.batch_shape)
        # Keras adjusts (n,) and (n, 1), so that a model of one feature accepts a vector of examples.
        if len(shape) == rank + 1 and shape[-1] == 1:
            x = np.reshape(x, shape[:-1])
        elif len(shape) == rank - 1 and self.batch_shape[-1] == 1:
            x = np.reshape(x, (*shape, 1))
        if len(x.shape) == rank and all(
            n is None or n == k for n, k in zip(self.batch_shape, x.shape, strict=True)
        ):
            if x.dtype.kind == "c" and np.dtype(self._dtype).kind != "c":
                raise DtypeError(
                    f"the input {self.name!r} takes real numbers, not {x.dtype}: pass x.real or np.abs(x)"
                )
            return x if x.dtype == self._dtype else cast(x, self._dtype)
        raise ShapeError(
            f"the input {self.name!r} takes arrays of the shape {self.batch_shape}, where None means any length, and "
            f"got the shape {shape}{self._advice(shape)}"
        )

    def _advice(self, shape: Any) -> str:
        """Return advice for a single example without the batch axis, or ''."""
        return ": for a batch of one, write x[None]" if shape == self.batch_shape[1:] else ""


def Input(  # noqa: N802 (Keras's name)
    shape: Sequence[int | None] | None = None,
    batch_size: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    batch_shape: Sequence[int | None] | None = None,
) -> SymbolicTensor:
    """Create a symbolic tensor, on which layers can be called to build a model.

    Raises OptionError if a length is neither None nor an integer of at least 0, or there isn't exactly one shape.

    Parameters
    ----------
    shape : sequence of int or None, optional
        The shape without the batch axis, with None for a length that differs between batches.
    batch_size : int, optional
        The length of the batch axis, if it's fixed.
    dtype : dtype, optional
        By default `nn.config.floatx`.
    name : str, optional
    batch_shape : sequence of int or None, optional
        The shape with the batch axis, instead of `shape` and `batch_size`.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> x = nn.Input((3,))
    >>> y = nn.Dense(2, activation="relu")(x)
    >>> model = nn.Model(x, y)
    >>> model(np.ones((4, 3))).shape
    (4, 2)
    """
    output: SymbolicTensor = InputLayer(shape, batch_size, dtype, name, batch_shape).output
    return output


def _lengths(shape: Any) -> tuple[int | None, ...]:
    """Return a shape as a tuple of integers and None, or raise OptionError."""
    if isinstance(shape, int | np.integer):
        raise OptionError(
            f"the shape of an Input must be a tuple, not {shape!r}: write shape=({shape},)"
        )
    try:
        lengths = tuple(shape)
    except TypeError:
        raise OptionError(
            f"the shape of an Input must be a tuple, not {shape!r}: write shape=(3,)"
        ) from None
    for n in lengths:
        is_length = isinstance(n, int | np.integer) and not isinstance(n, bool) and n >= 0
        if not is_length and n is not None:
            raise OptionError(
                f"the shape of an Input must have integers of at least 0, or None, not {n!r} as in {lengths}"
            )
    return tuple(n if n is None else int(n) for n in lengths)
