"""A value that becomes plain and is used again is never passed over in silence, and harmless uses raise no alarm.

Each program runs with x a little larger and a little smaller: only that decides whether its gradient lacks a part.
"""

# ruff: noqa: E501, S102 (programs take a line each, and are executed: those of this file)

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import textwrap
from itertools import count
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.explain.explain import Explanation
from tapemagic.explain.sensitivity import UsedConstants
from tests.explain import silence_programs
from tests.shares import ALL, each

fresh = count().__next__
CERTAIN = "so it's wrong"
STEP = 1e-6

LEAVING = """
m = A(x); y = m.j * x  # class A:\\n def __init__(self, v): self.j = float(v)
m = A(); m.put(x); y = m.j * x  # class A:\\n def put(self, v): self.j = float(v)
m = A(x); y = m.get() * x  # class A:\\n def __init__(self, v): self.j = float(v)\\n def get(self): return self.j
m = A(x); y = m.twice * x  # class A:\\n def __init__(self, v): self.j = float(v)\\n @property\\n def twice(self): return 2 * self.j
m = A(x); y = m[0] * x  # class A:\\n def __init__(self, v): self.v = v\\n def __getitem__(self, k): return float(self.v)
m = A(x); y = 2.0 * m * x  # class A:\\n def __init__(self, v): self.v = v\\n def __rmul__(self, k): return k * float(self.v)
m = A(x); y = (m + 1.0) * x  # class A:\\n def __init__(self, v): self.v = v\\n def __add__(self, k): return k + float(self.v)
m = A(x); y = -m * x  # class A:\\n def __init__(self, v): self.v = v\\n def __neg__(self): return -float(self.v)
m = A(x); y = m() * x  # class A:\\n def __init__(self, v): self.v = v\\n def __call__(self): return float(self.v)
m = A(x); y = sum(m) * x  # class A:\\n def __init__(self, v): self.v = v\\n def __iter__(self): return iter([float(self.v), 1.0])
m = A(x); y = m.any_name * x  # class A:\\n def __init__(self, v): self.v = v\\n def __getattr__(self, name): return float(self.__dict__['v'])
with A(x) as k: y = k * x  # class A:\\n def __init__(self, v): self.v = v\\n def __enter__(self): return float(self.v)\\n def __exit__(self, *e): pass
with c(x) as k: y = k * x  # @contextlib.contextmanager\\ndef c(v): yield float(v)
m = B(x); y = m.j * x  # class A:\\n def __init__(self, v): self.j = float(v)\\nclass B(A): pass
m = A(); m.j = float(x); y = m.j * x  # class A: pass
m = A(); setattr(m, 'j', float(x)); y = m.j * x  # class A: pass
m = A(); vars(m)['j'] = float(x); y = m.j * x  # class A: pass
m = A(); m.__dict__['j'] = float(x); y = m.j * x  # class A: pass
m = A(); m.__dict__.update(j=float(x)); y = m.j * x  # class A: pass
m = A(); n = m; n.j = float(x); y = m.j * x  # class A: pass
m = A(); m.log = []; m.log.append(float(x)); y = m.log[0] * x  # class A: pass
m = A(j=x.numpy()); y = m.j * x  # class A(types.SimpleNamespace): pass
m = D(float(x)); y = m.j * x  # @dataclasses.dataclass\\nclass D:\\n j: float
m = P(float(x), 1.0); y = m.j * x  # P = collections.namedtuple('P', 'j k')
globals()['k'] = float(x); y = k * x
f = make(x); y = f(x)  # def make(v):\\n k = float(v)\\n def g(u): return k * u\\n return g
f = make(x); y = f(x)  # def make(v):\\n k = float(v)\\n return lambda u: k * u
f = make(float(x)); y = f(x)  # def make(k):\\n return lambda u: k * u
f = make(); f(x); y = f(x)  # def make():\\n k = 0.0\\n def g(u):\\n  nonlocal k\\n  k = k + float(u)\\n  return k * u\\n return g
y = f(x)  # k = 1.0\\ndef f(v):\\n global k\\n k = float(v)\\n return k * v
f = lambda u, k=float(x): k * u; y = f(x)
def f(u, k=float(x)): return k * u\\ny = f(x)
@scale(float(x))\\ndef f(u): return u\\ny = f(x)  # def scale(k):\\n def wrap(g):\\n  return lambda u: k * g(u)\\n return wrap
@record\\ndef f(u): return u\\ny = f(x) * f.last  # def record(g):\\n def wrapped(u):\\n  wrapped.last = float(u)\\n  return g(u)\\n return wrapped
f = functools.partial(mul, float(x)); y = f(x)  # def mul(a, b): return a * b
y = functools.reduce(lambda a, b: a * float(b), [x, x, x])
class K: k = float(x)\\ny = K.k * x
class K(enum.Enum): A = float(x)\\ny = K.A.value * x
class K: k = float(x)\\nclass L(K): pass\\ny = L().k * x
match float(x):\\n case k: y = k * x
match [float(x), 1.0]:\\n case [k, *_]: y = k * x
match {'a': float(x)}:\\n case {'a': k}: y = k * x
try: raise ValueError(float(x))\\nexcept ValueError as e: y = e.args[0] * x
try: check(x)\\nexcept ValueError as e: y = e.args[0] * x  # def check(v): raise ValueError(float(v))
try: assert False, float(x)\\nexcept AssertionError as e: y = e.args[0] * x
h = []; heapq.heappush(h, float(x)); y = h[0] * x
h = []; bisect.insort(h, float(x)); y = h[0] * x
h = collections.deque([float(x)]); y = h.pop() * x
h = collections.defaultdict(list); h['a'].append(float(x)); y = h['a'][0] * x
h = collections.Counter(); h['a'] += float(x); y = h['a'] * x
h = {}; h.setdefault('a', float(x)); y = h['a'] * x
h = {}; h['a'] = float(x); y = h['a'] * x
h = {}; h[3] = float(x); y = h[3] * x
h = {'a': {}}; h['a']['b'] = float(x); y = h['a']['b'] * x
h = [1.0]; h[0] = float(x); y = h[0] * x
h = [1.0]; g = h; g[0] = float(x); y = h[0] * x
h = [[1.0]]; g = h[0]; g[0] = float(x); y = h[0][0] * x
h = []; add = h.append; add(float(x)); y = h[0] * x
h = []; put(h, x); y = h[0] * x  # def put(store, v): store.append(float(v))
h = []; put(store=h, v=x); y = h[0] * x  # def put(store, v): store.append(float(v))
h = []; put(h)(x); y = h[0] * x  # def put(store): return lambda v: store.append(float(v))
h = [float(x)]; h.sort(); y = h[0] * x
h = np.zeros(2); h[0] = x; y = np.sum(h) * x
h = np.zeros(2); h[:] = float(x); y = np.sum(h) * x
h = np.zeros(2); np.copyto(h, float(x)); y = h[0] * x
h = np.zeros(2); np.put(h, 0, float(x)); y = h[0] * x
h = np.zeros(2); np.add(1.0, float(x), out=h); y = h[0] * x
h = np.array([x, x]); y = np.sum(h) * x
h = np.full(3, x); y = np.sum(h) * x
h = np.float64(x); y = h * x
h = x.numpy(); y = h * x
h = x.item() * 2; y = h * x
h = x.tolist(); y = h * x
h = x.__float__(); y = h * x
h = math.sin(x); y = h * x
h = math.fsum([x, x]); y = h * x
h = complex(x); y = np.real(h) * x
k = float(x); k *= 2; y = k * x
k = 1.0; k += float(x); y = k * x
k = [float(x)]; k += [1.0]; y = k[0] * x
a, b = float(x), 2.0; y = b * a * x
a = b = float(x); y = b * x
a, (b, c) = 1.0, (float(x), 2.0); y = b * x
a, *b = 1.0, float(x); y = b[0] * x
y = (k := float(x)) * x * k
if (k := float(x)) > 0: y = k * x
for k in [float(x)]: y = k * x
for i, k in enumerate([float(x)]): y = k * x
for k, g in zip([float(x)], [1.0]): y = k * g * x
y = 0.0\\nfor _ in range(3): y = y + float(x) * x
y = x\\nfor _ in range(3): y = y * float(y)
k = 1.0\\nwhile k < 2.0: k = k + float(x)\\ny = k * x
y = sum([float(u) * 2 for u in [x, x] if u * 3 > 1]) * x
y = sum(float(u) for u in [x, x]) * x
y = {i: float(x) for i in range(2)}[0] * x
y = [float(x) for _ in range(2)][0] * x
y = sorted([float(x), 9.0])[0] * x
y = max(float(x), 1.0) * x
y = next(iter([float(x)])) * x
y = list(map(float, [x]))[0] * x
y = dict(a=float(x))['a'] * x
y = (float(x),)[0] * x
y = [1.0, float(x)][-1] * x
y = abs(float(x)) * x
k = float(x); y = np.sum(v * x, initial=k)
k = float(x); y = np.max(v * x, initial=9 * k)
k = float(x); y = np.clip(x * 3, 0.0, k)
k = float(x); y = tm.leaky_relu(-x, k)
k = float(x) / 5; y = np.quantile(v * x, k)
k = float(x); y = x ** k
k = float(x); y = np.sum(np.diff(v * x, prepend=k))
k = float(x); y = np.sum(np.pad(v * x, 1, constant_values=k))
y = round(float(x), 6) * x + float(x) * x
s = f'{float(x)!r}'; y = float(s) * x
s = str(float(x)); y = float(s) * x
s = repr(x.numpy().item()); y = eval(s) * x
s = '%.12f' % x; y = float(s) * x
s = '{:.12f}'.format(x); y = float(s) * x
s = json.dumps([float(x)]); y = json.loads(s)[0] * x
s = pickle.dumps(float(x)); y = pickle.loads(s) * x
s = io.StringIO(); s.write(f'{float(x)!r}'); y = float(s.getvalue()) * x
s = io.StringIO(f'{float(x)!r}'); y = np.loadtxt(s) * x
s = io.StringIO(); print(float(x), file=s); y = float(s.getvalue()) * x
exec('k = float(x)'); y = k * x
y = eval('float(x)') * x
q = queue.Queue(); q.put(float(x)); y = q.get() * x
c = itertools.accumulate([float(x), 1.0]); y = list(c)[1] * x
c = itertools.repeat(float(x)); y = next(c) * x
g = gen(x); y = next(g) * x  # def gen(v):\\n while True: yield float(v)
g = gen(); next(g); y = g.send(float(x)) * x  # def gen():\\n got = yield\\n yield got
y = loss(x)  # def loss(v):\\n if float(v) > 0: return float(v) * v\\n return v
y = loss(x)  # def loss(v):\\n def inner(u): return float(u)\\n return inner(v) * v
y = loss(x)  # def inner(u): return float(u)\\ndef loss(v): return inner(v) * v
y = apply(float, x) * x  # def apply(f, v): return f(v)
y = apply(lambda u: float(u), x) * x  # def apply(f, v): return f(v)
fs = [float, abs]; y = fs[0](x) * x
fs = {'f': lambda u: float(u)}; y = fs['f'](x) * x
y = (lambda u: float(u) * u)(x)
y, z = both(x)  # def both(v): return float(v) * v, 1.0
z, y = both(x)  # def both(v): return 1.0, float(v) * v
y = both(x)[1] * x  # def both(v): return 1.0, float(v)
y = both(x)['b'] * x  # def both(v): return dict(a=1.0, b=float(v))
y = copy.copy(float(x)) * x
h = copy.deepcopy([float(x)]); y = h[0] * x
h = np.array(x); y = h * x
h = np.asarray(x); y = (h + 1) * x
h = np.histogram([x, 2.0], bins=2)[1]; y = h[0] * x
h = np.interp(float(x), [0.0, 2.0], [0.0, 4.0]); y = h * x
h = scipy.special.expit(float(x)); y = h * x
r = scipy.optimize.brentq(lambda u: float(u - x), 0.0, 5.0, xtol=1e-13); y = r * x
"""

