"""Themes of random programs: what the language offers to write, one thing of the world that changes between calls, and memory that tensors share.

Fields and holes are those of themes.py. What they bind is named with a trailing underscore.
"""
from themes import Theme

LANGUAGE = Theme("P", '''
def cell(n):
    k = n

    def inc(d=1):
        nonlocal k
        k += d
        return k

    def get():
        return k

    def drop():
        nonlocal k
        del k
    return inc, get, drop


def spread(a, b=2, /, c=3, *rest, d, e=5, **kw):
    return a, b, c, rest, d, e, kw


def only(*, a, b=1):
    return a, b


def rows(*args, **kw):
    return len(args), list(kw)


def early(v, k=1):
    for j in range(3):
        try:
            if j == k:
                return v
            if j > k:
                break
            continue
        finally:
            LOG.append(("fin", j))
    return j


def swallow(v):
    while True:
        try:
            raise E0(v)
        finally:
            break
    try:
        return v
    finally:
        LOG.append(type(v).__name__)


def override(v):
    try:
        return [v]
    finally:
        return 2


def nested(v):
    try:
        try:
            raise ValueError(1)
        except ValueError as z:
            raise KeyError(2) from z
        finally:
            LOG.append("inner")
    except KeyError as z:
        return v, type(z.__cause__).__name__, type(z.__context__).__name__
    else:
        return None
    finally:
        LOG.append("outer")


def echo(v):
    got = None
    while True:
        try:
            got = yield v, got
            if got is None:
                return "done"
            v = got
        except KeyError as z:
            LOG.append(("caught", str(z)))
            v = None
        except GeneratorExit:
            LOG.append("closed")
            raise
        finally:
            LOG.append("step")


def chain(v):
    r = yield from echo(v)
    LOG.append(r)
    yield r


def tree(v, n=2):
    if n > 0:
        yield from tree(v, n - 1)
    yield v
    if n > 1:
        yield from (n, *tree(n, n - 2))


class Wait:
    def __init__(self, v):
        self.v = v

    def __await__(self):
        got = yield self.v
        return got


async def part(v):
    LOG.append("part")
    return await Wait(v)


async def co(v, k):
    async with Guard() as g:
        a = await part(v)
    return a, k, g


class Guard:
    async def __aenter__(self):
        return "in"

    async def __aexit__(self, *info):
        LOG.append("out")


async def agen(n):
    for k in range(n):
        yield k


async def collect(n):
    return [k async for k in agen(n) if k % 2 == 0]


def run(c, sent=None):
    out = []
    try:
        out.append(c.send(None))
        out.append(c.send(sent))
    except StopIteration as z:
        out.append(z.value)
    return out


class Deco:
    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self.fn, self.n = fn, 0

    def __call__(self, *args, **kw):
        self.n += 1
        return self.fn(*args, **kw)

    def __get__(self, obj, kind=None):
        return self if obj is None else functools.partial(self, obj)


def times(k):
    def deco(fn):
        @functools.wraps(fn)
        def inner(*args, **kw):
            return [fn(*args, **kw) for _ in range(k)]
        return inner
    return deco


@Deco
def counted(v, k=1):
    return v, k


@times(2)
def double(v):
    return v


class Host:
    @Deco
    def m(self, v):
        return v

    @times(1)
    def n(self, v):
        return self, v

    @property
    def p(self):
        return self.__dict__.setdefault("_p", [])

    @p.setter
    def p(self, v):
        self._p = v

    @p.deleter
    def p(self):
        self.__dict__.pop("_p", None)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        LOG.append(name)
        return name

    total = sum(k * k for k in range(4))
    names = [n + "x" for n in "ab"]


INC, GET, DROP = cell(3)
HOST = Host()
GENS = [echo(1), tree(2)]
GRID = [[1, 2], [3, 4]]
next(GENS[0])
''', ["INC", "GET", "spread", "only", "early", "swallow", "override", "nested", "counted", "double", "HOST.m", "HOST.n", "cell(3)[0]", "rows"], [
    "cell({i})[0]", "cell({i})[1]", "(lambda *a, k={v}, **kw: (a, k, kw))", "(lambda v: v)", "functools.partial(spread, {v}, d={v})", "Deco(early)", "times({i} % 3)(early)", "{P} if {b} else {P}", "unknown({P})", "(lambda g: lambda *a: g(*a))({P})", "[lambda v, k=k: (v, k) for k in range(2)][{i} % 2]",
    "[lambda v=0: (v, k_) for k_ in range(2)][0]", "functools.wraps(early)(lambda v=1: v)", "Host().m", "(lambda v: v).__get__({i})", "Host.n",
], {
    "i": ["INC({i})", "GET()", "cell({i})[0]({i})", "counted.n", "len(HOST.p)", "Host.total", "sum(k for k in range({i} % 4) if k)", "[j for k in GRID for j in k][{i}]", "GRID[0][-1]", "max((q_ for q_ in GRID[0]), default={i})", "{i} if {b} else {i} if {b} else {i}", "len([*{l}, *{p}])", "next((k for k in range(9) if k > {i}), -1)", "rows(*{l}, *{p}, **{d})[0]",
          "eval('1 + 2')", "int(f'{{{.i}:d}}')", "sum(1 for _ in tree({v}))", "GRID[1].__len__()"],
    "b": ["0 < {i} < 5", "{i} < {i} <= {i}", "{i} == {i} != {i}", "{i} in {l} in [{l}]", "1 <= ({i} if {b} else {i}) < 4", "not {b} or {b} and {b}", "any(k == {v} for k in {l})", "all(k for k in {p})", "{l} is not {l} == {l}", "{b} is {b} is True", "callable({P})", "{s} < {s} <= 'z'", "hasattr({P}, '__wrapped__')", "{i} < {r} < {i}"],
    "s": ["f'{{{.i}!r:>{{{.i}}}}}'", "f'{{{.r}:+.2e}} {{{.i}:#x}}'", "f'{{{.s}!r:^12}}|'", "f'{{{.i}=}}'", "f'{{{.l}}}' f'{{{.b}:>6}}'", "'{{0[0]}} {{1:>{{2}}}}'.format([{i}], {s}, 5)", "'%(a)s-%(b)05.1f' % {{'a': {v}, 'b': {r}}}", "'{{a.k}}'.format(a={o})", "f\"{{'x' * ({.i} % 3)}}\"", "f'{{{.r}:,.1f}}'", "format({i}, '08b')", "f'{{{.s}:.2}}{{{.s}:*<5}}'", "{P}.__name__", "ascii({s})", "str({i}).zfill(4)",
          "'-'.join(f'{{k}}' for k in {l}[:3])", "HOST.zed"],
    "l": ["[*{l}[:2], *{p}[:2], {i}]", "[[j * k for j in range(2)] for k in range({i} % 3)]", "{l}[::{i} % 3 + 1]", "{l}[-1:0:-1]", "sorted({l}[:0] + [{i}, {i}], key=lambda k: -k)", "[k for k, *_ in [{p}, {p}] if {b}]", "list(tree({v}))", "run(co({v}, {i}), {v})", "run(collect({i} % 4))", "[f_() for f_ in [lambda: k_ for k_ in range(2)]]", "early({l})", "[c_ for c_ in zip({l}, {l})]",
          "double({v})", "[a_ if {b} else b_ for a_, b_ in zip({l}, {p})]", "[(lambda: k)() for k in {l}[:2]]", "Host.names", "HOST.p", "[k for k in range(3) if k if k - 2]", "GRID[{i} % 2]"],
    "p": ["spread({v}, {v}, {v}, {v}, d={v})", "spread({v}, d={v}, **{d})", "spread(*{l}, d={v}, z={v})", "spread(*{l}, *{p}, **{{'d': {v}}})", "(*{l}[:2], *{p})", "only(a={v})", "only(**{{'a': {v}, 'b': {v}}})", "nested({v})", "counted({v}, k={v})", "swallow({p})", "({v}, *{p}[:1], {v})", "rows(*{l}, **{d})", "HOST.m({p})", "early({p})", "(GET(), {v})"],
    "d": ["{{**{d}, **{{'a': {v}}}}}", "{{k: v for k, v in {d}.items() if v}}", "{{(k, j): k for k in range(2) for j in range(k)}}", "spread({v}, d=1, **{d})[-1]", "dict(**{d})", "{{k: (lambda: k)() for k in {s}[:2]}}", "{{f'{{k}}': k for k in {l}[:3]}}", "vars(HOST)", "{{'a': {v}}} | {d}", "(lambda **kw: kw)(**{d})"],
    "t": ["early({t})", "swallow({t})", "nested({t})[0]", "counted({t})[0]", "double({t})[-1]", "HOST.m({t})", "(lambda q_: q_ * 2)({t})", "spread({t}, d={t})[4]", "next(tree({t}, 1))", "next(echo({t}))[0]", "sum(tree({t}, 2))", "cell({t})[0]({t})", "run(co({t}, 1), {t})[0]", "functools.reduce(lambda a_, b_: a_ + b_, [{t}, {t}])", "({t} if {b} else {t}) * ({i} if {b} else {r})", "[{t}, {t}][{b}]",
          "torch.stack([k_ * 2 for k_ in {t}])", "spread(*{t}.unbind()[:3], d={t})[0]", "[q_ for q_ in [{t}]][0]"],
    "q": ["tree({v})", "tree({i}, 3)", "(k for k in {l} if k)", "echo({v})", "(y_ for x_ in GRID for y_ in x_)", "chain({v})", "GENS[1]", "iter(lambda: GRID[0].pop(), 1)", "iter({P}, {v})"],
}, ["LOG.append({P}({v}))", "out.append({P}({v}))", "{=P} = {P}", "out.append({P})", "a_, (b_, *c_), d_ = {v}, {l} or [1], {v}\nout.append((a_, b_, c_, d_))", "*a_, b_ = {l} or [1]\nLOG.append((a_, b_))", "(a_, b_), c_ = {p}[:2] if {b} else (1, 2), {v}\nout.append((a_, b_, c_))", "for a_, *b_ in [{p}, {p}]: LOG.append((a_, b_))", "for GRID[0][0] in range(2): LOG.append(GRID[0])", "for {o}.k in range({i} % 3): LOG.append({o}.k)",
    "for {d}['it'], u_ in enumerate({l}[:2]): LOG.append(u_)", "GRID[0][{i} % 2] += {n}", "a_ = GRID\na_[0] += [{v}]\nout.append(GRID)", "a_ = GRID[1]\na_ *= 2\nLOG.append(GRID)", "{o}.l += [{v}]", "{o}.l[0] += 1", "{o}.w *= 2", "{l}[1:2] = [{v}, {v}]", "{l}[::2] = {l}[::-2]", "del {l}[::2]", "{l}[{i}:] = ()", "{l}[:0] = {p}", "{l}[slice(1)] += [{v}]", "a_ = b_ = {l}\na_ += [{v}]\nout.append((a_ is b_, b_))", "a_ = b_ = {t}\na_ *= 2\nout.append((a_ is b_, b_))",
    "a_ = b_ = {p}\na_ += (1,)\nout.append((a_ is b_, b_))", "if (w_ := len({l})) > {i}: LOG.append(w_)", "while (w_ := {i}) < 0 and len(LOG) < 40: LOG.append(w_); break", "LOG.append([w_ for k in {l} if (w_ := k) is not None][:3])", "LOG.append((q_ := {i}) + q_)", "{=t} = (q_ := {t}) + q_", "LOG.append((q_ := {v}) is q_)", "if 0 < {i} < 4: {=t} = {t} + 1\nelif {i} == {i} < 9: {=t} = {t} * 2", "assert (w_ := {v}) or True, w_\nout.append(w_)", "def p_(a, *b, c=1): return a, b, c\nout.append(p_(*{l}, c={v}))", "def p_(a, /, **k): return a, k\nLOG.append(p_({v}, a={v}))",
    "@times(2)\ndef p_(a=1): return a\nLOG.append(p_({v}))\nout.append(p_)", "@Deco\ndef p_(a, b=2): return a, b\nLOG.append(p_({v}))\njedlik.graph_break()\nout.append((p_(1), p_.n))", "a_, b_, c_ = cell({i})\na_({i})\nout.append((b_(), a_, b_))\njedlik.graph_break()\nLOG.append(a_(2))", "a_, b_, c_ = cell({t})\na_({t})\nout.append(b_())", "a_, b_, c_ = cell(1)\nc_()\nLOG.append(b_())", "k_ = {i}\ndef p_():\n    nonlocal k_\n    k_ += 1\n    def q_():\n        nonlocal k_\n        k_ *= 2\n        return k_\n    return q_\nLOG.append((p_()(), k_))",
    "k_ = {t}\ndef p_(u):\n    nonlocal k_\n    k_ = k_ + u\n    return k_\np_({t})\nout.append((k_, p_(1)))", "class C_:\n    a = {i}\n    b = [k for k in range(a % 3)]\n    def f(self): return self.a, C_.b, __class__.a\nout.append(C_().f())", "class C_(Host):\n    z = {v}\n    def __init__(self, u=z): self.u = u\nLOG.append((C_().u, C_().p))\nout.append(C_())", "class C_:\n    def __set_name__(self, o, n): LOG.append(n)\nclass D_: d = C_()\nLOG.append(D_.__name__)", "class C_:\n    __slots__ = ('a', 'b')\nc_ = C_()\nc_.a = {t}\nout.append(c_.a)\nLOG.append(hasattr(c_, 'b'))",
    "g_ = echo({v})\nLOG.append(next(g_))\nLOG.append(g_.send({v}))\nLOG.append(g_.throw(KeyError({i})))\ng_.close()", "g_ = echo({t})\nnext(g_)\n{=t} = g_.send({t})[0]\nout.append(g_)", "g_ = chain({v})\nnext(g_)\njedlik.graph_break()\nLOG.append(g_.send(None))\nout.append(list(g_))", "g_ = echo({v})\nnext(g_)\ng_.throw(ValueError({i}))", "LOG.append(GENS[0].send({v}))", "LOG.append(GENS[0].throw(KeyError({s})))", "LOG.append(next(GENS[1], None))", "GENS[0].close()", "GENS[0] = echo({v})\nnext(GENS[0])", "for u_ in tree({v}): LOG.append(u_)\nelse: LOG.append('end')",
    "for u_ in tree({v}):\n    if u_ is not None: break\nLOG.append('broke')", "LOG.append(run(co({v}, {v}), {v}))", "LOG.append(run(collect({i} % 5)))", "c_ = part({v})\nLOG.append(c_.send(None))\njedlik.graph_break()\ntry: c_.send({v})\nexcept StopIteration as z: out.append(z.value)", "try:\n    {=t} = {t} + 1\n    raise E0({i})\nexcept E0: LOG.append('e0')\nelse: LOG.append('else')\nfinally: {=t} = {t} * 2", "try: raise ExceptionGroup('g', [ValueError({i}), KeyError({s})])\nexcept* ValueError as z: LOG.append(len(z.exceptions))\nexcept* KeyError as z: LOG.append(str(z.exceptions[0]))",
    "for u_ in range(3):\n    try:\n        if u_ == {i} % 3: continue\n        if u_ > {i} % 4: break\n        {=t} = {t} + u_\n    finally:\n        LOG.append(u_)\nelse: LOG.append('else')", "while True:\n    try:\n        jedlik.graph_break()\n        break\n    finally:\n        LOG.append('brk')", "with Ctx({i}) as u_, contextlib.suppress(E0):\n    raise E0(u_)", "try:\n    with Ctx({i}): raise ValueError({s})\nexcept ValueError as z: LOG.append(str(z))\nLOG.append('z' in locals())", "try: raise E0(1) from ValueError(2)\nexcept E0 as z: LOG.append((str(z.__cause__), z.__suppress_context__, z.__traceback__ is None))",
    "match {v}:\n    case [int(a_), *_] | (a_, _): LOG.append(a_)\n    case {{'a': a_, **r_}}: LOG.append((a_, r_))\n    case str() as a_ if len(a_) > 1: LOG.append(a_)\n    case float(a_) | int(a_): LOG.append(a_)\n    case Pair(a=a_, b=_): LOG.append(a_)\n    case None | True: LOG.append('none')\n    case _: LOG.append('else')", "match {l}, {i}:\n    case [], _: LOG.append('empty')\n    case [a_], b_: LOG.append((a_, b_))\n    case [_, a_, *b_], (1 | 2 | 3) as c_: LOG.append((a_, b_, c_))\n    case [*_, [*a_]], _: out.append(a_)\n    case a_: out.append(a_)",
    "match {d}:\n    case {{'a': int(a_) | [a_], **r_}}: out.append((a_, r_))\n    case {{'z': a_}} if a_: LOG.append(a_)\n    case {{}}: LOG.append('dict')", "match {t}:\n    case torch.Tensor(shape=(a_,)): LOG.append(a_)\n    case torch.Tensor(shape=(a_, b_)): LOG.append((a_, b_))\n    case torch.Tensor(): LOG.append('tensor')", "k_ = {v}\nmatch {v}:\n    case HOST.total: LOG.append('total')\n    case int(real=k_): LOG.append(k_)\n    case object(__class__=k_): LOG.append(k_.__name__)", "del HOST.p", "HOST.p = {v}", "HOST.p.append({v})", "LOG.append(HOST.abc)", "HOST.n = {v}", "LOG.append(HOST.m({v}))",
    "out.append(HOST.n({v}))", "LOG.append((counted({v}), counted.n))", "exec('w_ = 1 + 2')", "LOG.append(eval('G + 1'))", "del out[:1]", "k_ = {v}\ndel k_\nLOG.append(k_)", "k_ = 1\nf_ = lambda: k_\ndel k_\nLOG.append(f_())", "x_ = [lambda u=u: u for u in range(3)]\nLOG.append([u() for u in x_])", "import itertools as i_, os.path\nLOG.append((i_.count.__name__, os.path.basename('a/b')))", "from math import pi as p_, floor\nLOG.append(floor(p_))", "LOG.append(spread(*{l}[:2], **{d}, d={v}))", "print(*{l}, sep='|', end='')", "LOG.append(sorted(locals())[:3])", "lambda_ = lambda x, /, y=1, *z, w, **k: (x, y, z, w, k)\nLOG.append(lambda_({v}, w={v}))",
    "if not isinstance({v}, (int, str)) and {b} or {i}: {=t} = -{t}", "LOG.append(G)", "GRID[:] = GRID[::-1]", "GRID.append([{v}])", "{l}[{i}], {l}[0] = {v}, {v}", "{=i}, {l}[0] = {i}, {i}", "i_ = 0\ni_, {l}[i_] = 1, {v}", "{o}.k, {o}.r = {i}, {o}.k", "q_: int = {i}\nLOG.append(q_)", "LOG.append(__name__)", "out.append({t} if {t}.sum() > 0 else None)", "LOG.append([*map(lambda a_, b_: (a_, b_), {l}, {p})])", "LOG.append({P}())", "LOG.append({P}(*{l}, **{d}))", "LOG.append(override({v}))"],
    ["INC()", "DROP()", "INC.__closure__[0].cell_contents = {v}", "globals()['early'] = swallow", "spread.__kwdefaults__ = {{'e': {v}, 'd': 0}}", "spread.__defaults__ = ({v},)", "spread.__defaults__ = None", "early.__defaults__ = ({i} % 4,)", "early.__code__ = swallow.__code__", "counted.n = {v}", "counted.fn = override", "Host.m = lambda self, v: [v]", "HOST.m = len", "Host.total = {v}", "HOST.p = {v}", "Host.p = {v}", "del Host.__getattr__", "GENS[0].send({v})", "GENS[0] = echo({v})", "next(GENS[1], None)", "GRID[0] = GRID[1]", "GRID.pop()", "GRID[0].append({v})", "globals()['GRID'] = [[{v}]]", "e = {P}", "HOST.zed = {v}", "Host.zed = {v}",
     "globals()['tree'] = echo", "globals()['HOST'] = Host()", "double.__wrapped__.__code__ = (lambda v: [v]).__code__", "Wait.__await__ = lambda self: iter([1])", "globals()['cell'] = lambda n: (lambda *a: n, lambda: n, None)", "globals()['E0'] = KeyError", "globals()['sum'] = max", "globals()['range'] = lambda n: [0, 0]", "globals().pop('range', None)", "globals().pop('sum', None)"])

