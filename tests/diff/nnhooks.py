"""Hooks, parametrizations, modules with a state of their own."""
import torch
from torch import nn
from torch.nn.utils import parametrize
from kit import T, grad, program, x23, x43

torch.manual_seed(0)
LOG = []


class Block(nn.Module):
    scale = 2

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.count = 0

    def forward(self, x, extra=None):
        self.count += 1
        y = self.lin(x) * self.scale
        return y if extra is None else y + extra


BLOCK = Block()


def grads(module):
    out = [None if p.grad is None else p.grad.clone() for p in module.parameters()]
    module.zero_grad()
    return out


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


@program(x23, grad)
def tensor_hooks(x):
    seen = []
    y = x * 2 if x.requires_grad else (x * 2).requires_grad_()
    handle = y.register_hook(lambda g: g * 3)
    y.register_hook(lambda g: seen.append(g.sum().item()))
    z = (y * y).sum()
    z.backward(retain_graph=True)
    first = None if x.grad is None else x.grad.clone()
    handle.remove()
    z.backward()
    return first, x.grad, seen, y.is_leaf


class Recorder:
    """Keeps what passes through the modules it is put on."""

    def __init__(self, *modules):
        self.outputs = []
        self.handles = [m.register_forward_hook(self) for m in modules]

    def __call__(self, module, args, output):
        self.outputs.append((type(module).__name__, output.detach().sum()))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for h in self.handles:
            h.remove()


@program(x23, x43)
def hooks_in_a_context(x):
    net = nn.Sequential(BLOCK, nn.ReLU(), BLOCK)
    with Recorder(BLOCK, net) as r:
        y = net(x)
    z = net(x)
    return y, z, [name for name, _ in r.outputs], sum(v for _, v in r.outputs), len(BLOCK._forward_hooks)


@program(x23)
def hooks_that_change_things(x):
    m, other = Block(), Block()
    nn.init.constant_(m.lin.weight, 0.5), nn.init.zeros_(m.lin.bias)
    nn.init.constant_(other.lin.weight, 2.0), nn.init.zeros_(other.lin.bias)

    def swap(mod, args):
        mod.scale = mod.scale + 1
        mod.lin, other.lin = other.lin, mod.lin
        return (args[0] - 1,) if mod.count else None
    m.register_forward_pre_hook(swap)
    m.register_forward_pre_hook(lambda mod, args: LOG.append("first"), prepend=True)
    return m(x), m(x), m(x), m.scale, m.count, m.lin is other.lin


@program(x23)
def hooks_on_all_modules(x):
    seen = []
    handle = nn.modules.module.register_module_forward_hook(lambda m, i, o: seen.append(type(m).__name__))
    try:
        y = nn.Sequential(BLOCK, nn.Identity())(x)
    finally:
        handle.remove()
    return y, BLOCK(x), seen


@program(grad)
def backward_pre_hooks(x):
    m, seen = nn.Linear(3, 2), []
    nn.init.constant_(m.weight, 0.5), nn.init.zeros_(m.bias)
    m.register_full_backward_pre_hook(lambda mod, g: (g[0] * 2,))
    m.register_full_backward_hook(lambda mod, gi, go: seen.append(go[0].sum().item()) or (gi[0] + 1,))
    y = m(x) + m(x * 2)
    y.mean().backward()
    return y, x.grad, m.weight.grad, seen


class Clamp(nn.Module):
    def __init__(self, low):
        super().__init__()
        self.low = low

    def forward(self, w):
        return w.clamp(min=self.low)

    def right_inverse(self, w):
        LOG.append(tuple(w.shape))
        return w


@program(x23)
def parametrizations_come_and_go(x):
    m = nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        m.weight.copy_(torch.arange(6.0).reshape(2, 3) - 3)
    a = m(x)
    parametrize.register_parametrization(m, "weight", Clamp(-1))
    b = m(x)
    parametrize.register_parametrization(m, "weight", Double())
    m.parametrizations.weight[0].low = 0
    c = m(x)
    m.weight = torch.ones(2, 3)
    d = m(x)
    parametrize.remove_parametrizations(m, "weight", leave_parametrized=False)
    return a, b, c, d, m(x), parametrize.is_parametrized(m), isinstance(m.weight, nn.Parameter)


@program(lambda: (T(2, 3), False), lambda: (T(2, 3), True))
def hooks_that_run_always(x, fails):
    """With always_call a forward hook runs where forward, or a hook before it, raises."""
    m, seen = Raising() if fails else Block(), []

    def later(mod, args, out):
        seen.append(("hook", out is None))

    def raises(mod, args, out):
        seen.append("raises")
        raise IndexError("in a hook")
    m.register_forward_hook(lambda mod, args, kwargs, out: seen.append(sorted(kwargs)), with_kwargs=True, always_call=True)
    handle = m.register_forward_hook(raises)
    m.register_forward_hook(later, always_call=True)
    for _ in range(2):
        try:
            seen.append(m(x).sum())
        except (ValueError, IndexError) as e:
            seen.append(str(e))
        handle.remove()
    return x + len(seen), seen
