"""Class statements, type() with three arguments, and what hangs on them."""
import enum
import abc

import torch
from kit import T, program

SETTINGS_ON = ("capture_class_bodies",)
LOG = []


class Base:
    kinds = []

    def __init_subclass__(cls, tag=None, **kw):
        super().__init_subclass__(**kw)
        Base.kinds.append((cls.__name__, tag))
        cls.tag = tag


class Named:
    def __set_name__(self, owner, name):
        LOG.append((owner.__name__, name))
        self.name = name

    def __get__(self, obj, cls=None):
        return self.name if obj is None else (self.name, obj.x)


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases, **kw):
        LOG.append(("prepare", name, kw))
        return {"prepared": len(bases)}

    def __new__(mcs, name, bases, ns, **kw):
        LOG.append(("new", name, list(ns)))
        return super().__new__(mcs, name, bases, {**ns, "extra": kw.get("extra")})

    def __init__(cls, name, bases, ns, **kw):
        LOG.append(("init", cls.__name__))
        super().__init__(name, bases, ns)

    def __call__(cls, *args):
        LOG.append(("call", cls.__name__))
        return super().__call__(*args)

    def __len__(cls):
        return cls.size


def marked(cls):
    cls.mark = cls.__name__ * 2
    return cls


@program()
def plain(x):
    class Point:
        """A point."""
        zero = 0

        def __init__(self, x, y=2):
            self.x, self.y = x, y

        def sum(self):
            return self.x + self.y + self.zero
    return Point(x).sum(), Point, Point.__doc__, Point.__module__, Point.__qualname__


@program()
def instance_leaves(x):
    class Box:
        def __init__(self, value):
            self.value = value

        def cls(self):
            return __class__
    b = Box(x * 2)
    return b, type(b) is Box, b.cls() is Box, isinstance(b, Box), Box


@program()
def one_a_call(x):
    class C:
        seen = []
    C.seen.append(len(LOG))
    LOG.append(C)
    return x + len(LOG), [c.seen for c in LOG], len(set(LOG))


@program()
def supers(x):
    class A:
        def f(self, x):
            return x + 1

    class B(A):
        def f(self, x):
            return super().f(x) * 2

    class C(B):
        def f(self, x):
            return super(C, self).f(x) - 3
    return C().f(x), C.__mro__[1:3] == (B, A), C.__bases__ == (B,), C.__base__ is B, issubclass(C, A), C()


@program(lambda: (T(), 1), lambda: (T(), 2))
def closure_and_loop(x, n):
    made = []
    for i in range(3):
        class C:
            k = i * n

            def scale(self, t):
                return t * self.k + n
        made.append(C)
    return sum(c().scale(x) for c in made), made, [c.k for c in made]


@program()
def exceptions(x):
    class Oops(ValueError):
        def __init__(self, code):
            super().__init__(code, "text")
            self.code = code
    try:
        raise Oops(7)
    except ValueError as e:
        kept = e.code, e.args, type(e) is Oops
    return x + 1, kept, Oops


@program()
def exception_leaves(x):
    class Oops(Exception):
        pass
    y = x * 2
    raise Oops(y.shape[0], "left")


@program()
def descriptors(x):
    class C:
        def __init__(self, v):
            self._v = v

        @property
        def v(self):
            "text"
            return self._v

        @v.setter
        def v(self, new):
            self._v = new * 2

        @staticmethod
        def helper(a):
            return a + 1

        @classmethod
        def make(cls, v):
            return cls(v)
    c = C.make(x)
    c.v = C.helper(c.v)
    return c.v, c, C.make(1).v, c.helper(3), C.v.__doc__


@program()
def init_subclass(x):
    class Sub(Base, tag="first"):
        pass

    class SubSub(Sub, tag=len(Base.kinds)):
        pass
    return x + len(Base.kinds), Sub.tag, SubSub.tag, Sub, SubSub


@program()
def set_name(x):
    class C:
        a = Named()
        b = Named()

        def __init__(self, x):
            self.x = x
    return C(x).a[1] + 1, C(x).b[0], C.a, list(C.__dict__), C


@program()
def metaclass(x):
    class C(metaclass=Meta, extra=5):
        size = 3

        def __init__(self, x):
            self.x = x
    return C(x).x + len(C), C.prepared, C.extra, type(C) is Meta, C


@program()
def own_metaclass(x):
    class M(type):
        def __getattr__(cls, name):
            return name + cls.__name__

        def __setattr__(cls, name, value):
            LOG.append(name)
            super().__setattr__(name, value * 2)

    class C(metaclass=M):
        pass
    C.n = 2
    return x * C.n, C.other, M, C


@program()
def three_arguments(x):
    C = type("C", (Base,), {"f": lambda self, t: t + self.n, "n": 4}, tag="t")
    return C().f(x), C, C.__name__, C.__module__, type(C())


@program()
def slots(x):
    class C:
        __slots__ = ("a", "b")

        def __init__(self, a):
            self.a = a
    c = C(x + 1)
    c.b = 2
    del c.b
    return c, c.a, hasattr(c, "b"), hasattr(c, "__dict__")


@program()
def of_builtins(x):
    class L(list):
        def total(self):
            return sum(self)

    class D(dict):
        def __missing__(self, key):
            return key * 2

    class I(int):
        def __add__(self, other):
            return int(self) - other
    items = L([1, 2])
    items.append(3)
    d = D(a=1)
    return x * items.total(), items, d["a"], d["zz"], d, I(5) + 2, I(3)


