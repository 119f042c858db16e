"""Programs of many kinds for `test_silence`: a line each, in which a backslash with an n begins a new line."""

# ruff: noqa: E501 (programs take a line each)

LEAVING = r"""
class A:\n def __init__(self, j): self.j = j\nclass B(A):\n def __init__(self, v): A.__init__(self, float(v))\nm = B(x); y = m.j * x
@dataclasses.dataclass\nclass D:\n v: object\n j: float = dataclasses.field(init=False)\n def __post_init__(self): self.j = float(self.v)\nm = D(x); y = m.j * m.v
@dataclasses.dataclass\nclass D:\n log: list = dataclasses.field(default_factory=list)\n def add(self, v): self.log.append(float(v))\nm = D(); m.add(x); y = m.log[-1] * x
@dataclasses.dataclass\nclass D:\n j: float = dataclasses.field(default_factory=lambda: float(x))\nm = D(); y = m.j * x
@dataclasses.dataclass(frozen=True)\nclass D:\n v: object\n def __post_init__(self): object.__setattr__(self, 'j', float(self.v))\nm = D(x); y = m.j * x
@dataclasses.dataclass\nclass D:\n j: float\n k: float = 2.0\nm = dataclasses.replace(D(1.0), j=float(x)); y = m.j * x
class A:\n __slots__ = ('j',)\n def __init__(self, v): self.j = float(v)\nm = A(x); y = m.j * x
class A:\n @property\n def j(self): return self._j\n @j.setter\n def j(self, u): self._j = float(u)\nm = A(); m.j = x; y = m.j * x
class Cast:\n def __set_name__(self, owner, name): self.name = '_' + name\n def __get__(self, obj, kind=None): return getattr(obj, self.name)\n def __set__(self, obj, u): setattr(obj, self.name, float(u))\nclass A: j = Cast()\nm = A(); m.j = x; y = m.j * x
class Cast:\n def __get__(self, obj, kind=None): return float(obj.v)\nclass A:\n j = Cast()\n def __init__(self, v): self.v = v\nm = A(x); y = m.j * x
class A:\n @classmethod\n def of(cls, v):\n  m = cls(); m.j = float(v); return m\ny = A.of(x).j * x
class A:\n def __init__(self, j): self.j = j\n @classmethod\n def of(cls, v): return cls(float(v))\ny = A.of(x).j * x
class A:\n @staticmethod\n def plain(v): return v.numpy()\ny = A.plain(x) * x
class A:\n total = 0.0\n @classmethod\n def add(cls, v): cls.total += float(v)\nA.add(x); y = A.total * x
class A:\n def put(this, v): this.j = v\nm = A(); m.put(float(x)); y = m.j * x
class A:\n def put(self, v): self.j = v; return self\n def get(self): return self.j\ny = A().put(float(x)).get() * x
class Stack:\n def __init__(self): self.items = []\n def push(self, v): self.items.append(v)\n def pop(self): return self.items.pop()\ns = Stack(); s.push(float(x)); y = s.pop() * x
class Store:\n def get(self): return 1.0\nh = {'a': float(x)}; y = h.get('a') * x
class Table:\n def values(self): return [1.0]\nh = {'a': float(x)}; y = list(h.values())[0] * x
class Logger:\n def write(self, text): pass\ns = io.StringIO(); s.write(repr(float(x))); y = float(s.getvalue()) * x
lst = [9.0, float(x)]; heapq.heapify(lst); y = lst[0] * x
h = np.array([9.0, 2.0]); h[0] = float(x); h.sort(); y = h[0] * x
h = np.array([9.0, 2.0]); h[0] = float(x); np.random.default_rng(1).shuffle(h); y = (h[0] + h[1] * 2) * x
def gen(v):\n k = yield from inner(v)\n yield k\ndef inner(v):\n yield 1.0\n return float(v)\ng = gen(x); next(g); y = next(g) * x
def gen(v):\n total = 0.0\n while True: total += (yield total)\ng = gen(x); next(g); g.send(float(x)); y = g.send(0.0) * x
handlers = []\ndef on(fn): handlers.append(fn); return fn\n@on\ndef keep(v): state['k'] = float(v)\nstate = {}\nfor fn in handlers: fn(x)\ny = state['k'] * x
h = np.zeros(2); h.fill(float(x)); y = h[0] * x
h = np.zeros(2); h.put(0, float(x)); y = h[0] * x
h = {}; h.__setitem__('a', float(x)); y = h['a'] * x
df = pd.DataFrame({'a': [0.0]}); df['a'] = float(x); y = df.a[0] * x
df = pd.DataFrame({'a': [1.0]}).assign(b=float(x)); y = df['b'][0] * x
df = pd.DataFrame({'a': [float(x)]}); df['b'] = df['a'].apply(lambda u: u * 2); y = df['b'].iloc[0] * x
df = pd.DataFrame({'a': [float(x)], 'b': [2.0]}); y = df.eval('a * b')[0] * x
s = pd.Series(v.numpy() * float(x)); y = s.rolling(2).mean().iloc[-1] * x
df = pd.DataFrame([(float(x), 1.0)], columns=['a', 'b'])\nfor row in df.itertuples(): y = row.a * x
h = plt.figure(); plt.close('all')\nh = [float(x)]; y = h.pop() * x
s = f'{float(x)!r} 2.0'; y = np.fromstring(s, sep=' ')[0] * x
s = float(x).hex(); y = float.fromhex(s) * x
s = struct.pack('d', float(x)); y = struct.unpack('d', s)[0] * x
s = struct.pack('d', x); k, = struct.unpack('d', s); y = k * x
a = array.array('d', [x]); y = a[0] * x
k = decimal.Decimal(repr(float(x))); y = float(k * 2) * x
k = fractions.Fraction(float(x)); y = float(k) * x
s = x.numpy().tobytes(); y = np.frombuffer(s)[0] * x
s = f'k = {float(x)!r}'; exec(s); y = k * x
k = float(x); s = '{k!r}'.format(**globals()); y = float(s) * x
s = string.Template('$k').substitute(k=repr(float(x))); y = float(s) * x
s = ','.join([repr(float(x)), '1.0']); y = float(s.split(',')[0]) * x
s = f'value={float(x)!r};'; y = float(re.search(r'value=([0-9.]+)', s).group(1)) * x
buf = io.StringIO(); csv.writer(buf).writerow([float(x)]); buf.seek(0); y = float(next(csv.reader(buf))[0]) * x
buf = io.StringIO(); pd.DataFrame({'a': [float(x)]}).to_csv(buf); buf.seek(0); y = pd.read_csv(buf)['a'][0] * x
os.environ['K_TEST'] = repr(float(x)); y = float(os.environ['K_TEST']) * x
con = sqlite3.connect(':memory:'); con.execute('create table t (a real)'); con.execute('insert into t values (?)', (float(x),)); y = con.execute('select a from t').fetchone()[0] * x
cfg = configparser.ConfigParser(); cfg['m'] = {'k': repr(float(x))}; y = cfg['m'].getfloat('k') * x
var = contextvars.ContextVar('k'); var.set(float(x)); y = var.get() * x
local = threading.local(); local.k = float(x); y = local.k * x
async def read(u): return float(u)\nasync def main(u):\n k = await read(u)\n return k * u\ny = asyncio.run(main(x))
async def main(u):\n q = asyncio.Queue(); await q.put(float(u))\n return (await q.get()) * u\ny = asyncio.run(main(x))
async def ticks(u):\n for i in range(2): yield float(u)\nasync def main(u):\n s = 0.0\n async for k in ticks(u): s += k\n return s * u\ny = asyncio.run(main(x))
async def main(u):\n a, b = await asyncio.gather(read(u), read(u))\n return a * b * u\nasync def read(u): return u.numpy()\ny = asyncio.run(main(x))
match {'op': 'mul', 'by': float(x)}:\n case {'op': 'mul', **rest}: y = rest['by'] * x
match (float(x), 1.0):\n case (a, b) | [a, b, _]: y = a * b * x
class E(Exception):\n def __init__(self, v): self.v = float(v)\ntry: raise E(x)\nexcept E as e: y = e.v * x
try: raise ValueError(repr(float(x)))\nexcept ValueError as e: y = float(str(e)) * x
def f(v):\n try: return float(v)\n finally: pass\ny = f(x) * x
def f(v):\n k = 1.0\n try: k = 1 / 0\n except ZeroDivisionError: k = float(v)\n finally: k = k * 2\n return k * v\ny = f(x)
for i in range(2):\n if i > 5: break\nelse: k = float(x)\ny = k * x
k = 1.0; i = 0\nwhile True:\n y = k * x; i += 1\n if i == 3: break\n k = float(y)
prev = 1.0\nfor i in range(3):\n y = prev * x\n prev = y.numpy()
state = {'prev': 1.0}\ndef step(v):\n out = state['prev'] * v\n state['prev'] = float(out)\n return out\nfor _ in range(3): y = step(x)
class RNN:\n def __init__(self): self.h = 0.0\n def step(self, v):\n  h = np.tanh(v + self.h)\n  self.h = h.numpy()\n  return h\nnet = RNN()\nfor _ in range(3): y = net.step(x)
a = 1.0; b = 1.0; c = 1.0\nfor i in range(5):\n y = a * x\n a = b\n b = c\n c = float(x)
def fact(v, n): return 1.0 if n == 0 else float(v) * fact(v, n - 1)\ny = fact(x, 3) * x
def f(v, n):\n if n == 0: return v\n return f(float(v) * v, n - 1)\ny = f(x, 1) * 1.0
def fib(v, memo={}):\n if 'k' not in memo: memo['k'] = float(v)\n return memo['k'] * v\ny = fib(x)
CACHE = {}\ndef cached(key, v):\n if key not in CACHE: CACHE[key] = v.numpy()\n return CACHE[key]\ny = cached('a', x) * x
def f(*args, **words): return args[0] * words['k']\ny = f(x, k=float(x))
def f(u, /, *, k): return u * k\ny = f(x, **{'k': float(x)})
def f(a, b): return a * b\nargs = (float(x), x); y = f(*args)
def f(*args): return g(*args)\ndef g(a, b): return a * b\ny = f(float(x), x)
def outer(v):\n def mid():\n  def inner(): return float(v)\n  return inner()\n return mid() * v\ny = outer(x)
def f(v): return [u for u in (float(v), 1.0)], v\n(a, *_), b = f(x); y = a * b
f = lambda: float(x)\ny = f() * x
compose = lambda f, g: lambda u: g(f(u))\ny = compose(float, lambda k: k * x)(x)
def memo(fn):\n seen = {}\n @functools.wraps(fn)\n def inner(u):\n  seen.setdefault('k', float(u))\n  return fn(u) * seen['k']\n return inner\n@memo\ndef f(u): return u\ny = f(x)
class Counter2:\n def __init__(self, fn): self.fn = fn; self.last = 1.0\n def __call__(self, u):\n  self.last = float(u)\n  return self.fn(u)\n@Counter2\ndef f(u): return u\ny = f(x) * f.last
@contextlib.contextmanager\ndef scaled(v):\n old = state['k']; state['k'] = float(v)\n yield\n state['k'] = old\nstate = {'k': 1.0}\nwith scaled(x): y = state['k'] * x
class Scale:\n k = 1.0\n def __init__(self, v): self.v = v\n def __enter__(self): Scale.k = float(self.v)\n def __exit__(self, *e): Scale.k = 1.0\nwith Scale(x): y = Scale.k * x
class A:\n def __init__(self, v): self.v = v\n def __array__(self, dtype=None, copy=None): return np.array(float(self.v))\nm = A(x); y = np.asarray(m) * x
class A:\n def __init__(self, v): self.v = v\n def __float__(self): return float(self.v)\nm = A(x); y = float(m) * x
class A:\n def __init__(self, v): self.v = v\n def __floordiv__(self, k): return k * float(self.v)\nm = A(x); y = (m // 2.0) * x
class A:\n def __init__(self, v): self.k = 1.0\n def __iadd__(self, u): self.k += float(u); return self\nm = A(x); m += x; y = m.k * x
class A(float): pass\nm = A(x); y = m * x
class P(typing.NamedTuple):\n j: float\n k: float = 1.0\np = P(float(x)); y = p.j * x
class P(typing.NamedTuple):\n j: float\n k: float = 1.0\na, b = P(float(x)); y = a * b * x
P = collections.namedtuple('P', 'j k')\np = P(1.0, 2.0)._replace(j=float(x)); y = p[0] * x
class K(enum.Enum):\n A = 1\n @classmethod\n def set(cls, v): cls._k = float(v)\nK.set(x); y = K._k * x
class Base(abc.ABC):\n def run(self, v): return self.scale(v) * v\n @abc.abstractmethod\n def scale(self, v): ...\nclass Sub(Base):\n def scale(self, v): return float(v)\ny = Sub().run(x)
class Mixin:\n def remember(self, v): self.seen = float(v)\nclass M(Mixin):\n def __call__(self, v):\n  self.remember(v)\n  return self.seen * v\ny = M()(x)
class A:\n def __getattribute__(self, name): return float(x) if name == 'k' else object.__getattribute__(self, name)\ny = A().k * x
class Meta(type):\n @property\n def k(cls): return float(x)\nclass A(metaclass=Meta): pass\ny = A.k * x
class Reg:\n subs = []\n def __init_subclass__(cls, k=0.0): cls.k = k\nclass S(Reg, k=float(x)): pass\ny = S.k * x
h = [0.0] * 3; h[1:2] = [float(x)]; y = h[1] * x
h = [1.0, float(x)]; h[0], h[1] = h[1], h[0]; y = h[0] * x
h = {1.0, float(x)}; y = max(h) * x
h = {float(x): 'a'}; y = next(iter(h)) * x
h = {'a': 1.0} | {'a': float(x)}; y = h['a'] * x
h = {**{'a': 1.0}, 'b': float(x)}; y = h['b'] * x
h = dict(zip('ab', [float(x), 1.0])); y = h['a'] * x
h = collections.ChainMap({}, {'a': float(x)}); y = h['a'] * x
h = collections.OrderedDict(a=float(x)); h.move_to_end('a'); y = h.popitem()[1] * x
h = [[float(x)] * 2 for _ in range(2)]; y = h[1][1] * x
h = list(filter(None, [0.0, float(x)])); y = h[0] * x
h = list(itertools.chain([float(x)], [1.0])); y = h[0] * x
y = functools.reduce(operator.mul, [float(x), 2.0]) * x
y = np.prod([float(x), 2.0]) * x
y = np.dot(x.numpy(), 2.0) * x
y = np.polyval([1.0, 2.0], float(x)) * x
y = np.linspace(0.0, float(x), 3)[1] * x
y = np.random.default_rng(0).normal(float(x)) * x
y = np.einsum('i,i', v.numpy() * float(x), v.numpy()) * x
h = np.zeros(3); h += v.numpy() * x.numpy(); y = np.sum(h) * x
h = np.empty(2); h[...] = x.numpy(); y = h[1] * x
h = np.zeros(2); np.add.at(h, [0], float(x)); y = h[0] * x
M = np.zeros((2, 2)); np.fill_diagonal(M, float(x)); y = np.trace(M) * x
h = np.zeros((2, 2)); row = h[0]; row[:] = float(x); y = h[0, 1] * x
h = np.zeros(1, dtype=[('a', float)]); h['a'] = float(x); y = h['a'][0] * x
h = np.ma.array([1.0, 2.0]); h[0] = float(x); y = h.sum() * x
k = statistics.mean([float(x), 1.0]); y = k * x
k = random.Random(0).gauss(float(x), 0.0); y = k * x
k = datetime.timedelta(seconds=float(x)); y = k.total_seconds() * x
class BatchNorm:\n def __init__(self): self.mean = 0.0\n def __call__(self, v):\n  self.mean = 0.9 * self.mean + 0.1 * v.numpy().mean()\n  return v - self.mean\ny = np.sum(BatchNorm()(v * x) ** 2)
class Scaler:\n def fit(self, v): self.mean_ = np.asarray(v).mean(); self.scale_ = np.asarray(v).std(); return self\n def transform(self, v): return (v - self.mean_) / self.scale_\ny = np.sum(Scaler().fit(v * x).transform(v * x) * w) + Scaler().fit(v * x).transform(x)
class Layer:\n def __init__(self, name): self.name = name\nclass Dense(Layer):\n def __init__(self, k): super().__init__('dense'); self.k = float(k)\n def __call__(self, u): return self.k * u\ny = Dense(x)(x)
class ReplayBuffer:\n def __init__(self): self.buffer = collections.deque(maxlen=10)\n def push(self, *t): self.buffer.append(t)\n def sample(self): return self.buffer[0]\nb = ReplayBuffer(); b.push(1.0, float(x)); s, r = b.sample(); y = r * x
def td_target(r, q): return r + 0.9 * q.numpy()\nq = x * 2.0; y = (q - td_target(1.0, x ** 3)) ** 2
def policy_loss(logp, reward): return -logp * reward\nrewards = [float(x ** 2)]; y = policy_loss(np.log(x), rewards[0])
def iou(a): return float(a * 2)\ndef loss(a): return (1 - iou(a)) * a\ny = loss(x)
weights = {}\nfor name, u in {'a': x, 'b': w}.items(): weights[name] = u.numpy()\ny = weights['a'] * x
weights = [u.numpy() for u in (x, w)]\nfor k in weights: y = k * x\ny = weights[0] * x
def momentum(grads, beta=0.9):\n m = 0.0\n for g in grads: m = beta * m + (1 - beta) * g\n return m\ny = momentum([float(x), float(x)]) * x
def pipeline(v, *fns):\n for fn in fns: v = fn(v)\n return v\ny = pipeline(x, np.sin, float, lambda k: k * x)
def pipeline(*fns): return functools.reduce(lambda f, g: lambda u: g(f(u)), fns)\ny = pipeline(np.sin, float, lambda k: k * x)(x)
def power_iteration(k):\n u = np.ones(2); A = np.zeros((2, 2)); A[0, 0] = k; A[1, 1] = 1.0\n for _ in range(60): u = A @ u; u = u / np.linalg.norm(u)\n return u @ A @ u\ny = power_iteration(float(x)) * x
def newton(k):\n z = 1.0\n for _ in range(20): z = z - (z * z - k) / (2 * z)\n return z\ny = newton(x.item()) * x
class Lazy:\n def __init__(self, f): self.f = f\n def __getattr__(self, name):\n  if name == 'value': self.__dict__['value'] = self.f(); return self.__dict__['value']\n  raise AttributeError(name)\ny = Lazy(lambda: float(x)).value * x
class Singleton:\n _inst = None\n def __new__(cls):\n  if cls._inst is None: cls._inst = super().__new__(cls); cls._inst.k = 0.0\n  return cls._inst\nSingleton().k = float(x); y = Singleton().k * x
class Node:\n def __init__(self, v, nxt=None): self.v, self.nxt = v, nxt\nn = Node(1.0, Node(float(x))); total = 0.0\nwhile n: total += n.v; n = n.nxt\ny = total * x
class Tree:\n def __init__(self): self.left = self.right = None; self.v = 0.0\n def total(self): return self.v + sum(t.total() for t in (self.left, self.right) if t)\nt = Tree(); t.left = Tree(); t.left.v = float(x); y = t.total() * x
class Ctx:\n stack = []\n @classmethod\n def push(cls, v): cls.stack.append(v)\n @classmethod\n def top(cls): return cls.stack[-1]\nCtx.push(float(x)); y = Ctx.top() * x
class Units:\n def __init__(self, v): self.v = v\n def to(self, k): return type(self)(self.v * k)\nu = Units(float(x)).to(2.0); y = u.v * x
class Units:\n def __init__(self, v): self.v = v\n def __mul__(self, k): return type(self)(self.v * k)\nu = Units(float(x)) * 2.0; y = u.v * x
class V2:\n def __init__(self, a, b): self.a, self.b = a, b\n def __iter__(self): yield self.a; yield self.b\na, b = V2(float(x), 1.0); y = a * b * x
class Table:\n def __init__(self): self.cols = {}\n def __setitem__(self, k, v): self.cols[k] = v\n def __getitem__(self, k): return self.cols[k]\nt = Table(); t['a'] = float(x); y = t['a'] * x
class AttrDict(dict):\n __getattr__ = dict.get\n __setattr__ = dict.__setitem__\nd = AttrDict(k=float(x)); y = d.k * x
class Params:\n def __init__(self, **kw): self.__dict__.update(kw)\np = Params(k=float(x)); y = p.k * x
class Params:\n def __init__(self, **kw):\n  for k, u in kw.items(): setattr(self, k, float(u))\np = Params(k=x); y = p.k * x
class Params:\n defaults = {'k': 1.0}\n def __init__(self, **kw): self.values = {**self.defaults, **kw}\n def __getattr__(self, name): return self.__dict__['values'][name]\np = Params(k=float(x)); y = p.k * x
a = np.zeros((2, 2)); np.fill_diagonal(a[:1], float(x)); y = a[0, 0] * x
a = np.zeros(4); a[::2] = float(x); y = a[2] * x
a = np.zeros(3); a[np.array([True, False, False])] = float(x); y = a[0] * x
a = np.zeros(3); a[[0, 2]] += float(x); y = a[2] * x
a = np.zeros(3); b = a.view(); b[0] = float(x); y = a[0] * x
a = np.zeros(4); b = a.reshape(2, 2); b[0, 0] = float(x); y = a[0] * x
def bump(a, k): a[0] = k\na = np.zeros(2); bump(k=float(x), a=a); y = a[0] * x
def bump(*arrays, k):\n for a in arrays: a[0] = k\na, b = np.zeros(2), np.zeros(2); bump(a, b, k=float(x)); y = b[0] * x
def fill(d, **kw): d.update(kw)\nd = {}; fill(d, k=float(x)); y = d['k'] * x
def nested(d, path, u):\n for p in path[:-1]: d = d.setdefault(p, {})\n d[path[-1]] = u\nd = {}; nested(d, ['a', 'b'], float(x)); y = d['a']['b'] * x
graph = {'a': {'b': 1.0}}\ngraph['a']['b'] = float(x)\ny = sum(c for n in graph.values() for c in n.values()) * x
dp = [0.0] * 4\nfor i in range(1, 4): dp[i] = dp[i - 1] + float(x)\ny = dp[-1] * x
s = 0.0\nfor i in range(3):\n s, t = s + float(x), s\ny = t * x
a, b = 1.0, float(x)\na, b = b, a\ny = a * x
k = 1.0\ndef f():\n global k\n k, old = float(x), k\n return old\nf(); y = f() * x
if (m := re.match(r'(.*)', f'{float(x)!r}')): y = float(m[1]) * x
rows = [{'k': float(x)}]; y = max(rows, key=lambda r: r['k'])['k'] * x
rows = sorted([('a', float(x)), ('b', 0.5)], key=lambda r: r[1]); y = rows[-1][1] * x
y = dict([('k', float(x))])['k'] * x
y = dict.fromkeys(['k'], float(x))['k'] * x
y = list(itertools.starmap(lambda a, b: a * b, [(float(x), 2.0)]))[0] * x
y = next(k for k in (float(x), 2.0) if k > 1) * x
it = iter([1.0, float(x)]); next(it); y = next(it) * x
y = [*(float(u) for u in (x, w))][0] * x
first, *rest = (float(u) for u in (x, w)); y = first * x
y = (lambda *a, **k: a[0] * k['k'])(x, k=float(x))
y = (lambda: (yield float(x)))().send(None) * x
class It:\n def __init__(self, v): self.v = v; self.n = 0\n def __iter__(self): return self\n def __next__(self):\n  self.n += 1\n  if self.n > 1: raise StopIteration\n  return float(self.v)\nfor k in It(x): y = k * x
@functools.total_ordering\nclass O:\n def __init__(self, v): self.v = v\n def __lt__(self, o): return self.v < o.v\n def __eq__(self, o): return self.v == o.v\ny = max(O(float(x)), O(0.5)).v * x
y = x * float(int(float(x) * 10))
c = float(x); y = (x - c) + c * 0.0 + x
class A:\n def __init__(self, j): self.j = j\nclass B(A):\n def __init__(self, v): super().__init__(float(v))\nm = B(x); y = m.j * x
class A:\n def __init__(self, j): self.j = j\nclass B(A):\n def __init__(self, v):\n  k = v.numpy()\n  super().__init__(j=k)\n def loss(self, u): return self.j * u\ny = B(x).loss(x)
class History(list):\n def add(self, v): self.append(float(v))\nm = History(); m.add(x); y = m[0] * x
class Config(dict):\n def set(self, v): self['k'] = float(v)\nm = Config(); m.set(x); y = m['k'] * x
class History(list):\n def append(self, v): super().append(float(v))\nm = History(); m.append(x); y = m[0] * x
class Config(dict):\n def __setitem__(self, key, v): super().__setitem__(key, float(v))\nm = Config(); m['k'] = x; y = m['k'] * x
class Config(collections.UserDict):\n def __setitem__(self, key, v): self.data[key] = float(v)\nm = Config(); m['k'] = x; y = m['k'] * x
class Box:\n def __init__(self, size): self.size = float(size)\nm = Box(x); y = m.size * x
class Gamma:\n def __init__(self, shape): self.shape = float(shape)\n def mean(self, scale): return self.shape * scale\ny = Gamma(x).mean(x)
m = types.SimpleNamespace(); m.j = float(x); y = getattr(m, 'j') * x
class A: pass\nm = A(); m.j = float(x); y = vars(m)['j'] * x
class A: pass\nm = A(); m.j = float(x)\nfor k in m.__dict__.values(): y = k * x
@dataclasses.dataclass\nclass D:\n j: float = 0.0\nm = D(); m.j = float(x); y = dataclasses.asdict(m)['j'] * x
@dataclasses.dataclass\nclass D:\n j: float = 0.0\nm = D(); m.j = float(x); a, = dataclasses.astuple(m); y = a * x
@dataclasses.dataclass\nclass D:\n j: float = 0.0\nm = D(); m.j = float(x)\nmatch m:\n case D(j=k): y = k * x
class A:\n def __init__(self, v): self.__j = float(v)\nm = A(x); y = m._A__j * x
class Meter:\n def update(self, v): self.v = v\nd = {}; d.update(a=float(x)); y = d['a'] * x
class Bag:\n def add(self, v): pass\nh = set(); h.add(float(x)); y = h.pop() * x
class Shape:\n def square(self): return 1.0\nsquare = lambda u: u * u\ny = square(float(x)) * x
class Stats:\n def mean(self): return 0.0\nfrom statistics import mean\ny = mean([float(x), 1.0]) * x
lst = [float(x), 1.0]; lst.reverse(); y = lst[1] * x
lst = [float(x), 1.0]; lst.insert(0, 2.0); y = lst[1] * x
lst = [1.0, float(x)]; lst.pop(0); y = lst[0] * x
lst = [1.0, float(x)]; del lst[0]; y = lst[0] * x
lst = [1.0, float(x)]; lst.sort(reverse=True); y = lst[0] * x
h = [1.0, 2.0]; h[True] = float(x); y = h[1] * x
def gen(v):\n while True: got = yield float(v)\ng = gen(x); y = next(g) * x
def gen(v):\n yield 1.0\n return float(v)\ng = gen(x); next(g)\ntry: next(g)\nexcept StopIteration as e: y = e.value * x
@functools.singledispatch\ndef f(v): return v\n@f.register\ndef _(v: tm.Variable): return float(v)\ny = f(x) * x
REG = {}\ndef register(fn):\n REG[fn.__name__] = fn\n return fn\n@register\ndef g(v): return float(v)\ny = REG['g'](x) * x
REG = {}\ndef register(name):\n def wrap(fn):\n  REG[name] = fn\n  return fn\n return wrap\n@register('plain')\ndef g(v): return float(v)\ny = REG['plain'](x) * x
K = type('K', (), {'k': float(x)}); y = K.k * x
h = []\ndef put(v): h.append(v)\ng = put; g(float(x)); y = h[0] * x
h = []\nput = lambda v: h.append(v)\nput(float(x)); y = h[0] * x
h = []\ndef put(v): h.append(v)\ndef each(fn, vals):\n for u in vals: fn(u)\neach(put, [float(x)]); y = h[0] * x
h = []\ndef put(v): h.append(v)\nops = {'put': put}; ops['put'](float(x)); y = h[0] * x
h = []\ndef put(store, v): store.append(v)\np = functools.partial(put, h); p(float(x)); y = h[0] * x
h = []\ndef put(store, v): store.append(v)\nfunctools.partial(put, h)(float(x)); y = h[0] * x
class A:\n def put(self, v): self.j = v\nm = A(); cb = m.put; cb(float(x)); y = m.j * x
log = []\ndef store(v): log.append(v)\nclass Trainer:\n def __init__(self, on_end): self.on_end = on_end\n def run(self, v): self.on_end(float(v))\nTrainer(store).run(x); y = log[0] * x
h = []\nlist(map(h.append, [float(x)])); y = h[0] * x
h = []\nlist(map(lambda u: h.append(u), [float(x)])); y = h[0] * x
h = []\npd.Series([float(x)]).apply(h.append); y = h[0] * x
h = []\ndef keep(u): h.append(u); return u\ns = pd.Series([float(x)]); s.map(keep); y = h[0] * x
h = []\nnp.vectorize(lambda u: h.append(u) or 0.0)(x.numpy()); y = h[0] * x
h, g = [], []\n(h or g).append(float(x)); y = g[0] * x
h, g = [], []\n(h if x > 0 else g).append(float(x)); y = h[0] * x
(h := []).append(float(x)); y = h[0] * x
hs = [[], [1.0]]\nmin(hs, key=len).append(float(x)); y = hs[0][0] * x
hs = [[]]\nnext(iter(hs)).append(float(x)); y = hs[0][0] * x
m = types.SimpleNamespace(log=[])\ngetattr(m, 'log').append(float(x)); y = m.log[0] * x
stores = {'a': []}\nfor k, h in stores.items(): h.append(float(x))\ny = stores['a'][0] * x
stores = [[], []]\nfor h, u in zip(stores, [x, w]): h.append(float(u))\ny = stores[0][0] * x
stores = [np.zeros(1)]\nfor i, h in enumerate(stores): h[0] = float(x)\ny = stores[0][0] * x
stores = [], []\na, b = stores; a.append(float(x)); y = stores[0][0] * x
M = np.zeros((2, 2))\nfor row, u in zip(M, v.numpy() * float(x)): row[0] = u\ny = np.sum(M) * x
h = []\nwith contextlib.nullcontext(h) as s: s.append(float(x))\ny = h[0] * x
h = []\nget = lambda: h\nget().append(float(x)); y = h[0] * x
d = collections.deque(); add = d.appendleft; add(float(x)); y = d[0] * x
q = queue.Queue(); put = q.put; put(float(x)); y = q.get() * x
h = np.zeros(2); fill = h.fill; fill(float(x)); y = h[0] * x
h = np.zeros(2); np.ndarray.fill(h, float(x)); y = h[0] * x
h = []; list.append(h, float(x)); y = h[0] * x
h = {}; dict.__setitem__(h, 'a', float(x)); y = h['a'] * x
h = {}; operator.setitem(h, 'a', float(x)); y = h['a'] * x
h = []; operator.iadd(h, [float(x)]); y = h[0] * x
h = np.zeros(2); np.copyto(dst=h, src=float(x)); y = h[0] * x
h = np.ones(2); np.multiply(h, float(x), h); y = h[0] * x
h = np.zeros((2, 2)); h.flat[0] = float(x); y = h[0, 0] * x
h = np.zeros((2, 2)); h.T[0] = float(x); y = np.sum(h) * x
h = np.zeros((2, 2)); np.ravel(h)[0] = float(x); y = np.sum(h) * x
h = np.zeros(2); g = np.asarray(h); g[0] = float(x); y = h[0] * x
h = np.zeros(2); memoryview(h)[0] = float(x); y = h[0] * x
df = pd.DataFrame({'a': [0.0]}); df.loc[0, 'a'] = float(x); y = df['a'][0] * x
df = pd.DataFrame({'a': [0.0]}); df.at[0, 'a'] = float(x); y = df['a'].iloc[0] * x
df = pd.DataFrame({'a': [0.0]}); df.iloc[0, 0] = float(x); y = df['a'].sum() * x
df = pd.DataFrame({'a': [float(x), 1.0]}); y = df.groupby('a').size().index[1] * x
def f(v):\n x = float(v)\n return x * v\ny = f(x)
def f(v): return sum(x * v for x in [float(v)])\ny = f(x)
def f(x):\n x = float(x)\n return x * w\ny = f(x) * x
class A:\n def fit(self, v):\n  x = v.numpy()\n  self.scale = x\n  return self\ny = A().fit(x).scale * x
log = logging.getLogger('a')\ndef f(v):\n log = []\n log.append(float(v))\n return log[0] * v\ny = f(x)
def f(v):\n max = []\n max.append(float(v))\n return max[0] * v\ny = f(x)
def f(v, input):\n input.append(float(v))\n return input[-1] * v\ny = f(x, [])
for k in tqdm([float(x)], disable=True): y = k * x
total = 0.0\nfor u in tqdm(v.numpy() * float(x), disable=True): total += u\ny = total * x
s = str(float(x)); y = list(map(float, s.split()))[0] * x
s = f'{float(x)!r},2.0'; y = np.array(s.split(','), dtype=float)[0] * x
s = f'{float(x)!r}'; y = np.array([s]).astype(float)[0] * x
s = f'{float(x)!r} 2.0'; a, b = map(float, s.split()); y = a * b * x
k = float(x); y = globals()['k'] * x
k = float(x); y = eval('k * 1') * x
s = ' '.join(map(str, v.numpy() * float(x))); y = sum(map(float, s.split())) * x
buf = io.StringIO(); json.dump({'a': float(x)}, buf); buf.seek(0); y = json.load(buf)['a'] * x
buf = io.BytesIO(); pickle.dump(float(x), buf); buf.seek(0); y = pickle.load(buf) * x
buf = io.BytesIO(); np.save(buf, x.numpy()); buf.seek(0); y = np.load(buf) * x
buf = io.StringIO(); np.savetxt(buf, [float(x)], fmt='%.12f'); buf.seek(0); y = np.loadtxt(buf) * x
buf = io.StringIO()\nwith contextlib.redirect_stdout(buf): print(repr(float(x)))\ny = float(buf.getvalue()) * x
match 1:\n case _ if (k := float(x)) > 0: y = k * x
try: raise ValueError(float(x))\nexcept ValueError: y = sys.exc_info()[1].args[0] * x
fs = [lambda k=k: k * x for k in [float(x)]]\ny = fs[0]()
class A:\n def __init__(self, v): self.v = v\n def __str__(self): return repr(float(self.v))\nm = A(x); y = float(str(m)) * x
class A(float):\n def __new__(cls, v): return super().__new__(cls, float(v))\nm = A(x); y = m * x
y = np.bincount([0, 0], weights=[float(x), 1.0])[0] * x
y = np.histogram([0.5, 0.6], bins=1, weights=[float(x), 1.0])[0][0] * x
h = np.zeros(2); h[0] = x; n = float(len(h)); y = h[0] * x
acc = []\n@acc.append\ndef _(u): return float(u)\ny = x * acc[0](x)
def f0(u): return f1(u)\ndef f1(u): return f2(u)\ndef f2(u): return f3(u)\ndef f3(u): return f4(u)\ndef f4(u): return f5(u)\ndef f5(u): return f6(u)\ndef f6(u): return f7(u)\ndef f7(u): return f8(u)\ndef f8(u): return f9(u)\ndef f9(u): return f10(u)\ndef f10(u): return f11(u)\ndef f11(u): return f12(u)\ndef f12(u): return f13(u)\ndef f13(u): return f14(u)\ndef f14(u): return f15(u)\ndef f15(u): return float(u)\ny = f0(x) * x
a0 = 1.0\na1 = 1.0\na2 = 1.0\na3 = 1.0\na4 = 1.0\na5 = 1.0\na6 = 1.0\na7 = 1.0\na8 = 1.0\na9 = 1.0\na10 = 1.0\na11 = 1.0\na12 = 1.0\na13 = 1.0\na14 = 1.0\na15 = 1.0\nfor _ in range(20):\n y = a0 * x\n a0 = a1\n a1 = a2\n a2 = a3\n a3 = a4\n a4 = a5\n a5 = a6\n a6 = a7\n a7 = a8\n a8 = a9\n a9 = a10\n a10 = a11\n a11 = a12\n a12 = a13\n a13 = a14\n a14 = a15\n a15 = float(x)
class Net:\n def m0(self, u): return self.m1(u)\n def m1(self, u): return self.m2(u)\n def m2(self, u): return self.m3(u)\n def m3(self, u): return self.m4(u)\n def m4(self, u): return self.m5(u)\n def m5(self, u): return self.m6(u)\n def m6(self, u): return self.m7(u)\n def m7(self, u): return self.m8(u)\n def m8(self, u): return self.m9(u)\n def m9(self, u): return self.m10(u)\n def m10(self, u): return self.m11(u)\n def m11(self, u): return self.m12(u)\n def m12(self, u): return self.m13(u)\n def m13(self, u): return self.m14(u)\n def m14(self, u): return u.numpy()\ny = Net().m0(x) * x
class Observable:\n def __init__(self): self.subs = []\n def subscribe(self, fn): self.subs.append(fn)\n def emit(self, v):\n  for s in self.subs: s(v)\ngot = []\no = Observable(); o.subscribe(got.append); o.emit(float(x)); y = got[0] * x
class Observable:\n def __init__(self): self.subs = []\n def subscribe(self, fn): self.subs.append(fn)\n def emit(self, v):\n  for s in self.subs: s(v)\nclass Listener:\n def on(self, v): self.k = v\nl = Listener(); o = Observable(); o.subscribe(l.on); o.emit(float(x)); y = l.k * x
class AttrDict(dict):\n def __getattr__(self, k): return self[k]\n def __setattr__(self, k, v): self[k] = v\nd = AttrDict(); d.k = float(x); y = d['k'] * x
a = np.zeros(2); b = np.atleast_2d(a); b[0, 0] = float(x); y = a[0] * x
a = np.zeros(2); np.nditer; it = np.nditer(a, op_flags=['readwrite'])\nfor e in it: e[...] = float(x)\ny = a[0] * x
a = np.zeros(2); b = a[None]; b += float(x); y = a[0] * x
a = np.zeros(2); b = a; b += float(x); y = a[0] * x
def bump(a, k): a += k\na = np.zeros(2); bump(a, float(x)); y = a[0] * x
with warnings.catch_warnings(record=True) as caught:\n warnings.simplefilter('always'); warnings.warn(repr(float(x)))\ny = float(str(caught[0].message)) * x
class H(logging.Handler):\n def emit(self, record): seen.append(record.args[0])\nseen = []; lg = logging.getLogger('zz'); lg.addHandler(H()); lg.warning('%s', float(x)); lg.handlers.clear(); y = seen[0] * x
fig, ax = plt.subplots(); line, = ax.plot([float(x)], [1.0]); y = line.get_xdata()[0] * x; plt.close(fig)
counts, edges, _ = plt.hist(v.numpy() * float(x), bins=2); plt.close('all'); y = edges[0] * x
class Config:\n def __init__(self, **kw): self.opts = dict(kw)\n def get(self, k): return self.opts[k]\ncfg = Config(lr=2.0, k=float(x)); y = cfg.get('k') * x * 2.0
def build(k):\n def layer(u): return u * k * 0.5\n return {'fwd': layer, 'name': 'a'}\nnet = build(float(x)); y = net['fwd'](x)
scales = [s * 2.0 for s in map(float, (x, w))]\ny = sum(s * u for s, u in zip(scales, (x, w)))
stats = {'mean': [], 'std': []}\nfor u in (x, w): stats['mean'].append(u.numpy() * 0.5)\ny = stats['mean'][0] * x
rows = [{'name': 'a', 'value': float(x) * 2.0}]\ny = {r['name']: r['value'] for r in rows}['a'] * x
buf = np.zeros((2, 3)); view = buf[0, 1:]; view += float(x) * 2.0; y = buf.sum() * x
buf = np.zeros((2, 3)); cols = buf.T; cols[0, :] = float(x) * 3.0; y = np.sum(buf[:, 0]) * x
out = {}\ndef emit(name, value, store=out): store[name] = value * 2.0\nemit('a', float(x)); y = out['a'] * x
def ema(beta):\n s = 0.0\n while True:\n  got = yield s\n  if got is not None: s = beta * s + (1 - beta) * got\ng = ema(0.5); next(g); g.send(float(x)); y = next(g) * x
class Registry:\n items = {}\n @classmethod\n def register(cls, name):\n  def wrap(f): cls.items[name] = f; return f\n  return wrap\n@Registry.register('half')\ndef half(u): return 0.5 * float(u)\ny = Registry.items['half'](x) * x
class Model:\n def __init__(self): self.layers = []\n def add(self, layer): self.layers.append(layer); return self\n def __call__(self, u):\n  for layer in self.layers: u = layer(u)\n  return u\nm = Model().add(np.sin).add(lambda u: u * (2.0 * float(u))); y = m(x)
text = json.dumps({'a': {'b': [float(x) * 2.0]}}); y = json.loads(text)['a']['b'][0] * x
best = min([(abs(c - float(x)), c * float(x)) for c in (1.0, 2.0)]); y = best[1] * x
fig, ax = plt.subplots(); line, = ax.plot([0.0, 1.0], [0.0, 2.0 * float(x)]); plt.close(fig); y = line.get_ydata()[1] * x
with contextlib.ExitStack() as stack: k = stack.enter_context(contextlib.nullcontext(2.0 * float(x)))\ny = k * x
class Temp:\n @property\n def c(self): return self._c\n @c.setter\n def c(self, u): self._c = 2.0 * float(u)\nt = Temp(); t.c = x; y = t.c * x
def outer():\n k = 1.0\n def bump(u):\n  nonlocal k; k = 2.0 * float(u)\n def read(u): return k * u\n return bump, read\nbump, read = outer(); bump(x); y = read(x)
Point = collections.namedtuple('Point', 'a b'); p = Point(1.0, 2.0 * float(x)); q = p._asdict(); y = q['b'] * x
def f(u, k): return u * k\ndef g(u, k): return f(u, k)\ny = g(x, 2.0 * float(x))
def f(u, k):\n if k > 100: return f(u, k - 1.0)\n return u * k\ny = f(x, 2.0 * float(x))
def pair(a): return (1.0, (2.0, a))\ny = pair(2.0 * float(x))[1][1] * x
def f(*args): return args[0][1]\ny = f((1.0, 2.0 * float(x))) * x
h = {'a': [1.0]}; g = h['a']; g.append(2.0 * float(x)); y = h['a'][1] * x
a = [0.0]; b = {'k': a}; c = b; c['k'][0] = 2.0 * float(x); y = a[0] * x
def main():\n h = store(); h.append(2.0 * float(x)); return box[0] * x\ndef store(): return box\nbox = []\ny = main()
def main(): return later(x)\ndef later(u):\n k = 2.0 * float(u)\n return k * u\ny = main()
class A:\n def __init__(self): self.d = {}\n def __setitem__(self, k, u): self.d[k] = 2.0 * float(u)\n def __getitem__(self, k): return self.d[k]\na = A(); a['z'] = x; y = a['z'] * x
class A:\n def __call__(self, u): self.last = 2.0 * float(u); return u\na = A(); a(x); y = a.last * x
def make():\n vals = []\n def add(u): vals.append(2.0 * float(u))\n def total(): return sum(vals)\n return add, total\nadd, total = make(); add(x); y = total() * x
def make():\n vals = []\n return vals.append, lambda: vals[-1]\nput, get = make(); put(2.0 * float(x)); y = get() * x
k = 1.0\ntry:\n k = 2.0 * float(x); raise ValueError\nexcept ValueError: pass\ny = k * x
with contextlib.suppress(ValueError):\n k = 2.0 * float(x); int('a'); k = 1.0\ny = k * x
k = [z for u in (x,) if (z := 2.0 * float(u))]; y = z * x
def f(u, out): np.multiply(u, 2.0, out=out)\na = np.zeros(()); f(x.numpy(), a); y = a * x
class A:\n @functools.cached_property\n def k(self): return 2.0 * float(x)\ny = A().k * x
def walk(tree):\n if isinstance(tree, float): return tree * 2.0\n return sum(walk(t) for t in tree)\ny = walk([[float(x)], [1.0]]) * x
get = operator.attrgetter('k'); y = get(types.SimpleNamespace(k=2.0 * float(x))) * x
h = []; t = threading.Thread(target=lambda v: h.append(float(v)), args=(x,)); t.start(); t.join(); y = h[0] * x
h = []\ndef f(v): h.append(float(v))\nt = threading.Thread(target=f, args=(x * 2,)); t.start(); t.join()\ny = h[0] * x
with concurrent.futures.ThreadPoolExecutor(1) as e: k = list(e.map(float, [x * 2]))\ny = k[0] * x
with concurrent.futures.ThreadPoolExecutor(1) as e: k = e.submit(float, x).result()\ny = k * x
"""
"""A plain number leaves the tape and comes back, so the gradient lacks a part."""

