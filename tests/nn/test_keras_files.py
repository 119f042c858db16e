"""Files that Keras wrote, and files in its format; tools/keras_files.py stores the first, and reads the second."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest

from tapemagic import nn, tf
from tapemagic.errors import ModelError, OptionError, WeightsError
from tapemagic.nn.configurable import KERAS_DEFAULTS
from tapemagic.nn.module import clear_names
from tests.nn.saved_cases import BUILDERS, inputs, objects, targets

STORED = Path(__file__).parent / "keras_files"
CONFIGS = json.loads((STORED / "configs.json").read_text())
LIBRARIES = pytest.mark.parametrize("k", [nn, tf.keras], ids=["nn", "tf.keras"])


@pytest.fixture(scope="module")
def values() -> Any:
    """What Keras predicts."""
    with np.load(STORED / "predictions.npz") as stored:
        return dict(stored)


def arrays(outputs: Any, name: str) -> dict[str, Any]:
    """The arrays of a structure by names."""
    if isinstance(outputs, dict):
        return {f"{name}/{key}": np.asarray(x) for key, x in outputs.items()}
    return {name: np.asarray(outputs)}


def trained(model: Any, name: str) -> Any:
    """A model after two steps."""
    if targets(name) is not None:
        model.fit(inputs(name), targets(name), shuffle=False, batch_size=3, verbose=0)
    return model


def plain(config: Any) -> Any:
    """A config as JSON has it."""
    return json.loads(json.dumps(config))


SKIPPED = {"shared_object_id", "build_config", "compile_config", "attention_axes"}
"""Parts of a config that aren't compared: attention_axes are None or [1] in Keras, before and after building."""

WITHOUT_EFFECT = KERAS_DEFAULTS | {"activity_regularizer": None, "mask": None, "training": False}

FORGOTTEN = {"axis", "delta", "from_sorted_ids", "gain", "seed", "thresholds"}
"""Options that Keras's own get_config forgets in some classes, and that its constructors take."""


def differences(ours: Any, keras: Any, where: str = "") -> Iterator[str]:
    """Places where a config differs from Keras's, apart from options without effect."""
    if isinstance(ours, dict) and isinstance(keras, dict):
        for name in (ours.keys() - FORGOTTEN | keras.keys()) - SKIPPED:
            place = f"{where}/{name}"
            if name in ours and name in keras:
                yield from differences(ours[name], keras[name], place)
            elif name in ours:
                yield f"{place}: ours alone, {ours[name]}"
            elif keras[name] != (None if "_constraint" in name else WITHOUT_EFFECT.get(name, ...)):
                yield f"{place}: Keras's alone, {keras[name]}"
    elif isinstance(ours, list) and isinstance(keras, list) and len(ours) == len(keras):
        for number, (a, b) in enumerate(zip(ours, keras, strict=True)):
            yield from differences(a, b, f"{where}/{number}")
    elif isinstance(ours, float) and isinstance(keras, float):
        if not np.isclose(ours, keras, rtol=1e-6):
            yield f"{where}: {ours}, {keras}"
    elif ours != keras:
        yield f"{where}: {ours}, {keras}"


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_is_keras_own(name: str) -> None:
    """The config of each object has Keras's keys and values, and Keras's config creates an equal object."""
    obj = objects(nn)[name]
    ours, keras = plain(nn.saving.serialize_keras_object(obj)), CONFIGS[name]
    ours["config"]["name"] = keras["config"].get("name")
    if "name" not in keras["config"]:
        del ours["config"]["name"]
    assert list(differences(ours, keras)) == []

    again = plain(nn.saving.serialize_keras_object(nn.saving.deserialize_keras_object(keras)))
    assert list(differences(again, keras)) == []


def test_each_ignored_option_is_in_a_config_of_keras() -> None:
    """The table of options without effect has none that Keras doesn't store."""
    text = (STORED / "configs.json").read_text()
    assert [name for name in KERAS_DEFAULTS if f'"{name}":' not in text] == []


