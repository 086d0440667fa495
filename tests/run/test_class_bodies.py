"""What cannot be seen of a class statement by calling it: models stay hidden, each call makes a class, settings decide."""
import gc
import unittest
import weakref

import pytest

import jedlik

torch = pytest.importorskip("torch")


class Base:
    pass


def subclass(x):
    class Sub(Base):
        def f(self):
            return __class__
    return x + 1, Sub, Sub()


@pytest.fixture
def bodies():
    with jedlik.config.patch(capture_class_bodies=True):
        yield


def test_bases_tell_only_the_real_classes(bodies):
    f = jedlik.compile(subclass, backend="eager", fullgraph=True)
    made = [f(torch.ones(2))[1] for _ in range(3)]
    assert len(set(made)) == 3 and Base.__subclasses__() == made
    assert jedlik.stats()["recompiles"] == []


def test_nothing_keeps_a_class_alive(bodies):
    f = jedlik.compile(subclass, backend="eager", fullgraph=True)
    _, cls, obj = f(torch.ones(2))
    assert obj.f() is cls and type(obj) is cls
    gone = weakref.ref(cls)
    del cls, obj
    gc.collect()
    assert gone() is None
    assert not [o for o in gc.get_objects() if type(o) is type and o.__qualname__ == "subclass.<locals>.Sub"]


def test_a_class_that_nobody_can_reach_is_not_made(bodies):
    def f(x):
        class Local(Base):
            n = 3
        return x * Local.n
    g = jedlik.compile(f, backend="eager", fullgraph=True)
    assert torch.equal(g(torch.ones(2)), torch.full((2,), 3.0))
    gc.collect()
    assert not [c for c in Base.__subclasses__() if c.__name__ == "Local"]


def test_changed_bases_are_another_class(bodies):
    holder = type("Holder", (), {"base": Base})

    def f(x):
        class C(holder.base):
            pass
        return x + 1, C

    class Other:
        pass
    g = jedlik.compile(f, backend="eager", fullgraph=True)
    assert g(torch.ones(2))[1].__bases__ == (Base,)
    holder.base = Other
    assert g(torch.ones(2))[1].__bases__ == (Other,)


def test_a_hook_that_comes_later_is_called(bodies):
    class Parent:
        pass
    told = []

    def f(x):
        class Child(Parent):
            pass
        return x + 1
    g = jedlik.compile(f, backend="eager")
    g(torch.ones(2))
    Parent.__init_subclass__ = classmethod(lambda cls: told.append(cls.__name__))
    g(torch.ones(2))
    assert told == ["Child"]


def test_off_is_a_break_with_the_setting_in_it():
    f = jedlik.compile(subclass, backend="eager")
    f(torch.ones(2))
    assert jedlik.stats()["breaks"]["CLASS_BODY"] == 2  # the name and the call
    with pytest.raises(jedlik.Unsupported, match="capture_class_bodies"):
        jedlik.compile(subclass, backend="eager", fullgraph=True)(torch.ones(2))


def test_frames_without_tensors_are_traced_on_demand():
    def f(n):
        return [n + 1 for _ in range(2)]
    g = jedlik.compile(f, backend="eager")
    with jedlik.config.patch(keep_empty_graphs=True):
        assert g(1) == [2, 2] and jedlik.stats()["instructions"] == 0
        with jedlik.config.patch(capture_without_tensors=True):
            assert g(1) == [2, 2] and jedlik.stats()["frames"] == 1
    jedlik.reset()
    for code in ("def h(n): return torch.ones(n)", "def h(n):\n import torch\n return torch.ones(n)", "def h(n): return k(n)"):
        ns = {"k": torch.ones}
        if "import" not in code:
            ns["torch"] = torch
        exec(code, ns)
        jedlik.reset()
        assert jedlik.compile(ns["h"], backend="eager")(2).tolist() == [1, 1] and jedlik.stats()["graphs"] == 1


def test_empty_graphs_are_kept_on_demand():
    def f(x):
        return [x, 1]
    for keep in (False, True):
        jedlik.reset()
        with jedlik.config.patch(keep_empty_graphs=keep):
            jedlik.compile(f, backend="eager")(torch.ones(2))
            assert jedlik.stats()["frames"] == keep


class Case(unittest.TestCase):
    def check(self, x):
        y = x + 1
        self.assertEqual(len(y), 2)
        with self.assertRaises(KeyError):
            {}["missing"]
        return y


def test_unittest_is_inlined_on_demand():
    case = Case()
    for inline in (False, True):
        jedlik.reset()
        with jedlik.config.patch(capture_unittest=inline):
            told = jedlik.explain(case.check)(torch.ones(2))
            left_out = {b.reason for b in told.breaks if b.id == "DISABLED"}
            assert len(left_out) == (0 if inline else 4)  # two methods, and the context's two
