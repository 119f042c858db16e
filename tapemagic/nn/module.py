"""Module: an object that finds the variables and modules among its attributes automatically."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapemagic.engine.runtime import register_global_state
from tapemagic.engine.tensor.coercion import bool_option
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable, set_trainable
from tapemagic.errors import OptionError
from tapemagic.nn.identifiers import snake_case
from tapemagic.nn.weights import OPTIMIZER, read, require_same, write

_UNTRACKED = frozenset(
    {"_init_arguments", "_frozen", "_regularized", "_added_losses", "_initialized"}
)
"""Attributes that refer to variables which other attributes hold."""

_names: Counter[str] = register_global_state(Counter())

awaiting_variables: dict[int, Callable[[], None]] = {}
"""Functions that are called whenever a layer or an optimizer has created variables, such as to restore these."""


def tell_variables_exist() -> None:
    """Call the functions that wait for new variables."""
    for function in list(awaiting_variables.values()):
        function()


_cached_walks: dict[int, list[tuple[str, Module, list[tuple[str, Any]]]]] = {}
"""Results of `Module._walk` by the ids of modules, inside an `unchanged` block."""


def clear_names() -> None:
    """Reset the automatic names, so that the next Dense layer is called "dense" again.

    Examples
    --------
    >>> from tapemagic import nn
    >>> clear_names()
    >>> nn.Dense(1).name, nn.Dense(1).name
    ('dense', 'dense_1')
    """
    _names.clear()


def unique_name(kind: str) -> str:
    """Return an automatic name for an object of a class: "dense" for the first Dense, then "dense_1"."""
    plain = snake_case(kind.strip("_")) or "module"
    number = _names[plain]
    _names[plain] += 1
    return f"{plain}_{number}" if number else plain


class Module:
    """An object that owns variables: among its attributes, in lists, tuples and dicts, and in inner modules.

    Parameters
    ----------
    name : str, optional
        The name in reports and messages, by default derived from the name of the class.

    Examples
    --------
    >>> import tapemagic as tm
    >>> from tapemagic import nn
    >>> class Line(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = tm.Variable(2.0, name="slope")
    ...         self.offset = tm.Variable(1.0, name="offset")
    ...
    ...     def __call__(self, x):
    ...         return self.slope * x + self.offset
    >>> line = Line()
    >>> line(3.0)
    Tensor(7.0)
    >>> list(line.named_variables())
    ['slope', 'offset']
    """

    _name: str | None = None
    _trainable = True
    _frozen: list[Variable] = []  # noqa: RUF012 (replaced, never changed)

    def __init__(self, name: str | None = None) -> None:
        if not isinstance(name, str | None):
            raise OptionError(f"a name must be a string, not {name!r}: write name='hidden'")
        self._name = name or None

    @property
    def name(self) -> str:
        """The name in reports and messages."""
        if self._name is None:
            self._name = unique_name(type(self).__name__)
        return self._name

    def named_variables(self) -> dict[str, Variable]:
        """Return all variables by path: names of attributes, indices and keys, joined by slashes.

        Returns
        -------
        dict of str to Variable
            Each variable under the first path that leads to it. For each module, first its trainable variables, then
            its other variables, then those of inner modules, in the order of assignment.

        Examples
        --------
        >>> from tapemagic import nn
        >>> model = nn.Sequential([nn.Dense(2), nn.Dense(1)])
        >>> model.build((None, 3))
        >>> list(model.named_variables())
        ['layers/0/kernel', 'layers/0/bias', 'layers/1/kernel', 'layers/1/bias']
        """
        variables: dict[str, Variable] = {}
        seen: set[int] = set()
        for prefix, module, parts in self._walk():
            for path, variable in module._sorted(parts):
                if id(variable) not in seen:
                    seen.add(id(variable))
                    variables[_free(f"{prefix}/{path}" if prefix else path, variables)] = variable
        return variables

    def own_variables(self) -> list[Variable]:
        """Return the variables of this module without those of inner modules, first the trainable ones."""
        own = {id(variable): variable for _, variable in self._sorted(_parts(self))}
        return list(own.values())

    def _sorted(self, parts: list[tuple[str, Any]]) -> list[tuple[str, Variable]]:
        """Return the variables among the parts of this module with their paths, first the trainable ones."""
        own = [part for part in parts if isinstance(part[1], Variable)]
        if len(own) > 1:
            own.sort(key=lambda part: not self._trains(part[1]))
        return own

    def named_modules(self) -> dict[str, Module]:
        """Return this module, under the path '', and all inner modules by path."""
        return {path: module for path, module, _ in self._walk()}

    def _walk(self) -> list[tuple[str, Module, list[tuple[str, Any]]]]:
        """Return all modules with their paths, and with the variables and modules among their attributes."""
        # The search looks at every attribute of every module: in a training step it would be repeated several times.
        if id(self) in _cached_walks:
            return _cached_walks[id(self)]
        modules: dict[str, tuple[str, Module, list[tuple[str, Any]]]] = {}
        seen: set[int] = set()
        waiting: list[tuple[str, Module]] = [("", self)]
        while waiting:
            path, module = waiting.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            path = _free(path, modules)
            parts = _parts(module)
            modules[path] = (path, module, parts)
            # A stack instead of recursion; reversed, because the last one is taken first.
            for name, inner in reversed(parts):
                if isinstance(inner, Module):
                    waiting.append((f"{path}/{name}" if path else name, inner))
        return list(modules.values())

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Assume inside the block that no modules or variables are added or removed, and search for them once.

        The assumption isn't made while a layer isn't built.
        """
        modules = self._walk()
        if all(getattr(module, "built", True) for _, module, _ in modules):
            _cached_walks[id(self)] = modules
        try:
            yield
        finally:
            _cached_walks.pop(id(self), None)

    def own_modules(self) -> list[Module]:
        """Return the modules among the attributes, also in lists, tuples and dicts, without their inner modules."""
        modules = {id(part): part for _, part in _parts(self) if isinstance(part, Module)}
        return list(modules.values())

    @property
    def submodules(self) -> tuple[Module, ...]:
        """Inner modules of all levels, outer modules first."""
        return tuple(self.named_modules().values())[1:]

    @property
    def variables(self) -> list[Variable]:
        """The variables of this module and its inner modules, in the order of `named_variables`."""
        return list(self.named_variables().values())

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that an optimizer changes, in the order of `named_variables`."""
        return [variable for variable in self.variables if variable.trainable]

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Variables that aren't trained, such as moving averages and the variables of frozen layers."""
        return [variable for variable in self.variables if not variable.trainable]

    def state(self) -> dict[str, Any]:
        """Return copies of the values of all variables by path, in the order of `named_variables`.

        Examples
        --------
        >>> from tapemagic import nn
        >>> layer = nn.Dense(1, kernel_initializer="ones")
        >>> layer.build((None, 2))
        >>> layer.state()
        {'kernel': array([[1.],
               [1.]], dtype=float32), 'bias': array([0.], dtype=float32)}
        """
        return {path: variable.numpy() for path, variable in self.named_variables().items()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Assign values that `state` returned for this module, or for a module with the same structure.

        Raises WeightsError if a name is missing or unexpected, or a shape differs. All differences are listed; nothing
        is changed.

        Parameters
        ----------
        state : mapping of str to array_like
        """
        arrays = {name: np.asarray(unwrap(value)) for name, value in state.items()}
        require_same(arrays, self.named_variables(), repr(self.name), "the state")
        self._assign(arrays)

    def save_weights(self, filepath: Any) -> None:
        """Write the values of all variables to a file.

        Parameters
        ----------
        filepath : path
            Must end in ".npz". `numpy.load` reads the file; the names of arrays are the paths of variables.

        Raises
        ------
        OptionError
            If the name of the file has another ending.
        OSError
            If the file can't be written. An existing file stays intact.
        """
        write(filepath, self.state())

    def load_weights(self, filepath: Any) -> None:
        """Read the values of all variables from a file that `save_weights` wrote.

        Parameters
        ----------
        filepath : path

        Raises
        ------
        FileNotFoundError
            If the file is missing.
        WeightsError
            If the file is broken, a name is missing or unexpected, or a shape differs. Nothing is changed.
        """
        source = f"the file {str(filepath)!r}"
        arrays = read(filepath, lambda stored: self._own_names(stored, source))
        self._assign(arrays)

    def _own_names(self, stored: Mapping[str, Any], source: str) -> list[str]:
        """Return the names of all variables, if the stored arrays match them, apart from the optimizer's arrays."""
        weights = {name: x for name, x in stored.items() if not name.startswith(OPTIMIZER)}
        variables = self.named_variables()
        require_same(weights, variables, repr(self.name), source)
        return list(variables)

    def _assign(self, arrays: Mapping[str, Any]) -> None:
        for path, variable in self.named_variables().items():
            variable.assign(arrays[path], read_value=False)

    def __copy__(self) -> Module:
        """Return a new module with the same variables and inner modules."""
        duplicate = self.__class__.__new__(self.__class__)
        duplicate.__dict__.update(self.copied_attributes())
        return duplicate

    def copied_attributes(self) -> dict[str, Any]:
        """Return the attributes by name, with lists and dicts copied."""
        return {name: _copied(value) for name, value in vars(self).copy().items()}

    @property
    def trainable(self) -> bool:
        """False freezes all variables of this module and its inner modules.

        Examples
        --------
        >>> from tapemagic import nn
        >>> layer = nn.Dense(2)
        >>> layer.build((None, 3))
        >>> layer.trainable = False
        >>> layer.trainable_variables
        []
        """
        return self._trainable

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        for module in self.named_modules().values():
            module._set_trainable(bool_option(trainable, "trainable"))

    def _set_trainable(self, trainable: bool) -> None:
        """Freeze or unfreeze the variables of this module, but not those of inner modules."""
        own = [part for _, part in _parts(self) if isinstance(part, Variable)]
        variables = self._frozen if trainable else [v for v in own if v.trainable]
        for variable in variables:
            set_trainable(variable, trainable)
        self._frozen = [] if trainable else [*self._frozen, *variables]
        self._trainable = trainable

    def _trains(self, variable: Variable) -> bool:
        """Return True if a variable of this module is trainable, or would be if the module weren't frozen."""
        return variable.trainable or any(variable is frozen for frozen in self._frozen)


def _free(path: str, taken: Container[str]) -> str:
    """Return `path`, with a number appended if it's taken: keys such as 1 and "1" yield equal paths."""
    if path not in taken:
        return path
    number = 2
    while f"{path}:{number}" in taken:
        number += 1
    return f"{path}:{number}"


def _copied(value: Any) -> Any:
    """Copy lists and dicts, also nested ones, and return anything else unchanged."""
    if value.__class__ is list:
        return [_copied(part) for part in value]
    if value.__class__ is dict:
        return {key: _copied(part) for key, part in value.items()}
    return value


def _parts(module: Module) -> list[tuple[str, Any]]:
    """Return the variables and modules among a module's attributes, also in lists, tuples and dicts, with paths."""
    parts: list[tuple[str, Any]] = []
    for name, value in (
        vars(module).copy().items()
    ):  # copied, because another thread may build the module now
        if value.__class__ not in _LEAF_CLASSES and name not in _UNTRACKED:
            _gather(name, value, (), parts)
    return parts


def _gather(path: str, value: Any, around: tuple[int, ...], parts: list[tuple[str, Any]]) -> None:
    kind = value.__class__
    # Classes are cached in _LEAF_CLASSES, because most attributes are numbers, strings and functions.
    if issubclass(kind, (Variable, Module)):
        parts.append((path, value))
    elif not issubclass(kind, (list, tuple, dict)):
        _LEAF_CLASSES.add(kind)
    # `around` holds the enclosing containers: a list may contain itself.
    elif value and id(value) not in around:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            if part.__class__ not in _LEAF_CLASSES:
                _gather(f"{path}/{key}", part, (*around, id(value)), parts)


_LEAF_CLASSES: set[type] = set()
"""Classes of attributes that hold no variables: a cache, so that each class is examined once."""
