"""Cells in which a value leaves the tape and comes back, and cells that only show values; y is computed from x."""

from __future__ import annotations

LOST = {
    "float": "k = float(x)\ny = k * x",
    "item": "k = x.item()\ny = k * x",
    "math.sin": "y = x**2 + math.sin(x)",
    "asarray": "k = np.asarray(x)\ny = k * x",
    "attribute set in __init__, read outside": (
        "class A:\n    def __init__(self, v):\n        self.j = float(v)\nm = A(x)\ny = m.j * x"
    ),
    "attribute set in one method, read in another": (
        "class A:\n    def put(self, v):\n        self.j = float(v)\n    def get(self):\n        return self.j\n"
        "m = A()\nm.put(x)\ny = m.get() * x"
    ),
    "class attribute": "class A:\n    j = float(x)\ny = A.j * x",
    "slots": "class A:\n    __slots__ = ('j',)\nm = A()\nm.j = float(x)\ny = m.j * x",
    "property": (
        "class A:\n    def __init__(self, v):\n        self._j = float(v)\n    @property\n    def j(self):\n"
        "        return self._j\ny = A(x).j * x"
    ),
    "descriptor": (
        "class D:\n    def __get__(self, m, kind):\n        return float(m.v)\nclass A:\n    j = D()\n"
        "m = A()\nm.v = x\ny = m.j * x"
    ),
    "__getattr__": (
        "class A:\n    def __init__(self, v):\n        self.v = v\n    def __getattr__(self, name):\n"
        "        return float(self.v)\ny = A(x).anything * x"
    ),
    "__getitem__": (
        "class A:\n    def __init__(self, v):\n        self.v = float(v)\n    def __getitem__(self, k):\n"
        "        return self.v\ny = A(x)[0] * x"
    ),
    "__rmul__": (
        "class A:\n    def __init__(self, v):\n        self.v = float(v)\n    def __rmul__(self, other):\n"
        "        return other * self.v\ny = (2 * A(x)) * x"
    ),
    "__call__": (
        "class A:\n    def __init__(self, v):\n        self.v = float(v)\n    def __call__(self, u):\n"
        "        return self.v * u\ny = A(x)(x)"
    ),
    "inheritance": (
        "class A:\n    def __init__(self, v):\n        self.v = float(v)\nclass B(A):\n    def f(self, u):\n"
        "        return self.v * u\ny = B(x).f(x)"
    ),
    "function in a function": (
        "def f(v):\n    k = float(v)\n    def g(u):\n        return k * u\n    return g\ny = f(x)(x)"
    ),
    "nonlocal": (
        "def f(v):\n    k = 0.0\n    def g():\n        nonlocal k\n        k = float(v)\n    g()\n"
        "    return k * v\ny = f(x)"
    ),
    "global": "def f(v):\n    global kept\n    kept = float(v)\nf(x)\ny = kept * x",
    "decorator with arguments": (
        "def scaled(k):\n    def wrap(f):\n        return lambda u: k * f(u)\n    return wrap\n@scaled(float(x))\n"
        "def g(u):\n    return u\ny = g(x)"
    ),
    "default of a lambda": "f = lambda u, k=float(x): k * u\ny = f(x)",
    "default of a function": "def f(u, k=float(x)):\n    return k * u\ny = f(x)",
    "partial": "from functools import partial\nf = partial(lambda k, u: k * u, float(x))\ny = f(x)",
    "lru_cache": (
        "from functools import lru_cache\n@lru_cache\ndef f(k):\n    return 2 * k\ny = f(float(x)) * x"
    ),
    "generator": "def f(v):\n    yield float(v)\ny = next(f(x)) * x",
    "walrus": "y = (k := float(x)) * x + k",
    "Enum": "from enum import Enum\nclass E(Enum):\n    K = float(x)\ny = E.K.value * x",
    "with on a class": (
        "class C:\n    def __init__(self, v):\n        self.v = v\n    def __enter__(self):\n"
        "        return float(self.v)\n    def __exit__(self, *error):\n        pass\nwith C(x) as k:\n    y = k * x"
    ),
    "contextmanager": (
        "from contextlib import contextmanager\n@contextmanager\ndef c(v):\n    yield float(v)\n"
        "with c(x) as k:\n    y = k * x"
    ),
    "capture of a match": "match [float(x), 1]:\n    case [k, _]:\n        y = k * x",
    "argument of an exception": (
        "try:\n    raise ValueError(float(x))\nexcept ValueError as error:\n    y = error.args[0] * x"
    ),
    "setattr": "class A:\n    pass\nm = A()\nsetattr(m, 'j', float(x))\ny = m.j * x",
    "vars": "class A:\n    pass\nm = A()\nvars(m)['j'] = float(x)\ny = m.j * x",
    "globals": "globals()['kk'] = float(x)\ny = kk * x",
    "SimpleNamespace": "from types import SimpleNamespace\nm = SimpleNamespace(j=float(x))\ny = m.j * x",
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    j: float\nm = A(float(x))\ny = m.j * x"
    ),
    "namedtuple": "from collections import namedtuple\nP = namedtuple('P', 'a b')\np = P(float(x), 1)\ny = p.a * x",
    "heapq": "import heapq\nh = []\nheapq.heappush(h, float(x))\ny = heapq.heappop(h) * x",
    "list": "ks = []\nks.append(float(x))\ny = ks[0] * x",
    "list comprehension": "y = sum([float(x) * n for n in range(3)]) * x",
    "dict": "d = {}\nd['k'] = float(x)\ny = d['k'] * x",
    "deque": "from collections import deque\nd = deque()\nd.append(float(x))\ny = d.popleft() * x",
    "sorted": "y = sorted([float(x), 9.0])[0] * x",
    "queue": "from queue import Queue\nq = Queue()\nq.put(float(x))\ny = q.get() * x",
    "NumPy array": "a = np.zeros(2)\na[0] = float(x)\ny = np.sum(a) * x",
    "json": "import json\nk = json.loads(json.dumps({'k': float(x)}))['k']\ny = k * x",
    "text": "k = float(f'{x:.17g}')\ny = k * x",
    "pickle": "import pickle\nk = pickle.loads(pickle.dumps(float(x)))\ny = k * x",
    "exec": "exec('k = float(x)')\ny = k * x",
    "eval": "y = eval('float(x)') * x",
    "map": "y = next(map(float, [x])) * x",
    "reduce": "from functools import reduce\ny = reduce(lambda a, b: a * float(b), [1.0, x]) * x",
    "struct": "import struct\nk = struct.unpack('d', struct.pack('d', float(x)))[0]\ny = k * x",
    "Fraction": "from fractions import Fraction\nk = float(Fraction(float(x)))\ny = k * x",
    "a branch": "k = 1.0\nif float(x) > 1:\n    k = float(x)\ny = k * x",
    "assigned to another Variable": "v = tm.Variable(0.0)\nv.assign(x)\ny = v * x",
}
"""Cells whose gradient lacks a part, by the way on which a value leaves the tape and comes back."""