HEALTHY = """
y = x * x; print(float(y))
y = x * x; print(f'{float(y):.3f}', x, y)
y = x * x; print('%.3f' % y, '{:.2f}'.format(x))
y = x * x; print(str(y), repr(x), x.numpy(), y.item())
y = x * x; s = f'y is {y:.3f}'; print(s)
y = x * x; s = str(float(y)); print(len(s), s.upper())
y = x * x; name = f'run_{float(x):.1f}'; print(name)
y = x * x; logging.debug('y %s', float(y))
y = x * x; logging.getLogger('a').debug(f'{y}')
y = x * x; warnings.filterwarnings('ignore'); print(float(y))
log = []; y = x * x; log.append(float(y)); print(log)
log = []; y = x * x; log.append(y.numpy()); print(np.mean(log))
log = {'x': []}; y = x * x; log['x'].append(float(x)); print(log)
log = {'x': [], 'k': [2.0]}; log['x'].append(float(x)); y = log['k'][0] * x * x
log = {}; y = x * x; log['loss'] = float(y); print(json.dumps(log))
log = {'loss': 0.0, 'w': 3.0}; log['loss'] = float(x); y = x * log['w']
log = collections.defaultdict(list); y = x * x; log['loss'].append(float(y))
log = []\\nfor i in range(3):\\n y = x * x * i\\n log.append((i, float(y)))\\nprint(log)
log = []\\nfor i in range(3):\\n y = x * x\\n if i % 2 == 0: print(i, float(y))\\n log.append(float(y))
best = 9.0; y = x * x\\nif float(y) < best: best = float(y)\\nprint(best)
best = np.inf\\nfor i in range(3):\\n y = x * x\\n best = min(best, float(y))
y = x * x\\nif float(y) > 1: print('large')\\nelse: print('small')
y = x * x if float(x) > 0 else x
y = x * x if x > 0 else x
y = x * x\\nwhile float(y) < 100: y = y * x
y = x\\nfor _ in range(10):\\n y = y * x\\n if y > 5: break
n = int(x); y = x ** n
n = int(float(x)); y = x * n
k = round(float(x)); y = x * k
k = np.sign(float(x)); y = x * k
k = float(x) // 1; y = x * k
k = len(f'{float(x):.2f}'); y = x * k
k = float(x) > 0; y = x * k
k = 2.0 if float(x) > 0 else 3.0; y = x * k
i = int(np.argmax(v)); y = v[i] * x
i = np.argmax(v.numpy()); y = v[i] * x
mask = v.numpy() > 1.5; y = np.sum(v[mask]) * x
mask = np.asarray(v) > 1.5; y = np.sum(np.where(mask, v, 0.0)) * x
order = np.argsort(v.numpy()); y = v[order][0] * x
assert float(x) > 0; y = x * x
assert np.isfinite(float(x)), 'no'; y = x * x
assert float(x) > 0, float(x); y = x * x
y = x * x; assert np.allclose(float(y), 1.69)
y = x * x; np.testing.assert_allclose(float(y), 1.69, rtol=0.1)
y = x * x; math.isclose(float(y), 1.69)
if float(x) < 0: raise ValueError('x must be positive')\\ny = x * x
if x < 0: raise ValueError(f'{x}')\\ny = x * x
try:\\n assert float(x) < 0\\nexcept AssertionError: pass\\ny = x * x
try: k = 2.0 / float(x)\\nexcept ZeroDivisionError: k = 0.0\\ny = x * x
y = f(x)  # def f(v):\\n print(float(v))\\n return v * v
y = f(x)  # def f(v):\\n h = v * v\\n print(f'{h:.3f}')\\n return h
y = f(x)  # def f(v, log=[]):\\n log.append(float(v))\\n return v * v
y = f(x)  # log = []\\ndef f(v):\\n log.append(float(v))\\n return v * v
y = f(x)  # calls = {'n': 0}\\ndef f(v):\\n calls['n'] += 1\\n print(float(v))\\n return v * v
y = f(x)  # def f(v):\\n if float(v) > 0: return v * v\\n return v
y = f(x)  # def f(v):\\n assert float(v) > 0\\n return v * v
y, shown = f(x)  # def f(v): return v * v, float(v)
y, shown = f(x); print(shown)  # def f(v):\\n h = v * v\\n return h, h.numpy()
y = f(x)[0]  # def f(v): return v * v, float(v)
out = f(x); y = out['loss']; print(out['shown'])  # def f(v): return {'loss': v * v, 'shown': float(v)}
show(float(x)); y = x * x  # def show(loss): print('loss', loss)
show(x); y = x * x  # def show(value): print(f'{float(value):.3f}')
show('x', x); y = x * x  # def show(name, value): print(name, '=', float(value))
m = A(); y = m(x); print(m.last)  # class A:\\n def __call__(self, v):\\n  self.last = float(v)\\n  return v * v
m = A(); y = m(x); print(m.log)  # class A:\\n def __init__(self): self.log = []\\n def __call__(self, v):\\n  self.log.append(float(v))\\n  return v * v
m = A(); y = m.loss(x)  # class A:\\n k = 2.0\\n def loss(self, v):\\n  h = self.k * v * v\\n  self.shown = float(h)\\n  return h
m = A(x); y = m.v * m.v; print(m)  # class A:\\n def __init__(self, v): self.v = v\\n def __repr__(self): return f'A({float(self.v):.2f})'
m = A(x); y = m.v * m.v; print(len(m), bool(m))  # class A:\\n def __init__(self, v): self.v = v\\n def __len__(self): return int(float(self.v))
m = A(x); y = m.v * m.v; print(m.value)  # class A:\\n def __init__(self, v): self.v = v\\n @property\\n def value(self): return float(self.v)
h = History(); y = x * x; h.add(y); print(h.values)  # class History:\\n def __init__(self): self.values = []\\n def add(self, u): self.values.append(float(u))
meter = Meter(); y = x * x; meter.update(float(y)); print(meter.avg)  # class Meter:\\n def __init__(self): self.sum = 0.0; self.n = 0\\n def update(self, u): self.sum += u; self.n += 1\\n @property\\n def avg(self): return self.sum / self.n
v_before = float(x); y = x * x; print(v_before)
before = x.numpy(); y = x * x; print(before, x.numpy())
value = float(x); print(value); value = x * 2.0; y = value * x
t = float(x); t = 2.0; y = t * x
for name, value in [('x', float(x)), ('w', float(w))]: print(name, value)\\ny = x * x
for value in (float(x), 1.0): print(value)\\nvalue = x\\ny = value * x
rows = [(k, float(x) * k) for k in range(3)]; print(rows); y = x * x
table = {k: float(x) for k in 'ab'}; print(table); y = x * x
print(*[float(u) for u in [x, w]]); y = x * x
print(sum(float(u) for u in [x, w])); y = x * x
print(max(float(x), float(w))); y = x * x
print(np.round(x.numpy(), 2), np.mean(x.numpy())); y = x * x
y = x * x; grad_shown = 2 * float(x); print(grad_shown)
y = x * x; expected = 2 * float(x); print(np.isclose(expected, 2.6))
y = x * x; expected = float(x) ** 2; error = abs(float(y) - expected); print(error < 1e-9)
y = x * x; by_hand = math.pow(float(x), 2); print(by_hand)
y = np.sin(x) * x; print(math.sin(float(x)) * float(x))
xs = np.linspace(0, 1, 5); y = x * x; plt.plot(xs, xs * float(x)); plt.close('all')
xs = np.linspace(0, 1, 5); y = np.sum(xs * x); fig, ax = plt.subplots(); ax.plot(xs, xs * x.numpy()); plt.close(fig)
fig, ax = plt.subplots(); y = x * x; ax.scatter([float(x)], [float(y)]); ax.set_title(f'{y:.2f}'); plt.close(fig)
y = x * x; plt.axvline(float(x)); plt.title(f'y = {float(y):.2f}'); plt.close('all')
y = x * x; plt.figure(); plt.bar(['x', 'y'], [float(x), float(y)]); plt.close('all')
y = np.sum(v) * x; plt.plot(v.numpy()); plt.close('all')
y = np.sum(v) * x; plt.plot(v); plt.hist(v); plt.close('all')
points = []; y = x * x; points.append((float(x), float(y))); plt.plot(*zip(*points)); plt.close('all')
df = pd.DataFrame({'x': [float(x)]}); y = x * x; print(df)
df = pd.DataFrame(); y = x * x; df.loc[0, 'y'] = float(y); print(df)
rows = []; y = x * x; rows.append({'x': float(x), 'y': float(y)}); print(pd.DataFrame(rows).describe())
y = x * x; buffer = io.StringIO(); buffer.write(f'{float(y)}')
y = x * x; buffer = io.StringIO(); print(float(y), file=buffer)
y = x * x; writer = csv.writer(io.StringIO()); writer.writerow([float(x), float(y)])
y = x * x; np.savetxt(io.StringIO(), [float(y)])
y = x * x; text = json.dumps({'y': float(y), 'v': v.tolist()}); print(text)
y = x * x; blob = pickle.dumps(x); print(len(blob))
y = x * x; key = f'{x}'; cache = {key: 1.0}; print(cache)
y = x * x; seen = {y.item()}; print(len(seen))
names = {f'{x}': w}; y = names[f'{x}'] * x
data = np.array([1.0, 2.0]); y = np.sum(data * x); print(float(y))
data = np.random.default_rng(0).normal(size=3); y = np.mean((data - x) ** 2); print(float(y))
X = np.ones((3, 2)); p = X @ np.stack([x, w]); y = np.mean((p - 1.0) ** 2); print(y.numpy(), p.numpy())
X = np.ones((3, 1)); p = X * x; y = np.mean(p ** 2); acc = np.mean(p.numpy() > 1.0); print(acc)
X = np.ones((3, 1)); p = X * x; y = np.mean(p ** 2); labels = np.argmax(p.numpy(), axis=1); print(labels)
p = tm.sigmoid(v); y = -np.mean(np.log(p)) * x; acc = float(np.mean(p.numpy() > 0.5)); print(acc)
p = tm.softmax(v); y = p[0] * x; print(np.round(p.numpy(), 3), p.numpy().sum())
step = 0\\nfor step in range(3): y = x * x * step\\nprint(step, float(y))
losses = []\\nfor epoch in range(3):\\n y = np.mean((v - x) ** 2)\\n losses.append(float(y))\\nprint(losses[-1], np.mean(losses))
losses = np.zeros(3)\\nfor epoch in range(3):\\n y = x * x * epoch\\n losses[epoch] = y\\nprint(losses)
losses = np.zeros(3)\\nfor epoch in range(3):\\n y = x * x * epoch\\n losses[epoch] = float(y)\\nprint(losses.min())
history = {'loss': [], 'x': []}\\nfor epoch in range(2):\\n y = x * x\\n history['loss'].append(float(y)); history['x'].append(x.numpy())
total = 0.0\\nfor k in range(3):\\n y = x * x * k\\n total += float(y)\\nprint(total / 3)
count = 0\\nfor u in [x, w]:\\n if float(u) > 1.5: count += 1\\ny = x * x; print(count)
patience = 3; best = 1e9\\nfor e in range(4):\\n y = x * x\\n if float(y) < best - 1e-3: best, wait = float(y), 0\\n else: wait += 1\\n if wait > patience: break
lr = 0.1; y = x * x; new = float(x) - lr * 2 * float(x); print(new)
lr = 0.1; y = x * x * lr; print(f'lr {lr} loss {float(y):.3f}')
y = x * x; start = time.time(); print(float(y), time.time() - start)
y = x * x; bar = tqdm(range(2), disable=True); bar.set_postfix(loss=float(y))
for i in tqdm(range(2), disable=True):\\n y = x * x * (i + 1)\\n print(float(y))
y = x * x; display(float(y))  # def display(*a): pass
y = x * x; k = float(y); del k
y = x * x; _ = float(y)
y = x * x; [float(y), float(x)]
y = x * x; float(y)
y = x * x; (float(x), float(y))
y = x * x; hash(float(x)); id(x)
y = x * x; np.asarray(y); np.array(x)
y = x * x; isinstance(float(y), float)
y = x * x; ok = bool(x); print(ok, x is None)
y = x * x; r = sorted([w, x], key=float); print(r)
y = min([x * x, x * 3.0], key=float)
y = max(x * x, x * 0.5)
big = max([x, w], key=lambda u: float(u)); y = x * x; print(big)
pairs = sorted(zip([float(x), 1.0], 'ab')); y = x * x; print(pairs)
shape = np.zeros(v.shape); y = np.sum(shape + v) * x; print(v.numpy().shape)
zero = np.zeros_like(v.numpy()); y = np.sum(zero + v) * x
ones = np.ones(len(v)); y = np.sum(ones * v) * x; print(v.tolist())
k = tm.stop_gradient(x); y = x * x; print(float(k))
y = x * x + 0 * w; print(float(w))
y = x * float(3); print(float(y))
y = x * float('2.5'); print(float(x))
y = x * float(np.pi) ** 2; print(float(x))
c = float(np.sqrt(2.0)); y = x * c; print(float(x))
n = float(len(v)); y = np.sum(v) / n * x; print(float(y))
mu = float(np.mean([1.0, 2.0])); y = (x - mu) ** 2; print(float(x), mu)
a = 3.0; y = a * x; print(a * float(x))
a = 3.0; b = float(x); y = a * x; print(b)
a = 3.0; show(a, float(x)); y = a * x  # def show(k, value): print(k, value)
k = 2.0; out = report(k, x); y = k * x; print(out)  # def report(scale, value): return f'{scale * float(value)}'
y = loss(x)  # K = 2.0\\ndef loss(v):\\n parts = [v * v, K * v]\\n print([float(p) for p in parts])\\n return sum(parts)
y = loss(x)  # def loss(v):\\n total = 0.0\\n for k in range(3):\\n  total = total + k * v * v\\n  if k == 1: print(float(total))\\n return total
y = loss(x)  # def loss(v):\\n p = v * 2.0\\n if np.any(p.numpy() < 0): raise ValueError('negative')\\n return np.log(p)
y = loss(x)  # def check(v): return np.isfinite(float(v))\\ndef loss(v):\\n assert check(v)\\n return v * v
y = loss(x)  # def loss(v):\\n with np.errstate(all='ignore'):\\n  h = v * v\\n  print(h.numpy())\\n return h
y = net(x)  # class Net:\\n def __init__(self): self.w = 2.0; self.seen = []\\n def __call__(self, v):\\n  h = np.tanh(self.w * v)\\n  self.seen.append(h.numpy())\\n  return h\\nnet = Net()
y = train(x)  # class Logger:\\n def __init__(self): self.rows = []\\n def write(self, **row): self.rows.append(row)\\nlogger = Logger()\\ndef train(v):\\n h = v * v\\n logger.write(loss=float(h), v=float(v))\\n return h
y = train(x)  # class Stop:\\n def __init__(self): self.best = 9.0\\n def __call__(self, u):\\n  if u < self.best: self.best = u\\n  return u > 100.0\\nstop = Stop()\\ndef train(v):\\n for k in range(3):\\n  h = v * v * k\\n  if stop(float(h)): break\\n return h
y = train(x)  # def train(v):\\n best = None\\n for k in range(3):\\n  h = v * v\\n  if best is None or float(h) < best: best = float(h)\\n return h
y = train(x)  # def train(v, verbose=True):\\n h = v * v\\n if verbose: print(f'loss: {h.numpy():.4f}')\\n return h
"""


