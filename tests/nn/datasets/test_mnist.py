"""MNIST and Fashion-MNIST from files that the tests make, whole ones and others."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapemagic.errors import DataFileError, DownloadError, MissingDataError, OptionError
from tapemagic.nn.datasets import fashion_mnist, load_mnist, mnist
from tapemagic.nn.datasets.idx import read_idx
from tapemagic.nn.datasets.load_mnist import IDX_NAMES
from tapemagic.nn.datasets.npz import NAMES
from tapemagic.nn.datasets.source import FASHION_MNIST, MNIST, Download, Source, cache_folder
from tests.nn.datasets.server import names, running

RANDOM = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {
    "x_train": RANDOM.integers(0, 256, (7, 28, 28), np.uint8),
    "y_train": RANDOM.integers(0, 10, 7, np.uint8),
    "x_test": RANDOM.integers(0, 256, (3, 28, 28), np.uint8),
    "y_test": RANDOM.integers(0, 10, 3, np.uint8),
}
CODES = {"u1": 0x08, "i1": 0x09, ">i2": 0x0B, ">i4": 0x0C, ">f4": 0x0D, ">f8": 0x0E}


def idx(array: np.ndarray, code: str = "u1") -> bytes:
    """An array in the IDX format."""
    sizes = np.array(array.shape, ">u4").tobytes()
    return bytes([0, 0, CODES[code], array.ndim]) + sizes + array.astype(code).tobytes()


def write_idx(folder: Path, ending: str = "", **changed: bytes) -> Path:
    """The four files, some of them with another content."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, name in zip(IDX_NAMES, NAMES, strict=True):
        content = changed.get(name, idx(ARRAYS[name]))
        packed = gzip.compress(content, mtime=0) if ending == ".gz" else content
        (folder / f"{file}{ending}").write_bytes(packed)
    return folder


def write_npz(path: Path, save: Callable[..., None] = np.savez, **changed: Any) -> Path:
    """Keras's file, with other arrays in the place of some; None leaves one out."""
    arrays = {name: x for name, x in (ARRAYS | changed).items() if x is not None}
    save(path, **arrays)
    return path


def assert_loaded(split: Any) -> None:
    """Everything is there, as it was written."""
    (x_train, y_train), (x_test, y_test) = split
    for name, array in zip(NAMES, (x_train, y_train, x_test, y_test), strict=True):
        assert np.uint8 == array.dtype
        assert array.flags.writeable
        np.testing.assert_array_equal(ARRAYS[name], array, err_msg=name)


@pytest.mark.parametrize("load", [mnist, fashion_mnist])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_idx_files(tmp_path: Path, load: Callable[..., Any], ending: str) -> None:
    """The four files of a folder, gzipped or not."""
    assert_loaded(load(write_idx(tmp_path, ending)))


def test_names_with_a_dot(tmp_path: Path) -> None:
    """Some tools unpack the files to names with a dot before idx, and some files come gzipped."""
    write_idx(tmp_path)
    (tmp_path / IDX_NAMES[0]).rename(tmp_path / "train-images.idx3-ubyte")
    packed = gzip.compress((tmp_path / IDX_NAMES[3]).read_bytes())
    (tmp_path / IDX_NAMES[3]).unlink()
    (tmp_path / "t10k-labels.idx1-ubyte.gz").write_bytes(packed)

    assert_loaded(mnist(tmp_path))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_file(tmp_path: Path, save: Callable[..., None]) -> None:
    """Keras's file by itself under any name, or its folder; more arrays in it do not matter."""
    path = write_npz(tmp_path / "mnist.npz", save, more=np.array(["text"], object))

    assert_loaded(mnist(path))
    assert_loaded(mnist(str(tmp_path)))
    assert_loaded(fashion_mnist(path))


