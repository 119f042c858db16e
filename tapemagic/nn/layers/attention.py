"""MultiHeadAttention: averages of a sequence, whose weights are found by comparing it with another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.engine.operations.exponentials import softmax
from tapemagic.engine.operations.normalization import dropout as drop
from tapemagic.engine.operations.windows import integers_in
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import positive, share
from tapemagic.nn.conversions import as_array
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer
from tapemagic.nn.layers.activation import masked_softmax
from tapemagic.nn.random import generator

SEQUENCES = InputSpec("batch, time, features")


class Projection(Layer):
    """A dense layer over the last `contracted` axes, whose outputs have several axes, too.

    Parameters
    ----------
    outputs : tuple of int
        The lengths of the axes of the output, in the place of those of the input.
    contracted : int
        The number of axes of the input that are summed over.
    use_bias : bool
    weights : dict
        The initializers and regularizers, by their names as parameters of layers.
    **kwargs
        As of `Layer`.
    """

    cast_kinds = "fbiu"

    def __init__(
        self,
        outputs: tuple[int, ...],
        contracted: int,
        use_bias: bool,
        weights: dict[str, Any],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.outputs = outputs
        self.contracted = contracted
        self.use_bias = use_bias
        self.weight_options = weights

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        self._inner = tuple(input_shape[-self.contracted :])
        options = self.weight_options
        self.kernel = self.add_weight(
            (*self._inner, *self.outputs),
            options["kernel_initializer"],
            regularizer=options["kernel_regularizer"],
            name="kernel",
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                self.outputs,
                options["bias_initializer"],
                regularizer=options["bias_regularizer"],
                name="bias",
            )
        lengths = {n - self.contracted: length for n, length in enumerate(self._inner)}
        self.input_spec = InputSpec("batch, time, ..., features", lengths)

    def call(self, inputs: Any) -> Any:
        """The outputs."""
        lead = inputs.shape[: -self.contracted]
        rows, columns = math.prod(self._inner), math.prod(self.outputs)
        flat = inputs.reshape((math.prod(lead), rows)) @ np.reshape(self.kernel, (rows, columns))
        outputs = flat.reshape((*lead, *self.outputs))
        return outputs if self.bias is None else outputs + self.bias

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The batch, the time and the outputs."""
        return (*input_shape[: -self.contracted], *self.outputs)