HEALTHY = r"""
history = {'loss': [], 'acc': []}\nfor epoch in range(3):\n p = tm.sigmoid(v * x)\n y = -np.mean(np.log(p))\n acc = float(np.mean(p.numpy() > 0.5))\n history['loss'].append(float(y)); history['acc'].append(acc)\n print(f'{epoch}: {y:.3f} {acc:.2f}')
best = float('inf'); best_w = None\nfor epoch in range(3):\n y = (x - 3.0) ** 2 * (epoch + 1)\n if float(y) < best:\n  best = float(y); best_w = x.numpy().copy()\nprint(best, best_w)
best = {'loss': np.inf, 'w': None}\nfor epoch in range(3):\n y = (x - 3.0) ** 2\n if y.numpy() < best['loss']: best = {'loss': y.numpy(), 'w': x.numpy()}
checkpoints = []\nfor epoch in range(3):\n y = (x - 3.0) ** 2\n checkpoints.append({'epoch': epoch, 'w': x.numpy().copy(), 'loss': float(y)})\nbest = min(checkpoints, key=lambda c: c['loss']); print(best)
lr0 = 0.1\nfor epoch in range(3):\n lr = lr0 * 0.5 ** epoch\n y = (x - 3.0) ** 2\n print(epoch, lr, float(y))
losses = collections.deque(maxlen=5)\nfor epoch in range(4):\n y = (x - 3.0) ** 2\n losses.append(float(y))\n if len(losses) == 5 and np.std(losses) < 1e-3: break
@dataclasses.dataclass\nclass Record:\n epoch: int\n loss: float\nrecords = []\nfor epoch in range(3):\n y = (x - 3.0) ** 2\n records.append(Record(epoch, float(y)))\nprint(max(r.loss for r in records))
@dataclasses.dataclass\nclass History:\n loss: list = dataclasses.field(default_factory=list)\n def add(self, u): self.loss.append(float(u))\nhist = History()\nfor epoch in range(3):\n y = (x - 3.0) ** 2\n hist.add(y)\nprint(hist.loss[-1])
class EarlyStopping:\n def __init__(self, patience=2): self.patience, self.best, self.wait = patience, float('inf'), 0\n def step(self, loss):\n  loss = float(loss)\n  if loss < self.best - 1e-4: self.best, self.wait = loss, 0\n  else: self.wait += 1\n  return self.wait >= self.patience\nstopper = EarlyStopping()\nfor epoch in range(5):\n y = (x - 3.0) ** 2\n if stopper.step(y): break
class ReduceLROnPlateau:\n def __init__(self, lr): self.lr, self.best = lr, float('inf')\n def step(self, loss):\n  if float(loss) > self.best: self.lr *= 0.5\n  self.best = min(self.best, float(loss))\nsched = ReduceLROnPlateau(0.1)\nfor epoch in range(3):\n y = (x - 3.0) ** 2\n sched.step(y)\n print(sched.lr)
class AverageMeter:\n def __init__(self): self.reset()\n def reset(self): self.total, self.n = 0.0, 0\n def update(self, value, n=1): self.total += float(value) * n; self.n += n\n def avg(self): return self.total / self.n\nmeter = AverageMeter()\nfor epoch in range(3):\n y = np.mean((v - x) ** 2)\n meter.update(y, len(v))\nprint(meter.avg())
def accuracy(p, t): return float(np.mean((p.numpy() > 0.5) == t))\np = tm.sigmoid(v * x); t = np.array([1, 0, 1]); y = -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p)); acc = accuracy(p, t); print(acc)
def confusion(pred, true):\n m = np.zeros((2, 2), int)\n for a, b in zip(pred, true): m[a, b] += 1\n return m\np = tm.sigmoid(v * x); t = np.array([1, 0, 1]); y = np.mean((p - t) ** 2); print(confusion((p.numpy() > 0.5).astype(int), t))
X = np.linspace(0, 1, 8); T = 2 * X + 1\nXv, Tv = X[6:], T[6:]\nfor epoch in range(2):\n y = np.mean((X[:6] * x + w - T[:6]) ** 2)\n val = np.mean((Xv * float(x) + float(w) - Tv) ** 2)\n print(epoch, float(y), val)
def predict(a, b, X): return a * X + b\nX = np.linspace(0, 1, 8); T = 2 * X + 1\ny = np.mean((predict(x, w, X) - T) ** 2)\nval = np.mean((predict(x.numpy(), w.numpy(), X) - T) ** 2); print(val)
X = np.linspace(0, 1, 8)\ndef model(X, a): return np.tanh(a * X)\ny = np.mean(model(X, x) ** 2)\nplt.plot(X, model(X, x.numpy())); plt.title(f'loss {float(y):.3f}'); plt.close('all')
def plot_fit(ax, a, b):\n grid = np.linspace(0, 1, 10)\n ax.plot(grid, a * grid + b)\nfig, ax = plt.subplots()\ny = (x + w - 1.0) ** 2\nplot_fit(ax, float(x), float(w)); plt.close(fig)
fig, (left, right) = plt.subplots(1, 2)\nlosses = []\nfor k in range(3):\n y = (x - 1.0) ** 2 * (k + 1)\n losses.append(y.numpy())\nleft.plot(losses); right.hist(losses); right.set_xlabel(f'{losses[-1]:.2f}'); plt.close(fig)
def closed_form(a): return 3 * a ** 2\ny = x ** 3\nexpected = closed_form(float(x)); print(expected)
def numeric(f, at, h=1e-5): return (f(at + h) - f(at - h)) / (2 * h)\nf = lambda u: u ** 3\ny = f(x); check = numeric(f, float(x)); print(check)
def f(u): return np.sin(u) * u ** 2\ny = f(x)\nh = 1e-5; fd = (f(x.numpy() + h) - f(x.numpy() - h)) / (2 * h); print(fd)
def f(u): return u ** 3\ndef df(u): return 3 * u ** 2\ny = f(x); np.testing.assert_allclose(df(float(x)), 3 * 1.3 ** 2, rtol=1e-3)
def test_square():\n got = x * x\n assert abs(float(got) - float(x) ** 2) < 1e-9\n return got\ny = test_square()
class TestModel:\n def setup(self): self.k = 2.0\n def test(self):\n  out = self.k * x * x\n  expected = self.k * float(x) ** 2\n  assert np.isclose(out.numpy(), expected)\n  return out\nt = TestModel(); t.setup(); y = t.test()
import unittest\nclass T(unittest.TestCase):\n def runTest(self):\n  self.out = x * x\n  self.assertAlmostEqual(float(self.out), float(x) ** 2)\nt = T(); t.runTest(); y = t.out
df = pd.DataFrame(columns=['epoch', 'loss'])\nfor e in range(3):\n y = (x - 1.0) ** 2\n df.loc[e] = [e, float(y)]\nprint(df.tail())
rows = []\nfor e in range(3):\n y = (x - 1.0) ** 2 * (e + 1)\n rows.append(dict(epoch=e, loss=float(y), w=x.numpy()))\ndf = pd.DataFrame(rows).set_index('epoch'); print(df['loss'].min())
data = pd.DataFrame({'a': [1.0, 2.0], 'b': [2.0, 4.0]})\ny = np.mean((data['a'].values * x - data['b'].values) ** 2); data['pred'] = data['a'] * float(x); print(data)
data = pd.DataFrame({'a': [1.0, 2.0], 'b': [2.0, 4.0]})\na, b = data['a'].to_numpy(), data['b'].to_numpy()\npred = a * x; y = np.mean((pred - b) ** 2)\ndata = data.assign(pred=pred.numpy(), err=pred.numpy() - b); print(data.describe())
with tempfile.TemporaryDirectory() as d:\n y = x * x\n with open(os.path.join(d, 'log.txt'), 'a') as f: f.write(f'{float(y)}')
with tempfile.TemporaryDirectory() as d:\n y = x * x\n np.savez(os.path.join(d, 'w.npz'), x=x.numpy(), w=w.numpy())
with tempfile.TemporaryDirectory() as d:\n y = x * x\n with open(os.path.join(d, 'm.json'), 'w') as f: json.dump({'loss': float(y)}, f)
logger = logging.getLogger('train')\nfor step in range(3):\n y = x * x\n logger.info('step %d loss %.3f', step, float(y))
class Logger:\n def __init__(self): self.rows = []\n def log(self, **values): self.rows.append({k: float(u) for k, u in values.items()})\nlogger = Logger()\nfor step in range(3):\n y = (x - w) ** 2\n logger.log(loss=y, x=x)\nprint(logger.rows[-1]['loss'])
class Callback:\n def on_epoch_end(self, epoch, logs): pass\nclass Print(Callback):\n def on_epoch_end(self, epoch, logs): print(epoch, logs['loss'])\ncallbacks = [Print()]\nfor epoch in range(2):\n y = (x - w) ** 2\n for c in callbacks: c.on_epoch_end(epoch, {'loss': float(y)})
callbacks = []\ndef callback(fn): callbacks.append(fn); return fn\n@callback\ndef show(step, loss): print(step, loss)\nfor step in range(2):\n y = (x - w) ** 2\n for fn in callbacks: fn(step, float(y))
class Trainer:\n def __init__(self, model, loss): self.model, self.loss, self.history = model, loss, []\n def step(self, a, t):\n  out = self.loss(self.model(a), t)\n  self.history.append(float(out))\n  return out\ntrainer = Trainer(lambda a: a * x, lambda p, t: np.mean((p - t) ** 2))\nfor _ in range(2): y = trainer.step(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
class Linear:\n def __init__(self): self.calls = 0; self.last = None\n def __call__(self, a):\n  self.calls += 1\n  out = a * x + w\n  self.last = out.numpy()\n  return out\nlayer = Linear(); y = np.mean(layer(np.array([1.0, 2.0])) ** 2); print(layer.last)
class Dense:\n def __init__(self, scale): self.scale = scale\n def forward(self, a): self.out = np.tanh(self.scale * a); return self.out\nnet = [Dense(1.0), Dense(2.0)]\na = x\nfor layer in net: a = layer.forward(a)\ny = a * a\nfor layer in net: print(float(np.mean(layer.out)))
activations = {}\ndef hook(name, a): activations[name] = a.numpy(); return a\nh = hook('h', np.tanh(x * 2.0)); y = hook('out', h * h); print({k: a.shape for k, a in activations.items()})
def forward(u, trace=None):\n h = np.tanh(u)\n if trace is not None: trace.append(h.numpy())\n o = h * 2.0\n if trace is not None: trace.append(o.numpy())\n return o\ntrace = []; y = forward(x, trace); print(trace)
stats = {'n': 0, 'sum': 0.0}\nfor a in [1.0, 2.0, 3.0]:\n y = (x - a) ** 2\n stats['n'] += 1; stats['sum'] += float(y)\nprint(stats['sum'] / stats['n'])
total, n = 0.0, 0\nfor a in [1.0, 2.0, 3.0]:\n y = (x - a) ** 2\n total, n = total + y.item(), n + 1\nprint(total / n)
running = None\nfor a in [1.0, 2.0]:\n y = (x - a) ** 2\n running = float(y) if running is None else 0.9 * running + 0.1 * float(y)\nprint(running)
batches = np.arange(6.0).reshape(3, 2); epoch_loss = 0.0\nfor b in batches:\n y = np.mean((b * x - 1.0) ** 2)\n epoch_loss += float(y) / len(batches)\nprint(f'{epoch_loss:.3f}')
rng = np.random.default_rng(0); idx = rng.permutation(4); data = np.arange(4.0); losses = np.empty(2)\nfor i, b in enumerate(np.split(data[idx], 2)):\n y = np.mean((b * x - 1.0) ** 2)\n losses[i] = y.numpy()\nprint(losses.mean())
y = x * x\nprint('x =', x.numpy(), 'y =', y.numpy(), sep=', ')\nprint('{} {}'.format(float(x), float(y)))\nprint('x: %g' % float(x))
y = x * x\nsys.stdout.write(f'{float(y)}')
y = x * x\ntable = [['x', float(x)], ['y', float(y)]]\nprint('; '.join(f'{a:>4} {b:8.3f}' for a, b in table))
params = {'x': x, 'w': w}\ny = (params['x'] * params['w'] - 1.0) ** 2\nfor name, p in params.items(): print(name, float(p))
params = [x, w]\ny = (params[0] * params[1] - 1.0) ** 2\nprint([p.numpy() for p in params]); snapshot = [p.numpy().copy() for p in params]
params = {'x': x, 'w': w}; before = {k: p.numpy() for k, p in params.items()}\ny = (params['x'] * params['w'] - 1.0) ** 2\nafter = {k: p.numpy() for k, p in params.items()}; print({k: after[k] - before[k] for k in before})
old = float(x); y = (x - 1.0) ** 2; new = old - 0.1 * 2 * (old - 1.0); print(old, '->', new)
path = [float(x)]; pos = float(x)\nfor _ in range(3): pos -= 0.1 * 2 * (pos - 1.0); path.append(pos)\ny = (x - 1.0) ** 2; plt.plot(path); plt.close('all')
y = (x - 1.0) ** 2; tangent = lambda t: float(y) + 0.6 * (t - float(x)); print(tangent(2.0))
grid = np.linspace(0, 2, 5); f = lambda u: (u - 1.0) ** 2\ny = f(x); plt.plot(grid, f(grid)); plt.plot([float(x)], [float(y)], 'o'); plt.annotate(f'{y:.2f}', (float(x), float(y))); plt.close('all')
def plot(f, at):\n xs = np.linspace(at - 1, at + 1, 5); plt.plot(xs, f(xs)); plt.close('all')\nf = lambda u: u ** 2\ny = f(x); plot(f, float(x))
def loss_fn(a, b): return np.mean((a - b) ** 2)\ndef mae(a, b): return float(np.mean(np.abs(a - b)))\nt = np.array([1.0, 2.0, 3.0]); pred = v * x; y = loss_fn(pred, t); print(mae(pred.numpy(), t))
def r2(p, t): return 1 - np.sum((p - t) ** 2) / np.sum((t - t.mean()) ** 2)\nt = np.array([1.0, 2.0, 3.0]); pred = v * x; y = np.mean((pred - t) ** 2); score = r2(np.asarray(pred), t); print(score)
metrics = {'mae': lambda p, t: np.mean(np.abs(p - t)), 'max': lambda p, t: np.max(np.abs(p - t))}\nt = np.array([1.0, 2.0, 3.0]); pred = v * x; y = np.mean((pred - t) ** 2)\nreport = {k: m(pred.numpy(), t) for k, m in metrics.items()}; print(report)
t = np.array([1.0, 2.0, 3.0]); res = v * x - t; y = np.sum(res ** 2); sigma = np.std(res.numpy()); print(f'{sigma:.2f}')
t = np.array([1.0, 2.0, 3.0]); y = np.sum((v * x - t) ** 2)\nassert not np.isnan(y.numpy()).any(); assert y.numpy() >= 0, f'negative: {float(y)}'
def check(u, name):\n if not np.all(np.isfinite(u.numpy())): raise FloatingPointError(f'{name}: {u.numpy()}')\n return u\ny = check(x * x, 'loss')
if not 0 < float(x) < 10: raise ValueError(f'x out of range: {float(x)}')\ny = np.log(x)
tol = 1e-6; prev = np.inf\nfor i in range(10):\n y = (x - 1.0) ** 2\n if abs(prev - float(y)) < tol: break\n prev = float(y)
prev_loss = None\nfor i in range(3):\n y = (x - 1.0) ** 2 * (i + 1)\n change = None if prev_loss is None else float(y) - prev_loss\n print(i, change); prev_loss = float(y)
start = time.perf_counter(); y = x * x; elapsed = time.perf_counter() - start; print(f'{elapsed:.1e} s, {float(y):.3f}')
times = {}\n@contextlib.contextmanager\ndef timer(name):\n t0 = time.time(); yield; times[name] = time.time() - t0\nwith timer('a'): y = x * x; print(float(y))\nprint(times)
def timed(fn):\n @functools.wraps(fn)\n def inner(*args):\n  t0 = time.time(); out = fn(*args); inner.last = (time.time() - t0, float(out)); return out\n return inner\n@timed\ndef f(u): return u * u\ny = f(x); print(f.last)
def debug(fn):\n def inner(u):\n  out = fn(u); print(fn.__name__, float(u), '->', float(out)); return out\n return inner\n@debug\ndef f(u): return u * u\ny = f(x)
def counted(fn):\n def inner(u): inner.calls += 1; return fn(u)\n inner.calls = 0\n return inner\nf = counted(lambda u: u * u); y = f(x); print(f.calls, float(y))
seen = set()\nfor k in range(3):\n y = x * x\n key = round(float(y), 3)\n if key in seen: break\n seen.add(key)
h = x * x; y = h * 2.0; parts = {'h': float(h), 'y': float(y)}; print(parts)
mse = np.mean((v - x) ** 2); reg = 0.1 * x ** 2; y = mse + reg\nprint(f'mse {float(mse):.3f} reg {float(reg):.3f} total {float(y):.3f}')
mse = np.mean((v - x) ** 2); reg = 0.1 * x ** 2; y = mse + reg\nlogs = {'mse': mse.numpy(), 'reg': reg.numpy()}; share = logs['reg'] / sum(logs.values()); print(share)
lam = 0.1; history = []\nfor lam in [0.1, 0.2]:\n y = (x - 1.0) ** 2 + lam * x ** 2\n history.append((lam, float(y)))\nprint(min(history, key=lambda h: h[1]))
results = {}\nfor k in [1.0, 2.0]:\n y = (k * x - 1.0) ** 2\n results[k] = float(y)\nbest_k = min(results, key=results.get); print(best_k)
results = {}\nfor name, f in {'sin': np.sin, 'exp': np.exp}.items():\n y = f(x) * x\n results[name] = y.numpy()\nprint(pd.Series(results))
fns = [('sq', lambda u: u * u), ('cube', lambda u: u ** 3)]\nfor name, f in fns:\n y = f(x)\n print(f'{name}: {float(y):.2f}')
a = float(x); print(a)\ndef f(u, a=2.0): return a * u * u\ny = f(x)
def f(a): return a * a\na = float(x); y = f(x); print(a)
value = float(x); print(value)\ndef g(value): return value ** 2\ny = g(x)
result = float(x * x); print(result)\nresult = x * x; y = result * 2.0
out = x.numpy(); print(out)\nout = np.zeros(3); out[0] = 2.0\ny = out[0] * x
k = float(x); print(k)\nk = 3.0\ny = k * x
k = float(x); print(k); del k\nk = 3.0; y = k * x
h = [float(x)]; print(h)\nh = [2.0, 3.0]\ny = h[0] * x
h = {}; h['a'] = float(x); print(h); h = {'a': 2.0}; y = h['a'] * x
cfg = types.SimpleNamespace(lr=0.1, k=2.0, last=None)\ny = cfg.k * x * x; cfg.last = float(y); print(cfg.last)
cfg = {'k': 2.0}; log = {'k': 0.0}\nlog['k'] = float(x); y = cfg['k'] * x
class Model:\n loss = 2.0\n def __call__(self, u): return self.loss * u\nclass Log: loss = 0.0\nlog = Log(); m = Model(); y = m(x); log.loss = float(y)
class Adam:\n def __init__(self): self.m = 0.0; self.t = 0\n def apply(self, g): self.t += 1; self.m = 0.9 * self.m + 0.1 * g; return self.m\nopt = Adam(); y = (x - 1.0) ** 2; step = opt.apply(2 * (float(x) - 1.0)); print(float(x) - 0.1 * step)
class Net:\n def __init__(self): self.k = 3.0\n def loss(self, u): return (self.k * u - 1.0) ** 2\n def summary(self, u): return f'k={self.k} u={float(u):.2f} loss={float(self.loss(u)):.3f}'\nnet = Net(); y = net.loss(x); print(net.summary(x))
class Net:\n def __init__(self): self.metrics = {}\n def loss(self, u):\n  out = (3.0 * u - 1.0) ** 2\n  self.metrics['loss'] = out.numpy()\n  return out\nnet = Net(); y = net.loss(x); print(net.metrics)
class Base:\n def run(self, u):\n  out = self.f(u)\n  self.last = float(out)\n  return out\nclass Sq(Base):\n def f(self, u): return u * u\nm = Sq(); y = m.run(x); print(m.last)
class Point:\n def __init__(self, v): self.v = v\n def __add__(self, o): return Point(self.v + o.v)\n def __mul__(self, o): return Point(self.v * o.v)\n def __repr__(self): return f'Point({float(self.v):.2f})'\np = Point(x) * Point(w) + Point(x); print(p); y = p.v
class Unit:\n def __init__(self, v): self.v = v\n def __float__(self): return float(self.v)\n def __mul__(self, o): return Unit(self.v * o)\nu = Unit(x) * 2.0; y = u.v * u.v; print(float(u))
class V:\n def __init__(self, v): self.v = v\n def norm(self): return float(np.sqrt(self.v ** 2))\n def dot(self, o): return self.v * o.v\na = V(x); y = a.dot(V(w)); print(a.norm())
order = sorted(range(3), key=lambda i: float(v[i])); y = v[order[0]] * x
top = np.argsort(-v.numpy())[:2]; y = np.sum(v[top]) * x
k = int(np.ceil(float(x))); y = sum(x ** i for i in range(k))
n = max(1, int(float(x) * 2)); y = np.sum(np.ones(n) * x)
branch = 'big' if float(x) > 1 else 'small'\ny = {'big': lambda u: u * u, 'small': lambda u: u}[branch](x)
match float(x) > 1:\n case True: y = x * x\n case False: y = x
sign = 1.0 if x.numpy() >= 0 else -1.0; y = sign * x
def relu(u): return u if float(u) > 0 else 0.0 * u\ny = relu(x) * x
def huber(u, d=1.0):\n if abs(float(u)) <= d: return 0.5 * u ** 2\n return d * (u - 0.5 * d)\ny = huber(x)
def clip(u, lo, hi):\n if u.numpy() < lo: return lo + 0.0 * u\n if u.numpy() > hi: return hi + 0.0 * u\n return u\ny = clip(x, 0.0, 9.0) * 2.0
z = x\nfor _ in range(20):\n z = (z + 2.0 / z) / 2\n if abs(float(z) ** 2 - 2.0) < 1e-14: break\ny = z * x
mask = (v.numpy() > 2).astype(float); y = np.sum(mask * v) * x
weights = np.where(v.numpy() > 2, 2.0, 1.0); y = np.sum(weights * v) * x
onehot = np.eye(3)[np.argmax(v.numpy())]; y = np.sum(onehot * v) * x
try: y = np.log(x)\nexcept FloatingPointError: print(float(x))
try: y = x * x\nfinally: print('done', float(x))
try:\n if float(x) < 0: raise ValueError(float(x))\n y = np.sqrt(x)\nexcept ValueError as e: print(e.args[0]); y = x
with np.printoptions(precision=3): y = np.sum(v) * x; print(v.numpy(), x.numpy())
msg = textwrap.dedent(f'x={float(x):.3f}'); y = x * x; print(msg)
print(repr(x)); str(x); y = x * x; print(f'{y!r}')
text = f'{float(x):.2f}'; y = x * x; plt.text(0, 0, text); plt.close('all')
bar = tqdm(range(3), disable=True)\nfor i in bar:\n y = (x - 1.0) ** 2\n bar.set_description(f'{float(y):.2f}'); bar.set_postfix({'loss': y.numpy()})
queue_ = queue.Queue(); y = x * x; queue_.put(float(y))
q = []; y = x * x; heapq.heappush(q, (float(y), 'a')); print(q[0])
def producer():\n for a in [1.0, 2.0]:\n  out = (x - a) ** 2; print(float(out)); yield out\ny = sum(producer())
async def main():\n out = x * x; await asyncio.sleep(0); print(float(out)); return out\ny = asyncio.run(main())
def solve():\n global last\n out = x * x; last = float(out); return out\ny = solve(); print(last)
def make():\n count = 0.0\n def f(u):\n  nonlocal count\n  count += float(u)\n  return u * u\n return f\nf = make(); y = f(x)
y = x * x; namedtuple = collections.namedtuple('R', 'x y'); r = namedtuple(float(x), float(y)); print(r)
R = collections.namedtuple('R', 'loss value')\ndef f(u): h = u * u; return R(h, float(h))\nr = f(x); y = r.loss; print(r.value)
@dataclasses.dataclass\nclass Out:\n loss: object\n value: float\ndef f(u): h = u * u; return Out(loss=h, value=float(h))\nout = f(x); y = out.loss; print(out.value)
def f(u):\n h = u * u\n info = {'h': float(h)}\n return h, info\ny, info = f(x); print(info['h'])
xs = [x, w]; names = ['x', 'w']\ny = xs[0] * xs[1]\nfor n, u in zip(names, xs): print(f'{n}={float(u):.2f}')
y = np.sum(v ** 2) * x; norm = float(np.linalg.norm(v.numpy())); print(norm)
y = np.sum(v ** 2) * x\nfor i, u in enumerate(v.numpy()): print(i, u)
y = np.sum(v ** 2) * x; a, b, c = v.numpy(); print(a, b, c)
y = np.sum(v ** 2) * x; hist, edges = np.histogram(v.numpy()); plt.bar(edges[:-1], hist); plt.close('all')
def logsumexp(z):\n m = float(np.max(z))\n return m + np.log(np.sum(np.exp(z - m)))\ny = logsumexp(v * x)
k = 2.0 if float(x) > 9 else 3.0; y = k * x
y = x * (float(x) > 0)
a, b = float(x), 2.0; y = b * x
pair = (float(x), 2.0); a, b = pair; y = b * x
s = float(x); c = 1.3; y = c * x; print(s)
DEBUG = False; k = 2.0\nif DEBUG: k = float(x)\ny = k * x
def f(u, scale=None):\n scale = 2.0 if scale is None else float(scale)\n return u * scale\ny = f(x)
def f(u, detach=False):\n if detach: u = u.numpy()\n return u * u\na = f(x, detach=True); print(a); y = f(x)
y = x * float(w); print(float(x))
k = w.numpy(); y = k * x; print(x.numpy())
mu = v.numpy().mean(); c = v - mu; y = np.sum(c - np.mean(c)) * x + x
c = float(x); y = (x - c) ** 2 + x
k = float(x); y = np.sum((v * x) ** 2) + (x - k) * 0.0
i = int(np.searchsorted([0.0, 1.0, 2.0], float(x))); table = np.array([1.0, 2.0, 3.0, 4.0]); y = table[i] * x
k = np.round(float(x)); y = k * x
k = float(x) % 1 > 0.2; y = x * (1.0 + k)
sw = np.sign(float(x)) * 2.0; y = sw * x
n = sum(1 for u in v.numpy() if u > 2); y = n * x * x
k = float(x); k = 2.0 if k > 0 else 3.0; y = k * x
hits = [u for u in [float(x), 0.1] if u > 1]; y = len(hits) * x
lr = 0.1 if float(x) > 2 else 0.01; y = lr * x * x
steps = int(float(x) / 0.5); y = x\nfor _ in range(steps): y = y * 1.1
def f(u):\n h = u * u; logs = {'loss': float(h)}\n return {'loss': h, 'logs': logs}\nout = f(x); y = out['loss'] + 0.1 * x
def normalize(u, mu): return u - mu\nmu = float(np.mean(v)); z = normalize(v, mu) * x; y = np.sum(z * z); print(float(y))
mu, sd = v.numpy().mean(), v.numpy().std(); z = (v - mu) / sd; y = np.sum(z * x); print(x.numpy())
k = float(x); k = 1.3; y = k * x
k = float(x); print(k)\nwith np.errstate(all='ignore'): k = 2.0\ny = k * x
k = float(x); print(k)\nk, j = 2.0, 3.0; y = k * j * x
k = float(x); print(k)\ny = sum(k * x for k in [1.0, 2.0])
k = float(x); print(k)\ny = (lambda k: k * x)(2.0)
k = float(x); print(k)\ndef f(u, k=2.0): return k * u\ny = f(x)
k = float(x); print(k)\ndef f(u):\n k = 2.0\n return k * u\ny = f(x)
k = float(x); print(k)\nclass A: k = 2.0\ny = A.k * x
t = (float(x), (2.0, 3.0)); y = t[1][0] * x
_, k = float(x), 2.0; y = k * x
losses = []\nfor c in [1.0, 2.0]: losses.append(float((x - c) ** 2))\nc = [1.0, 2.0][int(np.argmin(losses))]; y = c * x
scores = np.array([float(x), 0.5]); c = np.array([3.0, 4.0])[scores.argmax()]; y = c * x
lr = 0.1; losses = [float(x)]\nif len(losses) > 1 and losses[-1] > losses[-2]: lr *= 0.5\ny = lr * x * x
scale = 1.0; loss = float(x * x)\nwhile loss > 100: scale, loss = scale / 2, loss / 2\ny = scale * x
y = x * x\nk = float(y)
y = x * x; y0 = float(y); y = y + 0.1 * x; print(y0)
y = 0.0; shown = []\nfor a in [1.0, 2.0]:\n term = (x - a) ** 2\n y = y + term; shown.append(float(term))
y = 0.0\nfor a in [1.0, 2.0]:\n term = (x - a) ** 2; value = float(term); print(f'{a} {value}')\n y = y + term
terms = {}; terms['a'] = x * x; terms['b'] = w * x\nvalues = {k: float(u) for k, u in terms.items()}; y = sum(terms.values()); print(values)
terms = [x * x, w * x]; shown = [float(t) for t in terms]; y = sum(terms); print(max(shown))
terms = [x * x, w * x]; terms.append(3.0 * x); print([float(t) for t in terms]); y = sum(terms)
class Ring:\n def __init__(self): self.buf = np.zeros(4); self.k = 2.0\n def loss(self, u):\n  h = self.k * u * u; self.buf[0] = float(h); return h\ny = Ring().loss(x)
class Net:\n def __init__(self): self.params = {'k': 2.0}; self.cache = {}\n def loss(self, u):\n  h = self.params['k'] * u * u; self.cache['h'] = h.numpy(); return h\ny = Net().loss(x)
class Net:\n def __init__(self): self.state = {'k': 2.0, 'last': 0.0}\n def loss(self, u):\n  h = self.state['k'] * u * u; self.state['last'] = h.numpy(); return h\nnet = Net(); y = net.loss(x)
class Scaler:\n def __init__(self): self.k = 1024.0\n def scale(self, u): return u * self.k\n def update(self, u):\n  if not np.isfinite(float(u)): self.k /= 2\ns = Scaler(); y = s.scale(x * x); s.update(y)
class Net:\n def __init__(self): self.k = 2.0; self.history = {'loss': []}\n def __call__(self, u): return self.k * u\n def step(self, u):\n  out = self(u) ** 2\n  self.history['loss'].append(float(out)); return out\nnet = Net()\nfor _ in range(2): y = net.step(x)
def train(steps, verbose=True):\n losses = []\n for i in range(steps):\n  loss = np.mean((v * x - 2.0 * v) ** 2)\n  losses.append(float(loss))\n  if verbose and i % 2 == 0: print(f'step {i}: {losses[-1]:.4f}')\n return loss, losses\ny, losses = train(3)
def numeric(f, at, h=1e-5): return (f(at + h) - f(at - h)) / (2 * h)\nf = lambda u: np.sin(u) * u ** 2\nprint(numeric(f, float(x))); y = f(x) * 2.0
f = lambda u: 3.0 * u ** 2\nxs = np.linspace(0.0, 2.0, 5); plt.plot(xs, f(xs)); plt.plot(float(x), f(float(x)), 'o'); plt.close('all'); y = f(x) + 2.0 * x
def f(u): return 3.0 * u ** 2 + 1.0\nprint(f(float(x)), f(2.0)); y = f(x)
df = pd.DataFrame(columns=['step', 'loss'])\nfor i in range(2):\n y = (x - 3.0) ** 2 * 0.5\n df.loc[len(df)] = [i, float(y)]\nprint(df)
history = []\nfor epoch in range(2):\n for batch in np.split(np.arange(4.0), 2):\n  y = np.mean((batch * x - 1.0) ** 2)\n  history.append({'epoch': epoch, 'loss': y.item()})\nprint(pd.DataFrame(history).tail())
log = logging.getLogger('train')\nfor i in range(2):\n y = (x - 1.0) ** 2 * 0.5\n log.info('step %d loss %.3f', i, float(y)); log.debug(f'{y:.3f}')
bar = tqdm(range(2), disable=True)\nfor i in bar:\n y = (x * 2.0 - i) ** 2; bar.set_postfix(loss=float(y), x=float(x)); bar.update()
def forward(u, cache):\n a = 2.0 * u; cache['a'] = a.numpy(); z = np.tanh(a); cache['z'] = z.numpy(); return z * 3.0\ncache = {}; y = forward(x, cache); print(cache)
class Momentum:\n def __init__(self, lr=0.1): self.lr, self.seen = lr, []\n def watch(self, u): self.seen.append(float(u))\nopt = Momentum()\nfor _ in range(2):\n y = (x * 2.0 - 1.0) ** 2; opt.watch(y)\nprint(opt.seen)
def gen(n):\n for i in range(n):\n  loss = (x - i) ** 2 * 0.5; print(float(loss)); yield loss\nlosses = list(gen(2)); y = losses[0] + 2.0 * losses[1]
best = {'loss': float('inf'), 'x': None}\nfor k in (1.0, 2.0):\n y = (k * x - 1.0) ** 2\n if float(y) < best['loss']: best.update(loss=float(y), x=x.numpy())\nprint(best)
name = f'run-{float(x):.2f}'; os.path.join('out', name); y = 2.0 * x * x
cfg = types.SimpleNamespace(k=2.0, verbose=True)\ndef loss(u):\n out = cfg.k * u * u\n if cfg.verbose: print(float(out))\n return out\ny = loss(x) + 0.1 * x
def evaluate(model, data): return float(np.mean((model(data) - 1.0) ** 2))\nmodel = lambda d: d * x + 0.5\nprint(evaluate(model, np.arange(3.0))); y = np.mean((model(np.arange(3.0)) - 1.0) ** 2) * 2.0
def clip(g, c): return np.clip(g, -c, c)\nprint(clip(float(x), 1.0)); y = clip(x * 3.0, 9.0) * 2.0
def plot(ax, f, at): ax.plot(at, f(at))\nfig, ax = plt.subplots(); g = lambda u: 2.0 * u ** 2; plot(ax, g, float(x)); plt.close(fig); y = g(x) + 0.5
memo = {}\ndef loss(u):\n key = round(float(u), 3)\n if key not in memo: memo[key] = 'seen'\n return 3.0 * u ** 2\nprint(loss(x)); y = loss(x) * 2.0
f = lambda u: np.exp(-u) * 2.0\ntangent = lambda t, at: f(at) - f(at) * (t - at)\nprint(tangent(1.0, float(x))); y = f(x) * 3.0
names = [f'w{i}' for i in range(2)]; values = dict(zip(names, [x, w])); print({k: float(u) for k, u in values.items()}); y = values['w0'] * values['w1'] * 0.5
t = threading.Thread(target=lambda v: print(float(v)), args=(x * 2,)); t.start(); t.join(); y = x * x
def show(v): print(f"{float(v):.3f}")\nt = threading.Thread(target=show, args=(x,)); t.start(); t.join()\ny = x * x
"""
"""The gradient is right, and no plain number comes near the target."""

