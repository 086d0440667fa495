"""Rule 4: a number that meets tensors in an operation enters the graph as an input once it has had a second value; what it comes to is the
same to the bit, type promotion included."""
import itertools
import math
import operator

import pytest
import torch

import jedlik

FLOATS = [0.1, 0.25, -0.0, 3.0, 1e-30, 1e300, math.inf, math.nan, -7.5]
INTS = [1, 2, 0, -3, 2**24 + 1, 2**53 + 1, 2**62, 5]


def counting(calls, wrap):
    def backend(gm, inputs):
        calls.append(len(inputs))
        return (lambda *args: gm.forward(*args)) if wrap else gm.forward
    return backend


def same(a, b):
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if not isinstance(a, torch.Tensor):
        return type(a) is type(b) and (a == b or a != a and b != b)
    if a.is_complex() and isinstance(b, torch.Tensor) and b.is_complex():
        return same(torch.view_as_real(a), torch.view_as_real(b))
    return isinstance(b, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.isnan(), b.isnan()) and torch.equal(
        a.nan_to_num(), b.nan_to_num()) and torch.equal(a.signbit() & ~a.isnan(), b.signbit() & ~b.isnan())


def run(fn, *args):
    try:
        return fn(*args)
    except Exception as e:
        return type(e), str(e)


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.lt, operator.ge, operator.eq]
METHODS = {
    "add": lambda x, n: x.add(n), "add alpha": lambda x, n: x.add(x, alpha=n), "mul_": lambda x, n: (x + 0).mul_(n),
    "div": lambda x, n: torch.div(x, n), "rsub": lambda x, n: n - x, "rdiv": lambda x, n: n / x, "rpow": lambda x, n: n ** x,
    "lerp": lambda x, n: x.lerp(x * 2, n), "addcmul": lambda x, n: torch.addcmul(x, x, x, value=n),
    "addcdiv": lambda x, n: torch.addcdiv(x, x, x + 5, value=n), "clamp": lambda x, n: x.clamp(min=n),
    "clamp 2": lambda x, n: torch.clamp(x, n, 4), "fill_": lambda x, n: (x + 0).fill_(n),
    "masked_fill": lambda x, n: x.masked_fill(x > 1, n), "leaky": lambda x, n: torch.nn.functional.leaky_relu(x - 2, n),
    "foreach": lambda x, n: torch._foreach_mul([x, x + 1], n), "foreach alpha": lambda x, n: torch._foreach_add([x, x], [x, x], alpha=n),
    "iadd": lambda x, n: operator.iadd(x + 0, n), "twice": lambda x, n: (x * n, x + n, n),
    "expression": lambda x, n: x * (1 - 0.5 * n) + -n, "power": lambda x, n: x / (2 - 0.9 ** n),
}
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
TENSORS = [torch.tensor([0.5, 1.0, 2.5, 3.0]), torch.tensor(1.5)]


def tensors():
    for t, dtype in itertools.product(TENSORS, DTYPES):
        yield t.to(dtype)
    for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool, torch.complex64):
        yield torch.tensor([1, 0, 3]).to(dtype)
    yield torch.tensor(3)


@pytest.mark.parametrize("backend", ["eager", "wrapped"])
@pytest.mark.parametrize("numbers", [FLOATS, INTS], ids=["floats", "ints"])
@pytest.mark.parametrize("op", [*BINARY, *METHODS], ids=lambda op: getattr(op, "__name__", op))
def test_each_operation_type_and_value(op, numbers, backend):
    fn = METHODS[op] if op in METHODS else lambda x, n, op=op: op(x, n)
    for x in tensors():
        jedlik.reset()
        compiled = jedlik.compile(fn, backend="eager" if backend == "eager" else counting([], True))
        for n in numbers:
            assert same(run(compiled, x, n), run(fn, x, n)), (x, n)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.sub, operator.gt, "div", "rsub", "expression", "iadd"],
                         ids=lambda op: getattr(op, "__name__", op))
def test_two_graphs_whatever_the_values(op, wrap):
    fn = METHODS[op] if op in METHODS else lambda x, n, op=op: op(x, n)
    for numbers in (FLOATS, INTS[:6]):
        calls = []
        compiled = jedlik.compile(fn, backend=counting(calls, wrap))
        for n in numbers:
            assert same(compiled(TENSORS[0], n), fn(TENSORS[0], n)), n
        assert len(calls) == 2


@pytest.mark.parametrize("name", ["add alpha", "lerp", "addcdiv", "clamp", "masked_fill", "foreach", "leaky", "rpow", "power"])
def test_two_graphs_where_only_our_own_runner_takes_numbers(name):
    fn, calls = METHODS[name], []
    numbers = [0.1, 0.25, 3.0, 0.75, 2.0]
    before = jedlik.stats()["graphs"]
    compiled = jedlik.compile(fn, backend="eager")
    for n in numbers:
        assert same(compiled(TENSORS[0], n), fn(TENSORS[0], n)), n
    assert jedlik.stats()["graphs"] - before == 2


