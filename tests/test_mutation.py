"""Operations that write to an argument stay in the graph though nobody uses their result."""
import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F

import jedlik

WRITES = {
    "out": lambda a, b: torch.maximum(a, b, out=a),
    "inplace": lambda a, b: F.relu(a, inplace=True),
    "method": lambda a, b: a.mul_(b),
    "foreach": lambda a, b: torch._foreach_add_([a, b], 1),
    "setitem": lambda a, b: a.__setitem__(0, 5.0),
    "statistics": lambda a, b: F.batch_norm(torch.ones(4, 3), a, b, training=True),
    "view": lambda a, b: a[1:].add_(b[1:]),
}


@pytest.mark.parametrize("name", WRITES)
def test_unused_results_of_writes(name):
    graphs = []

    def f(a, b):
        WRITES[name](a, b)
        return a.sum() + b.sum()

    def backend(gm, example_inputs):
        graphs.append(gm)
        return gm.forward

    c = jedlik.compile(f, backend=backend)
    for _ in range(2):
        plain = torch.tensor([-1.0, 2.0, 3.0]), torch.tensor([4.0, 1.0, 2.0])
        fast = tuple(t.clone() for t in plain)
        assert torch.equal(f(*plain), c(*fast))
        assert all(map(torch.equal, plain, fast))
    assert len(graphs) == 1


def test_amsgrad_keeps_its_maximum():
    """Adam's maximum is written by out=."""
    def make():
        torch.manual_seed(0)
        p = [torch.nn.Parameter(torch.randn(3)) for _ in range(2)]
        for q in p:
            q.grad = torch.randn(3)
        return p, torch.optim.Adam(p, 0.01, amsgrad=True)

    (p, plain), (q, fast) = make(), make()
    step = jedlik.compile(lambda: fast.step(), backend="eager")
    for _ in range(3):
        plain.step(), step()
    for a, b in zip(p, q):
        torch.testing.assert_close(a, b)
        assert all(torch.equal(plain.state[a][k], fast.state[b][k]) for k in plain.state[a])
