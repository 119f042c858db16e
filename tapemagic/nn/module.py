"""Module: an object whose attributes are variables and other modules, which it finds by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
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

_UNTRACKED = frozenset({"_frozen", "_regularized", "_added_losses", "_initialized"})
"""Attributes whose variables are found elsewhere."""

_names: Counter[str] = register_global_state(Counter())

_known: dict[int, list[tuple[str, Module, list[tuple[str, Any]]]]] = {}
"""The findings of `Module._walk` by the identities of modules inside of an `unchanged` block."""


def clear_names() -> None:
    """Begin anew with the automatic names: the next Dense layer is called "dense" again.

    Examples
    --------
    >>> from tapemagic import nn
    >>> clear_names()
    >>> nn.Dense(1).name, nn.Dense(1).name
    ('dense', 'dense_1')
    """
    _names.clear()


def unique_name(kind: str) -> str:
    """An automatic name for an object of a class: "dense" for the first Dense, then "dense_1"."""
    plain = snake_case(kind.strip("_")) or "module"
    number = _names[plain]
    _names[plain] += 1
    return f"{plain}_{number}" if number else plain


class Module:
    """An object that owns variables: as attributes, in lists, tuples and dicts, and in other modules there.

    Parameters
    ----------
    name : str, optional
        The name in reports and messages. Left out, it is made of the name of the class.

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
            raise OptionError(f"a name is text, not {name!r}: write name='hidden'")
        self._name = name or None

    @property
    def name(self) -> str:
        """The name in reports and messages."""
        if self._name is None:
            self._name = unique_name(type(self).__name__)
        return self._name

    def named_variables(self) -> dict[str, Variable]:
        """All variables by their paths: names of attributes, indices and keys, joined by slashes.

        Returns
        -------
        dict of str to Variable
            Each variable once, under the first path that leads to it: of each module first its own variables, the
            trainable ones before the others, then those of its modules, in the order of assignment.

        Examples
        --------
        >>> from tapemagic import nn
        >>> model = nn.Sequential([nn.Dense(2), nn.Dense(1)])
        >>> model.build((None, 3))
        >>> list(model.named_variables())
        ['layers/0/kernel', 'layers/0/bias', 'layers/1/kernel', 'layers/1/bias']
        """
        found: dict[str, Variable] = {}
        seen: set[int] = set()
        for prefix, module, parts in self._walk():
            own = [part for part in parts if isinstance(part[1], Variable)]
            if len(own) > 1:
                own.sort(key=lambda part: not module._trains(part[1]))
            for path, variable in own:
                if id(variable) not in seen:
                    seen.add(id(variable))
                    found[_free(f"{prefix}/{path}" if prefix else path, found)] = variable
        return found

    def named_modules(self) -> dict[str, Module]:
        """All modules in this one by their paths, each before those in it; first itself, under the empty path.

        Returns
        -------
        dict of str to Module
            Each module once, under the first path that leads to it.
        """
        return {path: module for path, module, _ in self._walk()}

    def _walk(self) -> list[tuple[str, Module, list[tuple[str, Any]]]]:
        """The modules with their paths, and with the variables and modules among the attributes of each."""
        if id(self) in _known:
            return _known[id(self)]
        found: dict[str, tuple[str, Module, list[tuple[str, Any]]]] = {}
        seen: set[int] = set()
        waiting: list[tuple[str, Module]] = [("", self)]
        while waiting:
            path, module = waiting.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            path = _free(path, found)
            parts = _parts(module)
            found[path] = (path, module, parts)
            for name, inner in reversed(parts):
                if isinstance(inner, Module):
                    waiting.append((f"{path}/{name}" if path else name, inner))
        return list(found.values())

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Take for granted inside this block that no modules and variables come or go, which saves the search for them.

        That is not done as long as there is a layer that was not built.
        """
        found = self._walk()
        if all(getattr(module, "built", True) for _, module, _ in found):
            _known[id(self)] = found
        try:
            yield
        finally:
            _known.pop(id(self), None)

    def own_modules(self) -> list[Module]:
        """The modules among the attributes, also in lists, tuples and dicts, each once; not those inside of them."""
        found = {id(part): part for _, part in _parts(self) if isinstance(part, Module)}
        return list(found.values())

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules in this one, each before those in it."""
        return tuple(self.named_modules().values())[1:]

    @property
    def variables(self) -> list[Variable]:
        """All variables, in the order of `named_variables`."""
        return list(self.named_variables().values())

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that an optimizer is to change, in the order of `named_variables`."""
        return [variable for variable in self.variables if variable.trainable]

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """The other variables, such as running averages or those of frozen layers."""
        return [variable for variable in self.variables if not variable.trainable]

    def state(self) -> dict[str, Any]:
        """The values of all variables by their paths.

        Returns
        -------
        dict of str to numpy.ndarray
            Copies, in the order of `named_variables`.

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
        """Give all variables the values that `state` returned, of this module or of another one of the same make.

        Parameters
        ----------
        state : mapping of str to array_like

        Raises
        ------
        WeightsError
            If a name is missing or unexpected, or a shape differs; all of them are listed, and nothing is changed.
        """
        arrays = {name: np.asarray(unwrap(value)) for name, value in state.items()}
        require_same(arrays, self.named_variables(), repr(self.name), "the state")
        self._assign(arrays)

    def save_weights(self, filepath: Any) -> None:
        """Write the values of all variables to a file.

        Parameters
        ----------
        filepath : path
            Ends in ".npz". NumPy's `load` reads it, too; the names of arrays are the paths of variables.

        Raises
        ------
        OptionError
            If the name of the file ends otherwise.
        OSError
            If the file cannot be written. What was there before is still whole.
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
            If there is none.
        WeightsError
            If the file is broken; or if a name is missing or unexpected, or a shape differs, and then all of them are
            listed. Nothing is changed.
        """
        source = f"the file {str(filepath)!r}"
        arrays = read(filepath, lambda stored: self._own_names(stored, source))
        self._assign(arrays)

    def _own_names(self, given: Mapping[str, Any], source: str) -> list[str]:
        """The names of all variables, if arrays of the same names and shapes are given beside the optimizer's."""
        weights = {name: x for name, x in given.items() if not name.startswith(OPTIMIZER)}
        variables = self.named_variables()
        require_same(weights, variables, repr(self.name), source)
        return list(variables)

    def _assign(self, arrays: Mapping[str, Any]) -> None:
        for path, variable in self.named_variables().items():
            variable.assign(arrays[path], read_value=False)

    def __copy__(self) -> Module:
        """A module of its own with the same variables and modules in it."""
        other = self.__class__.__new__(self.__class__)
        other.__dict__.update(self.copied_attributes())
        return other

    def copied_attributes(self) -> dict[str, Any]:
        """The attributes by their names, with lists and dicts copied, and anything else itself."""
        return {name: _copied(value) for name, value in vars(self).copy().items()}

    @property
    def trainable(self) -> bool:
        """Whether the trainable variables are trained; False freezes all variables in here.

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
        """Freeze or thaw the variables of this module alone."""
        own = [part for _, part in _parts(self) if isinstance(part, Variable)]
        variables = self._frozen if trainable else [v for v in own if v.trainable]
        for variable in variables:
            set_trainable(variable, trainable)
        self._frozen = [] if trainable else [*self._frozen, *variables]
        self._trainable = trainable

    def _trains(self, variable: Variable) -> bool:
        """Whether a variable of this module is trainable, or would be if the module were not frozen."""
        return variable.trainable or any(variable is other for other in self._frozen)


def _free(path: str, taken: Container[str]) -> str:
    """A path that is not taken: keys such as 1 and "1" lead to the same."""
    if path not in taken:
        return path
    number = 2
    while f"{path}:{number}" in taken:
        number += 1
    return f"{path}:{number}"


def _copied(value: Any) -> Any:
    """Lists and dicts copied, also those in them; anything else itself."""
    if value.__class__ is list:
        return [_copied(part) for part in value]
    if value.__class__ is dict:
        return {key: _copied(part) for key, part in value.items()}
    return value


def _parts(module: Module) -> list[tuple[str, Any]]:
    """The variables and modules among a module's attributes, also in lists, tuples and dicts, with their paths."""
    found: list[tuple[str, Any]] = []
    for name, value in vars(module).copy().items():  # another thread may build it meanwhile
        if value.__class__ not in _OTHER and name not in _UNTRACKED:
            _gather(name, value, (), found)
    return found


def _gather(path: str, value: Any, around: tuple[int, ...], found: list[tuple[str, Any]]) -> None:
    kind = value.__class__
    if issubclass(kind, (Variable, Module)):
        found.append((path, value))
    elif not issubclass(kind, (list, tuple, dict)):
        _OTHER.add(kind)
    elif value and id(value) not in around:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            if part.__class__ not in _OTHER:
                _gather(f"{path}/{key}", part, (*around, id(value)), found)


_OTHER: set[type] = set()
"""The classes of attributes that were met and hold no variables, which need not be looked at again."""
