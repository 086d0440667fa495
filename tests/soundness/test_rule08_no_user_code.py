"""Rule 8: guards run no user code: no __eq__, __hash__, __bool__, __len__, __getattr__, descriptors, __class__, metaclass hooks."""
import enum

import pytest
import torch
from follow import X, follow, follows

LOG = []


def tell(name, value=None):
    LOG.append(name)
    return value


class Loud:
    """Says which of its methods were called."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return tell("eq", self is other)

    def __hash__(self):
        return tell("hash", self.n)

    def __bool__(self):
        return tell("bool", self.n > 0)

    def __len__(self):
        return tell("len", self.n)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return tell("getattr", 3)

    def __iter__(self):
        return tell("iter", iter([self.n]))

    def __contains__(self, item):
        return tell("contains", True)

    def __index__(self):
        return tell("index", self.n)

    def __int__(self):
        return tell("int", self.n)

    def __float__(self):
        return tell("float", float(self.n))

    def __repr__(self):
        return tell("repr", "Loud")

    def __lt__(self, other):
        return tell("lt", True)

    def __add__(self, other):
        return tell("add", self.n)

    def __call__(self):
        return tell("call", self.n)

    def __instancecheck__(self, other):
        return tell("instancecheck", True)


USES = {
    "key": lambda o: {o: 1}[o],
    "member": lambda o: o in {o},
    "in a list": lambda o: o in [1, o],
    "equal": lambda o: o == 3,
    "truth": lambda o: 1 if o else 2,
    "length": lambda o: len(o),
    "missing attribute": lambda o: o.anything,
    "hasattr": lambda o: hasattr(o, "other"),
    "iterate": lambda o: [v for v in o],
    "contains": lambda o: 5 in o,
    "index": lambda o: [1, 2, 3][o],
    "range": lambda o: list(range(o)),
    "int": lambda o: int(o),
    "float": lambda o: float(o),
    "text": lambda o: f"{o!r}",
    "sort": lambda o: len(sorted([o, o])),
    "add": lambda o: o + 1,
    "call": lambda o: o(),
    "isinstance": lambda o: isinstance(3, o) if False else isinstance(o, Loud),
    "identity": lambda o: o is not None,
    "type": lambda o: type(o).__name__,
    "known attribute": lambda o: o.n,
}


@pytest.mark.parametrize("use", USES)
def test_methods_run_as_often_as_plainly(use):
    def program(compile):
        op = USES[use]
        f = compile(lambda x, o: (x + 1, op(o)))
        for n in (1, 1, 2, 1, 0, 1):
            LOG.clear()
            yield f(X, Loud(n)), list(LOG)
    follow(program)


@follows()
def test_dicts_with_loud_keys(compile):
    """A lookup of a plain key in a dict that has keys with __eq__, also at the same hash."""
    class Same:
        def __hash__(self):
            return hash("k")

        def __eq__(self, other):
            return tell("eq", False)

    def f(x, d):
        return x + d["k"], "other" in d, len(d)

    f = compile(f)
    for first in (False, False, True, False, True):
        d = {Same(): 0} if first else {}
        d["k"] = 2
        d[Same()] = 1
        LOG.clear()
        yield f(X, d), list(LOG)


@follows()
def test_equal_keys_of_other_types(compile):
    class Text(str):
        def __eq__(self, other):
            tell("eq")
            return str.__eq__(self, other)
        __hash__ = str.__hash__

    class Number(int):
        def __eq__(self, other):
            tell("eq")
            return int.__eq__(self, other)
        __hash__ = int.__hash__

    def f(x, d, k):
        return x + d[k], k in d, d.get(k)

    f = compile(f)
    for d, k in (({"a": 1}, "a"), ({Text("a"): 1}, "a"), ({"a": 1}, Text("a")), ({1: 1}, 1), ({Number(1): 1}, 1), ({1: 1}, Number(1)), ({1.0: 1}, True), ({"a": 1}, "a")):
        LOG.clear()
        yield f(X, d, k), list(LOG)


@follows(graphs=(1, 8))
def test_plain_keys(compile):
    """str, int, bytes, bool, None, float, tuples of these, and identity-hashed objects stay captured."""
    class Plain:
        pass

    p = Plain()
    keys = ("a", 1, b"b", True, None, 2.5, (1, "a", (None,)), p, Plain, len)
    d = {k: n for n, k in enumerate(keys)}

    def f(x):
        return x + d["a"] + d[1] + d[b"b"] + d[None] + d[2.5] + d[(1, "a", (None,))] + d[p] + d[Plain] + d[len]

    f = compile(f)
    for _ in range(2):
        yield f(X)
    d[p] = 100
    yield f(X)
    del d[None]
    yield f(X)


@follows(graphs=(1, 8))
def test_enum_and_tensor_keys(compile):
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    class Level(enum.IntEnum):
        LOW = 1

    t = torch.ones(1)
    d = {Color.RED: 1, t: 2, Level.LOW: 3}

    def f(x, c):
        return x + d[Color.RED] + d[t] + (5 if c in d else 6), d.get(c)

    f = compile(f)
    for c in (Color.RED, Color.BLUE, Level.LOW, 1, t, torch.ones(1), Color.RED):
        yield f(X, c)


@follows()
def test_attribute_hooks(compile):
    class Hooked:
        def __getattribute__(self, name):
            tell(name)
            return object.__getattribute__(self, name)

    def f(x, o):
        return x + o.n

    f = compile(f)
    for n in (1, 1, 2):
        o = Hooked()
        o.n = n
        LOG.clear()
        yield f(X, o), list(LOG)


@follows()
def test_metaclass_hooks(compile):
    class Meta(type):
        def __getattribute__(cls, name):
            tell(name)
            return type.__getattribute__(cls, name)

        def __eq__(cls, other):
            return tell("eq", cls is other)

        def __hash__(cls):
            return tell("hash", 1)

        def __instancecheck__(cls, o):
            return tell("instancecheck", type.__instancecheck__(cls, o))

        def __call__(cls, *args):
            tell("call")
            return type.__call__(cls, *args)

    class C(metaclass=Meta):
        k = 2

        def m(self):
            return self.k

    def f(x, o):
        return x + C.k + o.m(), isinstance(o, C), C().m(), type(o) == C

    f = compile(f)
    for _ in range(3):
        o = C()
        LOG.clear()
        yield f(X, o), list(LOG)


@follows()
def test_class_that_lies(compile):
    """A __class__ property."""
    class Liar:
        @property
        def __class__(self):
            return tell("class", int)

    def f(x, o):
        return x + 1, isinstance(o, int), isinstance(o, Liar), o.__class__ is int, type(o) is Liar

    f = compile(f)
    for _ in range(3):
        LOG.clear()
        yield f(X, Liar()), list(LOG)


@follows()
def test_descriptors_with_state(compile):
    class Counting:
        def __init__(self):
            self.reads = self.writes = 0

        def __get__(self, o, cls):
            self.reads += 1
            return self.reads

        def __set__(self, o, v):
            self.writes += 1
            tell(v)

    class C:
        d = Counting()

    d = C.__dict__["d"]
    o = C()

    def f(x):
        a = o.d
        o.d = a
        return x + a, o.d

    f = compile(f)
    for _ in range(4):
        LOG.clear()
        yield f(X), d.reads, d.writes, list(LOG)


@follows()
def test_loud_values_that_are_only_passed_on(compile):
    """Put into containers, returned, compared by identity: nothing is called."""
    def f(x, o):
        box = [o, (o,), {"k": o}]
        return x + 1, box[0] is o, len(box), box

    f = compile(f)
    for n in (1, 2, 1):
        o = Loud(n)
        LOG.clear()
        how, value = f(X, o)
        yield how, value[0], value[1], value[2], value[3][0] is o, list(LOG)


@follows()
def test_subclasses_of_containers(compile):
    class L(list):
        def __len__(self):
            return tell("len", 7)

        def __getitem__(self, i):
            return tell("getitem", 3)

        def __iter__(self):
            return tell("iter", iter([9]))

        def __contains__(self, v):
            return tell("contains", True)

    class D(dict):
        def __getitem__(self, k):
            return tell("getitem", 4)

        def __contains__(self, k):
            return tell("contains", True)

        def get(self, k, d=None):
            return tell("get", 5)

        def __missing__(self, k):
            return tell("missing", 6)

    def f(x, c):
        return x + len(c), c[0], list(c), 1 in c

    f = compile(f)
    for c in ([1], L([1]), D({0: 1}), {0: 1}, L([1, 2]), (1, 2)):
        LOG.clear()
        yield f(X, c), list(LOG)
