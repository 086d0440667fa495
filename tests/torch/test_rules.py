"""Shape rules beside eager: what they give is what eager gives, strides too unless they say otherwise."""
import operator
import pathlib
import sys

import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from compare_inference import compare  # noqa: E402

def agree(*args):
    """What eager refuses may be inferred: the graph raises then, which is no wrong answer."""
    what = compare(*args)
    assert what in (None, "declined") or what.startswith("eager raises"), (what, args[1], [(t.shape, t.stride(), t.dtype) if isinstance(t, torch.Tensor) else t for t in args[2]])


COMMON = settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.uint8, torch.bool]


def filled(sizes, dtype):
    t = torch.ones(sizes, dtype=torch.float64).mul_(0.5)
    return t.to(dtype) if dtype is not torch.bool else t > 0


@st.composite
def tensors(draw, dtypes=DTYPES, max_dim=4, sizes=None, grad=True):
    """Any layout: permuted, stepped, expanded, with dims of size 0 and 1."""
    if sizes is None:
        sizes = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 4]), max_size=max_dim))
    dtype = draw(st.sampled_from(dtypes))
    perm = draw(st.permutations(range(len(sizes))))
    step = draw(st.lists(st.sampled_from([1, 1, 1, 2]), min_size=len(sizes), max_size=len(sizes)))
    big = filled([sizes[p] * step[p] for p in perm], dtype)
    t = big[tuple(slice(None, None, step[p]) for p in perm)].permute([perm.index(i) for i in range(len(sizes))])
    if len(sizes) and draw(st.integers(0, 4)) == 0:
        dim = draw(st.integers(0, len(sizes) - 1))
        if t.size(dim) > 1:
            t = t.narrow(dim, 0, 1).expand(*sizes)
    if draw(st.booleans()):
        t = t.contiguous()
    t = t.detach()
    if grad and dtype.is_floating_point and draw(st.booleans()):
        t = t.requires_grad_()
    return t


@st.composite
def pairs(draw, dtypes=DTYPES):
    """Two operands that broadcast (mostly), one of them perhaps a number."""
    a = draw(tensors(dtypes))
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return a, draw(st.sampled_from([2, 0, True, 1.5, -1]))
    sizes = list(a.shape)
    if kind < 4:
        sizes = [draw(st.sampled_from([n, n, 1])) for n in sizes]
        sizes = sizes[draw(st.integers(0, len(sizes))):] if kind == 3 else sizes
    return a, draw(tensors(dtypes, sizes=sizes if kind < 5 else None))


BINARY = [torch.add, torch.sub, torch.mul, torch.maximum, torch.div, torch.atan2, torch.remainder, torch.pow, torch.eq, torch.lt,
          torch.bitwise_and, operator.add, operator.truediv, operator.and_, operator.ge, operator.pow, torch.fmin]


@COMMON
@given(f=st.sampled_from(BINARY), ab=pairs())
def test_binary(engine, f, ab):
    agree(engine, f, ab, {})


@COMMON
@given(f=st.sampled_from(["add_", "mul_", "div_", "sub_", "__iadd__", "__imul__", "bitwise_and_", "clamp_min_", "pow_"]),
       ab=pairs())
def test_in_place(engine, f, ab):
    a, b = ab
    real = [a.clone() if not a.requires_grad else a * 1, b]
    twins = [engine.torch_twin(x) if isinstance(x, torch.Tensor) else x for x in real]
    out = engine.torch_infer(f, tuple(twins), {}, torch.device("cpu"), True)
    try:
        r = getattr(real[0], f)(real[1])
    except RuntimeError:
        return
    if out[0] == "ok":
        assert out[1] is twins[0] and r is real[0]
        assert (twins[0].shape, twins[0].dtype, twins[0].requires_grad, twins[0].is_leaf, twins[0]._version) == (
            real[0].shape, real[0].dtype, real[0].requires_grad, real[0].is_leaf, real[0]._version)


