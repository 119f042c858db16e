"""Reading and writing of named arrays in `.npz` files."""

from __future__ import annotations

import errno
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

from tapemagic.engine.effects import keep_out_of_programs
from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import OptionError, WeightsError

OPTIMIZER = "optimizer:"
"""Prefix of the names under which a weight file stores the state of an optimizer."""

MAX_NAME_BYTES = 2**16 - 1
"""Maximum length of a name in a zip archive, whose header stores the length in 16 bits."""


def write(path: Any, arrays: Mapping[str, Any], overwrite: bool = True) -> None:
    """Write named arrays to a `.npz` file, which replaces an existing file only when it's complete."""
    with replacing(_npz(path), overwrite) as file:
        _write_zip(file, arrays)


@contextmanager
def replacing(path: Path, overwrite: bool = True) -> Iterator[Any]:
    """Open a file for writing, which replaces an existing file at the end of the block, unless the block fails."""
    target = Path(os.path.realpath(path))  # so that a symbolic link stays a link
    if target.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "a folder has the name of the file that would be written", str(path)
        )
    if not overwrite and target.exists():
        raise FileExistsError(
            errno.EEXIST, "the file exists already: write overwrite=True to replace it", str(path)
        )
    unfinished = target.with_name(f".{uuid.uuid4().hex}{target.suffix}")
    try:
        try:
            opened = unfinished.open("xb")
        except OSError as error:
            # The user knows the file by its own name.
            raise type(error)(
                error.errno, f"the file can't be written: {error.strerror}", str(path)
            ) from error
        with opened as file:
            yield file
        # The new file keeps the permissions of the old one.
        if target.exists():
            unfinished.chmod(target.stat().st_mode & 0o7777)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _write_zip(file: Any, arrays: Mapping[str, Any]) -> None:
    """Write arrays like `numpy.savez`, but with arbitrary names, and with reproducible bytes."""
    # savez takes names as keyword arguments, so "file" isn't allowed, and it stores the time of writing.
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            entry_name = zipfile.ZipInfo(_entry_name(name))
            with archive.open(entry_name, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def _entry_name(name: str) -> str:
    """Return the name of an array's entry in the archive, or raise OptionError for names that zip can't store."""
    entry = f"{name}.npy"
    try:
        if "\0" not in name and len(entry.encode()) <= MAX_NAME_BYTES:
            return entry
    except UnicodeEncodeError:
        pass
    raise OptionError(
        f"a file can't store the name {shown(name)}: names can't contain null characters or halves of surrogate "
        f"pairs, or exceed {MAX_NAME_BYTES:,} bytes; rename the key, attribute or layer"
    )


class Stored(NamedTuple):
    """The shape and the dtype of an array in a file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


Choose = Callable[[Mapping[str, Stored]], Iterable[str]]


def read(path: Any, choose: Choose) -> dict[str, Any]:
    """Read arrays from a `.npz` file, and verify their checksums.

    `choose` receives the shapes and dtypes of all arrays by name; it returns the names of the arrays to read, or
    raises an error, so that a file with huge arrays is refused before memory is allocated. Raises WeightsError for a
    broken file.
    """
    keep_out_of_programs("a file that is read: read it before the call")
    path = _npz(path)
    # Two passes over an open file: headers first, so that `choose` can refuse the file before arrays are read.
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
    """Convert all errors that a broken file may cause to WeightsError."""
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
        RuntimeError,  # an encrypted entry, or an unknown compression
        SyntaxError,
        TypeError,
        ValueError,
    ) as error:
        raise WeightsError(
            f"the file {str(path)!r} can't be read: it is broken, or wasn't written by save_weights "
            f"({str(error) or type(error).__name__})"
        ) from error


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the entries of an archive by the names of their arrays."""
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename:
            raise ValueError(f"{name!r} in it isn't an array")
        if name in entries:
            raise ValueError(f"there are two arrays {name!r}")
        entries[name] = entry
    return entries


def _stored(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Stored:
    """Return the shape and dtype in the header of an entry, or raise ValueError if its length doesn't match."""
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
    """Read an array from an entry."""
    # archive.read verifies the checksum at the end of the entry; read_array would stop before it.
    content = io.BytesIO(archive.read(entry))
    return np.lib.format.read_array(content, allow_pickle=False)


def _npz(filepath: Any) -> Path:
    if not isinstance(filepath, str | os.PathLike) or not str(filepath):
        raise OptionError(
            f"filepath must be the path of a file, not {shown(filepath)}: write 'model.weights.npz'"
        )
    path = Path(filepath)
    if path.suffix != ".npz":
        raise OptionError(
            f"weights are stored in .npz files, not in {str(path)!r}: write {str(path.with_suffix('.npz'))!r}"
        )
    return path


def optimizer_names(stored: Iterable[str], source: str) -> list[str]:
    """Return the names of an optimizer's variables in a file, in order, or raise WeightsError if they're incomplete."""
    names = [name for name in stored if name.startswith(OPTIMIZER)]
    if not names:
        raise WeightsError(
            f"{source} has no state of an optimizer: write load_weights(path), or save it with "
            "save_weights(path, optimizer=True)"
        )
    ordered = [f"{OPTIMIZER}{number}" for number in range(len(names))]
    if set(ordered) != set(names):
        raise WeightsError(f"{source} has only a part of an optimizer's state: {', '.join(names)}")
    return ordered


def require_same(
    arrays: Mapping[str, Any], variables: Mapping[str, Any], whose: str, source: str
) -> None:
    """Raise WeightsError, which lists all differences, if arrays don't match variables in name, shape and dtype.

    The message names the owner of the variables, `whose`, and the source of the arrays.
    """
    lines = [
        *_lines("missing", (name for name in variables if name not in arrays)),
        *_lines("not in the model", (name for name in arrays if name not in variables)),
        *_lines(
            "with a different shape",
            (
                f"{name} {arrays[name].shape}, expected {variable.shape}"
                for name, variable in variables.items()
                if name in arrays and arrays[name].shape != variable.shape
            ),
        ),
        *_lines(
            "with a different kind of dtype",
            (
                f"{name} {arrays[name].dtype}, expected {variable.dtype}"
                for name, variable in variables.items()
                if name in arrays
                and not np.can_cast(arrays[name].dtype, variable.dtype, "same_kind")
            ),
        ),
    ]
    if arrays and not variables:
        raise WeightsError(
            f"{whose} has no variables yet, so {source} can't be loaded: call it on data, or build it, first"
        )
    if lines:
        listed = "\n".join(lines)
        raise WeightsError(
            f"{source} belongs to a different model than {whose}, so nothing was loaded:\n{listed}"
        )


def _lines(what: str, names: Iterable[str]) -> list[str]:
    listed = list(names)
    return [f"- {what}: {', '.join(listed)}"] if listed else []
