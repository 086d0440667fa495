"""Modules and hooks."""
import torch
from torch import nn
from torch.nn.utils import parametrize
from kit import T, program

torch.manual_seed(0)
LOG = []


def x23():
    return T(2, 3)


def x43():
    return T(4, 3, at=-2)


def grad():
    return T(2, 3, grad=True)


class Block(nn.Module):
    scale = 2

    def __init__(self, n=3, m=3):
        super().__init__()
        self.lin = nn.Linear(n, m)
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.register_buffer("hidden", torch.ones(m), persistent=False)
        self.log = []
        self.count = 0

    def forward(self, x, extra=None):
        self.count += 1
        self.calls += 1
        y = self.lin(x) * self.scale + self.hidden
        if extra is not None:
            y = y + extra
        return torch.tanh(y) if self.training else y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.heads = nn.ModuleDict({"a": nn.Linear(3, 2), "b": nn.Identity()})
        self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))
        self.params = nn.ParameterList([nn.Parameter(torch.ones(3)), nn.Parameter(torch.zeros(3))])
        self.table = nn.ParameterDict({"w": nn.Parameter(torch.full((3,), 0.5))})

    def forward(self, x, head="a"):
        for k, block in enumerate(self.blocks):
            x = block(x) + self.params[k]
        x = self.body(x) * self.table["w"]
        return self.heads[head](x)


NET = Net()
BLOCK = Block()
DROP = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1d(3))


def grads(module):
    out = [None if p.grad is None else p.grad.clone() for p in module.parameters()]
    module.zero_grad()
    return out


@program(x23, x43)
def containers(x):
    a, b = NET(x), NET(x, head="b")
    names = [n for n, _ in NET.named_children()], len(NET.blocks), "a" in NET.heads, list(NET.heads), NET.blocks[-1] is NET.blocks[1], len(NET.body[:2])
    return a, b, names, [n for n, p in NET.blocks[0].named_parameters()], NET.blocks[0].count, [type(m).__name__ for m in NET.body], sum(p.numel() for p in NET.parameters())


@program(x23, grad)
def gradients(x):
    y = NET(x).sum()
    y.backward()
    g = grads(NET)
    z = BLOCK(x, extra=x.sum())
    (z * z).mean().backward()
    return y, g, grads(BLOCK), x.grad


@program(x23, x43)
def train_and_eval(x):
    DROP.eval()
    a = DROP(x)
    DROP.train()
    b = DROP(x)
    mean = DROP[2].running_mean.clone()
    DROP[1].eval()
    c = DROP(x)
    flags = [m.training for m in DROP.modules()]
    DROP.train(len(LOG) % 2 == 0)
    LOG.append(DROP.training)
    d = DROP(x)
    return a, b, c, d, mean, flags, DROP[2].num_batches_tracked


@program(x23)
def forward_hooks(x):
    m, seen = Block(), []

    def pre(mod, args):
        seen.append(("pre", len(args)))
        return (args[0] + 1,)

    def post(mod, args, out):
        seen.append(("post", mod is m, out.shape[0]))
        return out * 2

    def with_kwargs(mod, args, kwargs):
        seen.append(sorted(kwargs))
        return args, {"extra": 1.0}
    h1, h2 = m.register_forward_pre_hook(pre), m.register_forward_hook(post)
    h3 = m.register_forward_pre_hook(with_kwargs, with_kwargs=True)
    a = m(x, extra=5)
    h1.remove()
    b = m(x)
    h2.remove(), h3.remove()
    return a - m(x), b, seen, m.count


HOOKED = Block()
HOOKS = []


@program(x23)
def hooks_come_and_go(x):
    a = HOOKED(x)
    if len(HOOKS) < 2:
        HOOKS.append(HOOKED.register_forward_hook(lambda m, i, o: LOG.append("hook") or o + len(HOOKS)))
    else:
        HOOKS.pop(0).remove()
    b = HOOKED(x)
    return a, b, len(HOOKED._forward_hooks)


@program(grad)
def backward_hooks(x):
    m, seen = nn.Linear(3, 2), []
    with torch.no_grad():
        m.weight.fill_(0.5), m.bias.zero_()
    m.register_full_backward_hook(lambda mod, gi, go: seen.append(("full", gi[0].sum().item(), go[0].shape[0])))
    m.weight.register_hook(lambda g: g * 10)
    y = m(x)
    y.register_hook(lambda g: seen.append(("out", g.sum().item())))
    y.sum().backward()
    return y, m.weight.grad, x.grad, seen


class Raising(nn.Module):
    def forward(self, x):
        self.before = x + 1
        raise ValueError("in forward")