UNARY = [torch.neg, torch.abs, torch.sin, torch.exp, torch.reciprocal, torch.isnan, torch.logical_not, torch.bitwise_not, torch.floor,
         F.relu, F.gelu, F.silu, F.leaky_relu, F.elu, F.hardtanh, F.softplus, F.dropout, torch.sigmoid, torch.sign, F.mish, F.relu6]


@COMMON
@given(f=st.sampled_from(UNARY), x=tensors())
def test_unary(engine, f, x):
    agree(engine, f, (x,), {})


@COMMON
@given(c=tensors([torch.bool], grad=False), ab=pairs(), data=st.data())
def test_where(engine, c, ab, data):
    if isinstance(ab[1], torch.Tensor) and data.draw(st.booleans()):
        c = filled(list(ab[0].shape), torch.bool)
    agree(engine, torch.where, (c, *ab), {})
    agree(engine, torch.clamp, (ab[0], 0, 1), {})
    agree(engine, torch.masked_fill, (ab[0], filled(list(ab[0].shape), torch.bool), 0), {})


REDUCE = [torch.sum, torch.mean, torch.amax, torch.any, torch.logsumexp, torch.var, torch.std, torch.argmax, torch.prod]


@COMMON
@given(f=st.sampled_from(REDUCE), x=tensors(), dim=st.one_of(st.none(), st.integers(-3, 3), st.lists(st.integers(-3, 3), max_size=3)),
       keep=st.sampled_from([None, True, False]))
def test_reductions(engine, f, x, dim, keep):
    kwargs = {} if keep is None else {"keepdim": keep}
    args = (x,) if dim is None and keep is None else (x, dim)
    agree(engine, f, args, kwargs)


@COMMON
@given(f=st.sampled_from([torch.max, torch.min, torch.cumsum, torch.softmax, F.softmax, F.log_softmax, torch.sort, torch.argsort]),
       x=tensors(DTYPES[:-1]), dim=st.integers(-4, 3))
def test_along_a_dim(engine, f, x, dim):
    agree(engine, f, (x, dim), {})


@COMMON
@given(data=st.data(), f=st.sampled_from([torch.matmul, operator.matmul, torch.mm, torch.bmm, F.linear]))
def test_products(engine, data, f):
    fd = [torch.float32, torch.float32, torch.float64, torch.int64]
    k = data.draw(st.integers(1, 3))
    a = data.draw(tensors(fd, sizes=data.draw(st.lists(st.sampled_from([1, 2, 3]), max_size=3)) + [k]))
    lead = data.draw(st.sampled_from([list(a.shape[:-2]), [], [1] * len(a.shape[:-2]), [2]]))
    tail = [3, k] if f is F.linear else data.draw(st.sampled_from([[k, 3], [k, 1], [k]]))
    b = data.draw(tensors(fd, sizes=tail if f is F.linear else (lead + tail if len(tail) > 1 else tail)))
    args = (a, b)
    if f is F.linear and data.draw(st.booleans()):
        args = (a, b, data.draw(tensors(fd, sizes=[3])))
    agree(engine, f, args, {})


@COMMON
@given(data=st.data(), f=st.sampled_from([torch.cat, torch.stack]), dim=st.integers(-4, 3))
def test_joining(engine, data, f, dim):
    first = data.draw(tensors())
    sizes = list(first.shape)
    parts = [first]
    for _ in range(data.draw(st.integers(0, 2))):
        s = list(sizes)
        if f is torch.cat and s and -len(s) <= dim < len(s):
            s[dim] = data.draw(st.integers(0, 3))
        parts.append(data.draw(tensors(sizes=s)))
    agree(engine, f, (parts, dim), {})


@COMMON
@given(data=st.data(), x=tensors([torch.float32, torch.int64]))
def test_indexing(engine, data, x):
    if x.numel() == 0 or x.dim() == 0:
        return
    i = torch.zeros(data.draw(st.lists(st.integers(0, 3), max_size=3)), dtype=data.draw(st.sampled_from([torch.int64, torch.int32])))
    dim = data.draw(st.integers(-1, x.dim() - 1))
    agree(engine, operator.getitem, (x, i), {})
    agree(engine, torch.gather, (x, dim, torch.zeros([1] * x.dim(), dtype=torch.int64)), {})
    agree(engine, torch.index_select, (x, dim, i.reshape(-1)), {})
    for f, args in [("tril", ()), ("flip", (dim,)), ("flip", ((0,),)), ("roll", (1, dim)), ("repeat", (2,) * x.dim()),
                    ("repeat", ((1, 2, 1, 2, 3),))]:
        agree(engine, getattr(torch.Tensor, f), (x, *args), {})
    agree(engine, F.pad, (x, (1, 2)), {})


