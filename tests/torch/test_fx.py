import copy
import gc
import operator
import pickle
import weakref

import pytest
import torch
import torch.fx
import torch.nn.functional as F


def rows_of(x, w):
    return [
        ("input", x), ("input", w), ("input", w),
        ("function", torch.sin, ({0},)),
        ("function", torch.sin, ({3},)),
        ("function", F.linear, ({4}, {1})),
        ("method", "view", ({5}, -1)),
        ("function", operator.getitem, ({6}, (slice(None, 6, 2),))),
        ("function", torch.cat, ([{7}, {7}],), {"dim": 0}),
        ("function", abs, ({8},)),
        ("method", "__add__", ({9}, 1)),
        ("function", F.dropout, ({10},), {"p": 0.0, "training": True}, False),
        ("function", torch.cos, ({0},)),
        ("function", operator.pow, ({11}, 2)),
        ("function", torch.Tensor.sum, ({13},), {"dim": None, "dtype": torch.float64}),
        ("function", torch.ops.aten.mul.Tensor, ({14}, {14})),
        ("function", getattr, ({5}, "T")),
    ]


def eager(x, w):
    a = F.linear(x.sin().sin(), w)
    b = a.view(-1)[:6:2]
    c = torch.cat([b, b], dim=0).abs() + 1
    d = (c ** 2).sum(dtype=torch.float64)
    return d * d, a.T


@pytest.fixture
def example():
    return torch.randn(3, 4), torch.randn(5, 4)


def test_graph_is_what_fx_would_make(engine, example):
    graph, inputs = engine.torch_fx(rows_of(*example), [15, 16])
    assert [i is e for i, e in zip(inputs, example)] == [True, True] and len(inputs) == 2
    graph.lint()
    names = [n.name for n in graph.nodes]
    assert names == ["l_0_", "l_1_", "sin", "sin_1", "linear", "view", "getitem", "cat", "abs_1", "add", "dropout", "pow_1",
                     "sum_1", "mul_tensor" if "mul_tensor" in names else "mul", "getattr_1", "output"]
    assert [n.target for n in graph.nodes if n.op == "placeholder"] == ["L_0_", "L_1_"]
    assert len(graph.nodes) == 16 and len(graph.find_nodes(op="call_function", target=torch.sin)) == 2
    sin = graph.find_nodes(op="call_function", target=torch.sin)[0]
    assert [u.name for u in sin.users] == ["sin_1"]
    cat = next(n for n in graph.nodes if n.name == "cat")
    assert type(cat.args[0]).__name__ == "immutable_list" and cat.kwargs == {"dim": 0}
    gm = torch.fx.GraphModule(torch.nn.Module(), graph)
    want = eager(*example)
    for m in (gm, copy.deepcopy(gm), pickle.loads(pickle.dumps(gm))):
        assert all(torch.equal(a, b) for a, b in zip(m(*example), want))
    assert all(torch.equal(a, b) for a, b in zip(torch.fx.Interpreter(gm).run(*example), want))
    assert "torch.sin" in str(gm.code)
    # Backends go on with it.
    with graph.inserting_after(sin):
        more = graph.call_function(torch.sin, (sin,))
    assert more.name not in names
    graph.eliminate_dead_code()
    graph.lint()


def test_names_go_on_where_we_stopped(engine):
    rows = [("input", torch.zeros(1))] + [("function", torch.sin, ({i},)) for i in range(5)]
    graph, _ = engine.torch_fx(rows, [5])
    new = graph.call_function(torch.sin, ())
    assert new.name == "sin_5"


def test_function(engine, example):
    f = engine.torch_function(rows_of(*example), [15, 16])
    for a, b in zip(f(*example), eager(*example)):
        assert torch.equal(a, b)
    with pytest.raises(TypeError):
        f(example[0])
    with pytest.raises(RuntimeError):
        f(example[0], torch.zeros(7, 7))
    assert gc.is_tracked(f)


def test_function_outputs(engine, example):
    x, _ = example
    f = engine.torch_function([("input", x), ("function", torch.sin, ({0},))], [0, 1, 1])
    a, b, c = f(x)
    assert a is x and b is c
    f = engine.torch_function([("input", x)], [])
    assert f() == ()


def test_values_die_after_their_last_use(engine):
    seen, alive = [], []

    def note(t):
        seen.append(weakref.ref(t))
        alive.append(sum(r() is not None for r in seen))
        return t + 1

    rows = [("input", torch.zeros(1))] + [("function", note, ({i},)) for i in range(6)]
    engine.torch_function(rows, [6])(torch.zeros(1))
    assert max(alive) <= 2


def test_many_arguments(engine):
    xs = [torch.tensor(float(i)) for i in range(40)]
    rows = [("input", x) for x in xs] + [("function", torch.stack, ([{i} for i in range(40)],)),
                                         ("function", max, tuple({i} for i in range(40)))]
    a, b = engine.torch_function(rows, [40, 41])(*xs)
    assert a.sum() == 780 and b == 39


def test_no_references_are_lost(engine, example):
    import sys
    rows = rows_of(*example)
    before = engine.torch_blocks()
    for _ in range(3):
        f = engine.torch_function(rows, [15])
        f(*example)
        del f
        engine.torch_fx(rows, [15])
    gc.collect()
    counts = [sys.getrefcount(o) for o in (torch.sin, operator.pow, *example, torch.float64)]
    for _ in range(10):
        engine.torch_function(rows, [15])(*example)
        engine.torch_fx(rows, [15])
    gc.collect()
    assert [sys.getrefcount(o) for o in (torch.sin, operator.pow, *example, torch.float64)] == counts
    assert engine.torch_blocks() <= before
