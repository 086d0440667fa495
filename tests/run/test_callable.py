"""Compiled: a callable that stands for a function in everything but speed."""

import copy
import functools
import gc
import inspect
import itertools
import pickle
import signal
import sys
import threading
import types
import weakref

import pytest

from engine import module, selftest

Compiled, make_options = module.Compiled, module.make_options
COUNT = itertools.count()


@pytest.fixture(autouse=True)
def calm():
    selftest.fake(1, False, 100, True)


def compiled(fn, limit=8):
    return Compiled(fn, make_options(None, False, None, limit, ("callable", next(COUNT))))


def everything(a, b=2, /, c=3, *rest, d, e=5, **kw):
    "doc"
    return a, b, c, rest, d, e, kw


def hidden(x: int, *, y=(1, 2)) -> str:
    return x, y


def same_call(fn, *args, **kwargs):
    """The compiled form gives, or raises, what the function does: compiling, then from the cache."""

    def outcome(f):
        try:
            return f(*args, **kwargs)
        except Exception as e:
            return type(e), str(e)

    c = compiled(fn)
    for _ in range(3):
        assert outcome(c) == outcome(fn)


# -- Binding ---------------------------------------------------------------------


@pytest.mark.parametrize("args, kwargs", [
    ((1,), {"d": 4}), ((1, 2, 3, 4, 5), {"d": 1, "e": 2, "f": 3}), ((1,), {"c": 9, "d": 0}),
    ((), {"d": 1}), ((1,), {}), ((1,), {"a": 2, "d": 3}), ((1, 2, 3), {"c": 1, "d": 2}),
    ((1,), {"b": 5, "d": 6}), ((1,), {"d": 6, "k" * 50: 1}),
])
def test_binding(args, kwargs):
    same_call(everything, *args, **kwargs)


@pytest.mark.parametrize("args, kwargs", [
    ((), {}), ((1,), {}), ((1, 2), {}), ((1, 2, 3), {}), ((1,), {"b": 2}), ((), {"a": 1, "b": 2}),
    ((1,), {"a": 2}), ((1,), {"z": 2}), ((1, 2), {"b": 3}),
])
def test_plain_binding(args, kwargs):
    def f(a, b=7):
        return a, b

    same_call(f, *args, **kwargs)
    same_call(lambda a, b: (b, a), *args, **kwargs)


def test_many_arguments():
    names = ", ".join(f"a{i}" for i in range(100))
    space = {}
    exec(f"def f({names}, *r, k=1): return a0, a99, r, k", space)
    same_call(space["f"], *range(100))
    same_call(space["f"], *range(120), k=5)
    same_call(space["f"], **{f"a{i}": i for i in range(100)})
    same_call(space["f"], *range(99))


def test_defaults_and_code_may_change():
    def f(a, b=1):
        return a, b

    def g(x, y):
        return y, x

    c = compiled(f)
    assert c(1) == (1, 1)
    f.__defaults__ = (5,)
    assert c(1) == (1, 5)
    c.__defaults__ = (6,)
    assert f(1) == (1, 6)
    f.__code__ = g.__code__
    assert c(1, 2) == (2, 1)
    assert c(1) == (6, 1)


def test_int_subclass_of_str_names():
    class Name(str):
        pass

    same_call(everything, 1, d=2, **{Name("zz"): 3})


# -- A function among objects --------------------------------------------------------


def test_method():
    class A:
        @compiled
        def m(self, x):
            return self, x

        def n(self, x):
            return self, x

    a = A()
    for _ in range(3):
        assert a.m(1) == (a, 1)
    assert isinstance(a.m, types.MethodType) and a.m.__func__ is A.__dict__["m"]
    assert A.m(a, 2) == (a, 2)
    assert str(inspect.signature(a.m)) == "(x)"
    b = compiled(a.n)
    for _ in range(3):
        assert b(3) == (a, 3) and b(x=3) == (a, 3)
    A.other = b
    assert A().other(4) == (a, 4)  # a bound method is not bound again
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        b()


def test_attributes():
    c = compiled(everything)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__",
                 "__defaults__", "__kwdefaults__", "__code__", "__globals__", "__closure__"):
        assert getattr(c, name) == getattr(everything, name)
    assert c.__wrapped__ is everything
    assert inspect.signature(c) == inspect.signature(everything)
    assert str(inspect.signature(compiled(hidden))) == str(inspect.signature(hidden))
    c.own = 1
    assert c.own == 1 and c.__dict__ == {"own": 1} and not hasattr(everything, "own")
    c.__name__ = "renamed"
    assert c.__name__ == "renamed" and everything.__name__ == "everything"
    del c.__name__
    assert c.__name__ == "everything"
    with pytest.raises(AttributeError, match="'function' object has no attribute 'nope'"):
        c.nope
    assert functools.wraps(c)(lambda: 0).__wrapped__ is c
    assert repr(c).startswith("<compiled <function everything")
    assert callable(c) and not isinstance(c, types.FunctionType)


def by_name(x):
    return x


original, by_name = by_name, compiled(by_name)


def test_copies_are_itself():
    assert pickle.loads(pickle.dumps(by_name)) is by_name
    assert copy.copy(by_name) is by_name and copy.deepcopy([by_name])[0] is by_name


def test_weak_and_collected():
    def make():
        def f():
            return f

        f.self = compiled(f)
        f.self.cycle = f.self
        return weakref.ref(f.self), weakref.ref(f)

    a, b = make()
    gc.collect()
    assert a() is None and b() is None


def test_not_functions():
    same_call(len, [1, 2])
    same_call(int, "5")
    with pytest.raises(TypeError, match="callable"):
        compiled(5)


