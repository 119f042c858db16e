"""Models between symbolic tensors, and models in classes of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tapemagic.errors import ModelError, NotNumbersError, OptionError, ShapeError

X = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")


def test_a_model_computes_what_its_layers_compute() -> None:
    """Layers, operators, indices and NumPy's functions between inputs and outputs are called on data as they stand."""
    a, b = nn.Input((4,), name="a"), nn.Input((4,), name="b")
    hidden = nn.Dense(3)
    model = nn.Model(
        [a, b], np.tanh(hidden(a)) * 2 - hidden(b)[:, ::-1] / np.array([1.0, 2.0, 4.0])
    )

    expected = np.tanh(hidden(X)) * 2 - hidden(2 * X)[:, ::-1] / np.array([1, 2, 4], "float32")

    assert np.array_equal(expected, model([X, 2 * X]))
    assert np.array_equal(expected, model({"b": 2 * X, "a": X}))
    assert model.output_shape == (None, 3)
    assert list(model.named_variables()) == ["layers/2/kernel", "layers/2/bias"]


def test_gradients_flow_through_a_model() -> None:
    """A model is recorded like any other function: to its variables, to its input, and to the second order."""
    x = nn.Input((4,))
    model = nn.Model(x, nn.Dense(1)(np.sin(x)) ** 2)
    given = tm.constant(X)

    with tm.GradientTape() as outer:
        outer.watch(given)
        with tm.GradientTape() as tape:
            tape.watch(given)
            y = model(given)
        slope = tape.gradient(y, given)
    curve = outer.gradient(slope, given)

    kernel = model.layers[1].kernel.numpy()[:, 0]
    z = np.sin(X) @ kernel
    assert np.allclose(slope, 2 * z[:, None] * kernel * np.cos(X), atol=1e-5)
    row = kernel * np.cos(X)
    expected = 2 * row * row.sum(axis=1, keepdims=True) - 2 * z[:, None] * kernel * np.sin(X)
    assert np.allclose(curve, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: np.concatenate([x, 2 * x], axis=-1), (None, 6, 6)),
        (lambda x: x.mean(axis=1), (None, 3)),
        (lambda x: np.where(x > 0, x, 0.0), (None, 6, 3)),
        (lambda x: np.stack([tm.constant(np.ones((6, 3), "float32")), x[1]]), (2, 6, 3)),
        (lambda x: tm.constant(np.ones((2, 6), "float32")) @ x, (None, 2, 3)),
        (lambda x: x @ np.ones((3, 2)), (None, 6, 2)),
        (nn.activations.relu, (None, 6, 3)),
        (nn.layers.MaxPooling1D(2), (None, 3, 3)),
        (lambda x: np.split(x, 2, axis=1)[1], (None, 3, 3)),
        (np.sum, ()),
        (lambda x: x[0], (6, 3)),
    ],
)
def test_shapes_without_values(function: Any, shape: tuple[int | None, ...]) -> None:
    """A symbolic tensor has the shape that the values will have."""
    x = nn.Input((6, 3))
    y = function(x)

    assert y.shape == shape
    assert y.dtype == "float32"
    data = np.random.default_rng(1).normal(size=(2, 6, 3))
    assert np.allclose(nn.Model(x, y)(data), function(tm.constant(data, "float32")), atol=1e-6)


def test_a_length_that_is_not_known_stays_unknown() -> None:
    """An axis of unknown length is found to be unknown behind pooling, which rounds small lengths to the same."""
    x = nn.Input((None, 3))

    assert nn.layers.MaxPooling1D(2)(x).shape == (None, None, 3)
    assert np.sum(x, axis=1).shape == (None, 3)


@pytest.mark.parametrize(
    "use", [bool, float, list, len, np.asarray, np.add.reduce, lambda x: [1, 2, 3][x]]
)
def test_values_that_are_not_there(use: Any) -> None:
    """What needs values is refused with the name of the tensor, or of the function."""
    with pytest.raises((NotNumbersError, TypeError), match="symbolic tensor"):
        use(nn.Input((), name="x"))


def test_a_layer_that_does_not_fit_names_both() -> None:
    """A shape that does not fit is found when the model is put together."""
    hidden = nn.Dense(3, name="hidden")(nn.Input((4,)))

    with pytest.raises(
        ShapeError, match=r"'picture' \(Conv2D\) can't be called on the output of 'hidden'"
    ):
        nn.layers.Conv2D(2, 3, name="picture")(hidden)
    with pytest.raises(ShapeError, match=r"output of 'hidden'.* and the output of 'other'"):
        hidden @ nn.Dense(5, name="other")(nn.Input((4,)))
    with pytest.raises(ShapeError, match=r"'second' .* output of 'first'"):
        nn.Sequential(
            [nn.Input((4,)), nn.Dense(3, name="first"), nn.layers.Conv1D(1, 2, name="second")]
        )


def test_what_is_no_model() -> None:
    """Inputs and outputs that do not belong together are refused."""
    a, b = nn.Input((2,), name="a"), nn.Input((2,), name="b")

    with pytest.raises(ModelError, match="depends on the input 'b'"):
        nn.Model(a, a + b)
    with pytest.raises(ModelError, match="not 3"):
        nn.Model(a, 3)
    with pytest.raises(OptionError, match="both inputs and outputs"):
        nn.Model(a)
    with pytest.raises(ModelError, match="2 layers of the model are named 'same'"):
        nn.Model(a, nn.Dense(1, name="same")(nn.Dense(1, name="same")(a)))
    with pytest.raises(OptionError, match=r"write shape=\(3,\)"):
        nn.Input(3)


