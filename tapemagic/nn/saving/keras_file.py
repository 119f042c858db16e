"""Models in ``.keras`` files, and weights in ``.weights.h5`` files, which Keras 3 also reads and writes."""

from __future__ import annotations

import datetime as dt
import json
import os
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import ModelError, OptionError, TapeError, WeightsError
from tapemagic.nn.custom_objects import CustomObjectScope, reading
from tapemagic.nn.module import Module
from tapemagic.nn.object_configs import deserialize_keras_object, serialize_keras_object
from tapemagic.nn.saving import hdf5, whole_h5
from tapemagic.nn.saving.weight_paths import entries
from tapemagic.nn.weights import replacing, require_same

KERAS_VERSION = "3.15.0"
"""The version of Keras whose format is written, and the latest that is known."""

WEIGHTS = "model.weights.h5"

MAX_EXPANSION = 100
"""Files whose parts grow by more when they are unpacked are refused, as in Keras, which doesn't compress them."""


def save_model(model: Any, filepath: Any, overwrite: bool = True, **options: Any) -> None:
    """Write a model to a `.keras` file, or a `.h5` file: its layers, weights, optimizer and the arguments of `compile`.

    `load_model` reads the file, here and in Keras 3. It needs the package h5py: ``pip install h5py``.

    Parameters
    ----------
    model : Model
        A Sequential model, a model between symbolic tensors, or a model whose class is registered or passed to
        `load_model`.
    filepath : path
        Must end in ".keras", or in ".h5" for the older format of Keras.
    overwrite : bool, optional
        False raises FileExistsError if the file exists.
    **options
        `include_optimizer=False` omits the optimizer. Keras's `zipped` and `save_format` are accepted with the values
        that mean a `.keras` file.

    Raises
    ------
    ImportError
        Without h5py.
    ModelError
        If the model contains what a file can't, such as a Lambda layer with a lambda.
    OptionError
        If the name of the file has another ending.
    OSError
        If the file can't be written. An existing file stays intact.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Input((3,)), nn.Dense(2)], name="net")
    >>> with TemporaryDirectory() as folder:
    ...     nn.models.save_model(model, f"{folder}/net.keras")
    ...     nn.models.load_model(f"{folder}/net.keras")
    <Sequential name=net, built=True>
    """
    include_optimizer = options.pop("include_optimizer", True)
    _require_options(options, {"zipped": (None, True), "save_format": (None, "keras")})
    path = _path(filepath, ".h5" if _is_whole_h5(filepath) else ".keras")
    hdf5.h5py()
    if not getattr(model, "built", False):
        warnings.warn(
            f"the model {model.name!r} isn't built, so the file has none of its weights: call it on data, or build it, "
            "before it is saved",
            UserWarning,
            stacklevel=3,
        )
    # Everything is computed before the file is opened.
    if path.suffix == ".h5":
        content = whole_h5.written_model(model, KERAS_VERSION, include_optimizer)
        with replacing(path, overwrite) as file:
            file.write(content)
        return
    config = serialize_keras_object(model)
    optimizer = model.optimizer if include_optimizer else None
    if not include_optimizer:
        config.pop("compile_config", None)
    weights = hdf5.written(entries(model), optimizer if model.compiled else None)
    now = dt.datetime.now().strftime("%Y-%m-%d@%H:%M:%S")  # noqa: DTZ005 (Keras stores local time)
    metadata = {"keras_version": KERAS_VERSION, "date_saved": now, "written_by": "tapemagic"}
    with replacing(path, overwrite) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("metadata.json", json.dumps(metadata))
        archive.writestr("config.json", _json(config))
        archive.writestr(WEIGHTS, weights)


def load_model(
    filepath: Any,
    custom_objects: Mapping[str, Any] | None = None,
    compile: bool = True,  # noqa: A002 (Keras's name)
    safe_mode: bool = True,
) -> Any:
    """Read a model from a `.keras` or `.h5` file that `save_model` wrote, here or in Keras 3.

    Nothing in the file is unpickled, imported by name or run: a Lambda layer with code is refused.

    Parameters
    ----------
    filepath : path
    custom_objects : mapping of str, optional
        Your classes and functions by name, unless they are registered. For a Lambda layer: its function, by the name of
        the layer.
    compile : bool, optional
        False omits the optimizer, the loss and the metrics.
    safe_mode : bool, optional
        Not used: code in a file is never run.

    Returns
    -------
    Model

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ImportError
        Without h5py.
    ModelError
        If the file contains a class, function or option that isn't known here.
    OptionError
        If the name of the file has another ending.
    WeightsError
        If the file is cut off or broken, or its weights don't fit the model.

    Warns
    -----
    UserWarning
        If the state of the optimizer doesn't fit the model, and is omitted.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.models.load_model("net.pb")
    Traceback (most recent call last):
        ...
    tapemagic.errors.OptionError: a model is stored in .keras files, not in 'net.pb': write 'net.keras'
    """
    return load_for("tapemagic.nn", filepath, custom_objects, compile, safe_mode)


