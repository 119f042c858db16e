"""Sequential: a model that calls its layers one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import ModelError, OptionError, ShapeError
from tapemagic.nn.config import float_name
from tapemagic.nn.custom_objects import CustomObjectScope, reading
from tapemagic.nn.layer import Layer
from tapemagic.nn.layers.embedding import Embedding
from tapemagic.nn.layers.input_layer import InputLayer
from tapemagic.nn.models.graph import Graph
from tapemagic.nn.models.model import Model
from tapemagic.nn.object_configs import deserialize_keras_object, serialize_keras_object, tuples
from tapemagic.nn.symbolic import SymbolicTensor


class Sequential(Model):
    """A model whose layers are called one after the other, each on the previous output.

    Raises OptionError if an item isn't a layer, or an Input isn't the first item; ShapeError if a layer doesn't accept
    the previous output.

    Parameters
    ----------
    layers : iterable of Layer, optional
        The first may be an `nn.Input`, which states the shape of the data in advance.
    *more
        Not accepted: an OptionError says to pass the layers in a list.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(4, activation="relu"), nn.Dense(1)])
    >>> model(np.ones((2, 3))).shape
    (2, 1)
    >>> nn.Sequential([nn.Input((3,)), nn.Dense(4)]).output_shape
    (None, 4)
    """

    cast_kinds = ""

    __tape_unwatched__ = Model.__tape_unwatched__ | {"_input", "_results"}

    def __init__(self, layers: Iterable[Layer] | None = None, *more: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        vars(self)["layers"] = []
        self._input: InputLayer | None = None
        self._declared = False
        self._results: list[Any] = []
        if more or isinstance(layers, Layer | SymbolicTensor):
            raise OptionError(
                "Sequential takes its layers in one list: write Sequential([nn.Dense(8), nn.Dense(1)])"
            )
        for layer in layers or ():
            self.add(layer)
        if not self.trainable:
            self.trainable = False

    @property
    def _stack(self) -> list[Layer]:
        """The list of layers itself; the property `layers` returns a copy."""
        stack: list[Layer] = vars(self)["layers"]
        return stack

    @property
    def graph(self) -> Graph | None:
        """The calls of the layers, or None if the shape of the input isn't known."""
        # Created when it's read: with each `add` it would be sorted again, quadratic in the number of layers.
        if self._graph is None and self._results:
            self._graph = Graph(self._input.output, self._results[-1])  # type: ignore[union-attr]
        return self._graph

    @property
    def input_dtype(self) -> Any:
        """The dtype of the first layer's computation, or None if the inputs are integers."""
        if self._declared:
            return super().input_dtype if self._results else None
        return getattr(self._stack[0], "input_dtype", self._stack[0].dtype) if self._stack else None

    @property
    def _first_dtype(self) -> str:
        """The dtype of inputs on which the layers are tried: int64 for an embedding."""
        first: Any = self
        while isinstance(first, Sequential) and first._stack:
            first = first._stack[0]
        return "int64" if isinstance(first, Embedding) else str(first.dtype)

    def add(self, layer: Any) -> None:
        """Append a layer.

        Raises OptionError if `layer` isn't a layer, or is an Input but not the first; ShapeError if the layer doesn't
        accept the last output, whose shape is known; then the layer isn't added.
        """
        if isinstance(layer, SymbolicTensor) and layer.node is not None:
            layer = layer.node.layer
        if isinstance(layer, InputLayer):
            self._begin_with(layer)
            return
        self._require_new(layer)
        # Keras 2's way of declaring the input: Dense(8, input_shape=(3,)) as the first layer.
        if layer.declared_shape is not None and not self._stack and self._input is None:
            self._begin_with(InputLayer(shape=layer.declared_shape, dtype=layer.dtype))
        if self._input is not None:
            self._results.append(layer(self._results[-1] if self._results else self._input.output))
        self._stack.append(layer)
        self._graph = None
        self.built = self._input is not None

    def _begin_with(self, layer: InputLayer) -> None:
        if self._stack or self._input is not None:
            raise OptionError(
                f"an Input must be the first layer of a model, but {self.name!r} has "
                f"{'an Input' if self._input is not None else 'layers'} already"
            )
        self._input = layer
        self._declared = True

    def _require_new(self, layer: Any) -> None:
        if isinstance(layer, type) and issubclass(layer, Layer):
            name = layer.__name__
            raise OptionError(f"{name} is a class of layers: call it, as in {name}(), for a layer")
        if not isinstance(layer, Layer):
            raise OptionError(
                f"a Sequential model consists of layers, not of {shown(layer)}: write nn.Dense(3), or "
                "nn.Activation(function) for a function"
            )
        if isinstance(layer, Model) and any(
            part is self for part in layer.named_modules().values()
        ):
            raise OptionError(
                f"the model {self.name!r} can't be a layer of itself: create another model for the layers around it"
            )
        # These names are read first: reading `layer.name` may create it, numbered after the existing ones.
        names = {present.name for present in self._stack if present is not layer}
        if layer.name in names:
            raise OptionError(
                f"a layer named {layer.name!r} is in the model already: give each layer its own name"
            )

    def pop(self) -> Layer:
        """Remove the last layer and return it, or raise ModelError if the model has no layers."""
        if not self._stack:
            raise ModelError(f"the model {self.name!r} has no layers to remove")
        del self._results[-1:]
        self._graph = None
        return self._stack.pop()

    def build(self, input_shape: Any = None) -> None:
        """Build the layers, each for the previous output.

        Raises ModelError if there are no layers; ShapeError if a layer doesn't accept the previous output.
        """
        if not self._stack:
            raise ModelError(f"the model {self.name!r} has no layers: write model.add(nn.Dense(3))")
        # A tuple of one is the shape of examples of one number each, not a structure of one shape.
        input_shape = _only(input_shape) if isinstance(input_shape, list) else input_shape
        if not isinstance(input_shape, tuple) or any(isinstance(n, tuple) for n in input_shape):
            raise ShapeError(
                f"a Sequential model takes one array or tensor, of a shape such as (None, 3), not {shown(input_shape)}"
                ": write Model(inputs, outputs) for several inputs"
            )
        first = InputLayer(batch_shape=(None, *input_shape[1:]), dtype=self._first_dtype)
        x = first.output
        try:
            results = [x := layer(x) for layer in self._stack]
        except ShapeError as error:
            if len(input_shape) > 1:
                raise
            advice = "for examples of one number each, write x[:, None]"
            raise ShapeError(f"{error}; {advice}") from error
        self._input, self._results = first, results

    def get_config(self) -> dict[str, Any]:
        """Return the layers, from which `from_config` creates an equal model with new weights."""
        config = Layer.get_config(self)
        first = [] if self._input is None else [self._input]
        config["layers"] = serialize_keras_object([*first, *self._stack])
        if self._input is not None:
            config["build_input_shape"] = self._input.batch_shape
        return config

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Self:
        """Create a model from what `get_config` returned, with new weights; see `Model.from_config`."""
        with reading(cls._library), CustomObjectScope(custom_objects or {}):
            layers = [deserialize_keras_object(layer) for layer in config["layers"]]
            model = cls(name=config.get("name"))
            model._dtype = float_name(config.get("dtype", model._dtype))
        for layer in layers:
            model.add(layer)
        shape = tuples(config.get("build_input_shape"))
        if not model.built and layers and isinstance(shape, tuple):
            model.build(shape)
        if config.get("trainable") is False:
            model.trainable = False
        return model

    def __getstate__(self) -> dict[str, Any]:
        # The results are outputs of the graph's nodes, which __setstate__ restores.
        return {**vars(self), "_graph": self.graph, "_results": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        nodes = self._graph.nodes if self._graph else []
        self._results = [node.outputs for node in nodes if node.inputs]

    def call(self, inputs: Any) -> Any:
        """Return the output of the last layer."""
        x = _only(inputs)
        if isinstance(x, (list, tuple, dict)):
            raise ShapeError(
                f"the model {self.name!r} takes one array or tensor, not a {type(x).__name__} of {len(x)}: write "
                "model.fit(x, y) for inputs and targets, and Model(inputs, outputs) for several inputs"
            )
        if self._declared:
            x = self._input.convert(x)  # type: ignore[union-attr]
        for layer in self._stack:
            x = layer(x)
        return x


def _only(inputs: Any) -> Any:
    """Return the input in a list or tuple of one, and anything else unchanged."""
    return inputs[0] if isinstance(inputs, list | tuple) and len(inputs) == 1 else inputs
