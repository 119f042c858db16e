"""Embeddings, recurrent layers and attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case, of_layer

KINDS = ("SimpleRNN", "GRU", "LSTM")
SEQUENCES = (3, 5, 2)


def recurrent(k: Any, kind: str, **given: Any) -> Any:
    """A small recurrent layer."""
    return getattr(k.layers, kind)(4, **{"recurrent_initializer": "glorot_uniform"} | given)


@case
def embedding(k: Any, rng: np.random.Generator) -> Arrays:
    """Vectors of whole numbers that occur several times."""
    layer = k.layers.Embedding(6, 3, embeddings_initializer="zeros")
    return of_layer(k, layer, rng.integers(0, 6, (4, 5)), rng)


@case
def last_outputs(k: Any, rng: np.random.Generator) -> Arrays:
    """The last outputs of recurrent layers of several settings."""
    settings: dict[str, dict[str, Any]] = {
        "plain": {},
        "backwards": {"go_backwards": True},
        "activation": {"activation": "relu"},
        "no bias": {"use_bias": False},
    }
    x = rng.normal(size=SEQUENCES)
    found = {
        f"{kind} {name}": of_layer(k, recurrent(k, kind, **given), x, rng)
        for kind in KINDS
        for name, given in settings.items()
    }
    gru = recurrent(k, "GRU", reset_after=False, recurrent_activation="hard_sigmoid")
    return found | {"GRU reset before": of_layer(k, gru, x, rng)}


@case
def all_outputs(k: Any, rng: np.random.Generator) -> Arrays:
    """All outputs of recurrent layers, with masks and initial states."""
    x = rng.normal(size=SEQUENCES)
    mask = np.array([[0, 1, 1, 0, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], bool)
    found = {}
    for kind in KINDS:
        states = [rng.normal(size=(3, 4)).astype("float32") for _ in range(1 + (kind == "LSTM"))]
        calls: dict[str, dict[str, Any]] = {
            "plain": {},
            "mask": {"mask": mask},
            "state": {"initial_state": states if len(states) > 1 else states[0]},
            "mask and state": {"mask": mask, "initial_state": states},
        }
        for name, call in calls.items():
            for backwards in (False, True):
                layer = recurrent(k, kind, return_sequences=True, go_backwards=backwards)
                found[f"{kind} {name} {backwards}"] = of_layer(k, layer, x, rng, **call)
    return found


@case
def last_states(k: Any, rng: np.random.Generator) -> Arrays:
    """Outputs and states that are returned together."""
    x = rng.normal(size=SEQUENCES).astype("float32")
    mask = np.arange(5) < np.array([[5], [3], [1]])
    found = {}
    for kind in KINDS:
        for sequences in (False, True):
            layer = recurrent(k, kind, return_state=True, return_sequences=sequences)
            layer(x)
            layer.set_weights([rng.normal(0, 0.5, np.shape(w)) for w in layer.get_weights()])
            results = layer(x, mask=mask)
            found |= {f"{kind} {sequences} {n}": k.array(y) for n, y in enumerate(results)}
    return found


@case
def forget_bias(k: Any, rng: np.random.Generator) -> Arrays:
    """The bias with which an LSTM begins."""
    layers = [recurrent(k, "LSTM"), recurrent(k, "LSTM", unit_forget_bias=False)]
    for layer in layers:
        layer(rng.normal(size=SEQUENCES).astype("float32"))
    return {f"bias_{n}": layer.get_weights()[2] for n, layer in enumerate(layers)}


def attended(k: Any, rng: np.random.Generator, inputs: list[Any], **given: Any) -> Arrays:
    """The outputs of attention with weights from a generator, and gradients in all variables and inputs."""
    made = {
        key: given.pop(key) for key in ("value_dim", "use_bias", "output_shape") if key in given
    }
    layer = k.layers.MultiHeadAttention(2, 3, **made)
    several = [k.variable(x.astype("float32")) for x in inputs]
    layer(*several)
    layer.set_weights([rng.normal(0, 0.5, np.shape(w)) for w in layer.get_weights()])
    results = layer(*several, **given)
    outputs = results if given.get("return_attention_scores") else (results,)
    weights = rng.normal(size=k.array(outputs[0]).shape).astype("float32")

    def loss() -> Any:
        found = layer(*several, **given)
        return k.sum((found[0] if len(outputs) > 1 else found) * weights)

    variables = list(layer.trainable_variables)
    if made.get("use_bias", True):
        del variables[3]  # the gradient in the bias of the keys is 0, and rounding errors here
    gradients = k.gradients(loss, [*variables, *several])
    found = {f"output_{n}": k.array(output) for n, output in enumerate(outputs)}
    return found | {f"gradient_{n}": gradient for n, gradient in enumerate(gradients)}


@case
def attention(k: Any, rng: np.random.Generator) -> Arrays:
    """Self-attention and attention to other sequences, with masks and scores."""
    query, value, key = (rng.normal(size=shape) for shape in ((2, 4, 5), (2, 6, 3), (2, 6, 7)))
    mask = rng.random((2, 4, 6)) < 0.5
    mask[..., 0] = True
    of_heads = np.stack([mask, ~mask | np.eye(4, 6, dtype=bool)], 1)
    settings: dict[str, tuple[list[Any], dict[str, Any]]] = {
        "self": ([query, query], {}),
        "value": ([query, value], {"value_dim": 4}),
        "key": ([query, value, key], {"use_bias": False}),
        "outputs": ([query, value], {"output_shape": 2}),
        "causal": ([query, query], {"use_causal_mask": True}),
        "mask": ([query, value, key], {"attention_mask": mask}),
        "mask of heads": ([query, value], {"attention_mask": of_heads}),
        "mask of one": ([query, value], {"attention_mask": mask[:1]}),
        "scores": ([query, query], {"return_attention_scores": True}),
        "causal scores": (
            [query, value],
            {"return_attention_scores": True, "use_causal_mask": True, "attention_mask": mask},
        ),
        "value mask": ([query, value], {"value_mask": np.arange(6) < np.array([[6], [2]])}),
    }
    return {name: attended(k, rng, inputs, **given) for name, (inputs, given) in settings.items()}