def test_a_number_that_does_not_change_stays_a_constant():
    calls = []

    def fn(x, n, eps):
        return x * n + eps
    compiled = jedlik.compile(fn, backend=counting(calls, False))
    for n in (1.0, 2.0, 3.0):
        compiled(torch.ones(2), n, 1e-5)
    assert calls == [1, 2]


def test_sizes_and_branches_are_still_asked():
    def fn(x, n):
        y = x * n
        return y.repeat(n) if n > 2 else y.sum()
    compiled = jedlik.compile(fn, backend="eager")
    for n in (1, 2, 3, 4, 1, 3, 5):
        assert same(compiled(torch.arange(3.), n), fn(torch.arange(3.), n))


@pytest.mark.parametrize("backend", ["eager", "wrapped", "aot_eager"])
def test_gradients(backend):
    def fn(x, n):
        return ((x * n - n / 3) / n + n).sum()
    compiled = jedlik.compile(fn, backend=counting([], True) if backend == "wrapped" else backend)
    for n in (0.3, 0.7, 2.5, 1e-3):
        grads = []
        for f in (compiled, fn):
            x = torch.arange(4.).requires_grad_()
            f(x, n).backward()
            grads.append(x.grad)
        assert same(*grads), n


def test_numbers_too_large_for_the_operation_raise_as_plainly():
    class S:
        n = 0
    for backend in ("eager", counting([], True)):
        def fn(s, x, k):
            s.n += 1
            try:
                y = x * k
            except (OverflowError, RuntimeError) as e:
                s.n += 10
                return x, type(e).__name__
            return y, "fine"
        compiled = jedlik.compile(fn, backend=backend)
        for k in (1, 2, 2**62, 2**63, 2**70, 10**400, 3):
            a, b = S(), S()
            assert same(compiled(a, torch.ones(2), k), fn(b, torch.ones(2), k)) and a.n == b.n, k


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: torch.optim.Adam(p, lr=0.1), lambda p: torch.optim.AdamW(p, lr=0.1),
    lambda p: torch.optim.RMSprop(p, lr=0.1)], ids=["SGD", "Adam", "AdamW", "RMSprop"])
def test_optimizers_with_a_schedule(make):
    """The learning rate changes each step: two graphs, not one a step."""
    results, graphs = [], 0
    for compile_it in (False, True):
        torch.manual_seed(0)
        params = [torch.randn(3, requires_grad=True), torch.randn(2, 2, requires_grad=True)]
        opt = make(params)
        step = jedlik.compile(opt.step, backend="eager") if compile_it else opt.step
        for k in range(6):
            for p in params:
                p.grad = torch.full_like(p, 0.5) * p.detach()
            opt.param_groups[0]["lr"] = 0.1 * 0.9 ** k
            before = jedlik.stats()["graphs"]
            step()
            if compile_it and k >= 3:
                graphs += jedlik.stats()["graphs"] - before
        results.append([p.detach().clone() for p in params])
    assert all(torch.allclose(a, b, rtol=1e-6, atol=1e-7) for a, b in zip(*results)) and graphs == 0


def test_a_graph_that_fails_with_a_number_goes_on_where_it_was():
    class S:
        def __init__(self):
            self.seen = []

    def fn(s, x, n, i):
        s.seen.append("start")
        x.mul_(n)
        y = x * n + n
        try:
            z = y[i]
        except IndexError:
            s.seen.append("caught")
            z = y * -n
        return z, x + n
    for backend in ("eager", counting([], True)):
        compiled = jedlik.compile(fn, backend=backend)
        for n, i in ((2.0, 0), (3.0, 9), (4.0, 1), (5.0, 9), (2.0, 9)):
            out = []
            for f in (compiled, fn):
                s, x = S(), torch.arange(4.)
                out.append([*f(s, x, n, torch.tensor([i])), x, s.seen])
            assert same(*out), (n, i)


MATH = ("acos asin atan ceil cos cosh degrees erf exp expm1 fabs floor isfinite isinf isnan log log10 log1p log2 radians sin sinh sqrt tan tanh "
        "trunc").split()
MATH_VALUES = [0.1, 0.2, 0.9, -0.5, math.inf, math.nan, -math.inf, 1e308, 0.0, -0.0, 2, True, -1, 10**400, "a", None, 0.3]


