"""The paths under which Keras stores the variables of a model in an HDF5 file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import ModelError
from tapemagic.nn.identifiers import snake_case
from tapemagic.nn.module import Module
from tapemagic.nn.symbolic import kind_of

SKIPPED = frozenset(
    {
        "_init_arguments",
        "_compiled",
        "_frozen",
        "_graph",
        "_input",
        "layers",
        "operations",
        "optimizer",
    }
)
"""Attributes of layers and models that aren't searched, because others or `layers` lead to the same objects."""


class Entry(NamedTuple):
    """A layer's or model's own variables, in Keras's order."""

    name: str
    variables: list[Variable]


def entries(model: Module) -> dict[str, Entry]:
    """Return the variables of a model, and of all modules inside it, by Keras's paths.

    Examples
    --------
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Input((3,)), nn.Dense(2), nn.Dense(1)])
    >>> list(entries(model))
    ['', 'layers/dense', 'layers/dense_1']
    """
    # keras.src.saving.saving_lib._save_state: depth first, attributes in alphabetical order, each object once.
    found: dict[str, Entry] = {}
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", model)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Module):
            if id(value) in seen:
                continue
            seen.add(id(value))
            for part, variables in _own(value):
                found[_joined(path, part)] = Entry(value.name, variables)
            inner = list(_attributes(value))
        else:
            inner = list(_named(value))
        waiting += [(_joined(path, name), part) for name, part in reversed(inner)]
    reached = {id(variable) for entry in found.values() for variable in entry.variables}
    for name, variable in model.named_variables().items():
        if id(variable) not in reached:
            raise ModelError(
                f"the variable {name!r} of {model.name!r} has no place in Keras's files: keep the layer that has it in "
                "an attribute of the model, or write save_weights('net.weights.npz')"
            )
    return found


def _joined(path: str, name: str) -> str:
    return f"{path}/{name}" if path and name else path or name


def _own(module: Module) -> Iterator[tuple[str, list[Variable]]]:
    """Yield a module's own variables, below the part of Keras's layer that has them."""
    variables = module.own_variables()
    part = getattr(module, "keras_part", "")
    if part:
        yield "", []
    yield part, variables


def _attributes(module: Module) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a module that may hold modules, in Keras's order."""
    attributes = {name: value for name, value in vars(module).items() if name not in SKIPPED}
    layers = getattr(module, "layers", None)
    has_graph = getattr(module, "graph", None) is not None or "_results" in vars(module)
    if layers and has_graph:
        yield "layers", layers
    elif layers is not None and hasattr(module, "compile"):
        attributes["layers"] = layers
    # Private attributes come last in Keras.
    for name in sorted(attributes, key=lambda name: f"~{name}" if name.startswith("_") else name):
        if isinstance(attributes[name], Module | list | tuple | dict):
            yield name, attributes[name]
    # Keras's operations have no variables, but here a variable may be an argument: Keras ignores this part of a file.
    yield "operations", [x for x in vars(module).get("operations", ()) if x.own_variables()]


def _named(container: Any) -> Iterator[tuple[str, Any]]:
    """Yield the modules and containers in a container, named after their classes, as Keras does."""
    counts: Counter[str] = Counter()
    for value in container.values() if isinstance(container, dict) else container:
        if isinstance(value, Module):
            name = snake_case(kind_of(value))
        elif isinstance(value, list | tuple | dict):
            name = "container"
        else:
            continue
        number = counts[name]
        counts[name] += 1
        yield (f"{name}_{number}" if number else name), value
