"""Every shape rule in C beside eager, on drawn calls: what it gives is what eager gives, or it says what it does not know."""
import operator
import pathlib
import sys

import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path += [str(pathlib.Path(__file__).resolve().parents[2] / "tools"), str(pathlib.Path(__file__).resolve().parent)]
from compare_inference import compare  # noqa: E402
from layouts import ALL, DTYPES, FLOATS, INTS, filled, tensors  # noqa: E402

T = torch.Tensor
NUMBERS = st.sampled_from([2, 0, True, 1.5, -1, 3.0])
pick = st.sampled_from


def other(draw, a, dtypes=ALL, numbers=True):
    """Something that mostly broadcasts with a."""
    kind = draw(st.integers(0, 5))
    if kind == 0 and numbers:
        return draw(NUMBERS)
    sizes = [draw(pick([n, n, 1])) for n in a.shape]
    if kind == 3:
        sizes = sizes[draw(st.integers(0, len(sizes))):]
    return draw(tensors(dtypes, sizes=sizes if kind < 5 else None))


def binary(*fns, dtypes=ALL, numbers=True, kwargs=({},)):
    def make(draw):
        a = draw(tensors(dtypes))
        return draw(pick(fns)), (a, other(draw, a, dtypes, numbers)), draw(pick(kwargs))
    return make


def written(*fns, dtypes=DTYPES):
    """In-place twins: the first is no leaf that requires grad, and owns its elements."""
    def make(draw):
        a = draw(tensors(dtypes, grad=False)).clone()
        return draw(pick(fns)), (a, other(draw, a, dtypes)), {}
    return make


def unary(*fns, dtypes=ALL, args=((),), kwargs=({},)):
    return lambda draw: (draw(pick(fns)), (draw(tensors(dtypes)), *draw(pick(args))), draw(pick(kwargs)))


def dims(draw, x, many=True):
    one = st.integers(-x.dim() - 1, x.dim()) if draw(st.integers(0, 9)) == 0 or not x.dim() else st.integers(-x.dim(), x.dim() - 1)
    return draw(st.lists(one, max_size=3)) if many and draw(st.booleans()) else draw(one)


def reduce(*fns, dtypes=ALL, many=True, kwargs=({},), bare=True):
    def make(draw):
        x = draw(tensors(dtypes))
        kw = dict(draw(pick(kwargs)))
        if bare and draw(st.integers(0, 3)) == 0:
            return draw(pick(fns)), (x,), {}
        return draw(pick(fns)), (x, dims(draw, x, many)), kw | draw(pick([{}, {"keepdim": True}, {"keepdim": False}]))
    return make


def along(*fns, dtypes=ALL, kwargs=({},)):
    def make(draw):
        x = draw(tensors(dtypes))
        return draw(pick(fns)), (x, dims(draw, x, False)), draw(pick(kwargs))
    return make


def matrices(f, na, nb, kinds=FLOATS + [torch.int64]):
    def make(draw):
        dtypes = [draw(pick(kinds))] if draw(st.integers(0, 7)) else kinds
        n, k, m, b = (draw(pick([1, 2, 3])) for _ in range(4))
        a = draw(tensors(dtypes, sizes=[b, n, k][-na:] if na > 1 else [k]))
        return f, (a, draw(tensors(dtypes, sizes=[b, k, m][-nb:] if nb > 1 else [k]))), {}
    return make


def matmul(*fns):
    def make(draw):
        kinds = [draw(pick([torch.float32, torch.float64, torch.int64]))]
        k, lead = draw(pick([1, 2, 3, 0])), draw(st.lists(pick([1, 2, 3]), max_size=3))
        a = draw(tensors(kinds, sizes=lead + [k]))
        head = draw(pick([lead[:-1], [], [1] * len(lead[:-1]), [2]]))
        tail = draw(pick([[k, 3], [k, 1], [k]]))
        return draw(pick(fns)), (a, draw(tensors(kinds, sizes=head + tail if len(tail) > 1 else tail))), {}
    return make


def added(f, nd):
    def make(draw):
        kinds = [draw(pick(FLOATS))]
        b, n, k, m = (draw(pick([1, 2, 3])) for _ in range(4))
        out = [b, n, m][-nd:]
        c = draw(pick([out, [1] * nd, out[-1:], []]))
        return f, (draw(tensors(kinds, sizes=c)), draw(tensors(kinds, sizes=[b, n, k][-nd:])), draw(tensors(kinds, sizes=[b, k, m][-nd:]))), (
            draw(pick([{}, {"beta": 0.5}, {"alpha": 2}])))
    return make


def linear(draw):
    kinds = [draw(pick(FLOATS[:3]))]
    k, m = draw(pick([1, 2, 3])), draw(pick([1, 3]))
    args = [draw(tensors(kinds, sizes=draw(st.lists(pick([0, 1, 2, 3]), max_size=3)) + [k])), draw(tensors(kinds, sizes=[m, k]))]
    return F.linear, (*args, draw(tensors(kinds, sizes=[m]))) if draw(st.booleans()) else tuple(args), {}