def lines_of(text: str) -> list[str]:
    """The programs of a table of `silence_programs`."""
    return [line.replace("\\n", "\n") for line in text.strip().splitlines()]


def parsed(text: str) -> list[str]:
    """The programs of a table: a line each, with the definitions they need behind a comment sign."""
    programs = []
    for line in text.strip().splitlines():
        body, _, before = line.partition("  # ")
        programs.append(
            "\n".join(filter(None, (part.replace("\\n", "\n") for part in (before, body))))
        )
    return programs


def split(program: str) -> str:
    """The program inside the tape's block."""
    return "with tape:\n" + textwrap.indent(program, "    ")


IMPORTS = """
import bisect, collections, contextlib, copy, csv, dataclasses, enum, functools, heapq, io, itertools, json, logging
import math, pickle, queue, time, types, warnings
import ast, asyncio, concurrent.futures, contextvars, abc, array, configparser, datetime, decimal, fractions, inspect
import operator, os, random, re, shelve, sqlite3, statistics, string, struct, sys, tempfile, textwrap, threading, typing
import weakref
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
import pandas as pd
import scipy.optimize, scipy.special
try:
    from tqdm import tqdm
except ImportError:
    tqdm = None
"""
MODULES: dict[str, Any] = {"tm": tm, "np": np}
exec(IMPORTS, MODULES)


