"""The cells of the gallery: what each shows, what has run before, and the cell itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A cell of the gallery.

    Attributes
    ----------
    name : str
        The name of its pictures' files.
    title : str
        What it shows.
    source : str
        The cell.
    before : tuple of str
        Cells that run before it.
    fails : bool
        Whether the cell ends in an error.
    """

    name: str
    title: str
    source: str
    before: tuple[str, ...] = ()
    fails: bool = False


MODEL = """\
rng = np.random.default_rng(0)
X = rng.normal(size=(32, 2))
labels = np.sin(X[:, :1]) + X[:, 1:]
W1 = tm.Variable(rng.normal(size=(2, 128)), name='W1')
b1 = tm.Variable(-3.0 * rng.random(128), name='b1')
W2 = tm.Variable(rng.normal(size=(128, 1)) / 10, name='W2')"""

TRAINING = """\
%%tape
for step in range(50):
    with tm.GradientTape() as inner:
        hidden = tm.relu(X @ W1 + b1)
        loss = np.mean((hidden @ W2 - labels) ** 2)
    for w, g in zip([W1, b1, W2], inner.gradient(loss, [W1, b1, W2])):
        w.assign_sub(0.05 * g)"""

LAYERS_TRAINING = """\
%%tape
for step in range(50):
    with tm.GradientTape() as inner:
        loss = error(labels, model(X))
    gradients = inner.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))"""

LINE = """\
x = np.linspace(0, 2, 20)
labels = 3 * x + 2
w = tm.Variable(0.0, name='w')
b = tm.Variable(0.0, name='b')"""

DESCENT = """\
%%tape
for step in range({steps}):
    with tm.GradientTape() as inner:
        loss = np.mean((w * x + b - labels) ** 2)
    dw, db = inner.gradient(loss, [w, b])
    w.assign_sub({rate} * dw)
    b.assign_sub({rate} * db)"""

LAYERS = """\
from tapemagic import nn
nn.set_random_seed(0)
X = np.random.default_rng(0).normal(size=(32, 2))
labels = np.sin(X[:, :1]) + X[:, 1:]
hidden = nn.Dense(16, activation='relu', dtype='float64', name='hidden')
output = nn.Dense(1, dtype='float64', name='output')
model = nn.Sequential([hidden, output], dtype='float64', name='model')
error = nn.losses.MeanSquaredError(name='error')
optimizer = nn.optimizers.SGD(0.1)"""

PICTURE = """\
rows, columns = np.mgrid[:28, :28]
image = np.exp(-((rows - 10) ** 2 + (columns - 18) ** 2) / 20)
kernel = np.array([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])"""

HOSTILE = """\
long = 'long ' * 2000
evil = [
    tm.Variable(1.0, name='<script>alert(1)</script>'),
    tm.Variable(2.0, name='"quotes" \\'and\\' ]]> --> & &lt;'),
    tm.Variable(3.0, name='two\\nlines \\\\n $x_1$ {} %'),
    tm.Variable(4.0, name=long),
    tm.Variable(5.0, name='\\u202eright to left'),
    tm.Variable(6.0, name=''),
]"""

LOGISTIC = """\
hours = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0])
passed = np.array([0, 0, 0, 1, 0, 1, 1, 1])
w, b = tm.Variable(0.0, name='w'), tm.Variable(0.0, name='b')"""

LOGISTIC_TRAINING = """\
%%tape
for step in range(60):
    with tm.GradientTape() as inner:
        p = 1 / (1 + np.exp(-(w * hours + b)))
        loss = -np.mean(passed * np.log(p) + (1 - passed) * np.log(1 - p))
    dw, db = inner.gradient(loss, [w, b])
    w.assign_sub(1.0 * dw)
    b.assign_sub(1.0 * db)"""

XOR = """\
rng = np.random.default_rng(3)
X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
t = np.array([[0], [1], [1], [0]])
W1, b1 = tm.Variable(rng.normal(size=(2, 4)), name='W1'), tm.Variable(np.zeros(4), name='b1')
W2, b2 = tm.Variable(rng.normal(size=(4, 1)), name='W2'), tm.Variable(np.zeros(1), name='b2')
weights = [W1, b1, W2, b2]"""

XOR_TRAINING = """\
%%tape
for step in range(40):
    with tm.GradientTape() as inner:
        h = np.tanh(X @ W1 + b1)
        loss = np.mean((h @ W2 + b2 - t) ** 2)
    for w, g in zip(weights, inner.gradient(loss, weights)):
        w.assign_sub(0.3 * g)"""

