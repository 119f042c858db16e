"""Model: a layer of layers, which can be trained, evaluated, and used to predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

from tapemagic.engine.nest import leaves
from tapemagic.errors import ModelError, OptionError
from tapemagic.nn.config import floatx
from tapemagic.nn.custom_objects import CustomObjectScope, reading
from tapemagic.nn.layer import Layer, shapes_of
from tapemagic.nn.layers.operation import Operation
from tapemagic.nn.models.graph import Graph, filled
from tapemagic.nn.models.summary import summary_of
from tapemagic.nn.models.training import Trainer
from tapemagic.nn.module import unique_name
from tapemagic.nn.object_configs import tuples, with_sharing
from tapemagic.nn.saving.functional import functional_config, functional_from_config
from tapemagic.nn.saving.keras_file import (
    load_h5_weights,
    save_h5_weights,
    save_model,
    to_json,
)
from tapemagic.nn.symbolic import call_symbolically, symbols
from tapemagic.nn.weights import OPTIMIZER, Stored, optimizer_names, read, write


class Model(Trainer, Layer):
    """A layer of layers: between symbolic tensors, or in a subclass with a method `call`.

    Raises ModelError if an output depends on an input that isn't among `inputs`.

    Parameters
    ----------
    inputs, outputs : SymbolicTensor, or nested structure of them, optional
        The ends of the model, which owns all layers between them. Subclasses with a method `call` omit them.
    **kwargs : see `Layer`

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> a, b = nn.Input((2,), name="a"), nn.Input((3,), name="b")
    >>> model = nn.Model([a, b], nn.Dense(1)(a) * nn.Dense(1)(b))
    >>> model([np.ones((4, 2)), np.ones((4, 3))]).shape
    (4, 1)

    A subclass:

    >>> class Twice(nn.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.dense = nn.Dense(3)
    ...
    ...     def call(self, inputs):
    ...         return self.dense(self.dense(inputs))
    >>> Twice()(np.ones((4, 3))).shape
    (4, 3)
    """

    prefixes_names = False
    supports_masking = True
    runs_user_code = True  # layers inside may
    _graph: Graph | None = None

    __tape_unwatched__ = Layer.__tape_unwatched__ | {"_replays", "_tells_results", "history"}

    def __init__(
        self, inputs: Any = None, outputs: Any = None, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name=name, **kwargs)
        if (inputs is None) != (outputs is None):
            raise OptionError("a model has both inputs and outputs: write Model(inputs, outputs)")
        if inputs is not None:
            self._graph = Graph(inputs, outputs)
            calls = self._graph.layers
            # Written past the property `layers`, whose setter raises, and found by Module among the attributes.
            vars(self)["layers"] = [layer for layer in calls if not isinstance(layer, Operation)]
            self.operations = [layer for layer in calls if isinstance(layer, Operation)]
            # The input layers cast, each to its own dtype.
            self.cast_kinds = ""
            self.built = True
            if not self.trainable:
                self.trainable = False

    @property
    def name(self) -> str:
        """The name in reports and messages."""
        if self._name is None:
            self._name = unique_name(self.kind)
        return self._name

    @property
    def kind(self) -> str:
        """The name of the class in a summary, or "Functional" for a model between symbolic tensors."""
        name = type(self).__name__
        return "Functional" if name == "Model" and self.graph is not None else name

    @property
    def graph(self) -> Graph | None:
        """The layer calls between inputs and outputs, or None if they aren't known."""
        return self._graph

    @property
    def layers(self) -> list[Layer]:
        """The layers of the model, without the layers inside them, and without operators and functions."""
        own = vars(self).get("layers")
        if own is None:
            own = [module for module in self.own_modules() if isinstance(module, Layer)]
        return list(own)

    @layers.setter
    def layers(self, layers: Any) -> None:  # noqa: ARG002 (a setter's signature)
        raise AttributeError(
            "a model sets `layers` automatically: write self.blocks = [...], or another name, for your own list"
        )

    @property
    def output_names(self) -> list[str] | None:
        """The names of the layers that compute the outputs, or None if they aren't known."""
        if self.graph is None:
            return None
        return [x.node.layer.name for x in self.graph.outputs if x.node]

    @property
    def output_paths(self) -> list[str] | None:
        """The names of the outputs in logs and for losses: keys of a dict, otherwise names of layers."""
        return None if self.graph is None else self.graph.output_paths

    @property
    def input_dtype(self) -> Any:
        """The common dtype of the inputs, or None if they differ or aren't floating-point."""
        if self.graph is None:
            return self.dtype if self.cast_kinds else None
        dtypes = {x.dtype for x in self.graph.inputs}
        return dtypes.pop() if len(dtypes) == 1 and all(x.kind == "f" for x in dtypes) else None

    @property
    def target_dtype(self) -> str:
        """The dtype to which floating-point targets and weights are cast before training."""
        # Unlike in Keras, which always casts to floatx: a layer in double precision needs targets in double precision.
        dtypes = [layer.dtype for _, layer, _ in self._walk() if isinstance(layer, Layer)]
        return "float64" if "float64" in dtypes else floatx()

    def _build_for(self, inputs: list[Any]) -> None:
        # Inner layers build themselves when `call` reaches them, so a model has nothing to build before its first call.
        if type(self).build is Model.build:
            self.built_shape = shapes_of(inputs[0]) if inputs else None
            self.built = True
        else:
            super()._build_for(inputs)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """Return None: the layers inside attach the masks of the outputs."""

    def build(self, input_shape: Any = None) -> None:
        """Build the layers of a subclass by calling it on zeros.

        Raises ShapeError if the model doesn't accept inputs of this shape.

        Parameters
        ----------
        input_shape : tuple of int or None, or structure of such tuples
        """
        # Set first, as the trial call would otherwise build the model again.
        self.built = True
        try:
            call_symbolically(self, (symbols(input_shape, self.dtype),), {})
        except BaseException:
            self.built = False
            raise

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Return the layer with a name, or at an index of `layers`, or raise OptionError."""
        layers = self.layers
        if (name is None) == (index is None):
            raise OptionError("get_layer takes either a name or an index: write get_layer('dense')")
        if index is not None and -len(layers) <= index < len(layers):
            return layers[index]
        for layer in layers:
            if layer.name == name:
                return layer
        raise OptionError(
            f"the model {self.name!r} has no layer {name if index is None else index!r}: it has "
            f"{', '.join(repr(layer.name) for layer in layers) or 'none'}"
        )

    @property
    def input(self) -> Any:
        """The symbolic inputs of the model, in their structure."""
        return self._graph_or_error("input").input_structure

    @property
    def output(self) -> Any:
        """The symbolic outputs of the model, in their structure."""
        return self._graph_or_error("output").output_structure

    @property
    def inputs(self) -> list[Any]:
        """The symbolic inputs of the model, as a list."""
        return self._graph_or_error("inputs").inputs

    @property
    def outputs(self) -> list[Any]:
        """The symbolic outputs of the model, as a list."""
        return self._graph_or_error("outputs").outputs

    @property
    def input_shape(self) -> Any:
        """The shape of the input, or a list of shapes."""
        return _one_or_all([x.shape for x in self.inputs])

    @property
    def output_shape(self) -> Any:
        """The shape of the output, or a list of shapes."""
        return _one_or_all([x.shape for x in self.outputs])

    def _graph_or_error(self, what: str) -> Graph:
        if self.graph is None:
            raise ModelError(
                f"the model {self.name!r} has no {what} yet, because the shape of its input isn't known: begin it with "
                "nn.Input((3,)), or build it"
            )
        return self.graph

    if TYPE_CHECKING:
        call: Callable[..., Any]  # not a method, whose overrides would need the same parameters
    else:

        def call(self, inputs: Any) -> Any:
            """Compute the outputs; to be overridden in subclasses without `inputs` and `outputs`."""
            if self.graph is None:
                raise NotImplementedError(
                    f"{type(self).__name__} has no method call(self, inputs): write one, or write "
                    "Model(inputs, outputs)"
                )
            return self.graph.run(inputs)

    _not_in_config = Layer._not_in_config | {"inputs", "outputs", "layers"}

    def get_config(self) -> dict[str, Any]:
        """Return the layers and their calls, from which `from_config` creates an equal model with new weights.

        For a subclass with a method `call`: the arguments of its constructor, see `Layer.get_config`.
        """
        if self._graph is not None:
            config: dict[str, Any] = with_sharing(lambda: functional_config(self))
            return config
        return super().get_config()

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Self:
        """Create a model from what `get_config` returned, with new weights.

        Raises ModelError if the config contains a class or function that isn't known here.

        Parameters
        ----------
        config : mapping
        custom_objects : mapping of str, optional
            Your classes and functions by name, unless they are registered.
        """
        with reading(cls._library), CustomObjectScope(custom_objects or {}):
            if "input_layers" in config:
                model: Self = functional_from_config(cls, config)
                return model
            return super().from_config(config)

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Build the model for the shape of its input in a file, unless it's built."""
        if not self.built and config.get("input_shape") is not None:
            self.build(tuples(config["input_shape"]))

    def to_json(self, **options: Any) -> str:
        """Return the layers and their calls as JSON, which `nn.models.model_from_json` reads, here and in Keras.

        Parameters
        ----------
        **options : see `json.dumps`

        Examples
        --------
        >>> from tapemagic import nn
        >>> nn.Sequential([nn.Input((3,)), nn.Dense(2)], name="net").to_json()[:44]
        '{"module": "keras", "class_name": "Sequentia'
        """
        return to_json(self, **options)

    def save(self, filepath: Any, overwrite: bool = True, **options: Any) -> None:
        """Write the model to a `.keras` or `.h5` file, which `nn.models.load_model` reads, here and in Keras 3.

        The file has the layers, the weights, and if the model is compiled the optimizer with its state, the loss and
        the metrics. See `nn.models.save_model` for the arguments and errors.
        """
        save_model(self, filepath, overwrite, **options)

    def save_weights(self, filepath: Any, optimizer: bool = False, overwrite: bool = True) -> None:
        """Write the values of all variables to a file; see `Module.save_weights`.

        Raises ModelError if there is no optimizer.

        Parameters
        ----------
        filepath : path
            Ends in ".npz", or in ".weights.h5" for a file that Keras 3 reads, which needs the package h5py.
        optimizer : bool, optional
            Also write the state of the optimizer, so that training can continue from it. A ".weights.h5" file always
            has it, if the model is compiled.
        overwrite : bool, optional
            False raises FileExistsError if the file exists.
        """
        if str(filepath).endswith(".h5"):
            if optimizer:
                self._optimizer_or_error()
            save_h5_weights(self, filepath, overwrite)
            return
        state = self.state()
        if optimizer:
            states = self._optimizer_or_error().variables
            state.update((f"{OPTIMIZER}{number}", v.numpy()) for number, v in enumerate(states))
        write(filepath, state, overwrite)

    def load_weights(
        self, filepath: Any, optimizer: bool = False, skip_mismatch: bool = False
    ) -> None:
        """Read the values of all variables from a file that `save_weights` wrote; see `Module.load_weights`.

        Parameters
        ----------
        filepath : path
            Ends in ".npz", ".weights.h5" or ".keras"; the last two may be Keras's.
        optimizer : bool, optional
            Also read the state of the optimizer, and raise an error if there is none. From a file of Keras's, a
            compiled model always reads it, with a warning if it doesn't fit.
        skip_mismatch : bool, optional
            From a file of Keras's, load the weights that fit, and list the others in a warning.

        Raises
        ------
        ModelError
            If there is no optimizer.
        WeightsError
            If the file has no state of an optimizer. Nothing is changed.
        ShapeError
            If the state doesn't fit the optimizer. Nothing is changed.
        """
        if str(filepath).endswith((".h5", ".keras")):
            if optimizer:
                self._optimizer_or_error()
            load_h5_weights(self, filepath, optimizer, skip_mismatch)
            return
        if skip_mismatch:
            raise OptionError("skip_mismatch works with .weights.h5 and .keras files: omit it")
        if not optimizer:
            super().load_weights(filepath)
            return
        ours = self._optimizer_or_error()
        source = f"the file {str(filepath)!r}"
        state_names: list[str] = []

        def chosen(stored: Mapping[str, Stored]) -> list[str]:
            names = self._own_names(stored, source)
            state_names.extend(optimizer_names(stored, source))
            if not ours.built:
                ours.build(self.trainable_variables)
            # Everything is checked before anything is assigned: the weights and the state belong together.
            ours.require_weights([stored[name] for name in state_names])
            return names + state_names

        arrays = read(filepath, chosen)
        ours.set_weights([arrays[name] for name in state_names])
        self._assign(arrays)

    def _optimizer_or_error(self) -> Any:
        if self.optimizer is None:
            raise ModelError(
                f"the model {self.name!r} has no optimizer: write model.compile(optimizer='adam', loss='mse') first"
            )
        return self.optimizer

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Callable[[str], Any] | None = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
    ) -> None:
        """Print a table of the layers with their output shapes and numbers of parameters.

        Parameters
        ----------
        line_length : int, optional
            The width of the table.
        positions : sequence of float, optional
            The ends of the columns, as shares of the width.
        print_fn : callable, optional
            Called with the whole text instead of `print`.
        expand_nested : bool, optional
            Also show the layers inside models.
        show_trainable : bool, optional
            Show whether each layer is trained.

        Examples
        --------
        >>> from tapemagic import nn
        >>> model = nn.Sequential([nn.Input((3,)), nn.Dense(2, name="hidden"), nn.Dense(1, name="out")], name="net")
        >>> model.summary()
        Model: "net"
        ┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓
        ┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃
        ┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩
        │ hidden (Dense)                  │ (None, 2)              │             8 │
        ├─────────────────────────────────┼────────────────────────┼───────────────┤
        │ out (Dense)                     │ (None, 1)              │             3 │
        └─────────────────────────────────┴────────────────────────┴───────────────┘
         Total params: 11 (44.00 B)
         Trainable params: 11 (44.00 B)
         Non-trainable params: 0 (0.00 B)
        """
        text = summary_of(self, line_length, positions, expand_nested, show_trainable)
        if print_fn is None:
            print(text)  # noqa: T201
        else:
            print_fn(f"{text}\n")  # with Keras's end of the last line


