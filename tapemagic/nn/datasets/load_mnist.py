"""MNIST and Fashion-MNIST, from local files or downloaded."""

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

MAX_PIXEL = 255
IDX_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
"""The names of the four files, in the order of Keras's four arrays."""


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

    From Y. LeCun, C. Cortes and C. Burges, "The MNIST database of handwritten digits" (1998), CC BY-SA 3.0: Keras's
    ``mnist.npz``, or four IDX files (``train-images-idx3-ubyte`` and so on, also ``train-images.idx3-ubyte``), each
    gzipped or not.

    Parameters
    ----------
    path : str or os.PathLike, optional
        An ``.npz`` file, or the folder with it or with the four files. The default is the cache: ``mnist`` in
        ``$TAPEMAGIC_DATA`` if that is set, otherwise in ``~/.cache/tapemagic`` (or ``$XDG_CACHE_HOME/tapemagic``) on
        Linux, ``~/Library/Caches/tapemagic`` on macOS, and ``%LOCALAPPDATA%/tapemagic`` on Windows.
    download : bool, optional
        Download Keras's file, of 11 MB, if it's missing. An interrupted download is resumed, and the SHA-256 sum is
        verified.
    url : str, optional
        The http(s) address of another folder with the same ``mnist.npz``.
    normalize : bool, optional
        Return pixels as float32 from 0 to 1 instead of uint8 from 0 to 255.
    progress : bool, optional
        Show a progress bar during a download.
    timeout : float, optional
        The number of seconds that a server may be silent.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of numpy.ndarray
        Images of shape (60000, 28, 28) and (10000, 28, 28), uint8 or float32; labels, uint8 from 0 to 9. A file with
        fewer images returns fewer.

    Raises
    ------
    tapemagic.errors.MissingDataError
        If there is no such file, and ``download`` is false.
    tapemagic.errors.DataFileError
        If a file is truncated or corrupt, or has other contents.
    tapemagic.errors.DownloadError
        If the file can't be downloaded, or has other contents.
    tapemagic.errors.OptionError
        For an invalid path or address.

    Examples
    --------
    ::

        (x_train, y_train), (x_test, y_test) = mnist(download=True, normalize=True)
        mnist("~/.keras/datasets/mnist.npz")  # Keras's own cache

    >>> from tapemagic.nn.datasets import mnist
    >>> mnist("no-such-folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tapemagic.errors.MissingDataError: no-such-folder doesn't exist. Pass mnist() the path of mnist.npz, ...
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

    From H. Xiao, K. Rasul and R. Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning
    Algorithms" (2017, arXiv 1708.07747), of Zalando SE, MIT licence. The labels: 0 T-shirt or top, 1 trousers,
    2 pullover, 3 dress, 4 coat, 5 sandal, 6 shirt, 7 sneaker, 8 bag, 9 ankle boot.

    See `mnist` for the result, the errors, and the other parameters.

    Parameters
    ----------
    path : str or os.PathLike, optional
        The folder with the four IDX files (``train-images-idx3-ubyte`` and so on), each gzipped or not, or with a
        ``fashion-mnist.npz`` that has the arrays of Keras's ``mnist.npz``; or such an ``.npz`` file. The default is
        ``fashion-mnist`` in the cache.
    download : bool, optional
        Download the four files, of 31 MB, if one is missing.
    url : str, optional
        The http(s) address of another folder with the same gzipped files.

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
    return normalized(split, MAX_PIXEL) if normalize else split


def _path(source: Source, path: Any) -> Path:
    try:
        return Path(path).expanduser()
    except (TypeError, RuntimeError) as error:
        raise OptionError(
            f"path must be the path of an .npz file or a folder, not {path!r}: write "
            f"{source.function}('data/{source.name}')."
        ) from error


def _download(source: Source, place: Path, url: str | None, progress: bool, timeout: float) -> None:
    """Download the missing files, unless the data set exists in another form."""
    # Imported here, because urllib and http are slow to import, and most programs never download.
    from tapemagic.nn.datasets.download import download_file

    if place.is_file() or (place / source.npz).is_file():
        return
    if all(_find(place, name) for name in IDX_NAMES):
        return
    to_file = place.suffix == ".npz" and not place.is_dir()
    if to_file and source.npz not in {file.name for file in source.downloads}:
        raise OptionError(
            f"{place} doesn't exist, and {source.function}() downloads four files: pass their folder, "
            f"as in {source.function}({str(place.parent)!r}, download=True)."
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
    """Find a file under one of its usual names: with a dot or a hyphen, gzipped or not."""
    # The original names have a hyphen; some copies, such as Kaggle's, have a dot.
    dotted = name.replace("-idx", ".idx")
    for candidate in (name, dotted, f"{name}.gz", f"{dotted}.gz"):
        if (folder / candidate).is_file():
            return folder / candidate
    return None


def _read(source: Source, place: Path, path_text: str) -> Split:
    """Read the arrays in a file or a folder."""
    if place.is_file():
        if place.suffix != ".npz":
            raise OptionError(
                f"{place} isn't an .npz file: for the four IDX files, pass their folder, "
                f"{source.function}({str(place.parent)!r})."
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
        what = f"{place} doesn't exist"
    elif any(paths.values()):
        what = f"{place} lacks {missing} (each may be gzipped)"
    else:
        what = f"{place} has neither {source.npz} nor the four IDX files"
    call = f"{source.function}({path_text}{', ' if path_text else ''}download=True)"
    return (
        f"{what}. Pass {source.function}() the path of {source.npz}, or of a folder with it or with "
        f"the four IDX files ({', '.join(IDX_NAMES)}; gzipped or not), or download it: {call}."
    )


def _checked(place: Path, split: Split) -> Split:
    """Return the arrays, labels as uint8, or raise DataFileError unless they are images and labels."""
    (x_train, y_train), (x_test, y_test) = split
    return (
        (_images(place, "training", x_train), _labels(place, "training", y_train, len(x_train))),
        (_images(place, "test", x_test), _labels(place, "test", y_test, len(x_test))),
    )


def _images(place: Path, part: str, images: Array) -> Array:
    if images.dtype != np.uint8 or images.shape[1:] != (28, 28) or not len(images):
        raise DataFileError(
            f"{place}: the {part} images must be uint8 of shape (n, 28, 28), not {images.dtype} of "
            f"shape {images.shape}. This is another data set, or its files were mixed up."
        )
    return images


def _labels(place: Path, part: str, labels: Array, count: int) -> Array:
    if labels.dtype.kind not in "iu" or labels.shape != (count,):
        raise DataFileError(
            f"{place}: the {part} labels must be integers of shape ({count},), one for each of the "
            f"{count:,} images, not {labels.dtype} of shape {labels.shape}. This is another data set, "
            "or its files were mixed up."
        )
    if not 0 <= labels.min() <= labels.max() <= 9:
        raise DataFileError(
            f"{place}: the {part} labels must be from 0 to 9, not from {labels.min()} to "
            f"{labels.max()}. This is another data set."
        )
    # Keras's files store labels as uint8, but files that users wrote with np.savez may have int64.
    return labels.astype(np.uint8)
