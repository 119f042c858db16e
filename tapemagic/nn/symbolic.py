"""Symbolic tensors: shapes without values, from which a model is built before there is data."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.methods import ArrayMethods
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import reset
from tapemagic.errors import NotNumbersError, ShapeError, TapeError


class Calls(threading.local):
    """Calls of layers in progress on a thread.

    - `stack`: List of (Layer, bool). The layers whose calls are in progress, innermost last, each with its value of
      `training`.
    - `number`: The number of outermost calls so far.
    """

    def __init__(self) -> None:
        self.stack: list[tuple[Any, bool]] = []
        self.number = 0


calls = Calls()


Shape = tuple[int | None, ...]

TRIALS = ((2, 32), (3, 64))
"""Two pairs of lengths that replace None in trial calls: of the batch axis, and of other axes.

An output axis whose length differs between the two trials has an unknown length. The lengths of other axes are large
because windows and strides must fit into them.
"""


class DtypeName(str):
    """The name of a dtype, which symbolic tensors have in Keras, with the attributes of NumPy's dtype.

    Examples
    --------
    >>> DtypeName("float32"), DtypeName("float32").kind
    ('float32', 'f')
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.dtype(str(self)), name)


class SymbolicTensor(ArrayMethods, NDArrayOperatorsMixin):
    """The shape and dtype of a future input of a model, or of a layer's future output.

    `nn.Input` creates symbolic tensors, and so do layers that are called on symbolic tensors. Operators, indexing and
    NumPy functions on them become layers of the model.

    - `shape`: None means an unknown length, such as the length of the batch.
    - `node`: The call whose output this is.

    Examples
    --------
    >>> from tapemagic import nn
    >>> x = nn.Input((3,), name="x")
    >>> nn.Dense(2)(x).shape
    (None, 2)
    >>> (2 * x[:, 0]).shape
    (None,)
    """

    if TYPE_CHECKING:
        result_class: type[SymbolicTensor]

    __tape_function__: Callable[..., Any]
    __array_function__: Callable[..., Any]
    __getitem__: Callable[..., Any]

    def __init__(self, shape: Shape, dtype: Any, name: str, node: Node | None = None) -> None:
        self._shape = shape
        self._dtype = np.dtype(dtype)
        self.name = name
        self.node = node
        self._slot: object = None

    @property
    def key(self) -> int:
        """The id of the call's output that this tensor represents; several tensors may represent one output."""
        return id(self if self._slot is None else self._slot)

    def become(self, node: Node, slot: object) -> None:
        """Represent an output of a call."""
        self.node, self._slot = node, slot

    @property
    def shape(self) -> Any:
        """The length of each axis, or None if unknown."""
        return self._shape

    @property
    def dtype(self) -> DtypeName:  # type: ignore[override]
        """The type of the elements."""
        return DtypeName(self._dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def _value(self) -> NoReturn:
        self._refuse("value, and no size")

    def __repr__(self) -> str:
        return f"<SymbolicTensor name={self.name}, shape={self.shape}, dtype={self.dtype}>"

    def _refuse(self, what: str) -> NoReturn:
        raise NotNumbersError(
            f"the symbolic tensor {self.name!r} has a shape, {self.shape}, but no values yet, so it has no {what}: "
            "use layers, operators and NumPy functions on it; for anything else, write a layer with a method "
            "call(self, inputs)"
        )

    def __array_ufunc__(self, *_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError  # `layers.operation` replaces this: it imports Layer, which imports this module

    def __array__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        self._refuse("array")

    def __bool__(self) -> NoReturn:  # noqa: PLE0304
        self._refuse("bool")

    def __float__(self) -> NoReturn:
        self._refuse("number")

    __int__ = __index__ = __complex__ = __float__

    def __iter__(self) -> NoReturn:
        self._refuse("elements to iterate over")

    def __len__(self) -> int:
        if not self.shape or self.shape[0] is None:
            self._refuse("length")
        return int(self.shape[0])


class Node:
    """A call of a layer on symbolic tensors.

    Parameters
    ----------
    layer : Layer
    args, kwargs : tuple, dict
        The arguments, including symbolic tensors.
    outputs : SymbolicTensor, or structure of them

    - `inputs`: List of SymbolicTensor. The symbolic tensors among the arguments.
    """

    def __init__(self, layer: Any, args: Any, kwargs: dict[str, Any], outputs: Any) -> None:
        self.layer = layer
        self.args = args
        self.kwargs = kwargs
        self.inputs = list(symbolic_in((*args, *kwargs.values())))
        self._outputs = pack(
            outputs, [SymbolicTensor(x.shape, x.dtype, x.name) for x in leaves(outputs)]
        )
        for tensor, slot in zip(leaves(outputs), leaves(self._outputs), strict=True):
            tensor.become(self, slot)
        _nodes.setdefault(self.layer, []).append(weakref.ref(self))

    @property
    def outputs(self) -> Any:
        """New symbolic tensors that represent the outputs."""
        # Created at each access: stored tensors would refer to the node, and the cycle would keep the layer alive.
        tensors = []
        for slot in leaves(self._outputs):
            tensor = SymbolicTensor(slot.shape, slot.dtype, slot.name)
            tensor.become(self, slot)
            tensors.append(tensor)
        return pack(self._outputs, tensors)

    @cached_property
    def keys(self) -> tuple[int, ...]:
        """The keys of the outputs, in the order of `nest.leaves`."""
        return tuple(map(id, leaves(self._outputs)))


# Weak in both directions: a layer that was called on symbolic tensors isn't kept by its calls, nor its calls by it.
_nodes: weakref.WeakKeyDictionary[Any, list[weakref.ref[Node]]] = weakref.WeakKeyDictionary()


def nodes_of(layer: Any) -> list[Node]:
    """Return the calls of a layer on symbolic tensors that still exist, oldest first."""
    return [node for reference in _nodes.get(layer, ()) if (node := reference()) is not None]


def symbolic_in(values: Iterable[Any]) -> Iterator[SymbolicTensor]:
    """Yield the symbolic tensors among values, also in lists, tuples and dicts."""
    for x in values:
        if isinstance(x, SymbolicTensor):
            yield x
        elif isinstance(x, list | tuple):
            yield from symbolic_in(x)
        elif isinstance(x, dict):
            yield from symbolic_in(x.values())


def has_symbolic(args: Any) -> bool:
    """Return True if the arguments of a call include a symbolic tensor, also in lists, tuples and dicts."""
    for x in args:
        if isinstance(x, Traced):
            continue
        if isinstance(x, SymbolicTensor):
            return True
        if isinstance(x, list | tuple) and has_symbolic(x):
            return True
        if isinstance(x, dict) and has_symbolic(x.values()):
            return True
    return False


def call_symbolically(layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Build a layer for symbolic tensors, try it on zeros, and return symbolic outputs.

    Raises ShapeError if the layer doesn't accept inputs of these shapes.
    """
    inputs = list(symbolic_in((*args, *kwargs.values())))
    try:
        if not layer.built and args:
            layer.build(_shapes(args[0]))
        with _without_traces(layer):
            # User code is called once, with the symbols: that's what it prints and counts in Keras.
            own = layer.runs_user_code and _called_on_symbols(layer, args, kwargs)
            if own:
                return Node(layer, args, kwargs, own[0]).outputs
            # One trial suffices if all lengths are known.
            unknown = any(None in x.shape for x in inputs)
            trials = [_trial(layer, args, kwargs, lengths) for lengths in TRIALS[: 1 + unknown]]
    except ValueError as error:
        if isinstance(error, TapeError) and not isinstance(error, ShapeError):
            raise
        raise ShapeError(
            f"the layer {layer.name!r} ({kind_of(layer)}) can't be called on {_described(inputs)}: {error}"
        ) from error
    outputs = [_symbolic(layer, *same) for same in zip(*map(leaves, trials), strict=True)]
    graph = getattr(layer, "graph", None)
    structure = trials[0] if graph is None else graph.output_structure
    return Node(layer, args, kwargs, pack(structure, outputs)).outputs


def symbols(shape: Any, dtype: Any) -> Any:
    """Return symbolic tensors for a shape, or for the shapes in a structure."""
    if isinstance(shape, dict):
        return {name: symbols(part, dtype) for name, part in shape.items()}
    if isinstance(shape, list) or (shape and isinstance(shape[0], tuple | list)):
        return [symbols(part, dtype) for part in shape]
    return SymbolicTensor(tuple(shape), dtype, "input")


def kind_of(layer: Any) -> str:
    """Return the name of a layer's class in a summary."""
    return getattr(layer, "kind", None) or type(layer).__name__


@contextmanager
def _without_traces(layer: Any) -> Iterator[None]:
    """Drop what calls of a layer leave in it: loss terms that it adds, and assignments to its variables."""
    # Outside of any layer's call, so that the call doesn't inherit `training` from it.
    stack, calls.stack = calls.stack, []
    calls.number += (
        1  # so that loss terms of these calls belong to later calls than the present ones
    )
    number = calls.number
    values = [(variable, variable._value) for variable in layer.variables]
    try:
        with silence(), np.errstate(all="ignore"):
            yield
    finally:
        calls.stack = stack
        for _, module, _ in layer._walk():
            if getattr(module, "_losses_of", 0) >= number:
                module._added_losses = []
        for variable, value in values:
            if variable._value is not value:
                reset(variable, value)
        calls.number += 1


def _called_on_symbols(layer: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any] | None:
    """Return what a layer's `call` returns for symbolic tensors, in a tuple, or None if the call needs values."""
    options = dict(kwargs)
    training = bool(options.pop("training", False))
    if layer._takes_training:
        options["training"] = training
    calls.stack.append((layer, training))
    try:
        outputs = layer.call(*args, **options)
    # Any error: the trial with zeros that follows raises it again, if it isn't one of symbols alone.
    except Exception:  # noqa: BLE001
        return None
    finally:
        calls.stack.pop()
    tensors = leaves(outputs)
    if not tensors or not all(isinstance(x, SymbolicTensor) for x in tensors):
        return None
    graph = getattr(layer, "graph", None)
    structure = outputs if graph is None else graph.output_structure
    return (pack(structure, [SymbolicTensor(x._shape, x._dtype, layer.name) for x in tensors]),)


def _trial(layer: Any, args: Any, kwargs: dict[str, Any], lengths: tuple[int, int]) -> Any:
    """Return the output of a layer for zeros instead of symbolic tensors."""
    structure = (args, kwargs)
    values = [_zeros(x, lengths) if isinstance(x, SymbolicTensor) else x for x in leaves(structure)]
    args, kwargs = pack(structure, values)
    return layer(*args, **kwargs)


def _zeros(x: SymbolicTensor, lengths: tuple[int, int]) -> Any:
    return np.zeros(
        [lengths[axis > 0] if n is None else n for axis, n in enumerate(x.shape)], x.dtype
    )


def _symbolic(layer: Any, *values: Any) -> SymbolicTensor:
    """Return the symbolic tensor for an output, from its values in one trial or two."""
    for value in values:
        if not hasattr(value, "shape") or not hasattr(value, "dtype"):
            advice = ": end its method call with return" if value is None else ""
            raise NotNumbersError(
                f"the layer {layer.name!r} ({kind_of(layer)}) returned {value!r}, not a tensor or a list or dict of "
                f"tensors{advice}"
            )
    shapes = [value.shape for value in values]
    if len({len(shape) for shape in shapes}) > 1:
        raise ShapeError(
            f"the number of output axes of the layer {layer.name!r} depends on the size of the batch"
        )
    shape = tuple(n[0] if len(set(n)) == 1 else None for n in zip(*shapes, strict=True))
    return SymbolicTensor(shape, values[0].dtype, layer.name)


def _shapes(x: Any) -> Any:
    """Return the shapes in an argument, in the form for `Layer.build`."""
    if isinstance(x, list | tuple):
        return [_shapes(part) for part in x]
    if isinstance(x, dict):
        return {name: _shapes(part) for name, part in x.items()}
    return getattr(x, "shape", None)


def _described(inputs: list[SymbolicTensor]) -> str:
    """Describe the symbolic tensors of a call, and the layers that compute these."""
    return " and ".join(
        f"the output of {x.node.layer.name!r}, which has the shape {x.shape}"
        if x.node
        else f"an input of the shape {x.shape}"
        for x in inputs
    )
