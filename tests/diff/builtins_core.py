"""Built-in functions about objects: classes, attributes, text, super()."""
import collections.abc
import copy
import dataclasses
import enum
import numbers
import typing

import torch


class Base:
    kind = "base"

    def __init__(self, k=1):
        self.k = k

    def scale(self, x):
        return x * self.k

    @classmethod
    def make(cls, k):
        return cls(k)

    @staticmethod
    def twice(x):
        return x + x

    @property
    def double(self):
        return self.k * 2

    @double.setter
    def double(self, value):
        self.k = value // 2


class Child(Base):
    kind = "child"

    def __init__(self, k=2, extra=3):
        super().__init__(k)
        self.extra = extra

    def scale(self, x):
        return super().scale(x) + super(Child, self).twice(x) * self.extra


class Dynamic:
    def __init__(self):
        self.seen = []

    def __getattr__(self, name):
        if name.startswith("v_"):
            self.seen.append(name)
            return len(name)
        raise AttributeError(f"no {name}")


class Sized:
    def __len__(self):
        return 7


class Meta(type):
    def __instancecheck__(cls, obj):
        return getattr(obj, "marked", False)

    def __call__(cls, *args):
        made = super().__call__(*args)
        made.by_meta = True
        return made


class Marked(metaclass=Meta):
    def __init__(self, v=0):
        self.v = v


@typing.runtime_checkable
class HasScale(typing.Protocol):
    def scale(self, x): ...


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


@dataclasses.dataclass
class Point:
    x: int
    y: float = 2.0
    tags: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: str = "b"


class Text:
    def __init__(self, t):
        self.t = t

    def __str__(self):
        return "str:" + self.t

    def __repr__(self):
        return "repr:" + self.t

    def __format__(self, spec):
        return f"fmt:{self.t}:{spec}"

    def __hash__(self):
        return 42

    def __eq__(self, other):
        return isinstance(other, Text) and self.t == other.t


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


def case_isinstance(x, e):
    b, c = Base(), Child()
    return x + 1, [isinstance(b, Base), isinstance(c, Base), isinstance(b, Child), isinstance(1, (str, int)), isinstance(True, int),
                   isinstance(x, torch.Tensor), isinstance(x, torch.nn.Parameter), isinstance(e.n, float), isinstance(e.items, list),
                   isinstance([], collections.abc.Sequence), isinstance({}, collections.abc.Mapping), isinstance("s", collections.abc.Iterable),
                   isinstance(Sized(), collections.abc.Sized), isinstance(b, collections.abc.Sized), isinstance(1.5, numbers.Number),
                   isinstance(3, int | str), isinstance(None, (int, type(None)))]


def case_issubclass(x, e):
    return x * 2, [issubclass(Child, Base), issubclass(Base, Child), issubclass(bool, (str, int)), issubclass(list, collections.abc.Sequence),
                   issubclass(Child, object), issubclass(Level, int)]


def case_isinstance_meta(x, e):
    b = Base()
    before = isinstance(b, Marked)
    b.marked = True
    return x + 1, before, isinstance(b, Marked), isinstance(Marked(3), Marked)


def case_isinstance_protocol(x, e):
    return x + 1, isinstance(Base(), HasScale), isinstance(3, HasScale)


def case_isinstance_error(x, e):
    y = x + 1
    return isinstance(y, 3)


def case_issubclass_error(x, e):
    return x + issubclass(3, int)


def case_meta_call(x, e):
    m = Marked(4)
    return x * m.v, m.by_meta, type(m) is Marked


def case_callable(x, e):
    return x + 1, callable(Base), callable(Base()), callable(len), callable(case_meta_call), callable(3), callable(x), callable(Base().scale)


def case_type(x, e):
    return x + 1, type(x), type(e.n), type(Base()) is Base, type(type), type(Child()).__name__, Child.__mro__[1] is Base


def case_getattr(x, e):
    c = Child()
    return x * getattr(c, "k"), getattr(c, "missing", 5), getattr(c, "double"), hasattr(c, "extra"), hasattr(c, "nope"), getattr(e, "na" + "me")


def case_getattr_missing(x, e):
    e.log.append(1)
    return x + getattr(Base(), "nope")


def case_getattr_bad_name(x, e):
    return x + getattr(e, 3)


def case_setattr(x, e):
    setattr(e, "fresh", x.shape[0])
    setattr(e, "count", e.count + 1)
    delattr(e, "rate")
    c = Child()
    setattr(c, "double", 10)
    return x + 1, c.k, vars(c), hasattr(e, "rate")


def case_delattr_missing(x, e):
    y = x + 1
    try:
        delattr(e, "nope")
    except AttributeError as error:
        return y, str(error)


def case_dynamic(x, e):
    d = Dynamic()
    return x * d.v_abc, d.seen, hasattr(d, "other"), getattr(d, "v_", 9)


