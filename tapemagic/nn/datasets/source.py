"""Downloadable data sets: their files at Keras's address, the cache folder, and the form of results."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def cache_folder() -> Path:
    """Return ``$TAPEMAGIC_DATA``, or ``tapemagic`` in the system's folder for caches."""
    # The folders that each system's conventions name: %LOCALAPPDATA%, ~/Library/Caches, and the XDG base directory.
    if chosen := os.environ.get("TAPEMAGIC_DATA"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) / "tapemagic" if local else Path.home() / "AppData/Local/tapemagic"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/tapemagic"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tapemagic"


@dataclass(frozen=True)
class Download:
    """Name, length in bytes and SHA-256 sum of a file to download."""

    name: str
    size: int
    sha256: str


KERAS = "https://storage.googleapis.com/tensorflow/tf-keras-datasets"


@dataclass(frozen=True)
class Source:
    """Name, address and files of a data set of 28 × 28 images."""

    name: str
    url: str
    downloads: tuple[Download, ...]

    @property
    def npz(self) -> str:
        """The name of Keras's file."""
        return f"{self.name}.npz"

    @property
    def function(self) -> str:
        """The name of the function that loads the data set."""
        return self.name.replace("-", "_")


MNIST = Source(
    "mnist",
    KERAS,
    (
        Download(
            "mnist.npz",
            11_490_434,
            "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
        ),
    ),
)
FASHION_MNIST = Source(
    "fashion-mnist",
    KERAS,
    (
        Download(
            "train-images-idx3-ubyte.gz",
            26_421_880,
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        Download(
            "train-labels-idx1-ubyte.gz",
            29_515,
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        Download(
            "t10k-images-idx3-ubyte.gz",
            4_422_102,
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        Download(
            "t10k-labels-idx1-ubyte.gz",
            5_148,
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
)


Array = NDArray[Any]
Split = tuple[tuple[Array, Array], tuple[Array, Array]]
"""``(x_train, y_train), (x_test, y_test)``."""


def normalized(split: Split, max_pixel: int) -> Split:
    """Scale the images of a split to float32 from 0 to 1, where `max_pixel` is the maximum."""
    (x_train, y_train), (x_test, y_test) = split
    return (_normalized(x_train, max_pixel), y_train), (_normalized(x_test, max_pixel), y_test)


def _normalized(images: Array, max_pixel: int) -> Array:
    # Both operands are float32: a Python float would also do (NEP 50), but not a NumPy float64.
    return images.astype(np.float32) / np.float32(max_pixel)
