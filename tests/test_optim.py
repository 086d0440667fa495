"""Optimizer steps: one graph from the first step on, the same numbers as plainly."""
import pytest

torch = pytest.importorskip("torch")
import jedlik  # noqa: E402

O = torch.optim
STEPS = 3
# Numbers of parameters without dimensions are computed from in 64 bits.
SCALAR = 1e-7
# name -> (make(parameters), largest difference allowed); graphs are one each
CASES = {
    "adam": (lambda p: O.Adam(p, 0.01), SCALAR),
    "adam_amsgrad": (lambda p: O.Adam(p, 0.01, amsgrad=True, weight_decay=0.1), SCALAR),
    "adam_foreach": (lambda p: O.Adam(p, 0.01, foreach=True), SCALAR),
    "adam_fused": (lambda p: O.Adam(p, 0.01, fused=True), 0),
    "adamw": (lambda p: O.AdamW(p, 0.01, maximize=True), SCALAR),
    "sgd": (lambda p: O.SGD(p, 0.01, weight_decay=0.1), 0),
    "rmsprop": (lambda p: O.RMSprop(p, 0.01, centered=True, momentum=0.9), 0),
    "adagrad": (lambda p: O.Adagrad(p, 0.01), 0),
    "adadelta": (lambda p: O.Adadelta(p, 0.01), 0),
    "adamax_foreach": (lambda p: O.Adamax(p, 0.01, foreach=True), 0),
    "rprop": (lambda p: O.Rprop(p, 0.01), 0),
    "nadam": (lambda p: O.NAdam(p, 0.01), 1e-7),
    "radam": (lambda p: O.RAdam(p, 0.01), 1e-7),
    "asgd_foreach": (lambda p: O.ASGD(p, 0.01, foreach=True), 1e-7),
}


class Graphs:
    def __init__(self):
        self.all = []

    def __call__(self, gm, example_inputs):
        self.all.append(gm)
        return gm.forward

    def __len__(self):
        return len(self.all)


def train(make, compile):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))
    model.scale = torch.nn.Parameter(torch.tensor(1.5))
    optimizer = make(model.parameters())
    step = compile(lambda: optimizer.step())
    for i in range(STEPS):
        torch.manual_seed(i)
        optimizer.zero_grad()
        (model(torch.randn(4, 5)) * model.scale).square().mean().backward()
        step()
    state = [optimizer.state[p] for p in model.parameters()]
    return [p.detach() for p in model.parameters()], state


@pytest.mark.parametrize("name", CASES)
def test_step_is_one_graph(name):
    make, tolerance = CASES[name]
    graphs = Graphs()
    expected, expected_state = train(make, lambda f: f)
    jedlik.reset()
    actual, state = train(make, lambda f: jedlik.compile(f, backend=graphs))
    assert len(graphs) == 1
    for e, a in zip(expected, actual):
        assert (e - a).abs().max() <= tolerance
    assert [list(s) for s in state] == [list(s) for s in expected_state]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", ["addcdiv", "addcdiv_", "addcmul_"])
def test_number_in_a_tensor(name, dtype):
    def f(x, a, b, value):
        return getattr(x * 1, name)(a, b, value=value) + 1

    compiled = jedlik.compile(f, backend=lambda gm, _: gm.forward)
    torch.manual_seed(0)
    for value in (torch.tensor(-0.3), torch.tensor(0.7, dtype=torch.float64), torch.tensor(2)):
        x, a, b = (torch.randn(37, 5).to(dtype) for _ in range(3))
        assert torch.equal(compiled(x, a, b, value), f(x, a, b, value))


def test_many_numbers_in_tensors():
    def f(xs, ts, us, values):
        torch._foreach_addcdiv_(xs, ts, us, values)
        return torch._foreach_addcdiv(ts, us, xs, list(values.unbind()))

    compiled = jedlik.compile(f, backend=lambda gm, _: gm.forward, fullgraph=True)
    values = torch.tensor([0.5, -2.0, 0.1])

    def lists():
        torch.manual_seed(0)
        return [[torch.randn(9, 4) for _ in range(3)] for _ in range(3)]
    a, b = lists(), lists()
    result, expected = compiled(*a, values), [torch.addcdiv(t, u, x, value=v) for t, u, x, v in zip(
        b[1], b[2], torch._foreach_addcdiv(b[0], b[1], b[2], values), values.tolist())]
    torch._foreach_addcdiv_(b[0], b[1], b[2], values)
    for e, r in zip([*expected, *b[0]], [*result, *a[0]]):
        assert torch.equal(e, r)


def test_groups_by_kind():
    def f(ts, others):
        groups = torch.utils._foreach_utils._group_tensors_by_device_and_dtype([ts, others], with_indices=True)
        return [(key, lists[0][0] + 1, lists[1], at) for key, (lists, at) in groups.items()]

    ts = [torch.ones(2), torch.ones(3, dtype=torch.float64), torch.zeros(4), torch.ones(1, dtype=torch.int32)]
    graphs = Graphs()
    expected, actual = f(ts, [None, ts[0], None, None]), jedlik.compile(f, backend=graphs)(ts, [None, ts[0], None, None])
    assert len(graphs) == 1
    assert [(k, x.tolist(), [o is ts[0] for o in others], at) for k, x, others, at in expected] == \
        [(k, x.tolist(), [o is ts[0] for o in others], at) for k, x, others, at in actual]


def test_profiler_range():
    def f(x, stop):
        with torch.profiler.record_function("part") as r:
            y = x + 1
            if stop:
                jedlik.graph_break()
            z = y * 2
        return z, r.name

    graphs = Graphs()
    compiled = jedlik.compile(f, backend=graphs)
    x = torch.ones(3)
    assert torch.equal(compiled(x, False)[0], x * 4 - 0) and len(graphs) == 1
    assert torch.equal(compiled(x, True)[0], (x + 1) * 2) and len(graphs) == 3
    with torch.profiler.profile() as p:
        jedlik.reset()
        jedlik.compile(f, backend=graphs)(x, False)
    assert "part" in [e.name for e in p.events()]


def test_profiler_that_comes_later():
    def f(x):
        with torch.profiler.record_function("part"):
            return x * 2

    graphs = Graphs()
    compiled = jedlik.compile(f, backend=graphs)
    x = torch.ones(3)
    compiled(x)
    for _ in range(2):
        with torch.profiler.profile() as p:
            assert torch.equal(compiled(x), x * 2)
        assert "part" in [e.name for e in p.events()]
        before = len(graphs)
        compiled(x)
        assert len(graphs) == before


def test_dictionary_of_parameters():
    def f(table, ps):
        return [table[p] * 2 if p in table else p + 1 for p in ps]

    graphs = Graphs()
    ps = [torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.zeros(2))]
    compiled = jedlik.compile(f, backend=graphs)
    for table in ({ps[0]: torch.ones(2)}, {ps[1]: torch.ones(2), "a": 1}, {"a": 1}, {}):
        for e, a in zip(f(table, ps), compiled(table, ps)):
            assert torch.equal(e, a)
    assert len(graphs) == 3