@LIBRARIES
@pytest.mark.parametrize("name", BUILDERS)
def test_a_file_of_keras(k: ModuleType, name: str, values: Any) -> None:
    """The model predicts what it does in Keras, and after two more steps: the optimizer's state is read, too."""
    model = k.models.load_model(STORED / f"{name}.keras")

    assert isinstance(model, k.Model)
    for key, x in arrays(model.predict(inputs(name), verbose=0), f"{name}/before").items():
        np.testing.assert_allclose(x, values[key], rtol=1e-5, atol=1e-6)
    if f"{name}/after" in "".join(values):
        after = trained(model, name).predict(inputs(name), verbose=0)
        for key, x in arrays(after, f"{name}/after").items():
            np.testing.assert_allclose(x, values[key], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", BUILDERS)
def test_a_file_has_keras_parts(name: str, tmp_path: Path) -> None:
    """A saved model has the arrays, under the same names and of the same types, and the config of Keras's file."""
    clear_names()
    model = trained(BUILDERS[name](nn), name)
    model.save(tmp_path / "a.keras")

    ours, keras = parts(tmp_path / "a.keras"), parts(STORED / f"{name}.keras")
    assert ours[0] == keras[0]
    assert list(differences(ours[1], keras[1])) == []
    compiled = [config.get("compile_config") or {} for _, config in (ours, keras)]
    assert list(differences(*compiled)) == []


def parts(path: Path) -> tuple[Any, Any]:
    """The shapes and dtypes of the arrays in a file, and its config."""
    with zipfile.ZipFile(path) as archive:
        # NumPy calls the operator / divide, and Keras true_divide.
        config = json.loads(archive.read("config.json").replace(b'"true_divide', b'"divide'))
        content = io.BytesIO(archive.read("model.weights.h5"))
    found = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = (item.shape, item.dtype)

    with h5py.File(content) as file:
        file.visititems(visit)
    return found, config


@LIBRARIES
@pytest.mark.parametrize("name", BUILDERS)
def test_a_model_read_back_goes_on_alike(k: ModuleType, name: str, tmp_path: Path) -> None:
    """A model from a file has equal weights and predictions, and trains on as the other does."""
    model = trained(BUILDERS[name](k), name)
    model.save(tmp_path / "a.keras")
    other = k.models.load_model(tmp_path / "a.keras")

    assert type(other) is type(model)
    assert list(other.named_variables()) == list(model.named_variables())
    assert model.compiled == other.compiled
    results = []
    for each in (model, other):
        # The generator of the perceptron's Dropout isn't part of a file, so it isn't trained again.
        after = each if name == "perceptron" else trained(each, name)
        results.append(
            [*each.get_weights(), *arrays(after.predict(inputs(name), verbose=0), "").values()]
        )
    assert all(map(np.array_equal, *results))


def test_weights_of_keras(values: Any, tmp_path: Path) -> None:
    """A .weights.h5 file of Keras's is read, with the optimizer's state if the model is compiled, and written."""
    model = BUILDERS["perceptron"](nn)
    model.load_weights(STORED / "perceptron.weights.h5")
    predictions = model.predict(inputs("perceptron"), verbose=0)
    np.testing.assert_allclose(predictions, values["perceptron/before"], rtol=1e-5, atol=1e-6)
    assert int(model.optimizer.iterations) == 2

    model.save_weights(tmp_path / "a.weights.h5")
    other = BUILDERS["perceptron"](nn)
    other.load_weights(tmp_path / "a.weights.h5", optimizer=True)
    assert all(map(np.array_equal, model.get_weights(), other.get_weights()))
    assert all(
        map(
            np.array_equal,
            model.optimizer.get_state().values(),
            other.optimizer.get_state().values(),
        )
    )
    other.load_weights(STORED / "perceptron.keras")  # the weights in the file of a model


class Scale(nn.Layer):
    """A layer of the user's, whose config is derived from plain arguments."""

    def __init__(self, factor: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.times = factor

    def build(self, input_shape: Any) -> None:
        """Create the weight."""
        self.w = self.add_weight(input_shape[-1:], "ones", name="w")

    def call(self, inputs: Any) -> Any:
        """Scale."""
        return self.times * self.w * inputs


class Own(nn.Model):
    """A model with a method call, layers in a list and a dict, and a weight of its own."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.blocks = [nn.Dense(units), nn.Dense(4), [nn.Dense(4)]]
        self.zlast = nn.Dense(1)
        self.heads = {"a": nn.Dense(4)}
        self.shift = self.add_weight((4,), "ones", name="shift")

    def call(self, x: Any) -> Any:
        """Call all layers."""
        for block in (*self.blocks[:2], *self.blocks[2]):
            x = block(x)
        return self.zlast(self.heads["a"](x) + self.shift)


def gated(x: Any) -> Any:
    """An activation of the user's."""
    return x * np.tanh(x)


class Off(nn.losses.Loss):
    """A loss of the user's."""

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The distance."""
        return np.mean(np.abs(y_true - y_pred), axis=-1)


CUSTOM = {"Scale": Scale, "Own": Own, "gated": gated, "Off": Off}


def test_classes_of_the_user(tmp_path: Path) -> None:
    """Layers, models, losses and functions are found by name, among custom_objects alone."""
    model = nn.Sequential([nn.Input((4,)), Scale(2.0, name="s"), nn.Dense(2, activation=gated)])
    model.compile("sgd", Off(name="off"), metrics=[Off(), "mae"])
    x = inputs("perceptron")
    model.fit(x, np.ones((6, 2)), verbose=0)
    model.save(tmp_path / "a.keras")

    with pytest.raises(ModelError, match=r"the class 'Scale'.*custom_objects=\{'Scale': Scale\}"):
        nn.models.load_model(tmp_path / "a.keras")
    other = nn.models.load_model(tmp_path / "a.keras", custom_objects=CUSTOM)
    assert np.array_equal(model.predict(x, verbose=0), other.predict(x, verbose=0))
    assert isinstance(other.loss, Off)
    with nn.saving.custom_object_scope(CUSTOM):
        again = nn.models.model_from_json(model.to_json())
    assert again.layers[0].times == 2.0


def test_a_subclass_of_model(tmp_path: Path) -> None:
    """The weights of a subclass have Keras's paths; the model is created by its constructor and built."""
    model = Own(3)
    model.compile("adam", "mse")
    model.fit(inputs("perceptron"), np.ones((6, 1)), verbose=0)
    model.save(tmp_path / "a.keras")
    names = {name.partition("/vars")[0] for name in parts(tmp_path / "a.keras")[0]}
    # As Keras 3.15 writes them: attributes in alphabetical order, so that `layers` comes before `zlast`.
    assert names == {
        "blocks/dense", "blocks/dense_1", "blocks/container/dense", "heads/dense", "layers/dense_3",
        "optimizer", "vars",
    } - {"vars"} | {"vars/0"}  # fmt: skip

    other = nn.models.load_model(tmp_path / "a.keras", CUSTOM)
    assert all(map(np.array_equal, model.get_weights(), other.get_weights()))
    assert int(other.optimizer.iterations) == 1


def test_layers_that_are_shared(tmp_path: Path) -> None:
    """A layer in a model and in a model inside it stays one layer."""
    once, x, y = nn.Dense(4), nn.Input((4,)), nn.Input((4,))
    inner = nn.Model(y, once(y))
    model = nn.Model(x, inner(once(x)))
    model.save(tmp_path / "a.keras")
    other = nn.models.load_model(tmp_path / "a.keras")

    assert len(other.variables) == 2
    z = inputs("perceptron")
    assert np.array_equal(model.predict(z, verbose=0), other.predict(z, verbose=0))
    assert len(nn.Model.from_config(model.get_config()).variables) == 2
    assert (
        len(nn.models.model_from_json(json.dumps(plain(json.loads(model.to_json())))).variables)
        == 2
    )


def test_operations(tmp_path: Path) -> None:
    """Operators, indices and NumPy functions on symbolic tensors are stored as Keras's operations."""
    x = nn.Input((4, 3))
    parts_of = [
        np.exp(-x)[:, 0, ..., None][:, :, 0], np.mean(x, axis=1), np.sum(x, (1,), keepdims=False),
        np.maximum(x[:, 1], 0.5) ** 2 / 3, 1 - abs(x)[:, ::-1][:, -1], np.transpose(x, (0, 2, 1))[..., 0],
        np.reshape(x, (-1, 12))[:, 2:5], np.squeeze(np.expand_dims(x[:, 2], 1), axis=1), np.max(x, axis=1),
        x[:, 0] * np.array([1.0, 2.0, 3.0], "float32"),
    ]  # fmt: skip
    model = nn.Model(x, np.concatenate(parts_of, axis=-1))
    model.save(tmp_path / "a.keras")
    data = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")
    other = nn.models.load_model(tmp_path / "a.keras")
    assert np.array_equal(model.predict(data, verbose=0), other.predict(data, verbose=0))

    with pytest.raises(ModelError, match="can't contain the function Cumsum"):
        nn.Model(x, np.cumsum(x, axis=1)).save(tmp_path / "b.keras")


def rewritten(path: Path, **changes: Callable[[bytes], bytes]) -> None:
    """Change parts of a .keras file."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in content.items():
            change = changes.get(name.partition(".")[0])
            archive.writestr(name, part if change is None else change(part))


def replaced(old: str, new: str) -> Callable[[bytes], bytes]:
    """A change of a text."""
    return lambda content: content.replace(old.encode(), new.encode())


BROKEN: dict[str, tuple[dict[str, Callable[[bytes], bytes]], str]] = {
    "later": ({"metadata": replaced('"3.', '"4.')}, r"by Keras 4\.\d+\.\d+, and tapemagic reads files of Keras 3"),
    "earlier": ({"metadata": replaced('"3.', '"2.')}, "open it with Keras 3"),
    "a new class": (
        {"config": replaced('"Dropout"', '"Dropin"'), "metadata": replaced('"3.15', '"3.99')},
        r"contains a Dropin of keras\.layers.*written by Keras 3\.99",
    ),
    "a new option": (
        {"config": replaced('"noise_shape"', '"shape_of_noise"')},
        "the Dropout 'dropout', which can't be created.*'shape_of_noise'",
    ),
    "code": (
        {"config": replaced('"relu"', '{"class_name": "__lambda__", "config": {"value": ["4wE=", null, null]}}')},
        "contains the code of a lambda, and no code from a file is ever run",
    ),
    "a module": (
        {"config": replaced('"keras.layers", "class_name": "Dropout"', '"os", "class_name": "system"')},
        "the class 'system', which isn't one of Keras's",
    ),
    "a private name": (
        {"config": replaced('"class_name": "Dropout"', '"class_name": "Operation"')}, "Operation",
    ),
    "no JSON": ({"config": lambda content: content[:100]}, "its part 'config.json' isn't JSON"),
    "cut weights": ({"model": lambda content: content[: len(content) // 2]}, "can't be read: it's cut off or broken"),
    "no HDF5": ({"model": lambda _content: b"no"}, "can't be read: it's cut off or broken"),
    "other shapes": ({"config": replaced('"units":5', '"units":6')}, "with a different shape: layers/dense/vars/0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    """Each defect is named, and no model results."""
    changes, message = BROKEN[name]
    path = tmp_path / "a.keras"
    path.write_bytes((STORED / "perceptron.keras").read_bytes())
    rewritten(path, config=lambda c: json.dumps(json.loads(c)).encode())
    before = path.read_bytes()
    if name == "other shapes":
        changes = {"config": replaced('"units": 5', '"units": 6')}
    rewritten(path, **changes)
    assert path.read_bytes() != before, "the change changed nothing"
    with pytest.raises((ModelError, WeightsError), match=message):
        nn.models.load_model(path)


def test_every_cut_of_a_file_is_found(tmp_path: Path) -> None:
    """A file that ends early is refused, wherever it ends."""
    whole = (STORED / "images.keras").read_bytes()
    path = tmp_path / "a.keras"
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(WeightsError, match="cut off or broken"):
            nn.models.load_model(path)


def test_a_lambda_layer(tmp_path: Path) -> None:
    """Code in a file is refused by the name of the layer; a function that is passed takes its place."""
    model = nn.Sequential([nn.Input((4,)), nn.Lambda(gated, name="gate")])
    path = tmp_path / "a.keras"
    model.save(path)
    with pytest.raises(ModelError, match="the function 'gated'"):
        nn.models.load_model(path)
    x = inputs("perceptron")
    expected = model.predict(x, verbose=0)
    assert np.array_equal(nn.models.load_model(path, CUSTOM).predict(x, verbose=0), expected)

    code = '{"class_name": "__lambda__", "config": {"value": ["4wE=", null, null]}}'
    named = json.dumps(
        {
            "module": "builtins",
            "class_name": "function",
            "config": "gated",
            "registered_name": "function",
        }
    )
    rewritten(path, config=replaced(named, code))
    with pytest.raises(
        ModelError,
        match=r"the Lambda layer 'gate' with the code.*custom_objects=\{'gate': function\}",
    ):
        nn.models.load_model(path, safe_mode=False)
    other = nn.models.load_model(path, custom_objects={"gate": gated})
    assert np.array_equal(other.predict(x, verbose=0), expected)

    with pytest.raises(ModelError, match="the Lambda layer 'twice' has a lambda"):
        nn.Sequential([nn.Lambda(lambda x: 2 * x, name="twice")]).to_json()


def test_bad_paths(tmp_path: Path) -> None:
    """Wrong endings, folders, missing and existing files are told apart; nothing is overwritten."""
    model = BUILDERS["perceptron"](nn)
    path = tmp_path / "a.keras"
    for call, error, message in (
        (lambda: model.save(tmp_path / "net"), OptionError, r"write '.*net\.keras'"),
        (lambda: model.save("net.pb"), OptionError, r"write 'net\.keras'"),
        (lambda: model.save(path, save_format="tf"), OptionError, "save_format='tf'"),
        (lambda: model.save(None), OptionError, "must be the path of a file"),
        (
            lambda: model.save(tmp_path / "nowhere" / "a.keras"),
            FileNotFoundError,
            "can't be written.*nowhere",
        ),
        (lambda: nn.models.load_model(path), FileNotFoundError, r"there is no file '.*a\.keras'"),
        (lambda: nn.models.load_model(tmp_path), IsADirectoryError, "SavedModel"),
        (lambda: nn.models.load_model(tmp_path / "a.pb"), OptionError, r"stored in \.keras files"),
        (
            lambda: model.load_weights(tmp_path / "a.weights.h5"),
            FileNotFoundError,
            "there is no file",
        ),
        (lambda: model.save_weights("a.txt"), OptionError, r"\.npz"),
    ):
        with pytest.raises(error, match=message):
            call()
    model.save(path)
    before = path.read_bytes()
    for save in (model.save, lambda p, overwrite: nn.models.save_model(model, p, overwrite)):
        with pytest.raises(FileExistsError, match="overwrite=True"):
            save(path, overwrite=False)
    for name in ("a.weights.h5", "a.npz"):
        model.save_weights(tmp_path / name)
        with pytest.raises(FileExistsError, match="overwrite=True"):
            model.save_weights(tmp_path / name, overwrite=False)
    assert path.read_bytes() == before
    (tmp_path / "folder.keras").mkdir()
    with pytest.raises(IsADirectoryError, match="a folder has the name"):
        model.save(tmp_path / "folder.keras")
    assert sorted(x.name for x in tmp_path.iterdir()) == [
        "a.keras",
        "a.npz",
        "a.weights.h5",
        "folder.keras",
    ]


def test_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without permission, the error names the file and not the temporary one."""

    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise PermissionError(13, "Permission denied", "hidden")

    monkeypatch.setattr(Path, "open", refuse)  # tests may run as root, who may write anywhere
    with pytest.raises(PermissionError, match=r"can't be written: Permission denied: '.*a\.keras'"):
        BUILDERS["perceptron"](nn).save(tmp_path / "a.keras")


def test_weights_of_another_model_change_nothing() -> None:
    """Other shapes and other numbers of layers are listed, and neither weights nor state are changed."""
    path = STORED / "perceptron.weights.h5"
    small = nn.Sequential([nn.Input((4,)), nn.Dense(5), nn.BatchNormalization()])
    large = nn.Sequential(
        [nn.Input((4,)), nn.Dense(6), nn.BatchNormalization(), nn.Dense(3), nn.Dense(2)]
    )
    unbuilt = nn.Sequential([nn.Dense(3)])
    for model, message in (
        (small, "not in the model: layers/dense_1/vars/0, layers/dense_1/vars/1"),
        (
            large,
            r"(?s)missing: layers/dense_2/vars/0.*different shape: layers/dense/vars/0 \(4, 5\), expected \(4, 6\)",
        ),
        (unbuilt, "no variables yet"),
    ):
        model.compile("adam", "mse")
        before = model.get_weights()
        with pytest.raises(WeightsError, match=message):
            model.load_weights(path)
        assert all(map(np.array_equal, before, model.get_weights()))
        assert int(model.optimizer.iterations) == 0


def test_the_state_of_another_optimizer() -> None:
    """Weights are loaded and the state is omitted with a warning, or nothing is loaded if it's requested."""
    model = BUILDERS["perceptron"](nn)
    model.compile("sgd", "mse")
    before = model.get_weights()
    with pytest.raises(WeightsError, match="state of another optimizer than 'sgd"):
        model.load_weights(STORED / "perceptron.weights.h5", optimizer=True)
    assert all(map(np.array_equal, before, model.get_weights()))
    with pytest.warns(UserWarning, match="only the weights were loaded"):
        model.load_weights(STORED / "perceptron.weights.h5")
    assert not np.array_equal(before[0], model.get_weights()[0])
    assert int(model.optimizer.iterations) == 0


def test_links_in_a_file_are_refused(tmp_path: Path) -> None:
    """HDF5 files can refer to other files: none of these is opened."""
    model = BUILDERS["perceptron"](nn)
    path = tmp_path / "a.weights.h5"
    model.save_weights(path)
    with h5py.File(path, "a") as file:
        del file["layers/dense/vars/0"]
        file["layers/dense/vars/0"] = h5py.ExternalLink("/etc/passwd", "x")
    with pytest.raises(WeightsError, match="contains a link"):
        model.load_weights(path)


def test_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install, and which format needs nothing."""
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    model = BUILDERS["perceptron"](nn)
    for call in (
        lambda: model.save(tmp_path / "a.keras"),
        lambda: nn.models.load_model(STORED / "perceptron.keras"),
        lambda: model.load_weights(STORED / "perceptron.weights.h5"),
        lambda: nn.callbacks.ModelCheckpoint("a.keras"),
    ):
        with pytest.raises(ImportError, match="pip install h5py"):
            call()
    model.save_weights(tmp_path / "a.npz")


def test_checkpoints_of_both_kinds(tmp_path: Path) -> None:
    """ModelCheckpoint writes whole models or weights, which are read again."""
    model = BUILDERS["images"](nn)
    check = [
        nn.callbacks.ModelCheckpoint(tmp_path / "{epoch}.keras"),
        nn.callbacks.ModelCheckpoint(tmp_path / "{epoch}.weights.h5", save_weights_only=True),
    ]
    model.fit(inputs("images"), targets("images"), epochs=2, verbose=0, callbacks=check)
    whole = nn.models.load_model(tmp_path / "2.keras")
    weights = BUILDERS["images"](nn)
    weights.load_weights(tmp_path / "2.weights.h5")
    for other in (whole, weights):
        assert all(map(np.array_equal, model.get_weights(), other.get_weights()))
        assert int(other.optimizer.iterations) == 2


def test_an_unbuilt_model_and_no_compiling(tmp_path: Path) -> None:
    """A model without weights is saved with a warning; compile=False and include_optimizer=False omit the optimizer."""
    with pytest.warns(UserWarning, match="isn't built, so the file has none of its weights"):
        nn.Sequential([nn.Dense(3)]).save(tmp_path / "a.keras")
    assert not nn.models.load_model(tmp_path / "a.keras").built
    assert not nn.models.load_model(STORED / "perceptron.keras", compile=False).compiled
    BUILDERS["perceptron"](nn).save(tmp_path / "b.keras", include_optimizer=False)
    assert not nn.models.load_model(tmp_path / "b.keras").compiled


def test_a_changed_layer_is_saved_as_it_is(tmp_path: Path) -> None:
    """The config has current attributes, not the arguments of the constructor."""
    model = BUILDERS["perceptron"](nn)
    model.layers[0].activation = nn.activations.tanh
    model.layers[0].trainable = False
    model.layers[2].rate = 0.7
    model.optimizer.learning_rate = 0.25
    model.save(tmp_path / "a.keras")
    other = nn.models.load_model(tmp_path / "a.keras")
    assert other.layers[0].activation is nn.activations.tanh
    assert [layer.trainable for layer in other.layers] == [False, True, True, False]
    assert other.layers[2].rate == 0.7
    assert float(other.optimizer.learning_rate) == 0.25
    x = inputs("perceptron")
    assert np.array_equal(model.predict(x, verbose=0), other.predict(x, verbose=0))


def test_arguments_that_no_config_can_have() -> None:
    """A class whose arguments aren't plain needs its own get_config; registered names are used."""

    class Around(nn.Layer):
        def __init__(self, inner: Any, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.inner = inner

    with pytest.raises(NotImplementedError, match="created with inner="):
        Around(nn.Dense(2)).get_config()

    @nn.saving.register_keras_serializable("mine")
    class Within(Around):
        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "inner": nn.saving.serialize_keras_object(self.inner)}

        @classmethod
        def from_config(cls, config: Any) -> Any:
            inner = nn.saving.deserialize_keras_object(config.pop("inner"))
            return cls(inner, **config)

    config = plain(nn.saving.serialize_keras_object(Within(nn.Dense(2), name="w")))
    assert config["registered_name"] == "mine>Within"
    other = nn.saving.deserialize_keras_object(config)
    assert isinstance(other, Within)
    assert other.inner.units == 2
    assert other.name == "w"
    with pytest.raises(OptionError, match="no method get_config"):
        nn.saving.register_keras_serializable()(int)


@LIBRARIES
def test_a_clone_with_other_layers(k: ModuleType) -> None:
    """clone_function replaces the layers of models, once each; inputs and operators are copied."""

    def wider(layer: Any) -> Any:
        config = layer.get_config()
        if isinstance(layer, nn.Dropout):
            config["rate"] = 0.9
        return type(layer).from_config(config)

    for name in ("perceptron", "sequences", "images"):
        model = BUILDERS[name](k)
        other = k.models.clone_model(model, clone_function=wider)
        assert type(other) is type(model)
        assert [x.shape for x in other.get_weights()] == [
            x.shape for x in model.get_weights()
        ] or name == "images"
        if name == "images":  # its input isn't declared
            other(inputs(name))
        other.set_weights(model.get_weights())
        outputs = [arrays(m.predict(inputs(name), verbose=0), "").values() for m in (model, other)]
        assert all(map(np.array_equal, *outputs))
        assert not {id(v) for v in model.variables} & {id(v) for v in other.variables}
        assert [x.rate for x in other.layers if isinstance(x, nn.Dropout)] == [0.9] * (
            name == "perceptron"
        )
    with pytest.raises(ModelError, match="clone_function can't replace them"):
        nn.models.clone_model(Own(2), clone_function=wider)
    with pytest.raises(OptionError, match="no input_tensors"):
        nn.models.clone_model(model, input_tensors=[1])


def test_a_constructor_that_takes_no_options_of_layers(tmp_path: Path) -> None:
    """Keras stores name, trainable and dtype also where a constructor doesn't take them: they are set afterwards."""
    model = Own(3)
    model(inputs("perceptron"))
    model.save(tmp_path / "a.keras")
    more = '"config": {"name": "mine", "trainable": false, "units": 3}'
    rewritten(tmp_path / "a.keras", config=replaced('"config": {"units": 3}', more))
    other = nn.models.load_model(tmp_path / "a.keras", CUSTOM)
    assert other.name == "mine"
    assert not other.trainable
    assert all(map(np.array_equal, model.get_weights(), other.get_weights()))
    policy = '{"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float64"}, "registered_name": null}'
    rewritten(tmp_path / "a.keras", config=replaced('"trainable": false', f'"dtype": {policy}'))
    with pytest.raises(ModelError, match=r"__init__\(self, \.\.\., \*\*kwargs\)"):
        nn.models.load_model(tmp_path / "a.keras", CUSTOM)


def test_weights_that_fit(tmp_path: Path) -> None:
    """skip_mismatch loads what fits, and lists what doesn't."""
    model = nn.Sequential([nn.Input((4,)), nn.Dense(5), nn.BatchNormalization(), nn.Dense(7)])
    before = model.get_weights()
    with pytest.warns(
        UserWarning, match=r"doesn't fit the model in layers/dense_1/vars/0, layers/dense_1/vars/1"
    ):
        model.load_weights(STORED / "perceptron.weights.h5", skip_mismatch=True)
    after = model.get_weights()
    changed = [not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]
    assert changed == [True] * 6 + [False] * 2
    with pytest.raises(OptionError, match="skip_mismatch works with"):
        model.load_weights(tmp_path / "a.npz", skip_mismatch=True)


@pytest.mark.parametrize(
    "kind",
    ["activations", "initializers", "layers", "losses", "metrics", "optimizers", "regularizers"],
)
def test_functions_for_configs(kind: str) -> None:
    """Each module of tf.keras has Keras's serialize and deserialize, which create its own classes."""
    module = getattr(tf.keras, kind)
    for name in [
        name
        for name in module.__all__
        if name in {"relu", "Zeros", "Flatten", "Poisson", "Sum", "SGD", "L2"}
    ]:
        obj = getattr(module, name)
        made = obj() if isinstance(obj, type) else obj
        again = module.deserialize(module.serialize(made))
        assert again is made if made is obj else type(again) is obj
    assert tf.keras.activations.serialize(tf.keras.activations.relu) == "relu"
    assert (
        tf.keras.layers.deserialize({"class_name": "Mine", "config": {}}, {"Mine": Scale2}).times
        == 2
    )


class Scale2(Scale):
    """A layer without arguments."""

    def __init__(self) -> None:
        super().__init__(2)


@LIBRARIES
def test_an_h5_file_of_keras(k: ModuleType, values: Any) -> None:
    """The older format is read, with the state of the optimizer, and its weights alone."""
    model = k.models.load_model(STORED / "perceptron.h5")
    other = BUILDERS["perceptron"](k)
    other.load_weights(STORED / "perceptron.h5")
    for each in (model, other):
        predictions = np.asarray(each.predict(inputs("perceptron"), verbose=0))
        np.testing.assert_allclose(predictions, values["perceptron/before"], rtol=1e-5, atol=1e-6)
        assert int(each.optimizer.iterations) == 2
    assert isinstance(model, k.Model)
    assert not k.models.load_model(STORED / "perceptron.h5", compile=False).compiled


@pytest.mark.parametrize("name", BUILDERS)
def test_an_h5_file_read_back(name: str, tmp_path: Path) -> None:
    """Models in the older format predict and train alike, with operators and shared layers."""
    model = trained(BUILDERS[name](nn), name)
    model.save(tmp_path / "a.h5")
    other = nn.models.load_model(tmp_path / "a.h5")
    results = []
    for each in (model, other):
        after = each if name == "perceptron" else trained(each, name)
        results.append(
            [*each.get_weights(), *arrays(after.predict(inputs(name), verbose=0), "").values()]
        )
    assert all(map(np.array_equal, *results))


def test_bad_h5_files(tmp_path: Path) -> None:
    """Files of Keras 2, of weights alone, cut off, or of another model: nothing is loaded."""
    path = tmp_path / "a.h5"
    whole = (STORED / "perceptron.h5").read_bytes()
    for length in (0, 100, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:length])
        with pytest.raises(WeightsError, match="cut off or broken"):
            nn.models.load_model(path)
    path.write_bytes(whole)
    with h5py.File(path, "a") as file:
        file.attrs["keras_version"] = "2.4.0"
    with pytest.raises(ModelError, match=r"by Keras 2\.4\.0: open it with Keras 3"):
        nn.models.load_model(path)
    with h5py.File(path, "a") as file:
        del file.attrs["model_config"]
    with pytest.raises(WeightsError, match="has weights alone, and no model"):
        nn.models.load_model(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        nn.models.load_model(tmp_path / "b.h5")

    for layers, message in (
        ([nn.Dense(5), nn.Dense(3)], "has 3 layers with weights, and the model '.*' has 2"),
        (
            [nn.Dense(5), nn.BatchNormalization(), nn.Dense(4)],
            r"the shapes \[\(5, 3\), \(3,\)\] in 'model_weights/scores'",
        ),
    ):
        model = nn.Sequential([nn.Input((4,)), *layers])
        before = model.get_weights()
        with pytest.raises(WeightsError, match=message):
            model.load_weights(STORED / "perceptron.h5")
        assert all(map(np.array_equal, before, model.get_weights()))
    with pytest.raises(WeightsError, match="no variables yet"):
        nn.Sequential([nn.Dense(1)]).load_weights(STORED / "perceptron.h5")


def test_double_precision(tmp_path: Path) -> None:
    """The dtypes of models, inputs and weights are kept, and frozen parts stay frozen."""
    nn.config.set_floatx("float64")
    base = nn.Sequential([nn.Input((4,)), nn.Dense(3), nn.BatchNormalization()], name="base")
    base.trainable = False
    x = nn.Input((4,))
    model = nn.Model(x, nn.Dense(2)(base(x, training=False)))
    nn.config.set_floatx("float32")
    for ending in ("keras", "h5"):
        model.save(tmp_path / f"a.{ending}")
        other = nn.models.load_model(tmp_path / f"a.{ending}")
        assert {str(v.dtype) for v in other.variables} == {"float64"}
        assert other.get_layer("base").dtype == "float64"
        assert len(other.trainable_variables) == 2
        data = np.random.default_rng(0).normal(size=(3, 4))
        assert np.array_equal(model.predict(data, verbose=0), other.predict(data, verbose=0))


def test_constraints_are_saved(tmp_path: Path) -> None:
    """With the layer that has them, and in a copy of its model."""
    layers = [
        nn.Dense(3, kernel_constraint=nn.constraints.MaxNorm(1.5), bias_constraint="non_neg"),
        nn.Dense(1, kernel_constraint="unit_norm"),
    ]
    model = nn.Sequential([nn.Input((2,)), *layers])
    model.save(tmp_path / "limited.keras")

    for again in (nn.models.load_model(tmp_path / "limited.keras"), nn.models.clone_model(model)):
        first, last = again.layers
        assert first.kernel_constraint.max_value == 1.5
        assert isinstance(first.bias_constraint, nn.constraints.NonNeg)
        assert isinstance(last.kernel_constraint, nn.constraints.UnitNorm)
