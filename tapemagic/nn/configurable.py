"""Configurable: the methods get_config and from_config, from the parameters of a class's constructor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import Parameter, signature
from typing import Any, Self

from tapemagic.errors import DtypeError
from tapemagic.nn.custom_objects import is_builtin, reading
from tapemagic.nn.object_configs import deserialize_option, option_config

NOT_PLAIN = ...
"""Placeholder for recorded arguments that aren't plain values; it stays the same object when it's copied or pickled."""

KERAS_DEFAULTS: dict[str, Any] = {
    "optional": False, "quantization_config": None, "ragged": False, "renorm": False,
    "renorm_clipping": None, "renorm_momentum": 0.99, "rms_scaling": False, "sliding_window": None,
    "sparse": False, "synchronized": False, "use_gate": False,
}  # fmt: skip
"""Options that Keras stores and that don't exist here, with the values that have no effect."""


BASE = ("name", "trainable", "dtype")
"""Options of every layer."""


class Configurable:
    """Mix-in of everything that a file describes by the arguments of its constructor."""

    _library = "tapemagic.nn"
    _init_arguments: Any = ((), {})
    _not_in_config: frozenset[str] = frozenset()

    def get_config(self) -> dict[str, Any]:
        """Return the options from which `from_config` creates an equal object, without weights.

        Values are numbers, strings, lists and dicts, as Keras stores them. Raises NotImplementedError for a subclass
        whose constructor has arguments of other types: it needs its own `get_config`.
        """
        kind = type(self)
        own = kind.get_config is not _inherited_get_config(kind)
        config = {
            name: option_config(name, self._config_value(name, default))
            for name, default in _parameters(kind, builtin=True)
            if name not in self._not_in_config
        }
        if not own:
            config = self._with_own_arguments(config)
        return config

    def _with_own_arguments(self, config: dict[str, Any]) -> dict[str, Any]:
        """Add the recorded arguments of a user class, and omit what its constructor doesn't take."""
        kind = type(self)
        own = dict(_parameters(kind, builtin=False))
        if not own and _takes_all(kind):
            return config
        recorded = self._recorded()
        values = {name: recorded[name] for name in own if name in recorded}
        missing = [name for name, value in values.items() if value is NOT_PLAIN]
        if missing:
            raise NotImplementedError(
                f"{kind.__name__} was created with {missing[0]}=, which isn't a number, a string or a list of these, "
                "so its config can't be derived: write a method get_config(self) that returns all arguments of "
                "__init__, with super().get_config() for those of the base class"
            )
        if not _takes_all(kind):
            config = {name: value for name, value in config.items() if name in own}
        return config | values

    def _config_value(self, name: str, default: Any) -> Any:
        """Return the current value of an option: the attribute, or the recorded argument."""
        value = getattr(self, name, NOT_PLAIN)
        if value is NOT_PLAIN:
            value = self._recorded().get(name, default)
        return default if value is NOT_PLAIN else value

    def _recorded(self) -> dict[str, Any]:
        """Return the recorded arguments by name."""
        args, kwargs = self._init_arguments
        names = [
            name
            for name, parameter in signature(type(self)).parameters.items()
            if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
        ]
        recorded: dict[str, Any] = dict(zip(names, args, strict=False)) | kwargs
        return recorded

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Create an object from the options that `get_config` returned here, or in Keras."""
        known = dict(_parameters(cls, builtin=True))
        with reading(cls._library):
            options = {
                name: deserialize_option(name, value)
                for name, value in config.items()
                if name in known or not _is_keras_default(name, value)
            }
            # Keras stores these of every layer, whether or not a user's constructor takes them.
            own = dict(_parameters(cls, builtin=False))
            unused = (
                {}
                if _takes_all(cls)
                else {x: options.pop(x) for x in BASE if x in options and x not in own}
            )
            made = cls(**options)
        if "dtype" in unused and unused["dtype"] != getattr(made, "dtype", None):
            raise DtypeError(
                f"the constructor of {cls.__name__} takes no dtype, and the config has {unused['dtype']}: write "
                "__init__(self, ..., **kwargs) and super().__init__(**kwargs)"
            )
        if unused.get("trainable") is False:
            made.trainable = False  # type: ignore[attr-defined]
        if isinstance(unused.get("name"), str):
            made._name = unused["name"]  # type: ignore[attr-defined]
        return made


class Recorded(Configurable):
    """A configurable whose plain arguments are recorded: some classes keep their options only inside functions."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Create the object, and record plain arguments, such as numbers and names."""
        self = super().__new__(cls)
        # Other values, such as arrays and layers, would be kept alive by the record: they are read from attributes.
        if args or kwargs:
            vars(self)["_init_arguments"] = (
                tuple(map(_plain, args)),
                {name: _plain(value) for name, value in kwargs.items()},
            )
        return self


def _is_keras_default(name: str, value: Any) -> bool:
    """Return True for an option of Keras's that has no effect."""
    if name.endswith("_constraint"):
        return value is None
    return name in KERAS_DEFAULTS and value == KERAS_DEFAULTS[name]


def _inherited_get_config(kind: type) -> Any:
    """Return the `get_config` of the first class in the MRO that belongs to this package."""
    return next(base.get_config for base in kind.__mro__ if is_builtin(base))  # type: ignore[attr-defined]


def _parameters(kind: type, builtin: bool) -> tuple[tuple[str, Any], ...]:
    """Return the parameters of the constructors of a class with their defaults: of this package, or of the user."""
    names: dict[str, Any] = {}
    for base, parameters in _constructors(kind):
        for parameter in parameters:
            if parameter.kind not in {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}:
                default = None if parameter.default is Parameter.empty else parameter.default
                if is_builtin(base) == builtin:
                    names.setdefault(parameter.name, default)
    return tuple(names.items())


def _takes_all(kind: type) -> bool:
    """Return True if the user's constructors pass unknown arguments on to the base class."""
    return all(
        is_builtin(base) or any(x.kind is Parameter.VAR_KEYWORD for x in parameters)
        for base, parameters in _constructors(kind)
    )


def _constructors(kind: type) -> Iterator[tuple[type, list[Parameter]]]:
    """Yield the classes whose constructors receive arguments of the call, and their parameters without `self`.

    The search ends at the first constructor of this package without ``**kwargs``, which passes its own arguments on.
    """
    for base in kind.__mro__:
        if "__init__" in vars(base) and base is not object:
            parameters = list(signature(vars(base)["__init__"]).parameters.values())[1:]
            yield base, parameters
            is_open = any(x.kind is Parameter.VAR_KEYWORD for x in parameters)
            if is_builtin(base) and not is_open:
                return


def _plain(value: Any) -> Any:
    """Return a copy of a plain value, or the placeholder."""
    kind = type(value)
    if value is None or kind in {bool, int, float, str}:
        return value
    if kind is list or kind is tuple:
        parts = [_plain(part) for part in value]
        return NOT_PLAIN if any(part is NOT_PLAIN for part in parts) else kind(parts)
    if kind is dict:
        plain = {key: _plain(part) for key, part in value.items()}
        return NOT_PLAIN if any(part is NOT_PLAIN for part in plain.values()) else plain
    return NOT_PLAIN
