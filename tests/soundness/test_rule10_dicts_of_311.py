"""Rule 10: plain objects have no dict until __dict__ is read; version tags excuse other keys only, and no tensor check."""
import gc

import torch
from follow import X, follows


class Plain:
    def __init__(self, **values):
        for k, v in values.items():
            setattr(self, k, v)


@follows(graphs=(1, 8))
def test_inline_and_materialised(compile):
    """The same answers for values in the object, in a split dict, in a dict of its own, and in one that was assigned."""
    def f(x, o):
        o.n = o.a + 1
        return x + o.a, hasattr(o, "zz"), o.n

    f = compile(f)

    def objects():
        yield Plain(a=1, b=2)
        o = Plain(a=1, b=2)
        o.__dict__
        yield o
        o = Plain(b=2, a=1)
        del o.b
        yield o
        o = Plain()
        o.__dict__ = {"a": 1}
        yield o
        o = Plain(a=1)
        for k in range(40):
            setattr(o, f"k{k}", k)
        yield o
        o = Plain()
        o.__dict__.update(a=5, zz=1)
        yield o
        yield Plain(b=3)

    for _ in range(2):
        for o in objects():
            yield f(X, o), sorted(vars(o))


def test_no_dict_is_made():
    """A guard and a write leave a plain object without a dictionary: the collector sees none."""
    import jedlik

    class Own(Plain):
        pass

    def f(x, o):
        o.n = o.n + 1
        return x * o.k

    fast = jedlik.compile(f, backend="eager")
    for _ in range(3):
        o = Own(n=1, k=2)
        before = {id(r) for r in gc.get_referents(o)}
        fast(X, o)
        assert not any(isinstance(r, dict) for r in gc.get_referents(o)), before
        assert o.n == 2


@follows(graphs=(1, 8))
def test_own_writes_do_not_blind_the_guard(compile):
    """After its own write the entry must still see what others changed."""
    d = {"a": 1, "n": 0}

    def f(x):
        d["n"] += 1
        return x * d["a"]

    f = compile(f)
    for k in range(8):
        if k % 3 == 2:
            d["a"] += 1
        yield f(X), dict(d)
    d["a"] = 2.5
    yield f(X)
    del d["a"]
    yield f(X), dict(d)
    d["a"] = 1
    yield f(X), dict(d)


@follows(graphs=(1, 8))
def test_globals_that_change_back(compile):
    space = {"K": 1, "N": 0}
    exec("def f(x):\n    global N\n    N += 1\n    return x + K\n", space)
    f = compile(space["f"])
    for k in (1, 2, 1, 2, 3, 1):
        space["K"] = k
        yield f(X), space["N"]
        space["other"] = k
        yield f(X), space["N"]


@follows()
def test_tags_and_tensors(compile):
    """`p.data =`, `.half()`, `requires_grad_` and resizing change no dictionary."""
    o = Plain(p=torch.ones(3))

    def f(x):
        return x * o.p, o.p.requires_grad

    f = compile(f)
    yield f(X)
    o.p.data = torch.ones(3) * 2
    yield f(X)
    o.p.requires_grad_()
    yield f(X)
    o.p.requires_grad_(False)
    yield f(X)
    o.p.data = torch.ones(1)
    yield f(X)
    o.p.data = torch.ones(3, dtype=torch.float64)
    yield f(X)
    o.p.unsqueeze_(0)
    yield f(X)


@follows(graphs=(1, 8))
def test_keys_shared_by_instances(compile):
    """Objects of a class share their keys: another order, another set, a deleted one."""
    def f(x, o):
        return x + o.a, getattr(o, "b", None), "c" in o.__dict__, list(vars(o))

    f = compile(f)
    for names in ("ab", "ba", "a", "abc", "cba", "ab", "bca"):
        o = Plain(**{n: k for k, n in enumerate(names)})
        yield f(X, o)


@follows(graphs=(1, 8))
def test_dict_subclass_as_dict(compile):
    class Ordered(dict):
        pass

    def f(x, o):
        return x + o.a

    f = compile(f)
    for make in (dict, Ordered, dict):
        o = Plain()
        o.__dict__ = make(a=2)
        yield f(X, o), type(o.__dict__).__name__


@follows(graphs=(1, 8))
def test_deleted_and_restored(compile):
    o = Plain(a=1, b=2)

    def f(x):
        return x + (o.a if hasattr(o, "a") else 7), list(o.__dict__)

    f = compile(f)
    yield f(X)
    del o.a
    yield f(X)
    o.a = 1
    yield f(X)
    o.__dict__ = {"a": 3}
    yield f(X)
    o.__dict__.clear()
    yield f(X)


@follows(graphs=(1, 4))
def test_object_that_changes_its_class(compile):
    class A:
        k = 1

    class B:
        k = 2

    o = A()
    o.n = 5

    def f(x):
        return x + o.k + o.n, type(o).__name__

    f = compile(f)
    for cls in (A, B, A, B):
        o.__class__ = cls
        yield f(X)
