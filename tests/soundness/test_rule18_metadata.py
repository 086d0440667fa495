"""Rule 18: what Python code asks of a traced tensor is what eager says, on each later call too."""
import pytest
import torch
import torch.nn.functional as F

import jedlik

S = torch.nn.functional.scaled_dot_product_attention


def value(v):
    return (v.shape, v.stride(), v.dtype, v.tolist()) if isinstance(v, torch.Tensor) else v


def agree(fn, *calls):
    """Each call of the compiled function beside the plain one."""
    compiled = jedlik.compile(fn, backend="eager")
    for args in calls:
        want = fn(*args)
        got = compiled(*args)
        same = lambda a, b: type(a) is type(b) and (
            all(map(same, a, b)) and len(a) == len(b) if isinstance(a, (tuple, list)) and not isinstance(a, torch.Size) else value(a) == value(b))
        assert same(got, want), (got, want)


QUESTIONS = {
    "stride": lambda x: x.stride(),
    "stride of a dim": lambda x: x.stride(-1),
    "contiguous": lambda x: x.is_contiguous(),
    "channels_last": lambda x: x.is_contiguous(memory_format=torch.channels_last),
    "offset": lambda x: x.storage_offset(),
    "is_view": lambda x: x._is_view(),
    "base": lambda x: x._base is None,
    "leaf": lambda x: x.is_leaf,
    "requires_grad": lambda x: x.requires_grad,
    "grad_fn": lambda x: x.grad_fn is None,
    "grad": lambda x: x.grad is None,
    "version": lambda x: x._version,
    "shape": lambda x: (x.shape, x.size(), x.dim(), x.numel(), x.ndim, len(x)),
    "dtype": lambda x: (x.dtype, x.element_size(), x.itemsize, x.nbytes, x.is_floating_point()),
    "device": lambda x: (x.device, x.is_cpu, x.get_device(), x.is_cuda),
    "layout": lambda x: (x.layout, x.is_sparse),
    "shared": lambda x: x.is_shared(),
    "pinned": lambda x: x.is_pinned(),
}


def inputs():
    leaf = torch.zeros(2, 4, 5, 8, requires_grad=True)
    base = torch.zeros(3, 4, 5, 8)
    held = torch.zeros(2, 4, 5, 8, requires_grad=True)
    held.grad = torch.ones(2, 4, 5, 8)
    yield torch.zeros(2, 4, 5, 8)
    yield base[1:]
    yield torch.zeros(2, 8, 5, 4).transpose(1, 3)
    yield torch.zeros(2, 4, 5, 8).to(memory_format=torch.channels_last)
    yield leaf
    yield leaf * 2
    yield leaf[:]
    yield base[:2].detach().requires_grad_()
    yield held
    yield torch.zeros(2, 4, 5, 8, dtype=torch.float64)
    yield torch.zeros(2, 1, 5, 8).expand(2, 4, 5, 8)


MADE = {
    "the input": lambda x: x,
    "a result": lambda x: x * 2,
    "a view": lambda x: x[1:],
    "a view of a view": lambda x: x[1:].transpose(0, 1),
    "contiguous": lambda x: x.contiguous(),
    "float": lambda x: x.float(),
    "detached": lambda x: x.detach(),
    "data": lambda x: x.data,
    "attention": lambda x: S(x, x, x),
    "sum of attention": lambda x: S(x, x, x) + 1,
    "reshaped attention": lambda x: S(x, x, x).transpose(1, 2).reshape(2, 5, -1),
    "contiguous attention": lambda x: S(x, x, x).transpose(1, 2).contiguous(),
    "convolution": lambda x: F.conv2d(x, x.new_zeros(3, 4, 2, 2)),
    "pooled": lambda x: F.max_pool2d(x, 2),
    "linear": lambda x: F.linear(x, x.new_zeros(3, 8), x.new_zeros(3)),
    "product": lambda x: x @ x.new_zeros(8, 3),
    "stacked": lambda x: torch.stack([x, x]),
    "joined": lambda x: torch.cat([x, x.transpose(0, 1).contiguous().transpose(0, 1)]),
    "flipped": lambda x: x.flip(0),
    "indexed": lambda x: x[torch.tensor([0, 1])],
    "einsum": lambda x: torch.einsum("abcd,abed->abce", x, x),
    "repeated": lambda x: x.repeat_interleave(2, 1),
    "made": lambda x: torch.zeros(3, 4),
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("asked", QUESTIONS)
def test_questions(made, asked):
    make, ask = MADE[made], QUESTIONS[asked]
    fn = lambda x: (ask(make(x)), make(x).sum() * 0 == 0)  # noqa: E731
    agree(fn, *[(x,) for x in inputs()])


def test_identity():
    def fn(x):
        y = x.contiguous()
        return y is x, x.float() is x, y
    agree(fn, (torch.zeros(2, 3),), (torch.zeros(3, 2).t(),), (torch.zeros(2, 3, dtype=torch.float64),))


def test_identity_of_what_kernels_lay_out():
    def fn(q):
        y = S(q, q, q).transpose(1, 2)
        z = y.contiguous()
        return z is y, z
    q = torch.zeros(2, 4, 5, 8)
    agree(fn, (q,), (q,), (torch.zeros(2, 4, 5, 8, requires_grad=True),))


def test_gradient_of_what_is_the_input():
    def fn(x):
        return x.float().grad is None, x * 1
    x = torch.zeros(3, requires_grad=True)
    y = torch.zeros(3, requires_grad=True)
    y.grad = torch.ones(3)
    agree(fn, (y,), (x,), (y,))


def test_a_write_through_a_shared_storage_makes_others_require_grad():
    def fn(x, y, w):
        x.mul_(w)
        return y.requires_grad, x.requires_grad, y.is_leaf, y * 1

    def fresh():
        base = torch.ones(4)
        return base[:2], base, torch.ones(2, requires_grad=True)
    compiled = jedlik.compile(fn, backend="eager")
    for _ in range(3):
        a, b = compiled(*fresh()), fn(*fresh())
        assert a[:3] == b[:3]


@pytest.mark.parametrize("fn", [
    lambda q: (S(q, q, q).stride(), q + 1),
    lambda q: (F.conv2d(q, q.new_zeros(3, 4, 2, 2)).is_contiguous(), q + 1),
    lambda q: ((S(q, q, q) * 2).storage_offset(), q + 1),
])
def test_what_kernels_choose_is_a_break(fn):
    q = torch.zeros(2, 4, 5, 8)
    compiled = jedlik.compile(fn, backend="eager")
    assert compiled(q)[0] == fn(q)[0] and jedlik.stats()["breaks"].get("LAYOUT")
