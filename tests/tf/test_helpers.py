"""Helpers of tf.keras that read and write files: get_file, pictures, texts, and logs for TensorBoard."""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapemagic import tf
from tapemagic.errors import (
    DownloadError,
    DtypeError,
    NotNumbersError,
    OptionError,
    ShapeError,
)

utils = tf.keras.utils


def served(folder: Path, name: str, content: bytes) -> str:
    """The address of a new file."""
    path = folder / name
    path.write_bytes(content)
    return path.as_uri()


def test_a_file_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second call reads the cache, unless the sum differs or force_download is given."""
    address = served(tmp_path, "data.txt", b"one")
    cache = {"cache_dir": tmp_path / "cache"}

    path = Path(utils.get_file("copy.txt", address, **cache))
    assert path == tmp_path / "cache/datasets/copy.txt"
    assert path.read_bytes() == b"one"
    assert capsys.readouterr().out == f"Downloading data from {address}\n"

    served(tmp_path, "data.txt", b"two")
    assert Path(utils.get_file("copy.txt", address, **cache)).read_bytes() == b"one"
    assert capsys.readouterr().out == ""
    digest = hashlib.sha256(b"two").hexdigest()
    assert (
        Path(utils.get_file("copy.txt", address, file_hash=digest, **cache)).read_bytes() == b"two"
    )
    md5 = hashlib.md5(b"two", usedforsecurity=False).hexdigest()
    utils.get_file("copy.txt", address, md5_hash=md5, force_download=True, **cache)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"origin": None}, OptionError, "needs an address"),
        ({"fname": "a/b.txt"}, OptionError, "the name of a file"),
        ({"file_hash": "0" * 64}, DownloadError, "another file than the expected one"),
        ({"origin": "file:///no/such/file.txt"}, DownloadError, "can't be downloaded"),
        ({"hash_algorithm": "crc", "file_hash": "0"}, OptionError, "must be 'auto'"),
        ({"extract": True}, DownloadError, "neither a tar nor a zip archive"),
    ],
)
def test_a_file_that_cannot_be_had(
    tmp_path: Path, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    """The error says what happened, and no part of the file is left in the cache."""
    address = served(tmp_path, "data.txt", b"one")
    given = {"fname": "data.txt", "origin": address, "cache_dir": tmp_path / "cache"} | options

    with pytest.raises(error, match=words):
        utils.get_file(**given)

    left = [path.name for path in tmp_path.glob("cache/datasets/*")]
    assert left in ([], ["data.txt"] if options.get("extract") else [])


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_archives(tmp_path: Path, kind: str) -> None:
    """They are unpacked into a folder; a path that leads out of it is refused, or loses its dots."""
    for name in ("inside.txt", "../outside.txt"):
        buffer = io.BytesIO()
        if kind == "tar":
            with tarfile.open(fileobj=buffer, mode="w") as archive:
                info = tarfile.TarInfo(name)
                info.size = 2
                archive.addfile(info, io.BytesIO(b"hi"))
        else:
            with zipfile.ZipFile(buffer, "w") as archive:
                archive.writestr(name, "hi")
        address = served(tmp_path, f"a.{kind}", buffer.getvalue())
        options = {"extract": True, "cache_dir": tmp_path / "cache", "force_download": True}
        if name.startswith("..") and kind == "tar":
            with pytest.raises(DownloadError, match="can't be unpacked"):
                utils.get_file("b.tar", address, **options)
        else:
            folder = Path(utils.get_file(f"b.{kind}", address, **options))
            assert folder.name == "b_extracted"
            assert (folder / Path(name).name).read_text() == "hi"
    assert not (tmp_path / "cache/datasets/outside.txt").exists()


def test_pictures(tmp_path: Path) -> None:
    """A picture goes to a file and back; sizes and colors follow Keras's rules."""
    pytest.importorskip("PIL")
    pixels = np.arange(48.0, dtype="float32").reshape(4, 4, 3)
    utils.save_img(tmp_path / "x.png", pixels, scale=False)
    image = utils.load_img(tmp_path / "x.png")

    assert image.size == (4, 4)
    np.testing.assert_array_equal(utils.img_to_array(image), pixels)
    gray = utils.load_img(tmp_path / "x.png", color_mode="grayscale", target_size=(2, 8))
    assert utils.img_to_array(gray).shape == (2, 8, 1)
    cut = utils.load_img(tmp_path / "x.png", target_size=(2, 4), keep_aspect_ratio=True)
    np.testing.assert_array_equal(utils.img_to_array(cut), pixels[1:3])
    assert utils.array_to_img(pixels).getpixel((3, 3)) == (244, 249, 255)
    with pytest.raises(ShapeError, match=r"write x\[0\]"):
        utils.array_to_img(pixels[None])
    with pytest.raises(OptionError, match="color_mode"):
        utils.load_img(tmp_path / "x.png", color_mode="cmyk")


