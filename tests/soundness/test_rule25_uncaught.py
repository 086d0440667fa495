"""Rule 25: an uncaught exception is raised for real, in real frames of each activation; exceptions that escape as objects likewise."""
import sys
import traceback

import pytest
import torch
from follow import X, follow, follows

import jedlik


def names(e):
    out, tb = [], e.__traceback__
    while tb is not None:
        if "follow" not in tb.tb_frame.f_code.co_filename:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno - tb.tb_frame.f_code.co_firstlineno))
        tb = tb.tb_next
    return out


def full(e, depth=0):
    """The exception, its chain, and where each was raised."""
    if e is None or depth > 5:
        return None
    return type(e).__name__, e.args, names(e), full(e.__cause__, depth + 1), full(e.__context__, depth + 1), e.__suppress_context__, getattr(e, "__notes__", None)


@follows()
def test_each_activation_is_in_the_traceback(compile):
    class C:
        def __init__(self, n):
            if n > 2:
                raise ValueError("n", n)
            self.n = n

        def m(self, x):
            return deep(x, self.n)

        @property
        def p(self):
            raise LookupError("p")

        def __add__(self, other):
            raise ArithmeticError("add")

    def deep(x, n):
        if n == 1:
            raise KeyError(n)
        return x + n

    def gen(n):
        yield 1
        raise OSError(n)

    def f(x, n):
        y = x + 1
        o = C(n)
        if n == 0:
            return y, o.p
        if n == -1:
            return o + y
        if n == -2:
            return [v for v in gen(n)]
        if n == -3:
            return sorted([1, 2], key=lambda v: deep(v, 1))
        if n == -4:
            assert y is None, "message"
        return o.m(y)

    f = compile(f)
    for n in (2, 1, 3, 0, -1, -2, -3, -4, 2, 1):
        how, value = f(X, n)
        yield how, full(value) if how == "raised" else value


@follows()
def test_effects_before_the_raise_are_done(compile):
    class Box:
        n = 0

    o, log = Box(), []

    def f(x, n):
        log.append("start")
        o.n += 1
        y = x + o.n
        log.append(y)
        if n:
            raise ValueError(log[-1])
        o.n += 10
        return y

    f = compile(f)
    for n in (0, 1, 0, 1):
        how, value = f(X, n)
        yield how, value if how == "returned" else (names(value), value.args), o.n, len(log)


@follows()
def test_chains(compile):
    def f(x, how):
        try:
            if how < 3:
                raise KeyError("first")
            return x + 1
        except KeyError as e:
            if how == 0:
                raise ValueError("second") from e
            if how == 1:
                raise ValueError("second")
            raise ValueError("second") from None

    f = compile(f)
    for k in (3, 0, 1, 2, 3, 0):
        how, value = f(X, k)
        yield how, full(value) if how == "raised" else value


@follows()
def test_exceptions_that_escape_as_objects(compile):
    """Returned, stored, put on a list: their tracebacks, too."""
    kept = []

    def inner(n):
        if n:
            raise KeyError(n)
        return 1

    def f(x, n):
        try:
            return x + inner(n)
        except KeyError as e:
            kept.append(e)
            e.add_note("noted")
            return x + 1, e

    f = compile(f)
    for n in (0, 1, 1, 0):
        kept.clear()
        how, value = f(X, n)
        yield how, value if n == 0 or how == "raised" else (value[0], full(value[1]), value[1] is kept[0]), [full(e) for e in kept]


@follows()
def test_exceptions_made_but_not_raised(compile):
    def f(x, n):
        e = ValueError(n, "made")
        if n:
            return x + 1, e
        raise e

    f = compile(f)
    for n in (1, 0, 2, 0):
        how, value = f(X, n)
        yield how, full(value) if how == "raised" else (value[0], full(value[1]))


@follows()
def test_existing_exceptions_raised_again(compile):
    """Each raise adds to the traceback of the one object."""
    e = RuntimeError("shared")

    def f(x, n):
        if n:
            raise e
        return x + 1

    f = compile(f)
    for n in (0, 1, 0, 1):
        how, value = f(X, n)
        yield how, full(value) if how == "raised" else value, value is e, len(traceback.extract_tb(e.__traceback__))
        e.__traceback__ = None


@follows()
def test_user_exceptions(compile):
    class Mine(Exception):
        def __init__(self, code, **kw):
            super().__init__(f"code {code}")
            self.code, self.kw = code, kw

        def __str__(self):
            return f"<{self.code}>"

    class Quiet(Mine):
        pass

    def f(x, n):
        if n == 1:
            raise Mine(n, a=2)
        if n == 2:
            raise Quiet(n) from KeyError("because")
        if n == 3:
            raise Mine
        if n == 4:
            raise 5
        return x + n

    f = compile(f)
    for n in (0, 1, 2, 3, 4, 1, 0):
        how, value = f(X, n)
        yield how, (full(value), str(value), vars(value)) if how == "raised" else value


@follows()
def test_exits_and_stops(compile):
    def f(x, n):
        y = x + 1
        if n == 1:
            raise StopIteration(5)
        if n == 2:
            raise GeneratorExit
        if n == 3:
            sys.exit(4)
        if n == 4:
            raise KeyboardInterrupt
        return y

    g = compile(f)

    def call(n):
        try:
            return g(X, n)
        except BaseException as e:
            return type(e).__name__, e.args, names(e)
    for n in (0, 1, 2, 3, 4, 1, 0):
        how = call(n)
        yield how if n == 0 or how[0] != "raised" else (how[0], full(how[1]))


@pytest.mark.parametrize("where", ("graph", "helper", "method"))
def test_errors_of_torch_point_at_the_line(where):
    def program(compile):
        def helper(x, w):
            z = x + 1
            return z @ w

        def f(x, w):
            y = x * 2
            if where == "helper":
                return helper(y, w)
            if where == "method":
                return y.view(7)
            return torch.cat([y, w])

        f = compile(f)
        for shape in ((3,), (4,), (2, 2), (3,)):
            how, value = f(X, torch.ones(shape))
            yield how, (type(value).__name__, names(value)) if how == "raised" else value
    follow(program)


def test_with_fullgraph_nothing_has_happened_when_unsupported_is_raised():
    """A call that raises leaves no entry up to the raise: another call would run that much before it finds a break."""
    log = []

    class Weight:
        w = 2

    def f(x, o):
        log.append(1)
        x[5] = o.w
        return x

    fast = jedlik.compile(f, backend="eager", fullgraph=True)
    with pytest.raises(AttributeError):
        fast(torch.ones(3), "no number")
    assert log == [1]
    log.clear()
    with pytest.raises(jedlik.Unsupported):
        fast(torch.ones(3), Weight())
    assert log == []
    assert torch.equal(fast(torch.ones(6), Weight()), f(torch.ones(6), Weight())) and log == [1, 1]
