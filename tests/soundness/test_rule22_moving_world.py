"""Rule 22: the world moves while tracing and compiling, and between calls: threads, collections, backends, imports, caches, registrations."""
import abc
import contextvars
import functools
import gc
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import torch
from follow import X, follow, follows

import jedlik


class Box:
    pass


def meddling(change):
    """A backend that changes the world while it compiles."""
    def backend(gm, inputs):
        change()
        return gm.forward
    return backend


CHANGES = {
    "attribute": lambda o: setattr(o, "n", 5),
    "type of an attribute": lambda o: setattr(o, "n", 2.5),
    "tensor": lambda o: setattr(o, "t", torch.full((3,), 7.0)),
    "shape": lambda o: setattr(o, "t", torch.ones(1)),
    "deleted": lambda o: delattr(o, "n"),
    "list": lambda o: o.items.append(9),
    "dict": lambda o: o.d.update(k=9),
    "class": lambda o: setattr(Box, "k", 9),
    "own class": lambda o: setattr(o, "__class__", type("Other", (Box,), {"k": 4})),
    "grad mode": lambda o: torch.set_grad_enabled(False),
    "default dtype": lambda o: torch.set_default_dtype(torch.float64),
    "helper": lambda o: setattr(o, "helper", lambda v: v - 1),
    "collection": lambda o: gc.collect(),
    "metadata": lambda o: o.t.unsqueeze_(0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_backend_that_changes_the_world(name):
    """Before an entry is first used its guards run on the untouched slots; the call then sees the new world, or the old, but no mixture."""
    Box.k = 1

    def f(x):
        return (x * o.t, o.n, len(o.items), o.d["k"], o.k, o.helper(3), torch.is_grad_enabled(), torch.ones(1).dtype)

    def outcome(call):
        try:
            return repr(call(X))
        except Exception as e:
            return repr(e)

    def fresh():
        Box.k = 1
        torch.set_grad_enabled(True), torch.set_default_dtype(torch.float32)
        made = Box()
        made.n, made.t, made.items, made.d, made.helper = 1, torch.ones(3), [1], {"k": 1}, lambda v: v + 1
        return made
    try:
        o = fresh()
        CHANGES[name](o)
        want = outcome(f)
        o = fresh()
        changed = []

        def change():
            if not changed:
                changed.append(1)
                CHANGES[name](o)
        fast = jedlik.compile(f, backend=meddling(change))
        assert outcome(fast) == want and changed
        assert outcome(fast) == outcome(f)
    finally:
        fresh()


def test_another_thread_meets_a_point_that_is_being_compiled():
    """It runs plainly and never waits."""
    inside, go = threading.Event(), threading.Event()
    compiling = []

    def slow(gm, inputs):
        compiling.append(threading.get_ident())
        inside.set()
        assert go.wait(20)
        return gm.forward

    fast = jedlik.compile(lambda x: x + 1, backend=slow)
    out = []
    first = threading.Thread(target=lambda: out.append(fast(X)))
    first.start()
    assert inside.wait(20)
    assert fast(X + 1).tolist() == [3, 3, 3] and not out  # the other one is still at it
    go.set()
    first.join()
    assert out[0].tolist() == [2, 2, 2] and len(compiling) == 1
    assert fast(X).tolist() == [2, 2, 2] and len(compiling) == 1


def test_a_backend_that_calls_the_compiled_function():
    """Compiling again inside of compiling the same point: plainly."""
    def again(gm, inputs):
        assert fast(X).tolist() == [2, 2, 2]
        return gm.forward
    fast = jedlik.compile(lambda x: x + 1, backend=again)
    assert fast(X).tolist() == [2, 2, 2] and fast(X).tolist() == [2, 2, 2]


def test_threads_that_change_what_is_traced():
    o = Box()
    o.n, o.items = 1, [1]
    stop = threading.Event()

    def meddle():
        k = 0
        while not stop.is_set():
            k += 1
            o.n = k % 7 if k % 3 else float(k % 7)
            o.items = [k] * (k % 4 + 1)
    t = threading.Thread(target=meddle)
    t.start()
    wrong = []
    try:
        for k in range(60):
            fast = jedlik.compile(lambda x: (x + o.n, [v for v in o.items]), backend="eager")
            for _ in range(10):
                y, items = fast(X)
                if y[0].item() - 1 not in range(7) or len(set(items)) != 1 or len(items) != items[0] % 4 + 1:
                    wrong.append((y, items))
    finally:
        stop.set()
        t.join()
    assert not wrong


@follows()
def test_abc_registrations(compile):
    """A registration made after the trace changes the answer."""
    class Base(abc.ABC):
        pass

    class A:
        pass

    class B:
        pass

    def f(x, o):
        return x + (1 if isinstance(o, Base) else 2), issubclass(type(o), Base)

    f = compile(f)
    yield f(X, A())
    yield f(X, B())
    Base.register(A)
    yield f(X, A())
    yield f(X, B())
    Base.register(B)
    yield f(X, B())
    yield f(X, 3)
    Base.register(int)
    yield f(X, 3)
    yield f(X, "a")


@follows()
def test_abc_registrations_of_the_library(compile):
    import collections.abc

    class Seq:
        def __len__(self):
            return 0

    def f(x, o):
        return x + 1, isinstance(o, collections.abc.Sequence), isinstance(o, collections.abc.Sized), isinstance(o, collections.abc.Iterable)

    f = compile(f)
    for o in ([1], Seq(), (), "a", 3):
        yield f(X, o)
    collections.abc.Sequence.register(Seq)
    yield f(X, Seq())
    Seq.__iter__ = lambda self: iter(())
    yield f(X, Seq())


@follows()
def test_instancecheck_that_changes(compile):
    class Meta(type):
        answer = True

        def __instancecheck__(cls, o):
            return Meta.answer

    class C(metaclass=Meta):
        pass

    f = compile(lambda x, o: (x + 1, isinstance(o, C), isinstance(o, (int, C))))
    for answer in (True, False, True):
        Meta.answer = answer
        yield f(X, "a")
    Meta.__instancecheck__ = lambda cls, o: o == 5
    yield f(X, 5)
    yield f(X, "b")


@follows()
def test_lru_cache(compile):
    """Results, and what the cache says of itself."""
    runs = []

    @functools.lru_cache(maxsize=2)
    def cached(n):
        runs.append(n)
        return n * 2

    f = compile(lambda x, n: x + cached(n))
    for n in (1, 1, 2, 3, 1, 3, 3):
        yield f(X, n), list(runs)
    cached.cache_clear()
    yield f(X, 3), list(runs)
    yield cached.cache_info().currsize


@follows()
def test_cached_property(compile):
    runs = []

    class C:
        @functools.cached_property
        def p(self):
            runs.append(1)
            return len(runs)

    f = compile(lambda x, o: x + o.p)
    o = C()
    for k in range(5):
        if k == 3:
            del o.p
        yield f(X, o), list(runs), dict(vars(o))
        yield f(X, C()), list(runs)


@follows()
def test_context_variables(compile):
    var = contextvars.ContextVar("v", default=1)

    def f(x):
        return x + var.get()

    f = compile(f)
    for v in (1, 2, 3, 2):
        token = var.set(v)
        yield f(X)
        yield contextvars.copy_context().run(f, X)
        var.reset(token)
        yield f(X)


@follows()
def test_locks_are_taken(compile):
    lock, rlock = threading.Lock(), threading.RLock()

    def f(x):
        with lock:
            held = lock.locked()
            with rlock:
                y = x + 1
        return y, held, lock.locked()

    f = compile(f)
    for _ in range(3):
        yield f(X)


def test_clocks_and_random_numbers_are_not_constants():
    """`time.time()` has no operands, yet is no constant."""
    import os
    import random
    import uuid

    def f(x):
        return (x + 1, time.time(), time.perf_counter(), time.monotonic_ns(), random.random(), random.getrandbits(60), uuid.uuid4().hex, os.urandom(8),
                id(object()) and time.process_time_ns(), torch.initial_seed())

    fast = jedlik.compile(f, backend="eager")
    seen = [fast(X)[1:8] for _ in range(4)]
    for column in zip(*seen):
        assert len(set(column)) == 4, column


@follows()
def test_environment_and_files(compile):
    import os
    import pathlib
    import tempfile
    path = pathlib.Path(tempfile.mkdtemp()) / "f"

    def f(x):
        return x + 1, os.environ.get("JEDLIK_TEST_WORLD"), path.exists(), os.getcwd() == str(pathlib.Path.cwd()), os.path.isfile(path)

    f = compile(f)
    for value in ("a", "b", None):
        if value is None:
            os.environ.pop("JEDLIK_TEST_WORLD", None)
            path.unlink()
        else:
            os.environ["JEDLIK_TEST_WORLD"] = value
            path.write_text(value)
        yield f(X)


@follows()
def test_hidden_state_of_the_interpreter(compile):
    def f(x):
        return x + 1, sys.getrecursionlimit(), sys.getswitchinterval(), "some.module" in sys.modules, sys.flags.optimize, gc.isenabled(), threading.active_count()

    f = compile(f)
    limit = sys.getrecursionlimit()
    yield f(X)
    sys.setrecursionlimit(limit + 7)
    yield f(X)
    sys.setrecursionlimit(limit)
    sys.modules["some.module"] = sys
    yield f(X)
    del sys.modules["some.module"]
    gc.disable()
    yield f(X)
    gc.enable()
    yield f(X)


def test_imports_of_modules_that_are_not_loaded_or_half_loaded(tmp_path):
    """An import inside the program runs once, at its place; a half-loaded module is not taken for a whole one."""
    (tmp_path / "lazy_one.py").write_text("print('loading')\nVALUE = 3\n")
    (tmp_path / "half.py").write_text(textwrap.dedent("""
        import torch, jedlik
        A = 1
        def f(x):
            import half
            return x + half.A + getattr(half, 'B', 100)
        fast = jedlik.compile(f, backend='eager')
        FIRST = fast(torch.ones(1)).item(), f(torch.ones(1)).item()
        B = 5
    """))
    code = textwrap.dedent("""
        import sys, torch, jedlik
        sys.path.insert(0, sys.argv[1])
        def f(x):
            print("before")
            import lazy_one
            from lazy_one import VALUE
            return x + VALUE + lazy_one.VALUE
        c = jedlik.compile(f, backend="eager")
        print(c(torch.ones(1)).item(), c(torch.ones(1)).item())
        import half
        print(half.FIRST, half.fast(torch.ones(1)).item())
        sys.modules["lazy_one"].VALUE = 10
        print(c(torch.ones(1)).item())
        del sys.modules["lazy_one"]
        print(c(torch.ones(1)).item())
    """)
    r = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert r.stdout.splitlines() == ["before", "loading", "before", "7.0 7.0", "(102.0, 102.0) 7.0", "before", "21.0", "before", "loading", "7.0"], r.stdout + r.stderr


@follows()
def test_imports_that_were_replaced(compile):
    import types
    m = types.ModuleType("jedlik_test_world")
    m.k = 1
    sys.modules["jedlik_test_world"] = m

    def f(x):
        import jedlik_test_world
        from jedlik_test_world import k
        return x + k + jedlik_test_world.k

    f = compile(f)
    yield f(X)
    m.k = 2
    yield f(X)
    other = types.ModuleType("jedlik_test_world")
    other.k = 7
    sys.modules["jedlik_test_world"] = other
    yield f(X)
    del other.k
    yield f(X)
    del sys.modules["jedlik_test_world"]
    yield f(X)


@follows()
def test_builtins_that_were_replaced(compile):
    import builtins
    f = compile(lambda x, v: (x + len(v), max(v)))
    yield f(X, [1, 2])
    own = builtins.len
    builtins.len = lambda v: 50
    try:
        yield f(X, [1, 2])
    finally:
        builtins.len = own
    yield f(X, [1, 2])


@follows()
def test_functions_of_torch_that_were_replaced(compile):
    f = compile(lambda x: (torch.sin(x), x.cos(), torch.nn.functional.relu(x)))
    yield f(X)
    sin, relu = torch.sin, torch.nn.functional.relu
    torch.sin = lambda x: x * 100
    torch.nn.functional.relu = lambda x: x - 50
    try:
        yield f(X)
    finally:
        torch.sin, torch.nn.functional.relu = sin, relu
    yield f(X)


class Left:
    side = "left"


class Right:
    side = "right"


CLASS_QUESTIONS = {
    "names": lambda c, o: (c.__name__, c.__qualname__, c.__module__, type(o).__name__, o.__class__.__qualname__),
    "repr": lambda c, o: (repr(c), str(c), f"{c}", "%s %r" % (c, c)),
    "subclass": lambda c, o: (issubclass(c, Left), issubclass(c, (Right, int))),
    "instance": lambda c, o: (isinstance(o, Left), isinstance(o, Right), isinstance(o, (int, Right))),
    "bases": lambda c, o: (c.__bases__, c.__mro__, c.mro()),
    "methods of type": lambda c, o: (type.__instancecheck__(Left, o), type.__subclasscheck__(Right, c)),
    "attribute": lambda c, o: (c.side, o.side, hasattr(o, "nothing")),
    "pattern": lambda c, o: [k for k in range(1) for v in (o,) if isinstance(v, Right)],
}


@pytest.mark.parametrize("name", CLASS_QUESTIONS)
def test_classes_that_are_renamed_and_get_other_bases(name):
    class C(Left):
        pass

    ask = CLASS_QUESTIONS[name]
    f = jedlik.compile(lambda x: (x + 1, ask(C, o)), backend="eager")
    o = C()
    for k in range(4):
        C.__name__, C.__qualname__, C.__module__ = f"N{k}", f"Q{k}", f"m{k}"
        C.__bases__ = (Left, Right)[k % 2],
        assert f(X)[1] == ask(C, o), k
