"""Models in ``.h5`` files: the older format of Keras, which Keras 3 still reads and writes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import ModelError, WeightsError
from tapemagic.nn.object_configs import serialize_keras_object
from tapemagic.nn.saving.hdf5 import WeightFile, h5py

TOP = "top_level_model_weights"
"""The name of the part with variables that belong to the model and not to a layer."""


def written_model(model: Any, version: str, include_optimizer: bool = True) -> bytes:
    """Return the content of an `.h5` file with a model, and its optimizer unless it's excluded."""
    config: dict[str, Any] = serialize_keras_object(model)
    compiled = config.pop("compile_config", None)
    about = {"keras_version": version, "backend": "tensorflow"}
    content = io.BytesIO()
    with h5py().File(content, "w") as file:
        # Keras finds the class of the model by its name alone.
        plain = {"class_name": config["class_name"], "config": config["config"]}
        file.attrs.update({**about, "model_config": json.dumps(plain)})
        group = file.create_group("model_weights")
        group.attrs.update(about)
        layers = model.layers
        group.attrs["layer_names"] = _texts(layer.name for layer in layers)
        for layer in layers:
            _write(group.create_group(layer.name), layer.name, _ordered(layer))
        _write(group.create_group(TOP), model.name, model.own_variables())
        if compiled and compiled["optimizer"] and include_optimizer:
            optimizer = compiled.pop("optimizer")
            place = {name: optimizer[name] for name in ("class_name", "config")}
            file.attrs["training_config"] = json.dumps({**compiled, "optimizer_config": place})
            state = model.optimizer
            _write(file.create_group("optimizer_weights"), state.name, state.variables)
    return content.getvalue()


def _write(group: Any, owner: str, variables: Iterable[Variable]) -> None:
    """Write variables under their own names, which an attribute lists in order."""
    names: list[str] = []
    for variable in variables:
        name = variable.name.removesuffix(":0")
        if name in names or not name.strip("/"):
            name = f"{owner}/{name.strip('/')}_{len(names)}"
        names.append(name)
        group[name] = np.asarray(variable.numpy())
    group.attrs["weight_names"] = _texts(names)


def _texts(names: Iterable[str]) -> Any:
    return np.array([name.encode() for name in names] or np.zeros(0))


def _ordered(layer: Any) -> list[Variable]:
    return [*layer.trainable_variables, *layer.non_trainable_variables]


def config_in(weights: WeightFile) -> tuple[Any, Any]:
    """Return the configs of the model and of `compile` in a file, or raise WeightsError."""
    configs = []
    for name in ("model_config", "training_config"):
        text = weights.file.attrs.get(name)
        try:
            configs.append(None if text is None else json.loads(text))
        except (TypeError, ValueError) as error:
            raise WeightsError(
                f"{weights.source} can't be read: its {name} isn't JSON ({error})"
            ) from error
    if not isinstance(configs[0], Mapping):
        raise WeightsError(
            f"{weights.source} has weights alone, and no model: create the model, and call its load_weights(path)"
        )
    version = str(weights.file.attrs.get("keras_version"))
    if not version.startswith("3"):
        raise ModelError(
            f"{weights.source} was written by Keras {version}: open it with Keras 3, and save it there as a .keras file"
        )
    return configs[0], configs[1]


def compiled_from(model: Any, training: Any) -> None:
    """Compile a model with the config in a file."""
    options = dict(training)
    options["optimizer"] = options.pop("optimizer_config")
    model.compile_from_config(options)


def assignments(model: Any, weights: WeightFile) -> list[tuple[Variable, Any]]:
    """Return the variables of a model with their values in a file, or raise WeightsError.

    Values belong to layers by order, and not by name, since names are numbered automatically.
    """
    root = "model_weights/" if "model_weights" in weights.file else ""
    group = weights.file[root or "/"]
    names = [
        name
        for name in _names(group, "layer_names", weights)
        if _names(group[name], "weight_names", weights)
    ]
    layers = [layer for layer in model.layers if layer.variables]
    if not model.variables:
        raise WeightsError(
            f"{model.name!r} has no variables yet, so {weights.source} can't be loaded: call it on data, or build it, "
            "first"
        )
    if len(names) != len(layers):
        raise WeightsError(
            f"{weights.source} has {len(names)} layers with weights, and the model {model.name!r} has {len(layers)}: "
            "nothing was loaded"
        )
    pairs: list[tuple[Variable, Any]] = []
    parts = [(f"{root}{name}", _ordered(layer)) for name, layer in zip(names, layers, strict=True)]
    if f"{root}{TOP}" in weights.file:
        parts.append((f"{root}{TOP}", model.own_variables()))
    for path, variables in parts:
        stored = [f"{path}/{name}" for name in _names(weights.file[path], "weight_names", weights)]
        shapes = [weights.stored[name].shape if name in weights.stored else None for name in stored]
        expected = [tuple(variable.shape) for variable in variables]
        if shapes != expected:
            raise WeightsError(
                f"{weights.source} has arrays of the shapes {shapes} in {path!r}, and the layer of the model "
                f"{model.name!r} has {expected}, so nothing was loaded"
            )
        pairs += [
            (variable, weights.array(name))
            for variable, name in zip(variables, stored, strict=True)
        ]
    return pairs


def optimizer_names(weights: WeightFile) -> list[str]:
    """Return the names of the arrays of the optimizer's state in a file, in order."""
    if "optimizer_weights" not in weights.file:
        return []
    names = _names(weights.file["optimizer_weights"], "weight_names", weights)
    return [f"optimizer_weights/{name}" for name in names]


def is_whole_h5(weights: WeightFile) -> bool:
    """Return True for a file of the older format."""
    return "model_weights" in weights.file or "layer_names" in weights.file.attrs


def _names(group: Any, attribute: str, weights: WeightFile) -> list[str]:
    """Return the names in an attribute, or raise WeightsError."""
    try:
        return [x.decode() if isinstance(x, bytes) else str(x) for x in group.attrs[attribute]]
    except (KeyError, TypeError, UnicodeDecodeError) as error:
        raise WeightsError(
            f"{weights.source} can't be read: it has no {attribute} ({error})"
        ) from error