WORLD = Theme("W", '''
SCALE, MODE = 2, "add"
OPS = {"add": torch.add, "mul": torch.mul, "sub": lambda a, b: a - b}
SWITCH = [True, False, 1, 0]
CHAIN = [1, [2, [3, {"k": 4}]]]


def leaf(t, k=1, *, m=2):
    return t * k + m


def mid(t):
    return leaf(t) + SCALE


def pick(t, *more):
    return OPS[MODE](t, SCALE)


def ends(l):
    return (l[0], l[-1], len(l)) if l else None


def adder(k):
    def add(t):
        return t + k
    return add


class Conf:
    lr, depth, names, opts = 0.5, 2, ("a", "b"), {"a": 1}
    on = True

    def rate(self, t):
        return t * self.lr if self.on else t

    @property
    def size(self):
        return len(self.names)

    @classmethod
    def deep(cls, t):
        return t * cls.depth


class Sub(Conf):
    lr = 0.25


class Node:
    def __init__(self, value, children=(), parent=None):
        self.value, self.children, self.parent = value, list(children), parent
        for c in self.children:
            c.parent = self

    def walk(self, t):
        for c in self.children:
            t = c.walk(t)
        return t + self.value

    def depth(self):
        n, k = 0, self
        while k is not None and n < 9:
            n, k = n + 1, k.parent
        return n


class Pack:
    __slots__ = "a", "b", "rest"

    def __init__(self, a, b=2):
        self.a, self.b = a, b


class Part(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w, self.n, self.fn = nn.Parameter(torch.ones(3) * n), n, torch.relu
        self.register_buffer("b", torch.zeros(3))

    def forward(self, t):
        return self.fn(t.reshape(-1)[:3] * self.w) + self.b * self.n


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Part(1), Part(2)])
        self.named = nn.ModuleDict({"a": Part(3)})
        self.skip, self.extra, self.plain = {1}, None, [Part(4)]

    def forward(self, t):
        for k, p in enumerate(self.parts):
            if k not in self.skip:
                t = p(t)
        if self.extra is not None:
            t = t + self.extra
        if self.training:
            t = t * 2
        return self.named["a"](t) if "a" in self.named else t


LEAF1, LEAF2 = Node(2), Node(3)
ROOT = Node(1, [LEAF1, Node(4, [LEAF2])])
CONF, SUBC = Conf(), Sub()
PACK = Pack(1)
ADD3 = adder(3)
BOUND = CONF.rate
WHOLE = Whole()
REG = {"leaf": leaf, "conf": CONF, "t": torch.ones(3), "l": SWITCH, 1: "one", None: 0}
NAMES = {"x": 1, "y": 2, "z": 3}
ORDER = collections.OrderedDict(x=1, y=2)
QUEUE = collections.deque([1, 2, 3], 5)
FLAGS = {1, 2, "s"}
PTS = (Pair(1, 2), Pair(3, [4]))
''', ["CONF", "SUBC", "ROOT", "LEAF2", "PACK", "WHOLE", "REG['conf']", "ROOT.children[0]", "WHOLE.parts[0]", "PTS[0]", "PTS[1]", "Conf", "Sub"], [
    "Conf()", "Sub()", "Node({v}, [Node({i})])", "Pack({v})", "{W} if {b} else {W}", "unknown({W})", "REG[{s}]", "copy.copy({W})", "ROOT.children[{i}]", "{W}.parent", "[{W}, {W}][{i} % 2]", "WHOLE.named['a']", "LEAF2.parent.parent",
], {
    "i": ["{W}.depth", "{W}.value", "{W}.size", "{W}.a", "{W}.b", "SCALE", "NAMES['x']", "NAMES.get({s}, {i})", "len(SWITCH)", "CHAIN[1][1][0]", "CHAIN[1][1][1]['k']", "LEAF2.depth()", "CONF.opts['a']", "len(REG)", "PTS[0].a", "len(WHOLE.parts)", "WHOLE.parts[0].n", "QUEUE[0]", "len(FLAGS)", "sum(NAMES.values())", "ORDER['x']", "len({W}.children)", "len(ROOT.children[0].children)", "{W}.n"],
    "b": ["SWITCH[0]", "SWITCH[{i}]", "{W}.on", "{i} in FLAGS", "{s} in NAMES", "MODE == 'add'", "{W} is CONF", "{W}.parent is ROOT", "'leaf' in REG", "WHOLE.training", "hasattr({W}, 'lr')", "isinstance({W}, Conf)", "callable(REG.get('leaf'))", "'a' in WHOLE.named", "WHOLE.extra is None", "hasattr(PACK, 'rest')", "LEAF1 in ROOT.children", "{W} == {W}", "FLAG", "WHOLE.parts[0].w.requires_grad"],
    "r": ["{W}.lr", "CONF.lr * 2", "Sub.lr", "RATE"], "s": ["MODE", "','.join(NAMES)", "'/'.join(ORDER)", "{W}.names[0]", "list(NAMES)[0]", "type({W}).__name__", "leaf.__name__", "','.join(sorted(vars({W})))", "str(ends(SWITCH))"],
    "l": ["SWITCH", "CHAIN", "{W}.children", "list(NAMES)", "list(NAMES.items())", "list(ORDER.items())", "list(QUEUE)", "list(map(type, REG.values()))", "[k for k in NAMES if NAMES[k] > 1]", "[n for n, _ in WHOLE.named_parameters()]", "[p.n for p in WHOLE.parts]", "[p.a for p in PTS]", "sorted(vars({W}))", "[{W}, {W}]", "list(WHOLE.named)", "WHOLE.plain"],
    "p": ["{W}.names", "ends(SWITCH)", "ends({l})", "PTS", "PTS[1]", "tuple(NAMES.items())", "leaf.__defaults__", "(SCALE, MODE)", "tuple(WHOLE.skip)"], "d": ["NAMES", "REG", "ORDER", "CONF.opts", "vars({W})", "OPS", "leaf.__kwdefaults__", "WHOLE.named._modules", "dict(NAMES)"], "S": ["FLAGS", "set(NAMES)", "WHOLE.skip", "FLAGS - {S}"],
    "t": ["leaf({t})", "leaf({t}, {i})", "leaf({t}, m={n})", "mid({t})", "pick({t})", "ADD3({t})", "BOUND({t})", "{W}.rate({t})", "{W}.deep({t})", "Conf.deep({t})", "{W}.walk({t})", "ROOT.walk({t})", "WHOLE({t})", "WHOLE.parts[0]({t})", "WHOLE.parts[{i}]({t})", "WHOLE.plain[0]({t})", "REG['leaf']({t})", "REG['t'] + 1", "{t} * SCALE", "OPS[MODE]({t}, {t})", "OPS[{s}]({t}, {t})", "{t} * {W}.lr", "{t} + len(NAMES)", "WHOLE.parts[0].w * {n}", "WHOLE.parts[1].b + 1",
          "{t} * (2 if SWITCH[1] else 3)", "sum([{t} * v for v in NAMES.values()])", "adder(SCALE)({t})", "{t} * PACK.a", "functools.reduce(lambda a_, f_: f_(a_), [leaf, mid], {t})", "torch.zeros(SCALE) + 1", "torch.full((2,), {r})", "torch.tensor(CHAIN[0]) * {t}", "torch.ones(3) / 3"], "o": ["CONF", "REG['conf']", "PACK"],
}, ["{=W} = {W}", "out.append({W})", "LOG.append((SCALE, MODE))", "LOG.append(ends(SWITCH))", "out.append(pick({t}))", "out.append(mid({t}))", "{W}.lr = {r}", "{W}.on = {b}", "{W}.value = {v}", "{W}.children.append(Node({i}))", "CONF.opts['a'] = {v}", "NAMES[{s}] = {v}", "NAMES.pop('x', None)", "SWITCH[0] = {b}", "SWITCH.append({v})", "REG['t'] = {t}", "REG['t'] += 1", "REG['leaf'] = mid", "PACK.rest = {v}", "LOG.append(PACK.rest)", "del PACK.rest", "WHOLE.extra = {t}", "WHOLE.skip.add({i} % 3)", "WHOLE.skip.discard(1)", "out.append(WHOLE({t}))", "WHOLE.parts[0].w.data.mul_(2)",
    "WHOLE.parts[0].b += 1", "WHOLE.parts[0].b = {t}", "for k_, v_ in NAMES.items(): LOG.append((k_, v_))", "for k_ in SWITCH[:3]: LOG.append(k_)", "for u_ in WHOLE.parts: LOG.append(u_.n)", "for u_ in ROOT.children: {=t} = u_.walk({t})", "LOG.append([k_ for k_ in REG])", "QUEUE.append({v})", "QUEUE.popleft()", "QUEUE.rotate(1)", "LOG.append(list(QUEUE))", "if SWITCH[0]: {=t} = {t} * 2\nelse: {=t} = {t} - 1", "if CONF.on: {=t} = CONF.rate({t})", "LOG.append({W}.lr)", "LOG.append({W}.a)", "globals()['SCALE'] = {v}", "globals()['MODE'] = {s}", "leaf.calls = getattr(leaf, 'calls', 0) + 1", "LOG.append(getattr(leaf, 'calls', None))", "CHAIN[1][1][0] = {v}",
    "CHAIN[1][1][1]['k'] = {v}", "CHAIN[0] = CHAIN[1]", "out.append(CHAIN)", "ORDER.move_to_end('x')", "ORDER[{s}] = {v}", "LOG.append(list(ORDER))", "FLAGS.add({i})", "FLAGS.discard(1)", "LOG.append(sorted(map(str, FLAGS)))", "LOG.append(REG.keys() & NAMES.keys())", "a_ = CONF.opts\na_['b'] = {v}\nout.append(a_ is Conf.opts)", "LOG.append(NAMES == ORDER)", "LOG.append(len({W}.names))", "with torch.set_grad_enabled(SWITCH[0]): {=t} = WHOLE({t})", "out.append([f_({t}) for f_ in (leaf, mid, pick)])", "LOG.append({W}.size)", "LOG.append(LEAF2.depth())", "{=t} = {t} + sum(SWITCH[:2])", "LOG.append(sum(len(str(k_)) for k_ in REG))"],
    ["globals()['SCALE'] = {v}", "globals()['SCALE'] = 3", "globals()['SCALE'] = 2.5", "globals()['SCALE'] = torch.ones(3)", "globals()['SCALE'] = True", "del globals()['SCALE']", "globals()['MODE'] = 'mul'", "globals()['MODE'] = 'sub'", "globals()['MODE'] = None", "globals()['leaf'] = lambda t, k=1, m=2: t - k", "globals()['len'] = lambda l: 99", "globals().pop('len', None)", "globals()['torch_'] = torch", "leaf.__defaults__ = ({v},)", "leaf.__kwdefaults__ = {{'m': 7}}", "leaf.__kwdefaults__['m'] = {v}", "leaf.__code__ = (lambda t, k=1, *, m=2: t - k).__code__", "leaf.calls = {v}", "OPS['add'] = torch.sub", "del OPS['add']", "OPS['add'] = OPS['sub']", "OPS[MODE] = leaf",
     "ADD3.__closure__[0].cell_contents = {v}", "ADD3.__closure__[0].cell_contents = torch.ones(3)", "globals()['ADD3'] = adder(4)", "Conf.lr = {v}", "Conf.lr = 2", "Sub.lr = 3", "del Sub.lr", "CONF.lr = 4", "CONF.lr = {v}", "del CONF.lr", "SUBC.__class__ = Conf", "Conf.on = False", "Conf.on = 0", "CONF.on = None", "Conf.names = ()", "Conf.names = ['a', 'b']", "Conf.opts = dict(Conf.opts)", "Conf.opts['a'] = {v}", "Conf.size = 5", "Conf.size = property(lambda self: self.depth)", "Conf.rate = lambda self, t: t", "CONF.rate = lambda t: t * 3", "CONF.rate = torch.neg", "Conf.__getattr__ = lambda self, n: 8", "Conf.__len__ = lambda self: 0", "Conf.depth = property(lambda self: 3)",
     "globals()['BOUND'] = SUBC.rate", "globals()['CONF'] = SUBC", "globals()['CONF'] = Conf()", "ROOT.children.pop()", "ROOT.children.append(LEAF2)", "ROOT.children.reverse()", "ROOT.children[0] = LEAF2", "ROOT.children = tuple(ROOT.children)", "LEAF2.parent = ROOT", "LEAF2.parent = None", "ROOT.parent = ROOT", "LEAF1.value = {v}", "LEAF1.value = 2.0", "LEAF1.value = torch.ones(3)", "LEAF1.children.append(Node(5))", "del LEAF1.value", "Node.value = 6", "PACK.a = {v}", "PACK.rest = 1", "del PACK.b", "Pack.a = {v}", "SWITCH.pop()", "SWITCH.clear()", "SWITCH[0] = 1", "SWITCH[0] = 1.0", "SWITCH[0] = None", "SWITCH[1] = True", "SWITCH.insert(0, False)", "SWITCH[:] = [0]", "REG['l'] = []",
     "CHAIN[1] = [5, [6, {{'k': 7}}]]", "CHAIN[1][1][1] = {{'k': 4}}", "CHAIN[1][1][1]['k'] = 5", "del CHAIN[1][1][1]['k']", "CHAIN[1][1].reverse()", "CHAIN.append(CHAIN)", "NAMES['w'] = 4", "del NAMES['x']", "NAMES['x'] = NAMES.pop('x')", "NAMES['x'] = 1.0", "NAMES['x'] = True", "NAMES.update(y={v})", "NAMES.clear()", "globals()['NAMES'] = dict(reversed(NAMES.items()))", "globals()['NAMES'] = collections.OrderedDict(NAMES)", "ORDER.move_to_end('x')", "ORDER['x'] = {v}", "QUEUE.append(4)", "QUEUE.rotate(1)", "globals()['QUEUE'] = collections.deque([1, 2, 3], 3)", "FLAGS.add({i})", "FLAGS.discard(1)", "globals()['FLAGS'] = frozenset(FLAGS)", "globals()['PTS'] = PTS[::-1]", "globals()['PTS'] = (Pair(1, 2), Pair(3, PTS[1].b))",
     "PTS[1].b.append(5)", "REG['leaf'] = mid", "REG['conf'] = SUBC", "REG['t'] = REG['t'].double()", "REG['t'].requires_grad_()", "REG['t'] = x", "REG['t'] = REG['t'][:1]", "REG[True] = 'yes'", "REG.pop(None, 0)", "WHOLE.parts.append(Part(5))", "WHOLE.parts[0] = Part(6)", "WHOLE.parts = WHOLE.parts[:1]", "WHOLE.parts[0].n = {v}", "WHOLE.parts[0].n = 1.0", "WHOLE.parts[0].fn = torch.tanh", "WHOLE.parts[0].fn = leaf", "WHOLE.parts[0].w.requires_grad_(False)", "WHOLE.parts[0].w = nn.Parameter(torch.zeros(3))", "WHOLE.parts[1].w = WHOLE.parts[0].w", "WHOLE.parts[0].b = torch.ones(1)", "WHOLE.parts[0].b = None", "WHOLE.parts[1].b = WHOLE.parts[0].b", "WHOLE.named.pop('a', None)", "WHOLE.named['a'] = WHOLE.parts[0]",
     "WHOLE.skip.clear()", "WHOLE.skip = ()", "WHOLE.extra = torch.ones(3)", "WHOLE.extra = {v}", "WHOLE.eval()", "WHOLE.train()", "WHOLE.parts[0].eval()", "WHOLE.double()", "WHOLE.plain[0].n = 9", "WHOLE.forward = lambda t: t", "Part.forward = lambda self, t: t * self.n", "WHOLE.parts[0].register_forward_hook(lambda m, a, r: r * 2)", "Whole.__call__ = lambda self, t: t", "e = {W}", "e.lr = {v}", "e.value = {v}", "o = CONF", "o = {W}", "l = SWITCH", "l = ROOT.children", "d = NAMES", "d = REG", "d = CONF.opts", "l = CHAIN[1]", "s = MODE", "n = SCALE", "x = REG['t']", "y = WHOLE.parts[0].w", "y = WHOLE.parts[0].b", "A0.l = SWITCH", "A0.d = NAMES", "globals()['Conf'] = Sub", "globals()['F'] = nn", "globals()['torch'] = torch",
     "pass", "globals()['isinstance'] = lambda a, b: False", "globals().pop('isinstance', None)", "globals()['callable'] = bool", "globals()['hasattr'] = lambda o, n: True", "globals()['sum'] = lambda l: 0", "globals().pop('sum', None)"])

