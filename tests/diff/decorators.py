"""functools, decorators, functions that make context managers."""
import contextlib
import functools
import operator
import time

import torch
from kit import T, program

LOG = []


def two():
    return T(2, 3)


def scaled(x, by=2, *more, shift=0, **rest):
    return x * by + shift + sum(more) + len(rest)


HALF = functools.partial(scaled, by=0.5)
DEEP = functools.partial(HALF, shift=1, extra=None)


@program(T, two)
def partials(x):
    p = functools.partial(scaled, x)
    q = functools.partial(p, 3, shift=1)
    r = functools.partial(torch.add, x, alpha=2)
    s = functools.partial(functools.partial(x.add), x)
    told = q.args[0] is x, q.keywords, q.func is scaled, DEEP.func is scaled, DEEP.keywords
    q.note = "attribute"
    return p(), q(), q(4, shift=5), HALF(x), DEEP(x, extra=2), r(1), s(), told, q.note


class Steps:
    by = 3
    run = functools.partialmethod(lambda self, x, k, shift=0: x * k + shift + self.by, shift=1)
    double = functools.partialmethod(run, 2)

    def __init__(self):
        self.made = 0

    @functools.cached_property
    def weight(self):
        self.made += 1
        LOG.append("weight")
        return torch.ones(3) * self.by

    @functools.singledispatchmethod
    def kind(self, v):
        return "object"

    @kind.register
    def _(self, v: int):
        return "int", v + self.by

    @kind.register(list)
    def _(self, v):
        return "list", [self.kind(k) for k in v]


STEPS = Steps()


@program(T)
def cached_properties(x):
    s = Steps()
    a = s.weight * x
    b = s.weight is s.weight
    del s.weight
    c = s.weight + STEPS.weight
    s.weight = 5
    if "weight" in STEPS.__dict__:
        STEPS.__dict__.pop("weight")
    return a, b, c, s.weight, s.made, STEPS.made


@program(T, two)
def partial_methods(x):
    s = Steps()
    return s.run(x, 2), s.run(x, k=3, shift=0), STEPS.kind(3), STEPS.kind([1, "a", [2]]), STEPS.kind(x)