@program()
def annotations(x):
    class C:
        a: int = 1
        b: "str"
        c: torch.Tensor
    return x + C.a, list(C.__annotations__), C.__annotations__["a"], C


@program()
def stores_later(x):
    @marked
    class C:
        n = 1
    C.n = 2
    C.f = lambda self, t: t * self.n
    C.__call__ = lambda self: self.n
    del C.mark
    return C().f(x), C()(), C, list(C.__dict__), hasattr(C, "mark")


@program()
def abstract(x):
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self):
            ...

        @property
        @abc.abstractmethod
        def name(self):
            ...

    class Square(Shape):
        name = "square"

        def __init__(self, side):
            self.side = side

        def area(self):
            return self.side * self.side
    try:
        Shape()
    except TypeError as e:
        text = str(e)
    s = Square(x)
    return s.area(), text, sorted(Shape.__abstractmethods__), isinstance(s, Shape), Shape, s


@program()
def operators(x):
    class V:
        def __init__(self, t):
            self.t = t

        def __add__(self, other):
            return V(self.t + other)

        __radd__ = __add__

        def __eq__(self, other):
            return isinstance(other, V)

        def __getitem__(self, i):
            return self.t[i]

        def __len__(self):
            return 3
    v = 1 + V(x) + 2
    return v.t, v[0], len(v), v == V(0), v != 3, V.__hash__ is None


@program()
def nested(x):
    class Outer:
        class Inner:
            n = 2

            def f(self, t):
                return t * self.n
        inner = Inner()
        names = [k for k in ("a", "b")]
        if len(names) > 1:
            twice = 2
        else:
            never = 3
        del names
    return Outer.inner.f(x) * Outer.twice, Outer.Inner.__qualname__, Outer, hasattr(Outer, "names")


@program()
def body_raises(x):
    y = x + 1
    try:
        class C:
            LOG.append("begun")
            value = {}["missing"]
    except KeyError as e:
        return y, e.args, LOG[-1]
    return y


@program()
def no_mro(x):
    class A:
        pass

    class B(A):
        pass
    try:
        class C(A, B):
            pass
    except TypeError as e:
        return x + 1, str(e)


@program()
def attribute_is_cell(x):
    class Node:
        def __init__(self, value, left=None):
            self.value, self.left = value, left

        def copy(self):
            return Node(self.value, self.left)
    Node.empty = Node(0)
    Node.table = {"self": Node, "list": [Node.empty]}
    n = Node(x, Node(1)).copy()
    return n.value + n.left.value, n, Node.table["list"][0] is Node.empty, Node


@program()
def break_inside_method(x):
    class C:
        def f(self, t):
            LOG.append(id(self) != 0)
            return t + self.n
    C.n = 3
    return C().f(x), C


@program()
def class_and_identity(x):
    class C:
        pass
    table = {C: 1, "other": 2}
    a = C()
    a.cls = C
    return x + table[C], table[type(a)], a, {C, C}, C in table, C == a.cls, C != Base


@program()
def deleted_and_stored_again(x):
    class C:
        a, b, c = 1, 2, 3

        def f(self):
            return "f"
    del C.a
    C.d = 4
    C.a = 5
    del C.f
    C.f = lambda self: "g"
    del C.b
    C.b = 6
    del C.b
    return x + C.a, [k for k in vars(C) if not k.startswith("__")], C().f(), hasattr(C, "b"), C


@program()
def enumerations(x):
    class Color(enum.Enum):
        RED = 1
        GREEN = 2
        ALSO = 1

        def mixed(self):
            return self.value * 2

        @property
        def lower(self):
            return self.name.lower()

    class Bits(enum.IntFlag):
        A, B = 1, 2

    class Names(str, enum.Enum):
        X = "x"

    class Numbers(enum.IntEnum):
        ONE = enum.auto()
        TWO = enum.auto()
    out = [Color.RED, Color(2), Color["GREEN"], Color.ALSO is Color.RED, list(Color), list(reversed(Color)), len(Color), Color.RED in Color, Color.RED.lower,
           Color.GREEN.mixed(), Color.RED == 1, Color.RED == Color.ALSO, Color.__members__ == {"RED": Color.RED, "GREEN": Color.GREEN, "ALSO": Color.RED},
           Names.X == "x", Names("x") is Names.X, Numbers.TWO + 1, Numbers(1), Bits.A | Bits.B, Bits.A in (Bits.A | Bits.B), isinstance(Color.RED, Color)]
    for f in (lambda: Color(7), lambda: Color["NO"], lambda: setattr(Color, "RED", 3), lambda: Color.NO):
        try:
            out.append(f())
        except (ValueError, KeyError, AttributeError) as e:
            out.append((type(e).__name__, str(e)))
    return x + Color.GREEN.value, [str(o) for o in out], {Color.RED: 1}[Color.RED]


@program()
def an_enumeration_that_leaves(x):
    class Mode(enum.Enum):
        TRAIN = "train"
        EVAL = "eval"
    y = x + len(Mode)
    print(end="")
    return y, Mode, Mode.TRAIN, [m.value for m in Mode], list(vars(Mode))[:2]
