"""MNIST and Fashion-MNIST, from files of the user's or downloaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from tapemagic.errors import DataFileError, MissingDataError, OptionError
from tapemagic.nn.datasets.idx import read_idx
from tapemagic.nn.datasets.npz import read_npz
from tapemagic.nn.datasets.source import (
    FASHION_MNIST,
    MNIST,
    Array,
    Source,
    Split,
    cache_folder,
    normalized,
)

WHITE = 255
IDX_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
"""The four files as they are named in the order of Keras's four arrays."""


def mnist(
    path: str | os.PathLike[str] | None = None,
    *,
    download: bool = False,
    url: str | None = None,
    normalize: bool = False,
    progress: bool = True,
    timeout: float = 30.0,
) -> Split:
    """Load MNIST: 70,000 handwritten digits of 28 × 28 pixels.

    The data are those of Y. LeCun, C. Cortes and C. Burges, "The MNIST database of handwritten
    digits" (1998), CC BY-SA 3.0, in one of the two forms in which they are passed on: Keras's
    ``mnist.npz``, or four IDX files (``train-images-idx3-ubyte`` and so on, also
    ``train-images.idx3-ubyte``), each gzipped or not.

    Parameters
    ----------
    path : str or os.PathLike, optional
        An ``.npz`` file, or the folder with it or with the four files. The default is the cache:
        ``mnist`` in ``$TAPEMAGIC_DATA`` where that is set, otherwise in the user's cache folder:
        ``~/.cache/tapemagic`` (or ``$XDG_CACHE_HOME/tapemagic``) on Linux,
        ``~/Library/Caches/tapemagic`` on macOS, ``%LOCALAPPDATA%/tapemagic`` on Windows.
    download : bool, optional
        Whether Keras's file, of 11 MB, may be downloaded into that place if there is none. A
        download that broke off goes on where it stopped, and a file gets its name when all of it
        is there and its SHA-256 sum is right.
    url : str, optional
        Another place to download from: the http(s) address of a folder with the same ``mnist.npz``.
    normalize : bool, optional
        Whether pixels are returned as float32 from 0 to 1, and not as uint8 from 0 to 255.
    progress : bool, optional
        Whether a bar shows the progress of a download.
    timeout : float, optional
        How many seconds a server may be silent.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of numpy.ndarray
        Images of shape (60000, 28, 28) and (10000, 28, 28), uint8 or float32; labels of shape
        (60000,) and (10000,), uint8 from 0 to 9. A file with fewer images gives fewer.

    Raises
    ------
    tapemagic.errors.MissingDataError
        If there is no such file, and ``download`` is false.
    tapemagic.errors.DataFileError
        If a file is truncated or corrupt, or has something else in it.
    tapemagic.errors.DownloadError
        If the file cannot be downloaded, or another one came in its place.
    tapemagic.errors.OptionError
        For a path or an address that is none.

    Examples
    --------
    ::

        (x_train, y_train), (x_test, y_test) = mnist(download=True, normalize=True)
        mnist("~/.keras/datasets/mnist.npz")  # Keras's own cache

    >>> from tapemagic.nn.datasets import mnist
    >>> mnist("no-such-folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tapemagic.errors.MissingDataError: no-such-folder is not there. Give mnist() the path of mnist.npz, ...
    """
    return _load(MNIST, path, download, url, normalize, progress, timeout)


def fashion_mnist(
    path: str | os.PathLike[str] | None = None,
    *,
    download: bool = False,
    url: str | None = None,
    normalize: bool = False,
    progress: bool = True,
    timeout: float = 30.0,
) -> Split:
    """Load Fashion-MNIST: 70,000 pictures of clothes, of 28 × 28 pixels, in ten classes.

    The data are those of H. Xiao, K. Rasul and R. Vollgraf, "Fashion-MNIST: a Novel Image Dataset
    for Benchmarking Machine Learning Algorithms" (2017, arXiv 1708.07747), of Zalando SE, MIT
    licence. The labels: 0 T-shirt or top, 1 trousers, 2 pullover, 3 dress, 4 coat, 5 sandal,
    6 shirt, 7 sneaker, 8 bag, 9 ankle boot.

    Parameters
    ----------
    path : str or os.PathLike, optional
        The folder with the four IDX files (``train-images-idx3-ubyte`` and so on), each gzipped or
        not, or with a ``fashion-mnist.npz`` that has the arrays of Keras's ``mnist.npz``; or such
        an ``.npz`` file. The default is ``fashion-mnist`` in the cache, which `mnist` describes.
    download : bool, optional
        Whether the four files, of 31 MB, may be downloaded into that folder where one is missing.
    url : str, optional
        Another place to download from: the http(s) address of a folder with the same gzipped files.
    normalize : bool, optional
        Whether pixels are returned as float32 from 0 to 1, and not as uint8 from 0 to 255.
    progress : bool, optional
        Whether bars show the progress of a download.
    timeout : float, optional
        How many seconds a server may be silent.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of numpy.ndarray
        Images of shape (60000, 28, 28) and (10000, 28, 28), uint8 or float32; labels of shape
        (60000,) and (10000,), uint8 from 0 to 9. A file with fewer images gives fewer.

    Raises
    ------
    tapemagic.errors.MissingDataError, DataFileError, DownloadError, OptionError
        As `mnist` does.

    Examples
    --------
    ::

        (x_train, y_train), (x_test, y_test) = fashion_mnist(download=True)
    """
    return _load(FASHION_MNIST, path, download, url, normalize, progress, timeout)


