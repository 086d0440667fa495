"""Rule 21: rollback ends a trace and leaves nothing behind: no guard lost, no value half known, no warning told twice."""
import warnings

import pytest
import torch
from follow import X, follow, follows

import jedlik


def opaque(v=None):
    """Unknown to the tracer."""
    return eval("v")


@follows()
def test_guard_of_a_value_asked_in_the_broken_instruction(compile):
    """The instruction that breaks has asked questions before it gave up; the next trace must ask again."""
    class Box:
        pass

    o = Box()

    def f(x):
        y = x + 1
        v = opaque(o.a) if o.flag else o.b
        return y * v

    f = compile(f)
    for flag, a, b in ((True, 2, 3), (False, 2, 3), (True, 5, 3), (False, 2, 7), (True, 2.5, 3)):
        o.flag, o.a, o.b = flag, a, b
        yield f(X)


@follows()
def test_values_realised_before_a_break(compile):
    """Known before the break, used behind it, changed in between by the unknown call."""
    class Box:
        pass

    o = Box()
    o.n, o.items = 1, [1]

    def change():
        return exec("o.n += 1; o.items.append(o.n)", {"o": o})

    def f(x):
        a = o.n
        b = len(o.items)
        change()
        return x + a + b, o.n, len(o.items)

    f = compile(f)
    for _ in range(4):
        yield f(X), o.n, list(o.items)


@follows()
def test_writes_that_are_rolled_back(compile):
    """A write in the broken instruction happens once."""
    log = []

    class Loud:
        def __iadd__(self, other):
            log.append(other)
            opaque()
            log.append(-other)
            return self

    def f(x, o):
        o += 1
        y = x + 1
        o += 2
        return y, o

    f = compile(f)
    for _ in range(3):
        o = Loud()
        how, value = f(X, o)
        yield how, value[0], value[1] is o, list(log)


@pytest.mark.parametrize("where", ("__init__", "__enter__", "__getattr__", "__add__", "property", "sort key", "__next__", "__del__"))
def test_breaks_inside_slots(where):
    """Where a callee was entered through a slot, the break goes out to the instruction; what it had done is undone."""
    def program(compile):
        log = []

        class C:
            def __init__(self):
                self.n = 1
                if where == "__init__":
                    log.append("init")
                    opaque()
                    self.n = 2

            def __enter__(self):
                log.append("enter")
                if where == "__enter__":
                    opaque()
                return self

            def __exit__(self, *e):
                log.append("exit")

            def __getattr__(self, name):
                if where != "__getattr__":
                    raise AttributeError(name)
                log.append("getattr")
                return opaque(5)

            def __add__(self, other):
                log.append("add")
                if where == "__add__":
                    opaque()
                return other + self.n

            @property
            def p(self):
                log.append("p")
                if where == "property":
                    opaque()
                return 3

            def __iter__(self):
                return self

            def __next__(self):
                log.append("next")
                if where == "__next__":
                    opaque()
                self.n += 1
                if self.n > 3:
                    raise StopIteration
                return self.n

        def key(v):
            log.append(v)
            return opaque(-v) if where == "sort key" else -v

        def f(x):
            o = C()
            y = x + o.n
            with o:
                y = y * 2
            z = getattr(o, "missing", 1)
            w = o + 1
            return y, z, w, o.p, sorted([1, 3, 2], key=key), list(o), o.n

        f = compile(f)
        for _ in range(3):
            log.clear()
            yield f(X), list(log)
    follow(program)


def test_warnings_once():
    """Warnings of operations are told as often as plainly: inference tells none."""
    def f(x):
        warnings.warn("mine", stacklevel=1)
        y = torch.nn.functional.softmax(x)
        opaque()
        return torch.nn.functional.l1_loss(y, torch.ones(3, 1))

    def told(g):
        out = []
        for _ in range(3):
            with warnings.catch_warnings(record=True) as ws:
                warnings.simplefilter("always")
                g(X)
            out.append([str(w.message)[:30] for w in ws])
        return out
    assert told(jedlik.compile(f, backend="eager")) == told(f)


@follows()
def test_sources_reused_after_a_rollback(compile):
    """The same place read in the broken instruction and again before it in the next trace."""
    d = {"a": [1, 2], "b": "k"}

    def f(x, use):
        if use:
            opaque([d["a"][0], d[d["b"]] if d["b"] in d else None])
        return x + d["a"][0] + len(d["a"]), d["b"]

    f = compile(f)
    for k, use in enumerate((True, False, True, False, True)):
        d["a"][0] = k
        yield f(X, use)
        d["a"].append(k)
        yield f(X, use)


@follows()
def test_many_breaks_in_a_row(compile):
    def f(x, n):
        for k in range(n):
            x = x + opaque(k)
            if opaque(k) == 3:
                x = x * 2
        return x

    f = compile(f)
    for n in (0, 1, 5, 5, 8):
        yield f(X, n)
