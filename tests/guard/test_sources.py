"""What sources are called, when two are one, and what each loads."""

import collections
import functools
import types

import pytest

from describe import EXC, FUNC, UNBOUND, Program, attr, index, item, slot, src
from guard_engine import selftest


@pytest.mark.parametrize("source, text", [
    (slot(0), "L['x']"),
    (slot(3), "L[3]"),
    (FUNC, "F"),
    (attr(attr(slot(0), "a"), "b"), "L['x'].a.b"),
    (item(src("GLOBALS", FUNC), "cfg"), "F.__globals__['cfg']"),
    (item(slot(0), 3), "L['x'][3]"),
    (index(slot(0), -1), "L['x'][-1]"),
    (src("TYPE", src("TYPE", slot(0))), "type(type(L['x']))"),
    (src("CELL", src("CLOSURE", FUNC, None, 2)), "F.__closure__[2].cell_contents"),
    (src("KEYAT", src("DICT", slot(0)), None, 1), "list(L['x'].__dict__)[1]"),
    (src("CLASSVAR", src("TYPE", slot(0)), "f"), "type(L['x']).__mro__[.].f"),
    (src("NEXTITEM", slot(0)), "next(L['x'])"),
    (src("NEXTITEM", slot(0), None, 2), "next(L['x'], +2)"),
    (src("CONST", None, (1, "a")), "C[(1, 'a')]"),
])
def test_text(source, text):
    assert selftest.source_text(source, ("x", None)) == text


def test_keys_that_are_equal_but_differ_make_different_sources():
    x = slot(0)
    for a, b in [(1, True), (1, 1.0), (0.0, -0.0), ((1,), (True,)), ("a", b"a")]:
        assert not selftest.source_same(item(x, a), item(x, b))
        assert selftest.source_same(item(x, a), item(x, a))
    assert selftest.source_same(attr(x, "na" + "me"), attr(x, "".join(["na", "me"])))
    assert not selftest.source_same(attr(x, "a"), item(x, "a"))


class Plain:
    def __init__(self, **kw):
        for k, v in kw.items():
            setattr(self, k, v)


class Slots:
    __slots__ = ("a", "b")


def made(source, *slots, **kw):
    out = Program([], [source])(*slots, **kw)
    return out[0] if out else "miss"


def test_attributes_inline_materialised_and_of_modules():
    o = Plain(a=1, b=2)
    assert made(attr(slot(), "b"), o) == 2
    o.__dict__
    assert made(attr(slot(), "b"), o) == 2
    o.__dict__ = {1: 3, "b": 7}
    assert made(attr(slot(), "b"), o) == 7
    assert made(attr(slot(), "c"), o) == "miss"
    m = types.ModuleType("m")
    m.x = 5
    assert made(attr(slot(), "x"), m) == 5
    assert made(attr(slot(), "x"), 17) == "miss"
    assert made(attr(slot(), "x"), Plain()) == "miss"


def test_class_attributes_and_properties_are_not_instance_attributes():
    class C(Plain):
        x = 1

        @property
        def y(self):
            raise AssertionError

    assert made(attr(slot(), "x"), C()) == "miss"
    assert made(attr(slot(), "y"), C()) == "miss"
    assert made(src("CLASSVAR", src("TYPE", slot()), "y"), C()) is C.__dict__["y"]


def test_one_program_sees_both_forms_of_an_instance():
    p = Program([("TYPE", attr(slot(), "a"), int)], [attr(slot(), "a")])
    first, second = Plain(a=1), Plain(a=2)
    second.__dict__
    third = Plain(z=0, a=3)
    for _ in range(3):
        assert p(first) == (1,) and p(second) == (2,) and p(third) == (3,)
    del first.a
    assert p(first) is None
    first.a = 4
    assert p(first) == (4,)