def clone_model(
    model: Model, input_tensors: Any = None, clone_function: Callable[[Layer], Layer] | None = None
) -> Model:
    """Copy `model` with new variables, whose initial values are drawn again.

    The copy isn't compiled. Variables that weren't created by `add_weight` keep the values of the original.

    Raises OptionError for `input_tensors`, and ModelError for a `clone_function` with a subclass of `Model`.

    Parameters
    ----------
    model : Model
    input_tensors : None, optional
        Only None: call the copy on your own inputs instead.
    clone_function : callable, optional
        Returns the layer that takes the place of a layer, such as ``type(layer).from_config(layer.get_config())``.

    Examples
    --------
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Input((3,)), nn.Dense(2)])
    >>> other = clone_model(model)
    >>> bool((model.get_weights()[0] == other.get_weights()[0]).any())
    False
    """
    if input_tensors is not None:
        raise OptionError(
            "clone_model takes no input_tensors: call the copy on them, as in clone_model(model)(inputs)"
        )
    if clone_function is not None:
        return _replaced(model, clone_function)
    # Through a shallow stand-in, so that the optimizer and the history aren't copied as well.
    vars_of = {**vars(model), "_compiled": None, "history": None}
    plain = model.__class__.__new__(model.__class__)
    vars(plain).update(vars_of)
    clone = deepcopy(plain)
    clone.initialize()
    return clone


