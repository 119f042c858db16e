"""compile, fit, evaluate and predict."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
import pytest

import tapemagic as tm
from tapemagic import nn, tf
from tapemagic.errors import ModelError, NonFiniteError, NotNumbersError, OptionError, ShapeError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype("float32")
Y = (X @ [[1.0], [-2.0], [0.5]] + 3).astype("float32")

STOP = nn.callbacks.TerminateOnNaN(raise_error=True)


def line(optimizer: Any = None, loss: Any = "mse", **options: Any) -> nn.Sequential:
    """A compiled linear model that begins with zeros."""
    model = nn.Sequential([nn.Dense(1, kernel_initializer="zeros", name="line")])
    model.compile(optimizer or nn.optimizers.SGD(0.1), loss, **options)
    return model


def test_a_step_is_the_tapes_gradient() -> None:
    """A step of fit is what the tape and the optimizer do by themselves, regularizers and added losses included."""

    def build() -> tuple[nn.Sequential, Any]:
        class Penalty(nn.Layer):
            def call(self, inputs: Any) -> Any:
                self.add_loss(0.1 * np.sum(inputs**2))
                return inputs

        dense = nn.Dense(
            1, kernel_initializer="ones", kernel_regularizer=lambda w: 0.5 * np.sum(w**2)
        )
        return nn.Sequential([nn.Input((3,)), dense, Penalty()]), nn.optimizers.Adam(0.1)

    model, optimizer = build()
    model.compile(optimizer, "mse")
    loss = model.train_on_batch(X, Y)

    other, optimizer = build()
    with tm.GradientTape() as tape:
        y = other.layers[0](X)
        kernel = other.layers[0].kernel
        total = np.mean((y - Y) ** 2) + 0.5 * np.sum(kernel**2) + 0.1 * np.sum(y**2)
    optimizer.apply(tape.gradient(total, other.variables), other.variables)

    assert np.isclose(loss, total.numpy(), rtol=1e-6)
    for a, b in zip(model.get_weights(), other.get_weights(), strict=True):
        assert np.allclose(a, b, atol=1e-6)


def test_losses_of_an_earlier_call_do_not_count() -> None:
    """What add_loss added in a call of training is not there in an evaluation that adds nothing."""

    class Penalty(nn.Layer):
        def call(self, inputs: Any, training: bool = False) -> Any:
            if training:
                self.add_loss(100.0)
            return inputs

    model = nn.Sequential([nn.Dense(1, kernel_initializer="zeros"), Penalty()])
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)

    assert model.evaluate(X, Y, verbose=0) < 100
    assert model.losses == []


def test_the_history_and_the_last_batch() -> None:
    """The loss of an epoch is the mean over examples, also with a smaller last batch; validation has its own names."""
    model = line(nn.optimizers.SGD(0.0))
    history = model.fit(X, Y, batch_size=12, epochs=2, verbose=0, validation_split=0.25)

    assert history.epoch == [0, 1]
    assert np.allclose(history.history["loss"], np.mean(Y[:30] ** 2))
    assert np.allclose(history.history["val_loss"], np.mean(Y[30:] ** 2))
    assert model.history is history


def test_the_order_is_that_of_the_generator() -> None:
    """A seed fixes the order of examples; without shuffling it is that of the data."""
    seen: list[Any] = []

    class Keep(nn.Model):
        def call(self, inputs: Any) -> Any:
            seen.append(inputs.numpy()[:, 0])
            return inputs

        def train_step(self, data: Any) -> Any:
            self(data)
            return {"loss": 0.0}

    def order(shuffle: bool) -> list[float]:
        seen.clear()
        nn.set_random_seed(3)
        model = Keep()
        model.compile("sgd")
        model.fit(np.arange(10.0)[:, None], epochs=2, batch_size=4, shuffle=shuffle, verbose=0)
        assert [len(batch) for batch in seen] == [4, 4, 2] * 2
        return list(np.concatenate(seen))

    assert order(shuffle=False) == [*range(10)] * 2
    first = order(shuffle=True)
    assert first == order(shuffle=True)
    assert first[:10] != first[10:]
    assert sorted(first[:10]) == list(range(10))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (X.tolist(), Y.tolist()),
        (tm.constant(X), tm.constant(Y)),
        (pd.DataFrame(X), pd.Series(Y[:, 0])),
        ([X], Y),
        (X.astype("float64"), Y[:, 0]),
        (np.asfortranarray(X)[::1], Y),
    ],
)
def test_kinds_of_data(x: Any, y: Any) -> None:
    """Arrays, lists, tensors and pandas data give the same."""
    inputs = nn.Input((3,))
    model = nn.Model(inputs, nn.Dense(1, kernel_initializer="zeros")(inputs))
    model.compile(nn.optimizers.SGD(0.1), "mse")
    other = line()

    model.fit(x, y, epochs=2, shuffle=False, verbose=0)
    other.fit(X, Y, epochs=2, shuffle=False, verbose=0)

    assert np.allclose(model.get_weights()[0], other.get_weights()[0], atol=1e-6)


def test_batches_from_iterables() -> None:
    """Batches come from generators, and from objects that are iterated anew for each epoch."""

    def endless() -> Iterator[Any]:
        while True:
            yield X[:20], Y[:20]
            yield X[20:], Y[20:]

    expected = line()
    expected.fit(X, Y, batch_size=20, epochs=3, shuffle=False, verbose=0)
    sources: list[Any] = [
        {"x": endless(), "steps_per_epoch": 2},
        {"x": _Batches()},
        {"x": _Batches(), "steps_per_epoch": 2},
    ]
    for source in sources:
        model = line()
        model.fit(**source, epochs=3, verbose=0)
        assert np.allclose(model.get_weights()[0], expected.get_weights()[0], atol=1e-6)


class _Batches:
    """Batches by their numbers."""

    def __init__(self, size: int = 20) -> None:
        self.size = size

    def __len__(self) -> int:
        return len(X) // self.size

    def __getitem__(self, k: int) -> Any:
        rows = slice(k * self.size, (k + 1) * self.size)
        return X[rows], Y[rows]


def _validations() -> dict[str, Any]:
    """The data of four batches of ten, in every form that can be read again."""
    x, y = (da.from_array(part, chunks=(15, -1)) for part in (X, Y))
    return {
        "arrays": (X, Y),
        "Dask arrays": (x, y),
        "tf.data": tf.data.Dataset.from_tensor_slices((X, Y)).batch(10),
        "batches by number": _Batches(10),
    }


@pytest.mark.parametrize("kind", _validations())
def test_validation_steps_are_the_first_batches(kind: str) -> None:
    """Each validation of a number of steps is on the same examples, the first; training steps continue."""
    model = line(nn.optimizers.SGD(0.0))
    history = model.fit(
        X, Y, epochs=4, steps_per_epoch=1, shuffle=False, batch_size=10, verbose=0,
        validation_data=_validations()[kind], validation_steps=3, validation_batch_size=10,
    ).history  # fmt: skip

    assert np.allclose(history["val_loss"], [np.mean(Y[:30] ** 2)] * 4, rtol=1e-5)
    assert np.allclose(history["loss"], [np.mean(Y[k : k + 10] ** 2) for k in (0, 10, 20, 30)])


def test_validation_by_a_generator_continues() -> None:
    """A generator can't start again, so each validation takes its next batches."""
    model = line(nn.optimizers.SGD(0.0))
    batches = _Batches(10)
    history = model.fit(
        X, Y, epochs=2, verbose=0,
        validation_data=(batches[k] for k in range(4)), validation_steps=2,
    ).history  # fmt: skip

    assert np.allclose(history["val_loss"], [np.mean(Y[:20] ** 2), np.mean(Y[20:] ** 2)])


