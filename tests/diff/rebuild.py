"""Programs whose values and effects have to be made again after the graph: run() gives what a program left behind.

Each case is a function of fresh arguments; what it returns and what its arguments are afterwards is described by `shape`, which sees
types, order, aliases and cycles.
"""

import collections
import functools
import itertools
import types

import torch

CASES = []


def case(*make):
    def keep(f):
        CASES.append((f, lambda: [m() if callable(m) else m for m in make]))
        return f
    return keep


def shape(o, seen=None):
    """A description that is equal for values that cannot be told apart."""
    seen = {} if seen is None else seen
    t = type(o)
    if o is None or t in (int, float, bool, str, bytes, complex, slice, range) or isinstance(o, (type, types.ModuleType)):
        return (t.__name__, repr(o))
    if id(o) in seen:
        return ("seen", seen[id(o)][0])
    seen[id(o)] = (len(seen), o)
    go = functools.partial(shape, seen=seen)
    if isinstance(o, torch.Tensor):
        return ("tensor", t.__name__, o.dtype, o.tolist(), o.requires_grad, go(vars(o)), go(o.grad) if o.is_leaf else None)
    if isinstance(o, BaseException):
        return (t.__name__, go(o.args), go(vars(o)), go(o.__cause__), go(o.__context__), o.__suppress_context__)
    if isinstance(o, types.CellType):
        try:
            return ("cell", go(o.cell_contents))
        except ValueError:
            return ("cell",)
    if isinstance(o, types.FunctionType):
        return ("function", o.__code__.co_name, o.__name__, o.__qualname__, go(o.__defaults__), go(o.__kwdefaults__),
                go(o.__closure__), go(vars(o)))
    if isinstance(o, types.MethodType):
        return ("method", go(o.__func__), go(o.__self__))
    if isinstance(o, types.BuiltinFunctionType):
        return ("builtin", o.__name__, go(o.__self__))
    if isinstance(o, functools.partial):
        return ("partial", go(o.func), go(o.args), go(o.keywords))
    if isinstance(o, types.GeneratorType) or hasattr(o, "__next__"):
        return (t.__name__, [go(v) for v in itertools.islice(o, 20)])
    content = None
    if isinstance(o, dict):
        content = [(go(k), go(v)) for k, v in o.items()], go(getattr(o, "default_factory", None))
    elif isinstance(o, collections.deque):
        content = [go(v) for v in o], o.maxlen
    elif isinstance(o, (list, tuple, set, frozenset)):
        content = [go(v) for v in o]
    elif isinstance(o, (type({}.keys()), type({}.values()), type({}.items()))):
        content = [go(v) for v in o]
    elif isinstance(o, (int, float, str)):
        content = (int if isinstance(o, int) else str)(o)
    attrs = go(dict(vars(o))) if hasattr(o, "__dict__") else None
    slots = [(s, go(getattr(o, s))) for c in t.__mro__ for s in getattr(c, "__slots__", ()) if hasattr(o, s)]
    return (t.__name__, content, attrs, slots)


def run(f, make):
    args = make()
    result = f(*args)
    return shape((result, args, {k: v for k, v in STATE.items()}))


STATE = {}


def T():
    return torch.ones(2)


class Box:
    kind = "box"

    def __init__(self, v=None):
        self.v = v

    def get(self):
        return self.v


class Loud(Box):
    def __setattr__(self, name, value):
        STATE["loud"] = STATE.get("loud", 0) + 1
        super().__setattr__(name, value)


class Slotted:
    __slots__ = ("a", "b")


class Both(Slotted):
    pass


class Stack(list):
    pass


class Table(dict):
    pass


class Order(collections.OrderedDict):
    pass


class Num(int):
    pass


class Bag(set):
    pass


Point = collections.namedtuple("Point", "x y")


class Oops(ValueError):
    def __init__(self, x, code):
        super().__init__(code)
        self.x = x


# -- New values ------------------------------------------------------------------------


@case(T)
def containers(x):
    y = x + 1
    a = [y, 2, "s"]
    return a, (a, y), {"k": a, 1: (y,)}, [], {}, ()


@case(T)
def cycles(x):
    a = [x + 1]
    d = {"a": a}
    t = (d, a)
    a.append(t)
    d["self"] = d
    b = Box(t)
    b.me = b
    return t, b


@case(T)
def objects(x):
    b = Box(x + 1)
    c = Loud(b)
    c.other = [b, c]
    s = Both()
    s.a = s
    s.free = 1
    return b, c, s, b.get, Box


@case(T)
def subclasses(x):
    s = Stack()
    s.append(x * 2)
    s.tag = s
    t = Table(a=1)
    t["b"] = x
    t.tag = [t]
    b = Bag()
    b.add(3)
    return s, t, b, Point(x + 1, 2)


class Pack(frozenset):
    pass


class Rest(Pack):
    def __new__(cls, items, tag):
        self = super().__new__(cls, items)
        self.tag = tag
        return self


@case(T)
def frozen_beside_writes(x):
    a, b = Pack([1, "a", (2, 3)]), Rest("xyz", [x])
    a.me = b
    x += 1
    c = Pack()
    c.of = a, Pack(a | b)
    return a, b, c, Pack(b) == a


@case(T)
def dicts(x):
    o = collections.OrderedDict([("a", 1), ("b", x)])
    o.move_to_end("a")
    d = collections.defaultdict(list)
    d["k"].append(x + 1)
    q = collections.deque([1, 2, x], maxlen=2)
    q.append(3)
    e = {"a": 1, "b": 2}
    del e["a"]
    e["a"] = 3
    return o, d, q, e, e.keys(), e.values(), o.items()