def test_a_tokenizer_as_json() -> None:
    """It comes back with all counts; Keras reads the same text."""
    text = tf.keras.preprocessing.text
    tokenizer = text.Tokenizer(num_words=4, oov_token="?")  # noqa: S106 (no password)
    tokenizer.fit_on_texts(["b a a", ["A", "c"]])
    copy = text.tokenizer_from_json(tokenizer.to_json())

    assert copy.get_config() == tokenizer.get_config()
    assert copy.texts_to_sequences(["a b c d"]) == [[2, 3, 1, 1]]
    np.testing.assert_allclose(copy.texts_to_matrix(["a a b"], "freq"), [[0, 0, 2 / 3, 1 / 3]])
    with pytest.raises(OptionError, match="fit_on_texts"):
        text.Tokenizer().texts_to_matrix(["a"])


def test_mixed_policies_are_refused() -> None:
    """A policy with two dtypes has no effect but rounding on a processor."""
    for call in (tf.keras.mixed_precision.set_global_policy, tf.keras.mixed_precision.Policy):
        with pytest.raises(DtypeError, match="write 'float32'"):
            call("mixed_float16")
    with pytest.raises(DtypeError, match="write 'float32'"):
        tf.keras.layers.Dense(1, dtype="mixed_bfloat16")
    assert tf.keras.mixed_precision.global_policy().name == "float32"


