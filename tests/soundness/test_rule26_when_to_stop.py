"""Rule 26: points are shared by code and options, entries own nothing, hopeless loops and empty points end up plain, signals get through."""
import gc
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest
import torch
from follow import X, follow, follows

import jedlik


def test_the_same_lambda_in_a_loop_compiles_once(captures):
    """Points live in a table keyed by code and options."""
    for k in range(30):
        fast = jedlik.compile(lambda x: x + 1, backend=captures)
        assert fast(X).tolist() == [2, 2, 2]
    assert len(captures.graphs) == 1


def test_a_method_of_many_instances_compiles_once(captures):
    class C:
        def __init__(self, k):
            self.k = torch.full((3,), float(k))

        def m(self, x):
            return x * self.k

    for k in range(20):
        o = C(k)
        assert jedlik.compile(o.m, backend=captures)(X).tolist() == [k] * 3
    assert len(captures.graphs) == 1


def test_other_options_are_other_points():
    counts = []

    def one(gm, inputs):
        counts.append(1)
        return gm.forward

    def two(gm, inputs):
        counts.append(2)
        return lambda *args: tuple(v + 100 for v in gm.forward(*args))

    def f(x):
        return x + 1
    assert jedlik.compile(f, backend=one)(X)[0] == 2
    assert jedlik.compile(f, backend=two)(X)[0] == 102
    assert jedlik.compile(f, backend=one)(X)[0] == 2
    assert counts == [1, 2]


def test_closures_of_one_code_do_not_mix():
    def make(k):
        return lambda x: x + k
    fs = [jedlik.compile(make(k), backend="eager") for k in range(5)]
    for _ in range(2):
        assert [f(X)[0].item() for f in fs] == [1 + k for k in range(5)]


def test_entries_own_no_user_objects():
    """Function, closure, arguments, globals of a compiled function die with the last name for it."""
    class Owned:
        pass

    refs = []
    for k in range(3):
        o, g = Owned(), Owned()
        o.t = g.t = torch.ones(3)
        space = {"torch": torch, "g": g}
        exec("def f(x, o):\n    y = x * o.t\n    print(end='')\n    return y + g.t\n", space)
        fast = jedlik.compile(space["f"], backend="eager")
        fast(X, o), fast(X, o)
        refs += [weakref.ref(o), weakref.ref(g), weakref.ref(o.t), weakref.ref(space["f"])]
        del o, g, space, fast
    gc.collect()
    assert [r() for r in refs] == [None] * len(refs)


def test_a_point_without_nodes_gets_no_entry(captures):
    """Nothing to gain: plain Python, no graph, and the parts that have operations are still found."""
    def f(x, n):
        total = 0
        for k in range(n):
            total += k
        return total

    fast = jedlik.compile(f, backend=captures)
    for _ in range(5):
        assert fast(X, 4) == 6
    assert not captures.graphs


def test_plain_until_the_next_live_point(captures):
    """One point that is not worth it does not turn the rest of a frame plain."""
    def f(x, s):
        t = s.upper()
        u = eval("t + s")
        n = 0
        for c in u:
            n += c == "A"
        print(end="")
        return (x * 2 + n).sin()

    fast = jedlik.compile(f, backend=captures)
    for s in ("a", "a", "b", "aa"):
        assert torch.equal(fast(X, s), f(X, s))
    assert captures.graphs and sum(len(ops) for ops in captures.ops) >= 2


def run(code, timeout=120):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=timeout)


def test_a_flag_set_by_another_thread():
    """`while not o.done: pass` ends."""
    r = run("""
        import threading, time, torch, jedlik
        class O: done = False
        o = O()
        def f(x):
            while not o.done:
                pass
            return x + 1
        c = jedlik.compile(f, backend="eager")
        for _ in range(3):
            o.done = False
            threading.Timer(0.3, lambda: setattr(o, "done", True)).start()
            print(c(torch.ones(1)).item())
    """)
    assert r.stdout.split() == ["2.0"] * 3, r.stdout + r.stderr


def test_a_long_loop_ends_up_plain():
    """`for i in range(10**7)` ends up plain: what one call has traced, the next one does not trace again."""
    def f(x, n):
        t = 0
        for i in range(n):
            t = (t + i) % 1000003
        return x + t

    fast = jedlik.compile(f, backend="eager")
    for _ in range(3):
        fast(X, 2_000_000)
    before = jedlik.stats()["instructions"]
    assert torch.equal(fast(X, 2_000_000), f(X, 2_000_000))
    assert jedlik.stats()["instructions"] == before


