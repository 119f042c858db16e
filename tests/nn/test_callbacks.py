"""Callbacks, and what fit prints."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapemagic import nn
from tapemagic.errors import OptionError
from tapemagic.nn.callbacks import progress
from tapemagic.nn.callbacks.callback import HOOKS

X, Y = np.ones((6, 2), "float32"), np.ones(6, "float32")


def model_of(rate: float = 0.1) -> nn.Sequential:
    """A compiled model."""
    model = nn.Sequential([nn.Input((2,)), nn.Dense(1, kernel_initializer="zeros")])
    model.compile(nn.optimizers.SGD(rate), "mse")
    return model


class Values(nn.callbacks.Callback):
    """Puts numbers into the logs under a name."""

    def __init__(self, name: str, values: list[float]) -> None:
        self.name, self.values = name, values

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Put the number of an epoch there."""
        logs[self.name] = self.values[epoch]


def test_all_events_in_their_order() -> None:
    """Every method is called at its time, with numbers from 0 on and results as floats."""
    heard: list[str] = []

    class Tell(nn.callbacks.Callback):
        pass

    for name in HOOKS:
        setattr(Tell, name, lambda *_args, name=name: heard.append(name.removeprefix("on_")))
    model = model_of()
    model.fit(X, Y, batch_size=6, epochs=1, verbose=0, callbacks=[Tell()], validation_data=(X, Y))
    model.predict(X, callbacks=[Tell()])

    assert heard == [
        *("train_begin", "epoch_begin", "train_batch_begin", "train_batch_end"),
        *("test_begin", "test_batch_begin", "test_batch_end", "test_end", "epoch_end", "train_end"),
        *("predict_begin", "predict_batch_begin", "predict_batch_end", "predict_end"),
    ]


def test_early_stopping_keeps_the_best() -> None:
    """Training stops after some epochs without improvement, and the best weights return."""
    model = model_of()
    kept: list[Any] = []
    keep = nn.callbacks.LambdaCallback(
        on_epoch_end=lambda _epoch, _logs: kept.append(model.get_weights())
    )
    stop = nn.callbacks.EarlyStopping("score", mode="max", patience=2, restore_best_weights=True)
    history = model.fit(
        X, Y, epochs=9, verbose=0, callbacks=[Values("score", [1, 3, 2, 2.5, 9]), keep, stop]
    )

    assert history.epoch == [0, 1, 2, 3]
    assert stop.best_epoch == 1
    assert all(map(np.array_equal, model.get_weights(), kept[1]))


def test_a_number_that_cannot_be_watched() -> None:
    """A name that is not there warns with those that are; one that does not tell what is better asks for a mode."""
    with pytest.warns(
        UserWarning, match="monitors .val_loss., which is missing: the logs have 'loss'"
    ):
        model_of().fit(X, Y, verbose=0, callbacks=[nn.callbacks.EarlyStopping()])
    stop = nn.callbacks.EarlyStopping("score")
    with pytest.raises(OptionError, match="mode='max' or mode='min'"):
        model_of().fit(X, Y, epochs=2, verbose=0, callbacks=[Values("score", [1, 2]), stop])


def test_checkpoints(tmp_path: Path) -> None:
    """The best weights are kept, or those of each epoch under names of their own, with the optimizer's state."""
    model = model_of()
    values = Values("val_accuracy", [1, 3, 2])
    best = nn.callbacks.ModelCheckpoint(
        tmp_path / "new" / "best.npz", "val_accuracy", save_best_only=True, save_weights_only=True
    )
    each = nn.callbacks.ModelCheckpoint(tmp_path / "{epoch:02d}-{val_accuracy:.1f}.npz")
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[values, best, each])

    assert sorted(path.name for path in tmp_path.glob("*.npz")) == [
        "01-1.0.npz",
        "02-3.0.npz",
        "03-2.0.npz",
    ]
    other, second = model_of(), model_of()
    other.load_weights(tmp_path / "new" / "best.npz")
    second.load_weights(tmp_path / "02-3.0.npz", optimizer=True)
    assert all(map(np.array_equal, other.get_weights(), second.get_weights()))
    assert int(second.optimizer.iterations) == 2


def test_bad_checkpoints(tmp_path: Path) -> None:
    """Other endings, and names that cannot be filled, are refused."""
    with pytest.raises(
        OptionError, match=r"in \.keras or \.npz, not '.*': write ModelCheckpoint\('best\.keras'\)"
    ):
        nn.callbacks.ModelCheckpoint("model.ckpt")
    with pytest.raises(OptionError, match=r"write ModelCheckpoint\('best\.weights\.h5'\)"):
        nn.callbacks.ModelCheckpoint("model.keras", save_weights_only=True)
    check = nn.callbacks.ModelCheckpoint(tmp_path / "{val_loss}.npz")
    with pytest.raises(OptionError, match=r"can.t be formatted with epoch, loss"):
        model_of().fit(X, Y, verbose=0, callbacks=[check])