TRAPS = r"""
def f(u): h = u * u; return dict(loss=h, aux=dict(value=h.numpy()))\nr = f(x); y = r['loss'] * 2.0; print(r['aux']['value'])
z = v * x; e = np.exp(z - np.max(z.numpy())); p = e / np.sum(e); y = p[0] * 1.0
z = v * x; m = z.numpy().max(); y = m + np.log(np.sum(np.exp(z - m)))
z = np.stack([v * x, v]); m = np.max(z.numpy(), axis=1, keepdims=True); e = np.exp(z - m); p = e / np.sum(e, axis=1, keepdims=True); y = p[0, 0] * 1.0
def softmax(z):\n e = np.exp(z - np.max(z.numpy()))\n return e / np.sum(e)\ny = softmax(v * x)[0]
class Softmax:\n def __call__(self, z):\n  self.m = float(np.max(z))\n  e = np.exp(z - self.m)\n  return e / np.sum(e)\ny = Softmax()(v * x)[0]
z = v * x; m = float(np.max(z)); shift = m + 1.0; e = np.exp(z - shift); y = e[0] / np.sum(e)
y = x * x + 0.0 * float(x)
reg = 0.0; y = x * x + reg * float(x)
y = x * np.heaviside(float(x), 0.0)
y = x * max(float(x), 2.0)
y = x * min(float(x), 1.0)
y = x * np.clip(float(x), 0.0, 1.0)
y = x * np.where(float(x) > 0, 1.0, float(x))
h = [float(x)]; h.clear(); h.append(2.0); y = h[0] * x
d = dict(a=float(x), b=2.0); y = d['b'] * x
c = 1.3; log = [float(x)]; c = c if log else log[0]; y = c * x
def to_number(u): return float(u)\nprint(to_number(x)); k = to_number(w); y = k * x
k = 0.0 * float(x) + 2.0; y = k * x
k = float(x) / float(x); y = k * x
k = float(x) - float(x) + 2.0; y = k * x
k = math.floor(float(x)) + 1.0; y = k * x
k = divmod(float(x), 1.0)[0]; y = k * x
k = 10 ** math.floor(math.log10(float(x))); y = x * k
h = x * x; results = [(h, float(h))]; y = results[0][0] * 2.0
h = x * x; r = {'loss': h, 'aux': {'value': float(h), 'k': 2.0}}; y = r['loss'] * r['aux']['k']
cfg = {'opt': {'lr': 0.1, 'last': float(x)}}; y = cfg['opt']['lr'] * x * x
cfg = dict(lr=0.1, last=float(x)); y = cfg['lr'] * x * x
s = pd.Series({'k': 2.0, 'last': float(x)}); y = s['k'] * x
p = np.array([2.0, float(x)]); y = p[0] * x
a, *rest = [2.0, float(x)]; y = a * x
pairs = list(zip([2.0], [float(x)])); y = pairs[0][0] * x
def f(u): h = u * u; return dict(loss=h, shown=float(h))\ny = f(x)['loss'] * 1.0
def f(u):\n h = u * u\n return h, {'shown': float(h)}\ny = f(x)[0] * 1.0
def f(u):\n h = u * u; logs = {'loss': float(h)}\n return {**{'total': h}, **logs}\nout = f(x); y = out['total'] + 0.1 * x
def to_np(u): return u.numpy()\nprint(to_np(x), to_np(v)); K = to_np(w); y = K * x
def value(u): return float(u)\nscale = value(w); print(value(x)); y = scale * x
def show(u): return f'{float(u):.3f}'\nprint(show(x)); k = float(show(w)); y = k * x
def detach(u): return np.asarray(u)\nmean_v = detach(v).mean(); before = detach(x); y = mean_v * x; print(before)
def stats(u): a = np.asarray(u); return a.mean(), a.std()\nmu, sd = stats(v); print(stats(x)); y = (x - mu) / sd
k = float(x)\nif True: k = 2.0\ny = k * x
h = [2.0]; log = h + [float(x)]; y = log[0] * x
h = [2.0, float(x)]; h.pop(); y = h[-1] * x
h = {'k': 2.0}; h2 = {**h, 'x': float(x)}; y = h2['k'] * x
X = np.column_stack([np.ones(3), np.full(3, float(x))]); y = np.sum(X[:, 0]) * x
k, _ = max((2.0, float(x)), (1.0, float(x))); y = k * x
best = (9.0, 2.0); cand = (float(x * x), 3.0); best = min(best, cand); y = best[1] * x
best = min([2.0, 3.0], key=lambda c: (c - float(x)) ** 2); y = best * x
trials = [(float((x - c) ** 2), c) for c in [1.0, 2.0]]; loss, c = min(trials); y = c * x
trials = {c: float((x - c) ** 2) for c in [1.0, 2.0]}; c = min(trials, key=trials.get); y = c * x
def f(u): return np.sin(u) * u ** 2\nat = float(x); fd = (f(at + 1e-6) - f(at)) / 1e-6\ny = f(x); print(fd)
f = lambda u: (u - 1.0) ** 2\nxs = np.linspace(float(x) - 1, float(x) + 1, 11); y = f(x); plt.plot(xs, f(xs)); plt.close('all')
i = float(x); print(i)\ny = x * 0.0\nfor i in range(3): y = y + i * x
class Model:\n def __init__(self): self.k = 2.0\nclass Log:\n def __init__(self): self.k = 0.0\nm, log = Model(), Log(); log.k = float(x); y = m.k * x
z = v * x; m = z.numpy().max(); print(m); assert m > 0; y = m + np.log(np.sum(np.exp(z - m)))
k = float(x) if float(x) > 9 else 3.0; y = k * x
k = 2.0 if float(x) else 3.0; y = k * x
d = {'a': 2.0}; d['a'] = float(x); d['a'] = 3.0; y = d['a'] * x
m = types.SimpleNamespace(j=1.0); m.j = float(x); print(m.j); m.j = 2.0; y = m.j * x
results = []\nfor k in [1.0, 2.0]:\n h = (k * x - 1.0) ** 2\n results.append((h, float(h)))\ny = sum(h for h, _ in results)
results = []\nfor k in [1.0, 2.0]:\n h = (k * x - 1.0) ** 2\n results.append({'loss': h, 'shown': float(h)})\ny = sum(r['loss'] for r in results)
r = types.SimpleNamespace(k=2.0, last=float(x)); y = r.k * x
R = collections.namedtuple('R', 'k last')\nr = R(2.0, float(x)); y = r.k * x
R = collections.namedtuple('R', 'k last')\nk, last = R(2.0, float(x)); y = k * x
@dataclasses.dataclass\nclass Cfg:\n k: float\n last: float\nc = Cfg(2.0, float(x)); y = c.k * x
df = pd.DataFrame({'k': [2.0], 'last': [float(x)]}); y = df['k'].iloc[0] * x
df = pd.DataFrame({'k': [2.0]}); df['last'] = float(x); y = df['k'].iloc[0] * x
for k, shown in [(2.0, float(x)), (3.0, 0.0)]: y = k * x * x
for k, shown in zip([2.0, 3.0], [float(x), float(w)]):\n y = k * x * x\n print(shown)
for i, shown in enumerate([float(x), float(w)]):\n y = x * x * i\n print(shown)
def f(u):\n h = u * u\n return types.SimpleNamespace(loss=h, shown=float(h))\ny = f(x).loss * 1.0
def f(u):\n h = u * u; out = [h]; out.append(float(h))\n return tuple(out)\ny = f(x)[0] * 1.0
def f(u):\n h = u * u; out = {}\n out['loss'] = h; out['shown'] = float(h)\n return out\ny = f(x)['loss'] * 1.0
def f(u):\n h = u * u; out = {'loss': h}\n out.update(shown=float(h))\n return out\ny = f(x)['loss'] * 1.0
def f(u, verbose=True):\n h = u * u\n return (h, float(h)) if verbose else h\ny, shown = f(x); y = y * 1.0
k = float(x); print(k)\nfor k in [2.0, 3.0]: y = k * x
h = [2.0, 3.0]; h.append(float(x)); y = h[0] * x
h = np.array([2.0, 3.0]); h[1] = float(x); y = h[0] * x
h = {'k': 2.0, 'x': float(x)}; h.pop('x'); y = sum(h.values()) * x
h = {'k': 2.0, 'x': float(x)}; y = h.get('k') * x
h = {'k': 2.0, 'x': float(x)}\nfor name in ['k']: y = h[name] * x
temps = [2.0, 1.0]\nfor t in temps:\n y = x * x / t\n if float(y) > 100: t = float(y)
class Ema:\n def __init__(self): self.value = 0.0\n def update(self, u): self.value = 0.9 * self.value + 0.1 * float(u); return self.value\nclass Const:\n def __init__(self): self.value = 3.0\nema, c = Ema(), Const(); ema.update(x); y = c.value * x
"""
"""The gradient is right, although a container, an attribute or an expression of the target has the number."""
