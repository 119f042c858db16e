"""Graph: the layer calls between the inputs and outputs of a model, in an order in which they can run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tapemagic.engine.nest import is_leaf, leaves, ordered, pack
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.errors import ModelError, ShapeError
from tapemagic.nn.layers.input_layer import InputLayer
from tapemagic.nn.symbolic import Node, SymbolicTensor


class Graph:
    """The layer calls that compute outputs from inputs.

    Parameters
    ----------
    inputs, outputs : SymbolicTensor, or nested structure of them

    - `nodes`: The calls in topological order.
    - `layers`: All layers of the calls, including input layers.

    Raises ModelError if an input or output isn't a symbolic tensor, or an output depends on anything besides the
    inputs.
    """

    # The order of calls is Keras's (keras.src.ops.function.map_graph): by the longest path to an output, longest
    # first; ties by the order of a depth-first search from the outputs. Weights are numbered in this order.

    def __init__(self, inputs: Any, outputs: Any) -> None:
        self.inputs = _symbolic(inputs, "inputs")
        self.outputs = _symbolic(outputs, "outputs")
        self.input_structure, self.output_structure = inputs, outputs
        self.nodes = _ordered(self.inputs, self.outputs)
        self.layers = list(dict.fromkeys(node.layer for node in self.nodes))
        _require_names(self.layers)

    def __getstate__(self) -> dict[str, Any]:
        """Return the calls as a flat list with numbers as placeholders for tensors."""
        # pickle and deepcopy recurse from call to call otherwise, and exceed the recursion limit for deep models.
        numbers: dict[int, _Number] = {}
        for x in (*self.inputs, *(x for node in self.nodes for x in leaves(node.outputs))):
            numbers.setdefault(x.key, _Number(len(numbers), x.shape, x.dtype, x.name))
        parts = [(node.layer, node.args, node.kwargs, node.outputs) for node in self.nodes]
        structures = [self.input_structure, self.output_structure, *parts]
        return {"structures": [filled(part, numbers) for part in structures]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        tensors: dict[int, SymbolicTensor] = {}
        inputs, outputs, *calls = (_tensors(part, tensors) for part in state["structures"])
        nodes = [Node(*call) for call in calls]
        for node in nodes:
            if isinstance(node.layer, InputLayer):
                node.layer.node = node
        vars(self).update(vars(Graph(inputs, outputs)))

    def run(self, inputs: Any) -> Any:
        """Compute the outputs for arrays or tensors in the structure of the model's inputs."""
        values: dict[int, Any] = {}
        for tensor, value in zip(self.inputs, self._arranged(inputs), strict=True):
            values[tensor.key] = _converted(tensor, value)
        for node in self.nodes:
            if node.inputs:
                args, kwargs = filled((node.args, node.kwargs), values)
                outputs = node.layer(*args, **kwargs)
                values.update(zip(node.keys, leaves(outputs), strict=True))
        return pack(_unpacked(self.output_structure), [values[x.key] for x in self.outputs])

    @property
    def output_paths(self) -> list[str]:
        """Names of the outputs in logs: keys of a dict, otherwise names of layers, with a prefix if nested."""
        return list(_paths(_unpacked(self.output_structure), ""))

    def _arranged(self, inputs: Any) -> list[Any]:
        """Return the inputs in the model's order: by name for a dict, otherwise by position."""
        if isinstance(inputs, Mapping):
            by_key = self.input_structure if isinstance(self.input_structure, Mapping) else {}
            named = by_key or {x.name: x for x in self.inputs}
            missing = [name for name in named if name not in inputs]
            if missing:
                raise ShapeError(
                    f"the model has inputs named {', '.join(map(repr, named))}, and was called with a dict that has "
                    f"{', '.join(map(repr, inputs)) or 'no keys'}: {', '.join(map(repr, missing))} is missing"
                )
            arrays = [x for name in ordered(named) for x in leaves(inputs[name])]
            if not by_key:
                values = dict(zip(ordered(named), arrays, strict=True))
                arrays = [values[x.name] for x in self.inputs]
        else:
            arrays = leaves(inputs)
        if len(arrays) != len(self.inputs):
            raise ShapeError(
                f"the model has {len(self.inputs)} inputs, named {', '.join(repr(x.name) for x in self.inputs)}, "
                f"and was called with {len(arrays)}: pass a list of them, or a dict by name"
            )
        return arrays


def _unpacked(structure: Any) -> Any:
    """Return the only item of a list or tuple of one, and any other structure unchanged."""
    # As in Keras, Model([a], [b]) returns what Model(a, b) returns: an array, whose argmax(axis=1) is that of its rows.
    # Only the outermost list is unpacked, and only with values: on symbolic tensors, Keras keeps the list.
    return (
        structure[0] if isinstance(structure, list | tuple) and len(structure) == 1 else structure
    )


