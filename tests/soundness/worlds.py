"""Small worlds to compile something in: each section is a module of its own, executed anew for each run (see changes.py).

A section gives `fn`, what is compiled, a function or a module, and `args(k)`, fresh arguments for the k-th call: a tuple, or a
tuple and a dictionary. Its globals are the state that is compared. What stands above the first section belongs to all of them.
"""
# ruff: noqa: F811
import collections
import contextlib
import dataclasses
import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, parametrize

torch.manual_seed(0)


def T(*shape, at=0, grad=False):
    """Different small numbers, some of them negative."""
    n = math.prod(shape)
    return ((torch.arange(n) * 7 + at) % 11 - 4).div(4).float().reshape(shape).requires_grad_(grad)


def x23(k):
    return (T(2, 3, at=k),)


# -- linear ------------------------------------------------------------------------

fn = nn.Linear(3, 2)
args = x23

# -- linear_function ------------------------------------------------------------------------

net = nn.Linear(3, 2)


def fn(x):
    return net(x) * 2


args = x23

# -- mlp ------------------------------------------------------------------------

fn = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4), nn.Dropout(0.5), nn.Linear(4, 2))
args = x23

# -- conv ------------------------------------------------------------------------

fn = nn.Sequential(collections.OrderedDict(c=nn.Conv2d(2, 3, 3, padding=1), b=nn.BatchNorm2d(3), a=nn.ReLU(inplace=True), p=nn.MaxPool2d(2)))


def args(k):
    return (T(2, 2, 4, 4, at=k),)


# -- norms ------------------------------------------------------------------------


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = nn.BatchNorm1d(3, momentum=0.3)
        self.i = nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
        self.g = nn.GroupNorm(1, 2)

    def forward(self, x):
        return self.b(x), self.i(x[None]), self.g(x.T.contiguous()[:, :2] if x.shape[0] > 3 else x[None])


fn = Norms()
args = x23

# -- embedding ------------------------------------------------------------------------


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(5, 3, padding_idx=0)
        self.out = nn.Linear(3, 5, bias=False)
        self.out.weight = self.e.weight
        self.bag = nn.EmbeddingBag(5, 3, mode="sum")

    def forward(self, i, scale=1.0):
        return self.out(self.e(i)) * scale, self.bag(i)


fn = Words()


def args(k):
    return (torch.tensor([[0, 1], [k % 5, 4]]),), {"scale": 0.5}


# -- lstm ------------------------------------------------------------------------

net = nn.LSTM(3, 2, batch_first=True)


def fn(x, state=None):
    y, (h, c) = net(x, state)
    return y[:, -1], h, c


def args(k):
    return T(2, 2, 3, at=k), (T(1, 2, 2), T(1, 2, 2, at=3))


# -- cells ------------------------------------------------------------------------


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.lstm = nn.GRUCell(3, 2), nn.LSTMCell(2, 2)
        self.steps = 2

    def forward(self, x):
        h, s = None, None
        for _ in range(self.steps):
            h = self.gru(x, h)
            s = self.lstm(h, s)
        return s


fn = Cells()
args = x23

# -- attention ------------------------------------------------------------------------

net = nn.MultiheadAttention(4, 2, batch_first=True)


def fn(x, mask=None, need_weights=True):
    return net(x, x, x, attn_mask=mask, need_weights=need_weights)


def args(k):
    return (T(1, 3, 4, at=k),), {"mask": torch.tensor([[0, 1, 1], [0, 0, 1], [0, 0, 0]]).bool()}


# -- transformer ------------------------------------------------------------------------

fn = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.1, batch_first=True)


def args(k):
    return (T(1, 3, 4, at=k),)


# -- module_list ------------------------------------------------------------------------


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))
        self.heads = nn.ModuleDict({"a": nn.Linear(3, 1), "b": nn.Identity()})
        self.scales = nn.ParameterList([torch.ones(3), torch.full((3,), 2.0)])
        self.bias = nn.ParameterDict({"a": torch.zeros(1), "b": torch.ones(3)})

    def forward(self, x, skip=()):
        for i, layer in enumerate(self.layers):
            if i not in skip:
                x = x + layer(x) * self.scales[i % len(self.scales)]
        return {k: head(x) + self.bias[k] for k, head in self.heads.items()}