def test_suspending_functions():
    def gen(n):
        yield from range(n)

    async def coro():
        return 5

    assert list(compiled(gen)(3)) == [0, 1, 2]
    c = compiled(coro)()
    with pytest.raises(StopIteration, match="5"):
        c.send(None)
    c.close()


def test_equal_options_are_one():
    a, b = make_options(None, True, None, 3, "k"), make_options(None, True, None, 3, "k")
    assert a is b and a.limit == 3 and a.fullgraph is True and a.key == "k"


# -- At run time -------------------------------------------------------------------------


def loop(n, f):
    total = 0
    for i in range(n):
        total += f(i)
    return total


def inc(i):
    return i + 1


def test_long_loops_do_not_recurse():
    selftest.fake(1, True)
    assert compiled(loop)(5000, inc) == sum(range(5001))
    selftest.fake(1, False, 100, True)
    c = compiled(loop)
    assert c(5000, inc) == c(5000, lambda i: i + 1) == sum(range(5001))


@pytest.mark.parametrize("exits", [True, False])
def test_recursion_limit(exits):
    def down(n):
        return 0 if n == 0 else 1 + me(n - 1)

    selftest.fake(1, exits, 100, not exits)
    me = compiled(down)
    assert me(100) == 100
    for _ in range(2):
        with pytest.raises(RecursionError):
            me(10 ** 6)
    assert me(100) == 100
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10 ** 6)
    try:
        assert me(3000) == 3000  # through many chunks of the data stack
        with pytest.raises(RecursionError):
            me(10 ** 5)  # not a crash: the C stack is watched
        assert me(1000) == 1000
    finally:
        sys.setrecursionlimit(limit)


def test_inlined_recursion_limit():
    def down(f, n):
        return f(f, n)

    selftest.fake(3, False, 100, True)
    with pytest.raises(RecursionError):
        compiled(down)(down, 1)
    sys.exc_info()


def test_thread():
    results = []

    def work():
        for i in range(200):
            results.append(c(50, inc))

    selftest.fake(1, True)
    c = compiled(loop)
    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert set(results) == {sum(range(51))} and len(results) == 800


def endless(f):
    while True:
        f(1)


@pytest.mark.parametrize("mode", [(1, True), (1, False, 100, True), (5, False)])
def test_signal_interrupts_a_loop(mode):
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    selftest.fake(*mode)
    class Handler:
        def __call__(self, *_):
            raise Alarm

    old = signal.signal(signal.SIGALRM, ring if mode[0] == 1 else Handler())
    try:
        for fn in (inc, abs):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(Alarm):
                compiled(endless)(fn)
    finally:
        signal.signal(signal.SIGALRM, old)


def test_tracer_gets_a_plain_run():
    lines = []

    def trace(frame, event, arg):
        if frame.f_code is loop.__code__:
            lines.append((event, frame.f_lineno - loop.__code__.co_firstlineno))
        return trace

    def traced(f):
        lines.clear()
        sys.settrace(trace)
        try:
            f(2, abs)
        finally:
            sys.settrace(None)
        return list(lines)

    assert traced(compiled(loop)) == traced(loop) != []


def test_tracer_started_inside():
    """From the call that starts it on, the frame runs plainly: the same events as without us."""
    events = []

    def trace(frame, event, arg):
        events.append((frame.f_code.co_name, event, frame.f_lineno))
        return trace

    def start(_):
        sys.settrace(trace)
        return 1

    def stop(_):
        sys.settrace(None)
        return 1

    def f(start, stop):
        a = start(1)
        b = sum([a, 2])
        c = stop(b)
        return c

    def run(call):
        events.clear()
        call(start, stop)
        return list(events)

    selftest.fake(1, True)
    assert run(compiled(f)) == run(f) != []


def test_off():
    selftest.fake(1, True)
    c = compiled(loop)
    selftest.run_off(True)
    assert c(3, inc) == 6 and selftest.fake_stats()["compiles"] == 0
    selftest.run_off(False)
    assert c(3, inc) == 6 and selftest.fake_stats()["compiles"] > 0


def test_forget():
    selftest.fake(1, True)
    c = compiled(loop)
    c(3, inc)
    before = selftest.fake_stats()["compiles"]
    c(3, inc)
    assert selftest.fake_stats()["compiles"] == before
    selftest.run_forget()
    c(3, inc)
    assert selftest.fake_stats()["compiles"] == 2 * before


def test_limit():
    def f(x, y=None):
        return x

    selftest.fake(2, False, 100, False)
    c = compiled(f, limit=2)
    for i in range(50):
        assert c(i) == i


# -- Leaks -----------------------------------------------------------------------------------


def grown(call, times):
    """Blocks that stay allocated per call, once warm."""
    for _ in range(200):
        call()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(times):
        call()
    gc.collect()
    return sys.getallocatedblocks() - before


@pytest.mark.parametrize("exits", [True, False])
def test_no_leak(exits):
    selftest.fake(4, exits, 100, not exits)
    c = compiled(loop)

    def raising(f, x):
        try:
            return f(x) / 0
        finally:
            abs(1)

    r = compiled(raising)

    def call():
        c(5, inc)
        c(n=5, f=abs)
        with pytest.raises(ZeroDivisionError):
            r(inc, 3)

    assert grown(call, 1000) < 60


def test_no_leak_of_points():
    def call():
        def f(x):
            return x

        f.__code__ = f.__code__.replace(co_name="g")
        c = compiled(f)
        c.options
        c(1)

    options = make_options(None, False, None, 8, "one")
    blocks = selftest.blocks()
    for _ in range(100):
        def f(x):
            return x

        f.__code__ = f.__code__.replace(co_name="g")
        assert Compiled(f, options)(1) == 1
    del f
    gc.collect()
    assert selftest.blocks() - blocks < 30