def test_several_outputs_by_name() -> None:
    """Losses, weights and metrics of several outputs are given by their names or in their order."""
    x = nn.Input((3,))
    model = nn.Model(x, [nn.Dense(1, name="a")(x), nn.Dense(2, name="b")(x)])
    model.compile("sgd", {"a": "mse", "b": "mse"}, loss_weights=[1.0, 0.5])
    targets = {"b": np.ones((40, 2)), "a": Y}
    found = model.evaluate(X, targets, verbose=0, return_dict=True)

    a, b = model.predict(X)
    losses = np.mean((a - Y) ** 2), np.mean((b - 1) ** 2)
    assert list(found) == ["a_loss", "b_loss", "loss"]
    assert np.allclose(list(found.values()), [*losses, losses[0] + losses[1] / 2], rtol=1e-5)
    listed = model.evaluate(X, [Y, np.ones((40, 2))], verbose=0)
    assert np.allclose(listed, [found["loss"], found["a_loss"], found["b_loss"]])
    model.compile("sgd", {"c": "mse"})
    with pytest.raises(OptionError, match="'c', and the outputs of the model are 'a', 'b'"):
        model.fit(X, targets, verbose=0)


def test_steps_of_ones_own() -> None:
    """A train_step of one's own is called with tensors, and what it returns is the history."""

    class Own(nn.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Dense(1, kernel_initializer="zeros")
            self.seen = nn.metrics.Mean(name="seen")

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

        def train_step(self, data: Any) -> Any:
            x, y = data
            with tm.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            self.seen.update_state(loss)
            return {"loss": loss, "seen": self.seen.result()}

    model, other = Own(), line()
    model.compile(nn.optimizers.SGD(0.1), "mse")
    history = model.fit(X, Y, batch_size=40, epochs=3, verbose=0)
    expected = other.fit(X, Y, batch_size=40, epochs=3, verbose=0)

    assert np.allclose(history.history["loss"], expected.history["loss"])
    assert history.history["seen"] == history.history["loss"]
    assert len(model.variables) == 2


def test_frozen_layers_are_not_trained() -> None:
    """A frozen layer keeps its weights; a model that is frozen as a whole warns, as in Keras."""
    model = nn.Sequential([nn.Dense(2, name="frozen"), nn.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)

    before = model.layers[0].get_weights()
    model.layers[0].trainable = False
    model.fit(X, Y, verbose=0)
    assert np.array_equal(before[0], model.layers[0].get_weights()[0])
    model.trainable = False
    with pytest.warns(UserWarning, match="no variables to train"):
        model.fit(X, Y, verbose=0, batch_size=40)


def test_predict_records_nothing() -> None:
    """predict and evaluate are constants for a tape around them."""
    model = line()
    model.fit(X, Y, verbose=0)

    with tm.GradientTape() as tape:
        model.predict(X)
        model.evaluate(X, Y, verbose=0)

    assert tape.watched_variables() == ()
    assert model.predict(X, batch_size=7).shape == (40, 1)
    assert np.array_equal(model.predict(X), model.predict_on_batch(X))


def interrupt_at(batch: int) -> nn.callbacks.Callback:
    """A callback that interrupts the program as Ctrl-C does."""

    class Interrupt(nn.callbacks.Callback):
        count = 0

        def on_train_batch_begin(self, _number: int, _logs: Any = None) -> None:
            self.count += 1
            if self.count == batch:
                os.kill(os.getpid(), signal.SIGINT)

    return Interrupt()


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="needs signals"
)
def test_an_interrupt_comes_between_steps() -> None:
    """An interrupt waits for the end of a step; history and model are those of finished epochs and steps."""
    model = line(nn.optimizers.Adam(0.1))
    handler = signal.getsignal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, batch_size=10, epochs=5, verbose=0, callbacks=[interrupt_at(7)])

    assert model.history.epoch == [0]
    assert int(model.optimizer.iterations) == 7
    assert signal.getsignal(signal.SIGINT) is handler
    assert len(model.fit(X, Y, epochs=2, verbose=0).epoch) == 2


