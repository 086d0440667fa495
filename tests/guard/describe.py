"""Short names for describing sources, expressions and programs."""

from guard_engine import selftest

UNBOUND = NotImplemented
ADD, AND, FLOORDIV, LSHIFT, MATMUL, MUL, MOD, OR, POW, RSHIFT, SUB, TRUEDIV, XOR = range(13)
LT, LE, EQ, NE, GT, GE = range(6)


def slot(i=0):
    return ("SLOT", None, None, i)


FUNC = ("FUNC",)
EXC = ("EXC",)


def src(kind, base, key=None, index=0, *hint):
    return (kind, base, key, index, *hint)


def attr(base, name):
    return ("ATTR", base, name)


def item(base, key):
    return ("ITEM", base, key)


def index(base, i):
    return ("INDEX", base, None, i)


def leaf(source, value):
    return ("leaf", source, value)


def const(value):
    return ("const", value)


class Program:
    def __init__(self, guards, exports=(), names=None):
        self.g = selftest.guard_build(list(guards), list(exports), names)

    def __call__(self, *slots, func=None, exc=None):
        return selftest.guard_run(self.g, slots, func, exc)

    def hit(self, *slots, **kw):
        return self(*slots, **kw) is not None

    def why(self, *slots, func=None, exc=None):
        return selftest.guard_why(self.g, slots, func, exc)

    def time(self, *slots, func=None, exc=None, times=200_000):
        return selftest.guard_time(self.g, slots, func, exc, times)

    @property
    def text(self):
        return selftest.guard_text(self.g)
