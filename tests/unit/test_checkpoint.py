"""torch.utils.checkpoint: traced in place, its nodes marked for compiling backends, left alone where it has effects."""
import pytest

import jedlik

torch = pytest.importorskip("torch")
from torch.utils.checkpoint import checkpoint  # noqa: E402


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.drop = torch.nn.Linear(8, 8), torch.nn.Dropout(0.2)

    def forward(self, x, scale=1):
        return self.drop(torch.tanh(self.linear(x))) * scale + x


class Net(torch.nn.Module):
    def __init__(self, **options):
        super().__init__()
        torch.manual_seed(0)
        self.layers, self.options = torch.nn.ModuleList(Layer() for _ in range(3)), options
        self.calls = {"n": 0}

    def forward(self, x):
        self.calls["n"] += 1
        for layer in self.layers:
            x = checkpoint(layer, x, 2, **self.options)
        return x + 1


def step(net, forward):
    torch.manual_seed(1)
    x = torch.randn(4, 8, requires_grad=True)
    net.zero_grad()
    y = forward(x)
    y.square().sum().backward()
    return [y.detach(), x.grad, *(p.grad.clone() for p in net.parameters())]


@pytest.mark.parametrize("options", [dict(), dict(preserve_rng_state=True, early_stop=False, determinism_check="default")])
def test_one_graph_with_marks(options, captures):
    net = Net(use_reentrant=False, **options)
    expected = step(net, net)
    for a, b in zip(expected, step(net, jedlik.compile(net, backend=captures, fullgraph=True))):
        assert torch.equal(a, b)
    assert len(captures.graphs) == 1 and net.calls == {"n": 2}
    regions = [n.meta.get("ac_graph_id") for n in captures.graphs[0].graph.nodes if n.op.startswith("call_")]
    assert [r for r in regions if r] == sorted(r for r in regions if r) and set(regions) == {1, 2, 3, None}


def test_functions_with_effects_have_them_as_often_as_plainly():
    def run(compile):
        log, table = [], {"n": 0}

        def part(x):
            log.append(1)
            table["n"] += 1
            return x.sin()

        def f(x):
            table["before"] = True
            return checkpoint(part, x, use_reentrant=False) * 2
        x = torch.ones(3, requires_grad=True)
        compile(f)(x).sum().backward()
        return log, table, x.grad.tolist()
    assert run(lambda f: f) == run(lambda f: jedlik.compile(f, backend="eager"))


def test_other_forms_are_left_to_torch():
    net = Net(use_reentrant=True)
    for a, b in zip(step(net, net), step(net, jedlik.compile(net, backend="eager"))):
        assert torch.equal(a, b)
