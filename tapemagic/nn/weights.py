"""Arrays by name, written to `.npz` files and read from them."""

from __future__ import annotations

import io
import lzma
import math
import os
import struct
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import OptionError, WeightsError

OPTIMIZER = "optimizer:"
"""The beginning of the names under which the state of an optimizer is kept beside weights."""

LONGEST_NAME = 2**16 - 1
"""The number of bytes of a name in an archive."""


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
    target = Path(os.path.realpath(path))  # so that a link stays one
    unfinished = target.with_name(f".{uuid.uuid4().hex}.npz")
    try:
        with unfinished.open("xb") as file:
            _write_zip(file, arrays)
        if target.exists():
            unfinished.chmod(target.stat().st_mode & 0o7777)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _write_zip(file: Any, arrays: Mapping[str, Any]) -> None:
    """Write what `numpy.savez` does, but with any names, and with the same bytes each time."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            entry_name = zipfile.ZipInfo(_entry_name(name))
            with archive.open(entry_name, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def _entry_name(name: str) -> str:
    """The name of an array's entry in the archive.

    Raises
    ------
    OptionError
        If the archive would cut it, or cannot hold it.
    """
    entry = f"{name}.npy"
    try:
        if "\0" not in name and len(entry.encode()) <= LONGEST_NAME:
            return entry
    except UnicodeEncodeError:
        pass
    raise OptionError(
        f"a file cannot hold the name {shown(name)}: no name has null characters or halves of surrogate pairs, "
        f"or more than {LONGEST_NAME:,} bytes; give the key, attribute or layer of this name another one"
    )


class Stored(NamedTuple):
    """The shape and the dtype of an array in a file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


Choose = Callable[[Mapping[str, Stored]], Iterable[str]]


def read(path: Any, choose: Choose) -> dict[str, Any]:
    """Arrays in a file, whose checksums are compared.

    Parameters
    ----------
    path : path
        Ends in ".npz".
    choose : callable
        Given the shapes and dtypes of all arrays by their names; returns the names of those to read, or raises an
        error. So a file with huge arrays is refused before there is memory for them.

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
    with path.open("rb") as file:
        with _broken_file(path):
            archive = zipfile.ZipFile(file)
            entries = _entries(archive)
            stored = {name: _stored(archive, entry) for name, entry in entries.items()}
        chosen = list(choose(stored))
        with _broken_file(path):
            return {name: _array(archive, entries[name]) for name in chosen}


@contextmanager
def _broken_file(path: Path) -> Iterator[None]:
    """Whatever goes wrong here says that a file is broken."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        struct.error,
        LookupError,
        EOFError,
        OSError,
        OverflowError,
        RuntimeError,  # what is encrypted, or packed in another way
        SyntaxError,
        TypeError,
        ValueError,
    ) as error:
        raise WeightsError(
            f"the file {str(path)!r} cannot be read: it is broken, or was not written by save_weights "
            f"({str(error) or type(error).__name__})"
        ) from error


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The entries by the names of their arrays."""
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename:
            raise ValueError(f"{name!r} in it is no array")
        if name in entries:
            raise ValueError(f"there are two arrays {name!r}")
        entries[name] = entry
    return entries


def _stored(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Stored:
    """The shape and dtype that the entry of an array begins with, which agree with its length."""
    with archive.open(entry) as file:
        shape, dtype = _header(file)
        length = file.tell() + math.prod(shape) * dtype.itemsize
    if dtype.hasobject:
        raise ValueError(f"{entry.filename!r} in it holds Python objects")
    if length != entry.file_size:
        raise ValueError(f"{entry.filename!r} in it has {entry.file_size:,} bytes, not {length:,}")
    return Stored(shape, dtype)


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    else:
        raise ValueError(f"version {version} of the format of arrays")
    return shape, dtype


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    """An array; the whole entry is read first, since only then its checksum is compared."""
    content = io.BytesIO(archive.read(entry))
    return np.lib.format.read_array(content, allow_pickle=False)


def _npz(filepath: Any) -> Path:
    if not isinstance(filepath, str | os.PathLike) or not str(filepath):
        raise OptionError(
            f"filepath is the path of a file, not {shown(filepath)}: write 'model.weights.npz'"
        )
    path = Path(filepath)
    if path.suffix != ".npz":
        raise OptionError(
            f"weights are kept in .npz files, not in {str(path)!r}: write {str(path.with_suffix('.npz'))!r}"
        )
    return path


def optimizer_names(stored: Iterable[str], source: str) -> list[str]:
    """The names of the variables of an optimizer among those in a file, in their order.

    Raises
    ------
    WeightsError
        If there are none, or if one is missing.
    """
    names = [name for name in stored if name.startswith(OPTIMIZER)]
    if not names:
        raise WeightsError(
            f"{source} holds no state of an optimizer: write load_weights(path), or save it with "
            "save_weights(path, optimizer=True)"
        )
    ordered = [f"{OPTIMIZER}{number}" for number in range(len(names))]
    if set(ordered) != set(names):
        raise WeightsError(f"{source} holds a part of an optimizer's state: {', '.join(names)}")
    return ordered


def require_same(
    arrays: Mapping[str, Any], variables: Mapping[str, Any], whose: str, source: str
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
        *_lines("missing", (name for name in variables if name not in arrays)),
        *_lines("not in the model", (name for name in arrays if name not in variables)),
        *_lines(
            "of another shape",
            (
                f"{name} {arrays[name].shape}, wanted {variable.shape}"
                for name, variable in variables.items()
                if name in arrays and arrays[name].shape != variable.shape
            ),
        ),
        *_lines(
            "of another kind",
            (
                f"{name} {arrays[name].dtype}, wanted {variable.dtype}"
                for name, variable in variables.items()
                if name in arrays
                and not np.can_cast(arrays[name].dtype, variable.dtype, "same_kind")
            ),
        ),
    ]
    if arrays and not variables:
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