fn = Stack()
args = x23

# -- parametrized ------------------------------------------------------------------------


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).T


net = nn.Linear(3, 3)
parametrize.register_parametrization(net, "weight", Symmetric())


def fn(x):
    return net(x), net.weight.sum()


args = x23

# -- weight_norm ------------------------------------------------------------------------

fn = nn.Sequential(parametrizations.weight_norm(nn.Linear(3, 4)), nn.Tanh(), torch.nn.utils.weight_norm(nn.Linear(4, 2)))
args = x23

# -- spectral_norm ------------------------------------------------------------------------

fn = parametrizations.spectral_norm(nn.Linear(3, 2))
args = x23

# -- hooks ------------------------------------------------------------------------


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x, extra=None):
        y = self.lin(x)
        return y if extra is None else y + extra


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x, extra=1.0) * 2


fn, log = Outer(), []
fn.inner.register_forward_pre_hook(lambda m, a: log.append("pre"))
fn.inner.register_forward_hook(lambda m, a, out: out + 1)
fn.inner.register_forward_pre_hook(lambda m, a, kw: (a, {"extra": kw["extra"] * 3}), with_kwargs=True)
fn.inner.lin.register_forward_hook(lambda m, a, kw, out: log.append(len(kw)), with_kwargs=True, always_call=True)
fn.register_full_backward_hook(lambda m, gi, go: log.append(("back", go[0].sum().item())))
fn.inner.lin.weight.register_hook(lambda g: g * 2)
args = x23

# -- counters ------------------------------------------------------------------------


class Counting(nn.Module):
    total = 0

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))
        self.register_buffer("mean", torch.zeros(3), persistent=False)
        self.calls, self.history = 0, []
        self.limit = 3

    def forward(self, x):
        self.calls += 1
        Counting.total += x.shape[0]
        self.seen += 1
        self.mean.mul_(0.5).add_(x.mean(0), alpha=0.5)
        self.history.append(self.calls)
        if self.calls > self.limit:
            return x - self.mean
        return x - self.mean.detach() * self.seen


fn = Counting()
args = x23

# -- buffers ------------------------------------------------------------------------


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("k", None)
        self.register_buffer("mask", torch.ones(3, 3).tril().bool())

    def forward(self, x):
        self.k = x if self.k is None else torch.cat([self.k, x])[-4:]
        return (self.k @ x.T).masked_fill(~self.mask[:1, : x.shape[0]], 0.0)


fn = Cache()
args = x23

# -- tied ------------------------------------------------------------------------


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3, bias=False)
        self.b = nn.Linear(3, 3, bias=False)
        self.b.weight = self.a.weight
        self.view = self.a.weight.detach()[0]

    def forward(self, x):
        same = self.a.weight is self.b.weight
        with torch.no_grad():
            self.view.add_(0.25)
        return self.b(self.a(x)) + (1 if same else -1)


fn = Tied()
args = x23

# -- swapped ------------------------------------------------------------------------


class Switch(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())

    def forward(self, x):
        y = self.one(x)
        self.one, self.two = self.two, self.one
        return self.one(y)


fn = Switch()
args = x23

# -- nested ------------------------------------------------------------------------


def fn(batch, *rest, flag=False, **more):
    out = {}
    for name, value in batch.items():
        if isinstance(value, (list, tuple)):
            out[name] = type(value)(v * (2 if flag else 3) for v in value)
        elif value is None:
            out[name] = None
        else:
            out[name] = value + len(rest)
    return out, [r.sum() for r in rest], {k: v.mean() for k, v in more.items()}


def args(k):
    return ({"a": T(2, at=k), "b": [T(3), T(2)], "c": (T(1), T(1)), "d": None}, T(2), T(3)), {"flag": True, "z": T(2), "y": T(4)}


