"""Module: finds variables through an object's attributes, in TensorFlow's order."""

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
    """Convert a class name to snake case."""
    # Two cases: a capital after a small letter (myDense -> my_dense), and the last capital of several before a small
    # letter (MLPHead -> mlp_head).
    name = re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)(?<!_)[A-Z](?=[a-z]))", r"_\1", name)
    return name.lower()


class Module:
    """Object whose attributes hold variables: a model or a part of a model.

    Parameters
    ----------
    name : str, optional
        Default: the class name in snake case.

    Notes
    -----
    Variables are listed in alphabetical order of the attributes that hold them: first those of the object itself, also
    in lists, tuples and dicts, then those of submodules.

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
        """Name of the module."""
        # A subclass may forget to call super().__init__().
        return getattr(self, "_name", None) or _snake_case(type(self).__name__)

    @property
    def name_scope(self) -> name_scope:
        """Name scope of this module, for a ``with`` block."""
        return name_scope(getattr(self, "_scope_name", f"{self.name}/"))

    @property
    def variables(self) -> tuple[Any, ...]:
        """Variables of this module and its submodules."""
        return tuple(self._flatten(Variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Variables that tapes watch automatically."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """Variables that tapes do not watch automatically."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules inside this one, recursively."""
        return tuple(self._flatten(Module))

    def _flatten(self, kind: type) -> Iterator[Any]:
        """Yield objects of a class in this module, then those of its submodules."""
        return _flattened(self, kind, {id(self)})

    @classmethod
    def with_name_scope(cls, method: F) -> F:
        """Run a method in the module's name scope.

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
    """Yield objects of a class in a module; a shared object belongs to the module found first."""
    attributes = vars(module)
    inner = []
    # TensorFlow's order, on which lists of weights rely.
    for name in sorted(attributes):
        for leaf in _leaves(attributes[name], set()):
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if isinstance(leaf, kind):
                yield leaf
            if isinstance(leaf, Module):
                inner.append(leaf)
    # After the module's own objects, breadth before depth, as in TensorFlow.
    for leaf in inner:
        yield from _flattened(leaf, kind, seen)


def _leaves(value: Any, inside: set[int]) -> Iterator[Any]:
    """Yield the leaves of nested lists, tuples and dicts (keys sorted)."""
    if not isinstance(value, (list, tuple, Mapping)):
        yield value
    # A list that contains itself would never end. Only the containers on the path are tested: a shared list is no
    # cycle.
    elif id(value) not in inside:
        for part in [value[k] for k in ordered(value)] if isinstance(value, Mapping) else value:
            yield from _leaves(part, inside | {id(value)})
