"""Graph: the calls of layers between the inputs and the outputs of a model, in an order in which they can be made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.errors import ModelError, ShapeError
from tapemagic.nn.layers.input_layer import InputLayer
from tapemagic.nn.symbolic import Node, SymbolicTensor


class Graph:
    """The calls of layers by which outputs come from inputs.

    Parameters
    ----------
    inputs, outputs : SymbolicTensor, or nested structure of them

    Attributes
    ----------
    nodes : list of Node
        The calls, each after those that it needs; in Keras's order, by which weights are numbered.
    layers : list of Layer
        Each once, those of the inputs among them.

    Raises
    ------
    ModelError
        If the inputs or outputs are no symbolic tensors, or an output does not come from the inputs alone.

    Notes
    -----
    A call comes before another if the longest way from it to an output is longer; of equals, that which was met first
    on the way back from the outputs.
    """

    def __init__(self, inputs: Any, outputs: Any) -> None:
        self.inputs = _symbolic(inputs, "inputs")
        self.outputs = _symbolic(outputs, "outputs")
        self.input_structure, self.output_structure = inputs, outputs
        self.nodes = _ordered(self.inputs, self.outputs)
        self.layers = list(dict.fromkeys(node.layer for node in self.nodes))
        _require_names(self.layers)

    def __getstate__(self) -> dict[str, Any]:
        """The calls as a flat list, in which numbers stand for tensors: deep models would nest too deeply."""
        numbers: dict[int, _Number] = {}
        for x in (*self.inputs, *(x for node in self.nodes for x in leaves(node.outputs))):
            numbers.setdefault(x.key, _Number(len(numbers), x.shape, x.dtype, x.name))
        parts = [(node.layer, node.args, node.kwargs, node.outputs) for node in self.nodes]
        structures = [self.input_structure, self.output_structure, *parts]
        return {"structures": [_filled(part, numbers) for part in structures]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        tensors: dict[int, SymbolicTensor] = {}
        inputs, outputs, *calls = (_tensors(part, tensors) for part in state["structures"])
        nodes = [Node(*call) for call in calls]
        for node in nodes:
            if isinstance(node.layer, InputLayer):
                node.layer.node = node
        vars(self).update(vars(Graph(inputs, outputs)))

    def run(self, inputs: Any) -> Any:
        """The outputs for inputs, which are arrays or tensors in the structure of the model's own."""
        values: dict[int, Any] = {}
        for tensor, value in zip(self.inputs, self._arranged(inputs), strict=True):
            values[tensor.key] = _converted(tensor, value)
        for node in self.nodes:
            if node.inputs:
                args, kwargs = _filled((node.args, node.kwargs), values)
                outputs = node.layer(*args, **kwargs)
                values.update(zip(node.keys, leaves(outputs), strict=True))
        return pack(self.output_structure, [values[x.key] for x in self.outputs])

    def _arranged(self, inputs: Any) -> list[Any]:
        """The inputs in the order of the model's own: by name if they are a dict, else one after the other."""
        if isinstance(inputs, Mapping):
            by_key = self.input_structure if isinstance(self.input_structure, Mapping) else {}
            named = by_key or {x.name: x for x in self.inputs}
            missing = [name for name in named if name not in inputs]
            if missing:
                raise ShapeError(
                    f"the model has inputs named {', '.join(map(repr, named))}, and the dict that it was called on has "
                    f"{', '.join(map(repr, inputs)) or 'no keys'}: {', '.join(map(repr, missing))} is missing"
                )
            values = {x.key: inputs[name] for name, x in named.items()}
            return [values[x.key] for x in self.inputs]
        arrays = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        if len(arrays) != len(self.inputs):
            raise ShapeError(
                f"the model has {len(self.inputs)} inputs, named {', '.join(repr(x.name) for x in self.inputs)}, "
                f"and was called on {len(arrays)}: give a list of them, or a dict by their names"
            )
        return arrays


class _Number(NamedTuple):
    """A mark in the place of a symbolic tensor, in a graph that is copied or pickled."""

    number: int
    shape: Any
    dtype: Any
    name: str


def _tensors(structure: Any, tensors: dict[int, SymbolicTensor]) -> Any:
    """A structure with symbolic tensors in the places of what stands for them."""
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
    return layer.convert(value if isinstance(value, Traced) else constant(value))


def _symbolic(structure: Any, what: str) -> list[SymbolicTensor]:
    """The symbolic tensors in a structure, of which there are at least one, and nothing else."""
    tensors = leaves(structure)
    for x in tensors:
        if not isinstance(x, SymbolicTensor):
            raise ModelError(
                f"the {what} of a model are symbolic tensors, not {shown(x)}: begin with x = nn.Input((3,)), and call "
                "layers on it"
            )
    if not tensors:
        raise ModelError(f"a model has {what}, and was given none: begin with x = nn.Input((3,))")
    return tensors


def _ordered(inputs: list[SymbolicTensor], outputs: list[SymbolicTensor]) -> list[Node]:
    """The calls from inputs to outputs, each after those that it needs."""
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
    """Refuse layers of the same name, which `get_layer` and losses by name could not tell apart."""
    names = Counter(layer.name for layer in layers)
    for name, count in names.items():
        if count > 1:
            raise ModelError(
                f"{count} layers of the model are named {name!r}: give each a name of its own, with name="
            )


def _reverse_depth_first(
    ends: set[int], outputs: list[SymbolicTensor]
) -> tuple[list[Node], dict[int, int]]:
    """The calls on the way from outputs back to inputs, depth first; the order in which layers were met."""
    order: list[Node] = []
    layer_order: dict[int, int] = {}
    seen: set[int] = set()
    for output in outputs:
        waiting: list[tuple[SymbolicTensor, bool]] = [(output, False)]
        while waiting:
            tensor, finished = waiting.pop()
            node = tensor.node
            if node is None:
                raise ModelError(f"the symbolic tensor {tensor.name!r} is the output of no layer")
            if finished:
                order.append(node)
            elif id(node) not in seen and (tensor.key not in ends or not node.inputs):
                if not node.inputs and tensor.key not in ends:
                    raise ModelError(
                        f"an output of the model depends on the input {tensor.name!r}, which is none of the model's: "
                        f"write Model([..., {tensor.name}], outputs)"
                    )
                seen.add(id(node))
                layer_order.setdefault(id(node.layer), len(layer_order))
                waiting.append((tensor, True))
                waiting += [(x, False) for x in reversed(node.inputs)]
    return order, layer_order


def _filled(structure: Any, values: Mapping[int, Any]) -> Any:
    """The arguments of a call, with values in the places of symbolic tensors."""
    if isinstance(structure, SymbolicTensor):
        return values[structure.key]
    if type(structure) in {list, tuple}:
        return type(structure)([_filled(part, values) for part in structure])
    if type(structure) is dict:
        return {name: _filled(part, values) for name, part in structure.items()}
    return structure