@program(x23)
def hooks_and_exceptions(x):
    def refuse(mod, args):
        seen.append("pre")
        if len(seen) > 3:
            raise KeyError("refused")
    m, seen = Raising(), []
    m.register_forward_pre_hook(refuse)
    m.register_forward_hook(lambda mod, i, o: seen.append("never"))
    for _ in range(3):
        try:
            m(x + len(seen))
        except (ValueError, KeyError) as e:
            seen.append(str(e))
    return m.before * 2, seen


SHARED = nn.Linear(3, 3)


class Tied(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.a = first
        self.b = nn.Linear(3, 3)
        self.b.weight = self.a.weight
        self.again = self.a

    def forward(self, x):
        return self.again(self.b(self.a(x)))


TIED = Tied(SHARED)


@program(x23, x43)
def shared_weights(x):
    y = TIED(x)
    y.sum().backward()
    g = grads(TIED)
    with torch.no_grad():
        SHARED.weight.mul_(0.9)
        TIED.b.bias += 1
    return y, TIED(x), g, TIED.b.weight is SHARED.weight, len(list(TIED.parameters())), len(list(TIED.modules()))


class Late(nn.Module):
    """Makes its parts on the first call."""

    def __init__(self):
        super().__init__()
        self.inner = None
        self.cache = {}

    def forward(self, x):
        if self.inner is None:
            self.inner = nn.Linear(x.shape[-1], 2)
            nn.init.constant_(self.inner.weight, 0.25)
            nn.init.zeros_(self.inner.bias)
        if x.shape[0] not in self.cache:
            self.cache[x.shape[0]] = torch.ones(x.shape[0], 1) * len(self.cache)
            self.register_buffer(f"seen_{x.shape[0]}", x.detach().clone())
        return self.inner(x) + self.cache[x.shape[0]]


LATE = Late()


@program(x23, x43)
def made_on_the_first_call(x):
    y = LATE(x)
    z = LATE(x + 1)
    return y, z, list(LATE._buffers), [n for n, _ in LATE.named_parameters()], sorted(LATE.cache)


@program(x23)
def attributes_change(x):
    a = BLOCK(x)
    BLOCK.scale = 5
    b = BLOCK(x)
    del BLOCK.scale
    BLOCK.lin, kept = nn.Identity(), BLOCK.lin
    c = BLOCK(x)
    BLOCK.lin = kept
    BLOCK.hidden = BLOCK.hidden + 1
    kept.bias.data = kept.bias.data * 2
    kept.weight = nn.Parameter(torch.ones(3, 3) * BLOCK.count)
    return a, b, c, BLOCK(x), "scale" in vars(BLOCK), "lin" in BLOCK._modules, BLOCK.lin is kept


class Double(nn.Module):
    def forward(self, w):
        LOG.append("double")
        return w * 2


@program(x23)
def parametrized(x):
    m = nn.Linear(3, 3, bias=False)
    with torch.no_grad():
        m.weight.copy_(torch.eye(3))
    parametrize.register_parametrization(m, "weight", Double())
    y = m(x)
    with parametrize.cached():
        z = m(x) + m(x)
    y.sum().backward()
    return y, z, m.parametrizations.weight.original.grad, parametrize.is_parametrized(m), type(m).__name__


PARAMETRIZED = nn.Linear(3, 2, bias=False)
parametrize.register_parametrization(PARAMETRIZED, "weight", Double())
NORMED = torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))


@program(x23, x43)
def parametrized_before(x):
    y = PARAMETRIZED(x) + NORMED(x)
    y.mean().backward()
    return y, grads(PARAMETRIZED), grads(NORMED), PARAMETRIZED.weight


@program(x23, grad)
def functional_call(x):
    m = BLOCK
    params = {n: p.detach() * 0.5 for n, p in m.named_parameters()}
    y = torch.func.functional_call(m, params, (x,), {"extra": 1})
    z = torch.func.functional_call(m, (params, {"hidden": torch.zeros(3)}), (x,))
    return y, z, m(x), m.count, m.calls


@program(x23)
def state_dicts(x):
    a, b = Block(), Block()
    state = {k: torch.full_like(v, 2) for k, v in a.state_dict().items()}
    told = b.load_state_dict(state)
    try:
        a.load_state_dict({"lin.weight": state["lin.weight"], "more": x})
    except RuntimeError as e:
        LOG.append(str(e)[:40])
    return b(x), sorted(state), told, b.calls, [n for n, _ in a.named_buffers()]


