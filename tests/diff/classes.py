"""Classes and descriptors."""
import functools

import torch
from kit import T, program

LOG = []


def two():
    return T(2, 3)


def other():
    return T(4, at=-2)


class Logged:
    """A data descriptor that leaves traces."""

    def __set_name__(self, owner, name):
        self.name, self.owner = name, owner.__name__

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        LOG.append(("get", self.name))
        return obj.__dict__.get(self.name, 1)

    def __set__(self, obj, value):
        LOG.append(("set", self.name, type(value).__name__))
        if isinstance(value, str):
            raise TypeError(f"{self.owner}.{self.name} is no text")
        obj.__dict__[self.name] = value

    def __delete__(self, obj):
        LOG.append(("delete", self.name))
        del obj.__dict__[self.name]


class Lazy:
    """A descriptor without __set__: an attribute of the object hides it."""

    def __init__(self, make):
        self.make = make

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, obj, owner=None):
        value = obj.__dict__[self.name] = self.make(obj)
        LOG.append(self.name)
        return value


class Holder:
    width = Logged()
    height = Logged()

    def __init__(self, x):
        self.x = x

    @Lazy
    def total(self):
        return self.x.sum()

    @property
    def area(self):
        return self.width * self.height

    @area.setter
    def area(self, value):
        self.width = self.height = value ** 0.5

    @area.deleter
    def area(self):
        del self.width
        del self.height


HOLDER = Holder(torch.ones(2))


@program(T, two)
def data_descriptors(x):
    h = Holder(x)
    h.width = 3
    h.height = x.shape[0]
    y = x * h.area
    h.area = 16
    try:
        h.width = "wide"
    except TypeError as e:
        LOG.append(str(e))
    return y + h.area, sorted(h.__dict__), Holder.width is Holder.__dict__["width"]


@program(T)
def descriptors_of_an_old_object(x):
    before = HOLDER.area
    HOLDER.area = before + 3.0
    y = x * HOLDER.width
    if before > 2:
        del HOLDER.area
    return y, "width" in HOLDER.__dict__, HOLDER.area


@program(T, two)
def lazy_attribute(x):
    h = Holder(x)
    a = h.total
    b = h.total
    del h.total
    c = h.total
    return a is b, a is c, a + c, "total" in vars(h)


@program(T, graphs=0)
def property_that_raises(x):
    h = Holder(x)
    h.width = 2
    try:
        del h.area
    except KeyError as e:
        LOG.append(("no", str(e)))
    h.x = x + 1
    return h.missing


class Fallback:
    kind = "fallback"

    def __init__(self, **known):
        self.__dict__.update(known)
        self.asked = []

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        self.asked.append(name)
        return len(name)


FALLBACK = Fallback(scale=2)


@program(T, two)
def getattr_fallback(x):
    f = Fallback(scale=3)
    y = x * f.scale + f.offset
    return y, f.asked, hasattr(f, "_x"), hasattr(f, "x"), getattr(f, "_y", None), f.kind, FALLBACK.more * x


class Hiding:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        if name == "secret":
            raise AttributeError("none of that")
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        return name.upper()

    secret = 3


@program(T)
def getattribute_and_getattr(x):
    h = Hiding(x)
    return h.x + 1, h.secret, h.other, type(h).secret


class Strict:
    frozen = False

    def __setattr__(self, name, value):
        if self.frozen:
            raise AttributeError(f"cannot set {name}")
        super().__setattr__(name, value)

    def __delattr__(self, name):
        LOG.append(("del", name))
        object.__delattr__(self, name)


@program(T, two)
def setattr_and_delattr(x):
    s = Strict()
    s.a = x
    s.b = x.dim()
    del s.b
    s.frozen = True
    try:
        s.c = 1
    except AttributeError as e:
        told = str(e)
    object.__setattr__(s, "c", x * 2)
    return s, told, s.a + s.c, hasattr(s, "b")


class Point:
    __slots__ = ("x", "y", "__weakref__")

    def __init__(self, x, y=None):
        self.x = x
        if y is not None:
            self.y = y

    def swap(self):
        self.x, self.y = self.y, self.x
        return self


class Point3(Point):
    __slots__ = "z"

    def __init__(self, x, y, z):
        super().__init__(x, y)
        self.z = z


POINT = Point3(1, 2, 3)


@program(T, two)
def slots(x):
    p = Point3(x, x + 1, 3).swap()
    q = Point(x)
    found = hasattr(q, "y"), hasattr(p, "z"), hasattr(p, "__dict__")
    try:
        q.w = 1
    except AttributeError as e:
        told = str(e)
    del p.z
    POINT.z += 1
    POINT.x, POINT.y = POINT.y, x.sum()
    return p, q, found, told, p.x is q.x, getattr(p, "z", "gone")


@program(T, graphs=0)
def unset_slot(x):
    q = Point(x * 2)
    y = q.x + 1
    q.y = y
    del q.y
    return q.y