@COMMON
@given(x=tensors(), data=st.data())
def test_copies(engine, x, data):
    """Copies are made exactly where eager makes them."""
    for f in ("contiguous", "clone", "flatten"):
        agree(engine, getattr(torch.Tensor, f), (x,), {})
    if x.dim():
        a, b = sorted(data.draw(st.lists(st.integers(0, x.dim() - 1), min_size=2, max_size=2)))
        agree(engine, torch.flatten, (x, a, b), {})
    n = x.numel()
    sizes = [d for d in (1, 2, 3, 4, 6, 8, 12) if n and n % d == 0]
    if sizes:
        first = data.draw(st.sampled_from(sizes))
        second = data.draw(st.sampled_from([d for d in sizes if n // first % d == 0]))
        for shape in [(first, -1), (-1, first), (first, second, -1), (first, second, n // first // second)]:
            agree(engine, torch.Tensor.reshape, (x, *shape), {})
            agree(engine, torch.reshape, (x, shape), {})


ITEMS = st.one_of(st.just(slice(None)), st.just(None), st.just(...), st.just(0), st.just(-1), st.just(slice(0, 1)), st.just(slice(None, None, 2)),
                  st.just("vector"), st.just("matrix"), st.just("scalar"))


@COMMON
@given(x=tensors([torch.float32, torch.int64]), items=st.lists(ITEMS, min_size=1, max_size=4), data=st.data())
def test_indexing_in_general(engine, x, items, data):
    if x.numel() == 0 or x.dim() == 0 or items.count(...) > 1:
        return
    kinds = {"vector": [0, 0], "matrix": [[0], [0], [0]], "scalar": 0}
    index = tuple(torch.tensor(kinds[i]) if isinstance(i, str) else i for i in items)
    agree(engine, operator.getitem, (x, index), {})
    try:
        shape = x[index].shape
    except (IndexError, RuntimeError):
        return
    value = data.draw(st.sampled_from([0, torch.ones(shape, dtype=x.dtype), torch.ones(shape[-1:], dtype=x.dtype)]))
    real = x.detach().clone()
    twin = engine.torch_twin(real)
    to_twin = lambda v: engine.torch_twin(v) if isinstance(v, torch.Tensor) else v
    out = engine.torch_infer(operator.setitem, (twin, tuple(map(to_twin, index)), to_twin(value)), {}, torch.device("cpu"), True)
    try:
        real[index] = value
    except (IndexError, RuntimeError):
        return
    assert out[0] == "ok" and out[1] is None and twin.shape == real.shape and (twin._version > 0) == (real._version > 0), (items, out)


def convolutions():
    x, w, b = torch.zeros(2, 4, 9, 8), torch.zeros(6, 4, 3, 2, requires_grad=True), torch.zeros(6)
    for kw in [{}, {"stride": 2}, {"padding": 1}, {"padding": (1, 0), "stride": (2, 1)}, {"dilation": 2}, {"padding": "same"}]:
        yield F.conv2d, (x, w, b), kw
        yield F.conv2d, (x.to(memory_format=torch.channels_last), w), kw
    yield F.conv2d, (x, torch.zeros(6, 2, 3, 3), None, 1, 1, 1, 2), {}
    yield F.conv2d, (x[0], w), {}
    yield F.conv1d, (torch.zeros(2, 4, 9), torch.zeros(3, 4, 3)), {"padding": 1}
    yield F.conv3d, (torch.zeros(1, 2, 5, 5, 5), torch.zeros(3, 2, 2, 2, 2)), {}
    for kw in [{}, {"stride": 2}, {"stride": 2, "padding": 1, "output_padding": 1}, {"dilation": 2}]:
        yield F.conv_transpose2d, (x, torch.zeros(4, 5, 3, 3), torch.zeros(5)), kw
        yield F.conv_transpose1d, (torch.zeros(2, 4, 7), torch.zeros(4, 3, 3)), kw
    yield F.conv_transpose2d, (x, torch.zeros(4, 5, 3, 3), None, 1, 0, 0, 2), {}
    for f in (F.max_pool2d, F.avg_pool2d):
        yield f, (x, 2), {}
        yield f, (x, 3), {"stride": 2, "padding": 1}
        yield f, (x, (3, 2)), {"ceil_mode": True}
    yield F.max_pool2d, (x, 2), {"return_indices": True}
    yield F.adaptive_avg_pool2d, (x, (1, 3)), {}
    yield F.adaptive_avg_pool2d, (x, 1), {}


def networks():
    x, w = torch.zeros(2, 3, 8, requires_grad=True), torch.zeros(8, requires_grad=True)
    i = torch.zeros(2, 3, dtype=torch.int64)
    yield F.layer_norm, (x, (8,), w, w), {}
    yield F.layer_norm, (x, [3, 8]), {}
    yield F.rms_norm, (x, (8,), w), {}
    yield F.group_norm, (torch.zeros(2, 6, 4), 3), {}
    for training in (True, False):
        yield F.batch_norm, (torch.zeros(2, 6, 4), torch.zeros(6), torch.ones(6), torch.ones(6, requires_grad=True), torch.zeros(6)), {
            "training": training}
    yield F.embedding, (i, torch.zeros(10, 4, requires_grad=True)), {}
    yield F.embedding, (i, torch.zeros(10, 4), 0), {}
    yield F.embedding, (i[0], torch.zeros(10, 4)), {}
    yield F.cross_entropy, (torch.zeros(3, 4, requires_grad=True), torch.zeros(3, dtype=torch.int64)), {}
    yield F.cross_entropy, (torch.zeros(3, 4), torch.zeros(3, dtype=torch.int64)), {"reduction": "none"}
    yield F.mse_loss, (x, torch.zeros(2, 3, 8)), {}
    q = torch.zeros(2, 4, 5, 8, requires_grad=True)
    yield F.scaled_dot_product_attention, (q, q, q), {}
    yield F.scaled_dot_product_attention, (q, q[:, :, :3], q[:, :, :3]), {"is_causal": True}
    yield F.scaled_dot_product_attention, (q, q, q, torch.ones(5, 5, dtype=torch.bool)), {}
    yield torch.addmm, (torch.zeros(4), torch.zeros(3, 2), torch.zeros(2, 4)), {}
    yield torch.baddbmm, (torch.zeros(2, 1, 4), torch.zeros(2, 3, 2), torch.zeros(2, 2, 4)), {"beta": 0.5}
    yield F.scaled_dot_product_attention, (q, q[:, :2], q[:, :2]), {"enable_gqa": True}
    yield torch.einsum, ("abcd,abed->abce", q, q), {}
    yield torch.einsum, ("ab, bc -> ca", torch.zeros(2, 3), torch.zeros(3, 4)), {}
    yield torch.einsum, ("ab,bc", torch.zeros(2, 3), torch.zeros(3, 4)), {}
    yield torch.einsum, ("aab,bc->ac", torch.zeros(2, 2, 3), torch.zeros(3, 4)), {}
    yield torch.einsum, ("a,b,c->abc", torch.zeros(2), torch.zeros(3), torch.zeros(4)), {}
    yield torch.cat, ([torch.zeros(0), torch.zeros(2, 3)], -1), {}
    yield torch.cat, ([torch.zeros(0, dtype=torch.float64), torch.zeros(2, 3)],), {}
    yield torch.cat, ([torch.zeros(0), torch.zeros(0)],), {}
    for f in ("index_copy", "index_add", "index_copy_", "index_add_"):
        yield getattr(torch.Tensor, f), (torch.zeros(2, 3, 8), 1, torch.tensor([0, 2]), torch.ones(2, 2, 8)), {}
    yield torch.repeat_interleave, (x, 2, 1), {}
    yield torch.repeat_interleave, (x, 2), {}
    yield torch.topk, (x, 3), {}
    yield torch.topk, (x, 2, 1), {}
    for f in (torch.zeros, torch.ones, torch.rand, torch.empty):
        yield f, (2, 3), {}
        yield f, ((2, 3),), {"dtype": torch.float64}
    yield torch.full, ((2, 3), 1), {}
    yield torch.full, ((2, 3), 1.0), {}
    yield torch.full, ((2,), True), {"dtype": torch.int32}
    for args in [(5,), (2, 9), (1, 10, 3), (9, 1, -2), (2.0,), (0, 1, 0.25)]:
        yield torch.arange, args, {}
    yield torch.arange, (4,), {"dtype": torch.float32, "device": "cpu"}
    for f in (torch.zeros_like, torch.empty_like, torch.randn_like):
        yield f, (x,), {}
        yield f, (x.transpose(0, 1),), {"dtype": torch.float64}
    yield torch.full_like, (x, 2.0), {}
    yield torch.Tensor.new_zeros, (x, 2, 3), {}
    yield torch.Tensor.new_ones, (x, (2, 3)), {"dtype": torch.int64}
    yield F.prelu, (torch.zeros(2, 3), torch.zeros(3)), {}


@pytest.mark.parametrize("f,args,kwargs", [*convolutions(), *networks()])
def test_samples(engine, f, args, kwargs):
    agree(engine, f, args, kwargs)


def test_common_operations_have_rules(engine):
    """Neither stock's front-end nor sympy comes in with what common models do."""
    import subprocess
    code = """
import sys; sys.path[:0] = %r
import torch
from jedlik._engine import selftest as engine; engine.torch_attach()
import torch.nn.functional as F, operator
T = lambda *s, **k: engine.torch_twin(torch.zeros(*s, **k))
x, w, b, i = T(2, 3, 8), T(5, 8), T(5), T(2, 3, dtype=torch.int64)
q, img = T(2, 4, 5, 8), T(2, 3, 9, 9)
calls = [(torch.sin, x), (operator.add, x, 1.5), (operator.mul, x, x), (F.relu, x), (F.gelu, x), (F.linear, x, w, b), ("sum", x),
         ("mean", x, -1), (torch.cat, [x, x], 1), ("view", x, -1), ("transpose", x, 1, 2), ("softmax", x, -1), (F.layer_norm, x, (8,)),
         (F.embedding, i, w), (F.conv2d, img, T(4, 3, 3, 3)), (F.max_pool2d, img, 2), ("flatten", img, 1), (F.dropout, x),
         (F.scaled_dot_product_attention, q, q, q), (operator.matmul, x, T(8, 4)), (operator.getitem, x, (slice(None), 0)),
         ("masked_fill", x, T(2, 3, 8, dtype=torch.bool), 0.0), (torch.where, T(8, dtype=torch.bool), x, 0.0), ("to", x, torch.float64),
         ("contiguous", x), ("unsqueeze", x, 0), ("expand", x, 2, 3, 8), (torch.arange, 5), (torch.zeros, 2, 3), (torch.ones_like, x),
         (F.cross_entropy, T(3, 4), T(3, dtype=torch.int64)), ("pow", x, 2), (torch.rsqrt, x), ("chunk", x, 2, -1), ("split", x, 4, -1),
         ("add_", x, 1), (F.batch_norm, img, T(3), T(3)), ("float", x), (torch.tril, T(3, 3)), ("argmax", x, -1), ("max", x, -1),
         (torch.stack, [x, x]), ("repeat", x, 2, 1, 1), (operator.getitem, w, i)]
for f, *args in calls:
    r = engine.torch_infer(f, tuple(args), {}, torch.device("cpu"), True)
    assert r[0] == "ok", (f, r)
    assert "torch._dynamo" not in sys.modules and "sympy" not in sys.modules, f
""" % ([str(pathlib.Path(__file__).parent)],)
    subprocess.run([sys.executable, "-c", code], check=True)
