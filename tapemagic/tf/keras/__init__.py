"""Keras's names with TensorFlow's tensors: ``tf.keras``, the part of it that `tapemagic.nn` has.

Examples
--------
>>> import tapemagic.tf as tf
>>> layer = tf.keras.layers.Dense(2, activation="relu", kernel_initializer="ones")
>>> layer(tf.constant([[1.0, 2.0, 3.0]]))
<tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[6., 6.]], dtype=float32)>
"""

from tapemagic.nn.config import DTypePolicy as DTypePolicy
from tapemagic.nn.input_spec import InputSpec as InputSpec
from tapemagic.nn.symbolic import SymbolicTensor as KerasTensor
from tapemagic.tf.core.missing import missing
from tapemagic.tf.keras import activations as activations
from tapemagic.tf.keras import backend as backend
from tapemagic.tf.keras import callbacks as callbacks
from tapemagic.tf.keras import config as config
from tapemagic.tf.keras import constraints as constraints
from tapemagic.tf.keras import datasets as datasets
from tapemagic.tf.keras import initializers as initializers
from tapemagic.tf.keras import layers as layers
from tapemagic.tf.keras import losses as losses
from tapemagic.tf.keras import metrics as metrics
from tapemagic.tf.keras import mixed_precision as mixed_precision
from tapemagic.tf.keras import models as models
from tapemagic.tf.keras import ops as ops
from tapemagic.tf.keras import optimizers as optimizers
from tapemagic.tf.keras import preprocessing as preprocessing
from tapemagic.tf.keras import random as random
from tapemagic.tf.keras import regularizers as regularizers
from tapemagic.tf.keras import saving as saving
from tapemagic.tf.keras import utils as utils
from tapemagic.tf.keras.adapted import Initializer as Initializer
from tapemagic.tf.keras.adapted import Loss as Loss
from tapemagic.tf.keras.adapted import Metric as Metric
from tapemagic.tf.keras.adapted import Optimizer as Optimizer
from tapemagic.tf.keras.adapted import Regularizer as Regularizer
from tapemagic.tf.keras.backend import name_scope as name_scope
from tapemagic.tf.keras.layers import Input as Input
from tapemagic.tf.keras.layers import Layer as Layer
from tapemagic.tf.keras.models import Model as Model
from tapemagic.tf.keras.models import Sequential as Sequential
from tapemagic.tf.keras.variable import Variable as Variable
from tapemagic.tf.version import KERAS_VERSION

__version__ = KERAS_VERSION

__all__ = [
    "DTypePolicy", "Initializer", "Input", "InputSpec", "KerasTensor", "Layer", "Loss", "Metric",
    "Model", "Optimizer", "Regularizer", "Sequential", "Variable", "activations", "backend",
    "callbacks", "config", "constraints", "datasets", "initializers", "layers", "losses", "metrics",
    "mixed_precision", "models", "name_scope", "ops", "optimizers", "preprocessing", "random",
    "regularizers", "saving", "utils",
]  # fmt: skip
__getattr__ = missing(__name__, __all__)
