"""The C functions that segment code calls."""

import collections
import dis
import importlib.util
import sys

import pytest

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import build as emit_build  # noqa: E402

spec = importlib.util.spec_from_file_location("_emittest", emit_build.build())
h = importlib.util.module_from_spec(spec)
spec.loader.exec_module(h)


class Loud:
    """Every hook written in Python fails."""

    def __new__(cls, *args):
        raise AssertionError

    def __init__(self, *args):
        raise AssertionError

    def __setattr__(self, name, value):
        raise AssertionError

    def __delattr__(self, name):
        raise AssertionError

    @property
    def hidden(self):
        return "property"


class Slots:
    __slots__ = ("a", "b")


class LoudList(list):
    def __init__(self, *args):
        raise AssertionError

    def extend(self, items):
        raise AssertionError


class LoudDict(dict):
    def __setitem__(self, key, value):
        raise AssertionError


class LoudOrdered(collections.OrderedDict):
    def __setitem__(self, key, value):
        raise AssertionError


Point = collections.namedtuple("Point", "x y")


class Oops(ValueError):
    def __init__(self, code):
        self.code = code


def test_objects():
    o = h.make_object(Loud, ("a", "hidden"), 1, 2)
    assert type(o) is Loud and vars(o) == {"a": 1, "hidden": 2} and o.hidden == "property"
    h.set_attr(o, "b", 3)
    h.del_attr(o, "a")
    assert vars(o) == {"hidden": 2, "b": 3}
    s = h.make_object(Slots, (Slots.a,), 5)
    assert s.a == 5 and not hasattr(s, "b")
    h.set_attrs(s, (Slots.b,), 6)
    assert s.b == 6


def test_classes():
    class C:
        x = 1

    h.set_class(C, "x", 2)
    assert C.x == 2
    h.del_class(C, "x")
    assert not hasattr(C, "x")


def test_containers():
    items = h.new_object(LoudList)
    h.assign_list(items, [1, 2])
    h.assign_list(items, [3])
    assert items == [3]
    for cls in LoudDict, LoudOrdered:
        d = h.new_object(cls)
        h.update_dict(d, {"a": 1, "b": 2})
        h.set_item(d, "c", 3)
        h.del_item(d, "a")
        assert list(d.items()) == [("b", 2), ("c", 3)]
    q = collections.deque([1, 2, 3], 3)
    h.extend_deque(q, [4])
    assert list(q) == [2, 3, 4]
    h.assign_deque(q, [7])
    assert q == collections.deque([7], 3) and q.maxlen == 3


def test_like():
    p = h.new_like(Point, (1, 2))
    assert type(p) is Point and p == (1, 2)
    assert type(h.new_like(frozenset, [1])) is frozenset


def test_sets():
    s = {1, 2}
    h.replay_set(s, b"-+", 1, 9)
    assert s == {2, 9}
    h.replay_set(s, b"c+p+", 4, 5)
    assert s == {5}
    words = {str(i) for i in range(40)}
    for i in range(30):
        words.discard(str(i))
    for frozen in False, True:
        t = h.copy_set(words, frozen)
        assert type(t) is (frozenset if frozen else set) and list(t) == list(words) and t == words


def outer():
    def inner(a, b=1, *, c=2):
        return free + a + b + c

    free = 10
    return inner


def test_functions():
    f = outer()
    cell = h.make_cell(100)
    g = h.make_func(f.__code__, globals(), "n", "q.n", (5,), {"c": 7}, (cell,), None)
    assert g(1) == 113 and (g.__name__, g.__qualname__) == ("n", "q.n")
    assert g.__module__ == __name__
    assert h.bind(list.append, items := [])(3) is None and items == [3]


def test_exceptions():
    e = h.make_exc(Oops, (4,), None)
    assert type(e) is Oops and e.args == (4,) and not hasattr(e, "code")
    k = h.make_exc(StopIteration, (4,), (4,))
    assert k.value == 4
    o = h.make_exc(OSError, (4, "text"), (4, "text", "file"))
    assert o.args == (4, "text") and o.errno == 4 and o.filename == "file"
    h.link_exc(e, k, None, True)
    assert e.__cause__ is k and e.__context__ is None and e.__suppress_context__


@pytest.mark.parametrize("make", [
    lambda: iter([1, 2, 3]), lambda: iter((1, 2, 3)), lambda: iter(range(3)), lambda: iter({1: 2, 3: 4}),
    lambda: iter({1: 2, 3: 4}.values()), lambda: iter({1: 2, 3: 4}.items()), lambda: reversed([1, 2, 3]),
])
def test_iterators(make):
    for steps in range(4):
        it = make()
        seq = it.__reduce__()[1][0] if type(it) is not type(reversed([])) else [1, 2, 3]
        if "dict" in type(it).__name__:
            seq = {1: 2, 3: 4}
        for _ in range(steps):
            next(it, None)
        place = 3 - steps if type(it) is type(reversed([])) else steps
        new = h.make_iter(type(it), seq, place)
        assert type(new) is type(it) and list(new) == list(it)
    it = make()
    h.advance(it, 9)
    assert list(it) == []


def gen(a, *args, k=1, **kw):
    x = yield a
    try:
        y = yield x
    finally:
        args += (y,)
    yield args, k, kw


def test_generators():
    g = h.make_gen(gen, (1, 5, (2, 3), {"z": 4}))
    assert next(g) == 1 and g.send("x") == "x" and g.send("y") == ((2, 3, "y"), 5, {"z": 4})
    assert list(h.closed_gen(gen)) == []
    yields = [i.offset // 2 for i in dis.get_instructions(gen) if i.opname == "YIELD_VALUE"]
    present = bytes([1, 1, 1, 1, 1, 0])  # a k args kw x y
    g = h.resume_gen(gen, yields[1], None, present, 1, 5, (2, 3), {"z": 4}, "x")
    assert g.gi_frame.f_lineno == gen.__code__.co_firstlineno + 3
    assert g.send("y") == ((2, 3, "y"), 5, {"z": 4}) and list(g) == []
    g = h.resume_gen(gen, yields[1], None, present, 1, 5, (), {}, "x")
    with pytest.raises(UnboundLocalError) as caught:
        g.throw(KeyError)
    assert type(caught.value.__context__) is KeyError
