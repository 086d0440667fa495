"""Contexts of torch."""
import contextlib

import torch
from kit import T, program

LOG = []


def grad():
    return T(2, 3, grad=True)


def plain():
    return T(2, 3)


def modes():
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"), torch.get_default_dtype()


@program(grad, plain)
def no_grad(x):
    a = x * 2
    with torch.no_grad():
        b = x * 2
        LOG.append(modes())
        with torch.enable_grad():
            c = x * 3
        d = a + 1
    return a, b, c, d, a.requires_grad, c.requires_grad, modes()


@program(grad)
def no_grad_left_by_exceptions(x):
    out = []
    for how in range(3):
        try:
            with torch.no_grad():
                out.append((x * how).requires_grad)
                if how == 1:
                    raise ValueError("inside")
                if how == 2:
                    break
        except ValueError:
            out.append((x + 1).requires_grad)
    return out, x * 2, modes()


@program(grad, graphs=0)
def exception_leaves_no_grad(x):
    y = x + 1
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        LOG.append(modes())
        y = y @ y.t()
        raise RuntimeError(str(y.dtype))


@program(grad, plain)
def set_grad_enabled(x):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    a = x * 2
    torch.set_grad_enabled(before)
    with torch.set_grad_enabled(x.dim() == 7):
        b = x * 3
    guard = torch.set_grad_enabled(False)
    c = x + 1
    with guard:
        d = x + 2
    return a, b, c, d, torch.is_grad_enabled()


@program(grad)
def grad_mode_left_changed(x):
    torch.set_grad_enabled(not torch.is_grad_enabled())
    y = x * 2
    return y, y.requires_grad


@torch.no_grad()
def frozen(x):
    LOG.append(torch.is_grad_enabled())
    return x * 5


class Model:
    @torch.no_grad()
    def predict(self, x):
        return self.step(x) + 1

    @torch.enable_grad()
    def step(self, x):
        return x * 2

    @staticmethod
    @torch.inference_mode()
    def infer(x):
        return x - 1


@program(grad, plain)
def decorators(x):
    m = Model()
    a, b = frozen(x), m.predict(x)
    with torch.no_grad():
        c = m.step(x)
    return a, b, c, a.requires_grad, b.requires_grad, c.requires_grad, frozen.__name__


@program(grad, plain)
def decorated_inference(x):
    y = x * 2
    z = Model.infer(y)
    w = z.clone()
    return y, z, z.is_inference(), w.is_inference(), modes()


@program(grad, plain)
def inference_mode(x):
    with torch.inference_mode():
        a = x * 2
        b = a.add_(1)
        LOG.append(modes())
    told = a.is_inference(), b is a, a.requires_grad
    try:
        a.add_(1)
    except RuntimeError as e:
        LOG.append(str(e)[:30])
    with torch.inference_mode(False):
        c = x + 1
    return told, c, c.requires_grad


@program(grad, plain)
def autocast(x):
    w = x.detach().t().contiguous()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a = x @ w
        b = a + x.sum()
        with torch.autocast("cpu", enabled=False):
            c = x @ w
        with torch.autocast("cpu", dtype=torch.float16):
            d = torch.mm(x, w)
        e = torch.nn.functional.softmax(a, -1)
        LOG.append(str(torch.get_autocast_dtype("cpu")))
    return a, b, c, d, e, a.dtype, (x @ w).dtype, modes()


@torch.autocast("cpu", dtype=torch.bfloat16)
def cast(x, w):
    return torch.nn.functional.linear(x, w)


WEIGHT = torch.ones(3, 3, requires_grad=True)


@program(grad, plain)
def autocast_function_and_gradients(x):
    y = cast(x, WEIGHT)
    y.float().sum().backward()
    g = WEIGHT.grad
    WEIGHT.grad = None
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False), torch.no_grad():
        z = cast(x, WEIGHT) @ WEIGHT
    return y, g, z, torch.is_autocast_cache_enabled()


@program(plain, graphs=0)
def autocast_with_exception(x):
    out = []
    for k in range(2):
        try:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=k == 0):
                out.append((x @ x.t()).dtype)
                x.view(7)
        except RuntimeError as e:
            out.append((modes()[2], type(e).__name__))
    return out, x @ x.t()


