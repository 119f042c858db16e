"""Callbacks: objects that are called at each epoch and batch, and may stop training."""

from typing import TYPE_CHECKING

from tapemagic.nn.callbacks.callback import Callback as Callback
from tapemagic.nn.callbacks.callback import CallbackList as CallbackList
from tapemagic.nn.callbacks.callback import LambdaCallback as LambdaCallback
from tapemagic.nn.callbacks.checkpoint import ModelCheckpoint as ModelCheckpoint
from tapemagic.nn.callbacks.early_stopping import EarlyStopping as EarlyStopping
from tapemagic.nn.callbacks.early_stopping import TerminateOnNaN as TerminateOnNaN
from tapemagic.nn.callbacks.history import CSVLogger as CSVLogger
from tapemagic.nn.callbacks.history import History as History
from tapemagic.nn.callbacks.learning_rate import LearningRateScheduler as LearningRateScheduler
from tapemagic.nn.callbacks.learning_rate import ReduceLROnPlateau as ReduceLROnPlateau
from tapemagic.nn.callbacks.tensorboard import TensorBoard as TensorBoard

if not TYPE_CHECKING:  # as in `nn.layers`
    __all__ = [name for name, value in vars().items() if isinstance(value, type)]
