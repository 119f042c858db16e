"""Arrays by name, written to `.npz` files and read from them."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tapemagic.errors import OptionError, WeightsError

OPTIMIZER = "optimizer:"
"""The beginning of the names under which the state of an optimizer is kept beside weights."""


def write(path: Any, arrays: Mapping[str, Any]) -> None:
    """Write arrays to a file, which takes the place of another one only when it is complete.

    Parameters
    ----------
    path : path
        Ends in ".npz".
    arrays : mapping of str to ndarray

    Raises
    ------
    OptionError
        If the name of the file ends otherwise.
    OSError
        If the file cannot be written.
    """
    path = _npz(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _write_zip(file, arrays)
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink()
        raise


def _write_zip(file: Any, arrays: Mapping[str, Any]) -> None:
    """Write what `numpy.savez` does, but with any names, and with the same bytes each time."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(path: Any) -> dict[str, Any]:
    """The arrays in a file.

    Raises
    ------
    FileNotFoundError
        If there is none.
    OptionError
        If its name does not end in ".npz".
    WeightsError
        If it is broken, or none of this kind.
    """
    path = _npz(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return dict(stored)
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise WeightsError(
            f"the file {str(path)!r} cannot be read: it is broken, or was not written by save_weights"
        ) from error


def _npz(given: Any) -> Path:
    path = Path(given)
    if path.suffix != ".npz":
        raise OptionError(
            f"weights are kept in .npz files, not in {str(path)!r}: write {str(path.with_suffix('.npz'))!r}"
        )
    return path


def require_same(
    given: Mapping[str, Any], wanted: Mapping[str, Any], whose: str, source: str
) -> None:
    """Raise an error that lists all differences between arrays that are given and those that are wanted.

    Parameters
    ----------
    given : mapping of str to ndarray
    wanted : mapping of str to Variable
    whose, source : str
        What the arrays are for, and where they come from, for the message.

    Raises
    ------
    WeightsError
        If a name is missing or unexpected, or a shape or kind of dtype differs.
    """
    lines = [
        *_lines("missing", (name for name in wanted if name not in given)),
        *_lines("not in the model", (name for name in given if name not in wanted)),
        *_lines(
            "of another shape",
            (
                f"{name} {given[name].shape}, wanted {variable.shape}"
                for name, variable in wanted.items()
                if name in given and given[name].shape != variable.shape
            ),
        ),
        *_lines(
            "of another kind",
            (
                f"{name} {given[name].dtype}, wanted {variable.dtype}"
                for name, variable in wanted.items()
                if name in given and not np.can_cast(given[name].dtype, variable.dtype, "same_kind")
            ),
        ),
    ]
    if given and not wanted:
        raise WeightsError(
            f"{whose} has no variables yet, into which {source} could be loaded: call it on data, or build it, first"
        )
    if lines:
        listed = "\n".join(lines)
        raise WeightsError(
            f"{source} is of another model than {whose}, and nothing was loaded:\n{listed}"
        )


def _lines(what: str, names: Iterable[str]) -> list[str]:
    listed = list(names)
    return [f"- {what}: {', '.join(listed)}"] if listed else []
