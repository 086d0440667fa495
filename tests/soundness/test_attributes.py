"""Attributes of their own that objects of C classes and of classes derived from them may have, read, stored, deleted and listed."""
import collections
import functools
import io
import types

import pytest
import torch

import jedlik

X = torch.ones(2)


def add(a, b):
    return a + b


def derived(*bases):
    return type("Derived", bases, {})


KINDS = {
    "ordered dict": lambda: collections.OrderedDict(a=1),
    "partial": lambda: functools.partial(add, 1),
    "namespace": lambda: types.SimpleNamespace(q=1),
    "stream": lambda: io.StringIO("a"),
    "cached function": lambda: functools.lru_cache(add),
    "static method": lambda: staticmethod(add),
    "class method": lambda: classmethod(add),
    "exception": lambda: ValueError("a"),
    "function": lambda: types.FunctionType(add.__code__, {}),
    "module": lambda: types.ModuleType("made"),
    "class": lambda: derived(),
    "tensor": lambda: torch.ones(1),
    "parameter": lambda: torch.nn.Parameter(torch.ones(1)),
    "iterator": lambda: iter([1]),
    **{f"derived {t.__name__}": lambda t=t, args=args: derived(t)(*args) for t, *args in (
        (dict, {"a": 1}), (collections.OrderedDict, {"a": 1}), (collections.defaultdict, list), (collections.deque, [1]),
        (list, [1]), (set, {1}), (frozenset, {1}), (tuple, (1,)), (str, "a"), (bytes, b"a"), (int, 3), (float, 3.0),
        (property, add), (ValueError, "a"))},
}


def read(o, x):
    return x + 1, getattr(o, "zz", None), hasattr(o, "yy")


def store(o, x):
    o.zz = 3
    return x + 1, getattr(o, "zz", None), hasattr(o, "zz")


def delete(o, x):
    del o.zz
    return x + 1, hasattr(o, "zz")


def listed(o, x):
    return x + 1, sorted(k for k in o.__dict__ if not k.startswith("__")), vars(o).get("zz")


def outcome(function, o):
    try:
        return repr(function(o, X)[1:]), getattr(o, "zz", "none")
    except (AttributeError, TypeError) as e:
        return type(e), str(e), getattr(o, "zz", "none")


def with_own(kind, own):
    o = KINDS[kind]()
    try:
        if own:
            o.zz = 7
    except AttributeError:
        pass
    return o


@pytest.mark.parametrize("function", (read, store, delete, listed), ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_own_attributes(kind, function):
    fast = jedlik.compile(function, backend="eager")
    for own in (False, True, False):
        assert outcome(fast, with_own(kind, own)) == outcome(function, with_own(kind, own))


@pytest.mark.parametrize("kind", KINDS)
def test_of_one_object_later(kind):
    fast, o = jedlik.compile(read, backend="eager"), KINDS[kind]()
    for value in (None, 5, 6):
        try:
            if value:
                o.zz = o.yy = value
        except AttributeError:
            pass
        assert outcome(fast, o) == outcome(read, o)


@pytest.mark.parametrize("program", (
    lambda x, d: (x + 1, d.copy().__dict__, (d | {}).__dict__),
    lambda x, d: (x + 1, setattr(d, "items", lambda: [1]), d.items(), list(collections.OrderedDict.items(d))),
    lambda x, d: (x + 1, vars(d).update(u=x), d.u, d.__class__),
    lambda x, d: (x + 1, torch.nn.Sequential(torch.nn.ReLU()).state_dict()._metadata),
), ids=("copies", "hidden method", "through vars", "metadata of a state"))
def test_of_an_ordered_dict(program):
    def fresh():
        d = collections.OrderedDict(a=1)
        d.q = [3]
        return d
    fast = jedlik.compile(program, backend="eager")
    for _ in range(2):
        assert repr(fast(X, fresh())) == repr(program(X, fresh()))


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_new_object(kind):
    def f(x):
        o = KINDS[kind]()
        try:
            o.zz = 3
        except (AttributeError, TypeError) as e:
            return x + 1, type(e), str(e)
        return x + 1, getattr(o, "zz", None), hasattr(o, "yy")

    assert repr(jedlik.compile(f, backend="eager")(X)) == repr(f(X))


def test_of_a_new_ordered_dict_is_captured():
    def made(x):
        d = collections.OrderedDict(b=x)
        d.me = d
        d["me"] = d.name = 5
        return d, x + d.name, hasattr(d, "other")

    d, y, other = jedlik.compile(made, backend="eager", fullgraph=True)(X)
    assert d.me is d and d.name == d["me"] == 5 and not other and torch.equal(y, X + 5)
