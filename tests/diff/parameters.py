"""Parameters and modules made by the program: classes, memory, gradients, initial values by the seed."""
import torch
import torch.nn.functional as F
from kit import Env, T, program
from torch import nn


def told(p):
    return type(p), isinstance(p, nn.Parameter), isinstance(p, torch.Tensor), p.requires_grad, p.is_leaf, p.grad_fn, p.grad, p.shape, p.dtype


@program()
def parameter_of_a_result(x):
    p = nn.Parameter(x * 2)
    y = (p * x).sum()
    return p, told(p), y.detach(), y.requires_grad, torch.autograd.grad(y, p)


@program(T, lambda: T(3, grad=True), lambda: nn.Parameter(T(3)))
def parameter_of_an_input(x):
    p = nn.Parameter(x)
    with torch.no_grad():
        p.add_(1)
    return p, x.detach(), p is x, p.data_ptr() == x.data_ptr(), told(p)


@program()
def without_gradients(x):
    p = nn.Parameter(x + 1, requires_grad=False)
    q = nn.Parameter(data=p)
    with torch.no_grad():
        r = nn.Parameter(x * 3)
    return told(p), told(q), told(r), (q * p).sum().requires_grad, (r + 1).requires_grad


@program(lambda: torch.arange(3))
def of_integers(x):
    p = nn.Parameter(x * 2, False)
    try:
        nn.Parameter(x * 2)
    except RuntimeError as e:
        return told(p), type(e)


@program()
def written_to_in_grad_mode(x):
    p = nn.Parameter(x * 2)
    try:
        p.add_(1)
    except RuntimeError as e:
        return type(e), p
    return p


@program()
def nobody_needs_it(x):
    nn.Parameter(x * 2)
    return x + 1


@program()
def gradient_is_accumulated(x):
    p = nn.Parameter(x * 1)
    (p * 3).sum().backward()
    (p * p).sum().backward()
    return p.grad, told(p)[:5]


@program(lambda: T(2, 3))
def linear(x):
    torch.manual_seed(0)
    m = nn.Linear(3, 4)
    y = m(x)
    return y.detach(), m.weight, m.bias, list(m._parameters), m.training, m, torch.rand(1)


@program(lambda: T(2, 3))
def linear_that_goes_away(x):
    torch.manual_seed(0)
    return nn.Linear(3, 4, bias=False)(x).detach(), torch.rand(1)


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(n, n), nn.ReLU(), nn.LayerNorm(n))
        self.scale = nn.Parameter(torch.full((n,), 0.5))
        self.register_parameter("shift", nn.Parameter(torch.zeros(n)))
        self.register_parameter("none", None)
        self.register_buffer("count", torch.zeros((), dtype=torch.long))
        self.parts = nn.ModuleList([nn.Linear(n, 1) for _ in range(2)])

    def forward(self, x):
        self.count += 1
        x = self.inner(x) * self.scale + self.shift
        return sum(part(x) for part in self.parts)


@program(lambda: T(2, 3))
def module_of_modules(x):
    torch.manual_seed(1)
    m = Block(3)
    y = m(x)
    names = [n for n, _ in m.named_parameters()]
    return y.detach(), names, m.state_dict()["count"], m.none, m.scale, sum(p.numel() for p in m.parameters())


@program(lambda: (T(2, 3), Env()), lambda: (T(2, 3), Env()))
def module_that_is_kept(x, env):
    torch.manual_seed(2)
    env.m = nn.Linear(3, 2)
    y = env.m(x)
    y.sum().backward()
    return y.detach(), env.m.weight.grad, env.m.weight is env.m._parameters["weight"]


@program(lambda: T(2, 3, 4, 4))
def layers_with_state(x):
    torch.manual_seed(3)
    conv, norm = nn.Conv2d(3, 2, 3, padding=1), nn.BatchNorm2d(2)
    y = norm(conv(x))
    norm.eval()
    return y.detach(), norm.running_mean, norm.num_batches_tracked, norm(y).detach(), norm.training


@program(lambda: torch.tensor([0, 2, 1]))
def embedding(i):
    torch.manual_seed(4)
    e = nn.Embedding(4, 3, padding_idx=2)
    return e(i).detach(), e.weight[2]


@program(lambda: T(2, 3))
def values_set_by_hand(x):
    m = nn.Linear(3, 3)
    nn.init.ones_(m.weight)
    nn.init.constant_(m.bias, 0.25)
    with torch.no_grad():
        m.weight[0] = 2.0
    return m(x).detach(), m.weight


@program(lambda: T(2, 3))
def weights_that_are_tied(x):
    torch.manual_seed(5)
    a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    b.weight = a.weight
    y = b(a(x))
    return y.detach(), a.weight is b.weight, len(list(nn.ModuleList([a, b]).parameters()))


@program(lambda: T(2, 3))
def refused_by_a_module(x):
    m = nn.Module()
    try:
        m.register_parameter("p", nn.Parameter(x) * 2)
    except ValueError as e:
        return str(e)[:30], F.relu(x)
    return x


class Own(nn.Parameter):
    pass


@program()
def class_of_ones_own(x):
    p = Own(x * 2)
    return type(p), p.requires_grad, (p * 2).detach()