def load_for(
    library: str,
    filepath: Any,
    custom_objects: Mapping[str, Any] | None = None,
    compile: bool = True,  # noqa: A002 (Keras's name)
    _safe_mode: bool = True,
) -> Any:
    """Read a model with the classes of a library; see `load_model`."""
    if _is_whole_h5(filepath):
        return _load_h5(library, filepath, custom_objects, compile)
    path = _path(filepath, ".keras", reads=True)
    hdf5.h5py()
    source = f"the file {str(path)!r}"
    with path.open("rb") as file, _archive(file, source) as archive:
        metadata, config = (_parsed(archive, f"{x}.json", source) for x in ("metadata", "config"))
        _require_version(metadata, source)
        content = _part(archive, WEIGHTS, source)
    if not isinstance(config, Mapping) or "class_name" not in config:
        raise WeightsError(f"{source} contains no model: its config.json describes nothing")
    if not compile:
        config = {**config, "compile_config": None}
    with reading(library, source), CustomObjectScope(custom_objects or {}):
        try:
            model = deserialize_keras_object(config)
        except ModelError as error:
            raise _with_version(error, metadata) from error
    if not isinstance(model, Module):
        raise ModelError(f"{source} contains a {type(model).__name__}, which isn't a model")
    with hdf5.opened(content, source) as weights:
        _load(model, weights, optimizer=None if compile else False)
    return model


def _is_whole_h5(filepath: Any) -> bool:
    """Return True for the name of a file with a model in Keras's older format."""
    return str(filepath).endswith(".h5") and not str(filepath).endswith(".weights.h5")


def _load_h5(
    library: str,
    filepath: Any,
    custom_objects: Mapping[str, Any] | None,
    compile: bool,  # noqa: A002 (Keras's name)
) -> Any:
    """Read a model from an `.h5` file."""
    path = _path(filepath, ".h5", reads=True)
    source = f"the file {str(path)!r}"
    with hdf5.opened(path.read_bytes(), source) as weights:
        config, training = whole_h5.config_in(weights)
        with reading(library, source), CustomObjectScope(custom_objects or {}):
            model = deserialize_keras_object(config)
            if not isinstance(model, Module):
                raise ModelError(f"{source} contains a {type(model).__name__}, which isn't a model")
            if compile and isinstance(training, Mapping):
                whole_h5.compiled_from(model, training)
        _load(model, weights, optimizer=None if compile else False)
    return model


def load_model_for(library: str) -> Any:
    """Return the function `load_model` for the classes of a library."""

    def load(
        filepath: Any,
        custom_objects: Mapping[str, Any] | None = None,
        compile: bool = True,  # noqa: A002 (Keras's name)
        safe_mode: bool = True,
    ) -> Any:
        return load_for(library, filepath, custom_objects, compile, safe_mode)

    load.__name__, load.__doc__ = "load_model", load_model.__doc__
    return load


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Create a model from the text that `Model.to_json` returned, with new weights.

    Raises ModelError if the text doesn't describe a model, or contains a class or function that isn't known here.

    Parameters
    ----------
    json_string : str
    custom_objects : mapping of str, optional
        Your classes and functions by name, unless they are registered.

    Examples
    --------
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Input((3,)), nn.Dense(2)])
    >>> nn.models.model_from_json(model.to_json()).count_params()
    8
    """
    return model_from_json_for("tapemagic.nn", json_string, custom_objects)


def model_from_json_for(
    library: str, json_string: str, custom_objects: Mapping[str, Any] | None = None
) -> Any:
    """Create a model with the classes of a library; see `model_from_json`."""
    try:
        config = json.loads(json_string)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"the text isn't JSON ({error}): pass the string that model.to_json() returned"
        ) from error
    with reading(library, "the JSON text"):
        model = deserialize_keras_object(config, custom_objects)
    if not isinstance(model, Module):
        raise ModelError(
            "the JSON text doesn't describe a model: pass what model.to_json() returned"
        )
    return model


def to_json(model: Any, **options: Any) -> str:
    """Return the config of a model as JSON; options are those of `json.dumps`."""
    return _json(serialize_keras_object(model), **options)


def save_h5_weights(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Write the weights of a model, and the state of its optimizer, to a `.weights.h5` file."""
    path = _path(filepath, ".weights.h5")
    hdf5.h5py()
    if not getattr(model, "built", True):
        raise ModelError(
            f"the model {model.name!r} isn't built, so it has no weights yet: call it on data, or build it, first"
        )
    optimizer = model.optimizer if getattr(model, "compiled", False) else None
    content = hdf5.written(entries(model), optimizer)
    with replacing(path, overwrite) as file:
        file.write(content)