def test_members():
    o = Slots()
    o.a = 5
    for k in "ab":
        Slots.__dict__[k]
    offset = object.__basicsize__
    hinted = ("SLOT", None, None, 0, o)
    a, b = src("MEMBER", hinted, "a", offset), src("MEMBER", hinted, "b", offset + 8)
    p = Program([], [a])
    assert p(o) == (5,)
    assert p(Plain(a=5)) is None  # the type is asked before memory is read
    assert Program([], [b])(o) is None
    assert Program([("UNBOUND", b)])(o) == ()
    with pytest.raises(SystemError, match="type of what is read"):
        Program([], [src("MEMBER", slot(), "a", offset)])


def test_functions():
    cell = 3

    def f(a, b=1, *, c=2):
        return cell

    assert made(src("GLOBALS", FUNC), func=f) is globals()
    assert made(src("CELL", src("CLOSURE", FUNC, None, 0)), func=f) == 3
    assert made(src("CLOSURE", FUNC, None, 1), func=f) == "miss"
    assert made(src("DEFAULT", FUNC, None, 0), func=f) == 1
    assert made(src("KWDEFAULT", FUNC, "c"), func=f) == 2
    assert Program([("UNBOUND", src("KWDEFAULT", FUNC, "d"))]).hit(func=f)
    assert Program([("UNBOUND", src("KWDEFAULT", FUNC, "d"))]).hit(func=made)
    assert Program([("NDEFAULTS", FUNC, 1)]).hit(func=f)
    assert not Program([("NDEFAULTS", FUNC, 1)]).hit(func=made)
    o = Plain(f=f)
    m = types.MethodType(f, o)
    assert made(src("METHFUNC", slot()), m) is f and made(src("METHSELF", slot()), m) is o
    l = []
    assert made(src("METHSELF", slot()), l.append) is l


def test_containers():
    assert made(index(slot(), -1), [1, 2, 3]) == 3
    assert made(index(slot(), 3), [1, 2, 3]) == "miss"
    assert made(index(slot(), -4), (1, 2, 3)) == "miss"
    assert made(index(slot(), 1), collections.deque([1, 2])) == 2
    assert made(index(slot(), -1), collections.deque([1, 2])) == 2
    assert made(index(slot(), 2), collections.deque([1, 2])) == "miss"
    assert made(index(slot(), 0), {0: 1}) == "miss"
    assert made(index(slot(), 0), "abc") == "miss"
    d = {"a": 1, 2: "b", (3, 4.0): None}
    for k, v in d.items():
        assert made(item(slot(), k), d) == v
    assert made(item(slot(), (3, 4)), d) is None  # dict equality, as plain Python has it
    assert made(item(slot(), "b"), d) == "miss"
    assert [made(src("KEYAT", slot(), None, i), d) for i in range(4)] == ["a", 2, (3, 4.0), "miss"]
    del d["a"]
    d["z"] = 1
    assert [made(src("KEYAT", slot(), None, i), d) for i in range(4)] == [2, (3, 4.0), "z", "miss"]


def test_getters_of_c_types():
    p = functools.partial(max, 1, key=abs)
    hinted = ("SLOT", None, None, 0, p)
    assert made(src("GETSET", hinted, "func"), p) is max
    assert made(src("GETSET", hinted, "args"), p) == (1,)
    assert made(src("GETSET", hinted, "func"), Plain(func=1)) == "miss"
    r = range(3, 9)
    assert made(src("GETSET", ("SLOT", None, None, 0, r), "stop"), r) == 9

    class Bad:
        @property
        def x(self):
            raise AssertionError

    with pytest.raises(SystemError, match="no getter made by C"):
        Program([], [src("GETSET", ("SLOT", None, None, 0, Bad()), "x")])


def test_exporting_the_dictionary_makes_it_and_guarding_it_does_not():
    import sys

    o = Plain(a=1)
    d = src("DICT", slot())
    guards = [("TYPE", d, dict), ("KEYS", d, ("a",)), ("LEN", d, 1), ("NONEMPTY", d, True),
              ("ABSENT", d, "b"), ("EQ", item(d, "a"), 1), ("EQ", src("KEYAT", d, None, 0), "a")]
    size = sys.getsizeof(o)
    p = Program(guards)
    assert p.hit(o)
    import gc

    assert not any(isinstance(r, dict) for r in gc.get_referents(o))  # still inline
    assert Program(guards, [d])(o)[0] is o.__dict__
    assert size and p.hit(o)
    o.__dict__ = collections.OrderedDict(a=1)
    assert not p.hit(o)
    assert "type(L[0].__dict__) is dict" in p.why(o)


