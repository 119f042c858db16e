"""Callback: the base class of objects that are called during training."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import ModelError, OptionError

Logs = Mapping[str, Any] | None


def print_line(text: str) -> None:
    """Print a line for a callback with `verbose`."""
    print(text)  # noqa: T201


class Callback:
    """Base class of callbacks: override the methods that should be called.

    `logs` holds the loss and the metrics so far as floats; names of validation results begin with ``val_``. Entries
    that `on_epoch_end` adds to `logs` become part of the history.

    Attributes
    ----------
    model : Model
        The model in training; ``self.model.stop_training = True`` ends training after the current batch.
    params : dict
        "epochs", "steps" and "verbose" of `fit`; "steps" is None if unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> class Tell(nn.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print(epoch, sorted(logs))
    >>> model = nn.Sequential([nn.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> history = model.fit(np.ones((4, 2)), np.ones(4), epochs=2, verbose=0, callbacks=[Tell()])
    0 ['loss']
    1 ['loss']
    """

    _model: Any = None
    params: Mapping[str, Any] = {}

    @property
    def model(self) -> Any:
        """The model, or None before `fit`."""
        # A weak reference: the model refers to its history, which is a callback, and reference cycles would keep
        # large arrays until the next garbage collection.
        if self._model is None:
            return None
        model = self._model()
        if model is None:
            raise ModelError(
                f"the model of this {type(self).__name__} is gone: keep a reference to it, as in "
                "model = nn.Sequential(...)"
            )
        return model

    @model.setter
    def model(self, model: Any) -> None:
        self._model = None if model is None else weakref.ref(model)

    def __getstate__(self) -> dict[str, Any]:
        # Weak references can't be pickled, so the model itself is stored instead.
        return {**vars(self), "_model": self._model and self._model()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.model = state["_model"]

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Set the attribute `params`."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Set the attribute `model`."""
        self.model = model

    def on_train_begin(self, logs: Logs = None) -> None:
        """Called when `fit` begins."""

    def on_train_end(self, logs: Logs = None) -> None:
        """Called when `fit` ends, except after an error or an interrupt."""

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Called before an epoch, numbered from 0."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Called after an epoch and its validation."""

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called before a step, numbered from 0 in each epoch."""

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called after a step."""

    def on_test_begin(self, logs: Logs = None) -> None:
        """Called before an evaluation or validation."""

    def on_test_end(self, logs: Logs = None) -> None:
        """Called after an evaluation or validation."""

    def on_test_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called before a batch is evaluated."""

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called after a batch was evaluated."""

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Called when `predict` begins."""

    def on_predict_end(self, logs: Logs = None) -> None:
        """Called when `predict` ends."""

    def on_predict_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called before the outputs of a batch are computed."""

    def on_predict_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called after the outputs of a batch, ``logs["outputs"]``, were computed."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    on_batch_begin = on_train_batch_begin
    on_batch_end = on_train_batch_end


_OLD_NAMES = {"on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}
HOOKS = [
    name for name in vars(Callback) if name.startswith("on_") and name not in _OLD_NAMES.values()
]


class Params(dict[str, Any]):
    """The attribute `params` of callbacks: Keras's entries, and as attributes what only the callbacks here read.

    - `initial_epoch`: The epoch with which `fit` begins.
    - `validates`: True if `fit` has validation data.
    """

    initial_epoch = 0
    validates = False


class CallbackList:
    """A list of callbacks, whose overridden methods are called together.

    Raises OptionError if an item isn't a callback.

    Parameters
    ----------
    callbacks : iterable of Callback
    model : Model
    **params
        The attribute `params` of the callbacks.

    Examples
    --------
    >>> from tapemagic import nn
    >>> show = nn.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs))
    >>> nn.callbacks.CallbackList([show], nn.Sequential()).call("on_epoch_end", 0, {"loss": 0.5})
    0 {'loss': 0.5}
    """

    def __init__(self, callbacks: Iterable[Any], model: Any, **params: Any) -> None:
        self.callbacks = list(callbacks)
        shown_params = Params(params)
        for name in ("initial_epoch", "validates"):
            if name in params:
                setattr(shown_params, name, shown_params.pop(name))
        for callback in self.callbacks:
            if isinstance(callback, type) or not all(hasattr(callback, name) for name in HOOKS):
                raise OptionError(
                    f"a callback must be an instance of a subclass of Callback, not {shown(callback)}: write "
                    "nn.callbacks.EarlyStopping(), or nn.callbacks.LambdaCallback(on_epoch_end=function)"
                )
            callback.set_params(shown_params)
            callback.set_model(model)
        # Looked up once: most callbacks override few methods, and a step of a small model takes less than 1 ms.
        self._methods = {hook: self._overrides(hook) for hook in HOOKS}

    def _overrides(self, hook: str) -> list[Callable[..., None]]:
        """Return the overrides of a method, under its name or Keras's older name."""
        methods = []
        for callback in self.callbacks:
            for name in (hook, _OLD_NAMES.get(hook, hook)):
                method = getattr(callback, name)
                # `__func__`, because a bound method is a new object at each access.
                if getattr(method, "__func__", method) is not getattr(Callback, hook):
                    methods.append(method)
                    break
        return methods

    def has_listeners(self, hook: str) -> bool:
        """Return True if any callback overrides the method `hook`."""
        return bool(self._methods[hook])

    def call(self, hook: str, *args: Any) -> None:
        """Call all overrides of the method `hook`."""
        # Hooks without results get {}, as in Keras: users write sorted(logs), or logs.get("loss").
        if args[-1] is None:
            args = (*args[:-1], {})
        for method in self._methods[hook]:
            method(*args)


class LambdaCallback(Callback):
    """A callback that calls functions.

    Raises OptionError if there is no such method, or a value isn't a function.

    Parameters
    ----------
    on_epoch_begin, on_epoch_end, on_train_begin, on_train_end, on_train_batch_begin, on_train_batch_end : callable, \
optional
        Called with the arguments of these methods: ``f(epoch, logs)``, ``f(logs)``, ``f(batch, logs)``.
    **kwargs
        Functions for the other methods of `Callback`.

    Examples
    --------
    >>> from tapemagic import nn
    >>> tell = nn.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs["loss"]))
    """

    def __init__(
        self,
        on_epoch_begin: Any = None,
        on_epoch_end: Any = None,
        on_train_begin: Any = None,
        on_train_end: Any = None,
        on_train_batch_begin: Any = None,
        on_train_batch_end: Any = None,
        **kwargs: Any,
    ) -> None:
        functions = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin,
            "on_train_batch_end": on_train_batch_end,
            **kwargs,
        }
        for name, function in functions.items():
            if name not in {*HOOKS, *_OLD_NAMES.values()}:
                raise OptionError(
                    f"callbacks have no method {name!r}: they have {', '.join(HOOKS)}"
                )
            if function is not None:
                if not callable(function):
                    raise OptionError(f"{name} must be a function, not {shown(function)}")
                setattr(self, name, function)