@program(plain)
def default_dtype(x):
    a = torch.ones(2)
    torch.set_default_dtype(torch.float64)
    b = torch.ones(2)
    c = torch.tensor([1.5])
    d = x + b[0]
    torch.set_default_dtype(torch.float32)
    e = torch.arange(3.0) + torch.tensor(1.0)
    return a, b, c, d, e, x * c, torch.get_default_dtype()


@program(plain, graphs=0)
def default_dtype_left_changed(x):
    y = x + torch.ones(3)
    torch.set_default_dtype(torch.float64)
    z = torch.ones(2) + 1
    LOG.append(z.dtype)
    raise ValueError(z.dtype)


@program(plain, grad)
def seeds(x):
    torch.manual_seed(7)
    a = torch.rand(2)
    g = torch.manual_seed(7)
    b = torch.rand(2)
    n = torch.seed() if x.dim() == 9 else torch.initial_seed()
    torch.random.manual_seed(11)
    c = torch.nn.functional.dropout(x, 0.3)
    return a.equal(b), a, c, n, g.initial_seed(), torch.rand(1)


@program(plain)
def deterministic(x):
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    y = x.index_add(0, torch.tensor([0, 0]), x)
    mid = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    z = x.cumsum(0)
    torch.use_deterministic_algorithms(mid, warn_only=True)
    return y, z, before, mid, torch.is_deterministic_algorithms_warn_only_enabled()


@program(plain, grad, graphs=0)
def devices(x):
    with torch.device("cpu"):
        a = torch.ones(2) + x.sum()
    with torch.device("meta"):
        b = torch.ones(2, 3)
    d = torch.device("cpu", 0)
    return a, b.is_meta, b.shape, d.type, d.index, str(d), torch.ones(2, device=torch.device(x.device)), x.device == torch.device("cpu"), torch.get_default_device()


@program(plain)
def meta_tensors(x):
    m = torch.empty(2, 3, device="meta")
    y = m + 1
    told = []
    try:
        y + x
    except (RuntimeError, NotImplementedError) as e:
        told.append(type(e).__name__)
    try:
        y.sum().item()
    except (RuntimeError, NotImplementedError) as e:
        told.append(type(e).__name__)
    return x * y.shape[0], y.device.type, told


@contextlib.contextmanager
def both(dtype):
    with torch.no_grad(), torch.autocast("cpu", dtype=dtype):
        LOG.append(modes())
        yield dtype


@program(grad, plain)
def own_context_of_contexts(x):
    with both(torch.bfloat16) as d:
        a = x @ x.t()
        b = modes()
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        c = x * 2
    with torch.no_grad() if x.requires_grad else contextlib.nullcontext():
        e = x * 3
    return a, b, c, e, d, modes()


def stepwise(x):
    yield torch.is_grad_enabled()
    with torch.no_grad():
        yield x * 2
        yield torch.is_grad_enabled()
    yield x * 3


@program(grad)
def contexts_in_generators(x):
    out = []
    for v in stepwise(x):
        out.append(v)
        out.append(torch.is_grad_enabled())
    return out, modes()


@program(grad)
def gradient_through_contexts(x):
    y = x * 2
    with torch.no_grad():
        mean = y.mean()
        x.mul_(1)
    z = (y - mean) * y.detach()
    with torch.enable_grad():
        loss = z.sum()
    (g,) = torch.autograd.grad(loss, x)
    return g, mean.requires_grad, z.requires_grad


@program(plain, grad, graphs=0)
def nested_deeply(x):
    out = []
    with torch.no_grad():
        with torch.enable_grad(), torch.autocast("cpu", torch.bfloat16):
            for flag in (True, False):
                with torch.set_grad_enabled(flag):
                    try:
                        with torch.inference_mode(not flag):
                            out.append((modes(), (x @ x.t()).dtype))
                            if not flag:
                                raise LookupError
                    except LookupError:
                        out.append(modes())
                    finally:
                        out.append(torch.is_grad_enabled())
    return out, x + 1, modes()


@program(grad)
def saved_tensors_and_anomaly(x):
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append("pack") or t, lambda t: seen.append("unpack") or t):
        y = (x * x).sum()
    with torch.autograd.set_detect_anomaly(False):
        y.backward()
    return x.grad, seen, torch.is_anomaly_enabled()
