"""What model libraries do beside tensors: signatures, operators and autograd functions of their own, caches."""
import functools
import inspect
import keyword
import types
import weakref

import numpy as np
import torch

ONCE = True  # operators are registered for the whole process


class Square(torch.autograd.Function):
    scale = 2.0

    @staticmethod
    def forward(ctx, x, flag):
        ctx.save_for_backward(x)
        ctx.flag = flag
        return x * x * Square.scale

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * 2 * x * Square.scale, None


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(x, n):
        return x + n, (x > 0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.n = inputs[1]
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, grad, _):
        return grad * ctx.n, None


class Logs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, log):
        log.append(len(log))
        return x + 1

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def case_autograd_function(x, e):
    w = x.clone().requires_grad_()
    y = Square.apply(w, True) + 1
    with torch.no_grad():
        z = Square.apply(w, False)
    return y, y.requires_grad, y.is_leaf, z, z.requires_grad, Square.apply(x, None).requires_grad


def case_autograd_setup_context(x, e):
    w = x.clone().requires_grad_()
    y, mask = Pair.apply(w, 3)
    return y, mask, y.requires_grad, mask.requires_grad


def case_autograd_effects(x, e):
    a = Logs.apply(x * 2, e.log)
    e.log.append("between")
    return a, Logs.apply(a, e.log)


def case_autograd_same(x, e):
    w = x * 2
    y = Same.apply(w)
    return y, y is w


def case_autograd_pending(x, e):
    e.n = 7
    y = Square.apply(x, e.n)
    return y, e.n


def f0(a, b, /, c, *args, d=3, **kw):
    return a


class C:
    def m(self, x, *, y: int = 2):
        return x


def case_signature(x, e):
    s = inspect.signature(f0)
    m = inspect.signature(C().m)
    return (x + len(s.parameters), list(s.parameters), [str(p.kind) for p in s.parameters.values()],
            s.parameters["d"].default, set(m.parameters.keys()), "y" in m.parameters, m.parameters["y"].annotation)


def case_mappingproxy(x, e):
    d = {"a": 1, "b": x}
    p = types.MappingProxyType(d)
    d["c"] = 3
    return x + p["a"], p, list(p), len(p), p.get("z"), "b" in p, bool(p), sorted(p.keys()), p == d, p.copy() is d


def case_return_types(x, e):
    t = x.topk(2)
    m = torch.max(x, 0)
    return t.values, t.indices, m.values + 1, m[1], len(t), type(t).__name__


def case_bound_to_frozenset(x, e):
    return x + 1, keyword.iskeyword("for"), keyword.iskeyword("four")


torch.library.define("jedlik_tests::twice", "(Tensor x) -> Tensor")


@torch.library.impl("jedlik_tests::twice", "cpu")
def twice(x):
    return x * 2


@torch.library.register_fake("jedlik_tests::twice")
def twice_fake(x):
    return torch.empty_like(x)


def case_custom_op(x, e):
    op = torch.ops.jedlik_tests.twice
    e.n += 1
    return op(x) + 1, torch.ops.jedlik_tests.twice.default(x), torch.ops.aten.add(x, 1), e.n


class Recipe:
    def __init__(self, parts):
        self.parts = parts


@functools.lru_cache(256)
def prepare(pattern, ndim=0, *, names=()):
    seen = set(pattern.split())
    if len(seen) != ndim:
        raise ValueError(pattern)
    return Recipe([p.upper() for p in sorted(seen)])


@functools.lru_cache(maxsize=None)
def sizes(recipe, shape, factor=1):
    return tuple(s * factor for s in shape), len(recipe.parts)


CALLS = []


@functools.lru_cache(maxsize=None)
def counted(n):
    CALLS.append(n)
    return n + 1


def case_lru_cache(x, e):
    r = prepare("a b", ndim=x.ndim, names=("a",))
    shape, n = sizes(r, x.shape, factor=2)
    again = prepare("a b", ndim=x.ndim, names=("a",))
    return x + n, shape, r is again, r.parts


def case_lru_cache_effects(x, e):
    counted.cache_clear()
    CALLS.clear()
    e.log.append(counted(3))
    y = x + counted(4) + counted(3)
    return y, list(CALLS)


def case_lru_cache_raises(x, e):
    try:
        prepare("a b c", ndim=x.ndim)
    except ValueError as error:
        return x + 1, str(error)
    return x


def case_repeat(x, e):
    return x + 1, (0, 0) * e.n, "ab" * e.n, e.n * (1,), [3] * e.n, b"x" * e.n


def case_union_type(x, e):
    u = int | str
    return x + 1, u == "int | str", "int" == u, u != 3, list[int] == list


def case_unions(x, e):
    u = int | float
    v = u | bool | None
    return x + 1, isinstance(3, v), isinstance("s", u | str), str | u, isinstance(None, None | v)