def test_logs_of_tensorboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each epoch is written by the package tensorboard; without it, the error says how to get it."""
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    with pytest.raises(ImportError, match="pip install tensorboard"):
        tf.keras.callbacks.TensorBoard(tmp_path)
    monkeypatch.undo()
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator"
    ).EventAccumulator
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    callback = tf.keras.callbacks.TensorBoard(tmp_path, histogram_freq=1)
    model.fit(
        np.ones((8, 2)), np.ones(8), epochs=2, validation_split=0.5, callbacks=[callback], verbose=0
    )
    for folder in ("train", "validation"):
        events = accumulator(str(tmp_path / folder))
        events.Reload()
        assert [event.step for event in events.Tensors("epoch_loss")] == [0, 1]


def test_a_layer_is_called_once_on_symbols() -> None:
    """Its variables, its added losses and the names of the model's operations are as before the call."""
    tf.keras.backend.clear_session()
    shapes = []

    class Counting(tf.keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.count = self.add_weight(initializer="zeros", trainable=False)

        def call(self, x: Any) -> Any:
            shapes.append(tuple(x.shape))
            self.count.assign_add(1.0)
            self.add_loss(tf.reduce_sum(x))
            return tf.reshape(x, (-1, 2)) * self.count

    class Stubborn(Counting):
        def call(self, x: Any) -> Any:
            return super().call(x) + float(tf.reduce_sum(x) * 0)

    for kind, calls in ((Counting, 1), (Stubborn, 3)):
        shapes.clear()
        layer = kind()
        inputs = tf.keras.Input((4,))
        outputs = layer(inputs)
        # A call that needs values is tried with zeros: at most once more for each length of the batch.
        assert shapes[0] == (None, 4)
        assert len(shapes) == calls
        assert (outputs.shape, outputs.dtype) == ((None, 2), "float32")
        assert layer.count.numpy() == 0
        assert not layer.losses
    model = tf.keras.Model(inputs, outputs * 2)
    assert [x.name for x in model.operations] == ["multiply"]
    model(np.ones((3, 4)))
    assert layer.count.numpy() == 1
    assert len(layer.losses) == 1


def test_strings_have_no_numbers() -> None:
    """Tensors of strings print in quotation marks, and are refused where numbers are needed."""
    words = tf.constant([["a", "b"], ["c", "d"]])
    out = io.StringIO()
    tf.print("x:", words, words[0, 1], tf.constant(list("abcdefgh")), output_stream=out)
    assert out.getvalue() == 'x: [["a" "b"]\n ["c" "d"]] "b" ["a" "b" "c" ... "f" "g" "h"]\n'
    for call in (
        lambda: words * 2,
        lambda: tf.add(words, 1.0),
        lambda: tf.Variable("a"),
        lambda: tf.sqrt(words),
    ):
        with pytest.raises(NotNumbersError):
            call()
    with pytest.raises(DtypeError, match=r"write float\(text\)"):
        tf.constant("1.5", tf.float32)
    with pytest.raises(NotNumbersError, match="as_string"):
        tf.strings.join(["a", 1])
    with pytest.raises(OptionError, match="rows of different lengths"):
        tf.strings.split(["a b", "c"])


def test_pictures_in_files(tmp_path: Path) -> None:
    """Bytes are decoded and encoded by Pillow; what isn't a picture says so."""
    image_module = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3)).astype("uint8")
    path = tmp_path / "new/x.png"
    tf.io.write_file(str(path), tf.io.encode_png(pixels))
    content = tf.io.read_file(str(path))

    assert content.dtype == tf.string
    np.testing.assert_array_equal(tf.image.decode_png(content), pixels)
    np.testing.assert_allclose(
        tf.image.decode_image(content, channels=3, dtype=tf.float32), pixels / np.float32(255)
    )
    assert tf.io.decode_image(content, channels=1).shape == (4, 5, 1)
    near = tf.image.decode_jpeg(tf.image.encode_jpeg(np.full((8, 8, 1), 90, "uint8")))
    np.testing.assert_allclose(near, np.full((8, 8, 1), 90), atol=2)
    for mode, channels in (("P", 3), ("1", 1)):
        image_module.new(mode, (2, 3)).save(tmp_path / "m.png")
        assert tf.image.decode_png(tf.io.read_file(str(tmp_path / "m.png"))).shape == (
            3,
            2,
            channels,
        )
    image_module.new("LA", (2, 3)).save(tmp_path / "m.png")
    with pytest.raises(OptionError, match="channels=3"):
        tf.image.decode_png(tf.io.read_file(str(tmp_path / "m.png")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format"):
        tf.image.decode_image(b"no picture")
    with pytest.raises(tf.errors.InvalidArgumentError, match="convert_image_dtype"):
        tf.io.encode_png(pixels / 255)
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.io.read_file("no.png")


ROWS = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
MATRICES = np.random.default_rng(1).normal(size=(5, 2, 3)).astype("float32")
WEIGHTS = tf.Variable(np.eye(3, dtype="float32") + 0.5)


@pytest.mark.parametrize(
    ("function", "elems", "at_once"),
    [
        (lambda x: x[0] * x + x[1] ** 2 - 1.0, ROWS, True),
        (lambda x: tf.reduce_sum(tf.sin(x) * x) / 2, ROWS, True),
        (lambda x: tf.reduce_max(x, axis=[0, -1], keepdims=True) - x, MATRICES, True),
        (lambda pair: tf.matmul(pair[0], WEIGHTS) + pair[1], (MATRICES, ROWS), True),
        (lambda x: {"a": 2 - x, "b": x[::-1]}, ROWS, True),
        (lambda x: x[:, None] * x[None, :], ROWS, True),
        (lambda x: x * WEIGHTS, ROWS, True),
        (lambda x: WEIGHTS * x, ROWS, False),  # the operator is that of the variable
        (lambda _x: tf.constant([1.0, 2.0]), ROWS, True),
        (lambda x: tf.nn.relu(x @ WEIGHTS), MATRICES, True),
        (lambda x: x if x[0] > 0 else -x, ROWS, False),
        (lambda x: x * float(x[0]), ROWS, False),
        (lambda x: np.sin(x) * 2, ROWS, False),
        (lambda x: tf.linalg.norm(x) * x, ROWS, False),
    ],
)
def test_slices_at_once(function: Any, elems: Any, at_once: bool) -> None:
    """What is computed for all slices is what a call for each gives, with its gradient."""
    calls = []

    def counted(x: Any) -> Any:
        calls.append(x)
        return function(x)

    sources = tf.nest.map_structure(tf.constant, elems)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        found = tf.nest.flatten(tf.vectorized_map(counted, sources))
        expected = tf.nest.flatten(tf.map_fn(function, sources))
    assert (len(calls) == 2) == at_once
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-5)
    for source in tf.nest.flatten(sources):
        pair = [tape.gradient(y, source, unconnected_gradients="zero") for y in (found, expected)]
        np.testing.assert_allclose(*pair, rtol=1e-4, atol=1e-6)


def test_random_numbers_differ_between_slices() -> None:
    """A draw is not shared by all slices."""
    found = tf.vectorized_map(lambda x: x * 0 + tf.random.normal((3,)), ROWS).numpy()
    assert len(np.unique(found)) == found.size
