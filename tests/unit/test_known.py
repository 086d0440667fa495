"""Small tensors that are made of constants alone are known: sizes, indices and conditions made of them do not break."""
import pytest
import torch

import jedlik

X = torch.arange(24.0).reshape(4, 6)


def breaks(f, *args):
    """Equal to eager twice; how many breaks there were."""
    jedlik.reset()
    compiled = jedlik.compile(f, backend="eager")
    for _ in range(2):
        expected, got = f(*args), compiled(*args)
        assert torch.equal(torch.as_tensor(expected), torch.as_tensor(got))
    return sum(jedlik.stats()["breaks"].values())


def chunks(x):
    n = torch.div(x.size(1), 2, rounding_mode="trunc")
    return x.reshape(x.size(0), n, 2).sum(-1) + n


def sized(x):
    n = torch.div(x.size(0), 2, rounding_mode="trunc") - 1
    return x.new_zeros((n + 1, 2)) + n


def read(x):
    return x * torch.tensor(3).item() + sum(torch.tensor([1, 2]).tolist())


def converted(x):
    return x[:int(torch.tensor([1, 2]).prod())] * float(torch.tensor(0.5))


def sliced(x):
    return x[:torch.tensor(3), 1:torch.tensor(2) + 1]


def decided(x):
    return x * 2 if torch.tensor(1.5) > 1 else x


def counted(x):
    for i in range(torch.tensor(2)):
        x = x + i
    return x


def picked(x):
    return x * [1, 2, 3][torch.arange(3)[1]]


@pytest.mark.parametrize("f", [chunks, sized, read, converted, sliced, decided, counted, picked])
def test_known(f):
    assert breaks(f, X) == 0


def test_new_shapes_are_new_values():
    compiled = jedlik.compile(chunks, backend="eager")
    for x in (X, torch.ones(2, 8), torch.ones(3, 4), X):
        assert torch.equal(compiled(x), chunks(x))


def added(x):
    n = torch.tensor(2)
    n.add_(1)
    return x[:n.item()]


def behind_its_back(x):
    n = torch.tensor(1)
    n.data.add_(2)
    return x[:n.item()]


def through_a_view(x):
    n = torch.tensor([1, 1])
    first = n[0]
    n.fill_(3)
    return x[:first.item()]


def detached(x):
    n = torch.tensor(1)
    n.detach().add_(2)
    return x[:n.item()]


def kept_before(x):
    n = torch.tensor(1)
    d = n.data
    m = n + 1
    d.add_(1)
    return x[:n.item()] + m.item()


def indexed(x):
    n = torch.zeros(3, dtype=torch.int64)
    n[1] = 2
    return x[:n[1].item()]


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, n):
        n.mul_(2)
        ctx.mark_dirty(n)
        return n

    @staticmethod
    def backward(ctx, g):
        return g


def by_a_function(x):
    n = torch.tensor(1)
    Double.apply(n)
    return x[:n.item()]


@pytest.mark.parametrize("f", [added, behind_its_back, through_a_view, detached, kept_before, indexed, by_a_function])
def test_written(f):
    """What is written is not what it was: these break, or know better."""
    breaks(f, X)


def test_what_is_not_known():
    """Nobody has written it, it is drawn, it comes from outside: these break."""
    outside = torch.tensor(2)
    for f in (lambda x: x[:outside.item()], lambda x: x[:torch.randint(1, 2, ()).item()], lambda x: x[:(x.sum() * 0 + 1).int().item()],
              lambda x: x[:torch.empty((), dtype=torch.int64).mul(0).item() + 1]):
        assert breaks(f, X) > 0


def test_default_dtype_is_part_of_it():
    def f(x):
        return x + (torch.tensor(0.1).item() - 0.1)
    compiled = jedlik.compile(f, backend="eager")
    first = compiled(X)
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.equal(compiled(X), f(X)) and not torch.equal(first, f(X))
    finally:
        torch.set_default_dtype(torch.float32)
