"""Programs in the manner of TensorFlow's guide on modules, as far as it needs no Keras."""

from __future__ import annotations

from typing import Any


def simple(tf: Any) -> Any:
    class SimpleModule(tf.Module):
        def __init__(self, name=None):
            super().__init__(name=name)
            self.a_variable = tf.Variable(5.0, name="train_me")
            self.non_trainable_variable = tf.Variable(5.0, trainable=False, name="do_not_train_me")

        def __call__(self, x):
            return self.a_variable * x + self.non_trainable_variable

    simple_module = SimpleModule(name="simple")
    print(simple_module(tf.constant(5.0)))
    print("trainable variables:", simple_module.trainable_variables)
    print("all variables:", simple_module.variables)
    print(simple_module.name, SimpleModule().name)


def layers(tf: Any) -> Any:
    class Dense(tf.Module):
        def __init__(self, in_features, out_features, name=None):
            super().__init__(name=name)
            count = in_features * out_features
            self.w = tf.Variable(
                tf.reshape(tf.sin(tf.range(float(count))), [in_features, out_features]), name="w"
            )
            self.b = tf.Variable(tf.zeros([out_features]), name="b")

        def __call__(self, x):
            y = tf.matmul(x, self.w) + self.b
            return tf.nn.relu(y)

    class SequentialModule(tf.Module):
        def __init__(self, name=None):
            super().__init__(name=name)
            self.dense_1 = Dense(in_features=3, out_features=3)
            self.dense_2 = Dense(in_features=3, out_features=2)

        def __call__(self, x):
            x = self.dense_1(x)
            return self.dense_2(x)

    my_model = SequentialModule(name="the_model")
    print("Model results:", my_model(tf.constant([[2.0, 2.0, 2.0]])))
    print("Submodules:", [type(m).__name__ for m in my_model.submodules])
    for var in my_model.variables:
        print(var, "\n")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(my_model(tf.constant([[2.0, 1.0, 3.0]])) ** 2)
    return tape.gradient(loss, my_model.trainable_variables)


def built_at_the_first_call(tf: Any) -> Any:
    class FlexibleDense(tf.Module):
        def __init__(self, out_features, name=None):
            super().__init__(name=name)
            self.is_built = False
            self.out_features = out_features

        def __call__(self, x):
            if not self.is_built:
                self.w = tf.Variable(tf.ones([x.shape[-1], self.out_features]), name="w")
                self.b = tf.Variable(tf.zeros([self.out_features]), name="b")
                self.is_built = True
            return tf.nn.relu(tf.matmul(x, self.w) + self.b)

    layer = FlexibleDense(2)
    print(layer.variables)
    print(layer(tf.constant([[2.0, 2.0, 2.0]])))
    print([v.name for v in layer.variables])


def name_scopes(tf: Any) -> Any:
    class Linear(tf.Module):
        @tf.Module.with_name_scope
        def __call__(self, x):
            if not hasattr(self, "w"):
                self.w = tf.Variable(tf.ones([x.shape[1], 2]), name="w")
            return tf.matmul(x, self.w)

    class Outer(tf.Module):
        def __init__(self):
            super().__init__()
            with self.name_scope:
                self.inner = Linear()
                self.v = tf.Variable(1.0, name="v")

    lin, outer = Linear(), Outer()
    lin(tf.ones([1, 2]))
    outer.inner(tf.ones([1, 2]))
    print(lin.w.name, outer.v.name, outer.inner.w.name)
    print(lin.name, outer.name, outer.name_scope.name, Linear(name="other").name_scope.name)


def order_of_variables(tf: Any) -> Any:
    class Holder(tf.Module):
        pass

    top, left, right = Holder(name="top"), Holder(name="left"), Holder(name="right")
    top.z = tf.Variable(1.0, name="z")
    top.m = right
    top.list = [
        tf.Variable(2.0, name="l0"),
        {"b": tf.Variable(3.0, name="lb"), "a": tf.Variable(4.0, name="la")},
    ]
    top.b = left
    top.a = tf.Variable(5, name="a", trainable=False)
    left.y = tf.Variable(6.0, name="left_y")
    left.other = right
    right.x = tf.Variable(7.0, name="right_x")
    right.back = top
    top.again = top.z
    print([v.name for v in top.variables])
    print([v.name for v in top.trainable_variables], [v.name for v in top.non_trainable_variables])
    print([m.name for m in top.submodules], [m.name for m in right.submodules])


def camel_case(tf: Any) -> Any:
    class MyHTTPModule2D(tf.Module):
        pass

    class lower(tf.Module):
        pass

    print(MyHTTPModule2D().name, lower().name)
    try:
        tf.Module(name="not a name")
    except ValueError:
        print("ValueError")


def functions(tf: Any) -> Any:
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(2.0)

        @tf.function
        def __call__(self, x):
            return x * self.w

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def total(self, x):
            return tf.reduce_sum(x) * self.w

    model = Model()
    with tf.GradientTape() as tape:
        y = model(tf.constant(3.0)) + model.total(tf.constant([1.0, 2.0]))
    return [y, tape.gradient(y, model.w)]