class Holder:
    v = last = None


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", MATH)
def test_math_of_a_number_that_varies(name, backend):
    """Results, types and errors are those of math, in whatever order the values come."""
    fn = getattr(math, name)

    def step(s, x):
        s.last = fn(s.v)
        return x * s.last + 1, s.last, fn(s.v) == s.last
    for values in (MATH_VALUES, MATH_VALUES[::-1]):
        s, jedlik_step = Holder(), jedlik.compile(step, backend=backend)
        for s.v in values:
            seen = []
            for f in (step, jedlik_step):
                s.last = None
                seen.append((run(f, s, torch.ones(2, dtype=torch.float64)), s.last))
            assert same(*seen), s.v


def test_math_with_a_base_and_of_objects():
    class Half:
        def __float__(self):
            return 0.5

    def fn(x, n, base):
        return x * math.log(n, base) + math.pow(n, base), math.sqrt(Half()), math.hypot(n, base)
    compiled = jedlik.compile(fn, backend="eager")
    for n, base in ((2.0, 3), (3.0, 3), (3.0, 2.5), (7, 10), (-1.0, 3), (8.0, 2)):
        assert same(run(compiled, torch.ones(2), n, base), run(fn, torch.ones(2), n, base)), (n, base)


@pytest.mark.parametrize("name", ["cos", "exp", "sqrt"])
def test_math_of_a_counter_compiles_no_more(name):
    """A constant is pinned, a number that grows becomes an expression."""
    fn = getattr(math, name)

    def step(s, x):
        s.v += 1
        return x * (1 + fn(s.v / 10)) + fn(s.last)
    s, compiled = Holder(), jedlik.compile(step, backend="eager")
    s.v, s.last, graphs = 0, 4.0, []
    for k in range(10):
        before, v = jedlik.stats()["graphs"], s.v
        y = compiled(s, torch.ones(2))
        graphs.append(jedlik.stats()["graphs"] - before)
        s.v = v
        assert same(y, step(s, torch.ones(2)))
    assert sum(graphs) <= 3 and not any(graphs[4:]), graphs


def schedulers(opt):
    lr = torch.optim.lr_scheduler
    return {"cosine": lambda: lr.CosineAnnealingLR(opt, 20), "exponential": lambda: lr.ExponentialLR(opt, 0.9),
            "lambda": lambda: lr.LambdaLR(opt, lambda k: 0.5 * (1 + math.cos(math.pi * k / 20))),
            "polynomial": lambda: lr.PolynomialLR(opt, 30, 2.0), "cosine restarts": lambda: lr.CosineAnnealingWarmRestarts(opt, 20)}


@pytest.mark.parametrize("kind", list(schedulers(None)))
def test_schedulers_in_the_compiled_function(kind):
    results, graphs = [], []
    for compile_it in (False, True):
        torch.manual_seed(0)
        p = torch.randn(3, requires_grad=True)
        opt = torch.optim.SGD([p], lr=0.1, momentum=0.9)
        sched = schedulers(opt)[kind]()

        def step():
            opt.step()
            sched.step()
            return sched.get_last_lr()
        run_step, rates = jedlik.compile(step, backend="eager") if compile_it else step, []
        for k in range(10):
            p.grad = 0.5 * p.detach()
            before = jedlik.stats()["graphs"]
            rates.append(run_step())
            graphs.append(jedlik.stats()["graphs"] - before)
        results.append((p.detach().clone(), rates))
    assert same(*results) and not any(graphs[15:]), graphs


def test_a_graph_that_fails_with_math_of_a_number_goes_on_where_it_was():
    class S:
        def __init__(self, v):
            self.v, self.seen = v, []

    def fn(s, x, i):
        s.seen.append(math.exp(s.v))
        x.mul_(math.cos(s.v))
        y = x * math.sqrt(s.v)
        try:
            z = y[i]
        except IndexError:
            s.seen.append("caught")
            z = y * math.sin(s.v)
        return z, x + math.sin(s.v)
    for backend in ("eager", counting([], True)):
        compiled = jedlik.compile(fn, backend=backend)
        for v, i in ((2.0, 0), (3.0, 9), (4.0, 1), (5.0, 9), (2.0, 9), (-1.0, 0), (3.0, 0)):
            out = []
            for f in (compiled, fn):
                s, x = S(v), torch.arange(4.)
                out.append([run(f, s, x, torch.tensor([i])), x, s.seen])
            assert same(*out), (v, i)


def test_functions_of_math_raise_where_they_raise():
    """Their numbers vary, so that they are expressions of the guards: those without a domain for the next number miss."""
    def f(x, n):
        try:
            k = math.log(n) + math.sin(n) + math.exp(n)
        except (ValueError, OverflowError) as e:
            return x, type(e).__name__
        return x + 1, math.isfinite(k)

    fast = jedlik.compile(f, backend="eager")
    x = torch.ones(2)
    for n in (1.0, 2.0, 3.0, 0.0, -1.0, 1e6, float("inf"), 4.0, 10 ** 400, 5, 0.5):
        plain, got = f(x, n), fast(x, n)
        assert got[0].equal(plain[0]) and got[1] == plain[1], n