def test_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path the data are in a folder of the cache, which a variable names."""
    monkeypatch.setenv("TAPEMAGIC_DATA", str(tmp_path))
    write_npz(write_idx(tmp_path / "mnist") / "mnist.npz")
    write_idx(tmp_path / "fashion-mnist", ".gz")

    assert_loaded(mnist())
    assert_loaded(fashion_mnist())


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {}, "HOME/.cache/tapemagic"),
        ("linux", {"XDG_CACHE_HOME": "/c"}, "/c/tapemagic"),
        ("darwin", {}, "HOME/Library/Caches/tapemagic"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/tapemagic"),
        ("win32", {}, "HOME/AppData/Local/tapemagic"),
        ("linux", {"TAPEMAGIC_DATA": "~/data"}, "HOME/data"),
    ],
)
def test_where_the_cache_is(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], folder: str
) -> None:
    """Each system has its own place for caches."""
    monkeypatch.setattr("sys.platform", platform)
    for name in ("TAPEMAGIC_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert Path(folder.replace("HOME", str(Path.home()))) == cache_folder()


def test_normalized(tmp_path: Path) -> None:
    """From 0 to 1 in float32; labels stay what they are."""
    (x_train, y_train), (x_test, _) = mnist(write_idx(tmp_path), normalize=True)

    assert np.float32 == x_train.dtype == x_test.dtype
    np.testing.assert_allclose(ARRAYS["x_train"] / 255, x_train, rtol=1e-7)
    np.testing.assert_array_equal(ARRAYS["y_train"], y_train)


def test_labels_of_another_dtype(tmp_path: Path) -> None:
    """Whole numbers from 0 to 9 are labels, and come as uint8."""
    assert_loaded(mnist(write_npz(tmp_path / "a.npz", y_train=ARRAYS["y_train"].astype(int))))


@pytest.mark.parametrize("code", CODES)
def test_every_type_of_idx(tmp_path: Path, code: str) -> None:
    """All dtypes of the format and any number of dimensions, in this machine's byte order."""
    array = np.arange(-12, 12).reshape(2, 3, 4) % 100
    for wanted in (array, np.array(5), array[:0]):
        (tmp_path / "x").write_bytes(idx(wanted, code))
        found = read_idx(tmp_path / "x")

        assert found.dtype.isnative
        assert np.dtype(code).newbyteorder("=") == found.dtype
        assert wanted.shape == found.shape
        np.testing.assert_array_equal(wanted, found)


