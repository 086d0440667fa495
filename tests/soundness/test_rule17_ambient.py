"""Rule 17: torch's ambient state, read, set and left by the program, is what it is plainly, under every state it is called in."""
import contextlib
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import jedlik

BOX = []


def inference(x):
    with torch.inference_mode():
        y = x * 2
        on = torch.is_inference_mode_enabled(), torch.is_grad_enabled()
    return y, on, torch.is_inference_mode_enabled(), x * 3


@torch.inference_mode()
def decorated(x):
    return x * 3 + 1


def inference_decorator(x):
    return decorated(x), x + 1


def inference_off(x):
    with torch.inference_mode(False):
        y = x * 2
    return y, torch.is_grad_enabled()


def inference_nested(x):
    with torch.inference_mode():
        a = x + 1
        with torch.inference_mode(False):
            b = x * 2
            g = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        with torch.enable_grad():
            c = x * 3
        d = torch.is_grad_enabled()
    return a, b, c, d, g


def inference_with_a_break(x):
    with torch.no_grad():
        with torch.inference_mode():
            y = x * 2
            BOX.append(print)
            z = y + torch.tensor(x.sum().item())
        w = x * 5
    return y, z, w, torch.is_grad_enabled()


def inference_that_raises(x):
    try:
        with torch.inference_mode():
            y = x * 2
            y[torch.tensor([9])] + 1
    except IndexError:
        y = x * 4
    return y, torch.is_inference_mode_enabled(), torch.is_grad_enabled()


def inference_that_raises_in_python(x):
    try:
        with torch.inference_mode():
            y = x * 2
            raise KeyError("k")
    except KeyError:
        pass
    return y, torch.is_inference_mode_enabled(), torch.is_grad_enabled()


def inference_tensor_used_outside(x):
    with torch.inference_mode():
        y = x * 2
    try:
        z = y * x
        w = y.add_(1)
    except RuntimeError as e:
        return y, str(e)[:20]
    return y, z, w


def inference_views(x):
    with torch.inference_mode():
        y = x.view(-1)
        z = x[1:]
        return y.requires_grad, z.is_leaf, y + 1


def inference_left_open(x):
    m = torch.inference_mode()
    m.__enter__()
    y = x * 2
    m.__exit__(None, None, None)
    return y


def inference_writes(x):
    y = x.detach().clone()
    with torch.inference_mode():
        y.add_(1)
    y.add_(2)
    return y * x


def grad_function(x):
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(True)
    return y, x * 2


def grad_context(x):
    with torch.set_grad_enabled(False):
        y = x * 2
    return y, x + 1


@torch.set_grad_enabled(False)
def no_grad_decorated(x):
    return x * 2


def grad_decorator(x):
    return no_grad_decorated(x), x * 2


def grad_left_off(x):
    torch.set_grad_enabled(False)
    return x * 2


def grad_nested(x):
    with torch.no_grad():
        with torch.enable_grad():
            y = x * 2
        z = x * 2
    return y, z


def forked(x):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        y = torch.rand(3)
    return x + y, torch.rand(2)


def seeded(x):
    torch.manual_seed(3)
    return x + torch.rand(3), torch.initial_seed()


def parameter(x):
    p = nn.Parameter(torch.ones(3))
    return x * p, p, p.requires_grad


def parameter_of_an_input(x):
    return nn.Parameter(x.detach() * 2, requires_grad=False), nn.Parameter(x.detach())


def module(x):
    layer = nn.Linear(3, 2)
    return layer(x), layer.weight


def default_dtype(x):
    torch.set_default_dtype(torch.float64)
    y = torch.ones(3), torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    return y, x * torch.ones(3)


def default_dtype_left(x):
    torch.set_default_dtype(torch.float64)
    return torch.ones(3) * 2.5


def default_device(x):
    with torch.device("cpu"):
        return x + torch.ones(3), torch.get_default_device()