class Attention(nn.Module):
    def __init__(self, heads=1):
        super().__init__()
        self.q, self.k = nn.Linear(3, 3), nn.Linear(3, 3)
        self.heads = heads
        self.past = None

    def forward(self, x, mask=None, *, use_cache=False, **kwargs):
        q, k = self.q(x), self.k(x)
        if use_cache and self.past is not None:
            k = torch.cat([self.past, k])
        if use_cache:
            self.past = k.detach()
        w = q @ k.t() / q.shape[-1] ** 0.5
        if mask is not None:
            w = w.masked_fill(~mask, float("-inf"))
        out = w.softmax(-1)
        return {"out": out, "past": self.past, **kwargs} if kwargs else out


ATTENTION = Attention()


@program(lambda: (T(2, 3), None, True), lambda: (T(2, 3), None, False), lambda: (T(2, 3), torch.ones(2, 2, dtype=torch.bool).tril(), False))
def attention_with_state(x, mask, cache):
    y = ATTENTION(x, mask, use_cache=cache, more=1)
    if ATTENTION.past is not None and ATTENTION.past.shape[0] > 5:
        ATTENTION.past = None
    return y, ATTENTION(x)


@program(x23)
def module_api(x):
    m = nn.Sequential(nn.Linear(3, 3), Block())
    for p in m.parameters():
        nn.init.constant_(p, 0.1)
    m.append(nn.ReLU()).double().float()
    m[0].requires_grad_(False)
    m.apply(lambda mod: LOG.append(type(mod).__name__))
    m.add_module("last", nn.Identity())
    m.register_parameter("none", None)
    del m[2]
    return m(x), m.none, [p.requires_grad for p in m.parameters()], repr(m[0]), m.get_submodule("1.lin") is m[1].lin, hasattr(m, "missing")


class Wrapper(nn.Module):
    """Passes attributes through to what it wraps."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)

    def __setattr__(self, name, value):
        LOG.append(name)
        super().__setattr__(name, value)

    def forward(self, *args, **kwargs):
        self.last = self.inner(*args, **kwargs)
        return self.last + self.scale


WRAPPER = Wrapper(BLOCK)


@program(x23)
def wrapped(x):
    y = WRAPPER(x)
    w = Wrapper(nn.Linear(3, 1, bias=False))
    told = []
    try:
        w(x)
    except AttributeError as e:
        told.append(str(e))
    return y, WRAPPER.last is y, WRAPPER.lin.weight.shape, told, w.in_features, WRAPPER.count


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 3)
        self.lstm = nn.LSTM(3, 2, batch_first=True)
        self.register_buffer("state", torch.zeros(2, 3))

    def forward(self, x, steps):
        for _ in range(steps):
            self.state = self.cell(x, self.state)
            if self.state.abs().sum() > 1.5:
                self.state = self.state * 0.5
        out, (h, c) = self.lstm(self.state[None])
        return out, h


RECURRENT = Recurrent()


@program(lambda: (T(2, 3), 1), lambda: (T(2, 3), 3))
def recurrent(x, steps):
    out, h = RECURRENT(x, steps)
    RECURRENT.state = RECURRENT.state.detach()
    return out, h, RECURRENT.state


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * scale

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * ctx.scale * x, None


@program(grad)
def autograd_function(x):
    y = Gate.apply(x, 3)
    y.sum().backward()
    with torch.no_grad():
        z = Gate.apply(x, 2)
    return y, x.grad, z


@program(x23)
def optimizer_step(x):
    m = nn.Linear(3, 1)
    nn.init.constant_(m.weight, 0.5), nn.init.zeros_(m.bias)
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(2):
        opt.zero_grad()
        loss = (m(x) - 1).pow(2).mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return m(x), losses


@program(x23, x43)
def call_forms(x):
    block = BLOCK
    a = block.forward(x)
    b = type(block).forward(block, x)
    c = nn.Module.__call__(block, x)
    f = block.__call__
    g = block.lin.forward
    return a + b + c + f(x), g(x), nn.functional.linear(x, **{"weight": block.lin.weight}), block.count, list(map(block.lin, [x]))


class Stateful(nn.Module):
    names = []

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.history = []

    def forward(self, x):
        self.names.append(len(self.history))
        self.history.append(x)
        if len(self.history) > 2:
            self.history = self.history[-1:]
        y = sum(self.history) * self.w
        self.last, self.prev = y.detach(), getattr(self, "last", None)
        return y


STATEFUL = Stateful()


@program(x23)
def stateful(x):
    y = STATEFUL(x)
    z = STATEFUL(y)
    return z, STATEFUL.prev is not None, len(STATEFUL.history), STATEFUL.last * 2
