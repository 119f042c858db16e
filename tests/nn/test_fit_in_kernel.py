"""fit in a real kernel: what stays in a notebook, and the button that interrupts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ipython.kernels import Kernel, kernel

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

BEGIN = """
import time
from tapemagic import nn
from tapemagic.nn.callbacks import progress
progress.SECONDS_BEFORE_BAR = progress.MIN_REFRESH_SECONDS = 0.0
model = nn.Sequential([nn.Input((2,)), nn.Dense(1, kernel_initializer="zeros")])
model.compile(nn.optimizers.SGD(0.0), "mse")
x, y = np.ones((6, 2)), np.ones(6)
"""
LIVE = "get_ipython().kernel._allow_stdin = True\n"
INTERRUPTED = """
import os, signal, threading
class Interrupted(nn.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 0:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
"""  # as the square button does, but however long the first step takes
FIT = "history = model.fit(x, y, epochs=2, batch_size=2)"
LINES = "Epoch 1/2 - loss: 1.0000\nEpoch 2/2 - loss: 1.0000\n"


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """One kernel for all tests."""
    with kernel(tmp_path_factory.mktemp("kernel")) as started:
        started.run(BEGIN)
        yield started


def test_a_program_that_runs_notebooks_gets_lines_alone(notebook: Kernel) -> None:
    """Where nobody can type, as with nbconvert and nbval, there is no bar in the output."""
    ran = notebook.run(FIT)

    assert ran.stdout == LINES
    assert (ran.stderr, ran.shown, ran.errors) == ("", [], [])


def test_a_bar_for_somebody_who_watches(notebook: Kernel) -> None:
    """The bar overwrites itself, so that it is gone from what a notebook shows, and from what nbval compares."""
    from nbval.plugin import coalesce_streams

    ran = notebook.run(LIVE + FIT)

    assert "Epoch 1/2:  67%|" in ran.stdout
    assert coalesce_streams(ran.outputs)[0].text == LINES
    assert (ran.stderr, ran.shown, ran.errors) == ("", [], [])


def test_the_button_that_interrupts(notebook: Kernel) -> None:
    """An interrupt ends fit between steps; the model can be used, and its history has the finished epochs."""
    ran = notebook.run(
        f"{LIVE}{INTERRUPTED}model.fit(x, y, epochs=10**6, batch_size=2, callbacks=[Interrupted()])"
    )

    assert ran.stopped
    assert "KeyboardInterrupt" in ran.errors[0]
    done = notebook.show(
        "steps = int(model.optimizer.iterations)\n"
        "epochs = len(model.history.epoch)\n"
        "(epochs > 0, len(model.history.history['loss']) == epochs, model.predict(x).shape)"
    )
    assert done == "(True, True, (6, 1))"
    assert notebook.run(FIT).stdout == LINES
