"""`get_file`: a file from an address, kept in a folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tapemagic.errors import DownloadError, OptionError

CHUNK = 1 << 16


def get_file(
    fname: Any = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: Any = None,
    force_download: bool = False,
) -> str:
    """Download a file, unless it's in the cache, and return its path.

    Parameters
    ----------
    fname : str, optional
        The name in the cache, by default the last part of the address.
    origin : str
        The address: https://, http:// or file://.
    untar, extract : bool, optional
        Unpack a tar or zip archive, and return the path of the folder.
    file_hash, md5_hash : str, optional
        The SHA-256 or MD5 sum of the file. Without it, nothing tells whether the file is the expected one.
    cache_subdir, cache_dir : str or path, optional
        The folder is ``cache_dir/cache_subdir``, by default ``~/.keras/datasets``, or ``$KERAS_HOME/datasets``.
    hash_algorithm : {'auto', 'sha256', 'md5'}, optional
    archive_format : {'auto', 'tar', 'zip', None}, optional
    force_download : bool, optional
        Download the file also if it's in the cache.

    Returns
    -------
    str

    Raises
    ------
    DownloadError
        If the file can't be downloaded or written, or its sum differs. The cache keeps no part of it.
    OptionError
        If there is no address, or `fname` is a path.
    """
    if origin is None:
        raise OptionError("get_file needs an address: write get_file(origin='https://...')")
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    if hash_algorithm not in {"auto", "sha256", "md5"}:
        raise OptionError(
            f"hash_algorithm must be 'auto', 'sha256' or 'md5', not {hash_algorithm!r}"
        )
    home = cache_dir or os.environ.get("KERAS_HOME") or "~/.keras"
    folder = Path(home).expanduser() / cache_subdir
    name = os.fspath(fname) if fname else Path(urllib.parse.urlsplit(origin).path).name
    if not name or Path(name).name != name:
        raise OptionError(
            f"fname must be the name of a file, not {name!r}: for another folder, write cache_dir="
        )
    is_archive = extract or untar
    target, unpacked = folder / name, folder / name
    # Keras's names: the archive and its folder have different ones.
    if is_archive and fname and "." in name:
        unpacked = folder / f"{name.partition('.')[0]}_extracted"
    elif is_archive:
        target = folder / f"{name}_archive"
    if force_download or not _is_valid(target, file_hash, hash_algorithm):
        _download(origin, target, file_hash, hash_algorithm)
    if not is_archive:
        return str(target)
    _unpack(target, unpacked, "tar" if untar else archive_format)
    return str(unpacked)


def _sum(path: Path, file_hash: str, algorithm: str) -> str:
    if algorithm == "auto":
        algorithm = "sha256" if len(file_hash) == 64 else "md5"
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def _is_valid(path: Path, file_hash: str | None, algorithm: str) -> bool:
    if not path.is_file():
        return False
    return file_hash is None or _sum(path, file_hash, algorithm) == file_hash.lower()


def _download(origin: str, target: Path, file_hash: str | None, algorithm: str) -> None:
    """Write the file under a temporary name first, so that the cache never has an incomplete file."""
    print(f"Downloading data from {origin}")  # noqa: T201 (as Keras does)
    partial = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=target.parent)
        with (
            os.fdopen(descriptor, "wb") as file,
            urllib.request.urlopen(origin, timeout=30) as source,  # noqa: S310 (the user's address)
        ):
            expected = source.headers.get("Content-Length")
            shutil.copyfileobj(source, file, CHUNK)
            count = file.tell()
        if expected is not None and count != int(expected):
            raise DownloadError(
                f"{origin}: {count:,} of {int(expected):,} bytes arrived. Run the line again."
            )
        if file_hash is not None:
            found = _sum(Path(partial), file_hash, algorithm)
            if found != file_hash.lower():
                raise DownloadError(
                    f"{origin} is another file than the expected one: its sum is {found}, not {file_hash}. Check the "
                    "address and file_hash."
                )
        Path(partial).replace(target)
    except DownloadError:
        raise
    except (urllib.error.URLError, ValueError) as error:
        raise DownloadError(
            f"{origin} can't be downloaded: {getattr(error, 'reason', error)}. Check the address and the connection of "
            f"this machine, or put the file at {target}."
        ) from error
    except OSError as error:
        raise DownloadError(
            f"{target} can't be written: {error}. Choose another folder with cache_dir=."
        ) from error
    finally:
        if partial is not None:
            Path(partial).unlink(missing_ok=True)


def _unpack(archive: Path, folder: Path, formats: Any) -> None:
    kinds: Sequence[str] = ("tar", "zip") if formats == "auto" else [formats]
    try:
        if "tar" in kinds and tarfile.is_tarfile(archive):
            with tarfile.open(archive) as file:
                # "data" refuses paths outside of the folder, links to such paths, and special files (PEP 706).
                file.extractall(folder, filter="data")
            return
        if "zip" in kinds and zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as file:
                file.extractall(folder)  # noqa: S202 (ZipFile removes .. and leading slashes from names)
            return
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise DownloadError(
            f"{archive} can't be unpacked: {error}. Delete it, and run the line again."
        ) from error
    raise DownloadError(
        f"{archive} is neither a tar nor a zip archive: write get_file without extract=True, or delete the file"
    )
