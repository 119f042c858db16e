"""Keras's layers."""

from tapemagic.nn.layer import Layer as Layer
from tapemagic.nn.layers.dense import Dense as Dense
