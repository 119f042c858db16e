"""Layers around functions and other layers: Identity, Lambda, Wrapper and TimeDistributed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, Self

import numpy as np

from tapemagic.errors import ModelError, OptionError, ShapeError
from tapemagic.nn.conversions import as_array
from tapemagic.nn.custom_objects import current_reading, get_registered_object
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer, Pointwise
from tapemagic.nn.layers.normalization import BatchNormalization
from tapemagic.nn.layers.operation import Operation


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

    runs_user_code = True

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


class Wrapper(Layer):
    """Base class of layers around a single layer.

    Parameters
    ----------
    layer : Layer
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> class Twice(nn.Wrapper):
    ...     def call(self, inputs):
    ...         return self.layer(self.layer(inputs))
    >>> Twice(nn.Rescaling(3.0))(np.ones((1, 1))).numpy()
    array([[9.]], dtype=float32)
    """

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__
        if not isinstance(layer, Layer):
            raise OptionError(f"{kind} takes a layer, not {layer!r}: write {kind}(nn.Dense(8))")
        self.layer = layer

    def build(self, input_shape: Any) -> None:
        """Build the layer."""
        self.layer.build(input_shape)


class TimeDistributed(Wrapper):
    """A layer that is applied to each step of sequences.

    Inputs and outputs have the shape (batch, time, ...). Layers that treat examples separately receive all steps at
    once, as a larger batch; others, such as `BatchNormalization` during training, are called for each step.

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

    def build(self, input_shape: Any) -> None:
        """Build the layer for a step."""
        self.layer.build((None, *input_shape[2:]))

    def call(self, inputs: Any, mask: Any = None, training: bool = False) -> Any:
        """Return the outputs of all steps; a mask of the shape (batch, time, ...) is passed to layers that take it."""
        batch, length, *rest = inputs.shape
        options = {}
        if mask is not None and "mask" in self.layer._parameters:
            mask = as_array(mask)
            if mask.shape[:2] != (batch, length):
                raise ShapeError(
                    f"the layer {self.path!r} takes a mask whose shape begins with {(batch, length)}, and got "
                    f"{mask.shape}"
                )
            options["mask"] = mask
        if length and not self._separates_examples(training):
            outputs = [
                self.layer(inputs[:, n], **{name: mask[:, n] for name, mask in options.items()})
                for n in range(length)
            ]
            return np.stack(outputs, axis=1)
        # Steps are independent, so time is merged into the batch: one call instead of a loop over the steps.
        merged = {
            name: mask.reshape((batch * length, *mask.shape[2:])) for name, mask in options.items()
        }
        outputs = self.layer(inputs.reshape((batch * length, *rest)), **merged)
        return np.reshape(outputs, (batch, length, *outputs.shape[1:]))

    def _separates_examples(self, training: bool) -> bool:
        """Return True if the output of the layer for an example is known not to depend on the other examples."""
        parts = [module for _, module, _ in self.layer._walk()]
        # What a user's class or function computes isn't known; an operation may be a mean over the batch.
        return all(
            type(part).__module__.startswith("tapemagic.")
            and not isinstance(part, Lambda | Operation)
            and not (training and isinstance(part, BatchNormalization))
            for part in parts
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch, the time, and the output of a step."""
        self._require_shape(tuple(input_shape))
        batch, length, *rest = input_shape
        return (batch, length, *self.layer.compute_output_shape((None, *rest))[1:])