def test_a_table_of_epochs(tmp_path: Path) -> None:
    """CSVLogger writes a row for each epoch, and can go on with a file."""
    path = tmp_path / "log.csv"
    model = model_of(0.0)
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[nn.callbacks.CSVLogger(path)])
    log = nn.callbacks.CSVLogger(path, append=True)
    model.fit(X, Y, epochs=3, initial_epoch=2, verbose=0, callbacks=[log])

    assert path.read_text().split() == ["epoch,loss", "0,1.0", "1,1.0", "2,1.0"]


@pytest.mark.parametrize("verbose", ["auto", 1, 2])
def test_lines_without_times(verbose: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody monitors, fit prints a line for each epoch, the same each time, and nothing else."""
    model_of(0.0).fit(X, Y, epochs=2, verbose=verbose, validation_data=(X, Y))

    expected = (
        "Epoch 1/2 - loss: 1.0000 - val_loss: 1.0000\nEpoch 2/2 - loss: 1.0000 - val_loss: 1.0000\n"
    )
    assert capsys.readouterr() == (expected, "")


def test_many_epochs_print_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """The lines of many epochs are thinned out, unless each is asked for."""
    model_of(0.0).fit(X, Y, epochs=90)
    lines = capsys.readouterr().out.splitlines()
    model_of(0.0).fit(X, Y, epochs=90, verbose=2)

    assert [line.split()[1] for line in lines] == [f"{epoch}/90" for epoch in range(5, 91, 5)]
    assert len(capsys.readouterr().out.splitlines()) == 90


def test_silence(capsys: pytest.CaptureFixture[str]) -> None:
    """predict prints nothing, nor does anything with verbose=0; evaluate prints a line."""
    model = model_of(0.0)
    model.fit(X, Y, verbose=0)
    model.predict(X)
    model.evaluate(X, Y, verbose=0)
    assert capsys.readouterr() == ("", "")
    model.evaluate(X, Y)
    assert capsys.readouterr().out == "loss: 1.0000\n"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Always."""
        return True


def shown(text: str) -> list[str]:
    """The lines of a terminal after a text with carriage returns."""
    lines = []
    for line in text.split("\n"):
        row = ""
        for part in line.split("\r"):
            row = part + row[len(part) :]
        lines.append(row.rstrip())
    return lines


def test_a_bar_is_rubbed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal a bar moves while an epoch lasts, and only the lines stay."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(progress, "SECONDS_BEFORE_BAR", 0.0)
    monkeypatch.setattr(progress, "MIN_REFRESH_SECONDS", 0.0)
    model_of(0.0).fit(X, Y, batch_size=2, epochs=2)

    text = stream.getvalue()
    assert "Epoch 1/2:  67%|" in text
    assert "2/3 [" in text
    assert "loss: 1.0000]" in text
    assert shown(text) == ["Epoch 1/2 - loss: 1.0000", "Epoch 2/2 - loss: 1.0000", ""]


def test_a_bar_is_rubbed_out_by_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in training leaves no bar behind."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(progress, "SECONDS_BEFORE_BAR", 0.0)

    def fail(batch: int, _logs: Any) -> None:
        if batch == 1:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        model_of().fit(
            X, Y, batch_size=2, callbacks=[nn.callbacks.LambdaCallback(on_train_batch_begin=fail)]
        )

    assert "Epoch 1/1" in stream.getvalue()
    assert shown(stream.getvalue()) == [""]


def test_wrong_callbacks() -> None:
    """Classes, functions and unknown events are refused."""
    for wrong in (nn.callbacks.History, print, "history"):
        with pytest.raises(OptionError, match="a callback must be an instance"):
            model_of().fit(X, Y, verbose=0, callbacks=[wrong])
    with pytest.raises(OptionError, match="no method 'on_epoch'"):
        nn.callbacks.LambdaCallback(on_epoch=print)


def test_nothing_prints_an_address() -> None:
    """What a cell of a notebook may end with has a text that is the same each time."""
    model = model_of(0.0)
    history = model.fit(X, Y, epochs=2, verbose=0)

    assert repr(history) == "<History of 2 epochs: loss>"
    for thing in (
        model,
        model.optimizer,
        model.inputs,
        *model.metrics,
        nn.callbacks.EarlyStopping(),
    ):
        assert " at 0x" not in repr(thing)
