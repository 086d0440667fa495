"""What built-ins were asked about may change between calls: the compiled function must see it."""
import copy
import functools
import inspect
import math

import pytest
import torch

import jedlik


def compiled(function):
    return jedlik.compile(function, backend="eager")


def same(function, *calls):
    """Every call gives what the plain function gives, in turn."""
    fast = compiled(function)
    for args in calls:
        assert repr(fast(*args)) == repr(function(*args)), args


X = torch.ones(2)


def test_lru_cache_that_was_cleared():
    runs = []

    @functools.lru_cache
    def impure(n):
        runs.append(n)
        return len(runs)

    fast = compiled(lambda x: x * impure(3))
    assert fast(X)[0] == 1 and fast(X)[0] == 1 and fast(X)[0] == 1
    impure.cache_clear()
    assert fast(X)[0] == 2 and fast(X)[0] == 2 and runs == [3, 3]


def test_lru_cache_evicts():
    runs = []

    @functools.lru_cache(maxsize=1)
    def impure(n):
        runs.append(n)
        return len(runs)

    fast = compiled(lambda x: x * impure(1))
    assert [fast(X)[0].item() for _ in range(3)] == [1, 1, 1]
    impure(2)
    assert fast(X)[0] == 3 and runs == [1, 2, 1]


def test_names_of_attributes():
    class A:
        p, q = 2, 3
    same(lambda x, n: x * getattr(A, n), (X, "p"), (X, "q"), (X, "p"))
    same(lambda x, n: (x + 1, hasattr(A, n)), (X, "p"), (X, "z"))


def test_classes_that_change():
    class Base:
        def f(self, x):
            return x + 1

    class Child(Base):
        def f(self, x):
            return super().f(x) * 2

    fast = compiled(lambda c, x: c.f(x))
    assert fast(Child(), X)[0] == 4
    Base.f = lambda self, x: x + 2
    assert fast(Child(), X)[0] == 6
    Child.__instancecheck__ = None
    same(lambda x, o: (x + 1, isinstance(o, Base), callable(o)), (X, Child()), (X, 3), (X, Base), (X, Child()))
    Child.__call__ = lambda self: 1
    same(lambda x, o: (x + 1, callable(o)), (X, Child()), (X, Base()))


def test_types_that_change():
    same(lambda x, v: (x + 1, type(v).__name__, isinstance(v, (int, str)), str(v), repr(v), bool(v)),
         (X, 1), (X, "a"), (X, 2.5), (X, None), (X, True), (X, (1, 2)), (X, [1]))


def test_numbers_that_change():
    same(lambda x, n: (x * math.sqrt(n), int(n), float(n), round(n, 1), abs(n), divmod(n, 2), f"{n:.2f}", "%s" % n),
         (X, 4), (X, 9.5), (X, 4), (X, 0), (X, 16.25))


def test_math_that_raises():
    fast = compiled(lambda x, n: x * math.log(n))
    fast(X, 2)
    with pytest.raises(ValueError, match="math domain error"):
        fast(X, -1)


def test_text_that_changes():
    same(lambda x, items, sep: (x + 1, sep.join(items), "%s" % (items,), "{0}".format(items), f"{items}"),
         (X, ["a", "b"], "-"), (X, ["a"], "-"), (X, ["a", "b"], "+"), (X, [], ""))


def scaled(x, k=1):
    return x * k


def test_partials_that_change():
    p = functools.partial(scaled, k=2)
    fast = compiled(lambda x: p(x))
    assert fast(X)[0] == 2
    p.keywords["k"] = 5
    assert fast(X)[0] == 5
    q = functools.partial(scaled, k=7)
    same(lambda f, x: f(x), (p, X), (q, X), (scaled, X))


def test_signatures_that_change():
    def f(a, b=1):
        pass

    fast = compiled(lambda x: x + len(inspect.signature(f).parameters))
    assert fast(X)[0] == 3
    shown = compiled(lambda x: (x + 1, str(inspect.signature(f))))
    assert shown(X)[1] == "(a, b=1)"
    f.__defaults__ = (2,)
    assert shown(X)[1] == "(a, b=2)"
    f.__signature__ = inspect.Signature()
    assert fast(X)[0] == 1 and shown(X)[1] == "()"


def test_exceptions_with_values():
    def f(x, n):
        try:
            if n > 2:
                raise ValueError("big", n)
            return x + 1
        except ValueError as e:
            return x * 2, e.args, str(e)

    same(f, (X, 1), (X, 3), (X, 4), (X, 1))


def test_identities():
    same(lambda x, o, p: (x + 1, id(o) == id(p)), (X, [1], [1]), (X, X, X))
    objects = [object(), object()]
    fast = compiled(lambda x, o: (x + 1, id(o)))
    assert [fast(X, o)[1] for o in objects] == [id(o) for o in objects]


def test_copies_of_what_changes():
    class Box:
        pass

    b = Box()
    b.items, b.n = [1], 1
    fast = compiled(lambda x: (x * b.n, copy.deepcopy(b).items, copy.copy(b).items is b.items))
    assert fast(X)[1:] == ([1], True)
    b.items.append(2)
    assert fast(X)[1:] == ([1, 2], True)
    fresh = fast(X)[1]
    fresh.append(3)
    assert b.items == [1, 2] and fast(X)[1] == [1, 2]


def test_grad_mode_around():
    w = torch.ones(2, requires_grad=True)
    fast = compiled(lambda: (w * 2, torch.is_grad_enabled()))
    assert fast()[0].requires_grad
    with torch.no_grad():
        y, on = fast()
        assert not y.requires_grad and not on
    assert fast()[1]


def test_autocast_around():
    a = torch.ones(2, 2)
    fast = compiled(lambda: (a @ a, torch.is_autocast_enabled("cpu")))
    assert fast()[0].dtype == torch.float32
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y, on = fast()
        assert y.dtype == torch.bfloat16 and on
    assert fast()[0].dtype == torch.float32


def test_subclass_of_a_number():
    class Own(int):
        def __new__(cls, v):
            return super().__new__(cls, v + 1)

    same(lambda x, n: (x * Own(n), int(Own(n)), repr(Own(n))), (X, 1), (X, 2), (X, 1))


def test_metadata_of_modules():
    net = torch.nn.Linear(2, 2)
    fast = compiled(lambda x: (net(x).shape, hasattr(net, "extra"), net.bias is None))
    assert fast(X)[1:] == (False, False)
    net.extra = torch.nn.Identity()
    assert fast(X)[1:] == (True, False)
    net.bias = None
    assert fast(X)[1:] == (True, True)
    del net.extra
    assert fast(X)[1:] == (False, True)