# -- dataclass ------------------------------------------------------------------------


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    scale: float = 2.0
    names: list = dataclasses.field(default_factory=list)
    mask: object = None

    def total(self):
        return self.x.sum() * self.scale


def fn(b):
    y = b.x * b.scale
    if b.mask is not None:
        y = y[b.mask]
    b.names.append(len(b.names))
    return dataclasses.replace(b, x=y), b.total()


def args(k):
    return (Batch(T(2, 3, at=k), names=["a"] * (k % 2), mask=T(2, 3, at=1) > 0 if k > 1 else None),)


# -- closure ------------------------------------------------------------------------


def make():
    weight, count, scale = T(3, 3, grad=True), 0, 2.0

    def run(x):
        nonlocal count
        count += 1
        return x @ weight * scale + count
    return run


fn = make()
args = x23

# -- globals ------------------------------------------------------------------------

WEIGHT, BIAS, SCALE, TABLE = T(3, 3, grad=True), T(3), 2, {"n": 1, "on": True}


def helper(x, k=2, *, plus=1):
    return F.relu(x) * k + plus


def fn(x):
    global BIAS
    BIAS = BIAS + 1
    TABLE["n"] += 1
    y = helper(x @ WEIGHT + BIAS)
    return y * SCALE if TABLE["on"] else -y


args = x23

# -- training_step ------------------------------------------------------------------------

net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


def fn(x, y):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    return loss.detach(), [g["lr"] for g in opt.param_groups]


def args(k):
    return T(4, 3, at=k), T(4, 1)


# -- adam_step ------------------------------------------------------------------------

net = nn.Linear(3, 2)
opt = torch.optim.AdamW(net.parameters(), lr=0.1)


def fn():
    opt.step()
    return net.weight.norm()


def args(k):
    for p in net.parameters():
        p.grad = torch.full_like(p, 0.1 * (k + 1))
    return ()


# -- gradients ------------------------------------------------------------------------

w = T(3, 3, grad=True)


def fn(x):
    had = w.grad is not None
    y = (x @ w).pow(2).sum()
    g, = torch.autograd.grad(y, w, retain_graph=True)
    if had:
        w.grad.mul_(0.5)
    y.backward()
    return had, g, w.grad.clone(), w.is_leaf, x.requires_grad, y.grad_fn is None


args = x23

# -- grad_modes ------------------------------------------------------------------------

w = T(3, 3, grad=True)


def fn(x):
    a = x @ w
    with torch.no_grad():
        b = a * 2
        on = torch.is_grad_enabled()
    with torch.enable_grad():
        c = x @ w + b
    with torch.inference_mode():
        d = w * 2
    return a, b, c, d.is_inference(), on, torch.is_grad_enabled(), a.requires_grad


args = x23

# -- autocast ------------------------------------------------------------------------

net = nn.Linear(3, 3)


