"""Attention and AdditiveAttention: averages of a sequence, weighted by scores without projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations.exponentials import softmax
from tapemagic.errors import OptionError, ShapeError
from tapemagic.nn.arguments import choice, share
from tapemagic.nn.conversions import as_array
from tapemagic.nn.layer import Layer
from tapemagic.nn.layers.activation import masked_softmax
from tapemagic.nn.random import dropped, generator


class Attention(Layer):
    """Averages of values for each element of a query, with weights ``softmax(query @ keys.T)`` [1]_.

    The layer is called on a list ``[query, value]`` or ``[query, value, key]`` of the shapes (batch, time, features),
    (batch, length, outputs) and (batch, length, features); without keys, the values are the keys. It returns the shape
    (batch, time, outputs), and with ``return_attention_scores=True`` also the weights, of the shape
    (batch, time, length).

    ``mask=[query_mask, value_mask]`` has bools of the shapes (batch, time) and (batch, length), or None: masked values
    don't count, and outputs for masked elements of the query are 0. ``use_causal_mask=True`` ignores later values.
    Where a mask excludes everything, the weights are 0.

    Parameters
    ----------
    use_scale : bool, optional
        Multiply the scores by a variable.
    score_mode : {'dot', 'concat'}, optional
        "concat" computes scores as ``sum(tanh(query + key))``, times a variable.
    dropout : float, optional
        The share of weights that become 0 during training.
    **kwargs : see `Layer`

    References
    ----------
    .. [1] M.-T. Luong, H. Pham and C. D. Manning, "Effective approaches to attention-based neural machine translation",
       EMNLP 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> output, weights = nn.Attention()([np.zeros((2, 4, 3)), np.zeros((2, 6, 3))], return_attention_scores=True)
    >>> output.shape, weights.shape
    ((2, 4, 3), (2, 4, 6))
    """

    cast_kinds = "fbiu"
    supports_masking = True

    def __init__(
        self,
        use_scale: bool = False,
        score_mode: str = "dot",
        dropout: float = 0.0,
        seed: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__
        self.use_scale = bool(use_scale)
        self.score_mode = choice(score_mode, f"score_mode of {kind}", ("dot", "concat"))
        self.dropout = share(dropout, f"dropout of {kind}")
        self.seed = seed
        self._own = None if seed is None else generator(seed)

    def build(self, input_shape: Any) -> None:
        """Create the variables of the scores, if there are any."""
        self._require_shapes(input_shape)
        self.scale = self.concat_score_weight = None
        if self.use_scale:
            self.scale = self.add_weight((), "ones", name="scale")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight((), "ones", name="concat_score_weight")

    def _require_shapes(self, shapes: Any) -> None:
        """Raise OptionError or ShapeError for anything but query, values and keys that match."""
        kind = type(self).__name__
        if not isinstance(shapes, list) or len(shapes) not in {2, 3}:
            raise OptionError(
                f"{kind} is called on a list [query, value] or [query, value, key], not on the shape {shapes}"
            )
        query, value, key = (*shapes, shapes[1])[:3]
        # The batch, the length and the features; None matches anything.
        pairs = [(query[:1], value[:1]), (value[:-1], key[:-1]), (query[-1:], key[-1:])]
        if {len(query), len(value), len(key)} != {3} or any(
            a != b and None not in (a, b)
            for left, right in pairs
            for a, b in zip(left, right, strict=True)
        ):
            raise ShapeError(
                f"the layer {self.path!r} takes a query (batch, time, features), values (batch, length, outputs) and "
                f"keys (batch, length, features), and got the shapes {query}, {value} and {key}"
            )

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: bool = False,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        """Return the output, and with `return_attention_scores` the weights."""
        self._require_shapes([x.shape for x in inputs])
        query, value, key = (*inputs, inputs[1])[:3]
        masks = self._masks(mask, query.shape[:2], value.shape[:2])
        scores = self._scores(query, key)
        allowed = None if masks[1] is None else masks[1][:, None]
        if use_causal_mask:
            causal = np.tri(*scores.shape[1:])[None] > 0
            allowed = causal if allowed is None else allowed & causal
        weights = softmax(scores) if allowed is None else masked_softmax(scores, allowed, (-1,))
        if training and self.dropout:
            # As in Keras, dropped weights are returned, too.
            weights = dropped(weights, self.dropout, self._own)
        outputs = weights @ value
        if masks[0] is not None:
            outputs = np.where(masks[0][..., None], outputs, 0)
        return (outputs, weights) if return_attention_scores else outputs

    def _masks(self, mask: Any, *shapes: Any) -> list[Any]:
        """Return the masks of query and values as arrays of bools or None, or raise an error."""
        if mask is None:
            return [None, None]
        kind = type(self).__name__
        if not isinstance(mask, list | tuple) or len(mask) not in {2, 3}:
            raise OptionError(
                f"the mask of {kind} is a list [query_mask, value_mask], not {type(mask).__name__}: write None for one "
                "that is missing"
            )
        masks = [None if x is None else as_array(x).astype(bool) for x in mask[:2]]
        found = [x if x is None else x.shape for x in masks]
        if any(a is not None and a != b for a, b in zip(found, shapes, strict=True)):
            raise ShapeError(
                f"the layer {self.path!r} takes masks of the shapes {shapes[0]} and {shapes[1]}, and got {found[0]} "
                f"and {found[1]}"
            )
        return masks

    def _scores(self, query: Any, key: Any) -> Any:
        """Return the scores, of the shape (batch, time, length)."""
        if self.score_mode == "dot":
            scores = query @ np.swapaxes(key, 1, 2)
            return scores if self.scale is None else scores * self.scale
        sums = query[:, :, None] + key[:, None]
        return self.concat_score_weight * np.sum(
            np.tanh(sums if self.scale is None else self.scale * sums), axis=-1
        )

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:  # noqa: ARG002 (Keras's signature)
        """Return the mask of the query."""
        return [previous_mask[0] if isinstance(previous_mask, list | tuple) else None]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch and time of the query, and the features of the values."""
        self._require_shapes(input_shape)
        return (*input_shape[0][:-1], input_shape[1][-1])


class AdditiveAttention(Attention):
    """Averages of values for each element of a query, with weights from ``sum(scale * tanh(query + key))`` [1]_.

    It's called as `Attention` is.

    Parameters
    ----------
    use_scale : bool, optional
        Multiply the terms of the sum by a variable of the length of the features.
    dropout : float, optional
        The share of weights that become 0 during training.
    **kwargs : see `Layer`

    References
    ----------
    .. [1] D. Bahdanau, K. Cho and Y. Bengio, "Neural machine translation by jointly learning to align and translate",
       ICLR 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> nn.AdditiveAttention()([np.zeros((2, 4, 3)), np.zeros((2, 6, 3))]).shape
    (2, 4, 3)
    """

    _not_in_config = frozenset({"input_shape", "input_dim", "score_mode"})

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Create the scale of the features."""
        self._require_shapes(input_shape)
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(input_shape[0][-1:], "glorot_uniform", name="scale")

    def _scores(self, query: Any, key: Any) -> Any:
        terms = np.tanh(query[:, :, None] + key[:, None])
        return np.sum(terms if self.scale is None else self.scale * terms, axis=-1)
