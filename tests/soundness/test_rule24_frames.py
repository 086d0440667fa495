"""Rule 24: unknown code sees real frames: the same names, lines, locals, callers; what it writes is seen; tracing is noticed."""
import inspect
import linecache
import sys
import traceback
import warnings

import pytest
import torch
from follow import X, follow, follows

import jedlik

SEEN = []


def chain():
    """Names and lines of the frames above."""
    out, f = [], sys._getframe(1)
    while f is not None and f.f_code.co_name not in ("call", "play"):
        if "follow" not in f.f_code.co_filename:
            out.append((f.f_code.co_name, f.f_lineno - f.f_code.co_firstlineno))
        f = f.f_back
    return out


@follows()
def test_names_and_lines_of_callers(compile):
    def inner(x, k):
        y = x + k
        a = chain()
        z = y * 2
        return z, a, chain()

    def middle(x):
        r = inner(
            x,
            1)
        return r, [inner(x, v) for v in (2,)]

    def outer(x):
        x = x + 1

        return middle(x)

    f = compile(outer)
    for _ in range(3):
        yield f(X)


@follows()
def test_locals(compile):
    def f(x, n):
        y = x + 1
        first = sorted(locals())
        z = y * n
        frame = inspect.currentframe()
        second = sorted(frame.f_locals), frame.f_locals["n"]
        del first
        return z, second, sorted(locals())

    def g(x):
        def h():
            return x, sorted(sys._getframe(1).f_locals)
        k = 5
        y = x + k
        return y, h()

    f, g = compile(f), compile(g)
    for n in (1, 2, 1):
        yield f(X, n)
        yield g(X)


@follows()
def test_values_in_callers_frames(compile):
    """Unknown code looks at the locals of the frames above it, by value."""
    def look():
        f = sys._getframe(1)
        return {k: v for k, v in f.f_locals.items() if isinstance(v, (int, list))}, {k: v for k, v in f.f_back.f_locals.items() if isinstance(v, int)}

    def inner(x, n):
        items = [n]
        n += 1
        y = x + n
        r = look()
        items.append(2)
        return y, r, items

    def f(x, k):
        k = k * 2
        return inner(x, k + 1), k

    f = compile(f)
    for k in (1, 1, 3):
        yield f(X, k)


@follows()
def test_unknown_code_writes_into_globals_and_cells(compile):
    space = {"N": 1}
    exec("def f(x, act):\n    y = x + N\n    act()\n    return y * N, N\n", space)
    f = compile(space["f"])
    for k in range(4):
        yield f(X, lambda: space.update(N=k + 2)), space["N"]
    cell = 0

    def g(x, act):
        y = x + cell
        act(cell)
        return y * cell, cell

    def act(v):
        nonlocal cell
        cell = v + 1
    g = compile(g)
    for _ in range(4):
        yield g(X, act), cell


