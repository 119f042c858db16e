"""Keras's layers."""

from tapemagic.nn.layer import Layer as Layer
from tapemagic.nn.layers.dense import Dense as Dense
from tapemagic.nn.layers.input_layer import Input as Input
from tapemagic.nn.layers.input_layer import InputLayer as InputLayer
from tapemagic.nn.layers.operation import Operation as Operation