def attention_kernel(x):
    q = x.reshape(1, 1, 1, 3).expand(1, 2, 4, 3)
    with sdpa_kernel(SDPBackend.MATH):
        on = torch.backends.cuda.flash_sdp_enabled()
        y = F.scaled_dot_product_attention(q, q, q)
    return y, on, torch.backends.cuda.flash_sdp_enabled()


def autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x.reshape(1, 3) @ x.reshape(3, 1)
        on = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    return y, on, x.reshape(1, 3) @ x.reshape(3, 1)


def autocast_off(x):
    with torch.autocast("cpu", enabled=False):
        return x.reshape(1, 3) @ x.reshape(3, 1)


def autocast_views(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x.reshape(1, 3)
        z = (y @ y.t()).expand(2, 2)
        y.detach().add_(1)
        return z, y, x + 1


def deterministic(x):
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    y = x * 2, torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(before)
    return y, torch.are_deterministic_algorithms_enabled()


def questions(x):
    return (x * 2, torch.get_default_dtype(), torch.get_default_device(), torch.get_num_threads(), torch.get_float32_matmul_precision(),
            torch.backends.cuda.matmul.allow_tf32, torch.is_grad_enabled(), torch.is_inference_mode_enabled(),
            torch.are_deterministic_algorithms_enabled(), torch.is_autocast_enabled("cpu"), torch.backends.cuda.math_sdp_enabled())


def factories(x):
    return torch.ones(3) * 2, torch.full((2,), 1.5), torch.arange(3.0), torch.tensor([1.5]), x + torch.zeros(3)


def writes_to_results(x):
    with torch.no_grad():
        y = x - 2
        F.relu(y, inplace=True)
        r = torch.empty(3, dtype=y.dtype)
        torch.add(y, 1, out=r)
        w = torch.ones(2, 3)
        F.embedding(torch.tensor([1]), w, max_norm=0.1)
    return y, r, w


def writes_to_the_input(x):
    with torch.no_grad():
        F.relu(x, inplace=True)
        x[1:].sub_(1)
    return x * 1


PROGRAMS = [v for v in list(globals().values()) if callable(v) and getattr(v, "__module__", "") == __name__ and v.__code__.co_varnames[:1] == ("x",)
            and v not in (decorated, no_grad_decorated)]


@contextlib.contextmanager
def setting(get, put, value):
    old = get()
    put(value)
    try:
        yield
    finally:
        put(old)


STATES = {
    "plain": contextlib.nullcontext,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "autocast half": lambda: torch.autocast("cpu", dtype=torch.float16),
    "autocast without cache": lambda: torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False),
    "double": lambda: setting(torch.get_default_dtype, torch.set_default_dtype, torch.float64),
    "deterministic": lambda: setting(torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms, True),
    "medium": lambda: setting(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "medium"),
    "a thread": lambda: setting(torch.get_num_threads, torch.set_num_threads, torch.get_num_threads() + 1),
    "device": lambda: torch.device("cpu"),
    "set device": lambda: setting(lambda: None, torch.set_default_device, "cpu"),
    "elsewhere": lambda: torch.device("meta"),
    "math": lambda: sdpa_kernel(SDPBackend.MATH),
    "no functions": torch._C.DisableTorchFunction,
}


def describe(v):
    if isinstance(v, torch.Tensor) and v.is_meta:
        return type(v), v.dtype, v.device, v.requires_grad, v.is_leaf, v.shape
    if isinstance(v, torch.Tensor):
        return (type(v), v.dtype, v.device, v.requires_grad, v.is_leaf, v.is_inference(), v.detach().double().flatten().tolist())
    if isinstance(v, (tuple, list)) and not isinstance(v, torch.Size):
        return [describe(e) for e in v]
    return v


