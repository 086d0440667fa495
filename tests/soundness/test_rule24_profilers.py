"""Rule 24, profilers: compiled code runs under one; what it is told is balanced; what it does itself changes nothing."""
import cProfile
import pstats
import sys
import threading

import pytest
import torch
from follow import X, follows

import jedlik
from jedlik import _engine


class Balance:
    """A profile function that checks that ends follow their beginnings."""

    def __init__(self):
        self.open, self.wrong, self.names, self.c = [], [], [], []

    def __call__(self, frame, event, arg):
        what = (id(frame), frame.f_code.co_name)
        if event == "call":
            self.open.append(what)
            self.names.append(frame.f_code.co_name)
            if frame.f_code.co_filename == __file__ and frame.f_lineno != frame.f_code.co_firstlineno:
                self.wrong.append(("line of a call", what, frame.f_lineno))
        elif event == "c_call":
            self.open.append(("C", arg))
            self.c.append(arg.__name__)
        else:
            if event != "return":
                what = ("C", arg)
            if not self.open:
                self.wrong.append(("end of nothing", event, what))
            elif self.open.pop() != what:
                self.wrong.append(("end of another", event, what))

    def of(self, function, *args):
        """Calls it under this function."""
        sys.setprofile(self)
        try:
            return function(*args)
        finally:
            sys.setprofile(None)
            assert [w for w in self.open] == [("C", sys.setprofile)], self.open
            assert not self.wrong, self.wrong


def hide(x):
    """Nothing that a trace can know."""
    return sys.intern(str(x.dim())) and x


def program(compile):
    """Breaks in loops, try, with, handlers and callees; exceptions that leave frames."""
    class Manager:
        def __enter__(self):
            sys.intern("a")
            return 1

        def __exit__(self, *exc):
            sys.intern("b")
            return exc[0] is KeyError

    def callee(x, n):
        y = x + n
        print(end="")
        if n == 2:
            raise ValueError(n)
        return y * 2

    def deep(x, n):
        return callee(x, n) + 1

    def f(x):
        out = []
        for n in range(3):
            try:
                out.append(deep(x, n))
            except ValueError as e:
                print(end="")
                out.append(e.args)
            finally:
                print(end="")
        with Manager() as m:
            x = x + m
            raise KeyError
        with Manager():
            return x, out, [sys.intern(str(i)) for i in range(2)], max(map(len, ("a", "bc")))

    def g(x):
        x = x + 1
        print(end="")
        raise LookupError(str(deep(x, 0).sum()))

    def unpacked(x, *args, **kw):
        print(*args, **kw)
        return sorted(args, key=lambda n: -n), x * 2

    for fn, args in ((f, (X,)), (g, (X,)), (unpacked, (X,))):
        call = compile(fn)
        for _ in range(3):
            yield Balance().of(call, *args)


@follows()
def test_balanced(compile):
    yield from program(compile)


def long_loop(x):
    out = 0
    for i in range(300):
        sys.intern("a")
        out += len(str(i))
    x = x + 1
    sys.intern("b")
    try:
        for i in range(300):
            sys.intern("a")
            out += 1
        raise KeyError
    except KeyError:
        sys.intern("b")
    return x * 2, out


def test_stops_are_no_returns():
    """Loops without operations run plainly up to places where compiling goes on: nothing ends there."""
    fast = jedlik.compile(long_loop, backend="eager")
    want = long_loop(X)
    for _ in range(4):
        b = Balance()
        got = b.of(fast, X)
        assert got[1] == want[1] and got[0].tolist() == want[0].tolist()
    assert _engine.stats()["graphs"] >= 1
    nested = jedlik.compile(lambda x: [long_loop(x), sys.intern("a"), fast(x)], backend="eager")
    for _ in range(4):
        assert Balance().of(nested, X)[2][1] == want[1]


