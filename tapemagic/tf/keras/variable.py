"""``tf.keras.Variable``: a variable with Keras's arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic import nn
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.tf.core.convert import tensor
from tapemagic.tf.core.dtype import numpy_dtype
from tapemagic.tf.core.variable import ResourceVariable


class Variable(ResourceVariable):
    """A variable that is created from a value, or from an initializer and a shape.

    Parameters
    ----------
    initializer : array_like, Tensor, str or callable
        The value, or an initializer, which is called as ``initializer(shape, dtype)``.
    shape : sequence of int, optional
        Needed for an initializer.
    dtype : dtype, optional
        By default that of the value, and `nn.config.floatx` for an initializer.
    trainable : bool, optional
    autocast, aggregation, synchronization : optional
        Accepted and ignored.
    name : str, optional

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> tf.keras.Variable("ones", shape=(2,), name="scale").numpy()
    array([1., 1.], dtype=float32)
    """

    __slots__ = ()

    def __init__(
        self,
        initializer: Any,
        shape: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        aggregation: Any = None,
        synchronization: Any = None,
        name: str | None = None,
    ) -> None:
        is_initializer = isinstance(initializer, str) or callable(initializer)
        own = nn.config.floatx() if is_initializer else tensor(initializer).dtype
        dtype = numpy_dtype(own if dtype is None else dtype)
        if is_initializer:
            if shape is None:
                raise OptionError(
                    "a variable with an initializer needs a shape: write keras.Variable('zeros', shape=(2, 3))"
                )
            initializer = nn.initializers.get(initializer)(tuple(shape), dtype=dtype.name)
        value = np.asarray(unwrap(tensor(initializer))).astype(dtype)
        super().__init__(value, trainable=trainable, name=name, shape=shape)
