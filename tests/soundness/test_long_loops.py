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


MANY = list(range(100000))
TABLE = dict.fromkeys(MANY, 1)
BUILT_IN = {
    "sum": lambda x: x + sum(MANY),
    "sorted": lambda x: x + len(sorted(MANY, key=lambda i: -i)),
    "max": lambda x: x + max(MANY),
    "set": lambda x: x + len(set(MANY)),
    "index": lambda x: x + MANY.index(99999),
    "in": lambda x: x + (-1 in MANY),
    "slice": lambda x: x + len(MANY[::2]),
    "add": lambda x: x + len(MANY + MANY),
    "equal": lambda x: x + (tuple(MANY) == tuple(MANY)),
    "dict": lambda x: x + len({v: k for k, v in TABLE.items()}),
    "join": lambda x: x + len("".join(map(str, MANY))),
    "zip": lambda x: x + len(list(zip(MANY, TABLE))),
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_ins_over_many_items_are_left_alone(name):
    function = BUILT_IN[name]
    jedlik.reset()
    fast = jedlik.compile(function, backend="eager")
    assert fast(X).equal(function(X)) and fast(X).equal(function(X))
    assert jedlik.stats()["breaks"].get("LOOP_BUDGET") and jedlik.stats()["ops"] >= 1
    assert jedlik.stats()["instructions"] < 2000000


def test_a_long_list_of_tensors_is_no_idle_work():
    tensors = [torch.ones(1) for _ in range(2000)]
    fast = jedlik.compile(lambda: sum(tensors), backend="eager", fullgraph=True)
    assert fast() == 2000
