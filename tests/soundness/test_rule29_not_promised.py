"""Rule 29: what is not promised is written down, and only that."""
import pathlib
import re

import pytest
import torch
from follow import X

import jedlik

LIMITS = (pathlib.Path(__file__).parents[2] / "docs" / "limits.md").read_text()


@pytest.mark.parametrize("subject", ("finalizers", "reference counts", "other threads", "C\\+\\+ warnings", "double backward", "is_compiling"))
def test_each_exception_is_written_down(subject):
    assert re.search(subject, LIMITS, re.I)


def test_is_compiling():
    """True while traced, False in plain Python."""
    def f(x):
        return x + (1 if torch.compiler.is_compiling() else 2)
    assert f(X)[0] == 3 and jedlik.compile(f, backend="eager")(X)[0] == 2


def test_transitive_finalizers_run_all_the_same():
    """Perhaps later within the call, but once, and before it returns."""
    log = []

    class Loud:
        def __del__(self):
            log.append("gone")

    class Box:
        pass

    o = Box()

    def f(x):
        o.inner = None
        log.append("behind")
        return x + 1

    fast = jedlik.compile(f, backend="eager")
    for _ in range(3):
        o.inner = Box()
        o.inner.deep = Box()
        o.inner.deep.loud = Loud()
        log.clear()
        fast(X)
        assert sorted(log) == ["behind", "gone"]


def test_objects_the_program_cannot_reach_are_released():
    """Reference counts may differ inside a call, not after it."""
    import sys

    class Box:
        pass

    o = Box()
    o.t = torch.ones(3)
    t = o.t
    fast = jedlik.compile(lambda x, o: x + o.t, backend="eager")
    fast(X, o)
    before = sys.getrefcount(t), sys.getrefcount(o)
    for _ in range(50):
        fast(X, o)
    assert (sys.getrefcount(t), sys.getrefcount(o)) == before


def test_double_backward_is_refused_or_right():
    x = torch.tensor([2.0], requires_grad=True)
    fast = jedlik.compile(lambda v: (v ** 3).sum(), backend="aot_eager")
    g, = torch.autograd.grad(fast(x), x, create_graph=True)
    try:
        gg, = torch.autograd.grad(g.sum(), x)
    except RuntimeError:
        return
    assert gg.item() == 12.0
