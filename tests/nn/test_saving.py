"""Weights in files, and copies of models."""

from __future__ import annotations

import copy
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tapemagic.errors import ModelError, OptionError, WeightsError

X = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")
Y = np.arange(12) % 3


def classifier(units: int = 5) -> nn.Sequential:
    """A compiled classifier."""
    model = nn.Sequential([nn.Input((4,)), nn.Dense(units, activation="relu"), nn.Dense(3)])
    model.compile(
        "adam", nn.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
    )
    return model


def functional() -> nn.Model:
    """A model with a shared layer, an operator with a variable, and outputs in a list."""
    x = nn.Input((4,))
    shared = nn.Dense(4)
    parts = np.split(shared(shared(x) * tm.Variable(2.0, dtype="float32")), 2, axis=1)
    return nn.Model({"x": x}, parts)


def trained(model: nn.Model) -> list[Any]:
    """The history and the weights after training, from a fixed seed on."""
    nn.set_random_seed(5)
    history = model.fit(X, Y, batch_size=5, epochs=2, verbose=0).history
    return [*history.values(), *model.get_weights()]


def same(a: list[Any], b: list[Any]) -> bool:
    """Whether all arrays of two lists are equal."""
    return len(a) == len(b) and all(map(np.array_equal, a, b))


COPIES: list[Callable[[Any], Any]] = [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]  # noqa: S301


def test_weights_by_paths(tmp_path: Path) -> None:
    """A file has an array for each variable, under its path, which NumPy's load reads."""
    model, other = classifier(), classifier()
    model.save_weights(tmp_path / "a.npz")
    other.load_weights(tmp_path / "a.npz")

    with np.load(tmp_path / "a.npz") as stored:
        assert list(stored) == [
            "layers/0/kernel",
            "layers/0/bias",
            "layers/1/kernel",
            "layers/1/bias",
        ]
    assert same(model.get_weights(), other.get_weights())
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_training_goes_on_from_a_file(tmp_path: Path) -> None:
    """With the state of the optimizer, training goes on as if it had not been interrupted."""
    model, other = classifier(), classifier()
    trained(model)
    model.save_weights(tmp_path / "a.npz", optimizer=True)
    other.load_weights(tmp_path / "a.npz", optimizer=True)

    assert same(trained(model), trained(other))