MEMORY = Theme("Y", '''
ROOT_T = torch.arange(8.0)
LOW, HIGH, MIDDLE = ROOT_T[:4], ROOT_T[4:], ROOT_T[2:6]
EVEN, COLS = ROOT_T[::2], ROOT_T.view(2, 4).t()
WIDE = torch.ones(1, 3).expand(2, 3)
SCALAR = torch.tensor(2.0)
NUM_I, NUM_B, NUM_D = torch.tensor([1, 2, 3]), torch.tensor([True, False, True]), torch.ones(3, dtype=torch.float64)
EMPTY_T = torch.zeros(0)
LEAF_T = torch.ones(3, requires_grad=True)
NONLEAF = LEAF_T * 2
DET = NONLEAF.detach()
PRM = nn.Parameter(torch.tensor([1.0, -1.0, 2.0]))
OPT = torch.optim.SGD([PRM], lr=0.1, momentum=0.9)
BANK = [torch.ones(3), torch.zeros(3), LOW]
CACHE = {"k": torch.zeros(4), "n": 0}
OUTS = torch.zeros(3)
SEEN = []


class Own(torch.Tensor):
    pass


class Stat(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("steps", torch.tensor(0))
        self.last, self.hist = None, []

    def forward(self, t):
        t = t.reshape(-1)[:3].float()
        self.mean.mul_(0.9).add_(t.detach(), alpha=0.1)
        self.steps += 1
        self.last = t
        self.hist.append(t.detach().sum())
        return t - self.mean


def bump(t, k=1):
    t += k
    return t


def fill(ts):
    for t in ts:
        t.zero_()
    return ts


def swap(a, b):
    a.data, b.data = b.data, a.data


def update(t, g):
    with torch.no_grad():
        t.sub_(g, alpha=0.5)


def keep(t):
    CACHE["k"][: t.numel()] = t.reshape(-1)[:4].detach()
    CACHE["n"] += 1
    return CACHE["k"][:2]


@torch.no_grad()
def quiet(t):
    return t * PRM


@torch.enable_grad()
def loud(t):
    return (t * PRM).requires_grad


STAT = Stat()
SUBT = torch.ones(3).as_subclass(Own)
''', ["ROOT_T", "LOW", "HIGH", "MIDDLE", "EVEN", "COLS", "WIDE", "SCALAR", "NUM_I", "NUM_B", "NUM_D", "EMPTY_T", "LEAF_T", "NONLEAF", "DET", "PRM", "BANK[0]", "BANK[2]", "CACHE['k']", "STAT.mean", "STAT.steps", "OUTS", "x", "y", "SUBT"], [
    "{Y}[{i}]", "{Y}[1:]", "{Y}[::2]", "{Y}[..., 0]", "{Y}[:, None]", "{Y}.view(-1)", "{Y}.reshape(-1)", "{Y}.t()", "{Y}.T", "{Y}.squeeze()", "{Y}.unsqueeze(0)", "{Y}.expand(2, -1)", "{Y}.detach()", "{Y}.data", "{Y}.clone()", "{Y}.contiguous()", "{Y}.flatten()", "{Y}.narrow(0, 0, 1)", "{Y}.unfold(0, 2, 1)", "{Y}.as_strided((2,), (1,))", "{Y}.diagonal()", "{Y}.select(0, {i})", "{Y}.unbind()[0]", "{Y}.chunk(2)[-1]", "{Y}.split(2)[0]", "{Y}.movedim(0, -1)", "{Y}.view_as({Y})",
    "{Y}.view(torch.int32)", "{Y}.real", "{Y}.to({Y}.dtype)", "{Y}.to(torch.float64)", "{Y}.float()", "{Y}.long()", "{Y}.type_as({Y})", "{Y}.requires_grad_()", "{Y}.detach().requires_grad_()", "{Y} + {Y}", "{Y} * {n}", "{Y} + SCALAR", "{Y} / 2", "{Y} > 0", "-{Y}", "bump({Y})", "bump({Y}.clone())", "keep({Y})", "quiet({Y})", "STAT({Y})", "torch.empty_like({Y}).copy_({Y})", "{Y}.new_tensor([1.0, 2.0])", "{Y}.grad", "{Y}._base", "LEAF_T.grad", "PRM.grad", "torch.add({Y}, 1, out=OUTS)", "torch.cat([{Y}.reshape(-1), {Y}.reshape(-1)])",
    "torch.stack(BANK[:2])", "torch.where({Y} > 0, {Y}, SCALAR)", "{Y}.masked_fill({Y} > 1, 0)", "{Y}[{Y} > 0]", "{Y}[NUM_I % 3]", "{Y}.sum()", "{Y}.sum(0)", "{Y}.cumsum(0)", "{Y}.relu_()", "{Y}.add_(1)", "{Y}.mul_(SCALAR)", "{Y}.clamp_(0, 2)", "{Y}.t_()", "{Y}.unsqueeze_(0)", "{Y}.squeeze_()", "unknown({Y})", "{Y} if {b} else {Y}", "[{Y}, {Y}][{i} % 2]", "F.relu({Y}, inplace=True)", "F.dropout({Y}, 0.5, False)", "torch.func.grad(lambda t: (t * t).sum())({Y})", "torch.func.vmap(lambda t: t * 2)({Y})", "torch.utils.checkpoint.checkpoint(torch.sin, {Y}, use_reentrant=False)",
    "{Y}.as_subclass(torch.Tensor)", "{Y}.as_subclass(Own)", "nn.Parameter({Y})", "torch.zeros({Y}.shape)", "torch.rand_like({Y})", "{Y}.uniform_()", "torch.autograd.grad({Y}.sum(), LEAF_T, allow_unused=True)[0]", "BANK[{i}]", "CACHE['k']", "swap({Y}, {Y}) or {Y}", "update({Y}, {Y}) or {Y}", "fill([{Y}])[0]", "{Y}.set_({Y})", 
], {
    "t": ["{Y}", "{Y}", "{Y}", "{Y} * 2", "{t} + {Y}"], "i": ["{Y}.shape[0]", "{Y}.dim()", "{Y}.numel()", "{Y}._version", "{Y}.storage_offset()", "{Y}.stride(0)", "{Y}.untyped_storage().nbytes()", "CACHE['n']", "len(BANK)", "int({Y}.sum())", "{Y}.argmax().item()", "len(STAT.hist)", "STAT.steps.item()"], "r": ["{Y}.sum().item()", "SCALAR.item()", "float({Y}.max())", "OPT.param_groups[0]['lr']"],
    "b": ["{Y}.requires_grad", "{Y}.is_leaf", "{Y} is {Y}", "{Y}.data_ptr() == {Y}.data_ptr()", "{Y}._base is {Y}", "{Y}._base is None", "{Y}.is_contiguous()", "{Y}._is_view()", "{Y}.grad is None", "{Y}.grad_fn is None", "bool({Y}.any())", "({Y} > 0).all().item()", "{Y}.dtype == {Y}.dtype", "{Y}.shape == {Y}.shape", "torch.equal({Y}, {Y})", "loud({Y})", "type({Y}) is Own", "isinstance({Y}, nn.Parameter)", "torch.is_grad_enabled()", "{Y}.is_inference()", "{Y}.sum() > {n}", "torch.allclose({Y}, {Y})", "STAT.last is None", "{Y}.is_set_to({Y})", "{Y} in BANK"],
    "s": ["str({Y}.dtype)", "type({Y}.grad_fn).__name__", "str(tuple({Y}.shape))", "type({Y}).__name__", "repr({Y}.size())"], "l": ["BANK", "{Y}.tolist()", "[{Y}, {Y}]", "list({Y})", "list({Y}.shape)", "STAT.hist", "fill([{Y}, {Y}])", "[t_.requires_grad for t_ in BANK]", "SEEN", "torch._foreach_add(BANK[:2], 1)", "[bump(t_) for t_ in BANK]"], "p": ["{Y}.shape", "{Y}.stride()", "{Y}.unbind()", "({Y}, {Y})", "{Y}.split(1)", "{Y}.max(0)", "tuple(BANK)", "torch.autograd.grad(NONLEAF.sum(), [LEAF_T], retain_graph=True)"],
    "d": ["CACHE", "{{'t': {Y}}}", "{{k_: v_ for k_, v_ in CACHE.items()}}", "STAT._buffers", "STAT.state_dict()", "{{{Y}: {v}}}", "OPT.state[PRM]"],
}, ["{=Y} = {Y}", "{=Y} = {Y}", "out.append({Y})", "out.append({Y})", "{=Y} += {n}", "{=Y} *= {Y}", "{=Y} -= {Y}", "{=Y} /= 2", "{=Y} //= 2", "{=Y} **= 2", "{Y}.add_({n})", "{Y}.mul_({Y})", "{Y}.sub_({Y}, alpha=2)", "{Y}.copy_({Y})", "{Y}.zero_()", "{Y}.fill_({n})", "{Y}[{i}] = {n}", "{Y}[{i}] += {n}", "{Y}[1:] = {Y}[:-1]", "{Y}[:-1] = {Y}[1:]", "{Y}[::2] *= 2", "{Y}[{Y} > 0] = {n}", "{Y}[NUM_B] = 0", "{Y}[NUM_I % 2] += 1", "{Y}[None, ..., 0] = {n}", "{Y}[..., :1] = {Y}[..., -1:]", "{Y}.view(-1)[0] = {n}", "{Y}.t().mul_(2)", "{Y}.flatten()[0] = 9", "{Y}.expand(2, -1).add_(1)", "{Y}.detach().zero_()", "{Y}.data.add_(1)", "{Y}.data = {Y}", "{Y}.data = {Y}.data.clone()",
    "{Y}.grad = {Y}", "{Y}.grad = None", "{Y}.requires_grad = {b}", "{Y}.requires_grad_({b})", "{Y}.detach_()", "{Y}.retain_grad()", "{Y}.sum().backward()", "({Y} * LEAF_T).sum().backward()", "({Y} * PRM).sum().backward(retain_graph=True)", "LEAF_T.grad.zero_()", "LEAF_T.grad = None", "OPT.step()", "OPT.zero_grad()", "OPT.zero_grad(set_to_none=False)", "PRM.grad = torch.ones(3)\nOPT.step()\nout.append(PRM)", "with torch.no_grad(): {Y}.add_(1)", "with torch.no_grad(): {=Y} = {Y} * 2", "with torch.no_grad():\n    PRM -= 0.1 * {Y}\nLOG.append(PRM._version)", "with torch.inference_mode(): {=Y} = {Y} + 1", "with torch.enable_grad(): {=Y} = {Y} * PRM", "with torch.autocast('cpu', dtype=torch.bfloat16): out.append(COLS @ COLS.t())",
    "v_ = {Y}[1:]\nv_.add_(1)\nout.append((v_, {Y}))", "v_ = {Y}.view(-1)\n{Y}.mul_(2)\nout.append((v_, v_._version, v_._base is None))", "a_ = {Y}\nb_ = a_\nb_ += 1\nout.append((a_ is b_, a_))", "a_ = {Y}\nb_ = a_ + 0\na_.zero_()\nout.append(b_)", "a_ = {Y}.clone()\nb_ = a_[0:1]\na_[0] = 5\nout.append((a_, b_))", "a_ = {Y}.clone()\nb_ = a_.detach()\nb_.mul_(2)\nout.append((a_, a_._version))", "LOW.add_(1)\nout.append((ROOT_T, MIDDLE.sum().item()))", "ROOT_T.mul_(2)\nLOG.append(LOW.tolist())", "LOW.copy_(HIGH)\nout.append(ROOT_T)", "LOW[:2], LOW[2:] = {n}, {n}", "COLS.add_(LOW.view(4, 1))\nout.append(ROOT_T)", "EVEN.neg_()\nout.append(LOW)", "torch.add({Y}, {Y}, out={Y})", "torch.add({Y}, 1, out=OUTS)\nout.append(OUTS)", "torch.mul({Y}, 2, out=LOW)", "torch.sum({Y}, 0, out=SCALAR)", "torch.cat([{Y}, {Y}], out=OUTS)",
    "torch.sort({Y}, out=(OUTS, NUM_I))", "torch.max({Y}, 0, out=(SCALAR, NUM_I[0]))", "BANK.append({Y})", "BANK[0] = {Y}", "BANK[0] += 1", "BANK[{i}].add_(1)", "BANK[0], BANK[1] = BANK[1], BANK[0]", "for t_ in BANK: t_.add_(1)", "for k_, t_ in enumerate(BANK): BANK[k_] = t_ * 2", "for r_ in {Y}: r_.add_(1)", "torch._foreach_add_(BANK[:2], 1)", "fill(BANK)", "del BANK[0]", "BANK.insert(0, {Y})", "CACHE['k'] = {Y}", "CACHE['k'] += 1", "CACHE['k'][0] = {n}", "out.append(keep({Y}))", "out.append(bump({Y}, {n}))", "swap(BANK[0], BANK[1])\nout.append(BANK)", "swap({Y}, {Y})", "update(PRM, {Y})", "out.append(STAT({Y}))", "LOG.append(STAT.steps.item())", "out.append(STAT.last)", "STAT.mean = {Y}", "STAT.mean += 1", "STAT.steps = torch.tensor({i})", "STAT.register_buffer('new', {Y})",
    "STAT.hist.clear()", "h_ = LEAF_T.register_hook(lambda g: SEEN.append(g))\n(LEAF_T * 3).sum().backward()\nh_.remove()\nout.append(SEEN)", "h_ = {Y}.register_hook(lambda g: g * 2)\n({Y} * 2).sum().backward()\nh_.remove()", "SEEN.append({Y}.detach())", "SEEN.append({Y})", "{Y}.tag = {v}", "LOG.append(getattr({Y}, 'tag', None))", "{Y}.tag = {Y}", "LOG.append(({Y}.requires_grad, {Y}.is_leaf, {Y}._version))", "LOG.append(({Y}.shape, {Y}.stride(), {Y}.storage_offset()))", "LOG.append(({Y}.dtype, {Y}._is_view()))", "LOG.append(type({Y}.grad_fn).__name__)", "if {Y} is {Y}: {=Y} = {Y} + 1", "if {Y}.sum() > {n}: {Y}.zero_()", "if {Y}._base is not None: LOG.append('view')", "{Y}.set_({Y})", "{Y}.unsqueeze_(-1)", "{Y}.transpose_(0, -1)", "{Y}.squeeze_()",
    "{Y}.index_add_(0, NUM_I[:1] * 0, {Y}[:1])", "{Y}.scatter_(0, NUM_I[:1] * 0, 7.0)", "{Y}.index_copy_(0, NUM_I[:1] * 0, {Y}[-1:])", "{Y}.masked_fill_({Y} > 0, {n})", "{Y}.clamp_(min=0)", "{Y}.uniform_()", "{Y}.random_(0, 3)", "torch.nn.init.constant_(PRM, {n})", "torch.nn.utils.clip_grad_norm_([PRM], 0.5)", "out.append(torch.autograd.grad((LEAF_T * {Y}).sum(), LEAF_T)[0])", "g_, = torch.autograd.grad((LEAF_T ** 2).sum(), [LEAF_T], create_graph=True)\nout.append((g_, g_.requires_grad))", "jedlik.graph_break()\n{Y}.add_(1)", "v_ = {Y}[:1]\njedlik.graph_break()\nv_.add_(1)\nout.append({Y})", "v_ = {Y}.view(-1)\nunknown(v_).mul_(2)\nout.append((v_, {Y}))",
    "a_ = {Y}.clone()\na_.requires_grad_()\nb_ = a_ * 2\nb_.sum().backward()\nout.append(a_.grad)", "a_ = {Y}.detach().clone().requires_grad_()\nb_ = a_ * 1\nb_.add_(1)\nb_[0] = 3\nb_.sum().backward()\nout.append((a_.grad, b_))", "@torch.no_grad()\ndef p_(t): return t + PRM\nout.append(p_({Y}))", "torch.set_grad_enabled({b})\n{=Y} = {Y} * PRM", "q_ = torch.func.functional_call(STAT, {{'mean': {Y}}}, ({Y},))\nout.append(q_)", "out.append(torch.equal({Y}, {Y}))", "{Y}.__iadd__(1)", "LOG.append({Y}.numpy().sum())", "n_ = {Y}.numpy()\nn_ += 1\nout.append({Y})", "l_ = {Y}.tolist()\n{Y}.zero_()\nLOG.append(l_)", "k_ = {Y}.sum().item()\n{Y}.add_(k_)", "s_ = {Y}.shape\n{Y}.unsqueeze_(0)\nLOG.append((s_, {Y}.shape))"],
    ["ROOT_T.add_(1)", "LOW.zero_()", "globals()['LOW'] = ROOT_T[:3]", "globals()['LOW'] = LOW.clone()", "globals()['LOW'] = x", "globals()['MIDDLE'] = LOW", "globals()['MIDDLE'] = LOW[1:]", "LOW.data = torch.ones(4)", "LOW.data = HIGH", "LOW.squeeze_()", "ROOT_T.data = torch.ones(8)", "globals()['COLS'] = ROOT_T.view(4, 2)", "globals()['COLS'] = COLS.contiguous()", "globals()['WIDE'] = torch.ones(2, 3)", "globals()['SCALAR'] = torch.tensor(2)", "globals()['SCALAR'] = torch.ones(1)", "globals()['SCALAR'] = LOW[0]", "SCALAR.add_(1)", "globals()['NUM_I'] = NUM_I.int()", "NUM_I.add_(1)", "globals()['NUM_D'] = x", "globals()['EMPTY_T'] = torch.empty(0, 3)", "LEAF_T.requires_grad_(False)", "LEAF_T.grad = torch.ones(3)", "LEAF_T.grad = None", "LEAF_T.data.mul_(2)", "LEAF_T.data = LEAF_T.data.double()",
     "globals()['LEAF_T'] = LEAF_T.detach()", "globals()['NONLEAF'] = LEAF_T * 3", "globals()['DET'] = NONLEAF", "globals()['PRM'] = nn.Parameter(torch.ones(3))", "PRM.requires_grad_(False)", "PRM.data = PRM.data[:1]", "PRM.grad = None", "PRM.grad = torch.ones(3)", "PRM.register_hook(lambda g: g * 3)", "OPT.param_groups[0]['lr'] = {r}", "OPT.step()", "OPT.state.clear()", "BANK[0] = BANK[1]", "BANK[1] = LOW", "BANK[0] = ROOT_T[:3]", "BANK.pop()", "BANK.append(x)", "BANK[0] = BANK[0].double()", "BANK[0].requires_grad_()", "BANK[0] = SUBT", "BANK[0] = nn.Parameter(torch.ones(3))", "globals()['BANK'] = tuple(BANK)", "CACHE['k'] = torch.ones(2)", "CACHE['k'] = LOW", "CACHE['k'] = x", "CACHE['n'] = {v}", "del CACHE['k']", "globals()['OUTS'] = torch.zeros(2, 3)", "globals()['OUTS'] = LOW[:3]", "globals()['OUTS'] = x",
     "STAT.mean = torch.ones(3)", "STAT.mean = LOW[:3]", "STAT.mean = x", "STAT.mean = torch.ones(1, 3)", "STAT.double()", "STAT.steps = torch.tensor(1.0)", "del STAT.last", "STAT.last = x", "STAT.hist = ()", "bump.__defaults__ = (2.5,)", "bump.__defaults__ = (LOW[:1],)", "x = ROOT_T[:6].view(2, 3)", "x = ROOT_T[2:8].view(2, 3)", "x = LOW", "x = LOW[:3]", "x = BANK[0]", "x = y", "x = y.view(-1)", "y = x", "y = x[0]", "y = x.view(-1)[:3]", "y = x.t()", "x = x.t().contiguous()", "x = x.t()", "x = x.clone()", "x = x.detach()", "x.requires_grad_()", "x = x.detach().requires_grad_()", "x = x.double()", "x = x.long()", "x = x.bool()", "x = x[:0]", "x = x[None]", "x = x.expand(2, 2, 3)", "x = torch.ones(2, 6)[:, ::2]", "x = nn.Parameter(x.detach().float())", "x = x.detach().as_subclass(Own)", "x.add_(1)", "x.data = x.data.clone()",
     "x.data = y", "x.tag = {v}", "x.grad = torch.ones_like(x)", "x = torch.zeros(2, 3).fill_(2)", "with torch.inference_mode():\n    x = torch.ones(2, 3)", "y.requires_grad_()", "y = y.detach()", "y = LEAF_T", "y = PRM", "y = SCALAR", "y = STAT.mean", "e = {Y}", "e = x", "e = y", "e = x[0]", "e = LOW", "l = BANK", "l = [x, y]", "l = [x, x]", "d = CACHE", "d = {{'a': x}}", "A0.w = x", "A0.w = LOW", "o = STAT", "globals()['TEN'] = x", "globals()['TEN'] = LOW[:3]"])

MORE = [LANGUAGE, WORLD, MEMORY]
