"""Rules 13, 15, 17: autograd.Function under every backend, its frames and tracebacks, its state when something fails."""
import traceback
import warnings

import pytest
import torch
from torch.autograd import Function

import jedlik

LOG = []


def ask(x):
    return x.sum().item()


class Cubed(Function):
    @staticmethod
    def forward(ctx, x, breaks):
        ctx.save_for_backward(x)
        y = x.sin()
        ctx.n = ask(y) if breaks else 1.0
        return y * x ** 3 / x.sin()

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x ** 2 * (ctx.n / ctx.n), None


class Setup(Function):
    @staticmethod
    def forward(x, breaks):
        if breaks:
            ask(x)
        return x * 2, x.detach()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, g, _):
        return g * 2, None


def cubed(x, breaks):
    return Cubed.apply(x * 1, breaks) + x


def setup(x, breaks):
    y, z = Setup.apply(x * 1, breaks)
    return y.cos() + z


def cubed_twice(x, breaks):
    return Cubed.apply(Cubed.apply(x, breaks).sin(), breaks)


def outcome(f, x, breaks):
    x = x.clone().requires_grad_(x.requires_grad)
    y = f(x, breaks)
    grad = torch.autograd.grad(y.sum(), x)[0] if y.requires_grad else None
    return y.detach(), grad, y.requires_grad, torch.is_grad_enabled()


@pytest.mark.parametrize("backend", ["eager", lambda gm, _: gm.forward, "aot_eager", "inductor"], ids=["eager", "forward", "aot_eager", "inductor"])
@pytest.mark.parametrize("breaks", [False, True], ids=["whole", "breaks"])
@pytest.mark.parametrize("program", [cubed, setup, cubed_twice], ids=lambda f: f.__name__)
def test_backends(program, breaks, backend):
    compiled = jedlik.compile(program, backend=backend)
    for x in (torch.rand(3) + 0.5, (torch.rand(3) + 0.5).requires_grad_(), (torch.rand(3) + 0.5).requires_grad_()):
        want, got = outcome(program, x, breaks), outcome(compiled, x, breaks)
        torch.testing.assert_close(got, want)
        with torch.no_grad():
            torch.testing.assert_close(outcome(compiled, x, breaks), outcome(program, x, breaks))


@pytest.mark.parametrize("program", [cubed, setup], ids=lambda f: f.__name__)
def test_one_graph(program):
    """A forward that a graph can hold is in one: its operations where nothing is differentiated, else as an operation of its own."""
    compiled = jedlik.compile(program, backend="eager", fullgraph=True)
    for x in torch.rand(3), torch.rand(3).requires_grad_():
        assert torch.equal(compiled(x, False), program(x, False))
    told = jedlik.explain(program)(torch.rand(3), False)
    assert told.graph_count == 1 and told.op_count >= 4


def test_operations_around_a_break_are_captured():
    told = jedlik.explain(cubed)(torch.rand(3).requires_grad_(), True)
    assert told.op_count >= 7
    assert [b.id for b in told.breaks] == ["DATA_DEPENDENT", "FUNCTION"]
    assert all(b.reason and b.hint for b in told.breaks)


class Raises(Function):
    @staticmethod
    def forward(ctx, x, how):
        LOG.append(torch.is_grad_enabled())
        y = x * 2
        if how == "raise":
            raise ValueError("in forward")
        if how == "index":
            return y[torch.tensor(9)]
        warnings.warn("seen", stacklevel=3)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * 2, None


def raises(x, how):
    y = x + 1
    return Raises.apply(y, how)


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("how", ["raise", "index"])
def test_exceptions(how, grad):
    """Same frames at the same places in the traceback, same effects, grad mode as before."""
    compiled = jedlik.compile(raises, backend="eager")
    x = torch.rand(3).requires_grad_(grad)

    def call(f):
        LOG.clear()
        try:
            f(x, how)
        except (ValueError, IndexError) as e:
            entries = [(s.filename, s.lineno, s.name, s.colno, s.end_colno) for s in traceback.extract_tb(e.__traceback__)[1:]]
            return type(e), str(e), entries, list(LOG), torch.is_grad_enabled()

    want = call(raises)
    for _ in range(3):
        assert call(compiled) == want


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_warnings_point_to_the_caller(grad):
    compiled = jedlik.compile(raises, backend="eager")
    x = torch.rand(3).requires_grad_(grad)

    def call(f):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            f(x, "warn")
        return [(w.filename, w.lineno) for w in seen]

    want = call(raises)
    assert want[0][1] == raises.__code__.co_firstlineno + 2
    for _ in range(3):
        assert call(compiled) == want


class Seeds(Function):
    @staticmethod
    def forward(ctx, x):
        torch.manual_seed(5)
        return x * torch.rand(3)

    @staticmethod
    def backward(ctx, g):
        return g


def through_aot(gm, inputs):
    from torch._dynamo.backends.common import aot_autograd
    return aot_autograd(fw_compiler=lambda g, _: g.forward)(gm, inputs)


@pytest.mark.parametrize("backend", ["eager", through_aot, "aot_eager"], ids=lambda b: getattr(b, "__name__", b))
def test_seeds_in_forward(backend):
    def f(x):
        return Seeds.apply(x), torch.rand(3)

    compiled = jedlik.compile(f, backend=backend)
    for grad in False, True, True:
        x = torch.ones(3).requires_grad_(grad)
        for a, b in zip(compiled(x), f(x)):
            assert torch.equal(a, b)


KEPT = torch.ones(2)


class Global(Function):
    @staticmethod
    def forward(ctx, x, unused):
        return KEPT if unused is None else x * 2

    @staticmethod
    def backward(ctx, g):
        return g, None


def test_a_result_that_is_an_argument_later():
    """What decides whether autograd hands over what forward gave is guarded: who is an argument, who requires grad."""
    compiled = jedlik.compile(lambda x, w: Global.apply(x, w), backend="eager")
    for x in torch.zeros(2), KEPT, torch.zeros(2), torch.zeros(2).requires_grad_():
        y, z = compiled(x, None), Global.apply(x, None)
        assert (y is KEPT) == (z is KEPT) and y.requires_grad == z.requires_grad
    for grad in False, True, False:
        w = torch.ones(2).requires_grad_(grad)
        assert compiled(torch.ones(2), w).requires_grad is grad


class Reads(Function):
    scale = 2.0

    @staticmethod
    def forward(ctx, x):
        ask(x)
        return x * Reads.scale

    @staticmethod
    def backward(ctx, g):
        return g * Reads.scale


def test_state_that_changes_between_calls():
    compiled = jedlik.compile(lambda x: Reads.apply(x) + 1, backend="eager")
    for scale in 2.0, 3.0, 2.0, 5.0:
        Reads.scale = scale
        x = torch.ones(2).requires_grad_()
        y = compiled(x)
        y.sum().backward()
        assert y.tolist() == [scale + 1] * 2 and x.grad.tolist() == [scale] * 2