def fn(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = net(x)
        with torch.autocast("cpu", enabled=False):
            z = net(x)
    return y, z, y.dtype, torch.is_autocast_enabled("cpu"), x + 1


args = x23

# -- in_place ------------------------------------------------------------------------


def fn(x, y):
    v = x[0]
    v += 1
    y.mul_(2)
    x[1] = y[0]
    torch.add(x, 1, out=y)
    x.clamp_(max=2)
    return v, x.sum(), y._version


def args(k):
    return T(2, 3, at=k), T(2, 3, at=1)


# -- views ------------------------------------------------------------------------


def fn(x):
    a = x.view(-1)
    b = x.reshape(3, -1)
    c = x.t() if x.is_contiguous() else x.flatten()
    d = x.expand(2, *x.shape)
    e = x.unsqueeze(0).squeeze(0)
    f = x.detach()
    f.add_(1)
    return a, b, c, d, e, e is x, x.stride(), b.is_contiguous(), x.storage_offset(), x.data.sum()


args = x23

# -- strides ------------------------------------------------------------------------


def fn(x, y):
    z = x + y
    if x.stride() == y.stride():
        z = z * 2
    w = torch.empty_like(x).fill_(1)
    return z, w, x.contiguous(), x.to(memory_format=torch.contiguous_format) is x, x.is_contiguous(memory_format=torch.channels_last), x.clone()


def args(k):
    return T(1, 2, 3, 3, at=k), T(1, 2, 3, 3)


# -- identity ------------------------------------------------------------------------


def fn(x, y, boxes):
    out = x * 2
    if x is y:
        out = out + 1
    if boxes[0] is boxes[1]:
        out = out + 10
    if boxes[0] is x:
        out = out + 100
    boxes[0].add_(1)
    return out, y + boxes[1]


def args(k):
    return T(2, 3, at=k), T(2, 3, at=1), [T(2, 3, at=2), T(2, 3, at=3)]


# -- attributes_written ------------------------------------------------------------------------


class Box:
    def __init__(self, t, n):
        self.t, self.n = t, n


def fn(a, b, x):
    a.n = b.n + 1
    a.t = b.t + x
    b.n *= 2
    return x * b.n + a.n, a.t, b.t is a.t


def args(k):
    return Box(T(3, at=k), 1 + k), Box(T(3, at=1), 2), T(3)


# -- promotion ------------------------------------------------------------------------


def fn(x, n, s):
    return x + n, x * s, n * 2, torch.tensor(n), x.new_full((2,), n), torch.where(x > 0, x, n), x ** 2, torch.full((2,), n), x // 2


def args(k):
    return T(3, at=k), 2, 1.5


# -- numbers ------------------------------------------------------------------------


def fn(x, n, s=0.5, flag=True, name="a"):
    y = x * n + s
    if n > 3:
        y = y - 1
    if flag:
        y = y * 2
    return y, n + 1, name + "b", n == 1, bool(n), [n] * 2, s / 2


def args(k):
    return T(3, at=k), 1 + k


# -- sizes ------------------------------------------------------------------------


def fn(x, n):
    return x.view(n, -1), x[:n], x.sum(n - 1 if n > 1 else 0), torch.zeros(n), x.repeat(1, n), x.roll(n), x.shape[0] * n, list(x.split(n))


def args(k):
    return T(4, 3, at=k), 2


# -- random ------------------------------------------------------------------------

g = torch.Generator()
g.manual_seed(3)


def fn(x):
    a = torch.rand(3)
    torch.manual_seed(7)
    b = torch.randn_like(x) + F.dropout(x, 0.5)
    c = torch.randint(0, 5, (2,), generator=g)
    with torch.random.fork_rng(devices=[]):
        d = torch.rand(1)
    return a, b, c, d, torch.randperm(3), torch.initial_seed()


args = x23

# -- masks ------------------------------------------------------------------------


def fn(x, mask, index):
    y = x.clone()
    y[mask] = 0
    y.index_put_((index,), torch.ones(3), accumulate=True)
    z = x.scatter(0, index[:, None].expand(-1, 3), 5.0)
    return torch.where(mask, x, -x), y, z, x[index], x.masked_select(mask), x.gather(0, index[:, None]), x[mask].sum()


def args(k):
    return T(2, 3, at=k), T(2, 3, at=k) > 0, torch.tensor([1, 0])


# -- functional_call ------------------------------------------------------------------------

net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))


def fn(params, x):
    return torch.func.functional_call(net, params, (x,)), net[0].weight.sum()


def args(k):
    return {"0.weight": T(2, 3, at=k), "1.running_mean": T(2)}, T(4, 3, at=k)


# -- state_dicts ------------------------------------------------------------------------

net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))


def fn(x):
    state = net.state_dict()
    y = net(x)
    return y, list(state), sum(p.numel() for p in net.parameters()), [n for n, _ in net.named_modules()], [b.shape for b in net.buffers()]


args = x23

# -- scalars_of_tensors ------------------------------------------------------------------------


def fn(x, t):
    n = t.item()
    y = x * n
    if t > 1:
        y = y + t
    return y, n, int(t), x[int(t) % 2], float(t), t.dtype, bool(t)


