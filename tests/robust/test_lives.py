"""Entries own no objects of the program: what it lets go of is gone, at whatever instruction its code was cut."""
import gc
import weakref

import pytest

torch = pytest.importorskip("torch")
import jedlik
from jedlik import _engine


@pytest.fixture(autouse=True, scope="module")
def short_collections():
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


class Plain:
    pass


class Key:
    __slots__ = ("__weakref__", "other")


class Names(set):
    pass


def gone(refs):
    gc.collect()
    return [r() is None for r in refs]


# -- Keys and members -------------------------------------------------------------------


def count(seen, objects):
    for o in objects:
        seen.setdefault(o, 0)
        seen[o] += 1
    return list(seen.items())


def look_up(seen, objects):
    return [seen.get(o) for o in objects], [o in seen for o in objects]


def walk(seen, objects):
    return [k for k in seen], objects[0] in set(objects), {o: 1 for o in objects}


def members(seen, objects):
    s = set(objects)
    return len(s), [m for m in s], len(frozenset(objects) | set(seen))


@pytest.mark.parametrize("make", [Plain, Key, lambda: torch.nn.Linear(1, 1), lambda: torch.ones(2), lambda: type("Made", (), {})])
@pytest.mark.parametrize("f", [count, look_up, walk, members])
@pytest.mark.parametrize("there", [False, True])
def test_keys(f, make, there):
    jedlik.reset()
    c = jedlik.compile(f, backend="eager")
    objects, seen = [make(), make()], {}
    if there:
        seen = dict.fromkeys(objects, 1)
    for _ in range(3):
        c(seen, objects)
    refs = [weakref.ref(o) for o in objects]
    del objects, seen
    assert all(gone(refs))


@pytest.mark.parametrize("kind", [set, frozenset, Names])
def test_sets_that_exist(kind):
    jedlik.reset()
    c = jedlik.compile(lambda s, o: (o in s, len(s), [m for m in s], s == {o}, s | {1}), backend="eager")
    o = Plain()
    s = kind([o, 1, "a"])
    plain = (o in s, len(s), [m for m in s], s == {o}, s | {1})
    for _ in range(3):
        assert c(s, o) == plain
    assert c(kind([Plain(), 1, "a"]), o)[0] is False
    r = weakref.ref(o)
    del o, s, plain
    assert all(gone([r]))


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: torch.optim.Adam(p, lr=0.1), lambda p: torch.optim.AdamW(p, lr=0.1, foreach=False),
    lambda p: torch.optim.RMSprop(p), lambda p: torch.optim.Adagrad(p)])
def test_parameters_of_an_optimizer(make):
    jedlik.reset()
    m = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
    o = make(m.parameters())

    def step(x):
        o.zero_grad()
        m(x).sum().backward()
        o.step()

    whole, last = jedlik.compile(step, backend="eager"), jedlik.compile(o.step, backend="eager")
    for _ in range(3):
        whole(torch.ones(2, 3))
        last()
    refs = [weakref.ref(p) for p in m.parameters()]
    del m, o, step, whole, last
    assert all(gone(refs))


# -- What classes hold -------------------------------------------------------------------


def thing(o=None):
    return 6


class Described:
    def __get__(self, o, cls):
        return 7

    __slots__ = ("__weakref__",)


VALUES = {"function": lambda: thing_again(), "property": lambda: property(thing_again()), "static": lambda: staticmethod(thing_again()),
          "class": lambda: classmethod(thing_again()), "object": Plain, "made": lambda: type("Made", (), {}), "descriptor": Described,
          "module": lambda: torch.nn.Linear(1, 1)}
READS = {"new": lambda cls, o: cls().value, "existing": lambda cls, o: o.value, "of_the_class": lambda cls, o: cls.value,
         "asked": lambda cls, o: (hasattr(cls(), "value"), getattr(cls(), "value", None) is None), "asked_existing": lambda cls, o: getattr(o, "value", None),
         "by_super": lambda cls, o: super(cls, cls()).value}


def thing_again():
    return type(thing)(thing.__code__, {})


def kept_of(value):
    """The object that a class attribute leads to, if that can be referred to weakly."""
    return weakref.ref(getattr(value, "fget", None) or getattr(value, "__func__", None) or value)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("read", READS)
def test_values_of_classes(kind, read, monkeypatch):
    """A class attribute that is deleted, or whose class goes, is not held by what was compiled while it was there."""
    for name in ("capture_without_tensors", "keep_empty_graphs"):
        monkeypatch.setattr(jedlik.config, name, True)
    below = type("Below", (), {"value": VALUES[kind]()})
    cls = type("Holder", (below,), {} if read == "by_super" else {"value": VALUES[kind]()})
    held = below if read == "by_super" else cls
    ref = kept_of(vars(held)["value"])
    try:
        for n in range(12):
            _engine.set_config("break_at", n)
            c, o = jedlik.compile(lambda cls, o: (READS[read](cls, o), 1)[1], backend="eager"), cls()
            assert c(cls, o) == c(cls, o) == 1
    finally:
        _engine.set_config("break_at", 0)
    del held.value, o
    assert all(gone([ref]))


# -- Cut anywhere --------------------------------------------------------------------------


def class_in_a_ring():
    class C:
        pass

    C.itself = C
    ref = weakref.ref(C)
    o = C()
    del o, C
    gc.collect()
    return ref() is None


def object_in_its_own_set():
    o = Plain()
    held = frozenset([o, 1])
    o.walk = iter(held)
    ref = weakref.ref(o)
    del o, held
    gc.collect()
    return ref() is None


def object_in_its_own_dict():
    o = Plain()
    held = {o: 1, 2: o}
    o.walk = iter(held.items())
    next(o.walk)
    ref = weakref.ref(o)
    del o, held
    gc.collect()
    return ref() is None


def method_of_a_class():
    class C:
        def method(self):
            return 6

    o = C()
    told = []
    ref = weakref.WeakMethod(o.method, told.append)
    six = o.method()
    del C.method
    gc.collect()
    return ref() is None and len(told) == 1 and six == 6


@pytest.mark.parametrize("f", [method_of_a_class, class_in_a_ring, object_in_its_own_set, object_in_its_own_dict])
def test_cut_anywhere(f, monkeypatch):
    for name in ("capture_without_tensors", "keep_empty_graphs", "capture_class_bodies"):
        monkeypatch.setattr(jedlik.config, name, True)
    assert f()
    try:
        for n in range(60):
            jedlik.reset()
            _engine.set_config("break_at", n)
            assert jedlik.compile(f, backend="eager")() is True, n
    finally:
        _engine.set_config("break_at", 0)
