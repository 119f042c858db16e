"""MultiHeadAttention: averages of a sequence, weighted by comparing it with another sequence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.engine.operations.exponentials import softmax
from tapemagic.engine.operations.windows import integers_in
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import positive, share
from tapemagic.nn.attached_masks import remove_mask
from tapemagic.nn.conversions import as_array
from tapemagic.nn.input_spec import InputSpec
from tapemagic.nn.layer import Layer
from tapemagic.nn.layers.activation import masked_softmax
from tapemagic.nn.random import dropped, generator

SEQUENCES = InputSpec("batch, time, features")


class Projection(Layer):
    """A dense layer that replaces the last `contracted` axes of its input by the axes `outputs`.

    `weights` holds the initializers and regularizers, by the names of the parameters of layers.
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
        kinds = ("kernel", "bias")
        own = {kind: kwargs.pop(f"{kind}_constraint", None) for kind in kinds}
        super().__init__(**kwargs)
        self._constraints = {kind: value for kind, value in own.items() if value is not None}
        self.outputs = outputs
        self.contracted = contracted
        self.use_bias = use_bias
        self.weight_options = weights

    def build(self, input_shape: Any) -> None:
        """Create the kernel and the bias."""
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
        """Return the projection of the inputs."""
        # Keras writes an einsum. A product of matrices records one operation whose gradient is two products.
        lead = inputs.shape[: -self.contracted]
        rows, columns = math.prod(self._inner), math.prod(self.outputs)
        flat = inputs.reshape((math.prod(lead), rows)) @ np.reshape(self.kernel, (rows, columns))
        outputs = flat.reshape((*lead, *self.outputs))
        return outputs if self.bias is None else outputs + self.bias

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the leading axes of the input and the axes of the output."""
        return (*input_shape[: -self.contracted], *self.outputs)


class MultiHeadAttention(Layer):
    """Averages of values for each element of a query, with weights from products of the query and the keys [1]_.

    Each head projects query, keys and values, and computes ``softmax(query @ keys.T / sqrt(key_dim)) @ values``. The
    results of all heads are projected to the output.

    The weights are kernel and bias of the query, of shape (features, heads, key_dim) and (heads, key_dim), of the key,
    of the value, and of the output. Where a mask excludes everything, the attention weights are 0; in Keras 3.15 they
    are then equal, unless they are returned or there is dropout.

    Parameters
    ----------
    num_heads : int
        The number of heads.
    key_dim : int
        The length of the projected query and keys of a head.
    value_dim : int, optional
        The length of the projected values of a head, by default `key_dim`.
    dropout : float, optional
        The share of weights that become 0 during training.
    output_shape : int or sequence of int, optional
        The lengths of the output's last axes, by default the number of features of the query.
    attention_axes : None, optional
        Only None or 1: attention along the time axis.
    **kwargs : see `Layer`

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

    supports_masking = True

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
                f"the output_shape of {kind} must be positive integers, not {output_shape!r}"
            )
        if attention_axes is not None and integers_in(attention_axes) != (1,):
            raise OptionError(
                f"{kind} attends along the time axis, not along attention_axes={attention_axes!r}: reshape the other "
                "axes into the time axis, or into the batch"
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
            By default the values.
        **kwargs
            `attention_mask`, False where an element of the query ignores a value, which broadcasts to
            (batch, time, length) or (batch, heads, time, length); `query_mask` (batch, time), `value_mask` and
            `key_mask` (batch, length); `use_causal_mask`, True to ignore later values; `return_attention_scores`; and
            `training`, see `Layer`.

        Returns
        -------
        Tensor or (Tensor, Tensor)
            The output, of the shape (batch, time, output_shape), and with `return_attention_scores` the weights, of
            the shape (batch, heads, time, length).
        """
        arguments = (query, value) if key is None else (query, value, key)
        return super().__call__(*arguments, **kwargs)

    def _config_value(self, name: str, default: Any) -> Any:
        options = self.weight_options
        return options[name] if name in options else super()._config_value(name, default)

    def get_build_config(self) -> dict[str, Any] | None:
        """Return None: the layer is built by its call, for the shapes of all its inputs."""
        return None

    def _build_for(self, inputs: list[Any]) -> None:
        self.build(*(x.shape for x in inputs))

    def build(self, query_shape: Any, value_shape: Any = None, key_shape: Any = None) -> None:
        """Create the four projections."""
        # The projections are built here and not at their first call, because only this method knows the shapes of all
        # inputs, and their order of creation is Keras's order of weights.
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
            **{f"{kind}_constraint": value for kind, value in self._constraints.items()},
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
        """Return the output, and with `return_attention_scores` the weights."""
        key = value if key is None else key
        # As in Keras: only the output has a mask from here on, also where the inputs are used again.
        for x in (query, value, key):
            remove_mask(x)
        self._require_matching(query.shape, value.shape, key.shape)
        shape = (query.shape[0], query.shape[1], value.shape[1])
        masks = [
            _column(query_mask, -1),
            _column(value_mask, -2),
            _column(key_mask, -2),
            None if attention_mask is None else _truth(attention_mask),
            np.tri(*shape[1:], dtype=bool) if use_causal_mask else None,
        ]
        # Without the factor, the variance of the scores grows with key_dim, and the softmax saturates (section 3.2.1 of
        # [1]). As in Keras, the query is scaled, not the scores: it's usually the smaller array.
        q = np.swapaxes(self.query_dense(query) * (1 / math.sqrt(self.key_dim)), 1, 2)
        k = np.transpose(self.key_dense(key), (0, 2, 3, 1))
        v = np.swapaxes(self.value_dense(value), 1, 2)
        scores = q @ k
        mask = self._joined([mask for mask in masks if mask is not None], shape)
        weights = softmax(scores) if mask is None else masked_softmax(scores, mask, (-1,))
        dropped_out = weights
        if training and self.dropout:
            dropped_out = dropped(weights, self.dropout, self._own)
        outputs = self.output_dense(np.swapaxes(dropped_out @ v, 1, 2))
        return (outputs, weights) if return_attention_scores else outputs

    def _require_matching(self, query: Any, value: Any, key: Any) -> None:
        """Raise ShapeError for sequences whose batches or lengths differ."""
        if len(value) != 3 or len(key) != 3 or value[:2] != key[:2] or query[0] != value[0]:
            raise ShapeError(
                f"the layer {self.path!r} takes a query (batch, time, features), and values and keys (batch, length, "
                f"features) of the same batch and length, and got the shapes {query}, {value} and {key}"
            )

    def _joined(self, masks: list[Any], shape: tuple[int, int, int]) -> Any:
        """Combine masks by "and" into one that broadcasts to (batch, heads, time, length); without masks, None."""
        if not masks:
            return None
        # A mask of rank 3 has no axis for the heads: it's the same for all.
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
            f"the layer {self.path!r} got masks of the shapes {[mask.shape for mask in masks]}, but masks must "
            f"broadcast to (batch, time, length), here {shape}"
        )

    def compute_output_shape(
        self,
        query_shape: Any,
        value_shape: Any = None,  # noqa: ARG002
        key_shape: Any = None,  # noqa: ARG002
    ) -> Any:
        """Return the leading axes of the query and the axes of the output."""
        self._require_shape(tuple(query_shape))
        outputs = (query_shape[-1],) if self.output_shape is None else self.output_shape
        return (*query_shape[:-1], *outputs)


def _truth(mask: Any) -> Any:
    """Convert a mask to bools."""
    return as_array(mask).astype(bool)


def _column(mask: Any, axis: int) -> Any:
    """Add an axis for the other sequence to the mask of one sequence, unless the mask is missing."""
    return None if mask is None else np.expand_dims(_truth(mask), axis)