def args(k):
    return T(3, 3, at=k), torch.tensor(1.0 + k % 3)


# -- monkeypatched ------------------------------------------------------------------------


def outer(scale):
    def inner(x, k=2):
        return x * k + scale
    return inner


step = outer(3.0)


class Base(nn.Module):
    factor = 2

    def part(self, x):
        return x + 1

    @property
    def rate(self):
        return self.factor * 2

    @staticmethod
    def fixed(x):
        return x - 1

    @classmethod
    def named(cls, x):
        return x * cls.factor

    def forward(self, x):
        return self.named(self.fixed(self.part(F.relu(x)))) * self.rate + step(x)


class Net(Base):
    def part(self, x):
        return super().part(x) * 2


fn = Net()
args = x23

# -- plain_objects ------------------------------------------------------------------------


class Slotted:
    __slots__ = ("w", "n")

    def __init__(self):
        self.w, self.n = T(3), 2


class Config(dict):
    __getattr__ = dict.__getitem__


class Options:
    width, act = 3, staticmethod(torch.tanh)

    def __getattr__(self, name):
        if name.startswith("no_"):
            return False
        raise AttributeError(name)


s, c, o = Slotted(), Config(k=2, t=T(3)), Options()


def fn(x):
    y = o.act(x * s.w) * s.n + c.t * c.k
    if o.no_bias:
        y = y - 1
    if hasattr(o, "shift"):
        y = y + o.shift
    return y[..., :o.width], getattr(s, "missing", None), "t" in c, len(c)


args = x23

# -- containers ------------------------------------------------------------------------

items, table, names, order = [1, 2, 3], {"a": 1.0, "b": 2.0}, {"x", "y"}, collections.OrderedDict(p=T(3), q=T(3, at=1))
queue, frozen = collections.deque([T(3)], maxlen=2), (1, [2, T(3)])


def fn(x):
    for i in items:
        x = x + i
    for k, v in table.items():
        x = x * v if k in ("a", "c") else x - v
    queue.append(x.mean())
    return x, sorted(names), torch.stack(list(order.values())), list(order), len(queue), frozen[1][1] * frozen[0], max(items), sum(table.values())


args = x23

# -- tensor_attributes ------------------------------------------------------------------------

p = nn.Parameter(T(3))
p.tag, p.scales = 2, [1, 2]


def fn(x):
    x.seen = p.tag
    return x * p.tag + len(p.scales), isinstance(p, nn.Parameter), type(p), hasattr(p, "extra"), p.requires_grad, x.names if hasattr(x,
                                                                                                                                     "zz") else None


args = x23

# -- data ------------------------------------------------------------------------

net = nn.Linear(3, 3)


def fn(x):
    net.weight.data = net.weight.data * 0.5
    net.bias.data.add_(1)
    y = x.data
    y[0] = 1
    return net(x), x.is_leaf, net.weight._version, net.weight.data.requires_grad


args = x23

# -- errors ------------------------------------------------------------------------

log = []


def fn(x, y):
    log.append("begin")
    try:
        z = x @ y
    except RuntimeError as e:
        log.append("caught")
        return type(e).__name__, x + 1
    finally:
        log.append("end")
    assert x.shape[0] < 4, "long"
    if x.dtype == torch.float64:
        raise ValueError(x.dtype)
    return z


def args(k):
    return T(2, 3, at=k), T(3, 2)


# -- loops ------------------------------------------------------------------------


def fn(xs, k=2):
    total = 0
    for i, x in enumerate(reversed(xs)):
        if i == k:
            break
        total = total + x * i
    else:
        total = total - 1
    return total, [x.shape for x in xs], xs[-1], xs[:k]


def args(k):
    return ([T(3, at=i + k) for i in range(3)],)


# -- caches ------------------------------------------------------------------------


@functools.lru_cache
def mask_of(n, dtype=torch.float32):
    return torch.ones(n, n, dtype=dtype).tril()


