"""Classes and functions of the user that files name: registered, or passed while a file is read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Self, TypeVar

from tapemagic.errors import OptionError

T = TypeVar("T")

_registered: dict[str, Any] = {}
_names: dict[Any, str] = {}
_in_scope: ContextVar[Mapping[str, Any]] = ContextVar("custom_objects", default={})  # noqa: B039 (never changed)


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Any:
    """Decorate a class or function so that files can contain it, under the name "package>name".

    Raises OptionError for a class without a method `get_config`.

    Parameters
    ----------
    package : str, optional
    name : str, optional
        By default the name of the class or function.

    Examples
    --------
    >>> from tapemagic import nn
    >>> @nn.saving.register_keras_serializable("course")
    ... def double(x):
    ...     return 2 * x
    >>> nn.saving.get_registered_name(double)
    'course>double'
    """

    def register(target: T) -> T:
        if isinstance(target, type) and not hasattr(target, "get_config"):
            raise OptionError(
                f"the class {target.__name__} can't be registered, because it has no method get_config(self): derive "
                "it from a class such as Layer, or write one"
            )
        registered = f"{package}>{name or target.__name__}"  # type: ignore[attr-defined]
        _registered[registered] = target
        _names[target] = registered
        return target

    return register


def get_registered_name(obj: Any) -> str:
    """Return the registered name of a class or function `obj`, or its own name if it isn't registered.

    Examples
    --------
    >>> get_registered_name(abs)
    'abs'
    """
    try:
        return _names.get(obj) or obj.__name__
    except TypeError:  # an unhashable callable
        return str(obj.__name__)


def get_registered_object(
    name: str,
    custom_objects: Mapping[str, Any] | None = None,
    module_objects: Mapping[str, Any] | None = None,
) -> Any:
    """Return the registered class or function of a name, or None if there isn't one.

    Parameters
    ----------
    name : str
    custom_objects, module_objects : mapping, optional
        Classes and functions by name, besides the registered ones.

    Examples
    --------
    >>> get_registered_object("size", {"size": len})
    <built-in function len>
    """
    for objects in (_in_scope.get(), _registered, custom_objects or {}, module_objects or {}):
        if name in objects:
            return objects[name]
    return None


def get_custom_objects() -> dict[str, Any]:
    """Return the registered classes and functions by name; you can add your own to this dict.

    Examples
    --------
    >>> get_custom_objects() is get_custom_objects()
    True
    """
    return _registered


class CustomObjectScope(contextlib.ContextDecorator):
    """Use classes and functions by name inside a `with` block, such as for reading a file.

    Parameters
    ----------
    custom_objects : mapping of str

    Examples
    --------
    >>> from tapemagic import nn
    >>> def cube(x):
    ...     return x**3
    >>> with nn.saving.custom_object_scope({"cube": cube}):
    ...     layer = nn.Dense(1, activation="cube")
    """

    def __init__(self, custom_objects: Mapping[str, Any]) -> None:
        self.custom_objects = dict(custom_objects)
        self._tokens: list[Any] = []

    def __enter__(self) -> Self:
        self._tokens.append(_in_scope.set({**_in_scope.get(), **self.custom_objects}))
        return self

    def __exit__(self, *_error: object) -> None:
        _in_scope.reset(self._tokens.pop())


custom_object_scope: Callable[[Mapping[str, Any]], CustomObjectScope] = CustomObjectScope


def is_builtin(kind: type) -> bool:
    """Return True for a class of this package, and False for a user's class."""
    return kind.__module__.startswith("tapemagic.")


class Reading:
    """A file, or a config, that is being read.

    - `library`: The package whose classes are created, "tapemagic.nn" or "tapemagic.tf.keras".
    - `source`: What is read, for messages.
    - `shared`: Objects by the number under which a file refers to them again.
    """

    def __init__(self, library: str, source: str) -> None:
        self.library, self.source = library, source
        self.shared: dict[int, Any] = {}


_current: ContextVar[Reading | None] = ContextVar("reading", default=None)


def current_reading() -> Reading:
    """Return the file or config that is being read, or an empty one."""
    return _current.get() or Reading("tapemagic.nn", "the config")


@contextlib.contextmanager
def reading(library: str, source: str = "") -> Iterator[Reading]:
    """Inside the block, create classes of a library; a block in a block continues the outer file."""
    outer = _current.get()
    inner = Reading(library, source or (outer.source if outer else "the config"))
    if outer is not None:
        inner.shared = outer.shared
    token = _current.set(inner)
    try:
        yield inner
    finally:
        _current.reset(token)
