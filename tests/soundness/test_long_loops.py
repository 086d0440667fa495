"""Rule 26: loops without tensor operations end up plain, the code behind them does not."""
import pytest

import jedlik

torch = pytest.importorskip("torch")
X = torch.arange(1.0, 5.0)


def counted(x, n):
    y = x.sin()
    total = 0
    for i in range(n):
        total += i & 1
    return y * total


def nested(x, n):
    total = 0
    for i in range(30):
        for j in range(n):
            total += i & j & 1
    return x.sin() * total


def walked(x, items):
    y = x.sin()
    jedlik.graph_break()
    total = 0
    for i in items:
        total += i
    return y * total


@pytest.mark.parametrize("fn, arg", [(counted, 1_500_000), (nested, 60_000), (walked, [1] * 40_000)],
                         ids=["counted", "nested", "walked"])
def test_loop_without_operations(fn, arg, captures):
    expected = fn(X, arg)
    compiled = jedlik.compile(fn, backend=captures)
    for _ in range(4):
        assert torch.equal(compiled(X, arg), expected)
    before = jedlik.stats()["instructions"]
    assert torch.equal(compiled(X, arg), expected)
    assert jedlik.stats()["instructions"] == before  # nothing is traced any more
    assert any(node.target is torch.mul or getattr(node.target, "__name__", "") == "mul"
               for gm in captures.graphs for node in gm.graph.nodes)  # what stands behind the loop is captured