def load_h5_weights(
    model: Any, filepath: Any, optimizer: bool = False, skip_mismatch: bool = False
) -> None:
    """Read weights from a `.weights.h5` or `.keras` file, and the state of the optimizer if the model is compiled.

    Without `optimizer=True`, a state that doesn't fit is omitted with a warning. With `skip_mismatch`, so are weights.
    """
    path = Path(filepath)
    source = f"the file {str(path)!r}"
    hdf5.h5py()
    if path.suffix == ".keras":
        with (
            _path(path, ".keras", reads=True).open("rb") as file,
            _archive(file, source) as archive,
        ):
            content: Any = _part(archive, WEIGHTS, source)
    else:
        content = _path(path, ".h5", reads=True).read_bytes()
    with hdf5.opened(content, source) as weights:
        _load(model, weights, optimizer or None, skip_mismatch)


def _load(
    model: Any, weights: hdf5.WeightFile, optimizer: bool | None, skip_mismatch: bool = False
) -> None:
    """Check everything in a file, then assign it to the variables of a model.

    `optimizer`: True requires its state, None loads it if it fits, False omits it.
    """
    names: list[str] = []
    wants_state = optimizer is not False and getattr(model, "optimizer", None) is not None
    if whole_h5.is_whole_h5(weights):
        if skip_mismatch:
            raise OptionError("skip_mismatch works with .weights.h5 and .keras files: omit it")
        pairs = whole_h5.assignments(model, weights)
        if wants_state:
            names = _fitting_state(
                model, weights, whole_h5.optimizer_names(weights), bool(optimizer)
            )
    else:
        pairs = _by_paths(model, weights, skip_mismatch)
        if wants_state:
            names = _fitting_state(model, weights, weights.optimizer_names(), bool(optimizer))
    states = [weights.array(name) for name in names]
    for variable, value in pairs:
        variable.assign(value, read_value=False)
    for variable, value in zip(model.optimizer.variables if states else (), states, strict=False):
        variable.assign(value, read_value=False)


def _by_paths(model: Any, weights: hdf5.WeightFile, skip_mismatch: bool) -> list[tuple[Any, Any]]:
    """Return the variables of a model with their values in a file of Keras 3's paths."""
    variables = hdf5.variables_by_name(entries(model))
    stored = {
        name: x
        for name, x in weights.stored.items()
        if name in variables or name in weights.weights()
    }
    if skip_mismatch:
        variables = _fitting(stored, variables, weights.source)
    else:
        require_same(stored, variables, repr(model.name), weights.source)
    return [(variable, weights.array(name)) for name, variable in variables.items()]


def _fitting(
    stored: Mapping[str, Any], variables: Mapping[str, Any], source: str
) -> dict[str, Any]:
    """Return the variables that fit stored arrays, and warn about the others."""
    fitting = {
        name: variable
        for name, variable in variables.items()
        if name in stored
        and stored[name].shape == tuple(variable.shape)
        and np.can_cast(stored[name].dtype, np.dtype(str(variable.dtype)), "same_kind")
    }
    left = [name for name in [*variables, *stored] if name not in fitting]
    if left:
        warnings.warn(
            f"{source} doesn't fit the model in {', '.join(dict.fromkeys(left))}, which keep their values",
            UserWarning,
            stacklevel=5,
        )
    return fitting


