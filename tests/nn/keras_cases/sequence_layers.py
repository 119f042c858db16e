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


def stepped(k: Any, cell: Any, x: Any, states: list[Any], rng: np.random.Generator) -> Arrays:
    """The output and states of a cell after two steps, and the gradients of a weighted sum of all."""
    inputs = [k.variable(value.astype("float32")) for value in (x, *states)]
    cell(inputs[0], inputs[1:])
    cell.set_weights([rng.normal(0, 0.5, np.shape(w)) for w in cell.get_weights()])
    weights = [rng.normal(size=(len(x), cell.output_size)).astype("float32") for _ in range(3)]

    def results() -> list[Any]:
        _, between = cell(inputs[0], inputs[1:])
        output, last = cell(inputs[0], between)
        return [output, *last]

    def loss() -> Any:
        return sum(k.sum(y * w) for y, w in zip(results(), weights, strict=False))

    gradients = k.gradients(loss, [*cell.trainable_variables, *inputs])
    return {f"result_{n}": k.array(y) for n, y in enumerate(results())} | {
        f"gradient_{n}": g for n, g in enumerate(gradients)
    }


@case
def cells(k: Any, rng: np.random.Generator) -> Arrays:
    """Single steps of recurrent layers."""
    settings: dict[str, dict[str, Any]] = {"plain": {}, "no bias": {"use_bias": False}}
    own: dict[str, dict[str, dict[str, Any]]] = {
        "GRU": {"reset before": {"reset_after": False}},
        "SimpleRNN": {"activation": {"activation": "relu"}},
        "LSTM": {"activation": {"recurrent_activation": "hard_sigmoid"}},
    }
    found = {}
    for kind in KINDS:
        for name, given in (settings | own[kind]).items():
            cell = recurrent(k, f"{kind}Cell", **given)
            states = [rng.normal(size=(3, 4)) for _ in range(1 + (kind == "LSTM"))]
            found[f"{kind} {name}"] = stepped(k, cell, rng.normal(size=(3, 2)), states, rng)
    return found


def minimal(k: Any) -> Any:
    """A cell of the user's with a state of another length than its output."""

    class Minimal(k.layers.Layer):  # type: ignore[misc, name-defined]
        state_size = 3
        output_size = 2

        def build(self, input_shape: Any) -> None:
            self.kernel = self.add_weight(shape=(input_shape[-1], 3), name="kernel")
            self.mix = self.add_weight(shape=(3, 2), name="mix")
            self.built = True

        def call(self, inputs: Any, states: Any) -> Any:
            state = k.activations.tanh(inputs @ self.kernel + 0.5 * states[0])
            return state @ self.mix, [state]

    return Minimal()