def case_dynamic_missing(x, e):
    return x + Dynamic().other


def case_vars(x, e):
    v = vars(e)
    v["count"] = 12
    return x + e.count, sorted(v)[:3]


def case_super(x, e):
    return Child(3).scale(x), Child.make(2).scale(x), Child().twice(x)


def case_super_attribute(x, e):
    class Local(Base):
        def scale(self, x):
            e.log.append(super().kind)
            return super().scale(x) + __class__.__name__.__len__()
    return Local(2).scale(x)


def case_property(x, e):
    b = Base(4)
    b.double = 20
    return x * b.k, b.double


def case_property_no_setter(x, e):
    class P:
        @property
        def v(self):
            return 3
    p = P()
    try:
        p.v = 4
    except AttributeError as error:
        return x + p.v, str(error)


def case_text(x, e):
    t = Text("q")
    return x + 1, str(t), repr(t), format(t, ">5"), f"{t!r:>9}|{t!s}|{t:z}|{e.n:03d}|{e.rate:.3f}", str(3.5), repr("a'b"), str(), str(b"x")


def case_hash(x, e):
    return x + 1, hash(Text("a")), hash("a") == hash("a"), hash((1, 2)), Text("a") == Text("a"), {Text("a"): 1}


def case_object(x, e):
    a, b = object(), object()
    return x + 1, a is b, a == b, a != b, type(a)


def case_object_methods(x, e):
    b = Base()
    object.__setattr__(b, "z", 9)
    return x * b.z, object.__getattribute__(b, "k"), object.__eq__(b, b), object.__ne__(b, 3), object.__eq__(b, 3)


def case_object_new(x, e):
    b = object.__new__(Base)
    had = hasattr(b, "k")
    b.__init__(5)
    return x * b.k, had


def case_takes_no_arguments(x, e):
    class Empty:
        pass
    return x + Empty(3)


def case_enum(x, e):
    return x * Level.HIGH, Color.RED, Color(2) is Color.GREEN, Color["RED"].name, Level.LOW + 1, Level.HIGH > Level.LOW, Color.RED == Color.GREEN, Color.GREEN.value


def case_enum_iterate(x, e):
    return x + 1, [c.name for c in Color], len(Color), Color.RED in Color


def case_enum_missing(x, e):
    y = x + 1
    try:
        Color(17)
    except ValueError as error:
        return y, str(error)


def case_dataclass(x, e):
    p = Point(3)
    p.tags.append(1)
    q = Point(3, 2.0, [1])
    return x * p.x, p == q, p, dataclasses.fields(p)[1].name, dataclasses.is_dataclass(p)


def case_dataclass_replace(x, e):
    return x * 2, dataclasses.replace(Point(1), y=9.0), dataclasses.asdict(Point(4, 1.0, [2]))


def case_dataclass_frozen(x, e):
    f = Frozen(2)
    try:
        f.a = 3
    except dataclasses.FrozenInstanceError as error:
        return x * f.a, f, str(error), f == Frozen(2), hash(f) == hash(Frozen(2))


def case_slots(x, e):
    s = Slots(3)
    s.b = 4
    try:
        s.c = 5
    except AttributeError as error:
        return x * s.a, s.b, str(error)


def case_copy(x, e):
    b = Base(3)
    b.inner = [1, [2]]
    c, d = copy.copy(b), copy.deepcopy(b)
    c.k = 5
    d.inner[1].append(7)
    return x * b.k, c, d, c.inner is b.inner, d.inner is b.inner


class Asked:
    names = []

    def __init__(self, n):
        self.n, self.again = n, self

    def __getattribute__(self, name):
        Asked.names.append(name)
        return super().__getattribute__("n" if name == "alias" else name)


def case_deepcopy_own_getattribute(x, e):
    Asked.names = []
    a = Asked([1, {"k": (2,)}])
    b = copy.deepcopy(a)
    b.n.append(3)
    return a.alias, b.alias, b.again is b, Asked.names, x + len(b.n)


def case_deepcopy_shared(x, e):
    a = [1]
    b = copy.deepcopy({"p": a, "q": a, "t": (1, a), "s": (1, 2)})
    b["p"].append(2)
    return x + 1, b, a


def case_id_globals(x, e):
    return x + globals()["CONSTANT"], id(e) == id(e)


CONSTANT = 11


def case_len_repr_errors(x, e):
    out = []
    for f in (lambda: len(3), lambda: abs("s"), lambda: ord("ab"), lambda: chr(-1), lambda: int("x"), lambda: float("y"), lambda: round("z"),
              lambda: divmod(1, 0), lambda: pow(2, -1, 0), lambda: bin(1.5), lambda: iter(3), lambda: hash([])):
        try:
            f()
        except Exception as error:
            out.append((type(error), str(error)))
    return x + 1, out