def test_unbound_and_the_exception():
    assert made(slot(), UNBOUND) == "miss"
    p = Program([("UNBOUND", slot())])
    assert p.hit(UNBOUND) and not p.hit(1)
    assert not p.hit()
    e = ValueError()
    assert made(EXC, exc=e) is e and made(EXC) == "miss"
    assert Program([("UNBOUND", EXC)]).hit() and not Program([("UNBOUND", EXC)]).hit(exc=e)


def test_a_chain_as_long_as_a_list():
    class Node:
        def __init__(self, next):
            self.next = next

    n = None
    for _ in range(300):
        n = Node(n)
    s = slot()
    for _ in range(299):
        s = attr(s, "next")
    p = Program([("TYPE", s, Node)])
    assert p.hit(n) and p.text.count(".next") == 299


# -- Iterators ---------------------------------------------------------------------


def advanced(it, n):
    for _ in range(n):
        next(it)
    return it


D = {"a": 1, "b": 2, "c": 3}
MAKERS = [
    lambda: iter([1, 2, 3]), lambda: iter((1, 2, 3)), lambda: reversed([1, 2, 3]),
    lambda: iter(range(3)), lambda: iter(range(10, 0, -4)), lambda: iter(D),
    lambda: iter(D.values()), lambda: iter(D.items()), lambda: enumerate([5, 6, 7], 3),
    lambda: zip([1, 2], "ab" and ("x", "y", "z")), lambda: enumerate(zip((1, 2), [3, 4])),
    lambda: iter([]), lambda: zip(), lambda: iter({}),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("steps", range(4))
def test_peeking_is_what_next_gives(make, steps):
    rest = list(make())[steps:]
    it = make()
    for _ in range(steps):
        next(it, None)
    for ahead in range(4):
        want = (1, rest[ahead]) if ahead < len(rest) else (0,)
        assert selftest.iter_peek(it, ahead) == want
    if len(list(make())) >= steps:
        assert list(it) == rest  # nothing was advanced


def test_iterators_that_would_raise_or_are_unknown():
    d = dict(D)
    it = iter(d)
    d["z"] = 1
    assert selftest.iter_peek(it) == (-1,)
    assert selftest.iter_peek(map(abs, [1])) == (-1,)
    assert selftest.iter_peek(x for x in [1]) == (-1,)
    assert selftest.iter_peek(zip([1], [], strict=True)) == (-1,)
    assert selftest.iter_peek(zip([1], [2], strict=True)) == (1, (1, 2))
    assert selftest.iter_peek(enumerate([1], 2**70)) == (-1,)
    assert selftest.iter_peek(iter(range(2**70))) == (-1,)
    l = [1, 2, 3]
    it = advanced(iter(l), 2)
    l.clear()
    assert selftest.iter_peek(it) == (0,)
    selftest.iter_check()


def test_iterators_in_programs():
    l = [1, "x", 2.0]
    s = slot()
    p = Program([("HASNEXT", s, True), ("TYPE", src("NEXTITEM", s), int)],
                [src("NEXTITEM", s), src("UNDERLYING", s)])
    it = iter(l)
    assert p(it) == (1, l)
    assert next(it) == 1
    assert p(it) is None and "type(next(L[0])) is int, but it is str" in p.why(it)
    done = Program([("HASNEXT", s, False)])
    assert not done.hit(it) and done.hit(advanced(it, 2))
    two = Program([("HASNEXT", s, True, 1), ("HASNEXT", s, False, 2)])
    assert two.hit(advanced(iter(l), 1)) and not two.hit(iter(l))
    pairs = src("NEXTITEM", s)
    assert Program([], [index(pairs, 1)])(enumerate(l)) == (1,)
