"""SEMANTICS section 12: gradients_function, val_and_grad_function, implicit_grad, make_vjp."""

from __future__ import annotations

from typing import Any

from tapemagic.errors import ConsumedTapeError, FunctionError, OptionError
from tests.conformance.programs import agrees, differs, logged, raises, refused

# -- params ---------------------------------------------------------------------------------------


def cubic(x: Any, y: Any) -> Any:
    """The function of TensorFlow's docstring: x³ y - x y²."""
    return x * x * x * y - x * y * y


@agrees
def test_all_arguments(tf: Any) -> Any:
    """default = all positional args; the result is a list."""
    return tf.gradients_function(cubic)(tf.constant(2.0), tf.constant(3.0))


@agrees
def test_params(tf: Any) -> Any:
    """params: all strings or all ints, in any order, also repeated."""
    x, y = tf.constant(2.0), tf.constant(3.0)
    chosen = [[0], [1], [1, 0], ["x"], ["y", "x"], [0, 0]]
    return [tf.gradients_function(cubic, params)(x, y) for params in chosen]


@agrees
def test_params_by_keyword(tf: Any) -> Any:
    """params: may be given by keyword, as a tuple too."""
    x, y = tf.constant(2.0), tf.constant(3.0)
    return [
        tf.gradients_function(cubic, params=("y",))(x, y),
        tf.val_and_grad_function(cubic, params=(1,))(x, y),
        tf.make_vjp(cubic, params=[1])(x, y)[1](),
    ]


@refused(OptionError, "params must be all strings or all integers", "['x', 1]")
def test_params_mixed(tf: Any) -> Any:
    """params: mix → ValueError."""
    return tf.gradients_function(cubic, ["x", 1])(tf.constant(2.0), tf.constant(3.0))


@refused(OptionError, "params must be all strings or all integers")
def test_params_of_floats(tf: Any) -> Any:
    """params: neither → ValueError."""
    return tf.gradients_function(cubic, [1.0])(tf.constant(2.0), tf.constant(3.0))


@refused(OptionError, "params is empty", "at least one", tensorflow=[])
def test_params_empty(tf: Any) -> Any:
    """params: none of them is refused (an empty list in TensorFlow)."""
    return tf.gradients_function(cubic, [])(tf.constant(2.0), tf.constant(3.0))


@refused(OptionError, "'z'", "cubic does not have", "x, y")
def test_params_unknown(tf: Any) -> Any:
    """params: unknown name → ValueError."""
    return tf.gradients_function(cubic, ["z"])(tf.constant(2.0), tf.constant(3.0))


@refused(OptionError, "position 5", "cubic received 2", tensorflow=raises("IndexError"))
def test_params_out_of_range(tf: Any) -> Any:
    """params: a position that there is none (IndexError in TensorFlow)."""
    return tf.gradients_function(cubic, [5])(tf.constant(2.0), tf.constant(3.0))


@agrees
def test_params_negative(tf: Any) -> Any:
    """params: negative positions count from the end."""
    return tf.gradients_function(cubic, [-1])(tf.constant(2.0), tf.constant(3.0))


@agrees
def test_other_arguments(tf: Any) -> Any:
    """params: the other arguments are passed on as they are: strings, functions, lists."""

    def function(x: Any, name: str, square: Any, parts: Any) -> Any:
        return square(x) * float(len(name)) * parts[0]

    gradients = tf.gradients_function(function, [0])
    return gradients(tf.constant(2.0), "four", lambda x: x * x, [tf.constant(5.0)])


@agrees
def test_any_number_of_arguments(tf: Any) -> Any:
    """default: also of a function of any number of arguments."""
    return tf.gradients_function(lambda *xs: xs[0] * xs[1])(tf.constant(2.0), tf.constant(3.0))


@differs(tensorflow=raises("IndexError"), tapemagic=[10.0])
def test_default_arguments(tf: Any) -> Any:
    """default: arguments that are left out have their defaults (IndexError in TensorFlow)."""
    return tf.gradients_function(lambda x, factor=10.0: x * factor)(tf.constant(2.0))


# -- arguments ------------------------------------------------------------------------------------