KINDS = {}


def case_tuples_of_objects_as_keys(x, e):
    table = {(type(x), int): 1, (f0, "name"): 2, frozenset((C, str)): 3}
    table[(e.__class__, (torch.Tensor,))] = 4
    return (x + 1, table[(torch.Tensor, int)], table.get((f0, "name")), table[frozenset((str, C))], (int, C) in table,
            {(C, 1), (C, 1), (str, 1)} == {(str, 1), (C, 1)})


def case_break_below_partial(x, e):
    def inner(a, b, *, k):
        y = x * a
        e.log.append(int(y.sum()))
        return y + b * k

    f = functools.partial(functools.partial(inner, 2, k=3), k=4)
    return f(5) + 1


def nesting():
    torch.autocast_increment_nesting()
    return torch.autocast_decrement_nesting()


def case_autocast_off(x, e):
    with torch.autocast("cuda", enabled=False):
        y = x @ x.T
        e.log.append(str(y.sum() > 0))
        z = y + 1
    with torch.autocast("cpu", enabled=False):
        with torch.autocast("cpu", enabled=False):
            z = z * 2
    return z, torch.is_autocast_enabled("cpu"), nesting()


def case_autocast_on(x, e):
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ x.T
        inside = nesting()
        with torch.autocast("cpu", enabled=False):
            z = x @ x.T
    return y, z, x @ x.T, inside, nesting()


def case_autocast_left_at_a_break(x, e):
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ x.T
        e.log.append(bool(y.sum() > 0))
        z = x @ x.T
    return y, z, x @ x.T


def case_numpy_numbers(x, e):
    n = np.lcm(4, 6)
    lengths = {n: "twelve", 1: "one"}
    pad = n - len(e) % n if len(e) % n != 0 and n > 3 else 0
    scale = np.sqrt(16) * np.float32(0.5)
    kept = [n, type(n), pad, scale, np.prod((2, 3)), np.float64(0.1) + 1, lengths[12], lengths[np.int8(1)], [5, 6, 7][np.int64(1)],
            -np.int64(3), bool(np.bool_(0)), isinstance(scale, float), f"{n:04d}", list(range(np.int64(2)))]
    return x * scale + n, x[:, None].expand(-1, n), np.float64(2) - x, x / np.float32(0.1), kept


def case_numpy_nan(x, e):
    return x + 1, np.float64("nan") == np.float64("nan"), np.maximum(2, 3.5), np.float64(-0.0)


def case_numpy_number_as_data(x, e):
    return x + torch.tensor(np.float64(0.1)), x + torch.as_tensor(np.int64(2))


NUMBERS = [np.float64(0.5), np.float64(-0.0), np.int64(3), np.float32(0.5)]


def case_numpy_global(x, e):
    return [x * n for n in NUMBERS], NUMBERS[e.count % 4], NUMBERS


def double(x, n, flag=False):
    """Looks at the data, so that only a node can have it."""
    return x * n if float(x.sum()) > -1e9 or flag else x


twice = torch.compiler.allow_in_graph(double)


def case_allowed_in_graph(x, e):
    return twice(x + 1, 2, flag=True) + 1


def made(n):
    def inner(x):
        return x + n if x.device.type == "meta" or x.sum() > -1e9 else x
    return inner


ALLOWED = [torch.compiler.allow_in_graph(made(1)), torch.compiler.allow_in_graph(made(5)), made(9)]


def case_allowed_by_identity(x, e):
    return [f(x) * 2 for f in ALLOWED]


def case_functions_of_numbers(x, e):
    n = torch.div(12, 5, rounding_mode="trunc")
    return x + n, n, torch.add(1, 2), torch.promote_types(torch.float32, torch.int32)


def case_list_from_outside(x, e):
    e.items[:] = [x, x + 1]
    return torch.cat(PARTS) + x.sum(), torch.stack(tensors=PARTS)


PARTS = [torch.ones(2), torch.zeros(2)]


class Holder(types.ModuleType):
    def __getattr__(self, name):
        if name == "nothing":
            raise AttributeError(name)
        return name.upper()


HOLDER = Holder("holder")


def case_module_subclass(x, e):
    return x + len(HOLDER.abc), HOLDER.abc, hasattr(HOLDER, "nothing"), getattr(HOLDER, "nothing", 3), HOLDER.__name__


class Referent:
    n = 2


REFERENT = Referent()
REFERENCE = weakref.ref(REFERENT)


def case_weak_reference(x, e):
    return x * REFERENCE().n, REFERENCE() is REFERENT


RNN = {kind: getattr(torch.nn, kind)(3, 4) for kind in ("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell")}


def case_recurrent(x, e):
    return [RNN[kind](x[None, None] if "Cell" not in kind else x[None]) for kind in RNN]
