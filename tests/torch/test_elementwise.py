"""Rules in C beside eager: sizes, strides, dtype and what autograd says, over random shapes and layouts."""
import operator
import random

import pytest
import torch

CPU = torch.device("cpu")
BINARY = [operator.add, operator.mul, operator.sub, operator.truediv, operator.lt, torch.eq, "add", "div"]
UNARY = [torch.sin, operator.neg, "sqrt", "abs", torch.relu]


def layout(t, rng):
    kind = rng.randrange(6)
    if kind == 0 and t.dim() > 1:
        order = list(range(t.dim()))
        rng.shuffle(order)
        return t.permute(order).contiguous().permute([order.index(i) for i in range(t.dim())])
    if kind == 1 and t.dim():
        return torch.cat([t, t], -1)[..., : t.shape[-1]]
    if kind == 2:
        return torch.stack([t, t], -1)[..., 0]
    if kind == 3 and t.dim():
        return t[:1].expand(t.shape)
    return t


def tensor(full, rng):
    shape = [n if rng.random() < 0.75 else 1 for n in full]
    if rng.random() < 0.3:
        shape = shape[rng.randrange(len(full) + 1):]
    return layout(torch.rand(shape), rng).detach().requires_grad_(rng.random() < 0.2)


def fields(t):
    return (t.shape, t.stride(), t.dtype, t.requires_grad, t.is_leaf, t._is_view(), t.storage_offset())


@pytest.mark.parametrize("seed", range(6))
def test_elementwise(engine, seed):
    rng = random.Random(seed)
    for _ in range(300):
        full = [rng.choice([1, 1, 2, 3, 4]) for _ in range(rng.randrange(5))]
        args = [tensor(full, rng)]
        f = rng.choice(UNARY)
        if rng.random() < 0.6:
            f = rng.choice(BINARY)
            args.append(rng.choice([2, 0.5, tensor(full, rng), tensor(full, rng)]))
        grad = rng.random() < 0.5
        twins = tuple(engine.torch_twin(a) if isinstance(a, torch.Tensor) else a for a in args)
        kind, result, *_ = engine.torch_infer(f, twins, {}, CPU, grad)
        with torch.set_grad_enabled(grad):
            eager = getattr(args[0], f)(*args[1:]) if isinstance(f, str) else f(*args)
        assert kind == "ok" and fields(result) == fields(eager), (f, args)
