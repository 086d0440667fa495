"""Functions that between them execute every instruction a normal function can have.

CASES: (function, args, kwargs). `log` records effects in order."""

import contextlib
import sys

LOG = []
G_VALUE = 5


def log(*what):
    LOG.append(what if len(what) != 1 else what[0])
    return what[0] if what else None


class Mgr:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        log("enter", self.name)
        return self

    def __exit__(self, t, v, tb):
        log("exit", self.name, t and t.__name__, sys.exc_info()[0] and sys.exc_info()[0].__name__)
        return self.swallow


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def norm(self, k=1):
        return k * (self.x ** 2 + self.y ** 2)


class Odd:
    """Everything it does fails."""

    def __bool__(self):
        raise ValueError("no truth")

    def __iter__(self):
        raise KeyError("no items")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(name)

    def __eq__(self, other):
        raise ArithmeticError("no equal")

    __hash__ = None


def here():
    f = sys._getframe(1)
    return f.f_code.co_name, f.f_lineno - f.f_code.co_firstlineno, f.f_lasti


def boom(kind=ValueError, text="boom"):
    raise kind(text)


# -- Plain data -------------------------------------------------------------------


def arith(a, b):
    c = a + b * 2 - (a // 3) % 5
    c <<= 1
    c |= a & 7
    c ^= b
    d = -c, +c, ~c, not c
    e = a / 3, a ** 2, 7 >> 1, divmod(a, b)
    c **= 2
    c -= 1
    c //= 2
    c %= 1000
    return c, d, e, a < b, a == b, a is b, a is not b, a in (1, b), a not in (1, b), a != b >= 2


def building(a, b):
    t = (a, b, *[1, 2])
    l = [a, *t, b]
    s = {a, *l}
    d = {"a": a, **{"b": b}, "c": 3}
    e = {a: 1, b: 2}
    f = f"{a}-{b!r:>8}-{l!s}-{a:04d}{b!a}"
    g = l[1:], l[::2], l[0:2:1]
    return t, l, sorted(s), d, e, f, g, [], {}, ()


def unpacking(seq):
    a, b, c = seq
    (d, e), *f = [(a, b), c, a]
    g, *h, i = seq
    j, k = "xy"
    m, = {1}
    return a, b, c, d, e, f, g, h, i, j, k, m


def unpack_fail(how):
    out = []
    for x in how:
        try:
            if len(out) % 2:
                a, *b, c = x
            else:
                a, b = x
            out.append((a, b))
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


def attrs(p):
    p.x += 1
    p.z = p.x * p.y
    del p.y
    n = p.z
    try:
        return p.y
    except AttributeError as e:
        return str(e), n, p.__dict__, here()


def items(d):
    d["a"] = 1
    d["b"] = d["a"] + 1
    d["b"] += 5
    del d["a"]
    x = [0, 1, 2, 3]
    x[1:2] = [7, 8]
    del x[0]
    try:
        d["nope"]
    except KeyError as e:
        return repr(e), d, x


def globals_(x):
    global G_VALUE, G_TEMP
    old = G_VALUE
    G_VALUE = x
    G_TEMP = 1
    del G_TEMP
    try:
        return G_TEMP
    except NameError as e:
        return str(e), e.name, len([1]), G_VALUE
    finally:
        G_VALUE = old


def unbound(flag):
    if flag:
        x = 1
    try:
        log(x)
    except UnboundLocalError as e:
        log(str(e))
    y = 1
    del y
    del y


def jumps(a, b):
    out = []
    out.append(a and b or "none")
    out.append(a or b)
    out.append("n" if a is None else "nn")
    out.append("b" if b is not None else "bn")
    if not a:
        out.append(0)
    elif b > 3:
        out.append(1)
    while b:
        b -= 1
        if b == 2:
            continue
        if b == 1:
            break
    else:
        out.append("else")
    while True:
        b += 1
        if b > 3:
            break
    return out, b, 1 < b < 10


def none_loops(seq):
    i, last = 0, None
    while last is None:
        last = seq[i]
        i += 1
    while last is not None:
        last = seq[i]
        i += 1
    return i


# -- Loops and comprehensions -------------------------------------------------------


def loops(n):
    total = 0
    for i in range(n):
        for j in (1, 2, 3):
            if j == 2:
                continue
            total += i * j
            if total > 40:
                break
        else:
            log("full", i)
    return total


def comps(n):
    k = 3
    a = [i * k for i in range(n) if i % 2]
    b = {i: i * k for i in range(n)}
    c = {i % k for i in range(n)}
    d = sum(i * k for i in range(n))
    e = [(i, j) for i in range(2) for j in range(2)]
    return a, b, sorted(c), d, e


def bad_iter(x):
    for i in log(x):
        log(i)
    return "not here"


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        if self.n == 7:
            raise ValueError("seven")
        return self.n


def user_iter(n):
    out = []
    try:
        for i in Countdown(n):
            out.append(i)
    except ValueError as e:
        out.append(str(e))
    return out


# -- Calls --------------------------------------------------------------------------------


def target(a, b=2, *args, c=3, **kw):
    log("target", a, b, args, c, tuple(sorted(kw)))
    return a, b, args, c, sorted(kw.items())


def calls(p):
    t = (1, 2)
    d = {"c": 9, "z": 1}
    return (target(1), target(1, b=5), target(*t), target(*t, **d), target(1, *t, c=4, **d),
            p.norm(), p.norm(k=2), p.norm(*[3]), len(t), [].append(1), max(1, 2, key=lambda v: -v),
            "a,b".split(","), "a,b".split(sep=","), target(*range(3), **{}), here(), dict(a=1))


def call_errors(which):
    d = {"a": 1}
    if which == 0:
        return target()
    if which == 1:
        return target(1, **{"a": 2})
    if which == 2:
        return target(*5)
    if which == 3:
        return target(**5)
    if which == 4:
        return (5)(1)
    if which == 5:
        return target(1, **d, **d)
    if which == 6:
        return len(1, 2)
    if which == 7:
        return [*5]
    if which == 8:
        return {**5}
    if which == 9:
        return target(1, *boom())
    if which == 10:
        return target.nope(1)
    if which == 11:
        return Odd().thing(1)
    if which == 12:
        return {1: 2, [3]: 4}
    if which == 13:
        return target(1, **{"x": 1}, **{2: 3})
    return {[1]}


def args_kinds(a, /, b, *rest, c, d=4, **kw):
    rest = rest + (a,)
    return a, b, rest, c, d, kw


def local_functions(n):
    def add(x, y=n, *, z: int = 1, w: "str" = 2) -> int:
        return x + y + z + w + n

    def outer():
        nonlocal n
        n += 1
        return n

    sq = lambda v: v * v
    return add(1), add(1, 2, z=3), outer(), outer(), n, sq(n), add.__annotations__, add.__kwdefaults__


def cells(a, b):
    c = a

    def get():
        return a, b, c

    a += 1
    c = b
    got = get()
    del c
    try:
        get()
    except NameError as e:
        log(str(e))
    try:
        return c
    except UnboundLocalError as e:
        log(str(e))
    return got, locals().keys() >= {"a", "b"}


def make_free():
    k = [1]
    m = 10

    def free(x):
        nonlocal m
        m += x
        k.append(m)
        return k, m, here()

    return free


def unbound_free():
    def make():
        if LOG is None:
            v = 1

        def get():
            return v

        return get

    return make()


class Base:
    def __init__(self, v):
        self.v = v

    def run(self, x):
        return self.v + x


class Derived(Base):
    def __init__(self, v):
        super().__init__(v + 1)

    def run(self, x):
        r = super().run(x) * 2
        return r, __class__.__name__


def make_class(n):
    class Local(Base):
        size = n

        def get(self):
            return self.size + n + self.v

        @property
        def twice(self):
            return 2 * self.v

    o = Local(4)
    return o.get(), o.twice, Local.__qualname__


def imports():
    import json
    import os.path as p
    from collections import OrderedDict, abc
    from . import nothing


def imports_fail():
    import json
    try:
        from json import nope
    except ImportError as e:
        log(str(e).split(" (")[0], e.name)
    try:
        import no_such_module_anywhere
    except ImportError as e:
        log(str(e), e.name)
    from os import path
    return json.dumps([1]), path.basename("a/b")


def decorators(n):
    def deco(f):
        log("deco", f.__name__)
        return lambda *a: f(*a) + n

    @deco
    def inner(x):
        return x * 2

    return inner(n)


# -- Exceptions -----------------------------------------------------------------------------


def try_all(x):
    try:
        log("try")
        if x:
            boom(x)
        log("no raise")
    except (ValueError, TypeError) as e:
        log("handler", type(e).__name__, sys.exc_info()[0].__name__, here())
    except KeyError:
        log("key")
        raise
    else:
        log("else")
    finally:
        log("finally", sys.exc_info()[0] and sys.exc_info()[0].__name__)
    return sys.exc_info()[0]


def nested_handlers():
    try:
        boom(ValueError, "one")
    except ValueError as a:
        try:
            boom(TypeError, "two")
        except TypeError as b:
            log(sys.exc_info()[0].__name__)
            try:
                boom(KeyError, "three")
            except KeyError as c:
                log(repr(c.__context__), repr(b.__context__), sys.exc_info()[0].__name__)
            log(sys.exc_info()[0].__name__)
        log(sys.exc_info()[0].__name__)
        raise RuntimeError("four") from a


def finally_return(n):
    for i in range(n):
        try:
            if i == 1:
                continue
            boom()
        finally:
            if i == 2:
                return "returned", i
            log("finally", i)
            if i < 2:
                continue


def raise_kinds(which):
    if which == 0:
        raise ValueError
    if which == 1:
        raise ValueError("v") from None
    if which == 2:
        raise ValueError from KeyError
    if which == 3:
        raise 5
    if which == 4:
        raise ValueError from 5
    if which == 5:
        raise
    if which == 6:
        assert which == 7, "message"
    if which == 7:
        try:
            boom()
        except 5:
            log("not here")
    if which == 8:
        try:
            boom()
        except ValueError:
            raise
    if which == 9:
        try:
            boom()
        finally:
            raise KeyError("from finally")
    if which == 10:
        raise type("NotExc", (), {})()
    if which == 11:
        class Weird(Exception):
            def __new__(cls):
                return 5
        raise Weird
    try:
        try:
            raise ValueError("inner")
        except ValueError as e:
            kept = e
            raise KeyError("outer") from e
    except KeyError as e:
        log(repr(e.__cause__), repr(e.__context__), e.__suppress_context__)
        raise kept


def withs(kind, swallow):
    with Mgr("a", swallow) as a, Mgr("b"):
        log(a.name)
        if kind:
            boom(kind)
        log("body")
    log("after", sys.exc_info()[0])
    with Mgr("c"):
        return here()


def with_errors(x):
    with x as y:
        return y


class NoExit:
    def __enter__(self):
        return self


class EnterFails:
    def __enter__(self):
        raise ValueError("enter")

    def __exit__(self, *a):
        log("never")


class ExitFails:
    def __enter__(self):
        return self

    def __exit__(self, *a):
        raise KeyError("exit")


def with_exit_fails():
    with ExitFails():
        boom()


def with_generator():
    @contextlib.contextmanager
    def cm(x):
        log("in", x)
        try:
            yield x
        except ValueError:
            log("caught")
        finally:
            log("out")

    with cm(1) as v:
        log(v)
        with cm(2):
            boom()
        log("still")
    return sys.exc_info()


def loop_try(seq):
    out = []
    for x in seq:
        try:
            out.append(10 // x)
        except ZeroDivisionError:
            out.append("zero")
            continue
        except TypeError as e:
            out.append(str(e))
            break
        finally:
            log("f", x)
    else:
        out.append("done")
    return out


def groups(kind):
    try:
        if kind == 0:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
        if kind == 1:
            raise ValueError("plain")
        if kind == 2:
            raise ExceptionGroup("g", [OSError(1)])
        if kind == 3:
            raise ExceptionGroup("g", [ValueError(1), ExceptionGroup("h", [TypeError(2)])])
    except* ValueError as e:
        log("V", repr(e), sys.exc_info()[1].message)
    except* TypeError as e:
        log("T", repr(e))
        if kind == 3:
            raise KeyError("in handler")
    return "end", sys.exc_info()[0]


def groups_bad():
    try:
        raise ValueError(1)
    except* 5:
        pass


def bool_fails(x):
    try:
        if x:
            log("no")
    except ValueError as e:
        log(str(e))
    try:
        not x
    except ValueError as e:
        log(str(e))
    try:
        x and 1
    except ValueError as e:
        log(str(e))
    try:
        x == 1
    except ArithmeticError as e:
        log(str(e))
    try:
        1 in x
    except KeyError as e:
        log(repr(e))
    try:
        a, b = x
    except KeyError as e:
        log(repr(e))
    try:
        [*x]
    except KeyError as e:
        log(repr(e))
    try:
        f"{x:5}"
    except TypeError as e:
        log(str(e))
    return x.attr


# -- match -----------------------------------------------------------------------------------------


def matching(x):
    match x:
        case 0 | 1:
            return "small"
        case [a, b]:
            return "pair", a, b
        case [a, *rest, "end"]:
            return "seq", a, rest
        case {"k": v, "n": {"m": w}, **more}:
            return "map", v, w, more
        case {"k": v}:
            return "map1", v
        case {}:
            return "map0"
        case Point(x=0, y=y):
            return "onaxis", y
        case Point(a, b) if a == b:
            return "diag", a
        case Point(a, y=c):
            return "point", a, c
        case str(s):
            return "str", s
        case int() | float():
            return "num"
        case None:
            return "none"
    return "other"


class Twice:
    __match_args__ = ("x", "x")
    x = 1


class BadArgs:
    __match_args__ = ["x"]


class BadNames:
    __match_args__ = (1,)


def match_errors(which, x):
    if which == 0:
        match x:
            case Twice(1, 1):
                return 0
    if which == 1:
        match x:
            case BadArgs(1):
                return 1
    if which == 2:
        match x:
            case BadNames(1):
                return 2
    if which == 3:
        match x:
            case Point(1, 2, 3):
                return 3
    if which == 4:
        match x:
            case int(1, 2):
                return 4
    if which == 5:
        match x:
            case Mgr(1):
                return 5
    if which == 6:
        match x:
            case LOG(1):
                return 6
    if which == 7:
        k = "a"
        match x:
            case {Keys.a: 1, Keys.b: 2}:
                return 7
    return "none"


class Keys:
    a = b = "same"


# -- Frames ------------------------------------------------------------------------------------------


def frames(n):
    f = sys._getframe()
    keep = [f]
    x = n + 1
    log(f.f_lineno - f.f_code.co_firstlineno, sorted(f.f_locals))
    return here(), x, f.f_back.f_code.co_name


def keep_frame(n):
    y = n * 2
    return sys._getframe()


def keep_tb(n):
    z = n
    try:
        boom()
    except ValueError as e:
        w = e
        return e.__traceback__.tb_frame, e


def dels(a):
    class Noisy:
        def __init__(self, n):
            self.n = n

        def __del__(self):
            log("del", self.n, here.__name__)

    x = Noisy(1)
    x = Noisy(2)
    del x
    Noisy(3)
    y = [Noisy(4)]
    y[0] = None
    return "end"


def recursion(n):
    return 1 if n <= 0 else n * recursion(n - 1)


# -- Callees that can be inlined: they come as arguments --------------------------------------------


def inner_sum(x):
    y = x + 1
    z = log(y)
    for i in (1, 2):
        z += i
    return z


def inner_raises(x):
    try:
        boom()
    except ValueError:
        log(sys.exc_info()[0].__name__, here())
        raise KeyError(x)


def inner_handles(x):
    seen = sys.exc_info()[0]
    try:
        log(seen and seen.__name__)
        boom(KeyError)
    except KeyError as e:
        log(repr(e.__context__))
        return x, sys.exc_info()[0].__name__
    finally:
        log(sys.exc_info()[0] and sys.exc_info()[0].__name__)


def inner_cell(x):
    def get():
        return x

    x = x + 1
    return get(), here()


def inner_frames(x):
    f = sys._getframe()
    names = []
    while f is not None and f.f_code.co_name != "call":
        names.append((f.f_code.co_name, f.f_lineno, f.f_lasti))
        f = f.f_back
    return names, x


def calls_one(f, x):
    a = f(x)
    b = f(x)
    return a, b, here()


def catches(f, x):
    try:
        return f(x)
    except KeyError as e:
        log(repr(e), repr(e.__context__), sys.exc_info()[0].__name__)
    with Mgr("m", True):
        f(x)
    return sys.exc_info()[0]


def calls_in_handler(f, x):
    r = []
    try:
        boom()
    except ValueError:
        for i in range(2):
            r.append(f(x))
            log(sys.exc_info()[0].__name__)
        r.append(f(x))
    return r, sys.exc_info()[0]


def returns_in_handler(f, x):
    try:
        boom()
    except ValueError:
        return f(x)


def calls_two(f, g, x):
    y = f(g, x)
    try:
        y = y, f(g, x)
    finally:
        log("finally", sys.exc_info()[0])
    return y


def leaves(f, g, x):
    return f(g, x)


def _source_wide():
    lines = ["def wide(n, *a):", "    t = 0"]
    lines += [f"    v{i} = n + {i}" for i in range(300)]
    lines += ["    for i in range(2):", "        if n:"]
    lines += [f"            t += v{i} * {1000 + i}" for i in range(0, 300, 7)]
    lines += ["        else:", "            boom()", "        try:"]
    lines += [f"            t -= log.__name__.count('g') + v{i}" for i in range(280, 300)]
    lines += ["            if i: boom(KeyError)", "        except KeyError:", "            t += 1"]
    lines += ["    w = target(" + ", ".join(f"k{i}=v{i}" for i in range(260)) + ", a=1)"]
    lines += ["    return t, len(w[4]), v299, [" + ", ".join(f"v{i}" for i in range(270)) + "][269]"]
    return "\n".join(lines)


exec(compile(_source_wide(), __file__ + ":wide", "exec"))

P = Point
CASES = [
    (arith, (17, 4), {}),
    (building, (1, 2), {}),
    (unpacking, ([1, 2, 3],), {}),
    (unpack_fail, ([(1,), (1,), (1, 2, 3), (1, 2), 5, 5, "ab", range(4), [1], [1, 2, 3]],), {}),
    (attrs, lambda: (P(1, 2),), {}),
    (items, lambda: ({},), {}),
    (globals_, (3,), {}),
    (unbound, (True,), {}),
    (unbound, (False,), {}),
    (jumps, (1, 5), {}),
    (jumps, (0, 2), {}),
    (jumps, (None, 0), {}),
    (none_loops, ([None, None, 3, 4, None],), {}),
    (loops, (5,), {}),
    (comps, (6,), {}),
    (bad_iter, (5,), {}),
    (bad_iter, lambda: (Odd(),), {}),
    (user_iter, (3,), {}),
    (user_iter, (9,), {}),
    (target, (1, 2, 3, 4), {"c": 5, "zz": 6}),
    (calls, lambda: (P(1, 2),), {}),
    *((call_errors, (i,), {}) for i in range(15)),
    (args_kinds, (1, 2, 3), {"c": 4, "x": 5}),
    (local_functions, (4,), {}),
    (cells, (1, 2), {}),
    (make_free, (), {}),
    (lambda: make_free()(3), (), {}),
    (unbound_free(), (), {}),
    (Derived.__init__, lambda: (Derived(1), 3), {}),
    (Derived.run, lambda: (Derived(1), 3), {}),
    (make_class, (3,), {}),
    (imports, (), {}),
    (imports_fail, (), {}),
    (decorators, (3,), {}),
    *((try_all, (x,), {}) for x in (None, ValueError, TypeError, KeyError, OSError)),
    (nested_handlers, (), {}),
    (finally_return, (4,), {}),
    *((raise_kinds, (i,), {}) for i in range(13)),
    (withs, (None, False), {}),
    (withs, (ValueError, True), {}),
    (withs, (ValueError, False), {}),
    (with_errors, (5,), {}),
    (with_errors, lambda: (NoExit(),), {}),
    (with_errors, lambda: (EnterFails(),), {}),
    (with_exit_fails, (), {}),
    (with_generator, (), {}),
    (loop_try, ([1, 0, 2],), {}),
    (loop_try, ([1, "x", 2],), {}),
    *((groups, (i,), {}) for i in range(5)),
    (groups_bad, (), {}),
    (bool_fails, lambda: (Odd(),), {}),
    *((matching, (x,), {}) for x in (
        0, [1, 2], (1, 2, "end"), "ab", {"k": 1, "n": {"m": 2}, "z": 3}, {"k": 1}, {"n": 1},
        P(0, 1), P(2, 2), P(2, 3), 7, 1.5, None, {1, 2}, [1, 2, 3])),
    *((match_errors, (i, x), {}) for i, x in (
        (0, Twice()), (1, BadArgs()), (2, BadNames()), (3, P(1, 2)), (4, 1), (5, Mgr("m")),
        (6, 1), (7, {"same": 1}), (8, 1))),
    (frames, (3,), {}),
    (keep_frame, (3,), {}),
    (keep_tb, (3,), {}),
    (dels, (1,), {}),
    (recursion, (5,), {}),
    *((outer, (f, 3), {}) for outer in (calls_one, catches, calls_in_handler, returns_in_handler)
      for f in (inner_sum, inner_raises, inner_handles, inner_cell, inner_frames)),
    *((calls_two, (outer, f, 3), {}) for outer in (calls_one, catches, calls_in_handler,
                                                  returns_in_handler)
      for f in (inner_sum, inner_raises, inner_handles, inner_frames)),
    (leaves, (returns_in_handler, inner_raises, 1), {}),
    (leaves, (leaves, inner_raises, 1), {}),
    (calls_two, (P.norm, P(1, 2), 1), {}),
    (wide, (3,), {}),
    (wide, (0, 1, 2), {}),
]
