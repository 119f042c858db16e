"""Keras's layers."""

from tapemagic.nn.layer import Layer as Layer
from tapemagic.nn.layers.convolution import Conv1D as Conv1D
from tapemagic.nn.layers.convolution import Conv2D as Conv2D
from tapemagic.nn.layers.dense import Dense as Dense
from tapemagic.nn.layers.input_layer import Input as Input
from tapemagic.nn.layers.input_layer import InputLayer as InputLayer
from tapemagic.nn.layers.operation import Operation as Operation
from tapemagic.nn.layers.noise import Dropout as Dropout
from tapemagic.nn.layers.noise import GaussianDropout as GaussianDropout
from tapemagic.nn.layers.noise import GaussianNoise as GaussianNoise
from tapemagic.nn.layers.pooling import AveragePooling1D as AveragePooling1D
from tapemagic.nn.layers.pooling import AveragePooling2D as AveragePooling2D
from tapemagic.nn.layers.pooling import AvgPool1D as AvgPool1D
from tapemagic.nn.layers.pooling import AvgPool2D as AvgPool2D
from tapemagic.nn.layers.pooling import GlobalAveragePooling1D as GlobalAveragePooling1D
from tapemagic.nn.layers.pooling import GlobalAveragePooling2D as GlobalAveragePooling2D
from tapemagic.nn.layers.pooling import GlobalAvgPool1D as GlobalAvgPool1D
from tapemagic.nn.layers.pooling import GlobalAvgPool2D as GlobalAvgPool2D
from tapemagic.nn.layers.pooling import GlobalMaxPool1D as GlobalMaxPool1D
from tapemagic.nn.layers.pooling import GlobalMaxPool2D as GlobalMaxPool2D
from tapemagic.nn.layers.pooling import GlobalMaxPooling1D as GlobalMaxPooling1D
from tapemagic.nn.layers.pooling import GlobalMaxPooling2D as GlobalMaxPooling2D
from tapemagic.nn.layers.pooling import MaxPool1D as MaxPool1D
from tapemagic.nn.layers.pooling import MaxPool2D as MaxPool2D
from tapemagic.nn.layers.pooling import MaxPooling1D as MaxPooling1D
from tapemagic.nn.layers.pooling import MaxPooling2D as MaxPooling2D
from tapemagic.nn.layers.shaping import Flatten as Flatten
from tapemagic.nn.layers.shaping import Permute as Permute
from tapemagic.nn.layers.shaping import RepeatVector as RepeatVector
from tapemagic.nn.layers.shaping import Reshape as Reshape

__all__ = [name for name, value in vars().items() if callable(value) and name[0].isupper()]