class Counted:
    made = 0
    names = ["first"]

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self.args = args
        return self

    def __init__(self, x, *, name="none"):
        self.x = x
        self.name = name

    @classmethod
    def of(cls, x):
        cls.names.append(cls.__name__)
        return cls(x, name=cls.__name__)

    @staticmethod
    def scale(x, by=2):
        return x * by


class CountedMore(Counted):
    @classmethod
    def of(cls, x):
        return super().of(cls.scale(x, 3))


@program(T, two)
def class_and_static_methods(x):
    a = Counted.of(x)
    b = CountedMore.of(x)
    make = CountedMore.of
    c = make(b.x)
    return a.x, b.x, c.x, c.name, type(c) is CountedMore, a.args[0] is x, Counted.scale(x), b.scale(x, by=-1), Counted.names


class Root:
    def run(self, x, log):
        log.append("Root")
        return x

    def end(self):
        return [Root]


class Left(Root):
    def run(self, x, log):
        log.append("Left")
        return super().run(x + 1, log)

    def end(self):
        return [Left] + super().end()


class Right(Root):
    def run(self, x, log):
        log.append("Right")
        return super().run(x * 2, log)

    def end(self):
        return [Right] + super(Right, self).end()


class Diamond(Left, Right):
    def run(self, x, log):
        log.append("Diamond")
        return super().run(x - 3, log)

    def end(self):
        return [type(self)] + super().end()


@program(T, two)
def diamond(x):
    d, log = Diamond(), []
    y = d.run(x, log)
    z = Left.run(d, x, log)
    w = super(Left, d).run(x, log)
    return y, z, w, log, d.end(), [c.__name__ for c in Diamond.__mro__], isinstance(d, Right), issubclass(Left, Right)