def test_a_stop_in_a_frame_that_raises():
    def f(x, fail):
        x = x + 1
        for i in range(200):
            sys.intern("a")
            if i == fail:
                raise KeyError(i)
        return x * 2
    fast = jedlik.compile(f, backend="eager")
    for fail in (-1, 3, 150, -1, 199):
        if fail < 0:
            assert Balance().of(fast, X, fail).tolist() == f(X, fail).tolist()
        else:
            with pytest.raises(KeyError):
                Balance().of(fast, X, fail)


def graphs_under(switch_on, switch_off, fn, *args):
    jedlik.reset()
    before = _engine.stats()["graphs"]
    fast = jedlik.compile(fn, backend="eager")
    switch_on()
    try:
        out = [fast(*args) for _ in range(3)]
    finally:
        switch_off()
    return _engine.stats()["graphs"] - before, out


def test_captured_under_each_profiler():
    def f(x):
        y = x + 1
        print(end="")
        return (y * 2).sin()
    want = f(X).tolist()
    p, t = cProfile.Profile(), torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True)
    for on, off in ((p.enable, p.disable), (t.start, t.stop),
                    (lambda: sys.setprofile(lambda *a: None), lambda: sys.setprofile(None))):
        n, out = graphs_under(on, off, f, X)
        assert n == 2
        assert all(o.tolist() == want for o in out)
    names = {e.key for e in t.key_averages()}
    assert "aten::sin" in names and "aten::mul" in names
    assert sys.getprofile() is None
    on, off = (lambda: sys.settrace(lambda *a: None)), (lambda: sys.settrace(None))
    assert graphs_under(on, off, f, X)[0] == 0  # a tracer sees lines


def test_what_cprofile_counts():
    def inner(x):
        print(end="")
        return x + 1

    def outer(x):
        for _ in range(3):
            x = inner(x)
        return x

    fast, p = jedlik.compile(outer, backend="eager"), cProfile.Profile()
    for _ in range(2):
        p.runcall(fast, X)
    stats = {name[2]: v for name, v in pstats.Stats(p).stats.items()}
    assert stats["inner"][1] == 6  # a real frame each: print saw it
    assert stats["<built-in method builtins.print>"][1] == 6
    # Compiling is one line; nothing of it shows, nor in a second run at all.
    assert stats["<built-in method jedlik._engine.compile>"][1] >= 1
    assert not [name for name in pstats.Stats(p).stats if "_handoff" in name[0]]
    again = cProfile.Profile()
    again.runcall(fast, X)
    assert not any("_engine.compile" in name[2] for name in pstats.Stats(again).stats)


def test_a_callback_that_computes():
    """It calls operations and compiled functions, the very one too."""
    def f(x, n):
        y = x + n
        print(end="")
        return y * 2
    fast, other = jedlik.compile(f, backend="eager"), jedlik.compile(lambda x: x.sin() + 1, backend="eager")
    seen = []

    def callback(frame, event, arg):
        seen.append(float(other(torch.ones(2)).sum()) + float(fast(torch.ones(2), 5).sum()))
    for n in range(4):
        sys.setprofile(callback)
        try:
            got = fast(X, n)
        finally:
            sys.setprofile(None)
        assert got.tolist() == f(X, n).tolist()
    assert seen and len(set(seen)) == 1


def count_events(f, args):
    n = [0]

    def callback(frame, event, arg):
        n[0] += 1
    sys.setprofile(callback)
    try:
        f(*args)
    finally:
        sys.setprofile(None)
    return n[0]


class Told(Exception):
    pass


