"""Modules."""
import torch
from torch import nn
from kit import T, grad, program, x23, x43

torch.manual_seed(0)
LOG = []


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


class Experts(nn.Module):
    """Routes rows to experts by data."""

    def __init__(self, n=3):
        super().__init__()
        self.gate = nn.Linear(3, n)
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(n))
        self.used = {}

    def forward(self, x):
        top = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for k, expert in enumerate(self.experts):
            rows = top == k
            if rows.any():
                out[rows] = expert(x[rows])
                self.used[k] = self.used.get(k, 0) + int(rows.sum())
        return out


EXPERTS = Experts()


@program(x23, x43)
def experts(x):
    y = EXPERTS(x)
    y.sum().backward()
    return y, EXPERTS.used, [p.grad is None for p in EXPERTS.parameters()], grads(EXPERTS)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(5, 3, padding_idx=0)
        self.norm = nn.LayerNorm(3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.tok.weight
        self.register_buffer("position", torch.arange(4), persistent=False)

    def forward(self, ids, labels=None):
        h = self.norm(self.tok(ids) + self.position[: ids.shape[-1], None])
        logits = self.head(h)
        if labels is None:
            return logits, None
        return logits, nn.functional.cross_entropy(logits.flatten(0, -2), labels.flatten(), ignore_index=-100)


EMBEDDER = Embedder()


@program(lambda: (torch.tensor([[1, 2, 0]]), None), lambda: (torch.tensor([[1, 2, 0]]), torch.tensor([[2, -100, 1]])), lambda: (torch.tensor([3, 4]), None))
def embedder(ids, labels):
    logits, loss = EMBEDDER(ids, labels)
    if loss is not None:
        loss.backward()
    return logits, loss, grads(EMBEDDER), EMBEDDER.tok.weight is EMBEDDER.head.weight


@program(x23, x43)
def containers_change(x):
    m = nn.ModuleList([nn.Identity(), nn.ReLU()])
    m.append(nn.Tanh())
    m.insert(0, nn.Sigmoid())
    m[1] = BLOCK
    m.extend([nn.Flatten(), nn.Softmax(-1)])
    del m[-2]
    d = nn.ModuleDict({"a": nn.ReLU()})
    d["b"] = m[0]
    d.update({"c": nn.Identity()})
    gone = d.pop("a")
    y = x
    for layer in m:
        y = layer(y)
    for name, layer in d.items():
        y = y + len(name) * layer(y)
    return y, len(m), list(d), gone(x), [n for n, _ in m.named_children()], BLOCK.count


@program(x23)
def lists_of_plain_modules(x):
    layers = [nn.Linear(3, 3), BLOCK, nn.ReLU(), torch.sin, lambda v: v * 2]
    nn.init.eye_(layers[0].weight), nn.init.ones_(layers[0].bias)
    seen = []
    for k, f in enumerate(layers):
        x = f(x)
        seen.append((k, isinstance(f, nn.Module), callable(f)))
        if isinstance(f, nn.Linear) and f.in_features == f.out_features:
            f.bias.data.zero_()
            x = x + f(x)
    layers[0].weight.requires_grad_(False)
    return x, seen, layers[0].weight.requires_grad, sum(p.numel() for f in layers if isinstance(f, nn.Module) for p in f.parameters())


class Residual(nn.Module):
    def __init__(self, *inner, scale=1.0):
        super().__init__()
        self.inner = nn.Sequential(*inner)
        self.scale = nn.Parameter(torch.tensor(scale)) if scale else None

    def extra_repr(self):
        return f"scaled={self.scale is not None}"

    def forward(self, x):
        if self.scale is None:
            return x + self.inner(x)
        return x + self.scale * self.inner(x)


RESIDUAL = Residual(Residual(nn.Linear(3, 3), nn.GELU(), scale=0), nn.Dropout(0.3), scale=0.5)


@program(x23, grad)
def nested_residuals(x):
    RESIDUAL.train()
    a = RESIDUAL(x)
    RESIDUAL.eval()
    b = RESIDUAL(x)
    b.sum().backward()
    RESIDUAL.inner[0].scale, RESIDUAL.scale = RESIDUAL.scale, RESIDUAL.inner[0].scale
    return a, b, grads(RESIDUAL), [n for n, _ in RESIDUAL.named_parameters()], RESIDUAL.scale is None, repr(RESIDUAL)