def run(program: str, x: float) -> dict[str, Any]:
    """The names of a program after it ran with a value of x."""
    file = f"<silence {fresh()}>"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    names: dict[str, Any] = {**MODULES, "__name__": "__main__"}
    names |= {"x": tm.Variable(x), "w": tm.Variable(2.0), "v": tm.Variable([1.0, 2.5, 4.0])}
    names["tape"] = tm.GradientTape(persistent=True)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(program, file, "exec"), names)
    return names


ASKING = {
    "a helper": "def ask(t, a, b): return t.explain(a, b)\n{program}\nfound = ask(tape, y, x)\n",
    "another function": "def build():\n{indented}\n return y\n"
    "def main():\n y = build()\n return tape.explain(y, x)\nfound = main()\n",
    "a method": "class Question:\n def __init__(self, t): self.t = t\n def ask(self, a): return self.t.explain(a, x)\n"
    "{program}\nfound = Question(tape).ask(y)\n",
}


def judged(program: str) -> tuple[bool, str]:
    """Whether the gradient at 1.3 is right, and what is said to be missing."""
    text = split(program)
    found: Explanation = run(f"{text}\nfound = tape.explain(y, x)\n", 1.3)["found"]
    above, below = (float(run(text, 1.3 + step)["y"]) for step in (STEP, -STEP))
    slope = (above - below) / (2 * STEP)
    gradient = 0.0 if found.gradient is None else float(found.gradient)
    return bool(abs(gradient - slope) < 1e-5 * max(1.0, abs(slope))), found.missing or found.reason