@pytest.mark.parametrize("how", ("raise", "off", "reset", "other"))
def test_a_callback_that_ends_at_each_event(how):
    """At its n-th event it raises (and is off), turns itself off, forgets all that is compiled, or gives way to another one."""
    log = []

    def callee(x, n):
        y = x * n
        print(end="")
        return y + 1

    def f(x):
        log.append("begin")
        out = callee(x, 2) + callee(x, 3)
        log.append("end")
        return out
    want = f(X).tolist()
    total = count_events(jedlik.compile(f, backend="eager"), (X,))
    jedlik.reset()
    assert total > 8
    for warm in (False, True):
        for at in range(1, total + 1):
            jedlik.reset()
            fast, count, balance = jedlik.compile(f, backend="eager"), [0], Balance()
            if warm:
                fast(X)

            def callback(frame, event, arg):
                count[0] += 1
                if count[0] != at:
                    return
                if how == "raise":
                    raise Told(at)
                if how == "reset":
                    jedlik.reset()
                else:
                    sys.setprofile(balance if how == "other" else None)
            del log[:]
            calm = False
            sys.setprofile(callback)
            try:
                got = fast(X).tolist()
                calm = count[0] < at
                sys.setprofile(None)  # an event, too
            except Told as e:
                got = got if calm else e.args
            finally:
                sys.setprofile(None)
            assert got == (want if calm or how != "raise" else (at,))
            assert log in ([], ["begin"], ["begin", "end"]) and (got != want or len(log) == 2)
            del log[:]
            assert fast(X).tolist() == want and log == ["begin", "end"]


@follows()
def test_profilers_that_come_and_go(compile):
    """In the middle of a frame: helpers called from then on are seen as they are written."""
    def helper(x):
        return x + 1

    def f(x, begin, end):
        x = helper(x)
        begin()
        x = helper(helper(x))
        end()
        return helper(x)

    def outer(x, begin, end):
        y = f(x, begin, end)
        return helper(y)
    for fn in (f, outer):
        call = compile(fn)
        for _ in range(3):
            seen = []

            def hook(frame, event, arg):
                if frame.f_code.co_name == "helper":
                    seen.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
            try:
                value = call(X, lambda: sys.setprofile(hook), lambda: sys.setprofile(None))
            finally:
                sys.setprofile(None)
            yield value, seen


@follows()
def test_who_profiles_is_told(compile):
    def f(x):
        return x + 1, sys.getprofile(), sys.gettrace()
    call = compile(f)

    def nothing(*args):
        pass
    yield call(X)
    sys.setprofile(nothing)
    try:
        got = call(X)
    finally:
        sys.setprofile(None)
    yield got[0], got[1][1] is nothing, got[1][0], call(X)


def test_a_callback_that_keeps_frames():
    """The frames it keeps end with the locals that the program gave them."""
    def callee(x):
        a = x + 1
        print(end="")
        a = a * 2
        b = a.sum()
        return b

    def f(x):
        y = callee(x)
        print(end="")
        z = y + 1
        return z

    def frames(call):
        kept = {}

        def hook(frame, event, arg):
            if event == "call":
                kept[frame.f_code.co_name, frame.f_code] = frame
        sys.setprofile(hook)
        try:
            call(X)
        finally:
            sys.setprofile(None)
        return {code: {k: v.tolist() for k, v in f.f_locals.items() if k in 'abxyz'} for (_, code), f in kept.items()}
    want, fast = frames(f), jedlik.compile(f, backend="eager")
    for _ in range(3):
        got = frames(fast)
        for fn in (f, callee):
            assert got[fn.__code__] == want[fn.__code__]


def test_threads():
    fast, out = jedlik.compile(long_loop, backend="eager"), []
    want = long_loop(X)

    def hook(frame, event, arg):
        out.append(event)

    def work():
        got = fast(X)
        results.append(got[1] == want[1] and got[0].tolist() == want[0].tolist())
    threading.setprofile(hook)
    try:
        for _ in range(2):
            results = []
            threads = [threading.Thread(target=work) for _ in range(3)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            assert results == [True] * 3
    finally:
        threading.setprofile(None)
    assert out.count("call") and "c_call" in out


def test_a_backend_that_profiles():
    """A profiler on while a graph runs is told of what the backend's code calls."""
    names = []

    def backend(gm, inputs):
        def run(*args):
            return gm.forward(*args)
        return run
    fast = jedlik.compile(lambda x: (x + 1).sin(), backend=backend)
    for _ in range(2):
        b = Balance()
        b.of(fast, X)
        names.append(b.names)
    assert all("run" in n for n in names) and "backend" not in names[0]