def _load(
    source: Source,
    path: str | os.PathLike[str] | None,
    download: bool,
    url: str | None,
    normalize: bool,
    progress: bool,
    timeout: float,
) -> Split:
    place = cache_folder() / source.name if path is None else _path(source, path)
    if download:
        _download(source, place, url, progress, timeout)
    split = _checked(place, _read(source, place, path_text=repr(str(path)) if path else ""))
    return normalized(split, WHITE) if normalize else split


def _path(source: Source, path: Any) -> Path:
    try:
        return Path(path).expanduser()
    except (TypeError, RuntimeError) as error:
        raise OptionError(
            f"path is {path!r}: {source.function}() takes the path of an .npz file or a folder, as "
            f"in {source.function}('data/{source.name}')."
        ) from error


def _download(source: Source, place: Path, url: str | None, progress: bool, timeout: float) -> None:
    """Download what is missing, unless the data set is there in one of its forms."""
    from tapemagic.nn.datasets.download import download_file

    if place.is_file() or (place / source.npz).is_file():
        return
    if all(_find(place, name) for name in IDX_NAMES):
        return
    to_file = place.suffix == ".npz" and not place.is_dir()
    if to_file and source.npz not in {file.name for file in source.downloads}:
        raise OptionError(
            f"{place} is not there, and {source.function}() downloads four files: give it the folder "
            f"to put them in, as in {source.function}({str(place.parent)!r}, download=True)."
        )
    for file in source.downloads:
        target = place if to_file else place / file.name
        if not _find(place, file.name.removesuffix(".gz")):
            download_file(
                f"{(url or source.url).rstrip('/')}/{file.name}",
                target,
                file,
                progress=progress,
                timeout=timeout,
            )


def _find(folder: Path, name: str) -> Path | None:
    """A file under one of the names that it goes by: with a dot or a hyphen, gzipped or not."""
    dotted = name.replace("-idx", ".idx")
    for candidate in (name, dotted, f"{name}.gz", f"{dotted}.gz"):
        if (folder / candidate).is_file():
            return folder / candidate
    return None


def _read(source: Source, place: Path, path_text: str) -> Split:
    """The arrays in a file or a folder, as they are there."""
    if place.is_file():
        if place.suffix != ".npz":
            raise OptionError(
                f"{place} is no .npz file: for the four IDX files give {source.function}() their "
                f"folder, {str(place.parent)!r}."
            )
        return read_npz(place)
    if (place / source.npz).is_file():
        return read_npz(place / source.npz)
    paths = {name: _find(place, name) for name in IDX_NAMES}
    if None in paths.values():
        raise MissingDataError(_what_is_missing(source, place, path_text, paths))
    x_train, y_train, x_test, y_test = (read_idx(path) for path in paths.values() if path)
    return (x_train, y_train), (x_test, y_test)


def _what_is_missing(
    source: Source, place: Path, path_text: str, paths: dict[str, Path | None]
) -> str:
    missing = ", ".join(name for name, path in paths.items() if path is None)
    if not place.exists():
        what = f"{place} is not there"
    elif any(paths.values()):
        what = f"{place} lacks {missing} (each may be gzipped)"
    else:
        what = f"{place} has neither {source.npz} nor the four IDX files"
    call = f"{source.function}({path_text}{', ' if path_text else ''}download=True)"
    return (
        f"{what}. Give {source.function}() the path of {source.npz}, or of a folder with it or with "
        f"the four IDX files ({', '.join(IDX_NAMES)}; gzipped or not), or download it there: {call}."
    )


def _checked(place: Path, split: Split) -> Split:
    """The arrays, labels as uint8, if they can be images and their labels."""
    (x_train, y_train), (x_test, y_test) = split
    return (
        (_images(place, "training", x_train), _labels(place, "training", y_train, len(x_train))),
        (_images(place, "test", x_test), _labels(place, "test", y_test, len(x_test))),
    )


def _images(place: Path, part: str, images: Array) -> Array:
    if images.dtype != np.uint8 or images.shape[1:] != (28, 28) or not len(images):
        raise DataFileError(
            f"{place}: the {part} images are {images.dtype} of shape {images.shape}; expected is "
            "uint8 of shape (n, 28, 28), with n of 1 or more. This is another data set, or its "
            "files were mixed up."
        )
    return images


def _labels(place: Path, part: str, labels: Array, count: int) -> Array:
    if labels.dtype.kind not in "iu" or labels.shape != (count,):
        raise DataFileError(
            f"{place}: the {part} labels are {labels.dtype} of shape {labels.shape}; expected are "
            f"whole numbers of shape ({count},), one for each of the {count:,} images. This is "
            "another data set, or its files were mixed up."
        )
    if not 0 <= labels.min() <= labels.max() <= 9:
        raise DataFileError(
            f"{place}: the {part} labels go from {labels.min()} to {labels.max()}; expected are 0 "
            "to 9. This is another data set."
        )
    return labels.astype(np.uint8)