@case
def loops_around_cells(k: Any, rng: np.random.Generator) -> Arrays:
    """RNN around cells of Keras's and of a user's, and around several, with masks and states."""
    x = rng.normal(size=SEQUENCES)
    mask = np.array([[0, 1, 1, 0, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], bool)
    makes = {
        "LSTM": lambda: recurrent(k, "LSTMCell"),
        "minimal": lambda: minimal(k),
        "several": lambda: [recurrent(k, "GRUCell"), recurrent(k, "LSTMCell"), minimal(k)],
        "stacked": lambda: k.layers.StackedRNNCells([recurrent(k, "SimpleRNNCell")]),
    }
    options: dict[str, dict[str, Any]] = {
        "last": {},
        "all": {"return_sequences": True},
        "backwards": {"return_sequences": True, "go_backwards": True},
        "zeros": {"return_sequences": True, "zero_output_for_mask": True},
    }
    found = {}
    for kind, make in makes.items():
        for name, given in options.items():
            layer = k.layers.RNN(make(), **given)
            found[f"{kind} {name}"] = of_layer(k, layer, x, rng)
            if kind != "stacked":
                layer = k.layers.RNN(make(), **given)
                found[f"{kind} {name} mask"] = of_layer(k, layer, x, rng, mask=k.array(mask))
    layer = k.layers.RNN(recurrent(k, "LSTMCell"))
    states = [rng.normal(size=(3, 4)).astype("float32") for _ in range(2)]
    found["initial"] = of_layer(k, layer, x, rng, initial_state=states)
    return found


@case
def states_of_cells(k: Any, rng: np.random.Generator) -> Arrays:
    """The last states of a loop around several cells."""
    layer = k.layers.RNN([recurrent(k, "GRUCell"), recurrent(k, "LSTMCell")], return_state=True)
    x = rng.normal(size=SEQUENCES).astype("float32")
    layer(x)
    layer.set_weights([rng.normal(0, 0.5, np.shape(w)) for w in layer.get_weights()])
    output, state, (h, c) = layer(x)
    return {name: k.array(y) for name, y in zip("oshc", (output, state, h, c), strict=True)}


@case
def bidirectional(k: Any, rng: np.random.Generator) -> Arrays:
    """Layers that read in both directions: merge modes, masks, states."""
    x = rng.normal(size=SEQUENCES)
    mask = np.array([[0, 1, 1, 0, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], bool)
    found = {}
    for kind in KINDS:
        for sequences in (False, True):
            for mode in ("concat", "sum", "mul", "ave"):
                inner = recurrent(k, kind, return_sequences=sequences)
                layer = k.layers.Bidirectional(inner, merge_mode=mode)
                found[f"{kind} {mode} {sequences}"] = of_layer(k, layer, x, rng)
            layer = k.layers.Bidirectional(recurrent(k, kind, return_sequences=sequences))
            found[f"{kind} {sequences} mask"] = of_layer(k, layer, x, rng, mask=k.array(mask))
    other = recurrent(k, "GRU", go_backwards=True, activation="relu")
    layer = k.layers.Bidirectional(recurrent(k, "LSTM"), backward_layer=other)
    found["other backwards"] = of_layer(k, layer, x, rng)
    layer = k.layers.Bidirectional(k.layers.RNN(recurrent(k, "GRUCell")))
    found["of a cell"] = of_layer(k, layer, x, rng)
    states = [rng.normal(size=(3, 4)).astype("float32") for _ in range(4)]
    layer = k.layers.Bidirectional(recurrent(k, "LSTM"))
    found["initial"] = of_layer(k, layer, x, rng, initial_state=states)
    for mode in ("concat", None):
        inner = recurrent(k, "LSTM", return_state=True, return_sequences=True)
        layer = k.layers.Bidirectional(inner, merge_mode=mode)
        inputs = x.astype("float32")
        layer(inputs)
        layer.set_weights([rng.normal(0, 0.5, np.shape(w)) for w in layer.get_weights()])
        found[f"states {mode}"] = {str(n): k.array(y) for n, y in enumerate(layer(inputs))}
    return found


@case
def attention_without_projections(k: Any, rng: np.random.Generator) -> Arrays:
    """Attention and AdditiveAttention on queries, values and keys, with masks and scores."""
    query, value, key = (rng.normal(size=shape) for shape in ((2, 4, 5), (2, 6, 5), (2, 6, 5)))
    wide = rng.normal(size=(2, 6, 3))
    masks = [np.array([[1, 1, 0, 1], [1, 0, 1, 1]], bool), np.arange(6) < np.array([[6], [2]])]
    settings: dict[str, tuple[list[Any], dict[str, Any]]] = {
        "values": ([query, value], {}),
        "keys": ([query, wide, key], {"return_attention_scores": True}),
        "causal": ([query, value], {"use_causal_mask": True}),
        "masks": ([query, value], {"mask": masks}),
        "one mask": ([query, value], {"mask": [None, masks[1]], "use_causal_mask": True}),
    }
    made = {
        "dot": k.layers.Attention,
        "scaled": lambda: k.layers.Attention(use_scale=True),
        "concat": lambda: k.layers.Attention(score_mode="concat", use_scale=True),
        "concat bare": lambda: k.layers.Attention(score_mode="concat"),
        "additive": k.layers.AdditiveAttention,
        "additive bare": lambda: k.layers.AdditiveAttention(use_scale=False),
    }
    found = {}
    for kind, make in made.items():
        for name, (arrays, call) in settings.items():
            layer, inputs = make(), [k.variable(x.astype("float32")) for x in arrays]
            # Keras takes tensors in lists, but not variables.
            tensors = [x * 1.0 for x in inputs]
            layer(tensors, **call)
            layer.set_weights([rng.uniform(0.5, 1, np.shape(w)) for w in layer.get_weights()])
            result = layer(tensors, **call)
            outputs = result if isinstance(result, tuple) else (result,)
            weights = rng.normal(size=k.array(outputs[0]).shape).astype("float32")

            def loss(layer: Any = layer, inputs: Any = inputs, call: Any = call) -> Any:
                again = layer([x * 1.0 for x in inputs], **call)
                return k.sum((again[0] if isinstance(again, tuple) else again) * weights)  # noqa: B023

            gradients = k.gradients(loss, [*layer.trainable_variables, *inputs])
            found[f"{kind} {name}"] = {f"output_{n}": k.array(y) for n, y in enumerate(outputs)} | {
                f"gradient_{n}": g for n, g in enumerate(gradients)
            }
    return found


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
