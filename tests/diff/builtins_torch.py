"""torch's functions that are no operations; modules; the rest of the standard library."""
import collections
import contextlib
import contextvars
import copy
import logging
import math
import operator
import os
import threading
import types
import typing
import warnings
import weakref

import torch
from torch import nn
import torch.nn.functional as F


def case_is_tensor(x, e):
    return x + 1, torch.is_tensor(x), torch.is_tensor(3), torch.is_floating_point(x), x.is_floating_point(), torch.is_complex(x), torch.numel(x), x.dtype.is_floating_point


def case_metadata(x, e):
    return x.reshape(x.size(0) * x.size(1)), x.shape, x.size(), x.dim(), x.ndim, x.stride(), x.dtype, x.device, x.numel(), x.is_contiguous(), len(x), x.element_size(), x.requires_grad


def case_types(x, e):
    return x.to(torch.float64), torch.finfo(torch.float32).max, torch.iinfo(torch.int8).min, torch.finfo(x.dtype).eps, torch.device("cpu"), torch.float32 == x.dtype, torch.Size([1, 2]), torch.Size((x.shape[0], 3)).numel(), torch.promote_types(torch.int8, torch.float16), torch.get_default_dtype(), str(x.dtype), torch.result_type(x, 1)


def case_no_grad(x, e):
    w = x.clone().requires_grad_()
    before = torch.is_grad_enabled()
    with torch.no_grad():
        y = w * 2
        inside = torch.is_grad_enabled()
    z = w * 3
    return y, z, before, inside, torch.is_grad_enabled(), y.requires_grad, z.requires_grad


def case_set_grad_enabled(x, e):
    w = x.clone().requires_grad_()
    with torch.set_grad_enabled(e.n > 10):
        y = w * 2
        with torch.enable_grad():
            z = w * 3
    return y.requires_grad, z.requires_grad, torch.is_grad_enabled(), z


def case_grad_raises(x, e):
    w = x.clone().requires_grad_()
    try:
        with torch.no_grad():
            y = w * 2
            raise ValueError("inside")
    except ValueError:
        e.log.append(torch.is_grad_enabled())
    return y, w * 3


@torch.no_grad()
def under_no_grad(x):
    return x * 2, torch.is_grad_enabled()


def case_no_grad_decorator(x, e):
    w = x.clone().requires_grad_()
    return under_no_grad(w), torch.is_grad_enabled(), w * 2


def case_inference_mode(x, e):
    with torch.inference_mode():
        y = x * 2
        inside = torch.is_inference_mode_enabled()
    return y, inside, torch.is_inference_mode_enabled(), y.is_inference()


def case_autocast(x, e):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x.t()
        inside = torch.is_autocast_enabled("cpu")
    return y, y.dtype, inside, torch.is_autocast_enabled("cpu"), x @ x.t()


def case_has_torch_function(x, e):
    from torch.overrides import has_torch_function, has_torch_function_unary, has_torch_function_variadic, is_tensor_like
    return x + 1, has_torch_function((x, 1)), has_torch_function_unary(x), has_torch_function_variadic(x, x), is_tensor_like(x), is_tensor_like(3)


def case_scripting(x, e):
    return x + 1, torch.jit.is_scripting(), torch.jit.is_tracing(), torch._C._get_tracing_state()


def case_check(x, e):
    torch._check(x.shape[0] == 2, lambda: "two rows")
    torch._assert(x.dim() == 2, "matrix")
    return x + 1


def case_check_fails(x, e):
    e.log.append(1)
    torch._check(x.shape[0] == 7, lambda: "seven rows")
    return x + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inner = nn.Linear(3, 4)
        self.norm = nn.LayerNorm(4)
        self.drop = nn.Dropout(0.5)
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.ReLU()])
        self.seq = nn.Sequential(nn.Linear(4, 2), nn.Tanh())
        self.register_buffer("scale", torch.ones(2))
        self.named = nn.ModuleDict({"a": nn.Identity()})
        self.calls = 0
        self.params = nn.ParameterList([nn.Parameter(torch.ones(2))])

    def forward(self, x):
        self.calls += 1
        x = self.norm(self.inner(x))
        for layer in self.layers:
            x = layer(x)
        return self.named["a"](self.seq(self.drop(x))) * self.scale + self.params[0]


NET = Net().eval()


def case_module(x, e):
    return NET(x), NET.training, hasattr(NET, "inner"), hasattr(NET, "nope"), NET.inner.in_features, len(NET.layers), type(NET.layers[1]) is nn.ReLU


def case_module_missing(x, e):
    try:
        NET.nope
    except AttributeError as error:
        return x + 1, str(error)


def case_module_raises(x, e):
    return x + NET.inner.nope