def test_training_on_another_thread() -> None:
    """Threads other than the main one have no interrupts, and train all the same."""
    model = line()
    thread = threading.Thread(target=lambda: model.fit(X, Y, verbose=0))
    thread.start()
    thread.join()

    assert model.history.epoch == [0]


class Function(nn.Layer):
    """A function as a layer."""

    def __init__(self, function: Any, name: str) -> None:
        super().__init__(name=name)
        self.function = function

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return self.function(inputs)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (np.log, r"the loss is nan\. It arose in the layer 'culprit': log of -?[\d.e-]+ gave nan"),
        (lambda x: np.sqrt(x * 0), r"though the loss is .* 'culprit': the derivative of sqrt\(-?0\.0\) gave -?inf"),
        (lambda x: 1 / (x - x), r"'culprit': divide of 1 and 0\.0 gave inf"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_loss_that_is_not_finite(function: Any, words: str) -> None:
    """Training stops before the step, and names the operation and the layer; running averages are as before, too."""
    model = nn.Sequential(
        [nn.layers.BatchNormalization(), nn.Dense(2), Function(function, "culprit"), nn.Dense(1)]
    )
    model(X)
    model.compile("adam", "mse")
    before = model.get_weights()

    with pytest.raises(NonFiniteError, match=f"in epoch 1, step 1: .*{words}") as caught:
        model.fit(X, Y, verbose=0, callbacks=[STOP])

    assert (caught.value.epoch, caught.value.batch) == (0, 0)
    assert all(map(np.array_equal, before, model.get_weights()))
    assert int(model.optimizer.iterations) == 0
    assert model.history.epoch == []


def test_data_that_are_not_finite() -> None:
    """A nan among the data is named with the number of its example, also in shuffled batches."""
    x, y = X.copy(), Y.copy()
    x[17, 2] = np.nan
    y[3] = np.inf

    for shuffle in (True, False):
        with pytest.raises(
            NonFiniteError, match=r"example 17 of the data: .* x is nan at \[\d+, 2\]"
        ):
            line().fit(x, Y, shuffle=shuffle, verbose=0, callbacks=[STOP])
    with pytest.raises(NonFiniteError, match="example 3 of the data"):
        line().fit(X, y, shuffle=False, verbose=0, callbacks=[STOP])


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.filterwarnings("ignore:(overflow|invalid):RuntimeWarning")
def test_training_continues_after_nan(eager: bool) -> None:
    """As in Keras, with one warning that names step and origin; running averages are those after the step."""
    model = nn.Sequential([nn.Input((3,)), nn.BatchNormalization(), nn.Dense(1)])
    model.compile(nn.optimizers.SGD(1e12), "mse", run_eagerly=eager)
    with pytest.warns(
        RuntimeWarning, match=r"in epoch \d, step \d: the loss is (inf|nan)\. It arose"
    ) as told:
        history = model.fit(X, Y, batch_size=20, epochs=9, verbose=0)
    assert len([x for x in told if "epoch" in str(x.message)]) == 1
    assert told[-1].filename == __file__
    assert len(history.history["loss"]) == 9
    assert np.isnan(history.history["loss"][-1])
    assert np.isfinite(model.layers[0].get_weights()[2]).all()
    assert np.isnan(model.layers[1].get_weights()[0]).all()
    # The next training tells it again.
    with pytest.warns(RuntimeWarning, match="step 1: .* A weight was already nan"):
        model.fit(X, Y, verbose=0)
    other = line()
    with pytest.warns(RuntimeWarning, match=r"^the loss is nan"):
        other.train_on_batch(X * np.nan, Y)
    other.train_on_batch(X * np.nan, Y)


def test_terminate_on_nan(capsys: pytest.CaptureFixture[str]) -> None:
    """The history has the epoch with its loss, and the step has been taken, as in Keras."""
    y = Y.copy()
    y[20] = np.nan
    model = line()
    with pytest.warns(RuntimeWarning, match="example 20 of the data"):
        history = model.fit(
            X,
            y,
            batch_size=10,
            epochs=5,
            verbose=0,
            shuffle=False,
            callbacks=[nn.callbacks.TerminateOnNaN()],
        )
    assert capsys.readouterr().out == "Batch 2: Invalid loss, terminating training\n"
    assert history.epoch == [0]
    assert np.isnan(history.history["loss"]).tolist() == [True]
    assert np.isnan(model.get_weights()[0]).all()


def test_hooks_get_logs() -> None:
    """Empty ones where there are no results, never None."""
    names: dict[str, Any] = {}

    def keep(hook: str) -> Any:
        return lambda *arguments: names.setdefault(hook, sorted(arguments[-1]))

    hooks = [name for name in vars(nn.callbacks.Callback) if name.startswith("on_")]
    tell = nn.callbacks.LambdaCallback(
        **{hook: keep(hook) for hook in hooks if "on_batch" not in hook}
    )
    model = line()
    model.fit(X, Y, validation_data=(X, Y), verbose=0, callbacks=[tell])
    model.predict(X, callbacks=[tell])
    expected = {hook: ["loss"] if hook.endswith("end") else [] for hook in names}
    expected |= {hook: ["loss", "val_loss"] for hook in ("on_epoch_end", "on_train_end")}
    assert names == expected | {"on_predict_batch_end": ["outputs"], "on_predict_end": []}
    assert len(names) == len(hooks) - 2


def test_a_step_of_ones_own_that_is_not_finite_is_undone() -> None:
    """A train_step of one's own may have changed weights before its loss is seen: those of the epoch's begin return."""

    class Own(nn.Sequential):
        def train_step(self, _data: Any) -> Any:
            self.variables[0].assign_add([[1.0]])
            return {"loss": np.inf if self.variables[0].numpy() > 3 else 1.0}

    model = Own([nn.Input((1,)), nn.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd")

    with pytest.raises(NonFiniteError, match=r"in epoch 2, step 2: .* custom train_step"):
        model.fit(np.ones((4, 1)), batch_size=2, epochs=5, verbose=0, callbacks=[STOP])

    assert model.get_weights()[0] == 2
    with pytest.warns(RuntimeWarning, match=r"in epoch 1, step 2: .* custom train_step") as told:
        model.fit(np.ones((4, 1)), batch_size=2, epochs=5, verbose=0)
    assert len(told) == 1
    assert model.get_weights()[0] == 12


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"y": Y[:-1]}, ShapeError, "x has 40, y has 39"),
        ({"x": X[:0], "y": Y[:0]}, ShapeError, "no examples"),
        ({"x": 3.0}, Exception, "x is the single number 3.0"),
        ({"y": np.array(["cat"] * 40)}, NotNumbersError, "y holds text such as 'cat'.*np.unique"),
        ({"x": pd.DataFrame({"a": X[:, 0], "b": "t"})}, NotNumbersError, "x holds text such as 't'"),
        ({"x": None}, OptionError, "no data"),
        ({"x": [X, X]}, ShapeError, "takes one array or tensor"),
        ({"x": list(X)}, ShapeError, r"and so on: .* write np.array\(x\)"),
        ({"y": None}, ModelError, "got no targets"),
        ({"x": (X, Y), "y": None}, ShapeError, r"not a tuple of 2: write model.fit\(x, y\)"),
        ({"sample_weight": np.ones(3)}, ShapeError, "sample_weight has 3"),
        ({"batch_size": 0}, OptionError, "batch_size"),
        ({"epochs": 1.5}, OptionError, "epochs"),
        ({"verbose": 3}, OptionError, "verbose"),
        ({"callbacks": [nn.callbacks.EarlyStopping]}, OptionError, r"write nn.callbacks.EarlyStopping\(\)"),
        ({"validation_split": 1.0}, OptionError, "between 0 and 1"),
        ({"validation_split": 0.999}, OptionError, "leaves one part empty"),
        ({"validation_data": X}, OptionError, r"validation_data must be \(x, y\)"),
        ({"validation_data": (X[:, :2], Y)}, ShapeError, "'line' was built for"),
        ({"x": iter([(X, Y)])}, OptionError, "omit y and sample_weight"),
        ({"x": iter([(X, Y)]), "y": None, "epochs": 2}, OptionError, "ended after 0 batches of epoch 2"),
        ({"x": iter([(X, Y, Y, Y)]), "y": None}, OptionError, "a tuple of 4"),
        ({"class_weight": {0: 1}, "sample_weight": Y}, OptionError, "not both"),
    ],
)  # fmt: skip
def test_bad_input(options: dict[str, Any], error: type[Exception], words: str) -> None:
    """Wrong data and options are refused before anything is trained, with what is wrong."""
    model = line()
    model(X)
    before = model.get_weights()

    with pytest.raises(error, match=words):
        model.fit(**{"x": X, "y": Y, "verbose": 0} | options)

    if "epochs" not in options:
        assert all(map(np.array_equal, before, model.get_weights()))