def attention(draw):
    kinds = [draw(pick(FLOATS[:2]))]
    b, h, n, s, d = (draw(pick([1, 2, 3])) for _ in range(5))
    heads = draw(pick([[], [h], [h]]))
    q, k, v = (draw(tensors(kinds, sizes=[b, *heads, x, d])) for x in (n, s, s))
    mask = draw(pick([None, [n, s], [b, 1, n, s] if heads else [b, n, s], [1, 1, 1, s] if heads else [1, s]]))
    kw = {} if mask is None else {"attn_mask": draw(tensors([torch.bool, kinds[0]], sizes=mask))}
    return F.scaled_dot_product_attention, (q, k, v), kw if kw else draw(pick([{}, {"is_causal": True}]))


def einsum(draw):
    kinds = [draw(pick(FLOATS[:2]))]
    size = {c: draw(pick([1, 2, 3])) for c in "abcde"}
    text = draw(pick(["ab,bc->ac", "ab,bc->ca", "abc,abd->acd", "abc,cd->abd", "abcd,abed->abce", "a,b->ab", "ab->ba", "abc->b", "ab,ab->",
                      "ab,cb->ac", "abc,dc->abd"]))
    parts = text.split("->")[0].split(",")
    return torch.einsum, (text, *(draw(tensors(kinds, sizes=[size[c] for c in p])) for p in parts)), {}


def conv(f, n, transposed=False):
    def make(draw):
        kinds = [draw(pick([torch.float32, torch.float64]))]
        groups, i, o = draw(pick([1, 1, 2])), draw(pick([1, 2])), draw(pick([1, 3]))
        x = draw(tensors(kinds, sizes=[draw(pick([1, 2])), groups * i] + [draw(pick([1, 3, 5])) for _ in range(n)]))
        k = [draw(pick([1, 2, 3])) for _ in range(n)]
        w = draw(tensors(kinds, sizes=[groups * i, o, *k] if transposed else [groups * o, i, *k]))
        kw = {"stride": draw(pick([1, 2])), "padding": draw(pick([0, 1, (1,) * n])), "dilation": draw(pick([1, 2])), "groups": groups}
        bias = draw(tensors(kinds, sizes=[groups * o])) if draw(st.booleans()) else None
        return f, (x, w, bias), kw
    return make


def pool(f, args, kwargs=({},)):
    def make(draw):
        x = draw(tensors(FLOATS[:3], sizes=[draw(pick([1, 2])), draw(pick([1, 3])), draw(pick([1, 3, 6])), draw(pick([2, 5]))]))
        return f, (x, draw(pick(args))), draw(pick(kwargs))
    return make


def pooled(f, n, args, kwargs=({},)):
    def make(draw):
        x = draw(tensors(FLOATS[:3], sizes=[draw(pick([1, 2])), draw(pick([1, 3]))] + [draw(pick([1, 3, 6])) for _ in range(n)]))
        return f, (x, draw(pick(args))), draw(pick(kwargs))
    return make


def recurrent(f, gates, states):
    def make(draw):
        kinds = [torch.float32]
        layers, ways, first = draw(pick([1, 2])), draw(pick([1, 2])), draw(st.booleans())
        steps, batch, width, hidden = (draw(pick([1, 2, 3])) for _ in range(4))
        x = draw(tensors(kinds, sizes=[batch, steps, width] if first else [steps, batch, width]))
        params = []
        for layer in range(layers):
            for _ in range(ways):
                wide = width if layer == 0 else hidden * ways
                params += [draw(tensors(kinds, sizes=n)) for n in ([gates * hidden, wide], [gates * hidden, hidden], [gates * hidden],
                                                                   [gates * hidden])]
        h = [draw(tensors(kinds, sizes=[layers * ways, batch, hidden])) for _ in range(states)]
        return f, (x, tuple(h) if states > 1 else h[0], params, True, layers, draw(pick([0.0, 0.2])), draw(st.booleans()), ways == 2,
                   first), {}
    return make


def cell(f, gates, states):
    def make(draw):
        kinds = [draw(pick([torch.float32, torch.float64]))]
        batch, width, hidden = (draw(pick([1, 2, 3])) for _ in range(3))
        h = [draw(tensors(kinds, sizes=[batch, hidden])) for _ in range(states)]
        rest = [draw(tensors(kinds, sizes=n)) for n in ([gates * hidden, width], [gates * hidden, hidden], [gates * hidden], [gates * hidden])]
        return f, (draw(tensors(kinds, sizes=[batch, width])), h if states > 1 else h[0], *rest), {}
    return make


