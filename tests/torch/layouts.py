"""Tensors of any layout, for tests that compare shape rules with eager."""
import torch
from hypothesis import strategies as st

FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTS = [torch.int64, torch.int32, torch.uint8, torch.int8, torch.int16]
DTYPES = FLOATS + INTS + [torch.bool]
ALL = DTYPES + [torch.complex64]


def filled(sizes, dtype):
    t = torch.ones(sizes, dtype=torch.float64).mul_(0.5)
    return t > 0 if dtype is torch.bool else t.to(dtype)


def permuted(draw, sizes, dtype):
    perm = draw(st.permutations(range(len(sizes))))
    step = draw(st.lists(st.sampled_from([1, 1, 1, 2]), min_size=len(sizes), max_size=len(sizes)))
    big = filled([sizes[p] * step[p] for p in perm], dtype)
    return big[tuple(slice(None, None, step[p]) for p in perm)].permute([perm.index(i) for i in range(len(sizes))])


def expanded(draw, t):
    sizes, dim = t.shape, draw(st.integers(0, t.dim() - 1))
    return t.narrow(dim, 0, 1).expand(*sizes) if t.size(dim) > 1 else t


def odd(draw, t):
    """Another stride for a dim of size 1, which no element is reached by."""
    ones = [i for i, n in enumerate(t.shape) if n == 1]
    if not ones or not t.numel():
        return t
    stride = list(t.stride())
    stride[draw(st.sampled_from(ones))] = draw(st.sampled_from([0, 1, 2, 5, 7]))
    return t.as_strided(t.shape, stride)


@st.composite
def tensors(draw, dtypes=DTYPES, max_dim=4, min_dim=0, sizes=None, grad=True, counts=(0, 1, 1, 2, 3, 4)):
    """Permuted, stepped, expanded, sliced, in channels_last, with odd strides, with dims of size 0 and 1."""
    if sizes is None:
        sizes = draw(st.lists(st.sampled_from(counts), min_size=min_dim, max_size=max_dim))
    dtype = draw(st.sampled_from(dtypes))
    kind = draw(st.integers(0, 9))
    t = filled(list(sizes), dtype) if kind < 4 else permuted(draw, list(sizes), dtype)
    if sizes and kind == 5:
        t = expanded(draw, t)
    elif kind == 6:
        t = odd(draw, t)
    elif kind == 7 and len(sizes) == 4:
        t = t.contiguous(memory_format=torch.channels_last)
    elif kind == 8 and sizes and sizes[0] > 0:
        t = torch.cat([t, t])[1:1 + sizes[0]]
    if draw(st.integers(0, 3)) == 0:
        t = t.contiguous()
    t = t.detach()
    if grad and (dtype.is_floating_point or dtype.is_complex) and draw(st.booleans()):
        t = t.requires_grad_()
    return t
