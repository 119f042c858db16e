"""Models between symbolic tensors as configs: the layers, and their calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapemagic.engine.nest import leaves
from tapemagic.errors import ModelError, TapeError
from tapemagic.nn.custom_objects import current_reading
from tapemagic.nn.layers.input_layer import InputLayer
from tapemagic.nn.layers.operation import Operation
from tapemagic.nn.object_configs import deserialize_keras_object, serialize_keras_object
from tapemagic.nn.saving.operations import is_operation, operation_config, operation_from_config
from tapemagic.nn.symbolic import SymbolicTensor, nodes_of, symbolic_in


def functional_config(model: Any) -> dict[str, Any]:
    """Return the config of a model with a graph: its layers, their calls, the inputs and the outputs."""
    graph = model.graph
    inside = {id(node) for node in graph.nodes}
    calls = {
        id(layer): [node for node in nodes_of(layer) if id(node) in inside]
        for layer in graph.layers
    }

    def place(x: SymbolicTensor) -> list[Any]:
        """Return the name of a layer, the number of its call, and the number of the output."""
        node: Any = x.node
        return [node.layer.name, calls[id(node.layer)].index(node), node.keys.index(x.key)]

    def end(x: SymbolicTensor) -> list[Any]:
        """Return the place of an input or output of the model."""
        name, number, index = place(x)
        # Keras counts a first call of models between symbolic tensors here, their own, but not above.
        return [name, number + is_functional(x.node.layer), index]  # type: ignore[union-attr]

    def with_places(structure: Any) -> Any:
        if isinstance(structure, SymbolicTensor):
            described = {
                "shape": list(structure.shape),
                "dtype": structure.dtype.name,
                "keras_history": place(structure),
            }
            return {"class_name": "__keras_tensor__", "config": described}
        if isinstance(structure, list | tuple):
            return [with_places(part) for part in structure]
        if isinstance(structure, dict):
            return {name: with_places(part) for name, part in structure.items()}
        return serialize_keras_object(structure)

    layers = []
    for layer in graph.layers:
        if isinstance(layer, Operation):
            (node,) = calls[id(layer)]
            config, *called = operation_config(layer, node.inputs)
            arguments = [called]
        else:
            config = serialize_keras_object(layer)
            arguments = [[node.args, node.kwargs] for node in calls[id(layer)] if node.inputs]
        nodes = [
            {"args": with_places(list(args)), "kwargs": with_places(kwargs)}
            for args, kwargs in arguments
        ]
        layers.append({**config, "name": layer.name, "inbound_nodes": nodes})
    return {
        "name": model.name,
        "trainable": model.trainable,
        "layers": layers,
        "input_layers": _mapped(end, graph.input_structure),
        "output_layers": _mapped(end, graph.output_structure),
    }


def is_functional(layer: Any) -> bool:
    """Return True for a model between symbolic tensors, but not for a Sequential model."""
    return getattr(layer, "graph", None) is not None and "_results" not in vars(layer)


def _mapped(function: Any, structure: Any) -> Any:
    if isinstance(structure, list | tuple):
        return [_mapped(function, part) for part in structure]
    if isinstance(structure, Mapping):
        return {name: _mapped(function, part) for name, part in structure.items()}
    return function(structure)


class _NotYet(Exception):  # noqa: N818 (caught here, and no error of a user's)
    """A call whose inputs don't exist yet."""


class _Builder:
    """The layers and calls of a model that is created from a config."""

    def __init__(self) -> None:
        self.layers: dict[str, Any] = {}
        self.outputs: dict[tuple[str, int], list[Any]] = {}
        self.counts: dict[str, int] = {}

    def tensor(self, name: str, number: int, index: int) -> Any:
        """Return an output of a call, or raise _NotYet."""
        if (name, number) not in self.outputs:
            raise _NotYet
        return self.outputs[name, number][index]

    def add_layer(self, config: Mapping[str, Any]) -> None:
        """Create a layer, but not an operation, which is created with its call."""
        name = config["name"]
        layer = None if is_operation(config) else deserialize_keras_object(config)
        self.layers[name] = layer
        self.counts[name] = 0
        if isinstance(layer, InputLayer):
            self.outputs[name, 0] = [layer.output]

    def arguments(self, structure: Any) -> Any:
        """Return the arguments of a call from their config."""
        if isinstance(structure, Mapping):
            if structure.get("class_name") == "__keras_tensor__":
                return self.tensor(*structure["config"]["keras_history"])
            if "class_name" in structure:
                return deserialize_keras_object(structure)
            return {name: self.arguments(part) for name, part in structure.items()}
        if isinstance(structure, list | tuple):
            return [self.arguments(part) for part in structure]
        return structure

    def call(self, config: Mapping[str, Any], node: Mapping[str, Any]) -> None:
        """Call a layer again, or raise _NotYet."""
        name = config["name"]
        args, kwargs = self.arguments(node["args"]), self.arguments(node["kwargs"])
        layer = self.layers[name]
        if layer is None:
            if config["class_name"] == "GetItem" and isinstance(args[1], list):
                args[1] = tuple(args[1])  # JSON made the index (0, slice(1, 3)) a list
            operation = operation_from_config(config, tuple(args), kwargs)
            outputs = operation(*symbolic_in((*args, *kwargs.values())))
        else:
            # A mask of None and training=False are what the call has without them.
            options = {
                key: value
                for key, value in kwargs.items()
                if not (key in {"mask", "training"} and not value)
            }
            outputs = layer(*args, **options)
        self.outputs[name, self.counts[name]] = leaves(outputs)
        self.counts[name] += 1


def functional_from_config(kind: Any, config: Mapping[str, Any]) -> Any:
    """Create a model between symbolic tensors from its config, or raise ModelError."""
    builder = _Builder()
    source = current_reading().source
    waiting: list[tuple[Any, Any]] = []
    try:
        for layer in config["layers"]:
            builder.add_layer(layer)
            waiting += [(layer, node) for node in layer["inbound_nodes"]]
        while waiting:
            # A layer that is called twice may wait for a later layer: such calls are tried again.
            left = []
            blocked: set[str] = set()
            for layer, node in waiting:
                try:
                    if layer["name"] in blocked:
                        raise _NotYet
                    builder.call(layer, node)
                except _NotYet:
                    blocked.add(layer["name"])
                    left.append((layer, node))
            if len(left) == len(waiting):
                raise ModelError(
                    f"{source} contains a model whose layer {left[0][0]['name']!r} is called on an output that no "
                    "layer computes"
                )
            waiting = left
        inputs = _tensors(builder, config["input_layers"])
        outputs = _tensors(builder, config["output_layers"])
        model = kind(inputs=inputs, outputs=outputs, name=config.get("name"))
    except (KeyError, IndexError, TypeError, AttributeError, _NotYet) as error:
        if isinstance(error, TapeError):
            raise
        raise ModelError(
            f"{source} contains a model whose description is incomplete or of another version ({error!r})"
        ) from error
    if config.get("trainable") is False:
        model.trainable = False
    return model


def _tensors(builder: _Builder, structure: Any) -> Any:
    """Return the symbolic tensors in a structure of places."""
    is_place = isinstance(structure, list) and len(structure) == 3 and isinstance(structure[0], str)
    if is_place:
        name, number, index = structure
        return builder.tensor(name, number - is_functional(builder.layers.get(name)), index)
    if isinstance(structure, Mapping):
        return {name: _tensors(builder, part) for name, part in structure.items()}
    return [_tensors(builder, part) for part in structure]
