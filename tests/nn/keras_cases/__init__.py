"""Programs that Keras and tapemagic both run: the first to store values, the second to be compared with them.

A case is a function of the names of a library, `k`, and of a numpy generator with a fixed seed. It returns arrays by
name, or for several settings the arrays of each under its name. The module that it stands in gives the file of values
its name, and the function the prefix of the entries::

    @case
    def dense(k, rng):
        layer = k.layers.Dense(3, activation="relu")
        return of_layer(k, layer, rng.normal(size=(4, 2)), rng)

`k` has Keras's `layers`, `losses`, `optimizers`, `metrics`, `activations`, `initializers`, `regularizers`,
`Sequential`, `Model` and `Input`; and the functions of `Library`, which each library does in its own way.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

Arrays = dict[str, Any]
Case = Callable[[Any, np.random.Generator], Arrays]

CASES: dict[str, Case] = {}
TOLERANCES: dict[str, float] = {}


class Library(Protocol):
    """The functions that each library does in its own way."""

    def variable(self, value: Any) -> Any:
        """A trainable variable of the dtype of an array."""

    def gradients(self, loss: Callable[[], Any], variables: Any) -> list[Any]:
        """The gradients of a function of no arguments with respect to variables, as arrays; of None, zeros."""

    def array(self, x: Any) -> Any:
        """The value of a tensor or variable as an array."""


def case(function: Case) -> Case:
    """Register a case under the name of its module and its own."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    CASES[name] = lambda k, rng: joined(function(k, rng))
    return function


def statistics(tolerance: float) -> Callable[[Case], Case]:
    """Register a case whose arrays are statistics of random numbers, within a tolerance relative to the largest."""

    def registered(function: Case) -> Case:
        TOLERANCES[f"{function.__module__.rpartition('.')[2]}.{function.__name__}"] = tolerance
        return case(function)

    return registered


def of_layer(k: Any, layer: Any, x: Any, rng: np.random.Generator, **call: Any) -> Arrays:
    """The output of a layer with weights from a generator, and the gradients of a weighted sum of its elements."""
    inputs = k.variable(np.asarray(x, "float32") if np.asarray(x).dtype.kind == "f" else x)
    layer(inputs, **call)
    layer.set_weights([rng.normal(0, 0.5, np.shape(w)) for w in layer.get_weights()])
    output = k.array(layer(inputs, **call))
    weights = rng.normal(size=output.shape).astype(output.dtype)
    variables = [*layer.trainable_variables, *([inputs] if np.asarray(x).dtype.kind == "f" else [])]

    def loss() -> Any:
        return k.sum(layer(inputs, **call) * weights)

    gradients = k.gradients(loss, variables)
    return {"output": output, **{f"gradient_{n}": g for n, g in enumerate(gradients)}}


def joined(parts: Arrays) -> Arrays:
    """The arrays of several settings, each with the names of its settings in front."""
    found: Arrays = {}
    for name, part in parts.items():
        if isinstance(part, dict):
            found |= {f"{name} {key}": x for key, x in joined(part).items()}
        else:
            found[name] = part
    return found


def load_all() -> dict[str, Case]:
    """All cases, from every module of this folder."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem != "__init__":
            import_module(f"{__name__}.{path.stem}")
    return CASES
