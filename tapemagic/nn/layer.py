"""Layer: a module that is called on arrays, and creates its variables at the first call."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from math import prod
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import leaves
from tapemagic.engine.operations.common import array
from tapemagic.engine.operations.selection import cast
from tapemagic.engine.scopes import Scope, call_in_scope, is_observed
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Tensor, Traced, unwrap
from tapemagic.engine.tensor.variable import Variable, set_trainable
from tapemagic.errors import (
    ModelError,
    OptionError,
    ShapeError,
    TapeError,
    UnsupportedArgumentError,
)
from tapemagic.nn import constraints, initializers, regularizers
from tapemagic.nn.attached_masks import carried, mask_of, masks, set_mask
from tapemagic.nn.config import DTypePolicy, layer_dtype
from tapemagic.nn.configurable import Recorded
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.module import Module, awaiting_variables, tell_variables_exist
from tapemagic.nn.object_configs import option_config
from tapemagic.nn.symbolic import (
    SymbolicTensor,
    call_symbolically,
    calls,
    has_symbolic,
    nodes_of,
    symbols,
)

Shape = tuple[int | None, ...]

_WITHOUT_EFFECT = frozenset(
    {
        "autocast", "dynamic", "experimental_autocast", "flash_attention", "fused", "implementation",
        "input_length", "synchronized", "use_cudnn",
    }
)  # fmt: skip
"""Options of Keras that choose between equivalent computations, or matter on several devices only."""

_building = threading.RLock()
"""Lock of the thread that builds a layer; another thread that calls the same layer waits for it."""


def _once(build: Callable[..., None]) -> Callable[..., None]:
    """Decorate the method `build` of a class of layers: set the layer's path, and do nothing the second time.

    If `build` fails, the layer and the layers inside it are restored, without the variables created so far.
    """

    @wraps(build)
    def named(self: Layer, input_shape: Any = None, *shapes: Any) -> None:
        if self.built:
            return
        # The stack also has the layer in `super().build(...)` of a subclass: its path is set already.
        if calls.stack and calls.stack[-1][0] is self:
            build(self, input_shape, *shapes)
            return
        with _building:
            if not self.built:
                build_first_time(self, input_shape, *shapes)

    def build_first_time(self: Layer, input_shape: Any, *shapes: Any) -> None:
        around = calls.stack[-1][0] if calls.stack else None
        within = around._path if around is not None and around.prefixes_names else ""
        self._path = f"{within}/{self.name}" if within else self.name
        self._require_shape(input_shape)
        # Attributes are restored, and not only new ones deleted: `build` may also replace some, such as input_spec.
        before = [(module, module.copied_attributes()) for _, module, _ in self._walk()]
        calls.stack.append((self, False))
        try:
            build(self, input_shape, *shapes)
        except BaseException:
            for module, attributes in before:
                vars(module).clear()
                vars(module).update(attributes)
            raise
        finally:
            calls.stack.pop()
        self.built_shape = input_shape
        self.built = True
        if awaiting_variables:
            tell_variables_exist()

    return named


class Layer(Module, Recorded):
    """Base class of layers: override `build`, which creates the variables, and `call`, which computes the output.

    Every layer takes the parameters below as keyword arguments.

    Parameters
    ----------
    name : str, optional
        The name in reports and messages, by default derived from the name of the class.
    trainable : bool, optional
        False freezes the variables of the layer.
    dtype : {'float32', 'float64', 'float16'}, optional
        The dtype of the variables, to which floating-point inputs are cast; by default `nn.config.floatx`.
    activity_regularizer : str, callable or Regularizer, optional
        Adds a term for each output, divided by the length of the batch, to `losses`.
    input_shape, input_dim : tuple of int or None, int, optional
        For the first layer of a `Sequential` model: the shape of its input without the batch, or its only length.
        Equivalent to an `Input` before it.

    Other Parameters
    ----------------
    activation : str or callable, optional
        A name or function of `nn.activations`. None means no activation.
    use_bias : bool, optional
        Add a bias to the outputs.
    data_format : {None, 'channels_last'}, optional
        Other layouts raise OptionError.
    kernel_initializer, bias_initializer, embeddings_initializer : str, callable or Initializer, optional
        The initial values of the variable of this name; see `nn.initializers`.
    kernel_constraint, bias_constraint, embeddings_constraint : str, callable or Constraint, optional
        Replaces the variable of this name after each step of an optimizer; see `nn.constraints`.
    kernel_regularizer, bias_regularizer, embeddings_regularizer : str, callable or Regularizer, optional
        A term of `losses` for the variable of this name; see `nn.regularizers`.
    seed : int or numpy.random.Generator, optional
        The source of random numbers, as in dropout; by default the global generator.

    Raises
    ------
    DtypeError
        For any other `dtype`.
    OptionError
        From every layer, if an argument has a value that the layer doesn't accept.
    UnsupportedArgumentError
        If there is an unknown argument.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> class Scale(nn.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(shape=input_shape[-1:], initializer="ones", name="factor")
    ...
    ...     def call(self, inputs):
    ...         return self.factor * inputs
    >>> scale = Scale()
    >>> scale(np.array([[1.0, 2.0]])).numpy()
    array([[1., 2.]], dtype=float32)
    >>> scale.factor.name
    'scale/factor'
    """

    variable_class: type[Variable] = Variable
    """The class of the variables that `add_weight` creates."""

    prefixes_names = True
    """True if the names of variables in inner layers begin with this layer's name."""

    input_spec: InputSpec | None = None
    """The accepted shapes of inputs; None means all."""

    cast_kinds = "f"
    """Kinds (`numpy.dtype.kind`) of inputs that are cast to the layer's dtype: "fbiu" includes integers and bools."""

    is_boxed = True
    """True if reports show each call as a box."""

    runs_user_code = False
    """True if `call` is, or may call, code outside of this package."""

    __tape_unwatched__ = frozenset(
        {
            "_init_arguments",
            "_initialized",
            "_last_call",
            "_losses_of",
            "built_shape",
            "declared_shape",
        }
    )

    built = False
    built_shape: Any = None
    _path = ""
    _losses_of = _last_call = 0
    _initialized: Sequence[tuple[Variable, Any]] = ()
    _takes_training = False
    _parameters: tuple[str, ...] = ()
    _has_own_mask = False

    supports_masking = False
    """True if outputs get a mask from `compute_mask`; set by overriding this method, or to True."""

    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: DTypeLike | None = None,
        activity_regularizer: Any = None,
        input_shape: Any = None,
        input_dim: int | None = None,
        **unknown: Any,
    ) -> None:
        self._constraints: dict[str, Any] = {}
        names = _parameters_of(type(self)) if unknown else []
        for argument, value in unknown.items():
            kind, _, what = argument.rpartition("_")
            if what == "constraint" and f"{kind}_initializer" in names:
                # The variable of recurrent_constraint is called recurrent_kernel.
                kind = "recurrent_kernel" if kind == "recurrent" else kind
                self._constraints[kind] = constraint = constraints.get(value)
                setattr(self, argument, constraint)
            elif argument not in _WITHOUT_EFFECT:
                raise _unknown_argument(type(self), argument)
        super().__init__(name)
        self.activity_regularizer = activity_regularizer and regularizers.get(activity_regularizer)
        self.declared_shape = input_shape if input_dim is None else (input_dim,)
        self._dtype = layer_dtype(dtype)
        self._regularized: list[tuple[Variable, Any]] = []
        self._added_losses: list[Any] = []
        if not trainable:
            self.trainable = False

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError with a reason, if one is known."""
        try:
            return super().__getattribute__(name)  # raises a property's own error again
        except AttributeError as error:
            why = "" if name.startswith("__") else self._why_missing(name)
            if not why:
                raise
            raise AttributeError(f"{error}: {why}", name=name, obj=self) from None

    def _why_missing(self, name: str) -> str:
        """Return why an attribute is missing, and what to write, or '' if the reason is unknown."""
        if "_dtype" not in vars(self):
            return f"write super().__init__() as the first line of __init__ in the class {type(self).__name__}"
        if name == "export":
            return "write save('net.keras') to save the model, as Keras 3 reads it"
        if not self.built and not name.startswith("_"):
            return f"{self.name!r} has no variables before it is built: call it on data, or its build((None, 3)), first"
        return ""

    @property
    def path(self) -> str:
        """The names of the layers around this one and its own, joined by slashes."""
        return self._path or self.name

    @property
    def dtype(self) -> str:
        """The name of the dtype of the variables."""
        return self._dtype

    @property
    def dtype_policy(self) -> DTypePolicy:
        """The policy with the dtype of the layer."""
        return DTypePolicy(self._dtype)

    # Keras distinguishes them for mixed precision, which isn't here.
    variable_dtype = compute_dtype = dtype

    @_once
    def build(self, input_shape: Any) -> None:
        """Create the variables with `add_weight`; called before the first `call`.

        Parameters
        ----------
        input_shape : tuple of int or None, or list of such tuples
            The shape of the input, with None for the unknown length of the batch; a list for several inputs.
        """

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute output tensors from input tensors; an optional parameter `training` is True during training."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method call(self, inputs): write one"
        )

    # Layers of several outputs return structures of tensors, which type checkers can't know.
    @overload
    def __call__(
        self, *args: SymbolicTensor, training: bool | None = None, **kwargs: Any
    ) -> SymbolicTensor: ...
    @overload
    def __call__(self, *args: Any, training: bool | None = None, **kwargs: Any) -> Tensor: ...
    def __call__(  # noqa: PLR0912 (in the hot loop, where a call costs more than a branch)
        self, *args: Any, training: bool | None = None, **kwargs: Any
    ) -> Any:
        """Build the layer at its first call, and compute the output.

        - `*args`: Arrays, tensors, or lists of these: floating-point inputs are cast to the layer's dtype.
        - `training`: True during training, which matters to dropout. By default the value of the enclosing layer's
          call, or False.
        - `**kwargs`: Passed to `call`; the first argument may be among them, as ``inputs=``.

        Returns
        -------
        Tensor or structure of tensors
            The result of `call`, or symbolic tensors for symbolic inputs.
        """
        if (
            len(args) == 1
            and args[0].__class__ is Tensor
            and args[0].dtype == self._dtype
            and not kwargs
        ):
            # The usual case, without the checks below: this is in the hot loop of training.
            inputs = [args[0]]
        else:
            if not args and "inputs" in kwargs:
                args = (kwargs.pop("inputs"),)
            if has_symbolic(args) or (kwargs and has_symbolic(kwargs.values())):
                if training is not None:
                    kwargs["training"] = training
                return call_symbolically(self, args, kwargs)
            inputs = [self._as_input(x) for x in args]
        masked = bool(masks) or self._has_own_mask or "mask" in kwargs
        previous_mask = self._find_masks(inputs, kwargs) if masked else None
        # `training` is inherited through this stack, so that user code in `call` doesn't need to pass it on.
        stack = calls.stack
        if stack:
            training = stack[-1][1] if training is None else bool(training)
        else:
            calls.number += 1
            self._last_call = calls.number
            training = bool(training)
        spec = self.input_spec
        if spec is not None and inputs:
            shape = getattr(inputs[0], "shape", inputs[0])
            if not isinstance(shape, tuple) or not spec.accepts(shape):
                raise spec.error(self, shape)
        if not self.built and (inputs or spec is None):
            self._build_for(inputs)
        if self._takes_training:
            kwargs["training"] = training
        stack.append((self, training))
        try:
            if is_observed() and self.is_boxed:
                scope = Scope(self._path or self.name, type(self).__name__)
                outputs = call_in_scope(scope, self.call, inputs, kwargs, self.count_params)
            else:
                outputs = self.call(*inputs, **kwargs)
            if self.activity_regularizer is not None:
                self._penalize(outputs)
            if masked:
                self._attach_masks(inputs, outputs, previous_mask)
        finally:
            stack.pop()
        return outputs

    def _find_masks(self, inputs: list[Any], kwargs: dict[str, Any]) -> Any:
        """Pass the masks of inputs on to `call`, if it takes these, and return the mask of the first input."""
        # Keras's rule: the mask of the only input is called `mask`, those of several inputs query_mask and so on.
        passed = dict(zip(self._parameters, inputs, strict=False)) | kwargs
        of = {name: mask_of(x) for name, x in passed.items()}
        arrays = [
            name for name, x in passed.items() if any(isinstance(y, Traced) for y in leaves(x))
        ]
        for name in arrays:
            parameter = "mask" if len(arrays) == 1 else f"{name}_mask"
            has_mask = any(x is not None for x in leaves(of[name]))
            if has_mask and parameter in self._parameters and passed.get(parameter) is None:
                kwargs[parameter] = of[name]
        if kwargs.get("mask") is not None:
            return kwargs["mask"]
        return mask_of(inputs[0]) if inputs else None

    def _attach_masks(self, inputs: list[Any], outputs: Any, previous_mask: Any) -> None:
        """Attach masks to the outputs, or warn that a mask ends here."""
        tensors = leaves(outputs)
        if not self.supports_masking:
            if any(mask is not None for mask in leaves(previous_mask)):
                warnings.warn(
                    f"Layer '{self.name}' (of type {type(self).__name__}) was passed an input with a mask attached to "
                    "it. However, this layer does not support masking and will therefore destroy the mask information. "
                    "Downstream layers will not see the mask.",
                    stacklevel=3,
                )
        elif any(mask_of(tensor) is None for tensor in tensors):
            computed = self.compute_mask(inputs[0] if inputs else None, previous_mask)
            each = computed if isinstance(computed, list | tuple) else [computed]
            for tensor, mask in zip(tensors, each, strict=False):
                if mask_of(tensor) is None:
                    set_mask(tensor, mask)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:  # noqa: ARG002 (Keras's signature)
        """Return the mask of the output, by default that of the first input; to be overridden.

        Parameters
        ----------
        inputs : Tensor, or structure of tensors
        previous_mask : array_like or list of array_like, optional
            The masks of the inputs.
        """
        return previous_mask

    def _penalize(self, outputs: Any) -> None:
        """Add the activity regularizer's term for each output, divided by the length of the batch, to `losses`."""
        for output in outputs if isinstance(outputs, list | tuple) else [outputs]:
            # Keras divides by the length of the batch, so that the penalty doesn't depend on it.
            batch = output.shape[0] if output.ndim else 1
            self.add_loss(self.activity_regularizer(output) / max(batch, 1))

    def _build_for(self, inputs: list[Any]) -> None:
        """Build the layer for the arguments of a call."""
        self.build(shapes_of(inputs[0]) if inputs else None)

    def _require_shape(self, shape: Any) -> None:
        """Raise ShapeError for inputs without a shape, or of a shape that the layer doesn't accept."""
        spec = self.input_spec
        if spec is not None and not (isinstance(shape, tuple) and spec.accepts(shape)):
            raise spec.error(self, shape)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "build" in vars(cls):
            cls.build = _once(cls.build)  # type: ignore[method-assign]
        # Once per class: inspect.signature takes longer than a call of a small layer.
        cls._parameters = tuple(signature(cls.call).parameters)[1:]
        cls._takes_training = "training" in cls._parameters
        if not cls.call.__module__.startswith("tapemagic."):
            cls.runs_user_code = True
        if "compute_mask" in vars(cls):
            cls._has_own_mask = True
            cls.supports_masking = vars(cls).get("supports_masking", True)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the output shape for an input shape, by calling the layer on zeros.

        Parameters
        ----------
        input_shape : tuple of int or None, or list of such tuples
            None means an unknown length, such as the length of the batch.

        Examples
        --------
        >>> from tapemagic import nn
        >>> nn.Dense(2).compute_output_shape((None, 3))
        (None, 2)
        """
        return shapes_of(call_symbolically(self, (symbols(input_shape, self._dtype),), {}))

    def add_weight(
        self,
        shape: Sequence[int] = (),
        initializer: Any = None,
        dtype: DTypeLike | None = None,
        trainable: bool = True,
        regularizer: Any = None,
        name: str = "variable",
        constraint: Any = None,
        **without_effect: Any,
    ) -> Variable:
        """Create a variable, which must be assigned to an attribute of this layer.

        Raises ShapeError if the length of an axis is unknown, or the initializer returns another shape.

        Parameters
        ----------
        shape : sequence of int, optional
        initializer : str, callable or Initializer, optional
            Called as ``initializer(shape, dtype)``; by default "glorot_uniform", as in Keras.
        dtype : dtype, optional
            By default the layer's dtype.
        trainable : bool, optional
        regularizer : str, callable or Regularizer, optional
            Adds a term to `losses`.
        name : str, optional
        constraint : str, callable or Constraint, optional
            Replaces the value after each step of an optimizer; see `nn.constraints`.
        **without_effect
            `autocast`, `aggregation`, `synchronization`, `use_resource`: they don't change values here.

        Returns
        -------
        Variable
            Its name is the path of the layer and `name`, such as "dense/kernel".
        """
        for argument in without_effect:
            if argument not in {"autocast", "aggregation", "synchronization", "use_resource"}:
                raise UnsupportedArgumentError(f"add_weight doesn't take an argument {argument!r}")
        if any(length is None for length in shape):
            raise ShapeError(
                f"the variable {name!r} of {self.name!r} can't have the shape {tuple(shape)}: every axis of a "
                "variable needs a length, so pass inputs whose last axes are known"
            )
        shape = tuple(shape)
        dtype = self._dtype if dtype is None else dtype
        initial = initializers.get("glorot_uniform" if initializer is None else initializer)
        try:
            # NumPy raises ValueError for arrays of more bytes than an address can count, and MemoryError for smaller
            # ones: both mean the same to the user.
            if prod(shape) > sys.maxsize // np.dtype(float).itemsize:
                raise MemoryError
            value = unwrap(initial(shape, dtype=dtype))
        except MemoryError as error:
            raise MemoryError(
                f"not enough memory for the variable {name!r} of {self.name!r}, which has the shape {shape}, "
                f"{prod(shape):,} numbers: use fewer units, or inputs of fewer features"
            ) from error
        if np.shape(value) != shape:
            raise ShapeError(
                f"the initializer of {name!r} of {self.name!r} returned the shape {np.shape(value)}, not {shape}"
            )
        path = f"{self._path or self.name}/{name}"
        constraint = constraints.get(
            self._constraints.get(name) if constraint is None else constraint
        )
        kind = self.variable_class
        if constraint is not None and kind is Variable:
            kind = constraints.ConstrainedVariable
        variable = kind(value, trainable=trainable, name=path, dtype=dtype)
        if constraint is not None:
            variable.constraint = constraint  # type: ignore[attr-defined]
        # Created in a frozen layer: the variable is frozen now, and thaws with the layer.
        if trainable and not self.trainable:
            set_trainable(variable, trainable=False)
            self._frozen = [*self._frozen, variable]
        self._initialized = [*self._initialized, (variable, initial)]
        if regularizer is not None:
            penalty = regularizers.get(regularizer)
            self._regularized = [*self._regularized, (variable, penalty)]
        return variable

    def add_loss(self, loss: Any) -> None:
        """Add a term, one number, to `losses` of this call of the model, such as a penalty on an activation."""
        # Terms belong to one outermost call: the first term of a later call discards those of earlier calls.
        if self._losses_of != calls.number:
            self._added_losses = []
            self._losses_of = calls.number
        self._added_losses.append(loss)

    @property
    def losses(self) -> list[Any]:
        """The terms that regularizers and `add_loss` add to the loss, of this layer and its inner layers."""
        layers = [module for _, module, _ in self._walk() if isinstance(module, Layer)]
        # In Keras's order, and as there without the regularizers of frozen variables.
        added = (x._added_losses for x in layers if x._losses_of >= self._last_call)
        pairs = (pair for x in layers for pair in x._regularized)
        return [
            *(term for terms in added for term in terms),
            *(regularizer(variable) for variable, regularizer in pairs if variable.trainable),
        ]

    @property
    def weights(self) -> list[Variable]:
        """Keras's name for `variables`."""
        return self.variables

    @property
    def trainable_weights(self) -> list[Variable]:
        """Keras's name for `trainable_variables`."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Keras's name for `non_trainable_variables`."""
        return self.non_trainable_variables

    @property
    def input(self) -> Any:
        """The symbolic input of the layer, if it was called on symbolic tensors exactly once."""
        inputs = self._only_node("input").inputs
        return inputs[0] if len(inputs) == 1 else inputs

    @property
    def output(self) -> Any:
        """The symbolic output of the layer, if it was called on symbolic tensors exactly once."""
        return self._only_node("output").outputs

    def _only_node(self, what: str) -> Any:
        nodes = nodes_of(self)
        if len(nodes) != 1:
            raise ModelError(
                f"the layer {self.name!r} has no unique {what}: it was called on symbolic tensors "
                f"{len(nodes) or 'no'} times; keep the tensor that nn.Input or the call returns"
            )
        return nodes[0]

    def count_params(self) -> int:
        """Return the number of elements of all variables, or raise OptionError before the layer is built.

        Examples
        --------
        >>> from tapemagic import nn
        >>> layer = nn.Dense(2)
        >>> layer.build((None, 3))
        >>> layer.count_params()
        8
        """
        if not self.built:
            raise OptionError(
                f"the layer {self.name!r} has no variables yet, because the shape of its input isn't known: call it on "
                "data, or call its build((None, 3)) first"
            )
        return sum(variable.size for variable in self.variables)

    def initialize(self) -> None:
        """Reset all variables to new values of their initializers.

        Examples
        --------
        >>> from tapemagic import nn
        >>> layer = nn.Dense(1, kernel_initializer="ones", use_bias=False)
        >>> layer.build((None, 1))
        >>> layer.set_weights([[[5.0]]])
        >>> layer.initialize()
        >>> layer.get_weights()
        [array([[1.]], dtype=float32)]
        """
        for _, module, _ in self._walk():
            if isinstance(module, Layer):
                for variable, initial in module._initialized:
                    variable.assign(initial(variable.shape, dtype=variable.dtype), read_value=False)

    def get_weights(self) -> list[Any]:
        """Return copies of the values of all variables, in the order of `variables`."""
        return [variable.numpy() for variable in self.variables]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Assign values to all variables, in the order of `variables`.

        Parameters
        ----------
        weights : sequence of array_like
            Such as `get_weights` returns.

        Raises
        ------
        DtypeError, NotNumbersError
            If a value is complex, or not numeric. Nothing is changed.
        ShapeError
            If the number of values or a shape differs. Nothing is changed.
        """
        variables = self.variables
        values = [np.asarray(unwrap(value)) for value in weights]
        expected = [tuple(variable.shape) for variable in variables]
        if [value.shape for value in values] != expected:
            built = "" if self.built else "; it isn't built yet: call it on data first"
            raise ShapeError(
                f"the layer {self.name!r} has weights of the shapes {expected}, not "
                f"{[value.shape for value in values]}{built}"
            )
        # A value may fail only when it's assigned, such as a complex number: then the earlier ones are restored.
        before = [variable.numpy() for variable in variables]
        try:
            for variable, value in zip(variables, values, strict=True):
                variable.assign(value, read_value=False)
        except TapeError:
            for variable, value in zip(variables, before, strict=True):
                variable.assign(value, read_value=False)
            raise

    _not_in_config = frozenset({"input_shape", "input_dim"})

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal layer, without its weights.

        Raises NotImplementedError for a subclass whose constructor has arguments that aren't numbers, strings or lists
        of these: it needs its own `get_config`.

        Examples
        --------
        >>> from tapemagic import nn
        >>> config = nn.Dense(2, name="out").get_config()
        >>> config["name"], config["units"]
        ('out', 2)
        >>> nn.Dense.from_config(config)
        <Dense name=out, built=False>
        """
        config = super().get_config()
        first = {
            name: config.pop(name) for name in ("name", "trainable", "dtype") if name in config
        }
        if "dtype" in first:
            policy = {"class_name": "DTypePolicy", "config": {"name": self.dtype}}
            first["dtype"] = {"module": "keras", **policy, "registered_name": None}
        if config.get("activity_regularizer", ...) is None:
            del config["activity_regularizer"]
        # Written out, because Keras's default depends on the settings of a computer.
        if "data_format" in config:
            config["data_format"] = "channels_last"
        for kind, constraint in self._constraints.items():
            name = f"{kind.replace('recurrent_kernel', 'recurrent')}_constraint"
            config[name] = option_config(name, constraint)
        return first | config

    def get_build_config(self) -> dict[str, Any] | None:
        """Return the shape for which the layer was built, or None before."""
        return {"input_shape": self.built_shape} if self.built_shape is not None else None

    def _as_input(self, x: Any) -> Any:
        """Convert an argument to a tensor, or to a structure of tensors, of the layer's dtype if floating-point."""
        if isinstance(x, Traced):
            dtype = x.dtype
            is_done = dtype == self._dtype or dtype.kind not in self.cast_kinds
            return x if is_done else carried(x, cast(x, self._dtype))
        if isinstance(x, (np.ndarray, np.generic)):
            return constant(x, self._dtype if x.dtype.kind in self.cast_kinds else None)
        if isinstance(x, list | tuple):
            if _is_numbers(x):
                return self._as_input(array(x))
            return type(x)(map(self._as_input, x)) if type(x) in {list, tuple} else x
        if is_lazy(x):
            return self._as_input(constant(x))
        return self._as_input(np.asarray(x)) if hasattr(x, "__array__") else x

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


