"""Objects as dicts, in Keras's form: the class, where it's defined, and its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from importlib import import_module
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import ModelError, OptionError, TapeError
from tapemagic.nn.custom_objects import (
    CustomObjectScope,
    current_reading,
    get_registered_name,
    get_registered_object,
    is_builtin,
)

MODULES = (
    "layers", "losses", "metrics", "initializers", "regularizers", "constraints", "optimizers",
    "optimizers.schedules",
)  # fmt: skip
"""Modules of Keras and of this package that files refer to."""

FUNCTIONS = ("activations", "losses", "metrics")
"""Modules of functions that files name."""


def serialize_keras_object(obj: Any) -> Any:
    """Return a config of `obj`, a layer, a loss or another object: dicts, lists, strings and numbers, as JSON has them.

    Raises ModelError for anything that a file can't contain, such as a lambda.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.saving.serialize_keras_object(nn.regularizers.L2(0.5))
    {'module': 'keras.regularizers', 'class_name': 'L2', 'config': {'l2': 0.5}, 'registered_name': None}
    """
    return with_sharing(lambda: _serialized(obj))


class _Writing:
    """A config that is being written.

    - `seen`: Ids of the layers so far, of which `repeated` occurred more than once.
    - `numbers`: The number of each layer that occurs several times, once these are known.
    """

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self.seen: set[int] = set()
        self.repeated: dict[int, int] = {}
        self.numbers = numbers

    def note(self, layer: Any) -> dict[str, Any]:
        """Return the number of a layer that occurs several times, as a part of its config."""
        if id(layer) in self.seen:
            self.repeated.setdefault(id(layer), len(self.repeated) + 1)
        self.seen.add(id(layer))
        number = self.numbers.get(id(layer))
        return {} if number is None else {"shared_object_id": number}


_writing: ContextVar[_Writing | None] = ContextVar("writing", default=None)


def with_sharing(make: Callable[[], Any]) -> Any:
    """Return the config that a function makes, with a number for each layer that occurs in it several times."""
    if _writing.get() is not None:
        return make()
    # A second pass only if a layer occurs twice: the first time, the config doesn't show yet that there is a second.
    numbers: Mapping[int, int] = {}
    while True:
        token = _writing.set(writing := _Writing(numbers))
        try:
            config = make()
        finally:
            _writing.reset(token)
        if writing.repeated == numbers:
            return config
        numbers = writing.repeated


def _serialized(obj: Any) -> Any:
    if obj is None or isinstance(obj, bool | int | float | str):
        return obj
    if isinstance(obj, list | tuple):
        return type(obj)([_serialized(part) for part in obj])
    if isinstance(obj, Mapping):
        return {name: _serialized(part) for name, part in obj.items()}
    special = _special(obj)
    if special is not None:
        return special
    if isinstance(obj, np.generic | np.dtype | type) and not hasattr(obj, "get_config"):
        return obj.item() if isinstance(obj, np.generic) else np.dtype(obj).name
    if isinstance(obj, FunctionType | BuiltinFunctionType | np.ufunc):
        return _function_config(obj)
    if isinstance(obj, type) or not hasattr(obj, "get_config"):
        raise ModelError(
            f"a file can't contain {_shown(obj)}: it contains numbers, strings, arrays, and objects with a method "
            "get_config(self)"
        )
    number = _writing.get().note(obj) if hasattr(obj, "named_modules") else {}  # type: ignore[union-attr]
    kind = type(obj)
    return {
        **_place(kind),
        "config": _config_of(obj),
        **_registration(kind),
        **number,
        **_state(obj),
    }


def _special(obj: Any) -> dict[str, Any] | None:
    """Return the config of an array, a slice or another value that JSON doesn't have, or None."""
    if isinstance(obj, Traced | Variable):
        return _array_config("__tensor__", np.asarray(unwrap(obj)))
    if isinstance(obj, np.ndarray):
        return _array_config("__numpy__", obj)
    if isinstance(obj, slice):
        parts = {
            name: serialize_keras_object(getattr(obj, name)) for name in ("start", "stop", "step")
        }
        return {"class_name": "__slice__", "config": parts}
    if obj is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    return None