def test_data_of_one_axis() -> None:
    """Examples of one number each need an axis for their feature, unless an Input tells that."""
    with pytest.raises(ShapeError, match=r"write x\[:, None\]"):
        line().fit(X[:, 0], Y, verbose=0)
    model = nn.Sequential([nn.Input((1,)), nn.Dense(1)])
    assert model.predict(X[:, 0]).shape == (40, 1)
    assert np.array_equal(model.predict([X[:, :1]]), model.predict(X[:, 0]))


def test_models_that_are_not_ready() -> None:
    """A model that is not compiled, or has no loss, says what to write; unknown names are said by compile."""
    with pytest.raises(ModelError, match=r"model.compile\(.*\) before model.fit"):
        nn.Sequential([nn.Dense(1)]).fit(X, Y)
    with pytest.raises(ModelError, match="has no loss"):
        line(loss=None).fit(X, Y, verbose=0)
    for options in ({"optimizer": "adamm"}, {"loss": "msee"}):
        with pytest.raises(OptionError, match="did you mean"):
            line(**options)
    with pytest.raises(OptionError, match="loss_weights must be numbers"):
        line(loss_weights=["accuracy"])
    with pytest.raises(OptionError, match="metrics must be a list"):
        line(metrics="accuracy")


def test_a_loss_of_many_numbers() -> None:
    """A loss that was not reduced is refused with the way to reduce it."""
    with pytest.raises(ShapeError, match=r"the shape \(32,\), but must be one number"):
        line(loss=nn.losses.MeanSquaredError(reduction="none")).fit(X, Y, verbose=0)