class Lazy(nn.Module):
    @functools.cached_property
    def table(self):
        return torch.arange(3.0) + self.offset

    def __init__(self):
        super().__init__()
        self.offset, self.act = 1.0, functools.partial(F.leaky_relu, negative_slope=0.2)

    def forward(self, x):
        return self.act(x) + self.table, mask_of(x.shape[-1], x.dtype)


fn = Lazy()
args = x23

# -- contexts ------------------------------------------------------------------------

active = []


@contextlib.contextmanager
def using(name):
    active.append(name)
    try:
        yield len(active)
    finally:
        active.pop()


def fn(x):
    with using("a") as n, torch.no_grad():
        y = x * n
    return y, len(active), x.requires_grad, torch.get_default_dtype(), torch.ones(2) * 1.0, torch.tensor(1.5).dtype, torch.get_num_threads()


args = x23

# -- generators ------------------------------------------------------------------------


def parts(x, n):
    for i in range(n):
        got = yield x + i
        if got:
            x = x * got


count = 2


def fn(x):
    g = parts(x, count)
    first = next(g)
    return first, list(g), [a.sum() for a in x], dict(zip("ab", x)), sum(v for v in x.unbind(1))


args = x23

# -- complex ------------------------------------------------------------------------


def fn(x, z):
    return z.real + x, torch.view_as_real(z.resolve_conj()), z.conj().imag, z.abs(), torch.is_complex(z), z.is_conj(), x * 1j, (-x).is_neg()


def args(k):
    return T(3, at=k), torch.complex(T(3, at=k), T(3))


# -- arrays ------------------------------------------------------------------------

scale, table = np.float32(1.5), np.arange(3)


def fn(x, a):
    return x * float(scale) + torch.from_numpy(a), x.shape[0] * a.shape[0], torch.tensor(table.tolist())


def args(k):
    return T(2, 3, at=k), np.arange(3.0)


# -- custom_function ------------------------------------------------------------------------


class Twice(torch.autograd.Function):
    factor = 2

    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * Twice.factor * k

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * ctx.k * Twice.factor + x * 0, None


def fn(x):
    return Twice.apply(x, 3), Twice.apply(x.detach(), 2)


args = x23

# -- subclasses ------------------------------------------------------------------------


class Marked(torch.Tensor):
    bonus = 1

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        out = super().__torch_function__(func, types, args, kwargs or {})
        return out + cls.bonus if func is torch.Tensor.mul and isinstance(out, torch.Tensor) else out


def fn(x, y):
    return x * 2, y * 2, type(y * 2), (x + y).sum(), isinstance(y, Marked)


def args(k):
    return T(3, at=k), T(3).as_subclass(Marked)


# -- training_flags ------------------------------------------------------------------------


class Flags(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.drop = nn.Linear(3, 3), nn.Dropout(0.3)
        self.use_drop, self.rate, self.kind, self.norm = True, 0.5, "relu", None

    def forward(self, x):
        y = self.lin(x)
        if self.use_drop and self.training:
            y = self.drop(y)
        y = getattr(F, self.kind)(y) * self.rate
        return self.norm(y) if self.norm is not None else y


fn = Flags()
args = x23

# -- rotary ------------------------------------------------------------------------


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("freq", 1.0 / (10 ** (torch.arange(0, 4, 2).float() / 4)))
        self.cos = None
        self.length = 0

    def forward(self, x, start=0):
        n = x.shape[1]
        if start + n > self.length:
            self.length = start + n
            t = torch.arange(self.length, dtype=self.freq.dtype)
            self.cos = torch.outer(t, self.freq).cos()
        return x * self.cos[start:start + n].repeat(1, 2)


fn = Rotary()


def args(k):
    return (T(1, 2 + k % 2, 4, at=k),), {"start": k % 2}


# -- bound_method ------------------------------------------------------------------------


class Runner:
    def __init__(self):
        self.net, self.steps = nn.Linear(3, 3), 0

    def run(self, x, *, repeat=2):
        for _ in range(repeat):
            x = self.net(x)
            self.steps += 1
        return x


r = Runner()
fn = r.run
args = x23