def _replaced(model: Model, clone_function: Callable[[Layer], Layer]) -> Model:
    """Return a copy of a model with other layers."""
    if "_results" in vars(model):
        begin: Any = vars(model)["_input"]
        first = [] if begin is None else [type(begin).from_config(begin.get_config())]
        layers = [*first, *map(clone_function, model.layers)]
        return type(model)(layers, name=model.name)
    if model.graph is None:
        raise ModelError(
            f"the layers of {model.name!r} are called by its method call, so clone_function can't replace them: "
            "change a copy of the model instead"
        )
    copies: dict[int, Layer] = {}
    new: dict[int, Any] = {}
    for node in model.graph.nodes:
        layer = node.layer
        if not node.inputs:
            outputs = type(layer).from_config(layer.get_config()).output
        else:
            args, kwargs = filled((node.args, node.kwargs), new)
            if id(layer) not in copies:
                is_operation = isinstance(layer, Operation)
                copies[id(layer)] = deepcopy(layer) if is_operation else clone_function(layer)
            outputs = copies[id(layer)](*args, **kwargs)
        new.update(zip(node.keys, leaves(outputs), strict=True))
    ends = (model.graph.input_structure, model.graph.output_structure)
    inputs, outputs = filled(ends, new)
    return type(model)(inputs, outputs, name=model.name)


def _one_or_all(shapes: list[Any]) -> Any:
    return shapes[0] if len(shapes) == 1 else shapes