NETWORK_CLASS = """\
class Network:
    def __init__(self, sizes):
        rng = np.random.default_rng(0)
        self.W = [tm.Variable(rng.normal(size=shape) / 2) for shape in zip(sizes, sizes[1:])]
        self.b = [tm.Variable(np.zeros(size)) for size in sizes[1:]]

    def __call__(self, x):
        for W, b in zip(self.W[:-1], self.b[:-1]):
            x = np.tanh(x @ W + b)
        return x @ self.W[-1] + self.b[-1]

net = Network([2, 3, 1])
X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
labels = np.array([[1.0], [1.0], [0.0]])"""

TABLE = """\
import pandas as pd
table = pd.DataFrame({'size': [50.0, 70.0, 90.0, 120.0], 'price': [150.0, 200.0, 240.0, 330.0]})
w, b = tm.Variable(2.0, name='w'), tm.Variable(10.0, name='b')"""

CONVOLUTIONS = """\
%%tape kernel -t loops windows library
n = len(kernel)
places = range(len(image) - n + 1)
loops = sum(np.sum(image[i:i + n, j:j + n] * kernel) ** 2 for i in places for j in places)
patches = np.lib.stride_tricks.sliding_window_view(image, (n, n))
windows = np.sum(np.einsum('ijkl,kl', patches, kernel) ** 2)
library = np.sum(tm.conv2d(image[None, :, :, None], kernel[:, :, None, None], 1, 'VALID') ** 2)"""

PENDULUM = """\
%%tape angle
speed, dt = 0.0, 0.05
for step in range(50):
    speed = speed - dt * 9.81 * np.sin(angle)
    angle = angle + dt * speed"""

RECURRENT = """\
%%tape W U
h = np.zeros(2)
for x in sequence:
    h = np.tanh(W @ h + U * x)
loss = np.sum((h - 0.5) ** 2)"""