def test_nested_loops_and_while():
    def f(x, n):
        k = steps = 0
        while k < n:
            for j in range(50):
                if j % 7 == 3:
                    continue
                steps += 1
            k += 1
        y = x + steps
        while steps > 3:
            steps //= 2
        return y * steps

    fast = jedlik.compile(f, backend="eager")
    for n in (0, 1, 5, 3000, 5):
        assert torch.equal(fast(X, n), f(X, n))


def test_ctrl_c_in_hopeless_loops():
    """KeyboardInterrupt arrives, while tracing and while running plainly."""
    r = run("""
        import signal, threading, torch, jedlik
        def f(x):
            while True:
                pass
        def g(x):
            n = 0
            while True:
                n += 1
                x = x + 1
        def h(x):
            def inner(n):
                return n + 1
            n = 0
            while n >= 0:
                n = inner(n)
        for fn in (f, g, h):
            c = jedlik.compile(fn, backend="eager")
            threading.Timer(0.7, lambda: signal.raise_signal(signal.SIGINT)).start()
            try:
                c(torch.ones(1))
            except KeyboardInterrupt:
                print("interrupted")
    """)
    assert r.stdout.split() == ["interrupted"] * 3, r.stdout + r.stderr


def test_other_threads_run_while_a_loop_is_traced():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            time.sleep(0.005)

    def f(x):
        n = 0
        while n < 3_000_000:
            n += 1
        return x + n

    t = threading.Thread(target=tick)
    t.start()
    try:
        before = len(ticks)
        jedlik.compile(f, backend="eager")(X)
        got = len(ticks) - before
    finally:
        stop.set()
        t.join()
    assert got >= 3  # a tick a few milliseconds


@follows(graphs=(1, 8), sweep=False)
def test_loops_with_operations(compile):
    """Loops of operations are captured as far as the budget allows; the numbers are right."""
    def f(x, n):
        for k in range(n):
            x = x + k
            if k % 100 == 99:
                x = x * 0.5
        return x

    f = compile(f)
    for n in (0, 1, 10, 250, 3):
        yield f(X, n)


@pytest.mark.parametrize("depth", (10, 200, 700))
def test_deep_inlining(depth):
    """Inlining does not recurse in C per Python call and counts against the recursion limit."""
    def program(compile):
        def down(x, n):
            return x + n if n == 0 else down(x, n - 1) + 1

        def forever(x):
            return forever(x + 1)

        def bounded(x):
            try:
                return forever(x)
            except RecursionError:
                return x

        f, g = compile(down), compile(bounded)
        for n in (depth, 3, depth):
            yield f(X, n)
        yield g(X)
        yield g(X)
    follow(program, sweep=False)


def test_the_recursion_limit_is_the_programs():
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    def f(x, n):
        return x + down(n)

    fast, limit = jedlik.compile(f, backend="eager"), sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(250)
        with pytest.raises(RecursionError):
            fast(X, 400)
        assert fast(X, 50)[0] == 51
        sys.setrecursionlimit(2000)
        assert fast(X, 400)[0] == 401
    finally:
        sys.setrecursionlimit(limit)


def test_limit_of_entries_is_reached_with_one_warning(caplog):
    """Then the point runs plainly, right, and its other users are not hurt."""
    import logging

    def f(x, n):
        return x * len(str(n)), n

    jedlik.config.recompile_limit = 4
    fast = jedlik.compile(f, backend="eager")
    with caplog.at_level(logging.WARNING, "jedlik"):
        for k in range(12):
            y, n = fast(X, 10 ** k)
            assert y[0] == k + 1 and n == 10 ** k
    assert sum("limit" in r.getMessage() for r in caplog.records) == 1


def test_signals_between_segments():
    """A handler that raises is seen at the next call or back-edge, in the program's frames."""
    class Stop(Exception):
        pass

    def handler(*args):
        raise Stop

    def f(x, act):
        y = x + 1
        try:
            act()
            for _ in range(3):
                y = y * 2
                print(end="")
        except Stop:
            return "stopped"
        return y

    fast = jedlik.compile(f, backend="eager")
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        assert fast(X, lambda: None)[0] == 16
        assert fast(X, lambda: signal.raise_signal(signal.SIGUSR1)) == "stopped"
        assert fast(X, lambda: None)[0] == 16
    finally:
        signal.signal(signal.SIGUSR1, before)