def test_weights_of_another_model(tmp_path: Path) -> None:
    """All differences are listed, and nothing is loaded."""
    classifier().save_weights(tmp_path / "a.npz")
    other = nn.Sequential([nn.Input((4,)), nn.Dense(6), nn.Dense(3, use_bias=False), nn.Dense(1)])
    before = other.get_weights()

    with pytest.raises(WeightsError) as caught:
        other.load_weights(tmp_path / "a.npz")

    assert str(caught.value).splitlines()[1:] == [
        "- missing: layers/2/kernel, layers/2/bias",
        "- not in the model: layers/1/bias",
        (
            "- with a different shape: layers/0/kernel (4, 5), expected (4, 6), layers/0/bias (5,), expected (6,), "
            "layers/1/kernel (5, 3), expected (6, 3)"
        ),
    ]
    assert same(before, other.get_weights())
    with pytest.raises(WeightsError, match="no variables yet"):
        nn.Sequential([nn.Dense(1)]).load_weights(tmp_path / "a.npz")
    with pytest.raises(WeightsError, match="no state of an optimizer"):
        classifier().load_weights(tmp_path / "a.npz", optimizer=True)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    """Broken files, other endings and missing ones are told apart; an unfinished file replaces nothing."""
    model = classifier()
    path = tmp_path / "a.npz"
    model.save_weights(path)
    whole = path.read_bytes()

    for content in (b"", b"text", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(WeightsError, match="is broken"):
            model.load_weights(path)
    with pytest.raises(OptionError, match=r"write 'w\.weights\.h5', or 'w\.npz'"):
        model.save_weights("w.h5")
    with pytest.raises(FileNotFoundError):
        model.load_weights(tmp_path / "b.npz")
    with pytest.raises(OSError, match="nowhere"):
        model.save_weights(tmp_path / "nowhere" / "a.npz")
    with pytest.raises(ModelError, match="no optimizer"):
        nn.Sequential([nn.Input((4,)), nn.Dense(1)]).save_weights(path, optimizer=True)


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_of_a_compiled_model_trains_alike(copied: Callable[[Any], Any]) -> None:
    """A copy has its own weights and optimizer, and goes on as the other one does."""
    model = classifier()
    trained(model)
    other = copied(model)
    before = other.get_weights()

    first = trained(model)
    assert same(before, other.get_weights())
    assert same(first, trained(other))


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_of_a_functional_model(copied: Callable[[Any], Any]) -> None:
    """Sharing, operators, names and symbolic tensors are copied; the layers are the copy's own."""
    model = functional()
    other = copied(model)

    assert same([y.numpy() for y in model({"x": X})], [y.numpy() for y in other({"x": X})])
    assert list(model.named_variables()) == list(other.named_variables())
    other.set_weights([0 * w for w in other.get_weights()])
    assert not np.any(other({"x": X})[0].numpy())
    assert np.any(model({"x": X})[0].numpy())
    assert nn.Model(other.inputs, other.outputs[0])(X).shape == (12, 2)


def test_deep_models_are_copied() -> None:
    """Copies do not nest as deeply as the model does."""
    x = y = nn.Input((2,))
    for _ in range(400):
        y = y + 1
    model = nn.Model(x, y)

    for copied in COPIES:
        assert copied(model)(np.zeros((1, 2))).numpy()[0, 0] == 400


def test_a_shallow_copy_shares_layers() -> None:
    """copy.copy gives a model of its own with the same layers."""
    model = classifier()
    other = copy.copy(model)
    other.add(nn.Dense(1))

    assert (len(model.layers), len(other.layers)) == (2, 3)
    assert model.layers[0] is other.layers[0]
    assert (model.output_shape, other.output_shape) == ((None, 3), (None, 1))


def test_a_clone_begins_anew() -> None:
    """A clone has the layers of a model, and values drawn anew by their initializers."""
    nn.set_random_seed(0)
    model = nn.Sequential([nn.Input((4,)), nn.Dense(2), nn.Dense(2, kernel_initializer="ones")])
    model.set_weights([w + 5 for w in model.get_weights()])
    clone = nn.models.clone_model(model)

    weights = clone.get_weights()
    assert np.all(np.abs(weights[0]) < 2)
    assert np.ptp(weights[0]) > 0
    assert np.all(weights[2] == 1)
    assert not clone.compiled
    assert [layer.name for layer in clone.layers] == [layer.name for layer in model.layers]


class Tree(nn.Module):
    """A module that refers to the one around it."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__()
        self.parent = parent
        self.own = tm.Variable(1.0)


def test_modules_in_lists_dicts_and_cycles() -> None:
    """Variables are found through lists, dicts, tuples and cycles, each once, under the first path to it."""
    root: Any = Tree()
    root.children = {"left": [Tree(root), (Tree(root),)], "again": root}
    root.more = [root.children["left"], root.own, 3, None, "text"]

    expected = ["own", "children/left/0/own", "children/left/1/0/own"]
    assert list(root.named_variables()) == expected
    for copied in COPIES:
        other = copied(root)
        assert list(other.state()) == expected
        assert other.children["left"][0].parent is other
        other.load_state(dict.fromkeys(expected, 7.0))
        assert [v.numpy() for v in other.variables] == [7, 7, 7]
    assert root.own.numpy() == 1


def test_hostile_names(tmp_path: Path) -> None:
    """Names that mean something to others, and keys that look the same as text, lose no variable."""
    module = nn.Module()
    module.file = tm.Variable(1.0)
    module.allow_pickle = {1: tm.Variable(2.0), "1": tm.Variable(3.0), "../x y": nn.Dense(1)}
    module.allow_pickle["../x y"].build((None, 1))
    module.again = {"a/b": tm.Variable(4.0), "a": {"b": tm.Variable(5.0)}}
    module.models = {1: Tree(), "1": Tree()}

    names = list(module.named_variables())
    assert names[:3] == ["file", "allow_pickle/1", "allow_pickle/1:2"]
    assert len(names) == len(module.variables) == 9
    module.save_weights(tmp_path / "a.npz")
    module.save_weights(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    expected = module.state()
    module.load_state(
        dict.fromkeys(expected, 0.0)
        | {"allow_pickle/../x y/kernel": [[0.0]], "allow_pickle/../x y/bias": [0.0]}
    )
    module.load_weights(tmp_path / "a.npz")
    assert same(list(expected.values()), list(module.state().values()))


def test_broken_files_change_nothing(tmp_path: Path) -> None:
    """A file that is cut, changed, or made to look huge is refused, whatever is wrong with it."""
    layer = nn.Dense(2)
    layer.build((None, 3))
    path = tmp_path / "a.npz"
    layer.save_weights(path)
    whole, values = path.read_bytes(), layer.get_weights()
    data = whole.index(values[0].tobytes())
    broken = [whole[:n] for n in range(0, len(whole), 31)]
    broken.append(whole[:data] + b"\xff" + whole[data + 1 :])
    broken.append(whole.replace(b"(3, 2)", b"(9, 2)"))

    for content in broken:
        path.write_bytes(content)
        with pytest.raises(WeightsError, match=r"can't be read: it is broken"):
            layer.load_weights(path)
    assert same(values, layer.get_weights())


def test_huge_arrays_are_refused_unread(tmp_path: Path) -> None:
    """The header of an array is enough to see that it does not fit."""
    layer = nn.Dense(1, use_bias=False)
    layer.build((None, 3))
    path = tmp_path / "a.npz"
    header = {"descr": "<f4", "fortran_order": False, "shape": (2**40, 1)}
    for length, message in [(2**22, "has .* bytes, not"), (None, "with a different shape: kernel")]:
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open("kernel.npy", "w") as entry,
        ):
            rows = 2**40 if length else 2**20
            np.lib.format.write_array_header_1_0(entry, {**header, "shape": (rows, 1)})
            entry.write(bytes(2**22))
        with pytest.raises(WeightsError, match=message):
            layer.load_weights(path)


@pytest.mark.parametrize("key", ["a\0b", "\ud800", "x" * 70_000])
def test_names_that_no_file_holds(tmp_path: Path, key: str) -> None:
    """They are refused, before two of them become one."""
    module = nn.Module()
    module.parts = {key: tm.Variable(1.0)}

    with pytest.raises(OptionError, match="a file can't store the name 'parts/"):
        module.save_weights(tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    """A file that is written anew keeps who may read it; a link still leads to it."""
    layer = nn.Dense(1)
    layer.build((None, 1))
    path, link = tmp_path / "a.npz", tmp_path / "link.npz"
    layer.save_weights(path)
    path.chmod(0o600)
    link.symlink_to(path.name)
    layer.save_weights(link)

    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_variable_keeps_its_kind_of_numbers() -> None:
    """Values that do not fit into a variable's dtype are refused."""
    layer = nn.Dense(1)
    layer.build((None, 1))

    with pytest.raises(
        WeightsError, match="with a different kind of dtype: kernel complex128, expected float32"
    ):
        layer.load_state({"kernel": np.ones((1, 1), complex), "bias": [0.0]})


def test_layers_around_layers_and_cells(tmp_path: Path) -> None:
    """Loops around cells, both directions, attention and all kernels are the same after a file."""
    i = nn.Input((8, 8, 3))
    h = nn.Conv2DTranspose(4, 3, strides=2, padding="same", output_padding=1)(i)
    h = nn.SeparableConv2D(4, 3, depth_multiplier=2)(h)
    h = nn.GroupNormalization(2)(nn.DepthwiseConv2D(3, depthwise_constraint="non_neg")(h))
    h = nn.Reshape((-1, 4))(nn.AlphaDropout(0.1)(nn.SpatialDropout2D(0.2)(h)))[:, :6]
    h = nn.AdditiveAttention()([h, nn.Attention(use_scale=True)([h, h])])
    h = nn.RNN([nn.LSTMCell(3), nn.GRUCell(2)], return_sequences=True)(h)
    other = nn.LSTM(2, go_backwards=True, activation="relu")
    outputs = [
        nn.Bidirectional(nn.GRU(3), merge_mode="ave")(h),
        nn.Bidirectional(nn.LSTM(2), backward_layer=other)(h),
        nn.TimeDistributed(nn.Dense(2))(h),
    ]
    model = nn.Model(i, outputs)
    x = np.random.default_rng(0).normal(size=(2, 8, 8, 3))
    model.save(tmp_path / "model.keras")
    again = nn.saving.load_model(tmp_path / "model.keras")

    for ours, theirs in zip(model(x), again(x), strict=True):
        assert np.array_equal(ours, theirs)
