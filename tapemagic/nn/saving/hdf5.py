"""Weights in HDF5 files, as Keras writes them: ``.weights.h5``, and the part of a ``.keras`` file."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapemagic.errors import WeightsError
from tapemagic.nn.saving.weight_paths import Entry
from tapemagic.nn.weights import Stored

IGNORED = ("seed_generator", "random_generator", "_metrics", "metrics")
"""Parts of Keras's files that aren't weights: states of random numbers and of metrics."""

OLD_LAYERS = "_layer_checkpoint_dependencies"
"""The name of `layers` in files of the first versions of Keras 3."""


def h5py() -> Any:
    """Import h5py, or raise ImportError with the way to install it."""
    try:
        import h5py as library
    except ImportError as error:
        raise ImportError(
            "files of the types .keras, .h5 and .weights.h5 need the package h5py, which isn't installed: run "
            "pip install h5py, or write save_weights('net.weights.npz'), which needs no package"
        ) from error
    return library


def written(entries: Mapping[str, Entry], optimizer: Any = None) -> bytes:
    """Return the content of an HDF5 file with the variables of a model, and of its optimizer if there is one."""
    library = h5py()
    content = io.BytesIO()
    with library.File(content, "w") as file:
        parts = dict(entries)
        if optimizer is not None:
            parts["optimizer"] = Entry(optimizer.name, optimizer.variables)
        for path, entry in parts.items():
            group = file.create_group(f"{path}/vars" if path else "vars")
            group.attrs["name"] = entry.name
            for number, variable in enumerate(entry.variables):
                group[str(number)] = np.asarray(variable.numpy())
    return content.getvalue()


class WeightFile:
    """An open HDF5 file with weights.

    - `stored`: The shapes and dtypes of all arrays, by names such as "layers/dense/vars/0".
    """

    def __init__(self, file: Any, source: str) -> None:
        self.file, self.source = file, source
        self.stored: dict[str, Stored] = {}
        library = h5py()
        waiting = [("", file)]
        while waiting:
            path, group = waiting.pop()
            for name in group:
                inner = f"{path}/{name}" if path else name
                # Links to other files, and arrays whose numbers are in other files, would read anything on the disk.
                if isinstance(
                    group.get(name, getlink=True), library.ExternalLink | library.SoftLink
                ):
                    raise WeightsError(
                        f"{source} contains a link, {inner!r}, which no file of Keras has"
                    )
                item = group[name]
                if isinstance(item, library.Group):
                    waiting.append((inner, item))
                elif not isinstance(item, library.Dataset):
                    raise WeightsError(f"{source} contains {inner!r}, which isn't an array")
                elif item.external or item.is_virtual:
                    raise WeightsError(f"{source} has numbers of {inner!r} in another file")
                else:
                    self.stored[inner.replace(OLD_LAYERS, "layers")] = Stored(
                        item.shape, item.dtype
                    )
        self._prefix = OLD_LAYERS if OLD_LAYERS in file else "layers"

    def array(self, name: str) -> Any:
        """Read an array."""
        first, slash, rest = name.partition("/")
        path = f"{self._prefix}{slash}{rest}" if first == "layers" else name
        with _broken(self.source):
            return np.array(self.file[path])

    def optimizer_names(self) -> list[str]:
        """Return the names of the optimizer's arrays, in order."""
        numbers = [
            int(name.rpartition("/")[2])
            for name in self.stored
            if name.startswith("optimizer/vars/")
        ]
        return [f"optimizer/vars/{number}" for number in sorted(numbers)]

    def weights(self) -> dict[str, Stored]:
        """Return the shapes and dtypes of the weights, without the optimizer and random numbers."""
        return {
            name: stored
            for name, stored in self.stored.items()
            if not name.startswith("optimizer/") and not set(name.split("/")) & set(IGNORED)
        }


@contextmanager
def opened(content: Any, source: str) -> Iterator[WeightFile]:
    """Open a file with weights: a path, or the bytes of a file. Raises WeightsError if it's broken."""
    library = h5py()
    with _broken(source):
        file = library.File(io.BytesIO(content) if isinstance(content, bytes) else content, "r")
    with file:
        with _broken(source):
            weights = WeightFile(file, source)
        yield weights


@contextmanager
def _broken(source: str) -> Iterator[None]:
    """Convert the errors that a broken file may cause to WeightsError."""
    try:
        yield
    except (FileNotFoundError, PermissionError, IsADirectoryError, WeightsError):
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise WeightsError(
            f"{source} can't be read: it's cut off or broken, or isn't an HDF5 file ({error})"
        ) from error


def variables_by_name(entries: Mapping[str, Entry]) -> dict[str, Any]:
    """Return variables by the names of their arrays in a file."""
    return {
        f"{path}/vars/{number}" if path else f"vars/{number}": variable
        for path, entry in entries.items()
        for number, variable in enumerate(entry.variables)
    }