def case_module_walk(x, e):
    return x + 1, [name for name, _ in NET.named_parameters()], sum(p.numel() for p in NET.parameters()), [type(m).__name__ for m in NET.children()], list(NET.named["a"].state_dict())


def case_module_set(x, e):
    lin = NET.inner
    NET.marker = e.n
    out = lin(x) * NET.marker
    del NET.marker
    return out, hasattr(NET, "marker")


def hook(module, args, output):
    return output * 2


def case_module_hook(x, e):
    net = nn.Linear(3, 2)
    with torch.no_grad():
        net.weight.fill_(1.0)
        net.bias.zero_()
    net.register_forward_hook(hook)
    return net(x)


class Batch(typing.NamedTuple):
    a: torch.Tensor
    n: int = 3


Pair = collections.namedtuple("Pair", "left right", defaults=[5])


def case_namedtuple(x, e):
    b = Batch(x)
    p = Pair(x + 1)
    left, right = p
    return b.a + b.n, p, b, left.sum(), right, p._replace(right=1), b._fields, p[1], len(b), isinstance(p, tuple), p == p, Pair._make([1, 2]), b._asdict()["n"]


def case_typing_cast(x, e):
    return typing.cast(torch.Tensor, x) + 1


def case_warnings(x, e):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = x + 1
        warnings.warn("careful", UserWarning)
        y = y * 2
    return y, [str(w.message) for w in seen]


LOG = logging.getLogger("jedlik.tests.diff")
LOG.setLevel(logging.WARNING)


def case_logging(x, e):
    LOG.debug("nothing %s", x)
    LOG.info("nothing")
    return x + 1, LOG.isEnabledFor(logging.INFO), LOG.level


def case_environ(x, e):
    return x + 1, os.environ.get("JEDLIK_NOT_THERE"), "PATH" in os.environ, os.environ.get("JEDLIK_NOT_THERE", "default")


LOCK, RLOCK = threading.Lock(), threading.RLock()


def case_locks(x, e):
    with LOCK:
        x = x + 1
    with RLOCK:
        x = x * 2
    return x, LOCK.locked()


VAR = contextvars.ContextVar("VAR", default=3)


def case_contextvar(x, e):
    token = VAR.set(5)
    y = x * VAR.get()
    VAR.reset(token)
    return y, VAR.get()


def case_weakref(x, e):
    r = weakref.ref(e)
    return x + 1, r() is e


def case_namespace(x, e):
    n = types.SimpleNamespace(a=1, b=x)
    n.c = n.a + 1
    return n.b * n.c, n.a


def case_exitstack(x, e):
    with contextlib.ExitStack() as stack:
        stack.callback(e.log.append, "closed")
        stack.enter_context(torch.no_grad())
        y = x * 2
    return y, torch.is_grad_enabled()


def case_copy_tensor(x, e):
    return copy.copy([x, 1])[0] is x, x + 1


def case_functional(x, e):
    w = torch.ones(4, 3)
    return F.linear(x, w), F.relu(x - 2), F.softmax(x, dim=-1), F.layer_norm(x, (3,)), F.pad(x, (1, 1)), F.one_hot(torch.tensor([0, 2]), 4), F.dropout(x, 0.5, training=False), F.scaled_dot_product_attention(x[None], x[None], x[None])


def case_factories(x, e):
    return torch.zeros(2, 3) + x, torch.arange(e.n), torch.full((2,), e.rate), torch.ones_like(x), torch.tensor([1.0, e.rate]), torch.empty(0), torch.eye(2), torch.linspace(0, 1, 3), x.new_zeros(2)


def case_random(x, e):
    return torch.rand(2) + x[0, :2], torch.randn(2, 2), torch.randperm(4), F.dropout(x, 0.5), torch.bernoulli(torch.full((3,), 0.5))


def case_item(x, e):
    n = x.sum().item()
    return x * n, n, x.tolist()[0]


def case_inplace(x, e):
    y = x.clone()
    y.add_(1).mul_(2)
    y[0] = 5
    x[1, 1] = -1
    return y, x


def case_backward(x, e):
    w = torch.ones(3, requires_grad=True)
    loss = (x * w).sum()
    loss.backward()
    return w.grad, loss


def case_parameter(x, e):
    p = nn.Parameter(x.clone())
    return p * 2, isinstance(p, nn.Parameter), p.requires_grad, type(p) is nn.Parameter


def case_math_on_shape(x, e):
    d = x.shape[-1]
    return x / math.sqrt(d), d // 2, 1.0 / d, float(d) ** -0.5


def case_pytree(x, e):
    from torch.utils._pytree import tree_flatten, tree_map
    flat, _ = tree_flatten({"a": x, "b": [x + 1, (x, 3)]})
    return len(flat), tree_map(lambda v: v * 2, [x, {"k": (x, 1)}])