def wrapped(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        inner.calls += 1
        LOG.append(f.__name__)
        return f(*args, **kwargs)
    inner.calls = 0
    return inner


def repeat(n, *, log=None):
    def decorate(f):
        @functools.wraps(f)
        def inner(x, *args):
            for _ in range(n):
                x = f(x, *args)
            if log is not None:
                log.append(n)
            return x
        return inner
    return decorate


SEEN = []


@wrapped
@repeat(3, log=SEEN)
@wrapped
def grow(x, by=1):
    """Adds."""
    return x + by


@program(T, two)
def stacked_decorators(x):
    y = grow(x)
    z = grow(x, 2)
    return y + z, grow.calls, grow.__name__, grow.__doc__, grow.__wrapped__.__wrapped__.calls, len(SEEN), grow.__wrapped__ is not grow


@program(T, two)
def decorated_inside(x):
    log = []

    @repeat(x.dim() + 1, log=log)
    def f(v, k=2):
        return v * k

    @wrapped
    def g(v):
        return f(v) + 1
    return g(x), g.calls, log, g.__wrapped__(x), f.__closure__ is not None


class CountCalls:
    """A decorator that is an object."""

    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f, self.n = f, 0

    def __call__(self, *args, **kwargs):
        self.n += 1
        return self.f(*args, **kwargs)

    def __get__(self, obj, owner=None):
        return self if obj is None else functools.partial(self, obj)


@CountCalls
def squared(x):
    return x * x


class Layer:
    @CountCalls
    def apply(self, x):
        return x + self.k

    k = 4

    @property
    @wrapped
    def twice(self):
        return self.k * 2

    @classmethod
    @wrapped
    def name(cls):
        return cls.__name__

    @staticmethod
    @repeat(2)
    def add(x):
        return x + 1


@program(T, two)
def decorator_objects(x):
    o = Layer()
    return squared(x) + o.apply(x), squared.n, Layer.apply.n, o.twice, o.name(), Layer.add(x), squared.__name__, isinstance(Layer.apply, CountCalls)


@functools.lru_cache(maxsize=None)
def table(n):
    LOG.append(("table", n))
    return tuple(k * k for k in range(n))


@functools.lru_cache(maxsize=2)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.cache
def mask(n):
    return torch.ones(n, n).tril()


@program(T, two)
def lru_caches(x):
    t = table(x.dim() + 2)
    y = x * t[-1] + fib(6)
    m = mask(3)
    told = table(x.dim() + 2) is t, mask(3) is m
    return x @ m, y, told, table.cache_info().maxsize, fib.cache_info().currsize


@program(T)
def lru_cache_cleared(x):
    m = mask(3)
    m[0, 0] += 1
    if m[0, 0] > 2:
        mask.cache_clear()
    try:
        table([1])
    except TypeError as e:
        told = str(e)
    return x * m, told, mask.cache_info().currsize, mask.__wrapped__(2)


@functools.singledispatch
def describe(v, depth=0):
    return "object", depth


@describe.register
def _(v: torch.Tensor, depth=0):
    return v + depth


@describe.register(list)
@describe.register(tuple)
def _(v, depth=0):
    return [describe(k, depth + 1) for k in v]


@describe.register
def of_int(v: int, depth=0):
    LOG.append(("int", v))
    return v * 10


class Mine(list):
    pass


@program(T, two)
def single_dispatch(x):
    return describe(x), describe([x, 1, (x, True)]), describe("s"), describe(Mine([2])), describe.dispatch(bool) is of_int, list in describe.registry


@program(T, two)
def reductions(x):
    y = functools.reduce(operator.add, [x, x * 2, 1])
    z = functools.reduce(lambda a, f: f(a), (torch.sin, abs, lambda v: v + 1), x)
    w = functools.reduce(lambda a, b: {**a, b: len(a)}, "abc", {})
    told = []
    try:
        functools.reduce(operator.mul, [])
    except TypeError as e:
        told.append(str(e))
    return y, z, w, told, functools.reduce(max, [3, 1, 7]), functools.reduce(lambda a, b: LOG.append(b) or b, [x]) is x


@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n

    def __eq__(self, o):
        return self.n == o.n

    def __lt__(self, o):
        LOG.append(("lt", self.n, o.n))
        return self.n < o.n


@program(T, two)
def ordering_and_keys(x):
    a, b = Version(1), Version(2)
    back = functools.cmp_to_key(lambda p, q: q - p)
    return x + (a <= b), a > b, a >= b, sorted([3, 1, 2], key=back), max([b, a]) is b, sorted("bA", key=str.lower), min([[2, 1], [1]], key=len)


@contextlib.contextmanager
def setting(table, **changes):
    before = {k: table.get(k) for k in changes}
    table.update(changes)
    LOG.append("in")
    try:
        yield table
    except KeyError as e:
        LOG.append(("swallowed", str(e)))
    else:
        LOG.append("fine")
    finally:
        table.update(before)


OPTIONS = {"scale": 1, "shift": 0}


@program(T, two)
def context_functions(x):
    with setting(OPTIONS, scale=3) as o:
        y = x * o["scale"]
        with setting(o, shift=2, scale=5):
            y = y + o["shift"] * OPTIONS["scale"]
            raise KeyError("inner")
    with contextlib.suppress(ZeroDivisionError):
        OPTIONS["shift"] = 1 // 0
    return y, OPTIONS, LOG[-1]


@setting(OPTIONS, scale=7)
def inside(x):
    return x * OPTIONS["scale"]


@program(T)
def context_function_as_decorator(x):
    a = inside(x)
    b = inside(x + 1)
    return a + b, OPTIONS["scale"]


@program(T, two, graphs=0)
def context_that_passes_on(x):
    y = x + 1
    with setting(OPTIONS, scale=2), setting({}, a=1):
        LOG.append(y)
        raise ValueError("passed")


@program(T, two)
def exit_stacks(x):
    log = []
    with contextlib.ExitStack() as stack:
        o = stack.enter_context(setting(OPTIONS, scale=4))
        stack.callback(log.append, "callback")
        stack.enter_context(contextlib.nullcontext(3))
        y = x * o["scale"]
    with contextlib.closing(open("/dev/null")) as f:
        z = y + len(f.read())
    return y, z, log, OPTIONS, f.closed


def memo(f):
    known = {}

    def inner(x, k):
        if k not in known:
            known[k] = f(x, k)
        return known[k]
    inner.known = known
    return inner


@memo
def power(x, k):
    return x ** k


@program(T)
def memoized(x):
    a = power(x, 2)
    b = power(x + 1, 2)
    if len(power.known) > 1:
        power.known.clear()
    return a is b, a + power(x, len(power.known)), len(power.known)


def timed(f):
    @functools.wraps(f)
    def inner(*a, **k):
        start = time.perf_counter()
        try:
            return f(*a, **k)
        finally:
            inner.spent = time.perf_counter() - start >= 0
    return inner


def retry(times, on=Exception):
    def decorate(f):
        def inner(*args):
            for k in range(times):
                try:
                    return f(*args, k)
                except on as e:
                    LOG.append((k, str(e)))
            raise TimeoutError(times)
        return inner
    return decorate


@timed
def slow(x):
    return x - 1


@retry(3, on=ValueError)
def flaky(x, need, k):
    if k < need:
        raise ValueError(f"try {k}")
    return x + k


@program(lambda: (T(3), 1), lambda: (T(3), 5))
def timed_and_retried(x, need):
    y = slow(x)
    try:
        y = flaky(y, need)
    except TimeoutError as e:
        return y, e.args, slow.spent
    return y, "in time"


def validate(**kinds):
    def decorate(f):
        names = f.__code__.co_varnames[:f.__code__.co_argcount]

        def inner(*args, **kwargs):
            for name, v in {**dict(zip(names, args)), **kwargs}.items():
                if not isinstance(v, kinds.get(name, object)):
                    raise TypeError(f"{f.__name__}: {name} is {type(v).__name__}")
            return f(*args, **kwargs)
        return inner
    return decorate


@validate(x=torch.Tensor, k=(int, float))
def checked(x, k=2, label=""):
    return x * k


@program(T, two)
def validated(x):
    told = []
    for args in ((x, "a"), ([1], 2)):
        try:
            checked(*args)
        except TypeError as e:
            told.append(str(e))
    return checked(x) + checked(x, k=0.5), checked(x, 3, label=1), told