def _array_config(kind: str, array: Any) -> dict[str, Any]:
    return {"class_name": kind, "config": {"value": array.tolist(), "dtype": array.dtype.name}}


def _function_config(function: Any) -> dict[str, Any]:
    """Return the config of a named function."""
    name = getattr(function, "__name__", "")
    if name == "<lambda>":
        raise ModelError(
            "a file can't contain a lambda, because its code would have to be stored and run: write a function with "
            "def, and decorate it with @register_keras_serializable()"
        )
    return {
        "module": "builtins",
        "class_name": "function",
        "config": get_registered_name(function),
        "registered_name": "function",
    }


def _place(kind: type) -> dict[str, Any]:
    """Return the module and the name under which Keras knows a class, or those of a user's class."""
    if not is_builtin(kind):
        return {
            "module": None if kind.__module__ == "__main__" else kind.__module__,
            "class_name": kind.__name__,
        }
    name = kind.__name__
    if name == "Sequential":
        return {"module": "keras", "class_name": name}
    if name == "Model":
        return {"module": "keras.src.models.functional", "class_name": "Functional"}
    for module in MODULES:
        if getattr(_module(getattr(kind, "_library", "tapemagic.nn"), module), name, None) is kind:
            return {"module": f"keras.{module}", "class_name": name}
    raise ModelError(f"a file can't contain a {name}")


def _registration(kind: type) -> dict[str, Any]:
    if not is_builtin(kind):
        return {"registered_name": get_registered_name(kind)}
    return {"registered_name": "Functional" if kind.__name__ == "Model" else None}


def _config_of(obj: Any) -> Any:
    """Return the serialized options of an object, or raise ModelError if they can't be stored."""
    try:
        return serialize_keras_object(obj.get_config())
    except TapeError as error:
        name = getattr(obj, "name", None)
        what = type(obj).__name__ if name is None else f"{type(obj).__name__} {name!r}"
        if isinstance(error, ModelError) and not str(error).startswith(("in the ", "the Lambda")):
            raise ModelError(f"in the {what}: {error}") from error
        raise


def _state(obj: Any) -> dict[str, Any]:
    """Return how a layer was built and a model compiled, if they were."""
    state = {}
    for name in ("build_config", "compile_config"):
        getter = getattr(obj, f"get_{name}", None)
        config = getter() if getter is not None else None
        if config:
            state[name] = serialize_keras_object(config)
    return state


def option_config(name: str, value: Any) -> Any:
    """Return the config of an option by its name: "kernel_initializer" may be a name, and is stored as an object."""
    nn = "tapemagic.nn"
    if value is None:
        return None
    if name.endswith("_initializer"):
        value = _module(nn, "initializers").get(value)
    elif name.endswith("_regularizer"):
        value = _module(nn, "regularizers").get(value)
    elif name.endswith("_constraint"):
        value = _module(nn, "constraints").get(value)
    elif name.endswith("activation") and callable(value):
        return _activation_config(value)
    return serialize_keras_object(value)


def _activation_config(function: Any) -> Any:
    """Return the name of an activation, or the config of a user's function or layer."""
    if not isinstance(function, FunctionType | np.ufunc):
        return serialize_keras_object(function)
    known = _module("tapemagic.nn", "activations")
    plain = getattr(function, "__wrapped__", function)
    for name in (function.__name__, *known.__all__):
        # Functions of tf.keras wrap those of nn.
        if getattr(known, name, None) in {function, plain}:
            return name
    return _function_config(function)


def _module(library: str, name: str) -> Any:
    """Return a module of this package by Keras's name, or None."""
    first, *rest = name.split(".")
    try:
        module: Any = import_module(f"{library}.{first}")
    except ModuleNotFoundError:
        return None
    for part in rest:
        module = getattr(module, part, None)
    return module