def _fitting_state(
    model: Any, weights: hdf5.WeightFile, names: list[str], required: bool
) -> list[str]:
    """Return the names of an optimizer's state if it fits a model's optimizer, which is built; otherwise warn."""
    ours = model.optimizer
    stored = [weights.stored[name] for name in names]
    # A file of a model that wasn't trained has only the number of steps and the learning rate.
    if len(names) > len(ours.variables) and not ours.built:
        ours.build(model.trainable_variables)
    kept = ours.variables if ours.built and len(names) > 2 else ours.variables[: len(names)]
    fits = bool(names) and [x.shape for x in stored] == [tuple(v.shape) for v in kept]
    if fits:
        return names
    why = (
        "has no state of an optimizer"
        if not names
        else f"has the state of another optimizer than {ours.name!r}"
    )
    if required:
        raise WeightsError(f"{weights.source} {why}")
    if names:
        warnings.warn(
            f"{weights.source} {why}, so only the weights were loaded: training begins with a new state",
            UserWarning,
            stacklevel=5,
        )
    return []


def _json(config: Any, **options: Any) -> str:
    return json.dumps(config, **options)


@contextmanager
def _archive(file: Any, source: str) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive, or raise WeightsError."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise WeightsError(
            f"{source} can't be read: it's cut off or broken, or isn't a .keras file ({error})"
        ) from error
    with archive:
        yield archive


def _part(archive: zipfile.ZipFile, name: str, source: str) -> bytes:
    """Return a part of an archive, or raise WeightsError."""
    try:
        entry = archive.getinfo(name)
        if entry.file_size > max(2**20, MAX_EXPANSION * entry.compress_size):
            raise WeightsError(
                f"{source} contains {name!r}, whose {entry.compress_size:,} bytes grow to {entry.file_size:,}: no file "
                "of Keras is packed so tightly"
            )
        return archive.read(entry)
    except KeyError as error:
        raise WeightsError(
            f"{source} isn't a .keras file of Keras 3: it has no part named {name!r}"
        ) from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise WeightsError(
            f"{source} can't be read: its part {name!r} is broken ({error})"
        ) from error


def _parsed(archive: zipfile.ZipFile, name: str, source: str) -> Any:
    try:
        return json.loads(_part(archive, name, source))
    except (ValueError, RecursionError) as error:
        if isinstance(error, TapeError):
            raise
        raise WeightsError(
            f"{source} can't be read: its part {name!r} isn't JSON ({error})"
        ) from error


def _require_version(metadata: Any, source: str) -> None:
    """Raise ModelError for a file of another generation of Keras."""
    version = metadata.get("keras_version") if isinstance(metadata, Mapping) else None
    if str(version).split(".", maxsplit=1)[0] != "3":
        later = "a later version of tapemagic" if str(version) > "3" else "Keras 3"
        raise ModelError(
            f"{source} was written by Keras {version}, and tapemagic reads files of Keras 3: open it with {later}, and "
            "save it there in the format of Keras 3"
        )


def _with_version(error: ModelError, metadata: Mapping[str, Any]) -> ModelError:
    """Return an error, with the version of Keras added if it's later than the known one."""
    version = str(metadata.get("keras_version"))
    numbers = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    if numbers > [int(part) for part in KERAS_VERSION.split(".")[:2]]:
        return ModelError(
            f"{error} (the file was written by Keras {version}, and tapemagic knows the format up to "
            f"{KERAS_VERSION})"
        )
    return error


def _require_options(options: Mapping[str, Any], accepted: Mapping[str, tuple[Any, ...]]) -> None:
    for name, value in options.items():
        if value not in accepted.get(name, ()):
            raise OptionError(
                f"save doesn't take {name}={value!r}: models are saved as .keras files, in one format, so write "
                "model.save('net.keras')"
            )


def _path(filepath: Any, ending: str, reads: bool = False) -> Path:
    """Return a path, or raise an error for one that isn't a file of this kind."""
    if not isinstance(filepath, str | os.PathLike) or not str(filepath):
        raise OptionError(
            f"filepath must be the path of a file, not {shown(filepath)}: write 'net{ending}'"
        )
    path = Path(filepath)
    if reads and path.is_dir():
        raise IsADirectoryError(
            f"{str(path)!r} is a folder: models are read from .keras files, not from the folders of TensorFlow's "
            "SavedModel; open it with TensorFlow, and save it with model.save('net.keras')"
        )
    if not str(path).endswith(ending):
        also = "" if ending == ".keras" else f", or {_renamed(path, '.npz')!r}"
        what = "a model is" if ending == ".keras" else "weights are"
        raise OptionError(
            f"{what} stored in {ending} files, not in {str(path)!r}: write {_renamed(path, ending)!r}{also}"
        )
    if reads and not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    return path


def _renamed(path: Path, ending: str) -> str:
    stem = path.name.split(".", maxsplit=1)[0] or "net"
    return str(path.with_name(f"{stem}{ending}"))