def shapes_of(inputs: Any) -> Any:
    """Return the shape of a tensor, or the structure of shapes for a list or dict of tensors."""
    if isinstance(inputs, list | tuple):
        return [shapes_of(x) for x in inputs]
    if isinstance(inputs, dict):
        return {name: shapes_of(x) for name, x in inputs.items()}
    return getattr(inputs, "shape", None)


def _parameters_of(kind: type) -> list[str]:
    """Return the names of the parameters of a class of layers, and of its base classes."""
    return [
        x for base in kind.__mro__ if "__init__" in vars(base) for x in signature(base).parameters
    ]


def _listed(names: list[str]) -> list[str]:
    return [x for x in dict.fromkeys(names) if x not in {"self", "args", "kwargs", "unknown"}]


def _unknown_argument(kind: type, name: str) -> UnsupportedArgumentError:
    """Return the error for an argument that a class of layers doesn't take."""
    names = _parameters_of(kind)
    near = get_close_matches(name, names, 1)
    advice = f"did you mean {near[0]}=?" if near else f"it takes {', '.join(_listed(names))}"
    return UnsupportedArgumentError(f"{kind.__name__} doesn't take an argument {name!r}: {advice}")


def _is_numbers(x: Any) -> bool:
    """Return True if `x` is a number, or a nested list of numbers."""
    if isinstance(x, list | tuple):
        return bool(x) and all(map(_is_numbers, x))
    return isinstance(x, int | float | np.generic)


class Pointwise(Layer):
    """A layer whose output has the shape of its input, and its mask."""

    supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the input."""
        if not isinstance(input_shape, list):
            self._require_shape(tuple(input_shape))
        return tuple(input_shape)