class MultiHeadAttention(Layer):
    """For each element of a query, averages of values, with weights from products of the query and the keys [1]_.

    Each head projects query, keys and values, computes ``softmax(query @ keys.T / sqrt(key_dim)) @ values``, and the
    results of all heads are projected to the output.

    Parameters
    ----------
    num_heads : int
        The number of heads.
    key_dim : int
        The length of the projected query and keys of a head.
    value_dim : int, optional
        The length of the projected values of a head; `key_dim` if left out.
    dropout : float, optional
        In training, the share of weights that become 0.
    use_bias : bool, optional
    output_shape : int or sequence of int, optional
        The lengths of the output's last axes; the number of features of the query if left out.
    attention_axes : None, optional
        Only None, or 1: attention along the time axis.
    kernel_initializer, bias_initializer : str, callable or Initializer, optional
    kernel_regularizer, bias_regularizer : str, callable or Regularizer, optional
    seed : int or numpy.random.Generator, optional
        Of dropout.
    **kwargs
        `name`, `trainable`, `dtype` and `activity_regularizer`, as of `Layer`.

    Raises
    ------
    OptionError
        If a parameter has a value that it does not take.

    Notes
    -----
    The weights are kernel and bias of the query, of shape (features, heads, key_dim) and (heads, key_dim), of the key,
    of the value, and of the output. Where a mask lets nothing through, the weights are 0; those of Keras 3.15 are then
    equal, unless they are returned or there is dropout.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", NIPS 2017, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> layer = nn.MultiHeadAttention(num_heads=2, key_dim=4)
    >>> x = np.zeros((1, 5, 3))
    >>> output, scores = layer(x, x, use_causal_mask=True, return_attention_scores=True)
    >>> output.shape, scores.shape
    ((1, 5, 3), (1, 2, 5, 5))
    """

    input_spec = SEQUENCES
    cast_kinds = "fbiu"

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: Any = None,
        attention_axes: Any = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        seed: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        kind = "MultiHeadAttention"
        self.num_heads = positive(num_heads, f"num_heads of {kind}")
        self.key_dim = positive(key_dim, f"key_dim of {kind}")
        self.value_dim = (
            self.key_dim if value_dim is None else positive(value_dim, f"value_dim of {kind}")
        )
        self.dropout = share(dropout, f"dropout of {kind}")
        self.use_bias = bool(use_bias)
        self.output_shape = None if output_shape is None else integers_in(output_shape)
        if self.output_shape is not None and min(self.output_shape, default=0) < 1:
            raise OptionError(
                f"the output_shape of {kind} is made of positive whole numbers, not {output_shape!r}"
            )
        if attention_axes is not None and integers_in(attention_axes) != (1,):
            raise OptionError(
                f"{kind} attends along the time axis, not along attention_axes={attention_axes!r}: reshape the other "
                "axes into that, or into the batch"
            )
        self.weight_options = {
            "kernel_initializer": kernel_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "bias_regularizer": bias_regularizer,
        }
        self.seed = seed
        self._own = None if seed is None else generator(seed)

    def __call__(  # type: ignore[override]
        self, query: Any, value: Any, key: Any = None, **kwargs: Any
    ) -> Any:
        """Call the layer on a query, values and keys.

        Parameters
        ----------
        query : array_like or Tensor, shape (batch, time, features)
        value : array_like or Tensor, shape (batch, length, features)
        key : array_like or Tensor, shape (batch, length, features), optional
            The values if left out.
        **kwargs
            `attention_mask`, False where an element of the query does not attend to a value, of the shape
            (batch, time, length), or what broadcasts to it, or to (batch, heads, time, length); `query_mask` (batch,
            time), `value_mask` and `key_mask` (batch, length); `use_causal_mask`, whether it attends to no later one;
            `return_attention_scores`; and `training`, as of `Layer`.

        Returns
        -------
        Tensor or (Tensor, Tensor)
            The output, of the shape (batch, time, output_shape); and the weights (batch, heads, time, length) if the
            scores are to be returned.
        """
        several = (query, value) if key is None else (query, value, key)
        return super().__call__(*several, **kwargs)

    def _build_for(self, given: list[Any]) -> None:
        self.build(*(x.shape for x in given))

    def build(self, query_shape: Any, value_shape: Any = None, key_shape: Any = None) -> None:
        """Make the four projections."""
        value_shape = query_shape if value_shape is None else value_shape
        heads = self.num_heads
        outputs = (query_shape[-1],) if self.output_shape is None else self.output_shape
        self.query_dense = self._projection((heads, self.key_dim), 1, "query")
        self.key_dense = self._projection((heads, self.key_dim), 1, "key")
        self.value_dense = self._projection((heads, self.value_dim), 1, "value")
        self.output_dense = self._projection(outputs, 2, "attention_output")
        self.query_dense.build(query_shape)
        self.key_dense.build(value_shape if key_shape is None else key_shape)
        self.value_dense.build(value_shape)
        self.output_dense.build((*query_shape[:-1], heads, self.value_dim))
        self.input_spec = SEQUENCES.built_for({-1: query_shape[-1]})

    def _projection(self, outputs: tuple[int, ...], contracted: int, name: str) -> Projection:
        return Projection(
            outputs,
            contracted,
            self.use_bias,
            self.weight_options,
            name=name,
            dtype=self.dtype,
            trainable=self.trainable,
        )

    def call(
        self,
        query: Any,
        value: Any,
        key: Any = None,
        query_mask: Any = None,
        value_mask: Any = None,
        key_mask: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        """The output, and the weights if they are to be returned."""
        key = value if key is None else key
        self._require_matching(query.shape, value.shape, key.shape)
        shape = (query.shape[0], query.shape[1], value.shape[1])
        masks = [
            _column(query_mask, -1),
            _column(value_mask, -2),
            _column(key_mask, -2),
            None if attention_mask is None else _truth(attention_mask),
            np.tri(*shape[1:], dtype=bool) if use_causal_mask else None,
        ]
        q = np.swapaxes(self.query_dense(query) * (1 / math.sqrt(self.key_dim)), 1, 2)
        k = np.transpose(self.key_dense(key), (0, 2, 3, 1))
        v = np.swapaxes(self.value_dense(value), 1, 2)
        scores = q @ k
        mask = self._joined([mask for mask in masks if mask is not None], shape)
        weights = softmax(scores) if mask is None else masked_softmax(scores, mask, (-1,))
        kept = weights
        if training and self.dropout:
            kept = drop(weights, self.dropout, generator(self._own))
        outputs = self.output_dense(np.swapaxes(kept @ v, 1, 2))
        return (outputs, weights) if return_attention_scores else outputs

    def _require_matching(self, query: Any, value: Any, key: Any) -> None:
        """Raise an error for sequences that do not go together."""
        if len(value) != 3 or len(key) != 3 or value[:2] != key[:2] or query[0] != value[0]:
            raise ShapeError(
                f"the layer {self.path!r} takes a query (batch, time, features), and values and keys (batch, length, "
                f"features) of the same batch and length, and got the shapes {query}, {value} and {key}"
            )

    def _joined(self, masks: list[Any], shape: tuple[int, int, int]) -> Any:
        """One mask that broadcasts to (batch, heads, time, length), true where all are; None for no masks."""
        if not masks:
            return None
        batch, *rest = shape
        full = (batch, self.num_heads, *rest)
        each = [mask[:, None] if mask.ndim == 3 else mask for mask in masks]
        try:
            if np.broadcast_shapes(full, *(mask.shape for mask in each)) == full:
                joined = each[0]
                for mask in each[1:]:
                    joined = joined & mask
                return joined
        except ValueError:
            pass
        raise ShapeError(
            f"the layer {self.path!r} got masks of the shapes {[mask.shape for mask in masks]}, of which one does "
            f"not broadcast to (batch, time, length), here {shape}"
        )

    def compute_output_shape(
        self,
        query_shape: Any,
        value_shape: Any = None,  # noqa: ARG002
        key_shape: Any = None,  # noqa: ARG002
    ) -> Any:
        """The batch and the time of the query, and the shape of the outputs."""
        self._require_shape(tuple(query_shape))
        outputs = (query_shape[-1],) if self.output_shape is None else self.output_shape
        return (*query_shape[:-1], *outputs)


def _truth(mask: Any) -> Any:
    """A mask as truth values."""
    return as_array(mask).astype(bool)


def _column(mask: Any, axis: int) -> Any:
    """A mask of a sequence with an axis for the other sequence."""
    return None if mask is None else np.expand_dims(_truth(mask), axis)