IMAGES = idx(ARRAYS["x_train"])
LABELS = idx(ARRAYS["y_train"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "isn't an IDX file: .* it is empty"),
        (b"<!DOCTYPE html><html>", "isn't an IDX file: .*begins with b'<!DOCTYP'.*web page"),
        (b"\0\0\x07\x01\0\0\0\1x", "isn't an IDX file"),
        (b"\0\0\x08", "isn't an IDX file"),
        (b"\0\0\x08\x03\0\0\0\1", "is truncated: the header has 16 bytes, the file 8"),
        (IMAGES[:-1], r"is truncated: .*uint8 of shape \(7, 28, 28\), so 5,504 bytes; it has 5,503"),
        (IMAGES[:16], "is truncated"),
        (IMAGES + b"x", "is longer than it says"),
        (b"\0\0\x08\xff" + b"\xff" * 1020, "is truncated"),
        (gzip.compress(IMAGES)[:-1], "is truncated: its gzipped content ends"),
        (gzip.compress(IMAGES)[:200], "is truncated: its gzipped content ends"),
        (gzip.compress(IMAGES[:-1]), "5,503 once it is unpacked. Copy or download it again"),
        (gzip.compress(IMAGES) + b"rubbish", "is corrupt: it can't be unpacked"),
        (b"\x1f\x8b" + b"rubbish" * 10, "is corrupt: it can't be unpacked"),
        (LABELS, r"training images must be uint8 of shape \(n, 28, 28\), not uint8 of shape \(7,\)"),
        (idx(ARRAYS["x_train"][:, :8, :8]), r"uint8 of shape \(7, 8, 8\)"),
        (idx(ARRAYS["x_train"], ">f4"), "training images must be .* not float32"),
        (idx(ARRAYS["x_train"][:0]), r"must be .* not uint8 of shape \(0, 28, 28\)"),
        (idx(ARRAYS["x_train"][:6]), r"labels must be .* each of the 6 images, not uint8 of shape \(7,\)"),
    ],
)  # fmt: skip
def test_a_wrong_file_of_images(tmp_path: Path, content: bytes, message: str) -> None:
    """The error names the file, what was expected, what is there, and what to do."""
    write_idx(tmp_path, x_train=content)

    with pytest.raises(DataFileError, match=f"{tmp_path}.*{message}"):
        mnist(tmp_path)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (ARRAYS["y_train"] + 20, "training labels must be from 0 to 9, not from 2. to 2."),
        (ARRAYS["y_train"] - 10.0, "training labels must be .* not float64"),
        (ARRAYS["y_train"].astype(int) - 10, "labels must be from 0 to 9, not from -.* to -"),
        (np.eye(10)[ARRAYS["y_train"]], r"shape \(7,\), .* not float64 of shape \(7, 10\)"),
        (ARRAYS["y_train"].astype(object), "y_train in .* Object arrays cannot be loaded"),
        (None, "lacks y_train: it must have the arrays .* and has x_test, x_train, y_test"),
    ],
)
def test_wrong_labels(tmp_path: Path, labels: Any, message: str) -> None:
    """Labels that are none, arrays of Python objects among them."""
    path = write_npz(tmp_path / "mnist.npz", y_train=labels)

    with pytest.raises(DataFileError, match=message):
        mnist(path)


def test_no_object_is_made(tmp_path: Path) -> None:
    """A file whose arrays would run a program when they are unpickled runs none."""

    class Program:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "proof"),)

    path = write_npz(tmp_path / "mnist.npz", x_train=np.array([Program()], object))

    with pytest.raises(DataFileError):
        mnist(path)
    assert not (tmp_path / "proof").exists()


def damaged(content: bytes, seed: int) -> bytes:
    """A file cut off somewhere, or with some other bytes in the midst of it."""
    choose = random.Random(seed)  # noqa: S311
    at = choose.randrange(len(content))
    if seed % 4 == 0:
        return content[:at]
    return content[:at] + choose.randbytes(choose.choice([1, 4, 50])) + content[at + 1 :]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_damaged_npz_file(tmp_path: Path, save: Callable[..., None]) -> None:
    """Whatever the damage is, the arrays are whole or there is our error."""
    content = write_npz(tmp_path / "whole.npz", save).read_bytes()
    refused = 0
    for seed in range(300):
        path = tmp_path / f"{seed}.npz"
        path.write_bytes(damaged(content, seed))
        try:
            split = mnist(path)
        except DataFileError as error:
            assert str(path) in str(error)  # noqa: PT017
            refused += 1
        else:
            assert_loaded(split)

    assert refused > 200


def test_a_damaged_gzip_file(tmp_path: Path) -> None:
    """The same for a gzipped IDX file, by the checksum in it."""
    content = gzip.compress(IMAGES, mtime=0)
    write_idx(tmp_path, ".gz")
    for seed in range(300):
        (tmp_path / f"{IDX_NAMES[0]}.gz").write_bytes(damaged(content, seed))
        try:
            split = mnist(tmp_path)
        except DataFileError as error:
            assert IDX_NAMES[0] in str(error)  # noqa: PT017
        else:
            assert_loaded(split)


