"""Keras's layers."""

from typing import TYPE_CHECKING

from tapemagic.nn.absent import absent
from tapemagic.nn.layer import Layer as Layer
from tapemagic.nn.layers.activation import ELU as ELU
from tapemagic.nn.layers.activation import Activation as Activation
from tapemagic.nn.layers.activation import LeakyReLU as LeakyReLU
from tapemagic.nn.layers.activation import PReLU as PReLU
from tapemagic.nn.layers.activation import ReLU as ReLU
from tapemagic.nn.layers.activation import Softmax as Softmax
from tapemagic.nn.layers.attention import MultiHeadAttention as MultiHeadAttention
from tapemagic.nn.layers.convolution import Conv1D as Conv1D
from tapemagic.nn.layers.convolution import Conv2D as Conv2D
from tapemagic.nn.layers.convolution import Conv3D as Conv3D
from tapemagic.nn.layers.convolution import Convolution1D as Convolution1D
from tapemagic.nn.layers.convolution import Convolution2D as Convolution2D
from tapemagic.nn.layers.convolution import Convolution3D as Convolution3D
from tapemagic.nn.layers.dense import Dense as Dense
from tapemagic.nn.layers.depthwise_convolution import DepthwiseConv1D as DepthwiseConv1D
from tapemagic.nn.layers.depthwise_convolution import DepthwiseConv2D as DepthwiseConv2D
from tapemagic.nn.layers.depthwise_convolution import SeparableConv1D as SeparableConv1D
from tapemagic.nn.layers.depthwise_convolution import SeparableConv2D as SeparableConv2D
from tapemagic.nn.layers.depthwise_convolution import (
    SeparableConvolution1D as SeparableConvolution1D,
)
from tapemagic.nn.layers.depthwise_convolution import (
    SeparableConvolution2D as SeparableConvolution2D,
)
from tapemagic.nn.layers.dot_attention import AdditiveAttention as AdditiveAttention
from tapemagic.nn.layers.dot_attention import Attention as Attention
from tapemagic.nn.layers.embedding import Embedding as Embedding
from tapemagic.nn.layers.input_layer import Input as Input
from tapemagic.nn.layers.input_layer import InputLayer as InputLayer
from tapemagic.nn.layers.masking import Masking as Masking
from tapemagic.nn.layers.merging import Add as Add
from tapemagic.nn.layers.merging import Average as Average
from tapemagic.nn.layers.merging import Concatenate as Concatenate
from tapemagic.nn.layers.merging import Dot as Dot
from tapemagic.nn.layers.merging import Maximum as Maximum
from tapemagic.nn.layers.merging import Minimum as Minimum
from tapemagic.nn.layers.merging import Multiply as Multiply
from tapemagic.nn.layers.merging import Subtract as Subtract
from tapemagic.nn.layers.merging import as_function
from tapemagic.nn.layers.noise import AlphaDropout as AlphaDropout
from tapemagic.nn.layers.noise import Dropout as Dropout
from tapemagic.nn.layers.noise import GaussianDropout as GaussianDropout
from tapemagic.nn.layers.noise import GaussianNoise as GaussianNoise
from tapemagic.nn.layers.noise import SpatialDropout1D as SpatialDropout1D
from tapemagic.nn.layers.noise import SpatialDropout2D as SpatialDropout2D
from tapemagic.nn.layers.noise import SpatialDropout3D as SpatialDropout3D
from tapemagic.nn.layers.normalization import BatchNormalization as BatchNormalization
from tapemagic.nn.layers.normalization import GroupNormalization as GroupNormalization
from tapemagic.nn.layers.normalization import LayerNormalization as LayerNormalization
from tapemagic.nn.layers.operation import Operation as Operation
from tapemagic.nn.layers.padding import Cropping1D as Cropping1D
from tapemagic.nn.layers.padding import Cropping2D as Cropping2D
from tapemagic.nn.layers.padding import Cropping3D as Cropping3D
from tapemagic.nn.layers.padding import UpSampling1D as UpSampling1D
from tapemagic.nn.layers.padding import UpSampling2D as UpSampling2D
from tapemagic.nn.layers.padding import UpSampling3D as UpSampling3D
from tapemagic.nn.layers.padding import ZeroPadding1D as ZeroPadding1D
from tapemagic.nn.layers.padding import ZeroPadding2D as ZeroPadding2D
from tapemagic.nn.layers.padding import ZeroPadding3D as ZeroPadding3D
from tapemagic.nn.layers.pooling import AdaptiveAveragePooling1D as AdaptiveAveragePooling1D
from tapemagic.nn.layers.pooling import AdaptiveAveragePooling2D as AdaptiveAveragePooling2D
from tapemagic.nn.layers.pooling import AdaptiveAveragePooling3D as AdaptiveAveragePooling3D
from tapemagic.nn.layers.pooling import AdaptiveMaxPooling1D as AdaptiveMaxPooling1D
from tapemagic.nn.layers.pooling import AdaptiveMaxPooling2D as AdaptiveMaxPooling2D
from tapemagic.nn.layers.pooling import AdaptiveMaxPooling3D as AdaptiveMaxPooling3D
from tapemagic.nn.layers.pooling import AveragePooling1D as AveragePooling1D
from tapemagic.nn.layers.pooling import AveragePooling2D as AveragePooling2D
from tapemagic.nn.layers.pooling import AveragePooling3D as AveragePooling3D
from tapemagic.nn.layers.pooling import AvgPool1D as AvgPool1D
from tapemagic.nn.layers.pooling import AvgPool2D as AvgPool2D
from tapemagic.nn.layers.pooling import AvgPool3D as AvgPool3D
from tapemagic.nn.layers.pooling import GlobalAveragePooling1D as GlobalAveragePooling1D
from tapemagic.nn.layers.pooling import GlobalAveragePooling2D as GlobalAveragePooling2D
from tapemagic.nn.layers.pooling import GlobalAveragePooling3D as GlobalAveragePooling3D
from tapemagic.nn.layers.pooling import GlobalAvgPool1D as GlobalAvgPool1D
from tapemagic.nn.layers.pooling import GlobalAvgPool2D as GlobalAvgPool2D
from tapemagic.nn.layers.pooling import GlobalAvgPool3D as GlobalAvgPool3D
from tapemagic.nn.layers.pooling import GlobalMaxPool1D as GlobalMaxPool1D
from tapemagic.nn.layers.pooling import GlobalMaxPool2D as GlobalMaxPool2D
from tapemagic.nn.layers.pooling import GlobalMaxPool3D as GlobalMaxPool3D
from tapemagic.nn.layers.pooling import GlobalMaxPooling1D as GlobalMaxPooling1D
from tapemagic.nn.layers.pooling import GlobalMaxPooling2D as GlobalMaxPooling2D
from tapemagic.nn.layers.pooling import GlobalMaxPooling3D as GlobalMaxPooling3D
from tapemagic.nn.layers.pooling import MaxPool1D as MaxPool1D
from tapemagic.nn.layers.pooling import MaxPool2D as MaxPool2D
from tapemagic.nn.layers.pooling import MaxPool3D as MaxPool3D
from tapemagic.nn.layers.pooling import MaxPooling1D as MaxPooling1D
from tapemagic.nn.layers.pooling import MaxPooling2D as MaxPooling2D
from tapemagic.nn.layers.pooling import MaxPooling3D as MaxPooling3D
from tapemagic.nn.layers.recurrent.bidirectional import Bidirectional as Bidirectional
from tapemagic.nn.layers.recurrent.gru import GRU as GRU
from tapemagic.nn.layers.recurrent.gru import GRUCell as GRUCell
from tapemagic.nn.layers.recurrent.lstm import LSTM as LSTM
from tapemagic.nn.layers.recurrent.lstm import LSTMCell as LSTMCell
from tapemagic.nn.layers.recurrent.rnn import RNN as RNN
from tapemagic.nn.layers.recurrent.rnn import StackedRNNCells as StackedRNNCells
from tapemagic.nn.layers.recurrent.simple_rnn import SimpleRNN as SimpleRNN
from tapemagic.nn.layers.recurrent.simple_rnn import SimpleRNNCell as SimpleRNNCell
from tapemagic.nn.layers.scaling import ActivityRegularization as ActivityRegularization
from tapemagic.nn.layers.scaling import Normalization as Normalization
from tapemagic.nn.layers.scaling import Rescaling as Rescaling
from tapemagic.nn.layers.scaling import RMSNormalization as RMSNormalization
from tapemagic.nn.layers.scaling import UnitNormalization as UnitNormalization
from tapemagic.nn.layers.shaping import Flatten as Flatten
from tapemagic.nn.layers.shaping import Permute as Permute
from tapemagic.nn.layers.shaping import RepeatVector as RepeatVector
from tapemagic.nn.layers.shaping import Reshape as Reshape
from tapemagic.nn.layers.transposed_convolution import Conv1DTranspose as Conv1DTranspose
from tapemagic.nn.layers.transposed_convolution import Conv2DTranspose as Conv2DTranspose
from tapemagic.nn.layers.transposed_convolution import Conv3DTranspose as Conv3DTranspose
from tapemagic.nn.layers.transposed_convolution import (
    Convolution1DTranspose as Convolution1DTranspose,
)
from tapemagic.nn.layers.transposed_convolution import (
    Convolution2DTranspose as Convolution2DTranspose,
)
from tapemagic.nn.layers.transposed_convolution import (
    Convolution3DTranspose as Convolution3DTranspose,
)
from tapemagic.nn.layers.wrapping import Identity as Identity
from tapemagic.nn.layers.wrapping import Lambda as Lambda
from tapemagic.nn.layers.wrapping import TimeDistributed as TimeDistributed
from tapemagic.nn.layers.wrapping import Wrapper as Wrapper

# Keras's functions for merging, such as keras.layers.add([a, b]). Only classes are in __all__, and so in `nn` itself.
add, average, concatenate, dot, maximum, minimum, multiply, subtract = map(
    as_function, (Add, Average, Concatenate, Dot, Maximum, Minimum, Multiply, Subtract)
)

# Type checkers can't compute __all__, and would take __getattr__ for a definition of every other name.
if not TYPE_CHECKING:
    __all__ = [name for name, value in vars().items() if callable(value) and name[0].isupper()]
    __getattr__ = absent(__name__)