def case_return_types(x, e):
    top, m = x.topk(2), x.max(dim=0)
    values, indices = top
    return top.values, top.indices, m.values + 1, m[1], x.sort().indices, torch.max(x, dim=1).values, values is top.values, len(m), indices


class Chunked:
    def chunk(self, a, b=2):
        return a * b

    def __call__(self, x):
        return self.chunk(x)


def case_signature(x, e):
    import inspect
    s = inspect.signature(Chunked().chunk)
    return x + len(s.parameters), list(s.parameters), s.parameters["b"].default, str(s)


def case_mapping_proxy(x, e):
    p = types.MappingProxyType(e.table)
    e.table["z"] = 9
    return x + p["a"], list(p.items()), p.get("q"), len(p), "z" in p, {**p}, bool(p)


def casting(x, e):
    return torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled(), (x @ x.t()).dtype


def case_autocast_nested(x, e):
    out = [casting(x, e)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out.append(casting(x, e))
        with torch.autocast("cpu", enabled=False):
            out.append(casting(x, e))
        with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
            out.append(casting(x, e))
        y = (x @ x.t()).float() + 1
        out.append(casting(y, e))
    out.append(casting(x, e))
    return y, out


def case_autocast_break(x, e):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x.t()
        print(end="")
        z = x @ x.t()
        inside = casting(x, e)
    return y, z, inside, casting(x, e)


def case_autocast_raises(x, e):
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x.t()
            {}["missing"]
    except KeyError:
        e.log.append(casting(x, e))
    return y, x @ x.t()


def case_autocast_returns(x, e):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return F.linear(x, torch.ones(4, 3)), casting(x, e)


@torch.autocast("cpu", dtype=torch.bfloat16)
def under_autocast(x, e):
    return x @ x.t(), casting(x, e)


def case_autocast_decorator(x, e):
    return under_autocast(x, e), casting(x, e), x @ x.t()


def case_autocast_module(x, e):
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        y = NET(x)
    return y, NET(x), casting(x, e), torch.is_grad_enabled()


def case_autocast_outer(x, e):
    out = under_autocast(x, e)
    return inner_of_outer(x, e), out


def inner_of_outer(x, e):
    with torch.autocast("cpu", dtype=torch.float16):
        e.log.append(casting(x, e))
        return x @ x.t()


def case_graph_raises_in_no_grad(x, e):
    try:
        with torch.no_grad():
            y = x[torch.tensor([0, 7 if e.flag else 1])]
    except IndexError:
        e.log.append(torch.is_grad_enabled())
        return x * 2, torch.is_grad_enabled()
    return y


def case_graph_raises_in_autocast(x, e):
    i = torch.tensor([int(x[0, 0] * 0) + 9])
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x.t()
            y = y[i]
    except IndexError:
        e.log.append(casting(x, e))
    return casting(x, e), x @ x.t()


def case_operators_refused_after_writes(x, e):
    """Kernels that lack a dtype raise in their place, though the graph has written to what exists before."""
    x.mul_(2)
    for op in (operator.and_, operator.or_, operator.xor, operator.iand):
        try:
            e.log.append(op(x, x).shape)
        except Exception as z:
            e.log.append((type(z).__name__, str(z)))
    for work in (lambda: ~x, lambda: x & 1, lambda: 1 | x, lambda: x.to(torch.complex64) < x, lambda: x.to(torch.complex64) % 2, lambda: x << x.bool(), lambda: -(x > 0)):
        try:
            x.add_(1)
            e.log.append(work().dtype)
        except Exception as z:
            e.log.append((type(z).__name__, str(z)))
    return x


class Deque(collections.deque):
    pass


def case_deques_are_no_lists(x, e):
    for kind in (collections.deque, Deque, collections.UserList):
        for work in (lambda: torch.stack(kind([x, x])), lambda: torch.cat(kind([x, x])), lambda: x.view(kind([6])), lambda: x.sum(kind([0])), lambda: torch.zeros(kind([2])),
                     lambda: x.permute(kind([1, 0])), lambda: torch.tensor(kind([1.0, 2.0])), lambda: x[kind([0, 1])], lambda: x.flip(dims=kind([0]))):
            try:
                e.log.append(work())
            except Exception as z:
                e.log.append((type(z).__name__, str(z)))
    return x


def case_questions_without_arguments(x, e):
    for work in (lambda: x.get_device(0), lambda: x.is_inference(x), lambda: x.get_device(a=1), lambda: x.get_device(), lambda: torch.Tensor.is_inference(x, 1, 2)):
        try:
            e.log.append(work())
        except TypeError as z:
            e.log.append(type(z).__name__)
    return x + 1