def _paths(structure: Any, prefix: str) -> Iterator[str]:
    if isinstance(structure, SymbolicTensor):
        yield structure.node.layer.name if structure.node else structure.name
        return
    names = ordered(structure) if isinstance(structure, Mapping) else range(len(structure))
    for name in names:
        part = structure[name]
        if not is_leaf(part):
            yield from _paths(part, f"{prefix}{name}/")
        elif isinstance(structure, Mapping):
            yield f"{prefix}{name}"
        else:
            yield from (prefix + path for path in _paths(part, ""))


class _Number(NamedTuple):
    """Placeholder for a symbolic tensor in a graph that is copied or pickled."""

    number: int
    shape: Any
    dtype: Any
    name: str


def _tensors(structure: Any, tensors: dict[int, SymbolicTensor]) -> Any:
    """Replace the placeholders in a structure by symbolic tensors."""
    if isinstance(structure, _Number):
        new = SymbolicTensor(structure.shape, structure.dtype, structure.name)
        return tensors.setdefault(structure.number, new)
    if type(structure) in {list, tuple}:
        return type(structure)([_tensors(part, tensors) for part in structure])
    if type(structure) is dict:
        return {name: _tensors(part, tensors) for name, part in structure.items()}
    return structure


def _converted(tensor: SymbolicTensor, value: Any) -> Any:
    layer = tensor.node.layer if tensor.node else None
    if not isinstance(layer, InputLayer):
        return value
    return layer.convert(value if isinstance(value, Traced | SymbolicTensor) else constant(value))


def _symbolic(structure: Any, what: str) -> list[SymbolicTensor]:
    """Return the leaves of a structure, or raise ModelError unless all are symbolic tensors."""
    tensors = leaves(structure)
    for x in tensors:
        if not isinstance(x, SymbolicTensor):
            raise ModelError(
                f"the {what} of a model must be symbolic tensors, not {shown(x)}: begin with x = nn.Input((3,)), and "
                "call layers on it"
            )
    if not tensors:
        raise ModelError(f"a model needs {what}, but got none: begin with x = nn.Input((3,))")
    return tensors


def _ordered(inputs: list[SymbolicTensor], outputs: list[SymbolicTensor]) -> list[Node]:
    """Sort the calls from inputs to outputs topologically, in Keras's order."""
    order, layer_order = _reverse_depth_first({x.key for x in inputs}, outputs)
    depth_of: dict[int, int] = {}
    layer_depth: dict[int, int] = {}
    node_of = {id(node): node for node in order}
    for node in reversed(order):
        layer = id(node.layer)
        depth = max(depth_of.get(id(node), 0), layer_depth.get(layer, 0))
        depth_of[id(node)] = layer_depth[layer] = depth
        for x in node.inputs:
            if id(x.node) in node_of:
                depth_of[id(x.node)] = max(depth_of.get(id(x.node), 0), depth + 1)
    unused = [x.node for x in inputs if x.node and not x.node.inputs and id(x.node) not in depth_of]
    nodes = [node_of[i] for i in depth_of] + unused
    nodes.sort(key=lambda node: (-depth_of.get(id(node), 0), layer_order.get(id(node.layer), -1)))
    return nodes


def _require_names(layers: list[Any]) -> None:
    """Raise ModelError for two layers of one name, which `get_layer` and losses by name couldn't distinguish."""
    names = Counter(layer.name for layer in layers)
    for name, count in names.items():
        if count > 1:
            raise ModelError(
                f"{count} layers of the model are named {name!r}: give each its own name, with name="
            )


def _reverse_depth_first(
    ends: set[int], outputs: list[SymbolicTensor]
) -> tuple[list[Node], dict[int, int]]:
    """Search from the outputs to the inputs, depth first; return the calls, and the order of their layers."""
    # An explicit stack, because recursion would fail for models of more than about 1,000 layers.
    order: list[Node] = []
    layer_order: dict[int, int] = {}
    seen: set[int] = set()
    for output in outputs:
        waiting: list[tuple[SymbolicTensor, bool]] = [(output, False)]
        while waiting:
            tensor, finished = waiting.pop()
            node = tensor.node
            if node is None:
                raise ModelError(f"the symbolic tensor {tensor.name!r} isn't the output of a layer")
            if finished:
                order.append(node)
            elif id(node) not in seen and (tensor.key not in ends or not node.inputs):
                if not node.inputs and tensor.key not in ends:
                    raise ModelError(
                        f"an output depends on the input {tensor.name!r}, which isn't an input of the model: "
                        f"write Model([..., {tensor.name}], outputs)"
                    )
                seen.add(id(node))
                layer_order.setdefault(id(node.layer), len(layer_order))
                waiting.append((tensor, True))
                waiting += [(x, False) for x in reversed(node.inputs)]
    return order, layer_order


def filled(structure: Any, values: Mapping[int, Any]) -> Any:
    """Replace the symbolic tensors in the arguments of a call by values."""
    if isinstance(structure, SymbolicTensor):
        return values[structure.key]
    if type(structure) in {list, tuple}:
        return type(structure)([filled(part, values) for part in structure])
    if type(structure) is dict:
        return {name: filled(part, values) for name, part in structure.items()}
    return structure