@agrees
def test_converted(tf: Any) -> Any:
    """Args converted to tensors: variables, arrays, lists of tensors."""
    v = tf.Variable([2.0, 3.0])
    function = tf.gradients_function(lambda x: x * x)
    return [function(v), function(v.numpy())]


@agrees
def test_list_of_tensors(tf: Any) -> Any:
    """Args converted to tensors: of a list, the gradients of its parts; the same one twice counts twice."""
    x, y = tf.constant(2.0), tf.constant(3.0)
    function = tf.gradients_function(lambda parts, z: parts[0] * parts[1] * parts[1] * z)
    return [function([x, y], x), function([x, x], x)]


@agrees
def test_same_object(tf: Any) -> Any:
    """the same object passed twice is treated as independent args."""
    x, v = tf.constant(3.0), tf.Variable([2.0, 4.0])
    function = tf.gradients_function(lambda x, y: x * y * y)
    return [function(x, x), function(v, v)]


@refused(FunctionError, "Functions to be differentiated cannot receive keyword arguments", "y")
def test_keywords(tf: Any) -> Any:
    """kwargs other than `dy` → ValueError."""
    return tf.gradients_function(cubic)(tf.constant(2.0), y=tf.constant(3.0))


@refused(
    FunctionError, "cannot receive keyword arguments", "y", tensorflow=raises("AssertionError")
)
def test_keywords_of_vjp(tf: Any) -> Any:
    """kwargs: likewise for make_vjp (AssertionError in TensorFlow)."""
    return tf.make_vjp(cubic)(tf.constant(2.0), y=tf.constant(3.0))


@agrees
def test_whole_number(tf: Any) -> Any:
    """int arg → [None]."""
    with logged(tf):
        return tf.gradients_function(lambda n: n * n)(tf.constant(3))


@agrees
def test_unconnected(tf: Any) -> Any:
    """An arg on which nothing depends → None."""
    return tf.gradients_function(lambda x, y: x * x)(  # noqa: ARG005
        tf.constant(2.0), tf.constant(3.0)
    )


# -- results --------------------------------------------------------------------------------------


@refused(
    FunctionError, "Cannot differentiate a function that returns None", "return a value from empty"
)
def test_none(tf: Any) -> Any:
    """f returning None → ValueError that names it."""

    def empty(x: Any) -> Any:
        x * x

    return tf.gradients_function(empty)(tf.constant(2.0))


@agrees
def test_tuple(tf: Any) -> Any:
    """Tuple output is summed."""
    x = tf.constant([2.0, 3.0])
    value, gradients = tf.val_and_grad_function(lambda x: (x * x, [3.0 * x]))(x)
    return [value, gradients]


@agrees
def test_value(tf: Any) -> Any:
    """val_and_grad_function (tfe name value_and_gradients_function) -> (value, list)."""
    x, y = tf.constant(2.0), tf.constant(3.0)
    return [
        tf.val_and_grad_function(cubic)(x, y),
        tf.value_and_gradients_function(cubic, ["y"])(x, y),
    ]


@agrees
def test_identity(tf: Any) -> Any:
    """A function that returns its argument has the gradient one."""
    return tf.val_and_grad_function(lambda x: x)(tf.constant(2.0))


@agrees
def test_dy(tf: Any) -> Any:
    """dy=None: weighs the result, each part of a tuple by itself."""
    x = tf.constant([2.0, 3.0])
    one = tf.gradients_function(lambda x: x * x)(x, dy=tf.constant([1.0, 10.0]))
    weights = [tf.constant([1.0, 10.0]), tf.constant([5.0, 6.0])]
    two = tf.val_and_grad_function(lambda x: (x * x, x))(x, dy=weights)[1]
    return [one, two]


# -- higher order ---------------------------------------------------------------------------------


@agrees
def test_higher_order(tf: Any) -> Any:
    """Gradients can be differentiated again, as often as one likes."""
    first = tf.gradients_function(cubic)
    second = tf.gradients_function(lambda x, y: first(x, y)[0])
    third = tf.gradients_function(lambda x, y: second(x, y)[1])
    x, y = tf.constant(2.0), tf.constant(3.0)
    return [first(x, y), second(x, y), third(x, y)]


@agrees
def test_under_a_tape(tf: Any) -> Any:
    """Gradients can be differentiated again, by a tape around them."""
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value, (g,) = tf.val_and_grad_function(lambda x: x * x * x)(x)
        loss = value * g
    return [loss, tape.gradient(loss, x)]


