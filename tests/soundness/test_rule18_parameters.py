"""Rules 5, 13, 18: parameters made in a trace, under every backend; their memory is that of their data."""
import pytest
import torch
from torch import nn

import jedlik


def through_aot(gm, inputs):
    from torch._dynamo.backends.common import aot_autograd
    return aot_autograd(fw_compiler=lambda g, _: g.forward)(gm, inputs)


BACKENDS = ["eager", lambda gm, _: gm.forward, "aot_eager", through_aot]
backends = pytest.mark.parametrize("backend", BACKENDS, ids=["eager", "forward", "aot_eager", "through_aot"])


def module(x):
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    return m(x), m


def parameter(x):
    p = nn.Parameter(x * 2)
    return (p * x).sin(), p


@backends
@pytest.mark.parametrize("program", [module, parameter], ids=lambda f: f.__name__)
def test_gradients_arrive(program, backend):
    compiled = jedlik.compile(program, backend=backend)
    for n in range(3):
        x = torch.full((3,), float(n))
        (want, a), (got, b) = program(x), compiled(x)
        torch.testing.assert_close(got, want)
        want.sum().backward(), got.sum().backward()
        for p, q in zip(*[m.parameters() if isinstance(m, nn.Module) else [m] for m in (a, b)]):
            assert type(q) is nn.Parameter and q.is_leaf and q.requires_grad
            torch.testing.assert_close(q, p), torch.testing.assert_close(q.grad, p.grad)


@pytest.mark.parametrize("program", [module, parameter], ids=lambda f: f.__name__)
def test_one_graph(program):
    x = torch.ones(3)
    assert torch.equal(jedlik.compile(program, backend="eager", fullgraph=True)(x)[0], program(x)[0])


@pytest.mark.parametrize("backend", BACKENDS[:2], ids=["eager", "forward"])
def test_memory_is_shared_with_other_arguments(backend):
    """AOTAutograd refuses such graphs, where the parameter comes in."""
    def f(x, y):
        p = nn.Parameter(x)
        with torch.no_grad():
            p.add_(1)
        return p + y, p

    compiled = jedlik.compile(f, backend=backend)
    for same in False, True, False, True:
        x = torch.ones(3)
        y = x if same else torch.zeros(3)
        total, p = compiled(x, y)
        assert x.tolist() == [2.0] * 3 and total.tolist() == [4.0 if same else 2.0] * 3
        assert p.data_ptr() == x.data_ptr() and type(p) is nn.Parameter


def test_operation_behind_a_parameter_fails():
    def f(x, i):
        p = nn.Parameter(x)
        try:
            with torch.no_grad():
                p.add_(1)
            y = p[i]
        except IndexError:
            return type(p), x * 1
        return y.detach(), x * 1

    compiled = jedlik.compile(f, backend="eager")
    for i in 0, 1, 7, 0, 9:
        a, b = torch.ones(3), torch.ones(3)
        want, got = f(a, torch.tensor(i)), compiled(b, torch.tensor(i))
        assert torch.equal(want[1], got[1]) and (want[0] is got[0] or torch.equal(want[0], got[0])) and torch.equal(a, b)


def test_compilers_break_with_a_reason():
    with pytest.raises(jedlik.Unsupported, match="Parameter"):
        jedlik.compile(parameter, backend="aot_eager", fullgraph=True)(torch.ones(3))