class Vec:
    """Operators, and reflected ones, over tensors and numbers."""

    def __init__(self, v):
        self.v = v

    def __add__(self, o):
        if isinstance(o, Vec):
            return Vec(self.v + o.v)
        return NotImplemented if isinstance(o, str) else Vec(self.v + o)

    def __radd__(self, o):
        LOG.append(("radd", type(o).__name__))
        return Vec(o + self.v)

    def __iadd__(self, o):
        self.v = self.v + (o.v if isinstance(o, Vec) else o)
        return self

    def __matmul__(self, o):
        return (self.v * o.v).sum()

    def __rpow__(self, o):
        return Vec(o ** self.v)

    def __neg__(self):
        return Vec(-self.v)

    def __invert__(self):
        return type(self)(self.v.flip(0))

    def __eq__(self, o):
        return isinstance(o, Vec) and bool((self.v == o.v).all())

    __hash__ = None

    def __lt__(self, o):
        return self.v.sum().item() < o.v.sum().item()

    def __getitem__(self, k):
        LOG.append(("item", str(k)))
        return self.v[k]

    def __setitem__(self, k, value):
        self.v = self.v.clone()
        self.v[k] = value

    def __len__(self):
        return self.v.shape[0]

    def __contains__(self, n):
        return any(n == k for k in self.v.tolist())

    def __bool__(self):
        LOG.append("bool")
        return len(self) > 3

    def __divmod__(self, o):
        return Vec(self.v // o), Vec(self.v % o)

    def __repr__(self):
        return f"Vec{tuple(self.v.shape)}"


class SubVec(Vec):
    def __radd__(self, o):
        LOG.append("sub first")
        return SubVec(self.v * 100)


@program(T, other)
def operators(x):
    a, b = Vec(x), Vec(x + 1)
    c = a + b
    d = 1 + a + 2.5
    e = a
    e += b
    e += 1
    q, r = divmod(c, 2)
    return c, d, e is a, e, a @ b, 2 ** b, -a, ~b, q, r, sum([b, c])


@program(T, other)
def reflected_and_refused(x):
    a, s = Vec(x), SubVec(x)
    first = a + s
    told = []
    for f in (lambda: a + "t", lambda: a - 1, lambda: a @ 3, lambda: hash(a), lambda: a > 1):
        try:
            f()
        except (TypeError, AttributeError) as e:
            told.append(str(e))
    return first, told, a == s, a != s, a == 3, s < a, s > a


@program(T, other)
def container_protocol(x):
    v = Vec(x)
    v[0] = 7.0
    first, *others = (v[k] for k in range(len(v)))
    return first, others, 7 in v, 99 in v, v[-1], v[1:], bool(v), not v, (v or 5) is v, f"{v} {v!r}", v.v


class Affine:
    def __init__(self, w, b=0):
        self.w, self.b, self.calls = w, b, 0

    def __call__(self, x, *more, scale=1):
        self.calls += 1
        return (x * self.w + self.b) * scale + sum(more)


class Chain:
    def __init__(self, *steps):
        self.steps = list(steps)

    def __call__(self, x):
        return functools.reduce(lambda v, f: f(v), self.steps, x)

    def __iter__(self):
        return iter(self.steps)


AFFINE = Affine(2, 1)


@program(T, two)
def callable_objects(x):
    c = Chain(AFFINE, Affine(x), torch.sin, Affine(3.0, b=x), abs)
    y = c(x)
    c.steps[0], c.steps[-1] = c.steps[-1], AFFINE
    z = c(y)
    return y, z, [s.calls for s in c if isinstance(s, Affine)], AFFINE(x, 1, 2, scale=3), callable(c), callable(3)


class Registry(type):
    known = {}
    order = 0

    def __new__(meta, name, bases, space, **options):
        cls = super().__new__(meta, name, bases, space)
        cls.options = options
        meta.known[name] = cls
        return cls

    def __init__(cls, name, bases, space, **options):
        super().__init__(name, bases, space)

    def __call__(cls, *args):
        self = super().__call__(*args)
        self.born = Registry.order
        Registry.order += 1
        return self

    def __len__(cls):
        return len(cls.options)

    def __getattr__(cls, name):
        return f"{cls.__name__}?{name}"

    @property
    def title(cls):
        return cls.__name__.title()


class base(metaclass=Registry):
    def __init__(self, x):
        self.x = x

    def __init_subclass__(cls, /, **options):
        super().__init_subclass__()
        cls.sub = True


class derived(base, alpha=1, beta=2):
    pass


@program(T, two)
def metaclass(x):
    a, b = base(x), derived(x * 2)
    return a.x + b.x, b.born - a.born, len(derived), derived.title, derived.nothing, b.sub, type(derived).known["base"] is base


@program(T)
def class_made_inside(x):
    class Local(base):
        factor = 3

        def apply(self, k=factor):
            return self.x * k + __class__.factor
    kind = type("Kind", (Local,), {"factor": 5, "twice": lambda self: self.apply() * 2})
    k = kind(x)
    return k.twice(), k.factor, kind.__name__, Local.__qualname__


class Config:
    rate = 0.5
    steps = []

    def bump(self):
        type(self).rate = self.rate * 2
        self.steps.append(self.rate)


class SubConfig(Config):
    pass


@program(T, two)
def class_attributes_change(x):
    c = SubConfig()
    y = x * c.rate
    c.bump()
    c.rate = 10
    z = x + c.rate + SubConfig.rate
    del c.rate
    w = c.rate * 1
    if len(Config.steps) > 3:
        del SubConfig.rate
    return y, z, w, Config.rate, "rate" in vars(SubConfig)


class Switch:
    def go(self, x):
        return x + 1


SWITCH = Switch()


@program(T, two)
def methods_replaced(x):
    a = SWITCH.go(x)
    SWITCH.go = lambda v: v * 10
    b = SWITCH.go(x)
    del SWITCH.go
    old = Switch.go
    Switch.go = lambda self, v: v - 1
    c = SWITCH.go(x)
    Switch.go = old
    SWITCH.__class__ = SubSwitch
    d = SWITCH.go(x)
    SWITCH.__class__ = Switch
    return a, b, c, d, SWITCH.go(x)


class SubSwitch(Switch):
    def go(self, x):
        return super().go(x) * 3


class Context:
    def __init__(self, x):
        self.parts = [x]

    def __enter__(self):
        self.parts.append(self.parts[-1] * 2)
        return self

    def __exit__(self, kind, value, tb):
        self.parts.append(kind.__name__ if kind else None)
        return kind is KeyError

    def __iter__(self):
        yield from self.parts

    def __reversed__(self):
        return iter(self.parts[::-1])

    def __index__(self):
        return len(self.parts)

    def __format__(self, spec):
        return f"<{spec}:{len(self.parts)}>"


@program(T, two)
def special_methods(x):
    with Context(x) as c:
        raise KeyError("k")
    first, *_ = c
    return first, list(reversed(c)), range(10)[c], f"{c:abc}", [0] * 3 + [c.__index__()], max(c.parts[:1] + [x], key=id) is x


@program(T)
def bound_methods(x):
    d = Diamond()
    f, g = d.end, d.end
    log = []
    run = functools.partial(d.run, log=log)
    add = Vec(x).__add__
    return f == g, f is g, f.__self__ is d, f.__func__ is Diamond.end, run(x), add(2), log, x.add(1), x.sum.__self__ is x


class Number(float):
    unit = "m"

    def __new__(cls, v, unit="m"):
        self = float.__new__(cls, v)
        self.unit = unit
        return self

    def __add__(self, o):
        return Number(float(self) + float(o), self.unit)


class Row(list):
    def __getitem__(self, k):
        LOG.append(k)
        return list.__getitem__(self, k % len(self))

    def total(self):
        return sum(self)


class Names(dict):
    def __missing__(self, key):
        self[key] = len(self)
        return self[key]

    def __setitem__(self, key, value):
        LOG.append(("names", key))
        super().__setitem__(key, value)


ROW = Row([1, 2])
NAMES = Names(a=5)


@program(T, two)
def builtin_subclasses(x):
    n = Number(2.5, "s") + 1
    r = Row([x, x + 1])
    m = Names()
    ROW.append(len(ROW))
    y = x * n + r[3] + m["new"] + m["more"] + NAMES["b"]
    m["more"] += 4
    return y, n.unit, type(n).__name__, r.total(), m, ROW[7], isinstance(r, list), [*r][0] is x, NAMES.get("zz")