def deserialize_keras_object(
    config: Any,
    custom_objects: Mapping[str, Any] | None = None,
    safe_mode: bool = True,  # noqa: ARG001 (code in a config is never run)
    **_unused: Any,
) -> Any:
    """Create the object that a config of `serialize_keras_object` describes.

    Only classes and functions of this package, registered ones and `custom_objects` are created: nothing is imported
    by name, unpickled or evaluated, whatever `safe_mode` is.

    Raises ModelError for anything else.

    Parameters
    ----------
    config : dict, list, str, number or None
    custom_objects : mapping of str, optional
        Your classes and functions by name.
    safe_mode : bool, optional
        Not used. Keras's signature has it.

    Examples
    --------
    >>> from tapemagic import nn
    >>> config = nn.saving.serialize_keras_object(nn.Dense(3, name="hidden"))
    >>> nn.saving.deserialize_keras_object(config)
    <Dense name=hidden, built=False>
    """
    with CustomObjectScope(custom_objects or {}):
        return _object(config)


def _object(config: Any) -> Any:
    if isinstance(config, list | tuple):
        return [_object(part) for part in config]
    if not isinstance(config, Mapping):
        return config
    if "class_name" not in config or "config" not in config:
        return {name: _object(part) for name, part in config.items()}
    name, inner = config["class_name"], config["config"]
    if not isinstance(name, str):
        raise ModelError(f"{current_reading().source} contains a class named {shown(name)}")
    if name in _VALUES:
        return _value(name, inner)
    if name == "function":
        return _function(inner)
    number = config.get("shared_object_id")
    shared = current_reading().shared
    if number is not None and number in shared:
        return shared[number]
    obj = _created(_class(config), config)
    if number is not None:
        shared[number] = obj
    return obj


def _value(name: str, inner: Any) -> Any:
    """Return an array, a slice or another value that JSON doesn't have, or raise ModelError."""
    try:
        return _VALUES[name](inner)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(
            f"{current_reading().source} contains a broken {name.strip('_')} ({_message(error)})"
        ) from error


def _refuse_lambda(_config: Any) -> Any:
    raise ModelError(
        f"{current_reading().source} contains the code of a lambda, and no code from a file is ever run: write a named "
        "function instead, and save again"
    )


_VALUES: dict[str, Callable[[Any], Any]] = {
    "DTypePolicy": lambda config: config["name"],
    "__bytes__": lambda config: config["value"].encode(),
    "__ellipsis__": lambda _config: ...,
    "__lambda__": _refuse_lambda,
    "__numpy__": lambda config: np.array(config["value"], config["dtype"]),
    "__slice__": lambda config: slice(*(_object(config[x]) for x in ("start", "stop", "step"))),
    "__tensor__": lambda config: np.array(config["value"], config["dtype"]),
}


def _registering(name: str) -> str:
    """Return the advice how a file finds a class or function of the user's."""
    return (
        "decorate it with @register_keras_serializable(), from nn.saving or tf.keras.utils, or pass "
        f"custom_objects={{{name!r}: {name}}}"
    )


def _class(config: Mapping[str, Any]) -> Any:
    """Return the class of a config, or raise ModelError."""
    name, module = config["class_name"], config.get("module")
    for custom in (config.get("registered_name"), name):
        found = get_registered_object(custom) if isinstance(custom, str) else None
        if found is not None:
            return found
    now = current_reading()
    if name in {"Functional", "Model", "Sequential"}:
        return getattr(import_module(now.library), "Model" if name == "Functional" else name)
    if isinstance(module, str) and module.startswith("keras"):
        place = module.removeprefix("keras.")
        known = _module(now.library, place) if place in MODULES else None
        # Only public names: a module also contains what it imports.
        public = getattr(known, "__all__", None) or vars(known or object)
        found = getattr(known, name, None)
        if isinstance(found, type) and name in public:
            return found
        raise ModelError(
            f"{now.source} contains a {name} of {module}, which tapemagic doesn't have: write a class of this "
            f"name, with the methods get_config and call, and pass custom_objects={{{name!r}: {name}}}"
        )
    if "module" not in config:  # in .h5 files, classes of Keras have no module
        for place in MODULES:
            found = getattr(_module(now.library, place), name, None)
            if isinstance(found, type) and is_builtin(found):
                return found
    raise ModelError(
        f"{now.source} contains the class {name!r}, which isn't one of Keras's: "
        f"{_registering(name)}"
    )


