"""Module: variables found through the attributes of an object, in TensorFlow's order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, TypeVar

from tapemagic.engine.nest import ordered
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import OptionError
from tapemagic.tf.core.name_scope import current, name_scope

F = TypeVar("F", bound=Callable[..., Any])

_NAME = re.compile(r"^[a-zA-Z_]([a-zA-Z0-9_])*$")


def _snake_case(name: str) -> str:
    """A class name in lower case, words joined by underscores."""
    name = re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)(?<!_)[A-Z](?=[a-z]))", r"_\1", name)
    return name.lower()


class Module:
    """An object whose attributes hold variables: a model, or a part of one.

    Parameters
    ----------
    name : str, optional
        The name of the class in lower case, if left out.

    Notes
    -----
    Variables are listed by the names of the attributes that hold them, in alphabetical order; first those that an
    object holds itself, also in lists, tuples and dicts, then those of the modules among its attributes.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> class Dense(tf.Module):
    ...     def __init__(self, name=None):
    ...         super().__init__(name=name)
    ...         self.w = tf.Variable([[1.0], [2.0]], name="w")
    ...         self.b = tf.Variable([0.0], name="b")
    ...     def __call__(self, x):
    ...         return x @ self.w + self.b
    >>> [v.name for v in Dense().trainable_variables]
    ['b:0', 'w:0']
    """

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        if not _NAME.match(str(name)):
            raise OptionError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = name
        self._scope_name = f"{current()}{name}/"

    @property
    def name(self) -> str:
        """The name."""
        return getattr(self, "_name", None) or _snake_case(type(self).__name__)

    @property
    def name_scope(self) -> name_scope:
        """The scope of this module's name, for a ``with`` block."""
        return name_scope(getattr(self, "_scope_name", f"{self.name}/"))

    @property
    def variables(self) -> tuple[Any, ...]:
        """All variables of this module and those in it."""
        return tuple(self._flatten(Variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those variables that tapes watch by themselves."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """The other ones."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in this one, and those in them."""
        return tuple(self._flatten(Module))

    def _flatten(self, kind: type) -> Iterator[Any]:
        """The things of a kind in this module: first its own, then those of the modules in it."""
        return _flattened(self, kind, {id(self)})

    @classmethod
    def with_name_scope(cls, method: F) -> F:
        """Run a method in the scope of the module's name.

        Examples
        --------
        >>> import tapemagic.tf as tf
        >>> class Layer(tf.Module):
        ...     @tf.Module.with_name_scope
        ...     def __call__(self):
        ...         return tf.Variable(1.0, name="w").name
        >>> Layer()()
        'layer/w:0'
        """

        @wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped  # type: ignore[return-value]


def _flattened(module: Module, kind: type, seen: set[int]) -> Iterator[Any]:
    """The things of a kind in a module; a module belongs to the one that was first found to hold it."""
    attributes = vars(module)
    inner = []
    for name in sorted(attributes):
        for leaf in _leaves(attributes[name], set()):
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if isinstance(leaf, kind):
                yield leaf
            if isinstance(leaf, Module):
                inner.append(leaf)
    for leaf in inner:
        yield from _flattened(leaf, kind, seen)


def _leaves(value: Any, inside: set[int]) -> Iterator[Any]:
    """The things in nested lists, tuples and dicts, of which the values count in the order of sorted keys."""
    if not isinstance(value, (list, tuple, Mapping)):
        yield value
    elif id(value) not in inside:
        for part in [value[k] for k in ordered(value)] if isinstance(value, Mapping) else value:
            yield from _leaves(part, inside | {id(value)})
