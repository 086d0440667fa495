"""Raw looks into instances, dicts and types."""

import gc
import random
import sys
import types

import pytest

from engine import selftest

inst_get, inst_names, inst_dict = selftest.inst_get, selftest.inst_names, selftest.inst_dict


class Plain:
    pass


class Slots:
    __slots__ = ("a",)


class BigInt(int):
    pass


class Pair(tuple):
    pass


class OldDict(dict):
    pass


def has_dict(o):
    """Whether the instance dict has been materialised; asking for __dict__ would do that."""
    return inst_dict(o) is not None


def test_inline_values():
    o = Plain()
    assert inst_get(o, "x") == (0, None) and inst_names(o) == []
    o.x, o.y, o.z = 1, 2, 3
    assert inst_get(o, "y") == (1, 2) and inst_get(o, "nope") == (0, None)
    assert inst_names(o) == ["x", "y", "z"]
    del o.x
    o.w = 4
    o.x = 5
    assert inst_get(o, "x") == (1, 5) and inst_names(o) == ["y", "z", "w", "x"]
    del o.y
    assert inst_get(o, "y") == (0, None)
    assert not has_dict(o)
    names = list(vars(o))
    assert has_dict(o) and inst_names(o) == names == ["z", "w", "x"]
    assert inst_get(o, "z") == (1, 3) and inst_get(o, "y") == (0, None)
    assert inst_get(o, "".join(["w"])) == (1, 4)


def test_order_differs_from_shared_keys():
    class A:
        pass

    first, second = A(), A()
    first.a, first.b = 1, 2
    second.b, second.a = 3, 4
    assert inst_names(first) == ["a", "b"] and inst_names(second) == ["b", "a"]
    assert inst_get(second, "a") == (1, 4)


def test_many_attributes():
    o = Plain()
    for i in range(100):
        setattr(o, f"n{i}", i)
    assert all(inst_get(o, f"n{i}") == (1, i) for i in range(100))
    assert inst_names(o) == list(o.__dict__)


@pytest.mark.parametrize("make", [lambda: BigInt(10 ** 30), lambda: BigInt(-5), lambda: Pair((1, 2, 3)),
                                  lambda: types.SimpleNamespace(), lambda: lambda: 0,
                                  lambda: types.ModuleType("m"), lambda: OldDict(q=1), Plain,
                                  lambda: Exception("e")])
def test_objects_with_a_dict(make):
    o = make()
    o.attr = 1
    assert inst_get(o, "attr") == (1, 1) and inst_get(o, "other") == (0, None)
    assert "attr" in inst_names(o)
    assert inst_get(o, "attr") == (1, vars(o)["attr"])


def test_objects_without():
    for o in (Slots(), 5, "s", (), None, object()):
        assert inst_get(o, "a") == (-1, None)
        assert inst_names(o) == [] and inst_dict(o) is None


def test_replaced_dict():
    o = Plain()
    o.a = 1
    o.__dict__ = OldDict(b=2)
    assert inst_get(o, "a") == (0, None) and inst_get(o, "b") == (1, 2)
    o.__dict__ = {}
    assert inst_names(o) == []


def test_class_as_instance():
    assert inst_get(Plain, "__module__") == (1, __name__)


# -- Dicts -----------------------------------------------------------------------------


def test_dict_hint():
    d = {f"k{i}": i for i in range(1000)}
    for i in range(1000):
        assert selftest.dict_get(d, f"k{i}") == (i, i)  # a dict without deletions: place = order
        assert selftest.dict_get(d, f"k{i}", 5)[0] == i
    assert selftest.dict_get(d, "none", 7) == (None, 7)
    del d["k3"]
    assert selftest.dict_get(d, "k3", 3)[0] is None
    assert selftest.dict_get(d, "k4", 10 ** 9) == (4, 4)
    assert selftest.dict_get({}, "x", 0)[0] is None


def test_dict_keys_of_all_kinds():
    keys = [1, 1.5, True, None, "s", b"b", 2j, (1, 2), frozenset([3]), Plain, 10 ** 30, -1, 0.0]
    d = {k: i for i, k in enumerate(keys)}
    for k in [*keys, 1.0, 2, "t", (1,), -0.0, 10.0 ** 2, False]:
        assert selftest.dict_get(d, k)[0] == d.get(k)
        assert selftest.dict_get(d, k, 3)[0] == d.get(k)


def test_dict_at_random():
    rng = random.Random(1)
    d = {}
    for _ in range(20000):
        k = rng.choice([rng.randrange(300), f"s{rng.randrange(300)}"])
        if rng.random() < 0.3:
            d.pop(k, None)
        else:
            d[k] = k
        q = rng.choice([rng.randrange(300), f"s{rng.randrange(300)}"])
        assert selftest.dict_get(d, q, rng.randrange(400))[0] == d.get(q)


def test_dict_never_compares_with_user_code():
    class Loud:
        def __hash__(self):
            return hash("name")

        def __eq__(self, other):
            raise AssertionError("compared")

    assert selftest.dict_get({Loud(): 1}, "name")[0] is None
    d = {Loud(): 1}
    dict.__setitem__(d, 5, 2)
    assert selftest.dict_get(d, 5)[0] == 2


# -- Types ------------------------------------------------------------------------------


def test_type_version():
    class A:
        x = 1

    class B(A):
        pass

    v = selftest.type_version(B)
    assert v and v == selftest.type_version(B) and selftest.type_version(A) not in (0, v)
    A.x = 2
    assert selftest.type_version(B) not in (0, v)
    assert selftest.type_version(int)


# -- Calls --------------------------------------------------------------------------------


def test_call_code():
    def f(a, b):
        c = a + b
        return c, [x for x in range(c)]

    def raises(a):
        return a / 0

    assert selftest.call_code(f, (1, 2)) == (3, [0, 1, 2])
    before = sys.getrefcount(f), sys.getrefcount(f.__code__)
    selftest.call_code(f, (1, 2), 1000)
    assert (sys.getrefcount(f), sys.getrefcount(f.__code__)) == before
    with pytest.raises(ZeroDivisionError):
        selftest.call_code(raises, (1,))
    gc.collect()
