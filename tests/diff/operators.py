"""Operators of classes: who is asked, in which order, and what becomes of the answer."""
import collections

from kit import ask, program

SETTINGS_ON = ("capture_class_bodies",)


def added(a, b):
    a += b
    return a


def repeated(a, b):
    a *= b
    return a


class Int(int):
    def __radd__(self, other):
        return "Int.radd", other

    def __rand__(self, other):
        return "Int.rand"

    def __rsub__(self, other):
        return "Int.rsub"

    def __gt__(self, other):
        return "Int.gt"

    def __eq__(self, other):
        return "Int.eq"

    __hash__ = None


class Float(float):
    def __radd__(self, other):
        return "Float.radd", other

    def __rmul__(self, other):
        return "Float.rmul"

    def __gt__(self, other):
        return "Float.gt"


class Plain(int):
    pass


class Below(Plain):
    def __add__(self, other):
        return "Below.add"

    def __radd__(self, other):
        return "Below.radd"

    def __rsub__(self, other):
        return "Below.rsub"


@program()
def numbers_before_methods(x):
    """A number on the left takes what it can, unless the right class is below its own."""
    i, f, p, b = Int(2), Float(3.0), Plain(1), Below(2)
    return (x + 1, True + i, True & i, True < i, True == i, 1.5 + i, 1.5 < i, 2.0 == i, 5 - i, 5.0 - i, 1j + i, 1 + i, 1 == i,
            1 + f, 1.0 + f, 2 * f, True * f, 1 < f, 1j + f, i + f, f + i, p + b, b + p, p - b, 5 - b, True + b, b + True,
            p + 1.5, 1.5 + p, p + 1j, 1j + p, p ** 0.5, 2.0 ** p, 7.5 // b, ask(lambda: 1.5 << i), ask(lambda: p << 1.5))


class Items(list):
    def __radd__(self, other):
        return "Items.radd"

    def __rmul__(self, other):
        return "Items.rmul"


class Pair(tuple):
    def __radd__(self, other):
        return "Pair.radd"


class Text(str):
    def __radd__(self, other):
        return "Text.radd"

    def __rmod__(self, other):
        return "Text.rmod"


class Bare(list):
    pass


Named = collections.namedtuple("Named", "a b")


@program()
def numbers_before_sequences(x):
    """A class with + of its own is a number: it is asked before two sequences are joined, in place as well."""
    return (x + 1, Bare([1]) + Items([2]), Bare([1]) + Bare([2]), [1] + Items([2]), Items([1]) + [2], 2 * Items([1]), Items([1]) * 2,
            Named(1, 2) + Pair((3,)), Named(1, 2) + (3,), (1,) + Pair((2,)), added([1], Items([2])), added(Bare([1]), Items([2])),
            added((1,), Pair((2,))), "a" + Text("b"), Text("a") + "b", "%s" % Text("b"), added("a", Text("b")), b"a" + bytes(b"b"),
            added(Bare([1]), [2]), 2 * Bare([1]), ask(lambda: Bare() + (1,)), ask(lambda: "a" + Bare()))


@program()
def reflected_once(x):
    class Silent:
        def __init__(self):
            self.log = []

        def __radd__(self, other):
            self.log.append(("add", type(other).__name__))
            return NotImplemented

        def __rmul__(self, other):
            self.log.append(("mul", type(other).__name__))
            return NotImplemented

        def __iter__(self):
            return iter([7])

    s = Silent()
    return (x + 1, ask(added, [1], s), ask(added, (1,), s), ask(added, "a", s), ask(added, 1, s), ask(repeated, [1], s),
            ask(repeated, "a", s), ask(repeated, 2, s), ask(lambda: [1] + s), ask(lambda: "a" + s), ask(lambda: [1] * s), s.log)


@program(graphs=0)
def bytes_format_first(x):
    class R:
        def __rmod__(self, other):
            return "R.rmod"

        def __rmul__(self, other):
            return "R.rmul"

    return x + 1, ask(lambda: b"a" % R()), b"a" * R(), "a%s" % 1, ask(lambda: b"%b" % R())


class Whole(int):
    pass


@program()
def lengths_are_plain(x):
    class A:
        def __len__(self):
            return True

    class B:
        def __len__(self):
            return Whole(2)

    class C:
        def __len__(self):
            return 1 << 100

    class D:
        def __len__(self):
            return -(1 << 100)

    return x + 1, len(A()), type(len(A())), type(len(B())), ask(len, C()), ask(bool, C()), ask(len, D())


class Keys:
    def __init__(self, keys):
        self.given, self.log = keys, []

    def keys(self):
        for k in self.given:
            self.log.append(k)
            yield k

    def __getitem__(self, key):
        self.log.append(("get", key))
        return key * 2


class Odd:
    def keys(self):
        return 3


class OwnItem(dict):
    def __getitem__(self, key):
        return "own"


class OwnIter(dict):
    def __iter__(self):
        return iter(["q"])

    def keys(self):
        return ["z"]

    def __getitem__(self, key):
        return "own " + key


def keywords(**kw):
    return kw


@program()
def mappings_unpacked(x):
    a, b, c, d = Keys("ab"), Keys("cd"), Keys("ef"), Keys("gh")
    made = keywords(**a), {**b}, dict(c), collections.OrderedDict(d)
    u = {}
    u.update(OwnItem(p=1))
    return (x + 1, made, a.log, b.log, c.log, d.log, ask(lambda: keywords(**Odd())), ask(lambda: {**Odd()}), ask(dict, Odd()),
            ask(lambda: keywords(**3)), ask(lambda: {**3}), ask(lambda: keywords(**a, a=1)), {**OwnItem(k=1)}, keywords(**OwnItem(k=1)),
            {**OwnIter(k=1)}, keywords(**OwnIter(k=1)), dict(OwnIter(k=1)), u)


OLD, OLD_FLOAT, ONE, YES, HALF = Int(2), Float(3.0), 1, True, 1.5


@program()
def numbers_from_outside_before_methods(x):
    i = Int(2)
    return (x + 1, YES < OLD, YES == OLD, HALF < OLD, HALF == OLD, YES + OLD, ONE + OLD, ONE + OLD_FLOAT, HALF + OLD_FLOAT,
            ONE < OLD_FLOAT, ONE == OLD, HALF + OLD, YES < i, YES == i, HALF < i, HALF == i, HALF - i, ONE - i, YES & i)


class OnlySet:
    def __setitem__(self, key, value):
        self.__dict__[key] = value


class OnlyDelete(tuple):
    def __delitem__(self, key):
        pass


class Raises:
    def __get__(self, obj, cls):
        raise AttributeError("bound by nobody")


def put(o, key, value):
    o[key] = value


def drop(o, key):
    del o[key]


@program()
def half_of_a_protocol(x):
    """A slot that is there for its other method misses the one that is asked for."""
    o = OnlySet()
    put(o, "a", 3)
    return x + o.a, ask(drop, o, "a"), ask(put, OnlyDelete(), 1, 2), drop(OnlyDelete(), 1), ask(drop, (), 1)


class Sequence(tuple):
    __iter__ = Raises()


class Unnamed:
    __repr__ = Raises()


@program(graphs=0)
def bindings_that_are_forgotten(x):
    return x + 1, list(Sequence((1, 2))), ",".join(Sequence("ab")), repr(Unnamed())[:8]


class TextWithTrunc(str):
    def __trunc__(self):
        return 5


class TextWithRepr(str):
    def __repr__(self):
        return "its own words"


class FloatByCall(float):
    __float__ = list


class Bytes(bytes):
    pass


class Frozen(frozenset):
    def __repr__(self):
        return super().__repr__() + "!"


@program(graphs=0)
def words_are_about_the_object(x):
    return (x + 1, ask(int, TextWithTrunc("7")), ask(int, TextWithRepr("a")), ask(float, TextWithRepr("a")), ask(float, FloatByCall(1.5)),
            ask(int, Pair()), ask(float, Pair((1,))), ask(lambda: Bytes() + 1), ask(Bytes().__add__, None), repr(Frozen([1])),
            repr(Frozen()))


class Deaf(set):
    def __ror__(self, other):
        return 0

    def __rand__(self, other):
        raise ValueError("asked while tracing")


@program(graphs=0)
def sets_are_not_asked(x):
    d = Deaf([1, 2])
    s = {3}
    s.update(d)
    return x + 1, set(d), sorted(s), {1}.union(d), {1, 5}.intersection(d), frozenset(d)


class Silent(Exception):
    __radd__ = None


class Length(Exception):
    __new__ = len


@program()
def exceptions_with_operators(x):
    return x + 1, ask(lambda: [1] + Silent()), ask(lambda: 1 + Silent()), ask(lambda: Length(1)), ask(Length)


class Meta(type):
    def __add__(cls, other):
        return "Meta.add", cls.__name__

    def __radd__(cls, other):
        return "Meta.radd", cls.__name__

    def __mul__(cls, other):
        return NotImplemented

    def __iadd__(cls, other):
        return "Meta.iadd"

    def __len__(cls):
        return 3

    def __contains__(cls, item):
        return item == 2

    def __iter__(cls):
        return iter("ab")

    def __eq__(cls, other):
        return "Meta.eq"

    def __lt__(cls, other):
        return "Meta.lt"

    def __hash__(cls):
        return 7

    def __bool__(cls):
        return False

    def __neg__(cls):
        return "Meta.neg"

    def __or__(cls, other):
        return "Meta.or"

    def __ror__(cls, other):
        return "Meta.ror"

    def __setitem__(cls, key, value):
        cls.put = key, value


class SubMeta(Meta):
    def __radd__(cls, other):
        return "SubMeta.radd"

    def __rmul__(cls, other):
        return "SubMeta.rmul"


class PlainMeta(type):
    pass


class BadMeta(type):
    def __len__(cls):
        return lambda: 3

    def __iter__(cls):
        return 3

    def __bool__(cls):
        return 3


class HidingMeta(type):
    def __getattribute__(cls, name):
        return False


class OfMeta(metaclass=Meta):
    pass


class OfSubMeta(metaclass=SubMeta):
    pass


class OfPlainMeta(metaclass=PlainMeta):
    pass


class OfBadMeta(metaclass=BadMeta):
    pass


class OfHidingMeta(metaclass=HidingMeta):
    def __new__(cls):
        return 1.5


@program()
def operators_of_classes(x):
    c, d = OfMeta, OfSubMeta
    put(c, 1, 2)
    return (x + 1, c + 1, 1 + c, c + c, c + d, d + c, c * d, ask(lambda: c * c), len(c), 2 in c, list(c), c == 1, c != 1, c < 1, bool(c),
            -c, c | 1, int | c, c | int, None | c, not c, added(c, 1), c.put)


@program()
def operators_of_plain_classes(x):
    c = OfPlainMeta
    return (x + 1, ask(lambda: c + c), ask(lambda: -c), ask(len, c), bool(c), c == c, c != OfMeta, c == int, ask(lambda: c < c),
            ask(list, c), ask(lambda: 1 in c), ask(put, c, 1, 2), ask(lambda: ~int), ask(lambda: int + int), int == int, {c: 1}[c],
            ask(lambda: c + 1), ask(lambda: 1 + c))


@program()
def answers_of_metaclasses(x):
    return x + 1, ask(len, OfBadMeta), ask(list, OfBadMeta), ask(bool, OfBadMeta), ask(OfHidingMeta)


class Repeated(list):
    def __rmul__(self, other):
        return "Repeated.rmul"

    def __radd__(self, other):
        return "Repeated.radd"


@program(graphs=0)
def in_place_by_the_numbers_slot(x):
    return x + 1, type(repeated(Repeated([1]), 2)), type(added(Repeated([1]), [2])), ask(added, Repeated([1]), (2,))
