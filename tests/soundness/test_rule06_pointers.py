"""Rule 6: addresses are compared only while they must be alive; functions are guarded by code, defaults, keyword defaults and closure."""
import gc
import types
import weakref

import pytest
from follow import X, follow, follows


def reused(make, times=30):
    """Objects made and dropped in turn, so that addresses come back."""
    for k in range(times):
        yield make(k)
        gc.collect(0)


class Thing:
    def __init__(self, n):
        self.n = n


@pytest.mark.parametrize("kind", ("object", "class", "function", "lambda", "list", "dict", "method", "partial", "module", "builtin"))
def test_addresses_that_come_back(kind):
    """A new object at an old address is not the old one."""
    import functools

    def make(k):
        if kind == "object":
            return Thing(k)
        if kind == "class":
            return type("C", (), {"n": k})
        if kind in ("function", "lambda"):
            return eval(f"lambda: {k}")
        if kind == "list":
            return [k]
        if kind == "dict":
            return {"n": k}
        if kind == "method":
            return types.MethodType(lambda self: self.n, Thing(k))
        if kind == "partial":
            return functools.partial(lambda n: n, k)
        if kind == "module":
            m = types.ModuleType("m")
            m.n = k
            return m
        return [k].copy

    def program(compile):
        def f(x, o):
            if kind in ("object", "class", "module"):
                return x + o.n, o
            if kind in ("list", "dict"):
                return x + len(o), list(o), o
            return x + 1, o()

        f = compile(f)
        for o in reused(make):
            yield f(X, o)
    follow(program, sweep=False)


@follows(sweep=False)
def test_identity_of_something_dead(compile):
    """`o is KEPT` with KEPT replaced at the same address."""
    box = Thing(0)

    def f(x, o):
        return x + (1 if o is box.n else 2)

    f = compile(f)
    for k in range(20):
        o = Thing(k)
        box.n = o
        yield f(X, o)
        box.n = None
        del o
        gc.collect(0)
        yield f(X, Thing(k))


@follows(graphs=1)
def test_parents_pin_their_parts(compile):
    class Inner:
        pass

    class Outer:
        def __init__(self):
            self.i = Inner()
            self.i.v = 2

    o = Outer()

    def f(x):
        return x * o.i.v

    f = compile(f)
    for _ in range(5):
        yield f(X)
        o.i = Inner()
        o.i.v = 2
        gc.collect(0)


@follows(graphs=(1, 8))
def test_the_code_of_a_helper(compile):
    def helper(x):
        return x + 1

    def other(x):
        return x + 2

    def third(x):
        return x - 1

    f = compile(lambda x: helper(x) * 2)
    yield f(X)
    first = helper.__code__
    for code in (other.__code__, third.__code__, first, other.__code__):
        helper.__code__ = code
        yield f(X)
        yield f(X)


@follows(graphs=(1, 8))
def test_defaults_of_a_method(compile):
    """Class versions do not see `C.m.__defaults__ = …`."""
    class C:
        def m(self, x, k=1, *, j=10):
            return x + k, j

    o = C()
    f = compile(lambda x: o.m(x))
    yield f(X)
    C.m.__defaults__ = (5,)
    yield f(X)
    C.m.__kwdefaults__ = {"j": 20}
    yield f(X)
    C.m.__kwdefaults__["j"] = 30
    yield f(X)
    C.m.__defaults__ = None
    yield f(X)
    C.m.__defaults__ = (1, 2)
    yield f(X)
    C.m.__kwdefaults__ = None
    yield f(X)
    C.m.__defaults__ = ([],)
    yield f(X)


@follows(graphs=(1, 8))
def test_closures_of_a_helper(compile):
    def make(k):
        def helper(x):
            return x + k
        return helper

    a, b = make(1), make(2)
    box = Thing(a)
    f = compile(lambda x: box.n(x))
    for h in (a, a, b, make(3), a):
        box.n = h
        yield f(X)
    a.__closure__[0].cell_contents = 9
    yield f(X)
    b.__closure__[0].cell_contents = "text"
    box.n = b
    yield f(X)


@follows(graphs=(1, 8))
def test_same_code_other_globals(compile):
    """Two functions of one code object in two modules."""
    spaces = [{"K": 1}, {"K": 2}]
    code = (lambda: 0).__code__

    def template(x):
        return x + K  # noqa: F821

    code = template.__code__
    helpers = [types.FunctionType(code, s) for s in spaces]
    f = compile(lambda x, h: h(x))
    for h in (*helpers, *helpers):
        yield f(X, h)
    spaces[0]["K"] = 10
    for h in helpers:
        yield f(X, h)


@follows(graphs=(1, 8))
def test_entry_of_the_same_code(compile):
    """The compiled function itself, in several incarnations of its code."""
    def make(k, d=1):
        def f(x, n=d):
            return x + k * n
        return f

    for k, d in ((1, 1), (2, 1), (1, 3), (1, 1)):
        f = compile(make(k, d))
        yield f(X)
        yield f(X, 5)


@follows(graphs=(1, 8))
def test_methods_that_are_replaced(compile):
    class Base:
        def m(self, x):
            return x + 1

    class C(Base):
        pass

    o = C()
    f = compile(lambda x: o.m(x))
    yield f(X)
    C.m = lambda self, x: x + 2
    yield f(X)
    o.m = lambda x: x + 3
    yield f(X)
    del o.m
    yield f(X)
    del C.m
    yield f(X)
    Base.m = lambda self, x: x + 4
    yield f(X)
    C.__bases__ = (Thing,)
    Thing.m = lambda self, x: x + 5
    yield f(X)
    del Thing.m
    yield f(X)
    o.__class__ = type("D", (), {"m": lambda self, x: x + 6})
    yield f(X)


@follows(graphs=(1, 4))
def test_slot_caches_compare_the_key(compile):
    """A split-keys dict where the same index is another attribute."""
    class C:
        pass

    def f(x, o):
        return x * o.b, o.a

    f = compile(f)
    for names in ("ab", "ba", "cab", "acb", "ab"):
        o = C()
        for k, name in enumerate(names):
            setattr(o, name, k + 1)
        yield f(X, o)
        o.__dict__
        yield f(X, o)
        o.__dict__ = {"b": 5, "a": 6}
        yield f(X, o)


def test_entries_do_not_keep_objects_alive():
    """What a guard compares dies when the program lets go of it."""
    import jedlik
    f = jedlik.compile(lambda x, o: x + (1 if o.part is None else 2), backend="eager")
    for _ in range(4):
        o = Thing(1)
        o.part = Thing(2)
        refs = weakref.ref(o), weakref.ref(o.part)
        f(X, o)
        del o
        gc.collect()
        assert [r() for r in refs] == [None, None]


@follows(sweep=False)
def test_a_global_function_that_dies(compile):
    space = {}
    exec("def f(x):\n    return x + helper()\n", space)
    f = compile(space["f"])
    for k in range(15):
        space["helper"] = eval(f"lambda: {k}")
        gc.collect(0)
        yield f(X)