CELLS = (
    Cell("product", "A product of two numbers", "%%tape x y\nz = x * y", ("x, y = 3.0, 4.0",)),
    Cell(
        "textbook",
        "The textbook example, ln(x₁) + x₁·x₂ - sin(x₂)",
        "%%tape x1 x2\ny = np.log(x1) + x1 * x2 - np.sin(x2)",
        ("x1, x2 = 2.0, 5.0",),
    ),
    Cell(
        "chain",
        "The chain rule, one function after the other",
        "%%tape x\nu = x ** 2\nv = np.sin(u)\ny = np.exp(v)",
        ("x = 0.5",),
    ),
    Cell(
        "regression",
        "A regression with matrices",
        "%%tape\nprediction = X @ w + b\nloss = np.mean((prediction - labels) ** 2)",
        (
            (
                "X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])\nlabels = np.array([1.0, 2.0, 3.0])\n"
                "w = tm.Variable([0.5, -0.5], name='w')\nb = tm.Variable(0.1, name='b')"
            ),
        ),
    ),
    Cell(
        "loop-10",
        "A loop of 10 iterations",
        "%%tape x\ny = x\nfor step in range(10):\n    y = 1.1 * np.sin(y) + x",
        ("x = 0.5",),
    ),
    Cell(
        "loop-100",
        "A loop of 100 iterations",
        "%%tape r\ny = 0.5\nfor step in range(100):\n    y = r * y * (1 - y)",
        ("r = 2.5",),
    ),
    Cell(
        "nested-loops",
        "A loop in a loop",
        "%%tape x\ntotal = 0.0\nfor i in range(1, 6):\n    factor = 1.0\n    for j in range(i):\n"
        "        factor = factor * x\n    total = total + factor / i",
        ("x = 0.9",),
    ),
    Cell(
        "loop-10000",
        "10,000 operations",
        "%%tape x\ny = x\nfor step in range(5000):\n    y = y - 0.0002 * y",
        ("x = 1.0",),
    ),
    Cell(
        "own-functions",
        "Your own functions, defined in another cell",
        "%%tape\nh = model(model(x, 0.5), w)\nloss = np.sum(h ** 2)",
        (
            "def relu(z):\n    return np.maximum(z, 0.0)\n\ndef model(x, w):\n    return relu(w * x + 0.1)",
            "x = np.array([-1.0, 0.5, 2.0])\nw = tm.Variable(1.5, name='w')",
        ),
    ),
    Cell(
        "branch",
        "A branch that returned a constant: the gradient is None",
        "%%tape x b\ny = relu(x) * 3 + b",
        (
            "def relu(z):\n    if z > 0:\n        return z\n    else:\n        return 0.0",
            "x, b = -2.0, 1.0",
        ),
    ),
    Cell(
        "line-training",
        "Linear regression, 100 steps of gradient descent",
        DESCENT.format(steps=100, rate=0.1),
        (LINE,),
    ),
    Cell("network-training", "Training of a network, with dead units", TRAINING, (MODEL,)),
    Cell("layers", "A model of layers", "%%tape\nloss = error(labels, model(X))", (LAYERS,)),
    Cell("layers-training", "Training of a model of layers", LAYERS_TRAINING, (LAYERS,)),
    Cell(
        "exploding",
        "A learning rate that is too large",
        DESCENT.format(steps=30, rate=0.6),
        (LINE,),
    ),
    Cell(
        "third-order",
        "Derivatives up to the third order",
        "%%tape x -o 3\ny = x ** 4 * np.exp(-x)",
        ("x = 1.5",),
    ),
    Cell(
        "curves",
        "A function and its derivatives as curves",
        "%%tape --plot x=-6:6 -o 3\nx = 1.0\ny = np.sin(x) ** 2",
    ),
    Cell(
        "targets",
        "Several targets, one of which doesn't depend on everything",
        "%%tape x y -t s p q\ns = x + y\np = x * y\nq = np.sin(x)",
        ("x, y = 1.0, 2.0",),
    ),
    Cell(
        "matrices",
        "Jacobian and Hessian matrix",
        "%%tape v --jacobian --hessian -t u z\nu = np.stack([v[0] * v[1], v[1] + v[2] ** 2])\nz = np.sum(u ** 2)",
        ("v = np.array([1.0, 2.0, 3.0])",),
    ),
    Cell(
        "code",
        "The derivatives as a program that needs only NumPy",
        "%%tape --code\nh = np.tanh(X @ w + b)\nloss = np.mean((h - labels) ** 2)",
        (
            (
                "X, labels = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0.1, 0.2, 0.3])\n"
                "w = tm.Variable([0.5, -0.5], name='w')\nb = tm.Variable(0.1, name='b')"
            ),
        ),
    ),
    Cell(
        "check",
        "Gradients checked by finite differences",
        "%%tape x w --check\ny = np.sum(np.tanh(x * w) ** 2)",
        ("x = np.array([0.5, 1.0, -2.0])\nw = 0.7",),
    ),
    Cell(
        "own-tapes",
        "Tapes in tapes: a second derivative by hand",
        "%%tape x\nwith tm.GradientTape() as outer:\n    with tm.GradientTape() as inner:\n"
        "        inner.watch(x)\n        outer.watch(x)\n        y = x ** 3\n"
        "    g = inner.gradient(y, x)\nh = outer.gradient(g, x)",
        ("x = 2.0",),
    ),
    Cell(
        "left-the-tape",
        "Values that aren't tracked",
        "%%tape x y w\na = math.exp(x)\nb = float(y) * y\nc = np.sin(w.numpy())\nz = a + b + c * y",
        ("import math\nx, y, w = 1.0, 2.0, tm.Variable(3.0, name='w')",),
    ),
    Cell(
        "shapes",
        "An error: shapes that don't fit",
        "%%tape A x b\ny = A @ b\nz = y + A @ x",
        ("A = np.array([[1.0, 2.0], [3.0, 4.0]])\nx, b = np.ones(3), np.ones(2)",),
        fails=True,
    ),
    Cell(
        "none-in-arithmetic",
        "An error: a gradient that is None, in arithmetic",
        "%%tape\nwith tm.GradientTape() as inner:\n    loss = (w.numpy() * 3.0 - 1.0) ** 2 + b\n"
        "dw = inner.gradient(loss, w)\nw.assign_sub(0.1 * dw)",
        ("w = tm.Variable(2.0, name='w')\nb = tm.Variable(1.0, name='b')",),
        fails=True,
    ),
    Cell(
        "nan",
        "nan: the logarithm of a negative number",
        "%%tape x w\nu = x * w\nv = np.log(u)\ny = np.mean(v)",
        ("x = np.array([1.0, 2.0, -1.0])\nw = 3.0",),
    ),
    Cell(
        "where",
        "np.where and 0/0: what is not chosen stays 0",
        "%%tape x\nratio = np.sin(x) / x\ny = np.sum(np.where(x == 0, 1.0, ratio))",
        ("x = np.array([0.0, 1.0, 2.0])",),
    ),
    Cell(
        "overflow",
        "Overflow",
        "%%tape x\ne = np.exp(x)\np = e / np.sum(e)\nloss = -np.log(p[0])",
        ("x = np.array([1.0, 2.0, 1000.0])",),
    ),
    Cell(
        "million",
        "A million elements",
        "%%tape x\ny = np.tanh(x)\nloss = np.mean(y ** 2)",
        ("x = np.random.default_rng(1).normal(size=1_000_000)",),
    ),
    Cell(
        "image",
        "An image, and its gradient",
        "%%tape image\nedges = tm.conv2d(image[None, :, :, None], kernel[:, :, None, None], 1, 'SAME')\n"
        "score = np.sum(edges ** 2)",
        (PICTURE,),
    ),
    Cell(
        "complex",
        "Complex numbers",
        "%%tape z\nw = z ** 2 + np.conj(z)\ny = np.abs(w) ** 2",
        ("z = 1.0 + 2.0j",),
    ),
    Cell(
        "changed",
        "A Variable that changes within the cell",
        "%%tape\na = v ** 2\nv.assign(5.0)\ny = a + 3 * v",
        ("v = tm.Variable(2.0, name='v')",),
    ),
    Cell(
        "hostile",
        "Names that you shouldn't choose",
        "%%tape\ntotal = evil[0] * evil[1] + evil[2] * evil[3] * np.sin(evil[4]) + evil[5]",
        (HOSTILE,),
    ),
    Cell("logistic", "Logistic regression, written out", LOGISTIC_TRAINING, (LOGISTIC,)),
    Cell("xor", "A network that learns XOR", XOR_TRAINING, (XOR,)),
    Cell(
        "softmax",
        "Softmax and cross-entropy for three classes",
        "%%tape\nscores = X @ W + b\np = np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True)\n"
        "loss = -np.mean(np.log(p[np.arange(4), labels]))",
        (
            (
                "X = np.array([[1.0, 0.5], [-1.0, 2.0], [0.0, -1.0], [2.0, 1.0]])\nlabels = np.array([0, 1, 2, 0])\n"
                "W = tm.Variable(np.zeros((2, 3)), name='W')\nb = tm.Variable(np.zeros(3), name='b')"
            ),
        ),
    ),
    Cell(
        "class",
        "A network in a class of its own",
        "%%tape\nloss = np.mean((net(X) - labels) ** 2)",
        (NETWORK_CLASS,),
    ),
    Cell(
        "losses",
        "Losses in a list",
        "%%tape\nlosses = []\nfor step in range(20):\n    with tm.GradientTape() as inner:\n"
        "        loss = (w - 3.0) ** 2\n    w.assign_sub(0.1 * inner.gradient(loss, w))\n    losses.append(loss)\n"
        "    if step % 5 == 0:\n        print(f'{step:2}: {loss:.4f}')",
        ("w = tm.Variable(0.0, name='w')",),
    ),
    Cell(
        "recurrent",
        "A recurrent network",
        RECURRENT,
        (
            "W, U = np.array([[0.5, -0.3], [0.2, 0.1]]), np.array([1.0, -1.0])\nsequence = [0.5, -0.2, 0.8]",
        ),
    ),
    Cell(
        "rosenbrock",
        "Rosenbrock's function and its Hessian matrix",
        "%%tape x y --hessian\nf = (1 - x) ** 2 + 100 * (y - x ** 2) ** 2",
        ("x, y = -1.2, 1.0",),
    ),
    Cell(
        "newton",
        "Newton's method",
        "%%tape\nfor step in range(5):\n    with tm.GradientTape() as inner:\n        f = x ** 3 - 2\n"
        "    x.assign_sub(f / inner.gradient(f, x))",
        ("x = tm.Variable(2.0, name='x')",),
    ),
    Cell(
        "falling",
        "Position, velocity, acceleration: tapes in tapes",
        "%%tape t\nwith tm.GradientTape() as outer, tm.GradientTape() as inner:\n    outer.watch(t)\n"
        "    inner.watch(t)\n    height = 20.0 + 3.0 * t - 4.905 * t ** 2\n    velocity = inner.gradient(height, t)\n"
        "acceleration = outer.gradient(velocity, t)",
        ("t = 1.5",),
    ),
    Cell("pendulum", "A pendulum, 50 steps in time", PENDULUM, ("angle = 0.5",)),
    Cell(
        "fibonacci",
        "Fibonacci numbers as polynomials",
        "%%tape x\na, b = 1.0, x\nfor n in range(8):\n    a, b = b, x * b + a",
        ("x = 1.0",),
    ),
    Cell(
        "determinant",
        "The gradient of a determinant",
        "%%tape A\ndet = np.linalg.det(A)\nlog_det = np.log(np.abs(det))",
        ("A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])",),
    ),
    Cell(
        "polynomial",
        "A polynomial fitted to data",
        "%%tape c\nfit = np.polyval(c, x)\nerror = np.sum((fit - data) ** 2)",
        ("x = np.linspace(-1, 1, 9)\ndata, c = np.cos(2 * x), np.array([-1.0, 0.5, 1.0])",),
    ),
    Cell(
        "gravity",
        "A force from its potential energy",
        "%%tape position\ndistance = np.sqrt(np.sum(position ** 2))\nenergy = -10.0 / distance\n"
        "force = -tape.gradient(energy, position)\nenergy",
        ("position = np.array([3.0, 4.0])",),
    ),
    Cell(
        "convolutions",
        "A convolution in three ways",
        CONVOLUTIONS,
        (
            "image = np.add.outer(np.arange(5.0), np.arange(5.0) ** 2)\nkernel = np.array([[0.0, 1.0], [-1.0, 0.5]])",
        ),
    ),
    Cell(
        "pandas",
        "Columns of a table",
        "%%tape\nprediction = w * table['size'] + b\nloss = np.mean((prediction - table['price']) ** 2)",
        (TABLE,),
    ),
    Cell(
        "what-if",
        "Sliders for two numbers",
        "%%tape w b --what-if w=-2:4 b=-2:2\nw, b = 1.0, 0.5\nloss = np.mean((w * x + b - labels) ** 2)",
        ("x, labels = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])",),
    ),
    Cell(
        "loss-curve",
        "A loss as a curve over one weight",
        "%%tape --plot w=-1:5 -o 2\nw = 0.0\nloss = np.mean((w * x - labels) ** 2)",
        ("x, labels = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.5])",),
    ),
    Cell(
        "log-zero",
        "inf: the logarithm of 0",
        "%%tape logits\np = 1 / (1 + np.exp(-logits))\n"
        "loss = -np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))",
        ("logits = np.array([-2.0, 0.5, 40.0])\nlabels = np.array([0.0, 1.0, 0.0])",),
    ),
    Cell(
        "broadcast",
        "Shapes that fit by mistake: (4, 1) - (4,)",
        "%%tape\nprediction = X @ w\nloss = np.mean((prediction - labels) ** 2)",
        (
            (
                "X, labels = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([2.0, 4.0, 6.0, 8.0])\n"
                "w = tm.Variable([[2.0]], name='w')"
            ),
        ),
    ),
    Cell(
        "forgotten-watch",
        "A forgotten watch",
        "%%tape\nwith tm.GradientTape() as inner:\n    y = w * x ** 2\ndy_dx = inner.gradient(y, x)",
        ("x, w = tm.constant(3.0), tm.Variable(2.0, name='w')",),
    ),
    Cell(
        "replaced-variable",
        "A Variable that was replaced by a tensor",
        "%%tape\nfor step in range(3):\n    with tm.GradientTape() as inner:\n        loss = (w - 3.0) ** 2\n"
        "    g = inner.gradient(loss, w)\n    w = w - 0.1 * g",
        ("w = tm.Variable(0.0, name='w')",),
        fails=True,
    ),
    Cell(
        "filled-array",
        "An array filled in a loop",
        "%%tape w\nh = np.zeros(3)\nfor i in range(3):\n    h[i] = np.tanh(w * x[i])\nloss = np.sum(h ** 2) + w ** 2",
        ("w, x = 0.5, np.array([1.0, 2.0, 3.0])",),
    ),
    Cell(
        "by-hand",
        "A derivative by hand, checked against the tape's",
        "%%tape x --check\nsigmoid = 1 / (1 + np.exp(-x))\nby_hand = sigmoid * (1 - sigmoid)\n"
        "by_tape = tape.gradient(sigmoid, x)\nprint(np.allclose(by_hand, by_tape))\nsigmoid",
        ("x = np.array([-1.0, 0.0, 2.0])",),
    ),
)
