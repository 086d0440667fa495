"""Rules 13, 14, 17: random numbers come in the program's order, and the generator ends where it does plainly, under every backend."""
import pytest
import torch

import jedlik


def seeded(x):
    torch.manual_seed(3)
    a = torch.rand(3)
    torch.manual_seed(3)
    return a, torch.rand(3) + x


def dead(x):
    torch.manual_seed(5)
    return x + 1


def saved(x):
    s = torch.get_rng_state()
    a = torch.rand(3)
    torch.set_rng_state(s)
    return a * x, torch.rand(3)


def fails_behind(x):
    torch.manual_seed(3)
    y = torch.rand(3)
    return y, x[torch.tensor(8)]


def forward(gm, inputs):
    return gm.forward


def interpreted(gm, inputs):
    return torch.fx.Interpreter(gm).run


def cleaned(gm, inputs):
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


def through_aot(gm, inputs):
    from torch._dynamo.backends.common import aot_autograd
    return aot_autograd(fw_compiler=lambda g, _: g.forward)(gm, inputs)


BACKENDS = ["eager", forward, interpreted, cleaned, "aot_eager", through_aot]


def outcome(f, x):
    torch.manual_seed(77)
    torch.rand(2)
    try:
        r = f(x)
    except IndexError as e:
        r = str(e)
    return r, torch.get_rng_state()


@pytest.mark.parametrize("program", [seeded, dead, saved, fails_behind], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda b: getattr(b, "__name__", b))
def test_order_and_state(program, backend):
    compiled = jedlik.compile(program, backend=backend)
    for i in range(3):
        x = torch.ones(3) * i
        (want, want_state), (got, state) = outcome(program, x), outcome(compiled, x)
        torch.testing.assert_close(got, want, rtol=0, atol=0) if not isinstance(want, str) else None
        assert isinstance(want, str) == isinstance(got, str)
        assert torch.equal(state, want_state)


@pytest.mark.parametrize("backend", ["eager", forward], ids=["eager", "forward"])
def test_one_graph_for_all_seeds(backend):
    def f(x, n):
        torch.manual_seed(n)
        return x + torch.rand(3)

    compiled = jedlik.compile(f, backend=backend, fullgraph=True)
    before = jedlik.stats()["graphs"]
    for n in range(1, 30):
        assert torch.equal(compiled(torch.ones(3), n), f(torch.ones(3), n))
    assert jedlik.stats()["graphs"] - before == 1


def no_grad_around_a_break(x):
    with torch.no_grad():
        y = x.sin()
        n = y.sum().item()
    return y * n + x


@pytest.mark.parametrize("backend", ["eager", "aot_eager", through_aot], ids=lambda b: getattr(b, "__name__", b))
def test_compiling_a_graph_leaves_the_modes_alone(backend):
    """A compiler that traces the graph goes through its switches of grad mode."""
    compiled = jedlik.compile(no_grad_around_a_break, backend=backend)
    for _ in range(3):
        assert compiled(torch.ones(3, requires_grad=True)).requires_grad and torch.is_grad_enabled()


def test_compilers_break_with_a_reason():
    compiled = jedlik.compile(seeded, backend="aot_eager", fullgraph=True)
    with pytest.raises(jedlik.Unsupported, match="manual_seed"):
        compiled(torch.ones(3))


def test_a_refusal_of_a_backend_is_no_error():
    """A callable may turn out to trace the graph: then the seed is a break, as for torch's compilers."""
    compiled = jedlik.compile(seeded, backend=through_aot)
    (want, _), (got, _) = outcome(seeded, torch.ones(3)), outcome(compiled, torch.ones(3))
    assert all(map(torch.equal, want, got))


def test_seeds_with_dynamo_loaded():
    """torch._dynamo puts a wrapper in the place of torch.manual_seed."""
    import torch._dynamo  # noqa: F401
    compiled = jedlik.compile(seeded, backend="eager", fullgraph=True)
    (want, _), (got, _) = outcome(seeded, torch.ones(3)), outcome(compiled, torch.ones(3))
    assert all(map(torch.equal, want, got))
