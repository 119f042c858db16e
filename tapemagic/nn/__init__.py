"""Layers, losses, optimizers, metrics and models, by Keras 3's names and formulas, on NumPy.

Examples
--------
>>> import numpy as np
>>> from tapemagic import nn
>>> model = nn.Sequential([nn.Dense(8, activation="relu"), nn.Dense(1)])
>>> model(np.ones((2, 3))).shape
(2, 1)
"""

from typing import TYPE_CHECKING

from tapemagic.nn import activations as activations
from tapemagic.nn import callbacks as callbacks
from tapemagic.nn import config as config
from tapemagic.nn import constraints as constraints
from tapemagic.nn import datasets as datasets
from tapemagic.nn import initializers as initializers
from tapemagic.nn import layers as layers
from tapemagic.nn import losses as losses
from tapemagic.nn import metrics as metrics
from tapemagic.nn import models as models
from tapemagic.nn import optimizers as optimizers
from tapemagic.nn import regularizers as regularizers
from tapemagic.nn import saving as saving
from tapemagic.nn.absent import absent
from tapemagic.nn.layer import Layer as Layer

# Layers stand in `nn` itself, as in PyTorch: nn.Dense. Losses and metrics stay in their modules, because both have
# classes such as MeanSquaredError.
from tapemagic.nn.layers import *  # noqa: F403
from tapemagic.nn.models.model import Model as Model
from tapemagic.nn.models.sequential import Sequential as Sequential
from tapemagic.nn.module import Module as Module
from tapemagic.nn.random import set_random_seed as set_random_seed

if not TYPE_CHECKING:  # it would define every other name
    __getattr__ = absent(__name__)
