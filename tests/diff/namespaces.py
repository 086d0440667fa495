"""types.SimpleNamespace: given, made, compared, shown, changed, subclassed."""
import copy
import types

import torch
from kit import T, program

SETTINGS_ON = ("capture_class_bodies",)
CONFIG = types.SimpleNamespace(size=3, scale=2.0, name="base", inner=types.SimpleNamespace(bias=1))


class Sub(types.SimpleNamespace):
    kind = "sub"

    def __init__(self, n, **kw):
        super().__init__(n=n, **kw)

    @property
    def double(self):
        return self.n * 2


class Odd(types.SimpleNamespace):
    def __repr__(self):
        return "odd " + super().__repr__()

    def __eq__(self, other):
        return "odd" if other == 1 else super().__eq__(other)


def config():
    return T(), types.SimpleNamespace(size=3, scale=2.0, inner=types.SimpleNamespace(bias=1))


@program(config, lambda: (T(), CONFIG))
def read(x, c):
    return x * c.scale + c.inner.bias, c.size, hasattr(c, "nothing"), getattr(c, "nothing", 5), isinstance(c, types.SimpleNamespace), type(c).__name__


@program(config)
def written(x, c):
    c.size += 1
    c.new = x.shape
    c.inner.bias = c.size
    del c.scale
    return x + c.inner.bias, c, vars(c.inner)


@program(config)
def over_a_break(x, c):
    d = types.SimpleNamespace(a=1, t=x)
    c.size += 1
    y = x + c.size
    print(end="")
    d.a += c.size
    c.inner.bias += 1
    return y * d.a + c.inner.bias, d, c


@program()
def made(x):
    a = types.SimpleNamespace(x=1, y=(2, "b"), t=x + 1)
    b = types.SimpleNamespace()
    b.x, b.me = 5, "me"
    return a.t * a.x, a, b, len(vars(b)), sorted(b.__dict__)


@program()
def compared(x):
    a, b, c = types.SimpleNamespace(v=1), types.SimpleNamespace(v=1), types.SimpleNamespace(v=2)
    out = [a == b, a == c, a != c, a != b, a is b, a == 1, 1 == a, a == Sub(1), Sub(1) == Sub(1), Sub(1) == types.SimpleNamespace(n=1), a == Odd(v=1), Odd(v=1) == 1, Odd(v=1) == a]
    for f in (lambda: a < b, lambda: hash(a), lambda: types.SimpleNamespace(1), lambda: a.w, lambda: a[0], lambda: len(a), lambda: iter(a)):
        try:
            out.append(f())
        except (TypeError, AttributeError) as e:
            out.append(str(e))
    return x + 1, out, bool(a)


@program()
def shown(x):
    a = types.SimpleNamespace(v=1, name="n", inner=types.SimpleNamespace(), items=[types.SimpleNamespace(k=1)])
    a.me = a
    vars(a)[""] = 1
    vars(a)[5] = 1
    return x + 1, repr(a), str(a), f"{Sub(2)}", repr(Odd(v=1)), repr(types.SimpleNamespace()), "%r" % types.SimpleNamespace(**{"a b": 1})


@program(lambda: (T(), Sub(4, k=1)))
def subclassed(x, s):
    t = Sub(2, k=3)
    t.n += s.double
    s.k = t
    return x + t.double, t, s, s.kind, [type(s) is Sub, isinstance(t, types.SimpleNamespace)]


@program(config)
def copied(x, c):
    d = copy.copy(c)
    d.size = 9
    return x + d.size, c.size, d


@program(config)
def matched(x, c):
    match c:
        case types.SimpleNamespace(size=3, scale=s):
            return x * s
    return x


@program()
def attributes_by_name(x):
    n = types.SimpleNamespace()
    for i, k in enumerate("abc"):
        setattr(n, k, i)
    delattr(n, "b")
    return x + n.c, n, vars(n), n.__dict__ is vars(n), [k for k in vars(n)]


@program(config)
def a_module_with_it(x, c):
    class M(torch.nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config

        def forward(self, x):
            return x * self.config.scale + getattr(self.config, "offset", 0)
    return M(c)(x)