def test_attributes_of_ones_own() -> None:
    """A class of one's own may have an optimizer and a loss as attributes, without compile."""

    class Own(nn.Model):
        def __init__(self) -> None:
            super().__init__()
            self.optimizer = nn.optimizers.SGD(0.5)
            self.loss = "my loss"

    model = Own()

    assert isinstance(model.optimizer, nn.optimizers.SGD)
    assert model.loss == "my loss"
    assert not model.compiled


def test_double_precision_is_kept() -> None:
    """A model in double precision is trained on data in double precision, and its loss is not rounded."""
    x = np.array([[1 + 1e-10]])
    model = nn.Sequential([nn.Dense(1, dtype="float64", kernel_initializer="ones")])
    model.compile(nn.optimizers.SGD(0.0), "mse")

    assert model.predict(x)[0, 0] == x[0, 0]
    assert model.evaluate(x, np.zeros((1, 1)), verbose=0) == x[0, 0] ** 2


def test_a_dict_of_outputs() -> None:
    """Outputs in a dict go by its keys, and not by the names of layers."""
    x = nn.Input((3,))
    model = nn.Model(x, {"b": nn.Dense(1, name="one")(x), "a": nn.Dense(2, name="two")(x)})
    model.compile("sgd", {"b": "mse", "a": "mse"}, loss_weights={"a": 0.0})

    found = model.evaluate(X, {"a": np.ones((40, 2)), "b": Y}, verbose=0, return_dict=True)

    outputs = model.predict(X)
    assert list(outputs) == ["b", "a"]
    assert np.isclose(found["b_loss"], np.mean((outputs["b"] - Y) ** 2))
    assert np.isclose(found["a_loss"], np.mean((outputs["a"] - 1) ** 2))
    assert np.isclose(found["loss"], found["b_loss"])


def test_an_embedding_comes_first() -> None:
    """A stack that begins with an embedding is built for whole numbers."""
    model = nn.Sequential([nn.layers.Embedding(9, 2), nn.layers.Flatten(), nn.Dense(1)])
    model.build((None, 5))

    assert model.output_shape == (None, 1)
    assert model.predict(np.arange(5)[None]).shape == (1, 1)


def test_errors_show_the_users_lines() -> None:
    """The traceback of an error in training has the frames of the user's program, and none of tapemagic's."""

    def loss(y_true: Any, y_pred: Any) -> Any:
        return nn.losses.MeanSquaredError()(y_true[:, :1], np.concatenate([y_pred, y_pred], axis=1))

    with pytest.raises(ShapeError) as caught:
        line(loss=loss).fit(X, np.stack([Y, Y], axis=1), verbose=0)

    shown = [entry.name for entry in caught.traceback]
    assert shown == ["test_errors_show_the_users_lines", "loss"]