def lines_of(e):
    """Function, line, instruction columns of each entry of the traceback."""
    out, tb = [], e.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if "follow" not in code.co_filename:
            at = list(code.co_positions())[tb.tb_lasti // 2]
            out.append((code.co_name, tb.tb_lineno - code.co_firstlineno, at[2:], sorted(tb.tb_frame.f_locals)))
        tb = tb.tb_next
    return out


class Refuses:
    def __init__(self, what):
        self.what = what

    def __add__(self, other):
        raise ValueError("add")

    def __getitem__(self, key):
        raise KeyError(key)

    def __call__(self, *args):
        raise TypeError("call")

    def __getattr__(self, name):
        raise AttributeError(name)

    def __iter__(self):
        raise OSError("iter")

    def __enter__(self):
        raise RuntimeError("enter")

    def __exit__(self, *e):
        pass

    def __bool__(self):
        raise ValueError("bool")

    def __contains__(self, v):
        raise ValueError("contains")

    def __format__(self, spec):
        raise ValueError("format")


RAISERS = {
    "add": lambda x, o: (x + 1).sum() and o + (1 + 2),
    "item": lambda x, o: [x + 1, o["key"]],
    "call": lambda x, o: (x + 1, o(x, 1)),
    "attribute": lambda x, o: (x + 1, o.name.other),
    "iterate": lambda x, o: [v for v in o],
    "truth": lambda x, o: 1 if o else 2,
    "contains": lambda x, o: 3 in o,
    "format": lambda x, o: f"{x.dim()} {o:>3}",
    "int": lambda x, o: int("text"),
    "index": lambda x, o: [1, 2][x.dim() + 5],
    "torch": lambda x, o: x @ torch.ones(7),
    "name": lambda x, o: undefined_name,  # noqa: F821
    "division": lambda x, o: (x + 1, 1 // (x.dim() - 1)),
    "unpack": lambda x, o: (lambda a, b: a)(*[1, 2, 3]),
    "keyword": lambda x, o: chain(bad=1),
    "star": lambda x, o: max(*o),
}


@pytest.mark.parametrize("name", RAISERS)
def test_tracebacks_with_columns(name):
    """Lines, carets and locals in a traceback are those of the plain program, behind breaks and in inlined callees."""
    op = RAISERS[name]

    def program(compile):
        def inner(x, o):
            y = x * 2
            return op(y, o)

        def f(x, o):
            k = 1  # noqa: F841
            x = x + 1
            r = inner(x, o)
            return r

        f = compile(f)
        for _ in range(3):
            how, value = f(X, Refuses(1))
            yield how, lines_of(value) if how == "raised" else value, str(value) if how == "raised" and name != "torch" else None
    follow(program, sweep=name in ("add", "call", "unpack"))


@follows()
def test_warnings_have_the_line_of_the_call(compile):
    def helper():
        warnings.warn("deep", stacklevel=2)

    def f(x):
        y = x + 1
        warnings.warn("here")
        helper()
        z = y * 2
        helper()
        return z

    g = compile(f)
    for _ in range(3):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            r = g(X)
        yield r, [(str(w.message), w.lineno - f.__code__.co_firstlineno, w.filename == __file__) for w in told]


@follows()
def test_super_and_class_cell_behind_breaks(compile):
    class Base:
        def m(self, x):
            return x + 1, chain()[0]

    class C(Base):
        def m(self, x):
            print(end="")
            y, a = super().m(x)
            print(end="")
            return y * 2, a, __class__.__name__, super().m(x)

    o = C()
    f = compile(C.m)
    for _ in range(3):
        yield f(o, X)


@pytest.mark.parametrize("kind", ("profile", "trace"))
def test_unknown_code_turns_tracing_on(kind):
    """From then on every line or call is seen, and nothing compiled is entered; afterwards it is again."""
    switch = sys.setprofile if kind == "profile" else sys.settrace

    def helper(x):
        y = x + 1
        return y

    def f(x, begin, end):
        x = helper(x)
        begin()
        x = helper(x)
        z = x * 2
        end()
        return helper(z)

    def events(call):
        out = []

        def hook(frame, event, arg):
            if frame.f_code.co_filename == __file__ and event in ("call", "line", "return") and frame.f_code.co_name in ("helper", "f"):
                out.append((event, frame.f_code.co_name, frame.f_lineno))
            return hook

        def begin():
            switch(hook)

        def end():
            switch(None)
        try:
            value = call(X, begin, end)
        finally:
            switch(None)
        return value.tolist(), out

    want = events(f)
    fast = jedlik.compile(f, backend="eager")
    nothing = lambda: None  # noqa: E731
    for _ in range(3):
        fast(X, nothing, nothing)
        got = events(fast)
        assert got[0] == want[0]
        assert [e for e in got[1] if e[1] == "helper"] == [e for e in want[1] if e[1] == "helper"]


def test_tracing_at_entry_runs_plainly():
    """A debugger or a coverage tool sees each line."""
    def f(x):
        y = x + 1
        z = y * 2
        return z

    fast = jedlik.compile(f, backend="eager")
    fast(X)
    lines = []

    def hook(frame, event, arg):
        if frame.f_code is f.__code__ and event == "line":
            lines.append(frame.f_lineno - f.__code__.co_firstlineno)
        return hook
    sys.settrace(hook)
    try:
        fast(X)
    finally:
        sys.settrace(None)
    assert lines == [1, 2, 3]


def test_torch_profiler_sees_compiled_code():
    """torch.profiler sees the operations of compiled code, with stacks too."""
    graphs = []

    def backend(gm, inputs):
        graphs.append(gm)
        return gm.forward
    fast = jedlik.compile(lambda x: (x + 1).sin(), backend=backend)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
        y = fast(X)
    assert len(graphs) == 1 and y.tolist() == (X + 1).sin().tolist()
    assert any(e.key == "aten::sin" for e in p.key_averages())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True):
        assert fast(X).tolist() == y.tolist()
    with torch.autograd.profiler.profile():
        assert fast(X).tolist() == y.tolist()


@follows(sweep=False)
def test_inspect_stack_and_source(compile):
    def f(x):
        y = x + 1
        info = inspect.stack()[0]
        text = linecache.getline(info.filename, info.lineno).strip()
        return y, info.function, text, traceback.extract_stack()[-1].name

    f = compile(f)
    for _ in range(3):
        yield f(X)


@follows()
def test_frames_kept_by_unknown_code(compile):
    """A frame object that outlives the call has the last values."""
    kept = []

    def keep():
        kept.append(sys._getframe(1))

    def f(x, n):
        v = n + 1
        keep()
        y = x + v
        v = v * 10
        keep()
        w = y * 2
        return w

    f = compile(f)
    for n in (1, 2, 1):
        kept.clear()
        r = f(X, n)
        yield r, [sorted(k.f_locals) for k in kept], [k.f_locals["v"] for k in kept], kept[0] is kept[1]


@follows()
def test_exception_state(compile):
    """sys.exc_info() in handlers, callees of handlers, and behind them."""
    def who():
        return sys.exc_info()[0] and sys.exc_info()[0].__name__

    def f(x):
        out = [who()]
        try:
            raise KeyError("k")
        except KeyError:
            out.append(who())
            y = x + 1
            try:
                raise ValueError
            except ValueError:
                out.append(who())
            out.append(who())
            print(end="")
            out.append(who())
        out.append(who())
        return y, out

    f = compile(f)
    for _ in range(2):
        yield f(X)
    try:
        raise OSError
    except OSError:
        yield f(X)