def test_calls_that_do_not_fit_the_inputs() -> None:
    """A model called on other inputs than its own says which they are."""
    a, b = nn.Input((2,), name="a"), nn.Input((3,), name="b")
    model = nn.Model([a, b], nn.Dense(1)(a) + nn.Dense(1)(b))

    with pytest.raises(ShapeError, match="2 inputs, named 'a', 'b', and was called with 1"):
        model(np.ones((4, 2)))
    with pytest.raises(ShapeError, match="'b' is missing"):
        model({"a": np.ones((4, 2))})
    with pytest.raises(ShapeError, match=r"input 'b' takes arrays of the shape \(None, 3\)"):
        model([np.ones((4, 2)), np.ones((4, 2))])


def test_an_axis_of_length_one_is_added_or_removed() -> None:
    """Data of one feature may come without an axis for it, as in Keras."""
    x = nn.Input((1,))
    model = nn.Model(x, x * 2)

    assert model(np.ones(3)).shape == (3, 1)
    assert model(np.ones((3, 1, 1))).shape == (3, 1)


def test_part_of_a_model_is_a_model() -> None:
    """A model up to a layer inside of another one shares its layers."""
    model = nn.Sequential([nn.Dense(3, activation="relu"), nn.Dense(1)])
    model(X)
    features = nn.Model(model.inputs, model.layers[0].output)

    assert np.array_equal(features(X), model.layers[0](X))


def test_training_is_handed_down() -> None:
    """Layers inside know whether the model is trained, and a call can decide it for one of them."""
    x = nn.Input((100,))
    dropout = nn.layers.Dropout(0.5)
    model, always = nn.Model(x, dropout(x)), nn.Model(x, dropout(x, training=True))
    ones = np.ones((1, 100))

    assert np.all(model(ones) == 1)
    assert not np.all(model(ones, training=True) == 1)
    assert not np.all(always(ones) == 1)


class Twice(nn.Model):
    """A dense layer called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(4)

    def call(self, inputs: Any) -> Any:
        """The outputs."""
        return self.dense(self.dense(inputs))


def test_a_class_of_ones_own() -> None:
    """A class with a method `call` is a model; `build` makes its variables without data."""
    model = Twice()
    model.build((None, 4))

    assert list(model.named_variables()) == ["dense/kernel", "dense/bias"]
    assert [layer.name for layer in model.layers] == [model.dense.name]
    assert Twice()(nn.Input((4,))).shape == (None, 4)
    with pytest.raises(NotImplementedError, match="has no method"):
        nn.Model()(X)


def test_layers_are_the_models_own_attribute() -> None:
    """A list of one's own named `layers` would not be seen by what is added to it."""

    class Own(nn.Model):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [nn.Dense(1)]

    with pytest.raises(AttributeError, match=r"self\.blocks"):
        Own()


def test_sequential_grows_and_shrinks() -> None:
    """Layers are added at the end and removed there, whether the shape of the input is known or not."""
    model = nn.Sequential()
    model.add(nn.Input((4,)))
    model.add(nn.Dense(3))
    with pytest.raises(ShapeError):
        model.add(nn.layers.Conv2D(1, 2))
    model.add(nn.Dense(2))

    assert model.output_shape == (None, 2)
    model.pop()
    assert (model.output_shape, len(model.layers)) == ((None, 3), 1)
    assert model(X).shape == (5, 3)


def test_what_is_no_layer_of_sequential() -> None:
    """Sequential takes layers, each once, with one Input as the first."""
    layer = nn.Dense(1)

    for wrong in (np.tanh, "relu", None):
        with pytest.raises(OptionError, match="consists of layers"):
            nn.Sequential([wrong])
    with pytest.raises(
        OptionError, match=r"Flatten is a class of layers: call it, as in Flatten\(\)"
    ):
        nn.Sequential([nn.Flatten, layer])
    with pytest.raises(OptionError, match="in one list"):
        nn.Sequential(nn.Flatten(), layer)
    with pytest.raises(OptionError, match="in the model already"):
        nn.Sequential([layer, nn.Dense(1, name=layer.name)])
    with pytest.raises(OptionError, match="first layer"):
        nn.Sequential([layer, nn.Input((3,))])
    with pytest.raises(ModelError, match="no layers"):
        nn.Sequential()(X)
    with pytest.raises(ModelError, match="no output"):
        nn.Sequential([nn.Dense(1)]).output_shape  # noqa: B018


class NoReturn(nn.Model):
    """A model whose call ends without return."""

    def call(self, inputs: Any) -> None:
        """Nothing."""


def test_a_call_without_return() -> None:
    """A call that gives None is told to end with return, in a stack and in training."""
    with pytest.raises(NotNumbersError, match="end its method call with return"):
        nn.Sequential([NoReturn(), nn.Dense(1)])(X)
    model = NoReturn()
    model.compile("sgd", "mse")
    with pytest.raises(NotNumbersError, match="end its method call with return"):
        model.fit(X, X, verbose=0)


@pytest.mark.parametrize("name", ["add", "average", "maximum", "minimum", "multiply", "subtract"])
def test_merging_functions(name: str) -> None:
    """Keras's functions make the layer and call it."""
    a, b = nn.Input((4,)), nn.Input((4,))
    model = nn.Model([a, b], getattr(nn.layers, name)([a, b], name="merged"))
    layer = getattr(nn, name.title())()

    assert np.array_equal(model([X, 2 * X]), layer([X, 2 * X]))
    assert model.layers[-1].name == "merged"
    assert nn.layers.concatenate([X, X], axis=0).shape == (2 * len(X), 4)
