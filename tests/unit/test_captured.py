"""What programs of trainers and models do on the way, and what need not break for it."""
import torch
import torch.nn.functional as F

import jedlik


class Masked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mask):
        out = x.masked_fill(~mask.to(torch.bool), 0.0)
        ctx.save_for_backward(mask)
        return out

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0], None


def test_casts_raise_for_no_data():
    """Behind a change of an input, inside of a call that C code waits for: only what may raise breaks there."""
    def f(x, mask):
        x.mul_(2)
        return Masked.apply(x, mask) + x.float().to(torch.float64, copy=True)
    compiled = jedlik.compile(f, backend="eager")
    jedlik.reset()
    for _ in range(2):
        with torch.no_grad():
            x, mask = torch.randn(3, 4), torch.ones(3, 4, dtype=torch.int64)
            y = x.clone()
            assert torch.equal(compiled(x, mask), f(y, mask)) and torch.equal(x, y)
    assert jedlik.stats()["breaks"] == {} and jedlik.stats()["graphs"] == 1


def test_address_of_an_optimizer():
    net = torch.nn.Linear(4, 4)
    optimizers = [torch.optim.SGD(net.parameters(), 0.1), torch.optim.SGD(net.parameters(), 0.2)]

    def f(x, optimizer):
        return net(x) * {id(optimizers[0]): 2, id(optimizers[1]): 3}[id(optimizer)]
    compiled = jedlik.compile(f, backend="eager")
    jedlik.reset()
    x = torch.randn(2, 4)
    for optimizer in optimizers * 2:
        assert torch.equal(compiled(x, optimizer), f(x, optimizer))
    assert "IDENTITY" not in jedlik.stats()["breaks"]


def test_masks():
    """How many elements a mask picks is data, what it writes to is not."""
    def writes(x):
        y = x.clone()
        y[y < 0] = 0
        return y

    def reads(x):
        return x[x < 0].sum() + torch.where(x > 0)[0].sum()
    x = torch.randn(3, 4)
    for f, breaks in [(writes, False), (reads, True)]:
        jedlik.reset()
        compiled = jedlik.compile(f, backend="eager")
        assert torch.equal(compiled(x), f(x)) and torch.equal(compiled(-x), f(-x))
        assert bool(jedlik.stats()["breaks"]) == breaks


def test_losses_share_a_reader():
    """Each way to reduce, and what only kl_div has."""
    x, y = torch.randn(3, 4), torch.rand(3, 4)
    for reduction in ("mean", "sum", "none", "batchmean"):
        def f(x, y):
            return F.kl_div(x, y, reduction=reduction)
        assert torch.equal(jedlik.compile(f, backend="eager")(x, y), f(x, y))
        if reduction != "batchmean":
            def g(x, y):
                return F.mse_loss(x, y, reduction=reduction), F.cross_entropy(x, y.argmax(-1), reduction=reduction)
            assert all(map(torch.equal, jedlik.compile(g, backend="eager")(x, y), g(x, y)))
