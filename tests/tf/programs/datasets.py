"""Programs with tf.data."""

from __future__ import annotations

from typing import Any

import numpy as np


def rows_of_arrays(tf: Any) -> Any:
    dataset = tf.data.Dataset.from_tensor_slices([8.0, 3.0, 0.0, 8.0, 2.0, 1.0])
    print(dataset.cardinality(), len(dataset), dataset.element_spec)
    for element in dataset:
        print(element)
    return list(dataset.as_numpy_iterator())


def pairs_and_dicts(tf: Any) -> Any:
    features = np.arange(12, dtype=np.float32).reshape(6, 2)
    pairs = tf.data.Dataset.from_tensor_slices((features, [0, 1, 0, 1, 0, 1]))
    x, y = next(iter(pairs))
    named = tf.data.Dataset.from_tensor_slices({"x": features, "y": np.arange(6)})
    first = next(iter(named))
    print(pairs.element_spec)
    return [x, y, first, [y for _, y in pairs.batch(4)]]


def batches(tf: Any) -> Any:
    numbers = tf.data.Dataset.range(10)
    for batch in numbers.batch(4):
        print(batch)
    short = numbers.batch(4, drop_remainder=True)
    print(numbers.batch(4).element_spec, short.element_spec, len(short))
    return [list(numbers.batch(4)), list(short), list(numbers.batch(4).unbatch())]


def chains(tf: Any) -> Any:
    numbers = tf.data.Dataset.range(1, 6)
    squares = numbers.map(lambda x: x * x).filter(lambda x: x % 2 == 1)
    both = tf.data.Dataset.zip((numbers, numbers.map(lambda x: tf.cast(x, tf.float32) / 2)))
    total = numbers.reduce(np.int64(0), lambda state, x: state + x)
    counted = [(int(i), int(x)) for i, x in numbers.enumerate(start=7)]
    print(squares.cardinality(), numbers.repeat().cardinality(), counted)
    return [
        list(squares),
        [list(pair) for pair in both],
        total,
        list(numbers.repeat(2).skip(3).take(5)),
        list(numbers.concatenate(tf.data.Dataset.range(2))),
        list(numbers.shard(2, 1)),
        list(numbers.take_while(lambda x: x < 4)),
        list(numbers.flat_map(lambda x: tf.data.Dataset.range(x))),
        list(numbers.prefetch(tf.data.AUTOTUNE).cache()),
    ]


def shuffled(tf: Any) -> Any:
    dataset = tf.data.Dataset.range(20).shuffle(20, seed=3)
    first, second = [[int(x) for x in dataset] for _ in range(2)]
    fixed = tf.data.Dataset.range(20).shuffle(20, seed=3, reshuffle_each_iteration=False)
    same = [[int(x) for x in fixed] for _ in range(2)]
    near = [int(x) for x in tf.data.Dataset.range(20).shuffle(2)]
    return [
        sorted(first) == list(range(20)),
        first != second,
        same[0] == same[1],
        all(x <= place + 1 for place, x in enumerate(near)),
        len(dataset.batch(6)),
    ]


def generated(tf: Any) -> Any:
    def count(stop):
        for i in range(stop):
            yield i, [float(i)] * i

    signature = (tf.TensorSpec((), tf.int32), tf.TensorSpec((None,), tf.float32))
    dataset = tf.data.Dataset.from_generator(count, args=[4], output_signature=signature)
    padded = dataset.padded_batch(3)
    return [[list(pair) for pair in dataset], [list(pair) for pair in padded]]


def unequal_lengths(tf: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(([1, 2, 3], [1, 2]))