def attention_layer(draw):
    kinds = [draw(pick([torch.float32, torch.float64]))]
    heads, each, batch, to, since = (draw(pick([1, 2, 3])) for _ in range(5))
    width = heads * each
    q, k = draw(tensors(kinds, sizes=[to, batch, width])), draw(tensors(kinds, sizes=[since, batch, width]))
    v = draw(pick([k, draw(tensors(kinds, sizes=[since, batch, width]))]))
    args = (q, k, v, width, heads, draw(tensors(kinds, sizes=[3 * width, width])), draw(tensors(kinds, sizes=[3 * width])), None, None,
            False, draw(pick([0.0, 0.1])), draw(tensors(kinds, sizes=[width, width])), draw(tensors(kinds, sizes=[width])))
    kw = {"training": draw(st.booleans()), "need_weights": draw(st.booleans()), "average_attn_weights": draw(st.booleans())}
    if draw(st.booleans()):
        kw["attn_mask"] = filled(draw(pick([[to, since], [batch * heads, to, since]])), draw(pick([torch.bool, kinds[0]])))
    if draw(st.booleans()):
        kw["key_padding_mask"] = torch.zeros(batch, since, dtype=kw["attn_mask"].dtype if "attn_mask" in kw else torch.bool)
    return F.multi_head_attention_forward, args, kw