@agrees
def test_variables_inside(tf: Any) -> Any:
    """Variables that the function reads are constants to it, and variables to a tape around it."""
    v, x = tf.Variable(5.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        (g,) = tf.gradients_function(lambda x: x * x * v * v)(x)
    return [g, tape.gradient(g, v)]


# -- make_vjp -------------------------------------------------------------------------------------


@agrees
def test_vjp(tf: Any) -> Any:
    """make_vjp(f, params=None, persistent=True)(*args) -> (value, vjp)."""
    x, y = tf.constant([2.0, 1.0]), tf.constant([3.0, 4.0])
    value, vjp = tf.make_vjp(cubic)(x, y)
    return [value, vjp(), vjp(tf.constant([1.0, 10.0])), vjp(dy=tf.constant([0.0, 1.0]))]


@agrees
def test_vjp_once(tf: Any) -> Any:
    """persistent=False: it may be called once."""
    value, vjp = tf.make_vjp(cubic, persistent=False)(tf.constant(2.0), tf.constant(3.0))
    return [value, vjp()]


@refused(ConsumedTapeError, "one set of gradients", tensorflow=raises("InternalError"))
def test_vjp_twice(tf: Any) -> Any:
    """persistent=False: not twice (InternalError in TensorFlow)."""
    _, vjp = tf.make_vjp(cubic, persistent=False)(tf.constant(2.0), tf.constant(3.0))
    return [vjp(), vjp()]


# -- implicit -------------------------------------------------------------------------------------


@agrees
def test_implicit(tf: Any) -> Any:
    """implicit_grad/implicit_val_and_grad(f)(*args) -> [(grad, var), ...]."""
    v = tf.Variable([2.0, 3.0])

    def function(x: Any, factor: float = 1.0) -> Any:
        return v * v * x * factor

    x = tf.constant(5.0)
    value, [(g, variable)] = tf.implicit_val_and_grad(function)(x, factor=2.0)
    pairs = tf.implicit_grad(function)(x)
    return [value, g, variable is v, [g for g, _ in pairs], [w is v for _, w in pairs]]


@agrees
def test_implicit_order(tf: Any) -> Any:
    """implicit: pairs ordered by variable creation."""
    a, b, c = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(5.0)
    pairs = tf.implicit_grad(lambda: c * a * b * b)()
    return [[g for g, _ in pairs], [[v is w for w in (a, b, c)] for _, v in pairs]]


@refused(FunctionError, "No trainable variables were accessed", "Variable", "gradients_function")
def test_implicit_without_variables(tf: Any) -> Any:
    """implicit_grad with no variables → ValueError."""
    return tf.implicit_grad(lambda x: x * x)(tf.constant(2.0))


@refused(FunctionError, "No trainable variables were accessed")
def test_implicit_not_trainable(tf: Any) -> Any:
    """implicit_grad: one that is not trainable is none."""
    v = tf.Variable(2.0, trainable=False)
    return tf.implicit_val_and_grad(lambda x: x * v)(tf.constant(2.0))


@refused(FunctionError, "Cannot differentiate a function that returns None", "empty")
def test_implicit_none(tf: Any) -> Any:
    """implicit_grad: f returning None → ValueError."""
    v = tf.Variable(2.0)

    def empty() -> Any:
        v * v

    return tf.implicit_grad(empty)()


@agrees
def test_implicit_unconnected(tf: Any) -> Any:
    """implicit: a variable that was read in vain has None."""
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    pairs = tf.implicit_grad(lambda: (w * 1.0, v * v)[1])()
    return [g for g, _ in pairs]


@agrees
def test_implicit_tuple(tf: Any) -> Any:
    """implicit: tuple output is summed."""
    v = tf.Variable(2.0)
    value, [(g, _)] = tf.implicit_val_and_grad(lambda: (v * v, [3.0 * v]))()
    return [value, g]


@agrees
def test_implicit_second_order(tf: Any) -> Any:
    """implicit: the gradients can be differentiated again."""
    v = tf.Variable(2.0)
    first = tf.implicit_grad(lambda: v * v * v)
    return [g for g, _ in tf.implicit_grad(lambda: first()[0][0])()]
