"""TerminateOnNaN: an end to training, and not an error, when the loss is no number."""

from __future__ import annotations

import math
from typing import Any

from tapemagic.nn.callbacks.callback import Callback, Logs, say


class TerminateOnNaN(Callback):
    """Stop training when the loss or a gradient is not finite, with a line of text and not with an error.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> stop = nn.callbacks.TerminateOnNaN()
    >>> history = model.fit(np.ones((4, 2)), np.full(4, np.nan), epochs=5, verbose=0, callbacks=[stop])
    Batch 0: Invalid loss, terminating training
    >>> history.epoch
    []
    """

    def on_nonfinite(self, batch: int, error: Exception) -> None:  # noqa: ARG002 (for callbacks that show it)
        """Called in the place of an error."""
        say(f"Batch {batch}: Invalid loss, terminating training")
        self.model.stop_training = True

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Stop after a step of a model's own that gave such a loss."""
        loss: Any = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            say(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True