HEALTHY_PROGRAMS = [*parsed(HEALTHY), *lines_of(silence_programs.HEALTHY)]
LEAVING_PROGRAMS = [*parsed(LEAVING), *lines_of(silence_programs.LEAVING)]


@pytest.mark.parametrize("program", LEAVING_PROGRAMS)
def test_never_silent(program: str) -> None:
    """Where the gradient lacks a part, the explanation says so."""
    is_right, said = judged(program)

    assert not is_right
    assert said


@pytest.mark.parametrize("program", HEALTHY_PROGRAMS + lines_of(silence_programs.TRAPS))
def test_never_surely_wrong(program: str) -> None:
    """Where the gradient is right, nothing is said to be missing for sure."""
    is_right, said = judged(program)

    assert is_right
    assert CERTAIN not in said


REDIRECTED = "redirect_stdout", "catch_warnings", "logging.Handler", "class AttrDict"
"""Ways back that reading doesn't find: output that is caught and parsed, and ``__setattr__`` that stores items."""


@pytest.mark.thorough
def test_never_silent_by_reading_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss is found also if no operation uses the number itself, with a line for each statement."""
    monkeypatch.setattr(UsedConstants, "has", lambda *_: False)

    programs = [ast.unparse(ast.parse(program)) for program in LEAVING_PROGRAMS]
    silent = [program for program in programs if not judged(program)[1]]
    alarms = [x for x in HEALTHY_PROGRAMS if judged(ast.unparse(ast.parse(x)))[1]]

    assert [x for x in silent if not any(word in x for word in REDIRECTED)] == []
    assert len(alarms) <= 0.02 * len(HEALTHY_PROGRAMS), alarms


@pytest.mark.thorough
@pytest.mark.parametrize("place", ASKING)
def test_wherever_the_question_is_asked(place: str) -> None:
    """No loss is passed over, and at most 2 % of the programs with right gradients hear of a part that may be missing."""
    silent, alarms = [], []
    # At each place other programs.
    first = 0 if ALL else [*ASKING].index(place)
    for program in [*LEAVING_PROGRAMS, *HEALTHY_PROGRAMS][first :: each(1)]:
        if "global" in program or "exec(" in program:  # the names would be those of a function
            continue
        block = split(program)
        text = ASKING[place].format(program=block, indented=textwrap.indent(block, " "))
        found: Explanation = run(text, 1.3)["found"]
        is_healthy = program in HEALTHY_PROGRAMS
        silent += [program] * (not is_healthy and not (found.missing or found.reason))
        alarms += [program] * (is_healthy and bool(found.missing))

    assert silent == []
    assert len(alarms) <= 0.02 * len(HEALTHY_PROGRAMS), alarms
