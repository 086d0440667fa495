import subprocess
import sys
import types

import pytest
import torch
import torch.nn.functional as F


def program(requires_grad=False):
    x = torch.randn(3, 4)
    w, b = torch.nn.Parameter(torch.randn(5, 4)), torch.nn.Parameter(torch.randn(5))
    rows = [("input", x), ("input", w), ("input", b),
            ("function", F.linear, ({0}, {1}, {2})),
            ("method", "relu", ({3},)),
            ("function", __import__("operator").add, ({4}, 1)),
            ("method", "sum", ({5},), {"dim": 1})]
    return rows, (x, w, b), lambda x, w, b: (F.linear(x, w, b).relu() + 1).sum(1)


def backends():
    from jedlik import _backends
    return _backends


def test_user_backend_gets_the_graph_and_real_inputs(engine):
    rows, inputs, eager = program()
    seen = []

    def mine(gm, example_inputs):
        seen.append((gm, example_inputs))
        return gm.forward

    f = engine.torch_hand_off(rows, [6], mine)
    gm, example = seen[0]
    assert [a is b for a, b in zip(example, inputs)] == [True] * 3 and isinstance(gm, torch.fx.GraphModule)
    (r,) = f(*inputs)
    assert torch.equal(r, eager(*inputs)) and r.requires_grad
    assert type(f).__name__ == "Graph"  # no code was generated for it
    assert torch.equal(gm(*inputs)[0], r)


def test_an_edited_graph_runs_as_edited(engine):
    rows, inputs, eager = program()

    def mine(gm, example_inputs):
        for n in gm.graph.nodes:
            if n.target == "relu":
                n.target = "abs"
        gm.recompile()
        return gm.forward

    f = engine.torch_hand_off(rows, [6], mine)
    assert torch.equal(f(*inputs)[0], (F.linear(*inputs).abs() + 1).sum(1))
    assert f.__wrapped__.__func__ is not type(f.__wrapped__.__self__)._lazy_forward


@pytest.mark.parametrize("give,error", [
    (lambda r: r, None), (lambda r: list(r), None), (lambda r: r[0], "not a tuple"), (lambda r: (r, r), "2 values"),
    (lambda r: None, "NoneType"),
])
def test_what_a_compiled_graph_may_return(engine, give, error):
    rows, inputs, eager = program()
    f = engine.torch_hand_off(rows, [6], lambda gm, ex: lambda *a: give(gm(*a)))
    if error is None:
        assert type(f(*inputs)) is tuple and torch.equal(f(*inputs)[0], eager(*inputs))
    else:
        with pytest.raises(RuntimeError, match=error):
            f(*inputs)


def test_backends_that_fail(engine):
    rows, inputs, _ = program()

    def broken(gm, example_inputs):
        raise ValueError("no luck")

    with pytest.raises(RuntimeError, match="backend='broken' raised:\nValueError: no luck") as e:
        engine.torch_hand_off(rows, [6], broken)
    assert isinstance(e.value.__cause__, ValueError) and e.value.backend_name == "broken"
    with pytest.raises(RuntimeError, match="returned NoneType"):
        engine.torch_hand_off(rows, [6], lambda gm, ex: None)

    def interrupted(gm, example_inputs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.torch_hand_off(rows, [6], interrupted)


def test_backends_do_not_move_generators(engine):
    rows, _, _ = program()
    before = torch.get_rng_state()
    engine.torch_hand_off(rows, [6], lambda gm, ex: (torch.rand(5), gm.forward)[1])
    assert torch.equal(before, torch.get_rng_state())


def test_stock_is_not_imported(engine):
    code = """
import sys; sys.path[:0] = %r
import torch
from jedlik._engine import selftest as engine; engine.torch_attach()
import torch.nn.functional as F
x = torch.zeros(3)
rows = [("input", x), ("function", F.relu, ({0},))]
f = engine.torch_hand_off(rows, [1], lambda gm, ex: gm.forward)
f(x)
assert "torch._dynamo" not in sys.modules and "sympy" not in sys.modules
from jedlik import _backends
assert type(engine.torch_hand_off(rows, [1], _backends.eager)).__name__ == "Graph"
assert "torch._dynamo" not in sys.modules and "sympy" not in sys.modules
""" % ([str(p) for p in (__import__("pathlib").Path(__file__).parent,)],)
    subprocess.run([sys.executable, "-c", code], check=True)


# -- Torch's own compilers: each import is a second, so one process for all ----------


def grads(f, inputs, leaves):
    for p in leaves:
        p.grad = None
    f(*inputs)[0].sum().backward()
    return [p.grad.clone() for p in leaves]


def test_aot_eager(engine):
    rows, inputs, eager = program()
    f = engine.torch_hand_off(rows, [6], backends().Named("aot_eager", {}))
    assert torch.equal(f(*inputs)[0], eager(*inputs))
    leaves = inputs[1:]
    for a, b in zip(grads(f, inputs, leaves), grads(lambda *a: (eager(*a),), inputs, leaves)):
        assert torch.allclose(a, b)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            x = torch.randn(3, 4)
            args = (x, *inputs[1:])
            rows2 = [("input", x), *rows[1:]]
            f = engine.torch_hand_off(rows2, [6], backends().Named("aot_eager", {}))
            r = f(*args)[0]
            assert torch.equal(r, eager(*args)) and not r.requires_grad
    with torch.autocast("cpu"):
        f = engine.torch_hand_off(rows, [6], backends().Named("aot_eager", {}))
        r = f(*inputs)[0]
        assert r.dtype == eager(*inputs).dtype and torch.allclose(r, eager(*inputs))


def test_aot_mutation_and_aliases(engine):
    base = torch.zeros(6)
    x, y = base[:4], base[2:]
    rows = [("input", x), ("input", y), ("method", "add_", ({0}, 1), {}, False, True), ("function", torch.mul, ({1}, 2))]
    f = engine.torch_hand_off(rows, [3, 2], backends().Named("aot_eager", {}))
    r, same = f(x, y)
    assert base.tolist() == [1, 1, 1, 1, 0, 0] and r.tolist() == [2, 2, 0, 0]
    a, b = torch.zeros(4), torch.zeros(4)
    f = engine.torch_hand_off([("input", a), ("input", b), *rows[2:]], [3, 2], backends().Named("aot_eager", {}))
    r, same = f(a, b)
    assert a.tolist() == [1] * 4 and r.tolist() == [0] * 4


def test_user_backend_on_aot_autograd(engine):
    import torch._dynamo
    from torch._dynamo.backends.common import aot_autograd
    graphs = []

    def compiler(gm, example_inputs):
        graphs.append(gm)
        assert all(not isinstance(s, torch.SymInt) for t in example_inputs if isinstance(t, torch.Tensor) for s in t.shape)
        return gm.forward

    rows, inputs, eager = program()
    f = engine.torch_hand_off(rows, [6], aot_autograd(fw_compiler=compiler))
    assert torch.equal(f(*inputs)[0], eager(*inputs))
    def mine(gm, example_inputs):
        from functorch.compile import make_boxed_func
        from torch._functorch.aot_autograd import aot_module_simplified
        return aot_module_simplified(gm, example_inputs, fw_compiler=lambda g, e: make_boxed_func(compiler(g, e)))

    f = engine.torch_hand_off(rows, [6], mine)
    assert torch.equal(f(*inputs)[0], eager(*inputs)) and len(graphs) >= 2


def test_errors_are_stocks_too(engine):
    import torch._dynamo
    rows, _, _ = program()
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
        engine.torch_hand_off(rows, [6], lambda gm, ex: 1 / 0)
