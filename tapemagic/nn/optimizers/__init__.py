"""Optimizers: update rules that change variables by their gradients to minimize a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapemagic.nn.identifiers import find
from tapemagic.nn.optimizers import schedules as schedules
from tapemagic.nn.optimizers.adadelta import Adadelta as Adadelta
from tapemagic.nn.optimizers.adagrad import Adagrad as Adagrad
from tapemagic.nn.optimizers.adam import Adam as Adam
from tapemagic.nn.optimizers.adam import Adamax as Adamax
from tapemagic.nn.optimizers.adam import AdamW as AdamW
from tapemagic.nn.optimizers.adam import Nadam as Nadam
from tapemagic.nn.optimizers.lion import Lion as Lion
from tapemagic.nn.optimizers.optimizer import Optimizer as Optimizer
from tapemagic.nn.optimizers.rmsprop import RMSprop as RMSprop
from tapemagic.nn.optimizers.sgd import SGD as SGD

_CLASSES = (SGD, RMSprop, Adam, AdamW, Adadelta, Adagrad, Adamax, Nadam, Lion)
if not TYPE_CHECKING:  # as in `nn.layers`
    __all__ = ["Optimizer", "get", "schedules"]
    __all__ += [kind.__name__ for kind in _CLASSES]

_TABLE: dict[str, type[Optimizer]] = {kind.__name__.lower(): kind for kind in _CLASSES}


def get(identifier: Any) -> Optimizer | None:
    """Look up the optimizer for `identifier`: a name in any case, a class or an object. None stays None here.

    Examples
    --------
    >>> from tapemagic import nn
    >>> nn.optimizers.get(nn.optimizers.SGD(0.5, name="fast"))
    <SGD name='fast', learning_rate=0.5>
    >>> type(nn.optimizers.get("adam")).__name__
    'Adam'
    """
    if identifier is None or isinstance(identifier, Optimizer):
        return identifier
    # Keras accepts "Adam" and "adam".
    name = identifier.lower() if isinstance(identifier, str) else identifier
    optimizer: Optimizer = find(name, _TABLE, "an optimizer")
    return optimizer