def interpolate(draw):
    mode, n = draw(pick([("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 2), ("linear", 1), ("bilinear", 2),
                         ("bicubic", 2), ("trilinear", 3)]))
    x = draw(tensors(FLOATS[:2], sizes=[draw(pick([1, 2])), draw(pick([1, 3]))] + [draw(pick([1, 3, 5])) for _ in range(n)]))
    kw = {"mode": mode} | draw(pick([{"size": 3}, {"size": [4] * n}, {"scale_factor": 2}, {"scale_factor": 1.7},
                                     {"scale_factor": (2.5,) * n}, {"scale_factor": 2.3, "recompute_scale_factor": True}]))
    if "linear" in mode or mode == "bicubic":
        kw["align_corners"] = draw(pick([None, False, True]))
    return F.interpolate, (x,), kw


def pixel_shuffle(draw):
    by = draw(pick([1, 2]))
    return F.pixel_shuffle, (draw(tensors(FLOATS, sizes=draw(pick([[], [1], [2]])) + [by * by * draw(pick([1, 2])), 3, 2])), by), {}


def paired_loss(f, kwargs, weight=None):
    def make(draw):
        kinds = [draw(pick(FLOATS[:2]))]
        x = draw(tensors(kinds, max_dim=3, counts=(1, 2, 3)))
        t = draw(tensors(kinds, sizes=list(x.shape)))
        kw = draw(pick(kwargs))
        if weight and draw(st.booleans()):
            kw = kw | {weight: draw(tensors(kinds, sizes=list(x.shape)[draw(st.integers(0, x.dim())):]))}
        return f, (x, t), kw
    return make


def nll_loss(draw):
    n, c = draw(pick([1, 2, 3])), draw(pick([1, 4]))
    return F.nll_loss, (draw(tensors(FLOATS[:2], sizes=[n, c])), torch.zeros(n, dtype=torch.int64)), draw(
        pick([{}, {"reduction": "sum"}, {"ignore_index": 0}, {"reduction": "none"}]))


def norm(f, name):
    def make(draw):
        x = draw(tensors(FLOATS[:2], max_dim=3, counts=(1, 2, 3)))
        kw = {} if draw(st.booleans()) else {name: draw(pick([1, 2.0, float("inf")]))}
        if x.dim() and draw(st.booleans()):
            kw |= {"dim": draw(pick([0, -1, [0], list(range(x.dim()))])), "keepdim": draw(st.booleans())}
        return f, (x,), kw
    return make


def one_dim(f, n):
    def make(draw):
        x = draw(tensors(FLOATS[:2], min_dim=1, max_dim=3, counts=(1, 2, 3)))
        return f, (x, *(draw(tensors([x.dtype], sizes=list(x.shape))) for _ in range(n - 1))), draw(pick([{"dim": 0}, {"dim": -1}, {}]))
    return make


def outer(draw):
    kinds = [draw(pick(DTYPES))]
    return torch.outer, tuple(draw(tensors(kinds, sizes=[draw(pick([0, 1, 3]))])) for _ in range(2)), {}


def scatter(draw):
    kinds = [draw(pick(FLOATS[:2] + [torch.int64]))]
    x = draw(tensors(kinds, min_dim=1, max_dim=3, counts=(1, 2, 3)))
    i = torch.zeros([draw(st.integers(1, n)) for n in x.shape], dtype=torch.int64)
    return draw(pick([torch.scatter, torch.scatter_add])), (x, draw(st.integers(-x.dim(), x.dim() - 1)), i,
                                                            draw(tensors(kinds, sizes=list(x.shape)))), {}


def glu(draw):
    return F.glu, (draw(tensors(FLOATS[:2], min_dim=1)), *draw(pick([(), (0,), (-1,)]))), {}


def embedding(draw):
    i = torch.zeros(draw(st.lists(pick([0, 1, 2, 3]), max_size=3)), dtype=draw(pick([torch.int64, torch.int32])))
    if draw(st.booleans()) and i.dim() > 1:
        i = i.transpose(0, 1)
    return F.embedding, (i, draw(tensors(FLOATS, sizes=[3, draw(pick([1, 2]))]))), draw(pick([{}, {"padding_idx": 0}]))


def cross_entropy(draw):
    n, c = draw(pick([1, 2, 3])), draw(pick([1, 4]))
    kinds = [draw(pick(FLOATS[:2]))]
    kw = draw(pick([{}, {"reduction": "sum"}, {"label_smoothing": 0.1}, {"ignore_index": 0}]))
    if draw(st.booleans()):
        kw = kw | {"weight": draw(tensors(kinds, sizes=[c]))}
    return F.cross_entropy, (draw(tensors(kinds, sizes=[n, c])), torch.zeros(n, dtype=torch.int64)), kw


def mse_loss(draw):
    kinds = FLOATS[:2]
    x = draw(tensors(kinds))
    return F.mse_loss, (x, draw(tensors(kinds, sizes=list(x.shape)))), draw(pick([{}, {"reduction": "sum"}, {"reduction": "none"}]))


def joined(f):
    def make(draw):
        first, dim = draw(tensors(ALL)), draw(st.integers(-4, 3))
        parts, sizes = [first], list(first.shape)
        for _ in range(draw(st.integers(0, 2))):
            s = list(sizes)
            if f is torch.cat and s and -len(s) <= dim < len(s):
                s[dim] = draw(st.integers(0, 3))
            parts.append(draw(tensors([first.dtype] if draw(st.booleans()) else ALL, sizes=s)))
        if draw(st.integers(0, 9)) == 0:
            parts.insert(0, torch.zeros(0))
        return f, (parts, dim), {}
    return make


ITEMS = pick([slice(None), slice(None), None, ..., 0, -1, slice(0, 1), slice(None, None, 2), "vector", "vector", "matrix", "scalar", "int32"])


def index(draw, x):
    made = {"vector": lambda: torch.tensor([0, 0]), "matrix": lambda: torch.tensor([[0], [0], [0]]), "scalar": lambda: torch.tensor(0),
            "int32": lambda: torch.tensor([0], dtype=torch.int32)}
    items = draw(st.lists(ITEMS, min_size=1, max_size=4))
    items = [i for n, i in enumerate(items) if i is not ... or items.index(...) == n]
    got = tuple(made[i]() if isinstance(i, str) else i for i in items)
    return got[0] if len(got) == 1 and draw(st.booleans()) else got


def getitem(draw):
    x = draw(tensors(ALL, min_dim=1, counts=(1, 1, 2, 3)))
    return operator.getitem, (x, index(draw, x)), {}


def setitem(draw):
    x = draw(tensors(ALL, min_dim=1, counts=(1, 1, 2, 3), grad=False)).clone()
    i = index(draw, x)
    try:
        shape = list(x[i].shape)
    except (IndexError, RuntimeError):
        shape = []
    value = draw(st.one_of(NUMBERS, tensors([x.dtype], sizes=shape), tensors([x.dtype], sizes=shape[-1:])))
    return operator.setitem, (x, i, value), {}


def index_write(draw):
    x = draw(tensors(FLOATS[:2], min_dim=1, counts=(1, 2, 3), grad=False)).clone()
    dim = draw(st.integers(-x.dim(), x.dim() - 1))
    n = draw(pick([1, 2]))
    sizes = list(x.shape)
    sizes[dim] = n
    f = draw(pick([T.index_copy, T.index_add, T.index_copy_, T.index_add_]))
    return f, (x, dim, torch.arange(n).clamp(max=x.size(dim) - 1), draw(tensors([x.dtype], sizes=sizes))), {}


def gather(draw):
    x = draw(tensors(ALL, min_dim=1, counts=(1, 2, 3)))
    i = draw(tensors([torch.int64], sizes=[draw(st.integers(0, n)) for n in x.shape]))
    return torch.gather, (x, draw(st.integers(-x.dim(), x.dim() - 1)), i * 0 if draw(st.booleans()) else i), {}


def index_select(draw):
    x = draw(tensors(ALL, min_dim=1, counts=(1, 2, 3)))
    i = torch.zeros(draw(pick([0, 1, 2])), dtype=draw(pick([torch.int64, torch.int32])))
    return torch.index_select, (x, draw(st.integers(-x.dim(), x.dim() - 1)), i), {}


def shaped(draw):
    x = draw(tensors(ALL))
    n = x.numel()
    sizes = [d for d in (1, 2, 3, 4, 6, 8, 12) if n and n % d == 0] or [0]
    first = draw(pick(sizes))
    second = draw(pick([d for d in sizes if first and n // first % d == 0] or [1]))
    shape = draw(pick([(first, -1), (-1, first), (first, second, -1), (n,)]))
    return draw(pick([(T.reshape, (x, *shape), {}), (torch.reshape, (x, shape), {}), (T.reshape, (x, list(shape)), {})]))


def flatten(draw):
    x = draw(tensors(ALL))
    if draw(st.booleans()) or not x.dim():
        return T.flatten, (x,), {}
    a, b = sorted(draw(st.integers(0, x.dim() - 1)) for _ in range(2))
    return torch.flatten, (x, a, b), {}


def flip(draw):
    x = draw(tensors(ALL, min_dim=1))
    return draw(pick([(T.flip, (x, dims(draw, x, False)), {}), (torch.flip, (x, [dims(draw, x, False)]), {})]))


def roll(draw):
    x = draw(tensors(ALL, min_dim=1))
    return T.roll, (x, draw(st.integers(-2, 2)), dims(draw, x, False)), {}


def repeat(draw):
    x = draw(tensors(ALL))
    times = [draw(pick([0, 1, 2])) for _ in range(x.dim() + draw(st.integers(0, 1)))]
    return draw(pick([(T.repeat, (x, *times), {}), (T.repeat, (x, tuple(times)), {})]))


def repeat_interleave(draw):
    x = draw(tensors(ALL))
    return torch.repeat_interleave, (x, draw(pick([0, 1, 2])), dims(draw, x, False)), {}


def pad(draw):
    x = draw(tensors(ALL, min_dim=1))
    n = draw(st.integers(1, x.dim()))
    return F.pad, (x, tuple(draw(pick([0, 1, 2])) for _ in range(2 * n))), draw(pick([{}, {"value": 1}]))


def where(draw):
    a = draw(tensors(ALL))
    c = draw(tensors([torch.bool], sizes=[draw(pick([n, n, 1])) for n in a.shape]))
    b = other(draw, a)
    return draw(pick([(torch.where, (c, a, b), {}), (T.where, (a, c, b), {})]))


def masked_fill(draw):
    a = draw(tensors(ALL))
    mask = draw(tensors([torch.bool], sizes=[draw(pick([n, n, 1])) for n in a.shape]))
    return torch.masked_fill, (a, mask, draw(NUMBERS)), {}


def three(draw):
    kinds = [draw(pick(FLOATS))] if draw(st.booleans()) else ALL
    a = draw(tensors(kinds))
    return draw(pick([torch.addcmul, torch.addcdiv])), (a, other(draw, a, kinds, False), other(draw, a, kinds, False)), draw(
        pick([{}, {"value": 2}, {"value": 0.5}]))


def prelu(draw):
    x = draw(tensors(FLOATS, min_dim=2))
    return F.prelu, (x, draw(tensors([x.dtype], sizes=[draw(pick([1, x.size(1)]))]))), {}


def normalized(f, bias):
    def make(draw):
        x = draw(tensors(FLOATS[:3], min_dim=1, counts=(1, 2, 3)))
        shape = x.shape[draw(st.integers(0, x.dim() - 1)):]
        w = draw(tensors([x.dtype], sizes=list(shape))) if draw(st.booleans()) else None
        args = [x, tuple(shape), w]
        if bias:
            args.append(draw(tensors([x.dtype], sizes=list(shape))) if w is not None else None)
        return f, tuple(args), {}
    return make


def group_norm(draw):
    groups, per = draw(pick([1, 2])), draw(pick([1, 2]))
    x = draw(tensors(FLOATS[:2], sizes=[draw(pick([1, 2])), groups * per] + draw(st.lists(pick([1, 2, 3]), max_size=2))))
    w = draw(tensors([x.dtype], sizes=[groups * per])) if draw(st.booleans()) else None
    return F.group_norm, (x, groups, w), {}


def batch_norm(draw):
    c = draw(pick([1, 2]))
    x = draw(tensors(FLOATS[:2], sizes=[draw(pick([1, 2, 3])), c] + draw(st.lists(pick([1, 2, 3]), max_size=2))))
    stats = [torch.zeros(c, dtype=x.dtype), torch.ones(c, dtype=x.dtype)]
    w = [draw(tensors([x.dtype], sizes=[c])), draw(tensors([x.dtype], sizes=[c]))] if draw(st.booleans()) else [None, None]
    return F.batch_norm, (x, *stats, *w), {"training": draw(st.booleans())}


def made(draw):
    sizes = draw(st.lists(pick([0, 1, 2, 3]), max_size=3))
    f = draw(pick([torch.zeros, torch.ones, torch.empty]))
    return f, draw(pick([(sizes,), tuple(sizes) or (1,)])), draw(pick([{}, {"dtype": torch.float64}, {"dtype": torch.int32}, {"dtype": torch.complex64}]))


def full(draw):
    return torch.full, (draw(st.lists(pick([0, 1, 2]), max_size=3)), draw(NUMBERS)), draw(pick([{}, {"dtype": torch.float64}]))


def arange(draw):
    return torch.arange, draw(st.one_of(st.tuples(st.integers(0, 9)), st.tuples(st.integers(-3, 3), st.integers(3, 9)), st.tuples(
        st.integers(-3, 3), st.integers(3, 9), st.integers(1, 4)), st.tuples(pick([0, -1.5, 0.0, 2]), pick([2.5, 3, 7.0, 0.1]), pick([0.5, 0.1, 1, 0.3])),
        st.tuples(pick([2.5, 3.0])))), draw(pick([{}, {"dtype": torch.float32}, {"dtype": torch.float16}]))


def like(*fns, args=((),)):
    return unary(*fns, args=args, kwargs=({}, {"dtype": torch.float64}, {"dtype": torch.int64}))


def new_zeros(draw):
    return draw(pick([T.new_zeros, T.new_ones, T.new_empty])), (draw(tensors(ALL)), draw(st.lists(pick([0, 1, 2]), max_size=3))), draw(
        pick([{}, {"dtype": torch.float64}]))


def hardtanh(draw):
    return F.hardtanh, (draw(tensors(FLOATS)), *draw(pick([(), (-2.0, 2.0)]))), {}


def dropout(draw):
    return F.dropout, (draw(tensors(FLOATS)), *draw(pick([(), (0.5,), (0.0,), (0.3, False)]))), {}


REDUCTIONS = [{}, {"reduction": "sum"}, {"reduction": "mean"}, {"reduction": "none"}]
def linspace(draw):
    number = pick([0, 1, -2, 0.5, 3.0])
    kw = draw(pick([{}, {"dtype": torch.float64}, {"dtype": torch.int64}]))
    f = draw(pick([torch.linspace, torch.logspace]))
    args = (draw(number), draw(number), draw(pick([0, 1, 5])))
    return f, args + ((2.0,) if f is torch.logspace and draw(st.booleans()) else ()), kw


def eye(draw):
    return torch.eye, draw(pick([(3,), (0,), (2, 3), (3, 1)])), draw(pick([{}, {"dtype": torch.int64}]))


def points(draw):
    kinds, lead = [draw(pick(FLOATS[:2]))], draw(pick([[], [2], [1, 2]]))
    d = draw(pick([1, 3]))
    return torch.cdist, (draw(tensors(kinds, sizes=[*lead, draw(pick([1, 2])), d])), draw(tensors(kinds, sizes=[*lead, draw(pick([1, 4])), d]))), (
        draw(pick([{}, {"p": 1.0}, {"p": 2.0, "compute_mode": "donot_use_mm_for_euclid_dist"}])))


def multinomial(draw):
    x = draw(tensors(FLOATS[:2], min_dim=1, max_dim=2, counts=(1, 2, 3)))
    return draw(pick([torch.multinomial, T.multinomial])), (x, draw(pick([1, 2]))), draw(pick([{}, {"replacement": True}]))


CALLS = {
    "larger": binary(torch.maximum, torch.minimum, torch.fmax, torch.fmin, numbers=False),
    "arith": binary(torch.add, torch.sub, torch.mul, torch.remainder, torch.fmod, operator.add, operator.mod, operator.sub, torch.rsub, T.__rsub__, T.__radd__, T.__rmul__,
                    T.__rmod__),
    "iarith": written(operator.iadd, operator.isub, operator.imul, T.add_, T.mul_),
    "angle": binary(torch.atan2, numbers=False),
    "both": binary(torch.logical_and, torch.logical_or, torch.logical_xor, numbers=False),
    "power": binary(torch.pow, operator.pow, T.__rpow__),
    "divide": binary(torch.div, operator.truediv, T.__rtruediv__, kwargs=({}, {})),
    "idivide": written(operator.itruediv, T.div_),
    "compare": binary(torch.eq, torch.lt, operator.ge, operator.ne),
    "bits": binary(torch.bitwise_and, torch.bitwise_or, operator.xor, operator.and_, T.__rand__, T.__rxor__),
    "ibits": written(operator.iand, operator.ior, operator.ixor),
    "where": where,
    "clamp": unary(torch.clamp, args=((0, 1), (0.5,), (None, 2), (0, 1.5))),
    "clamp_min": binary(torch.clamp_min),
    "clamp_max": binary(torch.clamp_max),
    "three": three,
    "masked_fill": masked_fill,
    "same": unary(torch.neg, torch.abs, torch.sign, torch.square, torch.floor, torch.round, operator.neg),
    "function": unary(torch.sin, torch.exp, torch.log, torch.sigmoid, torch.rsqrt, torch.tanh, torch.erf, torch.reciprocal, torch.lgamma),
    "test": unary(torch.isnan, torch.isinf, torch.isfinite, torch.logical_not),
    "invert": unary(torch.bitwise_not, operator.invert),
    "relu": unary(F.relu, torch.relu),
    "silu": unary(F.silu, F.mish, F.relu6, F.hardswish, F.hardsigmoid, F.selu, F.softsign, F.tanhshrink),
    "leaky_relu": unary(F.leaky_relu, args=((), (0.1,))),
    "elu": unary(F.elu, F.celu, args=((), (0.5,))),
    "gelu": unary(F.gelu, kwargs=({}, {"approximate": "tanh"})),
    "softshrink": unary(F.softshrink, F.hardshrink),
    "hardtanh": hardtanh,
    "softplus": unary(F.softplus, args=((), (2.0, 5.0))),
    "dropout": dropout,
    "prelu": prelu,
    "sum": reduce(torch.sum, kwargs=({}, {"dtype": torch.float64})),
    "mean": reduce(torch.mean, kwargs=({}, {"dtype": torch.float64})),
    "prod": reduce(torch.prod, many=False),
    "amax": reduce(torch.amax, torch.amin),
    "all": reduce(torch.all, torch.any),
    "logsumexp": reduce(torch.logsumexp, bare=False),
    "var": reduce(torch.var, torch.std, kwargs=({}, {"unbiased": False})),
    "argmax": reduce(torch.argmax, torch.argmin, many=False),
    "max": reduce(torch.max, torch.min, many=False),
    "topk": lambda draw: (torch.topk, (draw(tensors(min_dim=1)), draw(pick([0, 1, 2]))), draw(pick([{}, {"dim": 0}, {"dim": -1}]))),
    "sort": along(torch.sort, kwargs=({}, {"descending": True})),
    "argsort": along(torch.argsort),
    "cumsum": along(torch.cumsum, torch.cumprod, kwargs=({}, {"dtype": torch.float64})),
    "softmax": along(torch.softmax, F.softmax, F.log_softmax, kwargs=({}, {"dtype": torch.float64})),
    "layer_norm": normalized(F.layer_norm, True),
    "rms_norm": normalized(F.rms_norm, False),
    "group_norm": group_norm,
    "batch_norm": batch_norm,
    "mm": matrices(torch.mm, 2, 2),
    "bmm": matrices(torch.bmm, 3, 3),
    "matmul": matmul(torch.matmul, operator.matmul),
    "rmatmul": matmul(T.__rmatmul__),
    "mv": matrices(torch.mv, 2, 1),
    "addmm": added(torch.addmm, 2),
    "baddbmm": added(torch.baddbmm, 3),
    "linear": linear,
    "attention": attention,
    "einsum": einsum,
    "conv_transpose1d": conv(F.conv_transpose1d, 1, True),
    "conv_transpose2d": conv(F.conv_transpose2d, 2, True),
    "conv1d": conv(F.conv1d, 1),
    "conv2d": conv(F.conv2d, 2),
    "conv3d": conv(F.conv3d, 3),
    "max_pool2d": pool(F.max_pool2d, [1, 2, (2, 1)], ({}, {"stride": 1}, {"padding": 1}, {"ceil_mode": True})),
    "avg_pool2d": pool(F.avg_pool2d, [1, 2, (2, 1)], ({}, {"stride": 1}, {"padding": 1})),
    "adaptive_avg_pool2d": pool(F.adaptive_avg_pool2d, [1, 2, (1, 3)]),
    "max_pool1d": pooled(F.max_pool1d, 1, [1, 2, (3,)], ({}, {"stride": 1}, {"padding": 1}, {"ceil_mode": True})),
    "max_pool3d": pooled(F.max_pool3d, 3, [1, 2, (2, 1, 1)], ({}, {"stride": 1}, {"padding": 1}, {"dilation": 2})),
    "avg_pool1d": pooled(F.avg_pool1d, 1, [1, 2, (3,)], ({}, {"stride": 1}, {"padding": 1}, {"ceil_mode": True})),
    "avg_pool3d": pooled(F.avg_pool3d, 3, [1, 2, (2, 1, 1)], ({}, {"stride": 1})),
    "adaptive_avg_pool1d": pooled(F.adaptive_avg_pool1d, 1, [1, 2, (3,)]),
    "lstm": recurrent(torch.lstm, 4, 2),
    "rnn": lambda draw: recurrent(*draw(pick([(torch.gru, 3, 1), (torch.rnn_tanh, 1, 1), (torch.rnn_relu, 1, 1)])))(draw),
    "lstm_cell": cell(torch.lstm_cell, 4, 2),
    "cell": lambda draw: cell(*draw(pick([(torch.gru_cell, 3, 1), (torch.rnn_tanh_cell, 1, 1), (torch.rnn_relu_cell, 1, 1)])))(draw),
    "attention_layer": attention_layer,
    "interpolate": interpolate,
    "pixel_shuffle": pixel_shuffle,
    "glu": glu,
    "log_sigmoid": unary(F.logsigmoid, dtypes=FLOATS),
    "local_response_norm": pooled(F.local_response_norm, 2, [1, 2]),
    "feature_dropout": pooled(F.dropout2d, 2, [0.0, 0.5, 1.0], ({}, {"training": False})),
    "l1_loss": lambda draw: paired_loss(draw(pick([F.l1_loss, F.smooth_l1_loss])), REDUCTIONS)(draw),
    "huber_loss": paired_loss(F.huber_loss, [*REDUCTIONS, {"delta": 0.5}]),
    "binary_cross_entropy": paired_loss(F.binary_cross_entropy, REDUCTIONS, "weight"),
    "with_logits": lambda draw: paired_loss(F.binary_cross_entropy_with_logits, REDUCTIONS, draw(pick(["weight", "pos_weight"])))(draw),
    "kl_div": paired_loss(F.kl_div, [*REDUCTIONS, {"reduction": "batchmean"}, {"log_target": True, "reduction": "sum"}]),
    "nll_loss": nll_loss,
    "vector_norm": norm(torch.linalg.vector_norm, "ord"),
    "norm": lambda draw: norm(draw(pick([torch.norm, T.norm])), "p")(draw),
    "normalize": one_dim(F.normalize, 1),
    "cosine_similarity": one_dim(F.cosine_similarity, 2),
    "outer": outer,
    "one_hot": lambda draw: (F.one_hot, (torch.zeros(draw(st.lists(pick([0, 1, 2]), max_size=3)), dtype=torch.int64), draw(pick([1, 3, -1]))), {}),
    "scatter": scatter,
    "embedding": embedding,
    "cross_entropy": cross_entropy,
    "mse_loss": mse_loss,
    "cat": joined(torch.cat),
    "stack": joined(torch.stack),
    "getitem": getitem,
    "setitem": setitem,
    "index_write": index_write,
    "repeat_interleave": repeat_interleave,
    "contiguous": unary(T.contiguous),
    "clone": unary(T.clone, torch.clone),
    "reshape": shaped,
    "flatten": flatten,
    "gather": gather,
    "index_select": index_select,
    "tril": unary(torch.tril, torch.triu, args=((), (1,))),
    "flip": flip,
    "roll": roll,
    "repeat": repeat,
    "pad": pad,
    "zeros": made,
    "full": full,
    "arange": arange,
    "linspace": linspace,
    "eye": eye,
    "multinomial": multinomial,
    "drawn": unary(torch._sample_dirichlet, torch._standard_gamma, torch.poisson, dtypes=FLOATS[:2]),
    "cdist": points,
    "rrelu": unary(F.rrelu, dtypes=FLOATS[:2], kwargs=({}, {"training": True}, {"lower": 0.1, "upper": 0.3})),
    "gumbel_softmax": unary(F.gumbel_softmax, dtypes=FLOATS[:2], kwargs=({}, {"hard": True}, {"dim": 0}, {"tau": 2})),
    "like": like(torch.zeros_like, torch.ones_like, torch.empty_like),
    "full_like": like(torch.full_like, args=((2,), (1.5,))),
    "new_zeros": new_zeros,
}


def test_each_rule_is_drawn(engine):
    assert set(CALLS) == set(engine.torch_rules())


@pytest.mark.parametrize("rule", CALLS)
def test_rule(engine, rule):
    before = engine.torch_by_rule()

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def run(data):
        f, args, kwargs = CALLS[rule](data.draw)
        what = compare(engine, f, args, kwargs)
        # What inference or eager alone refuses is no wrong answer: the operation then runs, or raises, in its place.
        assert what in (None, "declined") or what.startswith(("eager raises", "inference raises")), (what, f, [
            (t.shape, t.stride(), t.dtype) if isinstance(t, T) else t for t in args], kwargs)

    run()
    assert engine.torch_by_rule() > before, "the rule never answered"


@pytest.mark.parametrize("rule", CALLS)
def test_rule_under_autocast(engine, rule):
    """What autocast casts is cast, and nothing else is; without FakeTensorMode where the rule answers."""
    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data(), dtype=pick([torch.bfloat16, torch.float16]))
    def run(data, dtype):
        f, args, kwargs = CALLS[rule](data.draw)
        with torch.autocast("cpu", dtype=dtype):
            before = engine.torch_by_rule()
            what = compare(engine, f, args, kwargs)
            if engine.torch_by_rule() == before:
                return
        assert what in (None, "declined") or what.startswith(("eager raises", "inference raises")), (what, f, dtype, [
            (t.shape, t.stride(), t.dtype) if isinstance(t, T) else t for t in args], kwargs)

    run()


def test_autocast_needs_no_fakes():
    """The layers of a transformer and a small network of convolutions, on a first call."""
    code = """if True:
        import sys, torch, jedlik
        from torch import nn
        nets = [(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0), torch.randn(2, 5, 16)),
                (nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 5), nn.Softmax(-1)), torch.randn(2, 3, 8, 8))]
        for net, x in nets:
            def f(x):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return net(x)
            a, b = f(x), jedlik.compile(f, backend="eager")(x)
            assert a.dtype == b.dtype and torch.equal(a, b)
        assert "torch._dynamo" not in sys.modules and "sympy" not in sys.modules, jedlik.stats()
    """
    import subprocess
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, r.stderr[-2000:]
