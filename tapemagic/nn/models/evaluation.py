"""Evaluator: the methods evaluate and predict, which work batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import leaves, pack
from tapemagic.engine.recording import silence
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.nn.arguments import integer
from tapemagic.nn.callbacks.callback import CallbackList
from tapemagic.nn.callbacks.progress import Progress
from tapemagic.nn.models.batches import (
    ArrayBatches,
    Batches,
    ChunkedBatches,
    IteratedBatches,
    arrays_in,
    is_iterable_data,
    pack_x_y_sample_weight,
    rows_of,
    weights_of_classes,
)
from tapemagic.nn.models.logs import (
    Logs,
    between_steps,
    closed,
    listed,
    one_or_all,
    plain_logs,
    require_without_effect,
    verbosity,
    without_own_frames,
)
from tapemagic.nn.models.train_steps import Steps


class Evaluator(Steps):
    """Mix-in of a model: evaluation and prediction on data."""

    @without_own_frames
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
        **without_effect: Any,
    ) -> Any:
        """Compute the loss and the metrics for data.

        Parameters
        ----------
        x, y, batch_size, sample_weight : optional, see `fit`
        verbose : 'auto', 0, 1 or 2, optional
            0 prints nothing, 2 a line, "auto" and 1 also a progress bar in an interactive session.
        steps : int, optional
            The number of batches; by default all.
        callbacks : list of Callback, optional
        return_dict : bool, optional
        **without_effect : see `fit`

        Returns
        -------
        float, list of float, or dict of str to float
            The loss, then the metrics; only the loss if there are no metrics; by name
            if `return_dict`. Errors are those of `fit`.
        """
        require_without_effect("evaluate", without_effect)
        self.require_compiled("evaluate")
        size = integer(32 if batch_size is None else batch_size, "batch_size", 1)
        batches = self._batches(x, y, sample_weight, size, False, steps, None)
        progress = [Progress(verbosity(verbose))] if verbosity(verbose) else []
        callback_list = CallbackList(
            [*listed(callbacks), *progress], self, steps=batches.steps, verbose=verbose
        )
        with closed(progress):
            logs = self._test(batches, callback_list)
        return logs if return_dict else one_or_all(logs, self.get_metrics_result())

    def _test(
        self,
        batches: Batches,
        callback_list: CallbackList,
        interrupt: Callable[[], None] | None = None,
    ) -> Logs:
        """Evaluate the model on batches, and return the results as floats."""
        self.reset_metrics()
        callback_list.call("on_test_begin", None)
        logs: Logs = {}
        has_listeners = callback_list.has_listeners("on_test_batch_end")
        # `closing` ends the generator of batches at once after an error, so that chunks and files are freed.
        # Each validation restarts, so that the results of all epochs are about the same examples.
        with silence(), closing(batches.epoch(restart=True)) as epoch_batches:
            for number, (data, _) in enumerate(epoch_batches):
                callback_list.call("on_test_batch_begin", number, None)
                # The results are converted to floats only where a callback reads them: that costs a copy each.
                logs = self.test_step(data)
                if has_listeners:
                    callback_list.call("on_test_batch_end", number, plain_logs(logs))
                if interrupt is not None:
                    interrupt()
        results = plain_logs(logs)
        callback_list.call("on_test_end", results)
        return results

    @without_own_frames
    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = 0,  # noqa: ARG002 (Keras's signature)
        steps: int | None = None,
        callbacks: Any = None,
        **without_effect: Any,
    ) -> Any:
        """Compute the outputs for data, batch by batch, without recording by tapes.

        Parameters
        ----------
        x : array_like or Dask array, list or dict of these, or iterable, see `fit`
        batch_size : int, optional
            By default 32.
        verbose : optional
            Not used: nothing is printed. Keras's signature has it.
        steps : int, optional
            The number of batches; by default all.
        callbacks : list of Callback, optional
        **without_effect : see `fit`

        Returns
        -------
        numpy.ndarray, or structure of them
            The outputs for all examples, in memory even for Dask arrays. For lazy outputs, call
            `tapemagic.distributed.map_blocks` with the model. Errors are those of `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from tapemagic import nn
        >>> model = nn.Sequential([nn.Dense(1, kernel_initializer="ones")])
        >>> model.predict(np.array([[1.0, 2.0], [3.0, 4.0]]))
        array([[3.],
               [7.]], dtype=float32)
        """
        require_without_effect("predict", without_effect)
        size = integer(32 if batch_size is None else batch_size, "batch_size", 1)
        batches = self._batches(x, None, None, size, False, steps, None)
        callback_list = CallbackList(listed(callbacks), self, steps=batches.steps)
        callback_list.call("on_predict_begin", None)
        collected: list[Any] = []
        with silence(), closing(batches.epoch()) as epoch_batches:
            for number, (data, _) in enumerate(epoch_batches):
                callback_list.call("on_predict_batch_begin", number, None)
                outputs = self.predict_step(data)
                arrays = [np.asarray(unwrap(part)) for part in leaves(outputs)]
                collected.append(arrays)
                logs = {"outputs": pack(outputs, arrays)}
                callback_list.call("on_predict_batch_end", number, logs)
        callback_list.call("on_predict_end", None)
        # Joined once at the end: appending batch by batch would copy the earlier outputs each time.
        return pack(outputs, [np.concatenate(parts) for parts in zip(*collected, strict=True)])

    @without_own_frames
    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Mapping[int, float] | None = None,
        return_dict: bool = False,
    ) -> Any:
        """Train on one batch. See `fit` for the arguments and errors, and `evaluate` for the result."""
        self.require_compiled("train_on_batch")
        self.reset_metrics()
        # Ctrl-C waits until all variables are updated, and the optimizer's state with them.
        with between_steps():
            logs = plain_logs(self.train_step(self._batch(x, y, sample_weight, class_weight)))
        return logs if return_dict else one_or_all(logs, self.get_metrics_result())

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """Compute the loss and the metrics for one batch. See `evaluate` for the result."""
        self.require_compiled("test_on_batch")
        self.reset_metrics()
        with silence():
            logs = plain_logs(self.test_step(self._batch(x, y, sample_weight, None)))
        return logs if return_dict else one_or_all(logs, self.get_metrics_result())

    def predict_on_batch(self, x: Any) -> Any:
        """Compute the outputs for one batch. See `predict` for the result."""
        with silence():
            outputs = self.predict_step(self._batch(x, None, None, None))
        return pack(outputs, [np.asarray(unwrap(part)) for part in leaves(outputs)])

    def _batch(self, x: Any, y: Any, sample_weight: Any, class_weight: Any) -> Any:
        """Convert arrays to the batch of tensors that `train_step` receives."""
        batches = self._batches(x, y, sample_weight, 1, False, None, class_weight)
        if not isinstance(batches, ArrayBatches):
            raise OptionError(
                "a batch consists of arrays in memory: write fit(...) for an iterable or Dask arrays, or x.compute()"
            )
        parts = [None if part is None else rows_of(part, slice(None)) for part in batches.data]
        return pack_x_y_sample_weight(*parts)

    def _batches(
        self,
        x: Any,
        y: Any,
        sample_weight: Any,
        batch_size: int,
        shuffle: bool,
        steps: int | None,
        class_weight: Any,
    ) -> Batches:
        """Convert data to an iterable of batches."""
        steps = None if steps is None else integer(steps, "the number of steps", 1)
        if class_weight is not None and sample_weight is not None:
            raise OptionError("pass class_weight or sample_weight, not both")
        if is_iterable_data(x):
            if y is not None or sample_weight is not None:
                raise OptionError(
                    "an iterable yields targets and weights together with the inputs, as (x, y) or "
                    "(x, y, sample_weight): omit y and sample_weight"
                )
            return IteratedBatches(x, self.input_dtype, steps, class_weight)
        if x is None:
            raise OptionError("there is no data: write fit(x, y)")
        x = arrays_in(x, "x", self.input_dtype)
        # Keras casts all arrays, so that losses, metrics and train steps of users compute in one dtype.
        dtype = self.target_dtype
        y = None if y is None else arrays_in(y, "y", dtype)
        weight = None if sample_weight is None else arrays_in(sample_weight, "sample_weight", dtype)
        if any(map(is_lazy, leaves([x, y, weight]))):
            return ChunkedBatches(x, y, weight, batch_size, bool(shuffle), steps, class_weight)
        # For arrays in memory the weights are computed once; for other data, batch by batch.
        if class_weight is not None:
            weight = weights_of_classes(y, class_weight)
        return ArrayBatches(x, y, weight, batch_size, bool(shuffle), steps)