HEALTHY = {
    "print": "print('x is', float(x))\ny = x**2",
    "print the result": "y = x**2\nprint(float(y))",
    "f-string": "y = x**2\nprint(f'{x:.3f} gives {float(y):.2f}')",
    "logging": "import logging\nlogging.warning('x = %f', float(x))\ny = x**2",
    "a logger": "import logging\nlogging.getLogger('mine').info(float(x))\ny = np.sin(x)",
    "append to a list": "log = []\nlog.append(float(x))\ny = x**3",
    "append in a loop": "log = []\ny = x\nfor _ in range(4):\n    y = np.sin(y)\n    log.append(float(y))",
    "append to an old list": "old.append(float(x))\ny = x**3",
    "a dict of results": "results = {'x': float(x)}\ny = np.exp(x)\nresults['y'] = float(y)",
    "compare": "if float(x) > 1:\n    y = x**2\nelse:\n    y = x",
    "assert": "assert float(x) > 0\ny = x**2",
    "abs of a comparison": "is_large = abs(float(x)) > 100\ny = x * 2",
    "isclose": "y = x**2\nassert np.isclose(float(y), 1.69)",
    "plot": (
        "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\n"
        "plt.plot([0, float(x)])\ny = x**2"
    ),
    "subplots": (
        "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\nfig, ax = plt.subplots()\n"
        "ax.scatter(np.asarray(x), 1.0)\ny = np.cos(x)"
    ),
    "counting steps": "n = int(x * 4)\ny = x * n",
    "attribute that nobody reads": (
        "class A:\n    def __init__(self, v):\n        self.shown = float(v)\n        self.v = v\ny = A(x).v ** 2"
    ),
    "repr of an object": (
        "class A:\n    def __init__(self, v):\n        self.v = v\n    def __repr__(self):\n"
        "        return f'A({float(self.v)})'\nm = A(x)\nprint(m)\ny = m.v ** 2"
    ),
    "an item that is overwritten": "d = {'k': float(x)}\nd['k'] = 2.0\ny = d['k'] * x",
    "an unused default": "def f(u, k=float(x)):\n    return u * u\ny = f(x)",
    "a name that is rebound": "k = float(x)\nk = 3.0\ny = k * x",
    "a sum that cancels": "k = float(x)\ny = x**2 + k - k",
    "max of a log": "log = [1.0, float(x)]\nbest = max(log)\ny = x**2",
    "display": "from IPython.display import display\ndisplay(float(x))\ny = x**2",
}
"""Cells whose gradient is whole, although values leave the tape."""