@case(T)
def sets(x):
    s = set()
    for i in range(20):
        s.add(i * 7)
    for i in range(0, 20, 2):
        s.discard(i * 7)
    return s, frozenset(s), {1, "a", None}, s | {1000, 3}, x + 1


@case(T, 7)
def closures(x, k):
    y = x + 1

    def g(z, *, q=3):
        return y + z + q

    def rec(n):
        return rec(n - 1) if n else y

    def default(a=y, b=(1, k)):
        return a

    g.tag = rec
    return g, rec, default, lambda: k


@case(T)
def bound(x):
    items = [1]
    return items.append, items, functools.partial(torch.add, x, alpha=2), Box(x).get, slice(1, x, None), super


@case(T)
def exceptions(x):
    e = ValueError("a", 1)
    try:
        raise KeyError("k") from e
    except KeyError as k:
        kept = k
    return e, kept.args, OSError(2, "no"), StopIteration(x + 1)


@case(T)
def user_exception(x):
    e = Oops(x + 1, 3)
    e.more = e
    return e


@case(T)
def iterators(x):
    a = iter([1, 2, x + 1])
    next(a)
    t = iter((1, 2, 3))
    r = iter(range(5))
    next(r)
    d = iter({"a": 1, "b": 2})
    next(d)
    v = iter({"a": 1, "b": 2}.items())
    done = iter([1])
    next(done)
    next(done, None)
    back = reversed([1, 2, 3])
    next(back)
    return a, t, r, d, v, done, back, iter("abc")


@case(T)
def wrapped_iterators(x):
    z = zip([1, 2, 3], (4, 5, 6))
    next(z)
    e = enumerate([x, x + 1], 5)
    next(e)
    m = map(lambda v: v + x, [1, 2])
    next(m)
    f = filter(None, [0, 1, 2])
    return z, e, m, f


@case(T)
def itertools_(x):
    c = itertools.chain([1, 2], [3])
    next(c)
    s = itertools.islice([1, 2, 3, 4, 5], 1, None, 2)
    next(s)
    r = itertools.repeat(x, 3)
    next(r)
    n = itertools.count(5, 2)
    next(n)
    y = itertools.cycle([1, 2])
    next(y)
    a = itertools.accumulate([1, 2, 3])
    next(a)
    t = itertools.takewhile(lambda v: v < 3, [1, 2, 3])
    next(t)
    return c, s, r, n, y, a, t, itertools.zip_longest([1], [2, 3], fillvalue=0)


@case(T)
def generators(x):
    def g(n, *rest, k=2, **kw):
        for i in range(n):
            try:
                yield x + i, rest, k, kw
            finally:
                n += 0

    fresh = g(2, 5, z=1)
    half = g(3)
    next(half)
    over = g(0)
    next(over, None)
    return fresh, half, over


# -- Effects on what existed ------------------------------------------------------------------


@case(T, lambda: Box(1), lambda: Loud(2))
def attributes(x, b, c):
    b.v = x + 1
    b.new = [b.v]
    c.v = b
    c.w = c.v.new
    del b.new
    return b.v


@case(T, Both)
def slots(x, s):
    s.a = x + 1
    s.b = s
    s.free = 2
    del s.b
    return s.a


@case(T, lambda: [1, 2, 3], lambda: [4], lambda: Stack([1]))
def lists(x, a, b, s):
    a.append(x + 1)
    b[0] = a
    b.insert(0, "first")
    s.append(1)
    s.extend([2, x])
    return len(a)


@case(T, lambda: [[3, 1, 2]])
def nested(x, a):
    a[0].sort()
    a.append(a)
    a[0].pop()
    return x * a[0][0]


@case(T, lambda: {"a": 1, "b": 2}, lambda: Table(z=1), lambda: Order(a=1, b=2), lambda: collections.defaultdict(list))
def mappings(x, d, t, o, f):
    d["c"] = x + 1
    del d["a"]
    d["a"] = d["b"]
    t["y"] = t["z"]
    del t["z"]
    o.move_to_end("a")
    o["c"] = 3
    f["k"].append(x)
    return d["c"]


@case(T, lambda: {1, 2, 3}, lambda: Bag([1]), lambda: collections.deque([1, 2, 3], 3))
def sets_and_deques(x, s, b, q):
    s.add(9)
    s.discard(1)
    b.add(2)
    q.append(x)
    q.appendleft(0)
    return x + 1


@case(T)
def globals_(x):
    global COUNT
    COUNT += 1
    STATE["count"] = COUNT
    STATE["x"] = x * COUNT
    return x


COUNT = 0


def counter():
    n = 0

    def count(k):
        nonlocal n
        n += k
        return n

    return count


@case(T, counter)
def cells(x, count):
    a = count(2)
    b = count(3)
    return x + a + b


@case(T)
def classes(x):
    Box.total = getattr(Box, "total", 0) + 1
    return x + Box.total


@case(T, lambda: iter([1, 2, 3, 4]), lambda: iter({"a": 1, "b": 2}), lambda: iter((7,)))
def existing_iterators(x, a, b, c):
    s = next(a) + next(a)
    next(b)
    next(c)
    next(c, None)
    return x * s


@case(lambda: torch.ones(2, requires_grad=True), T)
def tensors(p, x):
    x.add_(1)
    y = x * 2
    y.tag = [x]
    x.mark = y
    return y, x


@case(T)
def grad_mode(x):
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(True)
    return y, torch.is_grad_enabled()


@case(T, lambda: Box([]))
def aliases(x, b):
    b.v.append(x)
    kept = b.v
    b.v = [kept]
    kept.append(b.v)
    return kept


def fresh():
    """The world as it was before any case ran."""
    global COUNT
    COUNT = 0
    STATE.clear()
    Box.total = 0