def _created(kind: Any, config: Mapping[str, Any]) -> Any:
    """Create an object of a class, and build and compile it as it was."""
    inner = config["config"] or {}
    label = inner.get("name") if isinstance(inner, Mapping) else None
    what = kind.__name__ if label is None else f"{kind.__name__} {label!r}"
    try:
        if isinstance(kind, FunctionType):
            return kind
        obj = kind.from_config(dict(inner))
    # A config may come from anywhere, and constructors of users raise what they like.
    except Exception as error:
        # An error of an inner object names the place already.
        if isinstance(error, ModelError):
            raise
        source = current_reading().source
        advice = (
            ""
            if is_builtin(kind)
            else "; write a method get_config that returns the arguments of __init__"
        )
        raise ModelError(
            f"{source} contains the {what}, which can't be created from its options: {_message(error)}{advice}"
        ) from error
    for step in ("build", "compile"):
        options = config.get(f"{step}_config")
        if options and hasattr(obj, f"{step}_from_config"):
            try:
                getattr(obj, f"{step}_from_config")(options)
            except Exception as error:
                if isinstance(error, ModelError):
                    raise
                how = "built" if step == "build" else "compiled: load it with compile=False"
                raise ModelError(
                    f"{current_reading().source} contains the {what}, which can't be {how} ({_message(error)})"
                ) from error
    return obj


def _message(error: Exception) -> str:
    return f"the option {error} is missing" if isinstance(error, KeyError) else str(error)


def _function(name: Any) -> Any:
    """Return a function by its name, or raise ModelError."""
    now = current_reading()
    if isinstance(name, str):
        found = get_registered_object(name)
        if found is not None:
            return found
        for module in FUNCTIONS:
            functions = _module(now.library, module)
            if name in functions.__all__ and name != "get":
                return getattr(functions, name)
    raise ModelError(
        f"{now.source} contains the function {name!r}, which isn't one of Keras's: "
        f"{_registering(name)}"
    )


def deserialize_option(name: str, value: Any) -> Any:
    """Return the value of an option from its config."""
    if isinstance(value, Mapping) and "class_name" in value:
        if value["class_name"] == "DTypePolicy" or name == "dtype":
            return _dtype_name(value)
        return _object(value)
    # Lists such as [2, 2] were tuples before JSON.
    return value


def _dtype_name(policy: Mapping[str, Any]) -> Any:
    """Return the dtype of a policy, or raise OptionError for policies of several dtypes."""
    inner = policy.get("config")
    name = inner.get("name") if isinstance(inner, Mapping) else inner
    if policy["class_name"] == "DTypePolicy" and name in {"float16", "float32", "float64"}:
        return name
    raise OptionError(
        f"its dtype policy is {name!r}, and layers compute in float32, float64 or float16 here: save the model with "
        "dtype='float32'"
    )


def tuples(shape: Any) -> Any:
    """Return a shape, or a structure of shapes, that JSON turned into lists.

    Examples
    --------
    >>> tuples([[None, 3], [None, 4]])
    [(None, 3), (None, 4)]
    """
    if isinstance(shape, Mapping):
        return {name: tuples(part) for name, part in shape.items()}
    if isinstance(shape, list | tuple):
        if all(n is None or isinstance(n, int) for n in shape):
            return tuple(shape)
        return [tuples(part) for part in shape]
    return shape


def _shown(obj: Any) -> str:
    return f"a {type(obj).__name__}" if not isinstance(obj, type) else f"the class {obj.__name__}"