def ambient():
    return (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype(), torch.is_autocast_enabled("cpu"),
            torch.get_autocast_dtype("cpu"), torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision(),
            torch.get_num_threads(), torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.math_sdp_enabled(),
            torch.initial_seed(), torch.get_rng_state().tolist())


def observe(fn, state):
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    torch.manual_seed(1)
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float32, requires_grad=True)
    assert x.is_cpu
    try:
        with STATES[state]():
            try:
                result = describe(fn(x))
            except (RuntimeError, IndexError) as e:
                result = type(e), str(e)
            result = result, ambient()
        return result, ambient()
    finally:
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_under_each_state_after_each_other(program):
    jedlik.config.recompile_limit = 64
    compiled = jedlik.compile(program, backend="eager")
    for state in (*STATES, "plain", "no_grad", "plain"):
        assert observe(compiled, state) == observe(program, state), state


CAPTURED = [inference_decorator, inference_off, inference_that_raises_in_python, inference_writes, grad_function, grad_context, grad_decorator,
            grad_nested, autocast, autocast_off, autocast_views]


@pytest.mark.parametrize("program", CAPTURED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_captured_whole(program, backend):
    compiled = jedlik.compile(program, backend=backend, fullgraph=True)
    for _ in range(2):
        if backend == "aot_eager":  # it traces inference mode away, as it does for stock
            a, b = compiled(torch.ones(3, requires_grad=True)), program(torch.ones(3, requires_grad=True))
            flat = lambda r: [t for t in (r if isinstance(r, tuple) else (r,)) if isinstance(t, torch.Tensor)]  # noqa: E731
            assert all(torch.equal(p, q) for p, q in zip(flat(a), flat(b)))
        else:
            assert observe(compiled, "plain") == observe(program, "plain")


def test_a_default_device_is_no_reason_to_run_plainly():
    compiled = jedlik.compile(factories, backend="eager", fullgraph=True)
    for device in (None, "cpu", "meta", "cpu"):
        torch.set_default_device(device)
        try:
            x = torch.ones(3)
            assert describe(compiled(x)) == describe(factories(x))
        finally:
            torch.set_default_device(None)


PRECISIONS = [("generic", "all"), ("cuda", "all"), ("cuda", "conv"), ("cuda", "rnn"), ("cuda", "matmul"), ("mkldnn", "all"),
              ("mkldnn", "conv"), ("mkldnn", "rnn"), ("mkldnn", "matmul")]


@pytest.mark.parametrize("pair", PRECISIONS, ids="-".join)
def test_precision_of_single_backends_is_guarded(pair):
    get, put = torch._C._get_fp32_precision_getter, torch._C._set_fp32_precision_setter
    compiled = jedlik.compile(lambda x: x @ x, backend="eager")
    x, old = torch.ones(2, 2), get(*pair)
    graphs = []
    try:
        for value in ("ieee", "tf32", "ieee", "tf32"):
            put(*pair, value)
            before = jedlik.stats()["graphs"]
            compiled(x)
            graphs.append(jedlik.stats()["graphs"] - before)
    finally:
        put(*pair, old)
    assert graphs == [1, 1, 0, 0]


@pytest.mark.parametrize("generic", ["none", "tf32"])
def test_looking_for_the_settings_leaves_them_as_they_are(generic):
    """Where one says "none", what a more general one says counts: setting it to that would be another state."""
    program = f"""if True:
        import torch, jedlik
        get = lambda: [torch._C._get_fp32_precision_getter(*p) for p in {PRECISIONS}]
        torch.backends.fp32_precision = {generic!r}
        before = get()
        torch.backends.fp32_precision = 'ieee'
        inherited = get()
        torch.backends.fp32_precision = {generic!r}
        jedlik.compile(lambda x: x + 1, backend='eager')(torch.ones(1))
        assert get() == before, (get(), before)
        torch.backends.fp32_precision = 'ieee'
        assert get() == inherited, (get(), inherited)
    """
    subprocess.run([sys.executable, "-c", program], check=True)
