"""Rule 14: a node nobody reads stays, unless it can be seen to be harmless and its shapes were validated."""
import warnings

import pytest
import torch
from follow import X, follow, follows

import jedlik

DEAD = {
    "matmul of bad shapes": lambda x, w: x @ w,
    "add of bad shapes": lambda x, w: x + w,
    "cat of bad shapes": lambda x, w: torch.cat([x, w]),
    "index out of range": lambda x, w: x[7],
    "index by a tensor": lambda x, w: x[torch.tensor([9])],
    "gather": lambda x, w: x.gather(0, torch.tensor([9])),
    "embedding": lambda x, w: torch.nn.functional.embedding(torch.tensor([99]), w),
    "rand": lambda x, w: torch.rand(3),
    "rand_like": lambda x, w: torch.rand_like(x),
    "randn": lambda x, w: torch.randn(2, 2),
    "randperm": lambda x, w: torch.randperm(4),
    "bernoulli": lambda x, w: torch.bernoulli(x * 0.5),
    "multinomial": lambda x, w: torch.multinomial(x, 2),
    "dropout": lambda x, w: torch.nn.functional.dropout(x, 0.5),
    "normal": lambda x, w: torch.normal(0.0, x),
    "in place": lambda x, w: x.add_(1),
    "uniform_": lambda x, w: torch.empty(2).uniform_(),
    "out=": lambda x, w: torch.add(x, 1, out=w),
    "setitem": lambda x, w: x.__setitem__(0, 5.0),
    "view": lambda x, w: x.view(7),
    "reshape": lambda x, w: x.reshape(2, -1),
    "expand": lambda x, w: x.expand(2, 5),
    "squeeze of a bad dim": lambda x, w: x.squeeze(4),
    "sum over a bad dim": lambda x, w: x.sum(4),
    "conversion": lambda x, w: x.to("cuda"),
    "inverse of a singular matrix": lambda x, w: torch.linalg.inv(torch.zeros(2, 2)),
    "cholesky": lambda x, w: torch.linalg.cholesky(-torch.ones(2, 2)),
    "integer division by zero": lambda x, w: torch.tensor([1]) // torch.tensor([0]),
    "integer modulo by zero": lambda x, w: torch.tensor([1]) % 0,
    "one_hot": lambda x, w: torch.nn.functional.one_hot(torch.tensor([-1])),
    "nll_loss": lambda x, w: torch.nn.functional.nll_loss(torch.zeros(1, 2), torch.tensor([5])),
    "cross_entropy": lambda x, w: torch.nn.functional.cross_entropy(torch.zeros(1, 2), torch.tensor([5])),
    "bincount": lambda x, w: torch.bincount(torch.tensor([-1])),
    "repeat_interleave": lambda x, w: torch.repeat_interleave(x, torch.tensor([1, -1, 1])),
    "scatter": lambda x, w: torch.zeros(2).scatter(0, torch.tensor([5]), 1.0),
    "index_select": lambda x, w: x.index_select(0, torch.tensor([5])),
    "searchsorted": lambda x, w: torch.searchsorted(x, w, sorter=torch.tensor([9, 9, 9])),
    "split of a bad size": lambda x, w: x.split([1, 1]),
    "unfold": lambda x, w: x.unfold(0, 9, 1),
    "conv": lambda x, w: torch.nn.functional.conv1d(x[None, None], torch.ones(1, 2, 1)),
    "linear": lambda x, w: torch.nn.functional.linear(x, torch.ones(2, 7)),
    "bitwise of floats": lambda x, w: x & w,
    "dtype of a reduction": lambda x, w: torch.tensor([1, 2]).mean(),
    "stack": lambda x, w: torch.stack([]),
    "batch_norm": lambda x, w: torch.nn.functional.batch_norm(x[None], torch.zeros(3), torch.ones(3), training=True),
    "manual_seed": lambda x, w: torch.manual_seed(5),
    "assert": lambda x, w: torch._assert_async(torch.tensor(False)),
    "narrow": lambda x, w: x.narrow(0, 2, 5),
    "item": lambda x, w: w.sum().item(),
    "nonzero": lambda x, w: x.nonzero(),
    "equal": lambda x, w: torch.equal(x, w),
    "pin": lambda x, w: x.numpy(),
}


@pytest.mark.parametrize("name", DEAD)
def test_unused_operations(name):
    """`x @ w; return x + 1` must raise on bad shapes; a dead `torch.rand(3)` moves the generator."""
    op = DEAD[name]

    def program(compile):
        def f(x, w):
            op(x, w)
            return x + 1

        f = compile(f)
        for shape in ((3,), (3,), (5,), (2, 7), (3,)):
            x, w = torch.ones(3), torch.ones(shape)
            how, value = f(x, w)
            # the words of an error may differ between what inference and what the kernel says
            yield how, type(value).__name__ if how == "raised" else value, x, w, torch.get_rng_state()
    follow(program, sweep=False)


@pytest.mark.parametrize("name", ["matmul of bad shapes", "rand", "inverse of a singular matrix", "in place", "embedding"])
def test_caught_errors_of_unused_operations(name):
    op = DEAD[name]

    def program(compile):
        def f(x, w, log):
            try:
                op(x, w)
                log.append("fine")
            except Exception as e:
                log.append(type(e).__name__)
                return x - 1
            return x + 1

        f = compile(f)
        for shape in ((3,), (5,), (2, 7), (3,)):
            log = []
            yield f(torch.ones(3), torch.ones(shape), log), log, torch.get_rng_state()
    follow(program)


def test_operations_that_warn():
    """A dead operation that warns keeps warning, as often as plainly."""
    def f(x):
        warnings.warn("mine", stacklevel=1)
        torch.ones(2, 3).t_()
        torch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(2))
        return x + 1

    def told(g):
        out = []
        for _ in range(3):
            with warnings.catch_warnings(record=True) as ws:
                warnings.simplefilter("always")
                g(X)
            out.append(sorted(str(w.message)[:40] for w in ws))
        return out
    assert told(jedlik.compile(f, backend="eager")) == told(f)


def test_unused_user_code_in_the_graph():
    """A dead custom autograd function still runs its Python."""
    log = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            log.append("forward")
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    def program(compile):
        def f(x):
            F.apply(x)
            return x + 1
        f = compile(f)
        for _ in range(3):
            log.clear()
            yield f(X), list(log)
    follow(program)


def test_harmless_dead_nodes_go(captures):
    """What the rule allows: nothing of it is left in the graph."""
    def f(x):
        x.sin()
        y = x + 1
        z = y * 2  # noqa: F841
        torch.zeros(3)
        return y

    fast = jedlik.compile(f, backend=captures)
    fast(X)
    assert [len(ops) for ops in captures.ops] == [1]


@follows()
def test_dead_gradients(compile):
    """Hooks and gradients of what nobody reads."""
    log = []
    w = torch.ones(3, requires_grad=True)

    def f(x):
        y = x * w
        y.register_hook(lambda g: log.append("hook"))
        (x * w).sum()
        return x + 1

    f = compile(f)
    for _ in range(3):
        yield f(X), list(log), w.grad


@follows()
def test_shapes_of_dead_nodes_on_other_inputs(compile):
    """Valid in the first call, not in the next."""
    def f(x, w):
        y = x @ w  # noqa: F841
        return x + 1

    f = compile(f)
    for shape in ((3,), (3, 2), (4,), (3,), (2, 3)):
        how, value = f(torch.ones(3), torch.ones(shape))
        yield how, type(value).__name__ if how == "raised" else value