def test_nothing_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says where was looked, for what, and how to download it."""
    monkeypatch.setenv("TAPEMAGIC_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"mnist doesn't exist.*: mnist\(download=True\)\.$"):
        mnist()
    with pytest.raises(MissingDataError, match=r": fashion_mnist\('x.npz', download=True\)\.$"):
        fashion_mnist("x.npz")
    with pytest.raises(FileNotFoundError, match=r"has neither mnist\.npz nor the four IDX files"):
        mnist(tmp_path)
    (write_idx(tmp_path) / IDX_NAMES[2]).unlink()
    with pytest.raises(MissingDataError, match=f"{tmp_path} lacks {IDX_NAMES[2]} "):
        mnist(tmp_path)


@pytest.mark.parametrize("path", [5, True, ["a"]])
def test_a_path_that_is_none(path: Any) -> None:
    """A path is text or a path."""
    with pytest.raises(OptionError, match=r"path must be the path of an .npz file or a folder"):
        mnist(path)


def test_one_of_the_four_files(tmp_path: Path) -> None:
    """One file is not the data set: the error names the folder."""
    write_idx(tmp_path)

    with pytest.raises(OptionError, match=f"pass their folder, mnist.'{tmp_path}'"):
        mnist(tmp_path / IDX_NAMES[0])


def published(folder: Path, source: Source) -> Source:
    """A data set whose files are those of a folder."""
    return replace(
        source,
        downloads=tuple(
            Download(
                wanted.name,
                (folder / wanted.name).stat().st_size,
                hashlib.sha256((folder / wanted.name).read_bytes()).hexdigest(),
            )
            for wanted in source.downloads
        ),
    )


def test_downloading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are downloaded once, into the cache or where they are wanted, and then read there."""
    there = write_idx(tmp_path / "server", ".gz")
    write_npz(there / "mnist.npz")
    monkeypatch.setenv("TAPEMAGIC_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(load_mnist, "MNIST", published(there, MNIST))
    monkeypatch.setattr(load_mnist, "FASHION_MNIST", published(there, FASHION_MNIST))
    with running() as server:
        server.respond = lambda handler: handler.send_part((there / handler.path[1:]).read_bytes())
        asked: dict[str, Any] = {"download": True, "url": f"{server.url}/", "progress": False}

        assert_loaded(mnist(**asked))
        assert_loaded(mnist(**asked))
        assert_loaded(mnist(tmp_path / "my.npz", **asked))
        assert_loaded(mnist(there, **asked))
        assert ["/mnist.npz"] * 2 == server.paths

        server.paths.clear()
        shutil.copytree(there, tmp_path / "part", ignore=lambda *_: {f"{IDX_NAMES[1]}.gz"})
        assert_loaded(fashion_mnist(tmp_path / "part", **asked))
        assert [f"/{IDX_NAMES[1]}.gz"] == server.paths

        server.paths.clear()
        assert_loaded(fashion_mnist(**asked))
        assert [f"/{name}.gz" for name in IDX_NAMES] == server.paths
        with pytest.raises(OptionError, match="downloads four files: pass their folder"):
            fashion_mnist(tmp_path / "my2.npz", **asked)

        server.respond = lambda handler: handler.send(b"", status=404)
        with pytest.raises(DownloadError, match="404 Not Found"):
            mnist(tmp_path / "nowhere", **asked)
    assert_loaded(mnist())
    assert ["mnist.npz"] == names(tmp_path / "cache" / "mnist")


def test_a_file_of_the_users_is_not_replaced(tmp_path: Path) -> None:
    """A corrupt file is an error also where a download is allowed."""
    (tmp_path / "mnist.npz").write_bytes(b"mine")

    with pytest.raises(DataFileError, match=r"truncated or corrupt, or not an .npz file"):
        mnist(tmp_path, download=True)
    assert b"mine" == (tmp_path / "mnist.npz").read_bytes()


def test_an_encrypted_file(tmp_path: Path) -> None:
    """A zip file that wants a password."""
    path = write_npz(tmp_path / "mnist.npz")
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        content[archive.start_dir + 8] |= 1
    path.write_bytes(content)

    with pytest.raises(DataFileError, match="password"):
        mnist(path)
