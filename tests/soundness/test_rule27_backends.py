"""Rule 27: whatever callable a backend gives back is called fast and right, also one that saved `gm.forward` of a lazy module."""
import pytest
import torch
from follow import X

import jedlik


KINDS = {
    "module": lambda gm: gm,
    "forward": lambda gm: gm.forward,
    "saved forward": lambda gm: (lambda run: lambda *args: run(*args))(gm.forward),
    "call": lambda gm: gm.__call__,
    "recompiled": lambda gm: (gm.recompile(), gm.forward)[1],
    "eager": None,
    "interpreter": lambda gm: torch.fx.Interpreter(gm).run,
    "list": lambda gm: lambda *args: list(gm.forward(*args)),
    "partial": lambda gm: __import__("functools").partial(gm.forward),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_callable(kind):
    backend = "eager" if kind == "eager" else lambda gm, inputs: KINDS[kind](gm)

    def f(x):
        y = x + 1
        return y, y * 2, x

    fast = jedlik.compile(f, backend=backend)
    for k in range(4):
        x = torch.full((3,), float(k))
        got = fast(x)
        assert type(got) is tuple and got[2] is x and torch.equal(got[0], x + 1) and torch.equal(got[1], (x + 1) * 2)


def test_forward_is_not_the_lazy_stub_for_ever(monkeypatch):
    """`gm.forward` saved before it was compiled is the stub of a lazy module: it is called once at most."""
    from torch.fx._lazy_graph_module import _LazyGraphModule, _use_lazy_graph_module
    calls, stub = [], _LazyGraphModule._lazy_forward

    def counted(self, *args, **kwargs):
        calls.append(1)
        return stub(self, *args, **kwargs)

    monkeypatch.setattr(_LazyGraphModule, "_lazy_forward", counted)
    with _use_lazy_graph_module(True):
        saved = jedlik.compile(lambda x: x + 1, backend=lambda gm, inputs: gm.forward)
        for _ in range(4):
            assert torch.equal(saved(X), X + 1)
    assert len(calls) <= 1


def test_state_of_a_backend():
    """A callable with state is called once a call, with the inputs in order."""
    calls = []

    class Backend:
        def __call__(self, gm, inputs):
            self.gm = gm
            return self.run

        def run(self, *args):
            calls.append([a.tolist() for a in args])
            return self.gm.forward(*args)

    def f(x, w):
        return x * 2 + w

    fast = jedlik.compile(f, backend=Backend())
    fast(X, X * 3), fast(X * 2, X)
    assert calls == [[[1.0] * 3, [3.0] * 3], [[2.0] * 3, [1.0] * 3]]


def test_wrong_results_of_a_backend_do_no_harm():
    """Too few, too many, none: the call raises, or gives what plain Python gives."""
    def f(x):
        return x + 1, x * 2

    for wrong in (lambda gm: lambda *a: (), lambda gm: lambda *a: gm.forward(*a) * 2, lambda gm: lambda *a: None, lambda gm: lambda *a: 7):
        fast = jedlik.compile(f, backend=lambda gm, inputs, wrong=wrong: wrong(gm), isolate_recompiles=True)
        for _ in range(2):
            try:
                got = fast(X)
            except Exception:
                continue
            assert len(got) == 2 and torch.equal(got[0], X + 1) and torch.equal(got[1], X * 2)


def test_a_backend_that_changes_the_graph():
    """What it gives back counts, not what it was given."""
    def backend(gm, inputs):
        for n in gm.graph.nodes:
            if n.op == "call_function":
                n.args = (n.args[0], 10)
        gm.recompile()
        return gm.forward
    assert jedlik.compile(lambda x: x + 1, backend=backend)(X).tolist() == [11, 11, 11]


def test_an_exception_of_a_compiled_graph_is_the_programs():
    """An error of the callable with nothing pending: the plain run gives the result or raises for itself (rule 13)."""
    def backend(gm, inputs):
        def run(*args):
            if args[0][0] > 5:
                raise RuntimeError("kernel")
            return gm.forward(*args)
        return run

    log = []

    def f(x):
        log.append("in")
        return x + 1

    fast = jedlik.compile(f, backend=backend)
    assert fast(X).tolist() == [2, 2, 2] and fast(X * 6).tolist() == [7, 7, 7] and log == ["in", "in"]
