"""Layers around functions and other layers: Identity, Lambda and TimeDistributed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, Self

import numpy as np

from tapemagic.errors import ModelError, OptionError
from tapemagic.nn.custom_objects import current_reading, get_registered_object
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer, Pointwise


class Identity(Pointwise):
    """A layer that returns its input unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Identity()(np.array([1.0])).numpy()
    array([1.], dtype=float32)
    """

    def call(self, inputs: Any) -> Any:
        """Return the input unchanged."""
        return inputs


class Lambda(Layer):
    """A layer that calls a function.

    Variables that the function reads don't belong to the layer: write a subclass of `Layer` for them.

    Parameters
    ----------
    function : callable
        A function of the inputs, written in NumPy; it may have a parameter `training`.
    output_shape : tuple of int or callable, optional
        The shape without the batch axis, or a function of the input's shape. By default computed by calling the layer
        on zeros.
    arguments : mapping of str, optional
        Additional arguments of the function.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.Lambda(lambda x: x**2)(np.array([3.0])).numpy()
    array([9.], dtype=float32)
    """

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        arguments: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not callable(function):
            raise OptionError(
                f"Lambda takes a function, not {function!r}: write Lambda(lambda x: x**2)"
            )
        self.function = function
        self.output_shape = output_shape
        self.arguments = dict(arguments or {})
        try:
            self._hands_training_on = "training" in signature(function).parameters
        except ValueError:  # some functions written in C
            self._hands_training_on = False

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal layer, with the name of the function.

        Raises ModelError if the function is a lambda, which has no name.
        """
        if getattr(self.function, "__name__", "") == "<lambda>":
            raise ModelError(
                f"the Lambda layer {self.name!r} has a lambda, whose code no file contains here: write a function with "
                "def, and decorate it with @register_keras_serializable(), or write a layer with a method call"
            )
        return super().get_config()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Create a layer from the options that `get_config` returned; raise ModelError if they contain code."""
        name, function = config.get("name"), config.get("function")
        own = get_registered_object(str(name))
        is_code = isinstance(function, Mapping) and function.get("class_name") == "__lambda__"
        if own is None and is_code:
            raise ModelError(
                f"{current_reading().source} contains the Lambda layer {name!r} with the code of its function, and no "
                f"code from a file is ever run: pass custom_objects={{{name!r}: function}} with the function, if you "
                "know it, or save the model with a layer that has a method call instead"
            )
        # Keras stores an unknown shape with the code of a function, too.
        options = {
            key: value for key, value in config.items() if key != "mask" or value is not None
        }
        return super().from_config(options if own is None else {**options, "function": own})

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the value of the function."""
        options = {"training": training} if self._hands_training_on else {}
        return self.function(inputs, **options, **self.arguments)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape from `output_shape`, or the shape of the output for zeros."""
        if self.output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self.output_shape):
            return self.output_shape(input_shape)
        return (input_shape[0], *self.output_shape)


class TimeDistributed(Layer):
    """A layer that is applied to each step of sequences.

    Inputs and outputs have the shape (batch, time, ...), and the layer receives all steps at once, as a larger batch.

    Parameters
    ----------
    layer : Layer
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.TimeDistributed(nn.Conv2D(4, 3))(np.zeros((2, 5, 8, 8, 1))).shape
    (2, 5, 6, 6, 4)
    """

    input_spec = InputSpec("batch, time, ...")
    supports_masking = True

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(layer, Layer):
            raise OptionError(
                f"TimeDistributed takes a layer, not {layer!r}: write TimeDistributed(nn.Dense(8))"
            )
        self.layer = layer

    def build(self, input_shape: Any) -> None:
        """Build the layer for a step."""
        self.layer.build((None, *input_shape[2:]))

    def call(self, inputs: Any) -> Any:
        """Return the outputs of all steps."""
        # Steps are independent, so time is merged into the batch: one call instead of a loop over the steps.
        batch, length, *rest = inputs.shape
        outputs = self.layer(inputs.reshape((batch * length, *rest)))
        return np.reshape(outputs, (batch, length, *outputs.shape[1:]))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, the time, and the output of a step."""
        self._require_shape(tuple(input_shape))
        batch, length, *rest = input_shape
        return (batch, length, *self.layer.compute_output_shape((None, *rest))[1:])
